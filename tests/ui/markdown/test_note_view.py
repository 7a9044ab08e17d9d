"""The note view, driven by keys, mouse and messages as a screen would drive it."""

from typing import Any

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from memtui.ui.terminal import TerminalSanitizer
from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout, RowSpan, find_moved_line
from memtui.ui.widgets.markdown.rows import MarkdownRow, TextSpan
from memtui.ui.widgets.markdown.view import NoteView
from tests.ui.conftest import until


class Demo(App[None]):
    """One note view that fills the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.moves: list[tuple[int, int, int]] = []
        self._filters.append(TerminalSanitizer())

    def compose(self) -> ComposeResult:
        yield NoteView()

    def on_mount(self) -> None:
        self.query_one(NoteView).focus()

    def on_note_view_scrolled(self, message: NoteView.Scrolled) -> None:
        self.moves.append((message.first_line, message.last_line, message.total_lines))


def screen(view: NoteView) -> list[str]:
    """What is on the rows of the view."""
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def row_text(view: NoteView, y: int) -> str:
    return view.render_line(y).text.strip()


def segments(view: NoteView) -> list[Segment]:
    return [segment for y in range(view.size.height) for segment in view.render_line(y)]


LINES = "".join(f"line {number}\n\n" for number in range(1, 2001))


async def test_a_note_is_shown_and_its_place_is_told() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(NoteView)
        view.show("# Title\n\ntext\n", syntax="markdown")
        assert [line.strip() for line in screen(view)[:4]] == ["Title", "━━━━━", "", "text"]
        await until(pilot, lambda: app.moves[-1:] == [(1, 3, 3)])


async def test_keys_move_the_view() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(NoteView)
        for keys, first in (
            ("down", 1), ("j j", 2), ("j j k", 1), ("down up", 0), ("pagedown", 9), ("pagedown pageup", 0),
            ("ctrl+d", 5), ("ctrl+d ctrl+u", 0), ("G g", 0), ("end home", 0),
        ):  # fmt: skip
            view.show(LINES, syntax="text")
            await pilot.press(*keys.split())
            assert view.scroll_offset.y == first, keys


async def test_the_end_is_the_end_however_wrong_the_guesses_were() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(NoteView)
        view.show("- a\n- b\n\n" * 3000 + "the very end", syntax="markdown")
        await pilot.press("G")
        assert row_text(view, 9) == "the very end"
        await until(pilot, lambda: app.moves[-1][1] == 9001)


async def test_moving_up_into_what_was_never_drawn_moves_one_row_at_a_time() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(NoteView)
        view.show("".join(f"# head {number}\n" for number in range(2000)), syntax="markdown")
        await pilot.press("G")
        before = screen(view)
        for _ in range(400):
            view.action_rows(-1)
            now = screen(view)
            assert now[1:] == before[:-1]
            before = now


async def test_the_wheel_goes_on_from_where_the_view_is_after_a_guess_was_corrected() -> None:
    async with Demo().run_test(size=(60, 20)) as pilot:
        view = pilot.app.query_one(NoteView)
        view.show(
            "".join(f"{'word ' * 60}\n\n| a | b |\n|---|---|\n| {number} | {'x' * 90} |\n\n" for number in range(200))
        )
        await pilot.press("G")
        for _ in range(20):
            await pilot.press("pageup")
            assert view.scroll_target_y == view.scroll_y


async def test_moving_down_shows_every_row_once() -> None:
    source = "".join(f"## head {number}\n\ntext {number}\n" for number in range(500))
    document = NoteDocument(source, NoteLayout("markdown", "rendered", 37))
    expected = [row.text for index in range(len(document.chunks)) for row in document.get_rows(index)]
    app = Demo()
    async with app.run_test(size=(40, 10)):
        view = app.query_one(NoteView)
        view.show(source, syntax="markdown")
        seen = [line.strip() for line in screen(view)]
        while len(seen) < len(expected):
            view.action_rows(1)
            seen.append(row_text(view, 9))
        assert seen == expected


async def test_a_changed_note_keeps_its_place() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)):
        view = app.query_one(NoteView)
        view.show(LINES, syntax="markdown")
        view.scroll_to(y=1200, animate=False)
        top = row_text(view, 0) or row_text(view, 1)
        assert top.startswith("line ")
        for changed in (
            "new\n\n" * 50 + LINES,
            LINES + "more\n\n" * 50,
            LINES.replace("line 3\n", "line 3 and more\n"),
        ):
            view.show(changed, syntax="markdown", keep_place=True)
            assert top in (row_text(view, 0), row_text(view, 1))
        view.show(LINES, syntax="markdown")
        assert row_text(view, 0) == "line 1"


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", 1, 1),
        ("a\nb\nc\n", "x\na\nb\nc\n", 1, 2),
        ("a\nb\nc\n", "a\nb\nc\nd\n", 1, 1),
        ("a\nb\nc\nd\n", "a\nd\n", 3, 1),
        ("a\nb\nc\n", "", 2, 0),
        ("", "a\n", 0, 0),
    ],
)
def test_a_line_is_found_again_in_the_changed_text(old: str, new: str, line: int, expected: int) -> None:
    assert find_moved_line(old, new, line) == expected


async def test_a_new_width_wraps_the_text_and_keeps_the_line() -> None:
    app = Demo()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.query_one(NoteView)
        view.show("".join(f"{number} " + "some words " * 20 + "\n\n" for number in range(500)), syntax="markdown")
        view.scroll_to(y=600, animate=False)
        view.scroll_to(y=next(y for y in range(600, 620) if row_text(view, y - 600)[:1].isdigit()), animate=False)
        number = row_text(view, 0).split()[0]
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: view.size.width == 100)
        assert row_text(view, 0).split()[0] == number
        assert all(len(line) <= 102 for line in screen(view))


async def test_text_is_never_wider_than_a_hundred_columns() -> None:
    app = Demo()
    async with app.run_test(size=(160, 12)):
        view = app.query_one(NoteView)
        view.show("word " * 400 + "\n\n```\n" + "x" * 400 + "\n```\n", syntax="markdown")
        assert max(len(line) for line in screen(view)) <= 102


async def test_the_source_is_numbered_and_the_model_s_view_is_not() -> None:
    app = Demo()
    async with app.run_test(size=(40, 6)):
        view = app.query_one(NoteView)
        view.show("# a\n\n" + "b " * 30, syntax="markdown", mode="source")
        assert [line.split()[0] if line.strip() else "" for line in screen(view)[:4]] == ["1", "2", "3", "»"]
        view.show("     1\tx", syntax="text", mode="source", numbers=False)
        assert screen(view)[0] == "       1  x"
        view.show("# a", mode="rendered")
        assert screen(view)[0].strip() == "a"


async def test_changed_lines_have_a_bar_in_both_modes() -> None:
    app = Demo()
    async with app.run_test(size=(40, 8)):
        view = app.query_one(NoteView)
        view.show("# a\n\nb\nc\n\nd\n", syntax="markdown")
        view.highlight_lines({4})
        assert [line.strip() for line in screen(view) if "┃" in line] == ["┃ b c"]
        view.show("# a\n\nb\nc\n\nd\n", syntax="markdown", mode="source")
        view.highlight_lines({4})
        assert [line.split() for line in screen(view) if "┃" in line] == [["4", "┃", "c"]]
        view.highlight_lines(())
        assert not any("┃" in line for line in screen(view))


async def test_search_counts_marks_and_goes_round() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(NoteView)
        view.show(
            LINES.replace("line 1500\n", "line Needle *x*\n").replace("line 30\n", "needle\n"),
            syntax="markdown",
        )
        assert view.search("needle") == 2
        assert view.search("Needle") == 1
        assert view.search("absent") == 0
        view.action_match(1)
        assert view.search("NEEDLE") == 0
        assert view.search("needle") == 2
        await pilot.press("n")
        assert any("needle" in line for line in screen(view))
        await pilot.press("n")
        assert any("line Needle x" in line for line in screen(view))
        await pilot.press("n")
        assert any(line.strip() == "needle" for line in screen(view))
        await pilot.press("N")
        assert any("Needle" in line for line in screen(view))
        view.search("")
        await pilot.press("n")
        assert any("Needle" in line for line in screen(view))


async def test_all_matches_in_view_are_marked_and_the_current_one_differs() -> None:
    app = Demo()
    async with app.run_test(size=(20, 10)):
        view = app.query_one(NoteView)
        view.show("one two one\n\na **one**\n\nlast one two", syntax="markdown")
        plain = {segment.style for segment in segments(view) if segment.text == "one"}
        assert view.search("one") == 4
        view.action_match(1)
        marked = [str(segment.style.bgcolor) for segment in segments(view) if segment.text == "one" and segment.style]
        assert len(plain) == 1 or len(marked) == 4
        assert len(set(marked)) == 2
        assert marked.count(marked[0]) == 1


def test_a_match_that_is_broken_over_two_rows_is_marked_in_both() -> None:
    document = NoteDocument("aaaa bbbb cccc", NoteLayout("markdown", "rendered", 10))
    document.search("bbbb cccc")
    assert document.get_marks(0) == [RowSpan(0, 0, 5, 10), RowSpan(0, 1, 0, 4)]


def test_the_match_is_placed_on_its_own_occurrence() -> None:
    document = NoteDocument("x one x one\n\n- one\n", NoteLayout("markdown", "rendered", 40))
    document.search("one")
    offsets = []
    offset = document.find_next_match(0)
    while offset not in offsets:
        offsets.append(offset)
        offset = document.find_next_match(offset + 1)
    assert [document.locate_match(offset) for offset in offsets] == [
        RowSpan(0, 0, 2, 5),
        RowSpan(0, 0, 8, 11),
        RowSpan(0, 2, 2, 5),
    ]
    assert document.find_previous_match(offsets[0]) == offsets[-1]
    assert document.find_previous_match(offsets[2]) == offsets[1]


async def test_the_mouse_selects_text_and_it_is_copied_without_the_gutter() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(NoteView)
        view.show("first line\nsecond line\nthird line\n", syntax="text", mode="source")
        await pilot.pause()
        await pilot.mouse_down(NoteView, offset=(11, 0))
        await pilot.hover(NoteView, offset=(9, 2))
        await pilot.mouse_up(NoteView, offset=(9, 2))
        await until(pilot, lambda: bool(app.screen.selections))
        assert app.screen.get_selected_text() == "line\nsecond line\nthird"


async def test_a_selection_in_a_long_note_reaches_over_what_was_never_drawn() -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)):
        view = app.query_one(NoteView)
        view.show(LINES, syntax="text")
        selected = view.get_selection(Selection(Offset(0, 0), Offset(4, 3998)))
        assert selected is not None
        assert selected[0] == LINES[: LINES.index("line 2000") + 4]
        assert view.get_selection(Selection(None, None)) == (LINES, "\n")


async def test_wrapped_text_is_copied_as_one_line() -> None:
    app = Demo()
    async with app.run_test(size=(30, 10)):
        view = app.query_one(NoteView)
        prose = "some words that are wrapped over a number of rows in view"
        view.show(prose + "\n\n```\n" + "x" * 60 + "\n```\n", syntax="markdown")
        height = len(screen(view))
        selected = view.get_selection(Selection(Offset(0, 0), Offset(99, height)))
        assert selected is not None
        assert selected[0].split("\n\n")[0] == prose
        assert "»" not in selected[0]
        view.show(f"- {prose}\n\n> {prose}\n", syntax="markdown")
        selected = view.get_selection(Selection(Offset(0, 0), Offset(99, len(screen(view)))))
        assert selected is not None
        assert selected[0].split("\n")[0] == f"- {prose}"
        assert selected[0].rstrip().split("\n")[-1] == f"│ {prose}"


async def test_a_notice_stands_in_place_of_a_note() -> None:
    app = Demo()
    async with app.run_test(size=(60, 12)):
        view = app.query_one(NoteView)
        view.show(LINES, syntax="markdown")
        view.show_notice("Not text", "This file is binary.\x1b[2J\n512 bytes")
        text = "\n".join(screen(view))
        assert "Not text" in text
        assert "binary.\\x1b[2J" in text
        assert view.max_scroll_y == 0
        view.show("back", syntax="markdown")
        assert row_text(view, 0) == "back"
        view.show("")
        assert not any(screen(view))


@pytest.mark.parametrize("theme", ["textual-light", "ansi-light", "nord"])
async def test_every_theme_gives_every_role_a_style(theme: str) -> None:
    app = Demo()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(NoteView)
        view.show("# Title\n\n`code`\n", syntax="markdown")
        before = [str(segment.style.color) for segment in segments(view) if segment.style]
        app.theme = theme
        await pilot.pause()
        after = [str(segment.style.color) for segment in segments(view) if segment.style]
        assert before != after


async def test_nothing_a_note_holds_reaches_the_terminal_raw() -> None:
    app = Demo()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.query_one(NoteView)
        view.show(
            "a\x1b]52;c;QQ==\x07 \u202e [x](http://e.io) <http://e.io>\n\n[@click=app.quit]q[/]",
            syntax="markdown",
        )
        await pilot.pause()
        assert not any(segment.style.link for segment in segments(view) if segment.style)
        assert all("@click" not in segment.style.meta for segment in segments(view) if segment.style)
        text = "\n".join(screen(view))
        assert "\\x1b]52" in text
        assert "[@click=app.quit]q[/]" in text


def test_a_row_s_text_is_its_spans() -> None:
    values: dict[str, Any] = {"first": 0, "last": 0}
    assert MarkdownRow((TextSpan("a", ""), TextSpan("b", "strong")), **values).text == "ab"
