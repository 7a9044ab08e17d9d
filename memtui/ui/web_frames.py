"""The screen as cells for a web page, and the page's keys and mouse as Textual's events.

A frame holds the rows that changed: `{"number", "width", "height", "styles": [[color, background, flags]], "rows":
[[row, runs]]}`. A run is `[text, style]` with one code point in each cell, or `[text, style, cells]` for one character
that is wider, or made of several code points. So the page needs no tables of widths, and no emulator of a terminal.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
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
from textual.strip import Strip

from memtui.ui.textual_private import character_to_key

_FOREGROUND, _BACKGROUND = "#e0e0e0", "#121212"
"""Where a style names no color; they are those of the page."""
_MOST_CODE_POINTS = 8
"""Code points of one character; combining marks beyond are left out."""
_JOINER = "\u200d"

CellStyle = tuple[str, str, int]
"""Color, background and flags."""
Run = tuple[str, CellStyle, int | None]
"""Text, style, and its width in cells; `None` for one code point in each cell."""


class FrameBuilder:
    """Builds frames with the rows that differ from the frame before."""

    def __init__(self) -> None:
        self._rows: list[list[Run]] = []
        self._width = 0

    def build(self, strips: Sequence[Strip], width: int, number: int) -> dict[str, Any]:
        """The frame of a screen.

        Args:
            strips: Its rows.
            width: Cells of a row.
            number: Counts frames.
        """
        rows = [_build_runs(strip) for strip in strips]
        if width != self._width or len(rows) != len(self._rows):
            self._rows, self._width = [], width
        styles: dict[CellStyle, int] = {}
        changed = []
        for at, runs in enumerate(rows):
            if at >= len(self._rows) or runs != self._rows[at]:
                changed.append([at, [_number_style(run, styles) for run in runs]])
        self._rows = rows
        return {"number": number, "width": width, "height": len(rows), "styles": list(styles), "rows": changed}


def _number_style(run: Run, styles: dict[CellStyle, int]) -> list[object]:
    text, style, cells = run
    number = styles.setdefault(style, len(styles))
    return [text, number] if cells is None else [text, number, cells]


def _build_runs(segments: Iterable[Segment]) -> list[Run]:
    runs: list[Run] = []
    for text, style, control in segments:
        if control is not None:
            continue
        look = _read_style(style or Style.null())
        for part, cells in _split_text(text):
            if cells is None and runs and runs[-1][1:] == (look, None):
                part = runs.pop()[0] + part  # noqa: PLW2901 - the run goes on
            runs.append((part, look, cells))
    return runs


def _split_text(text: str) -> Iterator[tuple[str, int | None]]:
    """Parts of a text with their cells; `None` for a part with one code point in each cell."""
    if text.isascii():
        if text:
            yield text, None
        return
    characters: list[str] = []
    for code_point in text:
        if characters and (characters[-1][-1] == _JOINER or not cell_len(code_point)):
            characters[-1] += code_point
        else:
            characters.append(code_point)
    widths = [cell_len(each) for each in characters]
    if sum(widths) != cell_len(text):  # the terminal's rules are others: at least what follows stays in its column
        yield text[: _MOST_CODE_POINTS * len(text)], cell_len(text)
        return
    for character, cells in zip(characters, widths, strict=True):
        if cells == 1 and len(character) == 1:
            yield character, None
        elif cells:
            yield character[:_MOST_CODE_POINTS], cells


@lru_cache(maxsize=4_096)
def _read_style(style: Style) -> CellStyle:
    color, background = _read_color(style.color, _FOREGROUND), _read_color(style.bgcolor, _BACKGROUND)
    if style.reverse:
        color, background = background, color
    set_ = (style.bold, style.dim, style.italic, style.underline, style.strike, style.overline)
    return color, background, sum(1 << bit for bit, is_set in enumerate(set_) if is_set)


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
