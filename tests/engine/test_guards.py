"""What guards memories is recorded by events, and nothing that is done to the journal's tables takes it away."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.cli import main
from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Event, ImportedChange, Memtui, Person
from memtui.core.guards import DISMISSED, FOUND_UNTIL, GUARDS, IMPORTED_UNTIL, PINS, POSITIONS, PROTECTED
from memtui.core.wording import SCREEN, SPOKEN, describe_event, format_result
from memtui.engine import Engine
from memtui.engine.pins import load_pins
from memtui.journal.bodies import unpack_body
from memtui.journal.sqlite import Journal
from memtui.journal.verify_report import FindingWeight
from tests.conftest import fill
from tests.journal.raw import open_raw_journal

BOT = Agent("bot")
FILES = {f"{name}.md": f"{name}\n" for name in "abcdefgh"}
REFUSED = {"command": "create", "path": "/memories/a.md", "file_text": "mine\n"}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def folder(tmp_path: Path, state: Path) -> Path:
    """A folder in which something is protected, something pinned, and a loss left as it is."""
    path = fill(tmp_path / "memories", FILES)
    with memtui.open(path, state=state) as memory:
        memory.files.protect(["a.md"])
        memory.update_pins(lambda _: ["b.md"])
        for name in "cdefgh":
            (path / f"{name}.md").unlink()
        memory.reconcile()
        assert memory.loss is not None
        memory.dismiss_loss()
    return path


def age(state: Path) -> None:
    """Make the journal one of before guards were recorded."""
    with open_raw_journal(state) as database:
        hold = database.execute("SELECT sql FROM sqlite_master WHERE name = 'events_hold'").fetchone()[0]
        database.execute("DROP TRIGGER events_hold")
        database.execute("DROP INDEX noting")
        kept: dict[str, str] = {}
        previous = None
        for seq, body in database.execute("SELECT seq, body FROM events ORDER BY seq").fetchall():
            record = json.loads(unpack_body(body))
            kept |= record.pop("noted", {})
            body = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()  # noqa: PLW2901
            previous = memtui.journal.chain.hash_link(previous or memtui.journal.chain.START, body)
            database.execute("UPDATE events SET body = ?, hash = ? WHERE seq = ?", (body, previous, seq))
        database.executemany("INSERT INTO notes VALUES (?, ?)", kept.items())
        database.execute("PRAGMA user_version = 2")
        database.execute(hold)


def assert_guarded(memory: Engine) -> None:
    assert memory.execute(REFUSED, actor=BOT).is_error
    assert memory.files.get_protected() == ("a.md",)
    assert load_pins(memory) == ("b.md",)
    assert memory.loss is None


def test_each_is_an_event_that_says_who_and_what(folder: Path, state: Path) -> None:
    with memtui.open(folder, state=state) as memory:
        protect, pin, dismiss = [event for event in memory.events() if event.noted]
        assert [(event.command, event.actor, event.path) for event in (protect, pin, dismiss)] == [
            ("protect", Person(), "/memories/a.md"),
            ("pin", Person(), "/memories/b.md"),
            ("dismiss", Person(), "/memories"),
        ]
        assert [format_result(event) for event in (protect, pin, dismiss)] == ["ok"] * 3
        assert dict(protect.noted)[PROTECTED] == '["a.md"]'
        assert dismiss.noted == ((DISMISSED, str(dismiss.seq - 1)),)
        memory.update_pins(lambda pins: [*pins, "a.md"], actor=Person("Ada"))
        memory.update_pins(lambda pins: pins)  # nothing to record
        memory.update_pins(lambda _: [])
        memory.files.unprotect(["a.md"])
        events = list(memory.events(dismiss.seq))
        assert [(event.command, event.path) for event in events] == [
            ("pin", "/memories/a.md"),
            ("unpin", "/memories"),
            ("unprotect", "/memories/a.md"),
        ]
        assert events[0].actor == Person("Ada")
        assert events[1].note == "2 paths"
        assert memory.journal.verify().is_intact


def test_an_emptied_table_takes_nothing_away(folder: Path, state: Path) -> None:
    with open_raw_journal(state) as database:
        database.execute("DELETE FROM notes")
    for read_only in (True, False):
        with memtui.open(folder, state=state, read_only=read_only) as memory:
            assert_guarded(memory)
            assert memory.journal.verify().is_intact
    with memory_module.observe(folder, state=state) as observer:
        assert load_pins(observer) == ("b.md",)


def test_what_came_since_the_first_look_is_new_though_the_table_was_emptied(folder: Path, state: Path) -> None:
    with open_raw_journal(state) as database:
        database.execute("DELETE FROM notes")
    (folder / "planted.md").write_text("planted\n")
    with memtui.open(folder, state=state) as memory:
        *_, planted = memory.events()
        assert (planted.command, planted.path) == ("created", "/memories/planted.md")
        assert memory.is_baseline_recorded


def test_the_next_event_says_when_the_first_look_was_over(tmp_path: Path, state: Path) -> None:
    path = fill(tmp_path / "memories", FILES)
    for _ in range(2):
        with memtui.open(path, state=state) as memory:
            memory.execute(REFUSED, actor=BOT)
            found, noting, *others = memory.events()
            assert (found.command, found.noted) == ("found", ())
            assert dict(noting.noted)[FOUND_UNTIL] == str(found.seq)
            assert dict(noting.noted).keys() == POSITIONS.keys()
            assert not any(event.noted for event in others)
            assert memory.journal.verify().is_intact
            memory.journal.set_metadata(FOUND_UNTIL, "99")
            assert memory.journal.get_metadata(FOUND_UNTIL) == str(found.seq)
    with open_raw_journal(state) as database:
        database.execute("INSERT INTO notes VALUES ('found_until', '99')")
    with memtui.open(path, state=state) as memory:
        assert memory.journal.get_metadata(FOUND_UNTIL) == "1"
        (finding,) = memory.journal.verify().findings
        assert finding.text.startswith("What the first look found is in the table notes, where it has no effect")
        memory.repair()
        assert memory.journal.verify().is_intact


def test_a_row_of_the_table_has_no_effect_and_is_found_and_removed(folder: Path, state: Path) -> None:
    with open_raw_journal(state) as database:
        database.executemany("INSERT INTO notes VALUES (?, ?)", [(PROTECTED, '["z"]'), (DISMISSED, "0")])
    with memtui.open(folder, state=state) as memory:
        assert_guarded(memory)
        findings = memory.journal.verify().findings
        assert {finding.weight for finding in findings} == {FindingWeight.STATE}
        assert findings[1].text.startswith("What is protected is in the table notes, where it has no effect")
        assert memory.repair().tables == ("notes",)
        assert_guarded(memory)
        assert memory.journal.verify().is_intact


def test_an_index_that_hides_an_event_is_found_and_made_anew(folder: Path, state: Path) -> None:
    with open_raw_journal(state) as database:
        declared = database.execute("SELECT sql FROM sqlite_master WHERE name = 'noting'").fetchone()[0]
        database.execute("DROP INDEX noting")
        database.execute("CREATE INDEX noting ON events (seq) WHERE seq < 0")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'noting'", (declared,))
    with memory_module.connect(folder, state=state) as memory:
        (finding,) = memory.journal.verify().findings
        assert finding.weight is FindingWeight.STATE
        assert finding.text.startswith("The index of the events on protection and pins disagrees with them.")
        assert memory.repair().tables == ("noting",)
        assert memory.journal.verify().is_intact
        assert_guarded(memory)


def test_without_its_index_it_is_read_all_the_same(folder: Path, state: Path) -> None:
    with open_raw_journal(state) as database:
        database.execute("DROP INDEX noting")
    with memtui.open(folder, state=state) as memory:
        assert_guarded(memory)
        assert [finding.text for finding in memory.journal.verify().findings] == [
            "The index noting of the journal was removed."
        ]
        assert memory.repair().guards == ("noting",)
        assert memory.journal.verify().is_intact


def test_an_older_journal_keeps_what_guards_it_and_records_that_once(folder: Path, state: Path) -> None:
    age(state)
    with memory_module.observe(folder, state=state) as observer:
        report = observer.journal.verify()
        assert report.is_intact
        assert sum("no event proves it" in remark for remark in report.remarks) == len(GUARDS)
    with memtui.open(folder, state=state, read_only=True) as memory:
        assert_guarded(memory)
        last = memory.get_head()[0]
        assert not [event for event in memory.events() if event.command == "adopt"]
    for _ in range(2):
        with memtui.open(folder, state=state) as memory:
            (adopted,) = [event for event in memory.events() if event.command == "adopt"]
            assert (adopted.actor, {name for name, _ in adopted.noted}) == (Memtui(), {*GUARDS, *POSITIONS})
            assert adopted.seq == last
            assert_guarded(memory)
            report = memory.journal.verify()
            assert (report.is_intact, report.remarks) == (True, ())


def test_a_number_of_the_schema_that_was_set_back_changes_no_guard(folder: Path, state: Path) -> None:
    with open_raw_journal(state) as database:
        database.execute("INSERT INTO notes VALUES (?, '[\"z\"]')", (PROTECTED,))
        database.execute("PRAGMA user_version = 2")
    with memory_module.observe(folder, state=state) as observer:
        texts = [finding.text for finding in observer.journal.verify().findings]
        assert "The schema number of the journal was changed: it is 2, and the index noting is newer." in texts
    for read_only in (True, False):
        with memtui.open(folder, state=state, read_only=read_only) as memory:
            assert_guarded(memory)
    with memtui.open(folder, state=state) as memory:
        assert not [event for event in memory.events() if event.command == "adopt"]


def test_where_imported_events_are_can_be_made_again(folder: Path, state: Path) -> None:
    change = ImportedChange(at_us=1, path="a.md", agent=BOT, call_id="call", after=b"then\n")
    with memtui.open(folder, state=state) as memory:
        (imported,) = memory.imports.record([change])
    with open_raw_journal(state) as database:
        database.execute("DELETE FROM notes")
    with memtui.open(folder, state=state) as memory:
        assert [finding.weight for finding in memory.journal.verify().findings] == [FindingWeight.INDEX]
        assert memory.repair().tables == ("notes",)
        assert memory.journal.verify().is_intact
        assert memory.journal.get_metadata(IMPORTED_UNTIL) == str(imported.seq)
        assert memory.imports.record([change]) == []


def test_an_exported_journal_tells_it(folder: Path, state: Path, tmp_path: Path) -> None:
    exported = tmp_path / "journal.jsonl"
    assert main(["export", "--dir", str(folder), "--state", str(state), "-o", str(exported)]) == 0
    with memory_module.observe(folder, journal=exported) as observer:
        assert load_pins(observer) == ("b.md",)
        assert observer.loss is None


def test_a_small_value_is_no_way_to_set_a_guard(folder: Path, state: Path) -> None:
    with memtui.open(folder, state=state) as memory:
        for name in GUARDS:
            with pytest.raises(ValueError, match="is recorded by an event"):
                memory.set_metadata(name, "x")


def test_what_is_moved_is_protected_by_the_event_that_moves_it(folder: Path, state: Path) -> None:
    with memtui.open(folder, state=state) as memory:
        moved = memory.files.move({"a.md": "deep/z.md"}).event
        assert moved is not None
        assert moved.noted == ((PROTECTED, '["deep/z.md"]'),)
        undone = memory.undo([moved.seq]).event
        assert undone is not None
        assert undone.noted == ((PROTECTED, '["a.md"]'),)
        assert memory.files.move({"b.md": "c.md"}).event.noted == ()  # type: ignore[union-attr]


def test_a_move_that_was_not_recorded_leaves_both_names_protected(folder: Path, state: Path) -> None:
    with memtui.open(folder, state=state) as memory:
        record = memory.journal.append_events

        def fail(*_: Any, **__: Any) -> Any:
            raise StateUnusable("the disk is full")

        memory.journal.append_events = fail  # type: ignore[method-assign]
        assert "the disk is full" in memory.files.move({"a.md": "z.md"}).problem
        memory.journal.append_events = record  # type: ignore[method-assign]
    with memtui.open(folder, state=state) as memory:
        assert memory.files.get_protected() == ("a.md", "z.md")
        command = {"command": "delete", "path": "/memories/z.md"}
        assert "is protected" in memory.execute(command, actor=BOT).text
        assert memory.journal.verify().is_intact


def test_another_engine_and_journal_know_it_at_once(folder: Path, state: Path) -> None:
    with memtui.open(folder, state=state) as one, memtui.open(folder, state=state) as other:
        one.update_pins(lambda pins: [*pins, "a.md"])
        assert load_pins(other) == ("b.md", "a.md")
        other.files.protect(["b.md"])
        assert one.files.get_protected() == ("a.md", "b.md")


def test_events_that_note_something_are_found_by_their_index() -> None:
    with contextlib.closing(Journal(None)) as journal:
        quoted = Event(at_us=1, actor=BOT, command="view", path='/memories/"noted":', note='{"noted":{}}')
        noting = Event(at_us=1, actor=Person(), command="pin", path="/memories/a", noted=((PINS, "{}"),))
        journal.append_events([quoted, noting, quoted])
        assert journal.get_metadata(PINS) == "{}"
        where = f"SELECT seq FROM events WHERE {memtui.journal.schema.NOTING} AND seq > 0"
        assert journal._query(where) == [(2,)]
        (plan,) = journal._query(f"EXPLAIN QUERY PLAN {where}")
        assert "INDEX noting" in plan[3]


@pytest.mark.parametrize(
    ("event", "sentence", "spoken"),
    [
        ({"command": "pin", "path": "/memories/a.md"}, "You pinned a.md.", "You pinned a.md."),
        ({"command": "unpin", "path": "/memories/a.md"}, "You unpinned a.md.", "You unpinned a.md."),
        (
            {"command": "dismiss", "path": "/memories", "note": "#7"},
            "You dismissed the loss up to #7.",
            "You dismissed the loss up to event 7.",
        ),
        (
            {"command": "adopt", "path": "/memories", "note": "what is protected, what is pinned", "actor": Memtui()},
            "memtui began to record what is protected, what is pinned.",
            "memtui began to record what is protected, what is pinned.",
        ),
    ],
)
def test_each_is_a_sentence(event: dict[str, Any], sentence: str, spoken: str) -> None:
    made = Event(**{"at_us": 1, "actor": Person(), "no_change": True, **event})
    assert (describe_event(made, SCREEN), describe_event(made, SPOKEN)) == (sentence, spoken)


def test_a_program_reads_who_set_what(folder: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "--json", "--dir", str(folder), "--state", str(state)]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = {event["op"]: (event["actor"], event["noted"]) for event in events if event["noted"]}
    assert told["protected"] == ("you", {"protected": ["a.md"]})
    assert told["pinned"][1]["pins"]["pins"] == ["b.md"]
    assert list(told["dismissed"][1]) == ["loss_dismissed"]
