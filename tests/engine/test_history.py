"""Every version of every path is found again, and every moment of the folder can be told."""

import os
import random
import shutil
from typing import Any

import pytest

import memtui
from memtui.core.events import EntryKind, Event
from memtui.engine import Engine
from tests.conftest import set_clock, settle

NAMES = ("a", "b", "d/a", "d/b", "d/e/c", "x/y/z")
LINES = ("one", "two", "three", "four", "five")


def text_of(random_: random.Random) -> str:
    return "".join(random_.choice(LINES) + "\n" for _ in range(random_.randrange(6)))


def do_something(world: Any, random_: random.Random) -> None:
    """One step of an agent, a person or somebody outside."""
    path, other = (f"/memories/{random_.choice(NAMES)}" for _ in range(2))
    match random_.randrange(9):
        case 0 | 1:
            world.ask(command="create", path=path, file_text=text_of(random_))
        case 2:
            world.ask(command="insert", path=path, insert_line=0, insert_text=random_.choice(LINES))
        case 3:
            world.ask(command="delete", path=random_.choice([path, os.path.dirname(path)]))
        case 4:
            world.ask(command="rename", old_path=random_.choice([path, os.path.dirname(path)]), new_path=other)
        case 5:
            put_outside(world, path.removeprefix("/memories/"), text_of(random_))
        case 6:
            remove_outside(world, path.removeprefix("/memories/"))
        case 7:
            event = world.main.history.get_undoable()
            if event is not None:
                world.main.undo([event.seq])
        case 8:
            event = world.main.history.get_redoable()
            if event is not None:
                world.main.undo([event.seq])
    world.main.reconcile()


def put_outside(world: Any, name: str, text: str) -> None:
    try:
        world.put(name, text)
    except (OSError, memtui.MemtuiError):
        pass  # something is in its way
    else:
        world.main.reconcile()


def remove_outside(world: Any, name: str) -> None:
    if world.folder is None:
        return
    target = world.folder / name
    if target.is_file():
        target.unlink()
    elif target.is_dir():
        shutil.rmtree(target)


def told(engine: Engine, at: int) -> dict[str, bytes | str | None]:
    """The folder at an event, as the history tells it."""
    state = engine.history.get_state(at)
    return {path: engine.history.text(v) if v.kind is EntryKind.FILE else None for path, v in state.items()}


@pytest.mark.parametrize("seed", range(6))
def test_the_folder_at_every_event_is_what_it_was(world: Any, seed: int) -> None:
    random_ = random.Random(seed)
    engine = world.main
    seen = {engine.get_head()[0]: world.tree()}
    for _ in range(25):
        do_something(world, random_)
        seen[engine.get_head()[0]] = world.tree()
    for at, tree in seen.items():
        assert told(engine, at) == tree, at
    moments = sorted(seen)
    for old, new in zip(moments, moments[3:], strict=False):
        before, after = engine.history.get_state(old), engine.history.get_state(new)
        changes = engine.history.diff_between(old, new)
        assert {c.path for c in changes} == {p for p in {*before, *after} if before.get(p) != after.get(p)}
        assert all((before.get(c.path), after.get(c.path)) == (c.before, c.after) for c in changes)
        back = {(c.path, c.after, c.before) for c in engine.history.diff_between(new, old)}
        assert back == {(c.path, c.before, c.after) for c in changes}


@pytest.mark.parametrize("seed", range(6))
def test_the_folder_can_be_had_again_as_it_was_at_every_event(world: Any, seed: int) -> None:
    random_ = random.Random(seed + 100)
    engine = world.main
    seen = {}
    for _ in range(12):
        do_something(world, random_)
        seen[engine.get_head()[0]] = world.tree()
    for at, tree in random_.sample(sorted(seen.items()), 6):
        before = engine.get_head()[0]
        restored = engine.restore_directory("", at)
        assert world.tree() == tree
        assert not restored.skipped
        assert engine.get_head()[0] - before <= 1
        if restored.event is not None:
            engine.undo([restored.event.seq])
            assert world.tree() == told(engine, before)
    engine.reconcile()
    assert engine.history.get_state(engine.get_head()[0]) == {
        path: known.version for path, known in engine.journal.get_known_below("").items()
    }


