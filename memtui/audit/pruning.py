"""Pruning: a plan of the notes that nobody needs any more, and a run that executes exactly that plan.

A screen, a dry run and the deed share the plan. What has changed since, was read, pinned or protected meanwhile, stays.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from memtui.audit.context import is_hidden, is_prose
from memtui.audit.outside import EARLIEST_US, NoteEvent, NoteUses, collect_uses
from memtui.core import paths as core_paths
from memtui.core.errors import SymlinkEscape
from memtui.core.events import Actor, EntryKind, Person, Version
from memtui.core.guards import PROTECTED
from memtui.core.history import ActionResult, SkippedPath, SkipReason
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_duration
from memtui.engine import Engine, Observer
from memtui.engine.pins import load_pins
from memtui.journal.chain import decode_body
from memtui.notes.links import LinkTargets, find_links, get_note_names
from memtui.notes.memory_index import is_auto_loaded, is_index, is_team_note
from memtui.places.dialects import PLAIN, Dialect
from memtui.review.tracks import iter_event_bodies
from memtui.store.base import FileTooLarge, NotRegularFile

# Idle time: how long a note was neither read by an agent nor changed. The audit and `memtui prune` share it.

_DAY_US = 86_400_000_000
_HOPS = 5  # how far files import each other, by Claude Code's documentation ("Manage Claude's memory")


@dataclass(frozen=True, slots=True)
class NoteAge:
    """How long nobody has needed a note.

    Attributes:
        us: Since it was last read or changed, in microseconds; never negative.
        last_change: `None` if only the file's time is known.
        watched_us: For how long reads were recorded, in microseconds; 0 without a journal.
    """

    us: int
    last_read: NoteEvent | None
    last_change: NoteEvent | None
    changed_us: int
    watched_us: int

    @property
    def days(self) -> int:
        """Whole days."""
        return self.us // _DAY_US

    @property
    def basis(self) -> str:
        """What it is known by: `journal`, `file time` (nobody recorded), or `both` (the journal is younger than it)."""
        if self.last_change is not None or self.last_read is not None:
            return "journal"
        if not self.watched_us:
            return "file time"
        return "journal" if self.watched_us >= self.us else "both"

    @property
    def description(self) -> str:
        """What is known, as a sentence without a full stop."""
        read_us = self.last_read.at_us if self.last_read is not None else self.changed_us
        now_us = max(self.changed_us, read_us) + self.us
        changed = "last changed" if self.last_change is not None else "last written, by the file's time,"
        since = f"{changed} {format_ago(now_us - self.changed_us)}"
        if self.last_read is not None:
            return f"last read by {to_one_line(self.last_read.actor_name)} {format_ago(now_us - read_us)}, {since}"
        if self.last_change is not None:
            return f"{since}, and no agent has read it since"
        if not self.watched_us:
            return f"{since}; there is no journal, so it is unknown when it was read"
        if self.watched_us < self.us:
            return f"{since}; no agent has read it since the history began, {format_ago(self.watched_us)}"
        return f"{since}, and no agent has read it since"


def compute_age(path: str, uses: NoteUses, *, mtime_us: int, now_us: int, is_recorded: bool = True) -> NoteAge:
    """The age of a note.

    From the journal if that knows of a change; else, for a note that is older than the journal or not recorded as it
    stands, from the file's time; where that is no valid time, from the journal's beginning.

    Args:
        is_recorded: Whether the file equals the journal's version.
    """
    use = uses.get(path)
    change = use.change if is_recorded else None
    if mtime_us < EARLIEST_US:
        mtime_us = now_us if uses.since_us is None else uses.since_us
    changed_us = change.at_us if change is not None else mtime_us
    last = max(changed_us, use.read.at_us) if use.read is not None else changed_us
    watched_us = max(0, now_us - uses.since_us) if uses.since_us is not None else 0
    return NoteAge(max(0, now_us - last), use.read, change, changed_us, watched_us)


def find_unrecorded_changes(observer: Observer, after: int) -> frozenset[str]:
    """The notes that changed after an event; of an observed folder, those whose change nobody recorded."""
    bodies = (body for _, body in iter_event_bodies(observer, after) if b'"changes":' in body)
    return frozenset(change[0] for body in bodies for change in decode_body(body)["changes"])


def find_auto_loaded(
    paths: Collection[str], text_of: Callable[[str], str | None], dialect: Dialect = PLAIN
) -> frozenset[str]:
    """The files that are given to every session, so that nobody is seen to read them; what those import is as well."""
    found = {path for path in paths if is_auto_loaded(path) or dialect.get_rule(path).loads}
    waiting = [path for path in found if not is_index(path)]
    places = LinkTargets(paths) if waiting else None
    for _ in range(_HOPS):
        here, waiting = waiting, []
        for path in here:
            for link in find_links(text_of(path) or "", path):
                target = places.resolve(link, path) if places is not None and link.kind == "import" else None
                if target is not None and target not in found:
                    found.add(target)
                    waiting.append(target)
    return frozenset(found)


def format_ago(us: int) -> str:
    """How long ago, such as `300 days ago` or `today`."""
    return f"{format_duration(us / 1e6)} ago" if us >= _DAY_US else "today"


_YOU = Person()
_LARGEST = 1_000_000  # bytes of a note whose links are read


@dataclass(frozen=True, slots=True)
class PruneCandidate:
    """A note that would go."""

    path: str
    bytes: int
    version: Version  # the version to delete; if the file has another one, it stays
    age: NoteAge
    linked_from: tuple[str, ...] = ()  # remaining notes that link to it; see `add_links`

    @property
    def reason(self) -> str:
        """Why, as a sentence without a full stop."""
        return self.age.description

    @property
    def link_warning(self) -> str:
        """Which notes would lead to nothing without it, as a sentence without a full stop; empty for none."""
        if not self.linked_from:
            return ""
        first, *others = map(to_one_line, self.linked_from)
        if not others:
            return f"{first} links to it"
        return f"{first} and {others[0] if len(others) == 1 else f'{len(others):,} others'} link to it"


@dataclass(frozen=True, slots=True)
class ExemptNote:
    """A note that is as old, and stays all the same."""

    path: str
    reason: str  # in a few words: `pinned`, `protected`, `every session loads it`, `its text cannot be kept`


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What would go.

    Attributes:
        older_than_us: The minimum age, in microseconds.
        unread: Whether only notes that no agent has read are deleted.
        watched_us: For how long reads were recorded, in microseconds.
    """

    older_than_us: int
    unread: bool
    now_us: int
    candidates: tuple[PruneCandidate, ...] = ()
    exempt: tuple[ExemptNote, ...] = ()
    notes: int = 0
    watched_us: int = 0

    @property
    def bytes(self) -> int:
        """Of all that goes."""
        return sum(note.bytes for note in self.candidates)

    @property
    def caution(self) -> str:
        """What is not known, as a sentence; empty where the record reaches back far enough."""
        if self.watched_us >= self.older_than_us or not self.candidates:
            return ""
        began = f"began to record this folder {format_ago(self.watched_us)}"
        since = began if self.watched_us else "has recorded nothing here"
        return f"memtui {since}: earlier reads are unknown; where no change is recorded, the file time counts."


