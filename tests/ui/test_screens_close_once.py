"""Two keys that come at once close one screen, never the one below it."""

import pytest
from textual.app import App
from textual.events import Key
from textual.screen import Screen

from memtui.ui.screens.ask import AskScreen, PromptScreen
from memtui.ui.screens.menu import Choice, MenuScreen


@pytest.mark.parametrize(
    ("above", "keys"),
    [
        (lambda: MenuScreen("Which?", (Choice("e", "one", "one"), Choice("n", "two", "two"))), "en"),
        (lambda: MenuScreen("Which?", (Choice("e", "one", "one"),)), ("escape", "escape")),
        (lambda: AskScreen("Is it so?"), "yy"),
        (lambda: PromptScreen("Line", "1 to 9"), ("enter", "enter")),
    ],
)
async def test_the_second_key_does_not_close_the_screen_below(above: object, keys: object) -> None:
    app, answers = App[None](), list[object]()
    async with app.run_test() as pilot:
        below = Screen[None]()
        await app.push_screen(below)
        await app.push_screen(above(), answers.append)  # type: ignore[operator]
        for key in keys:  # type: ignore[attr-defined]
            app.post_message(Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        await pilot.pause()
        assert app.screen is below
        assert len(answers) == 1
