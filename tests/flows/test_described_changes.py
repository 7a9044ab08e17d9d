"""A question says what will really change, whatever it was named."""

import json
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.hooks.approval import _build_proposal, _build_shell_proposal
from memtui.agents.hooks.payload import locate_entry, locate_file, parse_call
from memtui.agents.hooks.shell_call import plan_shell_call
from memtui.core.approvals import Proposal
from memtui.core.events import Agent
from memtui.flows.approvals import describe_change, describe_request
from memtui.ui.widgets.approval import preview_proposal
from tests.conftest import fill

CLAUDE = Agent("Claude")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Notes, and links to a note and to a directory."""
    folder = fill(tmp_path / "memories", {"prefs.md": "tea\n", "secret/s.md": "s\n", "one/a.md": "a\n"})
    (folder / "harmless.md").symlink_to("prefs.md")
    (folder / "way").symlink_to("secret")
    memtui.open(folder).close()
    return folder


COMMANDS: list[tuple[dict[str, Any], str]] = [
    ({"command": "str_replace", "path": "prefs.md", "old_str": "tea", "new_str": "x"}, "edit prefs.md"),
    (
        {"command": "str_replace", "path": "harmless.md", "old_str": "tea", "new_str": "x"},
        "edit prefs.md (through the link harmless.md)",
    ),
    (
        {"command": "create", "path": "harmless.md", "file_text": "x"},
        "overwrite prefs.md (through the link harmless.md)",
    ),
    ({"command": "create", "path": "way/n.md", "file_text": "x"}, "create secret/n.md (through the link way/n.md)"),
    (
        {"command": "create", "path": "way/d/n.md", "file_text": "x"},
        "create secret/d/n.md (through the link way/d/n.md)",
    ),
    (
        {"command": "insert", "path": "way/s.md", "insert_line": 0, "insert_text": "x"},
        "edit secret/s.md (through the link way/s.md)",
    ),
    ({"command": "delete", "path": "prefs.md"}, "delete prefs.md"),
    ({"command": "delete", "path": "harmless.md"}, "delete the link harmless.md, which points to prefs.md"),
    ({"command": "delete", "path": "way"}, "delete the link way, which points to secret"),
    ({"command": "delete", "path": "way/s.md"}, "delete secret/s.md (through the link way/s.md)"),
    ({"command": "delete", "path": "one"}, "delete one/ with 1 file"),
    ({"command": "rename", "path": "prefs.md", "new_path": "p.md"}, "rename prefs.md to p.md"),
    ({"command": "rename", "path": "harmless.md", "new_path": "p.md"}, "rename the link harmless.md to p.md"),
    (
        {"command": "rename", "path": "way/s.md", "new_path": "way/t.md"},
        "rename secret/s.md (through the link way/s.md) to secret/t.md (through the link way/t.md)",
    ),
    (
        {"command": "rename", "path": "one", "new_path": "way/one"},
        "rename one to secret/one (through the link way/one)",
    ),
]


@pytest.mark.parametrize(("command", "words"), COMMANDS, ids=[words for _, words in COMMANDS])
def test_a_command_is_asked_about_by_what_it_really_changes(folder: Path, command: dict[str, Any], words: str) -> None:
    names = {"path": "old_path"} if command["command"] == "rename" else {}
    paths = {
        names.get(key, key): f"/memories/{value}" if key in ("path", "new_path") else value
        for key, value in command.items()
    }
    with memtui.open(folder) as memory:
        proposal = memory.propose(paths, actor=CLAUDE)
    assert proposal is not None
    assert describe_change(proposal) == words
    assert describe_request(proposal) == f"Claude asks to {words}"
    shown = preview_proposal(proposal)
    assert shown.title == f"Claude wants to {words}"
    assert shown.comparison is not None, "what goes or comes is shown"
    assert ("Only the link is changed" in shown.remark) is (" the link" in words and "(through" not in words)


def told(folder: Path, tool: str, **given: Any) -> Proposal:
    record = {
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": "toolu_1", "cwd": str(folder),
        "tool_input": given,
    }  # fmt: skip
    call = parse_call(json.dumps(record).encode())
    assert call is not None
    if tool == "Bash":
        return _build_shell_proposal(call, plan_shell_call(call, locate_file, locate_entry))
    place = locate_file(call.path)
    assert place is not None
    return _build_proposal(call, place, b"tea\n", b"x\n")


def test_a_hook_asks_about_what_is_really_changed(folder: Path, tmp_path: Path) -> None:
    linked = "overwrite prefs.md (through the link harmless.md)"
    assert describe_change(told(folder, "Write", file_path=f"{folder}/harmless.md", content="x\n")) == linked
    assert describe_change(told(folder, "Write", file_path=f"{folder}/prefs.md", content="x\n")) == "overwrite prefs.md"
    (tmp_path / "elsewhere.md").symlink_to(folder / "prefs.md")
    other = told(folder, "Write", file_path=str(tmp_path / "elsewhere.md"), content="x\n")
    assert describe_change(other) == "overwrite prefs.md"
    gone = told(folder, "Bash", command="rm harmless.md")
    assert describe_change(gone) == "delete the link harmless.md, which points to prefs.md"
    written = told(folder, "Bash", command="echo x >> harmless.md")
    assert written.changes[0].path == "prefs.md"
    assert describe_change(written) == "run echo x >> harmless.md"
    assert "actually changes prefs.md" in preview_proposal(written).remark
