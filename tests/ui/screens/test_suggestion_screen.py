"""Suggestions are listed, done with one key, undone, and set aside."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import Agent
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.graph import GraphScreen
from memtui.ui.screens.suggestions import SuggestionScreen

Opening = Callable[..., AbstractAsyncContextManager[Any]]

WORDS = " ".join(f"word{number}" for number in range(40))
NOTES = {
    "MEMORY.md": "- [Tea](tea.md)\n- [One](one.md)\n- [Two](two.md)\n",
    "tea.md": "# Green Tea\n",
    "lost.md": "# Lost\n\nWith Green Tea.\n",
    "one.md": f"{WORDS}\n",
    "two.md": f"{WORDS}\n",
}


async def suggestions(app: Any) -> SuggestionScreen:
    await app.press("colon", *"suggest", "enter")
    await app.wait_for(lambda: isinstance(app.app.screen, SuggestionScreen), "the suggestions")
    screen = app.app.screen
    assert isinstance(screen, SuggestionScreen)
    await app.wait_for(lambda: screen._is_loaded, "the suggestions")
    await app.rest()
    return screen


def listed(screen: SuggestionScreen) -> list[tuple[str, ...]]:
    return [(each.kind, *each.notes) for each in screen.listed.items]


ALL = [("index", "lost.md", "MEMORY.md"), ("link", "lost.md", "tea.md"), ("merge", "one.md", "two.md")]


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_one_is_done_with_a_key_and_undone_with_another(opened: Opening, size: tuple[int, int]) -> None:
    async with opened(NOTES, size=size) as app:
        screen = await suggestions(app)
        folder = Path(screen._engine.store.path or "")
        assert listed(screen) == ALL
        assert "3 suggestions" in app.text
        assert "Name lost.md in MEMORY.md" in app.text
        await app.press("down", "enter")
        await app.wait_for(lambda: listed(screen) == [ALL[0], ALL[2]], "the link to go")
        assert (folder / "lost.md").read_text() == "# Lost\n\nWith [[Green Tea]].\n"
        assert screen.message.text == "Linked 1 mention in lost.md. u undoes it."
        await app.rest()
        await app.press("u")
        await app.wait_for(lambda: listed(screen) == ALL, "the link to be suggested again")
        assert (folder / "lost.md").read_text() == NOTES["lost.md"]


async def test_enter_merges_two_notes_and_o_opens_a_note(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await suggestions(app)
        await app.press("down", "down", "enter")
        await app.wait_for(lambda: screen.message.text.startswith("Merged two.md into one.md."), "the merge")
        await app.wait_for(lambda: not (app.folder / "two.md").exists(), "the note to go")
        await app.press("u")
        await app.wait_for(lambda: listed(screen) == ALL, "the merge to be suggested again")
        await app.press("g", "down", "o")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        await app.wait_for(lambda: app.app.screen.files.cursor_path == "lost.md", "the note")


async def test_what_is_set_aside_stays_away_until_it_is_asked_for(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await suggestions(app)
        await app.press("d")
        await app.wait_for(lambda: listed(screen) == ALL[1:], "the first to go")
        assert "2 suggestions, 1 set aside" in app.text
        await app.press("q")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        screen = await suggestions(app)
        assert listed(screen) == ALL[1:]
        assert screen.browser is not None
        assert len(screen.browser.remembered_words["suggestions"]) == 10
        await app.press("D")
        await app.wait_for(lambda: listed(screen) == ALL, "all of them")


async def test_the_list_is_filtered_and_follows_events(opened: Opening) -> None:
    async with opened(NOTES) as app:
        await app.press("W")
        await app.wait_for(lambda: isinstance(app.app.screen, GraphScreen), "the graph")
        await app.rest()
        await app.press("s")
        await app.wait_for(lambda: isinstance(app.app.screen, SuggestionScreen), "the suggestions")
        screen = app.app.screen
        await app.wait_for(lambda: listed(screen) == ALL, "the suggestions")
        await app.press("slash", *"kind:link", "space", *"tea")
        await app.wait_for(lambda: listed(screen) == [ALL[1]], "the filter")
        await app.press("enter", "escape")
        await app.wait_for(lambda: listed(screen) == ALL, "no filter")
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/new.md", "file_text": "Of Green Tea.\n"}
            engine.execute(command, actor=Agent("Claude"))
        await app.wait_for(lambda: ("link", "new.md", "tea.md") in listed(screen), "what is new")


async def test_a_folder_in_order_says_so(opened: Opening) -> None:
    async with opened({"a.md": "nothing\n"}) as app:
        screen = await suggestions(app)
        assert screen.message.text == "Nothing to suggest."
        await app.press("d", "D", "o", "enter", "u", "q")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
