"""A helper process that writes files for a parent that has given up its right to write.

A read-only session confines itself (`memtui.fs.landlock`), yet reports and review marks have to be saved. So a small
process is forked before that: it writes whole files for its parent, where `memtui.fs.exports` allows, removes its
temporary files at the end, and nothing else. It holds neither terminal nor folder, and ends with its parent.
"""

import contextlib
import os
import shutil
import signal
import socket
import struct
import sys
import threading
from collections.abc import Collection
from typing import NoReturn, Protocol, Self

from memtui.fs.atomic import write_atomic
from memtui.fs.exports import ExportWriter, WriteFailed, WriteFailureReason
from memtui.fs.landlock import count_threads, disable_core_dumps

_ASKED = struct.Struct("!IQ")
"""How many bytes of words and of data follow."""
_ANSWERED = struct.Struct("!I")
_READY = b"\0"
_MOST_WORDS = 1 << 20
_MOST_DATA = 1 << 32
_CHUNK = 1 << 20
_IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
"""What a terminal sends to all that it started: the parent judges what comes of it."""


class FileWriter(Protocol):
    """Writes files for a person: this process, or one that was forked while it still could."""

    def write(self, path: str, data: bytes, *, force: bool = False) -> None:
        """Write a file whole, for its owner only, with missing directories; `force` replaces. Raises `WriteFailed`."""
        ...

    def keep(self, path: str | os.PathLike[str], data: bytes) -> None:
        """Replace one of the files in a state directory that were named for this. Raises `WriteFailed`."""
        ...

    def close(self) -> None: ...


class LocalWriter:
    """Writes in this process, by the same rules."""

    def __init__(self, outgoing: ExportWriter, *, kept: Collection[str | os.PathLike[str]] = ()) -> None:
        self._outgoing = outgoing
        self._kept = frozenset(os.fspath(path) for path in kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, path: str, data: bytes, *, force: bool = False) -> None:
        self._outgoing.write(path, data, force=force, parents=True)

    def keep(self, path: str | os.PathLike[str], data: bytes) -> None:
        _keep_file(self._kept, os.fspath(path), data)

    def close(self) -> None:
        """Nothing to close."""


class WriteHelper:
    """A process that writes for this one. Calls may come from any thread.

    It has to begin before this process has other threads or gives up its right to write.

    Args:
        outgoing: Where files may be written.
        kept: The files in a state directory that it may replace, too.
        has_directory: Whether this process is to have a directory for temporary files of its own. The helper removes
            it, with what is in it, once this process has closed the helper or has ended, however it did.

    Attributes:
        directory: The path of that directory; empty for none, and where none can be made outside the memory folder.

    Raises:
        RuntimeError: There are other threads already, which a forked process would do without.
        WriteFailed: No process can be made.
    """

    def __init__(
        self, outgoing: ExportWriter, *, kept: Collection[str | os.PathLike[str]] = (), has_directory: bool = False
    ) -> None:
        if count_threads() > 1:
            raise RuntimeError("the process that writes has to be forked before there are threads")
        self._lock = threading.Lock()
        self.directory = _make_directory(outgoing) if has_directory else ""
        try:
            ours, its = socket.socketpair()
            with contextlib.ExitStack() as undo:
                undo.callback(its.close)
                undo.callback(ours.close)
                self._pid = os.fork()
                undo.pop_all()
        except OSError as error:
            shutil.rmtree(self.directory, ignore_errors=True)
            reason = os.strerror(error.errno or 0).lower()
            words = f"The writer process could not be started: {reason}. Nothing was written."
            raise WriteFailed(WriteFailureReason.FAILED, words) from error
        if self._pid == 0:
            _serve(its, outgoing, frozenset(os.fspath(path) for path in kept), self.directory)
        its.close()
        self._socket = ours
        with contextlib.suppress(OSError, EOFError):  # what went wrong there is told by the first that is to be written
            _receive_exactly(ours, len(_READY))  # from here on no key of the terminal ends it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The number of its process; 0 once it has ended."""
        return self._pid

    def write(self, path: str, data: bytes, *, force: bool = False) -> None:
        self._ask({"path": _resolve_path(path), "force": force}, data)

    def keep(self, path: str | os.PathLike[str], data: bytes) -> None:
        self._ask({"kept": os.fspath(path)}, data)

    def _ask(self, asked: dict[str, object], data: bytes) -> None:
        import json  # noqa: PLC0415 - start-up: not before there is something to write

        words = json.dumps(asked).encode("ascii")
        with self._lock:
            if not self._pid:
                raise _make_gone_error("has ended", is_known=True)
            try:
                self._socket.sendall(_ASKED.pack(len(words), len(data)) + words)
                self._socket.sendall(data)
            except OSError:
                self._reap()
                raise _make_gone_error("ended", is_known=True) from None  # it begins only once it has all
            try:
                (size,) = _ANSWERED.unpack(_receive_exactly(self._socket, _ANSWERED.size))
                answer = json.loads(_receive_exactly(self._socket, size))
            except (OSError, EOFError, ValueError):
                self._reap()
                raise _make_gone_error("ended", is_known=False) from None
        if answer["why"] is not None:
            raise WriteFailed(WriteFailureReason(answer["why"]), str(answer["text"]))

    def close(self) -> None:
        with self._lock:
            self._reap()

    def _reap(self) -> None:
        pid, self._pid = self._pid, 0
        if not pid:
            return
        self._socket.close()  # it reads the end of it, and ends
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _make_directory(outgoing: ExportWriter) -> str:
    try:
        return outgoing.make_temporary_directory()
    except WriteFailed:
        return ""


