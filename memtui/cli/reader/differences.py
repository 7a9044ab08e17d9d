"""What became of a text, line by line, in sentences: a diff that can be heard."""

from collections.abc import Iterator

from memtui.cli.reader.sentences import counted
from memtui.core import diffs
from memtui.core.diffs import Difference, Pair
from memtui.core.events import Change, Version
from memtui.core.history import PathVersion
from memtui.core.shape import NotText, shaped
from memtui.core.snapshot import Kind
from memtui.engine import Engine

_COMPARED = 1_000_000
"""Bytes of the largest texts that are compared line by line for a person who waits."""
_KINDS = {Kind.DIRECTORY: "a folder", Kind.LINK: "a link", Kind.OTHER: "no regular file"}


def of_row(engine: Engine, row: PathVersion) -> list[str]:
    """What one step in the history of a note changed."""
    moved = []
    if row.moved_from is not None:
        moved = [f"It was called {row.moved_from} before, and is called {row.path} since."]
    elif row.moved_to is not None:
        moved = [f"It is called {row.moved_to} since."]
    if row.before == row.after or row.moved_to is not None:
        return moved or ["Nothing in it changed."]
    return moved + of_change(engine, Change(row.path, row.before, row.after))


def of_change(engine: Engine, change: Change) -> list[str]:
    """What became of one path; texts are asked from the record."""
    text = engine.history.text
    return between(change.before, change.after, text(change.before), text(change.after))


def between(before: Version | None, after: Version | None, old: bytes | None, new: bytes | None) -> list[str]:
    """What became of something.

    Args:
        before: What it was; `None` for nothing.
        after: What it is.
        old: The bytes of what it was; `None` where they are not kept.
        new: The bytes of what it is.
    """
    kinds = {version.kind for version in (before, after) if version is not None}
    if kinds - {Kind.FILE}:
        return [f"It was {_described(before)}, and is {_described(after)} now."]
    if old is None or new is None:
        which = " and ".join(word for word, data in (("before", old), ("after", new)) if data is None)
        return [f"The text {which} is not kept: what changed cannot be told line by line."]
    if max(len(old), len(new)) > _COMPARED:
        return ["It is too large to be compared line by line here."]
    head = []
    if before is None:
        head = ["It is new."]
    elif after is None:
        head = ["It is deleted. This is what it held."]
    if head and not (old or new):
        return [*head, "It is empty."]
    try:
        return head + lines_between(shaped(old).text, shaped(new).text) + _shapes(old, new)
    except NotText:
        return [*head, f"It is no text: {counted(len(old), 'byte')} before, {counted(len(new), 'byte')} after."]


def lines_between(old: str, new: str) -> list[str]:
    r"""The differences of two texts whose lines end in `\n`."""
    difference = diffs.compare(old, new)
    if not difference.hunks:
        return []
    added, removed = difference.counts
    parts = [f"{counted(added, 'line')} added"] if added else []
    parts += [f"{counted(removed, 'line')} removed"] if removed else []
    head = f"{', '.join(parts)}, in {counted(len(difference.hunks), 'place')}."
    return [head, *(line for pairs in difference.sides() for pair in pairs for line in _pair(difference, pair))]


def _pair(difference: Difference, pair: Pair) -> Iterator[str]:
    """One line that was taken away, added, or became another one."""
    was, now = pair
    old = difference.old[was] if was is not None else None
    new = difference.new[now] if now is not None else None
    if old is not None and new is not None and old.removesuffix("\n") == new.removesuffix("\n"):
        yield f"Line {(now or 0) + 1} is the last one, and {'has' if new.endswith(chr(10)) else 'has no'} line end now."
    elif old is not None and new is not None:
        yield f"Line {(now or 0) + 1} was: {_heard(old)}"
        yield f"Line {(now or 0) + 1} is now: {_heard(new)}"
    elif old is not None:
        yield f"Line {(was or 0) + 1} is gone: {_heard(old)}"
    elif new is not None:
        yield f"Line {(now or 0) + 1} is new: {_heard(new)}"


def _heard(line: str) -> str:
    """A line as it can be heard: one that is empty is said to be."""
    line = line.removesuffix("\n")
    if line.strip():
        return line
    return f"only {counted(len(line), 'space or tab', 'spaces or tabs')}" if line else "an empty line"


def _shapes(old: bytes, new: bytes) -> list[str]:
    """What only the bytes differ in: how lines end, and the mark at the beginning."""
    was, now = shaped(old), shaped(new)
    told = []
    if was.line_end and now.line_end and was.line_end != now.line_end:
        told.append(f"Its lines ended in {was.line_end}, and end in {now.line_end} now.")
    if old and new and was.bom != now.bom:
        told.append(f"It {'has' if now.bom else 'has no'} byte order mark now.")
    if not told and was.text == now.text:
        told.append("The text is the same." if old == new else "Only how its lines end differs.")
    return told


def _described(version: Version | None) -> str:
    if version is None:
        return "not there"
    return _KINDS.get(version.kind, "a file")
