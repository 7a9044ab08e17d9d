"""Whether the record is still what was recorded.

The chain of hashes says which events stand as they were written, and each text's own hash whether it is the one
that an event names. What is found is told as certain only where it is: an event that does not match its hash was
changed, or those before it were rewritten; a chain that was recomputed from its start is found only against a head
that somebody noted down elsewhere.

Everything is read once, in order, in one consistent view, and rows are not kept: memory grows with the number of
paths and versions, not with the texts.
"""

import contextlib
import errno
import json
import os
import re
import shutil
import sqlite3
import tempfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from typing import Any, NamedTuple

from memtui.core.errors import StateUnusable
from memtui.journal import chain
from memtui.journal import sqlite as journal

_SHOWN = 10
"""Findings of one sort that are told each by itself; the others are counted."""
_SLIP_US = 1_000_000
"""Microseconds by which a clock may run backwards before it is remarked upon."""
_HEAD = re.compile(r"(?:(\d{1,18})[ :])?\s*([0-9a-f]{12,64})", re.ASCII)
_CHUNK = 1 << 20
_UNPACKED = 1 << 34
"""Bytes to which a text may unpack: one that says more was made to fill the memory."""
_FIRST_TABLES = ("events", "texts_of_events", "versions", "touched", "known", "totals", "intents", "notes")
"""The tables that a journal of any schema has."""


UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file raises; the last where SQLite quotes it in the words of an error."""


class Weight(IntEnum):
    """How much a finding matters: the lower, the more."""

    EVENT = 1
    """An event was changed, is missing, or does not belong there."""
    TEXT = 2
    """A text was changed or is missing."""
    FILE = 3
    """The database is damaged."""
    GUARD = 4
    """What keeps events from being changed was taken away."""
    INDEX = 5
    """What is made from the events disagrees with them; it can be made again, and nothing is lost."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was recorded.

    Attributes:
        weight: How much it matters.
        text: What is wrong, as a sentence.
        seq: The number of the event that it is about, if it is about one.
    """

    weight: Weight
    text: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring events, each of which follows on the one before it.

    Attributes:
        first: The number of the first.
        last: The number of the last.
    """

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Texts:
    """What became of texts that events name by their hashes.

    Attributes:
        named: How many there are.
        intact: How many are there, and the right ones.
        damaged: How many were changed, or cannot be unpacked.
        missing: How many are not there, and nobody recorded why.
        redacted: How many are not there because they were redacted.
        unnamed: Texts besides, which no event names; a crash can leave one.
    """

    named: int = 0
    intact: int = 0
    damaged: int = 0
    missing: int = 0
    redacted: int = 0
    unnamed: int = 0

    @property
    def kept(self) -> int:
        """How many are there, right or not."""
        return self.intact + self.damaged


@dataclass(frozen=True, slots=True)
class Report:
    """What a check of the record has found.

    Attributes:
        seq: The number of the last event.
        hash: The chain's hash up to and with it, in hexadecimal.
        events: How many events were read.
        runs: Which of them follow on each other. The first run begins with event 1 and is intact; a later one only
            hangs together in itself.
        versions: The texts that paths once held.
        words: The answers and arguments of events.
        findings: What is wrong, what matters most first.
        remarks: What is odd, and no proof of anything.
        since: How many events were recorded since the noted head; `None` if none was given, or it is not there.
    """

    seq: int
    hash: str
    events: int
    runs: tuple[Run, ...]
    versions: Texts
    words: Texts
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    since: int | None = None

    @property
    def is_intact(self) -> bool:
        """Whether all is as it was recorded."""
        return not self.findings

    @property
    def intact_until(self) -> int:
        """The number of the last event before the first break; 0 if there is none."""
        return self.runs[0].last if self.runs and self.runs[0].first == 1 else 0


class NotedHead(NamedTuple):
    """A head that somebody noted down.

    Attributes:
        seq: Its number, if that was noted as well.
        hash: The beginning of its hash, in hexadecimal.
    """

    seq: int | None
    hash: str

    @classmethod
    def of(cls, text: str) -> "NotedHead":
        """Read it as it was noted: `HASH`, `SEQ HASH` or `SEQ:HASH`, the hash with 12 digits at least.

        Raises:
            ValueError: It is none of these.
        """
        match = _HEAD.fullmatch(text.strip().lower())
        if match is None:
            raise ValueError(f"{text!r} is no head: it is noted as NUMBER:HASH, with 12 digits of the hash or more")
        return cls(int(match[1]) if match[1] else None, match[2])


