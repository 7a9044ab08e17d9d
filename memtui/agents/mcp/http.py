"""Messages over HTTP, for clients on this machine.

The socket is bound by whoever started the server, to 127.0.0.1 and nothing else. The library refuses what a web page
could send from a browser on this machine: a foreign `Host` (DNS rebinding) or `Origin`.
"""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from mcp.server import Server

_END_SECONDS = 1
"""How long open streams are waited for at the end: they never end by themselves."""


class HttpServer(uvicorn.Server):
    """Serves until `should_exit` is set. Signals are whoever's who started it."""

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
        """Serve on a socket that is bound already."""
        await self.serve(sockets=[bound])
