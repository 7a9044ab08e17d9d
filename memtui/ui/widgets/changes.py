"""The changes since the last review as rows: files, and runs that unfold; each with a box for its verdict."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from memtui.audit.report.wording import format_actor
from memtui.core.events import shorten_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.review.inbox import ChangedFile, ChangeRun, Inbox, ReviewMark, ReviewVerdict
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.findings import FindingFilter
from memtui.ui.widgets.row_list import Cell, Column, FoldList


@dataclass(frozen=True, slots=True)
class ChangedFileRow:
    """A changed file, inside of a run or not."""

    file: ChangedFile
    is_inside: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the file among inboxes."""
        return ("inside" if self.is_inside else "file", self.file.path)


@dataclass(frozen=True, slots=True)
class ChangeRunRow:
    """A run of changes, with the files that match the filter."""

    run: ChangeRun
    files: tuple[ChangedFile, ...]
    is_open: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the run among inboxes."""
        return ("run", str(self.run.first))


ChangeRow = ChangedFileRow | ChangeRunRow


def build_change_rows(
    inbox: Inbox, only: FindingFilter, rules: Mapping[str, Collection[str]], opened: Collection[object]
) -> list[ChangeRow]:
    """All rows that match a filter: runs first, then single files.

    Args:
        inbox: The changes.
        only: The filter.
        rules: By path, ids and families of the rules with findings there.
        opened: Keys of unfolded rows.
    """
    files = [file for file in inbox.files if only.matches_change(file, rules.get(file.path, ()))]
    runs = {run.number for run in inbox.runs}
    rows: list[ChangeRow] = []
    of_run: dict[int | None, list[ChangedFile]] = {}
    for file in files:
        of_run.setdefault(file.run, []).append(file)
    for run in inbox.runs:
        inside = tuple(of_run.get(run.number, ()))
        if inside or only.is_empty:
            row = ChangeRunRow(run, inside)
            is_open = row.key in opened
            rows.append(replace(row, is_open=is_open))
            rows += [ChangedFileRow(file, is_inside=True) for file in inside] if is_open else []
    return [*rows, *(ChangedFileRow(file) for file in files if file.run not in runs)]


def get_row_files(row: ChangeRow) -> tuple[ChangedFile, ...]:
    """The files of a row."""
    return row.files if isinstance(row, ChangeRunRow) else (row.file,)


_BOXES = {ReviewVerdict.ACCEPT: ("[x]", "done"), ReviewVerdict.FLAG: ("[!]", "flag")}


def get_row_box(row: ChangeRow) -> tuple[str, str]:
    """The box of a row and its role; of a run, a flag, or the verdict on all of its files."""
    verdicts = {file.verdict for file in get_row_files(row)}
    verdict = verdicts.pop() if len(verdicts) == 1 else ReviewVerdict.FLAG if ReviewVerdict.FLAG in verdicts else None
    return _BOXES.get(verdict or ReviewVerdict.NOTE, ("[ ]", "open"))


def filter_unreviewed(files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The files without a verdict."""
    return [file for file in files if file.verdict is None]


def format_verdict(mark: ReviewMark) -> str:
    """A verdict in a sentence: `accepted`, `flagged`, `reverted`, `noted`."""
    words = {ReviewVerdict.ACCEPT: "accepted", ReviewVerdict.FLAG: "flagged", ReviewVerdict.REVERTED: "reverted"}
    return words.get(mark.verdict, "noted")


def _format_version_count(file: ChangedFile) -> str:
    """`new`, `deleted`, `renamed`, `changed`, `5 times`."""
    count = len(file.events)
    names = {"+": "new", "-": "deleted", ">": "renamed"}
    return names.get(file.sign, f"{count:,} times" if count > 1 else "changed")


_VERSIONS, _ACTOR = 8, 8
_WIDTH_WITH_ACTORS = 46
"""Cells from which on there are columns for versions and actors."""
_RUN = "run"
_SIGNS = {"+": "added", "-": "removed", "~": "changed", ">": "changed"}


