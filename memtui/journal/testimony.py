"""What the events say: which texts there are, what was redacted, and what stands where.

Each event tells what stood at its paths before it. Held against what the events before it left there, that shows an
event which was chained well and does not belong there.
"""

from typing import Any

from memtui.core.events import ABORTED, RECOVERED
from memtui.journal.report import SHOWN

_SLIP_US = 1_000_000
"""Microseconds by which a clock may run backwards before it is remarked upon."""
_ANYTHING: Any = object()


class Testimony:
    """What the events say.

    Attributes:
        named: The number of the first event that names a text, by the text's SHA-256.
        redacted: SHA-256 of the texts that were redacted.
        touched: A sum over which event touched which path, the same in any order.
        touched_count: Of how many such pairs.
        taken_back: A sum over which event took which one back.
        taken_back_count: Of how many such pairs.
    """

    def __init__(self) -> None:
        self.named: dict[str, int] = {}
        self.redacted: set[str] = set()
        self.touched = self.touched_count = 0
        self.taken_back = self.taken_back_count = 0
        self._standing: dict[str, Any] = {}
        self._is_certain = True
        self._at_us: int | None = None
        self._slips = 0
        self._first_slip = 0
        self._jumps: list[tuple[int, str]] = []
        self._jump_count = 0
        self._there: set[str] = set()

    def learn(self, seq: int, record: dict[str, Any]) -> None:
        """Take in an event."""
        # A recovered one has the time at which it was begun, and may begin from a text that the crash kept from being
        # recorded; of several paths perhaps only some came to pass.
        note = record.get("note", "")
        is_recovered = note == ABORTED or note.startswith(RECOVERED)
        at_us = record["at_us"]
        if not is_recovered:
            if self._at_us is not None and at_us < self._at_us - _SLIP_US:
                self._slips += 1
                self._first_slip = self._first_slip or seq
            self._at_us = at_us
        viewed = record.get("viewed")
        if viewed is not None and viewed[1] is not None:
            self.named.setdefault(viewed[1], seq)
        if "redacted" in record:
            self.redacted.update(record["redacted"])
        changes = record.get("changes", ())
        if "undoes" in record and (changes or not record.get("is_error", False)):
            for each in record["undoes"]:
                self.taken_back += hash((each, seq))
                self.taken_back_count += 1
        if changes:
            self._follow(seq, record, changes, is_recovered=is_recovered)

    def _follow(self, seq: int, record: dict[str, Any], changes: list[Any], *, is_recovered: bool) -> None:
        named, standing = self.named, self._standing
        after_all: dict[str, Any] = {}
        for path, before, after in changes:
            if before is not None and before[1] is not None:
                named.setdefault(before[1], seq)
            if after is not None and after[1] is not None:
                named.setdefault(after[1], seq)
            was = standing.get(path, None if self._is_certain else _ANYTHING)
            if was != before and not is_recovered and path not in after_all and not _may_follow(was, before, after):
                self._jump_count += 1
                if len(self._jumps) < SHOWN:
                    self._jumps.append((seq, path))
            if after is not None or path not in after_all:
                after_all[path] = after
        for path in after_all:
            self.touched += hash((path.encode("utf-8", "surrogateescape"), seq))
        self.touched_count += len(after_all)
        if record.get("is_error"):
            after_all = dict.fromkeys(after_all, _ANYTHING)  # nobody knows whether it came to pass
        standing.update(after_all)

    def lose_track(self) -> None:
        """What stands where is not known any more: events are missing, or were changed."""
        self._standing.clear()
        self._is_certain = False

    def see(self, name: str) -> None:
        """A text is there."""
        self._there.add(name)

    def remarks(self, intents: int) -> list[str]:
        """What is odd about the events, and proves nothing."""
        said = []
        if self._jumps:
            seq, path = self._jumps[0]
            more = f", and {self._jump_count - 1:,} more like it" if self._jump_count > 1 else ""
            said.append(
                f"Event {seq:,} begins with something else at {path or '/memories'} than the events before it left "
                f"there{more}."
            )
        if self._slips:
            times = "once" if self._slips == 1 else f"{self._slips:,} times"
            said.append(f"The clock runs backwards {times}, first at event {self._first_slip:,}.")
        there = len(self.redacted & self._there)
        if there:
            texts = "text that was redacted is" if there == 1 else "texts that were redacted are"
            said.append(f"{there:,} {texts} there: recorded again, or not removed.")
        if intents:
            commands = "command was" if intents == 1 else "commands were"
            said.append(f"{intents:,} {commands} begun and not finished: under way now, or ended by a crash.")
        return said


def _may_follow(was: Any, before: Any, after: Any) -> bool:
    """Whether an event may begin with this version where another one was left.

    Texts that could not be read differ, and a directory is made again of which nobody saw that it went.
    """
    if was is _ANYTHING:
        return True
    if before is None:
        return after is not None and after[0] == "directory"
    if was is None or was[0] != before[0] or was[0] not in ("file", "link"):
        return False
    return was[1] is None or before[1] is None
