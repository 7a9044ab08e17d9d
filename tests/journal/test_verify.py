"""Whatever is done to a journal behind our back is found, and what is said of it is true."""

import contextlib
import dataclasses
import hashlib
import json
import os
import random
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memtui
from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Change, EntryKind, Event, Memtui, Person, Version, sha256
from memtui.engine import Engine
from memtui.journal import chain
from memtui.journal.bodies import unpack_body
from memtui.journal.record import KnownPath
from memtui.journal.rows import UNREADABLE
from memtui.journal.snapshot import ReadOnlyConnection, copy_to_memory, open_read_only
from memtui.journal.sqlite import Journal
from memtui.journal.verify import verify_journal
from memtui.journal.verify_report import EventRun, FindingWeight, NotedHead, TextCounts, VerifyReport
from memtui.store.folder import FolderStore
from memtui.store.memory import MemoryStore
from tests.sampling import many, sampled

COUNT = 12
AGENT = Agent("bot", "a-model", "a-session")


def version(data: bytes) -> Version:
    return Version(EntryKind.FILE, sha256(data), len(data))


def text_of(number: int) -> bytes:
    return f"text {number}\n".encode() * (100 if number % 2 else 1)


def record(journal: Journal, count: int = COUNT, *, first: int = 1) -> None:
    """Record events that each change a file, with answers and arguments."""
    for number in range(first, first + count):
        before = version(text_of(number - 1)) if number > 1 else None
        event = Event(
            at_us=number * 1_000_000,
            actor=AGENT,
            command="create",
            path="/memories/f",
            changes=(Change("f", before, version(text_of(number))),),
            answer=f"answer {number}",
            arguments=f'{{"number": {number}}}',
        )
        known = {"f": KnownPath(version(text_of(number)), (number,))}
        journal.append_events([event], texts={sha256(text_of(number)): text_of(number)}, known=known)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A journal of twelve events that was closed."""
    where = str(tmp_path / "journal.db")
    with contextlib.closing(Journal(where)) as journal:
        record(journal)
    return where


def checked(path: str, head: str | None = None) -> VerifyReport:
    with open_read_only(path) as opened:
        report = verify_journal(opened.connection, head=head)
        assert opened.is_steady()
    return report


def rows(path: str) -> list[Any]:
    """The number, canonical bytes and hash of each event."""
    return [
        (seq, unpack_body(body), hash)
        for seq, body, hash in select(path, "SELECT seq, body, hash FROM events ORDER BY seq")
    ]


def select(path: str, sql: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


@contextlib.contextmanager
def tampering(path: str) -> Iterator[sqlite3.Connection]:
    """The database without what guards it; the guards are put back, so that only the deed itself is there to find."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        yield database
        for _, sql in triggers:
            database.execute(sql)


def said(report: VerifyReport) -> list[str]:
    return [finding.text for finding in report.findings]


def edited(body: bytes, **values: object) -> bytes:
    return json.dumps({**json.loads(body), **values}, sort_keys=True, separators=(",", ":")).encode()


def test_a_journal_as_it_was_recorded_is_intact(path: str) -> None:
    report = checked(path)
    assert report.is_intact
    assert report.findings == report.remarks == ()
    assert (report.events, report.seq, report.intact_until, report.runs) == (COUNT, COUNT, COUNT, (EventRun(1, COUNT),))
    assert report.hash == rows(path)[-1][2].hex()
    assert report.versions == TextCounts(named=COUNT, intact=COUNT)
    assert report.words == TextCounts(named=2 * COUNT, intact=2 * COUNT)


def test_a_journal_in_which_nothing_happened_is_intact(tmp_path: Path) -> None:
    Journal(str(tmp_path / "journal.db")).close()
    report = checked(str(tmp_path / "journal.db"), chain.START.hex())
    assert (report.is_intact, report.events, report.hash, report.runs) == (True, 0, chain.START.hex(), ())
    assert report.since == 0


# Events


def test_an_edited_event_is_found_and_named(path: str) -> None:
    for number in (1, 5, COUNT):
        body = rows(path)[number - 1][1]
        with tampering(path) as database:
            changed = edited(body, actor=["agent", "somebody", None, None])
            database.execute("UPDATE events SET body = ? WHERE seq = ?", (changed, number))
        report = checked(path)
        assert said(report)[0].startswith(f"Event {number}")
        assert "its hash does not match" in said(report)[0]
        assert report.findings[0].seq == number
        assert report.intact_until == number - 1
        behind = [EventRun(number + 1, COUNT)] if number < COUNT else []
        assert report.runs == (*([EventRun(1, number - 1)] if number > 1 else []), *behind)
        with tampering(path) as database:
            database.execute("UPDATE events SET body = ? WHERE seq = ?", (body, number))
        assert checked(path).is_intact


def test_an_event_whose_own_number_or_form_was_changed_is_certainly_changed(path: str) -> None:
    for body in (b"\xff no json", edited(rows(path)[4][1], seq=9)):
        with tampering(path) as database:
            database.execute("UPDATE events SET body = ? WHERE seq = 5", (body,))
        report = checked(path)
        assert said(report)[0].startswith("Event 5 was changed")
        assert "unless" not in said(report)[0]
        assert report.runs == (EventRun(1, 4), EventRun(6, COUNT))


def test_what_cannot_be_told_from_an_edit_is_not_said_to_be_one(path: str) -> None:
    """Events rewritten with new hashes up to one look as if the next had been changed."""
    kept = rows(path)
    with tampering(path) as database:
        at = chain.hash_link(kept[3][2], edited(kept[4][1], path="/memories/other"))
        database.execute(
            "UPDATE events SET body = ?, hash = ? WHERE seq = 5", (edited(kept[4][1], path="/memories/other"), at)
        )
    (text,) = said(checked(path))
    assert text == "Event 6 was changed: its hash does not match, unless those before it were rewritten."


