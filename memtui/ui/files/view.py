"""The folder on screen: only the rows that can be seen are drawn, and a flood of changes is one frame.

The widget reads no disk. It is told what is there and what changed, asks for the sizes and times of the rows
that it is about to paint, and says where the person went.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from memtui.core.snapshot import Entry, Kind
from memtui.ui.files.contents import ancestors, parent_of
from memtui.ui.files.marks import Mark, Marks
from memtui.ui.files.outline import Outline, Row, Sort, moved_path
from memtui.ui.files.picks import Picks, lies_in_any
from memtui.ui.files.row import SECOND, Palette, age_text, draw, indent_of, step_of
from memtui.ui.rows import RowsView

FRESH = 1.5
"""Seconds for which a row that changed is lit."""
_RIGHT = 3
"""The button of the mouse that asks what can be done."""


class FilesView(RowsView):
    """A folder as an outline.

    Args:
        outline: What to show at first.
        now: The clock, in nanoseconds since the epoch.
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left,h",
            "close",
            "Collapse",
            id="files.close",
            show=False,
            tooltip="Collapse the folder, or go to the one around",
        ),
        Binding(
            "right,l",
            "into",
            "Expand",
            id="files.into",
            show=False,
            tooltip="Expand the folder, or open the file",
        ),
        Binding(
            "enter",
            "open",
            "open",
            id="files.open",
            show=False,
            tooltip="Open the file, or expand or collapse the folder",
        ),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "files--directory",
        "files--hidden",
        "files--detail",
        "files--added",
        "files--changed",
        "files--deleted",
        "files--renamed",
        "files--problem",
        "files--fresh",
        "files--cursor",
        "files--picked",
    }

    DEFAULT_CSS = """
    FilesView {
        & > .files--directory { color: $text-primary; text-style: bold; }
        & > .files--hidden, & > .files--detail { color: $foreground 85%; }
        & > .files--added { color: $text-success; }
        & > .files--changed, & > .files--renamed { color: $text-warning; }
        & > .files--deleted { color: $text-error; text-style: strike; }
        & > .files--problem { color: $text-error; text-style: bold; }
        & > .files--fresh { background: $warning 25%; }
        &:ansi > .files--fresh { background: ansi_default; text-style: underline; }
        & > .files--picked { color: $text-accent; text-style: bold; }
        & > .files--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .files--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    class Told(Message):
        """Anything that this widget says.

        Attributes:
            view: The widget.
        """

        def __init__(self, view: "FilesView") -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> "FilesView":
            """The widget, where Textual's selectors look for it."""
            return self.view

    class OfEntry(Told):
        """Something about one entry."""

        def __init__(self, view: "FilesView", path: str, kind: Kind) -> None:
            super().__init__(view)
            self.path = path
            self.kind = kind

    class Highlighted(OfEntry):
        """The cursor came to another entry."""

        def __init__(self, view: "FilesView", path: str, kind: Kind, *, was_put: bool) -> None:
            super().__init__(view, path, kind)
            self.was_put = was_put
            """Whether it was put there; else its own entry went, and it had to go somewhere."""

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, FilesView.Highlighted) and message.view is self.view

    class Opened(OfEntry):
        """The person asked for an entry that is not a directory."""

    class MenuWanted(OfEntry):
        """The person asked what can be done with an entry, with the right button of the mouse."""

    class Picked(Told):
        """Other entries are marked now."""

    class Needed(Told):
        """These rows are on screen and their size or time is not known; answer with `FilesView.touch`."""

        def __init__(self, view: "FilesView", paths: tuple[str, ...]) -> None:
            super().__init__(view)
            self.paths = paths

    class Moved(Told):
        """The cursor's row or the number of rows changed."""

        def __init__(self, view: "FilesView", row: int, total: int) -> None:
            super().__init__(view)
            self.row = row
            """From 1; 0 while there is no row."""
            self.total = total

        def can_replace(self, message: Message) -> bool:
            """Only the last position matters."""
            return isinstance(message, FilesView.Moved) and message.view is self.view

    def __init__(
        self,
        outline: Outline | None = None,
        *,
        now: Callable[[], int] = time.time_ns,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._outline = outline or Outline()
        self._now = now
        self._cursor: str | None = None
        self._told: tuple[int, int] | None = None
        self._marks = Marks()
        self._fresh_until: dict[str, int] = {}
        self._fresh_timer: Timer | None = None
        self._lit: dict[str, str] = {}
        self._picks = Picks()
        self._protected: frozenset[str] = frozenset()
        self._asked: set[str] = set()
        self._wanted: list[str] = []
        self._ages: dict[int, tuple[int, str]] = {}  # by line on screen
        self._palette: Palette | None = None

    def on_mount(self) -> None:
        """Show what was given, and let ages pass."""
        self._settle()
        self.set_interval(1.0, self._let_ages_pass)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._ages.clear()
        self._bring_into_view()

    # Attributes down

    @property
    def outline(self) -> Outline:
        """What is shown; to be changed through the widget's own methods, which repaint."""
        return self._outline

    @property
    def cursor_path(self) -> str | None:
        """The entry under the cursor; None while there is no row."""
        return self._cursor

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self._outline)

    def show(self, outline: Outline) -> None:
        """Show another outline, with the cursor on the same path if it is there; marks and pins stay."""
        if self._outline.pins and not outline.pins:
            outline.set_pins(self._outline.pins)
        self._picks.forget([path for path in self._picks if path not in outline])
        self._outline = outline
        self._asked.clear()
        self._settle()

    def add(self, entries: Iterable[Entry]) -> None:
        """These entries are there now, or have another size or time."""
        entries = list(entries)
        self._asked.difference_update(entry.path for entry in entries)
        self._outline.update(entries)
        self._settle()

    def drop(self, paths: Iterable[str]) -> None:
        """These entries, and all below them, are gone; so are their marks."""
        paths = list(paths)
        beside = self._beside(paths)
        for path in sorted(paths, reverse=True):  # what lies in a directory goes before the directory
            self._marks.forget(path)
            self._asked.discard(path)
        self._picks.forget(paths)
        self._outline.update((), paths)
        self._settle(beside)

    def move(self, old: str, new: str) -> None:
        """An entry has another path; cursor, marks, pins and expanded directories go with it."""
        self.move_all({old: new})

    def move_all(self, moves: Mapping[str, str]) -> None:
        """Entries have other paths, at once; cursor, marks, pins and expanded directories go with them."""
        done = self._outline.move_all(moves)
        if not done:
            return
        if self._cursor is not None and (path := moved_path(self._cursor, done)) != self._cursor:
            self._cursor = path
            self._tell_highlighted()
        self._marks.move_all(done)
        self._picks.move(done)
        self._settle()

    def touch(self, entries: Iterable[Entry]) -> None:
        """The sizes and times that `Needed` asked for; entries that have gone meanwhile stay gone."""
        known = [entry for entry in entries if entry.path in self._outline]
        self._asked.difference_update(entry.path for entry in known)
        self._outline.update(known)
        self._settle()

    def mark(self, path: str, mark: Mark, when_ns: int) -> None:
        """Say what happened to an entry, and light its row for a moment if that was just now.

        Args:
            path: The entry; it need not be visible, nor there yet.
            mark: What happened.
            when_ns: When, in nanoseconds since the epoch.
        """
        self._marks.set(path, mark)
        until = when_ns + int(FRESH * SECOND)
        if until > self._now() and self.is_attached and self.app.animation_level != "none":
            self._fresh_until[path] = until
            if self._fresh_timer is None:
                self._fresh_timer = self.set_timer(FRESH, self._let_freshness_pass)
        self.refresh()

    def light(self, path: str, letter: str) -> None:
        """Say that something goes on with an entry now: a letter stands before its name, and its row is lit.

        Args:
            path: The entry; it need not be visible, nor there yet.
            letter: What goes on, such as `r` for reading.
        """
        self._lit[path] = letter
        self.refresh()

    def unlight(self, path: str) -> None:
        """It is over; the row stays lit for a moment, so that it is seen however short it was."""
        letter = self._lit.get(path)
        if letter is not None and self.is_attached:
            self.set_timer(FRESH, lambda: self._darken(path, letter))

    def _darken(self, path: str, letter: str) -> None:
        if self._lit.get(path) is letter:
            del self._lit[path]
            self.refresh()

    def _letter_of(self, row: Row) -> str:
        """What goes on with an entry, or inside a directory that is collapsed."""
        if not self._lit:
            return ""
        letter = self._lit.get(row.path, "")
        if not letter and row.entry.kind is Kind.DIRECTORY and not row.expanded:
            letter = next((each for path, each in self._lit.items() if path.startswith(row.path + "/")), "")
        return letter

    def clear_mark(self, path: str) -> None:
        """The person has seen what happened to the entry."""
        if self._marks.clear(path):
            self._fresh_until.pop(path, None)
            self.refresh()

    @property
    def picked(self) -> tuple[str, ...]:
        """What the person marked, in the order of marking."""
        return tuple(self._picks)

    def toggle_picked(self, path: str) -> None:
        """Mark an entry, or no longer."""
        if path in self._outline:
            self._picks.toggle(path)
            self._tell_picked()

    def pick(self, paths: Iterable[str]) -> None:
        """Mark entries, besides those that are marked."""
        self._picks.add(path for path in paths if path in self._outline)
        self._tell_picked()

    def pick_nothing(self) -> bool:
        """Mark nothing any more; False if nothing was marked."""
        had = bool(self._picks)
        self._picks.clear()
        if had:
            self._tell_picked()
        return had

    def _tell_picked(self) -> None:
        self.post_message(self.Picked(self))
        self.refresh()

    @property
    def pins(self) -> tuple[str, ...]:
        """What is pinned on top, the first one first; also what is not there now."""
        return self._outline.pins

    def set_pins(self, paths: Iterable[str]) -> None:
        """Have these entries on top, in that order, and no others."""
        self._outline.set_pins(paths)
        self._settle()

    def toggle_pin(self, path: str) -> bool:
        """Put an entry on top, or back; tells whether it is pinned now."""
        pinned = not self._outline.is_pinned(path)
        if pinned:
            self._outline.pin(path)
        else:
            self._outline.unpin(path)
        self._settle()
        return pinned

    @property
    def protected(self) -> frozenset[str]:
        """What no agent may change, and the directories in which it may change nothing."""
        return self._protected

    def set_protected(self, paths: Iterable[str]) -> None:
        """No agent may change these, nor what lies in them."""
        self._protected = frozenset(paths)
        self.refresh()

    def is_protected(self, path: str) -> bool:
        """Whether no agent may change an entry."""
        return bool(self._protected) and lies_in_any(path, self._protected)

    def is_gone(self, path: str) -> bool:
        """Whether an entry is not there, or is only still shown, struck through."""
        return path not in self._outline or self._marks.get(path) is Mark.DELETED

    def set_sort(self, sort: Sort, reverse: bool = False) -> None:
        """Order the names of each directory in another way; the cursor stays on its entry."""
        self._outline.set_sort(sort, reverse)
        self._settle()

    def set_hidden(self, hidden: bool) -> None:
        """Show names with a leading dot, or leave them out."""
        beside = None if hidden or self._cursor is None else self._shown_around(self._cursor)
        self._outline.set_hidden(hidden)
        self._settle(beside)

    def move_to(self, path: str) -> bool:
        """Put the cursor on an entry, expanding what lies around it; False if it is not there."""
        self._outline.reveal(path)
        row = self._outline.index_of(path)
        if row is None:
            return False
        self._settle()
        self._go(row)
        return True

    def name_region(self, path: str) -> Region | None:
        """Where the name of an entry is on screen; None if its row is not in sight."""
        index = self._outline.index_of(path)
        content = self.scrollable_content_region
        if index is None or not 0 <= index - self.scroll_offset.y < content.height:
            return None
        row = self._outline.row(index)
        start = indent_of(row, content.width)
        if row.entry.kind is Kind.DIRECTORY:
            start += step_of(content.width)
        place = self.content_region
        return Region(place.x + start, place.y + index - self.scroll_offset.y, content.width - start, 1)

    # The cursor

    def _go(self, row: int) -> None:
        """Put the cursor on a row, as near as there is one, and bring it into view."""
        total = len(self._outline)
        if not total:
            return
        self._row = max(0, min(row, total - 1))
        path = self._outline.path_at(self._row)
        if path != self._cursor:
            self._cursor = path
            self._tell_highlighted(was_put=True)
        self._bring_into_view()
        self._tell_moved()
        self.refresh()

    def _settle(self, beside: Iterable[str] | None = None) -> None:
        """The rows changed: keep the cursor on its entry, and that entry where it is on screen.

        Args:
            beside: Where the cursor may go if its entry is no longer visible, best first.
        """
        if not self.is_attached:  # once mounted, it settles
            return
        before, top = self._row, self.scroll_offset.y
        height = self.scrollable_content_region.height
        was_seen = top <= before < top + height
        total = len(self._outline)
        self._fit_height()
        self._ages.clear()
        candidates = [] if self._cursor is None else [self._cursor, *(beside or ancestors(self._cursor))]
        for path in candidates:
            row = self._outline.index_of(path)
            if row is not None:
                break
        else:
            path, row = None, min(before, total - 1)
            if total:
                path = self._outline.path_at(row)
        self._row = max(0, row)
        if path != self._cursor:
            self._cursor = path
            self._tell_highlighted()
        if was_seen and top and self._row != before:
            self.scroll_to(y=top + self._row - before, animate=False)
        if was_seen:
            self._bring_into_view()
        self._tell_moved()
        self.refresh()

    def _beside(self, removed: list[str]) -> list[str]:
        """Where the cursor goes if its entry is removed: the next row that stays, else the one before."""
        if self._cursor is None:
            return []
        around = [self._cursor, *ancestors(self._cursor)]
        going = set(removed)
        gone = next((path for path in reversed(around) if path in going), None)
        if gone is None or self._outline.index_of(gone) is None:
            return around
        span = self._outline.span(gone)
        start, after = span.start, span.stop
        while after < len(self._outline) and (path := self._outline.path_at(after)) in going:
            after = self._outline.span(path).stop if self._outline.is_expanded(path) else after + 1
        rows = [after] if after < len(self._outline) else []
        rows += [start - 1] if start else []
        return [*(self._outline.path_at(row) for row in rows), *around]

    def _shown_around(self, path: str) -> list[str]:
        """An entry, then the directories around it, then what is above: for when hidden names go away."""
        row = self._outline.index_of(path) or 0
        above = (self._outline.path_at(index) for index in range(row, max(-1, row - 200), -1))
        return [path, *ancestors(path), *above]

    def _tell_highlighted(self, *, was_put: bool = False) -> None:
        entry = None if self._cursor is None else self._outline.get(self._cursor)
        if entry is not None:
            self.post_message(self.Highlighted(self, entry.path, entry.kind, was_put=was_put))

    def _tell_moved(self) -> None:
        if self._told != self.position:
            self._told = self.position
            self.post_message(self.Moved(self, *self.position))

    # Keys

    def action_close(self) -> None:
        """Collapse the directory, or go to the one around the entry."""
        if self._cursor is None:
            return
        if self._outline.is_expanded(self._cursor):
            self._toggle(self._cursor)
        elif parent := parent_of(self._cursor):
            row = self._outline.index_of(parent)
            if row is not None:
                self._go(row)

    def action_into(self) -> None:
        """Expand the directory, or go to what is in it; open a file."""
        if self._cursor is None:
            return
        entry = self._outline.get(self._cursor)
        if entry is None or entry.kind is not Kind.DIRECTORY:
            self.action_open()
        elif not self._outline.is_expanded(self._cursor):
            self._toggle(self._cursor)
        elif self._row + 1 < len(self._outline) and parent_of(self._outline.path_at(self._row + 1)) == self._cursor:
            self._go(self._row + 1)

    def action_open(self) -> None:
        """Open a file; expand or collapse a directory."""
        entry = None if self._cursor is None else self._outline.get(self._cursor)
        if entry is None:
            return
        if entry.kind is Kind.DIRECTORY:
            self._toggle(entry.path)
        else:
            self.post_message(self.Opened(self, entry.path, entry.kind))

    def _toggle(self, path: str) -> None:
        self._outline.toggle(path)
        self._settle()

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """Select; on a triangle, expand or collapse; twice, open; with Ctrl, mark; with the right button, ask."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = self.scroll_offset.y + offset.y
        if index >= len(self._outline):
            return
        event.stop()
        self._go(index)
        row = self._outline.row(index)
        if event.button == _RIGHT:
            self.post_message(self.MenuWanted(self, row.path, row.entry.kind))
            return
        if event.ctrl:
            self.toggle_picked(row.path)
            return
        width = self.scrollable_content_region.width
        on_triangle = 0 <= offset.x - indent_of(row, width) < step_of(width)
        if row.entry.kind is Kind.DIRECTORY and on_triangle:
            self._toggle(row.path)
        elif event.chain == 2:
            self.action_open()

    # Time

    def _let_freshness_pass(self) -> None:
        now = self._now()
        self._fresh_until = {path: until for path, until in self._fresh_until.items() if until > now}
        self._fresh_timer = self.set_timer(0.25, self._let_freshness_pass) if self._fresh_until else None
        self.refresh()

    def _let_ages_pass(self) -> None:
        """Repaint if any age that is on screen reads otherwise by now."""
        now = self._now()
        if any(age_text(then, now) != text for then, text in self._ages.values()):
            self.refresh()

    # Paint

    def notify_style_update(self) -> None:
        """The theme or the focus changed: resolve the styles again when a row is next drawn."""
        self._palette = None
        super().notify_style_update()

    def _resolve_palette(self) -> Palette:
        style = self.get_component_rich_style
        marks = {
            Mark.NEW: style("files--added"),
            Mark.CHANGED: style("files--changed"),
            Mark.DELETED: style("files--deleted"),
            Mark.RENAMED: style("files--renamed"),
            Mark.PROBLEM: style("files--problem"),
        }
        return Palette(
            plain=self.rich_style,
            directory=style("files--directory"),
            hidden=style("files--hidden"),
            detail=style("files--detail"),
            marks=marks,
            fresh=style("files--fresh"),
            cursor=style("files--cursor"),
            picked=_weight(style("files--picked")),
        )

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        if self._palette is None:
            self._palette = self._resolve_palette()
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        if index >= len(self._outline):
            return Strip.blank(width, self._palette.plain)
        row = self._outline.row(index)
        self._want(row)
        now = self._now()
        if row.newest_ns is None:
            self._ages.pop(y, None)
        else:
            self._ages[y] = (row.newest_ns, age_text(row.newest_ns, now))
        mark = self._marks.get(row.path)
        if mark is None and not row.expanded:
            mark = self._marks.below(row.path)
        return draw(
            row,
            width,
            now,
            self._palette,
            mark=mark,
            cursor=index == self._row,
            fresh=self._fresh_until.get(row.path, 0) > now,
            letter=self._letter_of(row),
            picked=row.path in self._picks,
            protected=self.is_protected(row.path),
        )

    def _want(self, row: Row) -> None:
        entry = row.entry
        known = entry.mtime_ns is not None and (entry.size is not None or entry.kind is Kind.DIRECTORY)
        if known or entry.path in self._asked:
            return
        self._asked.add(entry.path)
        if not self._wanted:
            self.call_later(self._ask)
        self._wanted.append(entry.path)

    def _ask(self) -> None:
        paths, self._wanted = tuple(self._wanted), []
        if paths:
            self.post_message(self.Needed(self, paths))


def _weight(style: Style) -> Style:
    """A style without its background, to be laid over another."""
    return Style(color=style.color, bold=style.bold, underline=style.underline)
