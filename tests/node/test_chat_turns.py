"""Conversations of many turns with `memtui chat -p`, against a scripted model that shares no code with ours."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.memory import connect
from tests.node.programs import LIMIT

TURNS = 8


def _script() -> list[dict[str, Any]]:
    """Each turn: it looks, it writes, and it says so."""
    fixtures: list[dict[str, Any]] = []
    for number in range(TURNS):
        asked = f"Turn {number}: note it."
        if number == 0:
            call = {"command": "create", "path": "/memories/log.md", "file_text": "turn 0\n"}
        else:
            line = {"insert_line": number, "insert_text": f"turn {number}\n"}
            call = {"command": "insert", "path": "/memories/log.md", **line}
        fixtures += [
            {
                "match": {"userMessage": asked, "hasToolResult": False},
                "response": {
                    "content": f"Writing {number}.",
                    "toolCalls": [{"name": "memory", "arguments": call, "id": f"toolu_{number}"}],
                },
            },
            {"match": {"userMessage": asked, "hasToolResult": True}, "response": {"content": f"Noted {number}."}},
        ]
    return fixtures


@pytest.fixture
def chat(
    folder: Path, model: Callable[[list[dict[str, Any]]], str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Say one thing to the scripted model."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", model(_script()))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")

    def chat(text: str, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "memtui", "chat", str(folder), "-p", text, "--model", "claude-sonnet-4-5"]
        return subprocess.run(
            [*command, *words], capture_output=True, text=True, timeout=LIMIT, check=False, stdin=subprocess.DEVNULL
        )

    return chat


def test_a_conversation_goes_on_turn_after_turn_in_processes_of_their_own(chat: Any, folder: Path) -> None:
    for number in range(TURNS):
        words = ["--resume", "last"] if number else []
        done = chat(f"Turn {number}: note it.", "--policy", "allow", *words)
        assert done.returncode == 0, done.stderr
        assert f"Noted {number}." in done.stdout
    assert (folder / "log.md").read_text() == "".join(f"turn {number}\n" for number in range(TURNS))
    with connect(folder) as memory:
        written = [event for event in memory.events() if event.command in ("create", "insert")]
    assert [event.call_id for event in written] == [f"toolu_{number}" for number in range(TURNS)]
    assert {event.actor.name for event in written} == {"Claude"}
    assert len({event.actor.session for event in written}) == 1  # type: ignore[union-attr]


def test_without_leave_to_write_the_model_is_refused_and_the_conversation_goes_on(chat: Any, folder: Path) -> None:
    done = chat("Turn 0: note it.", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert all(isinstance(json.loads(line), dict) for line in done.stdout.splitlines())
    assert "Noted 0." in done.stdout
    assert not (folder / "log.md").exists()
