"""A program in a pseudo-terminal: what a person would see of it, and when.

Textual draws on the terminal of its standard error, so the program gets the terminal as all three streams. The
output is stamped where it is read, in a thread of its own.
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

COLUMNS, LINES = 120, 36
_PATIENCE = 120.0
_LONGEST = 200
"""Bytes of the longest text that is waited for."""
_REPOSITORY = Path(__file__).parents[2]


class Slow(Exception):
    """What was waited for did not appear."""


class Terminal:
    """A Python program in a terminal of 120 by 36. A context manager, which ends it.

    Args:
        words: What follows the interpreter on the command line.
        keep_open: Descriptors that the program inherits.

    Attributes:
        started: When it was started, in seconds of the monotonic clock.
    """

    def __init__(self, words: Sequence[str], *, keep_open: Sequence[int] = ()) -> None:
        self._main, ours = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._output = bytearray()
        self._stamps: list[tuple[int, float]] = []
        self._grown = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, *words],
            stdin=ours,
            stdout=ours,
            stderr=ours,
            env=environment(),
            cwd=_REPOSITORY,
            start_new_session=True,
            pass_fds=tuple(keep_open),
        )
        os.close(ours)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._reader.join(2)
        os.close(self._main)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._main, 1 << 16)
            except OSError:
                data = b""
            now = time.monotonic()
            with self._grown:
                if not data:
                    self._ended = True
                self._output += data
                self._stamps.append((len(self._output), now))
                self._grown.notify_all()
                if not data:
                    return

    @property
    def mark(self) -> int:
        """How much was written so far; what is waited for may be asked to come after it."""
        with self._grown:
            return len(self._output)

    def press(self, keys: str) -> float:
        """Type; returns when."""
        now = time.monotonic()
        os.write(self._main, keys.encode())
        return now

    def when(self, pattern: str, *, after: int = 0) -> float:
        """Wait for a text, as a regular expression; returns when it arrived, on the monotonic clock.

        Raises:
            Slow: It did not.
        """
        return self.find(pattern, after=after)[0]

    def find(
        self, pattern: str, *, after: int = 0, accept: Callable[[str], bool] = lambda _: True
    ) -> tuple[float, str]:
        """As `when`, for the first text that is accepted, which is returned as well."""
        compiled = re.compile(pattern.encode())
        deadline = time.monotonic() + _PATIENCE
        position = after
        with self._grown:
            while True:
                for found in compiled.finditer(self._output, position):
                    if accept(text := found.group().decode()):
                        return next(now for size, now in self._stamps if size >= found.end()), text
                position = max(after, len(self._output) - _LONGEST)
                left = deadline - time.monotonic()
                if left <= 0 or self._ended:
                    raise Slow(f"{pattern!r} did not appear; at the end: {bytes(self._output[-400:])!r}")
                self._grown.wait(left)

    def marks(self, pattern: str, *, after: int = 0) -> set[str]:
        """All texts of a kind that arrived so far."""
        with self._grown:
            return {found.decode() for found in re.findall(pattern.encode(), bytes(self._output[after:]))}

    def settle(self, seconds: float = 0.3, *, most: float = 20.0) -> None:
        """Wait until nothing is written for a while."""
        deadline = time.monotonic() + most
        size = -1
        while size != self.mark and time.monotonic() < deadline:
            size = self.mark
            time.sleep(seconds)

    def rest(self, seconds: float) -> None:
        """Do nothing for a while, as somebody who only has it open."""
        time.sleep(seconds)

    def memory(self) -> int:
        """The memory that is resident now, in KiB."""
        return self._in_status("VmRSS")

    def peak_memory(self) -> int:
        """The most memory that was resident at one time so far, in KiB."""
        return self._in_status("VmHWM")

    def _in_status(self, name: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.findall(rf"{name}:\s+(\d+) kB", status)[0])


def memtui(folder: Path | str, state: Path, *verb: str) -> list[str]:
    """The words that browse a folder or a store, or that open it with a verb."""
    return ["-m", "memtui", *verb, "--state", str(state), str(folder)]


def environment() -> dict[str, str]:
    """What the program finds: compiled modules are kept, in a place of the benchmark's own."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **kept,
        "TERM": "xterm-256color",
        "PYTHONPATH": str(_REPOSITORY),
        "PYTHONPYCACHEPREFIX": os.path.join(tempfile.gettempdir(), "memtui-bench-pycache"),
    }
