"""What is made, removed and confirmed together: the operations that giving things back is built from."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

import pytest

from memtui.core.errors import SymlinkEscape, UnconfirmedChange
from memtui.core.events import EntryKind
from memtui.core.paths import ROOT, MemoryPath
from memtui.store import recovery
from memtui.store.base import ConcurrentChange, NotRegularFile
from memtui.store.folder import FolderStore

of = MemoryPath.from_relative


@pytest.fixture
def store(world: Any) -> Any:
    return world.main.store


def there(store: Any) -> dict[str, EntryKind]:
    return {node.path: node.kind for node in store.scan(ROOT)}


@contextlib.contextmanager
def changing(store: Any) -> Iterator[Any]:
    with store.begin_transaction(1) as transaction:
        yield transaction


def test_a_directory_is_made_with_its_parents_and_never_over_something(store: Any) -> None:
    with changing(store) as transaction:
        assert transaction.make_directory(of("a/b/c")) == ("a", "a/b", "a/b/c")
        assert transaction.make_directory(of("a/d")) == ("a/d",)
        transaction.write(of("f"), b"x", expected=None)
        transaction.make_link(of("l"), b"nowhere")
        for taken in ("a/b/c", "a", "f", "l"):
            with pytest.raises(FileExistsError):
                transaction.make_directory(of(taken))
        with pytest.raises(NotADirectoryError):
            transaction.make_directory(of("f/below/it"))
    assert there(store) == {
        "a": EntryKind.DIRECTORY,
        "a/b": EntryKind.DIRECTORY,
        "a/b/c": EntryKind.DIRECTORY,
        "a/d": EntryKind.DIRECTORY,
        "f": EntryKind.FILE,
        "l": EntryKind.LINK,
    }


@pytest.mark.parametrize("target", [b"f", b"d/../f", b"no/where", b"/etc/passwd", b"../..", b"caf\xe9", b"l", b" "])
def test_a_link_is_made_exactly_as_written_wherever_it_leads(store: Any, target: bytes) -> None:
    with changing(store) as transaction:
        written = transaction.make_link(of("p/q/l"), target)
        assert written.made == ("p", "p/q")
        assert (written.node.path, written.node.kind) == ("p/q/l", EntryKind.LINK)
        with pytest.raises(FileExistsError):
            transaction.make_link(of("p/q/l"), b"another")
    assert store.read_link(of("p/q/l")) == target
    assert store.get_node(of("p/q/l")) == written.node
    assert there(store) == {"p": EntryKind.DIRECTORY, "p/q": EntryKind.DIRECTORY, "p/q/l": EntryKind.LINK}


def test_a_link_is_never_made_over_something_and_a_refusal_leaves_no_parents(store: Any) -> None:
    with changing(store) as transaction:
        transaction.write(of("f"), b"x", expected=None)
        transaction.make_directory(of("d"))
        for taken in ("f", "d"):
            with pytest.raises(FileExistsError):
                transaction.make_link(of(taken), b"x")
        for wrong in (b"", b"a\0b"):
            with pytest.raises(OSError):  # noqa: PT011 - which one is the system's matter
                transaction.make_link(of("new/l"), wrong)
        with pytest.raises(NotADirectoryError):
            transaction.make_link(of("f/l"), b"x")
    assert there(store) == {"f": EntryKind.FILE, "d": EntryKind.DIRECTORY}


def test_links_lead_where_they_say_as_long_as_that_is_inside(store: Any) -> None:
    with changing(store) as transaction:
        transaction.write(of("d/f"), b"x", expected=None)
        transaction.make_link(of("e/to-d"), b"../d")
        transaction.make_link(of("to-f"), b"./e/to-d/f")
        transaction.make_link(of("nothing"), b"no")
        transaction.make_link(of("out"), b"../x")
        transaction.make_link(of("far"), b"/etc")
        transaction.make_link(of("loop"), b"loop")
        assert store.read(of("to-f"), limit=1).data == b"x"
        assert store.get_node(of("to-f"), follow=True).path == "d/f"
        assert store.get_node(of("e/to-d/f")).path == "d/f"
        assert store.get_node(of("to-f")).kind is EntryKind.LINK
        assert store.get_node(of("nothing"), follow=True) is None
        for leaving in ("out", "far", "out/below", "far/below"):
            with pytest.raises(SymlinkEscape):
                store.get_node(of(leaving), follow=True)
        with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
            store.get_node(of("loop"), follow=True)
        with pytest.raises(NotRegularFile):
            store.read_link(of("d/f"))
        written = transaction.write(of("to-f"), b"y", expected=store.get_node(of("d/f")).stamp)
        assert written.node.path == "d/f"
        assert transaction.make_directory(of("e/to-d/g")) == ("d/g",)
        transaction.rename(of("e"), of("g"))
        assert store.read_link(of("g/to-d")) == b"../d"
        transaction.delete(of("g/to-d"))
    assert store.get_node(of("d")) is not None


def test_only_an_empty_directory_is_removed_as_empty(store: Any) -> None:
    with changing(store) as transaction:
        transaction.write(of("d/e/f"), b"x", expected=None)
        transaction.make_directory(of("d/g"))
        transaction.make_link(of("to-g"), b"d/g")
        transaction.remove_empty(of("d/g"))
        for full in ("d", "d/e"):
            with pytest.raises(OSError, match="ot empty") as refused:
                transaction.remove_empty(of(full))
            assert refused.value.errno == errno.ENOTEMPTY
        for no_directory in ("d/e/f", "to-g"):
            with pytest.raises(NotADirectoryError):
                transaction.remove_empty(of(no_directory))
        for missing in ("no", "no/where"):
            with pytest.raises(FileNotFoundError):
                transaction.remove_empty(of(missing))
        with pytest.raises(OSError, match="nvalid"):
            transaction.remove_empty(ROOT)
    assert there(store) == {
        "d": EntryKind.DIRECTORY,
        "d/e": EntryKind.DIRECTORY,
        "d/e/f": EntryKind.FILE,
        "to-g": EntryKind.LINK,
    }


def test_what_is_done_together_is_what_is_done_one_by_one(store: Any) -> None:
    with changing(store) as transaction:
        with transaction.batch_sync():
            first = transaction.write(of("a/f"), b"one", expected=None).node
            transaction.write(of("a/f"), b"two", expected=first.stamp)
            with pytest.raises(ConcurrentChange):
                transaction.write(of("a/f"), b"three", expected=first.stamp)
            transaction.make_directory(of("b/c"))
            with transaction.batch_sync():
                transaction.make_link(of("b/l"), b"c")
            transaction.rename(of("b"), of("d/e"))
            transaction.write(of("b/f"), b"x", expected=None)
            transaction.delete(of("b"))
            transaction.remove_empty(of("d/e/c"))
        transaction.write(of("g"), b"x", expected=None)
    assert sorted(there(store)) == ["a", "a/f", "d", "d/e", "d/e/l", "g"]
    assert store.read(of("a/f"), limit=9).data == b"two"


def test_an_exception_while_things_are_done_together_is_raised_and_what_was_done_stands(store: Any) -> None:
    def work(transaction: Any) -> None:
        with transaction.batch_sync():
            transaction.write(of("a/f"), b"one", expected=None)
            raise ZeroDivisionError

    with changing(store) as transaction, pytest.raises(ZeroDivisionError):
        work(transaction)
    with changing(store) as transaction:
        transaction.write(of("b"), b"two", expected=None)
    assert sorted(there(store)) == ["a", "a/f", "b"]


# What only a folder can hold


@pytest.fixture
def synced(folder_world: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The directories of the folder that were synced, in order; not those of what another test left behind."""
    place = os.path.realpath(folder_world.folder)
    folder_world.main.store.is_synced = True  # and opened before anybody counts
    seen: list[tuple[int, int]] = []
    fsync = os.fsync

    def noted(fd: int) -> None:
        looked = os.fstat(fd)
        if stat.S_ISDIR(looked.st_mode) and os.readlink(f"/proc/self/fd/{fd}").startswith(place):
            seen.append((looked.st_dev, looked.st_ino))
        fsync(fd)

    monkeypatch.setattr(recovery.os, "fsync", noted)
    return seen


