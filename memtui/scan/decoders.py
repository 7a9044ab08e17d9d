"""Secrets that stand in other characters than their own: in base64, escaped, in pieces, over several lines.

A key may stand in a note with a character in the middle that nobody sees, with a backslash before its underscores as
writers of Markdown put there, escaped as JSON, addresses and HTML want it, in base64 as the files of Kubernetes hold
it, in pieces that are put together where it is used, or with the end of a line in it, as hard wraps leave it. No form
fits any more; yet whoever copies it has the key.
"""

import html
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise, takewhile

from memtui.core.unicode import INVISIBLE
from memtui.notes.spans import get_other_letters
from memtui.scan.credentials import decode_base64, find_in_addresses, find_named, find_private_keys, find_signed_tokens
from memtui.scan.spots import Spot
from memtui.scan.tokens import (
    SEQUENTIAL_RULE,
    begins_token,
    find_clues,
    find_long_words,
    find_tokens,
    join_words,
    lower_text,
)
from memtui.scan.work_budget import WorkBudget

Span = tuple[int, int]
_NAME = 60  # characters before a secret in its line among which its name stands

# Base64

_SHORTEST_ENCODED = 24
_ENCODED = re.compile(rf"[A-Za-z0-9+/_-]{{{_SHORTEST_ENCODED},}}(?:={{1,2}}(?![A-Za-z0-9+/=]))?")


def find_encoded(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Spot]:
    """Secrets that stand in base64; what is masked is all of it."""
    for start, end in spans:
        if end - start < _SHORTEST_ENCODED:
            continue
        for word in _ENCODED.finditer(text, start, end):
            written = word.group()
            if written.lower() == written or written.upper() == written:
                continue  # of one case only, it says nothing
            decoded = decode_base64(written)
            spot = next(_find_decoded(decoded), None) if decoded else None
            if spot is not None:
                yield replace(
                    spot, start=word.start(), end=word.end(), words=f"{spot.words}, in base64", masked=word.span()
                )


def _find_decoded(decoded: str) -> Iterator[Spot]:
    yield from find_private_keys(decoded)
    yield from find_signed_tokens(decoded)
    yield from _find_issued_tokens(decoded, join_words(decoded, find_long_words(decoded)))
    yield from find_in_addresses(decoded)


def _find_issued_tokens(text: str, words: str) -> Iterator[Spot]:
    """Tokens but for sequential ones: nobody encodes a placeholder or breaks it in two."""
    return (spot for spot in find_tokens(text, words) if spot.rule != SEQUENTIAL_RULE)


# Escapes, invisible characters, strings that are put together

_OF_KEY = r"[A-Za-z0-9_+/=.~:$%-]"
_BETWEEN = r"[ \t]{0,20}(?:[+.&][ \t]{0,20})?(?:\\?\r?\n[ \t]{0,60})?(?:[+.&][ \t]{0,20})?[bfru]?"
"""What may be between two strings that are put together: `"a" + "b"`, `"a" "b"`."""
_OTHERS = (
    r"(?<=\\)(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrt!-/:-@\[-`{-~])"
    rf"|(?<={_OF_KEY}\\)\r?\n[ \t]{{0,40}}(?={_OF_KEY})"
    r"|(?<=%)[0-7][0-9A-Fa-f]"
    r"|(?<=&)(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-zA-Z]{2,10});"
)
"""What makes another character of one: as JSON, C and Markdown write it, where a line is continued, as addresses (RFC
3986) and HTML write it."""
_QUOTED = "".join(rf"|(?<={_OF_KEY}{quote}){_BETWEEN}{quote}(?={_OF_KEY})" for quote in "\"'")
_ANY_QUOTED = tuple(re.compile(rf"{quote}{_BETWEEN}{quote}(?={_OF_KEY})") for quote in "\"'")  # two are faster
_INVISIBLE_ONLY = re.compile(rf"[{INVISIBLE}]+")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


