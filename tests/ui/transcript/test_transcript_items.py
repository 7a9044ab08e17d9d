"""What a conversation consists of, from the events that tell it."""

import pytest

from memtui.agents.chat.events import (
    ApprovalNeeded,
    ApprovalResolved,
    Attachment,
    CallDelta,
    CallEnded,
    CallStarted,
    ChatEvent,
    ChatFault,
    ContextCleared,
    ConversationRewound,
    FaultKind,
    Model,
    ModelsListed,
    Notice,
    Prompt,
    QueueChanged,
    Ready,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
    TurnUndone,
    Usage,
)
from memtui.core.approvals import Proposal
from memtui.core.events import Agent, Event
from memtui.ui.widgets.transcript.items import (
    CallItem,
    CallStage,
    MessageItem,
    NoticeItem,
    NoticeTone,
    ThoughtItem,
    TranscriptItem,
    TranscriptModel,
    TurnEndItem,
    format_short_count,
)

CLAUDE = Agent("Claude")
VIEW = {"command": "view", "path": "/memories/a.md"}


def ended(turn: int, end: TurnOutcome = TurnOutcome.DONE) -> TurnEnded:
    return TurnEnded(turn, end, 1.0, 0, 0, (), Usage())


def told(*events: ChatEvent) -> TranscriptModel:
    conversation = TranscriptModel()
    for second, event in enumerate(events):
        conversation.apply_event(event, second)
    return conversation


def shown(conversation: TranscriptModel) -> list[str]:
    """Each item in a word or two, with its place checked."""
    assert [item.index for item in conversation.items] == list(range(len(conversation.items)))
    return [_word(item) for item in conversation.items]


def _word(item: TranscriptItem) -> str:
    match item:
        case ThoughtItem():
            return f"thought {item.text}"
        case MessageItem():
            return f"{item.speaker} {item.text}"
        case CallItem():
            return f"{item.call_id} {item.stage.value}"
        case NoticeItem():
            return f"{item.tone.value} {item.sentence}"
        case TurnEndItem():
            return f"end {item.end.value}"
    raise AssertionError(item)


def test_a_turn_is_told_in_the_order_in_which_it_happened() -> None:
    conversation = told(
        Ready(Model("m"), "host"),
        ModelsListed(()),
        TurnStarted(1, Prompt("hello", (Attachment("a.txt", "text/plain", b"12345"),))),
        QueueChanged(()),
        ThinkingDelta(1, "let me "),
        ThinkingDelta(1, "see"),
        TextDelta(1, 0, "I "),
        TextDelta(1, 0, "look."),
        CallDelta(1, "a", "memory", {"command": "view"}),
        CallStarted(1, "a", "memory", VIEW),
        CallEnded(1, "a", "memory", VIEW, "text", False),
        TextDelta(1, 1, "Done."),
        ended(1),
    )
    assert shown(conversation) == [
        "you hello", "thought let me see", "claude I look.", "a ended", "claude Done.", "end done",
    ]  # fmt: skip
    first, thought = conversation.items[:2]
    assert isinstance(first, MessageItem)
    assert first.attachments == (("a.txt", 5),)
    assert isinstance(thought, ThoughtItem)
    assert (thought.began, thought.ended) == (4, 6)


def test_a_text_block_that_goes_on_after_a_remark_stays_one_message() -> None:
    conversation = told(
        TurnStarted(1, Prompt("x")), TextDelta(1, 0, "half "), Notice("by the way"), TextDelta(1, 0, "done")
    )
    assert shown(conversation) == ["you x", "claude half done", "info by the way"]


def test_an_empty_beginning_of_a_text_makes_no_message() -> None:
    conversation = told(
        TurnStarted(1, Prompt("x")), TextDelta(1, 0, ""), TextDelta(1, 0, "\n\n"), TextDelta(1, 0, "\nyes")
    )
    assert shown(conversation) == ["you x", "claude yes"]


def test_waiting_is_replaced_in_place_and_goes_when_something_comes() -> None:
    conversation = told(TurnStarted(1, Prompt("x")), RetryScheduled("busy", 3), RetryScheduled("still busy", 6))
    assert shown(conversation) == ["you x", "waiting still busy"]
    assert conversation.is_live
    (waiting,) = conversation.get_ticking()
    assert isinstance(waiting, NoticeItem)
    assert waiting.until == 8
    conversation.apply_event(TextDelta(1, 0, "here"), 9)
    assert shown(conversation) == ["you x", "claude here"]
    assert not conversation.is_live


def test_waiting_that_something_was_told_after_goes_all_the_same() -> None:
    conversation = told(TurnStarted(1, Prompt("x")), RetryScheduled("busy", 3), Notice("note"), TextDelta(1, 0, "here"))
    assert shown(conversation) == ["you x", "info note", "claude here"]


