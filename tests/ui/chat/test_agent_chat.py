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


def scripted(tmp_path: Path, *turns: list[list[Any]]) -> dict[str, Any]:
    """The arguments of a chat with an agent that follows a script."""
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text(json.dumps({"turns": turns}))
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
