"""Search results as rows of a list: names, lines of notes, and lines and names of the past."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import BindingType

from memtui.core import wording
from memtui.core.events import Event, format_actor_name, shorten_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.search.results import FormerName, LineHit, NameHit, NoteHits, PastHit, Scope, SearchResults, Span
from memtui.ui.theme import ELLIPSIS, truncate
from memtui.ui.widgets.row_list import Cell, Column, ItemList, LabelRow


@dataclass(frozen=True, slots=True)
class NameRow:
    """A path that matches."""

    hit: NameHit

    @property
    def path(self) -> str:
        """The path of the note."""
        return self.hit.path


@dataclass(frozen=True, slots=True)
class NoteRow:
    """The note of the lines below."""

    hits: NoteHits

    @property
    def path(self) -> str:
        """The path of the note."""
        return self.hits.path


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line of a note."""

    path: str
    hit: LineHit


@dataclass(frozen=True, slots=True)
class PastRow:
    """A line of a past version."""

    hit: PastHit

    @property
    def path(self) -> str:
        """The present path of the note, or the last one."""
        return self.hit.now or self.hit.path


@dataclass(frozen=True, slots=True)
class OldNameRow:
    """A former path."""

    name: FormerName

    @property
    def path(self) -> str:
        """The present path of the note, or the last one."""
        return self.name.now or self.name.path


@dataclass(frozen=True, slots=True)
class PastNoteRow:
    """The past note of the lines below."""

    hits: tuple[PastHit, ...]

    @property
    def path(self) -> str:
        """The former path."""
        return self.hits[0].path


Hit = NameRow | NoteRow | LineRow | OldNameRow | PastNoteRow | PastRow
ResultRow = LabelRow | Hit
PAST = (OldNameRow, PastNoteRow, PastRow)
"""Rows that lead to a history."""


def build_result_rows(found: SearchResults, scope: Scope) -> list[ResultRow]:
    """All rows in order: names, texts, names that are only similar or have the letters scattered, the past.

    A section that is alone has no label.
    """
    names, text, past = found.names, found.text, found.past
    good = [hit for hit in names.hits if not (text.notes and hit.is_scattered)]
    similar = [*(hit for hit in names.hits if hit not in good), *names.similar]
    rows: list[ResultRow] = [*map(NameRow, good), *_iter_more(names.total - len(names.hits))]
    if text.notes:
        if scope is not Scope.TEXT:
            rows.append(LabelRow(f"text: {format_count(text.total_lines, 'line')}"))
        rows += _iter_text_rows(found)
    if similar:
        rows += [LabelRow("similar names"), *map(NameRow, similar)]
    if past.names:
        if scope is not Scope.PAST:
            rows.append(LabelRow("past: names"))
        rows += [*map(OldNameRow, past.names), *_iter_more(past.total_names - len(past.names))]
    if past.hits:
        if scope is not Scope.PAST or past.names:
            rows.append(LabelRow(f"past: {format_count(past.total, 'line')}"))
        rows += [*_iter_past_rows(past.hits), *_iter_more(past.total - len(past.hits))]
    return rows


def _iter_more(count: int) -> Iterator[LabelRow]:
    if count > 0:
        yield LabelRow(f"{count:,} more: type to narrow")


def _iter_text_rows(found: SearchResults) -> Iterator[ResultRow]:
    for note in found.text.notes:
        yield NoteRow(note)
        yield from (LineRow(note.path, line) for line in note.lines)
        if note.total > len(note.lines):
            yield LabelRow(f"{note.total - len(note.lines):,} more in this note")
    more = found.text.total_notes - len(found.text.notes)
    if more > 0:
        yield LabelRow(f"{format_count(more, 'more note')}: type to narrow")


def _iter_past_rows(hits: Sequence[PastHit]) -> Iterator[ResultRow]:
    """The notes in the order of their newest hit, each with its lines."""
    notes: dict[tuple[str, str | None], list[PastHit]] = {}
    for hit in hits:
        notes.setdefault((hit.path, hit.now), []).append(hit)
    for of_note in notes.values():
        yield PastNoteRow(tuple(of_note))
        yield from map(PastRow, of_note)


def get_row_key(row: Hit) -> tuple[object, ...]:
    """The identity of a row, to find it again among newer results."""
    match row:
        case NameRow(hit):
            return ("name", hit.path)
        case NoteRow(hits):
            return ("note", hits.path)
        case LineRow(path, hit):
            return ("line", path, hit.line)
        case OldNameRow(name):
            return ("former", name.path)
        case PastNoteRow(hits):
            return ("past note", hits[0].path, hits[0].now)
        case PastRow(hit):
            return ("past", hit.added_by.seq, hit.path, hit.line.line)


