"""Keys that are wrapped: the end of the line in the middle of one, as hard wraps and folded strings leave it.

A line that ends in a long word and the next one are no key yet: what is told has the whole shape of one only when its
pieces are put together, and begins with the head of one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise, takewhile

from memtui.notes.secrets.clues import clues_of, lowered_of
from memtui.notes.secrets.named import named, signed_tokens
from memtui.notes.secrets.readings import Reading
from memtui.notes.secrets.shaped import begins_a_key, shaped
from memtui.notes.spots import Spot

_OF_KEY = "[A-Za-z0-9_+/=.~:$%-]"
_RUN = re.compile(_OF_KEY + "{2,}")
_WRAP = re.compile(rf"[ \t]{{0,4}}\\?\r?\n[ \t]{{0,60}}(?:(?:>|#|//|\|)[ \t]{{0,4}}){{0,3}}(?={_OF_KEY}{{2}})")
"""The end of a line and what stands before the words of the next: blanks, and the signs of quotes and comments."""
_WRAP_BEFORE = re.compile(
    rf"[ \t]{{0,60}}(?:[ \t]{{0,4}}(?:>|#|//|\|)){{0,3}}[ \t]{{0,60}}\n\r?\\?[ \t]{{0,4}}(?={_OF_KEY}{{2}})"
)
"""The same, read from its end."""
_AT_FIRST = frozenset("\n \t>#/|")
"""What stands before the first word of a line."""
_LINE_ENDS = re.compile(r"[\"'`)\],;.]{0,3}[ \t]{0,4}(?:\\?\r?\n|\Z)")
_MOST_PIECES = 24
_NAME = 60
"""Characters before a key in its line among which its name stands."""
_FEWEST = 6
"""Characters of a piece that is taken for more of a key that could end before it."""
_SIGNS = ".:,"
"""What may stand behind a key and is also in some."""

Span = tuple[int, int]


def wrapped(text: str, spans: Iterable[Span]) -> Iterator[Spot]:
    """Keys that go over more than one line.

    Args:
        text: The text.
        spans: Its long words, from and to, in order.
    """
    chains: list[list[Span]] = []
    until = -1
    for start, end in spans:
        if start >= until and (_is_first(text, start) or _is_last(text, end)):
            runs = _chain(text, start, end)
            if len(runs) > 1:
                chains.append(runs)
                until = runs[-1][1]
    yield from _behind_names(text, chains)
    heads = [text[slice(*first)] + text[slice(*second)] for runs in chains for first, second in pairwise(runs)]
    if heads and begins_a_key(" ".join(heads)):
        for runs in chains:
            yield from _in_chain(text, runs)


def _behind_names(text: str, chains: Iterable[Sequence[Span]]) -> Iterator[Spot]:
    """Those that are known by the name before them in their line."""
    for runs in chains:
        pieces = [runs[0], *takewhile(lambda run: _goes_on(text, run[1], text[slice(*run)]), runs[1:])]
        start, end = pieces[0]
        line = max(text.rfind("\n", 0, start) + 1, start - _NAME)
        if len(pieces) > 1 and (clues := clues_of(text[line:end].lower())):
            reading = _reading(text, [(line, end), *pieces[1:]])
            yield from reading.back(named(reading.text, lowered_of(reading.text), clues))


def _is_first(text: str, start: int) -> bool:
    """Whether a word is the first of its line, and not of the text."""
    if start < 2 or text[start - 1] not in _AT_FIRST or (text[start - 2] not in _AT_FIRST and text[start - 1] != "\n"):
        return False
    line = text.rfind("\n", max(0, start - 80), start)
    return line >= 0 and not text[line + 1 : start].strip(" \t>#/|")


def _is_last(text: str, end: int) -> bool:
    """Whether a word is the last of its line, and not of the text."""
    line = text.find("\n", end, end + 8)
    return line >= 0 and not text[end:line].strip(" \t\\\r")


def _chain(text: str, start: int, end: int) -> list[Span]:
    """A word and those of the next lines, as long as there is nothing else in these; also the one before it."""
    runs = [(start, end)]
    before = _WRAP_BEFORE.match(text[max(0, start - 160) : start][::-1]) if _is_first(text, start) else None
    if before is not None:
        last = start - before.end()
        head = _RUN.match(text[max(0, last - 400) : last][::-1])
        if head is not None:
            runs.insert(0, (last - head.end(), last))
    while (wrap := _WRAP.match(text, runs[-1][1])) is not None:
        run = _RUN.match(text, wrap.end())
        assert run is not None
        runs.append(run.span())
    return runs


def _in_chain(text: str, runs: Sequence[Span]) -> Iterator[Spot]:
    at = 0
    while at < len(runs) - 1:
        pieces = runs[at : at + _MOST_PIECES]
        first = "".join(text[start:end] for start, end in pieces[:2])
        found, count = _first_key(text, pieces) if begins_a_key(first) else (None, 1)
        if found is not None and count > 1:
            yield from _reading(text, pieces[:count]).back(iter((found,)))
        at += max(count - 1, 1) if found is not None else 1


def _first_key(text: str, pieces: Sequence[Span]) -> tuple[Spot | None, int]:
    """The key that begins in the first of some pieces, in what they are together, and how many of them it takes."""
    words = ""
    found: Spot | None = None
    for count, (start, end) in enumerate(pieces, 1):
        piece = text[start:end]
        if found is not None and not _goes_on(text, end, piece):
            return found, count - 1
        words += piece
        least = len(words.rstrip(_SIGNS))
        head = pieces[0][1] - pieces[0][0]
        spots = chain(shaped(words, words), signed_tokens(words))
        longer = next((spot for spot in spots if spot.start < head and spot.end >= least), None)
        if longer is None and found is not None:
            return found, count - 1
        found = longer
    return found, len(pieces)


def _goes_on(text: str, end: int, piece: str) -> bool:
    """Whether a piece is more of the key before it, which could end there: no word, and nothing else in its line."""
    return (
        len(piece) >= _FEWEST
        and any(map(str.isdigit, piece))
        and any(map(str.isalpha, piece))
        and _LINE_ENDS.match(text, end) is not None
        and not begins_a_key(piece)
    )


def _reading(text: str, pieces: Sequence[Span]) -> Reading:
    """Pieces as what they are together."""
    parts = [(text[start:end], start, end) for start, end in pieces]
    gaps = [("", before[1], behind[0]) for before, behind in pairwise(pieces)]
    return Reading(
        part for both in zip(parts, [*gaps, ("", pieces[-1][1], pieces[-1][1])], strict=True) for part in both
    )
