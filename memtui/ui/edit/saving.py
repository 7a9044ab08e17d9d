"""The course of a save: what a person wrote goes to where it belongs, or comes back with the reason why not.

An agent may have changed the note meanwhile, deleted it, moved it away or put something else in its place; the disk may
be full. Whichever it is, nothing is written before the person has chosen, and what stands there is in the history
before anything takes its place.
"""

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from memtui.core import diffs
from memtui.core.errors import MemtuiError
from memtui.core.events import Event, Version, sha256
from memtui.core.restoring import Restored, Why
from memtui.core.shape import NotText, shaped
from memtui.core.snapshot import Kind
from memtui.engine import Engine
from memtui.engine.viewing import NOT_THERE, Seen

_LOOKS = 4
"""How often it is looked again when what stands there changes while it is looked at."""
_FIRST_STEPS, _STEPS = 64, 2_000
"""Changes of a note that are gone through for what became of it: these first, then so many at most."""
_MOVES = 16
"""Moves that a note is followed through."""
_CONFLICTS = frozenset({Why.CHANGED, Why.UNREADABLE, Why.IN_THE_WAY, Why.TAKEN})
"""Reasons about which the person can choose something."""


class Situation(Enum):
    """What became of a note while somebody edited it."""

    CHANGED = "changed"
    DELETED = "deleted"
    MOVED = "moved"
    """It has another name now."""
    REPLACED = "replaced"
    """Something stands there that is no text: a directory, a FIFO, a link out of the folder, a binary file."""
    UNREADABLE = "unreadable"
    """It cannot be read any more: what it holds cannot be kept, so nothing may take its place."""


class Keep(Enum):
    """Where mine is written."""

    HERE = "here"
    FOLLOW = "follow"
    """Where the note was moved."""
    BESIDE = "beside"
    """Under a new name beside what stands there."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A note as it is about to be edited.

    Attributes:
        path: Relative to the folder.
        data: Its bytes; `None` if nothing stands there, or if they cannot be read.
        version: What it is, to base a save on; `None` if nothing stands there.
        event: What made it so, where that is known.
        problem: Why it cannot be edited, as a sentence; empty if it can.
        former: What it was called before, the last name first.
    """

    path: str
    data: bytes | None
    version: Version | None
    event: Event | None = None
    problem: str = ""
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """It is written.

    Attributes:
        path: Where.
        version: What stands there now, to base the next save on.
        event: What was recorded; `None` where nothing had to be written.
        unchanged: Whether it held exactly that already.
        warning: What is not well with it all the same, as a sentence; empty if all is.
    """

    path: str
    version: Version
    event: Event | None = None
    unchanged: bool = False
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Conflicted:
    """It is not written: the note is not what it was made from any more.

    Attributes:
        path: Relative to the folder.
        mine: What was to be written.
        based_on: The version that it was made from; `None` where nothing stood.
        base: Its bytes; `None` where they are not known any more.
        theirs: What stands there now; `None` if nothing does, or if it is no file that can be read.
        version: What stands there now, to base a merged text on; `None` for nothing.
        situation: What became of it.
        moved_to: Where it stands now, if it was moved.
        events: What was done to it since, the newest first.
        base_event: What had made the base.
        detail: More about it, such as what stands there; empty if there is no more.
    """

    path: str
    mine: bytes
    based_on: Version | None
    base: bytes | None
    theirs: bytes | None
    version: Version | None
    situation: Situation
    moved_to: str | None = None
    events: tuple[Event, ...] = ()
    base_event: Event | None = None
    detail: str = ""

    @property
    def event(self) -> Event | None:
        """The last thing that was done to it."""
        return self.events[0] if self.events else None

    @property
    def place(self) -> str:
        """Where it stands now."""
        return self.moved_to or self.path


@dataclass(frozen=True, slots=True)
class Failed:
    """It is not written, and nothing can be chosen about it now.

    Attributes:
        words: What happened, why, and what to do.
    """

    words: str


@dataclass(frozen=True, slots=True)
class Since:
    """What became of a note since it was opened.

    Attributes:
        situation: What.
        events: By which events, the newest first.
        added: Lines that are there now and were not; `None` where lines do not apply.
        removed: Lines that were there.
        moved_to: Where it stands now, if it was moved.
    """

    situation: Situation
    events: tuple[Event, ...]
    added: int | None = None
    removed: int | None = None
    moved_to: str | None = None


