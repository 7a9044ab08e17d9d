"""Saving a note with conflict detection.

The note may have been changed, deleted, moved or replaced meanwhile, or the disk may be full. Nothing is then written
before the person has chosen, and what stands there is in the history before anything takes its place.
"""

import itertools
import os
import time
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from memtui.core import diffs, wording
from memtui.core.errors import MemtuiError
from memtui.core.events import EntryKind, Event, Person, Version, format_actor_name, sha256
from memtui.core.history import ActionResult, SkipReason
from memtui.core.lazy_dataclass import dataclass
from memtui.core.text_format import PLAIN, NotText, TextFormat, parse_text
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.engine.executor import NOT_THERE, PathContent
from memtui.places.checks import Refusal, find_new_refusal

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.editing.drafts import EditDraft


_LOOKS = 4
"""Attempts to read a note that changes while it is read."""
_FIRST_STEPS, _STEPS = 64, 2_000
_MOVES = 16
"""Moves that are followed."""
_CONFLICTS = frozenset({SkipReason.CHANGED, SkipReason.UNREADABLE, SkipReason.IN_THE_WAY, SkipReason.TAKEN})
"""Reasons that leave the person a choice."""


class NoteChange(Enum):
    """The fate of a note while it was edited."""

    CHANGED = "changed"
    DELETED = "deleted"
    MOVED = "moved"
    REPLACED = "replaced"
    """A directory, a FIFO, a link out of the folder or a binary file stands there."""
    UNREADABLE = "unreadable"
    """What it holds cannot be kept, so nothing may take its place."""


class SaveTarget(Enum):
    """Where the person's text is written."""

    HERE = "here"
    FOLLOW = "follow"
    """Where the note was moved."""
    BESIDE = "beside"
    """Under a new name beside what stands there."""


@dataclass(frozen=True, slots=True)
class OpenedNote:
    """A note to edit.

    Attributes:
        path: Relative to the folder.
        data: `None` if nothing stands there, or if it cannot be read.
        version: The base of a save; `None` if nothing stands there.
        event: Its last change, if it is known.
        problem: Why it cannot be edited, as a sentence; empty if it can.
        former: Its former names, the last one first.
    """

    path: str
    data: bytes | None
    version: Version | None
    event: Event | None = None
    problem: str = ""
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteSaved:
    """The text was written.

    Attributes:
        version: The base of the next save.
        event: `None` where nothing had to be written.
        unchanged: Whether the note held exactly that already.
        warning: A problem in spite of that, as a sentence.
    """

    path: str
    version: Version
    event: Event | None = None
    unchanged: bool = False
    warning: str = ""


@dataclass(frozen=True, slots=True)
class SaveConflict:
    """Nothing was written: the note is not the version any more that the text was made from.

    Attributes:
        path: Relative to the folder.
        mine: The text to write.
        based_on: The version that it was made from; `None` where nothing stood.
        base: The bytes of that version; `None` where they are not known any more.
        theirs: What stands there now; `None` if nothing does, or if it is not a readable file.
        version: The base of a merged text; `None` if nothing stands there.
        moved_to: Where the note stands now, if it was moved.
        events: Its changes since, the newest first.
        base_event: The event that made the base.
        detail: A clause such as what stands there.
    """

    path: str
    mine: bytes
    based_on: Version | None
    base: bytes | None
    theirs: bytes | None
    version: Version | None
    situation: NoteChange
    moved_to: str | None = None
    events: tuple[Event, ...] = ()
    base_event: Event | None = None
    detail: str = ""

    @property
    def event(self) -> Event | None:
        """The last change."""
        return self.events[0] if self.events else None

    @property
    def current_path(self) -> str:
        return self.moved_to or self.path


@dataclass(frozen=True, slots=True)
class SaveFailed:
    """Nothing was written, and there is no choice; the words say what happened, why, and what to do."""

    words: str


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """The changes of a note since it was opened.

    Attributes:
        events: The newest first.
        added: Lines; `None` where lines do not apply.
        removed: Lines, likewise.
        moved_to: Where it stands now, if it was moved.
    """

    situation: NoteChange
    events: tuple[Event, ...]
    added: int | None = None
    removed: int | None = None
    moved_to: str | None = None


