"""Secrets at the moment of writing: noted, refused or left out, by every command and at every door."""

import os
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.claude import MemoryTool
from memtui.agents.gate import ApprovalGate
from memtui.core.approvals import Allow, ApprovalPolicy, Proposal
from memtui.core.events import Agent, ImportedChange
from memtui.scan.ruleset import load_rules
from memtui.scan.samples import make_sample
from memtui.scan.secrets import find_new_secrets, redact_spots
from memtui.ui.widgets.approval import preview_proposal
from tests.conftest import ME, World

AWS = make_sample("aws-key")
WHAT = "an AWS access key"
BEFORE = "one\ntwo\nthree\n"

COMMANDS: dict[str, dict[str, object]] = {
    "create": {"command": "create", "path": "/memories/new.md", "file_text": f"one\nkey {AWS} here\nthree\n"},
    "overwrite": {"command": "create", "path": "/memories/old.md", "file_text": f"one\nkey {AWS} here\nthree\n"},
    "str_replace": {
        "command": "str_replace",
        "path": "/memories/old.md",
        "old_str": "two",
        "new_str": f"key {AWS} here",
    },
    "insert": {"command": "insert", "path": "/memories/old.md", "insert_line": 1, "insert_text": f"key {AWS} here\n"},
    "insert by its alias": {
        "command": "insert",
        "path": "/memories/old.md",
        "insert_line": 1,
        "new_str": f"key {AWS} here",
    },
}
REFUSED: dict[str, dict[str, object]] = {
    "no such text": {"command": "str_replace", "path": "/memories/old.md", "old_str": AWS, "new_str": "x"},
    "no text": {"command": "create", "path": "/memories/new.md", "file_text": ["x", {"y": AWS}]},
    "no such line": {"command": "insert", "path": "/memories/old.md", "insert_line": 99, "insert_text": f"\n{AWS}\n"},
    "cut in the record": {"command": "insert", "path": "/memories/no", "insert_line": 0,
                          "insert_text": f"{'x ' * 8_190}{AWS}"},
}  # fmt: skip


def settled(world: World, **settings: Any) -> Any:
    world.fill({"old.md": BEFORE})
    return world.engine(**settings)


def is_kept(world: World, engine: Any) -> bool:
    """Whether the value stands in any file, text, answer or argument."""
    held = [data for data in world.tree().values() if isinstance(data, bytes)]
    for event in engine.events():
        held += [(event.answer or "").encode(), (event.arguments or "").encode(), event.note.encode()]
        for version in (event.viewed, *(each for change in event.changes for each in (change.before, change.after))):
            held.append((engine.journal.get_text(version.sha256) if version and version.sha256 else None) or b"")
    return any(AWS[-12:].encode() in data for data in held)


@pytest.mark.parametrize("name", COMMANDS)
def test_by_default_it_is_written_and_noted_on_the_event(world: World, name: str) -> None:
    engine = settled(world)
    answer = engine.execute(COMMANDS[name], actor=ME)
    assert not answer.is_error
    assert answer.event.note == f"holds what looks like {WHAT}"
    assert is_kept(world, engine)


@pytest.mark.parametrize("name", COMMANDS)
def test_blocked_it_is_refused_and_nothing_is_kept(world: World, name: str) -> None:
    engine = settled(world, secrets="block")
    before = world.tree()
    answer = engine.execute(COMMANDS[name], actor=ME)
    assert answer.text == (
        f"Error: {COMMANDS[name]['path']} was not written: it holds what looks like {WHAT}. Store a reference instead "
        "of the value, for example the name of an environment variable."
    )
    assert answer.is_error
    assert world.tree() == before
    assert not is_kept(world, engine)


@pytest.mark.parametrize("name", COMMANDS)
def test_redacted_the_value_is_nowhere_and_the_answer_is_that_of_success(world: World, name: str) -> None:
    engine = settled(world, secrets="redact")
    command = COMMANDS[name]
    answer = engine.execute(command, actor=ME)
    assert not answer.is_error
    assert answer.event.note == f"redacted: {WHAT}"
    written = str(command["path"]).removeprefix("/memories/")
    assert f"key [redacted: {WHAT}] here\n".encode() in world.tree()[written]  # type: ignore[operator]
    if name == "str_replace":
        assert answer.text.endswith(f"     1\tone\n     2\tkey [redacted: {WHAT}] here\n     3\tthree\n     4\t")
    assert not is_kept(world, engine)


