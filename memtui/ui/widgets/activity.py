"""Activity on screen: a list of events that grows at its end.

A thousand new rows a second are still one repaint per frame. The list follows the newest row until the cursor or the
view moves up; then it holds still.
"""

import sys
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scrollbar import ScrollTo, ScrollUp

from memtui.core import wording
from memtui.core.events import Event, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import EventPhrase
from memtui.scan.git_files import is_git_bookkeeping, is_git_event
from memtui.ui.key_names import label_key
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.row_list import Cell, Column, ItemList, RowsView

_TIME = 8
"""Cells: `10:14:02`."""
_ROOMY = 56
"""Cells from which on the time has a column."""
_LEAST_PATH = 12
"""Cells that a path keeps, whatever follows it."""
LONGEST = 2000
"""Characters of a text that are looked at; an agent may send a megabyte."""

WRITES = frozenset({
    "create", "str_replace", "insert", "delete", "rename", "merge", "split", "write", "restore", "undo", "redo",
    "redact", "clear",
})  # fmt: skip
"""Commands that change the folder."""
_CHANGES_OUTSIDE = frozenset({"created", "modified", "deleted", "renamed"})
"""What another program can be seen to do to one file."""
_GIT = "/.git"


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """One event, or several views in a row, in words; whatever an agent calls itself or a file may be hostile.

    Attributes:
        seq: The number of the event, of the last one of several.
        time: Local time, `10:14:02`.
        actor: `you`, `outside` or an agent's name.
        command: `view`, `create` and so on; `modified`, `created`, `deleted` for a change by another program.
        path: `/memories/notes/a.md`.
        result: `ok`, `no change`, `seen`, `REFUSED`, `UNCERTAIN`, `ABORTED`.
        phrase: The sentence in pieces.
        added: Lines.
        removed: Lines.
        count: How many events it stands for.
        first: The number of the first of them; 0 where it is the only one.
        is_git: Whether another program changed what git keeps for itself.
    """

    seq: int
    time: str
    actor: str
    command: str
    path: str
    result: str
    phrase: EventPhrase
    added: int | None = None
    removed: int | None = None
    count: int = 1
    first: int = 0
    is_git: bool = False

    @property
    def is_write(self) -> bool:
        """Whether the folder was changed through memtui."""
        return self.result == "ok" and self.command in WRITES

    @property
    def is_refused(self) -> bool:
        """Whether the engine refused the command."""
        return self.result == "REFUSED"

    def merge(self, later: "ActivityRow") -> "ActivityRow | None":
        """Both as one row, if one actor viewed one file after another, or git wrote its own; else `None`."""
        if self.is_git and later.is_git:
            count = self.count + later.count
            top = later.path[: later.path.index(_GIT) + len(_GIT)]
            phrase = later.phrase._replace(
                verb=f" changed {count:,} of git's own files in ", path=wording.format_place(top), tail=""
            )
            return replace(later, count=count, first=self.first or self.seq, phrase=phrase, added=None, removed=None)
        views = {(row.actor, row.command, row.result) for row in (self, later)}
        if len(views) > 1 or self.command != "view" or self.result != "ok":
            return None
        count = self.count + later.count
        phrase = later.phrase._replace(tail=f" and {count - 1:,} more")
        return replace(later, count=count, first=self.first or self.seq, phrase=phrase)


@lru_cache(maxsize=16)
def build_columns(width: int) -> Sequence[Column[ActivityRow]]:
    """The columns of a row of so many cells: the time where there is room, and the sentence."""
    time = Column[ActivityRow]("time", lambda row, cells: _clip_text(row.time, cells), "detail", _TIME, tail="  ")
    sentence = Column("sentence", _format_sentence, share=True)
    return (time, sentence) if width >= _ROOMY else (sentence,)


@lru_cache(maxsize=1_024)
def _clip_text(text: str, width: int) -> str:
    return truncate(to_one_line(text[:LONGEST]), width)


