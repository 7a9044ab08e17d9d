"""Memories on a PostgreSQL server of our own, on this machine: its processes take part of the same processors."""

import contextlib
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

from memtui.core.events import Agent, Change, EntryKind, Event, Version, sha256
from memtui.core.settings import Settings
from memtui.engine import Engine
from memtui.journal import chain
from memtui.memory import connect
from memtui.memory import open as open_memory
from memtui.postgres.dsn import parse_address
from memtui.postgres.server import Addition, NewEvent, Seen, Server
from memtui.watch import FolderWatcher
from tests import pg_server
from tests.bench.memories import Memories
from tests.bench.table import Row, middle, nearly_worst, seconds, within
from tests.bench.terminal import Terminal, memtui

WRITERS, STORES, COMMANDS = 64, 16, 60
WAYS = (
    ("in four processes of one machine", 4, True),
    ("each a process of one machine", WRITERS, True),
    ("each a process with a copy of its own", WRITERS, False),
)
"""Where the writers are: what a row says, how many processes, and whether these share their copies."""
RATE = 1_000.0
SIZES = ((10_000, 1_000), (1_000_000, 100_000))
"""Events and notes of a store that is opened."""
OPEN_LIMIT = 1.0
SCREENS, CHANGES = 50, 40
DELAY_LIMIT = 0.3
_WARM = 5
_PAUSE = 0.3
_PAGE = 2_000
_DRAWN = 0.05
"""Seconds until all of the first names are drawn."""
_AREA = 10_000
"""Notes in each directory of the first level."""
_ACTOR = Agent("bench")
_SETTINGS = Settings(lock_seconds=60)
_TIMES = struct.Struct("qd")


def measure(memories: Memories) -> Iterable[Row]:
    """Commands a second, a store that is opened, and a change on its way to whoever looks."""
    if pg_server.MISSING:
        yield Row("server", pg_server.MISSING)
        return
    with pg_server.run_server("fsync=on", f"max_connections={2 * (WRITERS + SCREENS)}") as server:
        yield _measure_one(server.address("one"), memories.empty("server-one"))
        for name, processes, is_shared in WAYS:
            number = f"{processes}-{is_shared}"
            top = memories.empty(f"server-{number}")
            rate = _measure_rate(
                lambda store, of=number: server.address(f"{store}-{of}"), top, processes, is_shared=is_shared
            )
            what = f"server: commands a second of {WRITERS} writers, {name}, in {STORES} stores"
            yield Row(what, f"{rate:,.0f}", target=f"≥ {RATE:,.0f}", missed=rate < RATE)
        for events, notes in SIZES:
            yield from _measure_opening(server.address(f"n{events}"), memories.empty(f"server-{events}"), events, notes)
        delays = _measure_delays(server.address("screens"), memories.empty("server-screens"))
        delays.sort()
        what = f"server: a change at {SCREENS} copies that are watched, p95"
        yield within(what, delays[int(len(delays) * 0.95)], DELAY_LIMIT, also=f" (median {seconds(middle(delays))})")


def _create(number: int, who: int) -> dict[str, object]:
    return {"command": "create", "path": f"/memories/w{who}/n{number}.md", "file_text": f"note {number}\n" * 8}


def _measure_one(place: str, state: Path) -> Row:
    times: list[float] = []
    with open_memory(place, state=state) as engine:
        for number in range(_WARM + 4 * COMMANDS):
            began = time.perf_counter()
            answer = engine.execute(_create(number, 0), actor=_ACTOR)
            times.append(time.perf_counter() - began)
            assert not answer.is_error, answer.text
    times = times[_WARM:]
    return Row("server: create, one writer", f"{seconds(middle(times))} (p99 {seconds(nearly_worst(times))})")


@contextlib.contextmanager
def _fork(count: int, work: Callable[[int, int, int], None]) -> Iterator[tuple[int, int, list[int]]]:
    """Processes that work as `work(number, go, report)`; a descriptor to start them by, one to read from, their ids."""
    reading, report = os.pipe()
    go, start = os.pipe()
    pids = []
    for number in range(count):
        pids.append(os.fork())
        if pids[-1] == 0:
            code = 1
            try:
                os.close(start)
                os.close(reading)
                work(number, go, report)
                code = 0
            finally:
                os._exit(code)
    os.close(go)
    os.close(report)
    try:
        yield start, reading, pids
    finally:
        with contextlib.suppress(OSError):
            os.close(start)
        ends = [os.waitpid(pid, 0)[1] for pid in pids]
        os.close(reading)
        assert not any(ends), ends


def _read_times(reading: int, count: int) -> list[tuple[int, float]]:
    data = b""
    while len(data) < count * _TIMES.size:
        more = os.read(reading, count * _TIMES.size - len(data))
        assert more, "a process has ended"
        data += more
    return list(_TIMES.iter_unpack(data))


