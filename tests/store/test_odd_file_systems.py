"""Calls that a kernel, a file system or a sandbox refuses: another way is taken, and nothing is overwritten by it."""

import errno
import fcntl
import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.core.errors import FolderMissing, LockTimeout, StateUnusable, UnsettledChange
from memtui.core.paths import MemoryPath
from memtui.fs import beneath, locks
from memtui.fs.beneath import PathHandle, rename_noreplace
from memtui.store import folder as store_folder
from memtui.store import open_folder, recovery
from memtui.store.folder import FolderStore

of = MemoryPath.from_relative
REFUSALS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EPERM)


def refusing(code: int) -> Callable[..., Any]:
    """A call that is always refused."""

    def call(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return call


@pytest.fixture
def here(tmp_path: Any) -> Any:
    fd = os.open(tmp_path, os.O_RDONLY)
    yield tmp_path, lambda name: PathHandle(fd, name, (name,), owned=False)
    os.close(fd)


# Moving


@pytest.mark.parametrize("moving", ["renameat2", "link", "placeholder"])
@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
def test_whatever_way_a_thing_is_moved_it_overwrites_nothing(here: Any, moving: Any, kind: str) -> None:
    top, place = here
    makers = {"file": lambda path: path.write_text("x"), "directory": lambda path: (path / "in").mkdir(parents=True)}
    makers |= {"link": lambda path: path.symlink_to("nowhere"), "fifo": os.mkfifo}
    makers[kind](top / "old")
    for number, taken in enumerate(makers.values()):
        taken(top / f"taken{number}")
        before = os.lstat(top / f"taken{number}")
        with pytest.raises(FileExistsError):
            rename_noreplace(place("old"), place(f"taken{number}"), moving)
        assert os.lstat(top / f"taken{number}").st_ino == before.st_ino
    rename_noreplace(place("old"), place("new"), moving)
    assert not os.path.lexists(top / "old")
    match kind:
        case "file":
            assert (top / "new").read_text() == "x"
        case "directory":
            assert os.listdir(top / "new") == ["in"]
        case "link":
            assert os.readlink(top / "new") == "nowhere"


@pytest.mark.parametrize("code", [*REFUSALS, errno.EMLINK])
def test_where_links_are_refused_something_empty_keeps_the_name(
    here: Any, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    top, place = here
    monkeypatch.setattr(beneath.os, "link", refusing(code))
    (top / "old").write_text("x")
    assert rename_noreplace(place("old"), place("new"), "link") == "placeholder"
    assert (top / "new").read_text() == "x"


def test_a_file_that_came_to_the_name_in_the_last_moment_is_not_overwritten(
    here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, place = here
    (top / "old").write_text("ours")
    fstat = os.fstat

    def late(fd: int) -> Any:
        seen = fstat(fd)
        (top / "new").unlink()
        (top / "new").write_text("theirs")
        return seen

    monkeypatch.setattr(beneath.os, "fstat", late)
    with pytest.raises(FileExistsError):
        rename_noreplace(place("old"), place("new"), "placeholder")
    assert ((top / "old").read_text(), (top / "new").read_text()) == ("ours", "theirs")


def test_what_came_into_the_place_of_a_directory_stays(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    top, place = here
    (top / "old").mkdir()
    mkdir = os.mkdir

    def late(*arguments: Any, **options: Any) -> None:
        mkdir(*arguments, **options)
        (top / "new" / "theirs").touch()

    monkeypatch.setattr(beneath.os, "mkdir", late)
    with pytest.raises(FileExistsError):
        rename_noreplace(place("old"), place("new"), "placeholder")
    assert os.listdir(top / "new") == ["theirs"]
    assert (top / "old").is_dir()


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_a_move_that_fails_leaves_no_empty_thing(here: Any, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    top, place = here
    (top / "old").mkdir() if kind == "directory" else (top / "old").touch()
    monkeypatch.setattr(beneath.os, "rename", refusing(errno.EIO))
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        rename_noreplace(place("old"), place("new"), "placeholder")
    assert os.listdir(top) == ["old"]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_cannot_be_taken_from_its_old_name_does_not_keep_the_new_one(
    here: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    top, place = here
    (top / "old").touch() if kind == "file" else (top / "old").symlink_to("nowhere")
    unlink = os.unlink

    def refuse(name: str, **options: Any) -> None:
        if name == "old" or refused:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        unlink(name, **options)

    refused: list[bool] = []
    moving: Any = "link" if kind == "file" else "placeholder"
    monkeypatch.setattr(beneath.os, "unlink", refuse)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        rename_noreplace(place("old"), place("new"), moving)
    assert os.listdir(top) == ["old"]
    refused.append(True)
    with pytest.raises(UnsettledChange):
        rename_noreplace(place("old"), place("new"), moving)
    monkeypatch.undo()


def test_a_directory_is_still_not_moved_into_itself(here: Any) -> None:
    top, place = here
    (top / "d").mkdir()
    inner = os.open(top / "d", os.O_RDONLY)
    with pytest.raises(OSError, match=os.strerror(errno.EINVAL)):
        rename_noreplace(place("d"), PathHandle(inner, "e", (), owned=False), "placeholder")
    os.close(inner)
    assert os.listdir(top / "d") == []


@pytest.mark.parametrize("code", REFUSALS)
def test_a_kernel_that_refuses_renameat2_is_worked_around(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object) -> int:
        beneath.ctypes.set_errno(code)
        return -1

    monkeypatch.setattr(beneath, "_RENAMEAT2", refuse)
    store = folder_world.main.store
    with store.begin_transaction(1) as transaction:
        first = transaction.write(of("d/f"), b"one", expected=None).node
        transaction.write(of("d/f"), b"two", expected=first.stamp)
        transaction.rename(of("d/f"), of("e/g"))
        with pytest.raises(OSError, match=r"nvalid argument|not permitted"):
            transaction.rename(of("d"), of("d/inner"))
        transaction.rename(of("d"), of("h"))
    assert folder_world.tree() == {"e": None, "e/g": b"two", "h": None}


# Modes


def test_a_file_system_without_modes_is_written_to(folder_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = folder_world.main.store
    monkeypatch.setattr(store_folder.os, "fchmod", refusing(errno.EPERM))
    with store.begin_transaction(1) as transaction:
        node = transaction.write(of("f"), b"one", expected=None).node
        node = transaction.write(of("f"), b"two", expected=node.stamp).node
        (folder_world.folder / "f").chmod(0o644)
        with pytest.raises(PermissionError):
            transaction.write(of("f"), b"three", expected=store.get_node(of("f")).stamp)
    assert folder_world.tree() == {"f": b"two"}


# Locks


@pytest.fixture(params=["flock refused", "record"])
def recording(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """Makes stores that have record locks only."""
    if request.param == "flock refused":
        monkeypatch.setattr(locks.fcntl, "flock", refusing(errno.EOPNOTSUPP))
    (tmp_path / "f").mkdir()
    made: list[FolderStore] = []

    def make() -> FolderStore:
        locking: Any = "record" if request.param == "record" else None
        made.append(FolderStore(str(tmp_path / "f"), str(tmp_path / "s"), locking=locking))
        return made[-1]

    yield make
    for store in made:
        store.close()


def test_record_locks_exclude_threads_and_stores_of_one_process(recording: Any) -> None:
    one, other = recording(), recording()
    for second in (one, other):
        with one.begin_transaction(1), pytest.raises(LockTimeout), second.begin_transaction(0.01):
            pytest.fail("two writers at once")
        with second.begin_transaction(0.01):
            pass
    inside: list[int] = []
    most: list[int] = []

    def work(store: FolderStore) -> None:
        for _ in range(50):
            with store.begin_transaction(20):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work, args=(store,)) for store in (one, other, one)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (len(most), max(most)) == (150, 1)


def _hold(path: str, state: str, entered: Any, leave: Any) -> None:
    store = FolderStore(path, state, locking="record")
    with store.begin_transaction(5):
        entered.set()
        leave.wait(30)


@pytest.mark.parametrize("killed", [False, True])
def test_a_record_lock_excludes_other_processes_and_goes_with_a_dead_one(recording: Any, killed: bool) -> None:
    store = recording()
    spawn = multiprocessing.get_context("spawn")
    entered, leave = spawn.Event(), spawn.Event()
    state = store._state_root.path
    process = spawn.Process(target=_hold, args=(store.path, state, entered, leave))
    process.start()
    assert entered.wait(30)
    with pytest.raises(LockTimeout), store.begin_transaction(0.01):
        pytest.fail("two writers at once")
    process.kill() if killed else leave.set()
    process.join(30)
    with store.begin_transaction(1):
        pass


def test_a_forked_child_is_not_kept_waiting_by_a_thread_that_it_does_not_have(recording: Any) -> None:
    store = recording()
    with store.begin_transaction(1):
        held = dict(locks._mutexes)
        assert [mutex.locked() for mutex in held.values()].count(True) == 1
        locks._reset_mutexes()  # what `os.register_at_fork` calls in the child
        assert locks._mutexes == {}


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL])
def test_without_any_lock_nothing_is_written_and_everything_is_read(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    folder_world.put("f", "x")
    store = folder_world.main.store
    monkeypatch.setattr(locks.fcntl, "flock", refusing(code))
    monkeypatch.setattr(locks.fcntl, "lockf", refusing(code))
    with pytest.raises(StateUnusable, match="without locks"), store.begin_transaction(1):
        pytest.fail("a writer without a lock")
    assert store.read(of("f"), limit=1).data == b"x"
    assert [node.path for node in store.scan(of(""))] == ["f"]


def test_a_lock_that_is_refused_for_now_is_a_fault_and_no_reason_for_another_kind(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if folder_world.kind == "linking":
        pytest.skip("it has the other kind")
    store = folder_world.main.store
    monkeypatch.setattr(locks.fcntl, "flock", refusing(errno.ENOLCK))
    monkeypatch.setattr(locks.fcntl, "lockf", lambda *_: pytest.fail("another kind"))
    with pytest.raises(OSError, match=os.strerror(errno.ENOLCK)), store.begin_transaction(1):
        pytest.fail("a writer without a lock")


def test_a_closed_lock_leaves_no_descriptor(recording: Any) -> None:
    store = recording()
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("descriptors cannot be counted here")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with store.begin_transaction(1):
            pass
    assert len(os.listdir("/proc/self/fd")) == before
    assert fcntl.fcntl(store.root.fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC


# Faults of looking and letting go


def test_a_folder_that_cannot_be_looked_at_is_not_said_to_be_gone(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = folder_world.main.store
    with monkeypatch.context() as patch:
        patch.setattr(beneath.os, "lstat", refusing(errno.EACCES))
        with pytest.raises(FolderMissing, match="cannot be read: permission denied"):
            store.get_node(of("f"))


def test_a_file_system_that_complains_at_closing_undoes_nothing(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = folder_world.main.store
    close = os.close

    def complain(fd: int) -> None:
        close(fd)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch, store.begin_transaction(1) as transaction:
        patch.setattr(beneath.os, "close", complain)
        node = transaction.write(of("d/f"), b"one", expected=None).node
        transaction.write(of("d/f"), b"two", expected=node.stamp)
        transaction.rename(of("d"), of("e"))
    assert folder_world.tree() == {"e": None, "e/f": b"two"}
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        beneath.close_quietly(-1)


@pytest.mark.parametrize("judged", [True, False])
def test_what_cannot_be_tidied_away_is_removed_by_the_next_one_to_write(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch, judged: bool
) -> None:
    store = folder_world.main.store
    folder_world.make("d")
    left = folder_world.folder / "d" / store.make_temporary_name(judged=judged)
    left.touch()
    with monkeypatch.context() as patch, store.begin_transaction(1) as transaction:
        patch.setattr(open_folder.WritableFolder, "remove_tree", refusing(errno.EIO))
        transaction.clean_up()
    assert len(os.listdir(left.parent)) == 1
    again = folder_world.store()
    with again.begin_transaction(1):
        pass
    again.close()
    assert os.listdir(left.parent) == []
    assert "untidy" not in os.listdir(folder_world.state)


def test_a_tidying_that_cannot_look_says_so(folder_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = folder_world.main.store
    with monkeypatch.context() as patch, store.begin_transaction(1) as transaction:
        patch.setattr(recovery.os, "listdir", refusing(errno.EIO))
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            transaction.clean_up()


def _write_on(path: str, state: str, begun: Any, stop: Any) -> None:
    """Another process: it holds the lock nearly always."""
    store = FolderStore(path, state)
    while not stop.is_set():
        with store.begin_transaction(20):
            begun.set()
            stop.wait(0.002)


@pytest.mark.skipif(not locks._HAS_TURNS, reason="this system knows no turns")
def test_who_waits_is_next_though_another_process_writes_without_a_pause(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    store = FolderStore(str(tmp_path / "memories"), str(tmp_path / "state"))
    spawn = multiprocessing.get_context("spawn")
    begun, stop = spawn.Event(), spawn.Event()
    process = spawn.Process(target=_write_on, args=(store.path, str(tmp_path / "state"), begun, stop))
    process.start()
    try:
        for _ in range(20):
            begun.clear()
            assert begun.wait(30)  # it has the lock again
            with store.begin_transaction(1.5):
                pass
    finally:
        stop.set()
        process.join(30)


def test_without_turns_the_lock_alone_is_asked_for(folder_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(locks, "_set_turn_lock", refused)
    with (
        folder_world.main.store.begin_transaction(1),
        pytest.raises(LockTimeout),
        folder_world.store().begin_transaction(0.01),
    ):
        pytest.fail("two writers at once")
