"""The browser that only looks, in a real terminal: confined by the kernel, and it leaves nothing behind."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memtui.fs.landlock import get_landlock_version
from tests.neutral.conftest import Recorded
from tests.neutral.trees import age, differences, traces

_LIMIT = 30.0


class Terminal:
    """A program in a pseudo-terminal of 100 columns and 30 lines.

    Attributes:
        process: The program.
        shown: All that it has written.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process = process
        self._master = master
        self.shown = b""

    def wait_for(self, enough: Callable[[bytes], bool]) -> None:
        """Read on until it is enough."""
        deadline = time.monotonic() + _LIMIT
        while not enough(self.shown):
            ready, _, _ = select.select([self._master], [], [], max(deadline - time.monotonic(), 0))
            assert ready, f"nothing more came after {self.shown[-2_000:]!r}"
            try:
                self.shown += os.read(self._master, 65_536)
            except OSError:  # its program has ended
                assert enough(self.shown), self.shown[-2_000:]

    def press(self, keys: bytes) -> None:
        """Type something."""
        os.write(self._master, keys)

    def end(self) -> int:
        """Read what is left, and return the exit code."""
        deadline = time.monotonic() + _LIMIT
        while self.process.poll() is None and time.monotonic() < deadline:
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    self.shown += os.read(self._master, 65_536)
                except OSError:
                    break
        return self.process.wait(_LIMIT)


@contextmanager
def terminal(*words: str) -> Iterator[Terminal]:
    """Run memtui in a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "memtui", *words]
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True, close_fds=True
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait(_LIMIT)
        os.close(master)


@pytest.mark.parametrize("words", [[], ["audit"]], ids=["the browser", "an audit"])
def test_a_session_that_only_looks_leaves_nothing_behind(words: list[str], recorded: Recorded) -> None:
    age(recorded.folder, recorded.state)
    before = traces(recorded.folder, recorded.state)
    with terminal(*words, "--read-only", "--dir", os.fspath(recorded.folder)) as screen:
        screen.wait_for(lambda shown: b"READ-ONLY" in shown and b"prefs.md" in shown)
        if get_landlock_version():
            status = Path(f"/proc/{screen.process.pid}/status").read_text()
            assert "NoNewPrivs:\t1" in status
        for key in (b"j", b"j", b"k", b"\t", b"j", b"\t", b"q"):
            screen.press(key)
        assert screen.end() == 0, screen.shown[-3_000:]
    assert b"Traceback" not in screen.shown
    assert differences(before, traces(recorded.folder, recorded.state)) == []
