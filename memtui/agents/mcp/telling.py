"""What the tools that only look answer: a text for a model, and the same as data for a program.

Nothing here is recorded, and nothing can be changed by it. Names come from anywhere, so each stands on one line, with
what is hidden in it made visible; texts of notes are given as they are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from memtui.core import diffs
from memtui.core.actors import named_in_a_sentence
from memtui.core.errors import MemtuiError, Refusal
from memtui.core.events import Agent, Event, Result, Version
from memtui.core.history import PathVersion
from memtui.core.paths import ROOT, MemoryPath, parse
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine
from memtui.engine.faults import fault_of

_DIFF_CHARACTERS = 16_000
_PAGE = 500
_DONE = {
    "create": "created",
    "str_replace": "changed",
    "insert": "added to",
    "delete": "deleted",
    "rename": "renamed",
    "view": "viewed",
    "write": "wrote",
    "restore": "restored",
    "undo": "took back a change of",
    "redo": "made again a change of",
    "redact": "removed from the record a text of",
    "clear": "cleared",
    "modified": "changed",
}


class Unclear(MemtuiError):
    """What was asked for cannot be understood or found; the words are for the model."""


def words_of(error: Exception) -> str:
    """What a model is told of an error: never a path of this machine, which words for a person may hold."""
    if isinstance(error, Unclear | Refusal):
        return str(error)
    return str(fault_of(error, {"verb": "look into", "path": ROOT}))


@dataclass(frozen=True, slots=True)
class Told:
    """An answer.

    Attributes:
        text: For a model.
        data: The same for a program, as JSON has it.
    """

    text: str
    data: dict[str, object]


class Fields:
    """Reads the arguments of a call. A model may send anything."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given

    def text(self, name: str) -> str:
        """A field that has to be there.

        Raises:
            Unclear: It is not, or is no text.
        """
        value = self._given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise Unclear(f"Error: `{name}` is required, and must be a text that is not empty")
        return value

    def optional_text(self, name: str) -> str | None:
        """A field that may be there.

        Raises:
            Unclear: It is there, and is no text.
        """
        return None if self._given.get(name) is None else self.text(name)

    def number(self, name: str, usual: int, most: int) -> int:
        """A number that may be there.

        Args:
            name: Of the field.
            usual: What it is if it is not given.
            most: What it is if it is larger.

        Raises:
            Unclear: It is there, and is no number from 1 on.
        """
        value = self._given.get(name)
        if value is None:
            return usual
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise Unclear(f"Error: `{name}` must be a whole number from 1 to {most:,}")
        return min(value, most)


def listed(memory: Engine) -> list[str]:
    """The files that an agent's listing shows, in order, relative to the folder."""
    entries = (entry for entry in memory.names() if entry.kind in (Kind.FILE, Kind.LINK))
    return sorted(entry.path for entry in entries if _is_listed(entry.path))


def _is_listed(path: str) -> bool:
    return not any(part.startswith(".") or part == "node_modules" for part in path.split("/"))


# recent_activity


def activity(memory: Engine, given: Mapping[str, object]) -> Told:
    """Answer `recent_activity`."""
    fields = Fields(given)
    limit, below = fields.number("limit", 20, 200), fields.optional_text("path")
    head = memory.head()[0]
    place = None if below is None else str(parse(below))
    events = list(islice(_backwards(memory, head, place), limit))[::-1]
    if not events:
        return Told("Nothing has happened yet." if below is None else f"Nothing has happened at {below}.", _events([]))
    return Told("\n".join(map(sentence, events)), _events(events))


def _backwards(memory: Engine, until: int, place: str | None) -> Iterator[Event]:
    """The events up to a number, the newest first; of one place only, if one is named."""
    while until > 0:
        page = memory.journal.events(max(0, until - _PAGE), limit=min(until, _PAGE))
        yield from (event for event in reversed(page) if place is None or _touches(event, place))
        until -= _PAGE


def _touches(event: Event, place: str) -> bool:
    named = [event.path, event.new_path, *(str(MemoryPath.of(change.path)) for change in event.changes)]
    return any(name is not None and (name == place or name.startswith(place + "/")) for name in named)


def sentence(event: Event) -> str:
    """What happened, on one line."""
    who, path = one_line(named_in_a_sentence(event.actor)), one_line(event.path)
    target = f" to {one_line(event.new_path)}" if event.new_path else ""
    counts = f" (+{event.added} -{event.removed})" if event.added is not None else ""
    note = f" ({one_line(event.note)})" if event.note and not counts else ""
    if event.command == "found":
        return f"#{event.seq} {when(event)} {path} was there when memtui first looked.{note}"
    said = f"{who} {_DONE.get(event.command, one_line(event.command))} {path}{target}{counts}{note}."
    match event.result:
        case Result.REFUSED:
            said = f"{who} was refused: {one_line(event.command)} {path}{target}{note}."
        case Result.UNCERTAIN:
            said = f"{said[:-1]}, but the disk did not confirm it."
        case Result.ABORTED:
            said = f"{who}'s {one_line(event.command)} of {path}{target} was not done: its program died."
        case Result.NO_CHANGE:
            said = f"{said[:-1]}: nothing to change."
    return f"#{event.seq} {when(event)} {said}"


