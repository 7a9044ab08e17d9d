"""A consent grants what it names, and nothing else: for every command, place, key and way in."""

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.gate import ApprovalGate
from memtui.agents.hooks.approval import _build_shell_proposal
from memtui.agents.hooks.payload import locate_entry, locate_file, parse_call
from memtui.agents.hooks.shell_call import plan_shell_call
from memtui.agents.remote_approval import ApprovalQuestion, request_approval
from memtui.core.approvals import EVERYWHERE, Allow, ApprovalPolicy, Deny, Proposal, Verdict, covers
from memtui.core.events import Agent
from memtui.flows.approvals import ApprovalQueue
from memtui.ui.widgets.approval import ApprovalView, preview_proposal
from tests.agents.approver import open_approver
from tests.conftest import fill

CLAUDE = Agent("Claude", session="one")
FILES = {
    "a.md": "a\n", "b.md": "b\n", "notes/a.md": "a\n", "notes/b.md": "b\n", "notes/deep/c.md": "c\n",
    "other/d.md": "d\n",
}  # fmt: skip
PLACES = ("a.md", "notes/a.md", "notes/deep/c.md", "notes", "notes/deep", "other")
TARGETS = ("z.md", "notes/z.md", "other/z", "new/z")
SHELL = (
    "rm {0}", "rm -r {0}", "mv {0} z.md", "mv {0} other/z.md", "cp {0} notes/z.md", "rm a.md other/d.md",
    "rm notes/a.md notes/b.md",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "memories", FILES)


def list_commands() -> list[dict[str, Any]]:
    """Every command at every place, as far as it would change something."""
    commands: list[dict[str, Any]] = []
    for place in PLACES:
        path = f"/memories/{place}"
        commands += [{"command": "delete", "path": path}]
        commands += [{"command": "rename", "old_path": path, "new_path": f"/memories/{new}"} for new in TARGETS]
        if place.endswith(".md"):
            text = Path(place).stem
            commands += [
                {"command": "create", "path": path, "file_text": "new\n"},
                {"command": "create", "path": f"/memories/fresh/{place}", "file_text": "new\n"},
                {"command": "str_replace", "path": path, "old_str": text, "new_str": "new"},
                {"command": "insert", "path": path, "insert_line": 0, "insert_text": "new\n"},
            ]
    return commands


def list_proposals(folder: Path, memory: memtui.Engine) -> list[Proposal]:
    """What is asked of a person, by commands and by shell commands of a hook."""
    found = [memory.propose(each, actor=CLAUDE) for each in list_commands()]
    for place in PLACES:
        for words in SHELL:
            record = {
                "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1", "session_id": "one",
                "cwd": str(folder), "tool_input": {"command": words.format(place)},
            }  # fmt: skip
            call = parse_call(json.dumps(record).encode())
            assert call is not None
            plan = plan_shell_call(call, locate_file, locate_entry)
            if plan.changes:
                found.append(_build_shell_proposal(call, plan))
    return [each for each in found if each is not None]


def give_answers(proposal: Proposal) -> dict[str, Allow | None]:
    """What each key of the question grants; `None` for a key that does nothing."""
    view = ApprovalView()
    decided: list[Verdict] = []
    view.question, view.preview = _Question(proposal), preview_proposal(proposal)  # type: ignore[assignment]
    view._can_answer = lambda: True  # type: ignore[method-assign]
    view._decide = decided.append  # type: ignore[method-assign]
    answers: dict[str, Allow | None] = {}
    for key, answer in (("y", "yes"), ("a", "below"), ("A", "everywhere")):
        decided.clear()
        view.action_answer(answer)
        is_offered = view.check_action("answer", (answer,))
        assert bool(is_offered) is bool(decided), "what is offered is what a key does"
        verdict = decided[0] if decided else None
        assert verdict is None or isinstance(verdict, Allow)
        answers[key] = verdict
    return answers


class _Question:
    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal


Ask = Callable[[Proposal], Verdict]


class Through:
    """A way in: how a consent is given, and whether a later change is asked about."""

    def __init__(self, memory: memtui.Engine) -> None:
        self.memory = memory

    def is_asked_after(self, proposal: Proposal, verdict: Allow, later: Proposal) -> bool:
        raise NotImplementedError


class ThroughGate(Through):
    """The SDK's classes and the chat."""

    def is_asked_after(self, proposal: Proposal, verdict: Allow, later: Proposal) -> bool:
        gate = ApprovalGate(self.memory, policy=ApprovalPolicy.ASK)
        gate.accept_verdict(proposal, verdict)
        return gate.decide_by_policy(later) is None


