"""What changed since the last review as rows, with a box before each for what was said of it."""

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message

from memtui.audit.inbox import Verdict
from memtui.core.visible import one_line
from memtui.ui.audit.change_listing import FileRow, Row, RunRow, box_of, files_of, lines, versions
from memtui.ui.item_rows import ItemRows
from memtui.ui.text import fit, fit_middle

_VERSIONS, _ACTOR = 8, 8
_ROOMY = 46
"""Cells from which on it is said how often and by whom."""
_RUN = "run"
"""What a run is called where there is no room for more."""
_SIGNS = {"+": "added", "-": "removed", "~": "changed", ">": "changed"}


class ChangesView(ItemRows[Row]):
    """Box, sign, path, versions, lines, who.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="audit.open_change", tooltip="To what changed; of a run, to its files"),
        Binding("right,l", "unfold(True)", "unfold", id="audit.unfold", tooltip="Show the files of a run", show=False),
        Binding("left,h", "unfold(False)", "fold", id="audit.fold", tooltip="Show the run as one row", show=False),
    ]

    STYLES = "changes--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"changes--{name}" for name in ("open", "done", "flag", "added", "removed", "changed", "detail", "run")
    }

    DEFAULT_CSS = """
    ChangesView {
        & > .changes--open { color: $foreground; }
        & > .changes--done { color: $text-success; text-style: bold; }
        & > .changes--flag { color: $text-error; text-style: bold; }
        & > .changes--added { color: $text-success; }
        & > .changes--removed { color: $text-error; }
        & > .changes--changed { color: $text-warning; }
        & > .changes--detail { color: $foreground 85%; }
        & > .changes--run { color: $text-primary; text-style: bold; }
    }
    """

    class Unfolded(Message):
        """The files of a run are to be shown, or no longer."""

        def __init__(self, first: int, *, is_open: bool) -> None:
            super().__init__()
            self.first = first
            self.is_open = is_open

    def go_to(self, path: str) -> bool:
        """Put the cursor on a file; tells whether it is listed."""
        at = next((n for n, row in enumerate(self._rows) if isinstance(row, FileRow) and row.file.path == path), None)
        if at is not None:
            self._go(at)
        return at is not None

    def action_open(self) -> None:
        """To what changed; a run opens or closes."""
        here = self.here
        if isinstance(here, RunRow):
            self.post_message(self.Unfolded(here.run.first, is_open=not here.is_open))
        else:
            super().action_open()

    def action_unfold(self, is_open: bool) -> None:
        """Show the files of a run, or no longer; on a file, to what changed, or to its run."""
        here = self.here
        if isinstance(here, RunRow):
            if here.is_open != is_open:
                self.post_message(self.Unfolded(here.run.first, is_open=is_open))
        elif is_open:
            self.action_open()
        elif here is not None and here.is_inside:
            at = self._row
            while at and not isinstance(self._rows[at], RunRow):
                at -= 1
            self._go(at)

    def _key(self, item: Row) -> object:
        return item.key

    # Paint

    def _drawn(self, item: Row, width: int) -> list[Segment]:
        mark = box_of(item)
        done = {"[x]": "done", "[<]": "done", "[!]": "flag"}.get(mark, "open")
        has_note = any(each.words or each.verdict is Verdict.NOTE for file in files_of(item) for each in file.marks)
        head = [Segment(mark, self._style(done)), Segment('"' if has_note else " ", self._style("changed"))]
        if isinstance(item, RunRow):
            return [*head, *self._run(item, max(width - 5, 0))]
        return [*head, *self._file(item, max(width - 5, 0))]

    def _file(self, row: FileRow, width: int) -> list[Segment]:
        file = row.file
        indent = "  " if row.is_inside else ""
        added, removed = lines(file.added, file.removed)
        width -= len(indent) + 2
        who = fit(one_line(", ".join(file.actors)), _ACTOR) if width >= _ROOMY else ""
        how = versions(file) if width >= _ROOMY else ""
        behind = f"  {how:<{_VERSIONS}}" if how else " "
        counts = f"{added:>4} {removed:>4}"
        last = f"  {who}{' ' * (_ACTOR - cell_len(who))}" if how else ""
        name = one_line(f"{file.was} > {file.path}" if file.sign == ">" else file.path)
        room = max(width - cell_len(behind) - cell_len(counts) - cell_len(last), 8)
        path = fit_middle(name, room)
        style = self._style(_SIGNS[file.sign])
        return [
            Segment(f"{indent}{file.sign} ", style),
            Segment(path + " " * (room - cell_len(path)), self._style("")),
            Segment(behind, self._style("detail")),
            Segment(f"{added:>4} ", self._style("added")),
            Segment(f"{removed:>4}", self._style("removed")),
            Segment(last, self._style("detail")),
        ]

    def _run(self, row: RunRow, width: int) -> list[Segment]:
        run = row.run
        added, removed = lines(run.added, run.removed)
        count = len(run.paths)
        lost = f"  {len(run.lost) + run.unlisted:,} lost" if run.lost else ""
        counts = f" {added:>4} {removed:>4}"
        last = " " * (_ACTOR + 2) if width - 2 >= _ROOMY else ""
        room = max(width - 2 - cell_len(counts) - cell_len(lost) - len(last), len(_RUN))
        files = f"{count:,} {'file' if count == 1 else 'files'}"
        whole = f"{one_line(run.actor)}, {files}"
        words = next((each for each in (f"run by {whole}", whole, files) if cell_len(each) <= room), _RUN)
        return [
            Segment("▾ " if row.is_open else "▸ ", self._style("run")),
            Segment(words, self._style("run")),
            Segment(lost, self._style("flag")),
            Segment(" " * (room - cell_len(words)), self._style("")),
            Segment(f" {added:>4} ", self._style("added")),
            Segment(f"{removed:>4}{last}", self._style("removed")),
        ]
