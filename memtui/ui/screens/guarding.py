"""The keys of the browser that pin memories on top, and that keep agents from changing them.

Both are kept beside the record, out of the agents' reach, and known to every window over the same folder.
"""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen

from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.ui.files.news import moved_by
from memtui.ui.files.picks import lies_in_any
from memtui.ui.messages import Happened, Opened
from memtui.ui.said_keys import said
from memtui.ui.screens.choosing import Choosing
from memtui.ui.screens.menu import Choice, MenuScreen

_GUARDING = frozenset({"protect", "unprotect"})


class Guarding(Choosing):
    """A screen over a memory, in which some of it is pinned and some is protected."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "pin", "pin", id="file.pin", tooltip="Pin it on top, or no longer", show=False),
        Binding("apostrophe", "pins", "pins", id="file.pins", tooltip="To a pinned memory", show=False),
        Binding(
            "colon_protect", "protect", "protect", id="file.protect",
            tooltip="Protect it from agents, or no longer", show=False,
        ),
    ]  # fmt: skip

    @work
    async def action_pin(self) -> None:
        """Pin what is under the cursor on top, or put it back."""
        path = self._one_target() if not self.files.picked else ""
        targets = [path] if path else self._targets()
        if not targets:
            return
        pinned = not all(self.files.outline.is_pinned(path) for path in targets)

        def change(pins: tuple[str, ...]) -> list[str]:
            return [*pins, *targets] if pinned else [pin for pin in pins if pin not in targets]

        if await self._change_pins(change):
            what = one_line(targets[0]) if len(targets) == 1 else f"{len(targets):,}"
            leads, puts = said("file.pins", "'"), said("file.pin", "b")
            hint = f" {leads} leads to it, {puts} puts it back." if len(targets) == 1 else f" {puts} puts them back."
            self.message.say(f"Pinned {what} on top.{hint}" if pinned else f"No longer pinned: {what}.")

    async def _change_pins(self, change: Callable[[tuple[str, ...]], list[str]]) -> bool:
        """Change what is pinned, here and where it is kept."""
        engine = self._session.engine
        if engine is None:
            return False
        from memtui.ui.pinned import change_pins  # deferred: not needed for the first paint

        try:
            pins = await asyncio.to_thread(change_pins, engine, change)
        except Closed:
            return False
        except (MemtuiError, OSError) as error:
            self.message.say(f"The pins cannot be kept: {error}", warning=True)
            return False
        self.files.set_pins(pins)
        return True

    @work
    async def action_pins(self) -> None:
        """Choose a pinned memory, and go there."""
        pins = [path for path in self.files.pins if path in self.files.outline]
        if not pins:
            self.message.say(f"Nothing is pinned. {said('file.pin', 'b')} pins what is under the cursor on top.")
            return
        keys = "123456789"
        choices = [Choice(keys[at] if at < len(keys) else " ", one_line(path), path) for at, path in enumerate(pins)]
        screen: Screen[str | None] = MenuScreen("Pinned", choices)
        chosen = await self.app.push_screen_wait(screen)
        if chosen is not None:
            self.files.focus()
            self.files.move_to(chosen)

    @work
    async def action_protect(self) -> None:
        """Let no agent change what is under the cursor, or let them again."""
        targets = self._targets() if self._one_target() else []
        if not targets:
            return
        from memtui.ui.managing import courses  # deferred: not needed for the first paint

        guarded = self.files.protected
        around = next((each for each in guarded if each not in targets and lies_in_any(targets[0], [each])), None)
        if len(targets) == 1 and around is not None:
            place = f"{one_line(around)}/" if around else "the whole folder"
            self.message.say(f"{one_line(targets[0])} is protected with {place}; only all of that can be let go.")
            return
        on = not all(path in guarded for path in targets)
        came = await self._manage(lambda engine: courses.protect(engine, targets, self._known(), on=on))
        if came.done:
            self._look_at_guarded()

    # What happens meanwhile

    @on(Opened)
    def _recall_pins(self) -> None:
        self._look_at_pins()
        self._look_at_guarded()

    @work(thread=True, exclusive=True, group="pins", exit_on_error=False)
    def _look_at_pins(self) -> None:
        engine = self._session.engine
        if engine is None:
            return
        from memtui.ui.pinned import pins_of  # deferred: behind the first paint

        try:
            pins = pins_of(engine)
        except (MemtuiError, OSError):
            return  # whatever it is, it is told by those who bring the events
        self.app.call_from_thread(self.files.set_pins, pins)

    @work(thread=True, exclusive=True, group="guarded", exit_on_error=False)
    def _look_at_guarded(self) -> None:
        engine = self._session.engine
        if engine is None:
            return
        try:
            guarded = engine.files.protected()
        except (MemtuiError, OSError):
            return
        self.app.call_from_thread(self.files.set_protected, guarded)

    @on(Happened)
    def _take_along(self, message: Happened) -> None:
        """Pins go where their memories go; what is protected may be something else by now."""
        moved = any(moved_by(event) for event in message.events)
        if moved and self.files.pins:
            self._look_at_pins()
        if (moved and self.files.protected) or any(event.command in _GUARDING for event in message.events):
            self._look_at_guarded()
