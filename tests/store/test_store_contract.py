"""What `memtui.store.base` promises, held against every store."""

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import sys
import threading
from functools import partial
from typing import Any

import pytest

from memtui.core.attributes import Attributes, read_stamp
from memtui.core.errors import FolderMissing, LockTimeout, SymlinkEscape
from memtui.core.events import EntryKind
from memtui.core.paths import ROOT, MemoryPath
from memtui.store import open_folder
from memtui.store.base import ConcurrentChange, FileTooLarge, NotRegularFile
from memtui.store.folder import FolderStore, FolderTransaction
from tests.conftest import make_chain

of = MemoryPath.from_relative


@pytest.fixture
def store(world: Any) -> Any:
    return world.main.store


@pytest.fixture
def folder_store(folder_world: Any) -> Any:
    return folder_world.main.store


def write(store: Any, path: str, data: bytes, expected: Any = None) -> Any:
    with store.begin_transaction(1) as transaction:
        return transaction.write(of(path), data, expected=expected)


def test_what_was_written_is_read_with_the_node_that_was_returned(store: Any) -> None:
    written = write(store, "a/b/f", b"x\xff\x00")
    assert written.made == ("a", "a/b")
    content = store.read(of("a/b/f"), limit=10)
    assert (content.data, content.node) == (b"x\xff\x00", written.node)
    assert (written.node.path, written.node.kind, written.node.size) == ("a/b/f", EntryKind.FILE, 3)
    assert store.get_node(of("a/b/f")) == written.node
    assert store.get_node(of("a")).kind is EntryKind.DIRECTORY
    assert (store.get_node(ROOT).path, store.get_node(ROOT).kind) == ("", EntryKind.DIRECTORY)


def test_what_is_not_there_is_none_and_cannot_be_read(store: Any) -> None:
    write(store, "f", b"")
    for path in ("no", "no/where", "f/below"):
        assert store.get_node(of(path)) is None
        assert store.get_node(of(path), follow=True) is None
    with pytest.raises(FileNotFoundError):
        store.read(of("no"), limit=1)


def test_reading_stops_before_the_limit_is_passed(store: Any) -> None:
    write(store, "f", b"12345")
    assert store.read(of("f"), limit=5).data == b"12345"
    with pytest.raises(FileTooLarge) as refused:
        store.read(of("f"), limit=4)
    assert refused.value.size == 5


def test_a_directory_is_not_read(store: Any) -> None:
    write(store, "d/f", b"")
    for path in ("d", ""):
        with pytest.raises(NotRegularFile):
            store.read(of(path), limit=1)


def test_a_write_is_refused_where_something_else_stands(store: Any) -> None:
    first = write(store, "f", b"one").node
    second = write(store, "f", b"two", first.stamp).node
    assert second.stamp != first.stamp
    for expected in (first.stamp, None, (0,)):
        with pytest.raises(ConcurrentChange):
            write(store, "f", b"three", expected)
    with pytest.raises(ConcurrentChange):
        write(store, "new/f", b"three", second.stamp)
    assert store.read(of("f"), limit=9).data == b"two"
    assert [node.path for node in store.scan(ROOT)] == ["f"]


def test_writing_below_a_file_fails_and_leaves_nothing(store: Any) -> None:
    write(store, "f", b"")
    with pytest.raises(OSError, match="irectory"):
        write(store, "f/x/y", b"")
    assert [node.path for node in store.scan(ROOT)] == ["f"]


def test_a_rename_never_overwrites(store: Any) -> None:
    for path in ("f", "g", "d/x", "e/x"):
        write(store, path, path.encode())
    before = {node.path for node in store.scan(ROOT)}
    for old, new in (("f", "g"), ("f", "d"), ("d", "f"), ("d", "e"), ("d/x", "e/x")):
        with store.begin_transaction(1) as transaction, pytest.raises(FileExistsError):
            transaction.rename(of(old), of(new))
    assert {node.path for node in store.scan(ROOT)} == before
    assert store.read(of("g"), limit=9).data == b"g"


