"""Anything, in any order, at any size: what always holds of the conversation on screen."""

import random
from collections.abc import Iterator

import pytest

from memtui.agents.chat import events
from memtui.ui.widgets.transcript.view import TranscriptView
from tests.ui.transcript.transcripts import CREATE, TranscriptApp, screen

KEYS = (
    *("j", "k", "g", "G", "y", "enter", "space", "pageup", "pagedown", "ctrl+d", "ctrl+u"),
    *("left_square_bracket", "right_square_bracket", "ctrl+o", "up", "down"),
)
TEXTS = ("# h\n\n", "- a\n", "word " * 50, "```\ncode\n", "\n\n", "|a|b|\n|-|-|\n|1|2|\n")
SIZES = [(20, 4), (30, 10), (46, 14), (60, 40), (100, 10), (140, 14)]


def anything(chance: random.Random) -> Iterator[events.ChatEvent]:
    """Events without an end, as no model would send them."""
    turn = 1
    yield events.TurnStarted(turn, events.Prompt("first"))
    while True:
        call = f"c{chance.randrange(9)}"
        match chance.randrange(12):
            case 0 | 1:
                turn += 1
                yield events.TurnStarted(turn, events.Prompt("question " * chance.randrange(1, 300)))
            case 2 | 3 | 4:
                yield events.TextDelta(turn, chance.randrange(2), chance.choice(TEXTS))
            case 5:
                yield events.ThinkingDelta(turn, "thought " * chance.randrange(60))
            case 6:
                yield events.CallDelta(turn, call, "memory", {**CREATE, "file_text": "x\n" * chance.randrange(30)})
            case 7:
                yield events.CallEnded(turn, call, "memory", CREATE, "a\n" * chance.randrange(9), chance.random() < 0.3)
            case 8:
                yield events.RetryScheduled("busy", 3)
            case 9:
                remembered = tuple(
                    events.MemoryChange(f"{at}.md", "changed", added=at) for at in range(chance.randrange(4))
                )
                yield events.TurnEnded(
                    turn, chance.choice(list(events.TurnOutcome)), 1, 1, 0, remembered, events.Usage()
                )
            case 10:
                yield events.Notice("told " * chance.randrange(40))
            case 11 if chance.random() < 0.2:
                yield events.ConversationRewound(max(1, turn - chance.randrange(3)), None)


@pytest.mark.parametrize("seed", [8, 21])
async def test_the_cursor_is_in_view_and_the_end_is_followed_whatever_happens(seed: int) -> None:
    chance = random.Random(seed)
    app = TranscriptApp()
    async with app.run_test(size=(60, 14)) as pilot:
        view = app.query_one(TranscriptView)
        for number, event in enumerate(anything(chance)):
            if number == 80:
                break
            app.now += chance.random()
            view.add_event(event)
            if chance.random() < 0.1:
                await pilot.resize_terminal(*chance.choice(SIZES))
            if chance.random() < 0.5:
                await pilot.press(chance.choice(KEYS))
            if chance.random() < 0.2:
                view.scroll_to(y=chance.randrange(view.max_scroll_y + 1), animate=False)
            assert [item.index for item in view.items] == list(range(len(view.items)))
            lines = screen(view)
            if view.is_following:
                assert view.scroll_offset.y == view.max_scroll_y
            if view.items:
                cursors = [line for line in lines if line.startswith(">")]
                assert len(cursors) == 1, (number, event, lines)