def plan_prune(observer: Observer, *, older_than_us: int, unread: bool = False, now_us: int) -> PrunePlan:
    """Find the notes that nobody has needed for long. Changes nothing; look for outside changes before.

    A note goes if no agent has read it, and nobody has changed it, for that long. Pinned, protected and team notes
    stay, what an agent's program generates, what every session loads unasked, and hidden files.

    Args:
        unread: Whether only notes that no agent has read since the journal began are planned.
    """
    history = observer.history
    uses = collect_uses(observer)
    state = history.get_state(observer.get_head()[0])
    nodes = [node for node in observer.store.scan(ROOT) if node.kind is EntryKind.FILE]
    loaded = find_auto_loaded([node.path for node in nodes], lambda path: _read_text(observer, path), observer.dialect)
    pinned = load_pins(observer)
    guarded = core_paths.decode_protected(observer.get_metadata(PROTECTED))
    going: list[PruneCandidate] = []
    staying: list[ExemptNote] = []
    notes = 0
    for node in nodes:
        path = node.path
        if is_hidden(path):
            continue
        notes += 1
        age = compute_age(path, uses, mtime_us=node.mtime_ns // 1_000, now_us=now_us)
        if age.us < older_than_us or (unread and age.last_read is not None):
            continue
        version = state.get(path)
        if any(core_paths.covers(pin, path) for pin in pinned):
            staying.append(ExemptNote(path, "pinned"))
        elif any(core_paths.may_cover(each, path) for each in guarded):
            staying.append(ExemptNote(path, "protected"))
        elif is_team_note(path):
            staying.append(ExemptNote(path, "a team's, mirrored from a server"))
        elif kept := observer.dialect.get_rule(path).kept:
            staying.append(ExemptNote(path, f"{kept}, by {observer.dialect.title}"))
        elif path in loaded:
            staying.append(ExemptNote(path, "every session loads it"))
        elif version is None or version.sha256 is None:
            staying.append(ExemptNote(path, "its text cannot be kept"))
        else:
            going.append(PruneCandidate(path, version.size, version, age))
    going.sort(key=lambda note: (-note.age.us, note.path))
    staying.sort(key=lambda note: note.path)
    watched_us = 0 if uses.since_us is None else max(0, now_us - uses.since_us)
    return PrunePlan(older_than_us, unread, now_us, tuple(going), tuple(staying), notes, watched_us)


def add_links(observer: Observer, planned: PrunePlan) -> PrunePlan:
    """A plan with the notes that stay and link to what would go; it reads all notes."""
    if not planned.candidates:
        return planned
    going = {note.path for note in planned.candidates}
    paths = [node.path for node in observer.store.scan(ROOT) if node.kind is EntryKind.FILE]
    texts = {path: text for path in sorted(filter(is_prose, paths)) if (text := _read_text(observer, path)) is not None}
    linked = _find_linking_notes(
        LinkTargets(paths, {path: get_note_names(text) for path, text in texts.items()}), texts.items(), going
    )
    return replace(
        planned,
        candidates=tuple(replace(note, linked_from=tuple(linked.get(note.path, ()))) for note in planned.candidates),
    )


def _find_linking_notes(places: LinkTargets, texts: Iterable[tuple[str, str]], going: set[str]) -> dict[str, list[str]]:
    """By the notes that go, those that stay and lead to them."""
    linked: dict[str, list[str]] = {}
    for path, text in texts:
        if path not in going:
            for target in {places.resolve(link, path) for link in find_links(text, path)} & going:
                linked.setdefault(target or "", []).append(path)
    return linked


def _read_text(observer: Observer, path: str) -> str | None:
    """What a note says; `None` for one that cannot be read."""
    try:
        return observer.store.read(MemoryPath.from_relative(path), limit=_LARGEST).data.decode()
    except (OSError, NotRegularFile, SymlinkEscape, FileTooLarge, UnicodeDecodeError):
        return None


def execute_prune(engine: Engine, planned: PrunePlan, *, actor: Actor = _YOU) -> ActionResult:
    """Let the notes of a plan go, as one event that `undo` takes back; every text stays in the record.

    Args:
        planned: The plan. A note stays if a plan made now would not contain it, or its text has changed.

    Raises:
        LockTimeout, FolderMissing, StateUnusable, MemoryClosed: Nothing could be tried, and nothing was written.
    """
    now = plan_prune(engine, older_than_us=planned.older_than_us, unread=planned.unread, now_us=planned.now_us)
    still = {note.path: note.version for note in now.candidates}
    going = {note.path: note.version for note in planned.candidates if still.get(note.path) == note.version}
    left = tuple(
        SkippedPath(note.path, *_find_exempt_reason(note, engine, now))
        for note in planned.candidates
        if note.path not in going
    )
    if not going:
        problem = "Not pruned: every note has changed since or is needed. Nothing was written." if left else ""
        return ActionResult(skipped=left, problem=problem)
    done = engine.files.delete(list(going), expected=dict(going), partial=True, actor=actor)
    return ActionResult(done.changes, (*left, *done.skipped), done.event, done.problem)


def _find_exempt_reason(note: PruneCandidate, engine: Engine, now: PrunePlan) -> tuple[SkipReason, None, str]:
    """Why a note of a plan stays."""
    staying = next((each.reason for each in now.exempt if each.path == note.path), "")
    if staying:
        return SkipReason.CHANGED, None, f"it is {staying} now" if staying in ("pinned", "protected") else staying
    if engine.get_entry(note.path) is None:
        return SkipReason.MISSING, None, ""
    read = collect_uses(engine).get(note.path).read
    if read is not None and read != note.age.last_read:
        return SkipReason.CHANGED, None, "an agent has read it"
    return SkipReason.CHANGED, None, ""
