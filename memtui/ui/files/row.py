"""How one row of the outline is drawn.

A row is the place where a hostile file name meets the terminal, and where columns go out of line when a name
is wider than it is long. So names become visible text first, are cut by cells, and every strip is
exactly as wide as it was asked to be.
"""

from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui.files.marks import Mark
from memtui.ui.files.outline import Row
from memtui.ui.text import fit_middle

SECOND = 1_000_000_000
"""Nanoseconds."""

ROOMY = 34
"""From this width on, sizes and ages stand in columns of their own."""

LEAD = 3
"""Cells before the outline: the cursor, what happened, whether it is marked."""

PICKED = "*"
"""Stands before what a person marked."""
PINNED = "^"
"""Stands among the details of what is pinned on top."""
PROTECTED = "P"
"""Stands among the details of what no agent may change."""

SUFFIX = {Kind.FILE: "", Kind.DIRECTORY: "/", Kind.LINK: "@", Kind.OTHER: "|"}
"""What follows a name, as `ls -F` writes it."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of a row, resolved from the theme once; each has a background of its own."""

    plain: Style
    directory: Style
    hidden: Style
    detail: Style
    marks: dict[Mark, Style]
    fresh: Style
    """Its background, or its underline, lies under the colours of a row that changed a moment ago."""
    cursor: Style
    picked: Style
    """Its colour and weight are those of what a person marked."""


def size_text(size: int) -> str:
    """A number of bytes in at most four cells: `812B`, `4.0K`, `41K`, `1.2M`."""
    if size < 1000:
        return f"{size}B"
    value = float(size)
    for unit in "KMGTPE":
        value /= 1024
        if value < 9.95:
            return f"{value:.1f}{unit}"
        if value < 999.5:
            return f"{value:.0f}{unit}"
    return "huge"


def count_text(count: int) -> str:
    """A number of files in at most four cells: `18`, `9999`, `12k`, `1.2m`."""
    if count < 10_000:
        return str(count)
    if count < 1_000_000:
        return f"{count // 1000}k"
    return f"{count / 1_000_000:.1f}m" if count < 9_950_000 else f"{count // 1_000_000}m"


def age_text(then_ns: int, now_ns: int) -> str:
    """How long ago, in at most three cells: `2s`, `14s`, `3h`, `9d`, `20w`, `2y`.

    A time more than a minute ahead, which no honest clock gives, is `fut`.
    """
    seconds = (now_ns - then_ns) // SECOND
    if seconds < -60:
        return "fut"
    seconds = max(0, seconds)
    for length, unit, limit in ((1, "s", 60), (60, "m", 3600), (3600, "h", 86_400), (86_400, "d", 8_640_000)):
        if seconds < limit:
            return f"{seconds // length}{unit}"
    days = seconds // 86_400
    return f"{days // 7}w" if days < 700 else f"{min(days // 365, 99)}y"


def step_of(width: int) -> int:
    """The cells by which each level is indented, and which a triangle fills; so names stand under names."""
    return 2 if width >= ROOMY else 1


def indent_of(row: Row, width: int) -> int:
    """The cells before the triangle or the name; deep rows keep two thirds of the width for their names."""
    return LEAD + min(step_of(width) * row.depth, max(2, width // 3))


def draw(
    row: Row,
    width: int,
    now_ns: int,
    palette: Palette,
    *,
    mark: Mark | None = None,
    cursor: bool = False,
    fresh: bool = False,
    letter: str = "",
    picked: bool = False,
    protected: bool = False,
) -> Strip:
    """One row as a strip of exactly `width` cells.

    Cursor, what happened, whether it is marked, indent, triangle, name and its suffix, letters for what is pinned and
    protected, size or number of files, age.

    Args:
        row: What to show; its name may be hostile.
        width: Cells.
        now_ns: Nanoseconds since the epoch, for the age.
        palette: The styles.
        mark: What happened to the entry.
        cursor: Whether the cursor is on this row.
        fresh: Whether it changed a moment ago.
        letter: What goes on with it now, in place of the mark; such a row is lit.
        picked: Whether the person marked it.
        protected: Whether no agent may change it.
    """
    indent = indent_of(row, width)
    triangle = ""
    if row.entry.kind is Kind.DIRECTORY:
        triangle = ("▾" if row.expanded else "▸").ljust(step_of(width))
    suffix = SUFFIX[row.entry.kind]
    name = one_line(row.name)
    size = _size_of(row)
    age = "" if row.newest_ns is None else age_text(row.newest_ns, now_ns)
    start = indent + len(triangle)
    letters = (PINNED if row.pinned else "") + (PROTECTED if protected else "")
    flags = f" {letters}" if letters else ""
    if width >= ROOMY:
        details = f"{flags} {size:>4}{age:>5}"
    else:
        details = f"{flags} {size} {age:>3}"
        if not size or start + cell_len(name) + len(suffix) + len(details) > width:
            details = f"{flags} {age}"
    room = width - start - len(suffix) - len(details)
    if room < 4:  # too narrow for anything but the name
        room, details = room + len(details) - len(flags), flags
    name = fit_middle(name, max(0, room)) + suffix
    gap = " " * (width - start - cell_len(name) - len(details))

    lead, name_style, mark_style, detail = (
        palette.plain,
        _name_style(row, mark, palette),
        palette.plain,
        palette.detail,
    )
    if mark is not None:
        mark_style = palette.marks[mark]
    if picked:
        name_style += palette.picked
    if cursor:
        lead = mark_style = detail = palette.cursor
        name_style = palette.cursor + Style(strike=True) if mark is Mark.DELETED else palette.cursor
    elif fresh or letter:
        under = Style(bgcolor=palette.fresh.bgcolor, underline=palette.fresh.underline)
        lead, name_style, mark_style, detail = (style + under for style in (lead, name_style, mark_style, detail))
    segments = [
        Segment(">" if cursor else " ", lead),
        Segment(letter or (mark.value if mark else " "), mark_style),
        Segment(PICKED if picked else " ", lead + palette.picked if picked and not cursor else lead),
        Segment(" " * (indent - LEAD) + triangle, lead),
        Segment(name, name_style),
        Segment(gap, lead),
        Segment(details, detail),
    ]
    return Strip(segments).adjust_cell_length(width, lead)


def _size_of(row: Row) -> str:
    if row.files is not None:
        return count_text(row.files)
    return "" if row.entry.size is None else size_text(row.entry.size)


def _name_style(row: Row, mark: Mark | None, palette: Palette) -> Style:
    if mark is not None:
        bold = Style(bold=palette.directory.bold) if row.files is not None else Style()
        return palette.marks[mark] + bold
    if row.path.startswith(".") or "/." in row.path:
        return palette.hidden
    return palette.directory if row.files is not None else palette.plain
