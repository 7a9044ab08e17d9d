"""Garbage is looked for while nobody presses a key, and what stays is left out."""

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.ui import garbage
from memtui.ui.app import MemtuiApp
from memtui.ui.garbage import GarbageSchedule
from memtui.ui.screens.help import HelpScreen
from tests.ui.conftest import until, wait_for


class Cycle:
    """Garbage once nobody holds it, which only a collection finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def without_rest(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(GarbageSchedule, "REST_SECONDS", 0.01)
    monkeypatch.setattr(garbage, "_SHARE", 0)
    gc.unfreeze()  # an application before this one may have left something out
    yield
    gc.unfreeze()


async def test_what_the_start_has_made_is_left_out_and_a_screen_that_was_left_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = MemtuiApp(str(tmp_path), state=str(tmp_path.with_name("state")))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: gc.get_freeze_count() > 10_000)
        monkeypatch.setattr(GarbageSchedule, "REST_SECONDS", 0.5)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        screen = weakref.ref(app.screen)
        await pilot.press("escape")
        await until(pilot, lambda: app._garbage._timer is not None)
        await until(pilot, lambda: screen() is None or not screen().is_running)
        await until(pilot, lambda: app._garbage._timer is None)
        monkeypatch.setattr(GarbageSchedule, "REST_SECONDS", 0.01)
        await wait_for(app, pilot, lambda: screen() is None or app._garbage.plan(), "the end of the screen")
        assert gc.get_freeze_count() > 10_000


def test_a_screen_that_was_left_before_the_first_rest_is_not_kept() -> None:
    app: Any = Resting()
    schedule = GarbageSchedule(app)
    screen: Any = Cycle()
    here = weakref.ref(screen)
    schedule.plan(screen)
    del screen
    app.ends.pop()()
    assert here() is None
    assert gc.get_freeze_count()


class Resting:
    """An application in which a timer ends when the test says so."""

    def __init__(self) -> None:
        self.screen_stack = ["Textual's", "the first"]
        self.ends: list[Callable[[], None]] = []

    def set_timer(self, _: float, callback: Callable[[], None]) -> object:
        self.ends.append(callback)
        return callback


def test_what_was_left_out_is_looked_through_again_once_there_is_much_more_of_it() -> None:
    app: Any = Resting()
    schedule = GarbageSchedule(app)
    schedule.plan()
    app.ends.pop()()
    cycle = Cycle()
    here = weakref.ref(cycle)
    del cycle
    before = gc.get_freeze_count()
    schedule.plan()
    app.ends.pop()()
    assert here() is None, "it was not left out yet"
    cycle = Cycle()
    here = weakref.ref(cycle)
    gc.freeze()
    del cycle
    schedule.plan()
    app.ends.pop()()
    assert here() is not None
    more = [[number] for number in range(before)]
    gc.freeze()
    schedule.plan()
    app.ends.pop()()
    assert here() is None
    assert len(more) == before


async def test_while_a_screen_is_open_above_nothing_is_left_out(tmp_path: Path) -> None:
    app = MemtuiApp(str(tmp_path), state=str(tmp_path.with_name("state")))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: gc.get_freeze_count() > 10_000)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        gc.unfreeze()
        await pilot.press("slash")
        app._garbage.plan()
        await until(pilot, lambda: app._garbage._timer is None)
        assert gc.get_freeze_count() == 0


async def test_python_itself_looks_through_everything_only_after_the_end(tmp_path: Path) -> None:
    before = gc.get_threshold()
    app = MemtuiApp(str(tmp_path), state=str(tmp_path.with_name("state")))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: gc.get_threshold() != before)
        assert gc.get_threshold()[2] > 100
    assert gc.get_threshold() == before


def test_what_others_leave_is_collected_too_where_nobody_presses_a_key() -> None:
    app: Any = Resting()
    schedule = GarbageSchedule(app)
    schedule.plan()
    app.ends.pop()()
    schedule._look()
    assert not app.ends, "nothing is new"
    cycle = Cycle()
    here = weakref.ref(cycle)
    gc.collect(1)
    del cycle
    schedule._look()
    app.ends.pop()()
    assert here() is None


def test_after_a_long_look_the_next_one_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    looks: list[float] = []

    def collect() -> None:
        nonlocal now
        looks.append(now)
        now += 1.0

    monkeypatch.setattr(garbage, "_SHARE", 100)
    monkeypatch.setattr(garbage.time, "monotonic", lambda: now)
    monkeypatch.setattr(garbage.gc, "collect", collect)
    monkeypatch.setattr(garbage.gc, "get_count", lambda: (0, 0, 1))
    app: Any = Resting()
    app.screen_stack.append("find")
    schedule = GarbageSchedule(app)
    for _ in range(3):
        schedule.plan()
        app.ends.pop()()
        now += 10.0
    assert looks == [1_000.0]
    now += 100.0
    app.ends.pop()()
    assert len(looks) == 2
