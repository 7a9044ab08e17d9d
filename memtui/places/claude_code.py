"""Claude Code's memory folders.

A project's directory below `projects` is named by its path with everything but letters and digits replaced by `-`,
which cannot be turned back. Its session files say where they were held; without one, the directories that there are
tell.
"""

import contextlib
import glob
import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from memtui.places.probe import DirectoryProber, parse_object, read_start

_OTHER = re.compile(r"[^a-zA-Z0-9]")
_BEYOND = re.compile(r"[^\x00-\uffff]")
_CUT = 200  # characters of a path that are in the name; of a longer one, the rest is not told
_SESSIONS = 5  # how many session files of a project are asked at most, the newest first
_READ = 1 << 18  # bytes that are read of each
_LOOKS = 2_000  # directories that are listed at most to find a project by its name alone
_SETTINGS_BYTES = 1_000_000
_POLICY = "/etc/claude-code/managed-settings.json"
"""What those who look after a machine have settled for everybody on it."""
_AGENTS = ("agent-memory", "agent-memory-local")
"""What the directories of agents' memories are called: those that a project shares, and those that it does not."""


class ClaudeCodeMemory(NamedTuple):
    """A memory folder of Claude Code."""

    path: str
    project: str | None  # its directory; `None` if there is none or it is unknown
    agent: str = ""  # the agent that owns it; empty for the project's own


def get_claude_directory(home: str | None = None) -> str:
    """Where Claude Code keeps what is the user's."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return os.path.realpath(named or os.path.join(home or os.path.expanduser("~"), ".claude"))


def list_config_directories(home: str | None = None) -> list[str]:
    """All directories in which Claude Code may keep what is the user's, the one that is in use first.

    Some people have several, for several accounts; each is named by the environment when it is in use.
    """
    home = home or os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    found = [get_claude_directory(home), os.path.join(home, ".claude"), os.path.join(config, "claude")]
    found += [each for each in (os.environ.get("CLAUDE_CODE_REMOTE_MEMORY_DIR"),) if each]
    found += (os.path.dirname(path) for path in sorted(glob.glob(f"{glob.escape(home)}/.claude[-_]*/projects")))
    return list(dict.fromkeys(map(os.path.realpath, found)))


def find_claude_code_memories(home: str, reach: DirectoryProber) -> Iterator[ClaudeCodeMemory]:
    """All that there are; of one that is found twice the first tells most."""
    names = DirectoryFinder(reach)
    projects = dict.fromkeys(iter_working_directories())
    for top in list_config_directories(home):
        escaped = glob.escape(top)
        for path in sorted(glob.glob(f"{escaped}/projects/*/memory")):
            project = find_project(os.path.dirname(path), names)
            projects |= {project: None} if project is not None else {}
            yield ClaudeCodeMemory(path, project)
        for settings in (os.path.join(top, "settings.json"), _POLICY):
            if (chosen := _read_configured_directory(settings, home)) is not None:
                yield ClaudeCodeMemory(chosen, None)
        for path in sorted(glob.glob(f"{escaped}/agent-memory/*")):
            yield ClaudeCodeMemory(path, None, os.path.basename(path))
        for path in sorted(glob.glob(f"{escaped}/projects/*/agent-memory-local/*")):
            above = os.path.dirname(os.path.dirname(path))
            yield ClaudeCodeMemory(path, find_project(above, names), os.path.basename(path))
    for project in projects:
        if reach.is_directory(own := os.path.join(project, ".claude")):
            if (chosen := _read_configured_directory(os.path.join(own, "settings.local.json"), home)) is not None:
                yield ClaudeCodeMemory(chosen, project)
            for kind in _AGENTS:
                for path in sorted(glob.glob(f"{glob.escape(own)}/{kind}/*")):
                    yield ClaudeCodeMemory(path, project, os.path.basename(path))


def list_configured_directories(home: str) -> list[str]:
    """The directories that settings of the user's, or of who runs the machine, name for auto memory."""
    settings = [os.path.join(top, "settings.json") for top in list_config_directories(home)]
    found = (_read_configured_directory(each, home) for each in (*settings, _POLICY))
    return [os.path.realpath(path) for path in found if path is not None]


