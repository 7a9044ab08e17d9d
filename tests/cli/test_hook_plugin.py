"""`memtui hook plugin`: the plugin of Claude Code as files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.hooks.payload import MATCHER

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with nothing in it, and no folder that is named elsewhere."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.delenv("MEMTUI_DIR", raising=False)
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "my notes"
    path.mkdir()
    return path


def _read(plugin: Path, name: str) -> Any:
    return json.loads((plugin / name).read_text())


def test_it_has_a_manifest_a_server_hooks_and_a_command_about_the_folder(run: Run, tmp_path: Path, notes: Path) -> None:
    plugin = tmp_path / "plugin"
    done = run("hook", "plugin", str(plugin), "--dir", str(notes), "--ask", "--wait", "20")
    assert (done.code, done.err) == (0, b"")
    assert f"claude --plugin-dir {plugin}" in done.out.decode()
    manifest = _read(plugin, ".claude-plugin/plugin.json")
    assert (manifest["name"], manifest["version"]) == ("memtui", memtui.__version__)
    (entry,) = _read(plugin, ".claude-plugin/marketplace.json")["plugins"]
    assert (entry["name"], entry["source"]) == ("memtui", "./")
    server = _read(plugin, ".mcp.json")["mcpServers"]["memtui"]
    assert server["args"][-3:] == ["mcp", str(notes), "--ask"]
    (before,) = _read(plugin, "hooks/hooks.json")["hooks"]["PreToolUse"]
    assert before["matcher"].split("|") == [*MATCHER.split("|"), "mcp__plugin_memtui_memtui__memory"]
    (hook,) = before["hooks"]
    assert hook["command"].endswith(f"hook --ask --wait 20 --dir '{notes}'")
    assert hook["timeout"] > 20
    command = (plugin / "commands/memory-review.md").read_text()
    (allowed,) = (line for line in command.splitlines() if line.startswith("allowed-tools: "))
    assert allowed.endswith(f"review --diff --dir '{notes}')"), "a prefix would let an agent accept changes, unasked"


def test_without_a_folder_it_has_no_server_and_says_so(run: Run, tmp_path: Path, notes: Path) -> None:
    plugin = tmp_path / "plugin"
    run("hook", "plugin", str(plugin), "--dir", str(notes))
    assert (plugin / ".mcp.json").exists()
    done = run("hook", "plugin", str(plugin))
    assert (done.code, (plugin / ".mcp.json").exists()) == (0, False), "the server of the plugin before is gone"
    assert b"no MCP server" in done.err
    command = (plugin / "commands/memory-review.md").read_text()
    assert "your own memory files" in command
    assert "allowed-tools" not in command


def test_a_directory_with_something_else_is_left_alone(run: Run, tmp_path: Path, notes: Path) -> None:
    (notes / "a.md").write_text("a")
    done = run("hook", "plugin", str(notes))
    assert (done.code, [path.name for path in notes.iterdir()]) == (3, ["a.md"])
    assert b"something else" in done.err
    foreign = tmp_path / "foreign"
    (foreign / ".claude-plugin").mkdir(parents=True)
    (foreign / ".claude-plugin/plugin.json").write_text('{"name": "other"}')
    assert run("hook", "plugin", str(foreign)).code == 3
    assert _read(foreign, ".claude-plugin/plugin.json") == {"name": "other"}


@pytest.mark.parametrize("name", ["a`id`", "a$HOME", "a!b", "a\nb"])
def test_a_folder_that_claude_code_would_expand_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    done = run("hook", "plugin", str(tmp_path / "plugin"), "--dir", str(tmp_path / name))
    assert (done.code, (tmp_path / "plugin").exists()) == (3, False)
    assert b"cannot stand in a plugin" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["plugin"],
        ["plugin", ""],
        ["plugin", "there", "--project"],
        ["plugin", "there", "--strict"],
        ["status", "there"],
    ],
)
def test_words_that_do_not_fit_write_nothing(run: Run, tmp_path: Path, words: list[str]) -> None:
    done = run("hook", *words)
    assert (done.code, (tmp_path / "there").exists()) == (2, False)
    assert b"memtui hook" in done.err


def test_it_is_shown_as_json_and_a_reader_writes_nothing(run: Run, tmp_path: Path, notes: Path) -> None:
    plugin = tmp_path / "plugin"
    shown = run("hook", "plugin", str(plugin), "--dir", str(notes), "--json")
    assert set(json.loads(shown.out)["files"]) >= {".mcp.json", ".claude-plugin/plugin.json"}
    assert run("hook", "plugin", str(plugin), "--read-only").code == 4
    assert not plugin.exists()
