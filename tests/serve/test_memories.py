"""Memories and their versions as the official SDK sees them; what it does is what stands in the folder."""

import json
from typing import Any

import anthropic
import pytest

import memtui
from memtui.scan.samples import make_sample
from tests.conftest import fill
from tests.serve.conftest import ADA, PLANNER, READER, Serve, Served, find_store
from tests.serve.sdk import Store, hash_text


@pytest.fixture
async def store(served: Served) -> Store:
    client = served.connect(PLANNER)
    return Store(client, await find_store(client, "team"))


async def test_what_stands_in_the_folder_are_the_memories(store: Store) -> None:
    memories = {each.path: each for each in await store.list(view="full")}
    assert {path: each.content for path, each in memories.items()} == {
        "/notes/today.md": "standup at ten\n",
        "/prefs.md": "- short answers\n",
    }
    prefs = memories["/prefs.md"]
    assert (prefs.type, prefs.memory_store_id, prefs.content_size_bytes) == ("memory", store.id, 16)
    assert prefs.content_sha256 == hash_text("- short answers\n")
    assert prefs.id.startswith("mem_")
    assert prefs.memory_version_id.startswith("memver_")
    assert [each.content for each in await store.list()] == [None, None]


async def test_a_memory_that_is_made_is_a_file_and_an_event_by_the_token_s_actor(store: Store, served: Served) -> None:
    made = await store.create("/projects/plan.md", "one\n")
    assert (made.path, made.content, made.content_sha256) == ("/projects/plan.md", None, hash_text("one\n"))
    assert served.read("team/projects/plan.md") == "one\n"
    assert (await store.get(made.id)).content == "one\n"
    assert (await store.get(made.id, view="basic")).content is None
    with memtui.open(served.root / "team") as memory:
        event = next(each for each in memory.events() if each.command == "create")
    assert (event.actor, event.path) == (memtui.Agent("planner"), "/memories/projects/plan.md")


@pytest.mark.parametrize("content", ["", "a\r\nb", "\ufeffbom", "é\n日本", "\u0000"], ids=repr)
async def test_a_content_comes_back_byte_for_byte(store: Store, content: str) -> None:
    made = await store.create("/text.md", content, view="full")
    assert made.content == content
    assert made.content_size_bytes == len(content.encode())
    assert (await store.get(made.id)).content_sha256 == hash_text(content)


async def test_a_path_that_is_taken_is_a_conflict_and_nothing_is_written(store: Store, served: Served) -> None:
    for path in ("/prefs.md", "/prefs.md/below.md", "/notes"):
        with pytest.raises(anthropic.ConflictError) as caught:
            await store.create(path, "other")
        assert caught.value.type == "memory_path_conflict_error"
        assert caught.value.response.headers["x-should-retry"] == "false"
    assert served.read("team/prefs.md") == "- short answers\n"


async def test_an_id_stays_when_the_memory_is_renamed_and_written(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "one")
    renamed = await store.update(made.id, path="/deep/er/b.md")
    assert (renamed.id, renamed.path, renamed.content_sha256) == (made.id, "/deep/er/b.md", made.content_sha256)
    assert renamed.created_at == made.created_at
    written = await store.update(made.id, content="two")
    assert (written.id, written.path) == (made.id, "/deep/er/b.md")
    both = await store.update(made.id, content="three", path="/c.md", view="full")
    assert (both.id, both.path, both.content) == (made.id, "/c.md", "three")
    assert served.read("team/c.md") == "three"
    assert not (served.root / "team/deep/er/b.md").exists()
    history = await store.history(memory_id=made.id, view="full")
    assert [(each.operation, each.path, each.content) for each in history] == [
        ("modified", "/c.md", "three"),
        ("modified", "/deep/er/b.md", "two"),
        ("modified", "/deep/er/b.md", "one"),
        ("created", "/a.md", "one"),
    ]
    assert history[0].id == both.memory_version_id
    assert {each.created_by.api_key_id for each in history} == {"apikey_planner"}


