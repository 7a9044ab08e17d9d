"""The chat driven by keys: saying something, panes and sizes, what is queued, stopped, undone and left."""

import os
import threading
from dataclasses import replace
from pathlib import Path

from textual.events import Key, Paste
from textual.widgets import OptionList

from memtui.agents.chat.events import ChatFault, FaultKind, MemoryChange, Model, Notice, RetryScheduled, TextDelta
from memtui.core.approvals import ApprovalPolicy
from memtui.core.events import Agent
from memtui.ui.chat_state import describe_memory_change, format_model_choice, shorten_sentences
from memtui.ui.screens.dialogs import ConfirmScreen
from memtui.ui.screens.help import HelpScreen
from tests.ui.chat.acting import Do, Fail, Hold, Play, Say, Tell
from tests.ui.chat.conftest import Chats

SIZES = [(60, 15), (80, 24), (120, 36), (160, 40), (200, 50)]
CREATE = {"command": "create", "path": "/memories/tea.md", "file_text": "# Tea\n\n- green\n"}
REPLACE = {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "Berlin", "new_str": "Lisbon"}
VIEW = {"command": "view", "path": "/memories/notes/old.md"}


async def test_a_message_is_answered_and_the_memory_is_shown_as_it_changes(chatting: Chats) -> None:
    async with chatting([Do(REPLACE), Say("Noted: Lisbon.")]) as chat:
        await chat.say("I moved to Lisbon")
        await chat.ended(1)
        await chat.wait_for(lambda: "Noted: Lisbon." in chat.text)
        assert "I moved to Lisbon" in chat.text
        assert "Lisbon" in (chat.memory("prefs.md") or "")
        await chat.wait_for(lambda: chat.screen.files.cursor_path == "prefs.md", "the memory that was written")
        await chat.wait_for(lambda: "+ - Timezone: Lisbon" in chat.text, "its last change")
        assert "Claude finished: 1 tool call, 1 file changed, 1.9 s." in chat.message
        assert chat.written == ""
        assert chat.screen.focused is chat.screen.composer


async def test_typing_works_before_anything_is_loaded_and_goes_out_by_itself(chatting: Chats) -> None:
    play = Play([Say("Hello to you.")])
    play.is_slow.clear()
    async with chatting(play=play, ready=False) as chat:
        await chat.say("hello")
        await chat.wait_for(lambda: "queued: hello" in chat.text)
        assert chat.written == ""
        await chat.wait_for(lambda: play.chats, "the conversation")
        assert "queued: hello" in chat.text
        play.is_slow.set()
        await chat.ended(1)
        assert play.chat.sent[0].text == "hello"
        await chat.wait_for(lambda: "queued" not in chat.text)


async def test_enter_does_not_overtake_what_was_typed_before_it(chatting: Chats) -> None:
    async with chatting() as chat:
        for key in ("a", "b", "c", "enter", "d", "e"):  # all of them before anything is taken in
            chat.app.post_message(_key(key))
        await chat.ended(1)
        await chat.wait_for(lambda: chat.written == "de")
        assert [prompt.text for prompt in chat.play.chat.sent] == ["abc"]


def _key(name: str):  # type: ignore[no-untyped-def]
    return Key(name, {"slash": "/", "enter": "\r"}.get(name, name))


async def test_panes_never_overlap(chatting: Chats) -> None:
    async with chatting([Do(CREATE), Say("Done.")], [Do(REPLACE)], size=SIZES[0]) as chat:
        await chat.say("one")
        await chat.ended(1)
        for size in SIZES:
            await chat.pilot.resize_terminal(*size)
            _assert_tiled(chat)
        await chat.press("shift+tab", "shift+tab")
        await chat.wait_for(lambda: chat.screen.chat_state.policy is ApprovalPolicy.ASK)
        await chat.say("two")
        await chat.asked()
        for size in reversed(SIZES):
            await chat.pilot.resize_terminal(*size)
            await chat.wait_for(lambda: "y yes" in chat.text, f"the answers at {size}")
            _assert_tiled(chat)
            lines = chat.text.splitlines()
            assert "memtui chat" in lines[0]
            assert "[ask]" in lines[0]


