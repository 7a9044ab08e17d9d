"""Statements that were dropped from notes and that nothing says any more.

Rather than to cry at every line that was touched, it takes a statement for kept wherever something near to it stands:
with another bullet, in other letters, in another note, within a longer line, over two lines, with a word or two
exchanged in a long one. What may not differ is what makes a statement that one: its numbers, its names, and whether it
says *not*. Notes in other languages are compared by their words all the same; only the lists of small words are
English, and the commonest words of negation German, French and Spanish as well.

The work grows with the texts, and not with their product: a statement is held against those lines only that share its
rarest words with it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_FEWEST_WORDS = 2
"""Words of a statement, small ones left aside: less says too little to be missed."""
_ONE_IN = 5
"""Of so many words one may be another one in a statement that was put differently."""
_ALIKE = 80.0
"""From which likeness on (0 to 100, by insertions and deletions) two longer words are one with a slip of the pen."""
_LONG_WORD = 5
_RAREST = 4
"""Words of a statement by which lines are looked for that say the same."""
_COMMON = 2_000
"""Lines that hold a word from which on it finds nothing."""
_CANDIDATES = 30
"""Lines that are held against a statement."""
LONGEST = 4_000
"""Characters of a line that are looked at."""

_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_NEGATED = re.compile(r"n['\u2019]t\b")
_NOT = "\x00not"
"""What stands for any word that denies."""
_DENYING_WORDS = (
    "not no never none nothing nobody neither nor without cannot "
    "nicht kein keine keinen keiner keinem nie niemals ohne ne pas jamais sans sin nunca ninguno"
)
_DENYING = frozenset(_DENYING_WORDS.split())
_SMALL_WORDS = (
    "a an the and or but of to in on at by for from with as is are was were be been being am it its this that these "
    "those there here he she they them his her their we our you your i my me do does did done has have had having will "
    "would shall should can could may might must so than then too very also just only when while if about into over "
    "user users please note s t re ve ll d m"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_ENDING_WORDS = "ements ement ations ation ences ence ances ance ings ing edly ies ied es ed ers er ly s e y"
_ENDINGS = tuple(_ENDING_WORDS.split())
_SHORTEST_STEM = 3
_MOST_ENDINGS = 3
"""Endings that one word may have, one behind the other: `meetings`, `preferences`."""
_RULE = re.compile(r"[\s|:=*_~#`+-]*")
"""A line without words: a rule, the line below a table's head, a fence."""
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


class Statement(NamedTuple):
    """A line of a note that says something.

    Attributes:
        line: Which, from 1.
        text: What it says, without space around it.
    """

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A statement that somebody removed.

    Attributes:
        path: Where it stood.
        line: In which line, from 1.
        text: What it said.
        seq: The number of the event that removed it.
        shown: Its line without any secret, also such as only the note tells to be one.
    """

    path: str
    line: int
    text: str
    seq: int
    shown: str = ""


def statements(lines: Sequence[str], at: Iterable[int]) -> Iterator[Statement]:
    """Those of some lines of a note that say something: no headings, rules and fences, no front matter.

    Args:
        lines: All lines of the note.
        at: Positions of those that are asked about, in order.
    """
    start = _behind_front_matter(lines)
    for position in at:
        line = lines[position]
        if position < start or not line or line.isspace():
            continue
        if not (_HEADING.match(line) or _FENCE.match(line) or _RULE.fullmatch(line[:200])):
            yield Statement(position + 1, line[:LONGEST].strip())


def normalised(text: str) -> str:
    """A statement as its words in small letters: bullets, marks, spaces and accents' spelling left aside."""
    return " ".join(_words(text))


def lost(dropped: Sequence[Dropped], notes: Iterable[str]) -> list[Dropped]:
    """What of some statements nothing says any more.

    Args:
        dropped: Statements that were removed.
        notes: The texts of all notes that stand now; taken one by one.
    """
    wanted: dict[str, _Wanted] = {}
    for each in dropped:
        key = normalised(each.text)
        if key not in wanted:
            wanted[key] = _wanted(each.text)
    stems = {stem for each in wanted.values() for stem in each.stems}
    shelf = _Shelf(stems)
    for text in notes:
        shelf.add(text, wanted)
    shelf.settle(wanted.values())
    gone = {key for key, each in wanted.items() if each.is_statement and not each.is_found and not shelf.holds(each)}
    seen: set[tuple[str, str]] = set()
    found = []
    for each in dropped:
        key = normalised(each.text)
        if key in gone and (each.path, key) not in seen:
            seen.add((each.path, key))
            found.append(each)
    return found


@dataclass(slots=True)
class _Wanted:
    """A statement that is looked for.

    Attributes:
        stems: The stems of its words, small ones left aside.
        needed: Those of them that may not be missing: numbers, names, and that it denies something.
        is_found: Whether the very words of it stand somewhere.
    """

    stems: frozenset[str]
    needed: frozenset[str]
    is_found: bool = False

    @property
    def is_statement(self) -> bool:
        return len(self.stems - {_NOT}) >= _FEWEST_WORDS

    @property
    def spare(self) -> int:
        """How many of its words may be others."""
        return len(self.stems) // _ONE_IN