def verify(connection: sqlite3.Connection, *, head: str | None = None) -> Report:
    """Recompute the chain and the hash of every text.

    Args:
        connection: An open journal. It is only read, in one transaction; nobody else may use it meanwhile.
        head: A head that was noted earlier, as `NotedHead.of` reads it.

    Raises:
        StateUnusable: It was written by a newer memtui.
        ValueError: `head` cannot be one.
    """
    noted = NotedHead.of(head) if head is not None else None
    check = _Check(connection, noted)
    began = False
    try:
        if not connection.in_transaction:
            connection.execute("BEGIN")
            began = True
        check.run()
    except UNREADABLE as error:
        check.found.add(Weight.FILE, f"The file cannot be read as a journal: {error}.")
    finally:
        if began and connection.in_transaction:
            with contextlib.suppress(*UNREADABLE):
                connection.execute("ROLLBACK")
    return check.report()


class _Found:
    """Findings as they come; of many of one sort only the first are kept, and the others counted."""

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self._more: dict[tuple[Weight, str], int] = {}
        self._count: dict[tuple[Weight, str], int] = {}

    def add(self, weight: Weight, text: str, seq: int | None = None, *, sort: str = "") -> None:
        key = (weight, sort)
        self._count[key] = self._count.get(key, 0) + 1
        if self._count[key] <= _SHOWN:
            self._kept.append(Finding(weight, text, seq))
        else:
            self._more[key] = self._more.get(key, 0) + 1

    def __contains__(self, weight: Weight) -> bool:
        return any(finding.weight is weight for finding in self._kept)

    def all(self) -> tuple[Finding, ...]:
        more = [Finding(weight, f"And {count:,} more like these.") for (weight, _), count in self._more.items()]
        return tuple(sorted([*self._kept, *more], key=lambda finding: finding.weight))


class _Row(NamedTuple):
    seq: int
    body: bytes
    hash: bytes


@dataclass(slots=True)
class _Counts:
    """`Texts` while they are counted."""

    named: int = 0
    intact: int = 0
    damaged: int = 0
    missing: int = 0
    redacted: int = 0
    unnamed: int = 0

    def texts(self) -> Texts:
        return Texts(self.named, self.intact, self.damaged, self.missing, self.redacted, self.unnamed)