def format_counts(found: SearchResults, scope: Scope) -> str:
    """The numbers of hits: `names 2  text 5  past 1`."""
    words = []
    if scope in (Scope.ALL, Scope.NAMES):
        similar = f"+{len(found.names.similar)}" if found.names.similar else ""
        words.append(f"names {found.names.total:,}{similar}")
    if scope in (Scope.ALL, Scope.TEXT):
        words.append(f"text {found.text.total_lines:,}")
    if scope in (Scope.ALL, Scope.PAST):
        words.append(f"past {found.past.total + found.past.total_names:,}")
    return "  ".join(words)


# A line in pieces, each made visible for itself: matches are counted in the characters of the text, and escapes of
# hidden characters and cuts shift them.

_BEFORE = 12
"""Cells before the first match of a line that is cut at its start."""
_INDENT = re.compile(r"^(?: |\\t)+")


class TextPiece(NamedTuple):
    """A part of a line, visible and on one line."""

    text: str
    matches: bool


def split_pieces(text: str, spans: Iterable[Span]) -> list[TextPiece]:
    """The pieces of a text, given its matches in order; matches beyond the text are left out."""
    pieces: list[TextPiece] = []
    at = 0
    for first, behind in (*spans, (len(text), len(text))):
        start, end = max(first, at), min(behind, len(text))
        if start > end or (start == end < len(text)):
            continue
        pieces += (TextPiece(to_one_line(text[at:start]), False), TextPiece(to_one_line(text[start:end]), True))
        at = end
    return [piece for piece in pieces if piece.text]


def cut_end(line: Iterable[TextPiece], width: int) -> list[TextPiece]:
    """At most `width` cells of a line, cut at its end."""
    result: list[TextPiece] = []
    room = width
    for piece in line:
        cells = cell_len(piece.text)
        if cells > room:
            rest = truncate(piece.text, room)
            missing = len(ELLIPSIS) - room
            if rest == ELLIPSIS[:room] and result and missing > 0:  # no room for the ellipsis: the piece before has it
                text = result[-1].text
                result[-1] = result[-1]._replace(text=truncate(text, max(cell_len(text) - missing, 0)))
            return [*result, TextPiece(rest, piece.matches and rest not in ("", ELLIPSIS))] if room > 0 else result
        result.append(piece)
        room -= cells
    return result


def cut_start(line: Iterable[TextPiece], width: int) -> list[TextPiece]:
    """At most `width` cells of a line, cut at its start: of a path, the file name stays."""
    whole = list(line)
    if _measure_cells(whole) <= width:
        return whole
    result: list[TextPiece] = []
    room = width - len(ELLIPSIS)
    for piece in reversed(whole):
        result.append(piece._replace(text=_fit_end(piece.text, room)))
        room -= cell_len(piece.text)
    return [TextPiece(ELLIPSIS, matches=False), *(piece for piece in reversed(result) if piece.text)]


