"""Activity on screen: a list of events that grows at its end.

A thousand new rows a second are still one repaint per frame. The list follows the newest row until the cursor or the
view moves up; then it holds still.
"""

import sys
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.scrollbar import ScrollTo

from memtui.core import wording
from memtui.core.events import Event, Result, format_actor_name
from memtui.core.messages import summarize_refusal
from memtui.core.unicode import to_one_line
from memtui.ui.key_names import label_key
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.row_list import Cell, Column, ItemList, RowsView

TIME, ACTOR, COMMAND, RESULT, COUNTS, NOTE = 8, 7, 11, 7, 9, 17
"""Cells of the columns: `10:14:02`, `outside`, `str_replace`, `REFUSED`, `+999 -999`, and the note at least."""
NAMED_ACTOR = 11
"""Cells of the actor where there is room for the names of programs: `claude-code`."""
WIDEST = 72
"""Cells of the path at most: the eye has to find the result beside it."""
LONGEST = 2000
"""Characters of a text that are looked at; an agent may send a megabyte."""

WRITES = frozenset({
    "create", "str_replace", "insert", "delete", "rename", "write", "restore", "undo", "redo", "redact", "clear",
})  # fmt: skip
"""Commands that change the folder."""


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """One event, in words.

    Attributes:
        seq: The number of the event.
        time: Local time, `10:14:02`.
        actor: `Claude`, `you`, `outside` or an agent's name; may be hostile.
        command: `view`, `create` and so on; `modified`, `created`, `deleted` for a change from outside.
        path: `/memories/notes/a.md`; may be hostile.
        result: `ok`, `same`, `seen`, `REFUSED`, `UNSURE`, `ABORTED`.
        added: Lines.
        removed: Lines.
        duration_ms: Milliseconds.
        note: `23 entries`, `outside /memories`, `not via memtui`.
    """

    seq: int
    time: str
    actor: str
    command: str
    path: str
    result: str
    added: int | None
    removed: int | None
    duration_ms: float | None
    note: str = ""

    @property
    def is_write(self) -> bool:
        """Whether the folder was changed through memtui."""
        return self.result == "ok" and self.command in WRITES

    @property
    def is_refused(self) -> bool:
        """Whether the engine refused the command."""
        return self.result == "REFUSED"


@lru_cache(maxsize=16)
def build_columns(width: int) -> Sequence[Column[ActivityRow]]:
    """The columns of a row of so many cells.

    As the row gets narrower, the note and the column of counts go first, then the duration and the time.
    """
    is_wide = width >= 99
    gap = "  " if is_wide else " "
    actor_width = ACTOR if width < 89 else NAMED_ACTOR if width < 139 else NAMED_ACTOR + 5
    room = width - (TIME + actor_width + COMMAND + RESULT + 4 * len(gap))
    time = Column[ActivityRow]("time", lambda row, cells: _clip_text(row.time, cells), "detail", TIME, tail=gap)
    actor = Column[ActivityRow](
        "actor", lambda row, cells: _clip_text(row.actor, cells), _get_actor_role, actor_width, tail=gap
    )
    command = Column[ActivityRow]("command", lambda row, cells: _clip_text(row.command, cells), width=COMMAND, tail=gap)
    if is_wide:
        room -= 1 + COUNTS + 1 + 7 + 3 + NOTE
        path_width = min(room, WIDEST)
        return (
            time,
            actor,
            command,
            Column("path", _format_path, width=path_width, tail=gap),
            Column("result", lambda row, cells: _clip_text(row.result, cells), _get_result_role, RESULT),
            Column("counts", _format_counts, width=COUNTS, gap=" "),
            Column("duration", lambda row, _: _format_duration(row, " "), "detail", 7, align=">", gap=" "),
            Column(
                "note", lambda row, cells: _clip_text(row.note, cells), "detail", NOTE + room - path_width, gap="   "
            ),
        )
    room -= 3
    if room < 8:
        path = Column("path", _format_path, width=max(1, room + 3 + TIME + len(gap)), tail=gap)
        return actor, command, path, Column("result", _format_result, width=RESULT)
    result = Column("result", _format_result, width=RESULT + 3)
    if room < 26:
        return time, actor, command, Column("path", _format_path, width=room, tail=gap), result
    duration = Column[ActivityRow](
        "duration", lambda row, _: _format_duration(row, ""), "detail", 5, align=">", gap=" "
    )
    return time, actor, command, Column("path", _format_path, width=room - 6, tail=gap), result, duration


@lru_cache(maxsize=1_024)
def _clip_text(text: str, width: int) -> str:
    return truncate(to_one_line(text[:LONGEST]), width)


