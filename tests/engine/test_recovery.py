"""After a death at any point, the next look tells what happened, and nothing of ours is left over."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memtui.core.events import Agent, Outside, Result
from memtui.journal import chain
from tests.conftest import StandIn

COMMANDS: dict[str, dict[str, Any]] = {
    "create": {"command": "create", "path": "/memories/p/q/n", "file_text": "new\n"},
    "overwrite": {"command": "create", "path": "/memories/f", "file_text": "new\n"},
    "str_replace": {"command": "str_replace", "path": "/memories/f", "old_str": "1", "new_str": "one"},
    "insert": {"command": "insert", "path": "/memories/d/x", "insert_line": 1, "insert_text": "x"},
    "delete": {"command": "delete", "path": "/memories/f"},
    "delete a directory": {"command": "delete", "path": "/memories/d"},
    "rename": {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/d/g"},
    "rename a directory": {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/p/dd"},
}


ME = Agent("tester", "a-model", "a-session")


class Killed(BaseException):
    """Stands for the end of the process."""


class Dying(StandIn):
    """A store whose transactions die before or after what they do."""

    def __init__(self, store: Any, *, done: bool) -> None:
        super().__init__(store)
        self._done = done

    @contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Any]:
        with self._real.begin_transaction(seconds, optimistic=optimistic) as transaction:
            yield _Dying(transaction, self._done)


class _Dying:
    def __init__(self, transaction: Any, done: bool) -> None:
        self._transaction = transaction
        self._done = done

    def __getattr__(self, name: str) -> Any:
        def die(*arguments: Any, **options: Any) -> Any:
            if self._done:
                getattr(self._transaction, name)(*arguments, **options)
            raise Killed

        return getattr(self._transaction, name) if name == "clean_up" else die


@pytest.fixture
def filled(folder_world: Any) -> Any:
    return folder_world.fill({"f": "1\n2\n", "d/x": "x\n"})


def die(world: Any, command: dict[str, Any], *, done: bool) -> None:
    engine = world.engine(store=Dying(world.store(), done=done))
    with pytest.raises(Killed):
        world.ask(engine, **command)
    assert len(engine.journal.get_intents()) == 1


@pytest.mark.parametrize("found_by", ["opening", "the next command"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_was_done_before_a_death_is_recorded_as_recovered(
    filled: Any, command: dict[str, Any], found_by: str
) -> None:
    since = len(list(filled.main.events()))
    die(filled, command, done=True)
    after = filled.tree()
    if found_by == "opening":
        filled.engine()
    else:
        filled.ask(command="create", path="/memories/later", file_text="")
    event = list(filled.main.events())[since]
    assert (event.note, event.command, event.is_error) == ("recovered after a crash", command["command"], False)
    assert event.changes
    assert filled.main.journal.get_intents() == []
    assert filled.main.reconcile() == 0
    assert filled.tree() == after | ({} if found_by == "opening" else {"later": b""})


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_was_not_done_before_a_death_is_recorded_as_aborted(filled: Any, command: dict[str, Any]) -> None:
    since = len(list(filled.main.events()))
    before = filled.picture()
    die(filled, command, done=False)
    filled.engine()
    (event,) = list(filled.main.events())[since:]
    assert (event.actor, event.is_error, event.changes, event.result) == (ME, True, (), Result.ABORTED)
    assert event.note == "aborted by a crash: not done"
    assert filled.main.journal.get_intents() == []
    assert filled.picture() == before


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize(
    "meddle",
    [
        lambda folder: (folder / "f").write_text("somebody else\n"),
        lambda folder: ((folder / "f").unlink(), (folder / "f").mkdir()),
        lambda folder: ((folder / "f").unlink(), (folder / "f").symlink_to("/etc")),
        lambda folder: (folder / "f").write_bytes(b"\xff" * 2_000),
    ],
)
def test_what_stands_there_from_somebody_else_is_from_outside(filled: Any, done: bool, meddle: Any) -> None:
    since = len(list(filled.main.events()))
    die(filled, COMMANDS["str_replace"], done=done)
    meddle(filled.folder)
    later = filled.engine(max_read_bytes=1_000)
    (event,) = list(later.events())[since:]
    assert (event.actor, event.command, event.path) == (Outside(), "modified", "/memories/f")
    assert later.journal.get_intents() == []
    assert not filled.ask(later, command="view", path="/memories").is_error


def test_a_directory_that_became_a_link_out_does_not_stop_recovery(filled: Any) -> None:
    die(filled, COMMANDS["insert"], done=False)
    (filled.folder / "d").rename(filled.folder.parent / "away")
    (filled.folder / "d").symlink_to("/etc")
    assert not filled.ask(command="create", path="/memories/later", file_text="").is_error
    assert filled.main.journal.get_intents() == []


KILLS = """
import json
import os
import signal
import sys
from dataclasses import replace
import memtui
from memtui.store import folder as store_folder
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.fs import atomic, beneath
from memtui.store import base, open_folder, recovery
from memtui.store.folder import FolderStore