class ChangesView(FoldList[ChangeRow]):
    """Box, sign, path, versions, lines and actors."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="audit.open_change", tooltip="Open the change, or the files of a run"),
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
        & > .changes--detail { color: $foreground-muted; }
        & > .changes--run { color: $text-primary; text-style: bold; }
    }
    """

    def go_to(self, path: str) -> bool:
        """Put the cursor on a file; returns whether it is listed."""
        for at, row in enumerate(self._rows):
            if isinstance(row, ChangedFileRow) and row.file.path == path:
                self._go_to_row(at)
                return True
        return False

    def _is_open(self, item: ChangeRow) -> bool | None:
        return item.is_open if isinstance(item, ChangeRunRow) else None

    def _is_inside(self, item: ChangeRow) -> bool:
        return isinstance(item, ChangedFileRow) and item.is_inside

    def _get_key(self, item: ChangeRow) -> object:
        return item.key

    # Columns

    def _get_columns(self, item: ChangeRow, width: int) -> Sequence[Column[Any]]:
        inside = isinstance(item, ChangedFileRow) and item.is_inside
        roomy = width - (9 if inside else 7) >= _WIDTH_WITH_ACTORS
        head: tuple[Column[Any], ...] = (
            Column("box", *get_row_box(item), width=3),
            Column("note", '"' if _has_note(item) else " ", "changed", width=1),
        )
        end = Column[Any]("end", "", gap=" ")
        changed = item.run if isinstance(item, ChangeRunRow) else item.file
        added = f"+{changed.added:,}" if changed.added else ""
        removed = Column[Any]("removed", f"-{changed.removed:,}" if changed.removed else "", "removed", 4, align=">")
        if isinstance(item, ChangeRunRow):
            return (
                *head,
                Column("fold", "▾" if item.is_open else "▸", "run", width=2),
                Column("run", _format_run, width=len(_RUN), share=True),
                Column("added", added, "added", 4, align=">", gap=" ", tail=" "),
                removed,
                *([Column[Any]("space", "", "removed", width=_ACTOR + 2)] if roomy else []),
                end,
            )
        file = item.file
        versions = Column[Any]("versions", _format_version_count(file), "detail", _VERSIONS, gap="  ")
        actors = Column[Any]("actor", _format_actors, "detail", _ACTOR, gap="  ")
        return (
            *head,
            Column("sign", file.sign, _SIGNS[file.sign], 2, gap="  " if inside else ""),
            Column("path", _format_path, width=8, share=True),
            versions if roomy else Column("gap", "", "detail", width=1),
            Column("added", added, "added", 4, align=">", tail=" "),
            removed,
            *([actors] if roomy else []),
            end,
        )


def _has_note(row: ChangeRow) -> bool:
    return any(mark.words or mark.verdict is ReviewVerdict.NOTE for file in get_row_files(row) for mark in file.marks)


def _format_path(row: ChangedFileRow, width: int) -> Cell:
    file = row.file
    return truncate_middle(to_one_line(f"{file.previous_path} > {file.path}" if file.sign == ">" else file.path), width)


def _format_actors(row: ChangedFileRow, width: int) -> Cell:
    """The actors, or the first one and how many more."""
    names = [to_one_line(shorten_actor_name(actor)) for actor in row.file.actors]
    words = ", ".join(names)
    if cell_len(words) <= width or len(names) < 2:
        return truncate(words, width)
    more = f"+{len(names) - 1}"
    return truncate(names[0], width - len(more)) + more


def _format_run(row: ChangeRunRow, width: int) -> Cell:
    """The actor and the number of files, as fully as they fit, and the number of lost facts."""
    run, count = row.run, len(row.run.paths)
    lost = f"  {len(run.lost) + run.unlisted:,} lost" if run.lost else ""
    files = format_count(count, "file")
    full = f"run by {to_one_line(format_actor(run.actor))}, {files}"
    choices = full, f"{to_one_line(shorten_actor_name(run.actor))}, {files}", files
    words = next((each for each in choices if cell_len(each + lost) <= width), _RUN)
    return [(words, "run"), (lost, "flag")]
