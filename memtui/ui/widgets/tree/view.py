"""The folder on screen: only the rows in view are drawn, and a flood of changes is one frame.

The widget reads no disk: it is given entries and changes, and asks for the sizes and times of the rows that it paints.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from memtui.core.events import EntryKind, FolderEntry
from memtui.ui.widgets.age_timer import AgeTimer
from memtui.ui.widgets.row_list import RowsView
from memtui.ui.widgets.tree.outline import (
    Outline,
    SortOrder,
    TreeRow,
    apply_moves,
    find_neighbours,
    get_parent,
    is_in_any,
    list_ancestors,
    list_rows_above,
)
from memtui.ui.widgets.tree.row import (
    ROLES,
    SECOND,
    draw_row,
    format_row_age,
    measure_indent,
    measure_step,
)
from memtui.ui.widgets.tree.row_state import RowChange, RowChanges, RowState, TreeSelection

if TYPE_CHECKING:  # start-up: known behind the first paint
    from memtui.places.dialects import Dialect

FRESH = 1.5
"""Seconds for which a row that changed is lit."""
_RIGHT = 3
"""The right button of the mouse."""


class TreeView(RowsView):
    """A folder as an outline.

    Args:
        outline: What to show at first.
        now: The clock, in nanoseconds since the epoch.
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left,h", "close", "Collapse", id="files.close", tooltip="Collapse the directory, or go to its parent",
            show=False,
        ),
        Binding(
            "right,l", "into", "Expand", id="files.into", tooltip="Expand the directory, or open the file", show=False
        ),
        Binding(
            "enter", "open", "open", id="files.open", tooltip="Open the file, or expand or collapse the directory",
            show=False,
        ),
    ]  # fmt: skip

    STYLES = "files--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"files--{change.name.lower()}" for change in RowChange),
        *(f"files--{role}" for role in ("directory", "hidden", "detail", "guide", "fresh", "fading", "selected")),
    }

    DEFAULT_CSS = """
    TreeView {
        & > .files--directory { color: $text-primary; text-style: bold; }
        & > .files--hidden, & > .files--detail { color: $foreground-muted; }
        & > .files--guide { color: $foreground 25%; }
        &:ansi > .files--guide { color: ansi_bright_black; }
        & > .files--new { color: $text-success; }
        & > .files--changed, & > .files--renamed { color: $text-warning; }
        & > .files--deleted { color: $text-error; text-style: strike; }
        & > .files--fading { color: $text-error 50%; text-style: strike; }
        &:ansi > .files--fading { color: ansi_bright_black; }
        & > .files--problem { color: $text-error; text-style: bold; }
        & > .files--fresh { background: $accent 18%; }
        &:ansi > .files--fresh { background: ansi_default; text-style: underline; }
        & > .files--selected { color: $text-accent; text-style: bold; }
    }
    """

    class TreeMessage(Message):
        """A message of this widget."""

        def __init__(self, view: "TreeView") -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> "TreeView":
            """The widget, where Textual's selectors look for it."""
            return self.view

    class EntryMessage(TreeMessage):
        """A message about one entry."""

        def __init__(self, view: "TreeView", path: str, kind: EntryKind) -> None:
            super().__init__(view)
            self.path = path
            self.kind = kind

    class Highlighted(EntryMessage):
        """The cursor is on another entry; `was_put` is false if it had to move because its entry disappeared."""

        def __init__(self, view: "TreeView", path: str, kind: EntryKind, *, was_put: bool) -> None:
            super().__init__(view, path, kind)
            self.was_put = was_put

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, TreeView.Highlighted) and message.view is self.view

    class Opened(EntryMessage):
        """The person asks for an entry that is not a directory."""

    class MenuRequested(EntryMessage):
        """The person clicks on an entry with the right button of the mouse."""

    class SelectionChanged(TreeMessage):
        """Other entries are selected."""

    class DetailsRequested(TreeMessage):
        """Rows on screen whose size or time is unknown; to be answered with `TreeView.touch`."""

        def __init__(self, view: "TreeView", paths: tuple[str, ...]) -> None:
            super().__init__(view)
            self.paths = paths

    class CursorMoved(TreeMessage):
        """The cursor's row, from 1 (0 without rows), or the number of rows changed."""

        def __init__(self, view: "TreeView", row: int, total: int) -> None:
            super().__init__(view)
            self.row = row
            self.total = total

        def can_replace(self, message: Message) -> bool:
            """Only the last position matters."""
            return isinstance(message, TreeView.CursorMoved) and message.view is self.view

    protected: reactive[frozenset[str]] = reactive(frozenset, init=False)
    """The entries that no agent may change, and the directories in which it may change nothing."""

    dialect: "reactive[Dialect | None]" = reactive(None, init=False)
    """What the files of the folder are to its agent; `None` until that is known."""

    def __init__(
        self,
        outline: Outline | None = None,
        *,
        now: Callable[[], int] = time.time_ns,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.outline = outline or Outline()
        """The rows; to be changed through the widget's own methods, which repaint."""
        self.cursor_path: str | None = None
        """The entry under the cursor; `None` without rows."""
        self._now = now
        self._last_position: tuple[int, int] | None = None
        self.changes = RowChanges()
        self.lights = RowLights(self, now)
        self.selection = TreeSelection(self._notify_selection)
        self._requests = DetailRequests(self)
        self._painted: dict[int, RowLook] = {}  # by line on screen
        self._will_repaint = False
        self._age_timer = AgeTimer(self, self._let_ages_pass)

    def on_mount(self) -> None:
        """Show the outline."""
        self._refresh_rows()

    def on_resize(self) -> None:
        """Keep the cursor in view. What is on screen was painted already for this size, before this is called."""
        height = self.scrollable_content_region.height
        self._painted = {y: look for y, look in self._painted.items() if y < height}
        super().on_resize()

    @property
    def row_count(self) -> int:
        return len(self.outline)

    def show(self, outline: Outline) -> None:
        """Show another outline, with the cursor on the same path if it is there; changes and pins stay."""
        if self.outline.pins and not outline.pins:
            outline.set_pins(self.outline.pins)
        self.selection.discard([path for path in self.selection if path not in outline])
        self.outline = outline
        self._requests.clear()
        self._refresh_rows()

    def add(self, entries: Iterable[FolderEntry]) -> None:
        """Add entries, or replace those of the same path."""
        entries = list(entries)
        self._requests.forget(entry.path for entry in entries)
        self.outline.update(entries)
        self._refresh_rows()

    def drop(self, paths: Iterable[str]) -> None:
        """Remove entries and all below them, with their changes."""
        paths = list(paths)
        candidates = find_neighbours(self.outline, self.cursor_path, paths)
        for path in sorted(paths, reverse=True):  # the content of a directory before the directory
            self.changes.forget(path)
        self._requests.forget(paths)
        self.selection.discard(paths)
        self.outline.update((), paths)
        self._refresh_rows(candidates)

    def move_all(self, moves: Mapping[str, str]) -> None:
        """Give entries other paths, at once; cursor, changes, pins and expanded directories go with them."""
        done = self.outline.move_all(moves)
        if not done:
            return
        if self.cursor_path is not None and (path := apply_moves(self.cursor_path, done)) != self.cursor_path:
            self.cursor_path = path
            self._notify_highlighted()
        self.changes.move_all(done)
        self.selection.move(done)
        self._refresh_rows()

    def touch(self, entries: Iterable[FolderEntry]) -> None:
        """Set the sizes and times that `DetailsRequested` asks for; entries that are gone by now stay gone."""
        self.add([entry for entry in entries if entry.path in self.outline])

    def set_change(self, path: str, change: RowChange, when_ns: int) -> None:
        """Show an entry as changed, and light its row for a moment if the change was just now.

        Args:
            path: The entry; it need not be visible, nor there yet.
            change: The kind of change.
            when_ns: Nanoseconds since the epoch.
        """
        self.changes.set(path, change)
        self.lights.set_fresh(path, when_ns)
        self.repaint()

    def clear_change(self, path: str) -> None:
        """Remove the change of an entry: the person has seen it."""
        if self.changes.clear(path):
            self.lights.clear_fresh(path)
            self.repaint()

    def _notify_selection(self) -> None:
        self.post_message(self.SelectionChanged(self))
        self.repaint()

    def set_pins(self, paths: Iterable[str]) -> None:
        """Have these entries on top, in that order, and no others."""
        self.outline.set_pins(paths)
        self._refresh_rows()

    def _find_role(self, row: TreeRow) -> str:
        """The letter for what a file is to the agent whose folder it is."""
        if self.dialect is None or not self.dialect.name or row.entry.kind is not EntryKind.FILE:
            return ""
        rule = self.dialect.get_rule(row.path)
        return ROLES[rule.kept or "loads"] if rule.kept or rule.loads else ""

    def get_keeper(self, path: str) -> str:
        """Who keeps a file, in a word such as `generated`; empty for the agent with its person."""
        return self.dialect.get_rule(path).kept or "" if self.dialect is not None else ""

    def is_protected(self, path: str) -> bool:
        """Whether no agent may change an entry."""
        return bool(self.protected) and is_in_any(path, self.protected)

    def is_deleted(self, path: str) -> bool:
        """Whether an entry is not there, or is shown struck through."""
        return path not in self.outline or self.changes.get(path) is RowChange.DELETED

    def set_sort(self, sort: SortOrder, reverse: bool = False) -> None:
        """Order the names of each directory in another way; the cursor stays on its entry."""
        self.outline.set_sort(sort, reverse)
        self._refresh_rows()

    def set_hidden(self, hidden: bool) -> None:
        """Show names with a leading dot, or leave them out."""
        candidates = None if hidden or self.cursor_path is None else list_rows_above(self.outline, self.cursor_path)
        self.outline.set_hidden(hidden)
        self._refresh_rows(candidates)

    def move_to(self, path: str) -> bool:
        """Put the cursor on an entry, expanding the directories around it; false if it is not there."""
        self.outline.reveal(path)
        row = self.outline.find_index(path)
        if row is None:
            return False
        self._refresh_rows()
        self._go_to_row(row)
        return True

    def find_name_region(self, path: str) -> Region | None:
        """The cells of an entry's name on screen; `None` if its row is not in view."""
        index = self.outline.find_index(path)
        content = self.scrollable_content_region
        if index is None or not 0 <= index - self.scroll_offset.y < content.height:
            return None
        row = self.outline.get_row(index)
        start = measure_indent(row, content.width)
        if row.entry.kind is EntryKind.DIRECTORY:
            start += measure_step(content.width)
        place = self.content_region
        return Region(place.x + start, place.y + index - self.scroll_offset.y, content.width - start, 1)

    # The cursor

    def _select_row(self, row: int) -> None:
        self._row = row
        path = self.outline.get_path_at(row)
        if path != self.cursor_path:
            self.cursor_path = path
            self._notify_highlighted(was_put=True)
        self._notify_cursor()

    def _refresh_rows(self, candidates: Iterable[str] | None = None) -> None:
        """Show changed rows with the cursor on its entry, and that entry where it was on screen.

        Args:
            candidates: Where the cursor may go if its entry is no longer visible, best first.
        """
        if not self.is_attached:
            return
        before, top = self._row, self.scroll_offset.y
        was_visible = top <= before < top + self.scrollable_content_region.height
        self._set_height()
        cursor = self.cursor_path
        paths = [] if cursor is None else [cursor, *(candidates or list_ancestors(cursor))]
        found = next(((path, row) for path in paths if (row := self.outline.find_index(path)) is not None), None)
        if found is None and self.row_count:
            row = min(before, self.row_count - 1)
            found = self.outline.get_path_at(row), row
        path, self._row = found or (None, 0)
        if path != cursor:
            self.cursor_path = path
            self._notify_highlighted()
        if was_visible and top and self._row != before:
            self.scroll_to(y=top + self._row - before, animate=False)
        if was_visible:
            self._bring_into_view()
        self._notify_cursor()
        self.repaint()

    def _notify_highlighted(self, *, was_put: bool = False) -> None:
        entry = None if self.cursor_path is None else self.outline.get(self.cursor_path)
        if entry is not None:
            self.post_message(self.Highlighted(self, entry.path, entry.kind, was_put=was_put))

    def _notify_cursor(self) -> None:
        if self._last_position != self.position:
            self._last_position = self.position
            self.post_message(self.CursorMoved(self, *self.position))

    # Keys

    def action_close(self) -> None:
        """Collapse the directory, or go to the one around the entry."""
        if self.cursor_path is None:
            return
        if self.outline.is_expanded(self.cursor_path):
            self.outline.toggle(self.cursor_path)
            self._refresh_rows()
        elif (row := self.outline.find_index(get_parent(self.cursor_path))) is not None:
            self._go_to_row(row)

    def action_into(self) -> None:
        """Expand the directory, or go to its first entry; open a file."""
        path, below = self.cursor_path, self._row + 1
        if path is None:
            return
        entry = self.outline.get(path)
        if entry is None or entry.kind is not EntryKind.DIRECTORY:
            self.action_open()
        elif not self.outline.is_expanded(path):
            self.outline.toggle(path)
            self._refresh_rows()
        elif below < self.row_count and get_parent(self.outline.get_path_at(below)) == path:
            self._go_to_row(below)

    def action_open(self) -> None:
        """Open a file; expand or collapse a directory."""
        entry = None if self.cursor_path is None else self.outline.get(self.cursor_path)
        if entry is None:
            return
        if entry.kind is EntryKind.DIRECTORY:
            self.outline.toggle(entry.path)
            self._refresh_rows()
        else:
            self.post_message(self.Opened(self, entry.path, entry.kind))

    # The mouse

    def _handle_click(self, event: events.Click, x: int) -> None:
        """Expand or collapse (on the triangle), select (with Ctrl), open (twice) or ask for the menu (right button)."""
        row = self.outline.get_row(self._row)
        width = self._viewport.width
        on_triangle = 0 <= x - measure_indent(row, width) < measure_step(width)
        if event.button == _RIGHT:
            self.post_message(self.MenuRequested(self, row.path, row.entry.kind))
        elif event.ctrl:
            self.selection.toggle(row.path)
        elif row.entry.kind is EntryKind.DIRECTORY and on_triangle:
            self.outline.toggle(row.path)
            self._refresh_rows()
        elif event.chain == 2:
            self.action_open()

    # Paint

    def repaint(self) -> None:
        """Paint the rows on screen that look different by now, once for all that happened, and nothing beside them."""
        if not self._will_repaint and self.is_attached:
            self._will_repaint = True
            self.call_next(self._repaint_rows)

    def _let_ages_pass(self) -> None:
        now = self._now()
        if any(_format_age(look.row, now) != look.age for look in self._painted.values()):
            self.repaint()
        for look in self._painted.values():
            self._expect_age(look.row, now)

    def _expect_age(self, row: TreeRow, now: int) -> None:
        if row.newest_ns is not None:
            self._age_timer.expect((now - row.newest_ns) / SECOND)

    def _repaint_rows(self) -> None:
        self._will_repaint = False
        now, width, height = self._now(), *self.scrollable_content_region.size
        for y in range(height):
            look, painted = self._look_at_row(y, now), self._painted.get(y)
            if look is not None:
                self._requests.add(look.row)
            if look == painted:
                continue
            is_age = look and painted and look[:2] == painted[:2] and len(look.age) == len(painted.age)
            cells = len(look.age) if look and is_age else width
            self.refresh(Region(width - cells, y, cells, 1))

    def _look_at_row(self, y: int, now: int) -> "RowLook | None":
        """How a line on screen is to be drawn; `None` below the last row."""
        index = self.scroll_offset.y + y
        if index >= self.row_count:
            return None
        row = self.outline.get_row(index)
        state = RowState(
            change=self.changes.get(row.path) or (None if row.expanded else self.changes.get_below(row.path)),
            cursor=index == self._row,
            fresh=self.lights.is_fresh(row.path, now),
            letter=self.lights.find_letter(row),
            selected=row.path in self.selection,
            protected=self.is_protected(row.path),
            role=self._find_role(row),
            fading=self.lights.is_fading(row.path),
        )
        return RowLook(row, state, _format_age(row, now))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        now, width = self._now(), self.scrollable_content_region.width
        look = self._look_at_row(y, now)
        if look is None:
            self._painted.pop(y, None)
            return Strip.blank(width, self._resolve_style(""))
        self._requests.add(look.row)
        self._painted[y] = look
        self._expect_age(look.row, now)
        return draw_row(look.row, width, now, self._resolve_style, look.state)


class RowLook(NamedTuple):
    """All that decides how a row is drawn."""

    row: TreeRow
    state: RowState
    age: str


def _format_age(row: TreeRow, now: int) -> str:
    return "" if row.newest_ns is None else format_row_age(row.newest_ns, now)


class RowLights:
    """The rows that are lit: for a moment after a change, and with a letter while an agent works on an entry.

    A deleted row is the reverse: it is dim for a moment before it leaves.

    Args:
        view: The tree.
        now: The clock, in nanoseconds since the epoch.
    """

    def __init__(self, view: TreeView, now: Callable[[], int]) -> None:
        self._view = view
        self._now = now
        self._fresh_until: dict[str, int] = {}
        self._fading: set[str] = set()
        self._timer: Timer | None = None
        self.letters: dict[str, str] = {}  # by path

    def set_fresh(self, path: str, when_ns: int) -> None:
        """Light a row for a moment if its change was just now."""
        until = when_ns + int(FRESH * SECOND)
        if until > self._now() and self._view.is_attached and self._view.app.animation_level != "none":
            self._fresh_until[path] = until
            if self._timer is None:
                self._timer = self._view.set_timer(FRESH, self._expire)

    def clear_fresh(self, path: str) -> None:
        """Darken a row that changed."""
        self._fresh_until.pop(path, None)

    def is_fresh(self, path: str, now: int) -> bool:
        """Whether a row is lit for a change."""
        return self._fresh_until.get(path, 0) > now

    def fade(self, paths: Iterable[str]) -> None:
        """Dim the rows of deleted entries, which leave in a moment."""
        self._fading.update(paths)
        self._view.repaint()

    def end_fade(self, paths: Iterable[str]) -> None:
        """Rows are as before: they left, or their entries are there again."""
        self._fading.difference_update(paths)

    def is_fading(self, path: str) -> bool:
        """Whether a row is dim because it leaves."""
        return path in self._fading and self._view.changes.get(path) is RowChange.DELETED

    def set_letter(self, path: str, letter: str) -> None:
        """Light a row with a letter before the name, such as `r` for reading; it need not be visible, nor there yet."""
        self.letters[path] = letter
        self._view.repaint()

    def fade_letter(self, path: str) -> None:
        """Remove a letter in a moment, so that a short one is seen too, unless another takes its place."""
        letter = self.letters.get(path)
        if letter is not None and self._view.is_attached:
            self._view.set_timer(FRESH, lambda: self._remove_letter(path, letter))

    def find_letter(self, row: TreeRow) -> str:
        """The letter of an entry, or of an entry inside a collapsed directory."""
        letter = self.letters.get(row.path, "")
        if not letter and row.entry.kind is EntryKind.DIRECTORY and not row.expanded:
            letter = next((each for path, each in self.letters.items() if path.startswith(row.path + "/")), "")
        return letter

    def _remove_letter(self, path: str, letter: str) -> None:
        if self.letters.get(path) is letter:
            del self.letters[path]
            self._view.repaint()

    def _expire(self) -> None:
        now = self._now()
        self._fresh_until = {path: until for path, until in self._fresh_until.items() if until > now}
        self._timer = self._view.set_timer(0.25, self._expire) if self._fresh_until else None
        self._view.repaint()


class DetailRequests:
    """The entries on screen whose size or time is unknown: each is asked for once, all of a frame together.

    Args:
        view: The tree, which posts the message.
    """

    def __init__(self, view: TreeView) -> None:
        self._view = view
        self._requested: set[str] = set()
        self._queue: list[str] = []

    def add(self, row: TreeRow) -> None:
        """Ask for the details of a row, unless they are known or asked for."""
        entry = row.entry
        known = entry.mtime_ns is not None and (entry.size is not None or entry.kind is EntryKind.DIRECTORY)
        if known or entry.path in self._requested:
            return
        self._requested.add(entry.path)
        if not self._queue:
            self._view.call_later(self._send)
        self._queue.append(entry.path)

    def forget(self, paths: Iterable[str]) -> None:
        """These may be asked for again."""
        self._requested.difference_update(paths)

    def clear(self) -> None:
        """All may be asked for again."""
        self._requested.clear()

    def _send(self) -> None:
        paths, self._queue = tuple(self._queue), []
        if paths:
            self._view.post_message(TreeView.DetailsRequested(self._view, paths))
