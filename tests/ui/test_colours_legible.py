"""In the sixteen colors of a terminal nothing disappears, whatever its palette: no text in the color behind it."""

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from textual.color import Color

from memtui.config import Config, LoadedConfig
from memtui.ui import palettes
from memtui.ui.app import MemtuiApp
from memtui.ui.widgets.diff.view import DiffView
from tests.ui.conftest import Opened, Opening

SCREENS = {
    "the folder": ("v", "escape"),
    "the help": ("question_mark", *"undo"),
    "the commands": ("colon", *"undo"),
    "a menu": ("comma",),
    "the past": ("T",),
    "versions": ("v",),
    "what was deleted": ("D",),
    "a text found in the note": ("ctrl+f", "o"),
    "the audit": ("A",),
    "the review": ("A", "3", "down"),
}

WORDS = {
    "the folder": "last change", "the help": "browse.redo", "the commands": "Redo what", "a menu": "by name, reversed",
    "the past": "AS OF", "versions": "Versions", "what was deleted": "zeta.txt", "a text found in the note": "Alpha",
    "the audit": "snapshot", "the review": "By ",
}  # fmt: skip
"""What is there once all is drawn."""


ROLES = ("primary", "secondary", "accent", "success", "warning", "error")


def illegible(app: MemtuiApp) -> list[tuple[str, str]]:
    """The pieces of text that some palette makes disappear."""
    return [
        (segment.text.strip(), str(segment.style))
        for strip in app.screen._compositor.render_strips()
        for segment in strip
        if segment.text.strip() and _disappears(segment)
    ]


def _disappears(segment: Segment) -> bool:
    style = segment.style
    if style is None:
        return False
    front, behind = (color or RichColor.default() for color in (style.color, style.bgcolor))
    if front.is_default and behind.is_default:
        return False
    known = {front.name, behind.name} <= {"black", "white", "bright_white", "bright_black"}
    if front.is_default or behind.is_default:
        return not behind.is_default and not style.reverse  # the default may be what is behind it
    return front == behind or (known and {front.name, behind.name} <= {"white", "bright_white"})


@pytest.mark.sweep(keep=5)
@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
@pytest.mark.parametrize("screen", SCREENS)
async def test_nothing_disappears(opened: Opening, theme: str, screen: str) -> None:
    async with opened(size=(100, 30), loaded=LoadedConfig(Config(theme=theme))) as app:
        await make_something_happen(app)
        for key in SCREENS[screen]:
            await app.press(key)
            await app.pilot.pause()
        await app.wait_for(lambda: WORDS[screen] in app.text, WORDS[screen])
        assert app.app.native_ansi_color
        assert illegible(app.app) == []


async def make_something_happen(app: Opened) -> None:
    app.put("alpha.md", "# Alpha\n\nThe *first* note, changed.\n\n```python\nx = 1\n```\n")
    (app.folder / "zeta.txt").unlink()
    await app.wait_for(lambda: len(app.actors) >= 3, "what happened")
    await app.to("alpha.md")
    assert app.browse.query("#change")
    assert not app.browse.query(DiffView)


@pytest.mark.parametrize("name", sorted(palettes.NAMES - {palettes.ANSI_DARK, palettes.ANSI_LIGHT}))
def test_texts_can_be_read_on_each_ground_of_a_theme(name: str) -> None:
    """4.5 to 1 is what WCAG 2.2 asks of text (criterion 1.4.3)."""
    theme = palettes.get_theme(name)
    colors = {**theme.to_color_system().generate(), **theme.variables}
    texts = ("foreground", "foreground-muted", *(f"text-{each}" for each in ROLES))
    found = {
        (text, ground): palettes.measure_contrast(Color.parse(colors[text]), Color.parse(colors[ground]))
        for text in texts
        for ground in ("background", "surface", "panel")
    }
    cursor = Color.parse(colors["block-cursor-foreground"]), Color.parse(colors["block-cursor-background"])
    found["the cursor", ""] = palettes.measure_contrast(*cursor)
    assert {pair: contrast for pair, contrast in found.items() if contrast < 4.5} == {}


def test_contrast_is_as_wcag_gives_it() -> None:
    """Known pairs: black on white, white on white, and the lightest gray that is legible on white."""
    white = Color.parse("#ffffff")
    assert palettes.measure_contrast(white, Color.parse("#000000")) == 21
    assert palettes.measure_contrast(white, white) == 1
    assert (
        palettes.measure_contrast(Color.parse("#767676"), white)
        > 4.5
        > palettes.measure_contrast(Color.parse("#777777"), white)
    )
