"""memtui with a heartbeat: told by a signal, it says for how long its loop stood still at worst since the last time.

It says so in seconds on the clock and, behind a blank, in seconds of the loop's processor time: where other programs
run beside it, only the latter are its own.

Started by `stalls`, in a terminal of its own: `python watched.py FD FOLDER STATE`.
"""

import asyncio
import os
import signal
import sys
import time

from memtui.ui import app
from memtui.ui.app import MemtuiApp, run

TICK = 0.01


class WatchedApp(MemtuiApp):
    """The real application, and a task that notices when it is late."""

    CSS_PATH = os.path.join(os.path.dirname(app.__file__), "app.tcss")

    def __init__(self, fd: int, folder: str, state: str) -> None:
        super().__init__(folder, state=state)
        self._fd = fd
        self._worst = self._worst_used = 0.0
        self._before, self._used_before = time.perf_counter(), time.thread_time()
        self._beating: asyncio.Task[None] | None = None

    def on_mount(self) -> None:
        """Begin to beat. Textual calls `MemtuiApp.on_mount` as well, by itself."""
        self._before, self._used_before = time.perf_counter(), time.thread_time()
        self._beating = asyncio.create_task(self._beat())
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._report)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._look()

    def _look(self) -> None:
        now, used = time.perf_counter(), time.thread_time()
        self._worst = max(self._worst, now - self._before - TICK)
        self._worst_used = max(self._worst_used, used - self._used_before)
        self._before, self._used_before = now, used

    def _report(self) -> None:
        self._look()  # the signal may be handled before the beat that is late
        os.write(self._fd, f"{self._worst} {self._worst_used}\n".encode())
        self._worst = self._worst_used = 0.0


if __name__ == "__main__":
    sys.exit(run(WatchedApp(int(sys.argv[1]), sys.argv[2], sys.argv[3])))
