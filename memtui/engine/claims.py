"""The writes that agents make with tools of their own: announced before they are found, or claimed a moment after."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Change, Event
from memtui.core.paths import MemoryPath, validate_relative_paths
from memtui.engine.context import EngineContext
from memtui.engine.refusals import describe_error
from memtui.engine.replacements import PathEvents, find_absence, find_replacements
from memtui.journal.announcements import Announcement

_LATE_US = 600_000_000
"""For how long an agent may still say that a change was its own."""
_CLAIMED = "claimed"
_CLAIMABLE = frozenset({"created", "modified", "deleted", "renamed"})
CLAIM = re.compile(r"#([0-9]{1,18}) was its ")
"""The note of an event by which an agent claims an external change: the number of that change."""
_LATER = 256
"""Events after a change among which it is looked whether somebody said it already."""


def parse_claim(event: Event) -> int | None:
    """The number of the change from outside that an agent says was its own; `None` for another event."""
    found = CLAIM.match(event.note) if event.command == _CLAIMED else None
    return int(found[1]) if found is not None else None


def _is_as_wanted(change: Change, hashes: Collection[str] | None) -> bool:
    if hashes is None or change.after is None:
        return hashes is None and change.after is None
    return change.after.sha256 in hashes


class ClaimRecorder:
    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def announce(self, path: str, *, actor: Agent, call_id: str, sha256: str | None, note: str, until_us: int) -> None:
        """Note that an agent is about to write a file with its own tools: once found, it is recorded as the agent's.

        Nothing is recorded now. A change that is anything else, or later than `until_us` (in microseconds since 1970),
        stays one from outside. `sha256` is that of the future text, `None` where it is not known.

        Raises:
            StateUnusable: It cannot be kept.
        """
        validate_relative_paths([path])
        hashes = () if sha256 is None else (sha256,)
        try:
            self._context.announced.add(
                Announcement(path, actor, call_id, hashes, note, self._context.get_now_us(), until_us)
            )
        except OSError as error:
            raise StateUnusable(f"The announced change cannot be recorded: {describe_error(error)}.") from error

    def claim(
        self,
        path: str,
        *,
        actor: Agent,
        call_id: str,
        hashes: Collection[str] | None,
        note: str,
        others: Mapping[str, Collection[str] | None] = MappingProxyType({}),
    ) -> Event | None:
        """Attribute a change to an agent that was found and recorded as one from outside a moment ago.

        What is recorded stays as it is; the claim is recorded after it, as an event that changed nothing. The moment
        for which the file was empty, or away, until the agent had written it is claimed with it.

        Args:
            path: Relative to the folder.
            actor: The agent.
            call_id: Of its call.
            hashes: SHA-256 of what the file was to hold, any of these; `None` for nothing.
            note: Such as the tool's name.
            others: The same of the other files of the call: a change of more files than these is not claimed.

        Returns:
            The event; `None` where there is no such change, or where it is known already.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
        """
        validate_relative_paths([path])
        try:
            with self._context.calls.track_change(), self._context.begin_transaction():
                if self._context.read_only:
                    return None
                claims = self._make_claims(path, actor, call_id, note, {**others, path: hashes})
                if not claims:
                    return None
                recorded = self._context.journal.append_events(
                    [self._context.protection.annotate_event(each) for each in claims], durable=False
                )[-1]
                self._context.calls.mark_changed()
                return recorded
        except OSError as error:
            raise StateUnusable(f"It cannot be recorded: {describe_error(error)}.") from error

    def _make_claims(
        self, path: str, actor: Agent, call_id: str, note: str, wanted: Mapping[str, Collection[str] | None]
    ) -> list[Event]:
        now_us = self._context.get_now_us()
        last = next(iter(self._context.journal.get_path_events(path, limit=1)), None)
        if last is None or now_us - last.at_us > _LATE_US:
            return []
        seqs = sorted(self._find_steps(path, last))
        if _is_claimable(last, wanted):
            seqs.append(last.seq)
        elif (last.actor, last.call_id) != (actor, call_id):
            return []  # somebody else's, or another text
        place = str(MemoryPath.from_relative(path))
        return [
            Event(
                at_us=now_us,
                actor=actor,
                command=_CLAIMED,
                path=place,
                no_change=True,
                call_id=call_id,
                note=f"#{seq} was its {note}, found before it was announced",
            )
            for seq in seqs
            if not self._is_claimed(seq, call_id, place, is_last=seq == last.seq)
        ]

    def _find_steps(self, path: str, last: Event) -> Collection[int]:
        """The events from outside that saw the file empty or away, moments before an event that wrote it."""
        change = next((each for each in last.changes if each.path == path), None)
        absence = find_absence(PathEvents(self._context.journal), last, change) if change is not None else None
        return absence.seqs if absence is not None else ()

    def _is_claimed(self, seq: int, call_id: str, place: str, *, is_last: bool) -> bool:
        """Whether a change is claimed already, or, where it is the path's last, the call was recorded after it."""
        return any(
            each.call_id == call_id and (parse_claim(each) == seq or (is_last and each.path == place))
            for each in self._context.journal.get_events(seq, limit=_LATER)
        )


def _is_claimable(event: Event, wanted: Mapping[str, Collection[str] | None]) -> bool:
    """Whether a change from outside is all that an agent says it did."""
    if not event.is_outside or event.command not in _CLAIMABLE:
        return False
    passing = find_replacements(event).values()
    files = [each for each in event.changes if not each.is_directory and each.path not in passing]
    return bool(files) and all(each.path in wanted and _is_as_wanted(each, wanted[each.path]) for each in files)
