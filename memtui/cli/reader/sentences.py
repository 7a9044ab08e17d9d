"""Events and differences as sentences that are heard and not seen: no columns, no signs, no abbreviations."""

from collections.abc import Iterator, Sequence

from memtui.core import diffs
from memtui.core.diffs import Pair, TextDiff
from memtui.core.events import Change, EntryKind, Event, Version
from memtui.core.history import PathVersion
from memtui.core.text_format import NotText, parse_text
from memtui.core.wording import SPOKEN, describe_event, format_count, format_event_time
from memtui.engine import Engine


def format_event_sentence(event: Event, *, numbered: bool = False) -> str:
    """An event, such as `10:14 Claude changed prefs.md, 1 line added, 1 removed.`; its names are not escaped."""
    number = f" Event {event.seq}." if numbered else ""
    return f"{format_time(event)} {describe_event(event, SPOKEN)}{number}"


def format_time(event: Event) -> str:
    """The time of an event, as it is spoken."""
    return format_event_time(event, style=SPOKEN)


def is_file(version: Version | None) -> bool:
    """Whether a version is anything but a directory."""
    return version is not None and version.kind is not EntryKind.DIRECTORY


def select_file_changes(changes: Sequence[Change]) -> list[Change]:
    """The changes of files and links; directories only where nothing else changes."""
    return [each for each in changes if is_file(each.after or each.before)] or list(changes)


# Differences in sentences: a diff that can be heard.

_COMPARED = 1_000_000
"""Bytes of the largest texts that are compared line by line for a person who waits."""
KINDS = {EntryKind.DIRECTORY: "a directory", EntryKind.LINK: "a link", EntryKind.OTHER: "not a regular file"}


def describe_changes(engine: Engine, changes: Sequence[Change]) -> list[str]:
    """The changes of an event, each under its path where there are several."""
    lines: list[str] = []
    for change in changes:
        lines += [f"{change.path}:"] if len(changes) > 1 else []
        lines += describe_change(engine, change)
    return lines


def describe_row(engine: Engine, row: PathVersion) -> list[str]:
    """The change of one step in the history of a note."""
    moved = []
    if row.moved_from is not None:
        moved = [f"It was renamed from {row.moved_from} to {row.path}."]
    elif row.moved_to is not None:
        moved = [f"It was renamed to {row.moved_to}."]
    if row.before == row.after or row.moved_to is not None:
        return moved or ["Nothing in it changed."]
    return moved + describe_change(engine, Change(row.path, row.before, row.after))


def describe_change(engine: Engine, change: Change) -> list[str]:
    """The change of one path, with its texts from the journal."""
    text = engine.history.text
    return describe_difference(change.before, change.after, text(change.before), text(change.after))


def describe_difference(
    before: Version | None, after: Version | None, old: bytes | None, new: bytes | None
) -> list[str]:
    """The change from one version to another; `old` and `new` are their bytes, `None` where they are not kept."""
    kinds = {version.kind for version in (before, after) if version is not None}
    if kinds - {EntryKind.FILE}:
        return [f"It was {_describe_kind(before)}, and is {_describe_kind(after)} now."]
    if old is None or new is None:
        which = " and ".join(word for word, data in (("before", old), ("after", new)) if data is None)
        return [f"The text {which} is not kept, so its lines cannot be compared."]
    if max(len(old), len(new)) > _COMPARED:
        return ["It is too large to compare line by line here."]
    head = []
    if before is None:
        head = ["It is new."]
    elif after is None:
        head = ["It was deleted. This was its text."]
    if head and not (old or new):
        return [*head, "It is empty."]
    try:
        lines = describe_line_differences(parse_text(old).text, parse_text(new).text)
        return head + lines + _describe_format_changes(old, new)
    except NotText:
        sizes = f"{format_count(len(old), 'byte')} before, {format_count(len(new), 'byte')} after"
        return [*head, f"It is not a text: {sizes}."]


def describe_line_differences(old: str, new: str) -> list[str]:
    r"""The differences of two texts whose lines end in `\n`."""
    difference = diffs.compare_texts(old, new)
    if not difference.hunks:
        return []
    added, removed = difference.counts
    counts = ((added, "added"), (removed, "removed"))
    parts = [f"{format_count(count, 'line')} {verb}" for count, verb in counts if count]
    pairs = (pair for pairs in difference.pair_lines() for pair in pairs)
    head = f"{', '.join(parts)}, in {format_count(len(difference.hunks), 'place')}."
    return [head, *(line for pair in pairs for line in _describe_pair(difference, pair))]


def _describe_pair(difference: TextDiff, pair: Pair) -> Iterator[str]:
    """A line that was removed, added or replaced."""
    was, now = pair
    old = difference.old[was] if was is not None else None
    new = difference.new[now] if now is not None else None
    if old is not None and new is not None and old.removesuffix("\n") == new.removesuffix("\n"):
        yield f"Line {(now or 0) + 1} is the last one, and {'has' if new.endswith(chr(10)) else 'has no'} line end now."
    elif old is not None and new is not None:
        yield f"Line {(now or 0) + 1} was: {_describe_line(old)}"
        yield f"Line {(now or 0) + 1} is now: {_describe_line(new)}"
    elif old is not None:
        yield f"Line {(was or 0) + 1} was deleted: {_describe_line(old)}"
    elif new is not None:
        yield f"Line {(now or 0) + 1} is new: {_describe_line(new)}"


def _describe_line(line: str) -> str:
    """A line; that it is empty is said."""
    line = line.removesuffix("\n")
    if line.strip():
        return line
    return f"only {format_count(len(line), 'space or tab', 'spaces or tabs')}" if line else "an empty line"


def _describe_format_changes(old: bytes, new: bytes) -> list[str]:
    """Differences of line ends and byte order marks."""
    was, now = parse_text(old), parse_text(new)
    sentences = []
    if was.line_ending and now.line_ending and was.line_ending != now.line_ending:
        sentences.append(f"Its line endings changed from {was.line_ending} to {now.line_ending}.")
    if old and new and was.bom != now.bom:
        sentences.append(f"It {'has' if now.bom else 'has no'} byte order mark now.")
    if not sentences and was.text == now.text:
        sentences.append("The text is the same." if old == new else "Only the line endings differ.")
    return sentences


def _describe_kind(version: Version | None) -> str:
    if version is None:
        return "missing"
    return KINDS.get(version.kind, "a file")
