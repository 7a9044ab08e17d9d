"""A server that goes, refuses, is full, or was set back: nothing is lost, nothing comes twice, and all is said."""

import contextlib
import re
import select
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import memtui
from memtui.core.errors import OutcomeUnknown, ServerUnusable, StateUnusable
from memtui.core.events import WatchMode
from memtui.engine import Engine
from memtui.journal.deferred import NOT_RECORDED
from memtui.postgres.admin import Admin, Grant
from memtui.postgres.dsn import parse_address
from memtui.postgres.journal import ServerJournal
from memtui.postgres.server import SCHEMA, Addition, Seen, Server
from tests import pg_server
from tests.conftest import set_clock, wait_until
from tests.pg_server import OwnServer
from tests.postgres.relay import Relay
from tests.postgres.test_server import ask, create, read_all

_FULL = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'"
_WAITS = "PERFORM pg_advisory_lock(77)"
_SETTINGS = memtui.Settings(lock_seconds=0.2)


@pytest.fixture
def owner(server: OwnServer) -> Iterator[psycopg.Connection[Any]]:
    """Somebody who may do anything on the server."""
    with psycopg.connect(parse_address(server.address("main")).dsn, autocommit=True) as connection:
        yield connection


@contextlib.contextmanager
def on_insert(address: str, body: str) -> Iterator[None]:
    """Have the server do something as it adds an event, in any store."""
    dsn = parse_address(address).dsn
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            f"CREATE OR REPLACE FUNCTION public.fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; "
            "RETURN NULL; END $$"
        )
        connection.execute(
            "CREATE TRIGGER fault AFTER INSERT ON memtui.events FOR EACH STATEMENT EXECUTE FUNCTION public.fault()"
        )
    try:
        yield
    finally:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("DROP TRIGGER fault ON memtui.events")


@pytest.fixture
def bot(server: OwnServer, place: str) -> str:
    """The address of the store for a role that is nobody's but this test's."""
    address = parse_address(place)
    admin = Admin(address)
    role = address.store.replace("-", "_")
    admin.run(admin.plan_grant(Grant(role, "main", address.store, ("read", "write"), None)))
    admin.close()
    return server.address(address.store, role)


def list_commands(engine: Engine) -> list[str]:
    return [event.command for event in engine.events()]


# The connection goes


def test_a_server_that_is_killed_in_mid_command_has_it_once(
    server: OwnServer, place: str, owner: psycopg.Connection[Any]
) -> None:
    answers = []
    with memtui.open(place) as engine, on_insert(place, _WAITS):
        owner.execute("SELECT pg_advisory_lock(77)")
        thread = threading.Thread(target=lambda: answers.append(ask(engine, "create", "a.md", file_text="one\n")))
        thread.start()
        waiting = "SELECT 1 FROM pg_locks WHERE objid = 77 AND NOT granted"
        wait_until(lambda: owner.execute(waiting).fetchall(), "the command to be on the server")
        server.stop()
        server.start()
        thread.join(60)
        assert [answer.text for answer in answers if answer.is_error] == []
        assert list_commands(engine) == ["create"]
        assert read_all(engine) == {"a.md": b"one\n"}
        assert engine.journal.verify().is_intact


def test_a_command_whose_answer_is_lost_is_asked_back(server: OwnServer, place: str, tmp_path: Path) -> None:
    relay = Relay(server.directory, tmp_path)
    through = place.replace(str(server.directory), str(tmp_path))
    with contextlib.closing(relay), memtui.open(through, state=tmp_path / "one") as engine:
        relay.lost = b"memtui.append"
        create(engine, "a.md", "one\n")
        assert relay.is_cut
        assert list_commands(engine) == ["create"]
        create(engine, "b.md", "two\n")
    with memtui.open(place, state=tmp_path / "two") as other:
        assert read_all(other) == {"a.md": b"one\n", "b.md": b"two\n"}
        assert list_commands(other) == ["create", "create"]


