"""An agent's own program in the chat's screen: its writes and its questions are as those of Claude."""

import json
import sys
from pathlib import Path
from typing import Any

from memtui.agents.acp.catalog import KnownAgent, build_server_command
from memtui.agents.chat.events import ChatOptions
from memtui.core.approvals import ApprovalPolicy
from memtui.ui.chat_start import make_agent_chat
from tests.ui.chat.conftest import Chats

PROGRAM = Path(__file__).parents[2] / "agents" / "acp" / "scripted_agent.py"


def scripted(tmp_path: Path, *turns: list[list[Any]], **more: Any) -> dict[str, Any]:
    """The arguments of a chat with an agent that follows a script."""
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text(json.dumps({"turns": turns, **more}))
    folder, state = tmp_path / "memories", tmp_path / "state"
    agent = KnownAgent("scripted", "Scripted", ((sys.executable, str(PROGRAM), str(script), str(log)),))
    make = make_agent_chat(agent, str(folder), build_server_command(str(folder), str(state), None, uses_config=False))
    return {"make": make, "options": ChatOptions(policy=ApprovalPolicy.ASK, agent="Scripted")}


async def test_a_change_over_mcp_is_asked_about_in_the_pane_and_undone_with_the_turn(
    chatting: Chats, tmp_path: Path
) -> None:
    command = {"command": "create", "path": "/memories/tea.md", "file_text": "green\n"}
    async with chatting(**scripted(tmp_path, [["mcp", "memory", command], ["text", "Kept."]])) as chat:
        assert "Scripted uses" in chat.text
        await chat.say("Remember")
        await chat.asked()
        assert "Scripted wants to create tea.md" in chat.text
        assert chat.memory("tea.md") is None
        await chat.press("y")
        await chat.ended(1)
        assert chat.memory("tea.md") == "green\n"
        assert "Kept." in chat.said
        assert "not run" not in chat.text
        assert "claude" not in chat.text.lower()
        await chat.say("/undo")
        await chat.wait_for(lambda: chat.memory("tea.md") is None, "the undo")


async def test_a_permission_shows_its_words_and_offers_only_what_the_agent_takes(
    chatting: Chats, tmp_path: Path
) -> None:
    options = [
        {"optionId": "1", "name": "Yes", "kind": "allow_once"},
        {"optionId": "2", "name": "No", "kind": "reject_once"},
    ]
    call = {"toolCallId": "c", "title": "Run a \x1b[31mshell", "kind": "execute", "rawInput": {"command": "ls -l"}}
    ask = ["ask", "session/request_permission", {"toolCall": call, "options": options}]
    async with chatting(**scripted(tmp_path, [ask, ["text", "Fine."]])) as chat:
        await chat.say("Go")
        await chat.asked()
        assert "Scripted wants to use its own tool: execute Run a" in chat.text
        assert "ls -l" in chat.text
        assert "always" not in str(chat.screen.question_view.query_one("#question-keys").render())
        await chat.press("A")
        assert chat.screen.question_view.question is not None
        await chat.press("n")
        await chat.ended(1)
        answers = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
        assert {"answer": {"outcome": {"outcome": "selected", "optionId": "2"}}} in answers


async def test_its_commands_are_listed_and_sent_and_its_mode_is_chosen(chatting: Chats, tmp_path: Path) -> None:
    commands = [{"name": "look-around", "description": "Look at all"}, {"name": "clear", "description": "Theirs"}]
    update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    modes = {
        "currentModeId": "code",
        "availableModes": [{"id": "code", "name": "Code"}, {"id": "plan", "name": "Plan"}],
    }
    script = scripted(tmp_path, [["update", update], ["text", "Hi."]], opened={"modes": modes})
    async with chatting(**script) as chat:
        await chat.say("Hello")
        await chat.ended(1)
        await chat.wait_for(lambda: bool(chat.screen.chat_state.offers.commands), "the commands")
        await chat.type("/loo")
        await chat.wait_for(lambda: "Look at all" in chat.text, "the list")
        assert "Theirs" not in chat.text
        await chat.press("enter")
        if chat.screen.composer.text:
            await chat.press("enter")
        await chat.ended(2)
        sent = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
        prompts = [each["params"]["prompt"][0]["text"] for each in sent if each.get("method") == "session/prompt"]
        assert prompts[1].strip() == "/look-around"
        await chat.say("/mode")
        await chat.wait_for(lambda: "Code (in use)" in chat.text, "the modes")
        await chat.press("2")
        await chat.wait_for(lambda: chat.screen.chat_state.offers.mode == "plan", "the mode")
        await chat.wait_for(lambda: "mode: plan" in chat.text, "the title")
