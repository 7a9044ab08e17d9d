"""How long a note has neither been read by an agent nor changed, and how much of that is known.

An audit and `memtui prune` judge by this, so that no note goes of which the audit says something else.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass

from memtui.audit.prose import is_loaded_unasked
from memtui.audit.reads import Deed, Uses
from memtui.core.visible import one_line
from memtui.engine.history import History
from memtui.notes.index import is_index
from memtui.notes.links import Places, links_of

_DAY_US = 86_400_000_000
_EARLIEST_US = 366 * 11 * _DAY_US
"""A file's time before 1981 is none that anybody wrote at: archives and images of systems set 1970 or 1980 for all."""
_PAGE = 2_000
_HOPS = 5
"""How far files import each other, by Claude Code's documentation ("Manage Claude's memory")."""


@dataclass(frozen=True, slots=True)
class Age:
    """How long nobody has needed a note.

    Attributes:
        us: Since it was last read or changed, in microseconds; never negative.
        read: When an agent last read it; `None` if none did as far as is known.
        change: When it last changed; `None` if only the file's time tells.
        changed_us: When it last changed by whatever tells, in microseconds since 1970.
        watched_us: For how long what agents read was recorded, in microseconds; 0 without a journal.
    """

    us: int
    read: Deed | None
    change: Deed | None
    changed_us: int
    watched_us: int

    @property
    def days(self) -> int:
        """Whole days."""
        return self.us // _DAY_US

    @property
    def known(self) -> str:
        """What it is known by: `journal`, `file time` (nobody recorded), or `both` (the journal is younger than it)."""
        if self.change is not None or self.read is not None:
            return "journal"
        if not self.watched_us:
            return "file time"
        return "journal" if self.watched_us >= self.us else "both"

    @property
    def words(self) -> str:
        """What is known, as a sentence without a full stop."""
        changed = "last changed" if self.change is not None else "last written, by the file's time,"
        since = f"{changed} {ago(self.us if self.read is None else self._change_us)}"
        if self.read is not None:
            return f"last read by {one_line(self.read.who)} {ago(self._read_us)}, {since}"
        if self.change is not None:
            return f"{since}, and no agent has read it since"
        if not self.watched_us:
            return f"{since}; there is no journal, so nobody knows when it was read"
        if self.watched_us < self.us:
            return f"{since}; no agent has read it since memtui began to record, {ago(self.watched_us)}"
        return f"{since}, and no agent has read it since"

    @property
    def _now_us(self) -> int:
        last = max(self.changed_us, self.read.at_us if self.read is not None else self.changed_us)
        return last + self.us

    @property
    def _change_us(self) -> int:
        return self._now_us - self.changed_us

    @property
    def _read_us(self) -> int:
        return self._now_us - (self.read.at_us if self.read is not None else self.changed_us)


def age_of(path: str, uses: Uses, *, mtime_us: int, now_us: int, is_recorded: bool = True) -> Age:
    """How old a note is.

    The journal decides where it knows of a change. Where it does not, because the note was there when memtui first
    looked, or because what stands there now was never recorded, the file's time does; where that is no time at all, it
    is as old as the record.

    Args:
        path: Relative to the folder.
        uses: What the journal knows.
        mtime_us: When the file was last written, in microseconds since 1970.
        now_us: The time.
        is_recorded: Whether what stands there is what the journal says.
    """
    use = uses.of(path)
    change = use.change if is_recorded else None
    if mtime_us < _EARLIEST_US:
        mtime_us = now_us if uses.since_us is None else uses.since_us
    changed_us = change.at_us if change is not None else mtime_us
    last = max(changed_us, use.read.at_us) if use.read is not None else changed_us
    watched_us = max(0, now_us - uses.since_us) if uses.since_us is not None else 0
    return Age(max(0, now_us - last), use.read, change, changed_us, watched_us)


def unrecorded_of(history: History, after: int) -> frozenset[str]:
    """The notes that changed after an event; of an observed folder, those whose change nobody recorded.

    Args:
        history: The record.
        after: The event's number.
    """
    found: set[str] = set()
    while page := history.bodies(after, limit=_PAGE):
        for _, body in page:
            if b'"changes":' in body:
                found.update(change[0] for change in json.loads(body)["changes"])
        after = page[-1][0]
    return frozenset(found)


def loaded_unasked(paths: Collection[str], text_of: Callable[[str], str | None]) -> frozenset[str]:
    """The files that are given to every session, so that nobody is seen to read them; what those import is as well.

    Args:
        paths: All files, relative to the folder.
        text_of: What a file says; `None` for one that cannot be read.
    """
    found = {path for path in paths if is_loaded_unasked(path)}
    waiting = [path for path in found if not is_index(path)]
    places = Places(paths) if waiting else None
    for _ in range(_HOPS):
        here, waiting = waiting, []
        for path in here:
            for link in links_of(text_of(path) or "", path):
                target = places.resolve(link, path) if places is not None and link.kind == "import" else None
                if target is not None and target not in found:
                    found.add(target)
                    waiting.append(target)
    return frozenset(found)


def counted(us: int) -> str:
    """A length of time in its largest unit up to days, such as `1 day`, `300 days` or `5 hours`."""
    for name, length in (("day", _DAY_US), ("hour", _DAY_US // 24)):
        if us >= length:
            return f"{us // length:,} {name}{'s' * (us // length != 1)}"
    count = us // 60_000_000
    return f"{count} minute{'s' * (count != 1)}"


def ago(us: int) -> str:
    """How long ago, such as `300 days ago` or `today`."""
    return f"{counted(us)} ago" if us >= _DAY_US else "today"
