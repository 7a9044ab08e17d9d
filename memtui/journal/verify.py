"""Verifying that the record is still what was recorded.

The chain of hashes says which events stand as they were written, and each text's own hash whether it is the one that an
event names. A finding is told as certain only where it is: an event that does not match its hash was changed, or those
before it were rewritten; a chain that was recomputed from its start is found only against a head noted elsewhere.

Everything is read once, in order, in one consistent view, and rows are not kept: memory grows with the number of paths
and versions, not with the texts.
"""

import contextlib
import sqlite3
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from memtui.core.errors import StateUnusable
from memtui.core.events import ABORTED, IMPORTED, RECOVERED
from memtui.core.guards import GUARDS
from memtui.core.unicode import to_one_line
from memtui.journal import chain, schema
from memtui.journal.guards import find_imported_until, find_ineffective_notes, read_kept_guards
from memtui.journal.rows import UNREADABLE, EventRow, EventRows, TextRows, iter_ascending
from memtui.journal.standing import ANYTHING, Standing, encode_path, find_known_differences, is_same_version
from memtui.journal.verify_report import (
    SHOWN,
    EventRun,
    FindingWeight,
    JournalFindings,
    NotedHead,
    TextCounts,
    VerifyReport,
)

# Evidence of the events: each names the versions that stood before it, so an event that was inserted and
# chained well disagrees with those before.

_SLIP_US = 1_000_000
"""Microseconds by which a clock may run backwards before it is remarked upon."""


class EventEvidence:
    """What the events say.

    Attributes:
        named: The number of the first event that names a text, by the text's SHA-256.
        redacted: SHA-256 of the texts that were redacted; `there` of those that are there as they were recorded.
        touched: A sum over which event touched which path, the same in any order; `touched_count` is of how many pairs.
        taken_back: The same over which event took which one back.
        noting: Numbers of the events that say what guards memories; `noted` is what they name.
        imported: The number of the last event that was imported from a session file.
    """

    def __init__(self) -> None:
        self.named: dict[str, int] = {}
        self.redacted: set[str] = set()
        self.there: set[str] = set()
        self.touched = self.touched_count = 0
        self.undone = self.undone_count = 0
        self.standing = Standing()
        self.noting: list[int] = []
        self.noted: set[str] = set()
        self.imported = 0
        self._at_us: int | None = None
        self._slips = 0
        self._first_slip = 0
        self._jumps: list[tuple[int, str]] = []
        self._jump_count = 0

    def add_event(self, seq: int, record: dict[str, Any]) -> None:
        # A recovered one has the time at which it was begun, and may begin from a text that the crash kept from being
        # recorded; of several paths perhaps only some came to pass.
        is_recovered = "note" in record and (record["note"] == ABORTED or record["note"].startswith(RECOVERED))
        at_us = record["at_us"]
        if not is_recovered:
            if self._at_us is not None and at_us < self._at_us - _SLIP_US:
                self._slips += 1
                self._first_slip = self._first_slip or seq
            self._at_us = at_us
        if (viewed := record.get("viewed")) is not None and viewed[1] is not None:
            self.named.setdefault(viewed[1], seq)
        if "redacted" in record:
            self.redacted.update(record["redacted"])
        if noted := record.get("noted"):
            if not all(isinstance(each, str) for each in noted.values()):
                raise TypeError("a note that is none")
            self.noting.append(seq)
            self.noted.update(noted)
        if record.get("command") == IMPORTED:
            self.imported = seq
        changes = record.get("changes", ())
        if "undoes" in record and (changes or not record.get("is_error", False)):
            for each in record["undoes"]:
                self.undone += hash((each, seq))
                self.undone_count += 1
        if changes:
            self._follow_changes(seq, record, changes, is_recovered=is_recovered)

    def _follow_changes(self, seq: int, record: dict[str, Any], changes: list[Any], *, is_recovered: bool) -> None:
        named, standing = self.named, self.standing
        seen: set[str] = set()
        for path, before, after in changes:
            if before is not None and before[1] is not None:
                named.setdefault(before[1], seq)
            if after is not None and after[1] is not None:
                named.setdefault(after[1], seq)
            was = standing.get_version(path)
            is_same = was == before or was is ANYTHING or is_same_version(was, before)
            if not (is_same or is_recovered or path in seen or _may_follow(was, before, after)):
                self._jump_count += 1
                if len(self._jumps) < SHOWN:
                    self._jumps.append((seq, path))
            seen.add(path)
        standing.apply_event(record)
        for path in seen:
            self.touched += hash((encode_path(path), seq))
        self.touched_count += len(seen)

    def lose_track(self) -> None:
        """What stands where is not known any more: events are missing, or were changed."""
        self.standing.lose_track()

    def get_remarks(self, intents: int) -> list[str]:
        """What is odd about the events, and proves nothing."""
        remarks = []
        if self._jumps:
            seq, path = self._jumps[0]
            more = f", and {self._jump_count - 1:,} more like it" if self._jump_count > 1 else ""
            place = f"at {path or '/memories'}"
            remarks.append(f"Event {seq:,} does not follow from the events before it {place}{more}.")
        if self._slips:
            times = "once" if self._slips == 1 else f"{self._slips:,} times"
            remarks.append(f"The clock runs backwards {times}, first at event {self._first_slip:,}.")
        there = len(self.redacted & self.there)
        if there:
            texts = "text that was redacted is" if there == 1 else "texts that were redacted are"
            remarks.append(f"{there:,} {texts} there: recorded again, or not removed.")
        if intents:
            commands = "command was" if intents == 1 else "commands were"
            remarks.append(f"{intents:,} {commands} not finished: still running, or ended by a crash.")
        return remarks


