"""Pinned and protected memories, over a real folder."""

from pathlib import Path

from memtui.core.events import Agent
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from tests.ui.conftest import Opening

CLARA = Agent("Clara")


async def test_pins_stand_on_top_and_are_there_again_next_time_wherever_they_went(
    opened: Opening, tmp_path: Path
) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
        await app.press("b")
        await app.wait_for(lambda: app.rows[0] == "zeta.txt", "the pin")
        assert app.cursor == "zeta.txt"
        assert "^" in app.shown("zeta.txt")
        await app.rest()
    with app.engine() as engine:  # while no window is open
        command = {"command": "rename", "old_path": "/memories/zeta.txt", "new_path": "/memories/notes/z.txt"}
        assert not engine.execute(command, actor=CLARA).is_error
    async with opened(folder=tmp_path / "memories", files={}) as app:
        await app.wait_for(lambda: app.rows[0] == "notes/z.txt", "the pin where it went")
        await app.to("alpha.md")
        await app.press("apostrophe")
        await app.wait_for_screen(MenuScreen)
        await app.press("1")
        await app.wait_for(lambda: app.cursor == "notes/z.txt", "the pinned note")
        await app.press("b")
        await app.wait_for(lambda: app.rows[0] == "notes", "no pin")
        await app.rest()


async def test_no_agent_changes_what_is_protected_and_its_row_says_so(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await app.press("left")
        await app.browse.run_action("protect")
        await app.wait_for(lambda: "notes" in app.browse.files.protected, "the protection")
        await app.rest()
        assert "Protected notes/: no agent can change it." in app.message
        assert " P " in app.shown("notes")
        assert " P " in app.shown("notes/beta.md")
        assert " P " not in app.shown("alpha.md")
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/notes/beta.md", "file_text": "mine\n"}
            assert engine.execute(command, actor=CLARA).is_error
        assert (app.folder / "notes/beta.md").read_text().startswith("# Beta")
        await app.to("notes/beta.md")
        await app.browse.run_action("protect")
        words = "is protected by notes/. Unprotect notes/ instead."
        await app.wait_for(lambda: words in app.message, "the word on the folder")
        await app.press("d")  # a person may, but is asked
        await app.wait_for_screen(ConfirmScreen)
        assert "It is protected from agents." in app.text
        await app.press("n")
        await app.press("left", "left")
        await app.browse.run_action("protect")
        await app.wait_for(lambda: not app.browse.files.protected, "no protection")
        await app.rest()
