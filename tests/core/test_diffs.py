"""Comparing two texts: what is marked, what is paired, and what taking one change back leaves alone."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core import diffs
from memtui.core.diffs import Hunk, LineEnding, compare_texts, detect_line_ending, diff_words, revert_hunk
from tests.bench.limits import at_most

LINE = st.sampled_from(["a", "b", "", "c d", "c e", "x\r", "\ufeffa", "\udcff"])
TEXT = st.builds(
    lambda lines, last: "\n".join(lines) + ("\n" if last else ""), st.lists(LINE, max_size=9), st.booleans()
)


def words(line: str, ranges: list[diffs.Range]) -> list[str]:
    return [line[start:end] for start, end in ranges]


def applied(text: str, patch: str) -> str:
    """What a patch makes of a text, done by the letter."""
    old = diffs.split_lines(text)
    new: list[str] = []
    at = 0
    previous = ""
    for line in patch.split("\n")[2:-1]:
        if line.startswith("@@"):
            start, size = map(int, line.split(" ")[1][1:].split(","))
            start = start - 1 if size else start
            new += old[at:start]
            at = start
        elif line.startswith("\\"):
            if previous != "-":
                new[-1] = new[-1].removesuffix("\n")
        else:
            if line[0] in " -":
                assert old[at].removesuffix("\n") == line[1:]
                at += 1
            if line[0] in " +":
                new.append(line[1:] + "\n")
        previous = line[0]
    return "".join(new + old[at:])


@given(TEXT, TEXT)
def test_a_patch_makes_one_text_of_the_other_to_the_byte(before: str, after: str) -> None:
    assert applied(before, compare_texts(before, after).format_patch("f", "f")) == after if before != after else True


def test_a_patch_says_where_the_last_newline_is_missing() -> None:
    patch = compare_texts("a\nb", "a\nb\n").format_patch("notes/a b.md", None)
    assert patch == ("--- a/notes/a b.md\t\n+++ /dev/null\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n")


def test_a_patch_gives_places_without_lines_as_others_do() -> None:
    assert "@@ -0,0 +1,1 @@" in compare_texts("", "a\n").format_patch(None, "f")
    assert "@@ -1,1 +0,0 @@" in compare_texts("a\n", "").format_patch("f", None)


def test_a_patch_of_equal_texts_is_empty() -> None:
    assert compare_texts("a", "a").format_patch("f", "f") == ""


def test_a_name_in_a_patch_cannot_begin_another_line() -> None:
    patch = compare_texts("", "a\n").format_patch(None, 'x\n+++ b/"\udcff')
    assert patch.split("\n")[1] == '+++ "b/x\\012+++ b/\\"\\377"'


@given(TEXT, TEXT)
def test_taking_back_every_hunk_from_the_last_gives_the_old_text(before: str, after: str) -> None:
    hunks = compare_texts(before, after).hunks
    text = after
    for hunk in reversed(hunks):
        text = revert_hunk(before, text, hunk)
    assert text == before


@given(TEXT, TEXT, st.data())
def test_taking_back_a_hunk_leaves_every_other_byte(before: str, after: str, data: st.DataObject) -> None:
    difference = compare_texts(before, after)
    if not difference.hunks:
        return
    hunk = data.draw(st.sampled_from(difference.hunks))
    text = difference.revert_hunk(hunk)
    start, end = "".join(difference.new[: hunk.new_start]), "".join(difference.new[hunk.new_end :])
    assert text == start + "".join(difference.old[hunk.old_start : hunk.old_end]) + end


def test_a_hunk_is_taken_back_in_a_later_text_too() -> None:
    difference = compare_texts("\ufeffone\r\ntwo\r\nthree", "\ufeffone\r\nTWO\r\nthree")
    [hunk] = difference.hunks
    assert difference.revert_hunk_in(hunk, "zero\n\ufeffone\r\nTWO\r\nthree\nfour") == (
        "zero\n\ufeffone\r\ntwo\r\nthree\nfour"
    )


@pytest.mark.parametrize(
    "current",
    ["one\nTWO again\nthree\n", "one\nthree\n", "", "one\nTWO\nand\nTWO\nthree\n"],
    ids=["changed", "gone", "all gone", "not clear which"],
)
def test_a_hunk_whose_lines_changed_since_is_not_taken_back(current: str) -> None:
    difference = compare_texts("one\ntwo\nthree\n", "one\nTWO\nthree\n")
    assert difference.revert_hunk_in(difference.hunks[0], current) is None


def test_lines_that_were_removed_come_back_only_between_the_lines_they_stood_between() -> None:
    difference = compare_texts("one\ntwo\nthree\n", "one\nthree\n")
    [hunk] = difference.hunks
    assert difference.revert_hunk_in(hunk, "zero\none\nthree\n") == "zero\none\ntwo\nthree\n"
    assert difference.revert_hunk_in(hunk, "one\nnew\nthree\n") is None


@given(TEXT, TEXT, TEXT)
def test_taking_back_in_a_later_text_never_joins_lines(before: str, after: str, current: str) -> None:
    difference = compare_texts(before, after)
    for hunk in difference.hunks:
        text = difference.revert_hunk_in(hunk, current)
        if text is not None:
            old = difference.old[hunk.old_start : hunk.old_end]
            assert len(diffs.split_lines(text)) == len(diffs.split_lines(current)) - (
                hunk.new_end - hunk.new_start
            ) + len(old)


def test_lines_that_are_alike_stand_opposite_each_other() -> None:
    old = "- Timezone: Europe/Berlin\n- Likes tea\n"
    new = "- Moved in March\n- Timezone: Europe/Lisbon\n- Likes tea with milk\n"
    assert compare_texts(old, new).pair_lines() == [[(None, 0), (0, 1), (1, 2)]]


def test_lines_that_are_not_alike_stand_opposite_each_other_in_order() -> None:
    assert compare_texts("one\ntwo\n", "Alpha\nBeta\nGamma\n").pair_lines() == [[(0, 0), (1, 1), (None, 2)]]


@given(TEXT, TEXT)
def test_both_sides_hold_every_changed_line_once_and_in_order(before: str, after: str) -> None:
    difference = compare_texts(before, after)
    for hunk, side in zip(difference.hunks, difference.pair_lines(), strict=True):
        assert [old for old, _ in side if old is not None] == list(range(hunk.old_start, hunk.old_end))
        assert [new for _, new in side if new is not None] == list(range(hunk.new_start, hunk.new_end))
        assert (None, None) not in side


def test_changed_words_are_singled_out() -> None:
    old, new = "- Prefers **concise** answers\n", "- Prefers **very concise** answers\n"
    one, other = diff_words(old, new)
    assert (words(old, one), words(new, other)) == ([], ["very "])
    one, other = diff_words("Europe/Berlin", "Europe/Lisbon")
    assert (words("Europe/Berlin", one), words("Europe/Lisbon", other)) == (["Berlin"], ["Lisbon"])


def test_spaces_between_changed_words_are_part_of_the_change() -> None:
    old, new = "keep this one two three, and that", "keep this four five six, and that"
    one, other = diff_words(old, new)
    assert (words(old, one), words(new, other)) == (["one two three"], ["four five six"])


def test_a_change_of_spaces_or_line_ends_is_seen() -> None:
    assert diff_words("a  b", "a b") == ([(1, 3)], [(1, 2)])
    assert diff_words("some words\r\n", "some words\n") == ([(10, 11)], [])


def test_two_lines_that_have_nothing_in_common_have_no_changed_words() -> None:
    assert diff_words("Noted outside", "Works from Lisbon on Fridays") == ([], [])


def test_a_family_of_joined_emoji_is_one_word() -> None:
    old, new = "we are \U0001f468\u200d\U0001f469\u200d\U0001f467 at home", "we are \U0001f468\u200d\U0001f469 at home"
    one, other = diff_words(old, new)
    assert words(old, one) == ["\U0001f468\u200d\U0001f469\u200d\U0001f467"]
    assert words(new, other) == ["\U0001f468\u200d\U0001f469"]


@given(st.text(alphabet="ab c.\u0301\u200d\U0001f468", max_size=30), st.text(alphabet="ab c.\u0301\u200d", max_size=30))
def test_what_is_not_marked_is_the_same_on_both_sides(old: str, new: str) -> None:
    one, other = diff_words(old, new)
    if (one or other) or old == new:
        assert _without(old, one) == _without(new, other)
    for ranges in (one, other):
        assert all(start < end for start, end in ranges)
        assert all(before[1] <= after[0] for before, after in pairwise(ranges))


def _without(line: str, ranges: list[diffs.Range]) -> str:
    for start, end in reversed(ranges):
        line = line[:start] + line[end:]
    return line


def test_of_a_line_of_a_megabyte_both_ends_are_compared() -> None:
    old = "word " * 200_000
    new = old[:500_000] + "new " + old[500_000:]
    with at_most(1):
        one, other = diff_words(old, new)
    assert one == []
    assert _without(new, other) == old


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", LineEnding.NONE),
        ("a", LineEnding.NONE),
        ("a\nb", LineEnding.LF),
        ("a\r\n", LineEnding.CRLF),
        ("a\r\n\n", "mixed"),
    ],
)
def test_line_ends_have_a_name(text: str, ends: LineEnding) -> None:
    assert detect_line_ending(diffs.split_lines(text)) == ends


def test_a_missing_last_newline_is_a_hunk() -> None:
    assert compare_texts("a\nb", "a\nb\n").hunks == (Hunk(1, 2, 1, 2),)


@pytest.mark.timeout(60)
def test_a_hundred_thousand_lines_are_compared_and_paired_within_seconds() -> None:
    random.seed(1)
    old = [f"line {number} {random.random()}" for number in range(100_000)]
    new = [f"{line}!" if number % 2 else line for number, line in enumerate(old)]
    with at_most(10):
        difference = compare_texts("\n".join(old), "\n".join(new))
        sides = difference.pair_lines()
    assert len(sides) == difference.counts.added == 50_000
