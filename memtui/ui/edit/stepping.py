"""A text box with its own lines, rows and steps: what Textual's does with a text, without what hurts here.

Hidden characters keep their place, a key costs the lines that it changes, several edits can be one step, and a step
can carry on which version of the memory the text is based.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import TextArea

from memtui.ui.edit.cells import cell_at, column_at
from memtui.ui.edit.colours import Colours
from memtui.ui.edit.indenting import indent_of
from memtui.ui.edit.lines import Lines
from memtui.ui.edit.revising import edits_between
from memtui.ui.edit.rows import Paths, Rows
from memtui.ui.edit.steps import Step, Steps

_BRACKET_LINES = 200
"""Lines in which the other bracket of a pair is looked for."""
_BRACKET_COLUMNS = 10_000
"""Characters of each that are looked at."""

Match = tuple[Location, Location]
"""A text that was found: where it begins, and where it ends."""


class StepArea(TextArea):
    """A text, its rows and its steps.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    matches: reactive[Sequence[Match]] = reactive((), init=False)
    """What was found in the text, in order."""
    current_match: reactive[int | None] = reactive(None, init=False)
    """The number of the one that the person is at."""

    document: Lines
    wrapped_document: Rows

    class Rebased(Message):
        """A step was taken back or done again that changed what the text is based on."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        self._syntax = "text"
        super().__init__(
            id=id, classes=classes, soft_wrap=True, show_line_numbers=True, tab_behavior="focus", theme="css"
        )
        self.cursor_blink = False
        self.history: Steps = Steps()
        self.basis: Any = None
        """What the text is based on; the steps carry it along."""

    def forget_rows(self) -> None:
        """The rows that are drawn are other ones now."""

    def put(self, text: str, *, syntax: str, basis: object = None) -> None:
        """Show a text, without any steps to take back.

        Args:
            text: Lines that end with `\\n`.
            syntax: How it is coloured: `markdown`, `json`, or anything else for not at all.
            basis: What it is based on.
        """
        self._syntax, self.basis = syntax, basis
        self.indent_type, self.indent_width = indent_of(text, syntax)
        self.load_text(text)

    def revise(self, text: str, *, basis: object = None) -> None:
        """Make another text of the one that is here, as one step; the cursor stays with its words.

        Args:
            text: Lines that end with `\\n`.
            basis: What the text is based on from now on; `None` for what it was based on before.
        """
        known, self.basis = self.basis, self.basis if basis is None else basis
        with self.history.one(None if basis is None else (known, basis)):
            for edit in edits_between(self.text, text):
                self.edit(edit)
        if basis is not None and not (self.history.undo_stack and self._is_last_step((known, basis))):
            self.history.settle()  # the same text on another base: there is no step that could take it along

    def _is_last_step(self, basis: tuple[object, object]) -> bool:
        last = self.history.undo_stack[-1]
        return isinstance(last, Step) and last.basis == basis

    def _set_document(self, text: str, language: str | None) -> None:
        del language
        self.document = Lines(text)
        self.wrapped_document = Rows(self.document, tab_width=self.indent_width)
        self.navigator = Paths(self.wrapped_document)
        self._colours = Colours(self.document, self._syntax)
        self.forget_rows()
        self.selection = Selection()
        self._rewrap_and_refresh_virtual_size()

    def _build_highlight_map(self) -> None:
        """Rows are coloured when they are drawn."""

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        self._run_back_and_forth(edits, undo=True)

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        self._run_back_and_forth(edits, undo=False)

    def _run_back_and_forth(self, edits: Sequence[Edit], *, undo: bool) -> None:
        """Take a step back, or do it again. Rows are made anew edit by edit: each knows only its own place."""
        gutter = self.gutter_width
        for edit in reversed(edits) if undo else edits:
            if undo:
                old_end = edit._edit_result.end_location if edit._edit_result else edit.bottom
                result = edit.undo(self)
            else:
                old_end = edit.bottom
                result = edit.do(self, record_selection=False)
            self.wrapped_document.wrap_range(edit.top, old_end, result.end_location)
        if gutter != self.gutter_width:
            self.wrapped_document.wrap(self.wrap_width, self.indent_width)
        self._refresh_size()
        last = edits[0] if undo else edits[-1]
        last.after(self)
        if isinstance(edits, Step) and edits.basis is not None:
            self.basis = edits.basis[0 if undo else 1]
            self.post_message(self.Rebased())
        self.post_message(self.Changed(self))

    def edit(self, edit: Edit) -> EditResult:
        """Do an edit. What was found before is not where it was any more."""
        self.set_reactive(StepArea.matches, ())
        self.set_reactive(StepArea.current_match, None)
        return super().edit(edit)

    def _refresh_size(self) -> None:
        rows = self.wrapped_document
        width = 0 if self.soft_wrap else rows.widest + self.gutter_width + 1
        self.virtual_size = Size(width, rows.height)
        self._refresh_scrollbars()

    def get_column_width(self, row: int, column: int) -> int:
        """The cell at which a character begins."""
        return cell_at(self.document[row], column, self.indent_width)

    def cell_width_to_column_index(self, cell_width: int, row_index: int) -> int:
        """The character that a cell of a line shows."""
        return column_at(self.document[row_index], cell_width, self.indent_width)

    # The other bracket of a pair is found if it is near: a key must not cost the whole text.

    def _yield_character_locations(self, start: Location) -> Iterable[tuple[str, Location]]:
        row, column = start
        for index in range(row, min(self.document.line_count, row + _BRACKET_LINES)):
            line = self.document[index][: column + _BRACKET_COLUMNS]
            for at in range(column, len(line)):
                yield line[at], (index, at)
            column = 0

    def _yield_character_locations_reverse(self, start: Location) -> Iterable[tuple[str, Location]]:
        row, column = start
        for index in range(row, max(-1, row - _BRACKET_LINES), -1):
            line = self.document[index]
            last = column if index == row else len(line) - 1
            for at in range(last, max(-1, last - _BRACKET_COLUMNS), -1):
                yield line[at], (index, at)