@lru_cache(maxsize=256)
def _clip_path(path: str, width: int) -> str:
    path = path if len(path) <= LONGEST else path[: LONGEST // 2] + path[-LONGEST // 2 :]
    return truncate_middle(to_one_line(path), width)


def _format_sentence(row: ActivityRow, width: int) -> Cell:
    """The sentence in its pieces, and the numbers of lines; the path gives way first, then what follows it."""
    phrase, counts = row.phrase, _format_counts(row)
    counts = counts if cell_len("".join(text for text, _ in counts)) <= width // 2 else []
    width -= sum(cell_len(text) for text, _ in counts)
    tail = _clip_text(phrase.tail, LONGEST)
    lead = _clip_text(phrase.lead, width)
    actor = _clip_text(phrase.actor, max(width - cell_len(lead), 0) // (2 if phrase.verb else 1))
    verb = _clip_text(phrase.verb, max(width - cell_len(lead + actor), 0))
    room = max(width - cell_len(lead + actor + verb), 0)
    path = _clip_path(phrase.path, max(room - cell_len(tail), min(room, _LEAST_PATH)))
    tail = truncate(tail, room - cell_len(path))
    is_quiet = row.is_git or (row.command == "view" and not row.is_refused)
    role = "detail" if is_quiet else ""
    return [
        (lead, "bad"),
        (actor, "detail" if row.is_git else _get_actor_role(row)),
        (verb, "detail"),
        (path, role),
        (tail, "detail"),
        *counts,
    ]


def _format_counts(row: ActivityRow) -> Sequence[tuple[str, str]]:
    """`+12 -3`, each in its style, behind a gap."""
    added = f"+{wording.format_line_count(row.added)}" if row.added else ""
    removed = f"-{wording.format_line_count(row.removed)}" if row.removed else ""
    pieces = [("  ", ""), (added, "added"), (" " if added and removed else "", ""), (removed, "removed")]
    return pieces if added or removed else []


def _get_actor_role(row: ActivityRow) -> str:
    return row.actor if row.actor in ("you", "outside") else "agent"


def build_activity_row(event: Event) -> ActivityRow:
    """An event as a row of the activity."""
    return ActivityRow(
        seq=event.seq,
        time=wording.format_clock(event),
        actor=sys.intern(format_actor_name(event.actor)),
        command=sys.intern(event.command),
        path=sys.intern(event.path),
        result=wording.format_result(event),
        phrase=wording.split_event(event),
        added=event.added,
        removed=event.removed,
        is_git=event.command in _CHANGES_OUTSIDE and is_git_event(event),
    )


def describe_unseen_changes(events: Sequence[Event]) -> str:
    """The changes since the last visit, in one sentence; empty if there are none."""
    found = wording.count_unseen_changes(events, is_git_bookkeeping)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in found.items() if count)
    next_key, seen_key = label_key("browse.next_change"), label_key("browse.mark_all_seen")
    return f"Since you last looked: {counts}. {next_key} next, {seen_key} seen." if counts else ""


CAPACITY = 2_000
"""Rows that are kept while the newest is shown; older ones are read again where the person goes up to them."""


@dataclass(slots=True)
class ActivityCounters:
    """Numbers of rows since the start, those no longer kept included."""

    all: int = 0
    writes: int = 0
    refused: int = 0
    outside: int = 0

    def count(self, row: ActivityRow) -> None:
        """Count another row."""
        self.all += 1
        self.writes += row.is_write
        self.refused += row.is_refused
        self.outside += row.actor == "outside" and row.command != "found" and not row.is_git


def _trim(rows: deque[ActivityRow], most: int) -> int:
    """Drop the oldest rows beyond the most that are kept; returns how many."""
    count = max(len(rows) - most, 0)
    for _ in range(count):
        rows.popleft()
    return count


class ActivityView(ItemList[ActivityRow]):
    """Events, newest last: at first the last ones, and earlier ones once the cursor is near the first row.

    Args:
        capacity: Rows that are kept while the view stays at the newest.
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="activity.open", tooltip="Open the event's file"),
    ]

    STYLES = "activity--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"activity--{role}" for role in ("detail", "agent", "you", "outside", "bad", "added", "removed")
    }

    DEFAULT_CSS = """
    ActivityView {
        & > .activity--detail { color: $foreground-muted; }
        & > .activity--agent { color: $text-secondary; }
        & > .activity--you { text-style: bold; }
        & > .activity--outside { color: $text-warning; }
        & > .activity--added { color: $text-success; }
        & > .activity--bad { color: $text-error; text-style: bold; }
        & > .activity--removed { color: $text-error; }
    }
    """

    fresh_rows: reactive[int] = reactive(0, layout=True, init=False)
    """Rows that came since the person looked: the list is as high as they are, if its height is its own."""
    follow: reactive[bool] = reactive(True, init=False)
    """Whether the view stays at the newest row."""

    class FollowChanged(Message):
        """The view began or ceased to stay at the newest row."""

        def __init__(self, view: "ActivityView", follow: bool) -> None:
            super().__init__()
            self.view = view
            self.follow = follow

        @property
        def control(self) -> "ActivityView":
            """The list."""
            return self.view

    class EarlierWanted(Message):
        """The person is near the first row: the events before it are asked for. They come by `prepend_rows`."""

        def __init__(self, view: "ActivityView", before: int) -> None:
            super().__init__()
            self.view = view
            self.before = before

        @property
        def control(self) -> "ActivityView":
            """The list."""
            return self.view

    position = RowsView.position

    def __init__(self, *, capacity: int = CAPACITY, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: deque[ActivityRow] = deque()
        self._capacity = self._most = capacity
        self._asked = 0
        """Before which event the last ones were asked for."""
        self.counters = ActivityCounters()

    def append_rows(self, rows: Iterable[ActivityRow]) -> None:
        """Add the rows of new events; the oldest go when there are too many."""
        dropped = 0
        for row in rows:
            self.counters.count(row)
            if self._rows and (merged := self._rows[-1].merge(row)) is not None:
                self._rows[-1] = merged
                continue
            self._rows.append(row)
            dropped += _trim(self._rows, self._most)
        self._refresh_rows(dropped)

    def prepend_rows(self, rows: Iterable[ActivityRow]) -> None:
        """Add the rows of earlier events above the others; the cursor stays where it is."""
        earlier: list[ActivityRow] = []
        for row in rows:
            self.counters.count(row)
            if earlier and (merged := earlier[-1].merge(row)) is not None:
                earlier[-1] = merged
            else:
                earlier.append(row)
        if not earlier:
            return
        self._asked = 0
        self._most = max(self._most, len(self._rows) + len(earlier) + self._capacity)
        self._rows.extendleft(reversed(earlier))
        self._refresh_rows(-len(earlier))

    def drop_rows(self, paths: Collection[str]) -> None:
        """Drop the rows of changes from outside of some paths."""
        kept = [row for row in self._rows if row.path not in paths or row.actor != "outside"]
        if len(kept) < len(self._rows):
            self._rows.clear()
            self._rows.extend(kept)
            self._refresh_rows()

    def watch_follow(self, follow: bool) -> None:
        """Go to the newest row when following begins."""
        if follow:
            self._most = self._capacity
            _trim(self._rows, self._most)
            self._refresh_rows()
        self.post_message(self.FollowChanged(self, follow))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """At least a row, and one for each that is new, up to a third of the terminal."""
        del container, width
        return max(1, min(self.fresh_rows, viewport.height // 3))

    def on_mount(self) -> None:
        """Show the rows that were added before there was a screen."""
        self._refresh_rows()

    def on_resize(self) -> None:
        """Stay at the end, or keep the cursor in view."""
        self._refresh_rows()

    def _refresh_rows(self, dropped: int = 0) -> None:
        """Show other rows, of which a number was dropped at the top; where it is negative, added there."""
        if not self.is_attached:
            return
        total, top = len(self._rows), self.scroll_offset.y
        self._set_height()
        if self.follow:
            self._row = max(0, total - 1)
            self.scroll_to(y=max(0, total - self._viewport.height), animate=False)
        else:
            self._row = max(0, min(self._row - dropped, total - 1))
            if dropped:
                self.scroll_to(y=max(0, top - dropped), animate=False)
        self.refresh()

    def _select_row(self, row: int) -> None:
        """Go to a row; following ends unless it is the newest."""
        if row < len(self._rows) - 1:
            self.follow = False
        super()._select_row(row)
        if row < max(self._viewport.height, 1):
            self._ask_for_earlier()

    def _ask_for_earlier(self) -> None:
        before = self._rows[0].first or self._rows[0].seq if self._rows else 0
        if before > 1 and before != self._asked:
            self._asked = before
            self.post_message(self.EarlierWanted(self, before))

    def action_bottom(self) -> None:
        """To the newest event, and follow from there."""
        super().action_bottom()
        if self.follow:  # the files may have ceased to follow
            self.post_message(self.FollowChanged(self, True))
        self.follow = True

    def _handle_click(self, event: events.Click, x: int) -> None:
        del event, x
        self.action_open()

    @on(ScrollUp)
    @on(ScrollTo)
    @on(events.MouseScrollUp)
    def _stop_following(self, event: ScrollUp | ScrollTo | events.MouseScrollUp) -> None:
        """By the wheel, a click on the scrollbar, or as that is dragged from the end; at the top, more is asked for."""
        if isinstance(event, ScrollTo) and (event.y is None or event.y >= self.max_scroll_y):
            return
        is_at_top = self.scroll_offset.y == 0
        if not (is_at_top and isinstance(event, events.MouseScrollUp)):
            self.follow = False
        if is_at_top:
            self._ask_for_earlier()

    def _get_key(self, item: ActivityRow) -> object:
        return item.seq

    def _get_columns(self, item: ActivityRow, width: int) -> Sequence[Column[ActivityRow]]:
        del item
        return build_columns(width)
