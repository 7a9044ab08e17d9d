"""The writer lock: the kernel's, so that it goes when its process does. Never a file with a number in it.

`flock` on a descriptor of its own for each holder, so that threads exclude each other as well. Where a file system
knows no such thing, a record lock (POSIX), which every network file system knows that knows any lock. Which one is
a matter of the file system alone: two processes with two kinds of lock would not exclude each other.
"""

import _thread
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

from memtui.core.errors import LockTimeout, StateUnusable
from memtui.fs.beneath import close_quietly
from memtui.fs.state import REMOTE, get_file_system_type

Locking = Literal["flock", "record"]

_PAUSES = (0.0002, 0.0005, 0.001, 0.002, 0.005)
_NEXT_PAUSES = (*(0.0002,) * 20, *(0.0005,) * 200, 0.005)
"""For the one that is next: the others wait for it."""
_LONG_SHORTEST, _LONG_LONGEST = 0.0005, 0.032
"""Pauses in seconds where a lock is held for as long as a server takes to answer: see `_LongWait`."""
_LONG_SHARE = 0.75
"""The part of the last wait for such a lock for which the next one is not looked at."""
_ATTEMPTS = 400
"""How often the one that is next asks at once: for about a millisecond, as long as most writers hold the lock. To sleep
and wake takes a good part of that."""
_MOST_QUEUED = 1.0
"""Seconds in the kernel's queue: one that is next, and whose process was stopped, keeps those behind it."""
_TURN = 1
"""The byte of the lock's file that is held by who is next, besides the lock itself."""
_UNKNOWN = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
"""What a file system answers to a call that it never knows. Not so ENOLCK: that may be over in a moment."""
_NO_LOCKS = (*_UNKNOWN, errno.ENOLCK, errno.EBADF)
"""The same for a lock that is only asked for once; EBADF is the answer of NFS for a directory."""
_NONE = (
    "The state directory is on a file system without locks, where two writers could collide: nothing is written. "
    "Choose another one with --state."
)

_MOST_WAITING = 32
_queued = threading.Semaphore(_MOST_WAITING)
"""For the threads that wait in that queue: one that is given up stays there until the lock is free."""
_are_local: dict[int, bool] = {}
"""By device, whether the kernel itself keeps its locks."""

_mutexes: dict[tuple[int, int], threading.Lock] = {}
"""Record locks are a process's own: they exclude no threads, and closing any descriptor of the file gives them back.
So whoever opens the file in this process holds the mutex of its directory."""
_mutexes_lock = threading.Lock()

_holders: set[object] = set()
"""One for each lock that a thread of this process holds, waits for, or is about to ask for."""
_stopping = False
_holding = threading.Condition()


@contextmanager
def suspend_locking(seconds: float) -> Iterator[bool]:
    """Let no thread of this process hold a lock, for a process that is about to be stopped (SIGSTOP keeps locks).

    Yields whether all holders had let go within `seconds`.
    """
    global _stopping  # noqa: PLW0603 - the state of the process is what this is about
    with _holding:
        _stopping = True
        try:
            yield _holding.wait_for(lambda: not _holders, seconds)
        finally:
            _stopping = False
            _holding.notify_all()


