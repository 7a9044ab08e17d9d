"""Deleted memories as rows, of which only those on screen are drawn: a wipe may have taken a hundred thousand."""

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from memtui.core.actors import shown_name
from memtui.core.history import Deleted
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.rows import RowsView
from memtui.ui.text import fit, fit_middle

_ACTOR, _SIZE, _AGE = 8, 5, 4
"""Cells of the columns behind the name."""


class DeletedView(RowsView):
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
        "deleted--cursor",
    }

    DEFAULT_CSS = """
    DeletedView {
        & > .deleted--detail { color: $foreground 85%; }
        & > .deleted--marked { color: $text-success; text-style: bold; }
        & > .deleted--lost { color: $text-error; text-style: strike; }
        & > .deleted--outside { color: $text-warning; }
        & > .deleted--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .deleted--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    class Highlighted(Message):
        """The cursor is on another row, or on none."""

        def __init__(self, deleted: Deleted | None) -> None:
            super().__init__()
            self.deleted = deleted

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, DeletedView.Highlighted)

    class Marked(Message):
        """Others are marked now."""

    class Chosen(Message):
        """The person asks for the row under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._listed: Sequence[Deleted] = ()
        self._chosen: dict[str, Deleted] = {}

    @property
    def row_count(self) -> int:
        """How many are listed."""
        return len(self._listed)

    @property
    def here(self) -> Deleted | None:
        """The row under the cursor."""
        return self._listed[self._row] if self._listed else None

    @property
    def marked(self) -> Sequence[Deleted]:
        """What is marked, listed or not."""
        return list(self._chosen.values())

    def show(self, listed: Sequence[Deleted]) -> None:
        """List others, with the cursor on the same path if it is among them."""
        here = self.here
        self._listed = listed
        paths = [each.path for each in listed] if here is not None else []
        self._row = paths.index(here.path) if here and here.path in paths else min(self._row, max(len(listed) - 1, 0))
        self._fit_height()
        self._bring_into_view()
        self.post_message(self.Highlighted(self.here))
        self.refresh()

    def unmark(self, paths: Iterable[str]) -> None:
        """These are no longer marked."""
        for path in paths:
            self._chosen.pop(path, None)
        self.post_message(self.Marked())
        self.refresh()

    def _go(self, row: int) -> None:
        if not self._listed:
            return
        row = max(0, min(row, len(self._listed) - 1))
        if row != self._row:
            self._row = row
            self.post_message(self.Highlighted(self.here))
        self._bring_into_view()
        self.refresh()

    def action_mark(self) -> None:
        """Mark the row, or no longer, and go to the next."""
        here = self.here
        if here is None:
            return
        if self._chosen.pop(here.path, None) is None:
            self._chosen[here.path] = here
        self.post_message(self.Marked())
        self._go(self._row + 1)

    def action_mark_all(self) -> None:
        """Mark all that are listed; if they are, none."""
        if all(each.path in self._chosen for each in self._listed):
            self._chosen.clear()
        else:
            self._chosen.update((each.path, each) for each in self._listed)
        self.post_message(self.Marked())
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Select; twice, bring back."""
        offset = event.get_content_offset(self)
        if offset is not None and self.scroll_offset.y + offset.y < len(self._listed):
            event.stop()
            self._go(self.scroll_offset.y + offset.y)
            if event.chain == 2:
                self.post_message(self.Chosen())

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        plain = self._style("")
        if index >= len(self._listed):
            return Strip.blank(width, plain)
        each = self._listed[index]
        cursor, marked = index == self._row, each.path in self._chosen
        age = wording.age(time.time() - (each.told_us or each.event.at_us) / 1e6)
        size = wording.size(each.version.size).replace(" ", "")
        actor = fit(one_line(shown_name(each.event.actor)), _ACTOR)
        details = f"  {actor}{' ' * (_ACTOR - cell_len(actor))} {size:>{_SIZE}} {age:>{_AGE}} "
        room = max(width - 3 - cell_len(details), 4)
        path = fit_middle(one_line(each.path), room)
        gap = " " * (room - cell_len(path))
        letter = "*" if marked else "-" if each.kept else "!"
        name_style = self._style("" if each.kept else "lost")
        letter_style = self._style("marked" if marked else "detail" if each.kept else "lost")
        detail_style = self._style("outside" if each.event.is_outside else "detail")
        segments = [
            Segment(">" if cursor else " ", plain),
            Segment(letter + " ", letter_style),
            Segment(path, name_style),
            Segment(gap, plain),
            Segment(details, detail_style),
        ]
        if cursor:
            segments = [Segment(text, self._style("cursor")) for text, _, _ in segments]
        return Strip(segments).adjust_cell_length(width, self._style("cursor") if cursor else plain)
