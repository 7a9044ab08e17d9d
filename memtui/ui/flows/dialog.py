"""The dialog of the flows on screens: questions, menus and progress."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.app import App
from textual.screen import Screen

from memtui.core import wording
from memtui.core.events import Event
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.flows.dialog import Choice, Dialog, Step
from memtui.ui.flows.progress import run_with_progress
from memtui.ui.key_names import label_key
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen

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
