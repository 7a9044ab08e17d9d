"""What somebody does behind the engine's back is found, compared and recorded; what we did never is."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import memtui
import memtui.memory
from memtui.core.errors import FolderMissing, SymlinkEscape
from memtui.core.events import EntryKind, Outside
from memtui.engine import reconcile
from memtui.store.folder import FolderStore, FolderTransaction
from memtui.store.recovery import StagingArea
from tests.conftest import StandIn

NOBODY = 65534


@pytest.fixture
def looked(folder_world: Any) -> Any:
    """A folder that has been looked at, and then changed no more."""
    return folder_world.fill({"f": "1\n2\n3\n", "d/x": "x\n", "d/e/y": "y\n"})


def news(world: Any, since: int | None = None) -> list[Any]:
    events = list(world.main.events())
    return events[since:] if since is not None else events


def found_after(world: Any, hints: list[str] | None, change: Any) -> list[Any]:
    """The events that a look records after a change."""
    since = len(news(world))
    change(world.folder)
    count = world.main.reconcile(hints)
    found = news(world, since)
    assert count == len(found)
    assert all(event.actor == Outside() for event in found)
    assert world.main.reconcile() == 0
    assert len(news(world)) == since + count
    return found


def shown(events: list[Any]) -> list[tuple[object, ...]]:
    return sorted((event.command, event.path, event.new_path, event.added, event.removed) for event in events)


CHANGES: list[tuple[str, Any, list[str], list[tuple[object, ...]]]] = [
    ("a new file", lambda d: (d / "n").write_text("a\nb\n"), ["n"], [("created", "/memories/n", None, 2, 0)]),
    ("a changed file", lambda d: (d / "f").write_text("1\ntwo\n3\n4\n"), ["f"],
     [("modified", "/memories/f", None, 2, 1)]),
    ("a deleted file", lambda d: (d / "f").unlink(), ["f"], [("deleted", "/memories/f", None, 0, 3)]),
    (
        "a renamed file",
        lambda d: (d / "f").rename(d / "d/g"),
        ["f", "d/g"],
        [("renamed", "/memories/f", "/memories/d/g", None, None)],
    ),
    (
        "a renamed directory",
        lambda d: (d / "d").rename(d / "dd"),
        ["d", "dd"],
        [("renamed", "/memories/d", "/memories/dd", None, None)],
    ),
    ("a deleted directory", lambda d: shutil.rmtree(d / "d"), ["d"], [("deleted", "/memories/d", None, None, None)]),
    ("an empty directory", lambda d: (d / "n").mkdir(), ["n"], [("created", "/memories/n", None, None, None)]),
    (
        "a file in a new directory",
        lambda d: ((d / "n/m").mkdir(parents=True), (d / "n/m/z").write_text("z")),
        ["n/m/z"],
        [("created", "/memories/n/m/z", None, 1, 0)],
    ),
    ("a FIFO", lambda d: os.mkfifo(d / "n"), ["n"], [("created", "/memories/n", None, None, None)]),
    ("a binary file", lambda d: (d / "n").write_bytes(b"\xff\x00"), ["n"],
     [("created", "/memories/n", None, None, None)]),
    (
        "a file made binary",
        lambda d: (d / "f").write_bytes(b"\xff"),
        ["f"],
        [("modified", "/memories/f", None, None, None)],
    ),
    ("a link", lambda d: (d / "n").symlink_to("/etc"), ["n"], [("created", "/memories/n", None, None, None)]),
    (
        "a file turned into a directory",
        lambda d: ((d / "f").unlink(), (d / "f").mkdir()),
        ["f"],
        [("modified", "/memories/f", None, None, None)],
    ),
    (
        "an odd name",
        lambda d: open(os.fsencode(d) + b"/caf\xe9\n", "wb").close(),
        ["caf\udce9\n"],
        [("created", "/memories/caf\udce9\n", None, 0, 0)],
    ),
    (
        "the same text written again",
        lambda d: (d / "f").write_text("1\n2\n3\n"),
        ["f"],
        [],
    ),
]  # fmt: skip


@pytest.mark.parametrize("hinted", [False, True], ids=["at open", "by hint"])
@pytest.mark.parametrize(
    ("change", "hints", "expected"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES]
)
def test_a_change_from_outside_is_recorded_once(
    looked: Any, hinted: bool, change: Any, hints: list[str], expected: list[tuple[object, ...]]
) -> None:
    found = found_after(looked, hints if hinted else None, change)
    assert shown(found) == sorted(expected)
    for event in found:
        for each in event.changes:
            for version in (each.before, each.after):
                if version is not None and version.kind is EntryKind.FILE:
                    assert looked.main.journal.get_text(version.sha256) is not None


def test_a_deletion_and_a_creation_are_no_rename_even_with_a_number_used_again(looked: Any) -> None:
    def change(folder: Any) -> None:
        (folder / "f").unlink()
        (folder / "n").write_text("something else entirely\n")

    assert shown(found_after(looked, None, change)) == [
        ("created", "/memories/n", None, 1, 0),
        ("deleted", "/memories/f", None, 0, 3),
    ]


def test_a_directory_deleted_and_another_made_are_no_rename(looked: Any) -> None:
    def change(folder: Any) -> None:
        shutil.rmtree(folder / "d")
        (folder / "n").mkdir()
        (folder / "n/z").write_text("z")

    assert {event.command for event in found_after(looked, None, change)} == {"created", "deleted"}


def test_what_was_there_at_the_first_look_is_found_and_grouped(folder_world: Any) -> None:
    for number in range(300):
        folder_world.put(f"d{number % 7}/f{number}", f"{number}\n")
    engine = folder_world.engine()
    events = list(engine.events())
    assert {event.command for event in events} == {"found"}
    assert 1 <= len(events) <= 2 * (1 + 307 // reconcile.BATCH)
    assert {each.path for event in events for each in event.changes} == set(folder_world.tree())
    assert engine.reconcile() == 0


def test_many_differences_are_grouped(looked: Any) -> None:
    def change(folder: Any) -> None:
        for number in range(200):
            (folder / f"n{number:03}").write_text("x")
        (folder / "f").unlink()

    found = found_after(looked, None, change)
    assert sorted(event.command for event in found) == ["created", "deleted"]
    assert max(found, key=lambda event: len(event.changes)).note == "200 files"


def test_a_huge_file_is_recorded_without_its_text(folder_world: Any) -> None:
    engine = folder_world.engine(max_read_bytes=1_000)
    folder_world.put("huge", b"x" * 1_001)
    assert engine.reconcile() == 1
    (*_, event) = engine.events()
    assert event.changes[0].after == memtui.core.events.Version(EntryKind.FILE, None, 1_001)
    (folder_world.folder / "huge").unlink()
    assert engine.reconcile() == 1


@pytest.mark.parametrize(
    "command",
    [
        {"command": "create", "path": "/memories/f", "file_text": "mine\n"},
        {"command": "str_replace", "path": "/memories/f", "old_str": "2", "new_str": "two"},
        {"command": "insert", "path": "/memories/f", "insert_line": 0, "insert_text": "0"},
        {"command": "delete", "path": "/memories/f"},
        {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"},
    ],
    ids=lambda command: command["command"],
)
def test_a_change_just_before_a_command_is_recorded_before_it(looked: Any, command: dict[str, Any]) -> None:
    since = len(news(looked))
    looked.put("f", "1\n2\n3\n4\n")
    looked.ask(**command)
    outside, ours = news(looked, since)
    assert (outside.command, outside.actor, outside.path) == ("modified", Outside(), "/memories/f")
    assert looked.main.journal.get_text(outside.changes[0].after.sha256) == b"1\n2\n3\n4\n"
    assert ours.command == command["command"]
    assert looked.main.reconcile() == 0


def test_our_own_changes_are_never_taken_for_one_from_outside_in_any_process(looked: Any) -> None:
    other = looked.engine()
    since = len(news(looked))
    for number, engine in enumerate([looked.main, other] * 4):
        for command in (
            {"command": "create", "path": f"/memories/n/m{number}/f", "file_text": f"{number}\n"},
            {"command": "insert", "path": "/memories/f", "insert_line": 0, "insert_text": "x"},
            {"command": "rename", "old_path": f"/memories/n/m{number}", "new_path": f"/memories/n/k{number}"},
            {"command": "rename", "old_path": f"/memories/n/k{number}/f", "new_path": f"/memories/n/k{number}/g/h"},
            {"command": "delete", "path": f"/memories/n/k{number}"},
        ):
            assert not looked.ask(engine, **command).is_error
            assert (looked.main.reconcile(), other.reconcile()) == (0, 0)
    assert not any(event.is_outside for event in news(looked, since))
    later = looked.engine()
    assert not any(event.is_outside for event in list(later.events())[since:])


def test_a_refusal_never_records_over_a_command_of_another_process(looked: Any) -> None:
    """What a refused command saw from outside is recorded before anybody else may write."""
    other = looked.engine()

    class Slow(StandIn):
        """Lets the other engine in as soon as the lock is free."""

        def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Any:
            @contextmanager
            def turn() -> Any:
                with self._real.begin_transaction(seconds, optimistic=optimistic) as transaction:
                    yield transaction
                looked.ask(other, command="create", path="/memories/f", file_text="theirs\n")

            return turn()

    late = memtui.engine.Engine(Slow(looked.store()), looked.main.journal, settings=memtui.Settings(max_file_bytes=20))
    looked.put("f", "outside\n")
    assert looked.ask(late, command="insert", path="/memories/f", insert_line=0, insert_text="long " * 9).is_error
    assert looked.main.reconcile() == 0
    assert [event.command for event in news(looked) if event.path == "/memories/f" and event.is_outside] == ["modified"]
    late.store.close()


def test_what_is_behind_a_link_now_is_gone_from_where_it_was(looked: Any) -> None:
    for target in ("/etc", "elsewhere"):
        shutil.rmtree(looked.folder / "d", ignore_errors=True)
        looked.put("d/x", "x\n")
        looked.put("elsewhere/x", "another\n")
        looked.main.reconcile()
        shutil.rmtree(looked.folder / "d")
        (looked.folder / "d").symlink_to(target)
        found = found_after(looked, None, lambda _: None)
        assert {each.path: each.after is None for event in found for each in event.changes}["d/x"]
        assert looked.main.journal.get_known("d/x") is None
        found_after(looked, ["d/x", "d"], lambda _: None)
        (looked.folder / "d").unlink()
        looked.main.reconcile()


@pytest.mark.parametrize("hints", [[""], ["no/such/thing"], ["f/x"], ["d", "d/x", "d"], []])
def test_a_hint_that_is_wrong_does_no_harm(looked: Any, hints: list[str]) -> None:
    since = len(news(looked))
    assert looked.main.reconcile(hints) == 0
    assert news(looked, since) == []


def test_a_look_that_is_stopped_keeps_what_is_settled_and_goes_on_later(folder_world: Any) -> None:
    for number in range(reconcile.BATCH + 50):
        folder_world.put(f"f{number}", "x")
    engine = memtui.memory.connect(folder_world.folder, state=folder_world.state)
    asked: list[int] = []
    engine.reconcile(stop=lambda: len(asked) >= 1 or asked.append(1) is not None)
    assert engine.journal.get_totals().files == reconcile.BATCH
    engine.reconcile()
    assert engine.journal.get_totals().files == reconcile.BATCH + 50
    assert {event.command for event in engine.events()} == {"found"}
    engine.close()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_root_that_vanished_or_became_a_link_is_said_and_nothing_is_recorded(looked: Any, replaced: bool) -> None:
    since = len(news(looked))
    looked.folder.rename(looked.folder.parent / "moved")
    if replaced:
        looked.folder.symlink_to("moved")
    for hints in (None, ["f"], ["d/x", "n"]):
        with pytest.raises(FolderMissing):
            looked.main.reconcile(hints)
    assert news(looked, since) == []
    for command in (
        {"command": "create", "path": "/memories/n", "file_text": ""},
        {"command": "delete", "path": "/memories/f"},
        {"command": "view", "path": "/memories"},
        {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"},
    ):
        answer = looked.ask(**command)
        assert answer.is_error
        assert answer.text == "Error: The memory folder is not there"
    assert looked.main.journal.get_known("f") is not None
    assert sorted(os.listdir(looked.folder.parent / "moved")) == ["d", "f"]


UNREADABLE = """
import os
import sys
import memtui
import memtui.memory
folder, state, nobody = sys.argv[1:]
with memtui.open_in_memory() as memory:  # all that is to be imported is imported as the one who may
    for command in ({"command": "create", "file_text": ""}, {"command": "view"}, {"command": "delete"}):
        memory.execute({**command, "path": "/memories/f"}, actor=memtui.Agent("a"))