def test_a_history_goes_through_renames_and_deletions_newest_first(world: Any) -> None:
    world.ask(command="create", path="/memories/old", file_text="1\n")
    world.ask(command="create", path="/memories/old", file_text="1\n2\n")
    world.ask(command="rename", old_path="/memories/old", new_path="/memories/d/new")
    world.ask(command="insert", path="/memories/d/new", insert_line=0, insert_text="0")
    world.ask(command="rename", old_path="/memories/d", new_path="/memories/e")
    world.ask(command="delete", path="/memories/e/new")
    rows = world.main.history.versions_of("e/new")
    assert [(row.sign, row.path) for row in rows] == [
        ("-", "e/new"),
        (">", "e/new"),
        ("~", "d/new"),
        (">", "d/new"),
        ("~", "old"),
        ("+", "old"),
    ]
    assert rows[1].moved_from == "d/new"
    assert world.main.history.versions_of("old")[0].moved_to == "d/new"
    assert [row.event.seq for row in world.main.history.versions_of("e/new", limit=2)] == [
        row.event.seq for row in rows[:2]
    ]


def test_what_stood_at_a_name_before_is_part_of_its_history(world: Any) -> None:
    world.ask(command="create", path="/memories/name", file_text="first life\n")
    world.ask(command="delete", path="/memories/name")
    world.ask(command="create", path="/memories/other", file_text="x\n")
    world.ask(command="rename", old_path="/memories/other", new_path="/memories/name")
    rows = world.main.history.versions_of("name")
    assert [(row.sign, row.path) for row in rows] == [(">", "name"), ("+", "other"), ("-", "name"), ("+", "name")]


def test_a_rename_to_and_fro_is_told_once(world: Any) -> None:
    world.ask(command="create", path="/memories/a", file_text="x\n")
    for _ in range(6):
        world.ask(command="rename", old_path="/memories/a", new_path="/memories/b")
        world.ask(command="rename", old_path="/memories/b", new_path="/memories/a")
    rows = world.main.history.versions_of("a")
    assert len(rows) == len({(row.event.seq, row.path) for row in rows}) == 13
    assert [row.event.seq for row in rows] == sorted((row.event.seq for row in rows), reverse=True)


def test_what_was_found_at_first_stood_there_before(folder_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memtui.engine.reconcile, "BATCH", 4)
    monkeypatch.setattr(memtui.engine.reconcile.iter_batches, "__defaults__", (4,))
    for number in range(20):
        (folder_world.folder / f"n{number:02}").write_text(f"{number}\n")
    folder_world.main.reconcile()
    engine, before = folder_world.main, folder_world.tree()
    found = engine.get_head()[0]
    assert found > 3
    for at in range(found + 1):
        assert told(engine, at) == before
        assert engine.history.diff_between(at, found) == []
        assert engine.history.get_version_at("n19", at) is not None
    folder_world.ask(command="create", path="/memories/n00", file_text="changed\n")
    folder_world.ask(command="delete", path="/memories/n01")
    folder_world.ask(command="create", path="/memories/new", file_text="new\n")
    changed = folder_world.tree()
    assert engine.restore_directory("", 1).problem == ""
    assert folder_world.tree() == before
    assert engine.undo([engine.get_head()[0]]).problem == ""
    assert folder_world.tree() == changed
    assert engine.history.find_step(found + 1, -1).seq == found
    assert engine.history.find_step(found, -1) is None
    assert engine.history.find_step(0, 1).seq == found + 1


def lines_and_writers(engine: Engine, path: str, data: bytes) -> list[tuple[str, int | None]]:
    blame = engine.history.blame(path, data)
    return [
        (line, event.seq if event else None)
        for line, event in zip(data.decode().splitlines(), blame.lines, strict=True)
    ]


def test_each_line_is_blamed_on_the_event_that_wrote_it(world: Any) -> None:
    def ask(**command: object) -> int:
        return int(world.ask(**command).event.seq)

    first = ask(command="create", path="/memories/n", file_text="a\nb\nc\n")
    second = ask(command="str_replace", path="/memories/n", old_str="b", new_str="B")
    third = ask(command="insert", path="/memories/n", insert_line=0, insert_text="top")
    ask(command="rename", old_path="/memories/n", new_path="/memories/m")
    world.put("m", "top\na\nB\nc\noutside\n")
    world.main.reconcile()
    outside = world.main.get_head()[0]
    wrote = [("top", third), ("a", first), ("B", second), ("c", first), ("outside", outside)]
    assert lines_and_writers(world.main, "m", world.tree()["m"]) == wrote
    assert world.main.history.blame("m", b"a\nb\nc\n", at=first).lines == (world.main.history.get_event(first),) * 3
    ask(command="delete", path="/memories/m")
    world.main.undo([world.main.history.get_undoable().seq])
    assert lines_and_writers(world.main, "m", world.tree()["m"]) == wrote  # not on what brought it back
    unknown = world.main.history.blame("m", b"a\nnever recorded\nc\n")
    assert unknown.lines[1] is None
    assert not unknown.complete


