"""Patches of Codex's tool `apply_patch`: the files that one changes, and what they will hold.

The rules are those of Codex 0.171 where the lines of a patch stand in the file exactly. Codex also takes lines that
differ in spaces and punctuation; here such a change cannot be told beforehand.
"""

from collections.abc import Iterator, Sequence

from memtui.core.lazy_dataclass import dataclass, field

_ADD, _DELETE, _UPDATE, _MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "
_END_OF_FILE = "*** End of File"


class UnclearPatch(Exception):
    """What a file will hold cannot be told."""


@dataclass(slots=True)
class _Hunk:
    """Lines that are replaced: behind the line `anchor`, where there is one; at the end of the file, if `is_at_end`."""

    anchor: str = ""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    is_at_end: bool = False


@dataclass(slots=True)
class FilePatch:
    """What a patch does to one file.

    Attributes:
        verb: `add`, `delete` or `update`.
        path: As the patch has it.
        moved_to: Where an updated file is moved to; empty for nowhere.
        added: The lines of a new file.
        hunks: The changes of an updated one.
    """

    verb: str
    path: str
    moved_to: str = ""
    added: list[str] = field(default_factory=list)
    hunks: list[_Hunk] = field(default_factory=list)

    def apply(self, before: bytes | None) -> bytes | None:
        """The content of the file after it; `None` for no file.

        Raises:
            UnclearPatch: The lines are not in the file exactly, or it is no text.
        """
        if self.verb == "delete":
            return None
        if self.verb == "add":
            return "".join(f"{line}\n" for line in self.added).encode("utf-8", "surrogateescape")
        if before is None:
            raise UnclearPatch
        try:
            lines = before.decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            raise UnclearPatch from error
        if lines[-1] == "":
            lines.pop()
        at, replaced = 0, list[tuple[int, _Hunk]]()
        for hunk in self.hunks:
            if hunk.anchor:
                at = _find_lines(lines, [hunk.anchor], at) + 1
            where = _find_lines(lines, hunk.old, at, is_at_end=hunk.is_at_end) if hunk.old else len(lines)
            replaced.append((where, hunk))
            at = where + len(hunk.old)
        for where, hunk in sorted(replaced, key=lambda each: each[0], reverse=True):
            lines[where : where + len(hunk.old)] = hunk.new
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _find_lines(lines: Sequence[str], wanted: list[str], start: int, *, is_at_end: bool = False) -> int:
    last = len(lines) - len(wanted)
    for at in range(last if is_at_end else start, last + 1):
        if at >= start and lines[at : at + len(wanted)] == wanted:
            return at
    raise UnclearPatch


def parse_patch(patch: str) -> Iterator[FilePatch]:
    """The files of a patch, in order; lines that are no part of one are passed over."""
    current: FilePatch | None = None
    for line in patch.removesuffix("\n").split("\n"):
        found = next(((verb, mark) for verb, mark in _VERBS if line.startswith(mark)), None)
        if found is not None:
            if current is not None:
                yield current
            current = FilePatch(found[0], line.removeprefix(found[1]).strip())
        elif current is None or line.strip() in ("*** Begin Patch", "*** End Patch"):
            continue
        elif line.startswith(_MOVE):
            current.moved_to = line.removeprefix(_MOVE).strip()
        elif current.verb == "add":
            if line.startswith("+"):
                current.added.append(line[1:])
        elif current.verb == "update":
            _read_line(current.hunks, line)
    if current is not None:
        yield current


def split_patch(patch: str) -> Iterator[str]:
    """The parts of a patch, one a file, each of them a patch."""
    part: list[str] = []
    for line in patch.split("\n"):
        if line.startswith((_ADD, _DELETE, _UPDATE)):
            if part:
                yield "\n".join(part)
            part = []
        part.append(line)
    yield "\n".join(part)


_VERBS = (("add", _ADD), ("delete", _DELETE), ("update", _UPDATE))


def _read_line(hunks: list[_Hunk], line: str) -> None:
    """Take one line of an updated file's hunks."""
    if line.startswith("@@"):
        hunks.append(_Hunk(line[2:].removeprefix(" ")))
        return
    if not hunks:
        hunks.append(_Hunk())
    hunk = hunks[-1]
    if line.strip() == _END_OF_FILE:
        hunk.is_at_end = True
    elif line[:1] in ("", " "):
        hunk.old.append(line[1:])
        hunk.new.append(line[1:])
    elif line[0] == "-":
        hunk.old.append(line[1:])
    elif line[0] == "+":
        hunk.new.append(line[1:])