class _Check:
    """One check, while it lasts."""

    def __init__(self, connection: sqlite3.Connection, noted: NotedHead | None) -> None:
        self._connection = connection
        self._noted = noted
        self.found = _Found()
        self._remarks: list[str] = []
        self._chain = _Chain(self._events(), self._event, self.found, noted)
        self._versions = _Counts()
        self._words = _Counts()
        self._since: int | None = None

    def run(self) -> None:
        version = _insist_on_journal(self._connection, self.found)
        if version is None:
            return
        self._check_file()
        self._check_guards(version)
        self._check_types()
        told = _Told()
        absent = self._check_events(told)
        self._check_versions(told, absent)
        self._check_indexes(told, version)
        self._compare_head()
        self._remarks += told.remarks(self._intents())

    def report(self) -> Report:
        return Report(
            seq=self._chain.number,
            hash=self._chain.hash.hex(),
            events=self._chain.count,
            runs=self._chain.runs(),
            versions=self._versions.texts(),
            words=self._words.texts(),
            findings=self.found.all(),
            remarks=tuple(self._remarks),
            since=self._since,
        )

    # The database

    def _check_file(self) -> None:
        try:
            problems = [str(row[0]) for row in self._connection.execute(f"PRAGMA quick_check({_SHOWN})")]
        except UNREADABLE as error:
            problems = [str(error)]
        for problem in problems:
            if problem != "ok":
                self.found.add(Weight.FILE, f"The database is damaged: {problem.strip()}.", sort="file")

    def _check_guards(self, version: int) -> None:
        expected, later = _schema()
        missing = later if version < journal._VERSION else frozenset()
        actual: dict[str, tuple[str, str]] = {}
        for kind, name, sql in self._connection.execute(
            "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master"
        ):
            shown = _shown(name)
            if not shown.startswith("sqlite_"):
                actual[shown] = _shown(kind), _shown(sql)
        for name, (kind, sql) in expected.items():
            if name not in actual:
                if name not in missing:
                    self.found.add(Weight.GUARD, f"The {kind} {name} of the journal was removed.")
            elif actual[name] != (kind, sql):
                self.found.add(Weight.GUARD, f"The {kind} {name} of the journal was changed.")
        for name, (kind, _) in actual.items():
            if name not in expected:
                self.found.add(Weight.GUARD, f"There is a {kind} {name} in the journal that is not memtui's.")

    def _check_types(self) -> None:
        """A text where bytes belong looks the same to a hash, and is read in another way."""
        if Weight.FILE in self.found:
            return  # its pages may lead in a circle, and a count would never end
        for table, wrong in (
            ("events", "typeof(body) != 'blob' OR typeof(hash) != 'blob'"),
            (
                "texts_of_events",
                "typeof(answer) NOT IN ('text', 'null') OR typeof(arguments) NOT IN ('text', 'null')",
            ),
            (
                "versions",
                "typeof(sha256) != 'blob' OR typeof(size) != 'integer' OR packed NOT IN (0, 1) "
                "OR typeof(data) NOT IN ('blob', 'null')",
            ),
        ):
            with self._reading(f"the table {table}"):
                count = self._connection.execute(f"SELECT count(*) FROM {table} WHERE {wrong}").fetchone()[0]
                if count:
                    rows = "row holds" if count == 1 else "rows hold"
                    self.found.add(Weight.FILE, f"{count:,} {rows} something of another kind in the table {table}.")

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        try:
            yield
        except UNREADABLE as error:
            self.found.add(Weight.FILE, f"Of {what} not all can be read: {error}.", sort="reading")

    # Events

    def _events(self) -> Iterator[_Row]:
        """The rows in order; where the file is damaged, those behind it that can be read."""
        after = 0
        while True:
            try:
                for row in self._rows_after(after):
                    after = row[0]
                    yield row
                return
            except UNREADABLE as error:
                behind = self._readable_behind(after)
                start = f"Events can be read up to number {after:,}" if after else "The first events cannot be read"
                rest = "none behind it" if behind is None else f"and again from number {behind:,}"
                self.found.add(Weight.FILE, f"{start}, {rest}: {error}.", sort="reading")
                if behind is None:
                    return
                after = behind - 1

    def _rows_after(self, after: int) -> Iterator[_Row]:
        """The rows behind a number; without limit to what may be negative: such a number is none of ours."""
        where = f"WHERE seq > {after}" if after else ""
        rows = self._connection.execute(
            f"SELECT seq, CAST(body AS BLOB), CAST(hash AS BLOB) FROM events {where} ORDER BY seq"
        )
        for seq, body, hash in in_order(rows, after=after if where else None):
            yield _Row(seq, body or b"", hash or b"")

    def _readable_behind(self, after: int) -> int | None:
        """The number of the first event that can be read again, as far as halving finds it."""

        def first(number: int) -> int | None:
            try:
                return next((row.seq for row in self._rows_after(number)), None)
            except UNREADABLE:
                return None

        low, step = after, 1
        while first(low + step) is None:
            step *= 2
            if step > 1 << 40:
                return None
        high = low + step
        low += step // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if first(middle) is not None else (middle, high)
        return first(high)

    def _event(self, seq: int) -> _Row | None:
        try:
            return next((row for row in self._rows_after(seq - 1) if row.seq == seq), None)
        except UNREADABLE:
            return None

    def _check_events(self, told: "_Told") -> list[tuple[str, int, str]]:
        """Follow the chain; return the texts of events that are not there: what it is, whose, and its hash."""
        absent: list[tuple[str, int, str]] = []
        beside = _Beside(self._connection)
        count = self._words
        for number, body, is_linked in self._chain:
            if not is_linked:
                told.lose_track()
            try:
                record = json.loads(body)
                words = record.get("answer"), record.get("arguments")
                if record["seq"] != number and is_linked:
                    shown = f"{record['seq']!s:.20}"
                    text = f"The event at number {number:,} calls itself number {shown}: memtui did not write it."
                    self.found.add(Weight.EVENT, text, number, sort="told")
                told.learn(number, record)
                if not all(each is None or isinstance(each, str) for each in words):
                    raise TypeError("a hash that is none")
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                if is_linked:
                    text = f"Event {number:,} cannot be understood: memtui did not write it."
                    self.found.add(Weight.EVENT, text, number, sort="told")
                continue
            for name, expected, text_kept in zip(("answer", "arguments"), words, beside.of(number), strict=True):
                if expected is None:
                    if text_kept is not None:
                        count.damaged += 1
                        stand = "stands an answer" if name == "answer" else "stand arguments"
                        text = f"Beside event {number:,} {stand} that it does not name."
                        self.found.add(Weight.TEXT, text, number, sort="words")
                    continue
                count.named += 1
                if text_kept is None:
                    absent.append((name, number, expected))
                elif sha256(text_kept).hexdigest() == expected:
                    count.intact += 1
                    told.see(expected)
                else:
                    count.damaged += 1
                    verb = "was" if name == "answer" else "were"
                    text = f"The {name} of event {number:,} {verb} changed."
                    self.found.add(Weight.TEXT, text, number, sort="words")
        self._check_ends(beside)
        return absent

    def _check_ends(self, beside: "_Beside") -> None:
        """Whether other tables still name events behind the last one."""
        last = beside.finish()
        count = self._words
        count.unnamed = beside.unnamed
        if beside.problem:
            self.found.add(Weight.FILE, f"Of the answers not all can be read: {beside.problem}.", sort="reading")
        if Weight.FILE in self.found:
            return
        with self._reading("the table touched"):
            touched = self._connection.execute("SELECT max(seq) FROM touched").fetchone()[0]
            last = max(last, touched if isinstance(touched, int) else 0)
        number = self._chain.number
        if last > number and Weight.EVENT not in self.found:
            many = f"Events {number + 1:,} to {last:,} are" if last > number + 1 else f"Event {last:,} is"
            text = f"{many} missing: the end was cut off. Other parts of the journal still name what was there."
            self.found.add(Weight.EVENT, text, number + 1)

    # Versions

    def _check_versions(self, told: "_Told", absent: list[tuple[str, int, str]]) -> None:
        count = self._versions
        waiting = dict(told.named)
        count.named = len(waiting)
        with self._reading("the versions"):
            rows = self._connection.execute(
                "SELECT CAST(sha256 AS BLOB), size, packed, CAST(data AS BLOB) FROM versions ORDER BY sha256"
            )
            for key, size, packed, data in in_order(rows):
                name = key.hex()
                if data is None:
                    count.unnamed += name not in told.named
                    continue
                seq = waiting.pop(name, None)
                problem = _problem_of(name, size, packed, data)
                if seq is None:
                    count.unnamed += 1
                else:
                    told.see(name)
                    count.intact += not problem
                    count.damaged += bool(problem)
                if problem:
                    of = "that no event names" if seq is None else f"of event {seq:,}"
                    self.found.add(Weight.TEXT, f"The version {name[:12]} {of} {problem}.", seq, sort="damaged")
        for name, seq in waiting.items():
            if name in told.redacted:
                count.redacted += 1
            else:
                count.missing += 1
                text = f"The version {name!s:.12} that event {seq:,} names is missing."
                self.found.add(Weight.TEXT, text, seq, sort="missing")
        for name, seq, expected in absent:
            if expected in told.redacted:
                self._words.redacted += 1
            else:
                self._words.missing += 1
                verb = "is" if name == "answer" else "are"
                text = f"The {name} of event {seq:,} {verb} missing."
                self.found.add(Weight.TEXT, text, seq, sort="missing words")

    # What is made from the events

    def _check_indexes(self, told: "_Told", version: int) -> None:
        if Weight.FILE in self.found:
            return
        with self._reading("the totals"):
            totals = self._connection.execute("SELECT files, bytes FROM totals").fetchall()
            known = self._connection.execute(
                "SELECT count(*), coalesce(sum(size), 0) FROM known WHERE kind = 'file'"
            ).fetchall()
            if totals != known:
                text = "The number of files and bytes is not that of what is known. It can be made again."
                self.found.add(Weight.INDEX, text)
        if Weight.EVENT in self.found:
            return  # it cannot agree with events that are not there
        with self._reading("the table touched"):
            rows = self._connection.execute("SELECT CAST(path AS BLOB), seq FROM touched")
            if _digest(rows) != (told.touched_count, told.touched):
                text = "The index of which event touched which path disagrees with the events. It can be made again."
                self.found.add(Weight.INDEX, text)
        if version >= 2:
            with self._reading("the table taken_back"):
                rows = self._connection.execute("SELECT seq, by_seq FROM taken_back")
                if _digest(rows) != (told.taken_back_count, told.taken_back):
                    text = "The index of what was taken back disagrees with the events. It can be made again."
                    self.found.add(Weight.INDEX, text)

    def _intents(self) -> int:
        if Weight.FILE in self.found:
            return 0
        with self._reading("the intents"):
            count = self._connection.execute("SELECT count(*) FROM intents").fetchone()[0]
            return int(count)
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
            text = (
                f"The noted head is event {seq:,}, and the journal ends with event {last:,}: it was cut off there, or "
                "replaced by an older copy."
            )
        elif seq is not None:
            text = (
                f"Event {seq:,} has not the hash that was noted: the journal was rewritten, or replaced by another one."
            )
        else:
            text = "The noted head is not in this journal: it was replaced by an older copy, or rewritten."
        self.found.add(Weight.EVENT, text, seq, sort="head")


