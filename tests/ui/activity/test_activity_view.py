"""Activity on screen: it follows until the person reads, and never loses count."""

from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.binding import Binding
from textual.events import MouseScrollUp
from textual.message import Message
from textual.scrollbar import ScrollTo, ScrollUp

from memtui.core.unicode import HIDDEN
from memtui.core.wording import EventPhrase
from memtui.ui.widgets.activity import ActivityRow, ActivityView
from tests.ui.conftest import PaintCounter, WidgetApp, until


class CountingView(PaintCounter, ActivityView):
    """The activity, and how often it is painted."""


class Screen(WidgetApp):
    """The activity alone, and what it says."""

    CSS = "ActivityView { width: 80; height: 10; }"
    KEPT = (ActivityView.Highlighted, ActivityView.Opened, ActivityView.FollowChanged, ActivityView.EarlierWanted)

    def __init__(self, rows: list[ActivityRow], capacity: int = 1000) -> None:
        super().__init__(CountingView(capacity=capacity))
        self.view.append_rows(rows)

    @property
    def follows(self) -> list[bool]:
        return [message.follow for message in self.get_messages(ActivityView.FollowChanged)]

    @property
    def wanted(self) -> list[int]:
        return [message.before for message in self.get_messages(ActivityView.EarlierWanted)]

    @property
    def opened(self) -> list[int]:
        return [message.item.seq for message in self.get_messages(ActivityView.Opened) if message.item]

    @property
    def highlighted(self) -> list[int]:
        return [message.item.seq for message in self.get_messages(ActivityView.Highlighted) if message.item]

    @property
    def seen(self) -> list[int]:
        """The numbers of the events on screen."""
        texts = (self.view.render_line(y).text for y in range(self.view.size.height))
        return [int(text.split("/n/")[1].split(" ")[0]) for text in texts if text.strip()]

    @property
    def cursor(self) -> int | None:
        return self.view.cursor_item.seq if self.view.cursor_item else None


def event(seq: int, actor: str = "Claude", command: str = "modified", result: str = "ok") -> ActivityRow:
    phrase = EventPhrase("", actor, f" {command} ", f"/n/{seq}")
    return ActivityRow(seq, "10:14:02", actor, command, f"/n/{seq}", result, phrase)


def some(count: int, start: int = 0) -> list[ActivityRow]:
    return [event(seq) for seq in range(start, start + count)]


async def test_it_follows_what_happens() -> None:
    app = Screen(some(100))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.seen == list(range(90, 100)))
        app.view.append_rows(some(5, 100))
        await until(pilot, lambda: app.seen == list(range(95, 105)))
        assert app.cursor == 104
        assert app.highlighted == []


async def test_moving_up_stops_following_and_holds_still() -> None:
    app = Screen(some(100))
    async with app.run_test() as pilot:
        for keys, above in (
            ("up", 1), ("k k", 2), ("k k j", 1), ("k k down", 1), ("pageup", 10), ("pageup pageup pagedown", 10),
            ("ctrl+u", 5), ("ctrl+u ctrl+u ctrl+d", 5), ("g", None), ("home", None),
        ):  # fmt: skip
            app.view.follow = True
            await pilot.pause()
            newest = app.cursor
            assert newest is not None
            app.messages.clear()
            await pilot.press(*keys.split())
            cursor = 0 if above is None else newest - above
            assert app.cursor == cursor, keys
            assert app.view.follow is False
            await until(pilot, lambda: app.follows == [False])
            seen = app.seen
            assert cursor in seen
            app.view.append_rows(some(50, newest + 1))
            await pilot.pause()
            assert app.seen == seen
            assert app.cursor == cursor
            assert app.highlighted[-1] == cursor


@pytest.mark.parametrize("key", ["G", "end"])
async def test_the_end_key_follows_again(key: str) -> None:
    app = Screen(some(100))
    async with app.run_test() as pilot:
        await pilot.press("g", key)
        await until(pilot, lambda: app.follows == [False, True])
        app.view.append_rows(some(1, 100))
        await until(pilot, lambda: app.seen[-1] == 100)


async def test_following_can_be_set_from_outside() -> None:
    app = Screen(some(100))
    async with app.run_test() as pilot:
        app.view.follow = False
        app.view.append_rows(some(5, 100))
        await pilot.pause()
        assert app.seen[-1] == 99
        app.view.follow = True
        await until(pilot, lambda: app.seen[-1] == 104)


async def test_the_wheel_stops_following() -> None:
    app = Screen(some(100))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.seen[-1] == 99)
        await pilot._post_mouse_events([MouseScrollUp], app.view)
        await until(pilot, lambda: app.view.follow is False)


@pytest.mark.parametrize("message", [ScrollUp(), ScrollTo(y=3)])
async def test_the_scrollbar_stops_following(message: Message) -> None:
    app = Screen(some(100))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.seen[-1] == 99)
        app.view.post_message(message)
        await until(pilot, lambda: app.view.follow is False)


