"""The one who writes for a process that cannot write any more.

A session that only looks gives up its right to write (`memtui.confinement`), and still a person wants her report and
her marks kept. So a small process is forked before that: it writes whole files for its parent, where `memtui.outgoing`
allows, and nothing else. It holds neither terminal nor folder, and ends with its parent, however that ends.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import sys
import threading
from typing import NoReturn, Protocol, Self

from memtui.confinement import leave_no_core, threads
from memtui.outgoing import NotWritten, Outgoing, Why

_ASKED = struct.Struct("!IQ")
"""How many bytes of words and of data follow."""
_ANSWERED = struct.Struct("!I")
_READY = b"\0"
_MOST_WORDS = 1 << 20
_MOST_DATA = 1 << 32
_CHUNK = 1 << 20
_IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
"""What a terminal sends to all that it started: the parent judges what comes of it."""


class Writer(Protocol):
    """Who writes files for a person: this process, or one that was forked while it still could."""

    def write(self, path: str, data: bytes, *, force: bool = False) -> None:
        """Write a file whole, for its owner only, with the directories above it that are missing.

        Args:
            path: Where; `~` is expanded.
            data: All of it.
            force: Whether a file that stands there is replaced.

        Raises:
            NotWritten: It was not written; the words say why.
        """
        ...

    def close(self) -> None:
        """Write nothing any more."""
        ...


class Here:
    """Writes in this process, by the same rules.

    Args:
        outgoing: Where files may be written.
    """

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, path: str, data: bytes, *, force: bool = False) -> None:
        """See `Writer.write`."""
        self._outgoing.write(path, data, force=force, parents=True)

    def close(self) -> None:
        """There is nothing to let go of."""


class Scribe:
    """A process that writes for this one. Calls may come from any thread.

    It has to begin before this process has other threads or gives up its right to write.

    Args:
        outgoing: Where files may be written: it is judged there, by that process, once it has begun.

    Raises:
        RuntimeError: There are other threads already, which a forked process would do without.
        NotWritten: No process can be made.
    """

    def __init__(self, outgoing: Outgoing) -> None:
        if threads() > 1:
            raise RuntimeError("the process that writes has to be forked before there are threads")
        self._lock = threading.Lock()
        try:
            ours, its = socket.socketpair()
            with contextlib.ExitStack() as undo:
                undo.callback(its.close)
                undo.callback(ours.close)
                self._pid = os.fork()
                undo.pop_all()
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            words = f"No process can be begun that writes for this one: {reason}. Nothing was written."
            raise NotWritten(Why.FAILED, words) from error
        if self._pid == 0:
            _serve(its, outgoing)
        its.close()
        self._socket = ours
        with contextlib.suppress(OSError, EOFError):  # what went wrong there is told by the first that is to be written
            _received(ours, len(_READY))  # from here on no key of the terminal ends it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The number of its process; 0 once it has ended."""
        return self._pid

    def write(self, path: str, data: bytes, *, force: bool = False) -> None:
        """See `Writer.write`."""
        words = json.dumps({"path": _resolved(path), "force": force}).encode("ascii")
        with self._lock:
            if not self._pid:
                raise _gone("has ended", is_known=True)
            try:
                self._socket.sendall(_ASKED.pack(len(words), len(data)) + words)
                self._socket.sendall(data)
            except OSError:
                self._end()
                raise _gone("ended", is_known=True) from None  # it begins only once it has all
            try:
                answer = json.loads(_received(self._socket, _ANSWERED.unpack(_received(self._socket, 4))[0]))
            except (OSError, EOFError, ValueError):
                self._end()
                raise _gone("ended", is_known=False) from None
        if answer["why"] is not None:
            raise NotWritten(Why(answer["why"]), str(answer["text"]))

    def close(self) -> None:
        """Have it end, and wait until it has."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        pid, self._pid = self._pid, 0
        if not pid:
            return
        self._socket.close()  # it reads the end of it, and ends
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _resolved(path: str) -> str:
    """A path by which that process finds what this one means: `/proc/self` and the directory it is in are others there.

    What it says of the last name is left to `Outgoing`, which judges all of it anew.
    """
    given = os.path.expanduser(path)
    return os.path.join(os.path.realpath(os.path.dirname(given) or "."), os.path.basename(given))


def _gone(how: str, *, is_known: bool) -> NotWritten:
    what = "Nothing was written." if is_known else "It is not known whether the file was written."
    return NotWritten(Why.FAILED, f"The process that writes for this one {how}. {what} Begin anew to write.")


def _received(connection: socket.socket, count: int) -> bytes:
    """Exactly as many bytes as said.

    Raises:
        EOFError: The other one has ended.
    """
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(min(_CHUNK, count - len(parts)))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


# In the process that writes


def _serve(connection: socket.socket, outgoing: Outgoing) -> NoReturn:
    """Write until the parent ends. Never returns: nothing of the parent's is to run here."""
    code = 1
    try:
        _let_go(connection.fileno())
        connection.sendall(_READY)
        while True:
            try:
                words, size = _ASKED.unpack(_received(connection, _ASKED.size))
                if words > _MOST_WORDS or size > _MOST_DATA:
                    break
                asked, data = json.loads(_received(connection, words)), _received(connection, size)
            except EOFError:
                code = 0
                break
            answer = json.dumps(_written(outgoing, asked, data)).encode("ascii")
            connection.sendall(_ANSWERED.pack(len(answer)) + answer)
    finally:
        os._exit(code)


def _written(outgoing: Outgoing, asked: dict[str, object], data: bytes) -> dict[str, str | None]:
    try:
        outgoing.write(str(asked["path"]), data, force=asked["force"] is True, parents=True)
    except NotWritten as not_written:
        return {"why": not_written.why.value, "text": str(not_written)}
    except Exception as error:  # the parent has to be told, or it would wait for ever
        return {"why": Why.FAILED.value, "text": f"The file could not be written ({error!r}). Nothing was written."}
    return {"why": None, "text": None}


def _let_go(kept: int) -> None:
    """Keep nothing of the parent's but one descriptor: no terminal, no group, and not how it takes signals."""
    os.setsid()
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    for fd in map(int, os.listdir("/dev/fd")):  # not up to a limit: that may be lower than it was, or be none
        if fd > 2 and fd != kept:
            with contextlib.suppress(OSError):
                os.close(fd)
    sys.stdin = sys.stdout = sys.stderr = None
    os.chdir("/")
    leave_no_core()
    sys.dont_write_bytecode = True