class DecodedText:
    """What is read in a text, and the way back to the places in it.

    Args:
        pieces: The decoded text, and the characters from and to for which it stands; in order.
    """

    def __init__(self, pieces: Iterable[tuple[str, int, int]]) -> None:
        read = list[str]()
        self._at, self._first, self._last = array("I"), array("I"), array("I")  # of pieces with something in them
        self._others_at, self._others_end = array("I"), array("I")  # of pieces that are read differently
        at = 0
        for piece, first, last in pieces:
            end = at + len(piece)
            if end - at != last - first:
                self._others_at.append(at)
                self._others_end.append(end)
            if piece:
                read.append(piece)
                self._at.append(at)
                self._first.append(first)
                self._last.append(last)
            at = end
        self.text = "".join(read)

    def locate(self, spots: Iterator[Spot]) -> Iterator[Spot]:
        """Of what was found in it that which the text as it stands does not show, at its places in the text."""
        for spot in spots:
            if self._is_crossing(spot.start, spot.end):
                start, end = self._locate_span((spot.start, spot.end))
                yield replace(
                    spot, start=start, end=end, masked=self._locate_span(spot.masked) if spot.masked else None
                )

    def _is_crossing(self, start: int, end: int) -> bool:
        """Whether something is read differently in it, or before it, where its name is."""
        first = bisect_left(self._others_end, start - _NAME)
        return first < len(self._others_at) and self._others_at[first] < end

    def _locate_span(self, span: tuple[int, int]) -> tuple[int, int]:
        start, end = span
        at, behind, first, last = self._find_part(start)
        begin = first if behind - at != last - first else first + start - at
        at, behind, first, last = self._find_part(max(end - 1, start))
        return begin, last if behind - at != last - first else first + end - at

    def _find_part(self, at: int) -> tuple[int, int, int, int]:
        """From and to in what is read, and in the text."""
        part = bisect_right(self._at, at) - 1
        behind = self._at[part + 1] if part + 1 < len(self._at) else len(self.text)
        return self._at[part], behind, self._first[part], self._last[part]


@cache
def _compile_others(*, is_quoted: bool, is_unseen: bool) -> re.Pattern[str]:
    """What is read differently: escapes, strings that are put together, and characters that nobody sees.

    A small set at the beginning is found many times as fast.
    """
    quotes, quoted = ("\"'", _QUOTED) if is_quoted else ("", "")
    unseen, run = (INVISIBLE, f"|(?<=[{INVISIBLE}])[{INVISIBLE}]*") if is_unseen else ("", "")
    return re.compile(rf"[\\%&{quotes}{unseen}](?:{_OTHERS}{run}{quoted})")


def decode_lines(text: str) -> Iterator[DecodedText]:
    """The lines of a text that are read differently than they stand there: in all, and but for what nobody sees."""
    is_unseen = not text.isascii() and _INVISIBLE_ONLY.search(get_other_letters(text)) is not None
    is_quoted = any([pattern.search(text) is not None for pattern in _ANY_QUOTED])  # noqa: C419 - twice as fast
    if is_quoted or is_unseen or "\\" in text or "%" in text or "&" in text:
        decoded = DecodedText(_split_lines(text, _compile_others(is_quoted=is_quoted, is_unseen=is_unseen)))
        if decoded.text:
            yield decoded
            if is_unseen:
                yield DecodedText(_split_lines(text, _INVISIBLE_ONLY))


def _split_lines(text: str, others: re.Pattern[str]) -> Iterator[tuple[str, int, int]]:
    """What is read, line by line; lines that are read as they stand there are left out."""
    at = -1
    for found in others.finditer(text):
        read = _decode_escape(found.group())
        if read == found.group():
            continue
        line = text.rfind("\n", max(at, 0), found.start()) + 1
        if at < 0:
            at = line
        elif line:
            end = text.index("\n", at) + 1
            yield text[at:end], at, end
            at = line
        yield text[at : found.start()], at, found.start()
        yield read, *found.span()
        at = found.end()
    if at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end], at, end


def _decode_escape(written: str) -> str:
    """What is read for what is written."""
    match written[0]:
        case "%":
            return chr(int(written[1:], 16))
        case "&":
            return html.unescape(written)
        case "\\" if written[1] in "ux":
            return chr(int(written[2:], 16))
        case "\\" if written[1] in _CONTROLS:
            return _CONTROLS[written[1]]
        case "\\" if written[1] not in "\r\n":
            return written[1]
        case _:
            return ""


# Keys over several lines

