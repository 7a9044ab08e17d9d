"""How well a word matches a path, by the rules that users of fzf have in their fingers.

The rules are those that fzf documents: each letter counts, a gap costs, more so its beginning; a letter at the start
of a word counts extra, after a separator of folders most; the letters of a run inherit what its first one earned, and
the first letter of the word counts double. To that comes one rule of ours: a match within the file's own name beats an
equal one in its folders. Only the positions where letters stand are looked at, so that a path costs microseconds.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from memtui.search.query import Kind, Term

_MATCH = 16
_GAP = -3
_LONGER_GAP = -1
_BOUNDARY = 8
_AFTER_SEPARATOR = 9
_CAMEL = 7
_RUN = 4
_FIRST = 2
"""What a bonus of the first letter is multiplied with."""
_OWN_NAME = 8
_OWN_NAME_LETTER = 2
_MOST_POSITIONS = 40
"""A letter that stands more often in one path is looked for near its ends only: nobody means the middle of that."""

_LOWER, _UPPER, _LETTER, _NUMBER, _SEPARATOR, _OTHER = range(6)
_WORD = _NUMBER
"""Classes up to this one are parts of words."""

Positions = Sequence[int]


@lru_cache(maxsize=8192)
def _folded_character(character: str) -> str:
    """A character without its case and, in Latin script, without its accents; always exactly one."""
    base = unicodedata.normalize("NFD", character)
    if len(base) > 1 and base[0].isascii() and all(map(unicodedata.combining, base[1:])):
        character = base[0]
    lower = character.lower()
    return lower if len(lower) == 1 else character


def folded(text: str) -> str:
    """The text as it is compared: without case and accents, of the same length."""
    return text.lower() if text.isascii() else "".join(map(_folded_character, text))


class _Classes(dict[str, int]):
    """What kind of character one is."""

    def __missing__(self, character: str) -> int:
        if character in "/,:;|":
            kind = _SEPARATOR
        elif character.isnumeric():
            kind = _NUMBER
        elif character.islower():
            kind = _LOWER
        elif character.isupper():
            kind = _UPPER
        else:
            kind = _LETTER if character.isalpha() else _OTHER
        if len(self) < 65_536:
            self[character] = kind
        return kind


_CLASS = _Classes()


def bonus(path: str, at: int) -> int:
    """What a letter earns by where it stands."""
    here = _CLASS[path[at]]
    before = _CLASS[path[at - 1]] if at else _SEPARATOR
    if here <= _WORD:
        if before == _SEPARATOR:
            return _AFTER_SEPARATOR
        if before == _OTHER:
            return _BOUNDARY
        if (before == _LOWER and here == _UPPER) or (here == _NUMBER and before != _NUMBER):
            return _CAMEL
        return 0
    return _BOUNDARY


def score(term: Term, path: str, low: str, own: int) -> tuple[int, Positions] | None:
    """How well a word matches a path, and where; `None` if it does not.

    Args:
        term: A word that is not negated.
        path: The path.
        low: The same as `folded` gives it.
        own: Where the file's own name begins in it.
    """
    if not term.case:
        return _score(term.kind, folded(term.text), path, low, own)
    return _score(term.kind, term.text, path, path, own)


def matches(term: Term, path: str, low: str) -> bool:
    """Whether a word is there; for a negated one too, whose sign is the caller's."""
    text, where = (term.text, path) if term.case else (folded(term.text), low)
    match term.kind:
        case Kind.EXACT:
            return text in where
        case Kind.PREFIX:
            return where.startswith(text)
        case Kind.SUFFIX:
            return where.endswith(text)
        case Kind.EQUAL:
            return where == text
        case _:
            return _is_subsequence(text, where)


def _is_subsequence(text: str, where: str) -> bool:
    at = -1
    for character in text:
        at = where.find(character, at + 1)
        if at < 0:
            return False
    return True


def _score(kind: Kind, text: str, path: str, where: str, own: int) -> tuple[int, Positions] | None:
    size = len(text)
    match kind:
        case Kind.FUZZY:
            return _fuzzy(text, path, where, own)
        case Kind.EXACT:
            return _best_run(text, path, where, own)
        case Kind.PREFIX:
            at = 0 if where.startswith(text) else -1
        case Kind.SUFFIX:
            at = len(where) - size if where.endswith(text) else -1
        case Kind.EQUAL:
            at = 0 if where == text else -1
    return None if at < 0 else (_run(path, at, size, own), range(at, at + size))


