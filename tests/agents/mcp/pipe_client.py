"""A client that knows nothing of the library: JSON-RPC lines over the pipes of a `memtui mcp`, one at a time."""

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.warm import Warm

LIMIT = 30.0
"""Seconds after which nothing more is expected."""

Message = dict[str, Any]
ROOT = Path(__file__).parents[3]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "by-hand", "version": "1"}}
HTTP_HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
HTTP_HEADERS = {"Accept": "application/json, text/event-stream"}


class Server:
    """A running `memtui mcp` over stdio.

    Args:
        words: What follows `memtui mcp`.
        program: What Python runs, if not memtui.
        env: Further variables.
        warm: What starts it, if it need not be started from nothing.
    """

    def __init__(
        self,
        *words: object,
        program: Sequence[str] = ("-m", "memtui"),
        env: Mapping[str, str] | None = None,
        warm: Warm | None = None,
    ) -> None:
        whole = [*program, "mcp", *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
        pipe = subprocess.PIPE
        self.process = (
            warm.popen(whole, env=environment)
            if warm
            else subprocess.Popen([sys.executable, *whole], stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
        )
        self.lines: list[bytes] = []
        """All that it wrote to its standard output."""
        self._numbers = itertools.count(1)
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._kept: list[Message] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._errors: list[bytes] = []
        self._error_reader = threading.Thread(target=self._read_errors)
        self._error_reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self._gone()

    def _gone(self) -> None:
        self.process.wait(LIMIT)
        assert self.process.stdin
        if not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        for thread, pipe in ((self._reader, self.process.stdout), (self._error_reader, self.process.stderr)):
            thread.join(LIMIT)
            assert pipe
            pipe.close()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            self._messages.put(json.loads(line))
        self._messages.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._errors.append(line)

    @property
    def errors(self) -> str:
        """All that it wrote to its standard error, once it has ended."""
        return b"".join(self._errors).decode()

    def greet(self, **hello: Any) -> Message:
        """Shake hands, as the older protocol has it."""
        result = self.ask("initialize", {**HELLO, **hello})
        self.tell("notifications/initialized")
        return result

    def write(self, line: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def tell(self, method: str, params: Message | None = None) -> None:
        """Send what is not answered."""
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}).encode() + b"\n")

    def begin(self, method: str, params: object = None) -> int:
        """Send a request, and return its number."""
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode() + b"\n")
        return number

    def wait(self, wanted: Callable[[Message], bool]) -> Message:
        """The first message like this, by now or in time."""
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while True:
            message_or_end = self._messages.get(timeout=LIMIT)
            assert message_or_end is not None, f"the server ended: {self.errors}"
            if wanted(message_or_end):
                return message_or_end
            self._kept.append(message_or_end)

    def answer(self, number: int | None) -> Message:
        """The answer to a request, an error or not."""
        return self.wait(lambda message: "method" not in message and message.get("id") == number)

    def ask(self, method: str, params: object = None) -> Message:
        """Send a request and wait for its result."""
        answer = self.answer(self.begin(method, params))
        assert "result" in answer, answer
        result: Message = answer["result"]
        return result

    def refused(self, method: str, params: object = None) -> Message:
        """Send a request and wait for its error."""
        answer = self.answer(self.begin(method, params))
        assert "error" in answer, answer
        error: Message = answer["error"]
        return error

    def call(self, arguments: object, tool: str = "memory", meta: Message | None = None) -> tuple[str, bool]:
        """Call a tool: the text of the answer, and whether it is an error."""
        params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        return told(self.ask("tools/call", params))

    def begin_call(self, **arguments: object) -> int:
        """Call the memory tool, and do not wait."""
        return self.begin("tools/call", {"name": "memory", "arguments": arguments})

    def notified(self, method: str, uri: str | None = None) -> Message:
        """Wait for a notification."""
        return self.wait(
            lambda message: message.get("method") == method and (uri is None or message["params"]["uri"] == uri)
        )

    def end(self) -> int:
        """Close its input and wait for its end; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        self._gone()
        return self.process.returncode

    def signal(self, number: signal.Signals) -> int:
        """Send a signal and wait for its end; the exit code."""
        self.process.send_signal(number)
        self._gone()
        return self.process.returncode


def told(result: Message) -> tuple[str, bool]:
    """The text of a tool's result, and whether it is an error."""
    (content,) = result["content"]
    return content["text"], result.get("isError", False)
