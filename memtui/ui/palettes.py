"""The colours: two themes of our own, the terminal's sixteen, and those of Textual that are offered besides.

A theme has two neutrals and one accent; green, amber and red say new, changed and refused. Every text that a theme
names is made legible on each of its grounds: at least 4.5 to 1, as WCAG 2.2 asks (success criterion 1.4.3).
"""

from dataclasses import replace
from functools import cache, partial

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

DARK, LIGHT = "memtui-dark", "memtui-light"
ANSI_DARK, ANSI_LIGHT = "ansi-dark", "ansi-light"
_KNOWN = (
    "catppuccin-mocha", "catppuccin-latte", "gruvbox", "nord", "solarized-dark", "solarized-light", "tokyo-night",
)  # fmt: skip
LEAST_CONTRAST = 4.5
_GROUNDS = ("background", "surface", "panel")
_TEXTS = ("text-primary", "text-secondary", "text-accent", "text-success", "text-warning", "text-error")
_STEPS = 40
_MUTED = 0.6
"""How much of the foreground is in what is of less weight, where that can be read."""

OWN = (
    Theme(
        DARK,
        primary="#a99cf7",
        secondary="#79c0d4",
        accent="#a99cf7",
        foreground="#dcdde6",
        background="#14151b",
        surface="#1a1b23",
        panel="#24252f",
        success="#86d1a0",
        warning="#e5b567",
        error="#f08a93",
        boost="#2b2c38",
        variables={
            "block-cursor-background": "#3b3568",
            "block-cursor-foreground": "#ffffff",
            "block-cursor-blurred-background": "#2a2b37",
            "block-cursor-blurred-foreground": "#dcdde6",
            "border-blurred": "#24252f",
            "scrollbar": "#363848",
            "scrollbar-background": "#1a1b23",
            "screen-selection-background": "#3b3568",
        },
    ),
    Theme(
        LIGHT,
        primary="#5a48c8",
        secondary="#17697c",
        accent="#5a48c8",
        foreground="#26262f",
        background="#fbfafd",
        surface="#f3f2f7",
        panel="#e6e4ee",
        success="#1c6e3f",
        warning="#855100",
        error="#ad2236",
        boost="#dcd9e8",
        dark=False,
        variables={
            "block-cursor-background": "#5a48c8",
            "block-cursor-foreground": "#ffffff",
            "block-cursor-blurred-background": "#dcd9e8",
            "block-cursor-blurred-foreground": "#26262f",
            "scrollbar": "#c4c0d6",
            "scrollbar-background": "#f3f2f7",
            "screen-selection-background": "#d6d0f5",
        },
    ),
    # Blue on black, and green or cyan on white, cannot be read in the palettes of most terminals.
    replace(
        BUILTIN_THEMES[ANSI_DARK],
        primary="ansi_bright_blue",
        secondary="ansi_bright_cyan",
        error="ansi_bright_red",
        variables={
            **BUILTIN_THEMES[ANSI_DARK].variables,
            "block-cursor-background": "ansi_blue",
            "block-cursor-foreground": "ansi_bright_white",
        },
    ),
    replace(
        BUILTIN_THEMES[ANSI_LIGHT],
        secondary="ansi_magenta",
        success="ansi_blue",
        variables={
            **BUILTIN_THEMES[ANSI_LIGHT].variables,
            "block-cursor-background": "ansi_black",
            "block-cursor-foreground": "ansi_bright_white",
        },
    ),
)
"""The themes that are not Textual's, and those that replace one of the same name; `get_theme` makes them legible."""

OFFERED = (DARK, LIGHT, *_KNOWN, ANSI_DARK, ANSI_LIGHT)
"""The names of the themes that are offered, in the order in which they are shown."""
NAMES = frozenset((*OFFERED, *BUILTIN_THEMES))
"""The names that settings may give: all of Textual's as well."""


@cache
def get_theme(name: str) -> Theme:
    """The theme of a name of `NAMES`, with legible texts."""
    own = {theme.name: theme for theme in OWN}
    theme = own.get(name) or BUILTIN_THEMES[name]
    if name in (ANSI_DARK, ANSI_LIGHT):
        return replace(theme, variables={**theme.variables, "foreground-muted": "ansi_default"})
    return _make_legible(theme)


def _make_legible(theme: Theme) -> Theme:
    """The theme with texts that are told from each of its grounds; their hue stays."""
    colors = theme.to_color_system().generate()
    grounds = [Color.parse(colors[name]) for name in _GROUNDS]
    texts = {name: _move_away(Color.parse(colors[name]), grounds, dark=theme.dark) for name in _TEXTS}
    foreground = _move_away(Color.parse(colors["foreground"]), grounds, dark=theme.dark)
    muted = _move_away(grounds[0].blend(foreground, _MUTED, alpha=1.0), grounds, dark=theme.dark)
    made = {"foreground-muted": muted, **texts}
    cursor = Color.parse(colors["block-cursor-background"])
    made["block-cursor-foreground"] = max(
        map(Color.parse, ("#ffffff", "#000000")), key=partial(measure_contrast, cursor)
    )
    variables = {**theme.variables, **{key: color.hex for key, color in made.items()}}
    return replace(theme, foreground=foreground.hex, variables=variables)


def _move_away(color: Color, grounds: list[Color], *, dark: bool) -> Color:
    """A colour that is lighter, or darker, until it is legible on each of the grounds."""
    end = Color.parse("#ffffff" if dark else "#000000")
    for step in range(_STEPS + 1):
        moved = color.blend(end, step / _STEPS, alpha=1.0)
        if all(measure_contrast(moved, ground) >= LEAST_CONTRAST for ground in grounds):
            return moved
    return end


def measure_contrast(front: Color, behind: Color) -> float:
    """The contrast of two opaque colours, from 1 to 21, as WCAG 2.2 defines it."""
    lighter, darker = sorted((_measure_luminance(front), _measure_luminance(behind)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _measure_luminance(color: Color) -> float:
    red, green, blue = (_to_linear(value / 255) for value in color.rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _to_linear(value: float) -> float:
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
