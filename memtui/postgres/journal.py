"""The journal of memories on a server: this machine's copy, in which nothing is recorded before the server has it.

The copy is a journal and a store like those of `sqlite:FILE`, in the state directory, shared by all processes of this
machine. A command is planned against the copy, and added on the server by one call, which says what others added since
the copy was looked at. If they touched what the plan follows from, nothing is added, and the command is planned anew.
"""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from memtui.core.attributes import Attributes
from memtui.core.errors import (
    ChangeRolledBack,
    LockTimeout,
    OutcomeUnknown,
    ServerUnusable,
    StateUnusable,
    UnsettledChange,
)
from memtui.core.events import Agent, EntryKind, Event, Version, squash_changes
from memtui.core.guards import GUARDS
from memtui.core.settings import Settings
from memtui.engine.moves import iter_parents
from memtui.fs.beneath import close_quietly
from memtui.fs.locks import hold_lock
from memtui.journal import chain
from memtui.journal.deferred import DeferredEvent, DeferredEvents
from memtui.journal.record import FolderTotals, Intent, KnownPath
from memtui.journal.schema import NOTING
from memtui.journal.sqlite import Glance, Journal, WriteTransaction
from memtui.postgres.server import (
    PAGE,
    Added,
    Addition,
    Diverged,
    NewEvent,
    News,
    Overtaken,
    Seen,
    Server,
    encode_text,
)
from memtui.store.base import ConcurrentChange, Node
from memtui.store.sqlite import LOCK, TableEntries

if TYPE_CHECKING:
    from memtui.journal.verify_report import RepairReport

_RING_SECONDS = 0.02
_LOOK = f"""
SELECT seq, hash, files, bytes, EXISTS (SELECT 1 FROM intents), EXISTS (SELECT 1 FROM entries WHERE kind = 'link'),
    (SELECT ifnull(max(seq), 0) FROM events WHERE {NOTING})
FROM totals LEFT JOIN (SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1)
"""
"""The row of a `Glance`."""
_MOST_CHANGES = 64
"""Changes of an event up to which others may have added events that have nothing to do with it."""


class Turn:
    """Who may add something to the copy: one thread of one process of this machine, who may take it several times.

    Entering raises `LockTimeout` where another one has it for too long.

    Args:
        path: The copy, beside which the lock's file is.
        seconds: For how long another one is waited for.
        at_end: Called when it is given back.
    """

    def __init__(self, path: str, seconds: float, at_end: Callable[[], None]) -> None:
        self._directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._name = os.path.basename(path) + LOCK
        self._seconds = seconds
        self._at_end = at_end
        self._mutex = threading.RLock()
        self._depth = 0
        self._lock = contextlib.ExitStack()

    @property
    def is_closed(self) -> bool:
        return self._directory < 0

    def close(self) -> None:
        """Have nobody take it any more: that raises `StateUnusable`."""
        close_quietly(self._directory)
        self._directory = -1

    def __enter__(self) -> None:
        if not self._mutex.acquire(timeout=self._seconds):
            raise LockTimeout("Another thread of this process keeps the memory locked.")
        try:
            if self.is_closed:
                raise StateUnusable("The journal is closed.")
            if self._depth == 0:
                self._lock.enter_context(hold_lock(self._directory, self._seconds, name=self._name, is_long=True))
        except BaseException:
            self._mutex.release()
            raise
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        try:
            if self._depth == 0:
                with self._lock:
                    self._at_end()
        finally:
            self._mutex.release()


class _BellRope:
    """Rings a bell behind the answers, once for all that was added within a moment.

    Args:
        ring: Rings it.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def pull(self) -> None:
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(_RING_SECONDS, self._ring_now)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Ring now, if it was to be rung."""
        if self._timer is not None:
            self._timer.cancel()
            self._ring_now()

    def _ring_now(self) -> None:
        with self._lock:
            self._timer = None
        self._ring()


class _PatientEvents(DeferredEvents):
    """Events that go on waiting while another process has the turn."""

    def flush(self) -> None:
        with contextlib.suppress(LockTimeout):
            super().flush()

    def take_along(self) -> list[DeferredEvent]:
        """Nothing: what waits is recorded by the server before it is here."""
        return []


class _Linked(NamedTuple):
    """Events that the server has, with their canonical bytes, and what others had added before them."""

    news: News
    events: list[tuple[bytes, Event]]


