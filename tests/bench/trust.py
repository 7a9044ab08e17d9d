"""What it costs that nothing is lost: history, proof, getting things back, many writers, and a start after a kill.

Each is compared with the plainest thing that does a part of it: git's log, hashing alone, a plain copy, diff.
"""

import fcntl
import hashlib
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from anthropic.tools import BetaLocalFilesystemMemoryTool

from memtui.core import diffs
from memtui.core.events import Agent, Change, EntryKind, Event, Version, sha256
from memtui.journal.bodies import unpack_body
from memtui.journal.record import KnownPath
from memtui.journal.sqlite import Journal
from memtui.journal.verify import verify_journal
from memtui.memory import JOURNAL
from memtui.memory import open as open_memory
from tests.bench.memories import Memories
from tests.bench.table import Row, compared, middle, seconds

_ACTOR = Agent("bench", "a-model", "a-session")
_TIMES = 5
_MANY = 16
"""Processes that write side by side."""
_EVENT_BYTES = 450
_SECONDS = 3.0
"""For how long processes write side by side."""


def measure(memories: Memories) -> Iterable[Row]:
    """All of it."""
    yield from _history(memories)
    yield from _verify(memories)
    yield from _restore(memories)
    yield from _diff(memories)
    yield from _processes(memories)
    yield from _recovery(memories)


def _history(memories: Memories) -> Iterable[Row]:
    """A note with a thousand versions: its history, who wrote its lines, and the same asked of git."""
    base = memories.empty("history")
    folder, versions = base / "memories", 1_000
    folder.mkdir()
    lines = [f"line {number}\n" for number in range(40)]
    stream: list[bytes] = []
    with open_memory(folder, state=base / "state") as memory:
        for number in range(versions):
            lines[number * 7 % 40] = f"line as of {number}\n"
            text = "".join(lines)
            memory.execute({"command": "create", "path": "/memories/note.md", "file_text": text}, actor=_ACTOR)
            stream.append(_commit(number, text.encode()))
        history = memory.history
        opened = _median(lambda: history.versions_of("note.md"))
        blamed = _median(lambda: history.blame("note.md", (folder / "note.md").read_bytes()))
        first = _median(lambda: history.text(history.versions_of("note.md", limit=40)[0].after))
    repository = base / "repository"
    _git(base, "init", "--quiet", str(repository))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository, input=b"".join(stream), check=True)
    _git(repository, "checkout", "--quiet", "main")
    logged = _median(lambda: _git(repository, "log", "--follow", "--numstat", "--format=%h %an %at", "note.md"))
    git_blamed = _median(lambda: _git(repository, "blame", "--porcelain", "note.md"))
    what = f"history: a note with {versions:,} versions"
    yield compared(f"{what}, all rows", opened, logged, 1.0, name="git log")
    yield Row(f"{what}, the first 40 rows and one text", seconds(first))
    yield compared(f"{what}, who wrote each line", blamed, git_blamed, 1.0, name="git blame")


def _verify(memories: Memories) -> Iterable[Row]:
    """The chain over a hundred thousand events, against hashing the same bytes and nothing else."""
    path, events = memories.empty("verify") / JOURNAL, 100_000
    journal = Journal(str(path))
    wrote = 0.0
    for start in range(0, events, 1_000):
        made = [_event(number) for number in range(start, start + 1_000)]
        texts = {sha256(data): data for data in map(_text, range(start, start + 1_000))}
        known = {change.path: KnownPath(change.after, ()) for event in made for change in event.changes if change.after}
        began = time.perf_counter()
        journal.append_events(made, texts=texts, known=known, durable=False)
        wrote += time.perf_counter() - began
    journal.close()
    with closing(sqlite3.connect(path)) as connection:
        began = time.perf_counter()
        report = verify_journal(connection)
        took = time.perf_counter() - began
        assert report.is_intact, report.findings
        bodies = [unpack_body(row[0]) for row in connection.execute("SELECT body FROM events ORDER BY seq")]
        began = time.perf_counter()
        previous = b""
        for body in bodies:
            previous = hashlib.sha256(previous + body).digest()
        for number in range(events):
            hashlib.sha256(_text(number)).digest()
        hashed = time.perf_counter() - began
    size = sum(len(_text(number)) for number in range(0, events, 100)) / (events / 100)
    yield compared(f"verify: {events:,} events and their texts", took, hashed, 3.0, name="hashing alone")
    each = path.stat().st_size / events
    about = f"{each:.0f} B of which the text is {size:.0f} B before it is packed"
    missed = each > _EVENT_BYTES + size
    yield Row("journal: bytes of one event", about, target=f"≤ {_EVENT_BYTES} B and the text", missed=missed)
    yield Row("journal: recording one event, a thousand together", seconds(wrote / events))


