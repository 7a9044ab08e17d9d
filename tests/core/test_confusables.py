"""What looks like something else: skeletons for comparing, and words that pretend to be Latin."""

import pytest

from memtui.core.confusables import is_whole_script, lookalikes, looks_latin, script_of, skeleton


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("memory", "m\u0435m\u043er\u0443"),
        ("PAYPAL", "\u0420\u0410\u0423\u0420\u0410L"),
        ("notes", "n\u03bfte\u0455"),
        ("readme", "\uff52\uff45\uff41\uff44\uff4d\uff45"),
        ("agent", "\U0001d41a\U0001d420\U0001d41e\U0001d427\U0001d42d"),
        ("plan", "pl\u200ban"),
        ("plan", "PLAN"),
        ("a-b", "a\u2011b"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_what_looks_the_same_has_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), [("plan", "plane"), ("б", "b"), ("notes", "nötes"), ("日本", "日木")])
def test_what_looks_different_has_another_one(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@pytest.mark.parametrize("word", ["m\u0435mory", "\u0410gent", "p\u03bfst", "\uff41dmin", "\U0001d41amin", "sc\u0251n"])
def test_a_word_that_mixes_scripts_to_look_latin_is_known(word: str) -> None:
    assert lookalikes(word)


@pytest.mark.parametrize(
    "word", ["memory", "память", "Δt", "gitлаб", "日本語abc", "naïve", "Straße", "µs", "сор", "ΑΒΓ", ""]
)
def test_an_honest_word_is_left_alone(word: str) -> None:
    assert lookalikes(word) == []


def test_a_word_of_one_other_script_may_read_as_a_latin_one() -> None:
    assert is_whole_script("\u0440\u0430\u0443")
    assert not is_whole_script("память")
    assert not is_whole_script("pay")
    assert not is_whole_script("123")


def test_letters_know_their_script() -> None:
    assert [script_of(letter) for letter in "aжλ\U0001d41aＡ1_"] == [
        "latin",
        "cyrillic",
        "greek",
        "styled",
        "styled",
        "",
        "",
    ]
    assert looks_latin("\u0430")
    assert not looks_latin("a")
    assert not looks_latin("\u2011")