class _Pending(NamedTuple):
    """An event that the server has, and that is being made here.

    Attributes:
        transaction: Where: it is open, and committed at the end of it.
    """

    intent: int
    body: bytes
    event: Event
    transaction: contextlib.ExitStack


class _Abandoned(Exception):
    """What is made in a transaction is taken back."""


class _CopyEntries(TableEntries):
    """The memories in a copy; what was seen of them in a turn is not looked up again before something is changed.

    Attributes:
        seen: The rows that were looked up, by path; `None` where others may change them, or where they were changed.
        sees_links: Whether any row is a link, where that is known as long.
    """

    def __init__(self, connection: sqlite3.Connection, lock: AbstractContextManager[object]) -> None:
        super().__init__(connection, lock)
        self.forget()

    def forget(self) -> None:
        self.seen: dict[str, Node | None] | None = None
        self.sees_links: bool | None = None

    def has_links(self) -> bool:
        known = self.sees_links
        return super().has_links() if known is None else known

    def get(self, path: str) -> Node | None:
        seen = self.seen
        if seen is None:
            return super().get(path)
        if path not in seen:
            seen[path] = super().get(path)
        return seen[path]

    def put(self, path: str, kind: EntryKind, data: bytes, attributes: Attributes) -> Node:
        self.forget()
        return super().put(path, kind, data, attributes)

    def set_attributes(self, node: Node, attributes: Attributes) -> None:
        self.forget()
        super().set_attributes(node, attributes)

    def remove(self, paths: Collection[str]) -> None:
        self.forget()
        super().remove(paths)

    def move(self, old: str, new: str) -> None:
        self.forget()
        super().move(old, new)


