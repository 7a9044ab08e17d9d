"""Claude Code's own program writes a memory through `memtui mcp`, while memtui shows the folder.

It talks to a scripted model on this machine: no key, no network.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.remote_approval import ApprovalQuestion
from memtui.core.approvals import Deny
from memtui.core.events import Agent
from memtui.fs.state import get_state_directory
from memtui.memory import connect
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.approval import ApprovalScreen
from tests.agents.approver import open_approver
from tests.node.programs import LIMIT, find_claude_code, run_claude_code

TOOL = "mcp__memtui__memory"
ASKED = "Please remember that tea is green"


def _call(**arguments: str) -> list[dict[str, Any]]:
    return [{"name": TOOL, "arguments": arguments}]


SCRIPT = [
    {
        "match": {"userMessage": ASKED, "hasToolResult": False},
        "response": {"content": "I look first.", "toolCalls": _call(command="view", path="/memories")},
    },
    {
        "match": {"toolResultContains": "up to 2 levels deep"},
        "response": {"toolCalls": _call(command="create", path="/memories/tea.md", file_text="Tea is green.\n")},
    },
    {
        "match": {"toolResultContains": "File created successfully"},
        "response": {"toolCalls": _call(command="delete", path="/memories/none.md")},
    },
    {"match": {"toolResultContains": "does not exist"}, "response": {"content": "It is remembered."}},
    {"match": {"toolResultContains": "declined"}, "response": {"content": "You declined."}},
]


def _script(folder: Path) -> list[dict[str, Any]]:
    own = {"file_path": f"{folder}/own.md", "content": "by Claude Code itself\n"}
    return [
        {
            "match": {"userMessage": "Write your own file", "hasToolResult": False},
            "response": {"toolCalls": [{"name": "Write", "arguments": own}]},
        },
        {
            "match": {"userMessage": "Write your own file", "toolResultContains": "own.md"},
            "response": {"toolCalls": _call(command="create", path="/memories/tea.md", file_text="Tea.\n")},
        },
        {
            "match": {"userMessage": "Write your own file", "toolResultContains": "successfully at: /memories/tea.md"},
            "response": {"content": "Both are written."},
        },
        *SCRIPT,
    ]


@pytest.fixture
def claude(tmp_path: Path, folder: Path, model: Callable[[list[dict[str, Any]]], str]) -> Callable[..., dict[str, Any]]:
    """Run Claude Code with the memory as its only server; what it says at the end."""
    program = find_claude_code()
    url = model(_script(folder))
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()

    def claude(prompt: str, *words: str, hooks: bool = False) -> dict[str, Any]:
        if hooks:
            command = [sys.executable, "-m", "memtui", "hook", "install", "-y"]
            subprocess.run(command, env={**os.environ, "HOME": str(home)}, check=True, capture_output=True)
        server = {
            "command": sys.executable,
            "args": ["-m", "memtui", "mcp", str(folder), *words],
            "env": {name: os.environ[name] for name in ("PYTHONPATH", "XDG_STATE_HOME")},
        }
        config = tmp_path / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"memtui": server}}))
        words = ["-p", prompt, "--mcp-config", config, "--strict-mcp-config", "--add-dir", folder]
        words += ["--allowedTools", f"{TOOL},Write,Edit", "--permission-mode", "acceptEdits"]
        return run_claude_code(program, *words, home=home, work=work, url=url)

    return claude


def _shown(app: MemtuiApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_what_claude_code_writes_is_on_the_screen_with_its_name(
    claude: Callable[..., dict[str, Any]], folder: Path
) -> None:
    app = MemtuiApp(str(folder))
    async with app.run_test(size=(120, 40)) as pilot:
        said = await asyncio.to_thread(claude, ASKED)
        assert (said["result"], said["is_error"]) == ("It is remembered.", False)

        async with asyncio.timeout(LIMIT):
            while not ("claude-code" in _shown(app) and "tea.md" in _shown(app)):
                await pilot.pause()
    assert (folder / "tea.md").read_text() == "Tea is green.\n"
    with connect(folder) as memory:
        mine = [event for event in memory.events() if event.actor.name == "claude-code"]
    assert [(event.command, event.is_error) for event in mine] == [("view", False), ("create", False), ("delete", True)]
    assert all(event.call_id and event.call_id.startswith("toolu_") for event in mine)


async def test_who_sits_at_memtui_is_asked_and_allows_what_claude_code_writes(
    claude: Callable[..., dict[str, Any]], folder: Path
) -> None:
    app = MemtuiApp(str(folder))
    async with app.run_test(size=(120, 40)) as pilot, asyncio.timeout(LIMIT):
        claude_code = asyncio.create_task(asyncio.to_thread(claude, ASKED, "--ask"))
        while not ("claude-code" in _shown(app) and "asks" in _shown(app)):
            await pilot.pause()
        assert not (folder / "tea.md").exists()
        await pilot.press("f9")
        while not (isinstance(app.screen, ApprovalScreen) and app.screen.view.is_armed):
            await pilot.pause()
        assert "Tea is green." in _shown(app)
        await pilot.press("y")
        assert (await claude_code)["result"] == "It is remembered."
    assert (folder / "tea.md").read_text() == "Tea is green.\n"


def test_what_claude_code_asks_for_can_be_declined(claude: Callable[..., dict[str, Any]], folder: Path) -> None:
    connect(folder).close()
    asked: list[ApprovalQuestion] = []

    def decline(question: ApprovalQuestion) -> None:
        asked.append(question)
        question.answer(Deny("not now"))

    with open_approver(get_state_directory(str(folder)), decline):
        assert claude(ASKED, "--ask")["result"] == "You declined."
    assert [question.proposal.actor.name for question in asked] == ["claude-code"]
    assert not (folder / "tea.md").exists()


def test_with_the_hook_what_claude_code_does_has_its_session_by_either_way(
    claude: Callable[..., dict[str, Any]], folder: Path
) -> None:
    connect(folder).close()
    said = claude(f"Write your own file {folder}/own.md", hooks=True)
    assert said["result"] == "Both are written."
    with memtui.open(folder) as memory:
        events = {event.path: event for event in memory.events() if event.command != "found"}
    by_itself, by_mcp = events["/memories/own.md"].actor, events["/memories/tea.md"].actor
    assert isinstance(by_itself, Agent), "what Claude Code wrote with its own tool is not from outside"
    assert isinstance(by_mcp, Agent)
    assert by_mcp.name == "claude-code"
    assert by_itself.session == by_mcp.session == said["session_id"]
