"""The demo and a replay: the browser over a folder, and commands in a thread."""

import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from memtui.agents.chat.sessions.replay import ReplayedRecord
from memtui.agents.demo import load_captions, play_story, prepare_folder
from memtui.config import LoadedConfig
from memtui.core.errors import MemtuiError
from memtui.engine import Engine
from memtui.memory import open as open_memory
from memtui.ui.app import MemtuiApp, filter_screen_settings, run
from memtui.ui.key_names import label_key
from memtui.ui.messages import FailureReported, NoticePosted
from memtui.ui.screens.tour import TourGuide

_LABEL = "scripted demo"
_END_SECONDS = 2.0


def run_demo_app(
    *, speed: float = 1.0, keep: str | None = None, tour: bool = True, loaded: LoadedConfig | None = None
) -> int:
    """Run the demo until the person leaves; returns the exit code.

    Args:
        speed: How many times as fast as at human pace.
        keep: A directory that keeps the memories; it must be missing or empty. By default they are temporary.
        tour: Whether captions explain the screen on the way.
        loaded: The settings of the screen; the demo's memory has the defaults.

    Raises:
        FileExistsError: `keep` holds something already; nothing was changed there.
    """
    with tempfile.TemporaryDirectory(prefix="memtui-demo-") as temporary:
        folder = Path(keep).expanduser() if keep else Path(temporary, "memories")
        if folder.exists() and any(folder.iterdir()):
            raise FileExistsError(f"{folder} is not empty. The demo writes into a new or empty folder only.")
        folder.mkdir(parents=True, exist_ok=True)
        prepare_folder(folder)
        state = str(Path(temporary, "state"))

        def play(app: MemtuiApp, memory: Engine, stop: threading.Event) -> str:
            guide = TourGuide(app, stop, load_captions() if tour else [])
            play_story(memory, speed=speed, stop=stop, listener=guide.follow)
            return f"The demo is over. Look around as long as you like; {label_key('app.back')} quits."

        return _run_story(str(folder), state, _LABEL, play, "The demo stopped", loaded)


def _run_story(
    folder: str, state: str, label: str, play: Callable[[MemtuiApp, Engine, threading.Event], str], failure: str,
    loaded: LoadedConfig | None,
) -> int:  # fmt: skip
    """Run the browser over a folder in which a thread plays a story, which returns a notice for its end."""
    app = MemtuiApp(folder, state=state, label=label, loaded=filter_screen_settings(loaded))
    stop = threading.Event()

    def run_thread() -> None:
        try:
            with open_memory(folder, state=state) as memory:
                notice = play(app, memory, stop)
        except (MemtuiError, OSError) as error:
            if not stop.is_set():
                app.screen.post_message(FailureReported(f"{failure}: {error}"))
            return
        if not stop.wait(_END_SECONDS):  # time to see the last call
            app.screen.post_message(NoticePosted(notice))

    thread = threading.Thread(target=run_thread, daemon=True)
    app.when_opened = thread.start
    try:
        return run(app)
    finally:
        stop.set()
        if thread.is_alive():
            thread.join()


Replay = Callable[[Engine, Callable[[float], object]], Iterable[ReplayedRecord]]
"""Replays in a memory, given how to wait for seconds."""


def run_replay_app(folder: str, state: str, label: str, replay: Replay, *, loaded: LoadedConfig | None = None) -> int:
    """Replay until the person leaves, which may be before the end or after it; returns the exit code.

    Args:
        folder: The scratch folder.
        state: The directory of its journal.
        label: A name for the header.
        loaded: The settings of the screen; a replay's memory has the defaults.
    """

    def play(_: MemtuiApp, memory: Engine, stop: threading.Event) -> str:
        def wait(seconds: float) -> None:
            if stop.wait(seconds):
                raise InterruptedError  # not reported: the person has left

        differing = 0
        for each in replay(memory, wait):
            differing += each.differs
            if stop.is_set():
                break
        words = f"{differing:,} answers differ" if differing else "every answer is the same"
        return f"The replay is over: {words}. {label_key('app.back')} quits and prints details."

    return _run_story(folder, state, label, play, "The replay stopped", loaded)