def test_a_rename_moves_all_makes_parents_and_keeps_a_things_own_number(store: Any) -> None:
    write(store, "d/e/f", b"x")
    stamp = store.get_node(of("d/e/f")).stamp
    with store.begin_transaction(1) as transaction:
        assert transaction.rename(of("d"), of("p/q/d")) == ("p", "p/q")
    assert store.read(of("p/q/d/e/f"), limit=9).data == b"x"
    assert store.get_node(of("p/q/d/e/f")).stamp == stamp
    with store.begin_transaction(1) as transaction:
        assert transaction.rename(of("p/q/d/e/f"), of("g")) == ()
    assert store.get_node(of("g")).stamp[-1] == stamp[-1]
    with store.begin_transaction(1) as transaction, pytest.raises(FileNotFoundError):
        transaction.rename(of("no"), of("r/s"))
    assert store.get_node(of("r")) is None


LONG_AGO = 1_500_000_000_000_000_007
"""A time, in nanoseconds since 1970."""


def test_a_file_is_written_with_the_attributes_that_are_asked_for(store: Any) -> None:
    with store.begin_transaction(1) as transaction:
        new = transaction.write(of("d/f"), b"x", expected=None, attributes=Attributes(0o644, LONG_AGO)).node
        touched = transaction.write(of("d/f"), b"y", expected=new.stamp, attributes=Attributes(None, -7)).node
        kept = transaction.write(of("d/f"), b"z", expected=touched.stamp).node
        private = transaction.write(of("g"), b"x", expected=None).node
    assert new.attributes == (0o644, LONG_AGO)
    assert touched.attributes == (0o644, -7)
    assert (kept.mode, kept.mtime_ns > LONG_AGO) == (0o644, True)
    assert (private.mode, private.mtime_ns > LONG_AGO, store.get_node(of("d")).mode) == (0o600, True, 0o700)
    assert store.get_node(of("d/f")) == kept
    assert all(read_stamp(node.kind, node.stamp) == node.attributes for node in (new, touched, kept, private))


def test_a_directory_is_given_attributes_and_nothing_else_is(store: Any) -> None:
    node = write(store, "d/f", b"x").node
    with store.begin_transaction(1) as transaction:
        transaction.make_link(of("link"), b"d", mtime_ns=LONG_AGO)
        before = store.get_node(of("d"))
        transaction.set_directory_attributes(of("d"), Attributes(0o555, LONG_AGO))
        after = store.get_node(of("d"))
        for path, why in (("no", FileNotFoundError), ("d/f", NotADirectoryError), ("link", NotADirectoryError)):
            with pytest.raises(why):
                transaction.set_directory_attributes(of(path), Attributes(0o777, 1))
    assert (after.attributes, read_stamp(after.kind, after.stamp)) == ((0o555, LONG_AGO), (0o555, None))
    assert (before.stamp != after.stamp, before.stamp[-1]) == (True, after.stamp[-1])
    assert store.get_node(of("link")).attributes == (None, LONG_AGO)
    assert store.get_node(of("d/f")) == node
    assert store.get_node(of("d")) == after


def test_special_bits_are_neither_given_nor_taken(folder_world: Any) -> None:
    os.chmod(folder_world.folder, 0o2770)
    store = folder_world.main.store
    with store.begin_transaction(1) as transaction:
        transaction.make_directory(of("d"))
        transaction.set_directory_attributes(of("d"), Attributes(0o7751, None))
        transaction.write(of("f"), b"x", expected=None, attributes=Attributes(0o7644, None))
    assert stat.S_IMODE(os.stat(folder_world.folder / "d").st_mode) == 0o2751
    assert stat.S_IMODE(os.stat(folder_world.folder / "f").st_mode) == 0o644


def test_a_delete_takes_all_below_and_nothing_beside(store: Any) -> None:
    for path in ("d/e/f", "d/g", "dd/f", "d.f"):
        write(store, path, b"")
    with store.begin_transaction(1) as transaction:
        transaction.delete(of("d"))
        with pytest.raises(FileNotFoundError):
            transaction.delete(of("d"))
    assert [node.path for node in store.scan(ROOT)] == sorted(node.path for node in store.scan(ROOT))
    assert {node.path for node in store.scan(ROOT)} == {"dd", "dd/f", "d.f"}


