"""The server: it answers requests that the gate admits, and runs one process for each page that looks.

What a page can cost is bounded: the number of processes, the size and the rate of its messages, the time that it stays
without a key, and what is on its way to it. A page that does not read is sent nothing more, and its process draws
nothing more. All processes end with their page, and with the server.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from importlib.resources import files

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

import memtui
from memtui.core.lazy_dataclass import dataclass
from memtui.core.signals import catch_signals
from memtui.web import MOST_FRAME_BYTES, MOST_MESSAGE_BYTES
from memtui.web.gate import Admitted, Asset, Exchanged, Gate, Refused

_HELLO_SECONDS = 10.0
"""How soon a page says how large it is."""
_OPEN_SECONDS = 5.0
"""How soon a request is complete."""
_END_SECONDS = 1.0
"""How long a process, and a page, may take to end."""
_CHUNK = 65_536
_BYTES_OF_ONE = 1_024
"""A longer message counts as several."""
_QUEUED = 4
"""Messages of a page that are read ahead."""
_ACK = '["ack"'
"""The start of a message that no person caused."""
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_KEPT_VARIABLES = ("HOME", "LANG", "LANGUAGE", "TZ", "PATH", "USER", "LOGNAME")
_KEPT_PREFIXES = ("LC_", "XDG_", "MEMTUI_")
"""Of the environment: a viewer needs no API key, no agent of SSH, and no display."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewerOptions:
    """What viewers show.

    Attributes:
        folder: The memory folder, with links resolved.
        state: The directory of its journal, absolute; `None` for the usual place.
        config: The file of the settings, absolute; `None` for the usual place.
        no_config: Whether no file of settings is read.
    """

    folder: str
    state: str | None = None
    config: str | None = None
    no_config: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What pages may use.

    Attributes:
        viewers: Processes at a time.
        idle_seconds: How long a page stays without input.
        rate: Messages a second; more are read later.
        burst: Messages that come at once.
    """

    viewers: int = 4
    idle_seconds: float = 1_800.0
    rate: float = 200.0
    burst: int = 400


StartViewer = Callable[[], Awaitable[Process]]


class WebServer:
    """Serves pages until it is asked to end.

    Args:
        gate: Judges requests.
        start_viewer: Starts the process of a page.
        limits: What pages may use.
    """

    def __init__(self, gate: Gate, start_viewer: StartViewer, limits: Limits) -> None:
        self._gate = gate
        self._start_viewer = start_viewer
        self._limits = limits
        self._viewers = 0
        self._logger = logging.Logger("memtui.web")  # without a parent: requests hold hostile text
        self._logger.addHandler(logging.NullHandler())

    async def run(self, bound: socket.socket, *, ended: asyncio.Event) -> None:
        """Serve on a bound socket until `ended` is set; returns when all viewers have ended."""
        async with serve(
            self._show,
            sock=bound,
            process_request=self._answer,
            compression=None,
            server_header=None,
            open_timeout=_OPEN_SECONDS,
            close_timeout=_END_SECONDS,
            max_size=MOST_MESSAGE_BYTES,
            max_queue=_QUEUED,
            logger=self._logger,
        ) as server:
            await ended.wait()
            server.close(reason="memtui serve has ended.")

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request; `None` lets the websocket open."""
        del connection
        verdict = self._gate.judge(request.method, request.path, request.headers.get_all)
        host = (request.headers.get_all("Host") or [""])[0]
        match verdict:
            case Refused(status, sentence):
                return _build_response(status, f"{sentence}\n".encode(), "text/plain")
            case Exchanged(location, cookie):
                return _build_response(
                    HTTPStatus.SEE_OTHER, b"", "text/plain", {"Location": location, "Set-Cookie": cookie}
                )
            case Asset(name):
                body = files("memtui.web").joinpath("page", name).read_bytes()
                policy = {"Content-Security-Policy": _format_policy(host)}
                return _build_response(HTTPStatus.OK, body, _TYPES[name.rpartition(".")[2]], policy)
            case Admitted():
                return None

    async def _show(self, connection: ServerConnection) -> None:
        """Run a viewer for as long as its page is there."""
        if self._viewers >= self._limits.viewers:
            words = f"Too many viewers: {self._viewers} are open. Close one, and reload."
            await connection.close(CloseCode.TRY_AGAIN_LATER, words)
            return
        self._viewers += 1  # before anything is awaited
        try:
            viewer = await self._start_viewer()
            try:
                code, words = await self._relay(connection, viewer)
            finally:
                await _end_viewer(viewer)
            await connection.close(code, words)
        finally:
            self._viewers -= 1

    async def _relay(self, connection: ServerConnection, viewer: Process) -> tuple[int, str]:
        """Pass messages both ways until one side ends; returns how to close the connection."""
        reads = asyncio.create_task(self._relay_input(connection, viewer))
        writes = asyncio.create_task(_relay_output(connection, viewer))
        try:
            done, _ = await asyncio.wait((reads, writes), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reads, writes):
                task.cancel()
            ends = await asyncio.gather(reads, writes, return_exceptions=True)
        match ends[0] if reads in done else ends[1]:
            case TimeoutError():
                return CloseCode.GOING_AWAY, "Ended: no key was pressed for a long time."
            case _InvalidMessage():
                return CloseCode.POLICY_VIOLATION, "Ended: the page sent an invalid message."
            case ConnectionClosed():
                return CloseCode.NORMAL_CLOSURE, ""
            case _:
                return CloseCode.NORMAL_CLOSURE, "The viewer ended without a reason."  # it says one if it can

    async def _relay_input(self, connection: ServerConnection, viewer: Process) -> None:
        loop, limits = asyncio.get_running_loop(), self._limits
        deadline = loop.time() + min(_HELLO_SECONDS, limits.idle_seconds)
        allowance, counted_at = float(limits.burst), loop.time()
        assert viewer.stdin is not None
        while True:
            async with asyncio.timeout_at(deadline):
                message = await connection.recv()
            if not isinstance(message, str) or "\n" in message:
                raise _InvalidMessage
            now = loop.time()
            if not message.startswith(_ACK):
                deadline = now + limits.idle_seconds
            elif now >= deadline:  # a page that always has a message is never waited for
                raise TimeoutError
            cost = 1 + len(message) // _BYTES_OF_ONE
            allowance, counted_at = min(allowance + (now - counted_at) * limits.rate, limits.burst) - cost, now
            if allowance < 0:  # what it sends meanwhile stays with it
                await asyncio.sleep(-allowance / limits.rate)
            viewer.stdin.write(message.encode() + b"\n")
            await viewer.stdin.drain()


