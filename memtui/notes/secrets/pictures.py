"""What only shows how a secret looks, as documentation and examples do."""

import itertools
import re

_PLACEHOLDER = re.compile(
    r"example|sample|dummy|xxxx|\*\*\*|\.\.\.|…|your[_-]?|placeholder|redacted|masked|<|\$\{|\{\{|changeme|change[_-]me"
    r"|insert[_-]?|replace[_-]?|not[_-]?(?:a[_-]?)?real|fake",
    re.IGNORECASE,
)
_FEWEST_CHARACTERS = 6
"""A key has at least so many different characters; `sk-ant-aaaaaaaa` is a picture of one."""
_STEPS = 0.5
"""How many of its characters may follow the one before, as in `abcdef` and `123456`."""


def is_picture(value: str) -> bool:
    """Whether a value only shows how a secret looks."""
    fewest = min(_FEWEST_CHARACTERS, max(2, len(value) // 2))
    if len(set(value[:400])) < fewest:
        return True
    tail = value[-24:] if len(value) > 40 else value[len(value) // 4 :]
    return steps(tail) > _STEPS or any(map(_is_a_word, _PLACEHOLDER.findall(value[:4_000])))


def _is_a_word(written: str) -> bool:
    """Whether somebody has written it: `fake` and `FAKE` are words, `fAKe` comes about by chance."""
    return written in (written.lower(), written.upper(), written.title())


def steps(value: str) -> float:
    """How many of the characters of a value follow the one before, or are the same, from 0 to 1."""
    if len(value) < 2:
        return 0.0
    codes = [ord(character) for character in value]
    return sum(after - before in (0, 1) for before, after in itertools.pairwise(codes)) / (len(value) - 1)
