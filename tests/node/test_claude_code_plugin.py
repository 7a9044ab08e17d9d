"""Claude Code's own program with memtui's plugin: its hooks, its server and its command, against a scripted model."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent
from tests.node.programs import find_claude_code, run, run_claude_code

_TOOL = "mcp__plugin_memtui_memtui__memory"
_ASKED = "Write your own file"


@pytest.fixture
def plugin(tmp_path: Path, folder: Path) -> Path:
    """The plugin, for the folder."""
    path = tmp_path / "plugin"
    words = ["-m", "memtui", "hook", "plugin", str(path), "--dir", str(folder)]
    environment = {**os.environ, "HOME": str(tmp_path)}
    subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True)
    return path


def test_claude_code_finds_the_plugin_valid_and_installs_it_from_its_directory(plugin: Path, tmp_path: Path) -> None:
    program = find_claude_code()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    for words in (
        ["validate", "--strict", plugin],
        ["validate", "--strict", plugin / ".claude-plugin/plugin.json"],
        ["marketplace", "add", plugin],
        ["install", "memtui@memtui"],
    ):
        done = run("node", program, "plugin", *words, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
    listed = run("node", program, "plugin", "details", "memtui", env=environment).stdout
    assert "memory-review" in listed
    assert "PreToolUse, PostToolUse" in listed
    assert "MCP servers (1)" in listed


def test_its_hook_and_its_server_record_the_same_session(
    plugin: Path, folder: Path, tmp_path: Path, model: Callable[[list[dict[str, Any]]], str]
) -> None:
    own = {"file_path": f"{folder}/own.md", "content": "by Claude Code itself\n"}
    served = {"command": "create", "path": "/memories/tea.md", "file_text": "Tea.\n"}
    url = model(
        [
            {
                "match": {"userMessage": _ASKED, "hasToolResult": False},
                "response": {"toolCalls": [{"name": "Write", "arguments": own}]},
            },
            {
                "match": {"toolResultContains": "own.md"},
                "response": {"toolCalls": [{"name": _TOOL, "arguments": served}]},
            },
            {"match": {"toolResultContains": "successfully at: /memories/tea.md"}, "response": {"content": "Written."}},
        ]
    )
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    words = ["-p", _ASKED, "--plugin-dir", plugin, "--add-dir", folder, "--allowedTools", f"{_TOOL},Write"]
    said = run_claude_code(
        find_claude_code(), *words, "--permission-mode", "acceptEdits", home=home, work=work, url=url
    )
    assert said["result"] == "Written."
    with memtui.open(folder) as memory:
        events = {event.path: event for event in memory.events() if event.command != "found"}
    for path in ("/memories/own.md", "/memories/tea.md"):
        actor = events[path].actor
        assert isinstance(actor, Agent)
        assert actor.session == said["session_id"]


def _read_review_command(plugin: Path) -> str:
    """The command that the plugin allows: it begins with `memtui` where that is found, else with a Python."""
    (path,) = (plugin / "commands").glob("*.md")
    found = re.search(r"^allowed-tools: Bash\((.*)\)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_command_gives_claude_code_the_review_to_read(
    plugin: Path, folder: Path, tmp_path: Path, model: Callable[[list[dict[str, Any]]], str]
) -> None:
    with memtui.open(folder) as memory:
        create = {"command": "create", "path": "/memories/new.md", "file_text": "a new line\n"}
        memory.execute(create, actor=Agent("my-agent"))
    review = _read_review_command(plugin)
    assert review.endswith(f" review --diff --dir {folder}")
    url = model(
        [
            {
                "match": {"userMessage": "Show the user what changed in the memory", "hasToolResult": False},
                "response": {"toolCalls": [{"name": "Bash", "arguments": {"command": review}}]},
            },
            {"match": {"toolResultContains": "a new line"}, "response": {"content": "One note is new."}},
        ]
    )
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    words = ["-p", "/memtui:memory-review", "--plugin-dir", plugin]
    said = run_claude_code(find_claude_code(), *words, home=home, work=work, url=url)
    assert said["result"] == "One note is new."


def test_the_command_lets_claude_code_accept_nothing(
    plugin: Path, folder: Path, tmp_path: Path, model: Callable[[list[dict[str, Any]]], str]
) -> None:
    with memtui.open(folder) as memory:
        create = {"command": "create", "path": "/memories/new.md", "file_text": "a new line\n"}
        memory.execute(create, actor=Agent("my-agent"))
    accept = f"{_read_review_command(plugin)} accept new.md"
    url = model(
        [
            {
                "match": {"userMessage": "Show the user what changed in the memory", "hasToolResult": False},
                "response": {"toolCalls": [{"name": "Bash", "arguments": {"command": accept}}]},
            },
            {"match": {"toolResultContains": "approv"}, "response": {"content": "I may not."}},
        ]
    )
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    words = ["-p", "/memtui:memory-review", "--plugin-dir", plugin]
    said = run_claude_code(find_claude_code(), *words, home=home, work=work, url=url)
    assert [denied["tool_name"] for denied in said["permission_denials"]] == ["Bash"]
    assert said["result"] == "I may not."
