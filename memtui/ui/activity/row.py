"""How one line of activity is drawn, and which columns there is room for.

Actor and path come from outside: they become visible text and are cut by cells, so that a hostile name can
neither drive the terminal nor push a refusal out of sight.
"""

from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.core.visible import one_line
from memtui.ui.text import fit, fit_middle

TIME, ACTOR, COMMAND, RESULT, COUNTS = 8, 7, 11, 7, 9
"""Cells of the columns that do not stretch: `10:14:02`, `outside`, `str_replace`, `REFUSED`, `+999 -999`."""

NAMED_ACTOR = 11
"""Cells of the actor where there is room for the names of programs: `claude-code`."""

_ROOMY = 90

WIDEST = 72
"""Cells of the path at most: the eye has to find the result beside it."""

LONGEST = 2000
"""Characters of a text that are looked at; what an agent sends may be a megabyte."""

WRITES = frozenset(
    {
        "create",
        "str_replace",
        "insert",
        "delete",
        "rename",
        "write",
        "restore",
        "undo",
        "redo",
        "redact",
        "clear",
    }
)
"""Commands that change the folder."""


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """One event, in words."""

    seq: int
    """The number of the event."""
    time: str
    """Local time, `10:14:02`."""
    actor: str
    """`Claude`, `you`, `outside` or an agent's name; may be hostile."""
    command: str
    """`view`, `create` and so on; `modified`, `created`, `deleted` for what was seen from outside."""
    path: str
    """`/memories/notes/a.md`; may be hostile."""
    result: str
    """`ok`, `same`, `seen`, `REFUSED`, `UNSURE`, `ABORTED`."""
    added: int | None
    """Lines."""
    removed: int | None
    """Lines."""
    duration_ms: float | None
    """Milliseconds."""
    note: str = ""
    """`23 entries`, `outside /memories`, `not via memtui`."""

    @property
    def is_write(self) -> bool:
        """Whether the folder was changed through memtui."""
        return self.result == "ok" and self.command in WRITES

    @property
    def is_refused(self) -> bool:
        """Whether the engine said no."""
        return self.result == "REFUSED"


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of a row, resolved from the theme once; each has a background of its own."""

    plain: Style
    detail: Style
    agent: Style
    you: Style
    outside: Style
    ok: Style
    bad: Style
    seen: Style
    added: Style
    removed: Style
    cursor: Style


@dataclass(frozen=True, slots=True)
class Columns:
    """How many cells each column has; a column of none is left out. The path takes what is left."""

    gap: int
    time: int
    actor: int
    command: int
    path: int
    result: int
    counts: int
    """0: the counts follow the result in its column."""
    duration: int
    note: int


@lru_cache(maxsize=16)
def columns_for(width: int) -> Columns:
    """The columns for a line of so many cells.

    What goes first as the line gets narrower: the note, the spaces, the column of counts, the duration; then
    the path shrinks, then the time goes.
    """
    if width >= 100:
        note = 17
        actor = NAMED_ACTOR if width < 140 else NAMED_ACTOR + 5
        fixed = 1 + TIME + actor + COMMAND + RESULT + COUNTS + 7 + note + 2 * 4 + 1 + 1 + 3
        path = min(width - fixed, WIDEST)
        return Columns(2, TIME, actor, COMMAND, path, RESULT, COUNTS, 7, note + width - fixed - path)
    actor = NAMED_ACTOR if width >= _ROOMY else ACTOR
    fixed = 1 + TIME + 1 + actor + 1 + COMMAND + 1 + 1 + RESULT + 3
    duration = 5 if width - fixed - 6 >= 20 else 0
    fixed += duration + 1 if duration else 0
    if width - fixed >= 8:
        return Columns(1, TIME, actor, COMMAND, width - fixed, RESULT + 3, 0, duration, 0)
    fixed = 1 + ACTOR + 1 + COMMAND + 1 + 1 + RESULT
    return Columns(1, 0, ACTOR, COMMAND, max(1, width - fixed), RESULT, 0, 0, 0)


def duration_text(milliseconds: float, gap: str = " ") -> str:
    """`2 ms`, `1.2 s`, `75 s`; without the space where there is little room."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f}{gap}ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f}{gap}s" if seconds < 9.95 else f"{min(seconds, 9999):.0f}{gap}s"


