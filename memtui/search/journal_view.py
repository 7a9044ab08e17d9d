"""The journal as the search needs it: the lifetime of each text, its author, and the last change of each note.

A note keeps its past when it is renamed, and takes it up again when something is written where it stood.
"""

from collections.abc import Collection
from typing import NamedTuple

from memtui.core.events import EntryKind, Version, format_actor_name
from memtui.engine.history import JournalHistory
from memtui.engine.lineage import find_moves
from memtui.journal.chain import decode_actor, decode_body

NOTHING = ""
"""The text of a step that deletes."""
_FOUND = "found"
_REDACTED = b'"redacted":'
_RENAMED = b'"new_path":'


class NoteStep(NamedTuple):
    """One change of a note.

    Attributes:
        at_us: In microseconds since 1970.
        path: The note's name after it.
        sha256: The text since; `NOTHING` where none is left, `None` where it was never kept.
        size: In bytes.
        is_found: Whether it only records that the file was there when memtui first looked.
    """

    seq: int
    at_us: int
    actor_name: str
    path: str
    sha256: str | None
    size: int
    is_found: bool


class NoteTimeline:
    """A note through time.

    Attributes:
        path: Its name; its last name, if it is deleted.
        steps: Its changes, in order.
        writers: The names of its authors, as shown.
    """

    __slots__ = ("exists", "path", "steps", "writers")

    def __init__(self, path: str) -> None:
        self.path = path
        self.exists = False
        self.steps: list[NoteStep] = []
        self.writers: set[str] = set()

    @property
    def last_change(self) -> NoteStep | None:
        """`None` if memtui only found it."""
        return next((step for step in reversed(self.steps) if not step.is_found), None)


class EventChanges(NamedTuple):
    """The paths that an event changed, and the SHA-256 of the texts that it added, and removed from the record."""

    paths: Collection[str] = ()
    texts: Collection[str] = ()
    removed: Collection[str] = ()


class JournalView:
    """All notes that there ever were. Not thread-safe.

    Attributes:
        seq: The number of the last event that was added.
        never_kept: Versions whose text was never kept, such as of files that are too large.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.timelines: list[NoteTimeline] = []
        self._holders: dict[str, NoteTimeline | set[NoteTimeline]] = {}
        """By the SHA-256 of a text, the notes that held it: a set only where there are several."""
        self.never_kept = 0
        self._at: dict[str, NoteTimeline] = {}
        self._names: dict[str, str] = {}

    def get(self, path: str) -> NoteTimeline | None:
        """The note at a path, or the last one that was there; `None` if there was none."""
        return self._at.get(path)

    def get_holders(self, sha256: str) -> Collection[NoteTimeline]:
        """The notes that held a text at any time."""
        holder = self._holders.get(sha256, ())
        return (holder,) if isinstance(holder, NoteTimeline) else holder

    def add_event(self, seq: int, body: bytes, history: JournalHistory) -> EventChanges:
        """Add the next event, given by its number and canonical bytes."""
        self.seq = seq
        has_changes = b'"changes":' in body
        if not has_changes and _REDACTED not in body:
            return EventChanges()
        fields = decode_body(body)
        changes = fields.get("changes", ())
        moved: dict[str, str] = {}
        if len(changes) > 1 and (_RENAMED in body or fields.get("command") != _FOUND):
            event = history.get_event(seq)
            moved = find_moves(event) if event is not None else {}
        who = self._intern_actor_name(fields["actor"])
        stamp = (seq, fields["at_us"], who)
        is_found = fields.get("command") == _FOUND
        carried = {new: self._at.pop(old) for new, old in moved.items() if old in self._at}
        for path, _, after in changes:
            if path in carried:
                timeline = carried[path]
                timeline.path = path
                self._at[path] = timeline
                self._add_step(timeline, stamp, path, after, is_found=False, wrote=False)
            else:
                self._apply_change(stamp, path, after, is_found=is_found)
        for path, timeline in carried.items():
            if self._at.get(path) is not timeline:  # it changed places with one that says the same
                timeline.path = path
                self._at[path] = timeline
        paths = {change[0] for change in changes}
        texts = {
            str(after[1]) for _, _, after in changes if after is not None and after[0] == EntryKind.FILE and after[1]
        }
        return EventChanges(paths, texts, fields.get("redacted", ()))

    def _apply_change(
        self, stamp: tuple[int, int, str], path: str, after: list[str | int | None] | None, *, is_found: bool
    ) -> None:
        timeline = self._at.get(path)
        is_file = after is not None and after[0] == EntryKind.FILE
        if timeline is None:
            if not is_file:
                return
            timeline = self._at[path] = NoteTimeline(path)
            self.timelines.append(timeline)
        self._add_step(timeline, stamp, path, after, is_found=is_found, wrote=True)

    def _add_step(
        self,
        timeline: NoteTimeline,
        stamp: tuple[int, int, str],
        path: str,
        after: list[str | int | None] | None,
        *,
        is_found: bool,
        wrote: bool,
    ) -> None:
        sha256: str | None = NOTHING
        size = 0
        if after is not None and after[0] == EntryKind.FILE:
            sha256 = str(after[1]) if after[1] else None
            size = int(after[2] or 0)
            if sha256 is None:
                self.never_kept += 1
            else:
                self._add_holder(sha256, timeline)
        timeline.exists = sha256 != NOTHING
        timeline.steps.append(NoteStep(*stamp, path, sha256, size, is_found))
        if wrote and timeline.exists:
            timeline.writers.add(stamp[2])

    def _add_holder(self, sha256: str, timeline: NoteTimeline) -> None:
        holder = self._holders.setdefault(sha256, timeline)
        if isinstance(holder, set):
            holder.add(timeline)
        elif holder is not timeline:
            self._holders[sha256] = {holder, timeline}

    def _intern_actor_name(self, actor: list[str | None]) -> str:
        """The actor's name as shown; equal names share one string."""
        key = "\0".join(str(part) for part in actor[:2])
        if key not in self._names:
            self._names[key] = format_actor_name(decode_actor(actor))
        return self._names[key]


def get_version(step: NoteStep) -> Version:
    return Version(EntryKind.FILE, step.sha256, step.size)
