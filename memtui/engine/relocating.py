"""Moves held against what stands there now, and made.

All of them are looked at together: whether a name is free depends on what else goes away. What cannot be done is
found before the first step; what fails in the middle leaves nothing out of sight.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from unicodedata import normalize

from memtui.core.errors import MemtuiError
from memtui.core.events import Change, Version
from memtui.core.paths import MemoryPath
from memtui.core.restoring import Left, Why
from memtui.core.snapshot import Kind
from memtui.engine import reconcile
from memtui.engine.hopping import Hopping
from memtui.engine.ledger import Ledger
from memtui.engine.moving import Hop, Move, above, changes_of, hops, nearest
from memtui.journal.sqlite import Known
from memtui.store.base import Node, Outdated, Store, Transaction, lasting

_ROUNDS = 20
"""How often it is planned anew without those that cannot be done: what waits for them cannot either."""
_DIRECTORY = Version(Kind.DIRECTORY)

Step = Callable[[], bool]
"""Told that one more thing has moved; what it answers says whether to go on."""


class Relocation:
    """What is to be moved, and where to.

    Args:
        moves: `(old, new)`; no two with the same old name.
        expected: What must stand at a path now.
        fresh: Whether new names are names of a person's choice, so that what stands there is no change since.
        store: Where.
        ledger: Where what is found there is settled.

    Attributes:
        moves: What can be moved.
        left: What cannot, and why.
        made: The directories that have to be made for it, outermost first.
        final: What will stand where, of all that moves.
        is_entangled: Once it is prepared, whether one move waits for another one.
        hops: Once it is prepared, the steps.
        where: Where each thing is by now, by its old name, once it is no longer there.
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
        self.left: list[Left] = []
        self.made: dict[str, None] = {}
        self.final: dict[str, Kind] = {}
        self.hops: list[Hop] = []
        self.is_entangled = False
        self.where: dict[str, str] = {}
        self._all: dict[str, str] = dict(moves)
        self._tops: dict[str, str] = self._all
        for _ in range(_ROUNDS):
            conflicts = self._plan(expected)
            if not conflicts:
                self._settle_places()
                return
            self.left += conflicts.values()
            self._tops = {old: new for old, new in self._tops.items() if old not in conflicts}
        self.left += (Left(old, Why.IN_THE_WAY) for old in self._tops)
        self._tops = {}
        self._forget()

    def takes_away(self, path: str) -> bool:
        """Whether what stands at a path moves, or goes along."""
        return nearest(path, self._tops) is not None

    def changes(self) -> tuple[Change, ...]:
        """What will be changed."""
        made = (Change(path, None, _DIRECTORY) for path in self.made)
        return changes_of(self.moves, {move.old: move.new for move in self.moves}, made)

    @property
    def tops(self) -> tuple[tuple[str, str], ...]:
        """What will be moved by itself."""
        return _told(self.moves, {move.old: move.new for move in self.moves})

    # Planning

    def _forget(self) -> None:
        self.moves, self.made, self.final = [], {}, {}

    def _plan(self, expected: Mapping[str, Version | None]) -> dict[str, Left]:
        """Look at everything. Returns what cannot be moved, by its old name."""
        self._forget()
        conflicts: dict[str, Left] = {}
        holders = {path for old in self._tops for path in above(old) if path in self._tops}
        stands: dict[str, Version] = {}
        for old, new in self._tops.items():
            try:
                nodes = self._nodes(old, is_holder=old in holders)
            except (OSError, MemtuiError) as error:
                conflicts[old] = Left(old, Why.UNREADABLE, detail=_words(error))
                continue
            if not nodes:
                conflicts[old] = Left(old, Why.MISSING if self._fresh else Why.CHANGED)
                continue
            move = Move(old, new, tuple(nodes))
            stands.update((node.path, version) for node, version in nodes)
            for node, _ in nodes:
                placed = move.placed(node.path)
                if placed in self.final:
                    conflicts.setdefault(old, Left(placed, Why.TWICE))
                self.final[placed] = node.kind
            self.moves.append(move)
        for move in self.moves:
            into_itself = move.nodes[0][0].kind is Kind.DIRECTORY and move.new.startswith(move.old + "/")
            if into_itself and self.final.get(move.old) is not Kind.DIRECTORY:  # else another one takes it in
                conflicts[move.old] = Left(move.old, Why.INTO_ITSELF)
        for path, version in expected.items():
            top = nearest(path, self._tops)
            if top is not None and stands.get(path) != version:
                conflicts.setdefault(top, Left(path, Why.CHANGED))
        for number, move in enumerate(self.moves):
            if move.old not in conflicts:
                found = self._destination(move)
                if isinstance(found, Left):
                    conflicts[move.old] = found
                else:
                    self.moves[number] = found
        return conflicts

    def _settle_places(self) -> None:
        """What was known at new names, and is not there any more, has gone: with its directory, unseen by us."""
        stand = {node.path for move in self.moves for node, _ in move.nodes}
        for move in self.moves:
            for node, _ in move.nodes[1:]:
                if (placed := move.placed(node.path)) not in stand:
                    self._ledger.settle(placed, None)

    def _nodes(self, old: str, *, is_holder: bool) -> list[tuple[Node, Version]]:
        top = reconcile.standing(self._store, old)
        if top is None:
            return []
        found = [top]
        if top.kind is Kind.DIRECTORY:
            below = self._store.scan(MemoryPath.of(old), complete=True)
            found += (node for node in below if not is_holder or nearest(node.path, self._tops) == old)
        settled = ((node, self._ledger.settle(node.path, node)) for node in found)
        return [(node, version) for node, version in settled if version is not None]

    def _destination(self, move: Move) -> Move | Left:
        """The move, if its new name will be free and stand in a directory."""
        try:
            taken = reconcile.standing(self._store, move.new)
            if taken is not None and not self.takes_away(move.new):
                if not _is_same(move, taken):
                    return Left(move.new, self._why_taken(move.new))
                move, taken = replace(move, aside=True), None
            if taken is None:
                self._ledger.settle(move.new, None)
            return move if self._has_parents(move.new) else Left(move.new, Why.IN_THE_WAY)
        except (OSError, MemtuiError) as error:
            return Left(move.new, Why.UNREADABLE, detail=_words(error))

    def _why_taken(self, path: str) -> Why:
        if self._fresh:
            return Why.TAKEN
        is_stuck = nearest(path, self._all) is not None  # it was to move away, and cannot
        return Why.IN_THE_WAY if is_stuck else Why.CHANGED

    def _has_parents(self, path: str) -> bool:
        """See that the directory of a path will be there; `False` if something else is in its way."""
        missing: list[str] = []
        for parent in above(path):
            if parent in self.made:
                break
            if parent in self.final:
                if self.final[parent] is not Kind.DIRECTORY:
                    return False
                break
            node = None if self.takes_away(parent) else reconcile.standing(self._store, parent)
            if node is not None and node.kind is not Kind.DIRECTORY:
                return False
            if node is not None:
                break
            missing.append(parent)
        for parent in reversed(missing):
            if not self.takes_away(parent):
                self._ledger.settle(parent, None)  # one that was there before and has gone
            self.made[parent] = None
        return True

    # Moving

    def prepare(self, transaction: Transaction) -> None:
        """Find the steps."""

        def passing(path: str) -> str:
            return transaction.passing(MemoryPath.of(path)).relative

        self.hops, self.is_entangled = hops(self.moves, passing)

    def apply(self, transaction: Transaction, step: Step) -> "Relocated":
        """Move everything.

        Raises:
            Outdated: Somebody was faster with the first of it, and nothing was done: plan it anew.
            OSError: The first of it could not be done, and nothing was.
            Stranded: It could neither go on nor back.
        """
        relocated = Relocated(self)
        new = {move.old: move.new for move in self.moves}
        hopping = Hopping(transaction, new, self.made, self.where)
        for hop in self.hops:
            if relocated.fault and self.is_entangled:
                break  # what comes now may wait for what did not move
            if relocated.stopped and not hopping.on_the_way:
                break
            try:
                hopping.take(hop)
            except (OSError, Outdated, MemtuiError) as error:
                hopping.go_back()
                if not self.where and not hopping.made:
                    if isinstance(error, OSError) and not isinstance(error, FileNotFoundError | FileExistsError):
                        raise
                    raise Outdated from error
                relocated.fault = _words(error)
                continue
            if hop.new == new[hop.top]:
                relocated.stopped = not step() or relocated.stopped
        relocated.certain = hopping.certain
        relocated.made = [Change(path, None, _DIRECTORY) for path in hopping.made]
        return relocated

    def known(self) -> dict[str, Known | None]:
        """What is known of everything that moved."""
        known: dict[str, Known | None] = {}
        moved = [move for move in self.moves if move.old in self.where]
        for move in moved:
            known.update((node.path, None) for node, _ in move.nodes)
        for move in moved:
            at = self.where[move.old]
            known.update((move.placed(node.path, at), Known(version, node.stamp)) for node, version in move.nodes)
            top, version = move.nodes[0]
            try:
                seen = self._store.node(MemoryPath.of(at))
            except (OSError, MemtuiError):
                continue
            if seen is not None and lasting(seen.stamp) == lasting(top.stamp):
                known[at] = Known(version, seen.stamp)  # else somebody wrote to it meanwhile: the next look tells
        return known


