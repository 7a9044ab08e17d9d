"""A fault of the disk, the journal or a lock is answered truthfully, and leaves nothing half done."""

import contextlib
import errno
import os
import sqlite3
from dataclasses import replace
from typing import Any

import pytest

import memtui
from memtui.fs import atomic, beneath
from memtui.fs.state import get_state_directory
from memtui.memory import JOURNAL, observe
from memtui.store import base, open_folder, recovery
from memtui.store import folder as store_folder
from tests.conftest import StandIn

COMMANDS: dict[str, dict[str, Any]] = {
    "create": {"command": "create", "path": "/memories/p/q/n", "file_text": "new\n"},
    "overwrite": {"command": "create", "path": "/memories/f", "file_text": "new\n"},
    "insert": {"command": "insert", "path": "/memories/d/x", "insert_line": 1, "insert_text": "x"},
    "delete": {"command": "delete", "path": "/memories/f"},
    "delete a directory": {"command": "delete", "path": "/memories/d"},
    "rename": {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/p/g"},
    "rename a directory": {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/p/dd"},
}
REASONS = {
    errno.ENOSPC: "no space left",
    errno.EDQUOT: "no space left",
    errno.EIO: "input/output error",
    errno.EROFS: "read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
}
CALLS = ("open", "mkdir", "link", "rename", "write", "fsync", "fchmod", "unlink", "rmdir", "scandir", "stat", "fstat")


class Failing:
    """Stands between a module and the system; the n-th call fails."""

    def __init__(self, real: Any, names: tuple[str, ...], count: list[int], code: int) -> None:
        self.__dict__.update(real=real, names=names, count=count, code=code)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.real, name)
        if name not in self.names:
            return value

        def call(*arguments: Any, **options: Any) -> Any:
            self.count[0] -= 1
            if self.count[0] == 0:
                raise OSError(self.code, os.strerror(self.code))
            return value(*arguments, **options)

        return call


@pytest.fixture
def filled(folder_world: Any) -> Any:
    return folder_world.fill({"f": "1\n2\n", "d/x": "x\n", "d/e/y": "x\n"})


def put_back(world: Any) -> None:
    for name in ("p", "d/g"):
        world.ask(command="delete", path=f"/memories/{name}")
    world.put("f", "1\n2\n")
    world.put("d/x", "x\n")
    world.put("d/e/y", "x\n")
    world.main.reconcile()


@pytest.mark.sweep(keep=40)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES], ids=errno.errorcode.get)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_call_that_fails_is_answered_truthfully_and_leaves_nothing_half_done(
    filled: Any, command: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = command.get("path", command.get("old_path"))
    failed = 0
    for point in range(1, 200):
        before = filled.tree()
        since = len(list(filled.main.events()))
        count = [point]
        with monkeypatch.context() as patch:
            for module in (open_folder, store_folder, recovery, base, atomic):
                patch.setattr(module, "os", Failing(os, CALLS, count, code))
            moving = Failing(beneath, ("rename_noreplace",), count, code).rename_noreplace
            patch.setattr(open_folder, "rename_noreplace", moving)
            patch.setattr(open_folder, "exchange", Failing(beneath, ("exchange",), count, code).exchange)
            patch.setattr(beneath, "os", Failing(os, ("open", "stat", "readlink"), count, code))
            answer = filled.ask(**command)
        after = filled.tree()
        uncertain = "was changed, but the disk did not confirm" in answer.text
        if answer.is_error and not uncertain:
            failed += 1
            assert answer.text.startswith("Error: could not ")
            assert answer.text.endswith(f"{path}: {REASONS[code]}")
            assert after == before, (point, answer.text)
        else:
            assert after != before, (point, answer.text)
        events = list(filled.main.events())[since:]
        assert [(event.is_error, bool(event.changes)) for event in events] == [(answer.is_error, after != before)]
        assert filled.main.journal.get_intents() == []
        filled.main.reconcile()
        assert len(list(filled.main.events())) == since + 1, point
        put_back(filled)
        assert not [name for name in os.listdir(filled.state) if name.startswith(".memtui")], point
        if count[0] > 0:
            break
    assert failed >= 2
    assert count[0] > 0


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(("code", "words"), REASONS.items())
def test_a_store_that_fails_is_answered_with_the_right_words(
    filled: Any, command: dict[str, Any], code: int, words: str
) -> None:
    class Broken(StandIn):
        def begin_transaction(self, _: float, *, optimistic: bool = False) -> Any:  # noqa: ARG002
            raise OSError(code, "never shown: /host/path")

    engine = filled.engine()
    engine._executor._context = replace(engine._context, store=Broken(engine.store))
    before = filled.picture()
    answer = filled.ask(engine, **command)
    path = command.get("path", command.get("old_path"))
    assert answer.is_error
    assert answer.text.endswith(f" {path}: {words}")
    assert filled.picture() == before


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("pragma", "words"),
    [("PRAGMA query_only = 1", "read-only"), ("PRAGMA max_page_count = 1", "no space left")],
)
def test_a_journal_that_cannot_be_written_stops_every_change(
    filled: Any, command: dict[str, Any], pragma: str, words: str
) -> None:
    before = filled.picture()
    engine = filled.engine()
    engine.journal._db.execute(pragma)
    full = {**command, "file_text": os.urandom(200_000).hex()} if "file_text" in command else command
    full = {**full, "insert_text": os.urandom(200_000).hex()} if "insert_text" in command else full
    answer = filled.ask(engine, **full)
    if words == "no space left" and not answer.is_error:
        return  # there was room on the last page
    path = command.get("path", command.get("old_path"))
    assert answer.is_error
    assert answer.text.endswith(f" {path}: the journal cannot be written ({words}). Nothing was changed")
    assert answer.event.note == "not recorded"
    assert filled.picture() == before
    assert not filled.ask(engine, command="view", path="/memories/f").is_error


