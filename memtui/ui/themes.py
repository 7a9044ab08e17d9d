"""Which colors: what the person says, else those that go with the terminal."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.theme import BUILTIN_THEMES

if TYPE_CHECKING:
    from memtui.config import Loaded, Problem

AUTO = "auto"
OURS = (
    # Blue on black, and green or cyan on white, cannot be read in the palettes of most terminals.
    replace(
        BUILTIN_THEMES["ansi-dark"],
        primary="ansi_bright_blue",
        secondary="ansi_bright_cyan",
        error="ansi_bright_red",
        variables={
            **BUILTIN_THEMES["ansi-dark"].variables,
            "block-cursor-background": "ansi_blue",
            "block-cursor-foreground": "ansi_bright_white",
        },
    ),
    replace(
        BUILTIN_THEMES["ansi-light"],
        secondary="ansi_magenta",
        success="ansi_blue",
        variables={
            **BUILTIN_THEMES["ansi-light"].variables,
            "block-cursor-background": "ansi_black",
            "block-cursor-foreground": "ansi_bright_white",
        },
    ),
)
"""Themes in the place of Textual's of the same name."""
_MANY = ("truecolor", "24bit")
_NO_SCREEN = ("", "dumb")
"""Where nothing is drawn but for tests and pictures."""


def theme_for(
    wanted: str, *, light: bool | None, no_color: bool = False, environ: Mapping[str, str] = os.environ
) -> str:
    """The theme to begin with.

    Args:
        wanted: What the settings say: a theme, or `auto`.
        light: Whether the terminal says that it is light; `None` if it does not say.
        no_color: Whether all becomes gray anyhow: the 16 colors have no grays to become.
        environ: The environment.
    """
    if wanted in BUILTIN_THEMES:
        return wanted
    if light is None:
        light = environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    if not has_many_colors(environ) and not no_color:
        return "ansi-light" if light else "ansi-dark"
    return "catppuccin-latte" if light else "textual-dark"


def has_many_colors(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal has 256 colors or more, as what writes to it will find out, too."""
    if environ.get("COLORTERM", "").strip().lower() in _MANY:
        return True
    forced = environ.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if forced in ("256", "truecolor"):
        return True
    term = environ.get("TERM", "").strip().lower()
    return term in _NO_SCREEN or term.rpartition("-")[2] in ("256color", "kitty")


def problems_of_theme(loaded: "Loaded") -> "list[Problem]":
    """What is wrong with the theme that the settings name."""
    from memtui.config import Problem  # deferred: only where a theme is named
    from memtui.config.nearest import nearest

    name = loaded.config.theme
    names = [each.strip() for each in name.split(",")] if loaded.origin("theme") == "TEXTUAL_THEME" else [name]
    if name == AUTO or any(each in BUILTIN_THEMES for each in names):
        return []
    meant = nearest(name, (AUTO, *BUILTIN_THEMES))
    hint = f'Did you mean "{meant}"?' if meant else f"There are: {', '.join((AUTO, *sorted(BUILTIN_THEMES)))}."
    line = loaded.line("theme")
    file, _, _ = loaded.origin("theme").rpartition(":")
    where = f"{file}, line {line}: " if line else f"{loaded.origin('theme')}: "
    return [Problem(f'{where}there is no theme "{name}". {hint} For now "{AUTO}" is used.', "theme", line)]
