"""What events make of the files on screen: rows that come and go, and marks on what the person has not seen.

A batch of events is brought in with one patch of the rows, however many it holds: an agent that writes a thousand
notes, or a wipe that takes ten thousand, is one repaint.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from memtui.core.events import Change, Event, Person
from memtui.core.snapshot import Entry, Kind
from memtui.ui import wording
from memtui.ui.files.marks import Mark
from memtui.ui.files.outline import moved_path
from memtui.ui.files.view import FilesView

GONE_SECONDS = 10.0
"""For how long a deleted entry is still shown, struck through."""
MANY_GONE = 200
"""Of more than this many at once nobody reads the names as they go: they are dropped in one go."""


class News:
    """What has happened to the files of a view since the person last looked.

    Args:
        files: The view.
        dropped: Called when entries that were struck through have been dropped.
    """

    def __init__(self, files: FilesView, dropped: Callable[[], object]) -> None:
        self._files = files
        self._dropped = dropped
        self._unseen: dict[str, int] = {}
        self._gone: dict[str, int] = {}

    def __len__(self) -> int:
        """How many entries the person has not seen yet."""
        return len(self._unseen)

    def __contains__(self, path: object) -> bool:
        return path in self._unseen

    def recall(self, events: Iterable[Event]) -> None:
        """Mark what was changed while nobody looked, as far as it is still there."""
        for event in events:
            self._mark(event)
        self._unseen = {path: seq for path, seq in self._unseen.items() if path in self._files.outline}

    def take(self, events: Sequence[Event]) -> None:
        """Bring rows and marks up to date with events, in order."""
        added: dict[str, Entry] = {}
        gone: dict[str, int] = {}
        for event in events:
            moves = moved_by(event)
            if any(old in added or old in self._files.outline for old in moves):
                self._patch(added, gone)
                added, gone = {}, {}
                self._move(moves)
            for change in event.changes:
                if change.after is None:
                    added.pop(change.path, None)
                    gone[change.path] = event.seq
                    continue
                came_back = [each.pop(change.path, 0) for each in (self._gone, gone)]
                if any(came_back) or change.before is not None or change.path not in self._files.outline:
                    added[change.path] = _entry(event, change)
            self._mark(event)
        self._patch(added, gone)

    def _move(self, moves: Mapping[str, str]) -> None:
        self._files.move_all(moves)
        self._unseen = {moved_path(path, moves): seq for path, seq in self._unseen.items()}
        for path in moves:
            self._gone.pop(path, None)  # it is not gone but elsewhere

    def _patch(self, added: Mapping[str, Entry], gone: Mapping[str, int]) -> None:
        """Bring in what is new, strike through what has gone; or drop it, where that is too much to be read."""
        if added:
            self._files.add(added.values())
        left = {path: seq for path, seq in gone.items() if path in self._files.outline}
        if not left:
            return
        self._gone.update(left)
        if len(self._gone) <= MANY_GONE:
            self._files.set_timer(GONE_SECONDS, lambda: self._drop(left))
            return
        everything = list(self._gone)
        self._gone.clear()
        self._forget(everything)

    def _drop(self, gone: Mapping[str, int]) -> None:
        """Drop entries, unless they have come back since."""
        paths = [path for path, seq in gone.items() if self._gone.get(path) == seq]
        for path in paths:
            del self._gone[path]
        if paths:
            self._forget(paths)
            self._dropped()

    def _forget(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._unseen.pop(path, None)
        self._files.drop(paths)

    def _mark(self, event: Event) -> None:
        """Remember what the person has not seen yet. What she did herself she has seen."""
        if event.command == "found":
            return
        when = event.at_us * 1_000
        if isinstance(event.actor, Person):
            self.see(change.path for change in event.changes)
            for change in event.changes:
                if change.after is None and change.path in self._files.outline:
                    self._files.mark(change.path, Mark.DELETED, when)
            return
        if event.is_error:
            path = wording.relative(event.path)
            if path in self._files.outline:
                self._files.mark(path, Mark.PROBLEM, when)
                self._unseen[path] = event.seq
            return
        moves = moved_by(event)
        arrived = set(moves.values())
        for change in event.changes:
            if change.path in moves and change.path not in arrived:
                continue
            if (change.after or change.before or _NOTHING).kind is Kind.DIRECTORY and change.after is not None:
                continue
            self._files.mark(change.path, Mark.RENAMED if change.path in arrived else mark_of(change, None), when)
            self._unseen[change.path] = event.seq

    def next(self, here: str, step: int) -> str | None:
        """The entry with a mark after or before a path, round the end; `None` if nothing is marked.

        Args:
            here: Where the cursor is.
            step: 1 for the next one, -1 for the one before.
        """
        order = [path for path in self._unseen if path in self._files.outline]
        if not order:
            return None
        order.sort(key=lambda path: path.split("/"))
        if here in order:
            return order[(order.index(here) + step) % len(order)]
        after = [path for path in order if path.split("/") > here.split("/")]
        if step > 0:
            return (after or order)[0]
        return next((path for path in reversed(order) if path not in after), order[-1])

    def below(self, path: str) -> list[str]:
        """What is marked at a path and below it; `""` for everything."""
        return [each for each in self._unseen if not path or each == path or each.startswith(path + "/")]

    def see(self, paths: Iterable[str]) -> None:
        """The person has seen what happened to these."""
        for path in paths:
            self._unseen.pop(path, None)
            self._files.clear_mark(path)


_NOTHING = Entry("", Kind.FILE)


def _entry(event: Event, change: Change) -> Entry:
    """The row of a change. Of what came from outside, size and time are asked for when the row is on screen."""
    assert change.after is not None
    if event.is_outside:
        return Entry(change.path, change.after.kind)
    return Entry(change.path, change.after.kind, change.after.size, event.at_us * 1_000)


def moved(event: Event) -> tuple[str, str] | None:
    """From where to where an event moved something, relative to the folder."""
    if event.new_path is None or event.is_error:
        return None
    old, new = wording.relative(event.path), wording.relative(event.new_path)
    ends = {change.path: change for change in event.changes}
    if old in ends and ends[old].after is None and new in ends and ends[new].before is None:
        return old, new
    return None


def moved_by(event: Event) -> Mapping[str, str]:
    """From where to where an event moved what, relative to the folder."""
    if event.moved and not event.is_error:
        return dict(event.moved)
    one = moved(event)
    return {} if one is None else {one[0]: one[1]}


def mark_of(change: Change, renamed: tuple[str, str] | None) -> Mark:
    """What happened to a path, as the mark before its name."""
    if renamed and change.path == renamed[1]:
        return Mark.RENAMED
    if change.after is None:
        return Mark.DELETED
    return Mark.NEW if change.before is None else Mark.CHANGED
