"""Where Claude Code keeps its memories, and which project each is about.

A project's directory below `projects` is named by its path with everything but letters and digits replaced by `-`,
which cannot be turned back. Its session files say where they were held; without one, the directories that there are
tell.
"""

import glob
import os
import re
import stat
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

_OTHER = re.compile(r"[^a-zA-Z0-9]")
_CUT = 200
"""Characters of a path that are in the name; of a longer one, the rest is not told."""
_SESSIONS = 5
"""How many session files of a project are asked at most, the newest first."""
_READ = 1 << 18
"""Bytes that are read of each."""
_LOOKS = 2_000
"""Directories that are listed at most to find a project by its name alone."""
_SETTINGS_BYTES = 1_000_000


class Memory(NamedTuple):
    """A memory folder of Claude Code.

    Attributes:
        path: Where.
        project: The directory that it is about; `None` if it is about none, or if that is not known.
        agent: The agent whose memory it is; empty for the project's own.
    """

    path: str
    project: str | None
    agent: str = ""


def claude_directory(home: str | None = None) -> str:
    """Where Claude Code keeps what is the user's.

    Args:
        home: What `~` stands for; the user's home directory by default.
    """
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return os.path.realpath(named or os.path.join(home or os.path.expanduser("~"), ".claude"))


def memories(home: str | None = None) -> Iterator[Memory]:
    """All that there are.

    Args:
        home: What `~` stands for; the user's home directory by default.
    """
    top = claude_directory(home)
    for path in sorted(glob.glob(f"{glob.escape(top)}/projects/*/memory")):
        yield Memory(path, project_of(os.path.dirname(path)))
    if (chosen := _chosen_directory(top, home)) is not None:
        yield Memory(chosen, None)
    for path in sorted(glob.glob(f"{glob.escape(top)}/agent-memory/*")):
        yield Memory(path, None, os.path.basename(path))
    for kind in ("agent-memory", "agent-memory-local"):
        for path in sorted(glob.glob(f".claude/{kind}/*")):
            yield Memory(path, os.getcwd(), os.path.basename(path))


def encoded(path: str) -> str:
    """The name of the directory in which a project's sessions and memory are kept."""
    return _OTHER.sub("-", path)


def project_of(directory: str) -> str | None:
    """Where a project is, or was, whose sessions and memory are kept in a directory; `None` if nothing tells it."""
    name = os.path.basename(directory)
    for path in _newest(glob.glob(f"{glob.escape(directory)}/*.jsonl")):
        for where in _working_directories(path):
            for above in (where, *map(str, PurePath(where).parents)):  # a session may have gone deeper
                if _is_name(name, encoded(above)):
                    return above
    return _by_name(name)


def _is_name(name: str, written: str) -> bool:
    """Whether a directory is called by a project's path; a long one is cut, and has a number of its own behind it."""
    return name == written or (len(written) > _CUT and name.startswith(f"{written[:_CUT]}-"))


def _newest(paths: list[str]) -> list[str]:
    def age(path: str) -> float:
        try:
            return -os.stat(path, follow_symlinks=False).st_mtime
        except OSError:
            return 0.0

    return sorted(paths, key=age)[:_SESSIONS]


def _working_directories(path: str) -> Iterator[str]:
    """What a session file says of where it was held, line by line as far as it is read."""
    import json  # for start-up cost, as below: nobody waits for it before the first paint

    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return
            data = file.read(_READ)
    except OSError:
        return
    for line in data.split(b"\n"):
        if b'"cwd"' not in line:
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            continue  # half a line, or none of ours
        where = said.get("cwd") if isinstance(said, dict) else None
        if isinstance(where, str) and os.path.isabs(where) and "\0" not in where:
            yield os.path.normpath(where)


def _by_name(name: str) -> str | None:
    """The directory of this machine whose path is written so, if there is exactly one."""
    found: list[str] = []
    todo, looks = ["/"], 0
    while todo and looks < _LOOKS and len(found) < 2:
        above = todo.pop()
        looks += 1
        try:
            with os.scandir(above) as entries:
                for entry in entries:
                    written = encoded(entry.path)
                    if written == name or name.startswith(written + "-"):
                        if not entry.is_dir(follow_symlinks=False):
                            continue
                        (found if written == name else todo).append(entry.path)
        except OSError:
            continue
    return found[0] if len(found) == 1 else None


def _chosen_directory(top: str, home: str | None) -> str | None:
    """The directory that the user's own settings name for auto memory, if they name one."""
    import json

    try:
        fd = os.open(os.path.join(top, "settings.json"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            settings = json.loads(file.read(_SETTINGS_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    chosen = settings.get("autoMemoryDirectory") if isinstance(settings, dict) else None
    if not isinstance(chosen, str) or not chosen or "\0" in chosen:
        return None
    if chosen.startswith("~/"):
        chosen = os.path.join(home or os.path.expanduser("~"), chosen[2:])
    return chosen if os.path.isabs(chosen) else None
