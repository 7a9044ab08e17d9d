"""A folder in which nothing is remembered yet: calm, and with a way on."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.core.visible import one_line
from memtui.places import short
from memtui.ui import wording
from memtui.ui.text import content, fit_middle

if TYPE_CHECKING:
    from memtui.places.finding import Place

_NAME_WIDTH = 32
_OWNER_WIDTH = 20
_KEYS = 9
"""Folders that a number opens."""


class EmptyFolder(Widget):
    """Stands in for the panes while there is nothing to show in them."""

    places: reactive["Sequence[Place]"] = reactive(())
    """Other folders that were found on this machine."""
    gone: reactive[int] = reactive(0)
    """How many memories were here once."""

    def render(self) -> RenderResult:
        """What is the case, what will happen, what can be done."""
        key = "bold $text-accent"
        lines = [
            Content.styled(f"Nothing is remembered here {'any more' if self.gone else 'yet'}.", "bold"),
            Content(""),
            Content("An agent writes to this folder through its memory tool."),
            Content("New files will appear here as they are written."),
            Content(""),
            *self._ways_back(key),
            Content.assemble(("  a      ", key), "add a memory yourself"),
            Content.assemble(("  :chat  ", key), "start a session with Claude"),
            Content.assemble(("  o      ", key), "open another folder"),
            Content.assemble(("  :      ", key), "all commands"),
            Content(""),
        ]
        if self.places:
            lines += [Content("Also found on this machine:"), *map(place_row, range(1, 10), self.places), Content("")]
        if not self.gone:
            lines.append(Content("Nothing has been created or changed on disk."))
        return Content("\n").join(lines)

    def _ways_back(self, key: str) -> list[Content]:
        if not self.gone:
            return []
        words = f"{wording.memories(self.gone)} {'was' if self.gone == 1 else 'were'} here: look, and bring them back"
        return [
            Content.assemble(("  D      ", key), words),
            Content.assemble(("  T      ", key), "the folder as it was at any time"),
        ]


def place_row(number: int, place: "Place") -> Content:
    """A folder on one line: the key that opens it, what it is about, whose it is, and when one of its files changed.

    A folder that an agent keeps for a project has a name that nobody knows it by: the project is named.

    Args:
        number: Which it is, from 1; from the tenth on there is no key.
        place: The folder.
    """
    from memtui.places.finding import Owner  # deferred, as below: few folders are empty
    from memtui.places.words import owner_of

    name = one_line(short(place.project)) if place.project is not None else place.shown
    gone = " (gone)" if place.project_exists is False else ""
    name = f"{fit_middle(name, _NAME_WIDTH - len(gone))}{gone}"
    files = f"{place.files:,}{'' if place.is_counted else '+'} {'file' if place.files == 1 else 'files'}"
    files = files if place.files or place.is_counted else "does not answer"
    when = f", {wording.age(time.time() - place.changed_ns / 1e9)} ago" if place.changed_ns else ""
    return Content.assemble(
        (f"  {number if number <= _KEYS else ' '}  ", "bold $text-accent"),
        content(name + " " * (_NAME_WIDTH - cell_len(name))),
        "  ",
        content(f"{fit_middle(owner_of(place), _OWNER_WIDTH)}: " if place.owner is not Owner.HERE else ""),
        (files if place.files or not place.is_counted else "empty") + when,
    )
