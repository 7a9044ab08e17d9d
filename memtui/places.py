"""Memory folders that are likely to be on this machine, for somebody who named none.

Only well-known places are looked at, and only their names and times: nothing is opened, made or changed.
"""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass

from memtui.core.visible import one_line

_PLACES = (
    "./memories",
    "./memory/memories",
    "~/memories",
    "~/.claude/agent-memory/*",
    "~/.claude/projects/*/memory",
)
_ENOUGH = 9
_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Place:
    """A directory that may hold memories.

    Attributes:
        path: Where, with `~` expanded.
        shown: As a person writes it, on one line, hidden characters made visible.
        files: How many files are in it, at any depth.
        changed_ns: When the newest of them was written, in nanoseconds since 1970; `None` if it is empty.
    """

    path: str
    shown: str
    files: int
    changed_ns: int | None


def find_places(*, home: str | None = None) -> list[Place]:
    """The likely memory folders, the one that changed last first, at most nine.

    Args:
        home: What `~` stands for; the user's home directory by default.
    """
    home = home or os.path.expanduser("~")
    found: dict[str, Place] = {}
    for pattern in _PLACES:
        for path in glob.glob(pattern.replace("~", glob.escape(home), 1)):
            real = os.path.realpath(path)
            if os.path.isdir(real) and real not in found:
                found[real] = _place(real, path, home)
    return sorted(found.values(), key=lambda place: -(place.changed_ns or 0))[:_ENOUGH]


def _place(real: str, path: str, home: str) -> Place:
    files, newest = 0, None
    for entry in _files(real):
        try:
            newest = max(newest or 0, entry.stat(follow_symlinks=False).st_mtime_ns)
        except OSError:
            continue  # gone meanwhile
        files += 1
        if files >= _COUNTED:
            break
    shown = "~" + path[len(home) :] if path.startswith(home + "/") else path
    return Place(real, one_line(shown), files, newest)


def _files(top: str) -> Iterator["os.DirEntry[str]"]:
    todo = [top]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry
        except OSError:
            continue


def short(path: str | os.PathLike[str]) -> str:
    """A path of this machine as a person writes it: `~` for the home directory."""
    text, home = os.fspath(path), os.path.expanduser("~")
    if home != "/" and (text == home or text.startswith(home + "/")):
        return "~" + text[len(home) :]
    return text