def lines_text(lines: int) -> str:
    """A number of lines in at most three cells: `999`, `12k`, `.3m`, `1m`."""
    if lines < 1000:
        return str(lines)
    if lines < 100_000:
        return f"{lines // 1000}k"
    return f".{lines // 100_000}m" if lines < 1_000_000 else f"{min(lines // 1_000_000, 99)}m"


def draw(row: ActivityRow, width: int, palette: Palette, *, cursor: bool = False) -> Strip:
    """One line as a strip of exactly `width` cells.

    Args:
        row: The event; actor, path and note may be hostile.
        width: Cells.
        palette: The styles.
        cursor: Whether the cursor is on this line.
    """
    columns = columns_for(width)
    gap = " " * columns.gap
    plain, detail = palette.plain, palette.detail
    segments = [Segment(">" if cursor else " ", plain)]
    if columns.time:
        segments.append(Segment(_cell(row.time, columns.time) + gap, detail))
    segments += [
        Segment(_cell(row.actor, columns.actor) + gap, _actor_style(row, palette)),
        Segment(_cell(row.command, columns.command) + gap, plain),
        Segment(_path(row.path, columns.path) + gap, plain),
    ]
    result = Segment(_cell(row.result, min(columns.result, RESULT)), _result_style(row, palette))
    if columns.counts:
        segments += [result, Segment(" ", plain), *_counts(row, columns.counts, palette)]
    elif row.added or row.removed:
        result = Segment(fit(one_line(row.result[:LONGEST]), 4) + " ", result.style)
        segments += [result, *_counts(row, columns.result - cell_len(result.text), palette)]
    else:
        segments += [result, Segment(" " * (columns.result - RESULT), plain)]
    if columns.duration:
        space = " " if columns.note else ""
        duration = "" if row.duration_ms is None else duration_text(row.duration_ms, space)
        segments.append(Segment(f" {duration:>{columns.duration}}", detail))
    if columns.note:
        segments.append(Segment(f"   {_cell(row.note, columns.note)}", detail))
    if cursor:
        segments = [Segment(segment.text, palette.cursor) for segment in segments]
    return Strip(segments).adjust_cell_length(width, palette.cursor if cursor else plain)


def _cell(text: str, width: int) -> str:
    text = fit(one_line(text[:LONGEST]), width)
    return text + " " * (width - cell_len(text))


def _path(path: str, width: int) -> str:
    if len(path) > LONGEST:
        path = path[: LONGEST // 2] + path[-LONGEST // 2 :]
    path = fit_middle(one_line(path), width)
    return path + " " * (width - cell_len(path))


def _counts(row: ActivityRow, width: int, palette: Palette) -> list[Segment]:
    """`+12 -3`, each in its colour, filled up to so many cells; left out where it does not fit."""
    added = f"+{lines_text(row.added)}" if row.added else ""
    removed = f"-{lines_text(row.removed)}" if row.removed else ""
    space = " " if added and removed else ""
    left = width - len(added) - len(space) - len(removed)
    if left < 0:
        return [Segment(" " * width, palette.plain)]
    return [
        Segment(added + space, palette.added),
        Segment(removed, palette.removed),
        Segment(" " * left, palette.plain),
    ]


def _actor_style(row: ActivityRow, palette: Palette) -> Style:
    match row.actor:
        case "you":
            return palette.you
        case "outside":
            return palette.outside
        case _:
            return palette.agent


def _result_style(row: ActivityRow, palette: Palette) -> Style:
    match row.result:
        case "ok" | "same":
            return palette.ok
        case "seen":
            return palette.seen
        case _:
            return palette.bad
