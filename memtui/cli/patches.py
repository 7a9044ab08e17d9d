"""Differences of files as a patch: exact for programs such as `patch`, made visible on a terminal.

The names and texts are an agent's. In a pipe every byte of a text goes through as it is, and a name that could be
taken for something else is quoted as GNU `diff` does; on a terminal nothing hidden is left.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memtui.cli import output
from memtui.core import diffs
from memtui.core.events import Change, Version
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Kind
from memtui.core.visible import visible

_COLORS = {"-": "31", "+": "32", "@": "36"}
_BOLD = "1"
_EMPTY = "e69de29"
"""What git calls an empty file; without it `patch` would not remove one."""


@dataclass(frozen=True, slots=True)
class Side:
    """One file at one moment.

    Attributes:
        path: Relative to the folder.
        version: What it was; `None` if it was not there.
        data: A file's bytes, empty for nothing; `None` where they are not kept, or were never there.
        label: When that was, for the header.
    """

    path: str
    version: Version | None
    data: bytes | None
    label: str = ""

    @property
    def kind(self) -> Kind | None:
        """What it was; `None` for nothing."""
        return self.version.kind if self.version else None

    @property
    def sha256(self) -> str | None:
        """Its hash, where it has one."""
        return self.version.sha256 if self.version else None


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What became of one file.

    Attributes:
        old: What it was.
        new: What it is.
        is_move: Whether it is one file that was moved, and not two.
    """

    old: Side
    new: Side
    is_move: bool = False

    @property
    def is_same(self) -> bool:
        """Whether it was moved, and nothing else."""
        return self.is_move and self.old.version == self.new.version

    @property
    def is_text(self) -> bool:
        """Whether both sides are texts, or nothing, and are kept."""
        sides = (self.old, self.new)
        return all(side.kind in (Kind.FILE, None) and side.data is not None and not _binary(side) for side in sides)

    @property
    def is_binary(self) -> bool:
        """Whether one side is a file that is no text."""
        return any(side.kind is Kind.FILE and side.data is not None and _binary(side) for side in (self.old, self.new))

    def compared(self) -> diffs.Difference:
        """The two texts, line by line; only for texts."""
        return diffs.compare(_text(self.old), _text(self.new))


def pairs(changes: Iterable[Change]) -> Iterator[tuple[Change, str | None]]:
    """Changes with what a file was called before, where one text went from one name to another.

    A move stands in the record as something gone and something new. Where the same text went at one path only, and
    came at one path only, it is told as the move that it was.
    """
    changes = list(changes)
    gone = Counter(_moved(change.before) for change in changes if change.after is None)
    came = Counter(_moved(change.after) for change in changes if change.before is None)
    once = {key for key in gone if key is not None and gone[key] == 1 and came[key] == 1}
    origin = {_moved(change.before): change.path for change in changes if change.after is None}
    for change in changes:
        if change.after is None and _moved(change.before) in once:
            continue
        if change.before is None and _moved(change.after) in once:
            yield Change(change.path, change.after, change.after), origin[_moved(change.after)]
        else:
            yield change, None


def _moved(version: Version | None) -> str | None:
    return version.sha256 if version is not None and version.kind is Kind.FILE and version.size else None


def lines_of(diff: FileDiff) -> Iterator[str]:
    """A patch of one file, line by line; where there is none to be made, a line that says what differs."""
    old, new = diff.old, diff.new
    kinds = {old.kind, new.kind}
    if diff.is_same:
        yield from _moved_lines(diff)
    elif kinds == {Kind.DIRECTORY, None}:
        yield f"Directory {_quoted(new.path)} is {'new' if old.kind is None else 'gone'}"
    elif kinds & {Kind.LINK, Kind.OTHER, Kind.DIRECTORY}:
        yield f"{_quoted(new.path)} was {_described(old)} and is {_described(new)}"
    elif diff.is_binary:
        yield f"Binary files {_header('a', old)} and {_header('b', new)} differ"
    elif not diff.is_text:
        which = " and ".join(word for word, side in (("before", old), ("after", new)) if side.data is None)
        yield f"Files {_header('a', old)} and {_header('b', new)} differ, but the text {which} is not kept"
    else:
        yield from _patch(diff)


def _patch(diff: FileDiff) -> Iterator[str]:
    old, new = diff.old, diff.new
    names = old.path if old.version else None, new.path if new.version else None
    lines = diff.compared().patch(*names).split("\n")[:-1]
    if diff.is_move:
        yield from _moved_lines(diff)
    elif not lines:
        yield _git_header(diff)
        yield "new file mode 100644" if old.version is None else "deleted file mode 100644"
        yield f"index 0000000..{_EMPTY}" if old.version is None else f"index {_EMPTY}..0000000"
    for line, side in zip(lines[:2], (old, new), strict=False):
        yield line if side.version is None or not side.label else f"{line.rstrip(chr(9))}\t{side.label}"
    yield from lines[2:]


def _moved_lines(diff: FileDiff) -> Iterator[str]:
    yield _git_header(diff)
    if diff.is_same:
        yield "similarity index 100%"
    yield f"rename from {_quoted(diff.old.path)}"
    yield f"rename to {_quoted(diff.new.path)}"


