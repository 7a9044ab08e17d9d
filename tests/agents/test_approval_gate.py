"""The approval gate between an agent and the memory."""

import contextlib
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import memtui
from memtui.agents.gate import ApprovalGate
from memtui.core.approvals import EVERYWHERE, Allow, ApprovalPolicy, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import MemoryClosed
from memtui.core.events import Agent, Answer, Event, Person
from memtui.engine import Engine
from tests.conftest import StandIn, settle

BOT = Agent("Bot", "a-model", "a-session")
CREATE = {"command": "create", "path": "/memories/notes/n.md", "file_text": "from the bot\n"}
LIMIT = 30.0
"""Seconds that anything may take before a test gives up on it."""


class Asked:
    """A person who answers as was agreed, and keeps what was asked."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.proposals: list[Proposal] = []

    def __call__(self, proposal: Proposal) -> Any:
        self.proposals.append(proposal)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(proposal) if callable(answer) else answer


@pytest.fixture
def memory(world: Any) -> Engine:
    world.fill({"notes/old.md": "1\n2\n", "notes2/old.md": "look-alike\n", "other.md": "o\n"})
    engine: Engine = world.main
    return engine


def asking(memory: Engine, *answers: object, **options: Any) -> tuple[ApprovalGate, Asked]:
    person = Asked(*answers)
    return ApprovalGate(memory, policy=ApprovalPolicy.ASK, ask=person, **options), person


def do(gate: ApprovalGate, command: object = CREATE) -> Answer:
    return gate.execute(command, actor=BOT, call_id="toolu_1")


def text_at(memory: Engine, path: str) -> str | None:
    data = memory.inspect_path(path).data
    return None if data is None else data.decode()


def last(memory: Engine) -> Event:
    settle(memory)
    event = memory.history.get_event(memory.get_head()[0])
    assert event is not None
    return event


# Policies


def test_allowed_is_done_and_nobody_is_asked(memory: Engine) -> None:
    person = Asked()
    assert do(ApprovalGate(memory, ask=person)).text == "File created successfully at: /memories/notes/n.md"
    assert person.proposals == []
    assert last(memory).call_id == "toolu_1"


def test_read_only_refuses_changes_and_shows_what_is_there(memory: Engine) -> None:
    gate = ApprovalGate(memory, policy=ApprovalPolicy.READ_ONLY, ask=Asked())
    assert do(gate).text == "Error: could not create /memories/notes/n.md: read-only"
    assert not do(gate, {"command": "view", "path": "/memories/other.md"}).is_error
    assert text_at(memory, "notes/n.md") is None
    assert last(memory).command == "view"


def test_with_nobody_to_ask_a_change_is_refused(memory: Engine) -> None:
    answer = do(ApprovalGate(memory, policy=ApprovalPolicy.ASK))
    assert answer.text == (
        "Error: could not create /memories/notes/n.md: the user has to approve it and is not there to be asked. "
        "Nothing was changed"
    )
    assert text_at(memory, "notes/n.md") is None


@pytest.mark.parametrize(
    "command",
    [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": "/memories/notes"},
        {"command": "create", "path": "/memories/other.md", "file_text": "o\n"},
        {"command": "delete", "path": "/memories/nope"},
        None,
    ],
)
def test_nobody_is_asked_about_what_changes_nothing(memory: Engine, command: object) -> None:
    gate, person = asking(memory)
    do(gate, command)
    assert person.proposals == []


# Verdicts


def test_what_is_allowed_is_done_as_it_was_shown(memory: Engine) -> None:
    gate, person = asking(memory, Allow())
    answer = do(gate)
    [proposal] = person.proposals
    assert answer.text == proposal.answer
    assert answer.event.changes == proposal.changes
    assert answer.event.actor == BOT
    assert text_at(memory, "notes/n.md") == "from the bot\n"


@pytest.mark.parametrize(
    ("verdict", "words", "note"),
    [
        (Deny(), "the user declined to create /memories/notes/n.md. Nothing was changed", "declined"),
        (Deny("  \n"), "the user declined to create /memories/notes/n.md. Nothing was changed", "declined"),
        (
            Deny("not {this} %s"),
            "the user declined to create /memories/notes/n.md. Nothing was changed. Their reason: not {this} %s",
            "declined",
        ),
        (
            Deny("half \ud83d"),
            "the user declined to create /memories/notes/n.md. Nothing was changed. Their reason: half ?",
            "declined",
        ),
        (
            Stop(),
            "could not create /memories/notes/n.md: the user stopped before it was done. Nothing was changed",
            "stopped",
        ),
        (
            Unanswered(),
            "could not create /memories/notes/n.md: the user has to approve it and is not there to be asked. "
            "Nothing was changed",
            "not approved",
        ),
        (
            Unanswered(2.51),
            "could not create /memories/notes/n.md: the user has to approve it and did not answer within 2.5 seconds. "
            "Nothing was changed",
            "not approved",
        ),
    ],
)
def test_what_is_not_allowed_is_told_and_recorded_and_not_done(
    memory: Engine, verdict: Verdict, words: str, note: str
) -> None:
    gate, _ = asking(memory, verdict)
    answer = do(gate)
    assert (answer.text, answer.is_error) == (f"Error: {words}", True)
    assert text_at(memory, "notes/n.md") is None
    event = last(memory)
    assert (event.answer, event.actor, event.note, event.changes) == (answer.text, BOT, note, ())
    assert event.call_id == "toolu_1"


class Wrong:
    """Neither a verdict nor anything else that could be understood."""


@pytest.mark.parametrize(
    "answer",
    [
        None, True, "yes", Wrong(), Edit(b"bytes"), Edit(None), Allow(always=7), Deny(3), Unanswered("long"),
        ValueError("a fault of whoever asks, at /host/path"),
    ],
)  # fmt: skip
def test_what_is_no_verdict_changes_nothing(memory: Engine, answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda *fault: told.append(fault[1]))
    gate, _ = asking(memory, answer)
    said = do(gate)
    assert said.text == (
        "Error: could not create /memories/notes/n.md: the user has to approve it, and asking failed. "
        "Nothing was changed"
    )
    assert text_at(memory, "notes/n.md") is None
    assert gate.always == frozenset()
    assert told == ([answer] if isinstance(answer, Exception) else [])  # its owner hears of it, the agent does not


@pytest.mark.parametrize(
    "command",
    [
        {"command": "delete", "path": "/memories/notes"},
        {"command": "rename", "old_path": "/memories/other.md", "new_path": "/memories/o.md"},
    ],
)
def test_what_is_no_text_cannot_be_edited(memory: Engine, command: object) -> None:
    gate, person = asking(memory, Edit("mine\n"))
    assert "asking failed" in do(gate, command).text
    assert person.proposals[0].editable_change is None
    assert text_at(memory, "notes/old.md") == "1\n2\n"


def test_an_interrupt_is_not_taken_for_an_answer(memory: Engine) -> None:
    def interrupted(_: Proposal) -> Verdict:
        raise KeyboardInterrupt

    gate = ApprovalGate(memory, policy=ApprovalPolicy.ASK, ask=interrupted)
    with pytest.raises(KeyboardInterrupt):
        do(gate)
    assert text_at(memory, "notes/n.md") is None
    assert not gate._asking.locked()


def test_a_closed_memory_is_said(memory: Engine) -> None:
    gate, _ = asking(memory, Allow())
    memory.close()
    with pytest.raises(MemoryClosed):
        do(gate)


# Editing


def test_what_the_person_wrote_instead_is_theirs_and_the_agent_is_told_what_stands_there(memory: Engine) -> None:
    gate, _ = asking(memory, Edit("from me\n"))
    answer = do(gate)
    assert not answer.is_error
    assert answer.text == (
        "The user edited this change before it was written. What was written is this:\n"
        "Here's the content of /memories/notes/n.md with line numbers:\n     1\tfrom me\n     2\t"
    )
    assert text_at(memory, "notes/n.md") == "from me\n"
    written, told = list(memory.events())[-2:]
    assert (written.command, written.actor, written.note) == ("write", Person(), "Bot's create, edited")
    assert (told.command, told.actor, told.note, told.no_change) == ("create", BOT, "edited by you first", True)
    assert memory.undo([written.seq]).problem == ""
    assert text_at(memory, "notes/n.md") is None


def test_what_was_opened_in_the_editor_and_not_edited_is_the_agents(memory: Engine) -> None:
    gate, _ = asking(memory, Edit("from the bot\n"))
    assert do(gate).event.actor == BOT
    assert not [event for event in memory.events() if event.command == "write"]


def test_an_edit_back_to_what_stood_there_changes_nothing_and_is_told(memory: Engine) -> None:
    head = memory.get_head()[0]
    gate, _ = asking(memory, Edit("o\n"))
    answer = do(gate, {"command": "create", "path": "/memories/other.md", "file_text": "new\n"})
    assert answer.text.endswith("     1\to\n     2\t")
    assert not answer.is_error
    assert memory.get_head()[0] == head + 1
    assert text_at(memory, "other.md") == "o\n"


def test_an_edit_that_meets_another_change_is_asked_again_with_the_draft_in_hand(world: Any, memory: Engine) -> None:
    def edit_too_late(_: Proposal) -> Verdict:
        world.put("other.md", "written meanwhile\n")
        return Edit("mine\n")

    gate, person = asking(memory, edit_too_late, lambda proposal: Edit(f"{proposal.draft}merged\n"))
    answer = do(gate, {"command": "create", "path": "/memories/other.md", "file_text": "bot\n"})
    assert not answer.is_error
    first, second = person.proposals
    assert (first.again, first.draft) == ("", None)
    assert second.again.startswith("Not saved: other.md has changed since")
    assert second.draft == "mine\n"
    [change] = second.changes
    assert second.text(change.before) == "written meanwhile\n"
    assert text_at(memory, "other.md") == "mine\nmerged\n"


def test_an_edit_is_not_lost_where_the_agents_own_change_cannot_be_made_any_more(world: Any, memory: Engine) -> None:
    def edit_too_late(_: Proposal) -> Verdict:
        world.put("notes/old.md", "quite another text\n")
        return Edit("mine\n")

    command = {"command": "str_replace", "path": "/memories/notes/old.md", "old_str": "1", "new_str": "9"}
    gate, person = asking(memory, edit_too_late, lambda proposal: Edit(proposal.draft or ""))
    answer = do(gate, command)
    assert not answer.is_error
    assert person.proposals[1].draft == "mine\n"
    assert text_at(memory, "notes/old.md") == "mine\n"


def test_where_the_agents_own_change_cannot_be_made_any_more_to_allow_it_is_refused_as_ever(
    world: Any, memory: Engine
) -> None:
    def edit_too_late(_: Proposal) -> Verdict:
        world.put("notes/old.md", "quite another text\n")
        return Edit("1\n2\n")  # which is what stood there, and does not stand there any more

    command = {"command": "str_replace", "path": "/memories/notes/old.md", "old_str": "1", "new_str": "9"}
    gate, person = asking(memory, edit_too_late, Allow())
    assert do(gate, command).text.startswith("No replacement was performed")
    assert person.proposals[1].draft == "1\n2\n"
    [change] = person.proposals[1].changes
    assert person.proposals[1].text(change.before) == "quite another text\n"
    assert text_at(memory, "notes/old.md") == "quite another text\n"


def test_an_edit_is_not_lost_to_a_policy_that_is_switched_meanwhile(world: Any, memory: Engine) -> None:
    def edit_too_late(_: Proposal) -> Verdict:
        world.put("other.md", "written meanwhile\n")
        gate.policy = ApprovalPolicy.ALLOW
        return Edit("mine\n")

    gate, person = asking(memory, edit_too_late, lambda proposal: Edit(proposal.draft or ""))
    do(gate, {"command": "create", "path": "/memories/other.md", "file_text": "bot\n"})
    assert len(person.proposals) == 2
    assert text_at(memory, "other.md") == "mine\n"


class Full(StandIn):
    """A store whose disk is full for a while."""

    def __init__(self, store: Any, times: int) -> None:
        super().__init__(store)
        self._times = times

    @contextlib.contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Any:
        with self._real.begin_transaction(seconds, optimistic=optimistic) as transaction:
            if self._times > 0:
                self._times -= 1
                raise OSError(28, "No space left on device: /host/path")
            yield transaction


def test_an_edit_that_finds_the_disk_full_is_asked_again_with_the_draft_in_hand(world: Any) -> None:
    world.put("other.md", "o\n")
    engine = world.engine(store=Full(world.store(), 0))
    engine.store._times = 1
    gate, person = asking(engine, Edit("mine\n"), lambda proposal: Edit(proposal.draft or ""))
    assert not do(gate).is_error
    assert [proposal.draft for proposal in person.proposals] == [None, "mine\n"]
    assert person.proposals[1].again == "Not saved: no space left. Nothing was written."
    assert text_at(engine, "notes/n.md") == "mine\n"


def test_an_edit_while_somebody_holds_the_lock_is_asked_again(world: Any, memory: Engine) -> None:
    engine = world.engine(lock_seconds=0.05)
    released = contextlib.ExitStack()

    def edit_while_busy(_: Proposal) -> Verdict:
        released.enter_context(memory.store.begin_transaction(1))
        return Edit("mine\n")

    def edit_again(proposal: Proposal) -> Verdict:
        released.close()
        return Edit(proposal.draft or "")

    gate, person = asking(engine, edit_while_busy, edit_again)
    assert not do(gate).is_error
    assert person.proposals[1].again.startswith("Not saved: ")
    assert text_at(engine, "notes/n.md") == "mine\n"


def test_half_a_character_is_not_written(memory: Engine) -> None:
    gate, person = asking(memory, Edit("half \ud83d"), Deny())
    assert do(gate).is_error
    assert person.proposals[1].again == "Not saved: the text has an incomplete character."
    assert text_at(memory, "notes/n.md") is None


# What changed meanwhile


def test_what_changed_while_the_person_thought_is_shown_anew(world: Any, memory: Engine) -> None:
    def too_late(_: Proposal) -> Verdict:
        world.put("notes/old.md", "1\n2\n3\n")
        return Allow()

    command = {"command": "insert", "path": "/memories/notes/old.md", "insert_line": 0, "insert_text": "0"}
    gate, person = asking(memory, too_late, Allow())
    assert not do(gate, command).is_error
    assert person.proposals[1].again == "/memories/notes/old.md has changed since that was shown."
    assert text_at(memory, "notes/old.md") == "0\n1\n2\n3\n"


def test_what_cannot_be_done_any_more_is_refused_as_ever(memory: Engine) -> None:
    def too_late(_: Proposal) -> Verdict:
        memory.execute({"command": "delete", "path": "/memories/other.md"}, actor=Agent("Other"))
        return Allow()

    gate, person = asking(memory, too_late)
    assert do(gate, {"command": "delete", "path": "/memories/other.md"}).text.endswith("does not exist")
    assert len(person.proposals) == 1


def test_what_is_not_asked_about_because_it_is_refused_is_not_done_if_it_could_be_by_then(memory: Engine) -> None:
    """Between looking and doing somebody makes the refusal untrue: still nothing is done unseen."""
    propose, raced = memory.propose, []

    def propose_just_before(command: object, **options: Any) -> Proposal | None:
        proposal = propose(command, **options)
        if not raced:
            raced.append(True)
            made = {"command": "create", "path": "/memories/late.md", "file_text": "1\n"}
            memory.execute(made, actor=Agent("Other"))
        return proposal

    memory.propose = propose_just_before  # type: ignore[method-assign]
    gate, person = asking(memory, Deny())
    assert "declined" in do(gate, {"command": "delete", "path": "/memories/late.md"}).text
    assert len(person.proposals) == 1
    assert text_at(memory, "late.md") == "1\n"


def test_what_can_never_be_looked_at_beforehand_is_not_done(memory: Engine) -> None:
    memory.propose = lambda *_, **__: None  # type: ignore[method-assign, assignment, misc]
    gate, _ = asking(memory)
    assert do(gate).text.endswith("the memory folder is busy. Nothing was changed; try again")
    assert text_at(memory, "notes/n.md") is None


# Always


@pytest.mark.parametrize(
    ("always", "command", "asked"),
    [
        ("notes", {"command": "create", "path": "/memories/notes/n.md", "file_text": "n"}, False),
        ("notes", {"command": "create", "path": "/memories/notes/a/b/n.md", "file_text": "n"}, False),
        ("notes", {"command": "delete", "path": "/memories/notes"}, False),
        ("notes", {"command": "delete", "path": "/memories/notes2"}, True),
        ("notes", {"command": "create", "path": "/memories/notes2/n.md", "file_text": "n"}, True),
        ("notes", {"command": "create", "path": "/memories/notes.md", "file_text": "n"}, True),
        ("notes", {"command": "rename", "old_path": "/memories/notes/old.md", "new_path": "/memories/notes/n"}, False),
        ("notes", {"command": "rename", "old_path": "/memories/notes/old.md", "new_path": "/memories/n.md"}, True),
        ("notes", {"command": "rename", "old_path": "/memories/other.md", "new_path": "/memories/notes/n.md"}, True),
        ("notes", {"command": "rename", "old_path": "/memories/notes", "new_path": "/memories/notes3"}, True),
        ("notes/old.md", {"command": "delete", "path": "/memories/notes/old.md"}, False),
        ("notes/old.md", {"command": "delete", "path": "/memories/notes"}, True),
        ("/", {"command": "delete", "path": "/memories/notes2"}, False),
        ("", {"command": "delete", "path": "/memories/notes2"}, True),
    ],
)
def test_always_holds_below_its_path_and_nowhere_else(
    memory: Engine, always: str, command: dict[str, Any], asked: bool
) -> None:
    gate, person = asking(memory, Allow(), always=frozenset({always}))
    assert not do(gate, command).is_error
    assert bool(person.proposals) is asked


def test_always_is_remembered_and_several_hold_together(memory: Engine) -> None:
    gate, person = asking(memory, Allow("notes"), Allow("notes2"))
    do(gate)
    do(gate, {"command": "delete", "path": "/memories/notes2/old.md"})
    assert gate.always == {"notes", "notes2"}
    across = {"command": "rename", "old_path": "/memories/notes/n.md", "new_path": "/memories/notes2/n.md"}
    assert not do(gate, across).is_error
    assert len(person.proposals) == 2


@pytest.mark.parametrize(("always", "asked"), [("", 1), ("raw_memories.md", 0)])
def test_what_another_program_keeps_is_covered_by_its_own_name_only(folder_world: Any, always: str, asked: int) -> None:
    folder_world.fill({"raw_memories.md": "raw\n", "memory_summary.md": "v1\n", "rollout_summaries/a.md": "a\n"})
    gate, person = asking(folder_world.main, Deny(), always=frozenset({always or EVERYWHERE}))
    command = {"command": "create", "path": "/memories/raw_memories.md", "file_text": "mine\n"}
    assert do(gate, command).is_error == bool(asked)
    assert len(person.proposals) == asked
    assert do(gate).is_error == (not asked), "another file is asked about where only that one is allowed"


def test_always_does_not_follow_a_link_out_of_its_path(folder_world: Any) -> None:
    folder_world.put("secret/s.md", "s\n")
    folder_world.make("notes")
    (folder_world.folder / "notes/way").symlink_to("../secret")
    folder_world.main.reconcile()
    gate, person = asking(folder_world.main, Deny(), always=frozenset({"notes"}))
    do(gate, {"command": "create", "path": "/memories/notes/way/s.md", "file_text": "changed\n"})
    assert [change.path for change in person.proposals[0].changes] == ["secret/s.md"]


# Several at once


class Desk:
    """A person in a thread of their own: questions come in, answers go out, when the test says so."""

    def __init__(self) -> None:
        self.questions: queue.Queue[Proposal] = queue.Queue()
        self.answers: queue.Queue[Verdict] = queue.Queue()
        self.open = 0
        self.most_open = 0

    def __call__(self, proposal: Proposal) -> Verdict:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        self.questions.put(proposal)
        verdict = self.answers.get(timeout=LIMIT)
        self.open -= 1
        return verdict


def started(act: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=act)
    thread.start()
    return thread


def test_one_question_at_a_time_and_always_answers_those_behind_it(memory: Engine) -> None:
    desk = Desk()
    gate = ApprovalGate(memory, policy=ApprovalPolicy.ASK, ask=desk)
    texts: list[str] = []

    def create(name: str) -> None:
        command = {"command": "create", "path": f"/memories/notes/{name}", "file_text": name}
        texts.append(do(gate, command).text)

    threads = [started(lambda name=name: create(name)) for name in ("a", "b", "c")]  # type: ignore[misc]
    desk.questions.get(timeout=LIMIT)
    desk.answers.put(Allow("notes"))
    for thread in threads:
        thread.join(LIMIT)
    assert sorted(texts) == [f"File created successfully at: /memories/notes/{name}" for name in "abc"]
    assert desk.most_open == 1
    assert desk.questions.empty()


@pytest.mark.parametrize(
    ("policy", "words"), [(ApprovalPolicy.READ_ONLY, "read-only"), (ApprovalPolicy.ALLOW, "File created successfully")]
)
def test_a_policy_that_is_switched_while_a_question_is_open_holds_for_those_behind_it(
    memory: Engine, policy: ApprovalPolicy, words: str
) -> None:
    desk = Desk()
    gate = ApprovalGate(memory, policy=ApprovalPolicy.ASK, ask=desk)
    texts: dict[str, str] = {}

    def create(name: str) -> None:
        command = {"command": "create", "path": f"/memories/notes/{name}", "file_text": name}
        texts[name] = do(gate, command).text

    first = started(lambda: create("first"))
    desk.questions.get(timeout=LIMIT)
    second = started(lambda: create("second"))
    gate.policy = policy
    desk.answers.put(Deny())  # the open question is answered by the person, whatever the policy is by now
    for thread in (first, second):
        thread.join(LIMIT)
    assert "declined" in texts["first"]
    assert words in texts["second"]
    assert desk.questions.empty()


def test_a_view_is_not_kept_waiting_by_an_open_question(memory: Engine) -> None:
    desk = Desk()
    gate = ApprovalGate(memory, policy=ApprovalPolicy.ASK, ask=desk)
    waiting = started(lambda: do(gate))
    desk.questions.get(timeout=LIMIT)
    assert not do(gate, {"command": "view", "path": "/memories"}).is_error
    desk.answers.put(Stop())
    waiting.join(LIMIT)
    assert last(memory).note == "stopped"


def test_the_agent_cannot_reach_the_gate() -> None:
    with memtui.open_in_memory() as memory:
        gate, person = asking(memory, Deny(), Deny())
        for command in (
            {**CREATE, "approved": True, "policy": "allow", "always": "", "actor": "you"},
            {**CREATE, "path": "/memories/policy"},
        ):
            assert "declined" in do(gate, command).text
        assert len(person.proposals) == 2
        assert (gate.policy, gate.always) == (ApprovalPolicy.ASK, frozenset())
