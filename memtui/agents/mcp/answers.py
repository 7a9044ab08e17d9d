"""The answers of tools that only read: a text for a model, and the same as data for a program.

Nothing here is recorded, and nothing can be changed by it. Names come from anywhere, so each stands on one line, with
hidden characters made visible; texts of notes are given as they are.
"""

import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from memtui.core import diffs
from memtui.core.errors import MemtuiError, Refusal
from memtui.core.events import Agent, EntryKind, Event, Result, Version, format_actor_in_sentence
from memtui.core.history import PathVersion
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT, MemoryPath, parse_path
from memtui.core.times import PointInTime, parse_point_in_time
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.engine.refusals import make_refusal

_DIFF_CHARACTERS = 16_000
_PAGE = 500
_SECONDS = 10.0
"""How long events are looked through; an answer that is not complete says so."""
USUAL_BUDGET, MOST_BUDGET = 8_000, 200_000
"""Characters of an answer."""
_NUMBERED = re.compile(r" *([0-9]+)\t")
"""How a line of a view begins."""
_LONGEST_WORD, _MOST_WORDS = 200, 100
_DONE = {
    "create": "created", "str_replace": "changed", "insert": "added to", "delete": "deleted", "rename": "renamed",
    "view": "viewed", "write": "wrote", "restore": "restored", "undo": "took back a change of",
    "redo": "made again a change of", "redact": "removed from the record a text of", "clear": "cleared",
    "modified": "changed",
}  # fmt: skip
"""Commands in the past tense."""


class ToolArgumentError(MemtuiError):
    """Arguments that are invalid or name nothing; the message is for the model."""


def format_error(error: Exception) -> str:
    """An error for a model: never a path of this machine, which messages for a person may hold."""
    if isinstance(error, ToolArgumentError | Refusal):
        return str(error)
    return str(make_refusal(error, {"verb": "look into", "path": ROOT}))


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """An answer: a text for a model, and the same as JSON data for a program."""

    text: str
    data: dict[str, object]


class ToolArguments:
    """Parses the arguments of a call. A model may send anything; each getter raises `ToolArgumentError`."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given

    def get_text(self, name: str) -> str:
        """A required text that is not empty."""
        value = self._given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise ToolArgumentError(f"Error: `{name}` is required, and must be a text that is not empty")
        return value

    def get_optional_text(self, name: str) -> str | None:
        """A text; `None` where it is not given."""
        return None if self._given.get(name) is None else self.get_text(name)

    def get_number(self, name: str, usual: int, most: int) -> int:
        """A whole number from 1; `usual` where it is not given, at most `most`."""
        value = self._given.get(name)
        if value is None:
            return usual
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ToolArgumentError(f"Error: `{name}` must be a whole number from 1 to {most:,}")
        return min(value, most)

    def get_words(self, name: str) -> list[str]:
        """A list of words, or one word; empty where it is not given."""
        value = self._given.get(name)
        given: list[object] = [] if value is None else value if isinstance(value, list) else [value]
        words = [each[:_LONGEST_WORD] for each in given if isinstance(each, str) and each.strip()]
        if len(words) > _MOST_WORDS or len(words) < len(given):
            raise ToolArgumentError(f"Error: `{name}` must be a list of at most {_MOST_WORDS} words")
        return words

    def get_mapping(self, name: str) -> Mapping[str, object]:
        """An object; empty where it is not given."""
        value = self._given.get(name)
        if value is not None and not isinstance(value, dict):
            raise ToolArgumentError(f"Error: `{name}` must be an object")
        return value or {}

    def get_moment(self, name: str) -> PointInTime | None:
        """A moment, such as `7d`, `yesterday` or `2026-11-20`; `None` where it is not given."""
        words = self.get_optional_text(name)
        if words is None:
            return None
        try:
            return parse_point_in_time(words[:_LONGEST_WORD], now=datetime.now(UTC))
        except ValueError as error:
            raise ToolArgumentError(f"Error: `{name}`: {to_one_line(str(error))}") from None

    def get_budget(self) -> "CharacterBudget":
        """The room that the answer has."""
        return CharacterBudget(self.get_number("budget", USUAL_BUDGET, MOST_BUDGET))


class CharacterBudget:
    """The room of an answer.

    Args:
        characters: How many there may be.
    """

    def __init__(self, characters: int) -> None:
        self.characters = characters
        self._left = characters
        self.left_out = 0
        """How many groups of lines had no room."""

    def take(self, *lines: str) -> bool:
        """Whether lines that belong together have room; behind some that had none, nothing has."""
        size = sum(len(line) + 1 for line in lines)
        if self.left_out or size > self._left:
            self.left_out += 1
            return False
        self._left -= size
        return True


def cut_view(text: str, characters: int) -> str:
    """The beginning of a view of a note, up to the end of a line, and where to go on."""
    if len(text) <= characters:
        return text
    end = text.rfind("\n", 0, characters + 1)
    shown, rest = (text[:end], text[end + 1 :]) if end > 0 else (text[:characters], text[characters:])
    following = _NUMBERED.match(rest)
    where = (
        f" Go on with `view_range` [{following[1]}, -1], or a higher `budget`"
        if following
        else " Ask with a higher `budget`"
    )
    return f"{shown}\n[{len(rest):,} more characters are not shown.{where}.]"


def find_moment_us(memory: Engine, fields: ToolArguments, name: str) -> int | None:
    """Where a moment begins, in microseconds since 1970; of an event, when it happened. `None` if it is not given.

    Raises:
        ToolArgumentError: It cannot be read, or there is no such event.
    """
    when = fields.get_moment(name)
    if when is None:
        return None
    if when.seq is None:
        return when.first_us if when.first_us is not None else time.time_ns() // 1_000
    event = memory.history.get_event(when.seq)
    if event is None:
        raise ToolArgumentError(f"Error: there is no event #{when.seq}; the last one is #{memory.get_head()[0]}")
    return event.at_us


def list_files(memory: Engine) -> list[str]:
    """The files that an agent's listing shows, in order, relative to the folder."""
    paths = (entry.path for entry in memory.iter_names() if entry.kind in (EntryKind.FILE, EntryKind.LINK))
    parts = ((path, path.split("/")) for path in paths)
    return sorted(path for path, names in parts if not any(name[:1] == "." or name == "node_modules" for name in names))


