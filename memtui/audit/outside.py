"""Changes by unknown writers outside memtui that still matter.

A change from outside has no author, no call and no approval behind it: it is where a poisoned memory would come from.
Where most of a folder is written so, that is how the folder is kept, and it is told once and not of every note.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import NamedTuple

from memtui.audit.context import AuditContext, LineOffsets, Note
from memtui.audit.model import Hit
from memtui.core.events import EntryKind, Event, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT_NAME
from memtui.engine import Observer
from memtui.engine.claims import CLAIM
from memtui.engine.lineage import find_moves
from memtui.journal.chain import decode_actor, decode_body, decode_event, decode_version
from memtui.review.tracks import iter_event_bodies

RULE = "outside-change"
_BY_OUTSIDE = b'"actor":["outside"'
_FOUND = b'"command":"found"'  # what was there when memtui first looked is nobody's change
_CLAIMING = b'"command":"claimed"'
_FEWEST_USUAL = 20  # notes written from outside up to which each is a finding of its own
_DONE = {"created": "made", "modified": "changed", "deleted": "removed", "renamed": "renamed"}


@dataclass(frozen=True, slots=True)
class _ExternalStep:
    """One change of one path by somebody outside."""

    seq: int
    done: str
    is_gone: bool


def find_external_changes(subject: AuditContext, since: int | None) -> Iterator[Hit]:
    """Unclaimed changes from outside.

    Args:
        since: The number of the last reviewed event. `None` if there was no review: then only changes that still
            stand are reported, and those found just now.
    """
    if not subject.on_disk:
        return  # nothing was recorded at all, which is another finding
    steps = _collect_external_steps(subject, since or 0)
    stands = {path for path, own in steps.items() if path in subject.notes and not all(step.is_gone for step in own)}
    grouped = stands if len(stands) > max(_FEWEST_USUAL, len(subject.notes) / 2) else set()
    if grouped:
        last = max(step.seq for path in grouped for step in steps[path])
        yield _build_folder_hit(len(grouped), len(subject.notes), last)
    for path, own in sorted(steps.items()):
        unrecorded = [step for step in own if step.seq > subject.on_disk]
        if unrecorded:
            is_there = path in subject.notes or path in subject.others
            yield _build_unrecorded_hit(path, unrecorded, is_there=is_there)
        elif path in grouped:
            continue
        elif since is not None:
            yield _build_since_review_hit(path, own)
        elif path in stands:
            yield from _find_surviving_lines(subject, subject.notes[path], {step.seq for step in own})


def _collect_external_steps(subject: AuditContext, after: int) -> dict[str, list[_ExternalStep]]:
    """What somebody outside did to each path behind an event, the oldest first; what was claimed is left out."""
    found: list[tuple[int, str, str, bool]] = []
    claimed: set[int] = set()
    for number, body in iter_event_bodies(subject.observer, after):
        if _CLAIMING in body:
            match = CLAIM.match(str(decode_body(body).get("note", "")))
            claimed |= {int(match[1])} if match else set()
        elif _BY_OUTSIDE in body and _FOUND not in body:
            event = decode_body(body)
            done = _DONE.get(str(event.get("command")), "changed")
            for path, before, now in event.get("changes", ()):
                if (now or before)[0] != "directory" and not _is_bookkeeping(str(path)):
                    found.append((number, str(path), done, now is None))
    steps: dict[str, list[_ExternalStep]] = {}
    for number, path, done, is_gone in found:
        if number not in claimed:
            steps.setdefault(path, []).append(_ExternalStep(number, done, is_gone))
    return steps


def _is_bookkeeping(path: str) -> bool:
    """Whether git writes a file with each commit: all of `.git` but what names programs to run, or is one."""
    return path.startswith(".git/") and not path.startswith((".git/hooks/", ".git/config"))


def _build_folder_hit(notes: int, files: int, last: int) -> Hit:
    words = f"{notes:,} of {files:,} notes were written by another program: their authors are unknown"
    return Hit(RULE, "", words, evidence="", facts={"notes": notes, "files": files}, identity=f"{last}")


def _build_unrecorded_hit(path: str, steps: list[_ExternalStep], *, is_there: bool) -> Hit:
    last = steps[-1]
    done = last.done if is_there or last.done != "changed" else "removed"
    words = f"{done} by another program since memtui last looked: the author is unknown"
    return Hit(RULE, path, words, facts={"seq": last.seq}, identity=f"{path} {done} now")


def _build_since_review_hit(path: str, steps: list[_ExternalStep]) -> Hit:
    last = steps[-1]
    times = f", {len(steps)} times" if len(steps) > 1 else ""
    words = f"{last.done} by another program since the last review{times}"
    return Hit(RULE, path, words, facts={"seq": last.seq, "changes": len(steps)}, identity=f"{last.seq}")


def _find_surviving_lines(subject: AuditContext, note: Note, numbers: set[int]) -> Iterator[Hit]:
    """Lines of a note that somebody outside brought in, and that still stand."""
    if note.data is None:
        return
    owners = subject.observer.history.blame(note.path, note.data).lines
    mine = [(line, owner) for line, owner in enumerate(owners) if owner is not None and owner.seq in numbers]
    if not mine:
        return
    newest: Event = max((owner for _, owner in mine), key=lambda owner: owner.seq)
    first = min(line for line, owner in mine if owner.seq == newest.seq)
    words = _describe_line_count(len(mine), len(owners))
    facts = {"seq": newest.seq, "lines": len(mine)}
    start, end = None, None
    if note.decoded is not None and note.decoded.has_byte_lines:
        start, end = LineOffsets(note.decoded.text).get_bounds(first + 1)
    yield Hit(RULE, note.path, words, start=start, end=end, facts=facts, identity=f"{newest.seq}")


def _describe_line_count(mine: int, lines: int) -> str:
    """How many of a note's lines came from outside."""
    by = "by another program"
    if lines == 1:
        return f"its only line was written {by}"
    if mine == 1:
        return f"one of its {lines:,} lines was written {by}"
    many = f"all its {lines:,}" if mine == lines else f"{mine:,} of its {lines:,}"
    return f"{many} lines were written {by}"