class ThroughQueue(Through):
    """MCP and hooks: a window answers another process."""

    def is_asked_after(self, proposal: Proposal, verdict: Allow, later: Proposal) -> bool:
        line, sent = ApprovalQueue(), list[Verdict]()
        question = ApprovalQuestion(proposal, 0, lambda verdict: bool(sent.append(verdict)) or True)
        line.add(question)
        words, _ = line.answer(question, verdict)
        assert sent == [Allow()], "a consent is kept where it was given"
        if verdict.always is not None:
            assert f"Not asked again: {line.consents[0]}." in words
            assert len(line.consents) == 1
        return line.add(ApprovalQuestion(later, 0, lambda _: True))


@pytest.mark.parametrize("way", [ThroughGate, ThroughQueue])
def test_each_key_grants_what_it_names_and_nothing_else(folder: Path, way: type[Through]) -> None:
    with memtui.open(folder) as memory:
        proposals = list_proposals(folder, memory)
        assert {each.command for each in proposals} == {"create", "str_replace", "insert", "delete", "rename", "shell"}
        through = way(memory)
        for proposal in proposals:
            answers = give_answers(proposal)
            assert answers["y"] == Allow()
            assert answers["A"] == Allow(EVERYWHERE)
            below = answers["a"]
            scope = proposal.consent_scope
            assert below == (None if scope is None else Allow(scope))
            assert scope != ""
            if scope is not None:
                assert all(covers(scope, change.path) for change in proposal.changes)
                files = {change.path for change in proposal.files} or {proposal.changes[0].path}
                assert scope in files or all(path.startswith(f"{scope}/") for path in files)
            for each in proposals:
                later = replace(each, actor=proposal.actor)
                within = scope is not None and all(covers(scope, change.path) for change in later.changes)
                assert through.is_asked_after(proposal, Allow(), later)
                assert not through.is_asked_after(proposal, Allow(EVERYWHERE), later)
                if below is not None:
                    assert through.is_asked_after(proposal, below, later) is not within


@pytest.mark.parametrize("scope", ["", ".", "..", "a/../b", "a//b", "/a", "a/", "a\0b"])
def test_a_consent_to_nothing_cannot_be_given(scope: str) -> None:
    with pytest.raises(ValueError, match="names no path"):
        Allow(always=scope)


RENAMES = [
    ("notes", "old", True),
    ("other", "notes", True),
    ("notes/deep", "z", False),
    ("a.md", "b2.md", False),
    ("notes/a.md", "notes/z.md", False),
]


@pytest.mark.parametrize("by", ["agent", "person", "outside"])
@pytest.mark.parametrize(("old", "new", "ends"), RENAMES)
def test_a_consent_does_not_pass_to_what_a_rename_makes_of_it(
    folder: Path, old: str, new: str, ends: bool, by: str
) -> None:
    with memtui.open(folder) as memory:
        gate = ApprovalGate(memory, policy=ApprovalPolicy.ASK, ask=lambda _: Deny())
        line = ApprovalQueue()
        first = memory.propose({"command": "create", "path": "/memories/notes/x.md", "file_text": "x"}, actor=CLAUDE)
        assert first is not None
        gate.accept_verdict(first, Allow("notes"))
        line.give_consent(first, "notes")
        since = memory.get_head()[0]
        if new == "notes":
            (folder / "notes").rename(folder.parent / "away")
            memory.reconcile()
        if by == "outside":
            (folder / old).rename(folder / new)
            memory.reconcile()
        elif by == "person":
            assert memory.files.move({old: new}).event is not None
        else:
            command = {"command": "rename", "old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}
            assert not memory.execute(command, actor=CLAUDE).is_error
        assert line.end_consents(memory.events(since)) is ends
        assert (line.consents == []) is ends
        (folder / "notes").mkdir(exist_ok=True)
        memory.reconcile()
        later = memory.propose({"command": "create", "path": "/memories/notes/y.md", "file_text": "y"}, actor=CLAUDE)
        assert later is not None
        assert (gate.decide_by_policy(later) is None) is ends
        assert gate.always == (frozenset() if ends else {"notes"})


def test_consents_are_listed_and_revoked_one_by_one(folder: Path) -> None:
    with memtui.open(folder) as memory:
        proposals = list_proposals(folder, memory)
    line = ApprovalQueue()
    one = line.give_consent(proposals[0], "notes")
    two = line.give_consent(proposals[0], EVERYWHERE)
    assert [str(each) for each in line.consents] == [
        "Claude in session one: all of /memories", "Claude in session one: /memories/notes",
    ]  # fmt: skip
    line.revoke(two)
    assert line.consents == [one]
    line.revoke()
    assert line.consents == []


async def test_no_scope_comes_over_the_socket(folder: Path, tmp_path: Path) -> None:
    with memtui.open(folder) as memory:
        proposal = list_proposals(folder, memory)[0]
    line = ApprovalQueue()

    def answer(question: ApprovalQuestion) -> None:
        line.add(question)
        threading.Thread(target=line.answer, args=(question, Allow(EVERYWHERE))).start()

    state = tmp_path / "state"
    state.mkdir()
    with open_approver(state, answer):
        assert await asyncio.to_thread(request_approval, state, proposal, seconds=30) == Allow()
