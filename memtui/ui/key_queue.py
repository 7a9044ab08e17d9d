"""Keys, one after the other: a key of a burst goes to the screen that the key before it opened.

Textual forwards a key to what has the focus when the key is read. Of `:` and `r` that come at once, `r` would reach the
files, before `:` has opened the commands; the action would run on whichever screen is topmost by then.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.dom import DOMNode
from textual.events import Key, Paste
from textual.screen import Screen

from memtui.ui.textual_private import get_key_bindings

_LIMIT_SECONDS = 1.0
"""How long a key may keep the next one waiting: one that asks and waits for an answer must not stop all keys.
A screen may have its keys wait for as long."""
_LOOKS = 10
"""Parts in which it is waited for: the time in which the machine stood still is one part, however long it was."""


class KeyQueue:
    """Hands keys and pastes to an application, each when the one before has been handled.

    Args:
        app: The application.
        deliver: Gives an event to Textual.
    """

    def __init__(self, app: App[Any], deliver: Callable[[Key | Paste], Awaitable[None]]) -> None:
        self._app = app
        self._deliver = deliver
        self._waiting: deque[Key | Paste] = deque()
        self._turn = 0
        """The number of the key that is being handled."""
        self._limit: asyncio.TimerHandle | None = None
        self._hold_limit: asyncio.TimerHandle | None = None

    def discard(self) -> None:
        """Forget the keys that wait."""
        self._waiting.clear()

    async def put(self, event: Key | Paste) -> None:
        """Hand a key on, or keep it until its turn; a key of the application that has priority does not wait."""
        if isinstance(event, Key) and any(each.priority for each in get_key_bindings(self._app, event.key)):
            await self._deliver(event)
            return
        self._waiting.append(event)
        if self._limit is None:
            await self._deliver_next()

    async def resume(self) -> None:
        """Deliver the keys that waited until a screen could take them."""
        if self._hold_limit is not None:
            self._hold_limit.cancel()
            self._hold_limit = None
        if self._limit is None:
            await self._deliver_next()

    def _end_hold(self, screen: Screen[Any]) -> None:
        screen.holds_keys = False  # type: ignore[attr-defined]
        self._app.call_next(self.resume)

    async def _deliver_next(self) -> None:
        if not self._waiting or not self._app.screen_stack:
            return
        if getattr(screen := self._app.screen, "holds_keys", False):
            if self._hold_limit is None:
                loop = asyncio.get_running_loop()
                self._hold_limit = loop.call_later(_LIMIT_SECONDS, self._end_hold, screen)
            return
        self._turn += 1
        turn, event, target = self._turn, self._waiting.popleft(), self._app.focused or self._app.screen
        self._start_limit(turn, _LOOKS)
        await self._deliver(event)
        self._follow(target if event.is_forwarded else None, turn, again=target)

    # A key goes from a widget to those around it, the screen and the application, each with a queue of its own; a
    # binding is looked up at the end of this way, and its action may post messages that go the same way once more. A
    # callback follows them: twice through each queue, behind the messages that the key led to.

    def _follow(self, node: DOMNode | None, turn: int, again: DOMNode | None) -> None:
        while node is not None and node is not self._app:
            if node.call_later(node.call_later, self._follow, node.parent, turn, again):
                return
            node = node.parent
        if again is not None:
            self._app.call_later(self._follow, again, turn, None)
        else:
            self._app.call_later(self._app.call_next, self._await_screen, turn)  # behind the answer of a closed screen

    def _await_screen(self, turn: int) -> None:
        """Let the topmost screen, which may be new, get ready and set its focus."""
        screen = self._app.screen if self._app.screen_stack else None
        if screen is None or not screen.call_later(self._app.call_later, self._app.call_next, self._finish, turn):
            self._app.call_next(self._finish, turn)

    async def _finish(self, turn: int) -> None:
        if turn == self._turn and self._limit is not None:
            self._limit.cancel()
            self._limit = None
            await self._deliver_next()

    def _start_limit(self, turn: int, looks: int) -> None:
        self._limit = asyncio.get_running_loop().call_later(_LIMIT_SECONDS / _LOOKS, self._expire, turn, looks - 1)

    def _expire(self, turn: int, looks: int) -> None:
        if looks:
            self._start_limit(turn, looks)
        else:
            self._app.call_next(self._finish, turn)
