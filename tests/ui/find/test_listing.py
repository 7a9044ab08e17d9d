"""The rows of what was found: in order, each leading somewhere, and the cursor never on a rule."""

from memtui.core.events import Event, Outside, Version
from memtui.core.snapshot import Kind
from memtui.search.found import (
    Found,
    LineHit,
    NameHit,
    NamesFound,
    NoteHits,
    PastFound,
    PastHit,
    Scope,
    TextFound,
)
from memtui.ui.find.listing import (
    LineRow,
    NameRow,
    NoteRow,
    PastNoteRow,
    PastRow,
    Rule,
    counted,
    key_of,
    rows_of,
)
from memtui.ui.item_rows import nearest

LINE = LineHit(3, "the needle", ((4, 10),), 5)
CAME = Event(at_us=1, actor=Outside(), command="created", path="/memories/a.md", seq=4)
PAST = PastHit("a.md", LINE, Version(Kind.FILE, "ff", 3), CAME, None, None)
FOUND = Found(
    NamesFound((NameHit("needle.md", ((0, 6),), 9.0),), (NameHit("needel.md", (), 1.0),), total=3),
    TextFound((NoteHits("b.md", (LINE,), total=5),), total_notes=2, total_lines=6, looked=9, of=9),
    PastFound((PAST,), total=1, looked=4, of=4),
)


def test_names_come_first_then_what_is_similar_then_texts_then_the_past() -> None:
    assert [type(row) for row in rows_of(FOUND, Scope.ALL)] == [
        *(NameRow, Rule, Rule, NameRow),
        *(Rule, NoteRow, LineRow, Rule, Rule),
        *(Rule, PastNoteRow, PastRow),
    ]


def test_rules_say_what_is_left_out() -> None:
    words = [row.words for row in rows_of(FOUND, Scope.ALL) if isinstance(row, Rule)]
    assert words == [
        "2 more: type on to narrow",
        "similar",
        "text: 6 lines",
        "4 more in this note",
        "1 more note: type on to narrow",
        "gone: 1 line",
    ]


def test_one_section_alone_needs_no_heading() -> None:
    text_only = Found(text=FOUND.text)
    assert isinstance(rows_of(text_only, Scope.TEXT)[0], NoteRow)
    past_only = Found(past=FOUND.past)
    assert isinstance(rows_of(past_only, Scope.PAST)[0], PastNoteRow)


def test_lines_of_the_past_stand_below_their_note_however_they_are_mixed() -> None:
    def hit(path: str, line: int) -> PastHit:
        return PastHit(path, LineHit(line, "x", ((0, 1),)), PAST.version, CAME, CAME, None)

    rows = rows_of(Found(past=PastFound((hit("a", 1), hit("b", 1), hit("a", 2)), total=3)), Scope.PAST)
    assert [(type(row).__name__, row.path) for row in rows if not isinstance(row, Rule)] == [
        *(("PastNoteRow", "a"), ("PastRow", "a"), ("PastRow", "a")),
        *(("PastNoteRow", "b"), ("PastRow", "b")),
    ]


def test_every_hit_has_a_key_of_its_own() -> None:
    keys = [key_of(row) for row in rows_of(FOUND, Scope.ALL) if not isinstance(row, Rule)]
    assert len(keys) == len(set(keys))


def test_the_cursor_passes_over_rules_in_either_direction() -> None:
    rows = rows_of(FOUND, Scope.ALL)
    assert nearest(rows, 1, 1) == 3
    assert nearest(rows, 2, -1) == 0
    assert nearest(rows, 99, 1) == len(rows) - 1
    assert nearest([Rule("x"), *rows], 0, -1) == 1
    assert nearest([Rule("x")], 0, 1) is None
    assert nearest([], 0, 1) is None


def test_what_was_found_is_counted_for_the_scope() -> None:
    assert counted(FOUND, Scope.ALL) == "names 3+1  text 6  gone 1"
    assert counted(FOUND, Scope.NAMES) == "names 3+1"
    assert counted(FOUND, Scope.PAST) == "past 1"