folder, state, kind, how, commands = sys.argv[1:]
nameless, commands = kind == "nameless", json.loads(commands)
ME = memtui.Agent("a")
POINTS = ("open", "mkdir", "link", "rename", "unlink", "rmdir", "write", "fsync", "fchmod", "close")

def engine():
    store = FolderStore(folder, state, nameless=nameless)
    return Engine(store, Journal(state + "/journal.db"))

def die():
    if how == "exit":
        os._exit(77)
    os.kill(os.getpid(), signal.SIGKILL)

class Counting:
    "Stands between a module and the system; dies before the n-th call."
    def __init__(self, real, names, count):
        self.__dict__.update(real=real, names=names, count=count)
    def __getattr__(self, name):
        value = getattr(self.real, name)
        if name not in self.names:
            return value
        def call(*a, **k):
            self.count[0] -= 1
            if self.count[0] == 0:
                die()
            return value(*a, **k)
        return call

def tree():
    found = {}
    for top, directories, files in os.walk(folder):
        for name in files:
            with open(os.path.join(top, name)) as file:
                found[os.path.relpath(os.path.join(top, name), folder)] = file.read()
        for name in directories:
            found[os.path.relpath(os.path.join(top, name), folder)] = None
    return found

def reset():
    for top, directories, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(top, name))
        for name in directories:
            os.rmdir(os.path.join(top, name))
    os.mkdir(folder + "/d")
    for name, text in (("f", "1\\n2\\n"), ("d/x", "x\\n")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    memory = engine()
    memory.reconcile()
    memory.close()

results = []
for command in commands:
    for point in range(1, 200):
        reset()
        before = tree()
        child = os.fork()
        if child == 0:
            memory = engine()
            count = [point]
            for module in (open_folder, store_folder, recovery, base, atomic):
                module.os = Counting(os, POINTS, count)
            open_folder.rename_noreplace = Counting(beneath, ("rename_noreplace",), count).rename_noreplace
            open_folder.exchange = Counting(beneath, ("exchange",), count).exchange
            journal = Counting(memory.journal, ("add_intent", "finish_intent", "append_events", "drop_intent"), count)
            memory._executor._context = replace(memory._context, journal=journal)
            answer = memory.execute(command, actor=ME)
            os._exit(0 if not answer.is_error else 5)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 77, -9), status
        killed = tree()
        memory = engine()
        since = len(list(memory.events()))
        memory.reconcile()
        events = list(memory.events())[since:]
        missing = [c.path for e in memory.events() for c in e.changes for v in (c.before, c.after)
                   if v and v.sha256 and memory.journal.get_text(v.sha256) is None]
        results.append({
            "command": command, "point": point, "status": status, "before": before, "killed": killed, "after": tree(),
            "events": [
                [type(e.actor).__name__, e.command, e.note, e.is_error, [c.path for c in e.changes]] for e in events
            ],
            "acknowledged": [e.command for e in list(memory.events())[since - 1:since]],
            "intents": len(memory.journal.get_intents()), "missing": missing,
            "left": [n for n in os.listdir(state) if n.startswith(".memtui")],
        })
        memory.close()
        if status == 0:
            break
print(json.dumps(results))
"""


@pytest.mark.parametrize(("kind", "how"), [("nameless", "exit"), ("named", "signal")])
def test_a_kill_at_any_point_leaves_the_old_or_the_new_and_a_record_that_says_which(
    run_python: Any, tmp_path: Any, kind: str, how: str
) -> None:
    for name in ("folder", "state"):
        (tmp_path / name).mkdir()
    done = run_python(KILLS, tmp_path / "folder", tmp_path / "state", kind, how, json.dumps(list(COMMANDS.values())))
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    wholes = {json.dumps(each["command"]): each["after"] for each in results if each["status"] == 0}
    assert len(wholes) == len(COMMANDS)
    assert len(results) > 5 * len(COMMANDS)
    for result in results:
        new, old, now = wholes[json.dumps(result["command"])], result["before"], result["after"]
        happened = now == new
        assert happened or now == old, result
        assert (result["intents"], result["missing"], result["left"]) == (0, [], []), result
        if result["status"] == 0:
            assert result["events"] == [], result
            continue
        kinds = [(actor, note) for actor, _, note, _, _ in result["events"]]
        if happened:
            assert kinds in ([], [("Agent", "recovered after a crash")]), result
        else:
            assert kinds in ([], [("Agent", "aborted by a crash: not done")]), result


def test_the_chain_holds_over_deaths(filled: Any) -> None:
    for done in (True, False):
        for command in COMMANDS.values():
            die(filled, command, done=done)
            filled.engine()
            filled.put("f", "1\n2\n")
            filled.put("d/x", "x\n")
            for name in ("p", "d/g"):
                filled.ask(command="delete", path=f"/memories/{name}")
            filled.main.reconcile()
    at = chain.START
    for event in filled.main.events():
        at = hashlib.sha256(at + chain.encode_event(event)).digest()
        assert at.hex() == event.hash
