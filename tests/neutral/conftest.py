"""A memory folder with a history, a state directory beside it, and nothing of whoever runs the tests."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import memtui
from tests.conftest import NOTES, fill


class Recorded(NamedTuple):
    """A folder that was changed by an agent and from outside.

    Attributes:
        folder: The memory folder.
        state: Its state directory.
        head: The number of the last event that is in the journal.
    """

    folder: Path
    state: Path
    head: int


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything that depends on the user lies in a place of the test's own."""
    for name in ("MEMTUI_DIR", "MEMTUI_READ_ONLY", "MEMTUI_CONFIG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    return home


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    """A folder with three events and one change that nobody has recorded."""
    folder = fill(tmp_path / "memories", NOTES)
    os.symlink("prefs.md", folder / "link.md")
    claude = memtui.Agent("Claude", "a-model", "session-1")
    with memtui.open(folder) as memory:
        memory.execute({"command": "create", "path": "/memories/new.md", "file_text": "a\nb\n"}, actor=claude)
        memory.execute(
            {"command": "str_replace", "path": "/memories/new.md", "old_str": "a\n", "new_str": "c\n"}, actor=claude
        )
        state, head = Path(memory.journal.files.directory or ""), memory.get_head()[0]
    (folder / "prefs.md").write_text("- long answers\n- Berlin\n")
    return Recorded(folder, state, head)


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """Commands for `memtui run`: one that looks, one that changes."""
    path = tmp_path / "commands.json"
    path.write_text(
        json.dumps(
            [
                {"command": "view", "path": "/memories"},
                {"command": "create", "path": "/memories/made.md", "file_text": "x"},
            ]
        )
    )
    return path


def run_beside_thread(imports: str, call: str) -> str:
    """What a program says of a call that it makes while it has another thread."""
    code = f"""
import threading
{imports}
end = threading.Event()
thread = threading.Thread(target=end.wait)
thread.start()
try:
    {call}
except RuntimeError as error:
    print(error)
end.set()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout
