"""One call for each command: right from whatever copy, never done twice, never answered from what is old."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import memtui
from memtui.core.errors import ServerUnusable
from memtui.core.events import EntryKind, Version, sha256
from memtui.engine import Engine
from memtui.journal import chain
from memtui.postgres.admin import Admin, Grant
from memtui.postgres.dsn import parse_address
from memtui.postgres.server import Addition, NewEvent, Overtaken, Seen, Server
from tests.conftest import wait_until
from tests.pg_server import OwnServer
from tests.postgres.relay import Relay
from tests.postgres.test_server import ME, ask, create, read_all

COMMANDS: dict[str, dict[str, object]] = {
    "view": {"command": "view", "path": "/memories/a/b.md"},
    "list": {"command": "view", "path": "/memories"},
    "create": {"command": "create", "path": "/memories/a/b.md", "file_text": "new\n"},
    "create beside": {"command": "create", "path": "/memories/a/c.md", "file_text": "beside\n"},
    "create in its place": {"command": "create", "path": "/memories/a", "file_text": "a file\n"},
    "create anew": {"command": "create", "path": "/memories/n/m/o.md", "file_text": "far\n"},
    "create anew beside": {"command": "create", "path": "/memories/n/p.md", "file_text": "near\n"},
    "str_replace": {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "one", "new_str": "two"},
    "str_replace again": {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "two", "new_str": "three"},
    "insert": {"command": "insert", "path": "/memories/a/b.md", "insert_line": 1, "insert_text": "more\n"},
    "insert behind": {"command": "insert", "path": "/memories/a/b.md", "insert_line": 2, "insert_text": "last\n"},
    "delete": {"command": "delete", "path": "/memories/a/b.md"},
    "delete all": {"command": "delete", "path": "/memories/a"},
    "rename": {"command": "rename", "old_path": "/memories/a/b.md", "new_path": "/memories/a/c.md"},
    "rename all": {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/n"},
    "no change": {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "one", "new_str": "one"},
}


def execute(engine: Engine, name: str) -> str:
    return engine.execute(COMMANDS[name], actor=ME).text


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions of the server that are called in this thread, by name."""
    made: list[str] = []
    call, here = Server._call, threading.get_ident()

    def note(self: Server, sql: str, *values: object, retry: bool = True) -> list[tuple[Any, ...]]:
        if threading.get_ident() == here:
            made.append(sql.partition("memtui.")[2].partition("(")[0])
        return call(self, sql, *values, retry=retry)

    monkeypatch.setattr(Server, "_call", note)
    return made


