"""Putting back: versions, deleted notes, folders as they were, and whatever an event did.

A person's doing. None of it can be asked for by a command that `execute` takes, so no agent reaches it. Each is one
new event; nothing that was recorded is ever changed by it.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypedDict, Unpack

from memtui.core import diffs
from memtui.core.errors import (
    ChangeRolledBack,
    LockTimeout,
    OutcomeUnknown,
    Refusal,
    StateUnusable,
    SymlinkEscape,
    UnsettledChange,
)
from memtui.core.events import NEVER_TAKEN_BACK, Actor, Change, EntryKind, Event, Version, sha256, squash_changes
from memtui.core.history import ActionResult, SkippedPath, SkipReason, describe_skipped
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT, MemoryPath
from memtui.engine.apply import ChangeSet, PreparedChangeSet, Progress
from memtui.engine.context import EngineContext
from memtui.engine.durability import needs_sync
from memtui.engine.history import JournalHistory
from memtui.engine.ledger import Ledger, add_attributes
from memtui.engine.lineage import find_moves
from memtui.engine.move_apply import MovePlan
from memtui.engine.moves import expand_moves, find_common_directory
from memtui.engine.planner import decode_text
from memtui.engine.recovery import encode_steps
from memtui.engine.refusals import explain_error
from memtui.scan.secret_policy import describe_new_secrets
from memtui.store.base import ConcurrentChange, DirectoriesLeft, Transaction

# Inverting moves, so that the history goes along.


def find_top_moves(event: Event) -> list[tuple[str, str]]:
    """Of what an event moved, what did not move along with its directory: `(old, new)`."""
    if event.moved:
        return list(event.moved)
    moved = find_moves(event)
    found = []
    for new, old in moved.items():
        above_new, _, name_new = new.rpartition("/")
        above_old, _, name_old = old.rpartition("/")
        if name_new != name_old or moved.get(above_new) != above_old:
            found.append((old, new))
    return found


def has_replaced(event: Event) -> bool:
    """Whether something that did not move away stood where an event moved something to, or the other way round."""
    moved = find_moves(event)
    sources = set(moved.values())
    return any(
        (change.path in moved and change.before is not None and change.path not in sources)
        or (change.path in sources and change.after is not None and change.path not in moved)
        for change in event.changes
    )


def invert_moves(event: Event, moved_tops: Sequence[tuple[str, str]]) -> ChangeSet:
    """Move back what an event moved, and take away the directories that it made for it."""
    moved = find_moves(event)
    sources = set(moved.values())
    changes = [change for change in squash_changes(event.changes) if change.path in moved or change.path not in sources]
    stood = {change.path: change.before for change in event.changes}
    came = {change.path: change.after for change in changes}
    rewritten = {old: stood[old] for new, old in moved.items() if stood.get(old) != came.get(new)}
    return ChangeSet(
        {change.path: change.before for change in changes if change.path not in moved} | rewritten,
        came,
        moves=tuple((new, old) for old, new in moved_tops),
    )


_ATTEMPTS = 8
"""How often it is planned anew when somebody outside is faster."""

ChangeSetSource = ChangeSet | Callable[[Ledger], ChangeSet]
"""What is wanted, or how it is found out what is wanted once the lock is held."""


class ActionOptions(TypedDict, total=False):
    """The options of every action that a person takes.

    Attributes:
        partial: Whether a part is done where not all can be; else nothing is, but for what went and is not kept: that
            keeps nothing else away.
        rehearse: Whether it is only found out what would be changed.
        progress: Told how many of how many steps are done; `False` stops, and what is done by then stays done.
    """

    partial: bool
    rehearse: bool
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """What a person does, for the record.

    Attributes:
        failure_prefix: Begins the sentence of a failure: `Not restored`.
        path: Relative to the folder; `None` for the one path or the common directory of what is changed.
        new_path: Where a move ends, relative to the folder.
        undoes: The events that are taken back, and the paths that each changed.
        call_id: What the caller knows it by.
    """

    command: str
    actor: Actor
    failure_prefix: str
    path: str | None = None
    new_path: str | None = None
    note: str = ""
    undoes: Mapping[int, frozenset[str]] = field(default_factory=dict)
    call_id: str | None = None


class Restorer:
    def __init__(self, context: EngineContext, history: JournalHistory) -> None:
        self._context = context
        self._history = history

    def write(
        self, path: str, data: bytes, *, based_on: Version | None, rehearse: bool, note: str, actor: Actor
    ) -> ActionResult:
        place = MemoryPath.from_relative(path)
        try:
            node = self._context.store.get_node(place, follow=True)
        except (OSError, SymlinkEscape) as error:
            return ActionResult(problem=f"Not saved: {explain_error(error)}. Nothing was written.")
        real = node.path if node is not None else path
        version = Version(EntryKind.FILE, sha256(data), len(data))
        change_set = ChangeSet({real: version}, {real: based_on}, {version.sha256 or "": data})
        found = "" if rehearse else self._describe_new_secrets(based_on, data)
        action = ActionRecord("write", actor, "Not saved", path=path, note=", ".join(filter(None, (note, found))))
        return self.apply_change_set(change_set, action, rehearse=rehearse)

    def write_all(
        self, texts: Mapping[str, bytes], *, based_on: Mapping[str, bytes], note: str, actor: Actor
    ) -> ActionResult:
        wanted = {path: Version(EntryKind.FILE, sha256(data), len(data)) for path, data in texts.items()}
        expected = {path: Version(EntryKind.FILE, sha256(data), len(data)) for path, data in based_on.items()}
        by_hash = {version.sha256 or "": texts[path] for path, version in wanted.items()}
        return self.apply_change_set(
            ChangeSet(wanted, expected, by_hash), ActionRecord("write", actor, "Not saved", note=note)
        )

    def _describe_new_secrets(self, based_on: Version | None, data: bytes) -> str:
        was = None
        if based_on is not None and based_on.kind is EntryKind.FILE and based_on.sha256:
            was = self._context.journal.get_text(based_on.sha256)
        return describe_new_secrets(decode_text(was or b""), decode_text(data))

    def undo(self, seqs: Iterable[int], *, actor: Actor, **options: Unpack[ActionOptions]) -> ActionResult:
        events: list[Event] = []
        for seq in sorted(set(seqs), reverse=True):
            event = self._context.journal.get_event(seq)
            if event is None:
                return ActionResult(problem=f"Not undone: there is no event {seq}.")
            if (by := self._history.find_undoing_event(seq)) is not None:
                return ActionResult(problem=f"Not undone: event {seq} was undone already, by event {by}.")
            if event.changes and event.command not in NEVER_TAKEN_BACK:
                events.append(event)
        events = list(self._history.read_events(events)) or events
        if not events:
            return ActionResult(problem="Not undone: that event changed nothing.")
        return self._undo_events(events, actor, options)

    def _undo_events(self, events: Sequence[Event], actor: Actor, options: ActionOptions) -> ActionResult:
        """Take events back together: the newest first, and each changed something."""
        command = "redo" if all(event.command == "undo" for event in events) else "undo"
        action = ActionRecord(
            command,
            actor,
            "Not undone" if command == "undo" else "Not redone",
            note=_format_events(events),
            undoes={event.seq: frozenset(each.path for each in event.changes) for event in reversed(events)},
        )
        if len(events) == 1 and (moved := find_top_moves(events[0])) and not has_replaced(events[0]):
            change_set = invert_moves(events[0], moved)
            if len(moved) == 1:
                action = replace(action, path=moved[0][1], new_path=moved[0][0])
        else:
            change_set = self._find_previous_versions(events)
        return self.apply_change_set(change_set, action, **options)

    def _find_previous_versions(self, events: Iterable[Event]) -> ChangeSet:
        """What stood before events, path by path, provided that nobody else came between them."""
        previous: dict[str, Version | None] = {}
        expected: dict[str, Version | None] = {}
        between: dict[str, SkippedPath] = {}
        for event in events:
            for change in squash_changes(event.changes):
                path, before, after = change.path, change.before, change.after
                if path in previous and previous[path] != after and path not in between:
                    between[path] = SkippedPath(path, SkipReason.CHANGED, self._find_event_since(path, event.seq))
                expected.setdefault(path, after)
                previous[path] = before
        return ChangeSet(previous, expected, known_conflicts=tuple(between.values()), reverts_modes=True)

    def _find_event_since(self, path: str, seq: int) -> Event | None:
        """The first event after a number that touched a path."""
        later = next((number for number in self._context.journal.get_touching_seqs(path) if number > seq), None)
        return None if later is None else self._context.journal.get_event(later)

    def run(self, source: ChangeSetSource, action: ActionRecord, **options: Unpack[ActionOptions]) -> ActionResult:
        """Have paths hold versions, as a call of its own: a read-only session and faults are told as a problem."""
        return self._context.run_action(
            action.failure_prefix,
            options.get("rehearse", False),
            lambda: self.apply_change_set(source, action, **options),
        )

    def apply_change_set(
        self,
        source: ChangeSetSource,
        action: ActionRecord,
        *,
        partial: bool = False,
        rehearse: bool = False,
        progress: Progress | None = None,
    ) -> ActionResult:
        """Have paths hold versions, within a call; raises `LockTimeout`, `FolderMissing` or `StateUnusable`."""
        try:
            return self._try_change_set(source, action, partial, rehearse, progress)
        except OutcomeUnknown as error:
            return ActionResult(problem=f"{error} History tells, once the server is back.")
        except UnsettledChange:
            words = f"{action.failure_prefix}, or only in part: the disk failed in the middle."
            return ActionResult(problem=f"{words} The rest is settled once the disk can be written.")
        except ChangeRolledBack as error:
            return ActionResult(problem=f"{action.failure_prefix}: {error} Nothing was changed.")

    def _try_change_set(
        self, source: ChangeSetSource, action: ActionRecord, partial: bool, rehearse: bool, progress: Progress | None
    ) -> ActionResult:
        at_us = self._context.get_now_us()
        with self._context.begin_transaction() as transaction:
            for _ in range(_ATTEMPTS):
                ledger = self._context.make_ledger(at_us)
                change_set = source if isinstance(source, ChangeSet) else source(ledger)
                prepared = PreparedChangeSet(change_set, self._context.store, ledger, self._context.journal, progress)
                if prepared.is_refused and not partial:
                    self._record(ledger)
                    problem = f"{action.failure_prefix}: {describe_skipped(prepared.skipped)}."
                    return ActionResult((), tuple(prepared.skipped), problem=problem)
                if (forbidden := self._check_protection(prepared, action)) is not None:
                    return forbidden
                if rehearse or not prepared.changes:
                    self._record(ledger)
                    problem = _explain_no_change(prepared, action)
                    return ActionResult(prepared.changes, tuple(prepared.skipped), problem=problem)
                try:
                    return self._apply_prepared(prepared, ledger, action, at_us, transaction)
                except ConcurrentChange:
                    continue
                except OSError as error:
                    problem = f"{action.failure_prefix}: {explain_error(error)}. Nothing was changed."
                    return ActionResult((), tuple(prepared.skipped), problem=problem)
        return ActionResult(
            problem=f"{action.failure_prefix}: another program keeps changing the files. Nothing was written."
        )

    def _check_protection(self, prepared: PreparedChangeSet, action: ActionRecord) -> ActionResult | None:
        try:
            values = {"verb": action.command, "path": ROOT}
            self._context.protection.check_changes(action.actor, prepared.changes, values)
        except Refusal as refusal:
            path = str(refusal.values["protected"]).removeprefix(str(ROOT)).removeprefix("/")
            skipped = SkippedPath(path, SkipReason.PROTECTED)
            return ActionResult((), (skipped,), problem=f"{action.failure_prefix}: {skipped.sentence}.")
        return None

    def clear(self, *, actor: Actor) -> ActionResult:
        """Delete everything, as one event: all of it or nothing, unless the system refuses in the middle.

        Returns:
            With `skipped` and no event where something cannot be kept; with neither where there is nothing to delete.

        Raises:
            Refusal: An agent asked, and something is protected.
            UnsettledChange: A part was deleted; what is recorded of it is settled later.
            LockTimeout, FolderMissing, StateUnusable, OSError: It could not be done, and nothing was deleted.
        """
        at_us, action = self._context.get_now_us(), ActionRecord("clear", actor, "Not cleared", path="")
        with self._context.begin_transaction() as transaction:
            for _ in range(_ATTEMPTS):
                ledger = self._context.make_ledger(at_us)
                standing = [node.path for node in self._context.store.scan(ROOT, complete=True)]
                change_set = ChangeSet(dict.fromkeys(standing), others=True)
                prepared = PreparedChangeSet(change_set, self._context.store, ledger, self._context.journal)
                self._context.protection.check_changes(actor, prepared.changes, {"verb": "clear", "path": ROOT})
                if prepared.skipped or not prepared.changes:
                    self._record(ledger)
                    return ActionResult((), tuple(prepared.skipped))
                if not _is_deleting_all(standing, prepared.changes):
                    continue  # a directory could not be looked into just now, or something came into it
                try:
                    restored = self._apply_prepared(prepared, ledger, action, at_us, transaction)
                except ConcurrentChange:
                    continue
                return restored if _is_deleting_all(standing, restored.changes) else add_remaining(standing, restored)
        raise LockTimeout("Another program keeps changing the files.")

    def _apply_prepared(
        self, prepared: PreparedChangeSet, ledger: Ledger, action: ActionRecord, at_us: int, transaction: Transaction
    ) -> ActionResult:
        context, relocation = self._context, prepared.relocation
        store, journal = context.store, context.journal
        if relocation.is_entangled and not store.is_synced:
            context.settler.settle()  # by its steps things are told apart, and not by their texts
        relocation.prepare(transaction)
        event = self._make_event(action, prepared.changes, ledger, at_us, prepared.skipped, relocation, relocation.tops)
        if relocation.is_entangled:
            event = replace(event, arguments=encode_steps(relocation.steps))
        protection = context.protection
        texts, found = {**ledger.texts, **prepared.new_texts}, ledger.make_events()
        intent = journal.add_intent(event, texts, found=found, known=ledger.known)
        try:
            done = prepared.apply(transaction)
            if not store.is_synced and (relocation.moves or needs_sync(done.changes)):
                try:
                    store.sync_paths([change.path for change in done.changes])
                except OSError:
                    done.certain = False
        except DirectoriesLeft:
            raise  # recovery removes them by the intent
        except (ConcurrentChange, OSError):
            journal.drop_intent(intent.id)
            raise
        except UnsettledChange:
            stranded = protection.make_stranded_event(at_us, [(move.old, move.new) for move in relocation.moves])
            if stranded:
                with contextlib.suppress(StateUnusable):
                    journal.append_events(stranded)  # it is settled later, and an agent may be faster
            raise
        skipped = (*prepared.skipped, *done.skipped)
        if not done.changes:
            journal.drop_intent(intent.id)
            why = describe_skipped(skipped) if skipped else "a file was added to the directory just now, so it stays"
            return ActionResult((), skipped, problem=f"{action.failure_prefix}: {why}.")
        try:  # from here on it is done, whatever becomes of the record
            changes = add_attributes(done.changes, done.known)
            event = self._make_event(action, changes, ledger, at_us, skipped, relocation, done.moved)
            if not done.certain:
                event = replace(event, is_error=True, note="uncertain")
            event = replace(event, duration_us=max(self._context.get_now_us() - at_us, 0))
            event = protection.note_moves(event, relocation.locations.items())
            recorded = journal.append_events([event], known=done.known, intent=intent.id)[-1]
        except StateUnusable as error:
            words = f"Changed, but the journal cannot be written ({error}). The change is recorded once it can."
            return ActionResult(tuple(done.changes), skipped, replace(event, note="not recorded"), problem=words)
        context.settler.note(sum(change.after.size for change in changes if change.after is not None))
        context.calls.mark_changed()
        words = "" if done.certain else "Changed, but the disk did not confirm it. Check the files before you go on."
        return ActionResult(tuple(done.changes), skipped, recorded, problem=words)

    def _record(self, ledger: Ledger) -> None:
        """Record what was noticed while looking: it may be overwritten before anybody looks again."""
        found = ledger.make_events()
        if found or ledger.known:
            self._context.journal.append_events(found, texts=ledger.texts, known=ledger.known, durable=False)
        if found:
            self._context.calls.mark_changed()

    def _make_event(
        self,
        action: ActionRecord,
        changes: tuple[Change, ...],
        ledger: Ledger,
        at_us: int,
        skipped: Sequence[SkippedPath],
        relocation: MovePlan,
        moved: tuple[tuple[str, str], ...],
    ) -> Event:
        if len(moved) == 1 and action.new_path is None:
            action = replace(action, path=moved[0][0], new_path=moved[0][1])  # of many, only this one could be moved
        sources = expand_moves(moved, changes)
        stood = {change.path: change.before for change in changes}
        is_plain = all(change.after == stood.get(sources.get(change.path, ""), change.after) for change in changes)
        if len(moved) == 1 and not relocation.is_entangled and is_plain:
            moved = ()  # the event's own path and new path tell it
        files = [change for change in changes if _get_kind(change) is not EntryKind.DIRECTORY]
        path = action.path
        if path is None:
            path = files[0].path if len(files) == 1 else find_common_directory([each.path for each in files or changes])
        counts = _count_lines(files[0], ledger) if len(files) == 1 else None
        changed, stays = {change.path for change in changes}, {each.path for each in skipped}
        return Event(
            at_us=at_us,
            actor=action.actor,
            command=action.command,
            path=str(MemoryPath.from_relative(path)),
            new_path=str(MemoryPath.from_relative(action.new_path)) if action.new_path is not None else None,
            changes=changes,
            moved=moved,
            undoes=tuple(seq for seq, about in action.undoes.items() if about & changed or not about & stays),
            call_id=action.call_id,
            added=counts.added if counts else None,
            removed=counts.removed if counts else None,
            note=_format_note(action, set(sources.values()), files, len(skipped)),
        )


def _count_lines(change: Change, ledger: Ledger) -> diffs.LineCounts | None:
    """The lines that a change of one file added and removed, where both texts are known."""
    before, after = ledger.get_text(change.before), ledger.get_text(change.after)
    return None if before is None or after is None else diffs.count_changes(before, after)


def _format_note(action: ActionRecord, sources: Collection[str], files: Iterable[Change], skipped: int) -> str:
    count = sum(change.path not in sources or change.after is not None for change in files)
    many = f"{count:,} files" if count > 1 and action.new_path is None else ""
    stay = f"{skipped:,} could not be deleted" if skipped and action.command == "clear" else ""
    return ", ".join(part for part in (action.note, many, stay) if part)


def _is_deleting_all(paths: Sequence[str], changes: Sequence[Change]) -> bool:
    return len(paths) == len({change.path for change in changes})


def add_remaining(paths: Iterable[str], restored: ActionResult) -> ActionResult:
    """Report also a directory that was to go and stays because something came into it."""
    reported = {*(change.path for change in restored.changes), *(skipped.path for skipped in restored.skipped)}
    stay = (
        SkippedPath(path, SkipReason.NOT_WRITTEN, detail="a file was added to it just now")
        for path in paths
        if path not in reported
    )
    return replace(restored, skipped=(*restored.skipped, *stay))


def _explain_no_change(prepared: PreparedChangeSet, action: ActionRecord) -> str:
    if prepared.changes:
        return ""
    if skipped := prepared.skipped or (prepared.already if action.undoes else []):
        return f"{action.failure_prefix}: {describe_skipped(skipped)}."
    return f"{action.failure_prefix}: already the same. Nothing was written."


def _format_events(events: Sequence[Event]) -> str:
    if len(events) == 1:
        return f"#{events[0].seq} {events[0].command}"
    return f"{len(events):,} events, #{events[-1].seq} to #{events[0].seq}"


def _get_kind(change: Change) -> EntryKind | None:
    version = change.after or change.before
    return version.kind if version else None
