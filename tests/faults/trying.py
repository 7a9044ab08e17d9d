"""`python -m tests.faults.trying WHAT MODE[=STRIDE],... [CALL]`: try one thing with a fault at every call.

A process of its own, because it forks and traces, which a process with threads should not. The last line of its
output is JSON: how many cases of each mode, how many seconds, and what was found wrong.
"""

import contextlib
import errno
import functools
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import memtui
import memtui.memory
from memtui.core.errors import MemtuiError
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.memory import JOURNAL
from memtui.store.folder import FolderStore
from tests.faults import checking, tracing, work
from tests.faults.tracing import Fault, How
from tests.faults.work import Act, Said

CODES = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES, errno.EINTR)
LASTING = (errno.EIO, errno.ENOSPC, errno.EROFS)
"""Faults of a disk that stay for a while."""
_PATIENCE = 3.0
"""Seconds after which a lock is held by nobody who should."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Attributes:
        act: What is done with an open engine; `None` for the opening itself.
        before: Done to the folder from outside, just before.
        settled: Whether the folder was opened and closed by somebody since it was copied.
        closing: Whether it is the closing that is looked at, after the act.
        in_steps: Whether several paths are changed one after the other.
        spare: A path that may be there as well: put back and not removed where a fault kept anybody from looking at it.
        steps_aside: Whether a thing may be out of sight for a moment, as another one takes its place.
        store: What the folder's store is made with: as on a file system that lacks something.
        far: Whether the state directory is on another file system than the folder.
        moved: Old paths by new ones, of files that are moved first, and get their new texts then.
    """

    act: Act | None
    before: Callable[[Path], object] = lambda _: None
    settled: bool = True
    closing: bool = False
    in_steps: bool = False
    spare: str = ""
    steps_aside: bool = False
    store: Mapping[str, Any] = field(default_factory=dict)
    far: bool = False
    moved: Mapping[str, str] = field(default_factory=dict)


FAR = ", with its state elsewhere"
_FAR = ("create in new directories", "overwrite", "delete", "delete a directory", "rename a directory")
_FAR_STEPS = ("restore", "clear", "move")
_NAMED: Mapping[str, Any] = {"nameless": False}
_LINKING: Mapping[str, Any] = {"nameless": False, "moving": "link", "resolver": "walk", "locking": "record"}


def trials() -> dict[str, Trial]:
    """Everything that is tried, by name."""
    found = {name: Trial(act) for name, act in work.COMMANDS.items()}
    found |= {name: Trial(act, in_steps=name != "write") for name, act in work.PUTTING_BACK.items()}
    found["move and rewrite"] = replace(found["move and rewrite"], moved={"p/f": "f", "n/d/x": "d/x"})
    found |= {f"{name}, after others": Trial(act, work.outside) for name, act in work.COMMANDS.items()}
    for name in ("create in new directories", "overwrite", "delete a directory"):
        found[f"{name}, without nameless files"] = Trial(work.COMMANDS[name], store=_NAMED)
    for name in ("create", "overwrite", "rename", "rename a directory", "move"):
        in_steps = name.startswith(("rename", "move"))
        # two names, or an empty directory, for a moment: said in the doctor's report
        act = (work.COMMANDS | work.PUTTING_BACK)[name]
        found[f"{name}, by links"] = Trial(act, in_steps=in_steps, steps_aside=name == "move", store=_LINKING)
    found |= {name + FAR: replace(found[name], far=True) for name in (*_FAR, *_FAR_STEPS)}
    found["open"] = Trial(None)
    found["open, after others"] = Trial(None, work.outside)
    found["open for the first time"] = Trial(None, _forget, settled=False)
    found["open after a kill"] = Trial(None, settled=False, spare="f~1")
    found["close"] = Trial(work.COMMANDS["overwrite"], closing=True)
    return found


def _is_being_filled(seen: checking.Seen | None, new: checking.Seen | None) -> bool:
    """Whether a directory that comes back is its owner's alone still, as it is until all of it stands."""
    return new is not None and stat.S_ISDIR(new[0]) and seen == (stat.S_IFDIR | 0o700, None)


def _forget(folder: Path) -> None:
    shutil.rmtree(folder.parent / "state")


@contextlib.contextmanager
def make_places() -> Iterator[tuple[Path, Path]]:
    """Two directories to work in, on different file systems where there are two."""
    tops = [Path(top) for top in ("/dev/shm", tempfile.gettempdir(), os.getcwd()) if os.access(top, os.W_OK)]
    near = tops[0]
    far = next((top for top in tops if top.stat().st_dev != near.stat().st_dev), near)
    with (
        tempfile.TemporaryDirectory(prefix="memtui-faults-", dir=near) as one,
        tempfile.TemporaryDirectory(prefix="memtui-faults-", dir=far) as other,
    ):
        yield Path(one), Path(other)


