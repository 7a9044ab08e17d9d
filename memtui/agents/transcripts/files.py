"""Where the session files are that may tell something of a memory folder."""

import os
from collections.abc import Iterable, Iterator, Sequence

from memtui.places.claude_code import config_directories

_ENDING = ".jsonl"
_NO_SESSIONS = frozenset({"memory", "tool-results"})
"""Directories beside the sessions of a project. What an agent remembers is no record of what it did."""

_DEPTH = 6
"""Levels of directories below that of all projects: a project, a session, its agents, and some to spare."""


def session_files(folder: str = "", *, home: str | None = None) -> list[str]:
    """All session files of Claude Code, in order; those of its agents too.

    Sessions of one project may write another one's memory, such as those of its other working trees.

    Args:
        folder: The memory folder; the sessions that lie beside it are looked at too, wherever that is.
        home: What `~` stands for; the user's home directory by default.
    """
    above, name = os.path.split(os.path.dirname(folder))
    beside = [os.path.dirname(above)] if name and os.path.basename(above) == "projects" else []
    tops = dict.fromkeys([*config_directories(home), *beside])
    return sorted(_below(os.path.join(top, "projects") for top in tops))


def files_of_session(session: str, *, home: str | None = None) -> list[str]:
    """The files in which a session of Claude Code is kept: its own, and those of its agents.

    Args:
        session: Its id.
        home: What `~` stands for; the user's home directory by default.
    """
    if not session or os.sep in session or "\0" in session or session in (".", ".."):
        return []
    found: list[str] = []
    for top in config_directories(home):
        for project in _entries(os.path.join(top, "projects")):
            if os.path.isfile(own := os.path.join(project.path, f"{session}{_ENDING}")):
                found.append(own)
            if os.path.isdir(agents := os.path.join(project.path, session)):
                found += sorted(_below([agents]))
    return found


def total_bytes(files: Sequence[str]) -> int:
    """How much there is to read."""
    total = 0
    for path in files:
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total


def _below(tops: Iterable[str]) -> Iterator[str]:
    """The session files below some directories. Links are gone along to projects only: others lead anywhere."""
    todo, seen = [(top, 0) for top in tops], set[str]()
    while todo:
        directory, depth = todo.pop()
        real = os.path.realpath(directory)
        if real in seen:
            continue
        seen.add(real)
        for entry in _entries(directory):
            if entry.name.endswith(_ENDING):
                yield entry.path
            elif depth < _DEPTH and entry.name not in _NO_SESSIONS and _is_directory(entry, follow=not depth):
                todo.append((entry.path, depth + 1))


def _is_directory(entry: "os.DirEntry[str]", *, follow: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:
        return False


def _entries(directory: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []
