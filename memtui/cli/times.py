"""Moments on the command line: from words to events of a journal, and how both are said."""

import argparse
import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.output import Failure, NotFound
from memtui.core import times, wording
from memtui.core.errors import MemtuiError
from memtui.core.events import IMPORTED, EntryKind, Event, Version, decode_imported_details, format_actor_in_sentence
from memtui.core.history import PathVersion
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.times import PointInTime

if TYPE_CHECKING:
    from memtui.engine import Engine

_LOOKING = frozenset({"found", "began"})
_SPANS = 3
"""Spans of time that are named in which a path existed."""


@dataclass(frozen=True, slots=True)
class VersionedPath:
    """A path, and a moment if one was given."""

    path: MemoryPath
    moment: PointInTime | None


def parse_moment(words: str) -> PointInTime:
    """A moment, for argparse."""
    try:
        return times.parse_point_in_time(words, now=_get_now())
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None


def parse_event_number(given: str) -> int:
    """The number of an event, for argparse."""
    number = match_event_number(given)
    if number is None:
        raise argparse.ArgumentTypeError(f"{given!r} is not an event number; to list them: memtui log")
    return number


def match_event_number(given: str) -> int | None:
    """The number of an event, such as `41` or `#41`; `None` for other words."""
    found = re.fullmatch("#?([0-9]{1,18})", given)
    return int(found[1]) if found else None


def parse_versioned_path(given: str, folder: str, at: PointInTime | None = None) -> VersionedPath:
    """Parse `PATH@MOMENT` or a path alone; with `at` all of it is the path. Raises `Failure` if it is outside."""
    if at is not None:
        return VersionedPath(context.parse_memory_path(given, folder), at)
    found = times.parse_path_at_time(given, now=_get_now(), exists=lambda name: _exists(name, folder))
    if found.point_in_time is None and _has_moment(given):
        output.print_message(f"A file is called {given}, so it is used. For an earlier version use --at.")
    return VersionedPath(context.parse_memory_path(found.path or ".", folder), found.point_in_time)


def _has_moment(given: str) -> bool:
    return times.parse_path_at_time(given, now=_get_now(), exists=lambda _: False).point_in_time is not None


def _exists(given: str, folder: str) -> bool:
    place = context.parse_memory_path(given, folder)
    with contextlib.closing(context.open_folder_store(folder)) as store:
        try:
            return store.get_node(place) is not None
        except (MemtuiError, OSError):
            return False


def _get_now() -> datetime:
    return datetime.now(UTC)


# Moments as events


def find_seq(memory: "Engine", when: PointInTime, *, beginning: bool = False) -> int:
    """The last event up to a moment, or, with `beginning`, before a span begins. Raises `Failure` for none."""
    head, _ = memory.get_head()
    if when.is_now:
        return head
    if when.seq is not None:
        if when.seq > head:
            raise make_no_event_failure(memory, when.seq)
        return _skip_initial_scan(memory, when.seq)
    assert when.first_us is not None
    assert when.last_us is not None
    if beginning:
        return memory.history.find_seq_at(when.first_us - 1) or _find_initial_scan_end(memory)
    seq = memory.history.find_seq_at(when.last_us)
    if seq == 0:
        first = memory.history.get_event(1)
        begins = f"It begins with #1, {format_event_time(first)}." if first else "It is empty."
        raise NotFound(f"The history does not reach back to {when.text}. {begins}")
    return _skip_initial_scan(memory, seq)


def _skip_initial_scan(memory: "Engine", seq: int) -> int:
    """The event, or the end of the initial scan for an event within it: all of that was there before."""
    event = memory.history.get_event(seq)
    return max(seq, _find_initial_scan_end(memory)) if event is not None and event.command in _LOOKING else seq


def _find_initial_scan_end(memory: "Engine") -> int:
    """The last event of the initial scan; 0 if there is none."""
    found = takewhile(lambda event: event.command in _LOOKING, memory.events())
    return max((event.seq for event in found), default=0)


def make_no_event_failure(memory: "Engine", seq: int) -> Failure:
    """The failure of a number that no event has."""
    head, _ = memory.get_head()
    last = f"The last one is #{head}." if head else "The history is empty."
    return NotFound(f"There is no event #{seq}. {last}")