async def test_a_new_content_and_a_new_path_are_one_event(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "one")
    with memtui.open(served.root / "team") as memory:
        before = memory.get_head()[0]
    await store.update(made.id, content="two", path="/b.md")
    with memtui.open(served.root / "team") as memory:
        events = list(memory.events(before))
        assert len(events) == 1
        assert memory.undo([events[0].seq]).problem == ""
    assert served.read("team/a.md") == "one"


async def test_a_precondition_that_does_not_hold_is_a_conflict_and_nothing_is_written(
    store: Store, served: Served
) -> None:
    made = await store.create("/a.md", "one")
    for change in ({"content": "two"}, {"path": "/b.md"}, {"content": "two", "path": "/b.md"}):
        with pytest.raises(anthropic.ConflictError) as caught:
            await store.update(made.id, expected=hash_text("other"), **change)
        assert caught.value.type == "memory_precondition_failed_error"
    with pytest.raises(anthropic.ConflictError):
        await store.delete(made.id, expected_content_sha256=hash_text("other"))
    assert served.read("team/a.md") == "one"
    assert len(await store.history(memory_id=made.id)) == 1
    done = await store.update(made.id, expected=hash_text("one"), content="two")
    assert done.content_sha256 == hash_text("two")


async def test_what_changes_nothing_makes_no_version(store: Store) -> None:
    made = await store.create("/a.md", "one")
    for change in ({"content": "one"}, {"path": "/a.md"}, {"content": "one", "path": "/a.md"}, {}):
        assert (await store.update(made.id, **change)).memory_version_id == made.memory_version_id
    assert len(await store.history(memory_id=made.id)) == 1


async def test_a_rename_never_writes_over_another_memory(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "one")
    for change in ({"path": "/prefs.md"}, {"path": "/prefs.md", "content": "two"}, {"path": "/notes"}):
        with pytest.raises(anthropic.ConflictError) as caught:
            await store.update(made.id, **change)
        assert caught.value.type == "memory_path_conflict_error"
    assert served.read("team/prefs.md") == "- short answers\n"
    assert served.read("team/a.md") == "one"


async def test_a_deleted_memory_is_missing_and_its_versions_stay(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "one")
    gone = await store.delete(made.id, expected_content_sha256=made.content_sha256)
    assert (gone.id, gone.type) == (made.id, "memory_deleted")
    assert not (served.root / "team/a.md").exists()
    for call in (store.get(made.id), store.update(made.id, content="x"), store.delete(made.id)):
        with pytest.raises(anthropic.NotFoundError):
            await call
    deleted, created = await store.history(memory_id=made.id, view="full")
    assert (deleted.operation, deleted.content, deleted.content_sha256, deleted.path) == (
        "deleted",
        None,
        None,
        "/a.md",
    )
    assert created.content == "one"
    again = await store.create("/a.md", "two")
    assert again.id != made.id


async def test_a_path_is_free_once_all_below_it_was_deleted(store: Store, served: Served) -> None:
    made = await store.create("/topic/deep/a.md", "one")
    await store.delete(made.id)
    await store.create("/topic", "a file by now")
    assert served.read("team/topic") == "a file by now"
    moved = await store.create("/x/y.md", "two")
    await store.update(moved.id, path="/z.md")
    await store.update(moved.id, path="/x")
    assert served.read("team/x") == "two"