class NoteSaver:
    """Opens and saves one note, given relative to the folder; it need not exist. Blocking: call it from a thread."""

    def __init__(self, engine: Engine, path: str) -> None:
        self._engine = engine
        self.path = path

    def open(self) -> OpenedNote:
        """The note as it is now, after its content has been recorded."""
        try:
            seen, version = self._read_current(self.path)
            event = self._engine.history.find_last_event(self.path, self._engine.get_head()[0])
            rows = self._engine.history.versions_of(self.path, limit=_FIRST_STEPS)
        except (MemtuiError, OSError) as error:
            return OpenedNote(self.path, None, None, problem=f"It cannot be opened: {_format_reason(error)}.")
        former = tuple(dict.fromkeys(row.path for row in rows if row.path != self.path))
        problem = "" if seen.data is not None or _is_missing(seen) else seen.problem or f"It is {_describe_kind(seen)}."
        return OpenedNote(self.path, seen.data, version, event, problem, former)

    def save(
        self, data: bytes, based_on: Version | None, *, base: bytes | None = None
    ) -> NoteSaved | SaveConflict | SaveFailed:
        """Write a text, unless the note is not its base any more.

        Args:
            data: The whole text.
            based_on: The version that it was made from; `None` where nothing stood.
            base: The bytes of that version, in case the history does not have them.
        """
        return self._write(self.path, data, based_on, _WriteBase(based_on, base))

    def find_refusal(self, text: str, before: str) -> Refusal | None:
        """Why the program of the folder's agent would refuse a text, if it does not refuse the one before already."""
        dialect = self._engine.dialect
        refusal = find_new_refusal(dialect, self.path, text, before)
        return None if refusal is None else refusal._replace(words=f"{dialect.title} refuses it: {refusal.words}")

    def find_conflict(self, mine: bytes, based_on: Version | None, *, base: bytes | None = None) -> SaveConflict | None:
        """The conflict that a save would meet now; `None` for none. Nothing is written. Arguments as of `save`.

        Raises:
            MemtuiError, OSError: It cannot be known.
        """
        found = self._build_conflict(self.path, mine, _WriteBase(based_on, base))
        is_as_it_was = found.version == based_on and found.situation in (NoteChange.CHANGED, NoteChange.DELETED)
        return None if is_as_it_was else found

    def write_mine(
        self, conflicted: SaveConflict, where: SaveTarget = SaveTarget.HERE
    ) -> NoteSaved | SaveConflict | SaveFailed:
        """Write the person's text in the place of theirs, which stays in the history, or elsewhere.

        If the note changed once more meanwhile, that is another conflict, and nothing is written either.
        """
        match where:
            case SaveTarget.FOLLOW if conflicted.moved_to is not None:
                path, based_on = conflicted.moved_to, conflicted.version
            case SaveTarget.BESIDE:
                path, based_on = self._find_free_name(conflicted.path), None
            case _:
                path = conflicted.path
                based_on = None if conflicted.situation is NoteChange.MOVED else conflicted.version
        return self._write(path, conflicted.mine, based_on, _WriteBase(conflicted.based_on, conflicted.base))

    def find_changes_since(self, based_on: Version | None, *, base: bytes | None = None) -> ChangesSince | None:
        """The changes of the note since a version; `None` if there are none. Arguments as of `save`.

        Raises:
            MemtuiError, OSError: It cannot be known.
        """
        now = self.find_conflict(b"", based_on, base=base)
        if now is None:
            return None
        added = removed = None
        if (
            now.situation is NoteChange.CHANGED
            and now.base is not None
            and now.theirs is not None
            and is_text(now.base)
        ):
            added, removed = diffs.count_changes(parse_text(now.base).text, parse_text(now.theirs).text)
        return ChangesSince(now.situation, now.events, added, removed, now.moved_to)

    def _write(
        self, path: str, data: bytes, based_on: Version | None, base: "_WriteBase"
    ) -> NoteSaved | SaveConflict | SaveFailed:
        try:
            restored = self._engine.write(path, data, based_on=based_on)
            if restored.event is not None:
                return NoteSaved(path, compute_version(data), restored.event, warning=restored.problem)
            seen = self._engine.inspect_path(path)
            if not restored.skipped and seen.data == data:
                return NoteSaved(path, compute_version(data), unchanged=True)
            if any(entry.reason in _CONFLICTS for entry in restored.skipped) or _is_outside(seen):
                return self._build_conflict(path, data, base, restored)
        except (MemtuiError, OSError, ValueError) as error:
            return SaveFailed(f"Not saved: {_format_reason(error)}. {_KEPT}")
        return SaveFailed(f"{restored.problem} {_KEPT}")

    def _read_current(self, path: str) -> tuple[PathContent, Version | None]:
        """The content of a path, once it is in the history, and its version."""
        for _ in range(_LOOKS):
            if not self._engine.read_only:
                self._engine.reconcile([path])
            seen = self._engine.inspect_path(path)
            if seen.data is not None and not self._engine.read_only and _is_link(seen):
                self._engine.reconcile([self._resolve_path(path)])
            if seen.data is None:
                version = Version(seen.node.kind) if seen.node is not None else None
            else:
                version = compute_version(seen.data)
            if seen.data is None or self._engine.read_only or self._is_in_history(version):
                break
        return seen, version

    def _resolve_path(self, path: str) -> str:
        """The target of a link, as a rehearsed write reports it."""
        rehearsed = self._engine.write(path, b"", based_on=_NEVER, rehearse=True)
        return rehearsed.skipped[0].path if rehearsed.skipped else path

    def _is_in_history(self, version: Version | None) -> bool:
        return self._engine.history.text(version) is not None

    def _build_conflict(
        self, path: str, mine: bytes, since: "_WriteBase", restored: ActionResult | None = None
    ) -> SaveConflict:
        seen, version = self._read_current(path)
        based_on, base = since.version, since.data
        if base is None or based_on is None or compute_version(base) != based_on:
            base = self._engine.history.text(based_on)
        places = [self._resolve_path(path) if seen.data is not None and _is_link(seen) else path]
        skipped = restored.skipped if restored is not None else ()
        if _is_missing(seen):
            places += self._find_moves(path)
            there, there_version = self._read_current(places[-1])
            situation, detail = NoteChange.DELETED, ""
            if there.data is not None:
                situation, seen, version = NoteChange.MOVED, there, there_version
            if any(entry.reason is SkipReason.IN_THE_WAY for entry in skipped):
                situation, detail = NoteChange.REPLACED, "something else is where its directory was"
        else:
            situation, detail = self._classify_change(seen, version)
        events, base_event = self._find_events_since(places, based_on)
        if not events:
            events = tuple(entry.since for entry in skipped if entry.since is not None)
        moved_to = places[-1] if situation is NoteChange.MOVED else None
        detail = detail[:1].lower() + detail[1:].rstrip(".")
        return SaveConflict(
            path, mine, based_on, base, seen.data, version, situation, moved_to, events, base_event, detail
        )

    def _classify_change(self, seen: PathContent, version: Version | None) -> tuple[NoteChange, str]:
        """The fate of a note at whose path something stands, and a clause about it."""
        if seen.data is None and seen.node is not None and seen.node.kind is EntryKind.FILE:
            return NoteChange.UNREADABLE, seen.problem
        if seen.data is None:
            return NoteChange.REPLACED, seen.problem or f"it is {_describe_kind(seen)} now"
        if not self._is_in_history(version):
            return NoteChange.UNREADABLE, "its content cannot be kept in the history"
        return (NoteChange.CHANGED, "") if is_text(seen.data) else (NoteChange.REPLACED, "it is not text any more")

    def _find_events_since(
        self, places: Sequence[str], based_on: Version | None
    ) -> tuple[tuple[Event, ...], Event | None]:
        """The changes of a note under its successive names since a version, the newest first; and its event."""
        found: dict[int, Event] = {}
        base_event: Event | None = None
        for place in places:
            for limit in (_FIRST_STEPS, _STEPS):
                events: list[Event] = []
                rows = self._engine.history.versions_of(place, limit=limit)
                for row in rows:
                    if row.after == based_on and row.moved_to is None and row.moved_from is None:
                        base_event = base_event or row.event
                        break
                    events.append(row.event)
                else:
                    if len(rows) == limit:
                        continue  # it is further back
                break
            found.update((event.seq, event) for event in events)
        return tuple(found[seq] for seq in sorted(found, reverse=True)), base_event

    def _find_moves(self, path: str) -> list[str]:
        """The successive names of a note that was moved away from a path."""
        names: list[str] = []
        here = path
        while len(names) < _MOVES:
            row = next(iter(self._engine.history.versions_of(here, limit=1)), None)
            if row is None or row.path != here or row.moved_to is None:
                break
            here = row.moved_to
            names.append(here)
        return names

    def _find_free_name(self, path: str) -> str:
        """A free name: `notes (mine).md`, then `notes (mine 2).md`; beside the folder, if that is no folder."""
        folder, name = os.path.split(path)
        above = folder
        while above:
            entry = self._engine.get_entry(above)
            if entry is not None and entry.kind is not EntryKind.DIRECTORY:
                folder = os.path.dirname(above)
            above = os.path.dirname(above)
        stem, extension = os.path.splitext(name)
        for number in itertools.count(1):
            free = os.path.join(folder, f"{stem} (mine{f' {number}' if number > 1 else ''}){extension}")
            if self._engine.inspect_path(free).problem == NOT_THERE:
                return free
        raise AssertionError("there is always another number")


