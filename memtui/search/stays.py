"""Lines of versions, each from its coming to its going, the newest news first.

A line stands from the first version that holds it to the first one that does not: wherever it moves within the note
meanwhile, and whatever the note is called. So there is no need to compare versions but by the lines that match. Where a
version in between is not kept any more, the line is taken to have been in it if it is on both sides.

Whoever types a letter sees two hundred lines of a million, so the versions are looked at from the newest back, those of
all notes together, and no further than is needed.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator
from functools import cached_property
from heapq import heapify, heappop, heapreplace

from memtui.search.differences import Differences
from memtui.search.record import NOTHING, Step, Thing
from memtui.search.shelf import Shelf
from memtui.search.wanted import Lines, Text, Wanted


class Matching:
    """The texts that hold the words, and those of their lines that match, as far as somebody asked.

    Args:
        shelf: All texts that were looked through.
        hashes: Those that hold the words, by SHA-256.
        wanted: What is looked for.
        differences: In which lines two of them differ.
    """

    def __init__(self, shelf: Shelf, hashes: Collection[str], wanted: Wanted, differences: Differences) -> None:
        self.hashes = frozenset(hashes)
        self.known: Container[object] = shelf
        self._shelf = shelf
        self._wanted = wanted
        self._differences = differences
        self._lines: dict[str, Lines] = {}

    def text(self, sha256: str) -> Text:
        """One of them; without any lines if it was removed a moment ago."""
        return self._shelf.get(sha256) or Text(b"")

    def lines(self, sha256: str) -> Lines:
        """The lines of one of them."""
        if sha256 not in self._lines:
            self._lines[sha256] = self._wanted.lines_of(self.text(sha256))
        return self._lines[sha256]

    def are_alike(self, old: str, new: str) -> bool:
        """Whether two texts that hold the words do not differ by any line that holds all of them, as far as can be told
        quickly.
        """
        if old not in self.hashes or new not in self.hashes:
            return False
        differing = self._differences.between(old, new)
        return differing is not None and not any(map(self._wanted.may_be_on_a_line_of, differing))


class Stay:
    """A line from its coming to its going.

    Args:
        versions: Of the thing that held it.
        line: Without its end.
        count: Which one of equal lines it is, from 1.
        gone_at: The place of the first version without it; `None` if the newest one holds it.
        last: The number of the event in which something happened to it last.

    Attributes:
        thing: What held it.
        line: As given.
        last: As given.
    """

    __slots__ = ("_came_at", "_count", "_gone_at", "_versions", "last", "line")

    def __init__(self, versions: "_Versions", line: bytes, count: int, gone_at: int | None, last: int) -> None:
        self._versions = versions
        self._count = count
        self._gone_at = gone_at
        self._came_at: int | None = None
        self.line = line
        self.last = last

    @property
    def thing(self) -> Thing:
        """What held it."""
        return self._versions.thing

    @property
    def came(self) -> Step:
        """What brought it."""
        return self._versions.steps[self._first()]

    @property
    def went(self) -> Step | None:
        """What took it away; `None` if it still stands."""
        return None if self._gone_at is None else self._versions.steps[self._gone_at]

    @property
    def number(self) -> int:
        """Its number in the version that brought it, from 1."""
        return self._versions.numbers(self._first(), self.line)[self._count - 1]

    def _first(self) -> int:
        if self._came_at is None:
            end = len(self._versions.steps) if self._gone_at is None else self._gone_at
            self._came_at = self._versions.first_with(self.line, self._count, end - 1)
        return self._came_at


class _Versions:
    """The versions of a thing that can be told apart, the oldest first.

    Args:
        thing: Which.
        matching: The texts that match.
        only_gone: Whether lines that hold only some of the words are left out.
    """

    def __init__(self, thing: Thing, matching: Matching, *, only_gone: bool) -> None:
        self.thing = thing
        self.steps: list[Step] = []
        previous: str | None = NOTHING
        for step in thing.steps:
            sha256 = step.sha256
            if sha256 == previous or sha256 is None or (sha256 != NOTHING and sha256 not in matching.known):
                continue  # only a new name, or a text that is not kept
            previous = sha256
            self.steps.append(step)
        self._matching = matching
        self._only_gone = only_gone
        self._numbered: dict[int, dict[bytes, list[int]]] = {}
        self._alike: dict[int, bool] = {}
        self._floor: Counter[bytes] = Counter()
        """How many of each line have stood ever since the version that was looked at last."""

    def backwards(self) -> Iterator[tuple[int, list[Stay]]]:
        """What happened to lines, the last event first: its number, and the lines that came for good, or went."""
        end = len(self.steps) - 1
        if end >= 0:
            self._floor = self._counted(end)
        for at in range(end, -1, -1):
            before_is_empty = at == 0 or self._is_empty(at - 1)
            if before_is_empty and (self._only_gone or self._is_empty(at)):
                self._floor = Counter() if before_is_empty else self._floor
                continue
            if self._is_like_before(at):
                continue
            now = self._counted(at)
            before = Counter() if at == 0 else self._counted(at - 1)
            seq = self.steps[at].seq
            stays = [
                Stay(self, line, count, at, seq)
                for line, held in before.items()
                for count in range(now[line] + 1, held + 1)
            ]
            if not self._only_gone:
                stays += [
                    Stay(self, line, count, None, seq)
                    for line, stands in self._floor.items()
                    for count in range(before[line] + 1, stands + 1)
                ]
            self._floor = Counter(
                {line: min(stands, before[line]) for line, stands in self._floor.items() if before[line]}
            )
            if stays:
                yield seq, stays

    def first_with(self, line: bytes, count: int, at: int) -> int:
        """The first version of those up to a place, without a break, that hold a line so many times."""
        while at > 0 and (self._is_like_before(at) or self._held(at - 1, line) >= count):
            at -= 1
        return at

    def numbers(self, at: int, line: bytes) -> list[int]:
        """The numbers of the lines of a version that are this one."""
        return self._lines(at)[line]

    def _held(self, at: int, line: bytes) -> int:
        return 0 if self._is_empty(at) else len(self._lines(at).get(line, ()))

    def _counted(self, at: int) -> Counter[bytes]:
        return Counter({line: len(numbers) for line, numbers in self._lines(at).items()})

    def _is_empty(self, at: int) -> bool:
        return self.steps[at].sha256 not in self._matching.hashes

    def _is_like_before(self, at: int) -> bool:
        """Whether a version holds the same lines that match as the one before it, as far as can be told quickly."""
        if at not in self._alike:
            self._alike[at] = (
                at > 0 and self._holds_all and self._matching.are_alike(self._sha256(at - 1), self._sha256(at))
            )
        return self._alike[at]

    def _sha256(self, at: int) -> str:
        sha256 = self.steps[at].sha256
        assert sha256 is not None
        return sha256

    def _lines(self, at: int) -> dict[bytes, list[int]]:
        """The lines of a version that match, each with its numbers from 1."""
        if at not in self._numbered:
            self._numbered[at] = {}
            sha256 = self._sha256(at)
            if sha256 in self._matching.hashes:
                lines = self._matching.lines(sha256)
                if lines.hold_all or not self._holds_all:
                    split = self._matching.text(sha256).data.split(b"\n")
                    for number in lines.numbers:
                        self._numbered[at].setdefault(split[number].removesuffix(b"\r"), []).append(number + 1)
        return self._numbered[at]

    @cached_property
    def _holds_all(self) -> bool:
        """Whether only lines that hold all words are told: if any version has one."""
        hashes = {step.sha256 for step in self.steps if step.sha256 in self._matching.hashes}
        return self._only_gone or any(self._matching.lines(sha256).hold_all for sha256 in hashes if sha256)


def stays(things: Iterable[Thing], matching: Matching, *, only_gone: bool) -> Iterator[Stay]:
    """The lines that match, the one to which something happened last first.

    Args:
        things: What held them.
        matching: The texts that match.
        only_gone: Whether those are left out that never went, and those that hold only some of the words.
    """
    runs: list[tuple[int, int, list[Stay], Iterator[tuple[int, list[Stay]]]]] = []
    waiting = sorted(things, key=lambda thing: thing.steps[-1].seq)
    number = 0
    while runs or waiting:
        while waiting and (not runs or waiting[-1].steps[-1].seq >= -runs[0][0]):
            run = _Versions(waiting.pop(), matching, only_gone=only_gone).backwards()
            if (first := next(run, None)) is not None:
                number += 1
                runs.append((-first[0], number, first[1], run))
                heapify(runs)
        if not runs:
            return
        _, its, found, run = runs[0]
        yield from found
        if (after := next(run, None)) is None:
            heappop(runs)
        else:
            heapreplace(runs, (-after[0], its, after[1], run))