def _restore(memories: Memories) -> Iterable[Row]:
    """Ten thousand files gone at once and back, against copying them, with and without a sync of each."""
    files = 10_000
    base = memories.empty("restore")
    folder = base / "memories"
    shutil.copytree(memories.of_size(files), folder)
    with open_memory(folder, state=base / "state") as memory:
        shutil.rmtree(folder)
        folder.mkdir()
    with open_memory(folder, state=base / "state") as memory:
        loss = memory.loss
        assert loss is not None
        assert loss.deleted == files
        began = time.perf_counter()
        restored = memory.restore_loss()
        took = time.perf_counter() - began
        assert not restored.skipped, restored.skipped[:3]
        assert not restored.problem, restored.problem
    began = time.perf_counter()
    shutil.copytree(folder, base / "copy")
    copied = time.perf_counter() - began
    began = time.perf_counter()
    for source in sorted(folder.rglob("*.md")):
        target = base / "synced" / source.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            file.write(source.read_bytes())
            file.flush()
            os.fsync(file.fileno())
    synced = time.perf_counter() - began
    what = f"restore: {files:,} files"
    yield compared(what, took, synced, None, name="a copy that syncs each file")
    yield compared(what, took, copied, 4.0, name="a copy that syncs nothing")


def _diff(memories: Memories) -> Iterable[Row]:
    """Two notes of a megabyte that differ in a hundred places, and two that have hardly a line in common."""
    base = memories.empty("diff")
    old = [f"{number} a line of a note that an agent keeps about its work\n" for number in range(17_000)]
    near = [f"changed {number}\n" if number % 170 == 0 else line for number, line in enumerate(old)]
    far = [f"{number * 7919 % 17_000} other words, and some that stand in both\n" for number in range(17_000)]
    for name, new in (("in 100 places", near), ("everywhere", far)):
        (base / "old").write_text("".join(old), encoding="utf-8")
        (base / "new").write_text("".join(new), encoding="utf-8")
        before, after = "".join(old), "".join(new)
        ours = _median(lambda before=before, after=after: diffs.format_unified(before, after))  # type: ignore[misc]
        theirs = _median(lambda: _diff_of(base))
        yield compared(f"diff: two notes of 1 MB that differ {name}", ours, theirs, 2.0, name="diff -u")


def _diff_of(base: Path) -> None:
    subprocess.run(["diff", "-u", "old", "new"], cwd=base, capture_output=True, check=False)


def _processes(memories: Memories) -> Iterable[Row]:
    """Commands a second, by several processes on one folder: each through its own engine, or its own SDK tool.

    The SDK's tool knows no turns. Where it takes them, by a lock around each call, is shown beside it.
    """
    for count in (1, 4, _MANY):
        ours, plain, in_turn = (
            _call_often(memories.empty(f"processes-{count}-{who.replace(' ', '-')}"), count, who)
            for who in ("ours", "SDK", "SDK in turn")
        )
        rate, theirs, turned = (sum(calls for calls, _ in each) / _SECONDS for each in (ours, plain, in_turn))
        shares = [calls / _SECONDS for calls, _ in ours]
        fairness = f" ({min(shares):,.0f} to {max(shares):,.0f} each" if count > 1 else " ("
        target = 1.0 if count == _MANY else None
        yield Row(
            f"writers: commands a second by {count} {'process' if count == 1 else 'processes'}",
            f"{rate:,.0f}{fairness}{', ' if count > 1 else ''}slowest {seconds(max(worst for _, worst in ours))})",
            f"SDK, which loses updates, {theirs:,.0f}; in turn {turned:,.0f}",
            f"{rate / theirs:.2f}; {rate / turned:.2f}",
            "" if target is None else f"≥ {target:g}",
            missed=target is not None and rate / theirs < target,
        )


