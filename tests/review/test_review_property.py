"""Whatever happens in between, and whoever does it: a review begins exactly where the last one ended."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import memtui
from memtui.core.events import EntryKind, Version
from memtui.engine import Engine
from memtui.review import verdicts
from memtui.review.inbox import Inbox, ReviewVerdict
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review

NAMES = ("a.md", "b.md", "c.md", "d/a.md", "d/b.md", "e/f/a.md", "d/g/x.md")
PLACES = ("d", "e", "e/f", "g", "d/g")
TEXTS = ("one\n", "two\n", "one\ntwo\n", "", "three\nfour\nfive\n")
AGENTS = (memtui.Agent("Claude", "a-model", "s-1"), memtui.Agent("Bob", "a-model", "s-2"))
DEEDS = ("create", "create", "create", "delete", "rename", "rename", "rotate", "undo", "outside", "gone", "moved")
DEEDS += ("directory", "restore")


class Pick(NamedTuple):
    """Names that something is done with: two of files, and two of anything."""

    one: str
    other: str
    old: str
    new: str


Pair = tuple[Version | None, Version | None]


class Day:
    """A folder in which several hands are at work, and a reviewer who comes now and then."""

    def __init__(self, memory: Engine, folder: Path, chance: random.Random) -> None:
        self.memory = memory
        self.folder = folder
        self.chance = chance
        self.review = Review()

    def do(self) -> None:
        """Try anything; what is refused changes nothing."""
        deed = self.chance.choice(DEEDS)
        pick = Pick(*self.chance.choices(NAMES, k=2), *self.chance.choices(NAMES + PLACES, k=2))
        try:
            getattr(self, f"_{deed}")(pick)
        except OSError:  # a directory stands there, or a file above it
            self.memory.reconcile()

    def _ask(self, command: str, **fields: str) -> None:
        self.memory.execute({"command": command, **fields}, actor=self.chance.choice(AGENTS))

    def _create(self, pick: Pick) -> None:
        self._ask("create", path=f"/memories/{pick.one}", file_text=self.chance.choice(TEXTS))

    def _delete(self, pick: Pick) -> None:
        self._ask("delete", path=f"/memories/{pick.old}")

    def _rename(self, pick: Pick) -> None:
        self._ask("rename", old_path=f"/memories/{pick.old}", new_path=f"/memories/{pick.new}")

    def _rotate(self, _: Pick) -> None:
        there = [name for name in NAMES if (self.folder / name).is_file()]
        new = self.chance.sample(there, len(there))
        if moves := {old: to for old, to in zip(there, new, strict=True) if old != to}:
            self.memory.files.move(moves)

    def _undo(self, _: Pick) -> None:
        if (event := self.memory.history.get_undoable()) is not None:
            self.memory.undo([event.seq])

    def _outside(self, pick: Pick) -> None:
        (self.folder / pick.one).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / pick.one).write_text(self.chance.choice(TEXTS))
        self.memory.reconcile()

    def _gone(self, pick: Pick) -> None:
        (self.folder / pick.one).unlink(missing_ok=True)
        self.memory.reconcile()

    def _moved(self, pick: Pick) -> None:
        if (self.folder / pick.one).is_file():
            (self.folder / pick.other).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / pick.one).rename(self.folder / pick.other)
        self.memory.reconcile()

    def _directory(self, _: Pick) -> None:
        self.memory.files.make_directory(self.chance.choice(PLACES))

    def _restore(self, _: Pick) -> None:
        if head := self.memory.get_head()[0]:
            self.memory.restore_directory("", self.chance.randint(1, head))

    # Reviewing

    def inbox(self) -> Inbox:
        return build_inbox(self.memory, self.review)

    def files(self) -> dict[str, Version]:
        """What stands there, directories left aside."""
        state = self.memory.history.get_state(self.memory.get_head()[0])
        return {path: version for path, version in state.items() if version.kind is not EntryKind.DIRECTORY}

    def accept_all(self) -> None:
        head = verdicts.get_head(self.memory)
        self.review = self.review.add_marks(
            [verdicts.build_mark(ReviewVerdict.ACCEPT, file, reviewer="ada", head=head) for file in self.inbox().files]
        )

    def end(self, reviewer: str) -> None:
        found = build_inbox(self.memory, self.review, accepted=True)
        self.review = self.review.add_marks(
            verdicts.end_review(found, reviewer=reviewer, head=verdicts.get_head(self.memory))
        )

    def tree(self) -> dict[str, bytes | None]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in self.folder.rglob("*")
        }


def differences(old: Mapping[str, Version], new: Mapping[str, Version]) -> dict[str, Pair]:
    return {path: (old.get(path), new.get(path)) for path in {*old, *new} if old.get(path) != new.get(path)}


def told(found: Inbox) -> dict[str, Pair]:
    """What an inbox says of each path; each is told once."""
    before: dict[str, Version] = {}
    after: dict[str, Version] = {}
    for file in found.files:
        if file.before is not None and file.before.kind is not EntryKind.DIRECTORY:
            assert (file.previous_path or file.path) not in before
            before[file.previous_path or file.path] = file.before
        if file.after is not None and file.after.kind is not EntryKind.DIRECTORY:
            assert file.path not in after
            after[file.path] = file.after
    return differences(before, after)


def untold(found: Inbox, old: Mapping[str, Version], new: Mapping[str, Version]) -> set[str]:
    """Directories that came or went, and that nothing tells of."""
    rows = {name for file in found.files for name in (file.path, file.previous_path) if name}
    changed = {path for path, pair in differences(old, new).items() if any(_is_directory(each) for each in pair)}
    return {path for path in changed if not any(row == path or row.startswith(path + "/") for row in rows)}


def _is_directory(version: Version | None) -> bool:
    return version is not None and version.kind is EntryKind.DIRECTORY


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "memories"
    for name in NAMES[:4]:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"{name}\nfirst\n")
    return place


@pytest.mark.parametrize("seed", range(24))
def test_a_review_begins_exactly_where_the_last_one_ended(seed: int, folder: Path) -> None:
    with memtui.open(folder) as memory:
        day = Day(memory, folder, random.Random(seed))
        seen = day.files()
        for _ in range(5):
            for _ in range(day.chance.randint(1, 6)):
                day.do()
            assert told(day.inbox()) == differences(seen, day.files())
            match day.chance.choice(("accept", "done", "both", "later")):
                case "accept":
                    day.accept_all()
                case "done":
                    day.end("ada")
                case "both":
                    day.accept_all()
                    day.end("bob")
                case _:
                    continue
            assert day.inbox().files == ()
            seen = day.files()


@pytest.mark.parametrize("seed", range(12))
def test_every_directory_that_came_or_went_is_told(seed: int, folder: Path) -> None:
    with memtui.open(folder) as memory:
        day = Day(memory, folder, random.Random(1_000 + seed))
        for _ in range(3):
            seen = memory.history.get_state(memory.get_head()[0])
            for _ in range(day.chance.randint(1, 8)):
                day.do()
            assert untold(day.inbox(), seen, memory.history.get_state(memory.get_head()[0])) == set()
            day.end("ada")


@pytest.mark.parametrize("seed", range(12))
def test_a_revert_touches_nothing_else_and_can_be_undone(seed: int, folder: Path) -> None:
    with memtui.open(folder) as memory:
        day = Day(memory, folder, random.Random(2_000 + seed))
        for _ in range(12):
            day.do()
        for file in day.inbox().files:
            before = day.tree()
            restored = verdicts.revert(memory, file)
            if restored.event is None:
                assert restored.problem
                assert day.tree() == before
                continue
            after = day.tree()
            mine = {file.path, file.previous_path}
            assert {path for path in before if before[path] is not None and after.get(path) != before[path]} <= mine
            assert memory.undo([restored.event.seq]).event is not None
            assert day.tree() == before


def test_the_days_are_full_of_changes(folder: Path) -> None:
    with memtui.open(folder) as memory:
        day: Any = Day(memory, folder, random.Random(7))
        for _ in range(200):
            day.do()
        commands = {event.command for event in memory.events() if event.changes}
        assert {"create", "rename", "delete", "undo", "restore", "modified", "deleted", "renamed"} <= commands