def test_a_question_is_asked_and_answered_on_its_card() -> None:
    fields = {"command": "delete", "path": "/memories/a.md"}
    proposal = Proposal(CLAUDE, "delete", "/memories/a.md", None, "a", (), {}, "")
    conversation = told(
        TurnStarted(1, Prompt("x")), CallStarted(1, "a", "memory", fields), ApprovalNeeded(1, "a", 7, proposal)
    )
    assert shown(conversation)[1:] == ["a asks you"]
    conversation.apply_event(ApprovalResolved(7))
    assert shown(conversation)[1:] == ["a running"]
    conversation.apply_event(ApprovalResolved(8))  # of nobody
    assert shown(conversation)[1:] == ["a running"]


@pytest.mark.parametrize("end", [TurnOutcome.STOPPED, TurnOutcome.CUT, TurnOutcome.FAULT, TurnOutcome.TOO_MANY_CALLS])
def test_a_call_that_was_never_answered_is_not_run_when_the_turn_ends(end: TurnOutcome) -> None:
    conversation = told(
        TurnStarted(1, Prompt("x")),
        CallEnded(1, "a", "memory", VIEW, "text", False),
        CallDelta(1, "b", "memory", {"command": "vi"}),
        ended(1, end),
    )
    assert shown(conversation) == ["you x", "a ended", "b not run", f"end {end.value}"]


def test_a_call_may_be_ended_without_having_begun() -> None:
    conversation = told(CallEnded(1, "a", "memory", {}, "text", True))
    assert shown(conversation) == ["a ended"]
    (call,) = conversation.items
    assert isinstance(call, CallItem)
    assert call.stage is CallStage.ENDED
    assert call.is_error


def test_a_call_id_that_comes_again_in_another_turn_is_another_card() -> None:
    conversation = told(
        CallEnded(1, "a", "memory", VIEW, "one", False), ended(1), CallEnded(2, "a", "memory", VIEW, "two", False)
    )
    assert shown(conversation) == ["a ended", "end done", "a ended"]


def test_rewinding_takes_a_turn_and_all_after_it_away() -> None:
    conversation = told(
        TurnStarted(1, Prompt("one")),
        ended(1),
        TurnStarted(2, Prompt("two")),
        TextDelta(2, 0, "answer"),
        Notice("in the second turn"),
        ended(2),
        TurnStarted(3, Prompt("three")),
        ConversationRewound(2, Prompt("two")),
    )
    assert shown(conversation) == ["you one", "end done"]
    conversation.apply_event(TurnStarted(4, Prompt("again")))
    conversation.apply_event(TextDelta(4, 0, "new"))
    assert shown(conversation) == ["you one", "end done", "you again", "claude new"]
    conversation.apply_event(ConversationRewound(1, None))
    assert conversation.items == []


def test_only_the_last_turn_can_be_taken_back() -> None:
    conversation = told(TurnStarted(1, Prompt("one")), ended(1))
    first = conversation.items[-1]
    assert isinstance(first, TurnEndItem)
    assert first.is_last
    conversation.apply_event(TurnStarted(2, Prompt("two")))
    assert not first.is_last


def test_a_turn_that_was_undone_says_so() -> None:
    undo = Event(at_us=0, actor=CLAUDE, command="undo", path="a.md")
    conversation = told(TurnStarted(1, Prompt("one")), ended(1), TurnUndone(1, undo, "Took back 1 change."))
    assert shown(conversation) == ["you one", "end done", "undone Took back 1 change."]
    end = conversation.items[1]
    assert isinstance(end, TurnEndItem)
    assert end.is_undone


def test_what_changed_is_told_once_and_is_no_more_than_that() -> None:
    conversation = told(TurnStarted(1, Prompt("one")), CallStarted(1, "a", "memory", VIEW), TextDelta(1, 0, "t"))
    assert conversation.take_changes() == (0, [])
    assert conversation.take_changes() == (3, [])
    conversation.apply_event(CallEnded(1, "a", "memory", VIEW, "x", False))
    assert conversation.take_changes() == (3, [conversation.items[1]])
    conversation.apply_event(ended(1))
    assert conversation.take_changes() == (3, [])


def test_quiet_remarks_and_faults_keep_their_tone() -> None:
    conversation = told(ContextCleared(12, 18_240), ContextCleared(1, 820), ChatFault(FaultKind.NETWORK, "No network."))
    assert shown(conversation) == [
        "rule 12 old tool results cleared, 18.2k tokens",
        "rule 1 old tool result cleared, 820 tokens",
        "fault No network.",
    ]
    assert [item.tone for item in conversation.items if isinstance(item, NoticeItem)] == [
        NoticeTone.RULE,
        NoticeTone.RULE,
        NoticeTone.FAULT,
    ]


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (999_949, "999.9k"), (999_950, "1.0M"), (2_500_000, "2.5M")],
)  # fmt: skip
def test_tokens_in_few_characters(count: int, words: str) -> None:
    assert format_short_count(count) == words


def test_cards_to_come_are_as_open_as_the_others() -> None:
    conversation = told(CallEnded(1, "a", "memory", VIEW, "x", False))
    conversation.set_cards_open(True)
    conversation.apply_event(CallEnded(1, "b", "memory", VIEW, "x", False))
    assert [item.is_open for item in conversation.items] == [True, True]