@dataclass
class Truth:
    """What comes of it without any fault."""

    old: checking.Tree
    new: checking.Tree
    first: Said | None
    second: Said | None
    repeats: bool
    """Whether a second time changes nothing more."""
    calls: tuple[str, ...]


@dataclass
class Tally:
    """What was tried, and what was wrong."""

    cases: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class Bench:
    """A place to try one thing again and again."""

    def __init__(self, name: str, trial: Trial, top: Path, far: Path) -> None:
        self.name = name
        self.trial = trial
        self.top = top
        self.folder, self.state = top / "case" / "folder", (far if trial.far else top) / "case" / "state"
        (top / "template" / "folder").mkdir(parents=True)
        work.fill(top / "template" / "folder", top / "template" / "state")
        if name == "open after a kill":
            self._kill_in_the_middle()
        self.history = self._count_events()
        self.truth = self._truth()

    def _count_events(self) -> int:
        if self.trial.before is _forget:
            return 0
        with contextlib.closing(Journal(str(self.top / "template" / "state" / JOURNAL))) as journal:
            return journal.get_head()[0]

    def lay_out(self) -> None:
        """Begin anew."""
        for place in {self.folder.parent, self.state.parent}:
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        work.copy(self.top / "template" / "folder", self.folder)
        work.copy(self.top / "template" / "state", self.state)
        if self.trial.settled:
            memtui.open(self.folder, state=self.state).close()
        self.trial.before(self.folder)

    def do(self, say: Callable[[bytes], object]) -> None:
        """What the child does."""
        act, closing = self.trial.act, self.trial.closing
        if act is None:
            tracing.mark()
            engine, said = _try_to_open(self.folder, self.state)
            say(said.packed())
            tracing.mark()
            if engine is None:
                engine, said = _try_to_open(self.folder, self.state)
            say(said.packed())
            return
        engine = work.opened(self.folder, self.state)
        if closing:
            say(act(engine).packed())
            tracing.mark()
            with contextlib.suppress(MemtuiError, OSError):
                engine.close()
            tracing.mark()
            return
        tracing.mark()
        say(act(engine).packed())
        tracing.mark()
        say(act(engine).packed())

    def do_once(self, say: Callable[[bytes], object]) -> None:
        """The same, once, by a process that then ends."""
        engine = work.opened(self.folder, self.state)
        tracing.mark()
        if self.trial.act is not None:
            say(self.trial.act(engine).packed())
        tracing.mark()

    def try_(self, fault: Fault) -> tuple[tracing.Run, list[str]]:
        """One case."""
        self.lay_out()
        wrong: list[str] = []
        looked: list[bool] = []
        run = tracing.run(self.do, fault, between=lambda: (looked.append(True), wrong.extend(self.look_at(fault))))
        said = work.unpacked(run.said)
        strange = [words for words in said if not isinstance(words, Said)]
        wrong += [f"said {words}" for words in strange]
        answers = [words for words in said if isinstance(words, Said)]
        if not looked:
            if not run.hit or fault.how is not How.KILL:
                wrong.append(f"the child ended early: {run.status}")
            wrong += self.look_at(fault)
        wrong += self._judged(fault, answers, is_over=bool(looked))
        return run, [f"{self.name}, {fault} ({run.calls[fault.at - 1 : fault.at]}): {words}" for words in wrong]

    def _truth(self) -> Truth:
        self.lay_out()
        old = checking.tree_of(self.folder)
        new: list[checking.Tree] = []
        run = tracing.run(self.do, Fault(How.COUNT), between=lambda: new.append(checking.tree_of(self.folder)))
        said = [words for words in work.unpacked(run.said) if isinstance(words, Said)]
        assert run.status == 0, run
        assert said[0].outcome == "ok", run.said
        repeats = checking.tree_of(self.folder) == new[0]
        return Truth(old, new[0], said[0], said[-1], repeats, run.calls)

    def _kill_in_the_middle(self) -> None:
        """Leave what is left by one who was killed when the new text stood in its place already."""
        folder, state = self.top / "template" / "folder", self.top / "template" / "state"

        def insert(_: Callable[[bytes], object]) -> None:
            engine = work.opened(folder, state)
            tracing.mark()
            engine.execute(words, actor=work.ME)
            tracing.mark()

        words = {"command": "insert", "path": "/memories/f", "insert_line": 0, "insert_text": "inserted"}
        for at in range(1, 1_000):
            memtui.open(folder, state=state).close()
            before = (folder / "f").read_bytes()
            tracing.run(insert, Fault(How.KILL, at))
            if (folder / "f").read_bytes() != before and list(checking.left_over(folder, state)):
                return
        raise AssertionError("nobody left anything")

    def look_at(self, fault: Fault, *, may_be_left: bool = False) -> list[str]:
        """What is wrong with the bare files just after the fault, before anybody has opened them again, and then.

        Args:
            fault: Of which kind it was.
            may_be_left: Whether directories may be left till then, as nobody could undo them.
        """
        wrong: list[str] = []
        self.bare = checking.tree_of(self.folder)
        self.bare.pop(self.trial.spare, None)
        old, new = self.truth.old, self.truth.new
        wrong += [
            f"{path} is neither old nor new: {work.sized(self.bare.get(path))}"
            for path in set(self.bare) | set(old) | set(new)
            if self.bare.get(path) not in (old.get(path), new.get(path), old.get(self.trial.moved.get(path, path)))
            and not _is_being_filled(self.bare.get(path), new.get(path))
            and not (self.trial.steps_aside and path not in self.bare)
        ]
        if not self.trial.in_steps:
            files = checking.files_of(self.bare)
            if files not in (checking.files_of(old), checking.files_of(new)):
                wrong.append(f"the folder is neither old nor new: {sorted(files)}")
        may_be_left = may_be_left or self.trial.in_steps or fault.how in (How.KILL, How.FAIL_ON)
        if not may_be_left and self.bare not in (old, new):
            wrong.append(f"something is left: {sorted(set(self.bare) ^ set(old))}")
        if self.state.exists():
            wrong += checking.shown_temporaries(self.folder, self.state)
        wrong += self._opened_again(fault)
        return wrong

    def _opened_again(self, fault: Fault) -> list[str]:
        """What is wrong once somebody has opened it again."""
        wrong: list[str] = []
        started = time.monotonic()
        try:
            engine = memtui.open(self.folder, state=self.state)
        except (MemtuiError, OSError) as error:
            return [f"it cannot be opened again: {error!r}"]
        with engine:
            if time.monotonic() - started > _PATIENCE:
                wrong.append("a lock was left")
            wrong += checking.untrue(engine, self.state, unread=fault.how in (How.FAIL, How.FAIL_ON))
            with engine._context.begin_transaction():
                pass  # the next one who writes removes what could not be removed
            wrong += checking.left_over(self.folder, self.state)
            if engine.reconcile() != 0:
                wrong.append("a second look finds something else")
            self.events = list(engine.events())
        self.tree = checking.tree_of(self.folder)
        return wrong

    def blamed(self, fault: Fault) -> Iterator[str]:
        """What is recorded as of another program, which never was at it."""
        if self.trial.before is _forget or (not self.trial.settled and fault.code in (errno.EACCES, errno.EIO)):
            return  # nobody has looked yet, or it was laid out anew: what cannot be seen may be another program's
        spare = {self.trial.spare} if self.trial.before is not work.outside else work.OUTSIDE
        for event in self.events[self.history :]:
            paths = {change.path for change in event.changes}
            if event.is_outside and event.command != "found" and not paths <= spare:
                yield f"another program is blamed: {event.command} {sorted(paths)}"

    def _judged(self, fault: Fault, answers: list[Said], *, is_over: bool) -> Iterator[str]:
        """Whether the answer was true, whether what happened is recorded once, and whether it can be done again."""
        if not hasattr(self, "tree"):
            return
        truth, acting = self.truth, self.trial.act is not None
        stands = {True: "new", False: "old"}.get(self.tree == truth.new and truth.new != truth.old)
        answer = answers[0] if answers else None
        if answer is not None and acting:
            if answer.outcome == "ok" and self.tree != truth.new:
                yield f"answered {answer}, but there is {_difference(self.tree, truth.new)}"
            if answer.outcome == "refused" and self.tree != truth.old:
                yield f"answered {answer}, but there is {_difference(self.tree, truth.old)}"
        done = [event for event in self.events if event.call_id == work.CALL and event.changes]
        recorded = work.CALL in {event.call_id for event in self.events}
        if acting and not self.trial.in_steps and recorded and len(done) != (stands == "new"):
            yield f"it is {stands}, and recorded {len(done)} times"
        if acting and answer is not None and answer.outcome == "ok":
            mine = [event for event in self.events if event.actor in (work.ME, work.YOU) and event.changes]
            if not mine or mine[-1].is_error:
                yield f"answered {answer}, but the last event is {mine[-1:]}"
        there = {held for _, held in truth.old.values()}
        ours = {hashlib.sha256(held).hexdigest() for _, held in truth.new.values() if held and held not in there}
        for event in self.events:
            for change in event.changes:
                if event.is_outside and change.after and change.after.sha256 in ours and not self.trial.in_steps:
                    yield f"ours was recorded as from outside: {event.command} {change.path}"
        yield from self.blamed(fault)
        self.tree.pop(self.trial.spare, None)
        if not self.trial.in_steps and self.tree not in (truth.old, truth.new):
            yield f"it is neither old nor new: {_difference(self.tree, truth.old)}"
        if self.trial.closing:
            return
        if is_over:
            again = answers[1] if len(answers) > 1 else None
        elif not acting:
            return
        else:
            with memtui.open(self.folder, state=self.state) as engine:
                again = self.trial.act(engine) if self.trial.act else None
        if not acting:
            if again is None or again.outcome != "ok":
                yield f"it cannot be opened again: {again}"
            return
        expected = truth.second if stands == "new" else truth.first
        if self.trial.in_steps and self.tree not in (truth.old, truth.new):
            expected = None
        if again is None or (expected is not None and (again.outcome, again.text) != (expected.outcome, expected.text)):
            yield f"it was {stands}, and the next try answers {again}, not {expected}"
        with memtui.open(self.folder, state=self.state) as engine:
            yield from checking.untrue(engine, self.state, unread=fault.how in (How.FAIL, How.FAIL_ON))
            yield from checking.left_over(self.folder, self.state)


