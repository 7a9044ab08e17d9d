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
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from fcntl import F_DUPFD_CLOEXEC, fcntl
from typing import Any, NamedTuple, Self

LONGEST = 32_000_000
"""Bytes of the longest message that is read."""
DRAIN_SECONDS = 3.0
"""How long open answers are waited for after the last request."""
_CHUNK = 65_536
_AHEAD = 64
"""Lines that are read ahead, or those of a chunk."""


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


class LineReader:
    """Reads lines of a descriptor in the event loop: a thread would hand each line over to it.

    Args:
        fd: A pipe, a socket or a terminal; or a file, which is always readable.
        loop: The running loop.
    """

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._loop = loop
        self._lines: deque[bytes | None] = deque()
        self._begun = bytearray()
        self._is_too_long = False
        self._has_ended = False
        self._is_watched = False
        self._waiting: asyncio.Future[None] | None = None

    async def get_line(self) -> bytes | None:
        """The next line; `None` for one that was too long.

        Raises:
            EOFError: There is none.
        """
        while not self._lines:
            if self._has_ended:
                raise EOFError
            if not self._watch():
                self._read()
                continue
            self._waiting = self._loop.create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        line = self._lines.popleft()
        if self._has_ended or len(self._lines) < _AHEAD:
            return line
        self._unwatch()  # until these are taken
        return line

    def close(self) -> None:
        """Read no more."""
        self._has_ended = True
        self._unwatch()

    def _watch(self) -> bool:
        """Have the loop read whatever comes; `False` where the system does not tell when that is."""
        if not self._is_watched:
            try:
                self._loop.add_reader(self._fd, self._read)
            except OSError:  # a file
                return False
            self._is_watched = True
        return True

    def _unwatch(self) -> None:
        if self._is_watched:
            self._loop.remove_reader(self._fd)
            self._is_watched = False

    def _read(self) -> None:
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:  # another process with the pipe made it non-blocking, or has read it
            return
        except OSError:
            data = b""
        if data:
            self._split(data)
        else:
            if self._begun:
                self._lines.append(bytes(self._begun))
            self.close()
        if (waiting := self._waiting) is not None and not waiting.done() and (self._lines or self._has_ended):
            waiting.set_result(None)

    def _split(self, data: bytes) -> None:
        *ended, rest = data.split(b"\n")
        for end in ended:
            self._lines.append(None if self._is_too_long else bytes(self._begun) + end)
            self._begun, self._is_too_long = bytearray(), False
        self._begun += rest
        if len(self._begun) > LONGEST:
            self._begun, self._is_too_long = bytearray(), True


class LineWriter:
    """Writes lines, in order, and never more at once than fits: a client that does not read blocks nothing else.

    A line that was begun is finished, also if the task that writes it is cancelled.
    """

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._loop = loop
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)
        self._rest = bytearray()
        self._written: asyncio.Future[None] | None = None

    async def write(self, line: bytes) -> None:
        """Write one line.

        Raises:
            OSError: The other end is closed.
        """
        self._rest += line
        if self._written is None:
            self._flush()
            if not self._rest:
                return
            self._written = self._loop.create_future()
            self._loop.add_writer(self._fd, self._continue)
        await asyncio.shield(self._written)

    def _flush(self) -> None:
        try:
            while self._rest and self._poll.poll(0):
                written = os.write(self._fd, self._rest[: select.PIPE_BUF])
                del self._rest[:written]
        except OSError:
            self._rest.clear()
            raise

    def _continue(self) -> None:
        """Write on, now that there is room."""
        written = self._written
        assert written is not None
        try:
            self._flush()
        except OSError as error:
            written.set_exception(error)
            written.exception()  # it is told to those who wait, if anybody does
        if self._rest:
            return
        self._loop.remove_writer(self._fd)
        self._written = None
        if not written.done():
            written.set_result(None)


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


class _Stream:
    """What the library asks of both of its streams. They are closed with the pipes."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Nothing: `open_streams` closes it."""


class RequestStream(_Stream):
    """The messages of the client, for the library."""

    def __init__(self, reader: LineReader, write_line: Callable[[bytes], Awaitable[None]], pending: _PendingRequests):
        import mcp_types as types  # noqa: PLC0415 - loaded after `take_stdio`
        from mcp.shared.message import SessionMessage  # noqa: PLC0415 - loaded after `take_stdio`

        self._types = types
        self._wrap = SessionMessage
        self._reader = reader
        self._write_line = write_line
        self._pending = pending

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """The next message; ends once every request is answered."""
        types = self._types
        while True:
            try:
                line = await self._reader.get_line()
            except EOFError:
                await self._pending.wait()
                raise StopAsyncIteration from None
            if line is not None and not line.strip():
                continue
            message = _parse_message(line)
            if isinstance(message, bytes):
                await self._write_line(message)
                continue
            match message:
                case types.JSONRPCRequest() if message.method != "subscriptions/listen":
                    self._pending.add(message.id)
                case types.JSONRPCNotification(method="notifications/cancelled", params=dict() as params):
                    self._pending.drop(params.get("requestId"))
            return self._wrap(message)


class AnswerStream(_Stream):
    """Takes the messages of the library to the client."""

    def __init__(self, write_line: Callable[[bytes], Awaitable[None]], pending: _PendingRequests) -> None:
        import mcp_types as types  # noqa: PLC0415 - loaded after `take_stdio`

        self._answers = (types.JSONRPCResponse, types.JSONRPCError)
        self._write_line = write_line
        self._pending = pending

    async def send(self, session_message: Any) -> None:
        """Write a message."""
        message = session_message.message
        try:
            await self._write_line(_serialize_message(message))
        finally:
            if isinstance(message, self._answers):
                self._pending.drop(message.id)


@contextmanager
def open_streams(wire: StdioPipes, *, closed: Callable[[], object]) -> Iterator[tuple[Any, Any]]:
    """The two streams of the library's server; `closed` is called when the other end is closed."""
    loop = asyncio.get_running_loop()
    reader, writer, pending = LineReader(wire.read, loop), LineWriter(wire.write, loop), _PendingRequests()

    async def write_line(line: bytes) -> None:
        try:
            await writer.write(line)
        except OSError:
            closed()

    try:
        yield RequestStream(reader, write_line, pending), AnswerStream(write_line, pending)
    finally:
        reader.close()


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
