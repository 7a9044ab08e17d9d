"""The watcher against real folders: nothing is lost, nothing outside is seen, and it says when it is slower."""

import errno
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import watch
from memtui.core.errors import StateUnusable
from memtui.core.events import WatchMode, WatchStatus
from memtui.engine import Engine
from memtui.fs.inotify import InotifyWatches
from memtui.memory import connect
from memtui.watch import FolderWatcher
from tests.conftest import wait_until


class Watched:
    """A folder with a watcher over it, and what the watcher told."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder = folder
        self.state = state
        self.engine: Engine = connect(folder, state=state)
        self.calls = 0
        self.told: list[WatchStatus] = []
        self.watch = FolderWatcher(
            self.engine, str(folder), str(state), changed=self._changed, mode_changed=self.told.append
        )

    def _changed(self) -> None:
        self.calls += 1

    def start(self) -> None:
        self.watch.start()
        wait_until(lambda: self.told and self.engine.journal.get_metadata("looked_at") is not None, "the first look")

    @property
    def paths(self) -> set[str]:
        return {change.path for event in self.engine.events() for change in event.changes}

    def stop(self) -> None:
        self.watch.stop()
        self.engine.close()


def refusing(error: OSError) -> Callable[..., Any]:
    def make_watches(*_: object) -> None:
        raise error

    return make_watches


@pytest.fixture(params=["inotify", "watchfiles"])
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """One whose watches are the kernel's, and one with those of other systems."""
    if request.param == "watchfiles":
        monkeypatch.setattr(watch, "InotifyWatches", refusing(OSError(errno.ENOSYS, "not on this system")))
    elif sys.platform != "linux":
        pytest.skip("the system has no inotify")
    (tmp_path / "folder").mkdir()
    watched = Watched(tmp_path / "folder", tmp_path / "state")
    yield watched
    watched.stop()


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="the system has no such policy")
def test_no_thread_of_a_watcher_interrupts_a_writer_when_it_is_woken(watched: Watched) -> None:
    """Five browsers beside an agent interrupted it thirty times in each create."""
    before = set(os.listdir("/proc/self/task"))
    watched.start()
    started = set(os.listdir("/proc/self/task")) - before
    policies = {os.sched_getscheduler(int(thread)) for thread in started}
    own = isinstance(watched.watch._watches, InotifyWatches)
    assert len(started) == 1 if own else len(started) >= 2, "its own, and that of the library's notifications"
    assert policies == {os.SCHED_BATCH}
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_a_burst_of_new_nested_directories_loses_no_file(watched: Watched) -> None:
    watched.start()
    names = [f"a{number % 5}/b{number % 7}/c{number % 3}/f{number}.md" for number in range(200)]
    for name in names:
        path = watched.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    wait_until(lambda: set(names) <= watched.paths, "all files")
    assert {event.actor.name for event in watched.engine.events()} == {"outside"}


@pytest.mark.parametrize("way", ["removed", "moved away", "exchanged"])
def test_a_folder_made_again_is_watched_on(watched: Watched, way: str) -> None:
    (watched.folder / "old.md").write_text("old")
    watched.start()
    if way == "removed":
        shutil.rmtree(watched.folder)
        watched.folder.mkdir()
    else:
        other = watched.folder.with_name("other")
        other.mkdir()
        watched.folder.rename(watched.folder.with_name("away"))
        if way == "exchanged":
            other.rename(watched.folder)
        else:
            watched.folder.mkdir()
    wait_until(lambda: [event for event in watched.engine.events() if event.command == "deleted"], "the loss")
    (watched.folder / "new").mkdir()
    (watched.folder / "new/note.md").write_text("new")
    wait_until(lambda: "new/note.md" in watched.paths, "what came after")
    wait_until(lambda: watched.told[-1].mode is WatchMode.LIVE, "live")


