"""The screens above the browser while something happens below them: nothing untrue, nothing overlooked."""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import Agent, WatchMode, WatchStatus
from memtui.core.wording import format_event_clause
from memtui.memory import JOURNAL
from memtui.ui.messages import WatchingChanged
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.deleted import DeletedScreen
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from memtui.ui.screens.past import PastScreen

Opening = Callable[..., AbstractAsyncContextManager[Any]]
CLARA = Agent("Clara")


def wipe(folder: Path) -> None:
    """Take away every file, as somebody outside does."""
    for path in folder.rglob("*"):
        if path.is_file() or path.is_symlink():
            path.unlink()


async def above(app: Any, key: str) -> Any:
    """Open a screen above the browser, and wait until it has loaded."""
    await app.press(key)
    await app.wait_for(lambda: not isinstance(app.app.screen, BrowseScreen), "a screen above")
    await app.rest()
    return app.app.screen


async def leave(app: Any) -> None:
    """Go back to the browser."""
    await app.press("escape")
    await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen), "the browser")


async def lose_zeta(app: Any) -> None:
    """Delete a file outside, and wait until that is recorded."""
    (app.folder / "zeta.txt").unlink()
    await app.wait_for(lambda: app.actors[-1][1] == "deleted")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_loss_is_said_on_every_screen_and_one_key_puts_it_right_there(
    opened: Opening, size: tuple[int, int]
) -> None:
    async with opened(size=size) as app:
        for key in "VTD":
            await app.to("alpha.md")
            screen = await above(app, key)
            wipe(app.folder)
            await app.wait_for(lambda: "5 of 5 notes were deleted" in app.text, f"the banner above {key}")
            assert "Ctrl+R restores them." in app.text
            assert "x keeps them deleted" not in app.text, "that key is the browser's"
            await app.press("ctrl+r")
            await app.wait_for(lambda screen=screen: screen.message.text == "Restored 5 notes.", f"{key}")
            await app.wait_for(lambda: "notes were deleted" not in app.text, "no banner")
            assert (app.folder / "alpha.md").exists()
            await leave(app)


async def test_a_screen_that_is_opened_later_says_the_loss_too(opened: Opening) -> None:
    async with opened() as app:
        wipe(app.folder)
        await app.wait_for(lambda: "notes were deleted" in app.text)
        for key in "TD":
            await above(app, key)
            assert "5 of 5 notes were deleted" in app.text, key
            await leave(app)
            assert "x keeps them deleted" in app.text


