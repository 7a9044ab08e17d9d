"""When an agent last read each note, and who changed it last: one pass over the journal.

The file system cannot tell: a backup reads every file, and many systems keep no time of reading at all. So nothing here
looks at the folder; what the journal does not know is not known, and that is said.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.core.actors import shown_name
from memtui.core.paths import ROOT_NAME
from memtui.core.snapshot import Kind
from memtui.engine.history import History, moves
from memtui.journal.chain import decode, decoded_actor

_PAGE = 2_000
_BY_AGENT = b'{"actor":["agent",'
_VIEWED = b'"viewed":'
_CHANGES = b'"changes":'
_CLAIMED = b'"command":"claimed"'
_FAILED = b'"is_error":'
_FOUND = "found"
_BELOW = ROOT_NAME + "/"


class Deed(NamedTuple):
    """Something that was done with a note.

    Attributes:
        seq: The event's number.
        at_us: When, in microseconds since 1970 (UTC).
        who: Who, as shown.
    """

    seq: int
    at_us: int
    who: str


class Use(NamedTuple):
    """What the journal knows of the use of one note.

    Attributes:
        read: When an agent last viewed it; `None` if none did since the journal began.
        change: When it last changed, its name included; `None` if it did not since memtui first looked.
        found_us: When memtui first looked and it was there already; `None` if its beginning is known.
    """

    read: Deed | None = None
    change: Deed | None = None
    found_us: int | None = None

    @property
    def last(self) -> Deed | None:
        """The later one of both."""
        known = [deed for deed in (self.read, self.change) if deed is not None]
        return max(known, key=lambda deed: deed.at_us, default=None)


NEVER = Use()


@dataclass(frozen=True, slots=True)
class Uses:
    """What the journal knows of the use of every note that stands.

    Attributes:
        by_path: Notes by their paths, relative to the folder.
        since_us: When the journal began; `None` if there is none.
        reads: How many views of notes by agents it has.
    """

    by_path: Mapping[str, Use] = field(default_factory=dict)
    since_us: int | None = None
    reads: int = 0

    def of(self, path: str) -> Use:
        """What is known of one note."""
        return self.by_path.get(path, NEVER)


def uses_of(history: History, *, until: int | None = None) -> Uses:
    """Pass over the journal once; from a thread. Views of a directory, and what a person looks at, are no reading.

    Args:
        history: The record.
        until: The number of the last event that is taken in; `None` for all.
    """
    walk = _Walk()
    after = 0
    while page := history.bodies(after, limit=_PAGE if until is None else min(_PAGE, until - after)):
        for seq, body in page:
            walk.take_in(seq, body)
        after = page[-1][0]
        if until is not None and after >= until:
            break
    return Uses(walk.standing, walk.since_us, walk.reads)


class _Walk:
    """The notes that stand, event by event."""

    def __init__(self) -> None:
        self.standing: dict[str, Use] = {}
        self.since_us: int | None = None
        self.reads = 0
        self._names: dict[str, str] = {}

    def take_in(self, seq: int, body: bytes) -> None:
        """Take in one event by its canonical bytes."""
        by_agent = body.startswith(_BY_AGENT)
        is_read = by_agent and _VIEWED in body and _FAILED not in body
        is_claim = by_agent and _CLAIMED in body
        if self.since_us is not None and not (is_read or is_claim or _CHANGES in body):
            return
        fields = json.loads(body)
        if self.since_us is None:
            self.since_us = fields["at_us"]
        deed = Deed(seq, fields["at_us"], self._name_of(fields["actor"]))
        path = fields.get("path", "").removeprefix(_BELOW)
        if is_read and fields.get("command") == "view":
            self.reads += 1
            self.standing[path] = self.standing.get(path, NEVER)._replace(read=deed)
        elif is_claim and (use := self.standing.get(path)) is not None and use.change is not None:
            self.standing[path] = use._replace(change=use.change._replace(who=deed.who))
        if changes := fields.get("changes"):
            moved: Mapping[str, str] = {}
            if len(changes) > 1 and ("new_path" in fields or "moved" in fields):
                moved = moves(decode(body, answer=None, arguments=None, hash=b""))
            self._change(deed, changes, moved, is_found=fields.get("command") == _FOUND)

    def _change(
        self, deed: Deed, changes: Collection[list[object]], moved: Mapping[str, str], *, is_found: bool
    ) -> None:
        carried = {new: self.standing.get(old, NEVER) for new, old in moved.items()}
        for path, _, after in changes:
            assert isinstance(path, str)
            if not isinstance(after, list) or after[0] != Kind.FILE:
                self.standing.pop(path, None)
            elif is_found:
                self.standing[path] = self.standing.get(path, NEVER)._replace(found_us=deed.at_us)
            else:
                self.standing[path] = (carried.get(path) or self.standing.get(path, NEVER))._replace(change=deed)
        told = {change[0] for change in changes}
        for path, use in carried.items():
            if path not in told:  # it changed places with one that says the same
                self.standing[path] = use._replace(change=deed)

    def _name_of(self, actor: list[str | None]) -> str:
        key = "\0".join(str(part) for part in actor[:2])
        if key not in self._names:
            self._names[key] = shown_name(decoded_actor(actor))
        return self._names[key]
