"""A folder and another place of memories, with a mirror between them."""

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import memtui
from memtui.core.events import Actor, EntryKind
from memtui.engine import Engine
from memtui.mirror import Mirror, MirrorOptions, Report, run_once

CLAUDE = memtui.Agent("Claude")
NOTES = {"a.md": "one\ntwo\nthree\nfour\nfive\n", "b.md": "b\n", "c.md": "c\n", "d/e.md": "e\n", "d/f.md": "f\n"}


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home


@dataclass
class Pair:
    """The two sides."""

    folder: Path
    place: str
    last: Mirror | None = field(default=None, init=False)

    def options(self, **more: object) -> MirrorOptions:
        return MirrorOptions(self.place, str(self.folder), **{"pause": 0.0, **more})  # type: ignore[arg-type]

    def run(self, **more: object) -> list[Report]:
        """Make both equal; returns what was carried."""
        reports: list[Report] = []
        self.last = run_once(self.options(**more), reports.append, threading.Event())
        return reports

    def tell(self, **more: object) -> list[str]:
        return [each.sentence for each in self.run(**more)]

    def write(self, **notes: str) -> None:
        """Files of the folder, as a program writes them that knows no memtui; `__` is a slash, `_` a dot."""
        for name, text in notes.items():
            place = self.folder / name.replace("__", "/").replace("_", ".")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    def execute(self, actor: Actor = CLAUDE, **command: object) -> None:
        """One command on the other side."""
        command = {name: f"/memories/{each}" if "path" in name else each for name, each in command.items()}
        with memtui.open(self.place) as memory:
            answer = memory.execute(command, actor=actor)
            assert not answer.is_error, answer.text

    def create(self, path: str, text: str, actor: Actor = CLAUDE) -> None:
        self.execute(actor, command="create", path=path, file_text=text)

    def read(self) -> Mapping[str, str | None]:
        """What stands on both sides, which has to be the same; `None` for a directory."""
        with memtui.open(self.place) as other:
            there = read_texts(other)
        here = {
            str(path.relative_to(self.folder)): path.read_text(encoding="utf-8") if path.is_file() else None
            for path in self.folder.rglob("*")
        }
        assert here == there
        return here

    def log(self, place: str | Path) -> list[str]:
        """The events of one side that changed something: who, what, and what the note says of whom."""
        with memtui.open(place) as memory:
            return [
                f"{event.actor.name.partition(' of ')[0]} {event.command} {re.split(',| #', event.note)[0]}"
                for event in memory.events()
                if event.changes
            ]


def read_texts(engine: Engine) -> dict[str, str | None]:
    return {
        path: (engine.history.text(known.version) or b"").decode() if known.version.kind is EntryKind.FILE else None
        for path, known in engine.journal.get_known_below("").items()
    }


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """A folder and a SQLite file, with the same notes in both."""
    made = Pair(tmp_path / "folder", f"sqlite:{tmp_path / 'store.db'}")
    fill(made.folder)
    made.run()
    return made


@pytest.fixture(params=["sqlite", "folder", "postgres"])
def any_pair(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    """The same with every kind of place."""
    match request.param:
        case "sqlite":
            place = f"sqlite:{tmp_path / 'store.db'}"
        case "folder":
            place = str(tmp_path / "other")
            os.mkdir(place)
        case _:
            place = request.getfixturevalue("server").address(f"m{os.urandom(6).hex()}")
    made = Pair(tmp_path / "folder", place)
    fill(made.folder)
    made.run()
    return made


def fill(folder: Path, notes: Mapping[str, str] = NOTES) -> None:
    for name, text in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
