"""A conversation in a terminal of its own, for `chatting`: a day of it, and an answer that streams in.

`python chatted.py FD WIDGET` writes tokens into a widget and reports when the first was due, on the monotonic clock,
and the processor seconds that it took. `python chatted.py FD day` takes a day of chat, goes over it, and reports the
kilobytes of memory before and after, the characters of text that were taken, and the seconds of frames.
"""

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import Log, Markdown

from memtui.agents.chat import events
from memtui.core.events import Agent, Event
from memtui.ui.garbage import GarbageSchedule
from memtui.ui.widgets.transcript.view import TranscriptView
from tests.bench.streaming import RATE, TOKENS, token

EVENTS = 10_000
"""A long day."""
PER_TURN = 10
EARLIER = 100
"""Turns that stand above the answer that streams in."""
FRAMES = 300
"""Pages that are gone over in the day."""


def turn(number: int) -> Iterator[events.ChatEvent]:
    """One turn, of `PER_TURN` events: a view of 2 KB, a write of 1 KB, an answer of 1.5 KB."""
    yield events.TurnStarted(
        number, events.Prompt(f"Question {number}: keep it shorter please, and remember that I moved to Lisbon.")
    )
    yield events.ThinkingDelta(number, f"Turn {number}. " + "The person wants shorter answers and has moved. " * 10)
    yield events.TextDelta(number, 0, f"I look at what I know of you first ({number}).\n")
    yield from _call(number, "view", {"path": "/memories/prefs.md"}, f"{number}\t- a line of the file\n" * 80)
    written = {"path": f"/memories/notes/{number}.md", "file_text": f"- what was said in turn {number}\n" * 32}
    yield from _call(number, "create", written, f"File created successfully at: /memories/notes/{number}.md")
    prose = f"Noted in **turn {number}**: a paragraph with `code` that wraps over some rows of the view. " * 5
    code = f"```python\nturn = {number}\nprint(turn)\n```"
    yield events.TextDelta(number, 1, f"{prose}\n\n- one\n- two\n\n{code}\n\n{prose}\n")
    yield events.TextDelta(number, 1, prose)
    remembered = (events.MemoryChange(f"notes/{number}.md", "created", added=32),)
    yield events.TurnEnded(number, events.TurnOutcome.DONE, 1.9, 2, 0, remembered, events.Usage())


def _call(number: int, command: str, fields: dict[str, object], text: str) -> Iterator[events.ChatEvent]:
    call_id, whole = f"toolu_{number}_{command}", {"command": command, **fields}
    event = Event(at_us=0, actor=Agent("Claude"), command=command, path=str(fields["path"]), added=32, removed=0)
    yield events.CallStarted(number, call_id, "memory", whole)
    yield events.CallEnded(number, call_id, "memory", whole, text, False, event)


class ChattedApp(App[None]):
    """One widget, which a conversation goes into."""

    def __init__(self, fd: int, what: str) -> None:
        super().__init__()
        self._fd = fd
        self._what = what
        self._writing: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """Ours or a stock widget."""
        match self._what:
            case "Markdown":
                yield Markdown(id="it")
            case "Log":
                yield Log(id="it")
            case _:
                yield TranscriptView(id="it")

    def on_mount(self) -> None:
        """Begin."""
        self._writing = asyncio.create_task(self._day() if self._what == "day" else self._stream())

    def _report(self, *values: float) -> None:
        os.write(self._fd, (" ".join(map(str, values)) + "\n").encode())

    async def _stream(self) -> None:
        it = self.query_one("#it")
        if isinstance(it, TranscriptView):
            GarbageSchedule(self).start()  # as memtui does: else all earlier turns are looked through again and again
        stream = Markdown.get_stream(it) if isinstance(it, Markdown) else None
        if stream is not None:
            self.screen.anchor()
        if isinstance(it, TranscriptView):
            for number in range(1, EARLIER + 1):
                for event in turn(number):
                    it.add_event(event)
        await asyncio.sleep(0.5)
        used, start = time.process_time(), time.monotonic()
        for number in range(TOKENS):
            await asyncio.sleep(max(start + number / RATE - time.monotonic(), 0))
            if stream is not None:
                await stream.write(token(number))
            elif isinstance(it, Log):
                it.write(token(number))
            elif isinstance(it, TranscriptView):
                it.add_event(events.TextDelta(EARLIER + 1, 0, token(number)))
        if stream is not None:
            await stream.stop()
        await asyncio.sleep(0.2)  # the last frame
        self._report(start, time.process_time() - used)

    async def _day(self) -> None:
        view = self.query_one(TranscriptView)
        for event in turn(1):  # what is loaded with the first turn is no matter of the day's length
            view.add_event(event)
        await asyncio.sleep(0.5)
        before, characters = _memory(), 0
        began = time.process_time()
        for number in range(2, EVENTS // PER_TURN + 1):
            for event in turn(number):
                view.add_event(event)
                characters += _characters(event)
            await asyncio.sleep(0)
        view.action_bottom()
        taken = time.process_time() - began
        frames = []
        for page in range(FRAMES):
            view.scroll_to(y=view.max_scroll_y * (FRAMES - page) // FRAMES, animate=False)
            began = time.process_time()
            view.action_pages(-1)
            for y in range(view.size.height):
                view.render_line(y)
            frames.append(time.process_time() - began)
            await asyncio.sleep(0)
        frames.sort()
        self._report(before, _memory(), characters, taken, frames[len(frames) // 2], frames[len(frames) * 99 // 100])


def _characters(event: events.ChatEvent) -> int:
    match event:
        case events.TurnStarted(prompt=prompt):
            return len(prompt.text)
        case events.TextDelta(text=text) | events.ThinkingDelta(text=text):
            return len(text)
        case events.CallEnded(fields=fields, text=text):
            return len(text) + sum(len(str(value)) for value in fields.values())
    return 0


def _memory() -> float:
    """Kilobytes of memory that the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


if __name__ == "__main__":
    ChattedApp(int(sys.argv[1]), sys.argv[2]).run()
