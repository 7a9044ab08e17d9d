"""`memtui mcp` with the library's own client: both eras of the protocol, over pipes and over HTTP."""

import contextlib
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from memtui.core.events import Agent, Event
from tests.agents.mcp.pipe_client import HTTP_HEADERS, HTTP_HELLO, LIMIT, ROOT
from tests.warm import Warm

ERAS = ("legacy", "2026-07-28", "auto")
Connect = Callable[..., Any]


@pytest.fixture(params=["stdio", "http"])
def connect_to(
    request: pytest.FixtureRequest, stdio_command: Callable[..., list[str]], serve_http: Callable[..., str]
) -> Connect:
    """A client of the server, over each transport in turn."""
    url: list[str] = []

    @asynccontextmanager
    async def connect(mode: str, *words: str, **options: Any) -> AsyncIterator[Client]:
        if request.param == "stdio":
            command, *args = stdio_command(*words)
            env = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
            where: Any = StdioServerParameters(command=command, args=args, env=env)
        else:
            url[:] = url or [await anyio.to_thread.run_sync(lambda: serve_http(*words))]
            where = url[0]
        with anyio.fail_after(LIMIT):
            info = types.Implementation(name="the-library", version="1")
            async with Client(where, mode=mode, client_info=info, **options) as client:
                yield client

    return connect


@pytest.mark.parametrize("mode", ERAS)
async def test_all_that_is_offered_works_in_each_era(
    mode: str, connect_to: Connect, folder: Path, events: Callable[[], list[Event]]
) -> None:
    async with connect_to(mode) as client:
        assert next(tool.name for tool in (await client.list_tools()).tools) == "memory"
        made = await client.call_tool("memory", {"command": "create", "path": "/memories/a b.md", "file_text": "x\n"})
        assert (made.is_error, made.content[0].text) == (False, "File created successfully at: /memories/a b.md")
        refused = await client.call_tool("memory", {"command": "delete", "path": "/memories/none"})
        assert (refused.is_error, refused.content[0].text) == (True, "Error: The path /memories/none does not exist")
        found = await client.call_tool("search_memory", {"query": "berlin"})
        assert [match["path"] for match in found.structured_content["matches"]] == ["/memories/prefs.md"]
        activity = await client.call_tool("recent_activity", {"limit": 20})
        told = [(event["actor"], event["command"], event["result"]) for event in activity.structured_content["events"]]
        # The server answers at once and looks meanwhile: what was there before is found at any moment of these.
        assert [event for event in told if event[1] != "found"] == [
            ("the-library", "create", "ok"),
            ("the-library", "delete", "refused"),
        ]
        history = await client.call_tool("memory_history", {"path": "/memories/a b.md"})
        assert [row["command"] for row in history.structured_content["versions"]] == ["create"]
        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed] == [
            "memory:///",
            "memory:///a%20b.md",
            "memory:///notes/today.md",
            "memory:///prefs.md",
        ]
        assert (await client.list_resource_templates()).resource_templates[0].uri_template == "memory:///{+path}"
        (note,) = (await client.read_resource("memory:///a%20b.md")).contents
        assert (note.text, note.mime_type) == ("x\n", "text/markdown")
        prompt = await client.get_prompt("memory_guide")
        assert "/memories" in prompt.messages[0].content.text
    viewed = events()[-1]
    assert (viewed.command, viewed.path) == ("view", "/memories/a b.md")
    assert isinstance(viewed.actor, Agent)
    assert viewed.actor.name == "the-library"
    assert (folder / "a b.md").read_text() == "x\n"


