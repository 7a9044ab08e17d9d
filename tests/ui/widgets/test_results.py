"""The rows of results: their order, the cursor, and how a matching line is cut and marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.core.events import EntryKind, Event, Outside, Version
from memtui.search.results import (
    LineHit,
    NameHit,
    NameResults,
    NoteHits,
    PastHit,
    PastResults,
    Scope,
    SearchResults,
    TextResults,
)
from memtui.ui.widgets.results import (
    LineRow,
    NameRow,
    NoteRow,
    PastNoteRow,
    PastRow,
    TextPiece,
    build_result_rows,
    cut_around_match,
    cut_end,
    cut_start,
    format_counts,
    get_row_key,
    split_pieces,
)
from memtui.ui.widgets.row_list import LabelRow, find_nearest_row

LINE = LineHit(3, "the needle", ((4, 10),), 5)
CAME = Event(at_us=1, actor=Outside(), command="created", path="/memories/a.md", seq=4)
PAST = PastHit("a.md", LINE, Version(EntryKind.FILE, "ff", 3), CAME, None, None)
FOUND = SearchResults(
    NameResults((NameHit("needle.md", ((0, 6),), 9.0),), (NameHit("needel.md", (), 1.0),), total=3),
    TextResults((NoteHits("b.md", (LINE,), total=5),), total_notes=2, total_lines=6, looked=9, of=9),
    PastResults((PAST,), total=1, looked=4, of=4),
)


def test_names_come_first_then_texts_then_similar_names_then_the_past() -> None:
    assert [type(row) for row in build_result_rows(FOUND, Scope.ALL)] == [
        *(NameRow, LabelRow),
        *(LabelRow, NoteRow, LineRow, LabelRow, LabelRow),
        *(LabelRow, NameRow),
        *(LabelRow, PastNoteRow, PastRow),
    ]


def test_a_name_with_scattered_letters_comes_behind_exact_lines_and_is_kept_without_them() -> None:
    scattered = NameHit("learnings/postgres_migrations.md", ((4, 6), (20, 21)), 12.0, is_scattered=True)
    names = NameResults((NameHit("reminders.md", ((0, 6),), 99.0), scattered), total=2)
    both = SearchResults(names=names, text=FOUND.text)
    paths = [row.path for row in build_result_rows(both, Scope.ALL) if isinstance(row, NameRow | LineRow)]
    assert paths == ["reminders.md", "b.md", "learnings/postgres_migrations.md"]
    alone = build_result_rows(SearchResults(names=names), Scope.ALL)
    assert [row.path for row in alone if isinstance(row, NameRow)] == ["reminders.md", scattered.path]
    assert not any(isinstance(row, LabelRow) for row in alone)


def test_rules_say_what_is_left_out() -> None:
    words = [row.words for row in build_result_rows(FOUND, Scope.ALL) if isinstance(row, LabelRow)]
    assert words == [
        "2 more: type to narrow",
        "text: 6 lines",
        "4 more in this note",
        "1 more note: type to narrow",
        "similar names",
        "past: 1 line",
    ]


def test_one_section_alone_needs_no_heading() -> None:
    text_only = SearchResults(text=FOUND.text)
    assert isinstance(build_result_rows(text_only, Scope.TEXT)[0], NoteRow)
    past_only = SearchResults(past=FOUND.past)
    assert isinstance(build_result_rows(past_only, Scope.PAST)[0], PastNoteRow)


def test_lines_of_the_past_stand_below_their_note_however_they_are_mixed() -> None:
    def hit(path: str, line: int) -> PastHit:
        return PastHit(path, LineHit(line, "x", ((0, 1),)), PAST.version, CAME, CAME, None)

    rows = build_result_rows(
        SearchResults(past=PastResults((hit("a", 1), hit("b", 1), hit("a", 2)), total=3)), Scope.PAST
    )
    assert [(type(row).__name__, row.path) for row in rows if not isinstance(row, LabelRow)] == [
        *(("PastNoteRow", "a"), ("PastRow", "a"), ("PastRow", "a")),
        *(("PastNoteRow", "b"), ("PastRow", "b")),
    ]


def test_every_hit_has_a_key_of_its_own() -> None:
    keys = [get_row_key(row) for row in build_result_rows(FOUND, Scope.ALL) if not isinstance(row, LabelRow)]
    assert len(keys) == len(set(keys))


def test_the_cursor_passes_over_rules_in_either_direction() -> None:
    rows = build_result_rows(FOUND, Scope.ALL)
    assert find_nearest_row(rows, 1, 1) == 3
    assert find_nearest_row(rows, 2, -1) == 0
    assert find_nearest_row(rows, 99, 1) == len(rows) - 1
    assert find_nearest_row([LabelRow("x"), *rows], 0, -1) == 1
    assert find_nearest_row([LabelRow("x")], 0, 1) is None
    assert find_nearest_row([], 0, 1) is None


def test_what_was_found_is_counted_for_the_scope() -> None:
    assert format_counts(FOUND, Scope.ALL) == "names 3+1  text 6  past 1"
    assert format_counts(FOUND, Scope.NAMES) == "names 3+1"
    assert format_counts(FOUND, Scope.PAST) == "past 1"


def _text(line: list[TextPiece]) -> str:
    return "".join(piece.text for piece in line)


def _marked(line: list[TextPiece]) -> list[str]:
    return [piece.text for piece in line if piece.matches]


def test_a_line_is_cut_where_it_matches() -> None:
    assert split_pieces("run the pg migration", [(8, 10), (11, 15)]) == [
        TextPiece("run the ", matches=False),
        TextPiece("pg", matches=True),
        TextPiece(" ", matches=False),
        TextPiece("migr", matches=True),
        TextPiece("ation", matches=False),
    ]


def test_hidden_characters_are_seen_and_move_no_mark() -> None:
    line = split_pieces("a\u202eb\x1b[31m needle", [(9, 15)])
    assert _marked(line) == ["needle"]
    assert _text(line) == "a<U+202E>b\\x1b[31m needle"


def test_a_hidden_character_that_matches_is_marked_as_what_is_shown() -> None:
    assert _marked(split_pieces("a\u200bb", [(1, 2)])) == ["<U+200B>"]


@pytest.mark.parametrize("spans", [[(5, 3)], [(-4, 0)], [(99, 120)], [(0, 0)]])
def test_a_span_that_holds_nothing_marks_nothing(spans: list[tuple[int, int]]) -> None:
    assert _marked(split_pieces("abc", spans)) == []
    assert _text(split_pieces("abc", spans)) == "abc"


def test_spans_that_overlap_mark_each_character_once() -> None:
    assert _text(split_pieces("abcdef", [(0, 3), (2, 5)])) == "abcdef"
    assert _marked(split_pieces("abcdef", [(0, 3), (2, 5)])) == ["abc", "de"]


def test_of_a_long_path_the_name_stays() -> None:
    path = "some/very/long/folder/names/postgres_migrations.md"
    line = cut_start(split_pieces(path, [(28, 36)]), 30)
    assert _text(line) == "..mes/postgres_migrations.md"[-30:] or _text(line).endswith("postgres_migrations.md")
    assert _text(line).startswith("..")
    assert _marked(line) == ["postgres"]
    assert cell_len(_text(line)) <= 30


def test_of_a_long_line_the_match_is_in_view() -> None:
    text = "  " + "word " * 50 + "needle and more words that follow it"
    start = text.index("needle")
    line = cut_around_match(split_pieces(text, [(start, start + 6)]), 30)
    assert _text(line).startswith("..")
    assert _marked(line) == ["needle"]
    assert cell_len(_text(line)) <= 30


@pytest.mark.parametrize("width", range(16, 40))
def test_a_match_is_not_cut_where_it_fits(width: int) -> None:
    text = "- `dunning.py`: a needle in the text"
    line = cut_around_match(split_pieces(text, [(18, 24)]), width)
    assert _marked(line) == ["needle"]
    assert cell_len(_text(line)) <= width


def test_a_short_line_loses_only_its_indent() -> None:
    assert _text(cut_around_match(split_pieces("\t  - a needle", [(7, 13)]), 40)) == "- a needle"


TEXT = st.text(st.sampled_from("ab 漢é\t\u202e\x1b🦀/."), max_size=60)


@given(TEXT, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4), st.integers(1, 50))
def test_no_cut_is_wider_than_its_room(text: str, spans: list[tuple[int, int]], width: int) -> None:
    line = split_pieces(text, sorted(spans))
    for cut in (cut_end, cut_start, cut_around_match):
        kept = cut(line, width)
        assert cell_len(_text(kept)) <= max(width, 2), cut.__name__


@given(TEXT, st.integers(0, 60), st.integers(1, 6), st.integers(12, 50))
def test_something_of_the_match_is_always_in_view(text: str, start: int, length: int, width: int) -> None:
    line = split_pieces(text + "x", [(start, start + length)])
    if _marked(line):
        assert _marked(cut_around_match(line, width))
