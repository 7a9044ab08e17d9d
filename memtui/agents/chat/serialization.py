"""The events of a conversation as JSON for programs. Types and keys may be added; none is renamed or taken away."""

import dataclasses
from collections.abc import Mapping
from enum import Enum

from memtui.agents.chat import events
from memtui.core.approvals import Proposal
from memtui.core.events import Change, Event
from memtui.core.paths import MemoryPath

SCHEMA = 1
"""Stands in every object; additions do not raise it."""
_TYPES: Mapping[type, str] = {
    events.Ready: "ready",
    events.ModelsListed: "models_known",
    events.ModelChanged: "model_changed",
    events.TurnStarted: "turn_began",
    events.QueueChanged: "queue_changed",
    events.ThinkingDelta: "thinking",
    events.TextDelta: "text",
    events.CallDelta: "call_streaming",
    events.CallStarted: "call_began",
    events.ApprovalNeeded: "asked",
    events.ApprovalResolved: "answered",
    events.CallEnded: "call_ended",
    events.ContextCleared: "context_cleared",
    events.ContextCompacted: "compacted",
    events.RetryScheduled: "waiting",
    events.ChatFault: "fault",
    events.UsageChanged: "usage",
    events.TurnEnded: "turn_ended",
    events.TurnUndone: "turn_undone",
    events.ConversationRewound: "rewound",
    events.PolicyChanged: "policy_changed",
    events.OffersChanged: "offers_changed",
    events.Notice: "told",
}
_KEYS = {"fields": "input", "memory_changes": "remembered", "reason": "why"}
"""Fields whose keys differ from their names."""

Json = dict[str, object]


def event_to_json(event: events.ChatEvent) -> Json:
    """An event as an object with `schema`, `type` and its fields."""
    found: Json = {"schema": SCHEMA, "type": _TYPES[type(event)]}
    for each in dataclasses.fields(event):
        found[_KEYS.get(each.name, each.name)] = _serialize(getattr(event, each.name))
    if isinstance(event, events.TurnStarted):
        del found["prompt"]
        found |= _serialize_prompt(event.prompt)
    elif isinstance(event, events.TurnEnded):
        found["seconds"] = round(event.seconds, 3)
    return found


def _serialize(value: object) -> object:
    """A value as `json` writes it; a model's input may hold anything."""
    match value:
        case str() | int() | float() | None:
            return value
        case events.Prompt():
            return _serialize_prompt(value)
        case events.Model() | events.Usage() | events.MemoryChange():
            return dataclasses.asdict(value)
        case Proposal():
            return _serialize_proposal(value)
        case Event():
            return _serialize_event(value)
        case Enum():
            return value.value
        case frozenset():
            return sorted(value)
        case Mapping():
            return {str(name): _serialize(each) for name, each in value.items()}
        case list() | tuple():
            return [_serialize(each) for each in value]
        case _:
            return repr(value)


def _serialize_prompt(prompt: events.Prompt) -> Json:
    attachments = [
        {"name": each.name, "media_type": each.media_type, "size": len(each.data)} for each in prompt.attachments
    ]
    return {"text": prompt.text, "attachments": attachments}


def _serialize_proposal(proposal: Proposal) -> Json:
    changes = [_serialize_change(each) for each in proposal.changes]
    place = {"command": proposal.command, "path": proposal.path, "new_path": proposal.new_path}
    return {**place, "changes": changes, "answer": proposal.answer, "again": proposal.again or None}


def _serialize_event(event: Event) -> Json:
    """The journal's event, as far as a program needs it here; `memtui log --json` has the rest, by `seq`."""
    changes = [_serialize_change(each) for each in event.changes]
    names = ("command", "path", "new_path", "result", "added", "removed", "note")
    return {"seq": event.seq or None, **{name: _serialize(getattr(event, name)) for name in names}, "changes": changes}


def _serialize_change(change: Change) -> Json:
    return {
        "path": str(MemoryPath.from_relative(change.path)),
        "sha256_before": change.before.sha256 if change.before else None,
        "sha256_after": change.after.sha256 if change.after else None,
    }