async def test_a_client_of_the_older_protocol_is_told_of_changes_from_outside(
    connect_to: Connect, folder: Path
) -> None:
    send, told = anyio.create_memory_object_stream[Any](1_000)

    async def note(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification | types.ResourceListChangedNotification):
            await send.send(message)

    async def until(wanted: Callable[[Any], bool]) -> list[Any]:
        got = []
        while not got or not wanted(got[-1]):
            got.append(await told.receive())
        return got

    def updated(uri: str) -> Callable[[Any], bool]:
        return lambda message: isinstance(message, types.ResourceUpdatedNotification) and message.params.uri == uri

    with send, told, warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        async with connect_to("legacy", message_handler=note) as client:
            await client.subscribe_resource("memory:///prefs.md")
            await client.subscribe_resource("memory:///notes")
            await client.call_tool("memory", {"command": "view", "path": "/memories"})
            (folder / "prefs.md").write_text("changed\n")
            await until(updated("memory:///prefs.md"))
            (folder / "notes" / "new.md").write_text("new\n")
            await until(lambda message: isinstance(message, types.ResourceListChangedNotification))
            await client.call_tool("memory", {"command": "delete", "path": "/memories/notes/today.md"})
            await until(updated("memory:///notes"))
            await client.unsubscribe_resource("memory:///prefs.md")
            for name in ("once.md", "twice.md"):  # what was on its way before is there by then
                (folder / "notes" / name).write_text("x\n")
                await until(updated("memory:///notes"))
            (folder / "prefs.md").write_text("again\n")
            (folder / "notes" / "more.md").write_text("last\n")
            assert not any(map(updated("memory:///prefs.md"), await until(updated("memory:///notes"))))
            with pytest.raises(MCPError, match="percent-encoded"):
                await client.subscribe_resource("file:///etc/passwd")


async def test_a_client_of_the_newer_protocol_listens(connect_to: Connect, folder: Path) -> None:
    async with (
        connect_to("2026-07-28") as client,
        client.listen(resources_list_changed=True, resource_subscriptions=["memory:///prefs.md"]) as heard,
    ):
        assert heard.honored.resource_subscriptions == ["memory:///prefs.md"]
        await client.call_tool("memory", {"command": "view", "path": "/memories"})
        (folder / "prefs.md").write_text("changed\n")
        async for event in heard:
            if event == ResourceUpdated(uri="memory:///prefs.md"):
                break
        (folder / "new.md").write_text("new\n")
        async for event in heard:
            if event == ResourcesListChanged():
                break


async def test_many_notes_are_listed_page_by_page_each_once(connect_to: Connect, folder: Path) -> None:
    for number in range(450):
        (folder / "notes" / f"{number:03}.md").write_text("x")
    async with connect_to("legacy") as client:
        seen: list[str] = []
        cursor = None
        pages = 0
        while pages == 0 or cursor:
            page = await client.list_resources(cursor=cursor)
            seen += [each.uri for each in page.resources]
            cursor = page.next_cursor
            pages += 1
        assert pages == 3
        assert len(seen) == len(set(seen)) == 453
        with pytest.raises(MCPError, match="percent-encoded"):
            await client.list_resources(cursor="nonsense")


async def test_hostile_names_are_uris_like_any_other(connect_to: Connect, folder: Path) -> None:
    names = ["with space.md", "hash#query?.md", "per%cent.md", "ünï.md", "two\nlines.md", "\u202etxt.md"]
    for name in names:
        (folder / name).write_text(name)
    (folder / os.fsdecode(b"\xff.md")).write_text("bytes")
    async with connect_to("legacy") as client:
        listed = {each.uri: each.name for each in (await client.list_resources()).resources}
        assert "memory:///%FF.md" in listed
        assert "memory:///two%0Alines.md" in listed
        assert not {"\n", "\u202e"} & set("".join(listed.values()))
        for uri, name in (("memory:///hash%23query%3F.md", names[1]), ("memory:///%C3%BCn%C3%AF.md", names[3])):
            assert (await client.read_resource(uri)).contents[0].text == name
        for uri in ("memory:///two%0Alines.md", "memory:///%FF.md", "memory:///per%25cent.md"):
            try:
                assert (await client.read_resource(uri)).contents
            except MCPError as error:
                assert str(error).startswith("Error: ")  # noqa: PT017


NO_NOTES = [
    "memory:///..%2f..%2fetc/passwd",
    "memory:///%2e%2e/etc/passwd",
    "memory:///../../etc/passwd",
    "memory://etc/passwd",
    "file:///etc/passwd",
    "memory:///a%00b",
    "memory:///prefs.md?x=1",
    "memory:///prefs.md#x",
    "memory:///link.md",
    "memory:///none.md",
    "memory:///picture.png",
    "/etc/passwd",
    "",
]


