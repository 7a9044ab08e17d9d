"""The journal as search needs it: which thing held which text from when to when, who wrote it, when it changed last.

A *thing* is what a person calls a note: it keeps its past when it is renamed, and takes it up again when something is
written where it stood. Walked once, then only what is new.
"""

import json
from collections.abc import Collection
from typing import NamedTuple

from memtui.core.actors import shown_name
from memtui.core.events import Version
from memtui.core.snapshot import Kind
from memtui.engine.history import History, moves
from memtui.journal.chain import decoded_actor

NOTHING = ""
"""The text of a step at which nothing is left."""
_FOUND = "found"
_REDACTED = b'"redacted":'
_RENAMED = b'"new_path":'


class Step(NamedTuple):
    """One change of a thing.

    Attributes:
        seq: The event's number.
        at_us: When, in microseconds since 1970.
        who: Who, as shown.
        path: What it is called after it.
        sha256: The text since; `NOTHING` where none is left, `None` where it was never kept.
        size: Its bytes.
        is_found: Whether it only says what was there when memtui first looked.
    """

    seq: int
    at_us: int
    who: str
    path: str
    sha256: str | None
    size: int
    is_found: bool


class Thing:
    """A note through time.

    Attributes:
        path: What it is called; what it was called last, where it is gone.
        stands: Whether it is there.
        steps: What happened to it, in order.
        writers: Who wrote any of it, as shown.
    """

    __slots__ = ("path", "stands", "steps", "writers")

    def __init__(self, path: str) -> None:
        self.path = path
        self.stands = False
        self.steps: list[Step] = []
        self.writers: set[str] = set()

    @property
    def last_change(self) -> Step | None:
        """The last time that it changed; `None` if memtui only found it."""
        return next((step for step in reversed(self.steps) if not step.is_found), None)


class Taken(NamedTuple):
    """What an event was about.

    Attributes:
        paths: What it changed.
        texts: SHA-256 of the texts that stand since.
        removed: SHA-256 of the texts that it removed from the record.
    """

    paths: Collection[str] = ()
    texts: Collection[str] = ()
    removed: Collection[str] = ()


class Record:
    """All things that there ever were. Not for several threads at once.

    Attributes:
        seq: The number of the last event that was taken in.
        things: All of them, those that are gone included.
        holders: By the SHA-256 of a text, the things that held it.
        never_kept: Versions whose text was not kept from the first, such as of files that are too large.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.things: list[Thing] = []
        self.holders: dict[str, set[Thing]] = {}
        self.never_kept = 0
        self._at: dict[str, Thing] = {}
        self._names: dict[str, str] = {}

    def at(self, path: str) -> Thing | None:
        """The thing at a path, or the last one that was there; `None` if there was none."""
        return self._at.get(path)

    def take_in(self, seq: int, body: bytes, history: History) -> Taken:
        """Take in one event.

        Args:
            seq: Its number, the one behind the last.
            body: Its canonical bytes.
            history: Where the whole event can be had, if it takes that.
        """
        self.seq = seq
        has_changes = b'"changes":' in body
        if not has_changes and _REDACTED not in body:
            return Taken()
        fields = json.loads(body)
        changes = fields.get("changes", ())
        moved: dict[str, str] = {}
        if len(changes) > 1 and (_RENAMED in body or fields.get("command") != _FOUND):
            event = history.event(seq)
            moved = moves(event) if event is not None else {}
        who = self._name_of(fields["actor"])
        stamp = (seq, fields["at_us"], who)
        is_found = fields.get("command") == _FOUND
        carried = {new: self._at.pop(old) for new, old in moved.items() if old in self._at}
        for path, _, after in changes:
            if path in carried:
                thing = carried[path]
                thing.path = path
                self._at[path] = thing
                self._add(thing, stamp, path, after, is_found=False, wrote=False)
            else:
                self._change(stamp, path, after, is_found=is_found)
        for path, thing in carried.items():
            if self._at.get(path) is not thing:  # it changed places with one that says the same
                thing.path = path
                self._at[path] = thing
        paths = {change[0] for change in changes}
        texts = {str(after[1]) for _, _, after in changes if after is not None and after[0] == Kind.FILE and after[1]}
        return Taken(paths, texts, fields.get("redacted", ()))

    def _change(
        self, stamp: tuple[int, int, str], path: str, after: list[str | int | None] | None, *, is_found: bool
    ) -> None:
        thing = self._at.get(path)
        is_file = after is not None and after[0] == Kind.FILE
        if thing is None:
            if not is_file:
                return
            thing = self._at[path] = Thing(path)
            self.things.append(thing)
        self._add(thing, stamp, path, after, is_found=is_found, wrote=True)

    def _add(
        self,
        thing: Thing,
        stamp: tuple[int, int, str],
        path: str,
        after: list[str | int | None] | None,
        *,
        is_found: bool,
        wrote: bool,
    ) -> None:
        sha256: str | None = NOTHING
        size = 0
        if after is not None and after[0] == Kind.FILE:
            sha256 = str(after[1]) if after[1] else None
            size = int(after[2] or 0)
            if sha256 is None:
                self.never_kept += 1
            else:
                self.holders.setdefault(sha256, set()).add(thing)
        thing.stands = sha256 != NOTHING
        thing.steps.append(Step(*stamp, path, sha256, size, is_found))
        if wrote and thing.stands:
            thing.writers.add(stamp[2])

    def _name_of(self, actor: list[str | None]) -> str:
        """The actor's name as it is shown, one string for each."""
        key = "\0".join(str(part) for part in actor[:2])
        if key not in self._names:
            self._names[key] = shown_name(decoded_actor(actor))
        return self._names[key]


def version_of(step: Step) -> Version:
    """What stood there after a step."""
    return Version(Kind.FILE, step.sha256, step.size)
