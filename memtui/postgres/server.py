"""The calls of a server: what came after an event, and adding others behind it. One function there for each.

A call whose connection goes is not done, or done: `append` asks for which by the number of the call, which the server
keeps with the event. So nothing is ever added twice.
"""

import contextlib
import os
import secrets
import select
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import errors

from memtui.core.errors import LockTimeout, OutcomeUnknown, ServerUnusable, Unreachable
from memtui.postgres.dsn import Address
from memtui.postgres.prepared import (
    BOOL,
    BYTEA,
    BYTEAS,
    INT4,
    INT8,
    INT8S,
    TEXT,
    PreparedCall,
    decode_int,
    encode_array,
    encode_int,
)

SCHEMA = 1
"""The newest schema of a server that this memtui knows. One that is newer by one can still be read."""
_NEWER = "The server's schema is of a newer memtui{}. Update memtui to use it."
_CONNECT_SECONDS = 5
_AGAIN_SECONDS = (0.0, 0.1, 0.5, 1.0, 2.0)
"""How long is waited before each try to reach a server again that a call was lost on."""
PAGE = 2_000
"""Events in one answer."""
_OPTIONS: dict[str, Any] = {
    "application_name": "memtui",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
_CALL_BYTES = 16
_LOST = ("08", "57P")
"""How the codes of errors begin with which a connection goes. With any other one, the call was not carried out."""
_Result = TypeVar("_Result")


class Diverged(ServerUnusable):
    """The server's record does not go on from what was read there before."""


class ServerEvent(NamedTuple):
    """An event as the server keeps it; its texts are bytes, or `None`."""

    seq: int
    body: bytes
    hash: bytes
    answer: bytes | None
    arguments: bytes | None


class News(NamedTuple):
    """What came after an event.

    Attributes:
        versions: The versions that came with them, by SHA-256; `None` for one that was removed since.
        removed: Versions that they removed.
        silenced: The numbers of events whose texts they removed.
    """

    events: list[ServerEvent]
    versions: dict[str, bytes | None]
    removed: list[str]
    silenced: list[int]


class NewEvent(NamedTuple):
    """An event that the server gives its number: its canonical bytes before that and behind it, and its texts."""

    start: bytes
    end: bytes
    answer: bytes | None
    arguments: bytes | None


class Addition(NamedTuple):
    """What is added to a store in one step; see `News`."""

    events: Sequence[NewEvent]
    versions: Mapping[str, bytes | None]
    removed: Sequence[str] = ()
    silenced: Sequence[int] = ()


class Seen(NamedTuple):
    """A store as it was seen.

    Attributes:
        seq: The number of the last event.
        hash: Its hash.
        related: Bytes that no event may have in it that came since, as what is added follows from what was seen;
            `None` where none may have come at all.
        most: How many events may have come since.
    """

    seq: int
    hash: bytes
    related: Sequence[bytes] | None = None
    most: int = PAGE


class Added(NamedTuple):
    """What became of an addition.

    Attributes:
        seq: The number of its last event.
        hash: Its hash.
        news: What others had added before it, since the store was seen.
        is_heard: Whether anybody listens to the bell.
    """

    seq: int
    hash: bytes
    news: News
    is_heard: bool


class Overtaken(Exception):
    """Others added something that matters: what was to be added is to be planned anew. The store is locked.

    Attributes:
        news: What they added, or a first part of it.
    """

    def __init__(self, news: News) -> None:
        super().__init__()
        self.news = news


class Bell:
    """Where it is heard that somebody added to a store: a pooler between it and us may keep that to itself.

    Args:
        connection: It listens, and is closed with the bell.
        number: The store's.

    Attributes:
        trial: What is rung once on another connection.
        is_heard: Whether anything was heard yet.
    """

    def __init__(self, connection: psycopg.Connection[Any], number: str) -> None:
        self._connection = connection
        self._number = number
        self.trial = f"trial {secrets.token_hex(8)}"
        self.is_heard = False

    def close(self) -> None:
        self._connection.close()

    def wait(self, seconds: float) -> bool:
        """Whether it rings within some seconds. Raises `ServerUnusable`."""
        with translate_errors():
            rang = {each.payload for each in self._connection.notifies(timeout=seconds, stop_after=1)}
            rang |= {each.payload for each in self._connection.notifies(timeout=0)}
        self.is_heard = self.is_heard or not rang.isdisjoint((self.trial, self._number))
        return self._number in rang


class Server:
    """A store on a server. Calls may come from any thread, one at a time; each opens a connection if there is none.

    Args:
        seconds: For how long a call waits for others that add to the store.
    """

    def __init__(self, address: Address, *, seconds: float = 5.0) -> None:
        self.address = address
        self._store = address.store.encode("utf-8")
        self._seconds = seconds
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._is_locked = False
        self._is_closed = False
        self._was_sent = False
        self._is_outdated = False

    def close(self) -> None:
        """Let go of the connection. Calls afterwards fail."""
        with self._lock:
            self._is_closed = True
            self._drop()

    def check(self) -> tuple[int, str | None]:
        """The number by which the bell names the store, and the only agent that the role may sign as, if any.

        Raises:
            ServerUnusable: It cannot be used.
        """
        number, _, agent = self._call(_GET_NUMBER, self.address.store)[0]
        return number, agent

    def get_after(self, seq: int, hash: bytes, *, lock: bool = False, most: int = PAGE) -> News:
        """What came after an event, or at most a first part of it; with `lock`, as `lock` leaves the store.

        Raises:
            Diverged: There is no such event.
            LockTimeout: It could not be locked.
            ServerUnusable: It cannot be asked.
        """
        with self._lock:
            is_locking = lock and not self._is_locked
            if is_locking:
                self._require_known_schema()
            name = "lock_after" if is_locking else "get_after"
            call = f"SELECT * FROM memtui.{name}(%s, %s, %b, %s)"
            try:
                rows = self._call(call, self.address.store, seq, hash, most)
            except Diverged:
                self._is_locked |= is_locking
                raise
            self._is_locked |= is_locking
        return _make_news(rows)

    def append(self, seen: Seen, added: Addition, *, release: bool = False) -> Added:
        """Add events behind the last one; with `release`, the store is unlocked by the same call.

        Raises:
            Overtaken: Others came before. Nothing was added, and the store is locked.
            Diverged: The store does not go on from what was seen. Nothing was added.
            OutcomeUnknown: The server went away, and nobody knows whether they were added.
            ServerUnusable: Nothing was added, for another reason.
        """
        call = os.urandom(_CALL_BYTES)
        with self._lock:  # whether it was sent is asked of this very call
            self._require_known_schema()
            try:
                return self._append(call, seen, added, release)
            except Unreachable:
                if not self._was_sent:
                    raise
            for seconds in _AGAIN_SECONDS:
                time.sleep(seconds)  # a server that was started again needs a moment
                try:
                    return self._append(call, seen, added, release)
                except Diverged:
                    raise
                except (ServerUnusable, LockTimeout):
                    continue
        raise OutcomeUnknown("The server went away, and nobody knows whether the change was made.")

    def _append(self, call: bytes, seen: Seen, added: Addition, release: bool) -> Added:
        """Add events, or be told what became of the same call before."""
        events = added.events
        release = release and self._is_locked
        rows = self._call(
            _APPEND,
            self._store,
            encode_int(seen.seq),
            seen.hash,
            call,
            None if seen.related is None else encode_array(seen.related),
            encode_int(seen.most, 4),
            encode_array([each.start for each in events]),
            encode_array([each.end for each in events]),
            encode_array([each.answer for each in events]),
            encode_array([each.arguments for each in events]),
            encode_array(map(bytes.fromhex, added.versions)),
            encode_array(added.versions.values()),
            encode_array(map(bytes.fromhex, added.removed)),
            encode_array(map(encode_int, added.silenced), INT8),
            b"\1" if release else b"\0",
            retry=False,
        )
        outcome, number, hash, heard, *_ = rows[0]
        news = _make_news([((sort or b"").decode("ascii"), decode_int(each), *rest) for sort, each, *rest in rows[1:]])
        if outcome == b"overtaken":
            self._is_locked = True
            raise Overtaken(news)
        self._is_locked = self._is_locked and not release
        return Added(decode_int(number) or 0, hash or b"", news, bool(heard))

    def lock(self) -> None:
        """Keep others from adding to the store, until `unlock`. Raises `LockTimeout` or `ServerUnusable`."""
        with self._lock:
            if not self._is_locked:
                self._require_known_schema()
                self._call("SELECT memtui.lock(%s)", self.address.store)
                self._is_locked = True

    def unlock(self) -> None:
        with self._lock:
            if self._is_locked:
                self._is_locked = False
                with contextlib.suppress(ServerUnusable):  # the lock goes with the connection
                    self._call("SELECT memtui.unlock(%s)", self.address.store, retry=False)

    def ring(self) -> None:
        """Tell the others that there is something new; whom it does not reach looks by itself."""
        with contextlib.suppress(ServerUnusable):
            self._call("SELECT memtui.ring(%s)", self.address.store, retry=False)

    def listen(self) -> "Bell":
        """The store's bell, on a connection of its own.

        Raises:
            Unreachable: There is none to be had.
            ServerUnusable: The server refuses it.
        """
        number = str(self.check()[0])
        with translate_errors():
            connection = self._connect()
        try:
            with translate_errors():
                connection.execute("SELECT memtui.attend(%s)", [self.address.store])
                connection.execute("LISTEN memtui")
            bell = Bell(connection, number)
            self._call("SELECT pg_notify('memtui', %s)", bell.trial)
        except BaseException:
            connection.close()
            raise
        return bell

    # Inside

    def _call(self, sql: str, *values: Any, retry: bool = True) -> list[tuple[Any, ...]]:
        """The rows of a statement. One that only asks is asked again where its connection had gone."""
        with self._lock:
            was_open = self._connection is not None
            self._was_sent = False
            if self._is_closed:
                raise ServerUnusable("The journal is closed.")
            try:
                with translate_errors():
                    if self._connection is not None and _is_gone(self._connection):
                        self._drop()  # nothing is in doubt: it went before anything was sent
                    if self._connection is None:
                        self._connection = self._connect()
                        self._appending = PreparedCall(self._connection, _APPEND, _APPEND_TYPES)
                        self._connection.execute(f"SET lock_timeout = {int(self._seconds * 1000)}")
                        self._check_schema(self._connection)
                    self._was_sent = True
                    if sql is _APPEND:
                        return self._appending.run(values)
                    return self._connection.execute(sql, values, binary=True).fetchall()
            except Unreachable:
                self._drop()
                if retry and was_open:
                    return self._call(sql, *values, retry=False)
                raise

    def _check_schema(self, connection: psycopg.Connection[Any]) -> None:
        row = connection.execute(_GET_NUMBER, [self.address.store]).fetchone()
        version = row[1] if row else SCHEMA
        self._is_outdated = version > SCHEMA
        if version > SCHEMA + 1:
            self._drop()
            raise ServerUnusable(_NEWER.format(""))

    def _require_known_schema(self) -> None:
        """Raise `ServerUnusable` where the store can only be read."""
        if self._is_outdated:
            raise ServerUnusable(_NEWER.format(": memories can be read, and not changed"))

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(
            self.address.dsn, autocommit=True, connect_timeout=_CONNECT_SECONDS, prepare_threshold=2, **_OPTIONS
        )
        if connection.info.parameter_status("server_encoding") != "UTF8":
            connection.close()
            raise ServerUnusable("The server's database is not in UTF-8. Create one that is: createdb -E UTF8")
        return connection

    def _drop(self) -> None:
        self._is_locked = False
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                self._connection.close()
            self._connection = None


def _is_gone(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server has closed a connection while nothing was asked of it, as far as is known here."""
    if connection.closed:
        return True
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    try:
        while waiting.poll(0):  # its last words come before its end
            connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return True
    return False


_GET_NUMBER = "SELECT * FROM memtui.get_number(%s)"
_APPEND = "SELECT * FROM memtui.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
_APPEND_TYPES = (TEXT, INT8, BYTEA, BYTEA, BYTEAS, INT4, *(BYTEAS,) * 7, INT8S, BOOL)


def encode_text(text: str | None) -> bytes | None:
    """A text as the server keeps it."""
    return None if text is None else text.encode("utf-8")


def _make_news(rows: Sequence[tuple[Any, ...]]) -> News:
    news = News([], {}, [], [])
    for sort, number, one, two, three, four in rows:
        if sort == "event":
            news.events.append(ServerEvent(number, one, two, three, four))
        elif sort == "version":
            news.versions[one.hex()] = two
        elif sort == "removed version":
            news.removed.append(one.hex())
        else:
            news.silenced.append(number)
    return news


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Have errors of the driver's come as ours: see `ServerUnusable` and those beside it."""
    try:
        yield
    except psycopg.Error as error:
        raise _make_error(error) from error


def _make_error(error: psycopg.Error) -> Exception:
    """An error of the driver's as one of ours."""
    code, words = error.sqlstate or "", _get_words(error)
    match code:
        case "MT002":
            return Diverged("The server's record does not go on from what was read there before.")
        case "MT003":
            return ServerUnusable("The server grants no such right in this store, or has no such store.")
        case "MT004":
            return ServerUnusable(f"The server refused an event: it was {words}.")
        case "MT005":
            return ServerUnusable(f"The server refused an event as broken: {words}.")
        case "3F000" | "42883" | "42P01":
            return ServerUnusable("The database holds no memories yet. Prepare it with: memtui admin init")
        case "55P03":
            return LockTimeout("Another program keeps the store on the server locked.")
        case "42501":
            return ServerUnusable("The server grants this user nothing. An owner can: memtui admin grant")
        case "57014":
            return ServerUnusable(f"The server broke the call off, and nothing was changed: {words}.")
        case "25006":
            return ServerUnusable("The server takes no changes now: it is a standby, or was made read-only.")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return ServerUnusable(f"The server has no room: {words}.")
    is_lost = not code and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    if is_lost or code.startswith(_LOST):
        return Unreachable(f"The server cannot be reached: {words}.")
    return ServerUnusable(f"The server failed: {words}.")


def _get_words(error: psycopg.Error) -> str:
    """What the server or the driver says, in one line that names no password."""
    words = error.diag.message_primary or str(error)
    line = next((each.strip() for each in words.splitlines() if each.strip()), "no reason was given")
    line = line.removeprefix("connection failed: ").removeprefix("connection is bad: ")
    return line.rpartition("FATAL:")[2].strip().rstrip(".")