def cut_around_match(line: Iterable[TextPiece], width: int) -> list[TextPiece]:
    """At most `width` cells of a line, with its first match in view and without its indent."""
    whole = list(_strip_start(line))
    first = next((at for at, piece in enumerate(whole) if piece.matches), 0)
    before = _measure_cells(whole[:first])
    if _measure_cells(whole) <= width:
        return whole
    behind = len(ELLIPSIS) if len(whole) > first + 1 else 0
    if not before or before + min(cell_len(whole[first].text), width) + behind <= width:
        return cut_end(whole, width)
    head = _fit_end("".join(piece.text for piece in whole[:first]), min(_BEFORE, max(width // 3, 0)))
    return cut_end([TextPiece(ELLIPSIS + head, matches=False), *whole[first:]], width)


def _measure_cells(line: Iterable[TextPiece]) -> int:
    return sum(cell_len(piece.text) for piece in line)


def _strip_start(line: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """Without the indent, except in a match."""
    is_indent = True
    for piece in line:
        text = _INDENT.sub("", piece.text) if is_indent and not piece.matches else piece.text
        is_indent = is_indent and not text
        if text:
            yield TextPiece(text, piece.matches)


def _fit_end(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    end = text[-width:] if width > 0 else ""
    while cell_len(end) > width > 0:
        end = end[1:]
    return end


_NUMBER = 5
"""Cells for the number of a line."""
_ACTOR = 10
_AGE = 4


class ResultsView(ItemList[Hit], can_focus=False, inherit_bindings=False):
    """The results. The query keeps the focus; the screen moves the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = []

    STYLES = "found--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"found--{role}" for role in ("path", "match", "number", "rule", "detail", "gone", "match-here")
    }

    DEFAULT_CSS = """
    ResultsView {
        & > .found--path { color: $text-primary; }
        & > .found--match { color: $text-warning; text-style: bold underline; }
        & > .found--number { color: $text-secondary; }
        & > .found--rule { color: $text-secondary; text-style: bold; }
        & > .found--detail { color: $foreground-muted; }
        & > .found--gone { color: $text-error; }
        & > .rows--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .found--match-here {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: bold underline;
        }
    }
    """

    def _get_key(self, item: Hit) -> object:
        return get_row_key(item)

    # Paint

    def _render_label(self, words: str, width: int) -> list[Segment]:
        words = truncate(f"-- {words}", width)
        return [Segment(words.ljust(width + len(words) - cell_len(words)), self._resolve_style("rule"))]

    def _highlight_segment(self, segment: Segment) -> Segment:
        if segment.style == self._resolve_style("match"):
            return Segment(segment.text, self._resolve_style("match-here"))
        return super()._highlight_segment(segment)

    def _get_columns(self, item: Hit, width: int) -> Sequence[Column[Any]]:
        match item:
            case NameRow(hit):
                return _DATED_NAME_COLUMNS if hit.changed_us else _NAME_COLUMNS
            case NoteRow():
                return _NOTE_COLUMNS
            case LineRow():
                return _LINE_COLUMNS
            case OldNameRow(name):
                return _get_old_name_columns(name, width)
            case PastNoteRow(hits):
                return _get_past_note_columns(hits[0], width)
            case PastRow(hit):
                return _get_past_columns(hit, width)


def _mark_pieces(line: Iterable[TextPiece], style: str = "") -> Cell:
    return [(piece.text, "match" if piece.matches else style) for piece in line]


def _format_path(path: str, spans: Iterable[Span], width: int, style: str = "") -> Cell:
    """A path with its name; a name that is too long with its first match."""
    whole = split_pieces(path, spans)
    shown = cut_start(whole, width)
    if any(piece.matches for piece in whole) and not any(piece.matches for piece in shown):
        shown = cut_around_match(whole, width)
    return _mark_pieces(shown, style)


def _format_line(row: LineRow | PastRow, width: int) -> Cell:
    hit = row.hit.line if isinstance(row, PastRow) else row.hit
    return _mark_pieces(cut_around_match(split_pieces(hit.text, hit.spans), width))


_NAME_COLUMNS: tuple[Column[NameRow], ...] = (
    Column("path", lambda row, width: _format_path(row.hit.path, row.hit.spans, width), share=True),
)
_DATED_NAME_COLUMNS: tuple[Column[NameRow], ...] = (
    *_NAME_COLUMNS,
    Column("age", lambda row, _: _format_age(row.hit.changed_us), "detail", _AGE, align=">", gap=" "),
)
_NOTE_COLUMNS: tuple[Column[NoteRow], ...] = (
    Column("path", lambda row, width: _format_path(row.path, (), width, "path"), share=True, align=""),
    Column("count", lambda row, _: f"{row.hits.total:,}", "number", gap=" "),
)
_LINE_COLUMNS: tuple[Column[LineRow], ...] = (
    Column("number", lambda row, _: str(row.hit.line), "number", _NUMBER, align=">", tail="  "),
    Column("text", _format_line, share=True),
)


def _get_past_note_columns(hit: PastHit, width: int) -> Sequence[Column[Any]]:
    now = f" now {to_one_line(hit.now)}" if hit.now else " deleted"
    style = "path" if hit.now else "gone"
    return (
        Column("path", lambda _, room: _format_path(hit.path, (), room, style), share=True, align=""),
        Column("now", truncate("" if hit.now == hit.path else now, width // 2), "detail"),
    )


def _format_change(event: Event) -> tuple[str, str]:
    """Who made a change, and how long ago."""
    actor = truncate(to_one_line(shorten_actor_name(format_actor_name(event.actor))), _ACTOR)
    return actor, _format_age(event.at_us)


def _format_age(at_us: int) -> str:
    return wording.format_age(time.time() - at_us / 1e6)


def _get_old_name_columns(name: FormerName, width: int) -> Sequence[Column[Any]]:
    """The name, and as far as it fits, its change, the actor and the age."""
    actor, age = _format_change(name.ended_by)
    age = f"{age:>{_AGE}}"
    cells = 2 + _measure_cells(split_pieces(name.path, name.spans))
    choices = (f"  {'renamed' if name.now else 'deleted'} {actor} {age}", f"  {actor} {age}", f" {age}")
    details = next((words for words in choices if cells + cell_len(words) <= width), choices[-1])
    return (
        Column("sign", ">" if name.now else "-", "detail" if name.now else "gone", width=2),
        Column("path", lambda _, room: _format_path(name.path, name.spans, room), "detail", share=True),
        Column("end", details, "detail"),
    )


def _get_past_columns(hit: PastHit, width: int) -> Sequence[Column[Any]]:
    """The line, the actor that removed or added it, and the age."""
    actor, age = _format_change(hit.removed_by or hit.added_by)
    return (
        Column("sign", "-" if hit.removed_by else "+", "gone" if hit.removed_by else "detail", width=2),
        Column("text", _format_line, width=width // 2, share=True),
        Column("actor", actor, "detail", gap="  "),
        Column("age", age, "detail", _AGE, align=">", gap=" "),
    )
