"""What a check of the record finds, as values: how much each finding matters, and what became of events and texts."""

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

SHOWN = 10
"""Findings of one sort that are told each by itself; the others are counted."""
_HEAD = re.compile(r"(?:(\d{1,18})[ :])?\s*([0-9a-f]{12,64})", re.ASCII)


class Weight(IntEnum):
    """How much a finding matters: the lower, the more."""

    EVENT = 1
    """An event was changed, is missing, or does not belong there."""
    TEXT = 2
    """A text was changed or is missing."""
    FILE = 3
    """The database is damaged."""
    GUARD = 4
    """What keeps events from being changed was taken away."""
    INDEX = 5
    """What is made from the events disagrees with them; it can be made again, and nothing is lost."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was recorded.

    Attributes:
        weight: How much it matters.
        text: What is wrong, as a sentence.
        seq: The number of the event that it is about, if it is about one.
    """

    weight: Weight
    text: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring events, each of which follows on the one before it.

    Attributes:
        first: The number of the first.
        last: The number of the last.
    """

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Texts:
    """What became of texts that events name by their hashes.

    Attributes:
        named: How many there are.
        intact: How many are there, and the right ones.
        damaged: How many were changed, or cannot be unpacked.
        missing: How many are not there, and nobody recorded why.
        redacted: How many are not there because they were redacted.
        unnamed: Texts besides, which no event names; a crash can leave one.
    """

    named: int = 0
    intact: int = 0
    damaged: int = 0
    missing: int = 0
    redacted: int = 0
    unnamed: int = 0

    @property
    def kept(self) -> int:
        """How many are there, right or not."""
        return self.intact + self.damaged


@dataclass(frozen=True, slots=True)
class Report:
    """What a check of the record has found.

    Attributes:
        seq: The number of the last event.
        hash: The chain's hash up to and with it, in hexadecimal.
        events: How many events were read.
        runs: Which of them follow on each other. The first run begins with event 1 and is intact; a later one only
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
    runs: tuple[Run, ...]
    versions: Texts
    words: Texts
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    since: int | None = None

    @property
    def is_intact(self) -> bool:
        """Whether all is as it was recorded."""
        return not self.findings

    @property
    def intact_until(self) -> int:
        """The number of the last event before the first break; 0 if there is none."""
        return self.runs[0].last if self.runs and self.runs[0].first == 1 else 0


class NotedHead(NamedTuple):
    """A head that somebody noted down.

    Attributes:
        seq: Its number, if that was noted as well.
        hash: The beginning of its hash, in hexadecimal.
    """

    seq: int | None
    hash: str

    @classmethod
    def of(cls, text: str) -> "NotedHead":
        """Read it as it was noted: `HASH`, `SEQ HASH` or `SEQ:HASH`, the hash with 12 digits at least.

        Raises:
            ValueError: It is none of these.
        """
        match = _HEAD.fullmatch(text.strip().lower())
        if match is None:
            raise ValueError(f"{text!r} is no head: it is noted as NUMBER:HASH, with 12 digits of the hash or more")
        return cls(int(match[1]) if match[1] else None, match[2])


class Findings:
    """Findings as they come; of many of one sort only the first are kept, and the others counted."""

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self._more: dict[tuple[Weight, str], int] = {}
        self._count: dict[tuple[Weight, str], int] = {}

    def add(self, weight: Weight, text: str, seq: int | None = None, *, sort: str = "") -> None:
        """Note something that is wrong.

        Args:
            weight: How much it matters.
            text: What is wrong, as a sentence.
            seq: The number of the event that it is about, if it is about one.
            sort: What it is counted with, among those of its weight.
        """
        key = (weight, sort)
        self._count[key] = self._count.get(key, 0) + 1
        if self._count[key] <= SHOWN:
            self._kept.append(Finding(weight, text, seq))
        else:
            self._more[key] = self._more.get(key, 0) + 1

    def __contains__(self, weight: Weight) -> bool:
        """Whether there is a finding of a weight."""
        return any(finding.weight is weight for finding in self._kept)

    def all(self) -> tuple[Finding, ...]:
        """All of them, what matters most first."""
        more = [Finding(weight, f"And {count:,} more like these.") for (weight, _), count in self._more.items()]
        return tuple(sorted([*self._kept, *more], key=lambda finding: finding.weight))