class _Chain:
    """Follows the chain row by row, and says what is wrong where it does not go on."""

    def __init__(
        self,
        rows: Iterator[_Row],
        lookup: Callable[[int], _Row | None],
        found: _Found,
        noted: NotedHead | None,
    ) -> None:
        self.number = 0
        self.hash = chain.START
        self.count = 0
        self.offset = 0
        """How far the rows' numbers are from the events' own, since rows were put in or taken out."""
        self.noted_at: int | None = None
        self._rows = rows
        self._ahead: deque[_Row] = deque()
        self._lookup = lookup
        self._found = found
        self._noted = noted
        self._body = b""
        self._moved: dict[int, _Row] = {}
        self._runs: list[Run] = []
        self._start = 1
        if noted and (noted.seq or 0) == 0 and chain.START.hex().startswith(noted.hash):
            self.noted_at = 0

    def __iter__(self) -> Iterator[tuple[int, bytes, bool]]:
        """Each event's number and body, and whether it follows on the one before."""
        noted, noted_seq = (bytes.fromhex(self._noted.hash[:12]), self._noted.seq) if self._noted else (None, None)
        while row := self._next():
            self.count += 1
            seq, body, hash = row
            is_linked = True
            if sha256(self.hash + body).digest() == hash and seq == self.number + 1 + self.offset:
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

    def runs(self) -> tuple[Run, ...]:
        """The events that follow on each other."""
        return tuple(self._runs)

    def _compare(self, hash: str) -> None:
        if self._noted and hash.startswith(self._noted.hash):
            self.noted_at = self.number

    def _next(self) -> _Row | None:
        row = self._ahead.popleft() if self._ahead else next(self._rows, None)
        return self._moved.pop(row.seq, row) if row and self._moved else row

    def _peek(self) -> _Row | None:
        if not self._ahead:
            row = next(self._rows, None)
            if row is None:
                return None
            self._ahead.append(row)
        row = self._ahead[0]
        return self._moved.get(row.seq, row)

    def _end_run(self, last: int) -> None:
        if last >= self._start:
            self._runs.append(Run(self._start, last))

    def _say(self, text: str, seq: int) -> None:
        self._found.add(Weight.EVENT, text, seq, sort="chain")

    def _explain(self, row: _Row) -> tuple[bytes, bool] | None:
        """What is wrong with a row. Returns the body to go on with, unless the row does not belong there at all."""
        seq, body, hash = row
        own, number = _number_in(body), self.number + 1
        correct = chain.link(self.hash, body)
        if correct == hash:
            self._say(f"Event {number:,} stands at number {seq:,}: the rows were numbered anew.", number)
            self.offset = seq - number
            self.number, self.hash = number, hash
            return body, True
        if self._stands_twice(row, own):
            self._say(f"Event {own:,} stands there twice, again at number {seq:,}.", own or number)
            self._skip()
            return None
        if own is not None and own > number and (swapped := self._swapped(row, own)):
            return swapped
        following = self._peek()
        at = seq - self.offset
        if own is not None and own > number and (own == at or (following and _number_in(following.body) == own + 1)):
            self._miss(own, seq)
            self.hash = hash
            return body, False
        if at > number:
            self._miss(at, seq)
            self.hash = hash
            return body, False
        if following and chain.link(self.hash, following.body) == following.hash:
            self._say(f"The row at number {seq:,} does not belong to the chain: it was put in.", number)
            self._skip()
            return None
        if following and chain.link(correct, following.body) == following.hash:
            self._say(f"The hash of event {number:,} was changed; the event itself is as it was.", number)
            self.number, self.hash = number, correct
            return body, True
        self._say(_changed(number, own, is_last=following is None, is_first=self.number == 0), number)
        self._end_run(self.number)
        self.number, self.hash, self._start = number, hash, number + 1
        self.offset = seq - number
        return body, False

    def _skip(self) -> None:
        """Go on behind a row that does not belong there: the others were numbered anew, or not."""
        following = self._peek()
        if following:
            self.offset = following.seq - (_number_in(following.body) or self.number + 1)

    def _stands_twice(self, row: _Row, own: int | None) -> bool:
        if own is None or not 0 < own <= self.number:
            return False
        twin = self._body if own == self.number else getattr(self._lookup(own + self.offset), "body", None)
        return twin == row.body

    def _swapped(self, row: _Row, own: int) -> tuple[bytes, bool] | None:
        """Whether this row and the one at its own number have changed places; with their hashes, or without."""
        number = self.number + 1
        other = self._lookup(own + self.offset)
        if other is None or _number_in(other.body) != number:
            return None
        link = chain.link(self.hash, other.body)
        if link not in (row.hash, other.hash):
            return None
        self._say(f"Events {number:,} and {own:,} have changed places.", number)
        self._moved[other.seq] = _Row(other.seq, row.body, row.hash if link == other.hash else other.hash)
        self.number, self.hash = number, link
        return other.body, True

    def _miss(self, own: int, seq: int) -> None:
        """The events up to one are not there."""
        first, last = self.number + 1, own - 1
        many = f"Event {first:,} is" if first == last else f"Events {first:,} to {last:,} are"
        self._say(f"{many} missing, so that event {own:,} itself cannot be checked.", first)
        self._end_run(self.number)
        self.number, self._start, self.offset = own, own + 1, seq - own


