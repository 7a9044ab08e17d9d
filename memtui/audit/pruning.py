"""Which notes nobody needs any more, and letting them go: a plan, and a run that does what the plan says and no more.

A screen, a dry run and the deed share the plan. What has changed since, was read, pinned or protected meanwhile, stays.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memtui.audit.prose import is_hidden, is_prose
from memtui.audit.reads import Deed, uses_of
from memtui.audit.staleness import Age, age_of, ago, loaded_unasked
from memtui.core import protection
from memtui.core.errors import LeavesRoot
from memtui.core.events import Actor, Person, Version
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.restoring import Left, Restored, Why
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine, Observer
from memtui.engine.pins import pins_of
from memtui.engine.protecting import NOTE as PROTECTED
from memtui.notes.links import Places, links_of, names_of
from memtui.store.base import NotRegular, TooLarge

_YOU = Person()
_LARGEST = 1_000_000
"""Bytes of a note whose links are read."""


@dataclass(frozen=True, slots=True)
class Going:
    """A note that would go.

    Attributes:
        path: Relative to the folder.
        bytes: What it takes.
        version: What stands there; it is what goes, or nothing does.
        age: For how long nobody has needed it, and how that is known.
        linked_from: Notes that stay and link to it, as far as that was asked for: see `with_links`.
    """

    path: str
    bytes: int
    version: Version
    age: Age
    linked_from: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Why, as a sentence without a full stop."""
        return self.age.words

    @property
    def links(self) -> str:
        """Which notes would lead to nothing without it, as a sentence without a full stop; empty for none."""
        if not self.linked_from:
            return ""
        first, *others = map(one_line, self.linked_from)
        if not others:
            return f"{first} links to it"
        return f"{first} and {others[0] if len(others) == 1 else f'{len(others):,} others'} link to it"

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
    nodes = [node for node in observer.store.scan(ROOT) if node.kind is Kind.FILE]
    loaded = loaded_unasked([node.path for node in nodes], lambda path: _text_of(observer, path))
    pinned = pins_of(observer).paths
    guarded = protection.unpacked(observer.note(PROTECTED))
    going: list[Going] = []
    staying: list[Staying] = []
    notes = 0
    for node in nodes:
        path = node.path
        if is_hidden(path):
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
        elif path in loaded:
            staying.append(Staying(path, "every session loads it"))
        elif version is None or version.sha256 is None:
            staying.append(Staying(path, "its text cannot be kept"))
        else:
            going.append(Going(path, version.size, version, age))
    going.sort(key=lambda note: (-note.age.us, note.path))
    staying.sort(key=lambda note: note.path)
    watched_us = 0 if uses.since_us is None else max(0, now_us - uses.since_us)
    return Plan(older_than_us, unread, now_us, tuple(going), tuple(staying), notes, watched_us)


def with_links(observer: Observer, planned: Plan) -> Plan:
    """A plan with the notes that stay and link to what would go; it reads all notes.

    Args:
        observer: The open memory.
        planned: The plan.
    """
    if not planned.going:
        return planned
    going = {note.path for note in planned.going}
    paths = [node.path for node in observer.store.scan(ROOT) if node.kind is Kind.FILE]
    texts = {path: text for path in sorted(filter(is_prose, paths)) if (text := _text_of(observer, path)) is not None}
    linked = _linked(Places(paths, {path: names_of(text) for path, text in texts.items()}), texts.items(), going)
    return replace(
        planned,
        going=tuple(replace(note, linked_from=tuple(linked.get(note.path, ()))) for note in planned.going),
    )


def _linked(places: Places, texts: Iterable[tuple[str, str]], going: set[str]) -> dict[str, list[str]]:
    """By the notes that go, those that stay and lead to them."""
    linked: dict[str, list[str]] = {}
    for path, text in texts:
        if path not in going:
            for target in {places.resolve(link, path) for link in links_of(text, path)} & going:
                linked.setdefault(target or "", []).append(path)
    return linked


def _text_of(observer: Observer, path: str) -> str | None:
    """What a note says; `None` for one that cannot be read."""
    try:
        return observer.store.read(MemoryPath.of(path), limit=_LARGEST).data.decode()
    except (OSError, NotRegular, LeavesRoot, TooLarge, UnicodeDecodeError):
        return None


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