def _keep_file(kept: frozenset[str], path: str, data: bytes) -> None:
    if path not in kept:
        raise WriteFailed(WriteFailureReason.FORBIDDEN, f"{path} is not one of the files that may be replaced.")
    try:
        write_atomic(path, data)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise WriteFailed(WriteFailureReason.FAILED, f"The file could not be written: {reason}.") from error


def _resolve_path(path: str) -> str:
    """A path for the helper, where `/proc/self` and `.` are others; the last name is for `ExportWriter` to judge."""
    given = os.path.expanduser(path)
    return os.path.join(os.path.realpath(os.path.dirname(given) or "."), os.path.basename(given))


def _make_gone_error(how: str, *, is_known: bool) -> WriteFailed:
    what = "Nothing was written." if is_known else "The file may or may not have been written."
    words = f"The writer process {how}. {what} Start memtui again to write."
    return WriteFailed(WriteFailureReason.FAILED, words)


def _receive_exactly(connection: socket.socket, count: int) -> bytes:
    """Receive `count` bytes; raises `EOFError` if the other process has ended."""
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(min(_CHUNK, count - len(parts)))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


# The helper process.


def _serve(connection: socket.socket, outgoing: ExportWriter, kept: frozenset[str], directory: str) -> NoReturn:
    """Write until the parent ends, then remove its directory. Never returns: nothing of the parent's is to run here."""
    code = 1
    try:
        detach_from_parent(connection.fileno())
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # what it made is removed below
        connection.sendall(_READY)
        import json  # noqa: PLC0415 - start-up: the parent goes on meanwhile

        while True:
            try:
                words, size = _ASKED.unpack(_receive_exactly(connection, _ASKED.size))
                if words > _MOST_WORDS or size > _MOST_DATA:
                    break
                asked, data = json.loads(_receive_exactly(connection, words)), _receive_exactly(connection, size)
            except EOFError:
                code = 0
                break
            answer = json.dumps(_handle_write(outgoing, kept, asked, data)).encode("ascii")
            connection.sendall(_ANSWERED.pack(len(answer)) + answer)
    finally:
        if directory:
            shutil.rmtree(directory, ignore_errors=True)
        os._exit(code)


def _handle_write(
    outgoing: ExportWriter, kept: frozenset[str], asked: dict[str, object], data: bytes
) -> dict[str, str | None]:
    try:
        if "kept" in asked:
            _keep_file(kept, str(asked["kept"]), data)
        else:
            outgoing.write(str(asked["path"]), data, force=asked["force"] is True, parents=True)
    except WriteFailed as not_written:
        return {"why": not_written.reason.value, "text": str(not_written)}
    except Exception as error:  # the parent has to be told, or it would wait for ever
        text = f"The file could not be written ({error!r}). Nothing was written."
        return {"why": WriteFailureReason.FAILED.value, "text": text}
    return {"why": None, "text": None}


def detach_from_parent(kept: int) -> None:
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
    disable_core_dumps()
    sys.dont_write_bytecode = True
