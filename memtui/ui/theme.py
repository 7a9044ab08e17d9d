"""Themes and safe text: the configured theme, else one that suits the terminal."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from memtui.core.paths import NO_FOLDER
from memtui.core.suggestion import format_suggestion
from memtui.core.unicode import visible
from memtui.fs.atomic import write_atomic
from memtui.fs.state import get_state_home, make_private_directory
from memtui.ui import palettes

if TYPE_CHECKING:
    from memtui.config import ConfigProblem, LoadedConfig


AUTO = "auto"
_KEPT = "theme"
"""The file of the chosen theme, beside the journals."""
_NAME_BYTES = 100
_MANY = ("truecolor", "24bit")
_NO_SCREEN = ("", "dumb")
"""Terminals of tests and pictures."""


def choose_theme(
    wanted: str, *, light: bool | None, no_color: bool = False, environ: Mapping[str, str] = os.environ
) -> str:
    """The theme at the start.

    Args:
        wanted: A theme, or `auto`.
        light: Whether the terminal reports a light background; `None` without a report.
        no_color: Whether everything becomes gray: the 16 colors have no grays.
        environ: The environment.
    """
    if wanted in palettes.NAMES:
        return wanted
    if light is None:
        light = environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    if not has_many_colors(environ) and not no_color:
        return palettes.ANSI_LIGHT if light else palettes.ANSI_DARK
    return palettes.LIGHT if light else palettes.DARK


def load_kept_theme() -> str:
    """The theme that the person chose last, where the settings name none; `auto` if there is none."""
    try:
        name = (get_state_home() / _KEPT).read_bytes()[:_NAME_BYTES].decode("utf-8", "replace").strip()
    except OSError:
        return AUTO
    return name if name in palettes.NAMES else AUTO


def keep_theme(name: str) -> None:
    """Keep a theme for the next start; what cannot be written is not missed."""
    home = get_state_home()
    with contextlib.suppress(OSError):
        make_private_directory(home)
        write_atomic(home / _KEPT, f"{name}\n".encode(), sync=False)


def has_many_colors(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal has at least 256 colors, as Rich will find out."""
    if environ.get("COLORTERM", "").strip().lower() in _MANY:
        return True
    forced = environ.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if forced in ("256", "truecolor"):
        return True
    term = environ.get("TERM", "").strip().lower()
    return term in _NO_SCREEN or term.rpartition("-")[2] in ("256color", "kitty")


def find_theme_problems(loaded: "LoadedConfig") -> "list[ConfigProblem]":
    from memtui.config import ConfigProblem  # noqa: PLC0415 - start-up: only for a problem

    name = loaded.config.theme
    names = [each.strip() for each in name.split(",")] if loaded.get_origin("theme") == "TEXTUAL_THEME" else [name]
    if name == AUTO or any(each in palettes.NAMES for each in names):
        return []
    there = f"There are: {', '.join((AUTO, *palettes.OFFERED))}."
    hint = format_suggestion(name, (AUTO, *palettes.NAMES), there, shown='"{}"')
    line = loaded.get_line("theme")
    file, _, _ = loaded.get_origin("theme").rpartition(":")
    where = f"{file}, line {line}: " if line else f"{loaded.get_origin('theme')}: "
    return [ConfigProblem(f'{where}there is no theme "{name}". {hint} "{AUTO}" is used.', "theme", line)]


# The first wall: the one door through which text from outside becomes something a widget can show.
#
# A plain `str` given to a Textual widget is markup: `[@click=…]` in a file name becomes a live action, `[/x]`
# ends the app, and an escape sequence reaches the terminal. Whatever comes from files, names or agents passes
# through `to_content` and is text from then on. The second wall is `memtui.ui.terminal`.

TAB = "    "
ELLIPSIS = ".."  # ASCII: the one-cell ellipsis is two cells wide in some East Asian terminals


def to_content(text: str, style: str = "") -> Content:
    """Text from outside as content: hidden characters become escapes, markup stays text.

    Args:
        text: Any text, lone surrogates included.
        style: A Textual style, such as `"$text-warning"`; never taken from outside.
    """
    return Content.styled(visible(text, tab=TAB), style)


def truncate(text: str, width: int) -> str:
    """The text cut at its end to `width` cells; like `truncate_middle` for one line that `visible` has been through."""
    if cell_len(text) <= width:
        return text
    if width <= len(ELLIPSIS):
        return ELLIPSIS[: max(0, width)]
    return set_cell_size(text, width - len(ELLIPSIS)).rstrip(" ") + ELLIPSIS


def truncate_middle(name: str, width: int) -> str:
    """The name cut in its middle to `width` cells, with its extension where it fits."""
    if cell_len(name) <= width:
        return name
    stem, dot, extension = name.rpartition(".")
    tail = dot + extension
    if not stem or cell_len(tail) > width // 2:
        stem, tail = name, ""
    room = width - len(ELLIPSIS) - cell_len(tail)
    if room < 2:
        return truncate(name, width)
    end = _take_last_cells(stem, room // 3)
    return set_cell_size(stem, room - cell_len(end)).rstrip(" ") + ELLIPSIS + end + tail


def wrap_paths(text: str, width: int) -> list[str]:
    """A text with paths in rows of `width` cells; a path that is longer is broken after a slash where there is one."""
    rows = [""]
    for word in text.split(" "):
        rest = f" {word}" if rows[-1] else word
        while cell_len(rows[-1] + rest) > width:
            room = width - cell_len(rows[-1])
            fitting = set_cell_size(rest, room).rstrip(" ") if room > 0 else ""
            head = fitting[: fitting.rfind("/") + 1]
            if not head and not rows[-1]:
                head = fitting or rest[:1]
            rows[-1] += head
            rest = rest[len(head) :].removeprefix("" if head else " ")
            rows.append("")
        rows[-1] += rest
    return rows


def _take_last_cells(text: str, width: int) -> str:
    """The longest end of the text within `width` cells."""
    end = text[max(0, len(text) - width) :]
    while cell_len(end) > width:
        end = end[1:]
    return end


def truncate_apart(names: Sequence[str], width: int) -> list[str]:
    """Paths cut to `width` cells, each where it is still told from the others: at its start, if it is no address."""
    taken: dict[str, str] = {}
    """The name of each cut."""
    cuts: dict[str, str] = {}
    for name in sorted(set(names), key=cell_len):
        first = next(_iter_cuts(name, names, width))
        cuts[name] = next((cut for cut in _iter_cuts(name, names, width) if cut not in taken), first)
        taken[cuts[name]] = name
    return [cuts[name] for name in names]


def _iter_cuts(name: str, names: Sequence[str], width: int) -> Iterator[str]:
    """The name cut at its start, in its middle, at its end, and around each place where another name differs."""
    if cell_len(name) <= width:
        yield name
        return
    start, middle = ELLIPSIS + _take_last_cells(name, width - len(ELLIPSIS)), truncate_middle(name, width)
    yield from (middle, start) if name.startswith(NO_FOLDER) else (start, middle)  # an address begins with what it is
    yield truncate(name, width)
    room = width - 2 * len(ELLIPSIS)
    for other in names:
        common = os.path.commonprefix((name, other))  # noqa: RUF071 - by characters
        at = max(len(common) - room // 4, 0)
        yield ELLIPSIS + set_cell_size(name[at : at + room], room).rstrip(" ") + ELLIPSIS
