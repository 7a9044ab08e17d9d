"""The JSON of a conversation's events: every kind, with names that stay."""

import json
from typing import Any, get_args

import pytest

from memtui.agents.chat import events
from memtui.agents.chat.serialization import event_to_json
from memtui.core.approvals import ApprovalPolicy, Proposal
from memtui.core.events import Agent, Change, EntryKind, Event, Version

MODEL = events.Model("a-model", "A Model", context=100, efforts=("low", "high"))
PROMPT = events.Prompt("hi \udc80", (events.Attachment("a.png", "image/png", b"\x01\x02"),))
CHANGE = Change("a.md", None, Version(EntryKind.FILE, "f" * 64, 2))
EVENT = Event(
    seq=7, at_us=0, actor=Agent("Claude"), command="create", path="/memories/a.md", changes=(CHANGE,), added=1
)
PROPOSAL = Proposal(Agent("Claude"), "create", "/memories/a.md", None, "c", (CHANGE,), {"f": b"x"}, "done")
CALL = (1, "c", "memory", {"command": "view", "deep": [{"x": 1.5}, None, True], "odd": {1: object}})
USAGE = events.Usage(context=5, cost=0.5)

TOLD: tuple[tuple[events.ChatEvent, str, list[str]], ...] = (
    (events.Ready(MODEL, "api.example"), "ready", ["model", "host", "provider"]),
    (events.ModelsListed((MODEL,)), "models_known", ["models"]),
    (events.OffersChanged(), "offers_changed", ["modes", "mode", "commands"]),
    (events.ModelChanged(MODEL), "model_changed", ["model"]),
    (events.TurnStarted(1, PROMPT), "turn_began", ["turn", "text", "attachments"]),
    (events.QueueChanged((PROMPT,)), "queue_changed", ["prompts"]),
    (events.ThinkingDelta(1, "hm"), "thinking", ["turn", "text"]),
    (events.TextDelta(1, 0, "yes"), "text", ["turn", "block", "text"]),
    (events.CallDelta(*CALL), "call_streaming", ["turn", "call_id", "name", "input"]),
    (events.CallStarted(*CALL), "call_began", ["turn", "call_id", "name", "input"]),
    (events.ApprovalNeeded(1, "c", 2, PROPOSAL), "asked", ["turn", "call_id", "number", "proposal"]),
    (events.ApprovalResolved(2), "answered", ["number"]),
    (
        events.CallEnded(*CALL, "no", is_error=True, event=EVENT),
        "call_ended",
        ["turn", "call_id", "name", "input", "text", "is_error", "event", "edit"],
    ),
    (events.ContextCleared(3, 400), "context_cleared", ["calls", "tokens"]),
    (events.ContextCompacted("so far"), "compacted", ["summary"]),
    (events.RetryScheduled("Again in 2 s.", 2), "waiting", ["sentence", "seconds"]),
    (events.ChatFault(events.FaultKind.NO_KEY, "No key.", PROMPT), "fault", ["kind", "sentence", "prompt"]),
    (events.UsageChanged(USAGE, USAGE), "usage", ["turn", "session"]),
    (
        events.TurnEnded(1, events.TurnOutcome.DONE, 1.23456, 2, 1, (events.MemoryChange("a.md", "created"),), USAGE),
        "turn_ended",
        ["turn", "end", "seconds", "calls", "refused", "remembered", "usage"],
    ),
    (events.TurnUndone(1, EVENT, "Undone."), "turn_undone", ["turn", "event", "sentence"]),
    (events.ConversationRewound(1, PROMPT, "retry"), "rewound", ["turn", "prompt", "why"]),
    (events.PolicyChanged(ApprovalPolicy.ASK, frozenset("ba")), "policy_changed", ["policy", "always"]),
    (events.Notice("Well."), "told", ["sentence"]),
)


@pytest.mark.parametrize(("event", "kind", "keys"), TOLD, ids=[kind for _, kind, _ in TOLD])
def test_each_event_has_a_name_and_keys_that_stay(event: events.ChatEvent, kind: str, keys: list[str]) -> None:
    found = event_to_json(event)
    assert (found["schema"], found["type"]) == (1, kind)
    assert list(found) == ["schema", "type", *keys]
    assert json.loads(json.dumps(found))["type"] == kind


def test_every_event_there_is_is_covered() -> None:
    assert {type(event) for event, _, _ in TOLD} == set(get_args(events.ChatEvent))
    assert len({kind for _, kind, _ in TOLD}) == len(TOLD)


def told(kind: str) -> dict[str, Any]:
    return next(event_to_json(event) for event, each, _ in TOLD if each == kind)


def test_files_and_texts_of_versions_are_named_and_not_sent() -> None:
    assert told("turn_began")["attachments"] == [{"name": "a.png", "media_type": "image/png", "size": 2}]
    assert told("asked")["proposal"]["changes"] == [
        {"path": "/memories/a.md", "sha256_before": None, "sha256_after": "f" * 64}
    ]
    assert told("call_ended")["event"]["seq"] == 7
    assert told("turn_ended")["seconds"] == 1.235
