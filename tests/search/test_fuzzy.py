"""How well a word matches: held against the rules said plainly, over every way to lay a word along a path."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.search.fuzzy import compute_bonus, fold, score_path
from memtui.search.query import Term
from tests.sampling import many


def _worth(path: str, positions: tuple[int, ...]) -> int:
    """What fzf's rules give for letters at these positions."""
    total, before, begun = 0, -1, 0
    for at in positions:
        earned = compute_bonus(path, at)
        if before < 0:
            total, begun = 16 + 2 * earned, earned
        elif at == before + 1:
            begun = earned if earned >= 8 and earned > begun else begun
            total += 16 + max(earned, begun, 4)
        else:
            gap = at - before - 1
            total, begun = max(0, total - 3 - (gap - 1)) + 16 + earned, earned
        before = at
    return total


@settings(max_examples=many(300, 60), deadline=None)
@given(path=st.text("abA1_/", min_size=1, max_size=11), word=st.text("ab1_", min_size=1, max_size=4))
def test_the_worth_is_that_of_the_best_way_to_lay_the_word_along_the_path(path: str, word: str) -> None:
    low = fold(path)
    every = combinations(range(len(low)), len(word))
    ways = [way for way in every if all(low[at] == letter for at, letter in zip(way, word, strict=True))]
    found = score_path(Term(word), path, low, len(path) + 1)  # where the file's own name begins plays no part here
    if not ways:
        assert found is None
        return
    assert found is not None
    worth, positions = found
    assert tuple(positions) in ways
    assert worth == _worth(path, tuple(positions))
    best = max(_worth(path, way) for way in ways)
    assert best - 4 <= worth <= best  # as in fzf, what a run inherits is not looked ahead for


def test_letters_earn_by_where_they_stand() -> None:
    path = "a/b_c dE1f12.md"
    assert {letter: compute_bonus(path, path.index(letter)) for letter in "abcdE1f.m"} == {
        "a": 9, "b": 9, "c": 8, "d": 8, "E": 7, "1": 7, "f": 0, ".": 8, "m": 8,
    }  # fmt: skip
    assert compute_bonus("x.12", 3) == 0


def test_the_own_name_of_a_file_earns_something() -> None:
    path = "ab/ab"
    whole = score_path(Term("ab"), path, path, 3)
    assert whole is not None
    assert (whole[0], list(whole[1])) == (_worth(path, (3, 4)) + 8 + 2 * 2, [3, 4])


def test_a_letter_that_stands_everywhere_costs_no_time() -> None:
    path = "a" * 4_000 + "b"
    found = score_path(Term("aaaaaaaaab"), path, path, 0)
    assert found is not None
    assert list(found[1])[-1] == 4_000
