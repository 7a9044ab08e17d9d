"""What agents say of files that they write with tools of their own: before it is found, or a moment after.

Without it every such change would be one from outside, by nobody knows whom.
"""

import re
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Event
from memtui.core.paths import MemoryPath
from memtui.engine.faults import reason_of
from memtui.engine.protecting import Protection
from memtui.journal.announced import Announcement, Announcements
from memtui.journal.sqlite import Journal
from memtui.store.base import Transaction

_LATE_US = 600_000_000
"""For how long an agent may still say that a change was its own."""
_CLAIMED = "claimed"
_CLAIM = re.compile(r"#([0-9]{1,18}) was its ")
_LATER = 256
"""Events after a change among which it is looked whether somebody said it already."""


def claimed_in(event: Event) -> int | None:
    """The number of the change from outside that an agent says was its own; `None` for another event."""
    found = _CLAIM.match(event.note) if event.command == _CLAIMED else None
    return int(found[1]) if found is not None else None


class Announcer:
    """Takes what agents say of their own writes.

    Args:
        announced: Where it is kept until the change is found.
        journal: Where the changes are recorded.
        protection: What no agent may change; it is noted if one did.
        read_only: Whether nothing may be recorded.
        now_us: Tells the time, in microseconds since 1970.
        writing: Takes the writer lock.
        recorded: Told once something was recorded.
    """

    def __init__(
        self,
        announced: Announcements,
        journal: Journal,
        protection: Protection,
        *,
        read_only: Callable[[], bool],
        now_us: Callable[[], int],
        writing: Callable[[], AbstractContextManager[Transaction]],
        recorded: Callable[[], None],
    ) -> None:
        self._announced = announced
        self._journal = journal
        self._protection = protection
        self._read_only = read_only
        self._now_us = now_us
        self._writing = writing
        self._recorded = recorded

    def announce(self, path: str, *, actor: Agent, call_id: str, sha256: str | None, note: str, until_us: int) -> None:
        """See `Engine.announce`."""
        hashes = () if sha256 is None else (sha256,)
        try:
            self._announced.add(Announcement(path, actor, call_id, hashes, note, self._now_us(), until_us))
        except OSError as error:
            raise StateUnusable(f"What was announced cannot be kept: {reason_of(error)}.") from error

    def tell_late(self, path: str, *, actor: Agent, call_id: str, hashes: Collection[str], note: str) -> Event | None:
        """See `Engine.tell_late`."""
        try:
            with self._writing():
                event = self._told_late(path, actor, call_id, hashes, note)
                if event is None or self._read_only():
                    return None
                recorded = self._journal.append([self._protection.touched(event)], durable=False)[-1]
                self._recorded()
                return recorded
        except OSError as error:
            raise StateUnusable(f"It cannot be recorded: {reason_of(error)}.") from error

    def _told_late(self, path: str, actor: Agent, call_id: str, hashes: Collection[str], note: str) -> Event | None:
        now_us = self._now_us()
        last = next(iter(self._journal.events_of(path, limit=1)), None)
        if last is None or not last.is_outside or last.command not in ("created", "modified"):
            return None
        text = next((change.after for change in last.changes if change.path == path), None)
        after = self._journal.events(last.seq, limit=_LATER)
        if text is None or text.sha256 not in hashes or now_us - last.at_us > _LATE_US:
            return None
        if any(each.call_id == call_id for each in after):
            return None
        words = f"#{last.seq} was its {note}, found before it was announced"
        place = str(MemoryPath.of(path))
        return Event(
            at_us=now_us, actor=actor, command=_CLAIMED, path=place, no_change=True, call_id=call_id, note=words
        )
