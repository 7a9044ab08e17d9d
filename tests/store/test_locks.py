"""The writer lock, and a process that is about to be stopped."""

import os
import threading
from pathlib import Path

from memtui.store.locks import held, none_held


def test_before_a_process_stops_its_threads_let_go_and_take_nothing_until_it_goes_on(tmp_path: Path) -> None:
    directory = os.open(tmp_path, os.O_RDONLY)
    has_it, may_go, again, again_has_it = (threading.Event() for _ in range(4))

    def work() -> None:
        with held(directory, 5.0):
            has_it.set()
            assert may_go.wait(10)
        again.set()
        with held(directory, 5.0):
            again_has_it.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert has_it.wait(10)
        with none_held(0.0) as let_go:
            assert not let_go
        threading.Timer(0.05, may_go.set).start()
        with none_held(10.0) as let_go:
            assert let_go
            assert not again_has_it.is_set()
        assert again_has_it.wait(10)
        assert again.is_set()
    finally:
        may_go.set()
        thread.join(10)
        os.close(directory)
