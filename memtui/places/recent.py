"""Folders that memtui has kept a record of. A state directory's name does not tell the folder: a line in it does."""

import contextlib
import os
from pathlib import Path

from memtui.places import state_home
from memtui.quiet import open_quietly

_FILE = "folder"
_JOURNAL = "journal.db"
_MOST = 20
_MOST_BYTES = 8_192


def remember_folder(directory: Path, folder: str) -> None:
    """Say in a state directory which folder it is about.

    It is only a convenience: what cannot be written is not missed.

    Args:
        directory: The state directory, which is there.
        folder: The folder, links resolved.
    """
    wanted = os.fsencode(folder)
    if _read(directory) == wanted:
        return
    with contextlib.suppress(OSError):
        aside = directory / f".{_FILE}.{os.getpid()}"
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(wanted)
        os.replace(aside, directory / _FILE)


def recent_folders() -> list[str]:
    """The folders of which a record is kept in its usual place, the one that was written to last first."""
    found: list[tuple[int, str]] = []
    stores = state_home() / "stores"
    with contextlib.suppress(OSError):
        fd = open_quietly(os.fspath(stores), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            names = os.listdir(fd)
        finally:
            os.close(fd)
        for name in names:
            with contextlib.suppress(OSError):
                when = os.stat(stores / name / _JOURNAL).st_mtime_ns
                if folder := _read(stores / name):
                    found.append((when, os.fsdecode(folder)))
    return [folder for _, folder in sorted(found, reverse=True)[:_MOST]]


def _read(directory: Path) -> bytes:
    try:
        fd = open_quietly(os.fspath(directory / _FILE), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(fd, "rb") as file:
            held = file.read(_MOST_BYTES + 1)
    except OSError:
        return b""
    return held if held.startswith(b"/") and len(held) <= _MOST_BYTES and b"\0" not in held else b""
