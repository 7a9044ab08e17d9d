"""Candidates for memory folders on this machine, where none is named.

Only well-known places are looked at, and of what is in them only names and times: no note is opened, nothing is made or
changed. To tell which project a folder belongs to, the first lines of a few session files are read.
"""

import contextlib
import glob
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import PurePath
from queue import Empty, SimpleQueue
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line
from memtui.fs.no_atime import open_without_atime
from memtui.fs.state import list_recent_folders

# Directory checks with a timeout: a system call on a dead mount can block for ever, so it is made in a thread, and no
# path below that mount is checked again.

_PATIENCE = 1.0  # seconds
_MOUNTS = "/proc/self/mountinfo"


class DirectoryProber:
    """Tells which directories are there.

    Args:
        patience: Seconds to wait for an answer.
        look: Whether a directory exists; may block for ever (a network mount).
    """

    def __init__(self, *, patience: float = _PATIENCE, look: Callable[[str], bool] = os.path.isdir) -> None:
        self._patience = patience
        self._look = look
        self._asked: SimpleQueue[str] | None = None
        self._answered: SimpleQueue[bool] = SimpleQueue()
        self._dead: set[str] = set()
        self._mounts: list[str] | None = None

    def is_directory(self, path: str) -> bool | None:
        """Whether a directory is there, links followed; `None` if nobody answered."""
        if any(path == dead or path.startswith(f"{dead}/") for dead in self._dead):
            return None
        if self._asked is None:
            self._asked, self._answered = SimpleQueue(), SimpleQueue()
            answering = (self._look, self._asked, self._answered)
            threading.Thread(target=_answer_queries, args=answering, name="places", daemon=True).start()
        self._asked.put(path)
        try:
            return self._answered.get(timeout=self._patience)
        except Empty:
            self._asked = None  # its thread is lost until the disk comes back
            self._dead.add(self._find_mount(path))
            return None

    def _find_mount(self, path: str) -> str:
        """The mount of a path, as far as it is known; on the root, only the path itself is skipped."""
        if self._mounts is None:
            self._mounts = _read_mounts()
        above = [mount for mount in self._mounts if mount != "/" and (path == mount or path.startswith(f"{mount}/"))]
        return max(above, key=len, default=path)

    def __enter__(self) -> "DirectoryProber":
        return self

    def __exit__(self, *_: object) -> None:
        """Let the thread end."""
        if self._asked is not None:
            self._asked.put("")
            self._asked = None


def _answer_queries(look: Callable[[str], bool], asked: "SimpleQueue[str]", answered: "SimpleQueue[bool]") -> None:
    while path := asked.get():
        try:
            answered.put(look(path))
        except (OSError, ValueError):
            answered.put(False)


