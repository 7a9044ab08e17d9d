"""memtui in a terminal of a given size, and the cells that it draws there."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyte
from pyte.screens import Char

from tests.web.conftest import LIMIT

Cell = tuple[str, str, str, bool, bool]
"""Text, color, background, bold and italic. The second half of a wide character is empty."""
ROOT = Path(__file__).parents[2]


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int, columns: int, rows: int) -> None:
        self._process, self._master = process, master
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)

    def read(self, seconds: float = 0.05) -> None:
        """Take in what has been drawn."""
        while select.select([self._master], [], [], seconds)[0]:
            self._stream.feed(os.read(self._master, 65_536))
            seconds = 0

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)
        _set_size(self._master, columns, rows)
        self._process.send_signal(signal.SIGWINCH)  # it is not the terminal that controls its session

    @property
    def cells(self) -> list[list[Cell]]:
        screen = self._screen
        return [[_read_cell(screen.buffer[y][x]) for x in range(screen.columns)] for y in range(screen.lines)]


def _read_cell(char: Char) -> Cell:
    color = "e0e0e0" if char.fg == "default" else char.fg  # a terminal's own color; these are the page's
    background = "121212" if char.bg == "default" else char.bg
    if char.reverse:
        color, background = background, color
    return unicodedata.normalize("NFC", char.data), color, background, char.bold, char.italics


def read_text(cells: Sequence[Sequence[Cell]]) -> str:
    """The words on a screen."""
    return "\n".join("".join(cell[0] for cell in row) for row in cells)


def _set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@contextmanager
def run_in_terminal(columns: int, rows: int, *words: str) -> Iterator[Terminal]:
    """Run memtui in a terminal."""
    master, slave = pty.openpty()
    _set_size(slave, columns, rows)
    own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment = {
        **own, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": os.fspath(ROOT),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", *words],
        stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    terminal = Terminal(process, master, columns, rows)
    try:
        until = time.monotonic() + LIMIT
        while "prefs.md" not in read_text(terminal.cells):
            assert time.monotonic() < until, read_text(terminal.cells)
            terminal.read()
        yield terminal
    finally:
        process.kill()
        process.wait(LIMIT)
        os.close(master)
