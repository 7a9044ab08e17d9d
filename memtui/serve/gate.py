"""Which requests are admitted, and what is noted of each: all of them pass here before anything reads a folder.

Every program of the machine, and every web page in a browser on it, can reach a port of 127.0.0.1. So:

- `Host` must be an address of this server (a page under a name of its own, by DNS rebinding, has another one), and
  `Origin`, which browsers send and programs do not, must be missing.
- Each request bears a token, except one that asks whether the server is well.
- What a token may ask for a second is limited, and so is the size of a body and the time until it is complete.
"""

import asyncio
import json
import os
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from memtui.core.errors import MemtuiError
from memtui.serve import MOST_BODY_BYTES, ServerLimits
from memtui.serve.access import Client, TokenBucket, TokenChecker, make_rate_error
from memtui.serve.errors import INVALID, TIMEOUT, TOO_LARGE, ApiError, make_fault_error, make_forbidden
from memtui.serve.logs import ServerLog
from memtui.serve.metrics import ServerMetrics

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEALTH, METRICS = "/healthz", "/metrics"
UNKNOWN = "unknown"
"""The route of a path that is none of the server's."""
_METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS"})
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)


class RequestGate:
    """An application of ASGI around another one.

    Args:
        app: Answers what is admitted. In the scope's `state` it finds the client and the body, and leaves its route.
        checker: Finds clients by their tokens.
        hosts: The values that `Host` may have, in lower case; `None` where it means nothing, as at a file.
        limits: What clients may use.
        log: Takes a record of each request.
        metrics: Count them.
    """

    def __init__(
        self,
        app: App,
        checker: TokenChecker,
        hosts: frozenset[str] | None,
        limits: ServerLimits,
        log: ServerLog,
        metrics: ServerMetrics,
    ) -> None:
        self._app = app
        self._checker = checker
        self._hosts = hosts
        self._limits = limits
        self._log = log
        self._metrics = metrics
        self._buckets: dict[bytes, TokenBucket] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, as ASGI has it."""
        if scope["type"] != "http":
            return
        request_id = f"req_{secrets.token_hex(12)}"
        scope["state"] = {"request_id": request_id}
        answer = _Answer(send, request_id)
        started = time.perf_counter()
        self._metrics.begin()
        fault: Mapping[str, str] = {}
        try:
            await self._admit(scope, receive, answer)
        except Exception as error:  # the client is told, and the log says what it was
            known = make_fault_error(error)
            fault = {} if isinstance(error, ApiError) else _describe_fault(error)
            if not answer.is_begun:
                await send_json(answer.send, known.status, known.make_body(request_id), known.headers)
        finally:
            self._note(scope, answer, time.perf_counter() - started, fault)

    async def _admit(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        headers = _HeaderReader(scope)
        if scope["method"] not in _METHODS:
            raise ApiError(405, INVALID, "This method is unknown.")
        self._check_origin(headers)
        state = scope["state"]
        if scope["path"] != HEALTH:
            client = self._checker.find(headers.get_all(b"authorization"), headers.get_all(b"x-api-key"))
            state["client"] = client
            self._check_rate(client)
        state["body"] = await self._read_body(headers, receive)
        try:
            async with asyncio.timeout(self._limits.answer_seconds):
                await self._app(scope, receive, answer.send)
        except TimeoutError:
            words = "The store did not answer in time. A change that was asked for may still be made."
            raise ApiError(504, TIMEOUT, words) from None

    def _check_origin(self, headers: "_HeaderReader") -> None:
        if self._hosts is not None:
            hosts = headers.get_all(b"host")
            if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
                raise ApiError(421, INVALID, "This server does not answer under that name.")
        if headers.get_all(b"origin"):
            raise make_forbidden("A web page asked for this. It was refused.")

    def _check_rate(self, client: Client) -> None:
        bucket = self._buckets.setdefault(client.digest, TokenBucket(self._limits.rate, self._limits.burst))
        if (wait := bucket.take()) > 0:
            raise make_rate_error(wait)

    async def _read_body(self, headers: "_HeaderReader", receive: Receive) -> bytes:
        """The whole body of a request: it is not worked on before it is complete."""
        sizes = headers.get_all(b"content-length")
        if any(not size.isdecimal() or int(size) > MOST_BODY_BYTES for size in sizes):
            raise _make_size_error()
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ApiError(400, INVALID, "The client closed the connection.")
                    body += message.get("body", b"")
                    if len(body) > MOST_BODY_BYTES:
                        raise _make_size_error()
                    if not message.get("more_body"):
                        return bytes(body)
        except TimeoutError:
            raise ApiError(408, TIMEOUT, "The request was not complete in time.") from None

    def _note(self, scope: Scope, answer: "_Answer", seconds: float, fault: Mapping[str, str]) -> None:
        state = scope["state"]
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route, client = str(state.get("route", UNKNOWN)), state.get("client")
        received = len(state.get("body", b""))
        self._metrics.end(method, route, answer.status, seconds, received=received, sent=answer.sent)
        fields: dict[str, object] = {
            "request_id": state["request_id"],
            "method": method,
            "route": route,
            "status": answer.status,
            "milliseconds": round(seconds * 1_000, 1),
            "received_bytes": received,
            "sent_bytes": answer.sent,
        }
        if isinstance(client, Client):
            fields["actor"] = client.actor.name
        if store := state.get("store"):
            fields["store"] = store
        self._log.write("request", **fields, **fault)


class _Answer:
    """Passes an answer on, with headers that all have, and counts it."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._headers = (*_HEADERS, (b"request-id", request_id.encode()))
        self.status = 500
        self.sent = 0
        self.is_begun = False

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a message, as ASGI has it."""
        if message["type"] == "http.response.start":
            self.is_begun, self.status = True, message["status"]
            message["headers"] = [*message.get("headers", ()), *self._headers]
        elif message["type"] == "http.response.body":
            self.sent += len(message.get("body", b""))
        await self._send(message)


class _HeaderReader:
    def __init__(self, scope: Scope) -> None:
        self._headers = scope["headers"]

    def get_all(self, name: bytes) -> Sequence[str]:
        return [value.decode("latin-1") for key, value in self._headers if key == name]


def _describe_fault(error: BaseException) -> Mapping[str, str]:
    """What the log says of a fault: its words only where they are ours, as others may hold a text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    words = {"reason": str(error)} if isinstance(error, MemtuiError) else {}
    return {"fault": type(error).__name__, "where": where, **words}


def _make_size_error() -> ApiError:
    return ApiError(413, TOO_LARGE, f"The request's body has more than {MOST_BODY_BYTES:,} bytes.")


async def send_json(send: Send, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    given = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()]
    fixed = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *given]})
    await send({"type": "http.response.body", "body": data})
