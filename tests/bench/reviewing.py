"""How long a reviewer waits: the inbox of a long record, what clean-ups dropped, growth; printed, never asserted.

Run: python tests/bench/reviewing.py [EVENTS FILES]
"""

import random
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import memtui
from memtui.audit.fact_loss import DroppedStatement, find_lost_statements
from memtui.audit.growth import collect_growth
from memtui.core.events import Change, EntryKind, Event, Version, sha256
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.review.inbox import ReviewMark, ReviewVerdict
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review
from memtui.store.memory import MemoryStore

T = TypeVar("T")
_SYLLABLES = ("ba", "ko", "ri", "ten", "sul", "mo", "pra", "vi", "lan", "ger", "fu", "nis", "tol", "quar", "del", "em")


def main() -> None:
    """Measure."""
    events, files = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (100_000, 10_000)
    chance = random.Random(6)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)]
    engine = Engine(MemoryStore(), Journal(None))
    timed(f"a record of {events:,} events over {files:,} files", lambda: record(engine, chance, words, events, files))
    half = timed("inbox since the middle", lambda: build_inbox(engine, Review(), since=events // 2))
    print(
        f"{len(half.files):,} changed files, {len(half.runs)} runs, {sum(len(each.lost) for each in half.runs):,} lost"
    )
    found = timed("inbox of all of it", lambda: build_inbox(engine, Review(), since=0))
    timed("the same without runs", lambda: build_inbox(engine, Review(), since=0, runs=False))
    timed("the same below one directory", lambda: build_inbox(engine, Review(), since=0, runs=False, path="notes/7"))
    head = engine.get_head()
    marks = [
        ReviewMark(
            reviewer="ada",
            at_us=1,
            verdict=ReviewVerdict.ACCEPT,
            path=file.path,
            before=file.before.sha256 or "" if file.before else "",
            after=file.after.sha256 or "" if file.after else "",
            seq=head[0],
            head=head[1],
        )
        for file in found.files
    ]
    review = timed(f"{len(marks):,} marks chained and written", lambda: Review().add_marks(marks))
    timed("inbox with these marks", lambda: build_inbox(engine, review))
    timed("growth", lambda: collect_growth(engine, (), time.time_ns() // 1_000))
    print(
        f"{len(found.files):,} changed files, {len(found.runs)} runs, {sum(len(run.lost) for run in found.runs):,} lost"
    )
    notes = [note(chance, words) for _ in range(10_000)]
    gone = [note(chance, words).splitlines()[chance.randint(0, 9)] for _ in range(5_000)]
    kept = [chance.choice(notes).splitlines()[chance.randint(0, 9)].upper() for _ in range(5_000)]
    dropped = [DroppedStatement("a.md", at, text, 1) for at, text in enumerate([*gone, *kept], start=1)]
    said = timed("10,000 dropped lines against 10,000 notes", lambda: find_lost_statements(dropped, notes))
    print(f"{len(said):,} facts lost, of 5,000 that were dropped for good")
    shuffled = shuffles(chance, 1_500, 100)
    rows = timed("one path's history through 100 shuffles of 1,500 notes", lambda: shuffled.history.versions_of("7.md"))
    timed("the first 200 rows of another one", lambda: shuffled.history.versions_of("8.md", limit=200))
    print(f"{len(rows):,} rows")


def shuffles(chance: random.Random, notes: int, times: int) -> Engine:
    """A record of notes that all change places, again and again."""
    engine = Engine(MemoryStore(), Journal(None))
    names = [f"{number}.md" for number in range(notes)]
    stands = {name: Version(EntryKind.FILE, sha256(name.encode()), len(name)) for name in names}
    for at in range(times):
        moved = tuple(zip(names, chance.sample(names, notes), strict=True))
        after = {new: stands[old] for old, new in moved}
        changes = tuple(Change(name, stands[name], after[name]) for name in names)
        event = Event(
            at_us=at, actor=memtui.Agent("a"), command="rename", path="/memories", changes=changes, moved=moved
        )
        engine.journal.append_events([event])
        stands = after
    return engine


def record(engine: Engine, chance: random.Random, words: list[str], events: int, files: int) -> None:
    """Record changes as several actors would make them, without a store: notes first, then a line here and there."""
    standing: dict[str, tuple[Version, str]] = {}
    actors = [memtui.Agent(f"agent {at}", "a-model", f"session {at}") for at in range(5)]
    batch: list[Event] = []
    texts: dict[str, bytes] = {}
    for at in range(events):
        path = f"notes/{at % files // 100}/{at % files}.md"
        old = standing.get(path)
        lines = note(chance, words).splitlines(keepends=True) if old is None else old[1].splitlines(keepends=True)
        if old is not None:
            lines[chance.randrange(len(lines))] = note(chance, words).splitlines(keepends=True)[0]
        text = "".join(lines)
        version = Version(EntryKind.FILE, sha256(text.encode()), len(text))
        texts[version.sha256 or ""] = text.encode()
        change = Change(path, old[0] if old else None, version)
        standing[path] = version, text
        batch.append(
            Event(
                at_us=at * 60_000_000,
                actor=actors[at // 50 % 5],
                command="create" if old is None else "str_replace",
                path=f"/memories/{path}",
                changes=(change,),
                added=len(lines) if old is None else 1,
                removed=0 if old is None else 1,
            )
        )
        if len(batch) == 2_000:
            engine.journal.append_events(batch, texts=texts)
            batch, texts = [], {}
    engine.journal.append_events(batch, texts=texts)


def note(chance: random.Random, words: list[str]) -> str:
    """A note of ten lines."""
    return "".join(f"- {' '.join(chance.choices(words, k=8))}\n" for _ in range(10))


def timed(what: str, act: Callable[[], T]) -> T:
    """Do it, and print how long it took."""
    start = time.perf_counter()
    result = act()
    print(f"{time.perf_counter() - start:8.2f} s  {what}", flush=True)
    return result


if __name__ == "__main__":
    main()