def _read_mounts() -> list[str]:
    """Where something is mounted; nothing of it is touched."""
    try:
        with open(_MOUNTS, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    points = (line.split(b" ")[4] for line in lines if line.count(b" ") > 4)
    return [os.fsdecode(point.decode("unicode_escape").encode("latin-1")) for point in points]


# Claude Code: a project's directory below `projects` is named by its path with everything but letters and digits
# replaced by `-`, which cannot be turned back. Its session files say where they were held; without one, the directories
# that there are tell.

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
    names = _DirectoryFinder(reach)
    projects = dict.fromkeys(_iter_working_directories())
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


def _iter_working_directories() -> list[str]:
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


def find_project(directory: str, names: "_DirectoryFinder | None" = None) -> str | None:
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
        return _DirectoryFinder(reach).find_path(name)


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


def _read_start(path: str, limit: int, flags: int = 0) -> bytes:
    """The first bytes of a file; nothing for one that is none or cannot be read."""
    try:
        fd = open_without_atime(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
        with open(fd, "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""


def _parse_object(data: bytes) -> dict[str, object]:
    """A JSON object; empty if it is none."""
    import json  # noqa: PLC0415 - start-up: the first paint does not wait

    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _read_working_directories(path: str) -> Iterator[str]:
    """What a session file says of where it was held, line by line as far as it is read."""
    for line in _read_start(path, _READ, os.O_NOFOLLOW).split(b"\n"):
        where = _parse_object(line).get("cwd") if b'"cwd"' in line else None
        if isinstance(where, str) and os.path.isabs(where) and "\0" not in where:
            yield os.path.normpath(where)


class _DirectoryFinder:
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
    chosen = _parse_object(_read_start(settings, _SETTINGS_BYTES)).get("autoMemoryDirectory")
    if not isinstance(chosen, str) or not chosen or "\0" in chosen:
        return None
    if chosen.startswith("~/"):
        chosen = os.path.join(home, chosen[2:])
    return chosen if os.path.isabs(chosen) else None


# Visual Studio Code: the memory tool of its chat keeps user memories in the global storage, and those of a workspace in
# the workspace's storage, beside a file that names the workspace.

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor")
_SERVERS = (".vscode-server", ".vscode-server-insiders")
_TOOL = "memory-tool/memories"
_WORKSPACE_BYTES = 100_000


class VsCodeMemory(NamedTuple):
    """A memory folder of the editor."""

    path: str
    project: str | None


def find_vscode_memories(home: str) -> Iterator[VsCodeMemory]:
    """All that there are."""
    for user in _iter_user_directories(home):
        within = glob.escape(user)
        for path in sorted(glob.glob(f"{within}/globalStorage/[gG]it[hH]ub.copilot-chat/{_TOOL}")):
            yield VsCodeMemory(path, None)
        for path in sorted(glob.glob(f"{within}/workspaceStorage/*/[gG]it[hH]ub.copilot-chat/{_TOOL}")):
            yield VsCodeMemory(path, _read_workspace(path.removesuffix(f"/{_TOOL}").rpartition("/")[0]))


def _iter_user_directories(home: str) -> Iterator[str]:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for base in (config, os.path.join(home, "Library", "Application Support")):
        for editor in _EDITORS:
            yield os.path.join(base, editor, "User")
    for server in _SERVERS:
        yield os.path.join(home, server, "data", "User")


def _read_workspace(storage: str) -> str | None:
    """Where the workspace is that a storage belongs to; `None` if that is not known, or on another machine."""
    content = _parse_object(_read_start(os.path.join(storage, "workspace.json"), _WORKSPACE_BYTES))
    address = content.get("folder") or content.get("workspace")
    if not isinstance(address, str) or not address.startswith("file:///"):
        return None
    path = unquote(urlsplit(address).path)
    return None if "\0" in path else path


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
        changed_ns: When the newest file was written, in nanoseconds since 1970; `None` if it is empty.
        project: The directory that they are about; `None` if there is none or it is unknown.
        project_exists: `None` if there is no project or it is unknown.
        is_counted: Whether all files were counted; if not, `files` is a minimum, and 0 if the disk does not
            answer.
        unseen: Files that others changed since the person looked.
    """

    path: str
    display_path: str
    files: int
    changed_ns: int | None
    owner: MemoryOwner = MemoryOwner.HERE
    project: str | None = None
    project_exists: bool | None = None
    name: str = ""
    is_counted: bool = True
    unseen: int = 0


def find_memory_folders(
    *, home: str | None = None, limit: int | None = ENOUGH, reach: DirectoryProber | None = None
) -> list[MemoryLocation]:
    """The likely memory folders, the one that changed last first."""
    home = home or os.path.expanduser("~")
    found: dict[str, MemoryLocation] = {}
    with reach or DirectoryProber() as asking:
        for place in _iter_candidates(home, asking):
            is_there = asking.is_directory(place.path)
            if is_there is None:
                found.setdefault(
                    place.path,
                    replace(place, display_path=to_one_line(format_path(place.path, home)), is_counted=False),
                )
            elif is_there and (real := os.path.realpath(place.path)) not in found:
                found[real] = _inspect_folder(real, place, home)
    return sorted(found.values(), key=lambda place: (-(place.changed_ns or 0), place.display_path))[:limit]


def _iter_candidates(home: str, reach: DirectoryProber) -> Iterator[MemoryLocation]:
    """Where to look, the most telling first: of one folder that is found twice the first is taken."""
    for pattern in ("./memories", "./memory/memories", f"{glob.escape(home)}/memories"):
        for path in glob.glob(pattern):
            yield _build_unreachable(path, MemoryOwner.HERE)
    for memory in find_claude_code_memories(home, reach):
        owner = MemoryOwner.CLAUDE_AGENT if memory.agent else MemoryOwner.CLAUDE_CODE
        yield replace(_add_project(memory.project, _build_unreachable(memory.path, owner), reach), name=memory.agent)
    for kept in find_vscode_memories(home):
        yield _add_project(kept.project, _build_unreachable(kept.path, MemoryOwner.VSCODE), reach)
    for path in list_recent_folders():
        yield _build_unreachable(path, MemoryOwner.RECENT)


def _add_project(project: str | None, place: MemoryLocation, reach: DirectoryProber) -> MemoryLocation:
    return replace(place, project=project, project_exists=None if project is None else reach.is_directory(project))


def _build_unreachable(path: str, owner: MemoryOwner) -> MemoryLocation:
    return MemoryLocation(path, "", 0, None, owner)


def _inspect_folder(real: str, place: MemoryLocation, home: str) -> MemoryLocation:
    files, newest = 0, None
    for entry in _walk_files(real):
        try:
            newest = max(newest or 0, entry.stat(follow_symlinks=False).st_mtime_ns)
        except OSError:
            continue  # gone meanwhile
        files += 1
        if files >= _COUNTED:
            break
    shown, is_counted = to_one_line(format_path(place.path, home)), files < _COUNTED
    return replace(place, path=real, display_path=shown, files=files, changed_ns=newest, is_counted=is_counted)


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

_OWNERS = {
    MemoryOwner.HERE: "here",
    MemoryOwner.CLAUDE_CODE: "Claude Code",
    MemoryOwner.CLAUDE_AGENT: "agent",
    MemoryOwner.VSCODE: "VS Code",
    MemoryOwner.RECENT: "opened before",
}


def format_owner(place: MemoryLocation) -> str:
    """Whose memories they are, in words and on one line."""
    return f"{_OWNERS[place.owner]} {to_one_line(place.name)}".rstrip()


def format_project(place: MemoryLocation) -> str:
    """Which project they are about, and whether it is still there; empty where there is none."""
    if not place.files and not place.is_counted:
        return "the disk does not respond"
    if place.project is None:
        return "unknown project" if place.owner is MemoryOwner.CLAUDE_CODE else ""
    case = {True: "", False: " (deleted)", None: " (does not respond)"}[place.project_exists]
    return f"for {to_one_line(format_path(place.project))}{case}"
