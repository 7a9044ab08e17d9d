"""The chain of hashes followed through its breaks: which events stand as they were written, and what became of others.

A chain that breaks says only that it broke. What stands around the break says more: that an event is missing, stands
there twice, has changed places with another one or was put in, and where the chain goes on.
"""

import json
from collections import deque
from collections.abc import Iterator
from hashlib import sha256

from memtui.journal import chain
from memtui.journal.report import Findings, NotedHead, Run, Weight
from memtui.journal.rows import EventRows, Row


class Following:
    """Follows the chain row by row, and says what is wrong where it does not go on.

    Args:
        rows: The events as they stand there.
        found: Where it is said what is wrong.
        noted: A head that is looked for on the way.

    Attributes:
        number: The number of the last event.
        hash: The chain's hash up to and with it.
        count: How many rows were read.
        noted_at: The number of the event that the noted head is; `None` if it was not met.
    """

    def __init__(self, rows: EventRows, found: Findings, noted: NotedHead | None) -> None:
        self.number = 0
        self.hash = chain.START
        self.count = 0
        self.noted_at: int | None = None
        self._offset = 0
        """How far the rows' numbers are from the events' own, since rows were put in or taken out."""
        self._there = rows
        self._rows = iter(rows)
        self._ahead: deque[Row] = deque()
        self._found = found
        self._noted = noted
        self._body = b""
        self._moved: dict[int, Row] = {}
        self._runs: list[Run] = []
        self._start = 1
        if noted and (noted.seq or 0) == 0 and chain.START.hex().startswith(noted.hash):
            self.noted_at = 0

    def __iter__(self) -> Iterator[tuple[int, bytes, bool]]:
        """Each event's number and body, and whether it follows on the one before."""
        noted, noted_seq = (bytes.fromhex(self._noted.hash[:12]), self._noted.seq) if self._noted else (None, None)
        while row := self._next():
            self.count += 1
            seq, body, hash = row
            is_linked = True
            if sha256(self.hash + body).digest() == hash and seq == self.number + 1 + self._offset:
                self.number += 1
                self.hash = hash
            else:
                verdict = self._explain(row)
                if verdict is None:
                    continue
                body, is_linked = verdict
            self._body = body
            if noted and self.hash.startswith(noted) and (noted_seq is None or noted_seq == self.number):
                self._compare(self.hash.hex())
            yield self.number, body, is_linked
        self._end_run(self.number)

    def runs(self) -> tuple[Run, ...]:
        """The events that follow on each other."""
        return tuple(self._runs)

    def _compare(self, hash: str) -> None:
        if self._noted and hash.startswith(self._noted.hash):
            self.noted_at = self.number

    def _next(self) -> Row | None:
        row = self._ahead.popleft() if self._ahead else next(self._rows, None)
        return self._moved.pop(row.seq, row) if row and self._moved else row

    def _peek(self) -> Row | None:
        if not self._ahead:
            row = next(self._rows, None)
            if row is None:
                return None
            self._ahead.append(row)
        row = self._ahead[0]
        return self._moved.get(row.seq, row)

    def _end_run(self, last: int) -> None:
        if last >= self._start:
            self._runs.append(Run(self._start, last))

    def _say(self, text: str, seq: int) -> None:
        self._found.add(Weight.EVENT, text, seq, sort="chain")

    def _explain(self, row: Row) -> tuple[bytes, bool] | None:
        """What is wrong with a row. Returns the body to go on with, unless the row does not belong there at all."""
        seq, body, hash = row
        own, number = _number_in(body), self.number + 1
        correct = chain.link(self.hash, body)
        if correct == hash:
            self._say(f"Event {number:,} stands at number {seq:,}: the rows were numbered anew.", number)
            self._offset = seq - number
            self.number, self.hash = number, hash
            return body, True
        if self._stands_twice(row, own):
            self._say(f"Event {own:,} stands there twice, again at number {seq:,}.", own or number)
            self._skip()
            return None
        if own is not None and own > number and (swapped := self._swapped(row, own)):
            return swapped
        following = self._peek()
        at = seq - self._offset
        if own is not None and own > number and (own == at or (following and _number_in(following.body) == own + 1)):
            self._miss(own, seq)
            self.hash = hash
            return body, False
        if at > number:
            self._miss(at, seq)
            self.hash = hash
            return body, False
        if following and chain.link(self.hash, following.body) == following.hash:
            self._say(f"The row at number {seq:,} does not belong to the chain: it was put in.", number)
            self._skip()
            return None
        if following and chain.link(correct, following.body) == following.hash:
            self._say(f"The hash of event {number:,} was changed; the event itself is as it was.", number)
            self.number, self.hash = number, correct
            return body, True
        self._say(_changed(number, own, is_last=following is None, is_first=self.number == 0), number)
        self._end_run(self.number)
        self.number, self.hash, self._start = number, hash, number + 1
        self._offset = seq - number
        return body, False

    def _skip(self) -> None:
        """Go on behind a row that does not belong there: the others were numbered anew, or not."""
        following = self._peek()
        if following:
            self._offset = following.seq - (_number_in(following.body) or self.number + 1)

    def _stands_twice(self, row: Row, own: int | None) -> bool:
        if own is None or not 0 < own <= self.number:
            return False
        twin = self._body if own == self.number else getattr(self._there.at(own + self._offset), "body", None)
        return twin == row.body

    def _swapped(self, row: Row, own: int) -> tuple[bytes, bool] | None:
        """Whether this row and the one at its own number have changed places; with their hashes, or without."""
        number = self.number + 1
        other = self._there.at(own + self._offset)
        if other is None or _number_in(other.body) != number:
            return None
        link = chain.link(self.hash, other.body)
        if link not in (row.hash, other.hash):
            return None
        self._say(f"Events {number:,} and {own:,} have changed places.", number)
        self._moved[other.seq] = Row(other.seq, row.body, row.hash if link == other.hash else other.hash)
        self.number, self.hash = number, link
        return other.body, True

    def _miss(self, own: int, seq: int) -> None:
        """The events up to one are not there."""
        first, last = self.number + 1, own - 1
        many = f"Event {first:,} is" if first == last else f"Events {first:,} to {last:,} are"
        self._say(f"{many} missing, so that event {own:,} itself cannot be checked.", first)
        self._end_run(self.number)
        self.number, self._start, self._offset = own, own + 1, seq - own


def _changed(number: int, own: int | None, *, is_last: bool, is_first: bool) -> str:
    if own is None:
        return f"Event {number:,} was changed: it cannot be understood any more, and its hash does not match."
    if own != number:
        return f"Event {number:,} was changed, or another put in its place: its hash does not match."
    if is_last:
        return f"Event {number:,}, the last one, was changed or does not belong to the chain: its hash does not match."
    rewritten = "" if is_first else ", unless those before it were rewritten"
    return f"Event {number:,} was changed: its hash does not match{rewritten}."


def _number_in(body: bytes) -> int | None:
    """The number that an event gives itself."""
    try:
        number = json.loads(body)["seq"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return number if type(number) is int else None
