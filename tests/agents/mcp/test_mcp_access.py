"""Who may come in over HTTP, and who is asked: a token, a socket of one's own, a form in the client."""

import os
import re
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp.client import Client

from tests.agents.mcp.pipe_client import HTTP_HEADERS, HTTP_HELLO, LIMIT
from tests.warm import Warm

TOKEN = "0123456789abcdef-token"
CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "theirs\n"}


def _make_token(place: Path, text: str = TOKEN, mode: int = 0o600) -> Path:
    path = place / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


async def test_only_who_bears_the_token_comes_in(serve_http: Callable[..., str], tmp_path: Path) -> None:
    url = serve_http("--token-file", str(_make_token(tmp_path, f"{TOKEN}\n")))
    async with httpx2.AsyncClient(timeout=LIMIT) as web:
        for given in (
            None,
            "",
            "Bearer",
            f"Bearer {TOKEN[:-1]}",
            f"Bearer {TOKEN}x",
            f"Basic {TOKEN}",
            TOKEN,
        ):
            headers = HTTP_HEADERS if given is None else {**HTTP_HEADERS, "Authorization": given}
            for method, path in (("POST", url), ("GET", url), ("DELETE", url), ("GET", url.removesuffix("/mcp"))):
                answer = await web.request(method, path, json=HTTP_HELLO, headers=headers)
                assert (answer.status_code, TOKEN in answer.text) == (401, False)
        headers = {**HTTP_HEADERS, "Authorization": f"Bearer {TOKEN}"}
        assert (await web.post(url, json=HTTP_HELLO, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--http", "0"], 2, "every user of this machine can connect"),
        (["--http", "0", "--token-file", "{place}/token", "--no-token"], 2, "do not go together"),
        (["--http", "0", "--socket", "{place}/s"], 2, "do not go together"),
        (["--token-file", "{place}/token"], 2, "go with --http"),
        (["--no-token"], 2, "go with --http"),
        (["--http", "0", "--token-file", "{place}/open"], 4, "Other users can read"),
        (["--http", "0", "--token-file", "{place}/short"], 2, "holds no valid token"),
        (["--http", "0", "--token-file", "{folder}/token"], 4, "is inside the memory folder"),
        (["--socket", "{folder}/socket"], 4, "is inside the memory folder"),
        (["--socket", "{place}/open"], 5, "cannot be used as a socket"),
        (["--socket", "{place}/nowhere/socket"], 5, "cannot be used as a socket"),
    ],
)
def test_who_may_come_in_is_said_before_anything_is_served(
    words: list[str], code: int, said: str, folder: Path, tmp_path: Path, warm: Warm
) -> None:
    _make_token(tmp_path)
    _make_token(tmp_path, mode=0o644).rename(tmp_path / "open")
    _make_token(tmp_path, "short").rename(tmp_path / "short")
    _make_token(tmp_path)
    given = [word.format(place=tmp_path, folder=folder) for word in words]
    done = warm.run(["-m", "memtui", "mcp", str(folder), *given], timeout=LIMIT, env=os.environ)
    assert (done.returncode, said in done.stderr.decode()) == (code, True), done.stderr
    assert TOKEN.encode() not in done.stderr
    assert not (folder / "token").exists()


def test_a_token_that_is_not_there_is_made_for_its_owner_only(serve_http: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "made"
    serve_http("--token-file", str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert re.fullmatch(r"[\w-]{40,}\n", path.read_text())


async def test_a_socket_lets_in_its_owner_only_and_goes_with_the_server(
    folder: Path, tmp_path: Path, warm: Warm
) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))  # of a server that died
    process: Any = warm.popen(["-m", "memtui", "mcp", str(folder), "--socket", str(path)], env=os.environ)
    try:
        line = process.stderr.readline().decode()
        assert "to programs of your user only" in line
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        transport = httpx2.AsyncHTTPTransport(uds=str(path))
        async with httpx2.AsyncClient(timeout=LIMIT, transport=transport) as web:
            assert (await web.post("http://localhost/mcp", json=HTTP_HELLO, headers=HTTP_HEADERS)).status_code == 200
        other_python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
        if os.geteuid() == 0 and other_python:
            program = f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r})"
            for parent in [tmp_path, *tmp_path.parents][:-2]:
                parent.chmod(parent.stat().st_mode | 0o111)
            refused = subprocess.run(
                [other_python, "-c", program], user=65_534, capture_output=True, check=False, cwd="/", timeout=LIMIT
            )
            assert b"PermissionError" in refused.stderr
        second = warm.run(["-m", "memtui", "mcp", str(folder), "--socket", str(path)], timeout=LIMIT, env=os.environ)
        assert second.returncode == 5
        process.terminate()
        assert process.wait(LIMIT) == 0
        assert not path.exists()
    finally:
        process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def test_the_server_says_at_the_start_who_may_come_in(folder: Path, tmp_path: Path, warm: Warm) -> None:
    token = str(_make_token(tmp_path))
    for words, said in (
        (["--http", "0", "--no-token"], "to every user and program of this machine, without a token"),
        (["--http", "0", "--token-file", token], "to those who send the token in "),
    ):
        process: Any = warm.popen(["-m", "memtui", "mcp", str(folder), *words], env=os.environ)
        try:
            assert said in process.stderr.readline().decode()
        finally:
            process.terminate()
            process.wait(LIMIT)
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()


# Asking in the client


