"""Moves held against what stands there now, and made.

All of them are looked at together: whether a name is free depends on what else goes away. What cannot be done is
found before the first step; what fails in the middle leaves nothing out of sight.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from unicodedata import normalize

from memtui.core.errors import MemtuiError, UnsettledChange
from memtui.core.events import Change, EntryKind, Version
from memtui.core.history import SkippedPath, SkipReason
from memtui.core.paths import MemoryPath
from memtui.engine import reconcile
from memtui.engine.ledger import Ledger
from memtui.engine.moves import Move, MoveStep, MoveStepRunner, find_nearest, iter_parents, make_changes, plan_steps
from memtui.engine.refusals import explain_error
from memtui.journal.record import KnownPath
from memtui.store.base import ConcurrentChange, Node, Store, Transaction, get_lasting_stamp

_ROUNDS = 20
"""How often it is planned anew without those that cannot be done: what waits for them cannot either."""
_DIRECTORY = Version(EntryKind.DIRECTORY)

ProgressStep = Callable[[], bool]
"""Told that one more thing has moved; what it answers says whether to go on."""


class MovePlan:
    """Moves of `(old, new)`, compared with what stands there now and with what is `expected` there.

    `fresh`: new names are a person's choice, so that what stands there is no change since.

    Attributes:
        made: The directories that have to be made, outermost first, with the permissions that they had if they were
            there before: a person's new names begin anew.
        final: The kind of everything that moves, by its new path.
        is_entangled: Once it is prepared, whether one move waits for another one.
        locations: Where each thing is by now, by its old name, once it is no longer there.
    """

    def __init__(
        self,
        moves: Sequence[tuple[str, str]],
        expected: Mapping[str, Version | None],
        store: Store,
        ledger: Ledger,
        *,
        fresh: bool,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._fresh = fresh
        self.moves: list[Move] = []
        self.skipped: list[SkippedPath] = []
        self.made: dict[str, Version] = {}
        self.final: dict[str, EntryKind] = {}
        self.steps: list[MoveStep] = []
        self.is_entangled = False
        self.locations: dict[str, str] = {}
        self._all: dict[str, str] = dict(moves)
        self._tops: dict[str, str] = self._all
        for _ in range(_ROUNDS):
            conflicts = self._plan_moves(expected)
            if not conflicts:
                self._compare_destinations()
                return
            self.skipped += conflicts.values()
            self._tops = {old: new for old, new in self._tops.items() if old not in conflicts}
        self.skipped += (SkippedPath(old, SkipReason.IN_THE_WAY) for old in self._tops)
        self._tops = {}
        self._reset()

    def is_moving(self, path: str) -> bool:
        return find_nearest(path, self._tops) is not None

    def find_arrival(self, path: str) -> tuple[Node, Version] | None:
        """What will stand at a path by these moves, as it stands elsewhere now."""
        return self._arrivals.get(path)

    @cached_property
    def _arrivals(self) -> dict[str, tuple[Node, Version]]:
        return {move.map_path(node.path): (node, version) for move in self.moves for node, version in move.nodes}

    def get_changes(self) -> tuple[Change, ...]:
        made = (Change(path, None, version) for path, version in self.made.items())
        return make_changes(self.moves, {move.old: move.new for move in self.moves}, made)

    @property
    def tops(self) -> tuple[tuple[str, str], ...]:
        return _list_moved(self.moves, {move.old: move.new for move in self.moves})

    # Planning

    def _reset(self) -> None:
        self.moves, self.made, self.final = [], {}, {}

    def _plan_moves(self, expected: Mapping[str, Version | None]) -> dict[str, SkippedPath]:
        """Look at everything. Returns what cannot be moved, by its old name."""
        self._reset()
        conflicts: dict[str, SkippedPath] = {}
        holders = {path for old in self._tops for path in iter_parents(old) if path in self._tops}
        versions = self._collect_moves(holders, conflicts)
        for move in self.moves:
            into_itself = move.nodes[0][0].kind is EntryKind.DIRECTORY and move.new.startswith(move.old + "/")
            if into_itself and self.final.get(move.old) is not EntryKind.DIRECTORY:  # else another one takes it in
                conflicts[move.old] = SkippedPath(move.old, SkipReason.INTO_ITSELF)
        for path, version in expected.items():
            top = find_nearest(path, self._tops)
            if top is not None and versions.get(path) != version:
                conflicts.setdefault(top, SkippedPath(path, SkipReason.CHANGED))
        for number, move in enumerate(self.moves):
            if move.old not in conflicts:
                found = self._check_destination(move)
                if isinstance(found, SkippedPath):
                    conflicts[move.old] = found
                else:
                    self.moves[number] = found
        return conflicts

    def _collect_moves(self, holders: set[str], conflicts: dict[str, SkippedPath]) -> dict[str, Version]:
        """Look at everything that moves; returns what stands where."""
        versions: dict[str, Version] = {}
        for old, new in self._tops.items():
            try:
                nodes = self._collect_nodes(old, is_holder=old in holders)
            except (OSError, MemtuiError) as error:
                conflicts[old] = SkippedPath(old, SkipReason.UNREADABLE, detail=explain_error(error))
                continue
            if not nodes:
                conflicts[old] = SkippedPath(old, SkipReason.MISSING if self._fresh else SkipReason.CHANGED)
                continue
            move = Move(old, new, tuple(nodes))
            versions.update((node.path, version) for node, version in nodes)
            for node, _ in nodes:
                placed = move.map_path(node.path)
                if placed in self.final:
                    conflicts.setdefault(old, SkippedPath(placed, SkipReason.TWICE))
                self.final[placed] = node.kind
            self.moves.append(move)
        return versions

    def _compare_destinations(self) -> None:
        """What was known at new names, and is not there any more, has gone: with its directory, unseen by us."""
        stand = {node.path for move in self.moves for node, _ in move.nodes}
        for move in self.moves:
            for node, _ in move.nodes[1:]:
                if (placed := move.map_path(node.path)) not in stand:
                    self._ledger.compare_path(placed, None)

    def _collect_nodes(self, old: str, *, is_holder: bool) -> list[tuple[Node, Version]]:
        top = reconcile.find_node(self._store, old)
        if top is None:
            return []
        found = [top]
        if top.kind is EntryKind.DIRECTORY:
            below = self._store.scan(MemoryPath.from_relative(old), complete=True)
            found += (node for node in below if not is_holder or find_nearest(node.path, self._tops) == old)
        settled = ((node, self._ledger.compare_path(node.path, node)) for node in found)
        return [(node, version) for node, version in settled if version is not None]

    def _check_destination(self, move: Move) -> Move | SkippedPath:
        """The move, if its new name will be free and stand in a directory."""
        try:
            taken = reconcile.find_node(self._store, move.new)
            if taken is not None and not self.is_moving(move.new):
                if not _is_same(move, taken):
                    return SkippedPath(move.new, self._explain_taken(move.new))
                move, taken = replace(move, aside=True), None
            if taken is None:
                self._ledger.compare_path(move.new, None)
            return move if self._plan_parents(move.new) else SkippedPath(move.new, SkipReason.IN_THE_WAY)
        except (OSError, MemtuiError) as error:
            return SkippedPath(move.new, SkipReason.UNREADABLE, detail=explain_error(error))

    def _explain_taken(self, path: str) -> SkipReason:
        if self._fresh:
            return SkipReason.TAKEN
        is_stuck = find_nearest(path, self._all) is not None  # it was to move away, and cannot
        return SkipReason.IN_THE_WAY if is_stuck else SkipReason.CHANGED

    def _plan_parents(self, path: str) -> bool:
        """See that the directory of a path will be there; `False` if something else is in its way."""
        missing: list[str] = []
        for parent in iter_parents(path):
            if parent in self.made:
                break
            if parent in self.final:
                if self.final[parent] is not EntryKind.DIRECTORY:
                    return False
                break
            node = None if self.is_moving(parent) else reconcile.find_node(self._store, parent)
            if node is not None and node.kind is not EntryKind.DIRECTORY:
                return False
            if node is not None:
                break
            missing.append(parent)
        for parent in reversed(missing):
            if not self.is_moving(parent):
                self._ledger.compare_path(parent, None)  # one that was there before and has gone
            self.made[parent] = _DIRECTORY if self._fresh else self._ledger.recall_directory(parent)
        return True

    # Moving

    def prepare(self, transaction: Transaction) -> None:

        def make_temporary_path(path: str) -> str:
            return transaction.make_temporary_path(MemoryPath.from_relative(path)).relative

        self.steps, self.is_entangled = plan_steps(self.moves, make_temporary_path)

    def apply(self, transaction: Transaction, report: ProgressStep) -> "MoveResult":
        """Move everything; raises as `PreparedChangeSet.apply`."""
        relocated = MoveResult(self)
        new = {move.old: move.new for move in self.moves}
        hopping = MoveStepRunner(transaction, new, self.made, self.locations)
        for step in self.steps:
            if relocated.fault and self.is_entangled:
                break  # what comes now may wait for what did not move
            if relocated.stopped and not hopping.on_the_way:
                break
            try:
                hopping.apply_step(step)
            except UnsettledChange:
                raise  # one that is taken back could be the one that is not settled
            except (OSError, ConcurrentChange, MemtuiError) as error:
                hopping.roll_back()
                if not self.locations and not hopping.made:
                    if isinstance(error, OSError) and not isinstance(error, FileNotFoundError | FileExistsError):
                        raise
                    raise ConcurrentChange from error
                relocated.fault = explain_error(error)
                continue
            if step.new == new[step.top]:
                relocated.stopped = not report() or relocated.stopped
        relocated.certain = hopping.certain
        relocated.made = [Change(path, None, self.made.get(path, _DIRECTORY)) for path in hopping.made]
        return relocated

    def get_known(self) -> dict[str, KnownPath | None]:
        """What is known of everything that moved."""
        known: dict[str, KnownPath | None] = {}
        moved = [move for move in self.moves if move.old in self.locations]
        for move in moved:
            known.update((node.path, None) for node, _ in move.nodes)
        for move in moved:
            at = self.locations[move.old]
            known.update((move.map_path(node.path, at), KnownPath(version, node.stamp)) for node, version in move.nodes)
            top, version = move.nodes[0]
            try:
                seen = self._store.get_node(MemoryPath.from_relative(at))
            except (OSError, MemtuiError):
                continue
            if seen is not None and get_lasting_stamp(seen.stamp) == get_lasting_stamp(top.stamp):
                known[at] = KnownPath(version, seen.stamp)  # else somebody wrote to it meanwhile: the next look tells
        return known


class MoveResult:
    """The outcome of moves.

    Attributes:
        certain: Whether the disk confirmed it, as far as it was asked.
        fault: Why one of them could not be moved; empty if none failed.
    """

    def __init__(self, relocation: MovePlan) -> None:
        self._relocation = relocation
        self.certain = True
        self.stopped = False
        self.fault = ""
        self.made: list[Change] = []

    def get_changes(self) -> tuple[Change, ...]:
        return make_changes(self._relocation.moves, self._relocation.locations, self.made)

    @property
    def tops(self) -> tuple[tuple[str, str], ...]:
        return _list_moved(self._relocation.moves, self._relocation.locations)

    def get_skipped(self) -> list[SkippedPath]:
        reason = SkipReason.NOT_WRITTEN if self.fault else SkipReason.STOPPED
        moves, locations = self._relocation.moves, self._relocation.locations
        return [
            SkippedPath(each.old, reason, detail=self.fault) for each in moves if locations.get(each.old) != each.new
        ]


def _list_moved(moves: Sequence[Move], where: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((move.old, where[move.old]) for move in moves if where.get(move.old, move.old) != move.old)


def _is_same(move: Move, node: Node) -> bool:
    """Whether what stands at a new name is the thing itself: where the file system takes the names for the same."""
    top = move.nodes[0][0]
    same_name = _fold_path(move.old) == _fold_path(move.new)
    return same_name and node.kind is top.kind and get_lasting_stamp(node.stamp) == get_lasting_stamp(top.stamp)


def _fold_path(path: str) -> str:
    return normalize("NFC", path).casefold()
