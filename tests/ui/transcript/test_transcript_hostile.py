"""Whatever the model, a file, a server or a paste holds: it is text on the screen, and nothing else."""

import unicodedata

import pytest
from rich.cells import cell_len
from textual.selection import Selection

from memtui.agents.chat import events
from memtui.core.events import Agent, Event
from memtui.ui.widgets.transcript.view import TranscriptView
from tests.bench.limits import at_most
from tests.ui.test_hostile_text import ALLOWED_HIDDEN, MARKDOWN, PAYLOADS
from tests.ui.transcript.transcripts import TranscriptApp

ACTOR = Agent("x")


def hostile_turn(payload: str) -> list[events.ChatEvent]:
    """A turn in which everything that comes from elsewhere is the payload."""
    event = Event(at_us=0, actor=ACTOR, command=payload, path=payload, new_path=payload, note=payload, answer=payload)
    refused = Event(at_us=0, actor=ACTOR, command="create", path=payload, is_error=True, answer=f"Error: {payload}")
    declined = Event(at_us=0, actor=ACTOR, command="create", path=payload, is_error=True, note="declined")
    write = {"command": "create", "path": payload, "file_text": f"{payload}\n{payload}"}
    replace = {"command": "str_replace", "path": payload, "old_str": f"a {payload}\nb", "new_str": f"a {payload}c\nb"}
    reason = f"Error: declined. Their reason: {payload}"
    return [
        events.TurnStarted(1, events.Prompt(payload, (events.Attachment(payload, payload, b""),))),
        events.ThinkingDelta(1, payload),
        events.TextDelta(1, 0, MARKDOWN.replace("{0}", payload)),
        events.CallEnded(1, "a", payload, {payload: payload}, payload, False, event),
        events.CallEnded(1, "b", "memory", write, f"{payload}\n{payload}", True, refused),
        events.CallEnded(1, "c", "memory", replace, reason, True, declined),
        events.CallEnded(1, "d", "memory", replace, payload, False, event),
        events.CallEnded(
            1, "e", "memory", {"command": "rename", "old_path": payload, "new_path": payload}, "", False, None
        ),
        events.CallStarted(1, "f", payload, {"command": payload, "path": payload}),
        events.CallDelta(1, payload, "memory", write),
        events.ContextCompacted(payload),
        events.ChatFault(events.FaultKind.BUG, payload),
        events.Notice(payload),
        events.RetryScheduled(payload, 3),
        events.TurnUndone(1, event, payload),
        events.TurnEnded(
            1,
            events.TurnOutcome.DONE,
            1,
            1,
            1,
            (events.MemoryChange(payload, payload, payload, 1, 1, edited=True),),
            events.Usage(),
        ),
    ]


@pytest.mark.sweep(each="width")
@pytest.mark.parametrize("width", [30, 100])
@pytest.mark.parametrize("name", list(PAYLOADS))
async def test_hostile_text_is_shown_as_text_and_drives_nothing(name: str, width: int) -> None:
    app = TranscriptApp()
    async with app.run_test(size=(width, 24)) as pilot:
        view = app.query_one(TranscriptView)
        for event in hostile_turn(PAYLOADS[name]):
            view.add_event(event)
        for item in view.items:
            view.toggle_item(item)
        view.action_top()
        await pilot.pause()
        seen = 0
        while True:
            for y in range(view.size.height):
                strip = view.render_line(y)
                assert strip.cell_length == cell_len(strip.text) == view._viewport.width
                for segment in strip:
                    seen += len(segment.text)
                    for character in segment.text:
                        category = unicodedata.category(character)
                        assert category not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co") or character in ALLOWED_HIDDEN, (
                            f"U+{ord(character):04X} in {segment.text!r}"
                        )
                    if segment.style is not None:
                        assert segment.style.link is None
                        assert set(segment.style.meta) <= {"offset"}
            if view.is_following:
                break
            view.action_pages(1)
        assert seen
        copied = view.get_selection(Selection(None, None))
        assert copied is not None
        assert not any(unicodedata.category(each) in ("Cc", "Cs") and each != "\n" for each in copied[0])


async def test_a_megabyte_in_every_place_keeps_nobody_waiting() -> None:
    app = TranscriptApp()
    big = "word " * 200_000
    async with app.run_test(size=(74, 24)) as pilot:
        with at_most(4):  # six seconds where one place is not bounded
            view = app.query_one(TranscriptView)
            for event in hostile_turn(big):
                view.add_event(event)
            for item in view.items:
                view.toggle_item(item)
            view.action_top()
            for _ in range(30):
                view.action_pages(1)
            view.action_bottom()
            await pilot.pause()
        assert all(view.render_line(y).cell_length == view._viewport.width for y in range(view.size.height))
