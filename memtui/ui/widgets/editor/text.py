"""The text that is edited, as lines.

Textual's own document splits at everything Unicode calls a line end (form feed, U+0085, U+2028) and joins with line
feeds, so that such characters would be gone after the first save. It also joins all lines for each row that it draws;
here the joined text is kept until it changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, overload

from textual.geometry import Size

from memtui.core.diffs import find_hunks
from memtui.ui.widgets.editor.textual_document import DocumentBase, Edit, EditHistory, EditResult, Location, Newline


class TextDocument(DocumentBase):
    r"""A text whose lines end with `\
    ` and with nothing else.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._text: str | None = text
        self.first_changed = 0
        """The first line that changed since this was set to `line_count`."""

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "\n".join(self._lines)
        return self._text

    @property
    def newline(self) -> Newline:
        """A line feed: the line ends of the file are known to its shape."""
        return "\n"

    @property
    def lines(self) -> list[str]:
        """The lines themselves, not to be changed."""
        return self._lines

    @property
    def line_count(self) -> int:
        """The number of lines, at least 1: an empty one is behind the last line feed."""
        return len(self._lines)

    @property
    def start(self) -> Location:
        return 0, 0

    @property
    def end(self) -> Location:
        return len(self._lines) - 1, len(self._lines[-1])

    def get_line(self, index: int) -> str:
        return self._lines[index]

    @overload
    def __getitem__(self, line_index: int) -> str: ...

    @overload
    def __getitem__(self, line_index: slice) -> list[str]: ...

    def __getitem__(self, line_index: int | slice) -> str | list[str]:
        return self._lines[line_index]

    def get_size(self, indent_width: int) -> Size:
        """The number of lines; the width depends on how they are shown."""
        del indent_width
        return Size(0, len(self._lines))

    def get_text_range(self, start: Location, end: Location) -> str:
        (top, left), (bottom, right) = sorted((self.clamp(start), self.clamp(end)))
        if top == bottom:
            return self._lines[top][left:right]
        parts = self._lines[top : bottom + 1]
        parts[0], parts[-1] = parts[0][left:], parts[-1][:right]
        return "\n".join(parts)

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        (top, left), (bottom, right) = sorted((self.clamp(start), self.clamp(end)))
        replaced = self.get_text_range((top, left), (bottom, right))
        new = text.split("\n")
        before, after = self._lines[top][:left], self._lines[bottom][right:]
        column = len(new[-1]) + (len(before) if len(new) == 1 else 0)
        new[0] = before + new[0]
        new[-1] += after
        self._lines[top : bottom + 1] = new
        self._text = None
        self.first_changed = min(self.first_changed, top)
        return EditResult((top + len(new) - 1, column), replaced)

    def clamp(self, location: Location) -> Location:
        """The nearest valid location."""
        row, column = location
        if row >= len(self._lines):
            return self.end
        row = max(row, 0)
        return row, min(max(column, 0), len(self._lines[row]))

    def index_from_location(self, location: Location) -> int:
        """The number of characters before a location."""
        row, column = location
        return sum(map(len, self._lines[:row])) + row + column

    def location_from_index(self, index: int) -> Location:
        for row, line in enumerate(self._lines):
            if index <= len(line):
                return row, index
            index -= len(line) + 1
        return self.end


# Undo. Textual's history counts each edit for itself. Here several can be one step, such as a merge or an indented
# block, and a step can carry the version of the memory that the text is based on: undoing a merge goes back to the
# earlier version, or the next save would overwrite the merged text as if it had been read.

_KEPT = 5_000
"""Steps that can be undone."""


class UndoStep(list[Edit]):
    """Edits that are one step.

    Attributes:
        basis: The versions that the text is based on before and after it; `None` where that did not change.
    """

    basis: tuple[Any, Any] | None = None


class UndoSteps(EditHistory):
    """The steps, newest last."""

    def __init__(self) -> None:
        super().__init__(max_checkpoints=_KEPT, checkpoint_timer=2.0, checkpoint_max_characters=100)
        self._step: UndoStep | None = None

    def record(self, edit: Edit) -> None:
        """Add an edit to the open step, or as typed text is grouped."""
        if self._step is None:
            super().record(edit)
        else:
            self._step.append(edit)

    @contextmanager
    def group_edits(self, basis: tuple[Any, Any] | None = None) -> Iterator[None]:
        """Make one step of all edits in the context.

        Args:
            basis: The versions that the text is based on before and after it, where that changes.
        """
        if self._step is not None:
            yield  # part of a larger step
            return
        step = self._step = UndoStep()
        step.basis = basis
        try:
            yield
        finally:
            self._step = None
            if step:
                self._undo_stack.append(step)
                self._redo_stack.clear()
            self._previously_replaced = False
            self.checkpoint()

    def mark_saved(self) -> None:
        """Forget the versions that steps are based on: undoing a saved step is meant."""
        for step in (*self._undo_stack, *self._redo_stack):
            if isinstance(step, UndoStep):
                step.basis = None
        self.checkpoint()


def compute_edits(old: str, new: str) -> Iterator[Edit]:
    r"""The fewest edits that turn one text into another, from the last to the first; lines end with `\
    `.
    """
    before, after = old.split("\n"), new.split("\n")
    for hunk in reversed(find_hunks(before, after)):
        removed, put = before[hunk.old_start : hunk.old_end], after[hunk.new_start : hunk.new_end]
        if removed and put:
            yield from _trim_common_ends(hunk.old_start, "\n".join(removed), "\n".join(put))
        elif hunk.old_start < len(before):
            start, end = (hunk.old_start, 0), (hunk.old_end, 0)
            if hunk.old_end >= len(before):  # the last lines go, and with them the line feed before them
                start = (hunk.old_start - 1, len(before[hunk.old_start - 1]))
                end = (len(before) - 1, len(before[-1]))
            yield Edit("".join(line + "\n" for line in put), start, end, maintain_selection_offset=True)
        else:
            behind = (len(before) - 1, len(before[-1]))
            yield Edit("".join("\n" + line for line in put), behind, behind, maintain_selection_offset=True)


def _trim_common_ends(row: int, old: str, new: str) -> Iterator[Edit]:
    """The edits of changed lines, without the text that is the same at both ends."""
    if old.count("\n") == new.count("\n") and "\n" in old:
        pairs = list(enumerate(zip(old.split("\n"), new.split("\n"), strict=True), row))
        for at, (one, other) in reversed(pairs):
            if one != other:
                yield from _trim_common_ends(at, one, other)
        return
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield Edit(
        new[start : len(new) - end],
        _locate(row, old, start),
        _locate(row, old, len(old) - end),
        maintain_selection_offset=True,
    )


def _locate(row: int, text: str, index: int) -> Location:
    lines = text.count("\n", 0, index)
    return row + lines, index - (text.rfind("\n", 0, index) + 1)
