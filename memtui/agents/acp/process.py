"""An agent's program: started, spoken with a line of JSON at a time, and ended with all that it started.

What comes from it is not trusted: a line is bounded, one that is no message of JSON-RPC is left out and counted, and
nothing here raises in the protocol's reader.
"""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.core.unicode import to_one_line

_LONGEST_LINE = 16 << 20
"""Bytes of the longest message."""
_CHUNK = 1 << 16
_TAIL_LINES = 3
_TAIL_BYTES = 8 << 10
_LONGEST_TAIL = 300
_GRACE_SECONDS = 0.7
"""For how long the program may take to end, once its input is closed."""
_KILLED_SECONDS = 5.0
"""For how long it may take to be gone, once it is killed: a large one takes a while on a busy machine."""
_KILLED_PAUSE = 0.01


class AgentProcess:
    """A program and its pipes; the transport of the protocol's connection. Used in one thread, where a loop runs.

    Attributes:
        skipped: Lines that were no messages.
        ended: Set when the program closed its output, or has ended.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._received = bytearray()
        self._searched = 0
        self._is_skipping = False
        self._errors: deque[str] = deque(maxlen=_TAIL_LINES)
        self._reading_errors = asyncio.ensure_future(self._read_errors())
        self.skipped = 0
        self.ended = asyncio.Event()

    @classmethod
    async def start(cls, command: Sequence[str], folder: str, environment: Mapping[str, str]) -> "AgentProcess":
        """Start a program in a folder, as the leader of a group of its own.

        Raises:
            OSError: It cannot be started.
        """
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=dict(environment), start_new_session=True
        )
        return cls(process)

    # The transport of the connection

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; to a program that has ended, nothing."""
        writer = self._process.stdin
        if writer is None or writer.is_closing():
            return
        line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
        with contextlib.suppress(OSError, RuntimeError):  # the end of its output is told by `receive`
            writer.write(line)
            await writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; `None` at the end."""
        while (line := await self._read_line()) is not None:
            if not line.strip():
                continue
            message = _parse_message(line)
            if message is not None:
                return message
            self.skipped += 1
        self.ended.set()
        return None

    async def close(self) -> None:
        """End the program, and what it started."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        waiting = asyncio.ensure_future(process.wait())
        try:
            await asyncio.wait({waiting}, timeout=_GRACE_SECONDS)
        finally:  # in any case, as when who waits has waited too long
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            self._reading_errors.cancel()
            waiting.cancel()
            try:
                until = time.monotonic() + _KILLED_SECONDS
                while process.returncode is None and time.monotonic() < until:  # `wait` may wait for its pipes, too
                    await asyncio.sleep(_KILLED_PAUSE)
            finally:
                process._transport.close()  # type: ignore[attr-defined]  # its pipes, which others may hold open
                self.ended.set()

    async def describe_end(self) -> str:
        """How it ended, with the last lines of its standard error, such as `with exit code 1: no key`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._reading_errors), _GRACE_SECONDS)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GRACE_SECONDS)
        code = self._process.returncode
        words = (
            "closed its output" if code is None
            else f"was ended by signal {-code}" if code < 0
            else f"ended with exit code {code}"
        )  # fmt: skip
        tail = to_one_line(" / ".join(line for line in self._errors if line))[-_LONGEST_TAIL:]
        return f"{words}: {tail.rstrip('.')}" if tail else words

    async def _read_line(self) -> bytes | None:
        """The next line without its end; empty for one that is too long, `None` at the end."""
        reader = self._process.stdout
        while reader is not None:
            if (end := self._received.find(b"\n", self._searched)) >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                self._searched = 0
                if not self._is_skipping:
                    return line
                self._is_skipping = False
                continue
            if len(self._received) > _LONGEST_LINE:
                self.skipped += not self._is_skipping
                self._is_skipping = True
            if self._is_skipping:
                self._received.clear()
            self._searched = len(self._received)
            try:
                data = await reader.read(_CHUNK)
            except OSError:
                return None
            if not data:
                return None
            self._received += data
        return None

    async def _read_errors(self) -> None:
        """Read its standard error, or it would wait for ever; the last lines are kept."""
        reader, held = self._process.stderr, b""
        while reader is not None and (data := await reader.read(_CHUNK)):
            *lines, held = (held + data)[-_TAIL_BYTES:].split(b"\n")
            self._errors.extend(line.decode("utf-8", "replace").strip() for line in lines if line.strip())
        if held.strip():
            self._errors.append(held.decode("utf-8", "replace").strip())


def _parse_message(line: bytes) -> dict[str, Any] | None:
    """A message of JSON-RPC as the connection can take it; `None` for anything else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
        return None
    if not isinstance(message.get("id", 0), int | str | None):
        return None
    error = message.get("error")
    if error is not None and not (
        isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    ):
        message["error"] = {"code": -32603, "message": "an error without words"}
    return message if {"method", "result", "error"} & message.keys() else None
