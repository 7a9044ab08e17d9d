"""The writer lock: the kernel's, so that it goes when its process does. Never a file with a number in it.

`flock` on a descriptor of its own for each holder, so that threads exclude each other as well. Where a file system
knows no such thing, a record lock (POSIX), which every network file system knows that knows any lock. Which one is
a matter of the file system alone: two processes with two kinds of lock would not exclude each other.
"""

import errno
import fcntl
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

from memtui.core.errors import Busy, StateUnusable
from memtui.store.confined import let_go

Locking = Literal["flock", "record"]

_PAUSES = (0.0002, 0.0005, 0.001, 0.002, 0.005)
_NEXT_PAUSES = (*(0.0002,) * 20, *(0.0005,) * 200, 0.005)
"""For the one that is next: the others wait for it."""
_TURN = 1
"""The byte of the lock's file that is held by who is next, besides the lock itself."""
_UNKNOWN = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
"""What a file system answers to a call that it never knows. Not so ENOLCK: that may be over in a moment."""
_NONE = (
    "The state directory is on a file system without locks, where two writers could collide: nothing is written. "
    "Choose another one with --state."
)

_mutexes: dict[tuple[int, int], threading.Lock] = {}
"""Record locks are a process's own: they exclude no threads, and closing any descriptor of the file gives them back.
So whoever opens the file in this process holds the mutex of its directory."""
_mutexes_lock = threading.Lock()

_holders: set[object] = set()
"""One for each lock that a thread of this process holds, or is about to ask for."""
_stopping = False
_holding = threading.Condition()


@contextmanager
def none_held(seconds: float) -> Iterator[bool]:
    """Let no thread of this process hold a lock, for a process that is about to be stopped: the lock of a stopped one
    stays, and every other program would be told that the folder is busy until it goes on.

    Args:
        seconds: How long those that hold one are waited for; tells whether all had let go by then.
    """
    global _stopping  # noqa: PLW0603 - the state of the process is what this is about
    with _holding:
        _stopping = True
        try:
            yield _holding.wait_for(lambda: not _holders, seconds)
        finally:
            _stopping = False
            _holding.notify_all()


@contextmanager
def _counted() -> Iterator[None]:
    holder = object()
    with _holding:
        _holding.wait_for(lambda: not _stopping)
        _holders.add(holder)
    try:
        yield
    finally:
        with _holding:
            _holders.discard(holder)  # in a forked child it is forgotten already
            _holding.notify_all()


@contextmanager
def held(directory: int, seconds: float, locking: Locking | None = None) -> Iterator[Locking]:
    """Hold the lock of a directory; tells which kind it is.

    Args:
        directory: A descriptor; the lock's file is `lock` in it, made if missing.
        seconds: How long to wait.
        locking: Which kind; by default what the file system knows.

    Raises:
        Busy: Somebody else has it for too long.
        StateUnusable: The directory is gone, or its file system knows no locks.
        OSError: The file cannot be opened or locked.
    """
    with _counted(), _held(directory, seconds, locking) as kind:
        yield kind


@contextmanager
def _held(directory: int, seconds: float, locking: Locking | None) -> Iterator[Locking]:
    deadline = time.monotonic() + seconds
    if locking != "record":
        fd = _opened(directory)
        try:
            if _lock_in_turn(fd, deadline):
                yield "flock"
                return
        finally:
            let_go(fd)
    mutex = _mutex_of(directory)
    if not mutex.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
        raise _busy()
    try:
        fd = _opened(directory)
        try:
            if not _lock(lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB), deadline):
                raise StateUnusable(_NONE) from OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
            yield "record"
        finally:
            let_go(fd)
    finally:
        mutex.release()


def _opened(directory: int) -> int:
    try:
        return os.open("lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=directory)
    except FileNotFoundError as error:
        raise StateUnusable("The state directory is not there any more.") from error


def _lock_in_turn(fd: int, deadline: float) -> bool:
    """Ask for `flock`, one behind the other: who writes without a pause would never let another one in.

    The turn is a lock of the open file as well, of another kind (`F_OFD_SETLK`, Linux). Where it cannot be had, the
    lock alone is asked for.
    """
    in_turn = False
    if _HAS_TURNS:
        with suppress(OSError):
            in_turn = _lock(lambda: _turn(fd, fcntl.F_WRLCK), deadline)
    try:
        pauses = _NEXT_PAUSES if in_turn else _PAUSES
        return _lock(lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB), deadline, pauses)
    finally:
        if in_turn:
            with suppress(OSError):  # closing the file gives it back as well
                _turn(fd, fcntl.F_UNLCK)


_HAS_TURNS = sys.platform == "linux" and hasattr(fcntl, "F_OFD_SETLK")


def _turn(fd: int, kind: int) -> None:
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, _TURN, 1, 0))


def _lock(ask: Callable[[], None], deadline: float, pauses: Sequence[float] = _PAUSES) -> bool:
    """Ask for a lock, ever less often: there is no time limit of its own. `False` where there is no such lock."""
    attempt = 0
    while True:
        try:
            ask()
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise _busy() from None
            time.sleep(pauses[min(attempt, len(pauses) - 1)])
            attempt += 1
        except OSError as error:
            if error.errno not in _UNKNOWN:
                raise
            return False
        else:
            return True


def _busy() -> Busy:
    return Busy("Another program is writing to the memory folder.")


def _mutex_of(directory: int) -> threading.Lock:
    seen = os.fstat(directory)
    with _mutexes_lock:
        return _mutexes.setdefault((seen.st_dev, seen.st_ino), threading.Lock())


def _forget_mutexes() -> None:
    """In a forked child nobody holds what another thread of its parent held: those threads are not there."""
    global _mutexes_lock, _holding, _stopping  # noqa: PLW0603 - they may have been held at that moment
    _mutexes_lock, _holding = threading.Lock(), threading.Condition()
    _stopping = False
    _holders.clear()
    _mutexes.clear()


os.register_at_fork(after_in_child=_forget_mutexes)