def test_a_change_is_told_to_whoever_waits(watched: Watched) -> None:
    watched.start()
    before = watched.calls
    (watched.folder / "new.md").write_text("x")
    wait_until(lambda: watched.calls > before and "new.md" in watched.paths)


@pytest.mark.parametrize("when", ["before", "while it watches"])
def test_a_link_out_of_the_folder_is_not_followed(watched: Watched, tmp_path: Path, when: str) -> None:
    outside = tmp_path / "outside"
    for number in range(30):
        (outside / f"d{number}").mkdir(parents=True)
    if when == "before":
        (watched.folder / "door").symlink_to(outside)
    (watched.folder / "own").mkdir()
    watched.start()
    if when != "before":
        (watched.folder / "door").symlink_to(outside)
        wait_until(lambda: "door" in watched.paths)
    (outside / "secret.md").write_text("outside")
    (outside / "d3" / "secret.md").write_text("outside")
    (watched.folder / "own" / "marker.md").write_text("inside")
    wait_until(lambda: "own/marker.md" in watched.paths)
    watched.engine.reconcile()
    assert not [path for path in watched.paths if "secret" in path]
    wait_until(lambda: inotify_watches() < 30, "watches on our own directories only")
    (watched.folder / "own" / "deeper").mkdir()
    (watched.folder / "own" / "deeper" / "late.md").write_text("inside")
    wait_until(lambda: "own/deeper/late.md" in watched.paths)


def inotify_watches() -> int:
    count = 0
    for fd in os.listdir("/proc/self/fdinfo"):
        try:
            count += Path("/proc/self/fdinfo", fd).read_text().count("inotify wd:")
        except OSError:
            continue
    return count


def test_without_watches_it_polls_and_says_how_to_get_them(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "RustNotify", refusing(OSError("OS file watch limit reached.")))
    if sys.platform == "linux":
        monkeypatch.setattr(watch, "InotifyWatches", refusing(OSError(errno.ENOSPC, "No space left on device")))
    monkeypatch.setattr(watch, "_POLL_SECONDS", 0.05)
    watched.start()
    (told,) = watched.told
    assert told.mode is WatchMode.POLLING
    assert told.reason == (
        "Live updates are slower: the system's watch limit is reached. Checking every 2 s. "
        "To fix: sudo sysctl fs.inotify.max_user_watches=524288"
    )
    (watched.folder / "new.md").write_text("x")
    wait_until(lambda: "new.md" in watched.paths and watched.calls)
    with memtui.open(watched.folder, state=watched.state) as other:
        other.execute({"command": "delete", "path": "/memories/new.md"}, actor=memtui.Agent("Clara"))
    before = watched.calls
    wait_until(lambda: watched.calls >= before)


def test_another_reason_for_polling_is_said(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "InotifyWatches", refusing(OSError(errno.ENOSYS, "not here")))
    monkeypatch.setattr(watch, "RustNotify", refusing(OSError("no such thing")))
    watched.start()
    assert watched.told[0].mode is WatchMode.POLLING
    assert "no such thing" in watched.told[0].reason


def test_an_event_of_another_process_wakes_it_and_is_not_taken_for_an_outside_change(
    watched: Watched, run_python: Callable[..., Any]
) -> None:
    watched.start()
    before = watched.calls
    program = (
        "import memtui, sys\n"
        "with memtui.open(sys.argv[1], state=sys.argv[2]) as memory:\n"
        "    memory.execute({'command': 'create', 'path': '/memories/a.md', 'file_text': 'x'},"
        " actor=memtui.Agent('Clara'))\n"
    )
    done = run_python(program, watched.folder, watched.state)
    assert done.returncode == 0, done.stderr
    wait_until(lambda: watched.calls > before and "a.md" in watched.paths)
    watched.engine.reconcile()
    assert [event.actor.name for event in watched.engine.events() if event.command != "found"] == ["Clara"]


