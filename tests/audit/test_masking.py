"""Evidence shows where a secret is, and nothing of it that would help anybody."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.audit.masking import MASK, build_evidence, build_passage, mask_message, mask_text, merge_spans
from tests.bench.limits import at_most

_TAIL = "".join(random.Random(6).choices(string.ascii_letters + string.digits, k=40))
"""What no issuer has ever given out."""
ANTHROPIC = "sk-" + "ant-" + _TAIL
PERSONAL = "gh" + "p_" + _TAIL[:36]


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        (ANTHROPIC, "sk-ant****"),
        (PERSONAL, "ghp_" + _TAIL[:2] + "****"),
        ("AK" + "IA" + "Q" * 16, "AKIAQ****"),
        ("correct horse battery staple", "****"),
        ("hunter22", "****"),
        ("4" + "1" * 15, "****"),
        ("horse-battery-staple", "****"),
    ],
)
def test_only_what_tells_the_kind_is_shown_of_a_secret(secret: str, shown: str) -> None:
    line = f"token: {secret}, and more"
    assert mask_text(line, (7, 7 + len(secret))) == f"token: {shown}, and more"


@given(st.text(min_size=1, max_size=80), st.text(max_size=20), st.text(max_size=20))
def test_never_more_than_a_quarter_and_never_more_than_six_characters_are_shown(
    secret: str, before: str, after: str
) -> None:
    shown = mask_text(before + secret + after, (len(before), len(before) + len(secret)))
    kept = shown[len(before) : len(shown) - len(after)].removesuffix(MASK)
    assert shown.startswith(before)
    assert shown.endswith(after)
    assert len(kept) <= min(6, len(secret) // 4)
    assert secret.startswith(kept)


@given(st.integers(0, 30), st.integers(0, 30))
def test_a_span_outside_of_the_text_is_passed_over(start: int, end: int) -> None:
    text = "0123456789"
    shown = mask_text(text, (start, end))
    assert shown.replace(MASK, "") in (text[:start] + text[max(start, end) :], text)


def test_spans_that_overlap_become_one() -> None:
    assert merge_spans([(5, 9), (0, 2), (8, 12), (3, 3), (12, 14)]) == [(0, 2), (5, 12), (12, 14)]


def test_evidence_is_the_line_without_what_is_secret_in_it() -> None:
    text = f"first\n   token: {ANTHROPIC} of ada \r\nlast\n"
    start = text.index("sk-")
    assert (
        build_evidence(text, start, start + len(ANTHROPIC), [(start, start + len(ANTHROPIC))])
        == "token: sk-ant**** of ada"
    )


def test_a_long_line_is_cut_around_what_was_found() -> None:
    text = "a" * 5_000 + "FOUND" + "b" * 5_000
    shown = build_evidence(text, 5_000, 5_005, [])
    assert "aaFOUNDbb" in shown
    assert shown.startswith("...")
    assert shown.endswith("...")
    assert len(shown) <= 130


def test_what_is_found_at_the_end_of_a_long_line_is_shown() -> None:
    text = "x " * 3_000 + "FOUND"
    shown = build_evidence(text, len(text) - 5, len(text), [])
    assert shown.endswith("x FOUND")
    assert shown.startswith("...")


def test_what_begins_before_the_cut_shows_nothing_of_itself() -> None:
    text = "k" * 4_000 + " FOUND"
    shown = build_evidence(text, 4_001, 4_006, [(0, 4_000)])
    assert shown == f"...{MASK} FOUND"


def test_what_spans_lines_is_shown_by_its_first_one() -> None:
    text = "one\ntwo (\nthree\n) four\n"
    assert build_evidence(text, text.index("("), text.index(")"), []) == "two ("


def test_hidden_characters_are_shown_in_evidence() -> None:
    assert build_evidence("say \u202eneves\x1b[31m", 4, 5, []) == "say <U+202E>neves\\x1b[31m"


@given(
    st.text(alphabet="ab \n\t\r\u202e", max_size=400),
    st.integers(0, 400),
    st.integers(0, 50),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=3),
)
def test_evidence_is_one_line_whatever_was_found(
    text: str, start: int, length: int, spans: list[tuple[int, int]]
) -> None:
    start = min(start, len(text))
    shown = build_evidence(text, start, min(start + length, len(text)), merge_spans(spans))
    assert "\n" not in shown
    assert "\u202e" not in shown


def test_words_of_a_rule_hold_no_secret_even_if_it_puts_one_there() -> None:
    assert mask_message(f"the value is {ANTHROPIC} here") == "the value is sk-ant**** here"
    assert mask_message("it says hunter22 twice: hunter22", ["hunter22"]) == "it says **** twice: ****"
    assert mask_message("a b c", ["b"]) == "a b c"


def test_a_line_of_a_megabyte_is_shown_in_no_time() -> None:
    text = "sk-" * 350_000
    with at_most(1):
        shown, words = build_evidence(text, 500_000, 500_100, []), mask_message(text[:400])
    assert 0 < len(shown) < 1_000
    assert 0 < len(words) <= 400


def test_a_passage_is_the_evidence_with_two_lines_around_it_and_no_part_of_a_secret() -> None:
    lines = ["first", "horse battery", "staple x", "  do as I say", "", "after", "last"]
    text = "\n".join(lines)
    start, hidden = text.index("do as"), [(text.index("horse"), text.index(" x"))]
    assert build_passage(text, start, start + 5, hidden) == "****\n**** x\ndo as I say\n\nafter"
    assert build_passage("one line", 0, 3, []) == "one line"
    assert build_passage("a\nb\n", 2, 3, []) == "a\nb"
