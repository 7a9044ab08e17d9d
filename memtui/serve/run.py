"""A server from its start to its end: the catalog, the gate, and the loop."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator, Sequence

import uvicorn

from memtui.core.lazy_dataclass import dataclass
from memtui.core.signals import catch_signals
from memtui.serve import ServerLimits
from memtui.serve.access import Client, TokenChecker
from memtui.serve.app import ApiServer
from memtui.serve.catalog import StoreCatalog, StoreOptions
from memtui.serve.gate import RequestGate
from memtui.serve.logs import ServerLog
from memtui.serve.metrics import ServerMetrics

_END_SECONDS = 10
"""How long requests that have begun may take at the end."""
_IDLE_SECONDS = 30
"""How long a connection without a request is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How stores are served.

    Attributes:
        stores: Which ones.
        clients: Who may come in.
        limits: What they may use.
        hosts: The values that `Host` may have; `None` where it means nothing, as at a file.
        certificate: The file with the server's certificate; `None` for no TLS.
        key: The file with its key.
    """

    stores: StoreOptions
    clients: Sequence[Client]
    limits: ServerLimits
    hosts: frozenset[str] | None = None
    certificate: str | None = None
    key: str | None = None


class _Server(uvicorn.Server):
    """Serves until `should_exit` is set. Signals are the caller's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


def serve_stores(bound: socket.socket, options: ServeOptions, log: ServerLog) -> None:
    """Serve stores on a bound socket until a signal comes. Changes that have begun are finished and recorded.

    Raises:
        OSError: The certificate or its key cannot be used.
        KeyboardInterrupt: The signal was Ctrl+C.
    """
    _silence_logs()
    catalog = StoreCatalog(options.stores, options.limits.open_stores)
    metrics = ServerMetrics()
    app = ApiServer(catalog, options.limits, metrics).build()
    checker = TokenChecker(options.clients, options.limits.failures)
    gate = RequestGate(app, checker, options.hosts, options.limits, log, metrics)
    config = uvicorn.Config(
        gate,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http="h11",
        ws="none",
        limit_concurrency=options.limits.connections,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_END_SECONDS,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    config.load()  # a certificate that cannot be used is said before anything is served
    log.write("started")
    try:
        ended_by = asyncio.run(_serve(_Server(config), bound))
    finally:
        catalog.close()
        log.write("ended")
    if ended_by is signal.SIGINT:
        raise KeyboardInterrupt


async def _serve(server: uvicorn.Server, bound: socket.socket) -> signal.Signals | None:
    def end() -> None:
        server.should_exit = True

    with catch_signals(end) as caught:
        await server.serve(sockets=[bound])
        return caught[0] if caught else None


def _silence_logs() -> None:
    """Let libraries write nothing: their words hold what clients sent."""
    logging.getLogger().handlers[:] = [logging.NullHandler()]
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers[:] = [logging.NullHandler()]
        logging.getLogger(name).propagate = False