class Saving:
    """Opens one note to be edited, and saves it. Every method waits for disk and journal: call it from a thread.

    Args:
        engine: The memory.
        path: The note, relative to the folder. It need not be there yet.
    """

    def __init__(self, engine: Engine, path: str) -> None:
        self._engine = engine
        self.path = path

    def open(self) -> Opened:
        """The note as it is now; what it holds is in the history before the person types the first letter."""
        try:
            seen, version = self._look(self.path)
            event = self._engine.history.last_touching(self.path, self._engine.head()[0])
            rows = self._engine.history.versions_of(self.path, limit=_FIRST_STEPS)
        except (MemtuiError, OSError) as error:
            return Opened(self.path, None, None, problem=f"It cannot be opened: {_reason(error)}.")
        former = tuple(dict.fromkeys(row.path for row in rows if row.path != self.path))
        problem = "" if seen.data is not None or _is_nothing(seen) else seen.problem or f"It is {_kind_of(seen)}."
        return Opened(self.path, seen.data, version, event, problem, former)

    def save(self, data: bytes, based_on: Version | None, *, base: bytes | None = None) -> Saved | Conflicted | Failed:
        """Write a text, unless the note is not what it was made from any more.

        Args:
            data: All bytes of it.
            based_on: The version that it was made from; `None` where nothing stood.
            base: The bytes of that version, in case the history does not have them.
        """
        return self._save(self.path, data, based_on, _Base(based_on, base))

    def conflict(self, mine: bytes, based_on: Version | None, *, base: bytes | None = None) -> Conflicted | None:
        """What a save would be in conflict with now; `None` if with nothing. Nothing is written.

        Args:
            mine: What would be written.
            based_on: The version that it was made from; `None` where nothing stood.
            base: Its bytes, in case the history does not have them.

        Raises:
            MemtuiError, OSError: It cannot be known.
        """
        found = self._state(self.path, mine, _Base(based_on, base))
        is_as_it_was = found.version == based_on and found.situation in (Situation.CHANGED, Situation.DELETED)
        return None if is_as_it_was else found

    def keep_mine(self, conflicted: Conflicted, where: Keep = Keep.HERE) -> Saved | Conflicted | Failed:
        """Write mine in the place of theirs, which stays in the history; or wherever else the person wants it.

        If it changed once more meanwhile, that is another conflict, and nothing is written either.

        Args:
            conflicted: What she was asked about.
            where: Where it is to stand.
        """
        match where:
            case Keep.FOLLOW if conflicted.moved_to is not None:
                path, based_on = conflicted.moved_to, conflicted.version
            case Keep.BESIDE:
                path, based_on = self._free_name(conflicted.path), None
            case _:
                path = conflicted.path
                based_on = None if conflicted.situation is Situation.MOVED else conflicted.version
        return self._save(path, conflicted.mine, based_on, _Base(conflicted.based_on, conflicted.base))

    def since(self, based_on: Version | None, *, base: bytes | None = None) -> Since | None:
        """What became of the note since it was a version; `None` if it is still that. For the line that tells so live.

        Args:
            based_on: The version that is being edited.
            base: Its bytes, in case the history does not have them.

        Raises:
            MemtuiError, OSError: It cannot be known.
        """
        now = self.conflict(b"", based_on, base=base)
        if now is None:
            return None
        added = removed = None
        if now.situation is Situation.CHANGED and now.base is not None and now.theirs is not None and is_text(now.base):
            added, removed = diffs.counts(shaped(now.base).text, shaped(now.theirs).text)
        return Since(now.situation, now.events, added, removed, now.moved_to)

    def _save(self, path: str, data: bytes, based_on: Version | None, base: "_Base") -> Saved | Conflicted | Failed:
        try:
            restored = self._engine.write(path, data, based_on=based_on)
            if restored.event is not None:
                return Saved(path, version_of(data), restored.event, warning=restored.problem)
            seen = self._engine.look(path)
            if not restored.left and seen.data == data:
                return Saved(path, version_of(data), unchanged=True)
            if any(left.why in _CONFLICTS for left in restored.left) or _leads_away(seen):
                return self._state(path, data, base, restored)
        except (MemtuiError, OSError, ValueError) as error:
            return Failed(f"Not saved: {_reason(error)}. {_KEPT}")
        return Failed(f"{restored.problem} {_KEPT}")

    # What stands there

    def _look(self, path: str) -> tuple[Seen, Version | None]:
        """What stands at a path, once it is in the history; and its version."""
        for _ in range(_LOOKS):
            if not self._engine.read_only:
                self._engine.reconcile([path])
            seen = self._engine.look(path)
            if seen.data is not None and not self._engine.read_only and _is_link(seen):
                self._engine.reconcile([self._real(path)])
            if seen.data is None:
                version = Version(seen.node.kind) if seen.node is not None else None
            else:
                version = version_of(seen.data)
            if seen.data is None or self._engine.read_only or self._is_kept(version):
                break
        return seen, version

    def _real(self, path: str) -> str:
        """Where a note lies that stands behind a link: what a rehearsal of writing to it would not overwrite."""
        rehearsed = self._engine.write(path, b"", based_on=_NEVER, rehearse=True)
        return rehearsed.left[0].path if rehearsed.left else path

    def _is_kept(self, version: Version | None) -> bool:
        return self._engine.history.text(version) is not None

    def _state(self, path: str, mine: bytes, since: "_Base", restored: Restored | None = None) -> Conflicted:
        """What became of a note, in full."""
        seen, version = self._look(path)
        based_on, base = since.version, since.data
        if base is None or based_on is None or version_of(base) != based_on:
            base = self._engine.history.text(based_on)
        places = [self._real(path) if seen.data is not None and _is_link(seen) else path]
        situation, detail = Situation.CHANGED, ""
        if _is_nothing(seen):
            places += self._moves_from(path)
            there, there_version = self._look(places[-1])
            situation = Situation.DELETED
            if there.data is not None:
                situation, seen, version = Situation.MOVED, there, there_version
            if restored is not None and any(left.why is Why.IN_THE_WAY for left in restored.left):
                situation, detail = Situation.REPLACED, "something else stands where its folder was"
        elif seen.data is None and seen.node is not None and seen.node.kind is Kind.FILE:
            situation, detail = Situation.UNREADABLE, seen.problem
        elif seen.data is None:
            situation, detail = Situation.REPLACED, seen.problem or f"{_kind_of(seen)} stands there now"
        elif not self._is_kept(version):
            situation, detail = Situation.UNREADABLE, "what it holds cannot be kept in the history"
        elif not is_text(seen.data):
            situation, detail = Situation.REPLACED, "what stands there now is no text"
        events, base_event = self._events_since(places, based_on)
        if not events and restored is not None:
            events = tuple(left.since for left in restored.left if left.since is not None)
        moved_to = places[-1] if situation is Situation.MOVED else None
        words = detail.rstrip(".")
        words = words[:1].lower() + words[1:]
        return Conflicted(
            path, mine, based_on, base, seen.data, version, situation, moved_to, events, base_event, words
        )

    def _events_since(self, places: Sequence[str], based_on: Version | None) -> tuple[tuple[Event, ...], Event | None]:
        """What was done to a note since it was a version, the newest first; and what had made it that.

        Args:
            places: What it was called, one after the other.
            based_on: The version.
        """
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

    def _moves_from(self, path: str) -> list[str]:
        """What a note was called after it was moved away from a path, one name after the other."""
        names: list[str] = []
        here = path
        while len(names) < _MOVES:
            row = next(iter(self._engine.history.versions_of(here, limit=1)), None)
            if row is None or row.path != here or row.moved_to is None:
                break
            here = row.moved_to
            names.append(here)
        return names

    def _free_name(self, path: str) -> str:
        """A name beside a note that nothing has: of `notes.md` it is `notes (mine).md`, then `notes (mine 2).md`.

        Where something else stands in place of its folder, it is one beside that.
        """
        folder, name = os.path.split(path)
        above = folder
        while above:
            entry = self._engine.entry(above)
            if entry is not None and entry.kind is not Kind.DIRECTORY:
                folder = os.path.dirname(above)
            above = os.path.dirname(above)
        stem, extension = os.path.splitext(name)
        for number in itertools.count(1):
            free = os.path.join(folder, f"{stem} (mine{f' {number}' if number > 1 else ''}){extension}")
            if self._engine.look(free).problem == NOT_THERE:
                return free
        raise AssertionError("there is always another number")


