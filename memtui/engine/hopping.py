"""Taking the steps of moves, so that as little as can be, and for as short as can be, is out of sight."""

import os
from collections.abc import Callable, Container, Mapping, MutableMapping

from memtui.core.errors import MemtuiError, Uncertain
from memtui.core.paths import MemoryPath
from memtui.engine.moving import Hop, above
from memtui.store.base import Outdated, Transaction

_NAMES = 100
"""How many names are tried for what has to be put back where something else came meanwhile."""


class Stranded(MemtuiError):
    """Something has a name that nobody sees and cannot be given another one now: whoever writes next tries again."""


class Hopping:
    """Steps that are being taken.

    Of things that take each other's places one has to step aside. Where the system lets two things change places in
    one step, it does not: it rides along, from place to place, in sight all the time.

    Args:
        transaction: The right to.
        new: Where each thing is to end, by its old name.
        made: The directories that have to be made on the way.
        where: Where each thing is, by its old name, once it is not there any more. Kept up.

    Attributes:
        certain: Whether the disk confirmed it, as far as it was asked.
        made: The directories that were made, outermost first.
        on_the_way: What is neither at its old name nor at its new one, by its old name.
    """

    def __init__(
        self, transaction: Transaction, new: Mapping[str, str], made: Container[str], where: MutableMapping[str, str]
    ) -> None:
        self._transaction = transaction
        self._new = new
        self._to_be_made = made
        self._where = where
        self._rider: Hop | None = None
        self._hidden: dict[str, str] = {}
        self._back: list[Callable[[], bool]] = []
        self._can_exchange = True
        self.certain = True
        self.made: dict[str, None] = {}
        self.on_the_way: set[str] = set()

    def take(self, hop: Hop) -> None:
        """Take one step.

        Raises:
            OSError, Outdated, MemtuiError: It could not be taken.
        """
        if hop.new != self._new[hop.top]:
            self._settle_rider()
            self.on_the_way.add(hop.top)
            self._rider = hop  # it steps aside once nothing else is left to do
            return
        rider = self._rider
        if rider is not None and hop.top == rider.top:
            at = self._at(hop.top)
            if at == hop.top or hop.new.startswith(at + "/"):
                self._settle_rider()  # its own name is what is in its way
            self._rider = None
            if self._at(hop.top) != hop.new:
                self._rename(hop.top, self._at(hop.top), hop.new)
                self._hidden.pop(hop.top, None)
        elif rider is None or not self._has_exchanged(hop, rider):
            self._settle_rider()
            self._rename(hop.top, hop.old, hop.new)
            self._hidden.pop(hop.top, None)
        self.on_the_way.discard(hop.top)
        if not self.on_the_way:
            self._back.clear()

    def _at(self, top: str) -> str:
        return self._where.get(top, top)

    def _has_exchanged(self, hop: Hop, rider: Hop) -> bool:
        """Whether a thing took the place of the one that rides along, and that one its own."""
        at = self._at(rider.top)
        if not self._can_exchange or hop.new != at or hop.old.startswith(at + "/") or at.startswith(hop.old + "/"):
            return False
        if not self._exchange(hop.old, at):
            self._can_exchange = False
            return False
        self._go(hop.top, at)
        self._go(rider.top, hop.old)

        def back() -> bool:
            if not self._exchange(hop.old, at):
                return False
            self._go(rider.top, at)
            self._go(hop.top, hop.old)
            return True

        self._back.append(back)
        return True

    def _exchange(self, one: str, other: str) -> bool:
        try:
            return self._transaction.exchange(MemoryPath.of(one), MemoryPath.of(other))
        except Uncertain:
            self.certain = False  # they have changed places all the same
            return True

    def _settle_rider(self) -> None:
        """Have what should step aside really do so."""
        if self._rider is not None:
            rider, self._rider = self._rider, None
            self._rename(rider.top, self._at(rider.top), rider.new)
            self._hidden[rider.top] = rider.new

    def _rename(self, top: str, old: str, new: str) -> None:
        try:
            found = self._transaction.rename(MemoryPath.of(old), MemoryPath.of(new))
        except Uncertain:
            self.certain = False  # it has moved all the same
            found = tuple(path for path in reversed(list(above(new))) if path in self._to_be_made)
        self.made.update(dict.fromkeys(found))
        self._go(top, new)

        def back() -> bool:
            if not moved_to(self._transaction, new, old):
                return False
            self._go(top, old)
            return True

        self._back.append(back)

    def _go(self, top: str, path: str) -> None:
        if path == top:
            self._where.pop(top, None)
        else:
            self._where[top] = path

    def go_back(self) -> None:
        """Take back what was done since everything was in its place, so that nothing stays out of sight.

        Raises:
            Stranded: It cannot be.
        """
        for back in reversed(self._back):
            try:
                back()
            except (OSError, MemtuiError):
                continue  # the next one may still be
        for top, hidden in self._hidden.items():
            if self._at(top) == hidden:
                self._where[top] = put_beside(self._transaction, hidden, top)
        self._back.clear()
        self._hidden.clear()
        self.on_the_way.clear()
        self._rider = None


def moved_to(transaction: Transaction, old: str, new: str) -> bool:
    """Move something if that can be done."""
    try:
        transaction.rename(MemoryPath.of(old), MemoryPath.of(new))
    except Uncertain:
        return True
    except (OSError, Outdated, MemtuiError):
        return False
    return True


def put_beside(transaction: Transaction, hidden: str, place: str) -> str:
    """Bring something back in sight, at a name beside its own; returns that name.

    Raises:
        Stranded: It cannot be.
    """
    directory, slash, name = place.rpartition("/")
    for number in range(1, _NAMES):
        ending = f"~{number}"
        free = directory + slash + os.fsdecode(os.fsencode(name)[: 255 - len(ending)]) + ending
        if moved_to(transaction, hidden, free):
            return free
    raise Stranded("What was on its way could not be put anywhere.")
