"""Panes beside and above each other: which one has the room, and where the divider between them is."""

from typing import ClassVar

from textual import getters
from textual.binding import Binding, BindingType
from textual.events import Click, MouseDown, MouseMove, MouseUp, Resize
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from memtui.ui.files.view import FilesView

_SMALLEST = (60, 15)
_SIZES = ("", "half", "full")


class PanedScreen(Screen[None]):
    """A screen of panes, of which the one with the focus can be given more room."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "z", "zoom", "zoom", id="browse.zoom", tooltip="Give the pane the whole screen, or take it back", show=False
        ),
        Binding("plus", "resize_pane(1)", "larger", id="browse.larger", tooltip="Make the pane larger", show=False),
        Binding(
            "underscore", "resize_pane(-1)", "smaller", id="browse.smaller", tooltip="Make the pane smaller",
            show=False,
        ),
        Binding(
            "less_than_sign", "divide(-2)", "divider left", id="browse.divider_left",
            tooltip="Move the divider to the left", show=False,
        ),
        Binding(
            "greater_than_sign", "divide(2)", "divider right", id="browse.divider_right",
            tooltip="Move the divider to the right", show=False,
        ),
        Binding(
            "equals_sign", "divide(0)", "divider reset", id="browse.divider_reset",
            tooltip="Put panes and divider back", show=False,
        ),
        Binding("tab", "app.focus_next", "next pane", id="browse.next_pane", tooltip="To the next pane", show=False),
        Binding(
            "shift+tab", "app.focus_previous", "previous pane", id="browse.previous_pane",
            tooltip="To the pane before", show=False,
        ),
    ]  # fmt: skip

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (20, "-low"), (30, "-high"), (45, "-tall")]  # noqa: RUF012

    PANES: ClassVar[tuple[str, ...]] = ("files", "note", "activity")
    """The panes that can be given more room, by id."""

    files = getters.query_one("#files", FilesView)

    def __init__(self) -> None:
        super().__init__()
        self._dragging = False
        self._pane_size = ""
        self._size_class = ""
        self._had_focus: Widget | None = None
        self.dividers: dict[str, int] = {}
        """Where a person put the divider, by what it divides and the size class of the screen."""

    def on_resize(self, event: Resize) -> None:
        """Say it where the terminal is too small, and recover."""
        too_small = event.size.width < _SMALLEST[0] or event.size.height < _SMALLEST[1]
        self.set_class(too_small, "-too-small")
        if too_small:
            words = f"memtui needs {_SMALLEST[0]}x{_SMALLEST[1]} (now {event.size.width}x{event.size.height}). q quit"
            self.query_one("#too-small", Static).update(words)
        self._take_size(event.size.width)
        self._had_focus = self.focused or self._had_focus  # what is not shown loses it
        self.call_after_refresh(self._focus_again)

    def _take_size(self, width: int) -> None:
        """In another size class the divider is where it was put there."""
        before = self._size_class
        self._size_class = next(name for least, name in reversed(self.HORIZONTAL_BREAKPOINTS) if width >= least)
        if before != self._size_class:
            self.put_divider_back()

    @property
    def _divided(self) -> str:
        return f"{self.first_pane.id} {self._size_class.removeprefix('-')}"

    def put_divider_back(self) -> None:
        """Put the divider where it was last, unless one pane has all the room."""
        if self._size_class and not self._pane_size:
            self._divide_at(self.dividers.get(self._divided))

    def _focus_again(self) -> None:
        if self.focused is not None or self.has_class("-too-small"):
            return
        if self._had_focus is not None and self._had_focus.is_attached and self._had_focus.focusable:
            self._had_focus.focus()
        else:
            self.focus_first()

    def focus_first(self) -> None:
        """To where one is at first."""
        self.files.focus()

    def action_zoom(self) -> None:
        """The focused pane alone, or all of them."""
        self._set_pane_size("" if self._pane_size == "full" else "full")

    def action_resize_pane(self, step: int) -> None:
        """The next larger or smaller size of the focused pane."""
        index = min(max(_SIZES.index(self._pane_size) + step, 0), len(_SIZES) - 1)
        self._set_pane_size(_SIZES[index])

    def _set_pane_size(self, size: str) -> None:
        focused = self.focused.id if self.focused else None
        for pane in self.PANES:
            for name in _SIZES[1:]:
                self.set_class(pane == focused and name == size, f"-{name}-{pane}")
        self._pane_size = size if focused else ""
        if size:
            self._divide_at(None)
        else:
            self.put_divider_back()

    def action_divide(self, columns: int) -> None:
        """Move the divider between the first pane and the others; 0 puts everything back."""
        if columns == 0:
            self.dividers.pop(self._divided, None)
            self._set_pane_size("")
            self._divide_at(None)
        else:
            self._move_divider(self.first_pane.outer_size.width + columns)

    def _move_divider(self, column: int) -> None:
        self.dividers[self._divided] = max(column, 1)
        self._divide_at(column)

    @property
    def first_pane(self) -> Widget:
        """The pane at the left of the divider."""
        return self.files

    def _divide_at(self, column: int | None) -> None:
        """Put the divider behind a column, as near as there is room; `None` puts it back."""
        self.files.styles.width = None if column is None else min(max(column, 16), max(self.size.width - 30, 16))

    # The divider under the mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take hold of the divider."""
        pane = self.first_pane.region
        if abs(event.screen_x - pane.right) <= 1 and pane.y <= event.screen_y < pane.bottom:
            self._dragging = True
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Drag it."""
        if self._dragging:
            self._move_divider(event.screen_x + 1)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Let go of it."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            event.stop()

    def on_click(self, event: Click) -> None:
        """A double click on the divider puts it back."""
        if event.chain == 2 and abs(event.screen_x - self.first_pane.region.right) <= 1:
            self.action_divide(0)
