"""How one row of the outline is drawn.

A row is where a hostile file name meets the terminal, and where columns go out of line when a name is wider than it is
long. So names become visible text first, are cut by cells, and every strip is exactly as wide as it was asked to be.
"""

from collections.abc import Callable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.core import wording
from memtui.core.events import EntryKind
from memtui.core.unicode import to_one_line
from memtui.ui.theme import truncate_middle
from memtui.ui.widgets.tree.outline import TreeRow, has_dot
from memtui.ui.widgets.tree.row_state import RowChange, RowState

SECOND = 1_000_000_000
"""Nanoseconds."""

WIDTH_WITH_SIZES = 34
"""The width from which sizes and ages have columns."""

LEAD = 3
"""Cells before the outline: cursor, change, selection."""

GUIDE = "│ "
SELECTED = "*"
"""The letter before a selected name."""
PINNED = "^"
"""The letter among the details of a pinned entry."""
PROTECTED = "P"
"""The letter among the details of an entry that no agent may change."""

ROLES = {"generated": "G", "mirrored": "M", "read-only": "R", "loads": "L"}
"""The letter among the details of an entry that is somebody else's, or that every session loads."""

SUFFIX = {EntryKind.FILE: "", EntryKind.DIRECTORY: "/", EntryKind.LINK: "@", EntryKind.OTHER: "|"}
"""The character behind a name, as in `ls -F`."""


def format_row_age(then_ns: int, now_ns: int) -> str:
    """The age in at most three cells."""
    return wording.format_age((now_ns - then_ns) / SECOND, wording.COLUMN)


def measure_step(width: int) -> int:
    """The cells of a level of indentation and of a triangle, so that names stand under names."""
    return 2 if width >= WIDTH_WITH_SIZES else 1


def measure_indent(row: TreeRow, width: int) -> int:
    """The cells before the triangle or the name; deep rows keep two thirds of the width for their names."""
    return LEAD + min(measure_step(width) * row.depth, max(2, width // 3))


def draw_row(
    row: TreeRow,
    width: int,
    now_ns: int,
    styles: Callable[[str], Style],
    state: RowState = RowState(),  # noqa: B008 - immutable
) -> Strip:
    """One row as a strip of exactly `width` cells: the cursor, the change, the selection, the name, its details.

    Args:
        row: The entry; its name may be hostile.
        width: Cells.
        now_ns: Nanoseconds since the epoch, for the age.
        styles: The style of a role with its background: `directory`, `hidden`, `detail`, `guide`, `fresh`, `cursor`,
            `selected`, `fading`, the name of a change, or `""`.
    """
    change, cursor, fresh, letter, selected, protected, role, fading = state
    flags = _format_flags(row, protected, role)
    indent = measure_indent(row, width)
    triangle = ""
    if row.entry.kind is EntryKind.DIRECTORY:
        triangle = ("▾" if row.expanded else "▸").ljust(measure_step(width))
    suffix = SUFFIX[row.entry.kind]
    name = to_one_line(row.name)
    start = indent + len(triangle)
    details = _format_details(row, width, now_ns, flags, start + cell_len(name) + len(suffix))
    room = width - start - len(suffix) - len(details)
    if room < 4:  # too narrow for anything but the name
        room, details = room + len(details) - len(flags), flags
    name = truncate_middle(name, max(0, room)) + suffix
    gap = " " * (width - start - cell_len(name) - len(details))

    lead, name_style, detail = styles(""), _get_name_style(row, change, role, styles), styles("detail")
    change_style = styles(change.name.lower()) if change else lead
    over = over_ground = Style()
    if selected:
        style = styles("selected")
        over = Style(color=style.color, bold=style.bold, underline=style.underline)
        name_style += over
    if cursor:
        lead = change_style = detail = styles("cursor")
        name_style = lead + Style(strike=True) if change is RowChange.DELETED else lead
    elif fading:
        name_style = change_style = detail = styles("fading")
    elif fresh or letter:
        under = Style(bgcolor=styles("fresh").bgcolor, underline=styles("fresh").underline)
        lead, name_style, change_style, detail = (style + under for style in (lead, name_style, change_style, detail))
        over_ground = under
    segments = [
        Segment(">" if cursor else " ", lead),
        Segment(letter or (change.value if change else " "), change_style),
        Segment(SELECTED if selected else " ", lead if cursor else lead + over),
        Segment(_draw_guides(row.depth, indent - LEAD, width), lead if cursor else styles("guide") + over_ground),
        Segment(triangle, lead),
        Segment(name, name_style),
        Segment(gap, lead),
        Segment(details, detail),
    ]
    return Strip(segments).adjust_cell_length(width, lead)


def _draw_guides(depth: int, width: int, row_width: int) -> str:
    """A line down from each directory around a row; blanks where a level has one cell."""
    return (GUIDE * depth)[:width] if measure_step(row_width) == len(GUIDE) else " " * width


def _format_flags(row: TreeRow, protected: bool, role: str) -> str:
    letters = (PINNED if row.pinned else "") + (PROTECTED if protected else "") + role
    return f" {letters}" if letters else ""


def _format_details(row: TreeRow, width: int, now_ns: int, flags: str, used: int) -> str:
    """The letters, the size and the age of a row; without the size where the name leaves no room for it."""
    size = _format_row_size(row)
    age = "" if row.newest_ns is None else format_row_age(row.newest_ns, now_ns)
    if width >= WIDTH_WITH_SIZES:
        details, without_size = f"{flags} {size:>4}{age:>5}", f"{flags}{age:>5}"
    else:
        details, without_size = f"{flags} {size} {age:>3}", f"{flags} {age}"
    return details if size and used + len(details) <= width else without_size


def _format_row_size(row: TreeRow) -> str:
    if row.files is not None:
        return wording.format_column_count(row.files)
    return "" if row.entry.size is None else wording.format_size(row.entry.size, wording.COLUMN)


def _get_name_style(row: TreeRow, change: RowChange | None, role: str, styles: Callable[[str], Style]) -> Style:
    if change is not None:
        bold = Style(bold=styles("directory").bold) if row.files is not None else Style()
        return styles(change.name.lower()) + bold
    if has_dot(row.path) or role not in ("", ROLES["loads"]):
        return styles("hidden")
    return styles("directory" if row.files is not None else "")
