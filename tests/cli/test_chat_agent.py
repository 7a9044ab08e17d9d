"""`memtui chat --agent`: the list, an agent in a script, and what is said where there is none."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.cli.output import ExitCode

PROGRAM = Path(__file__).parents[1] / "agents" / "acp" / "scripted_agent.py"


def scripted(tmp_path: Path, *turns: list[list[Any]]) -> str:
    """The command of an agent that follows a script."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"turns": turns}))
    return shlex.join([sys.executable, str(PROGRAM), str(script), str(tmp_path / "log.jsonl")])


def test_the_agents_are_listed_without_a_folder(run: Callable[..., Any], tmp_path: Path) -> None:
    done = run("chat", "--agent", env={"PATH": str(tmp_path), "MEMTUI_DIR": ""})
    assert done.code == ExitCode.OK
    assert b"opencode     not installed; npm install -g opencode-ai" in done.out
    done = run("chat", "--agent", "--json", env={"PATH": str(tmp_path)})
    assert {"codex", "gemini"} <= {json.loads(line)["name"] for line in done.out.splitlines()}


def test_an_agent_answers_in_a_script_and_what_it_writes_is_told(
    folder: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    write = ["ask", "fs/write_text_file", {"path": str(folder / "new.md"), "content": "Lisbon\n"}]
    agent = scripted(tmp_path, [write, ["text", "Kept it."]])
    done = run("chat", "--agent", agent, "-p", "Remember", "--policy", "allow")
    assert (done.code, done.out) == (ExitCode.OK, b"Kept it.\n")
    assert b"Remembered: created new.md  +1 -0" in done.err
    assert (folder / "new.md").read_text() == "Lisbon\n"
    assert b"create" in run("log").out


def test_nothing_is_written_unless_the_policy_says_so(folder: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    write = ["ask", "fs/write_text_file", {"path": str(folder / "new.md"), "content": "Lisbon\n"}]
    done = run("chat", "--agent", scripted(tmp_path, [write, ["text", "Sorry."]]), "-p", "Remember")
    assert done.code == ExitCode.OK
    assert not (folder / "new.md").exists()


def test_an_agent_that_dies_ends_the_script_with_6(folder: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    done = run("chat", "--agent", scripted(tmp_path, [["die", 9, "no quota"]]), "-p", "Hello", str(folder))
    assert done.code == ExitCode.API
    assert b"ended with exit code 9: no quota" in done.err


def test_an_agent_that_is_not_there_is_told(folder: Path, run: Callable[..., Any]) -> None:
    done = run("chat", "--agent", "no-such-agent", "-p", "Hello", str(folder))
    assert done.code == ExitCode.MISSING
    assert b"To list the agents: memtui chat --agent" in done.err


def test_without_a_key_an_agent_that_is_installed_is_offered(
    folder: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "opencode"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    quiet = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "", "HOME": str(tmp_path), "PATH": str(program.parent)}
    done = run("chat", "-p", "Hello", str(folder), env=quiet)
    assert done.code == ExitCode.API
    assert b"memtui chat --agent opencode" in done.err


@pytest.mark.parametrize("package", ["acp", "mcp"])
def test_a_package_that_is_missing_is_named(
    folder: Path, package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from memtui.cli import chat, main  # noqa: PLC0415 - patched here

    monkeypatch.setattr(chat, "find_spec", lambda name: None if name == package else object())
    assert main(["chat", "--agent", sys.executable, "-p", "Hello", str(folder)]) == ExitCode.USAGE
    assert f"pip install 'memtui[{package}]'" in capsys.readouterr().err
