"""Masking of secrets: their place is shown, and not their text.

Evidence goes into reports, pipelines' logs and pull requests: what stands there once is out. So nothing of a secret is
ever shown but the letters by which its issuer marks its kind, and those only as far as they are a small part of it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice

from memtui.core.unicode import to_one_line
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules
from memtui.scan.ruleset import load_pattern
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Span, Spot

MASK = "****"
_MOST = 6  # characters of a secret that are shown at most
_SHARE = 4  # no more than one in so many of its characters is shown
_WINDOW = 120  # characters of a line that are shown of it
_FEWEST = 4  # secrets that are shorter are not looked for in other texts: they would be found in every word
_TELLING = 8
"""Characters of a secret that are hidden also where only they stand, such as in words that quote a part of it."""
_MOST_VALUES = 500  # secrets of one text that are looked for in all of it
_MOST_PIECES = 200_000  # characters of secrets whose parts are looked for in words
_AROUND = 600  # characters before and behind a shown line with which a secret in it is found
_PASSAGE = 2  # lines before and behind the evidence
_CUT = "..."
_BLANK = " \t\r"


def mask_text(text: str, span: Span) -> str:
    """A text with a secret masked.

    Returns:
        The text with `****` for the secret, after at most 6 of its characters, at most a quarter of them, and only
        where they tell its kind: `sk-ant****`.
    """
    start, end = max(span[0], 0), min(span[1], len(text))
    if start >= end:
        return text
    return text[:start] + _mask_secret(text[start:end]) + text[end:]


def _mask_secret(secret: str) -> str:
    """What is shown in place of a secret."""
    if load_pattern("secrets", "mark").match(secret) is None:
        return MASK
    return secret[: min(_MOST, len(secret) // _SHARE)] + MASK


def merge_spans(spans: Iterable[Span], *, joins_adjacent: bool = False) -> list[Span]:
    """The same characters in order, none of them twice; adjacent spans stay apart, or become one."""
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start < found[-1][1] + joins_adjacent:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def find_secret_spans(text: str, rules: SecretRules = NO_SECRET_RULES, path: str = "") -> list[Span]:
    """Where secrets are in a text, as far as anything is known to be one, whatever is said of them elsewhere.

    What is known to be secret at one place is secret wherever it stands in the text.

    Args:
        rules: Of a person's own files.
        path: Of the text's file, relative to the folder; for those rules.
    """
    return find_repeated_spans(text, get_masked_spans([*find_secrets(text), *rules.find(text, path).spots]))


def get_masked_spans(spots: Iterable[Spot]) -> list[Span]:
    """The characters that some secrets are, in order and none twice."""
    return merge_spans(spot.masked or (spot.start, spot.end) for spot in spots)


def find_repeated_spans(text: str, spans: Sequence[Span]) -> list[Span]:
    """Where the same characters stand in a text as in some spans of it, these among them."""
    values = dict.fromkeys(text[start:end] for start, end in spans if end - start >= _TELLING)
    found = list(spans)
    for value in islice(values, _MOST_VALUES):
        at = text.find(value)
        while at >= 0:
            found.append((at, at + len(value)))
            at = text.find(value, at + len(value))
    return merge_spans(found)


def mask_lines(lines: Sequence[str], rules: SecretRules = NO_SECRET_RULES, path: str = "") -> list[str]:
    """The lines of a text without any secret, also such as goes over many of them."""
    text = "\n".join(lines)
    hidden = find_secret_spans(text, rules, path)
    if not hidden:
        return list(lines)
    found: list[str] = []
    at = 0
    for line in lines:
        end = at + len(line)
        found.append(_mask_excerpt(text, at, end, hidden))
        at = end + 1
    return found


def find_overlapping_spans(spans: Sequence[Span], first: int, last: int) -> Sequence[Span]:
    """The spans that hold characters from one up to another; they stand in order, and none is over another."""
    return spans[bisect_right(spans, first, key=lambda span: span[1]) : bisect_left(spans, (last, 0))]


def build_evidence(
    text: str, start: int, end: int, hidden: Sequence[Span], find_more: Callable[[str], Sequence[Span]] | None = None
) -> str:
    """The line of a span, cut to its surroundings, secrets masked.

    Args:
        text: The note.
        start: Of the span.
        end: Of the span.
        hidden: The secrets of the note.
        find_more: Looks for secrets around it again, where there may be more than these.

    Returns:
        One line, hidden characters made visible.
    """
    begin = text.rfind("\n", 0, start) + 1
    finish = text.find("\n", start)
    finish = len(text) if finish < 0 else finish
    line = text[begin:finish]
    begin += len(line) - len(line.lstrip(_BLANK))
    finish -= len(line) - len(line.rstrip(_BLANK))
    begin, finish = min(begin, start), max(finish, start)
    first, last = _find_excerpt_bounds(begin, finish, start, min(end, finish))
    before = _CUT if first > begin else ""
    after = _CUT if last < finish else ""
    if find_more is not None:
        at = max(0, first - _AROUND)
        around = find_more(text[at : last + _AROUND])
        near = find_overlapping_spans(hidden, first, last)
        hidden = merge_spans([*near, *((at + one, at + other) for one, other in around)])
    return f"{before}{to_one_line(_mask_excerpt(text, first, last, hidden))}{after}"


def build_passage(
    text: str, start: int, end: int, hidden: Sequence[Span], find_more: Callable[[str], Sequence[Span]] | None = None
) -> str:
    """The evidence of a span and up to two lines before and behind it, each as `build_evidence` makes it."""
    before, behind = list[int](), list[int]()
    at = text.rfind("\n", 0, start) + 1
    while at and len(before) < _PASSAGE:
        at = text.rfind("\n", 0, at - 1) + 1
        before.append(at)
    at = text.find("\n", start) + 1
    while at and at < len(text) and len(behind) < _PASSAGE:
        behind.append(at)
        at = text.find("\n", at) + 1
    spans = [*((at, at) for at in reversed(before)), (start, end), *((at, at) for at in behind)]
    return "\n".join(build_evidence(text, first, last, hidden, find_more) for first, last in spans)


def _find_excerpt_bounds(begin: int, finish: int, start: int, end: int) -> Span:
    """The characters of a line that are shown of it, with what was found as near to their middle as can be."""
    if finish - begin <= _WINDOW:
        return begin, finish
    room = _WINDOW - min(end - start, _WINDOW * 2 // 3)
    first = max(begin, min(start - room // 2, finish - _WINDOW))
    return first, first + _WINDOW


def _mask_excerpt(text: str, first: int, last: int, hidden: Sequence[Span]) -> str:
    """Characters of a text without what is hidden. A secret that begins before them shows nothing of itself."""
    parts: list[str] = []
    at = first
    for start, end in find_overlapping_spans(hidden, first, last):
        parts.append(text[at : max(start, at)])
        parts.append(_mask_secret(text[start:end]) if start >= first else MASK)
        at = min(end, last)
    parts.append(text[at:last])
    return "".join(parts)


@lru_cache(maxsize=8)
def _split_secrets(values: tuple[str, ...]) -> frozenset[str]:
    """All parts of secrets, each of `_TELLING` characters: words may quote a part of one, and cut the rest off."""
    found: set[str] = set()
    left = _MOST_PIECES
    for value in values:
        part = value[: max(left, 0)]
        left -= len(part)
        found.update(part[at : at + _TELLING] for at in range(len(part) - _TELLING + 1))
    return frozenset(found)


def _mask_fragments(words: str, values: tuple[str, ...]) -> str:
    """Words in which no part of a secret stands that would help anybody."""
    pieces = _split_secrets(values)
    if not pieces:
        return words
    spans = [(at, at + _TELLING) for at in range(len(words) - _TELLING + 1) if words[at : at + _TELLING] in pieces]
    for start, end in reversed(merge_spans(spans, joins_adjacent=True)):
        words = words[:start] + _mask_secret(words[start:end]) + words[end:]
    return words


def mask_message(words: str, values: Collection[str] = (), rules: SecretRules = NO_SECRET_RULES, path: str = "") -> str:
    """Words about a note, such as what a rule says of it, without any secret.

    Args:
        values: Known secrets, also those that no rule would find in these words.
        rules: Of a person's own files.
        path: Of the note, relative to the folder; for those rules.
    """
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _FEWEST and value in words:
            words = words.replace(value, _mask_secret(value))
    words = _mask_fragments(words, tuple(values))
    for span in reversed(find_secret_spans(words, rules, path)):
        words = mask_text(words, span)
    return words
