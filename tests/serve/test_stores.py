"""Stores: the folders below a directory, what the API says of them, and who may see them."""

import datetime
import os

import anthropic
import pytest

import memtui
from memtui.serve import ServerLimits
from tests.conftest import fill
from tests.serve.conftest import ADA, GUEST, PLANNER, READER, Serve, Served, collect, find_store
from tests.serve.sdk import Store


async def list_names(client: object, **options: object) -> list[str]:
    return [each.name for each in await collect(client.beta.memory_stores.list(**options))]  # type: ignore[attr-defined]


async def test_each_folder_is_a_store_and_no_link_and_nothing_hidden(served: Served) -> None:
    fill(served.root / ".hidden", {})
    fill(served.root, {"a file": "x"})
    (served.root / "link").symlink_to(served.root / "team")
    assert sorted(await list_names(served.connect())) == ["shared", "team"]


async def test_a_store_that_is_made_is_a_folder_and_stays_the_same_after_a_restart(serve: Serve) -> None:
    served = serve()
    stores = served.connect().beta.memory_stores
    made = await stores.create(name="Team: Ideas & Plans!", description="What we think.", metadata={"owner": "ada"})
    assert (made.type, made.name, made.description, made.metadata) == (
        "memory_store",
        "Team: Ideas & Plans!",
        "What we think.",
        {"owner": "ada"},
    )
    assert made.archived_at is None
    folder = served.root / "team-ideas-plans"
    assert folder.stat().st_mode & 0o777 == 0o700
    await Store(served.connect(), made.id).create("/a.md", "one")
    assert (folder / "a.md").read_text() == "one"
    assert (await stores.create(name="team ideas plans")).id != made.id
    assert (served.root / "team-ideas-plans-2").is_dir()
    again = await serve().connect().beta.memory_stores.retrieve(made.id)
    assert again == made


@pytest.mark.parametrize("name", ["../../etc", "/", "日本", "..", ".hidden", "CON", "a" * 255])
async def test_a_name_never_leads_out_of_the_directory(served: Served, name: str) -> None:
    before = set(os.listdir(served.root.parent))
    made = await served.connect().beta.memory_stores.create(name=name)
    assert made.name == name
    (folder,) = set(os.listdir(served.root)) - {"team", "shared"}
    assert folder.replace("-", "").isalnum()
    assert set(os.listdir(served.root.parent)) == before


async def test_a_store_is_changed(served: Served) -> None:
    stores = served.connect().beta.memory_stores
    store_id = await find_store(served.connect(), "team")
    before = await stores.retrieve(store_id)
    done = await stores.update(store_id, name="Team", description="All of us.", metadata={"a": "1", "b": "2"})
    assert (done.name, done.description, done.metadata) == ("Team", "All of us.", {"a": "1", "b": "2"})
    assert done.updated_at > before.updated_at
    assert done.created_at == before.created_at
    done = await stores.update(store_id, description="", metadata={"a": None, "c": "3"})
    assert (done.name, done.description, done.metadata) == ("Team", "", {"b": "2", "c": "3"})
    assert served.root.joinpath("team").is_dir()


@pytest.mark.parametrize(
    "given",
    [
        {"name": ""},
        {"name": "x" * 256},
        {"name": "a\nb"},
        {"name": 1},
        {"description": "x" * 1_025},
        {"metadata": {"k" * 65: "v"}},
        {"metadata": {"k": "v" * 513}},
        {"metadata": {"": "v"}},
        {"metadata": {"k": 1}},
        {"metadata": []},
        {"metadata": {str(number): "v" for number in range(17)}},
    ],
    ids=lambda given: str(given)[:40],
)
async def test_what_no_store_may_have_is_refused(served: Served, given: dict[str, object]) -> None:
    store_id = await find_store(served.connect(), "team")
    for target, body in (("/v1/memory_stores", {"name": "new", **given}), (f"/v1/memory_stores/{store_id}", given)):
        reply = await served.ask("POST", target, json=body)
        assert reply.status_code == 400, reply.text
    assert sorted(os.listdir(served.root)) == ["shared", "team"]
    assert (await served.connect().beta.memory_stores.retrieve(store_id)).name == "team"


async def test_stores_are_listed_newest_first_page_by_page(served: Served) -> None:
    client = served.connect()
    made = [await client.beta.memory_stores.create(name=f"store {number}") for number in range(5)]
    names = await list_names(client)
    assert names[:5] == [f"store {number}" for number in reversed(range(5))]
    assert await list_names(client, limit=2) == names
    assert await list_names(client, created_at_gte=made[3].created_at) == ["store 4", "store 3"]
    later = made[4].created_at + datetime.timedelta(seconds=1)
    assert await list_names(client, created_at_gte=later) == []
    assert "store 4" not in await list_names(client, created_at_lte=made[3].created_at)


async def test_an_archived_store_is_read_and_not_written(served: Served) -> None:
    client = served.connect()
    store = Store(client, await find_store(client, "team"))
    made = await store.create("/a.md", "one")
    done = await store.api.archive(store.id)
    assert done.archived_at is not None
    assert (await store.api.archive(store.id)).archived_at == done.archived_at
    for call in (store.create("/b.md", "x"), store.update(made.id, content="x"), store.api.update(store.id, name="x")):
        with pytest.raises(anthropic.BadRequestError, match="archived"):
            await call
    assert (await store.get(made.id)).content == "one"
    assert "team" not in await list_names(client)
    assert "team" in await list_names(client, include_archived=True)
    await store.delete(made.id)
    assert (await store.versions.redact(made.memory_version_id, memory_store_id=store.id)).redacted_at


