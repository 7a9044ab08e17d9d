"""`python -m tests.faults.losing COUNT SEED`: a power cut takes any part of what was not synced, and what came of it.

Commands are carried out in a real folder. After every commit of the journal it is noted what stands in the folder, and
how much of the journal is on the disk. A cut is made from that: every path holds anything that it held since it was
last synced, whole or torn, whatever the others hold, and of the journal's log any length that is not less than what was
synced. That is more than any file system does. Whoever opens it then, in another start of the system, finds what was
answered, and may be cut in that as well. The last line of the output is JSON, as that of `tests.faults.killing`.
"""

import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import memtui
from memtui.core.errors import MemtuiError
from memtui.core.settings import Settings
from memtui.engine import Engine, durability
from memtui.journal import sqlite
from memtui.memory import JOURNAL, connect
from memtui.store.folder import FolderStore, FolderTransaction
from tests.faults import checking

ME, YOU = memtui.Agent("cut"), memtui.Person()
_COMMANDS = 12
"""Commands from one empty folder to the next."""
_CUTS = 10
"""Cuts that are made from what one folder went through."""
_NAMES = ("a", "b", "d/x", "d/y", "d/e/z", "n/w")
_SETTLES = 0.15
_CUT_AGAIN = 0.5
_ON_THE_WAY = 0.3

Tree = Mapping[str, bytes | None]
"""What files hold by path; `None` for a directory."""


class Cut(Exception):
    """The power failed again."""


@dataclass
class Moment:
    """One moment.

    Attributes:
        trees: What stood in the folder at every moment since it was last synced, this one last.
        synced: Bytes of the journal's log that are on the disk.
        written: Bytes of it that were written.
        answered: The events that were answered, number and hash.
    """

    trees: tuple[Tree, ...]
    synced: int
    written: int
    answered: tuple[tuple[int, str], ...]


@dataclass
class Watch:
    """Notes every moment of a folder and its journal."""

    folder: Path
    state: Path
    moments: list[Moment] = field(default_factory=list)
    answered: list[tuple[int, str]] = field(default_factory=list)
    synced: int = 0
    paused: bool = False
    """Whether things are moved that are told apart by their inodes, which a copy does not have."""
    _since: list[Tree] = field(default_factory=list)

    def note(self, *, durable: bool = False) -> None:
        """Note a moment: a commit of the journal is over, or an answer was given."""
        log = self.state / (JOURNAL + "-wal")
        written = log.stat().st_size if log.exists() else 0
        if durable:
            self.synced = written
        tree = read_tree(self.folder)
        if not self._since or self._since[-1] != tree:
            self._since.append(tree)
        if not self.paused:
            self.moments.append(Moment(tuple(self._since), self.synced, written, tuple(self.answered)))

    def settle(self) -> None:
        """Note that the folder is on the disk."""
        self._since.clear()
        self.note()


