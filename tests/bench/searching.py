"""From a key to what is found: over 100,000 names, 10,000 notes of 2 KB, and a journal of 10,000 versions.

A first query is asked of a memory that was read before, as the find screen asks it; each further letter narrows it.
Compared with programs that do a part of it, their start included, which they need for every answer: `fzf --filter` over
the names, `rg` or `grep -r` over the files.
"""

import itertools
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from memtui.core.events import Agent, Person
from memtui.memory import open as open_memory
from memtui.memory import open_in_memory
from memtui.search.finder import Finder
from memtui.search.names import NameIndex
from memtui.search.query import parse_query
from memtui.search.results import Scope, SearchResults
from tests.bench.memories import Memories
from tests.bench.table import Row, compared, middle, seconds, within

NAMES, NOTES, NOTE_BYTES, VERSIONS = 100_000, 10_000, 2_000, 10_000
FIRST, FURTHER = 0.05, 0.016
"""Seconds to what a first query finds, and to what one more letter does: one frame."""
_TIMES = 5
_RARE, _ABSENT = "quixotic", "zyzzyva"
_CLAUDE = Agent("Claude")
_PLAIN = """
import os
import sys

word = sys.argv[1].encode()
for directory, _, names in os.walk(sys.argv[2]):
    for name in names:
        with open(os.path.join(directory, name), "rb", buffering=0) as file:
            if word in file.read().lower():
                print(name)
"""
"""What `memtui search` has to do at least: start, and read every note."""


def measure(memories: Memories) -> Iterable[Row]:
    """All of it."""
    yield from _names(memories)
    yield from _texts(memories)
    yield from _past()


def _names(memories: Memories) -> Iterator[Row]:
    paths = list(_paths(NAMES))
    names = NameIndex(paths)
    began = time.perf_counter()
    names.find(parse_query("warm", now_us=0))
    prepared = time.perf_counter() - began
    listed = memories.empty("names") / "names"
    listed.write_text("\n".join(paths), encoding="utf-8")
    typed = "mig plan"

    def find(query: str) -> None:
        names.find(parse_query(query, now_us=0), limit=200)

    yield Row(f"search: {NAMES:,} names, made ready", seconds(prepared))
    firsts = [_timed(lambda query=query: find(query)) for query in ("b", "m", "p", "s", "n")]  # type: ignore[misc]
    yield within(f"search: {NAMES:,} names, first letter", middle(firsts), FIRST, also=_worst(firsts))
    further = [_timed(lambda end=end: find(typed[:end])) for end in range(1, len(typed) + 1)][1:]  # type: ignore[misc]
    yield within("search: names, each further letter", middle(further), FURTHER, also=_worst(further))
    fresh = [_timed(lambda number=number: find(f"plan{number}")) for number in range(_TIMES)]  # type: ignore[misc]
    if shutil.which("fzf"):
        fzf = [_timed(lambda: _run("fzf", "--filter", "plan", stdin=listed)) for _ in range(_TIMES)]
        yield compared("search: names, a whole word at once", middle(fresh), middle(fzf), None, name="fzf --filter")
    absent = [_timed(lambda number=number: find(f"{_ABSENT}{number}")) for number in range(_TIMES)]  # type: ignore[misc]
    yield within("search: names, nothing like it", middle(absent), FIRST, also=_worst(absent))


def _texts(memories: Memories) -> Iterator[Row]:
    folder = memories.empty("notes-2k")
    for number, text in enumerate(texts_of(NOTES)):
        path = folder / f"area-{number // 1_000:02d}" / f"topic-{number // 100:03d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    state = memories.new_state()
    with open_memory(folder, state=state) as memory:
        memory.reconcile()
        finder = Finder(memory)
        began = time.perf_counter()
        finder.refresh()
        yield Row(f"search: {NOTES:,} notes of 2 KB, all read", seconds(time.perf_counter() - began))
        yield from _typed(finder, Scope.TEXT, f"{NOTES:,} notes", (_RARE, "mi su"))
        memory.execute({"command": "create", "path": "/memories/new.md", "file_text": _RARE}, actor=Person())
        wrote = time.perf_counter()
        finder.refresh()
        assert any(note.path == "new.md" for note in _find(finder, _RARE, Scope.TEXT).text.notes)
        yield Row("search: a new note, from written to found", seconds(time.perf_counter() - wrote))
        words = [_RARE[start : start + 4] for start in range(_TIMES)]  # none narrows the one before
        ours = middle([_timed(lambda word=word: _find(finder, word, Scope.TEXT)) for word in words])  # type: ignore[misc]
        for program in (("rg", "-i", "-n"), ("grep", "-r", "-i", "-n")):
            if shutil.which(program[0]):
                theirs = [_timed(lambda program=program: _run(*program, _RARE, str(folder))) for _ in range(_TIMES)]  # type: ignore[misc]
                yield compared("search: notes, a word at once", ours, middle(theirs), None, name=" ".join(program))
    command = (sys.executable, "-m", "memtui", "search", "--text", _RARE, "--dir", str(folder), "--state", str(state))
    took = [_timed(lambda: _run(*command)) for _ in range(_TIMES + 1)][1:]
    what = f"search: `memtui search --text` over {NOTES:,} notes, the lines that `rg` finds"
    if shutil.which("rg"):
        theirs = [_timed(lambda: _run("rg", "-i", "-n", _RARE, str(folder))) for _ in range(_TIMES)]
        yield compared(what, middle(took), middle(theirs), 1.5, name="rg")
        plain = [_timed(lambda: _run(sys.executable, "-S", "-c", _PLAIN, _RARE, str(folder))) for _ in range(_TIMES)]
        yield compared(
            "search: a program in Python that only reads them", middle(plain), middle(theirs), None, name="rg"
        )
    else:
        yield Row(what, seconds(middle(took)) + _worst(took))


