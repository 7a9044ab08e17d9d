"""Rows that stand for something: where the cursor may be, and what clicks and new rows do to it."""

from collections.abc import Sequence

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult

from memtui.ui.widgets.row_list import ItemList, LabelRow, find_nearest_row


class Names(ItemList[str]):
    """Names, as a list of them would be."""

    DEFAULT_CSS = "Names { height: 5; }"
    COMPONENT_CLASSES = {"words"}  # noqa: RUF012 - as Textual has it

    def _get_key(self, item: str) -> object:
        return item

    def _render_item(self, item: str, width: int) -> list[Segment]:
        return [Segment(item[:width])]


class Listing(App[None]):
    """A list, and what it says."""

    def __init__(self, rows: Sequence[str | LabelRow]) -> None:
        super().__init__()
        self.rows = rows
        self.opened: list[str | None] = []
        self.passed: list[str | None] = []

    def compose(self) -> ComposeResult:
        yield Names()

    def on_mount(self) -> None:
        self.names.show(self.rows)
        self.names.focus()

    @property
    def names(self) -> Names:
        """The list."""
        return self.query_one(Names)

    def on_item_list_opened(self, message: ItemList.Opened) -> None:
        assert message.control is self.names
        self.opened.append(self.names.cursor_item)

    def on_item_list_highlighted(self) -> None:
        self.passed.append(self.names.cursor_item)


LETTERS = tuple("abcdefghij")


@pytest.mark.parametrize(
    ("rows", "row", "step", "found"),
    [
        ("a", 0, 1, 0), ("-a", 0, 1, 1), ("a-b", 1, 1, 2), ("a-b", 1, -1, 0), ("a-", 1, 1, 0), ("-", 0, 1, None),
        ("", 3, 1, None),
    ],
)  # fmt: skip
def test_the_cursor_stands_on_the_nearest_item_in_its_direction(
    rows: str, row: int, step: int, found: int | None
) -> None:
    assert find_nearest_row([LabelRow("x") if each == "-" else each for each in rows], row, step) == found


async def test_the_cursor_passes_over_words_and_shows_those_above_the_first_item() -> None:
    app = Listing([LabelRow("first"), "a", LabelRow("second"), *LETTERS[1:]])
    async with app.run_test(size=(40, 12)) as pilot:
        assert app.names.cursor_item == "a"
        assert app.names.position == (1, 10)
        await pilot.press("j")
        assert (app.names.cursor_item, app.names.position) == ("b", (2, 10))
        await pilot.press("G")
        assert app.names.cursor_item == "j"
        assert app.names.scroll_offset.y == 7
        await pilot.press("g")
        assert app.names.cursor_item == "a"
        assert app.names.scroll_offset.y == 0


async def test_a_click_selects_and_two_open_but_words_are_not_to_be_had() -> None:
    app = Listing([LabelRow("first"), *LETTERS])
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.click(Names, offset=(3, 2))
        assert (app.names.cursor_item, app.opened) == ("b", [])
        await pilot.click(Names, offset=(3, 0), times=2)
        assert (app.names.cursor_item, app.opened) == ("b", [])
        await pilot.click(Names, offset=(3, 3), times=2)
        assert (app.names.cursor_item, app.opened) == ("c", ["c"])
        app.names.show(["a"])
        await pilot.click(Names, offset=(3, 4), times=2)
        assert app.opened == ["c"]


async def test_other_rows_leave_the_cursor_on_its_item_with_as_much_above_it() -> None:
    app = Listing(LETTERS)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press(*"jjjjjj")
        above = 6 - app.names.scroll_offset.y
        app.names.show(["new", "newer", *LETTERS])
        await pilot.pause()
        assert app.names.cursor_item == "g"
        assert 8 - app.names.scroll_offset.y == above
        app.names.show(["a", "b"])
        assert app.names.cursor_item == "b"
        app.names.show(LETTERS, keep=False)
        assert (app.names.cursor_item, app.names.scroll_offset.y) == ("a", 0)
        app.names.show([], notice=["nothing"])
        assert app.names.cursor_item is None
        assert app.names.position == (0, 0)
        assert "nothing" in app.names.render_line(0).text
        await pilot.press("j", "G", "pageup")
        assert app.names.cursor_item is None


async def test_a_cursor_stays_in_view_when_the_list_gets_smaller() -> None:
    app = Listing(LETTERS)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press(*"jjjj")
        app.names.styles.height = 3
        await pilot.pause()
        top = app.names.scroll_offset.y
        assert top <= 4 < top + 3


async def test_only_the_last_place_of_a_cursor_that_moves_fast_is_told() -> None:
    app = Listing(LETTERS)
    async with app.run_test(size=(40, 12)) as pilot:
        app.passed.clear()
        for _ in range(5):
            app.names.action_rows(1)
        await pilot.pause()
        assert app.passed[-1] == "f"
        assert len(app.passed) < 5
