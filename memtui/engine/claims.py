"""The writes that agents make with tools of their own: announced before they are found, or claimed a moment after."""

import re
from collections.abc import Collection

from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Event
from memtui.core.paths import MemoryPath, validate_relative_paths
from memtui.engine.context import EngineContext
from memtui.engine.refusals import describe_error
from memtui.journal.announcements import Announcement

_LATE_US = 600_000_000
"""For how long an agent may still say that a change was its own."""
_CLAIMED = "claimed"
CLAIM = re.compile(r"#([0-9]{1,18}) was its ")
"""The note of an event by which an agent claims an external change: the number of that change."""
_LATER = 256
"""Events after a change among which it is looked whether somebody said it already."""


def parse_claim(event: Event) -> int | None:
    """The number of the change from outside that an agent says was its own; `None` for another event."""
    found = CLAIM.match(event.note) if event.command == _CLAIMED else None
    return int(found[1]) if found is not None else None


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
            raise StateUnusable(f"What was announced cannot be kept: {describe_error(error)}.") from error

    def claim(self, path: str, *, actor: Agent, call_id: str, hashes: Collection[str], note: str) -> Event | None:
        """Attribute a change to an agent that was found and recorded as one from outside a moment ago.

        What is recorded stays as it is; the claim is recorded after it, as an event that changed nothing. `hashes` are
        SHA-256 of what the file was to hold, any of these; `note` is such as the tool's name.

        Returns:
            The event; `None` where there is no such change, or where it is known already.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
        """
        validate_relative_paths([path])
        try:
            with self._context.calls.track_change(), self._context.begin_transaction():
                event = self._make_claim(path, actor, call_id, hashes, note)
                if event is None or self._context.read_only:
                    return None
                recorded = self._context.journal.append_events(
                    [self._context.protection.annotate_event(event)], durable=False
                )[-1]
                self._context.calls.mark_changed()
                return recorded
        except OSError as error:
            raise StateUnusable(f"It cannot be recorded: {describe_error(error)}.") from error

    def _make_claim(self, path: str, actor: Agent, call_id: str, hashes: Collection[str], note: str) -> Event | None:
        now_us = self._context.get_now_us()
        last = next(iter(self._context.journal.get_path_events(path, limit=1)), None)
        if last is None or not last.is_outside or last.command not in ("created", "modified"):
            return None
        text = next((change.after for change in last.changes if change.path == path), None)
        after = self._context.journal.get_events(last.seq, limit=_LATER)
        if text is None or text.sha256 not in hashes or now_us - last.at_us > _LATE_US:
            return None
        if any(each.call_id == call_id for each in after):
            return None
        words = f"#{last.seq} was its {note}, found before it was announced"
        place = str(MemoryPath.from_relative(path))
        return Event(
            at_us=now_us, actor=actor, command=_CLAIMED, path=place, no_change=True, call_id=call_id, note=words
        )