def _past() -> Iterator[Row]:
    with open_in_memory() as memory:
        notes = itertools.cycle(list(texts_of(200)))
        for number in range(VERSIONS):
            text = f"{next(notes)}- as of {number}\n{_RARE if number % 500 == 0 else ''}\n"
            path = f"/memories/note-{number % 200:03d}.md"
            memory.execute({"command": "create", "path": path, "file_text": text}, actor=_CLAUDE)
        finder = Finder(memory)
        began = time.perf_counter()
        finder.refresh()
        yield Row(f"search: a journal of {VERSIONS:,} versions, all read", seconds(time.perf_counter() - began))
        yield from _typed(finder, Scope.PAST, f"{VERSIONS:,} versions", (_RARE,))


def _typed(finder: Finder, scope: Scope, of: str, typed: Sequence[str]) -> Iterator[Row]:
    """First letters, further letters, and what is not there."""
    firsts = [_timed(lambda letter=letter: _find(finder, letter, scope)) for letter in "bdfhj"]  # type: ignore[misc]
    yield within(f"search: {of}, first letter", middle(firsts), FIRST, also=_worst(firsts))
    further: list[float] = []
    for query in typed:
        _find(finder, query[:1], scope)
        further += [
            _timed(lambda query=query, end=end: _find(finder, query[:end], scope))  # type: ignore[misc]
            for end in range(2, len(query) + 1)
        ]
    yield within(f"search: {of}, each further letter", middle(further), FURTHER, also=_worst(further))
    absent = [_timed(lambda number=number: _find(finder, f"{number}{_ABSENT}", scope)) for number in range(_TIMES)]  # type: ignore[misc]
    yield within(f"search: {of}, nothing like it", middle(absent), FIRST, also=_worst(absent))


def _find(finder: Finder, query: str, scope: Scope) -> SearchResults:
    return finder.find(parse_query(query, now_us=0), scope, per_note=5)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _worst(values: Sequence[float]) -> str:
    return f" (worst {seconds(max(values))})"


def _run(*words: str, stdin: Path | None = None) -> None:
    source = subprocess.DEVNULL if stdin is None else stdin.open("rb")
    subprocess.run(words, stdin=source, stdout=subprocess.DEVNULL, check=False)


def _words() -> list[str]:
    """Five thousand words, the first ones as common as in a language."""
    parts = ["mi", "gra", "pla", "bil", "no", "ses", "pro", "te", "con", "fig", "re", "sum", "da", "ta", "qu", "lo"]
    chosen = random.Random(7)
    return ["".join(chosen.choices(parts, k=chosen.randint(1, 4))) for _ in range(5_000)]


def texts_of(count: int) -> Iterator[str]:
    """Notes of 2 KB of such words; every five hundredth has a rare one."""
    chosen, words = random.Random(11), _words()
    weights = [1 / (rank + 5) for rank in range(len(words))]
    for number in range(count):
        said = chosen.choices(words, weights, k=NOTE_BYTES // 6)
        lines = [" ".join(said[at : at + 9]) for at in range(0, len(said), 9)]
        rare = f"\n- {_RARE}\n" if number % 500 == 0 else ""
        yield f"# Note {number}\n\n" + "\n- ".join(lines) + rare + "\n"


def _paths(count: int) -> Iterator[str]:
    chosen = random.Random(13)
    kinds = ["notes", "projects", "people", "learnings", "decisions", "archive", "sessions", "billing"]
    things = ["postgres", "migration", "plan", "standup", "invoice", "retro", "deploy", "onboarding", "search", "index"]
    for number in range(count):
        folder = f"{chosen.choice(kinds)}/{chosen.choice(things)}-{number % 997:03d}"
        yield f"{folder}/{chosen.choice(things)}_{chosen.choice(things)}_{number:06d}.md"
