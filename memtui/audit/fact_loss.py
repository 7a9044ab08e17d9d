"""Facts lost: statements that were dropped from notes and that no note says any more.

A statement is kept wherever a near one stands: with another bullet or case, in another note, within a longer line, over
two lines, or with a word or two exchanged in a long one. Its numbers, its names and its negation may not differ. A
statement is compared only with lines that share its rarest words. Lists of small words are English.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass

_FEWEST_WORDS = 2  # words of a statement, small ones left aside: less says too little to be missed
_ONE_IN = 5  # of so many words one may be another one in a statement that was put differently
_ALIKE = 80.0
"""From which likeness on (0 to 100, by insertions and deletions) two longer words are one with a slip of the pen."""
_LONG_WORD = 5
_RAREST = 4  # words of a statement by which lines are looked for that say the same
_COMMON = 2_000  # lines that hold a word from which on it finds nothing
_CANDIDATES = 30  # lines that are held against a statement
LONGEST = 4_000
"""Characters of a line that are looked at."""

_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_DIGIT = re.compile(r"\d")
_NEGATED = re.compile(r"n['\u2019]t\b")
_SHORTENED = re.compile(r"['\u2019](?:s|re|ve|ll|d|m)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_UNIT = re.compile(r"(?<!\w)(\d+)(?=[^\W\d_]{1,3}\b)")
"""A number with its unit, or the ending of an ordinal number, right behind it."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?,?\s{{1,3}}"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|\.)?,?\s{1,3}"
_DATE = re.compile(
    rf"\b(?:(\d{{4}})-(\d\d?)-(\d\d?)|(\d\d?)\.(\d\d?)\.(\d{{4}})|{_DAY}(?:of\s)?{_MONTH}(\d{{4}})|{_MONTH}{_DAY}(\d{{4}}))"
    r"(?!\d)",
    re.IGNORECASE,
)
_NOT = "\x00not"  # what stands for any word that denies
_DENYING_WORDS = (
    "not no never none nothing nobody neither nor without cannot instead "
    "nicht kein keine keinen keiner keinem nie niemals ohne ne pas jamais sans sin nunca ninguno"
)
_DENYING = frozenset(_DENYING_WORDS.split())
_SMALL_WORDS = (
    "a an the and or but of to in on at by for from with as is are was were be been being am it its this that these "
    "those there here he she they them his her their we our you your i my me do does did done has have had having will "
    "would shall should can could may might must so than then too very also just only when while if about into over "
    "user users please note t ca wo use uses used using strongly really st nd rd th"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_NUMBER_WORDS = (
    "two three four five six seven eight nine ten eleven twelve",
    "- third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
)
_NUMBERS = {word: str(number) for words in _NUMBER_WORDS for number, word in enumerate(words.split(), start=2)}
_ENDING_WORDS = "ements ement ations ation ences ence ances ance ings ing edly ies ied es ed ers er ly s e y"
_ENDINGS = tuple(_ENDING_WORDS.split())
_SHORTEST_STEM = 3
_MOST_ENDINGS = 3  # endings that one word may have, one behind the other: `meetings`, `preferences`
_LISTING = re.compile(r"\s{0,9}(?:[,;/&+]|,?\s*(?:and|or)\b)\s*")
"""What stands between two things of which it does not matter which comes first."""
_YEAR = re.compile(r"\d{4}")
_MOST_PARTS = 30  # lines before and behind one that may say parts of one statement
_RULE = re.compile(r"[\s|:=*_~#`+-]*")  # A line without words: a rule, the line below a table's head, a fence
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


class Statement(NamedTuple):
    """A line of a note that says something."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class DroppedStatement:
    """A statement that somebody removed."""

    path: str
    line: int
    text: str
    seq: int


def find_statements(lines: Sequence[str], at: Iterable[int]) -> Iterator[Statement]:
    """Those of some lines of a note that say something: no headings, rules and fences, no front matter."""
    start = _find_body_start(lines)
    for position in at:
        line = lines[position]
        if position < start or not line or line.isspace():
            continue
        if not (_HEADING.match(line) or _FENCE.match(line) or _RULE.fullmatch(line[:200])):
            yield Statement(position + 1, line[:LONGEST].strip())


def normalize_statement(text: str) -> str:
    """A statement as its words in small letters: bullets, marks, spaces and accents' spelling left aside."""
    return " ".join(_split_words(text))


def find_lost_statements(dropped: Sequence[DroppedStatement], notes: Iterable[str]) -> list[DroppedStatement]:
    """What of some statements nothing says any more."""
    keys = [normalize_statement(each.text) for each in dropped]
    wanted: dict[str, _SoughtStatement] = {}
    for key, each in zip(keys, dropped, strict=True):
        if key not in wanted:
            wanted[key] = _build_sought_statement(each.text)
    stems = {stem for each in wanted.values() for stem in each.stems}
    shelf = _StatementIndex(stems)
    for text in notes:
        shelf.add_note(text, wanted)
    shelf.build_index(wanted.values())
    lost = {
        key
        for key, each in wanted.items()
        if each.is_statement and not each.is_found and not shelf.has_equivalent(each)
    }
    seen: set[tuple[str, str]] = set()
    found = []
    for key, each in zip(keys, dropped, strict=True):
        if key in lost and (each.path, key) not in seen:
            seen.add((each.path, key))
            found.append(each)
    return found


@dataclass(slots=True)
class _SoughtStatement:
    """A statement that is looked for.

    Attributes:
        order: The stems of its words without stop words.
        stems: The same as a set.
        needed: Those that may not be missing: numbers, names and negation.
        is_found: Whether the same words stand elsewhere.
    """

    plain: str
    order: tuple[str, ...]
    stems: frozenset[str]
    needed: frozenset[str]
    is_found: bool = False

    @property
    def is_statement(self) -> bool:
        return len(self.stems - {_NOT}) >= _FEWEST_WORDS

    @property
    def word_tolerance(self) -> int:
        """How many of its words may be others."""
        return len(self.stems) // _ONE_IN


def _build_sought_statement(text: str) -> _SoughtStatement:
    if _YEAR.search(text):
        text = _DATE.sub(lambda found: f" {_to_date_number(found)} ", text)
    plain = _normalize_text(text)
    needed: set[str] = set()
    order: list[str] = []
    for at, word in enumerate(_WORD.findall(plain)):
        small = word.casefold()
        if not (stem := _STEMS[small]):
            continue
        order.append(stem)
        is_name = word != small and (at or word[1:] != small[1:])
        if is_name or stem == _NOT or _DIGIT.search(stem):
            needed.add(stem)
    return _SoughtStatement(plain, tuple(order), frozenset(order), frozenset(needed))


def _to_date_number(found: re.Match[str]) -> str:
    """A date as one number, however it is written."""
    parts = [part.casefold() for part in found.groups() if part]
    if len(parts[0]) < 4:
        year, month, day = parts[2], parts[1], parts[0]
        if day in _MONTHS:
            month, day = day, month
    else:
        year, month, day = parts
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    return f"{year}{number:02}{int(day):02}"


class _StatementIndex:
    """The lines of all notes, by their rare words."""

    def __init__(self, stems: set[str]) -> None:
        self._asked = stems
        self._lines: list[tuple[str, ...]] = [()]
        """The stems of each line; nothing between the notes."""
        self._count: Counter[str] = Counter()
        self._at: dict[str, list[int]] = {}

    def add_note(self, text: str, wanted: dict[str, _SoughtStatement]) -> None:
        """Take in a note."""
        asked = self._asked
        for line in _normalize_text(text).casefold().split("\n"):
            shown = line[:LONGEST]
            words = _WORD.findall(shown)
            if not words:
                continue
            if (same := wanted.get(" ".join(words))) is not None:
                same.is_found = True
            if _YEAR.search(shown):
                words += [_to_date_number(found) for found in _DATE.finditer(shown)]
            stems = tuple(stem for word in words if (stem := _STEMS[word]))
            self._lines.append(stems)
            self._count.update(asked.intersection(stems))
        self._lines.append(())

    def build_index(self, wanted: Iterable[_SoughtStatement]) -> None:
        """Note where the words stand by which lines are found."""
        chosen = {stem for each in wanted if not each.is_found for stem in self._find_rarest_stems(each)}
        at: dict[str, list[int]] = {stem: [] for stem in chosen}
        for number, stems in enumerate(self._lines):
            for stem in chosen.intersection(stems):
                at[stem].append(number)
        self._at = at

    def _find_rarest_stems(self, each: _SoughtStatement) -> list[str]:
        known = [stem for stem in each.stems if stem != _NOT and 0 < self._count[stem] <= _COMMON]
        return sorted(known, key=lambda stem: (self._count[stem], stem))[:_RAREST]

    def has_equivalent(self, each: _SoughtStatement) -> bool:
        """Whether something says the same, or it cannot be told."""
        if any(not self._count[stem] for stem in each.needed if stem != _NOT):
            return False
        rarest = self._find_rarest_stems(each)
        if not rarest:
            return any(self._count[stem] for stem in each.stems if stem != _NOT)
        near: Counter[int] = Counter()
        for stem in rarest:
            near.update(self._at[stem])
        for number, _ in near.most_common(_CANDIDATES):
            line = frozenset(self._lines[number])
            if line == each.stems and _is_swapped(each, self._lines[number]):
                continue
            if _contains_statement(each, line):
                return True
            denies = _NOT in line and _NOT not in each.stems
            if not denies and any(
                _contains_statement(each, pair, is_line=False) for pair in self._iter_adjacent_words(number)
            ):
                return True
            if line <= each.stems and each.stems <= self._collect_list_words(each, number):
                return True
        return False

    def _collect_list_words(self, each: _SoughtStatement, number: int) -> set[str]:
        """The words of a line and of those before and behind it that say nothing but parts of a statement: a list."""
        found = set(self._lines[number])
        for step in (-1, 1):
            at = number + step
            while 0 < at < len(self._lines) and self._lines[at] and abs(at - number) <= _MOST_PARTS:
                if not each.stems.issuperset(self._lines[at]):
                    break
                found.update(self._lines[at])
                at += step
        return found

    def _iter_adjacent_words(self, number: int) -> Iterator[frozenset[str]]:
        """The words of a line with those of the one before it, and of the one behind it, within its note."""
        for other in (self._lines[number - 1], self._lines[number + 1]):
            if other:
                yield frozenset((*self._lines[number], *other))


def _is_swapped(each: _SoughtStatement, line: Sequence[str]) -> bool:
    """Whether two words of a statement have changed places: who did what to whom, which of two numbers is which."""
    if len(line) != len(each.order):
        return False
    others = [at for at, (one, other) in enumerate(zip(each.order, line, strict=True)) if one != other]
    if len(others) != 2:
        return False
    first, second = others
    pair = each.order[first], each.order[second]
    if pair != (line[second], line[first]):
        return False
    if _NOT in each.order[first:second]:
        return True
    is_name = first == 0 and each.plain.lstrip("-*+ \t")[:1].isupper()  # perhaps: so do all sentences begin
    return pair[1] in each.needed and (pair[0] in each.needed or is_name) and not _is_in_list(each, first, second)


def _is_in_list(each: _SoughtStatement, first: int, second: int) -> bool:
    """Whether two words stand beside each other in a list: it says the same the other way round."""
    words = [found for found in _WORD.finditer(each.plain) if _STEMS[found.group().casefold()]]
    return second == first + 1 and bool(_LISTING.fullmatch(each.plain, words[first].end(), words[second].start()))


def _contains_statement(each: _SoughtStatement, stems: frozenset[str], *, is_line: bool = True) -> bool:
    """Whether words hold all that makes a statement."""
    missing = each.stems - stems
    if missing & each.needed:
        return False
    if is_line and _NOT in stems and _NOT not in each.stems and 2 * len(stems) <= 3 * len(each.stems) + 2:
        return False  # it says the opposite
    if len(missing) <= each.word_tolerance:
        return True
    if len(missing) > each.word_tolerance + 2:
        return False
    from rapidfuzz import fuzz  # noqa: PLC0415 - start-up: a compiled library

    others = [stem for stem in stems - each.stems if len(stem) >= _LONG_WORD]
    slips = sum(
        len(stem) >= _LONG_WORD and any(fuzz.ratio(stem, other) >= _ALIKE for other in others) for stem in missing
    )
    return len(missing) - slips <= each.word_tolerance


# Words


class _StemCache(dict[str, str]):
    """The stem of each word; empty for a small one. It forgets nothing, so that a word is taken apart once."""

    _MOST = 500_000

    def __missing__(self, word: str) -> str:
        if len(self) > self._MOST:
            self.clear()
        stem = self[word] = _stem_word(word)
        return stem


def _stem_word(word: str) -> str:
    if word in _DENYING:
        return _NOT
    if word in _SMALL:
        return ""
    if word in _NUMBERS:
        return _NUMBERS[word]
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


_STEMS = _StemCache()


def _normalize_text(text: str) -> str:
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    text = _SHORTENED.sub(" ", _NEGATED.sub(" not", text)) if "'" in text or "\u2019" in text else text
    return _UNIT.sub(r"\1 ", _THOUSANDS.sub("", text)) if _DIGIT.search(text) else text


def _split_words(text: str) -> list[str]:
    return _WORD.findall(_normalize_text(text).casefold())


def _find_body_start(lines: Sequence[str]) -> int:
    """The position of the first line that is no front matter."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for at, line in enumerate(lines[1:200], start=1):
        if line.rstrip() in ("---", "..."):
            return at + 1
    return 0
