"""Where the record of a memory folder is kept: out of the agent's reach, which is decided here and nowhere else.

Hooks load this, and must not keep an agent waiting: no database here.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memtui.core.errors import StateUnusable
from memtui.core.hashing import hash_bytes
from memtui.core.paths import NO_FOLDER, ONLINE, SQLITE, format_path
from memtui.fs.atomic import write_atomic
from memtui.fs.no_atime import open_without_atime

if TYPE_CHECKING:
    from pathlib import Path


def get_state_home() -> "Path":
    """The directory below which memtui keeps what it knows, unless somebody said otherwise."""
    return _make_path(_locate_state_home())


def get_cache_home() -> "Path":
    """The directory for what memtui can do without, and gets again if it is gone."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return _make_path(f"{os.path.realpath(base)}/memtui")


def get_config_path(environ: Mapping[str, str] = os.environ) -> str:
    """Where the settings file is, unless somebody says otherwise: the same place on every system."""
    if named := environ.get("MEMTUI_CONFIG"):
        return os.path.abspath(os.path.expanduser(named))
    base = environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):  # as the XDG specification has it
        base = os.path.expanduser("~/.config")
    return os.path.join(base, "memtui", "config.toml")


def make_private_directory(directory: str | os.PathLike[str]) -> None:
    """Make a directory and the missing ones above it, each for its owner only."""
    if not os.path.isdir(directory):
        make_private_directory(os.path.dirname(directory) or ".")
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:
            if not os.path.isdir(directory):
                raise


def get_state_directory(folder: str, state: str | os.PathLike[str] | None = None) -> "Path":
    """The state directory of a place, its own or `state`; raises `StateUnusable` inside the (real) folder."""
    return _make_path(locate_state_directory(folder, state))


def locate_state_directory(folder: str, state: str | os.PathLike[str] | None = None) -> str:
    """The same as text."""
    if state is not None:
        chosen = os.path.realpath(os.path.expanduser(state))
    else:
        chosen = f"{_locate_state_home()}/stores/{_name_state_directory(folder)}"
    if f"{chosen}/".startswith(f"{os.fspath(folder).rstrip('/')}/"):
        inside = f"is inside the memory folder {format_path(folder)}, where an agent could reach it"
        raise StateUnusable(f"The state directory {format_path(chosen)} {inside}. Choose another one with --state.")
    return chosen


def _locate_state_home() -> str:
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return f"{os.path.realpath(base)}/memtui"


def _make_path(place: str) -> "Path":
    from pathlib import Path  # noqa: PLC0415 - start-up: 3 ms, and a hook does without

    return Path(place)


def _name_state_directory(folder: str) -> str:
    identity = hash_bytes(os.fsencode(folder))[:12]
    return f"{os.path.basename(folder) or 'root'}-{identity}"


def make_state_test() -> Callable[[str], bool]:
    """Whether a folder, links resolved, has a state directory in the usual place: one listing for all of them.

    Where they cannot be listed, every folder may have one.
    """
    try:
        names = frozenset(os.listdir(get_state_home() / "stores"))
    except (FileNotFoundError, NotADirectoryError):
        names = frozenset()
    except OSError:
        return lambda _: True
    return lambda folder: _name_state_directory(folder) in names


UNJOURNALLED = frozenset({"ext2", "vfat", "msdos", "exfat", "minix", "ufs", "hfs", "sysv"})
"""File systems that may lose a whole file by a power cut, whatever was synced in it."""
REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "afs", "ceph", "virtiofs", "vboxsf")
"""Beginnings of the names of file systems on which locks or change notices may not reach other machines."""

_ESCAPED = ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\"))
"""How the kernel's table of mounts writes what would end a word or a line there (proc_pid_mountinfo(5))."""


def get_file_system_type(path: str) -> str | None:
    """The type of the innermost mount that holds a path, from the kernel's table (Linux)."""
    found: tuple[int, str] | None = None
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            for row in table:
                mount, _, right = row.partition(" - ")
                point = mount.split()[4]
                for escaped, character in _ESCAPED:
                    point = point.replace(escaped, character)
                inside = point in ("/", path) or path.startswith(point + "/")
                if inside and (found is None or len(point) >= found[0]):
                    found = (len(point), right.split()[0])
    except (OSError, IndexError, ValueError):
        return None
    return found[1] if found else None


# Folders with a journal, and stores that are no folder: a line in the state directory names each.

AUDITS = "audits.json"
"""The audits before, in a folder's journal directory."""
CLEAN_NOTES = "clean-notes.json"
"""What the last audit found nothing in, in the same directory."""
KNOWN_NOTES = "notes.json"
"""What was read of the notes for their graph, in the same directory."""
APPROVAL_SOCKET = "asked.sock"
"""Where a memtui that shows the folder is asked, in the same directory: a hook looks for it before it loads more."""
COPY = "copy.db"
"""This machine's copy of a store on a server, in the state directory of that store."""
UNFINISHED = "copy.unfinished"
"""There as long as that copy was never as far as the server."""
_FILE = "folder"
_JOURNAL = "journal.db"
_MOST = 20
_RECORD_BYTES = 8_192


def remember_folder(directory: "Path", folder: str) -> None:
    """Say in a state directory which folder, or which other place, it is about.

    It is only a convenience: what cannot be written is not missed.
    """
    if _read_record(directory) == folder:
        return
    with contextlib.suppress(OSError):
        write_atomic(directory / _FILE, os.fsencode(folder), sync=False)


def list_recent_folders(limit: int | None = _MOST) -> list[str]:
    """The folders of which a record is kept in its usual place, the one that was written to last first.

    Args:
        limit: How many at most; `None` for all.
    """
    found: list[tuple[int, str]] = []
    for directory in _list_state_directories():
        with contextlib.suppress(OSError):
            when = os.stat(directory / _JOURNAL).st_mtime_ns
            if (folder := _read_record(directory)).startswith("/"):
                found.append((when, folder))
    return [folder for _, folder in sorted(found, reverse=True)[:limit]]


def list_recent_stores() -> list[str]:
    """The stores that are no folder and were opened before."""
    return sorted(place for each in _list_state_directories() if (place := _read_record(each)).startswith(NO_FOLDER))


def locate_record(place: str) -> str:
    """The SQLite file with the record of a place: a folder's journal, or what this machine has of a store."""
    if place.startswith(SQLITE):
        return place.removeprefix(SQLITE)
    return f"{locate_state_directory(place)}/{COPY if place.startswith(ONLINE) else _JOURNAL}"


def _list_state_directories() -> list["Path"]:
    stores = get_state_home() / "stores"
    try:
        fd = open_without_atime(os.fspath(stores), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return [stores / name for name in os.listdir(fd)]
    except OSError:
        return []
    finally:
        os.close(fd)


def _read_record(directory: "Path") -> str:
    """What a state directory says that it is about; empty for what is no place."""
    try:
        fd = open_without_atime(
            os.fspath(directory / _FILE), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
        )
        with open(fd, "rb") as file:
            held = os.fsdecode(file.read(_RECORD_BYTES + 1))
    except OSError:
        return ""
    return held if held.startswith(("/", *NO_FOLDER)) and len(held) <= _RECORD_BYTES and "\0" not in held else ""
