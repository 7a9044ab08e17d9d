"""The six commands, against the SDK's file system tool on the same disk, each in turn.

The SDK's tool syncs the files that it writes, but no directory, and keeps no record; ours syncs its record once, and
files and directories behind the answers. So the SDK's tool is measured twice more: with a sync of the directory after
each change; and with the least record that is as safe as ours, which shows what may be reached.
"""

import hashlib
import itertools
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from anthropic.tools import BetaLocalFilesystemMemoryTool

from memtui.core.events import Agent
from memtui.core.settings import Settings
from memtui.memory import open as open_memory
from tests.bench.memories import Memories
from tests.bench.table import Row, middle, nearly_worst, seconds

ROUNDS = 144
SIZES = (("1 KB", 1_000), ("100 KB", 100_000))
_WARM = 6
_ACTOR = Agent("bench")
_TARGETS = {"view": 0.8, "directory view": 0.1}
_ORDERS = list(itertools.permutations(range(4)))

Input = dict[str, Any]
Call = Callable[[Input], object]
Times = dict[str, list[float]]


class DurableTool(BetaLocalFilesystemMemoryTool):
    """The SDK's tool, with every change confirmed by the disk."""

    def call(self, input: Any) -> Any:
        """Execute, then sync the directories that were changed."""
        answer = super().call(input)
        if input["command"] != "view":
            for path in {input[field] for field in ("path", "old_path", "new_path") if field in input}:
                fd = os.open(os.path.dirname(self.memory_root / path.removeprefix("/memories/")), os.O_RDONLY)
                os.fsync(fd)
                os.close(fd)
        return answer


class _Unsynced:
    """The module `os` as the SDK's tool sees it, without a sync."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fsync(self, _: int) -> None:
        """Nothing."""


class RecordingTool(BetaLocalFilesystemMemoryTool):
    """The SDK's tool with the least record that is as safe as ours, and nothing looked up, compared or packed for it.

    The command is in SQLite, and synced, before a file is touched; the file itself is not, and what is done is marked.
    """

    def __init__(self, base_path: str) -> None:
        super().__init__(base_path)
        self._database = sqlite3.connect(os.path.join(base_path, "record.db"), isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, body TEXT, hash BLOB, is_done INTEGER)")
        self._hash = b""

    def call(self, input: Any) -> Any:
        """Record, execute without a sync, and mark as done."""
        body = json.dumps([time.time(), input])
        self._hash = hashlib.sha256(self._hash + body.encode()).digest()
        is_change = input["command"] != "view"
        if is_change:
            self._database.execute("PRAGMA synchronous = FULL")
            made = self._database.execute("INSERT INTO events VALUES (NULL, ?, ?, 0)", (body, self._hash))
        sdk = sys.modules[BetaLocalFilesystemMemoryTool.__module__]
        sdk.os = _Unsynced()  # type: ignore[attr-defined]
        try:
            answer = super().call(input)
        finally:
            sdk.os = os  # type: ignore[attr-defined]
        self._database.execute("PRAGMA synchronous = NORMAL")  # the log is not synced at a commit
        if is_change:
            self._database.execute("UPDATE events SET is_done = 1 WHERE seq = ?", (made.lastrowid,))
        else:
            self._database.execute("INSERT INTO events VALUES (NULL, ?, ?, 1)", (body, self._hash))
        return answer


def measure(memories: Memories) -> Iterable[Row]:
    """Every command, for small and large notes."""
    for label, size in SIZES:
        times = _compare(memories, size)
        for command in times[0]:
            yield _row(f"{command}, {label}", [each[command] for each in times], _TARGETS.get(command, 1.2))


def _row(what: str, times: list[list[float]], limit: float) -> Row:
    ours, *theirs = [middle(each) for each in times]
    ratios = [ours / each for each in theirs]
    ours_words, *their_words = [f"{seconds(middle(each))} (p99 {seconds(nearly_worst(each))})" for each in times]
    return Row(
        what,
        ours_words,
        f"SDK {their_words[0]}; directory synced {their_words[1]}; and recorded {their_words[2]}",
        "; ".join(f"{ratio:.2f}" for ratio in ratios),
        f"≤ {limit:g}",
        missed=ratios[0] > limit,
    )


def _compare(memories: Memories, size: int) -> list[Times]:
    base = memories.empty(f"commands-{size}")
    for name in ("ours", "plain", "durable", "recorded"):
        _fill(base / name / "memories")
    engine = open_memory(base / "ours" / "memories", state=base / "state", settings=Settings(view_char_limit=0))
    tools = (
        BetaLocalFilesystemMemoryTool(str(base / "plain")),
        DurableTool(str(base / "durable")),
        RecordingTool(str(base / "recorded")),
    )

    def execute(command: Input) -> object:
        answer = engine.execute(command, actor=_ACTOR)
        assert not answer.is_error, answer.text
        return answer

    calls: list[Call] = [execute, *(tool.call for tool in tools)]
    times: list[Times] = [{} for _ in calls]
    with engine:
        for number in range(-_WARM, ROUNDS):
            for name, steps in _round(number, size).items():
                for which in _ORDERS[number % len(_ORDERS)]:
                    took = _timed(calls[which], steps[0] if which == 0 else steps[-1])
                    if number >= 0:
                        times[which].setdefault(name, []).append(took)
    return times


def _round(number: int, size: int) -> Mapping[str, tuple[list[Input], ...]]:
    """The commands of one round by name; where the SDK's tool cannot do the same, what comes nearest follows."""
    path, moved = f"/memories/topic-1/new-{number}.md", f"/memories/topic-2/moved-{number}.md"
    text, other = _text(f"round {number}", size), _text(f"again {number}", size)
    edit = {"command": "str_replace", "path": path, "old_str": f"round {number} line 7 ", "new_str": f"seven {number} "}
    insert = {"command": "insert", "path": path, "insert_line": 5, "insert_text": f"inserted in {number}"}
    create = {"command": "create", "path": path, "file_text": other}
    return {
        "create": ([{**create, "file_text": text}],),
        "view": ([{"command": "view", "path": path}],),
        "str_replace": ([edit],),
        "insert": ([insert],),
        "create over a file": ([create], [{"command": "delete", "path": path}, create]),
        "rename": ([{"command": "rename", "old_path": path, "new_path": moved}],),
        "delete": ([{"command": "delete", "path": moved}],),
        "directory view": ([{"command": "view", "path": "/memories"}],),
    }


def _timed(call: Call, steps: list[Input]) -> float:
    began = time.perf_counter()
    for step in steps:
        call(step)
    return time.perf_counter() - began


def _text(word: str, size: int) -> str:
    lines = (f"{word} line {number} of a note that an agent keeps about its work\n" for number in itertools.count())
    text = ""
    while len(text) < size:
        text += next(lines)
    return text


def _fill(folder: Path) -> None:
    """A memory of some age: twenty topics of ten notes."""
    for topic, note in itertools.product(range(20), range(10)):
        path = folder / f"topic-{topic}" / f"note-{note}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(f"note {note}", 1_000), encoding="utf-8")