def _assert_tiled(chat) -> None:  # type: ignore[no-untyped-def]
    cells: set[tuple[int, int]] = set()
    shown = "#transcript, #question, #files, #note, #change, #activity, #box, Header, KeyLine, #message"
    for pane in chat.screen.query(shown):
        if pane.display and pane.region.area and all(each.display for each in pane.ancestors if each.is_attached):
            own = {(x, y) for x in range(pane.region.x, pane.region.right) for y in pane.region.line_range}
            assert not own & cells, f"{pane} overlaps"
            assert pane.region in chat.screen.region
            cells |= own
    assert chat.screen.transcript.region.area or chat.screen.question_view.region.area
    assert chat.screen.composer.region.area


async def test_it_is_said_where_the_terminal_is_too_small_and_it_recovers(chatting: Chats) -> None:
    async with chatting(size=(80, 24)) as chat:
        await chat.type("a draft")
        await chat.pilot.resize_terminal(48, 12)
        await chat.wait_for(lambda: "memtui needs 60x15 (now 48x12)" in chat.text)
        await chat.pilot.resize_terminal(80, 24)
        await chat.wait_for(lambda: "1 Chat" in chat.text and "a draft" in chat.text)


async def test_who_types_goes_on_typing_when_the_terminal_has_room_again(chatting: Chats) -> None:
    async with chatting([Do(CREATE)], size=(80, 24)) as chat:
        await chat.say("go")
        await chat.ended(1)
        await chat.type("a draft")
        await chat.pilot.resize_terminal(48, 12)
        await chat.wait_for(lambda: "memtui needs 60x15 (now 48x12)" in chat.text)
        await chat.press("u", "d", "P", "ctrl+r")  # keys of what cannot be seen do nothing
        await chat.pilot.resize_terminal(80, 24)
        await chat.wait_for(lambda: chat.screen.focused is chat.screen.composer, "the focus in the box")
        await chat.type(", done")
        assert chat.written == "a draft, done"
        assert chat.memory("tea.md")
        assert chat.app.screen is chat.screen


async def test_who_says_something_sees_the_answer_wherever_she_was_reading(chatting: Chats) -> None:
    words = "\n\n".join(f"line {number}" for number in range(100))
    async with chatting([Say(words)], [Say("The answer.")]) as chat:
        await chat.say("go")
        await chat.ended(1)
        await chat.press("escape", "g")
        await chat.wait_for(lambda: not chat.screen.transcript.is_following)
        await chat.press("escape")
        await chat.say("more")
        await chat.ended(2)
        await chat.wait_for(lambda: "The answer." in chat.text)
        assert chat.screen.transcript.is_following


async def test_a_storm_of_sizes_while_text_streams_loses_nothing(chatting: Chats) -> None:
    go_on = threading.Event()
    words = " ".join(f"word{number}" for number in range(400))
    async with chatting([Say(words), Hold(go_on), Say("The end.")]) as chat:
        await chat.say("go")
        for size in [*SIZES, (59, 14), (99, 19), *reversed(SIZES), (120, 36)]:
            await chat.pilot.resize_terminal(*size)
        go_on.set()
        await chat.ended(1)
        await chat.wait_for(lambda: "The end." in chat.text)
        assert words in chat.said
        _assert_tiled(chat)