def _events(events: list[Event]) -> dict[str, object]:
    return {"events": [_record(event) for event in events]}


def _record(event: Event) -> dict[str, object]:
    return {
        "seq": event.seq,
        "at": when(event),
        "actor": one_line(named_in_a_sentence(event.actor)),
        "session": one_line(event.actor.session) if isinstance(event.actor, Agent) and event.actor.session else None,
        "command": one_line(event.command),
        "path": one_line(event.path),
        "new_path": one_line(event.new_path) if event.new_path else None,
        "result": event.result.value,
        "added": event.added,
        "removed": event.removed,
        "note": one_line(event.note),
    }


# memory_history


def history(memory: Engine, given: Mapping[str, object]) -> Told:
    """Answer `memory_history`."""
    fields = Fields(given)
    place = parse(fields.text("path"))
    limit = fields.number("limit", 20, 200)
    old = fields.number("from", 0, 2**53) if given.get("from") is not None else None
    new = fields.number("to", 0, 2**53) if given.get("to") is not None else None
    if place.is_root:
        raise Unclear("Error: name a memory. What happened in the whole folder is told by recent_activity")
    if new is not None and old is None:
        raise Unclear("Error: `to` needs `from`: the number of the event after which the comparison begins")
    head = memory.head()[0]
    for number in (old, new):
        if number is not None and number > head:
            raise Unclear(f"Error: there is no event #{number}; the last one is #{head}")
    if old is not None:
        return _difference(memory, place, old, head if new is None else new)
    versions = memory.history.versions_of(place.relative, limit=limit + 1)
    if not versions:
        raise Unclear(f"Error: nothing was ever recorded at {place}")
    shown = versions[:limit]
    lines = [f"What {place} has been through, the newest first:", *(f"{sentence(row.event)}" for row in shown)]
    if len(versions) > limit:
        lines.append("There are older ones. Ask with a higher `limit`.")
    lines.append("To see what changed: `from` and `to`, each the number of an event above.")
    return Told("\n".join(lines), {"versions": [_version(row) for row in shown], "more": len(versions) > limit})


def _version(row: PathVersion) -> dict[str, object]:
    return {
        **_record(row.event),
        "was": name_of(row.path),
        "sha256_before": row.before.sha256 if row.before else None,
        "sha256_after": row.after.sha256 if row.after else None,
        "size": row.after.size if row.after else None,
    }


def _difference(memory: Engine, place: MemoryPath, old: int, new: int) -> Told:
    before, after = (memory.history.version_at(place.relative, at) for at in (old, new))
    if before is None and after is None:
        raise Unclear(f"Error: there was nothing at {place}, neither after #{old} nor after #{new}")
    texts = [_text(memory, version, place, at) for version, at in ((before, old), (after, new))]
    names = [f"{place.relative}@{at}" if version else None for version, at in ((before, old), (after, new))]
    difference = diffs.compare(*texts)
    patch = difference.patch(*names)
    counts = difference.counts
    cut = patch[:_DIFF_CHARACTERS]
    if len(patch) > len(cut):
        cut += f"\n[{len(patch) - len(cut):,} more characters are not shown]"
    text = cut or f"{place} is the same after #{old} and after #{new}."
    return Told(
        text, {"from": old, "to": new, "added": counts.added, "removed": counts.removed, "diff": json_text(cut)}
    )


def _text(memory: Engine, version: Version | None, place: MemoryPath, at: int) -> str:
    data = memory.history.text(version)
    if version is not None and version.kind is not Kind.FILE:
        raise Unclear(f"Error: what was at {place} after #{at} is no file")
    if data is None:
        raise Unclear(f"Error: the text that was at {place} after #{at} is not kept any more")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unclear(f"Error: what was at {place} after #{at} is no text") from None


def name_of(relative: str) -> str:
    """A path as the model knows it, on one line."""
    return one_line(str(MemoryPath.of(relative)))


def json_text(text: str) -> str:
    """A text that JSON can hold: a name in a patch may have bytes that are none."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def many(count: int, one: str, several: str = "") -> str:
    """How many of something: `1 note`, `2 notes`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def when(event: Event) -> str:
    """When it was (UTC)."""
    try:
        at = datetime.fromtimestamp(event.at_us // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
