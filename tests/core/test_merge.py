"""Putting two people's changes together: what is decided, what is left to a person, and that nothing is lost."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.core.merge import MergeSide, find_conflict_markers, merge_texts, merge_without_base
from tests.sampling import many

BASE = "# Notes\n\n- Prefers **concise** answers\n- Timezone: Europe/Berlin\n- Likes ruff\n\nend\n"

_LINE = st.sampled_from(["a b c d", "a b c e", "x", "y", "", "=======", "<<<<<<< x", "- [ ] do it", "é ü\u202e"])
TEXTS = st.builds(
    lambda lines, ended: "\n".join(lines) + ("\n" if ended and lines else ""),
    st.lists(_LINE, max_size=8),
    st.booleans(),
)


def _changed(text: str, **words: str) -> str:
    for old, new in words.items():
        assert old in text
        text = text.replace(old, new)
    return text


# What is decided


def test_changes_to_different_lines_go_together() -> None:
    merged = merge_texts(BASE, _changed(BASE, Berlin="Lisbon"), _changed(BASE, end="the end"))
    assert merged.is_clean
    assert merged.text == BASE.replace("Berlin", "Lisbon").replace("end", "the end")
    assert (merged.mine_count, merged.theirs_count) == (1, 1)


def test_changes_to_different_words_of_one_line_go_together() -> None:
    merged = merge_texts(BASE, _changed(BASE, answers="answers, in English"), _changed(BASE, concise="very concise"))
    assert merged.is_clean
    assert "- Prefers **very concise** answers, in English\n" in merged.text
    [place] = merged.hunks
    assert place.side is MergeSide.BOTH
    assert place.first_line == 3


@pytest.mark.parametrize(
    ("base", "mine", "theirs"),
    [
        ("due on May 3\n", "due on June 3\n", "due on May 4\n"),  # a date that nobody meant
        ("due 2026-11-21\n", "due 2027-11-21\n", "due 2026-12-21\n"),
        ("one two three\n", "one 2 three\n", "one zwei three\n"),
        ("one two three\n", "one three\n", "one two! three\n"),
        ("one\n", "one\nmine\n", "one\ntheirs\n"),  # who comes first?
        ("a line that goes\n", "", "a line that stays\n"),
        ("short\n", "nothing like it at all\n", "something else again\n"),
        (
            "aaaa bbbb cccc dddd eeee\n",
            "xxxx yyyy zzzz dddd eeee\n",
            "aaaa bbbb cccc dddd ffff\n",
        ),  # mostly another line
    ],
)
def test_what_cannot_be_decided_is_left_to_a_decision(base: str, mine: str, theirs: str) -> None:
    merged = merge_texts(base, mine, theirs)
    assert not merged.is_clean
    [conflict] = merged.conflicts
    assert merged.text == merged.resolve([MergeSide.MINE]) == mine
    assert merged.resolve([MergeSide.THEIRS]) == theirs
    both = merged.resolve([MergeSide.BOTH])
    for lines in (conflict.mine, conflict.theirs):
        assert "".join(lines) in both


def test_one_line_and_the_next_one_go_together_whatever_they_say() -> None:
    merged = merge_texts("one\ntwo\nthree\n", "one\nTWO\nthree\n", "ONE\ntwo\nTHREE\n")
    assert (merged.is_clean, merged.text) == (True, "ONE\nTWO\nTHREE\n")
    assert [place.side for place in merged.hunks] == [MergeSide.THEIRS, MergeSide.MINE, MergeSide.THEIRS]
    # but not a line that was taken out, beside what was put in after it
    assert not merge_texts("one\ntwo\nthree\n", "one\nthree\n", "one\ntwo\nmore on two\nthree\n").is_clean


def test_neighbouring_lines_are_told_apart_by_what_they_still_say() -> None:
    base = "- milk from the shop\n- bread from the baker\n"
    merged = merge_texts(base, base.replace("milk", "oat milk"), base.replace("bread", "dark bread"))
    assert merged.is_clean
    assert merged.text == "- oat milk from the shop\n- dark bread from the baker\n"


def test_the_same_change_of_both_is_made_once() -> None:
    both = BASE.replace("Berlin", "Lisbon")
    assert merge_texts(BASE, both + "mine\n", both).text == both + "mine\n"
    same_start = merge_texts("end\n", "end\nsame\nmine\n", "end\nsame\n")
    assert (same_start.is_clean, same_start.text) == (True, "end\nsame\nmine\n")


def test_a_last_line_without_its_newline_never_grows_together_with_another() -> None:
    assert merge_texts("a", "a\nb", "c\na").text == "c\na\nb"
    assert merge_texts("a\n", "a", "a\nb\n").text == "a\nb\n"
    assert merge_texts("x", "mine", "theirs").resolve([MergeSide.BOTH]) == "mine\ntheirs"


def test_the_line_of_a_place_depends_on_what_was_decided_before_it() -> None:
    merged = merge_texts("a\nb\nc\n", "m\nb\nm\n", "t\nb\nt\n")
    assert merged.find_line([MergeSide.MINE, MergeSide.MINE], 1) == 3
    assert merged.find_line([MergeSide.BOTH, MergeSide.MINE], 1) == 4
    assert merged.find_line([MergeSide.BOTH, MergeSide.MINE], 0) == 1


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Title\n=======\n\n||||||| x\n", ()),
        ("<<<<<<< a\nx\n", (1,)),
        ("x\n>>>>>>> b\n", (2,)),
        ("<<<<<< six\n<<<<<<<seven\n > >>>>>>>\n", ()),
        ("t\n<<<<<<< a\nx\n||||||| base\n=======\ny\n>>>>>>> b\n", (2, 4, 5, 7)),
        ("<<<<<<<< a\nHead\n=======\n========\ny\n>>>>>>>> b\n", (1, 4, 6)),
    ],
)
def test_left_over_markers_are_found_and_headings_are_none(text: str, lines: tuple[int, ...]) -> None:
    assert sorted(find_conflict_markers(text)) == list(lines)


def test_without_a_base_the_lines_of_both_are_kept() -> None:
    merged = merge_without_base("one\nmine\ntwo\n", "one\ntwo\ntheirs\n")
    assert (merged.is_clean, merged.text) == (True, "one\nmine\ntwo\ntheirs\n")
    assert not merge_without_base("one\nmine\n", "one\ntheirs\n").is_clean


# What holds for any texts


@given(TEXTS, TEXTS)
def test_where_only_one_changed_something_it_is_that_ones_text(base: str, other: str) -> None:
    assert merge_texts(base, other, base).text == other
    assert merge_texts(base, base, other).text == other
    assert merge_texts(base, other, other).text == other
    assert merge_texts(base, other, base).is_clean
    assert merge_texts(base, base, other).is_clean
    assert merge_texts(base, other, other).is_clean


@given(TEXTS, TEXTS, TEXTS)
def test_it_makes_no_difference_who_is_who(base: str, one: str, other: str) -> None:
    merged, turned = merge_texts(base, one, other), merge_texts(base, other, one)
    assert merged.is_clean == turned.is_clean
    if merged.is_clean:
        assert merged.text == turned.text


@settings(max_examples=many(200, 40))
@given(TEXTS, TEXTS, TEXTS)
def test_no_word_that_either_wrote_is_lost(base: str, mine: str, theirs: str) -> None:
    merged = merge_texts(base, mine, theirs)
    marked = merged.resolve([MergeSide.BOTH] * len(merged.conflicts))
    had, has = set(base.split()), set(marked.split())
    for text in (mine, theirs):
        assert set(text.split()) - had <= has


@given(st.lists(st.integers(0, 30), max_size=12, unique=True), st.data())
def test_no_line_that_either_wrote_is_lost(numbers: list[int], data: st.DataObject) -> None:
    base = [f"line {number} of the base" for number in numbers]
    mine, theirs = (_edited(base, who, data) for who in ("mine", "theirs"))
    merged = merge_texts(_text(base), _text(mine), _text(theirs))
    marked = merged.resolve([MergeSide.BOTH] * len(merged.conflicts)).splitlines()
    for lines in (mine, theirs):
        for line in set(lines) - set(base):
            assert line in marked


def _edited(base: list[str], who: str, data: st.DataObject) -> list[str]:
    lines = list(base)
    for number in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(lines)))
        if at < len(lines) and data.draw(st.booleans()):
            del lines[at]
        lines.insert(at, f"{who}{number}{number}{number}")
    return lines


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("tool", ["git", "diff3"])
def test_what_git_and_diff3_merge_is_merged_here_in_the_same_way(tool: str, tmp_path: Path) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    merged_by_both = conflicts = 0
    for seed in range(60):
        base, mine, theirs = _versions(seed)
        files = [tmp_path / name for name in ("mine", "base", "theirs")]
        for file, text in zip(files, (mine, base, theirs), strict=True):
            file.write_text(text)
        words = ["git", "merge-file", "-p", "--diff3"] if tool == "git" else ["diff3", "-m"]
        done = subprocess.run([*words, *map(str, files)], capture_output=True, text=True, check=False)
        merged = merge_texts(base, mine, theirs)
        if done.returncode == 0:
            merged_by_both += 1
            assert merged.is_clean, seed
            assert merged.text == done.stdout, seed
        else:  # both of them also mark what touches, and `diff3` what both changed in the same way
            conflicts += not merged.is_clean
    assert merged_by_both > 10
    assert conflicts > 3


def _versions(seed: int) -> tuple[str, str, str]:
    """Three texts whose lines have nothing in common, so that words decide nothing."""
    chance = random.Random(seed)
    base = [f"{chance.choice('abcdefghij') * 4}{position}" for position in range(16)]
    versions = []
    for who in ("M", "T"):
        lines = list(base)
        for change in range(chance.randint(0, 3)):
            at, what = chance.randrange(len(lines)), chance.randrange(3)
            if what:
                del lines[at]
            if what < 2:
                lines.insert(at, f"{who}{change}{chance.randrange(1_000)}")
        versions.append(_text(lines))
    return _text(base), versions[0], versions[1]


def test_a_huge_note_with_small_changes_takes_no_time_to_speak_of() -> None:
    lines = [f"line {number} of a note that is far too long" for number in range(20_000)]
    mine, theirs = list(lines), list(lines)
    mine[100], theirs[19_000] = "mine", "theirs"
    theirs[5_000:5_000] = ["more"] * 100
    merged = merge_texts(_text(lines), _text(mine), _text(theirs))
    assert merged.is_clean
    assert [place.first_line for place in merged.hunks] == [101, 5_001, 19_101]
