"""However memtui ends, the terminal is as it was: no alternate screen, no mouse, a cursor, and a true exit code."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fill

Starting = Callable[..., Any]
Opening = Callable[..., Any]

CRASHING = """
import sys
from memtui import cli
from memtui.ui.widgets.markdown.view import NoteView as ViewNoteView

def render_line(self, y):
    text = self.document.source
    if "password" in text:
        raise RuntimeError("a bug")
    return original(self, y)

original, ViewNoteView.render_line = ViewNoteView.render_line, render_line
sys.exit(cli.main(sys.argv[1:]))
"""


DRAWING = """
import os, pathlib, sys
from memtui import cli
from memtui.ui import terminal
from memtui.ui.widgets.markdown.view import NoteView as ViewNoteView

def render_line(self, y):
    if "endless" in self.document.source:
        pathlib.Path(os.environ["BEGUN"]).touch()
        while True:
            pass
    return original(self, y)

terminal._STUCK_SECONDS = 0.2
original, ViewNoteView.render_line = ViewNoteView.render_line, render_line
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "memories", {"alpha.md": "# Alpha\n"})


def assert_usable(screen: Any) -> None:
    modes = screen.modes
    assert not modes["1049"], "still on the alternate screen"
    assert modes["25"], "no cursor"
    left = {mode for mode in ("1000", "1002", "1003", "1006", "1015", "1004", "2004") if modes.get(mode)}
    assert not left, "still reporting the mouse, the focus or pasted text"
    assert screen.seen.count(("csi", ">25u")) <= screen.seen.count(("csi", "<u")), "keys are still encoded"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_cleanly(terminal: Starting, folder: Path, number: signal.Signals, code: int) -> None:
    screen = terminal("-m", "memtui", folder)
    screen.wait_for(" note")
    screen.kill(number)
    assert screen.end() == code
    assert_usable(screen)


@pytest.mark.parametrize(("keys", "code"), [("q", 0), ("\x11", 0), ("\x03\x03", 130)], ids=["q", "Ctrl+Q", "Ctrl+C"])
def test_a_key_ends_it_cleanly(terminal: Starting, folder: Path, keys: str, code: int) -> None:
    screen = terminal("-m", "memtui", folder)
    screen.wait_for(" note")
    screen.press(keys)
    assert screen.end() == code
    assert_usable(screen)
    assert "Traceback" not in screen.text


@pytest.mark.parametrize(("end", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), ("\x11", 0)])
def test_it_ends_also_while_something_is_drawn_without_an_end(
    terminal: Starting, folder: Path, tmp_path: Path, end: signal.Signals | str, code: int
) -> None:
    begun = tmp_path / "begun"
    screen = terminal("-c", DRAWING, folder, env={"BEGUN": str(begun)})
    screen.wait_for(" note")
    (folder / "alpha.md").write_text("# endless\n")
    screen.wait_for(begun.exists)  # such a program never settles
    if isinstance(end, str):
        screen.press(end)
    else:
        screen.kill(end)
    assert screen.end() == code
    assert_usable(screen)


def test_a_terminal_that_goes_away_ends_it(terminal: Starting, folder: Path) -> None:
    screen = terminal("-m", "memtui", folder)
    screen.wait_for(" note")
    screen.close()
    assert screen.process.wait(timeout=20) in (129, 70)


@pytest.mark.parametrize(
    ("key", "words"),
    [("\x03", "Press q to quit."), ("\x1a", "Cannot suspend: there is no shell to return to.")],
    ids=["Ctrl+C once", "Ctrl+Z without a shell"],
)
def test_a_key_that_does_not_end_it_says_what_to_do(terminal: Starting, folder: Path, key: str, words: str) -> None:
    screen = terminal("-m", "memtui", folder)
    screen.wait_for(" note")
    screen.press(key)
    screen.wait_for(words)
    screen.press("q")
    assert screen.end() == 0


def test_a_bug_is_one_sentence_and_a_log_that_only_its_owner_can_read(
    terminal: Starting, folder: Path, tmp_path: Path
) -> None:
    (folder / "alpha.md").write_text("the password is swordfish\n")
    screen = terminal("-c", CRASHING, folder)
    assert screen.end() == 70
    assert_usable(screen)
    output = "".join(screen.written)
    said = output[output.rindex("memtui stopped") :]
    assert said.startswith("memtui stopped because of a bug")
    (log,) = (tmp_path / "xdg-state" / "memtui" / "log").iterdir()
    assert said.rstrip().endswith(f"Log: {log}")
    assert "Traceback" not in output
    assert "swordfish" not in said
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    kept = log.read_text()
    assert "RuntimeError: a bug" in kept
    assert "render_line" in kept


def test_a_bug_while_starting_is_said_the_same_way(terminal: Starting, folder: Path) -> None:
    program = "from memtui.ui.app import MemtuiApp\nMemtuiApp.on_mount = lambda self: 1 / 0\n" + CRASHING
    screen = terminal("-c", program, folder)
    assert screen.end() == 70
    assert_usable(screen)
    assert "memtui stopped because of a bug" in "".join(screen.written)
    assert "Traceback" not in "".join(screen.written)


SHELL = "import os; os.environ['PS1'] = 'ready$ '; os.execvp('sh', ['sh', '-i'])"


def test_ctrl_z_leaves_the_terminal_to_the_shell_and_fg_brings_it_back(
    terminal: Starting, folder: Path, tmp_path: Path
) -> None:
    screen = terminal("-c", SHELL)

    def wait_for_prompt(number: int) -> None:
        """What is typed before the shell has its terminal back may be thrown away by who gives it back."""
        screen.wait_for(lambda: "".join(screen.written).count("ready$") >= number)

    wait_for_prompt(1)
    screen.press(f"{sys.executable} -m memtui {folder}\r")
    screen.wait_for(" note")
    screen.press("\x1a")
    wait_for_prompt(2)
    assert_usable(screen)
    wrote = subprocess.run(
        [sys.executable, "-m", "memtui", "run", "-", "--dir", str(folder)],
        input='{"command": "create", "path": "/memories/new.md", "file_text": "written meanwhile"}',
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "xdg-state")}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert wrote.returncode == 0, wrote.stdout + wrote.stderr
    screen.press("fg\r")
    screen.wait_for("new.md")
    screen.press("q")
    wait_for_prompt(3)
    assert not screen.modes["1049"]
    screen.press("exit 0\r")
    assert screen.end() == 0


async def test_without_a_terminal_ctrl_z_stops_nobody(opened: Opening) -> None:
    stopped: list[int] = []
    before = signal.signal(signal.SIGTSTP, lambda number, _: stopped.append(number))
    try:
        async with opened() as app:
            await app.press("ctrl+z")
            assert app.message != "Cannot suspend: there is no shell to return to."
    finally:
        signal.signal(signal.SIGTSTP, before)
    assert not stopped
