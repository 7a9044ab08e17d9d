"""Numbers of payment cards, bank accounts and persons: by their form, their check digits, and the words around them.

Where a form alone is weak, as nine digits are, a word that names the number must be near: orders and parcels have such
numbers too. Numbers that are published for tests or printed as examples are none.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

from memtui.core.lazy_dataclass import dataclass
from memtui.notes.spans import make_numeric_outline
from memtui.scan.checksums import check_luhn, check_mod_97, find_check
from memtui.scan.ruleset import Entry, join_lines, load_rules
from memtui.scan.spots import Spot

_CARD_OUTLINE = re.compile(rb"0000[ -]?00000?0?[ -]?0000")
"""Digits as they stand in the number of a card, in a numeric outline."""
_AROUND_CARD = 100
_SAME = re.compile(r"(\d)\1{4}")
_ACCOUNT_OUTLINE = b"AA00"  # how the number of an account begins, in a numeric outline
_AROUND = 80  # characters before a number among which the word that names it is looked for
_HEAD = 12  # characters of a number that may stand before its first digits in a row
_NOT_IN_WORD = r"(?<![\w./+=-])"
_NOT_ON = r"(?![\w-]|[.,/]\d)"
_SIGNS = str.maketrans("", "", " -+.")
_FIRST = re.compile(r"[^\W\d_]{2,}")


def _get_rule(id: str) -> Entry:
    return load_rules("secrets")[id]


@cache
def _load_issuers() -> tuple[tuple[str, tuple[int, ...], re.Pattern[str]], ...]:
    """Issuers of cards: name, numbers of digits, and how theirs begin."""
    return tuple(
        (each["name"], tuple(each["lengths"]), re.compile(each["regex"]))
        for each in _get_rule("payment-card").get("issuers")
    )


def find_cards(text: str, outline: bytes) -> Iterator[Spot]:
    """Numbers of payment cards in a text."""
    if _CARD_OUTLINE.search(outline) is None:
        return
    rule = _get_rule("payment-card")
    for found in rule.get_pattern("number").finditer(text):
        digits = found.group().replace(" ", "").replace("-", "")
        issuer = next(
            (name for name, sizes, head in _load_issuers() if len(digits) in sizes and head.match(digits)), None
        )
        if (
            issuer is None
            or digits in rule.stopwords
            or _SAME.search(digits)
            or len(set(digits)) < 5
            or not check_luhn(digits)
        ):
            continue
        if len(digits) == len(found.group()) and not _is_near_card(text, found):
            continue
        yield Spot("secret", "payment-card", *found.span(), f"a payment card number ({issuer})", found.span())


def _is_near_card(text: str, found: re.Match[str]) -> bool:
    context = _get_rule("payment-card").get_pattern("context")
    start, end = max(0, found.start() - _AROUND_CARD), min(len(text), found.end() + _AROUND_CARD)
    return bool(context.search(text[start : found.start()]) or context.search(text[found.end() : end]))


def find_accounts(text: str, outline: bytes) -> Iterator[Spot]:
    """International account numbers (ISO 13616) in a text."""
    if _ACCOUNT_OUTLINE not in outline:
        return
    rule = _get_rule("bank-account")
    lengths = rule.get("lengths")
    for found in rule.get_pattern("number").finditer(text):
        number = found.group().replace(" ", "")
        size = lengths.get(number[:2])
        if size is None or len(number) < size or number[:size] in rule.stopwords:
            continue
        end = found.start() + _measure(found.group(), size)
        if (len(number) == size or text[end : end + 1] == " ") and check_mod_97(number[:size]):
            span = (found.start(), end)
            yield Spot("secret", "bank-account", *span, f"a bank account number ({number[:2]})", span)


def _measure(written: str, size: int) -> int:
    """How many characters of what is written hold that many that are no blanks."""
    for place, character in enumerate(written):
        size -= character != " "
        if size == 0:
            return place + 1
    return len(written)


@dataclass(frozen=True, slots=True)
class _Number:
    """One kind of national number.

    Attributes:
        keywords: One must stand before it, in lower case, at the beginning of a word; if empty, the form suffices.
        check: Validates the number without blanks and signs.
    """

    description: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool]


@cache
def _load_numbers() -> tuple[_Number, ...]:
    return tuple(
        _Number(
            each["description"],
            tuple(each.get("keywords", ())),
            re.compile((_NOT_IN_WORD if "keywords" in each else "") + join_lines(each["regex"]) + _NOT_ON),
            find_check(each["checksum"]),
        )
        for each in _get_rule("national-id").get("numbers")
    )


@cache
def _index_keywords() -> dict[str, list[tuple[str, int]]]:
    """The keywords, and whose they are, by the two letters that they begin with."""
    found: dict[str, list[tuple[str, int]]] = {}
    for number, each in enumerate(_get_rule("national-id").get("numbers")):
        for keyword in each.get("keywords", ()):
            found.setdefault(keyword[:2], []).append((keyword, number))
    return found


@cache
def _index_outlines() -> tuple[tuple[bytes, int], ...]:
    every = enumerate(_get_rule("national-id").get("numbers"))
    return tuple((outline.encode(), number) for number, each in every for outline in each.get("outlines", ()))


def is_example(written: str) -> bool:
    """Whether a number is one that is printed to show how such a number looks, or of next to no different digits."""
    return written.upper() in _get_rule("national-id").stopwords or len(set(written)) <= 2


def find_national_ids(text: str, lowered: str, words: str, spans: list[tuple[int, int]]) -> Iterator[Spot]:
    """National numbers in a text."""
    numbers = _find_kinds(_text_before(lowered, spans)) if spans else set()
    rest = make_numeric_outline(words)
    if b"00" in rest:
        numbers.update(number for outline, number in _index_outlines() if outline in rest)
    taken: set[int] = set()
    for number in sorted(numbers):
        kind = _load_numbers()[number]
        for found in kind.pattern.finditer(text):
            written = found.group().translate(_SIGNS)
            if found.start() in taken or is_example(written) or not kind.check(written):
                continue
            if kind.keywords and not _is_find_kinds(lowered, found.start(), kind.keywords):
                continue
            taken.add(found.start())
            yield Spot("secret", "national-id", *found.span(), kind.description, found.span())


def _text_before(lowered: str, spans: list[tuple[int, int]]) -> str:
    """What stands before and at long numbers; of most notes next to nothing."""
    parts, until = [], 0
    for start, end in spans:
        parts.append(lowered[max(until, start - _AROUND - _HEAD) : end])
        until = end
    return "".join(parts)


def _find_kinds(near: str) -> set[int]:
    """The kinds that are named in what stands before numbers."""
    by_first = _index_keywords()
    firsts = {word[:2] for word in _FIRST.findall(near)}
    return {number for first in firsts for keyword, number in by_first.get(first, ()) if keyword in near}


def _is_find_kinds(lowered: str, at: int, keywords: tuple[str, ...]) -> bool:
    before = lowered[max(0, at - _AROUND) : at]
    return any(re.search(rf"(?<![a-z]){re.escape(keyword)}", before) for keyword in keywords)
