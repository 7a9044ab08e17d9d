"""An app with one transcript, and the events of turns."""

import time
from collections.abc import Callable, Iterator

from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from memtui.agents.chat.events import (
    CallEnded,
    ChatEvent,
    MemoryChange,
    Prompt,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
    Usage,
)
from memtui.ui.terminal import TerminalSanitizer
from memtui.ui.widgets.transcript.view import TranscriptView


class TranscriptApp(App[None]):
    """One transcript that fills the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.messages: list[Message] = []
        self._filters.append(TerminalSanitizer())

    def compose(self) -> ComposeResult:
        yield TranscriptView(clock=lambda: self.now)

    def on_mount(self) -> None:
        self.query_one(TranscriptView).focus()

    def on_transcript_view_cursor_moved(self, message: TranscriptView.CursorMoved) -> None:
        self.messages.append(message)

    def on_transcript_view_call_selected(self, message: TranscriptView.CallSelected) -> None:
        self.messages.append(message)

    def on_transcript_view_copy_requested(self, message: TranscriptView.CopyRequested) -> None:
        self.messages.append(message)

    @property
    def place(self) -> str:
        """The text for the border."""
        moves = [each for each in self.messages if isinstance(each, TranscriptView.CursorMoved)]
        return moves[-1].text if moves else ""


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for a condition, for a bounded time."""
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        await pilot.pause()
    assert condition()


def screen(view: TranscriptView) -> list[str]:
    """The rows of the view."""
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


async def show(pilot: Pilot[None], view: TranscriptView, *events: ChatEvent) -> None:
    """Add events, and wait until the last one is laid out."""
    for event in events:
        view.add_event(event)
    view.get_selected_item()  # lays out
    await pilot.pause()


async def wheel(pilot: Pilot[None], view: TranscriptView, way: type[events.MouseEvent]) -> None:
    """Turn the wheel by one step of two rows."""
    view.post_message(way(view, 5, 5, 0, 0, 0, False, False, False))
    await pilot.pause()


CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\n"}


def call(turn: int, name: str) -> CallEnded:
    return CallEnded(turn, name, "memory", CREATE, "File created", False)


def turns(first: int, last: int, rows: int = 3, mark: str = "") -> Iterator[ChatEvent]:
    for turn in range(first, last + 1):
        yield TurnStarted(turn, Prompt(f"question {turn}"))
        yield ThinkingDelta(turn, "thought " * 30)
        yield call(turn, f"call {turn}")
        yield TextDelta(turn, 0, "".join(f"{mark}answer {turn} paragraph {row}\n\n" for row in range(rows)))
        yield TurnEnded(turn, TurnOutcome.DONE, 1, 1, 0, (MemoryChange("a.md", "created", added=2),), Usage())