def _changed(number: int, own: int | None, *, is_last: bool, is_first: bool) -> str:
    if own is None:
        return f"Event {number:,} was changed: it cannot be understood any more, and its hash does not match."
    if own != number:
        return f"Event {number:,} was changed, or another put in its place: its hash does not match."
    if is_last:
        return f"Event {number:,}, the last one, was changed or does not belong to the chain: its hash does not match."
    rewritten = "" if is_first else ", unless those before it were rewritten"
    return f"Event {number:,} was changed: its hash does not match{rewritten}."


class _Told:
    """What the events say: which texts there are, what was redacted, and what stands where."""

    def __init__(self) -> None:
        self.named: dict[str, int] = {}
        self.redacted: set[str] = set()
        self.touched = self.touched_count = 0
        self.taken_back = self.taken_back_count = 0
        self._standing: dict[str, Any] = {}
        self._is_certain = True
        self._at_us: int | None = None
        self._slips = 0
        self._first_slip = 0
        self._jumps: list[tuple[int, str]] = []
        self._jump_count = 0
        self._there: set[str] = set()

    def learn(self, seq: int, record: dict[str, Any]) -> None:
        """Take in an event."""
        is_recovered = record.get("note", "") in _AFTER_A_CRASH
        at_us = record["at_us"]
        if not is_recovered:
            if self._at_us is not None and at_us < self._at_us - _SLIP_US:
                self._slips += 1
                self._first_slip = self._first_slip or seq
            self._at_us = at_us
        viewed = record.get("viewed")
        if viewed is not None and viewed[1] is not None:
            self.named.setdefault(viewed[1], seq)
        if "redacted" in record:
            self.redacted.update(record["redacted"])
        changes = record.get("changes", ())
        if "undoes" in record and (changes or not record.get("is_error", False)):
            for each in record["undoes"]:
                self.taken_back += hash((each, seq))
                self.taken_back_count += 1
        if changes:
            self._follow(seq, record, changes, is_recovered=is_recovered)

    def _follow(self, seq: int, record: dict[str, Any], changes: list[Any], *, is_recovered: bool) -> None:
        named, standing = self.named, self._standing
        loose = is_recovered  # it may begin from a text that the crash kept from being recorded
        after_all: dict[str, Any] = {}
        for path, before, after in changes:
            if before is not None and before[1] is not None:
                named.setdefault(before[1], seq)
            if after is not None and after[1] is not None:
                named.setdefault(after[1], seq)
            was = standing.get(path, None if self._is_certain else _ANYTHING)
            if was != before and not loose and not _may_follow(was, before) and path not in after_all:
                # Of what a move from outside went over, and of what gave way to a directory, nobody was told before.
                is_making = after is not None and after[0] == "directory"
                if before is not None or not (is_making or record["command"] == "renamed"):
                    self._jump_count += 1
                    if len(self._jumps) < _SHOWN:
                        self._jumps.append((seq, path))
            if after is not None or path not in after_all:
                after_all[path] = after
        for path in after_all:
            self.touched += hash((path.encode("utf-8", "surrogateescape"), seq))
        self.touched_count += len(after_all)
        if record.get("is_error"):
            after_all = dict.fromkeys(after_all, _ANYTHING)  # nobody knows whether it came to pass
        standing.update(after_all)

    def lose_track(self) -> None:
        """What stands where is not known any more: events are missing, or were changed."""
        self._standing.clear()
        self._is_certain = False

    def see(self, name: str) -> None:
        """A text is there."""
        self._there.add(name)

    def remarks(self, intents: int) -> list[str]:
        """What is odd about the events, and proves nothing."""
        said = []
        if self._jumps:
            seq, path = self._jumps[0]
            more = f", and {self._jump_count - 1:,} more like it" if self._jump_count > 1 else ""
            said.append(
                f"Event {seq:,} begins with something else at {path or '/memories'} than the events before it left "
                f"there{more}."
            )
        if self._slips:
            times = "once" if self._slips == 1 else f"{self._slips:,} times"
            said.append(f"The clock runs backwards {times}, first at event {self._first_slip:,}.")
        there = len(self.redacted & self._there)
        if there:
            texts = "text that was redacted is" if there == 1 else "texts that were redacted are"
            said.append(f"{there:,} {texts} there: recorded again, or not removed.")
        if intents:
            commands = "command was" if intents == 1 else "commands were"
            said.append(f"{intents:,} {commands} begun and not finished: under way now, or ended by a crash.")
        return said


