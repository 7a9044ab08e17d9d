"""How a matching line is shown: its match stays marked, hidden characters are seen, nothing is wider than its room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.ui.find.pieces import Piece, around_match, cut_end, cut_start, pieces


def _text(line: list[Piece]) -> str:
    return "".join(piece.text for piece in line)


def _marked(line: list[Piece]) -> list[str]:
    return [piece.text for piece in line if piece.matches]


def test_a_line_is_cut_where_it_matches() -> None:
    assert pieces("run the pg migration", [(8, 10), (11, 15)]) == [
        Piece("run the ", matches=False),
        Piece("pg", matches=True),
        Piece(" ", matches=False),
        Piece("migr", matches=True),
        Piece("ation", matches=False),
    ]


def test_hidden_characters_are_seen_and_move_no_mark() -> None:
    line = pieces("a\u202eb\x1b[31m needle", [(9, 15)])
    assert _marked(line) == ["needle"]
    assert _text(line) == "a<U+202E>b\\x1b[31m needle"


def test_a_hidden_character_that_matches_is_marked_as_what_is_shown() -> None:
    assert _marked(pieces("a\u200bb", [(1, 2)])) == ["<U+200B>"]


@pytest.mark.parametrize("spans", [[(5, 3)], [(-4, 0)], [(99, 120)], [(0, 0)]])
def test_a_span_that_holds_nothing_marks_nothing(spans: list[tuple[int, int]]) -> None:
    assert _marked(pieces("abc", spans)) == []
    assert _text(pieces("abc", spans)) == "abc"


def test_spans_that_overlap_mark_each_character_once() -> None:
    assert _text(pieces("abcdef", [(0, 3), (2, 5)])) == "abcdef"
    assert _marked(pieces("abcdef", [(0, 3), (2, 5)])) == ["abc", "de"]


def test_of_a_long_path_the_name_stays() -> None:
    path = "some/very/long/folder/names/postgres_migrations.md"
    line = cut_start(pieces(path, [(28, 36)]), 30)
    assert _text(line) == "..mes/postgres_migrations.md"[-30:] or _text(line).endswith("postgres_migrations.md")
    assert _text(line).startswith("..")
    assert _marked(line) == ["postgres"]
    assert cell_len(_text(line)) <= 30


def test_of_a_long_line_the_match_is_in_view() -> None:
    text = "  " + "word " * 50 + "needle and more words that follow it"
    start = text.index("needle")
    line = around_match(pieces(text, [(start, start + 6)]), 30)
    assert _text(line).startswith("..")
    assert _marked(line) == ["needle"]
    assert cell_len(_text(line)) <= 30


def test_a_short_line_loses_only_its_indent() -> None:
    assert _text(around_match(pieces("\t  - a needle", [(7, 13)]), 40)) == "- a needle"


TEXT = st.text(st.sampled_from("ab 漢é\t\u202e\x1b🦀/."), max_size=60)


@given(TEXT, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4), st.integers(1, 50))
def test_no_cut_is_wider_than_its_room(text: str, spans: list[tuple[int, int]], width: int) -> None:
    line = pieces(text, sorted(spans))
    for cut in (cut_end, cut_start, around_match):
        kept = cut(line, width)
        assert cell_len(_text(kept)) <= max(width, 2), cut.__name__


@given(TEXT, st.integers(0, 60), st.integers(1, 6), st.integers(12, 50))
def test_something_of_the_match_is_always_in_view(text: str, start: int, length: int, width: int) -> None:
    line = pieces(text + "x", [(start, start + length)])
    if _marked(line):
        assert _marked(around_match(line, width))
