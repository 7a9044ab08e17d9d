"""Differences of files as a patch: exact for programs such as `patch`, made visible on a terminal.

The names and texts are an agent's. In a pipe every byte of a text goes through as it is, and a name that could be
taken for something else is quoted as GNU `diff` does; on a terminal nothing hidden is left.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from memtui.cli import output
from memtui.core import diffs
from memtui.core.events import Change, EntryKind, Version
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.unicode import measure_cells, visible
from memtui.core.wording import format_count

_COLORS = {"-": "31", "+": "32", "@": "36"}
_BOLD = "1"
_EMPTY = "e69de29"
"""The hash of an empty file in git; without it `patch` would not remove one."""


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One file at one moment. `data` is `None` where it is not kept; `label` is the time for the header."""

    path: str
    version: Version | None
    data: bytes | None
    label: str = ""

    @property
    def kind(self) -> EntryKind | None:
        """Its kind; `None` for nothing."""
        return self.version.kind if self.version else None

    @property
    def sha256(self) -> str | None:
        """Its hash, where it has one."""
        return self.version.sha256 if self.version else None


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A change of one file; `is_move` for one file that was moved, not two."""

    old: DiffSide
    new: DiffSide
    is_move: bool = False

    @property
    def is_same(self) -> bool:
        """Whether it was moved, and nothing else."""
        return self.is_move and self.old.version == self.new.version

    @property
    def is_text(self) -> bool:
        """Whether both sides are texts, or nothing, and are kept."""
        sides = (self.old, self.new)
        return all(
            side.kind in (EntryKind.FILE, None) and side.data is not None and not _is_binary(side) for side in sides
        )

    @property
    def is_binary(self) -> bool:
        """Whether one side is a file that is no text."""
        return any(
            side.kind is EntryKind.FILE and side.data is not None and _is_binary(side) for side in (self.old, self.new)
        )

    def compare(self) -> diffs.TextDiff:
        """The two texts, line by line; only for texts."""
        return diffs.compare_texts(_decode_text(self.old), _decode_text(self.new))


def pair_moves(changes: Iterable[Change]) -> Iterator[tuple[Change, str | None]]:
    """Changes, each with the former path where one text was removed at one path and added at another: a move."""
    changes = list(changes)
    removed = Counter(_get_move_key(change.before) for change in changes if change.after is None)
    added = Counter(_get_move_key(change.after) for change in changes if change.before is None)
    once = {key for key in removed if key is not None and removed[key] == 1 and added[key] == 1}
    origin = {_get_move_key(change.before): change.path for change in changes if change.after is None}
    for change in changes:
        if change.after is None and _get_move_key(change.before) in once:
            continue
        if change.before is None and _get_move_key(change.after) in once:
            yield Change(change.path, change.after, change.after), origin[_get_move_key(change.after)]
        else:
            yield change, None


def _get_move_key(version: Version | None) -> str | None:
    return version.sha256 if version is not None and version.kind is EntryKind.FILE and version.size else None


def iter_patch_lines(diff: FileDiff) -> Iterator[str]:
    """The lines of a patch of one file; where none can be made, a line about the difference."""
    old, new = diff.old, diff.new
    kinds = {old.kind, new.kind}
    if diff.is_same:
        yield from _iter_rename_lines(diff)
    elif kinds == {EntryKind.DIRECTORY, None}:
        yield f"Directory {_quote_name(new.path)} is {'new' if old.kind is None else 'deleted'}"
    elif kinds & {EntryKind.LINK, EntryKind.OTHER, EntryKind.DIRECTORY}:
        yield f"{_quote_name(new.path)} was {_describe_side(old)} and is {_describe_side(new)}"
    elif diff.is_binary:
        yield f"Binary files {_format_file_header('a', old)} and {_format_file_header('b', new)} differ"
    elif not diff.is_text:
        which = " and ".join(word for word, side in (("before", old), ("after", new)) if side.data is None)
        yield (
            f"Files {_format_file_header('a', old)} and {_format_file_header('b', new)}"
            f" differ, but the text {which} is not kept"
        )
    else:
        yield from _iter_text_patch(diff)


def _iter_text_patch(diff: FileDiff) -> Iterator[str]:
    old, new = diff.old, diff.new
    names = old.path if old.version else None, new.path if new.version else None
    lines = diff.compare().format_patch(*names).split("\n")[:-1]
    if diff.is_move:
        yield from _iter_rename_lines(diff)
    elif not lines:
        yield _format_git_header(diff)
        yield "new file mode 100644" if old.version is None else "deleted file mode 100644"
        yield f"index 0000000..{_EMPTY}" if old.version is None else f"index {_EMPTY}..0000000"
    for line, side in zip(lines[:2], (old, new), strict=False):
        yield line if side.version is None or not side.label else f"{line.rstrip(chr(9))}\t{side.label}"
    yield from lines[2:]


def _iter_rename_lines(diff: FileDiff) -> Iterator[str]:
    yield _format_git_header(diff)
    if diff.is_same:
        yield "similarity index 100%"
    yield f"rename from {_quote_name(diff.old.path)}"
    yield f"rename to {_quote_name(diff.new.path)}"


def _format_git_header(diff: FileDiff) -> str:
    """The first line of git, without which `patch` would not know of moves, nor of empty files."""
    return f"diff --git {_quote_name(f'a/{diff.old.path}', space=True)} {_quote_name(f'b/{diff.new.path}', space=True)}"


def _format_file_header(letter: str, side: DiffSide) -> str:
    return _quote_name(f"{letter}/{side.path}") if side.version else "/dev/null"


def _describe_side(side: DiffSide) -> str:
    match side.kind:
        case None:
            return "nothing"
        case EntryKind.LINK:
            target = "" if side.data is None else f" to {_quote_name(os.fsdecode(side.data))}"
            return f"a link{target}"
        case EntryKind.OTHER:
            return "not a regular file"
        case kind:
            return f"a {kind.value}"


def _quote_name(name: str, *, space: bool = False) -> str:
    """A name as GNU `diff` writes it: quoted if not printable, and with `space` also if it holds a space."""
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
        output.write_bytes("".join(line + "\n" for line in iter_patch_lines(diff)).encode("utf-8", "surrogateescape"))
        return
    in_hunks = False
    for line in iter_patch_lines(diff):
        in_hunks = in_hunks or line.startswith("@@")
        shown = visible(line, newline="\\n")
        color = _COLORS.get(line[:1]) if in_hunks else _BOLD
        output.print_line(output.colorize(shown, color))


def print_stat(found: Sequence[FileDiff]) -> None:
    """Print how many lines of each file were added and removed."""
    files = [diff for diff in found if {diff.old.kind, diff.new.kind} != {EntryKind.DIRECTORY, None}]
    rows = [(_format_name(diff), _format_counts(diff)) for diff in files]
    width = max((measure_cells(name) for name, _ in rows), default=0)
    for name, counts in rows:
        output.print_line(f"{output.pad_cell(name, width)}  {counts}")
    added, removed = (sum(each) for each in zip(*(_count_lines(diff) or (0, 0) for diff in found), strict=True))
    output.print_line(f"{format_count(len(rows), 'file')} differ{'s' * (len(rows) == 1)}, +{added} -{removed}")


def _format_name(diff: FileDiff) -> str:
    return f"{diff.old.path} -> {diff.new.path}" if diff.is_move else diff.new.path


def _format_counts(diff: FileDiff) -> str:
    counts = _count_lines(diff)
    if counts is None:
        return "binary" if diff.is_binary else "not compared"
    word = "new" if diff.old.version is None else "deleted" if diff.new.version is None else ""
    return f"+{counts[0]} -{counts[1]}  {word}".rstrip()


def _count_lines(diff: FileDiff) -> tuple[int, int] | None:
    if diff.is_same:
        return 0, 0
    if not diff.is_text or {diff.old.kind, diff.new.kind} == {None}:
        return None
    return tuple(diffs.count_changes(_decode_text(diff.old), _decode_text(diff.new)))  # type: ignore[return-value]


def serialize_diff(diff: FileDiff) -> dict[str, object]:
    """A change of a file as JSON."""
    old, new = diff.old, diff.new
    counts = _count_lines(diff)
    kind = new.kind or old.kind
    return {
        "path": str(MemoryPath.from_relative(new.path)),
        "old_path": str(MemoryPath.from_relative(old.path)) if diff.is_move else None,
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
        "hunks": list(_serialize_hunks(diff)) if diff.is_text else None,
    }


def _serialize_hunks(diff: FileDiff) -> Iterator[dict[str, object]]:
    names = diff.old.path if diff.old.version else None, diff.new.path if diff.new.version else None
    hunk: list[str] = []
    for line in (*diff.compare().format_patch(*names).split("\n")[2:-1], "@@"):
        if not line.startswith("@@"):
            hunk.append(line)
            continue
        if hunk:
            (old_start, old_lines), (new_start, new_lines) = _parse_extents(hunk[0])
            yield {
                "old_start": old_start,
                "old_lines": old_lines,
                "new_start": new_start,
                "new_lines": new_lines,
                "lines": hunk[1:],
            }
        hunk = [line]


def _parse_extents(header: str) -> tuple[tuple[int, int], tuple[int, int]]:
    old, new = (part[1:].split(",") for part in header.split(" ")[1:3])
    return (int(old[0]), int(old[1])), (int(new[0]), int(new[1]))


def _is_binary(side: DiffSide) -> bool:
    return side.data is not None and b"\0" in side.data


def _decode_text(side: DiffSide) -> str:
    return (side.data or b"").decode("utf-8", "surrogateescape")
