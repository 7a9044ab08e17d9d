"""The start, before Textual is there: what is asked of the terminal meanwhile, and what of Textual is left out.

Nothing here may load Textual by being imported: the terminal would be asked a third of a second later.
"""

import contextlib
import os
import re
import select
import sys
import termios
import threading
import time
from types import ModuleType
from typing import Any

_PALETTE = "textual.command"
_PALETTE_NAMES = ("CommandListItem", "CommandPalette", "DiscoveryHit", "Hit", "Hits", "Provider", "SimpleProvider")
"""What Textual's application and its themes take from its palette, which memtui does not have."""


def load_textual() -> None:
    """Load Textual's application without its command palette, which is a seventh of it: inputs, selects, trees.

    The palette itself can still be imported afterwards. Where Textual asks for more of it, it is loaded whole.
    """
    if "textual.app" in sys.modules or _PALETTE in sys.modules:
        return
    stand_in = ModuleType(_PALETTE)
    for name in _PALETTE_NAMES:
        setattr(stand_in, name, type(name, (), {}))
    sys.modules[_PALETTE] = stand_in
    try:
        with contextlib.suppress(ImportError):
            import textual.app  # noqa: F401, PLC0415 - start-up: this is what the function is for
    finally:
        del sys.modules[_PALETTE]


# Whether the terminal is light or dark: it is asked, while everything else is being loaded.
#
# The question (OSC 11) is followed by one that every terminal answers (its attributes), so that a terminal which
# does not know the first is not waited for. Whatever else arrives meanwhile was typed by the person, and is handed
# on to the application; an answer that comes too late is left to `terminal.AnswerFilter`.

LIMIT = 0.1
"""Seconds to wait for an answer."""
_QUESTION = b"\x1b]11;?\x1b\\\x1b[c"
COLOR = re.compile(
    rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})[^\x07\x1b]*(?:\x07|\x1b\\)"
)
_ATTRIBUTES = re.compile(rb"\x1b\[\?[0-9;]*c")
_SILENT = ("", "dumb", "linux", "unknown")
"""Terminals that would show the query."""

_asked: "BackgroundQuery | None" = None


def start_query(*, reads: bool = True) -> "BackgroundQuery | None":
    """Query the background; `None` without a terminal.

    Args:
        reads: Whether a thread reads the answer from now on; else once `BackgroundQuery.read` is called.
    """
    global _asked  # noqa: PLW0603 - a process has one terminal
    if _asked is None and _can_query():
        _asked = BackgroundQuery(sys.__stdin__.fileno(), sys.__stdout__.fileno())  # type: ignore[union-attr]
        _asked.ask()
        if reads:
            _asked.read()
    return _asked


def get_query() -> "BackgroundQuery | None":
    return _asked


def reset_query() -> None:
    global _asked  # noqa: PLW0603 - as above
    if _asked is not None:
        _asked.restore()
    _asked = None


def _can_query() -> bool:
    if os.environ.get("TERM", "") in _SILENT:
        return False
    try:
        fds = [stream.fileno() for stream in (sys.__stdin__, sys.__stdout__) if stream is not None]
        # Who is in the background would be stopped for it.
        return len(fds) == 2 and all(map(os.isatty, fds)) and os.tcgetpgrp(fds[0]) == os.getpgrp()
    except (OSError, ValueError):
        return False


class BackgroundQuery:
    """One query of the terminal's background; `attributes` are the terminal's before it, if they can be read."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._started_at = time.monotonic()
        self._buffer = b""
        self._light: bool | None = None
        self._is_late = False
        self._waiting = True
        self._enough = threading.Event()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memtui-background", daemon=True)
        self.attributes: list[Any] | None = None

    def ask(self) -> None:
        """Write the question, and have the terminal show nothing of what it answers."""
        try:
            self.attributes = termios.tcgetattr(self._read_fd)
            silent = termios.tcgetattr(self._read_fd)
            silent[3] &= ~(termios.ECHO | termios.ICANON)
            silent[0] &= ~termios.ICRNL  # Enter typed ahead arrives as the application will expect it
            silent[6][termios.VMIN], silent[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._read_fd, termios.TCSANOW, silent)  # what was typed before stays
            os.write(self._write_fd, _QUESTION)
        except (termios.error, OSError):
            self._waiting = False
            self._finished.set()

    def read(self) -> None:
        """Read what has come by now, and all else in a thread."""
        try:
            self._read_input(0.0)
        except OSError:
            self._waiting = False
        if self._waiting:
            self._thread.start()
        else:
            self._finished.set()

    def is_light(self) -> bool | None:
        """Whether the background is light; waits up to `LIMIT`, `None` without an answer."""
        self._finished.wait(max(self._started_at + LIMIT - time.monotonic(), 0.0))
        self._is_late = self._light is None
        return self._light

    @property
    def late_answer(self) -> bool | None:
        """Whether the background is light, where that was not known yet when it was asked for."""
        return self._light if self._is_late else None

    def hand_over(self) -> bytes:
        """Stop reading; returns the input read so far, without whole answers."""
        self._enough.set()
        if self._thread.is_alive():
            self._thread.join(LIMIT)
        held, self._buffer = self._buffer, b""
        return held

    def restore(self) -> None:
        self._enough.set()
        if self.attributes is not None:
            try:
                termios.tcsetattr(self._read_fd, termios.TCSANOW, self.attributes)
            except termios.error:  # it has gone
                return

    def _run(self) -> None:
        try:
            while self._waiting and not self._enough.is_set():
                self._read_input(0.02)
        except OSError:
            return
        finally:
            self._finished.set()

    def _read_input(self, seconds: float) -> None:
        """Read what comes within some seconds, once."""
        if select.select([self._read_fd], [], [], seconds)[0]:
            data = os.read(self._read_fd, 4_096)
            self._waiting = bool(data)
            self._buffer = self._extract_answers(self._buffer + data)

    def _extract_answers(self, data: bytes) -> bytes:
        """The input without whole answers; the last one ends the wait."""
        if (color := COLOR.search(data)) is not None:
            self._light = parse_background(color[0])
            data = data[: color.start()] + data[color.end() :]
        if (attributes := _ATTRIBUTES.search(data)) is not None:
            self._waiting = False
            data = data[: attributes.start()] + data[attributes.end() :]
        return data


def parse_background(answer: bytes) -> bool | None:
    """Whether a background is light, by a terminal's answer; `None` for another answer."""
    color = COLOR.fullmatch(answer)
    if color is None:
        return None
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in color.groups())
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5)
