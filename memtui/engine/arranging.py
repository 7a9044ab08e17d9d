"""Having paths hold certain versions again: what restoring, taking back and saving all come down to.

Several paths change in one event here, and no file system can do that in one step. So everything is looked at
before anything is touched, each path is changed in a step that is whole in itself, and what was done is told path
by path, also if the system refuses in the middle.
"""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from memtui.core.changes import net
from memtui.core.errors import LeavesRoot, MemtuiError, Uncertain
from memtui.core.events import Change, Event, Version
from memtui.core.paths import MemoryPath
from memtui.core.restoring import Left, Why
from memtui.core.snapshot import Kind
from memtui.engine import reconcile
from memtui.engine.ledger import Ledger
from memtui.journal.sqlite import Journal, Known
from memtui.store.base import UNSEEN, Node, Outdated, Store, Transaction, lasting

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
    """

    wanted: Mapping[str, Version | None]
    expected: Mapping[str, Version | None] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    moves: tuple[tuple[str, str], ...] = ()
    known_conflicts: tuple[Left, ...] = ()
    others: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    path: str
    node: Node | None
    before: Version | None
    after: Version | None


@dataclass(frozen=True, slots=True)
class _Move:
    old: str
    new: str
    nodes: tuple[tuple[Node, Version], ...]

    def changes(self) -> Iterator[Change]:
        for node, version in self.nodes:
            yield Change(node.path, version, None)
            yield Change(self.new + node.path[len(self.old) :], None, version)


@dataclass(slots=True)
class Done:
    """What came of applying it.

    Attributes:
        changes: What was changed.
        known: What is known of the paths now.
        left: What was not changed although it was planned, and why.
        certain: Whether the disk confirmed it.
    """

    changes: list[Change] = field(default_factory=list)
    known: dict[str, Known | None] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    certain: bool = True


class Arranged:
    """An arrangement held against what stands there now. The writer lock must be held while it lives.

    Args:
        arrangement: What is wanted.
        store: Where.
        ledger: Where what is found there is settled.
        journal: Where the texts are.

    Attributes:
        left: What cannot be done, and why.
        already: Paths that hold what is wanted, although something else was expected there.
    """

    def __init__(self, arrangement: Arrangement, store: Store, ledger: Ledger, journal: Journal) -> None:
        self._store = store
        self._ledger = ledger
        self._journal = journal
        self._texts = arrangement.texts
        self.left: list[Left] = list(arrangement.known_conflicts)
        self.already: list[Left] = []
        self._moves: list[_Move] = []
        self._removals: list[_Step] = []
        self._directories: list[_Step] = []
        self._writes: list[_Step] = []
        refused = {left.path for left in self.left}
        for old, new in arrangement.moves:
            self._plan_move(old, new, arrangement.expected)
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
        moved = (change for move in self._moves for change in move.changes())
        return net((*moved, *(Change(step.path, step.before, step.after) for step in steps)))

    @property
    def new_texts(self) -> Mapping[str, bytes]:
        """The texts that the record does not have yet."""
        return self._texts

    def apply(self, transaction: Transaction) -> Done:
        """Do it.

        Raises:
            Outdated: Somebody was faster with the first of it, and nothing was done: plan it anew.
            OSError: The first of it could not be done, and nothing was.
        """
        done = Done()
        try:
            with transaction.together():
                for move in self._moves:
                    self._move(transaction, move, done)
                hopeless = ""
                for step in (*self._removals, *self._directories, *self._writes):
                    if hopeless:
                        done.left.append(Left(step.path, Why.NOT_WRITTEN, detail=hopeless))
                    else:
                        hopeless = self._take(transaction, step, done)
        except Uncertain:
            done.certain = False
        done.changes = list(net(done.changes))
        return done

    # Planning

    def _plan_move(self, old: str, new: str, expected: Mapping[str, Version | None]) -> None:
        nodes: list[tuple[Node, Version]] = []
        try:
            top = reconcile.standing(self._store, old)
            below = list(self._store.scan(MemoryPath.of(old), complete=True)) if top else []
            settled = ((node, self._ledger.settle(node.path, node)) for node in ((top, *below) if top else ()))
            nodes += ((node, version) for node, version in settled if version is not None)
            self._ledger.settle(new, taken := reconcile.standing(self._store, new))
        except (OSError, MemtuiError) as error:
            self.left.append(Left(old, Why.UNREADABLE, detail=_words(error)))
            return
        stand = {node.path: version for node, version in nodes}
        changed = [path for path, version in expected.items() if _is_at(path, old) and stand.get(path) != version]
        if top is None or changed:
            self.left.append(Left(changed[0] if changed else old, Why.CHANGED))
        elif taken is not None:
            self.left.append(Left(new, Why.CHANGED))
        elif self._plan_parents(new, set(), {step.path for step in self._directories}):
            self._moves.append(_Move(old, new, tuple(nodes)))

    def _step(self, path: str, arrangement: Arrangement) -> _Step | None:
        """What has to be done at one path; `None` for nothing."""
        wanted = arrangement.wanted[path]
        try:
            node = reconcile.standing(self._store, path)
            now = self._ledger.settle(path, node)
        except (OSError, LeavesRoot) as error:
            self.left.append(Left(path, Why.UNREADABLE, detail=_words(error)))
            return None
        if now == wanted:
            if now != arrangement.expected.get(path, now):
                self.already.append(Left(path, Why.CHANGED))
            return None
        if path in arrangement.expected and now != arrangement.expected[path]:
            self.left.append(Left(path, Why.CHANGED))
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
        made: set[str] = {step.path for step in self._directories}
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
                    stays = any(path not in removed and not self._moves_away(path) for path in below)
                except OSError:
                    stays = True
                if stays:
                    needed.add(step.path)
        return needed

    def _moves_away(self, path: str) -> bool:
        return any(_is_at(path, move.old) for move in self._moves)

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

    def _move(self, transaction: Transaction, move: _Move, done: Done) -> None:
        for directory in self._directories:
            if move.new.startswith(directory.path + "/"):
                self._take(transaction, directory, done)
        self._directories = [step for step in self._directories if not move.new.startswith(step.path + "/")]
        try:
            transaction.rename(MemoryPath.of(move.old), MemoryPath.of(move.new))
        except Uncertain:
            done.certain = False  # it has moved all the same
        except (OSError, Outdated) as error:
            if not done.changes:
                raise Outdated from error
            done.left.append(Left(move.old, Why.NOT_WRITTEN, detail=_words(error)))
            return
        done.changes += move.changes()
        for node, version in move.nodes:
            done.known[node.path] = None
            done.known[move.new + node.path[len(move.old) :]] = Known(version, node.stamp)
        top, version = move.nodes[0]
        seen = self._seen(move.new, version)
        if lasting(seen.stamp) == lasting(top.stamp):
            done.known[move.new] = seen  # else somebody wrote to it meanwhile: the next look tells

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


def _is_at(path: str, top: str) -> bool:
    return path == top or path.startswith(top + "/")


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return str(error)
