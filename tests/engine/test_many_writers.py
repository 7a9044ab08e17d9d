"""Several processes and threads at one memory: nothing that was acknowledged is lost."""

import os
import signal
import subprocess
import threading
from collections import Counter
from typing import Any

import pytest

import memtui
from memtui.core.events import sha256
from memtui.engine.replacements import find_replacements
from memtui.watch import FolderWatcher
from tests.conftest import wait_until
from tests.faults import checking

WORK = """
import sys
import memtui
job, folder, state, name, resolver = sys.argv[1:]
from memtui.journal.sqlite import Journal
from memtui.engine import Engine
from memtui.store.folder import FolderStore
sys.stdin.read(1)
store = FolderStore(folder, state, resolver=resolver)
memory = Engine(store, Journal(state + "/journal.db"), settings=memtui.Settings(lock_seconds=50))
memory.reconcile()
me = memtui.Agent(name)
def ask(**command):
    return memory.execute(command, actor=me)
won = 0
for number in range(25):
    if job == "count":
        while True:
            value = ask(command="view", path="/memories/counter").text.split("=")[1].split("\\n")[0]
            step = {"old_str": f"={value}\\n", "new_str": f"={int(value) + 1}\\n"}
            if not ask(command="str_replace", path="/memories/counter", **step).is_error:
                break
    elif job == "insert":
        answer = ask(command="insert", path="/memories/list", insert_line=0, insert_text=f"{name}-{number}")
        assert not answer.is_error, answer.text
    else:
        assert not ask(command="create", path=f"/memories/{name}-{number}", file_text=name).is_error
        answer = ask(command="rename", old_path=f"/memories/{name}-{number}", new_path=f"/memories/won-{number}")
        won += not answer.is_error
        lost = f"Error: The destination /memories/won-{number} already exists"
        assert not answer.is_error or answer.text == lost, answer.text
memory.close()
print(won)
"""


def together(run_python: Any, job: str, folder: Any, state: Any, count: int = 3) -> int:
    """Run processes at one folder; returns how often a rename was acknowledged."""
    running = [
        run_python(
            WORK, job, folder, state, f"p{each}", "walk" if each == 0 else "openat2", wait=False, stdin=subprocess.PIPE
        )
        for each in range(count)
    ]
    for process in running:
        process.stdin.write("x")
        process.stdin.flush()
    won = 0
    for process in running:
        output, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
        won += int(output)
    return won


@pytest.fixture
def shared(tmp_path: Any) -> Any:
    for name in ("folder", "state"):
        (tmp_path / name).mkdir()
    return tmp_path / "folder", tmp_path / "state"


def insist_on_a_true_record(folder: Any, state: Any) -> list[Any]:
    """Nothing is taken for a change from outside, and nothing of ours is left over."""
    with memtui.open(folder, state=state) as memory:
        events = list(memory.events())
        assert not [event for event in events if event.is_outside and event.command != "found"]
        assert memory.journal.get_intents() == []
        assert memory.reconcile() == 0
    assert not [name for name in os.listdir(state) if name.startswith(".memtui")]
    return events


def test_no_step_of_a_counter_is_lost(run_python: Any, shared: Any) -> None:
    (shared[0] / "counter").write_text("=0\n")
    together(run_python, "count", *shared)
    assert (shared[0] / "counter").read_text() == "=75\n"
    insist_on_a_true_record(*shared)


def test_no_insert_is_lost(run_python: Any, shared: Any) -> None:
    (shared[0] / "list").write_text("")
    together(run_python, "insert", *shared)
    assert sorted((shared[0] / "list").read_text().split()) == sorted(f"p{p}-{n}" for p in range(3) for n in range(25))
    assert sum(event.command == "insert" for event in insist_on_a_true_record(*shared)) == 75


def test_one_of_many_renames_onto_a_name_wins(run_python: Any, shared: Any) -> None:
    assert together(run_python, "rename", *shared) == 25
    assert len(os.listdir(shared[0])) == 75
    assert sum(name.startswith("won") for name in os.listdir(shared[0])) == 25
    insist_on_a_true_record(*shared)


