"""A hosted store: our own server of the API in a thread, and the official SDK's client beside the memory."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anthropic
import httpx2
import pytest
import uvicorn

import memtui
from memtui.engine import Engine
from memtui.hosted import place as hosted
from tests.conftest import wait_until
from tests.serve.conftest import ADA, PLANNER, Served, home, serve

__all__ = ["home", "serve"]

ME = memtui.Agent("tester")


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


class Hosting:
    """A server of stores at an address of this machine, that can be stopped and started again.

    Attributes:
        served: The stores, and the log of requests.
        id: Of the store `team`.
    """

    def __init__(self, served: Served) -> None:
        self.served = served
        self._clients: list[Any] = []
        with socket.create_server(("127.0.0.1", 0)) as bound:
            self.port = bound.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._running: tuple[_Server, threading.Thread] | None = None
        self.start()
        self.sdk = self.connect()
        self.stores = self.sdk.beta.memory_stores
        self.memories, self.versions = self.stores.memories, self.stores.memory_versions
        self.id = next(store.id for store in self.stores.list() if store.name == "team")
        self.place = f"anthropic:{self.id}"

    def connect(self, token: str = ADA, transport: Any = None) -> Any:
        """The SDK's client."""
        http = httpx2.Client(transport=transport) if transport is not None else None
        client = anthropic.Anthropic(api_key=token, base_url=self.url, http_client=http, max_retries=0)
        self._clients.append(client)
        return client

    def start(self) -> None:
        config = uvicorn.Config(
            self.served.gate, lifespan="off", log_config=None, access_log=False, http="h11", ws="none"
        )
        server = _Server(config)
        bound = socket.create_server(("127.0.0.1", self.port))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        wait_until(lambda: server.started, "the server")
        self._running = (server, thread)

    def stop(self) -> None:
        if self._running is not None:
            server, thread = self._running
            server.should_exit = server.force_exit = True
            thread.join(30)
            self._running = None

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.stop()

    def create(self, path: str, content: str) -> Any:
        return self.memories.create(self.id, path=path, content=content)

    def find(self, path: str) -> Any:
        found = [each for each in self.memories.list(self.id) if each.path == path]
        return found[0] if found else None

    def read_all(self) -> dict[str, str]:
        """What the store holds, by path."""
        return {each.path: each.content for each in self.memories.list(self.id, view="full")}

    def get_writes(self) -> list[str]:
        """The requests that the server answered and that may change something, such as `POST /v1/...`."""
        return [
            f"{each['method']} {each['route']}"
            for each in self.served.records
            if each.get("method") not in (None, "GET")
        ]


class Wire(httpx2.BaseTransport):
    """What is between the client and the server: each change may be met by a fault, once.

    Attributes:
        before: Called before the next change is sent; what it raises is what the client sees.
        after: The same once the server has answered.
        sent: The changes that reached the server.
    """

    def __init__(self) -> None:
        self._inner = httpx2.HTTPTransport()
        self.before: Callable[[], Any] | None = None
        self.after: Callable[[], Any] | None = None
        self.is_cut = False
        self.sent: list[str] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.is_cut:
            raise httpx2.ConnectError("cut", request=request)
        if request.method == "GET":
            return self._inner.handle_request(request)
        before, self.before = self.before, None
        if before is not None:
            before()
        self.sent.append(request.method)
        response = self._inner.handle_request(request)
        after, self.after = self.after, None
        if after is not None:
            response.read()
            after()
        return response

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def hosting(serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosting]:
    """A store `team` with two memories, served; key and address are in the environment, as the SDK has them."""
    hosting = Hosting(serve())
    monkeypatch.setenv("ANTHROPIC_API_KEY", ADA)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", hosting.url)
    monkeypatch.setattr("memtui.hosted.place._AGAIN_SECONDS", (0.05,))
    monkeypatch.setattr("memtui.hosted.place._LOOK_SECONDS", 0.1)
    monkeypatch.setattr("memtui.hosted.place._AWAY_SECONDS", 0.0)
    yield hosting
    hosting.close()


@pytest.fixture
def wire() -> Wire:
    return Wire()


Open = Callable[..., Engine]


@pytest.fixture
def open_store(hosting: Hosting, wire: Wire) -> Iterator[Open]:
    """Opens the store `team` as a memory, through the wire, as the token of an agent."""
    with ExitStack() as stack:

        def open(token: str = PLANNER, **options: Any) -> Engine:
            engine = hosted.connect(hosting.place, client=hosting.connect(token, wire), **options)
            stack.callback(engine.close)
            engine.reconcile()
            return engine

        yield open


@pytest.fixture
def memory(open_store: Open) -> Engine:
    return open_store()


def ask(engine: Engine, command: str, path: str = "", **more: object) -> memtui.Answer:
    """A command of an agent."""
    named = {"path": f"/memories/{path}"} if command != "rename" else {}
    return engine.execute({"command": command, **named, **more}, actor=ME)


def read_copy(engine: Engine) -> dict[str, str]:
    """What the memory holds, as the API names it."""
    found = engine.store.scan_contents(limit=1 << 30)
    return {f"/{node.path}": content.data.decode() for node, content in found if hasattr(content, "data")}
