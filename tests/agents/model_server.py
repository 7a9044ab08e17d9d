"""A model's server with a script: an implementation of the messages and models endpoints that shares nothing with ours.

It speaks real HTTP on a port of 127.0.0.1, streams what the test scripted, piece by piece, breaks off where the test
wants it to, and refuses what the real API would refuse: so a conversation that is wrong is found out by itself.

    from tests.agents.model_server import Call, Drop, Failure, Junk, ModelServer, Refusal, Text, Thinking, Wait

    def test_it(monkeypatch):                           # or the fixture `model_server` of tests/agents/conftest.py
        with ModelServer() as server:
            server.point_sdk_at_it(monkeypatch)         # ANTHROPIC_BASE_URL and a key that is none

            # Answers are taken in order, one for each request; when there are none left, the server says "Done."
            server.answer(Text("I will remember that."), Call({"command": "create", "path": "/memories/a.md",
                                                               "file_text": "hello"}))
            server.answer(Text("Done, I wrote it down."))

            # Faults: an HTTP status, or in mid-stream.
            server.refuse(529, "overloaded_error", "Overloaded", {"retry-after": "1"})
            server.answer(Text("half of an ans"), Drop())           # the connection is gone
            server.answer(Text("half of an ans"), Cut())            # the stream ends early, and nobody says so
            server.answer(Text("half"), Junk("{not json"))          # data that is no JSON
            server.answer(Text("half"), Failure("overloaded_error", "Overloaded"))

            # Holding the stream still, to look at the screen or to press a key in the middle of it.
            go_on = threading.Event()
            server.answer(Text("Thinking about"), Wait(go_on), Text(" it.", new=False))
            ...; server.reached.wait(5)                              # the server stands at the `Wait`
            go_on.set()

            # What a request makes of it.
            server.answer_with(lambda request: Answer((Text(request.last_text.upper()),)))

            server.requests[-1].body["messages"]; server.requests[-1].betas; server.last.last_text
            server.wait_for(3)                                       # until three requests have come
            assert server.refused == []                              # what it found wrong with our requests

`python -m tests.agents.model_server --port 8123 [--rate 500]` runs one to try things out by hand: it answers
"remember X" with a `create`, "forget X" with a `delete`, anything else with a long text, at `--rate` tokens a second.
"""

import argparse
import hashlib
import itertools
import json
import re
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import pytest

KEY = "not-a-real-key"
"""The key that the server takes; any other is a wrong one."""
MODEL = "claude-newest-1"
OLDER = "claude-older-1"
PLAIN = "claude-plain-1"
"""A model that takes neither thinking nor effort nor pictures, and cannot clear or compact its context."""

_CONTEXT_BETA = "context-management-2025-06-27"
_COMPACT_BETA = "compact-2026-01-12"


# Steps of an answer


@dataclass(frozen=True)
class Text:
    """A piece of text; `new=False` goes on with the text block before it."""

    text: str
    size: int = 8
    new: bool = True


@dataclass(frozen=True)
class Thinking:
    """A block of thinking; it is signed, and must come back as it was."""

    text: str
    size: int = 12


@dataclass(frozen=True)
class Redacted:
    """A block of thinking that nobody may read."""

    data: str = "b3BhcXVl"


@dataclass(frozen=True)
class Call:
    """A tool call. `input` as a string is sent as it stands, whether it is JSON or not.

    With `whole=False` its block is never ended: a `Wait` behind it stands in the middle of the call.
    """

    input: Mapping[str, object] | str
    name: str = "memory"
    id: str | None = None
    size: int = 24
    whole: bool = True


@dataclass(frozen=True)
class Compaction:
    """The summary that stands for all that was said before."""

    content: str


@dataclass(frozen=True)
class Wait:
    """Nothing is sent until the event is set."""

    event: threading.Event


@dataclass(frozen=True)
class Drop:
    """The connection is gone, without a word."""


@dataclass(frozen=True)
class Cut:
    """The stream ends here as if all was said, but without a stop reason."""


@dataclass(frozen=True)
class Junk:
    """An event whose data is what is given here."""

    data: str


@dataclass(frozen=True)
class Failure:
    """An `error` event in mid-stream."""

    type: str
    message: str


@dataclass(frozen=True)
class Raw:
    """Any event."""

    event: Mapping[str, object]