WATCHING = """
import sys
import time
from memtui.memory import connect
from memtui.watch import FolderWatcher
folder, state = sys.argv[1:]
engine = connect(folder, state=state)
watch = FolderWatcher(engine, folder, state, changed=lambda: None)
watch.start()
while engine.journal.get_metadata("looked_at") is None:
    time.sleep(0.01)
print("ready", flush=True)
sys.stdin.readline()
watch.stop()
engine.close()
"""


def test_a_suspended_process_catches_up(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    folder, state = tmp_path / "folder", tmp_path / "state"
    folder.mkdir()
    process = run_python(WATCHING, folder, state, wait=False, stdin=-1)
    try:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGSTOP)
        names = {f"d{number % 9}/f{number}.md" for number in range(100)}
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("x")
        process.send_signal(signal.SIGCONT)

        def recorded() -> set[str]:
            with connect(folder, state=state) as engine:  # which does not look for changes itself
                return {change.path for event in engine.events() for change in event.changes}

        wait_until(lambda: names <= recorded(), "what happened while it was suspended")
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate("\n", timeout=20)


def test_a_folder_that_vanishes_is_said_and_watched_again_when_it_is_back(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_POLL_SECONDS", 0.05)
    watched.start()
    watched.folder.rename(tmp_path / "aside")
    wait_until(lambda: watched.told[-1].mode is WatchMode.GONE, "GONE")
    (tmp_path / "aside").rename(watched.folder)
    wait_until(lambda: watched.told[-1].mode is WatchMode.LIVE, "LIVE again")
    (watched.folder / "new.md").write_text("x")
    wait_until(lambda: "new.md" in watched.paths)
    assert not [event for event in watched.engine.events() if event.command == "deleted"]


def test_stop_ends_the_thread(watched: Watched) -> None:
    watched.start()
    watched.watch.stop()
    assert "memtui-watch" not in [thread.name for thread in threading.enumerate()]
    before = len(list(watched.engine.events()))
    (watched.folder / "late.md").write_text("x")
    assert len(list(watched.engine.events())) == before


def test_stop_before_start_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    watched = Watched(tmp_path / "folder", tmp_path / "state")
    watched.stop()


class Faulty:
    """An engine that cannot record for a while, as on a full disk."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.faults = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def reconcile(self, *arguments: Any, **options: Any) -> int:
        if self.faults:
            self.faults -= 1
            raise StateUnusable("The journal cannot be written (database or disk is full).")
        return self.engine.reconcile(*arguments, **options)


def test_a_look_that_fails_is_said_and_the_watcher_goes_on_and_says_that_too(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    watched = Watched(tmp_path / "folder", tmp_path / "state")
    faulty: Any = Faulty(watched.engine)
    faulty.faults = 1
    watched.watch = FolderWatcher(
        faulty, str(watched.folder), str(watched.state), changed=watched._changed, mode_changed=watched.told.append
    )
    try:
        watched.watch.start()
        wait_until(
            lambda: [each.mode for each in watched.told] == [WatchMode.LIVE, WatchMode.POLLING, WatchMode.LIVE],
            "live again",
        )
        assert "disk is full" in watched.told[1].reason
        (watched.folder / "later.md").write_text("later")
        wait_until(lambda: "later.md" in watched.paths, "what came later")
    finally:
        watched.stop()


def test_a_journal_that_fails_for_a_moment_does_not_end_the_watcher(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.start()
    head = watched.engine.journal.get_head
    failures = iter([True, True])

    def failing() -> tuple[int, str]:
        if next(failures, False):
            raise StateUnusable("The journal cannot be read.")
        return head()

    monkeypatch.setattr(watched.engine.journal, "get_head", failing)
    (watched.folder / "note.md").write_text("a note")
    wait_until(lambda: next(failures, None) is None and watched.told[-1].mode is WatchMode.LIVE, "the watcher to go on")
    calls = watched.calls
    (watched.folder / "another.md").write_text("another")
    wait_until(lambda: watched.calls > calls and "another.md" in watched.paths, "what came later")
