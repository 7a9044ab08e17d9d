"""Random work by agent, person and other programs, judged by the folder itself; and what an agent cannot reach."""

import contextlib
import hashlib
import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import EntryKind, Version
from memtui.engine import Engine

Things = dict[str, tuple[str, str]]
"""What stands in a folder: kind, and the hash of a file's bytes or of a link's target, by path."""
AGENT = memtui.Agent("Claude", session="a session")


def standing(folder: Path) -> Things:
    things: Things = {}
    for top, directories, files in os.walk(folder):
        for name in directories + files:
            path = Path(top, name)
            relative = str(path.relative_to(folder))
            if path.is_symlink():
                things[relative] = ("link", hashlib.sha256(os.fsencode(path.readlink())).hexdigest())
            elif path.is_dir():
                things[relative] = ("directory", "")
            else:
                things[relative] = ("file", hashlib.sha256(path.read_bytes()).hexdigest())
    return things


def told(state: Mapping[str, Version]) -> Things:
    return {path: (version.kind.value, version.sha256 or "") for path, version in state.items()}


class Working:
    """Works at random: the same seed works the same way."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self.folder = folder

    def path(self) -> str:
        return "/".join(self._random.choice("abcA") for _ in range(self._random.randrange(1, 4)))

    def text(self) -> str:
        return "".join(self._random.choice("xyz\n") for _ in range(self._random.randrange(6)))

    def from_outside(self) -> None:
        one, other = self.folder / self.path(), self.folder / self.path()
        passing = one.with_name(one.name + ".new")
        ways: list[Callable[[], object]] = [
            lambda: (one.parent.mkdir(parents=True, exist_ok=True), one.write_text(self.text())),
            one.unlink,
            lambda: shutil.rmtree(one),
            lambda: one.rename(other),
            lambda: one.symlink_to(self._random.choice(["a", "../b", "nowhere"])),
            lambda: one.mkdir(parents=True),
            lambda: (passing.write_text(self.text()), passing.rename(one)),  # as editors write
        ]
        with contextlib.suppress(OSError):
            self._random.choice(ways)()
        with contextlib.suppress(OSError):
            passing.unlink()

    def as_agent(self, engine: Engine) -> None:
        one, other = f"/memories/{self.path()}", f"/memories/{self.path()}"
        commands = [
            {"command": "create", "path": one, "file_text": self.text()},
            {"command": "insert", "path": one, "insert_line": 0, "insert_text": "line"},
            {"command": "delete", "path": one},
            {"command": "rename", "old_path": one, "new_path": other},
        ]
        engine.execute(self._random.choice(commands), actor=AGENT)

    def as_person(self, engine: Engine, moments: Mapping[int, Things]) -> None:
        head, partial = engine.get_head()[0], self._random.random() < 0.5
        match self._random.randrange(4):
            case 0:
                engine.undo(self._random.sample(range(1, head + 1), min(head, 2)), partial=partial)
            case 1 if event := engine.history.get_undoable():
                engine.undo([event.seq])
            case 2 if event := engine.history.get_redoable():
                engine.undo([event.seq])
            case _:
                at = self._random.choice(sorted(moments))
                restored = engine.restore_directory("", at, partial=partial)
                if not restored.skipped:
                    assert standing(self.folder) == moments[at], f"the folder as of #{at}: {restored.problem}"

    def work(self, engine: Engine, moments: Mapping[int, Things]) -> None:
        match self._random.randrange(3):
            case 0:
                for _ in range(3):
                    self.from_outside()
            case 1:
                self.as_agent(engine)
            case _:
                self.as_person(engine, moments)
                assert engine.reconcile() == 0, "what a person did is taken for one from outside"


@pytest.mark.parametrize("seed", range(12))
def test_every_moment_of_random_work_is_told_and_brought_back_as_it_was(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    working = Working(seed, folder)
    for _ in range(4):
        working.from_outside()
    with memtui.open(folder, state=tmp_path / "state") as engine:
        moments = {engine.get_head()[0]: standing(folder)}
        for _ in range(25):
            working.work(engine, moments)
            engine.reconcile()
            moments[engine.get_head()[0]] = standing(folder)
        for at, things in moments.items():
            state = engine.history.get_state(at)
            assert told(state) == things
            assert {path: engine.history.get_version_at(path, at) for path in state} == state
            assert all(engine.history.text(version) is not None for version in state.values() if version.sha256)
            net = {change.path: change.after for change in engine.history.diff_between(engine.get_head()[0], at)}
            last = engine.history.get_state(engine.get_head()[0])
            there = {path: version for path, version in {**last, **net}.items() if version is not None}
            assert there == state


def test_names_that_are_no_unicode_are_lost_and_come_back_under_the_same_bytes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "memories")
    names = [b"\xff.md", b"a\nb.md", b"dir\xfe/x\xff.md", b"A.md", b"a.md"]
    for name in names:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(os.fsdecode(path)).write_bytes(b"text of " + name)
    os.symlink(b"t\xffarget", os.path.join(folder, b"li\xffnk"))
    before = standing(tmp_path / "memories")
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as engine:
        shutil.rmtree(folder)
        os.mkdir(folder)
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as engine:
        # Its directory is another one by now: what was there is known all the same.
        assert engine.loss is not None
        assert engine.loss.deleted == engine.loss.files
        restored = engine.restore_loss()
        assert not restored.problem
        assert not restored.skipped
        assert standing(tmp_path / "memories") == before


@pytest.mark.parametrize("command", ["restore", "undo", "redo", "redact", "write", "clear", "began", "found", "prune"])
def test_what_only_a_person_may_do_is_no_command_for_an_agent(world: Any, command: str) -> None:
    world.ask(command="create", path="/memories/f", file_text="text\n")
    tree, texts = world.tree(), world.main.journal.get_version_sizes()
    answer = world.ask(command=command, path="/memories/f", event=1, undoes=[1], seqs=[1], match="text", redacted=["x"])
    assert answer.is_error
    assert (answer.event.undoes, answer.event.redacted, answer.event.changes) == ((), (), ())
    assert world.tree() == tree
    assert world.main.journal.get_version_sizes() == texts
    assert world.main.history.find_undoing_event(1) is None


def test_what_is_not_kept_is_neither_overwritten_nor_removed_by_putting_back(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "large").write_text("x" * 2_000)
    os.mkfifo(folder / "fifo")
    settings = memtui.Settings(max_read_bytes=1_000)
    with memtui.open(folder, state=tmp_path / "state", settings=settings) as engine:
        first = engine.get_head()[0]
        for path in ("large", "fifo"):
            assert engine.restore({path: None}).problem.startswith("Not restored")
        assert engine.write("large", b"new", based_on=engine.history.get_version_at("large", first)).problem
        (folder / "small").write_text("1")
        assert not engine.restore_directory("", first).problem
        assert sorted(path.name for path in folder.iterdir()) == ["fifo", "large"]
        assert (folder / "large").stat().st_size == 2_000


def test_a_save_through_a_link_is_taken_back_where_it_was_made(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "note").write_text("one\n")
    (folder / "link").symlink_to("note")
    with memtui.open(folder, state=tmp_path / "state") as engine:
        based_on = engine.history.get_version_at("note", engine.get_head()[0])
        saved = engine.write("link", b"two\n", based_on=based_on)
        assert [change.path for change in saved.changes] == ["note"]
        assert not engine.undo([engine.get_head()[0]]).problem
        assert (folder / "note").read_text() == "one\n"
        assert (folder / "link").is_symlink()
        assert engine.history.get_version_at("link", engine.get_head()[0]) == Version(
            EntryKind.LINK, hashlib.sha256(b"note").hexdigest()
        )
