"""How long `memtui hook` keeps an agent waiting, against a Python that does nothing."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence

from tests.bench.memories import Memories
from tests.bench.table import Row, compared, middle, nearly_worst, seconds, within

ROUNDS = 31
LIMIT = 0.1
"""Seconds that a call may take where nobody is asked."""
_BACKGROUND_SECONDS = 0.6
"""After which the process that records what was written is done: nobody waits for it, and it is not measured."""


def measure(memories: Memories) -> Iterable[Row]:
    """Before and after a write, of what is a memory and of what is none."""
    folder, state = memories.of_size(100), memories.known_state(100)
    memory = os.path.join(folder, "note-000000.md")
    words = ("-m", "memtui", "hook", "--ask", "--dir", str(folder), "--state", str(state))
    calls = {
        "a file that is no memory": ("PreToolUse", "/nowhere/file.md"),
        "before a memory is written": ("PreToolUse", memory),
        "after a memory was written": ("PostToolUse", memory),
    }
    took: dict[str, list[float]] = {name: [] for name in ("nothing", *calls)}
    for number in range(ROUNDS + 1):
        nothing = _time(("-c", "pass"), b"")
        for name, (event, path) in calls.items():
            took_now = _time(words, _told(event, path))
            if number:  # the first one compiles
                took[name].append(took_now)
        if number:
            took["nothing"].append(nothing)
        time.sleep(_BACKGROUND_SECONDS)
    least = middle(took["nothing"])
    yield compared(
        "hook: a file that is no memory", middle(took["a file that is no memory"]), least, 2.0, name="python"
    )
    for name in list(calls)[1:]:
        worst = f", 99 % {seconds(nearly_worst(took[name]))}"
        yield within(f"hook: {name}", middle(took[name]), LIMIT, also=worst)


def _time(words: Sequence[str], told: bytes) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *words], input=told, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def _told(event: str, path: str) -> bytes:
    record = {
        "session_id": "bench",
        "hook_event_name": event,
        "tool_name": "Write",
        "tool_use_id": f"toolu_{time.monotonic_ns()}",
        "tool_input": {"file_path": path, "content": "- short answers\n"},
        "tool_response": {"type": "update"},
    }
    return json.dumps(record).encode()
