"""What is tried: every command, and everything else that writes, at a folder with a little history."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import memtui
from memtui.core.attributes import Attributes
from memtui.core.errors import MemtuiError
from memtui.core.events import EntryKind, Person, Version
from memtui.core.history import ActionResult
from memtui.engine import Engine
from memtui.engine.files import NoteEdits
from memtui.memory import connect

ME = memtui.Agent("tester", "a-model", "a-session")
YOU = Person("you")
CALL = "the-call"
_TIME = re.compile(r"\b[0-9]{2}:[0-9]{2}\b")
LONG = "one line of many\n" * 600
"""More than one page of the journal, and more than one write."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the caller was answered.

    Attributes:
        outcome: `ok`, `refused`, or `uncertain`.
        text: In which words.
        raised: Whether it was an exception of ours.
    """

    outcome: str
    text: str
    raised: bool = False

    def packed(self) -> bytes:
        """As a line."""
        return json.dumps([self.outcome, self.text, self.raised]).encode() + b"\n"


Act = Callable[[Engine], Said]


def command(**words: object) -> Act:
    """A command of the model's."""

    def act(engine: Engine) -> Said:
        answer = engine.execute(words, actor=ME, call_id=CALL)
        uncertain = "did not confirm" in answer.text
        return Said("uncertain" if uncertain else "refused" if answer.is_error else "ok", answer.text)

    return act


def putting_back(work: Callable[[Engine], ActionResult]) -> Act:
    """Something that only a person can do."""

    def act(engine: Engine) -> Said:
        try:
            restored = work(engine)
        except MemtuiError as error:
            return Said("refused", str(error), raised=True)
        problem = _TIME.sub("00:00", restored.problem)  # that of an event which is told of: the next try tells another
        uncertain = problem.startswith("Changed, but") or "or only in part" in problem
        if uncertain or (restored.event and restored.skipped):
            return Said("uncertain", problem)
        return Said("ok" if restored.event else "refused", problem)

    return act


def clearing(engine: Engine) -> Said:
    """Everything, at once."""
    answer = engine.clear(actor=ME)
    uncertain = "did not confirm" in answer.text or "only a part" in answer.text
    return Said("uncertain" if uncertain else "refused" if answer.is_error else "ok", answer.text)


def fill(folder: Path, state: Path) -> None:
    """Make a folder with some notes and some history."""
    for name in ("d/e", "h"):
        (folder / name).mkdir(parents=True)
    for path, text in {"f": "1\n2\n", "d/x": "x\n", "d/e/y": "y\n", "h/z": LONG}.items():
        (folder / path).write_text(text)
    (folder / "f").chmod(0o640)
    (folder / "to-f").symlink_to("f")
    with memtui.open(folder, state=state) as engine:
        for words in (
            {"command": "str_replace", "path": "/memories/f", "old_str": "2\n", "new_str": "2\n3\n"},
            {"command": "create", "path": "/memories/p/gone", "file_text": "gone\n"},
        ):
            answer = engine.execute(words, actor=ME)
            assert not answer.is_error, answer.text
        (folder / "p/gone").chmod(0o644)
        (folder / "p").chmod(0o750)
        for words in (
            {"command": "delete", "path": "/memories/p"},
            {"command": "create", "path": "/memories/g", "file_text": LONG},
            {"command": "insert", "path": "/memories/g", "insert_line": 0, "insert_text": "first\n"},
        ):
            answer = engine.execute(words, actor=ME)
            assert not answer.is_error, answer.text


def outside(folder: Path) -> None:
    """What another program does meanwhile."""
    (folder / "f").write_text("1\n2\n3\noutside\n")
    (folder / "d/x").write_text("x\noutside\n")
    (folder / "d/new").write_text("new\n")
    (folder / "h/z").rename(folder / "h/zz")


OUTSIDE = {"f", "d/x", "d/new", "h/z", "h/zz"}
"""The paths that this changes."""


def version(text: str) -> Version:
    """The version that a text is."""
    return Version(EntryKind.FILE, hashlib.sha256(text.encode()).hexdigest(), len(text.encode()))