Step = Text | Thinking | Redacted | Call | Compaction | Wait | Drop | Cut | Junk | Failure | Raw
_BREAKS = (Drop, Cut, Junk, Failure)


@dataclass(frozen=True)
class Answer:
    """What is streamed back.

    Attributes:
        steps: In order.
        stop_reason: `None` for what follows from the steps.
        usage: Over the one that is made up.
        applied_edits: What context management did.
        stop_details: Why, of a refusal.
        every: Seconds between two pieces.
    """

    steps: Sequence[Step] = (Text("Done."),)
    stop_reason: str | None = None
    usage: Mapping[str, object] = field(default_factory=dict)
    applied_edits: Sequence[Mapping[str, object]] = ()
    stop_details: Mapping[str, object] | None = None
    every: float = 0.0


@dataclass(frozen=True)
class Refusal:
    """An answer that is an HTTP error."""

    status: int
    type: str = "api_error"
    message: str = "Internal server error"
    headers: Mapping[str, str] = field(default_factory=dict)


_MOMENT = re.compile(r"It is \w+day, [0-9-]{10} [0-9:]{5} [^()]*\(UTC[+-][0-9:]{5}\)\. ?")


@dataclass(frozen=True)
class Request:
    """One that came."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def betas(self) -> frozenset[str]:
        """Which betas it asked for."""
        return frozenset(each.strip() for each in self.headers.get("anthropic-beta", "").split(",") if each.strip())

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation that it carried."""
        return list(self.body.get("messages", ()))

    @property
    def last_text(self) -> str:
        """All text of the last message, without the time at which it was sent."""
        content = self.messages[-1]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        return _MOMENT.sub("", text).replace("[A note from memtui, not from the user: ]\n", "")

    @property
    def results(self) -> list[dict[str, Any]]:
        """The tool results in the last message."""
        content = self.messages[-1]["content"]
        return [] if isinstance(content, str) else [block for block in content if block["type"] == "tool_result"]


Scripted = Answer | Refusal


def _supported(**values: bool) -> dict[str, Any]:
    return {name: {"supported": value} for name, value in values.items()}


def model_info(id: str, name: str, created_at: str, *, able: bool = True, **values: object) -> dict[str, Any]:
    """What the models endpoint says of one model."""
    no = {"supported": False}
    return {
        "type": "model",
        "id": id,
        "display_name": name,
        "created_at": created_at,
        "lifecycle": "active",
        "line": None,
        "max_input_tokens": 200_000,
        "max_tokens": 64_000 if able else 4_096,
        "capabilities": {
            **_supported(batch=True, citations=True, code_execution=False, structured_outputs=True),
            **_supported(image_input=able, pdf_input=able),
            "compaction": {"supported": able, "summarize": {"supported": able}},
            "context_management": {
                "supported": able,
                **_supported(clear_thinking_20251015=able, clear_tool_uses_20250919=able, compact_20260112=able),
            },
            "effort": {"supported": able, **_supported(low=able, medium=able, high=able, xhigh=False, max=False)},
            "server_tools": {**no, **_supported(web_search=False, code_execution=False)},
            "thinking": {"supported": able, "types": _supported(adaptive=able, enabled=able, disabled=True)},
        },
        **values,
    }


MODELS = (
    model_info(MODEL, "Claude Newest", "2026-10-01T00:00:00Z"),
    model_info(OLDER, "Claude Older", "2026-02-01T00:00:00Z", lifecycle="active"),
    model_info(PLAIN, "Claude Plain", "2025-02-01T00:00:00Z", able=False),
    model_info("claude-gone-1", "Claude Deprecated", "2026-11-01T00:00:00Z", lifecycle="deprecated"),
)


