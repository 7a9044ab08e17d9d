"""Calls over MCP's stdio, one after the other, against a bare server of the same library whose one tool echoes.

The client is a few lines that know nothing of the library, the same for both, and takes the two in turn.
"""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

from tests.bench.memories import Memories
from tests.bench.table import Row, middle, nearly_worst, seconds

ROUNDS = 600
_WARM = 50
_TEXT = "A line of some length, as notes have them.\n" * 20
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_ROOT = Path(__file__).parents[2]

_BARE = """
import anyio, mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="memory", input_schema={"type": "object"})])

async def call_tool(context, params):
    return types.CallToolResult(content=[types.TextContent(text=str(params.arguments.get("text")))])

async def main():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (asked, answers):
        await server.run(asked, answers, server.create_initialization_options())

anyio.run(main)
"""


class _Client:
    """Calls a tool of a server that it started.

    Args:
        words: What Python runs.
    """

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )
        self._numbers = itertools.count(1)
        self._ask("initialize", _HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        with self._process:
            self._process.wait(30)

    def call(self, **arguments: object) -> float:
        """Call the tool; how long it took, in seconds."""
        began = time.perf_counter()
        answer = self._ask("tools/call", {"name": "memory", "arguments": arguments})
        took = time.perf_counter() - began
        assert not answer["result"].get("isError"), answer
        return took

    def call_all(self, calls: Iterable[dict[str, object]]) -> float:
        """Send all calls at once, and wait for the answers; how long it took, in seconds."""
        began = time.perf_counter()
        count = 0
        for arguments in calls:
            self._begin("tools/call", {"name": "memory", "arguments": arguments})
            count += 1
        while count:
            count -= "id" in self._read()
        return time.perf_counter() - began

    def _ask(self, method: str, params: Any) -> Any:
        number = self._begin(method, params)
        while (message := self._read()).get("id") != number:
            pass
        return message

    def _begin(self, method: str, params: Any) -> int:
        number = next(self._numbers)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def _send(self, message: object) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())


def measure(memories: Memories) -> Iterable[Row]:
    """A view and a create, one by one and many at once."""
    folder, state = memories.empty("mcp"), memories.new_state()
    (folder / "note.md").write_text(_TEXT)
    with (
        _Client("-m", "memtui", "mcp", str(folder), "--state", str(state)) as ours,
        _Client("-c", _BARE) as bare,
    ):
        view = {"command": "view", "path": "/memories/note.md"}
        numbers = itertools.count()

        def created() -> dict[str, object]:
            text = f"{next(numbers)}\n{_TEXT}"
            return {"command": "create", "path": "/memories/made.md", "file_text": text}

        yield from _one_by_one("MCP: view, 1 KB", ours, bare, lambda: view, 1.2)
        yield from _one_by_one("MCP: create, 1 KB", ours, bare, created, 1.8)
        for what, make in (("views", lambda: view), ("creates", created)):
            took = ours.call_all(make() for _ in range(ROUNDS))
            echoed = bare.call_all({"text": _TEXT} for _ in range(ROUNDS))
            yield Row(
                f"MCP: {what} a second, {ROUNDS} sent at once",
                f"{ROUNDS / took:,.0f}",
                f"bare echo {ROUNDS / echoed:,.0f}",
                f"{echoed / took:.2f}",
            )


def _one_by_one(
    what: str, ours: _Client, bare: _Client, make: Callable[[], dict[str, object]], most: float
) -> Iterable[Row]:
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS + _WARM):
        took, echoed = ours.call(**make()), bare.call(text=_TEXT)
        if number >= _WARM:
            times[0].append(took)
            times[1].append(echoed)
    for name, pick in (("p50", middle), ("p99", nearly_worst)):
        mine, theirs = (pick(each) for each in times)
        rate = f" ({len(times[0]) / sum(times[0]):,.0f} calls/s)" if name == "p50" else ""
        target, missed = (f"≤ {most:g}", mine > most * theirs) if name == "p50" else ("", False)
        beside = f"bare echo {seconds(theirs)}"
        yield Row(f"{what}, {name}", seconds(mine) + rate, beside, f"{mine / theirs:.2f}", target, missed)
