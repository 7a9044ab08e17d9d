"""Progress of slow work, which can be stopped; quick work shows nothing."""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.core.unicode import to_one_line
from memtui.flows.dialog import Step
from memtui.ui.key_names import label_key
from memtui.ui.theme import truncate

PATIENCE = 0.4
"""Seconds without a progress line: one that only flashes startles."""
_LOOK_SECONDS = 0.1
_BAR = 24
"""Cells."""

T = TypeVar("T")


class ProgressState:
    """The progress of work; written by a thread, read by the screen."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.stopped = False
        self.ended = False

    def step(self, done: int, total: int) -> bool:
        """Record a step; returns False once the work was stopped."""
        self.done, self.total = done, total
        return not self.stopped


class ProgressScreen(ModalScreen[None]):
    """Shows the progress of work. Esc stops it: completed steps stay, and can be undone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "stop", "stop", id="progress.stop", tooltip="Stop; what is done stays done")
    ]

    DEFAULT_CSS = """
    ProgressScreen { background: transparent; }
    ProgressScreen #going { dock: bottom; height: 2; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, words: str, going: ProgressState, *, can_stop: bool = True) -> None:
        super().__init__()
        self._words = words
        self._progress = going
        self._can_stop = can_stop

    def compose(self) -> ComposeResult:
        yield Static(id="going", markup=False)

    def on_mount(self) -> None:
        self._update_progress()
        self.set_interval(_LOOK_SECONDS, self._update_progress)

    def _update_progress(self) -> None:
        going = self._progress
        if going.ended:
            if self.is_active:
                self.dismiss(None)
            return
        words = to_one_line(self._words)
        if going.total:
            words = f"{words}: {going.done:,} of {going.total:,}"
        filled = _BAR * going.done // going.total if going.total else 0
        bar = f"[{'=' * filled}{' ' * (_BAR - filled)}]" if going.total else ""
        keys = (
            f"{label_key('progress.stop')} stops; what is done by then stays done." if self._can_stop else "A moment."
        )
        if going.total and going.done >= going.total:
            keys = "Done. It is being recorded."
        elif going.stopped:
            keys = "Stopping .."
        width = max(self.size.width - 2, 1)
        first = f"{truncate(words, max(width - _BAR - 4, 1))}  {bar}"
        self.query_one("#going", Static).update(Content(f"{first}\n{truncate(keys, width)}"))

    def action_stop(self) -> None:
        self._progress.stopped = self._can_stop
        self._update_progress()


async def run_with_progress(
    app: App[Any], words: str, call: Callable[[Step], T], *, can_stop: bool = True, patience: float = PATIENCE
) -> T:
    """Run work in a thread, with a progress line if it takes longer than `patience` seconds.

    Args:
        app: The application.
        words: The work, such as `Renaming 500 files`.
        call: The work; given a function for its progress that returns whether to go on.
        can_stop: Whether `call` heeds that.
        patience: In seconds.
    """
    going, screen = ProgressState(), None
    task = asyncio.ensure_future(asyncio.to_thread(call, going.step))
    try:
        done, _ = await asyncio.wait({task}, timeout=patience)
        if not done:
            screen = ProgressScreen(words, going, can_stop=can_stop)
            await app.push_screen(screen)
        return await task
    except asyncio.CancelledError:
        going.stopped = True  # the program ends: so does the thread, at its next step
        raise
    finally:
        going.ended = True  # should another screen be above it by now, it goes once that has gone
        if screen is not None and screen.is_active:
            await screen.dismiss(None)
