"""The outline of a text: it may say yes too often, and never no where the text holds what is asked for."""

import random
import re

import pytest

from memtui.notes.spans import (
    blank_code,
    find_long_numbers,
    find_long_words,
    has_hex_pairs,
    has_hex_run,
    make_numeric_outline,
)

_MANY_DIGITS = re.compile(
    r"(?<![a-z_])\d\d(?<!\d\d\d)(?!\d\d-\d\d-\d\d\D)(?:(?:[ .-]?\d){7}|\d{5,6}[ -]?[A-Za-z](?!\w\w)"
    r"| ?\d\d ?\d\d ?[A-Z](?!\w\w))"
)
_LETTERS = "ab9Z0123 .-\n\té٣中\u2003\x1c%"


@pytest.mark.parametrize("seed", range(20))
def test_an_outline_never_denies_what_a_text_holds(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(500):
        text = "".join(chance.choices(_LETTERS, k=chance.randint(0, 60)))
        words = [text[start:end] for start, end in find_long_words(text, 6)]
        assert all(any(word in found for found in words) for word in text.split() if len(word) >= 6)
        assert find_long_numbers(text, make_numeric_outline(text)) or _MANY_DIGITS.search(text) is None


def test_an_outline_passes_a_text_that_holds_nothing() -> None:
    text = "Deploys go out on 2026-03-01, at 10:45, to 12 hosts.\n"
    assert not find_long_numbers(text, make_numeric_outline(text))
    assert list(find_long_words(text, 14)) == []
    assert not has_hex_pairs(text, 3)
    assert has_hex_pairs("so: 0a ff 10 .", 3)


def test_long_words_are_told_with_their_places() -> None:
    text = "a short one, and-one-that-is-long\nsechsundzwanzig"
    assert [text[start:end] for start, end in find_long_words(text, 12)] == ["and-one-that-is-long", "sechsundzwanzig"]


def test_hexadecimal_is_seen_with_colons_and_without() -> None:
    assert has_hex_run("x 00ffAA", 3)
    assert has_hex_run("x 00:ffAA", 3)
    assert not has_hex_run("00 ff aa", 3)


def test_a_fence_ends_in_a_note_with_carriage_returns_as_well() -> None:
    assert blank_code("a\r\n```\r\n[[x]]\r\n```\r\n[[y]] `[[z]]`\r\n").split() == ["a", "[[y]]"]
