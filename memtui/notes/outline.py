"""The outline of a text: one byte for each character, which says of what kind it is.

Most notes hold nothing that is looked for. Whether one may is asked of its outline, by `in` or by an expression that
begins with a literal: that is many times as fast as to ask the text, so a note that is in order is passed nearly at
once. A character that is not ASCII may be of any kind; so an outline says yes too often, and never wrongly no.
"""

import re

_BLANKS = frozenset(b"\t\n\v\f\r\x1c\x1d\x1e\x1f ")
_DIGITS = frozenset(b"0123456789?")
"""Digits, and what a character becomes that is not ASCII."""
_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")

_SOLID = bytes(32 if byte in _BLANKS else 120 for byte in range(256))
_NUMERIC = bytes(
    48 if byte in _DIGITS else 65 if byte in _CAPITALS else byte if byte in b" .-" else 120 for byte in range(256)
)
_PAIRED = bytes(48 if byte in b"0123456789abcdefABCDEF" else 32 if byte == 32 else 120 for byte in range(256))

_LONG_NUMBER = re.compile(rb"00(?: 00 00|0(?:00|0[ -]000|[ .-]00(?:[ .-]000|0[ .-]?000)))")
"""Digits as they stand in all numbers of cards, accounts and persons, and in no date."""


def has_long_word(text: str, least: int) -> bool:
    """Whether there may be a word of so many characters."""
    return b"x" * least in text.encode("ascii", "replace").translate(_SOLID)


def has_pairs(text: str, least: int) -> bool:
    """Whether there may be so many pairs of hexadecimal digits, parted by a blank each."""
    return b" ".join([b"00"] * least) in text.encode("ascii", "replace").translate(_PAIRED)


def numeric(text: str) -> bytes:
    """The outline that tells digits (`0`), capitals (`A`), blanks, points and hyphens from the rest (`x`)."""
    return text.encode("ascii", "replace").translate(_NUMERIC)


def has_long_number(outline: bytes) -> bool:
    """Whether there may be as many digits as in a card, an account or an identity number, by a numeric outline."""
    return _LONG_NUMBER.search(outline) is not None