@pytest.mark.parametrize("policy", ["block", "redact"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_command_leaves_no_value_in_the_record(world: World, policy: str, name: str) -> None:
    engine = settled(world, secrets=policy)
    assert engine.execute(REFUSED[name], actor=ME).is_error
    assert not is_kept(world, engine)


def test_only_what_is_new_is_judged(world: World) -> None:
    world.fill({"old.md": f"key {AWS}\ntwo\n"})
    engine = world.engine(secrets="block")
    assert not world.ask(engine, command="str_replace", path="/memories/old.md", old_str="two", new_str="2").is_error
    assert not world.ask(engine, command="create", path="/memories/old.md", file_text=f"moved {AWS}\n").is_error
    half = AWS[:10]
    assert not world.ask(engine, command="create", path="/memories/half.md", file_text=f"{half}\n").is_error
    edit = {"command": "str_replace", "path": "/memories/half.md", "old_str": half, "new_str": AWS}
    assert world.ask(engine, **edit).is_error  # what was a half is a whole by now


@pytest.mark.parametrize("rule", [rule.id for rule in load_rules("secrets").values() if rule.get("samples")])
def test_what_was_redacted_is_found_no_more(rule: str) -> None:
    text = f"a note\n{make_sample(rule)}\n\nand more\n"
    spots = find_new_secrets("", text)
    redacted = redact_spots(text, spots)
    assert find_new_secrets("", redacted) == []
    for spot in spots:
        start, end = spot.masked or (spot.start, spot.end)
        assert text[start:end] not in redacted
    assert redacted.startswith("a note\n")
    assert redacted.endswith("and more\n")


@pytest.mark.parametrize("policy", ["flag", "block", "redact"])
def test_every_door_for_agents_has_it(plain_world: World, policy: str) -> None:
    engine = settled(plain_world, secrets=policy)
    asked: list[Proposal] = []

    def ask(proposal: Proposal) -> Allow:
        asked.append(proposal)
        return Allow()

    gate = ApprovalGate(engine, policy=ApprovalPolicy.ASK, ask=ask)
    answer = gate.execute(COMMANDS["create"], actor=ME)
    assert answer.is_error is (policy == "block")
    assert len(asked) == (policy != "block")
    if policy == "flag":
        assert preview_proposal(asked[0]).remark == f"The new text holds what looks like {WHAT}."
    tool = MemoryTool(engine)
    if policy == "block":
        with pytest.raises(Exception, match="was not written"):
            tool.call(COMMANDS["overwrite"])
    else:
        tool.call(COMMANDS["overwrite"])
    assert is_kept(plain_world, engine) is (policy == "flag")


@pytest.mark.parametrize("policy", ["flag", "block", "redact"])
def test_imports_have_it(plain_world: World, policy: str) -> None:
    engine = settled(plain_world, secrets=policy)
    text = f"key {AWS}\n".encode()
    change = ImportedChange(
        at_us=1, tool="Write", prompt=f"use {AWS}", path="i.md", agent=Agent("a"), call_id="c", after=text
    )
    events = engine.imports.record([change])
    assert len(events) == 1
    assert is_kept(plain_world, engine) is (policy == "flag")
    if policy == "flag":
        assert events[0].note.endswith(f"holds what looks like {WHAT}")


def test_what_others_and_the_person_write_is_noted(plain_world: World) -> None:
    engine = settled(plain_world)
    plain_world.put("old.md", f"{BEFORE}{AWS}\n")
    engine.reconcile()
    (*_, event) = engine.events()
    assert (event.command, event.note) == ("modified", f"holds what looks like {WHAT}")
    saved = engine.write("mine.md", AWS.encode(), based_on=None)
    assert saved.event is not None
    assert saved.event.note == f"holds what looks like {WHAT}"


def test_ordinary_notes_are_not_touched(world: World) -> None:
    engine = world.engine(secrets="block")
    text = Path(os.path.dirname(memtui.__file__), "docs/architecture.md").read_text(encoding="utf-8")
    answer = world.ask(engine, command="create", path="/memories/a.md", file_text=text)
    assert (answer.is_error, answer.event.note) == (False, "")


def test_a_setting_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="secrets must be one of flag, block, redact"):
        memtui.Settings(secrets="hide")  # type: ignore[arg-type]
