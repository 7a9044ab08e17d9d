"""The second wall: a filter over every line on its way to the terminal.

Textual hands control codes from text straight to the terminal: a note could write the clipboard (OSC 52) or
the window title. `memtui.ui.text` keeps them out of our own widgets; this gate catches what a dialog, a
library or a mistake lets through, so that no byte of a note can ever drive the terminal.

Append one `Gate()` to `App._filters`, last.
"""

import re

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

_UNSAFE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, fillers
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero-width, bidi, invisible operators
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"  # fillers, selectors, BOM, annotations
    "\ud800-\udfff"  # lone surrogates, which cannot be written at all
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
"""What never reaches the terminal. U+200C, U+200D, U+FE0E and U+FE0F pass: scripts and emoji need them."""


class Gate(LineFilter):
    """Removes control, bidi, invisible and tag characters and terminal hyperlinks from every segment."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same list when nothing was wrong, else a cleaned copy of the same width in cells.

        Args:
            segments: One line as drawn; segments with a control code are Textual's own and stay.
            background: Not used.
        """
        del background
        search = _UNSAFE.search
        for text, style, control in segments:
            if control is None and (search(text) or (style is not None and style.link)):
                return [_clean(segment) for segment in segments]
        return segments


def _clean(segment: Segment) -> Segment:
    if segment.control is not None:
        return segment
    text, style, _ = segment
    if style is not None and style.link:
        style = _without_link(style)
    if not _UNSAFE.search(text):
        return Segment(text, style)
    width = cell_len(text)
    cleaned = _UNSAFE.sub(lambda match: "?" * cell_len(match.group()), text)
    return Segment(cleaned + " " * (width - cell_len(cleaned)), style)


def _without_link(style: Style) -> Style:
    """The style without its terminal hyperlink; the meta that Textual needs for the mouse stays."""
    unlinked = style.update_link(None)
    return unlinked + Style.from_meta(style.meta) if style.meta and not unlinked.meta else unlinked
