"""A server from its start to its end: the memory, the watcher of external changes, and the loop."""

import asyncio
import contextlib
import hmac
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.models import InitializationOptions
from mcp.server.transport_security import TransportSecuritySettings

from memtui.agents.mcp import ServerOptions
from memtui.agents.mcp.calls import McpCallExecutor
from memtui.agents.mcp.resources import SubscriptionHub, collect_changes
from memtui.agents.mcp.server import MemoryServer
from memtui.agents.mcp.stdio import StdioPipes, open_streams
from memtui.agents.remote_approval import request_approval
from memtui.core.approvals import Proposal, Unanswered, Verdict
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import WatchMode, WatchStatus
from memtui.core.signals import catch_signals
from memtui.engine import Engine
from memtui.watch import FolderWatcher

# Messages over HTTP, for clients on this machine.
#
# The socket is bound by the caller: to 127.0.0.1, where every user of the machine comes in who has the token, or to a
# file of mode 0600, where the system lets in nobody else. The library refuses what a web page could send from a browser
# on this machine: a foreign `Host` (DNS rebinding) or `Origin`.

_END_SECONDS = 1
"""How long open streams are waited for at the end: they never end by themselves."""


class _TokenGate:
    """Answers 401 to every request without the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request, as ASGI has it."""
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if scope["type"] == "lifespan" or (len(given) == 1 and hmac.compare_digest(given[0], self._expected)):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"This server needs a token: Authorization: Bearer ...\n"})


class HttpServer(uvicorn.Server):
    """Serves until `should_exit` is set. Signals are the caller's.

    Args:
        server: The library's server.
        token: What each request must bear; empty for nothing.
        is_local: Whether it is served at a file, where no web page comes and no `Host` means anything.
    """

    def __init__(self, server: Server[Any], token: str, *, is_local: bool) -> None:
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False) if is_local else None
        app = server.streamable_http_app(host="127.0.0.1", transport_security=security)
        super().__init__(
            uvicorn.Config(
                _TokenGate(app, token) if token else app,
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=_END_SECONDS,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield

    async def serve_on(self, bound: socket.socket) -> None:
        """Serve on a bound socket."""
        await self.serve(sockets=[bound])


_RETRY_SECONDS = 2.0
_PAGE = 1_000
_TOGETHER_SECONDS = 0.05
"""Events within it are read together, and changes of the folder looked at: doing it after each call would cost as much
as a call."""

Say = Callable[[str], None]
"""Takes a sentence for the server's standard error."""


def serve(memory: Engine, serving: ServerOptions, where: StdioPipes | socket.socket, *, say: Say) -> None:
    """Serve a memory until the client goes, or a signal ends it. Calls that have begun are finished and recorded.

    Args:
        memory: The open memory; the caller closes it.
        serving: The options.
        where: The pipes to one client, or a bound socket for several.
        say: Takes sentences beside the protocol.
    """
    _collect_logs(say)
    ended_by = asyncio.run(_serve(memory, serving, where, say))
    if ended_by is signal.SIGINT:
        raise KeyboardInterrupt


async def _serve(
    memory: Engine, serving: ServerOptions, where: StdioPipes | socket.socket, say: Say
) -> signal.Signals | None:
    calls = McpCallExecutor(memory, serving.policy, partial(_ask_person, serving.state), serving.ask_seconds)
    hub = SubscriptionHub()
    server = MemoryServer(calls, hub, serving, one_client=isinstance(where, StdioPipes))
    built = server.build()
    try:
        async with _feed_hub(memory, serving, calls, hub, say):
            if not isinstance(where, StdioPipes):
                is_local = where.family == socket.AF_UNIX
                return await _serve_http(HttpServer(built, serving.token, is_local=is_local), where)
            return await _serve_pipes(built, MemoryServer.build_options(built), where)
    finally:
        calls.close()


async def _serve_pipes(
    built: Server[dict[str, Any]], options: InitializationOptions, wire: StdioPipes
) -> signal.Signals | None:
    async def serve_client() -> None:
        task = asyncio.current_task()
        assert task is not None
        with open_streams(wire, closed=task.cancel) as (requests, answers):
            await built.run(requests, answers, options)

    task = asyncio.create_task(serve_client())
    with catch_signals(task.cancel) as caught:
        with contextlib.suppress(asyncio.CancelledError):  # the server ends, or the client has gone
            await task
        return caught[0] if caught else None


async def _serve_http(server: HttpServer, bound: socket.socket) -> signal.Signals | None:
    def end() -> None:
        server.should_exit = True

    with catch_signals(end) as caught:
        await server.serve_on(bound)
        return caught[0] if caught else None


def _ask_person(state: str | None, proposal: Proposal, seconds: float, stop: Callable[[], bool], wait: bool) -> Verdict:
    if state is None:
        return Unanswered()
    return request_approval(state, proposal, seconds=seconds, wait_for_server=wait, stop=stop)


@contextlib.asynccontextmanager
async def _feed_hub(
    memory: Engine, serving: ServerOptions, calls: McpCallExecutor, hub: SubscriptionHub, say: Say
) -> AsyncIterator[None]:
    """Publish changes to the hub: of this process, of others, and from outside."""
    loop = asyncio.get_running_loop()
    news = asyncio.Event()

    def wake() -> None:
        if news.is_set():  # it is read soon, and this with it
            return
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(news.set)

    def note(watching: WatchStatus) -> None:
        if watching.mode is not WatchMode.LIVE and watching.reason:
            say(watching.reason)

    last = memory.get_head()[0]
    leave = memory.subscribe(wake)
    watch = FolderWatcher(
        memory, serving.folder, serving.state, changed=wake, mode_changed=note, pause=_TOGETHER_SECONDS
    )
    watch.start()
    bringing = asyncio.create_task(_publish_changes(memory, calls, hub, news, last))
    try:
        yield
    finally:
        bringing.cancel()
        leave()
        await asyncio.to_thread(watch.stop)


async def _publish_changes(
    memory: Engine, calls: McpCallExecutor, hub: SubscriptionHub, news: asyncio.Event, last: int
) -> None:
    while True:
        await news.wait()
        await asyncio.sleep(_TOGETHER_SECONDS)
        news.clear()
        try:
            while events := await calls.run_read(partial(memory.journal.get_events, last, limit=_PAGE)):
                last = events[-1].seq
                hub.publish(collect_changes(events))
        except MemoryClosed:
            return
        except MemtuiError:
            await asyncio.sleep(_RETRY_SECONDS)  # a journal that fails may work again
            news.set()


class _LogHandler(logging.Handler):
    """Passes warnings of libraries on, one line each."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Format and pass on."""
        with contextlib.suppress(Exception):  # a closed stream must not end the server
            self._say(f"{record.name}: {record.getMessage()}")


def _collect_logs(say: Say) -> None:
    root = logging.getLogger()
    root.handlers[:] = [_LogHandler(say)]
    logging.getLogger("mcp.shared").setLevel(logging.ERROR)  # it warns of each answer that was not taken
    sys.excepthook = lambda kind, error, _: say(f"{kind.__name__}: {error}")
