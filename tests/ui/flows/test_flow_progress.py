"""What takes long says so and can be stopped; what does not is never seen."""

import threading
from types import SimpleNamespace
from typing import cast

from textual.app import App

from memtui.core.events import Event, Person
from memtui.core.history import ActionResult
from memtui.engine import Engine
from memtui.flows.dialog import Step
from memtui.ui.flows import undo as flows_undo
from memtui.ui.flows.dialog import ProgressScreen, run_with_progress
from tests.ui.conftest import screen_text, wait_for


class Host(App[None]):
    """Runs something with progress, and keeps what came of it."""

    came: object = None
    shown: bool = False

    def go(self, call: object, patience: float) -> None:
        async def run() -> None:
            self.came = await run_with_progress(self, "Renaming 500 files", call, patience=patience)

        self.run_worker(run())

    def push_screen(self, screen, *more, **options):  # type: ignore[no-untyped-def]
        self.shown = self.shown or isinstance(screen, ProgressScreen)
        return super().push_screen(screen, *more, **options)


async def test_esc_stops_it_and_what_was_done_by_then_is_told() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def rename(step: Step) -> int:
        done = 0
        while done < 500 and step(done, 500):
            done += 1
            if done == 125:
                begun.set()
                assert go_on.wait(15)
        return done

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.go(rename, 0)
        await wait_for(app, pilot, lambda: begun.is_set() and "of 500" in screen_text(app), "the progress")
        await wait_for(app, pilot, lambda: "Renaming 500 files: 124 of 500" in screen_text(app), "how far")
        assert "Esc stops" in screen_text(app)
        await pilot.press("escape")
        assert "Stopping" in screen_text(app)
        go_on.set()
        await wait_for(app, pilot, lambda: app.came == 125, "the end")
        await wait_for(app, pilot, lambda: not isinstance(app.screen, ProgressScreen), "no progress")


async def test_what_is_taken_back_is_not_stopped_halfway() -> None:
    begun, go_on, answers = threading.Event(), threading.Event(), []

    def undo(seqs: list[int], *, progress: Step) -> ActionResult:
        assert seqs == [7]
        answers.append(progress(1, 500))
        begun.set()
        assert go_on.wait(15)
        answers.append(progress(2, 500))
        return ActionResult()

    deleted = Event(at_us=1, actor=Person(), command="delete", path="/memories/a.md", seq=7)
    engine = cast("Engine", SimpleNamespace(undo=undo, history=SimpleNamespace(get_undoable=lambda _: deleted)))
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.run_worker(flows_undo.undo(app, engine, 7))
        await wait_for(app, pilot, lambda: begun.is_set() and "of 500" in screen_text(app), "the progress")
        assert "Esc" not in screen_text(app)
        await pilot.press("escape")
        go_on.set()
        await wait_for(app, pilot, lambda: not isinstance(app.screen, ProgressScreen), "no progress")
        assert answers == [True, True]


async def test_what_is_done_at_once_is_never_shown_and_what_fails_raises() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.go(lambda step: step(1, 1) and "done", 15)
        await wait_for(app, pilot, lambda: app.came == "done", "the end")
        assert not app.shown
