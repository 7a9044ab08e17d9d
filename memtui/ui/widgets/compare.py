"""The comparison of two versions of a path, and the revert of one of its hunks.

Both run in a thread: reading and comparing a large note takes time.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from memtui.core import wording
from memtui.core.diffs import Hunk, LineEnding, TextDiff, compare_texts, detect_line_ending
from memtui.core.events import (
    Agent,
    EntryKind,
    Event,
    Version,
    format_actor_in_sentence,
    format_actor_name,
    sha256,
    shorten_actor_name,
)
from memtui.core.history import ActionResult, PathVersion
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.ui.key_names import label_key
from memtui.ui.theme import truncate
from memtui.ui.widgets.diff.layout import DiffComparison
from memtui.ui.widgets.versions import format_move

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine
    from memtui.engine.history import JournalHistory


@dataclass(frozen=True, slots=True)
class VersionText:
    """One of two versions that are compared.

    Attributes:
        version: `None` if there was no file.
        path: Its path at that time.
        row: The row of the history that made the version, if there is one.
        is_now: Whether it is the present version.
    """

    version: Version | None
    path: str
    row: PathVersion | None = None
    is_now: bool = False

    def format_label(self, precision: int = 0) -> str:
        """The time and the actor, such as `10:02 you`; for the precision see `format_time`."""
        time = self.format_time(precision)
        return time if self.row is None else f"{time} {shorten_actor_name(format_actor_name(self.row.actor))}"

    def format_time(self, precision: int = 0) -> str:
        """The time of the version: 0 for minutes, 1 for seconds, 2 for the number of the event."""
        if self.row is None:
            return "nothing" if self.version is None else "before"
        if self.is_now:
            return "now"
        return f"#{self.row.event.seq}" if precision == 2 else format_clock(self.row.at_us, seconds=precision == 1)


@dataclass(frozen=True, slots=True)
class VersionPair:
    """Two versions, the older one first."""

    older: VersionText
    newer: VersionText

    @property
    def labels(self) -> tuple[str, str]:
        """The times and actors of both, with the precision that makes them distinct."""
        return self._format(VersionText.format_label)

    @property
    def short_labels(self) -> tuple[str, str]:
        """The times of both."""
        return self._format(VersionText.format_time)

    def _format(self, form: Callable[[VersionText, int], str]) -> tuple[str, str]:
        labels = [(form(self.older, precision), form(self.newer, precision)) for precision in range(3)]
        return next((both for both in labels if both[0] != both[1]), labels[-1])


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """Two versions compared.

    Attributes:
        pair: The versions.
        comparison: `None` where there is no diff of lines.
        title: Why there is none, in a few words.
        detail: A sentence about that.
        remark: A sentence about both texts, such as on other line ends.
    """

    pair: VersionPair
    comparison: DiffComparison | None
    title: str = ""
    detail: str = ""
    remark: str = ""


def format_clock(at_us: int, *, seconds: bool = False) -> str:
    """A local time, with the date on another day."""
    at, today = datetime.fromtimestamp(at_us / 1e6), datetime.now()
    time = "%H:%M:%S" if seconds else "%H:%M"
    if at.date() == today.date():
        return at.strftime(time)
    return at.strftime(f"%m-%d {time}" if at.year == today.year else f"%Y-%m-%d {time}")


def get_version_text(versions: Sequence[PathVersion], row: int) -> VersionText:
    """The version of a path after an event of its history."""
    version = versions[row]
    if version.moved_to is not None:
        return VersionText(version.before, version.path, version)
    return VersionText(version.after, version.path, version, is_now=row == 0)


def get_event_pair(versions: Sequence[PathVersion], row: int) -> VersionPair:
    """The versions before and after an event of a history."""
    version = versions[row]
    path = version.moved_from or version.path
    earlier = (each for each in versions[row + 1 :] if each.path == path and each.after == version.before)
    found = next(earlier, None) if version.before is not None else None
    return VersionPair(VersionText(version.before, path, found), get_version_text(versions, row))


def get_pair_between(versions: Sequence[PathVersion], one: int, other: int) -> VersionPair:
    """The versions after two rows of a history, in any order."""
    return VersionPair(get_version_text(versions, max(one, other)), get_version_text(versions, min(one, other)))


def compare_versions(
    history: "JournalHistory", pair: VersionPair, *, cancelled: Callable[[], bool] = lambda: False
) -> VersionComparison | None:
    """Compare two versions; `None` if cancelled."""
    for text in (pair.older, pair.newer):
        if text.version is not None and text.version.kind not in (EntryKind.FILE, EntryKind.LINK):
            kind = "a directory" if text.version.kind is EntryKind.DIRECTORY else "not a file"
            return VersionComparison(pair, None, f"{text.format_label()}: {kind}", "There are no lines to compare.")
    old, new = history.text(pair.older.version), history.text(pair.newer.version)
    if old is None or new is None:
        label = (pair.older if old is None else pair.newer).format_label()
        detail = "It was removed from the history, or was too large."
        return VersionComparison(pair, None, f"The text of {label} is not kept", detail)
    if cancelled():
        return None
    if old == new:
        move = format_move(pair.newer.row) if pair.newer.row is not None else ""
        if move:
            return VersionComparison(pair, None, "Only the name changed", f"{to_one_line(move)}. The text is the same.")
        nothing = pair.older.version is None and pair.newer.version is None
        detail = "The file did not exist at either time." if nothing else "Both texts are identical, byte for byte."
        return VersionComparison(pair, None, "No difference", detail)
    difference = compare_texts(as_text(old), as_text(new))
    from memtui.knowledge.past import describe_link_changes  # noqa: PLC0415 - start-up: loads the graph

    links = describe_link_changes(difference.before, difference.after, pair.newer.path)
    remark = f"{_format_remark(difference, pair, old, new)} {links}".strip()
    return VersionComparison(pair, DiffComparison(difference), remark=remark)


def as_text(data: bytes) -> str:
    """The text, with invalid UTF-8 as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes of a text from `as_text`."""
    return text.encode("utf-8", "surrogateescape")


def _format_remark(difference: TextDiff, pair: VersionPair, old: bytes, new: bytes) -> str:
    words: list[str] = []
    old_ends, new_ends = detect_line_ending(difference.old), detect_line_ending(difference.new)
    if LineEnding.NONE not in (old_ends, new_ends) and old_ends is not new_ends:
        names = {LineEnding.MIXED: "CRLF and LF mixed"}
        before, after = (names.get(ends, ends.value) for ends in (old_ends, new_ends))
        words.append(f"Line ends: {before} before, {after} after.")
    if not (_is_utf8(old) and _is_utf8(new)):
        words.append("Not valid UTF-8: other bytes are shown as \\xNN.")
    if EntryKind.LINK in [text.version.kind for text in (pair.older, pair.newer) if text.version is not None]:
        words.append("A link: only its target path is compared.")
    return " ".join(words)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def revert_hunk(
    engine: "Engine", current: PathVersion, shown: VersionComparison, hunk: Hunk, note: str
) -> ActionResult:
    """Revert one hunk of a comparison in the present text.

    Args:
        engine: The memory.
        current: The newest row of the history.
        shown: The comparison.
        hunk: One of its hunks.
        note: For the log.

    Returns:
        `problem` says why the hunk cannot be reverted.
    """
    assert shown.comparison is not None
    difference, newer = shown.comparison.difference, shown.pair.newer.version
    name = to_one_line(current.path)
    if current.moved_to is not None:
        return ActionResult(problem=f"Not reverted: {name} is now {to_one_line(current.moved_to)}.")
    present = current.after
    if present is None and newer is not None:
        key = label_key("history.restore")
        return ActionResult(problem=f"Not reverted: {name} was deleted. {key} restores it.")
    if present is not None and present.kind is not EntryKind.FILE:
        return ActionResult(problem=f"Not reverted: {name} is not a file now.")
    if present == newer:
        text: str | None = difference.revert_hunk(hunk)
    else:
        data = engine.history.text(present)
        text = None if data is None else difference.revert_hunk_in(hunk, as_text(data))
    if text is None:
        return ActionResult(problem="Not reverted: these lines have changed since.")
    data = as_bytes(text)
    name_of_text = sha256(data)
    version = Version(EntryKind.FILE, name_of_text, len(data))
    return engine.restore(
        {current.path: version}, expected={current.path: present}, texts={name_of_text: data}, note=note
    )


_LONGEST_PROMPT = 200
"""Characters."""


class PairDetailView(Widget):
    """The events of A and B; if there is one line, that of B."""

    DEFAULT_CSS = """
    PairDetailView { height: 1; padding: 0 1; color: $foreground; }
    """

    pair: reactive[VersionPair | None] = reactive(None)

    def render(self) -> RenderResult:
        if self.pair is None:
            return Content("")
        width = self.content_size.width
        lines = [("B", self.pair.newer.row)]
        if self.content_size.height > 1:
            lines.insert(0, ("A", self.pair.older.row))
        return Content("\n").join(
            Content.assemble((f"{letter} ", "bold $text-accent"), truncate(format_event_detail(row), width - 2))
            for letter, row in lines
        )


def format_event_detail(row: PathVersion | None) -> str:
    """An event in words: `Claude edited it at 10:14:03, str_replace, call toolu_01A9, #41`; safe to show."""
    if row is None:
        return "no file"
    event = row.event
    clock, is_agent = format_clock(row.at_us, seconds=True), isinstance(event.actor, Agent)
    parts = [
        f"{_format_actor(event)} {_format_done(row)} at {clock}"
        if event.command != "found"
        else f"{wording.FIRST_SAW} at {clock}",
        event.command if is_agent or event.call_id else "",
        f"call {event.call_id}" if event.call_id else "",
        ("" if event.undoes else event.note) or ("not through memtui" if event.is_outside else ""),
    ]
    if row.imported is not None:  # a session file holds the actor, and the prompt
        if row.imported_by is not None:
            verb = "deleted" if row.imported.is_gone else "wrote"
            parts.append(f"{_format_actor(row.imported_by)} {verb} it with {row.imported.tool}")
        parts.append(f'asked: "{row.imported.prompt[:_LONGEST_PROMPT]}"' if row.imported.prompt else "")
    return to_one_line(", ".join(filter(None, [*parts, f"#{event.seq}"])))


def _format_done(row: PathVersion) -> str:
    """`edited it`, `renamed it from prefs.md`, `undid deletion #4`."""
    if move := format_move(row):
        verb, _, other = move.partition(" ")
        return f"{verb} it {other}"
    return wording.format_done(row.event)


def _format_actor(event: Event) -> str:
    name = format_actor_in_sentence(event.actor)
    model = event.actor.model if isinstance(event.actor, Agent) else None
    return f"{name} ({model})" if model else name


# Messages of threads to the history screen.


class EventRecorded(Message):
    """An event was recorded in this memory: there may be another version."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, EventRecorded)


@dataclass
class VersionsRead(Message):
    """The versions of the path were read, newest first."""

    versions: Sequence[PathVersion]
    head: int
    """The number of the last event before."""
    complete: bool
    """Whether these are all versions."""


@dataclass
class VersionsCompared(Message):
    """Two versions were compared."""

    comparison: VersionComparison


@dataclass
class HistoryActionFinished(Message):
    """An action of the person was done, or not, as a sentence says."""

    words: str
    is_warning: bool = False
