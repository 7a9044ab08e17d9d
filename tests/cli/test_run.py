"""Commands from JSON: through the same door, with an exit code that a script can branch on."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main

VIEW = {"command": "view", "path": "/memories/prefs.md"}
CREATE = {"command": "create", "path": "/memories/new.md", "file_text": "a\n"}
MISSING = {"command": "view", "path": "/memories/nope.md"}
OUTSIDE = {"command": "create", "path": "/memories/../x", "file_text": "a"}
BY_LINK = {"command": "view", "path": "/memories/out"}


def text(*commands: Any) -> str:
    return "".join(json.dumps(command) + "\n" for command in commands)


@pytest.mark.parametrize(
    ("given", "code", "answers"),
    [
        (text(VIEW), 0, 1),
        (text(VIEW).rstrip(), 0, 1),
        (json.dumps(VIEW, indent=2), 0, 1),
        (json.dumps([VIEW, CREATE]), 0, 2),
        (json.dumps([VIEW, CREATE], indent=2), 0, 2),
        ("\ufeff\n\n" + text(VIEW) + "\n" + text(CREATE), 0, 2),
        (text(VIEW, MISSING, CREATE), 1, 3),
        (text(OUTSIDE, VIEW), 4, 2),
        (text(MISSING, OUTSIDE, MISSING), 4, 3),
        (text(BY_LINK), 4, 1),
        (text({"command": "view", "path": "/etc/passwd"}), 4, 1),
        (text({"command": "fly"}), 1, 1),
        (text(5, None, "x", []), 1, 4),
        (text(VIEW) + '{"command":\n' + text(CREATE), 1, 3),
        ('{"command"\n' + text(VIEW), 1, 2),
        ("[" * 100_000, 1, 1),
        ('{"command": ' + "9" * 5_000 + "}", 1, 1),
        ('{"command": "create", "path": "/memories/s", "file_text": "\\ud800"}', 1, 1),
        ("", 1, 1),
        ("[]", 0, 0),
    ],
)
def test_each_command_is_answered_and_the_worst_decides_the_code(
    *, given: str, code: int, answers: int, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.symlink("/etc/passwd", folder / "out")
    file = tmp_path / "commands"
    file.write_text(given)
    assert main(["run", str(file), "--json"]) == code
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(records) == answers
    assert all(list(record) == ["schema", "text", "is_error", "seq"] for record in records)
    assert any(record["is_error"] for record in records) == (code != 0)
    assert not (tmp_path / "x").exists()


def test_broken_lines_are_named_by_number_and_the_others_are_done(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "commands"
    file.write_bytes(text(VIEW).encode() + b'\n{"command": "view"\n\xff\n' + text(CREATE).encode())
    assert main(["run", str(file)]) == 1
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "Line 3 is not JSON: Expecting ',' delimiter, column 1. It was skipped.",
        "Line 4 is not JSON: it is not UTF-8. It was skipped.",
    ]
    assert out.endswith("File created successfully at: /memories/new.md\n")
    assert (folder / "new.md").exists()


def test_the_actor_is_recorded(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "commands"
    file.write_text(text(VIEW))
    assert main(["run", str(file)]) == 0
    assert main(["run", str(file), "--actor", "nightly"]) == 0
    with memtui.open(folder) as memory:
        assert [event.actor for event in memory.events() if event.command == "view"] == [
            memtui.Agent("script"),
            memtui.Agent("nightly"),
        ]


@pytest.mark.parametrize("how", ["option", "environment"])
def test_read_only_refuses_changes_and_still_answers_views(
    *,
    how: str,
    folder: Path,
    tmp_path: Path,
    state_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "commands"
    file.write_text(text(VIEW))
    if how == "environment":
        monkeypatch.setenv("MEMTUI_READ_ONLY", "1")
    words = ["run", str(file), "--json", *(["--read-only"] if how == "option" else [])]
    assert main(words) == 0
    file.write_text(text(CREATE, VIEW))
    assert main(words) == 4
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["seq"] for record in records] == [None] * 3
    assert records[1]["text"] == "Error: could not create /memories/new.md: read-only"
    assert not (folder / "new.md").exists()
    assert not state_home.exists()


def test_a_file_that_is_missing_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["run", "nope.json"]) == 3
    assert "nope.json cannot be read: no such file or directory. Nothing was done." in capsys.readouterr().err


def test_commands_from_a_pipe_are_answered_as_they_come(folder: Path) -> None:  # noqa: ARG001
    with subprocess.Popen(
        [sys.executable, "-m", "memtui", "run", "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        assert process.stdout
        for command in (VIEW, MISSING):
            process.stdin.write(text(command).encode())
            assert json.loads(process.stdout.readline())["is_error"] == (command is MISSING)
        process.stdin.close()
        assert process.wait(30) == 1


def test_answers_are_exact_in_a_pipe_and_visible_on_a_terminal(
    folder: Path, tmp_path: Path, run: Callable[..., Any], run_in_terminal: Callable[..., Any]
) -> None:
    (folder / "prefs.md").write_text("\x1b]0;t\x07")
    file = tmp_path / "commands"
    file.write_text(text(VIEW))
    assert b"\x1b]0;t\x07" in run("run", str(file)).out
    assert b"\\x1b]0;t\\x07" in run_in_terminal("run", str(file)).out