def test_a_changed_hash_is_told_from_a_changed_event(path: str) -> None:
    with tampering(path) as database:
        database.execute("UPDATE events SET hash = ? WHERE seq = 5", (b"\0" * 32,))
    report = checked(path)
    assert said(report) == ["The hash of event 5 was changed; the event itself is unchanged."]
    assert report.hash == rows(path)[-1][2].hex()


@pytest.mark.parametrize("renumbered", [False, True])
def test_dropped_events_are_missing(path: str, *, renumbered: bool) -> None:
    with tampering(path) as database:
        database.execute("DELETE FROM events WHERE seq IN (4, 5, 9)")
        if renumbered:
            for number, (seq,) in enumerate(database.execute("SELECT seq FROM events ORDER BY seq").fetchall(), 1):
                database.execute("UPDATE events SET seq = ? WHERE seq = ?", (number, seq))
    report = checked(path)
    assert said(report) == [
        "Events 4 to 5 are missing, so that event 6 itself cannot be checked.",
        "Event 9 is missing, so that event 10 itself cannot be checked.",
    ]
    assert report.runs == (EventRun(1, 3), EventRun(7, 8), EventRun(11, COUNT))
    assert report.events == COUNT - 3


def test_the_first_event_may_be_missing(path: str) -> None:
    with tampering(path) as database:
        database.execute("DELETE FROM events WHERE seq = 1")
    report = checked(path)
    assert said(report)[0] == "Event 1 is missing, so that event 2 itself cannot be checked."
    assert (report.intact_until, report.runs) == (0, (EventRun(3, COUNT),))


def test_a_cut_end_is_found_where_other_tables_still_name_it(path: str) -> None:
    with tampering(path) as database:
        database.execute("DELETE FROM events WHERE seq > 9")
    (text,) = said(checked(path))
    assert text.startswith("Events 10 to 12 are missing: the end was cut off.")


@pytest.mark.parametrize(("one", "other"), [(5, 6), (2, 9), (1, COUNT)])
@pytest.mark.parametrize("what", ["seq", "body"])
def test_swapped_events_are_told(path: str, one: int, other: int, what: str) -> None:
    kept = {seq: (body, hash) for seq, body, hash in rows(path)}
    with tampering(path) as database:
        for seq, source in ((one, other), (other, one)):
            body, hash = kept[source][0], kept[source if what == "seq" else seq][1]
            database.execute("UPDATE events SET body = ?, hash = ? WHERE seq = ?", (body, hash, seq))
    report = checked(path)
    assert said(report) == [f"Events {one} and {other} were swapped."]
    assert report.runs == (EventRun(1, COUNT),)


@pytest.mark.parametrize("at", [5, 9, COUNT + 1])
def test_an_event_that_stands_there_twice_is_told(path: str, at: int) -> None:
    _, body, hash = rows(path)[3]
    with tampering(path) as database:
        database.execute("UPDATE events SET seq = -seq - 1 WHERE seq >= ?", (at,))
        database.execute("UPDATE events SET seq = -seq WHERE seq < 0")
        database.execute("INSERT INTO events VALUES (?, ?, ?)", (at, body, hash))
    report = checked(path)
    assert said(report) == [f"Event 4 is there twice, again at number {at}."]
    assert (report.runs, report.events, report.seq) == ((EventRun(1, COUNT),), COUNT + 1, COUNT)


@pytest.mark.parametrize("at", [-3, 0, 5, COUNT + 1, COUNT + 9])
def test_a_row_that_was_put_in_does_not_belong_to_the_chain(path: str, at: int) -> None:
    body = edited(rows(path)[4][1], seq=max(1, at), note="never happened")
    with tampering(path) as database:
        if 0 < at <= COUNT:
            database.execute("UPDATE events SET seq = -seq - 1 WHERE seq >= ?", (at,))
            database.execute("UPDATE events SET seq = -seq WHERE seq < 0")
        database.execute("INSERT INTO events VALUES (?, ?, ?)", (at, body, hashlib.sha256(body).digest()))
    report = checked(path)
    (text, *_) = said(report)
    if at <= COUNT:
        assert text == f"The row at number {at} does not belong to the chain: it was inserted."
        assert report.runs == (EventRun(1, COUNT),)
    elif at == COUNT + 1:
        assert text == "Event 13, the last one, was changed or does not belong to the chain: its hash does not match."
    else:
        assert text.startswith(f"Events 13 to {at - 1} are missing")
    assert report.intact_until == COUNT


def test_a_row_with_a_right_hash_that_memtui_did_not_write_is_found(path: str) -> None:
    _, body, head = rows(path)[-1]
    for forged, words in (
        (edited(body, seq=7), "The event at number 13 has the number 7 in it: memtui did not write it."),
        (b'{"seq":13}', "Event 13 cannot be parsed: memtui did not write it."),
        (b"[]", "Event 13 cannot be parsed: memtui did not write it."),
        (b"[" * 5_000, "Event 13 cannot be parsed: memtui did not write it."),
        (edited(body, seq=13, changes=7), "Event 13 cannot be parsed: memtui did not write it."),
        (edited(body, seq=13, answer=[]), "Event 13 cannot be parsed: memtui did not write it."),
        (edited(body, seq=13, redacted=[[]]), "Event 13 cannot be parsed: memtui did not write it."),
        (edited(body, seq=13, changes=[[5, None, None]]), "Event 13 cannot be parsed: memtui did not write it."),
        (b"\xff", "Event 13 cannot be parsed: memtui did not write it."),
    ):
        with tampering(path) as database:
            database.execute("DELETE FROM events WHERE seq = 13")
            database.execute("INSERT INTO events VALUES (13, ?, ?)", (forged, chain.hash_link(head, forged)))
        assert words in said(checked(path))