_ANYTHING: Any = object()
_AFTER_A_CRASH = ("recovered after a crash", "aborted by a crash: not done")


def _may_follow(was: Any, before: Any) -> bool:
    """Whether an event may begin with this version where another one was left: texts that could not be read differ."""
    if was is _ANYTHING:
        return True
    if was is None or before is None or was[0] != before[0] or was[0] not in ("file", "link"):
        return False
    return was[1] is None or before[1] is None


class _Beside:
    """The answers and arguments that are kept beside events, read in step with them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._select = "SELECT seq, CAST(answer AS BLOB), CAST(arguments AS BLOB) FROM texts_of_events"
        self.problem = ""
        self.unnamed = 0
        self._next: tuple[Any, ...] | None = None
        self._last = 0
        try:
            self._rows = in_order(connection.execute(f"{self._select} ORDER BY seq"))
            self._advance()
        except UNREADABLE as error:
            self._rows = iter(())
            self.problem = str(error)

    def of(self, seq: int) -> tuple[bytes | None, bytes | None]:
        """The answer and the arguments of an event."""
        if self.problem or seq <= self._last:
            return self._asked_for(seq)
        while self._next is not None and self._next[0] < seq:
            self.unnamed += 1
            self._advance()
        self._last = seq
        if self._next is None or self._next[0] != seq:
            return self._asked_for(seq) if self.problem else (None, None)
        found = self._next[1], self._next[2]
        self._advance()
        return found

    def finish(self) -> int:
        """The largest number that a text stands beside; what was not asked for belongs to no event."""
        largest = self._last if self._next is None else 0
        while self._next is not None:
            largest = self._next[0]
            self.unnamed += 1
            self._advance()
        return int(largest)

    def _advance(self) -> None:
        try:
            self._next = next(self._rows, None)
        except UNREADABLE as error:
            self.problem = str(error)
            self._next = None

    def _asked_for(self, seq: int) -> tuple[bytes | None, bytes | None]:
        try:
            row = self._connection.execute(f"{self._select} WHERE seq = ?", (seq,)).fetchone()
        except UNREADABLE as error:
            self.problem = str(error)
            return None, None
        return (row[1], row[2]) if row else (None, None)


def in_order(rows: Iterable[tuple[Any, ...]], *, after: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Rows whose first value grows. The pages of a damaged file may lead in a circle, and its rows would never end.

    Args:
        rows: Of one table, in the order of its key.
        after: What the first key has to be larger than.

    Raises:
        sqlite3.DatabaseError: It does not grow.
    """
    last: Any = after
    for row in rows:
        key = row[0]
        if key is None or (last is not None and not key > last):
            raise sqlite3.DatabaseError("its rows are out of order")
        last = key
        yield row


