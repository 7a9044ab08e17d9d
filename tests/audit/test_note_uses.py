"""When an agent last read a note, and who changed it last, as the journal knows."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.audit.outside import NEVER, NoteUses, collect_uses
from memtui.audit.pruning import compute_age, find_unrecorded_changes
from memtui.core.events import Agent, EntryKind, Event, Person, Version
from memtui.engine import Engine
from tests.bench.limits import at_most

ADA = Agent("Ada", "a-model", "s1")
DAY_NS = 86_400_000_000_000
DAY_US = DAY_NS // 1_000


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.ns = time.time_ns()

    def __call__(self) -> int:
        return self.ns

    def pass_days(self, days: float) -> None:
        self.ns += int(days * DAY_NS)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(plain_world: Any, clock: Clock) -> Engine:
    """A memory whose clock is set, with a note that was there at first."""
    plain_world.put("old.md", "old\n")
    main = plain_world.main
    clock.ns = time.time_ns()
    engine = Engine(main.store, main.journal, now_ns=clock)
    engine.reconcile()
    return engine


def do(memory: Engine, actor: Agent | Person = ADA, **command: object) -> Event:
    """Execute a command, which must not be refused."""
    answer = memory.execute(command, actor=actor)
    assert not answer.is_error, answer.text
    return answer.event


def test_a_note_that_was_only_found_has_neither(memory: Engine) -> None:
    use = collect_uses(memory).get("old.md")
    assert (use.read, use.change, use.last) == (None, None, None)
    assert collect_uses(memory).get("nowhere.md") is NEVER


def test_a_view_by_an_agent_is_a_reading_and_one_of_the_directory_is_none(memory: Engine, clock: Clock) -> None:
    do(memory, command="view", path="/memories")
    assert collect_uses(memory).reads == 0
    clock.pass_days(3)
    event = do(memory, command="view", path="/memories/old.md", view_range=[1, 1])
    uses = collect_uses(memory)
    assert uses.get("old.md").read == (event.seq, event.at_us, "Ada")
    assert uses.reads == 1
    assert collect_uses(memory, until=event.seq - 1).get("old.md").read is None


def test_what_a_person_looks_at_and_what_was_refused_is_no_reading(memory: Engine) -> None:
    do(memory, Person(), command="view", path="/memories/old.md")
    assert memory.execute({"command": "view", "path": "/memories/none.md"}, actor=ADA).is_error
    assert memory.execute({"command": "view", "path": "/memories/old.md", "view_range": [9, 1]}, actor=ADA).is_error
    assert collect_uses(memory).reads == 0


def test_the_last_change_and_who_made_it(memory: Engine, plain_world: Any) -> None:
    do(memory, command="create", path="/memories/a.md", file_text="a\n")
    last = do(memory, Agent("Bob"), command="str_replace", path="/memories/a.md", old_str="a", new_str="b")
    change = collect_uses(memory).get("a.md").change
    assert change is not None
    assert (change.seq, change.actor_name) == (last.seq, "Bob")
    plain_world.put("a.md", "from outside\n")
    memory.reconcile()
    change = collect_uses(memory).get("a.md").change
    assert change is not None
    assert (change.seq, change.actor_name) == (last.seq + 1, "outside")


def test_a_note_keeps_its_reading_when_it_is_moved_alone_or_with_its_directory(memory: Engine) -> None:
    do(memory, command="create", path="/memories/d/e/a.md", file_text="a\n")
    read = do(memory, command="view", path="/memories/d/e/a.md")
    do(memory, command="rename", old_path="/memories/d", new_path="/memories/f")
    memory.files.move({"f/e/a.md": "f/b.md", "old.md": "older.md"})
    memory.files.move({"f/b.md": "older.md", "older.md": "f/b.md"})
    uses = collect_uses(memory)
    assert uses.get("older.md").read == (read.seq, read.at_us, "Ada")
    assert uses.get("f/b.md").read is None
    assert uses.get("d/e/a.md") is NEVER
    memory.undo([memory.get_head()[0]])
    assert collect_uses(memory).get("f/b.md").read == (read.seq, read.at_us, "Ada")


def test_another_note_at_the_same_place_is_not_taken_for_read(memory: Engine) -> None:
    do(memory, command="view", path="/memories/old.md")
    do(memory, command="delete", path="/memories/old.md")
    assert collect_uses(memory).get("old.md") is NEVER
    do(memory, command="create", path="/memories/old.md", file_text="another\n")
    assert collect_uses(memory).get("old.md").read is None


def test_a_note_that_was_brought_back_is_as_old_as_it_was(memory: Engine, plain_world: Any, clock: Clock) -> None:
    long_ago = clock.ns // DAY_NS * DAY_NS - 300 * DAY_NS
    os.utime(plain_world.folder / "old.md", ns=(long_ago, long_ago))
    memory.reconcile()
    read = do(memory, command="view", path="/memories/old.md")
    deleted = do(memory, command="delete", path="/memories/old.md")
    undone = memory.undo([deleted.seq]).event
    assert undone is not None
    use = collect_uses(memory).get("old.md")
    assert use == ((read.seq, read.at_us, "Ada"), (undone.seq, long_ago // 1_000, "you"))
    changed = do(memory, command="create", path="/memories/old.md", file_text="new\n")
    assert memory.undo([changed.seq]).problem == ""
    use = collect_uses(memory).get("old.md")
    assert use.change is not None
    assert use.change.at_us == long_ago // 1_000


def test_a_copy_has_not_been_read(memory: Engine) -> None:
    do(memory, command="view", path="/memories/old.md")
    memory.files.copy({"old.md": "copy.md"})
    assert collect_uses(memory).get("copy.md").read is None


def test_the_age_is_since_the_later_of_both_and_tells_how_it_is_known(memory: Engine, clock: Clock) -> None:
    def age(path: str, mtime_days: float = 0, *, is_recorded: bool = True) -> Any:
        mtime_us = clock.ns // 1_000 - int(mtime_days * DAY_US)
        uses = collect_uses(memory)
        return compute_age(path, uses, mtime_us=mtime_us, now_us=clock.ns // 1_000, is_recorded=is_recorded)

    do(memory, command="create", path="/memories/a.md", file_text="a\n")
    clock.pass_days(100)
    assert (age("a.md").days, age("a.md").basis) == (100, "journal")
    assert age("a.md").description == "last changed 100 days ago, and no agent has read it since"
    do(memory, command="view", path="/memories/a.md")
    clock.pass_days(1)
    assert age("a.md").description == "last read by Ada 1 day ago, last changed 101 days ago"
    assert age("a.md").days == 1
    found = age("old.md", 400)
    assert (found.days, found.basis) == (400, "both")
    assert found.description == (
        "last written, by the file's time, 400 days ago; no agent has read it since the history began, 101 days ago"
    )
    assert age("a.md", 0.5, is_recorded=False).days == 0


def test_without_a_journal_only_the_time_of_the_file_is_known() -> None:
    years = 20 * 366 * DAY_US  # since 1970: what is older than 1981 is the time of no file
    age = compute_age("a.md", NoteUses(), mtime_us=years, now_us=years + 200 * DAY_US)
    assert (age.days, age.basis) == (200, "file time")
    assert age.description.endswith("there is no journal, so it is unknown when it was read")


def test_what_changed_behind_an_event_is_told(memory: Engine) -> None:
    seq = memory.get_head()[0]
    do(memory, command="create", path="/memories/a.md", file_text="a\n")
    do(memory, command="view", path="/memories/old.md")
    assert find_unrecorded_changes(memory, seq) == {"a.md"}


def test_a_long_journal_is_passed_over_in_seconds(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    with memtui.open(tmp_path / "m", state=tmp_path / "s") as memory:
        version = Version(EntryKind.FILE, "0" * 64, 1)
        events = [
            Event(at_us=1_000 * at, actor=ADA, command="view", path=f"/memories/{at % 500}.md", viewed=version)
            for at in range(10_000)
        ]
        for at in range(0, len(events), 1_000):
            memory.journal.append_events(events[at : at + 1_000], durable=False)
        with at_most(2):
            uses = collect_uses(memory)
    assert uses.reads == 10_000
    assert uses.get("499.md").read == (10_000, 9_999_000, "Ada")


def test_hostile_names_of_agents_are_told_safely(memory: Engine, clock: Clock) -> None:
    do(memory, Agent("you\x1b[2J"), command="view", path="/memories/old.md")
    words = compute_age("old.md", collect_uses(memory), mtime_us=0, now_us=clock.ns // 1_000).description
    assert "\x1b" not in words
    assert os.linesep not in words
