"""The folder on screen, driven by keys and mouse, asserting on messages and on what is drawn."""

import asyncio
from typing import Any

import pytest
from rich.cells import cell_len
from textual.binding import Binding
from textual.strip import Strip

from memtui.core.events import EntryKind, FolderEntry
from memtui.core.unicode import HIDDEN
from memtui.ui.widgets.tree.outline import Outline, SortOrder
from memtui.ui.widgets.tree.row import SECOND
from memtui.ui.widgets.tree.row_state import RowChange
from memtui.ui.widgets.tree.view import TreeView
from tests.ui.conftest import PaintCounter, WidgetApp, until

F, D = EntryKind.FILE, EntryKind.DIRECTORY
NOW = 1_800_000_000 * SECOND


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


class CountingView(PaintCounter, TreeView):
    """The folder, how often it is painted, and which lines of it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.painted_lines: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.painted_lines.append(y)
        return super().render_line(y)


class Screen(WidgetApp):
    """The folder alone, and what it says."""

    CSS = "TreeView { width: 40; height: 12; }"
    KEPT = (TreeView.Highlighted, TreeView.Opened, TreeView.DetailsRequested, TreeView.CursorMoved)

    def __init__(self, entries: list[FolderEntry], **options: object) -> None:
        self.clock = Clock()
        super().__init__(CountingView(Outline(entries, **options), now=self.clock))  # type: ignore[arg-type]

    @property
    def opened(self) -> list[str]:
        return [message.path for message in self.get_messages(TreeView.Opened)]

    @property
    def highlighted(self) -> list[str]:
        return [message.path for message in self.get_messages(TreeView.Highlighted)]

    @property
    def lines(self) -> list[Strip]:
        return [self.view.render_line(y) for y in range(self.view.size.height)]

    @property
    def texts(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.lines]


def file(path: str, size: int | None = 10, age: int | None = 5, kind: EntryKind = F) -> FolderEntry:
    return FolderEntry(path, kind, size, None if age is None else NOW - age * SECOND)


SMALL = [
    file("notes/a.md"),
    file("notes/b.md"),
    file("people/me.md"),
    file("x.md"),
    file("y.md"),
    file("z.md"),
]
SMALL_ROWS = ["notes", "notes/a.md", "notes/b.md", "people", "people/me.md", "x.md", "y.md", "z.md"]
MANY = [file(f"{number:03}.md") for number in range(100)]


# Keys


async def test_keys_move_the_cursor_and_keep_it_in_view() -> None:
    app = Screen(MANY)
    async with app.run_test() as pilot:
        for keys, path in (
            ("down", "001.md"), ("j j", "002.md"), ("j j k", "001.md"), ("j j up", "001.md"), ("up", "000.md"),
            ("pagedown", "012.md"), ("pagedown pagedown pageup", "012.md"), ("ctrl+d", "006.md"),
            ("ctrl+d ctrl+d ctrl+u", "006.md"), ("G", "099.md"), ("end", "099.md"), ("end j", "099.md"),
            ("end g", "000.md"), ("end home", "000.md"),
        ):  # fmt: skip
            app.view.move_to("000.md")
            await pilot.press(*keys.split())
            assert app.view.cursor_path == path, keys
            row, total = app.view.position
            assert (row, total) == (int(path[:3]) + 1, 100)
            assert app.view.scroll_offset.y <= row - 1 < app.view.scroll_offset.y + 12
            await until(pilot, lambda path=path: app.highlighted[-1] == path)
            moved = app.get_messages(TreeView.CursorMoved)[-1]
            assert isinstance(moved, TreeView.CursorMoved)
            assert (moved.row, moved.total) == (row, total)


@pytest.mark.parametrize("keys", [("left", "right"), ("h", "l")])
async def test_left_and_right_walk_the_folders(keys: tuple[str, str]) -> None:
    left, right = keys
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        app.view.move_to("notes/b.md")
        await pilot.press(left)
        assert app.view.cursor_path == "notes"
        await pilot.press(left)
        assert list(app.view.outline) == ["notes", *SMALL_ROWS[3:]]
        await pilot.press(left)
        assert app.view.cursor_path == "notes"
        await pilot.press(right)
        assert list(app.view.outline) == SMALL_ROWS
        await pilot.press(right)
        assert app.view.cursor_path == "notes/a.md"
        await pilot.press(right)
        await until(pilot, lambda: app.opened == ["notes/a.md"])


async def test_enter_opens_files_and_toggles_folders() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        await pilot.press("enter")
        assert not app.view.outline.is_expanded("notes")
        await pilot.press("enter")
        assert app.view.outline.is_expanded("notes")
        await pilot.press("G", "enter")
        await until(pilot, lambda: app.opened == ["z.md"])


async def test_an_empty_folder_takes_every_key_and_shows_nothing() -> None:
    app = Screen([])
    async with app.run_test() as pilot:
        for binding in TreeView.BINDINGS:
            assert isinstance(binding, Binding)
            await pilot.press(*binding.key.split(","))
        assert (app.view.cursor_path, app.view.position, app.opened) == (None, (0, 0), [])
        assert set(app.texts) == {""}
        app.view.add([file("first.md")])
        assert app.view.cursor_path == "first.md"
        app.view.drop(["first.md"])
        assert (app.view.cursor_path, app.view.position) == (None, (0, 0))


def test_every_key_is_called_after_the_files() -> None:
    assert all(binding.id.startswith("files.") for binding in TreeView.BINDINGS)


# The mouse


async def test_a_click_selects_and_a_second_one_opens() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        await pilot.click(app.view, offset=(10, 5))
        await until(pilot, lambda: app.view.cursor_path == "x.md")
        assert app.opened == []
        await pilot.double_click(app.view, offset=(10, 6))
        await until(pilot, lambda: app.opened == ["y.md"])


async def test_a_click_on_the_triangle_toggles_and_one_on_the_name_does_not() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        column = app.texts[3].index("▾")
        await pilot.click(app.view, offset=(column + 3, 3))
        assert app.view.cursor_path == "people"
        assert app.view.outline.is_expanded("people")
        await pilot.click(app.view, offset=(column, 3))
        assert not app.view.outline.is_expanded("people")


async def test_a_click_below_the_last_row_does_nothing() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        await pilot.click(app.view, offset=(4, 10))
        assert app.view.cursor_path == "notes"


# Changes


async def test_the_cursor_stays_on_its_file_and_the_file_where_it_is_on_screen() -> None:
    app = Screen(MANY)
    async with app.run_test() as pilot:
        app.view.move_to("050.md")
        await pilot.pause()
        line = app.view.position[0] - 1 - app.view.scroll_offset.y
        app.view.add([file(f"00{number}a.md") for number in range(5)])
        await pilot.pause()
        assert app.view.cursor_path == "050.md"
        assert app.texts[line].startswith(">  050.md")
        app.view.drop(["000.md", "001.md"])
        await pilot.pause()
        assert app.texts[line].startswith(">  050.md")
        assert app.highlighted.count("050.md") == 1


@pytest.mark.parametrize(
    ("at", "gone", "then"),
    [
        ("y.md", ["y.md"], "z.md"),
        ("z.md", ["z.md"], "y.md"),
        ("notes/b.md", ["notes"], "people"),
        ("people/me.md", ["people", "x.md"], "y.md"),
        ("y.md", ["x.md"], "y.md"),
        ("z.md", ["notes"], "z.md"),
        ("y.md", ["y.md", "z.md"], "x.md"),
        ("notes", ["notes", "people"], "x.md"),
    ],
)
async def test_when_its_file_goes_the_cursor_goes_to_the_neighbour(at: str, gone: list[str], then: str) -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        app.view.move_to(at)
        app.view.drop(gone)
        assert app.view.cursor_path == then
        await until(pilot, lambda: app.highlighted[-1] == then)


async def test_the_cursor_goes_along_when_its_file_is_moved() -> None:
    app = Screen(SMALL)
    async with app.run_test():
        app.view.move_to("notes/b.md")
        app.view.set_change("notes/b.md", RowChange.CHANGED, 0)
        app.view.move_all({"notes": "old/notes"})
        assert app.view.cursor_path == "old/notes/b.md"
        app.view.move_all({"old": "old/inside-itself"})
        assert app.view.cursor_path == "old/notes/b.md"
        assert app.texts[app.view.position[0] - 1].startswith(">~")


async def test_collapsing_around_the_cursor_leaves_it_on_the_folder() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        app.view.move_to("notes/b.md")
        await pilot.click(app.view, offset=(app.texts[0].index("▾"), 0))
        assert app.view.cursor_path == "notes"


async def test_a_folder_that_grows_beyond_the_screen_can_be_walked_at_once() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        app.view.add(MANY)
        app.view.move_to("099.md")
        await pilot.pause()
        assert any(line.startswith(">  099.md") for line in app.texts)


async def test_what_is_told_before_there_is_a_screen_is_shown_once_there_is() -> None:
    app = Screen([])
    app.view.show(Outline(SMALL))
    app.view.add([file("new.md")])
    app.view.set_change("new.md", RowChange.NEW, NOW)
    async with app.run_test() as pilot:
        await until(pilot, lambda: " + new.md" in [text[:9] for text in app.texts])
        assert app.view.position == (1, 9)


async def test_sorting_and_hiding_keep_the_cursor_on_its_entry_or_near_it() -> None:
    app = Screen([*SMALL, file(".h/secret"), file("old.md", age=99)])
    async with app.run_test():
        app.view.move_to("x.md")
        app.view.set_sort(SortOrder.NAME, reverse=True)
        assert app.view.cursor_path == "x.md"
        app.view.set_sort(SortOrder.NAME)
        app.view.move_to(".h/secret")
        app.view.set_hidden(False)
        assert app.view.cursor_path is not None
        assert not app.view.cursor_path.startswith(".")
        app.view.set_hidden(True)
        assert ".h" in list(app.view.outline)


async def test_moving_to_a_hidden_or_collapsed_entry_reveals_it() -> None:
    app = Screen([*SMALL, file("a/.b/c/d.md")], expanded=(), hidden=False)
    async with app.run_test():
        assert app.view.move_to("a/.b/c/d.md")
        assert app.view.cursor_path == "a/.b/c/d.md"
        assert not app.view.move_to("nowhere")
        assert app.view.cursor_path == "a/.b/c/d.md"


async def test_a_flood_of_changes_is_a_few_paints() -> None:
    app = Screen(MANY)
    async with app.run_test() as pilot:
        await pilot.pause()
        before = app.view.paints
        for number in range(500):
            app.view.add([file(f"n{number}.md")])
            app.view.set_change(f"n{number}.md", RowChange.NEW, NOW)
        await pilot.pause()
        assert len(app.view.outline) == 600
        assert 1 <= app.view.paints - before <= 4


# Sizes and times


async def test_only_rows_on_screen_are_asked_for_once_and_together() -> None:
    app = Screen([file(f"{number:03}.md", None, None) for number in range(100)])
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.get_messages(TreeView.DetailsRequested))
        (needed,) = app.get_messages(TreeView.DetailsRequested)
        assert isinstance(needed, TreeView.DetailsRequested)
        assert needed.paths == tuple(f"{number:03}.md" for number in range(12))
        app.view.refresh()
        await pilot.pause()
        assert len(app.get_messages(TreeView.DetailsRequested)) == 1
        app.view.touch(file(path, 2048) for path in [*needed.paths, "gone-meanwhile.md"])
        assert app.texts[0].endswith("2.0K   5s")
        assert "gone-meanwhile.md" not in app.view.outline
        await pilot.press("G")
        await until(pilot, lambda: len(app.get_messages(TreeView.DetailsRequested)) == 2)


async def test_what_changed_again_is_asked_for_again() -> None:
    app = Screen([file("a.md", None, None)])
    async with app.run_test() as pilot:
        await until(pilot, lambda: len(app.get_messages(TreeView.DetailsRequested)) == 1)
        app.view.add([file("a.md", None, None)])
        await until(pilot, lambda: len(app.get_messages(TreeView.DetailsRequested)) == 2)


async def test_ages_pass_and_repaint_only_when_they_read_otherwise() -> None:
    app = Screen([file("a.md", age=5), file("b.md", age=7200)])
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.texts[0].endswith("5s"))
        await pilot.pause()
        before = app.view.paints
        app.view.repaint()
        await pilot.pause()
        assert app.view.paints == before
        app.clock.now += 3 * SECOND
        app.view.repaint()
        await until(pilot, lambda: app.view.paints == before + 1)
        assert app.texts[0].endswith("8s")
        assert app.texts[1].endswith("2h")


async def test_what_happened_to_one_row_paints_no_other() -> None:
    app = Screen([file(f"{letter}.md") for letter in "abcdefgh"])
    async with app.run_test() as pilot:
        await until(pilot, lambda: "h.md" in app.texts[7])
        await pilot.pause()
        app.view.painted_lines.clear()
        app.view.set_change("c.md", RowChange.CHANGED, NOW - 9 * SECOND)
        app.view.move_to("f.md")
        await until(pilot, lambda: len(app.view.painted_lines) > 2)
        await pilot.pause()
        assert set(app.view.painted_lines) == {0, 2, 5}, "the one that changed, and where the cursor was and is"


# Marks


def backgrounds(strip: Strip) -> set[object]:
    return {segment.style.bgcolor for segment in strip if segment.style}


async def test_a_changed_row_is_lit_once_for_a_moment() -> None:
    app = Screen(SMALL)
    async with app.run_test():
        plain = backgrounds(app.lines[7])
        app.view.set_change("z.md", RowChange.CHANGED, NOW)
        assert app.texts[7].startswith(" ~ z.md")
        assert backgrounds(app.lines[7]) != plain
        app.clock.now += 2 * SECOND
        app.view.lights._expire()
        assert backgrounds(app.lines[7]) == plain
        app.view.set_change("y.md", RowChange.CHANGED, NOW)
        assert backgrounds(app.lines[6]) == plain


async def test_nothing_is_lit_without_animations() -> None:
    app = Screen(SMALL)
    async with app.run_test():
        app.animation_level = "none"
        plain = backgrounds(app.lines[7])
        app.view.set_change("z.md", RowChange.CHANGED, NOW)
        assert backgrounds(app.lines[7]) == plain


async def test_marks_are_seen_through_collapsed_folders_until_they_are_cleared() -> None:
    app = Screen(SMALL)
    async with app.run_test():
        app.view.set_change("notes/a.md", RowChange.NEW, 0)
        assert app.texts[0].startswith(">  ▾ notes/")
        app.view.outline.collapse("notes")
        assert app.texts[0].startswith(">~ ▸ notes/")
        app.view.clear_change("notes/a.md")
        assert app.texts[0].startswith(">  ▸ notes/")


async def test_what_was_deleted_stays_struck_through_until_it_is_dropped() -> None:
    app = Screen(SMALL)
    async with app.run_test():
        app.view.set_change("z.md", RowChange.DELETED, 0)
        assert any(segment.style and segment.style.strike for segment in app.lines[7])
        app.view.drop(["z.md"])
        app.view.add([file("z.md")])
        assert not any(segment.style and segment.style.strike for segment in app.lines[7])


async def test_what_is_marked_pinned_and_under_the_cursor_stays_so_when_it_is_moved_and_goes_when_it_goes() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        view = app.view
        view.set_pins(["z.md"])
        assert view.move_to("z.md")
        view.selection.toggle("z.md")
        view.move_all({"z.md": "y.md"})
        assert (view.cursor_path, list(view.selection), view.outline.pins) == ("y.md", ["y.md"], ("y.md",))
        assert view.position[0] == 1
        view.selection.add(view.outline)
        view.drop(["y.md"])
        await pilot.pause()
        assert "y.md" not in view.selection
        assert view.selection
        assert view.outline.pins == ("y.md",)
        view.show(Outline([file("y.md"), file("a.md")]))
        assert list(view.outline) == ["y.md", "a.md"]
        assert not view.selection


# What is drawn


async def test_hostile_names_are_drawn_safely_and_in_line() -> None:
    names = [
        "\x1b]52;c;aGk=\x07",
        "[/x][@click=app.quit]",
        "\u202etxt.exe",
        "日本語" * 30,
        "bad\udcff",
        "👩‍👩‍👧" * 9,
        "e\u0301" * 99,
    ]
    app = Screen([file(f"d/{name.replace('/', '|')}.md") for name in names] + MANY)
    async with app.run_test() as pilot:
        for width in (28, 40, 12):
            app.view.styles.width = width
            await pilot.pause()
            content = app.view.scrollable_content_region.width
            assert content == width - 1, "a scrollbar takes one cell, never a row's"
            for strip in app.lines:
                assert cell_len(strip.text) == strip.cell_length == content
                assert not HIDDEN.search(strip.text)


async def test_the_cursor_is_louder_with_the_focus_and_follows_the_theme() -> None:
    app = Screen(SMALL)
    async with app.run_test() as pilot:
        app.theme = "textual-dark"
        await pilot.pause()
        focused = backgrounds(app.lines[0])
        app.theme = "textual-light"
        await pilot.pause()
        assert backgrounds(app.lines[1]) != focused
        lit = backgrounds(app.lines[0])
        app.set_focus(None)
        await pilot.pause()
        assert backgrounds(app.lines[0]) != lit
        assert app.texts[0].startswith(">")


async def test_ages_go_on_after_the_screen_has_another_size() -> None:
    app = Screen([file("a.md", age=3)])
    app.CSS = "TreeView { width: 100%; height: 100%; }"
    async with app.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: "3s" in app.view.render_line(0).text)
        await pilot.resize_terminal(50, 15)
        await until(pilot, lambda: app.view.size.width == 50)
        await pilot.pause()
        app.view.painted_lines.clear()
        app.clock.now += 2 * SECOND
        await asyncio.wait_for(_until_painted(app), 10)


async def _until_painted(app: Screen) -> None:
    while 0 not in app.view.painted_lines:
        await asyncio.sleep(0.01)