def test_threads_of_one_engine_lose_nothing_and_raise_nothing(world: Any) -> None:
    engine = world.main
    world.put("list", "")
    wrong: list[object] = []

    def work(name: int) -> None:
        me = memtui.Agent(str(name))
        try:
            for number in range(15):
                commands: list[dict[str, object]] = [
                    {
                        "command": "insert",
                        "path": "/memories/list",
                        "insert_line": 0,
                        "insert_text": f"{name}-{number}",
                    },
                    {"command": "create", "path": f"/memories/d{number % 3}/{name}/f", "file_text": "x"},
                    {"command": "view", "path": "/memories"},
                    {"command": "view", "path": "/memories/list"},
                    {
                        "command": "rename",
                        "old_path": f"/memories/d{number % 3}",
                        "new_path": f"/memories/{name}/{number}",
                    },
                    {"command": "delete", "path": f"/memories/{name}"},
                ]
                answers = [engine.execute(command, actor=me) for command in commands]
                wrong.extend(answer.text for answer in answers[:4] if answer.is_error)
                engine.reconcile()
        except BaseException as error:
            wrong.append(error)
            raise

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert len(world.tree()["list"].split()) == 60
    events = list(engine.events())
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.command for event in events if event.is_outside} <= {"created", "found", "modified"}
    assert engine.reconcile() == 0


def test_a_folder_that_is_busy_too_long_says_so_and_nothing_changed(folder_world: Any) -> None:
    folder_world.put("f", "x")
    engine = folder_world.engine(lock_seconds=0.02)
    holder = folder_world.store()
    before = folder_world.picture()
    with holder.begin_transaction(1):
        answer = folder_world.ask(engine, command="delete", path="/memories/f")
        assert not folder_world.ask(engine, command="view", path="/memories/f").is_error
    assert (answer.is_error, answer.text) == (
        True,
        "Error: could not delete /memories/f: the memory folder is busy. Nothing was changed; try again",
    )
    assert folder_world.picture() == before
    holder.close()


def test_closing_while_others_execute_raises_nothing_but_closed(plain_world: Any) -> None:
    for _ in range(20):
        engine = plain_world.engine()
        started = threading.Event()
        wrong: list[BaseException] = []

        def work(engine: Any = engine, started: Any = started, wrong: Any = wrong) -> None:
            try:
                for number in range(1_000):
                    engine.execute(
                        {"command": "create", "path": "/memories/f", "file_text": f"{number}\n"},
                        actor=memtui.Agent("a"),
                    )
                    started.set()
            except memtui.core.errors.MemoryClosed:
                return
            except BaseException as error:
                wrong.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        assert started.wait(20)
        engine.close()
        thread.join(20)
        assert wrong == []


def test_closing_waits_for_the_calls_that_are_under_way(plain_world: Any) -> None:
    plain_world.put("f", "x")
    engine = plain_world.engine()
    reading, go_on = threading.Event(), threading.Event()
    read, answers = engine.store.read, []

    def slow(*arguments: Any, **options: Any) -> Any:
        reading.set()
        assert go_on.wait(20)
        return read(*arguments, **options)

    engine.store.read = slow
    work = threading.Thread(target=lambda: answers.append(plain_world.ask(engine, command="view", path="/memories/f")))
    work.start()
    assert reading.wait(20)
    closing = threading.Thread(target=engine.close)
    closing.start()
    wait_until(lambda: engine._calls.is_closed, "the engine to take no more calls")
    with pytest.raises(memtui.core.errors.MemoryClosed):
        plain_world.ask(engine, command="view", path="/memories")
    assert engine.store.root.fd >= 0
    go_on.set()
    for thread in (work, closing):
        thread.join(20)
    assert [answer.is_error for answer in answers] == [False]
    assert engine.store.root.fd == -1
    plain_world.made.remove(engine)


