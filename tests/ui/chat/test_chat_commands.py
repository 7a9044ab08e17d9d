"""What can be typed after a slash: each does what it says, all are bindings, and a wrong one is answered kindly."""

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, OptionList

from memtui.core.approvals import ApprovalPolicy
from memtui.core.events import Person
from memtui.ui.actions import list_actions
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.chat_commands import CommandController
from memtui.ui.screens.chat_review import ReviewScreen
from memtui.ui.screens.dialogs import LinesScreen, MenuScreen
from memtui.ui.screens.help import HelpScreen
from memtui.ui.screens.history import HistoryScreen
from tests.ui.chat.acting import Do, Hold, Play, Say
from tests.ui.chat.conftest import Chats
from tests.ui.chat.test_chat_screen import _key
from tests.ui.conftest import fill, screen_text, wait_for

CREATE = {"command": "create", "path": "/memories/tea.md", "file_text": "# Tea\n\n- green\n"}
REPLACE = {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "Berlin", "new_str": "Lisbon"}
VIEW = {"command": "view", "path": "/memories/notes/old.md"}


async def test_undo_takes_back_what_the_turn_wrote_and_says_so(chatting: Chats) -> None:
    async with chatting([Do(CREATE), Do(REPLACE)]) as chat:
        await chat.say("go")
        await chat.ended(1)
        await chat.say("/undo")
        await chat.message_says("Undid what this turn wrote: tea.md, prefs.md.")
        assert chat.memory("tea.md") is None
        assert "Berlin" in (chat.memory("prefs.md") or "")
        assert chat.written == ""
        await chat.say("/undo")
        await chat.message_says("Nothing to undo: the last turn wrote nothing to memory.")


async def test_diff_reviews_what_the_session_changed(chatting: Chats) -> None:
    async with chatting([Do(CREATE), Do(REPLACE)], [Do({**REPLACE, "old_str": "Lisbon", "new_str": "Porto"})]) as chat:
        await chat.press("ctrl+r")
        await chat.message_says("This session has not changed any note yet.")
        for turn in (1, 2):
            await chat.say("go")
            await chat.ended(turn)
        await chat.press("ctrl+r")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ReviewScreen) and chat.app.screen.remembered)
        await chat.press("escape")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ChatScreen), "the chat")
        await chat.say("/diff")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ReviewScreen) and chat.app.screen.remembered)
        review = chat.app.screen
        assert isinstance(review, ReviewScreen)
        assert [(each.path, each.how) for each in review.remembered] == [("prefs.md", "changed"), ("tea.md", "created")]
        await chat.wait_for(lambda: "+ - Timezone: Porto" in chat.text and "- - Timezone: Berlin" in chat.text)
        assert "Lisbon" not in chat.text
        await chat.press("down")
        await chat.wait_for(lambda: "+ # Tea" in chat.text)
        await chat.press("V")
        await chat.wait_for(lambda: isinstance(chat.app.screen, HistoryScreen))
        await chat.press("q")
        await chat.wait_for(lambda: chat.app.screen is review)
        await chat.press("escape")
        await chat.wait_for(lambda: chat.app.screen is chat.screen)


async def test_long_names_take_one_row_each_in_the_review(chatting: Chats) -> None:
    path = "/".join(f"a-rather-long-directory-name-{number}" for number in range(6)) + "/and-its-name.md"
    call = {"command": "create", "path": f"/memories/{path}", "file_text": "x\n" * 3_000}
    async with chatting([Do(call), Do(REPLACE)], size=(80, 24)) as chat:
        await chat.say("go")
        await chat.ended(1)
        await chat.say("/diff")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ReviewScreen) and len(chat.app.screen.remembered) == 2)
        await chat.wait_for(lambda: "name.md  +3,000" in chat.text)
        rows = chat.text.splitlines()
        assert "name.md  +3,000" in rows[2]
        assert "~ prefs.md  +1 -1" in rows[3]
        await chat.pilot.resize_terminal(200, 50)
        await chat.wait_for(lambda: chat.text.splitlines()[2].count("a-rather") >= 1 and "and-its-name.md" in chat.text)


async def test_a_review_of_what_was_taken_back_is_empty(chatting: Chats) -> None:
    async with chatting([Do(CREATE)]) as chat:
        await chat.say("go")
        await chat.ended(1)
        await chat.say("/undo")
        await chat.message_says("Undid what this turn wrote")
        await chat.press("ctrl+r")
        await chat.wait_for(lambda: "Nothing to review" in chat.text)


