r"""Regular expressions that a person types, matched within a limit of time.

The `re` of Python cannot be interrupted and lets no other thread run meanwhile: `(a|aa)+$` over one line of sixty
letters would freeze the whole screen for minutes. So what was read by `re` is matched by `regex`, which lets others
run, and gives up in time; the lines that it gave up on are counted and told.
"""

import re
import time
from collections.abc import Iterator

from memtui.core.visible import one_line
from memtui.search.found import Span

_A_MATCH = 0.1
"""Seconds that one attempt may take."""
_ALL = 3.0
"""Seconds that all attempts of one search may take that were given up."""
_LOOKS_AROUND = re.compile(r"\(\?(?![:imsxau-]|P<|P=)|\\[AZz]|[*+?}]\+|\\G|\\K")
"""What could match a line alone, and not where it stands among others: looking around, edges of the whole text,
repeats that give nothing back."""

_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<open>\()|(?P<close>\))|\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL
)
_HEAVIEST = 20_000
"""Characters, classes and groups that an expression may have once its repeats are written out: `regex` does so."""


class Pattern:
    """A regular expression within its limits. One is made for each search: it counts what it gave up.

    Args:
        pattern: As it was read; `^` and `$` are the edges of lines.
        a_match: Seconds that one attempt may take.
        in_all: Seconds that the attempts that were given up may take together; afterwards nothing is tried any more.

    Attributes:
        given_up: How many attempts took too long.
        problem: Why it cannot be used at all, as a sentence; empty if it can.
    """

    def __init__(self, pattern: re.Pattern[str], *, a_match: float = _A_MATCH, in_all: float = _ALL) -> None:
        import regex  # deferred: 15 ms that only those wait for who write `re:`

        self.problem = ""
        self.given_up = 0
        self._written = pattern.pattern
        self._seconds = a_match
        self._left = in_all
        flags = regex.VERSION0 | regex.MULTILINE | (regex.IGNORECASE if pattern.flags & re.IGNORECASE else 0)
        self._pattern: regex.Pattern[str] | None = None
        if _weight(pattern.pattern) > _HEAVIEST:
            shown = one_line(self._written)[:60]
            self.problem = f"re: is followed by too large a regular expression: {shown}. Repeat less often"
            self._is_plain = True
            return
        try:
            self._pattern = regex.compile(pattern.pattern, flags)
        except (regex.error, OverflowError, RecursionError, ValueError) as error:
            self.problem = f"re: is followed by no regular expression: {one_line(str(error))}"
        self._is_plain = _LOOKS_AROUND.search(pattern.pattern) is None

    @property
    def sentence(self) -> str:
        """What is to be told of the search; empty if there is nothing."""
        if self.problem or not self.given_up:
            return self.problem
        places = "1 place" if self.given_up == 1 else f"{self.given_up:,} places"
        rest = " Then it was given up." if self._left <= 0 else ""
        shown = one_line(self._written)
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        return f"re:{shown} took too long at {places}, which were left out.{rest} Avoid a repeat in a repeat."

    def may_be_in(self, text: str) -> bool:
        """Whether any line of a text can match: a quick look at all of it."""
        if not self._is_plain:
            return True
        try:
            return self._searched(text) is not None
        except TimeoutError:
            return True  # line by line it may be quick enough

    def search(self, line: str) -> Span | None:
        """Where a line matches first; `None` if it does not, or takes too long."""
        try:
            return self._searched(line)
        except TimeoutError:
            return None

    def spans(self, line: str) -> Iterator[Span]:
        """Everywhere a line matches; a match of nothing is passed over."""
        if self._pattern is None or self._left <= 0:
            return
        try:
            for found in self._pattern.finditer(line, timeout=self._seconds):
                if found.end() > found.start():
                    yield found.span()
        except TimeoutError:
            self._give_up(self._seconds)

    def _searched(self, text: str) -> Span | None:
        if self._pattern is None or self._left <= 0:
            return None
        began = time.perf_counter()
        try:
            found = self._pattern.search(text, timeout=self._seconds)
        except TimeoutError:
            self._give_up(time.perf_counter() - began)
            raise
        return found.span() if found else None

    def _give_up(self, took: float) -> None:
        self.given_up += 1
        self._left -= took


def _weight(pattern: str) -> int:
    """How much has to be kept of an expression: `(ab){3}` is six letters, and as many again for each repeat of it."""
    weights, last = [0], 0
    for piece in _PIECE.finditer(pattern):
        if piece["open"]:
            weights.append(0)
            last = 0
        elif piece["close"]:
            last = weights.pop() if len(weights) > 1 else 0
            weights[-1] += last
        elif piece["least"]:
            times = max(int(piece["least"][:9]), 1)
            weights[-1] += last * (times - 1)
            last *= times
        else:
            last = 1
            weights[-1] += 1
    return max(weights)