def test_a_row_with_a_right_hash_that_does_not_go_on_from_what_stood_there_is_remarked_upon(path: str) -> None:
    with contextlib.closing(Journal(path)) as journal:
        other = version(b"never there")
        event = Event(at_us=20_000_000, actor=Person(), command="create", path="/memories/f", answer=None)
        journal.append_events(
            [dataclasses.replace(event, changes=(Change("f", other, other),))],
            texts={other.sha256: b"never there"},
            known={"f": KnownPath(other, (1,))},
        )
    report = checked(path)
    assert report.is_intact
    assert report.remarks == ("Event 13 does not follow from the events before it at f.",)


def test_a_clock_that_runs_backwards_is_remarked_upon(path: str) -> None:
    with contextlib.closing(Journal(path)) as journal:
        for at_us in (50_000_000, 49_500_000, 10_000_000, 5_000_000):
            journal.append_events([Event(at_us=at_us, actor=Person(), command="view", path="/memories")])
    report = checked(path)
    assert report.is_intact
    assert report.remarks == ("The clock runs backwards 2 times, first at event 15.",)


def test_a_command_that_was_begun_is_remarked_upon(path: str) -> None:
    with contextlib.closing(Journal(path)) as journal:
        journal.add_intent(Event(at_us=1, actor=AGENT, command="create", path="/memories/g"), {sha256(b"x"): b"x"})
    report = checked(path)
    assert report.is_intact
    assert report.remarks == ("1 command was not finished: still running, or ended by a crash.",)
    assert report.versions == TextCounts(named=COUNT, intact=COUNT, unnamed=1)


def test_many_findings_of_one_sort_are_counted(path: str) -> None:
    with contextlib.closing(Journal(path)) as journal:
        record(journal, 40, first=COUNT + 1)
    with tampering(path) as database:
        database.execute("DELETE FROM versions")
    report = checked(path)
    assert report.versions.missing == COUNT + 40
    assert len(report.findings) == 11
    assert report.findings[-1].text == "And 42 more like these."


# Texts


@pytest.mark.parametrize("number", [4, 5])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"another", "was changed"),
        (zlib.compress(b"another" * 200), "was changed"),
        (b"", "was changed"),
        (zlib.compress(text_of(5)) + b"x", "after its end"),
        (zlib.compress(text_of(5))[:-4], "cannot be unpacked"),
    ],
)
def test_a_changed_version_is_found(path: str, number: int, data: bytes, words: str) -> None:
    with tampering(path) as database:
        changed = database.execute(
            "UPDATE versions SET data = ? WHERE sha256 = ?", (data, bytes.fromhex(sha256(text_of(number))))
        )
        assert changed.rowcount == 1
    report = checked(path)
    assert report.versions == TextCounts(named=COUNT, intact=COUNT - 1, damaged=1)
    (finding,) = report.findings
    assert (finding.weight, finding.seq) == (FindingWeight.TEXT, number)
    assert finding.text.startswith(f"The version {sha256(text_of(number))[:12]} of event {number} ")
    if words != "after its end" and number == 4:
        assert finding.text.endswith("was changed.")


def test_a_version_that_says_another_size_is_found(path: str) -> None:
    with tampering(path) as database:
        database.execute("UPDATE versions SET size = 7 WHERE sha256 = ?", (bytes.fromhex(sha256(text_of(5))),))
    assert said(checked(path)) == [f"The version {sha256(text_of(5))[:12]} of event 5 has another size than it says."]


@pytest.mark.parametrize(
    "sql", ["DELETE FROM versions WHERE sha256 = ?", "UPDATE versions SET data = NULL WHERE sha256 = ?"]
)
def test_a_missing_version_is_found_unless_it_was_redacted(path: str, sql: str) -> None:
    name = sha256(text_of(5))
    with tampering(path) as database:
        database.execute(sql, (bytes.fromhex(name),))
    report = checked(path)
    assert said(report) == [f"The version {name[:12]} that event 5 names is missing."]
    assert (report.versions.missing, report.versions.redacted) == (1, 0)
    with contextlib.closing(Journal(path)) as journal:
        journal.append_events(
            [Event(at_us=60_000_000, actor=Person(), command="redact", path="/memories/f", redacted=(name,))]
        )
    report = checked(path)
    assert report.is_intact
    assert (report.versions.missing, report.versions.redacted) == (0, 1)


@pytest.mark.parametrize("name", ["answer", "arguments"])
def test_a_changed_or_missing_text_of_an_event_is_found(path: str, name: str) -> None:
    is_or_are, was_or_were = ("is", "was") if name == "answer" else ("are", "were")
    with tampering(path) as database:
        database.execute(f"UPDATE texts_of_events SET {name} = 'never said' WHERE seq = 5")
    report = checked(path)
    assert said(report) == [f"The {name} of event 5 {was_or_were} changed."]
    assert report.words == TextCounts(named=2 * COUNT, intact=2 * COUNT - 1, damaged=1)
    with tampering(path) as database:
        database.execute(f"UPDATE texts_of_events SET {name} = NULL WHERE seq = 5")
    assert said(checked(path)) == [f"The {name} of event 5 {is_or_are} missing."]
    with contextlib.closing(Journal(path)) as journal:
        text = "answer 5" if name == "answer" else '{"number": 5}'
        event = Event(at_us=60_000_000, actor=Memtui(), command="redact", path="/memories/f")
        journal.append_events([dataclasses.replace(event, redacted=(sha256(text.encode()),))])
    report = checked(path)
    assert report.is_intact
    assert (report.words.redacted, report.words.missing) == (1, 0)


