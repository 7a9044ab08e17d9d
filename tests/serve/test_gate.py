"""Who is let in, and what a request may cost: tokens, names, sizes, rates; and what the log says of it."""

import asyncio
import hashlib
import json
import threading
from typing import Any

import anthropic
import pytest

from memtui.serve import MOST_BODY_BYTES, ServerLimits
from memtui.serve.access import AccessFileError, Right, parse_access_file
from tests.serve.conftest import ADA, PLANNER, Serve, Served, find_store
from tests.serve.sdk import Store

STORES = "/v1/memory_stores"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": ""},
        {"x-api-key": "wrong"},
        {"x-api-key": ADA + "x"},
        {"x-api-key": ADA[:-1]},
        {"authorization": f"Basic {ADA}"},
        {"authorization": ADA},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {ADA}", "x-api-key": PLANNER},
        {"authorization": f"Bearer {ADA}", "x-api-key": "wrong"},
    ],
    ids=str,
)
async def test_without_a_valid_token_nothing_is_told(served: Served, headers: dict[str, str]) -> None:
    for target in (STORES, f"{STORES}/memstore_none", "/metrics", "/nowhere"):
        reply = await served.ask("GET", target, None, headers=headers)
        assert reply.status_code == 401
        assert reply.json()["error"]["type"] == "authentication_error"
        assert reply.headers["www-authenticate"] == "Bearer"
    assert (await served.ask("GET", "/healthz", None)).json() == {"status": "ok"}


async def test_a_token_is_taken_from_either_header(served: Served) -> None:
    for headers in ({"authorization": f"Bearer {ADA}"}, {"authorization": f"bearer {ADA}"}, {"x-api-key": ADA}):
        assert (await served.ask("GET", STORES, None, headers=headers)).status_code == 200
    client = served.connect(api_key=None, auth_token=PLANNER)
    assert [each.name async for each in client.beta.memory_stores.list()]


async def test_who_guesses_tokens_is_slowed_down_and_nobody_else(serve: Serve) -> None:
    served = serve(limits=ServerLimits(failures=0.001))
    codes = [(await served.ask("GET", STORES, "wrong")).status_code for _ in range(3)]
    assert codes == [401, 429, 429]
    assert (await served.ask("GET", STORES)).status_code == 200


