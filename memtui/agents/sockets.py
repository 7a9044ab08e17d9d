"""A Unix socket in a directory, whatever the length of its path, and who is at the other end of it."""

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.core.errors import StateUnusable

NAME = "asked.sock"
"""Of the socket, in the state directory of a folder."""
_LONGEST = 103
"""Bytes of a path that every system takes: 107 on Linux, 103 on macOS."""
_CREDENTIALS = struct.Struct("3i")


def listening(directory: str, backlog: int) -> socket.socket:
    """A socket that listens in a directory, in the place of one that stood there.

    The caller must be the only one who may (see `memtui.agents.waiting`): the one before is gone.

    Raises:
        StateUnusable: The path is too long for this system.
        OSError: It cannot be made.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, NAME))
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _address(directory) as address:
            made.bind(address)
        os.chmod(
            os.path.join(directory, NAME), 0o600
        )  # the directory is its owner's only; one given with --state may not
        made.listen(backlog)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def connected(directory: str) -> socket.socket | None:
    """A connection to whoever listens in a directory, not blocking; `None` where nobody does.

    Raises:
        StateUnusable: The path is too long for this system.
    """
    path = os.path.join(directory, NAME)
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISSOCK(seen.st_mode) or seen.st_uid != os.geteuid():
        return None
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        with _address(directory) as address:
            made.connect(address)
    except OSError:  # refused: nobody listens any more; or too many ask at this moment
        made.close()
        return None
    except BaseException:
        made.close()
        raise
    if not is_ours(made):
        made.close()
        return None
    return made


def is_ours(peer: socket.socket) -> bool:
    """Whether the other end belongs to the same user; where the system does not tell, the directory's mode says so."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    try:
        _, user, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    except (OSError, struct.error):
        return False
    return bool(user == os.geteuid())


@contextmanager
def _address(directory: str) -> Iterator[str | bytes]:
    """What to bind or to connect to. A path that is too long for a socket goes through a descriptor of its directory.

    Raises:
        StateUnusable: This system has no such way.
    """
    path = os.fsencode(os.path.join(directory, NAME))
    if len(path) <= _LONGEST:
        yield path
        return
    if not os.path.isdir("/proc/self/fd"):
        raise StateUnusable(
            f"The path of the state directory is too long for a socket on this system ({len(path)} bytes; "
            f"{_LONGEST} at most): nobody can be asked. Choose a shorter one with --state."
        )
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)
