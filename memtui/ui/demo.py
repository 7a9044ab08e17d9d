"""The demo: the scripted agent in a thread of its own, and the browser over its folder."""

import tempfile
import threading
from pathlib import Path

from memtui.agents.demo import play, prepare
from memtui.config import Loaded
from memtui.core.errors import MemtuiError
from memtui.opening import open as open_memory
from memtui.ui.app import MemtuiApp, run, screen_only
from memtui.ui.messages import Told, Trouble

_LABEL = "scripted demo"
_END_SECONDS = 2.0


def demo(*, speed: float = 1.0, keep: str | None = None, loaded: Loaded | None = None) -> int:
    """Run the demo until the person leaves it.

    Args:
        speed: How many times as fast as at human pace.
        keep: A directory that is to hold the memories afterwards; it must be missing or empty. By default they
            are made in a temporary directory and removed.
        loaded: The settings of the screen; the demo's memory is as it always is.

    Returns:
        The exit code.

    Raises:
        FileExistsError: `keep` holds something already; nothing was changed there.
    """
    with tempfile.TemporaryDirectory(prefix="memtui-demo-") as temporary:
        folder = Path(keep).expanduser() if keep else Path(temporary, "memories")
        if folder.exists() and any(folder.iterdir()):
            raise FileExistsError(f"{folder} is not empty. The demo writes into a new or empty folder only.")
        folder.mkdir(parents=True, exist_ok=True)
        prepare(folder)
        state = str(Path(temporary, "state"))
        app = MemtuiApp(str(folder), state=state, label=_LABEL, loaded=screen_only(loaded))
        stop = threading.Event()
        agent = threading.Thread(target=_act, args=(app, folder, state, speed, stop), daemon=True)
        app.when_opened = agent.start
        try:
            return run(app)
        finally:
            stop.set()
            if agent.is_alive():
                agent.join()


def _act(app: MemtuiApp, folder: Path, state: str, speed: float, stop: threading.Event) -> None:
    try:
        with open_memory(folder, state=state) as memory:
            play(memory, speed=speed, stop=stop)
    except (MemtuiError, OSError) as error:
        if not stop.is_set():
            app.screen.post_message(Trouble(f"The scripted agent stopped: {error}"))
        return
    if not stop.wait(_END_SECONDS):  # the last call is to be seen first
        app.screen.post_message(Told("The scripted story is over. Everything can still be looked at. q quits."))
