"""What changed since the last review as rows, with a box before each for what was said of it."""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from memtui.audit.inbox import Verdict
from memtui.core.visible import one_line
from memtui.ui.audit.change_listing import FileRow, Row, RunRow, box_of, files_of, lines, versions
from memtui.ui.rows import RowsView
from memtui.ui.text import fit, fit_middle

_VERSIONS, _ACTOR = 8, 8
_ROOMY = 46
"""Cells from which on it is said how often and by whom."""
_SIGNS = {"+": "added", "-": "removed", "~": "changed", ">": "changed"}


class ChangesView(RowsView):
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
        f"changes--{name}"
        for name in ("open", "done", "flag", "added", "removed", "changed", "detail", "run", "cursor")
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
        & > .changes--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .changes--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    class Highlighted(Message):
        """The cursor is on another row, or on none."""

        def __init__(self, row: Row | None) -> None:
            super().__init__()
            self.row = row

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, ChangesView.Highlighted)

    class Opened(Message):
        """The person asks for the file under the cursor."""

    class Unfolded(Message):
        """The files of a run are to be shown, or no longer."""

        def __init__(self, first: int, *, is_open: bool) -> None:
            super().__init__()
            self.first = first
            self.is_open = is_open

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Row] = ()
        self.notice: tuple[str, ...] = ()
        """What is said where there is no row."""

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def here(self) -> Row | None:
        """What is under the cursor."""
        return self._rows[self._row] if self._row < len(self._rows) else None

    def show(self, rows: Sequence[Row], notice: Sequence[str] = ()) -> None:
        """Show other rows, with the cursor on the same one if it is among them, and as much in view above it."""
        here = self.here
        above = self._row - self.scroll_offset.y
        self._rows, self.notice = rows, tuple(notice)
        keys = [row.key for row in rows]
        again = here is not None and here.key in keys
        self._row = keys.index(here.key) if here is not None and again else min(self._row, max(len(rows) - 1, 0))
        self._fit_height()
        if again:
            self.scroll_to(y=max(self._row - above, 0), animate=False)
        self._bring_into_view()
        self.post_message(self.Highlighted(self.here))
        self.refresh()

    def go_to(self, path: str) -> bool:
        """Put the cursor on a file; tells whether it is listed."""
        at = next((n for n, row in enumerate(self._rows) if isinstance(row, FileRow) and row.file.path == path), None)
        if at is not None:
            self._go(at)
        return at is not None

    def _go(self, row: int) -> None:
        if not self._rows:
            return
        row = max(0, min(row, len(self._rows) - 1))
        if row != self._row:
            self._row = row
            self.post_message(self.Highlighted(self.here))
        self._bring_into_view()
        self.refresh()

    def action_open(self) -> None:
        """To what changed; a run opens or closes."""
        here = self.here
        if isinstance(here, RunRow):
            self.post_message(self.Unfolded(here.run.first, is_open=not here.is_open))
        elif here is not None:
            self.post_message(self.Opened())

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

    def on_click(self, event: events.Click) -> None:
        """Select; twice, open."""
        offset = event.get_content_offset(self)
        index = self.scroll_offset.y + offset.y if offset is not None else len(self._rows)
        if index < len(self._rows):
            event.stop()
            self._go(index)
            if event.chain == 2:
                self.action_open()

    # Paint

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        width = self.scrollable_content_region.width
        plain = self._style("")
        index = self.scroll_offset.y + y
        if not self._rows and index < len(self.notice):
            return Strip([Segment(fit(f" {self.notice[index]}", width), plain)]).adjust_cell_length(width, plain)
        if index >= len(self._rows):
            return Strip.blank(width, plain)
        row = self._rows[index]
        cursor = index == self._row
        segments = [Segment(">" if cursor else " ", plain), *self._drawn(row, max(width - 2, 0))]
        if cursor:
            segments = [Segment(text, self._style("cursor")) for text, _, _ in segments]
        return Strip(segments).adjust_cell_length(width, self._style("cursor") if cursor else plain)

    def _drawn(self, row: Row, width: int) -> list[Segment]:
        mark = box_of(row)
        done = {"[x]": "done", "[<]": "done", "[!]": "flag"}.get(mark, "open")
        has_note = any(each.words or each.verdict is Verdict.NOTE for file in files_of(row) for each in file.marks)
        head = [Segment(mark, self._style(done)), Segment('"' if has_note else " ", self._style("changed"))]
        if isinstance(row, RunRow):
            return [*head, *self._run(row, width - 4)]
        return [*head, *self._file(row, width - 4)]

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
        room = max(width - 2 - cell_len(counts) - cell_len(lost) - len(last), 8)
        whole = f"run by {one_line(run.actor)}, {count:,} {'file' if count == 1 else 'files'}"
        words = fit(whole if cell_len(whole) <= room else whole.removeprefix("run by "), room)
        return [
            Segment("▾ " if row.is_open else "▸ ", self._style("run")),
            Segment(words, self._style("run")),
            Segment(lost, self._style("flag")),
            Segment(" " * (room - cell_len(words)), self._style("")),
            Segment(f" {added:>4} ", self._style("added")),
            Segment(f"{removed:>4}{last}", self._style("removed")),
        ]
