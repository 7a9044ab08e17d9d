"""Putting memories in order beside a conversation: in the memory's pane, and never from the message."""

from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from memtui.ui.widgets.name_line import NameLineScreen
from tests.ui.chat.conftest import Chats


async def test_letters_are_text_in_the_box_and_deeds_in_the_memory(chatting: Chats) -> None:
    async with chatting(size=(80, 24)) as chat:
        await chat.type("add bars")
        assert chat.written == "add bars"
        await chat.press("escape")
        await chat.press("d")  # in the conversation there is nothing to delete
        await chat.wait_for(lambda: "2 goes there" in chat.message, "the word on it")
        assert chat.memory("prefs.md") is not None
        await chat.press("2")
        files = chat.screen.files
        await chat.wait_for(lambda: files.has_focus and files.move_to("prefs.md"), "the memory")
        await chat.press("r")
        await chat.wait_for(lambda: isinstance(chat.app.screen, NameLineScreen), "the line")
        await chat.type("-2")
        await chat.press("enter")
        await chat.wait_for(lambda: files.cursor_path == "prefs-2.md", "the new name")
        assert chat.memory("prefs-2.md") is not None
        await chat.press("space", "escape")
        assert not files.selection
        assert files.has_focus
        files.move_to("notes")
        await chat.press("d")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ConfirmScreen), "the question")
        await chat.press("y")
        await chat.wait_for(lambda: chat.memory("notes/old.md") is None, "the deletion")
        await chat.press("u")
        await chat.wait_for(lambda: chat.memory("notes/old.md") is not None, "all of it back")
        assert chat.written == "add bars"


async def test_a_question_about_a_finding_waits_in_the_message_box(chatting: Chats) -> None:
    async with chatting(files={"a.md": "# A\n\nx \u202e y\n"}) as chat:
        await chat.press("escape", "2", "A")
        await chat.wait_for(lambda: isinstance(chat.app.screen, AuditScreen), "the audit")
        audit = chat.app.screen
        await chat.wait_for(lambda: audit.lists.audit is not None and audit.lists.finding is not None, "the finding")
        await chat.press("t")
        await chat.wait_for(lambda: isinstance(chat.app.screen, MenuScreen), "what can be done")
        await chat.press("a")
        await chat.wait_for(lambda: "in the message box" in audit.message.text, "the word on it")
        await chat.press("q")
        await chat.wait_for(lambda: "finding in `/memories/a.md`, line 3" in chat.written, "the question")
