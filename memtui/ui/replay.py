"""A replay to look at: a session's commands in a thread of their own, and the browser over their folder."""

import threading
from collections.abc import Callable, Iterable

from memtui.agents.chat.sessions.replaying import Replayed
from memtui.config import Loaded
from memtui.core.errors import MemtuiError
from memtui.engine import Engine
from memtui.opening import open as open_memory
from memtui.ui.app import MemtuiApp, run, screen_only
from memtui.ui.messages import Told, Trouble

Replay = Callable[[Engine, Callable[[float], object]], Iterable[Replayed]]
"""Replays in a memory, given how to wait for seconds."""

_END_SECONDS = 2.0


class _Stopped(Exception):
    """The person left before the end."""


def watch(folder: str, state: str, label: str, replay: Replay, *, loaded: Loaded | None = None) -> int:
    """Replay until the person leaves; she may leave before the end, and stay after it.

    Args:
        folder: The scratch folder.
        state: Where its journal lies.
        label: What this is, for the frame.
        replay: Does it.
        loaded: The settings of the screen; a replay's memory is as it always is.

    Returns:
        The exit code.
    """
    app = MemtuiApp(folder, state=state, label=label, loaded=screen_only(loaded))
    stop = threading.Event()
    thread = threading.Thread(target=_act, args=(app, folder, state, replay, stop), daemon=True)
    app.when_opened = thread.start
    try:
        return run(app)
    finally:
        stop.set()
        if thread.is_alive():
            thread.join()


def _act(app: MemtuiApp, folder: str, state: str, replay: Replay, stop: threading.Event) -> None:
    def wait(seconds: float) -> None:
        if stop.wait(seconds):
            raise _Stopped

    differing = 0
    try:
        with open_memory(folder, state=state) as memory:
            for each in replay(memory, wait):
                differing += each.differs
                if stop.is_set():
                    return
    except _Stopped:
        return
    except (MemtuiError, OSError) as error:
        if not stop.is_set():
            app.screen.post_message(Trouble(f"The replay stopped: {error}"))
        return
    if not stop.wait(_END_SECONDS):  # the last call is to be seen first
        words = f"{differing:,} of its answers differ" if differing else "every answer is as it was"
        app.screen.post_message(Told(f"The replay is over: {words}. q quits and says more."))
