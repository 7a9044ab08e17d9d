"""What is read of one note, as values."""

from memtui.core.lazy_dataclass import dataclass
from memtui.notes.links import Link


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; its line from 1, its level from 1 to 6."""

    line: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class TimeQualifier:
    """When an observation holds, as its author wrote it.

    Attributes:
        kind: `valid`, `effective`, `occurred`, `due` or `mentioned`.
        start: The first day (`2026-06-10`), or a moment (`2026-06-10T08:00:00.000000Z`); empty for no bound.
        end: The day, or the moment, at which it ends; empty for no bound.
        text: As it is written: `@effective[2026-06-10,2026-07-27)`.
        has_start: Whether `start` is a part of it; that of days always is.
        has_end: Whether `end` is a part of it; that of days never is.
        is_empty: Whether no time is in it.
    """

    kind: str
    start: str
    end: str
    text: str
    has_start: bool = False
    has_end: bool = False
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact that a note states: `- [category] content #tag (context)`.

    Attributes:
        category: Empty where only a tag tells that it is one.
        content: With its tags, without category, time and context.
        line: From 1.
        span: The columns of its text in that line, in characters.
    """

    category: str
    content: str
    tags: tuple[str, ...]
    context: str
    time: TimeQualifier | None
    line: int
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link of a note to another one, of a kind.

    Attributes:
        kind: `wiki`, `markdown`, `entry` of an index, `import`, or `relation`.
        relation: Its type, such as `part_of`; empty if it is none.
        context: What stands in parentheses behind a relation; else empty.
    """

    kind: str
    link: Link
    relation: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """What one note says.

    Attributes:
        title: As it calls itself first; the name of its file without the extension, if it does not.
        names: All that it calls itself: titles, name, aliases, first heading.
        type: As it says itself, in lower case; empty if it does not.
        permalink: As it says itself; empty if it does not.
        status: As it says itself, in lower case; empty if it does not.
    """

    path: str
    title: str
    names: tuple[str, ...] = ()
    type: str = ""
    tags: tuple[str, ...] = ()
    permalink: str = ""
    status: str = ""
    headings: tuple[Heading, ...] = ()
    observations: tuple[Observation, ...] = ()
    links: tuple[NoteLink, ...] = ()
