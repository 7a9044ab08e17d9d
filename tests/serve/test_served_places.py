"""Stores that are no folders: a SQLite file, and memories on a PostgreSQL server."""

import os
from collections.abc import Callable
from pathlib import Path

import anthropic
import pytest

import memtui
from memtui.cli import main
from memtui.core.events import Agent
from tests.pg_server import OwnServer
from tests.serve.conftest import GUEST, PLANNER, Serve, collect, find_store
from tests.serve.sdk import Store
from tests.serve.test_process import Serving, place, start

__all__ = ["place", "start"]


@pytest.fixture(params=["sqlite", "postgres"])
def served_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store with a memory of somebody else."""
    address = f"sqlite:{os.path.realpath(tmp_path)}/team.db"
    if request.param == "postgres":
        server: OwnServer = request.getfixturevalue("server")
        address = server.address(f"w-{os.urandom(6).hex()}")
    write(address, "plan.md", "one\n")
    return address


def write(address: str, name: str, text: str) -> None:
    """As a program on another machine, with a state of its own."""
    with memtui.open(address) as memory:
        command = {"command": "create", "path": f"/memories/{name}", "file_text": text}
        answer = memory.execute(command, actor=Agent("other"))
        assert not answer.is_error, answer.text


def read(address: str, name: str) -> bytes | None:
    with memtui.open(address) as memory:
        return memory.inspect_path(name).data


async def test_a_place_that_is_no_folder_is_a_store_like_any_other(serve: Serve, served_place: str) -> None:
    served = serve(folders={"notes": served_place})
    client = served.connect(PLANNER)
    store = Store(client, await find_store(client, "notes"))
    assert [each.path for each in await store.list()] == ["/plan.md"]
    made = await store.create("/a/b.md", "one\n")
    assert read(served_place, "a/b.md") == b"one\n"
    with pytest.raises(anthropic.ConflictError):
        await store.update(made.id, content="no\n", expected="0" * 64)
    done = await store.update(made.id, content="two\n", path="/c.md", expected=made.content_sha256)
    assert (done.id, done.path) == (made.id, "/c.md")
    assert read(served_place, "c.md") == b"two\n"
    write(served_place, "later.md", "of another program\n")
    later = await store.find("/later.md")
    assert (await store.get(later.id)).content == "of another program\n"
    await store.delete(done.id, expected_content_sha256=done.content_sha256)
    assert [each.path for each in await store.list()] == ["/later.md", "/plan.md"]
    actions = [each.operation for each in await store.history() if each.memory_id == made.id]
    assert actions[0] == "deleted"
    assert actions[-1] == "created"
    with memtui.open(served_place) as memory:
        assert {event.actor for event in memory.events() if event.path == "/memories/c.md"} == {Agent("planner")}
        assert memory.journal.verify().is_intact


async def test_its_id_is_the_same_for_every_server_and_its_name_is_kept(
    serve: Serve, served_place: str, tmp_path: Path
) -> None:
    first = serve(folders={"notes": served_place})
    store_id = await find_store(first.connect(), "notes")
    await first.connect().beta.memory_stores.update(store_id, name="Our notes", description="of the team")
    again = await serve(folders={"notes": served_place}).connect().beta.memory_stores.retrieve(store_id)
    assert (again.name, again.description) == ("Our notes", "of the team")
    elsewhere = serve(folders={"notes": served_place}, state=str(tmp_path / "other machine"))
    store = Store(elsewhere.connect(), await find_store(elsewhere.connect(), "notes"))
    assert store.id == store_id
    assert [each.path for each in await store.list()] == ["/plan.md"]
    assert sorted(path.name.partition("-")[0] for path in (tmp_path / "other machine").iterdir()) == [
        "shared", "store", "team",
    ]  # fmt: skip


async def test_rights_are_by_its_name_and_it_is_archived_but_not_deleted(serve: Serve, served_place: str) -> None:
    served = serve(folders={"notes": served_place})
    guest = await collect(served.connect(GUEST).beta.memory_stores.list())
    assert "notes" not in [each.name for each in guest]
    stores = served.connect().beta.memory_stores
    store_id = await find_store(served.connect(), "notes")
    with pytest.raises(anthropic.PermissionDeniedError):
        await stores.delete(store_id)
    await stores.archive(store_id)
    assert read(served_place, "plan.md") == b"one\n"


async def test_a_server_that_is_away_is_said_to_be_and_is_worth_another_attempt(serve: Serve, tmp_path: Path) -> None:
    away = f"postgres://owner@/db?host={tmp_path}&store=main"
    served = serve(folders={"away": away})
    store_id = await find_store(served.connect(), "away")
    for method, target, body in (
        ("GET", f"/v1/memory_stores/{store_id}/memories", None),
        ("POST", f"/v1/memory_stores/{store_id}/memories", {"path": "/a.md", "content": "x"}),
    ):
        answer = await served.ask(method, target, json=body)
        assert (answer.status_code, answer.headers["x-should-retry"]) == (529, "true")
        assert answer.json()["error"]["message"] == "The store is on another server, which cannot be used now."
    assert (await served.ask("GET", f"/v1/memory_stores/{await find_store(served.connect(), 'team')}")).is_success


def test_a_file_is_served_beside_folders(start: Callable[..., Serving], place: Path) -> None:
    client = start("--api", f"sqlite:{place}/notes.db").connect()
    names = {each.name: each.id for each in client.beta.memory_stores.list()}
    assert sorted(names) == ["notes", "team"]
    client.beta.memory_stores.memories.create(names["notes"], path="/a.md", content="one")
    assert read(f"sqlite:{place}/notes.db", "a.md") == b"one"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["postgres://ada:not-to-be-seen@db.example/notes"], "A password in an address"),
        (["sqlite:a/team.db", "sqlite:b/team.db"], "two stores have the name team"),
    ],
    ids=["a password", "the same name"],
)
def test_what_is_no_place_to_serve_is_said(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    monkeypatch.chdir(place)
    assert main(["serve", "--api", *words, "--tokens", "tokens.toml"]) != 0
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
    assert "not-to-be-seen" not in printed.err
    assert not [path for path in place.rglob("*") if "not-to-be-seen" in path.name]
