"""`memtui serve --web` over a small folder, and what it needs of a machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

import memtui
from tests.conftest import fill

LIMIT = 30.0
TEXTS = {
    "prefs.md": "# Preferences\n\n- short **answers**\n- 日本語 is *wide*\n- cafe\u0301\n",
    "notes/today.md": "standup at ten\n",
    "notes/later.md": "nothing\n",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything that depends on the user lies in a place of the test's own."""
    for name in ("MEMTUI_DIR", "MEMTUI_READ_ONLY", "MEMTUI_CONFIG", "NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    for name, value in (("HOME", home), ("XDG_STATE_HOME", home / "state"), ("XDG_CONFIG_HOME", home / "config")):
        monkeypatch.setenv(name, str(value))
    return home


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Path:
    """A folder with a record; nothing in it was seen by anyone else."""
    del home
    folder = fill(tmp_path / "memories", TEXTS)
    claude = memtui.Agent("Claude", "a-model", "session-1")
    with memtui.open(folder) as memory:
        memory.execute(
            {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "short", "new_str": "long"},
            actor=claude,
        )
    return folder


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: str


def ask(port: int, target: str, *, method: str = "GET", host: str | None = None, **headers: str) -> Reply:
    """Send a request with exactly these headers, and `Host`."""
    connection = HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    try:
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or f"127.0.0.1:{port}")
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        response: HTTPResponse = connection.getresponse()
        return Reply(response.status, dict(response.getheaders()), response.read().decode())
    finally:
        connection.close()


class Serving(NamedTuple):
    """A running `memtui serve --web`."""

    process: "subprocess.Popen[str]"
    url: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def token_target(self) -> str:
        """The path and query that the token is in."""
        return self.url.removeprefix(f"http://127.0.0.1:{self.port}")

    def exchange(self) -> tuple[str, str]:
        """Use the token; returns the path of the page, and the cookie."""
        reply = ask(self.port, self.token_target)
        assert reply.status == 303
        return reply.headers["Location"], reply.headers["Set-Cookie"].partition(";")[0]

    def find_viewers(self) -> list[int]:
        """The processes that the server has started and that run."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in children]


@pytest.fixture
def serving(folder: Path) -> Iterator[Serving]:
    """The server over the folder, with at most two viewers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "serve", "--web", os.fspath(folder), "--json", "--max-viewers", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "ANTHROPIC_API_KEY": "a-secret"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield Serving(process, json.loads(process.stdout.readline())["url"])
    finally:
        process.terminate()
        process.communicate(timeout=LIMIT)
