"""The screen over memories on a server that goes away: it shows what is known, keeps what is typed, and goes on."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.edit import EditScreen
from tests.pg_server import OwnServer
from tests.ui.conftest import Opened

ME = memtui.Agent("tester")
CASE = "The server cannot be reached: "


@pytest.fixture
def place(server: OwnServer, tmp_path: Path) -> str:
    """The address of a store that holds a note."""
    place = server.address(f"ui-{os.urandom(6).hex()}")
    write(place, tmp_path / "other", "a.md", "one\n")
    return place


def write(place: str, state: Path, path: str, text: str) -> None:
    """Write a note from another machine."""
    with memtui.open(place, state=state) as engine:
        command = {"command": "create", "path": f"/memories/{path}", "file_text": text}
        assert not engine.execute(command, actor=ME).is_error


def read(place: str, state: Path, path: str) -> str:
    """The text of a note, as another machine reads it."""
    with memtui.open(place, state=state) as engine:
        return engine.execute({"command": "view", "path": f"/memories/{path}"}, actor=ME).text


@asynccontextmanager
async def browse(place: str, state: Path) -> AsyncIterator[Opened]:
    app = MemtuiApp(place, state=str(state))
    async with app.run_test(size=(120, 36)) as pilot:
        opened = Opened(app, pilot, Path(place), state)
        await opened.wait_for(lambda: isinstance(app.screen, BrowseScreen) and "a.md" in opened.rows, "the notes")
        yield opened


async def test_what_is_typed_while_the_server_is_away_is_a_draft_and_is_saved_later(
    server: OwnServer, place: str, tmp_path: Path
) -> None:
    async with browse(place, tmp_path / "state") as app:
        await app.wait_for(lambda: app.browse.status.live == "LIVE" and app.looked_at_all(), "LIVE")
        server.stop()
        try:
            await app.wait_for(lambda: CASE in app.text, "the banner")
            assert "Nothing is saved: what is typed is kept as a draft." in app.text
            assert "offline" in app.text
            await app.to("a.md")
            await app.press("e")
            screen: Any = await open_editor(app)
            await app.press(*"two ", "ctrl+s")
            await app.wait_for(lambda: screen.message.text.startswith("Not saved: the server cannot"), "the refusal")
            assert CASE in app.text, "the banner is here as well"
            await app.wait_for(lambda: "two one" in read_drafts(tmp_path / "state"), "the draft")
        finally:
            server.start()
        await app.wait_for(lambda: CASE not in app.text, "the server to be back")
        await app.press("ctrl+s")
        await app.wait_for(lambda: not screen.drafts.is_unsaved, "the save")
        assert "two one" in read(place, tmp_path / "other", "a.md")


async def open_editor(app: Opened) -> Any:
    await app.wait_for(lambda: isinstance(app.app.screen, EditScreen) and app.app.screen.drafts.is_open, "the editor")
    return app.app.screen


def read_drafts(state: Path) -> str:
    """All that is in the files of drafts."""
    return "".join(path.read_text() for path in state.joinpath("drafts").rglob("*") if path.is_file())


async def test_it_is_opened_while_the_server_is_away_and_goes_on_by_itself(
    server: OwnServer, place: str, tmp_path: Path
) -> None:
    async with browse(place, tmp_path / "state") as app:
        await app.wait_for(lambda: app.browse.status.live == "LIVE" and app.looked_at_all(), "LIVE")
    server.stop()
    try:
        async with browse(place, tmp_path / "state") as app:
            await app.wait_for(lambda: CASE in app.text, "the banner")
            server.start()
            await app.wait_for(lambda: CASE not in app.text, "the server to be back")
            write(place, tmp_path / "other", "b.md", "new\n")
            await app.wait_for(lambda: "b.md" in app.rows, "what came meanwhile")
            assert not app.browse.is_read_only
    finally:
        server.start()
