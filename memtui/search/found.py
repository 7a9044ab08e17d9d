"""What a search finds, as values: the find screen, `memtui search` and the MCP tool show the same ones."""

from dataclasses import dataclass, field
from enum import StrEnum

from memtui.core.events import Event, Version

Span = tuple[int, int]
"""Where something matches: the first character and the one behind the last."""


class Scope(StrEnum):
    """Where to look."""

    ALL = "all"
    """Names and texts, and of the past what stands nowhere any more."""
    NAMES = "names"
    TEXT = "text"
    PAST = "past"

    def next(self, step: int = 1) -> "Scope":
        """The one after it, in a circle."""
        scopes = list(Scope)
        return scopes[(scopes.index(self) + step) % len(scopes)]


@dataclass(frozen=True, slots=True)
class NameHit:
    """One path whose name matches.

    Attributes:
        path: Relative to the folder.
        spans: The characters of the path that match, in order.
        score: How well; more is better. Comparable within one search only.
    """

    path: str
    spans: tuple[Span, ...]
    score: float


@dataclass(frozen=True, slots=True)
class NamesFound:
    """The names that match.

    Attributes:
        hits: Those that hold all that was typed, best first.
        similar: Those that are like it, typing errors forgiven, best first; none of `hits` among them.
        total: How many hold all that was typed, those beyond the limit included.
    """

    hits: tuple[NameHit, ...] = ()
    similar: tuple[NameHit, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class LineHit:
    """One line that matches.

    Attributes:
        line: Its number, from 1.
        text: The line without its end; of a long one the part around the first match, with `…` where it is cut.
        spans: Where it matches, in `text`.
        column: Where the first match begins in the whole line, from 1, in characters.
    """

    line: int
    text: str
    spans: tuple[Span, ...]
    column: int = 1


@dataclass(frozen=True, slots=True)
class NoteHits:
    """The lines of one note that match.

    Attributes:
        path: Relative to the folder.
        lines: The first ones, in order.
        total: How many there are.
    """

    path: str
    lines: tuple[LineHit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class TextFound:
    """The notes whose texts match.

    Attributes:
        notes: The first ones, best first.
        total_notes: How many there are.
        total_lines: How many lines match in all of them; at least so many, if `lines_at_least`.
        lines_at_least: Whether there are so many notes that the lines of some were not counted.
        looked: How many notes have been looked through.
        of: How many there are to look through; more than `looked` while texts are still being read.
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
    """A line that some version of a note held, from its coming to its going.

    Attributes:
        path: What the note was called when the line came, relative to the folder.
        line: The line in the version that brought it.
        version: That version.
        came: The event that brought it.
        went: The event that took it away; `None` if it still stands.
        now: What the note is called now; `None` if it was deleted.
    """

    path: str
    line: LineHit
    version: Version
    came: Event
    went: Event | None
    now: str | None


@dataclass(frozen=True, slots=True)
class FormerName:
    """A name that nothing has any more.

    Attributes:
        path: The name, relative to the folder.
        spans: The characters of it that match, in order.
        version: What the note held last under this name.
        ended: The event that deleted or renamed it.
        now: What the note is called now; `None` if it was deleted.
    """

    path: str
    spans: tuple[Span, ...]
    version: Version
    ended: Event
    now: str | None


@dataclass(frozen=True, slots=True)
class PastFound:
    """What the record holds.

    Attributes:
        hits: The first ones, the newest first by when the text went or came.
        total: How many there are; at least so many, if `at_least`.
        at_least: Whether there are so many that not all were counted.
        looked: How many versions have been looked through.
        of: How many there are to look through.
        gone_texts: Versions whose text is not kept any more: redacted, pruned, or too large.
        names: Names that match and that nothing has any more, best first.
        total_names: How many there are.
    """

    hits: tuple[PastHit, ...] = ()
    total: int = 0
    at_least: bool = False
    looked: int = 0
    of: int = 0
    gone_texts: int = 0
    names: tuple[FormerName, ...] = ()
    total_names: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """All that one query finds; a scope that was not asked for is empty.

    Attributes:
        names: The names.
        text: The lines that stand now.
        past: The lines of all versions; with `Scope.ALL` only those that stand nowhere any more.
        seconds: How long it took.
        problem: What could not be looked through, and why, as a sentence; empty if all was.
    """

    names: NamesFound = field(default_factory=NamesFound)
    text: TextFound = field(default_factory=TextFound)
    past: PastFound = field(default_factory=PastFound)
    seconds: float = 0.0
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing matches; what is only similar counts as well."""
        return not (self.names.hits or self.names.similar or self.text.notes or self.past.hits or self.past.names)
