"""Deleted memories as rows, of which only those on screen are drawn: a wipe may have taken a hundred thousand."""

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message

from memtui.core.actors import shown_name
from memtui.core.history import Deleted
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.item_rows import ItemRows
from memtui.ui.text import fit, fit_middle

_ACTOR, _SIZE, _AGE = 8, 5, 4
"""Cells of the columns behind the name."""


class DeletedView(ItemRows[Deleted]):
    """Deleted memories as rows: mark, path, who removed it, its size, how long ago.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "mark", id="deleted.mark", tooltip="Mark it, to bring several back at once"),
        Binding(
            "asterisk",
            "mark_all",
            "mark all",
            id="deleted.mark_all",
            tooltip="Mark all that are listed, or none",
            show=False,
        ),
    ]

    STYLES = "deleted--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "deleted--detail",
        "deleted--marked",
        "deleted--lost",
        "deleted--outside",
    }

    DEFAULT_CSS = """
    DeletedView {
        & > .deleted--detail { color: $foreground 85%; }
        & > .deleted--marked { color: $text-success; text-style: bold; }
        & > .deleted--lost { color: $text-error; text-style: strike; }
        & > .deleted--outside { color: $text-warning; }
    }
    """

    class Marked(Message):
        """Others are marked now."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._marked: dict[str, Deleted] = {}

    @property
    def marked(self) -> Sequence[Deleted]:
        """What is marked, listed or not."""
        return list(self._marked.values())

    def unmark(self, paths: Iterable[str]) -> None:
        """These are no longer marked."""
        for path in paths:
            self._marked.pop(path, None)
        self.post_message(self.Marked())
        self.refresh()

    def action_mark(self) -> None:
        """Mark the row, or no longer, and go to the next."""
        here = self.here
        if here is None:
            return
        if self._marked.pop(here.path, None) is None:
            self._marked[here.path] = here
        self.post_message(self.Marked())
        self._go(self._row + 1)

    def action_mark_all(self) -> None:
        """Mark all that are listed; if they are, none."""
        listed = self.items
        if all(each.path in self._marked for each in listed):
            self._marked.clear()
        else:
            self._marked.update((each.path, each) for each in listed)
        self.post_message(self.Marked())
        self.refresh()

    def _key(self, item: Deleted) -> object:
        return item.path

    # Paint

    def _drawn(self, item: Deleted, width: int) -> list[Segment]:
        age = wording.age(time.time() - (item.told_us or item.event.at_us) / 1e6)
        size = wording.size(item.version.size).replace(" ", "")
        actor = fit(one_line(shown_name(item.event.actor)), _ACTOR)
        details = f"  {actor}{' ' * (_ACTOR - cell_len(actor))} {size:>{_SIZE}} {age:>{_AGE}} "
        room = max(width - 2 - cell_len(details), 4)
        path = fit_middle(one_line(item.path), room)
        marked = item.path in self._marked
        letter = "*" if marked else "-" if item.kept else "!"
        return [
            Segment(letter + " ", self._style("marked" if marked else "detail" if item.kept else "lost")),
            Segment(path, self._style("" if item.kept else "lost")),
            Segment(" " * (room - cell_len(path)), self._style("")),
            Segment(details, self._style("outside" if item.event.is_outside else "detail")),
        ]