def _number_in(body: bytes) -> int | None:
    """The number that an event gives itself."""
    try:
        number = json.loads(body)["seq"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return number if type(number) is int else None


def _digest(rows: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """How many rows there are, and a sum that is the same in any order."""
    count = total = 0
    for row in rows:
        count += 1
        total += hash(row)
    return count, total


def _problem_of(name: str, size: object, packed: object, data: bytes) -> str:
    """What is wrong with a version; empty if nothing is."""
    digest, length = sha256(), 0
    try:
        for part in _unpacked(data) if packed else (data,):
            digest.update(part)
            length += len(part)
    except zlib.error:
        return "cannot be unpacked"
    if digest.hexdigest() != name:
        return "was changed"
    return "" if length == size else "has another size than it says"


def _unpacked(data: bytes) -> Iterator[bytes]:
    """A packed text in parts, so that one made to unpack without end fills no memory.

    Raises:
        zlib.error: It is damaged.
    """
    unpacking, total = zlib.decompressobj(), 0
    while not unpacking.eof:
        part = unpacking.decompress(data, _CHUNK)
        data = unpacking.unconsumed_tail
        total += len(part)
        if total > _UNPACKED or (not part and not data and not unpacking.eof):
            raise zlib.error("it has no end")
        yield part
    if unpacking.unused_data:
        raise zlib.error("it goes on behind its end")


def _insist_on_journal(connection: sqlite3.Connection, found: _Found) -> int | None:
    """The version of the schema, if there is anything to be read.

    Raises:
        StateUnusable: It is a newer one.
    """
    problem = schema_problem(connection)
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == journal._APPLICATION and version > journal._VERSION:
        raise StateUnusable(problem)
    tables = {_shown(row[0]) for row in connection.execute("SELECT CAST(name AS BLOB) FROM sqlite_master")}
    if not tables and not application and not version:
        found.add(Weight.EVENT, "The journal is empty: nothing was ever recorded in it, or it was emptied.")
        return None
    if application != journal._APPLICATION:
        found.add(Weight.GUARD, "The mark of a journal is not on the file: it was changed, or is another program's.")
    if not 0 < version <= journal._VERSION:
        found.add(Weight.GUARD, f"The number of the journal's schema was changed: {version}.")
        version = journal._VERSION
    return int(version)


def schema_problem(connection: sqlite3.Connection) -> str:
    """Why a database cannot be read as a journal, as a sentence; empty if it can.

    Raises:
        sqlite3.Error: It is no database.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == journal._APPLICATION:
        newer = version > journal._VERSION
        return "The journal was written by a newer memtui. Update memtui to use it." if newer else ""
    if application or version or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return "The journal's file is a database of another program. Choose another one with --state."
    return "The journal is empty: nothing was ever recorded in it."


def _schema() -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
    """What a journal is made of, by name: its kind and how it is declared; and the names that older ones lack."""
    with contextlib.closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(journal._SCHEMA)
        rows = fresh.execute("SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        made = {name: (kind, sql) for name, kind, sql in rows}
    later = frozenset(name for name, (kind, _) in made.items() if kind == "table" and name not in _FIRST_TABLES)
    return made, later


def _shown(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "backslashreplace")


# Opening


@dataclass(frozen=True, slots=True)
class Reading:
    """A journal that is open for reading, and left as it is.

    Attributes:
        connection: The database.
        is_steady: Asks whether what was read until now was one state: without locks somebody may have written.
    """

    connection: sqlite3.Connection
    is_steady: Callable[[], bool] = field(default=lambda: True)


@contextmanager
def reading(path: str, *, locking: bool = False) -> Iterator[Reading]:
    """Open a journal for reading, without copying it into memory. None of its files is changed.

    Where nobody has it open it is read without locks, since SQLite would make files beside it; `is_steady` says
    afterwards whether that went well. Until the end nobody else in this process can open or close a journal.

    Args:
        path: The database file.
        locking: Whether to take locks in any case, which needs a directory that can be written to: nothing that
            happens meanwhile is seen, and what SQLite makes beside the file is gone again at the end.

    Raises:
        FileNotFoundError, OSError, sqlite3.Error: It is not there, or cannot be opened.
    """
    if not os.access(path, os.R_OK):
        os.stat(path)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    with journal._OPENING, contextlib.ExitStack() as stack:
        for look in range(journal._LOOKS):
            seen = _signature(path)
            try:
                connection, is_locked = _opened(path, seen, stack, locking=locking)
                connection.execute("PRAGMA query_only = ON")
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("BEGIN")
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
                break
            except (sqlite3.OperationalError, FileNotFoundError) as error:
                # Opened or closed by somebody at this moment; a damaged file is another error, and told by the check.
                if "malformed" in str(error) or look == journal._LOOKS - 1 or _signature(path) == seen:
                    raise
                stack.close()
            except UNREADABLE:
                break
        yield Reading(connection, lambda: is_locked or _signature(path) == seen)


def _opened(
    path: str, seen: "_Signature", stack: contextlib.ExitStack, *, locking: bool
) -> tuple[sqlite3.Connection, bool]:
    """Connect in the way that changes nothing, and say whether locks are held from then on."""
    address, is_locked = journal._address(path), True
    if seen.has_wal and seen.has_shm:
        address += "&readonly_shm=1"
    elif locking and not seen.has_wal:
        address = address.replace("?mode=ro", "?mode=rw")
    elif seen.has_wal or seen.has_journal:
        # Its process died: SQLite would mend it where it lies. Nobody has it open.
        aside = stack.enter_context(tempfile.TemporaryDirectory(prefix="memtui-"))
        for end, is_there in (("", True), ("-wal", seen.has_wal), ("-journal", seen.has_journal)):
            if is_there:
                shutil.copyfile(path + end, os.path.join(aside, "journal.db" + end))
        address = journal._address(os.path.join(aside, "journal.db")).replace("?mode=ro", "?mode=rw")
        is_locked = False
    else:
        address += "&immutable=1"
        is_locked = False
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False, timeout=journal._BUSY_MS / 1000
    )
    stack.callback(connection.close)
    return connection, is_locked


class _Signature(NamedTuple):
    """What tells one state of the files from another, without opening them."""

    identity: tuple[int, int, int, int]
    has_wal: bool
    has_shm: bool
    has_journal: bool


def _signature(path: str) -> _Signature:
    seen = os.stat(path)
    identity = seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns
    return _Signature(identity, *(os.path.exists(path + end) for end in ("-wal", "-shm", "-journal")))