def identity(path: Any) -> tuple[int, int]:
    seen = os.lstat(path)
    return seen.st_dev, seen.st_ino


def test_every_change_alone_syncs_the_directories_that_it_touched(folder_world: Any, synced: Any) -> None:
    folder = folder_world.folder
    with changing(folder_world.main.store) as transaction:
        transaction.make_directory(of("a/b"))
        assert set(synced) == {identity(folder), identity(folder / "a")}
        synced.clear()
        transaction.make_link(of("a/b/l"), b"x")
        assert synced == [identity(folder / "a/b")]
        synced.clear()
        transaction.delete(of("a/b/l"))
        transaction.remove_empty(of("a/b"))
        assert set(synced) == {identity(folder / "a"), synced[0]}


def test_what_is_done_together_syncs_each_directory_once_at_the_end(folder_world: Any, synced: Any) -> None:
    folder = folder_world.folder
    with changing(folder_world.main.store) as transaction:
        with transaction.batch_sync():
            for number in range(20):
                transaction.write(of(f"a/{number}"), b"x", expected=None)
                transaction.write(of(f"b/c/{number}"), b"x", expected=None)
            assert synced == []
        wanted = [identity(folder / path) for path in (".", "a", "b", "b/c")]
        assert sorted(synced) == sorted(wanted)


