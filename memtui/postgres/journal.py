"""The journal of memories on a server: this machine's copy, in which nothing is recorded before the server has it.

The copy is a journal and a store like those of `sqlite:FILE`, in the state directory, shared by all processes of this
machine. Whoever records something adds it on the server first, behind the last event that is known here. If others were
faster, what they added is taken over, and the command is planned anew.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

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
from memtui.fs.beneath import close_quietly
from memtui.fs.locks import hold_lock
from memtui.journal import chain
from memtui.journal.deferred import DeferredEvents
from memtui.journal.record import Intent, KnownPath
from memtui.journal.sqlite import Journal, WriteTransaction
from memtui.postgres.server import Addition, Diverged, News, Overtaken, Server, ServerEvent
from memtui.store.base import ConcurrentChange
from memtui.store.sqlite import LOCK, TableEntries

if TYPE_CHECKING:
    from memtui.journal.verify_report import RepairReport

_RING_SECONDS = 0.02
_CONTENDED_SECONDS = 1.0
"""For how long whoever was overtaken keeps other machines out before planning, instead of planning twice."""
_ATTEMPTS = 8
"""How often an event that changes nothing is chained anew when others are faster."""


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
                self._lock.enter_context(hold_lock(self._directory, self._seconds, name=self._name))
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


class ServerJournal(Journal):
    """See `Record`. What is read is what this machine knows; `catch_up` asks the server for what is new.

    Args:
        path: The copy.
        seconds: For how long whoever records something waits for others.
    """

    def __init__(self, path: str, server: Server, *, seconds: float) -> None:
        super().__init__(path, has_entries=True)
        self._noted.has_first_look = False  # a machine's, and no event's: each looks at its own copy
        self.server = server
        self.turn = Turn(path, seconds, self._end_turn)
        self._entries = TableEntries(self._db)
        self._sent: int | None = None
        """The intent of which the server has the event already."""
        self._is_busy = False
        self._contended_until = 0.0
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

    # Reading from the server

    def catch_up(self, *, lock: bool = False) -> bool:
        """Take over what came on the server; returns whether anything did.

        Args:
            lock: Whether other machines are kept from adding anything from then on, until this one's turn ends.

        Raises:
            LockTimeout: Another process of this machine is at it for too long.
            Diverged, StateUnusable: The server does not go on from here, or cannot be asked.
        """
        with self.turn:
            if self._sent is not None:
                return False
            has_any = False
            while True:
                seq, hash = self._read_head()
                try:
                    news = self.server.get_after(seq, hash, lock=lock)
                except Diverged as error:
                    raise Diverged(_DIVERGED.format(seq=f"{seq:,}")) from error
                if not news.events:
                    return has_any
                self._take(news)
                has_any = True

    def _take(self, news: News) -> None:
        previous = self._read_head()[1]
        events: list[tuple[bytes, Event]] = []
        for each in news.events:
            previous = chain.hash_link(previous, each.body)
            if previous != each.hash:
                raise ServerUnusable(f"The server's record is broken at event {each.seq:,}: its hash is another one.")
            texts = [None if text is None else text.decode("utf-8") for text in (each.answer, each.arguments)]
            event = chain.decode_event(each.body, answer=texts[0], arguments=texts[1], hash=each.hash)
            events.append((each.body, event))
        with WriteTransaction(self, durable=False, flush=False):
            self._store_texts({sha256: data for sha256, data in news.versions.items() if data is not None})
            gone = {*news.removed, *news.versions}  # one that was removed may have come back since
            self._forget([sha256 for sha256 in gone if news.versions.get(sha256) is None])
            for body, event in events:
                self._insert_event(event, body)
            self._db.executemany("DELETE FROM texts_of_events WHERE seq = ?", [(seq,) for seq in news.silenced])
            self._db.executemany("DELETE FROM intents WHERE body = ?", [(body,) for body, _ in events])
            self._store_known(self._put_in_place(_get_left(event for _, event in events)))

    def _forget(self, versions: Collection[str]) -> None:
        keys = [(bytes.fromhex(sha256),) for sha256 in versions]
        self._db.executemany("INSERT OR IGNORE INTO versions VALUES (?, 0, 0, NULL)", keys)
        self._db.executemany("UPDATE versions SET data = NULL, packed = 0 WHERE sha256 = ?", keys)

    def _put_in_place(self, left: Mapping[str, Version | None]) -> dict[str, KnownPath | None]:
        """Have the table of memories hold versions; returns what is known of these paths then."""
        known: dict[str, KnownPath | None] = {}
        for path in sorted(left, key=lambda each: each.count("/"), reverse=True):
            if left[path] is None:
                self._entries.remove([path])
                known[path] = None
        for path in sorted(left, key=lambda each: each.count("/")):
            version = left[path]
            if version is None:
                continue
            data = self.get_text(version.sha256) if version.sha256 else b""
            if data is None or (version.sha256 is None and version.size):
                self._entries.remove([path])  # what no machine has is not there, and nobody has deleted it
                known[path] = None
                continue
            attributes = version.attributes
            there = self._entries.get(path)
            if there is None or not there.kind is version.kind is EntryKind.DIRECTORY:
                there = self._entries.put(path, version.kind, data, attributes)
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
            self.deferred.flush()
            if not final:  # it is recorded once it has come to pass here, and must not be refused then
                bound = self.server.check()[1]
                if bound is not None and not (isinstance(event.actor, Agent) and event.actor.name == bound):
                    raise ServerUnusable(f"The server takes from this user only what the agent {bound} does.")
                if self.lock_server():
                    raise ConcurrentChange
            with self._keep_busy():
                linked = self._send([*found, event] if final else found, texts, again=False, release=final)
            with WriteTransaction(self, durable=False, flush=False):
                self._store_texts(texts)
                for body, each in linked[: len(found)]:
                    self._insert_event(each, body)
                self._store_known(known or {})
                seq = self._read_head()[0] + 1
                body = chain.encode_event(event, seq)
                row = (body, event.answer, event.arguments)
                insert = "INSERT INTO intents (body, answer, arguments) VALUES (?, ?, ?)"
                intent = Intent(self._db.execute(insert, row).lastrowid or 0, event, seq, body)
            self._is_busy = True  # what waits comes after it
            self._sent = intent.id if final else None
            return intent

    def finish_intent(self, intent: Intent, known: Mapping[str, KnownPath | None], *, durable: bool) -> Event:  # noqa: ARG002
        if self._sent != intent.id:
            return self.append_events([intent.event], known=known, intent=intent.id)[-1]
        try:
            return super().finish_intent(intent, known, durable=False)
        finally:
            self._sent, self._is_busy = None, False

    def drop_intent(self, intent: int) -> None:
        was_sent, self._sent, self._is_busy = self._sent == intent, None, False
        super().drop_intent(intent)
        if was_sent:  # it has come to pass, whatever went wrong here: the next one takes it over
            raise UnsettledChange("The change is on the server, and could not be made on this machine.")

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
            if intent is None:
                self.deferred.flush()
            with self._keep_busy():
                if intent is None:
                    linked = self._send(events, texts or {}, again=True) if events else []
                else:
                    linked = self._send_outcome(events, texts or {}, intent)
            with WriteTransaction(self, durable=False, flush=False):
                self._store_texts(texts or {})
                for body, event in linked:
                    self._insert_event(event, body)
                self._store_known(known or {})
                if intent is not None:
                    self._db.execute("DELETE FROM intents WHERE id = ?", (intent,))
            if intent is not None:
                self._sent, self._is_busy = None, False
            return [event for _, event in linked]

    def _send_outcome(
        self, events: Sequence[Event], texts: Mapping[str, bytes], intent: int
    ) -> list[tuple[bytes, Event]]:
        """Add on the server what became of an intent, whose changes are made here already.

        Raises:
            ChangeRolledBack: It could not be added, and is not made here any more.
            UnsettledChange: Nobody knows whether it was added.
        """
        has_changes = any(event.changes for event in events)
        try:
            if has_changes and self.lock_server():
                raise ChangeRolledBack("Another machine was faster.")
            return self._send(events, texts, again=not has_changes, intent=intent, release=True) if events else []
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
                linked = self._send(events, texts, again=True)
        except OutcomeUnknown as error:  # they change nothing; what is there is taken over with the next look
            raise ServerUnusable(str(error)) from error
        with WriteTransaction(self, durable=False, flush=False):
            self._store_texts(texts)
            for body, event in linked:
                self._insert_event(event, body)
        return [event for _, event in linked]

    def redact(self, events: Sequence[Event], versions: Collection[str], texts: Collection[int]) -> list[Event]:
        with self.turn:
            self.deferred.flush()
            self.lock_server()
            with self._keep_busy():
                linked = self._send(events, {}, again=False, removed=list(versions), silenced=list(texts))
            with WriteTransaction(self, durable=False, flush=False):
                self._forget(versions)
                self._db.executemany("DELETE FROM texts_of_events WHERE seq = ?", [(seq,) for seq in texts])
                for body, event in linked:
                    self._insert_event(event, body)
            return [event for _, event in linked]

    def repair(self, unseen: Sequence[int], make_event: Callable[["RepairReport"], Event]) -> "RepairReport":
        with self.turn:
            self.lock_server()
            with self._keep_busy():
                return super().repair(unseen, make_event)

    def _chain_events(self, events: Sequence[Event]) -> list[Event]:
        linked = self._send(events, {}, again=False)
        for body, event in linked:
            self._insert_event(event, body)
        return [event for _, event in linked]

    def _send(
        self,
        events: Sequence[Event],
        texts: Mapping[str, bytes],
        *,
        again: bool,
        intent: int | None = None,
        release: bool = False,
        removed: Sequence[str] = (),
        silenced: Sequence[int] = (),
    ) -> list[tuple[bytes, Event]]:
        """Add events on the server, with the texts that it may lack; returns them as they are chained.

        Args:
            again: Whether they are chained anew where others were faster.
            intent: Whose outcome the last one is. It is noted first: if it is on the server, it must not come twice.
            release: Whether other machines may add something again as soon as these are there.

        Raises:
            ConcurrentChange: Others were. What they added is taken over.
            UnsettledChange: Nobody knows whether they were added.
            StateUnusable: They were not.
        """
        missing = dict(texts)
        if not (events or missing):
            return []
        for _ in range(_ATTEMPTS):
            seq, previous = self._read_head()
            linked = chain.link_events(events, seq, previous)
            rows = [
                ServerEvent(each.seq, body, bytes.fromhex(each.hash), _encode(each.answer), _encode(each.arguments))
                for body, each in linked
            ]
            if intent is not None:
                with WriteTransaction(self, durable=False, flush=False):
                    self._db.execute("UPDATE intents SET body = ? WHERE id = ?", (linked[-1][0], intent))
            try:
                self.server.append(seq, Addition(rows, missing, removed, silenced), release=release)
            except Overtaken as error:
                self._contended_until = time.monotonic() + _CONTENDED_SECONDS
                self.lock_server()
                if not again:
                    raise ConcurrentChange from error
            else:
                self._bell.pull()
                return linked
        raise ServerUnusable("Other machines keep adding to the server's record.")

    @property
    def is_contended(self) -> bool:
        """Whether other machines add to the store as often as this one."""
        return time.monotonic() < self._contended_until

    def lock_server(self) -> bool:
        """Keep other machines from adding anything until this one's turn ends, and take over what they added before.

        Returns:
            Whether they had added anything.
        """
        return self.catch_up(lock=True)

    def _end_turn(self) -> None:
        self._sent, self._is_busy = None, False  # what was not finished the next one takes over from the server
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


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")


_DIVERGED = (
    "The server's record does not go on from event {seq}, which this machine has read there: it was restored from an "
    "earlier moment, or is another one. Nothing was changed. Compare heads with: memtui verify"
)