def _may_follow(was: Any, before: Any, after: Any) -> bool:
    """Whether an event may begin with this version where another one was left.

    Texts that could not be read differ, and a directory may be made again whose removal was not seen.
    """
    if was is ANYTHING:
        return True
    if before is None:
        return after is not None and after[0] == "directory"
    if was is None or was[0] != before[0] or was[0] not in ("file", "link"):
        return False
    return was[1] is None or before[1] is None


# The chain of hashes, followed through its breaks. A chain that breaks says only that it broke. The events around the
# break show more: that one is missing, stands there twice, has changed places with another one or was put in, and where
# the chain goes on.


class ChainWalker:
    """Follows the chain row by row, and reports in `found` what is wrong where it does not go on.

    Attributes:
        number: The number of the last event.
        hash: The chain's hash up to and with it.
        count: How many rows were read.
        noted_at: The number of the event that the noted head is; `None` if it was not met.
    """

    def __init__(self, rows: EventRows, found: JournalFindings, noted: NotedHead | None) -> None:
        self.number = 0
        self.hash = chain.START
        self.count = 0
        self.noted_at: int | None = None
        self._offset = 0
        """How far the rows' numbers are from the events' own, since rows were put in or taken out."""
        self._there = rows
        self._rows = iter(rows)
        self._ahead: deque[EventRow] = deque()
        self._found = found
        self._noted = noted
        self._body = b""
        self._moved: dict[int, EventRow] = {}
        self._runs: list[EventRun] = []
        self._start = 1
        if noted and (noted.seq or 0) == 0 and chain.START.hex().startswith(noted.hash):
            self.noted_at = 0

    def __iter__(self) -> Iterator[tuple[int, bytes, bool]]:
        """Each event's number and body, and whether it follows on the one before."""
        noted, noted_seq = (bytes.fromhex(self._noted.hash[:12]), self._noted.seq) if self._noted else (None, None)
        while row := self._read_next() if self._ahead or self._moved else next(self._rows, None):
            self.count += 1
            seq, body, hash = row
            is_linked = True
            if sha256(self.hash + body).digest() == hash and seq == self.number + 1 + self._offset:
                self.number += 1
                self.hash = hash
            else:
                verdict = self._explain(row)
                if verdict is None:
                    continue
                body, is_linked = verdict
            self._body = body
            if noted and self.hash.startswith(noted) and (noted_seq is None or noted_seq == self.number):
                self._compare(self.hash.hex())
            yield self.number, body, is_linked
        self._end_run(self.number)

    def get_runs(self) -> tuple[EventRun, ...]:
        return tuple(self._runs)

    def _compare(self, hash: str) -> None:
        if self._noted and hash.startswith(self._noted.hash):
            self.noted_at = self.number

    def _read_next(self) -> EventRow | None:
        row = self._ahead.popleft() if self._ahead else next(self._rows, None)
        return self._moved.pop(row.seq, row) if row and self._moved else row

    def _peek(self) -> EventRow | None:
        if not self._ahead:
            row = next(self._rows, None)
            if row is None:
                return None
            self._ahead.append(row)
        row = self._ahead[0]
        return self._moved.get(row.seq, row)

    def _end_run(self, last: int) -> None:
        if last >= self._start:
            self._runs.append(EventRun(self._start, last))

    def _report(self, text: str, seq: int) -> None:
        self._found.add(FindingWeight.EVENT, text, seq, sort="chain")

    def _explain(self, row: EventRow) -> tuple[bytes, bool] | None:
        """What is wrong with a row. Returns the body to go on with, unless the row does not belong there at all."""
        seq, body, hash = row
        own, number = _read_seq(body), self.number + 1
        correct = chain.hash_link(self.hash, body)
        if correct == hash:
            self._report(f"Event {number:,} is at number {seq:,}: the rows were renumbered.", number)
            self._offset = seq - number
            self.number, self.hash = number, hash
            return body, True
        if self._is_duplicate(row, own):
            self._report(f"Event {own:,} is there twice, again at number {seq:,}.", own or number)
            self._skip_row()
            return None
        if own is not None and own > number and (swapped := self._is_swapped(row, own)):
            return swapped
        following = self._peek()
        at = seq - self._offset
        if own is not None and own > number and (own == at or (following and _read_seq(following.body) == own + 1)):
            self._report_missing(own, seq)
            self.hash = hash
            return body, False
        if at > number:
            self._report_missing(at, seq)
            self.hash = hash
            return body, False
        if following and chain.hash_link(self.hash, following.body) == following.hash:
            self._report(f"The row at number {seq:,} does not belong to the chain: it was inserted.", number)
            self._skip_row()
            return None
        if following and chain.hash_link(correct, following.body) == following.hash:
            self._report(f"The hash of event {number:,} was changed; the event itself is unchanged.", number)
            self.number, self.hash = number, correct
            return body, True
        self._report(_describe_change(number, own, is_last=following is None, is_first=self.number == 0), number)
        self._end_run(self.number)
        self.number, self.hash, self._start = number, hash, number + 1
        self._offset = seq - number
        return body, False

    def _skip_row(self) -> None:
        """Go on behind a row that does not belong there: the others were numbered anew, or not."""
        following = self._peek()
        if following:
            self._offset = following.seq - (_read_seq(following.body) or self.number + 1)

    def _is_duplicate(self, row: EventRow, own: int | None) -> bool:
        if own is None or not 0 < own <= self.number:
            return False
        twin = self._body if own == self.number else getattr(self._there.get_row(own + self._offset), "body", None)
        return twin == row.body

    def _is_swapped(self, row: EventRow, own: int) -> tuple[bytes, bool] | None:
        """Whether this row and the one at its own number have changed places; with their hashes, or without."""
        number = self.number + 1
        other = self._there.get_row(own + self._offset)
        if other is None or _read_seq(other.body) != number:
            return None
        link = chain.hash_link(self.hash, other.body)
        if link not in (row.hash, other.hash):
            return None
        self._report(f"Events {number:,} and {own:,} were swapped.", number)
        self._moved[other.seq] = EventRow(other.seq, row.body, row.hash if link == other.hash else other.hash)
        self.number, self.hash = number, link
        return other.body, True

    def _report_missing(self, own: int, seq: int) -> None:
        """The events up to one are not there."""
        first, last = self.number + 1, own - 1
        many = f"Event {first:,} is" if first == last else f"Events {first:,} to {last:,} are"
        self._report(f"{many} missing, so that event {own:,} itself cannot be checked.", first)
        self._end_run(self.number)
        self.number, self._start, self._offset = own, own + 1, seq - own


