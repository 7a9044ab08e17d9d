"""What the tests of the MCP server share: a folder, and servers that end with the test."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import Event
from memtui.opening import connect
from tests.agents.mcp.wire import ROOT, Server


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEMTUI_DIR", "MEMTUI_READ_ONLY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small memory folder."""
    path = tmp_path / "memories"
    (path / "notes").mkdir(parents=True)
    (path / "prefs.md").write_text("- short answers\n- Berlin\n")
    (path / "notes" / "today.md").write_text("standup at ten\n")
    (path / ".hidden").write_text("berlin")
    return path


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Server]]:
    """Start a server over the folder, with or without a handshake."""
    with ExitStack() as stack:

        def start(*words: object, greet: bool = True, **options: Any) -> Server:
            server = stack.enter_context(Server(folder, *words, **options))
            if greet:
                server.greet()
            return server

        yield start


@pytest.fixture
def events(folder: Path) -> Callable[[], list[Event]]:
    """What the journal has by now, without what memtui found at first."""

    def events() -> list[Event]:
        with connect(folder) as memory:
            return [event for event in memory.events() if event.command != "found"]

    return events


@pytest.fixture
def serve_http(folder: Path) -> Iterator[Callable[..., str]]:
    """Start a server over HTTP, and return its URL."""
    running: list[subprocess.Popen[str]] = []

    def serve(*words: str) -> str:
        process = subprocess.Popen(
            [sys.executable, "-m", "memtui", "mcp", str(folder), "--http", "0", *words],
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stderr
        line = process.stderr.readline()
        assert "/mcp" in line, line
        return next(word.rstrip(".") for word in line.split() if word.startswith("http://"))

    yield serve
    for process in running:
        process.terminate()
        with process:
            process.wait(15)
