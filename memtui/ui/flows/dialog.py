"""The dialog of the flows on screens: questions, menus and progress."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from memtui.core import wording
from memtui.core.events import Event
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.flows.dialog import Choice, Dialog, Step
from memtui.ui.key_names import label_key
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from memtui.ui.theme import truncate

_MINUTE_US = 60_000_000
T = TypeVar("T")
P = ParamSpec("P")


class KeyPhrases:
    """Phrases that name keys."""

    def name_action(self, action: str) -> str:
        return label_key(action, short=action.startswith("edit."))  # as the key line of the editor writes them

    def format_event(self, event: Event) -> str:
        return wording.format_event_clause(event)

    def format_past_event(self, event: Event) -> str:
        return f"{self.format_event(event)}, {wording.format_age(time.time() - event.at_us / 1e6)} ago"

    def format_changed_lines(self, event: Event) -> str:
        return wording.format_changed_lines(event.added, event.removed)

    def format_restored(self, path: str, moment: str) -> str:
        return f"Restored {to_one_line(path)} {moment}."


PHRASES = KeyPhrases()


class AppDialog:
    """A dialog with the person in front of an app."""

    phrases = PHRASES

    def __init__(self, app: App[Any], engine: Engine) -> None:
        self.app = app
        self._engine = engine

    async def confirm(self, question: str) -> bool:
        screen: Screen[Any] = ConfirmScreen(question)
        return bool(await self.app.push_screen_wait(screen))

    async def choose(self, question: str, choices: Sequence[Choice], *, text: str = "") -> str | None:
        del text  # the note is in sight
        screen: Screen[str | None] = MenuScreen(question, choices)
        return await self.app.push_screen_wait(screen)

    async def ask_moment(self, question: str, seen: int) -> int | None:
        choices = [
            Choice("1", "the last 10 minutes", "10"),
            Choice("2", "the last hour", "60"),
            Choice("3", "today", "today"),
            Choice("4", f"I last marked all as seen (#{seen})", "seen"),
        ]
        match await self.choose(question, choices):
            case None:
                return None
            case "seen":
                return seen
            case "today":
                midnight = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)
                start = int(midnight.timestamp() * 1e6)
            case minutes:
                start = time.time_ns() // 1_000 - int(minutes) * _MINUTE_US
        return await self.call(lambda: self._engine.history.find_seq_at(start))

    async def call(self, work: Callable[[], T], label: str = "") -> T:
        """Run work in a thread: disk and database may be slow."""
        if label:
            return await run_with_progress(self.app, label, lambda _: work(), can_stop=False)
        return await asyncio.to_thread(work)

    async def run(self, label: str, work: Callable[[Step], T], *, can_stop: bool = True) -> T:
        """Run work in a thread, with progress if it is slow."""
        return await run_with_progress(self.app, label, work, can_stop=can_stop)


def ask_in_app(
    flow: Callable[Concatenate[Dialog, Engine, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[App[Any], Engine, P], Coroutine[Any, Any, T]]:
    """Let a flow ask in an app."""

    def run(app: App[Any], engine: Engine, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return flow(AppDialog(app, engine), engine, *args, **kwargs)

    return run


PATIENCE = 0.4
"""Seconds without a progress line: one that only flashes startles."""
_LOOK_SECONDS = 0.1
_BAR = 24
"""Cells."""


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
        Binding("escape,q", "stop", "stop", id="progress.stop", tooltip="Stop; finished steps are kept")
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
        keys = f"{label_key('progress.stop')} stops; finished steps are kept." if self._can_stop else "Please wait."
        if going.total and going.done >= going.total:
            keys = "Done. Saving the history."
        elif going.stopped:
            keys = "Stopping .."
        width = max(self.size.width - 2, 1)
        first = f"{truncate(words, max(width - _BAR - 4, 1))}  {bar}"
        for line in self.query("#going").results(Static):  # none, where the application ends meanwhile
            line.update(Content(f"{first}\n{truncate(keys, width)}"))

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
