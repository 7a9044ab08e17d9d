"""The folder of an agent on screen: whose it is, what loads, what its program generates, and what that refuses."""

from pathlib import Path

import pytest

from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from memtui.ui.screens.edit import EditScreen
from tests.ui.conftest import Opening

CODEX = {
    "memory_summary.md": "v1\n\n" + "- a line that loads\n" * 505,
    "raw_memories.md": "# Raw\n",
    "rollout_summaries/one.md": "# One\n",
    "MEMORY.md": "# Task Group: shed\n",
}


def plain(text: str) -> str:
    """What is on screen, without frames and the places of lines."""
    return " ".join(text.replace("│", " ").split())


async def test_the_header_the_rows_and_the_ruler_are_those_of_its_agent(opened: Opening) -> None:
    async with opened(CODEX) as app:
        await app.wait_for(lambda: "Codex" in app.browse.header.render().plain, "the agent")  # type: ignore[union-attr]
        assert " L " in app.shown("memory_summary.md")
        assert " G " in app.shown("raw_memories.md")
        assert " L " not in app.shown("MEMORY.md")
        await app.to("memory_summary.md")
        await app.wait_for(lambda: "each session" in app.browse.preview.loads, "the tokens")
        assert app.browse.preview.loads == "~2,496 tok each session"
        await app.press("tab", "end")
        await app.wait_for(lambda: "not loaded from here: over 2,500 tokens, " in app.text, "the ruler")
        await app.to("MEMORY.md")
        await app.wait_for(lambda: "Task Group" in app.text, "the note")
        assert app.browse.preview.loads == ""


async def test_a_generated_file_is_edited_and_deleted_after_a_question_only(opened: Opening) -> None:
    async with opened(CODEX) as app:
        await app.to("raw_memories.md")
        await app.wait_for(lambda: "generated" in (app.browse.note.border_subtitle or ""), "what it is")
        await app.press("e")
        await app.wait_for_screen(ConfirmScreen)
        words = "raw_memories.md is generated. Codex overwrites it from its database"
        await app.wait_for(lambda: words in plain(app.text), "the question")
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse, "the browser")
        await app.press("e")
        await app.wait_for_screen(ConfirmScreen)
        await app.press("y")
        await app.wait_for_screen(EditScreen)
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse, "the browser")
        await app.press("d")
        await app.wait_for_screen(ConfirmScreen)
        await app.wait_for(lambda: "raw_memories.md is generated." in plain(app.text), "the question")
        await app.press("n")
        await app.to("MEMORY.md")
        await app.press("e")
        await app.wait_for_screen(EditScreen)
        assert (app.folder / "raw_memories.md").exists()


async def test_a_text_that_its_agent_would_refuse_is_not_saved(
    opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    text = "one\n§\n" + "x" * 2_193
    async with opened({"MEMORY.md": text, "USER.md": "me"}) as app:
        await app.to("MEMORY.md")
        await app.wait_for(lambda: "one §" in plain(app.text) and "one § x" not in app.text, "entries on lines")
        await app.press("e")
        await app.wait_for_screen(EditScreen)
        screen = app.app.screen
        assert isinstance(screen, EditScreen)
        await app.wait_for(lambda: screen.drafts.is_open and not screen.area.read_only, "the text")
        await app.press("y", "y", "y", "y", "ctrl+s")
        words = "Not saved. Hermes refuses it: 2,203 characters in all, over the limit of 2,200"
        await app.wait_for(lambda: words in screen.message.text, "the refusal")
        assert (app.folder / "MEMORY.md").read_text() == text
        await app.press("backspace", "backspace", "backspace", "ctrl+s")
        await app.wait_for(lambda: (app.folder / "MEMORY.md").read_text() == "yone\n§\n" + "x" * 2_193, "the save")


async def test_a_new_note_may_start_as_its_agent_has_it(opened: Opening) -> None:
    files = {"MEMORY.md": "x", "memory/2026-11-20.md": "x"}
    async with opened(files) as app:
        await app.wait_for(lambda: app.browse.files.dialect is not None, "the agent")
        await app.to("MEMORY.md")
        await app.press("a")
        await app.wait_for(lambda: "Enter creates it" in app.text, "the line")
        await app.press(*"memory", "slash", *"day", "enter")
        await app.wait_for_screen(MenuScreen)
        first = next(line for line in app.text.split("\n") if "the note of today" in line)
        assert "a" in first.split()
        await app.press("a")
        await app.wait_for((app.folder / "memory/day.md").exists, "the note")
        assert (app.folder / "memory/day.md").read_text().startswith("# 20")
