"""The rows that each thing in a conversation becomes, at several widths, without a screen."""

from collections.abc import Mapping

import pytest
from rich.cells import cell_len

from memtui.agents.chat import events
from memtui.agents.chat.history import BROKEN_OFF, CUT_OFF, STOPPED
from memtui.agents.chat.sessions.records import NOT_RUN
from memtui.core.events import Agent, Event, Person
from memtui.ui.widgets.markdown.rows import MarkdownRow
from memtui.ui.widgets.transcript.items import CallItem, MessageItem, TranscriptModel
from memtui.ui.widgets.transcript.pieces import TranscriptFrame, TranscriptStack
from memtui.ui.widgets.transcript.rows import LINES, find_block_at, find_markdown_block, render_item

CLAUDE = Agent("Claude")


def event_of(command: str, path: str = "/memories/a.md", **more: object) -> Event:
    return Event(seq=1, at_us=0, actor=CLAUDE, command=command, path=path, **more)  # type: ignore[arg-type]


def ended(
    fields: Mapping[str, object], text: str = "done", event: Event | None = None, **more: object
) -> events.CallEnded:
    return events.CallEnded(1, "a", "memory", fields, text, more.pop("is_error", False), event, **more)  # type: ignore[arg-type]


def rows(*steps: events.ChatEvent, columns: int = 74, opened: bool = False, now: float = 0) -> list[MarkdownRow]:
    conversation = TranscriptModel()
    for event in steps:
        conversation.apply_event(event, 0)
    if opened:
        for item in conversation.items:
            item.is_open = True
    stack = TranscriptStack(
        conversation.items, lambda item, above, frame: render_item(item, above, frame, now), TranscriptFrame(columns)
    )
    stack.draw_from(0, 10_000)
    found = [stack.get_row(y) for y in range(stack.height)]
    drawn = [row for row in found if row is not None]
    assert len(drawn) == stack.height
    for each in drawn:
        assert cell_len(each.row.text.rstrip()) <= stack.frame.width, each.row.text
    return [each.row for each in drawn]


def lines(*steps: events.ChatEvent, columns: int = 74, opened: bool = False, now: float = 0) -> list[str]:
    return [row.text.rstrip() for row in rows(*steps, columns=columns, opened=opened, now=now)]


def role_of(found: list[MarkdownRow], text: str) -> str:
    return next(span.style for row in found for span in row.spans if text in span.text)


REPLACE = {
    "command": "str_replace",
    "path": "/memories/notes/prefs.md",
    "old_str": "- a dog\n- x\n",
    "new_str": "- a cat\n- x\n",
}
CREATE = {"command": "create", "path": "/memories/people/me.md", "file_text": "# Me\n\n- Lisbon\n"}


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (110, "str_replace  notes/prefs.md" + " " * 51 + "ok       +1 -1"),
        (74, "str_replace  notes/prefs.md               ok       +1 -1"),
        (46, "str_replace notes/prefs.md     +1 -1"),
        (30, "str_replace no...md +1 -1"),
    ],
)
def test_a_card_is_one_row_that_fits_any_width(columns: int, row: str) -> None:
    event = event_of("str_replace", added=1, removed=1)
    assert lines(ended(REPLACE, event=event), columns=columns) == [row]


@pytest.mark.parametrize(
    ("call", "word", "role"),
    [
        (events.CallDelta(1, "a", "memory", {"command": "view"}), "coming", "live"),
        (events.CallStarted(1, "a", "memory", REPLACE), "running", "live"),
        (ended(REPLACE, event=event_of("str_replace", added=1, removed=1)), "ok", "ok"),
        (ended(REPLACE, event=event_of("str_replace", no_change=True)), "same", "ok"),
        (ended(REPLACE, "Error: the text did not appear", is_error=True, event=event_of("str_replace", is_error=True,
         answer="Error: it did not appear verbatim")), "REFUSED", "bad"),
        (ended(REPLACE, "Error: no", is_error=True), "REFUSED", "bad"),
        (ended(REPLACE, "Error: the user declined", is_error=True, event=event_of("str_replace", is_error=True,
         note="declined")), "declined", "not-done"),
        (ended(REPLACE, "Error: stopped", is_error=True, event=event_of("str_replace", is_error=True, note="stopped")),
         "not run", "not-done"),
        (ended(REPLACE, "Error: nobody", is_error=True, event=event_of("str_replace", is_error=True,
         note="not approved")), "not run", "not-done"),
        (ended(REPLACE, "The user edited", event=event_of("str_replace", no_change=True),
         edit=Event(at_us=0, actor=Person(), command="write", path="a.md", added=2, removed=1)),
         "edited by you", "edited"),
    ],
)  # fmt: skip
def test_what_came_of_a_call_is_a_word_and_a_colour(call: events.ChatEvent, word: str, role: str) -> None:
    assert role_of(rows(call), word) == role


