"""Whether the terminal is light or dark: it is asked, while everything else is being loaded.

The question (OSC 11) is followed by one that every terminal answers (its attributes), so that a terminal which does not
know the first is not waited for. Whatever else arrives meanwhile was typed by the person, and is handed on to the
application; an answer that comes too late is taken out of what the application reads. Nothing here knows Textual: it
runs before Textual is there.
"""

import os
import re
import select
import sys
import termios
import threading
import time
from typing import Any

LIMIT = 0.1
"""Seconds that an answer may take, where nothing else is to be waited for anyhow."""
_QUESTION = b"\x1b]11;?\x1b\\\x1b[c"
_COLOUR = re.compile(
    rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})[^\x07\x1b]*(?:\x07|\x1b\\)"
)
_ATTRIBUTES = re.compile(rb"\x1b\[\?[0-9;]*c")
_BEGUN = re.compile(rb"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]{0,40}(?:\x1b)?)?)?)?|\[(?:\?[0-9;]{0,60})?)?\Z")
"""The beginning of an answer at the end of what was read; also that of a key such as Up, which then is handed on."""
_SILENT = ("", "dumb", "linux", "unknown")
"""Terminals that are not asked: they would show the question."""
_LATE_SECONDS = 5.0
"""For how long an answer may still come."""

_asked: "Question | None" = None


def ask() -> "Question | None":
    """Ask, in a thread, and go on at once; `None` where nobody can be asked."""
    global _asked  # noqa: PLW0603 - a process has one terminal
    if _asked is None and _can_be_asked():
        _asked = Question(sys.__stdin__.fileno(), sys.__stdout__.fileno())  # type: ignore[union-attr]
        _asked.start()
    return _asked


def asked() -> "Question | None":
    """What was asked already."""
    return _asked


def forget() -> None:
    """The terminal is as it was before."""
    global _asked  # noqa: PLW0603 - as above
    if _asked is not None:
        _asked.restore()
    _asked = None


def _can_be_asked() -> bool:
    if os.environ.get("TERM", "") in _SILENT:
        return False
    try:
        fds = [stream.fileno() for stream in (sys.__stdin__, sys.__stdout__) if stream is not None]
        # Who is in the background would be stopped for it.
        return len(fds) == 2 and all(map(os.isatty, fds)) and os.tcgetpgrp(fds[0]) == os.getpgrp()
    except (OSError, ValueError):
        return False


class Question:
    """One question to the terminal.

    Args:
        read_fd: Where its answer arrives.
        write_fd: Where it is asked.

    Attributes:
        attributes: How the terminal was before, for whoever changes it next; `None` if that cannot be told.
    """

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._asked_at = time.monotonic()
        self._held = b""
        self._light: bool | None = None
        self._waiting = True
        self._enough = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memtui-background", daemon=True)
        self.attributes: list[Any] | None = None

    def start(self) -> None:
        """Ask."""
        try:
            self.attributes = termios.tcgetattr(self._read_fd)
            silent = termios.tcgetattr(self._read_fd)
            silent[3] &= ~(termios.ECHO | termios.ICANON)
            silent[0] &= ~termios.ICRNL  # Enter typed ahead arrives as the application will expect it
            silent[6][termios.VMIN], silent[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._read_fd, termios.TCSANOW, silent)  # what was typed before stays
        except termios.error:
            self._waiting = False
            self._done.set()
            return
        self._thread.start()

    def is_light(self) -> bool | None:
        """Whether the background is light, waiting for it no longer than there is time; `None` if nobody says."""
        self._done.wait(max(self._asked_at + LIMIT - time.monotonic(), 0.0))
        return self._light

    def handed_on(self) -> bytes:
        """Stop reading; what was read and is no answer, for whoever reads from now on."""
        self._enough.set()
        if self._thread.is_alive():
            self._thread.join(LIMIT)
        held, self._held = self._held, b""
        return self.without_answers(held)

    def without_answers(self, data: bytes) -> bytes:
        """Take answers out of what was read, also such as come late and in pieces."""
        if not self._waiting:
            return data
        if time.monotonic() - self._asked_at > _LATE_SECONDS:
            self._waiting = False
        data, self._held = self._held + data, b""
        data = self._taken_out(data)
        if self._waiting and (begun := _BEGUN.search(data)) is not None and len(begun[0]) > 1:
            data, self._held = data[: begun.start()], begun[0]
        return data

    def restore(self) -> None:
        """Make the terminal as it was before."""
        self._enough.set()
        if self.attributes is not None:
            try:
                termios.tcsetattr(self._read_fd, termios.TCSANOW, self.attributes)
            except termios.error:  # it has gone
                return

    def _run(self) -> None:
        try:
            os.write(self._write_fd, _QUESTION)
            while self._waiting and not self._enough.is_set():
                if not select.select([self._read_fd], [], [], 0.02)[0]:
                    continue
                data = os.read(self._read_fd, 4_096)
                if not data:
                    return
                self._held = self._taken_out(self._held + data)
        except OSError:
            return
        finally:
            self._done.set()

    def _taken_out(self, data: bytes) -> bytes:
        """Take whole answers out; the last one ends the waiting."""
        if (colour := _COLOUR.search(data)) is not None:
            self._light = _is_light(colour.groups())
            data = data[: colour.start()] + data[colour.end() :]
        if (attributes := _ATTRIBUTES.search(data)) is not None:
            self._waiting = False
            data = data[: attributes.start()] + data[attributes.end() :]
        return data


def _is_light(parts: tuple[bytes, ...]) -> bool:
    """Whether a color is light, by how bright a person sees it."""
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in parts)
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5)
