"""What looks like something else: skeletons for comparing, and words that pretend to be Latin."""

import re
from importlib import resources

import pytest

from memtui.core.errors import Refusal
from memtui.core.paths import parse_path
from memtui.core.unicode import (
    HIDDEN,
    NOT_IN_NAMES,
    find_lookalikes,
    get_script,
    is_whole_script_confusable,
    looks_latin,
    skeleton,
    visible,
)
from memtui.scan.names import find_oddities


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


@pytest.mark.parametrize(
    "word",
    ["m\u0435mory", "\u0410gent", "p\u03bfst", "\uff41dmin", "\U0001d41amin", "sc\u0251n", "\uab83ork", "\u0448ork"],
)
def test_a_word_that_mixes_scripts_to_look_latin_is_known(word: str) -> None:
    assert find_lookalikes(word)


@pytest.mark.parametrize(
    "word",
    [
        "memory",
        "память",
        "Δt",
        "gitлаб",
        "日本語abc",
        "naïve",
        "Straße",
        "µs",
        "сор",
        "ΑΒΓ",
        "yazılım",
        "þing",
        "ƒuƒu",
        "",
    ],
)
def test_an_honest_word_is_left_alone(word: str) -> None:
    assert find_lookalikes(word) == []


def test_the_table_names_each_character_once_and_none_of_ascii() -> None:
    rows = resources.files("memtui.core").joinpath("confusables.txt").read_text(encoding="utf-8").splitlines()
    codes = [int(code, 16) for row in rows if not row.startswith("# ") for code in row.split()[1:]]
    assert len(codes) == len(set(codes)) > 600
    assert min(codes) > 0x7F
    assert all(len(row) <= 120 for row in rows)


def test_a_word_of_one_other_script_may_read_as_a_latin_one() -> None:
    assert is_whole_script_confusable("\u0440\u0430\u0443")
    assert not is_whole_script_confusable("память")
    assert not is_whole_script_confusable("pay")
    assert not is_whole_script_confusable("123")


def test_letters_know_their_script() -> None:
    assert [get_script(letter) for letter in "aжλ\U0001d41aＡ1_"] == [
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


def test_names_display_and_scan_go_by_one_table() -> None:
    """A character that no new name may hold is shown as an escape, and is told as deceptive where it stands."""
    refused = re.compile(f"[{NOT_IN_NAMES}]")
    for code in (*range(0x80, 0x3000), *range(0xFE00, 0x10000), *range(0xE0000, 0xE1000)):
        character = chr(code)
        if 0xD800 <= code < 0xE000 or not refused.match(character):
            continue
        name = f"a{character}b.md"
        assert HIDDEN.search(name), hex(code)
        with pytest.raises(Refusal):
            parse_path(f"/memories/{name}", making=True)
        assert "deceptive-name" in {oddity.rule for oddity in find_oddities(name)}, hex(code)


def test_blank_braille_is_shown_beside_braille_and_escaped_elsewhere() -> None:
    assert visible("a\u2800b") == "a<U+2800>b"
    assert visible("\u28ff\u2800\u2800\u28ff \u2800\u2801") == "\u28ff\u2800\u2800\u28ff \u2800\u2801"