# recent_activity


def answer_activity(memory: Engine, given: Mapping[str, object]) -> ToolAnswer:
    """Answer `recent_activity`."""
    fields = ToolArguments(given)
    limit, below = fields.get_number("limit", 20, 200), fields.get_optional_text("path")
    types = frozenset(word.strip().casefold() for word in fields.get_words("type"))
    since_us, budget = find_moment_us(memory, fields, "timeframe"), fields.get_budget()
    head, deadline = memory.get_head()[0], time.monotonic() + _SECONDS
    place = None if below is None else str(parse_path(below))
    events: list[Event] = []
    is_complete = True
    for event in _iter_backwards(memory, head, place):
        if len(events) >= limit or (since_us is not None and event.at_us < since_us):
            break
        if time.monotonic() > deadline:
            is_complete = False
            break
        if not types or _concerns_type(memory, event, types):
            events.append(event)
    shown = [event for event in events if budget.take(format_event(event))][::-1]
    lines = [format_event(event) for event in shown]
    if not events:
        wanted = since_us is not None or types
        lines = [f"Nothing {'like that ' if wanted else ''}has happened{' yet' if below is None else f' at {below}'}."]
    if budget.left_out:
        lines.append(f"{budget.left_out:,} older ones are not shown: ask with a higher `budget`.")
    if not is_complete:
        lines.append(f"It ended after {_SECONDS:g} seconds: not all events were looked at.")
    return ToolAnswer("\n".join(lines), {"events": [_event_to_json(event) for event in shown]})


def _concerns_type(memory: Engine, event: Event, types: frozenset[str]) -> bool:
    """Whether an event viewed or changed a note of a type, as it was then."""
    versions = [(change.path, change.after or change.before) for change in event.changes]
    if not versions and event.viewed is not None:
        versions = [(event.path.removeprefix(f"{ROOT}/"), event.viewed)]
    notes = (memory.knowledge.read_version(path, version) for path, version in versions)
    return any(note is not None and note.type in types for note in notes)


def _iter_backwards(memory: Engine, until: int, place: str | None) -> Iterator[Event]:
    """The events up to a number, the newest first; those of one place only, if one is given."""
    while until > 0:
        page = memory.journal.get_events(max(0, until - _PAGE), limit=min(until, _PAGE))
        yield from (event for event in reversed(page) if place is None or _touches(event, place))
        until -= _PAGE


def _touches(event: Event, place: str) -> bool:
    named = [event.path, event.new_path, *(str(MemoryPath.from_relative(change.path)) for change in event.changes)]
    return any(name is not None and (name == place or name.startswith(place + "/")) for name in named)


def format_event(event: Event) -> str:
    """An event, on one line."""
    who, path = to_one_line(format_actor_in_sentence(event.actor)), to_one_line(event.path)
    target = f" to {to_one_line(event.new_path)}" if event.new_path else ""
    counts = f" (+{event.added} -{event.removed})" if event.added is not None else ""
    note = f" ({to_one_line(event.note)})" if event.note and not counts else ""
    if event.command == "found":
        return f"#{event.seq} {format_time(event)} {path} was there when memtui first looked.{note}"
    sentence = f"{who} {_DONE.get(event.command, to_one_line(event.command))} {path}{target}{counts}{note}."
    match event.result:
        case Result.REFUSED:
            sentence = f"{who} was refused: {to_one_line(event.command)} {path}{target}{note}."
        case Result.UNCERTAIN:
            sentence = f"{sentence[:-1]}, but the disk did not confirm it."
        case Result.ABORTED:
            sentence = f"{who}'s {to_one_line(event.command)} of {path}{target} was not done: its program died."
        case Result.NO_CHANGE:
            sentence = f"{sentence[:-1]}: nothing to change."
    return f"#{event.seq} {format_time(event)} {sentence}"


