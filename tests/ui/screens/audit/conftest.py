"""The audit's screen over an inspection that is made by hand."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from textual.pilot import Pilot

from memtui.config import LoadedConfig
from memtui.ui.audit_app import AuditApp
from memtui.ui.screens.audit import AuditScreen
from tests.ui.conftest import ScreenDriver, wait_for
from tests.ui.screens.audit.made import MadeInspection, made


class Audited(ScreenDriver):
    """The screen of an audit."""

    def __init__(self, app: AuditApp, pilot: Pilot[int], inspection: MadeInspection) -> None:
        super().__init__(app, pilot, AuditScreen)
        self.inspection = inspection

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until all that they began is done or asks."""
        await super().press(*keys)
        await self.pilot.pause()

    async def sees(self, *words: str) -> None:
        """Wait until words are on screen."""
        for each in words:
            await self.wait_for(lambda each=each: each in self.text, each)  # type: ignore[misc]

    async def to_change(self, path: str) -> None:
        """Put the cursor on a changed file, and wait until it is compared."""
        await self.press("3")
        screen = self.screen
        await self.wait_for(lambda: screen.focused is screen.lists.changes, "the changes")
        await self.wait_for(lambda: screen.lists.changes.go_to(path), path)
        await self.wait_for(
            lambda: screen.detail.change is not None and screen.detail.change.file.path == path, f"the diff of {path}"
        )
        await self.pilot.pause()


Auditing = Callable[..., AbstractAsyncContextManager[Audited]]


@pytest.fixture
def audited() -> Auditing:
    """Opens the screen: `async with audited(inspection) as app`."""

    @asynccontextmanager
    async def open_app(
        inspection: MadeInspection | None = None,
        *,
        size: tuple[int, int] = (120, 36),
        ready: bool = True,
        watch: bool = False,
        on_changes: bool = False,
        loaded: LoadedConfig | None = None,
    ) -> AsyncIterator[Audited]:
        inspection = inspection or MadeInspection()
        app = AuditApp(made(inspection), watch=watch, on_changes=on_changes, loaded=loaded)
        async with app.run_test(size=size) as pilot:
            audited = Audited(app, pilot, inspection)
            await wait_for(app, pilot, lambda: isinstance(app.screen, AuditScreen), "the screen")
            if ready:
                await audited.wait_for(lambda: audited.screen.lists.audit is not None, "the audit")
                await audited.wait_for(lambda: all(worker.is_finished for worker in app.workers), "the workers")
                await pilot.pause()
            yield audited

    return open_app