class Relocated:
    """What came of moving.

    Attributes:
        certain: Whether the disk confirmed it, as far as it was asked.
        stopped: Whether it was stopped before its end.
        fault: Why one of them could not be moved; empty if none failed.
        made: The directories that were made.
    """

    def __init__(self, relocation: Relocation) -> None:
        self._relocation = relocation
        self.certain = True
        self.stopped = False
        self.fault = ""
        self.made: list[Change] = []

    def changes(self) -> tuple[Change, ...]:
        """What was changed."""
        return changes_of(self._relocation.moves, self._relocation.where, self.made)

    @property
    def tops(self) -> tuple[tuple[str, str], ...]:
        """What was moved by itself."""
        return _told(self._relocation.moves, self._relocation.where)

    def left(self) -> list[Left]:
        """What has not moved, or not to where it should."""
        left: list[Left] = []
        for move in self._relocation.moves:
            if self._relocation.where.get(move.old) != move.new:
                why = Why.NOT_WRITTEN if self.fault else Why.STOPPED
                left.append(Left(move.old, why, detail=self.fault))
        return left


def _told(moves: Sequence[Move], where: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((move.old, where[move.old]) for move in moves if where.get(move.old, move.old) != move.old)


def _is_same(move: Move, node: Node) -> bool:
    """Whether what stands at a new name is the thing itself: where the file system takes the names for the same."""
    top = move.nodes[0][0]
    same_name = _folded(move.old) == _folded(move.new)
    return same_name and node.kind is top.kind and lasting(node.stamp) == lasting(top.stamp)


def _folded(path: str) -> str:
    return normalize("NFC", path).casefold()


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error).rstrip(".") or "another program was faster"