def test_scans_and_names_give_every_directory_before_what_is_in_it(store: Any) -> None:
    for path in ("b/c/f", "a", "b/a", "ä/x"):
        write(store, path, b"12")
    found = [node.path for node in store.scan(ROOT)]
    assert sorted(found) == ["a", "b", "b/a", "b/c", "b/c/f", "ä", "ä/x"]
    assert all(path.rpartition("/")[0] in ["", *found[:at]] for at, path in enumerate(found))
    entries = list(store.iter_names())
    assert {(entry.path, entry.kind) for entry in entries} == {(node.path, node.kind) for node in store.scan(ROOT)}
    assert {node.path for node in store.scan(of("b"))} == {"b/a", "b/c", "b/c/f"}
    assert list(store.scan(of("a"))) == []
    assert list(store.scan(of("no"))) == []


def test_one_writer_at_a_time_and_the_next_one_waits_only_so_long(store: Any) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with store.begin_transaction(1):
            entered.set()
            leave.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(20)
    with pytest.raises(LockTimeout), store.begin_transaction(0.01):
        pytest.fail("two writers at once")
    leave.set()
    holder.join(20)
    with store.begin_transaction(1) as transaction:
        transaction.clean_up()


def test_an_exception_gives_the_lock_back(store: Any) -> None:
    with pytest.raises(ZeroDivisionError), store.begin_transaction(1):
        raise ZeroDivisionError
    with store.begin_transaction(0.01):
        pass


# What only a folder can hold


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_modes_are_the_owners_alone_whatever_the_umask(folder_world: Any, umask: int) -> None:
    store = folder_world.main.store
    before = os.umask(umask)
    try:
        node = write(store, "d/f", b"x").node
        write(store, "d/f", b"y", node.stamp)
        (folder_world.folder / "kept").touch()
        (folder_world.folder / "kept").chmod(0o444)
        write(store, "kept", b"y", store.get_node(of("kept")).stamp)
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE(os.lstat(folder_world.folder / name).st_mode) for name in ("d", "d/f", "kept")}
    assert modes == {"d": 0o700, "d/f": 0o600, "kept": 0o444}


def test_a_fifo_without_a_writer_is_not_waited_for(folder_world: Any) -> None:
    store = folder_world.main.store
    os.mkfifo(folder_world.folder / "fifo")
    with pytest.raises(NotRegularFile):
        store.read(of("fifo"), limit=10)
    assert store.get_node(of("fifo")).kind is EntryKind.OTHER
    assert store.get_node(of("fifo/x")) is None
    assert [entry.kind for entry in store.iter_names()] == [EntryKind.OTHER]


def test_a_file_swapped_for_a_fifo_or_a_link_after_it_was_looked_at_is_not_read(folder_world: Any) -> None:
    store = folder_world.main.store
    path = folder_world.folder / "f"
    place = store.root.resolve_path(("f",), follow=True)
    os.mkfifo(path)
    with place, contextlib.closing(open(store._open_for_reading(place), "rb")) as opened:
        assert stat.S_ISFIFO(os.fstat(opened.fileno()).st_mode)  # without waiting
    path.unlink()
    path.symlink_to("/etc/passwd")
    with pytest.raises(NotRegularFile):
        store._open_for_reading(place)


def write_move_and_delete(store: Any) -> None:
    """Whatever lies under a temporary name for a moment does so here; nothing is left."""
    node = write(store, "a/f", b"x").node
    write(store, "a/f", b"y", node.stamp)
    with contextlib.suppress(ConcurrentChange):
        write(store, "a/f", b"z", None)
    with store.begin_transaction(1) as transaction:
        transaction.rename(of("a"), of("b/c"))
        transaction.delete(of("b"))


def test_nothing_of_ours_is_left_in_the_folder_or_the_state(folder_world: Any) -> None:
    store = folder_world.main.store
    write_move_and_delete(store)
    assert os.listdir(folder_world.folder) == []
    assert {name.partition("-")[0] for name in os.listdir(folder_world.state)} <= {
        "journal.db",
        "lock",
        "token",
        "passing",
    }


