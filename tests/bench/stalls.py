"""How long the screen stands still, at worst, over notes that were made to stop it."""

import os
import signal
from collections.abc import Iterable

from tests.bench import hostile, watched
from tests.bench.memories import Memories
from tests.bench.table import Row, seconds, within
from tests.bench.terminal import Terminal

LIMIT = 0.05
_KEYS = ("\x1b[6~", "\x1b[6~", "G", "\x1b[5~", "g")
"""Page down twice, to the end, page up, to the top."""


def measure(memories: Memories) -> Iterable[Row]:
    """Each hostile note selected, paged through, and left again."""
    folder = memories.empty("hostile")
    texts = hostile.notes()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    reading, writing = os.pipe()
    words = [watched.__file__, str(writing), str(folder), str(memories.new_state())]
    stalls: dict[str, float] = {}
    with Terminal(words, keep_open=[writing]) as terminal, os.fdopen(reading) as reports:

        def report() -> float:
            terminal.process.send_signal(signal.SIGUSR1)
            return float(reports.readline())

        terminal.when(f"{len(texts)} files")
        terminal.settle(0.5)
        report()
        terminal.settle(0.5)
        quiet = report()
        for number, name in enumerate(sorted(texts)):
            if number:
                terminal.press("j")
                terminal.settle(0.15)
            else:
                terminal.press("jk")
                terminal.settle(0.15)
            selected = report()
            terminal.press("\r")
            for key in _KEYS:
                terminal.press(key)
                terminal.settle(0.1)
            stalls[name] = max(selected, report())
            terminal.press("1")
            terminal.settle(0.1)
        os.close(writing)
    over = sorted((stall, name) for name, stall in stalls.items() if stall > LIMIT)
    worst = max(stalls, key=lambda name: stalls[name])
    also = f" ({worst}; {len(over)} of {len(stalls)} over; at rest {seconds(quiet)})"
    yield within("stalls: the screen stands still, worst hostile note", stalls[worst], LIMIT, also=also)
    for stall, name in reversed(over):
        yield within(f"stalls: {name}", stall, LIMIT)
