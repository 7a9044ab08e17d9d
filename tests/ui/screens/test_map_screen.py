"""The map of a folder is walked with arrows, searched, enlarged, and leads to notes."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from memtui.core.events import Agent
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.graph import GraphScreen
from memtui.ui.screens.graph_map import MapScreen
from memtui.ui.screens.neighbourhood import NeighbourhoodScreen

Opening = Callable[..., AbstractAsyncContextManager[Any]]

NOTES = {
    "MEMORY.md": "- [a](a.md)\n- [b](b.md)\n- [c](c.md)\n",
    "a.md": "---\ntype: plan\ntitle: Alpha\n---\n[[b]]\n",
    "b.md": "---\ntype: idea\ntitle: Beta\n---\n",
    "c.md": "---\ntype: plan\ntitle: Gamma\n---\n[[a]]\n",
    "far/alone.md": "Nothing.\n",
}


async def open_map(app: Any, *keys: str) -> MapScreen:
    await app.press(*(keys or ("colon", *"map", "enter")))
    await app.wait_for(lambda: isinstance(app.app.screen, MapScreen), "the map")
    screen = app.app.screen
    assert isinstance(screen, MapScreen)
    await app.wait_for(lambda: screen._is_loaded, "the map")
    await app.rest()
    return screen


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_all_notes_are_there_with_names_types_and_counts(opened: Opening, size: tuple[int, int]) -> None:
    async with opened(NOTES, size=size) as app:
        screen = await open_map(app)
        assert "5 notes  5 links" in app.text
        for words in ("Alpha", "Beta", "Gamma", "alone", "plan 2", "idea 1", "no type 2"):
            assert words in app.text, words
        width, height = screen.map.content_size
        placed = screen.map._placed
        assert set(placed) == set(NOTES)
        assert all(0 <= x < width * 2 and 0 <= y < height * 4 for x, y in placed.values())


async def test_arrows_go_to_the_next_note_in_their_direction_and_reach_all(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await open_map(app)
        seen = {screen.map.path}
        for key in ("right", "left", "up", "down") * 8:
            before = screen.map._placed[screen.map.path]
            here = screen.map.path
            await app.press(key)
            await app.rest()
            after = screen.map._placed[screen.map.path]
            if screen.map.path != here:
                x, y = after[0] - before[0], after[1] - before[1]
                assert {"right": x > 0, "left": x < 0, "up": y < 0, "down": y > 0}[key]
            seen.add(screen.map.path)
        for key in ("l", "k", "h", "j", "n", "n", "n", "N"):
            await app.press(key)
            await app.rest()
            seen.add(screen.map.path)
        assert len(seen) >= 4
        assert screen._notes.titles[screen.map.path] in app.text


async def test_a_filter_dims_the_others_and_goes_to_what_it_finds(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await open_map(app)
        await app.press("slash", *"beta")
        await app.wait_for(lambda: screen.map.path == "b.md", "the note that is found")
        assert screen.map._matches == {"b.md"}
        await app.press("escape")
        await app.wait_for(lambda: screen.map._matches is None)
        await app.press("slash", *"type:plan", "enter")
        await app.wait_for(lambda: screen.map._matches == {"a.md", "c.md"})
        await app.wait_for(lambda: screen.map.has_focus)
        first = screen.map.path
        await app.press("n")
        await app.rest()
        assert {first, screen.map.path} == {"a.md", "c.md"}
        await app.press("slash", *"zzz")
        await app.wait_for(lambda: "No matches." in app.text)
        await app.press("escape", "escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))


async def test_enter_shows_the_links_of_a_note_and_o_opens_it(opened: Opening) -> None:
    async with opened(NOTES) as app:
        await app.press("W")
        await app.wait_for(lambda: isinstance(app.app.screen, GraphScreen) and app.app.screen._summary is not None)
        await app.rest()
        screen = await open_map(app, "m")
        assert screen.map.path == "far/alone.md", "the note under the cursor before"
        await app.press("slash", *"gamma", "enter")
        await app.wait_for(lambda: screen.map.path == "c.md" and screen.map.has_focus)
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, NeighbourhoodScreen), "the links")
        assert app.app.screen._path == "c.md"
        await app.press("q")
        await app.wait_for(lambda: app.app.screen is screen)
        await app.press("o")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and app.screen.files.cursor_path == "c.md")


async def test_it_is_enlarged_around_the_note_and_whole_again(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await open_map(app)
        whole = dict(screen.map._placed)
        await app.press("plus", "plus")
        await app.wait_for(lambda: screen.map._placed != whole, "the enlarged map")
        width, height = screen.map.content_size
        x, y = screen.map._placed[screen.map.path]
        assert 0 <= x < width * 2
        assert 0 <= y < height * 4
        for key in ("right", "left", "up", "down"):
            await app.press(key)
            await app.rest()
            x, y = screen.map._placed[screen.map.path]
            assert 0 <= x < width * 2
            assert 0 <= y < height * 4
        await app.press("0")
        await app.wait_for(lambda: screen.map._placed == whole, "the whole map")
        await app.press("minus")
        await app.rest()
        assert screen.map._placed == whole


async def test_it_follows_what_agents_write_and_keeps_the_cursor(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await open_map(app)
        await app.press("slash", *"gamma", "enter", "escape")
        await app.wait_for(lambda: screen.map.path == "c.md" and screen.map.has_focus, "the note that is found")
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/new.md", "file_text": "[[c]]\n"}
            assert not engine.execute(command, actor=Agent("claude")).is_error
        await app.wait_for(lambda: "new.md" in screen.map._placed, "the new note")
        assert screen.map.path == "c.md"
        assert "6 notes  6 links" in app.text


async def test_a_folder_without_notes_has_an_empty_map(opened: Opening) -> None:
    async with opened({"data.bin": "x"}) as app:
        screen = await open_map(app)
        assert screen.map.path == ""
        await app.press("right", "n", "plus", "0", "enter", "o")
        await app.rest()
        assert app.app.screen is screen
        assert "0 notes" in app.text


async def test_a_click_goes_to_the_nearest_note_and_another_one_opens_it(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await open_map(app)
        other = next(path for path in sorted(NOTES) if path != screen.map.path)
        x, y = screen.map._placed[other]
        where = (int(x / 2) + 1, int(y / 4) + 1)
        await app.pilot.click(screen.map, offset=where)
        await app.wait_for(lambda: screen.map.path == other, "the note under the mouse")
        await app.pilot.click(screen.map, offset=where)
        await app.wait_for(lambda: isinstance(app.app.screen, NeighbourhoodScreen), "the links")