_RUN = re.compile(_OF_KEY + "{2,}")
_WRAP = re.compile(rf"[ \t]{{0,4}}\\?\r?\n[ \t]{{0,60}}(?:(?:>|#|//|\|)[ \t]{{0,4}}){{0,3}}(?={_OF_KEY}{{2}})")
"""The end of a line and what stands before the words of the next: blanks, and the signs of quotes and comments."""
_WRAP_BEFORE = re.compile(
    rf"[ \t]{{0,60}}(?:[ \t]{{0,4}}(?:>|#|//|\|)){{0,3}}[ \t]{{0,60}}\n\r?\\?[ \t]{{0,4}}(?={_OF_KEY}{{2}})"
)
"""The same, read from its end."""
_AT_FIRST = frozenset("\n \t>#/|")  # what stands before the first word of a line
_LINE_ENDS = re.compile(r"[\"'`)\],;.]{0,3}[ \t]{0,4}(?:\\?\r?\n|\Z)")
_MOST_PIECES = 24
_FEWEST = 6  # characters of a piece that is taken for more of a key that could end before it
_FIRST_WITHIN = 256
"""Characters behind the first piece within which a key is known by its form: the longest needs 207. Not so one that is
signed: its signature is at its end."""
_SIGNS = ".:,"  # what may stand behind a key and is also in some


def find_wrapped(text: str, spans: Iterable[Span], budget: WorkBudget) -> Iterator[Spot]:
    """Keys that go over more than one line; the budget is spent where very many lines begin as a key does."""
    chains: list[list[Span]] = []
    until = -1
    for start, end in spans:
        if start >= until and (_is_first(text, start) or _is_last(text, end)):
            runs = _follow_lines(text, start, end)
            if len(runs) > 1:
                chains.append(runs)
                until = runs[-1][1]
    yield from _find_behind_names(text, chains)
    heads = [text[slice(*first)] + text[slice(*second)] for runs in chains for first, second in pairwise(runs)]
    if heads and begins_token(" ".join(heads)):
        for runs in chains:
            yield from _find_in_chain(text, runs, budget)


def _find_behind_names(text: str, chains: Iterable[Sequence[Span]]) -> Iterator[Spot]:
    """Those that are known by the name before them in their line."""
    for runs in chains:
        pieces = [runs[0], *takewhile(lambda run: _continues(text, run[1], text[slice(*run)]), runs[1:])]
        start, end = pieces[0]
        line = max(text.rfind("\n", 0, start) + 1, start - _NAME)
        if len(pieces) > 1 and (clues := find_clues(text[line:end].lower())):
            decoded = _join_pieces(text, [(line, end), *pieces[1:]])
            yield from decoded.locate(find_named(decoded.text, lower_text(decoded.text), clues))


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


def _follow_lines(text: str, start: int, end: int) -> list[Span]:
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


def _find_in_chain(text: str, runs: Sequence[Span], budget: WorkBudget) -> Iterator[Spot]:
    at = 0
    while at < len(runs) - 1 and budget.spend(0):
        pieces = runs[at : at + _MOST_PIECES]
        first = "".join(text[start:end] for start, end in pieces[:2])
        found, count = _find_first_key(text, pieces, budget) if begins_token(first) else (None, 1)
        if found is not None and count > 1:
            yield from _join_pieces(text, pieces[:count]).locate(iter((found,)))
        at += max(count - 1, 1) if found is not None else 1


def _find_first_key(text: str, pieces: Sequence[Span], budget: WorkBudget) -> tuple[Spot | None, int]:
    """The key that begins in the first of some pieces, in what they are together, and how many of them it takes."""
    words = ""
    found: Spot | None = None
    head = pieces[0][1] - pieces[0][0]
    for count, (start, end) in enumerate(pieces, 1):
        piece = text[start:end]
        if found is not None and not _continues(text, end, piece):
            return found, count - 1
        words += piece
        least = len(words.rstrip(_SIGNS))
        if not budget.spend(len(words)):
            return found, count - 1
        spots = chain(_find_issued_tokens(words, words), find_signed_tokens(words))
        longer = next((spot for spot in spots if spot.start < head and spot.end >= least), None)
        if longer is None and found is not None:
            return found, count - 1
        found = longer
        if found is None and len(words) > head + _FIRST_WITHIN and "eyJ" not in words:
            break
    return found, len(pieces)


def _continues(text: str, end: int, piece: str) -> bool:
    """Whether a piece is more of the key before it, which could end there: no word, and nothing else in its line."""
    return (
        len(piece) >= _FEWEST
        and any(map(str.isdigit, piece))
        and any(map(str.isalpha, piece))
        and _LINE_ENDS.match(text, end) is not None
        and not begins_token(piece)
    )


def _join_pieces(text: str, pieces: Sequence[Span]) -> DecodedText:
    """Pieces as what they are together."""
    parts = [(text[start:end], start, end) for start, end in pieces]
    gaps = [("", before[1], behind[0]) for before, behind in pairwise(pieces)]
    return DecodedText(
        part for both in zip(parts, [*gaps, ("", pieces[-1][1], pieces[-1][1])], strict=True) for part in both
    )