def iter_working_directories() -> list[str]:
    """The working directory and those above it in its repository: a project is often looked at from within."""
    try:
        here = os.getcwd()
    except OSError:
        return []  # it was deleted
    above = [here, *map(str, PurePath(here).parents)]
    top = next((at for at, each in enumerate(above) if os.path.lexists(os.path.join(each, ".git"))), 0)
    return above[: top + 1]


def encode_path(path: str) -> str:
    """The name of the directory in which a project's sessions and memory are kept.

    Claude Code counts as JavaScript does: a character beyond the first 65,536 is two.
    """
    return _OTHER.sub("-", _BEYOND.sub("--", path))


def find_project(directory: str, names: "DirectoryFinder | None" = None) -> str | None:
    """Where a project is, or was, whose sessions and memory are kept in a directory; `None` if nothing tells it."""
    name = os.path.basename(directory)
    for path in _sort_newest(glob.glob(f"{glob.escape(directory)}/*.jsonl")):
        for where in _read_working_directories(path):
            for above in (where, *map(str, PurePath(where).parents)):  # a session may have gone deeper
                if _is_encoded_name(name, encode_path(above)):
                    return above
    if names is not None:
        return names.find_path(name)
    with DirectoryProber() as reach:
        return DirectoryFinder(reach).find_path(name)


def _is_encoded_name(name: str, written: str) -> bool:
    """Whether a directory is called by a project's path; a long one is cut, and has a number of its own behind it."""
    return name == written or (len(written) > _CUT and name.startswith(f"{written[:_CUT]}-"))


def _sort_newest(paths: list[str]) -> list[str]:
    def age(path: str) -> float:
        try:
            return -os.stat(path, follow_symlinks=False).st_mtime
        except OSError:
            return 0.0

    return sorted(paths, key=age)[:_SESSIONS]


def _read_working_directories(path: str) -> Iterator[str]:
    """What a session file says of where it was held, line by line as far as it is read."""
    for line in read_start(path, _READ, os.O_NOFOLLOW).split(b"\n"):
        where = parse_object(line).get("cwd") if b'"cwd"' in line else None
        if isinstance(where, str) and os.path.isabs(where) and "\0" not in where:
            yield os.path.normpath(where)


class DirectoryFinder:
    """Finds directories by how their paths are written."""

    def __init__(self, reach: DirectoryProber) -> None:
        self._reach = reach
        self._below: dict[str, list[tuple[str, str]]] = {}
        """Of each directory that was looked at, the paths in it and how they are written."""

    def find_path(self, name: str) -> str | None:
        """The directory of this machine whose path is written so, if there is exactly one."""
        found: list[str] = []
        todo, looks = ["/"], 0
        while todo and looks < _LOOKS and len(found) < 2:
            above = todo.pop()
            looks += 1
            for path, written in self._list_directory(above):
                if written == name:
                    found.append(path)
                elif name.startswith(f"{written}-"):
                    todo.append(path)
        return found[0] if len(found) == 1 else None

    def _list_directory(self, directory: str) -> list[tuple[str, str]]:
        if (known := self._below.get(directory)) is None:
            known = self._below[directory] = []
            if self._reach.is_directory(directory):
                with contextlib.suppress(OSError), os.scandir(directory) as entries:
                    known += (
                        (each.path, encode_path(each.path)) for each in entries if each.is_dir(follow_symlinks=False)
                    )
        return known


def _read_configured_directory(settings: str, home: str) -> str | None:
    """The directory that a file of settings names for auto memory, if it names one."""
    chosen = parse_object(read_start(settings, _SETTINGS_BYTES)).get("autoMemoryDirectory")
    if not isinstance(chosen, str) or not chosen or "\0" in chosen:
        return None
    if chosen.startswith("~/"):
        chosen = os.path.join(home, chosen[2:])
    return chosen if os.path.isabs(chosen) else None