def _call_often(base: Path, count: int, who: str) -> list[tuple[int, float]]:
    """How many calls each process made, and the seconds of its slowest."""
    (base / "memories").mkdir()
    if who == "ours":
        open_memory(base / "memories", state=base / "state").close()
    context = multiprocessing.get_context("spawn")
    barrier, done = context.Barrier(count + 1), context.Queue()
    processes = [
        context.Process(target=_write, args=(str(base), number, who, barrier, done)) for number in range(count)
    ]
    for process in processes:
        process.start()
    barrier.wait(120)
    made = [done.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    return made


def _write(base: str, number: int, who: str, barrier: Any, done: Any) -> None:
    if who == "ours":
        memory = open_memory(f"{base}/memories", state=f"{base}/state")

        def call(command: dict[str, Any]) -> None:
            answer = memory.execute(command, actor=_ACTOR)
            assert not answer.is_error, answer.text
    else:
        tool = BetaLocalFilesystemMemoryTool(base)
        lock = os.open(f"{base}/lock", os.O_RDWR | os.O_CREAT)

        def call(command: dict[str, Any]) -> None:
            if who == "SDK":
                tool.call(command)
                return
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                tool.call(command)
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)

    path = f"/memories/note-{number}.md"
    call({"command": "create", "path": path, "file_text": "a line\n" * 10})
    barrier.wait(120)
    count, worst, now = 0, 0.0, time.monotonic()
    until = now + _SECONDS
    while now < until:
        began = now
        call({"command": "insert", "path": path, "insert_line": 0, "insert_text": f"line {count % 10}"})
        count += 1
        if count % 50 == 0:
            call({"command": "delete", "path": path})
            call({"command": "create", "path": path, "file_text": "a line\n" * 10})
            count += 2
        now = time.monotonic()
        worst = max(worst, now - began)
    done.put((count, worst))


def _recovery(memories: Memories) -> Iterable[Row]:
    """The first command after a kill in the middle of another, in a folder of 100,000 files."""
    files = 100_000
    folder, state = memories.of_size(files), memories.known_state(files)
    took: dict[str, list[float]] = {"after a kill": [], "after an ordinary end": []}
    for _ in range(3):
        for how, times in took.items():
            if how == "after a kill":
                subprocess.run([sys.executable, "-c", _KILLED, str(folder), str(state)], check=False)
            began = time.perf_counter()
            with open_memory(folder, state=state) as memory:
                memory.execute({"command": "create", "path": "/memories/after.md", "file_text": "x\n"}, actor=_ACTOR)
            times.append(time.perf_counter() - began)
    killed, ended = (middle(times) for times in took.values())
    yield compared(f"recovery: opening {files:,} files after a kill", killed, ended, None, name="after an ordinary end")


_KILLED = """
import os
import sys
from memtui.core.events import Agent
from memtui.memory import connect
from memtui.store import recovery
recovery.SyncBatch.sync = lambda *_: os.kill(os.getpid(), 9)
with connect(sys.argv[1], state=sys.argv[2]) as memory:
    memory.execute({"command": "create", "path": "/memories/killed.md", "file_text": "y"}, actor=Agent("bench"))
"""


def _event(number: int) -> Event:
    data = _text(number)
    after = Version(EntryKind.FILE, sha256(data), len(data))
    return Event(
        at_us=1_700_000_000_000_000 + number,
        actor=_ACTOR,
        command="create",
        path=f"/memories/notes/{number}.md",
        answer=f"File created successfully at: /memories/notes/{number}.md",
        changes=(Change(f"notes/{number}.md", None, after),),
        added=4,
        removed=0,
        duration_us=1_234,
        call_id=f"toolu_{number:08}",
    )


def _text(number: int) -> bytes:
    return b"# Note %d\n\nWhat an agent wrote down about %d.\n" % (number, number) + b"- one thing and another\n" * 6


def _commit(number: int, text: bytes) -> bytes:
    who = f"bench <bench@localhost> {1_700_000_000 + number} +0000".encode()
    return (b"commit refs/heads/main\ncommitter %b\ndata 1\nx\nM 100644 inline note.md\ndata %d\n%b\n") % (
        who,
        len(text),
        text,
    )


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _median(act: Callable[[], object]) -> float:
    times = []
    for _ in range(_TIMES):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return middle(times)