def _wanted(text: str) -> _Wanted:
    plain = _plain(text)
    needed: set[str] = set()
    stems: set[str] = set()
    for at, word in enumerate(_WORD.findall(plain)):
        small = word.casefold()
        if not (stem := _STEMS[small]):
            continue
        stems.add(stem)
        is_name = word != small and (at or word[1:] != small[1:])
        if is_name or stem == _NOT or _DIGIT.search(stem):
            needed.add(stem)
    return _Wanted(frozenset(stems), frozenset(needed))


class _Shelf:
    """The lines of all notes, by their rare words."""

    def __init__(self, stems: set[str]) -> None:
        self._asked = stems
        self._lines: list[tuple[str, ...]] = [()]
        """The stems of each line; nothing between the notes."""
        self._count: Counter[str] = Counter()
        self._at: dict[str, list[int]] = {}

    def add(self, text: str, wanted: dict[str, _Wanted]) -> None:
        """Take in a note."""
        asked = self._asked
        for line in _plain(text).casefold().split("\n"):
            words = _WORD.findall(line[:LONGEST])
            if not words:
                continue
            if (same := wanted.get(" ".join(words))) is not None:
                same.is_found = True
            stems = tuple(stem for word in words if (stem := _STEMS[word]))
            self._lines.append(stems)
            self._count.update(asked.intersection(stems))
        self._lines.append(())

    def settle(self, wanted: Iterable[_Wanted]) -> None:
        """Note where the words stand by which lines are found."""
        chosen = {stem for each in wanted if not each.is_found for stem in self._rarest(each)}
        at: dict[str, list[int]] = {stem: [] for stem in chosen}
        for number, stems in enumerate(self._lines):
            for stem in chosen.intersection(stems):
                at[stem].append(number)
        self._at = at

    def _rarest(self, each: _Wanted) -> list[str]:
        known = [stem for stem in each.stems if stem != _NOT and 0 < self._count[stem] <= _COMMON]
        return sorted(known, key=lambda stem: (self._count[stem], stem))[:_RAREST]

    def holds(self, each: _Wanted) -> bool:
        """Whether something says the same, or it cannot be told."""
        if any(not self._count[stem] for stem in each.needed if stem != _NOT):
            return False
        rarest = self._rarest(each)
        if not rarest:
            return any(self._count[stem] for stem in each.stems if stem != _NOT)
        near: Counter[int] = Counter()
        for stem in rarest:
            near.update(self._at[stem])
        for number, _ in near.most_common(_CANDIDATES):
            line = frozenset(self._lines[number])
            if _says(each, line):
                return True
            denies = _NOT in line and _NOT not in each.stems
            if not denies and _says(each, self._around(number), is_line=False):
                return True
        return False

    def _around(self, number: int) -> frozenset[str]:
        """The words of a line and of those before and behind it, within its note."""
        return frozenset((*self._lines[number - 1], *self._lines[number], *self._lines[number + 1]))


def _says(each: _Wanted, stems: frozenset[str], *, is_line: bool = True) -> bool:
    """Whether words hold all that makes a statement."""
    missing = each.stems - stems
    if missing & each.needed:
        return False
    if is_line and _NOT in stems and _NOT not in each.stems and 2 * len(stems) <= 3 * len(each.stems) + 2:
        return False  # it says the opposite
    if len(missing) <= each.spare:
        return True
    if len(missing) > each.spare + 2:
        return False
    from rapidfuzz import fuzz  # deferred: for start-up cost

    others = [stem for stem in stems - each.stems if len(stem) >= _LONG_WORD]
    slips = sum(
        len(stem) >= _LONG_WORD and any(fuzz.ratio(stem, other) >= _ALIKE for other in others) for stem in missing
    )
    return len(missing) - slips <= each.spare


# Words


class _Stems(dict[str, str]):
    """The stem of each word; empty for a small one. It forgets nothing, so that a word is taken apart once."""

    _MOST = 500_000

    def __missing__(self, word: str) -> str:
        if len(self) > self._MOST:
            self.clear()
        stem = self[word] = _stem(word)
        return stem


def _stem(word: str) -> str:
    if word in _DENYING:
        return _NOT
    if word in _SMALL:
        return ""
    if _DIGIT.search(word):
        return word
    for _ in range(_MOST_ENDINGS):
        ending = next(
            (each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _SHORTEST_STEM), ""
        )
        if not ending:
            break
        word = word.removesuffix(ending)
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == word[-2] else word


_STEMS = _Stems()


def _plain(text: str) -> str:
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _NEGATED.sub(" not", text)


def _words(text: str) -> list[str]:
    return _WORD.findall(_plain(text).casefold())


def _behind_front_matter(lines: Sequence[str]) -> int:
    """The position of the first line that is no front matter."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for at, line in enumerate(lines[1:200], start=1):
        if line.rstrip() in ("---", "..."):
            return at + 1
    return 0
