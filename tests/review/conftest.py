"""A memory with a reviewer at it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.engine import Engine
from memtui.review import verdicts
from memtui.review.inbox import ChangedFile, Inbox, ReviewVerdict
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import ReviewFile

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")


class Table:
    """A folder, its engine, and a reviewer.

    Attributes:
        folder: The folder.
        memory: The engine.
        file: The review file.
    """

    def __init__(self, folder: Path, memory: Engine, file: ReviewFile) -> None:
        self.folder = folder
        self.memory = memory
        self.file = file

    def do(self, actor: memtui.Agent = CLAUDE, /, **command: str) -> None:
        """Have an agent do something, which has to go well."""
        for name in ("path", "old_path", "new_path"):
            if name in command:
                command[name] = f"/memories/{command[name]}"
        answer = self.memory.execute(command, actor=actor)
        assert not answer.is_error, answer.text

    def write(self, path: str, text: str, actor: memtui.Agent = CLAUDE) -> None:
        """Have an agent write a whole note."""
        self.do(actor, command="create", path=path, file_text=text)

    def put(self, path: str, text: str) -> None:
        """Write a note as somebody who is not memtui would."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        self.memory.reconcile()

    def undo(self) -> None:
        """Take back the last change."""
        event = self.memory.history.get_undoable()
        assert event is not None
        assert self.memory.undo([event.seq]).event is not None

    def inbox(self, **given: Any) -> Inbox:
        """The inbox as it is now."""
        return build_inbox(self.memory, self.file.load(), **given)

    def files(self, **given: Any) -> dict[str, ChangedFile]:
        """What is in it, by path."""
        return {file.path: file for file in self.inbox(**given).files}

    def accept(self, path: str, reviewer: str = "ada") -> None:
        """Accept a file as it is shown."""
        self.file.add(
            [
                verdicts.build_mark(
                    ReviewVerdict.ACCEPT, self.files()[path], reviewer=reviewer, head=verdicts.get_head(self.memory)
                )
            ]
        )

    def flag(self, path: str, reviewer: str = "ada", words: str = "") -> None:
        """Flag a file as it is shown."""
        head = verdicts.get_head(self.memory)
        self.file.add(
            [
                verdicts.build_mark(
                    ReviewVerdict.FLAG, self.files(accepted=True)[path], reviewer=reviewer, head=head, words=words
                )
            ]
        )

    def done(self, reviewer: str = "ada") -> None:
        """End the review."""
        found = self.inbox(accepted=True)
        self.file.add(verdicts.end_review(found, reviewer=reviewer, head=verdicts.get_head(self.memory)))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A folder with four notes that were there at first, and nothing said of them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "memories"
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.md").write_text(f"{name} one\n{name} two\n{name} three\n")
    with memtui.open(folder) as memory:
        yield Table(folder, memory, ReviewFile(tmp_path / "review.json", folder="memories"))