def test_a_missing_text_ends_the_search_for_who_wrote_a_line(world: Any) -> None:
    world.ask(command="create", path="/memories/n", file_text="secret\nb\n")
    edit = world.ask(command="create", path="/memories/n", file_text="b\nc\n").event
    world.main.redact(event=1, reason="it must go")
    blame = world.main.history.blame("n", b"b\nc\n")
    assert [event.seq for event in blame.lines if event] == [edit.seq, edit.seq]
    assert not blame.complete


def test_what_was_deleted_is_found_and_what_was_moved_is_not_gone(world: Any) -> None:
    world.ask(command="create", path="/memories/d/a", file_text="1\n")
    world.ask(command="create", path="/memories/d/b", file_text="2\n")
    world.ask(command="create", path="/memories/c", file_text="3\n")
    world.ask(command="rename", old_path="/memories/c", new_path="/memories/moved")
    gone = world.ask(command="delete", path="/memories/d").event
    found = world.main.history.find_deleted()
    assert [(each.path, each.event.seq, each.is_stored) for each in found] == [
        ("d/a", gone.seq, True),
        ("d/b", gone.seq, True),
    ]
    assert world.main.history.text(found[1].version) == b"2\n"
    restored = world.main.restore({"d/b": found[1].version})
    assert restored.problem == ""
    assert world.tree()["d/b"] == b"2\n"
    assert [each.path for each in world.main.history.find_deleted()] == ["d/a"]


def test_steps_go_from_change_to_change_and_times_find_their_event(world: Any) -> None:
    clock = [1_000_000_000]
    set_clock(world.main, lambda: clock[0] * 1_000)
    for at, name in ((10, "a"), (20, "b"), (15, "c")):  # the clock ran backwards once
        clock[0] = at
        world.ask(command="create", path=f"/memories/{name}", file_text="x\n")
        world.ask(command="view", path=f"/memories/{name}")
    settle(world.main)
    history = world.main.history
    assert history.find_step(0, 1).seq == 1
    assert history.find_step(1, 1).seq == 3
    assert history.find_step(6, -1).seq == 5
    assert history.find_step(5, 1) is None
    assert history.find_step(1, -1) is None
    assert [history.find_seq_at(at) for at in (9, 10, 14, 15, 19, 20, 99)] == [0, 2, 2, 6, 6, 6, 6]


def test_the_record_in_numbers(world: Any) -> None:
    world.ask(command="create", path="/memories/a", file_text="x" * 600)
    world.ask(command="create", path="/memories/a", file_text="y" * 700)
    world.ask(command="view", path="/memories/a")
    world.put("b", "outside")
    world.main.reconcile()
    stats = world.main.history.get_stats()
    assert (stats.events, stats.versions, stats.redacted, stats.text_bytes) == (4, 3, 0, 1307)
    assert 0 < stats.kept_bytes <= stats.text_bytes
    assert (stats.kept_bytes < stats.text_bytes) == (world.state is not None)  # packed on a disk only
    assert [(share.name, share.events, share.versions, share.bytes) for share in stats.paths] == [
        ("a", 2, 2, 1300),
        ("b", 1, 1, 7),
    ]
    assert [(share.name, share.events) for share in stats.actors] == [("tester", 3), ("outside", 1)]
    assert isinstance(stats.last, Event)
    assert (stats.journal_bytes > 0) == (world.state is not None)


def test_the_lines_of_then_are_blamed_on_those_of_then(world: Any) -> None:
    first = world.ask(command="create", path="/memories/p", file_text="p\n").event
    world.ask(command="create", path="/memories/q", file_text="q\n")
    world.ask(command="delete", path="/memories/p")
    world.ask(command="rename", old_path="/memories/q", new_path="/memories/p")
    assert world.main.history.blame("p", b"p\n", at=first.seq).lines == (first,)
