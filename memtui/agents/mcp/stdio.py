"""Messages over two pipes, one a line.

The standard streams are taken away from the process before anything else runs: a `print`, by Python or below it, goes
where errors go. The library's own transport drops unreadable messages, and requests that are still being answered when
the other end closes; here the one gets an error, and the others are waited for.
"""

import asyncio
import contextlib
import json
import os
import select
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from fcntl import F_DUPFD_CLOEXEC, fcntl
from typing import Any, NamedTuple

LONGEST = 32_000_000
"""Bytes of the longest message that is read."""
DRAIN_SECONDS = 3.0
"""How long open answers are waited for after the last request."""
_CHUNK = 65_536
_AHEAD = 16
"""Chunks that are read ahead."""


class StdioPipes(NamedTuple):
    """The descriptors of the protocol."""

    read: int
    write: int


def take_stdio() -> StdioPipes:
    """Take the standard streams: afterwards stdin is at its end, and stdout is standard error."""
    wire = StdioPipes(fcntl(0, F_DUPFD_CLOEXEC, 3), fcntl(1, F_DUPFD_CLOEXEC, 3))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire


class _LineReader:
    """Reads lines of a descriptor in a thread, which may wait for ever: it ends with the process."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._loop = loop
        self._lines: asyncio.Queue[list[bytes | None] | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._run, name="memtui-stdin", daemon=True).start()

    async def iter_lines(self) -> AsyncIterator[bytes | None]:
        """Each line; `None` for one that was too long."""
        while (lines := await self._lines.get()) is not None:
            for line in lines:
                yield line
            self._room.release()

    def _run(self) -> None:
        begun, is_too_long = bytearray(), False

        def put(lines: list[bytes | None] | None) -> None:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, lines)

        with contextlib.suppress(RuntimeError):  # the loop has ended
            while data := self._read():
                *ended, rest = data.split(b"\n")
                lines: list[bytes | None] = []
                for end in ended:
                    lines.append(None if is_too_long else bytes(begun) + end)
                    begun, is_too_long = bytearray(), False
                begun += rest
                if len(begun) > LONGEST:
                    begun, is_too_long = bytearray(), True
                if lines:
                    self._room.acquire()
                    put(lines)
            if begun:
                put([bytes(begun)])
            put(None)

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._fd, _CHUNK)
            except BlockingIOError:  # another process with the pipe made it non-blocking
                select.select([self._fd], [], [])
            except OSError:
                return b""


class _LineWriter:
    """Writes lines, in order, and never more at once than fits: a client that does not read blocks nothing else."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)
        self._turn = asyncio.Lock()

    async def write(self, line: bytes) -> None:
        """Write one line.

        Raises:
            OSError: The other end is closed.
        """
        async with self._turn:
            rest = memoryview(line)
            while rest:
                if not self._poll.poll(0):
                    await self._wait_writable()
                rest = rest[os.write(self._fd, rest[: select.PIPE_BUF]) :]

    async def _wait_writable(self) -> None:
        loop, room = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(self._fd, room.set)
        try:
            await room.wait()
        finally:
            loop.remove_writer(self._fd)


class _PendingRequests:
    """The requests that are not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._none = asyncio.Event()
        self._none.set()

    def add(self, request: object) -> None:
        self._ids.add(repr(request))
        self._none.clear()

    def drop(self, request: object) -> None:
        self._ids.discard(repr(request))
        if not self._ids:
            self._none.set()

    async def wait(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._none.wait(), DRAIN_SECONDS)


@asynccontextmanager
async def open_streams(wire: StdioPipes, *, closed: Callable[[], object]) -> AsyncIterator[tuple[Any, Any]]:
    """The two streams of the library's server; `gone` is called when the other end is closed."""
    import anyio  # noqa: PLC0415 - loaded after `take_stdio`
    import mcp_types as types  # noqa: PLC0415 - loaded after `take_stdio`
    from mcp.shared.message import SessionMessage  # noqa: PLC0415 - loaded after `take_stdio`

    request_sender, requests = anyio.create_memory_object_stream[Any](0)
    answers, answered = anyio.create_memory_object_stream[Any](0)
    writer, pending = _LineWriter(wire.write), _PendingRequests()

    async def read() -> None:
        async with request_sender:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in _LineReader(wire.read, asyncio.get_running_loop()).iter_lines():
                    if line is not None and not line.strip():
                        continue
                    message = _parse_message(line)
                    if isinstance(message, bytes):
                        await write_line(message)
                        continue
                    match message:
                        case types.JSONRPCRequest() if message.method != "subscriptions/listen":
                            pending.add(message.id)
                        case types.JSONRPCNotification(method="notifications/cancelled", params=dict() as params):
                            pending.drop(params.get("requestId"))
                    await request_sender.send(SessionMessage(message))
                await pending.wait()

    async def write() -> None:
        async with answered:
            async for session_message in answered:
                message = session_message.message
                await write_line(_serialize_message(message))
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    pending.drop(message.id)

    async def write_line(line: bytes) -> None:
        try:
            await writer.write(line)
        except OSError:
            closed()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield requests, answers
        tasks.cancel_scope.cancel()


def _parse_message(line: bytes | None) -> Any:
    """The message in a line, or the error line that answers an invalid one."""
    import mcp_types as types  # noqa: PLC0415 - loaded after `take_stdio`
    from pydantic import ValidationError  # noqa: PLC0415 - loaded after `take_stdio`

    if line is None:
        return _build_error(types.INVALID_REQUEST, f"A message of more than {LONGEST:,} bytes was not read.")
    with contextlib.suppress(ValidationError):
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, types.JSONRPCNotification) or b'"id"' not in line:
            return message  # else it may be a request with an invalid id
    try:
        # Python's JSON may hold a lone surrogate, which the engine refuses in its own words.
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _build_error(types.PARSE_ERROR, "That line is not JSON. Each message is one line of JSON in UTF-8.")
    with contextlib.suppress(ValidationError):
        message = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
        if not isinstance(message, types.JSONRPCNotification) or "id" not in value:
            return message
    if isinstance(value, list):
        return _build_error(types.INVALID_REQUEST, "Batches are not served: send each message on a line of its own.")
    given = value.get("id") if isinstance(value, dict) else None
    is_id = isinstance(given, str | int) and not isinstance(given, bool)
    return _build_error(types.INVALID_REQUEST, "That is no JSON-RPC 2.0 message.", given if is_id else None)


def _build_error(code: int, sentence: str, request: object = None) -> bytes:
    refusal = {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": sentence}}
    return json.dumps(refusal).encode() + b"\n"


def _serialize_message(message: Any) -> bytes:
    from pydantic_core import PydanticSerializationError  # noqa: PLC0415 - loaded after `take_stdio`

    try:
        line: str = message.model_dump_json(by_alias=True, exclude_unset=True)
        return line.encode() + b"\n"
    except (PydanticSerializationError, UnicodeEncodeError):  # a lone surrogate that the client had sent itself
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"