def test_a_refusal_says_why_below_its_card() -> None:
    outside = {"command": "create", "path": "/memories/../x.md", "file_text": "x"}
    text = "Error: Path /memories/../x.md would escape /memories directory"
    found = lines(ended(outside, text, is_error=True, event=event_of("create", is_error=True, answer=text)))
    assert found[1:] == ["  outside /memories"]
    text = "Error: could not create /memories/a.md: read-only"
    found = lines(ended(CREATE, text, is_error=True, event=event_of("create", is_error=True, answer=text)))
    assert found[1:] == ["  the session is read-only"]


@pytest.mark.parametrize("text", [STOPPED, CUT_OFF, BROKEN_OFF])
def test_a_call_that_was_not_carried_out_says_why_and_is_no_refusal(text: str) -> None:
    found = rows(ended(CREATE, text, is_error=True))
    assert role_of(found, "not run") == "not-done"
    assert found[1].text.startswith("  the ")
    assert not any("Nothing was changed" in row.text for row in found)


def test_a_call_of_which_nobody_knows_the_end_is_neither_refused_nor_done() -> None:
    found = rows(ended(CREATE, NOT_RUN, is_error=True))
    assert role_of(found, "UNSURE") == "bad"
    assert found[1].text == "  memtui ended before the answer was recorded; check the file"


def test_the_persons_reason_is_repeated_below_what_she_declined() -> None:
    text = "Error: the user declined to delete /memories/a.md. Nothing was changed. Their reason: I need it"
    event = event_of("delete", is_error=True, note="declined", answer=text)
    found = lines(ended({"command": "delete", "path": "/memories/a.md"}, text, is_error=True, event=event))
    assert found[1:] == ["  you said: I need it"]


def test_an_edit_counts_what_the_person_wrote() -> None:
    edit = Event(at_us=0, actor=Person(), command="write", path="a.md", added=2, removed=7)
    assert "edited by you +2 -7" in lines(ended(CREATE, event=event_of("create", no_change=True), edit=edit))[0]


def test_a_resumed_call_without_its_event_is_counted_by_its_input() -> None:
    assert lines(ended(CREATE))[0].endswith("ok       +3")
    assert lines(ended(REPLACE))[0].endswith("ok       +1 -1")
    view = {"command": "view", "path": "/memories/a.md", "view_range": [2, -1]}
    (found,) = lines(ended(view, "Here's the content\n     2\tx\n     3\ty\n"))
    assert found.split() == ["view", "a.md:2-", "ok", "2", "lines"]


def test_an_unfolded_card_shows_the_difference_and_the_answer() -> None:
    found = rows(ended(REPLACE, "edited", event=event_of("str_replace", added=1, removed=1)), opened=True)
    assert [row.text for row in found[1:]] == ["  - - a dog", "  + - a cat", "    - x", "  sent to claude: edited"]
    assert (role_of(found, "dog"), role_of(found, "cat")) == ("removed-word", "added-word")


def test_what_was_refused_is_not_shown_as_if_it_were_written() -> None:
    found = rows(ended(CREATE, "Error: no", is_error=True), opened=True)
    assert role_of(found, "Lisbon") == "context"


def test_a_long_change_and_a_long_answer_are_cut_and_say_so() -> None:
    fields = {"command": "create", "path": "/memories/a.md", "file_text": "line\n" * 5_000}
    found = lines(ended(fields, "answer\n" * 1_000), opened=True)
    assert found.count("  + line") == LINES
    assert "  .. 4,800 more lines" in found
    assert "  .. 800 more lines" in found


def test_a_line_of_a_megabyte_is_cut_and_says_so() -> None:
    long = "word " * 200_000
    fields = {**REPLACE, "old_str": f"{long}a end", "new_str": f"{long}b end"}
    found = " ".join(lines(ended(fields, long), opened=True))
    assert found.count("998,005 more characters") == 2
    assert found.count("998,000 more characters") == 1


def test_the_end_of_what_is_being_written_is_in_view() -> None:
    text = "".join(f"line {number}\n" for number in range(1_000)) + "and this is not yet fin"
    found = lines(events.CallDelta(1, "a", "memory", {**CREATE, "file_text": text}))
    assert len(found) == 9
    assert found[1] == "  + line 993"
    assert found[-1] == "  + and this is not yet fin"
    assert found[0].endswith("coming   +1k")
    found = lines(events.CallDelta(1, "a", "memory", {**REPLACE, "new_str": "- a c"}))
    assert found[1:] == ["  - - a dog", "  - - x", "  + - a c"]


