"""The process behind a page: what it draws, what it may do, and what it leaves behind."""

import asyncio
import json
import os
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.fs.landlock import get_landlock_version
from memtui.web.server import ViewerOptions, start_viewer
from tests.neutral.trees import age, differences, traces
from tests.web.conftest import LIMIT

ROOT = Path(__file__).parents[2]


class Viewer:
    """A running viewer, and the screen as a page would have it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.rows: dict[int, str] = {}
        self.copied: list[str] = []
        self.ended = ""
        self.number = 0

    @property
    def text(self) -> str:
        return "\n".join(self.rows[row] for row in sorted(self.rows))

    def send(self, *message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def receive(self, seconds: float = LIMIT) -> None:
        """Take in the next message."""
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), seconds)
        assert line, f"the viewer has ended: {self.ended}"
        message = json.loads(line)
        self.ended = message.get("end", "")
        if self.ended:
            return
        self.number = message["number"]
        for row, runs in message["rows"]:
            self.rows[row] = "".join(run[0] for run in runs)
        if "copy" in message:
            self.copied.append(message["copy"])

    async def wait_for(self, enough: Callable[[], object]) -> None:
        """Receive, and say that it is drawn, until it is enough."""
        try:
            async with asyncio.timeout(LIMIT):
                while not enough():
                    await self.receive()
                    self.send("ack", self.number)
        except TimeoutError:
            pytest.fail(f"the screen stayed at\n{self.text}")


@asynccontextmanager
async def run_viewer(folder: Path, *hello: Any) -> AsyncIterator[Viewer]:
    process = await start_viewer(ViewerOptions(folder=os.fspath(folder)))
    viewer = Viewer(process)
    viewer.send("hello", *(hello or (80, 24, False)))
    try:
        yield viewer
    finally:
        if process.returncode is None:
            process.kill()
        assert process.stdout is not None
        await process.stdout.read()
        await process.wait()


async def test_a_viewer_leaves_nothing_behind_and_ends_with_its_page(folder: Path, home: Path) -> None:
    roots = [folder, *(path for path in home.iterdir() if path.is_dir())]
    age(*roots)
    before = traces(*roots)
    async with run_viewer(folder) as viewer:
        await viewer.wait_for(lambda: "prefs.md" in viewer.text and "Watching" in viewer.text)
        if get_landlock_version():
            assert "NoNewPrivs:\t1" in Path(f"/proc/{viewer.process.pid}/status").read_text()
        for key in ("j", "Enter", "m", "M", "b", "d", "e", "E", "r", "a", "u", "Escape"):
            viewer.send("key", key, 0)
        viewer.send("key", "t", 4)  # the themes
        viewer.send("key", "ArrowDown", 0)
        viewer.send("key", "Enter", 0)
        viewer.send("key", "T", 1)
        await viewer.wait_for(lambda: "AS OF" in viewer.text)
        assert viewer.process.stdin is not None
        viewer.process.stdin.close()
        assert await asyncio.wait_for(viewer.process.wait(), LIMIT) == 0
    assert differences(before, traces(*roots)) == []


async def test_at_most_two_frames_are_on_the_way_and_the_next_one_has_everything(folder: Path) -> None:
    async with run_viewer(folder) as viewer:
        await viewer.wait_for(lambda: "prefs.md" in viewer.text and "Watching" in viewer.text)
        drawn = viewer.number
        for number in range(12):
            (folder / f"n{number:02}.md").write_text("new\n")
            viewer.send("key", "j", 0)
        while viewer.number < drawn + 2:
            await viewer.receive()
        viewer.send("size", 90, 30)  # would be drawn
        with pytest.raises(TimeoutError):
            await viewer.receive(seconds=1.0)
        viewer.send("ack", 10**9)  # no more than was sent
        await viewer.wait_for(lambda: len(viewer.rows) == 30 and "n11.md" in viewer.text)


async def test_a_copied_text_goes_to_the_page_and_not_to_this_machine(folder: Path, tmp_path: Path) -> None:
    async with run_viewer(folder) as viewer:
        await viewer.wait_for(lambda: "2 prefs.md" in viewer.text)
        viewer.send("key", "y", 0)
        await viewer.wait_for(lambda: "path for the agent" in viewer.text)
        viewer.send("key", "p", 0)
        await viewer.wait_for(lambda: viewer.copied)
        await viewer.wait_for(lambda: "Copied path (web browser)." in viewer.text)
    assert viewer.copied == ["/memories/prefs.md"]
    assert list(tmp_path.glob("*.txt")) == []


async def test_a_viewer_has_no_keys_of_an_api_and_sees_no_other_folder(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-secret")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere")
    monkeypatch.setenv("DISPLAY", ":0")
    (home / ".claude/projects/other/memory").mkdir(parents=True)
    (home / ".claude/projects/other/memory/MEMORY.md").write_text("# Others\n")
    for path in (*folder.rglob("*.md"), folder / "notes"):
        path.rmdir() if path.is_dir() else path.unlink()
    async with run_viewer(folder, 100, 30, True) as viewer:
        environment = Path(f"/proc/{viewer.process.pid}/environ").read_text()
        for name in ("ANTHROPIC_API_KEY", "SSH_AUTH_SOCK", "DISPLAY"):
            assert name not in environment
        await viewer.wait_for(lambda: "This folder has no notes" in viewer.text)
        await viewer.wait_for(lambda: "list and restore 3 deleted notes" in viewer.text)
        assert "another folder" not in viewer.text
        assert "Also found" not in viewer.text
        assert "chat" not in viewer.text
        for key in ("o", "1", "A", "F9"):
            viewer.send("key", key, 0)
        viewer.send("key", "z", 4)
        viewer.send("key", ":", 0)
        viewer.send("text", "chat")
        await viewer.wait_for(lambda: "chat" in viewer.text)
        viewer.send("key", "Enter", 0)
        viewer.send("key", "Escape", 0)
        await viewer.wait_for(lambda: "This folder has no notes" in viewer.text)


async def test_modules_are_not_loaded_from_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "textual.py").write_text("raise SystemExit(9)\n")
    (folder / "json.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(os.fspath(folder))  # as for `python -m memtui` there
    async with run_viewer(folder) as viewer:
        await viewer.wait_for(lambda: "textual.py" in viewer.text)


@pytest.mark.parametrize("hello", [b"", b"[]\n", b'["hello"]\n', b"x" * 70_000])
def test_without_a_greeting_nothing_starts(folder: Path, hello: bytes) -> None:
    given = json.dumps({"folder": os.fspath(folder), "state": None, "config": None, "no_config": True})
    done = subprocess.run(
        [sys.executable, "-m", "memtui.ui.web_viewer", given],
        input=hello, capture_output=True, check=False, timeout=LIMIT, env={**os.environ, "PYTHONPATH": os.fspath(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"")


async def test_q_ends_it_with_a_sentence(folder: Path) -> None:
    async with run_viewer(folder) as viewer:
        await viewer.wait_for(lambda: "2 prefs.md" in viewer.text)
        viewer.send("key", "q", 0)
        await viewer.wait_for(lambda: viewer.ended)
        assert viewer.ended == "Ended."
        assert await asyncio.wait_for(viewer.process.wait(), LIMIT) == 0


TRY = """
import ctypes, json, os, socket, subprocess, sys, threading
from memtui.ui import web_viewer

