"""Keys and tokens that are known by their looks: a prefix, a checksum, a letter that always stands in the same place.

There are some two hundred forms, and most notes have no word that could be a key. So a text is not asked for each of
them: its long words are looked at once, by how they begin, and only what begins as a key does is compared.
"""

import hashlib
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, TypeVar

from memtui.notes.spans import get_other_letters
from memtui.scan.checksums import find_check
from memtui.scan.ruleset import join_lines, load_rules
from memtui.scan.spots import Spot

K = TypeVar("K")
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
"""A key does not begin within a word."""
_NO_WORD_BEFORE = r"(?<![A-Za-z0-9_])"
_NO_WORD_BEHIND = r"(?![A-Za-z0-9_-])"
_SHORT = 3  # characters of a keyword that is also found in hashes, behind a hyphen
_SHORTEST = 14  # characters that a key has at least, without a blank

_OF_KEYS = bytes(120 if chr(byte) in _WORD or byte in b"+/=.~$:@%-?!" else 32 for byte in range(256))
"""An `x` for what is in keys, and for what a character becomes that is not ASCII; a blank for the rest."""
_NOT_SMALL = re.compile(r"[0-9A-Z]")  # no key is of small letters alone; addresses and names in code are
_PARTED = bytes(byte if chr(byte) in _WORD else 32 for byte in range(256))

_FEWEST_CHARACTERS = 6  # A key has at least so many different characters; `sk-ant-aaaaaaaa` is a picture of one
_TAIL = 24  # characters of a long value that are looked at
_FEWEST_TURNS = 6  # letters, and digits, that count by themselves
_JOHN_DOE = "kpvaG4gRG9lI"
"""What the name is in base64 that the signed tokens of introductions are issued to."""
_SEQUENTIAL = re.compile(r"(?=[0-9_+/.-]{0,400}[A-Za-z])(?=.{16,400}\Z)(?:[A-Za-z0-9]+[_+/.-])*[A-Za-z0-9]+={0,2}")
_DIGITS_OF_HASH = 16
_STEPS = 0.5  # how many of its characters may follow the one before, as in `abcdef` and `123456`

SEQUENTIAL_RULE = "sequential-key"

_CLUES = (
    "pass", "pw", "key", "secret", "token", "cred", "log", "auth",
    "kennwort", "zugang", "anmeldung", "senha", "contrase", "wachtwoord", "heslo", "parola", "salasana",
)  # fmt: skip
"""What is in the words that name secrets."""


class Form:
    """How a key looks."""

    def __init__(self, rule: str, table: Mapping[str, Any]) -> None:
        self.rule = rule
        self.description: str = table["description"]
        self.keywords: tuple[str, ...] = tuple(table.get("keywords", ()))
        self.contains: tuple[str, ...] = tuple(table.get("contains", ()))
        self.lengths: tuple[int, ...] = tuple(table.get("lengths", ()))
        self._table = table

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole; a group `value` is what is secret in it."""
        regex = join_lines(self._table["regex"])
        begin = _NO_WORD_BEFORE if regex[0] in "([" else ""  # a literal at the beginning is found far faster
        return re.compile(f"{begin}{regex}{_NO_WORD_BEHIND if self._table.get('boundary', True) else ''}")

    @cached_property
    def check(self) -> Callable[[str], bool] | None:
        """What else must be true of the value."""
        return find_check(self._table["checksum"]) if "checksum" in self._table else None


class _FormIndex:
    """The forms, and their numbers by what each is known by."""

    def __init__(self, forms: tuple[Form, ...]) -> None:
        self.forms = forms
        self.by_head = self._index_by(lambda form: (keyword[:2].encode() for keyword in form.keywords))
        self.by_length = self._index_by(lambda form: form.lengths)
        self.by_content = tuple(self._index_by(lambda form: form.contains).items())
        self.heads, self.lengths = frozenset(self.by_head), frozenset(self.by_length)

    def _index_by(self, keys: Callable[[Form], Iterable[K]]) -> Mapping[K, tuple[int, ...]]:
        found: dict[K, tuple[int, ...]] = {}
        for number, form in enumerate(self.forms):
            for key in dict.fromkeys(keys(form)):
                found[key] = (*found.get(key, ()), number)
        return found

    def find_candidates(self, words: str) -> set[int]:
        """The forms that something may have, by how the parts of words begin, how long they are, and what is in."""
        parts = words.encode("ascii", "replace").translate(_PARTED).split()
        heads = self.heads.intersection([part[:2] for part in parts])
        lengths = self.lengths.intersection(map(len, parts))
        found = {number for head in heads for number in self.by_head[head]}
        found.update(number for length in lengths for number in self.by_length[length])
        found.update(number for each, numbers in self.by_content if each in words for number in numbers)
        return found


@cache
def _load_index() -> _FormIndex:
    return _FormIndex(
        tuple(
            Form(entry.id, table)
            for entry in load_rules("secrets").values()
            for table in entry.forms
            if table.keys() & {"keywords", "contains", "lengths"} and not table.keys() & {"assigned_to", "near"}
        )
    )


def find_tokens(text: str, words: str) -> Iterator[Spot]:
    """What in a text has the form of a key."""
    if not words:
        return
    index = _load_index()
    for number in sorted(index.find_candidates(words)):
        form = index.forms[number]
        if form.keywords and not any([keyword in words for keyword in form.keywords]):  # noqa: C419 - a list is twice as fast
            continue
        if form.pattern.search(words) is None:
            continue
        for found in form.pattern.finditer(text):
            before = text[found.start() - 1 : found.start()]
            if before in _WORD or (before == "-" and form.keywords and len(form.keywords[0]) <= _SHORT):
                continue
            group = "value" if "value" in form.pattern.groupindex else 0
            value = found.group(group)
            if is_placeholder(value):
                if is_sequential_key(value):
                    yield make_sequential_spot(found.start(), found.end(), found.span(group))
            elif form.check is None or form.check(value):
                certain = bool(form.keywords)
                spot = Spot(
                    "secret", form.rule, found.start(), found.end(), form.description, found.span(group), certain
                )
                yield spot


def begins_token(words: str) -> bool:
    """Whether something in words begins as a key does whose form is known."""
    index = _load_index()
    forms = [index.forms[number] for number in index.find_candidates(words)]
    return "eyJ" in words or any(each in words for form in forms for each in (*form.keywords, *form.contains))


def find_long_words(text: str) -> list[tuple[int, int]]:
    """What in a text is long enough to be a key, or a piece of one, from and to: of most notes next to nothing."""
    solid = text.encode("ascii", "replace").translate(_OF_KEYS)
    least = b"x" * _SHORTEST
    found: list[tuple[int, int]] = []
    at = solid.find(least)
    while at >= 0:
        end = solid.find(b" ", at)
        end = len(solid) if end < 0 else end
        if _NOT_SMALL.search(text, at, end):
            found.append((at, end))
        at = solid.find(least, end)
    return found


def join_words(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Words of a text, parted by blanks."""
    return " ".join([text[start:end] for start, end in spans])


