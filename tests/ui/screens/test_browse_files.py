"""Putting memories in order with keys and the mouse, over a real folder."""

from typing import Any

import pytest
from textual.widgets import Input, TextArea

from memtui.core.events import Agent
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from memtui.ui.screens.edit import EditScreen
from memtui.ui.screens.past import PastScreen
from memtui.ui.screens.rename_many import RenameManyScreen, SummaryScreen
from memtui.ui.widgets.name_line import NameLineScreen
from memtui.ui.widgets.tree.view import TreeView
from tests.ui.conftest import Opened, Opening

CLARA = Agent("Clara")


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


async def line(app: Opened, key: str) -> Input:
    """Press a key that opens a line."""
    await app.press(key)
    await app.wait_for_screen(NameLineScreen)
    return app.app.screen.query_one(Input)


def here(app: Opened, name: str) -> bool:
    return (app.folder / name).exists()


def commands(app: Opened) -> list[str]:
    """What was done by the person, in order."""
    return [command for actor, command, _ in app.actors if actor == "you"]


# Names


async def rename_in_text(app: Any, old: str, new: str) -> None:
    """Choose the text with all names, replace in it, and save it."""
    await app.wait_for_screen(MenuScreen)
    await app.press("e")
    await app.wait_for_screen(RenameManyScreen)
    box = app.app.screen.query_one(TextArea)
    box.text = box.text.replace(old, new)
    await app.press("ctrl+s")
    await app.wait_for_screen(SummaryScreen)


async def refuses(app: Any, words: str) -> None:
    """Wait until the line says why not, and see that Enter does nothing."""
    await app.wait_for(lambda: words in app.text, "the word on it")
    await app.press("enter")
    assert isinstance(app.app.screen, NameLineScreen)
    await app.press("escape")
    await app.rest()
    assert commands(app) == []


