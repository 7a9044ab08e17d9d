"""What takes long says how far it is, and can be stopped; what does not take long shows nothing at all."""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.core.visible import one_line
from memtui.ui.text import fit

Step = Callable[[int, int], bool]
"""Told how much of how much is done; its answer says whether to go on."""

PATIENCE = 0.4
"""Seconds for which nothing is shown: a line that comes and goes in a blink only startles."""
_LOOK_SECONDS = 0.1
_BAR = 24
"""Cells of the bar."""

T = TypeVar("T")


class Going:
    """How far something is; written by a thread, read by the screen."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.stopped = False
        self.ended = False

    def step(self, done: int, total: int) -> bool:
        """Take note; False once it was stopped."""
        self.done, self.total = done, total
        return not self.stopped


class ProgressScreen(ModalScreen[None]):
    """Shows how far something is. Esc stops it: what is done by then stays done, and can be taken back.

    Args:
        words: What is done, such as `Renaming 500 files`.
        going: How far it is.
        can_stop: Whether it can be stopped; else nobody is offered it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "stop", "stop", id="progress.stop", tooltip="Stop; what is done stays done"),
    ]

    DEFAULT_CSS = """
    ProgressScreen { background: transparent; }
    ProgressScreen #going { dock: bottom; height: 2; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, words: str, going: Going, *, can_stop: bool = True) -> None:
        super().__init__()
        self._words = words
        self._going = going
        self._can_stop = can_stop

    def compose(self) -> ComposeResult:
        """The line where messages stand."""
        yield Static(id="going", markup=False)

    def on_mount(self) -> None:
        """Look how far it is, now and then."""
        self._look()
        self.set_interval(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        going = self._going
        if going.ended:
            if self.is_active:
                self.dismiss(None)
            return
        words = one_line(self._words)
        if going.total:
            words = f"{words}: {going.done:,} of {going.total:,}"
        filled = _BAR * going.done // going.total if going.total else 0
        bar = f"[{'=' * filled}{' ' * (_BAR - filled)}]" if going.total else ""
        keys = "Esc stops; what is done by then stays done." if self._can_stop else "A moment."
        if going.total and going.done >= going.total:
            keys = "Done. It is being recorded."
        elif going.stopped:
            keys = "Stopping .."
        width = max(self.size.width - 2, 1)
        first = f"{fit(words, max(width - _BAR - 4, 1))}  {bar}"
        self.query_one("#going", Static).update(Content(f"{first}\n{fit(keys, width)}"))

    def action_stop(self) -> None:
        """Stop, if it can be stopped."""
        self._going.stopped = self._can_stop
        self._look()


async def with_progress(
    app: App[Any], words: str, call: Callable[[Step], T], *, can_stop: bool = True, patience: float = PATIENCE
) -> T:
    """Run something in a thread, and show how far it is if it takes its time.

    Args:
        app: Where to show it.
        words: What is done.
        call: Does it; given what is to be told of each step.
        can_stop: Whether it listens to what its steps are answered.
        patience: Seconds for which nothing is shown.
    """
    going, screen = Going(), None
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
