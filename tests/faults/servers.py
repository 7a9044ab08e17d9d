"""`python -m tests.faults.servers WRITERS EDITS STORES KILLS`: a server that is killed while many machines write to it.

Each writer has a copy of its own, and makes so many edits of notes that all writers of its store write to. What is
refused is tried again; what nobody knows is asked back by its call, and tried again where it was not done. The last
line of the output is JSON: how many edits were acknowledged and how many of these were asked back, how often the server
was killed, how many seconds it took, and what was found wrong.
"""

import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import memtui
from memtui.core.errors import LockTimeout, StateUnusable
from memtui.engine import Engine
from memtui.postgres.journal import ServerJournal
from tests.pg_server import OwnServer, run_server

_LINES = 8
"""Lines of each writer in a note: one that grew for ever would make every version of it larger."""
_LOCK = 50.0
_PAUSE = 0.05
_DEADLINE = 300.0
"""Seconds in which an edit has to be acknowledged, however often the server is killed meanwhile."""
_PASSING = ("UNRECORDED", "BUSY", "SYSTEM")
_DONE, _ASKED_BACK = b".", b"?"


class _Writer:
    """One machine that writes to a store.

    Args:
        report: A descriptor to which each acknowledged edit is written as a byte.
    """

    def __init__(self, engine: Engine, number: int, report: int) -> None:
        self._engine = engine
        self._number = number
        self._report = report

    def edit(self, turn: int) -> None:
        """Two edits: a line into a note that all write to, and a change of that line."""
        path, line = f"/memories/{_note(turn)}", f"w{self._number}.{turn}"
        self._ask(f"{line}.0", command="insert", path=path, insert_line=0, insert_text=f"{line} new\n")
        self._ask(f"{line}.1", command="str_replace", path=path, old_str=f"{line} new\n", new_str=f"{line} changed\n")

    def _ask(self, call: str, **words: object) -> None:
        until = time.monotonic() + _DEADLINE
        while True:
            base = self._engine.get_head()[0]
            answer = self._engine.execute(words, actor=memtui.Agent(f"writer {self._number}"), call_id=call)
            if not answer.is_error:
                os.write(self._report, _DONE)
                return
            event = answer.event
            is_unknown = event is not None and event.note == "uncertain"
            if is_unknown and self._find(call, base, until):
                os.write(self._report, _ASKED_BACK)
                return
            if not is_unknown and answer.refusal not in _PASSING:
                raise AssertionError(f"{words}: {answer.text}")
            if time.monotonic() > until:
                raise AssertionError(f"{words}: not in time: {answer.text}")
            time.sleep(_PAUSE)

    def _find(self, call: str, base: int, until: float) -> bool:
        """Whether a call is on the server, once it can be asked."""
        journal: Any = self._engine.journal
        assert isinstance(journal, ServerJournal)
        while True:
            try:
                journal.catch_up()
            except (StateUnusable, LockTimeout):
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)
            else:
                return any(event.call_id == call for event in self._engine.events(after=base))


def _note(turn: int) -> str:
    return f"{turn // _LINES // 100}/{turn // _LINES}.md"


def _open(place: str, state: Path) -> Engine:
    """Open the store, once the server is there."""
    until = time.monotonic() + _DEADLINE
    while True:
        try:
            return memtui.open(place, state=state, settings=memtui.Settings(lock_seconds=_LOCK))
        except (StateUnusable, LockTimeout):
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def _write(place: str, state: Path, number: int, edits: int, report: int) -> None:
    with _open(place, state) as engine:
        writer = _Writer(engine, number, report)
        for turn in range(edits // 2):
            writer.edit(turn)


def _find_wrong(place: str, state: Path, writers: list[int], edits: int) -> Iterator[str]:
    """What is not there once, as it was acknowledged, and whatever is untrue of a store."""
    turns = [(number, turn) for number in writers for turn in range(edits // 2)]
    expected = Counter(f"w{number}.{turn} changed" for number, turn in turns)
    calls = Counter(f"w{number}.{turn}.{step}" for number, turn in turns for step in (0, 1))
    with memtui.open(place, state=state) as engine:
        if not engine.journal.verify().is_intact:
            yield f"{place}: {engine.journal.verify()}"
        contents = engine.store.scan_contents(limit=1 << 30)
        texts = [content.data.decode() for _, content in contents if hasattr(content, "data")]
        recorded = Counter(event.call_id for event in engine.events() if event.call_id and event.changes)
    found = Counter(line for text in texts for line in text.splitlines())
    for what, wanted, there in (("lines", expected, found), ("events", calls, recorded)):
        if lost := wanted - there:
            yield f"{place}: {lost.total()} {what} are lost: {list(lost)[:5]}"
        if more := there - wanted:
            yield f"{place}: {more.total()} {what} are too many: {list(more)[:5]}"


def _run(server: OwnServer, top: Path, writers: int, edits: int, stores: int, kills: int) -> dict[str, object]:
    places = [server.address(f"s{number}") for number in range(stores)]
    for number, place in enumerate(places):
        with memtui.open(place, state=top / f"first-{number}") as engine:
            for turn in range(0, max(edits // 2, 1), _LINES):
                command = {"command": "create", "path": f"/memories/{_note(turn)}", "file_text": ""}
                assert not engine.execute(command, actor=memtui.Agent("first")).is_error
    started = time.monotonic()
    reading, writing = os.pipe()
    pids = []
    for number in range(writers):
        pids.append(os.fork())
        if pids[-1] == 0:
            os.close(reading)
            code = 1
            try:
                _write(places[number % stores], top / f"w{number}", number, edits, writing)
                code = 0
            except BaseException:  # the process ends behind it
                traceback.print_exc()
            finally:
                os._exit(code)
    os.close(writing)
    total, seen, killed = writers * (edits // 2 * 2), Counter[int](), 0
    while data := os.read(reading, 1 << 16):
        seen.update(data)
        if killed < kills and seen.total() >= total * (killed + 1) // (kills + 1):
            killed += 1
            server.kill()
            server.start_again()
    ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    took = time.monotonic() - started
    wrong = [f"{sum(map(bool, ends))} writers failed"] if any(ends) else []
    for number, place in enumerate(places):
        mine = [each for each in range(writers) if each % stores == number]
        wrong += _find_wrong(place, top / f"last-{number}", mine, edits)
    return {
        "edits": seen.total(),
        "asked_back": seen[_ASKED_BACK[0]],
        "kills": killed,
        "seconds": round(took, 1),
        "wrong": wrong[:50],
    }


def main(words: list[str]) -> int:
    """Have as many written, by as many, into as many stores, through as many kills, as was asked for."""
    writers, edits, stores, kills = map(int, words)
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (
        run_server("fsync=on", f"max_connections={writers + stores + 20}") as server,
        tempfile.TemporaryDirectory(prefix="memtui-servers-", dir=base) as top,
    ):
        found = _run(server, Path(top), writers, edits, stores, kills)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
