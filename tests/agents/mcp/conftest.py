"""Fixtures of the MCP server's tests: a folder, and servers that end with the test."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import Event
from memtui.memory import connect
from tests.agents.mcp.pipe_client import LIMIT, ROOT, Server
from tests.conftest import NOTES, fill
from tests.warm import Warm


@pytest.fixture(autouse=True)
def _own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small memory folder."""
    return fill(tmp_path / "memories", {**NOTES, ".hidden": "berlin"})


@pytest.fixture
def start(folder: Path, warm: Warm) -> Iterator[Callable[..., Server]]:
    """Start a server over the folder, with or without a handshake."""
    with ExitStack() as stack:

        def start(*words: object, greet: bool = True, **options: Any) -> Server:
            server = stack.enter_context(Server(folder, *words, warm=warm, **options))
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
def serve_http(folder: Path, warm: Warm) -> Iterator[Callable[..., str]]:
    """Start a server over HTTP, and return its URL."""
    with ExitStack() as stack:

        def serve(*words: str) -> str:
            access = () if "--token-file" in words else ("--no-token",)
            command = ["-m", "memtui", "mcp", str(folder), "--http", "0", *access, *words]
            process = warm.popen(command, env=os.environ)
            stack.callback(_end, process)
            assert process.stderr
            line = process.stderr.readline().decode()
            assert "/mcp" in line, line
            return next(word.rstrip(".") for word in line.split() if word.startswith("http://"))

        yield serve


def _end(process: Any) -> None:
    process.terminate()
    process.wait(LIMIT)
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


_RELAY = """\
import json, os, socket, sys
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(sys.argv[1])
asked = {"words": sys.argv[2:], "env": dict(os.environ), "cwd": os.getcwd(), "terminal": False}
socket.send_fds(connection, [json.dumps(asked).encode()], [0, 1, 2])
os.closerange(0, 3)
connection.recv(64)
os._exit(int(connection.recv(64)))
"""


@pytest.fixture
def stdio_command(folder: Path, warm: Warm) -> Callable[..., list[str]]:
    """The command line of a server over pipes, for a client that starts it itself."""

    def build(*words: str) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", _RELAY, warm.path, "-m", "memtui", "mcp", str(folder), *words]

    return build
