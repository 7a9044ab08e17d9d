"""Putting files in order: many at once, as one event, all of it or nothing, and taken back in one step."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memtui
from memtui.core.events import EntryKind, Event, Version, sha256
from memtui.core.history import ActionResult, SkipReason
from memtui.core.paths import MemoryPath
from memtui.engine import Engine
from memtui.engine.lineage import find_moves
from memtui.engine.moves import iter_parents
from memtui.journal.sqlite import Journal
from memtui.store.memory import MemoryStore
from tests.conftest import StandIn, fill, tree_of

Tree = dict[str, Any]

NOTES = {"a": "A\n", "b": "B\n", "c": "C\n", "d/x": "X\n", "d/s/y": "Y\n", "e/z": "Z\n"}


@pytest.fixture
def filled(world: Any) -> Any:
    return world.fill(NOTES)


def moved(tree: Tree, pairs: Mapping[str, str]) -> Tree:
    """What a tree is after moves, by definition: each thing goes where the innermost named thing that holds it goes."""
    after: Tree = {}
    for path, held in tree.items():
        top = next((each for each in (path, *iter_parents(path)) if each in pairs), None)
        after[path if top is None else pairs[top] + path[len(top) :]] = held
    for path in tuple(after):
        for parent in iter_parents(path):
            after.setdefault(parent, None)
    return after


def insist_on_truth(engine: Engine, tree: Tree) -> None:
    """The events lead to what stands there, and the journal knows it so."""
    stands: dict[str, Version] = {}
    for event in engine.events():
        for change in event.changes:
            assert stands.get(change.path) == change.before or event.command == "found"
            stands.pop(change.path, None)
            if change.after is not None:
                stands[change.path] = change.after
    assert {path: version.sha256 for path, version in stands.items()} == {
        path: None if held is None else sha256(os.fsencode(held)) for path, held in tree.items()
    }
    assert engine.reconcile() == 0


WAYS: dict[str, dict[str, str]] = {
    "one": {"a": "k"},
    "into new directories": {"a": "p/q/k", "b": "p/r/k"},
    "a swap": {"a": "b", "b": "a"},
    "a circle": {"a": "b", "b": "c", "c": "a"},
    "a chain": {"a": "b", "b": "c", "c": "k"},
    "a chain named backwards": {"c": "k", "b": "c", "a": "b"},
    "a swap that a chain waits for": {"a": "b", "b": "a", "c": "d/x", "d/x": "k"},
    "a directory": {"d": "k/d"},
    "two directories that swap": {"d": "e", "e": "d"},
    "a directory, and another way for what is in it": {"d": "k", "d/x": "x", "d/s": "e/s"},
    "what is in a directory, into the same one under its new name": {"d": "k", "d/x": "k/xx"},
    "a file where its directory was": {"d/x": "d", "d": "k"},
    "a directory below what was in it": {"d/s": "k", "d": "k/d"},
    "a file into a directory of its own name": {"a": "a/a.md"},
    "to where a directory was": {"d": "k", "a": "d/x", "b": "d/s/y"},
    "two directories into each other": {"d": "e/d", "e": "d/e"},
    "a directory to where the one was that held it": {"d/s": "d", "d": "k"},
}


@pytest.mark.parametrize("pairs", WAYS.values(), ids=WAYS)
def test_many_moves_are_one_event_and_one_undo(filled: Any, pairs: dict[str, str]) -> None:
    engine, before = filled.main, filled.tree()
    count = engine.get_head()[0]
    restored = engine.files.move(pairs)
    assert (restored.skipped, restored.problem) == ((), "")
    assert filled.tree() == moved(before, pairs)
    assert engine.get_head()[0] == count + 1
    insist_on_truth(engine, filled.tree())
    event = engine.history.get_event(count + 1)
    assert event == restored.event
    for new, old in find_moves(event).items():
        assert engine.history.versions_of(new)[0].moved_from == old
        assert len(engine.history.versions_of(new)) > 1
    undone = engine.undo([event.seq])
    assert (undone.skipped, undone.problem) == ((), "")
    assert filled.tree() == before
    insist_on_truth(engine, before)
    redone = engine.undo([undone.event.seq])
    assert redone.problem == ""
    assert filled.tree() == moved(before, pairs)
    insist_on_truth(engine, filled.tree())


NAMES = ("a", "b", "d", "d/x", "d/s", "d/s/y", "e", "e/z", "k", "k/l", "d/k", "a/m", "e/d")


@given(st.dictionaries(st.sampled_from(NAMES[:8]), st.sampled_from(NAMES), min_size=1, max_size=5))
def test_whatever_is_moved_all_of_it_is_or_nothing(pairs: dict[str, str]) -> None:
    store = MemoryStore()
    with Engine(store, Journal(None)) as engine:
        for path, text in NOTES.items():
            engine.files.create(path, text.encode())
        before = {entry.path: engine.inspect_path(entry.path).data for entry in engine.iter_names()}
        restored = engine.files.move(pairs)
        after = {entry.path: engine.inspect_path(entry.path).data for entry in engine.iter_names()}
        if restored.event is None:
            assert restored.problem
            assert after == before
            return
        assert after == moved(before, {old: new for old, new in pairs.items() if old != new})
        insist_on_truth(engine, after)
        assert engine.undo([restored.event.seq]).problem == ""
        assert {entry.path: engine.inspect_path(entry.path).data for entry in engine.iter_names()} == before


@given(
    st.dictionaries(st.sampled_from(NAMES[:8]), st.sampled_from(NAMES), min_size=1, max_size=5),
    st.sets(st.sampled_from(sorted(NOTES)), max_size=2),
)
def test_of_what_cannot_all_be_moved_some_is_and_its_history_goes_along(
    pairs: dict[str, str], changed: set[str]
) -> None:
    other = Version(EntryKind.FILE, sha256(b"something else"), 14)
    with Engine(MemoryStore(), Journal(None)) as engine:
        for path, text in NOTES.items():
            engine.files.create(path, text.encode())
        before = {entry.path: engine.inspect_path(entry.path).data for entry in engine.iter_names()}
        restored = engine.files.move(pairs, expected=dict.fromkeys(changed, other), partial=True)
        after = {entry.path: engine.inspect_path(entry.path).data for entry in engine.iter_names()}
        assert "another program" not in restored.problem
        done = {} if restored.event is None else find_moves(restored.event)
        assert after == moved(before, {old: new for new, old in done.items()})
        concerned = {path for path in changed if any(path == old or path.startswith(f"{old}/") for old in pairs)}
        assert not concerned & set(done.values())
        for new, old in done.items():
            assert engine.history.versions_of(new)[0].moved_from == old
        assert engine.history.find_deleted() == []
        insist_on_truth(engine, after)
        if restored.event is not None:
            assert engine.undo([restored.event.seq]).problem == ""
            assert {entry.path: engine.inspect_path(entry.path).data for entry in engine.iter_names()} == before


def test_what_has_changed_since_is_not_moved_either_where_the_rest_would_be(filled: Any) -> None:
    before = filled.tree()
    engine = filled.main
    other = Version(EntryKind.FILE, sha256(b"else"), 4)
    restored = engine.files.move({"a": "k"}, expected={"a": other}, partial=True)
    assert ([left.reason for left in restored.skipped], restored.event) == ([SkipReason.CHANGED], None)
    assert restored.problem.startswith("Not moved: a has changed since")
    assert engine.files.move({"a": "b"}, partial=True).problem == "Not moved: b already exists."
    assert filled.tree() == before


def test_a_swap_of_which_one_was_changed_since_stays_and_that_is_said(filled: Any) -> None:
    engine = filled.main
    event = _event(engine.files.move({"a": "b", "b": "a"}))
    filled.ask(command="create", path="/memories/a", file_text="new")
    before = filled.tree()
    for partial in (False, True):
        undone = engine.undo([event.seq], partial=partial)
        assert undone.event is None
        assert undone.problem.startswith("Not undone: a has changed since")
        assert [(left.path, left.reason) for left in undone.skipped] == [
            ("a", SkipReason.CHANGED),
            ("a", SkipReason.IN_THE_WAY),
        ]
    assert filled.tree() == before


def test_of_many_the_only_one_that_could_be_moved_is_told_as_one(filled: Any) -> None:
    engine = filled.main
    event = engine.files.move({"a": "k", "b": "c"}, partial=True).event
    assert event is not None
    assert (event.path, event.new_path, event.moved, event.note) == ("/memories/a", "/memories/k", (), "")
    stopped = engine.files.move({"k": "l", "c": "m"}, progress=lambda done, _: done < 1).event
    assert stopped is not None
    assert (stopped.path, stopped.new_path) == ("/memories/k", "/memories/l")
    assert [row.path for row in engine.history.versions_of("l")] == ["l", "k", "a"]
    assert engine.history.find_deleted() == []


class Killed(BaseException):
    """Stands for the end of the process."""


class Dying(StandIn):
    """A store in which the process dies before or after so many things were moved."""

    def __init__(self, store: Any, moves: int, *, after: bool, exchanges: bool = True) -> None:
        super().__init__(store)
        self.left = moves
        self.exchanges = exchanges
        self._after = after

    @contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Any]:
        with self._real.begin_transaction(seconds, optimistic=optimistic) as transaction:
            yield _Dying(transaction, self)

    def step(self, rename: Callable[[], Any]) -> Any:
        if self.left:
            self.left -= 1
            return rename()
        if self._after:
            rename()
        raise Killed


class _Dying(StandIn):
    def __init__(self, transaction: Any, dying: Dying) -> None:
        super().__init__(transaction)
        self._dying = dying

    def rename(self, old: Any, new: Any) -> Any:
        return self._dying.step(lambda: self._real.rename(old, new))

    def exchange(self, one: Any, other: Any) -> Any:
        return self._dying.exchanges and self._dying.step(lambda: self._real.exchange(one, other))


@pytest.mark.sweep(keep=20)
@pytest.mark.parametrize("exchanges", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("pairs", [WAYS[name] for name in WAYS if name != "one"])
def test_a_death_between_any_two_moves_hides_nothing_and_is_told(
    plain_world: Any, pairs: dict[str, str], after: bool, exchanges: bool
) -> None:
    world = plain_world
    for path, text in NOTES.items():
        world.put(path, text)
    world.main.reconcile()
    before = world.tree()
    for number in range(20):
        dying = Dying(world.store(), number, after=after, exchanges=exchanges)
        engine = world.engine(store=dying)
        try:
            restored = engine.files.move(pairs)
        except Killed:
            restored = None
        later = world.engine()
        tree = world.tree()
        texts = Counter(held for held in tree.values() if held is not None)
        assert texts == Counter(held for held in before.values() if held is not None)
        insist_on_truth(later, tree)
        last = next(event for event in reversed(list(later.events())) if event.command == "rename")
        if restored is not None:
            assert number > 0
            return
        assert last.note.startswith(("recovered", "aborted"))
        if last.changes:
            assert later.undo([last.seq]).problem == ""
        assert world.tree() == before
        insist_on_truth(later, before)
    raise AssertionError("it never came to its end")


@pytest.mark.parametrize("name", ["a circle", "two directories that swap", "a file into a directory of its own name"])
def test_a_death_while_that_is_mended_hides_nothing_either(plain_world: Any, name: str) -> None:
    world = plain_world
    for path, text in NOTES.items():
        world.put(path, text)
    world.main.reconcile()
    before = world.tree()
    for first, second, after in product(range(1, 5), range(4), (False, True)):
        engine = world.engine(store=Dying(world.store(), first, after=after, exchanges=False))
        try:
            engine.files.move(WAYS[name])
        except Killed:
            with suppress(Killed):
                world.engine(store=Dying(world.store(), second, after=after))
        later = world.engine()
        tree = world.tree()
        assert Counter(filter(None, tree.values())) == Counter(filter(None, before.values()))
        insist_on_truth(later, tree)
        assert not [path for path in tree if ".memtui" in path]
        last = next(event for event in reversed(list(later.events())) if event.command == "rename")
        if last.changes:
            assert later.undo([last.seq]).problem == ""
        assert world.tree() == before


class Stuck(Dying):
    """A store that moves nothing."""

    def step(self, rename: Callable[[], Any]) -> Any:  # noqa: ARG002
        raise PermissionError(13, "Permission denied")


def test_what_cannot_be_brought_in_sight_now_waits_for_a_writer_who_can(plain_world: Any) -> None:
    world = plain_world
    for path, text in NOTES.items():
        world.put(path, text)
    world.main.reconcile()
    with pytest.raises(Killed):
        world.engine(store=Dying(world.store(), 1, after=False, exchanges=False)).files.move(
            {"d/x": "d/s/y", "d/s/y": "d/x"}
        )
    stuck = world.engine(store=Stuck(world.store(), 0, after=False))
    assert not world.ask(stuck, command="create", path="/memories/k", file_text="").is_error
    assert stuck.journal.get_intents()
    assert "d/x" not in {entry.path for entry in stuck.iter_names()}
    assert world.engine().inspect_path("d/x").data == b"Y\n"  # it was gone on with
    assert Counter(filter(None, world.tree().values())) == Counter(text.encode() for text in NOTES.values())


def test_a_name_for_a_moment_is_seen_by_no_look(world: Any) -> None:
    world.put("d/x", "x\n")
    world.main.reconcile()
    store = world.main.store
    place = MemoryPath.from_relative("d/x")
    with store.begin_transaction(1) as transaction:
        passing = transaction.make_temporary_path(place)
        assert passing.parent == place.parent
        transaction.rename(place, passing)
        assert store.get_node(passing) is None
        assert [node.path for node in store.scan(MemoryPath())] == ["d"]
        assert [entry.path for entry in store.iter_names()] == ["d"]
        transaction.rename(passing, place)
    assert world.tree()["d/x"] == b"x\n"


@pytest.mark.parametrize("pairs", [WAYS["a swap"], WAYS["a circle"], WAYS["two directories that swap"]])
def test_what_takes_each_others_places_is_in_sight_all_the_time(plain_world: Any, pairs: dict[str, str]) -> None:
    world = plain_world
    for path, text in NOTES.items():
        world.put(path, text)
    world.main.reconcile()
    seen: list[int] = []

    class Watched(Dying):
        def step(self, rename: Callable[[], Any]) -> Any:
            done = rename()
            seen.append(len(world.tree()))
            return done

    count = len(world.tree())
    assert world.engine(store=Watched(world.store(), 0, after=False)).files.move(pairs).problem == ""
    assert set(seen) == {count}
    assert len(seen) == len(pairs) - 1


def test_what_stands_at_a_new_name_is_never_written_over(filled: Any) -> None:
    before = filled.picture()
    restored = filled.main.files.move({"a": "b", "c": "k"})
    assert [(left.path, left.reason) for left in restored.skipped] == [("b", SkipReason.TAKEN)]
    assert restored.problem == "Not moved: b already exists."
    assert filled.picture() == before


def test_what_can_be_moved_is_if_that_is_wanted_and_what_waits_for_the_rest_stays(filled: Any) -> None:
    restored = filled.main.files.move({"a": "b", "b": "c", "c": "d", "e/z": "k"}, partial=True)
    assert {left.path for left in restored.skipped} == {"d", "c", "b"}
    assert "k" in filled.tree()
    assert filled.tree()["b"] == b"B\n"


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ({"nothing": "k"}, SkipReason.MISSING),
        ({"a": "k", "b": "k"}, SkipReason.TWICE),
        ({"d": "d/s/d"}, SkipReason.INTO_ITSELF),
        ({"a": "b/k"}, SkipReason.IN_THE_WAY),
        ({"a": "k\u202e"}, SkipReason.BAD_NAME),
        ({"a": "k/../b"}, SkipReason.BAD_NAME),
        ({"a": "k\nl"}, SkipReason.BAD_NAME),
        ({"a": "x" * 256}, SkipReason.BAD_NAME),
        ({"a": ""}, SkipReason.BAD_NAME),
    ],
)
def test_what_cannot_be_moved_is_told_and_nothing_is(filled: Any, pairs: dict[str, str], why: SkipReason) -> None:
    before = filled.picture()
    restored = filled.main.files.move(pairs)
    assert why in {left.reason for left in restored.skipped}
    assert restored.event is None
    assert restored.problem.startswith("Not moved: ")
    assert filled.picture() == before


def test_a_path_that_is_none_is_a_mistake_of_the_caller(filled: Any) -> None:
    for wrong in ("", "../a", "/a", "d//x", "./a"):
        with pytest.raises(ValueError, match="not a path"):
            filled.main.files.move({wrong: "k"})
        with pytest.raises(ValueError, match="not a path"):
            filled.main.files.delete([wrong])


def test_a_rehearsal_tells_and_changes_nothing(filled: Any) -> None:
    before, head = filled.picture(), filled.main.get_head()
    for rehearsed in (
        filled.main.files.move({"a": "b", "b": "a"}, rehearse=True),
        filled.main.files.copy({"d": "k"}, rehearse=True),
        filled.main.files.delete(["d"], rehearse=True),
    ):
        assert rehearsed.changes
        assert rehearsed.event is None
    assert (filled.picture(), filled.main.get_head()) == (before, head)


def test_what_has_changed_since_it_was_seen_is_not_touched(filled: Any) -> None:
    seen = Version(EntryKind.FILE, sha256(b"A\n"), 2)
    filled.put("a", "another\n")
    files, expected = filled.main.files, {"a": seen}
    results = (
        files.move({"a": "k"}, expected=expected),
        files.copy({"a": "k"}, expected=expected),
        files.delete(["a"], expected=expected),
    )
    assert [restored.skipped[0].reason for restored in results] == [SkipReason.CHANGED] * 3
    assert filled.tree()["a"] == b"another\n"


def test_it_can_be_stopped_and_what_was_done_is_one_event(filled: Any) -> None:
    before = filled.tree()
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> bool:
        told.append((done, total))
        return done < 2

    restored = filled.main.files.move({"a": "k/a", "b": "k/b", "c": "k/c", "e": "k/e"}, progress=progress)
    assert told == [(1, 4), (2, 4)]
    assert {left.reason for left in restored.skipped} == {SkipReason.STOPPED}
    assert len(restored.skipped) == 2
    assert restored.event.note == "2 files"
    insist_on_truth(filled.main, filled.tree())
    assert filled.main.undo([restored.event.seq]).problem == ""
    assert filled.tree() == before


def test_stopping_never_leaves_a_circle_open(filled: Any) -> None:
    before = filled.tree()
    restored = filled.main.files.move(WAYS["a circle"], progress=lambda *_: False)
    assert (restored.skipped, restored.problem) == ((), "")
    assert filled.tree() == moved(before, WAYS["a circle"])
    insist_on_truth(filled.main, filled.tree())


class Refusing(Dying):
    """A store that refuses one move with an error."""

    def step(self, rename: Callable[[], Any]) -> Any:
        self.left -= 1
        if self.left == 0:
            raise PermissionError(13, "Permission denied")
        return rename()


@pytest.mark.parametrize("exchanges", [False, True])
@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize("name", ["a circle", "a chain", "two directories that swap", "into new directories"])
def test_a_move_that_fails_in_the_middle_leaves_nothing_out_of_sight(
    filled: Any, name: str, number: int, exchanges: bool
) -> None:
    before = filled.tree()
    store = Refusing(filled.store(), number, after=False, exchanges=exchanges)
    engine = filled.engine(store=store, journal=filled.main.journal)
    restored = engine.files.move(WAYS[name])
    tree = filled.tree()
    assert Counter(held for held in tree.values() if held) == Counter(held for held in before.values() if held)
    insist_on_truth(filled.main, tree)
    if restored.event is None:
        assert tree == before
        assert restored.problem == "Not moved: permission denied. Nothing was changed."
    else:
        assert filled.main.undo([restored.event.seq]).problem == ""
        assert filled.tree() == before


def test_a_name_that_differs_in_case_only_is_a_name(filled: Any) -> None:
    assert filled.main.files.move({"a": "A", "d": "D"}).problem == ""
    assert {"A", "D/x"} <= filled.tree().keys()
    assert not {"a", "d"} & filled.tree().keys()


def test_copies_are_new_files_with_the_same_texts(filled: Any) -> None:
    if filled.folder is not None:
        (filled.folder / "d/to-a").symlink_to("../a")
    before = filled.tree()
    restored = filled.main.files.copy({"d": "k/d", "a": "k/a"})
    assert (restored.skipped, restored.problem) == ((), "")
    tree = filled.tree()
    assert {path: held for path, held in tree.items() if not path.startswith("k")} == before
    assert {path[4:]: held for path, held in tree.items() if path.startswith("k/d/")} == {
        path[2:]: held for path, held in before.items() if path.startswith("d/")
    }
    insist_on_truth(filled.main, tree)
    assert filled.main.undo([restored.event.seq]).problem == ""
    assert filled.tree() == before


def test_a_copy_is_never_written_over_anything(filled: Any) -> None:
    before = filled.picture()
    for copies in ({"a": "b"}, {"a": "a"}, {"d": "d/s/k"}, {"a": "k", "b": "k"}, {"nothing": "k"}, {"a": "k\u200b"}):
        restored = filled.main.files.copy(copies)
        assert restored.skipped
        assert restored.problem.startswith("Not copied: ")
    assert filled.picture() == before


def test_a_text_that_nobody_has_looked_at_is_copied_and_kept(filled: Any) -> None:
    filled.put("new", "never seen\n")
    assert filled.main.files.copy({"new": "k"}).problem == ""
    assert filled.tree()["k"] == b"never seen\n"
    insist_on_truth(filled.main, filled.tree())


def test_what_is_deleted_comes_back_with_one_undo(filled: Any) -> None:
    before = filled.tree()
    restored = filled.main.files.delete(["d", "a", "d/x"])
    assert (restored.skipped, restored.problem) == ((), "")
    assert filled.tree().keys() == {"b", "c", "e", "e/z"}
    assert {gone.path for gone in filled.main.history.find_deleted()} == {"a", "d/x", "d/s/y"}
    insist_on_truth(filled.main, filled.tree())
    assert filled.main.undo([restored.event.seq]).problem == ""
    assert filled.tree() == before


def test_a_link_is_deleted_moved_and_copied_itself(folder_world: Any) -> None:
    folder_world.put("d/x", "x\n")
    (folder_world.folder / "to-d").symlink_to("d")
    files = folder_world.main.files
    assert files.move({"to-d": "link"}).problem == ""
    assert files.copy({"link": "copy"}).problem == ""
    assert files.delete(["link"]).problem == ""
    assert os.readlink(folder_world.folder / "copy") == "d"
    assert files.move({"copy/x": "copy/y"}).problem == ""  # through it
    assert folder_world.tree() == {"copy": "d", "d": None, "d/y": b"x\n"}


def test_a_link_that_leads_out_is_no_way_out(folder_world: Any, tmp_path: Path) -> None:
    outside = fill(tmp_path / "outside", {"canary": "canary\n"})
    folder_world.put("a", "a\n")
    (folder_world.folder / "out").symlink_to(outside)
    before = tree_of(outside)
    files = folder_world.main.files
    for restored in (
        files.move({"out/canary": "k"}),
        files.move({"a": "out/k"}),
        files.copy({"out/canary": "k"}),
        files.copy({"a": "out/k"}),
        files.delete(["out/canary"]),
        files.create("out/k", b"k\n"),
        files.make_directory("out/k"),
    ):
        assert restored.event is None
        assert restored.problem
    assert tree_of(outside) == before
    assert folder_world.tree().keys() == {"a", "out"}


def test_a_fifo_can_be_deleted_and_is_never_opened(folder_world: Any) -> None:
    os.mkfifo(folder_world.folder / "pipe")
    folder_world.main.reconcile()
    assert folder_world.main.files.copy({"pipe": "k"}).skipped[0].reason is SkipReason.NO_FILE
    assert folder_world.main.files.move({"pipe": "other"}).problem == ""
    assert folder_world.main.files.delete(["other"]).problem == ""
    assert folder_world.tree() == {}


def test_what_cannot_be_kept_is_moved_and_deleted_and_that_is_said(plain_world: Any) -> None:
    plain_world.put("large", "x" * 2_000)
    engine = plain_world.engine(max_read_bytes=1_000)
    moved = engine.files.move({"large": "k"})
    assert (moved.problem, moved.unkept) == ("", 0)
    assert plain_world.tree() == {"k": b"x" * 2_000}
    assert (engine.can_be_kept("k"), engine.can_be_kept("none")) == (False, True)
    gone = engine.files.delete(["k"])
    assert (gone.problem, gone.unkept) == ("", 1)
    assert plain_world.tree() == {}


def test_a_new_note_and_a_new_folder_are_made_where_nothing_stands(filled: Any) -> None:
    files = filled.main.files
    assert files.create("k/l/new.md", b"new\n", note="project").event.note == "project"
    assert files.make_directory("k/m").problem == ""
    assert files.create("a", b"mine\n").problem == "Not created: a already exists."
    assert files.create("a", b"A\n").problem == "Not created: a already exists."  # also what is the same
    assert files.make_directory("d").problem == "Not created: d already exists."
    assert files.create("a/b", b"").skipped[0].reason is SkipReason.IN_THE_WAY
    assert files.create("k\u2066", b"").skipped[0].reason is SkipReason.BAD_NAME
    assert filled.tree()["k/l/new.md"] == b"new\n"
    assert filled.tree()["a"] == b"A\n"
    insist_on_truth(filled.main, filled.tree())


@pytest.mark.parametrize("actor", ["you", "agent"])
def test_what_went_unseen_with_its_directory_is_told_before_something_else_takes_its_name(
    folder_world: Any, actor: str
) -> None:
    for path, text in NOTES.items():
        folder_world.put(path, text)
    folder_world.put("f/x", "another X\n")
    engine = folder_world.main
    engine.reconcile()
    shutil.rmtree(folder_world.folder / "d")
    if actor == "you":
        assert engine.files.move({"f": "d"}).event is not None
    else:
        assert not folder_world.ask(command="rename", old_path="/memories/f", new_path="/memories/d").is_error
    engine.reconcile()
    insist_on_truth(engine, folder_world.tree())
    found, _ = [event for event in engine.events() if any(change.path == "d/x" for change in event.changes)][-2:]
    assert (found.command, found.is_outside) == ("deleted", True)


def test_a_read_only_memory_moves_nothing(plain_world: Any) -> None:
    plain_world.put("a", "a\n")
    plain_world.main.reconcile()
    files = Engine(plain_world.store(), plain_world.main.journal, read_only=True).files
    words = "this session is read-only. Nothing was written."
    assert files.move({"a": "k"}).problem == f"Not moved: {words}"
    assert files.copy({"a": "k"}).problem == f"Not copied: {words}"
    assert files.delete(["a"]).problem == f"Not deleted: {words}"
    assert files.create("k").problem == f"Not created: {words}"
    assert files.move({"a": "k"}, rehearse=True).changes


def many(count: int) -> dict[str, str]:
    """Moves of every sort: plain ones, swaps, a chain, into new directories."""
    quarter = count // 4
    pairs = {f"n{number}": f"m{number}" for number in range(quarter)}
    for number in range(quarter, 2 * quarter, 2):
        pairs |= {f"n{number}": f"n{number + 1}", f"n{number + 1}": f"n{number}"}
    pairs |= {f"n{number}": f"n{number + 1}" for number in range(2 * quarter, 3 * quarter)}
    return pairs | {f"n{number}": f"p/{number % 7}/n{number}" for number in range(3 * quarter, count)}


def test_500_names_are_changed_in_one_event_and_back_in_one_undo(plain_world: Any) -> None:
    for number in range(500):
        plain_world.put(f"n{number}", f"{number}\n")
    engine = plain_world.main
    engine.reconcile()
    before = plain_world.tree()
    pairs = many(500)
    pairs |= {"n374": "n375"}  # the end of the chain, where something went away
    event = _event(engine.files.move(pairs))
    assert plain_world.tree() == moved(before, pairs)
    assert event.note == "500 files"
    assert len(find_moves(event)) == 500
    insist_on_truth(engine, plain_world.tree())
    assert engine.history.versions_of("n126")[0].moved_from == "n125"
    assert [row.path for row in engine.history.versions_of("p/6/n377")] == ["p/6/n377", "n377"]
    undone = _event(engine.undo([event.seq]))
    assert undone.note == f"#{event.seq} rename, 500 files"
    assert plain_world.tree() == before
    insist_on_truth(engine, before)


def _event(restored: ActionResult) -> Event:
    assert (restored.skipped, restored.problem) == ((), "")
    assert restored.event is not None
    return restored.event


DIES = """
import json
import os
import signal
import sys
import memtui

