"""The last change of a note, beside the note; the layout of whole diffs is not loaded for it."""

from datetime import datetime

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.core.events import Event, LastChange, format_actor_name
from memtui.core.unicode import visible
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

    def render(self) -> RenderResult:
        change, width, height = self.change, self.content_size.width, self.content_size.height
        if change is None:
            return Content.styled("Not changed since memtui first looked.", "$text-secondary")
        lines = [Content.styled(truncate(_format_head(change.event, width), width), "bold")]
        diff = [line for line in change.diff[:_SHOWN] if not line.startswith("@@")] or list(change.diff[:_SHOWN])
        room = max(height - 1, 1)
        for line in diff[: room if len(diff) <= room else room - 1]:
            shown = truncate(f"{line[:1]} {visible(line[1:], newline=' ', tab=TAB)}", width)
            lines.append(Content.styled(shown, _STYLES.get(line[:1], "")))
        if len(diff) > room:
            lines.append(Content.styled(f"  and {len(change.diff) - room + 1} more lines", "$text-secondary"))
        return Content("\n").join(lines)


def _format_head(event: Event, width: int) -> str:
    """What, who and when, as fully as there is room for: the call goes first, then the seconds, then who."""
    at = datetime.fromtimestamp(event.at_us / 1e6)
    name = format_actor_name(event.actor)
    heads = [
        f"{event.command} by {name}, {at:%H:%M:%S}, call {event.call_id}",
        f"{event.command} by {name}, {at:%H:%M:%S}",
        f"{event.command} by {name}, {at:%H:%M}",
        f"{event.command}, {at:%H:%M}",
    ]
    shown = [visible(head, newline=" ") for head in (heads if event.call_id else heads[1:])]
    return next((head for head in shown if cell_len(head) <= width), shown[-1])
