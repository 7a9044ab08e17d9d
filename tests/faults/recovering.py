"""`python -m tests.faults.recovering WHAT COUNT [SEED]`: a second fault, in the recovery from a first one.

One process does something and is killed at some call, or meets a disk that fails on and on. The next one recovers,
by looking or by doing the same again, and is cut or failed at one of its calls as well. Then somebody opens the folder
for whom all goes well, and finds it as it was or as it was to be, and nobody else named for any of it. The last line of
the output is JSON: how many cases of each kind, how many seconds, and what was found wrong.
"""

import contextlib
import errno
import json
import random
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memtui.core.errors import MemtuiError
from tests.faults import checking, tracing, work
from tests.faults.tracing import Fault, How
from tests.faults.trying import CODES, LASTING, Bench, Tally, open_bench
from tests.faults.work import Said

_AGAIN = "again"
_CODES = tuple(code for code in CODES if code != errno.EACCES)
"""Faults that pass. A permission that is refused is so the next time as well."""


@dataclass(frozen=True, slots=True)
class Case:
    """Two faults.

    Attributes:
        first: While something is done.
        second: While it is recovered from.
        again: Whether the second process does the same once more; else it looks.
    """

    first: Fault
    second: Fault
    again: bool

    def __str__(self) -> str:
        return f"{self.first}, then {'the same again' if self.again else 'a look'} with {self.second}"


class Patient:
    """Brings a bench into the state that a first fault leaves, and recovers from there with a second one."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def fall(self, fault: Fault) -> tuple[tracing.Run, Said | None]:
        """Begin anew, and meet the first fault."""
        self._bench.lay_out()
        run = tracing.run(self._bench.do_once, fault)
        return run, next((words for words in work.unpacked(run.said) if isinstance(words, Said)), None)

    def recover(self, fault: Fault, *, again: bool) -> tuple[tracing.Run, Said | None]:
        """Recover from what lies there."""
        bench = self._bench

        def do(say: Callable[[bytes], object]) -> None:
            try:
                engine = work.opened(bench.folder, bench.state)
            except (MemtuiError, OSError) as error:
                say(Said("refused", str(error), raised=True).packed())
                return
            tracing.mark()
            try:
                if again and bench.trial.act is not None:
                    said = bench.trial.act(engine)
                else:
                    engine.reconcile()
                    said = Said("ok", _AGAIN)
            except (MemtuiError, OSError) as error:
                said = Said("refused", str(error), raised=True)
            say(said.packed())
            tracing.mark()

        run = tracing.run(do, fault)
        strange = [words for words in work.unpacked(run.said) if not isinstance(words, Said)]
        if strange:
            raise AssertionError(f"said {strange}")
        return run, next((words for words in work.unpacked(run.said) if isinstance(words, Said)), None)

    def judge(self, case: Case, first: Said | None, second: Said | None) -> Iterator[str]:
        """What is wrong once all goes well again."""
        bench, truth = self._bench, self._bench.truth
        if first is not None and first.outcome == "refused" and not case.again:
            bare = checking.tree_of(bench.folder)
            if checking.files_of(bare) != checking.files_of(truth.old):
                yield f"answered {first} at first, but there is {sorted(bare)}"
        yield from bench.look_at(case.second, may_be_left=True)
        if not hasattr(bench, "tree"):
            return
        yield from bench.blamed(case.second)
        if bench.trial.in_steps:
            return
        if bench.tree not in (truth.old, truth.new):
            yield f"it is neither old nor new: {sorted(bench.tree)}"
        answer = second if case.again else first
        if answer is not None and answer.outcome == "ok" and bench.tree != truth.new:
            yield f"answered {answer}, but it is not new"
        if first is not None and first.outcome == "refused" and not case.again and bench.tree != truth.old:
            yield f"answered {first} at first, but it is new"
        done = [event for event in bench.events if event.call_id == work.CALL and event.changes and not event.is_error]
        if len(done) > 1:
            yield f"it is recorded as done {len(done)} times"


def draw(bench: Bench, patient: Patient, count: int, seed: int) -> Iterator[Case]:
    """So many cases, always the same ones. What is cut is what comes after the first word in the journal."""
    chance = random.Random(zlib.crc32(bench.name.encode()) + seed)
    calls = bench.truth.calls
    written = [at for at, name in enumerate(calls, 1) if name in ("pwrite64", "write")]
    places = range(written[0], min(written[-1] + 1, len(calls)) + 1)
    lengths: dict[tuple[Fault, bool], int] = {}
    for _ in range(count):
        at = chance.choice(places)
        first = Fault(How.KILL, at)
        if chance.random() < 0.3:
            below = chance.choice(("", str(bench.folder), str(bench.state)))
            first = Fault(How.FAIL_ON, at, chance.choice(LASTING), below, below != str(bench.folder))
        again = chance.random() < 0.3 and bench.truth.repeats
        if (first, again) not in lengths:
            patient.fall(first)
            lengths[first, again] = len(patient.recover(Fault(How.COUNT), again=again)[0].calls)
        second_at = chance.randint(1, lengths[first, again])
        how = chance.choice((How.KILL, How.KILL, How.FAIL, How.FAIL_ON))
        code = {How.KILL: 0, How.FAIL: chance.choice(_CODES), How.FAIL_ON: chance.choice(LASTING)}[how]
        below = chance.choice(("", str(bench.folder), str(bench.state))) if how is How.FAIL_ON else ""
        yield Case(first, Fault(how, second_at, code, below, below != str(bench.folder)), again)


def attempt(name: str, count: int, seed: int = 0) -> Tally:
    """Try one thing with so many pairs of faults."""
    tally = Tally()
    with open_bench(name) as bench:
        patient = Patient(bench)
        for case in draw(bench, patient, count, seed):
            first = patient.fall(case.first)
            second = patient.recover(case.second, again=case.again)
            kind = f"{case.first.how.value}, {case.second.how.value}"
            tally.cases[kind] = tally.cases.get(kind, 0) + second[0].hit
            with contextlib.suppress(AttributeError):
                del bench.tree
            place = first[0].calls[case.first.at - 1 :][:1], second[0].calls[case.second.at - 1 :][:1]
            tally.wrong += [f"{name}, {case} {place}: {w}" for w in patient.judge(case, first[1], second[1])]
    return tally


def main(words: list[str]) -> int:
    """Try what was asked for."""
    name, count, *seed = words
    started = time.monotonic()
    tally = attempt(name, int(count), int(seed[0]) if seed else 0)
    took = time.monotonic() - started
    sys.stdout.write(json.dumps({"cases": tally.cases, "seconds": took, "wrong": tally.wrong}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
