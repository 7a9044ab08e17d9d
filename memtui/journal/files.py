"""A journal's files: which they are, and who may open them in this process."""

import os
import threading
from collections import Counter

BUSY_MS = 5_000
"""Milliseconds for which somebody else's lock is waited for."""
LOOKS = 20
"""How often a journal is looked at again that was opened or closed by somebody at that moment."""
OPENING = threading.RLock()
"""Held while a journal is opened, closed or copied by this process. Locks on files are a process's own (POSIX), and
closing any descriptor of a file drops all of them, so nobody may open a journal's file behind SQLite's back while it
is in use; and a copy that came first would make SQLite think that nobody in this process may write."""


_in_use: Counter[tuple[int, int]] = Counter()
"""The journals that this process has open, each with how often."""


def begin_use(identity: tuple[int, int] | None) -> None:
    """Note that a journal is open. `OPENING` must be held."""
    if identity is not None:
        _in_use[identity] += 1


def end_use(identity: tuple[int, int] | None) -> None:
    """Note that it is not any more. `OPENING` must be held."""
    if identity is not None and _in_use[identity] > 0:
        _in_use[identity] -= 1


def is_in_use(path: str) -> bool:
    """Whether this process has a journal open: then nobody but SQLite may open its file. `OPENING` must be held."""
    identity = identity_of(path)
    return identity is not None and _in_use[identity] > 0


def identity_of(path: str) -> tuple[int, int] | None:
    """Which file a path names, without opening it."""
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return None
    return seen.st_dev, seen.st_ino


def address_of(path: str) -> str:
    """The address by which SQLite opens a file for reading only; more options may follow, each after a `&`."""
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
