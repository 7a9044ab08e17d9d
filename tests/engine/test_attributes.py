"""What comes back is what went: with the permissions and the time that it had, whoever took it away."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest

import memtui
from memtui.core.attributes import Attributes
from memtui.core.events import EntryKind
from memtui.core.paths import ROOT, MemoryPath
from memtui.journal import chain
from tests.conftest import StandIn

of = MemoryPath.from_relative
YEAR_NS = 365 * 86_400_000_000_000
LONG_AGO = 1_650_000_000_123_456_789
FILES = {"d/a.md": 0o644, "d/b.md": 0o755, "d/e/c.md": 0o400, "d/e/f.md": 0o777, "g.md": 0o640}
DIRECTORIES = {"d": 0o755, "d/e": 0o750}
OVER = 0o664
"""The permissions of what is renamed over a file."""


def set_attributes(world: Any, path: str, mode: int | None = None, mtime_ns: int | None = None) -> None:
    """Give a file or a directory permissions and a time, as somebody who is not memtui would."""
    if world.folder is not None:
        if mode is not None:
            os.chmod(world.folder / path, mode)
        if mtime_ns is not None:
            os.utime(world.folder / path, ns=(mtime_ns, mtime_ns))
        return
    store = world.main.store
    node = store.get_node(of(path))
    with store.begin_transaction(1) as transaction:
        if node.kind is EntryKind.DIRECTORY:
            transaction.set_directory_attributes(of(path), Attributes(mode, mtime_ns))
            return
        data = store.read(of(path), limit=1 << 20).data
        transaction.write(of(path), data, expected=node.stamp, attributes=Attributes(mode, mtime_ns))


def look(world: Any) -> dict[str, tuple[int, int]]:
    """The mode and the time of everything, as the system has them."""
    if world.folder is not None:
        found = {path: os.lstat(world.folder / path) for path in world.tree()}
        return {path: (stat.S_IMODE(seen.st_mode), seen.st_mtime_ns) for path, seen in found.items()}
    return {node.path: node.attributes for node in world.main.store.scan(ROOT)}


def modes(world: Any) -> dict[str, int]:
    return {path: mode for path, (mode, _) in look(world).items()}


@pytest.fixture
def dressed(world: Any) -> Any:
    return dress(world)


@pytest.fixture
def plain(plain_world: Any) -> Any:
    return dress(plain_world)


def dress(world: Any) -> Any:
    """A memory of files and directories with permissions and times of their own."""
    world.fill({path: f"text of {path}\n" for path in FILES})
    for number, (path, mode) in enumerate([*FILES.items(), *reversed(DIRECTORIES.items())]):
        set_attributes(world, path, mode, LONG_AGO + number * YEAR_NS // 12)
    assert world.main.reconcile() == 0  # nothing has changed
    return world


def remove(world: Any, *paths: str) -> None:
    """Remove files, and directories with all that is in them, as somebody who is not memtui would."""
    for path in paths:
        if world.folder is None:
            with world.main.store.begin_transaction(1) as transaction:
                transaction.delete(of(path))
        else:
            for inner in sorted((each for each in world.tree() if f"{each}/".startswith(f"{path}/")), reverse=True):
                place = world.folder / inner
                place.rmdir() if place.is_dir() else place.unlink()


def rename_over(world: Any) -> None:
    """Write each file anew beside its place and move it there, as editors do."""
    for path in FILES:
        if world.folder is None:
            world.put(path, "another text\n")
        else:
            world.put("d/.passing", "another text\n")
            os.replace(world.folder / "d/.passing", world.folder / path)
        set_attributes(world, path, OVER)


WAYS: Mapping[str, Callable[[Any], object]] = {
    "an agent deletes it": lambda world: [
        world.ask(command="delete", path=f"/memories/{path}") for path in ("d", "g.md")
    ],
    "an agent deletes each file": lambda world: [
        world.ask(command="delete", path=f"/memories/{path}") for path in FILES
    ],
    "a person deletes it": lambda world: world.main.files.delete(["d", "g.md"]),
    "all is cleared": lambda world: world.main.clear(actor=memtui.Agent("a")),
    "it is removed from outside": lambda world: remove(world, "d", "g.md"),
    "each file is removed from outside": lambda world: remove(world, *FILES),
    "another file is renamed over each": rename_over,
}


def undo(world: Any, since: int) -> None:
    assert world.main.undo_since(since).problem == ""


def undo_redo_and_undo(world: Any, since: int) -> None:
    undo(world, since)
    before = look(world)
    again = world.main.undo([world.main.history.get_redoable().seq])
    assert (again.problem, look(world) == before) == ("", False)
    assert world.main.undo([again.event.seq]).problem == ""


def restore_folder(world: Any, since: int) -> None:
    assert world.main.restore_directory("", since).problem == ""


def restore_deleted(world: Any, _: int) -> None:
    deleted = world.main.history.find_deleted()
    assert world.main.restore({each.path: each.version for each in deleted}).problem == ""


BACK: Mapping[str, Callable[[Any, int], None]] = {
    "undo": undo,
    "undo, redo, undo": undo_redo_and_undo,
    "restore": restore_folder,
    "restore of what was deleted": restore_deleted,
}


@pytest.mark.parametrize(
    ("way", "back"),
    [
        (way, back)
        for way, back in product(WAYS, BACK)
        if (WAYS[way], BACK[back]) != (rename_over, restore_deleted)  # nothing is gone that could be restored
    ],
)
def test_what_comes_back_has_the_permissions_and_the_time_that_it_had(dressed: Any, way: str, back: str) -> None:
    is_written_over = WAYS[way] is rename_over
    before, texts, since = look(dressed), dressed.tree(), dressed.main.get_head()[0]
    WAYS[way](dressed)
    dressed.main.reconcile()
    assert look(dressed) != before
    BACK[back](dressed, since)
    assert dressed.tree() == texts
    after = look(dressed)
    if is_written_over and BACK[back] is restore_folder:  # a file that stands keeps its mode
        assert {path: after[path] for path in FILES} == {path: (OVER, before[path][1]) for path in FILES}
        return
    assert {path: after[path] for path in FILES} == {path: before[path] for path in FILES}
    assert modes(dressed) == {path: mode for path, (mode, _) in before.items()}
    recorded = {path: known.version.attributes for path, known in dressed.main.journal.get_known_below("").items()}
    assert {path: tuple(recorded[path]) for path in FILES} == {path: before[path] for path in FILES}
    assert dressed.main.reconcile() == 0
    assert dressed.main.journal.verify().is_intact


@pytest.mark.parametrize("way", [way for way in WAYS if way.startswith("an agent deletes it") or "person" in way])
@pytest.mark.parametrize("back", ["undo", "restore", "undo, redo, undo"])
def test_a_directory_that_memtui_deleted_comes_back_with_its_time(dressed: Any, way: str, back: str) -> None:
    before, since = look(dressed), dressed.main.get_head()[0]
    WAYS[way](dressed)
    BACK[back](dressed, since)
    assert look(dressed) == before


def test_what_a_loss_took_comes_back_as_it_was(dressed: Any) -> None:
    for number in range(10):
        dressed.put(f"more/{number}.md", f"{number}\n")
        set_attributes(dressed, f"more/{number}.md", 0o644, LONG_AGO)
    dressed.main.reconcile()
    before = look(dressed)
    remove(dressed, "d", "g.md", "more")
    dressed.main.reconcile()
    assert dressed.main.restore_loss().problem == ""
    after = look(dressed)
    assert {path: mode for path, (mode, _) in after.items()} == {path: mode for path, (mode, _) in before.items()}
    assert {path: after[path] for path in after if path.endswith(".md")} == {
        path: before[path] for path in before if path.endswith(".md")
    }


def test_the_last_permissions_and_time_that_were_seen_come_back(dressed: Any) -> None:
    head = dressed.main.get_head()
    set_attributes(dressed, "g.md", 0o604, LONG_AGO - 5)
    set_attributes(dressed, "d/e", 0o705)
    assert dressed.main.reconcile() == 0
    assert dressed.main.get_head() == head
    remove(dressed, "d", "g.md")
    dressed.main.reconcile()
    undo(dressed, head[0])
    assert look(dressed)["g.md"] == (0o604, LONG_AGO - 5)
    assert modes(dressed)["d/e"] == 0o705
    verified = dressed.main.journal.verify()
    assert (verified.is_intact, verified.remarks) == (True, ())


def test_an_older_version_of_a_file_that_stands_has_its_own_time_and_keeps_the_mode(dressed: Any) -> None:
    engine, at = dressed.main, dressed.main.get_head()[0]
    dressed.ask(command="create", path="/memories/g.md", file_text="new\n")
    assert look(dressed)["g.md"][0] == FILES["g.md"]
    set_attributes(dressed, "g.md", 0o600)
    engine.reconcile()
    was = engine.history.get_version_at("g.md", at)
    assert engine.restore({"g.md": was}).problem == ""
    assert look(dressed)["g.md"] == (0o600, was.attributes.mtime_ns)
    assert was.attributes.mtime_ns < time.time_ns() - YEAR_NS


def test_undo_leaves_permissions_that_were_changed_since(dressed: Any) -> None:
    before, since = look(dressed), dressed.main.get_head()[0]
    dressed.ask(command="create", path="/memories/g.md", file_text="new\n")
    dressed.put("d/a.md", "from outside\n")
    set_attributes(dressed, "d/a.md", 0o666)
    dressed.main.reconcile()
    set_attributes(dressed, "g.md", 0o600)
    set_attributes(dressed, "d/a.md", 0o600)
    dressed.main.reconcile()
    undo(dressed, since)
    assert look(dressed)["g.md"] == (0o600, before["g.md"][1])
    assert look(dressed)["d/a.md"] == (0o600, before["d/a.md"][1])


def test_an_older_version_of_a_file_that_is_gone_has_its_own_time_and_the_last_mode(dressed: Any) -> None:
    engine, at = dressed.main, dressed.main.get_head()[0]
    before = look(dressed)["g.md"]
    dressed.ask(command="create", path="/memories/g.md", file_text="new\n")
    set_attributes(dressed, "g.md", 0o604)
    engine.reconcile()
    dressed.ask(command="delete", path="/memories/g.md")
    assert engine.restore({"g.md": engine.history.get_version_at("g.md", at)}).problem == ""
    assert look(dressed)["g.md"] == (0o604, before[1])


def test_one_file_of_a_directory_that_is_gone_brings_its_directories_permissions_back(dressed: Any) -> None:
    before = modes(dressed)
    remove(dressed, "d")
    dressed.main.reconcile()
    deleted = {each.path: each.version for each in dressed.main.history.find_deleted()}
    assert dressed.main.restore({"d/e/c.md": deleted["d/e/c.md"]}).problem == ""
    assert modes(dressed) == {path: before[path] for path in ("d", "d/e", "d/e/c.md", "g.md")}


def test_what_moves_back_finds_its_directory_as_it_was(dressed: Any) -> None:
    before = look(dressed)
    moved = dressed.ask(command="rename", old_path="/memories/d/e/c.md", new_path="/memories/c.md").event
    dressed.ask(command="delete", path="/memories/d")
    assert dressed.main.undo([moved.seq]).problem == ""
    assert modes(dressed) == {path: before[path][0] for path in ("d", "d/e", "d/e/c.md", "g.md")}
    assert look(dressed)["d/e/c.md"] == before["d/e/c.md"]


def test_ordinary_writes_are_as_private_as_ever_and_new(dressed: Any) -> None:
    engine, start = dressed.main, time.time_ns() - 60_000_000_000
    remove(dressed, "d/e", "g.md")
    engine.reconcile()
    dressed.ask(command="create", path="/memories/d/e/c.md", file_text="new\n")
    dressed.ask(command="str_replace", path="/memories/d/a.md", old_str="text", new_str="words")
    assert engine.files.create("g.md", b"new\n").problem == ""
    assert engine.files.copy({"d/a.md": "copy.md"}).problem == ""
    assert engine.write("d/b.md", b"saved\n", based_on=engine.journal.get_known("d/b.md").version).problem == ""
    found = look(dressed)
    written = ["d/e/c.md", "d/a.md", "g.md", "copy.md", "d/b.md"]
    assert [found[path][0] for path in written] == [0o600, 0o644, 0o600, 0o600, 0o755]
    assert found["d/e"][0] == 0o700
    assert all(found[path][1] > start for path in written)


def test_events_hold_what_a_file_had_before_and_after(dressed: Any) -> None:
    before = look(dressed)["g.md"]
    event = dressed.ask(command="create", path="/memories/g.md", file_text="new\n").event
    (change,) = event.changes
    assert (change.before.attributes, change.after.attributes) == (before, look(dressed)["g.md"])
    assert dressed.main.journal.get_event(event.seq).changes[0].after.attributes == change.after.attributes


# In a folder.


def test_no_special_bit_ever_comes_back_and_inherited_ones_stay(plain: Any) -> None:
    folder, since = plain.folder, plain.main.get_head()[0]
    os.chmod(folder, 0o2755)
    os.chmod(folder / "g.md", 0o6755)
    os.chmod(folder / "d", 0o1777)
    plain.main.reconcile()
    remove(plain, "d", "g.md")
    plain.main.reconcile()
    undo(plain, since)
    assert modes(plain)["g.md"] == 0o755
    assert modes(plain)["d"] == 0o2777


def test_a_link_comes_back_with_its_time_and_its_target_is_left_alone(plain: Any) -> None:
    (plain.folder / "link").symlink_to("g.md")
    os.utime(plain.folder / "link", ns=(LONG_AGO, LONG_AGO), follow_symlinks=False)
    plain.main.reconcile()
    before, since = look(plain), plain.main.get_head()[0]
    plain.ask(command="delete", path="/memories/link")
    undo(plain, since)
    assert look(plain) == before


def test_a_file_system_that_keeps_no_modes_keeps_the_text(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, since = plain.tree(), plain.main.get_head()[0]
    plain.ask(command="delete", path="/memories/d")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchmod", refuse)
    undo(plain, since)
    assert plain.tree() == texts
    assert modes(plain)["d/a.md"] == 0o600


def test_a_directory_that_cannot_be_given_its_mode_is_said_to_be_uncertain(
    plain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = plain.tree()
    gone = plain.ask(command="delete", path="/memories/d").event
    fchmod = os.fchmod

    def fail(fd: int, mode: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fchmod(fd, mode)

    monkeypatch.setattr(os, "fchmod", fail)
    undone = plain.main.undo([gone.seq])
    assert (undone.event.result, undone.problem[:7]) == ("uncertain", "Changed")
    assert plain.tree() == texts


class Killed(BaseException):
    """Stands for the end of the process."""


class _DyingTransaction(StandIn):
    def set_directory_attributes(self, *_: object) -> None:
        raise Killed


class Dying(StandIn):
    """A store whose process dies when everything stands, and directories are to be given their attributes."""

    @contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Any]:
        with self._real.begin_transaction(seconds, optimistic=optimistic) as transaction:
            yield _DyingTransaction(transaction)


@pytest.mark.parametrize("chosen", [None, 0o711])
def test_directories_get_their_attributes_after_a_crash_unless_somebody_chose_others(
    plain: Any, chosen: int | None
) -> None:
    before = look(plain)
    gone = plain.ask(command="delete", path="/memories/d").event
    dying = plain.engine(store=Dying(plain.store()))
    with pytest.raises(Killed):
        dying.undo([gone.seq])
    assert modes(plain)["d"] == modes(plain)["d/e"] == 0o700
    if chosen is not None:
        os.chmod(plain.folder / "d/e", chosen)
    engine = plain.engine()
    assert "recovered" in engine.history.get_event(engine.get_head()[0]).note
    after = look(plain)
    if chosen is None:
        assert after == before
    else:
        assert (after["d/e"][0], after["d"]) == (chosen, before["d"])
    assert engine.reconcile() == 0


# Older journals.


def test_what_older_events_do_not_tell_is_as_it_was_then(dressed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    start, since = time.time_ns() - 60_000_000_000, dressed.main.get_head()[0]
    with monkeypatch.context() as older:
        older.setattr(chain, "_encode_version", chain._encode_content)
        remove(dressed, "d", "g.md")
        dressed.main.reconcile()
    gone = dressed.main.history.get_event(dressed.main.get_head()[0])
    assert all(change.before.attributes == Attributes() for change in gone.changes)
    undo(dressed, since)
    assert modes(dressed) == {**dict.fromkeys(FILES, 0o600), **dict.fromkeys(DIRECTORIES, 0o700)}
    assert all(mtime_ns > start for _, mtime_ns in look(dressed).values())


def test_a_folder_that_an_older_memtui_knew_is_not_read_again(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, head = plain.main.journal, plain.main.get_head()
    known = journal.get_known_below("")
    for path, each in known.items():
        older = each._replace(stamp=(*each.stamp[:-2], each.stamp[-1]))
        journal.append_events([], known={path: older})
        assert journal.get_known(path).version.attributes == Attributes()
    with monkeypatch.context() as unread:
        unread.setattr(plain.main.store, "read", lambda *_, **__: pytest.fail("it was read"))
        assert plain.main.reconcile() == 0
    assert plain.main.get_head() == head
    assert journal.get_known_below("") == known


def test_attributes_of_a_record_that_memtui_did_not_write_are_not_known() -> None:
    for mode, mtime_ns in ((0o1777, "1"), (-1, 1 << 94), (True, False), ("420", None), ([], 1.5)):
        version = chain.decode_version(["file", "ab" * 32, 1, mode, mtime_ns])
        assert version is not None
        assert version.attributes == Attributes()
    assert chain.decode_version(["file", "ab" * 32, 1]).attributes == Attributes()  # type: ignore[union-attr]