async def test_numbers_tab_and_esc_lead_from_pane_to_pane(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.press("escape")
        for key, name in (("2", "files"), ("3", "note"), ("4", "activity"), ("1", "transcript")):
            await chat.press(key)
            await chat.wait_for(lambda name=name: chat.screen.focused and chat.screen.focused.id == name, name)
            assert chat.screen.focused.region.area, f"{name} is not on screen"
        await chat.press("escape")
        assert chat.screen.focused is chat.screen.composer
        await chat.press("tab")
        assert chat.screen.focused is not chat.screen.composer


async def test_zoom_gives_a_pane_the_room_and_takes_it_back(chatting: Chats) -> None:
    async with chatting() as chat:
        for key, name in (("1", "transcript"), ("2", "files"), ("3", "note"), ("4", "activity")):
            await chat.press("escape", key)
            pane = chat.screen.query_one(f"#{name}")
            await chat.press("z")
            await chat.wait_for(lambda pane=pane: pane.region.width == 120, f"{name} zoomed")
            assert chat.screen.composer.region.area
            await chat.press("z")
            await chat.wait_for(lambda pane=pane: pane.region.width < 120, f"{name} as before")
            await chat.press("escape")


async def test_the_divider_moves_and_comes_back(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.press("escape")
        before = chat.screen.transcript.region.width
        await chat.press("greater_than_sign", "greater_than_sign")
        await chat.wait_for(lambda: chat.screen.transcript.region.width == before + 4)
        await chat.press("equals_sign")
        await chat.wait_for(lambda: chat.screen.transcript.region.width == before)


async def test_a_message_has_several_lines_and_the_box_grows_to_eight(chatting: Chats) -> None:
    async with chatting() as chat:
        box = chat.screen.composer
        assert box.region.height == 3
        await chat.type("one\ntwo\nthree")
        await chat.wait_for(lambda: box.region.height == 5)
        await chat.type("\n" * 20)
        await chat.wait_for(lambda: box.region.height == 10)
        await chat.press("enter")
        await chat.ended(1)
        assert chat.play.chat.sent[0].text.startswith("one\ntwo\nthree")
        await chat.wait_for(lambda: box.region.height == 3)


async def test_many_pasted_lines_are_one_message(chatting: Chats) -> None:
    async with chatting() as chat:
        text = "\n".join(f"line {number}" for number in range(300))
        chat.app.post_message(Paste(text))
        await chat.wait_for(lambda: chat.written == text)
        await chat.press("enter")
        await chat.ended(1)
        assert chat.play.chat.sent[0].text == text


async def test_up_and_down_bring_earlier_messages_and_what_was_being_written(chatting: Chats) -> None:
    async with chatting() as chat:
        for number, words in enumerate(("first", "second"), start=1):
            await chat.say(words)
            await chat.ended(number)
        await chat.type("third")
        await chat.press("up")
        assert chat.written == "second"
        await chat.press("up", "up", "up")
        assert chat.written == "first"
        await chat.press("down", "down")
        assert chat.written == "third"


async def test_what_is_said_meanwhile_waits_and_can_be_taken_back(chatting: Chats) -> None:
    go_on = threading.Event()
    async with chatting([Hold(go_on), Say("One.")], [Say("Two.")]) as chat:
        await chat.say("first")
        await chat.wait_for(lambda: chat.screen.chat_state.is_busy)
        await chat.say("second")
        await chat.say("third")
        await chat.wait_for(lambda: "queued: third" in chat.text and "queued: second" in chat.text)
        await chat.press("up")
        await chat.wait_for(lambda: chat.written == "third")
        await chat.wait_for(lambda: "queued: third" not in chat.text)
        go_on.set()
        await chat.ended(2)
        assert [prompt.text for prompt in chat.play.chat.sent] == ["first", "second"]
        assert chat.written == "third"


async def test_esc_stops_the_turn_keeps_what_was_said_and_then_leaves_the_box(chatting: Chats) -> None:
    async with chatting([Say("Half of it."), Hold(threading.Event()), Say("Never.")]) as chat:
        await chat.say("go")
        await chat.wait_for(lambda: "Half of it." in chat.text)
        await chat.press("escape")
        await chat.ended(1)
        await chat.message_says("Stopped")
        assert "Half of it." in chat.text
        assert chat.screen.focused is chat.screen.composer
        await chat.press("escape")
        assert chat.screen.focused is chat.screen.transcript


FAULT = ChatFault(FaultKind.NETWORK, "Could not reach the server. Your message is kept; Enter tries again.")


async def test_a_fault_puts_the_message_back_and_enter_tries_again(chatting: Chats) -> None:
    async with chatting([Fail(FAULT)], [Say("Now it works.")]) as chat:
        await chat.say("a long question")
        await chat.ended(1)
        await chat.wait_for(lambda: chat.written == "a long question")
        await chat.message_says("Could not reach the server.")
        await chat.press("enter")
        await chat.ended(2)
        await chat.wait_for(lambda: "Now it works." in chat.text)
        assert [prompt.text for prompt in chat.play.chat.sent] == ["a long question"] * 2


async def test_a_fault_does_not_overwrite_what_was_typed_meanwhile(chatting: Chats) -> None:
    go_on = threading.Event()
    async with chatting([Hold(go_on), Fail(FAULT)]) as chat:
        await chat.say("lost otherwise")
        await chat.wait_for(lambda: chat.screen.chat_state.is_busy)
        await chat.type("something new")
        go_on.set()
        await chat.ended(1)
        await chat.message_says("Up in an empty box recalls your message.")
        assert chat.written == "something new"
        assert "kept: lost otherwise" in chat.text
        await chat.press("ctrl+u", "up")
        await chat.wait_for(lambda: chat.written == "lost otherwise")
        await chat.wait_for(lambda: "kept:" not in chat.text)


async def test_what_was_not_sent_is_there_again_at_the_next_start(chatting: Chats, tmp_path: Path) -> None:
    go_on = threading.Event()
    async with chatting([Hold(go_on)]) as chat:
        await chat.say("sent")
        await chat.wait_for(lambda: chat.screen.chat_state.is_busy)
        await chat.say("waiting")
        await chat.wait_for(lambda: "queued: waiting" in chat.text)
        await chat.type("half a sen")
        await chat.press("ctrl+q")
    drafts = list((tmp_path / "state" / "chats").glob("draft-*.txt"))
    assert [draft.read_text() for draft in drafts] == ["waiting\n\nhalf a sen"]
    assert drafts[0].stat().st_mode & 0o777 == 0o600
    async with chatting() as chat:
        await chat.wait_for(lambda: chat.written == "waiting\n\nhalf a sen")
        await chat.wait_for(lambda: "Your unsent message is in the message box." in chat.messages)
        await chat.press("enter")
        await chat.ended(1)
    assert not list((tmp_path / "state" / "chats").glob("draft-*.txt"))


async def test_a_draft_of_a_running_process_is_left_to_it(chatting: Chats, tmp_path: Path) -> None:
    chats = tmp_path / "state" / "chats"
    chats.mkdir(parents=True)
    (chats / f"draft-{os.getppid()}.txt").write_text("somebody else's")
    async with chatting() as chat:
        await chat.wait_for(lambda: chat.screen.conversation_controller._put_draft)
        assert chat.written == ""
    assert (chats / f"draft-{os.getppid()}.txt").read_text() == "somebody else's"


async def test_shift_tab_goes_round_the_policies_and_says_so(chatting: Chats) -> None:
    async with chatting([Do(CREATE)], policy=ApprovalPolicy.ASK) as chat:
        for words, header in (("allow", "[allow]"), ("read-only", "[read-only]"), ("ask first", "[ask]")):
            await chat.press("shift+tab")
            await chat.message_says(f"Memory writes: {words} (Shift+Tab: ask first / allow / read-only)")
            assert header in chat.text.splitlines()[0]


async def test_the_file_is_lit_with_a_letter_while_it_is_read_and_written(chatting: Chats) -> None:
    reading, writing = threading.Event(), threading.Event()
    async with chatting([Do(VIEW), Hold(reading), Do(REPLACE), Hold(writing)]) as chat:
        files = chat.screen.files

        def row(name: str) -> str:
            return files.render_line(list(files.outline).index(name) - files.scroll_offset.y).text

        await chat.say("look")
        await chat.wait_for(lambda: row("notes/old.md")[1] == "r", "r before what is read")
        reading.set()
        await chat.wait_for(lambda: row("prefs.md")[1] == "w", "w before what is written")
        await chat.wait_for(lambda: row("prefs.md")[1] == "~", "what became of it")
        writing.set()
        await chat.ended(1)


async def test_the_memory_pane_follows_unless_told_not_to(chatting: Chats) -> None:
    async with chatting([Do(VIEW)], [Do(CREATE)]) as chat:
        await chat.say("one")
        await chat.wait_for(lambda: chat.screen.files.cursor_path == "notes/old.md")
        await chat.ended(1)
        await chat.press("escape", "f")
        assert "Follow off" in chat.message
        await chat.press("escape")
        await chat.say("two")
        await chat.ended(2)
        await chat.wait_for(lambda: "tea.md" in list(chat.screen.files.outline))
        assert chat.screen.files.cursor_path == "notes/old.md"


async def test_what_another_process_does_is_shown_and_can_be_undone_with_u(chatting: Chats) -> None:
    async with chatting() as chat:
        with chat.engine() as memory:
            memory.execute(CREATE, actor=Agent("Cursor"))
        await chat.message_says("Cursor created tea.md")
        await chat.press("escape", "u")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ConfirmScreen))
        await chat.press("y")
        await chat.message_says("Undid")
        assert chat.memory("tea.md") is None


