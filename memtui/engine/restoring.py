"""Putting back: versions, deleted notes, folders as they were, and whatever an event did.

A person's doing. None of it can be asked for by a command that `execute` takes, so no agent reaches it. Each is one
new event; nothing that was recorded is ever changed by it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from memtui.core import diffs
from memtui.core.changes import net
from memtui.core.errors import Busy, LeavesRoot, MemtuiError, Refusal, StateUnusable
from memtui.core.events import NEVER_TAKEN_BACK, Actor, Change, Event, Version, sha256
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.restoring import Left, Restored, Why
from memtui.core.snapshot import Kind
from memtui.engine.arranging import Arranged, Arrangement, Progress
from memtui.engine.history import History
from memtui.engine.hopping import Stranded
from memtui.engine.inverting import moving_back, replaced, tops
from memtui.engine.ledger import Ledger
from memtui.engine.moving import common_directory, expanded
from memtui.engine.protecting import Protection
from memtui.engine.relocating import Relocation
from memtui.engine.unfinished import as_arguments
from memtui.journal.sqlite import Journal
from memtui.store.base import Outdated, Store, Transaction

_ATTEMPTS = 8
"""How often it is planned anew when somebody outside is faster."""

Wanted = Arrangement | Callable[[Ledger], Arrangement]
"""What is wanted, or how it is found out what is wanted once the lock is held."""


@dataclass(frozen=True, slots=True)
class Deed:
    """What a person does, for the record.

    Attributes:
        command: `restore`, `undo`, `redo`, `write` or `clear`.
        actor: Who.
        past: In words, for sentences: `Not restored`.
        path: Relative to the folder; `None` for the one path or the common directory of what is changed.
        new_path: Where a move ends, relative to the folder.
        note: For the log.
        undoes: The events that are taken back, and the paths that each changed.
    """

    command: str
    actor: Actor
    past: str
    path: str | None = None
    new_path: str | None = None
    note: str = ""
    undoes: Mapping[int, frozenset[str]] = field(default_factory=dict)


class Restorer:
    """Puts back.

    Args:
        store: Where.
        journal: Where it is recorded.
        history: What was.
        now_us: Tells the time, in microseconds since 1970.
        writing: Takes the writer lock, and settles what dead processes had begun.
        ledger: Makes a ledger at a time.
        recorded: Told once something was recorded.
        protection: What no agent may change.
    """

    def __init__(
        self,
        store: Store,
        journal: Journal,
        history: History,
        *,
        now_us: Callable[[], int],
        writing: Callable[[], AbstractContextManager[Transaction]],
        ledger: Callable[[int], Ledger],
        recorded: Callable[[], None],
        protection: Protection,
    ) -> None:
        self._protection = protection
        self._store = store
        self._journal = journal
        self._history = history
        self._now_us = now_us
        self._writing = writing
        self._ledger = ledger
        self._recorded = recorded

    def write(
        self, path: str, data: bytes, *, based_on: Version | None, rehearse: bool, note: str, actor: Actor
    ) -> Restored:
        """See `Engine.write`."""
        place = MemoryPath.of(path)
        try:
            node = self._store.node(place, follow=True)
        except (OSError, LeavesRoot) as error:
            return Restored(problem=f"Not saved: {_why(error)}. Nothing was written.")
        real = node.path if node is not None else path
        version = Version(Kind.FILE, sha256(data), len(data))
        arrangement = Arrangement({real: version}, {real: based_on}, {version.sha256 or "": data})
        deed = Deed("write", actor, "Not saved", path=path, note=note)
        return self.arrange(arrangement, deed, partial=False, rehearse=rehearse)

    def undo(
        self, seqs: Iterable[int], *, partial: bool, rehearse: bool, progress: Progress | None = None, actor: Actor
    ) -> Restored:
        """See `Engine.undo`."""
        events: list[Event] = []
        for seq in sorted(set(seqs), reverse=True):
            event = self._journal.event(seq)
            if event is None:
                return Restored(problem=f"Not undone: there is no event {seq}.")
            if (by := self._history.undone_by(seq)) is not None:
                return Restored(problem=f"Not undone: event {seq} was taken back already, by event {by}.")
            if event.changes and event.command not in NEVER_TAKEN_BACK:
                events.append(event)
        if not events:
            return Restored(problem="Not undone: nothing was changed by that, so there is nothing to take back.")
        return self.take_back(events, partial=partial, rehearse=rehearse, progress=progress, actor=actor)

    def take_back(
        self,
        events: Sequence[Event],
        *,
        partial: bool,
        rehearse: bool,
        progress: Progress | None = None,
        actor: Actor,
    ) -> Restored:
        """Take events back together.

        Args:
            events: The newest first; each changed something.
            partial: Whether what can be taken back is, if not all can.
            rehearse: Whether it is only found out what would be changed.
            progress: See `arrange`.
            actor: Who does it.
        """
        command = "redo" if all(event.command == "undo" for event in events) else "undo"
        deed = Deed(
            command,
            actor,
            "Not undone" if command == "undo" else "Not redone",
            note=_names(events),
            undoes={event.seq: frozenset(each.path for each in event.changes) for event in reversed(events)},
        )
        if len(events) == 1 and (moved := tops(events[0])) and not replaced(events[0]):
            arrangement = moving_back(events[0], moved)
            if len(moved) == 1:
                deed = replace(deed, path=moved[0][1], new_path=moved[0][0])
        else:
            arrangement = self._net(events)
        return self.arrange(arrangement, deed, partial=partial, rehearse=rehearse, progress=progress)

    def _net(self, events: Iterable[Event]) -> Arrangement:
        """What stood before events, path by path, provided that nobody else came between them."""
        wanted: dict[str, Version | None] = {}
        expected: dict[str, Version | None] = {}
        between: dict[str, Left] = {}
        for event in events:
            for change in net(event.changes):
                path, before, after = change.path, change.before, change.after
                if path in wanted and wanted[path] != after and path not in between:
                    between[path] = Left(path, Why.CHANGED, self._since(path, event.seq))
                expected.setdefault(path, after)
                wanted[path] = before
        return Arrangement(wanted, expected, known_conflicts=tuple(between.values()))

    def _since(self, path: str, seq: int) -> Event | None:
        """The first event after a number that touched a path."""
        later = next((number for number in self._journal.touches(path) if number > seq), None)
        return None if later is None else self._journal.event(later)

    def arrange(
        self, wanted: Wanted, deed: Deed, *, partial: bool, rehearse: bool, progress: Progress | None = None
    ) -> Restored:
        """Have paths hold versions.

        Args:
            wanted: Which.
            deed: Who does it, and what it is called.
            partial: Whether what can be done is, if not all can.
            rehearse: Whether it is only found out what would be changed.
            progress: Told how many steps are done; `False` stops there.

        Raises:
            Busy, FolderMissing, StateUnusable: It could not be tried.
        """
        at_us = self._now_us()
        with self._writing() as transaction:
            for _ in range(_ATTEMPTS):
                ledger = self._ledger(at_us)
                arrangement = wanted if isinstance(wanted, Arrangement) else wanted(ledger)
                arranged = Arranged(arrangement, self._store, ledger, self._journal, progress)
                if arranged.left and not partial:
                    self._record(ledger)
                    return Restored((), tuple(arranged.left), problem=f"{deed.past}: {_told(arranged.left)}.")
                if (forbidden := self._forbidden(arranged, deed)) is not None:
                    return forbidden
                if rehearse or not arranged.changes:
                    self._record(ledger)
                    return Restored(arranged.changes, tuple(arranged.left), problem=_idle(arranged, deed))
                try:
                    return self._carry_out(arranged, ledger, deed, at_us, transaction)
                except Outdated:
                    continue
                except OSError as error:
                    problem = f"{deed.past}: {_why(error)}. Nothing was changed."
                    return Restored((), tuple(arranged.left), problem=problem)
        return Restored(problem=f"{deed.past}: another program keeps changing the files. Nothing was written.")

    def _forbidden(self, arranged: Arranged, deed: Deed) -> Restored | None:
        try:
            self._protection.insist_on(deed.actor, arranged.changes, {"verb": deed.command, "path": ROOT})
        except Refusal as refusal:
            path = MemoryPath.of(str(refusal.values["protected"]).removeprefix(str(ROOT)).removeprefix("/")).relative
            left = Left(path, Why.PROTECTED)
            return Restored((), (left,), problem=f"{deed.past}: {left.sentence}.")
        return None

    def clear(self, *, actor: Actor) -> Restored:
        """Delete everything, as one event: all of it or nothing, unless the system refuses in the middle.

        Returns:
            With `left` and no event where something cannot be kept; with neither where there is nothing to delete.

        Raises:
            Refusal: An agent asked, and something is protected.
            Busy, FolderMissing, StateUnusable, OSError: It could not be done, and nothing was deleted.
        """
        at_us, deed = self._now_us(), Deed("clear", actor, "Not cleared", path="")
        with self._writing() as transaction:
            for _ in range(_ATTEMPTS):
                ledger = self._ledger(at_us)
                standing = [node.path for node in self._store.scan(ROOT, complete=True)]
                arrangement = Arrangement(dict.fromkeys(standing), others=True)
                arranged = Arranged(arrangement, self._store, ledger, self._journal)
                self._protection.insist_on(actor, arranged.changes, {"verb": "clear", "path": ROOT})
                if arranged.left or not arranged.changes:
                    self._record(ledger)
                    return Restored((), tuple(arranged.left))
                if not _all_go(standing, arranged.changes):
                    continue  # a directory could not be looked into just now, or something came into it
                try:
                    restored = self._carry_out(arranged, ledger, deed, at_us, transaction)
                except Outdated:
                    continue
                return restored if _all_go(standing, restored.changes) else _said_to_stay(standing, restored)
        raise Busy("Another program keeps changing the files.")

    def _carry_out(
        self, arranged: Arranged, ledger: Ledger, deed: Deed, at_us: int, transaction: Transaction
    ) -> Restored:
        texts = {**ledger.texts, **arranged.new_texts}
        relocation = arranged.relocation
        relocation.prepare(transaction)
        event = self._event(deed, arranged.changes, ledger, at_us, arranged.left, relocation, relocation.tops)
        if relocation.is_entangled:
            self._record(ledger)  # whoever finds this half done tells the things by what is known of them
            ledger.reset()
            event = replace(event, arguments=as_arguments(relocation.hops))
        intent = self._journal.intend(event, texts, durable=bool(ledger.texts) or relocation.is_entangled)
        protected = self._protection.go_along((move.old, move.new) for move in relocation.moves)
        try:
            done = arranged.apply(transaction)
        except (Outdated, OSError):
            self._journal.drop(intent)
            raise
        except Stranded:
            words = (
                f"{deed.past}, or only in part: the disk failed in the middle. It is settled once it can be written to."
            )
            return Restored((), tuple(arranged.left), problem=words)
        left = (*arranged.left, *done.left)
        if not done.changes:
            self._journal.drop(intent)
            why = _told(left) if left else "something came into the directory just now, so it stays"
            return Restored((), left, problem=f"{deed.past}: {why}.")
        event = self._event(deed, tuple(done.changes), ledger, at_us, left, relocation, done.moved)
        if not done.certain:
            event = replace(event, is_error=True, note="uncertain")
        event = replace(event, duration_us=max(self._now_us() - at_us, 0))
        try:
            known = {**ledger.known, **done.known}
            recorded = self._journal.append([*ledger.events(), event], known=known, intent=intent)[-1]
        except StateUnusable as error:
            words = f"Changed, but the journal cannot be written ({error}); it is recorded once it can be again."
            return Restored(tuple(done.changes), left, replace(event, note="not recorded"), problem=words)
        if protected is not None:
            self._protection.arrive(protected, relocation.where.items())
        self._recorded()
        words = "" if done.certain else "Changed, but the disk did not confirm that it is kept. Look before going on."
        return Restored(tuple(done.changes), left, recorded, problem=words)

    def _record(self, ledger: Ledger) -> None:
        """Record what was noticed while looking: it may be overwritten before anybody looks again."""
        found = ledger.events()
        if found or ledger.known:
            self._journal.append(found, texts=ledger.texts, known=ledger.known, durable=False)
        if found:
            self._recorded()

    def _event(
        self,
        deed: Deed,
        changes: tuple[Change, ...],
        ledger: Ledger,
        at_us: int,
        left: Sequence[Left],
        relocation: Relocation,
        moved: tuple[tuple[str, str], ...],
    ) -> Event:
        if len(moved) == 1 and deed.new_path is None:
            deed = replace(deed, path=moved[0][0], new_path=moved[0][1])  # of many, only this one could be moved
        if len(moved) == 1 and not relocation.is_entangled:
            moved = ()  # the event's own path and new path tell it
        files = [change for change in changes if _kind(change) is not Kind.DIRECTORY]
        shown = files[0] if len(files) == 1 else None
        path = deed.path
        if path is None:
            path = shown.path if shown else common_directory([change.path for change in files or changes])
        counts: diffs.Counts | None = None
        if shown is not None:
            before, after = ledger.text_of(shown.before), ledger.text_of(shown.after)
            if before is not None and after is not None:
                counts = diffs.counts(before, after)
        changed, stays = {change.path for change in changes}, {each.path for each in left}
        came_from = set(expanded(moved, changes).values())
        count = sum(change.path not in came_from or change.after is not None for change in files)
        many = f"{count:,} files" if count > 1 and deed.new_path is None else ""
        stay = f"{len(left):,} could not be deleted" if left and deed.command == "clear" else ""
        return Event(
            at_us=at_us,
            actor=deed.actor,
            command=deed.command,
            path=str(MemoryPath.of(path)),
            new_path=str(MemoryPath.of(deed.new_path)) if deed.new_path is not None else None,
            changes=changes,
            moved=moved,
            undoes=tuple(seq for seq, about in deed.undoes.items() if about & changed or not about & stays),
            added=counts.added if counts else None,
            removed=counts.removed if counts else None,
            note=", ".join(part for part in (deed.note, many, stay) if part),
        )


def _all_go(paths: Sequence[str], changes: Sequence[Change]) -> bool:
    return len(paths) == len({change.path for change in changes})


def _said_to_stay(paths: Sequence[str], restored: Restored) -> Restored:
    """Of what was to go, also a directory that stays because something came into it is said."""
    told = {*(change.path for change in restored.changes), *(left.path for left in restored.left)}
    stay = (Left(path, Why.NOT_WRITTEN, detail="something came into it just now") for path in paths if path not in told)
    return replace(restored, left=(*restored.left, *stay))


def _idle(arranged: Arranged, deed: Deed) -> str:
    if arranged.changes:
        return ""
    if left := arranged.left or (arranged.already if deed.undoes else []):
        return f"{deed.past}: {_told(left)}."
    return f"{deed.past}: it is so already. Nothing was written."


def _told(left: Sequence[Left]) -> str:
    """The first of what was left, and how many more."""
    more = len(left) - 1
    return left[0].sentence + (f", and {more:,} more" if more else "")


def _names(events: Sequence[Event]) -> str:
    if len(events) == 1:
        return f"#{events[0].seq} {events[0].command}"
    return f"{len(events):,} events, #{events[-1].seq} to #{events[0].seq}"


def _why(error: BaseException) -> str:
    match error:
        case LeavesRoot():
            return "it leads out of the memory folder by a link"
        case OSError() if error.strerror:
            return error.strerror.lower()
        case MemtuiError():
            return str(error).rstrip(".")
        case _:
            return "input/output error"


def _kind(change: Change) -> Kind | None:
    version = change.after or change.before
    return version.kind if version else None
