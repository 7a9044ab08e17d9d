"""`python -m tests.faults.crowd EDITS WRITERS`: processes that edit the same notes at once, and what came of it.

Each writes a line into a note that all of them write to, and changes that line; so many times this is done in all. The
last line of its output is JSON: how many edits were acknowledged, how many seconds it took, and what was found wrong.
"""

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import memtui
from memtui.core.events import Event
from tests.faults import checking

_LINES = 8
"""Lines of each writer in a note: one that grew for ever would make every version of it larger."""
_LOCK = 100.0


def _write(folder: Path, state: Path, number: int, edits: int) -> int:
    """Edit so often; how many of them were acknowledged."""
    done = 0
    with memtui.open(folder, state=state, settings=memtui.Settings(lock_seconds=_LOCK)) as engine:

        def ask(**words: object) -> bool:
            answer = engine.execute(words, actor=memtui.Agent(f"writer {number}"))
            if answer.is_error:
                sys.stderr.write(f"{words}: {answer.text}\n")
            return not answer.is_error

        for turn in range(edits // 2):
            path, line = f"/memories/{_note(turn)}", f"w{number}.{turn}"
            done += ask(command="insert", path=path, insert_line=0, insert_text=f"{line} new\n")
            done += ask(command="str_replace", path=path, old_str=f"{line} new\n", new_str=f"{line} changed\n")
    return done


def _note(turn: int) -> str:
    return f"{turn // _LINES // 100}/{turn // _LINES}.md"


def _wrong(folder: Path, state: Path, writers: int, edits: int) -> Iterator[str]:
    """Every line that is not there once, as it was changed, and whatever is untrue in the journal."""
    expected = Counter(f"w{number}.{turn} changed" for number in range(writers) for turn in range(edits // 2))
    found = Counter(line for path in folder.rglob("*.md") for line in path.read_text().splitlines())
    if lost := expected - found:
        yield f"{lost.total()} edits are lost: {list(lost)[:5]}"
    if more := found - expected:
        yield f"{more.total()} lines are too many: {list(more)[:5]}"
    with memtui.open(folder, state=state) as engine:
        yield from checking.untrue(engine, state)
        yield from checking.left_over(folder, state)
        events: list[Event] = list(engine.events())
    strangers = [event for event in events if event.is_outside and event.command != "found"]
    if strangers:
        yield f"{len(strangers)} are taken for another program's: {strangers[0]}"
    recorded = Counter(event.command for event in events)
    if (recorded["insert"], recorded["str_replace"]) != (writers * (edits // 2),) * 2:
        yield f"recorded are {recorded}"


def main(words: list[str]) -> int:
    """Have as many written, by as many, as was asked for."""
    edits, writers = map(int, words)
    each = edits // writers // 2 * 2
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="memtui-crowd-", dir=base) as top:
        folder, state = Path(top, "folder"), Path(top, "state")
        for turn in range(0, each // 2, _LINES):
            (folder / _note(turn)).parent.mkdir(parents=True, exist_ok=True)
            (folder / _note(turn)).touch()
        memtui.open(folder, state=state).close()
        started = time.monotonic()
        reading, writing = os.pipe()
        pids = []
        for number in range(writers):
            pids.append(os.fork())
            if pids[-1] == 0:
                os.write(writing, b"%d\n" % _write(folder, state, number, each))
                os._exit(0)
        ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        os.close(writing)
        took = time.monotonic() - started
        with os.fdopen(reading) as said:
            done = sum(map(int, said))
        wrong = [f"writers ended with {ends}"] if any(ends) else []
        wrong += _wrong(folder, state, writers, each)
    found = {"edits": done, "writers": writers, "seconds": took, "wrong": wrong[:50]}
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
