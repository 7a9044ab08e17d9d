"""What a conversation tells, as JSON for programs. Types and keys may be added; none is renamed or taken away."""

import dataclasses
from collections.abc import Mapping
from typing import assert_never

from memtui.agents.chat import events
from memtui.core.asking import Proposal
from memtui.core.events import Change, Event
from memtui.core.paths import MemoryPath

SCHEMA = 1
"""Stands in every object; additions do not raise it."""

Json = dict[str, object]


def event_as_json(event: events.ChatEvent) -> Json:
    """One thing that was told, as an object with `schema` and `type`."""
    return {"schema": SCHEMA, **_told(event)}


def _told(event: events.ChatEvent) -> Json:
    match event:
        case events.Ready():
            return {
                "type": "ready",
                "model": _model(event.model),
                "host": event.host,
                "provider": event.provider,
            }
        case events.ModelsKnown():
            return {"type": "models_known", "models": [_model(each) for each in event.models]}
        case events.ModelChanged():
            return {"type": "model_changed", "model": _model(event.model)}
        case events.TurnBegan():
            return {"type": "turn_began", "turn": event.turn, **_prompt(event.prompt)}
        case events.QueueChanged():
            return {"type": "queue_changed", "prompts": [_prompt(each) for each in event.prompts]}
        case events.ThinkingDelta():
            return {"type": "thinking", "turn": event.turn, "text": event.text}
        case events.TextDelta():
            return {"type": "text", "turn": event.turn, "block": event.block, "text": event.text}
        case events.CallStreaming():
            return {"type": "call_streaming", **_call(event)}
        case events.CallBegan():
            return {"type": "call_began", **_call(event)}
        case events.Asked():
            return {
                "type": "asked",
                "turn": event.turn,
                "call_id": event.call_id,
                "number": event.number,
                "proposal": _proposal(event.proposal),
            }
        case events.Answered():
            return {"type": "answered", "number": event.number}
        case events.CallEnded():
            return {
                "type": "call_ended",
                **_call(event),
                "text": event.text,
                "is_error": event.is_error,
                "event": _event(event.event),
                "edit": _event(event.edit),
            }
        case events.ContextCleared():
            return {"type": "context_cleared", "calls": event.calls, "tokens": event.tokens}
        case events.Compacted():
            return {"type": "compacted", "summary": event.summary}
        case events.Waiting():
            return {"type": "waiting", "sentence": event.sentence, "seconds": event.seconds}
        case events.Fault():
            return {
                "type": "fault",
                "kind": event.kind.value,
                "sentence": event.sentence,
                "prompt": None if event.prompt is None else _prompt(event.prompt),
            }
        case events.UsageChanged():
            return {"type": "usage", "turn": _usage(event.turn), "session": _usage(event.session)}
        case events.TurnEnded():
            return {
                "type": "turn_ended",
                "turn": event.turn,
                "end": event.end.value,
                "seconds": round(event.seconds, 3),
                "calls": event.calls,
                "refused": event.refused,
                "remembered": [_remembered(each) for each in event.remembered],
                "usage": _usage(event.usage),
            }
        case events.TurnUndone():
            return {
                "type": "turn_undone",
                "turn": event.turn,
                "event": _event(event.event),
                "sentence": event.sentence,
            }
        case events.Rewound():
            prompt = None if event.prompt is None else _prompt(event.prompt)
            return {"type": "rewound", "turn": event.turn, "prompt": prompt, "why": event.why}
        case events.PolicyChanged():
            return {"type": "policy_changed", "policy": event.policy.value, "always": sorted(event.always)}
        case events.Told():
            return {"type": "told", "sentence": event.sentence}
        case _:
            assert_never(event)


def _model(model: events.Model) -> Json:
    return dataclasses.asdict(model)


def _usage(usage: events.Usage) -> Json:
    return dataclasses.asdict(usage)


def _remembered(remembered: events.Remembered) -> Json:
    return dataclasses.asdict(remembered)


def _prompt(prompt: events.Prompt) -> Json:
    attachments = [
        {"name": each.name, "media_type": each.media_type, "size": len(each.data)} for each in prompt.attachments
    ]
    return {"text": prompt.text, "attachments": attachments}


def _call(event: events.CallStreaming | events.CallBegan | events.CallEnded) -> Json:
    return {"turn": event.turn, "call_id": event.call_id, "name": event.name, "input": _plain(event.fields)}


def _proposal(proposal: Proposal) -> Json:
    return {
        "command": proposal.command,
        "path": proposal.path,
        "new_path": proposal.new_path,
        "changes": [_change(each) for each in proposal.changes],
        "answer": proposal.answer,
        "again": proposal.again or None,
    }


def _event(event: Event | None) -> Json | None:
    """The journal's event, as far as a program needs it here; `memtui log --json` has the rest, by `seq`."""
    if event is None:
        return None
    return {
        "seq": event.seq or None,
        "command": event.command,
        "path": event.path,
        "new_path": event.new_path,
        "result": event.result.value,
        "added": event.added,
        "removed": event.removed,
        "note": event.note,
        "changes": [_change(each) for each in event.changes],
    }


def _change(change: Change) -> Json:
    return {
        "path": str(MemoryPath.of(change.path)),
        "sha256_before": change.before.sha256 if change.before else None,
        "sha256_after": change.after.sha256 if change.after else None,
    }


def _plain(value: object) -> object:
    """A value that came from JSON once, in types that `json` writes; a model's input may hold anything."""
    match value:
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case str() | int() | float() | None:
            return value
        case _:
            return repr(value)
