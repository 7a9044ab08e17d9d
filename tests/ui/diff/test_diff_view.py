"""The diff on screen: words that stand out without colour, places that are kept, and no waiting."""

import pytest
from textual.app import App, ComposeResult

from memtui.core.diffs import compare_texts
from memtui.ui.widgets.diff.layout import DiffArrangement, DiffComparison
from memtui.ui.widgets.diff.view import DiffView
from tests.bench.limits import at_most


class DiffApp(App[None]):
    """A diff that fills the screen."""

    CSS = "DiffView { border: round $accent; }"

    def __init__(self, before: str = "", after: str = "", comparison: DiffComparison | None = None) -> None:
        super().__init__()
        self.view = DiffView()
        self.comparison = comparison or DiffComparison(compare_texts(before, after))

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()
        self.view.show(self.comparison, ("before", "after"))


def drawn(view: DiffView) -> list[str]:
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


NUMBERED = "".join(f"line {number}\n" for number in range(300))
CHANGED = "".join(f"line {number}{' changed' * (number in (40, 150, 260))}\n" for number in range(300))


async def test_changed_words_are_underlined_and_not_only_coloured() -> None:
    app = DiffApp("Prefers concise answers\n", "Prefers very concise answers\n")
    async with app.run_test(size=(80, 24)):
        segments = [segment for y in range(2) for segment in app.view.render_line(y)]
        assert [segment.text for segment in segments if segment.style and segment.style.underline] == ["very "]
        app.view.action_words()
        segments = [segment for y in range(2) for segment in app.view.render_line(y)]
        assert not any(segment.style and segment.style.underline for segment in segments)


@pytest.mark.parametrize("theme", ["textual-dark", "catppuccin-latte", "ansi-dark", "nord"])
async def test_added_and_removed_lines_differ_in_sign_and_colour_and_nothing_is_dim(theme: str) -> None:
    app = DiffApp("one\n", "two\n")
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        await pilot.pause()
        removed, added = app.view.render_line(0), app.view.render_line(1)
        assert (removed.text.strip(), added.text.strip()) == ("┃- one", "┃+ two")
        styles = [
            next(segment.style for segment in strip if segment.text in ("one", "two")) for strip in (removed, added)
        ]
        assert styles[0] is not None
        assert styles[1] is not None
        assert styles[0].color != styles[1].color
        assert not any(segment.style and segment.style.dim for strip in (removed, added) for segment in strip)


@pytest.mark.parametrize(
    "theme", ["textual-dark", "textual-light", "catppuccin-latte", "ansi-dark", "ansi-light", "nord"]
)
async def test_changed_words_can_be_read_in_every_theme(theme: str) -> None:
    app = DiffApp("Europe/Berlin\n", "Europe/Lisbon\n")
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        await pilot.pause()
        for y, word in enumerate(("Berlin", "Lisbon")):
            [style] = [segment.style for segment in app.view.render_line(y) if segment.text == word]
            assert style is not None
            assert style.color != style.bgcolor


async def test_the_current_hunk_stays_in_view_when_all_else_changes() -> None:
    app = DiffApp(NUMBERED, CHANGED)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        for change in ("x", "s", "w", (130, 40), (70, 20), "s", "x"):
            if isinstance(change, str):
                await pilot.press(change)
            else:
                await pilot.resize_terminal(*change)
                await pilot.pause()
            assert app.view.position == (2, 3), change
            assert any("150 changed" in line for line in drawn(app.view)), change


async def test_nothing_is_folded_that_has_room_until_somebody_folds_it() -> None:
    text = "".join(f"{number}\n" for number in range(16))
    app = DiffApp(text, text.replace("8\n", "eight\n"))
    async with app.run_test(size=(80, 24)) as pilot:
        assert len(drawn(app.view)) >= 17
        assert not any("unchanged" in line for line in drawn(app.view))
        await pilot.resize_terminal(80, 12)
        await pilot.pause()
        assert any("unchanged" in line for line in drawn(app.view))
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert not any("unchanged" in line for line in drawn(app.view))
        await pilot.press("x")
        assert any("unchanged" in line for line in drawn(app.view))
        await pilot.press("x")
        assert not any("unchanged" in line for line in drawn(app.view))


async def test_text_that_is_read_stays_in_view_when_the_arrangement_changes() -> None:
    app = DiffApp(NUMBERED, CHANGED)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("x")
        app.view.scroll_to(y=90, animate=False)
        await pilot.pause()
        top = drawn(app.view)[0].split()
        await pilot.press("s")
        assert app.view.arrangement is DiffArrangement.SIDES
        assert " ".join(top) in drawn(app.view)[0]


async def test_every_row_can_be_reached_with_keys() -> None:
    app = DiffApp(NUMBERED, NUMBERED + "word " * 300 + "the end")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("G")
        assert "the end" in " ".join(drawn(app.view))
        await pilot.press("g", "x", "pagedown", "pagedown", "j", "k", "ctrl+d", "ctrl+u")
        seen: set[str] = set()
        await pilot.press("g")
        for _ in range(40):
            seen.update(drawn(app.view))
            await pilot.press("pagedown")
        assert {f"   line {number}" for number in range(300)} <= seen


async def test_a_notice_stands_where_there_is_nothing_to_compare() -> None:
    app = DiffApp("one\n", "two\n")
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.show_notice("No difference", "Both hold [/x] the same \x1b text.")
        await pilot.pause()
        text = " ".join(drawn(app.view))
        assert "No difference" in text
        assert "Both hold [/x] the same \\x1b text." in text
        await pilot.press("n", "x", "s", "G", "pageup")
        assert app.view.hunk is None


async def test_a_hundred_thousand_changed_lines_scroll_at_once(hundred_thousand_lines: DiffComparison) -> None:
    app = DiffApp(comparison=hundred_thousand_lines)
    async with app.run_test(size=(120, 36)) as pilot:
        with at_most(3):
            for key in ("G", "pageup", "g", "pagedown", "n", "s", "G", "x"):
                await pilot.press(key)
                drawn(app.view)
