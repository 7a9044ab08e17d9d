"""Opening a folder: until the names are there, until everything is in the record, and what memory that takes."""

from collections.abc import Iterable
from pathlib import Path

from memtui.core import wording
from tests.bench.memories import Memories
from tests.bench.table import Row, mebibytes, seconds
from tests.bench.terminal import Terminal, memtui

SIZES = (1_000, 100_000)


def measure(memories: Memories) -> Iterable[Row]:
    """The first look, which records all there is, and the next one."""
    for files in SIZES:
        folder, state = memories.of_size(files), memories.new_state()
        size = sum(path.stat().st_size for path in folder.rglob("*.md"))
        yield _opened(f"folders: first opening of {files:,} files", folder, state, files, size)
        memories.learn_state(files, state)
        yield _opened(f"folders: opening {files:,} files again", folder, state, files, size)


def _opened(what: str, folder: Path, state: Path, files: int, size: int) -> Row:
    words = f"{files:,} files"
    with Terminal(memtui(folder, state)) as terminal:
        named = terminal.when("note-000000") - terminal.started
        counted = terminal.when(words) - terminal.started
        recorded = terminal.when(f"{words} {wording.format_size(size)}") - terminal.started
        terminal.settle()
        peak = terminal.peak_memory()
    return Row(
        what,
        f"names {seconds(named)}, count {seconds(counted)}, all in the record {seconds(recorded)}, "
        f"{mebibytes(peak)} at most",
    )
