"""The writer lock and a process that is about to be stopped, and locks of files."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.core.errors import LockTimeout
from memtui.fs import locks
from memtui.fs.locks import hold_lock, lock_file, suspend_locking


def test_before_a_process_stops_its_threads_let_go_and_take_nothing_until_it_goes_on(tmp_path: Path) -> None:
    directory = os.open(tmp_path, os.O_RDONLY)
    has_it, may_go, again, again_has_it = (threading.Event() for _ in range(4))

    def work() -> None:
        with hold_lock(directory, 5.0):
            has_it.set()
            assert may_go.wait(10)
        again.set()
        with hold_lock(directory, 5.0):
            again_has_it.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert has_it.wait(10)
        with suspend_locking(0.0) as let_go:
            assert not let_go
        threading.Timer(0.05, may_go.set).start()
        with suspend_locking(10.0) as let_go:
            assert let_go
            assert not again_has_it.is_set()
        assert again_has_it.wait(10)
        assert again.is_set()
    finally:
        may_go.set()
        thread.join(10)
        os.close(directory)


def test_a_locked_file_is_nobody_elses_until_it_is_closed(tmp_path: Path) -> None:
    one, other = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))
    try:
        assert lock_file(one)
        with pytest.raises(LockTimeout):
            lock_file(other)
        with pytest.raises(LockTimeout):
            lock_file(other, shared=True)
        timer = threading.Timer(0.05, os.close, [one])
        timer.start()
        assert lock_file(other, seconds=10.0)
        timer.join()
    finally:
        os.close(other)


def test_shared_locks_exclude_only_the_others(tmp_path: Path) -> None:
    fds = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    try:
        assert lock_file(fds[0], shared=True)
        assert lock_file(fds[1], shared=True)
        with pytest.raises(LockTimeout):
            lock_file(fds[2])
    finally:
        for fd in fds:
            os.close(fd)


def test_a_file_system_without_locks_is_said_and_a_fault_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO]

    def refuse(*_: int) -> None:
        raise OSError(codes.pop(0), "refused")

    monkeypatch.setattr(locks.fcntl, "flock", refuse)
    assert not lock_file(0)
    assert not lock_file(0)
    with pytest.raises(OSError, match="refused"):
        lock_file(0)


def test_who_waits_for_a_lock_that_is_held_long_looks_seldom_and_not_much_too_late() -> None:
    wait = locks._LongWait()
    for lasts in (0.05, 0.05, 0.001, 0.5):
        now, looks = 0.0, 0
        while now < lasts:
            now += wait.choose_pause(now)
            looks += 1
        assert looks <= 24
        assert now - lasts <= 0.033
        wait.note(lasts)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's table of locks is Linux's")


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.001)


def make_writer(directory: int) -> tuple[threading.Thread, threading.Event]:
    """A thread that locks a directory once, and what is set when it has."""
    got = threading.Event()

    def work() -> None:
        with hold_lock(directory, 20.0):
            got.set()

    return threading.Thread(target=work), got


def count_waiting(file: Path) -> int:
    """How many requests for locks of a file wait, by the kernel's table."""
    inode = f":{file.stat().st_ino} "
    return sum("-> " in row and inode in row for row in Path("/proc/locks").read_text().splitlines())


@on_linux
def test_a_lock_goes_to_who_has_waited_longest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_MOST_QUEUED", 20.0)
    directory, order = os.open(tmp_path, os.O_RDONLY), list[int]()

    def work(number: int) -> None:
        with hold_lock(directory, 20.0):
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    with hold_lock(directory, 1.0):
        for number, thread in enumerate(threads):
            thread.start()
            wait_until(lambda number=number: count_waiting(tmp_path / "lock") == number + 1)
    for thread in threads:
        thread.join(20)
    os.close(directory)
    assert order == list(range(5))


@on_linux
def test_who_gives_up_waiting_keeps_nothing(tmp_path: Path) -> None:
    directory, many = os.open(tmp_path, os.O_RDONLY), locks._MOST_WAITING + 5
    with hold_lock(directory, 1.0):
        for _ in range(many):
            with pytest.raises(LockTimeout), hold_lock(directory, 0.001):
                pytest.fail("two at once")
        with suspend_locking(0.0) as let_go:
            assert not let_go  # those that were given up may still get it
    wait_until(lambda: count_waiting(tmp_path / "lock") == 0 and locks._queued._value == locks._MOST_WAITING)
    with suspend_locking(10.0) as let_go:
        assert let_go
    with hold_lock(directory, 5.0):
        pass
    os.close(directory)


@pytest.mark.parametrize("kind", ["nfs4", None])
def test_where_a_server_may_keep_the_locks_nobody_waits_in_a_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None
) -> None:
    def refuse(_: str) -> str:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr(locks, "_are_local", {})
    monkeypatch.setattr(locks, "_wait_in_queue", lambda *_: pytest.fail("it waited"))
    if kind is None:
        monkeypatch.setattr(locks.os, "readlink", refuse)
    else:
        monkeypatch.setattr(locks, "get_file_system_type", lambda _: kind)
    directory = os.open(tmp_path, os.O_RDONLY)
    thread, got = make_writer(directory)
    with hold_lock(directory, 1.0):
        with pytest.raises(LockTimeout), hold_lock(directory, 0.01):
            pytest.fail("two at once")
        thread.start()
    assert got.wait(20)
    thread.join(20)
    os.close(directory)


_NEXT = """
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1, 1, 0))
fcntl.flock(fd, fcntl.LOCK_EX)
"""


@on_linux
def test_a_process_that_is_next_and_stopped_holds_nobody_up_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_MOST_QUEUED", 0.05)
    directory = os.open(tmp_path, os.O_RDONLY)
    thread, got = make_writer(directory)
    with hold_lock(directory, 1.0):
        process = subprocess.Popen([sys.executable, "-c", _NEXT, str(tmp_path / "lock")])
        try:
            wait_until(lambda: count_waiting(tmp_path / "lock") == 1)
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: count_waiting(tmp_path / "lock") == 0)  # it asks again once it goes on
            thread.start()
            wait_until(lambda: count_waiting(tmp_path / "lock") == 1)
        except BaseException:
            process.kill()
            process.wait(10)
            raise
    try:
        assert got.wait(15)
    finally:
        process.kill()
        process.wait(10)
        thread.join(20)
        os.close(directory)
