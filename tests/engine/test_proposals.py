"""A change can be seen before it is made; then exactly what was seen is made, or nothing is."""

import threading
from itertools import pairwise
from typing import Any

import pytest

import memtui
from memtui.core.errors import MemoryClosed, StaleApproval
from memtui.core.events import Agent, EntryKind, Person
from memtui.core.messages import MessageKey
from memtui.engine import Engine

BOT = Agent("Bot", "a-model", "a-session")
CALL = "toolu_1"

COMMANDS: dict[str, dict[str, Any]] = {
    "create": {"command": "create", "path": "/memories/new", "file_text": "n\n"},
    "create in new directories": {"command": "create", "path": "/memories/p/q/new", "file_text": "n\n"},
    "overwrite": {"command": "create", "path": "/memories/f", "file_text": "n\n"},
    "str_replace": {"command": "str_replace", "path": "/memories/f", "old_str": "1", "new_str": "9"},
    "insert": {"command": "insert", "path": "/memories/f", "insert_line": 1, "insert_text": "9"},
    "delete": {"command": "delete", "path": "/memories/f"},
    "delete a directory": {"command": "delete", "path": "/memories/d"},
    "rename": {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"},
    "rename into new directories": {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/p/q/g"},
    "rename a directory": {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/dd"},
}
NOTHING_TO_ASK: dict[str, object] = {
    "a view": {"command": "view", "path": "/memories"},
    "a view of nothing": {"command": "view", "path": "/memories/nope"},
    "the same text again": {"command": "create", "path": "/memories/f", "file_text": "1\n2\n"},
    "a text that is replaced by itself": {
        "command": "str_replace", "path": "/memories/f", "old_str": "1", "new_str": "1",
    },
    "what does not exist": {"command": "delete", "path": "/memories/nope"},
    "a path outside": {"command": "create", "path": "/etc/passwd", "file_text": "x"},
    "a missing field": {"command": "create", "path": "/memories/n"},
    "an unknown command": {"command": "format", "path": "/memories"},
    "the folder itself": {"command": "delete", "path": "/memories"},
    "no mapping": ["create"],
    "nothing": None,
}  # fmt: skip


@pytest.fixture
def filled(world: Any) -> Any:
    return world.fill({"f": "1\n2\n", "d/x": "x\n", "d/e/y": "y\n"})


def another(world: Any) -> Engine:
    """A second engine at the same memory; in memory, it shares the journal as well."""
    if world.folder is None:
        return Engine(world.main.store, world.main.journal)
    made: Engine = world.engine()
    return made


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_is_proposed_is_what_is_done(filled: Any, command: dict[str, Any]) -> None:
    engine: Engine = filled.main
    before, head = filled.picture(), engine.get_head()
    proposal = engine.propose(command, actor=BOT, call_id=CALL)
    assert proposal is not None
    assert (filled.picture(), engine.get_head(), engine.journal.get_intents()) == (before, head, [])
    answer = engine.execute(command, actor=BOT, call_id=CALL, approved=proposal.changes)
    assert not answer.is_error
    event = answer.event
    assert (proposal.answer, proposal.changes) == (answer.text, event.changes)
    assert (proposal.actor, proposal.command, proposal.path) == (event.actor, event.command, event.path)
    assert (proposal.new_path, proposal.call_id, proposal.raw) == (event.new_path, event.call_id, command)
    for change in proposal.files:
        for version in (change.before, change.after):
            assert version is None or memtui.core.events.sha256(proposal.get_data(version) or b"") == version.sha256
    for change in proposal.changes:
        held = filled.tree().get(change.path)
        if change.after is not None and change.after.kind is EntryKind.FILE:
            assert held == proposal.get_data(change.after)


@pytest.mark.parametrize("command", NOTHING_TO_ASK.values(), ids=NOTHING_TO_ASK)
def test_there_is_nothing_to_ask_about(filled: Any, command: object) -> None:
    before, head = filled.picture(), filled.main.get_head()
    assert filled.main.propose(command, actor=BOT) is None
    assert (filled.picture(), filled.main.get_head()) == (before, head)
    told = filled.main.execute(command, actor=BOT, approved=())  # and so it may be executed unseen
    assert told.event.changes == ()
    assert filled.picture() == before


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_nobody_has_seen_is_not_done(filled: Any, command: dict[str, Any]) -> None:
    before, head = filled.picture(), filled.main.get_head()
    with pytest.raises(StaleApproval, match="has changed since that was shown"):
        filled.main.execute(command, actor=BOT, approved=())
    assert (filled.picture(), filled.main.get_head(), filled.main.journal.get_intents()) == (before, head, [])


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_was_approved_is_not_done_to_something_else(filled: Any, command: dict[str, Any]) -> None:
    engine: Engine = filled.main
    proposal = engine.propose(command, actor=BOT)
    assert proposal is not None
    path = str(command.get("path", command.get("old_path"))).removeprefix("/memories/")
    filled.put(f"{path}/x" if path == "d" else path, "1\nwritten meanwhile\n")
    before = filled.picture()
    if engine.propose(command, actor=BOT) is not None:
        with pytest.raises(StaleApproval, match=f"^/memories/{path} has changed since that was shown.$"):
            engine.execute(command, actor=BOT, approved=proposal.changes)
        assert not [event for event in engine.events() if event.actor == BOT]
    else:  # it cannot be done at all any more
        assert engine.execute(command, actor=BOT, approved=proposal.changes).is_error
    assert filled.picture() == before
    assert engine.journal.get_intents() == []


def test_what_another_engine_did_meanwhile_is_seen(filled: Any) -> None:
    engine, other = filled.main, another(filled)
    command = COMMANDS["str_replace"]
    proposal = engine.propose(command, actor=BOT)
    appended = {"command": "insert", "path": "/memories/f", "insert_line": 2, "insert_text": "3"}
    assert not other.execute(appended, actor=Agent("Other")).is_error
    with pytest.raises(StaleApproval):
        engine.execute(command, actor=BOT, approved=proposal.changes)
    assert filled.tree()["f"] == b"1\n2\n3\n"
    again = engine.propose(command, actor=BOT)
    assert engine.execute(command, actor=BOT, approved=again.changes).text == again.answer
    assert filled.tree()["f"] == b"9\n2\n3\n"
    assert [event.command for event in engine.events() if not event.is_outside] == ["insert", "str_replace"]


def test_of_many_who_were_approved_at_once_each_does_only_what_was_shown(filled: Any) -> None:
    """Two engines count on one file: a step is done only upon the very text that was seen."""
    filled.put("count", "0\n")
    filled.main.reconcile()
    engines = [filled.main, another(filled)]
    done: list[tuple[bytes, bytes]] = []
    wrong: list[object] = []

    def count(engine: Engine) -> None:
        try:
            steps = 0
            while steps < 12:
                number = int(engine.inspect_path("count").data or b"0")
                command = {"command": "create", "path": "/memories/count", "file_text": f"{number + 1}\n"}
                proposal = engine.propose(command, actor=BOT)
                if proposal is None or proposal.get_data(proposal.changes[0].before) != f"{number}\n".encode():
                    continue  # the other one was quicker: this is not what was meant
                try:
                    answer = engine.execute(command, actor=BOT, approved=proposal.changes)
                except StaleApproval:
                    continue
                assert not answer.is_error, answer.text
                [change] = proposal.changes
                done.append((proposal.get_data(change.before) or b"", proposal.get_data(change.after) or b""))
                steps += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=count, args=(engine,)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert len(done) == 24
    assert all(int(after) == int(before) + 1 for before, after in done)
    events = [event for event in engines[0].events() if event.actor == BOT and event.changes]
    assert len(events) == 24
    for one, next_ in pairwise(events):
        assert one.changes[0].after == next_.changes[0].before


def test_a_change_through_a_link_names_what_is_really_changed(folder_world: Any) -> None:
    folder_world.put("real/f", "1\n")
    (folder_world.folder / "link").symlink_to("real")
    folder_world.main.reconcile()
    command = {"command": "create", "path": "/memories/link/f", "file_text": "2\n"}
    proposal = folder_world.main.propose(command, actor=BOT)
    assert [change.path for change in proposal.changes] == ["real/f"]
    assert proposal.path == "/memories/link/f"


def test_a_read_only_memory_proposes_nothing_and_refuses(filled: Any) -> None:
    engine = Engine(filled.store(), filled.main.journal, read_only=True)
    for command in COMMANDS.values():
        assert engine.propose(command, actor=BOT) is None
        assert engine.execute(command, actor=BOT, approved=()).text.endswith(": read-only")


def test_a_closed_memory_proposes_nothing(filled: Any) -> None:
    filled.main.close()
    with pytest.raises(MemoryClosed):
        filled.main.propose(COMMANDS["create"], actor=BOT)
    with pytest.raises(MemoryClosed):
        filled.main.answer_instead(COMMANDS["create"], MessageKey.DECLINED, actor=BOT)


def test_limits_are_known_before_anybody_is_asked(world: Any) -> None:
    engine = world.engine(max_file_bytes=10)
    command = {"command": "create", "path": "/memories/n", "file_text": "x" * 11}
    assert engine.propose(command, actor=BOT) is None
    assert engine.propose(command, actor=Person()) is not None


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_is_answered_without_being_done(filled: Any, command: dict[str, Any]) -> None:
    engine: Engine = filled.main
    before = filled.picture()
    answer = engine.answer_instead(
        command, MessageKey.DECLINED_WHY, actor=BOT, call_id=CALL, note="declined", values={"reason": "not {now}"}
    )
    path = command.get("path", command.get("old_path"))
    verb = {"str_replace": "edit", "insert": "edit"}.get(command["command"], command["command"])
    words = f"Error: the user declined to {verb} {path}. Nothing was changed. Their reason: not {{now}}"
    assert (answer.text, answer.is_error) == (words, True)
    assert filled.picture() == before
    event = engine.history.get_event(engine.get_head()[0])
    assert event == answer.event
    assert (event.command, event.path, event.call_id) == (command["command"], path, CALL)
    assert (event.note, event.is_error, event.changes) == ("declined", True, ())


def test_an_answer_that_is_no_refusal_is_recorded_as_no_change(filled: Any) -> None:
    values = {"view": "1"}
    answer = filled.main.answer_instead(
        COMMANDS["create"], MessageKey.EDITED_FIRST, actor=BOT, is_error=False, values=values
    )
    assert not answer.is_error
    assert (answer.event.is_error, answer.event.no_change) == (False, True)


def test_a_command_that_is_refused_anyway_is_answered_with_its_own_refusal(filled: Any) -> None:
    answer = filled.main.answer_instead({"command": "create"}, MessageKey.DECLINED, actor=BOT)
    assert answer.text == "Error: `path` is required for create"