if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(int(nobody))
me = memtui.Agent("a")
for mode in (0o000, 0o400, 0o300, 0o100):
    os.chmod(folder + "/d", 0o700)
    with memtui.open(folder, state=state) as memory:
        os.chmod(folder + "/d", mode)
        before = len(list(memory.events()))
        for hints in (None, ["d"], ["d/x"], ["d/e/y"]):
            assert memory.reconcile(hints) == 0, (oct(mode), hints, list(memory.events())[before:])
        assert memory.journal.get_known("d/e/y") is not None
        assert not memory.execute({"command": "view", "path": "/memories"}, actor=me).is_error
        for command in ({"command": "delete", "path": "/memories/d"}, {"command": "delete", "path": "/memories/p"}):
            answer = memory.execute(command, actor=me)
            assert answer.text == f"Error: could not delete {command['path']}: permission denied" or (
                command["path"] == "/memories/p" and "does not exist" in answer.text
            ), (oct(mode), answer.text)
        if not mode & 0o400:
            text = memory.execute({"command": "view", "path": "/memories/d"}, actor=me).text
            assert text == "Error: could not view /memories/d: permission denied", text
        assert memory.reconcile() == 0
    with memtui.open(folder, state=state) as memory:
        pass
os.chmod(folder + "/d", 0o700)
assert open(folder + "/d/e/y").read() == "y"
os.makedirs(folder + "/p/q")
open(folder + "/p/q/f", "w").close()
os.chmod(folder + "/p/q", 0o500)
os.chmod(folder + "/f", 0o000)
with memtui.open(folder, state=state) as memory:
    answer = memory.execute({"command": "delete", "path": "/memories/p"}, actor=me)
    assert answer.text == "Error: could not delete /memories/p: permission denied", answer.text
    for command in ({"command": "view"}, {"command": "insert", "insert_line": 0, "insert_text": ""}):
        answer = memory.execute({**command, "path": "/memories/f"}, actor=me)
        assert answer.text.endswith("/memories/f: permission denied"), answer.text
    answer = memory.execute({"command": "create", "path": "/memories/p/q/n/m", "file_text": ""}, actor=me)
    assert answer.text == "Error: could not create /memories/p/q/n/m: permission denied", answer.text
    assert memory.reconcile() == 0
