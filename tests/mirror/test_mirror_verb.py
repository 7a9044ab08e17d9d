"""`memtui mirror` on the command line."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import memtui
from memtui import memory
from memtui.core.hashing import hash_bytes
from tests.cli.conftest import LIMIT, Run, run  # noqa: F401 - a fixture
from tests.conftest import wait_until
from tests.mirror.conftest import NOTES, Pair
from tests.pg_server import OwnServer


class Running:
    """A mirror in a process of its own, that follows."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._seen = b""

    def read_line(self) -> str:
        assert self.process.stdout is not None
        while b"\n" not in self._seen:
            ready, _, _ = select.select([self.process.stdout], [], [], LIMIT)
            assert ready, "nothing was printed"
            data = os.read(self.process.stdout.fileno(), 65_536)
            assert data, self.process.wait()
            self._seen += data
        line, self._seen = self._seen.split(b"\n", 1)
        return line.decode()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        code = self.process.wait(LIMIT)
        assert self.process.stderr is not None
        return code, self.process.stderr.read().decode()


@contextmanager
def follow(pair: Pair, *words: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "memtui", "mirror", pair.place, str(pair.folder), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def test_it_follows_both_sides_until_it_is_ended(any_pair: Pair) -> None:
    with follow(any_pair) as running:
        any_pair.write(new_md="new\n")
        assert running.read_line() == "To the source: new.md created (another program)"
        any_pair.create("b.md", "B\n")
        assert running.read_line() == "To the folder: b.md changed (Claude)"
        (any_pair.folder / "c.md").unlink()
        assert running.read_line() == "To the source: c.md deleted (another program)"
        assert running.end() == (0, "")
    assert any_pair.read()["b.md"] == "B\n"


def test_it_goes_on_when_the_server_is_back(server: OwnServer, tmp_path: Path) -> None:
    pair = Pair(tmp_path / "folder", server.address(f"f{os.urandom(6).hex()}"))
    pair.folder.mkdir()
    with follow(pair) as running:
        pair.write(a_md="a\n")
        assert running.read_line() == "To the source: a.md created (another program)"
        server.stop()
        try:
            pair.write(b_md="b\n")
            assert running.process.stderr is not None
            ready, _, _ = select.select([running.process.stderr], [], [], LIMIT)
            assert ready
            assert b"The server cannot be reached" in os.read(running.process.stderr.fileno(), 65_536)
            for text in ("first\n", "second\n"):
                pair.write(b_md=text)
                wait_until(lambda text=text: _is_recorded(pair.folder, text), "the record")  # type: ignore[misc]
        finally:
            server.start()
        assert running.read_line() == "To the source: b.md created (another program)"
        assert running.end(signal.SIGINT) == (0, "Both sides can be used again.\n")
    assert pair.read() == {"a.md": "a\n", "b.md": "second\n"}


def _is_recorded(folder: Path, text: str) -> bool:
    """Whether the record has a text; nobody looks at the folder for it."""
    with memory.connect(folder, read_only=True) as known:
        return known.journal.has_version(hash_bytes(text.encode()))


def test_a_server_that_is_away_at_the_start_is_waited_for(server: OwnServer, tmp_path: Path) -> None:
    pair = Pair(tmp_path / "folder", server.address(f"g{os.urandom(6).hex()}"))
    pair.folder.mkdir()
    pair.write(a_md="a\n")
    server.stop()
    with follow(pair) as running:
        try:
            assert running.process.stderr is not None
            ready, _, _ = select.select([running.process.stderr], [], [], LIMIT)
            assert ready
        finally:
            server.start()
        assert running.read_line() == "To the source: a.md created (another program)"


def test_only_one_runs(pair: Pair, run: Run) -> None:  # noqa: F811
    with follow(pair) as running:
        pair.write(new_md="new\n")
        running.read_line()
        ran = run("mirror", pair.place, str(pair.folder), "--once")
        assert (ran.code, ran.err) == (5, b"These two places are mirrored by another process already.\n")


def test_one_pass_has_a_code_and_says_each_change(pair: Pair, run: Run) -> None:  # noqa: F811
    words = ("mirror", pair.place, str(pair.folder), "--once")
    pair.create("new.md", "new\n")
    ran = run(*words, "--json")
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "schema": 1,
        "kind": "created",
        "to": "folder",
        "path": "new.md",
        "new_path": None,
        "actor": "Claude",
        "seq": 2,
        "reason": None,
    }
    os.symlink("a.md", pair.folder / "link.md")
    ran = run(*words, "--quiet")
    assert ran.code == 1
    assert ran.out == b"Left out of the source: link.md: a link says something in its own place only\n"


def test_a_wipe_is_refused_with_the_next_step(pair: Pair, run: Run) -> None:  # noqa: F811
    for name in NOTES:
        (pair.folder / name).unlink()
    for words in ((), ("--once",)):
        ran = run("mirror", pair.place, str(pair.folder), *words)
        assert ran.code == 4
        assert b"5 of 5 notes are no longer in the folder" in ran.err
        assert b"--accept-wipe" in ran.err
    ran = run("mirror", pair.place, str(pair.folder), "--once", "--accept-wipe")
    assert (ran.code, len(ran.out.splitlines())) == (0, 5)
    assert pair.read() == {"d": None}


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 4)])
def test_a_wipe_is_asked_about_at_a_terminal(pair: Pair, answer: str, code: int) -> None:
    for name in NOTES:
        (pair.folder / name).unlink()
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "memtui", "mirror", pair.place, str(pair.folder), "--once"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        seen = b""

        def is_asked() -> bool:
            nonlocal seen
            ready, _, _ = select.select([ours], [], [], 0.1)
            seen += os.read(ours, 65_536) if ready else b""
            return b"y yes" in seen

        wait_until(is_asked)
        os.write(ours, f"{answer}\n".encode())
        process.communicate(timeout=LIMIT)
        os.close(ours)
    assert process.returncode == code
    assert b"Delete them in the source as well?" in seen
    with memtui.open(pair.place) as there:
        assert there.get_totals().files == (0 if answer == "y" else len(NOTES))


def test_a_reader_that_left_ends_it(pair: Pair) -> None:
    with follow(pair) as running:
        pair.write(new_md="new\n")
        running.read_line()
        assert running.process.stdout is not None
        running.process.stdout.close()
        assert running.process.wait(LIMIT) == 141