def _difference(one: checking.Tree, other: checking.Tree) -> str:
    return work.sized({path: one.get(path) for path in set(one) | set(other) if one.get(path) != other.get(path)})


def _try_to_open(folder: Path, state: Path) -> tuple[Engine | None, Said]:
    try:
        return memtui.open(folder, state=state), Said("ok", "")
    except MemtuiError as error:
        return None, Said("refused", str(error), raised=True)


def faults(mode: str, bench: Bench, stride: int, first: int = 0) -> Iterator[Fault]:
    """The cases of a mode, in order.

    Args:
        mode: `kill`, `fail`, `short`, or `fail on` from a change on; `fail on folder` and `fail on state` are faults of
            one disk, also from a look on.
        bench: Knows the calls that are made without a fault.
        stride: Only every so many are tried, spread over calls and errors; 1 for all.
        first: Which of them is the first, counted round the stride.
    """
    calls = bench.truth.calls
    end = len(calls)
    found: list[Fault]
    if mode == "kill":
        found = [Fault(How.KILL, at) for at in range(1, end + 1)]
    elif mode == "short":
        found = [Fault(How.SHORT, at) for at in range(1, end + 1) if calls[at - 1] in ("write", "pwrite64")]
    elif mode == "fail":
        found = [Fault(How.FAIL, at, code) for at in range(1, end + 1) for code in CODES]
    else:
        below = {"fail on": "", "fail on folder": str(bench.folder), "fail on state": str(bench.state)}[mode]
        found = [
            Fault(How.FAIL_ON, at, code, below, mode != "fail on folder")
            for at in range(1, end + 1)
            for code in (LASTING if calls[at - 1] in tracing.CHANGING else LASTING[: bool(below)])
        ]
    yield from found[first % min(stride, max(len(found), 1)) :: stride]


