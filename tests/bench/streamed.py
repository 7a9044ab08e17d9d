"""A note that a model writes while one looks on: 500 tokens a second into a widget.

Started by `streaming`, in a terminal of its own: `python streamed.py FD WIDGET`. At the end it writes when the first
token was due, on the monotonic clock, and the processor seconds that it took.
"""

import asyncio
import os
import sys
import time

from textual.app import App, ComposeResult
from textual.widgets import Markdown

from memtui.ui.widgets.markdown.view import NoteView
from tests.bench.streaming import RATE, TOKENS, token


class StreamedNoteView(NoteView):
    """A note that grows at its end, at most once a frame."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._pending: list[str] = []

    def append(self, fragment: str) -> None:
        """Add text at the end of the next frame."""
        if not self._pending:
            self.set_timer(1 / 30, self._flush)
        self._pending.append(fragment)

    def _flush(self) -> None:
        follows = self.scroll_offset.y >= self.max_scroll_y
        self.document.append("".join(self._pending))
        self._pending.clear()
        self._stabilize_view()
        if follows:
            self.action_bottom()
        self._redraw()


class StreamedApp(App[None]):
    """One widget, which a model writes into."""

    def __init__(self, fd: int, widget: str) -> None:
        super().__init__()
        self._fd = fd
        self._widget = widget
        self._writing: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """Ours or the stock widget."""
        yield StreamedNoteView(id="note") if self._widget == "NoteView" else Markdown(id="note")

    def on_mount(self) -> None:
        """Begin to write."""
        note = self.query_one("#note")
        if isinstance(note, StreamedNoteView):
            note.show("")
        note.styles.height = "1fr" if isinstance(note, StreamedNoteView) else "auto"
        self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        await asyncio.sleep(0.5)
        note = self.query_one("#note")
        stream = Markdown.get_stream(note) if isinstance(note, Markdown) else None
        used, start = time.process_time(), time.monotonic()
        if stream is not None:
            self.screen.anchor()
        for number in range(TOKENS):
            wait = start + number / RATE - time.monotonic()
            await asyncio.sleep(max(wait, 0))
            if stream is not None:
                await stream.write(token(number))
            elif isinstance(note, StreamedNoteView):
                note.append(token(number))
        if stream is not None:
            await stream.stop()
        await asyncio.sleep(0.2)  # the last frame
        report = f"{start} {time.process_time() - used}\n"
        os.write(self._fd, report.encode())


if __name__ == "__main__":
    StreamedApp(int(sys.argv[1]), sys.argv[2]).run()
