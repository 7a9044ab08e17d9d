"""Values of the inbox: the changes since the last review, file by file and hunk by hunk, with their verdicts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memtui.core import diffs
from memtui.core.diffs import Hunk
from memtui.core.events import Actor, Agent, EntryKind, Version
from memtui.core.lazy_dataclass import dataclass

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Observer

# Steps and tracks as small values: a long journal has many of them.


class TrackStep(NamedTuple):
    """What a thing was after an event.

    Attributes:
        seq: The event's number; for the state before the span, its first event.
        name: The path; for something deleted, its last path.
        version: `None` if it did not exist.
    """

    seq: int
    name: str
    version: Version | None


class TrackedEvent(NamedTuple):
    """An event that changed something, as much of it as is needed of all of them.

    Attributes:
        at_us: The start time, in microseconds since 1970.
        actor: The later claimant, if there is one.
        added: In lines; `None` if unknown.
        is_one: Whether it changed one path.
    """

    seq: int
    at_us: int
    actor: Actor
    command: str
    note: str
    added: int | None
    removed: int | None
    is_one: bool

    @property
    def session(self) -> str | None:
        """In which conversation."""
        return self.actor.session if isinstance(self.actor, Agent) else None

    @property
    def line_counts(self) -> tuple[int, int] | None:
        """How many lines it added and removed, where it changed one path and the record counted."""
        return (
            (self.added, self.removed) if self.is_one and self.added is not None and self.removed is not None else None
        )


class ReviewVerdict(StrEnum):
    """What a reviewer says of a change, or of a finding."""

    ACCEPT = "accept"
    FLAG = "flag"
    NOTE = "note"
    """Words, and no judgement."""
    REVERTED = "reverted"
    """It was taken back, in an ordinary session."""
    DISMISS = "dismiss"
    """A finding does not count, for a reason."""
    RESTORE = "restore"
    """A dismissed finding counts again."""


FINDING_VERDICTS = frozenset({ReviewVerdict.DISMISS, ReviewVerdict.RESTORE})
"""What is said of a finding, and not of a change."""


ACCEPTED_FAILURE = "accepted in spite"
"""The decision on a finding in spite of which a review was ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedFinding:
    """A finding as a mark names it: never with its text.

    Attributes:
        path: Relative to the folder; `""` for the folder itself.
        line: From 1; `None` for the whole file.
        count: How many of a kind are told as this one.
        evidence: The first digits of the SHA-256 of its evidence, in which secrets are masked; empty for none.
        decision: In an ended review, what was decided of it; else empty.
    """

    fingerprint: str
    rule: str
    severity: str
    path: str
    line: int | None = None
    count: int = 1
    evidence: str = ""
    decision: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewMark:
    """One verdict of one reviewer: a line of a review file.

    Attributes:
        at_us: In microseconds since 1970 (UTC).
        path: Relative to the folder; `""` for an ended review, and for what is said of a finding.
        before: SHA-256 of the content before the change; empty for none.
        after: SHA-256 of the content after it; empty for none.
        hunk: The fingerprint of a hunk; empty for the whole file.
        head: The journal's chain hash at that time, in hexadecimal.
        until: The last day on which a dismissal holds, `2026-12-31`; empty for ever.
        findings: The dismissed or restored one; those that an acceptance was given over; those of an ended review.
        since: In an ended review, the number of the event after which it began.
        failures_reason: Why a review was ended in spite of findings that must not stay.
    """

    reviewer: str
    at_us: int
    verdict: ReviewVerdict
    path: str
    before: str = ""
    after: str = ""
    hunk: str = ""
    words: str = ""
    seq: int = 0
    head: str = ""
    until: str = ""
    findings: tuple[MarkedFinding, ...] = ()
    since: int | None = None
    failures_reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangedHunk:
    """One hunk of a changed file."""

    hunk: Hunk
    fingerprint: str  # depends on the lines, their place and the text: 16 hexadecimal digits
    events: tuple[int, ...] = ()  # numbers of the events that added or removed the lines, as far as known
    marks: tuple[ReviewMark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """What became of one file since the last review.

    Attributes:
        previous_path: The path then, if it differs; else empty.
        before: The version then; `None` if it did not exist.
        marks: On the file as a whole, the newest last; without those on other texts.
        run: The number of its `ChangeRun`.
        earlier: The last verdict on other texts of it.
    """

    path: str
    previous_path: str = ""
    before: Version | None
    after: Version | None
    events: tuple[TrackedEvent, ...] = ()
    steps: tuple[TrackStep, ...] = ()
    actors: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    added: int | None = None
    removed: int | None = None
    marks: tuple[ReviewMark, ...] = ()
    run: int | None = None
    earlier: ReviewMark | None = None

    @property
    def staleness_note(self) -> str:
        """That somebody judged other texts of it than these, such as `changed since it was accepted`; else empty."""
        match self.earlier.verdict if self.earlier is not None else None:
            case ReviewVerdict.ACCEPT:
                return "changed since it was accepted"
            case ReviewVerdict.FLAG:
                return "changed since it was flagged"
            case _:
                return ""

    @property
    def sign(self) -> str:
        """`+` new, `~` changed, `-` deleted, `>` renamed."""
        if self.before is None:
            return "+"
        if self.after is None:
            return "-"
        return ">" if self.previous_path and self.before.sha256 == self.after.sha256 else "~"

    @property
    def verdict(self) -> ReviewVerdict | None:
        """The last judgement of the file as a whole; `None` if there is none.

        One that was reverted and is listed all the same was brought back: it is to be judged again.
        """
        judged = [mark.verdict for mark in self.marks if mark.verdict is not ReviewVerdict.NOTE]
        return judged[-1] if judged and judged[-1] is not ReviewVerdict.REVERTED else None


@dataclass(frozen=True, slots=True)
class LostFact:
    """A line that a clean-up dropped, and that nothing near to it says elsewhere."""

    path: str
    line: int
    text: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRun:
    """Many changes that one actor made in one go, such as a dream or a clean-up: shown as one.

    Attributes:
        at_us: The start time, in microseconds since 1970.
        unlisted: The number of lost facts beyond the limit of `lost`.
        unsearched: Why not all dropped lines were compared, as a part of a sentence; else empty.
    """

    number: int
    actor: str
    session: str | None
    first: int
    last: int
    at_us: int
    until_us: int
    paths: tuple[str, ...]
    added: int
    removed: int
    lost: tuple[LostFact, ...] = ()
    unlisted: int = 0
    unsearched: str = ""

    @property
    def lost_count(self) -> int:
        """The number of lost facts, listed or not."""
        return len(self.lost) + self.unlisted


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What changed since a reviewer last looked.

    Attributes:
        since: The number of the event after which it begins; 0 for the journal's beginning.
        since_us: The time of it, in microseconds since 1970.
        since_words: Such as `the last review, by ada`, or `2026-11-20 18:00`.
        files: The most important first.
        problem: A defect of the review file or its head, as a sentence; else empty.
        folders: Created, deleted and renamed directories; the files in them are in `files`.
    """

    since: int
    since_us: int | None
    since_words: str
    until: int
    files: tuple[ChangedFile, ...]
    runs: tuple[ChangeRun, ...] = ()
    marks: tuple[ReviewMark, ...] = ()
    problem: str = ""
    folders: tuple[ChangedFile, ...] = ()


# Texts of versions, a few at a time: those of a whole folder may not fit into memory.

T = TypeVar("T")
_MOST_BYTES = 1_000_000  # bytes of the largest texts that are compared
_AT_ONCE = 500  # things whose texts are held at a time


class VersionTexts:
    """The texts of versions that are held at the moment."""

    def __init__(self, observer: "Observer") -> None:
        self._observer = observer
        self._held: dict[str, bytes] = {}

    def iter_loaded(self, things: Sequence[T], versions: Callable[[T], Iterable[Version | None]]) -> Iterator[T]:
        """Some things, each while the texts of its versions are held."""
        for start in range(0, len(things), _AT_ONCE):
            some = things[start : start + _AT_ONCE]
            wanted = {
                version.sha256
                for thing in some
                for version in versions(thing)
                if version is not None and version.sha256 and is_comparable(version)
            }
            self._held = self._observer.history.get_texts(wanted) if wanted else {}
            yield from some

    def get_text(self, version: Version | None) -> str | None:
        """The text of a version; `None` where it is none, is not kept, or not held."""
        if version is None:
            return ""
        data = self._held.get(version.sha256 or "")
        if data is None or b"\0" in data:
            return None
        return data.decode("utf-8", "surrogateescape")

    def count_changes(self, before: Version | None, after: Version | None) -> tuple[int, int] | None:
        """How many lines were added and removed; `None` where that cannot be told."""
        if not (is_comparable(before) and is_comparable(after)):
            return None
        if before == after:
            return 0, 0
        old, new = self.get_text(before), self.get_text(after)
        return None if old is None or new is None else diffs.count_changes(old, new)


def is_comparable(version: Version | None) -> bool:
    """Whether something is a file, and none that is too large for its lines to be compared; nothing is, too."""
    return version is None or (version.kind is EntryKind.FILE and bool(version.sha256) and version.size <= _MOST_BYTES)