class ServerJournal(Journal):
    """See `Record`. What is read is what this machine knows; `catch_up` asks the server for what is new.

    Args:
        path: The copy.
        settings: How long whoever records something waits for others, and the limits that bind agents.

    Attributes:
        entries: The memories in the copy. They change with the journal, in one transaction.
    """

    _optimist: int | None = None
    """The thread that has the turn without having asked for the newest."""

    def __init__(self, path: str, server: Server, settings: Settings) -> None:
        super().__init__(path, has_entries=True)
        self._noted.has_first_look = False  # a machine's, and no event's: each looks at its own copy
        self.server = server
        self.turn = Turn(path, settings.lock_seconds, self._end_turn)
        self.entries = _CopyEntries(self._db, self._lock)
        self._settings = settings
        self._pending: _Pending | None = None
        self._is_busy = False
        self._has_moved = False
        """Whether something was taken over that whoever has the turn has not seen."""
        self._bell = _BellRope(server.ring)
        self.deferred = _PatientEvents(self._append_deferred, self.turn)

    def close(self) -> None:
        if self.turn.is_closed:
            return
        self.deferred.close()
        self._bell.close()
        super().close()
        self.server.close()
        self.turn.close()

    @contextlib.contextmanager
    def begin_turn(self, *, optimistic: bool) -> Iterator[None]:
        """Have the turn, with what is known here being the newest; if `optimistic`, that shows when something is added.

        Raises:
            LockTimeout: Another process of this machine, or another machine, is at it for too long.
            Diverged, StateUnusable: The server does not go on from here, or cannot be asked.
        """
        with self.turn:
            self.deferred.flush()
            glance = self._look()
            if glance.has_intents:
                self.lock_server()  # what is finished must not be overtaken
            elif optimistic:
                self._optimist = threading.get_ident()
            else:
                self.catch_up()
            self._has_moved = False
            if self._optimist is not None:
                self._glance = glance
                self.entries.seen, self.entries.sees_links = {}, bool(glance.has_links)
            try:
                yield
            finally:
                self._optimist = self._glance = None
                self.entries.forget()

    def _look(self) -> Glance:
        row = self._execute(_LOOK, doing="read")[0]
        return Glance(row[0] or 0, row[1] or chain.START, *row[2:])

    @property
    def is_current(self) -> bool:  # type: ignore[override]  # which nobody sets
        return self._optimist != threading.get_ident()

    # Reading

    def has_intents(self) -> bool:
        glance = self._glance
        return super().has_intents() if glance is None else glance.has_intents

    def get_totals(self) -> FolderTotals:
        glance = self._glance
        return super().get_totals() if glance is None else FolderTotals(glance.files, glance.bytes)

    def get_metadata(self, name: str) -> str | None:
        glance = self._glance
        if glance is None or name not in GUARDS:
            return super().get_metadata(name)
        return self._noted.get_value(name, glance.newest_noted)

    def _read_head(self) -> tuple[int, bytes]:
        glance = self._glance
        return super()._read_head() if glance is None else (glance.seq, glance.hash)

    # Reading from the server

    def catch_up(self, *, lock: bool = False, progress: Callable[[int], object] = lambda _: None) -> bool:
        """Take over what came on the server; returns whether anything did.

        Args:
            lock: Whether other machines are kept from adding anything from then on, until this one's turn ends.
            progress: Called with the number of the last event, again and again; where it raises, the rest is left.

        Raises:
            LockTimeout: Another process of this machine is at it for too long.
            Diverged, StateUnusable: The server does not go on from here, or cannot be asked.
        """
        with self.turn:
            if self._pending is not None:
                return False
            has_any = False
            while True:
                seq, hash = self._read_head()
                try:
                    news = self.server.get_after(seq, hash, lock=lock)
                except Diverged as error:
                    raise Diverged(_DIVERGED.format(seq=f"{seq:,}")) from error
                if not news.events:
                    self._optimist = None
                    return has_any
                self._take(news)
                has_any = True
                progress(news.events[-1].seq)

    def _take(self, news: News) -> None:
        with WriteTransaction(self, durable=False, flush=False):
            self._insert_news(news)

    def _insert_news(self, news: News) -> None:
        """Take over what others added, in the transaction that is open; raises `ServerUnusable` where it is broken."""
        if not news.events:
            return
        self._has_moved = True
        previous = self._read_head()[1]
        events: list[tuple[bytes, Event]] = []
        for each in news.events:
            previous = chain.hash_link(previous, each.body)
            if previous != each.hash:
                raise ServerUnusable(f"The server's record is broken at event {each.seq:,}: its hash is another one.")
            texts = [None if text is None else text.decode("utf-8") for text in (each.answer, each.arguments)]
            event = chain.decode_event(each.body, answer=texts[0], arguments=texts[1], hash=each.hash)
            events.append((each.body, event))
        self._store_texts({sha256: data for sha256, data in news.versions.items() if data is not None})
        gone = {*news.removed, *news.versions}  # one that was removed may have come back since
        self._forget([sha256 for sha256 in gone if news.versions.get(sha256) is None])
        self._insert_linked(events)
        self._db.executemany("DELETE FROM texts_of_events WHERE seq = ?", [(seq,) for seq in news.silenced])
        self._db.executemany("DELETE FROM intents WHERE body = ?", [(body,) for body, _ in events])
        self._store_known(self._put_in_place(_get_left(event for _, event in events), news.versions))

    def _insert_linked(self, events: Iterable[tuple[bytes, Event]]) -> None:
        for body, event in events:
            self._insert_event(event, body)

    def _forget(self, versions: Collection[str]) -> None:
        keys = [(bytes.fromhex(sha256),) for sha256 in versions]
        self._db.executemany("INSERT OR IGNORE INTO versions VALUES (?, 0, 0, NULL)", keys)
        self._db.executemany("UPDATE versions SET data = NULL, packed = 0 WHERE sha256 = ?", keys)

    def _put_in_place(
        self, left: Mapping[str, Version | None], texts: Mapping[str, bytes | None] = MappingProxyType({})
    ) -> dict[str, KnownPath | None]:
        """Have the table of memories hold versions; returns what is known of these paths then.

        Args:
            left: The version that each path is to hold.
            texts: Bytes by SHA-256, where they are at hand.
        """
        known: dict[str, KnownPath | None] = {}
        for path in sorted(left, key=lambda each: each.count("/"), reverse=True):
            if left[path] is None:
                self.entries.remove([path])
                known[path] = None
        for path in sorted(left, key=lambda each: each.count("/")):
            version = left[path]
            if version is None:
                continue
            data = (texts.get(version.sha256) or self.get_text(version.sha256)) if version.sha256 else b""
            if data is None or (version.sha256 is None and version.size):
                self.entries.remove([path])  # what no machine has is not there, and nobody has deleted it
                known[path] = None
                continue
            there = self.entries.get(path) if version.kind is EntryKind.DIRECTORY else None
            if there is None or there.kind is not EntryKind.DIRECTORY:
                there = self.entries.put(path, version.kind, data, version.attributes)
            known[path] = KnownPath(version, there.stamp)
        return known

    # Adding on the server

    def add_intent(
        self,
        event: Event,
        texts: Mapping[str, bytes],
        *,
        found: Sequence[Event] = (),
        known: Mapping[str, KnownPath | None] | None = None,
        durable: bool = True,  # noqa: ARG002 - the server syncs
        final: bool = False,
    ) -> Intent:
        with self.turn:
            if final:
                return self._record_first([*found, event], texts, known or {})
            # It is recorded once it has come to pass here, and must not be refused then.
            bound = self.server.check()[1]
            if bound is not None and not (isinstance(event.actor, Agent) and event.actor.name == bound):
                raise ServerUnusable(f"The server takes from this user only what the agent {bound} does.")
            self.deferred.flush()
            if self.lock_server():
                raise ConcurrentChange
            self._check_moved()
            with self._keep_busy():
                linked = self._send(found, texts)
            with WriteTransaction(self, durable=False, flush=False):
                self._store_texts(texts)
                self._insert_linked(linked.events)
                self._store_known(known or {})
                seq = self._read_head()[0] + 1
                body = chain.encode_event(event, seq)
                row = (body, event.answer, event.arguments)
                insert = "INSERT INTO intents (body, answer, arguments) VALUES (?, ?, ?)"
                intent = Intent(self._db.execute(insert, row).lastrowid or 0, event, seq, body)
            self._is_busy = True  # what waits comes after it
            return intent

    def _record_first(
        self, events: Sequence[Event], texts: Mapping[str, bytes], known: Mapping[str, KnownPath | None]
    ) -> Intent:
        """Have the server add events, before the last one of them comes to pass here, in a transaction that is open."""
        self._check_moved()
        with self._keep_busy():
            linked = self._send(events, texts, seen=self._see(events), release=True)
        transaction = contextlib.ExitStack()
        try:
            transaction.enter_context(WriteTransaction(self, durable=False, flush=False))
            with transaction:
                self._insert_news(linked.news)
                self._store_texts(texts)
                self._insert_linked(linked.events[:-1])
                self._store_known(known)
                body, event = linked.events[-1]
                self._is_busy = True  # what waits comes after it
                self._pending = _Pending(-event.seq, body, event, transaction.pop_all())
        except (StateUnusable, OSError) as error:
            raise UnsettledChange(_NOT_MADE) from error
        return Intent(-event.seq, event, event.seq, body)

    def _see(self, events: Sequence[Event]) -> Seen:
        """What this machine has seen, and which events may have come since without touching what is planned."""
        seq, hash = self._read_head()
        paths = {change.path for event in events for change in event.changes}
        if len(events) > 1 or len(paths) > _MOST_CHANGES or self.entries.has_links():
            return Seen(seq, hash)
        return Seen(seq, hash, _list_related(paths), min(PAGE, self._count_room(events[0])))

    def _count_room(self, event: Event) -> int:
        """How many events others may have added, each a file as large as may be, before a limit would be reached."""
        room = PAGE
        if isinstance(event.actor, Agent):
            settings, totals = self._settings, self.get_totals()
            size = totals.bytes + sum(change.after.size for change in event.changes if change.after is not None)
            if settings.max_total_bytes:
                room = (settings.max_total_bytes - size) // (settings.max_file_bytes or settings.max_total_bytes)
            if settings.max_files:
                room = min(room, settings.max_files - totals.files - 1)
        return max(0, room)

    def _check_moved(self) -> None:
        """Raise `ConcurrentChange` where something was taken over that whoever has the turn has not seen."""
        has_moved, self._has_moved = self._has_moved, False
        if has_moved:
            raise ConcurrentChange

    def finish_intent(self, intent: Intent, known: Mapping[str, KnownPath | None], *, durable: bool) -> Event:  # noqa: ARG002
        pending = self._pending
        if pending is None or pending.intent != intent.id:
            return self.append_events([intent.event], known=known, intent=intent.id)[-1]
        self._pending, self._is_busy = None, False
        with pending.transaction:
            self._insert_event(pending.event, pending.body)
            self._store_known(known)
        return pending.event

    def drop_intent(self, intent: int) -> None:
        if self._abandon_pending():  # it has come to pass, whatever went wrong here: the next one takes it over
            raise UnsettledChange(_NOT_MADE)
        self._is_busy = False
        super().drop_intent(intent)

    def _abandon_pending(self) -> bool:
        """Take back what was begun here of an event that the server has; returns whether anything was."""
        pending, self._pending, self._is_busy = self._pending, None, False
        if pending is None:
            return False
        with contextlib.suppress(_Abandoned), pending.transaction:
            raise _Abandoned
        return True

    def append_events(
        self,
        events: Sequence[Event],
        *,
        texts: Mapping[str, bytes] | None = None,
        known: Mapping[str, KnownPath | None] | None = None,
        intent: int | None = None,
        durable: bool = True,  # noqa: ARG002 - the server syncs
    ) -> list[Event]:
        with self.turn:
            if self._abandon_pending():
                raise StateUnusable(_NOT_MADE)
            if intent is None and self.is_current:
                self.deferred.flush()
            with self._keep_busy():
                if intent is not None:
                    linked = self._send_outcome(events, texts or {}, intent)
                elif events:
                    linked = self._send(events, texts or {}, seen=self._see_end() if self.is_current else None)
                else:
                    linked = _Linked(_NO_NEWS, [])
            self._keep(linked, texts or {}, known or {}, intent)
            if intent is not None:
                self._is_busy = False
            return [event for _, event in linked.events]

    def _keep(
        self,
        linked: _Linked,
        texts: Mapping[str, bytes],
        known: Mapping[str, KnownPath | None] | None = None,
        intent: int | None = None,
    ) -> None:
        """Keep here what the server has."""
        with WriteTransaction(self, durable=False, flush=False):
            self._insert_news(linked.news)
            self._store_texts(texts)
            self._insert_linked(linked.events)
            self._store_known(known or {})
            if intent is not None:
                self._db.execute("DELETE FROM intents WHERE id = ?", (intent,))

    def _see_end(self) -> Seen:
        """For what changes nothing: it is added behind whatever others add."""
        return Seen(*self._read_head(), related=())

    def _send_outcome(self, events: Sequence[Event], texts: Mapping[str, bytes], intent: int) -> _Linked:
        """Add on the server what became of an intent, whose changes are made here already.

        Raises:
            ChangeRolledBack: It could not be added, and is not made here any more.
            UnsettledChange: Nobody knows whether it was added.
        """
        has_changes = any(event.changes for event in events)
        try:
            if self.lock_server() and has_changes:
                raise ChangeRolledBack("Another machine was faster.")
            return self._send(events, texts, intent=intent, release=True)
        except (StateUnusable, LockTimeout, ConcurrentChange, ChangeRolledBack) as error:
            planned = (each.event for each in self.get_intents() if each.id == intent)
            paths = {change.path for event in (*planned, *events) for change in event.changes}
            known = {path: self.get_known(path) for path in paths}
            with WriteTransaction(self, durable=False, flush=False):
                self._store_known(self._put_in_place({path: now and now.version for path, now in known.items()}))
                self._db.execute("DELETE FROM intents WHERE id = ?", (intent,))
            raise ChangeRolledBack(str(error)) from error

    def _append_deferred(self, events: Sequence[Event], texts: Mapping[str, bytes]) -> list[Event]:
        if self._is_busy:
            raise StateUnusable("Another event is about to be recorded.")
        try:
            with self._keep_busy():
                linked = self._send(events, texts, seen=self._see_end())
        except OutcomeUnknown as error:  # they change nothing; what is there is taken over with the next look
            raise ServerUnusable(str(error)) from error
        except ConcurrentChange as error:
            raise ServerUnusable("Other machines keep adding to the server's record.") from error
        self._keep(linked, texts)
        return [event for _, event in linked.events]

    def redact(self, events: Sequence[Event], versions: Collection[str], texts: Collection[int]) -> list[Event]:
        with self.turn:
            self.deferred.flush()
            self.lock_server()
            with self._keep_busy():
                linked = self._send(events, {}, removed=list(versions), silenced=list(texts))
            with WriteTransaction(self, durable=False, flush=False):
                self._forget(versions)
                self._db.executemany("DELETE FROM texts_of_events WHERE seq = ?", [(seq,) for seq in texts])
                self._insert_linked(linked.events)
            return [event for _, event in linked.events]

    def repair(self, unseen: Sequence[int], make_event: Callable[["RepairReport"], Event]) -> "RepairReport":
        with self.turn:
            self.lock_server()
            with self._keep_busy():
                return super().repair(unseen, make_event)

    def _chain_events(self, events: Sequence[Event]) -> list[Event]:
        linked = self._send(events, {})
        self._insert_linked(linked.events)
        return [event for _, event in linked.events]

    def _send(
        self,
        events: Sequence[Event],
        texts: Mapping[str, bytes],
        *,
        seen: Seen | None = None,
        intent: int | None = None,
        release: bool = False,
        removed: Sequence[str] = (),
        silenced: Sequence[int] = (),
    ) -> _Linked:
        """Add events on the server, with the texts that it may lack; returns them as they are chained.

        Args:
            seen: What this machine has seen, where others may have added something since.
            intent: Whose outcome the last one is. It is noted first: if it is on the server, it must not come twice.
            release: Whether other machines may add something again as soon as these are there.

        Raises:
            ConcurrentChange: Others came before. What they added is taken over; they are kept out until the turn ends.
            UnsettledChange: Nobody knows whether they were added.
            StateUnusable: They were not.
        """
        if not (events or texts):
            return _Linked(_NO_NEWS, [])
        seq, previous = self._read_head()
        linked = chain.link_events(events, seq, previous)
        new = [
            NewEvent(*chain.split_body(body, each.seq), encode_text(each.answer), encode_text(each.arguments))
            for body, each in linked
        ]
        if intent is not None:
            with WriteTransaction(self, durable=False, flush=False):
                self._db.execute("UPDATE intents SET body = ? WHERE id = ?", (linked[-1][0], intent))
        addition = Addition(new, texts, removed, silenced)
        try:
            added = self.server.append(seen or Seen(seq, previous), addition, release=release)
        except Overtaken as error:
            self._take(error.news)
            if len(error.news.events) >= PAGE:
                self.lock_server()
            self._optimist, self._has_moved = None, False
            if seen is not None and seen.related == ():
                return self._send(events, texts)  # they are kept out now
            raise ConcurrentChange from error
        except Diverged as error:
            raise Diverged(_DIVERGED.format(seq=f"{seq:,}")) from error
        if added.is_heard:
            self._bell.pull()
        return _Linked(added.news, _link_again(events, linked, added))

    def lock_server(self) -> bool:
        """Keep other machines from adding anything until this one's turn ends, and take over what they added before.

        Returns:
            Whether they had added anything.
        """
        return self.catch_up(lock=True)

    def _end_turn(self) -> None:
        self._abandon_pending()  # what was not finished the next one takes over from the server
        self.server.unlock()

    @contextlib.contextmanager
    def _keep_busy(self) -> Iterator[None]:
        was, self._is_busy = self._is_busy, True
        try:
            yield
        finally:
            self._is_busy = was

    def _flush_waiting(self) -> None:
        """Nothing: who reads must not wait for a server. What waits is recorded in a moment."""


