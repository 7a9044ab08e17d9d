"""A server that was set back, as by a dump from an earlier moment, while this machine's copy has read more.

What only the copy has is shown before anything is done. Then it is kept beside, as a SQLite file with memories and
journal, and the copy takes over what the server has; notes can be put back from that file as new changes.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from memtui.core.errors import LockTimeout, StateUnusable
from memtui.core.events import Change, EntryKind, Event, Person, Version, squash_changes
from memtui.core.paths import SQLITE, format_path
from memtui.core.settings import Settings
from memtui.fs.state import COPY, get_state_directory
from memtui.journal import chain
from memtui.journal.rows import OPENING
from memtui.journal.sqlite import Journal
from memtui.postgres.dsn import parse_address
from memtui.postgres.journal import ServerJournal, Turn
from memtui.postgres.place import connect
from memtui.postgres.server import Diverged, Server
from memtui.store.sqlite import LOCK

_SHOWN = 10
"""Events that only the copy has, of which more than their number is said."""


class NothingToAccept(StateUnusable):
    """The server goes on from what this machine has read there."""


class DifferingNote(NamedTuple):
    """A note that is not the same in the copy and on the server.

    Attributes:
        path: Relative to the folder.
        base: What both had at their last common event; `None` for nothing, as below.
        here: What the copy has.
        there: What the server has.
    """

    path: str
    base: Version | None
    here: Version | None
    there: Version | None

    @property
    def can_be_put_back(self) -> bool:
        """Whether the copy has a text that nothing on the server stands against."""
        is_text = self.here is not None and self.here.kind is EntryKind.FILE and self.here.sha256 is not None
        return is_text and self.there == self.base

    def describe(self) -> str:
        """In which way it differs, in words."""
        if self.here == self.base:
            return "changed on the server"
        if self.there != self.base:
            return "changed on both sides"
        return "only here" if self.base is None else "deleted here" if self.here is None else "changed here"


class Divergence(NamedTuple):
    """What only this machine's copy has.

    Attributes:
        common: The number of the last event that both have; 0 for none.
        head: The number of the copy's last event.
        first: The first events that only the copy has.
        redactions: How many of the others redacted something: its texts are on the server again.
        there: How many other events the server has behind the common one.
        notes: What differs, in the order of paths.
    """

    common: int
    head: int
    first: list[Event]
    redactions: int
    there: int
    notes: list[DifferingNote]


class DivergedCopy:
    """This machine's copy of a server that was set back; until `accept`, nobody else on this machine adds to it.

    Args:
        place: The address.
        state: The directory of the copy; by default its own.
        settings: How long others are waited for.

    Raises:
        LockTimeout: Another program of this machine is at it for too long.
        StateUnusable: There is no copy, or the server cannot be asked.
        NothingToAccept: It goes on from the copy.
    """

    def __init__(self, place: str, state: str | os.PathLike[str] | None, settings: Settings) -> None:
        self._place, self._state, self._settings = place, state, settings
        self._address = parse_address(place)
        self._directory = get_state_directory(place, state)
        self._path = str(self._directory / COPY)
        if not os.path.exists(self._path):
            raise StateUnusable("This machine has no copy of this store: it takes over what the server has.")
        turn = Turn(self._path, settings.lock_seconds, lambda: None)
        with contextlib.ExitStack() as stack:
            stack.callback(turn.close)
            stack.enter_context(turn)
            self.divergence = self._compare()
            self._turn = stack.pop_all()

    def __enter__(self) -> "DivergedCopy":
        return self

    def __exit__(self, *_: object) -> None:
        self._turn.close()

    def accept(self) -> str:
        """Keep the copy beside, and have it take over what the server has; returns the path of the file that is kept.

        Raises:
            LockTimeout: Another program has the copy open.
            StateUnusable: The server cannot be asked. The copy is as it was.
            OSError: A file cannot be written.
        """
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        new, kept = (str(self._directory / f"{name}-{moment}.db") for name in ("new-copy", "kept-copy"))
        try:
            journal = ServerJournal(new, Server(self._address, seconds=self._settings.lock_seconds), self._settings)
            with contextlib.closing(journal):
                journal.catch_up()
            _replace_contents(self._path, kept, new)
        finally:
            for end in ("", "-wal", "-shm", LOCK):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(new + end)
        self._turn.close()
        return kept

    def put_back(self, kept: str) -> Iterator[tuple[DifferingNote, str]]:
        """Write the notes that only the kept file has, each as a new change of the person's; once `accept` is done.

        Yields:
            Each, and why it was not written; nothing for one that was.
        """
        source = f"from {os.path.basename(kept)}"
        with (
            contextlib.closing(Journal(kept, has_entries=True)) as known,
            connect(self._place, state=self._state, settings=self._settings) as engine,
        ):
            for note in self.divergence.notes:
                if not note.can_be_put_back or note.here is None or note.here.sha256 is None:
                    continue
                text = known.get_text(note.here.sha256)
                if text is None:
                    yield note, "Its text was redacted."
                    continue
                done = engine.files.carry(
                    {note.path: note.here},
                    expected={note.path: note.there},
                    texts={note.here.sha256: text},
                    command="restore",
                    note=source,
                    call_id=None,
                    actor=Person(),
                )
                yield note, done.problem

    def _compare(self) -> Divergence:
        with (
            contextlib.closing(Server(self._address, seconds=self._settings.lock_seconds)) as server,
            contextlib.closing(Journal(self._path, has_entries=True)) as known,
        ):
            head = known.get_head()[0]
            if _has_event(server, known, head):
                shown = format_path(self._place)
                raise NothingToAccept(f"{shown} goes on from event {head:,}, which this machine's copy ends with.")
            common, beyond = 0, head
            while beyond - common > 1:
                middle = (common + beyond) // 2
                common, beyond = (middle, beyond) if _has_event(server, known, middle) else (common, middle)
            ours, theirs = _Tally(), _Tally()
            here = ours.squash(_iter_events(known, common))
            there = theirs.squash(_iter_server_events(server, common, _get_hash(known, common)))
            first = known.get_events(common, limit=_SHOWN)
        notes = []
        for path in sorted({*here, *there}, key=lambda each: each.split("/")):
            base = (here.get(path) or there[path]).before
            note = DifferingNote(
                path,
                base,
                here[path].after if path in here else base,
                there[path].after if path in there else base,
            )
            is_directory = any(each is not None and each.kind is EntryKind.DIRECTORY for each in note[1:])
            if note.here != note.there and not is_directory:
                notes.append(note)
        return Divergence(common, head, first, ours.redactions, theirs.events, notes)


class _Tally:
    """Counts events, and has one change for each path of theirs."""

    def __init__(self) -> None:
        self.events = self.redactions = 0

    def squash(self, events: Iterable[Event]) -> dict[str, Change]:
        return {change.path: change for change in squash_changes(self._iter_changes(events))}

    def _iter_changes(self, events: Iterable[Event]) -> Iterator[Change]:
        for event in events:
            self.events += 1
            self.redactions += bool(event.redacted)
            yield from event.changes


def _has_event(server: Server, known: Journal, seq: int) -> bool:
    """Whether the server has an event of the copy, and so all before it. Raises `StateUnusable`."""
    try:
        server.get_after(seq, _get_hash(known, seq), most=1)
    except Diverged:
        return False
    return True


def _get_hash(known: Journal, seq: int) -> bytes:
    event = known.get_event(seq)
    return bytes.fromhex(event.hash) if event is not None else chain.START


def _iter_events(known: Journal, after: int) -> Iterator[Event]:
    while page := known.get_events(after, limit=500):
        yield from page
        after = page[-1].seq


def _iter_server_events(server: Server, seq: int, hash: bytes) -> Iterator[Event]:
    while page := server.get_after(seq, hash).events:
        for each in page:
            yield chain.decode_event(each.body, answer=None, arguments=None, hash=each.hash)
        seq, hash = page[-1].seq, page[-1].hash


def _replace_contents(path: str, kept: str, new: str) -> None:
    """Copy a database to a file that is not there, and then another one over it, in one transaction.

    The file stays the same one: whoever opens it meanwhile has either state, and no log of the other.

    Raises:
        LockTimeout: Another program has it open.
        OSError: A file cannot be written. The database is as it was.
    """
    with OPENING, contextlib.ExitStack() as stack:
        copy, fresh = (
            stack.enter_context(contextlib.closing(sqlite3.connect(each, isolation_level=None, timeout=0)))
            for each in (path, new)
        )
        try:
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()  # which whoever else has it open keeps from it
        except sqlite3.OperationalError as error:
            raise LockTimeout("Another memtui has this machine's copy open. Nothing was changed. Close it.") from error
        try:
            os.close(os.open(kept, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
            with contextlib.closing(sqlite3.connect(kept, isolation_level=None)) as beside:
                copy.backup(beside)
            fresh.backup(copy)
        except BaseException as error:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(kept)
            if not isinstance(error, sqlite3.Error):
                raise
            raise StateUnusable(f"{format_path(path)} cannot be written ({error}). It is as it was.") from error


def format_kept(path: str) -> str:
    """The address of a file that is kept, as a person writes it."""
    return SQLITE + format_path(path)