async def test_a_loss_has_priority_over_the_review(chatting: Chats) -> None:
    async with chatting([Do(CREATE)]) as chat:
        await chat.say("go")
        await chat.ended(1)
        for name in ("prefs.md", "tea.md", "notes/old.md", "notes/older.md"):
            (chat.folder / name).unlink()
        await chat.wait_for(lambda: chat.screen.query("#loss"))
        await chat.press("ctrl+r")
        await chat.wait_for(lambda: chat.memory("prefs.md") is not None)
        assert chat.screen is chat.app.screen


async def test_hostile_text_and_names_stay_text(chatting: Chats) -> None:
    evil = "[bold]x[/] [@click=app.quit]y[/] \x1b]52;c;aGk=\x07 \u202etxt.exe <U+0000>"
    path = "/memories/[red]a[\u2067b.md"
    steps = [
        Say(evil), Do({"command": "create", "path": path, "file_text": evil}), Do({"command": evil, "path": evil}),
        Tell(Notice(evil)), Tell(TextDelta(1, 7, "[/x]")),
    ]  # fmt: skip
    async with chatting(steps) as chat:
        await chat.say("go")
        await chat.ended(1)
        await chat.wait_for(lambda: "[@click=app.quit]y[/]" in chat.text)
        assert not {"\x1b", "\u202e", "\u2067"} & set(chat.text)