def test_what_is_no_note_of_the_folder_is_an_error_and_never_a_file_outside(
    folder: Path, start: Callable[..., Any]
) -> None:
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    server = start()
    for uri in NO_NOTES:
        error = server.refused("resources/read", {"uri": uri})
        assert "root:" not in str(error), uri
        assert error["message"]


async def test_http_is_served_to_this_machine_only_and_to_no_web_page(serve_http: Callable[..., str]) -> None:
    url = serve_http()
    async with httpx2.AsyncClient(timeout=LIMIT) as web:
        assert (await web.post(url, json=HTTP_HELLO, headers=HTTP_HEADERS)).status_code == 200
        for headers, status in (
            ({"Host": "evil.example"}, 421),
            ({"Host": "127.0.0.1.evil.example:80"}, 421),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Content-Type": "text/plain"}, 400),
        ):
            refused = await web.post(url, json=HTTP_HELLO, headers={**HTTP_HEADERS, **headers})
            assert refused.status_code == status, headers
        assert (await web.get(url.removesuffix("/mcp") + "/")).status_code == 404
        too_large = {**HTTP_HELLO, "params": "x" * 5_000_000}
        assert (await web.post(url, json=too_large, headers=HTTP_HEADERS)).status_code == 413
    port = int(url.rsplit(":", 1)[1].split("/")[0])
    with socket.socket(socket.AF_INET6) as other, pytest.raises(OSError, match="refused"):
        other.connect(("::1", port))


async def test_clients_over_http_have_sessions_of_their_own(
    folder: Path, serve_http: Callable[..., str], events: Callable[[], list[Event]]
) -> None:
    url = serve_http()
    with anyio.fail_after(LIMIT):
        async with (
            Client(url, mode="legacy") as one,
            Client(url, mode="legacy") as two,
            anyio.create_task_group() as tasks,
        ):

            async def edit(client: Client, name: str) -> None:
                for number in range(20):
                    made = {"command": "create", "path": f"/memories/{name}/{number}.md", "file_text": name}
                    assert not (await client.call_tool("memory", made)).is_error

            tasks.start_soon(edit, one, "one")
            tasks.start_soon(edit, two, "two")
    written = [event for event in events() if event.command == "create"]
    assert len(written) == 40
    sessions = {event.path.split("/")[2]: event.actor.session for event in written if isinstance(event.actor, Agent)}
    assert sessions["one"] != sessions["two"]
    assert all(sessions.values())
    assert len(list((folder / "one").iterdir())) == 20


async def test_http_ends_at_once_though_a_client_still_listens(folder: Path, warm: Warm) -> None:
    process = warm.popen(["-m", "memtui", "mcp", str(folder), "--http", "0", "--no-token"], env=os.environ)
    with contextlib.ExitStack() as stack:
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe
            stack.callback(pipe.close)
        assert process.stderr
        line = process.stderr.readline().decode()
        url = next(word.rstrip(".") for word in line.split() if word.startswith("http://"))
        with anyio.move_on_after(LIMIT), contextlib.suppress(Exception):
            async with (
                Client(url, mode="2026-07-28") as client,
                client.listen(resources_list_changed=True),
                Client(url, mode="legacy") as other,
            ):
                await other.call_tool("memory", {"command": "view", "path": "/memories"})
                process.terminate()
                assert await anyio.to_thread.run_sync(lambda: process.wait(10)) == 0
        assert process.wait(LIMIT) == 0
        assert b"Traceback" not in process.stderr.read()


async def test_a_note_that_is_too_large_is_not_read_as_a_whole(folder: Path, start: Callable[..., Any]) -> None:
    (folder / "large.md").write_text("x" * 5_000_000)
    error = start().refused("resources/read", {"uri": "memory:///large.md"})
    assert error["message"].startswith("Error: /memories/large.md is too large to be read as a whole: 4.8M, the limit")


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "memtui", "mcp", str(folder), "--http", str(port), "--no-token"],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
            timeout=LIMIT,
        )
    assert done.returncode == 5
    assert done.stderr.startswith(f"Port {port} cannot be used: address already in use. Nothing was started.")
