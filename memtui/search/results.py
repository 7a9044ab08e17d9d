"""Results of a search, shared by the find screen, `memtui search` and the MCP tool."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from enum import StrEnum
from typing import TypeVar

from memtui.core.errors import MemtuiError
from memtui.core.events import Event, Version
from memtui.core.lazy_dataclass import dataclass

Span = tuple[int, int]
"""Start and end of a match."""


class Scope(StrEnum):
    """Where to search."""

    ALL = "all"
    """Names and texts, and of the past only lines that stand nowhere any more."""
    NAMES = "names"
    TEXT = "text"
    PAST = "past"

    def get_next(self, step: int = 1) -> "Scope":
        """The next one, in a circle."""
        scopes = list(Scope)
        return scopes[(scopes.index(self) + step) % len(scopes)]


@dataclass(frozen=True, slots=True)
class NameHit:
    """A path whose name matches.

    Attributes:
        path: The path.
        spans: The matches, in `path`.
        score: Comparable within one search only.
        is_scattered: Whether the letters of a word lie apart, some of them inside other words.
        changed_us: When the note changed last, in microseconds since 1970; 0 where it is not asked for, or not known.
    """

    path: str
    spans: tuple[Span, ...]
    score: float
    is_scattered: bool = False
    changed_us: int = 0


@dataclass(frozen=True, slots=True)
class NameResults:
    """The names that match.

    Attributes:
        hits: Those that match, best first.
        similar: Those that match with typing errors, best first.
        total: Matches, including those beyond the limit.
    """

    hits: tuple[NameHit, ...] = ()
    similar: tuple[NameHit, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class LineHit:
    """A line that matches.

    Attributes:
        line: Its number, from 1.
        text: Without its end; of a long line the part around the first match, with `…` where it is cut.
        spans: The matches, in `text`.
        column: Where the first match begins in the whole line, from 1, in characters.
    """

    line: int
    text: str
    spans: tuple[Span, ...]
    column: int = 1


@dataclass(frozen=True, slots=True)
class NoteHits:
    """The first lines of a note that match, and how many there are."""

    path: str
    lines: tuple[LineHit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class TextResults:
    """The notes whose texts match.

    Attributes:
        notes: The first ones, best first.
        total_lines: Matching lines in all of them; a lower bound if `lines_at_least`.
        looked: Notes that were searched.
        of: Notes to search; more than `looked` while texts are still being read.
        unread: Notes that could not be read as text.
    """

    notes: tuple[NoteHits, ...] = ()
    total_notes: int = 0
    total_lines: int = 0
    lines_at_least: bool = False
    looked: int = 0
    of: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True)
class PastHit:
    """A line that some version of a note held.

    Attributes:
        path: The note's name when the line was added, relative to the folder.
        version: The version that added it.
        removed_by: `None` if it still stands.
        now: The note's present name; `None` if it was deleted.
    """

    path: str
    line: LineHit
    version: Version
    added_by: Event
    removed_by: Event | None
    now: str | None


@dataclass(frozen=True, slots=True)
class FormerName:
    """A name that no note has any more.

    Attributes:
        version: The last version under this name.
        ended_by: The event that deleted or renamed it.
        now: The note's present name; `None` if it was deleted.
    """

    path: str
    spans: tuple[Span, ...]
    version: Version
    ended_by: Event
    now: str | None


@dataclass(frozen=True, slots=True)
class PastResults:
    """The matches in the record.

    Attributes:
        hits: The first ones, the newest first.
        total: How many there are; a lower bound if `at_least`.
        looked: Versions that were searched.
        of: Versions to search.
        missing_texts: Versions whose text is not kept: redacted, pruned, or too large.
        names: Former names that match, best first.
    """

    hits: tuple[PastHit, ...] = ()
    total: int = 0
    at_least: bool = False
    looked: int = 0
    of: int = 0
    missing_texts: int = 0
    names: tuple[FormerName, ...] = ()
    total_names: int = 0


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of one query; a scope that was not searched is empty.

    Attributes:
        past: With `Scope.ALL` only lines that stand nowhere any more.
        problem: What could not be searched, and why, as a sentence; empty if all was.
    """

    names: NameResults = field(default_factory=NameResults)
    text: TextResults = field(default_factory=TextResults)
    past: PastResults = field(default_factory=PastResults)
    seconds: float = 0.0
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing matches, not even with typing errors."""
        return not (self.names.hits or self.names.similar or self.text.notes or self.past.hits or self.past.names)


# Cancellation: a newer query cancels the older one.

_Item = TypeVar("_Item")

Stop = Callable[[], bool]
"""Asked now and then whether to give up."""


class SearchCancelled(MemtuiError):
    """The caller does not wait for the answer any more."""


def never_stop() -> bool:
    return False


def check_cancelled(stop: Stop) -> None:
    """Raise `SearchCancelled` if `stop` says so."""
    if stop():
        raise SearchCancelled("The search was stopped.")


def iter_until_stopped(items: Iterable[_Item], stop: Stop, *, every: int = 64) -> Iterator[_Item]:
    """The items; `stop` is asked before the first one, and then once in `every`.

    Raises:
        SearchCancelled: By `stop`.
    """
    for number, item in enumerate(items):
        if number % every == 0:
            check_cancelled(stop)
        yield item
