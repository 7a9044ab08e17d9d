"""The changes that Gemini CLI proposes to its memory: unified diffs below `.inbox/`, which only a person applies.

Rules of `/memory inbox` in Gemini CLI 0.61: a patch names absolute paths, the same twice or `/dev/null` for a new file,
and is applied whole or not at all. Private ones change Markdown files at the top of the folder.
"""

import os
import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.fs.no_atime import read_regular_file

INBOX = ".inbox/private"
_ENDING, _NOTE, _INDEX = ".patch", ".md", "MEMORY.md"
_LARGEST = 1_000_000
"""Bytes of a patch or a note that is read."""
_MOST_PATCHES, _MOST_COMPARED = 100, 50_000_000
"""Patches that are looked at, and lines of a note times lines of a patch that are compared."""
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@")
_NOTHING = "/dev/null"


class ProposedFile(NamedTuple):
    """A file as a proposal would have it.

    Attributes:
        path: Relative to the folder.
        text: The whole text.
    """

    path: str
    text: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class ProposedPatch:
    """A patch in the inbox.

    Attributes:
        path: Relative to the folder.
        files: What it would write; empty if it cannot be applied.
        problem: Why it cannot, as a clause; empty if it can.
    """

    path: str
    files: tuple[ProposedFile, ...] = ()
    problem: str = ""


class _BadPatch(ValueError):
    """A patch cannot be applied; says why, as a clause."""


def read_proposals(folder: str) -> list[ProposedPatch]:
    """The patches in the inbox of a folder, as they would be applied now."""
    folder = os.path.realpath(folder)
    found: list[ProposedPatch] = []
    try:
        names = sorted(name for name in os.listdir(os.path.join(folder, INBOX)) if name.endswith(_ENDING))
    except OSError:
        return found
    for name in names[:_MOST_PATCHES]:
        path = f"{INBOX}/{name}"
        try:
            text = _read_text(os.path.join(folder, path))
            if not text:
                continue  # gone meanwhile, or not written yet
            found.append(ProposedPatch(path, tuple(_apply(folder, text))))
        except _BadPatch as error:
            found.append(ProposedPatch(path, problem=str(error)))
    return found


def build_pointer(folder: str, path: str, index: str | None) -> str | None:
    """The index with the line that Gemini CLI adds for a new note, so that it is found; `None` if it names it already.

    Args:
        folder: The memory folder.
        path: The new note, relative to the folder.
        index: The text of `MEMORY.md`; `None` if there is none.
    """
    target = os.path.join(os.path.realpath(folder), path)
    text = "# Project Memory\n" if index is None else index
    if path == _INDEX or path in text or target in text:
        return None
    stem = re.sub(r"[-_]", " ", path[: -len(_NOTE)]).strip()
    start = text if text.endswith("\n") else f"{text}\n"
    return f"{start}- See {target} for {stem or path} notes.\n"


def _apply(folder: str, patch: str) -> Iterator[ProposedFile]:
    parts = list(_split(patch))
    if not parts:
        raise _BadPatch("it has no changes")
    seen: set[str] = set()
    for old, new, lines in parts:
        if not os.path.isabs(new) or new == _NOTHING or old not in (new, _NOTHING):
            raise _BadPatch("its paths are not absolute, or not the same twice")
        path = _find_note(folder, new)
        if path in seen:
            raise _BadPatch(f"it names {path} twice")
        seen.add(path)
        before = _read_text(os.path.join(folder, path))
        if (before is None) != (old == _NOTHING):
            raise _BadPatch(f"{path} exists already" if before is not None else f"{path} does not exist")
        yield ProposedFile(path, _apply_hunks(before or "", lines, path), before is None)


def _find_note(folder: str, file: str) -> str:
    """The path of a note that may be changed, relative to the folder."""
    above, name = os.path.split(os.path.normpath(file))
    if "\0" in file or os.path.realpath(above) != folder or name.startswith(".") or not name.lower().endswith(_NOTE):
        raise _BadPatch("it changes a file that is no note at the top of the folder")
    return name