def _get_left(events: Iterable[Event]) -> dict[str, Version | None]:
    """What events left at each path, with the time of the event where the version has none."""
    left: dict[str, Version | None] = {}
    for event in events:
        for change in squash_changes(event.changes):
            after = change.after
            if after is not None:
                after = replace(after, attributes=after.attributes.fill(Attributes(None, event.at_us * 1_000)))
            left[change.path] = after
    return left


def _link_again(events: Sequence[Event], linked: list[tuple[bytes, Event]], added: Added) -> list[tuple[bytes, Event]]:
    """Events as the server has chained them, behind what others had added. Raises `ServerUnusable`."""
    if added.news.events:
        last = added.news.events[-1]
        linked = chain.link_events(events, last.seq, last.hash)
    if linked and (linked[-1][1].seq, linked[-1][1].hash) != (added.seq, added.hash.hex()):
        raise ServerUnusable(f"The server's record is broken at event {added.seq:,}: its hash is another one.")
    return linked


def _list_related(paths: Iterable[str]) -> list[bytes]:
    """What stands in the canonical bytes of an event that touches a path, what is above it, or what is below it.

    A change is `["PATH",BEFORE,AFTER]` there. What guards memories binds agents, so that is among it as well.
    """
    related = {b'"noted":'}
    for path in paths:
        related.add(b'["%b/' % _encode_path(path))
        related.update(b'["%b",' % _encode_path(each) for each in (path, *iter_parents(path)))
    return sorted(related)


def _encode_path(path: str) -> bytes:
    """A path as it stands in the canonical bytes of an event, without the quotation marks."""
    return json.dumps(path, ensure_ascii=True)[1:-1].encode("ascii")


_NO_NEWS = News([], {}, [], [])
_NOT_MADE = "The change is on the server, and could not be made on this machine."
_DIVERGED = (
    "The server's record does not go on from event {seq}, which this machine has read there: it was set back to an "
    "earlier moment, or is another one. Nothing was changed. See: memtui admin accept ADDRESS"
)
