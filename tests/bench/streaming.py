"""Tokens as they stream in: how far the screen is behind at worst, and what that costs the processor."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.bench.memories import Memories
from tests.bench.table import Row, compared, seconds
from tests.bench.terminal import Terminal

RATE = 500
"""Tokens a second."""
TOKENS = 2_500
EVERY = 50
"""Each token of this many is one that is looked for on screen."""
LIMIT = 0.1

_WORDS = ("the ", "agent ", "**writes** ", "down ", "what ", "`it` ", "has ", "learnt\n", "- and ", "goes ", "on.\n\n")


def token(number: int) -> str:
    """One token of the note."""
    return f"tok{number:05d} " if number % EVERY == 0 else _WORDS[number % len(_WORDS)]


def measure(_: Memories) -> Iterable[Row]:
    """Our view, then the stock Markdown widget with its stream."""
    behind, used = _streamed("NoteView")
    stock_behind, stock_used = _streamed("Markdown")
    what = f"streaming {RATE} tokens a second for {TOKENS / RATE:.0f} s"
    row = compared(f"{what}: behind at worst", behind, stock_behind, None, name="Textual's Markdown")
    yield Row(row.what, row.ours, row.theirs, row.ratio, f"≤ {seconds(LIMIT)}", missed=behind > LIMIT)
    yield compared(f"{what}: processor time", used, stock_used, 1.0, name="Textual's Markdown")


def _streamed(widget: str) -> tuple[float, float]:
    """The worst delay of a token on screen, and the processor seconds."""
    reading, writing = os.pipe()
    program = str(Path(__file__).with_name("streamed.py"))
    with Terminal([program, str(writing), widget], keep_open=[writing]) as terminal:
        os.close(writing)
        looked_for = range(0, TOKENS, EVERY)
        terminal.when(f"tok{looked_for[-1]:05d}")
        with os.fdopen(reading) as reports:
            start, used = map(float, reports.readline().split())
        arrivals = [terminal.find(r"tok\d{5}", accept=_from(number))[0] for number in looked_for]
    return max(then - start - number / RATE for number, then in zip(looked_for, arrivals, strict=True)), used


def _from(number: int) -> Callable[[str], bool]:
    """Takes a token or any later one: a slow widget skips what has scrolled away meanwhile."""
    return lambda text: int(text[3:]) >= number
