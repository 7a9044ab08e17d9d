"""All that is recorded of an event, as facts for a list."""

from collections.abc import Iterator

from memtui.core import wording
from memtui.core.events import Agent, Change, Event, Version, format_actor_in_sentence
from memtui.ui.links import NoteFact

_LONGEST, _LONGEST_TEXT = 300, 2_000
"""Characters of a name, and of an answer or the fields, that are shown; an agent may send a megabyte."""
_TEXTS = ("answer", "fields")
_MOST = 100
"""Changes that are listed."""
_HASH = 12
"""Digits of a version's hash that are shown."""


def collect_event_facts(event: Event) -> list[NoteFact]:
    """The facts, those first that a person asks for first; a text that is not there has no row."""
    facts = {
        "what": wording.describe_event(event),
        "when": f"{event.at.astimezone():%Y-%m-%d %H:%M:%S.%f}"[:-3],
        "who": format_actor_in_sentence(event.actor),
        "model": (event.actor.model or "") if isinstance(event.actor, Agent) else "",
        "session": (event.actor.session or "") if isinstance(event.actor, Agent) else "",
        "call id": event.call_id or "",
        "command": event.command,
        "path": event.path,
        "new path": event.new_path or "",
        "result": wording.format_result(event),
        "answer": event.answer or "",
        "fields": event.arguments or "",
        "note": event.note,
        "undoes": ", ".join(f"#{seq}" for seq in event.undoes),
        "took": f"{event.duration_us / 1_000:,.1f} ms" if event.duration_us else "",
    }
    found = [*facts.items(), *(("changed", words) for words in _iter_changes(event.changes)), ("hash", event.hash)]
    return [
        NoteFact(name, _cut(words, _LONGEST_TEXT if name in _TEXTS else _LONGEST)) for name, words in found if words
    ]


def _cut(words: str, longest: int) -> str:
    rest = len(words) - longest
    return words if rest <= 0 else f"{words[:longest]} .. {rest:,} more characters"


def _iter_changes(changes: tuple[Change, ...]) -> Iterator[str]:
    for change in changes[:_MOST]:
        yield f"{change.path}: {_format_version(change.before)} -> {_format_version(change.after)}"
    if len(changes) > _MOST:
        yield f"and {len(changes) - _MOST:,} more"


def _format_version(version: Version | None) -> str:
    if version is None:
        return "no file"
    if version.sha256 is None:
        return str(version.kind)
    return f"{wording.format_size(version.size, wording.COLUMN)} ({version.sha256[:_HASH]})"
