"""From another program's write to the screen."""

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from memtui.memory import connect
from tests.bench.memories import Memories
from tests.bench.table import Row, middle, nearly_worst, seconds, within
from tests.bench.terminal import Terminal, memtui

SIZES = (1_000, 100_000)
WRITES = 20
"""New files, and as many changes."""
LIMIT = 0.1
OWN_LIMIT = 0.03
_PAUSE = 1.0
"""Seconds between two writes at least: faster ones are shown several at a time, every half second at most."""

_WRITER = """
import json, sys, time
for line in sys.stdin:
    path, text = json.loads(line)
    began = time.monotonic()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(began, flush=True)
"""


class Writer:
    """Another program, which writes files when told to."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def write(self, path: Path, text: str) -> float:
        """Write a file; returns when that began, on the monotonic clock."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path), text]) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def measure(memories: Memories) -> Iterable[Row]:
    """New files and changed notes, in a small and in a huge folder."""
    for files in SIZES:
        folder, state = memories.of_size(files), memories.known_state(files)
        created, changed = _seen(folder, state)
        yield _row(f"live: a new file on screen, among {files:,}", created)
        yield _row(f"live: a changed note on screen, among {files:,}", changed)
        yield within(f"live: our own work on one change among {files:,}", middle(_own(folder, state)), OWN_LIMIT)


def _row(what: str, times: list[float]) -> Row:
    return within(what, middle(times), LIMIT, also=f" (p99 {seconds(nearly_worst(times))})")


def _seen(folder: Path, state: Path) -> tuple[list[float], list[float]]:
    """Seconds from each write until its words arrive on the terminal."""
    created: list[float] = []
    changed: list[float] = []
    writer = Writer()
    paths: list[Path] = []
    try:
        with Terminal(memtui(folder, state)) as terminal:
            terminal.when(" note")
            terminal.settle(1.0)
            for number in range(WRITES):
                path = folder / f"live-{number:02d}.md"
                paths.append(path)
                began = writer.write(path, f"# Live {number}\n\nwords-{number:02d}\n")
                created.append(terminal.when(path.name) - began)
                terminal.when(f"words-{number:02d}")
                time.sleep(_PAUSE + 0.007 * number)  # not in step with any timer
                began = writer.write(path, f"# Live {number}\n\nchanged-{number:02d}\n")
                changed.append(terminal.when(f"changed-{number:02d}") - began)
                time.sleep(_PAUSE + 0.011 * number)
    finally:
        writer.close()
        for path in paths:
            path.unlink(missing_ok=True)
    return created, changed


def _own(folder: Path, state: Path) -> list[float]:
    """Seconds that the engine takes for one reported path."""
    times: list[float] = []
    path = folder / "own.md"
    with connect(folder, state=state) as engine:
        engine.reconcile()
        for number in range(2 * WRITES):
            path.write_text(f"own {number}\n", encoding="utf-8")
            began = time.perf_counter()
            count = engine.reconcile({path.name})
            times.append(time.perf_counter() - began)
            assert count == 1
        path.unlink()
        engine.reconcile({path.name})
    return times