async def test_lists_go_by_prefix_depth_and_page(store: Store) -> None:
    for path in ("/notes/a/b.md", "/notes/a/c.md", "/notes-archive/d.md", "/notes.md", "/z.md"):
        await store.create(path, path)
    every = [each.path for each in await store.list()]
    assert every == sorted(every)
    assert every == [each.path for each in await store.list(limit=2)]
    assert [(each.type, each.path) for each in await store.list(depth=1)] == [
        ("memory_prefix", "/notes-archive/"),
        ("memory", "/notes.md"),
        ("memory_prefix", "/notes/"),
        ("memory", "/prefs.md"),
        ("memory", "/z.md"),
    ]
    for limit in (1, 2, 100):
        below = await store.list(path_prefix="/notes/", depth=1, limit=limit)
        assert [(each.type, each.path) for each in below] == [
            ("memory_prefix", "/notes/a/"),
            ("memory", "/notes/today.md"),
        ]
        deep = await store.list(path_prefix="/notes/", limit=limit)
        assert [each.path for each in deep] == ["/notes/a/b.md", "/notes/a/c.md", "/notes/today.md"]
    assert await store.list(path_prefix="/nowhere/") == []
    page = await store.memories.list(store.id, limit=3)
    assert len(page.data) == 3
    assert page.next_page


async def test_a_page_of_contents_holds_twenty(store: Store) -> None:
    for number in range(25):
        await store.create(f"/many/{number:02}.md", str(number))
    page = await store.memories.list(store.id, path_prefix="/many/", view="full", limit=100)
    assert len(page.data) == 20
    assert [each.content for each in [each async for each in page]] == [str(number) for number in range(25)]
    assert len((await store.memories.list(store.id, path_prefix="/many/", limit=100)).data) == 25


async def test_versions_are_filtered(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "one")
    await store.update(made.id, content="two")
    person = Store(served.connect(ADA), store.id)
    await person.update(made.id, content="three")
    await store.delete(made.id)

    async def list_operations(**wanted: Any) -> list[str]:
        return [each.operation for each in await store.history(memory_id=made.id, **wanted)]

    assert await list_operations() == ["deleted", "modified", "modified", "created"]
    assert await list_operations(limit=1) == ["deleted", "modified", "modified", "created"]
    assert await list_operations(operation="created") == ["created"]
    assert await list_operations(api_key_id="apikey_planner") == ["deleted", "modified", "created"]
    assert await list_operations(session_id="sesn_none") == []
    history = await store.history(memory_id=made.id)
    assert history[1].created_by.user_id == "user_ada"
    assert await list_operations(created_at_gte=history[1].created_at) == ["deleted", "modified"]
    assert await list_operations(created_at_lte=history[2].created_at) == ["modified", "created"]
    found = {each.path for each in await store.history(operation="created")}
    assert found == {"/a.md", "/prefs.md", "/notes/today.md"}
    version = await store.versions.retrieve(history[2].id, memory_store_id=store.id)
    assert (version.content, version.memory_id) == ("two", made.id)
    assert (await store.versions.retrieve(history[2].id, memory_store_id=store.id, view="basic")).content is None


async def test_a_version_is_redacted_by_a_person_and_the_memory_stays(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "the secret")
    done = await store.update(made.id, content="clean")
    person = Store(served.connect(ADA), store.id)
    redacted = await person.versions.redact(made.memory_version_id, memory_store_id=store.id)
    assert redacted.redacted_at is not None
    assert redacted.redacted_by.user_id == "user_ada"
    assert (redacted.content, redacted.path, redacted.content_sha256, redacted.content_size_bytes) == (None,) * 4
    assert redacted.created_by.api_key_id == "apikey_planner"
    assert (await person.versions.redact(made.memory_version_id, memory_store_id=store.id)).redacted_at
    assert (await store.get(made.id)).content == "clean"
    with pytest.raises(anthropic.BadRequestError, match="current"):
        await person.versions.redact(done.memory_version_id, memory_store_id=store.id)
    assert served.read("team/a.md") == "clean"
    with memtui.open(served.root / "team") as memory:
        assert memory.journal.get_text(hash_text("the secret")) is None
        assert memory.journal.verify().findings == ()


async def test_of_an_event_that_wrote_several_texts_one_is_redacted(store: Store, served: Served) -> None:
    prefs, today = await store.find("/prefs.md"), await store.find("/notes/today.md")  # found in one look
    for memory in (prefs, today):
        await store.update(memory.id, content="other")
    person = Store(served.connect(ADA), store.id)
    await person.versions.redact(prefs.memory_version_id, memory_store_id=store.id)
    kept = await store.versions.retrieve(today.memory_version_id, memory_store_id=store.id)
    assert (kept.content, kept.redacted_at) == ("standup at ten\n", None)


