"""The conversation on screen, driven by events, keys and the mouse as a chat would drive it."""

import pytest
from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from memtui.agents.chat.events import (
    CallDelta,
    ConversationRewound,
    Notice,
    Prompt,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
    Usage,
)
from memtui.ui.widgets.transcript.items import CallItem, TranscriptItem, TranscriptModel
from memtui.ui.widgets.transcript.pieces import TranscriptFrame, TranscriptStack
from memtui.ui.widgets.transcript.rows import render_item
from memtui.ui.widgets.transcript.view import TranscriptView
from tests.bench.limits import at_most
from tests.ui.conftest import until
from tests.ui.transcript.transcripts import CREATE, TranscriptApp, call, screen, show, turns, wheel


async def test_what_is_taken_is_shown_with_names_beside_it() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TurnStarted(1, Prompt("Hello there")), TextDelta(1, 0, "**Hi**"), call(1, "a"))
        assert screen(view)[:5] == [
            " you     Hello there",
            "",
            " claude  Hi",
            "",
            ">      ▸ create a.md" + " " * 36 + "+2",
        ]
        await until(pilot, lambda: app.place == "end (following)")


async def test_what_is_taken_before_there_is_a_screen_is_shown_once_there_is_one() -> None:
    app = TranscriptApp()
    for event in turns(1, 20):
        app.view.add_event(event)
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await until(pilot, lambda: screen(view)[-1].endswith("+ a.md  +2"))
        assert view.scroll_offset.y == view.max_scroll_y > 100


async def test_the_end_is_followed_until_the_person_moves_up() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 5))
        assert view.is_following
        await pilot.press("k")
        assert not view.is_following
        await until(pilot, lambda: app.place.startswith("line "))
        before = screen(view)
        await show(pilot, view, *turns(6, 9))
        assert screen(view)[:10] == before[:10]
        await pilot.press("G")
        assert view.is_following
        assert "question 9" not in before[0]
        assert screen(view)[-1].startswith(">")
        await until(pilot, lambda: app.place == "end (following)")
        await pilot.press("k", "j")
        assert view.is_following


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        (["g"], 0), (["home", "j"], 1), (["g", "down", "down", "up"], 1), (["g", "pagedown"], 11),
        (["g", "pagedown", "pageup"], 0), (["g", "ctrl+d"], 6), (["g", "ctrl+d", "ctrl+u"], 0),
    ],
)  # fmt: skip
async def test_keys_move_the_cursor(keys: list[str], row: int) -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 9))
        await pilot.press(*keys)
        assert view.position[0] == row + 1
        assert screen(view)[row - view.scroll_offset.y].startswith(">")


async def test_moving_up_a_row_at_a_time_shows_every_row_there_is() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 12, rows=6, mark="# "))  # higher than guessed
        while view.position[0] > 1:
            before = [line[1:] for line in screen(view)]
            view.action_rows(-1)
            after = [line[1:] for line in screen(view)]
            assert after == before or after[1:] == before[:-1]
        assert view.scroll_offset.y == 0
        assert screen(view)[0] == ">you     question 1"
        down = [screen(view)[0][1:]]
        while not view.is_following:
            view.action_rows(1)
            down.append(screen(view)[view.position[0] - 1 - view.scroll_offset.y][1:])
        texts = [line for line in down if "answer" in line]
        assert texts == [
            (" claude  " if row == 0 else " " * 9)[1:] + f"answer {turn} paragraph {row}"
            for turn in range(1, 13)
            for row in range(6)
        ]


async def test_scrolling_up_with_the_wheel_holds_what_is_seen_and_takes_the_cursor_along() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 4, rows=9), *turns(5, 8, rows=9, mark="# "))
        for _ in range(40):
            before = [line[1:] for line in screen(view)]
            await wheel(pilot, view, events.MouseScrollUp)
            assert [line[1:] for line in screen(view)][2:] == before[:-2]
            assert sum(line.startswith(">") for line in screen(view)) == 1
        assert not view.is_following
        while not view.is_following:
            before = [line[1:] for line in screen(view)]
            await wheel(pilot, view, events.MouseScrollDown)
            assert screen(view)[0][1:] in before[1:3]
        assert screen(view)[-1].startswith(">")