@pytest.mark.parametrize(
    "fields",
    [
        {}, {"command": None}, {"command": 7, "path": []}, {"command": "create"},
        {"command": "create", "file_text": {}},
        {"command": "str_replace", "old_str": 3}, {"command": "rename"}, {"command": "view", "view_range": "1"},
        {"command": "insert", "insert_line": "x"}, {"command": "x" * 10_000, "path": "y" * 100_000},
        {"command": "view", "path": "/memories/a", "view_range": [True, None]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("columns", [20, 46, 100])
def test_malformed_input_is_shown_without_harm(fields: Mapping[str, object], columns: int) -> None:
    lines(events.CallDelta(1, "a", "memory", fields), columns=columns)
    assert lines(ended(fields, "Error: no", is_error=True), columns=columns, opened=True)


def test_a_tool_that_is_not_ours_is_shown_by_its_name() -> None:
    found = lines(events.CallEnded(1, "a", "web_search", {"query": "x"}, "Error: there is no tool web_search", True))
    assert found[0].split() == ["web_search", "REFUSED"]
    assert found[1] == "  there is no tool web_search"


def test_a_rename_names_both_places_where_there_is_room() -> None:
    fields = {"command": "rename", "old_path": "/memories/todo.md", "new_path": "/memories/archive/todo-2026.md"}
    event = event_of("rename", new_path="/memories/archive/todo-2026.md")
    assert lines(ended(fields, event=event))[0].split() == ["rename", "todo.md", "->", "archive/todo-2026.md", "ok"]
    assert lines(ended(fields, event=event), columns=34)[0].endswith(" ok")


def test_cards_stand_close_together_unless_one_is_open() -> None:
    calls = [events.CallEnded(1, name, "memory", CREATE, "done", False) for name in "ab"]
    assert len(lines(*calls)) == 2
    found = lines(*calls, opened=True)
    assert found.count("") == 1
    assert lines(events.TextDelta(1, 0, "text"), *calls)[1] == ""


def test_thinking_is_one_row_and_its_newest_line_while_it_goes_on() -> None:
    thought = events.ThinkingDelta(1, "first line\nthe second line of what is thought")
    assert lines(thought, now=4) == ["thinking for 4 s, 9 words", "│ the second line of what is thought"]
    found = lines(events.ThinkingDelta(1, "word " * 1_000 + "and the end of a long line"))
    assert len(found) == 3
    assert found[-1].endswith("the end of a long line")
    assert lines(thought, events.TextDelta(1, 0, "so"))[:1] == ["thought, 9 words"]
    assert lines(thought, now=75, opened=True) == [
        "thinking for 1 min 15 s, 9 words", "│ first line", "│ the second line of what is thought",
    ]  # fmt: skip


def test_what_the_person_says_is_no_markdown() -> None:
    found = lines(events.TurnStarted(1, events.Prompt("# not a heading\n\n**not bold**  <b>\r\nend")))
    assert found[:3] == ["# not a heading", "", "**not bold**  <b>"]


def test_a_long_paste_is_folded_and_says_how_much_more_there_is() -> None:
    began = events.TurnStarted(1, events.Prompt("".join(f"log {number}\n" for number in range(100))))
    found = lines(began)
    assert found[:2] == ["log 0", "log 1"]
    assert found[-2:] == ["log 7", ".. 92 more lines"]
    assert len(lines(began, opened=True)) == 100
    one_line = lines(events.TurnStarted(1, events.Prompt("word " * 1_000)))
    assert one_line[-1].endswith("more characters")


def test_what_a_turn_changed_is_one_line_a_file() -> None:
    remembered = (
        events.MemoryChange("people/me.md", "created", added=4),
        events.MemoryChange("prefs.md", "changed", added=1, removed=1, edited=True),
        events.MemoryChange("old.md", "deleted", removed=12),
        events.MemoryChange("b.md", "renamed", old_path="a.md"),
    )
    found = lines(events.TurnEnded(1, events.TurnOutcome.DONE, 1, 3, 0, remembered, events.Usage()))
    assert found == [
        "4 files changed   ^R review   /undo this turn",
        "+ people/me.md  +4",
        "~ prefs.md      +1 -1 edited by you",
        "- old.md        -12",
        "> a.md -> b.md",
    ]
    assert (
        lines(
            events.TurnEnded(1, events.TurnOutcome.DONE, 1, 3, 0, remembered, events.Usage()),
            events.TurnStarted(2, events.Prompt("x")),
        )[0]
        == "4 files changed"
    )


def test_a_turn_that_changed_nothing_says_nothing() -> None:
    assert lines(
        events.TextDelta(1, 0, "hello"), events.TurnEnded(1, events.TurnOutcome.DONE, 1, 0, 0, (), events.Usage())
    ) == ["hello"]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (events.TurnOutcome.STOPPED, "stopped by you"),
        (events.TurnOutcome.CUT, "cut off"),
        (events.TurnOutcome.REFUSED, "declined"),
        (events.TurnOutcome.TOO_MANY_CALLS, "stopped after 200 tool calls"),
    ],
)
def test_a_turn_that_did_not_end_well_says_how(end: events.TurnOutcome, words: str) -> None:
    assert words in lines(events.TurnEnded(1, end, 1, 200, 0, (), events.Usage()))[0]


def test_how_a_turn_ended_is_said_once() -> None:
    told = events.Notice("The answer was cut off at the maximum length.")
    found = lines(
        events.TurnStarted(1, events.Prompt("x")),
        told,
        events.TurnEnded(1, events.TurnOutcome.CUT, 1, 0, 0, (), events.Usage()),
    )
    assert "".join(found).count("cut off") == 1
    found = lines(
        told,
        events.TurnStarted(1, events.Prompt("x")),
        events.TurnEnded(1, events.TurnOutcome.CUT, 1, 0, 0, (), events.Usage()),
    )
    assert "".join(found).count("cut off") == 2
    found = lines(
        events.TurnStarted(1, events.Prompt("x")),
        told,
        events.TurnEnded(1, events.TurnOutcome.STOPPED, 1, 0, 0, (), events.Usage()),
    )
    assert "stopped by you" in "".join(found)


def test_two_hundred_files_are_not_two_hundred_rows() -> None:
    remembered = tuple(events.MemoryChange(f"{number}.md", "created", added=1) for number in range(200))
    found = lines(events.TurnEnded(1, events.TurnOutcome.DONE, 1, 3, 0, remembered, events.Usage()))
    assert len(found) == 31
    assert found[-1] == ".. and 171 files more"


def test_faults_waiting_and_remarks_stand_out_by_a_sign() -> None:
    fault = rows(
        events.ChatFault(events.FaultKind.NETWORK, "Could not reach the host. Your message is kept; Enter tries again.")
    )
    assert fault[0].text.startswith("! Could not reach")
    assert role_of(fault, "reach") == "fault"
    assert lines(events.RetryScheduled("Busy.", 8), now=3) == ["! Busy. in 5 s"]
    soon = events.RetryScheduled("Busy. Trying again in a moment (1 of 4); Esc stops.", 0.6)
    assert lines(soon, now=0) == ["! Busy. Trying again in 1 s (1 of 4); Esc stops."]
    again = events.RetryScheduled("Busy. Trying again in 8 s (1 of 4); Esc stops.", 7.8)
    assert lines(again) == ["! Busy. Trying again in 8 s (1 of 4); Esc stops."]
    assert lines(again, now=3) == ["! Busy. Trying again in 5 s (1 of 4); Esc stops."]
    assert lines(again, now=9) == ["! Busy. Trying again now (1 of 4); Esc stops."]
    assert lines(events.Notice("Good to know.")) == ["Good to know."]


def test_a_summary_can_be_unfolded() -> None:
    assert len(lines(events.ContextCompacted("# Summary\n\nmuch"))) == 1
    assert lines(events.ContextCompacted("# Summary\n\nmuch"), opened=True)[-1] == "│ much"


def test_names_stand_above_where_there_is_little_room() -> None:
    assert lines(events.TurnStarted(1, events.Prompt("hello")), columns=43) == ["you", "hello"]
    assert lines(events.TurnStarted(1, events.Prompt("hello")), columns=44) == ["hello"]


SOURCE = "para one\nstill one\n\n- a\n- b\n\n```python\nx = 1\n\ny = 2\n```\n\nlast"


@pytest.mark.parametrize(
    ("line", "block"),
    [(0, "para one\nstill one"), (1, "para one\nstill one"), (2, "para one\nstill one"), (4, "- a\n- b"),
     (7, "x = 1\n\ny = 2\n"), (8, "x = 1\n\ny = 2\n"), (12, "last"), (99, "last")],
)  # fmt: skip
def test_the_block_at_a_line_is_what_is_copied(line: int, block: str) -> None:
    assert find_markdown_block(SOURCE, line) == block


def test_of_the_persons_words_and_of_a_card_all_is_copied() -> None:
    said = MessageItem(1, "you", (), "one\n\ntwo\n")
    assert find_block_at(said, 0) == "one\n\ntwo"
    conversation = TranscriptModel()
    conversation.apply_event(ended(CREATE))
    (call,) = conversation.items
    assert isinstance(call, CallItem)
    assert find_block_at(call, None) == CREATE["file_text"]
