"""The graph of a folder in groups, and its observations as a table."""

import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from memtui.core.events import Agent
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import MenuScreen
from memtui.ui.screens.graph import GraphScreen
from memtui.ui.screens.neighbourhood import NeighbourhoodScreen
from memtui.ui.screens.observations import ObservationScreen
from memtui.watch import FolderWatcher

Opening = Callable[..., AbstractAsyncContextManager[Any]]

NOTES = {
    "MEMORY.md": "- [a](a.md)\n",
    "a.md": "---\ntype: plan\n---\n[[b]] [[nobody]]\n\n- [risk] Late #money\n- [decision] Monday\n",
    "b.md": "[[a]]\n\n- [decision] Tea #drink\n",
    "far/alone.md": "---\ntype: idea\n---\nNothing.\n",
}


async def graph(app: Any) -> GraphScreen:
    await app.press("W")
    await app.wait_for(lambda: isinstance(app.app.screen, GraphScreen), "the graph")
    screen = app.app.screen
    assert isinstance(screen, GraphScreen)
    await app.wait_for(lambda: screen._summary is not None and screen._group, "the groups")
    await app.rest()
    return screen


async def observations(app: Any) -> ObservationScreen:
    await app.press("O")
    await app.wait_for(lambda: isinstance(app.app.screen, ObservationScreen), "the observations")
    screen = app.app.screen
    assert isinstance(screen, ObservationScreen)
    await app.wait_for(lambda: screen._is_loaded, "the observations")
    await app.rest()
    return screen


def stated(screen: ObservationScreen) -> list[str]:
    return [each.observation.content for each in screen.listed.items]


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_the_groups_are_counted_and_listed(opened: Opening, size: tuple[int, int]) -> None:
    async with opened(NOTES, size=size) as app:
        screen = await graph(app)
        counts = {row.name: row.count for row in screen.groups.items}
        assert counts == {"orphans": 1, "hubs": 2, "islands": 1, "dangling": 1, "ambiguous": 0, "cycles": 1}
        assert "4 notes  4 links" in app.text
        assert "far/alone.md" in app.text
        await app.press("down", "down", "down")
        await app.wait_for(lambda: [row.text for row in screen.listed.items] == ["nobody"], "dangling")
        await app.press("down")
        await app.wait_for(lambda: "Links that may mean several notes:" in app.text and "None." in app.text)


async def test_a_note_of_a_group_opens_amid_its_links_and_q_comes_back(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await graph(app)
        await app.press("down", "enter", "enter")
        await app.wait_for(lambda: isinstance(app.app.screen, NeighbourhoodScreen), "the links")
        assert app.app.screen._path == "a.md"
        await app.press("q")
        await app.wait_for(lambda: app.app.screen is screen)
        await app.press("o")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and app.screen.files.cursor_path == "a.md")


async def test_the_list_is_filtered_and_follows_events(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await graph(app)
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/new.md", "file_text": "new\n"}
            engine.execute(command, actor=Agent("Claude"))
        await app.wait_for(lambda: [row.path for row in screen.listed.items] == ["far/alone.md", "new.md"])
        await app.press("slash", *"type:idea")
        await app.wait_for(lambda: [row.path for row in screen.listed.items] == ["far/alone.md"])
        await app.press("escape", "slash", *"NEW")
        await app.wait_for(lambda: [row.path for row in screen.listed.items] == ["new.md"])


async def test_observations_are_filtered_sorted_and_opened(opened: Opening) -> None:
    async with opened(NOTES, size=(80, 24)) as app:
        screen = await observations(app)
        assert stated(screen) == ["Late #money", "Monday", "Tea #drink"]
        assert "3 observations" in app.text
        await app.press("comma")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen), "the orders")
        await app.press("c")
        await app.wait_for(lambda: stated(screen) == ["Monday", "Tea #drink", "Late #money"])
        await app.press("slash", *"category:decision", "enter")
        await app.wait_for(lambda: stated(screen) == ["Monday", "Tea #drink"] and "2 of 3 observations" in app.text)
        await app.press("end", "enter")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and app.screen.files.cursor_path == "b.md")


async def test_those_of_a_note_are_listed_from_its_links(opened: Opening) -> None:
    async with opened(NOTES) as app:
        app.app.screen.move_to("b.md")
        await app.press("w")
        await app.wait_for(lambda: isinstance(app.app.screen, NeighbourhoodScreen) and app.app.screen._is_loaded)
        screen = await observations(app)
        assert stated(screen) == ["Tea #drink"]
        assert "Observations of b.md" in app.text


async def test_a_folder_without_links_says_so(opened: Opening) -> None:
    async with opened({"a.md": "nothing\n"}) as app:
        screen = await graph(app)
        assert "Nothing loads in each session here." in screen.message.text
        await app.press("O")
        await app.wait_for(lambda: "No observations." in app.text)
        await app.press("q", "q", "W", "j", "enter", "q", "O", "q", "w", "q")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))


async def test_the_first_scan_is_said_until_it_ends(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    may_scan, reconcile = threading.Event(), FolderWatcher._reconcile

    def scan_later(watcher: FolderWatcher, hints: set[str] | None) -> bool:
        assert may_scan.wait(60)
        return reconcile(watcher, hints)

    monkeypatch.setattr(FolderWatcher, "_reconcile", scan_later)
    scanning = "First scan of the folder: not all notes are read yet."
    notes = {"MEMORY.md": "[[a]]\n", "a.md": "- [idea] one\n"}
    async with opened(notes, ready=False) as app:
        try:
            await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and "a.md" in app.rows, "the names")
            screen = await graph(app)
            await app.wait_for(lambda: screen.message.text == scanning, "the scan")
            await app.press("O")
            await app.wait_for_screen(ObservationScreen)
            listed = app.app.screen
            await app.wait_for(lambda: listed.message.text == scanning, "the scan")
            assert "No observations." not in app.text
        finally:
            may_scan.set()
        await app.wait_for(lambda: "opens the note" in listed.message.text and "1 observation" in app.text, "the end")
        await app.press("q")
        await app.wait_for(lambda: screen.message.text == "Reached from MEMORY.md.", "the root")


async def test_a_read_that_takes_long_is_not_begun_anew_by_events(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened({"a.md": "[[b]]\n", "b.md": "b\n"}) as app:
        screen = await graph(app)
        await app.rest()
        may_read, begun, query = threading.Event(), [], screen._engine.knowledge.query

        def read_later(*words: Any, **options: Any) -> Any:
            begun.append(words)
            assert may_read.wait(60)
            return query(*words, **options)

        monkeypatch.setattr(screen._engine.knowledge, "query", read_later)
        screen.progress.rest_until = 0.0
        try:
            screen.read(again=True)
            await app.wait_for(lambda: begun, "the read")
            screen.follow_events()
            screen.follow_events()
            assert screen._is_stale
        finally:
            may_read.set()
        await app.rest()
        assert len(begun) == 1


async def test_where_notes_are_reached_from_is_said_anew_when_it_changes(opened: Opening) -> None:
    async with opened({"a.md": "nothing\n"}) as app:
        screen = await graph(app)
        assert screen.message.text == "Nothing loads in each session here."
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/MEMORY.md", "file_text": "[[a]]\n"}
            engine.execute(command, actor=Agent("Claude"))
        await app.wait_for(lambda: screen.message.text == "Reached from MEMORY.md.", "the root")
