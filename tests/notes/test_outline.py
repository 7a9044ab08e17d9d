"""The outline of a text: it may say yes too often, and never no where the text holds what is asked for."""

import random

import pytest

from memtui.notes.outline import has_long_number, has_long_word, has_pairs, numeric
from memtui.notes.secrets.ids import _MANY_DIGITS

_LETTERS = "ab9Z0123 .-\n\té٣中\u2003\x1c%"


@pytest.mark.parametrize("seed", range(20))
def test_an_outline_never_denies_what_a_text_holds(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(500):
        text = "".join(chance.choices(_LETTERS, k=chance.randint(0, 60)))
        assert has_long_word(text, 6) or not any(len(word) >= 6 for word in text.split())
        assert has_long_number(numeric(text)) or _MANY_DIGITS.search(text) is None


def test_an_outline_passes_a_text_that_holds_nothing() -> None:
    text = "Deploys go out on 2026-03-01, at 10:45, to 12 hosts.\n"
    assert not has_long_number(numeric(text))
    assert not has_long_word(text, 14)
    assert not has_pairs(text, 3)
    assert has_pairs("so: 0a ff 10 .", 3)
