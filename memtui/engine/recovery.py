"""Settling what a process had begun when it died: its intent tells what was to happen, the store what did."""

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memtui.core.attributes import UNKNOWN
from memtui.core.errors import MemtuiError, SymlinkEscape, UnconfirmedChange, UnsettledChange
from memtui.core.events import ABORTED, RECOVERED, Change, EntryKind, Event, Person, Version, sha256, squash_changes
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.engine import durability, reconcile
from memtui.engine.durability import RollForward, SettledMark
from memtui.engine.ledger import add_attributes, make_link_version
from memtui.engine.lineage import find_moves
from memtui.engine.moves import MoveStep, StrandedMove, find_nearest, restore_beside
from memtui.engine.protection import ProtectionGuard
from memtui.journal.record import Intent, KnownPath, Record
from memtui.store.base import (
    NEW_DIRECTORY,
    UNSEEN,
    ConcurrentChange,
    FileTooLarge,
    Node,
    NotRegularFile,
    Store,
    Transaction,
)

_PASSING = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EINTR, errno.EAGAIN, errno.ENOMEM, errno.EMFILE}
    | {errno.ENFILE, errno.ESTALE, errno.ETIMEDOUT, errno.ENOLCK, errno.EBUSY}
)
"""Faults that may pass: what they keep anybody from seeing is not taken for changed."""
_RECENT = 100
"""How many events are looked through for a refusal."""


@contextlib.contextmanager
def _unless_passing() -> Iterator[None]:
    """For what is not ours to look at any more; raises `OSError` for a fault that may pass."""
    try:
        yield
    except SymlinkEscape:
        pass
    except UnsettledChange as error:
        raise OSError(errno.EIO, os.strerror(errno.EIO)) from error
    except OSError as error:
        if error.errno in _PASSING:
            raise


# Moves of a dead process that waited for each other. Paths alone do not tell what became of them: the steps stand in
# the intent, and each thing is known by its inode.


def encode_steps(steps: Iterable[MoveStep]) -> str:
    return json.dumps({"hops": [[step.top, step.old, step.new] for step in steps]})


def decode_steps(event: Event) -> list[MoveStep]:
    """The steps that an intent keeps; none where no move waits for another one."""
    if not event.moved or event.arguments is None:
        return []
    record: dict[str, Any] = json.loads(event.arguments)
    return [MoveStep(*step) for step in record.get("hops", ())]


@dataclass(frozen=True, slots=True)
class SettledMoves:
    """The outcome of unfinished moves: pairs of `(old, new)`, one change for each path, and whether all was done."""

    moved: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]
    is_whole: bool


class UnfinishedMoves:
    """Moves that a dead process had begun, with the steps that its intent names."""

    def __init__(self, event: Event, steps: Sequence[MoveStep], store: Store, journal: Record) -> None:
        self._event = event
        self._steps = steps
        self._store = store
        self._journal = journal
        self._new = dict(event.moved)
        self._passing = {step.new for step in steps if step.new != self._new[step.top]}
        self._where = self._locate()

    def resolve_hidden(self, transaction: Transaction) -> None:
        """Go on, or else back, until nothing has a temporary name; raises `StrandedMove` if neither can be done."""
        hidden = self._find_hidden()
        for step in self._steps:
            if not hidden:
                return
            if self._where[step.top] == step.old and not self._try_rename(
                transaction, step.top, step.old, step.new, hidden
            ):
                break
        for step in reversed(self._steps):
            if not hidden:
                return
            if self._where[step.top] == step.new:
                self._try_rename(transaction, step.top, step.new, step.old, hidden)
        for top in tuple(hidden):
            self._where[top] = restore_beside(transaction, self._where[top], top)

    def _try_rename(self, transaction: Transaction, top: str, old: str, new: str, hidden: set[str]) -> bool:
        try:
            transaction.rename(MemoryPath.from_relative(old), MemoryPath.from_relative(new))
        except UnconfirmedChange:
            pass  # it has moved all the same
        except FileNotFoundError:
            if top in hidden:  # somebody took it away while it was in sight
                hidden.discard(top)
                self._where[top] = top
            return False
        except (OSError, ConcurrentChange, MemtuiError):
            return False
        self._where[top] = new
        if new in self._passing:
            hidden.add(top)
        else:
            hidden.discard(top)
        return True

    def _find_hidden(self) -> set[str]:
        return {top for top, path in self._where.items() if path in self._passing}

    def _locate(self) -> dict[str, str]:
        """Where each thing is: at a name that one of them has, had or was to have, or else at the one nobody sees."""
        aside = {step.top: step.new for step in self._steps if step.new in self._passing}
        paths_by_identity: dict[tuple[EntryKind, int], list[str]] = {}
        for path in {path for pair in self._event.moved for path in pair}:
            node = None
            with _unless_passing():
                node = reconcile.find_node(self._store, path)
            if node is not None:
                paths_by_identity.setdefault((node.kind, node.stamp[-1]), []).append(path)
        found: dict[str, str] = {}
        for old, new in self._event.moved:
            known = self._journal.get_known(old)
            places = paths_by_identity.get((known.version.kind, known.stamp[-1]), []) if known is not None else []
            sure = [path for path in (old, new) if path in places]
            found[old] = (sure or places or [aside.get(old, old)])[0]
        return found

    def settle(self, current: Mapping[str, Version | None]) -> SettledMoves:
        """The outcome, given what stands now at the paths that the event was to change."""
        before = {change.path: change.before for change in self._event.changes}
        departures: list[Change] = []
        arrivals: list[Change] = []
        planned: set[str] = set()
        for path, version in before.items():
            top = find_nearest(path, self._new) if version is not None else None
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
            if current.get(change.path) == change.after and current.get(change.path) != was:
                others.append(Change(change.path, was, change.after))
            else:
                is_whole = False
        moved = tuple((top, path) for top, path in self._where.items() if path != top)
        return SettledMoves(moved, squash_changes((*departures, *others, *arrivals)), is_whole)