async def test_enter_and_clicks_open_the_row() -> None:
    app = Screen(some(100))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.seen[-1] == 99)
        await pilot.press("k", "enter")
        await until(pilot, lambda: app.opened == [98])
        await pilot.click(app.view, offset=(20, 3))
        await until(pilot, lambda: app.opened == [98, 93])
        assert app.cursor == 93


async def test_an_empty_list_takes_every_key() -> None:
    app = Screen([])
    async with app.run_test() as pilot:
        for binding in ActivityView.BINDINGS:
            assert isinstance(binding, Binding)
            assert str(binding.id).startswith("activity.")
            await pilot.press(*binding.key.split(","))
        assert (app.opened, app.cursor, app.view.position) == ([], None, (0, 0))


async def test_old_rows_go_but_what_is_read_stays_where_it_is() -> None:
    app = Screen(some(100), capacity=100)
    async with app.run_test() as pilot:
        await pilot.pause()
        app.view.action_rows(-20)
        assert app.cursor == 79
        seen = app.seen
        app.view.append_rows(some(30, 100))
        await pilot.pause()
        assert (app.cursor, app.seen) == (79, seen)
        assert app.view.position == (50, 100)
        app.view.append_rows(some(300, 130))
        await pilot.pause()
        assert app.cursor == 330


async def test_earlier_rows_are_asked_for_near_the_top_and_come_above() -> None:
    app = Screen(some(100, 300), capacity=100)
    async with app.run_test() as pilot:
        await pilot.pause()
        app.view.action_rows(-20)
        await pilot.pause()
        assert app.wanted == []
        for before, count in ((300, 50), (250, 10)):
            app.view.action_top()
            app.view.action_rows(1)
            await pilot.pause()
            assert app.wanted[-1] == before
            here, seen = app.cursor, app.seen
            app.view.prepend_rows(some(count, before - count))
            await pilot.pause()
            assert (app.cursor, app.seen) == (here, seen)
        assert app.wanted == [300, 250], "once for each"
        assert app.view.position == (12, 160)
        app.view.append_rows(some(10, 400))
        assert app.view.row_count == 170, "what was read is kept while it is looked at"
        app.view.follow = True
        assert app.view.row_count == 100
        app.view.action_top()
        await pilot.pause()
        assert app.wanted[-1] == 310


async def test_the_first_of_merged_rows_is_what_earlier_ones_stand_before() -> None:
    app = Screen([event(number, "Claude", "view") for number in (7, 8, 9)])
    async with app.run_test() as pilot:
        app.view.action_top()
        await pilot.pause()
        assert app.wanted == [7]
        app.view.prepend_rows([])
        app.view.action_top()
        await pilot.pause()
        assert app.wanted == [7], "nothing came"


async def test_counters_count_what_is_no_longer_kept_too() -> None:
    app = Screen(some(200), capacity=10)
    async with app.run_test():
        app.view.append_rows(
            [
                event(200, "you", "insert"),
                event(201, "outside", "modified", "seen"),
                event(202, "Claude", "create", "REFUSED"),
                event(203, "Claude", "create"),
            ]
        )
        counters = app.view.counters
        assert (counters.all, counters.writes, counters.refused) == (204, 2, 1)
        assert counters.outside == 1


async def test_a_thousand_rows_one_by_one_are_a_few_paints() -> None:
    app = Screen(some(10), capacity=10_000)
    async with app.run_test() as pilot:
        await pilot.pause()
        before = app.view.paints
        for row in some(1000, 10):
            app.view.append_rows([row])
        assert app.seen[-1] == 1009
        await until(pilot, lambda: app.view.paints > before)
        await pilot.pause()
        assert 1 <= app.view.paints - before <= 4


async def test_hostile_events_are_drawn_safely_and_in_line() -> None:
    words = EventPhrase
    hostile = [
        ActivityRow(1, "\x1b[2J", "x", "\u202e", "x", "ok", words("[/]", "\u202e", "a", "日本語/" * 99), 9**9, 9**9),
        ActivityRow(2, "10:14:02", "a", "c", "x", "[/]", words("", "a\nb", "c\td", "\udcff" * 99, "\x07\x9b31m"), 0),
        ActivityRow(3, "10:14:02", "x", "x", "x", "ok", words("", "👩‍👩‍👧" * 9, "x", "e\u0301" * 999, "ﷺ" * 20), 1),
    ] * 10
    app = Screen(hostile)
    async with app.run_test(size=(210, 30)) as pilot:
        for width in (200, 120, 80, 50, 20):
            app.view.styles.width = width
            await pilot.pause()
            content = app.view.scrollable_content_region.width
            assert content == width - 1
            for y in range(10):
                strip = app.view.render_line(y)
                assert cell_len(strip.text) == strip.cell_length == content
                assert not HIDDEN.search(strip.text)


def test_gits_own_files_are_not_counted_as_changes_of_another_program() -> None:
    view = ActivityView()
    view.append_rows([replace(event(1, "outside"), is_git=True), event(2, "outside")])
    assert (view.counters.all, view.counters.outside) == (2, 1)
