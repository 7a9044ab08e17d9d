"""The versions of a path as rows of a list, newest first."""

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core import wording
from memtui.core.events import Actor, Agent, Outside, Person, format_actor_name, shorten_actor_name
from memtui.core.history import PathVersion
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_line_count
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.row_list import Cell, Column, ItemList

_TIME, _ACTOR, _AGE = 5, 7, 3
_LEFT = 3 + _TIME + 1 + 1 + 1 + _ACTOR + 1 + _AGE + 1
"""Cells of the columns before the last one, and of the cursor."""
_WIDEST_ACTOR = 12
_ACTORS: dict[type[Actor], str] = {Person: "you", Outside: "outside", Agent: "agent"}
_SIGNS = {"+": "added", "-": "removed", "~": "changed"}

Key = tuple[int, str]
"""The identity of a row: the event's number and the path."""


def get_version_key(version: PathVersion) -> Key:
    """The identity of a row."""
    return version.event.seq, version.path


def format_short_time(at_us: int, now: float) -> str:
    """A time in at most five cells: `10:02` today, `Thu` this week, `11-14` this year, else `2025`.

    Args:
        at_us: Microseconds since 1970 (UTC).
        now: Seconds since 1970.
    """
    at, today = datetime.fromtimestamp(at_us / 1e6), datetime.fromtimestamp(now)
    days = (today.date() - at.date()).days
    if not days:
        return at.strftime("%H:%M")
    return at.strftime("%a" if 0 < days < 7 else "%m-%d" if at.year == today.year else "%Y")


def format_move(version: PathVersion) -> str:
    """`renamed from prefs.md`, `moved to old/prefs.md`, or nothing."""
    other = version.moved_from or version.moved_to
    if other is None:
        return ""
    folder, _, name = other.rpartition("/")
    way = "from" if version.moved_from is not None else "to"
    return f"renamed {way} {name}" if version.path.rpartition("/")[0] == folder else f"moved {way} {other}"


def _format_outcome(version: PathVersion, room: int) -> Cell:
    """The lines of a version, such as `+1 -1`, its rename, or its deletion."""
    move = format_move(version)
    if move:
        verb = move.split(" ", 1)[0]
        return [(truncate_middle(to_one_line(move), room) if room > 18 else truncate(verb, room), "moved")]
    if version.sign == "-":
        return [(truncate("deleted" if room >= 7 else "del", room), "removed")]
    event = version.event
    if event.added is None or event.removed is None:
        return ""
    added, removed = f"+{format_line_count(event.added)}", f"-{format_line_count(event.removed)}"
    if len(added) + 1 + len(removed) > room:
        return [(truncate(added, room), "added")]
    return [(added, "added"), (" ", ""), (removed, "removed")]


def _format_version_age(version: PathVersion) -> str:
    return wording.format_age(max(0.0, time.time() - version.at_us / 1e6))


class VersionsView(ItemList[PathVersion]):
    """The versions of a path."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="versions.open", tooltip="Open the diff of this version", show=False),
        Binding(
            "space", "pick", "pick", id="versions.pick", tooltip="Compare any two: pick one, then another", show=False
        ),
    ]

    SHOW_HIGHLIGHTS = False
    STYLES = "versions--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"versions--{role}"
        for role in ("agent", "you", "outside", "added", "removed", "changed", "moved", "letter", "picked")
    }

    DEFAULT_CSS = """
    VersionsView {
        background: $background;
        & > .versions--agent { color: $text-primary; }
        & > .versions--you { text-style: bold; }
        & > .versions--outside, & > .versions--changed { color: $text-warning; }
        & > .versions--added { color: $text-success; }
        & > .versions--removed { color: $text-error; }
        & > .versions--moved { color: $text-primary; }
        & > .versions--letter { color: $text-accent; text-style: bold; }
        & > .versions--picked { color: $text-accent; text-style: bold reverse; }
    }
    """

    class PickRequested(ItemList.ItemMessage):
        """Pick the version for a comparison, or drop the pick."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._letters: Mapping[Key, str] = {}
        self._picked: Collection[Key] = ()
        self._ages: list[str] = []

    def set_letters(self, letters: Mapping[Key, str], picked: Collection[Key]) -> None:
        """Put letters beside the versions that are compared, and highlight those of picked ones."""
        self._letters, self._picked = letters, picked
        self.refresh()

    def go_to(self, seq: int) -> None:
        """Put the cursor on the version of an event, or on the newest one before."""
        rows = (row for row, each in enumerate(self.items) if each.event.seq <= seq)
        self._go_to_row(next(rows, self.row_count - 1))

    def refresh_ages(self) -> None:
        """Draw the ages again if one in view has changed."""
        top = self.scroll_offset.y
        ages = [_format_version_age(each) for each in self.items[top : top + self._viewport.height]]
        if ages != self._ages:
            self._ages = ages
            self.refresh()

    def action_pick(self) -> None:
        if self.cursor_item is not None:
            self.post_message(self.PickRequested(self))

    def _get_key(self, item: PathVersion) -> object:
        return get_version_key(item)

    def _get_columns(self, item: PathVersion, width: int) -> Sequence[Column[PathVersion]]:
        width += 1  # the cell of the cursor
        key = get_version_key(item)
        time_words = "now" if item is self._rows[0] else format_short_time(item.at_us, time.time())
        actor = to_one_line(shorten_actor_name(format_actor_name(item.actor))[:200])
        actor_width = _ACTOR + max(0, min(width - _LEFT - 12, _WIDEST_ACTOR - _ACTOR))
        room = max(0, width - _LEFT - actor_width + _ACTOR)
        return (
            Column("letter", self._letters.get(key, "") or " ", "picked" if key in self._picked else "letter", width=1),
            Column("time", time_words, width=_TIME, gap=" ", tail=" "),
            Column("sign", item.sign, _SIGNS.get(item.sign, "moved"), tail=" "),
            Column("actor", truncate(actor, actor_width), _ACTORS.get(type(item.actor), ""), actor_width, tail=" "),
            Column("age", _format_version_age(item), width=_AGE, align=">", tail=" "),
            Column("outcome", lambda version, _: _format_outcome(version, room)),
        )
