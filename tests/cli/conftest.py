"""Running the command line: in this process, in one of its own, and in a terminal."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

import memtui
from tests.agents.model_server import ModelServer
from tests.conftest import NOTES, fill
from tests.warm import Warm

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
CALL_ID = "toolu_0123456789abcdef"

LIMIT = 30.0
"""Seconds that anything may take before a test gives up on it."""


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own, and no settings from whoever runs it."""
    for name in ("NO_COLOR", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("TERM", "xterm-256color")
    return home


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small memory folder, named by the environment."""
    path = fill(tmp_path / "memories", {**NOTES, ".hidden": "x"})
    monkeypatch.setenv("MEMTUI_DIR", str(path))
    return path


@pytest.fixture
def story(folder: Path) -> Path:
    """A folder in which an agent wrote, moved and deleted, and somebody else wrote as well; seven events."""
    with memtui.open(folder) as memory:

        def do(**command: str) -> None:
            memory.execute(command, actor=CLAUDE, call_id=CALL_ID)

        do(command="create", path="/memories/new.md", file_text="a\nb\n")
        do(command="str_replace", path="/memories/new.md", old_str="a\n", new_str="c\nd\n")
        do(command="rename", old_path="/memories/new.md", new_path="/memories/notes/old.md")
        do(command="view", path="/memories/notes/old.md")
        do(command="delete", path="/memories/prefs.md")
        (folder / "notes" / "today.md").write_text("standup at ten\nlunch\n")
        memory.reconcile()
    return folder


@pytest.fixture
def rewritten(folder: Path) -> Path:
    """A folder in which an agent wrote one note a few times."""
    with memtui.open(folder) as memory:
        for number in range(6):
            create = {"command": "create", "path": "/memories/new.md", "file_text": f"{number}\n"}
            memory.execute(create, actor=memtui.Agent("bot"))
    return folder


@pytest.fixture
def journal(rewritten: Path, state_home: Path) -> Path:  # noqa: ARG001
    """The journal of that folder."""
    return next(state_home.rglob("journal.db"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A scripted model's server, to which the program talks."""
    with ModelServer() as server:
        server.point_sdk_at_it(monkeypatch)
        yield server


class Ran(NamedTuple):
    """What a process left."""

    code: int
    out: bytes
    err: bytes


Run = Callable[..., Ran]


@pytest.fixture
def run(warm: Warm) -> Run:
    """Run memtui in a process of its own, with pipes."""

    def run(*words: str | bytes, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ran:
        done = warm.run(["-m", "memtui", *words], input=stdin, timeout=LIMIT, env={**os.environ, **(env or {})})
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def run_in_terminal(warm: Warm) -> Run:
    """Run a program in a pseudo-terminal; what it shows is all in `out`, with what was typed for it."""

    def run(
        *words: str, program: Sequence[str] = ("-m", "memtui"), env: Mapping[str, str] | None = None, typed: bytes = b""
    ) -> Ran:
        master, slave = pty.openpty()
        try:
            os.write(master, typed)
            process = warm.start([*program, *words], (slave, slave, slave), env={**os.environ, **(env or {})})
            os.close(slave)
            try:
                shown = read_until(master, lambda _: False)
                code = process.wait(LIMIT)
            finally:
                process.kill()
        finally:
            os.close(master)
        return Ran(code, shown.replace(b"\r\n", b"\n"), b"")

    return run


def read_until(fd: int, enough: Callable[[bytes], bool], seconds: float = LIMIT) -> bytes:
    """Read until it is enough, or there is no more."""
    read = b""
    deadline = time.monotonic() + seconds
    while not enough(read):
        ready, _, _ = select.select([fd], [], [], deadline - time.monotonic())
        assert ready, f"nothing more came after {read!r}"
        try:
            data = os.read(fd, 65_536)
        except OSError:  # a terminal whose last program has ended
            return read
        if not data:
            return read
        read += data
    return read


@pytest.fixture
def reading_until() -> Callable[[int, Callable[[bytes], bool]], bytes]:
    """`read_until`, for tests that run a program of their own."""
    return read_until


# A shell starts background jobs with the signal ignored, and the tests may be such a job.
_INTERRUPTIBLE = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from memtui.cli import main
sys.exit(main())
"""


class Follower:
    """A `memtui log --follow` that is running."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        assert process.stdout
        self.stdout = process.stdout

    def read_until(self, text: bytes) -> bytes:
        """What it prints, up to a text."""
        return read_until(self.stdout.fileno(), lambda read: text in read)


@pytest.fixture
def following() -> Callable[..., "contextmanager[Follower]"]:
    """Run `memtui log --follow`, and end it whatever happens."""

    @contextmanager
    def following(*words: str) -> Iterator[Follower]:
        process = subprocess.Popen(
            [sys.executable, "-c", _INTERRUPTIBLE, "log", "--follow", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        with process:
            try:
                yield Follower(process)
            finally:
                process.kill()

    return following  # type: ignore[return-value]
