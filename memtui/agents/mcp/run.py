"""A server from its start to its end: the memory, the watcher of external changes, and the loop."""

import asyncio
import contextlib
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

from memtui.agents.mcp import ServerOptions
from memtui.agents.mcp.calls import McpCallExecutor
from memtui.agents.mcp.resources import SubscriptionHub, collect_changes
from memtui.agents.mcp.server import MemoryServer
from memtui.agents.mcp.stdio import StdioPipes, open_streams
from memtui.agents.remote_approval import request_approval
from memtui.core.approvals import Proposal, Unanswered, Verdict
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import WatchMode, WatchStatus
from memtui.engine import Engine
from memtui.watch import FolderWatcher

# Messages over HTTP, for clients on this machine.
#
# The socket is bound by the caller, to 127.0.0.1 and nothing else. The library refuses what a web page
# could send from a browser on this machine: a foreign `Host` (DNS rebinding) or `Origin`.

_END_SECONDS = 1
"""How long open streams are waited for at the end: they never end by themselves."""


class HttpServer(uvicorn.Server):
    """Serves until `should_exit` is set. Signals are the caller's."""

    def __init__(self, server: Server[Any]) -> None:
        super().__init__(
            uvicorn.Config(
                server.streamable_http_app(host="127.0.0.1"),
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
_TOGETHER_SECONDS = 0.02
"""Events within it are read together: reading the journal after each call would cost as much as a call."""

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
                return await _serve_http(HttpServer(built), where)
            return await _serve_pipes(built, MemoryServer.build_options(built), where)
    finally:
        calls.close()


async def _serve_pipes(
    built: Server[dict[str, Any]], options: InitializationOptions, wire: StdioPipes
) -> signal.Signals | None:
    async def serve_client() -> None:
        task = asyncio.current_task()
        assert task is not None
        async with open_streams(wire, closed=task.cancel) as (requests, answers):
            await built.run(requests, answers, options)

    task = asyncio.create_task(serve_client())
    with _catch_signals(task.cancel) as caught:
        with contextlib.suppress(asyncio.CancelledError):  # the server ends, or the client has gone
            await task
        return caught[0] if caught else None


async def _serve_http(server: HttpServer, bound: socket.socket) -> signal.Signals | None:
    def end() -> None:
        server.should_exit = True

    with _catch_signals(end) as caught:
        await server.serve_on(bound)
        return caught[0] if caught else None


@contextlib.contextmanager
def _catch_signals(end: Callable[[], object]) -> Iterator[list[signal.Signals]]:
    """Have signals end the server; the list holds the ones that came."""
    loop = asyncio.get_running_loop()
    caught: list[signal.Signals] = []

    def note(number: signal.Signals) -> None:
        caught.append(number)
        end()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, note, number)
    try:
        yield caught
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.remove_signal_handler(number)


def _ask_person(state: str | None, proposal: Proposal, seconds: float, stop: Callable[[], bool]) -> Verdict:
    return Unanswered() if state is None else request_approval(state, proposal, seconds=seconds, stop=stop)


@contextlib.asynccontextmanager
async def _feed_hub(
    memory: Engine, serving: ServerOptions, calls: McpCallExecutor, hub: SubscriptionHub, say: Say
) -> AsyncIterator[None]:
    """Publish changes to the hub: of this process, of others, and from outside."""
    loop = asyncio.get_running_loop()
    news = asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(news.set)

    def note(watching: WatchStatus) -> None:
        if watching.mode is not WatchMode.LIVE and watching.reason:
            say(watching.reason)

    last = memory.get_head()[0]
    leave = memory.subscribe(wake)
    watch = FolderWatcher(memory, serving.folder, serving.state, changed=wake, mode_changed=note)
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