async def test_without_a_loss_the_key_does_nothing_there(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        for key in "VTD":
            screen = await above(app, key)
            assert "browse.restore_loss" not in {active.binding.id for active in screen.active_bindings.values()}, key
            before = len(app.actors)
            await app.press("ctrl+r")
            await app.rest()
            assert len(app.actors) == before, key
            await leave(app)


async def test_a_folder_that_vanishes_is_said_on_every_screen(opened: Opening, tmp_path: Path) -> None:
    async with opened() as app:
        for key in "VTD":
            await app.to("alpha.md")
            await above(app, key)
            app.folder.rename(tmp_path / "aside")
            await app.wait_for(lambda: "is not there any more" in app.text, f"the banner above {key}")
            assert "none is recorded as deleted" in app.text
            (tmp_path / "aside").rename(app.folder)
            await app.wait_for(lambda: "is not there any more" not in app.text, "no banner")
            await leave(app)


async def test_while_nothing_can_be_recorded_it_is_said_on_every_screen_and_no_key_hides_it(opened: Opening) -> None:
    words = "Changes by other programs cannot be recorded: The journal cannot be written (disk full). Trying again."
    async with opened() as app:
        app.browse.post_message(WatchingChanged(WatchStatus(WatchMode.POLLING, words)))
        await app.wait_for(lambda: "cannot be recorded" in app.text)
        await app.press("m", "f")
        await app.rest()
        assert "and changes are not recorded" in app.text
        await above(app, "T")
        assert "cannot be recorded: The journal cannot be written (disk full)" in app.text
        app.browse.post_message(
            WatchingChanged(WatchStatus(WatchMode.POLLING, "Looking every second: no watches are left."))
        )
        await app.wait_for(lambda: "cannot be recorded" not in app.text)


async def test_links_come_back_with_the_memories_but_are_not_counted_as_such(opened: Opening) -> None:
    async with opened() as app:
        (app.folder / "link").symlink_to("alpha.md")
        await app.wait_for(lambda: "link" in app.rows)
        wipe(app.folder)
        await app.wait_for(lambda: "5 of 5 notes were deleted" in app.text)
        await app.press("ctrl+r")
        await app.wait_for(lambda: app.message == "Restored 5 notes.")
        assert (app.folder / "link").is_symlink()


async def test_what_goes_while_the_deleted_are_listed_is_listed(opened: Opening) -> None:
    async with opened() as app:
        screen = await above(app, "D")
        assert isinstance(screen, DeletedScreen)
        (app.folder / "zeta.txt").unlink()
        await app.wait_for(lambda: screen.listed.row_count == 1, "the row")
        app.put("zeta.txt", "back\n")
        await app.wait_for(lambda: screen.listed.row_count == 0, "no row")


async def test_u_takes_back_what_was_brought_back_among_the_deleted(opened: Opening) -> None:
    async with opened() as app:
        await lose_zeta(app)
        screen = await above(app, "D")
        await app.press("u")
        await app.wait_for(lambda: screen.message.text.startswith("Nothing to undo here."))
        await app.press("R")
        await app.wait_for(lambda: screen.message.text == "Restored zeta.txt. u undoes it.")
        await app.press("u")
        await app.wait_for(lambda: screen.message.text.startswith("Undid your restore of zeta.txt"))
        assert not (app.folder / "zeta.txt").exists()
        await app.press("U")
        await app.wait_for(lambda: screen.message.text.startswith("Redid "))
        assert (app.folder / "zeta.txt").exists()


async def test_u_takes_back_what_was_brought_back_from_the_past(opened: Opening) -> None:
    async with opened() as app:
        await lose_zeta(app)
        screen = await above(app, "T")
        await app.press("left_square_bracket")
        await app.wait_for(lambda: screen._point_in_time.at == 1)
        await app.press("R")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen))
        await app.press("a")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen))
        await app.press("y")
        await app.wait_for(lambda: screen.message.text.endswith("u undoes it."), "the word on it")
        assert (app.folder / "zeta.txt").exists()
        await app.press("u")
        await app.wait_for(lambda: screen.message.text.startswith("Undid "))
        assert not (app.folder / "zeta.txt").exists()


async def test_the_line_of_time_grows_while_the_past_is_looked_at(opened: Opening) -> None:
    async with opened() as app:
        screen = await above(app, "T")
        with app.engine() as engine:
            engine.execute({"command": "create", "path": "/memories/a.md", "file_text": "a\n"}, actor=CLARA)
        await app.wait_for(lambda: screen.timeline.last == 2)
        assert "#1 of 2" in app.text