class ModelServer:
    """See the module."""

    def __init__(self, *, port: int = 0, models: Sequence[Mapping[str, Any]] | None = MODELS) -> None:
        self.models = models
        """What the models endpoint lists; `None` for a server that has no such endpoint."""
        self.requests: list[Request] = []
        """Those for messages, in order."""
        self.refused: list[str] = []
        """What was wrong with requests, in the server's eyes: a test expects this to be empty."""
        self.reached = threading.Event()
        """Set when a stream stands at a `Wait`."""
        self.gone = threading.Event()
        """Set when a client went away in the middle of a stream."""
        self.listed = threading.Event()
        """Set when somebody asks which models there are."""
        self.may_list = threading.Event()
        """Clear it, and the models endpoint does not answer until it is set."""
        self.may_list.set()
        self.knows_betas = True
        self.knows_memory = True
        self._script: deque[Scripted] = deque()
        self._otherwise: Callable[[Request], Scripted] = lambda _: Answer()
        self._signatures: dict[str, str] = {}
        self._has_paused = False
        self._ids = itertools.count(1)
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        """What `ANTHROPIC_BASE_URL` is to be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def point_sdk_at_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have every client of the SDK in this process, and in those it starts, come here."""
        for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in self.environment().items():
            monkeypatch.setenv(name, value)

    def environment(self) -> dict[str, str]:
        """What a process needs to come here."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": KEY}

    # The script

    def answer(self, *steps: Step, **values: Any) -> None:
        """Script one more answer; see `Answer`."""
        self._script.append(Answer(steps, **values))

    def refuse(self, status: int, type: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        """Script one more refusal."""
        self._script.append(Refusal(status, type, message, headers or {}))

    def answer_with(self, make: Callable[[Request], Scripted]) -> None:
        """What is answered when the script has come to its end."""
        self._otherwise = make

    # What came

    @property
    def last(self) -> Request:
        """The last request for a message."""
        return self.requests[-1]

    def wait_for(self, count: int, seconds: float = 30) -> None:
        """Wait until so many requests have come, also from a program that has yet to start on a busy machine."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, seconds):
                raise AssertionError(f"{len(self.requests)} requests came, not {count}")

    # What the handler asks

    def take(self, request: Request) -> Scripted:
        """What is answered to a request for a message."""
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        if problem := self._problem(request):
            return problem
        answer = self._script.popleft() if self._script else self._otherwise(request)
        if isinstance(answer, Answer) and not any(isinstance(step, _BREAKS) for step in answer.steps):
            self._has_paused = answer.stop_reason in ("pause_turn", "compaction")
        return answer

    def _problem(self, request: Request) -> Refusal | None:
        if not self.knows_betas and request.betas:
            named = sorted(request.betas)[0]
            words = f"Unexpected value(s) `{named}` for the `anthropic-beta` header. Please consult our documentation."
            return Refusal(400, "invalid_request_error", words)
        if not self.knows_memory and any(tool.get("type") for tool in request.body.get("tools", ())):
            return Refusal(400, "invalid_request_error", "tools.0: Input tag 'memory_20250818' found using 'type'")
        listed = {each["id"] for each in self.models or ()}
        if listed and request.body.get("model") not in listed:
            return Refusal(404, "not_found_error", f"model: {request.body.get('model')}")
        problem = next(iter(problems_of(request, self._signatures, goes_on=self._has_paused)), None)
        if problem is None:
            return None
        self.refused.append(problem)
        return Refusal(400, "invalid_request_error", problem)

    def sign(self, text: str) -> str:
        """The signature of a text of thinking."""
        signature = "sig-" + hashlib.sha256(text.encode()).hexdigest()[:24]
        self._signatures[signature] = text
        return signature

    def next_id(self, prefix: str) -> str:
        """An id that was not used before."""
        return f"{prefix}_{next(self._ids):06}"

    def hold(self, event: threading.Event, is_gone: Callable[[], bool]) -> bool:
        """Stand still until an event, the end of the server, or of the client; whether to go on."""
        self.reached.set()
        while not event.wait(0.01):
            if self._closed.is_set() or is_gone():
                return False
        self.reached.clear()
        return True


# What the real API would refuse


