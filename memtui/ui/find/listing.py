"""The rows of what was found: what each one shows, and where it leads.

Pure: the screen makes them anew from each answer, and the list draws those that are in view.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtui.search.found import FormerName, Found, LineHit, NameHit, NoteHits, PastHit, Scope
from memtui.ui.item_rows import Words


@dataclass(frozen=True, slots=True)
class Rule(Words):
    """Says what follows, with a line to the edge."""


@dataclass(frozen=True, slots=True)
class NameRow:
    """A path that matches."""

    hit: NameHit

    @property
    def path(self) -> str:
        """Where it leads."""
        return self.hit.path


@dataclass(frozen=True, slots=True)
class NoteRow:
    """The note that the next rows are lines of."""

    hits: NoteHits

    @property
    def path(self) -> str:
        """Where it leads."""
        return self.hits.path


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line of a note."""

    path: str
    hit: LineHit


@dataclass(frozen=True, slots=True)
class PastRow:
    """A line that some version held."""

    hit: PastHit

    @property
    def path(self) -> str:
        """Where it leads: what the note is called now, or was called."""
        return self.hit.now or self.hit.path


@dataclass(frozen=True, slots=True)
class FormerRow:
    """A name that nothing has any more."""

    name: FormerName

    @property
    def path(self) -> str:
        """Where it leads: what the note is called now, or was called."""
        return self.name.now or self.name.path


@dataclass(frozen=True, slots=True)
class PastNoteRow:
    """The note that the next rows are lines of, once."""

    hits: tuple[PastHit, ...]

    @property
    def path(self) -> str:
        """What it was called."""
        return self.hits[0].path

    @property
    def now(self) -> str | None:
        """What it is called now; `None` if it was deleted."""
        return self.hits[0].now


Row = Rule | NameRow | NoteRow | LineRow | FormerRow | PastNoteRow | PastRow
Hit = NameRow | NoteRow | LineRow | FormerRow | PastNoteRow | PastRow
PAST = (FormerRow, PastNoteRow, PastRow)
"""Rows that lead to a history."""


def rows_of(found: Found, scope: Scope) -> list[Row]:
    """All rows, in the order in which they are shown: names, then texts, then the past.

    Args:
        found: What was found.
        scope: What was looked for; with one section alone, nothing has to say which it is.
    """
    rows: list[Row] = [NameRow(hit) for hit in found.names.hits]
    if found.names.total > len(found.names.hits):
        rows.append(Rule(f"{found.names.total - len(found.names.hits):,} more: type on to narrow"))
    if found.names.similar:
        rows.append(Rule("similar"))
        rows += [NameRow(hit) for hit in found.names.similar]
    if found.text.notes:
        if scope is not Scope.TEXT:
            rows.append(Rule(f"text: {_count(found.text.total_lines, 'line')}"))
        rows += _text_rows(found)
    if found.past.names:
        if scope is not Scope.PAST:
            rows.append(Rule("gone: names"))
        rows += map(FormerRow, found.past.names)
        if found.past.total_names > len(found.past.names):
            rows.append(Rule(f"{found.past.total_names - len(found.past.names):,} more: type on to narrow"))
    if found.past.hits:
        gone = "gone" if scope is Scope.ALL else "past"
        if scope is not Scope.PAST or found.past.names:
            rows.append(Rule(f"{gone}: {_count(found.past.total, 'line')}"))
        rows += _past_rows(found.past.hits)
        if found.past.total > len(found.past.hits):
            rows.append(Rule(f"{found.past.total - len(found.past.hits):,} more: type on to narrow"))
    return rows


def _text_rows(found: Found) -> Iterator[Row]:
    for note in found.text.notes:
        yield NoteRow(note)
        for line in note.lines:
            yield LineRow(note.path, line)
        if note.total > len(note.lines):
            yield Rule(f"{note.total - len(note.lines):,} more in this note")
    if found.text.total_notes > len(found.text.notes):
        yield Rule(f"{_count(found.text.total_notes - len(found.text.notes), 'more note')}: type on to narrow")


def _past_rows(hits: Sequence[PastHit]) -> Iterator[Row]:
    """The notes in the order of their newest hit, each with its lines."""
    notes: dict[tuple[str, str | None], list[PastHit]] = {}
    for hit in hits:
        notes.setdefault((hit.path, hit.now), []).append(hit)
    for of_note in notes.values():
        yield PastNoteRow(tuple(of_note))
        yield from map(PastRow, of_note)


def key_of(row: Hit) -> tuple[object, ...]:
    """What tells a row from the others, so that the cursor finds it again among newer results."""
    match row:
        case NameRow(hit):
            return ("name", hit.path)
        case NoteRow(hits):
            return ("note", hits.path)
        case LineRow(path, hit):
            return ("line", path, hit.line)
        case FormerRow(name):
            return ("former", name.path)
        case PastNoteRow(hits):
            return ("past note", hits[0].path, hits[0].now)
        case PastRow(hit):
            return ("past", hit.came.seq, hit.path, hit.line.line)


def counted(found: Found, scope: Scope) -> str:
    """How much was found, in words: `names 2  text 5  past 1`."""
    words = []
    if scope in (Scope.ALL, Scope.NAMES):
        similar = f"+{len(found.names.similar)}" if found.names.similar else ""
        words.append(f"names {found.names.total:,}{similar}")
    if scope in (Scope.ALL, Scope.TEXT):
        words.append(f"text {found.text.total_lines:,}")
    if scope in (Scope.ALL, Scope.PAST):
        words.append(f"{'gone' if scope is Scope.ALL else 'past'} {found.past.total + found.past.total_names:,}")
    return "  ".join(words)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
