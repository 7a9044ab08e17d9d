"""The outline of a text: one byte for each character, which says of what kind it is.

Most notes hold nothing that is looked for. Whether one may is asked of its outline, by `in` or by an expression that
begins with a literal: that is many times as fast as to ask the text, so a note that is in order is passed nearly at
once. A character that is not ASCII may be of any kind; so an outline says yes too often, and never wrongly no.
"""

import re
from collections.abc import Iterator

_BLANKS = frozenset(b"\t\n\v\f\r\x1c\x1d\x1e\x1f ")
_DIGITS = frozenset(b"0123456789?")
"""Digits, and what a character becomes that is not ASCII."""
_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")

_SOLID = bytes(32 if byte in _BLANKS else 120 for byte in range(256))
_NUMERIC = bytes(
    48 if byte in _DIGITS else 65 if byte in _CAPITALS else byte if byte in b" .-" else 120 for byte in range(256)
)
_PAIRED = bytes(48 if byte in b"0123456789abcdefABCDEF" else 32 if byte == 32 else 120 for byte in range(256))

_LONG_NUMBER = re.compile(rb"00(?<!000)(?!00-00-00[^0])(?:(?:[ .-]?0){7}|0{5,6}[ -]?[Ax]| ?00 ?00 ?A)")
"""Digits as they stand in all numbers of cards, accounts and persons, and in no date: nine of them in a row or with
signs between, seven or eight and a letter, six in pairs and a capital."""
_WITHIN = frozenset("abcdefghijklmnopqrstuvwxyz_")
"""What stands before digits that are in the middle of a word, as those of a hash."""


def long_words(text: str, least: int) -> Iterator[tuple[int, int]]:
    """Where words of so many ASCII characters at least begin and end; others may be part of them."""
    outline = text.encode("ascii", "replace").translate(_SOLID)
    start = outline.find(b"x" * least)
    while start >= 0:
        end = outline.find(b" ", start + least)
        end = end if end >= 0 else len(outline)
        yield start, end
        start = outline.find(b"x" * least, end)


def has_pairs(text: str, least: int) -> bool:
    """Whether there may be so many pairs of hexadecimal digits, parted by a blank each."""
    return b" ".join([b"00"] * least) in text.encode("ascii", "replace").translate(_PAIRED)


def has_hexadecimal(text: str, least: int) -> bool:
    """Whether there may be so many pairs of hexadecimal digits, with nothing or colons between them."""
    return b"00" * least in text.encode("ascii", "replace").translate(_PAIRED, b":")


def numeric(text: str) -> bytes:
    """The outline that tells digits (`0`), capitals (`A`), blanks, points and hyphens from the rest (`x`)."""
    return text.encode("ascii", "replace").translate(_NUMERIC)


def long_numbers(text: str, outline: bytes) -> list[tuple[int, int]]:
    """Where there may be as many digits as in a card, an account or an identity number, from and to.

    Args:
        text: The text.
        outline: Its numeric outline.
    """
    spans = [found.span() for found in _LONG_NUMBER.finditer(outline)]
    return [(start, end) for start, end in spans if not _is_in_word(text, start, end)]


def _is_in_word(text: str, start: int, end: int) -> bool:
    """Whether digits, and a letter that may be behind them, are in the middle of a word, or the letter is none."""
    if text[max(start - 1, 0)] in _WITHIN and text[start].isascii():
        return True
    last = text[end - 1]
    return last.isascii() and not last.isdigit() and (not last.isalpha() or text[end : end + 2].isalnum())
