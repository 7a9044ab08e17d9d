"""How long the screen stands still, at worst, over notes that were made to stop it.

Every repaint takes its time, and so do other programs; so an ordinary note stands among them, and each is gone over
twice, of which the better counts.

`keys` does everything that there is to a note to each text of a unit again and again, and looks at each key by
itself. A standstill is counted by the loop's processor time, so that it is no other program's.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.bench import hostile, watched
from tests.bench.memories import Memories
from tests.bench.table import Row, seconds
from tests.bench.terminal import Terminal

LIMIT = 0.05
ORDINARY = "an-ordinary-note"
_ORDINARY_TEXT = "# A note\n\nWith a **few** words.\n\n- one\n- two\n" * 20
_KEYS = ("\x1b[6~", "\x1b[6~", "G", "\x1b[5~", "g")
"""Page down twice, to the end, page up, to the top."""

Report = Callable[[], float]
_ACTIONS: Mapping[str, Sequence[str]] = {
    "select": ("j",),
    "open": ("\r",),
    "page down": ("\x1b[6~", "\x1b[6~"),
    "end": ("G",),
    "click": ("\x1b[<0;70;12M\x1b[<0;70;12m", "\x1b[<0;60;20M\x1b[<0;60;20m"),
    "source": ("t", "t", "t"),
    "blame": ("B", "B"),
    "diff": ("v", "G", "\x1b"),
    "history": ("V", "\x1b"),
    "facts": ("i", "\x1b"),
    "find in the note": ("\x06", "a", "b", "\x1b"),
    "find": ("/", "a", "b", "\x1b"),
    "edit": ("e",),
    "edit: page down": ("\x1b[6~", "\x1b[6~"),
    "edit: end": ("\x1b[1;5F",),
    "edit: type": ("x", "y", "\r"),
    "edit: click": ("\x1b[<0;70;12M\x1b[<0;70;12m",),
    "edit: undo": ("\x1a", "\x1a", "\x1a", "\x1a"),
    "leave": ("\x1b", "1"),
}
"""Keys by what they do; a click is a press and a release."""


def measure(memories: Memories) -> Iterable[Row]:
    """Each hostile note selected, paged through, and left again."""
    texts = {**hostile.notes(), ORDINARY: _ORDINARY_TEXT}
    names = sorted(texts)
    with _watch(memories, "hostile", texts) as (terminal, report):
        first = list(_gone_over(terminal, names, report))
        stalls = dict(zip(names, map(min, first, _gone_over(terminal, names, report)), strict=True))
    ordinary = stalls.pop(ORDINARY)
    worst = sorted(stalls, key=lambda name: stalls[name])
    over = sum(stall > LIMIT for stall in stalls.values())
    yield _row(f"stalls: the worst of {len(stalls)} hostile notes ({worst[-1]})", stalls[worst[-1]], ordinary)
    yield _row(f"stalls: the middle one ({over} are over the target)", stalls[worst[len(worst) // 2]], ordinary)


def measure_keys(memories: Memories) -> Iterable[Row]:
    """Each key over each unit, in one line and in many; what is over the target is told on standard error."""
    texts = {**hostile.repeated(), ORDINARY: _ORDINARY_TEXT}
    names = sorted(texts)
    stalls: dict[str, dict[str, float]] = {}
    with _watch(memories, "units", texts) as (terminal, report):
        terminal.press("g")
        terminal.settle(0.1)
        for number, name in enumerate(names):
            stalls[name] = {}
            report()
            for action, keys in _ACTIONS.items():
                for key in keys if number or action != "select" else ("g",):
                    terminal.press(key)
                    terminal.settle(0.03)
                    stall = report()
                    stalls[name][action] = max(stalls[name].get(action, 0.0), stall)
                    if stall > LIMIT:
                        print(f"{action} {key!r}: {name} {seconds(stall)}", file=sys.stderr, flush=True)
    ordinary = stalls.pop(ORDINARY)
    for action in _ACTIONS:
        by_note = {name: told[action] for name, told in stalls.items()}
        worst = max(by_note, key=lambda name: by_note[name])
        yield _row(f"keys: {action} ({worst} of {len(stalls)})", by_note[worst], ordinary[action])


@contextmanager
def _watch(memories: Memories, name: str, texts: Mapping[str, str]) -> Iterator[tuple[Terminal, Report]]:
    """memtui over these notes in a terminal, and what tells how long it stood still since it was asked last."""
    folder, state = memories.empty(name), memories.new_state()
    for note in sorted(texts):
        (folder / f"{note}.md").write_bytes(texts[note].encode("utf-8", "surrogatepass"))
    reading, writing = os.pipe()
    words = [watched.__file__, str(writing), str(folder), str(state)]
    with Terminal(words, keep_open=[writing]) as terminal, os.fdopen(reading) as reports:
        os.close(writing)

        def report() -> float:
            terminal.process.send_signal(signal.SIGUSR1)
            _, used = map(float, reports.readline().split())
            return used

        terminal.when(f"{len(texts)} notes")
        terminal.settle(0.5)
        report()
        yield terminal, report


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