async def test_brackets_go_from_message_to_message() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 9))
        await pilot.press("left_square_bracket")
        assert screen(view)[view.position[0] - 1 - view.scroll_offset.y].startswith(">claude  answer 9")
        await pilot.press("left_square_bracket")
        assert screen(view)[0] == ">you     question 9"
        await pilot.press("left_square_bracket", "left_square_bracket", "right_square_bracket")
        assert screen(view)[0].startswith(">claude  answer 8")
        await pilot.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        assert view.is_following


async def test_enter_unfolds_and_folds_a_card_and_says_which_it_was() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TurnStarted(1, Prompt("x")), call(1, "a"), call(1, "b"))
        await pilot.press("k", "enter")
        assert [line[1:].strip() for line in screen(view)[2:7]] == [
            "▾ create a.md" + " " * 36 + "+2", "+ one", "+ two", "sent to claude: File created", "",
        ]  # fmt: skip
        await until(pilot, lambda: app.get_messages(TranscriptView.CallSelected))
        assert [each.call_id for each in app.get_messages(TranscriptView.CallSelected)] == ["a"]
        await pilot.press("space")
        assert screen(view)[3].strip().startswith("▸ create")


async def test_an_unfolded_card_at_the_end_comes_into_view() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 5), TurnStarted(6, Prompt("x")), call(6, "a"))
        await pilot.press("enter")
        assert screen(view)[-1].strip() == "sent to claude: File created"
        assert not view.is_following


async def test_a_click_unfolds_what_it_hits_and_only_that() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TurnStarted(1, Prompt("x")), call(1, "a"), call(1, "b"))
        await pilot.click(TranscriptView, offset=(12, 3))
        assert [item.is_open for item in view.items] == [False, False, True]
        await pilot.click(TranscriptView, offset=(12, 5))
        assert [item.is_open for item in view.items] == [False, False, True]
        assert view.position[0] == 6


async def test_all_cards_are_unfolded_and_folded_with_what_is_read_held_still() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 30))
        await pilot.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        top = screen(view)[0]
        assert "answer 29" in top
        await pilot.press("ctrl+o")
        assert screen(view)[0] == top
        assert all(item.is_open for item in view.items if isinstance(item, CallItem))
        await show(pilot, view, call(31, "later"))
        assert view.items[-1].is_open
        await pilot.press("ctrl+o")
        assert screen(view)[0] == top
        assert not any(item.is_open for item in view.items)


async def test_y_wants_the_block_under_the_cursor_copied() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.query_one(TranscriptView)
        text = "Look:\n\n```python\nx = 1\ny = 2\n```\n\nThat is it."
        await show(pilot, view, TurnStarted(1, Prompt("x\n\ny")), TextDelta(1, 0, text))
        await pilot.press("y", "k", "k", "y", "g", "y")
        await until(pilot, lambda: len(app.get_messages(TranscriptView.CopyRequested)) == 3)
        copied = [each.text for each in app.get_messages(TranscriptView.CopyRequested)]
        assert copied == ["That is it.", "x = 1\ny = 2\n", "x\n\ny"]


async def test_the_first_line_in_view_stays_when_the_terminal_gets_another_size() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(100, 12)) as pilot:
        view = app.query_one(TranscriptView)
        long = "".join(f"paragraph {number} " + "of words that wrap " * 12 + "\n\n" for number in range(40))
        await show(pilot, view, *turns(1, 20), TextDelta(21, 0, long), *turns(22, 40))
        view.show_item(view.items[100])
        view.action_rows(60)
        view.action_rows(-4)
        view.scroll_to(y=view._stack.get_top(100) + 30, animate=False)
        first = next(line.split(" of")[0].split()[-1] for line in screen(view) if "paragraph" in line)
        for width in (50, 30, 140, 100):
            await pilot.resize_terminal(width, 12)
            await until(pilot, lambda width=width: view.size.width == width)
            await pilot.pause()
            assert any(f"paragraph {first}" in line or f"paragraph {int(first) - 1}" in line for line in screen(view))
            assert not view.is_following
        await pilot.press("G")
        await pilot.resize_terminal(50, 20)
        await until(pilot, lambda: view.size.width == 50 and view.scroll_offset.y == view.max_scroll_y)
        assert view.is_following
        assert screen(view)[-1].endswith("+2")


