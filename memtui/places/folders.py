"""Candidates for memory folders on this machine, where none is named.

Only well-known places are looked at, and of what is in them only names and times: no note is opened, nothing is made or
changed. To tell which project a folder belongs to, the first lines of a few session files are read.
"""

import glob
import os
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import NO_FOLDER, format_path
from memtui.core.unicode import to_one_line
from memtui.fs.no_atime import open_without_atime
from memtui.fs.state import list_recent_folders
from memtui.notes.memory_index import LIMIT
from memtui.places.claude_code import find_claude_code_memories, iter_working_directories
from memtui.places.dialects import find_dialect_memories, recognise_folder
from memtui.places.file_rules import format_limits
from memtui.places.probe import DirectoryProber
from memtui.places.vscode import find_vscode_memories

ENOUGH = 9
"""As many as there are keys to choose with."""
_COUNTED = 10_000


class MemoryOwner(StrEnum):
    """Whose memories a folder holds, as a word for programs."""

    HERE = "here"
    """It lies in the working directory, or at home, under a usual name."""
    CLAUDE_CODE = "claude-code"
    """Claude Code's auto memory of a project."""
    CLAUDE_AGENT = "claude-agent"
    """The memory of one of Claude Code's agents."""
    VSCODE = "vscode"
    """The memory tool of an editor's chat."""
    RECENT = "recent"
    """memtui has kept a record of it."""


@dataclass(frozen=True, slots=True)
class MemoryLocation:
    """A directory that may hold memories.

    Attributes:
        path: With `~` expanded and links resolved.
        display_path: On one line, `~` for the home directory, hidden characters made visible.
        owner: A `MemoryOwner`, or the name of a dialect.
        title: The owner for a person, where a dialect has it.
        closed: Why the notes cannot be read; empty if they can.
        changed_ns: When the newest file was written, in nanoseconds since 1970; `None` if it is empty.
        project: The directory that they are about; `None` if there is none or it is unknown.
        project_exists: `None` if there is no project or it is unknown.
        is_counted: Whether all files were counted; if not, `files` is a minimum, and 0 if the disk does not
            answer.
        unseen: Files that others changed since the person looked.
        size: Bytes of the files that were counted.
    """

    path: str
    display_path: str
    files: int
    changed_ns: int | None
    owner: str = MemoryOwner.HERE
    project: str | None = None
    project_exists: bool | None = None
    name: str = ""
    is_counted: bool = True
    unseen: int = 0
    title: str = ""
    closed: str = ""
    size: int = 0

    @property
    def is_folder(self) -> bool:
        """Whether it is none of the places that were opened before and are no folder."""
        return not self.path.startswith(NO_FOLDER)

    @property
    def responds(self) -> bool:
        """Whether the disk answered."""
        return bool(self.files) or self.is_counted


def find_memory_folders(
    *, home: str | None = None, limit: int | None = ENOUGH, reach: DirectoryProber | None = None
) -> list[MemoryLocation]:
    """The likely memory folders, the one that changed last first; behind them what cannot be read.

    Args:
        home: The home directory; that of the person if not given.
        limit: How many at most; `None` for all that there are, with every folder that memtui has a journal of.
        reach: Tells which directories are there.
    """
    home = home or os.path.expanduser("~")
    found: dict[str, MemoryLocation] = {}
    with reach or DirectoryProber() as asking:
        for place in _iter_candidates(home, asking, everything=limit is None):
            is_there = asking.is_directory(place.path)
            if is_there is None:
                found.setdefault(
                    place.path,
                    replace(place, display_path=to_one_line(format_path(place.path, home)), is_counted=False),
                )
            elif is_there and (real := os.path.realpath(place.path)) not in found:
                found[real] = _inspect_folder(real, place, home)
    return sorted(found.values(), key=lambda place: (bool(place.closed), -(place.changed_ns or 0), place.display_path))[
        :limit
    ]


def refresh_folder(place: MemoryLocation, reach: DirectoryProber) -> MemoryLocation | None:
    """The same folder as it is now; `None` if it is gone. Of a disk that does not answer nothing is known."""
    is_there = reach.is_directory(place.path)
    if is_there is None:
        return replace(place, files=0, size=0, changed_ns=None, is_counted=False)
    return _count_files(place) if is_there else None


