"""The words in the edges of the panes."""

import time

from textual.content import Content
from textual.widget import Widget

from memtui.core.actors import shown_name
from memtui.core.changes import LastChange
from memtui.ui import wording
from memtui.ui.activity.view import Counters
from memtui.ui.files.outline import Outline, Sort


class Titles:
    """What stands in the edges now."""

    def __init__(self) -> None:
        self._shown: dict[str | None, tuple[str, str]] = {}

    def put(self, pane: Widget, title: str, subtitle: str = "") -> None:
        """Put words into the edges of a pane, if they are others than before: each time costs a repaint."""
        if self._shown.get(pane.id) != (title, subtitle):
            self._shown[pane.id] = (title, subtitle)
            pane.border_title = Content(title)
            pane.border_subtitle = Content(subtitle)


def of_files(title: str, outline: Outline, unseen: int = 0, picked: int = 0) -> str:
    """How the files are sorted, unless by name, and how many of them are marked or new."""
    sort = "" if outline.sort is Sort.NAME and not outline.reverse else f"  by {outline.sort.value}"
    return f"{title}{sort}" + (f"  marked {picked:,}" if picked else "") + (f"  new {unseen}" if unseen else "")


def of_activity(title: str, counters: Counters) -> str:
    """How many events there were, by kind."""
    words = [f"{title}  all {counters.all:,}", f"writes {counters.writes:,}"]
    words += [f"refused {counters.refused:,}"] if counters.refused else []
    words += [f"outside {counters.outside:,}"] if counters.outside else []
    return "  ".join(words)


def last_changed(change: LastChange | None) -> str:
    """Who changed a note last, and how long ago; empty if nobody did."""
    if change is None:
        return ""
    seconds = time.time() - change.event.at_us / 1e6
    return f"{shown_name(change.event.actor)} {wording.age(seconds)} ago"
