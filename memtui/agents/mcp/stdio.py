"""Messages over two pipes, one a line.

The wire is taken away from the process before anything else runs: whatever is printed, by Python or below it, goes
where errors go. The library's own transport drops what it cannot read, and the requests that are still being
answered when the other end closes; here the one is answered, and the others are waited for.
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
"""How long answers are waited for once nothing more can be asked."""
_CHUNK = 65_536
_AHEAD = 16
"""Chunks that are read before those in front of them were taken."""


class Wire(NamedTuple):
    """Where the protocol is spoken."""

    read: int
    write: int


def take_wire() -> Wire:
    """Take the standard streams: reading the one finds an end, and writing to the other goes to standard error."""
    wire = Wire(fcntl(0, F_DUPFD_CLOEXEC, 3), fcntl(1, F_DUPFD_CLOEXEC, 3))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire


class _Reader:
    """Reads lines in a thread, which may wait for ever: it goes when the process does.

    Args:
        fd: Where from.
        loop: Where the lines are wanted.
    """

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._loop = loop
        self._lines: asyncio.Queue[list[bytes | None] | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._run, name="memtui-stdin", daemon=True).start()

    async def lines(self) -> AsyncIterator[bytes | None]:
        """Each line; `None` for one that was too long."""
        while (lines := await self._lines.get()) is not None:
            for line in lines:
                yield line
            self._room.release()

    def _run(self) -> None:
        begun, is_too_long = bytearray(), False
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
                    self._loop.call_soon_threadsafe(self._lines.put_nowait, lines)
            if begun:
                last: list[bytes | None] = [bytes(begun)]
                self._loop.call_soon_threadsafe(self._lines.put_nowait, last)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._fd, _CHUNK)
            except BlockingIOError:  # whoever shares the pipe with us had it not wait
                select.select([self._fd], [], [])
            except OSError:
                return b""


class _Writer:
    """Writes lines, in order, and never more at once than fits: a client that does not read keeps nobody else waiting,
    not even the end of the process.

    Args:
        fd: Where to.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)
        self._turn = asyncio.Lock()

    async def write(self, line: bytes) -> None:
        """Write one line.

        Raises:
            OSError: Nobody reads any more.
        """
        async with self._turn:
            rest = memoryview(line)
            while rest:
                if not self._poll.poll(0):
                    await self._room()
                rest = rest[os.write(self._fd, rest[: select.PIPE_BUF]) :]

    async def _room(self) -> None:
        """Wait until something can be written."""
        loop, room = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(self._fd, room.set)
        try:
            await room.wait()
        finally:
            loop.remove_writer(self._fd)


class _Pending:
    """Requests that are not answered yet."""

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
async def streams(wire: Wire, *, gone: Callable[[], object]) -> AsyncIterator[tuple[Any, Any]]:
    """The two streams that the library's server speaks over.

    Args:
        wire: The descriptors.
        gone: Called when nobody reads the answers any more.
    """
    import anyio
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    asks, asked = anyio.create_memory_object_stream[Any](0)
    answers, answered = anyio.create_memory_object_stream[Any](0)
    writer, pending = _Writer(wire.write), _Pending()

    async def read() -> None:
        async with asks:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in _Reader(wire.read, asyncio.get_running_loop()).lines():
                    if line is not None and not line.strip():
                        continue
                    message = _message(line)
                    if isinstance(message, bytes):
                        await write_line(message)
                        continue
                    match message:
                        case types.JSONRPCRequest() if message.method != "subscriptions/listen":
                            pending.add(message.id)
                        case types.JSONRPCNotification(method="notifications/cancelled", params=dict() as params):
                            pending.drop(params.get("requestId"))
                    await asks.send(SessionMessage(message))
                await pending.wait()

    async def write() -> None:
        async with answered:
            async for session_message in answered:
                message = session_message.message
                await write_line(_line(message))
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    pending.drop(message.id)

    async def write_line(line: bytes) -> None:
        try:
            await writer.write(line)
        except OSError:
            gone()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield asked, answers
        tasks.cancel_scope.cancel()


def _message(line: bytes | None) -> Any:
    """The message in a line, or the line that answers what is none."""
    import mcp_types as types
    from pydantic import ValidationError

    if line is None:
        return _refusal(types.INVALID_REQUEST, f"A message of more than {LONGEST:,} bytes was not read.")
    with contextlib.suppress(ValidationError):
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, types.JSONRPCNotification) or b'"id"' not in line:
            return message  # else it may be a request whose number is none
    try:
        # What is JSON by Python's measure may hold half a character, which the engine refuses in its own words.
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(types.PARSE_ERROR, "That line is not JSON. Each message is one line of JSON in UTF-8.")
    with contextlib.suppress(ValidationError):
        message = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
        if not isinstance(message, types.JSONRPCNotification) or "id" not in value:
            return message
    if isinstance(value, list):
        return _refusal(types.INVALID_REQUEST, "Batches are not served: send each message on a line of its own.")
    given = value.get("id") if isinstance(value, dict) else None
    is_id = isinstance(given, str | int) and not isinstance(given, bool)
    return _refusal(types.INVALID_REQUEST, "That is no JSON-RPC 2.0 message.", given if is_id else None)


def _refusal(code: int, sentence: str, request: object = None) -> bytes:
    refusal = {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": sentence}}
    return json.dumps(refusal).encode() + b"\n"


def _line(message: Any) -> bytes:
    from pydantic_core import PydanticSerializationError

    try:
        line: str = message.model_dump_json(by_alias=True, exclude_unset=True)
        return line.encode() + b"\n"
    except (PydanticSerializationError, UnicodeEncodeError):  # half a character that the client had sent itself
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"
