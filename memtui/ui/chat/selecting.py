"""What is copied of a selection: the text as it was said, without what we drew beside it."""

from collections.abc import Iterator

from textual.selection import Selection

from memtui.ui.chat.stack import Stack
from memtui.ui.note.lines import Row


def selected_text(stack: Stack, selection: Selection) -> str:
    """The selected text as it is drawn, broken where the text itself is, not where rows end.

    Args:
        stack: The rows.
        selection: In rows of the stack and characters of a row; all of it where it has no ends.
    """
    start, end = selection
    y, x = (start.y, max(0, start.x)) if start else (0, 0)
    parts: list[str] = []
    for number, row in _rows(stack, y, end.y if end else None):
        stop = max(0, end.x) if end and number == end.y else len(row.text)
        if number > y:
            parts.append(row.join)
        parts.append(row.copied(x if number == y else 0, stop))
    *lines, last = "".join(parts).split("\n")
    return "\n".join([*(line.rstrip(" ") for line in lines), last])


def _rows(stack: Stack, first: int, last: int | None) -> Iterator[tuple[int, Row]]:
    """Rows with their numbers as they are now, also while guessed heights become exact."""
    index, inner = stack.locate(first)
    y = first
    while 0 <= index < stack.count and (last is None or y <= last):
        piece = stack.piece(index)
        while inner < piece.height and (last is None or y <= last):
            yield y, piece.row(inner).row
            inner, y = inner + 1, y + 1
        index, inner = index + 1, 0