@pytest.mark.parametrize(
    ("action", "content", "written", "said"),
    [
        ("accept", {"approve": True}, True, "File created successfully"),
        ("accept", {"approve": False, "reason": "not that"}, False, "Their reason: not that"),
        ("accept", {"approve": "yes"}, False, "declined"),
        ("accept", {}, False, "declined"),
        ("decline", None, False, "declined"),
        ("cancel", None, False, "declined"),
    ],
)
async def test_where_no_memtui_is_open_the_client_asks_with_the_whole_change(
    *, action: Any, content: Any, written: bool, said: str, folder: Path, serve_http: Callable[..., str]
) -> None:
    asked: list[str] = []
    told: list[str] = []

    async def elicit(_: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action=action, content=content)

    async def progress(_: float, __: float | None, message: str | None) -> None:
        told.append(message or "")

    with anyio.fail_after(LIMIT):
        async with Client(serve_http("--ask"), mode="legacy", elicitation_callback=elicit) as client:
            answer = await client.call_tool("memory", CREATE, progress_callback=progress)
            assert not (await client.call_tool("memory", {"command": "view", "path": "/memories"})).is_error
    assert said in answer.content[0].text
    assert (folder / "a.md").exists() is written
    (message,) = asked
    assert "wants to create /memories/a.md." in message
    assert "+theirs" in message


async def test_a_client_that_cannot_ask_is_told_that_it_waits(folder: Path, serve_http: Callable[..., str]) -> None:
    told: list[str] = []

    async def progress(_: float, __: float | None, message: str | None) -> None:
        told.append(message or "")

    with anyio.fail_after(LIMIT):
        async with Client(serve_http("--ask", "--ask-seconds", "1"), mode="legacy") as client:
            answer = await client.call_tool("memory", CREATE, progress_callback=progress)
    assert answer.is_error
    assert told[0] == "Waiting for the user to approve it, in a memtui that shows this folder"
    assert not (folder / "a.md").exists()


async def test_a_change_too_long_to_be_shown_is_not_asked_about_in_the_client(
    folder: Path, serve_http: Callable[..., str]
) -> None:
    asked: list[str] = []

    async def elicit(_: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": True})

    with anyio.fail_after(LIMIT):
        async with Client(
            serve_http("--ask", "--ask-seconds", "1"), mode="legacy", elicitation_callback=elicit
        ) as client:
            answer = await client.call_tool("memory", {**CREATE, "file_text": "x\n" * 9_000})
    assert answer.is_error
    assert asked == []
    assert not (folder / "a.md").exists()


# What is sent is in the schema


async def test_every_field_that_is_sent_is_in_the_schema_and_every_type_is_one(serve_http: Callable[..., str]) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_memory", {"query": "prefer"}),
        ("search_memory", {"query": "theirs", "scope": "past"}),
        ("search_memory", {"query": "b.md", "scope": "past"}),
        ("recent_activity", {}),
        ("memory_history", {"path": "/memories/b.md"}),
        ("memory_history", {"path": "/memories/b.md", "from": 2}),
        ("search_memory", {"tags": ["none"]}),
        ("build_context", {"url": "memory://*"}),
        ("list_links", {"note": "/memories/b.md"}),
    ]
    with anyio.fail_after(LIMIT):
        async with Client(serve_http(), mode="legacy") as client:
            await client.call_tool("memory", CREATE)
            await client.call_tool(
                "memory", {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"}
            )
            await client.call_tool(
                "memory", {"command": "str_replace", "path": "/memories/b.md", "old_str": "theirs", "new_str": "ours"}
            )
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            for tool in tools.values():
                assert not _list_types(tool.model_dump(by_alias=True))
            for name, given in calls:
                answer = await client.call_tool(name, given)
                _check_fields(answer.structured_content, tools[name].output_schema, name)
    assert tools["memory"].meta == {"anthropic/alwaysLoad": True}


def _list_types(schema: Any) -> list[Any]:
    """The schemas whose `type` is a list: strict clients take one only."""
    if isinstance(schema, list):
        return [found for each in schema for found in _list_types(each)]
    if not isinstance(schema, dict):
        return []
    here = [schema] if isinstance(schema.get("type"), list) else []
    return here + [found for each in schema.values() for found in _list_types(each)]


def _check_fields(value: Any, schema: Any, where: str) -> None:
    if isinstance(value, dict):
        choices = [schema, *schema.get("anyOf", ())]
        named = next((each["properties"] for each in choices if "properties" in each), None)
        if named is None:
            return
        assert value.keys() <= named.keys(), where
        for name, each in value.items():
            _check_fields(each, named[name], f"{where}.{name}")
    elif isinstance(value, list):
        for each in value:
            _check_fields(each, schema["items"], where)


async def test_paths_are_completed_as_they_stand_in_a_uri(folder: Path, serve_http: Callable[..., str]) -> None:
    (folder / "notes" / "a b.md").write_text("x\n")
    ref = types.ResourceTemplateReference(uri="memory:///{+path}")
    with anyio.fail_after(LIMIT):
        async with Client(serve_http(), mode="legacy") as client:
            assert client.server_capabilities.completions is not None
            for written, found in (
                ("no", ["notes/", "notes/a%20b.md", "notes/today.md"]),
                ("notes/a b", ["notes/a%20b.md"]),
                ("NOTES/T", ["notes/today.md"]),
                ("memory:///notes/a%20", ["notes/a%20b.md"]),
                ("../", []),
                ("nope", []),
            ):
                completed = (await client.complete(ref, {"name": "path", "value": written})).completion
                assert completed.values == found
            for number in range(150):
                (folder / f"many-{number}.md").write_text("x")
            completed = (await client.complete(ref, {"name": "path", "value": "many-"})).completion
            assert (len(completed.values), completed.total, completed.has_more) == (100, 150, True)
