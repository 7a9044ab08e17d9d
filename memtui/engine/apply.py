"""Applying change sets: what restoring, undoing and saving all come down to.

Several paths change in one event here, and no file system can do that in one step. So everything is looked at before
anything is touched, each path is changed in a step that is whole in itself, and the outcome is reported path by path.
"""

import errno
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace

from memtui.core.attributes import UNKNOWN
from memtui.core.errors import MemtuiError, SymlinkEscape, UnconfirmedChange
from memtui.core.events import Change, EntryKind, Event, Version, squash_changes
from memtui.core.history import SkippedPath, SkipReason
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.wording import format_size
from memtui.engine import reconcile
from memtui.engine.ledger import Ledger
from memtui.engine.move_apply import MovePlan
from memtui.engine.refusals import explain_error
from memtui.journal.record import KnownPath, Record
from memtui.store.base import UNSEEN, ConcurrentChange, DirectoriesLeft, Node, Store, Transaction

_HOPELESS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
"""Faults after which the other paths are not tried any more."""
_EXPLAINED = 100
"""Conflicts that are said with their event; where there are more, nobody reads them all."""
_DIRECTORY = Version(EntryKind.DIRECTORY)


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The versions that paths are to hold.

    Attributes:
        target: The version that each path is to hold; `None` for nothing. A file that is moved to a path may hold
            another text there; what is expected of it is said of where it stands now.
        expected: What must stand at a path now; a path that is not named here may hold anything.
        texts: Bytes by SHA-256, of versions that are new.
        moves: Things that are to be moved, as `(from, to)`; before anything else.
        known_conflicts: Paths that are not to be changed, and why.
        others: Whether what cannot be made again may be deleted: what is neither file, directory nor link, and a file
            that is too large to be kept.
        fresh: Whether a path that is expected to hold nothing is a new name: what stands there did not come since.
        reverts_modes: Whether a file that stands is given the mode of its target as well, if it still has the expected
            one; else only its text and time come back.
    """

    target: Mapping[str, Version | None]
    expected: Mapping[str, Version | None] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    moves: tuple[tuple[str, str], ...] = ()
    known_conflicts: tuple[SkippedPath, ...] = ()
    others: bool = False
    fresh: bool = False
    reverts_modes: bool = False


Progress = Callable[[int, int], bool]
"""Told how many of how many are done; what it answers says whether to go on."""


@dataclass(frozen=True, slots=True)
class _ChangeStep:
    path: str
    node: Node | None
    before: Version | None
    after: Version | None


@dataclass(slots=True)
class AppliedChanges:
    """The outcome of a change set.

    Attributes:
        known: The known state of the paths now.
        skipped: Planned changes that were not made, and why.
        moved: What was moved by itself, `(old, new)`.
        certain: Whether the disk confirmed it.
    """

    changes: list[Change] = field(default_factory=list)
    known: dict[str, KnownPath | None] = field(default_factory=dict)
    skipped: list[SkippedPath] = field(default_factory=list)
    moved: tuple[tuple[str, str], ...] = ()
    certain: bool = True


class PreparedChangeSet:
    """A change set compared with what stands there now. The writer lock must be held while it lives.

    Attributes:
        skipped: What cannot be done, and why.
        already: Paths that hold the target, although something else was expected there.
        relocation: The moves, made before anything else.
    """

    def __init__(
        self, change_set: ChangeSet, store: Store, ledger: Ledger, journal: Record, progress: Progress | None = None
    ) -> None:
        self._progress = progress
        self._store = store
        self._ledger = ledger
        self._journal = journal
        self._texts = change_set.texts
        self.skipped: list[SkippedPath] = list(change_set.known_conflicts)
        self.already: list[SkippedPath] = []
        self._removals: list[_ChangeStep] = []
        self._directories: list[_ChangeStep] = []
        self._writes: list[_ChangeStep] = []
        self._made: list[Change] = []
        self._lost: set[str] = set()
        refused = {conflict.path for conflict in self.skipped}
        self.relocation = MovePlan(change_set.moves, change_set.expected, store, ledger, fresh=change_set.fresh)
        self.skipped += self.relocation.skipped
        paths = sorted(change_set.target, key=lambda each: each.split("/"))
        with ledger.prefetch(paths):
            steps = [
                step
                for path in paths
                if path not in refused and (step := self._plan_step(path, change_set)) is not None
            ]
        self._order_steps(steps)
        self._explain_conflicts()

    @property
    def changes(self) -> tuple[Change, ...]:
        """What would be changed, moves and removals first."""
        steps = (*self._removals, *self._directories, *self._writes)
        return squash_changes(
            (*self.relocation.get_changes(), *(Change(step.path, step.before, step.after) for step in steps))
        )

    @property
    def is_refused(self) -> bool:
        """Whether nothing may be done, unless a part is enough.

        What went and cannot be made again by anybody does not keep the rest away, so long as a file is among that.
        """
        if all(each.path in self._lost for each in self.skipped) and self._lost:
            return all(
                each.kind is EntryKind.DIRECTORY for change in self.changes if (each := change.after or change.before)
            )
        return bool(self.skipped)

    @property
    def new_texts(self) -> Mapping[str, bytes]:
        return self._texts

    def apply(self, transaction: Transaction) -> AppliedChanges:
        """Make the changes.

        Raises:
            ConcurrentChange: Another program was faster with the first step, and nothing was done: plan it anew.
            OSError: The first step could not be done, and nothing was.
            UnsettledChange: Something could be done neither on nor back; recovery records the outcome.
        """
        done = AppliedChanges()
        steps = (*self._removals, *self._directories, *self._writes)
        total, count = len(self.relocation.moves) + len(steps), 0

        def step_done() -> bool:
            nonlocal count
            count += 1
            return self._progress is None or self._progress(count, total)

        try:
            with transaction.batch_sync():
                stopped = self._apply_moves(transaction, done, step_done)
                hopeless = ""
                for step in steps:
                    if hopeless or stopped:
                        why = SkipReason.STOPPED if stopped else SkipReason.NOT_WRITTEN
                        done.skipped.append(SkippedPath(step.path, why, detail=hopeless))
                    else:
                        hopeless = self._apply_step(transaction, step, done)
                        stopped = not step_done()
                self._finish_directories(transaction, done)
        except UnconfirmedChange:
            done.certain = False
        done.changes = list(squash_changes(done.changes))
        return done

    # Planning

    def _plan_step(self, path: str, change_set: ChangeSet) -> _ChangeStep | None:
        """What has to be done at one path; `None` for nothing."""
        target = change_set.target[path]
        arrival = self.relocation.find_arrival(path)
        node: Node | None
        now: Version | None
        if arrival is not None:
            node, now = arrival
        else:
            try:
                node = reconcile.find_node(self._store, path)
                now = self._ledger.compare_path(path, node)
            except (OSError, SymlinkEscape) as error:
                self.skipped.append(SkippedPath(path, SkipReason.UNREADABLE, detail=explain_error(error)))
                return None
        expected = now if arrival is not None else change_set.expected.get(path, now)
        is_taken = change_set.fresh and now is not None and expected is None
        if now == target and not is_taken:
            if now != expected:
                self.already.append(SkippedPath(path, SkipReason.CHANGED))
            return None
        if now != expected:
            self.skipped.append(SkippedPath(path, SkipReason.TAKEN if is_taken else SkipReason.CHANGED))
        elif now is not None and self._is_unkept(now, change_set):
            self.skipped.append(SkippedPath(path, SkipReason.UNREADABLE, detail="its content could not be kept"))
        elif now is not None and now.kind is EntryKind.OTHER and not change_set.others:
            self.skipped.append(SkippedPath(path, SkipReason.IN_THE_WAY))
        elif target is not None and (reason := self._find_unwritable(target)) is not None:
            why = f"it was too large, {format_size(target.size)}" if self._ledger.is_too_large(target) else ""
            self.skipped.append(SkippedPath(path, reason, detail=why))
            if now is None:
                self._lost.add(path)
        else:
            return _ChangeStep(path, node, now, self._choose_attributes(path, target, now, change_set))
        return None

    def _choose_attributes(
        self, path: str, target: Version | None, now: Version | None, change_set: ChangeSet
    ) -> Version | None:
        """A target as it is to be written: with which permissions and time, as far as they are known.

        What comes back has those that it had when it went. A file that stands keeps its permissions, unless they are
        those that are to be taken back as well.
        """
        if target is None or change_set.fresh or target.sha256 in self._texts:
            return target
        if now is None:
            return self._ledger.recall_attributes(path, target)
        if not target.kind is now.kind is EntryKind.FILE:
            return target
        expected = change_set.expected.get(path)
        if change_set.reverts_modes and expected is not None and expected.attributes.mode == now.attributes.mode:
            return target
        return replace(target, attributes=target.attributes._replace(mode=None))

    def _is_unkept(self, now: Version, change_set: ChangeSet) -> bool:
        """Whether a file must stay, as its text is not kept. One that nobody reads may go where that was asked for."""
        is_unkept = now.kind is EntryKind.FILE and now.sha256 is None
        return is_unkept and not (change_set.others and self._ledger.is_too_large(now))

    def _find_unwritable(self, version: Version) -> SkipReason | None:
        """Why a version cannot be written, if so."""
        if version.kind is EntryKind.OTHER:
            return SkipReason.NO_FILE
        if version.kind is EntryKind.DIRECTORY:
            return None
        if version.sha256 is None:
            return SkipReason.NEVER_KEPT
        is_kept = version.sha256 in self._texts or self._journal.has_text(version.sha256)
        return None if is_kept else SkipReason.TEXT_GONE

    def _order_steps(self, steps: Iterable[_ChangeStep]) -> None:
        """Put steps into the order in which they can be taken, with the directories that they need."""
        steps = list(steps)
        removed = {step.path for step in steps if step.before is not None and not _is_rewritten(step)}
        removed -= self._find_needed_directories(steps, removed)
        removed -= _find_target_parents(steps)
        made = {path for path, kind in self.relocation.final.items() if kind is EntryKind.DIRECTORY}
        made.update(self.relocation.made)
        for step in reversed(steps):
            if step.path in removed:
                self._removals.append(_ChangeStep(step.path, step.node, step.before, None))
        for step in steps:
            if step.after is None or (step.before is not None and step.path not in removed and not _is_rewritten(step)):
                if step.after is not None:
                    self.skipped.append(SkippedPath(step.path, SkipReason.IN_THE_WAY))
                continue
            if not self._plan_parents(step, removed, made):
                continue
            fresh = _ChangeStep(step.path, None if step.path in removed else step.node, step.before, step.after)
            if step.after.kind is EntryKind.DIRECTORY:
                if step.path not in made:
                    made.add(step.path)
                    self._directories.append(fresh)
            else:
                self._writes.append(fresh)

    def _find_needed_directories(self, steps: list[_ChangeStep], removed: set[str]) -> set[str]:
        """Directories among those to be removed that hold something which stays."""
        needed: set[str] = set()
        for step in steps:
            if step.path in removed and step.node is not None and step.node.kind is EntryKind.DIRECTORY:
                try:
                    below = (node.path for node in self._store.scan(MemoryPath.from_relative(step.path)))
                    stays = any(path not in removed and not self.relocation.is_moving(path) for path in below)
                except OSError:
                    stays = True
                if stays:
                    needed.add(step.path)
        return needed

    def _plan_parents(self, step: _ChangeStep, removed: set[str], made: set[str]) -> bool:
        """See that the directory of a path is there or will be; `False` if something else is in its way."""
        missing: list[str] = []
        path, comes_back = step.path, step.after is not None and step.after.attributes != UNKNOWN
        parent = os.path.dirname(path)
        while parent and parent not in made:
            if parent in removed:
                missing.append(parent)
            else:
                try:
                    node = reconcile.find_node(self._store, parent)
                except OSError as error:
                    self.skipped.append(SkippedPath(path, SkipReason.UNREADABLE, detail=explain_error(error)))
                    return False
                if node is not None and node.kind is EntryKind.DIRECTORY:
                    break
                if node is not None:
                    self.skipped.append(SkippedPath(path, SkipReason.IN_THE_WAY))
                    return False
                missing.append(parent)
            parent = os.path.dirname(parent)
        for directory in reversed(missing):
            made.add(directory)
            version = self._ledger.recall_directory(directory) if comes_back else _DIRECTORY
            if directory not in removed:
                self._ledger.compare_path(directory, None)  # one that was there before and has gone
            self._directories.append(_ChangeStep(directory, None, None, version))
        return True

    def _explain_conflicts(self) -> None:
        """Say of each conflict which event it comes from: one that was only just noticed, or a recorded one."""
        if not any(conflict.reason is SkipReason.CHANGED for conflict in (*self.skipped, *self.already)):
            return
        noticed: dict[str, Event] = {}
        for event in self._ledger.make_events():
            noticed.update((change.path, event) for change in event.changes)
        for found in (self.skipped, self.already):
            for at, conflict in enumerate(found[:_EXPLAINED]):
                if conflict.reason is SkipReason.CHANGED and conflict.since is None:
                    recorded = self._journal.get_path_events(conflict.path, limit=1)
                    since = noticed.get(conflict.path) or (recorded[0] if recorded else None)
                    found[at] = replace(conflict, since=since)

    # Applying

    def _apply_moves(self, transaction: Transaction, done: AppliedChanges, step_done: Callable[[], bool]) -> bool:
        """Move what is to be moved. Returns whether it was stopped."""
        if not self.relocation.moves:
            return False
        relocated = self.relocation.apply(transaction, step_done)
        done.changes += relocated.get_changes()
        done.known.update(self.relocation.get_known())
        done.known.update((change.path, self._get_known(change.path, _DIRECTORY)) for change in relocated.made)
        self._made += relocated.made
        done.skipped += relocated.get_skipped()
        done.moved = relocated.tops
        done.certain = done.certain and relocated.certain
        return relocated.stopped

    def _apply_step(self, transaction: Transaction, step: _ChangeStep, done: AppliedChanges) -> str:
        """Take one step. Returns why no other one needs to be tried, if so."""
        if self.relocation.find_arrival(step.path) is not None and done.known.get(step.path) is None:
            done.skipped.append(SkippedPath(step.path, SkipReason.NOT_WRITTEN, detail="it could not be moved"))
            return ""
        try:
            known = self._perform_step(transaction, step, done)
        except UnconfirmedChange:
            done.certain = False  # it stands all the same
            known = KnownPath(step.after, UNSEEN) if step.after is not None else None
        except ConcurrentChange:
            if not done.changes:
                raise
            done.skipped.append(SkippedPath(step.path, SkipReason.CHANGED))
            return ""
        except (OSError, SymlinkEscape) as error:
            if isinstance(error, FileNotFoundError | FileExistsError) and not done.changes:
                raise ConcurrentChange from error
            if isinstance(error, OSError) and error.errno == errno.ENOTEMPTY:
                return ""  # something came into a directory that was to go: it stays
            if not done.changes and not isinstance(error, SymlinkEscape):
                raise
            if isinstance(error, DirectoriesLeft):
                self._note_parents(error.paths, done)
            done.skipped.append(SkippedPath(step.path, SkipReason.NOT_WRITTEN, detail=explain_error(error)))
            return explain_error(error) if isinstance(error, OSError) and error.errno in _HOPELESS else ""
        done.changes.append(Change(step.path, step.before, step.after))
        done.known[step.path] = known
        if step.after is not None and step.after.kind is EntryKind.DIRECTORY:
            self._made.append(done.changes[-1])
        return ""

    def _note_parents(self, made: Iterable[str], done: AppliedChanges) -> None:
        """Note directories that were made on the way to something, as the step that was to make them failed."""
        for path in made:
            done.changes.append(Change(path, None, _DIRECTORY))
            done.known[path] = self._get_known(path, _DIRECTORY)

    def _perform_step(self, transaction: Transaction, step: _ChangeStep, done: AppliedChanges) -> KnownPath | None:
        path = MemoryPath.from_relative(step.path)
        if step.after is None:
            assert step.node is not None
            if step.node.kind is EntryKind.DIRECTORY:
                transaction.remove_empty(path)
            else:
                transaction.delete(path, expected={step.path: step.node.stamp})
            return None
        if step.after.kind is EntryKind.DIRECTORY:
            self._note_parents(transaction.make_directory(path)[:-1], done)
            return self._get_known(step.path, _DIRECTORY)
        data = self._get_text(step.after)
        if step.after.kind is EntryKind.LINK:
            mtime_ns = step.after.attributes.mtime_ns
            written = transaction.make_link(path, data, mtime_ns=mtime_ns)
        else:
            expected = step.node.stamp if step.node is not None else None
            if self.relocation.find_arrival(step.path) is not None and (moved := done.known[step.path]) is not None:
                expected = moved.stamp
            written = transaction.write(path, data, expected=expected, attributes=step.after.attributes)
        self._note_parents(written.made, done)
        return KnownPath(step.after, written.node.stamp)

    def _finish_directories(self, transaction: Transaction, done: AppliedChanges) -> None:
        """Give directories that were made their attributes, the innermost first: nothing is put into them any more."""
        for change in sorted(self._made, key=lambda each: each.path.count("/"), reverse=True):
            if change.after is None or change.after.attributes == UNKNOWN:
                continue
            path = MemoryPath.from_relative(change.path)
            try:
                transaction.set_directory_attributes(path, change.after.attributes)
            except (OSError, MemtuiError):
                done.certain = False  # it stands, for its owner alone
            done.known[change.path] = self._get_known(change.path, change.after)

    def _get_known(self, path: str, version: Version) -> KnownPath:
        """What is known of a path that was just changed. That it cannot be looked at does not undo the change."""
        try:
            node = self._store.get_node(MemoryPath.from_relative(path))
        except (OSError, MemtuiError):
            node = None
        return KnownPath(version, node.stamp if node else UNSEEN)

    def _get_text(self, version: Version) -> bytes:
        assert version.sha256 is not None
        data = self._texts.get(version.sha256)
        if data is None:
            data = self._journal.get_text(version.sha256)
        if data is None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))  # it was there when this was planned
        return data


def _find_target_parents(steps: Iterable[_ChangeStep]) -> set[str]:
    """Directories that stand, and hold something that is wanted: to go, and be made again, is no change."""
    standing = {step.path for step in steps if step.before is not None and step.before.kind is EntryKind.DIRECTORY}
    needed: set[str] = set()
    for step in steps:
        if step.after is not None:
            parent = os.path.dirname(step.path)
            while parent:
                needed.add(parent)
                parent = os.path.dirname(parent)
    return standing & needed


def _is_rewritten(step: _ChangeStep) -> bool:
    files = step.before is not None and step.before.kind is EntryKind.FILE
    return files and step.after is not None and step.after.kind is EntryKind.FILE
