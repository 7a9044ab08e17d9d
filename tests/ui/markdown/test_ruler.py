"""A ruler stands where an index stops being loaded; what is below it is set apart, and it is no part of the note."""

import pytest

from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout, Ruler
from memtui.ui.widgets.markdown.rows import RULER, MarkdownRow

WORDS = "not loaded from here"


def _rows(source: str, layout: NoteLayout) -> list[MarkdownRow]:
    document = NoteDocument(source, layout)
    return [row for index in range(len(document.chunks)) for row in document.get_rows(index)]


@pytest.mark.parametrize("mode", ["rendered", "source"])
@pytest.mark.parametrize("width", [20, 80])
@pytest.mark.parametrize("line", [0, 1, 7, 199, 399])
def test_it_stands_once_above_its_line_and_nothing_above_it_is_set_apart(line: int, width: int, mode: str) -> None:
    source = "".join(f"- item {number} of a list that is wrapped\n" for number in range(400))
    plain = _rows(source, NoteLayout("markdown", mode, width))  # type: ignore[arg-type]
    rows = _rows(source, NoteLayout("markdown", mode, width, Ruler(line, WORDS)))  # type: ignore[arg-type]
    (at,) = [at for at, row in enumerate(rows) if row.fill == RULER]
    assert rows[at].text.startswith(f"─── {WORDS}"[:width])
    assert len(rows[at].text) == width
    assert all(row.last < line for row in rows[:at])
    assert all(row.first >= line for row in rows[at + 1 :])
    assert not any("beyond" in span.style for row in rows[:at] for span in row.spans)
    assert all("beyond" in span.style.split() for row in rows[at + 1 :] for span in row.spans)
    assert [row.text for row in plain] == [row.text for row in rows if row.fill != RULER]


def test_it_stands_at_the_end_where_only_empty_lines_are_below_it() -> None:
    rows = _rows("one\n\n\n\n", NoteLayout("markdown", "rendered", 40, Ruler(2, WORDS)))
    assert [row.fill == RULER for row in rows].count(True) <= 1
    assert [row.text for row in rows if row.text and row.fill != RULER] == ["one"]


def test_it_is_neither_copied_nor_found() -> None:
    document = NoteDocument("one\ntwo\n", NoteLayout("text", "source", 40, Ruler(1, "two of them")))
    rows = document.get_rows(0)
    assert [row.get_copy_text(0, 99) for row in rows] == ["one", "", "two"]
    assert document.search("two") == 1
    assert [mark.row for mark in document.get_marks(0)] == [2]