def test_missing_answers_at_both_ends_and_all_of_them_are_found(path: str) -> None:
    for where, count in (("seq = 1", 1), ("seq IN (1, 12)", 2), ("1", COUNT)):
        with tampering(path) as database:
            database.execute(f"DELETE FROM texts_of_events WHERE {where}")
        assert checked(path).words.missing == 2 * count


def test_answers_that_no_event_names_are_found_beside_events_and_counted_elsewhere(path: str) -> None:
    with contextlib.closing(Journal(path)) as journal:
        journal.append_events([Event(at_us=60_000_000, actor=Person(), command="view", path="/memories")] * 2)
    with tampering(path) as database:
        database.execute("INSERT INTO texts_of_events VALUES (13, 'never said', NULL)")
        database.execute("INSERT INTO texts_of_events VALUES (0, 'of nothing', NULL)")
    report = checked(path)
    assert said(report) == ["There is an answer for event 13 that it does not name."]
    assert (report.words.damaged, report.words.unnamed) == (1, 1)


def test_a_redacted_text_that_is_there_is_remarked_upon(path: str) -> None:
    with contextlib.closing(Journal(path)) as journal:
        names = (sha256(text_of(5)), sha256(b"answer 7"))
        journal.append_events(
            [Event(at_us=60_000_000, actor=Person(), command="redact", path="/memories/f", redacted=names)]
        )
    report = checked(path)
    assert report.is_intact
    assert report.remarks == ("2 texts that were redacted are there: recorded again, or not removed.",)


def test_a_text_that_unpacks_without_end_fills_no_memory(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtui.journal.verify._UNPACKED", 1_000_000)
    with tampering(path) as database:
        bomb = zlib.compress(bytes(20_000_000))
        database.execute("UPDATE versions SET data = ? WHERE sha256 = ?", (bomb, bytes.fromhex(sha256(text_of(5)))))
    assert said(checked(path)) == [f"The version {sha256(text_of(5))[:12]} of event 5 cannot be unpacked."]


# Guards and indexes


def test_dropped_guards_are_found(path: str) -> None:
    names = [name for (name,) in select(path, "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")]
    assert len(names) >= 6
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for name in names:
            database.execute(f"DROP TRIGGER {name}")
    report = checked(path)
    assert sorted(said(report)) == [f"The trigger {name} of the journal was removed." for name in names]
    assert {finding.weight for finding in report.findings} == {FindingWeight.GUARD}
    assert report.intact_until == COUNT


def test_guards_that_were_changed_or_put_in_are_found(path: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DROP TRIGGER events_stay")
        database.execute("CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT 1; END")
        database.execute("CREATE TRIGGER mine AFTER INSERT ON events BEGIN DELETE FROM notes; END")
        database.execute("PRAGMA application_id = 5")
    assert said(checked(path)) == [
        "The file is not marked as a journal: it was changed, or it belongs to another program.",
        "The trigger events_stay of the journal was changed.",
        "There is a trigger mine in the journal that memtui did not create.",
    ]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM touched WHERE seq = 5", "events by path disagrees"),
        ("UPDATE touched SET path = x'67' WHERE seq = 5", "events by path disagrees"),
        ("INSERT INTO taken_back VALUES (3, 5)", "undone events disagrees"),
        ("UPDATE totals SET bytes = 5", "The total of files and bytes is wrong"),
        ("DELETE FROM totals", "The total of files and bytes is wrong"),
    ],
)
def test_indexes_that_disagree_weigh_least(path: str, sql: str, words: str) -> None:
    with tampering(path) as database:
        database.execute(sql)
    (finding,) = checked(path).findings
    assert finding.weight is FindingWeight.INDEX
    assert words in finding.text
    assert "It can be rebuilt." in finding.text


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "UPDATE known SET sha256 = x'00'",
            "The table of files has another version of /memories/f than the events",
        ),
        ("UPDATE known SET sha256 = NULL", "The table of files has another version of /memories/f than the events"),
        ("UPDATE known SET size = size + 1", "The table of files has another version of /memories/f than the events"),
        ("UPDATE known SET kind = 'link'", "The table of files has another version of /memories/f than the events"),
        ("DELETE FROM known", "/memories/f is missing in the table of files; an event left it there."),
        ("UPDATE known SET path = x'67'", "/memories/g is in the table of files; no event left it"),
    ],
)
def test_a_known_state_that_the_events_did_not_leave_is_found_with_its_path(path: str, sql: str, words: str) -> None:
    with tampering(path) as database:
        database.execute(sql)
        database.execute("UPDATE totals SET (files, bytes) = (SELECT count(*), coalesce(sum(size), 0) FROM known)")
    report = checked(path)
    assert {finding.weight for finding in report.findings} <= {FindingWeight.STATE, FindingWeight.INDEX}
    assert any(words in text for text in said(report)), said(report)


def test_of_a_change_that_the_disk_did_not_confirm_both_versions_may_stand(path: str) -> None:
    before, after = version(text_of(12)), version(b"after")
    event = Event(at_us=20_000_000, actor=AGENT, command="create", path="/memories/f", is_error=True)
    event = dataclasses.replace(event, changes=(Change("f", before, after),))
    for left, is_intact in ((before, True), (after, True), (version(b"never"), False)):
        with contextlib.closing(Journal(path)) as journal:
            event = dataclasses.replace(event, changes=(Change("f", before, after),))
            journal.append_events([event], texts={after.sha256: b"after"}, known={"f": KnownPath(left, (1,))})
        assert checked(path).is_intact is is_intact


