"""Numbers of payment cards: by issuer and length, grouped as on a card, and with the right check digit.

A number without groups is one only where words about cards are near it: orders and parcels have such numbers too.
Numbers that are published for tests are none.
"""

import re
from collections.abc import Iterator

from memtui.notes.secrets.checksums import luhn
from memtui.notes.spots import Spot

_HINT = re.compile(rb"0000[ -]?00000?0?[ -]?0000")
"""Digits as they stand in the number of a card, in a numeric outline."""
_NUMBER = re.compile(
    r"\d(?<![\w./+=#:-].)(?<!\d[ ,].)(?<![0-9A-F]{4}[ -].)\d{3}(?:"
    r"(?P<by>[ -])\d{4}(?P=by)\d{4}(?P=by)\d{4}(?:(?P=by)\d{3})?"
    r"|(?P<by5>[ -])\d{6}(?P=by5)\d{4,5}"
    r"|\d{9,15})(?![\w-]|[.,/:=]\d|[ -]\d|[ -][0-9A-F]{4}\b)"
)
_ISSUERS = (
    ("Visa", (13, 16, 19), re.compile(r"4")),
    ("Mastercard", (16,), re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720")),
    ("American Express", (15,), re.compile(r"3[47]")),
    ("Discover", (16,), re.compile(r"6011|64[4-9]|65")),
    ("JCB", (16,), re.compile(r"35(?:2[89]|[3-8])")),
    ("Diners Club", (14,), re.compile(r"30[0-5]|36|3[89]")),
    ("UnionPay", (16, 17, 18, 19), re.compile(r"62")),
)
_NEAR = re.compile(
    r"\bcards?\b|visa\b|master ?card|amex|american express|\bcvv|\bcvc|\bccn\b|\bpan\b|credit|debit|kredit|\bkarte"
    r"|carte|tarjeta|carta di|cartão|卡|カード|карт|\bexp(?:iry|ires|\.)?:?[ ]?\d\d/\d\d",
    re.IGNORECASE,
)
_AROUND = 100
_SAME = re.compile(r"(\d)\1{4}")
_TESTS = frozenset(
    "4242424242424242 4111111111111111 4012888888881881 5105105105105100 2223003122003222"  # noqa: SIM905
    " 378282246310005"
    " 371449635398431 378734493671000 6011111111111117 6011000990139424 3056930009020004 36227206271667"
    " 3566002020360505 3530111333300000 5200828282828210 4000056655665556 6205500000000000004 5454545454545454"
    " 5431111111111111 4917610000000000 4988438843884305 4166676667666746 30569309025904 38520000023237"
    " 5019717010103742 4571736000000075 4035501000000008 2222400070000005 5577000055770004 5136333333333335"
    " 370000000000002 6011601160116611 4444333322221111 4646464646464644 4009348888881881 4005519200000004".split()
)
"""Published for tests by those who process payments."""


def cards(text: str, outline: bytes) -> Iterator[Spot]:
    """Numbers of payment cards in a text.

    Args:
        text: The text.
        outline: Its numeric outline.
    """
    if _HINT.search(outline) is None:
        return
    for found in _NUMBER.finditer(text):
        digits = found.group().replace(" ", "").replace("-", "")
        issuer = next((name for name, sizes, head in _ISSUERS if len(digits) in sizes and head.match(digits)), None)
        if issuer is None or digits in _TESTS or _SAME.search(digits) or len(set(digits)) < 5 or not luhn(digits):
            continue
        if len(digits) == len(found.group()) and not _is_near(text, found):
            continue
        yield Spot("secret", "payment-card", *found.span(), f"the number of a payment card ({issuer})", found.span())


def _is_near(text: str, found: re.Match[str]) -> bool:
    start, end = max(0, found.start() - _AROUND), min(len(text), found.end() + _AROUND)
    return bool(_NEAR.search(text[start : found.start()]) or _NEAR.search(text[found.end() : end]))
