"""What changed as rows: files, and runs that open to show theirs; what was said of each, in a box of three cells."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memtui.audit.inbox import ChangedFile, Inbox, Mark, Run, Verdict
from memtui.ui.audit.narrowing import Narrowing


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file that changed.

    Attributes:
        file: Which.
        is_inside: Whether it stands below its run.
    """

    file: ChangedFile
    is_inside: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The same for the same file in another inbox."""
        return ("inside" if self.is_inside else "file", self.file.path)


@dataclass(frozen=True, slots=True)
class RunRow:
    """Many changes that are shown as one.

    Attributes:
        run: Which.
        files: Those of its files that are listed.
        is_open: Whether they stand below it.
    """

    run: Run
    files: tuple[ChangedFile, ...]
    is_open: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The same for the same run in another inbox."""
        return ("run", str(self.run.first))


Row = FileRow | RunRow


def rows_of(
    inbox: Inbox, wanted: Narrowing, rules: Mapping[str, Collection[str]], opened: Collection[int]
) -> list[Row]:
    """All rows: runs first, then what was changed one by one.

    Args:
        inbox: What changed.
        wanted: Only these.
        rules: By path, ids and families of the rules that found something there.
        opened: Numbers of the first events of runs whose files are shown.
    """
    files = [file for file in inbox.files if wanted.takes_change(file, rules.get(file.path, ()))]
    runs = {run.number for run in inbox.runs}
    rows: list[Row] = []
    of_run: dict[int | None, list[ChangedFile]] = {}
    for file in files:
        of_run.setdefault(file.run, []).append(file)
    for run in inbox.runs:
        inside = tuple(of_run.get(run.number, ()))
        if inside or wanted.is_empty:
            is_open = run.first in opened
            rows.append(RunRow(run, inside, is_open))
            rows += [FileRow(file, is_inside=True) for file in inside] if is_open else []
    return [*rows, *(FileRow(file) for file in files if file.run not in runs)]


def files_of(row: Row) -> tuple[ChangedFile, ...]:
    """The files that a row stands for."""
    return row.files if isinstance(row, RunRow) else (row.file,)


def box(verdict: Verdict | None) -> str:
    """What was said of something, as on paper."""
    return {None: "[ ]", Verdict.ACCEPT: "[x]", Verdict.FLAG: "[!]", Verdict.REVERTED: "[<]"}.get(verdict, "[ ]")


def box_of(row: Row) -> str:
    """The box of a row; of a run, that which holds for all of it."""
    if isinstance(row, FileRow):
        return box(row.file.verdict)
    verdicts = {file.verdict for file in row.files}
    if Verdict.FLAG in verdicts:
        return box(Verdict.FLAG)
    return box(verdicts.pop() if len(verdicts) == 1 else None)


def is_judged(file: ChangedFile) -> bool:
    """Whether somebody has said what she thinks of it."""
    return file.verdict is not None


def unreviewed(files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Those of which nobody has said anything."""
    return [file for file in files if not is_judged(file)]


def said(mark: Mark) -> str:
    """What a verdict is called in a sentence: `accepted`, `flagged`, `noted`."""
    words = {Verdict.ACCEPT: "accepted", Verdict.FLAG: "flagged", Verdict.REVERTED: "reverted"}
    return words.get(mark.verdict, "noted")


def versions(file: ChangedFile) -> str:
    """How often it changed, in words: `new`, `deleted`, `renamed`, `5 times`."""
    match file.sign:
        case "+":
            return "new"
        case "-":
            return "deleted"
        case ">":
            return "renamed"
    count = len(file.events)
    return f"{count:,} times" if count > 1 else "changed"


def lines(added: int | None, removed: int | None) -> tuple[str, str]:
    """Lines that came and went: `+4` and `-3`, empty for none."""
    return (f"+{added:,}" if added else "", f"-{removed:,}" if removed else "")