async def test_a_text_that_is_current_elsewhere_is_not_redacted(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "the same")
    await store.update(made.id, content="other")
    twin = await store.create("/twin.md", "the same")
    person = Store(served.connect(ADA), store.id)
    with pytest.raises(anthropic.BadRequestError):
        await person.versions.redact(made.memory_version_id, memory_store_id=store.id)
    assert (await store.get(twin.id)).content == "the same"


async def test_agents_cannot_redact_and_readers_cannot_write(store: Store, served: Served) -> None:
    made = await store.create("/a.md", "one")
    reader = Store(served.connect(READER), store.id)
    assert (await reader.get(made.id)).content == "one"
    calls = (
        reader.create("/b.md", "x"),
        reader.update(made.id, content="x"),
        reader.delete(made.id),
        store.versions.redact(made.memory_version_id, memory_store_id=store.id),
        store.api.update(store.id, name="other"),
        store.api.archive(store.id),
        store.api.delete(store.id),
        store.api.create(name="new"),
    )
    for call in calls:
        with pytest.raises(anthropic.PermissionDeniedError):
            await call


async def test_what_is_protected_no_agent_changes(store: Store, served: Served) -> None:
    with memtui.open(served.root / "team") as memory:
        memory.files.protect(["prefs.md"])
    prefs = await store.find("/prefs.md")
    for change in ({"content": "x"}, {"path": "/y.md"}, {"content": "x", "path": "/y.md"}):
        with pytest.raises(anthropic.PermissionDeniedError, match="protected"):
            await store.update(prefs.id, **change)
    with pytest.raises(anthropic.PermissionDeniedError):
        await store.delete(prefs.id)
    person = Store(served.connect(ADA), store.id)
    assert (await person.update(prefs.id, content="x")).content_sha256 == hash_text("x")


async def test_what_other_programs_do_is_seen(store: Store, served: Served) -> None:
    prefs = await store.find("/prefs.md")
    fill(served.root / "team", {"prefs.md": "- long answers\n"})
    assert (await store.get(prefs.id)).content == "- long answers\n"
    with pytest.raises(anthropic.ConflictError):
        await store.update(prefs.id, content="x", expected=prefs.content_sha256)
    (served.root / "team/prefs.md").unlink()
    with pytest.raises(anthropic.NotFoundError):
        await store.get(prefs.id)
    history = await store.history(memory_id=prefs.id)
    assert [each.operation for each in history] == ["deleted", "modified", "created"]
    assert history[0].created_by is None


async def test_a_deletion_that_a_person_undoes_brings_the_memory_back_under_its_id(
    store: Store, served: Served
) -> None:
    made = await store.create("/a.md", "one")
    await store.delete(made.id)
    with memtui.open(served.root / "team") as memory:
        memory.undo([memory.get_head()[0]])
    assert (await store.get(made.id)).content == "one"
    await store.update(made.id, path="/b.md")
    with memtui.open(served.root / "team") as memory:
        memory.undo([memory.get_head()[0]])
    assert (await store.get(made.id)).path == "/a.md"


async def test_ids_are_the_same_after_a_restart(store: Store, serve: Serve) -> None:
    made = await store.create("/a.md", "one")
    await store.update(made.id, path="/b.md", content="two")
    ids = [(each.id, each.memory_version_id, each.path) for each in await store.list()]
    versions = [each.id for each in await store.history()]
    client = serve().connect(PLANNER)
    again = Store(client, await find_store(client, "team"))
    assert again.id == store.id
    assert [(each.id, each.memory_version_id, each.path) for each in await again.list()] == ids
    assert [each.id for each in await again.history()] == versions


