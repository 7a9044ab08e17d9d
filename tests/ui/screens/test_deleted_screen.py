"""Deleted memories: listed, found, looked at and brought back."""

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from memtui.core.events import Agent, EntryKind, Event, Version
from memtui.core.history import DeletedPath
from memtui.flows.undo import explain_not_restorable
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.deleted import DeletedScreen

Opening = Callable[..., AbstractAsyncContextManager[Any]]


async def deleted(app: Any, count: int) -> DeletedScreen:
    """Press D and wait until so many are listed."""
    await app.press("D")
    await app.wait_for(lambda: isinstance(app.app.screen, DeletedScreen), "the deleted")
    screen = app.app.screen
    assert isinstance(screen, DeletedScreen)
    await app.wait_for(lambda: screen.listed.row_count == count, f"{count} rows")
    await app.rest()
    return screen


async def remove(app: Any, *names: str) -> None:
    for name in names:
        (app.folder / name).unlink()
        await app.wait_for(lambda name=name: ("outside", "deleted", f"/memories/{name}") in app.actors)


async def test_what_is_gone_is_listed_with_who_and_when_and_its_last_text(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            engine.execute({"command": "delete", "path": "/memories/alpha.md"}, actor=Agent("Clara"))
        await remove(app, "zeta.txt")
        screen = await deleted(app, 2)
        assert [each.path for each in screen._found] == ["zeta.txt", "alpha.md"]
        assert re.search(r"zeta\.txt +other +[0-9]+B", app.text)
        await app.wait_for(lambda: "plain text" in app.text, "its last text")
        await app.press("down")
        await app.wait_for(lambda: "The first note." in app.text)
        assert "delete by Clara" in app.text
        *_, actor, size, age = (segment.style for segment in screen.listed.render_line(0) if segment.text.strip())
        assert actor != size == age  # only what another program did is tinted


async def test_r_brings_back_the_one_under_the_cursor_and_u_takes_that_back(opened: Opening) -> None:
    async with opened() as app:
        await remove(app, "zeta.txt", "alpha.md")
        screen = await deleted(app, 2)
        await app.press("R")
        await app.wait_for(lambda: screen.message.text == "Restored alpha.md. u undoes it.")
        await app.wait_for(lambda: screen.listed.row_count == 1)
        assert (app.folder / "alpha.md").read_text() == "# Alpha\n\nThe *first* note.\n"
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and "alpha.md" in app.rows)
        await app.press("u")
        await app.wait_for(lambda: not (app.folder / "alpha.md").exists())


async def test_several_are_marked_and_come_back_as_one_event(opened: Opening) -> None:
    async with opened() as app:
        await remove(app, "zeta.txt", "alpha.md", "notes/beta.md")
        screen = await deleted(app, 3)
        await app.press("space", "space")
        assert "selected 2" in app.text
        await app.press("enter")
        await app.wait_for(lambda: screen.message.text == "Restored 2 notes. u undoes it.")
        await app.wait_for(lambda: screen.listed.row_count == 1)
        with app.engine() as engine:
            events = [event for event in engine.events() if event.command == "restore"]
        assert [len(event.changes) for event in events] == [2]


async def test_typing_narrows_and_esc_widens_again(opened: Opening) -> None:
    async with opened() as app:
        await remove(app, "zeta.txt", "alpha.md", "notes/beta.md")
        screen = await deleted(app, 3)
        await app.press("slash", *"TXT")
        await app.wait_for(lambda: screen.listed.row_count == 1 and "1 of 3" in app.text)
        await app.press("enter", "R")
        await app.wait_for((app.folder / "zeta.txt").exists)
        await app.wait_for(lambda: "No matches." in app.text)
        await app.press("escape")
        await app.wait_for(lambda: screen.listed.row_count == 2)
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))


async def test_where_something_stands_by_now_it_stays(opened: Opening) -> None:
    async with opened() as app:
        await remove(app, "zeta.txt")
        screen = await deleted(app, 1)
        app.put("zeta.txt", "somebody was faster\n")
        await app.press("R")
        await app.wait_for(lambda: screen.message.text.startswith("Not restored: zeta.txt has changed since"))
        assert (app.folder / "zeta.txt").read_text() == "somebody was faster\n"


async def test_nothing_gone_is_said_calmly(opened: Opening) -> None:
    async with opened() as app:
        screen = await deleted(app, 0)
        await app.wait_for(lambda: screen.message.text == "No note was deleted since memtui first saw the folder.")
        await app.press("R", "space", "asterisk", "up", "down")
        assert screen.message.text == "Nothing to restore."


async def test_in_a_read_only_session_they_can_be_looked_at_only(opened: Opening) -> None:
    async with opened() as app:
        await remove(app, "zeta.txt")
    async with opened({}, read_only=True) as app:
        screen = await deleted(app, 1)
        await app.wait_for(lambda: "plain text" in app.text)
        assert "deleted.restore" not in {active.binding.id for active in screen.active_bindings.values()}
        await app.press("R")
        await app.wait_for(lambda: screen.message.text.startswith("Read-only."))
        assert not (app.folder / "zeta.txt").exists()


async def test_hostile_names_are_text(opened: Opening) -> None:
    name = "[red]a\x1b[31m\u202ex.md"
    async with opened() as app:
        app.put(name, "[@click=app.quit]x[/]\n")
        await app.wait_for(lambda: name in app.rows)
        await remove(app, name)
        screen = await deleted(app, 1)
        assert "[red]a\\x1b[31m<U+202E>x.md" in app.text
        await app.wait_for(lambda: "[@click=app.quit]x[/]" in app.text)
        await app.press("R")
        await app.wait_for(lambda: "Restored [red]a" in screen.message.text)
        assert "\x1b" not in app.text


def test_what_cannot_be_brought_back_says_why() -> None:
    event = Event(at_us=0, actor=Agent("x"), command="delete", path="/memories/a")
    large = DeletedPath("a", Version(EntryKind.FILE, None, 1 << 40), event, is_stored=False)
    redacted = DeletedPath("a", Version(EntryKind.FILE, "00" * 32, 3), event, is_stored=False)
    assert "too large" in explain_not_restorable(large)
    assert "removed from the history" in explain_not_restorable(redacted)