@contextlib.contextmanager
def open_bench(name: str) -> "Iterator[Bench]":
    """A place to try one thing in."""
    with make_places() as (near, far):
        trial = trials()[name]
        memtui.memory.FolderStore = functools.partial(FolderStore, **trial.store)  # type: ignore[assignment, misc]
        yield Bench(name, trial, near, far)


def attempt(name: str, modes: Mapping[str, int], only: int | None = None) -> Tally:
    """Try one thing with the faults of some modes, of each every so many; which ones differs from thing to thing."""
    tally = Tally()
    with open_bench(name) as bench:
        for mode, stride in modes.items():
            tally.cases[mode] = 0
            for fault in faults(mode, bench, stride, zlib.crc32(name.encode())):
                if only is not None and fault.at != only:
                    continue
                run, wrong = bench.try_(fault)
                tally.cases[mode] += run.hit
                tally.wrong += wrong
    return tally


def main(words: list[str]) -> int:
    """Try what was asked for."""
    name, asked, *only = words
    modes = {mode: int(stride or 1) for mode, _, stride in (each.partition("=") for each in asked.split(","))}
    started = time.monotonic()
    tally = attempt(name, modes, int(only[0]) if only else None)
    took = time.monotonic() - started
    sys.stdout.write(json.dumps({"cases": tally.cases, "seconds": took, "wrong": tally.wrong}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
