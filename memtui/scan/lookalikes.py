"""Words and hosts in letters that look like others, and characters that stand for nothing.

After Unicode Technical Standard 39, "Unicode Security Mechanisms", with its table of confusables. A word of one
alphabet is a word of its language; one that reads as Latin and mixes alphabets is nobody's. Of a host that is not so,
for there a whole name in another alphabet leads somewhere else than it reads.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from memtui.core.unicode import (
    find_lookalikes,
    get_script,
    is_whole_script_confusable,
    load_lookalike_letters,
    skeleton,
    to_one_line,
)
from memtui.scan.spots import Spot

_MOST = 200
_LONGEST = 64
"""Letters of a word."""
_FEWEST_LETTERS = 4
_FEWEST_LATIN = 2
"""Letters that are Latin in a word with others that only look so: `σx` is a formula."""
_HOST = re.compile(r"(?<![\w.-])(?:[\w-]{1,63}\.){1,8}(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59})(?![\w-])", re.IGNORECASE)
_NO_CHARACTER = re.compile(
    "[\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]+"
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]{4,}")
"""Four and more: fonts for terminals and editors have symbols there, which stand alone."""


def find_lookalike_text(text: str) -> Iterator[Spot]:
    """What reads otherwise than it is written, by rule, not in order."""
    hosts: list[tuple[int, int]] = []
    if not text.isascii() or "xn--" in text.lower():
        for spot in islice(_find_hosts(text), _MOST):
            hosts.append((spot.start, spot.end))
            yield spot
    if text.isascii():
        return
    for spot in islice(_find_words(text), _MOST):
        if not any(start <= spot.start < end for start, end in hosts):
            yield spot
    for found in islice(_NO_CHARACTER.finditer(text), _MOST):
        words = f"{found.end() - found.start()} codes that are never characters in Unicode"
        yield Spot("hidden", "no-character", *found.span(), words)
    for found in islice(_PRIVATE.finditer(text), _MOST):
        words = f"{found.end() - found.start()} characters of private use in a row, which have no public meaning"
        yield Spot("hidden", "no-character", *found.span(), words)


@cache
def _get_boundary() -> re.Pattern[str]:
    """A Latin letter and one that only looks so beside each other."""
    letters = load_lookalike_letters()
    return re.compile(f"[A-Za-z][0-9_]?[{letters}]|[{letters}][0-9_]?[A-Za-z]")


def _find_words(text: str) -> Iterator[Spot]:
    end = 0
    for found in _get_boundary().finditer(text):
        if found.start() < end:
            continue
        first, end = found.start(), found.end()
        while first > 0 and found.start() - first < _LONGEST and text[first - 1].isalnum():
            first -= 1
        while end < len(text) and end - found.end() < _LONGEST and text[end].isalnum():
            end += 1
        word = text[first:end]
        if word[1] == "_" and get_script(word[0]) == "greek":  # a symbol with what it is of, as in formulas
            continue
        if (false := _find_false_letters(word)) is not None:
            script = get_script(false).capitalize()
            words = (
                f"“{to_one_line(word)}” reads “{skeleton(word)}”, but a letter in it is {script} (U+{ord(false):04X})"
            )
            yield Spot("hidden", "mixed-script-word", first, end, words)


def _find_false_letters(word: str) -> str | None:
    """The first letter of a word that pretends to be Latin; `None` for an honest word."""
    letters = sum(map(str.isalpha, word))
    latin = sum(letter.isascii() and letter.isalpha() for letter in word)
    if letters < _FEWEST_LETTERS or latin < _FEWEST_LATIN:
        return None
    false = [letter for letter in find_lookalikes(word) if get_script(letter) not in ("latin", "styled")]
    return false[0] if false else None


def _find_hosts(text: str) -> Iterator[Spot]:
    for found in _HOST.finditer(text):
        host = found.group()
        if host.isascii() and "xn--" not in host.lower():
            continue
        labels = [_decode_label(label) for label in host.split(".")]
        name = ".".join(labels)
        for label in labels:
            if label.isascii():
                continue
            if is_whole_script_confusable(label) or find_lookalikes(label):
                words = f"“{to_one_line(host)}” reads “{skeleton(name)}”, but is another host"
                yield Spot("hidden", "lookalike-host", *found.span(), words)
                break


def _decode_label(label: str) -> str:
    """A part of a host's name as it is shown (RFC 3492)."""
    if not label.lower().startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, OverflowError, ValueError):
        return label
