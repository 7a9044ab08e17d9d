"""A file renamed over a note is one change of that note: its identity is its path, what stood there its version before.

The ways in which programs write a note are played step by step, with every choice of looks in between.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import Change, Event, Outside
from memtui.core.paths import MemoryPath
from memtui.engine import reconcile
from memtui.journal.record import KnownPath
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review
from tests.conftest import World

OLD, NEW = "one\ntwo\nthree\n", "one\n2\nthree\nfour\n"
Way = Callable[[Path], Iterator[None]]


def renamed_over(name: str) -> Way:
    def steps(folder: Path) -> Iterator[None]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(NEW)
        yield
        os.replace(folder / name, folder / "ops/a.md")

    return steps


def written_in_parts(folder: Path) -> Iterator[None]:
    """As the class of the SDK: the file is there before its text is."""
    temporary = folder / "ops/.tmp-1-abc"
    temporary.touch()
    yield
    temporary.write_text(NEW[:6])
    yield
    temporary.write_text(NEW)
    yield
    os.replace(temporary, folder / "ops/a.md")


def vim(folder: Path, back_up: Callable[[Path, Path], object] = os.rename) -> Iterator[None]:
    """The note becomes the backup, which goes once the note is written anew."""
    note, backup = folder / "ops/a.md", folder / "ops/a.md~"
    back_up(note, backup)
    yield
    note.write_text(NEW)
    yield
    backup.unlink()


def checked_out(folder: Path) -> Iterator[None]:
    """As git does: the note goes, and is made anew."""
    (folder / "ops/a.md").unlink()
    yield
    (folder / "ops/a.md").write_text(NEW)


WAYS: dict[str, tuple[int, Way]] = {
    "in the same folder": (1, renamed_over("ops/.tmp-1-abc")),
    "in another folder": (1, renamed_over(".staging")),
    "under a visible name": (1, renamed_over("ops/sedAbC123")),
    "as Claude Code": (1, renamed_over("ops/a.md.tmp.4711.f00d")),
    "as rsync": (1, renamed_over("ops/.a.md.Xy12Zw")),
    "in parts": (3, written_in_parts),
    "vim": (2, vim),
    "vim, copied (`backupcopy=yes`)": (2, partial(vim, back_up=shutil.copy2)),
    "git": (1, checked_out),
}
PLAYED = [
    pytest.param(way, looks, id=f"{name}, looks {''.join(map(str, map(int, looks)))}")
    for name, (steps, way) in WAYS.items()
    for looks in product((False, True), repeat=steps)
]


def play(world: World, way: Way, looks: Sequence[bool]) -> None:
    assert world.folder is not None
    for look, _ in zip((*looks, False), chain(way(world.folder), [None]), strict=True):
        if look:
            world.main.reconcile()
    world.main.reconcile()


def begin(world: World, **files: str) -> int:
    for path, text in {"ops/a.md": OLD, **files}.items():
        world.put(path, text)
    world.main.reconcile()
    return world.main.get_head()[0]


def read_since(world: World, seq: int) -> list[Event]:
    return list(world.main.history.read_events(world.main.events(seq)))


def require_one_change(world: World, seq: int, before: dict[str, bytes], path: str = "ops/a.md") -> Event:
    """What the log, history, blame, review, deleted memories and undo say of one change of a note."""
    engine = world.main
    (event,) = read_since(world, seq)
    (change,) = event.changes
    assert (event.command, event.path, event.new_path) == ("modified", f"/memories/{path}", None)
    assert (event.added, event.removed, change.path) == (2, 1, path)
    assert [engine.history.text(each) for each in (change.before, change.after)] == [OLD.encode(), NEW.encode()]
    assert engine.history.get_event(event.seq) == event

    newest, *older = engine.history.versions_of(path)
    assert (newest.sign, newest.before, newest.after) == ("~", change.before, change.after)
    assert newest.event == event
    assert [row.event.seq for row in older if row.path == path and row.event.seq > seq] == []
    blame = engine.history.blame(path, NEW.encode())
    assert [line and line.seq > seq for line in blame.lines] == [False, True, False, True]
    (file,) = build_inbox(engine, Review(), since=seq).files
    assert (file.sign, file.path, file.previous_path) == ("~", path, "")
    assert engine.history.find_deleted() == []
    assert not engine.journal.verify().findings

    undoable = engine.history.get_undoable()
    assert undoable is not None
    assert undoable.seq == event.seq
    undone = engine.undo([undoable.seq])
    assert not undone.problem
    assert files(world) == before
    assert engine.history.get_undoable() is None
    assert undone.event is not None
    assert not engine.undo([undone.event.seq]).problem
    assert files(world) == {**before, path: NEW.encode()}
    assert not engine.journal.verify().findings
    return event


def files(world: World) -> dict[str, bytes]:
    assert world.folder is not None
    return {
        str(each.relative_to(world.folder)): each.read_bytes() for each in world.folder.rglob("*") if each.is_file()
    }


@pytest.mark.parametrize(("way", "looks"), PLAYED)
def test_a_note_that_is_replaced_is_changed_once_whenever_somebody_looks(
    plain_world: World, way: Way, looks: Sequence[bool]
) -> None:
    begin_at = begin(plain_world)
    before = files(plain_world)
    play(plain_world, way, looks)
    require_one_change(plain_world, begin_at, before)


@pytest.mark.parametrize("hints", [["ops/.tmp-1-abc", "ops/a.md"], ["ops/a.md", "ops/.tmp-1-abc"]])
def test_both_ends_of_a_rename_may_be_seen_apart(plain_world: World, hints: list[str]) -> None:
    begun, before = begin(plain_world), files(plain_world)
    steps = renamed_over("ops/.tmp-1-abc")(plain_world.folder)  # type: ignore[arg-type]
    next(steps)
    plain_world.main.reconcile()
    next(steps, None)
    for hint in hints:
        plain_world.main.reconcile([hint])
    require_one_change(plain_world, begun, before)


@pytest.mark.parametrize("is_hinted", [False, True], ids=["whole", "hinted"])
@pytest.mark.parametrize("is_finished", [False, True], ids=["seen in parts", "seen whole"])
@pytest.mark.parametrize("path", ["ops/a.md", "ops/new.md"])
def test_a_rename_in_the_midst_of_a_look_is_one_change(
    plain_world: World, monkeypatch: pytest.MonkeyPatch, *, path: str, is_finished: bool, is_hinted: bool
) -> None:
    """The look passes the note's name before the rename, and the temporary one after it."""
    begun, before = begin(plain_world), files(plain_world)
    folder, engine = plain_world.folder, plain_world.main
    assert folder is not None
    name = f"{path}.tmp.4711"
    (folder / name).write_text(NEW if is_finished else NEW[:6])
    engine.reconcile()
    find_suspects = reconcile.find_suspects

    def rename_during(*arguments: Any, **options: Any) -> list[reconcile.Suspect]:
        (folder / name).write_text(NEW)
        found = find_suspects(*arguments, **options)  # finished names are not among them: they are as known
        os.replace(folder / name, folder / path)
        return found if not is_finished else [reconcile.Suspect(name, was_gone=True)]

    with monkeypatch.context() as patched:
        patched.setattr(reconcile, "find_suspects", rename_during)
        engine.reconcile([name] if is_hinted else None)
    engine.reconcile()
    assert "deleted" not in [each.command for each in engine.events(begun)]
    if path == "ops/a.md":
        require_one_change(plain_world, begun, before)
    else:
        (event,) = read_since(plain_world, begun)
        assert (event.command, event.path) == ("created", "/memories/ops/new.md")