assert os.listdir(folder + "/p/q") == ["f"]
print("done")
"""


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that other users can enter; pytest closes its own ones to them whenever it starts."""
    with tempfile.TemporaryDirectory(prefix="memtui-test-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def test_what_cannot_be_read_is_not_taken_for_deleted_and_not_half_deleted(
    run_python: Any, open_directory: Path
) -> None:
    """In a process that gives up root's privileges, where it has them."""
    folder, state = open_directory / "folder", open_directory / "state"
    (folder / "d/e").mkdir(parents=True)
    (folder / "d/x").write_text("x")
    (folder / "d/e/y").write_text("y")
    (folder / "f").write_text("f")
    state.mkdir()
    if os.geteuid() == 0:
        for each in (folder, state, *folder.rglob("*")):
            os.chown(each, NOBODY, -1)
    done = run_python(UNREADABLE, folder, state, NOBODY, cwd="/")
    assert done.stdout == "done\n", done.stderr


# Texts that could not be read, and somebody who is faster than a command


def all_texts(world: Any) -> set[bytes]:
    """Every text that the journal can give back."""
    hashes = [row[0] for row in world.main.journal._db.execute("SELECT hex(sha256) FROM versions")]
    return {world.main.journal.get_text(each) for each in hashes}


def test_a_text_that_was_too_large_once_is_kept_before_it_goes(folder_world: Any) -> None:
    command = {"command": "create", "path": "/memories/big", "file_text": "n"}
    folder_world.put("big", b"z" * 500)
    narrow = folder_world.engine(max_read_bytes=100)
    answer = folder_world.ask(narrow, **command)
    assert answer.is_error
    assert "too large to read" in answer.text
    assert folder_world.tree() == {"big": b"z" * 500}
    wide = folder_world.engine()
    answer = folder_world.ask(wide, **command)
    assert not answer.is_error
    before = answer.event.changes[0].before
    assert wide.journal.get_text(before.sha256) == b"z" * 500
    assert not [event for event in wide.events() if event.command == "modified"]
    assert wide.reconcile() == 0


