"""Merging notes and splitting them from the list of commands, over a real folder."""

from textual.widgets import Input

from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from memtui.ui.screens.pick_note import PickNoteScreen
from memtui.ui.widgets.choice_list import ChoiceList
from tests.ui.conftest import Opened, Opening

BETA = "# Beta\n\n## One\n\none\n\n## Two\n\n[[beta#One]]\n"


async def write(app: Opened, name: str, text: str) -> None:
    """Have another program write a note, and wait until the screen, which goes there, has shown it."""
    app.put(name, text)
    await app.wait_for(lambda: any(name in path for _, _, path in app.actors), "the change")
    await app.rest()


async def run(app: Opened, command: str) -> None:
    await app.press("colon")
    await app.press(*command, "enter")


async def test_a_note_is_merged_into_one_that_is_picked_by_a_part_of_its_name(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        before = {name: (app.folder / name).read_bytes() for name in ("alpha.md", "notes/beta.md")}
        await app.to("notes/beta.md")
        await run(app, "merge")
        await app.wait_for_screen(PickNoteScreen)
        assert "Merge notes/beta.md into" in app.text
        listed = [option.id for option in app.app.screen.query_one(ChoiceList).options]
        assert "alpha.md" in listed
        assert not {"notes/beta.md", "notes"} & {*listed}
        await app.press(*"alph")
        assert app.app.screen.query_one(Input).value == "alph"
        await app.press("enter")
        await app.wait_for_screen(ConfirmScreen)
        assert "Merge notes/beta.md into alpha.md?" in app.text
        await app.press("n")
        await app.wait_for(lambda: "Nothing was merged." in app.message, "the no")
        await app.to("notes/beta.md")
        await run(app, "merge")
        await app.wait_for_screen(PickNoteScreen)
        await app.press(*"alph", "enter")
        await app.wait_for_screen(ConfirmScreen)
        await app.press("y")
        await app.wait_for(lambda: not (app.folder / "notes/beta.md").exists(), "the merge")
        await app.wait_for(lambda: app.cursor == "alpha.md", "the cursor on the note that stays")
        assert "Merged notes/beta.md into alpha.md. u undoes all of it." in app.message
        await app.press("u")
        await app.wait_for((app.folder / "notes/beta.md").exists, "the undo")
        await app.rest()
        assert {name: (app.folder / name).read_bytes() for name in before} == before


async def test_of_two_selected_notes_the_person_says_which_stays_and_links_follow(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await write(app, "notes/gamma.md", "# Gamma\n\n[[beta]]\n")
        await app.to("notes/beta.md")
        await app.press("space", "space")
        await run(app, "merge")
        await app.wait_for_screen(MenuScreen)
        assert "Merge two notes: which one stays?" in app.text
        await app.press("2")
        await app.wait_for(lambda: "yes, and rewrite 1 link in 1 note: notes/gamma.md:3" in app.text, "the links")
        await app.press("y")
        await app.wait_for(lambda: not (app.folder / "notes/beta.md").exists(), "the merge")
        assert (app.folder / "notes/gamma.md").read_text().startswith("# Gamma\n\n[[gamma]]\n\n## ")
        await app.wait_for(lambda: "Rewrote 1 link in 1 note. u undoes all of it." in app.message, "what was done")


async def test_a_note_is_split_where_the_names_of_the_new_ones_are_shown(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await write(app, "notes/beta.md", BETA)
        await app.to("notes/beta.md")
        await run(app, "split")
        await app.wait_for_screen(MenuScreen)
        assert "Split notes/beta.md into" in app.text
        assert "2 notes, at level 2: one.md, two.md" in app.text
        await app.press("escape")
        await app.wait_for(lambda: "Nothing was split." in app.message, "the way back")
        await run(app, "split")
        await app.wait_for_screen(MenuScreen)
        await app.press("enter")
        await app.wait_for(lambda: "Split notes/beta.md into 2 notes: one.md, two.md." in app.message, "what was done")
        assert (app.folder / "notes/two.md").read_text() == "# Two\n\n[[one#One]]\n"
        await app.press("u")
        await app.wait_for(lambda: (app.folder / "notes/beta.md").read_text() == BETA, "the undo")
        assert not (app.folder / "notes/one.md").exists()


async def test_what_cannot_be_is_said(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await write(app, "notes/beta.md", "no headings\n")
        await app.to("notes/beta.md")
        await run(app, "split")
        await app.wait_for(lambda: "Not split: notes/beta.md has no headings." in app.message, "the reason")
        await app.press("asterisk")
        await run(app, "merge")
        await app.wait_for(lambda: "are selected: two can be merged at a time." in app.message, "the reason")