@pytest.fixture
def machines(place: str, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two of them, each with a copy of its own, which have seen a note."""
    with memtui.open(place, state=tmp_path / "one") as one, memtui.open(place, state=tmp_path / "two") as two:
        create(one, "a/b.md", "one\n")
        two.store.attach()
        yield one, two


@pytest.mark.parametrize("name", [each for each in COMMANDS if each != "str_replace again"])
def test_a_command_is_one_call(machines: tuple[Engine, Engine], calls: list[str], name: str) -> None:
    execute(machines[0], name)
    assert calls == ["get_after" if COMMANDS[name]["command"] == "view" else "append"]


def test_a_view_that_waits_is_recorded_by_the_server_alone(
    machines: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = machines
    monkeypatch.setattr("memtui.journal.deferred._SECONDS", 3_600)
    view, head = one.execute(COMMANDS["view"], actor=ME), one.journal.get_head()
    one.set_metadata("seen", "1")
    assert (one.journal.get_head(), one.journal.deferred.is_waiting) == (head, True)
    assert view.event.seq == head[0] + 1
    two.store.refresh()
    assert two.get_head()[1] == view.event.hash


@pytest.mark.parametrize("name", ["create", "str_replace", "insert", "delete", "rename all", "view", "no change"])
def test_a_refusal_is_one_call(place: str, calls: list[str], name: str) -> None:
    with memtui.open(place) as engine:
        create(engine, "n", "a file\n")
        create(engine, "a", "another\n")
        calls.clear()
        assert execute(engine, name).startswith(("Error", "The path"))
        assert len(calls) == 1


@pytest.mark.parametrize("copy", ["two", "one"])
@pytest.mark.parametrize("first", COMMANDS)
def test_a_copy_that_is_old_gives_the_answers_of_one_that_is_not(
    server: OwnServer, tmp_path: Path, first: str, copy: str
) -> None:
    """Every command of one machine after each of another one's, which it has not seen; or of two on one copy."""
    for number, second in enumerate(COMMANDS):
        third = ("create", "str_replace", "rename all", "view")[number % 4]
        place = server.address(f"{tmp_path.name.replace('_', '-')}-{first.replace(' ', '-')}-{copy}-{number}")
        top = tmp_path / str(number)
        with (
            memtui.open(place, state=top / "one") as one,
            memtui.open(place, state=top / copy) as two,
            memtui.open_in_memory() as only,
        ):
            for engine in (one, only):
                create(engine, "a/b.md", "one\n")
            two.store.attach()
            execute(one, first)
            execute(only, first)
            assert execute(two, second) == execute(only, second), (first, second)
            assert execute(one, third) == execute(only, third), (first, second, third)
            for engine in (one, two):
                engine.journal.deferred.flush()
                engine.store.refresh()
            one.store.refresh()
            assert read_all(one) == read_all(two) == read_all(only)
            assert one.get_head() == two.get_head()
            assert [event.changes and event.command for event in two.events() if event.changes] == [
                event.command for event in only.events() if event.changes
            ]
            assert two.reconcile() == 0
            assert two.journal.verify().is_intact


def test_what_others_do_elsewhere_takes_no_second_call(machines: tuple[Engine, Engine], calls: list[str]) -> None:
    one, two = machines
    for number in range(5):
        create(one, f"a/one-{number}.md", "one\n")
        create(two, f"a/two-{number}.md", "two\n")
    assert calls == ["append"] * 10
    one.store.attach()
    assert read_all(one) == read_all(two)
    assert len(read_all(one)) == 11
    assert one.get_head() == two.get_head()
    assert two.reconcile() == 0


def test_who_was_overtaken_needs_one_call_more_and_is_not_overtaken_again(
    machines: tuple[Engine, Engine], calls: list[str]
) -> None:
    one, two = machines
    for number in range(3):
        create(one, "a/b.md", f"{number}\n")
        calls.clear()
        assert not ask(two, "insert", "a/b.md", insert_line=0, insert_text="first\n").is_error
        assert calls == ["append", "append"], "the first one brings what is there, and locks the store"
        one.store.attach()
        assert read_all(one) == {"a/b.md": f"first\n{number}\n".encode()}
    calls.clear()
    create(one, "c.md", "the lock is given back\n")
    assert calls == ["append"]


def test_many_machines_count_in_one_note(place: str, tmp_path: Path) -> None:
    def count(number: int) -> None:
        with memtui.open(place, state=tmp_path / str(number), settings=memtui.Settings(lock_seconds=60)) as engine:
            for turn in range(10):
                answer = ask(engine, "insert", "n.md", insert_line=0, insert_text=f"{number}.{turn}\n")
                assert not answer.is_error, answer.text

    with memtui.open(place, state=tmp_path / "first") as first:
        create(first, "n.md", "")
        threads = [threading.Thread(target=count, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        first.store.attach()
        lines = read_all(first)["n.md"].decode().split()
        assert sorted(lines) == sorted(f"{number}.{turn}" for number in range(6) for turn in range(10))
        assert first.journal.verify().is_intact


def test_a_refusal_from_an_old_copy_is_not_given_while_the_server_is_away(
    server: OwnServer, machines: tuple[Engine, Engine]
) -> None:
    one, two = machines
    create(one, "new.md", "one\n")
    server.stop()
    try:
        for command, more in (("str_replace", {"old_str": "one", "new_str": "two"}), ("delete", {})):
            refused = ask(two, command, "new.md", **more)
            assert "(the server cannot be reached)" in refused.text
            assert "not exist" not in refused.text
    finally:
        server.start()
    assert not ask(two, "str_replace", "new.md", old_str="one", new_str="two").is_error


def test_a_view_is_new_also_where_the_store_is_followed_and_no_bell_comes(
    server: OwnServer, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.postgres.place._LOOK_SECONDS", 3600.0)
    relay = Relay(server.directory, tmp_path)
    relay.keeps_bells = True
    through = place.replace(str(server.directory), str(tmp_path))
    with (
        contextlib.closing(relay),
        memtui.open(place, state=tmp_path / "one") as one,
        memtui.open(through, state=tmp_path / "two") as two,
    ):
        create(one, "a.md", "one\n")
        assert two.journal.files.bells
        wait_until(lambda: read_all(two) == {"a.md": b"one\n"}, "the first look")
        create(one, "a.md", "two\n")
        assert "two" in ask(two, "view", "a.md").text


def test_an_approval_is_compared_with_what_is_there(machines: tuple[Engine, Engine]) -> None:
    one, two = machines
    command = {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "one", "new_str": "two"}
    proposal = two.propose(command, actor=ME)
    assert proposal is not None
    create(one, "a/b.md", "one and more\n")
    with pytest.raises(memtui.core.errors.StaleApproval):
        two.execute(command, actor=ME, approved=proposal.changes)
    proposal = two.propose(command, actor=ME)
    assert proposal is not None
    create(one, "other.md", "one\n")
    assert not two.execute(command, actor=ME, approved=proposal.changes).is_error


@pytest.mark.parametrize("copy", ["two", "one"])
def test_limits_hold_for_all_machines_together(place: str, tmp_path: Path, copy: str) -> None:
    settings = memtui.Settings(max_files=3)
    with (
        memtui.open(place, state=tmp_path / "one", settings=settings) as one,
        memtui.open(place, state=tmp_path / copy, settings=settings) as two,
    ):
        for name in ("a.md", "b.md", "c.md"):
            create(one, name, "one\n")
        refused = ask(two, "create", "d.md", file_text="two\n")
        assert refused.is_error
        assert len(read_all(two)) == 3


def test_what_is_protected_meanwhile_stays(machines: tuple[Engine, Engine]) -> None:
    one, two = machines
    one.files.protect(["a/b.md"])
    refused = ask(two, "str_replace", "a/b.md", old_str="one", new_str="two")
    assert refused.is_error
    assert read_all(two) == {"a/b.md": b"one\n"}


def test_what_another_program_on_the_same_copy_does_counts_with_the_next_command(place: str, tmp_path: Path) -> None:
    """Nothing of what a program has seen of a copy in one turn outlasts it: neither guards nor links nor rows."""
    with memtui.open(place, state=tmp_path) as one, memtui.open(place, state=tmp_path) as two:
        for number, engine in enumerate((one, two, one, two)):
            create(engine, f"a/{number}.md", "one\n")
        one.files.protect(["a/0.md"])
        assert ask(two, "str_replace", "a/0.md", old_str="one", new_str="two").is_error
        one.files.unprotect(["a/0.md"])
        assert not ask(two, "str_replace", "a/0.md", old_str="one", new_str="two").is_error
        target = Version(EntryKind.LINK, sha256(b"a/1.md"))
        one.restore({"link.md": target}, texts={sha256(b"a/1.md"): b"a/1.md"})
        assert not ask(two, "str_replace", "link.md", old_str="one", new_str="through").is_error
        assert read_all(one)["a/1.md"] == b"through\n"
        assert one.get_head() == two.get_head()
        assert two.journal.verify().is_intact


# A call whose answer is lost


def make_addition(name: str = "a", actor: str = '["agent","tester","","",""]') -> Addition:
    start = b'{"actor":%b,"at_us":1,"command":"create","path":"/memories/%b","schema":1,"seq":' % (
        actor.encode(),
        name.encode(),
    )
    return Addition([NewEvent(start, b"}", b"ok", None)], {})


def test_a_call_that_comes_twice_is_done_once_and_told_so(place: str) -> None:
    nothing = Seen(0, chain.START)
    with contextlib.closing(Server(parse_address(place))) as server:
        first = server._append(b"one", nothing, make_addition("a"), False)
        other = server._append(b"two", Seen(0, chain.START, related=()), make_addition("b"), False)
        assert [each.seq for each in other.news.events] == [1]
        again = server._append(b"one", nothing, make_addition("a"), False)
        assert (again.seq, again.hash) == (first.seq, first.hash) == (1, first.hash)
        again = server._append(b"two", nothing, make_addition("b"), False)
        assert (again.seq, again.hash) == (2, other.hash)
        assert [each.seq for each in again.news.events] == [1], "what came before it"
        with pytest.raises(Overtaken) as overtaken:
            server._append(b"three", nothing, make_addition("c"), False)
        assert [each.seq for each in overtaken.value.news.events] == [1, 2]
        assert len(server.get_after(0, chain.START).events) == 2


@pytest.mark.parametrize("name", ["create", "str_replace", "insert", "delete", "rename all"])
def test_a_command_whose_answer_is_lost_is_not_done_twice_when_others_go_on(
    server: OwnServer, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    relay = Relay(server.directory, tmp_path)
    through = place.replace(str(server.directory), str(tmp_path))
    with (
        contextlib.closing(relay),
        memtui.open(place, state=tmp_path / "one") as one,
        memtui.open(through, state=tmp_path / "two") as two,
        memtui.open_in_memory() as only,
    ):
        for engine in (one, only):
            create(engine, "a/b.md", "one\n")
        two.store.attach()
        create(one, "before.md", "seen by nobody else\n")
        expected = execute(only, name)
        wait = threading.Event()

        def go_on(_: float) -> None:
            if not wait.is_set():
                wait.set()
                for number in range(3):
                    ask(one, "create", f"a/after-{number}.md", file_text="elsewhere, before it is asked back\n")

        monkeypatch.setattr("memtui.postgres.server.time.sleep", go_on)
        relay.lost = b"memtui.append"
        assert execute(two, name) == expected
        assert relay.is_cut
        assert wait.is_set()
        two.store.attach()
        one.store.attach()
        changes = [event for event in two.events() if event.changes]
        assert sum(event.command == COMMANDS[name]["command"] for event in changes) == 1 + (name == "create") * 5
        assert read_all(one) == read_all(two)
        assert one.get_head() == two.get_head()
        assert two.journal.verify().is_intact


def test_a_call_that_still_waits_on_the_server_when_it_is_asked_back_is_done_once(
    server: OwnServer, place: str, tmp_path: Path
) -> None:
    relay = Relay(server.directory, tmp_path)
    through = place.replace(str(server.directory), str(tmp_path))
    answers: list[memtui.Answer] = []
    with (
        contextlib.closing(relay),
        memtui.open(through, state=tmp_path / "two") as two,
        contextlib.closing(Server(parse_address(place))) as other,
        psycopg.connect(parse_address(place).dsn, autocommit=True) as owner,
    ):
        create(two, "a.md", "one\n")
        other.lock()
        thread = threading.Thread(target=lambda: answers.append(ask(two, "create", "b.md", file_text="two\n")))
        thread.start()
        waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        wait_until(lambda: owner.execute(waiting).fetchall(), "the call to wait")
        relay.cut()
        wait_until(lambda: len(owner.execute(waiting).fetchall()) == 2, "the call to be asked for as well")
        other.unlock()
        thread.join(30)
        assert [each.text for each in answers if each.is_error] == []
        assert [event.command for event in two.events()] == ["create", "create"]
        assert read_all(two) == {"a.md": b"one\n", "b.md": b"two\n"}


# What the server holds to


@pytest.mark.parametrize(
    "forged",
    [
        lambda made: made._replace(start=made.start.replace(b'"seq":', b"")),
        lambda made: made._replace(start=made.start.replace(b'"at_us":', b'"seq":7,"at_us":')),
        lambda made: made._replace(end=b',"seq":7}'),
        lambda made: made._replace(end=b"0}"),
        lambda made: made._replace(end=b""),
    ],
)
def test_a_client_cannot_break_the_chain(place: str, forged: Callable[[NewEvent], NewEvent]) -> None:
    addition = make_addition()
    with contextlib.closing(Server(parse_address(place))) as server:
        with pytest.raises(ServerUnusable, match="as broken"):
            server.append(Seen(0, chain.START), addition._replace(events=[forged(addition.events[0])]))
        assert server.get_after(0, chain.START).events == []
        server.append(Seen(0, chain.START), addition)


@pytest.mark.parametrize(
    "forged",
    [
        lambda made: made._replace(start=made.start.replace(b"Bot", b"Other")),
        lambda made: made._replace(start=made.start.replace(b'"at_us":', b'"actor":["person"],"at_us":')),
        lambda made: made._replace(end=b',"x":{"actor":["person"]}}'),
        lambda made: made._replace(end=b',"x":{"noted":{}}}'),
        lambda made: made._replace(start=b'{"a":1,' + made.start[1:]),
    ],
)
def test_a_role_that_is_bound_signs_as_nobody_else(
    server: OwnServer, place: str, forged: Callable[[NewEvent], NewEvent]
) -> None:
    address = parse_address(place)
    role = f"bound_{address.store}".replace("-", "_")
    admin = Admin(address)
    admin.run(admin.plan_grant(Grant(role, "main", address.store, ("read", "write"), "Bot")))
    admin.close()
    addition = make_addition(actor='["agent","Bot","","",""]')
    with contextlib.closing(Server(parse_address(server.address(address.store, role)))) as bound:
        with pytest.raises(ServerUnusable, match="signed by another"):
            bound.append(Seen(0, chain.START), addition._replace(events=[forged(addition.events[0])]))
        assert bound.append(Seen(0, chain.START), addition).seq == 1
        with pytest.raises(ServerUnusable, match="no such right"):
            bound.append(Seen(0, chain.START), Addition([], {}, removed=["00" * 32]))


def test_the_bell_is_rung_only_where_somebody_listens(
    place: str, machines: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = machines
    rung: list[str] = []
    call = Server._call

    def note(self: Server, sql: str, *values: object, retry: bool = True) -> list[tuple[Any, ...]]:
        if "memtui.ring" in sql:
            rung.append(sql)
        return call(self, sql, *values, retry=retry)

    monkeypatch.setattr(Server, "_call", note)
    create(one, "b.md", "nobody listens\n")
    assert two.journal.files.bells
    wait_until(lambda: "b.md" in read_all(two), "the first look")
    assert rung == []
    with psycopg.connect(parse_address(place).dsn, autocommit=True) as owner:
        attending = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'"
        wait_until(lambda: owner.execute(attending).fetchall(), "somebody to listen")
    create(one, "c.md", "somebody does\n")
    wait_until(lambda: rung, "the bell")
    wait_until(lambda: "c.md" in read_all(two), "the change")
