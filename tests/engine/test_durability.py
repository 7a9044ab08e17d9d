"""The folder follows the journal: what is synced when, and what the next start of the system finds and does."""

import errno
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory
from memtui.core.errors import StateUnusable
from memtui.core.events import EntryKind, Event
from memtui.engine import Engine, durability
from memtui.engine.durability import SettledMark, is_torn
from memtui.memory import JOURNAL
from memtui.store.folder import FolderStore
from tests.conftest import ME, wait_until

TEXT = b"".join(b"line %d of a note\n" % number for number in range(200))


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has the system start anew; and nothing is settled by the clock."""
    count = [1]
    monkeypatch.setattr(durability, "read_boot_id", lambda: f"start-{count[0]}")
    monkeypatch.setattr(durability, "_SECONDS", 3_600.0)

    def begin() -> None:
        count[0] += 1

    return begin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


@pytest.fixture
def engine(folder: Path, tmp_path: Path, start: Callable[[], None]) -> Iterator[Engine]:
    del start  # before the system was started
    with memtui.open(folder, state=tmp_path / "state") as engine:
        yield engine


def ask(engine: Engine, **command: object) -> Event:
    answer = engine.execute(command, actor=ME)
    assert not answer.is_error, answer.text
    return answer.event


def create(engine: Engine, name: str, text: bytes) -> Event:
    return ask(engine, command="create", path=f"/memories/{name}", file_text=text.decode())


def cut(engine: Engine, tmp_path: Path, start: Callable[[], None]) -> tuple[Path, Path]:
    """What stands on the disk when the power fails now, if all of it was written: folder and state."""
    folder, state = tmp_path / "cut" / "folder", tmp_path / "cut" / "state"
    shutil.copytree(engine.store.path, folder)  # type: ignore[attr-defined]
    shutil.copytree(tmp_path / "state", state)
    (state / f"{JOURNAL}-shm").unlink()
    start()
    return folder, state


def follow(folder: Path, state: Path) -> list[Event]:
    """Open it, and look: the events."""
    with memtui.open(folder, state=state) as engine:
        assert engine.journal.verify().is_intact
        return list(engine.events())


def test_a_command_syncs_the_journal_once_and_nothing_else(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    create(engine, "f", TEXT)
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    for number in range(3):
        create(engine, "d/f", b"%d\n" % number)
    assert synced == []


def test_a_folder_that_is_to_be_durable_is_synced_before_the_answer(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def noted(fd: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{fd}"))
        fsync(fd)

    with memtui.open(folder, state=tmp_path / "state", settings=memtui.Settings(durability="folder")) as engine:
        monkeypatch.setattr(os, "fsync", noted)
        create(engine, "f", TEXT)
        assert len(synced) == 2
        assert synced[1] == str(folder)


@pytest.mark.parametrize("kind", ["ext2", "vfat"])
def test_a_journal_that_could_be_torn_has_the_folder_synced(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("memtui.memory.get_file_system_type", lambda _: kind)
    with memtui.open(folder, state=tmp_path / "state") as engine:
        assert engine.store.is_synced


def test_what_was_written_is_settled_behind_the_answers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durability, "_SECONDS", 0.01)
    synced: list[Collection[str]] = []
    sync = FolderStore.sync_paths
    monkeypatch.setattr(FolderStore, "sync_paths", lambda self, paths: (synced.append(set(paths)), sync(self, paths)))
    with memtui.open(folder, state=tmp_path / "state") as engine:
        event = create(engine, "d/f", TEXT)
        wait_until(lambda: (mark := SettledMark.load(engine.journal)) is not None and mark.seq == event.seq)
    assert synced == [{"d", "d/f"}]


def test_closing_settles_what_waits(engine: Engine, folder: Path, tmp_path: Path) -> None:
    event = create(engine, "f", TEXT)
    engine.close()
    with memtui.open(folder, state=tmp_path / "state") as again:
        mark = SettledMark.load(again.journal)
        assert mark is not None
        assert mark.seq == event.seq


def test_a_disk_that_does_not_confirm_is_asked_no_more_and_nothing_is_claimed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    settler, before = engine._context.settler, SettledMark.load(engine.journal)
    create(engine, "f", TEXT)

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(FolderStore, "sync_paths", fail)
        with pytest.raises(OSError, match="output"):
            settler.settle()
    settler.settle()  # a second sync would only say that nothing is left to do
    assert SettledMark.load(engine.journal) == before


@pytest.mark.parametrize(
    "left",
    [b"", TEXT[:1_000], TEXT[:512] + bytes(512) + TEXT[1_024:], bytes(len(TEXT)), b"as it was before\n", None],
    ids=["empty", "a beginning", "a blank sector", "all blank", "old", "missing"],
)
def test_what_a_power_cut_left_of_a_note_is_written_again(
    engine: Engine, tmp_path: Path, start: Callable[[], None], left: bytes | None
) -> None:
    create(engine, "f", b"as it was before\n")
    event = create(engine, "f", TEXT)
    folder, state = cut(engine, tmp_path, start)
    (folder / "f").unlink()
    if left is not None:
        (folder / "f").write_bytes(left)
    events = follow(folder, state)
    assert (folder / "f").read_bytes() == TEXT
    assert (folder / "f").stat().st_mode & 0o777 == 0o600
    assert (events[-1].seq, events[-1].hash) == (event.seq, event.hash)


def test_what_another_program_has_written_since_is_left_and_recorded(
    engine: Engine, tmp_path: Path, start: Callable[[], None]
) -> None:
    create(engine, "f", TEXT)
    folder, state = cut(engine, tmp_path, start)
    (folder / "f").write_bytes(b"by somebody else\n")
    events = follow(folder, state)
    assert (folder / "f").read_bytes() == b"by somebody else\n"
    assert (events[-1].is_outside, events[-1].command) == (True, "modified")


def test_within_one_start_of_the_system_what_stands_is_another_programs(engine: Engine, tmp_path: Path) -> None:
    create(engine, "f", b"as it was before\n")
    create(engine, "f", TEXT)
    folder, state = cut(engine, tmp_path, lambda: None)
    (folder / "f").write_bytes(b"as it was before\n")
    events = follow(folder, state)
    assert (folder / "f").read_bytes() == b"as it was before\n"
    assert events[-1].is_outside


def test_what_was_deleted_and_moved_goes_again_and_comes_again(
    engine: Engine, tmp_path: Path, start: Callable[[], None]
) -> None:
    for name in ("a", "d/b", "d/c"):
        create(engine, name, name.encode())
    engine._context.settler.settle()
    ask(engine, command="delete", path="/memories/a")
    ask(engine, command="rename", old_path="/memories/d", new_path="/memories/n/d")
    folder, state = cut(engine, tmp_path, start)
    (folder / "a").write_bytes(b"a")
    shutil.move(folder / "n" / "d", folder / "d")
    (folder / "n").rmdir()
    count = len(list(engine.events()))
    assert len(follow(folder, state)) == count
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found == {"n/d/b": b"d/b", "n/d/c": b"d/c"}
    assert not (folder / "d").exists()


def test_a_command_that_was_not_recorded_as_done_is_so_byte_for_byte(
    engine: Engine, tmp_path: Path, start: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    create(engine, "f", b"as it was before\n")
    finish = engine.journal.finish_intent
    places: list[tuple[Path, Path]] = []

    def cut_first(*words: Any, **named: Any) -> Event:
        places.append(cut(engine, tmp_path, start))
        return finish(*words, **named)

    monkeypatch.setattr(engine.journal, "finish_intent", cut_first)
    event = create(engine, "f", TEXT)
    ((folder, state),) = places
    (folder / "f").write_bytes(b"as it was before\n")
    events = follow(folder, state)
    assert (folder / "f").read_bytes() == TEXT
    assert events[-1] == event


def test_links_come_again(engine: Engine, tmp_path: Path, start: Callable[[], None]) -> None:
    create(engine, "f", TEXT)
    os.symlink("f", Path(engine.store.path) / "l")  # type: ignore[attr-defined]
    engine.reconcile()
    gone = ask(engine, command="delete", path="/memories/l")
    engine._context.settler.settle()
    engine.undo([gone.seq])
    folder, state = cut(engine, tmp_path, start)
    (folder / "l").unlink()
    follow(folder, state)
    assert os.readlink(folder / "l") == "f"


@pytest.mark.usefixtures("start")
def test_a_file_whose_text_is_not_kept_is_on_the_disk_before_the_answer(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Collection[str]] = []
    (folder / "large").write_bytes(bytes(1_000))
    with memtui.open(folder, state=tmp_path / "state", settings=memtui.Settings(max_read_bytes=100)) as engine:
        monkeypatch.setattr(FolderStore, "sync_paths", lambda _, paths: synced.append(set(paths)))
        ask(engine, command="rename", old_path="/memories/large", new_path="/memories/d/large")
        assert synced == [{"large", "d", "d/large"}]


@pytest.mark.parametrize("count", [3, 40])
def test_files_and_directories_of_all_kinds_are_synced(tmp_path: Path, count: int) -> None:
    folder = tmp_path / "folder"
    for number in range(count):
        (folder / f"d{number}" / "e").mkdir(parents=True)
        (folder / f"d{number}" / "e" / "f").write_bytes(b"x")
    os.mkfifo(folder / "d0" / "fifo")
    os.symlink("/etc/passwd", folder / "d0" / "link")
    store = FolderStore(str(folder), None)
    paths = [f"d{number}/e/f" for number in range(count)]
    store.sync_paths([*paths, "d0", "d0/fifo", "d0/link", "gone", "gone/f"])
    store.close()


def test_without_a_way_to_sync_all_each_path_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtui.fs.beneath._SYNCFS", None)
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))))
    names = {f"f{number}" for number in range(40)}
    for name in names:
        (tmp_path / name).write_bytes(b"x")
    store = FolderStore(str(tmp_path), None)
    store.sync_paths(names)
    store.close()
    assert set(synced) == {*names, tmp_path.name}


@pytest.mark.parametrize(
    ("data", "torn"),
    [
        (b"", True),
        (TEXT, True),
        (TEXT[:-1], True),
        (TEXT + b"x", False),
        (bytes(700), True),
        (TEXT[:512] + bytes(100), True),
        (TEXT[:512] + bytes(99) + b"x", False),
        (b"x" + TEXT[1:], False),
    ],
)
def test_a_torn_text_is_known(data: bytes, torn: bool) -> None:
    assert is_torn(data, TEXT) is torn


def test_this_system_tells_its_starts_apart() -> None:
    assert durability.read_boot_id() == durability.read_boot_id()


def test_a_journal_of_before_is_taken_as_settled(folder: Path, tmp_path: Path, start: Callable[[], None]) -> None:
    with memtui.open(folder, state=tmp_path / "state") as engine:
        create(engine, "f", TEXT)
        engine._context.settler.settle()
        engine.journal._db.execute("DELETE FROM notes WHERE name = 'settled'")
    start()
    (folder / "f").write_bytes(TEXT[:100])
    events = follow(folder, tmp_path / "state")
    assert (folder / "f").read_bytes() == TEXT[:100]
    assert events[-1].is_outside
    assert events[-1].changes[0].after is not None
    assert events[-1].changes[0].after.kind is EntryKind.FILE


def test_a_recovery_that_cannot_know_the_start_of_the_system_is_gone_on_with(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the folder follow, in case there was a power cut; so does the next one, if its disk failed meanwhile."""
    create(engine, "f", b"as it was before\n")
    engine._context.settler.settle()
    event = create(engine, "f", TEXT)
    folder, state = cut(engine, tmp_path, lambda: None)  # no start of the system between
    (folder / "f").write_bytes(b"as it was before\n")
    with monkeypatch.context() as failing:
        failing.setattr(durability, "read_boot_id", lambda: None)
        failing.setattr(durability.RollForward, "run", _fail)
        with memory.connect(folder, state=state) as other, pytest.raises(StateUnusable):
            other.reconcile()
    events = follow(folder, state)
    assert (folder / "f").read_bytes() == TEXT
    assert (events[-1].seq, events[-1].hash) == (event.seq, event.hash)


def _fail(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_what_a_power_cut_left_of_a_file_on_its_way_is_put_nowhere(
    engine: Engine, tmp_path: Path, start: Callable[[], None]
) -> None:
    create(engine, "f", b"as it was before\n")
    create(engine, "f", TEXT)
    folder, state = cut(engine, tmp_path, start)
    token = (state / "token").read_text()
    (state / f".memtui-{token}-f{0:015x}").write_bytes(TEXT[:700])
    (state / f".memtui-{token}-f{1:015x}").write_bytes(b"by another program, in that very moment\n")
    follow(folder, state)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "f": TEXT,
        "recovered": b"by another program, in that very moment\n",
    }
    assert not list(state.glob(".memtui-*"))