def _iter_candidates(home: str, reach: DirectoryProber, *, everything: bool) -> Iterator[MemoryLocation]:
    """Where to look, the most telling first: of one folder that is found twice the first is taken."""
    for pattern in ("./memories", "./memory/memories", f"{glob.escape(home)}/memories"):
        for path in glob.glob(pattern):
            yield _build_unreachable(path, MemoryOwner.HERE)
    projects = dict.fromkeys(iter_working_directories())
    for memory in find_claude_code_memories(home, reach):
        projects |= {memory.project: None} if memory.project is not None else {}
        owner = MemoryOwner.CLAUDE_AGENT if memory.agent else MemoryOwner.CLAUDE_CODE
        yield replace(_add_project(memory.project, _build_unreachable(memory.path, owner), reach), name=memory.agent)
    for kept in find_vscode_memories(home):
        projects |= {kept.project: None} if kept.project is not None else {}
        yield _add_project(kept.project, _build_unreachable(kept.path, MemoryOwner.VSCODE), reach)
    for other in find_dialect_memories(home, projects, reach):
        kind = other.dialect
        place = replace(_build_unreachable(other.path, kind.name), title=kind.title, closed=kind.closed)
        yield _add_project(other.project, place, reach)
    for path in list_recent_folders(None) if everything else list_recent_folders():
        yield _build_unreachable(path, MemoryOwner.RECENT)


def _add_project(project: str | None, place: MemoryLocation, reach: DirectoryProber) -> MemoryLocation:
    return replace(place, project=project, project_exists=None if project is None else reach.is_directory(project))


def _build_unreachable(path: str, owner: str) -> MemoryLocation:
    return MemoryLocation(path, "", 0, None, owner)


def _inspect_folder(real: str, place: MemoryLocation, home: str) -> MemoryLocation:
    return _count_files(replace(place, path=real, display_path=to_one_line(format_path(place.path, home))))


def _count_files(place: MemoryLocation) -> MemoryLocation:
    files, size, newest = 0, 0, None
    for entry in _walk_files(place.path):
        try:
            seen = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # gone meanwhile
        newest = max(newest or 0, seen.st_mtime_ns)
        files, size = files + 1, size + seen.st_size
        if files >= _COUNTED:
            break
    return replace(place, files=files, size=size, changed_ns=newest, is_counted=files < _COUNTED)


def _walk_files(top: str) -> Iterator["os.DirEntry[str]"]:
    todo = [top]
    while todo:
        try:
            path = todo.pop()
            fd = open_without_atime(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                with os.scandir(fd) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            todo.append(os.path.join(path, entry.name))
                        elif entry.is_file(follow_symlinks=False):
                            yield entry
            finally:
                os.close(fd)
        except OSError:
            continue


# Descriptions

_OWNERS: dict[str, str] = {
    MemoryOwner.HERE: "here",
    MemoryOwner.CLAUDE_CODE: "Claude Code",
    MemoryOwner.CLAUDE_AGENT: "agent",
    MemoryOwner.VSCODE: "VS Code",
    MemoryOwner.RECENT: "opened before",
}


def format_owner(place: MemoryLocation) -> str:
    """Whose memories they are, in words and on one line."""
    return f"{place.title or _OWNERS[place.owner]} {to_one_line(place.name)}".rstrip()


def list_limits(place: MemoryLocation) -> list[str]:
    """What every session loads of a folder, and how much its agent accepts, in words; nothing if nobody knows."""
    if place.closed or not place.responds:
        return []
    dialect = recognise_folder(place.path)
    rules = sorted(dialect.files, key=lambda rule: "/" in rule.path.removeprefix("**/"))  # those of all folders first
    return [words for rule in rules if dialect.name and (words := format_limits(rule, LIMIT))]


def format_project_or_path(place: MemoryLocation) -> str:
    """The project that they are about, or else where they are; on one line."""
    return to_one_line(format_path(place.project)) if place.project else place.display_path


def format_project(place: MemoryLocation) -> str:
    """Which project they are about, and whether it is still there; empty where there is none."""
    if not place.responds:
        return "the disk does not respond"
    if place.closed:
        return place.closed
    if place.project is None:
        return "unknown project" if place.owner is MemoryOwner.CLAUDE_CODE else ""
    case = {True: "", False: " (deleted)", None: " (does not respond)"}[place.project_exists]
    return f"for {to_one_line(format_path(place.project))}{case}"
