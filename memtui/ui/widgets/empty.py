"""The view of an empty folder, and the line of a position in the record."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual import work
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.worker import get_current_worker

from memtui.core import wording
from memtui.core.events import Event
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line
from memtui.ui.key_names import label_key
from memtui.ui.theme import to_content, truncate, truncate_apart, truncate_middle

if TYPE_CHECKING:
    from memtui.places.folders import MemoryLocation


_KEY_WIDTH = 5
_NAME_WIDTH = 20
"""Least cells of a project's or a folder's name."""
_OWNER_WIDTH = 20
_KEYS = 9
"""Folders that a number opens."""


class EmptyFolderView(Widget):
    """Stands in place of the panes of an empty folder."""

    places: reactive["Sequence[MemoryLocation]"] = reactive(())
    """Other folders that were found on this machine."""
    gone: reactive[int] = reactive(0)
    """The number of memories that were deleted."""

    @work(thread=True, exclusive=True, group="deleted", exit_on_error=False)
    def count_deleted(self, count: Callable[[], int]) -> None:
        """Show the number of deleted memories; events that come later need it again."""
        worker = get_current_worker()
        gone = count()

        def show() -> None:
            if not worker.is_cancelled:  # else a later count is on its way, or there already
                self.gone = gone

        self.app.call_from_thread(show)

    @work(thread=True, exclusive=True, group="places", exit_on_error=False)
    def find_folders(self, shown: str) -> None:
        """Show the other folders of this machine, besides the one that is shown."""
        from memtui.places.folders import find_memory_folders  # noqa: PLC0415 - start-up: for an empty folder only

        if self.app.is_web:  # a page shows one folder, and does not learn of others
            return
        places = [place for place in find_memory_folders() if place.path != shown]
        self.app.call_from_thread(setattr, self, "places", places)

    def render(self) -> RenderResult:
        lines = [
            Content.styled(f"This folder has no notes{'' if self.gone else ' yet'}.", "bold"),
            Content(""),
            Content("An agent writes notes here through its memory tool."),
            Content("New notes appear here as they are written."),
            Content(""),
        ]
        keys = {
            "file.new": "add a note yourself",
            "browse.chat": "chat with Claude",
            "app.places": "open another folder",
            "app.commands": "all commands",
        }
        if self.app.is_web:
            keys = {"app.commands": keys["app.commands"]}
        if self.gone:
            deleted = f"list and restore {wording.format_count(self.gone, 'deleted note')}"
            keys = {"browse.deleted": deleted, "browse.past": "the folder at an earlier time"} | keys
        for name, words in keys.items():
            lines.append(Content.assemble((f"  {label_key(name):<7}", "bold $text-accent"), words))
        lines.append(Content(""))
        if self.places:
            rows = format_folder_rows(self.places[:_KEYS], self.content_size.width)
            lines += [Content("Also found on this machine:"), *rows, Content("")]
        if not self.gone:
            lines.append(Content("Nothing was created or changed on disk."))
        return Content("\n").join(lines)


def format_folder_rows(places: "Sequence[MemoryLocation]", width: int) -> list[Content]:
    """Each folder on one line: its number key (up to 9), its project or else its path, its owner, and its age.

    No two of them are cut to the same words.
    """
    tails = [_describe_folder(place) for place in places]
    gone = ["  (missing)" if place.project_exists is False else "" for place in places]
    names = [to_one_line(format_path(each.project)) if each.project else each.display_path for each in places]
    room = max(width - _KEY_WIDTH - 2 - max(map(cell_len, tails), default=0), _NAME_WIDTH)
    short = truncate_apart(names, room - max(map(cell_len, gone), default=0))
    texts = [name + words for name, words in zip(short, gone, strict=True)]
    column = max(map(cell_len, texts), default=0)
    return [
        Content.assemble(
            (f"  {number if number <= _KEYS else ' '}  ", "bold $text-accent"),
            to_content(text + " " * (column - cell_len(text))),
            "  ",
            to_content(tail),
        )
        for number, (text, tail) in enumerate(zip(texts, tails, strict=True), start=1)
    ]


def _describe_folder(place: "MemoryLocation") -> str:
    """`Claude Code: 12 files, 3h ago, 2 unseen`."""
    from memtui.places.folders import MemoryOwner, format_owner  # noqa: PLC0415 - start-up: few folders are empty

    files = f"{place.files:,}{'' if place.is_counted else '+'} {'file' if place.files == 1 else 'files'}"
    files = files if place.files or place.is_counted else "does not answer"
    when = f", {wording.format_age(time.time() - place.changed_ns / 1e9)} ago" if place.changed_ns else ""
    owner = f"{truncate_middle(format_owner(place), _OWNER_WIDTH)}: " if place.owner is not MemoryOwner.HERE else ""
    unseen = f", {wording.format_short_count(place.unseen)} unseen" if place.unseen else ""
    return owner + (files if place.files or not place.is_counted else "empty") + when + unseen


class TimelinePosition(NamedTuple):
    """A position in the record."""

    at: int
    """The number of the last event; 0 is before the first one."""
    event: Event | None
    """The last event."""


class Timeline(Widget):
    """The last event of a past state: in words, and on a line from the first event to the newest."""

    DEFAULT_CSS = """
    Timeline { height: 2; padding: 0 1; background: $panel; color: $foreground; }
    """

    current: reactive[TimelinePosition] = reactive(TimelinePosition(0, None))
    last: reactive[int] = reactive(0)
    """The number of the newest event."""

    def render(self) -> RenderResult:
        """`#41 of 260  Claude changed user_preferences.md (+1 -1)  10:14:02`, and the line below."""
        if not self.last:
            return Content("")  # the state is still being read
        at, event = self.current
        width = self.content_size.width
        number = f"#{at:,} of {self.last:,}"
        when = wording.format_event_time(event, time.time_ns() // 1_000) if event else ""
        words = "Before the first event"
        if event is not None:
            words = to_one_line(wording.describe_event(event) if event.is_error else wording.format_event_clause(event))
        room = width - len(number) - len(when) - 4
        words = truncate(words, max(room, 0))
        gap = " " * max(room - cell_len(words), 0)
        before = min(width - 1, (width - 1) * at // max(self.last, 1))
        rest = ("─" * (width - 1 - before), "$foreground 40%")
        head = Content.assemble((number, "bold $text-warning"), "  ", (words, "bold"), gap, "  ", when)
        return Content("\n").join(
            [head, Content.assemble(("━" * before, "$warning"), ("┃", "bold $text-warning"), rest)]
        )
