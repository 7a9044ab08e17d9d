"""`python -m tests.faults.killing COUNT SEED`: writers that are killed at random moments, and what came of it.

A process of its own, because it forks. The last line of its output is JSON: how many were killed, how many answers
were given, how many seconds it took, and what was found wrong.
"""

import contextlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import memtui
from memtui.core.errors import MemtuiError
from memtui.core.events import Answer, Event, Version
from memtui.core.history import ActionResult
from memtui.engine import Engine
from tests.faults import checking, work

TOGETHER = 4
"""How many write at a time."""
LIFE = 0.06
"""Seconds that one lives at most, where the machine is quick enough for them to get `ANSWERS` in it."""
ANSWERS = 2
"""How many answers there are to be to each kill; lives are longer while there are fewer."""
_LONGER = 1.05
_PATIENCE = 10.0
_GENERATIONS = 60
"""How many writers share a list; a list that grew for ever would make every version of it larger."""

Say = Callable[..., None]


def write_for_ever(folder: Path, state: Path, number: int, pipe: int) -> None:
    """Do everything that can be done, again and again, and say what was answered."""
    engine = memtui.open(folder, state=state)

    def say(name: str, outcome: str, **more: object) -> None:
        os.write(pipe, json.dumps({"name": name, "outcome": outcome, **more}).encode() + b"\n")

    round_ = 0
    while True:
        round_ += 1
        name = f"{number}.{round_}"
        _one_round(engine, name, f"list-{number // _GENERATIONS}", say)


def _one_round(engine: Engine, name: str, list_: str, say: Say) -> None:
    def ask(step: str, **words: object) -> Answer:
        answer = engine.execute(words, actor=memtui.Agent("killed"), call_id=f"{name}.{step}")
        uncertain = "did not confirm" in answer.text
        outcome = "uncertain" if uncertain else "refused" if answer.is_error else "ok"
        say(f"{name}.{step}", outcome, seq=answer.event.seq, hash=answer.event.hash, text=answer.text[:200])
        return answer

    def person(step: str, act: Callable[[str], ActionResult]) -> ActionResult:
        try:
            restored = act(f"{name}.{step}")
        except MemtuiError as error:
            say(f"{name}.{step}", "raised", text=str(error))
            return ActionResult()
        event = restored.event
        seq, hash_ = (event.seq, event.hash) if event else (0, "")
        say(f"{name}.{step}", "ok" if event else "refused", seq=seq, hash=hash_, text=restored.problem[:200])
        return restored

    ask("insert", command="insert", path=f"/memories/{list_}", insert_line=0, insert_text=name)
    made = ask("create", command="create", path=f"/memories/n-{name}", file_text=f"{name}\n")
    ask("rename", command="rename", old_path=f"/memories/n-{name}", new_path=f"/memories/d/e/m-{name}")
    ask("replace", command="str_replace", path=f"/memories/d/e/m-{name}", old_str=name, new_str=f"{name}!")
    ask("over", command="create", path="/memories/shared", file_text=f"{name} {work.LONG}")
    seen = engine.inspect_path("shared").data
    if seen is not None:
        based_on = work.version(seen.decode())
        person("write", lambda note: engine.write("shared", f"mine {name}\n".encode(), based_on=based_on, note=note))
    wanted: dict[str, Version | None] = {f"r/{name}": work.version(f"{name}\n"), f"d/e/m-{name}": None}
    person("restore", lambda note: engine.restore(wanted, note=note))
    if not made.is_error:
        person("undo", lambda _: engine.undo([made.event.seq]))
    ask("delete", command="delete", path="/memories/d")
    ask("delete r", command="delete", path="/memories/r")


