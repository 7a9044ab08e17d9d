"""The history of a path through mass renames: what is told, and how much is read for it."""

import random
from collections import Counter

from memtui.core.events import Change, EntryKind, Event, Person, Version, sha256
from memtui.engine import Engine
from memtui.engine.lineage import Lineage
from memtui.engine.replacements import ReplacementReader
from memtui.journal.sqlite import Journal
from memtui.store.memory import MemoryStore

NOTES, SHUFFLES = 60, 20


class CountingJournal(Journal):
    """Counts how often each event is read whole."""

    def __init__(self) -> None:
        super().__init__(None)
        self.read: Counter[int] = Counter()

    def get_event(self, seq: int) -> Event | None:
        self.read[seq] += 1
        return super().get_event(seq)


def follow(journal: Journal) -> Lineage:
    return Lineage(journal, ReplacementReader(journal, lambda _: None))


def version(text: str) -> Version:
    return Version(EntryKind.FILE, sha256(text.encode()), len(text))


def shuffled() -> tuple[CountingJournal, dict[str, list[str]]]:
    """A record of notes that change places again and again, and by its last name all that each was called."""
    journal, chance = CountingJournal(), random.Random(6)
    names = [f"{number}.md" for number in range(NOTES)]
    journal.append_events(
        [
            Event(
                at_us=1,
                actor=Person(),
                command="create",
                path=f"/memories/{name}",
                changes=(Change(name, None, version(name)),),
            )
            for name in names
        ]
    )
    stands = {name: [name] for name in names}
    for at in range(SHUFFLES):
        new = chance.sample(names, NOTES)
        moved = tuple((old, to) for old, to in zip(names, new, strict=True) if old != to)
        after = {to: stands[old] for old, to in moved}
        changes = tuple(Change(name, version(stands[name][0]), version(after[name][0])) for name in sorted(after))
        journal.append_events(
            [
                Event(
                    at_us=2 + at,
                    actor=Person(),
                    command="rename",
                    path="/memories",
                    changes=changes,
                    moved=moved,
                    answer="done",
                )
            ]
        )
        stands |= {name: [*called, name] for name, called in after.items()}
    return journal, stands


def test_a_thing_is_followed_through_all_its_names() -> None:
    journal, stands = shuffled()
    for name in ("0.md", "17.md", "59.md"):
        rows = list(follow(journal).get_file_history(name))
        assert [row.path for row in rows] == stands[name][::-1]
        assert rows[-1].sign == "+"


def test_an_event_that_moved_much_is_read_once() -> None:
    journal, _ = shuffled()
    lineage = follow(journal)
    for name in ("0.md", "17.md"):
        assert next(lineage.get_path_history(name)).path == name
        list(lineage.get_path_history(name))
    moved = {seq: count for seq, count in journal.read.items() if seq > NOTES}
    assert len(moved) == SHUFFLES
    assert set(moved.values()) == {1}


def test_what_stood_at_a_former_name_before_or_afterwards_is_not_told() -> None:
    journal, stands = shuffled()
    rows = list(follow(journal).get_path_history("0.md"))
    assert [row.event.seq for row in rows] == sorted((row.event.seq for row in rows), reverse=True)
    assert len({(row.event.seq, row.path) for row in rows}) == len(rows)
    # Each thing that stood at the name, and all that it was called before: no more than these.
    assert len(rows) <= SHUFFLES * (SHUFFLES + 3)
    own = [row for row in rows if row.path in stands["0.md"]]
    assert {(row.event.seq, row.path) for row in follow(journal).get_file_history("0.md")} <= {
        (row.event.seq, row.path) for row in own
    }


def test_what_came_back_at_a_former_name_keeps_its_history() -> None:
    with Engine(MemoryStore(), Journal(None)) as engine:
        for command in (
            {"command": "create", "path": "/memories/old", "file_text": "1\n"},
            {"command": "delete", "path": "/memories/old"},
        ):
            engine.execute(command, actor=Person())
        engine.undo([2])
        engine.execute({"command": "rename", "old_path": "/memories/old", "new_path": "/memories/new"}, actor=Person())
        assert [row.sign for row in engine.history.versions_of("new")] == [">", "+", "-", "+"]


def test_a_removed_text_is_not_told_although_its_event_is_known() -> None:
    journal, _ = shuffled()
    lineage = follow(journal)
    seq = NOTES + SHUFFLES
    row = next(row for row in lineage.get_path_history("0.md") if row.event.seq == seq)
    assert row.event.answer == "done"
    journal.redact([Event(at_us=99, actor=Person(), command="redact", path="/memories")], [], [seq])
    row = next(row for row in lineage.get_path_history("0.md") if row.event.seq == seq)
    assert row.event.answer is None
