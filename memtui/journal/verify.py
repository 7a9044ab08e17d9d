"""Whether the record is still what was recorded.

The chain of hashes says which events stand as they were written, and each text's own hash whether it is the one
that an event names. What is found is told as certain only where it is: an event that does not match its hash was
changed, or those before it were rewritten; a chain that was recomputed from its start is found only against a head
that somebody noted down elsewhere.

Everything is read once, in order, in one consistent view, and rows are not kept: memory grows with the number of
paths and versions, not with the texts.
"""

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from memtui.core.errors import StateUnusable
from memtui.journal import schema
from memtui.journal.following import Following
from memtui.journal.report import SHOWN, Findings, NotedHead, Report, Texts, Weight
from memtui.journal.rows import UNREADABLE, EventRows, TextRows, in_order
from memtui.journal.testimony import Testimony

_CHUNK = 1 << 20
_UNPACKED = 1 << 34
"""Bytes to which a text may unpack: one that says more was made to fill the memory."""


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
        self.found = Findings()
        self._remarks: list[str] = []
        self._chain = Following(EventRows(connection, self.found), self.found, noted)
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
        told = Testimony()
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
            problems = [str(row[0]) for row in self._connection.execute(f"PRAGMA quick_check({SHOWN})")]
        except UNREADABLE as error:
            problems = [str(error)]
        for problem in problems:
            if problem != "ok":
                self.found.add(Weight.FILE, f"The database is damaged: {problem.strip()}.", sort="file")

    def _check_guards(self, version: int) -> None:
        expected, later = schema.declared()
        missing = later if version < schema.VERSION else frozenset()
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

    def _check_events(self, told: Testimony) -> list[tuple[str, int, str]]:
        """Follow the chain; return the texts of events that are not there: what it is, whose, and its hash."""
        absent: list[tuple[str, int, str]] = []
        beside = TextRows(self._connection)
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

    def _check_ends(self, beside: TextRows) -> None:
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

    def _check_versions(self, told: Testimony, absent: list[tuple[str, int, str]]) -> None:
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

    def _check_indexes(self, told: Testimony, version: int) -> None:
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


def _insist_on_journal(connection: sqlite3.Connection, found: Findings) -> int | None:
    """The version of the schema, if there is anything to be read.

    Raises:
        StateUnusable: It is a newer one.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == schema.APPLICATION and version > schema.VERSION:
        raise StateUnusable(schema.NEWER)
    tables = {_shown(row[0]) for row in connection.execute("SELECT CAST(name AS BLOB) FROM sqlite_master")}
    if not tables and not application and not version:
        found.add(Weight.EVENT, "The journal is empty: nothing was ever recorded in it, or it was emptied.")
        return None
    if application != schema.APPLICATION:
        found.add(Weight.GUARD, "The mark of a journal is not on the file: it was changed, or is another program's.")
    if not 0 < version <= schema.VERSION:
        found.add(Weight.GUARD, f"The number of the journal's schema was changed: {version}.")
        version = schema.VERSION
    return int(version)


def _shown(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "backslashreplace")
