"""What the tools that only look answer: a text for a model, and the same as data for a program.

Nothing here is recorded, and nothing can be changed by it. Names come from anywhere, so each stands on one line, with
what is hidden in it made visible; texts of notes are given as they are.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from memtui.agents.mcp.searching import Match, search
from memtui.agents.mcp.uris import uri_of
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

_SEARCH_SECONDS = 10.0
_LONGEST_QUERY = 1_000
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


class _Fields:
    """Reads the arguments of a call. A model may send anything."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given

    def text(self, name: str) -> str:
        value = self._given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise Unclear(f"Error: `{name}` is required, and must be a text that is not empty")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self._given.get(name) is None else self.text(name)

    def number(self, name: str, usual: int, most: int) -> int:
        value = self._given.get(name)
        if value is None:
            return usual
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise Unclear(f"Error: `{name}` must be a whole number from 1 to {most:,}")
        return min(value, most)


# search_memory


def found(memory: Engine, given: Mapping[str, object]) -> Told:
    """Answer `search_memory`."""
    fields = _Fields(given)
    query, limit = fields.text("query"), fields.number("limit", 50, 200)
    if "\n" in query or len(query) > _LONGEST_QUERY:
        raise Unclear(f"Error: `query` must be on one line, and at most {_LONGEST_QUERY:,} characters long")
    notes = _Notes(memory)
    result = search(query, notes, limit=limit)
    shown = [_match(match) for match in result.matches]
    count = len(result.matches) + result.more
    head = (
        f"{_many(count, 'match', 'matches')} in {_many(result.notes, 'note')}, of {notes.count:,} searched:"
        if count
        else f"Nothing found in {_many(notes.count, 'note')}."
    )
    lines = [head, *shown]
    if result.more:
        lines.append(f"{result.more:,} more are not shown. Search for something longer, or with a higher `limit`.")
    if result.unread:
        unread = "1 file is no text or is too large" if result.unread == 1 else f"{result.unread:,} files are no text"
        lines.append(f"{unread}: only the name was looked at.")
    if notes.is_cut:
        lines.append(f"The search ended after {_SEARCH_SECONDS:g} seconds: not all notes were looked at.")
    data = {
        "matches": [
            {"path": _name(match.path), "uri": uri_of(match.path), "line": match.line, "text": _json(match.text)}
            for match in result.matches
        ],
        "more": result.more,
        "notes": result.notes,
        "searched": notes.count,
        "complete": not notes.is_cut,
    }
    return Told("\n".join(lines), data)


class _Notes:
    """The notes that an agent's listing shows, one after the other, for as long as a search may take."""

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self.count = 0
        self.is_cut = False

    def __iter__(self) -> Iterator[tuple[str, str | None]]:
        deadline = time.monotonic() + _SEARCH_SECONDS
        for path in listed(self._memory):
            if time.monotonic() > deadline:
                self.is_cut = True
                return
            self.count += 1
            data = self._memory.look(path).data
            try:
                text = None if data is None else data.decode("utf-8")
            except UnicodeDecodeError:
                text = None
            yield path, text


def listed(memory: Engine) -> list[str]:
    """The files that an agent's listing shows, in order, relative to the folder."""
    entries = (entry for entry in memory.names() if entry.kind in (Kind.FILE, Kind.LINK))
    return sorted(entry.path for entry in entries if _is_listed(entry.path))


def _is_listed(path: str) -> bool:
    return not any(part.startswith(".") or part == "node_modules" for part in path.split("/"))


def _match(match: Match) -> str:
    if match.line is None:
        return f"{_name(match.path)}: the name"
    return f"{_name(match.path)}:{match.line}: {match.text}"


# recent_activity


def activity(memory: Engine, given: Mapping[str, object]) -> Told:
    """Answer `recent_activity`."""
    fields = _Fields(given)
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
        return f"#{event.seq} {_when(event)} {path} was there when memtui first looked.{note}"
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
    return f"#{event.seq} {_when(event)} {said}"


def _events(events: list[Event]) -> dict[str, object]:
    return {"events": [_record(event) for event in events]}


def _record(event: Event) -> dict[str, object]:
    return {
        "seq": event.seq,
        "at": _when(event),
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
    fields = _Fields(given)
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
        "was": _name(row.path),
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
    return Told(text, {"from": old, "to": new, "added": counts.added, "removed": counts.removed, "diff": _json(cut)})


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


def _name(relative: str) -> str:
    return one_line(str(MemoryPath.of(relative)))


def _json(text: str) -> str:
    """A text that JSON can hold: a name in a patch may have bytes that are none."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _when(event: Event) -> str:
    try:
        at = datetime.fromtimestamp(event.at_us // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
