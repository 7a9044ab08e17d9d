"""The panes and their divider: `PaneController` is held by both main screens, browser and chat, and by time travel."""

from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.events import Click, MouseDown, MouseMove, MouseUp, Resize
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from memtui.ui.controller import Controller, ScreenT
from memtui.ui.key_names import label_key

_SMALLEST = (60, 15)
_SIZES = ("", "half", "full")

HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]
VERTICAL_BREAKPOINTS = [(0, "-flat"), (20, "-low"), (30, "-high"), (45, "-tall")]

FOCUS_BINDINGS = (
    Binding("tab", "app.focus_next", "next pane", id="browse.next_pane", tooltip="To the next pane", show=False),
    Binding("shift+tab", "app.focus_previous", "previous pane", id="browse.previous_pane",
            tooltip="To the previous pane", show=False),
)  # fmt: skip


def show_too_small(screen: Screen[Any], leave: str) -> bool:
    """Cover a screen that is too small with a message that names the key `leave`; returns whether it is."""
    width, height = screen.size
    too_small = width < _SMALLEST[0] or height < _SMALLEST[1]
    screen.set_class(too_small, "-too-small")
    if too_small:
        words = f"memtui needs {_SMALLEST[0]}x{_SMALLEST[1]} (now {width}x{height}). {leave}"
        screen.query_one("#too-small", Static).update(words)
    return too_small


class PaneController(Controller[ScreenT]):
    """Gives the pane with the focus more room, and moves the divider."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("z", "zoom", "zoom", id="browse.zoom", tooltip="Zoom the pane on/off",
                show=False),
        Binding("plus", "resize_pane(1)", "larger", id="browse.larger", tooltip="Make the pane larger", show=False),
        Binding("underscore", "resize_pane(-1)", "smaller", id="browse.smaller", tooltip="Make the pane smaller",
                show=False),
        Binding("less_than_sign", "divide(-2)", "divider left", id="browse.divider_left",
                tooltip="Move the divider to the left", show=False),
        Binding("greater_than_sign", "divide(2)", "divider right", id="browse.divider_right",
                tooltip="Move the divider to the right", show=False),
        Binding("equals_sign", "divide(0)", "divider reset", id="browse.divider_reset",
                tooltip="Reset panes and divider", show=False),
        *FOCUS_BINDINGS,
    ]  # fmt: skip

    PANE_IDS: ClassVar[tuple[str, ...]] = ("files", "note", "activity")
    """The panes that can be given more room, by id."""

    FIRST_PANE: ClassVar[str] = "#files"
    """The pane at the left of the divider."""

    def __init__(self, screen: ScreenT) -> None:
        super().__init__(screen)
        self._dragging = False
        self.size = ""
        """`half` or `full` where the focused pane has more room."""
        self._size_class = ""
        self._had_focus: Widget | None = None
        self.dividers: dict[str, int] = {}
        """Columns of moved dividers, by the first pane and the size class of the screen."""

    @on(Resize)
    def _fit(self, event: Resize) -> None:
        """Show a notice where the terminal is too small, and recover from it."""
        show_too_small(self.screen, f"{label_key('app.back')} quit")
        self._apply_size_class(event.size.width)
        self._had_focus = self.screen.focused or self._had_focus  # what is not shown loses it
        self.screen.call_after_refresh(self._restore_focus)

    def _apply_size_class(self, width: int) -> None:
        """Each size class has a divider of its own."""
        before = self._size_class
        self._size_class = next(name for least, name in reversed(HORIZONTAL_BREAKPOINTS) if width >= least)
        if before != self._size_class:
            self.restore_divider()

    @property
    def _divider_key(self) -> str:
        return f"{self.first_pane.id} {self._size_class.removeprefix('-')}"

    def restore_divider(self) -> None:
        """Put the divider where it was last, unless one pane has all the room."""
        if self._size_class and not self.size:
            self._divide_at(self.dividers.get(self._divider_key))

    def _restore_focus(self) -> None:
        if self.screen.focused is not None or self.screen.has_class("-too-small"):
            return
        if not self.screen.query(self.FIRST_PANE):
            return  # another folder took its place
        if self._had_focus is not None and self._had_focus.is_attached and self._had_focus.focusable:
            self._had_focus.focus()
        else:
            self.focus_first()

    def focus_first(self) -> None:
        """Focus the pane at the left."""
        self.first_pane.focus()

    def action_zoom(self) -> None:
        self.set_size("" if self.size == "full" else "full")

    def action_resize_pane(self, step: int) -> None:
        index = min(max(_SIZES.index(self.size) + step, 0), len(_SIZES) - 1)
        self.set_size(_SIZES[index])

    def set_size(self, size: str) -> None:
        """Give the focused pane `half` or `full` of the room; empty puts all panes back."""
        focused = self.screen.focused.id if self.screen.focused else None
        for pane in self.PANE_IDS:
            for name in _SIZES[1:]:
                self.screen.set_class(pane == focused and name == size, f"-{name}-{pane}")
        self.size = size if focused else ""
        if size:
            self._divide_at(None)
        else:
            self.restore_divider()

    def action_divide(self, columns: int) -> None:
        """Move the divider between the first pane and the others; 0 puts everything back."""
        if columns == 0:
            self.dividers.pop(self._divider_key, None)
            self.set_size("")
            self._divide_at(None)
        else:
            self._move_divider(self.first_pane.outer_size.width + columns)

    def _move_divider(self, column: int) -> None:
        self.dividers[self._divider_key] = max(column, 1)
        self._divide_at(column)

    @property
    def first_pane(self) -> Widget:
        """The pane at the left of the divider."""
        return self.screen.query_one(self.FIRST_PANE)

    def _divide_at(self, column: int | None) -> None:
        """Put the divider behind a column, as near as there is room; `None` puts it back."""
        most = max(self.screen.size.width - 30, 16)
        self.first_pane.styles.width = None if column is None else min(max(column, 16), most)

    # The divider under the mouse

    def wants_mouse(self, event: MouseDown) -> bool:
        """Whether the mouse has taken hold of the divider."""
        pane = self.first_pane.region
        return bool(abs(event.screen_x - pane.right) <= 1 and pane.y <= event.screen_y < pane.bottom)

    @on(MouseDown)
    def _take_divider(self, event: MouseDown) -> None:
        if self.app.mouse_captured is self.screen and self.wants_mouse(event):
            self._dragging = True
            event.stop()

    @on(MouseMove)
    def _drag_divider(self, event: MouseMove) -> None:
        if self._dragging:
            self._move_divider(event.screen_x + 1)

    @on(MouseUp)
    def _release_divider(self, event: MouseUp) -> None:
        if self._dragging:
            self._dragging = False
            self.screen.release_mouse()
            event.stop()

    @on(Click)
    def _reset_divider(self, event: Click) -> None:
        """A double click on the divider puts it back."""
        if event.chain == 2 and abs(event.screen_x - self.first_pane.region.right) <= 1:
            self.action_divide(0)