@dataclass(frozen=True, slots=True)
class _Base:
    """What a text was made from, whatever it is to take the place of now."""

    version: Version | None
    data: bytes | None


_NEVER = Version(Kind.OTHER, "-")
"""A version that nothing is."""
_KEPT = "Your text stays here."


def version_of(data: bytes) -> Version:
    """The version that some bytes are."""
    return Version(Kind.FILE, sha256(data), len(data))


def is_text(data: bytes) -> bool:
    """Whether some bytes can be edited as a text."""
    try:
        shaped(data)
    except NotText:
        return False
    return True


def _is_nothing(seen: Seen) -> bool:
    return seen.node is None and seen.problem == NOT_THERE


def _is_link(seen: Seen) -> bool:
    return seen.node is not None and seen.node.kind is Kind.LINK


def _leads_away(seen: Seen) -> bool:
    """Whether what stands there is out of reach behind a link."""
    return seen.data is None and not _is_nothing(seen)


def _kind_of(seen: Seen) -> str:
    kinds = {Kind.DIRECTORY: "a folder", Kind.LINK: "a link", Kind.OTHER: "a FIFO, a socket or a device"}
    return (
        kinds.get(seen.node.kind, "no file that can be read") if seen.node is not None else "nothing that can be read"
    )


def _reason(error: BaseException) -> str:
    """An error's words as part of a sentence, without its stop."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    words = str(error).rstrip(".")
    first = words.split(" ", 1)[0]
    return words[:1].lower() + words[1:] if first.istitle() and first.isalpha() else words
