"""Which notes nobody needs any more, and letting them go: a plan, and a run that does what the plan says and no more.

A screen, a dry run and the deed share the plan. What has changed since, was read, pinned or protected meanwhile, stays.
"""

from dataclasses import dataclass

from memtui.audit.prose import is_hidden, is_loaded_unasked
from memtui.audit.reads import Deed, uses_of
from memtui.audit.staleness import Age, age_of, ago
from memtui.core import protection
from memtui.core.events import Actor, Person, Version
from memtui.core.paths import ROOT
from memtui.core.restoring import Left, Restored, Why
from memtui.core.snapshot import Kind
from memtui.engine import Engine, Observer
from memtui.engine.pins import pins_of
from memtui.engine.protecting import NOTE as PROTECTED

_YOU = Person()


@dataclass(frozen=True, slots=True)
class Going:
    """A note that would go.

    Attributes:
        path: Relative to the folder.
        bytes: What it takes.
        version: What stands there; it is what goes, or nothing does.
        age: For how long nobody has needed it, and how that is known.
    """

    path: str
    bytes: int
    version: Version
    age: Age

    @property
    def why(self) -> str:
        """Why, as a sentence without a full stop."""
        return self.age.words

    @property
    def read(self) -> Deed | None:
        """When an agent last read it; `None` if none did as far as is known."""
        return self.age.read

    @property
    def change(self) -> Deed | None:
        """When it last changed; `None` if only the file's time tells."""
        return self.age.change


@dataclass(frozen=True, slots=True)
class Staying:
    """A note that is as old, and stays all the same.

    Attributes:
        path: Relative to the folder.
        why: Why, in a few words: `pinned`, `protected`, `every session loads it`, `its text cannot be kept`.
    """

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What would go.

    Attributes:
        older_than_us: For how long nobody must have needed a note, in microseconds.
        unread: Whether only notes go that no agent has read at all.
        now_us: The time that ages are told from, in microseconds since 1970.
        going: The longest unneeded first.
        staying: What is as old and stays.
        notes: How many notes there are.
        watched_us: For how long what agents read has been recorded, in microseconds; 0 for not at all.
    """

    older_than_us: int
    unread: bool
    now_us: int
    going: tuple[Going, ...] = ()
    staying: tuple[Staying, ...] = ()
    notes: int = 0
    watched_us: int = 0

    @property
    def bytes(self) -> int:
        """Of all that goes."""
        return sum(note.bytes for note in self.going)

    @property
    def caution(self) -> str:
        """What is not known, as a sentence; empty where the record reaches back far enough."""
        if self.watched_us >= self.older_than_us or not self.going:
            return ""
        since = (
            f"began to record this folder {ago(self.watched_us)}" if self.watched_us else "has recorded nothing here"
        )
        return (
            f"memtui {since}: whether an agent read these notes before is not known, and where no change is recorded, "
            "the file's time is all there is."
        )


def plan(observer: Observer, *, older_than_us: int, unread: bool = False, now_us: int) -> Plan:
    """Find the notes that nobody has needed for long. Changes nothing; look for outside changes before.

    A note goes if no agent has read it, and nobody has changed it, for that long. Pinned and protected notes stay, what
    every session loads unasked, and hidden files.

    Args:
        observer: The open memory.
        older_than_us: For how long, in microseconds.
        unread: Whether only those go that no agent has read since memtui began to record.
        now_us: The time, in microseconds since 1970.
    """
    history = observer.history
    uses = uses_of(history)
    state = history.state(observer.head()[0])
    pinned = pins_of(observer).paths
    guarded = protection.unpacked(observer.note(PROTECTED))
    going: list[Going] = []
    staying: list[Staying] = []
    notes = 0
    for node in observer.store.scan(ROOT):
        path = node.path
        if node.kind is not Kind.FILE or is_hidden(path):
            continue
        notes += 1
        age = age_of(path, uses, mtime_us=node.mtime_ns // 1_000, now_us=now_us)
        if age.us < older_than_us or (unread and age.read is not None):
            continue
        version = state.get(path)
        if any(protection.holds(pin, path) for pin in pinned):
            staying.append(Staying(path, "pinned"))
        elif any(protection.may_hold(each, path) for each in guarded):
            staying.append(Staying(path, "protected"))
        elif is_loaded_unasked(path):
            staying.append(Staying(path, "every session loads it"))
        elif version is None or version.sha256 is None:
            staying.append(Staying(path, "its text cannot be kept"))
        else:
            going.append(Going(path, version.size, version, age))
    going.sort(key=lambda note: (-note.age.us, note.path))
    staying.sort(key=lambda note: note.path)
    watched_us = 0 if uses.since_us is None else max(0, now_us - uses.since_us)
    return Plan(older_than_us, unread, now_us, tuple(going), tuple(staying), notes, watched_us)


def run(engine: Engine, planned: Plan, *, actor: Actor = _YOU) -> Restored:
    """Let the notes of a plan go, as one event that `undo` takes back; every text stays in the record.

    Args:
        engine: The open memory.
        planned: The plan. A note stays if it is not in the same plan made now, or has another text by then.
        actor: Who does it.

    Raises:
        Busy, FolderMissing, StateUnusable, Closed: Nothing could be tried, and nothing was written.
    """
    now = plan(engine, older_than_us=planned.older_than_us, unread=planned.unread, now_us=planned.now_us)
    still = {note.path: note.version for note in now.going}
    going = {note.path: note.version for note in planned.going if still.get(note.path) == note.version}
    left = tuple(Left(note.path, *_since(note, engine, now)) for note in planned.going if note.path not in going)
    if not going:
        problem = "Not pruned: every note has changed since, or was needed. Nothing was written." if left else ""
        return Restored(left=left, problem=problem)
    done = engine.files.delete(list(going), expected=dict(going), partial=True, actor=actor)
    return Restored(done.changes, (*left, *done.left), done.event, done.problem)


def _since(note: Going, engine: Engine, now: Plan) -> tuple[Why, None, str]:
    """Why a note of a plan stays."""
    staying = next((each.why for each in now.staying if each.path == note.path), "")
    if staying:
        return Why.CHANGED, None, f"it is {staying} now" if staying in ("pinned", "protected") else staying
    if engine.entry(note.path) is None:
        return Why.MISSING, None, ""
    read = uses_of(engine.history).of(note.path).read
    if read is not None and read != note.read:
        return Why.CHANGED, None, "an agent has read it"
    return Why.CHANGED, None, ""