async def test_text_streams_in_and_only_frames_are_drawn() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TurnStarted(1, Prompt("x")))
        flushed: list[float] = []
        flush = view._flush
        view._flush = lambda: (flushed.append(0), flush())[1]  # type: ignore[method-assign]
        text = "".join(f"word{number} " + ("\n\n" if number % 30 == 0 else "") for number in range(2_000))
        for start in range(0, len(text), 5):
            view.add_event(TextDelta(1, 0, text[start : start + 5]))
        await until(pilot, lambda: "word1999" in screen(view)[-1])
        assert len(flushed) < 200
        assert view.is_following


async def test_streamed_text_looks_as_if_it_had_come_at_once() -> None:
    text = "# Title\n\nSome **bold\ntext** and `code`.\n\n- a\n- b\n  - c\n\n```python\nx = 1\n\n# no heading\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[l]: http://x\n\nEnd [l].\n"  # noqa: E501 - one text
    app = TranscriptApp()
    async with app.run_test(size=(60, 40)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TextDelta(1, 0, text))
        whole = screen(view)
        view.clear()
        for character in text:
            view.add_event(TextDelta(1, 0, character))
            view.get_selected_item()
        assert screen(view) == whole


async def test_the_seconds_of_waiting_and_thinking_are_counted() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TurnStarted(1, Prompt("x")), RetryScheduled("Busy.", 8))
        assert screen(view)[2].endswith("! Busy. in 8 s")
        app.now = 5
        view._handle_tick()
        assert screen(view)[2].endswith("! Busy. in 3 s")
        await show(pilot, view, ThinkingDelta(1, "so it is"))
        app.now = 9
        view._handle_tick()
        assert screen(view)[2].strip().endswith("▸ thinking for 4 s, 3 words")
        assert view._tick_timer is not None
        await show(pilot, view, TextDelta(1, 0, "done"))
        assert screen(view)[2].endswith("thought for 4 s, 3 words")
        assert view._tick_timer is None


async def test_a_card_grows_while_the_text_comes_and_folds_when_it_is_done() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        for size in range(1, 8):
            await show(pilot, view, CallDelta(1, "a", "memory", {**CREATE, "file_text": "one\ntwo\n"[:size]}))
        assert [line.strip("> ") for line in screen(view)[1:3]] == ["+ one", "+ two"]
        await show(pilot, view, call(1, "a"))
        assert view.position == (1, 1)


async def test_rewinding_takes_rows_away_and_keeps_following() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 2))
        before = screen(view), view.position
        await show(pilot, view, *turns(3, 3), ConversationRewound(3, Prompt("question 3")))
        assert view.position == before[1]
        await pilot.press("g", "j")
        await show(pilot, view, ConversationRewound(1, None))
        assert view.position == (0, 0)
        assert view.is_following
        assert view.get_selected_block() == ""
        await pilot.press("j", "k", "enter", "y", "left_square_bracket", "ctrl+o", "g", "G")
        await show(pilot, view, Notice("still here"))
        assert screen(view)[0].endswith("still here")


async def test_clearing_begins_anew() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 9))
        view.clear()
        await pilot.pause()
        assert set(screen(view)) == {""}
        await show(pilot, view, TextDelta(1, 0, "new"))
        assert screen(view)[0] == ">claude  new▌"


async def test_a_caret_stands_behind_the_text_that_is_being_written_and_nowhere_else() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TurnStarted(1, Prompt("Hello")), TextDelta(1, 0, "First\n\n"))
        assert screen(view)[:3] == [" you     Hello", "", ">claude  First▌"]
        await show(pilot, view, TextDelta(1, 0, "```\ncode"))
        assert [row.rstrip("▌")[-4:] for row in screen(view) if row.endswith("▌")] == ["code"]
        assert "▌" not in view.get_selected_block()
        assert view._tick_timer is None
        await pilot.press("g")
        await show(pilot, view, TextDelta(1, 0, " more"))
        assert [row.rstrip("▌")[-4:] for row in screen(view) if row.endswith("▌")] == ["more"]
        await show(pilot, view, call(1, "a"))
        assert not any("▌" in row for row in screen(view))
        await show(pilot, view, TextDelta(1, 1, "Second"))
        assert [row for row in screen(view) if "▌" in row] == [" claude  Second▌"]
        app.animation_level = "none"
        await show(pilot, view, TextDelta(1, 1, " part"))
        assert " claude  Second part" in screen(view)
        app.animation_level = "full"
        await show(pilot, view, TurnEnded(1, TurnOutcome.DONE, 1, 1, 0, (), Usage()))
        assert not any("▌" in row for row in screen(view))