@dataclass(frozen=True, slots=True)
class _WriteBase:
    """The version that a text was made from."""

    version: Version | None
    data: bytes | None


_NEVER = Version(EntryKind.OTHER, "-")
"""A version that nothing has."""
_KEPT = "Your text stays here."


def compute_version(data: bytes) -> Version:
    return Version(EntryKind.FILE, sha256(data), len(data))


def is_text(data: bytes) -> bool:
    """Whether bytes can be edited as a text."""
    try:
        parse_text(data)
    except NotText:
        return False
    return True


def _is_missing(seen: PathContent) -> bool:
    return seen.node is None and seen.problem == NOT_THERE


def _is_link(seen: PathContent) -> bool:
    return seen.node is not None and seen.node.kind is EntryKind.LINK


def _is_outside(seen: PathContent) -> bool:
    """Whether the path leads out of reach behind a link."""
    return seen.data is None and not _is_missing(seen)


def _describe_kind(seen: PathContent) -> str:
    if seen.node is None:
        return "nothing that can be read"
    kinds = {
        EntryKind.DIRECTORY: "a directory",
        EntryKind.LINK: "a link",
        EntryKind.OTHER: "a FIFO, a socket or a device",
    }
    return kinds.get(seen.node.kind, "not a readable file")


def _format_reason(error: BaseException) -> str:
    """An error's words as part of a sentence, without a full stop."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    words = str(error).rstrip(".")
    first = words.split(" ", 1)[0]
    return words[:1].lower() + words[1:] if first.istitle() and first.isalpha() else words


# What a text is made from: the version that the next save is compared with.

LARGEST = 4_000_000
"""Bytes of the largest note that can be edited here; a larger one makes each key slow."""
_BINARY_WITHIN = 8_192


@dataclass(frozen=True, slots=True)
class EditBase:
    """The version of a note that a text is made from.

    Attributes:
        path: Relative to the folder.
        version: `None` where nothing stands.
        shape: Its text, line ends and byte-order mark.
        event: The event that made it, if it is known.
    """

    path: str
    version: Version | None
    data: bytes | None
    shape: TextFormat
    event: Event | None = None

    @property
    def text(self) -> str:
        """Empty where nothing stands."""
        return self.shape.text if self.data is not None else ""

    @property
    def sha256(self) -> str | None:
        """The key of its draft."""
        return self.version.sha256 if self.version else None


@dataclass(frozen=True, slots=True)
class EditableNote:
    """A note for the editor.

    Attributes:
        text: The text of the note, or escapes where it has none.
        problem: Why it can only be read, as a sentence; empty if it can be edited.
        is_too_large: Whether that is only because of its size: another editor may be able to.
    """

    base: EditBase
    text: str
    problem: str = ""
    is_too_large: bool = False


def prepare_note(opened: "OpenedNote") -> EditableNote:
    """An opened note as an editor can show it."""
    data = opened.data
    if data is None:
        return EditableNote(EditBase(opened.path, opened.version, None, PLAIN, opened.event), "", opened.problem)
    problem = opened.problem
    try:
        shape = parse_text(data)
        text = shape.text
    except NotText as error:
        shape, problem = PLAIN, problem or str(error)
        binary = b"\0" in data[:_BINARY_WITHIN]
        text = "" if binary else data.decode("utf-8", "surrogateescape")
    is_too_large = not problem and len(data) > LARGEST
    if is_too_large:
        problem = f"Too large to edit here: {len(data) / 1e6:.1f} MB. Esc, then E opens it in your own editor."
    return EditableNote(EditBase(opened.path, opened.version, data, shape, opened.event), text, problem, is_too_large)


def update_base(saved: "NoteSaved", basis: EditBase, text: str, data: bytes) -> EditBase:
    """The base of the text after it was saved."""
    shape = TextFormat(text, basis.shape.bom, (), basis.shape.end) if not basis.shape.ends else parse_text(data)
    return EditBase(saved.path, saved.version, data, shape, saved.event or basis.event)


def get_theirs(conflicted: "SaveConflict") -> EditBase:
    """The base of a text that is made from what stands there now.

    Raises:
        NotText: It is no text.
    """
    data = conflicted.theirs
    shape = PLAIN if data is None else parse_text(data)
    return EditBase(conflicted.current_path, conflicted.version, data, shape, conflicted.event)


def find_draft_base(draft: "EditDraft", now: EditBase, engine: "Engine") -> EditBase:
    """The base of a draft. One that is not known any more is in conflict with everything."""
    if draft.base == now.sha256:
        return now
    version = Version(EntryKind.FILE, draft.base) if draft.base is not None else None
    data = engine.history.text(version) if version is not None else None
    if version is None or data is None:
        return EditBase(now.path, version, None, now.shape)
    try:
        return EditBase(now.path, Version(EntryKind.FILE, draft.base, len(data)), data, parse_text(data))
    except NotText:
        return EditBase(now.path, version, None, now.shape)


# What became of a memory while somebody edits it, in words.


def format_author(conflicted: SaveConflict) -> str:
    """The author of the changes, within a sentence."""
    actors = {each.actor for each in conflicted.events}
    if len(actors) != 1:
        return "others"
    event = conflicted.events[0]
    if event.is_outside:
        return "another program"
    return "you elsewhere" if isinstance(event.actor, Person) else to_one_line(format_actor_name(event.actor))


def format_did(conflicted: SaveConflict) -> str:
    """The changes and who made them: `Claude's changes`."""
    match format_author(conflicted):
        case "you elsewhere":
            return "your changes elsewhere"
        case "others":
            return "the changes of others"
        case name:
            return f"{name}'s changes"


def format_possessive(conflicted: SaveConflict) -> str:
    """The owner of the version that stands there."""
    name = format_author(conflicted)
    if name == "you elsewhere":
        return "your other version"
    return "theirs" if " " in name or name == "others" else f"{name}'s"


def describe_change(since: ChangesSince) -> str:
    """A sentence such as `Claude changed this note 3s ago (+1 -1).`"""
    event = since.events[0] if since.events else None
    who = wording.format_actor(event) if event is not None else "Another program"
    if event is not None and isinstance(event.actor, Person):
        who = "You (elsewhere)"
    ago = f" {format_ago(event.at_us)}" if event is not None else ""
    match since.situation:
        case NoteChange.CHANGED:
            counts = " ".join(f"{sign}{count:,}" for sign, count in (("+", since.added), ("-", since.removed)) if count)
            how = f" {len(since.events):,} times" if len(since.events) > 1 else ago
            return f"{who} changed this note{how}{f' ({counts})' if counts else ''}."
        case NoteChange.DELETED:
            return f"{who} deleted this note{ago}."
        case NoteChange.MOVED:
            return f"{who} moved this note{ago} to {to_one_line(since.moved_to or '')}."
        case NoteChange.REPLACED:
            return f"{who} replaced this note with something else{ago}."
        case _:
            return "This note can no longer be read."


def format_ago(at_us: int) -> str:
    seconds = max(time.time() - at_us / 1e6, 0)
    return "just now" if seconds < 2 else f"{wording.format_age(seconds)} ago"
