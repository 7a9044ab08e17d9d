"""`python -m tests.warm SOCKET`: a process that has loaded memtui, and forks for whoever wants it run.

To start Python and to load everything takes most of what a test of the command line needs; here it is done once. What
is forked is a process like any other: a session of its own, with its own descriptors, directory and environment, and
`sys.argv` as given. What depends on how Python itself is started, or on what is loaded when, is no case for it: such
programs are started as ever.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

_MOST = 1 << 20
_STAY = b"stay"
"""What is sent to have it stay until the connection ends, instead of what to start."""
_AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "TEXTUAL_", "ESCDELAY")
"""Parts of the environment that are read as Python starts, or as what it loads is loaded."""
_OURS = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONUNBUFFERED", "PYTHONWARNINGS")


class Warm:
    """The side of the tests: starts programs in the process that is warm already."""

    def __init__(self, shared: Path) -> None:
        """Have one that others of the same run share, or the first; it ends with the last of them.

        Args:
            shared: A directory that they all know.
        """
        self._place = tempfile.TemporaryDirectory(prefix="memtui-warm-")
        self._lock = shared / "warm.lock"
        self._name = shared / "warm.socket"  # a link: the path of a socket may not be long
        self._root = str(Path(__file__).parents[1])
        self._environment = {**os.environ, "PYTHONPATH": self._root}
        self._process: subprocess.Popen[bytes] | None = None
        self._stay = self._join()

    def _join(self) -> socket.socket:
        """Connect for as long as it is needed; start one where there is none."""
        with self._lock.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                stay = self._connect()
            except OSError:
                self._launch()
                stay = self._connect()
            stay.send(_STAY)
        return stay

    @property
    def path(self) -> str:
        """Where it listens."""
        return os.readlink(self._name)

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            connection.connect(self.path)
        except OSError:
            connection.close()
            raise
        return connection

    def _launch(self) -> None:
        """Start the warm process, and wait until it listens."""
        self._end()
        path = os.path.join(self._place.name, f"socket-{time.monotonic_ns()}")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", path],
            cwd=self._root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout
        if self._process.stdout.read(1) != b"+":
            raise OSError("the warm process did not start")
        self._name.unlink(missing_ok=True)
        self._name.symlink_to(path)

    def start(
        self,
        words: Sequence[str | bytes],
        fds: tuple[int, int, int],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        terminal: bool = False,
    ) -> "Started | subprocess.Popen[bytes]":
        """Start `python WORDS`, that is `-m MODULE ...` or `-c PROGRAM ...`, with these as 0, 1 and 2.

        Args:
            words: What would stand after `python`.
            fds: What it reads and writes.
            env: Its environment, this process's if not given.
            cwd: Where, as this process if not given.
            terminal: Whether it begins a session, and the terminal it reads from is that session's.
        """
        environment = dict(os.environ if env is None else env)
        if words[0] not in ("-m", "-c") or self._cannot_be_told(environment):
            return subprocess.Popen(
                [sys.executable, *words], stdin=fds[0], stdout=fds[1], stderr=fds[2], env=environment, cwd=cwd,
                start_new_session=True, preexec_fn=_take_terminal if terminal else None,  # noqa: PLW1509
            )  # fmt: skip
        asked = {
            "words": [os.fsdecode(word) for word in words],
            "env": environment,
            "cwd": os.fspath(cwd or os.getcwd()),
            "terminal": terminal,
        }
        try:
            connection = self._connect()
        except OSError:  # another job of the machine may have killed it
            self._stay.close()
            self._stay = self._join()
            connection = self._connect()
        socket.send_fds(connection, [json.dumps(asked).encode()], fds)
        return Started([sys.executable, *words], connection)

    def popen(
        self, words: Sequence[str | bytes], *, env: Mapping[str, str] | None = None
    ) -> "Started | subprocess.Popen[bytes]":
        """`subprocess.Popen` of `python WORDS`, with pipes."""
        ends = [os.pipe() for _ in range(3)]
        inner = (ends[0][0], ends[1][1], ends[2][1])
        try:
            started = self.start(words, inner, env=env)
        finally:
            for fd in inner:
                os.close(fd)
        started.stdin = os.fdopen(ends[0][1], "wb")
        started.stdout = os.fdopen(ends[1][0], "rb")
        started.stderr = os.fdopen(ends[2][0], "rb")
        return started

    def run(
        self,
        words: Sequence[str | bytes],
        *,
        input: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
    ) -> "subprocess.CompletedProcess[bytes]":
        """`subprocess.run` of `python WORDS`, with pipes."""
        ends = [os.pipe() for _ in range(3)]
        outer = [ends[0][1], ends[1][0], ends[2][0]]
        inner = (ends[0][0], ends[1][1], ends[2][1])
        try:
            started = self.start(words, inner, env=env, cwd=cwd)
        finally:
            for fd in inner:
                os.close(fd)
        try:
            out, err = _talk(outer, input, time.monotonic() + timeout)
            return subprocess.CompletedProcess(started.args, started.wait(timeout), out, err)
        except (TimeoutError, subprocess.TimeoutExpired):
            started.kill()
            raise subprocess.TimeoutExpired(started.args, timeout) from None

    def _cannot_be_told(self, environment: Mapping[str, str]) -> bool:
        """Whether an environment tells something that one who is running already cannot be told any more."""
        return any(
            environment.get(name) != self._environment.get(name)
            for name in {*environment, *self._environment}
            if name.startswith(_AT_THE_START) and name not in _OURS
        )

    def close(self) -> None:
        """Leave it; who started it waits until the others have left it too."""
        self._stay.close()
        self._end()
        self._place.cleanup()

    def _end(self) -> None:
        if self._process is not None:
            self._process.wait()
            assert self._process.stdout
            self._process.stdout.close()


def _talk(fds: list[int], given: bytes, until: float) -> tuple[bytes, bytes]:
    """Write to the first of three pipes, read the others to their ends, and close them all."""
    to, *sources = fds
    read = dict.fromkeys(sources, b"")
    left = set(fds)
    rest = memoryview(given)
    os.set_blocking(to, False)
    try:
        while left:
            if to in left and not rest:
                left.remove(to)
                os.close(to)
                continue
            readable, writable, _ = select.select(left - {to}, left & {to}, [], max(until - time.monotonic(), 0.0))
            if not readable and not writable:
                raise TimeoutError
            for fd in readable:
                data = os.read(fd, 1 << 16)
                read[fd] += data
                if not data:
                    left.remove(fd)
                    os.close(fd)
            if writable:
                try:
                    rest = rest[os.write(to, rest) :]
                except BrokenPipeError:
                    rest = rest[:0]
    finally:
        for fd in left:
            os.close(fd)
    return read[sources[0]], read[sources[1]]


class Started:
    """A program that was started, with what `subprocess.Popen` has of it."""

    def __init__(self, args: list[Any], connection: socket.socket) -> None:
        self.args = args
        self._connection = connection
        self.pid = int(connection.recv(64))
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None

    def poll(self) -> int | None:
        """How it ended, `None` while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(self._connection.recv(64))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def serve(path: str) -> list[str] | None:
    """Fork for everyone who asks; returns the words of the program in a forked process, `None` in this one."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(64)
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    ending: dict[int, socket.socket] = {}
    staying: set[socket.socket] = set()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        gc.collect()
        gc.freeze()
        os.write(1, b"+")
        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    data, fds, _, _ = socket.recv_fds(connection, _MOST, 3)
                    if data == _STAY:
                        staying.add(connection)
                        selector.register(connection, selectors.EVENT_READ)
                        continue
                    detached, detaching = os.pipe()
                    pid = os.fork()
                    if pid == 0:
                        os.setsid()
                        os.close(detaching)
                        os.close(detached)
                        signal.set_wakeup_fd(-1)
                        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                        signal.signal(signal.SIGTERM, signal.SIG_DFL)
                        selector.close()
                        for open_ in (listener, connection, *staying, *ending.values()):
                            open_.close()
                        return _become(json.loads(data), fds)
                    for fd in fds:
                        os.close(fd)
                    os.close(detaching)
                    os.read(detached, 1)  # until it is in a session of its own: whoever kills its group spares this one
                    os.close(detached)
                    with contextlib.suppress(OSError):
                        connection.send(str(pid).encode())
                    ending[pid] = connection
                elif key.fileobj == woken:
                    with contextlib.suppress(BlockingIOError):
                        os.read(woken, 4096)
                else:  # one of those that stay has left
                    staying.remove(key.fileobj)  # type: ignore[arg-type]
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
                    if not staying:
                        os._exit(0)
            while ending:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                with contextlib.suppress(OSError), ending.pop(pid) as connection:
                    connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(asked: dict[str, Any], fds: list[int]) -> list[str]:
    """Be the process that was asked for."""
    held = [os.dup(fd) if fd < 3 else fd for fd in fds]
    for number, fd in enumerate(held):
        os.dup2(fd, number)
    os.closerange(3, 4096)
    if asked["terminal"]:
        _take_terminal()
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["cwd"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unbuffered = bool(asked["env"].get("PYTHONUNBUFFERED"))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        mode, is_talking = "w" if number else "r", number == 2 or (number == 1 and os.isatty(number))
        binary: Any = open(number, mode + "b", 0 if number and unbuffered else -1, closefd=False)  # noqa: SIM115
        stream = io.TextIOWrapper(
            binary, before.encoding, before.errors, line_buffering=is_talking, write_through=bool(number) and unbuffered
        )
        stream.mode = mode  # type: ignore[misc]
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    return list(asked["words"])


def _take_terminal() -> None:
    """Have what is read from as the terminal of the session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _load() -> None:
    """Load all that memtui may load, and have what it makes of it once."""
    from tests.modules import iter_module_names  # noqa: PLC0415 - after the options of Python are set

    for name in iter_module_names():
        importlib.import_module(name)


def main() -> None:
    """Serve; in a forked process, be that program."""
    _load()
    words = serve(sys.argv[1])
    assert words is not None
    option, program, *rest = words
    for name in [name for name in sys.modules if name.startswith("tests.")]:
        del sys.modules[name]
    try:
        if option == "-m":
            sys.argv = [program, *rest]
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *rest]
            exec(compile(program, "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        _end(int(end.code or 0))
        raise
    _end(0)


def _end(code: int) -> None:
    """End as Python does, only without taking down one by one all that was loaded; return where that cannot be."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
