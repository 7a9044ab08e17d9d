"""Memories on a PostgreSQL server: shared by machines, never recorded by one alone, and out of an agent's reach."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import memtui
from memtui import copying
from memtui.cli import main, output
from memtui.core.errors import MemoryClosed, StateUnusable, Unreachable
from memtui.engine import Engine
from memtui.fs.state import UNFINISHED
from memtui.postgres.admin import Admin, Grant
from memtui.postgres.dsn import parse_address
from memtui.postgres.journal import ServerJournal
from memtui.postgres.place import connect
from memtui.postgres.server import Server
from tests.conftest import wait_until
from tests.pg_server import OwnServer

ME = memtui.Agent("tester")


@pytest.fixture
def machines(place: str, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two of them, each with a copy of its own."""
    with memtui.open(place, state=tmp_path / "one") as one, memtui.open(place, state=tmp_path / "two") as two:
        yield one, two


def ask(engine: Engine, command: str, path: str, **more: object) -> memtui.Answer:
    return engine.execute({"command": command, "path": f"/memories/{path}", **more}, actor=ME)


def create(engine: Engine, path: str, text: str) -> None:
    answer = ask(engine, "create", path, file_text=text)
    assert not answer.is_error, answer.text


def ask_as_bot(engine: Engine, path: str) -> memtui.Answer:
    command = {"command": "create", "path": f"/memories/{path}", "file_text": "b\n"}
    return engine.execute(command, actor=memtui.Agent("Bot"))


def raise_interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def read_all(engine: Engine) -> dict[str, bytes]:
    contents = engine.store.scan_contents(limit=1 << 30)
    return {node.path: content.data for node, content in contents if hasattr(content, "data")}


def test_a_machine_that_reads_a_store_first_says_how_far_it_is_and_may_leave(place: str, tmp_path: Path) -> None:
    with memtui.open(place, state=tmp_path / "one") as engine:
        create(engine, "a.md", "one\n")
        create(engine, "b.md", "two\n")
    seen: list[int] = []
    connect(place, state=tmp_path / "two", progress=seen.append).close()
    assert seen == [2]

    def leave(_: int) -> None:
        raise MemoryClosed("left")

    with pytest.raises(MemoryClosed, match="left"):
        connect(place, state=tmp_path / "three", progress=leave)
    assert (tmp_path / "three" / UNFINISHED).exists()
    with memtui.open(place, state=tmp_path / "three") as engine:
        assert read_all(engine) == {"a.md": b"one\n", "b.md": b"two\n"}
    assert not (tmp_path / "three" / UNFINISHED).exists()


def test_a_verb_after_a_download_that_was_left_says_how_far_it_is(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("is_terminal", lambda _: True), ("_PATIENCE", 0.0), ("_BETWEEN", 0.0)):
        monkeypatch.setattr(output, name, value)
    here = tmp_path / "here"
    connect(place, state=here).close()
    with memtui.open(place, state=tmp_path / "one") as engine:
        create(engine, "a.md", "one\n")
    (here / UNFINISHED).touch()
    assert main(["ls", "--dir", place, "--state", str(here)]) == 0
    assert "Reading the server's record, events: 1" in capsys.readouterr().err
    assert main(["ls", "--dir", place, "--state", str(here)]) == 0
    assert "Reading" not in capsys.readouterr().err