def lock_file(fd: int, *, shared: bool = False, seconds: float = 0.0) -> bool:
    """Lock an open file or directory for as long as it is open.

    Returns:
        Whether it is locked; `False` where the file system knows no locks.

    Raises:
        LockTimeout: Another holder has it for longer than `seconds`.
        OSError: It cannot be locked.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        return _poll_lock(lambda: fcntl.flock(fd, kind | fcntl.LOCK_NB), time.monotonic() + seconds)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False


@contextmanager
def hold_lock(
    directory: int,
    seconds: float,
    locking: Locking | None = None,
    *,
    name: str = "lock",
    is_long: bool = False,
) -> Iterator[Locking]:
    """Hold the lock of a directory, the file `name` in it; yields its kind, by default as the file system can.

    Where it `is_long`, others hold it for as long as a server takes to answer.

    Raises:
        LockTimeout: Another holder has it for too long.
        StateUnusable: The directory is gone, or its file system knows no locks.
        OSError: The file cannot be opened or locked.
    """
    deadline = time.monotonic() + seconds
    holder, fd = object(), -1
    with _holding:
        _holding.wait_for(lambda: not _stopping)
        _holders.add(holder)
    try:
        if locking != "record":
            fd = _take_lock(directory, name, deadline, is_long=is_long)
            if fd >= 0:
                yield "flock"
                return
        with _hold_record_lock(directory, deadline, name):
            yield "record"
    finally:
        if fd >= 0:
            close_quietly(fd)
        with _holding:
            _holders.discard(holder)  # in a forked child it is forgotten already
            _holding.notify_all()


@contextmanager
def _hold_record_lock(directory: int, deadline: float, name: str) -> Iterator[None]:
    mutex = _get_mutex(directory)
    if not mutex.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
        raise _make_lock_timeout()
    try:
        fd = _open_lock_file(directory, name)
        try:
            if not _poll_lock(lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB), deadline):
                raise StateUnusable(_NONE) from OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
            yield
        finally:
            close_quietly(fd)
    finally:
        mutex.release()


def _open_lock_file(directory: int, name: str) -> int:
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=directory)
    except FileNotFoundError as error:
        raise StateUnusable("The state directory was deleted.") from error


class _LongWait:
    """How long this process waited for a lock that is held long, from which it guesses when to look again."""

    def __init__(self) -> None:
        self._last = 0.0

    def choose_pause(self, waited: float) -> float:
        """For how long it need not be looked again: until most of the last wait is over, then ever longer."""
        apart = abs(_LONG_SHARE * self._last - waited)
        return min(max(_LONG_SHORTEST, apart, min(self._last, waited) / 4), _LONG_LONGEST)

    def note(self, waited: float) -> None:
        self._last = waited


_turn_wait, _long_wait = _LongWait(), _LongWait()


def _take_lock(directory: int, name: str, deadline: float, *, is_long: bool) -> int:
    """The lock's file, open and locked; -1 where its file system knows no such lock."""
    fd = _open_lock_file(directory, name)
    try:
        if _try_lock(fd):
            return fd
        if is_long or not _is_local(fd):
            is_locked = _lock_in_turns(fd, deadline, is_long=is_long)
        elif _try_lock(fd, _ATTEMPTS) or _wait_in_queue(fd, deadline):
            return fd
        else:
            close_quietly(fd)
            fd = -1  # who was given up may lock what that one opened
            fd = _open_lock_file(directory, name)
            is_locked = _poll_lock(lambda: _lock_now(fd), deadline)  # out of turn: who is next may have been stopped
        if is_locked:
            return fd
    except BaseException:
        close_quietly(fd)
        raise
    close_quietly(fd)
    return -1