def _describe_change(number: int, own: int | None, *, is_last: bool, is_first: bool) -> str:
    if own is None:
        return f"Event {number:,} was changed: it cannot be parsed, and its hash does not match."
    if own != number:
        return f"Event {number:,} was changed or replaced: its hash does not match."
    if is_last:
        return f"Event {number:,}, the last one, was changed or does not belong to the chain: its hash does not match."
    rewritten = "" if is_first else ", unless those before it were rewritten"
    return f"Event {number:,} was changed: its hash does not match{rewritten}."


def _read_seq(body: bytes) -> int | None:
    try:
        number = chain.decode_body(body)["seq"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return number if type(number) is int else None


# The check

_CHUNK = 1 << 20
_UNPACKED = 1 << 34
"""Bytes to which a text may unpack: one that says more was made to fill the memory."""


def verify_journal(connection: sqlite3.Connection, *, head: str | None = None) -> VerifyReport:
    """Recompute the chain and the hash of every text.

    Args:
        connection: An open journal. It is only read, in one transaction; nobody else may use it meanwhile.
        head: A head that was noted earlier, as `NotedHead.parse` reads it.

    Raises:
        StateUnusable: It was written by a newer memtui.
        ValueError: `head` cannot be one.
    """
    noted = NotedHead.parse(head) if head is not None else None
    check = _JournalCheck(connection, noted)
    began = False
    try:
        if not connection.in_transaction:
            connection.execute("BEGIN")
            began = True
        check.run()
    except UNREADABLE as error:
        check.found.add(FindingWeight.FILE, f"The file cannot be read as a journal: {error}.")
    finally:
        if began and connection.in_transaction:
            with contextlib.suppress(*UNREADABLE):
                connection.execute("ROLLBACK")
    return check.make_report()


class _JournalCheck:
    def __init__(self, connection: sqlite3.Connection, noted: NotedHead | None) -> None:
        self._connection = connection
        self._noted = noted
        self.found = JournalFindings()
        self._remarks: list[str] = []
        self._chain = ChainWalker(EventRows(connection, self.found), self.found, noted)
        self._versions = TextCounts()
        self._words = TextCounts()
        self._since: int | None = None

    def run(self) -> None:
        version = _check_is_journal(self._connection, self.found)
        if version is None:
            return
        self._check_file()
        self._check_guards(version)
        self._check_types()
        evidence = EventEvidence()
        absent = self._check_events(evidence)
        self._check_versions(evidence, absent)
        self._check_indexes(evidence, version)
        self._compare_head()
        self._remarks += evidence.get_remarks(self._count_intents())

    def make_report(self) -> VerifyReport:
        return VerifyReport(
            seq=self._chain.number,
            hash=self._chain.hash.hex(),
            events=self._chain.count,
            runs=self._chain.get_runs(),
            versions=self._versions,
            words=self._words,
            findings=self.found.get_all(),
            remarks=tuple(self._remarks),
            since=self._since,
        )

    # The database

    def _check_file(self) -> None:
        try:
            problems = [str(row[0]) for row in self._connection.execute(f"PRAGMA quick_check({SHOWN})")]
        except UNREADABLE as error:
            problems = [str(error)]
        for problem in problems:
            if problem != "ok":
                self.found.add(FindingWeight.FILE, f"The database is damaged: {problem.strip()}.", sort="file")

    def _check_guards(self, version: int) -> None:
        expected = dict(schema.get_declared_schema())
        actual: dict[str, tuple[str, str]] = {}
        for kind, name, sql in self._connection.execute(
            "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master"
        ):
            shown = _decode_name(name)
            if not shown.startswith("sqlite_"):
                actual[shown] = _decode_name(kind), _decode_name(sql)
        if "entries" in actual:
            expected |= schema.ENTRIES
        if "hosted_memories" in actual:
            expected |= schema.HOSTED
        for name, (kind, sql) in expected.items():
            if name not in actual:
                if schema.SINCE.get(name, 1) <= version:
                    self.found.add(FindingWeight.GUARD, f"The {kind} {name} of the journal was removed.")
            elif actual[name] != (kind, sql):
                self.found.add(FindingWeight.GUARD, f"The {kind} {name} of the journal was changed.")
            elif schema.SINCE.get(name, 1) > version:
                text = f"The schema number of the journal was changed: it is {version}, and the {kind} {name} is newer."
                self.found.add(FindingWeight.GUARD, text)
        for name, (kind, _) in actual.items():
            if name not in expected:
                self.found.add(
                    FindingWeight.GUARD, f"There is a {kind} {name} in the journal that memtui did not create."
                )

    def _check_types(self) -> None:
        """A text where bytes belong looks the same to a hash, and is read in another way."""
        if FindingWeight.FILE in self.found:
            return  # its pages may lead in a circle, and a count would never end
        for table, wrong in (
            ("events", "typeof(body) != 'blob' OR typeof(hash) != 'blob'"),
            ("texts_of_events", "typeof(answer) NOT IN ('text', 'null') OR typeof(arguments) NOT IN ('text', 'null')"),
            (
                "versions",
                "typeof(sha256) != 'blob' OR typeof(size) != 'integer' OR packed NOT IN (0, 1) "
                "OR typeof(data) NOT IN ('blob', 'null')",
            ),
        ):
            with self._report_unreadable(f"the table {table}"):
                count = self._connection.execute(f"SELECT count(*) FROM {table} WHERE {wrong}").fetchone()[0]
                if count:
                    rows = "row has" if count == 1 else "rows have"
                    text = f"{count:,} {rows} a value of the wrong type in the table {table}."
                    self.found.add(FindingWeight.FILE, text)

    @contextmanager
    def _report_unreadable(self, what: str) -> Iterator[None]:
        try:
            yield
        except UNREADABLE as error:
            self.found.add(FindingWeight.FILE, f"Not all of {what} can be read: {error}.", sort="reading")

    # Events

    def _check_events(self, evidence: EventEvidence) -> list[tuple[str, int, str]]:
        """Follow the chain; return the texts of events that are not there: what it is, whose, and its hash."""
        absent: list[tuple[str, int, str]] = []
        beside = TextRows(self._connection)
        count = self._words
        for number, body, is_linked in self._chain:
            if not is_linked:
                evidence.lose_track()
            try:
                record = chain.decode_body(body)
                answer, arguments = record.get("answer"), record.get("arguments")
                if record["seq"] != number and is_linked:
                    shown = f"{record['seq']!s:.20}"
                    text = f"The event at number {number:,} has the number {shown} in it: memtui did not write it."
                    self.found.add(FindingWeight.EVENT, text, number, sort="told")
                evidence.add_event(number, record)
                if not (answer is None or isinstance(answer, str)) or not (
                    arguments is None or isinstance(arguments, str)
                ):
                    raise TypeError("a hash that is none")
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                if is_linked:
                    text = f"Event {number:,} cannot be parsed: memtui did not write it."
                    self.found.add(FindingWeight.EVENT, text, number, sort="told")
                continue
            kept_answer, kept_arguments = beside.get_texts(number)
            for name, expected, kept in (("answer", answer, kept_answer), ("arguments", arguments, kept_arguments)):
                if expected is None:
                    if kept is not None:
                        count.damaged += 1
                        there = "There is an answer" if name == "answer" else "There are arguments"
                        text = f"{there} for event {number:,} that it does not name."
                        self.found.add(FindingWeight.TEXT, text, number, sort="words")
                    continue
                count.named += 1
                if kept is None:
                    absent.append((name, number, expected))
                elif sha256(kept).hexdigest() == expected:
                    count.intact += 1
                    evidence.there.add(expected)
                else:
                    count.damaged += 1
                    verb = "was" if name == "answer" else "were"
                    text = f"The {name} of event {number:,} {verb} changed."
                    self.found.add(FindingWeight.TEXT, text, number, sort="words")
        self._check_ends(beside)
        return absent

    def _check_ends(self, beside: TextRows) -> None:
        """Whether other tables still name events behind the last one."""
        last = beside.finish()
        count = self._words
        count.unnamed = beside.unnamed
        if beside.problem:
            self.found.add(FindingWeight.FILE, f"Not all answers can be read: {beside.problem}.", sort="reading")
        if FindingWeight.FILE in self.found:
            return
        with self._report_unreadable("the table touched"):
            touched = self._connection.execute("SELECT max(seq) FROM touched").fetchone()[0]
            last = max(last, touched if isinstance(touched, int) else 0)
        number = self._chain.number
        if last > number and FindingWeight.EVENT not in self.found:
            many = f"Events {number + 1:,} to {last:,} are" if last > number + 1 else f"Event {last:,} is"
            text = f"{many} missing: the end was cut off. Other parts of the journal still refer to it."
            self.found.add(FindingWeight.EVENT, text, number + 1)

    # Versions

    def _check_versions(self, evidence: EventEvidence, absent: list[tuple[str, int, str]]) -> None:
        count = self._versions
        waiting = dict(evidence.named)
        count.named = len(waiting)
        with self._report_unreadable("the versions"):
            rows = self._connection.execute(
                "SELECT CAST(sha256 AS BLOB), size, packed, CAST(data AS BLOB) FROM versions ORDER BY sha256"
            )
            for key, size, packed, data in iter_ascending(rows):
                name = key.hex()
                if data is None:
                    count.unnamed += name not in evidence.named
                    continue
                seq = waiting.pop(name, None)
                problem = _find_problem(name, size, packed, data)
                if seq is None:
                    count.unnamed += 1
                else:
                    evidence.there.add(name)
                    count.intact += not problem
                    count.damaged += bool(problem)
                if problem:
                    of = "that no event names" if seq is None else f"of event {seq:,}"
                    self.found.add(FindingWeight.TEXT, f"The version {name[:12]} {of} {problem}.", seq, sort="damaged")
        for name, seq in waiting.items():
            if name in evidence.redacted:
                count.redacted += 1
            else:
                count.missing += 1
                text = f"The version {name!s:.12} that event {seq:,} names is missing."
                self.found.add(FindingWeight.TEXT, text, seq, sort="missing")
        for name, seq, expected in absent:
            if expected in evidence.redacted:
                self._words.redacted += 1
            else:
                self._words.missing += 1
                verb = "is" if name == "answer" else "are"
                text = f"The {name} of event {seq:,} {verb} missing."
                self.found.add(FindingWeight.TEXT, text, seq, sort="missing words")

    # What is made from the events

    def _check_indexes(self, evidence: EventEvidence, version: int) -> None:
        if FindingWeight.FILE in self.found:
            return
        with self._report_unreadable("the totals"):
            totals = self._connection.execute("SELECT files, bytes FROM totals").fetchall()
            select = "SELECT count(*), coalesce(sum(size), 0) FROM known WHERE kind = 'file'"
            if totals != self._connection.execute(select).fetchall():
                text = "The total of files and bytes is wrong. It can be rebuilt."
                self.found.add(FindingWeight.INDEX, text)
        if FindingWeight.EVENT in self.found:
            return  # it cannot agree with events that are not there
        with self._report_unreadable("the table known"):
            for difference in find_known_differences(self._connection, evidence.standing):
                self.found.add(FindingWeight.STATE, to_one_line(str(difference)), sort="known")
        with self._report_unreadable("the table touched"):
            rows = self._connection.execute("SELECT CAST(path AS BLOB), seq FROM touched")
            if _compute_digest(rows) != (evidence.touched_count, evidence.touched):
                text = "The index of events by path disagrees with the events. It can be rebuilt."
                self.found.add(FindingWeight.INDEX, text)
        self._check_noted(evidence, version)
        if version >= 2:
            with self._report_unreadable("the table taken_back"):
                rows = self._connection.execute("SELECT seq, by_seq FROM taken_back")
                if _compute_digest(rows) != (evidence.undone_count, evidence.undone):
                    text = "The index of undone events disagrees with the events. It can be rebuilt."
                    self.found.add(FindingWeight.INDEX, text)

    def _check_noted(self, evidence: EventEvidence, version: int) -> None:
        """Whether what guards memories is read from the events that say so, and from nowhere else."""
        with self._report_unreadable("the table notes"):
            if version < schema.SINCE["noting"]:
                kept = [GUARDS[name] for name in read_kept_guards(self._connection)]
                words = "is from before memtui recorded it: no event proves it."
                self._remarks += (f"{each.capitalize()} {words}" for each in kept)
                return
            for each in find_ineffective_notes(self._connection, evidence.noted).values():
                text = f"{each.capitalize()} is in the table notes, where it has no effect: memtui did not write it."
                self.found.add(FindingWeight.STATE, text)
        with self._report_unreadable("the table notes"):
            if find_imported_until(self._connection) < evidence.imported:
                text = "The number of the last imported event disagrees with the events. It can be rebuilt."
                self.found.add(FindingWeight.INDEX, text)
        with self._report_unreadable("the index noting"):
            rows = self._connection.execute(f"SELECT seq FROM events WHERE {schema.NOTING} ORDER BY seq")
            if [row[0] for row in rows] != evidence.noting:
                text = "The index of the events on protection and pins disagrees with them. It can be rebuilt."
                self.found.add(FindingWeight.STATE, text)

    def _count_intents(self) -> int:
        if FindingWeight.FILE in self.found:
            return 0
        with self._report_unreadable("the intents"):
            return int(self._connection.execute("SELECT count(*) FROM intents").fetchone()[0])
        return 0

    # A head noted earlier

    def _compare_head(self) -> None:
        if self._noted is None:
            return
        seq, found, last = self._noted.seq, self._chain.noted_at, self._chain.number
        if found is not None and seq in (None, found):
            self._since = last - found
            return
        if seq is not None and seq > last:
            end = f"the journal ends with event {last:,}: it was cut off there, or replaced by an older copy."
            text = f"The noted head is event {seq:,}, and {end}"
        elif seq is not None:
            end = "the journal was rewritten or replaced."
            text = f"Event {seq:,} does not have the noted hash: {end}"
        else:
            text = "The noted head is not in this journal: it was replaced by an older copy, or rewritten."
        self.found.add(FindingWeight.EVENT, text, seq, sort="head")


def _compute_digest(rows: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """How many rows there are, and a sum that is the same in any order."""
    count = total = 0
    for row in rows:
        count += 1
        total += hash(row)
    return count, total


def _find_problem(name: str, size: object, packed: object, data: bytes) -> str:
    if not packed and len(data) == size and sha256(data).hexdigest() == name:
        return ""
    digest, length = sha256(), 0
    try:
        for part in _iter_unpacked(data) if packed else (data,):
            digest.update(part)
            length += len(part)
    except zlib.error:
        return "cannot be unpacked"
    if digest.hexdigest() != name:
        return "was changed"
    return "" if length == size else "has another size than it says"


def _iter_unpacked(data: bytes) -> Iterator[bytes]:
    """A packed text in parts, so that one made to unpack without end fills no memory. Raises `zlib.error`."""
    unpacking, total = zlib.decompressobj(), 0
    while not unpacking.eof:
        part = unpacking.decompress(data, _CHUNK)
        data = unpacking.unconsumed_tail
        total += len(part)
        if total > _UNPACKED or (not part and not data and not unpacking.eof):
            raise zlib.error("it does not end")
        yield part
    if unpacking.unused_data:
        raise zlib.error("it continues after its end")


def _check_is_journal(connection: sqlite3.Connection, found: JournalFindings) -> int | None:
    """The version of the schema, if there is anything to be read; raises `StateUnusable` for a newer one."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == schema.APPLICATION and version > schema.VERSION:
        raise StateUnusable(schema.NEWER)
    tables = {_decode_name(row[0]) for row in connection.execute("SELECT CAST(name AS BLOB) FROM sqlite_master")}
    if not tables and not application and not version:
        found.add(FindingWeight.EVENT, "The journal is empty: it has no events, or it was emptied.")
        return None
    if application != schema.APPLICATION:
        text = "The file is not marked as a journal: it was changed, or it belongs to another program."
        found.add(FindingWeight.GUARD, text)
    if not 0 < version <= schema.VERSION:
        found.add(FindingWeight.GUARD, f"The schema number of the journal was changed: {version}.")
        version = schema.VERSION
    return int(version)


def _decode_name(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "backslashreplace")