async def test_memory_says_what_it_holds_and_what_was_read(chatting: Chats) -> None:
    async with chatting([Do(VIEW), Do(VIEW)]) as chat:
        await chat.say("go")
        await chat.ended(1)
        await chat.say("/memory")
        await chat.wait_for(lambda: isinstance(chat.app.screen, LinesScreen))
        assert "3 files" in chat.text
        assert "~" in chat.text
        assert "Read in this session: 700 characters" in chat.text
        assert "/memories/notes/old.md  2 times" in chat.text
        await chat.press("q")
        await chat.wait_for(lambda: chat.app.screen is chat.screen)


async def test_model_offers_those_that_the_api_lists(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.wait_for(lambda: chat.screen.chat_state.models)
        await chat.say("/model")
        await chat.wait_for(lambda: isinstance(chat.app.screen, MenuScreen))
        assert "claude-plain-1" in chat.text
        await chat.press("2")
        await chat.wait_for(lambda: ("set_model", ("claude-plain-1",)) in chat.play.chat.calls)
        await chat.wait_for(lambda: "claude-plain-1" in chat.text.splitlines()[0])
        await chat.say("/model claude-other-9")
        await chat.wait_for(lambda: ("set_model", ("claude-other-9",)) in chat.play.chat.calls)


async def _choose(chat: Any, command: str, key: str) -> None:
    """Take a choice of the menu that a command opens."""
    await chat.say(command)
    await chat.wait_for(lambda: isinstance(chat.app.screen, MenuScreen))
    await chat.press(key)


async def test_effort_and_thinking_where_the_model_has_them(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.say("/effort high")
        await chat.message_says("Effort: high.")
        await _choose(chat, "/effort", "0")
        await chat.message_says("Effort: default.")
        await chat.say("/effort much")
        await chat.message_says("Not changed: effort must be one of low, medium, high, default.")
        await chat.say("/thinking off")
        await chat.message_says("Thinking: off.")
        await _choose(chat, "/thinking", "1")
        await chat.message_says("Thinking: on.")
        assert chat.play.chat.calls == [
            ("set_effort", ("high",)), ("set_effort", (None,)), ("set_thinking", (False,)), ("set_thinking", (True,))
        ]  # fmt: skip


async def test_policy_is_said_and_changed(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.say("/policy")
        await chat.message_says("Memory writes: allow")
        await chat.say("/policy read")
        await chat.wait_for(lambda: chat.screen.chat_state.policy is ApprovalPolicy.READ_ONLY)
        await chat.say("/policy maybe")
        await chat.message_says("maybe is not ask, allow or read-only")
        assert chat.screen.chat_state.policy is ApprovalPolicy.READ_ONLY


async def test_policy_lists_what_is_granted_and_takes_back_one_or_all(chatting: Chats) -> None:
    async with chatting(policy=ApprovalPolicy.ASK) as chat:

        def header() -> str:
            return str(chat.text.splitlines()[0])

        chat.play.chat.set_policy(ApprovalPolicy.ASK, frozenset({"notes", "prefs.md", "a/b"}))
        await chat.wait_for(lambda: "allowed:" in header())
        for key, left in (("2", {"a/b", "prefs.md"}), ("escape", {"a/b", "prefs.md"}), ("0", set())):
            await chat.say("/policy")
            await chat.wait_for(lambda: isinstance(chat.app.screen, MenuScreen))
            await chat.press(key)
            await chat.wait_for(lambda: chat.app.screen is chat.screen)
            await chat.wait_for(lambda left=left: chat.screen.chat_state.always == left)
        await chat.wait_for(lambda: "allowed:" not in header())
        assert chat.screen.chat_state.policy is ApprovalPolicy.ASK


async def test_attach_sends_a_file_along(chatting: Chats, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("# Plan\n")
    (tmp_path / "blob.bin").write_bytes(b"\0\1\2\xff")
    async with chatting() as chat:
        await chat.say("/attach plan.md")
        await chat.wait_for(lambda: "Message  with plan.md 7 B" in chat.text)
        await chat.say("/attach blob.bin")
        await chat.message_says("Not attached")
        await chat.say("/attach nowhere.md")
        await chat.message_says("Not attached: nowhere.md")
        await chat.say("/attach")
        await chat.wait_for(lambda: chat.app.screen.query(Input) and chat.app.screen is not chat.screen)
        await chat.press("escape")
        await chat.wait_for(lambda: chat.app.screen is chat.screen)
        await chat.say("look")
        await chat.ended(1)
        prompt = chat.play.chat.sent[0]
        assert [(each.name, each.media_type, each.data) for each in prompt.attachments] == [
            ("plan.md", "text/plain", b"# Plan\n")
        ]
        assert "Message  with" not in chat.text


async def test_copy_copies_the_last_answer(chatting: Chats) -> None:
    async with chatting([Say("The answer.")]) as chat:
        await chat.say("/copy")
        await chat.wait_for(lambda: "Nothing to copy" in chat.message or "Copied" in chat.message)
        await chat.say("go")
        await chat.ended(1)
        await chat.press("escape", "G", "k", "y")
        await chat.message_says("Copied")


async def test_retry_sends_the_last_message_again(chatting: Chats) -> None:
    async with chatting([Say("One.")], [Say("Two.")]) as chat:
        await chat.say("hello")
        await chat.ended(1)
        await chat.say("/retry")
        await chat.ended(2)
        assert [prompt.text for prompt in chat.play.chat.sent] == ["hello", "hello"]
        assert chat.written == ""


async def test_edit_brings_the_last_message_back_into_the_box(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.say("helo")
        await chat.ended(1)
        await chat.say("/edit")
        await chat.wait_for(lambda: chat.written == "helo")
        await chat.message_says("Change it and send it again.")


async def test_clear_begins_anew(chatting: Chats) -> None:
    async with chatting([Say("Something old.")]) as chat:
        await chat.say("hello")
        await chat.ended(1)
        await chat.say("/clear")
        await chat.message_says("New conversation.")
        assert ("clear", ()) in chat.play.chat.calls


async def test_export_writes_a_new_file_and_never_over_another(chatting: Chats, tmp_path: Path) -> None:
    async with chatting([Do(CREATE), Say("Done.")]) as chat:
        await chat.say("hello")
        await chat.ended(1)
        await chat.say("/export talk.md")
        await chat.message_says("Exported to talk.md.")
        text = (tmp_path / "talk.md").read_text()
        assert "hello" in text
        assert "tea.md" in text
        await chat.say("/export talk.md")
        await chat.message_says("Not exported: talk.md exists.")
        await chat.say("/export memories/talk.md")
        await chat.message_says("it is in the memory folder")
        assert chat.memory("talk.md") is None
        await chat.say("/export nowhere/talk.md")
        await chat.message_says("Not exported to nowhere/talk.md")
        await chat.say("/export")
        await chat.message_says("Exported to memtui-chat-")
        assert list(tmp_path.glob("memtui-chat-*.md"))


async def test_resume_goes_on_with_another_session(chatting: Chats) -> None:
    async with chatting([Say("The first answer.")]) as chat:
        await chat.say("/resume")
        await chat.message_says("No other session in this folder.")
        await chat.say("the first question")
        await chat.ended(1)
        first = chat.screen.chat_session.id if chat.screen.chat_session else ""
        await chat.press("ctrl+q")
    play = Play([Say("An answer of the second.")])
    async with chatting(play=play) as chat:
        await chat.say("the second question")
        await chat.ended(1)
        await chat.say("/resume")
        await chat.wait_for(lambda: isinstance(chat.app.screen, MenuScreen))
        assert "the first question" in chat.text
        await chat.press("1")
        await chat.wait_for(
            lambda: chat.screen.chat_session and chat.screen.chat_session.id == first, "the first session"
        )
        await chat.wait_for(lambda: "the first question" in chat.text)
        assert "the second question" not in chat.text
        assert play.chats[0].closed
        await chat.press("up")
        assert chat.written == "the first question"


async def test_a_session_that_cannot_be_resumed_leaves_this_one_as_it_is(chatting: Chats) -> None:
    async with chatting([Say("The answer.")]) as chat:
        await chat.say("a question")
        await chat.ended(1)
        session = chat.screen.chat_session.id if chat.screen.chat_session else ""
        await chat.say("/resume 1999")
        await chat.message_says("Continuing the earlier session.")
        await chat.wait_for(
            lambda: chat.screen.chat_session and chat.screen.chat_session.id == session, "the session before"
        )
        await chat.wait_for(lambda: "a question" in chat.text)
        assert not chat.screen.no_chat_reason


async def test_help_and_quit(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.say("/help")
        await chat.wait_for(lambda: isinstance(chat.app.screen, HelpScreen))
        await chat.press("escape")
        await chat.say("/quit")
    assert chat.app.return_value == 0


async def test_an_unknown_command_names_the_nearest_and_is_not_sent(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.say("/udno now")
        await chat.message_says("Unknown command /udno. Did you mean /undo?")
        assert chat.written == "/udno now"
        await chat.press("ctrl+u")
        await chat.say("/zzzzzz")
        await chat.message_says("/ lists them.")
        await chat.press("ctrl+u")
        await chat.say("/undo everything")
        await chat.message_says("/undo takes no argument.")
        assert chat.play.chat.sent == []
        assert chat.play.chat.calls == []


async def test_a_path_is_a_message_and_no_command(chatting: Chats) -> None:
    async with chatting() as chat:
        for turn, text in enumerate(("/memories/prefs.md is old", "// a comment", "/ 2", "/a/b"), start=1):
            chat.screen.composer.set_text(text)
            await chat.press("enter")
            await chat.ended(turn)
            assert chat.play.chat.sent[-1].text == text


async def test_commands_are_completed_while_they_are_typed(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.press("slash")
        await chat.wait_for(lambda: "/undo " in chat.text and "Undo this turn's changes" in chat.text)
        await chat.type("e")
        await chat.wait_for(lambda: "/effort" in chat.text and "/undo " not in chat.text)
        await chat.press("down", "tab")
        await chat.wait_for(lambda: chat.written == "/edit")
        await chat.press("ctrl+u")
        await chat.type("/e")
        await chat.press("enter")
        await chat.wait_for(lambda: chat.written == "/effort", "the first completed, not run")
        await chat.press("ctrl+u")
        await chat.type("/mem")
        await chat.press("enter")
        await chat.wait_for(lambda: isinstance(chat.app.screen, LinesScreen))
        await chat.press("escape")
        await chat.press("slash", "escape")
        await chat.wait_for(lambda: "/undo " not in chat.text)
        assert chat.written == "/"
        assert chat.screen.focused is chat.screen.composer


async def test_a_command_typed_in_one_go_is_run_as_it_stands(chatting: Chats) -> None:
    async with chatting() as chat:
        for key in ("slash", "p", "o", "l", "i", "c", "y", "enter"):
            chat.app.post_message(_key(key))
        await chat.message_says("Memory writes: allow")
        await chat.wait_for(lambda: chat.written == "")


async def test_what_does_not_go_while_the_conversation_opens_says_so(chatting: Chats) -> None:
    async with chatting(ready=False) as chat:
        if chat.screen.chat is None:
            await chat.say("/retry")
            await chat.wait_for(lambda: "is being opened" in chat.message or "nothing to send" in chat.message)


def test_every_command_is_a_binding_with_an_action() -> None:
    names = [command.name for command in CommandController.list_commands()]
    for name in ("undo", "diff", "memory", "model", "effort", "thinking", "policy", "attach", "copy", "retry", "edit"):
        assert names.count(name) == 1, name
    for name in ("clear", "resume", "export", "help", "quit"):
        assert names.count(name) == 1, name
    for command in CommandController.list_commands():
        assert command.words


async def test_every_command_is_in_the_list_and_the_help(chatting: Chats) -> None:
    async with chatting() as chat:
        keys = {key for action in list_actions(chat.screen) for key in action.keys}
        for command in CommandController.list_commands():
            assert f"slash_{command.name}" in keys, command


async def test_commands_of_the_list_run(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.press("ctrl+p")
        await chat.wait_for(lambda: chat.app.screen is not chat.screen)
        await chat.type("size of the folder")
        await chat.wait_for(lambda: chat.app.screen.query(OptionList))
        await chat.wait_for(lambda: "/memory" in chat.text)
        await chat.press("down", "enter")
        await chat.wait_for(lambda: isinstance(chat.app.screen, LinesScreen))


async def test_chat_from_the_browser_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")  # nobody is there
    folder = tmp_path / "memories"
    folder.mkdir()
    fill(folder, {"a.md": "# A\n"})
    app = MemtuiApp(str(folder), state=str(tmp_path / "state"))
    async with app.run_test(size=(120, 36)) as pilot:
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.is_opened)
        await pilot.press("colon")
        await pilot.press(*"chat with")
        await wait_for(app, pilot, lambda: "Chat with Claude" in _text(app))
        await pilot.press("down", "enter")
        await wait_for(app, pilot, lambda: isinstance(app.screen, ChatScreen), "the chat")
        await wait_for(app, pilot, lambda: app.screen.status.live == "LIVE")  # type: ignore[attr-defined]
        assert "2 Files" in _text(app)
        await pilot.press("escape", "q")
        await wait_for(app, pilot, lambda: type(app.screen) is BrowseScreen and app.screen.is_opened, "the browser")
        assert "1 Files" in _text(app)
        assert app.screen.session.state == str(tmp_path / "state")  # type: ignore[attr-defined]


def _text(app: object) -> str:
    return screen_text(app)  # type: ignore[arg-type]


async def test_undo_with_u_is_the_persons_own_and_not_the_turns(chatting: Chats) -> None:
    async with chatting([Do(CREATE), Hold(threading.Event())]) as chat:
        await chat.say("go")
        await chat.wait_for(lambda: chat.memory("tea.md"))
        chat.screen.files.focus()
        await chat.wait_for(lambda: "tea.md" in list(chat.screen.files.outline))
        await chat.press("u", "y")
        await chat.wait_for(lambda: chat.memory("tea.md") is None)
        with chat.engine() as memory:
            assert isinstance(list(memory.events())[-1].actor, Person)
