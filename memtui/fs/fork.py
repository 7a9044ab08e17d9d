"""A second process that finds something out, so that an audit or a search of a large folder has two processors.

It is forked once what it needs is in memory, so nothing has to be sent to it, and it tells one value after the other.
Where it ends before it has told all, what it had to do is done again by who began it: a result never depends on it.

It needs a process without other threads, of which a forked one would know nothing: a screen has none.
"""

import contextlib
import gc
import marshal
import os
import signal
import struct
from collections.abc import Callable
from typing import Any, NoReturn, Self

from memtui.fs.landlock import count_threads

FEWEST = 1_000
"""Notes to look at, or events and files to check, from which on it pays: a process costs as much as some hundred."""
_SIZE = struct.Struct("!Q")

Tell = Callable[[Any], None]
"""Called with a value of Python's own types."""


class Fork:
    """A forked process, once it was begun; until then there is none, and it tells nothing.

    Attributes:
        is_running: Whether it may tell more.
    """

    def __init__(self) -> None:
        self._pid = 0
        self._reading = -1

    @property
    def is_running(self) -> bool:
        return bool(self._pid)

    def begin(self, serve: Callable[[Tell], None]) -> None:
        """Fork a process that calls `serve` and ends; none where none can be had."""
        self._reading, writing = os.pipe2(os.O_CLOEXEC)
        try:
            self._pid = os.fork()
        except OSError:
            return
        else:
            if self._pid == 0:
                os.close(self._reading)
                _serve(writing, serve)
        finally:
            os.close(writing)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        if self._reading >= 0:
            os.close(self._reading)

    def receive(self) -> Any:
        """The next value; `None` where the process tells no more."""
        if not self._pid:
            return None
        try:
            (size,) = _SIZE.unpack(self._read(_SIZE.size))
            return marshal.loads(self._read(size))
        except (EOFError, OSError, ValueError, TypeError):
            self._end()
            return None

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = os.read(self._reading, min(count - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _end(self) -> None:
        pid, self._pid = self._pid, 0
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def does_fork_pay(count: int) -> bool:
    """Whether a second process pays for so many notes or events, and can be had."""
    processors = getattr(os, "sched_getaffinity", lambda _: ())(0)
    return count >= FEWEST and len(processors) >= 2 and count_threads() == 1


def _serve(writing: int, serve: Callable[[Tell], None]) -> NoReturn:
    """Never returns: nothing of the caller's is to run here."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)  # it ends with its caller: at its next word at the latest
        gc.disable()
        serve(lambda value: _tell(writing, value))
    finally:
        os._exit(0)


def _tell(writing: int, value: Any) -> None:
    data = marshal.dumps(value)
    left = memoryview(_SIZE.pack(len(data)) + data)
    while left:
        left = left[os.write(writing, left) :]
