"""The writer lock and a process that is about to be stopped, and locks of files."""

import errno
import os
import threading
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