# Reads: when an agent last read each note, and who changed it last, from one pass over the journal. File access times
# are not used: backups change them, and many systems keep none.

_BY_AGENT = b'{"actor":["agent",'
_VIEWED = b'"viewed":'
_CHANGES = b'"changes":'
_CLAIMED_READS = b'"command":"claimed"'
_FAILED = b'"is_error":'
_FOUND_READS = "found"
_BELOW = ROOT_NAME + "/"
_BRINGING_BACK = frozenset({"restore", "undo", "redo"})
EARLIEST_US = 366 * 11 * 86_400_000_000
"""A file's time before 1981 is none that anybody wrote at: archives and images of systems set 1970 or 1980 for all."""


class NoteEvent(NamedTuple):
    """Something that was done with a note."""

    seq: int
    at_us: int  # when, in microseconds since 1970 (UTC)
    actor_name: str


class NoteUse(NamedTuple):
    """What the journal knows of the use of one note.

    Attributes:
        read: The last view by an agent.
        change: The last change, renames included; `None` if there was none since memtui first looked. A version that
            was brought back is as old as it was.
    """

    read: NoteEvent | None = None
    change: NoteEvent | None = None

    @property
    def last(self) -> NoteEvent | None:
        """The later one of both."""
        known = [deed for deed in (self.read, self.change) if deed is not None]
        return max(known, key=lambda deed: deed.at_us, default=None)


NEVER = NoteUse()