def test_a_temporary_file_that_goes_while_it_is_read_was_never_there(
    plain_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, before = begin(plain_world), files(plain_world)
    store, read = plain_world.main.store, plain_world.main.store.read
    steps = renamed_over("ops/.tmp-1-abc")(plain_world.folder)  # type: ignore[arg-type]
    next(steps)

    def rename_first(path: MemoryPath, *, limit: int) -> object:
        next(steps, None)
        return read(path, limit=limit)

    monkeypatch.setattr(store, "read", rename_first)
    plain_world.main.reconcile()
    monkeypatch.undo()
    plain_world.main.reconcile()
    require_one_change(plain_world, begun, before)


def record_rename(world: World, old: str, new: str) -> None:
    """Rename a file over a note and record it as memtui once did."""
    assert world.folder is not None
    journal = world.main.journal
    moved, there = journal.get_known(old), journal.get_known(new)
    assert moved is not None
    os.replace(world.folder / old, world.folder / new)
    node = world.main.store.get_node(MemoryPath.from_relative(new))
    assert node is not None
    event = Event(
        at_us=world.main.journal.get_events(journal.get_head()[0] - 1)[0].at_us + 1,
        actor=Outside(),
        command="renamed",
        path=f"/memories/{old}",
        new_path=f"/memories/{new}",
        changes=(Change(old, moved.version, None), Change(new, there and there.version, moved.version)),
    )
    journal.append_events([event], known={old: None, new: KnownPath(moved.version, node.stamp)})
    assert world.main.reconcile() == 0


def test_records_of_two_looks_are_read_as_one_change(plain_world: World) -> None:
    begun, before = begin(plain_world), files(plain_world)
    plain_world.put("ops/.tmp-1-abc", NEW)
    plain_world.main.reconcile()
    record_rename(plain_world, "ops/.tmp-1-abc", "ops/a.md")
    require_one_change(plain_world, begun, before)


@pytest.mark.parametrize("count", [3, 100])
@pytest.mark.parametrize("looks", [False, True])
def test_several_notes_at_once_are_each_one_change(plain_world: World, count: int, looks: bool) -> None:
    folder, engine = plain_world.folder, plain_world.main
    assert folder is not None
    names = [f"{number}.md" for number in range(count)]
    begun = begin(plain_world, **dict.fromkeys(names, OLD))
    for name in names:
        (folder / f".{name}.tmp").write_text(NEW)
    if looks:
        engine.reconcile()
    for name in names:
        os.replace(folder / f".{name}.tmp", folder / name)
    engine.reconcile()
    read = read_since(plain_world, begun)
    assert {event.command for event in read} == {"modified"}
    assert sorted(change.path for event in read for change in event.changes) == sorted(names)
    assert {(file.sign, file.path) for file in build_inbox(engine, Review(), since=begun).files} == {
        ("~", name) for name in names
    }
    assert engine.history.find_deleted() == []
    assert not engine.undo([event.seq for event in read]).problem
    assert files(plain_world) == {"ops/a.md": OLD.encode(), **dict.fromkeys(names, OLD.encode())}
    assert not engine.journal.verify().findings


@pytest.mark.parametrize("looks", list(product((False, True), repeat=2)))
def test_what_changes_places_is_undone_whole(plain_world: World, looks: tuple[bool, ...]) -> None:
    def swapped(folder: Path) -> Iterator[None]:
        os.rename(folder / "ops/a.md", folder / "ops/.swap")
        yield
        os.rename(folder / "ops/b.md", folder / "ops/a.md")
        yield
        os.rename(folder / "ops/.swap", folder / "ops/b.md")

    begun = begin(plain_world, **{"ops/b.md": NEW})
    before = files(plain_world)
    play(plain_world, swapped, looks)
    assert files(plain_world) == {"ops/a.md": NEW.encode(), "ops/b.md": OLD.encode()}
    assert plain_world.main.history.find_deleted() == []
    assert not plain_world.main.undo([event.seq for event in read_since(plain_world, begun)]).problem
    assert files(plain_world) == before
    assert not plain_world.main.journal.verify().findings


def test_a_temporary_file_that_stays_is_shown(plain_world: World) -> None:
    begun = begin(plain_world)
    plain_world.put("ops/.tmp-1-abc", NEW)
    plain_world.main.reconcile()
    plain_world.put("ops/a.md", NEW)
    plain_world.main.reconcile()
    assert [(event.command, event.path) for event in read_since(plain_world, begun)] == [
        ("created", "/memories/ops/.tmp-1-abc"),
        ("modified", "/memories/ops/a.md"),
    ]
    assert [file.path for file in build_inbox(plain_world.main, Review(), since=begun).files] == [
        "ops/.tmp-1-abc",
        "ops/a.md",
    ]


@pytest.mark.parametrize(("way", "looks"), [each for each in PLAYED if "vim" not in str(each.id)])
def test_a_note_that_is_replaced_by_its_own_text_has_not_changed(
    plain_world: World, way: Way, looks: Sequence[bool]
) -> None:
    """A backup that comes and goes beside it, as of vim, is shown."""
    begun, before = begin(plain_world, **{"ops/a.md": NEW}), files(plain_world)
    play(plain_world, way, looks)
    engine = plain_world.main
    assert read_since(plain_world, begun) == []
    assert files(plain_world) == before
    assert [row.event.seq for row in engine.history.versions_of("ops/a.md") if row.event.seq > begun] == []
    assert engine.history.find_deleted() == []
    assert build_inbox(engine, Review(), since=begun).files == ()
    assert [line and line.seq <= begun for line in engine.history.blame("ops/a.md", NEW.encode()).lines] == [True] * 4
    assert (undoable := engine.history.get_undoable()) is None or undoable.seq <= begun
    assert not engine.journal.verify().findings


def test_a_new_note_that_was_written_under_a_hidden_name_is_new(plain_world: World) -> None:
    begun, before = begin(plain_world), files(plain_world)
    plain_world.put("ops/.tmp-1-abc", NEW)
    plain_world.main.reconcile()
    assert plain_world.folder is not None
    os.replace(plain_world.folder / "ops/.tmp-1-abc", plain_world.folder / "ops/b.md")
    plain_world.main.reconcile()
    (event,) = read_since(plain_world, begun)
    assert (event.command, event.path, event.added) == ("created", "/memories/ops/b.md", 4)
    assert [row.sign for row in plain_world.main.history.versions_of("ops/b.md")] == ["+"]
    assert not plain_world.main.undo([event.seq]).problem
    assert files(plain_world) == before


def test_a_note_that_an_agent_wrote_is_no_temporary_file(plain_world: World) -> None:
    """Renamed over another one, it is gone from where it was, and undo brings it back."""
    begun = begin(plain_world)
    plain_world.ask(command="create", path="/memories/ops/.draft.md", file_text=NEW)
    before = files(plain_world)
    assert plain_world.folder is not None
    os.replace(plain_world.folder / "ops/.draft.md", plain_world.folder / "ops/a.md")
    plain_world.main.reconcile()
    created, event = read_since(plain_world, begun)
    assert (created.command, event.command, event.path) == ("create", "modified", "/memories/ops/a.md")
    assert {change.path for change in event.changes} == {"ops/.draft.md", "ops/a.md"}
    assert plain_world.main.history.versions_of("ops/.draft.md")[0].moved_to == "ops/a.md"
    assert not plain_world.main.undo([event.seq]).problem
    assert files(plain_world) == before


def test_what_goes_for_good_and_what_is_only_renamed_stay_what_they_are(plain_world: World) -> None:
    begun = begin(plain_world, **{"b.md": OLD})
    assert plain_world.folder is not None
    (plain_world.folder / "b.md").unlink()
    os.rename(plain_world.folder / "ops/a.md", plain_world.folder / "ops/c.md")
    plain_world.main.reconcile()
    assert sorted((event.command, event.path, event.new_path) for event in read_since(plain_world, begun)) == [
        ("deleted", "/memories/b.md", None),
        ("renamed", "/memories/ops/a.md", "/memories/ops/c.md"),
    ]
    assert [each.path for each in plain_world.main.history.find_deleted()] == ["b.md"]


VIM = ["vim", "-nNu", "NONE", "-es", "ops/a.md", "-c", "%s/two/2/", "-c", "$put='four'"]
PROGRAMS = {
    "vim": [*VIM, "-c", "wq"],
    "vim with a backup": [*VIM, "-c", "set backupcopy=no", "-c", "wq"],
    "sed": ["sed", "-i", "-e", "s/two/2/", "-e", "$afour", "ops/a.md"],
    "rsync": ["rsync", "-a", "../new/", "."],
    "git": ["git", "--git-dir=../git", "--work-tree=.", "checkout", "-q", "-f", "next"],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_watched_changes_a_note_once(plain_world: World, name: str) -> None:
    program, folder = PROGRAMS[name], plain_world.folder
    assert folder is not None
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not here")
    begun = begin(plain_world)
    if name == "git":
        prepare_checkout(folder)
    (folder.parent / "new/ops").mkdir(parents=True)
    (folder.parent / "new/ops/a.md").write_text(NEW)
    before = files(plain_world)
    running = subprocess.Popen(program, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while running.poll() is None:
        plain_world.main.reconcile()
    assert running.returncode == 0
    plain_world.main.reconcile()
    require_one_change(plain_world, begun, before)


def prepare_checkout(folder: Path) -> None:
    """A repository beside the folder whose branch `next` has the new text."""

    def git(*words: str) -> None:
        who = ("-c", "user.name=x", "-c", "user.email=x@x")
        subprocess.run(["git", "--git-dir=../git", "--work-tree=.", *who, *words], cwd=folder, check=True)

    git("init", "-q", "-b", "first")
    git("add", ".")
    git("commit", "-q", "-m", "old")
    blob = folder.parent / "blob"
    blob.write_text(NEW)
    written = subprocess.run(
        ["git", "--git-dir=../git", "hash-object", "-w", blob], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()
    git("checkout", "-q", "-b", "next")
    git("update-index", "--cacheinfo", f"100644,{written},ops/a.md")
    git("commit", "-q", "-m", "new")
    git("symbolic-ref", "HEAD", "refs/heads/first")
