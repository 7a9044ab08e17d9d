"""What a check of the record finds, as values: how much each finding matters, what became of events and texts.

And what a repair made anew.
"""

import re
from collections import Counter
from enum import IntEnum
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import format_count

SHOWN = 10
"""Findings of one sort that are told each by itself; the others are counted."""
_HEAD = re.compile(r"(?:(\d{1,18})[ :])?\s*([0-9a-f]{12,64})", re.ASCII)


class FindingWeight(IntEnum):
    """How much a finding matters: the lower, the more."""

    EVENT = 1
    """An event was changed, is missing, or does not belong there."""
    TEXT = 2
    FILE = 3
    GUARD = 4
    """What keeps events from being changed was taken away."""
    STATE = 5
    """What is noted to stand at a path, or to guard it, is not what the events left; it can be made again."""
    INDEX = 6
    """What is made from the events disagrees with them; it can be made again, and nothing is lost."""


@dataclass(frozen=True, slots=True)
class JournalFinding:
    """Something that is not as it was recorded: a sentence, and the number of the event that it is about."""

    weight: FindingWeight
    text: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class EventRun:
    """Neighbouring events, from a first to a last number, each of which follows on the one before it."""

    first: int
    last: int


@dataclass(slots=True)
class TextCounts:
    """Counts of the texts that events name by their hashes.

    Attributes:
        damaged: How many were changed, or cannot be unpacked.
        missing: How many are not there without a recorded reason.
        redacted: How many are not there because they were redacted.
        unnamed: Texts besides, which no event names; a crash can leave one.
    """

    named: int = 0
    intact: int = 0
    damaged: int = 0
    missing: int = 0
    redacted: int = 0
    unnamed: int = 0


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of verifying a journal: the chain's last number and hash (hexadecimal), texts, and what is wrong.

    Attributes:
        runs: The events that follow on each other. The first run begins with event 1 and is intact; a later one only
            hangs together in itself.
        versions: The texts that paths once held.
        words: The answers and arguments of events.
        findings: What is wrong, what matters most first.
        remarks: What is odd, and no proof of anything.
        since: How many events were recorded since the noted head; `None` if none was given, or it is not there.
    """

    seq: int
    hash: str
    events: int
    runs: tuple[EventRun, ...]
    versions: TextCounts
    words: TextCounts
    findings: tuple[JournalFinding, ...]
    remarks: tuple[str, ...]
    since: int | None = None

    @property
    def is_intact(self) -> bool:
        return not self.findings

    @property
    def intact_until(self) -> int:
        """The number of the last event before the first break; 0 if there is none."""
        return self.runs[0].last if self.runs and self.runs[0].first == 1 else 0


class NotedHead(NamedTuple):
    """A head that was noted elsewhere: the beginning of its hash, in hexadecimal, and its number if noted as well."""

    seq: int | None
    hash: str

    @classmethod
    def parse(cls, text: str) -> "NotedHead":
        """Read `HASH`, `SEQ HASH` or `SEQ:HASH`, the hash with 12 digits at least; raises `ValueError`."""
        match = _HEAD.fullmatch(text.strip().lower())
        if match is None:
            raise ValueError(f"{text!r} is not a head. Write NUMBER:HASH, with at least 12 digits of the hash")
        return cls(int(match[1]) if match[1] else None, match[2])


class JournalFindings:
    """Findings as they come; of many of one sort only the first are kept, and the others counted."""

    def __init__(self) -> None:
        self._kept: list[JournalFinding] = []
        self._counts: Counter[tuple[FindingWeight, str]] = Counter()

    def add(self, weight: FindingWeight, text: str, seq: int | None = None, *, sort: str = "") -> None:
        """Note a fault, as a sentence; `sort` is what it is counted with, among those of its weight."""
        self._counts[weight, sort] += 1
        if self._counts[weight, sort] <= SHOWN:
            self._kept.append(JournalFinding(weight, text, seq))

    def __contains__(self, weight: FindingWeight) -> bool:
        return any(finding.weight is weight for finding in self._kept)

    def get_all(self) -> tuple[JournalFinding, ...]:
        more = [
            JournalFinding(weight, f"And {count - SHOWN:,} more like these.")
            for (weight, _), count in self._counts.items()
            if count > SHOWN
        ]
        return tuple(sorted([*self._kept, *more], key=lambda finding: finding.weight))


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was made anew.

    Attributes:
        paths: Where something else was noted to stand than the events left there.
        tables: The tables and indexes of which something was not what the events say, by name.
        guards: The triggers and indexes that were missing, or changed, by name.
    """

    paths: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()

    def describe(self) -> str:
        """What was made anew, in a few words; empty if nothing was."""
        parts = [f"the state of {format_count(len(self.paths), 'path')}"] if self.paths else []
        parts += [f"the table {table}" for table in self.tables if table != "known"]
        parts += [f"the guard {name}" for name in self.guards]
        return ", ".join(parts)

    def __bool__(self) -> bool:
        return bool(self.paths or self.tables or self.guards)