def _git_header(diff: FileDiff) -> str:
    """What git puts first, without which `patch` would not know of moves, nor of empty files."""
    return f"diff --git {_quoted(f'a/{diff.old.path}', space=True)} {_quoted(f'b/{diff.new.path}', space=True)}"


def _header(letter: str, side: Side) -> str:
    return _quoted(f"{letter}/{side.path}") if side.version else "/dev/null"


def _described(side: Side) -> str:
    match side.kind:
        case None:
            return "nothing"
        case Kind.LINK:
            target = "" if side.data is None else f" to {_quoted(os.fsdecode(side.data))}"
            return f"a link{target}"
        case Kind.OTHER:
            return "no regular file"
        case kind:
            return f"a {kind.value}"


def _quoted(name: str, *, space: bool = False) -> str:
    """A name as GNU `diff` writes it: quoted where it holds anything that does not print.

    Args:
        name: The name.
        space: Whether a space is quoted as well.
    """
    if name.isprintable() and not set(name) & set('"\\' + " " * space):
        return name
    escaped = "".join(
        f"\\{chr(byte)}" if chr(byte) in '"\\' else chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
        for byte in name.encode("utf-8", "surrogateescape")
    )
    return f'"{escaped}"'


# Printing


def print_patch(diff: FileDiff) -> None:
    """Print the patch of one file: its exact bytes into a pipe, visible and colored on a terminal."""
    if not output.is_terminal(sys.stdout):
        output.exact("".join(line + "\n" for line in lines_of(diff)).encode("utf-8", "surrogateescape"))
        return
    colored = output.is_colored()
    in_hunks = False
    for line in lines_of(diff):
        in_hunks = in_hunks or line.startswith("@@")
        shown = visible(line, newline="\\n")
        color = _COLORS.get(line[:1]) if in_hunks else _BOLD
        output.line(f"\x1b[{color}m{shown}\x1b[m" if colored and color else shown)


def print_stat(found: Sequence[FileDiff]) -> None:
    """Print how many lines of each file were added and removed."""
    rows = [(_named(diff), _counted(diff)) for diff in found if _is_told(diff)]
    width = max((output.cells(name) for name, _ in rows), default=0)
    for name, counts in rows:
        output.line(f"{output.cell(name, width)}  {counts}")
    added, removed = (sum(each) for each in zip(*(_counts(diff) or (0, 0) for diff in found), strict=True))
    output.line(
        f"{len(rows):,} {'file' if len(rows) == 1 else 'files'} differ{'s' * (len(rows) == 1)}, +{added} -{removed}"
    )


def _is_told(diff: FileDiff) -> bool:
    return {diff.old.kind, diff.new.kind} != {Kind.DIRECTORY, None}


def _named(diff: FileDiff) -> str:
    return f"{diff.old.path} -> {diff.new.path}" if diff.is_move else diff.new.path


def _counted(diff: FileDiff) -> str:
    counts = _counts(diff)
    if counts is None:
        return "binary" if diff.is_binary else "not compared"
    word = "new" if diff.old.version is None else "gone" if diff.new.version is None else ""
    return f"+{counts[0]} -{counts[1]}  {word}".rstrip()


def _counts(diff: FileDiff) -> tuple[int, int] | None:
    if diff.is_same:
        return 0, 0
    if not diff.is_text or {diff.old.kind, diff.new.kind} == {None}:
        return None
    return tuple(diffs.counts(_text(diff.old), _text(diff.new)))  # type: ignore[return-value]


def record(diff: FileDiff) -> dict[str, object]:
    """What became of a file, for programs."""
    old, new = diff.old, diff.new
    counts = _counts(diff)
    kind = new.kind or old.kind
    return {
        "path": str(MemoryPath.of(new.path)),
        "old_path": str(MemoryPath.of(old.path)) if diff.is_move else None,
        "kind": kind.value if kind else None,
        "op": "renamed"
        if diff.is_move
        else "created"
        if not old.version
        else "deleted"
        if not new.version
        else "modified",
        "sha256_before": old.sha256,
        "sha256_after": new.sha256,
        "added": counts[0] if counts else None,
        "removed": counts[1] if counts else None,
        "binary": diff.is_binary,
        "hunks": list(_hunks(diff)) if diff.is_text else None,
    }


def _hunks(diff: FileDiff) -> Iterator[dict[str, object]]:
    names = diff.old.path if diff.old.version else None, diff.new.path if diff.new.version else None
    hunk: list[str] = []
    for line in (*diff.compared().patch(*names).split("\n")[2:-1], "@@"):
        if not line.startswith("@@"):
            hunk.append(line)
            continue
        if hunk:
            (old_start, old_lines), (new_start, new_lines) = _extents(hunk[0])
            yield {
                "old_start": old_start,
                "old_lines": old_lines,
                "new_start": new_start,
                "new_lines": new_lines,
                "lines": hunk[1:],
            }
        hunk = [line]


def _extents(header: str) -> tuple[tuple[int, int], tuple[int, int]]:
    old, new = (part[1:].split(",") for part in header.split(" ")[1:3])
    return (int(old[0]), int(old[1])), (int(new[0]), int(new[1]))


def _binary(side: Side) -> bool:
    return side.data is not None and b"\0" in side.data


def _text(side: Side) -> str:
    return (side.data or b"").decode("utf-8", "surrogateescape")
