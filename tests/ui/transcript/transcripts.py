"""An app with one transcript, and the events of turns."""

from collections.abc import Iterator

from textual.events import MouseEvent
from textual.pilot import Pilot

from memtui.agents.chat import events
from memtui.ui.widgets.transcript.view import TranscriptView
from tests.ui.conftest import WidgetApp


class TranscriptApp(WidgetApp):
    """One transcript that fills the screen."""

    KEPT = (TranscriptView.CursorMoved, TranscriptView.CallSelected, TranscriptView.CopyRequested)

    def __init__(self) -> None:
        super().__init__(TranscriptView(clock=lambda: self.now))
        self.now = 0.0

    @property
    def place(self) -> str:
        """The text for the border."""
        moves = self.get_messages(TranscriptView.CursorMoved)
        return moves[-1].text if moves else ""


def screen(view: TranscriptView) -> list[str]:
    """The rows of the view."""
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


async def show(pilot: Pilot[None], view: TranscriptView, *steps: events.ChatEvent) -> None:
    """Add events, and wait until the last one is laid out."""
    for event in steps:
        view.add_event(event)
    view.get_selected_item()  # lays out
    await pilot.pause()


async def wheel(pilot: Pilot[None], view: TranscriptView, way: type[MouseEvent]) -> None:
    """Turn the wheel by one step of two rows."""
    view.post_message(way(view, 5, 5, 0, 0, 0, False, False, False))
    await pilot.pause()


CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\n"}


def call(turn: int, name: str) -> events.CallEnded:
    return events.CallEnded(turn, name, "memory", CREATE, "File created", False)


def turns(first: int, last: int, rows: int = 3, mark: str = "") -> Iterator[events.ChatEvent]:
    for turn in range(first, last + 1):
        yield events.TurnStarted(turn, events.Prompt(f"question {turn}"))
        yield events.ThinkingDelta(turn, "thought " * 30)
        yield call(turn, f"call {turn}")
        yield events.TextDelta(turn, 0, "".join(f"{mark}answer {turn} paragraph {row}\n\n" for row in range(rows)))
        yield events.TurnEnded(
            turn, events.TurnOutcome.DONE, 1, 1, 0, (events.MemoryChange("a.md", "created", added=2),), events.Usage()
        )
