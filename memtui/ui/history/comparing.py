"""What two versions of a path are compared as, and one change of them taken back: all that a thread works out.

A screen that did this itself would stand still while a large note is read and compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memtui.core.actors import shown_name
from memtui.core.diffs import Difference, Hunk, LineEnds, compare, line_ends
from memtui.core.events import Version, sha256
from memtui.core.history import PathVersion
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui.diff.layout import Comparison
from memtui.ui.history.row import what_moved

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine
    from memtui.engine.history import History

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Text:
    """One of the two that are compared.

    Attributes:
        version: What was there; `None` for nothing.
        path: What it was called.
        row: The row of the history that left it so, where there is one.
        is_now: Whether it is what stands there now.
    """

    version: Version | None
    path: str
    row: PathVersion | None = None
    is_now: bool = False

    def label(self, precision: int = 0) -> str:
        """When it came about and by whom, such as `10:02 you`."""
        return self.time(precision) if self.row is None else f"{self.time(precision)} {shown_name(self.row.actor)}"

    def time(self, precision: int = 0) -> str:
        """When it came about.

        Args:
            precision: 0 for minutes, 1 for seconds, 2 for the number of the event.
        """
        if self.row is None:
            return NOTHING if self.version is None else "before"
        if self.is_now:
            return "now"
        return f"#{self.row.event.seq}" if precision == 2 else clock(self.row.at_us, seconds=precision == 1)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions, the older one first."""

    older: Text
    newer: Text

    @property
    def labels(self) -> tuple[str, str]:
        """What the two are called, as exactly as it takes to tell them apart."""
        found = [(self.older.label(precision), self.newer.label(precision)) for precision in range(3)]
        return next((both for both in found if both[0] != both[1]), found[-1])

    @property
    def short(self) -> tuple[str, str]:
        """The same without names."""
        found = [(self.older.time(precision), self.newer.time(precision)) for precision in range(3)]
        return next((both for both in found if both[0] != both[1]), found[-1])


@dataclass(frozen=True, slots=True)
class Compared:
    """Two versions compared.

    Attributes:
        pair: Which.
        comparison: What differs; `None` where there is nothing to be shown line by line.
        title: Why not, in a few words.
        detail: More on it.
        remark: What is to be known of the texts as a whole, such as other line ends.
    """

    pair: Pair
    comparison: Comparison | None
    title: str = ""
    detail: str = ""
    remark: str = ""


def clock(at_us: int, *, seconds: bool = False) -> str:
    """When, as short as it is clear: the time today, with the date on another day."""
    at, today = datetime.fromtimestamp(at_us / 1e6), datetime.now()
    time = "%H:%M:%S" if seconds else "%H:%M"
    if at.date() == today.date():
        return at.strftime(time)
    return at.strftime(f"%m-%d {time}" if at.year == today.year else f"%Y-%m-%d {time}")


def text_of(versions: Sequence[PathVersion], row: int) -> Text:
    """What a path held after an event of its history."""
    version = versions[row]
    moved_away = version.moved_to is not None
    held = version.before if moved_away else version.after
    return Text(held, version.path, version, is_now=row == 0 and not moved_away)


def change_of(versions: Sequence[PathVersion], row: int) -> Pair:
    """What one event of a history changed."""
    version = versions[row]
    path = version.moved_from or version.path
    earlier = (
        other
        for other in range(row + 1, len(versions))
        if versions[other].path == path and versions[other].after == version.before
    )
    found = next(earlier, None) if version.before is not None else None
    older = Text(version.before, path, versions[found] if found is not None else None)
    return Pair(older, text_of(versions, row))


def between(versions: Sequence[PathVersion], one: int, other: int) -> Pair:
    """What happened from one row of a history to another, whichever of them is older."""
    return Pair(text_of(versions, max(one, other)), text_of(versions, min(one, other)))


def compared(history: "History", pair: Pair, *, cancelled: Callable[[], bool] = lambda: False) -> Compared | None:
    """Compare two versions, in a thread; `None` where nobody wants to know any more."""
    for text in (pair.older, pair.newer):
        if text.version is not None and text.version.kind not in (Kind.FILE, Kind.LINK):
            what = "a directory" if text.version.kind is Kind.DIRECTORY else "no file"
            return Compared(pair, None, f"{text.label()}: {what}", "There are no lines to be compared.")
    old, new = history.text(pair.older.version), history.text(pair.newer.version)
    for held, text in ((old, pair.older), (new, pair.newer)):
        if held is None:
            detail = "It was removed from the record, or was too large to be kept."
            return Compared(pair, None, f"The text of {text.label()} is not kept", detail)
    if cancelled():
        return None
    assert old is not None
    assert new is not None
    row = pair.newer.row
    moved = what_moved(row) if row is not None else ""
    if old == new:
        nothing = pair.older.version is None and pair.newer.version is None
        if moved:
            return Compared(pair, None, "Only the name changed", f"{one_line(moved)}. The text is the same.")
        detail = "There was nothing at either time." if nothing else "Both hold the same text, byte for byte."
        return Compared(pair, None, "No difference", detail)
    difference = compare(as_text(old), as_text(new))
    return Compared(pair, Comparison(difference), remark=_remark(difference, pair, old, new))


def as_text(data: bytes) -> str:
    """The text, with bytes that are no text kept as they are."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes again, exactly."""
    return text.encode("utf-8", "surrogateescape")


def _remark(difference: Difference, pair: Pair, old: bytes, new: bytes) -> str:
    words: list[str] = []
    old_ends, new_ends = line_ends(difference.old), line_ends(difference.new)
    if LineEnds.NONE not in (old_ends, new_ends) and old_ends is not new_ends:
        words.append(f"Line ends: {_ends(old_ends)} before, {_ends(new_ends)} after.")
    if any(not _is_utf8(data) for data in (old, new)):
        words.append("Not all of it is UTF-8: other bytes are shown as \\xNN.")
    kinds = [text.version.kind for text in (pair.older, pair.newer) if text.version is not None]
    if Kind.LINK in kinds:
        words.append("A link: its target is compared, not what stands there.")
    return " ".join(words)


def _ends(ends: LineEnds) -> str:
    return "CRLF and LF mixed" if ends is LineEnds.MIXED else ends.value


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def take_back(engine: "Engine", current: PathVersion, shown: Compared, hunk: Hunk, note: str) -> Restored:
    """Take back one hunk in the text that stands now, in a thread.

    Args:
        engine: The memory.
        current: The newest row of the history.
        shown: What the person sees.
        hunk: One of its hunks.
        note: For the log.

    Returns:
        With `problem` where it cannot be.
    """
    assert shown.comparison is not None
    difference, newer = shown.comparison.difference, shown.pair.newer.version
    name = one_line(current.path)
    if current.moved_to is not None:
        return Restored(problem=f"Not taken back: {name} is called {one_line(current.moved_to)} now.")
    stands = current.after
    if stands is None and newer is not None:
        return Restored(problem=f"Not taken back: {name} was deleted since. R brings it back.")
    if stands is not None and stands.kind is not Kind.FILE:
        return Restored(problem=f"Not taken back: {name} is not a file now.")
    if stands == newer:
        text: str | None = difference.without(hunk)
    else:
        data = engine.history.text(stands)
        text = None if data is None else difference.without_in(hunk, as_text(data))
    if text is None:
        return Restored(problem="Not taken back: these lines have changed since.")
    held = as_bytes(text)
    version = Version(Kind.FILE, sha256(held), len(held))
    assert version.sha256 is not None
    return engine.restore(
        {current.path: version}, expected={current.path: stands}, texts={version.sha256: held}, note=note
    )