async def test_what_is_no_text_and_what_belongs_to_git_is_no_memory(store: Store, served: Served) -> None:
    fill(
        served.root / "team",
        {"picture.png": b"\x89PNG\xff", ".git/config": "[core]\n", "control\x07.md": "x", "large.txt": "x" * 1_000_001},
    )
    (served.root / "team/link.md").symlink_to("prefs.md")
    assert [each.path for each in await store.list()] == ["/notes/today.md", "/prefs.md"]
    for path in ("/picture.png", "/large.txt", "/link.md"):
        with pytest.raises(anthropic.ConflictError):
            await store.create(path, "text")
    with pytest.raises(anthropic.BadRequestError):
        await store.create("/.git/hooks/post-commit", "#!/bin/sh\n")
    assert (served.root / "team/picture.png").read_bytes() == b"\x89PNG\xff"


async def test_nothing_is_written_through_a_link(store: Store, served: Served) -> None:
    outside = fill(served.root.parent / "outside", {"kept.md": "kept"})
    (served.root / "team/out").symlink_to(outside)
    (served.root / "team/in").symlink_to("notes")
    for path in ("/out/new.md", "/out/kept.md", "/in/new.md"):
        with pytest.raises(anthropic.APIStatusError) as caught:
            await store.create(path, "x")
        assert caught.value.status_code == 409
    made = await store.create("/a.md", "x")
    for change in ({"path": "/out/new.md"}, {"path": "/in/new.md"}, {"path": "/in/new.md", "content": "y"}):
        with pytest.raises(anthropic.ConflictError):
            await store.update(made.id, **change)
    assert [path.name for path in outside.iterdir()] == ["kept.md"]
    assert [path.name for path in (served.root / "team/notes").iterdir()] == ["today.md"]


HOSTILE = (
    *(
        "",
        "a.md",
        "/",
        "//a",
        "/a//b",
        "/a/",
        "/./a",
        "/a/../b",
        "/..",
        "/a/.",
        "/a\x00b",
        "/a\nb",
        "/\u202eb",
        "/\u2028",
    ),
    *("/e\u0301.md", "/" + "a/" * 20 + "a", "/" + "x" * 1_024, "/" + "é" * 512, "/\u200b", "/a\x7f", "/.GIT/config"),
    *("/\ud800", "/a\\b", "/%2e%2e/x", "/" + "n" * 256),
)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path)[:30])
async def test_a_path_that_none_may_have_is_refused(served: Served, path: str) -> None:
    store_id = await find_store(served.connect(), "team")
    body = json.dumps({"content": "x", "path": path})
    reply = await served.ask("POST", f"/v1/memory_stores/{store_id}/memories", content=body.encode())
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["type"] == "invalid_request_error"
    reply = await served.ask("GET", f"/v1/memory_stores/{store_id}/memories?view=full")
    assert {each["path"] for each in reply.json()["data"]} == {"/prefs.md", "/notes/today.md"}


async def test_a_path_of_twenty_segments_and_many_bytes_is_taken(store: Store) -> None:
    for path in ("/" + "a/" * 19 + "a", "/" + "/".join(["n" * 250] * 4), "/日本/é.md"):
        assert (await store.create(path, "x")).path == path


