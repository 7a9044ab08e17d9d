"""The demo: a story through the real engine, with and without a screen."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest

import memtui
from memtui.agents import demo
from memtui.core.events import Answer, Person
from memtui.ui.demo_app import run_demo_app
from tests.cli.conftest import read_until
from tests.conftest import wait_until

HEADLESS = {"TEXTUAL_DRIVER": "textual.drivers.headless_driver:HeadlessDriver", "COLUMNS": "120", "LINES": "36"}


def test_only_the_refusals_of_the_story_are_refused(tmp_path: Path) -> None:
    told: list[tuple[demo.DemoStep, Answer]] = []
    (tmp_path / "memories").mkdir()
    demo.prepare_folder(tmp_path / "memories")
    with memtui.open(tmp_path / "memories") as memory:
        count = demo.play_story(memory, speed=0, listener=lambda step, answer: told.append((step, answer)))
        events = [event for event in memory.events() if event.command != "found"]
    assert count == len(told) > 10
    for step, answer in told:
        assert answer.is_error == step.refused, answer.text
    assert any(step.refused for step, _ in told)
    assert [event.seq for event in events] == [answer.event.seq for _, answer in told]
    assert {(event.actor.name, event.actor.model) for event in events} == {("Claude", "scripted")}
    assert all(event.call_id and event.call_id.startswith("scripted") for event in events)


def test_every_command_of_the_contract_is_in_the_story(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    demo.prepare_folder(tmp_path / "memories")
    with memtui.open(tmp_path / "memories") as memory:
        demo.play_story(memory, speed=0)
        commands = {event.command for event in memory.events()}
    assert {"view", "create", "str_replace", "insert", "delete", "rename"} <= commands


def test_the_story_works_without_a_folder() -> None:
    with memtui.open_in_memory() as memory:
        assert demo.play_story(memory, speed=0) > 10


def test_the_story_can_be_stopped(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    (tmp_path / "memories").mkdir()
    with memtui.open(tmp_path / "memories") as memory:
        assert demo.play_story(memory, speed=1, stop=stop) == 0


def test_prepare_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "user_preferences.md").write_text("mine")
    with pytest.raises(FileExistsError):
        demo.prepare_folder(tmp_path)
    assert (tmp_path / "user_preferences.md").read_text() == "mine"


def run_demo(tmp_path: Path, *words: str) -> "subprocess.Popen[str]":
    temporary = tmp_path / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **HEADLESS,
        "PYTHONPATH": str(Path(memtui.__file__).parents[1]),
        "TMPDIR": str(temporary),
        "XDG_STATE_HOME": str(tmp_path / "xdg-state"),
    }
    arguments = ", ".join(["speed=1000", "tour=False", *words])
    program = f"import sys; from memtui.ui.demo_app import run_demo_app; sys.exit(run_demo_app({arguments}))"
    return subprocess.Popen(
        [sys.executable, "-c", program], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finished(folder: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until the last change of the story is on the disk."""
    status = folder / "projects/billing/status.json"

    def is_told() -> bool:
        assert process.poll() is None, process.communicate()
        return status.exists() and '"open": ["dunning"]\n' in status.read_text()

    wait_until(is_told, "the end of the story")


def test_the_screen_shows_it_to_the_end_and_leaves_nothing_behind(tmp_path: Path) -> None:
    process = run_demo(tmp_path)
    folders: list[Path] = []
    wait_until(lambda: folders.extend((tmp_path / "tmp").glob("memtui-demo-*/memories")) or folders, "a folder")
    finished(folders[0], process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM, errors
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "xdg-state" / "memtui" / "stores").exists()


def test_keep_keeps_the_memories(tmp_path: Path) -> None:
    kept = tmp_path / "new" / "kept"
    process = run_demo(tmp_path, f"keep={str(kept)!r}")
    finished(kept, process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM, errors
    assert (kept / "archive/2026-11-19-session.md").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_keep_refuses_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(FileExistsError, match="not empty"):
        run_demo_app(keep=str(tmp_path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.md"]


def test_what_the_demo_does_is_labelled_as_scripted() -> None:
    assert demo.AGENT.model == "scripted"
    assert not isinstance(demo.AGENT, Person)


def test_the_end_names_the_commands_to_begin_with(tmp_path: Path) -> None:
    """In a pseudo-terminal, as a person has it: `q` is pressed once the story has begun."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-m", "memtui", "demo", "--no-tour", "--speed", "1000"]
    process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    try:
        read_until(master, lambda shown: b"user_preferences" in shown)
        os.write(master, b"q")
        shown = read_until(master, lambda _: False)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)
    for command in ("memtui DIR", "memtui hook install", "memtui mcp DIR"):
        assert command.encode() in shown
