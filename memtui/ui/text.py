"""The first wall: the one door through which text from outside becomes something a widget can show.

A plain `str` given to a Textual widget is markup: `[@click=…]` in a file name becomes a live action, `[/x]`
ends the app, and an escape sequence reaches the terminal. Whatever comes from files, names or agents passes
through `content` and is text from then on. The second wall is `memtui.ui.gate`.
"""

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from memtui.core.visible import visible

TAB = "    "
ELLIPSIS = ".."  # ASCII: the one-cell ellipsis is two cells wide in some East Asian terminals


def content(text: str, style: str = "") -> Content:
    """Text from outside as content: hidden characters become escapes, markup stays text.

    Args:
        text: Any text, lone surrogates included.
        style: A Textual style, such as `"$text-warning"`, chosen by us and never taken from outside.
    """
    return Content.styled(visible(text, tab=TAB), style)


def fit(text: str, width: int) -> str:
    """The text cut at its end so that it fills at most `width` cells.

    Args:
        text: One line of text that `visible` has been through.
        width: Terminal cells, not characters.
    """
    if cell_len(text) <= width:
        return text
    if width <= len(ELLIPSIS):
        return ELLIPSIS[: max(0, width)]
    return set_cell_size(text, width - len(ELLIPSIS)).rstrip(" ") + ELLIPSIS


def fit_middle(name: str, width: int) -> str:
    """The name cut in its middle to at most `width` cells, with its extension kept where it fits.

    Args:
        name: One line of text that `visible` has been through.
        width: Terminal cells, not characters.
    """
    if cell_len(name) <= width:
        return name
    stem, dot, extension = name.rpartition(".")
    tail = dot + extension
    if not stem or cell_len(tail) > width // 2:
        stem, tail = name, ""
    room = width - len(ELLIPSIS) - cell_len(tail)
    if room < 2:
        return fit(name, width)
    end = _last_cells(stem, room // 3)
    return set_cell_size(stem, room - cell_len(end)).rstrip(" ") + ELLIPSIS + end + tail


def _last_cells(text: str, width: int) -> str:
    """The longest end of the text that fills at most `width` cells."""
    end = text[max(0, len(text) - width) :]
    while cell_len(end) > width:
        end = end[1:]
    return end