async def test_what_one_server_says_of_a_store_another_one_says_too(serve: Serve) -> None:
    first, second = serve().connect(), serve().connect()
    store_id = await find_store(first, "team")
    assert await find_store(second, "team") == store_id
    await first.beta.memory_stores.update(store_id, name="Team")
    assert (await second.beta.memory_stores.retrieve(store_id)).name == "Team"
    await second.beta.memory_stores.archive(store_id)
    with pytest.raises(anthropic.BadRequestError, match="archived"):
        await Store(first, store_id).create("/a.md", "x")
    await first.beta.memory_stores.delete(store_id)
    with pytest.raises(anthropic.NotFoundError):
        await second.beta.memory_stores.retrieve(store_id)


async def test_a_deleted_store_is_gone_and_a_person_can_have_it_back(serve: Serve) -> None:
    served = serve()
    client = served.connect()
    store = Store(client, await find_store(client, "team"))
    gone = await store.api.delete(store.id)
    assert (gone.type, gone.id) == ("memory_store_deleted", store.id)
    assert not (served.root / "team").exists()
    with pytest.raises(anthropic.NotFoundError):
        await store.list()
    made = await store.api.create(name="team")
    assert (served.root / "team-2").is_dir()  # the journal of the deleted one is not that of the new one
    assert await Store(client, made.id).history() == []
    (served.root / "team").mkdir()
    with memtui.open(served.root / "team") as memory:
        memory.undo([max(event.seq for event in memory.events() if event.command == "clear")])
    assert served.read("team/prefs.md") == "- short answers\n"
    assert store.id not in [each.id for each in await collect(serve().connect().beta.memory_stores.list())]


async def test_a_store_with_what_is_protected_is_deleted_by_no_agent(serve: Serve) -> None:
    served = serve()
    with memtui.open(served.root / "team") as memory:
        memory.files.protect(["prefs.md"])
    client = served.connect()
    store_id = await find_store(client, "team")
    entry = served.catalog.find(store_id)
    with pytest.raises(Exception, match="protected"):
        served.catalog.delete(entry, memtui.Agent("x"))
    assert served.read("team/prefs.md") == "- short answers\n"


async def test_a_store_that_was_named_alone_is_not_deleted(serve: Serve) -> None:
    alone = fill(serve().root.parent / "alone", {"a.md": "x"})
    served = serve(folders={"alone": str(alone)})
    client = served.connect()
    store = Store(client, await find_store(client, "alone"))
    assert [each.path for each in await store.list()] == ["/a.md"]
    with pytest.raises(anthropic.PermissionDeniedError):
        await store.api.delete(store.id)
    assert (alone / "a.md").exists()


async def test_a_token_sees_only_its_stores(served: Served) -> None:
    guest = served.connect(GUEST)
    await served.connect().beta.memory_stores.create(name="private")
    assert sorted(await list_names(guest)) == ["shared", "team"]
    private = await find_store(served.connect(), "private")
    team, shared = [await find_store(guest, name) for name in ("team", "shared")]
    with pytest.raises(anthropic.NotFoundError) as caught:
        await Store(guest, private).list()
    with pytest.raises(anthropic.NotFoundError) as missing:
        await Store(guest, "memstore_none").list()
    told = [caught.value.body["error"]["message"].replace(private, "ID"), missing.value.body["error"]["message"]]
    assert told[0] == told[1].replace("memstore_none", "ID")
    await Store(guest, team).create("/a.md", "x")
    with pytest.raises(anthropic.PermissionDeniedError):
        await Store(guest, shared).create("/a.md", "x")
    for token in (PLANNER, READER, GUEST):
        with pytest.raises(anthropic.PermissionDeniedError):
            await served.connect(token).beta.memory_stores.create(name="x")


async def test_a_read_only_server_changes_and_records_nothing(serve: Serve) -> None:
    writer = serve()
    made = await Store(writer.connect(), await find_store(writer.connect(), "team")).create("/a.md", "one")
    writer.catalog.close()
    journals = {path: path.read_bytes() for path in writer.root.parent.rglob("journal.db")}
    served = serve(read_only=True)
    for token in (ADA, PLANNER):
        client = served.connect(token)
        store = Store(client, await find_store(client, "team"))
        assert (await store.get(made.id)).content == "one"
        for call in (store.create("/b.md", "x"), store.update(made.id, content="x"), store.delete(made.id)):
            with pytest.raises(anthropic.PermissionDeniedError):
                await call
    for call in (
        store.api.create(name="x"),
        served.connect().beta.memory_stores.archive(store.id),
        served.connect().beta.memory_stores.delete(store.id),
    ):
        with pytest.raises(anthropic.PermissionDeniedError):
            await call
    served.catalog.close()
    assert {path: path.read_bytes() for path in journals} == journals


async def test_only_so_many_folders_are_kept_open(serve: Serve) -> None:
    served = serve(limits=ServerLimits(open_stores=2, rate=1_000_000, burst=1_000_000))
    client = served.connect()
    ids = [(await client.beta.memory_stores.create(name=f"s{number}")).id for number in range(6)]
    for _ in range(2):
        for store_id in ids:
            store = Store(client, store_id)
            path = f"/{len(await store.list())}.md"
            await store.create(path, "x")
            assert served.catalog.open_count <= 2