def _lock_now(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _try_lock(fd: int, attempts: int = 1) -> bool:
    """Lock a file that nobody holds for longer than some attempts, and for which nobody is next."""
    in_turn = False
    try:
        in_turn = _take_turn(fd)
        for _ in range(attempts - 1):
            with suppress(BlockingIOError):
                _lock_now(fd)
                return True
            os.sched_yield()
        _lock_now(fd)
    except OSError as error:
        if not isinstance(error, BlockingIOError) and error.errno not in _UNKNOWN:
            raise
        return False
    finally:
        if in_turn:
            _give_turn_back(fd)
    return True


def _wait_in_queue(fd: int, deadline: float) -> bool:
    """Lock a file in the order in which it was asked for: the kernel's, so nobody asks again and again.

    The kernel knows no time limit, so a thread waits. Returns `False` where it has to be tried in another way.
    """
    seconds = min(deadline - time.monotonic(), _MOST_QUEUED)
    if seconds <= 0 or not _queued.acquire(blocking=False):
        return False
    done = threading.Lock()
    done.acquire()
    problems: list[OSError] = []
    with _holding:
        _holders.add(done)  # also once it is given up: it may hold the lock for a moment

    def wait(own: int) -> None:
        try:
            in_turn = _take_turn(own, waits=True)
            try:
                fcntl.flock(own, fcntl.LOCK_EX)
            finally:
                if in_turn:
                    _give_turn_back(own)
        except OSError as error:
            problems.append(error)
        finally:
            close_quietly(own)  # the lock is held as long as the other one is open
            _leave_queue(done)
            done.release()

    try:
        own = os.dup(fd)
        try:
            _thread.start_new_thread(wait, (own,))
        except BaseException:
            close_quietly(own)
            raise
    except (OSError, RuntimeError):  # there are too many, or Python ends
        _leave_queue(done)
        return False
    return done.acquire(timeout=seconds) and not problems


def _leave_queue(holder: object) -> None:
    _queued.release()
    with _holding:
        _holders.discard(holder)
        _holding.notify_all()


def _is_local(fd: int) -> bool:
    """Whether a file is on a disk of this machine. Others ask their server for a lock, some only each second."""
    device = os.fstat(fd).st_dev
    if device not in _are_local:
        kind = None
        with suppress(OSError):  # there is no such directory
            kind = get_file_system_type(os.readlink(f"/proc/self/fd/{fd}"))
        _are_local[device] = kind is not None and not kind.startswith(REMOTE)
    return _are_local[device]


def _lock_in_turns(fd: int, deadline: float, *, is_long: bool) -> bool:
    """Ask for `flock` in turns: a writer without a pause would never let another one in."""
    in_turn = False
    if _HAS_TURNS:
        with suppress(OSError):
            turns = _turn_wait if is_long else _PAUSES
            in_turn = _poll_lock(lambda: _set_turn_lock(fd, fcntl.F_WRLCK), deadline, turns)
    try:
        pauses: Sequence[float] | _LongWait = _long_wait if is_long else _NEXT_PAUSES if in_turn else _PAUSES
        return _poll_lock(lambda: _lock_now(fd), deadline, pauses)
    finally:
        if in_turn:
            _give_turn_back(fd)


# The turn is a lock of the open file as well, of another kind (`F_OFD_SETLK`, Linux), where that can be had.

_HAS_TURNS = sys.platform == "linux" and hasattr(fcntl, "F_OFD_SETLK")


def _take_turn(fd: int, *, waits: bool = False) -> bool:
    """Be the next one; `False` where there are no turns. Raises `BlockingIOError` where another one is."""
    if not _HAS_TURNS:
        return False
    try:
        _set_turn_lock(fd, fcntl.F_WRLCK, waits=waits)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _give_turn_back(fd: int) -> None:
    with suppress(OSError):  # closing the file gives it back as well
        _set_turn_lock(fd, fcntl.F_UNLCK)


def _set_turn_lock(fd: int, kind: int, *, waits: bool = False) -> None:
    operation = fcntl.F_OFD_SETLKW if waits else fcntl.F_OFD_SETLK
    fcntl.fcntl(fd, operation, struct.pack("hhqqi4x", kind, os.SEEK_SET, _TURN, 1, 0))


def _poll_lock(ask: Callable[[], None], deadline: float, pauses: "Sequence[float] | _LongWait" = _PAUSES) -> bool:
    """Ask for a lock, ever less often: there is no time limit of its own. `False` where there is no such lock."""
    attempt, began = 0, time.monotonic()
    while True:
        try:
            ask()
        except BlockingIOError:
            now = time.monotonic()
            if now >= deadline:
                raise _make_lock_timeout() from None
            if isinstance(pauses, _LongWait):
                pause = pauses.choose_pause(now - began)
            else:
                pause = pauses[min(attempt, len(pauses) - 1)]
            if pause:
                time.sleep(pause)
            else:
                os.sched_yield()
            attempt += 1
        except OSError as error:
            if error.errno not in _UNKNOWN:
                raise
            return False
        else:
            if isinstance(pauses, _LongWait):
                pauses.note(time.monotonic() - began)
            return True


def _make_lock_timeout() -> LockTimeout:
    return LockTimeout("Another program is writing to the memory folder.")


def _get_mutex(directory: int) -> threading.Lock:
    seen = os.fstat(directory)
    with _mutexes_lock:
        return _mutexes.setdefault((seen.st_dev, seen.st_ino), threading.Lock())


def _reset_mutexes() -> None:
    """In a forked child nobody holds what another thread of its parent held: those threads are not there."""
    global _mutexes_lock, _holding, _stopping, _queued  # noqa: PLW0603 - they may have been held at that moment
    _mutexes_lock, _holding, _queued = threading.Lock(), threading.Condition(), threading.Semaphore(_MOST_WAITING)
    _stopping = False
    _holders.clear()
    _mutexes.clear()


os.register_at_fork(after_in_child=_reset_mutexes)