def slipped_in(monkeypatch: pytest.MonkeyPatch, name: str, change: Any) -> None:
    """Have somebody outside change something just before a call of the store's transaction, once."""
    owner: Any = StagingArea if name == "stage" else FolderTransaction
    real = getattr(owner, name)
    left = [change]

    def late(*arguments: Any, **options: Any) -> Any:
        if left:
            left.pop()()
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, late)


def test_a_change_just_before_a_rename_is_found_by_the_next_look(looked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slipped_in(monkeypatch, "rename", lambda: looked.put("f", "OUTSIDE\n"))
    assert not looked.ask(command="rename", old_path="/memories/f", new_path="/memories/g").is_error
    assert looked.main.reconcile() == 1
    assert b"OUTSIDE\n" in all_texts(looked)
    assert news(looked)[-1].path == "/memories/g"


@pytest.mark.parametrize("moment", ["delete", "stage", "_check_stamps"])
@pytest.mark.parametrize("path", ["d", "f"])
def test_what_comes_while_a_thing_is_deleted_is_kept(
    looked: Any, monkeypatch: pytest.MonkeyPatch, path: str, moment: str
) -> None:
    name = "f" if path == "f" else "d/e/new"
    slipped_in(monkeypatch, moment, lambda: looked.put(name, "OUTSIDE\n"))
    assert not looked.ask(command="delete", path=f"/memories/{path}").is_error
    looked.main.reconcile()
    assert b"OUTSIDE\n" in all_texts(looked) | set(looked.tree().values())
    assert looked.main.journal.get_intents() == []
    assert looked.main.reconcile() == 0


def test_a_change_while_a_file_is_written_is_recorded_before_it(looked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slipped_in(monkeypatch, "_create_file", lambda: looked.put("f", "2 OUTSIDE\n"))
    answer = looked.ask(command="str_replace", path="/memories/f", old_str="2", new_str="two")
    assert not answer.is_error
    assert looked.tree()["f"] == b"two OUTSIDE\n"
    assert b"2 OUTSIDE\n" in all_texts(looked)


def test_a_file_that_vanishes_while_it_is_to_be_overwritten_is_created(
    looked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = FolderStore.read
    left = ["f"]

    def late(self: Any, path: Any, *, limit: int) -> Any:
        if path.relative in left:
            left.remove(path.relative)
            (looked.folder / path.relative).unlink()
        return read(self, path, limit=limit)

    monkeypatch.setattr(FolderStore, "read", late)
    assert looked.ask(command="create", path="/memories/f", file_text="mine\n").text.startswith("File created")
    assert looked.tree()["f"] == b"mine\n"


@pytest.mark.parametrize("error", [NotADirectoryError(20, "x"), SymlinkEscape("a"), OSError(5, "x")])
def test_one_thing_that_cannot_be_looked_at_keeps_no_other_from_being_recorded(
    looked: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    looked.put("a", "1")
    looked.put("z", "2")
    read = FolderStore.read

    def fail(self: Any, path: Any, *, limit: int) -> Any:
        if path.relative == "a":
            raise error
        return read(self, path, limit=limit)

    with monkeypatch.context() as patch:
        patch.setattr(FolderStore, "read", fail)
        looked.main.reconcile()
    assert "/memories/z" in [event.path for event in news(looked)]
    looked.main.reconcile()
    assert {b"1", b"2"} <= all_texts(looked) or isinstance(error, OSError)


def test_a_link_that_points_elsewhere_now_is_a_change(looked: Any) -> None:
    (looked.folder / "l").symlink_to("f")
    looked.main.reconcile()

    def change(folder: Any) -> None:
        (folder / "l").unlink()
        (folder / "l").symlink_to("d/x")

    (event,) = found_after(looked, None, change)
    assert (event.command, event.path) == ("modified", "/memories/l")
    (changed,) = event.changes
    assert [looked.main.journal.get_text(each.sha256) for each in (changed.before, changed.after)] == [b"f", b"d/x"]
    assert not looked.ask(command="rename", old_path="/memories/l", new_path="/memories/m").is_error
    assert looked.main.reconcile() == 0


def test_what_a_command_finds_before_the_first_look_was_found_and_not_created(folder_world: Any) -> None:
    folder_world.put("old", "one\n")
    engine = memtui.memory.connect(folder_world.folder, state=folder_world.state)
    folder_world.ask(engine, command="str_replace", path="/memories/old", old_str="one", new_str="two")
    engine.reconcile()
    assert [event.command for event in engine.events()] == ["found", "str_replace"]
    engine.close()


def test_a_batch_ends_at_so_many_bytes_as_well_as_at_so_many_paths() -> None:
    sizes = [10, reconcile.BATCH_BYTES * 2, 10, reconcile.BATCH_BYTES - 10, 1, *[0] * 300]
    found = [reconcile.Suspect(str(number), size=size) for number, size in enumerate(sizes)]
    cut = list(reconcile.iter_batches(found))
    assert [each for batch in cut for each in batch] == found
    assert [len(batch) for batch in cut] == [1, 1, 2, 256, 45]


def test_a_directory_that_went_and_is_made_again_by_a_command_is_recorded_as_gone_first(looked: Any) -> None:
    since = len(news(looked))
    shutil.rmtree(looked.folder / "d")
    looked.ask(command="create", path="/memories/d/e/new", file_text="n\n")
    looked.main.reconcile()
    state: dict[str, Any] = {}
    for event in news(looked):
        for change in event.changes:
            assert state.get(change.path) == change.before, (event.command, change)
            state[change.path] = change.after
    assert [event.command for event in news(looked, since)][-1] in ("deleted", "create")
    assert {path for path, version in state.items() if version} == set(looked.tree())


def test_what_was_read_of_an_unrecorded_folder_is_recorded_as_a_look_would(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    (folder / "d" / "empty").mkdir(parents=True)
    (folder / "d" / "a.md").write_text("a\n")
    (folder / "d.md").write_bytes(b"\xff\x00")
    (folder / "large").write_bytes(b"x" * 200)
    (folder / "link").symlink_to("d/a.md")
    os.mkfifo(folder / "fifo")
    settings = memtui.Settings(max_read_bytes=100)

    def look(read: bool) -> tuple[Any, ...]:
        with memtui.memory.observe(folder, state=tmp_path / "state", settings=settings, look=False) as observer:
            assert observer.is_unrecorded
            if read:
                count = observer.record_entries(list(observer.store.scan_contents(limit=1_000)))
            else:
                count = observer.reconcile()
            assert not observer.is_unrecorded
            assert observer.reconcile() == 0
            (event,) = observer.events()
            texts = [observer.journal.get_text(each.after.sha256) for each in event.changes if each.after.sha256]
            return count, event.command, event.changes, texts, observer.get_totals()

    assert look(read=True) == look(read=False)


def test_nothing_but_what_a_look_finds_goes_into_a_record_that_is_kept(looked: Any) -> None:
    since = len(news(looked))
    assert not looked.main.is_unrecorded
    with pytest.raises(ValueError, match="has a record"):
        looked.main.record_entries([])
    assert news(looked, since) == []
