"""Whether a value behind or beside the name of a secret is one, and no word, reference, placeholder or hash."""

import re
from functools import cache
from itertools import pairwise

from memtui.scan.checksums import check_crc32
from memtui.scan.ruleset import load_rules
from memtui.scan.tokens import count_steps, is_placeholder, is_published, measure_entropy

_FEWEST_OF_PASSWORD, _FEWEST_OF_KEY, LONGEST = 6, 16, 1_200
_STEPS = 0.6  # how many of its characters may follow the one before
_DIGIT, _LETTER = re.compile(r"[0-9]"), re.compile(r"[A-Za-z]")
_CHECKED = ("ghp_", "gho_", "ghu_", "ghr_", "npm_")
_WEAK = re.compile(r"(?=[^0-9]*[a-z])[a-z0-9_-]{4,40}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX_KEY = re.compile(r"(?=.{0,16}[0-9])(?=.{0,40}[a-fA-F])[0-9a-fA-F]{32,128}")
_BITS_OF_HEX = 3.0
_FEWEST_LETTERS, _FEWEST_DIGITS, _BITS_OF_LETTERS = 20, 3, 3.6
_KEY = re.compile(r"[A-Za-z0-9_+/.-]{16,400}")
_CHARACTERS_OF_TURN, _STEPS_OF_KEY = 5, 0.3
"""Characters for each change between letters and digits in a key at most, and how many may follow the one before."""
_BITS_OF_KEY = 3.0
"""Bits for each character that the value of a key has at least: that of sixteen random ones is about 3.6."""


@cache
def get_pattern(name: str) -> re.Pattern[str]:
    """A pattern of the rule, compiled."""
    return load_rules("secrets")["password-assignment"].get_pattern(name)


@cache
def get_words(name: str) -> frozenset[str]:
    """A list of words of the rule."""
    return frozenset(load_rules("secrets")["password-assignment"].get_words(name))


def is_key(value: str) -> bool:
    """Whether a machine has made it for nothing but to be secret, as far as that can be seen."""
    return is_secret(value, is_password=False, is_prose=False)


def is_strong_password(value: str) -> bool:
    """Whether nobody would take it for anything but a password, wherever it stands: of three kinds of characters."""
    kinds = (
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        any(not letter.isalnum() and letter not in "-_./,:'’\"`" for letter in value),
    )
    is_word = re.fullmatch(r"[\w.+-]+@[\w.-]+|\W*[A-Za-z]+\W*\d{0,4}\W*|[^\W_]+(?:[(\[{<=|/].*)", value)
    return (
        8 <= len(value) <= 64
        and value.isascii()
        and (sum(map(str.isdigit, value)) > 1 or (kinds[2] and kinds[3]))
        and not value.startswith("-")
        and not re.match(r"\d+[:.]\d", value)
        and sum(kinds) >= 3
        and not is_word
        and not re.search(r"[(){}\[\]<>|=;`\\]|//|\.\w{2,4}\Z", value)
        and is_secret(value, is_password=True, is_prose=True)
    )


def is_secret(value: str, *, is_password: bool, is_prose: bool) -> bool:
    """Whether a value behind the name of a password or a key is one; in prose it may be a word of the sentence."""
    if not (_FEWEST_OF_PASSWORD if is_password else _FEWEST_OF_KEY) <= len(value) <= LONGEST:
        return False
    if not (_looks_invented(value) if is_password else _looks_random(value)) or " " in value or "\t" in value:
        return False
    if is_prose and is_password and not _looks_strong(value):
        return False
    bare = value.rstrip("=")
    if (
        bare.casefold() in get_words("other_values")
        or get_pattern("type").fullmatch(value)
        or get_pattern("placeholder").search(value)
        or count_steps(value) > _STEPS
    ):
        return False
    if (
        get_pattern("reference").match(value)
        or get_pattern("condition").fullmatch(value)
        or get_pattern("own_name" if is_password else "own_name_of_key").fullmatch(value)
        or (get_pattern("name").fullmatch(bare) and not _is_code_of_capitals(bare))
        or get_pattern("camel_case").fullmatch(bare)
        or get_pattern("identifier").fullmatch(value)
    ):
        return False
    return not is_published(value) and (not value.startswith(_CHECKED) or check_crc32(value))  # else it was made up


def _is_bare_key(value: str) -> bool:
    """Whether a word that stands behind a name with only a blank between is a key all the same."""
    return (
        len(value) >= _FEWEST_LETTERS
        and value.isalnum()
        and sum(map(str.isdigit, value)) >= 2
        and any(map(str.islower, value))
        and any(map(str.isupper, value))
        and measure_entropy(value) >= _BITS_OF_LETTERS
        and is_key(value)
    )


def is_mixed_key(value: str) -> bool:
    """Whether letters and digits, some joined by hyphens, change so often that no word or number is in them."""
    bare = value.rstrip("=")
    turns = sum(one.isdigit() != other.isdigit() for one, other in pairwise(bare))
    return (
        _KEY.fullmatch(bare) is not None
        and turns * _CHARACTERS_OF_TURN >= len(bare)
        and measure_entropy(bare) >= _BITS_OF_KEY
        and count_steps(bare) <= _STEPS_OF_KEY
        and (is_digest_key(bare) or is_key(bare))
    )


def is_plain_key(value: str) -> bool:
    """Whether a value is a key by its looks alone, behind a name that says no more than that."""
    return _is_bare_key(value) or is_mixed_key(value)


def is_weak_password(value: str) -> bool:
    """Whether a word may be what somebody has set for a password, as behind the name of a variable."""
    return (
        _WEAK.fullmatch(value) is not None
        and value not in get_words("other_values")
        and get_pattern("placeholder").search(value) is None
        and get_pattern("own_name").fullmatch(value) is None
        and not is_placeholder(value)
    )


def is_digest_key(value: str) -> bool:
    """Whether a value is as long as a key in hexadecimal, or a UUID: behind the name of a secret it is no commit."""
    bare = value.replace("-", "") if _UUID.fullmatch(value) else value
    return (
        _HEX_KEY.fullmatch(bare) is not None and measure_entropy(bare) >= _BITS_OF_HEX and count_steps(bare) <= _STEPS
    )


def _looks_invented(value: str) -> bool:
    """Whether somebody would take it for a password: of more than one kind of character, and no word or name."""
    letters = any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    others = any(not letter.isalnum() and letter not in "-_./,:" for letter in value)
    return len(set(value)) >= 4 and letters + digits + others >= 2 and letters


def _looks_strong(value: str) -> bool:
    """Whether it is no word of a sentence, such as `Base64-encoded` or `5-minute`."""
    digits = sum(map(str.isdigit, value))
    others = any(not letter.isalnum() and letter not in "-_./,:'’" for letter in value.strip("()[]\"'"))
    return (
        value.isascii() and (digits >= 1 or others) and not re.fullmatch(r"\d+[-A-Za-z]+|[A-Za-z]+[-/][A-Za-z]+", value)
    )


def _looks_random(value: str) -> bool:
    """Whether a machine has made it: many different characters, digits among letters, and no words."""
    if not value.isascii() or not _LETTER.search(value):
        return False
    if not _DIGIT.search(value):
        return _looks_shuffled(value)
    if measure_entropy(value) < _BITS_OF_KEY:
        return False
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", value) if part]
    wordy = sum(len(part) for part in parts if part.isalpha() and (part.islower() or part.istitle() or part.isupper()))
    return wordy <= len(value) // 2


def _is_code_of_capitals(value: str) -> bool:
    """Whether capitals and digits are a key, and not the name of a constant."""
    return value.isalnum() and len(value) >= _FEWEST_LETTERS and sum(map(str.isdigit, value)) >= _FEWEST_DIGITS


def _looks_shuffled(value: str) -> bool:
    """Whether letters alone are a key: large and small ones as often as by chance, and never as in a name."""
    small = sum(map(str.islower, value))
    large = sum(map(str.isupper, value))
    turns = sum(one.islower() != other.islower() for one, other in pairwise(value))
    return (
        len(value) >= _FEWEST_LETTERS
        and small + large == len(value)
        and min(small, large) * 4 >= len(value)
        and turns * 3 >= len(value)
        and measure_entropy(value) >= _BITS_OF_LETTERS
    )
