"""The story that issue 4 is done by, in a real terminal: from the first message to the replay of the session."""

import json
import os
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.ui.widgets.approval import GRACE_SECONDS
from tests.agents.model_server import KEY, Call, ModelServer, Text, Wait

TEA = {"command": "create", "path": "/memories/tea.md", "file_text": "# Tea\n\n- green\n"}
FORGET = {"command": "delete", "path": "/memories/notes/old.md"}
MOVED = {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "Berlin", "new_str": "Lisbon"}
PREFS = "# Preferences\n\n- Timezone: Berlin\n"
MEMTUI = Path(sysconfig.get_path("scripts")) / "memtui"
"""The installed command."""


class Story:
    """A folder, where its sessions are kept, and the terminals in which somebody talks over it."""

    def __init__(self, terminal: Callable[..., Any], tmp_path: Path, url: str) -> None:
        self.folder = tmp_path / "memories"
        self._state = tmp_path / "xdg-state"
        self._start = terminal
        self._cwd = tmp_path
        self._env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
        (self.folder / "notes").mkdir(parents=True)
        (self.folder / "prefs.md").write_text(PREFS)
        (self.folder / "notes" / "old.md").write_text("# Old\n\nlong ago\n")

    def chat(self, *words: str) -> "Talking":
        """`memtui chat` in a terminal, with these words behind it."""
        return Talking(self._start(MEMTUI, "chat", *words, self.folder, env=self._env, cwd=self._cwd))

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        """A plain command about the folder."""
        tree = str(Path(memtui.__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": tree, "XDG_STATE_HOME": str(self._state)}
        return subprocess.run(
            [sys.executable, str(MEMTUI), *map(str, words)],
            cwd=self._cwd, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip

    def memory(self, name: str) -> str | None:
        """A memory as it stands on the disk."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else None


class Talking:
    """Somebody at a terminal: she waits for what is on the screen, as people do."""

    def __init__(self, terminal: Any) -> None:
        self.terminal = terminal
        self.sees("is ready")

    @property
    def said_on_leaving(self) -> str:
        """What is left on the terminal when the screen is gone."""
        return str(self.terminal.raw.decode().rpartition("\x1b[?1049l")[2])

    def sees(self, words: Callable[[], object] | str) -> None:
        """Wait until it is on the screen, or holds."""
        self.terminal.wait_for(words)

    def says(self, words: str) -> None:
        """Type a line and send it."""
        self.terminal.press(words)
        self.sees(words)
        self.terminal.press("\r")

    def answers(self, title: str, key: str) -> None:
        """Press the key that answers a question, once it was on the screen for as long as no key answers it."""
        self.sees(lambda: title in self.terminal.text and "no, because" in self.terminal.text)
        seen = time.monotonic()
        self.sees(lambda: time.monotonic() - seen > GRACE_SECONDS)
        self.terminal.press(key)


@pytest.mark.timeout(180)
def test_the_whole_story(terminal: Callable[..., Any], tmp_path: Path) -> None:
    with ModelServer() as server:
        story = Story(terminal, tmp_path, server.url)
        port = int(server.url.rpartition(":")[2])
        she = story.chat()

        # She is asked about a write, and edits it before it lands.
        server.answer(Text("I will note that."), Call(TEA, id="call_tea"))
        server.answer(Text("Your tea is noted."))
        she.says("remember that I drink green tea")
        she.answers("create tea.md", "e")
        assert story.memory("tea.md") is None
        she.sees("write as your edit")
        she.terminal.press("Mine: \x13")
        she.sees("Your tea is noted.")
        she.sees("edited by you")
        assert story.memory("tea.md") == "Mine: # Tea\n\n- green\n"

        # Another she denies, and says why: the model is told.
        server.answer(Call(FORGET, id="call_forget"))
        server.answer(Text("It stays."))
        she.says("forget the old notes")
        she.answers("delete notes/old.md", "r")
        she.sees("Why not?")
        she.terminal.press("they are mine")
        she.sees("they are mine")
        she.terminal.press("\r")
        she.sees("It stays.")
        assert story.memory("notes/old.md")
        assert "they are mine" in str(server.last.results)

        # A third she allows, and takes back.
        server.answer(Call(MOVED, id="call_moved"))
        server.answer(Text("Moved you."))
        she.says("I moved to Lisbon")
        she.answers("edit prefs.md", "y")
        she.sees("Moved you.")
        she.sees("Claude finished")
        assert "Lisbon" in (story.memory("prefs.md") or "")
        she.says("/undo")
        she.sees(lambda: story.memory("prefs.md") == PREFS)

        # The server dies in the middle of a sentence.
        server.answer(Text("Half of an answ"), Wait(threading.Event()))
        she.says("tell me of tea")
        she.sees("Half of an answ")
        told = str(server.last.messages[-1])
        assert "took back" in told
        assert "prefs.md" in told
        assert server.refused == []
    she.sees("broke in the middle of")
    she.sees("Half of an answ")

    # It is started again, and she goes on where she was.
    with ModelServer(port=port) as server:
        server.answer(Text("I am back."))
        she.says("go on")
        she.sees("I am back.")
        assert "Half of an answ" in str(server.last.messages)
        she.says("/quit")
        assert she.terminal.end() == 0
        assert "tea.md  created" in she.said_on_leaving
        assert "Resume with: memtui chat --resume " in she.said_on_leaving

        # Another day.
        she = story.chat("--resume", "last")
        she.sees("Half of an answ")
        she.sees("I am back.")
        server.answer(Text("Good to see you again."))
        she.says("hello again")
        she.sees("Good to see you again.")
        assert "remember that I drink green tea" in str(server.last.messages[0])
        assert server.refused == []
        she.terminal.press("\x11")
        assert she.terminal.end() == 0

    # The session is replayed, and nothing differs.
    replayed = story.run("replay", "last", "--speed", "0", "-C", story.folder)
    assert replayed.returncode == 0, replayed
    assert "4 commands: 3 the same, 0 differ, 1 not run, as then." in replayed.stdout

    # And the journal tells the whole story: who, what, what came of it, and why.
    logged = story.run("log", story.folder, "--json")
    assert logged.returncode == 0, logged
    events = [json.loads(line) for line in logged.stdout.splitlines()]
    assert [(each["actor"], each["tool"], each["path"], each["result"], each["note"]) for each in events[1:]] == [
        ("you", "write", "/memories/tea.md", "ok", "Claude's create, edited"),
        ("Claude", "create", "/memories/tea.md", "no_change", "edited by you first"),
        ("Claude", "delete", "/memories/notes/old.md", "refused", "declined"),
        ("Claude", "str_replace", "/memories/prefs.md", "ok", ""),
        ("you", "undo", "/memories/prefs.md", "ok", "#5 str_replace"),
    ]
    assert [each["call_id"] for each in events if each["actor"] == "Claude"] == [
        "call_tea",
        "call_forget",
        "call_moved",
    ]
    (session,) = {each["session"] for each in events if each["actor"] == "Claude"}
    assert f"chat --resume {session}" in she.said_on_leaving
    assert [each["undoes"] for each in events][-1] == [5]
    verified = story.run("verify", story.folder)
    assert verified.returncode == 0, verified
    assert story.memory("prefs.md") == PREFS