async def test_a_row_that_is_full_has_its_caret_behind_its_last_cell() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(TranscriptView)
        width = view._stack.frame.width
        await show(pilot, view, TextDelta(1, 0, "n" * width))
        assert screen(view)[0] == ">claude  " + "n" * width + "▌"
        assert view.render_line(0).cell_length == view._viewport.width


async def test_selected_text_has_no_gutter_and_is_broken_where_the_text_is() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.query_one(TranscriptView)
        said = "a first line that is long enough to be wrapped at this width\nsecond"
        await show(pilot, view, TurnStarted(1, Prompt(said)), TextDelta(1, 0, "- one\n- two"), call(1, "a"))
        found = view.get_selection(Selection(Offset(2, 0), Offset(3, 4)))
        assert found == ("first line that is long enough to be wrapped at this width\nsecond\n\n- o", "\n")
        whole = view.get_selection(Selection(None, None))
        assert whole is not None
        assert whole[0].startswith(said + "\n\n- one\n- two\n\ncreate a.md")
        app.screen.selections = {view: Selection(Offset(0, 0), Offset(7, 0))}
        view.selection_updated(None)
        strip = view.render_line(0)
        style = app.screen.get_component_rich_style("screen--selection")
        assert [each.text for each in strip if each.style and each.style.bgcolor == style.bgcolor] == ["a first"]


async def test_dragging_the_mouse_selects_and_does_not_unfold() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.query_one(TranscriptView)
        await show(pilot, view, TurnStarted(1, Prompt("hello world")), call(1, "a"))
        await pilot.mouse_down(TranscriptView, offset=(9, 0))
        await pilot.hover(TranscriptView, offset=(14, 2))
        await pilot.mouse_up(TranscriptView, offset=(14, 2))
        await until(pilot, lambda: app.screen.get_selected_text() is not None)
        assert app.screen.get_selected_text() == "hello world\n\ncreate"
        view.post_message(events.Click(view, 14, 2, 0, 0, 1, False, False, False))  # Textual says so of a drag, too
        await pilot.pause()
        assert not view.items[-1].is_open


@pytest.mark.parametrize("theme", ["textual-dark", "catppuccin-latte", "ansi-dark", "ansi-light"])
async def test_every_part_has_a_style_in_every_theme(theme: str) -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 30)) as pilot:
        app.theme = theme
        view = app.query_one(TranscriptView)
        await show(pilot, view, *turns(1, 2), Notice("x"), RetryScheduled("y", 3))
        view.action_toggle_tools()
        lines = screen(view)
        assert any("sent to claude" in line for line in lines)


def test_what_is_added_at_the_end_of_a_long_conversation_costs_no_more() -> None:
    """Counted, not timed: laying out a turn more makes as many pieces after a thousand turns as after ten."""
    made: list[TranscriptItem] = []

    def make(item: TranscriptItem, above: TranscriptItem | None, frame: TranscriptFrame) -> object:
        made.append(item)
        return render_item(item, above, frame, 0)

    counts = []
    for before in (10, 1_000):
        conversation = TranscriptModel()
        for event in turns(1, before):
            conversation.apply_event(event)
        stack = TranscriptStack(conversation.items, make, TranscriptFrame(80))  # type: ignore[arg-type]
        conversation.take_changes()
        stack.draw_before(stack.count - 1, -1, 40)
        assert stack.height > before
        made.clear()
        for event in turns(before + 1, before + 1):
            conversation.apply_event(event)
            cut, changed = conversation.take_changes()
            stack.cut(cut)
            for item in changed:
                stack.invalidate(item)
            stack.draw_before(stack.count - 1, -1, 40)
        counts.append((len(made), sum(1 for _ in stack._pieces) <= 200))
    assert counts[0] == counts[1]


async def test_ten_thousand_events_are_taken_and_scrolled_in_frames() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 40)) as pilot:
        view = app.query_one(TranscriptView)
        with at_most(5):
            await show(pilot, view, *turns(1, 2_000))
        with at_most(3):  # 60 frames
            for step in range(60):
                view.scroll_to(y=view.max_scroll_y * step // 60, animate=False)
                screen(view)
                view.action_pages(-1)
        assert len(view._stack._pieces) <= 200
        assert len(view._strips) <= 1_000