@dataclass(frozen=True, slots=True)
class NoteUses:
    """What the journal knows of the use of every note that stands."""

    by_path: Mapping[str, NoteUse] = field(default_factory=dict)
    since_us: int | None = None
    reads: int = 0  # the number of views of notes by agents

    def get(self, path: str) -> NoteUse:
        """What is known of one note."""
        return self.by_path.get(path, NEVER)


def collect_uses(observer: Observer, *, until: int | None = None) -> NoteUses:
    """Pass over the journal once; from a thread. Views of a directory, and what a person looks at, are no reading.

    Args:
        until: The number of the last event that counts; `None` for all.
    """
    walk = _UseCollector()
    for seq, body in iter_event_bodies(observer, 0, until):
        walk.add_event(seq, body)
    return NoteUses(walk.current, walk.since_us, walk.reads)


def _get_former_time(deed: NoteEvent, after: list[object]) -> NoteEvent:
    """The event that brought a version back, at the time of that version, where it is known."""
    version = decode_version(after)
    mtime_ns = version.attributes.mtime_ns if version is not None else None
    if mtime_ns is None or mtime_ns // 1_000 < EARLIEST_US:
        return deed
    return deed._replace(at_us=min(mtime_ns // 1_000, deed.at_us))


class _UseCollector:
    """The notes that stand, event by event."""

    def __init__(self) -> None:
        self.current: dict[str, NoteUse] = {}
        self.since_us: int | None = None
        self.reads = 0
        self._gone: dict[str, NoteUse] = {}
        self._names: dict[str, str] = {}

    def add_event(self, seq: int, body: bytes) -> None:
        """Take in one event by its canonical bytes."""
        by_agent = body.startswith(_BY_AGENT)
        is_read = by_agent and _VIEWED in body and _FAILED not in body
        is_claim = by_agent and _CLAIMED_READS in body
        if self.since_us is not None and not (is_read or is_claim or _CHANGES in body):
            return
        fields = decode_body(body)
        if self.since_us is None:
            self.since_us = fields["at_us"]
        deed = NoteEvent(seq, fields["at_us"], self._get_actor_name(fields["actor"]))
        path = fields.get("path", "").removeprefix(_BELOW)
        if is_read and fields.get("command") == "view":
            self.reads += 1
            self.current[path] = self.current.get(path, NEVER)._replace(read=deed)
        elif is_claim and (use := self.current.get(path)) is not None and use.change is not None:
            self.current[path] = use._replace(change=use.change._replace(actor_name=deed.actor_name))
        if changes := fields.get("changes"):
            moved: Mapping[str, str] = {}
            if len(changes) > 1 and ("new_path" in fields or "moved" in fields):
                moved = find_moves(decode_event(body, answer=None, arguments=None, hash=b""))
            self._apply_changes(deed, changes, moved, fields.get("command", ""))

    def _apply_changes(
        self, deed: NoteEvent, changes: Collection[list[object]], moved: Mapping[str, str], command: str
    ) -> None:
        carried = {new: self.current.get(old, NEVER) for new, old in moved.items()}
        for path, _, after in changes:
            assert isinstance(path, str)
            if not isinstance(after, list) or after[0] != EntryKind.FILE:
                if (use := self.current.pop(path, None)) is not None:
                    self._gone[path] = use
            elif command != _FOUND_READS:
                gone = self._gone.pop(path, NEVER)
                if path in carried:
                    self.current[path] = carried[path]._replace(change=deed)
                elif command in _BRINGING_BACK:
                    self.current[path] = self.current.get(path, gone)._replace(change=_get_former_time(deed, after))
                else:
                    self.current[path] = self.current.get(path, NEVER)._replace(change=deed)
        changed = {change[0] for change in changes}
        for path, use in carried.items():
            if path not in changed:  # it changed places with one that says the same
                self.current[path] = use._replace(change=deed)

    def _get_actor_name(self, actor: list[str | None]) -> str:
        key = "\0".join(str(part) for part in actor[:2])
        if key not in self._names:
            self._names[key] = format_actor_name(decode_actor(actor))
        return self._names[key]
