"""The last change of a note, beside the note; the layout of whole diffs is not loaded for it."""

from datetime import datetime

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.core.events import Event, LastChange
from memtui.core.unicode import visible
from memtui.core.wording import split_event
from memtui.ui.theme import TAB, truncate

_STYLES = {"+": "$text-success", "-": "$text-error", "@": "$text-secondary"}
_SHOWN = 200
"""Lines of a diff that are laid out; the pane shows fewer."""


class ChangeView(Widget):
    """The last change of the note in the preview."""

    DEFAULT_CSS = """
    ChangeView { padding: 0 1; }
    """

    change: reactive[LastChange | None] = reactive(None)
    links: reactive[str] = reactive("")
    """Which links it added and removed, as sentences, where that is known."""

    def watch_change(self, change: LastChange | None) -> None:
        """Say in a class whether there is one: as one of the screen it would have everything on it styled anew."""
        self.set_class(change is not None and not _is_whole(change), "-changed")

    def render(self) -> RenderResult:
        change, width, height = self.change, self.content_size.width, self.content_size.height
        if change is None:
            return Content.styled("Not changed since memtui first saw it.", "$text-secondary")
        lines = [Content.styled(truncate(_format_head(change.event, width), width), "bold")]
        if self.links:
            lines.append(Content.styled(truncate(self.links, width), "$text-accent"))
        diff = [line for line in change.diff[:_SHOWN] if not line.startswith("@@")] or list(change.diff[:_SHOWN])
        room = max(height - len(lines), 1)
        for line in diff[: room if len(diff) <= room else room - 1]:
            shown = truncate(f"{line[:1]} {visible(line[1:], newline=' ', tab=TAB)}", width)
            lines.append(Content.styled(shown, _STYLES.get(line[:1], "")))
        if len(diff) > room:
            lines.append(Content.styled(f"  and {len(change.diff) - room + 1} more lines", "$text-secondary"))
        return Content("\n").join(lines)


def _is_whole(change: LastChange) -> bool:
    """Whether the change is all of the note, which is shown beside it."""
    return not any(line[:1] in (" ", "-") for line in change.diff if line != "--- ")


def _format_head(event: Event, width: int) -> str:
    """Who, what and when, as fully as there is room for: the seconds go first, then who."""
    at, phrase = datetime.fromtimestamp(event.at_us / 1e6), split_event(event)
    done = phrase.verb.strip()
    heads = [f"{phrase.actor} {done} it at {at:%H:%M:%S}", f"{phrase.actor} {done} it at {at:%H:%M}", f"{at:%H:%M}"]
    shown = [visible(head, newline=" ").strip() for head in heads]
    return next((head for head in shown if cell_len(head) <= width), shown[-1])