folder, state, number, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
with memtui.open(folder, state=state) as memory:
    die = lambda done, total: done != number or os.kill(os.getpid(), signal.SIGKILL)
    memory.files.move(pairs, progress=die)
"""


@pytest.mark.parametrize("number", [1, 131, 500])
def test_a_kill_in_the_middle_of_500_moves_loses_nothing_and_can_be_taken_back(
    tmp_path: Path, run_python: Callable[..., Any], number: int
) -> None:
    folder, state = tmp_path / "folder", tmp_path / "state"
    folder.mkdir()
    for each in range(500):
        (folder / f"n{each}").write_text(f"{each}\n")
    with memtui.open(folder, state=state) as memory:
        memory.reconcile()
        before = tree_of(folder)
        killed = run_python(DIES, folder, state, number, json.dumps({**many(500), "n374": "n375"}))
        assert killed.returncode == -9, killed.stderr
        memory.reconcile()
        tree = tree_of(folder)
        assert Counter(filter(None, tree.values())) == Counter(before.values())
        insist_on_truth(memory, tree)
        last = list(memory.events())[-1]
        assert (last.command, last.note.startswith("recovered after a crash")) == ("rename", True)
        assert abs(len(last.moved) - number) <= 2
        assert memory.undo([last.seq]).problem == ""
        assert tree_of(folder) == before
        assert not list(memory.journal.get_intents())
