"""Showing where a secret is without showing it.

Evidence goes into reports, pipelines' logs and pull requests: what stands there once is out. So nothing of a secret is
ever shown but the letters by which its issuer marks its kind, and those only as far as they are a small part of it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice

from memtui.core.visible import one_line
from memtui.notes.secrets import secrets

Span = tuple[int, int]
"""Characters of a text, from and to."""

MASK = "****"
_MOST = 6
"""Characters of a secret that are shown at most."""
_SHARE = 4
"""No more than one in so many of its characters is shown."""
_MARK = re.compile(
    r"[spr]k[-_]|gh[pousr]_|github_|gl[a-z]{2,4}-|xox[a-z]-|xapp-|npm_|pypi-|hf_|SG\.|whsec_|do[opr]_|GOCSPX-|ya29\."
    r"|shp[a-z]{2}_|AGE-|(?:AKIA|ASIA|ABIA|ACCA|AIza|eyJ)|-----"
)
"""How issuers mark what kind of secret one is. Of what has no such mark nothing is shown: it may be a password."""
_WINDOW = 120
"""Characters of a line that are shown of it."""
_FEWEST = 4
"""Secrets that are shorter are not looked for in other texts: they would be found in every word."""
_TELLING = 8
"""Characters of a secret that are hidden also where only they stand, such as in words that quote a part of it."""
_MOST_VALUES = 500
"""Secrets of one text that are looked for in all of it."""
_MOST_PIECES = 200_000
"""Characters of secrets whose parts are looked for in words."""
_CUT = "..."
_BLANK = " \t\r"


def masked(text: str, span: Span) -> str:
    """A text in which a secret is not shown.

    Args:
        text: Usually a line.
        span: The characters of the secret, from and to; what of it is outside of the text is passed over.

    Returns:
        The text with `****` for the secret, behind at most 6 of its characters and at most a quarter of them, and only
        where they tell its kind: `sk-ant****`.
    """
    start, end = max(span[0], 0), min(span[1], len(text))
    if start >= end:
        return text
    return text[:start] + _shown_of(text[start:end]) + text[end:]


def _shown_of(secret: str) -> str:
    """What is shown in place of a secret."""
    if _MARK.match(secret) is None:
        return MASK
    return secret[: min(_MOST, len(secret) // _SHARE)] + MASK


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same characters in order, none of them twice."""
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def secret_spans(text: str) -> list[Span]:
    """Where secrets are in a text, as far as anything is known to be one, whatever is said of them elsewhere.

    What is known to be secret at one place is secret wherever it stands in the text.
    """
    return again(text, merged(spot.masked or (spot.start, spot.end) for spot in secrets(text)))


def again(text: str, spans: Sequence[Span]) -> list[Span]:
    """Where the same characters stand in a text as in some spans of it, these among them.

    Args:
        text: The text.
        spans: As `merged` orders them.
    """
    values = dict.fromkeys(text[start:end] for start, end in spans if end - start >= _TELLING)
    found = list(spans)
    for value in islice(values, _MOST_VALUES):
        at = text.find(value)
        while at >= 0:
            found.append((at, at + len(value)))
            at = text.find(value, at + len(value))
    return merged(found)


def without_secrets(lines: Sequence[str]) -> list[str]:
    """The lines of a text without any secret, also such as goes over many of them.

    Args:
        lines: All of them, without their ends.
    """
    text = "\n".join(lines)
    hidden = secret_spans(text)
    if not hidden:
        return list(lines)
    found: list[str] = []
    at = 0
    for line in lines:
        end = at + len(line)
        found.append(_without(text, at, end, hidden))
        at = end + 1
    return found


def touched(spans: Sequence[Span], first: int, last: int) -> Sequence[Span]:
    """The spans that hold characters from one up to another; they stand in order, and none is over another."""
    return spans[bisect_right(spans, first, key=lambda span: span[1]) : bisect_left(spans, (last, 0))]


def evidence_of(text: str, start: int, end: int, hidden: Sequence[Span]) -> str:
    """The line that something is in, cut to what is around it, with nothing secret in it.

    Args:
        text: The whole text.
        start: The first character of it.
        end: The one behind the last.
        hidden: Characters of the text that are not shown, as `merged` orders them.

    Returns:
        One line, in which also what is hidden is visible.
    """
    begin = text.rfind("\n", 0, start) + 1
    finish = text.find("\n", start)
    finish = len(text) if finish < 0 else finish
    line = text[begin:finish]
    begin += len(line) - len(line.lstrip(_BLANK))
    finish -= len(line) - len(line.rstrip(_BLANK))
    begin, finish = min(begin, start), max(finish, start)
    first, last = _window(begin, finish, start, min(end, finish))
    before = _CUT if first > begin else ""
    after = _CUT if last < finish else ""
    return f"{before}{one_line(_without(text, first, last, hidden))}{after}"


def _window(begin: int, finish: int, start: int, end: int) -> Span:
    """The characters of a line that are shown of it, with what was found as near to their middle as can be."""
    if finish - begin <= _WINDOW:
        return begin, finish
    room = _WINDOW - min(end - start, _WINDOW * 2 // 3)
    first = max(begin, min(start - room // 2, finish - _WINDOW))
    return first, first + _WINDOW


def _without(text: str, first: int, last: int, hidden: Sequence[Span]) -> str:
    """Characters of a text without what is hidden. A secret that begins before them shows nothing of itself."""
    parts: list[str] = []
    at = first
    for start, end in touched(hidden, first, last):
        parts.append(text[at : max(start, at)])
        parts.append(_shown_of(text[start:end]) if start >= first else MASK)
        at = min(end, last)
    parts.append(text[at:last])
    return "".join(parts)


@lru_cache(maxsize=8)
def _pieces_of(values: tuple[str, ...]) -> frozenset[str]:
    """All parts of secrets, each of `_TELLING` characters: words may quote a part of one, and cut the rest off."""
    found: set[str] = set()
    left = _MOST_PIECES
    for value in values:
        part = value[: max(left, 0)]
        left -= len(part)
        found.update(part[at : at + _TELLING] for at in range(len(part) - _TELLING + 1))
    return frozenset(found)


def _without_pieces(words: str, values: tuple[str, ...]) -> str:
    """Words in which no part of a secret stands that would help anybody."""
    pieces = _pieces_of(values)
    if not pieces:
        return words
    spans = [(at, at + _TELLING) for at in range(len(words) - _TELLING + 1) if words[at : at + _TELLING] in pieces]
    for start, end in reversed(_joined(spans)):
        words = words[:start] + _shown_of(words[start:end]) + words[end:]
    return words


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The same characters, where what touches is one span."""
    found: list[Span] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def cleaned(words: str, values: Collection[str] = ()) -> str:
    """Words about a note, such as what a rule says of it, without any secret.

    Args:
        words: What is said.
        values: Secrets that are known; also those that nobody would know in these words.
    """
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _FEWEST and value in words:
            words = words.replace(value, _shown_of(value))
    words = _without_pieces(words, tuple(values))
    for span in reversed(secret_spans(words)):
        words = masked(words, span)
    return words
