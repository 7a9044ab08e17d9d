"""The screens over a hosted store: it is browsed, edited, and a change of somebody else is a conflict, and no error."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.hosted import api
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.conflict import ConflictScreen
from memtui.ui.screens.edit import EditScreen
from tests.hosted.conftest import Hosting, Wire
from tests.ui.conftest import Opened


@pytest.fixture(autouse=True)
def _through_the_wire(hosting: Hosting, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen opens its folder by itself: its client goes through the wire as well."""
    monkeypatch.setattr(api, "Anthropic", lambda **_: hosting.connect(transport=wire))


@asynccontextmanager
async def browse(place: str, state: Path) -> AsyncIterator[Opened]:
    app = MemtuiApp(place, state=str(state))
    async with app.run_test(size=(120, 36)) as pilot:
        opened = Opened(app, pilot, Path(place), state)
        await opened.wait_for(lambda: isinstance(app.screen, BrowseScreen) and "prefs.md" in opened.rows, "the notes")
        await opened.wait_for(lambda: opened.browse.status.live == "LIVE" and opened.looked_at_all(), "LIVE")
        yield opened


async def open_editor(app: Opened) -> Any:
    await app.to("prefs.md")
    await app.press("e")
    await app.wait_for(lambda: isinstance(app.app.screen, EditScreen) and app.app.screen.drafts.is_open, "the editor")
    return app.app.screen


async def test_it_is_browsed_live_and_edited(hosting: Hosting, tmp_path: Path) -> None:
    async with browse(hosting.place, tmp_path / "state") as app:
        await app.to("prefs.md")
        await app.wait_for(lambda: "short answers" in app.text, "the note")
        hosting.create("/new.md", "theirs\n")
        await app.wait_for(lambda: "new.md" in app.rows, "the memory of somebody else")
        await app.wait_for(lambda: "user_ada" in app.text, "its author")
        screen = await open_editor(app)
        await app.press(*"two ", "ctrl+s")
        await app.wait_for(lambda: not screen.drafts.is_unsaved, "the save")
    assert hosting.read_all()["/prefs.md"] == "two - short answers\n"


async def test_a_change_between_reading_and_saving_is_a_conflict_screen(
    hosting: Hosting, wire: Wire, tmp_path: Path
) -> None:
    async with browse(hosting.place, tmp_path / "state") as app:
        await open_editor(app)
        found = hosting.find("/prefs.md")
        wire.before = lambda: hosting.memories.update(found.id, memory_store_id=hosting.id, content="- theirs\n")
        await app.press(*"two ", "ctrl+s")
        await app.wait_for(lambda: isinstance(app.app.screen, ConflictScreen), "the conflict")
        await app.wait_for(lambda: "user_ada" in app.text, "its author")
        assert hosting.read_all()["/prefs.md"] == "- theirs\n"


async def test_while_the_store_is_away_it_is_read_and_not_saved(hosting: Hosting, wire: Wire, tmp_path: Path) -> None:
    async with browse(hosting.place, tmp_path / "state") as app:
        wire.is_cut = True
        await app.wait_for(lambda: "The memory store cannot be reached." in app.text, "the banner")
        screen = await open_editor(app)
        await app.press(*"two ", "ctrl+s")
        await app.wait_for(lambda: screen.message.text.startswith("Not saved: "), "the refusal")
        wire.is_cut = False
        await app.wait_for(lambda: app.browse.status.live == "LIVE", "the store to be back")
        await app.press("ctrl+s")
        await app.wait_for(lambda: not screen.drafts.is_unsaved, "the save")
    assert hosting.read_all()["/prefs.md"] == "two - short answers\n"