async def test_q_asks_first_while_a_turn_runs(chatting: Chats) -> None:
    async with chatting([Hold(threading.Event())]) as chat:
        await chat.say("go")
        await chat.wait_for(lambda: chat.screen.chat_state.is_busy)
        await chat.press("tab")
        chat.screen.transcript.focus()
        await chat.press("q")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ConfirmScreen))
        await chat.press("enter")
        await chat.wait_for(lambda: chat.app.screen is chat.screen)
        assert not chat.play.chat.closed
        await chat.press("q")
        await chat.wait_for(lambda: isinstance(chat.app.screen, ConfirmScreen))
        await chat.press("y")
    assert chat.play.chat.closed
    assert chat.app.return_value == 0


async def test_the_end_is_told_once_the_screen_is_gone(chatting: Chats) -> None:
    async with chatting([Do(CREATE), Do(REPLACE)]) as chat:
        await chat.say("go")
        await chat.ended(1)
        session = chat.screen.chat_session.id if chat.screen.chat_session else ""
        await chat.press("escape", "q")
    assert chat.app.last_words == [
        "This session: 2 notes changed.",
        "  prefs.md  changed  +1 -1",
        "  tea.md  created  +3",
        f"Resume with: memtui chat --resume {session}",
    ]
    assert chat.play.chat.closed


async def test_where_nothing_was_said_nothing_is_told(chatting: Chats, tmp_path: Path) -> None:
    async with chatting() as chat:
        await chat.press("escape", "q")
    assert chat.app.last_words == []
    assert not list((tmp_path / "state").glob("chats/*.jsonl"))


async def test_ctrl_c_twice_quits_from_the_box_and_nothing_is_lost(chatting: Chats, tmp_path: Path) -> None:
    async with chatting() as chat:
        await chat.type("unsent")
        await chat.press("ctrl+c")
        await chat.message_says("Press Ctrl+C again to quit.")
        await chat.press("ctrl+c")
    assert chat.app.return_value == 130
    assert [path.read_text() for path in (tmp_path / "state" / "chats").glob("draft-*")] == ["unsent"]


async def test_read_only_chats_but_writes_nothing_and_says_why(chatting: Chats, tmp_path: Path) -> None:
    async with chatting([Do(CREATE), Say("I cannot.")], read_only=True) as chat:
        assert "[read-only]" in chat.text.splitlines()[0]
        await chat.press("shift+tab")
        await chat.message_says("Read-only.")
        await chat.say("write")
        await chat.ended(1)
        assert chat.memory("tea.md") is None
        assert "READ-ONLY: nothing under" in chat.text
    assert not list((tmp_path / "state").glob("chats/*"))