def _several(engine: Engine) -> ActionResult:
    wanted = {
        "f": version("1\n2\n"),
        "p": Version(EntryKind.DIRECTORY, attributes=Attributes(0o750)),
        "p/gone": replace(version("gone\n"), attributes=Attributes(0o644)),
        "d/x": None,
        "h/again": version("y\n"),
        "to-f": None,
        "q/link": Version(EntryKind.LINK, hashlib.sha256(b"f").hexdigest()),
    }
    return engine.restore(wanted, actor=YOU)


def _seq(engine: Engine, name: str, nth: int = 0) -> int:
    return [event.seq for event in engine.events() if event.command == name][nth]


COMMANDS: dict[str, Act] = {
    "create": command(command="create", path="/memories/n", file_text=LONG),
    "create in new directories": command(command="create", path="/memories/p/q/n", file_text="new\n"),
    "overwrite": command(command="create", path="/memories/f", file_text="new\n"),
    "overwrite through a link": command(command="create", path="/memories/to-f", file_text="new\n"),
    "str_replace": command(command="str_replace", path="/memories/f", old_str="2\n", new_str="two\n"),
    "insert": command(command="insert", path="/memories/d/x", insert_line=1, insert_text="inserted\n"),
    "delete": command(command="delete", path="/memories/f"),
    "delete a directory": command(command="delete", path="/memories/d"),
    "rename": command(command="rename", old_path="/memories/f", new_path="/memories/p/f"),
    "rename a directory": command(command="rename", old_path="/memories/d", new_path="/memories/p/q/d"),
}
PUTTING_BACK: dict[str, Act] = {
    "restore": putting_back(_several),
    "restore the folder": putting_back(lambda engine: engine.restore_directory("", _seq(engine, "create"), actor=YOU)),
    "undo": putting_back(
        lambda engine: engine.undo([_seq(engine, "delete"), _seq(engine, "insert"), _seq(engine, "create")], actor=YOU)
    ),
    "write": putting_back(
        lambda engine: engine.write("f", b"mine\n", based_on=version("1\n2\n3\n"), actor=YOU),
    ),
    "clear": clearing,
    "move": putting_back(
        lambda engine: engine.files.move({"f": "g", "g": "f", "d/x": "n/x", "h": "d/h"}, actor=YOU),
    ),
    "merge": putting_back(
        lambda engine: engine.files.rearrange(
            "merge", "f", lambda: NoteEdits({"f": b"both\n", "h/z": b"z\n"}, gone=("d/x",)), actor=YOU
        ),
    ),
    "move and rewrite": putting_back(
        lambda engine: engine.files.move(
            {"f": "p/f", "d": "n/d"},
            edit=lambda: NoteEdits({"p/f": b"1\n", "n/d/x": b"moved\n", "h/z": b"z\n"}),
            actor=YOU,
        ),
    ),
}


def opened(folder: Path, state: Path) -> Engine:
    """An engine that has not looked yet, but read its journal."""
    engine = connect(folder, state=state)
    engine.journal.get_head()
    return engine


def copy(source: Path, target: Path) -> None:
    """A tree with its modes."""
    target.mkdir(mode=0o700)
    with os.scandir(source) as entries:
        for entry in entries:
            into = target / entry.name
            if entry.is_symlink():
                into.symlink_to(os.readlink(entry.path))
            elif entry.is_dir():
                copy(Path(entry.path), into)
            else:
                into.write_bytes(Path(entry.path).read_bytes())
                into.chmod(entry.stat().st_mode & 0o777)


def unpacked(said: bytes) -> list[Said | str]:
    """What a child has said, line by line; what is no answer as it is."""
    words: list[Said | str] = []
    for line in said.splitlines():
        try:
            outcome, text, raised = json.loads(line)
            words.append(Said(outcome, text, raised))
        except ValueError:
            if line:
                words.append(line.decode("utf-8", "replace"))
    return words


def sized(value: Any) -> str:
    """A value in few words."""
    words = repr(value)
    return words if len(words) < 400 else words[:400] + "…"