async def test_keys_that_are_pressed_while_the_past_is_made_are_not_lost(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            for number in range(4):
                engine.execute({"command": "create", "path": f"/memories/{number}.md", "file_text": "a\n"}, actor=CLARA)
        await app.wait_for(lambda: app.actors[-1][2] == "/memories/3.md")
        await app.press("T")
        screen = app.app.screen
        assert isinstance(screen, PastScreen)
        screen._ready = False
        screen.action_step(-1)
        screen.action_step(-1)
        screen._travel(5)
        await app.wait_for(lambda: screen._point_in_time.at == 3, "two steps back")


async def test_the_way_back_is_always_among_the_keys(opened: Opening) -> None:
    async with opened(size=(60, 20)) as app:
        for key, way_back in (("T", "Esc now"), ("D", "Esc back")):
            await above(app, key)
            assert way_back in app.text.splitlines()[-1]
            await leave(app)


async def test_a_zoomed_note_is_alone(opened: Opening) -> None:
    async with opened(size=(120, 36)) as app:
        with app.engine() as engine:
            engine.execute({"command": "create", "path": "/memories/alpha.md", "file_text": "a\n"}, actor=CLARA)
        await app.wait_for(lambda: "last change" in app.text)
        await app.press("2", "z")
        await app.rest()
        assert "last change" not in app.text
        assert "3 Activity" not in app.text
        await app.press("z")
        await app.wait_for(lambda: "last change" in app.text)


async def test_the_past_has_the_panes_of_the_browser(opened: Opening) -> None:
    async with opened(size=(120, 36)) as app:
        browser = app.browse
        screen = await above(app, "T")
        assert screen.files.outer_size.width == browser.files.outer_size.width
        assert screen.note.outer_size.height >= 20


async def test_a_rescan_of_a_folder_that_is_gone_is_not_said_to_have_been_done(opened: Opening, tmp_path: Path) -> None:
    async with opened() as app:
        app.folder.rename(tmp_path / "aside")
        await app.wait_for(lambda: app.browse._watching.mode is WatchMode.GONE)
        await app.press("R")
        await app.wait_for(lambda: "is not there any more" in app.message)
        await app.rest()
        assert "is not there any more" in app.message


async def test_where_the_record_cannot_be_read_nothing_is_said_of_what_it_holds(
    opened: Opening, tmp_path: Path
) -> None:
    async with opened() as app:
        await lose_zeta(app)
    with sqlite3.connect(tmp_path / "state" / JOURNAL) as database:
        database.execute("pragma user_version = 99")
    database.close()
    async with opened({}, ready=False) as app:
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and app.browse.session.engine)
        await app.wait_for(lambda: "READ-ONLY: nothing is recorded or changed." in app.text)
        await app.press("u")
        await app.wait_for(lambda: app.message.startswith("Nothing can be changed: The journal was written by a newer"))
        screen = await above(app, "D")
        assert screen.message.text.startswith("No list of deleted notes: The journal was written by a newer")
        await app.press("R")
        await app.wait_for(lambda: screen.message.text.startswith("Nothing can be changed: The journal"))


async def test_after_a_new_record_began_it_is_not_said_that_nothing_ever_went(opened: Opening, tmp_path: Path) -> None:
    async with opened() as app:
        await lose_zeta(app)
    for end in ("", "-wal", "-shm"):
        (tmp_path / "state" / f"{JOURNAL}{end}").unlink(missing_ok=True)
    async with opened({}) as app:
        screen = await above(app, "D")
        await app.wait_for(lambda: screen.message.text.startswith("No deletions since a new history began here."))


async def test_what_was_redone_is_said_to_be_so(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            engine.execute({"command": "delete", "path": "/memories/zeta.txt"}, actor=CLARA)
            made = engine.get_head()[0]
        await app.wait_for(lambda: app.actors[-1][1] == "delete")
        await app.press("u")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen))
        await app.press("y")
        await app.wait_for(lambda: app.actors[-1][1] == "undo")
        await app.press("3", "G")
        await app.wait_for(lambda: app.browse.get_event_seq() == made + 1, "the undo under the cursor")
        await app.press("u")
        await app.wait_for(lambda: app.message == f"Redid #{made} in zeta.txt. u undoes it.")
        await app.wait_for(lambda: app.actors[-1][1] == "redo")
        await app.press("g")
        for _ in range(10):
            if app.browse.get_event_seq() == made + 1:
                break
            await app.press("down")
        assert app.browse.get_event_seq() == made + 1
        await app.press("U")
        await app.wait_for(lambda: app.message.startswith(f"#{made + 1} was redone already, by #{made + 2}."))
        await app.press("u")
        await app.wait_for(lambda: app.message.startswith(f"#{made + 1} was undone already, and #{made + 2} redid"))


async def test_a_create_over_another_note_is_not_called_creating(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/alpha.md", "file_text": "a\n"}
            assert format_event_clause(engine.execute(command, actor=CLARA).event).startswith(
                "Clara overwrote alpha.md"
            )
            command["path"] = "/memories/other.md"
            assert format_event_clause(engine.execute(command, actor=CLARA).event).startswith("Clara created other.md")