def _run(path: str, at: int, size: int, own: int) -> int:
    """What a run of letters is worth."""
    first = bonus(path, at)
    inherited = first if first > _RUN else _RUN
    worth = _MATCH * size + first * _FIRST + inherited * (size - 1)
    return worth + _OWN_NAME + _OWN_NAME_LETTER * size if at >= own else worth


def _best_run(text: str, path: str, where: str, own: int) -> tuple[int, Positions] | None:
    size, best, best_at = len(text), -1, -1
    at = where.find(text)
    while at >= 0:
        worth = _run(path, at, size, own)
        if worth > best:
            best, best_at = worth, at
        at = where.find(text, at + 1)
    return None if best_at < 0 else (best, range(best_at, best_at + size))


def _fuzzy(text: str, path: str, where: str, own: int) -> tuple[int, Positions] | None:
    run = _best_run(text, path, where, own)
    if run is not None:
        at = run[1][0]
        if len(text) == 1 or (at >= own and bonus(path, at) >= _BOUNDARY):
            return run  # nothing beats a run at the start of a word of the file's own name
    whole = _aligned(text, path, where, 0, own)
    if whole is None:
        return run
    best = whole if run is None or whole[0] > run[0] else run
    if best[1][0] < own and (within := _aligned(text, path, where, own, own)) is not None and within[0] > best[0]:
        return within
    return best


def _aligned(text: str, path: str, where: str, begin: int, own: int) -> tuple[int, Positions] | None:
    """The best way to lay the letters of a word along a path, from a position on.

    For each letter and each place where it stands: the best worth of an alignment that ends there. A gap costs by its
    length, so the best place before it is known by one running maximum.
    """
    places = _places(text, where, begin)
    if places is None:
        return None
    # Of the letter before: worth by place, what its run's first letter earned (None where no run can go on).
    worths: list[int] = []
    firsts: list[int] = []
    ways: list[list[int]] = []
    for at in places[0]:
        earned = bonus(path, at)
        worths.append(_MATCH + earned * _FIRST)
        firsts.append(earned)
    before = places[0]
    for here in places[1:]:
        next_worths: list[int] = []
        next_firsts: list[int] = []
        way: list[int] = []
        reach, reach_from, taken = -(10**9), -1, 0
        for at in here:
            while taken < len(before) and before[taken] < at - 1:
                if (worth := worths[taken] - _LONGER_GAP * before[taken]) > reach:
                    reach, reach_from = worth, taken
                taken += 1
            earned = bonus(path, at)
            best, first, came = -1, earned, -1
            if reach_from >= 0:
                gap = reach + _GAP + _LONGER_GAP * (at - 2)
                best, came = (gap if gap > 0 else 0) + _MATCH + earned, reach_from
            if taken < len(before) and before[taken] == at - 1:
                begun = firsts[taken]
                if earned >= _BOUNDARY and earned > begun:
                    begun = earned
                run = worths[taken] + _MATCH + max(earned, begun, _RUN)
                if run >= best:
                    best, first, came = run, begun, taken
            next_worths.append(best)
            next_firsts.append(first)
            way.append(came)
        ways.append(way)
        worths, firsts, before = next_worths, next_firsts, here
    return _followed_back(places, ways, worths, own)


def _followed_back(
    places: list[list[int]], ways: list[list[int]], worths: list[int], own: int
) -> tuple[int, Positions] | None:
    """The best alignment, from the worth of its last letter back to its first."""
    best = max(range(len(worths)), key=worths.__getitem__)
    worth, positions, at = worths[best], [places[-1][best]], best
    for letter in range(len(ways) - 1, -1, -1):
        at = ways[letter][at]
        if at < 0:
            return None
        positions.append(places[letter][at])
    positions.reverse()
    return (worth + _OWN_NAME + _OWN_NAME_LETTER * len(positions) if positions[0] >= own else worth), positions


def _places(text: str, where: str, begin: int) -> list[list[int]] | None:
    """Where each letter can stand so that those before and behind it have room; `None` if one cannot."""
    firsts: list[int] = []
    at = begin - 1
    for character in text:
        at = where.find(character, at + 1)
        if at < 0:
            return None
        firsts.append(at)
    places: list[list[int]] = []
    last = len(where)
    for character, first in zip(reversed(text), reversed(firsts), strict=True):
        last = where.rfind(character, first, last)
        here = [first] if first != last else [last]
        if first != last:
            at = where.find(character, first + 1, last)
            while at >= 0 and len(here) < _MOST_POSITIONS:
                here.append(at)
                at = where.find(character, at + 1, last)
            here.append(last)
        places.append(here)
    places.reverse()
    return places
