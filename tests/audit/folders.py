"""Folders made for tests of single families of rules: texts in, findings out."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import ModuleType

import memtui
from memtui.audit.context import AuditContext, build_context
from memtui.audit.model import Hit
from memtui.core.settings import AuditSettings, Settings
from memtui.engine import Engine

DAY = 86_400


class Folder:
    """A memory folder with its journal.

    Args:
        place: An empty directory for both.
    """

    def __init__(self, place: Path) -> None:
        self.path = place / "memories"
        self.path.mkdir()
        self.state = place / "journal"

    def write(self, notes: Mapping[str, str | bytes], *, days: float = 0) -> "Folder":
        """Write files as somebody who is not memtui would, some days ago by their times."""
        for path, text in notes.items():
            target = self.path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
            if days:
                at = time.time() - days * DAY
                os.utime(target, (at, at))
        return self

    def hits(
        self,
        family: ModuleType,
        *,
        rules: Collection[str] = (),
        with_journal: bool = True,
        days_later: float = 0,
        pins: Iterable[str] = (),
        repo: Path | None = None,
        audit: AuditSettings | None = None,
        memory: Settings | None = None,
        act: Callable[[Engine], object] = lambda _: None,
    ) -> list[Hit]:
        """What a family of rules finds, in order.

        Args:
            family: Its module.
            rules: Only of these rules; of all if empty.
            with_journal: Whether there is a journal on the disk.
            days_later: How long after now the audit is done.
            pins: Notes that are pinned.
            repo: A repository.
            audit: How the audit is set.
            memory: The limits of the folder.
            act: Is given the memory before.
        """
        with memtui.open(self.path, state=self.state) as engine:
            act(engine)
            subject = build_context(
                engine,
                settings=audit or AuditSettings(),
                memory=memory or Settings(),
                now_us=time.time_ns() // 1_000 + int(days_later * DAY * 1e6),
                on_disk=engine.get_head()[0] if with_journal else 0,
                repo=None if repo is None else str(repo),
                pins=pins,
                place=str(self.path),
                chosen=rules,
            )
            found = list(found_by(family, subject))
        return sorted(
            (hit for hit in found if not rules or hit.rule in rules),
            key=lambda hit: (hit.path, hit.start or 0, hit.rule),
        )


def found_by(family: ModuleType, subject: AuditContext) -> Iterable[Hit]:
    """All that a family finds in a folder."""
    check_note = getattr(family, "check_note", None)
    for note in subject.notes.values() if check_note is not None else ():
        yield from check_note(note, subject)
    yield from family.check_folder(subject)
