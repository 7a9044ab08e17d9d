"""Whether a password is a word that a person has made up, such as the default of a development machine.

Such a value is a secret, but mostly of a database on somebody's own machine: where nothing says that it opens more, it
should be looked at, and need not stop a pipeline. A value that a generator made, and one beside a host or the word
production, must not stay.
"""

import re
from functools import cache
from itertools import pairwise

from memtui.scan.ruleset import load_rules

RULE = "weak-password"

_PARTS = re.compile(r"(?P<first>[A-Za-z]{2,16})(?:[-_.](?P<second>[A-Za-z]{2,12}))?[-_.]?(?P<digits>\d{0,10})")
"""One or two words, and the digits behind them. Three words or more are what a generator of phrases makes."""
_LONGEST = 20
_MOST_DIGITS = 4
_ROW = "01234567890"
_COMMON_PAIRS = 0.55
"""The part of neighbouring letters that are common ones in words: of letters by chance it is about 0.3."""
_FEWEST_VOWELS = 0.2
_CONSONANTS = re.compile(r"[^aeiouy]{4}")
_LINES = 3
"""Lines before and after a password in which it is said where it is used."""
_MOST_NEAR = 600
_PRODUCTION = re.compile(
    r"""(?ix)(?<![a-z])(?:prod|prd|production|produktion|producción|live[ _-]?(?:server|system|site))(?![a-z])
    | \b(?:ssh|scp|sftp|rdp|vpn)\s
    | (?:host|hostname|server|endpoint|addr|address)[\"'\w]{0,8}[ \t]{0,3}[:=][ \t]{0,3}[\"'`]?(?P<host>[\w.-]{4,100})
    | (?!https?:)\b[a-z][a-z0-9+.-]{1,20}://(?:[^\s/@]{1,100}@)?(?P<address>[\w.-]{4,100})
    | [\w.-]{2,40}@(?P<account>[\w-]{1,60}(?:\.[\w-]{1,60}){1,5})"""
)
_LOCAL = re.compile(
    r"(?i)localhost|[\w-]*|(?:127|10|0|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+|(?:.*\.)?(?:local|localhost|internal|lan"
    r"|test|example|invalid|example\.(?:com|org|net)|docker)"
)
"""What names a machine of one's own, or none: without a dot it is a container or a variable."""


def is_word_with_digits(value: str) -> bool:
    """Whether a value is one word or two, with a few digits behind them at most.

    Large letters among small ones, and signs, are what a policy asks for: such a password is for more than one's own.
    """
    found = _PARTS.fullmatch(value) if len(value) <= _LONGEST else None
    if found is None or not (value.islower() or value.isupper()):
        return False
    digits = found["digits"]
    letters = (found["first"] + (found["second"] or "")).lower()
    return (len(digits) <= _MOST_DIGITS or digits in _ROW) and _reads_as_word(letters)


def _reads_as_word(letters: str) -> bool:
    if len(letters) <= 4:  # too few to have been made by a generator
        return True
    pairs = [one + other for one, other in pairwise(letters)]
    vowels = sum(letter in "aeiouy" for letter in letters)
    return (
        sum(pair in _load_pairs() for pair in pairs) >= _COMMON_PAIRS * len(pairs)
        and vowels >= _FEWEST_VOWELS * len(letters)
        and _CONSONANTS.search(letters) is None
    )


@cache
def _load_pairs() -> frozenset[str]:
    return frozenset(" ".join(load_rules("secrets")[RULE].get_words("pairs")).split())


def is_own_host(host: str) -> bool:
    """Whether a host is a machine of one's own, or a container on it."""
    return _LOCAL.fullmatch(host) is not None


def is_beside_production(text: str, start: int, end: int) -> bool:
    """Whether the lines around a password name a host that is not of one's own machine, or production."""
    begin, until = start, end
    for _ in range(_LINES + 1):
        begin = max(text.rfind("\n", max(start - _MOST_NEAR, 0), begin), start - _MOST_NEAR, 0)
        at = text.find("\n", until, end + _MOST_NEAR)
        until = (at if at >= 0 else min(end + _MOST_NEAR, len(text) - 1)) + 1
    for found in _PRODUCTION.finditer(text, begin, min(until, len(text))):
        place = found["host"] or found["address"] or found["account"]
        if place is None or not is_own_host(place):
            return True
    return False
