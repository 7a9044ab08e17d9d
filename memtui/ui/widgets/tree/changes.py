"""The effect of events on the rows of the files, and the changes that the person has not seen.

A batch of events is one patch of the rows and one repaint, however many there are.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memtui.core import wording
from memtui.core.events import Change, EntryKind, Event, FolderEntry, Person
from memtui.scan.git_files import is_git_bookkeeping
from memtui.ui.widgets.tree.outline import apply_moves, is_at_or_below
from memtui.ui.widgets.tree.row_state import RowChange
from memtui.ui.widgets.tree.view import TreeView

GONE_SECONDS = 10.0
"""The time for which a deleted entry is shown struck through."""
FADE_SECONDS = 1.0
"""The time after that for which its row is dim."""
MANY_GONE = 200
"""The number of deleted entries beyond which they are dropped at once: nobody reads so many names."""


class EventMarks:
    """The changes that the person has not seen yet.

    Args:
        files: The view.
        dropped: Called when struck-through entries have been dropped.
    """

    def __init__(self, files: TreeView, dropped: Callable[[], object]) -> None:
        self._files = files
        self._dropped = dropped
        self._unseen: dict[str, int] = {}
        self._struck: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._unseen)

    def __contains__(self, path: object) -> bool:
        return path in self._unseen

    def count_kinds(self) -> Mapping[RowChange, int]:
        """How many there are of each kind."""
        return Counter(change for path in self._unseen if (change := self._files.changes.get(path)) is not None)

    def recall(self, events: Iterable[Event]) -> None:
        """Mark changes of an earlier time, as far as the entries are still there."""
        for event in events:
            self._mark_unseen(event)
        self._unseen = {path: seq for path, seq in self._unseen.items() if path in self._files.outline}

    def apply_events(self, events: Sequence[Event]) -> None:
        """Bring rows and their changes up to date with events, in order."""
        added: dict[str, FolderEntry] = {}
        deleted: dict[str, int] = {}
        for event in events:
            moves = get_moves(event)
            if any(old in added or old in self._files.outline for old in moves):
                self._patch_rows(added, deleted)
                added, deleted = {}, {}
                self._apply_moves(moves)
            for change in event.changes:
                if change.after is None:
                    added.pop(change.path, None)
                    deleted[change.path] = event.seq
                    continue
                came_back = [each.pop(change.path, 0) for each in (self._struck, deleted)]
                if any(came_back) or change.before is not None or change.path not in self._files.outline:
                    added[change.path] = _build_entry(event, change)
            self._mark_unseen(event)
        self._patch_rows(added, deleted)

    def _apply_moves(self, moves: Mapping[str, str]) -> None:
        self._files.move_all(moves)
        self._unseen = {apply_moves(path, moves): seq for path, seq in self._unseen.items()}
        for path in moves:
            self._struck.pop(path, None)  # it is not gone but elsewhere

    def _patch_rows(self, added: Mapping[str, FolderEntry], deleted: Mapping[str, int]) -> None:
        """Add new entries; strike deleted ones through, or drop them if there are many."""
        if added:
            self._files.add(added.values())
        visible = {path: seq for path, seq in deleted.items() if path in self._files.outline}
        if not visible:
            return
        self._struck.update(visible)
        if len(self._struck) <= MANY_GONE:
            self._files.lights.end_fade(visible)
            self._files.set_timer(GONE_SECONDS, lambda: self._fade_gone(visible))
            return
        paths = list(self._struck)
        self._struck.clear()
        self._discard(paths)

    def _fade_gone(self, deleted: Mapping[str, int]) -> None:
        """Dim the rows of entries that are still deleted, and drop them a moment later."""
        if self._files.app.animation_level == "none":
            self._drop_gone(deleted)
            return
        self._files.lights.fade(self._find_struck(deleted))
        self._files.set_timer(FADE_SECONDS, lambda: self._drop_gone(deleted))

    def _find_struck(self, deleted: Mapping[str, int]) -> list[str]:
        """The entries that were not created again, nor deleted once more, since."""
        return [path for path, seq in deleted.items() if self._struck.get(path) == seq]

    def _drop_gone(self, deleted: Mapping[str, int]) -> None:
        """Drop entries, unless they were created again since."""
        paths = self._find_struck(deleted)
        self._files.lights.end_fade(deleted)
        for path in paths:
            del self._struck[path]
        if paths:
            self._discard(paths)
            self._dropped()

    def _discard(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._unseen.pop(path, None)
        self._files.drop(paths)

    def _mark_unseen(self, event: Event) -> None:
        """Mark the changes of an event; those of the person herself are seen."""
        if event.command == "found":
            return
        when = event.at_us * 1_000
        if isinstance(event.actor, Person):
            self.mark_seen(change.path for change in event.changes)
            for change in event.changes:
                if change.after is None and change.path in self._files.outline:
                    self._files.set_change(change.path, RowChange.DELETED, when)
            return
        if event.is_error:
            path = wording.to_relative_path(event.path)
            if path in self._files.outline:
                self._files.set_change(path, RowChange.PROBLEM, when)
                self._unseen[path] = event.seq
            return
        moves = get_moves(event)
        arrived = set(moves.values())
        for change in event.changes:
            is_moved_away = change.path in moves and change.path not in arrived
            is_directory = change.after is not None and change.after.kind is EntryKind.DIRECTORY
            if not is_moved_away and not is_directory and not is_git_bookkeeping(change.path):
                self._files.set_change(change.path, get_row_change(change, arrived), when)
                self._unseen[change.path] = event.seq

    def drop_temporary(self, paths: Iterable[str]) -> None:
        """Drop the names of temporary files at once: nothing of them is gone."""
        shown = [path for path in paths if path in self._files.outline or path in self._unseen]
        for path in shown:
            self._struck.pop(path, None)
        if shown:
            self._discard(shown)

    def find_next(self, here: str, step: int) -> str | None:
        """The unseen entry after a path (step 1) or before it (step -1), round the end; `None` without any."""
        order = sorted((path for path in self._unseen if path in self._files.outline), key=_split_path)
        if not order:
            return None
        at = bisect_left(order, _split_path(here), key=_split_path)
        if step < 0 or here in order:
            at += step
        return order[at % len(order)]

    def find_below(self, path: str) -> list[str]:
        """The unseen entries at a path and below it; `""` for all."""
        return [each for each in self._unseen if not path or is_at_or_below(each, path)]

    def mark_seen(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._unseen.pop(path, None)
            self._files.clear_change(path)


def _split_path(path: str) -> list[str]:
    return path.split("/")


def _build_entry(event: Event, change: Change) -> FolderEntry:
    """The entry of a change. For a change from outside, size and time are asked for when the row is on screen."""
    assert change.after is not None
    if event.is_outside:
        return FolderEntry(change.path, change.after.kind)
    return FolderEntry(change.path, change.after.kind, change.after.size, event.at_us * 1_000)


def get_single_move(event: Event) -> tuple[str, str] | None:
    """The old and the new path of a move of one entry, relative to the folder."""
    if event.new_path is None or event.is_error:
        return None
    old, new = wording.to_relative_path(event.path), wording.to_relative_path(event.new_path)
    ends = {change.path: change for change in event.changes}
    if old in ends and ends[old].after is None and new in ends and ends[new].before is None:
        return old, new
    return None


def list_changed_files(event: Event) -> list[str]:
    """The paths that an event changed, without directories."""
    versions = ((change.path, change.after or change.before) for change in event.changes)
    return [path for path, version in versions if version is None or version.kind is not EntryKind.DIRECTORY]


def get_moves(event: Event) -> Mapping[str, str]:
    """The old and the new paths of all entries that an event moved, relative to the folder."""
    if event.moved and not event.is_error:
        return dict(event.moved)
    one = get_single_move(event)
    return {} if one is None else {one[0]: one[1]}


def get_row_change(change: Change, arrived: Collection[str]) -> RowChange:
    """The kind of a change, given the new paths of moved entries."""
    if change.path in arrived:
        return RowChange.RENAMED
    if change.after is None:
        return RowChange.DELETED
    return RowChange.NEW if change.before is None else RowChange.CHANGED