async def test_a_content_of_more_than_a_hundred_kilobytes_is_refused(store: Store, served: Served) -> None:
    most = await store.create("/most.md", "é" * 51_200)
    assert most.content_size_bytes == 102_400
    for call in (
        store.create("/more.md", "é" * 51_200 + "x"),
        store.update(most.id, content="x" * 102_401),
        store.update(most.id, content="x" * 102_401, path="/more.md"),
    ):
        with pytest.raises(anthropic.BadRequestError, match="102,400"):
            await call
    assert not (served.root / "team/more.md").exists()


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("POST", "", b"{"),
        ("POST", "", b"[]"),
        ("POST", "", b'"x"'),
        ("POST", "", b"\xff"),
        ("POST", "", b"[" * 100_000),
        ("POST", "", b"{}"),
        ("POST", "", b'{"path":"/a"}'),
        ("POST", "", b'{"path":"/a","content":null}'),
        ("POST", "", b'{"path":"/a","content":1}'),
        ("POST", "", b'{"path":1,"content":"x"}'),
        ("POST", "", b'{"path":"/a","content":"\\ud800"}'),
        ("POST", "?view=odd", b'{"path":"/a","content":"x"}'),
        ("GET", "?limit=0", None),
        ("GET", "?limit=101", None),
        ("GET", "?limit=x", None),
        ("GET", "?depth=2", None),
        ("GET", "?path_prefix=notes/", None),
        ("GET", "?path_prefix=/notes", None),
        ("GET", "?path_prefix=/../", None),
        ("GET", "?page=odd", None),
        ("GET", "?page=MTIz", None),
        ("GET", "?page=" + "x" * 5_000, None),
        ("GET", "?view=odd", None),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_what_is_wrong_in_a_request_is_said(served: Served, method: str, target: str, body: bytes | None) -> None:
    store_id = await find_store(served.connect(), "team")
    reply = await served.ask(method, f"/v1/memory_stores/{store_id}/memories{target}", content=body)
    assert reply.status_code == 400, reply.text
    error = reply.json()
    assert (error["type"], error["error"]["type"]) == ("error", "invalid_request_error")
    assert error["request_id"] == reply.headers["request-id"]


@pytest.mark.parametrize(
    "body",
    [
        {"content": 1},
        {"path": 1},
        {"precondition": {"type": "odd"}},
        {"precondition": {"type": "content_sha256"}},
        {"precondition": {"type": "content_sha256", "content_sha256": "A" * 64}},
        {"precondition": "x"},
    ],
    ids=str,
)
async def test_what_is_wrong_in_an_update_is_said(store: Store, served: Served, body: dict[str, object]) -> None:
    prefs = await store.find("/prefs.md")
    reply = await served.ask("POST", f"/v1/memory_stores/{store.id}/memories/{prefs.id}", json=body)
    assert reply.status_code == 400, reply.text
    assert served.read("team/prefs.md") == "- short answers\n"


async def test_ids_of_nothing_are_missing(store: Store) -> None:
    for call in (
        store.get("mem_none"),
        store.versions.retrieve("memver_none", memory_store_id=store.id),
        store.memories.retrieve("mem_none", memory_store_id="memstore_none"),
        store.api.retrieve("memstore_none"),
    ):
        with pytest.raises(anthropic.NotFoundError) as caught:
            await call
        assert caught.value.type == "not_found_error"
    assert await store.history(memory_id="mem_none") == []


async def test_what_agents_read_is_recorded_as_a_view(store: Store, served: Served) -> None:
    prefs = await store.find("/prefs.md")
    await store.get(prefs.id)
    await Store(served.connect(ADA), store.id).get(prefs.id)
    served.catalog.close()
    with memtui.open(served.root / "team") as memory:
        views = [(each.actor.name, each.path) for each in memory.events() if each.command == "view"]
    assert views == [("planner", "/memories/prefs.md")]


async def test_a_secret_is_kept_out_as_the_settings_say(serve: Serve) -> None:
    key = make_sample("aws-key")
    for policy, path in (("block", "/blocked.md"), ("redact", "/left-out.md")):
        client = serve(settings=memtui.Settings(secrets=policy)).connect(PLANNER)
        store = Store(client, await find_store(client, "team"))
        made = await store.create(f"/plain-{policy}.md", "plain")
        if policy == "block":
            for call in (
                store.create(path, f"key {key}"),
                store.update(made.id, content=f"key {key}"),
                store.update(made.id, content=f"key {key}", path="/moved.md"),
            ):
                with pytest.raises(anthropic.BadRequestError) as caught:
                    await call
                assert key not in str(caught.value)
        else:
            assert key not in (await store.create(path, f"key {key}", view="full")).content
            moved = await store.update(made.id, content=f"key {key}", path="/moved.md", view="full")
            assert moved.path == "/moved.md"
            assert key not in moved.content
