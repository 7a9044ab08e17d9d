"""Moves that a dead process had begun, where one waited for another: found, ended or taken back, and told.

The paths alone do not tell what became of them: of two things that swap their places one may have no name that
anybody sees. So the steps stand in the intent, and each thing is known by what stays of it when it is moved.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.core.changes import net
from memtui.core.errors import MemtuiError, Uncertain
from memtui.core.events import Change, Event, Version
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Kind
from memtui.engine import reconcile
from memtui.engine.hopping import put_beside
from memtui.engine.moving import Hop, nearest
from memtui.journal.sqlite import Journal
from memtui.store.base import Outdated, Store, Transaction


def as_arguments(hops: Iterable[Hop]) -> str:
    """Steps as an intent keeps them."""
    return json.dumps({"hops": [[hop.top, hop.old, hop.new] for hop in hops]})


def hops_of(event: Event) -> list[Hop]:
    """The steps that an intent keeps; none where no move waits for another one."""
    if not event.moved or event.arguments is None:
        return []
    record: dict[str, Any] = json.loads(event.arguments)
    return [Hop(*hop) for hop in record.get("hops", ())]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of moves.

    Attributes:
        moved: Where each thing is now that has moved, `(old, new)`.
        changes: What was changed, one change for each path.
        is_whole: Whether all was done.
    """

    moved: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]
    is_whole: bool


class Unfinished:
    """Moves that were begun.

    Args:
        event: The event that was to be.
        hops: Its steps.
        store: Where.
        journal: What is known of the things that were to be moved.
    """

    def __init__(self, event: Event, hops: Sequence[Hop], store: Store, journal: Journal) -> None:
        self._event = event
        self._hops = hops
        self._store = store
        self._journal = journal
        self._new = dict(event.moved)
        self._passing = {hop.new for hop in hops if hop.new != self._new[hop.top]}
        self._where = self._found()

    def bring_in_sight(self, transaction: Transaction) -> None:
        """Go on, or else go back, until nothing has a name any more that nobody sees.

        Raises:
            Stranded: Neither can be done now.
        """
        hidden = self._hidden()
        for hop in self._hops:
            if not hidden:
                return
            if self._where[hop.top] == hop.old and not self._go(transaction, hop.top, hop.old, hop.new, hidden):
                break
        for hop in reversed(self._hops):
            if not hidden:
                return
            if self._where[hop.top] == hop.new:
                self._go(transaction, hop.top, hop.new, hop.old, hidden)
        for top in tuple(hidden):
            self._where[top] = put_beside(transaction, self._where[top], top)

    def _go(self, transaction: Transaction, top: str, old: str, new: str, hidden: set[str]) -> bool:
        try:
            transaction.rename(MemoryPath.of(old), MemoryPath.of(new))
        except Uncertain:
            pass  # it has moved all the same
        except FileNotFoundError:
            if top in hidden:  # somebody took it away while it was in sight
                hidden.discard(top)
                self._where[top] = top
            return False
        except (OSError, Outdated, MemtuiError):
            return False
        self._where[top] = new
        if new in self._passing:
            hidden.add(top)
        else:
            hidden.discard(top)
        return True

    def _hidden(self) -> set[str]:
        return {top for top, path in self._where.items() if path in self._passing}

    def _found(self) -> dict[str, str]:
        """Where each thing is: at a name that one of them has, had or was to have, or else at the one nobody sees."""
        aside = {hop.top: hop.new for hop in self._hops if hop.new in self._passing}
        stands: dict[tuple[Kind, int], list[str]] = {}
        for path in {path for pair in self._event.moved for path in pair}:
            try:
                node = reconcile.standing(self._store, path)
            except (OSError, MemtuiError):
                continue
            if node is not None:
                stands.setdefault((node.kind, node.stamp[-1]), []).append(path)
        found: dict[str, str] = {}
        for old, new in self._event.moved:
            known = self._journal.known(old)
            places = stands.get((known.version.kind, known.stamp[-1]), []) if known is not None else []
            sure = [path for path in (old, new) if path in places]
            found[old] = (sure or places or [aside.get(old, old)])[0]
        return found

    def settled(self, stands: Mapping[str, Version | None]) -> Settled:
        """What has become of it all.

        Args:
            stands: What stands now at the paths that the event was to change.
        """
        before = {change.path: change.before for change in self._event.changes}
        departures: list[Change] = []
        arrivals: list[Change] = []
        planned: set[str] = set()
        for path, version in before.items():
            top = nearest(path, self._new) if version is not None else None
            if top is None:
                continue
            planned.add(self._new[top] + path[len(top) :])
            if self._where[top] != top:
                departures.append(Change(path, version, None))
                arrivals.append(Change(self._where[top] + path[len(top) :], None, version))
        gone = {change.path for change in departures}
        others: list[Change] = []
        is_whole = all(self._where[top] == new for top, new in self._new.items())
        for change in self._event.changes:
            if change.path in planned or (change.path in gone and change.after is None):
                continue
            was = None if change.path in gone else change.before
            if was == change.after:
                continue
            if stands.get(change.path) == change.after and stands.get(change.path) != was:
                others.append(Change(change.path, was, change.after))
            else:
                is_whole = False
        moved = tuple((top, path) for top, path in self._where.items() if path != top)
        return Settled(moved, net((*departures, *others, *arrivals)), is_whole)


def told_apart(event: Event, done: Sequence[Change]) -> tuple[tuple[str, str], ...]:
    """Of the moves of an event in which none waits for another one, those that came to pass."""
    changed = {change.path for change in done}
    return tuple((old, new) for old, new in event.moved if old in changed and new in changed)