async def test_a_token_has_its_rate_and_no_other_token_pays_for_it(serve: Serve) -> None:
    served = serve(limits=ServerLimits(rate=0.01, burst=3))
    codes = [(await served.ask("GET", STORES)).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    reply = await served.ask("GET", STORES)
    assert reply.json()["error"]["type"] == "rate_limit_error"
    assert int(reply.headers["retry-after"]) >= 1
    assert reply.headers["x-should-retry"] == "true"
    assert (await served.ask("GET", STORES, PLANNER)).status_code == 200


async def test_only_the_own_names_are_answered_and_no_web_page(serve: Serve) -> None:
    served = serve(hosts=frozenset({"127.0.0.1:8000", "memory.example"}))
    for host, code in (("127.0.0.1:8000", 200), ("MEMORY.example", 200), ("evil.example", 421), ("127.0.0.1", 421)):
        assert (await served.ask("GET", STORES, headers={"host": host})).status_code == code, host
        assert (await served.ask("GET", "/healthz", None, headers={"host": host})).status_code == code, host
    for origin in ("http://127.0.0.1:8000", "https://evil.example", "null"):
        reply = await served.ask("GET", STORES, headers={"host": "127.0.0.1:8000", "origin": origin})
        assert reply.status_code == 403


async def test_a_body_that_is_too_large_is_refused_before_it_is_read(served: Served) -> None:
    store_id = await find_store(served.connect(), "team")
    target = f"{STORES}/{store_id}/memories"
    reply = await served.ask("POST", target, content=b"x" * (MOST_BODY_BYTES + 1))
    assert reply.status_code == 413
    sent = 0

    async def stream() -> Any:
        nonlocal sent
        for _ in range(1_000):
            sent += 100_000
            yield b"x" * 100_000

    reply = await served.ask("POST", target, content=stream())
    assert reply.status_code == 413
    assert sent < 3 * MOST_BODY_BYTES
    escaped = '{"path":"/a","content":"' + "\\u0001" * 102_400 + '"}'
    assert (await served.ask("POST", target, content=escaped.encode())).status_code == 200


@pytest.mark.parametrize("size", ["-1", "x", "1e9", "99999999999999999999"])
async def test_a_size_that_is_none_is_refused(served: Served, size: str) -> None:
    reply = await served.ask("POST", STORES, content=b"", headers={"content-length": size})
    assert reply.status_code == 413


async def test_a_body_that_never_ends_is_waited_for_so_long(serve: Serve) -> None:
    served = serve(limits=ServerLimits(body_seconds=0.05))
    messages: list[dict[str, Any]] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        messages.append(message)

    headers = [(b"x-api-key", ADA.encode()), (b"host", b"x")]
    scope = {"type": "http", "method": "POST", "path": STORES, "headers": headers, "query_string": b""}
    await served.gate(scope, receive, send)
    assert messages[0]["status"] == 408


@pytest.mark.parametrize(
    ("method", "target", "code"),
    [
        ("GET", "/", 404),
        ("GET", "/v1", 404),
        ("GET", "/v1/memory_stores/", 404),
        ("GET", "/v1/memory_stores/a/b", 404),
        ("GET", "/v1/messages", 404),
        ("GET", "/v1/memory_stores/..%2f..%2fetc", 404),
        ("GET", "/v1/memory_stores/%00", 404),
        ("PUT", "/v1/memory_stores", 405),
        ("DELETE", "/v1/memory_stores", 405),
        ("OPTIONS", "/v1/memory_stores", 405),
        ("GET", "/v1/memory_stores/x/archive", 405),
        ("TRACE", "/v1/memory_stores", 405),
    ],
)
async def test_what_is_not_there_is_said_in_json(served: Served, method: str, target: str, code: int) -> None:
    reply = await served.ask(method, target)
    assert reply.status_code == code
    assert reply.json()["type"] == "error"
    assert reply.headers["x-content-type-options"] == "nosniff"


async def test_the_log_has_no_token_no_path_and_no_content(served: Served) -> None:
    client = served.connect(PLANNER)
    store = Store(client, await find_store(client, "team"))
    made = await store.create("/words/of/a/path.md", "words of a content")
    await store.list(path_prefix="/words/of/")
    await store.get(made.id)
    with pytest.raises(anthropic.ConflictError):
        await store.create("/words/of/a/path.md", "words of a content")
    await served.ask("GET", f"{STORES}/words-of-a-client?words=x", "words-of-a-wrong-token")
    await served.ask("GET", f"{STORES}/words-of-a-client/words", headers={"x-words": "x"})
    text = json.dumps(served.records)
    assert len(served.records) == 7
    assert "words" not in text
    for token in (ADA, PLANNER):
        assert token not in text
    record = served.records[1]
    assert record.keys() == {
        *("time", "event", "request_id", "method", "route", "status", "milliseconds", "received_bytes", "sent_bytes"),
        *("actor", "store"),
    }
    assert (record["route"], record["status"], record["actor"], record["store"]) == (
        "/v1/memory_stores/{store_id}/memories",
        200,
        "planner",
        store.id,
    )


async def test_metrics_are_open_metrics_and_count_requests(served: Served) -> None:
    await served.ask("GET", STORES)
    await served.ask("GET", f"{STORES}/memstore_none")
    await served.ask("GET", STORES, "wrong")
    reply = await served.ask("GET", "/metrics", PLANNER)
    assert reply.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    lines = reply.text.splitlines()
    assert lines[-1] == "# EOF"
    assert 'memtui_requests_total{method="GET",route="/v1/memory_stores",status="200"} 1' in lines
    assert 'memtui_requests_total{method="GET",route="/v1/memory_stores/{store_id}",status="404"} 1' in lines
    assert 'memtui_requests_total{method="GET",route="unknown",status="401"} 1' in lines
    assert 'memtui_request_duration_seconds_count{route="/v1/memory_stores"} 1' in lines
    assert "memtui_requests_in_flight 1" in lines
    families = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(families) == len(set(families))
    for line in lines[:-1]:
        if not line.startswith("#"):
            assert any(line.startswith(family) for family in families), line


async def test_a_fault_is_told_without_its_words_and_logged_with_its_place(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> Any:
        raise ZeroDivisionError("words of a content")

    monkeypatch.setattr(served.catalog, "iter_entries", fail)
    reply = await served.ask("GET", STORES)
    assert reply.status_code == 500
    assert reply.json()["error"]["type"] == "api_error"
    assert "words" not in reply.text + json.dumps(served.records)
    assert (served.records[-1]["fault"], served.records[-1]["where"][:13]) == ("ZeroDivisionError", "test_gate.py:")
    monkeypatch.undo()
    assert (await served.ask("GET", STORES)).status_code == 200


async def test_a_directory_that_cannot_be_read_is_unwell(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("input/output error")

    monkeypatch.setattr(served.catalog, "_list_names", fail)
    reply = await served.ask("GET", "/healthz", None)
    assert (reply.status_code, reply.json()) == (503, {"status": "unavailable"})


async def test_a_store_that_does_not_answer_costs_no_other_store(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(limits=ServerLimits(answer_seconds=0.5, store_threads=2, rate=1_000_000, burst=1_000_000))
    stuck, free = [await find_store(served.connect(), name) for name in ("team", "shared")]
    assert (await served.ask("GET", f"{STORES}/{free}/memories")).status_code == 200
    wake = threading.Event()
    find = served.catalog.find

    def wait(store_id: str) -> Any:
        if store_id == stuck:
            wake.wait(30)
        return find(store_id)

    monkeypatch.setattr(served.catalog, "find", wait)
    try:
        for _ in range(4):
            reply = await served.ask("GET", f"{STORES}/{stuck}/memories")
            assert reply.status_code == 504
            assert reply.json()["error"]["type"] == "timeout_error"
        codes = [(await served.ask("GET", f"{STORES}/{free}")).status_code for _ in range(20)]
        assert 200 in codes
    finally:
        wake.set()


ACCESS = '[[token]]\nagent = "a"\ntoken = "{0}"\nrights = "{1}"\n'


def test_an_access_file_gives_actors_and_rights() -> None:
    digest = hashlib.sha256(b"another-long-token").hexdigest()
    person = f'[[token]]\nperson = "ada"\nsha256 = "{digest}"\n[token.stores]\n"a b" = "admin"\n'
    agent, ada = parse_access_file(f"{ACCESS.format('x' * 16, 'read')}{person}".encode())
    assert (agent.actor.name, agent.get_right("anything")) == ("a", Right.READ)
    assert (ada.actor.name, ada.get_right("a b"), ada.get_right("c")) == ("ada", Right.ADMIN, Right.NONE)
    assert ada.digest.hex() == digest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no [[token]]"),
        ("[[token]", "not TOML"),
        ("token = 1", "no [[token]]"),
        ("token = [1]", "not a table"),
        ("[other]", "'other' is unknown"),
        ('[[token]]\ntoken = "xxxxxxxxxxxxxxxx"', "one of agent and person"),
        ('[[token]]\nagent = "a"\nperson = "b"\ntoken = "xxxxxxxxxxxxxxxx"', "one of agent and person"),
        ('[[token]]\nagent = ""\ntoken = "xxxxxxxxxxxxxxxx"', "a name has"),
        ('[[token]]\nagent = "a\\u001bb"\ntoken = "xxxxxxxxxxxxxxxx"', "a name has"),
        ('[[token]]\nagent = "a"', "one of token and sha256"),
        ('[[token]]\nagent = "a"\nsha256 = "abc"', "sha256 is 64"),
        (ACCESS.format("short", "read"), "a token is 16"),
        (ACCESS.format("with a space in it", "read"), "a token is 16"),
        (ACCESS.format("x" * 16, "owner"), "a right is one of none, read, write, admin"),
        (ACCESS.format("x" * 16, "read") + "stores = 1", "stores is not a table"),
        (ACCESS.format("x" * 16, "read") + "[token.stores]\na = 1", "a right is one of"),
        (ACCESS.format("x" * 16, "read") + "right = 1", "'right' is unknown"),
        (ACCESS.format("x" * 16, "read") * 2, "the same token"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_an_access_file_that_says_something_else_is_refused(text: str, said: str) -> None:
    with pytest.raises(AccessFileError) as caught:
        parse_access_file(text.encode())
    assert said in str(caught.value)
    assert "xxxxxxxxxxxxxxxx" not in str(caught.value)


def test_an_access_file_that_is_no_text_is_refused() -> None:
    with pytest.raises(AccessFileError, match="not UTF-8"):
        parse_access_file(b"\xff")
