"""What there is to be seen of a tree, without leaving a trace in it: whoever looked before is found out."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path

AGES_AGO = 400 * 86_400
"""Seconds. An access that the system notes with `relatime`, as is usual, is noted for what is older than this."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One thing, as it is seen from outside.

    Attributes:
        kind: Its type and mode.
        owner: User and group.
        inode: Its number, and how many names it has.
        content: A hash of its bytes, or where it leads.
        mtime_ns: When it was written.
        ctime_ns: When anything about it was changed.
        atime_ns: When it was read; 0 for a link, which cannot be read without that.
    """

    kind: int
    owner: tuple[int, int]
    inode: tuple[int, int]
    content: str
    mtime_ns: int
    ctime_ns: int
    atime_ns: int


def traces(*roots: Path) -> dict[str, Trace]:
    """Everything below some directories, and they themselves. One that is not there is told by not being in it."""
    return {path: trace for root in roots for path, trace in _below(os.fspath(root))}


def _below(path: str) -> Iterator[tuple[str, Trace]]:
    try:
        seen = os.lstat(path)
    except FileNotFoundError:
        return
    content = ""
    inner: list[str] = []
    if stat.S_ISLNK(seen.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(seen.st_mode):
        fd = _opened(path)
        with open(fd, "rb") as file:
            content = sha256(file.read()).hexdigest()
    elif stat.S_ISDIR(seen.st_mode):
        fd = _opened(path)
        try:
            inner = sorted(os.listdir(fd))
        finally:
            os.close(fd)
        content = "/".join(inner)
    is_link = stat.S_ISLNK(seen.st_mode)
    yield (
        path,
        Trace(
            seen.st_mode,
            (seen.st_uid, seen.st_gid),
            (seen.st_ino, seen.st_nlink),
            content,
            seen.st_mtime_ns,
            seen.st_ctime_ns,
            0 if is_link else seen.st_atime_ns,
        ),
    )
    for name in inner:
        yield from _below(os.path.join(path, name))


def _opened(path: str) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(path, flags)


def age(*roots: Path) -> None:
    """Make everything look as if nobody had read it for long: an access that the system notes then shows."""
    then = time.time() - AGES_AGO
    for root in roots:
        for directory, _, names in os.walk(root, topdown=False):
            for path in (*(os.path.join(directory, name) for name in names), directory):
                os.utime(path, (then, os.lstat(path).st_mtime), follow_symlinks=False)


def differences(before: Mapping[str, Trace], after: Mapping[str, Trace]) -> list[str]:
    """What is not as it was, in words; nothing if all is."""
    found = [f"{path} is gone" for path in before.keys() - after.keys()]
    found += [f"{path} is new" for path in after.keys() - before.keys()]
    for path in before.keys() & after.keys():
        was, now = before[path], after[path]
        found += [
            f"{path}: {field.name} was {getattr(was, field.name)}, is {getattr(now, field.name)}"
            for field in fields(Trace)
            if getattr(was, field.name) != getattr(now, field.name)
        ]
    return sorted(found)
