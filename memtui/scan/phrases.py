"""Ways to say something to a model: phrases with a regex, and combinations of stems from the lexicon.

A regex is slow, and any note has words with which one begins. So it is asked only where words of all kinds stand near
each other without which it cannot match.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from memtui.notes.spans import has_mark
from memtui.scan.ruleset import Entry, join_lines, load_rules

_HEAD = 5  # letters of a word by which it is looked for
_get_head = itemgetter(slice(_HEAD))
_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_PARTS = bytes(byte if byte >= 128 or byte in _LETTERS else 32 for byte in range(256))
"""A blank for each ASCII character that is neither a small letter nor a digit."""
_UNSPACED = bytes(120 if 0xE3 <= byte <= 0xED else 32 for byte in range(256))
"""An `x` for each byte with which a character of U+3000 to U+D7FF begins."""
_SOUTHEAST = (b"\xe0\xb8", b"\xe0\xb9", b"\xe0\xba", b"\xe0\xbb", b"\xe1\x80", b"\xe1\x81", b"\xe1\x9e", b"\xe1\x9f")
"""How Thai, Lao, Burmese and Khmer letters begin in UTF-8."""
_MARKS = "¡¿«»“”„‘’…–—।،؟"
"""Signs beside which words stand without a blank."""
_IS_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\ud7ff]")
"""A character of a script without blanks between words."""
_BEFORE = 40  # characters before its rarest word within which a phrase begins, if the entry says nothing else
_BEHIND = 260  # characters behind its rarest word within which a phrase ends
_FURTHEST = 260  # characters before its rarest word within which any phrase begins
_LONG = 4_000  # characters that are looked through at once: in a long text nearly all words stand somewhere
_ENDS = {
    "clause": re.compile(r"[.!?,;](?=\s)|[\n。！？，、；]|[!?,](?=[^\x00-\x7f])"),
    "sentence": re.compile(r"[.!?](?=\s)|[\n。！？]|[!?](?=[^\x00-\x7f])"),
    "line": re.compile(r"\n"),
}
"""How far a combination may reach."""
_GAP = 30  # characters between a negation and what it denies, if the entry says nothing else
_WITHIN = 100  # characters between the stems of a combination, if the entry says nothing else


class Kind(NamedTuple):
    """Words of which one is always in a phrase: words or their beginnings, in lower case.

    Attributes:
        by_head: The words by a head that each has, with all heads of a word.
        heads: These heads.
        others: Words without one, such as those of a script without blanks.
    """

    by_head: Mapping[str, list[tuple[str, frozenset[str]]]]
    heads: frozenset[str]
    others: list[str]

    def select(self, heads: frozenset[str]) -> list[str]:
        """The words that may be in a text of which the first letters of all words are known."""
        by_head = self.by_head
        found = [word for head in self.heads & heads for word, parts in by_head[head] if parts <= heads]
        return found + self.others if self.others else found


class Piece(NamedTuple):
    """A part of a text that is looked through at once."""

    start: int
    end: int
    heads: frozenset[str]  # the first letters of the words in it and around it


class Phrase:
    """A way to say something to a model.

    Args:
        table: Its keys in the file: `keywords` and `regex`, or `stems`; `description`, `before`.

    Attributes:
        kinds: Each must occur; the first is the rarest, near which is searched.
    """

    def __init__(self, entry: Entry, table: Mapping[str, Any], lexicon: Mapping[str, list[str]]) -> None:
        self.rule = entry.id
        self.description: str = table.get("description", entry.description)
        self._table = table
        self._lists: list[list[str]] = [
            [word for name in names.split() for word in lexicon[name]] for names in table.get("stems", ())
        ]
        words = [[word.rstrip("*") for word in each] for each in self._lists] or table["keywords"]
        self.kinds = tuple(map(_make_kind, words))
        self._within: int = table.get("within", _WITHIN)
        self._before: int = table.get("before", self._within if self._lists else _BEFORE)
        self._not_before, self._not_within, self._unless = (
            [word for name in table.get(key, ()) for word in lexicon[name]]
            for key in ("not_before", "not_within", "unless")
        )
        self._end = _ENDS[table.get("until", "sentence")]

    def find(self, text: str, piece: Piece) -> Iterator[tuple[int, int]]:
        """Where it stands in a piece of a folded text."""
        words: list[list[str]] = []
        for kind in self.kinds:
            if not (selected := kind.select(piece.heads)):
                return
            words.append(selected)
        for start, end in find_windows(text, words[0], self._before, _BEHIND, piece.start, piece.end):
            if all([_has_any(text, each, start, end) for each in words[1:]]):  # noqa: C419 - a list is twice as fast here
                yield from self._find_stems(text, start, end) if self._lists else self._find_regex(text, start, end)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole, over folded text; what matches a group `shown` is what is shown, or all of it."""
        return re.compile(join_lines(self._table["regex"]))

    def _find_regex(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        has_shown = "shown" in self.pattern.groupindex
        for found in self.pattern.finditer(text, start, end):
            yield found.span("shown" if has_shown and found["shown"] is not None else 0)

    @cached_property
    def _stems(self) -> list[re.Pattern[str]]:
        return [re.compile(_join_stems(words)) for words in self._lists]

    @cached_property
    def _negation(self) -> re.Pattern[str] | None:
        """A negation shortly before the end of what is searched."""
        unless = rf"(?! (?:{'|'.join(map(re.escape, self._unless))})\b)" if self._unless else ""
        gap = f"[^\\n.]{{0,{self._table.get('gap', _GAP)}}}\\Z"
        return re.compile(f"(?:{_join_stems(self._not_before)}){unless}{gap}") if self._not_before else None

    @cached_property
    def _denial(self) -> re.Pattern[str] | None:
        """What makes the first stem harmless, right before it."""
        return re.compile(f"(?:{join_lines(self._table['denied'])})\\Z") if "denied" in self._table else None

    @cached_property
    def _continuation(self) -> re.Pattern[str] | None:
        """What makes the first stem harmless, right behind it."""
        return re.compile(join_lines(self._table["continued"])) if "continued" in self._table else None

    @cached_property
    def _exclusion(self) -> re.Pattern[str] | None:
        return re.compile(_join_stems(self._not_within)) if self._not_within else None

    def _find_stems(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where a stem of each list stands in one sentence, near the first; in order, if the entry wants it so."""
        until = start
        for first in self._stems[0].finditer(text, start, end):
            if first.start() < until:
                continue
            begin = max(start, first.start() - self._within)
            begin = max((found.end() for found in self._end.finditer(text, begin, first.start())), default=begin)
            last = min(end, first.end() + self._within)
            stop = self._end.search(text, first.end(), last)
            last = stop.start() if stop is not None else last
            begin, last = _narrow_to_cell(text, first, begin, last)
            if self._is_denied(text, begin, first):
                continue
            spans = self._combine(text, first.span(), begin, last)
            if spans is not None and not self._is_negated(text, begin, spans):
                yield spans
                until = spans[1]

    def _is_denied(self, text: str, begin: int, first: re.Match[str]) -> bool:
        """Whether what stands right before or behind the first stem makes it something harmless."""
        if self._denial is not None and self._denial.search(text, begin, first.start()):
            return True
        return self._continuation is not None and self._continuation.match(text, first.end()) is not None

    def _combine(self, text: str, first: tuple[int, int], begin: int, last: int) -> tuple[int, int] | None:
        low, high = first
        is_ordered = self._table.get("ordered", False)
        for stems in self._stems[1:]:
            found = stems.search(text, high if is_ordered else begin, last)
            if found is None:
                return None
            low, high = min(low, found.start()), max(high, found.end())
        return low, high

    def _is_negated(self, text: str, begin: int, span: tuple[int, int]) -> bool:
        if self._negation is not None and self._negation.search(text, begin, span[0]):
            return True
        return self._exclusion is not None and self._exclusion.search(text, *span) is not None


def _narrow_to_cell(text: str, first: re.Match[str], begin: int, last: int) -> tuple[int, int]:
    """What of a sentence is in one cell, where its line is a row of a table that begins with a bar."""
    if not text[text.rfind("\n", 0, first.start()) + 1 : first.start()].lstrip(" \t>").startswith("|"):
        return begin, last
    bar = text.find("|", first.end(), last)
    return max(begin, text.rfind("|", begin, first.start()) + 1), bar if bar >= 0 else last


def _make_kind(words: list[str]) -> Kind:
    by_head: dict[str, list[tuple[str, frozenset[str]]]] = {}
    others: list[str] = []
    for word in words:
        heads = () if _IS_UNSPACED.match(word) else [part[:_HEAD] for part in _split_words(word)]
        if heads:
            by_head.setdefault(max(reversed(heads), key=len), []).append((word, frozenset(heads)))
        else:
            others.append(word)
    return Kind(by_head, frozenset(by_head), others)


def _join_stems(words: list[str]) -> str:
    """A regex of stems: `ignor*` begins a word, `send` is one; of scripts without blanks each may be within one."""
    parts = []
    for word in words:
        stem = word.rstrip("*")
        is_spaced = not _IS_UNSPACED.match(stem)
        begin = r"(?<![^\W_])" if is_spaced and stem[0].isalnum() else ""
        end = r"[^\W_]*" if stem != word else r"(?![^\W_])" if is_spaced and stem[-1].isalnum() else ""
        parts.append(f"{begin}{re.escape(stem)}{end}")
    return "|".join(parts)


@cache
def load_phrases() -> tuple[Phrase, ...]:
    """All phrases and combinations of stems, in the order of the file."""
    rules = load_rules("injection")
    return tuple(
        Phrase(entry, table, rules.lexicon)
        for key in ("phrases", "stems")
        for entry in rules.values()
        for table in entry.get(key, ())
    )


class _PhraseIndex(NamedTuple):
    by_head: dict[str, int]
    """By the first letters of words the bits of the phrases that have such a word, a lane for each of their kinds."""
    given: int
    """The bits of kinds that may be there without a word of these."""
    lanes: int
    unspaced: list[tuple[str, frozenset[str], int]]
    """Words of scripts without blanks, their characters, and the number of the phrase that is looked for near each."""
    signs: list[tuple[str, int]]
    """The same of what holds no letter."""
    known: frozenset[str]
    """The first letters of all words in phrases."""


@cache
def _load_index() -> _PhraseIndex:
    by_head: dict[str, int] = {}
    given = 0
    unspaced: list[tuple[str, frozenset[str], int]] = []
    signs: list[tuple[str, int]] = []
    known: set[str] = set()
    phrases = load_phrases()
    lanes = max(len(phrase.kinds) for phrase in phrases)
    for number, phrase in enumerate(phrases):
        for word in phrase.kinds[0].others:
            if _IS_UNSPACED.match(word):
                unspaced.append((word, frozenset(word), number))
            else:
                signs.append((word, number))
        for lane in range(lanes):
            bit = 1 << (lane * len(phrases) + number)
            if lane >= len(phrase.kinds) or (lane and phrase.kinds[lane].others):
                given |= bit
                continue
            for head in phrase.kinds[lane].by_head:
                by_head[head] = by_head.get(head, 0) | bit
        for kind in phrase.kinds:
            known.update(*[parts for words in kind.by_head.values() for _, parts in words])
    return _PhraseIndex(by_head, given, lanes, unspaced, signs, frozenset(known))


def find_phrases(text: str, pieces: list[Piece]) -> Iterator[tuple[Phrase, int, int]]:
    """The phrases in a folded text, which is looked through piece by piece, and where each stands."""
    seen: set[tuple[str, int, int]] = set()
    for piece in pieces:
        for phrase, start, end in _find_in_piece(text, piece):
            if (phrase.rule, start, end) not in seen:
                seen.add((phrase.rule, start, end))
                yield phrase, start, end


def _find_in_piece(text: str, piece: Piece) -> Iterator[tuple[Phrase, int, int]]:
    index, phrases = _load_index(), load_phrases()
    heads, by_head, there = index.known & piece.heads, index.by_head, index.given
    for head in heads:
        there |= by_head.get(head, 0)
    part = text[piece.start : piece.end + 8]
    for word, number in index.signs:
        if has_mark(part, word):
            there |= 1 << number
    if may_be_unspaced(part):
        letters = frozenset(part)
        for word, its_letters, number in index.unspaced:
            if its_letters <= letters and word in part:
                there |= 1 << number
    found = there
    for lane in range(1, index.lanes):
        found &= there >> (lane * len(phrases))
    found &= (1 << len(phrases)) - 1
    if not found:
        return
    piece = piece._replace(heads=heads)
    while found:
        phrase = phrases[(found & -found).bit_length() - 1]
        found &= found - 1
        for start, end in phrase.find(text, piece):
            yield phrase, start, end


def split_pieces(text: str) -> list[Piece]:
    """The pieces of a folded text, and the first letters of the words in and around each."""
    if len(text) <= _LONG:
        return [Piece(0, len(text), find_heads(text))]
    return [
        Piece(start, start + _LONG, find_heads(text[max(0, start - _FURTHEST) : start + _LONG + _BEHIND]))
        for start in range(0, len(text), _LONG)
    ]


def collect_heads(pieces: list[Piece]) -> frozenset[str]:
    """The first letters of all words of a text, given its pieces."""
    first, *others = pieces
    return first.heads.union(*[piece.heads for piece in others]) if others else first.heads


def find_heads(text: str) -> frozenset[str]:
    """The first letters of all words of a folded text; of words with letters beyond ASCII also fewer of them.

    Stems of three or four letters are common in scripts that write no vowels, or write them as marks.
    """
    words = _split_words(text)
    heads = frozenset(map(_get_head, words))
    if text.isascii():
        return heads
    bare = [word.strip(_MARKS) for word in set(words) if not word.isascii()]
    return heads.union(*((word[:3], word[:4], word[:_HEAD]) for word in bare))


def _split_words(text: str) -> list[str]:
    """The words of a folded text, by way of bytes, which are parted ten times as fast."""
    return text.encode("utf-8", "surrogatepass").translate(_PARTS).decode("utf-8", "surrogatepass").split()


def may_be_unspaced(text: str) -> bool:
    """Whether there may be words of a script without blanks between them: Chinese, Japanese, Korean, Thai, Khmer."""
    if text.isascii():
        return False
    data = text.encode("utf-8", "surrogatepass")
    return b"x" in data.translate(_UNSPACED) or any(begin in data for begin in _SOUTHEAST)


def find_windows(
    text: str, words: Iterable[str], before: int, behind: int, first: int = 0, last: int | None = None
) -> Iterator[tuple[int, int]]:
    """The parts of a text in which a word stands, with so many characters around it; none twice."""
    last = len(text) if last is None else last
    places = sorted(at for word in words for at in _find_word(text, word, first, last))
    start = end = -1
    for place in places:
        if end < 0:
            start = max(0, place - before)
        elif place - before > end:
            yield start, end
            start = place - before
        end = place + behind
    if end >= 0:
        yield start, end


def _has_any(text: str, words: Iterable[str], start: int, end: int) -> bool:
    """Whether one of some words stands in a part of a text."""
    for word in words:  # noqa: SIM110 - a loop is twice as fast here
        if text.find(word, start, end) >= 0:
            return True
    return False


def _find_word(text: str, word: str, first: int, last: int) -> Iterator[int]:
    at = text.find(word, first, last + len(word) - 1)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word), last + len(word) - 1)