# What is asked of values and of the names before them


def is_placeholder(value: str) -> bool:
    """Whether a value only shows how a secret looks, as documentation and examples do."""
    return is_regular(value) or is_example(value) or is_published(value)


def is_published(value: str) -> bool:
    """Whether documentation prints a value as an example, or a program for developers has it on every machine."""
    digest = hashlib.sha256(value.rstrip("=").encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:_DIGITS_OF_HASH] in load_rules("secrets").hashes


def is_regular(value: str) -> bool:
    """Whether the characters of a value follow one another, or are few, as a generator's never are."""
    return _has_few_characters(value) or _is_sequential(value)


def _has_few_characters(value: str) -> bool:
    return len(set(value[:400])) < min(_FEWEST_CHARACTERS, max(2, len(value) // 2))


def _is_sequential(value: str) -> bool:
    """Up or down, in letters of either case; also where letters and digits count by themselves, as in `a1b2c3d4`."""
    tail = (value[-_TAIL:] if len(value) > 40 else value[len(value) // 4 :]).lower()
    if count_steps(tail) > _STEPS or count_steps(tail[::-1]) > _STEPS:
        return True
    letters, digits = "".join(filter(str.isalpha, tail)), "".join(filter(str.isdigit, tail))
    return min(len(letters), len(digits)) >= _FEWEST_TURNS and min(map(count_steps, (letters, digits))) > _STEPS


def is_example(value: str) -> bool:
    """Whether a value says that it is none: with `your`, `example` or an ellipsis in it."""
    allowed = load_rules("secrets").allowed
    words = (word for pattern in allowed for word in pattern.findall(value[:4_000]))
    return _JOHN_DOE in value or any(map(_is_word, words))


def is_sequential_key(value: str) -> bool:
    """Whether a value has the length and the characters of a key, and they follow one another, as in `abcdef123456`.

    What repeats one character or a few is a placeholder for everybody, and none.
    """
    return (
        _SEQUENTIAL.fullmatch(value) is not None
        and _is_sequential(value)
        and not _has_few_characters(value[-_TAIL:])
        and not is_example(value)
    )


def make_sequential_spot(start: int, end: int, masked: tuple[int, int]) -> Spot:
    """Such a value as a spot: a placeholder, or a key that anybody can guess."""
    return Spot("secret", SEQUENTIAL_RULE, start, end, "a key of sequential characters", masked)


def _is_word(written: str) -> bool:
    """Whether somebody has written it: `fake` and `FAKE` are words, `fAKe` comes about by chance."""
    return written in (written.lower(), written.upper(), written.title())


def count_steps(value: str) -> float:
    """How many of the characters of a value follow the one before, or are the same, from 0 to 1."""
    if len(value) < 2:
        return 0.0
    codes = [*map(ord, value)]
    steps = [*map(operator.sub, codes[1:], codes)]
    return (steps.count(0) + steps.count(1)) / len(steps)


def measure_entropy(value: str) -> float:
    """Bits for each character, after how often each is there (C. E. Shannon, 1948)."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def lower_text(text: str) -> str:
    """The text in lower case, with every character in its place."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(small if len(small := character.lower()) == 1 else character for character in text)
    return lowered


def find_clues(lowered: str) -> frozenset[str]:
    """What of the words that name secrets is in a text: looked for once, for all that look for such names.

    Of names that are not of ASCII alone it is only known that their other letters are there.
    """
    found = [clue for clue in _CLUES if clue in lowered]
    if not lowered.isascii():
        others = get_other_letters(lowered)
        found += [name for name, letters in _load_foreign_names() if letters in others]
    return frozenset(found)


@cache
def _load_foreign_names() -> tuple[tuple[str, str], ...]:
    """Names of secrets that are not of ASCII alone, and their letters that are none."""
    words = load_rules("secrets")["password-assignment"].get_words("passwords")
    return tuple((name, get_other_letters(name)) for name in words if not name.isascii())


def find_word(lowered: str, word: str) -> list[int]:
    """Where a word is in a text, from the beginning on; both in lower case."""
    found: list[int] = []
    at = lowered.find(word)
    while at >= 0:
        found.append(at)
        at = lowered.find(word, at + len(word))
    return found