async def test_f1_lists_the_keys_of_the_box_and_all_commands(chatting: Chats) -> None:
    async with chatting() as chat:
        await chat.press("f1")
        await chat.wait_for(lambda: isinstance(chat.app.screen, HelpScreen))
        rows = chat.app.screen.query_one(OptionList)
        keys = "\n".join(str(rows.get_option_at_index(index).prompt) for index in range(rows.option_count))
        for words in ("Send the message", "/undo", "/export", "Review this session's changes", "Shift+Tab"):
            assert words in keys, words


async def test_an_empty_memory_leaves_the_conversation_in_sight(chatting: Chats) -> None:
    async with chatting([Do(CREATE)], files={}) as chat:
        await chat.wait_for(lambda: "This folder has no notes yet." in chat.text)
        assert "1 Chat" in chat.text
        await chat.say("go")
        await chat.ended(1)
        await chat.wait_for(lambda: "tea.md" in list(chat.screen.files.outline))
        await chat.wait_for(lambda: "no notes yet" not in chat.text)


async def test_the_header_drops_words_by_width_and_never_the_policy(chatting: Chats) -> None:
    async with chatting([Do(VIEW)], size=(200, 50)) as chat:
        await chat.say("go")
        await chat.ended(1)
        for words in ("claude-newest-1", "ctx 12%", "9.1k in / 540 out", "$0.02", "read 350 chars", "[allow]"):
            assert words in chat.text.splitlines()[0], words
        await chat.pilot.resize_terminal(60, 24)
        await chat.wait_for(lambda: "read" not in chat.text.splitlines()[0])
        assert "[allow]" in chat.text.splitlines()[0]
        assert len(chat.text.splitlines()[0]) <= 60


async def test_a_conversation_that_cannot_begin_says_why_and_keeps_what_was_typed(chatting: Chats) -> None:
    def make(*_: object) -> object:
        raise RuntimeError("no luck")

    async with chatting(make=make, ready=False) as chat:
        await chat.say("hello")
        await chat.wait_for(lambda: chat.screen.no_chat_reason)
        await chat.wait_for(lambda: chat.written == "hello")
        assert "because of a bug" in chat.text
        await chat.press("enter")
        await chat.wait_for(lambda: chat.written == "hello")
        await chat.press("escape", "2")
        assert "prefs.md" in chat.text


async def test_a_wait_that_is_too_long_to_tell_still_says_how_to_stop_it(chatting: Chats) -> None:
    go_on = threading.Event()
    whole = "Too many requests to the server (they say so at length). Trying again in 7 s (1 of 4); Esc stops."
    async with chatting([Tell(RetryScheduled(whole, 7)), Hold(go_on)], size=(80, 24)) as chat:
        await chat.say("go")
        await chat.message_says("Too many requests to the server (they say so at length).")
        await chat.wait_for(lambda: "at length).  Esc stops." in chat.text)
        go_on.set()
        await chat.ended(1)


async def test_the_list_of_commands_says_that_there_are_more(chatting: Chats) -> None:
    async with chatting(size=(80, 24)) as chat:
        await chat.type("/")
        await chat.wait_for(lambda: "1 of 17, Up/Down show more" in chat.text)
        await chat.press("up")
        await chat.wait_for(lambda: "> /quit" in chat.text and "17 of 17" in chat.text)
        await chat.type("mo")
        await chat.wait_for(lambda: "> /model" in chat.text and "show more" not in chat.text)


def test_the_model_that_answers_is_marked_among_the_others() -> None:
    newest, older = Model("claude-newest-1", "Claude Newest"), Model("claude-older-1")
    assert format_model_choice(newest, newest) == "Claude Newest  claude-newest-1  current"
    assert format_model_choice(older, newest) == "claude-older-1"
    assert format_model_choice(older, None) == "claude-older-1"


def test_a_sentence_of_the_message_line_is_not_cut_in_its_middle() -> None:
    words = "It broke. What was said is kept. Send a message to go on."
    assert shorten_sentences(words, 80) == words
    assert shorten_sentences(words, 40) == "It broke. What was said is kept."
    assert shorten_sentences(words, 20) == "It broke."
    assert shorten_sentences(words, 4) == "It broke."


def test_what_was_remembered_is_told_in_one_line() -> None:
    each = MemoryChange("b.md", "renamed", "a.md", 1, 0)
    assert describe_memory_change(each) == "a.md > b.md  renamed  +1"
    assert describe_memory_change(replace(each, edited=True)).endswith("edited by you first")