def find_completed_moves(event: Event, done: Sequence[Change]) -> tuple[tuple[str, str], ...]:
    """Of the moves of an event in which none waits for another one, those that came to pass."""
    changed = {change.path for change in done}
    return tuple((old, new) for old, new in event.moved if old in changed and new in changed)


IN_STEPS = frozenset({"restore", "undo", "redo", "redact", "clear"})
"""What changes several paths one after the other, whoever does it, so that a crash may leave a part of it."""


def _is_no_remnant(_: bytes) -> bool:
    """Of a text: where no power was cut, none is left half."""
    return False


class Recovery:
    def __init__(self, store: Store, journal: Record, settings: Settings) -> None:
        self._store = store
        self._journal = journal
        self._settings = settings
        self._protection = ProtectionGuard(store, journal)
        self._is_this_start = False
        self._is_remnant: Callable[[bytes], bool] = _is_no_remnant

    def is_due(self) -> bool:
        """Whether anything may have to be done before somebody looks."""
        return not self._is_this_start or self._journal.has_intents()

    def recover(self, transaction: Transaction) -> bool:
        """Settle what dead processes had begun. The lock is held, so nobody alive is at it.

        An intent goes last, with the event that tells what became of it: whoever is cut, or finds a disk that fails,
        leaves it to the next one.

        Returns:
            Whether an event was recorded.

        Raises:
            OSError, StateUnusable: What became of it cannot be known or recorded now, so nobody may write.
        """
        if self._is_this_start:
            intents = self._journal.get_intents() if self._journal.has_intents() else ()
            return self._settle_intents(transaction, intents)
        boot, mark = durability.read_boot_id() or "", SettledMark.load(self._journal)
        if mark is None or mark.boot == boot != "":
            has_recorded = self._settle_intents(transaction, self._journal.get_intents())
        else:
            if not boot and mark.boot:  # if this one is cut, the next one may see the same start of the system again
                mark = SettledMark("", mark.seq)
                mark.save(self._journal)
            has_recorded = self._follow_power_cut(transaction, mark)
        if mark is None or mark.boot != boot:
            SettledMark(boot, self._journal.get_head()[0]).save(self._journal)
        self._is_this_start = True
        return has_recorded

    def _follow_power_cut(self, transaction: Transaction, mark: SettledMark) -> bool:
        """Have everything come to pass that was begun, and the folder hold it."""
        intents = self._journal.get_intents()
        in_steps = [intent for intent in intents if decode_steps(intent.event)]
        for intent in intents:
            if intent in in_steps:
                continue
            after = {each.path: each.after for each in intent.event.changes}
            known = {path: KnownPath(each, UNSEEN) if each else None for path, each in after.items()}
            event = self._note_protected(intent.event)
            if event is intent.event:
                self._journal.finish_intent(intent, known, durable=False)
            else:
                self._journal.append_events([event], known=known, intent=intent.id)
        limit = self._settings.read_limit
        self._is_remnant = RollForward(self._store, self._journal, limit, self._iter_events(mark.seq)).is_remnant
        if in_steps:
            self._settle_intents(transaction, in_steps)
        else:
            transaction.clean_up(is_known=self._is_kept)
        RollForward(self._store, self._journal, limit, self._iter_events(mark.seq)).run(transaction)
        self._is_remnant = _is_no_remnant
        return bool(intents)

    def _is_kept(self, text: bytes) -> bool:
        """Whether a text is in the journal, or what a power cut has left of one that is."""
        return self._journal.has_version(sha256(text)) or self._is_remnant(text)

    def _iter_events(self, after: int) -> Iterator[Event]:
        """The events with changes behind a number."""
        for seq, body in self._journal.iter_bodies(after, self._journal.get_head()[0]):
            if b'"changes":' in body and (event := self._journal.get_event(seq)) is not None:
                yield event

    def _settle_intents(self, transaction: Transaction, intents: Sequence[Intent]) -> bool:
        if not intents:
            if transaction.is_untidy:
                with contextlib.suppress(OSError):  # it stays out of sight
                    transaction.clean_up(is_known=self._is_kept)
            return False
        stranded: set[int] = set()
        begun: dict[int, UnfinishedMoves] = {}
        for intent in intents:
            self._remove_second_names(intent.event, transaction)
            if steps := decode_steps(intent.event):
                begun[intent.id] = UnfinishedMoves(intent.event, steps, self._store, self._journal)
                try:
                    begun[intent.id].resolve_hidden(transaction)
                except StrandedMove as error:
                    if isinstance(error.__cause__, OSError) and error.__cause__.errno in _PASSING:
                        raise error.__cause__ from error
                    stranded.add(intent.id)  # the next writer tries again; till then nothing of it may be tidied away
        if not stranded:
            transaction.clean_up(is_known=self._is_kept, place=_find_position(intents[0].event))
        for intent in intents:
            if intent.id not in stranded:
                self._finish_directories(intent.event, transaction)
                self._settle_intent(intent, begun.get(intent.id), transaction)
        return len(intents) > len(stranded)

    def _remove_second_names(self, event: Event, transaction: Transaction) -> None:
        """Take the new name from what still has its old one as well, where a file system moves in two steps."""
        for new, old in find_moves(event).items():
            with _unless_passing(), contextlib.suppress(ConcurrentChange, UnconfirmedChange):
                one, other = reconcile.find_node(self._store, old), reconcile.find_node(self._store, new)
                if one is not None and other is not None and other.links > 1 and one.stamp == other.stamp:
                    transaction.delete(MemoryPath.from_relative(new), expected={new: other.stamp})

    def _finish_directories(self, event: Event, transaction: Transaction) -> None:
        """Give the directories that came back their attributes: files have theirs from the first moment on.

        One that has other permissions than a new one got them already, or from somebody else since.
        """
        for change in sorted(event.changes, key=lambda each: each.path.count("/"), reverse=True):
            after = change.after
            if not change.is_directory or change.before or after is None or after.attributes == UNKNOWN:
                continue
            with _unless_passing(), contextlib.suppress(UnconfirmedChange):  # it stands, as a new one
                node = reconcile.find_node(self._store, change.path)
                if node is not None and node.kind is EntryKind.DIRECTORY and node.mode == NEW_DIRECTORY:
                    transaction.set_directory_attributes(MemoryPath.from_relative(change.path), after.attributes)

    def _settle_intent(self, intent: Intent, unfinished: UnfinishedMoves | None, transaction: Transaction) -> None:
        """Record what became of an intent: all of it, nothing, or those of its paths where it came to pass."""
        event = intent.event
        after = {change.path: change.after for change in event.changes}
        now: dict[str, KnownPath | None] | None = None
        with _unless_passing():
            now = self.get_known(event.changes)
            made = [change.path for change in event.changes if change.is_directory and change.before is None]
            if made and {path: known.version if known else None for path, known in now.items()} != after:
                transaction.unmake(made)
                now = self.get_known(event.changes)
            if self._write_moved(event, now, transaction):
                now = self.get_known(event.changes)
        if now is None:
            self._journal.append_events([], intent=intent.id)  # not ours to look at any more
            return
        current = {path: known.version if known else None for path, known in now.items()}
        before: dict[str, Version | None] = {}
        for change in event.changes:
            before.setdefault(change.path, change.before)
        if unfinished is not None:
            self._settle_moves(intent, unfinished.settle(current))
        elif current == after:
            recovered = replace(event, note=RECOVERED, changes=add_attributes(event.changes, now))
            recovered = self._note_protected(recovered)
            self._journal.append_events([recovered], known=now, intent=intent.id)
        elif current == before:
            aborted = replace(event, is_error=True, aborted=True, changes=(), answer=None, note=ABORTED)
            self._journal.append_events([] if self._was_refused(event) else [aborted], intent=intent.id)
        else:
            # What stands elsewhere is from outside: reconcile tells.
            after |= _find_unwritten(event, current)
            done = [replace(each, after=after[each.path]) for each in event.changes if each.path in after]
            done = [each for each in done if current[each.path] == each.after and before[each.path] != each.after]
            if done and (event.command in IN_STEPS or isinstance(event.actor, Person)):
                note = f"{RECOVERED}: {len(done):,} of {len(event.changes):,} done"
                moved = find_completed_moves(event, done)
                changes = add_attributes(done, now)
                settled = replace(event, changes=changes, moved=moved, note=note, added=None, removed=None)
                left = {each.path: now[each.path] for each in done}
                self._journal.append_events([self._note_protected(settled)], known=left, intent=intent.id)
            else:
                self._journal.append_events([], intent=intent.id)

    def _write_moved(self, event: Event, now: Mapping[str, KnownPath | None], transaction: Transaction) -> bool:
        """Write the new texts of files that were moved, and that were to be written there next."""
        has_written = False
        after = {change.path: change.after for change in event.changes}
        for new, was in _find_unwritten(event, {path: known and known.version for path, known in now.items()}).items():
            version, known = after[new], now[new]
            data = self._journal.get_text(version.sha256) if version is not None and version.sha256 else None
            if data is None or known is None or known.version != was:
                continue
            with contextlib.suppress(ConcurrentChange, UnconfirmedChange):
                transaction.write(MemoryPath.from_relative(new), data, expected=known.stamp)
            has_written = True
        return has_written

    def _was_refused(self, event: Event) -> bool:
        """Whether it was answered, and recorded, that an event could not be: its directories only had to go."""
        recent = self._journal.get_events(self._journal.get_head()[0] - _RECENT)
        return any(each.at_us == event.at_us and each.call_id == event.call_id and each.is_error for each in recent)

    def _settle_moves(self, intent: Intent, settled: SettledMoves) -> None:
        """Record what became of moves of which one waited for another."""
        event = replace(intent.event, arguments=None, changes=settled.changes, moved=settled.moved)
        if not settled.changes:
            aborted = replace(event, is_error=True, aborted=True, answer=None, note=ABORTED)
            self._journal.append_events([aborted], intent=intent.id)
            return
        note = RECOVERED
        if not settled.is_whole:
            note += f": {len(settled.moved):,} of {len(intent.event.moved):,} moved"
        event = self._note_protected(replace(event, note=note, added=None, removed=None))
        self._journal.append_events([event], known=self.get_known_after(settled.changes), intent=intent.id)

    def _note_protected(self, event: Event) -> Event:
        """The event, with both names of what it moved protected: perhaps only some of it came to pass."""
        return self._protection.note_possible_moves(event, [(old, new) for new, old in find_moves(event).items()])

    def get_known(self, changes: Iterable[Change]) -> dict[str, KnownPath | None]:
        known: dict[str, KnownPath | None] = {}
        for path in {change.path for change in changes}:
            node = reconcile.find_node(self._store, path)
            if node is None:
                known[path] = None
            else:
                known[path] = KnownPath(self._read_version(node), node.stamp)
        return known

    def get_known_after(self, changes: Iterable[Change]) -> dict[str, KnownPath | None]:
        """What is known once changes were made that the disk did not confirm.

        Where something else stands by now, it is from outside: it is to be looked at again, and its text kept.
        """
        known = self.get_known(changes)
        for path, after in {change.path: change.after for change in changes}.items():
            now = known[path]
            if after is not None and (now is None or now.version != after):
                known[path] = KnownPath(after, UNSEEN)
            elif after is None and now is not None:
                known[path] = None
        return known

    def _read_version(self, node: Node) -> Version:
        path = MemoryPath.from_relative(node.path)
        try:
            if node.kind is EntryKind.LINK:
                return make_link_version(self._store.read_link(path))
            if node.kind is not EntryKind.FILE:
                return Version(node.kind)
            data = self._store.read(path, limit=self._settings.read_limit).data
        except (FileTooLarge, NotRegularFile):
            return Version(node.kind, None, node.size)
        except OSError as error:
            if error.errno in _PASSING:
                raise
            return Version(node.kind, None, node.size)
        return Version(EntryKind.FILE, sha256(data), len(data))


def _find_unwritten(event: Event, current: Mapping[str, Version | None]) -> dict[str, Version | None]:
    """What stands at new names as it was at the old ones, although it was to have another text there."""
    stood = {change.path: change.before for change in reversed(event.changes)}
    after = {change.path: change.after for change in event.changes}
    moved = find_moves(event).items()
    return {new: stood[old] for new, old in moved if after[new] != stood.get(old) == current.get(new) is not None}


def _find_position(event: Event) -> MemoryPath:
    """Where something belongs that came from outside while an event happened."""
    taken = [change.path for change in event.changes if change.before is not None]
    return MemoryPath.from_relative((taken or [change.path for change in event.changes] or [""])[0])
