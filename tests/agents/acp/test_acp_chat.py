"""A conversation with an agent's own program over the Agent Client Protocol, against one that follows a script."""

import queue
import sys
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.chat import events
from memtui.agents.chat.events import TurnOutcome
from memtui.agents.chat.sessions.export import to_markdown
from memtui.agents.chat.sessions.replay import ReplayOutcome, replay_session
from memtui.agents.chat.sessions.store import CHATS, ChatSession, list_sessions, read_records
from memtui.agents.gate import ApprovalGate
from memtui.agents.origin import find_prompts
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Edit, Proposal, Verdict
from memtui.core.events import Agent, Person
from memtui.fs.state import get_state_directory
from tests.agents.acp.conftest import Start, Talk
from tests.agents.chat.listener import SECONDS

OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def write(path: Path, text: str) -> list[Any]:
    return ["ask", "fs/write_text_file", {"path": str(path), "content": text}]


def permission(**call: Any) -> list[Any]:
    return ["ask", "session/request_permission", {"toolCall": {"toolCallId": "c1", **call}, "options": OPTIONS}]


def test_what_was_told_of_a_call_is_shown_where_its_question_does_not_say_it_again(start: Start) -> None:
    told = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "rm -r old", "kind": "execute"}
    talk = start(
        [["update", told], permission(kind="execute"), ["text", "Done."]], policy=ApprovalPolicy.ASK
    )  # fmt: skip
    talk.chat.send(events.Prompt("Clean up"))
    asked = talk.heard.next(events.ApprovalNeeded)
    assert asked.proposal.permission is not None
    assert asked.proposal.permission.title == "execute rm -r old"
    talk.chat.answer(asked.number, Allow())
    talk.heard.next(events.TurnEnded)
    assert talk.answers == [{"outcome": {"outcome": "selected", "optionId": "yes"}}]


def test_a_call_of_the_memory_is_not_asked_about_twice_however_its_question_names_it(start: Start) -> None:
    raw = {"server": "memtui", "tool": "memory", "arguments": {"command": "view", "path": "/memories"}}
    told = {
        "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "mcp.memtui.memory", "kind": "execute",
        "rawInput": raw, "_meta": {"is_mcp_tool_call": True},
    }  # fmt: skip
    talk = start(
        [["update", told], permission(kind="execute"), permission(kind="execute", title="rm -r old")],
        policy=ApprovalPolicy.ASK,
    )
    talk.chat.send(events.Prompt("Look"))
    asked = talk.heard.next(events.ApprovalNeeded)
    assert asked.proposal.permission is not None
    assert asked.proposal.permission.title == "execute rm -r old", "another call is none of the memory's"
    talk.chat.answer(asked.number, Deny())
    talk.heard.next(events.TurnEnded)
    assert talk.answers == [{"outcome": {"outcome": "selected", "optionId": each}} for each in ("yes", "no")]


def test_the_agent_gets_the_folder_and_the_memory_and_its_words_come_in_order(start: Start) -> None:
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}}
    plan = {"sessionUpdate": "plan", "entries": [{"content": "Look", "priority": "high", "status": "in_progress"}]}
    call = {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "grep", "kind": "search", "rawInput": {"q": "a"}}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": "found"}
    talk = start(
        [["update", thought], ["text", "Let me "], ["text", "look."], ["update", plan], ["update", call],
         ["update", done], ["text", "There."]]
    )  # fmt: skip
    ended = talk.say("Hello")
    assert (ended.end, ended.calls, ended.refused) == (TurnOutcome.DONE, 1, 0)
    assert talk.heard.of(events.Ready)[0].model.id == "scripted 1"
    assert talk.heard.text == "Let me look.There."
    assert {event.block for event in talk.heard.of(events.TextDelta)} == {0, 1}
    assert [event.text for event in talk.heard.of(events.ThinkingDelta)] == ["Hm."]
    result = talk.heard.of(events.CallEnded)[0]
    assert (result.name, dict(result.fields), result.text, result.is_error) == ("grep", {"q": "a"}, "found", False)
    assert "Plan: [-] Look" in talk.heard.sentences
    by_method = {each.get("method"): each.get("params") for each in talk.sent}
    opened = by_method["session/new"]
    assert opened["cwd"] == str(talk.folder)
    server = opened["mcpServers"][0]
    assert server["args"][:5] == ["-P", "-m", "memtui", "mcp", str(talk.folder)]
    assert "--ask" in server["args"]
    assert server["args"][-2:] == ["--session", talk.chat.session_id]
    assert by_method["session/prompt"]["prompt"] == [{"type": "text", "text": "Hello"}]


def test_two_messages_are_two_pieces_of_the_answer(start: Start) -> None:
    chunks = [("m1", "One"), ("m1", " piece."), ("m2", "Another.")]
    told = [
        {"sessionUpdate": "agent_message_chunk", "messageId": id, "content": {"type": "text", "text": text}}
        for id, text in chunks
    ]
    talk = start([["update", each] for each in told])
    talk.say("Hello")
    assert {event.block for event in talk.heard.of(events.TextDelta)} == {0, 1}


