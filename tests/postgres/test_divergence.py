"""A server that was set back by an older dump: what only a machine's copy has is shown, kept, and put back."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.errors import LockTimeout, StateUnusable
from memtui.core.events import Person
from memtui.core.settings import Settings
from memtui.postgres import divergence
from memtui.postgres.admin import Admin
from memtui.postgres.divergence import DivergedCopy
from memtui.postgres.doctor import check_place
from memtui.postgres.dsn import parse_address
from tests.pg_server import OwnServer

RunVerb = Callable[..., str]


@pytest.fixture
def database(server: OwnServer) -> str:
    """The name of a database of the test's own: a dump is of all stores in it."""
    name = f"d{os.urandom(4).hex()}"
    server.call("createdb", "-h", str(server.directory), "-U", "owner", "-E", "UTF8", "-T", "template0", name)
    with contextlib.closing(Admin(parse_address(make_address(server, name, "team")))) as admin:
        admin.run(admin.plan_init("main"))
    return name


def make_address(server: OwnServer, database: str, store: str) -> str:
    return f"postgres://owner@/{database}?host={server.directory}&store={store}"


@pytest.fixture
def place(server: OwnServer, database: str) -> str:
    return make_address(server, database, "team")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "one"


def write(place: str, state: Path, **notes: str | None) -> None:
    """Create or overwrite notes, or delete them."""
    with memtui.open(place, state=state) as memory:
        for name, text in notes.items():
            path = f"/memories/{name}.md"
            command = {"command": "create", "path": path, "file_text": text}
            answer = memory.execute(
                command if text is not None else {"command": "delete", "path": path}, actor=memtui.Agent("Planner")
            )
            assert not answer.is_error, answer.text


def read(place: str, state: Path) -> dict[str, bytes]:
    with memtui.open(place, state=state) as memory:
        return {node.path: content.data for node, content in memory.store.scan_contents(limit=1 << 20)}  # type: ignore[union-attr]


@pytest.fixture
def dumped(server: OwnServer, database: str, place: str, state: Path) -> Callable[[], None]:
    """A dump with four notes; the function restores it."""
    write(place, state, same="1", edited="2", both="3", removed="4")
    target = f"postgresql://owner@/{database}?host={server.directory}"
    dump = server.directory / f"{database}.dump"
    server.call("pg_dump", "-Fc", "-d", target, "-f", str(dump))
    return lambda: server.call("pg_restore", "--clean", "--if-exists", "--exit-on-error", "-d", target, str(dump))


@pytest.fixture
def set_back(dumped: Callable[[], None], place: str, state: Path, tmp_path: Path) -> str:
    """The address of a store that was set back behind this machine's back, and that another machine went on from."""
    write(place, state, edited="2, here", both="3, here", removed=None, lost="5")
    dumped()
    write(place, tmp_path / "two", both="3, there", new="6")
    return place


def test_it_is_shown_what_only_this_machine_has_and_nothing_is_done(
    set_back: str, state: Path, run_verb: RunVerb
) -> None:
    assert "See: memtui admin accept ADDRESS" in run_verb("log", set_back, "--state", str(state))
    before = (state / "copy.db").read_bytes()
    shown = run_verb("admin", "accept", set_back, "--state", str(state))
    assert "has 4 events, 5 to 8:\n     5  " in shown
    assert "Planner      create       /memories/edited.md" in shown
    assert "The last event of both is 4. The server has 2 other events behind it." in shown
    listed = shown.partition("5 notes differ:\n")[2].splitlines()[:5]
    assert [line.split("  ")[1] for line in listed] == [
        "changed on both sides", "changed here", "only here", "changed on the server", "deleted here",
    ]  # fmt: skip
    assert "Not put back: 2 notes. As new changes: --bring-back" in shown
    assert "Nothing was done. To do it: --yes" in shown
    assert (state / "copy.db").read_bytes() == before
    assert not list(state.glob("kept-*"))
    checks = {name: words for name, _, words in check_place(set_back, str(state))}
    assert "memtui admin accept" in checks["copy"]


def test_it_goes_on_from_the_server_and_the_old_copy_is_kept(set_back: str, state: Path, run_verb: RunVerb) -> None:
    done = run_verb("admin", "accept", set_back, "--state", str(state), "--yes")
    (kept,) = state.glob("kept-copy-*.db")
    assert kept.stat().st_mode & 0o077 == 0
    assert f"keep this machine's copy beside, as sqlite:{kept}" in done
    assert f"What only it has: memtui diff --dir sqlite:{kept} 4 now" in done
    assert sorted(path.name for path in state.glob("*copy*")) == ["copy.db", "copy.db-lock", kept.name]
    assert read(set_back, state) == {
        "both.md": b"3, there", "edited.md": b"2", "new.md": b"6", "removed.md": b"4", "same.md": b"1",
    }  # fmt: skip
    write(set_back, state, more="7")
    assert "Intact: every event" in run_verb("verify", set_back, "--state", str(state))
    assert "Intact: every event" in run_verb("verify", f"sqlite:{kept}")
    assert "lost.md     +1 -0  new" in run_verb("diff", "--dir", f"sqlite:{kept}", "4", "now", "--stat")
    assert "Nothing was done." in run_verb("admin", "accept", set_back, "--state", str(state), "--yes")
    assert list(state.glob("kept-copy-*.db")) == [kept]


