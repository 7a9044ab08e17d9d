"""Stopping and going on, in a real terminal."""

import signal
from pathlib import Path

from tests.ui.conftest import Starting, Terminal

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
"""Into the other screen of the terminal, and back."""


def is_stopped(process: int) -> bool:
    """Whether a process stands still until it is woken."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def opened(terminal: Starting, tmp_path: Path) -> Terminal:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "one.md").write_text("one")
    window = terminal("-m", "memtui", folder)
    window.wait_for(" note")
    return window


def test_who_was_not_stopped_does_not_begin_anew_when_woken(terminal: Starting, tmp_path: Path) -> None:
    window = opened(terminal, tmp_path)
    window.kill(signal.SIGCONT)  # as the kernel does when a terminal is lost
    window.settle()
    assert window.raw.count(ENTER) == 1
    window.press("q")
    assert window.end() == 0


def test_who_was_stopped_leaves_the_screen_and_comes_back(terminal: Starting, tmp_path: Path) -> None:
    window = opened(terminal, tmp_path)
    window.kill(signal.SIGTSTP)
    window.wait_for(lambda: LEAVE in window.raw)
    window.wait_for(lambda: is_stopped(window.process.pid))
    window.kill(signal.SIGCONT)
    window.wait_for(lambda: window.raw.count(ENTER) == 2)
    window.press("?")
    window.wait_for("Enter runs it")
    window.press("q")
    window.settle()
    window.press("q")
    assert window.end() == 0