def test_what_a_killed_writer_left_is_never_shown_and_is_tidied(folder_world: Any) -> None:
    store = folder_world.main.store
    write(store, "d/e/f", b"x")
    name = store.make_temporary_name()
    left = [folder_world.state / name, folder_world.folder / name, folder_world.folder / "d/e" / name]
    for path in left:
        path.mkdir()
        store.passing.add(name, path.stat().st_ino)
        (path / "inner").mkdir()
        (path / "inner" / "file").write_bytes(b"")
    store.passing.keep()  # another process listed them
    others = [".memtui-not-ours", name + "0", name[:-1], name[:-1] + "g", ".memtui-" + "0" * 16 + name[-17:]]
    for other in others:
        (folder_world.folder / other).write_bytes(b"")
    assert {node.path for node in store.scan(ROOT)} == {"d", "d/e", "d/e/f", *others}
    folder_world.main.reconcile()
    assert {entry.path for entry in store.iter_names()} == {"d", "d/e", "d/e/f", *others}
    assert all(store.get_node(of(other)) is not None for other in others)
    assert store.get_node(of(name)) is None
    assert store.get_node(of(f"d/e/{name}/inner")) is None
    assert folder_world.main.reconcile([name, f"d/e/{name}"]) == 0
    with store.begin_transaction(1) as transaction:
        transaction.clean_up()
    assert not any(path.exists() for path in left)
    assert all((folder_world.folder / other).exists() for other in others)
    assert (folder_world.state / "passing").read_bytes() == b""


def list_all(store: Any) -> set[str]:
    """What is seen of a folder: by its names, by a scan, and by asking for each."""
    names, nodes = {entry.path for entry in store.iter_names()}, {node.path for node in store.scan(ROOT)}
    assert names == nodes == {name for name in nodes if store.get_node(of(name)) is not None}
    return names


def test_nothing_can_be_hidden_under_a_name_like_ours(folder_world: Any) -> None:
    """Somebody watches the folder, sees one of our names, and uses it, or another one like it."""
    store, folder = folder_world.main.store, folder_world.folder
    name = store.make_temporary_name()
    (folder / name).write_bytes(b"planted")
    assert list_all(store) == {name}
    with store.begin_transaction(1):
        store.passing.add(name)
        assert list_all(store) == set()
        store.passing.add(name, (folder / name).stat().st_ino)
        assert list_all(store) == set()
        (folder / "other").write_bytes(b"planted")
        (folder / "other").rename(folder / name)
        assert list_all(store) == {name}
    assert list_all(store) == {name}
    assert store.read(of(name), limit=10).data == b"planted"
    again = folder_world.store()
    assert list_all(again) == {name}
    again.close()