def test_a_journal_of_an_older_schema_is_intact(path: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DROP INDEX noting")
        database.execute("PRAGMA user_version = 2")
    assert checked(path).is_intact
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DROP TABLE taken_back")
        database.execute("PRAGMA user_version = 1")
    assert checked(path).is_intact


def test_a_journal_of_a_newer_schema_is_refused(path: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(StateUnusable, match="was written by a newer memtui"):
        checked(path)


# A head noted earlier


def test_the_head_may_be_noted_in_several_ways(path: str) -> None:
    hash = rows(path)[7][2].hex()
    for head in (hash, hash[:12], hash[:13].upper(), f"8 {hash}", f"8:{hash[:16]}", f" 8:{hash}\n"):
        report = checked(path, head)
        assert (report.is_intact, report.since) == (True, COUNT - 8)
    assert checked(path, rows(path)[-1][2].hex()).since == 0
    assert checked(path, f"0:{chain.START.hex()}").since == COUNT
    for head in ("", "8", hash[:11], "x" * 64, hash + "0", f"a:{hash}", f"8:{hash[:5]}", f"-8:{hash}"):
        with pytest.raises(ValueError, match="is not a head"):
            NotedHead.parse(head)


def test_an_older_copy_in_the_place_of_the_journal_is_found_by_a_noted_head(path: str) -> None:
    shutil.copyfile(path, path + ".old")
    with contextlib.closing(Journal(path)) as journal:
        record(journal, 3, first=COUNT + 1)
        seq, hash = journal.get_head()
    os.replace(path + ".old", path)
    assert checked(path).is_intact
    assert said(checked(path, hash)) == [
        "The noted head is not in this journal: it was replaced by an older copy, or rewritten."
    ]
    assert said(checked(path, f"{seq}:{hash}")) == [
        "The noted head is event 15, and the journal ends with event 12: it was cut off there, or replaced by an "
        "older copy."
    ]


def test_a_chain_recomputed_from_its_start_is_found_by_a_noted_head(path: str) -> None:
    kept = rows(path)
    with tampering(path) as database:
        at = chain.START
        for seq, recorded, _ in kept:
            body = edited(recorded, actor=["person", "you"])
            at = chain.hash_link(at, body)
            database.execute("UPDATE events SET body = ?, hash = ? WHERE seq = ?", (body, at, seq))
    assert checked(path).is_intact
    report = checked(path, f"8:{kept[7][2].hex()}")
    assert said(report) == ["Event 8 does not have the noted hash: the journal was rewritten or replaced."]
    assert report.since is None


# The file


def test_nothing_and_what_is_no_journal_are_findings(tmp_path: Path) -> None:
    where = tmp_path / "journal.db"
    for content, words in (
        (b"", "The journal is empty"),
        (b"x" * 5_000, "The file cannot be read as a journal: file is not a database."),
    ):
        where.write_bytes(content)
        report = checked(str(where))
        assert words in said(report)[0]
        assert not report.is_intact
    with pytest.raises(FileNotFoundError):
        checked(str(tmp_path / "none"))


def test_a_truncated_file_is_found_whatever_its_length(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.db")
    with contextlib.closing(Journal(path)) as journal:
        record(journal, 80)
    whole = Path(path).read_bytes()
    for length in (
        0,
        1,
        50,
        99,
        100,
        101,
        1_000,
        4_095,
        4_096,
        4_097,
        *range(8_192, len(whole), 4_096),
        len(whole) - 1,
    ):
        Path(path).write_bytes(whole[:length])
        report = checked(path)
        assert not report.is_intact, length
        assert report.intact_until <= 80


def test_what_can_be_read_of_a_damaged_file_is_checked_and_the_gap_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.db")
    with contextlib.closing(Journal(path)) as journal:
        record(journal, 200)
    whole = bytearray(Path(path).read_bytes())
    kept = select(path, "SELECT body FROM events WHERE seq = 101")[0][0]
    page = bytes(whole).index(kept) // 4_096 * 4_096
    whole[page : page + 4_096] = b"\xff" * 4_096
    Path(path).write_bytes(whole)
    report = checked(path)
    texts = said(report)
    assert any(
        text.startswith("Events can be read up to number ") and "and again from number " in text for text in texts
    )
    assert 80 < report.intact_until < 101
    assert report.runs[-1].last == 200
    assert 180 < report.events < 200


def test_pages_that_lead_in_a_circle_are_found_and_not_followed(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.db")
    with contextlib.closing(Journal(path)) as journal:
        record(journal, 400)
    with open_read_only(path) as opened:
        pages = dict(opened.connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"))
    whole = Path(path).read_bytes()
    for table in ("events", "texts_of_events", "versions"):
        circular = bytearray(whole)
        top = (pages[table] - 1) * 4_096
        assert circular[top] in (2, 5)  # a page that only leads to others
        for cell in range(int.from_bytes(whole[top + 3 : top + 5], "big")):
            at = int.from_bytes(whole[top + 12 + 2 * cell : top + 14 + 2 * cell], "big")
            circular[top + at : top + at + 4] = pages[table].to_bytes(4, "big")
        circular[top + 8 : top + 12] = pages[table].to_bytes(4, "big")
        Path(path).write_bytes(circular)
        assert not checked(path).is_intact


def log_of(path: str, count: int) -> tuple[bytes, bytes]:
    """A journal's file and its log, as they lie there while a process has it open."""
    with contextlib.closing(Journal(path)) as journal:
        record(journal, count)
        return Path(path).read_bytes(), Path(path + "-wal").read_bytes()


@pytest.mark.sweep
def test_a_log_that_was_cut_is_an_older_journal_and_nothing_crashes(tmp_path: Path) -> None:
    main, log = log_of(str(tmp_path / "journal.db"), 30)
    seen = set()
    cuts = sampled(range(5_000, len(log), 6_007), 15)
    for step, length in enumerate([0, 31, 32, 33, 56, *cuts, len(log)]):
        where = tmp_path / f"cut-{step}"
        where.mkdir()
        (where / "journal.db").write_bytes(main)
        (where / "journal.db-wal").write_bytes(log[:length])
        report = checked(str(where / "journal.db"))
        seen.add(report.seq)
        assert report.is_intact or report.events == 0
        assert said(report) in ([], ["The journal is empty: it has no events, or it was emptied."])
        assert sorted(path.name for path in where.iterdir()) == ["journal.db", "journal.db-wal"]
        with_head = checked(str(where / "journal.db"), "30:" + "0" * 12)
        assert not with_head.is_intact
    assert {0, 30} < seen


def logical(path: str) -> object:
    """All of the record, as far as it can be read; `None` if it cannot."""
    try:
        with open_read_only(path) as opened:
            return [
                opened.connection.execute(f"SELECT {columns} FROM {table}").fetchall()
                for table, columns in (
                    ("events", "seq, body, hash"),
                    ("texts_of_events", "seq, CAST(answer AS BLOB), CAST(arguments AS BLOB)"),
                    ("versions", "sha256, size, packed, data"),
                    ("touched", "path, seq"),
                    ("taken_back", "*"),
                    ("totals", "*"),
                    ("sqlite_master", "type, name, tbl_name, CAST(sql AS BLOB)"),
                    ("pragma_application_id", "*"),
                    ("pragma_user_version", "*"),
                )
            ]
    except (*UNREADABLE, OSError):
        return None


@pytest.mark.sweep
def test_a_flipped_byte_anywhere_is_found_wherever_it_makes_a_difference(path: str) -> None:
    whole, expected = Path(path).read_bytes(), logical(path)
    chance = random.Random(5)
    positions = [*range(100), *chance.sample(range(len(whole)), many(900, 250))]
    differing = 0
    for position in positions:
        flipped = bytearray(whole)
        flipped[position] ^= 1 << chance.randrange(8)
        Path(path).write_bytes(flipped)
        try:
            report = checked(path)
        except (StateUnusable, sqlite3.OperationalError):
            assert position < 100, position  # a header that SQLite refuses, or of a newer journal
            continue
        if logical(path) != expected:
            differing += 1
            assert not report.is_intact, position
    assert differing > len(positions) // 10


# Reading beside others


def picture(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in directory.iterdir()}


@pytest.mark.parametrize("locking", [False, True])
def test_checking_changes_none_of_the_files(path: str, tmp_path: Path, *, locking: bool) -> None:
    before = picture(tmp_path)
    with open_read_only(path, locking=locking) as opened:
        assert verify_journal(opened.connection).is_intact
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            opened.connection.execute("DELETE FROM notes")
    assert picture(tmp_path) == before


def test_a_journal_of_a_killed_process_is_read_as_it_lies_there(run_python: Any, path: str, tmp_path: Path) -> None:
    killed = run_python(
        "import os, sys\n"
        "from memtui.journal.sqlite import Journal\n"
        "from memtui.core.events import Event, Person\n"
        "journal = Journal(sys.argv[1])\n"
        "journal.append_events([Event(at_us=60_000_000, actor=Person(), command='view', path='/memories')])\n"
        "os.kill(os.getpid(), 9)\n",
        path,
    )
    assert killed.returncode == -9
    for left in ((), ("-shm",)):  # with the index that SQLite keeps beside the log, and without
        for end in left:
            os.unlink(path + end)
        before = picture(tmp_path)
        assert "journal.db-wal" in before
        report = checked(path)
        assert (report.is_intact, report.seq) == (True, COUNT + 1)
        assert picture(tmp_path) == before


def _leave_open(folder: Path) -> str:
    """A journal with its log, as a process that has died leaves them."""
    path = str(folder / "journal.db")
    main, log = log_of(path, 30)
    Path(path).write_bytes(main)
    Path(path + "-wal").write_bytes(log)
    return path


def test_a_journal_that_somebody_is_just_closing_is_read_under_a_lock_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _leave_open(tmp_path)  # the index beside it goes first, and looks as if its process had died
    copy = shutil.copyfile

    def copied_while_it_is_closed(source: str, target: str) -> None:
        copy(source, target)
        if source.endswith("-wal"):
            Journal(path).close()

    monkeypatch.setattr("shutil.copyfile", copied_while_it_is_closed)
    with open_read_only(path, locking=True) as opened:
        assert not os.path.exists(path + "-wal") or os.path.exists(path + "-shm")
        os.utime(path, ns=(0, 0))
        assert verify_journal(opened.connection).seq == 30
        assert opened.is_steady()


def test_a_log_that_is_gone_and_made_anew_between_two_looks_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _leave_open(tmp_path)
    copy = shutil.copyfile
    gone: list[str] = []

    def copied_between_two_writers(source: str, target: str) -> None:
        if source.endswith("-wal") and not gone:
            gone.append(source)
            raise FileNotFoundError(source)  # and once it is asked for again, the next writer has made its own
        copy(source, target)

    monkeypatch.setattr("shutil.copyfile", copied_between_two_writers)
    with open_read_only(path) as opened:
        assert verify_journal(opened.connection).seq == 30
        assert opened.is_steady()
    gone.clear()
    with contextlib.closing(copy_to_memory(path, quietly=False)) as whole:
        assert verify_journal(whole).seq == 30


def test_a_copy_is_of_one_moment_though_somebody_writes_while_it_is_made(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = Path(path).read_bytes()
    halfway = sound[:4_096].ljust(len(sound), b"\xff")
    states = iter([halfway, sound])

    @contextlib.contextmanager
    def reading_meanwhile(path: str) -> Iterator[ReadOnlyConnection]:
        with open_read_only(path) as opened:
            Path(path).write_bytes(next(states))
            os.utime(path, ns=(0, 0))
            yield opened

    monkeypatch.setattr("memtui.journal.snapshot.open_read_only", reading_meanwhile)
    with contextlib.closing(copy_to_memory(path, quietly=False)) as whole:
        assert verify_journal(whole).is_intact
    assert next(states, None) is None


WRITING = """
import sys
from memtui.journal.sqlite import Journal
from memtui.core.events import Agent, Event
path = sys.argv[1]
number = 0
print("begun", flush=True)
while True:
    journal = Journal(path)
    for _ in range(20):
        number += 1
        event = Event(at_us=10**9 + number, actor=Agent("w"), command="view", path="/memories")
        journal.append_events([event], durable=False)
    journal.close()
"""


@pytest.mark.parametrize("locking", [False, True])
def test_a_journal_is_read_in_one_state_while_others_write(run_python: Any, path: str, *, locking: bool) -> None:
    process = run_python(WRITING, path, wait=False)
    try:
        assert process.stdout.readline() == "begun\n"
        steady, last = 0, 0
        for _ in range(200):
            with open_read_only(path, locking=locking) as opened:
                report = verify_journal(opened.connection)
                if opened.is_steady():
                    steady += 1
                    assert report.is_intact, report.findings
                    assert report.seq >= last
                    last = report.seq
            if steady >= 20 and last > COUNT:
                break
        assert steady >= (20 if locking else 1)
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
    assert checked(path).is_intact


@pytest.mark.parametrize("locking", [False, True])
@pytest.mark.parametrize("log", ["header", "noise", "wrong page size"])
def test_a_log_that_sqlite_does_not_read_is_not_waited_for(tmp_path: Path, log: str, *, locking: bool) -> None:
    """A program was killed between the header of its log and the first frame, or the power failed there."""
    path, dead = str(tmp_path / "journal.db"), str(tmp_path / "dead.db")
    with contextlib.closing(Journal(path)) as journal:
        record(journal)
        for end in ("-wal", "-shm"):
            shutil.copyfile(path + end, dead + end)
    shutil.copyfile(path, dead)
    with open(dead + "-wal", "r+b") as file:
        if log == "header":
            file.truncate(32)
        elif log == "noise":
            file.write(b"\xff" * 32)
        else:
            file.seek(8)
            file.write(b"\0\0\0\7")
    before = {end: Path(dead + end).read_bytes() for end in ("", "-wal", "-shm")}
    with open_read_only(dead, locking=locking) as opened:
        assert verify_journal(opened.connection).seq == COUNT
        assert opened.is_steady()
    assert {end: Path(dead + end).read_bytes() for end in before} == before


def test_the_connection_of_an_open_journal_can_be_checked(path: str) -> None:
    with contextlib.closing(Journal(path)) as journal:
        record(journal, 3, first=COUNT + 1)
        assert verify_journal(journal._db).seq == COUNT + 3
        record(journal, 1, first=COUNT + 4)
        with open_read_only(path) as opened:
            assert verify_journal(opened.connection).seq == COUNT + 4
        record(journal, 1, first=COUNT + 5)


# What honest work leaves

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a", "d", "e"])
TEXTS = st.sampled_from(["", "one\n", "two\n", "one\ntwo\n", "x" * 700])
NUMBERS = st.integers(0, 60)
PLACES = st.sampled_from(["", "d", "d/e", "e"])
STEP = st.one_of(
    st.tuples(st.just("create"), NAMES, TEXTS),
    st.tuples(st.just("edit"), NAMES, TEXTS),
    st.tuples(st.just("view"), NAMES, st.just("")),
    st.tuples(st.just("delete"), NAMES, st.just("")),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("put"), NAMES, TEXTS),
    st.tuples(st.just("link"), NAMES, NAMES),
    st.tuples(st.just("remove"), NAMES, st.just("")),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("large"), NAMES, st.just("")),
    st.tuples(st.just("look"), PLACES, st.just("")),
    st.tuples(st.sampled_from(["die before", "die behind"]), NAMES, TEXTS),
    st.tuples(st.sampled_from(["die before a rename", "die behind a rename"]), NAMES, NAMES),
    st.tuples(st.sampled_from(["restore", "redact of path"]), NAMES, NUMBERS),
    st.tuples(st.sampled_from(["restore below", "die in restore below"]), PLACES, NUMBERS),
    st.tuples(st.sampled_from(["restore all", "die in restore all"]), st.just(""), NUMBERS),
    st.tuples(st.sampled_from(["undo", "undo since", "redact of event", "die in undo"]), st.just(""), NUMBERS),
    st.tuples(st.just("redo"), st.just(""), st.just("")),
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("redact"), st.just(""), st.sampled_from(["one", "x" * 700])),
)


class Killed(BaseException):
    """Stands for the end of the process."""


class Dying:
    """A store whose transactions die before or after what they do, after some of it."""

    def __init__(self, store: Any, *, done: bool, deeds: int = 0) -> None:
        self._store = store
        self._done = done
        self._deeds = deeds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextlib.contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Any]:
        with self._store.begin_transaction(seconds, optimistic=optimistic) as transaction:
            yield _Dying(transaction, self._done, self._deeds)


class _Dying:
    def __init__(self, transaction: Any, done: bool, deeds: int) -> None:
        self._transaction = transaction
        self._done = done
        self._deeds = deeds

    def __getattr__(self, name: str) -> Any:
        def die(*arguments: Any, **options: Any) -> Any:
            self._deeds -= 1
            if self._done or self._deeds >= 0:
                done = getattr(self._transaction, name)(*arguments, **options)
            if self._deeds < 0:
                raise Killed
            return done

        return getattr(self._transaction, name) if name in ("clean_up", "batch_sync") else die


def command_of(what: str, one: str, other: str) -> dict[str, Any]:
    path = f"/memories/{one}"
    if "rename" in what:
        return {"command": "rename", "old_path": path, "new_path": f"/memories/{other}"}
    if what == "edit":
        return {"command": "str_replace", "path": path, "old_str": "one\n", "new_str": other}
    if what in ("view", "delete"):
        return {"command": what, "path": path}
    return {"command": "create", "path": path, "file_text": other}


def put_back(engine: Engine, what: str, one: str, other: Any) -> None:
    """What only a person may do; `other` is the number of an event, as far as there are so many, or a text."""
    at = other % (engine.get_head()[0] + 1) if isinstance(other, int) else 0
    match what:
        case "restore":
            engine.restore({one: engine.history.get_version_at(one, at)}, partial=True)
        case "restore all":
            stood = engine.history.get_state(at)
            engine.restore({path: stood.get(path) for path in ("a", "b", "d", "d/a", "d/e", "d/e/a")}, partial=True)
        case "restore below":
            engine.restore_directory(one, at, partial=other % 2 == 0)
        case "undo":
            engine.undo([at], partial=other % 2 == 0)
        case "undo since":
            engine.undo_since(at, partial=True)
        case "redo":
            if (undone := engine.history.get_redoable()) is not None:
                engine.undo([undone.seq])
        case "write":
            known = engine.journal.get_known(one)
            engine.write(one, other.encode(), based_on=known.version if known else None)
        case "redact of path":
            engine.redact(path=one)
        case "redact of event":
            engine.redact(event=at)
        case "redact":
            engine.redact(match=other)
        case _:
            raise ValueError(what)


class Folder:
    """A folder with its journal, in which commands, people and deaths take turns."""

    def __init__(self, where: Path) -> None:
        self.folder, self.state = where / "folder", where / "state"
        self.folder.mkdir(parents=True)
        self.state.mkdir()
        self.journal = str(self.state / "journal.db")
        self.now = 0
        self.engine = self.opened()
        self.second = self.opened()

    def opened(self, *, done: bool | None = None, deeds: int = 0) -> Engine:
        store: Any = FolderStore(str(self.folder), str(self.state), title="here")
        if done is not None:
            store = Dying(store, done=done, deeds=deeds)
        limit = memtui.Settings(max_read_bytes=1_000)
        engine = Engine(store, Journal(self.journal), settings=limit, now_ns=self.tick)
        if done is None:
            engine.reconcile()
        return engine

    def close(self) -> None:
        self.engine.close()
        self.second.close()

    def tick(self) -> int:
        self.now += 1_000_000
        return self.now

    def step(self, what: str, one: str, other: Any) -> None:
        if what.startswith("die in"):
            dying = self.opened(done=other % 2 == 0, deeds=other % 3)
            with contextlib.closing(dying), contextlib.suppress(Killed):
                put_back(dying, what.removeprefix("die in "), one, other)
        elif what.startswith("die"):
            dying = self.opened(done=what.startswith("die behind"))
            with contextlib.closing(dying), contextlib.suppress(Killed):
                dying.execute(command_of(what, one, other), actor=AGENT)
        elif what == "look":
            self.engine.reconcile([one] if one else None)
        elif what == "edit":
            self.second.execute(command_of(what, one, other), actor=AGENT)
        elif what in ("create", "view", "delete", "rename"):
            self.engine.execute(command_of(what, one, other), actor=AGENT)
        elif what in ("put", "large", "link", "move", "remove"):
            with contextlib.suppress(OSError):
                self.meddle(what, self.folder / one, self.folder / str(other), other)
        else:
            put_back(self.engine, what, one, other)

    def meddle(self, what: str, place: Path, target: Path, text: str) -> None:
        match what:
            case "put" | "large":
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("large" * 500 if what == "large" else text)
            case "link":
                place.symlink_to(os.path.basename(target))
            case "move":
                target.parent.mkdir(parents=True, exist_ok=True)
                os.rename(place, target)
            case "remove":
                shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()


@settings(max_examples=many(60, 20))
@given(steps=st.lists(STEP, max_size=25))
def test_honest_work_outside_changes_and_deaths_leave_nothing_to_find(
    steps: list[tuple[str, str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = tmp_path_factory.mktemp("honest")
    world = Folder(where)
    for what, one, other in steps:
        world.step(what, one, other)
    world.engine.reconcile()
    report = checked(world.journal)
    world.close()
    assert report.is_intact, report.findings
    assert [remark for remark in report.remarks if "redacted" not in remark] == []
    assert report.versions.missing == report.words.missing == 0
    shutil.rmtree(where)


def test_what_a_crash_left_of_a_restore_may_begin_with_a_text_that_nobody_had_seen(tmp_path: Path) -> None:
    world = Folder(tmp_path)
    for name in ("a", "b", "e"):
        world.step("create", name, "one\n")
        world.step("put", name, f"{name} was changed meanwhile\n")
    dying = world.opened(done=True, deeds=1)
    with contextlib.closing(dying), contextlib.suppress(Killed):
        dying.restore(dict.fromkeys(("a", "b", "e")))
    world.engine.reconcile()
    assert any(event.note == "recovered after a crash: 2 of 3 done" for event in world.engine.events())
    report = checked(world.journal)
    world.close()
    assert (report.is_intact, report.remarks) == (True, ())


def test_hostile_names_are_followed(tmp_path: Path) -> None:
    world = Folder(tmp_path)
    names = ["caf\udce9", "a\nb", "\u202e", "日本"]
    for name in names:
        (world.folder / name).write_text("x")
    world.engine.reconcile()
    for name in names:
        (world.folder / name).unlink()
    world.engine.reconcile()
    assert checked(world.journal).is_intact
    world.close()


def test_a_memory_that_is_kept_nowhere_can_be_checked() -> None:
    with contextlib.closing(Journal(None)) as journal:
        engine = Engine(MemoryStore(), journal)
        engine.execute({"command": "create", "path": "/memories/f", "file_text": "x"}, actor=AGENT)
        assert verify_journal(journal._db).is_intact