def _measure_rate(get_place: Callable[[int], str], top: Path, processes: int, *, is_shared: bool) -> float:
    """Commands a second of all writers. Those of a process are its threads, with an engine for each store."""
    for store in range(STORES):
        open_memory(get_place(store), state=top / f"s{store}").close()

    def work(process: int, go: int, report: int) -> None:
        writers = range(process, WRITERS, processes)
        with contextlib.ExitStack() as engines:
            opened: dict[str, Engine] = {}
            for writer in writers:
                name = f"s{writer % STORES}" if is_shared else f"w{writer}"
                if name not in opened:
                    engine = open_memory(get_place(writer % STORES), state=top / name, settings=_SETTINGS)
                    opened[name] = engines.enter_context(engine)

            def write(writer: int, numbers: range) -> None:
                engine = opened[f"s{writer % STORES}" if is_shared else f"w{writer}"]
                for number in numbers:
                    answer = engine.execute(_create(number, writer), actor=_ACTOR)
                    assert not answer.is_error, answer.text

            with ThreadPoolExecutor(len(writers)) as pool:
                list(pool.map(write, writers, repeat(range(-_WARM, 0))))
                os.write(report, _TIMES.pack(process, 0.0))
                os.read(go, 1)
                list(pool.map(write, writers, repeat(range(COMMANDS))))
            os.write(report, _TIMES.pack(process, time.monotonic()))

    with _fork(processes, work) as (start, reading, _):
        _read_times(reading, processes)
        began = time.monotonic()
        os.close(start)
        ended = max(at for _, at in _read_times(reading, processes))
    return WRITERS * COMMANDS / (ended - began)


def _measure_opening(place: str, top: Path, events: int, notes: int) -> Iterator[Row]:
    _fill(place, events, notes)
    what = f"server: open a store of {events:,} events and {notes:,} notes"
    began = time.perf_counter()
    connect(place, state=top / "state").close()
    yield Row(f"{what}, first time on a machine", seconds(time.perf_counter() - began))
    times = []
    for _ in range(5):
        began = time.perf_counter()
        with connect(place, state=top / "state") as engine:
            list(engine.journal.get_events(engine.get_head()[0] - 100))
            times.append(time.perf_counter() - began)
    yield within(f"{what}, again", middle(times), OPEN_LIMIT)
    named, moved = [], []
    for number in range(_WARM + 1):
        with Terminal(memtui(place, top / "state")) as terminal:
            named.append(terminal.when(f"note-{notes - 1}") - terminal.started)
            terminal.rest(_DRAWN)
            mark = terminal.mark
            moved.append(-terminal.press("k") + terminal.when(r"note-\d", after=mark))  # the cursor begins where it was
            if number == 0:
                terminal.settle()  # the first one compiles
    also = f" (the first key {seconds(middle(moved[1:]))})"
    yield within(f"{what}, on the screen", middle(named[1:]), OPEN_LIMIT, also=also)


def _fill(place: str, events: int, notes: int) -> None:
    """Have each note written by as many events as there are for each."""
    seq, previous, now = 0, chain.START, time.time_ns() // 1_000
    with contextlib.closing(Server(parse_address(place))) as server:
        while seq < events:
            page, texts = [], {}
            for number in range(seq, min(seq + _PAGE, events)):
                note, turn = number % notes, number // notes
                path = f"area-{note // _AREA}/topic-{note // 100}/note-{note}.md"
                data, before = (f"# Note {note}\n\nturn {each}\n".encode() for each in (turn, turn - 1))
                was = Version(EntryKind.FILE, sha256(before), len(before)) if turn else None
                change = Change(path, was, Version(EntryKind.FILE, sha256(data), len(data)))
                texts[sha256(data)] = data
                page.append(
                    Event(
                        at_us=now + number,
                        actor=_ACTOR,
                        command="create",
                        path=f"/memories/{path}",
                        changes=(change,),
                        answer="ok",
                    )
                )
            linked = chain.link_events(page, seq, previous)
            rows = [NewEvent(*chain.split_body(body, each.seq), b"ok", None) for body, each in linked]
            seq, previous, _, _ = server.append(Seen(seq, previous), Addition(rows, texts))


def _measure_delays(place: str, top: Path) -> list[float]:
    """Seconds from the answer of each change until each watcher has seen it."""
    open_memory(place, state=top / "writer").close()

    def work(number: int, go: int, report: int) -> None:
        with connect(place, state=top / f"w{number}") as engine:
            seen = 0

            def note() -> None:
                nonlocal seen
                head, at = engine.get_head()[0], time.monotonic()
                while seen < head:
                    seen += 1
                    os.write(report, _TIMES.pack(seen, at))

            watch = FolderWatcher(engine, place, str(top / f"w{number}"), changed=note)
            watch.start()
            os.read(go, 1)
            watch.stop()

    answered: dict[int, float] = {}
    with _fork(SCREENS, work) as (start, reading, _), open_memory(place, state=top / "writer") as engine:
        for number in range(-_WARM, CHANGES):
            if number == 0:
                _read_times(reading, SCREENS * _WARM)  # all are watching
            assert not engine.execute(_create(number, 0), actor=_ACTOR).is_error
            answered[engine.get_head()[0]] = time.monotonic()
            time.sleep(_PAUSE + 0.007 * (number % 11))  # not in step with any timer
        times = _read_times(reading, SCREENS * CHANGES)
        os.close(start)
    return [at - answered[seq] for seq, at in times]