def problems_of(request: Request, signatures: Mapping[str, str], *, goes_on: bool = False) -> Iterator[str]:
    """Everything that is wrong with a request for a message, in the manner of the API.

    Args:
        request: What came.
        signatures: Texts of thinking by their signatures.
        goes_on: Whether the answer before was paused, and may be gone on with.
    """
    body = request.body
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: Field required"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    marks = 0
    for place, blocks in (("system", body.get("system")), ("tools", body.get("tools"))):
        if isinstance(blocks, list):
            marks += sum("cache_control" in block for block in blocks)
            if place == "system" and any(not block.get("text", "").strip() for block in blocks):
                yield "system: text content blocks must be non-empty"
    if messages[0]["role"] != "user":
        yield "messages.0: the first message must be of the user"
    if messages[-1]["role"] != "user" and not goes_on:
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    open_calls: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        role, content = message.get("role"), message.get("content")
        if set(message) != {"role", "content"} or role not in ("user", "assistant"):
            yield f"{where}: a message has a role and a content, got {sorted(message)}"
            return
        if number and role == messages[number - 1]["role"]:
            yield f"{where}: roles must alternate between user and assistant"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            yield f"{where}: messages must have non-empty content"
        marks += sum("cache_control" in block for block in blocks)
        answered = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        if role == "user":
            if missing := [each for each in open_calls if each not in answered]:
                yield f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
            if strange := [each for each in answered if each not in open_calls]:
                yield f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {strange}"
            if len(answered) != len(set(answered)):
                yield f"{where}: each tool_use must have a single result"
            kinds = [block.get("type") == "tool_result" for block in blocks]
            if kinds != sorted(kinds, reverse=True):
                yield f"{where}: tool_result blocks must come first"
        elif answered:
            yield f"{where}: `tool_result` blocks can only be in `user` messages"
        open_calls = []
        for index, block in enumerate(blocks):
            yield from _block_problems(f"{where}.content.{index}", role, block, signatures)
            if block.get("type") == "tool_use":
                if block["id"] in seen:
                    yield f"{where}: `tool_use` ids must be unique"
                seen.add(block["id"])
                open_calls.append(block["id"])
    if open_calls:
        yield f"`tool_use` ids were found without `tool_result` blocks immediately after: {open_calls}"
    if marks > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    yield from _management_problems(request)


_BLOCKS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "text": (frozenset({"text"}), frozenset({"citations"})),
    "image": (frozenset({"source"}), frozenset()),
    "document": (frozenset({"source"}), frozenset({"title", "context", "citations"})),
    "tool_use": (frozenset({"id", "name", "input"}), frozenset({"caller"})),
    "tool_result": (frozenset({"tool_use_id"}), frozenset({"content", "is_error"})),
    "thinking": (frozenset({"thinking", "signature"}), frozenset()),
    "redacted_thinking": (frozenset({"data"}), frozenset()),
    "compaction": (frozenset({"content"}), frozenset({"encrypted_content", "signature", "tool_changes"})),
}


def _block_problems(where: str, role: str, block: Mapping[str, Any], signatures: Mapping[str, str]) -> Iterator[str]:
    kind = block.get("type")
    if kind not in _BLOCKS:
        yield f"{where}: Input tag {kind!r} is not known"
        return
    needed, allowed = _BLOCKS[kind]
    if missing := needed - set(block):
        yield f"{where}.{sorted(missing)[0]}: Field required"
        return
    if extra := set(block) - needed - allowed - {"type", "cache_control"}:
        yield f"{where}.{sorted(extra)[0]}: Extra inputs are not permitted"
    if kind == "text" and not block["text"].strip():
        yield f"{where}: text content blocks must contain non-whitespace text"
    if kind == "tool_use" and not isinstance(block["input"], dict):
        yield f"{where}.input: Input should be a valid dictionary"
    if kind == "tool_use" and re.fullmatch("[a-zA-Z0-9_-]+", block["id"]) is None:
        yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if kind == "tool_use" and re.fullmatch("[a-zA-Z0-9_-]{1,128}", block["name"]) is None:
        yield f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    if kind in ("tool_use", "thinking", "redacted_thinking", "compaction") and role != "assistant":
        yield f"{where}: {kind} blocks can only be in assistant messages"
    if kind == "thinking":
        if signatures.get(block["signature"]) != block["thinking"]:
            yield f"{where}: Invalid `signature` in `thinking` block"
        if "cache_control" in block:
            yield f"{where}: thinking blocks cannot have cache_control"


def _management_problems(request: Request) -> Iterator[str]:
    edits = request.body.get("context_management", {}).get("edits", ())
    if edits and _CONTEXT_BETA not in request.betas:
        yield "context_management: Extra inputs are not permitted"
    for edit in edits:
        kind = edit["type"]
        if kind == "compact_20260112":
            if _COMPACT_BETA not in request.betas:
                yield f"context_management.edits: {kind} needs its beta"
            if (edit.get("trigger") or {}).get("value", 150_000) < 50_000:
                yield "context_management.edits: the trigger of compaction must be at least 50000 tokens"
        elif kind == "clear_tool_uses_20250919":
            trigger = edit.get("trigger")
            if trigger is not None and trigger.get("type") not in ("input_tokens", "tool_uses"):
                yield "context_management.edits.trigger: not known"
        else:
            yield f"context_management.edits: {kind} is not known"