class Killer:
    """Starts writers and kills them.

    Args:
        folder: Where they write; it is made.
        state: Where the journal lies.
        seed: What chance begins with.
    """

    def __init__(self, folder: Path, state: Path, seed: int) -> None:
        self.folder, self.state = folder, state
        self.folder.mkdir()
        memtui.open(self.folder, state=self.state).close()
        self._chance = random.Random(seed)
        self._reading, self._writing = os.pipe()
        self._said = b""
        self._number = 0
        self._life = LIFE
        self._until: dict[int, float] = {}
        self._alive: dict[int, int] = {}
        self.wrong: list[str] = []
        self.said: list[dict[str, object]] = []

    def kill(self, count: int) -> None:
        """Kill so many, never fewer than `TOGETHER` alive."""
        killed = 0
        while killed < count:
            while len(self._alive) < min(TOGETHER, count - killed):
                self._start()
            now = time.monotonic()
            pid = min(self._until, key=lambda each: self._until[each])
            self._listen(max(self._until[pid] - now, 0.0))
            if time.monotonic() >= self._until[pid]:
                os.kill(pid, signal.SIGKILL)
                self._bury(pid)
                killed += 1
                too_few = len(self.said) < ANSWERS * killed
                self._life = self._life * _LONGER if too_few else max(LIFE, self._life / _LONGER)
        self._listen(0.0)

    def _start(self) -> None:
        number, self._number = self._number, self._number + 1
        if number % _GENERATIONS == 0:
            (self.folder / f"list-{number // _GENERATIONS}").touch()
        pid = os.fork()
        if pid == 0:
            try:
                write_for_ever(self.folder, self.state, number, self._writing)
            except BaseException as error:
                with contextlib.suppress(OSError):
                    words = {"name": str(number), "outcome": "raised", "text": repr(error)[:300]}
                    os.write(self._writing, json.dumps(words).encode() + b"\n")
            finally:
                os._exit(70)
        self._alive[pid] = number
        self._until[pid] = time.monotonic() + self._chance.uniform(0.0, self._life)

    def _bury(self, pid: int) -> None:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status != -signal.SIGKILL:
            self.wrong.append(f"writer {self._alive[pid]} ended by itself: {status}")
        del self._alive[pid], self._until[pid]

    def _listen(self, seconds: float) -> None:
        """Hear what is said, for so long."""
        until = time.monotonic() + seconds
        while select.select([self._reading], [], [], max(until - time.monotonic(), 0.0))[0]:
            self._said += os.read(self._reading, 1 << 16)
            *lines, self._said = self._said.split(b"\n")
            self.said.extend(map(json.loads, lines))

    def judge(self) -> None:
        """Hold everything that was said against what there is."""
        started = time.monotonic()
        engine = memtui.open(self.folder, state=self.state)
        with engine:
            if time.monotonic() - started > _PATIENCE:
                self.wrong.append("a lock was left")
            with engine.store.begin_transaction(1.0):
                pass
            self.wrong += checking.untrue(engine, self.state)
            self.wrong += checking.left_over(self.folder, self.state)
            self.wrong += self._contradictions(list(engine.events()))

    def _contradictions(self, events: list[Event]) -> Iterator[str]:
        by_seq = {event.seq: event for event in events}
        done = Counter(event.call_id for event in events if event.call_id and event.changes)
        for name, times in done.items():
            if times > 1:
                yield f"{name} was recorded {times} times"
        for said in self.said:
            name, outcome = said["name"], said["outcome"]
            recorded = by_seq.get(said.get("seq", 0))  # type: ignore[arg-type]
            if outcome == "raised" or "busy" in str(said["text"]) or "journal" in str(said["text"]):
                yield f"{said}"
            elif outcome == "ok" and (recorded is None or recorded.hash != said["hash"]):
                yield f"{said} was lost"
            elif outcome == "refused" and done[name]:
                yield f"{said}, but it was done"
        yield from self._lost_lines()
        yield from self._strangers(events)

    def _strangers(self, events: list[Event]) -> Iterator[str]:
        """What is recorded as another program's, though there is none."""
        for event in events:
            if event.is_outside and not all(change.path.startswith("list-") for change in event.changes):
                yield f"nobody else wrote, but there is {event.command} {event.path} {event.changes}"

    def _lost_lines(self) -> Iterator[str]:
        """Lines that were acknowledged and are not there, or twice."""
        lines = Counter(line for path in self.folder.glob("list-*") for line in path.read_text().split())
        for said in self.said:
            name = str(said["name"])
            if name.endswith(".insert") and lines[name.removesuffix(".insert")] != (said["outcome"] == "ok"):
                yield f"{said}, but its line is there {lines[name.removesuffix('.insert')]} times"


def main(words: list[str]) -> int:
    """Kill as many as was asked for."""
    count, seed = map(int, words)
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="memtui-kills-", dir=base) as top:
        started = time.monotonic()
        killer = Killer(Path(top, "folder"), Path(top, "state"), seed)
        killer.kill(count)
        took = time.monotonic() - started
        killer.judge()
        answers = Counter(said["outcome"] for said in killer.said)
        found = {"killed": count, "answers": answers, "seconds": took, "wrong": killer.wrong[:50]}
        sys.stdout.write(json.dumps({**found, "in_all": time.monotonic() - started}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