@lru_cache(maxsize=256)
def _clip_path(path: str, width: int) -> str:
    path = path if len(path) <= LONGEST else path[: LONGEST // 2] + path[-LONGEST // 2 :]
    return truncate_middle(to_one_line(path), width)


def _format_path(row: ActivityRow, width: int) -> str:
    return _clip_path(row.path, width)


def _format_duration(row: ActivityRow, space: str) -> str:
    return "" if row.duration_ms is None else wording.format_latency(row.duration_ms, space)


def _format_counts(row: ActivityRow, width: int) -> Cell:
    """`+12 -3`, each in its style; empty where they do not fit."""
    added = f"+{wording.format_line_count(row.added)}" if row.added else ""
    removed = f"-{wording.format_line_count(row.removed)}" if row.removed else ""
    added += " " if added and removed else ""
    return [(added, "added"), (removed, "removed")] if len(added + removed) <= width else []


def _format_result(row: ActivityRow, width: int) -> Cell:
    """The result, with the counts behind it."""
    role = _get_result_role(row)
    if not row.added and not row.removed:
        return [(_clip_text(row.result, RESULT), role)]
    result = _clip_text(row.result, 4) + " "
    return [(result, role), *_format_counts(row, width - cell_len(result))]


def _get_actor_role(row: ActivityRow) -> str:
    return row.actor if row.actor in ("you", "outside") else "agent"


def _get_result_role(row: ActivityRow) -> str:
    return {"ok": "ok", "same": "ok", "seen": "seen"}.get(row.result, "bad")


_SHORT = {Result.NO_CHANGE.label: "same", Result.UNCERTAIN.label: "UNSURE"}
"""Results whose words are wider than their column."""


def build_activity_row(event: Event) -> ActivityRow:
    """An event as a row of the activity."""
    note = event.note
    if event.is_error and not note:
        note = summarize_refusal(event)
    elif event.new_path and not event.is_error:
        note = f"to {wording.to_relative_path(event.new_path)}"
    elif event.is_outside and not note:
        note = "not via memtui"
    result = wording.format_result(event)
    return ActivityRow(
        seq=event.seq,
        time=wording.format_clock(event),
        actor=sys.intern(format_actor_name(event.actor)),
        command=sys.intern(event.command),
        path=sys.intern(event.path),
        result=_SHORT.get(result, result),
        added=event.added,
        removed=event.removed,
        duration_ms=None if event.is_outside else event.duration_us / 1_000,
        note=note,
    )


def describe_unseen_changes(events: Sequence[Event]) -> str:
    """The changes since the last visit, in one sentence; empty if there are none."""
    counts = wording.count_unseen_changes(events)
    next_key, seen_key = label_key("browse.next_change"), label_key("browse.mark_all_seen")
    return f"Since you last looked: {counts}. {next_key} next, {seen_key} seen." if counts else ""


CAPACITY = 10_000
"""Rows that are kept; older ones are in the journal."""


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
        self.outside += row.actor == "outside" and row.command != "found"


class ActivityView(ItemList[ActivityRow]):
    """The events of a session, newest last.

    Args:
        capacity: Rows that are kept.
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="activity.open", tooltip="Open what the event is about"),
    ]

    STYLES = "activity--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"activity--{role}" for role in ("detail", "agent", "you", "outside", "ok", "bad", "seen", "added", "removed")
    }

    DEFAULT_CSS = """
    ActivityView {
        & > .activity--detail { color: $foreground 85%; }
        & > .activity--agent { color: $text-primary; }
        & > .activity--you { text-style: bold; }
        & > .activity--outside, & > .activity--seen { color: $text-warning; }
        & > .activity--ok, & > .activity--added { color: $text-success; }
        & > .activity--bad { color: $text-error; text-style: bold; }
        & > .activity--removed { color: $text-error; }
    }
    """

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

    position = RowsView.position

    def __init__(self, *, capacity: int = CAPACITY, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: deque[ActivityRow] = deque(maxlen=capacity)
        self.counters = ActivityCounters()

    def append_rows(self, rows: Iterable[ActivityRow]) -> None:
        """Add the rows of new events; the oldest go when there are too many."""
        dropped = 0
        for row in rows:
            self.counters.count(row)
            dropped += len(self._rows) == self._rows.maxlen
            self._rows.append(row)
        self._refresh_rows(dropped)

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
            self._refresh_rows()
        self.post_message(self.FollowChanged(self, follow))

    def on_mount(self) -> None:
        """Show the rows that were added before there was a screen."""
        self._refresh_rows()

    def on_resize(self) -> None:
        """Stay at the end, or keep the cursor in view."""
        self._refresh_rows()

    def _refresh_rows(self, dropped: int = 0) -> None:
        """Show other rows, of which a number was dropped at the top."""
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

    def action_bottom(self) -> None:
        """To the newest event, and follow from there."""
        super().action_bottom()
        if self.follow:  # the files may have ceased to follow
            self.post_message(self.FollowChanged(self, True))
        self.follow = True

    def _handle_click(self, event: events.Click, x: int) -> None:
        del event, x
        self.action_open()

    def on_mouse_scroll_up(self) -> None:
        """Stop following."""
        if self.scroll_offset.y > 0:
            self.follow = False

    def on_scroll_up(self) -> None:
        """Stop following: a click on the scrollbar."""
        self.follow = False

    def on_scroll_to(self, message: ScrollTo) -> None:
        """Stop following when the scrollbar is dragged away from the end."""
        if message.y is not None and message.y < self.max_scroll_y:
            self.follow = False

    def _get_key(self, item: ActivityRow) -> object:
        return item.seq

    def _get_columns(self, item: ActivityRow, width: int) -> Sequence[Column[ActivityRow]]:
        del item
        return build_columns(width)
