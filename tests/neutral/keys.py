"""Pressing every key of a screen, to see what it leaves behind."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from textual.screen import Screen
from textual.widget import Widget

Press = Callable[..., Awaitable[object]]


async def press_every_key(
    screen: Screen[Any],
    press: Press,
    *,
    panes: Collection[str],
    is_left_out: Callable[[str], bool] = lambda _: False,
    stays_open: Collection[type[Widget]] = (),
) -> set[tuple[str, str]]:
    """Press each key that is bound on a screen, in each of its panes, and leave what it opened.

    Args:
        screen: The screen, which is the one that is shown.
        press: Presses keys and waits until the app has taken them, such as `Pilot.press`.
        panes: Keys, each of which goes to one pane.
        is_left_out: Whether a key is not pressed, by its binding's id: such as one that ends the session.
        stays_open: Widgets of the screen itself that are to be left with Escape, such as a line for a search.

    Returns:
        What was pressed: the binding's id and its key.
    """
    pressed: set[tuple[str, str]] = set()
    for pane in panes:
        await press(pane)
        for active in list(screen.active_bindings.values()):
            key, name = active.binding.key, active.binding.id or ""
            if is_left_out(name) or (name, key) in pressed:
                continue
            pressed.add((name, key))
            await press(pane, key)
            while screen.app.screen is not screen or any(screen.query(kind) for kind in stays_open):
                await press("escape")
    return pressed
