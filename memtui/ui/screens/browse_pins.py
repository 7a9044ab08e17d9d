"""Pin memories on top of the files, and protect memories from agents."""

import asyncio
from contextlib import suppress
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.unicode import to_one_line
from memtui.flows.dialog import number_choices
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import EventsRecorded, FolderOpened
from memtui.ui.screens.browse_files import SelectionController
from memtui.ui.screens.folder import FolderController, FolderScreen
from memtui.ui.widgets.tree.changes import get_moves
from memtui.ui.widgets.tree.outline import is_in_any


class PinController(FolderController):
    """Pins memories (`b`), lists the pinned ones (`'`), and protects memories from agents."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "pin", "pin", id="file.pin", tooltip="Pin or unpin", show=False),
        Binding("apostrophe", "pins", "pins", id="file.pins", tooltip="Go to a pinned note", show=False),
        Binding("colon_protect", "protect", "protect", id="file.protect",
                tooltip="Protect from agents on/off", show=False),
    ]  # fmt: skip

    def __init__(self, screen: FolderScreen, selection: SelectionController) -> None:
        super().__init__(screen)
        self._selection = selection

    @controller_work()
    async def action_pin(self) -> None:
        targets, engine = self._selection.require_targets(), self.session.engine
        if not targets or engine is None:
            return
        pinned = not all(self.files.outline.is_pinned(path) for path in targets)

        def change(pins: tuple[str, ...]) -> list[str]:
            return [*pins, *targets] if pinned else [pin for pin in pins if pin not in targets]

        try:
            self.files.set_pins(await asyncio.to_thread(engine.update_pins, change))
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            self.message.show_message(f"Pins not saved: {error}", warning=True)
            return
        what = to_one_line(targets[0]) if len(targets) == 1 else f"{len(targets):,}"
        leads, puts = label_key("file.pins"), label_key("file.pin")
        hint = f" {leads} goes to it, {puts} unpins it." if len(targets) == 1 else f" {puts} unpins them."
        self.message.show_message(f"Pinned {what} on top.{hint}" if pinned else f"Unpinned {what}.")

    @controller_work()
    async def action_pins(self) -> None:
        pins = [path for path in self.files.outline.pins if path in self.files.outline]
        if not pins:
            key = label_key("file.pin")
            self.message.show_message(f"Nothing is pinned. {key} pins the file under the cursor.")
            return
        choices = number_choices((to_one_line(path), path) for path in pins)
        chosen = await self.choose("Pinned", choices)
        if chosen is not None:
            self.files.focus()
            self.files.move_to(chosen)

    @controller_work()
    async def action_protect(self) -> None:
        targets, protected = self._selection.require_targets(), self.files.protected
        if not targets:
            return
        from memtui.ui.flows import files as flows  # noqa: PLC0415 - start-up: loads the flows

        around = next((each for each in protected if each not in targets and is_in_any(targets[0], [each])), None)
        if len(targets) == 1 and around is not None:
            place, path = f"{to_one_line(around)}/" if around else "the whole folder", to_one_line(targets[0])
            self.message.show_message(f"{path} is protected by {place}. Unprotect {place} instead.")
            return
        on = not all(path in protected for path in targets)
        outcome = await self._selection.run_flow(
            lambda engine: flows.protect(engine, targets, self._selection.make_context(), on=on)
        )
        if outcome.is_changed:
            self._load_protection()

    @on(FolderOpened)
    def _load_pins_and_protection(self) -> None:
        self._load_pins()
        self._load_protection()

    @controller_work(thread=True, exclusive=True, group="pins", exit_on_error=False)
    def _load_pins(self) -> None:
        from memtui.engine.pins import load_pins  # noqa: PLC0415 - start-up: loads the engine

        with suppress(MemtuiError, OSError):  # the session reports them
            if engine := self.session.engine:
                self.app.call_from_thread(self.files.set_pins, load_pins(engine))

    @controller_work(thread=True, exclusive=True, group="guarded", exit_on_error=False)
    def _load_protection(self) -> None:
        with suppress(MemtuiError, OSError):  # the session reports them
            if engine := self.session.engine:
                self.app.call_from_thread(setattr, self.files, "protected", frozenset(engine.files.get_protected()))

    @on(EventsRecorded)
    def _update_moved_pins(self, message: EventsRecorded) -> None:
        """Read pins and protection again where an event has moved, pinned or protected paths."""
        moved = any(get_moves(event) for event in message.events)
        changes_pins = any(event.command in ("pin", "unpin") for event in message.events)
        if changes_pins or (moved and self.files.outline.pins):
            self._load_pins()
        changes_protection = any(event.command in ("protect", "unprotect") for event in message.events)
        if changes_protection or (moved and self.files.protected):
            self._load_protection()
