"""How one version is drawn in the list, and how moments are called.

Names of actors and files come from outside: they become visible text and are cut by cells.
"""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.core.actors import shown_name
from memtui.core.events import Agent, Outside, Person
from memtui.core.history import PathVersion
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.activity.row import lines_text
from memtui.ui.text import fit, fit_middle

_TIME, _ACTOR, _AGE = 5, 7, 3
_LEFT = 3 + _TIME + 1 + 1 + 1 + _ACTOR + 1 + _AGE + 1
"""Cells of the columns before the last one."""
_WEEK = 6
"""Days for which a day is called by its name."""
_WIDEST_ACTOR = 12

Key = tuple[int, str]
"""What a row of a history is known by: the event's number and the path."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of a row, resolved from the theme once."""

    plain: Style
    agent: Style
    you: Style
    outside: Style
    added: Style
    removed: Style
    changed: Style
    moved: Style
    letter: Style
    held: Style
    cursor: Style


def key_of(version: PathVersion) -> Key:
    """What a row is known by."""
    return version.event.seq, version.path


def moment(at_us: int, now: float) -> str:
    """When, in at most five cells: `10:02` today, `Thu` this week, `11-14` this year, else `2025`.

    Args:
        at_us: Microseconds since 1970 (UTC).
        now: Seconds since 1970.
    """
    at, today = datetime.fromtimestamp(at_us / 1e6), datetime.fromtimestamp(now)
    if at.date() == today.date():
        return at.strftime("%H:%M")
    if timedelta(0) < today.date() - at.date() <= timedelta(_WEEK):
        return at.strftime("%a")
    return at.strftime("%m-%d") if at.year == today.year else at.strftime("%Y")


def what_moved(version: PathVersion) -> str:
    """`renamed from prefs.md`, `moved to old/prefs.md`, or nothing."""
    other = version.moved_from or version.moved_to
    if other is None:
        return ""
    here = version.path.rpartition("/")[0]
    there, _, other_name = other.rpartition("/")
    way = "from" if version.moved_from is not None else "to"
    if here == there:
        return f"renamed {way} {other_name}"
    return f"moved {way} {other}"


def draw(
    version: PathVersion,
    width: int,
    palette: Palette,
    *,
    newest: bool = False,
    letter: str = "",
    held: bool = False,
    cursor: bool = False,
) -> Strip:
    """One version as a strip of exactly `width` cells.

    Args:
        version: What happened.
        width: Cells.
        palette: The styles.
        newest: Whether it is what stands now.
        letter: `A` or `B` if it is one of the two that are compared.
        held: Whether the person picked it.
        cursor: Whether the cursor is on it.
    """
    now = time.time()
    actor_width = _ACTOR + max(0, min(width - _LEFT - 12, _WIDEST_ACTOR - _ACTOR))
    when = "now" if newest else moment(version.at_us, now)
    age = wording.age(max(0.0, now - version.at_us / 1e6))
    segments = [
        Segment(">" if cursor else " ", palette.plain),
        Segment(letter or " ", palette.held if held else palette.letter),
        Segment(" ", palette.plain),
        Segment(f"{when:<{_TIME}} ", palette.plain),
        Segment(f"{version.sign} ", _sign_style(version, palette)),
        Segment(_cell(shown_name(version.actor), actor_width) + " ", _actor_style(version, palette)),
        Segment(f"{age:>{_AGE}} ", palette.plain),
        *_last(version, max(0, width - _LEFT - actor_width + _ACTOR), palette),
    ]
    if cursor:
        segments = [Segment(segment.text, palette.cursor) for segment in segments]
    return Strip(segments).adjust_cell_length(width, palette.cursor if cursor else palette.plain)


def _last(version: PathVersion, room: int, palette: Palette) -> list[Segment]:
    """`+1 -1`, or what else became of it."""
    moved = what_moved(version)
    if moved:
        if room > 18:
            return [Segment(fit_middle(one_line(moved), room), palette.moved)]
        return [Segment(fit(moved.split(" ", 1)[0], room), palette.moved)]
    if version.sign == "-":
        return [Segment(fit("deleted", room) if room >= 7 else fit("gone", room), palette.removed)]
    event = version.event
    if event.added is None or event.removed is None:
        return []
    added, removed = f"+{lines_text(event.added)}", f"-{lines_text(event.removed)}"
    if len(added) + 1 + len(removed) > room:
        return [Segment(fit(added, room), palette.added)]
    return [Segment(added, palette.added), Segment(" ", palette.plain), Segment(removed, palette.removed)]


def _cell(text: str, width: int) -> str:
    text = fit(one_line(text[:200]), width)
    return text + " " * (width - cell_len(text))


def _actor_style(version: PathVersion, palette: Palette) -> Style:
    match version.actor:
        case Person():
            return palette.you
        case Outside():
            return palette.outside
        case Agent():
            return palette.agent
        case _:
            return palette.plain


def _sign_style(version: PathVersion, palette: Palette) -> Style:
    match version.sign:
        case "+":
            return palette.added
        case "-":
            return palette.removed
        case "~":
            return palette.changed
        case _:
            return palette.moved
