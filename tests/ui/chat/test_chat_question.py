"""The question whether a change may be made: what is shown, what each key answers, and what never answers it."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.events import Key

from memtui.core.approvals import EVERYWHERE, Allow, ApprovalPolicy, Deny, Edit, Stop
from memtui.core.events import Agent, Person
from memtui.ui.widgets.approval import ApprovalView
from tests.ui.chat.acting import Do, Hold, Say, Step
from tests.ui.chat.conftest import Chats, Chatting

CREATE = {"command": "create", "path": "/memories/notes/tea.md", "file_text": "# Tea\n\n- green\n"}
REPLACE = {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "Berlin", "new_str": "Lisbon"}
DELETE = {"command": "delete", "path": "/memories/notes"}
RENAME = {"command": "rename", "old_path": "/memories/notes", "new_path": "/memories/archive"}
VIEW = {"command": "view", "path": "/memories"}


async def _ask(chat: Any, *, typed: str = "") -> None:
    await chat.say("go")
    if typed:
        await chat.type(typed)
    await chat.wait_for(lambda: chat.screen.question_view.question is not None)


@asynccontextmanager
async def _asking(chatting: Chats, *turns: list[Step], **given: Any) -> AsyncIterator[Chatting]:
    """A chat in which a question of the first turn takes keys."""
    async with chatting(*turns, policy=ApprovalPolicy.ASK, **given) as chat:
        await _ask(chat)
        await chat.asked()
        yield chat


async def test_the_exact_change_is_shown_and_nothing_is_written_before_y(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE), Say("Done.")]) as chat:
        assert "Claude wants to edit prefs.md" in chat.text
        assert "- - Timezone: Berlin" in chat.text
        assert "+ - Timezone: Lisbon" in chat.text
        assert "Berlin" in (chat.memory("prefs.md") or "")
        await chat.press("y")
        await chat.ended(1)
        assert "Lisbon" in (chat.memory("prefs.md") or "")
        assert chat.play.chat.verdicts == [Allow()]
        assert not chat.screen.question_view.display
        assert chat.screen.focused is chat.screen.composer


async def test_no_other_key_is_a_yes(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE)]) as chat:
        for key in ("enter", "space", "q", "j", "x"):
            await chat.press(key)
            await chat.pilot.pause()
            assert chat.play.chat.verdicts == [], key
        assert "Berlin" in (chat.memory("prefs.md") or "")


async def test_n_is_a_no(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE), Say("As you like.")]) as chat:
        await chat.press("n")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Deny()]
        assert "Berlin" in (chat.memory("prefs.md") or "")
        await chat.wait_for(lambda: "declined" in chat.text)


async def test_r_sends_a_reason_and_esc_thinks_better_of_it(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE)]) as chat:
        await chat.press("r")
        await chat.type("any")
        await chat.press("escape")
        await chat.wait_for(lambda: chat.screen.focused is chat.screen.question_view.diff)
        assert chat.play.chat.verdicts == []
        await chat.press("r")
        await chat.type("not yet")
        await chat.wait_for(lambda: chat.screen.question_view.reason.value == "not yet")
        await chat.press("enter")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Deny("not yet")]


async def test_e_edits_the_text_before_it_is_written_as_the_persons_own(chatting: Chats) -> None:
    async with _asking(chatting, [Do(CREATE)]) as chat:
        await chat.press("e")
        assert chat.screen.focused is chat.screen.question_view.text
        await chat.press("ctrl+end", "escape")
        await chat.wait_for(lambda: chat.screen.focused is chat.screen.question_view.diff)
        await chat.press("e", "ctrl+end")
        await chat.type("- mint")
        await chat.press("enter", "ctrl+s")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Edit("# Tea\n\n- green\n- mint\n")]
        assert chat.memory("notes/tea.md") == "# Tea\n\n- green\n- mint\n"
        with chat.engine() as memory:
            written = [event for event in memory.events() if event.command == "write"]
        assert isinstance(written[-1].actor, Person)


async def test_an_edited_text_that_is_left_is_kept_for_the_next_look(chatting: Chats) -> None:
    async with _asking(chatting, [Do(CREATE)]) as chat:
        await chat.press("e")
        await chat.type("mine ")
        await chat.press("escape")
        await chat.press("e")
        assert chat.screen.question_view.text.text.startswith("mine # Tea")


async def test_a_text_that_is_written_unchanged_is_written_exactly(chatting: Chats) -> None:
    texts = ["a\r\nb\nc\n", "one\x0ctwo\u2028three\n", "a\rb", "no end"]
    turns = [
        [Do({"command": "create", "path": f"/memories/odd-{number}.txt", "file_text": text})]
        for number, text in enumerate(texts, start=1)
    ]
    async with chatting(*turns, policy=ApprovalPolicy.ASK) as chat:
        for number, text in enumerate(texts, start=1):
            await _ask(chat)
            await chat.asked(number)
            await chat.press("e", "ctrl+s")
            await chat.ended(number)
            assert chat.play.chat.verdicts[-1] == Edit(text)
            assert (chat.folder / f"odd-{number}.txt").read_bytes() == text.encode()


async def test_what_the_box_would_change_is_said_before_it_is_edited(chatting: Chats) -> None:
    create = {"command": "create", "path": "/memories/odd.txt", "file_text": "a\r\nb\n"}
    async with _asking(chatting, [Do(create)]) as chat:
        await chat.press("e")
        await chat.message_says("makes all its line ends the same")


async def test_a_says_yes_for_good_below_the_folder(chatting: Chats) -> None:
    other = {**CREATE, "path": "/memories/notes/coffee.md"}
    async with _asking(chatting, [Do(CREATE), Do(other), Do(REPLACE)]) as chat:
        await chat.wait_for(lambda: "always in /memories/notes" in chat.text)
        await chat.press("a")
        await chat.asked(2)
        assert chat.memory("notes/tea.md")
        assert chat.memory("notes/coffee.md")
        assert "Claude wants to edit prefs.md" in chat.text
        assert "allowed: /memories/notes" in chat.text.splitlines()[0]
        await chat.press("A")
        await chat.ended(1)
        assert "allowed: all of /memories" in chat.text.splitlines()[0]
        assert chat.play.chat.verdicts == [Allow(always="notes"), Allow(always=EVERYWHERE)]


async def test_always_for_a_new_folder_covers_what_is_made_with_it(chatting: Chats) -> None:
    create = {**CREATE, "path": "/memories/a/b/c.md"}
    async with _asking(chatting, [Do(create), Do({**create, "path": "/memories/a/d.md"})]) as chat:
        await chat.press("a")
        await chat.ended(1)
        assert chat.memory("a/d.md")
        assert chat.play.chat.verdicts == [Allow(always="a")]


async def test_always_for_a_memory_beside_the_folders_is_for_that_memory(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE)]) as chat:
        await chat.wait_for(lambda: "always in /memories/prefs.md" in chat.text)
        await chat.press("a")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Allow(always="prefs.md")]


async def test_esc_stops_the_turn_and_nothing_is_written(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE), Say("Never said.")]) as chat:
        await chat.press("escape")
        await chat.ended(1)
        assert ("stop", ()) in chat.play.chat.calls
        assert "Berlin" in (chat.memory("prefs.md") or "")
        assert not chat.screen.question_view.display
        assert "Never said." not in chat.text


async def test_views_never_ask(chatting: Chats) -> None:
    async with chatting([Do(VIEW), Say("Seen.")], policy=ApprovalPolicy.ASK) as chat:
        await chat.say("go")
        await chat.ended(1)
        assert chat.play.chat.verdicts == []


async def test_a_question_takes_no_keys_from_what_is_being_typed(chatting: Chats) -> None:
    go_on = threading.Event()
    async with chatting([Hold(go_on), Do(REPLACE)], policy=ApprovalPolicy.ASK) as chat:
        await chat.say("go")
        await chat.type("yes and ")
        go_on.set()
        await chat.wait_for(lambda: chat.screen.question_view.preview is not None)
        await chat.message_says("Claude asks: Tab to answer.")
        await chat.type("no, yes, any")
        await chat.wait_for(lambda: chat.written == "yes and no, yes, any")
        assert chat.play.chat.verdicts == []
        await chat.press("tab")
        await chat.asked()
        await chat.press("y")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Allow()]
        assert chat.written == "yes and no, yes, any"


async def test_a_question_that_appears_under_the_hands_takes_no_key_for_a_moment(chatting: Chats) -> None:
    go_on = threading.Event()
    async with chatting([Hold(go_on), Do(REPLACE)], policy=ApprovalPolicy.ASK) as chat:
        now = [0.0]
        chat.screen.question_view._clock = lambda: now[0]
        await chat.say("go")
        go_on.set()
        await chat.wait_for(
            lambda: chat.screen.question_view.preview is not None and chat.screen.question_view.has_focus_within
        )
        await chat.press("y", "n", "a", "e", "r", "escape")
        await chat.message_says("Not answered: the question has just appeared. Press the key again.")
        assert chat.play.chat.verdicts == []
        assert chat.screen.question_view.question is not None
        now[0] = 10.0
        await chat.press("y")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Allow()]


async def test_who_looks_around_is_not_interrupted_and_comes_back_with_1(chatting: Chats) -> None:
    go_on = threading.Event()
    async with chatting([Hold(go_on), Do(REPLACE)], policy=ApprovalPolicy.ASK) as chat:
        await chat.say("go")
        await chat.wait_for(lambda: chat.screen.chat_state.is_busy)
        chat.screen.files.focus()
        go_on.set()
        await chat.wait_for(lambda: chat.screen.question_view.preview is not None)
        await chat.message_says("Claude asks: 1 to answer.")
        assert chat.screen.focused is chat.screen.files
        await chat.press("j", "k", "3")
        await chat.wait_for(lambda: chat.screen.focused is chat.screen.note)
        assert chat.play.chat.verdicts == []
        await chat.press("1")
        await chat.asked()
        assert chat.screen.question_view.has_focus_within
        await chat.press("2", "escape")
        assert chat.screen.question_view.has_focus_within
        await chat.press("n")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Deny()]


async def test_a_folder_that_would_go_is_shown_with_all_its_memories(chatting: Chats) -> None:
    async with _asking(chatting, [Do(DELETE)]) as chat:
        assert "Claude wants to delete notes/ with 2 files" in chat.text
        assert "- notes/old.md   3 lines" in chat.text
        assert "- notes/older.md   3 lines" in chat.text
        assert "edit first" not in chat.text
        await chat.press("e")
        assert not chat.screen.question_view.has_class("-editing")
        await chat.press("n")
        await chat.ended(1)
        assert chat.memory("notes/old.md")


async def test_the_memories_of_a_folder_that_would_go_are_in_order(chatting: Chats) -> None:
    names = [f"notes/{number:02}.md" for number in range(12)]
    async with _asking(chatting, [Do(DELETE)], files=dict.fromkeys(reversed(names), "x\n")) as chat:
        shown = [line.partition("- notes/")[2][:5] for line in chat.text.splitlines() if "- notes/" in line]
        assert shown == [name.partition("/")[2] for name in names]
        await chat.press("n")
        await chat.ended(1)


async def test_a_path_can_be_read_in_full_however_long_it_is(chatting: Chats) -> None:
    path = "/".join(f"a-rather-long-directory-name-{number}" for number in range(6)) + "/and-its-name.md"
    call = {"command": "create", "path": f"/memories/{path}", "file_text": "x\n"}
    async with _asking(chatting, [Do(call)]) as chat:

        def read_rows() -> str:
            area = chat.screen.question_view.region
            lines = chat.text.splitlines()[: area.bottom]
            return "".join(line[area.x + 1 : area.right - 1].strip() for line in lines)

        for size in ((120, 36), (80, 24)):
            await chat.pilot.resize_terminal(*size)
            await chat.wait_for(lambda: path in read_rows(), f"the path at {size}")
        await chat.press("n")
        await chat.ended(1)


async def test_always_is_offered_once_where_it_would_hold_everywhere(chatting: Chats) -> None:
    call = {"command": "rename", "old_path": "/memories/prefs.md", "new_path": "/memories/notes/prefs.md"}
    async with _asking(chatting, [Do(call)]) as chat:
        assert "always in" not in chat.text
        assert "A always everywhere" in chat.text
        await chat.press("a")
        assert chat.play.chat.verdicts == []
        await chat.press("n")
        await chat.ended(1)


async def test_what_the_message_line_says_of_a_question_holds_where_the_keys_go(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE)]) as chat:
        assert "2 goes to the files, 1 comes back." in chat.message
        await chat.press("e")
        await chat.message_says("Ctrl+S writes your text. Esc goes back to the question.")
        await chat.press("escape")
        await chat.message_says("Nothing is written before you answer.")
        await chat.press("r")
        await chat.message_says("Nothing is written; Claude gets your reason. Esc goes back.")
        await chat.press("escape")
        await chat.message_says("Nothing is written before you answer.")
        await chat.press("n")
        await chat.ended(1)


async def test_a_folder_that_would_move_is_shown_with_both_names(chatting: Chats) -> None:
    async with _asking(chatting, [Do(RENAME)]) as chat:
        assert "Claude wants to rename notes to archive, 2 files" in chat.text
        assert "- notes/old.md" in chat.text
        assert "+ archive/old.md" in chat.text
        await chat.press("y")
        await chat.ended(1)
        assert chat.memory("archive/old.md")


async def test_a_memory_that_changed_meanwhile_is_asked_about_again_with_what_was_edited(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE)]) as chat:
        await chat.press("e")
        await chat.type("mine ")
        with chat.engine() as memory:
            memory.execute(
                {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "short", "new_str": "long"},
                actor=Agent("Cursor"),
            )
        await chat.press("ctrl+s")
        await chat.asked(2)
        assert "Not saved" in chat.text
        assert chat.screen.question_view.text.text.startswith("mine # Preferences")
        await chat.press("y")
        await chat.ended(1)
        assert "long answers" in (chat.memory("prefs.md") or "")


async def test_hunks_are_gone_through_with_brackets_and_the_diff_scrolls(chatting: Chats) -> None:
    old = "".join(f"line {number}\n" for number in range(300))
    new = old.replace("line 5\n", "LINE 5\n").replace("line 250\n", "LINE 250\n")
    create = {"command": "create", "path": "/memories/long.md", "file_text": new}
    async with _asking(chatting, [Do(create)], files={"long.md": old}) as chat:
        assert "Claude wants to overwrite long.md" in chat.text
        assert "hunk 1/2" in chat.text
        await chat.press("right_square_bracket")
        await chat.wait_for(lambda: "hunk 2/2" in chat.text and "+ LINE 250" in chat.text)
        await chat.press("left_square_bracket")
        await chat.wait_for(lambda: "hunk 1/2" in chat.text)
        assert chat.play.chat.verdicts == []


async def test_hidden_characters_are_counted_and_shown(chatting: Chats) -> None:
    create = {"command": "create", "path": "/memories/x.md", "file_text": "a\u202eb\u200bc\x1b[2Jd [/x]\n"}
    async with _asking(chatting, [Do(create)]) as chat:
        assert "3 hidden characters would be written." in chat.text
        assert "<U+202E>" in chat.text
        assert not {"\u202e", "\u200b", "\x1b"} & set(chat.text)
        await chat.press("e")
        await chat.message_says("3 hidden characters in this text")
        assert not {"\u202e", "\u200b", "\x1b"} & set(chat.text)


async def test_closing_the_chat_answers_an_open_question_with_stop(chatting: Chats) -> None:
    async with _asking(chatting, [Do(REPLACE)]) as chat:
        await chat.press("ctrl+q")
    assert chat.play.chat.closed
    assert chat.play.chat.verdicts == [] or chat.play.chat.verdicts == [Stop()]
    assert "Berlin" in (chat.memory("prefs.md") or "")


async def test_two_questions_in_a_row_are_two_answers(chatting: Chats) -> None:
    async with chatting([Do(CREATE), Do(REPLACE)], policy=ApprovalPolicy.ASK) as chat:
        await _ask(chat)
        await chat.asked(1)
        for _ in range(3):  # pressed before the second question is there, and taken in whenever
            chat.app.post_message(Key("y", "y"))
        await chat.asked(2)
        assert chat.play.chat.verdicts == [Allow()]
        await chat.press("n")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Allow(), Deny()]


async def test_keys_that_come_late_and_together_answer_nothing(chatting: Chats) -> None:
    async with chatting([Do(CREATE)], policy=ApprovalPolicy.ASK) as chat:
        await _ask(chat)
        await chat.asked(1)
        for _ in range(3):
            late = Key("y", "y")
            late.time -= 3_600
            chat.screen.question_view.diff.post_message(late)
        await chat.message_says("Not answered")
        await chat.press("n")
        await chat.ended(1)
        assert chat.play.chat.verdicts == [Deny()]


async def test_an_editor_of_ones_own_begins_with_the_proposed_text(chatting: Chats) -> None:
    seen: list[str] = []

    def edited(_: object, text: str, *, name: str = "") -> str:
        seen.append(f"{name}: {text}")
        return text + "- outside\r\n"

    async with chatting([Do(CREATE)], policy=ApprovalPolicy.ASK) as chat:
        chat.screen.question_view._edit = edited  # a terminal cannot be handed over in a test
        await _ask(chat)
        await chat.asked()
        await chat.press("E")
        await chat.message_says("Ctrl+S writes your text.")
        await chat.press("ctrl+s")
        await chat.ended(1)
        assert seen == ["tea.md: # Tea\n\n- green\n"]
        assert (chat.folder / "notes/tea.md").read_bytes() == b"# Tea\n\n- green\n- outside\r\n"


async def test_without_an_editor_it_is_said_how_to_set_one(chatting: Chats, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    async with chatting() as chat:
        await chat.type("hello")
        await chat.press("ctrl+g")
        await chat.message_says("No editor is set.")
        assert chat.written == "hello"


def test_every_answer_has_a_key_that_is_shown() -> None:
    keys = {binding.key for binding in ApprovalView.BINDINGS}  # type: ignore[union-attr]
    assert keys == {"y", "n", "r", "e", "E", "a", "A", "escape"}