# HTTP


class _Gone(Exception):
    """The client is not there any more, or is to think that we are not."""


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        model_server = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    model_server: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        server = self.model_server
        if not self._is_let_in():
            return
        if server.models is not None and url.path == "/v1/models":
            server.listed.set()
            server.may_list.wait(30)
            limit = int(parse_qs(url.query).get("limit", ["20"])[0])
            after = parse_qs(url.query).get("after_id", [None])[0]
            ids = [each["id"] for each in server.models]
            start = ids.index(after) + 1 if after in ids else 0
            page = list(server.models[start : start + limit])
            ends = {"first_id": page[0]["id"] if page else None, "last_id": page[-1]["id"] if page else None}
            self._send(200, {"data": page, "has_more": start + limit < len(ids), **ends})
            return
        self._fail(Refusal(404, "not_found_error", "Not found"))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        if not self._is_let_in():
            return
        if urlsplit(self.path).path != "/v1/messages":
            self._fail(Refusal(404, "not_found_error", "Not found"))
            return
        request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        match self.model_server.take(request):
            case Refusal() as refusal:
                self._fail(refusal)
            case Answer() as answer if body.get("stream"):
                self._stream(request, answer)
            case Answer() as answer:
                self._send(200, _whole(self.model_server, request, answer))

    def _is_let_in(self) -> bool:
        given = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        if given == KEY:
            return True
        self._fail(Refusal(401, "authentication_error", "invalid x-api-key"))
        return False

    def _fail(self, refusal: Refusal) -> None:
        body = {"type": "error", "error": {"type": refusal.type, "message": refusal.message}, "request_id": "req_1"}
        self._send(refusal.status, body, refusal.headers)

    def _send(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        with suppress(OSError):
            self.send_response(status)
            for name, value in {"content-type": "application/json", "connection": "close", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        self.close_connection = True

    def _stream(self, request: Request, answer: Answer) -> None:
        self.close_connection = True
        try:
            self.send_response(200)
            for name, value in {"content-type": "text/event-stream", "connection": "close"}.items():
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for event in events_of(self.model_server, request, answer):
                match event:
                    case Wait(event=until):
                        self.wfile.flush()
                        if not self.model_server.hold(until, self._is_gone):
                            raise _Gone
                    case Drop():
                        self._reset()
                        return
                    case Junk(data=data):
                        self._chunk(f"event: content_block_delta\ndata: {data}\n\n")
                    case _:
                        self._chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")
                        if answer.every:
                            time.sleep(answer.every)
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
        except (OSError, _Gone):
            self.model_server.gone.set()

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _is_gone(self) -> bool:
        """Whether the client has hung up."""
        try:
            self.connection.setblocking(False)
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            with suppress(OSError):
                self.connection.setblocking(True)

    def _reset(self) -> None:
        """Hang up in the middle, as a server that was killed."""
        self.wfile.flush()
        time.sleep(0.02)  # what was sent is to arrive before the connection is torn
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.connection.close()


# Events


def _usage(request: Request, answer: Answer) -> dict[str, Any]:
    sent = len(json.dumps(request.body.get("messages", ""))) // 4
    return {
        "input_tokens": sent,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
        **answer.usage,
    }


def events_of(server: ModelServer, request: Request, answer: Answer) -> Iterator[Any]:
    """The events of an answer, and between them the steps that are none."""
    usage = _usage(request, answer)
    message = {
        "id": server.next_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    index, open_text, written, stop = -1, False, 0, answer.stop_reason

    def close() -> Iterator[Any]:
        nonlocal open_text
        if open_text:
            yield {"type": "content_block_stop", "index": index}
        open_text = False

    def begin(block: Mapping[str, object]) -> Iterator[Any]:
        nonlocal index
        yield from close()
        index += 1
        yield {"type": "content_block_start", "index": index, "content_block": block}

    def delta(**values: object) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": values}

    for step in answer.steps:
        match step:
            case Text(text=text, size=size, new=new):
                if new or not open_text:
                    yield from begin({"type": "text", "text": ""})
                    open_text = True
                for piece in _pieces(text, size):
                    yield delta(type="text_delta", text=piece)
                    written += 1
            case Thinking(text=text, size=size):
                yield from begin({"type": "thinking", "thinking": "", "signature": ""})
                for piece in _pieces(text, size):
                    yield delta(type="thinking_delta", thinking=piece)
                    written += 1
                yield delta(type="signature_delta", signature=server.sign(text))
                yield {"type": "content_block_stop", "index": index}
            case Redacted(data=data):
                yield from begin({"type": "redacted_thinking", "data": data})
                yield {"type": "content_block_stop", "index": index}
            case Call() as call:
                call_id = call.id or server.next_id("toolu")
                yield from begin({"type": "tool_use", "id": call_id, "name": call.name, "input": {}})
                raw = call.input if isinstance(call.input, str) else json.dumps(call.input)
                for piece in ("", *_pieces(raw, call.size)):
                    yield delta(type="input_json_delta", partial_json=piece)
                    written += 1
                if call.whole:
                    yield {"type": "content_block_stop", "index": index}
                stop = stop or "tool_use"
            case Compaction(content=content):
                yield from begin({"type": "compaction", "content": None})
                yield delta(type="compaction_delta", content=content)
                yield {"type": "content_block_stop", "index": index}
            case Failure(type=kind, message=words):
                yield {"type": "error", "error": {"type": kind, "message": words}}
                return
            case Cut():
                return
            case Drop():
                yield step
                return
            case Wait() | Junk():
                yield step
            case Raw(event=event):
                yield event
    yield from close()
    end: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": stop or "end_turn", "stop_sequence": None, "stop_details": answer.stop_details},
        "usage": {"output_tokens": written or 1, **answer.usage},
    }
    if _CONTEXT_BETA in request.betas:
        end["context_management"] = {"applied_edits": list(answer.applied_edits)}
    yield end
    yield {"type": "message_stop"}


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _whole(server: ModelServer, request: Request, answer: Answer) -> dict[str, Any]:
    """The same answer for a client that does not stream."""
    content: list[dict[str, Any]] = []
    for step in answer.steps:
        match step:
            case Text(text=text):
                content.append({"type": "text", "text": text})
            case Thinking(text=text):
                content.append({"type": "thinking", "thinking": text, "signature": server.sign(text)})
            case Call(input=given, name=name, id=call_id):
                values = json.loads(given) if isinstance(given, str) else given
                block = {"type": "tool_use", "id": call_id or server.next_id("toolu"), "name": name, "input": values}
                content.append(block)
            case _:
                pass
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": server.next_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": content,
        "stop_reason": answer.stop_reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": _usage(request, answer),
    }


# By hand


def by_hand(rate: float) -> Callable[[Request], Scripted]:
    """What the server answers to a person who tries things out."""
    every = 1 / rate if rate else 0.0
    words = "Streaming is a matter of rhythm: *each token* arrives alone, and `nobody` waits for it. "

    def make(request: Request) -> Scripted:
        if request.results:
            return Answer((Text("That is done. What else?"),), every=every)
        verb, _, rest = request.last_text.strip().partition(" ")
        path = f"/memories/{rest.split()[0] if rest.split() else 'note'}.md"
        match verb.lower():
            case "remember":
                call = Call({"command": "create", "path": path, "file_text": f"# Remembered\n\n- {rest}\n"})
                return Answer(
                    (Thinking("The user wants me to keep this."), Text("I will keep that."), call), every=every
                )
            case "forget":
                return Answer((Call({"command": "delete", "path": path}),), every=every)
            case "look":
                return Answer((Call({"command": "view", "path": "/memories"}),), every=every)
            case _:
                return Answer((Text("# An answer\n\n" + words * 40, size=5),), every=every)

    return make


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--rate", type=float, default=0)
    arguments = parser.parse_args()
    with ModelServer(port=arguments.port) as running:
        running.answer_with(by_hand(arguments.rate))
        print(f"export ANTHROPIC_BASE_URL={running.url} ANTHROPIC_API_KEY={KEY}", flush=True)  # noqa: T201
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
