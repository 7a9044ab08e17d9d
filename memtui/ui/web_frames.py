"""The screen as cells for a web page, and the page's keys and mouse as Textual's events.

A frame holds the rows that changed: `{"number", "width", "height", "styles": [[color, background, flags]], "rows":
[[row, runs]]}`. A run is `[text, style]` with one code point in each cell, or `[text, style, cells]` for one character
that is wider, or made of several code points. So the page needs no tables of widths, and no emulator of a terminal.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

from rich.cells import cell_len
from rich.color import Color
from rich.segment import ControlType, Segment
from rich.style import Style
from textual.events import (
    AppBlur,
    AppFocus,
    Event,
    Key,
    MouseDown,
    MouseEvent,
    MouseMove,
    MouseScrollDown,
    MouseScrollUp,
    MouseUp,
    Paste,
)  # fmt: skip

from memtui.ui.textual_private import character_to_key

_FOREGROUND, _BACKGROUND = "#e0e0e0", "#121212"
"""Where a style names no color; they are those of the page."""
_MOST_CODE_POINTS = 8
"""Code points of one character; combining marks beyond are left out."""
_JOINER = "\u200d"

CellStyle = tuple[str, str, int]
"""Color, background and flags."""
Cell = tuple[str, CellStyle]
"""A character and its style; empty for the second half of a wide one."""
Run = tuple[str, CellStyle, int | None]
"""Text, style, and its width in cells; `None` for one code point in each cell."""


_BLANK: Cell = (" ", (_FOREGROUND, _BACKGROUND, 0))


class CellGrid:
    """The cells of a screen, and which rows a page does not have yet.

    Args:
        columns: Cells of a row.
        rows: Their number.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self._cells: list[list[Cell]] = []
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size. What is there stays until it is drawn again."""
        kept = [row[:columns] for row in self._cells[:rows]]
        self._cells = [row + [_BLANK] * (columns - len(row)) for row in kept]
        self._cells += [[_BLANK] * columns for _ in range(rows - len(kept))]
        self._columns = columns
        self._sent: dict[int, list[Run]] = {}
        self._changed = set(range(rows))

    def draw(self, segments: Iterable[Segment]) -> None:
        """Draw what Textual would write to a terminal: text, and controls that move to a place."""
        x = y = 0
        for text, style, control in segments:
            if control is not None:
                for code in control:
                    if code[0] == ControlType.CURSOR_MOVE_TO:
                        _, x, y = cast("tuple[ControlType, int, int]", code)
            elif text != "\n":  # behind it a control follows
                x = self._draw_text(text, read_style(style or Style.null()), x, y)

    def _draw_text(self, text: str, style: CellStyle, x: int, y: int) -> int:
        """Draw at a place; returns the column behind the text."""
        row = self._cells[y] if y < len(self._cells) else []
        for character, width in split_text(text):
            if x + width <= len(row):
                if not row[x][0] and x:
                    row[x - 1] = (" ", row[x - 1][1])  # the first half of what loses the second one
                if x + width < len(row) and not row[x + width][0]:
                    row[x + width] = (" ", row[x + width][1])
                row[x : x + width] = [(character, style), *[("", style)] * (width - 1)]
            x += width
        self._changed.add(y)
        return x

    def build_frame(self, number: int) -> dict[str, Any]:
        """The frame with the rows that changed since the last one, which may be none.

        Args:
            number: Counts frames.
        """
        styles: dict[CellStyle, int] = {}
        rows = []
        for y in sorted(self._changed):
            runs = _build_runs(self._cells[y]) if y < len(self._cells) else None
            if runs is not None and runs != self._sent.get(y):
                self._sent[y] = runs
                rows.append([y, [_number_style(run, styles) for run in runs]])
        self._changed.clear()
        size = {"width": self._columns, "height": len(self._cells)}
        return {"number": number, **size, "styles": list(styles), "rows": rows}


def _build_runs(row: Sequence[Cell]) -> list[Run]:
    runs: list[Run] = []
    for at, (character, style) in enumerate(row):
        if not character:
            continue
        is_wide = at + 1 < len(row) and not row[at + 1][0]
        if is_wide or len(character) > 1:
            runs.append((character, style, 2 if is_wide else 1))
        elif runs and runs[-1][1:] == (style, None):
            runs[-1] = (runs[-1][0] + character, style, None)
        else:
            runs.append((character, style, None))
    return runs


def _number_style(run: Run, styles: dict[CellStyle, int]) -> list[object]:
    text, style, cells = run
    number = styles.setdefault(style, len(styles))
    return [text, number] if cells is None else [text, number, cells]


def split_text(text: str) -> Iterator[tuple[str, int]]:
    """The characters of a text with their cells, 1 or 2; together they are as wide as Textual takes the text for."""
    if text.isascii():
        yield from ((character, 1) for character in text)
        return
    characters: list[str] = []
    for code_point in text:
        if characters and (characters[-1][-1] == _JOINER or not cell_len(code_point)):
            characters[-1] += code_point
        else:
            characters.append(code_point)
    room = cell_len(text)
    for character in characters:
        width = min(cell_len(character), room, 2)
        room -= width
        if width:
            yield character[:_MOST_CODE_POINTS], width
    yield from ((" ", 1) for _ in range(room))


@lru_cache(maxsize=4_096)
def read_style(style: Style) -> CellStyle:
    color, background = _read_color(style.color, _FOREGROUND), _read_color(style.bgcolor, _BACKGROUND)
    if style.reverse:
        color, background = background, color
    flags = (style.bold, style.dim, style.italic, style.underline, style.strike, style.overline)
    return color, background, sum(1 << bit for bit, is_set in enumerate(flags) if is_set)


def _read_color(color: Color | None, default: str) -> str:
    return default if color is None or color.is_default else color.get_truecolor().hex


# From the page

_SHIFT, _ALT, _CTRL = 1, 2, 4
_CONTROL = {
    "Enter": ("enter", "\r"), "Tab": ("tab", "\t"), "Escape": ("escape", "\x1b"), "Backspace": ("backspace", "\x7f"),
    " ": ("space", " "),
}  # fmt: skip
_NAMED = {
    **{name: name.casefold() for name in ("Delete", "Insert", "Home", "End", "PageUp", "PageDown")},
    **{f"Arrow{name}": name.casefold() for name in ("Up", "Down", "Left", "Right")},
    **{f"F{number}": f"f{number}" for number in range(1, 25)},
}
_MOUSE: dict[str, type[MouseEvent]] = {
    "down": MouseDown, "up": MouseUp, "move": MouseMove, "scroll_down": MouseScrollDown, "scroll_up": MouseScrollUp,
}  # fmt: skip


def parse_size(message: object, name: str, *, most: tuple[int, int]) -> tuple[int, int] | None:
    """The columns and rows of a message of this name; `None` for another one. At least one cell, at most so many."""
    match message:
        case [str(given), int(columns), int(rows), *_] if given == name:
            return max(1, min(columns, most[0])), max(1, min(rows, most[1]))
    return None


def parse_events(message: object) -> list[Event]:
    """The events of a message; empty for one that is none, or invalid."""
    match message:
        case ["key", str(name), int(modifiers)]:
            key = parse_key(name, modifiers)
            return [] if key is None else [key]
        case ["text", str(text)]:
            return [Key(character_to_key(each), each) for each in text if each.isprintable()]
        case ["paste", str(text)]:
            return [Paste(text)]
        case ["focus", bool(focus)]:
            return [AppFocus() if focus else AppBlur()]
        case ["mouse", str(kind), int(x), int(y), int(button), int(modifiers)] if (
            kind in _MOUSE and 0 <= x < 1_000 and 0 <= y < 1_000 and 0 <= button <= 3
        ):
            shift, alt, ctrl = (bool(modifiers & bit) for bit in (_SHIFT, _ALT, _CTRL))
            return [_MOUSE[kind](None, x, y, 0, 0, button, shift, alt, ctrl, screen_x=x, screen_y=y)]
    return []


def parse_key(name: str, modifiers: int) -> Key | None:
    """A key as a terminal would tell it.

    Args:
        name: The web's name, such as `ArrowUp` or `a`.
        modifiers: 1 for Shift, 2 for Alt, 4 for Ctrl, or their sum.
    """
    held = [word for bit, word in ((_ALT, "alt"), (_CTRL, "ctrl")) if modifiers & bit]
    if name in _CONTROL:
        key, character = _CONTROL[name]
        if modifiers & _SHIFT and key == "tab":
            held.append("shift")
        return Key("+".join([*held, key]), None if held else character)
    if name in _NAMED:
        if modifiers & _SHIFT:
            held.append("shift")
        return Key("+".join([*held, _NAMED[name]]), None)
    if len(name) != 1 or not name.isprintable():
        return None
    if held:
        return Key("+".join([*held, character_to_key(name.lower())]), None)
    return Key(character_to_key(name), name)


def parse_message(line: bytes) -> object:
    """The message on a line; `None` for one that is no JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
