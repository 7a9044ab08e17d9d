"""A server from its start to its end: the memory, the watcher that notices changes by others, and the loop."""

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

from mcp.server import Server
from mcp.server.models import InitializationOptions

from memtui.agents.mcp.calling import Calls
from memtui.agents.mcp.http import HttpServer
from memtui.agents.mcp.server import MemoryServer
from memtui.agents.mcp.serving import Serving
from memtui.agents.mcp.stdio import Wire, streams
from memtui.agents.mcp.subscriptions import Hub, changed_by
from memtui.agents.waiting import ask_elsewhere
from memtui.core.asking import Proposal, Unanswered, Verdict
from memtui.core.errors import Closed, MemtuiError
from memtui.core.watching import Mode, Watching
from memtui.engine import Engine
from memtui.watch import Watch

_RETRY_SECONDS = 2.0
_PAGE = 1_000
_TOGETHER_SECONDS = 0.02
"""What happens within it is looked up once: reading the journal after each call would cost as much as a call."""

Say = Callable[[str], None]
"""Takes a sentence for whoever looks at the server's standard error."""


def serve(memory: Engine, serving: Serving, where: Wire | socket.socket, *, say: Say) -> None:
    """Serve a memory until the client goes, or a signal ends it. What has begun by then is done and recorded.

    Args:
        memory: The open memory; it is still to be closed afterwards.
        serving: How it is served.
        where: The pipes to one client, or a bound socket for several.
        say: Takes what is to be said beside the protocol.
    """
    _collect_logs(say)
    ended_by = asyncio.run(_serve(memory, serving, where, say))
    if ended_by is signal.SIGINT:
        raise KeyboardInterrupt


async def _serve(memory: Engine, serving: Serving, where: Wire | socket.socket, say: Say) -> signal.Signals | None:
    calls = Calls(memory, serving.policy, partial(_ask, serving.state), serving.ask_seconds)
    hub = Hub()
    server = MemoryServer(calls, hub, serving, one_client=isinstance(where, Wire))
    built = server.build()
    try:
        async with _feed(memory, serving, calls, hub, say):
            if not isinstance(where, Wire):
                return await _serve_http(HttpServer(built), where)
            return await _serve_pipes(built, MemoryServer.options(built), where)
    finally:
        calls.close()


async def _serve_pipes(
    built: Server[dict[str, Any]], options: InitializationOptions, wire: Wire
) -> signal.Signals | None:
    async def serve_client() -> None:
        task = asyncio.current_task()
        assert task is not None
        async with streams(wire, gone=task.cancel) as (asked, answers):
            await built.run(asked, answers, options)

    task = asyncio.create_task(serve_client())
    with _signals(task.cancel) as caught:
        with contextlib.suppress(asyncio.CancelledError):  # told to end, or nobody reads any more
            await task
        return caught[0] if caught else None


async def _serve_http(server: HttpServer, bound: socket.socket) -> signal.Signals | None:
    def end() -> None:
        server.should_exit = True

    with _signals(end) as caught:
        await server.serve_on(bound)
        return caught[0] if caught else None


@contextlib.contextmanager
def _signals(end: Callable[[], object]) -> Iterator[list[signal.Signals]]:
    """Have signals end the server, and remember which."""
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


def _ask(state: str | None, proposal: Proposal, seconds: float, stop: Callable[[], bool]) -> Verdict:
    return Unanswered() if state is None else ask_elsewhere(state, proposal, seconds=seconds, stop=stop)


@contextlib.asynccontextmanager
async def _feed(memory: Engine, serving: Serving, calls: Calls, hub: Hub, say: Say) -> AsyncIterator[None]:
    """Bring to the hub what happens: here, in other processes, and from outside."""
    loop = asyncio.get_running_loop()
    news = asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(news.set)

    def note(watching: Watching) -> None:
        if watching.mode is not Mode.LIVE and watching.reason:
            say(watching.reason)

    last = memory.head()[0]
    leave = memory.subscribe(wake)
    watch = Watch(memory, serving.folder, serving.state, changed=wake, mode_changed=note)
    watch.start()
    bringing = asyncio.create_task(_bring(memory, calls, hub, news, last))
    try:
        yield
    finally:
        bringing.cancel()
        leave()
        await asyncio.to_thread(watch.stop)


async def _bring(memory: Engine, calls: Calls, hub: Hub, news: asyncio.Event, last: int) -> None:
    while True:
        await news.wait()
        await asyncio.sleep(_TOGETHER_SECONDS)
        news.clear()
        try:
            while events := await calls.look(partial(memory.journal.events, last, limit=_PAGE)):
                last = events[-1].seq
                hub.publish(changed_by(events))
        except Closed:
            return
        except MemtuiError:
            await asyncio.sleep(_RETRY_SECONDS)  # a journal that fails may work again
            news.set()


class _Said(logging.Handler):
    """What libraries have to say goes where everything beside the protocol goes, on one line each."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        with contextlib.suppress(Exception):  # nobody there to read it is no reason to end
            self._say(f"{record.name}: {record.getMessage()}")


def _collect_logs(say: Say) -> None:
    root = logging.getLogger()
    root.handlers[:] = [_Said(say)]
    logging.getLogger("mcp.shared").setLevel(logging.ERROR)  # it warns of each answer that nobody took
    sys.excepthook = lambda kind, error, _: say(f"{kind.__name__}: {error}")
