"""Execute commands, notice changes, and answer questions about what is and what was.

Synchronous: callers that must not wait use a thread. Every method may be called from any thread. What only looks is in
`memtui.engine.observer`.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Unpack

from memtui.core import commands
from memtui.core.approvals import Proposal
from memtui.core.errors import LockTimeout, MemtuiError, Refusal, StateUnusable, UnsettledChange
from memtui.core.events import NOT_CHANGES, Actor, Agent, Answer, Change, Event, Person, Version, format_actor_name
from memtui.core.history import ActionResult, PruneResult, RedactionResult
from memtui.core.messages import MessageKey, format_message
from memtui.core.paths import ROOT, MemoryPath, validate_relative_paths
from memtui.core.settings import Settings
from memtui.engine.apply import ChangeSet
from memtui.engine.claims import ClaimRecorder, parse_claim
from memtui.engine.context import EngineContext
from memtui.engine.executor import Executor, make_unconfirmed_answer
from memtui.engine.files import FileOperations
from memtui.engine.imported_history import ImportRecorder
from memtui.engine.observer import ExternalChangeDetector, Observer
from memtui.engine.pins import load_pins, make_pin_event
from memtui.engine.planner import Planner
from memtui.engine.redaction import Redactor
from memtui.engine.refusals import make_command_refusal, make_refusal
from memtui.engine.repair import Repairer
from memtui.engine.restore import ActionOptions, ActionRecord, Restorer
from memtui.journal.announcements import AnnouncementStore
from memtui.journal.record import Record
from memtui.journal.verify_report import RepairReport
from memtui.store.base import Store

_YOU = Person()


class Engine(Observer):
    """The one way to change a memory.

    Args:
        store: Where the bytes are.
        journal: Where events are recorded.
        settings: How commands behave.
        read_only: Whether every change is refused.
        now_ns: The clock, in nanoseconds since 1970.
        announced: Where agents announce their own writes; by default in memory.
    """

    _context: EngineContext

    def __init__(
        self,
        store: Store,
        journal: Record,
        *,
        settings: Settings | None = None,
        read_only: bool = False,
        now_ns: Callable[[], int] = time.time_ns,
        announced: AnnouncementStore | None = None,
    ) -> None:
        context = EngineContext(
            store, journal, settings or Settings(), announced or AnnouncementStore(None), now_ns, read_only
        )
        super().__init__(store, journal, context=context)
        self.store: Store = store
        self._restorer = Restorer(context, self.history)
        self._redactor = Redactor(context, self.history, self._restorer, self._losses)
        self._repairer = Repairer(context)
        self._detector = ExternalChangeDetector(context, self._redactor, self._repairer)
        self._executor = Executor(context, self._viewer, self._detector.follow_folder, self._describe_broken_links)
        self.files = FileOperations(context, self._restorer)
        """Putting files in order: moving, copying, deleting, making and protecting them."""
        self.claims = ClaimRecorder(context)
        self.imports = ImportRecorder(context)

    def close(self) -> None:
        """See `Observer.close`. What was written to the folder is on the disk afterwards, if the disk is well."""
        if self._calls.close():
            self._context.settler.close()
            self.store.close()
            self.journal.close()

    def _describe_broken_links(self, moves: Mapping[str, str]) -> str:
        from memtui.engine.link_notice import describe_broken_links  # noqa: PLC0415 - start-up: loads the graph

        return describe_broken_links(self.knowledge, self.get_head()[0], moves)

    # Commands

    def execute(
        self, command: object, *, actor: Actor, call_id: str | None = None, approved: tuple[Change, ...] | None = None
    ) -> Answer:
        """Validate a command, apply it, record it, and answer.

        Args:
            command: A mapping as the model sends it; anything else is refused like any wrong input.
            actor: Who asks.
            call_id: The model's id of the tool call.
            approved: The changes that a person approved of (see `propose`): only exactly these are made; `()` for none.

        Returns:
            The answer. A refusal is an answer too; nothing is raised for what a caller may get wrong.

        Raises:
            StaleApproval: The command would now do something else than was approved. Nothing was changed or recorded.
            MemoryClosed: The memory was closed.
        """
        call = self._executor.begin_call(command, actor, call_id, approved)
        with self._calls.track_change():
            return self._executor.execute(call)

    def propose(self, command: object, *, actor: Actor, call_id: str | None = None) -> Proposal | None:
        """What a command would change, for a person to see before it does. Nothing is changed or recorded.

        Returns:
            The change; `None` for a view and for a command that would be refused or would change nothing.

        Raises:
            MemoryClosed: The memory was closed.
        """
        call = self._executor.begin_call(command, actor, call_id)
        with self._calls.track():
            return self._executor.propose(call)

    def answer_instead(
        self,
        command: object,
        message: MessageKey,
        *,
        actor: Actor,
        call_id: str | None = None,
        is_error: bool = True,
        note: str = "",
        values: Mapping[str, object] = MappingProxyType({}),
    ) -> Answer:
        """Answer a command without carrying it out, such as one that a person declined, and record that.

        A command that is refused anyway is answered with its own refusal. `values` are the message's fields besides
        `verb` and `path`; `note` is for the log.

        Raises:
            MemoryClosed: The memory was closed.
        """
        call = self._executor.begin_call(command, actor, call_id)
        with self._calls.track_change():
            return self._executor.answer_instead(call, message, is_error=is_error, note=note, values=values)

    # Putting back

    def restore(
        self,
        wanted: Mapping[str, Version | None],
        *,
        expected: Mapping[str, Version | None] | None = None,
        texts: Mapping[str, bytes] | None = None,
        note: str = "",
        path: str | None = None,
        actor: Actor = _YOU,
        **options: Unpack[ActionOptions],
    ) -> ActionResult:
        """Have paths hold versions again, as one new event. Agents cannot ask for it.

        Args:
            wanted: The version that each path is to hold; `None` for nothing. Missing directories are made; a
                directory that is to go stays if something else is in it.
            expected: What must stand at a path now, where that matters.
            texts: Bytes by SHA-256 of versions that the record does not have, such as a text without one hunk.
            note: For the log, such as `as of #41`.
            path: What the event is about; by default the one path, or the directory that holds all of them.
            actor: Who does it.
            options: See `ActionOptions`.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
            ValueError: A path is not relative to the folder.
        """
        validate_relative_paths(wanted)
        action = ActionRecord("restore", actor, "Not restored", path=path, note=note)
        return self._restorer.run(ChangeSet(wanted, expected or {}, texts or {}), action, **options)

    def restore_directory(
        self, below: str, at: int, *, actor: Actor = _YOU, **options: Unpack[ActionOptions]
    ) -> ActionResult:
        """Have a directory (`""` for the whole folder) hold exactly what it held right after event number `at`.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed, ValueError: See `restore`.
        """
        if below:
            validate_relative_paths([below])
        self.reconcile([below] if below else None)
        head = self.get_head()[0]
        if not 0 <= at <= head:
            return ActionResult(problem=f"Not restored: there is no event {at}.")
        changes = self.history.diff_between(head, at, below)
        return self.restore(
            {change.path: change.after for change in changes},
            expected={change.path: change.before for change in changes},
            note=f"as of #{at}",
            path=below,
            actor=actor,
            **options,
        )

    def write(
        self,
        path: str,
        data: bytes,
        *,
        based_on: Version | None,
        rehearse: bool = False,
        note: str = "",
        actor: Actor = _YOU,
    ) -> ActionResult:
        """Save a text that a person edited, unless the memory changed since `based_on` (`None`: nothing stood there).

        A link that stays inside is written through.

        Returns:
            With `skipped` and `problem` where something else stands there now; then nothing was written.
        """
        validate_relative_paths([path])
        return self._context.run_action(
            "Not saved",
            rehearse,
            lambda: self._restorer.write(path, data, based_on=based_on, rehearse=rehearse, note=note, actor=actor),
        )

    def write_all(
        self, texts: Mapping[str, bytes], *, based_on: Mapping[str, bytes], note: str = "", actor: Actor = _YOU
    ) -> ActionResult:
        """Save the texts of several notes as one event: all of them, or none.

        Args:
            texts: The bytes of each note, by its path relative to the folder.
            based_on: What stands there, as far as the caller knows; where something else does, nothing is written.
            note: For the log, such as `4 mentions linked`.
            actor: Who does it.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
            ValueError: A path is not relative to the folder.
        """
        validate_relative_paths(texts)
        return self._context.run_action(
            "Not saved", False, lambda: self._restorer.write_all(texts, based_on=based_on, note=note, actor=actor)
        )

    def undo(self, seqs: Iterable[int], *, actor: Actor = _YOU, **options: Unpack[ActionOptions]) -> ActionResult:
        """Take events back together, as one new event, if what they left still stands. That of an `undo` is a `redo`.

        Args:
            seqs: The numbers of the events.
            actor: Who does it.
            options: See `ActionOptions`.
        """
        rehearse = options.get("rehearse", False)
        return self._context.run_action(
            "Not undone", rehearse, lambda: self._restorer.undo(seqs, actor=actor, **options)
        )

    def clear(self, *, actor: Actor) -> Answer:
        """Delete everything in the folder, hidden files too, as one event that `undo` takes back in one step.

        For the program's own use: no command that a model can send reaches it. The folder itself stays. Where something
        cannot be read, nothing is deleted; of a file that is too large to be read, the text is not kept.

        Raises:
            MemoryClosed: The memory was closed.
        """
        event = Event(at_us=self._context.get_now_us(), actor=actor, command="clear", path=str(ROOT))
        with self._calls.track_change():
            try:
                return self._clear(event)
            except UnsettledChange as error:
                return make_unconfirmed_answer(event, error)
            except (OSError, MemtuiError) as error:
                text = make_refusal(error, {"verb": "clear", "path": ROOT}).format_text(self.settings.messages)
                return self._executor.record(text, replace(event, answer=text, is_error=True), durable=False)

    def _clear(self, event: Event) -> Answer:
        words = self.settings.messages
        if self.read_only:
            raise Refusal(MessageKey.READ_ONLY, verb="clear", path=ROOT)
        self.reconcile()  # what went or moved unnoticed is told first
        restored = self._restorer.clear(actor=event.actor)
        done = restored.event
        if done is not None and (done.is_error or restored.problem):
            return Answer(format_message(MessageKey.UNCERTAIN, words, path=ROOT), True, done)
        if done is not None and restored.skipped:
            count, reason = len(restored.skipped), restored.skipped[0].detail or "changed just now"
            return Answer(
                format_message(MessageKey.CLEARED_PARTLY, words, path=ROOT, count=count, reason=reason), True, done
            )
        if done is not None:
            return Answer(format_message(MessageKey.CLEARED, words), False, done)
        if restored.skipped:  # what cannot be kept is not deleted: the same refusal as of deleting that alone
            command = commands.Delete(MemoryPath.from_relative(restored.skipped[0].path))
            try:
                Planner(self.store, self._context.make_ledger(event.at_us), self.settings, None).plan(command)
            except (OSError, MemtuiError) as error:
                raise make_command_refusal(error, command) from error
        if restored.skipped or restored.problem:
            raise LockTimeout("Another program keeps changing the files.")
        text = format_message(MessageKey.CLEARED, words)
        return self._executor.record(text, replace(event, answer=text, no_change=True))

    def undo_since(
        self,
        after: int,
        *,
        actor_name: str | None = None,
        session: str | None = None,
        actor: Actor = _YOU,
        **options: Unpack[ActionOptions],
    ) -> ActionResult:
        """Take back all changes after an event, except those that were taken back already.

        A change from outside that an agent claimed counts as that agent's. `actor_name` (as it is shown) and `session`
        (of an agent) select whose events; `None` selects all.
        """
        authors: dict[int, Actor] = {}
        for event in self.history.read_events(self.events(after)):
            if event.changes and event.command not in NOT_CHANGES:
                authors[event.seq] = event.actor
            elif (seq := parse_claim(event)) in authors:
                authors[seq] = event.actor
        seqs = [
            seq
            for seq, author in authors.items()
            if (actor_name is None or format_actor_name(author).casefold() == actor_name.casefold())
            and (session is None or (isinstance(author, Agent) and author.session == session))
            and self.history.find_undoing_event(seq) is None
        ]
        return self.undo(seqs, actor=actor, **options)

    def redact(
        self,
        *,
        event: int | None = None,
        path: str | None = None,
        match: str | None = None,
        version: str | None = None,
        reason: str = "",
        rehearse: bool = False,
        actor: Actor = _YOU,
    ) -> RedactionResult:
        """Remove a text from history and from the files for good.

        Events, hashes and the reason stay, and the chain still verifies. Answers and arguments of events that are
        about a removed version go with it. A match is replaced in the files by `[redacted]`; a file whose whole text
        goes is deleted.

        Args:
            event: The text that this event wrote.
            path: Every text that this path ever held, relative to the folder.
            match: Every text that holds this one.
            version: The text with this SHA-256, unless a file holds it now.
            reason: Why, for the record; never the text itself.
            rehearse: Whether it is only found out what would be removed.
            actor: Who does it.

        Raises:
            ValueError: Not exactly one of `event`, `path`, `match` and `version` is given.
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
        """
        if sum(each is not None for each in (event, path, match, version)) != 1:
            raise ValueError("give one of event, path, match and version")
        if self.read_only and not rehearse:
            return RedactionResult(problem="Nothing was removed: this session is read-only.")
        self.reconcile()
        with self._calls.track_change():
            return self._redactor.redact(
                event=event, path=path, match=match, version=version, reason=reason, rehearse=rehearse, actor=actor
            )

    def prune(
        self, *, older_than_us: int | None = None, max_bytes: int | None = None, rehearse: bool = False
    ) -> PruneResult:
        """Remove old texts from the record, as redactions by memtui. Events and the texts of present files stay.

        Args:
            older_than_us: Texts that no file holds since before this time, in microseconds since 1970.
            max_bytes: The oldest texts until those that are left take no more than this, as they are packed.
            rehearse: Whether it is only found out what would be removed.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be done.
        """
        if self.read_only and not rehearse:
            return PruneResult()
        with self._calls.track_change():
            return self._redactor.prune(older_than_us, max_bytes, rehearse=rehearse)

    def restore_loss(self, *, actor: Actor = _YOU) -> ActionResult:
        """Bring back all that went and is not there again. What stands there by now stays as it is."""
        loss = self.loss
        if loss is None:
            return ActionResult(problem="Not restored: nothing is missing.")
        changes = (*loss.others, *loss.changes)
        return self.restore(
            {change.path: change.before for change in changes},
            expected={change.path: change.after for change in changes},
            partial=True,
            note=f"deleted at #{loss.first}" + (f" to #{loss.last}" if loss.last > loss.first else ""),
            actor=actor,
        )

    def dismiss_loss(self, until: int | None = None, *, actor: Actor = _YOU) -> None:
        """Report the loss up to an event (`MassLoss.last`; `None` for all until now) no more: the person knows."""
        with self._calls.track_change():
            self._losses.dismiss(until, actor, self._context.get_now_us())
            self._calls.mark_changed()

    def update_pins(
        self, change: Callable[[tuple[str, ...]], Iterable[str]], *, actor: Actor = _YOU
    ) -> tuple[str, ...]:
        """Replace the pinned paths by `change(pinned)`, and record that; returns them.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: They cannot be kept.
        """
        with self._calls.track_change(), self._context.begin_transaction():
            before = load_pins(self)
            pins = tuple(dict.fromkeys(change(before)))
            if pins != before:
                seq, at_us = self.journal.get_head()[0], self._context.get_now_us()
                self.journal.append_events([make_pin_event(before, pins, seq, actor, at_us)])
                self._calls.mark_changed()
        return pins

    def repair(self) -> RepairReport:
        """Make anew what the journal keeps beside its chain, from the chain; then look at every file again.

        What was made anew is recorded. A file that the chain knows otherwise is recorded as changed from outside.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be done.
        """
        if self.read_only:
            raise StateUnusable("Nothing was repaired: this session is read-only.")
        with self._calls.track_change():
            report = self._repairer.repair()
        self.reconcile()
        return report

    def set_metadata(self, name: str, value: str) -> None:
        """Keep a small value under a name, outside the record; what guards memories is set by events: `ValueError`."""
        with self._calls.track():
            self.journal.set_metadata(name, value)