def _event_to_json(event: Event) -> dict[str, object]:
    return {
        "seq": event.seq,
        "at": format_time(event),
        "actor": to_one_line(format_actor_in_sentence(event.actor)),
        "session": to_one_line(event.actor.session) if isinstance(event.actor, Agent) and event.actor.session else None,
        "command": to_one_line(event.command),
        "path": to_one_line(event.path),
        "new_path": to_one_line(event.new_path) if event.new_path else None,
        "result": event.result.value,
        "added": event.added,
        "removed": event.removed,
        "note": to_one_line(event.note),
    }


# memory_history


def answer_history(memory: Engine, given: Mapping[str, object]) -> ToolAnswer:
    """Answer `memory_history`."""
    fields = ToolArguments(given)
    place = parse_path(fields.get_text("path"))
    limit = fields.get_number("limit", 20, 200)
    old = fields.get_number("from", 0, 2**53) if given.get("from") is not None else None
    new = fields.get_number("to", 0, 2**53) if given.get("to") is not None else None
    if place.is_root:
        raise ToolArgumentError("Error: name a memory. What happened in the whole folder is told by recent_activity")
    if new is not None and old is None:
        raise ToolArgumentError("Error: `to` needs `from`: the number of the event after which the comparison begins")
    head = memory.get_head()[0]
    for number in (old, new):
        if number is not None and number > head:
            raise ToolArgumentError(f"Error: there is no event #{number}; the last one is #{head}")
    if old is not None:
        return _answer_difference(memory, place, old, head if new is None else new)
    versions = memory.history.versions_of(place.relative, limit=limit + 1)
    if not versions:
        raise ToolArgumentError(f"Error: nothing was ever recorded at {place}")
    shown = versions[:limit]
    lines = [f"What {place} has been through, the newest first:", *(format_event(row.event) for row in shown)]
    if len(versions) > limit:
        lines.append("There are older ones. Ask with a higher `limit`.")
    lines.append("To see what changed: `from` and `to`, each the number of an event above.")
    data: dict[str, object] = {"versions": [_version_to_json(row) for row in shown], "more": len(versions) > limit}
    return ToolAnswer("\n".join(lines), data)


def _version_to_json(row: PathVersion) -> dict[str, object]:
    return {
        **_event_to_json(row.event),
        "was": format_path(row.path),
        "sha256_before": row.before.sha256 if row.before else None,
        "sha256_after": row.after.sha256 if row.after else None,
        "size": row.after.size if row.after else None,
    }


def _answer_difference(memory: Engine, place: MemoryPath, old: int, new: int) -> ToolAnswer:
    before, after = (memory.history.get_version_at(place.relative, at) for at in (old, new))
    if before is None and after is None:
        raise ToolArgumentError(f"Error: there was nothing at {place}, neither after #{old} nor after #{new}")
    texts = [_get_version_text(memory, version, place, at) for version, at in ((before, old), (after, new))]
    names = [f"{place.relative}@{at}" if version else None for version, at in ((before, old), (after, new))]
    difference = diffs.compare_texts(*texts)
    patch = difference.format_patch(*names)
    counts = difference.counts
    cut = patch[:_DIFF_CHARACTERS]
    if len(patch) > len(cut):
        cut += f"\n[{len(patch) - len(cut):,} more characters are not shown]"
    text, diff = cut or f"{place} is the same after #{old} and after #{new}.", to_json_text(cut)
    return ToolAnswer(text, {"from": old, "to": new, "added": counts.added, "removed": counts.removed, "diff": diff})


def _get_version_text(memory: Engine, version: Version | None, place: MemoryPath, at: int) -> str:
    data = memory.history.text(version)
    if version is not None and version.kind is not EntryKind.FILE:
        raise ToolArgumentError(f"Error: what was at {place} after #{at} is no file")
    if data is None:
        raise ToolArgumentError(f"Error: the text that was at {place} after #{at} is not kept any more")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolArgumentError(f"Error: what was at {place} after #{at} is no text") from None


def format_path(relative: str) -> str:
    """A path as the model knows it, on one line."""
    return to_one_line(str(MemoryPath.from_relative(relative)))


def to_json_text(text: str) -> str:
    """A text that JSON can hold: a name in a patch may have bytes that are none."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def format_time(event: Event) -> str:
    """The time of an event (UTC)."""
    try:
        at = datetime.fromtimestamp(event.at_us // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
