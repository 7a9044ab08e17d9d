"""Screens hold controllers: their keys, messages, actions and workers are those of the screen."""

from functools import partial
from typing import Any, ClassVar

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.widgets import Input, Static

from memtui.ui.controller import ControlledScreen, Controller, _run_while_displayed, controller_work


class Counter(Controller["Held"]):
    """Counts keys and messages."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add(2)", "add", id="counter.add", tooltip="Add"),
        Binding("x", "never", "never", id="counter.never", tooltip="Never"),
        Binding("w", "count_later", "later", id="counter.later", tooltip="Later"),
    ]

    def __init__(self, screen: "Held") -> None:
        super().__init__(screen)
        self.count = 0
        self.typed: list[str] = []

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        return action != "never"

    def action_add(self, number: int) -> None:
        self.count += number

    def action_never(self) -> None:
        self.count = -1

    def action_count_later(self) -> None:
        self._count_later(10)

    @controller_work(group="count")
    async def _count_later(self, number: int) -> None:
        self.count += number

    @on(Input.Changed, "#named")
    def _take_text(self, message: Input.Changed) -> None:
        self.typed.append(message.value)

    @on(Input.Submitted)
    async def _reset(self) -> None:
        self.count = 0


class Held(ControlledScreen[None]):
    """A screen with one controller and a binding of its own."""

    AUTO_FOCUS = ""
    CONTROLLERS = (Counter,)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("b", "own", "own", id="held.own", tooltip="Own")]

    def __init__(self) -> None:
        super().__init__()
        self.counter = self.attach(Counter(self))
        self.owned = 0

    def compose(self) -> ComposeResult:
        yield Static("held")
        yield Input(id="named")
        yield Input(id="other")

    def action_own(self) -> None:
        self.owned += 1


class Holding(App[None]):
    """Shows the screen."""

    def get_default_screen(self) -> Any:
        return Held()


async def test_a_screen_runs_the_actions_handlers_and_workers_of_its_controllers() -> None:
    async with Holding().run_test() as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, Held)
        await pilot.press("a", "b", "x", "w")
        await pilot.app.workers.wait_for_complete()
        assert (screen.counter.count, screen.owned) == (12, 1)
        screen.query_one("#other", Input).value = "no"
        screen.query_one("#named", Input).value = "yes"
        await pilot.pause()
        assert screen.counter.typed == ["yes"]
        screen.query_one("#named", Input).focus()
        await pilot.press("enter")
        await pilot.pause()
        assert screen.counter.count == 0
        screen.set_focus(None)
        await pilot.pause()
        ids = [active.binding.id for active in screen.active_bindings.values() if active.binding.id]
        assert [each for each in ids if each.startswith(("counter", "held"))] == [
            "counter.add",
            "counter.later",
            "held.own",
        ]


async def test_a_worker_that_finds_its_widgets_gone_ends_with_its_screen() -> None:
    async def look(name: str) -> None:
        held.query_one(name)

    app = App[None]()
    async with app.run_test():
        held = Held()
        await app.push_screen(held)
        await _run_while_displayed(held, partial(look, "#named"))
        with pytest.raises(NoMatches):
            await _run_while_displayed(held, partial(look, "#none"))
    await _run_while_displayed(held, partial(look, "#named"))
    with pytest.raises(NoMatches):
        await look("#named")