def test_a_directory_that_moved_meanwhile_is_synced_where_it_went(folder_world: Any, synced: Any) -> None:
    folder = folder_world.folder
    with changing(folder_world.main.store) as transaction, transaction.batch_sync():
        transaction.write(of("a/f"), b"x", expected=None)
        (folder / "a").rename(folder / "b")
        (folder / "a").mkdir()
        transaction.write(of("a/f"), b"x", expected=None)
    assert sorted(synced) == sorted(identity(folder / path) for path in (".", "a", "b"))


def test_thousands_of_directories_need_few_descriptors(
    folder_world: Any, synced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "_HELD", 3)
    with changing(folder_world.main.store) as transaction:
        transaction.make_directory(of("a"))  # the list of what is on its way stays open
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    with changing(folder_world.main.store) as transaction, transaction.batch_sync():
        for number in range(20):
            transaction.make_link(of(f"{number}/l"), b"x")
        if before is not None:
            assert len(os.listdir("/proc/self/fd")) <= before + 4
    folder = folder_world.folder
    assert {identity(folder / str(number)) for number in range(20)} | {identity(folder)} == set(synced)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("wrong", [False, True])
def test_a_disk_that_does_not_confirm_is_said_and_every_directory_is_asked(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch, wrong: bool
) -> None:
    store = folder_world.main.store
    asked = 0

    def fail(fd: int) -> None:
        nonlocal asked
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            asked += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def many(transaction: Any) -> None:
        with transaction.batch_sync():
            transaction.make_directory(of("a/b"))
            transaction.make_directory(of("c/d"))
            assert asked == 0
            if wrong:
                raise ZeroDivisionError

    monkeypatch.setattr(recovery.os, "fsync", fail)
    store.is_synced = True
    with changing(store) as transaction:
        for work in (
            lambda: transaction.make_directory(of("alone")),
            lambda: transaction.make_link(of("l"), b"x"),
            lambda: transaction.remove_empty(of("alone")),
        ):
            with pytest.raises(UnconfirmedChange):
                work()
        asked = 0
        with pytest.raises(UnconfirmedChange) as said:
            many(transaction)
        assert asked == 3
        assert str(said.value) == os.strerror(errno.EIO)
    assert sorted(there(store)) == ["a", "a/b", "c", "c/d", "l"]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EOPNOTSUPP])
def test_a_file_system_that_cannot_sync_directories_is_no_fault(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    store = folder_world.main.store
    fsync = os.fsync

    def refuse(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(code, os.strerror(code))
        fsync(fd)

    monkeypatch.setattr(recovery.os, "fsync", refuse)
    with changing(store) as transaction:
        transaction.write(of("a/f"), b"x", expected=None)
        with transaction.batch_sync():
            transaction.make_directory(of("b"))
    assert sorted(there(store)) == ["a", "a/f", "b"]


def test_what_a_killed_writer_left_keeps_no_directory_from_being_empty(folder_world: Any) -> None:
    store = folder_world.main.store
    folder_world.make("d")
    (folder_world.folder / "d" / store.make_temporary_name()).write_bytes(b"x")
    with changing(store) as transaction:
        transaction.remove_empty(of("d"))
    assert os.listdir(folder_world.folder) == []


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_directories_are_the_owners_alone(folder_world: Any, umask: int) -> None:
    store = folder_world.main.store
    before = os.umask(umask)
    try:
        with changing(store) as transaction:
            transaction.make_directory(of("a/b"))
    finally:
        os.umask(before)
    for path in ("a", "a/b"):
        assert stat.S_IMODE((folder_world.folder / path).stat().st_mode) == 0o700


def test_nothing_is_made_in_a_folder_that_is_only_looked_at(folder_world: Any) -> None:
    store = FolderStore(str(folder_world.folder), None)
    with store.begin_transaction(1) as transaction, transaction.batch_sync():
        for work in (
            lambda: transaction.make_directory(of("a")),
            lambda: transaction.make_link(of("a"), b"x"),
            lambda: transaction.remove_empty(of("a")),
        ):
            with pytest.raises(OSError, match="ead-only"):
                work()
    store.close()
    assert os.listdir(folder_world.folder) == []