def test_a_journal_that_fails_after_the_change_says_so_and_the_next_writer_records_it(filled: Any) -> None:
    class Torn(StandIn):
        def finish_intent(self, *_: Any, **__: Any) -> Any:
            raise memtui.core.errors.StateUnusable("The journal cannot be written.")

    engine = filled.engine()
    engine._executor._context = replace(engine._context, journal=Torn(engine.journal))
    answer = filled.ask(engine, command="create", path="/memories/f", file_text="new\n")
    assert (answer.is_error, answer.text) == (
        True,
        "Error: /memories/f was changed, but the disk did not confirm that the change is kept. View it before going on",
    )
    assert filled.tree()["f"] == b"new\n"
    engine._executor._context = engine._context
    assert not filled.ask(command="view", path="/memories/f").is_error
    filled.main.reconcile()
    (*_, last) = filled.main.events()
    assert (last.command, last.note) == ("create", "recovered after a crash")


def fail(code: int = errno.EIO) -> Any:
    """A call that fails."""

    def call(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return call


def test_what_can_neither_be_deleted_nor_put_back_is_uncertain_and_settled_later(
    filled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(store_folder.FolderTransaction, "_check_stamps", fail())
        patch.setattr(recovery.StagingArea, "unstage", fail())
        answer = filled.ask(**COMMANDS["delete a directory"])
        assert "the disk did not confirm" in answer.text
    assert not filled.ask(command="view", path="/memories/f").is_error
    assert filled.main.reconcile() == 0
    assert filled.tree() == {"f": b"1\n2\n"}
    (*_, last) = filled.main.events()
    assert (last.command, last.note) == ("delete", "recovered after a crash")


class Killed(BaseException):
    """Stands for the end of the process."""


def kill(*_: Any, **__: Any) -> None:
    raise Killed


def test_half_of_a_deleted_directory_never_comes_back(filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill in the middle of the deletion, and then a disk that does not show what is left."""
    unlink = os.unlink
    engine = filled.engine()
    with monkeypatch.context() as patch:
        patch.setattr(open_folder.os, "unlink", lambda *names, **options: kill(unlink(*names, **options)))
        with pytest.raises(Killed):
            filled.ask(engine, **COMMANDS["delete a directory"])
    with monkeypatch.context() as patch:
        patch.setattr(recovery, "read_consistently", fail())
        filled.main.reconcile()
    assert filled.tree() == {"f": b"1\n2\n"}
    (*_, last) = filled.main.events()
    assert (last.command, last.note) == ("delete", "recovered after a crash")
    assert not [name for name in os.listdir(filled.state) if name.startswith(".memtui")]


@pytest.mark.parametrize(("command", "call"), [("rename", "unlink"), ("rename a directory", "rename")])
def test_a_move_in_two_steps_that_is_cut_between_them_blames_nobody(
    filled: Any, command: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two names for a moment, or an empty directory at the new one."""
    before = filled.tree()
    engine = filled.engine()
    with monkeypatch.context() as patch:
        patch.setattr(beneath, "_RENAMEAT2", None)
        patch.setattr(beneath.os, call, kill)
        patch.setattr(beneath.os, "rmdir", kill)
        with pytest.raises(Killed):
            filled.ask(engine, **COMMANDS[command])
    filled.main.reconcile()
    assert filled.tree() == before
    (*_, last) = filled.main.events()
    assert (last.command, last.note) == ("rename", "aborted by a crash: not done")


def test_what_cannot_be_looked_at_after_a_crash_keeps_everybody_from_writing_until_it_can(
    filled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Torn(StandIn):
        def finish_intent(self, *_: Any, **__: Any) -> Any:
            raise memtui.core.errors.StateUnusable("The journal cannot be written.")

    engine = filled.engine()
    engine._executor._context = replace(engine._context, journal=Torn(engine.journal))
    filled.ask(engine, **COMMANDS["overwrite"])
    with monkeypatch.context() as patch:
        patch.setattr(open_folder, "read_consistently", fail())
        answer = filled.ask(**COMMANDS["rename"])
        assert (answer.is_error, answer.text[-20:]) == (True, ": input/output error")
        with pytest.raises(memtui.core.errors.StateUnusable, match="Cannot check for changes"):
            filled.main.reconcile()
    assert filled.main.reconcile() == 0
    (*_, last) = filled.main.events()
    assert (last.command, last.note) == ("create", "recovered after a crash")


def test_a_journal_that_cannot_be_read_is_an_answer(filled: Any) -> None:
    engine = filled.engine()
    engine.journal._db.execute("PRAGMA writable_schema = 1")
    engine.journal._db.execute("DROP TABLE known")
    answer = filled.ask(engine, command="view", path="/memories/f")
    assert answer.text.endswith("     1\t1\n     2\t2\n     3\t")
    for command in COMMANDS.values():
        answer = filled.ask(engine, **command)
        assert answer.is_error
        assert answer.text.endswith(": input/output error")


def test_a_state_directory_that_vanished_is_an_answer(filled: Any) -> None:
    engine = filled.engine()
    for name in os.listdir(filled.state):
        (filled.state / name).unlink()
    filled.state.rmdir()
    before = filled.picture()
    for command in COMMANDS.values():
        answer = filled.ask(engine, **command)
        assert answer.is_error
        assert answer.text.endswith(": input/output error")
    assert filled.picture() == before
    filled.state.mkdir()


@pytest.mark.parametrize("seen", [False, True], ids=["never opened", "opened before"])
def test_read_only_refuses_every_change_and_writes_nothing_anywhere(
    plain_world: Any, tmp_path: Any, seen: bool
) -> None:
    folder = plain_world.folder
    plain_world.put("f", "1\n")
    plain_world.put("d/x", "x\n")
    state = get_state_directory(str(folder))
    if seen:
        with memtui.open(folder) as memory:
            memory.execute(COMMANDS["overwrite"], actor=memtui.Agent("a"))
        plain_world.put("f", "outside\n")

    def everything() -> object:
        return [
            (top, sorted(files), [(os.lstat(os.path.join(top, name)).st_mtime_ns) for name in sorted(files)])
            for top, _, files in os.walk(tmp_path)
        ]

    before, picture = everything(), plain_world.picture()
    with memtui.open(folder, read_only=True) as memory:
        for command in COMMANDS.values():
            answer = memory.execute(command, actor=memtui.Agent("a"))
            assert answer.is_error
            assert answer.text.endswith(": read-only")
        assert not memory.execute({"command": "view", "path": "/memories/f"}, actor=memtui.Agent("a")).is_error
        assert [event.is_outside for event in memory.events()].count(True) >= 1
    assert everything() == before
    assert plain_world.picture() == picture
    assert (state / JOURNAL).exists() == seen


def test_a_file_that_somebody_keeps_changing_is_busy_and_stays_as_it_is(filled: Any) -> None:
    class Restless(StandIn):
        """Somebody outside is always faster."""

        def read(self, path: Any, *, limit: int) -> Any:
            content = self._real.read(path, limit=limit)
            (filled.folder / path.relative).write_bytes(content.data + b"more\n")
            return content

    engine = filled.engine()
    engine._executor._context = replace(engine._context, store=Restless(engine.store))
    answer = filled.ask(engine, command="insert", path="/memories/f", insert_line=0, insert_text="mine")
    assert (answer.is_error, answer.text) == (
        True,
        "Error: could not edit /memories/f: the memory folder is busy. Nothing was changed; try again",
    )
    assert b"mine" not in filled.tree()["f"]
    assert engine.journal.get_intents() == []


def test_the_state_is_never_inside_the_folder(plain_world: Any) -> None:
    (plain_world.folder / "link").symlink_to(".")
    for state in ("", "state", "link/state", "../folder/state"):
        with pytest.raises(memtui.core.errors.StateUnusable, match="inside the memory folder"):
            memtui.open(plain_world.folder, state=plain_world.folder / state)
    assert os.listdir(plain_world.folder) == ["link"]


def test_no_folder_is_ever_made(tmp_path: Any) -> None:
    with pytest.raises(memtui.core.errors.FolderMissing):
        memtui.open(tmp_path / "no")
    assert os.listdir(tmp_path) == []


def test_looking_at_what_cannot_be_looked_at_is_said_and_not_thrown(filled: Any) -> None:
    (filled.folder / "loop").symlink_to("loop")
    engine = filled.main
    for path in ("x" * 300, "loop/x"):
        assert engine.inspect_path(path).problem.startswith("It cannot be read")
        assert engine.get_entry(path) is None
    filled.folder.rename(filled.folder.parent / "away")
    assert engine.get_entry("f") is None
    (filled.folder.parent / "away").rename(filled.folder)


def test_what_only_looks_does_not_judge_what_a_writer_is_about_to_do(plain_world: Any) -> None:
    engine = plain_world.main
    intended = memtui.core.events.Event(at_us=1, actor=memtui.Agent("a"), command="create", path="/memories/f")
    engine.journal.add_intent(intended, {})
    with memtui.open(plain_world.folder, state=plain_world.state, read_only=True) as memory:
        assert list(memory.events()) == []
    assert len(engine.journal.get_intents()) == 1


def test_what_only_looks_does_not_take_what_a_writer_has_begun_for_another_programs(plain_world: Any) -> None:
    engine = plain_world.main
    version = memtui.core.events.Version(memtui.core.events.EntryKind.FILE, memtui.core.events.sha256(b"ours\n"), 5)
    made = memtui.core.events.Change("f", None, version)
    intended = memtui.core.events.Event(
        at_us=1, actor=memtui.Agent("a"), command="create", path="/memories/f", changes=(made,)
    )
    engine.journal.add_intent(intended, {})
    plain_world.put("f", "ours\n")
    plain_world.put("g", "theirs\n")
    folder, state = plain_world.folder, plain_world.state
    for memory in (memtui.open(folder, state=state, read_only=True), observe(folder, state=state)):
        with memory:
            assert [event.path for event in memory.events()] == ["/memories/g"]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_memory_that_cannot_be_opened_leaves_no_descriptor_open(plain_world: Any, read_only: bool) -> None:
    with contextlib.closing(sqlite3.connect(plain_world.state / JOURNAL)) as of_another_program:
        of_another_program.execute("CREATE TABLE theirs (a)")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(memtui.core.errors.StateUnusable):
            memtui.open(plain_world.folder, state=plain_world.state, read_only=read_only)
    (plain_world.state / JOURNAL).unlink()
    (plain_world.state / "token").unlink(missing_ok=True)
    (plain_world.state / "token").mkdir()
    for _ in range(5):
        with pytest.raises(memtui.core.errors.StateUnusable):
            memtui.open(plain_world.folder, state=plain_world.state)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_text_from_outside_is_on_the_disk_before_it_is_overwritten(filled: Any) -> None:
    engine = filled.main
    durable: list[bool] = []
    intend = engine.journal.add_intent

    def noted(*arguments: Any, **options: Any) -> int:
        durable.append(options["durable"])
        return intend(*arguments, **options)

    engine.journal.add_intent = noted
    filled.ask(**COMMANDS["overwrite"])
    filled.put("f", "somebody else\n")
    filled.ask(**COMMANDS["overwrite"])
    filled.ask(**COMMANDS["delete"])
    assert durable == ([False, True, False] if engine.store.is_synced else [True] * 3)


def test_a_journal_that_was_removed_while_open_stops_every_change(filled: Any) -> None:
    engine = filled.engine()
    for end in ("", "-wal", "-shm"):
        (filled.state / (JOURNAL + end)).rename(filled.state / ("away" + end))
    before = filled.picture()
    answer = filled.ask(engine, **COMMANDS["overwrite"])
    assert "the journal cannot be written" in answer.text
    assert answer.event.note == "not recorded"
    assert filled.picture() == before
