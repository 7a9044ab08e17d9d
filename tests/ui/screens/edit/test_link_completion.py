"""Links complete while they are typed."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from memtui.ui.screens.edit import EditScreen
from memtui.ui.screens.edit_completion import CompletionRows

Opening = Callable[..., AbstractAsyncContextManager[Any]]
NOTES = {"a.md": "", "drinks/tea.md": "---\ntitle: Green Tea\n---\n## Steeping\n", "green.md": "# Green\n"}


async def editing(app: Any) -> EditScreen:
    app.app.screen.move_to("a.md")
    await app.wait_for(lambda: app.app.screen.files.cursor_path == "a.md")
    await app.press("e")
    await app.wait_for(lambda: isinstance(app.app.screen, EditScreen) and app.app.screen.drafts.is_open, "the editor")
    screen = app.app.screen
    assert isinstance(screen, EditScreen)
    await app.rest()
    return screen


async def offered(app: Any, screen: EditScreen, words: str) -> None:
    rows = screen.query_one(CompletionRows)
    await app.wait_for(lambda: rows.has_class("-open") and words in app.text, words)


async def test_names_and_titles_are_offered_and_enter_takes_the_chosen_one(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await editing(app)
        await app.press(*"see [[gre")
        await offered(app, screen, "> Green  green.md")
        await app.press("down", "enter")
        await app.wait_for(lambda: screen.area.text.strip() == "see [[Green Tea]]")
        assert not screen.query_one(CompletionRows).has_class("-open")
        await app.press(*" x", "enter", "y")
        await app.wait_for(lambda: screen.area.text == "see [[Green Tea]] x\ny")
        await app.press("ctrl+z")
        assert "[[" in screen.area.text


async def test_headings_and_paths_are_offered_and_tab_takes_one(opened: Opening) -> None:
    async with opened(NOTES, size=(80, 24)) as app:
        screen = await editing(app)
        await app.press(*"[[Green Tea#")
        await offered(app, screen, "> Steeping")
        await app.press("tab", *" [t](dr")
        await offered(app, screen, "> drinks/tea.md")
        await app.press("tab")
        await app.wait_for(lambda: screen.area.text == "[[Green Tea#Steeping]] [t](drinks/tea.md)")


async def test_esc_closes_the_list_and_not_the_editor_and_enter_is_enter_again(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await editing(app)
        await app.press(*"[[gre")
        await offered(app, screen, "> Green")
        await app.press("escape")
        await app.wait_for(lambda: not screen.query_one(CompletionRows).has_class("-open"))
        assert app.app.screen is screen
        await app.press("enter", "z")
        await app.wait_for(lambda: screen.area.text == "[[gre\nz")


async def test_keys_typed_at_once_are_text(opened: Opening) -> None:
    async with opened(NOTES) as app:
        screen = await editing(app)
        await app.press(*"[[brand new]] and [x](nowhere.md) end", "enter", *"- [ ] task")
        await app.wait_for(lambda: screen.area.text == "[[brand new]] and [x](nowhere.md) end\n- [ ] task")
