"""How much an audit looks at and tells. A note of 20,000 passwords made a report of 132 MB that nobody can read.

What is left out is a finding, and the rules of its family are no passed check.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

from memtui.audit.model import AuditRule, Hit
from memtui.scan.work_budget import WorkBudgetSpent

LEFT_OUT = "left-out"
IN_FILE = 200
"""Findings of a rule in one file."""
OF_RULE = 2_000
"""Findings of a rule in all files."""
IN_ALL = 10_000
"""Findings of a family."""
_LOOKED_AT, _LOOKED_AT_IN_ALL = 20_000, 100_000
"""Hits of a family in one note, and in the folder as a whole, behind which it looks no further."""
_SECONDS = 4.0
"""Of a processor, that a family may take over one note with many hits."""
_EVERY = 16
"""Hits between two looks at the clock, each of which is a call of the system."""
_NAMED = 50
"""Files of which it is told that findings in them are left out."""


class HitBudget:
    """What is told of a family's hits, and how long it may look at one note.

    Attributes:
        count: The hits so far, those that are not told included.
    """

    def __init__(self, family: str, rules: Mapping[str, AuditRule]) -> None:
        self.count = 0
        self._family = family
        self._rules = rules
        self._of_rule: Counter[str] = Counter()
        self._in_file: Counter[tuple[str, str]] = Counter()
        self._left_out: dict[str, Counter[str]] = {}
        self._cut: dict[str, None] = {}

    @property
    def is_over(self) -> bool:
        """Whether anything is left out."""
        return bool(self._left_out or self._cut)

    def is_cut(self, path: str) -> bool:
        """Whether it did not look at all of a note."""
        return path in self._cut

    def limit(self, hits: Iterator[Hit], path: str) -> Iterator[Hit]:
        """The hits that are told. Of a rule that makes one finding of many hits, all are.

        Raises:
            LookupError: A hit of an unknown rule.
        """
        try:
            if (first := next(hits, None)) is not None:  # of most notes there is none
                yield from self._limit_hits(chain((first,), hits), _LOOKED_AT if path else _LOOKED_AT_IN_ALL)
        except WorkBudgetSpent:
            self._cut[path] = None

    def _limit_hits(self, hits: Iterator[Hit], most: int) -> Iterator[Hit]:
        began = 0.0
        for number, hit in enumerate(hits):
            if number == 0:
                began = time.process_time()  # what was done before, such as reading a repository, makes no hits
            if number >= most or (number % _EVERY == 0 and time.process_time() - began > _SECONDS):
                raise WorkBudgetSpent
            is_together = self._rules[hit.rule].together
            self.count += 1
            if not is_together:
                self._in_file[hit.path, hit.rule] += 1
                is_much = self._of_rule[hit.rule] >= OF_RULE or self._of_rule.total() >= IN_ALL
                if is_much or self._in_file[hit.path, hit.rule] > IN_FILE:
                    self._left_out.setdefault(hit.path, Counter())[hit.rule] += 1
                    continue
                self._of_rule[hit.rule] += 1
            yield hit

    def build_hits(self) -> Iterator[Hit]:
        """What is left out, file by file; of very many files as one."""
        for path in self._cut:
            words = f"the {self._family} rules did not check all of it: it is too large"
            yield Hit(LEFT_OUT, path, words, identity=f"{self._family} cut")
        left_out = list(self._left_out.items())
        for path, counts in left_out[:_NAMED]:
            told = ", ".join(f"{count:,} of {rule}" for rule, count in counts.most_common())
            yield self._build_hit(path, f"too many findings; left out: {told}", counts.total())
        if others := left_out[_NAMED:]:
            count = sum(counts.total() for _, counts in others)
            yield self._build_hit("", f"{count:,} findings in {len(others):,} more files are left out", count)

    def _build_hit(self, path: str, words: str, count: int) -> Hit:
        return Hit(LEFT_OUT, path, words, facts={"family": self._family, "count": count}, identity=self._family)
