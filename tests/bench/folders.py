"""Opening a folder: until the names are there, until everything is in the record, and what memory that takes."""

import contextlib
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tests.bench.memories import Memories
from tests.bench.table import Row, compared, mebibytes, seconds
from tests.bench.terminal import Terminal, memtui

SIZES = (1_000, 100_000)


def measure(memories: Memories) -> Iterable[Row]:
    """The first look, which records all there is, and the next one."""
    for files in SIZES:
        folder, state = memories.of_size(files), memories.new_state()
        row, recorded = _opened(f"folders: first opening of {files:,} files", folder, state, files)
        yield row
        yield compared(
            f"folders: {files:,} files, all in the record", recorded, _commit(folder), 1.0, name="git commit"
        )
        memories.learn_state(files, state)
        yield _opened(f"folders: opening {files:,} files again", folder, state, files)[0]


def _commit(folder: Path) -> float:
    """Seconds that git takes to add and commit the same files, with a repository elsewhere."""
    with tempfile.TemporaryDirectory() as elsewhere:
        git = ["git", f"--git-dir={elsewhere}", f"--work-tree={folder}", "-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run([*git, "init", "--quiet"], check=True)
        began = time.perf_counter()
        subprocess.run([*git, "add", "--all"], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", "all"], check=True)
        return time.perf_counter() - began


def _opened(what: str, folder: Path, state: Path, files: int) -> tuple[Row, float]:
    with Terminal(memtui(folder, state)) as terminal:
        named = terminal.when("note-000000") - terminal.started
        counted = terminal.when(f"{files:,} notes") - terminal.started
        while _count_recorded(state) < files:
            terminal.rest(0.02)
        recorded = time.monotonic() - terminal.started
        terminal.settle()
        peak = terminal.peak_memory()
    about = f"names {seconds(named)}, count {seconds(counted)}, all in the record {seconds(recorded)}"
    return Row(what, f"{about}, {mebibytes(peak)} at most"), recorded


def _count_recorded(state: Path) -> int:
    """Files that the journal knows by now."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(state / "journal.db")) as journal:
        return int(journal.execute("SELECT files FROM totals").fetchone()[0])
    return 0
