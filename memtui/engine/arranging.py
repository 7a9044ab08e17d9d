"""Having paths hold certain versions again: what restoring, taking back and saving all come down to.

Several paths change in one event here, and no file system can do that in one step. So everything is looked at
before anything is touched, each path is changed in a step that is whole in itself, and what was done is told path
by path, also if the system refuses in the middle.
"""

import errno
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from memtui.core.changes import net
from memtui.core.errors import LeavesRoot, MemtuiError, Uncertain
from memtui.core.events import Change, Event, Version
from memtui.core.paths import MemoryPath
from memtui.core.restoring import Left, Why
from memtui.core.snapshot import Kind
from memtui.engine import reconcile
from memtui.engine.ledger import Ledger
from memtui.engine.relocating import Relocation
from memtui.journal.sqlite import Journal, Known
from memtui.store.base import UNSEEN, Node, Outdated, Store, Transaction

_HOPELESS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
"""Faults after which the other paths are not tried any more."""
_EXPLAINED = 100
"""Conflicts that are said with their event; where there are more, nobody reads them all."""
_DIRECTORY = Version(Kind.DIRECTORY)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What is wanted.

    Attributes:
        wanted: The version that each path is to hold; `None` for nothing.
        expected: What must stand at a path now; a path that is not named here may hold anything.
        texts: Bytes by SHA-256, of versions that are new.
        moves: Things that are to be moved, as `(from, to)`; before anything else.
        known_conflicts: Paths that are not to be changed, and why.
        others: Whether what is neither file, directory nor link may be deleted; it is not made again.
        fresh: Whether a path that is expected to hold nothing is a new name: what stands there has always been in the
            way, and has not come there since.
    """

    wanted: Mapping[str, Version | None]
    expected: Mapping[str, Version | None] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    moves: tuple[tuple[str, str], ...] = ()
    known_conflicts: tuple[Left, ...] = ()
    others: bool = False
    fresh: bool = False


Progress = Callable[[int, int], bool]
"""Told how many of how many are done; what it answers says whether to go on."""


@dataclass(frozen=True, slots=True)
class _Step:
    path: str
    node: Node | None
    before: Version | None
    after: Version | None


@dataclass(slots=True)
class Done:
    """What came of applying it.

    Attributes:
        changes: What was changed.
        known: What is known of the paths now.
        left: What was not changed although it was planned, and why.
        moved: What was moved by itself, `(old, new)`.
        certain: Whether the disk confirmed it.
    """

    changes: list[Change] = field(default_factory=list)
    known: dict[str, Known | None] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    moved: tuple[tuple[str, str], ...] = ()
    certain: bool = True


class Arranged:
    """An arrangement held against what stands there now. The writer lock must be held while it lives.

    Args:
        arrangement: What is wanted.
        store: Where.
        ledger: Where what is found there is settled.
        journal: Where the texts are.
        progress: Told how many steps are done once it is applied; `False` stops there.

    Attributes:
        left: What cannot be done, and why.
        already: Paths that hold what is wanted, although something else was expected there.
        relocation: What is moved, before anything else.
    """

    def __init__(
        self,
        arrangement: Arrangement,
        store: Store,
        ledger: Ledger,
        journal: Journal,
        progress: Progress | None = None,
    ) -> None:
        self._progress = progress
        self._store = store
        self._ledger = ledger
        self._journal = journal
        self._texts = arrangement.texts
        self.left: list[Left] = list(arrangement.known_conflicts)
        self.already: list[Left] = []
        self._removals: list[_Step] = []
        self._directories: list[_Step] = []
        self._writes: list[_Step] = []
        refused = {left.path for left in self.left}
        self.relocation = Relocation(arrangement.moves, arrangement.expected, store, ledger, fresh=arrangement.fresh)
        self.left += self.relocation.left
        steps = [
            step
            for path in sorted(arrangement.wanted, key=lambda each: each.split("/"))
            if path not in refused and (step := self._step(path, arrangement)) is not None
        ]
        self._plan(steps)
        self._explain()

    @property
    def changes(self) -> tuple[Change, ...]:
        """What would be changed, moves and removals first."""
        steps = (*self._removals, *self._directories, *self._writes)
        return net((*self.relocation.changes(), *(Change(step.path, step.before, step.after) for step in steps)))

    @property
    def new_texts(self) -> Mapping[str, bytes]:
        """The texts that the record does not have yet."""
        return self._texts

    def apply(self, transaction: Transaction) -> Done:
        """Do it.

        Raises:
            Outdated: Somebody was faster with the first of it, and nothing was done: plan it anew.
            OSError: The first of it could not be done, and nothing was.
            Stranded: Something could neither be moved on nor back; it is recorded yet what became of it all.
        """
        done = Done()
        steps = (*self._removals, *self._directories, *self._writes)
        total, count = len(self.relocation.moves) + len(steps), 0

        def step_done() -> bool:
            nonlocal count
            count += 1
            return self._progress is None or self._progress(count, total)

        try:
            with transaction.together():
                stopped = self._move(transaction, done, step_done)
                hopeless = ""
                for step in steps:
                    if hopeless or stopped:
                        why = Why.STOPPED if stopped else Why.NOT_WRITTEN
                        done.left.append(Left(step.path, why, detail=hopeless))
                    else:
                        hopeless = self._take(transaction, step, done)
                        stopped = not step_done()
        except Uncertain:
            done.certain = False
        done.changes = list(net(done.changes))
        return done

    # Planning

    def _step(self, path: str, arrangement: Arrangement) -> _Step | None:
        """What has to be done at one path; `None` for nothing."""
        wanted = arrangement.wanted[path]
        try:
            node = reconcile.standing(self._store, path)
            now = self._ledger.settle(path, node)
        except (OSError, LeavesRoot) as error:
            self.left.append(Left(path, Why.UNREADABLE, detail=_words(error)))
            return None
        is_taken = arrangement.fresh and now is not None and arrangement.expected.get(path, now) is None
        if now == wanted and not is_taken:
            if now != arrangement.expected.get(path, now):
                self.already.append(Left(path, Why.CHANGED))
            return None
        if path in arrangement.expected and now != arrangement.expected[path]:
            self.left.append(Left(path, Why.TAKEN if is_taken else Why.CHANGED))
        elif now is not None and now.kind is Kind.FILE and now.sha256 is None:
            self.left.append(Left(path, Why.UNREADABLE, detail="what stands there could not be kept"))
        elif now is not None and now.kind is Kind.OTHER and not arrangement.others:
            self.left.append(Left(path, Why.IN_THE_WAY))
        elif wanted is not None and wanted.kind is Kind.OTHER:
            self.left.append(Left(path, Why.NO_FILE))
        elif wanted is not None and wanted.kind is not Kind.DIRECTORY and not self._has_text(wanted):
            self.left.append(Left(path, Why.TEXT_GONE))
        else:
            return _Step(path, node, now, wanted)
        return None

    def _plan(self, steps: Iterable[_Step]) -> None:
        """Put steps into the order in which they can be taken, with the directories that they need."""
        steps = list(steps)
        removed = {step.path for step in steps if step.before is not None and not _is_rewritten(step)}
        removed -= self._still_needed(steps, removed)
        removed -= _parents_of_wanted(steps)
        made = {path for path, kind in self.relocation.final.items() if kind is Kind.DIRECTORY}
        made.update(self.relocation.made)
        for step in reversed(steps):
            if step.path in removed:
                self._removals.append(_Step(step.path, step.node, step.before, None))
        for step in steps:
            if step.after is None or (step.before is not None and step.path not in removed and not _is_rewritten(step)):
                if step.after is not None:
                    self.left.append(Left(step.path, Why.IN_THE_WAY))
                continue
            if not self._plan_parents(step.path, removed, made):
                continue
            fresh = _Step(step.path, None if step.path in removed else step.node, step.before, step.after)
            if step.after.kind is Kind.DIRECTORY:
                if step.path not in made:
                    made.add(step.path)
                    self._directories.append(fresh)
            else:
                self._writes.append(fresh)

    def _still_needed(self, steps: list[_Step], removed: set[str]) -> set[str]:
        """Directories among those to be removed that hold something which stays."""
        needed: set[str] = set()
        for step in steps:
            if step.path in removed and step.node is not None and step.node.kind is Kind.DIRECTORY:
                try:
                    below = (node.path for node in self._store.scan(MemoryPath.of(step.path)))
                    stays = any(path not in removed and not self.relocation.takes_away(path) for path in below)
                except OSError:
                    stays = True
                if stays:
                    needed.add(step.path)
        return needed

    def _plan_parents(self, path: str, removed: set[str], made: set[str]) -> bool:
        """See that the directory of a path is there or will be; `False` if something else is in its way."""
        missing: list[str] = []
        parent = os.path.dirname(path)
        while parent and parent not in made:
            if parent in removed:
                missing.append(parent)
            else:
                try:
                    node = reconcile.standing(self._store, parent)
                except OSError:
                    node = None
                if node is not None and node.kind is Kind.DIRECTORY:
                    break
                if node is not None:
                    self.left.append(Left(path, Why.IN_THE_WAY))
                    return False
                missing.append(parent)
            parent = os.path.dirname(parent)
        for directory in reversed(missing):
            made.add(directory)
            if directory not in removed:
                self._ledger.settle(directory, None)  # one that was there before and has gone
            self._directories.append(_Step(directory, None, None, _DIRECTORY))
        return True

    def _explain(self) -> None:
        """Say of each conflict which event it comes from: one that was only just noticed, or a recorded one."""
        if not any(left.why is Why.CHANGED for left in (*self.left, *self.already)):
            return
        noticed: dict[str, Event] = {}
        for event in self._ledger.events():
            noticed.update((change.path, event) for change in event.changes)
        for found in (self.left, self.already):
            for at, left in enumerate(found[:_EXPLAINED]):
                if left.why is Why.CHANGED and left.since is None:
                    recorded = self._journal.events_of(left.path, limit=1)
                    since = noticed.get(left.path) or (recorded[0] if recorded else None)
                    found[at] = replace(left, since=since)

    def _has_text(self, version: Version) -> bool:
        sha256 = version.sha256
        return sha256 is not None and (sha256 in self._texts or self._journal.has_text(sha256))

    # Applying

    def _move(self, transaction: Transaction, done: Done, step_done: Callable[[], bool]) -> bool:
        """Move what is to be moved. Returns whether it was stopped."""
        if not self.relocation.moves:
            return False
        relocated = self.relocation.apply(transaction, step_done)
        done.changes += relocated.changes()
        done.known.update(self.relocation.known())
        done.known.update((change.path, self._seen(change.path, _DIRECTORY)) for change in relocated.made)
        done.left += relocated.left()
        done.moved = relocated.tops
        done.certain = done.certain and relocated.certain
        return relocated.stopped

    def _take(self, transaction: Transaction, step: _Step, done: Done) -> str:
        """Take one step. Returns why no other one needs to be tried, if so."""
        try:
            known = self._taken(transaction, step)
        except Uncertain:
            done.certain = False  # it stands all the same
            known = Known(step.after, UNSEEN) if step.after is not None else None
        except Outdated:
            if not done.changes:
                raise
            done.left.append(Left(step.path, Why.CHANGED))
            return ""
        except (OSError, LeavesRoot) as error:
            if isinstance(error, FileNotFoundError | FileExistsError) and not done.changes:
                raise Outdated from error
            if isinstance(error, OSError) and error.errno == errno.ENOTEMPTY:
                return ""  # something came into a directory that was to go: it stays
            if not done.changes and not isinstance(error, LeavesRoot):
                raise
            done.left.append(Left(step.path, Why.NOT_WRITTEN, detail=_words(error)))
            return _words(error) if isinstance(error, OSError) and error.errno in _HOPELESS else ""
        done.changes.append(Change(step.path, step.before, step.after))
        done.known[step.path] = known
        return ""

    def _taken(self, transaction: Transaction, step: _Step) -> Known | None:
        path = MemoryPath.of(step.path)
        if step.after is None:
            assert step.node is not None
            if step.node.kind is Kind.DIRECTORY:
                transaction.remove_empty(path)
            else:
                transaction.delete(path, expected={step.path: step.node.stamp})
            return None
        if step.after.kind is Kind.DIRECTORY:
            transaction.make_directory(path)
            return self._seen(step.path, _DIRECTORY)
        data = self._text(step.after)
        if step.after.kind is Kind.LINK:
            return Known(step.after, transaction.make_link(path, data).node.stamp)
        expected = step.node.stamp if step.node is not None else None
        return Known(step.after, transaction.write(path, data, expected=expected).node.stamp)

    def _seen(self, path: str, version: Version) -> Known:
        """What is known of a path that was just changed. That it cannot be looked at does not undo the change."""
        try:
            node = self._store.node(MemoryPath.of(path))
        except (OSError, MemtuiError):
            node = None
        return Known(version, node.stamp if node else UNSEEN)

    def _text(self, version: Version) -> bytes:
        assert version.sha256 is not None
        data = self._texts.get(version.sha256)
        if data is None:
            data = self._journal.text(version.sha256)
        if data is None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))  # it was there when this was planned
        return data


def _parents_of_wanted(steps: Iterable[_Step]) -> set[str]:
    """Directories that stand, and hold something that is wanted: to go, and be made again, is no change."""
    standing = {step.path for step in steps if step.before is not None and step.before.kind is Kind.DIRECTORY}
    needed: set[str] = set()
    for step in steps:
        if step.after is not None:
            parent = os.path.dirname(step.path)
            while parent:
                needed.add(parent)
                parent = os.path.dirname(parent)
    return standing & needed


def _is_rewritten(step: _Step) -> bool:
    """Whether a file is replaced by a file, in one step."""
    files = step.before is not None and step.before.kind is Kind.FILE
    return files and step.after is not None and step.after.kind is Kind.FILE


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return str(error)
