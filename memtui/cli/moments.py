"""Moments on the command line: from words to events of a journal, and how both are said."""

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile

from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.core import moments
from memtui.core.actors import named_in_a_sentence
from memtui.core.errors import MemtuiError
from memtui.core.events import Event, Version
from memtui.core.history import PathVersion
from memtui.core.moments import Moment
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.core.snapshot import Kind
from memtui.core.told import IMPORTED, circumstances_of
from memtui.engine import Engine

_LOOKING = frozenset({"found", "began"})
_SPANS = 3
"""How many spans of time are told in which a path was there."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in history, judged.

    Attributes:
        place: Where.
        moment: When; `None` where nothing was said.
    """

    place: MemoryPath
    moment: Moment | None


def moment(words: str) -> Moment:
    """Read a moment, for argparse.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        return moments.moment(words, now=_now())
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None


def spot(given: str, folder: str, at: Moment | None = None) -> Spot:
    """Read `PATH@MOMENT`, or a path alone.

    Args:
        given: As it was typed.
        folder: The memory folder.
        at: The moment that was given beside it: then all that was typed is the path.

    Raises:
        Failure: It is outside.
    """
    if at is not None:
        return Spot(places.place(given, folder), at)
    found = moments.spot(given, now=_now(), exists=lambda name: _stands(name, folder))
    if found.moment is None and _has_moment(given):
        output.message(f"A file is called {given}, so that is meant. For what a path held at a moment use --at.")
    return Spot(places.place(found.path or ".", folder), found.moment)


def _has_moment(given: str) -> bool:
    return moments.spot(given, now=_now(), exists=lambda _: False).moment is not None


def _stands(given: str, folder: str) -> bool:
    place = places.place(given, folder)
    with contextlib.closing(places.store(folder)) as store:
        try:
            return store.node(place) is not None
        except (MemtuiError, OSError):
            return False


def _now() -> datetime:
    return datetime.now(UTC)


# Moments as events


def seq_of(memory: Engine, when: Moment, *, beginning: bool = False) -> int:
    """The number of the last event up to a moment.

    Args:
        memory: Whose.
        when: The moment.
        beginning: Whether a span of time is meant from its beginning, and not to its end. Where that was before the
            record began, it is what memtui saw first.

    Raises:
        Failure: There is no such event, or nothing was recorded by then.
    """
    head, _ = memory.head()
    if when.is_now:
        return head
    if when.seq is not None:
        if when.seq > head:
            raise no_event(memory, when.seq)
        return _looked(memory, when.seq)
    assert when.first_us is not None
    assert when.last_us is not None
    if beginning:
        return memory.history.seq_at(when.first_us - 1) or _first_look(memory)
    seq = memory.history.seq_at(when.last_us)
    if seq == 0:
        first = memory.history.event(1)
        begins = f"The record begins with #1, {said_time(first)}." if first else "The record is empty."
        raise Failure(Exit.MISSING, f"Nothing was recorded by {when.words}. {begins}")
    return _looked(memory, seq)


def _looked(memory: Engine, seq: int) -> int:
    """The number of an event, or of the end of the first look where it is in the midst of that.

    What memtui finds at first is told in several events where it is much, and all of it was there already.
    """
    event = memory.history.event(seq)
    return max(seq, _first_look(memory)) if event is not None and event.command in _LOOKING else seq


def _first_look(memory: Engine) -> int:
    """The number of the last of the events that say what was there when the record began; 0 if there is none."""
    found = takewhile(lambda event: event.command in _LOOKING, memory.events())
    return max((event.seq for event in found), default=0)


def no_event(memory: Engine, seq: int) -> Failure:
    """The failure of a number that no event has."""
    head, _ = memory.head()
    last = f"The last one is #{head}." if head else "The record is empty."
    return Failure(Exit.MISSING, f"There is no event #{seq}. {last}")


def insist_on_version(memory: Engine, place: MemoryPath, seq: int, when: Moment) -> Version:
    """What stood at a path at a moment.

    Args:
        memory: Whose.
        place: The path.
        seq: The number of the event up to which.
        when: The moment, as it is told.

    Raises:
        Failure: Nothing did; it says when something did.
    """
    version = memory.history.version_at(place.relative, seq)
    if when.seq is not None and (event := memory.history.event(when.seq)) is not None:
        # What a session file told stands nowhere in between: it is meant by its own number.
        version = event.viewed if event.command == IMPORTED and event.path == str(place) else version
    if version is None:
        raise Failure(Exit.MISSING, f"Nothing was at {place} as of {named(when)}. {_when_there(memory, place, seq)}")
    return version


def insist_on_text(memory: Engine, place: MemoryPath, version: Version, when: Moment) -> bytes:
    """The bytes of a file at a moment.

    Args:
        memory: Whose.
        place: The path.
        version: What stood there.
        when: The moment, as it is told.

    Raises:
        Failure: It was no file, or its text is not kept; it says why.
    """
    if version.kind is Kind.DIRECTORY:
        raise Failure(Exit.MISSING, f"{place} was a directory as of {named(when)}.")
    data = memory.history.text(version)
    if version.kind is Kind.LINK:
        target = "" if data is None else f", to {data.decode('utf-8', 'surrogateescape')}"
        raise Failure(Exit.MISSING, f"{place} was a link as of {named(when)}{target}.")
    if version.kind is not Kind.FILE:
        raise Failure(Exit.MISSING, f"{place} was no regular file as of {named(when)}.")
    if data is None:
        raise Failure(Exit.MISSING, f"{place} was there as of {named(when)}, but {why_not_kept(memory, version)}.")
    return data


def why_not_kept(memory: Engine, version: Version) -> str:
    """Why the text of a version is not kept, as the end of a sentence."""
    if version.sha256 is None:
        return "its text was too large, or could not be read, and was never kept"
    for event in memory.events():
        if version.sha256 in event.redacted:
            reason = f": {event.note}" if event.note else ""
            return f"its text was redacted by {said(event)}{reason}"
    return "its text is not kept any more"


def _when_there(memory: Engine, place: MemoryPath, seq: int) -> str:
    """When something stood at a path, as a sentence."""
    rows = memory.history.versions_of(place.relative)
    then = called_at(rows, place.relative, seq)
    if then != place.relative and memory.history.version_at(then, seq) is not None:
        return f"It was called {MemoryPath.of(then)} then."
    spans = list(_spans([row for row in reversed(rows) if row.path == place.relative]))
    if not spans:
        return "Nothing was ever recorded there."
    told = ", and ".join(
        f"from {said_time(first)} (#{first.seq})" + (f" to {said_time(last)} (#{last.seq})" if last else " on")
        for first, last in spans[-_SPANS:]
    )
    return f"It was there {'lastly ' if len(spans) > _SPANS else ''}{told}."


def _spans(rows: list[PathVersion]) -> Iterator[tuple[Event, Event | None]]:
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


def called_at(rows: list[PathVersion], path: str, seq: int) -> str:
    """What the thing at a path was called at an earlier moment.

    Args:
        rows: What the path has been through, newest first.
        path: What it is called now.
        seq: The number of the event up to which.
    """
    for row in rows:
        if row.event.seq > seq and row.path == path and row.moved_from is not None:
            path = row.moved_from
    return path


# Moments in words


def named(when: Moment) -> str:
    """A moment as a sentence names it."""
    return when.words if when.seq is None else f"#{when.seq}"


def said(event: Event) -> str:
    """An event in a sentence, such as `#41 (Claude, 10:02)`."""
    return f"#{event.seq} ({named_in_a_sentence(event.actor)}, {said_time(event)})"


def described(event: Event) -> str:
    """An event with what it did, such as `#41 (Claude, 10:02): str_replace notes/a.md`."""
    path = event.path.removeprefix(ROOT_NAME + "/")
    target = f" to {event.new_path.removeprefix(ROOT_NAME + '/')}" if event.new_path else ""
    return f"{said(event)}: {event.command} {path}{target}"


def said_time(event: Event) -> str:
    """When it was, as short as it is clear: today without the date. What was only told is of when it happened."""
    told = circumstances_of(event)
    at = (datetime.fromtimestamp(told.at_us / 1e6) if told is not None and told.at_us else event.at).astimezone()
    return f"{at:%H:%M}" if at.date() == _now().astimezone().date() else f"{at:%Y-%m-%d %H:%M}"
