"""What `memtui doctor` looks at of memories on a server: how it is reached, what is granted, and the copy here."""

import os
import sqlite3
import time
from collections.abc import Iterator
from typing import Literal

import psycopg

from memtui.core.errors import LockTimeout, StateUnusable
from memtui.core.paths import format_path
from memtui.fs.state import COPY, get_state_directory
from memtui.journal.snapshot import open_read_only
from memtui.postgres.admin import OWNER
from memtui.postgres.dsn import parse_address
from memtui.postgres.server import Diverged, Server, translate_errors

Line = tuple[str, Literal["ok", "warn", "fail"], str]
"""The name of a check, how it stands, and its words."""
_CONNECT_SECONDS, _BELL_SECONDS = 5, 2.0
_SKEW_SECONDS = 2.0
"""By how much the clocks may differ before it is said: times in history are those of each machine."""
_ASK = """
SELECT clock_timestamp(), EXISTS (SELECT FROM pg_roles WHERE rolname = %s AND pg_has_role(session_user, oid, 'MEMBER'))
"""


def check_place(place: str, state: str | None, *, read_only: bool = False) -> Iterator[Line]:
    """What there is to say of a place on a server.

    Args:
        state: The directory of the copy; `None` for its own.
        read_only: Whether nothing is tried out on the server.
    """
    try:
        address = parse_address(place)
    except StateUnusable as error:
        yield "address", "fail", str(error)
        return
    yield "address", "ok", format_path(place)
    server = Server(address)
    try:
        yield from _check_connection(address.dsn)
        number, agent = server.check()
        yield "store", "ok", f"{address.store}, number {number}"
        yield "signs as", "ok", f"{agent}, and nobody else" if agent else "anybody: a role for people"
        if not read_only:
            yield _check_bell(server)
        yield _check_copy(server, place, state)
    except (StateUnusable, LockTimeout) as error:
        yield "server", "fail", str(error)
    finally:
        server.close()


def _check_connection(dsn: str) -> Iterator[Line]:
    with translate_errors(), psycopg.connect(dsn, autocommit=True, connect_timeout=_CONNECT_SECONDS) as connection:
        info = connection.info
        yield "server", "ok", f"PostgreSQL {info.parameter_status('server_version')} at {info.host or info.hostaddr}"
        if connection.pgconn.ssl_in_use:
            yield "encryption", "ok", "TLS"
        elif info.host.startswith("/"):
            yield "encryption", "ok", "a socket of this machine"
        else:
            yield "encryption", "warn", "none: whoever is between can read the memories. Add &sslmode=verify-full"
        before = time.time()
        now, is_owner = connection.execute(_ASK, [OWNER]).fetchone()  # type: ignore[misc]
        skew = now.timestamp() - (before + time.time()) / 2
        words = f"{abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} this machine's"
        is_off = abs(skew) > _SKEW_SECONDS
        yield "clock", "warn" if is_off else "ok", words if is_off else "as this machine's"
        if is_owner:
            words = "can reach the tables themselves. Give agents a role of their own: memtui admin grant"
            yield "role", "warn", f"{info.user} {words}"
        else:
            yield "role", "ok", info.user


def _check_bell(server: Server) -> Line:
    """Whether a change is heard of at once; if not, the server is asked every few seconds."""
    bell = server.listen()
    try:
        until = time.monotonic() + _BELL_SECONDS
        while not bell.is_heard and (left := until - time.monotonic()) > 0:
            bell.wait(left)
        is_heard = bell.is_heard
    finally:
        bell.close()
    if is_heard:
        return "bell", "ok", "changes are reported"
    return "bell", "warn", "not heard, as through a pooler in transaction mode: the server is asked every few seconds"


def _check_copy(server: Server, place: str, state: str | None) -> Line:
    """Whether this machine's copy is a part of the server's record, and how much it lacks."""
    path = str(get_state_directory(place, state) / COPY)
    if not os.path.exists(path):
        return "copy", "ok", "none on this machine yet"
    try:
        with open_read_only(path, locking=True) as opened:
            head = opened.connection.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        if head is None:
            return "copy", "ok", f"empty: {format_path(path)}"
        news = server.get_after(head[0], bytes(head[1]))
    except (OSError, sqlite3.Error) as error:
        return "copy", "fail", f"{format_path(path)} cannot be read: {error}"
    except Diverged as error:
        words = f"{error} See: memtui admin accept ADDRESS"
        return "copy", "fail", f"{format_path(path)}, event {head[0]:,}: {words}"
    more = f", {len(news.events):,} or more behind the server" if news.events else ", as the server"
    return "copy", "ok", f"event {head[0]:,}{more}: {format_path(path)}"