folder, outside, walls = sys.argv[1:]
if walls == "python":
    web_viewer.restrict_writes = lambda **_: None
if walls == "kernel":
    sys.addaudithook = lambda _: None
server = socket.create_server(("127.0.0.1", 0))
web_viewer.confine(folder, outside + "/state")

def tried(act):
    try:
        act()
    except OSError as error:
        return type(error).__name__
    return "done"

acts = {
    "read a note": lambda: open(folder + "/prefs.md").close(),
    "list the folder": lambda: os.listdir(folder),
    "load a module": lambda: __import__("sqlite3"),
    "print": lambda: open(os.devnull, "w").close(),
    "start a thread": lambda: threading.Thread(target=int).start(),
    "read elsewhere": lambda: open(outside + "/secret").close(),
    "list elsewhere": lambda: os.listdir(outside),
    "write a note": lambda: open(folder + "/prefs.md", "a").close(),
    "make a note": lambda: os.open(folder + "/new.md", os.O_RDONLY | os.O_CREAT),
    "write elsewhere": lambda: open(outside + "/new", "w").close(),
    "delete a note": lambda: os.unlink(folder + "/prefs.md"),
    "rename a note": lambda: os.rename(folder + "/prefs.md", folder + "/p.md"),
    "run a program": lambda: subprocess.run(["/bin/true"], check=True),
    "exec a program": lambda: os.execv("/bin/true", ["true"]),
    "connect": lambda: socket.create_connection(server.getsockname()).close(),
}
print(json.dumps({name: tried(act) for name, act in acts.items()}))
"""
ALLOWED = {"read a note", "list the folder", "load a module", "print", "start a thread"}
READING = {"read elsewhere", "list elsewhere"}


@pytest.mark.parametrize("walls", ["both", "kernel", "python"])
def test_what_a_viewer_may_do_is_to_read_the_folder(folder: Path, tmp_path: Path, walls: str) -> None:
    if walls == "kernel" and get_landlock_version() < 4:
        pytest.skip("needs Landlock 4 in the kernel")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    done = subprocess.run(
        [sys.executable, "-c", TRY, folder, outside, walls],
        capture_output=True, text=True, check=False, timeout=LIMIT, env={**os.environ, "PYTHONPATH": os.fspath(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    is_enforced = walls == "kernel" or (walls == "both" and get_landlock_version())
    allowed = ALLOWED if is_enforced else ALLOWED | READING  # Python itself does not tell what may be read
    assert {name for name, how in outcome.items() if how == "done"} == allowed
    assert {how for name, how in outcome.items() if name not in allowed} == {"PermissionError"}
