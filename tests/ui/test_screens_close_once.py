"""Two keys that come at once close one screen, never the one below it."""

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Static

from memtui.ui.app import MemtuiApp
from memtui.ui.screens.dialogs import Choice, ConfirmScreen, DismissOnceScreen, MenuScreen, PromptScreen


@pytest.mark.parametrize(
    ("above", "keys"),
    [
        (lambda: MenuScreen("Which?", (Choice("e", "one", "one"), Choice("n", "two", "two"))), "en"),
        (lambda: MenuScreen("Which?", (Choice("e", "one", "one"),)), ("escape", "escape")),
        (lambda: ConfirmScreen("Is it so?"), "yy"),
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


class Late(DismissOnceScreen[str]):
    """A screen that looks for its widgets when it is mounted."""

    def compose(self) -> ComposeResult:
        yield Static("here", id="here")

    def on_mount(self) -> None:
        self.query_one("#here", Static).update("found")


async def test_a_screen_that_is_closed_before_it_is_mounted_is_closed_once_it_is() -> None:
    app, answers = App[None](), list[object]()
    async with app.run_test() as pilot:
        below = Screen[None]()
        await app.push_screen(below)
        above = Late()
        app.push_screen(above, answers.append)
        assert not above.is_mounted
        above.dismiss("a")
        above.dismiss("b")
        for _ in range(20):
            await pilot.pause()
            if app.screen is below:
                break
        assert app.screen is below
        assert answers == ["a"]


@pytest.mark.parametrize("event", [Key("a", "a"), Key("ctrl+c", None)])
def test_a_key_that_comes_when_the_last_screen_has_gone_does_nothing(tmp_path: Path, event: Key) -> None:
    app = MemtuiApp(str(tmp_path))
    assert not app.screen_stack, "as it is again at the end"
    app.on_key(event)