async def test_a_note_is_renamed_in_its_row_and_one_key_takes_it_back(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await app.to("notes/beta.md")
        field = await line(app, "r")
        row = app.browse.files.find_name_region("notes/beta.md")
        assert row is not None
        assert (field.region.x, field.region.y) == (row.x, row.y)
        assert field.value[: field.cursor_position] == "notes/beta"
        await app.press("-", "2")
        assert "Renames it to notes/beta-2.md." in app.text
        await app.press("enter")
        await app.wait_for(lambda: app.cursor == "notes/beta-2.md", "the cursor on the new name")
        assert here(app, "notes/beta-2.md")
        assert not here(app, "notes/beta.md")
        assert "Renamed notes/beta.md to notes/beta-2.md. u undoes it." in app.message
        await app.press("u")
        await app.wait_for(lambda: "notes/beta.md" in app.rows, "the old name")
        await app.rest()
        assert here(app, "notes/beta.md")
        assert app.cursor == "notes/beta.md"
        assert commands(app) == ["rename", "undo"]


async def test_tab_completes_folders_and_a_missing_one_is_made(opened: Opening) -> None:
    files = {"alpha.md": "a\n", "notes/b.md": "b\n", "people/me.md": "m\n", "projects/p.md": "p\n"}
    async with opened(files) as app:
        await app.to("notes/b.md")
        field = await line(app, "r")
        await app.press("home", "p", "tab")
        assert field.value == "people/b.md"  # several begin so: the first, the old folder gives way
        assert "people/  projects/" in app.text
        await app.press("tab")
        assert field.value == "projects/b.md"
        await app.press("n", "e", "w", "/")
        assert "Moves it to projects/new/b.md, and directory projects/new/." in app.text
        await app.press("enter")
        await app.wait_for(lambda: app.cursor == "projects/new/b.md", "the new place")
        assert "Moved notes/b.md" in app.message
        assert here(app, "projects/new/b.md")


async def test_a_name_that_cannot_be_stays_in_the_line_with_the_reason(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        field = await line(app, "r")
        field.value = "zeta.txt"
        await app.press("enter")
        assert isinstance(app.app.screen, NameLineScreen)
        assert "zeta.txt already exists." in app.text
        field.value = "../alpha.md"
        await app.press("enter")
        assert "nothing can be outside it" in app.text
        await app.press("escape")
        await app.rest()
        assert here(app, "alpha.md")
        assert commands(app) == []


async def test_what_an_agent_deletes_while_it_is_being_renamed_is_said_at_once(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await line(app, "r")
        await app.press("2")
        with app.engine() as engine:
            engine.execute({"command": "delete", "path": "/memories/notes/beta.md"}, actor=CLARA)
        await refuses(app, "notes/beta.md was moved or deleted")


async def test_a_hostile_name_is_shown_as_it_is_and_can_be_made_harmless(opened: Opening) -> None:
    async with opened({"a.md": "a\n", "evil\u202e\x1b]52;c;x\x07.md": "b\n"}) as app:
        await app.to("a.md")
        await app.press("down")
        await app.rest()
        field = await line(app, "r")
        assert field.value == "evil<U+202E>\\x1b]52;c;x\\x07.md"
        await app.press("enter")  # unchanged: nothing is renamed to its escapes
        await app.rest()
        assert commands(app) == []
        field = await line(app, "r")
        field.value = "good.md"
        await app.press("enter")
        await app.wait_for(lambda: app.cursor == "good.md", "the harmless name")


async def test_the_line_stays_on_its_row_while_an_agent_writes_above_it(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/gamma.md")
        app.browse.follow = False
        field = await line(app, "r")
        before = field.region.y
        with app.engine() as engine:
            for name in ("aaa", "aab"):
                command = {"command": "create", "path": f"/memories/notes/{name}.md", "file_text": "new\n"}
                assert not engine.execute(command, actor=CLARA).is_error
        await app.wait_for(lambda: "notes/aab.md" in app.rows, "the agent's notes")
        await app.wait_for(lambda: field.region.y == before + 2, "the line on its row")
        row = app.browse.files.find_name_region("notes/gamma.md")
        assert row is not None
        assert field.region.y == row.y
        await app.press("x", "enter")
        await app.wait_for(lambda: app.cursor == "notes/gammax.md", "the new name")


async def test_a_folder_is_renamed_with_all_that_is_in_it(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await app.press("left")
        field = await line(app, "r")
        assert (field.value, field.cursor_position) == ("notes/", 5)
        await app.press("2", "enter")
        await app.wait_for(lambda: app.cursor == "notes2", "the new name")
        await app.rest()
        assert [path for path in app.rows if path.startswith("notes")] == [
            "notes2",
            "notes2/beta.md",
            "notes2/gamma.md",
        ]


async def test_a_copy_gets_a_free_name_and_the_cursor(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        field = await line(app, "c")
        assert field.value == "alpha-2.md"
        await app.press("enter")
        await app.wait_for(lambda: app.cursor == "alpha-2.md", "the copy")
        assert (app.folder / "alpha-2.md").read_bytes() == (app.folder / "alpha.md").read_bytes()


# New


async def test_in_an_empty_folder_a_makes_the_first_memory_and_opens_it(opened: Opening) -> None:
    async with opened({}, size=(80, 24)) as app:
        assert "a      add a note yourself" in app.text
        await line(app, "a")
        await app.press(*"people/ada")
        assert "Creates people/ada.md, and directory people/." in app.text
        await app.press("enter")
        await app.wait_for_screen(MenuScreen)
        await app.press("enter")  # of a folder that is called people, a person is the likeliest
        await app.wait_for_screen(EditScreen)
        assert (app.folder / "people/ada.md").read_text().startswith("# Ada\n\n- Role: \n")
        await app.press("escape")
        await app.wait_for(lambda: app.cursor == "people/ada.md", "the cursor on the new memory")
        await app.rest()
        await app.press("u")
        await app.wait_for(lambda: not here(app, "people/ada.md"), "the way back")


async def test_a_stroke_at_its_end_makes_a_folder_beside_what_is_under_the_cursor(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        field = await line(app, "a")
        assert field.value == "notes/"
        await app.press(*"2026/", "enter")
        await app.wait_for(lambda: app.cursor == "notes/2026", "the new folder")
        assert (app.folder / "notes/2026").is_dir()
        assert "Created the directory notes/2026/." in app.message


# Delete


async def test_a_single_file_goes_at_once_and_the_cursor_goes_on(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await app.press("d")
        await app.wait_for(lambda: not here(app, "notes/beta.md"), "the deletion")
        await app.wait_for(lambda: app.cursor == "notes/gamma.md", "the next row")
        await app.press("d")
        await app.wait_for(lambda: not here(app, "notes/gamma.md"), "the second one")
        await app.wait_for(lambda: app.cursor == "alpha.md", "the row behind")
        await app.rest()
        await app.to("notes/gamma.md")  # still shown, struck through
        await app.press("d")
        await app.wait_for(lambda: "notes/gamma.md is already deleted." in app.message, "the word on it")
        await app.press("u")
        await app.wait_for(lambda: here(app, "notes/gamma.md"), "the last one back")
        await app.rest()
        assert commands(app) == ["delete", "delete", "undo"]


async def test_a_folder_asks_counts_and_takes_enter_for_a_no(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await app.press("left", "d")
        await app.wait_for_screen(ConfirmScreen)
        assert "Delete notes/ and the 2 files in it? u restores them, D lists deleted notes." in app.text
        await app.press("enter")
        await app.wait_for(lambda: "Nothing was deleted." in app.message, "the no")
        assert here(app, "notes/beta.md")
        await app.press("d")
        await app.wait_for_screen(ConfirmScreen)
        await app.press("y")
        await app.wait_for(lambda: not here(app, "notes"), "the deletion")
        await app.rest()
        await app.press("u")
        await app.wait_for(lambda: here(app, "notes/beta.md") and here(app, "notes/gamma.md"), "all of it back")


async def test_what_is_marked_goes_together_and_comes_back_together(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await app.to("notes/beta.md")
        await app.press("space", "space")
        assert app.cursor == "alpha.md"
        assert tuple(app.browse.files.selection) == ("notes/beta.md", "notes/gamma.md")
        assert "selected 2" in str(app.browse.files.border_title)
        assert app.shown("notes/beta.md").startswith("  * ")
        await app.press("escape")
        assert not app.browse.files.selection
        await app.to("notes/beta.md")
        await app.press("space", "space", "d")
        await app.wait_for_screen(ConfirmScreen)
        assert "Delete 2 files in notes/? u restores them, D lists deleted notes." in app.text
        await app.press("y")
        await app.wait_for(lambda: not here(app, "notes/gamma.md"), "the deletion")
        await app.rest()
        await app.press("u")
        await app.wait_for(lambda: here(app, "notes/beta.md") and here(app, "notes/gamma.md"), "both back")
        await app.rest()
        assert commands(app) == ["delete", "undo"]


async def test_a_note_that_an_agent_changes_before_the_yes_is_not_deleted(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await app.press("space", "space", "d")
        await app.wait_for_screen(ConfirmScreen)
        with app.engine() as engine:
            command = {"command": "insert", "path": "/memories/notes/beta.md", "insert_line": 0, "insert_text": "new\n"}
            assert not engine.execute(command, actor=CLARA).is_error
        await app.press("y")
        await app.wait_for(lambda: not here(app, "notes/gamma.md"), "the other one gone")
        await app.rest()
        assert (app.folder / "notes/beta.md").read_text().startswith("new\n")
        assert app.message.startswith("Deleted notes/gamma.md. Skipped: notes/beta.md has changed since (Clara, ")


async def test_keys_that_act_on_files_do_nothing_in_a_pane_with_a_cursor_of_its_own(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        await app.press("3", "d")
        await app.rest()
        assert here(app, "alpha.md")
        assert app.message == "This key works in the files: 1 goes there."


async def test_a_read_only_session_says_why_nothing_is_changed(opened: Opening) -> None:
    async with opened(read_only=True) as app:
        await app.to("alpha.md")
        for key in "arcdb":
            await app.press(key)
            await app.rest()
            assert app.message == "Read-only. Start without --read-only to edit."
            app.browse.message.text = ""
        assert not any(isinstance(screen, NameLineScreen) for screen in app.app.screen_stack)
        await app.press("space")
        assert "1 selected.  Esc deselect" in app.text  # no key is offered that would only refuse
        keys = app.text.splitlines()[-1]
        assert not [key for key in ("e edit", "a new", "r rename", "d delete", "u undo") if key in keys]


# Many


def many(count: int) -> dict[str, str]:
    return {f"notes/{number:03}.md": f"note {number}\n" for number in range(count)}


async def test_500_notes_are_renamed_in_one_text_and_come_back_with_one_key(opened: Opening) -> None:
    async with opened(many(500)) as app:
        await app.wait_for(lambda: len(app.rows) >= 1, "rows")
        app.browse.files.outline.expand("notes")
        app.browse.files.move_to("notes/000.md")
        app.browse.files.focus()
        await app.press("asterisk")
        assert len(app.browse.files.selection) == 500
        await app.press("r")
        await rename_in_text(app, "notes/", "archive/2026-")
        assert "notes/000.md" in app.text
        assert "archive/2026-000.md" in app.text
        assert "Rename all 500? u undoes all of it." in app.text
        await app.press("y")
        await app.wait_for(lambda: here(app, "archive/2026-499.md") and not here(app, "notes/499.md"), "500 new names")
        await app.wait_for(lambda: app.cursor == "archive/2026-000.md", "the cursor on the first")
        await app.rest()
        assert commands(app) == ["rename"]
        assert "Renamed 500 files in notes/. u undoes all of it." in app.message
        assert not [path for path in app.rows if path.startswith("notes/")]  # moved, not struck through
        assert not app.browse.files.selection
        await app.press("u")
        await app.wait_for(lambda: len(list((app.folder / "notes").glob("*.md"))) == 500, "500 old names")
        await app.wait_for(lambda: commands(app) == ["rename", "undo"], "the undo")
        await app.rest()
        assert "Undid your renaming of 500 files. U redoes it." in app.message
        assert {path.read_text() for path in (app.folder / "notes").iterdir()} == set(many(500).values())
        assert not (app.folder / "archive").exists()


async def test_what_was_renamed_at_once_is_renamed_in_the_past_too_and_no_ghost_is_left(opened: Opening) -> None:
    async with opened(many(3)) as app:
        with app.engine() as engine:
            moves = {"notes/000.md": "notes/001.md", "notes/001.md": "notes/000.md", "notes/002.md": "old/2.md"}
            assert engine.files.move(moves).event
        await app.wait_for(lambda: "old/2.md" in app.rows, "the move")
        await app.press("T")
        await app.wait_for_screen(PastScreen)
        past = app.app.screen
        assert isinstance(past, PastScreen)
        await app.wait_for(lambda: "old/2.md" in list(past.files.outline), "the last event")
        assert "notes/002.md" not in list(past.files.outline)
        await app.press("left_square_bracket")
        await app.wait_for(lambda: "notes/002.md" in list(past.files.outline), "the event before")
        assert "old/2.md" not in list(past.files.outline)
        await app.press("right_square_bracket")
        await app.wait_for(lambda: "old/2.md" in list(past.files.outline), "the last event again")
        assert "notes/002.md" not in list(past.files.outline)


async def test_what_is_wrong_in_the_text_is_said_and_it_can_be_edited_again(opened: Opening) -> None:
    async with opened(many(3)) as app:
        await app.to("notes/000.md")
        await app.press("asterisk", "r")
        await app.wait_for_screen(MenuScreen)
        await app.press("e")
        await app.wait_for_screen(RenameManyScreen)
        box = app.app.screen.query_one(TextArea)
        text = box.text
        box.text = text.replace("001", "000")
        await app.press("ctrl+s")
        await app.pilot.pause()
        assert isinstance(app.app.screen, RenameManyScreen)
        assert "notes/000.md is on line" in app.text
        box.text = text.replace("000", "x").replace("001", "000").replace("x", "001")  # they change places
        await app.press("ctrl+s")
        await app.wait_for_screen(SummaryScreen)
        await app.press("e")
        await app.wait_for_screen(RenameManyScreen)
        await app.press("ctrl+s")
        await app.wait_for_screen(SummaryScreen)
        await app.press("escape")  # one step back: what was written is still there
        await app.wait_for_screen(RenameManyScreen)
        assert "2 to be renamed." in app.text
        await app.press("escape")
        await app.wait_for_screen(ConfirmScreen)
        await app.press("y")
        await app.wait_for(lambda: "Nothing was renamed." in app.message, "the word on it")
        assert commands(app) == []


async def test_what_will_be_renamed_has_its_answers_in_sight_on_a_small_screen(opened: Opening) -> None:
    async with opened({"a.md": "a\n", "b.md": "b\n", "new\nline.md": "c\n"}, size=(60, 15)) as app:
        await app.to("a.md")
        await app.press("asterisk", "r")
        await rename_in_text(app, "a.md", "z.md")
        assert "1 with invisible characters" in app.text
        assert "y yes   e edit again   n keep all names" in app.text


async def test_a_marked_name_that_cannot_be_made_again_is_said_before_anything_is_copied(opened: Opening) -> None:
    async with opened({"a.md": "a\n", "new\nline.md": "b\n"}) as app:
        await app.to("a.md")
        await app.press("asterisk")
        field = await line(app, "c")
        field.value = "archive"
        await refuses(app, "new\\nline.md has a name that is not allowed.")


async def test_marked_files_are_moved_and_copied_into_a_folder(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await app.press("space", "space", "c")
        await app.wait_for_screen(NameLineScreen)
        await app.press(*"old", "enter")
        await app.wait_for(lambda: here(app, "old/gamma.md"), "the copies")
        await app.rest()
        assert here(app, "notes/gamma.md")
        await app.to("notes/beta.md")
        await app.press("space", "space", "r")
        await app.wait_for_screen(MenuScreen)
        await app.press("m")
        await app.wait_for_screen(NameLineScreen)
        await app.press(*"old", "enter")
        await app.wait_for(lambda: "old/beta.md already exists." in app.text, "the refusal")
        await app.press(*"er", "enter")
        await app.wait_for(lambda: here(app, "older/gamma.md") and not here(app, "notes/gamma.md"), "the move")
        await app.rest()
        await app.press("u")
        await app.wait_for(lambda: here(app, "notes/gamma.md"), "the way back")


# The mouse


async def test_the_mouse_marks_with_ctrl_and_offers_a_menu_with_its_right_button(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        files = app.browse.files
        row = app.rows.index("zeta.txt")
        await app.pilot.click(TreeView, offset=(6, row + 1), control=True)
        assert tuple(files.selection) == ("zeta.txt",)
        await app.press("escape")
        await app.pilot.click(TreeView, offset=(6, row + 1), button=3)
        await app.wait_for_screen(MenuScreen)
        assert "Rename or move the file" in app.text
        await app.press("d")
        await app.wait_for(lambda: not here(app, "zeta.txt"), "the deletion")
        await app.rest()
