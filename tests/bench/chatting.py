"""A conversation on screen: how far it is behind a model that writes fast, and what a day of it costs."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.bench.memories import Memories
from tests.bench.streaming import EVERY, LIMIT, RATE, TOKENS
from tests.bench.table import Row, compared, mebibytes, seconds, within
from tests.bench.terminal import Terminal

DAY_MEMORY = 64 * 1024
"""Kilobytes that a day of chat may take, its text included."""
FRAME = 1 / 60
_PROGRAM = str(Path(__file__).with_name("chatted.py"))


def measure(_: Memories) -> Iterable[Row]:
    """Ours below a hundred earlier turns, the stock widgets empty; then a day."""
    behind, used = _streamed("TranscriptView")
    log_behind, log_used = _streamed("Log")
    stock_behind, stock_used = _streamed("Markdown")
    what = f"chat: {RATE} tokens a second for {TOKENS / RATE:.0f} s"
    beside = f"Textual's Log {seconds(log_behind)}, Markdown {seconds(stock_behind)}"
    ratio = behind / log_behind
    missed = behind > LIMIT and ratio > 1.5
    target = f"≤ {seconds(LIMIT)}, or 1.5 of Log"
    yield Row(f"{what}: behind at worst", seconds(behind), beside, f"{ratio:.2f}", target, missed=missed)
    yield compared(f"{what}: processor time", used, log_used, 1.25, name="Textual's Log")
    yield compared(f"{what}: processor time", used, stock_used, 1.0, name="Textual's Markdown")
    yield from _day()


def _day() -> Iterable[Row]:
    from tests.bench.chatted import EVENTS  # noqa: PLC0415 - loads Textual

    with _Program("day") as (_, reports):
        before, after, characters, taken, frame, slow = reports()
    grown = after - before
    what = f"chat: a day of {EVENTS:,} events"
    beside = f"its text {mebibytes(characters / 1024)}"
    target = f"≤ {mebibytes(DAY_MEMORY)}"
    yield Row(f"{what}: memory", mebibytes(grown), beside, "", target, missed=grown > DAY_MEMORY)
    yield Row(f"{what}: to take them all", seconds(taken))
    yield within(f"{what}: a page further up", frame, FRAME, also=f" (nearly worst {seconds(slow)})")


def _streamed(widget: str) -> tuple[float, float]:
    """The worst delay of a token on screen, and the processor seconds."""
    with _Program(widget) as (terminal, reports):
        looked_for = range(0, TOKENS, EVERY)
        terminal.when(f"tok{looked_for[-1]:05d}")
        start, used = reports()
        arrivals = [terminal.find(r"tok\d{5}", accept=_from(number))[0] for number in looked_for]
    return max(then - start - number / RATE for number, then in zip(looked_for, arrivals, strict=True)), used


def _from(number: int) -> Callable[[str], bool]:
    """Takes a token or any later one: a slow widget skips what has scrolled away meanwhile."""
    return lambda text: int(text[3:]) >= number


class _Program:
    """`chatted.py` in a terminal, and what it reports."""

    def __init__(self, what: str) -> None:
        reading, writing = os.pipe()
        self._terminal = Terminal([_PROGRAM, str(writing), what], keep_open=[writing])
        os.close(writing)
        self._reports = os.fdopen(reading)

    def __enter__(self) -> tuple[Terminal, Callable[[], list[float]]]:
        self._terminal.__enter__()
        return self._terminal, lambda: [float(each) for each in self._reports.readline().split()]

    def __exit__(self, *_: object) -> None:
        self._terminal.__exit__()
        self._reports.close()