def test_what_a_writer_has_on_its_way_is_never_shown_and_never_listed_afterwards(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = folder_world.main.store
    seen: set[str] = set()
    for name in ("rename", "link", "fsync", "unlink", "rmdir", "ftruncate"):
        real = getattr(os, name)

        def look(*args: Any, real: Any = real, **values: Any) -> Any:
            seen.update(path for path in list_all(store) if ".memtui-" in path)
            return real(*args, **values)

        monkeypatch.setattr(os, name, look)
    write_move_and_delete(store)
    monkeypatch.undo()
    assert seen == set()
    passing = folder_world.state / "passing"
    assert not passing.exists() or passing.read_bytes() == b""


def test_no_name_hides_anything_in_a_folder_that_is_only_looked_at(folder_world: Any) -> None:
    folder_world.put(".memtui-x/n", "x")
    name = folder_world.main.store.make_temporary_name()
    folder_world.put(name, "x")
    store = FolderStore(str(folder_world.folder), None)
    assert {node.path for node in store.scan(ROOT)} == {".memtui-x", ".memtui-x/n", name}
    assert store.get_node(of(name)) is not None
    store.close()


def test_what_our_names_begin_with_is_drawn_by_lot_and_the_same_for_every_writer(folder_world: Any) -> None:
    start = folder_world.main.store._temporary_prefix
    token = (folder_world.state / "token").read_text()
    assert start == f".memtui-{token}-"
    assert stat.S_IMODE((folder_world.state / "token").stat().st_mode) == 0o600
    again = folder_world.store()
    assert again._temporary_prefix == start
    again.close()
    for damaged in ("", "no token", "../../../../etc/"):
        (folder_world.state / "token").write_text(damaged)
        again = folder_world.store()
        assert again._temporary_prefix not in (start, f".memtui-{damaged}-")
        again.close()
    folder_world.main.store.close()
    folder_world.main.journal.close()
    folder_world.made.clear()


def test_what_could_not_be_removed_is_removed_by_the_next_one_to_open(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = folder_world.main.store
    write(store, "d/f", b"secret")

    def fail(*_: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch, store.begin_transaction(1) as transaction:
        patch.setattr(open_folder.WritableFolder, "remove_tree", fail)
        transaction.delete(of("d"))
    places = folder_world.folder, folder_world.state
    assert [name for place in places for name in os.listdir(place) if name.startswith(".memtui-")]
    with store.begin_transaction(1):
        pass
    assert not [name for place in places for name in os.listdir(place) if name.startswith(".memtui-")]
    assert "untidy" not in os.listdir(folder_world.state)


# Somebody who is faster


def test_a_delete_takes_only_what_was_expected(store: Any) -> None:
    for path in ("d/f", "d/e/g", "h"):
        write(store, path, b"x")
    seen = {node.path: node.stamp for node in store.scan(ROOT)}
    below = {path: stamp for path, stamp in seen.items() if path.startswith("d")}
    changed = {**below, "d/f": (0,)}
    for wrong in ({}, changed, {**below, "d/more": (0,)}, {path: below[path] for path in ("d", "d/f", "d/e")}):
        with store.begin_transaction(1) as transaction, pytest.raises(ConcurrentChange):
            transaction.delete(of("d"), expected=wrong)
        assert {node.path: store.get_node(of(node.path)).stamp[-1] for node in store.scan(ROOT)} == {
            path: stamp[-1] for path, stamp in seen.items()
        }
    with store.begin_transaction(1) as transaction, pytest.raises(ConcurrentChange):
        transaction.delete(of("h"), expected={"h": (0,)})
    with store.begin_transaction(1) as transaction:
        transaction.delete(of("d"), expected={node.path: node.stamp for node in store.scan(ROOT) if node.path != "h"})
        transaction.delete(of("h"), expected={"h": store.get_node(of("h")).stamp})
    assert list(store.scan(ROOT)) == []


def test_what_has_to_be_put_back_never_overwrites(folder_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = folder_world.main.store
    write(store, "f", b"one")
    compare = FolderTransaction._check_stamps

    def faster(self: Any, *arguments: Any) -> None:
        (folder_world.folder / "f").write_text("another")
        compare(self, *arguments)

    monkeypatch.setattr(FolderTransaction, "_check_stamps", faster)
    with store.begin_transaction(1) as transaction, pytest.raises(ConcurrentChange):
        transaction.delete(of("f"), expected={"f": (0,)})
    assert folder_world.tree() == {"f": b"another", "f~1": b"one"}


def in_place(path: Any) -> None:
    path.write_text("OUTSIDE")


def replaced(path: Any) -> None:
    (path.parent / "passing").write_text("OUTSIDE")
    (path.parent / "passing").rename(path)


@pytest.mark.parametrize("exchanging", [True, False])
@pytest.mark.parametrize("change", [in_place, replaced, os.unlink])
@pytest.mark.parametrize("moment", ["_create_file", "_link_staged", "exchange"])
def test_a_change_while_a_file_is_written_is_not_overwritten(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch, moment: str, change: Any, exchanging: bool
) -> None:
    if moment == "_link_staged" and folder_world.kind in ("named", "linking", "placing"):
        pytest.skip("it has a name from the beginning")
    if moment == "exchange" and (not exchanging or folder_world.kind in ("linking", "placing")):
        pytest.skip("there is no moment between")
    store = folder_world.main.store
    stamp = write(store, "f", b"one").node.stamp
    owner: Any = open_folder if moment == "exchange" else FolderTransaction
    real = getattr(owner, moment)
    faster = [change]

    def late(*arguments: Any) -> Any:
        if moment == "exchange" and faster:
            faster.pop()(folder_world.folder / "f")
        result = real(*arguments)
        if faster:
            faster.pop()(folder_world.folder / "f")
        return result

    if not exchanging:
        monkeypatch.setattr(open_folder, "exchange", lambda *_: False)
    monkeypatch.setattr(owner, moment, late)
    with pytest.raises(ConcurrentChange):
        write(store, "f", b"ours", stamp)
    assert folder_world.tree() == ({} if change is os.unlink else {"f": b"OUTSIDE"})
    assert not [name for name in os.listdir(folder_world.state) if name.startswith(".memtui-")]


def test_a_file_that_somebody_wrote_to_as_soon_as_it_stood_there_is_seen_as_changed(
    folder_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = folder_world.main.store
    stamp = write(store, "f", b"one").node.stamp
    move = FolderTransaction._move_into_place

    def faster(*arguments: Any) -> None:
        move(*arguments)
        in_place(folder_world.folder / "f")

    monkeypatch.setattr(FolderTransaction, "_move_into_place", faster)
    written = write(store, "f", b"ours", stamp)
    assert store.get_node(of("f")).stamp != written.node.stamp


def test_a_tree_deeper_than_any_recursion_is_deleted(folder_world: Any) -> None:
    store = folder_world.main.store
    os.close(make_chain(folder_world.folder, ["d"] * (sys.getrecursionlimit() + 50)))
    with store.begin_transaction(1) as transaction:
        transaction.delete(of("d"))
    assert os.listdir(folder_world.folder) == []


def test_a_deep_path_holds_few_descriptors(resolver_world: Any) -> None:
    store = resolver_world.main.store
    parts = ("n" * 200,) * 25
    write(store, "/".join(parts), b"x")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    with store.root.resolve_path(parts, follow=True):
        if before is not None:
            assert len(os.listdir("/proc/self/fd")) <= before + 2
    assert store.read(MemoryPath(parts), limit=1).data == b"x"


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="the system has no O_PATH")
def test_a_directory_on_the_way_is_passed_and_not_opened(resolver_world: Any) -> None:
    """Opening one wakes everybody who watches it: beside five browsers that was 128 events for each create."""
    store = resolver_world.main.store
    write(store, "a/b/note.md", b"x")
    with store.root.resolve_path(("a", "b", "note.md"), follow=True) as place:
        assert fcntl.fcntl(place.fd, fcntl.F_GETFL) & os.O_PATH


def test_a_path_that_is_too_long_for_one_call_is_looked_at_as_any_other(resolver_world: Any) -> None:
    store, names = resolver_world.main.store, ["a" * 200, *["d" * 230] * 20, "é" * 120, *["x"] * 30]
    assert len("/".join(names)) > 4_096
    fd = make_chain(resolver_world.folder, names)
    try:
        os.symlink("..", "link", dir_fd=fd)
        with open("note.md", "wb", opener=partial(os.open, dir_fd=fd)) as note:
            note.write(b"deep\n")
    finally:
        os.close(fd)
    path = "/".join(names)
    assert store.read(of(f"{path}/note.md"), limit=10).data == b"deep\n"
    assert store.read(of(f"{path}/link/x/note.md"), limit=10).data == b"deep\n"
    assert store.get_node(of(f"{path}/none/note.md")) is None
    assert store.get_node(of(f"{path}/note.md/below")) is None
    assert store.is_accessible(of(path), os.R_OK | os.X_OK)
    assert not store.is_accessible(of(f"{path}/none"), os.R_OK)
    assert {node.path for node in store.scan(ROOT)} >= {f"{path}/note.md", f"{path}/link"}


def test_a_sparse_file_of_a_terabyte_is_not_read(folder_world: Any) -> None:
    with open(folder_world.folder / "huge", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileTooLarge):
        folder_world.main.store.read(of("huge"), limit=1 << 20)


def test_a_read_that_races_with_writers_is_never_torn(folder_world: Any) -> None:
    store = folder_world.main.store
    path = folder_world.folder / "f"
    path.write_bytes(b"a" * 5_000)
    stop = threading.Event()

    def replace() -> None:
        for number in range(2_000):
            passing = folder_world.folder.parent / "passing"
            passing.write_bytes((b"a" if number % 2 else b"bb") * 5_000)
            passing.rename(path)
            if stop.is_set():
                return

    thread = threading.Thread(target=replace)
    thread.start()
    for _ in range(300):
        assert store.read(of("f"), limit=1 << 20).data in (b"a" * 5_000, b"bb" * 5_000)
    stop.set()
    thread.join(20)


def test_a_root_that_vanished_or_became_a_link_is_said(folder_world: Any) -> None:
    store = folder_world.main.store
    write(store, "f", b"x")
    folder_world.folder.rename(folder_world.folder.parent / "moved")
    for missing in ("vanished", "replaced by a file", "replaced by a link"):
        with pytest.raises(FolderMissing):
            list(store.scan(ROOT))
        with pytest.raises(FolderMissing):
            list(store.iter_names())
        with pytest.raises(FolderMissing):
            store.get_node(of("no"))
        with pytest.raises(FolderMissing), store.begin_transaction(1):
            pytest.fail("a writer in a folder that is not there")
        with pytest.raises(FolderMissing):
            store.attach()
        if missing == "vanished":
            folder_world.folder.touch()
        elif missing == "replaced by a file":
            folder_world.folder.unlink()
            folder_world.folder.symlink_to("moved")
    assert os.listdir(folder_world.folder.parent / "moved") == ["f"]


def test_a_root_that_was_made_again_is_the_same_place(folder_world: Any) -> None:
    store = folder_world.main.store
    for number in range(3):
        write(store, "f", b"x")
        assert store.attach() == number
        descriptors = len(os.listdir("/proc/self/fd"))
        shutil.rmtree(folder_world.folder)
        folder_world.folder.mkdir()
        assert list(store.scan(ROOT)) == []
        assert store.get_node(of("f")) is None
        assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_root_above_which_a_link_came_is_not_followed(folder_world: Any) -> None:
    store, above = folder_world.main.store, folder_world.folder.parent
    moved = above.with_name(f"{above.name} moved")
    above.rename(moved)
    above.symlink_to(moved.name)
    folder_world.folder.rename(folder_world.folder.with_name("old"))
    folder_world.folder.mkdir()
    with pytest.raises(FolderMissing):
        store.get_node(of("f"))


def test_a_root_that_is_replaced_while_it_is_written_to_is_said(folder_world: Any) -> None:
    store = folder_world.main.store
    with store.begin_transaction(1) as transaction:
        folder_world.folder.rename(folder_world.folder.with_name("old"))
        folder_world.folder.mkdir()
        with pytest.raises(FolderMissing):
            store.get_node(of("f"))
        transaction.write(of("f"), b"x", expected=None)  # where it began
    assert store.get_node(of("f")) is None
    assert os.listdir(folder_world.folder.with_name("old")) == ["f"]


def test_there_is_no_store_without_a_folder(tmp_path: Any) -> None:
    (tmp_path / "file").touch()
    for path in ("no", "file"):
        with pytest.raises(FolderMissing):
            FolderStore(str(tmp_path / path), None)


def test_names_need_not_be_unicode(folder_world: Any) -> None:
    raw = os.fsencode(folder_world.folder) + b"/caf\xe9"
    os.mkdir(raw)
    with open(raw + b"/\xff", "wb"):
        pass
    store = folder_world.main.store
    assert {node.path for node in store.scan(ROOT)} == {"caf\udce9", "caf\udce9/\udcff"}
    assert store.read(of("caf\udce9/\udcff"), limit=1).data == b""
    with store.begin_transaction(1) as transaction:
        transaction.rename(of("caf\udce9/\udcff"), of("plain"))
        transaction.delete(of("caf\udce9"))
    assert os.listdir(folder_world.folder) == ["plain"]


@pytest.mark.parametrize("target", ["/etc", "..", "a/../..", "/"])
def test_a_link_out_is_never_followed(resolver_world: Any, target: str) -> None:
    resolver_world.make("a")
    (resolver_world.folder / "link").symlink_to(target)
    store = resolver_world.main.store
    assert store.get_node(of("link")).kind is EntryKind.LINK
    for look in (
        lambda: store.get_node(of("link"), follow=True),
        lambda: store.get_node(of("link/passwd")),
        lambda: store.read(of("link/passwd"), limit=1 << 20),
        lambda: write(store, "link/x", b""),
    ):
        with pytest.raises(SymlinkEscape):
            look()
    assert {node.path for node in store.scan(ROOT)} == {"a", "link"}
    assert list(store.scan(of("link"))) == []


def test_looking_changes_no_time_of_a_file(folder_world: Any) -> None:
    folder_world.put("d/f", "x")
    path = folder_world.folder / "d/f"
    os.utime(path, (1, 2))
    before = [os.lstat(each) for each in (folder_world.folder, path.parent, path)]
    store = folder_world.main.store
    store.read(of("d/f"), limit=1)
    list(store.scan(ROOT))
    after = [os.lstat(each) for each in (folder_world.folder, path.parent, path)]
    assert [(seen.st_mtime_ns, seen.st_ctime_ns) for seen in after] == [
        (seen.st_mtime_ns, seen.st_ctime_ns) for seen in before
    ]
    if hasattr(os, "O_NOATIME"):
        assert after[-1].st_atime_ns == before[-1].st_atime_ns