def require_version(memory: "Engine", place: MemoryPath, seq: int, when: PointInTime) -> Version:
    """The version at a path up to event `seq`. Raises `Failure` if there is none, and says when there was."""
    version = memory.history.get_version_at(place.relative, seq)
    if when.seq is not None and (event := memory.history.get_event(when.seq)) is not None:
        # An imported version is at no moment in between: it is meant by its own number.
        version = event.viewed if event.command == IMPORTED and event.path == str(place) else version
    if version is None:
        raise NotFound(f"{place} did not exist as of {format_moment(when)}. {_describe_existence(memory, place, seq)}")
    return version


def require_text(memory: "Engine", place: MemoryPath, version: Version, when: PointInTime) -> bytes:
    """The bytes of a version. Raises `Failure` if it was no file, or its text is not kept, and says why."""
    if version.kind is EntryKind.DIRECTORY:
        raise NotFound(f"{place} was a directory as of {format_moment(when)}.")
    data = memory.history.text(version)
    if version.kind is EntryKind.LINK:
        target = "" if data is None else f", to {data.decode('utf-8', 'surrogateescape')}"
        raise NotFound(f"{place} was a link as of {format_moment(when)}{target}.")
    if version.kind is not EntryKind.FILE:
        raise NotFound(f"{place} was not a regular file as of {format_moment(when)}.")
    if data is None:
        raise NotFound(f"{place} existed as of {format_moment(when)}, but {explain_missing_text(memory, version)}.")
    return data


def explain_missing_text(memory: "Engine", version: Version) -> str:
    """Why the text of a version is not kept, as the end of a sentence."""
    if version.sha256 is None:
        return "its text was too large or unreadable, and was not kept"
    for event in memory.events():
        if version.sha256 in event.redacted:
            reason = f": {event.note}" if event.note else ""
            return f"its text was redacted by {format_event(event)}{reason}"
    return "its text is no longer kept in the history"


def _describe_existence(memory: "Engine", place: MemoryPath, seq: int) -> str:
    """When something stood at a path, as a sentence."""
    rows = memory.history.versions_of(place.relative)
    then = find_name_at(rows, place.relative, seq)
    if then != place.relative and memory.history.get_version_at(then, seq) is not None:
        return f"It was called {MemoryPath.from_relative(then)} then."
    spans = list(_iter_spans([row for row in reversed(rows) if row.path == place.relative]))
    if not spans:
        return "It has no history."
    times = ", and ".join(
        f"from {format_event_time(first)} (#{first.seq})"
        + (f" to {format_event_time(last)} (#{last.seq})" if last else " on")
        for first, last in spans[-_SPANS:]
    )
    return f"It existed {'most recently ' if len(spans) > _SPANS else ''}{times}."


def _iter_spans(rows: list[PathVersion]) -> Iterator[tuple[Event, Event | None]]:
    """From which event to which one something stood there; `None` for the last where it still does."""
    first: Event | None = None
    for row in rows:
        is_there = row.after is not None and row.moved_to is None
        if is_there and first is None:
            first = row.event
        elif not is_there and first is not None:
            yield first, row.event
            first = None
    if first is not None:
        yield first, None


def find_name_at(rows: list[PathVersion], path: str, seq: int) -> str:
    """The former path of what is now at `path`, after event `seq`; `rows` are its versions, newest first."""
    for row in rows:
        if row.event.seq > seq and row.path == path and row.moved_from is not None:
            path = row.moved_from
    return path


# Moments in words


def format_moment(when: PointInTime) -> str:
    """A moment as a sentence names it."""
    return when.text if when.seq is None else f"#{when.seq}"


def format_event(event: Event) -> str:
    """An event in a sentence, such as `#41 (Claude, 10:02)`."""
    return f"#{event.seq} ({format_actor_in_sentence(event.actor)}, {format_event_time(event)})"


def describe_event(event: Event) -> str:
    """An event with its command, such as `#41 (Claude, 10:02): str_replace notes/a.md`."""
    path, new_path = wording.to_relative_path(event.path), wording.to_relative_path(event.new_path or "")
    target = f" to {new_path}" if new_path else ""
    return f"{format_event(event)}: {event.command} {path}{target}"


def format_event_time(event: Event) -> str:
    """The time of an event, today without the date; of an imported one, the time it happened."""
    details = decode_imported_details(event)
    event = replace(event, at_us=details.at_us) if details is not None and details.at_us else event
    return wording.format_event_time(event, round(_get_now().timestamp() * 1e6), wording.PLAIN)
