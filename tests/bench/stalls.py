"""How long the screen stands still, at worst, over notes that were made to stop it.

Every repaint takes its time, and so do other programs; so an ordinary note stands among them, and each is gone over
twice, of which the better counts.
"""

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence

from tests.bench import hostile, watched
from tests.bench.memories import Memories
from tests.bench.table import Row, seconds
from tests.bench.terminal import Terminal

LIMIT = 0.05
ORDINARY = "an-ordinary-note"
_KEYS = ("\x1b[6~", "\x1b[6~", "G", "\x1b[5~", "g")
"""Page down twice, to the end, page up, to the top."""

Report = Callable[[], float]


def measure(memories: Memories) -> Iterable[Row]:
    """Each hostile note selected, paged through, and left again."""
    folder = memories.empty("hostile")
    texts = {**hostile.notes(), ORDINARY: "# A note\n\nWith a **few** words.\n\n- one\n- two\n" * 20}
    names = sorted(texts)
    for name in names:
        (folder / f"{name}.md").write_text(texts[name], encoding="utf-8")
    reading, writing = os.pipe()
    words = [watched.__file__, str(writing), str(folder), str(memories.new_state())]
    with Terminal(words, keep_open=[writing]) as terminal, os.fdopen(reading) as reports:
        os.close(writing)

        def report() -> float:
            terminal.process.send_signal(signal.SIGUSR1)
            return float(reports.readline())

        terminal.when(f"{len(names)} files")
        terminal.settle(0.5)
        report()
        first = list(_gone_over(terminal, names, report))
        stalls = dict(zip(names, map(min, first, _gone_over(terminal, names, report)), strict=True))
    ordinary = stalls.pop(ORDINARY)
    worst = sorted(stalls, key=lambda name: stalls[name])
    over = sum(stall > LIMIT for stall in stalls.values())
    yield _row(f"stalls: the worst of {len(stalls)} hostile notes ({worst[-1]})", stalls[worst[-1]], ordinary)
    yield _row(f"stalls: the middle one ({over} are over the target)", stalls[worst[len(worst) // 2]], ordinary)


def _row(what: str, stall: float, ordinary: float) -> Row:
    theirs, ratio = f"an ordinary note {seconds(ordinary)}", f"{stall / ordinary:.2f}"
    return Row(what, seconds(stall), theirs, ratio, f"≤ {seconds(LIMIT)}", missed=stall > LIMIT)


def _gone_over(terminal: Terminal, names: Sequence[str], report: Report) -> Iterator[float]:
    """The longest standstill over each note, from the first to the last."""
    terminal.press("g")
    terminal.settle(0.1)
    report()
    for number in range(len(names)):
        terminal.press("j" if number else "jk")
        terminal.settle(0.15)
        terminal.press("\r")
        for key in _KEYS:
            terminal.press(key)
            terminal.settle(0.08)
        yield report()
        terminal.press("1")
        terminal.settle(0.08)
        report()