class _InvalidMessage(Exception):
    """A page sent what no page of ours sends."""


async def _relay_output(connection: ServerConnection, viewer: Process) -> None:
    assert viewer.stdout is not None
    while line := await viewer.stdout.readline():
        await connection.send(line.decode("utf-8", "replace").rstrip("\n"))


async def _end_viewer(viewer: Process) -> None:
    """End a process: it has nothing to save."""
    assert viewer.stdin is not None
    viewer.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            await _discard_output(viewer)
    with contextlib.suppress(ProcessLookupError):
        viewer.kill()
    await _discard_output(viewer)
    await viewer.wait()


async def _discard_output(viewer: Process) -> None:
    """Read until a process has ended: it is not waited for while there is output of it."""
    assert viewer.stdout is not None
    while await viewer.stdout.read(_CHUNK):
        pass


def _format_policy(host: str) -> str:
    """What the page may load: its own files and its websocket, and nothing from elsewhere."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"connect-src ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    )


def _build_response(status: HTTPStatus, body: bytes, kind: str, more: Mapping[str, str] | None = None) -> Response:
    headers = Headers(
        {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
            "Connection": "close",
        }
    )
    for name, value in (more or {}).items():
        headers.pop(name, None)
        headers[name] = value
    return Response(status.value, status.phrase, headers, body)


async def start_viewer(options: ViewerOptions) -> Process:
    """Start the process of a page: it reads messages from its stdin, and writes them to its stdout."""
    given = {name: getattr(options, name) for name in ("folder", "state", "config", "no_config")}
    kept = {
        name: value for name, value in os.environ.items() if name in _KEPT_VARIABLES or name.startswith(_KEPT_PREFIXES)
    }
    environment = {
        **kept,
        "PYTHONPATH": os.pathsep.join(_list_module_paths()),
        "PYTHONUTF8": "1",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # the folder may hold a file with the name of a module
        "-m",
        "memtui.ui.web_viewer",
        json.dumps(given),
        stdin=PIPE,
        stdout=PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env=environment,
        limit=MOST_FRAME_BYTES,
        start_new_session=True,  # Ctrl+C is for the server, which ends them
    )


def _list_module_paths() -> list[str]:
    """Where memtui and what it needs is loaded from; never the working directory, which could be any."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(memtui.__file__)))
    return list(dict.fromkeys([own, *(path for path in sys.path if path not in ("", os.getcwd()))]))


def serve_pages(bound: socket.socket, gate: Gate, options: ViewerOptions, limits: Limits) -> None:
    """Serve the read-only browser of a folder until a signal comes.

    Args:
        bound: A socket, bound to 127.0.0.1.
        gate: Judges the requests.
        options: What is shown.
        limits: What pages may use.

    Raises:
        KeyboardInterrupt: The signal was that of Ctrl+C.
    """

    async def run() -> list[signal.Signals]:
        ended = asyncio.Event()
        with catch_signals(ended.set) as caught:
            await WebServer(gate, lambda: start_viewer(options), limits).run(bound, ended=ended)
        return caught

    if signal.SIGINT in asyncio.run(run()):
        raise KeyboardInterrupt
