"""Memory folders that are likely to be on this machine, for somebody who named none.

Only well-known places are looked at, and of what is in them only names and times: no note is opened, nothing is made or
changed. To tell which project a folder belongs to, the first lines of a few session files are read.
"""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from memtui.core.visible import one_line
from memtui.places import claude_code, vscode
from memtui.places.reach import Reach
from memtui.places.recent import recent_folders
from memtui.quiet import open_quietly

ENOUGH = 9
"""As many as there are keys to choose with."""
_COUNTED = 10_000


class Owner(StrEnum):
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
class Place:
    """A directory that may hold memories.

    Attributes:
        path: Where, with `~` expanded and links resolved.
        shown: As a person writes it, on one line, hidden characters made visible.
        files: How many files are in it, at any depth.
        changed_ns: When the newest of them was written, in nanoseconds since 1970; `None` if it is empty.
        owner: Whose memories they are.
        project: The directory that they are about; `None` if they are about none, or if that is not known.
        project_exists: Whether that is still there; `None` if it is not known, or if there is none.
        name: What the agent is called, for an agent's memory; else empty.
        is_counted: Whether all files were counted; if not, there are at least so many. None at all were where the disk
            does not answer.
    """

    path: str
    shown: str
    files: int
    changed_ns: int | None
    owner: Owner = Owner.HERE
    project: str | None = None
    project_exists: bool | None = None
    name: str = ""
    is_counted: bool = True


def find_places(*, home: str | None = None, limit: int | None = ENOUGH, reach: Reach | None = None) -> list[Place]:
    """The likely memory folders, the one that changed last first.

    Args:
        home: What `~` stands for; the user's home directory by default.
        limit: How many at most; `None` for all.
        reach: Tells what is there, of what may be far away.
    """
    home = home or os.path.expanduser("~")
    found: dict[str, Place] = {}
    with reach or Reach() as asking:
        for place in _candidates(home, asking):
            is_there = asking.is_directory(place.path)
            if is_there is None:
                found.setdefault(place.path, replace(place, shown=_shown(place.path, home), is_counted=False))
            elif is_there and (real := os.path.realpath(place.path)) not in found:
                found[real] = _looked_at(real, place, home)
    return sorted(found.values(), key=lambda place: (-(place.changed_ns or 0), place.shown))[:limit]


def _candidates(home: str, reach: Reach) -> Iterator[Place]:
    """Where to look, the most telling first: of one folder that is found twice the first is taken."""
    for pattern in ("./memories", "./memory/memories", f"{glob.escape(home)}/memories"):
        for path in glob.glob(pattern):
            yield _unseen(path, Owner.HERE)
    for memory in claude_code.memories(home, reach):
        owner = Owner.CLAUDE_AGENT if memory.agent else Owner.CLAUDE_CODE
        yield replace(_about(memory.project, _unseen(memory.path, owner), reach), name=memory.agent)
    for kept in vscode.memories(home):
        yield _about(kept.project, _unseen(kept.path, Owner.VSCODE), reach)
    for path in recent_folders():
        yield _unseen(path, Owner.RECENT)


def _about(project: str | None, place: Place, reach: Reach) -> Place:
    return replace(place, project=project, project_exists=None if project is None else reach.is_directory(project))


def _unseen(path: str, owner: Owner) -> Place:
    return Place(path, "", 0, None, owner)


def _looked_at(real: str, place: Place, home: str) -> Place:
    files, newest = 0, None
    for entry in _files(real):
        try:
            newest = max(newest or 0, entry.stat(follow_symlinks=False).st_mtime_ns)
        except OSError:
            continue  # gone meanwhile
        files += 1
        if files >= _COUNTED:
            break
    shown, is_counted = _shown(place.path, home), files < _COUNTED
    return replace(place, path=real, shown=shown, files=files, changed_ns=newest, is_counted=is_counted)


def _shown(path: str, home: str) -> str:
    return one_line("~" + path[len(home) :] if path.startswith(home + "/") else path)


def _files(top: str) -> Iterator["os.DirEntry[str]"]:
    todo = [top]
    while todo:
        try:
            path = todo.pop()
            fd = open_quietly(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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