def test_what_one_machine_writes_the_other_reads(machines: tuple[Engine, Engine]) -> None:
    one, two = machines
    create(one, "a/b.md", "one\n")
    assert "one" in ask(two, "view", "a/b.md").text
    assert not ask(two, "str_replace", "a/b.md", old_str="one", new_str="two").is_error
    move = {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c"}
    assert not one.execute(move, actor=ME).is_error
    assert "two" in ask(two, "view", "c/b.md").text
    assert not ask(two, "delete", "c").is_error
    one.store.attach()
    assert read_all(one) == read_all(two) == {}
    one.execute({"command": "view", "path": "/memories"}, actor=ME)
    two.store.attach()
    for each in machines:
        each.store.attach()
        assert each.journal.verify().is_intact
        assert [event.command for event in each.events() if event.changes] == [
            "create",
            "str_replace",
            "rename",
            "delete",
        ]


def test_who_was_slower_plans_anew(machines: tuple[Engine, Engine]) -> None:
    one, two = machines
    create(one, "count.md", "0\n")
    for number in range(10):
        engine = machines[number % 2]
        step = {"old_str": f"{number}\n", "new_str": f"{number + 1}\n"}
        assert not ask(engine, "str_replace", "count.md", **step).is_error
    assert "would be overwritten" not in ask(one, "view", "count.md").text
    refused = ask(two, "str_replace", "count.md", old_str="3\n", new_str="4\n")
    assert refused.is_error, "it is not what stands there"
    two.store.attach()
    assert read_all(two) == {"count.md": b"10\n"}


def test_undo_restores_on_every_machine(machines: tuple[Engine, Engine]) -> None:
    one, two = machines
    create(one, "a.md", "one\n")
    create(two, "a.md", "two\n")
    one.store.attach()
    assert one.undo([two.get_head()[0]]).event is not None
    two.store.attach()
    assert read_all(one) == read_all(two) == {"a.md": b"one\n"}


def test_a_new_machine_has_all_of_it(machines: tuple[Engine, Engine], place: str, tmp_path: Path) -> None:
    for number in range(30):
        create(machines[0], f"n{number}/a.md", f"{number}\n")
    with memtui.open(place, state=tmp_path / "three") as three:
        assert three.get_head() == machines[0].get_head()
        assert read_all(three) == read_all(machines[0])
        assert three.reconcile() == 0, "nothing seems to have come from outside"


def test_a_redaction_reaches_the_copies(machines: tuple[Engine, Engine]) -> None:
    one, two = machines
    create(one, "key.md", "the key is hunter2\n")
    create(one, "key.md", "gone\n")
    two.store.attach()
    done = one.redact(match="hunter2", reason="a key")
    assert done.event is not None
    two.store.attach()
    for each in machines:
        texts = [each.journal.get_text(sha256) or b"" for sha256 in each.journal.get_version_sizes()]
        assert not any(b"hunter2" in text for text in texts)
        assert each.journal.verify().is_intact


def test_a_text_that_was_removed_and_came_back_is_on_a_new_machine(
    machines: tuple[Engine, Engine], place: str, tmp_path: Path
) -> None:
    one = machines[0]
    create(one, "a.md", "a secret\n")
    create(one, "a.md", "none\n")
    assert one.redact(match="a secret", reason="a test").event is not None
    create(one, "b.md", "a secret\n")
    with memtui.open(place, state=tmp_path / "three") as three:
        assert read_all(three) == {"a.md": b"none\n", "b.md": b"a secret\n"}
        assert three.journal.verify().is_intact


def test_a_change_that_broke_off_here_is_taken_over_from_the_server(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memtui.open(place) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(engine.store, "write", raise_interrupt)
            with pytest.raises(KeyboardInterrupt):
                ask(engine, "create", "a.md", file_text="one\n")
        create(engine, "b.md", "two\n")
        assert read_all(engine) == {"a.md": b"one\n", "b.md": b"two\n"}
        assert [event.command for event in engine.events()] == ["create", "create"]
        assert not engine.journal.get_intents()


def test_without_the_server_nothing_is_saved_and_all_goes_on_later(
    server: OwnServer, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.postgres.server._AGAIN_SECONDS", (0.0,))
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
        server.stop()
        try:
            assert ask(engine, "create", "b.md", file_text="two\n").is_error
            assert "one" in ask(engine, "view", "a.md").text, "what this machine knows"
            with pytest.raises(StateUnusable, match="cannot be reached"):
                memtui.open(place, state=tmp_path / "other")
        finally:
            server.start()
        create(engine, "b.md", "three\n")
        assert read_all(engine) == {"a.md": b"one\n", "b.md": b"three\n"}
        assert engine.journal.verify().is_intact


@pytest.mark.parametrize("is_done", [True, False])
def test_a_call_that_is_lost_is_done_once_or_not_at_all(
    place: str, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
        journal = engine.journal
        assert isinstance(journal, ServerJournal)
        call = Server._call
        lost: list[str] = []

        def lose(self: Server, sql: str, *values: object, retry: bool = True) -> list[tuple[Any, ...]]:
            if "append" not in sql or lost:
                return call(self, sql, *values, retry=retry)
            lost.append(sql)
            if is_done:
                call(self, sql, *values, retry=retry)
            self._drop()
            self._was_sent = True
            raise Unreachable("The line was cut.")

        monkeypatch.setattr(Server, "_call", lose)
        create(engine, "b.md", "two\n")
        assert lost
        assert [event.command for event in engine.events()] == ["create", "create"]
        assert read_all(engine) == {"a.md": b"one\n", "b.md": b"two\n"}


def test_an_agent_of_its_own_role_signs_as_itself_and_reaches_no_table(server: OwnServer, place: str) -> None:
    address = parse_address(place)
    admin = Admin(address)
    admin.run(admin.plan_grant(Grant("bot", "main", address.store, ("read", "write"), "Bot")))
    admin.close()
    bot = server.address(address.store, "bot")
    with memtui.open(bot) as engine:
        command = {"command": "create", "path": "/memories/a.md", "file_text": "a\n"}
        assert engine.execute(command, actor=ME).is_error, "it is not Bot"
        assert not engine.execute(command, actor=memtui.Agent("Bot")).is_error
        with pytest.raises(StateUnusable, match="only what the agent Bot does"):
            engine.redact(match="a", reason="mine")
        assert not ask_as_bot(engine, "b.md").is_error, "all goes on"
    with psycopg.connect(parse_address(bot).dsn, autocommit=True) as connection:
        for table in ("events", "versions", "grants", "stores", "texts", "removals", "tenants"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM memtui.{table}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT memtui.enter('main', 'write')")
    with pytest.raises(StateUnusable, match="no such right"):
        memtui.open(server.address("another", "bot"))
    with psycopg.connect(parse_address(place).dsn, autocommit=True) as owner, pytest.raises(psycopg.DatabaseError):
        owner.execute("UPDATE memtui.events SET body = body")


def test_a_copy_that_follows_has_changes_at_once(machines: tuple[Engine, Engine]) -> None:
    one, two = machines
    assert two.journal.files.bells, "somebody watches"
    create(one, "a.md", "one\n")
    wait_until(lambda: read_all(two) == {"a.md": b"one\n"}, "the change on the other machine")


def test_a_server_that_was_set_back_is_told(place: str, tmp_path: Path) -> None:
    with memtui.open(place, state=tmp_path / "one") as engine:
        create(engine, "a.md", "one\n")
    with psycopg.connect(parse_address(place).dsn, autocommit=True) as owner:
        owner.execute(
            "UPDATE memtui.stores SET head = 0, hash = sha256('') WHERE name = %s", (parse_address(place).store,)
        )
        owner.execute("ALTER TABLE memtui.events DISABLE TRIGGER events_stay")
        owner.execute("DELETE FROM memtui.texts")
        owner.execute("DELETE FROM memtui.events")
        owner.execute("ALTER TABLE memtui.events ENABLE TRIGGER events_stay")
    with pytest.raises(StateUnusable, match="does not go on from event 1"):
        memtui.open(place, state=tmp_path / "one")


@pytest.mark.parametrize("given", ["postgres://me:secret@db/app", "postgres://me@db/app?password=secret"])
def test_a_password_is_no_part_of_an_address(given: str) -> None:
    with pytest.raises(StateUnusable, match="pgpass") as told:
        memtui.open(given)
    assert "secret" not in str(told.value)


def test_rights_are_shown_before_they_are_given(run_verb: Any, server: OwnServer) -> None:
    shown = run_verb("admin", "grant", server.address("main"), "reader", "--may", "read", "--sql")
    assert "Would do: the role reader" in shown
    assert "CREATE ROLE" in shown
    assert "Nothing was done." in shown
    assert "Done: reader may read" in run_verb(
        "admin", "grant", server.address("main"), "reader", "--may", "read", "--yes"
    )
    assert len(run_verb("admin", "rotate", server.address("main"), "reader", "--yes").splitlines()[-1]) > 20
    assert "may do nothing" in run_verb("admin", "revoke", server.address("main"), "reader", "--yes")


def test_verbs_work_on_it(run_verb: Any, place: str) -> None:
    with memtui.open(place) as engine:
        create(engine, "a.md", "# One\n")
    assert "a.md" in run_verb("ls", place)
    assert "# One" in run_verb("show", "--dir", place, "a.md")
    assert "Intact" in run_verb("verify", place)
    assert "/memories/a.md" in run_verb("log", place)
    assert "ok 1" in run_verb("audit", place)


def test_a_folder_is_copied_there_and_back_with_its_history(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with memtui.open(tmp_path / "folder") as engine:
        for number in range(250):
            create(engine, f"n{number % 7}/a{number % 50}.md", f"{number}\n")
        assert not ask(engine, "rename", "", old_path="/memories/n1", new_path="/memories/moved").is_error
        head = engine.get_head()
        engine.redact(match="17\n", reason="a test")
        head, held = engine.get_head(), read_all(engine)
    done = copying.copy(tmp_path / "folder", place)
    assert (done.head, done.files, done.left) == (head, len(held), ())
    assert copying.copy(tmp_path / "folder", place).head == head, "what is there is not added again"
    with memtui.open(place) as engine:
        assert (engine.get_head(), read_all(engine)) == (head, held)
        assert engine.reconcile() == 0
        assert engine.journal.verify().is_intact
        create(engine, "more.md", "more\n")
        head = engine.get_head()
    (tmp_path / "second").mkdir()
    with memtui.open(tmp_path / "second") as engine:
        create(engine, "x.md", "x\n")
    with pytest.raises(StateUnusable, match="holds other memories"):
        copying.copy(tmp_path / "second", place)
    copying.copy(place, tmp_path / "back")
    with memtui.open(tmp_path / "back") as engine:
        assert engine.get_head() == head
        assert read_all(engine) == {**held, "more.md": b"more\n"}