def test_a_file_that_the_agent_writes_goes_through_the_engine_and_is_undone_with_the_turn(start: Start) -> None:
    talk = start()
    talk = start([write(talk.folder / "a.md", "one\n"), ["text", "Kept."]])
    ended = talk.say("Remember")
    assert (talk.folder / "a.md").read_text() == "one\n"
    assert [(each.path, each.how, each.added) for each in ended.memory_changes] == [("a.md", "created", 1)]
    event = talk.heard.of(events.CallEnded)[0].event
    assert event is not None
    assert event.actor == Agent("Scripted", session=talk.chat.session_id)
    talk.chat.undo_turn()
    talk.heard.next(events.TurnUndone)
    assert not (talk.folder / "a.md").exists()
    talk.say("And now?")
    prompts = [each["params"]["prompt"] for each in talk.sent if each.get("method") == "session/prompt"]
    assert "took back" in prompts[1][0]["text"]


def test_a_write_asks_the_person_first_and_a_no_changes_nothing(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "memories" / "a.md"
    talk = start([write(path, "one\n"), write(path, "two\n")], policy=ApprovalPolicy.ASK)
    talk.chat.send(events.Prompt("Remember"))
    asked = talk.heard.next(events.ApprovalNeeded)
    assert asked.proposal.text(asked.proposal.changes[0].after) == "one\n"
    talk.chat.answer(asked.number, Deny("not that"))
    asked = talk.heard.next(events.ApprovalNeeded)
    talk.chat.answer(asked.number, Allow())
    ended = talk.heard.next(events.TurnEnded)
    assert (ended.calls, ended.refused) == (2, 1)
    assert path.read_text() == "two\n"
    assert "not that" in talk.answers[0]["message"]
    assert talk.answers[1] == {}


def test_paths_outside_the_folder_are_refused_through_links_too(start: Start, tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    secret = tmp_path / "secret"
    secret.write_text("private")
    (tmp_path / "memories" / "out").symlink_to(tmp_path)
    read = [
        ["ask", "fs/read_text_file", {"path": str(path)}]
        for path in (secret, tmp_path / "memories" / ".." / "secret", tmp_path / "memories" / "out" / "secret")
    ]
    talk = start([*read, write(tmp_path / "memories" / "out" / "new", "x"), write(tmp_path / "new", "x")])
    ended = talk.say("Look")
    assert ended.memory_changes == ()
    assert len(talk.answers) == 5
    assert all("only below the memory folder" in each["message"] for each in talk.answers)
    assert not (tmp_path / "new").exists()


def test_a_file_is_read_whole_or_in_part_and_that_is_recorded(start: Start, tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    path = tmp_path / "memories" / "a.md"
    path.write_text("1\n2\n3\n")
    talk = start(
        [["ask", "fs/read_text_file", {"path": str(path)}],
         ["ask", "fs/read_text_file", {"path": str(path), "line": 2, "limit": 1}],
         ["ask", "fs/read_text_file", {"path": str(path) + "x"}]]
    )  # fmt: skip
    talk.say("Read")
    assert talk.answers[:2] == [{"content": "1\n2\n3\n"}, {"content": "2\n"}]
    assert "does not exist" in talk.answers[2]["message"]
    views = [each.event for each in talk.heard.of(events.CallEnded) if each.event]
    assert [each.command for each in views] == ["view"] * 3


def test_a_permission_is_asked_in_the_same_pane_and_its_text_is_not_asked_about_twice(
    start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "memories" / "a.md"
    diff = {"type": "diff", "path": str(path), "oldText": None, "newText": "one\n"}
    talk = start(
        [permission(title="Write a.md", kind="edit", content=[diff]), write(path, "one\n"), write(path, "other\n")],
        policy=ApprovalPolicy.ASK,
    )
    talk.chat.send(events.Prompt("Remember"))
    asked = talk.heard.next(events.ApprovalNeeded)
    assert asked.proposal.permission is not None
    assert (asked.proposal.permission.title, asked.proposal.permission.is_lasting) == ("edit Write a.md", True)
    assert asked.proposal.text(asked.proposal.changes[0].after) == "one\n"
    assert asked.proposal.consent_scope is None
    talk.chat.answer(asked.number, Allow())
    other = talk.heard.next(events.ApprovalNeeded)
    assert other.proposal.text(other.proposal.changes[0].after) == "other\n"
    talk.chat.answer(other.number, Deny())
    talk.heard.next(events.TurnEnded)
    assert path.read_text() == "one\n"
    assert talk.answers[0] == {"outcome": {"outcome": "selected", "optionId": "yes"}}


def test_the_answers_to_a_permission_are_the_options_of_the_agent(start: Start) -> None:
    shell = permission(title="Run ls", kind="execute", rawInput={"command": "ls"})
    talk = start([shell, shell, shell], policy=ApprovalPolicy.ALLOW)  # a policy for memory allows no shell
    talk.chat.send(events.Prompt("Go"))
    for verdict in (Allow(), Allow(always="/"), Deny()):
        asked = talk.heard.next(events.ApprovalNeeded)
        assert "ls" in (asked.proposal.permission.detail if asked.proposal.permission else "")
        talk.chat.answer(asked.number, verdict)
    talk.heard.next(events.TurnEnded)
    assert [each["outcome"]["optionId"] for each in talk.answers] == ["yes", "always", "no"]


def test_a_call_of_memtuis_server_is_not_asked_about_twice_and_nothing_else_passes_for_one(start: Start) -> None:
    names = ["mcp__memtui__memory", "memtui_memory", "memtui/search_memory"]
    wrong = ["cat memtui/memory", "memtui_memory; ls", "memtui_other", "notmemtui_memory"]
    talk = start(
        [*(permission(title=each, kind="other") for each in names), *(permission(title=each) for each in wrong),
         permission(title="memtui_memory", kind="execute")],
        policy=ApprovalPolicy.ASK,
    )  # fmt: skip
    talk.chat.send(events.Prompt("Go"))
    for _ in range(len(wrong) + 1):
        talk.chat.answer(talk.heard.next(events.ApprovalNeeded).number, Deny())
    talk.heard.next(events.TurnEnded)
    assert [each["outcome"]["optionId"] for each in talk.answers] == ["yes"] * len(names) + ["no"] * (len(wrong) + 1)


def test_where_nobody_can_be_asked_a_shell_is_refused_and_a_read_is_not(start: Start) -> None:
    talk = start(
        [permission(title="Run ls", kind="execute"), permission(title="Read", kind="read")],
        policy=ApprovalPolicy.ALLOW, can_ask=False,
    )  # fmt: skip
    talk.say("Go")
    assert [each["outcome"]["optionId"] for each in talk.answers] == ["no", "yes"]
    assert any("nobody is there" in each for each in talk.heard.sentences)


def test_a_read_only_conversation_allows_no_edit(start: Start, tmp_path: Path) -> None:
    talk = start(
        [permission(title="Edit", kind="edit"), write(tmp_path / "memories" / "a.md", "x")],
        policy=ApprovalPolicy.READ_ONLY,
    )
    ended = talk.say("Go")
    assert talk.answers[0]["outcome"]["optionId"] == "no"
    assert "message" in talk.answers[1]
    assert ended.memory_changes == ()


def test_a_stop_cancels_the_turn_and_what_was_said_is_kept(start: Start) -> None:
    talk = start([["text", "Working"], ["hang"]], [["text", "Again."]])
    talk.chat.send(events.Prompt("Go"))
    talk.heard.next(events.TextDelta)
    talk.chat.stop()
    assert talk.heard.next(events.TurnEnded).end is TurnOutcome.STOPPED
    assert talk.say("Next").end is TurnOutcome.DONE
    assert talk.heard.text == "WorkingAgain."


def test_an_agent_that_does_not_stop_is_ended_and_started_again(start: Start) -> None:
    talk = start([["text", "Working"], ["deaf"]], limits={"cancel_seconds": 0.2})
    talk.chat.send(events.Prompt("Go"))
    talk.heard.next(events.TextDelta)
    talk.chat.stop()
    assert talk.heard.next(events.TurnEnded).end is TurnOutcome.STOPPED
    assert any("did not stop" in each for each in talk.heard.sentences)
    talk.chat.send(events.Prompt("Next"))
    talk.heard.next(events.TurnStarted)
    assert [each["method"] for each in talk.sent].count("initialize") == 2
    talk.chat.stop()
    talk.heard.next(events.TurnEnded)


def test_a_question_that_waits_when_the_turn_is_stopped_is_cancelled(start: Start) -> None:
    talk = start([permission(title="Run ls", kind="execute"), ["hang"]])
    talk.chat.send(events.Prompt("Go"))
    talk.heard.next(events.ApprovalNeeded)
    talk.chat.stop()
    assert talk.heard.next(events.TurnEnded).end is TurnOutcome.STOPPED
    assert talk.answers == [{"outcome": {"outcome": "cancelled"}}]


def test_a_program_that_dies_gives_the_message_back_and_says_why(start: Start) -> None:
    talk = start([["die", 3, "no \x1b[31mquota left"]])
    ended = talk.say("Important words")
    fault = talk.heard.of(events.ChatFault)[0]
    assert ended.end is TurnOutcome.FAULT
    assert fault.prompt == events.Prompt("Important words")
    assert "Scripted ended with exit code 3: no" in fault.sentence
    assert "quota left" in fault.sentence
    assert "\x1b" not in fault.sentence


def test_a_program_that_dies_in_the_middle_keeps_the_answer_and_starts_again(start: Start) -> None:
    talk = start([["text", "Half"], ["die", 1, "gone"]])
    assert talk.say("Go").end is TurnOutcome.FAULT
    fault = talk.heard.of(events.ChatFault)[0]
    assert fault.prompt is None
    assert "The answer so far is kept" in fault.sentence
    talk.say("Next")
    assert [each["method"] for each in talk.sent].count("initialize") == 2


def test_lines_that_are_no_messages_are_left_out_and_counted(start: Start) -> None:
    junk = ["not json", "[1]", '"x"', '{"id": [1], "result": 1}', "[" * 100_000, '{"id": 99, "error": 5}', "{}"]
    unknown = {"sessionUpdate": "from_the_future", "value": 1}
    talk = start([*(["garbage", each] for each in junk), ["update", unknown], ["text", "Still here."]])
    assert talk.say("Go").end is TurnOutcome.DONE
    assert talk.heard.text == "Still here."
    assert any("6 lines that are no messages" in each for each in talk.heard.sentences)


def test_an_agent_that_wants_a_login_is_told_to_the_person(start: Start) -> None:
    talk = start(answers={"session/new": {"error": {"code": -32000, "message": "Authentication required"}}})
    talk.chat.send(events.Prompt("Hello"))
    fault = talk.heard.next(events.ChatFault)
    assert "log in" in fault.sentence
    assert "scripted login" in fault.sentence
    assert not [each for each in talk.sent if each.get("method") == "authenticate"]


def test_a_program_that_is_silent_at_its_start_is_given_up(start: Start) -> None:
    talk = start(answers={"initialize": "deaf"}, limits={"connect_seconds": 0.3})
    talk.chat.send(events.Prompt("Hello"))
    fault = talk.heard.next(events.ChatFault, lambda each: each.prompt is not None)
    assert "did not answer within 0.3 seconds" in fault.sentence


def test_a_program_that_is_no_agent_is_told_by_its_last_words(start: Start) -> None:
    talk = start(command=(sys.executable, "-c", "import sys; sys.exit('usage: something else')"))
    fault = talk.heard.next(events.ChatFault)
    assert "ended with exit code 1: usage: something else" in fault.sentence


def test_the_silence_of_a_turn_is_told(start: Start) -> None:
    talk = start([["hang"]], limits={"silence_seconds": 0.2})
    talk.chat.send(events.Prompt("Go"))
    talk.heard.next(events.Notice, lambda each: "has sent nothing" in each.sentence)
    talk.chat.stop()
    assert talk.heard.next(events.TurnEnded).end is TurnOutcome.STOPPED


def test_a_conversation_is_resumed_in_the_agents_own_session_where_it_can(start: Start, tmp_path: Path) -> None:
    directory = tmp_path / "chats"
    able = {"loadSession": True}
    talk = start([["text", "One."]], session=ChatSession.create(directory, folder="", kept=True), capabilities=able)
    talk.say("Hello")
    name = talk.chat.session_id
    talk.chat.close()
    talk = start([["text", "Two."]], session=ChatSession.resume(directory, name), capabilities=able)
    assert talk.say("Again").end is TurnOutcome.DONE
    loads = [each["params"]["sessionId"] for each in talk.sent if each.get("method") == "session/load"]
    assert loads == ["s1"]
    assert not [each for each in talk.sent if each.get("method") == "session/new"]


def test_clearing_begins_a_session_of_its_own(start: Start) -> None:
    talk = start([["text", "One."]], [["text", "Two."]])
    talk.say("Hello")
    talk.chat.clear()
    talk.heard.next(events.ConversationRewound)
    talk.say("Again")
    assert [each.get("method") for each in talk.sent].count("session/new") == 2


def make_proposal(talk: Talk, text: str) -> Proposal:
    """A change that the agent's MCP server asks about."""
    command = {"command": "create", "path": "/memories/mcp.md", "file_text": text}
    proposal = talk.memory.propose(command, actor=Agent("Scripted", session=talk.chat.session_id), call_id="7")
    assert proposal is not None
    return proposal


def test_a_change_through_the_mcp_server_is_decided_by_the_policy_of_the_moment(start: Start) -> None:
    talk = start(policy=ApprovalPolicy.ALLOW)
    verdicts: queue.Queue[Verdict] = queue.Queue()
    proposal = make_proposal(talk, "one\n")
    talk.chat.decide(proposal, verdicts.put)
    assert verdicts.get(timeout=SECONDS) == Allow()
    talk.chat.set_policy(ApprovalPolicy.READ_ONLY)
    talk.chat.decide(proposal, verdicts.put)
    assert isinstance(verdicts.get(timeout=SECONDS), Deny)
    talk.chat.set_policy(ApprovalPolicy.ASK)
    talk.chat.decide(proposal, verdicts.put)
    asked = talk.heard.next(events.ApprovalNeeded)
    assert asked.proposal is proposal
    talk.chat.answer(asked.number, Allow(always="/"))
    assert verdicts.get(timeout=SECONDS) == Allow()
    assert talk.heard.next(events.PolicyChanged, lambda each: bool(each.always)).always == {"/"}
    talk.chat.decide(proposal, verdicts.put)
    assert verdicts.get(timeout=SECONDS) == Allow()
    assert len(talk.heard.of(events.ApprovalNeeded)) == 1


def test_what_the_agent_wrote_through_another_process_belongs_to_its_turn(start: Start) -> None:
    talk = start([["text", "Working"], ["hang"]])
    talk.chat.send(events.Prompt("Remember"))
    talk.heard.next(events.TextDelta)
    own = Agent("Scripted", session=talk.chat.session_id)
    for name, actor in (("own.md", own), ("other.md", Agent("Scripted", session="another"))):
        talk.memory.execute({"command": "create", "path": f"/memories/{name}", "file_text": "x\n"}, actor=actor)
    talk.chat.stop()
    ended = talk.heard.next(events.TurnEnded)
    assert [each.path for each in ended.memory_changes] == ["own.md"]
    talk.chat.undo_turn()
    talk.heard.next(events.TurnUndone)
    assert sorted(each.name for each in talk.folder.iterdir()) == ["other.md"]


def test_a_model_of_the_agents_own_is_chosen_and_one_is_not_where_it_offers_none(start: Start) -> None:
    choices = [{"value": "big", "name": "Big"}, {"value": "small", "name": "Small"}]
    option = {"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "big"}
    talk = start(
        opened={"configOptions": [{**option, "options": choices}]},
        answers={"session/set_config_option": {"result": {"configOptions": []}}},
    )
    assert [each.id for each in talk.heard.next(events.ModelsListed).models] == ["big", "small"]
    assert talk.heard.next(events.ModelChanged).model == events.Model("big", "Big")
    talk.chat.set_model("Small")
    assert talk.heard.next(events.ModelChanged).model.id == "small"
    asked = [each["params"] for each in talk.sent if each.get("method") == "session/set_config_option"]
    assert asked == [{"sessionId": "s1", "configId": "m", "value": "small"}]
    other = start()
    other.heard.next(events.Ready)
    other.chat.set_model("small")
    other.heard.next(events.Notice, lambda each: "offers no models" in each.sentence)


MODES = {
    "modes": {
        "currentModeId": "code",
        "availableModes": [
            {"id": "code", "name": "Code"},
            {"id": "plan", "name": "Plan\x1b[2J", "description": "writes nothing"},
        ],
    }
}


def test_its_modes_and_commands_are_told_also_outside_of_turns_and_a_mode_is_set(start: Start) -> None:
    commands = [{"name": "init", "description": "Look around"}, {"name": "x" * 99, "description": ""}]
    update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    changed = {"sessionUpdate": "current_mode_update", "currentModeId": "code"}
    talk = start([["update", update], ["update", changed], ["text", "Hm."]], opened=MODES)
    offers = talk.heard.next(events.OffersChanged)
    assert [(each.id, each.words) for each in offers.modes] == [
        ("code", "Code"), ("plan", "Plan\\x1b[2J: writes nothing")
    ]  # fmt: skip
    assert (offers.mode, offers.commands) == ("code", ())
    talk.chat.set_mode("plan")
    assert talk.heard.next(events.OffersChanged).mode == "plan"
    talk.say("Hello")
    told = talk.heard.of(events.OffersChanged)
    assert [(each.id, each.words) for each in told[-1].commands] == [("init", "Look around"), ("x" * 64, "")]
    assert told[-1].mode == "code"
    asked = [each["params"] for each in talk.sent if each.get("method") == "session/set_mode"]
    assert asked == [{"sessionId": "s1", "modeId": "plan"}]


def test_a_mode_may_be_a_setting_of_the_session_and_the_agent_may_change_it(start: Start) -> None:
    choices = [{"value": "build", "name": "Build"}, {"value": "plan", "name": "Plan", "description": "Writes nothing"}]
    option = {"id": "how", "name": "Mode", "category": "mode", "type": "select", "options": choices}
    changed = {"sessionUpdate": "config_option_update", "configOptions": [{**option, "currentValue": "build"}]}
    talk = start(
        [["update", changed], ["text", "Building."]],
        opened={"configOptions": [{**option, "currentValue": "build"}]},
        answers={"session/set_config_option": {"result": {"configOptions": [{**option, "currentValue": "plan"}]}}},
    )
    offers = talk.heard.next(events.OffersChanged)
    assert [(each.id, each.words) for each in offers.modes] == [("build", "Build"), ("plan", "Plan: Writes nothing")]
    assert offers.mode == "build"
    talk.chat.set_mode("plan")
    assert talk.heard.next(events.OffersChanged).mode == "plan"
    asked = [each["params"] for each in talk.sent if each.get("method") == "session/set_config_option"]
    assert asked == [{"sessionId": "s1", "configId": "how", "value": "plan"}]
    talk.say("Go on")
    assert talk.heard.of(events.OffersChanged)[-1].mode == "build"


def test_a_mode_that_it_does_not_have_or_refuses_is_told(start: Start) -> None:
    refusal = {"error": {"code": -32602, "message": "not now"}}
    talk = start(opened=MODES, answers={"session/set_mode": refusal})
    talk.heard.next(events.OffersChanged)
    talk.chat.set_mode("fast")
    talk.heard.next(events.Notice, lambda each: "The mode was not changed. Its modes: code, plan." in each.sentence)
    talk.chat.set_mode("plan")
    talk.heard.next(events.Notice, lambda each: "The mode was not changed: not now." in each.sentence)
    other = start()
    other.heard.next(events.Ready)
    other.chat.set_mode("plan")
    other.heard.next(events.Notice, lambda each: "offers no modes" in each.sentence)


def test_a_model_that_is_asked_for_at_the_start_is_set_before_the_first_turn(start: Start) -> None:
    option = {"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "big", "options": []}
    talk = start(
        opened={"configOptions": [option]},
        answers={"session/set_config_option": {"result": {"configOptions": []}}},
        model="small",
    )
    talk.say("Hello")
    methods = [each.get("method") for each in talk.sent]
    assert methods.index("session/set_config_option") < methods.index("session/prompt")
    assert talk.chat.model == events.Model("small")


def test_a_session_is_resumed_without_a_replay_where_the_agent_can(start: Start, tmp_path: Path) -> None:
    directory, able = tmp_path / "chats", {"loadSession": True, "sessionCapabilities": {"resume": {}}}
    talk = start(session=ChatSession.create(directory, folder="", kept=True), capabilities=able)
    talk.say("Hello")
    talk.chat.close()
    for answers in ({}, {"session/resume": {"error": {"code": -32603, "message": "no"}}}):
        talk = start(session=ChatSession.resume(directory), capabilities=able, answers=answers)
        talk.say("Again")
        talk.chat.close()
        asked = [each["method"] for each in talk.sent if each.get("method", "").startswith("session/")]
        assert asked == ["session/resume", *(["session/load"] if answers else []), "session/prompt"]


def test_a_copy_of_a_conversation_goes_on_in_a_copy_of_the_agents_session(start: Start, tmp_path: Path) -> None:
    directory = tmp_path / "chats"
    able: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"fork": {}}}
    talk = start(session=ChatSession.create(directory, folder="", kept=True), capabilities=able)
    talk.say("Hello")
    first = talk.chat.session_id
    talk.chat.close()

    fork = ChatSession.fork(directory, first)
    copied = {"session/fork": {"result": {"sessionId": "s2"}}}
    talk = start(session=fork, capabilities=able, answers=copied, session_id="s2")
    assert talk.say("Another way").end is TurnOutcome.DONE
    talk.chat.close()
    by_method = {each["method"]: each["params"] for each in talk.sent if each.get("method", "").startswith("session/")}
    assert set(by_method) == {"session/fork", "session/prompt"}
    assert by_method["session/fork"]["sessionId"] == "s1"
    assert by_method["session/fork"]["cwd"] == str(talk.folder)
    assert by_method["session/fork"]["mcpServers"][0]["args"][-1] == fork.id != first
    assert by_method["session/prompt"]["sessionId"] == "s2"

    talk = start(session=ChatSession.resume(directory, fork.id), capabilities=able, session_id="s2")
    talk.say("Again")
    talk.chat.close()
    assert [each["params"]["sessionId"] for each in talk.sent if each.get("method") == "session/load"] == ["s2"]
    unkept = ChatSession.fork(directory, first, kept=False)
    talk = start(session=unkept, capabilities=able, answers=copied, session_id="s2")
    talk.say("As a try")
    talk.chat.close()
    asked = [each["method"] for each in talk.sent if each.get("method", "").startswith("session/")]
    assert asked == ["session/fork", "session/prompt"], "the agent's own session is left alone, too"
    talk = start(session=ChatSession.resume(directory, first), capabilities=able)
    talk.say("Again")
    assert [each["params"]["sessionId"] for each in talk.sent if each.get("method") == "session/load"] == ["s1"]


def test_an_agent_that_copies_no_session_begins_a_new_one_and_says_so(start: Start, tmp_path: Path) -> None:
    directory = tmp_path / "chats"
    talk = start(session=ChatSession.create(directory, folder="", kept=True), capabilities={"loadSession": True})
    talk.say("Hello")
    talk.chat.close()
    talk = start(session=ChatSession.fork(directory), capabilities={"loadSession": True})
    talk.say("Another way")
    assert [each["method"] for each in talk.sent if each.get("method") in ("session/new", "session/load")] == [
        "session/new"
    ]
    assert any("cannot copy its earlier session" in each for each in talk.heard.sentences)


def edit_permission(path: Path, old: str | None, new: str) -> list[Any]:
    diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
    return permission(title="Edit", kind="edit", content=[diff])


def test_a_text_that_is_edited_first_is_written_as_the_persons_and_the_agent_is_told_no(
    start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "memories" / "a.md"
    talk = start()
    path.write_text("one\ntwo\nthree\n")
    talk = start([edit_permission(path, "two\n", "2\n"), ["text", "All right."]], policy=ApprovalPolicy.ASK)
    talk.chat.send(events.Prompt("Remember"))
    asked = talk.heard.next(events.ApprovalNeeded)
    change = asked.proposal.editable_change
    assert change is not None
    assert (asked.proposal.text(change.before), asked.proposal.text(change.after)) == (
        "one\ntwo\nthree\n", "one\n2\nthree\n"
    )  # fmt: skip
    talk.chat.answer(asked.number, Edit("one\nzwei\nthree\n"))
    ended = talk.heard.next(events.TurnEnded)
    assert path.read_text() == "one\nzwei\nthree\n"
    assert talk.answers == [{"outcome": {"outcome": "selected", "optionId": "no"}}]
    assert [(each.path, each.edited) for each in ended.memory_changes] == [("a.md", True)]
    written = next(each for each in talk.memory.events() if each.command == "write")
    assert isinstance(written.actor, Person)
    assert any("Your text is in a.md. Scripted was told no" in each for each in talk.heard.sentences)
    talk.say("And now?")
    prompts = [each["params"]["prompt"][0]["text"] for each in talk.sent if each.get("method") == "session/prompt"]
    assert "did not allow this: Edit" in prompts[1]
    assert "zwei" in prompts[1]
    talk.chat.undo_turn()


def test_an_edited_text_is_asked_about_again_where_the_file_has_changed_and_is_undone_with_the_turn(
    start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "memories" / "a.md"
    talk = start([edit_permission(path, "", "agent\n")], policy=ApprovalPolicy.ASK)
    talk.chat.send(events.Prompt("Remember"))
    asked = talk.heard.next(events.ApprovalNeeded)
    path.write_text("another program\n")
    talk.chat.answer(asked.number, Edit("mine\n"))
    again = talk.heard.next(events.ApprovalNeeded)
    assert again.proposal.draft == "mine\n"
    assert again.proposal.permission is not None
    assert path.read_text() == "another program\n"
    talk.chat.answer(again.number, Edit("mine\n"))
    talk.heard.next(events.TurnEnded)
    assert path.read_text() == "mine\n"
    talk.chat.undo_turn()
    talk.heard.next(events.TurnUndone)
    assert path.read_text() == "another program\n"


def test_a_text_that_is_left_as_it_was_proposed_is_a_yes(start: Start, tmp_path: Path) -> None:
    talk = start([edit_permission(tmp_path / "memories" / "a.md", None, "one\n")], policy=ApprovalPolicy.ASK)
    talk.chat.send(events.Prompt("Remember"))
    talk.chat.answer(talk.heard.next(events.ApprovalNeeded).number, Edit("one\n"))
    talk.heard.next(events.TurnEnded)
    assert talk.answers == [{"outcome": {"outcome": "selected", "optionId": "yes"}}]


def test_only_the_whole_text_of_one_file_below_the_folder_can_be_edited_first(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "twice.md").write_text("a\na\n")
    (folder / "out").symlink_to(tmp_path)
    (folder / "link.md").symlink_to("twice.md")
    wrong = [
        edit_permission(folder / "twice.md", "a\n", "b\n"),
        edit_permission(folder / "twice.md", "other\n", "b\n"),
        edit_permission(folder / "gone.md", "other\n", "b\n"),
        edit_permission(folder / "link.md", None, "b\n"),
        edit_permission(folder / "out" / "a.md", None, "b\n"),
        edit_permission(tmp_path / "a.md", None, "b\n"),
        permission(title="Run ls", kind="execute"),
    ]
    talk = start(wrong, policy=ApprovalPolicy.ASK)
    talk.chat.send(events.Prompt("Go"))
    for _ in wrong:
        asked = talk.heard.next(events.ApprovalNeeded)
        assert asked.proposal.editable_change is None
        talk.chat.answer(asked.number, Deny())
    talk.heard.next(events.TurnEnded)
    assert not (tmp_path / "a.md").exists()


def test_the_export_and_the_list_name_the_agent(start: Start, tmp_path: Path) -> None:
    directory = tmp_path / "chats"
    talk = start([["text", "Here."]], session=ChatSession.create(directory, folder="", kept=True))
    talk.say("Where are you?")
    talk.chat.close()
    text = to_markdown(read_records(next(directory.iterdir())))
    assert "### Scripted\n" in text
    assert "- Agent: Scripted\n" in text
    assert "Claude" not in text
    assert [each.agent for each in list_sessions(directory)] == ["Scripted"]


def test_a_call_through_the_mcp_server_is_replayed_and_leads_to_its_message(start: Start, tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    directory = get_state_directory(tmp_path / "memories", tmp_path / "state") / CHATS
    session = ChatSession.create(directory, folder=str(tmp_path / "memories"), kept=True)
    calls = [
        {"command": "create", "path": "/memories/a.md", "file_text": "one\n"},
        {"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "two"},
    ]
    talk = start([["mcp", "memory", each] for each in calls], session=session, can_ask=False)
    talk.say("Remember this")
    made = [each for each in talk.memory.events() if each.command in ("create", "str_replace")]
    talk.chat.close()
    path = next(directory.glob("*.jsonl"))
    recorded = [each["input"] for each in read_records(path) if each["type"] == "call"]
    assert recorded == calls
    found = find_prompts(made, directory.parent)
    assert {found[each.seq].prompt for each in made} == {"Remember this"}
    with memtui.open_in_memory() as memory:
        again = list(replay_session(read_records(path), memory))
        assert [(each.outcome, each.differs) for each in again] == [(ReplayOutcome.EXECUTED, False)] * 2
        assert {each.actor.name for each in memory.events()} == {"Scripted"}


def test_a_call_of_memtuis_own_server_is_told_once_and_one_without_an_event_too(start: Start) -> None:
    command = {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}
    begun = {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "mcp__memtui__memory", "rawInput": command}
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": "created"}
    other = {"sessionUpdate": "tool_call", "toolCallId": "t2", "title": "memtui_search_memory", "status": "pending"}
    failed = {"sessionUpdate": "tool_call_update", "toolCallId": "t2", "status": "failed", "rawOutput": "no server"}
    shell = {"sessionUpdate": "tool_call", "toolCallId": "t3", "title": "not memtui: rm", "status": "completed"}
    open_call = {"sessionUpdate": "tool_call", "toolCallId": "t4", "title": "memtui/memory_history"}
    talk = start(
        [["text", "I note it."], ["update", begun], ["mcp", "memory", command], ["update", ended], ["update", other],
         ["update", failed], ["update", shell], ["update", open_call], ["text", "Noted."]],
        can_ask=False,
    )  # fmt: skip
    done = talk.say("Remember")
    told = [(each.name, each.is_error) for each in talk.heard.of(events.CallEnded)]
    assert sorted(told) == [
        ("memory", False), ("memtui/memory_history", True), ("memtui_search_memory", True), ("not memtui: rm", False)
    ]  # fmt: skip
    assert done.calls == 4
    assert {each.call_id for each in talk.heard.of(events.CallStarted)} == {
        each.call_id for each in talk.heard.of(events.CallEnded)
    }


def test_a_change_through_the_mcp_server_that_is_edited_first_belongs_to_the_turn(start: Start) -> None:
    talk = start([["text", "Working"], ["hang"]], policy=ApprovalPolicy.ASK)
    talk.chat.send(events.Prompt("Remember"))
    talk.heard.next(events.TextDelta)
    gate = ApprovalGate(talk.memory, policy=ApprovalPolicy.ASK, ask=lambda _: Edit("mine\n"))
    actor = Agent("Scripted", session=talk.chat.session_id)
    command = {"command": "create", "path": "/memories/a.md", "file_text": "the agent's\n"}
    assert not gate.execute(command, actor=actor, call_id="7").is_error
    talk.chat.stop()
    ended = talk.heard.next(events.TurnEnded)
    assert [(each.path, each.edited) for each in ended.memory_changes] == [("a.md", True)]
    talk.chat.undo_turn()
    talk.heard.next(events.TurnUndone)
    assert list(talk.folder.iterdir()) == []


@pytest.mark.parametrize("policy", [ApprovalPolicy.ASK, ApprovalPolicy.ALLOW])
def test_a_file_that_the_agent_was_allowed_to_write_by_itself_is_its_own_and_undone(
    start: Start, tmp_path: Path, policy: ApprovalPolicy
) -> None:
    path = tmp_path / "memories" / "a.md"
    start()
    path.write_text("one\ntwo\n")
    steps = [edit_permission(path, "two", "three"), ["file", str(path), "one\nthree\n"], ["file", f"{path}x", "x"]]
    talk = start([*steps, ["text", "Done."]], policy=policy)
    talk.chat.send(events.Prompt("Remember"))
    if policy is ApprovalPolicy.ASK:
        talk.chat.answer(talk.heard.next(events.ApprovalNeeded).number, Allow())
    ended = talk.heard.next(events.TurnEnded)
    assert [(each.path, each.how, each.added) for each in ended.memory_changes] == [("a.md", "changed", 1)]
    wrote = talk.heard.of(events.CallEnded)[-1]
    assert (wrote.name, wrote.fields["path"]) == ("edit", "/memories/a.md")
    assert wrote.event is not None
    assert wrote.event.actor == Agent("Scripted", session=talk.chat.session_id)
    talk.chat.undo_turn()
    talk.heard.next(events.TurnUndone)
    assert path.read_text() == "one\ntwo\n"


def test_effort_and_thinking_are_settings_of_the_session_where_it_offers_them(start: Start) -> None:
    levels = [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]
    effort = {"id": "deep", "name": "Effort", "category": "thought_level", "type": "select", "options": levels}
    switch = {"id": "thinking", "name": "Thinking", "type": "boolean"}
    model = {
        "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "one",
        "options": [{"value": "one", "name": "One"}],
    }  # fmt: skip
    options = [model, {**effort, "currentValue": "low"}, {**switch, "currentValue": False}]
    answers = {"session/set_config_option": {"result": {"configOptions": options}}}
    talk = start(opened={"configOptions": options}, answers=answers)
    now = talk.heard.next(events.ModelChanged).model
    assert (now.id, now.name, now.efforts, now.thinking) == ("one", "One", ("low", "high"), ("enabled", "disabled"))
    talk.chat.set_effort("high")
    talk.chat.set_thinking(True)
    talk.chat.set_effort(None)
    talk.heard.next(events.Notice, lambda each: "The effort was not changed: Scripted has no default" in each.sentence)
    asked = [each["params"] for each in talk.sent if each.get("method") == "session/set_config_option"]
    assert asked == [
        {"sessionId": "s1", "configId": "deep", "value": "high"},
        {"sessionId": "s1", "configId": "thinking", "type": "boolean", "value": True},
    ]
    other = start()
    other.heard.next(events.Ready)
    other.chat.set_thinking(True)
    other.heard.next(events.Notice, lambda each: "Scripted offers no such switch here" in each.sentence)


def test_models_that_are_no_setting_of_the_session_can_be_chosen(start: Start) -> None:
    known = [{"modelId": "one", "name": "One"}, {"modelId": "two"}, {"name": "no id"}]
    models = {"availableModels": known, "currentModelId": "one"}
    talk = start(opened={"models": models}, answers={"session/set_model": {"result": {}}})
    assert talk.heard.next(events.ModelsListed).models == (events.Model("one", "One"), events.Model("two", "two"))
    assert talk.heard.next(events.ModelChanged).model == events.Model("one", "One")
    talk.chat.set_model("two")
    assert talk.heard.next(events.ModelChanged).model.id == "two"
    asked = [each["params"] for each in talk.sent if each.get("method") == "session/set_model"]
    assert asked == [{"sessionId": "s1", "modelId": "two"}]
