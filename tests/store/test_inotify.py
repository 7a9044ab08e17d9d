"""The kernel's notifications of a folder: what is noticed, what is left out, and what is said to be lost."""

import ctypes
import errno
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.fs import inotify
from memtui.fs.inotify import InotifyWatches, Notices
from memtui.memory import connect

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system has no inotify")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder/a").mkdir(parents=True)
    return tmp_path / "folder"


@pytest.fixture
def watches(folder: Path) -> Iterator[InotifyWatches]:
    watches = InotifyWatches(str(folder))
    yield watches
    watches.close()


def read_all(watches: InotifyWatches) -> Notices:
    """All that was noticed by now."""
    paths: set[str] = set()
    in_files = is_lost = False
    while (noticed := watches.wait(0)) != Notices(set()):
        paths |= noticed.paths
        in_files |= noticed.in_files
        is_lost |= noticed.is_lost
    return Notices(paths, in_files, is_lost)


def test_texts_names_and_modes_are_noticed(folder: Path, watches: InotifyWatches) -> None:
    steps = {
        "a/new.md": lambda: (folder / "a/new.md").write_text("x"),
        "a/mode.md": lambda: (folder / "a/mode.md").chmod(0o600),
        "a/old.md": (folder / "a/old.md").unlink,
        "link": lambda: (folder / "link").symlink_to("a"),
    }
    for name in ("mode", "old"):
        (folder / f"a/{name}.md").write_text("x")
    read_all(watches)
    for path, step in steps.items():
        step()
        assert read_all(watches) == Notices({path})
    with (folder / "a/new.md").open("a") as file:
        file.write("more")
        file.flush()
        assert read_all(watches).paths == {"a/new.md"}, "while it is still open"
    (folder / "a/new.md").rename(folder / "moved.md")
    assert read_all(watches).paths >= {"a/new.md", "moved.md"}


def test_what_only_looks_or_syncs_or_has_no_name_wakes_nobody(folder: Path, watches: InotifyWatches) -> None:
    (folder / "a/note.md").write_text("x")
    read_all(watches)
    (folder / "a/note.md").read_text()
    list((folder / "a").iterdir())
    directory = os.open(folder / "a", os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    try:
        nameless = os.open(folder / "a", os.O_TMPFILE | os.O_WRONLY)
    except OSError:
        pytest.skip("the file system has no nameless files")
    os.write(nameless, b"x")
    os.close(nameless)
    assert read_all(watches) == Notices(set())


def test_a_command_of_memtui_is_noticed_at_its_note(folder: Path, tmp_path: Path, watches: InotifyWatches) -> None:
    with connect(folder, state=tmp_path / "state") as engine:
        command = {"command": "create", "path": "/memories/a/note.md", "file_text": "x"}
        assert not engine.execute(command, actor=memtui.Agent("Clara")).is_error
        paths = read_all(watches).paths
    assert {path for path in paths if not path.startswith("a/#")} == {"a/note.md"}, "but for a mode of a nameless file"


def test_new_directories_are_watched_with_all_below_them(folder: Path, watches: InotifyWatches) -> None:
    (folder / "b/c/d").mkdir(parents=True)
    read_all(watches)
    (folder / "b/c/d/note.md").write_text("x")
    assert read_all(watches) == Notices({"b/c/d/note.md"})


def test_a_directory_that_moves_is_watched_at_its_new_place_only(
    folder: Path, tmp_path: Path, watches: InotifyWatches
) -> None:
    (folder / "a/b").mkdir()
    read_all(watches)
    (folder / "a").rename(folder / "z")
    read_all(watches)
    (folder / "z/b/note.md").write_text("x")
    assert read_all(watches).paths == {"z/b/note.md"}
    (folder / "z").rename(tmp_path / "outside")
    assert read_all(watches) == Notices({"z"})
    (tmp_path / "outside/b/note.md").write_text("y")
    assert read_all(watches) == Notices(set())
    (tmp_path / "outside").rename(folder / "back")
    read_all(watches)
    (folder / "back/b/note.md").write_text("z")
    assert read_all(watches).paths == {"back/b/note.md"}


def test_a_directory_that_may_be_read_again_is_watched(folder: Path, watches: InotifyWatches) -> None:
    (folder / "a").chmod(0o700)
    (folder / "a/note.md").write_text("x")
    assert "a/note.md" in read_all(watches).paths


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside/inner").mkdir(parents=True)
    (folder / "door").symlink_to(tmp_path / "outside")
    watches = InotifyWatches(str(folder))
    try:
        (folder / "other").symlink_to(tmp_path / "outside")
        read_all(watches)
        (tmp_path / "outside/inner/note.md").write_text("x")
        (tmp_path / "outside/note.md").write_text("x")
        assert read_all(watches) == Notices(set())
    finally:
        watches.close()


def test_a_folder_that_moves_away_is_lost(folder: Path, tmp_path: Path, watches: InotifyWatches) -> None:
    folder.rename(tmp_path / "aside")
    assert read_all(watches).is_lost


def test_what_the_kernel_drops_is_said(folder: Path, watches: InotifyWatches) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 100_000:
        pytest.skip("the system keeps too many to fill")
    for name in ("one.md", "two.md"):
        (folder / name).write_text("x")
    for _ in range(limit // 2 + 2):  # one after the other: equal ones are joined
        os.utime(folder / "one.md")
        os.utime(folder / "two.md")
    assert read_all(watches).is_lost


class Exhausted:
    """The system's library, where there are no more watches."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def inotify_add_watch(self, *_: object) -> int:
        ctypes.set_errno(errno.ENOSPC)
        return -1


def test_where_no_watch_is_left_a_folder_is_refused_and_a_new_directory_is_lost(
    folder: Path, watches: InotifyWatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify, "_libc", Exhausted(inotify._libc))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="No space left") as raised:
        InotifyWatches(str(folder))
    assert raised.value.errno in inotify.LIMITS
    assert len(os.listdir("/proc/self/fd")) == before
    (folder / "b").mkdir()
    assert read_all(watches) == Notices({"b"}, is_lost=True)


def test_a_single_file_is_noticed_once_each_time_that_it_is_armed(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    file.write_text("x")
    watches = InotifyWatches(str(folder), [str(file), str(tmp_path / "missing")])
    try:
        file.write_text("before")
        assert read_all(watches) == Notices(set())
        for _ in range(2):
            watches.arm()
            file.write_text("again")
            assert read_all(watches) == Notices(set(), in_files=True)
            file.write_text("and again")
            assert read_all(watches) == Notices(set())
        (tmp_path / "missing").write_text("x")
        watches.arm()
        (tmp_path / "missing").write_text("y")
        assert read_all(watches).in_files
    finally:
        watches.close()


def test_a_wait_can_be_ended_from_another_thread(watches: InotifyWatches) -> None:
    waiting = threading.Thread(target=watches.wait, args=(600,))
    waiting.start()
    watches.wake()
    waiting.join(30)
    assert not waiting.is_alive()


def test_waking_what_is_closed_is_no_error(folder: Path) -> None:
    watches = InotifyWatches(str(folder))
    watches.close()
    watches.wake()