def test_lost_notes_are_put_back_and_nothing_of_the_server_is_overwritten(
    set_back: str, state: Path, run_verb: RunVerb
) -> None:
    done = run_verb("admin", "accept", set_back, "--state", str(state), "--yes", "--bring-back")
    assert "Done: put back 2 notes" in done
    assert "Left as the server has it: /memories/both.md, changed on both sides" in done
    assert "Left as the server has it: /memories/removed.md, deleted here" in done
    assert "new.md, " not in done
    assert read(set_back, state) == {
        "both.md": b"3, there", "edited.md": b"2, here", "lost.md": b"5", "new.md": b"6", "removed.md": b"4",
        "same.md": b"1",
    }  # fmt: skip
    with memtui.open(set_back, state=state) as memory:
        events = [event for event in memory.events() if event.actor == Person()]
        assert [event.path for event in events] == ["/memories/edited.md", "/memories/lost.md"]
        assert all(event.note.startswith("from kept-copy-") for event in events)
        assert memory.journal.verify().is_intact


def test_what_somebody_wrote_meanwhile_is_not_overwritten(set_back: str, state: Path, tmp_path: Path) -> None:
    with DivergedCopy(set_back, state, Settings()) as diverged:
        kept = diverged.accept()
        write(set_back, tmp_path / "two", lost="mine")
        problems = {note.path: problem for note, problem in diverged.put_back(kept)}
    assert not problems["edited.md"]
    assert problems["lost.md"]
    assert read(set_back, state)["lost.md"] == b"mine"


def test_a_text_that_was_redacted_is_not_put_back_and_the_lost_redaction_is_said(
    dumped: Callable[[], None], place: str, state: Path, run_verb: RunVerb
) -> None:
    write(place, state, key="hunter2", edited="2, here")
    write(place, state, key="none")
    with memtui.open(place, state=state) as memory:
        assert memory.redact(match="hunter2", reason="a key").event is not None
    dumped()
    done = run_verb("admin", "accept", place, "--state", str(state), "--yes", "--bring-back")
    assert "1 redaction among them: those texts are on the server again." in done
    assert read(place, state)["key.md"] == b"none"


def test_a_copy_that_another_memtui_has_open_is_left_alone(set_back: str, state: Path) -> None:
    with contextlib.closing(sqlite3.connect(state / "copy.db")) as other:
        other.execute("SELECT count(*) FROM events").fetchone()
        with (
            DivergedCopy(set_back, state, Settings()) as diverged,
            pytest.raises(LockTimeout, match="has this machine's copy open"),
        ):
            diverged.accept()
    assert not [path.name for path in state.glob("*") if path.name.startswith(("kept-", "new-"))]
    with pytest.raises(StateUnusable, match="does not go on from event 8"):
        memtui.open(set_back, state=state)


def test_where_it_cannot_be_written_the_copy_is_as_it_was(
    set_back: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def fail(path: str, **options: Any) -> sqlite3.Connection:
        if "kept-copy" in path:
            raise sqlite3.OperationalError("database or disk is full")
        return connect(path, **options)

    with DivergedCopy(set_back, state, Settings()) as diverged, monkeypatch.context() as patch:
        patch.setattr(divergence.sqlite3, "connect", fail)
        with pytest.raises(StateUnusable, match="disk is full"):
            diverged.accept()
    with pytest.raises(StateUnusable, match="does not go on from event 8"):
        memtui.open(set_back, state=state)
    assert not [path.name for path in state.glob("*") if path.name.startswith(("kept-", "new-"))]


def test_there_is_nothing_to_accept_where_the_server_goes_on(
    place: str, state: Path, tmp_path: Path, run_verb: RunVerb
) -> None:
    write(place, state, a="1")
    write(place, tmp_path / "two", b="2")
    assert "goes on from event 1," in run_verb("admin", "accept", place, "--state", str(state), "--yes")
    with pytest.raises(StateUnusable, match="no copy"):
        DivergedCopy(place, tmp_path / "three", Settings())
    away = place.replace("host=/", "host=/nowhere/")
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "copy.db").write_bytes((state / "copy.db").read_bytes())
    with pytest.raises(StateUnusable, match="cannot be reached"):
        DivergedCopy(away, tmp_path / "three", Settings())


def test_another_server_at_the_same_address_has_nothing_in_common(
    server: OwnServer, database: str, state: Path, place: str, run_verb: RunVerb
) -> None:
    other = make_address(server, database, "other")
    write(place, state, a="1")
    shown = run_verb("admin", "accept", other, "--state", str(state))
    assert "They have no event in common. The server has nothing behind it." in shown
    done = run_verb("admin", "accept", other, "--state", str(state), "--yes", "--bring-back")
    assert "Done: put back 1 note" in done
    assert read(other, state) == {"a.md": b"1"}