CROWD = """
import faulthandler
import sys
import threading
import memtui
from memtui.core.events import Person, Version, sha256
from memtui.core.events import EntryKind
folder, state, name = sys.argv[1:]
faulthandler.dump_traceback_later(200, exit=True)  # whoever hangs says where
memory = memtui.open(folder, state=state, settings=memtui.Settings(lock_seconds=50))
wrong = []

def ask(call, **command):
    return memory.execute(command, actor=memtui.Agent(name), call_id=call)

def agent(thread):
    for number in range(12):
        call = f"{name}-{thread}-{number}"
        while True:
            value = ask(None, command="view", path="/memories/counter").text.split("=")[1].split("\\n")[0]
            step = {"old_str": f"={value}\\n", "new_str": f"={int(value) + 1}\\n"}
            if not ask(call, command="str_replace", path="/memories/counter", **step).is_error:
                break
        for step in (
            {"command": "insert", "path": "/memories/list", "insert_line": 0, "insert_text": call},
            {"command": "create", "path": f"/memories/{name}/{call}", "file_text": call},
            {"command": "rename", "old_path": f"/memories/{name}/{call}", "new_path": f"/memories/done/{call}"},
        ):
            answer = ask(f"{call}.{step['command']}", **step)
            if answer.is_error:
                wrong.append(answer.text)

def person():
    for number in range(12):
        while True:
            before = memory.inspect_path("diary").data
            after = before + f"{name}-{number}\\n".encode()
            based_on = Version(EntryKind.FILE, sha256(before), len(before))
            saved = memory.write("diary", after, based_on=based_on, actor=Person())
            if saved.event is not None:
                break
            if "has changed since" not in saved.problem:
                wrong.append(saved.problem)
                return

works = [lambda: agent(0), lambda: agent(1), person]
threads = [threading.Thread(target=work) for work in works]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
memory.close()
print(wrong)
"""
IGNORANT = """
import os, random, sys
chance = random.Random(7)
os.chdir(sys.argv[1])
os.makedirs("wild", exist_ok=True)
for number in range(150):
    name = f"wild/{chance.randrange(5)}"
    match chance.choice("write write replace rename unlink".split()):
        case "write":
            with open(name, "w") as file:
                file.write(f"wild {number}")
        case "replace":
            with open("wild/passing", "w") as file:
                file.write(f"wild {number}")
            os.rename("wild/passing", name)
        case "rename":
            if os.path.exists(name):
                os.rename(name, f"wild/{chance.randrange(5)}")
        case "unlink":
            if os.path.exists(name):
                os.unlink(name)
"""
DIES = """
import os
import signal
import sys
import memtui
memory = memtui.open(sys.argv[1], state=sys.argv[2])
with memory.store.begin_transaction(50):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_crowd_of_everybody_loses_nothing_and_records_each_change_once(run_python: Any, shared: Any) -> None:
    folder, state = shared
    for name, text in {"counter": "=0\n", "list": "", "diary": ""}.items():
        (folder / name).write_text(text)
    memory = memtui.open(folder, state=state)
    watch = FolderWatcher(memory, str(folder), str(state), changed=lambda: None)
    watch.start()
    crowd = [run_python(CROWD, folder, state, f"p{each}", wait=False) for each in range(3)]
    crowd.append(run_python(IGNORANT, folder, wait=False))
    crowd.append(run_python(DIES, folder, state, wait=False))
    quiet: list[str] = []
    while any(process.poll() is None for process in crowd[:4]):
        text = f"another program wrote {len(quiet)}\n"
        (folder / f"other-{len(quiet) % 2}").write_text(text)
        quiet.append(sha256(text.encode()))
        stands_in(memory, quiet[-1])
    for process in crowd[:4]:
        output, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
        assert output.strip() in ("", "[]")
    assert crowd[4].wait(100) == -signal.SIGKILL
    crowd[4].communicate()
    watch.stop()
    memory.close()

    calls = [f"p{process}-{thread}-{number}" for process in range(3) for thread in range(2) for number in range(12)]
    assert (folder / "counter").read_text() == "=72\n"
    assert sorted((folder / "list").read_text().split()) == sorted(calls)
    assert sorted((folder / "diary").read_text().split()) == sorted(f"p{p}-{n}" for p in range(3) for n in range(12))
    assert sorted(os.listdir(folder / "done")) == sorted(calls)
    with memtui.open(folder, state=state) as memory:
        events = list(memory.events())
        assert list(checking.untrue(memory, state)) == []
        assert memory.reconcile() == 0
    assert list(checking.left_over(folder, state)) == []
    insist_on_once(events, quiet)


def stands_in(memory: Any, text: str) -> None:
    """Wait until a text is in the journal: nobody writes to its file meanwhile.

    With pauses: a thread that asks for the journal all the time leaves its lock to no other, and the watcher,
    which holds the folder's lock while it waits for that, keeps everybody waiting.
    """
    wait_until(lambda: memory.journal.get_text(text) is not None, "a change from outside to be noticed")


def insist_on_once(events: list[Any], quiet: list[str]) -> None:
    """No call, and no change from outside, is recorded twice.

    Only a file that was renamed over one of the same text leaves that as it was: the event is that of the other one,
    which is gone from its name.
    """
    done = Counter(event.call_id for event in events if event.call_id and event.changes)
    assert [call for call, times in done.items() if times > 1] == []
    held: dict[str, Any] = {}
    for event in events:
        for change in event.changes:
            assert change.before != change.after or change.path in find_replacements(event), event
            assert held.get(change.path) == change.before, event
            held[change.path] = change.after
    appeared = Counter(
        change.after.sha256
        for event in events
        if event.is_outside and event.command != "renamed"
        for change in event.changes
        if change.after is not None
    )
    assert [appeared[text] for text in quiet] == [1] * len(quiet)
    ours = {change.after.sha256 for event in events if not event.is_outside for change in event.changes if change.after}
    assert not (ours & set(appeared)) - {sha256(b""), None}
