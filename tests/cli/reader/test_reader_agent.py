"""A conversation line by line with an agent's own program, which follows a script."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.acp.catalog import KnownAgent, build_server_command
from memtui.agents.acp.start import create_agent_chat
from memtui.agents.chat.events import ChatOptions
from memtui.cli.reader.chat import run_reader_chat
from memtui.cli.reader.menu import run_reader
from memtui.config import LoadedConfig

PROGRAM = Path(__file__).parents[2] / "agents" / "acp" / "scripted_agent.py"
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
MODES = {"currentModeId": "code", "availableModes": [{"id": "code", "name": "Code"}, {"id": "plan", "name": "Plan"}]}


@pytest.fixture
def say(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Say lines in a conversation with an agent, and hear what comes of it."""

    def say(turns: list[list[Any]], *lines: str) -> str:
        script = tmp_path / "script.json"
        script.write_text(json.dumps({"turns": turns, "opened": {"modes": MODES}}))
        command = (sys.executable, str(PROGRAM), str(script), str(tmp_path / "log.jsonl"))
        agent = KnownAgent("scripted", "Scripted", (command,))
        server = build_server_command(str(folder), None, None)
        ear, mouth = os.pipe()
        os.write(mouth, "".join(f"{line}\n" for line in lines).encode())
        os.close(mouth)
        code = run_reader(
            str(folder), LoadedConfig(), state=None, read_only=False, fd=ear,
            begin=lambda session: run_reader_chat(
                session, ChatOptions(agent="Scripted"),
                make=lambda *given: create_agent_chat(*given, agent, str(folder.resolve()), server),
            ),
        )  # fmt: skip
        os.close(ear)
        heard = capsys.readouterr().out
        assert code == 0
        return heard

    return say


def test_an_agent_answers_and_asks_by_its_name_through_its_server_too(say: Callable[..., str], folder: Path) -> None:
    write = {"command": "create", "path": "/memories/new.md", "file_text": "Lisbon\n"}
    shell = {"toolCall": {"toolCallId": "c1", "title": "Run ls", "kind": "execute", "rawInput": {"command": "ls"}}}
    update = {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "init", "description": ""}]}
    turns: list[list[Any]] = [
        [["update", update], ["mcp", "memory", write], ["text", "Kept it."]],
        [["ask", "session/request_permission", {**shell, "options": OPTIONS}], ["text", "Well."]],
        [["text", "Looked around."]],
    ]
    heard = say(turns, "Remember", "yes, this", "/mode", "2", "go", "no", "/init", "/other", "/back")
    assert "Talking with Scripted." in heard
    assert "Scripted asks to create new.md." in heard
    assert "Scripted created new.md, 1 line added.\n" in heard
    assert (folder / "new.md").read_text() == "Lisbon\n"
    assert "The mode is code." in heard
    assert "Mode: plan.\n" in heard
    assert "Scripted asks to use its own tool: execute Run ls.\n" in heard
    assert '{"command": "ls"}' in heard
    assert "Denied: Scripted may not do this.\n" in heard
    assert "Looked around.\n" in heard
    assert "Unknown command /other." in heard
    assert "Claude" not in heard