def read_tree(folder: Path) -> Tree:
    """What stands in a folder."""
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")}


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Have every commit and every sync of the folder noted."""
    end, sync = sqlite.WriteTransaction.__exit__, FolderStore.sync_paths

    def end_noted(self: Any, kind: Any, error: BaseException | None, trace: Any) -> None:
        end(self, kind, error, trace)
        if error is None:
            watch.note(durable=self._durable)

    def sync_noted(self: FolderStore, paths: Collection[str]) -> None:
        sync(self, paths)
        watch.settle()

    sqlite.WriteTransaction.__exit__ = end_noted  # type: ignore[method-assign]
    FolderStore.sync_paths = sync_noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        sqlite.WriteTransaction.__exit__ = end  # type: ignore[method-assign]
        FolderStore.sync_paths = sync  # type: ignore[method-assign]


def do_something(engine: Engine, watch: Watch, chance: random.Random, number: int) -> int | None:
    """One command, or what a person does; the number of the event that was answered."""
    path, other = chance.sample(_NAMES, 2)
    text = f"{number} " + chance.choice(("", "short\n", "a longer line\n" * 120))
    match chance.randrange(10):
        case 0 | 1 | 2:
            command: dict[str, object] = {"command": "create", "path": f"/memories/{path}", "file_text": text}
        case 3:
            command = {"command": "insert", "path": f"/memories/{path}", "insert_line": 0, "insert_text": text}
        case 4:
            command = {"command": "delete", "path": f"/memories/{chance.choice((path, path.partition('/')[0]))}"}
        case 5:
            command = {"command": "rename", "old_path": f"/memories/{path}", "new_path": f"/memories/{other}"}
        case 6:
            command = {"command": "rename", "old_path": "/memories/d", "new_path": f"/memories/m{number}/d"}
        case 7:
            seqs = [event.seq for event in engine.events() if event.changes]
            return _get_seq(engine.undo(chance.sample(seqs, min(len(seqs), 2)), actor=YOU)) if seqs else None
        case 8:
            watch.paused = True
            moved = engine.files.move({path: other, other: path}, actor=YOU)
            watch.paused = False
            return _get_seq(moved)
        case _:
            seq = chance.randint(0, engine.get_head()[0])
            return _get_seq(engine.restore_directory("", seq, actor=YOU))
    answer = engine.execute(command, actor=ME)
    return answer.event.seq if answer.event.changes and not answer.is_error else None


def _get_seq(result: Any) -> int | None:
    return result.event.seq if result.event is not None and not result.event.is_error else None


def live(top: Path, chance: random.Random) -> Watch:
    """Carry out commands in an empty folder, and note what happens."""
    watch = Watch(top / "folder", top / "state")
    watch.folder.mkdir(parents=True)
    engine = connect(watch.folder, state=watch.state, settings=Settings())
    with watching(watch):
        engine.reconcile()
        for number in range(_COMMANDS):
            if (seq := do_something(engine, watch, chance, number)) is not None:
                event = engine.journal.get_event(seq)
                assert event is not None
                watch.answered.append((seq, event.hash))
                watch.note()
            if chance.random() < _SETTLES:
                engine._context.settler.settle()
    watch.moments = watch.moments[1:]
    database = (watch.state / JOURNAL).read_bytes(), (watch.state / (JOURNAL + "-wal")).read_bytes()
    engine.close()
    for name, held in zip(("kept.db", "kept.log"), database, strict=True):
        (top / name).write_bytes(held)
    return watch


def tear(data: bytes, chance: random.Random) -> bytes:
    """What may be left of a text: all of it, a beginning, nothing, or one with blank sectors."""
    how = chance.randrange(5)
    if how == 0:
        return b""
    if how == 1:
        return data[: chance.randrange(len(data) + 1)]
    if how == 2:
        sectors = [data[at : at + 512] for at in range(0, len(data), 512)]
        return b"".join(each if chance.random() < 0.5 else bytes(len(each)) for each in sectors)
    return data


def lay_out(top: Path, lived: Path, moment: Moment, chance: random.Random) -> tuple[Path, Path]:
    """Lay out what a cut at a moment leaves."""
    folder, state = top / "folder", top / "state"
    folder.mkdir(parents=True)
    now, trees = moment.trees[-1], moment.trees
    for path in sorted({path for tree in trees for path in tree}):
        held = [tree.get(path, ...) for tree in trees]
        chosen = chance.choice(held) if any(each != now.get(path, ...) for each in held) else now.get(path, ...)
        if chosen is ...:
            continue
        place = folder / path
        with contextlib.suppress(FileExistsError, NotADirectoryError):  # one of both can stand there
            place.parent.mkdir(parents=True, exist_ok=True)
            if chosen is None:
                place.mkdir(exist_ok=True)
            elif not place.is_dir():
                place.write_bytes(tear(chosen, chance) if any(each != chosen for each in held) else chosen)
    state.mkdir()
    for name in ("token", "begun", "folder"):
        if (lived / "state" / name).exists():
            shutil.copy(lived / "state" / name, state / name)
    token = state / "token"
    if token.exists() and chance.random() < _ON_THE_WAY:  # a text whose file had no other name yet
        settled = set(trees[0].values())
        texts = [held for tree in trees for held in tree.values() if held and held not in settled]
        if texts:
            name = f".memtui-{token.read_text()}-f{chance.randrange(1 << 60):015x}"
            (state / name).write_bytes(tear(chance.choice(texts), chance))
    length = chance.choice((moment.synced, moment.written, chance.randint(moment.synced, moment.written)))
    shutil.copy(lived / "kept.db", state / JOURNAL)
    (state / (JOURNAL + "-wal")).write_bytes((lived / "kept.log").read_bytes()[:length])
    return folder, state


def open_cut(folder: Path, state: Path, chance: random.Random) -> None:
    """Open it, and be cut at one of the first calls that change the folder or the journal."""
    left = chance.randint(1, 6)

    def count() -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise Cut

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def call_counted(*words: Any, **named: Any) -> Any:
            count()
            done = call(*words, **named)
            count()
            return done

        return call_counted

    changed = [(FolderTransaction, name) for name in ("write", "delete", "make_directory", "remove_empty")]
    changed += [(FolderStore, "sync_paths"), (sqlite.Journal, "finish_intent"), (sqlite.Journal, "append_events")]
    kept = [(owner, name, getattr(owner, name)) for owner, name in changed]
    for owner, name, call in kept:
        setattr(owner, name, counted(call))
    engine = connect(folder, state=state)
    try:
        engine.reconcile()
    except Cut:
        pass
    finally:
        for owner, name, call in kept:
            setattr(owner, name, call)
        engine.close()


def judge(folder: Path, state: Path, moment: Moment) -> Iterator[str]:
    """What is wrong once somebody has opened it."""
    try:
        engine = memtui.open(folder, state=state)
    except (MemtuiError, OSError) as error:
        yield f"it cannot be opened: {error!r}"
        return
    with engine:
        yield from checking.untrue(engine, state)
        yield from checking.left_over(folder, state)
        if engine.reconcile():
            yield "a second look finds something else"
        for seq, hash_ in moment.answered:
            event = engine.journal.get_event(seq)
            if event is None or event.hash != hash_:
                yield f"event {seq} was answered and is lost"
        for event in engine.events():
            if event.is_outside:
                yield f"nobody else wrote, but there is {event.command} {[change.path for change in event.changes]}"


def main(words: list[str]) -> int:
    """Cut as often as was asked for."""
    count, seed = map(int, words)
    chance, wrong, done = random.Random(seed), [], 0
    durability._SECONDS = 3_600.0  # it is settled when this says so
    starts = 0

    def read_boot_id() -> str:
        return f"start {starts}"

    durability.read_boot_id = read_boot_id
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="memtui-lost-", dir=base) as top:
        while done < count and not wrong:
            lived = Path(top, "lived")
            starts += 1
            watch = live(lived, chance)
            for _ in range(min(_CUTS, count - done)):
                moment = chance.choice(watch.moments)
                left = Path(top, "left")
                folder, state = lay_out(left, lived, moment, chance)
                for _ in range(3):
                    if chance.random() < _CUT_AGAIN:
                        starts += 1
                        open_cut(folder, state, chance)
                starts += 1
                wrong += [f"cut {done}, seed {seed}: {words}" for words in judge(folder, state, moment)]
                shutil.rmtree(left)
                done += 1
                if wrong:
                    break
            shutil.rmtree(lived)
    found = {"cuts": done, "seconds": time.monotonic() - began, "wrong": wrong[:50]}
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
