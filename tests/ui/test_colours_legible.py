"""In the sixteen colors of a terminal nothing disappears, whatever its palette: no text in the color behind it."""

import pytest
from rich.color import Color
from rich.segment import Segment

from memtui.config import Config, LoadedConfig
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
    front, behind = (color or Color.default() for color in (style.color, style.bgcolor))
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
