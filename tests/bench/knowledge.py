"""The graph: reading notes against Basic Memory's parser, a folder for the first time, from the cache, and one change.

Basic Memory is looked for by its program: `pip install basic-memory` into an environment of its own, whose `bin` is in
`PATH`. Its parser runs in its own Python, over the same texts; best times of several, so that another load shows less.
"""

import json
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from memtui.core.events import Agent
from memtui.knowledge.parse import parse_note
from memtui.memory import open as open_memory
from tests.bench.memories import Memories
from tests.bench.table import Row, compared, mebibytes, middle, seconds, within
from tests.bench.terminal import Terminal, memtui

NOTES = 100_000
_PARSED, _ROUNDS, _CHANGES = 300, 7, 20
PARSED_IN, FIRST, CHANGED, KEY = 0.000_1, 15.0, 0.002, 0.1
"""Seconds for an ordinary note, for all of a folder, for one that changed, and for a key meanwhile."""
_KEYS = 60
_SAID = (
    "deploy staging billing the database is on that host and we keep it there because tests need one user prefers "
    "short answers memory folder index release branch"
)
_THEIRS = """
import asyncio, json, sys, time
from pathlib import Path
from basic_memory.markdown.entity_parser import EntityParser
texts, rounds = json.load(open(sys.argv[1])), int(sys.argv[2])
parser = EntityParser(Path(sys.argv[1]).parent)
async def main():
    best = [9.0] * len(texts)
    for _ in range(rounds):
        for at, (path, text) in enumerate(texts):
            began = time.perf_counter()
            await parser.parse_markdown_content(Path(path), text)
            best[at] = min(best[at], time.perf_counter() - began)
    print(sum(best) / len(best))
asyncio.run(main())
"""


def measure(memories: Memories) -> Iterable[Row]:
    """All of it."""
    yield from _parse(memories)
    yield from _build(memories)


def list_notes(count: int) -> Iterator[tuple[str, str]]:
    """Notes as Claude Code writes them: paths and texts, each with two links."""
    chance, words = random.Random(5), _SAID.split()

    def say(count: int) -> str:
        return " ".join(chance.choice(words) for _ in range(count))

    for number in range(count):
        kind = chance.choice(("project", "feedback", "reference", "user"))
        first, second = (f"[[topic-{chance.randrange(count)}]]" for _ in range(2))
        head = (
            f"---\nname: topic-{number}\ndescription: {say(8)}\nmetadata:\n  node_type: memory\n  type: {kind}\n---\n"
        )
        body = f"# {say(4)}\n\n{say(25)} {first} {say(10)}.\n\n**Why:** {say(15)}\n\n**How to apply:** {say(15)}\n"
        yield f"area-{number % 50:02}/topic-{number}.md", f"{head}\n{body}\n- {say(6)}\n- {say(6)} {second}\n"


def _parse(memories: Memories) -> Iterator[Row]:
    notes = list(list_notes(_PARSED))
    best = [9.0] * len(notes)
    for _ in range(_ROUNDS):
        for at, (path, text) in enumerate(notes):
            began = time.perf_counter()
            parse_note(text, path)
            best[at] = min(best[at], time.perf_counter() - began)
    ours = sum(best) / len(best)
    yield within("knowledge: an ordinary note, read", ours, PARSED_IN)
    if (program := shutil.which("basic-memory")) is not None:
        listed = memories.empty("parsed") / "notes.json"
        listed.write_text(json.dumps(notes), encoding="utf-8")
        python = Path(program).resolve().parent / "python"
        asked = [str(python), "-c", _THEIRS, str(listed), str(_ROUNDS)]
        theirs = float(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()[-1])
        yield compared("knowledge: an ordinary note, read", ours, theirs, None, name="Basic Memory's parser")


def _build(memories: Memories) -> Iterator[Row]:
    folder, state = memories.empty("knowledge"), memories.new_state()
    for path, text in list_notes(NOTES):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    with open_memory(folder, state=state) as memory:
        memory.reconcile()
    yield from _press_keys(folder, state)
    for kept in state.rglob("notes.json"):
        kept.unlink()
    times = []
    for _ in range(2):
        with open_memory(folder, state=state) as memory:
            began = time.perf_counter()
            graph = memory.graph()
            times.append(time.perf_counter() - began)
            assert len(graph) == NOTES
    yield within(f"knowledge: the graph of {NOTES:,} notes, first", times[0], FIRST)
    yield Row("knowledge: the same, when another process read it before", seconds(times[1]))
    with open_memory(folder, state=state) as memory:
        memory.graph()
        changed = []
        for number in range(_CHANGES):
            edit = {"command": "insert", "path": "/memories/area-00/topic-0.md", "insert_line": 12}
            memory.execute({**edit, "insert_text": f"[[topic-{number}]]\n"}, actor=Agent("writer"))
            began = time.perf_counter()
            memory.graph()
            changed.append(time.perf_counter() - began)
        yield within("knowledge: one note changed", middle(changed), CHANGED, also=f" (worst {seconds(max(changed))})")
        kept = sum(each.stat().st_size for each in state.rglob("notes.json"))
    yield Row("knowledge: what is kept beside the journal", mebibytes(kept / 1024))


def _press_keys(folder: Path, state: Path) -> Iterator[Row]:
    """How soon a key is shown while the graph is read behind the screen, and afterwards."""
    there = f"{NOTES:,} notes"
    with Terminal(memtui(folder, state)) as browser:
        browser.when(" note")
        browser.settle(1.0)
        began = browser.press("W")
        browser.when("Reading the links")
        browser.press("/")
        browser.rest(0.3)
        first = browser.mark
        meanwhile = list(_type(browser, until=lambda: bool(browser.marks(there, after=first))))
        took = browser.when(there, after=first) - began
        browser.settle(1.0)
        afterwards = list(_type(browser, until=lambda: False))
    what = f"knowledge: a key while the graph of {NOTES:,} notes is read"
    yield within(what, middle(meanwhile), KEY, also=f" (worst of {len(meanwhile)} {seconds(max(meanwhile))})")
    yield within("knowledge: the worst of these", max(meanwhile), KEY, also=f" (afterwards {seconds(max(afterwards))})")
    yield Row("knowledge: from the key to the groups of the graph", seconds(took))


def _type(browser: Terminal, *, until: Callable[[], bool]) -> Iterator[float]:
    """The time from each key to the screen, for letters that nothing else draws."""
    for number in range(_KEYS):
        if until():
            return
        letter, mark = "zxqj"[number % 4], browser.mark
        yield -browser.press(letter) + browser.when(letter, after=mark)
        browser.rest(0.1)
        browser.press("\x7f")
        browser.rest(0.1)