@pytest.mark.parametrize("is_done", [True, False])
def test_what_nobody_could_be_asked_about_is_said_and_found_out_later(
    place: str, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    with memtui.open(place) as engine:
        with monkeypatch.context() as patch:
            lose_appends(patch, is_done=is_done)
            lost = ask(engine, "create", "a.md", file_text="one\n")
        assert lost.text == (
            "Error: the server went away before it answered, and it is not known whether /memories/a.md was changed. "
            "View it before going on"
        )
        assert read_all(engine) == {}, "nothing is taken for saved"
        assert ("one" in ask(engine, "view", "a.md").text) is is_done
        create(engine, "b.md", "two\n")
        assert list_commands(engine).count("create") == 1 + is_done
        assert engine.journal.verify().is_intact


@pytest.mark.parametrize("is_done", [True, False])
def test_a_view_whose_record_is_lost_is_answered_and_recorded_once_at_most(
    place: str, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
        with monkeypatch.context() as patch:
            lose_appends(patch, is_done=is_done)
            seen = ask(engine, "view", "a.md")
            assert "one" in seen.text
            assert seen.event is not None
            assert seen.event.note == NOT_RECORDED
        create(engine, "b.md", "two\n")
        assert list_commands(engine) == ["create", *["view"] * is_done, "create"]


def lose_appends(patch: pytest.MonkeyPatch, *, is_done: bool) -> None:
    """Have nobody learn whether something was added."""
    append = Server.append

    def lose(self: Server, seen: Seen, added: Addition, *, release: bool = False) -> None:
        if is_done:
            append(self, seen, added, release=release)
        raise OutcomeUnknown("The server went away, and nobody knows whether the change was made.")

    patch.setattr(Server, "append", lose)


@pytest.mark.parametrize("is_done", [True, False])
def test_an_undo_whose_answer_is_lost_is_done_once_or_goes_on_here(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    with memtui.open(place, state=tmp_path / "one") as engine:
        create(engine, "a.md", "one\n")
        create(engine, "a.md", "two\n")
        with monkeypatch.context() as patch:
            lose_appends(patch, is_done=is_done)
            assert engine.undo([2]).problem.startswith("The server went away")
        create(engine, "b.md", "new\n")
        assert list_commands(engine) == ["create", "create", "undo", "create"]
        with memtui.open(place, state=tmp_path / "two") as other:
            assert read_all(engine) == read_all(other) == {"a.md": b"one\n", "b.md": b"new\n"}
            assert engine.get_head() == other.get_head()
        assert engine.reconcile() == 0


def test_copies_that_follow_go_on_by_themselves_when_a_server_is_back(
    server: OwnServer, place: str, tmp_path: Path
) -> None:
    with memtui.open(place, state=tmp_path / "one") as one, memtui.open(place, state=tmp_path / "two") as two:
        files = two.journal.files
        assert files.bells
        create(one, "a.md", "one\n")
        wait_until(lambda: read_all(two) == {"a.md": b"one\n"}, "the first change")
        server.stop()
        try:
            wait_until(lambda: files.status.mode is WatchMode.OFFLINE, "the follower to see it")
            assert "cannot be reached" in files.status.reason
            assert ask(one, "create", "b.md", file_text="lost\n").is_error
        finally:
            server.start()
        create(one, "b.md", "two\n")
        wait_until(lambda: read_all(two) == {"a.md": b"one\n", "b.md": b"two\n"}, "the second change")
        wait_until(lambda: files.status.mode is WatchMode.LIVE, "the follower to be live")
        assert one.get_head() == two.get_head()
        assert list_commands(two).count("create") == 2


# The server refuses


def has_ended(engine: Engine) -> bool:
    """Whether the other side has closed the connection, and this machine has been told."""
    assert isinstance(engine.journal, ServerJournal)
    connection = engine.journal.server._connection
    assert connection is not None
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLRDHUP)
    return bool(waiting.poll(0))


def test_too_many_connections_are_said_and_pass(bot: str, owner: psycopg.Connection[Any], tmp_path: Path) -> None:
    role = parse_address(bot).dsn.partition("//")[2].partition("@")[0]
    with memtui.open(bot, state=tmp_path / "one") as engine:
        create(engine, "a.md", "one\n")
        owner.execute(f"ALTER ROLE {role} CONNECTION LIMIT 0")
        owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (role,))
        there = "SELECT 1 FROM pg_stat_activity WHERE usename = %s"
        wait_until(lambda: not owner.execute(there, (role,)).fetchall(), "the connections to end")
        wait_until(lambda: has_ended(engine), "the end of the connection to arrive here")
        assert "(the server cannot be reached). Nothing" in ask(engine, "create", "b.md", file_text="two\n").text
        with pytest.raises(
            StateUnusable, match=f'^The server cannot be reached: too many connections for role "{role}"'
        ):
            memtui.open(bot, state=tmp_path / "two")
        owner.execute(f"ALTER ROLE {role} CONNECTION LIMIT -1")
        create(engine, "b.md", "two\n")
        assert read_all(engine) == {"a.md": b"one\n", "b.md": b"two\n"}


def test_a_store_that_another_keeps_locked_is_busy(place: str) -> None:
    with memtui.open(place, settings=_SETTINGS) as engine:
        create(engine, "a.md", "one\n")
        with contextlib.closing(Server(parse_address(place))) as other:
            other.lock()
            refused = ask(engine, "create", "b.md", file_text="two\n")
            assert refused.text == (
                "Error: could not create /memories/b.md: the memory folder is busy. Nothing was changed; try again"
            )
        create(engine, "b.md", "two\n")
        assert list_commands(engine).count("create") >= 2


def test_a_call_that_takes_too_long_was_not_made(bot: str, owner: psycopg.Connection[Any]) -> None:
    role = parse_address(bot).dsn.partition("//")[2].partition("@")[0]
    owner.execute(f"ALTER ROLE {role} SET statement_timeout = '200ms'")
    with memtui.open(bot) as engine:
        with contextlib.closing(Server(parse_address(bot))) as other:
            other.lock()
            refused = ask(engine, "create", "a.md", file_text="one\n")
            assert "(the server broke the call off, and nothing was changed)" in refused.text
        create(engine, "a.md", "one\n")
        assert read_all(engine) == {"a.md": b"one\n"}


def test_a_server_without_room_changes_nothing(place: str) -> None:
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
        create(engine, "a.md", "two\n")
        create(engine, "d/b.md", "below\n")
        with on_insert(place, _FULL):
            refused = ask(engine, "create", "c.md", file_text="two\n")
            assert refused.text == (
                "Error: could not create /memories/c.md: the journal cannot be written (the server has no room). "
                "Nothing was changed"
            )
            why = "The server has no room: could not extend file: No space left on device. Nothing was changed."
            assert engine.undo([2]).problem == f"Not undone: {why}"
            assert engine.files.move({"a.md": "c.md", "d": "e/f"}).problem == f"Not moved: {why}"
            assert read_all(engine) == {"a.md": b"two\n", "d/b.md": b"below\n"}
            assert engine.reconcile() == 0, "what was rolled back is no change from outside"
        assert engine.undo([2]).event is not None
        assert read_all(engine) == {"a.md": b"one\n", "d/b.md": b"below\n"}
        assert list_commands(engine) == ["create", "create", "create", "undo"]
        assert engine.journal.verify().is_intact


# The server is another one


def test_a_schema_that_is_newer_by_one_is_read_and_not_written_to(tmp_path: Path) -> None:
    if pg_server.MISSING:
        pytest.skip(pg_server.MISSING)
    with pg_server.run_server() as own:
        place = own.address("team")
        with memtui.open(place, state=tmp_path / "one") as engine:
            create(engine, "a.md", "one\n")
        with psycopg.connect(parse_address(place).dsn, autocommit=True) as connection:
            connection.execute("INSERT INTO memtui.migrations VALUES (%s, now())", [SCHEMA + 1])
            why = "server's schema is of a newer memtui"
            newer = f"The {why}: memories can be read, and not changed. Update memtui to use it."
            for name in ("one", "two"):
                with memtui.open(place, state=tmp_path / name) as engine:
                    assert read_all(engine) == {"a.md": b"one\n"}
                    assert f"(the {why}). Nothing was changed" in ask(engine, "create", "b.md", file_text="two\n").text
                    assert "one" in ask(engine, "view", "a.md").text
                    for change in (lambda e: e.undo([1]), lambda e: e.files.move({"a.md": "c.md"})):
                        with pytest.raises(ServerUnusable, match=re.escape(newer)):
                            change(engine)
                    assert read_all(engine) == {"a.md": b"one\n"}
            connection.execute("INSERT INTO memtui.migrations VALUES (%s, now())", [SCHEMA + 2])
        with pytest.raises(
            StateUnusable, match=r"^The server's schema is of a newer memtui\. Update memtui to use it\.$"
        ):
            memtui.open(place, state=tmp_path / "three")


@pytest.fixture
def set_back(tmp_path: Path) -> Iterator[tuple[OwnServer, OwnServer, str, str]]:
    """A server, a copy of it that lacks the last event, and the addresses of a store on both.

    This machine has read the last event, and another one (`two`) has not. Neither server runs.
    """
    if pg_server.MISSING:
        pytest.skip(pg_server.MISSING)
    with pg_server.run_server() as first:
        place = first.address("team")
        for name in ("one", "two"):
            with memtui.open(place, state=tmp_path / name) as engine:
                create(engine, f"{name}.md", f"{name}\n")
        first.stop("fast")
        second = first.copy(first.directory / "second")
        first.start()
        with memtui.open(place, state=tmp_path / "one") as engine:
            create(engine, "last.md", "last\n")
        first.stop("fast")
        yield first, second, place, second.address("team")
        second.stop()


def test_a_server_that_was_restored_lacks_what_a_machine_knows_and_is_told_so(
    set_back: tuple[OwnServer, OwnServer, str, str], tmp_path: Path
) -> None:
    first, second, place, _ = set_back
    first.start()
    with memtui.open(place, state=tmp_path / "one") as engine:
        assert engine.journal.files.bells
        head = engine.get_head()
        first.stop("fast")
        first.data.rename(first.directory / "newer")
        second.data.rename(first.data)
        first.start()
        told = "the server's record does not go on from event 3, which this machine has read there"
        assert told in ask(engine, "create", "lost.md", file_text="lost\n").text
        why = f"{told.capitalize()}: it was set back to an earlier moment, or is another one. Nothing was changed."
        wait_until(lambda: engine.journal.files.status.reason.startswith(why), "the follower to say it")
        assert engine.get_head() == head, "this machine keeps what it knows"
        assert "last.md" in read_all(engine)
        with memtui.open(place, state=tmp_path / "two") as other:
            assert set(read_all(other)) == {"one.md", "two.md"}, "nothing was added to it"
            create(other, "later.md", "later\n")
            create(other, "later.md", "again\n")
        refused = ask(engine, "create", "lost.md", file_text="lost\n")
        assert told in refused.text, "also once there are other events of these numbers"
        assert engine.get_head() == head


def test_a_standby_is_read_and_takes_over_without_its_last_event(
    set_back: tuple[OwnServer, OwnServer, str, str], tmp_path: Path
) -> None:
    _, standby, _, place = set_back
    (standby.data / "standby.signal").touch()
    standby.start()
    # Machines know a server by its address: here another name leads to the standby.
    for name in ("one", "two"):
        (tmp_path / name).rename(tmp_path / f"{name}-at-standby")
    with memtui.open(place, state=tmp_path / "two-at-standby") as two:
        assert set(read_all(two)) == {"one.md", "two.md"}
        refused = ask(two, "create", "a.md", file_text="a\n")
        assert "(the server takes no changes now)" in refused.text
        why = "The server takes no changes now: it is a standby, or was made read-only."
        assert two.undo([1]).problem == f"Not undone: {why} Nothing was changed."
        files = two.journal.files
        assert files.bells
        wait_until(lambda: files.status.mode is WatchMode.POLLING, "the follower to say that there is no bell")
        assert "Checking every 3 s." in files.status.reason
        standby.run("pg_ctl", "-w", "promote")
        create(two, "a.md", "a\n")
        assert "a.md" in read_all(two)
    with pytest.raises(StateUnusable, match="does not go on from event 3"):
        memtui.open(place, state=tmp_path / "one-at-standby")


# The bell, and the clock


def test_a_bell_that_does_not_come_through_is_said_and_changes_come_all_the_same(
    server: OwnServer, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.postgres.place._LOOK_SECONDS", 0.3)
    relay = Relay(server.directory, tmp_path)
    relay.keeps_bells = True
    through = place.replace(str(server.directory), str(tmp_path))
    with (
        contextlib.closing(relay),
        memtui.open(place, state=tmp_path / "one") as one,
        memtui.open(through, state=tmp_path / "two") as two,
    ):
        files = two.journal.files
        assert files.bells
        wait_until(lambda: files.status.mode is WatchMode.POLLING, "the follower to notice it")
        assert files.status.reason == (
            "Live updates are slower: the server's notifications do not come through, as behind a pooler in "
            "transaction mode. Checking every 3 s."
        )
        create(one, "a.md", "one\n")
        wait_until(lambda: read_all(two) == {"a.md": b"one\n"}, "the change")


def test_events_are_in_the_servers_order_whatever_the_clocks_say(place: str, tmp_path: Path) -> None:
    hour = 3_600_000_000_000
    with memtui.open(place, state=tmp_path / "one") as one, memtui.open(place, state=tmp_path / "two") as two:
        set_clock(one, lambda: 100 * hour)
        set_clock(two, lambda: 99 * hour)
        create(one, "a.md", "one\n")
        create(two, "a.md", "two\n")
        create(one, "a.md", "three\n")
        two.store.attach()
        events = list(two.events())
        assert [(event.seq, event.at_us * 1_000 // hour) for event in events] == [(1, 100), (2, 99), (3, 100)]
        assert read_all(two) == {"a.md": b"three\n"}
        assert two.journal.verify().is_intact
        journal = one.journal
        assert isinstance(journal, ServerJournal)
        assert journal.catch_up() is False
