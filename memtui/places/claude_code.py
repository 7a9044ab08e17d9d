"""Where Claude Code keeps its memories, and which project each is about.

A project's directory below `projects` is named by its path with everything but letters and digits replaced by `-`,
which cannot be turned back. Its session files say where they were held; without one, the directories that there are
tell.
"""

import contextlib
import glob
import os
import re
import stat
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from memtui.places.reach import Reach
from memtui.quiet import open_quietly

_OTHER = re.compile(r"[^a-zA-Z0-9]")
_BEYOND = re.compile(r"[^\x00-\uffff]")
_CUT = 200
"""Characters of a path that are in the name; of a longer one, the rest is not told."""
_SESSIONS = 5
"""How many session files of a project are asked at most, the newest first."""
_READ = 1 << 18
"""Bytes that are read of each."""
_LOOKS = 2_000
"""Directories that are listed at most to find a project by its name alone."""
_SETTINGS_BYTES = 1_000_000
_POLICY = "/etc/claude-code/managed-settings.json"
"""What those who look after a machine have settled for everybody on it."""
_AGENTS = ("agent-memory", "agent-memory-local")
"""What the directories of agents' memories are called: those that a project shares, and those that it does not."""


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


def config_directories(home: str | None = None) -> list[str]:
    """All directories in which Claude Code may keep what is the user's, the one that is in use first.

    Some people have several, for several accounts; each is named by the environment when it is in use.

    Args:
        home: What `~` stands for; the user's home directory by default.
    """
    home = home or os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    found = [claude_directory(home), os.path.join(home, ".claude"), os.path.join(config, "claude")]
    found += [each for each in (os.environ.get("CLAUDE_CODE_REMOTE_MEMORY_DIR"),) if each]
    found += (os.path.dirname(path) for path in sorted(glob.glob(f"{glob.escape(home)}/.claude[-_]*/projects")))
    return list(dict.fromkeys(map(os.path.realpath, found)))


def memories(home: str, reach: Reach) -> Iterator[Memory]:
    """All that there are; of one that is found twice the first tells most.

    Args:
        home: What `~` stands for.
        reach: Tells what is there, of what may be far away.
    """
    names = _Names(reach)
    projects = dict.fromkeys(_here())
    for top in config_directories(home):
        escaped = glob.escape(top)
        for path in sorted(glob.glob(f"{escaped}/projects/*/memory")):
            project = project_of(os.path.dirname(path), names)
            projects |= {project: None} if project is not None else {}
            yield Memory(path, project)
        for settings in (os.path.join(top, "settings.json"), _POLICY):
            if (chosen := _chosen_directory(settings, home)) is not None:
                yield Memory(chosen, None)
        for path in sorted(glob.glob(f"{escaped}/agent-memory/*")):
            yield Memory(path, None, os.path.basename(path))
        for path in sorted(glob.glob(f"{escaped}/projects/*/agent-memory-local/*")):
            above = os.path.dirname(os.path.dirname(path))
            yield Memory(path, project_of(above, names), os.path.basename(path))
    for project in projects:
        if reach.is_directory(own := os.path.join(project, ".claude")):
            if (chosen := _chosen_directory(os.path.join(own, "settings.local.json"), home)) is not None:
                yield Memory(chosen, project)
            for kind in _AGENTS:
                for path in sorted(glob.glob(f"{glob.escape(own)}/{kind}/*")):
                    yield Memory(path, project, os.path.basename(path))


def _here() -> list[str]:
    """The working directory and those above it in its repository: a project is often looked at from within."""
    try:
        here = os.getcwd()
    except OSError:
        return []  # it was deleted
    above = [here, *map(str, PurePath(here).parents)]
    top = next((at for at, each in enumerate(above) if os.path.lexists(os.path.join(each, ".git"))), 0)
    return above[: top + 1]


def encoded(path: str) -> str:
    """The name of the directory in which a project's sessions and memory are kept.

    Claude Code counts as JavaScript does: a character beyond the first 65,536 is two.
    """
    return _OTHER.sub("-", _BEYOND.sub("--", path))


def project_of(directory: str, names: "_Names | None" = None) -> str | None:
    """Where a project is, or was, whose sessions and memory are kept in a directory; `None` if nothing tells it.

    Args:
        directory: The one below `projects`.
        names: Remembers the directories that were looked at, where many projects are asked about.
    """
    name = os.path.basename(directory)
    for path in _newest(glob.glob(f"{glob.escape(directory)}/*.jsonl")):
        for where in _working_directories(path):
            for above in (where, *map(str, PurePath(where).parents)):  # a session may have gone deeper
                if _is_name(name, encoded(above)):
                    return above
    if names is not None:
        return names.path_of(name)
    with Reach() as reach:
        return _Names(reach).path_of(name)


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
        fd = open_quietly(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
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


class _Names:
    """Finds directories by how their paths are written.

    Args:
        reach: Tells what is there, of what may be far away.
    """

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._below: dict[str, list[tuple[str, str]]] = {}
        """Of each directory that was looked at, the paths in it and how they are written."""

    def path_of(self, name: str) -> str | None:
        """The directory of this machine whose path is written so, if there is exactly one."""
        found: list[str] = []
        todo, looks = ["/"], 0
        while todo and looks < _LOOKS and len(found) < 2:
            above = todo.pop()
            looks += 1
            for path, written in self._in(above):
                if written == name:
                    found.append(path)
                elif name.startswith(f"{written}-"):
                    todo.append(path)
        return found[0] if len(found) == 1 else None

    def _in(self, directory: str) -> list[tuple[str, str]]:
        if (known := self._below.get(directory)) is None:
            known = self._below[directory] = []
            if self._reach.is_directory(directory):
                with contextlib.suppress(OSError), os.scandir(directory) as entries:
                    known += ((each.path, encoded(each.path)) for each in entries if each.is_dir(follow_symlinks=False))
        return known


def _chosen_directory(settings: str, home: str) -> str | None:
    """The directory that a file of settings names for auto memory, if it names one."""
    import json

    try:
        fd = open_quietly(settings, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            said = json.loads(file.read(_SETTINGS_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    chosen = said.get("autoMemoryDirectory") if isinstance(said, dict) else None
    if not isinstance(chosen, str) or not chosen or "\0" in chosen:
        return None
    if chosen.startswith("~/"):
        chosen = os.path.join(home, chosen[2:])
    return chosen if os.path.isabs(chosen) else None
