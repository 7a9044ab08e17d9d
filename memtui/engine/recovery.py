"""Settling what a process had begun when it died: its intent tells what was to happen, the store what did."""

from collections.abc import Iterable
from dataclasses import replace

from memtui.core.events import ABORTED, RECOVERED, Change, Event, Person, Version, sha256
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine import reconcile
from memtui.engine.hopping import Stranded
from memtui.engine.ledger import link_version
from memtui.engine.unfinished import Settled, Unfinished, hops_of, told_apart
from memtui.journal.sqlite import Intent, Journal, Known
from memtui.store.base import UNSEEN, Node, NotRegular, Store, TooLarge, Transaction

_IN_STEPS = frozenset({"restore", "undo", "redo", "redact", "clear"})
"""What changes several paths one after the other, whoever does it, so that a crash may leave a part of it."""


class Recovery:
    """Looks at what intents were about.

    Args:
        store: Where things stand.
        journal: Where the intents are.
        settings: What is read at all.
    """

    def __init__(self, store: Store, journal: Journal, settings: Settings) -> None:
        self._store = store
        self._journal = journal
        self._settings = settings

    def recover(self, transaction: Transaction) -> bool:
        """Settle what dead processes had begun. The lock is held, so nobody alive is at it."""
        intents = self._journal.intents()
        if not intents:
            return False
        stranded: set[int] = set()
        begun: dict[int, Unfinished] = {}
        for intent in intents:
            if hops := hops_of(intent.event):
                begun[intent.id] = Unfinished(intent.event, hops, self._store, self._journal)
                try:
                    begun[intent.id].bring_in_sight(transaction)
                except Stranded:
                    stranded.add(intent.id)  # the next writer tries again; till then nothing of it may be tidied away
        if not stranded:
            transaction.tidy(is_known=self._journal.knows, place=_place_of(intents[0].event))
        for intent in intents:
            if intent.id not in stranded:
                self._settle(intent, begun.get(intent.id))
        return len(intents) > len(stranded)

    def _settle(self, intent: Intent, unfinished: Unfinished | None) -> None:
        """Record what became of an intent: all of it, nothing, or those of its paths where it came to pass."""
        event = intent.event
        try:
            now = self.looked_at(event.changes)
        except OSError:
            self._journal.append([], intent=intent.id)  # not ours to look at any more
            return
        stands = {path: known.version if known else None for path, known in now.items()}
        after = {change.path: change.after for change in event.changes}
        before: dict[str, Version | None] = {}
        for change in event.changes:
            before.setdefault(change.path, change.before)
        if unfinished is not None:
            self._settle_moves(intent, unfinished.settled(stands))
        elif stands == after:
            self._journal.append([replace(event, note=RECOVERED)], known=now, intent=intent.id)
        elif stands == before:
            aborted = replace(event, is_error=True, aborted=True, changes=(), answer=None, note=ABORTED)
            self._journal.append([aborted], intent=intent.id)
        else:
            # What stands elsewhere is from outside: reconcile tells.
            done = [change for change in event.changes if stands[change.path] == after[change.path]]
            done = [change for change in done if before[change.path] != after[change.path]]
            if done and (event.command in _IN_STEPS or isinstance(event.actor, Person)):
                note = f"{RECOVERED}: {len(done):,} of {len(event.changes):,} done"
                moved = told_apart(event, done)
                settled = [replace(event, changes=tuple(done), moved=moved, note=note, added=None, removed=None)]
                self._journal.append(settled, known={each.path: now[each.path] for each in done}, intent=intent.id)
            else:
                self._journal.append([], intent=intent.id)

    def _settle_moves(self, intent: Intent, settled: Settled) -> None:
        """Record what became of moves of which one waited for another."""
        event = replace(intent.event, arguments=None, changes=settled.changes, moved=settled.moved)
        if not settled.changes:
            aborted = replace(event, is_error=True, aborted=True, answer=None, note=ABORTED)
            self._journal.append([aborted], intent=intent.id)
            return
        note = RECOVERED
        if not settled.is_whole:
            note += f": {len(settled.moved):,} of {len(intent.event.moved):,} moved"
        event = replace(event, note=note, added=None, removed=None)
        self._journal.append([event], known=self.looked_at_after(settled.changes), intent=intent.id)

    def looked_at(self, changes: Iterable[Change]) -> dict[str, Known | None]:
        known: dict[str, Known | None] = {}
        for path in {change.path for change in changes}:
            node = reconcile.standing(self._store, path)
            if node is None:
                known[path] = None
            else:
                known[path] = Known(self._version_of(node), node.stamp)
        return known

    def looked_at_after(self, changes: Iterable[Change]) -> dict[str, Known | None]:
        """What is known once changes were made that the disk did not confirm.

        Where something else stands by now, it is from outside: it is to be looked at again, and its text kept.
        """
        known = self.looked_at(changes)
        for path, after in {change.path: change.after for change in changes}.items():
            now = known[path]
            if after is not None and (now is None or now.version != after):
                known[path] = Known(after, UNSEEN)
            elif after is None and now is not None:
                known[path] = None
        return known

    def _version_of(self, node: Node) -> Version:
        path = MemoryPath.of(node.path)
        try:
            if node.kind is Kind.LINK:
                return link_version(self._store.read_link(path))
            if node.kind is not Kind.FILE:
                return Version(node.kind)
            data = self._store.read(path, limit=self._settings.read_limit).data
        except (TooLarge, NotRegular, OSError):
            return Version(node.kind, None, node.size)
        return Version(Kind.FILE, sha256(data), len(data))


def _place_of(event: Event) -> MemoryPath:
    """Where something belongs that came from outside while an event happened."""
    taken = [change.path for change in event.changes if change.before is not None]
    return MemoryPath.of((taken or [change.path for change in event.changes] or [""])[0])
