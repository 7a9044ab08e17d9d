"""What stands in the row under the cursor can be read, and which row that is can be seen."""

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from memtui.ui import palettes
from memtui.ui.screens.commands import ThemeScreen
from memtui.ui.widgets.choice_list import ChoiceList


class _Choosing(App[None]):
    def __init__(self, theme: str) -> None:
        super().__init__()
        self.register_theme(palettes.get_theme(theme))
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield ChoiceList(*(Content.assemble(("k ", "bold $text-accent"), "words") for _ in range(2)), markup=False)


@pytest.mark.parametrize("theme", [palettes.DARK, palettes.LIGHT, palettes.ANSI_DARK])
async def test_the_row_under_the_cursor_has_one_colour(theme: str) -> None:
    app = _Choosing(theme)
    async with app.run_test() as pilot:
        options = app.query_one(ChoiceList)
        options.highlighted = 1
        await pilot.pause()
        first, second = (
            [each.style and each.style.color for each in options.render_line(row) if each.text.strip()]
            for row in (0, 1)
        )
        assert len(set(second)) == 1
        assert len(set(first)) == 2


@pytest.mark.parametrize("theme", [palettes.DARK, palettes.LIGHT, palettes.ANSI_DARK, palettes.ANSI_LIGHT])
async def test_the_row_that_enter_chooses_is_on_another_ground_while_a_filter_is_typed(theme: str) -> None:
    app = _Choosing(theme)
    async with app.run_test() as pilot:
        await app.push_screen(ThemeScreen(["one", "two"], "one", lambda _: None))
        await pilot.pause()
        options = app.screen.query_one(ChoiceList)
        grounds = [
            {each.style and each.style.bgcolor for each in options.render_line(row) if each.text.strip()}
            for row in (0, 1)
        ]
        assert options.highlighted == 0
        assert not options.has_focus
        assert grounds[0] != grounds[1]
