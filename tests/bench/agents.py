"""The SDK's own way in: how many calls a second our tool takes, against the SDK's file system tool, in one run.

One conversation's worth of calls is repeated on each in turn. Ours is measured as it is, with a person in between who
says yes at once (each change is looked at twice then), and from an event loop.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable
from typing import Any

from anthropic.tools import BetaLocalFilesystemMemoryTool

from memtui.agents.claude import AsyncMemoryTool, MemoryTool
from memtui.core.events import Agent
from memtui.memory import open as open_memory
from tests.bench.commands import DurableTool
from tests.bench.memories import Memories
from tests.bench.table import Row, middle

ROUNDS = 96
_WARM = 6
_LEAST = 0.9
_ACTOR = Agent("bench", "a-model", "a-session")
_OTHERS = ("ours, each change approved", "ours, from an event loop", "SDK", "SDK, directory synced")

Input = dict[str, Any]


def measure(memories: Memories) -> Iterable[Row]:
    """Calls a second, of all calls of a conversation together."""
    rates = _rates(memories)
    ours = rates["ours"]
    yield Row(
        "agents: calls a second of the SDK's tool class",
        f"{ours:,.0f}",
        "; ".join(f"{name} {rates[name]:,.0f}" for name in _OTHERS),
        "; ".join(f"{ours / rates[name]:.2f}" for name in _OTHERS),
        f"≥ {_LEAST} of the SDK's",
        missed=ours < _LEAST * rates["SDK"],
    )


def _rates(memories: Memories) -> dict[str, float]:
    """Calls a second, by who answers them."""
    base = memories.empty("agents")
    for name in ("ours", "approved", "async"):
        (base / name).mkdir()
    with (
        asyncio.Runner() as loop,
        open_memory(base / "ours", state=base / "ours-state") as plain,
        open_memory(base / "approved", state=base / "approved-state") as approved,
        open_memory(base / "async", state=base / "async-state") as looped,
    ):
        later = AsyncMemoryTool(looped, actor=_ACTOR)
        ways: dict[str, Callable[[list[Input]], object]] = {
            "ours": _calling(MemoryTool(plain, actor=_ACTOR)),
            _OTHERS[0]: _calling(MemoryTool(approved, actor=_ACTOR, approve=lambda _: True)),
            _OTHERS[1]: lambda steps: loop.run(_in_turn(later, steps)),
            _OTHERS[2]: _calling(BetaLocalFilesystemMemoryTool(str(base / "sdk"))),
            _OTHERS[3]: _calling(DurableTool(str(base / "durable"))),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        orders = list(itertools.permutations(ways))
        calls = 0
        for number in range(-_WARM, ROUNDS):
            steps = _conversation(number)
            calls = len(steps)
            for name in orders[number * 37 % len(orders)]:
                began = time.perf_counter()
                ways[name](steps)
                if number >= 0:
                    times[name].append(time.perf_counter() - began)
    return {name: calls / middle(taken) for name, taken in times.items()}


def _calling(tool: Any) -> Callable[[list[Input]], object]:
    return lambda steps: [tool.call(step) for step in steps]


async def _in_turn(tool: AsyncMemoryTool, steps: list[Input]) -> None:
    for step in steps:
        await tool.call(step)


def _conversation(number: int) -> list[Input]:
    """What a model does in a turn: look, write, correct, move."""
    path, moved = f"/memories/topic-{number % 8}/note.md", f"/memories/topic-{number % 8}/done.md"
    text = "".join(f"round {number} line {line} of a note about something\n" for line in range(20))
    return [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": path, "file_text": text},
        {"command": "view", "path": path},
        {"command": "str_replace", "path": path, "old_str": "line 7 ", "new_str": "line seven "},
        {"command": "insert", "path": path, "insert_line": 3, "insert_text": "inserted"},
        {"command": "view", "path": path},
        {"command": "rename", "old_path": path, "new_path": moved},
        {"command": "delete", "path": moved},
    ]