def _read_text(path: str) -> str | None:
    """A text; `None` if nothing is there."""
    try:
        if os.path.islink(path):
            raise _BadPatch("it leads to a link")
        data = read_regular_file(path, _LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _BadPatch(f"a file cannot be read: {error.strerror}") from error
    if data is None or len(data) > _LARGEST:
        raise _BadPatch("a file is no file, or too large")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _BadPatch("a file is no text") from error


def _split(patch: str) -> Iterator[tuple[str, str, list[str]]]:
    """The files of a patch: both names, and the lines of the hunks."""
    old, new, lines = "", "", list[str]()
    left = (0, 0)
    for line in patch.removesuffix("\n").split("\n"):
        if left == (0, 0) and line.startswith("--- "):
            if new and lines:
                yield old, new, lines
            old, new, lines = _clean_name(line[4:]), "", []
        elif left == (0, 0) and line.startswith("+++ ") and old and not new:
            new = _clean_name(line[4:])
        elif new and _HUNK.match(line):
            left = _count_hunk(line)
            lines.append(line)
        elif new and lines and (left != (0, 0) or line.startswith("\\")):
            left = (
                (max(0, left[0] - (line[:1] != "+")), max(0, left[1] - (line[:1] != "-"))) if line[:1] != "\\" else left
            )
            lines.append(line)
    if new and lines:
        yield old, new, lines


def _count_hunk(line: str) -> tuple[int, int]:
    """How many lines of both texts follow the head of a hunk."""
    old, new = line.split(" ")[1:3]
    counts = [each.partition(",")[2] for each in (old, new)]
    first, second = (int(each) if each else 1 for each in counts)
    return first, second


def _clean_name(name: str) -> str:
    name = name.partition("\t")[0].strip()
    return name[2:] if name.startswith(("a//", "b//")) else name


def _apply_hunks(before: str, lines: list[str], path: str) -> str:
    """A text with hunks applied; where the lines of one are elsewhere, the next place that fits is taken."""
    text = before.split("\n")
    if len(text) * len(lines) > _MOST_COMPARED:
        raise _BadPatch("it is too large")
    is_ended = not before or before.endswith("\n")
    if is_ended:
        text.pop()
    new, at, moved = list[str](), 0, 0
    for start, old, replaced, ends in _read_hunks(lines):
        where = _find_lines(text, old, max(at, start + moved), at)
        if where is None:
            raise _BadPatch(f"it does not fit to {path} any more")
        moved = where - start
        new += [*text[at:where], *replaced]
        at = where + len(old)
        is_ended = is_ended if ends is None else ends
    new += text[at:]
    return "\n".join(new) + ("\n" if new and is_ended else "")


def _read_hunks(lines: list[str]) -> Iterator[tuple[int, list[str], list[str], bool | None]]:
    """Hunks: the index of the first line, the old and the new lines, and whether the new text ends with a line end."""
    start, old, new, ends, last = -1, list[str](), list[str](), None, ""
    for line in lines:
        if found := _HUNK.match(line):
            if start >= 0:
                yield start, old, new, ends
            start = int(found[1]) if found[2] == "0" else max(0, int(found[1]) - 1)
            old, new, ends = [], [], None
        elif line.startswith("\\"):
            ends = last == "-"
        else:
            last = line[:1] or " "
            if last not in (" ", "+", "-"):
                raise _BadPatch("it is no patch")
            if last != "+":
                old.append(line[1:])
            if last != "-":
                new.append(line[1:])
    if start >= 0:
        yield start, old, new, ends


def _find_lines(text: list[str], wanted: list[str], start: int, least: int) -> int | None:
    """Where lines are: at their place, or behind it, or before it."""
    for at in chain(range(start, len(text) - len(wanted) + 1), range(start - 1, least - 1, -1)):
        if text[at : at + len(wanted)] == wanted:
            return at
    return None
