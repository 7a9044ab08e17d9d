"""Lines as a diff shows them: nothing hidden, nothing cut, changed words where they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.core.diffs import compare_texts
from memtui.core.unicode import HIDDEN
from memtui.ui.widgets.diff.layout import (
    DiffArrangement,
    DiffComparison,
    DiffLayout,
    DiffLineKind,
    RenderedSide,
    find_row_breaks,
    measure_hanging_indent,
    split_runs,
)
from tests.bench.limits import at_most

ANY_LINE = st.text(st.characters(exclude_characters="\n"), max_size=80)


def laid_out(
    before: str,
    after: str,
    arrangement: DiffArrangement = DiffArrangement.UNIFIED,
    width: int = 80,
    folds: frozenset[int] = frozenset(),
) -> DiffLayout:
    return DiffLayout(DiffComparison(compare_texts(before, after)), arrangement, (width, width), folds)


def rows(layout: DiffLayout) -> list[tuple[str, int, int]]:
    found = []
    for y in range(layout.height):
        row = layout.get_row(y)
        assert row is not None
        found.append((row.item.kind.name, row.item.old, row.item.new))
    return found


@given(ANY_LINE, st.integers(4, 40))
def test_a_broken_line_fits_and_is_all_there(line: str, width: int) -> None:
    [shown] = RenderedSide([line]).shown
    starts = find_row_breaks(shown, width)
    parts = [shown[start:end] for start, end in zip(starts, [*starts[1:], len(shown)], strict=True)]
    assert "".join(parts) == shown
    for number, part in enumerate(parts):
        room = width - (measure_hanging_indent(width) if number else 0)
        assert sum(map(cell_len, part.rstrip(" "))) <= max(room, 2)


@given(ANY_LINE, st.data())
def test_marked_words_are_where_the_characters_are(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    side = RenderedSide([line])
    runs = side.get_runs(0, [(start, end)] if start < end else [])
    found = split_runs(side.shown[0], runs, 0, len(side.shown[0]))
    text = "".join(piece for piece, _ in found)
    assert text.replace("»", " ") == side.shown[0].replace("»", " ")
    assert HIDDEN.search(text) is None
    marked = "".join(piece for piece, role in found if "word" in role)
    assert len(marked) == len("".join(_shown(line)[start:end]))


def _shown(line: str) -> list[str]:
    """What is shown for each character of a line."""
    side = RenderedSide([line])
    runs = side.get_runs(0, [])
    shown, at, result = side.shown[0], 0, []
    hidden = {run.start: run.end for run in runs}
    for character in line:
        end = at + 4 if character == "\t" else hidden.get(at, at + 1)
        result.append(shown[at:end])
        at = end
    return result


def test_a_tab_that_was_changed_looks_like_a_tab() -> None:
    side = RenderedSide(["a\tb"])
    assert split_runs(side.shown[0], side.get_runs(0, [(1, 2)]), 0, 6) == [("a", ""), ("»   ", "word"), ("b", "")]
    assert split_runs(side.shown[0], side.get_runs(0, []), 0, 6) == [("a    b", "")]


def test_hidden_characters_are_named_and_stand_out() -> None:
    side = RenderedSide(["a\x1b[2J\u202eb"])
    assert split_runs(side.shown[0], side.get_runs(0, []), 0, 99) == [
        ("a", ""), ("\\x1b", "hidden"), ("[2J", ""), ("<U+202E>", "hidden"), ("b", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        ("a\r\nb\r\n", "a\r\n", ["a", "b"], ["a"]),
        ("a\r\n", "a\n", ["a\\x0d"], ["a"]),
        ("a\r\nb c\r\nd\n", "a\r\nb e\r\nd\n", ["a", "b c", "d"], ["a", "b e", "d"]),
        ("a\n", "a\nb\r\n", ["a"], ["a", "b\\x0d"]),
    ],
    ids=["all have one", "one went", "both have one", "one came"],
)
def test_carriage_returns_are_shown_where_they_may_differ(
    before: str, after: str, old: list[str], new: list[str]
) -> None:
    comparison = DiffComparison(compare_texts(before, after))
    assert (comparison.old.shown, comparison.new.shown) == (old, new)


def test_equal_lines_are_folded_and_come_back() -> None:
    before = "\n".join(map(str, range(30))) + "\n"
    after = before.replace("15\n", "x\n")
    layout = laid_out(before, after)
    assert [what for what, _, _ in rows(layout)] == [
        "FOLD",
        *["EQUAL"] * 3,
        "CHANGED",
        "CHANGED",
        *["EQUAL"] * 3,
        "FOLD",
    ]
    assert [fold.size for fold in layout.comparison.folds] == [12, 11]
    opened = laid_out(before, after, folds=frozenset({0, 1}))
    assert [old for what, old, _ in rows(opened) if what == "EQUAL"] == [n for n in range(30) if n != 15]
    half = laid_out(before, after, folds=frozenset({1}))
    assert rows(half)[0] == ("FOLD", 0, 0)
    assert half.height == layout.height + 10


def test_one_line_is_not_worth_a_fold() -> None:
    before = "\n".join(map(str, range(20)))
    after = before.replace("4\n5", "x\n5").replace("12\n", "y\n")
    assert all(fold.size > 1 for fold in DiffComparison(compare_texts(before, after)).folds)


@given(
    st.lists(st.sampled_from(["a", "b", "c d e"]), max_size=40),
    st.lists(st.sampled_from(["a", "b", "c d"]), max_size=40),
)
def test_every_line_is_in_a_row_or_in_a_fold(before: list[str], after: list[str]) -> None:
    old, new = "\n".join(before), "\n".join(after)
    for arrangement in DiffArrangement:
        layout = laid_out(old, new, arrangement, width=8)
        olds: list[int] = []
        news: list[int] = []
        for what, first, second in rows(layout):
            if what == "FOLD":
                fold = layout.comparison.folds[second]
                olds += range(fold.old, fold.old + fold.size)
                news += range(fold.new, fold.new + fold.size)
            elif what != "UNFINISHED":
                olds += [first] if first >= 0 else []
                news += [second] if second >= 0 else []
        assert olds == list(range(len(layout.comparison.old)))
        assert news == list(range(len(layout.comparison.new)))


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=40), st.lists(st.sampled_from(["a", "b"]), max_size=40))
def test_a_line_is_found_again_in_the_other_arrangement(before: list[str], after: list[str]) -> None:
    comparison = DiffComparison(compare_texts("\n".join(before), "\n".join(after)))
    one, other = (DiffLayout(comparison, arrangement, (80, 80), frozenset()) for arrangement in DiffArrangement)
    for y in range(one.height):
        row = one.get_row(y)
        assert row is not None
        found = other.get_row(other.find_row_of(row.item))
        assert found is not None
        if row.item.kind is DiffLineKind.CHANGED:
            assert found.item.hunk == row.item.hunk
        elif row.item.kind is not DiffLineKind.UNFINISHED:
            assert found.item == row.item


def test_a_missing_last_newline_is_told_beside_its_line() -> None:
    assert rows(laid_out("a\nb", "a\nb\n")) == [
        ("EQUAL", 0, 0), ("CHANGED", 1, -1), ("UNFINISHED", 1, -1), ("CHANGED", -1, 1),
    ]  # fmt: skip
    assert rows(laid_out("a\nb\n", "a\nc", DiffArrangement.SIDES))[-1] == ("UNFINISHED", -1, 1)
    assert "UNFINISHED" not in [what for what, _, _ in rows(laid_out("a\nb", "a\nc"))]


@pytest.mark.parametrize("arrangement", DiffArrangement)
def test_a_hundred_thousand_changed_lines_are_laid_out_at_once(
    arrangement: DiffArrangement, hundred_thousand_lines: DiffComparison
) -> None:
    with at_most(1):
        layout = DiffLayout(hundred_thousand_lines, arrangement, (60, 60), frozenset())
    assert layout.height >= 100_000


def test_a_line_of_a_megabyte_is_broken_once() -> None:
    comparison = DiffComparison(compare_texts("", "漢字 " * 300_000))
    layout = DiffLayout(comparison, DiffArrangement.UNIFIED, (60, 60), frozenset())
    with at_most(1):
        for y in range(0, layout.height, layout.height // 50):
            row = layout.get_row(y)
            assert row is not None
            comparison.new.get_row_starts(row.item.new, 60)
            comparison.get_runs(row.item, words=True)
