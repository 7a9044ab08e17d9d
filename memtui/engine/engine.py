"""Execute commands, notice changes, and answer questions about what is and what was.

Synchronous: callers that must not wait use a thread. Every method may be called from any thread. What only looks is in
`memtui.engine.observing`.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from memtui.core import commands
from memtui.core.actors import shown_name
from memtui.core.asking import Proposal
from memtui.core.errors import Busy, MemtuiError, Refusal
from memtui.core.events import NEVER_TAKEN_BACK, Actor, Agent, Answer, Change, Event, Person, Version
from memtui.core.messages import Message, say
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.redaction import Pruned, Redacted
from memtui.core.restoring import Restored
from memtui.core.settings import Settings
from memtui.core.told import Told
from memtui.engine.announcing import Announcer, claimed_in
from memtui.engine.arranging import Arrangement, Progress
from memtui.engine.executing import Executor
from memtui.engine.faults import fault_of, reason_of, refusal_of
from memtui.engine.files import Files, insist_on_plain
from memtui.engine.forgetting import Forgetter
from memtui.engine.observing import Observer
from memtui.engine.plans import Planner
from memtui.engine.protecting import Protection
from memtui.engine.recovery import Recovery
from memtui.engine.restoring import Deed, Restorer
from memtui.engine.telling import Teller
from memtui.journal.announced import Announcements
from memtui.journal.sqlite import Journal
from memtui.store.base import Store, Transaction

_YOU = Person()
_READ_ONLY = "this session is read-only. Nothing was written."


class Engine(Observer):
    """The one way to change a memory.

    Args:
        store: Where the bytes are.
        journal: Where events are recorded.
        settings: How commands behave.
        read_only: Whether every change is refused.
        now_ns: Tells the time, in nanoseconds since 1970.
        announced: Where agents say what they are about to write by themselves; by default in memory.
    """

    _may_record: ClassVar[bool] = True

    def __init__(
        self,
        store: Store,
        journal: Journal,
        *,
        settings: Settings | None = None,
        read_only: bool = False,
        now_ns: Callable[[], int] = time.time_ns,
        announced: Announcements | None = None,
    ) -> None:
        super().__init__(store, journal, settings=settings, now_ns=now_ns, announced=announced)
        self.store: Store = store
        self.read_only = read_only
        self._recovery = Recovery(store, journal, self.settings)
        self._protection: Protection = Protection(
            store, journal, now_us=self._now_us, writing=self._writing, recorded=self._note_news
        )
        self._executor = Executor(
            store,
            journal,
            self.settings,
            viewer=self._viewer,
            recovery=self._recovery,
            protection=self._protection,
            read_only=lambda: self.read_only,
            now_us=self._now_us,
            writing=self._writing,
            ledger=self._ledger,
            recorded=self._note_news,
        )
        self._announcer = Announcer(
            self._announced,
            journal,
            self._protection,
            read_only=lambda: self.read_only,
            now_us=self._now_us,
            writing=self._writing,
            recorded=self._note_news,
        )
        self._teller = Teller(
            journal,
            read_only=lambda: self.read_only,
            now_us=self._now_us,
            writing=self._writing,
            recorded=self._note_news,
            limit=self.settings.read_limit,
        )
        self._restorer = Restorer(
            store,
            journal,
            self.history,
            now_us=self._now_us,
            writing=self._writing,
            ledger=self._ledger,
            recorded=self._note_news,
            protection=self._protection,
        )
        self.files = Files(self._restorer, store, self._protection, put_back=self._put_back, in_flight=self._in_flight)
        """Putting files in order: moving, copying, deleting, making and protecting them."""
        self._forgetter = Forgetter(
            journal,
            self.history,
            self._restorer,
            now_us=self._now_us,
            writing=self._writing,
            recorded=self._note_news,
            lost=self._losses.current,
        )
        self._noticer = self._new_noticer(self._forgetter)

    # Commands

    def execute(
        self,
        command: object,
        *,
        actor: Actor,
        call_id: str | None = None,
        approved: tuple[Change, ...] | None = None,
    ) -> Answer:
        """Judge a command, apply it, record it, and answer.

        Args:
            command: A mapping as the model sends it; anything else is refused like any wrong input.
            actor: Who asks.
            call_id: The model's id of the tool call.
            approved: The changes that a person approved of (see `propose`): only exactly these are made; `()` for none
                at all.

        Returns:
            The answer. A refusal is an answer too; nothing is raised for what a caller may get wrong.

        Raises:
            ChangedMeanwhile: The command would do something else by now than what was approved. Nothing was changed
                or recorded: propose it again.
            Closed: The memory was closed.
        """
        call = self._executor.call(command, actor, call_id, approved)
        try:
            with self._in_flight():
                return self._executor.execute(call)
        finally:
            self._tell()

    def propose(self, command: object, *, actor: Actor, call_id: str | None = None) -> Proposal | None:
        """What a command would change, for a person to see before it does. Nothing is changed or recorded.

        Args:
            command: As for `execute`.
            actor: Who asks.
            call_id: The model's id of the tool call.

        Returns:
            The change; `None` where there is nothing to ask about: a view, a command that would be refused or that
            would change nothing. `execute` says which.

        Raises:
            Closed: The memory was closed.
        """
        call = self._executor.call(command, actor, call_id)
        with self._in_flight():
            return self._executor.propose(call)

    def answer_instead(
        self,
        command: object,
        message: Message,
        *,
        actor: Actor,
        call_id: str | None = None,
        is_error: bool = True,
        note: str = "",
        values: Mapping[str, object] = MappingProxyType({}),
    ) -> Answer:
        """Answer a command without carrying it out, such as one that a person declined, and record that.

        Args:
            command: As for `execute`. One that is refused anyway is answered with its own refusal.
            message: What is answered.
            actor: Who asks.
            call_id: The model's id of the tool call.
            is_error: Whether the answer is a refusal.
            note: For the log.
            values: What the message's fields hold, besides `verb` and `path`.

        Raises:
            Closed: The memory was closed.
        """
        call = self._executor.call(command, actor, call_id)
        try:
            with self._in_flight():
                return self._executor.answer_instead(call, message, is_error=is_error, note=note, values=values)
        finally:
            self._tell()

    # Changes from outside

    def announce(
        self,
        path: str,
        *,
        actor: Agent,
        call_id: str,
        sha256: str | None,
        note: str,
        until_us: int,
    ) -> None:
        """An agent is about to write a file with its own tools: once that is found, it is recorded as the agent's.

        Nothing is recorded now. What is found to be anything else, or later, stays a change from outside.

        Args:
            path: Relative to the folder.
            actor: Who.
            call_id: The model's id of the tool call.
            sha256: Of the text that the file will hold, in hexadecimal; `None` where that is not known.
            note: For the log, such as the tool's name.
            until_us: How long it may take until it is found, in microseconds since 1970.

        Raises:
            StateUnusable: It cannot be kept.
        """
        insist_on_plain([path])
        self._announcer.announce(path, actor=actor, call_id=call_id, sha256=sha256, note=note, until_us=until_us)

    def tell_late(self, path: str, *, actor: Agent, call_id: str, hashes: Collection[str], note: str) -> Event | None:
        """Somebody says that a change was an agent's that was found and recorded as one from outside a moment ago.

        What is recorded stays as it is; who says what is recorded after it, as an event that changed nothing.

        Args:
            path: Relative to the folder.
            actor: Whose change it was.
            call_id: The model's id of the tool call.
            hashes: SHA-256 of what the file was to hold, any of these.
            note: What it was, such as the tool's name.

        Returns:
            The event; `None` where there is no such change, or where it is known already.

        Raises:
            Busy, FolderMissing, StateUnusable, Closed: It could not be tried.
        """
        insist_on_plain([path])
        try:
            with self._in_flight():
                return self._announcer.tell_late(path, actor=actor, call_id=call_id, hashes=hashes, note=note)
        finally:
            self._tell()

    def not_imported(self, told: Iterable[Told]) -> list[Told]:
        """Those changes that session files tell of and that were not recorded by `record_told` yet.

        Raises:
            StateUnusable, Closed: It could not be found out.
        """
        with self._in_flight():
            return self._teller.news(told)

    def record_told(
        self, told: Sequence[Told], *, progress: Callable[[int, int], bool] = lambda _done, _of: True
    ) -> list[Event]:
        """Record what session files tell of changes that were made before memtui saw them, with their texts.

        Each becomes an event that changed nothing, behind all that is recorded: what is recorded stays as it is. Its
        text can be looked at and brought back like any other. One that was recorded so before is passed over.

        Args:
            told: In any order.
            progress: Told how many of how many are done; `False` stops, and what is recorded by then stays.

        Returns:
            The events.

        Raises:
            Busy, FolderMissing, StateUnusable, Closed: It could not be tried, or is read-only.
        """
        try:
            with self._in_flight():
                return self._teller.record(told, progress)
        finally:
            self._tell()

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        """The writer lock, with everything settled that dead processes had begun."""
        with self.store.writing(self.settings.lock_seconds) as transaction:
            # Of a folder that is only looked at the journal is a copy, and those who write may live.
            if not self.read_only and self._recovery.recover(transaction):
                self._note_news()
            yield transaction

    # Putting back

    def restore(
        self,
        wanted: Mapping[str, Version | None],
        *,
        expected: Mapping[str, Version | None] | None = None,
        texts: Mapping[str, bytes] | None = None,
        partial: bool = False,
        rehearse: bool = False,
        note: str = "",
        path: str | None = None,
        progress: Progress | None = None,
        actor: Actor = _YOU,
    ) -> Restored:
        """Have paths hold versions again, as one new event. Agents cannot ask for it.

        Args:
            wanted: The version that each path is to hold; `None` for nothing. Missing directories are made; a
                directory that is to go stays if something else is in it.
            expected: What must stand at a path now, where that matters.
            texts: Bytes by SHA-256 of versions that the record does not have, such as a text without one hunk.
            partial: Whether what can be put back is, if not all can; else nothing is.
            rehearse: Whether it is only found out what would be changed.
            note: For the log, such as `as of #41`.
            path: What the event is about; by default the one path, or the directory that holds all of them.
            progress: Told how many of how many steps are done; `False` stops, and what is done by then stays done.
            actor: Who does it.

        Raises:
            Busy, FolderMissing, StateUnusable, Closed: It could not be tried.
            ValueError: A path is none that is relative to the folder.
        """
        insist_on_plain(wanted)
        arrangement = Arrangement(wanted, expected or {}, texts or {})
        deed = Deed("restore", actor, "Not restored", path=path, note=note)
        return self._put_back(
            deed.past,
            rehearse,
            lambda: self._restorer.arrange(arrangement, deed, partial=partial, rehearse=rehearse, progress=progress),
        )

    def restore_below(
        self,
        below: str,
        at: int,
        *,
        partial: bool = False,
        rehearse: bool = False,
        progress: Progress | None = None,
        actor: Actor = _YOU,
    ) -> Restored:
        """Have a directory, or the whole folder, hold exactly what it held right after an event.

        Args:
            below: The directory, relative to the folder; `""` for the folder.
            at: The event's number.
            partial: See `restore`.
            rehearse: See `restore`.
            progress: See `restore`.
            actor: Who does it.

        Raises:
            Busy, FolderMissing, StateUnusable, Closed: It could not be tried.
            ValueError: A path is none that is relative to the folder.
        """
        if below:
            insist_on_plain([below])
        self.reconcile([below] if below else None)
        if not 0 <= at <= self.head()[0]:
            return Restored(problem=f"Not restored: there is no event {at}.")
        changes = self.history.between(self.head()[0], at, below)
        return self.restore(
            {change.path: change.after for change in changes},
            expected={change.path: change.before for change in changes},
            partial=partial,
            rehearse=rehearse,
            note=f"as of #{at}",
            path=below,
            progress=progress,
            actor=actor,
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
    ) -> Restored:
        """Save a text that a person edited, unless the memory changed meanwhile.

        Args:
            path: Relative to the folder; a link that stays inside is written through.
            data: The whole text.
            based_on: The version that was edited; `None` for a path where nothing stood.
            rehearse: See `restore`.
            note: For the log.
            actor: Who does it.

        Returns:
            With `left` and `problem` where something else stands there now; then nothing was written.
        """
        insist_on_plain([path])
        return self._put_back(
            "Not saved",
            rehearse,
            lambda: self._restorer.write(path, data, based_on=based_on, rehearse=rehearse, note=note, actor=actor),
        )

    def undo(
        self,
        seqs: Iterable[int],
        *,
        partial: bool = False,
        rehearse: bool = False,
        progress: Progress | None = None,
        actor: Actor = _YOU,
    ) -> Restored:
        """Take events back together, as one new event. Taking back an `undo` is recorded as `redo`.

        Args:
            seqs: Their numbers. An event is taken back only if what it left still stands.
            partial: See `restore`.
            rehearse: See `restore`.
            progress: See `restore`.
            actor: Who does it.
        """
        wanted = list(seqs)
        return self._put_back(
            "Not undone",
            rehearse,
            lambda: self._restorer.undo(wanted, partial=partial, rehearse=rehearse, progress=progress, actor=actor),
        )

    def clear(self, *, actor: Actor) -> Answer:
        """Delete everything in the folder, hidden files too, as one event that `undo` takes back in one step.

        It is for the program's own use: no command that a model can send reaches it, and nobody is asked. The folder
        itself stays. Where something cannot be kept, such as a file that is too large to be read, nothing is deleted.

        Args:
            actor: Who does it.

        Raises:
            Closed: The memory was closed.
        """
        event = Event(at_us=self._now_us(), actor=actor, command="clear", path=str(ROOT))
        try:
            with self._in_flight():
                try:
                    return self._clear(event)
                except (OSError, MemtuiError) as error:
                    text = fault_of(error, {"verb": "clear", "path": ROOT}).text(self.settings.messages)
                    return self._executor.record(text, replace(event, answer=text, is_error=True), durable=False)
        finally:
            self._tell()

    def _clear(self, event: Event) -> Answer:
        words = self.settings.messages
        if self.read_only:
            raise Refusal(Message.READ_ONLY, verb="clear", path=ROOT)
        self.reconcile()  # what went or moved unnoticed is told first
        restored = self._restorer.clear(actor=event.actor)
        done = restored.event
        if done is not None and (done.is_error or restored.problem):
            return Answer(say(Message.UNCERTAIN, words, path=ROOT), True, done)
        if done is not None and restored.left:
            count, reason = len(restored.left), restored.left[0].detail or "changed just now"
            return Answer(say(Message.CLEARED_PARTLY, words, path=ROOT, count=count, reason=reason), True, done)
        if done is not None:
            return Answer(say(Message.CLEARED, words), False, done)
        if restored.left:  # what cannot be kept is not deleted: the same refusal as of deleting that alone
            command = commands.Delete(MemoryPath.of(restored.left[0].path))
            try:
                Planner(self.store, self._ledger(event.at_us), self.settings, None).plan(command)
            except (OSError, MemtuiError) as error:
                raise refusal_of(error, command) from error
        if restored.left or restored.problem:
            raise Busy("Another program keeps changing the files.")
        text = say(Message.CLEARED, words)
        return self._executor.record(text, replace(event, answer=text, no_change=True))

    def undo_since(
        self,
        after: int,
        *,
        actor_name: str | None = None,
        session: str | None = None,
        partial: bool = False,
        rehearse: bool = False,
        actor: Actor = _YOU,
    ) -> Restored:
        """Take back all that somebody did since, except what was taken back already.

        What was found, and then said by an agent to be its own, is that agent's.

        Args:
            after: The number of the event before the first one.
            actor_name: Whose events, by the name that is shown; `None` for anybody's.
            session: Those of which session of an agent; `None` for any.
            partial: See `restore`.
            rehearse: See `restore`.
            actor: Who takes it back.
        """
        by: dict[int, Actor] = {}
        for event in self.events(after):
            if event.changes and event.command not in NEVER_TAKEN_BACK | {"undo", "redo"}:
                by[event.seq] = event.actor
            elif (seq := claimed_in(event)) in by:
                by[seq] = event.actor
        seqs = [
            seq
            for seq, who in by.items()
            if (actor_name is None or shown_name(who).casefold() == actor_name.casefold())
            and (session is None or (isinstance(who, Agent) and who.session == session))
            and self.history.undone_by(seq) is None
        ]
        return self.undo(seqs, partial=partial, rehearse=rehearse, actor=actor)

    def redact(
        self,
        *,
        event: int | None = None,
        path: str | None = None,
        match: str | None = None,
        reason: str = "",
        rehearse: bool = False,
        actor: Actor = _YOU,
    ) -> Redacted:
        """Remove a text that must go, from history and from the files. It cannot be taken back.

        Events, hashes and the reason stay, and the chain still verifies. Answers and arguments of events that are
        about a removed version go with it. A match is replaced in the files by `[redacted]`; a file whose whole text
        goes is deleted.

        Args:
            event: The text that this event wrote.
            path: Every text that this path ever held, relative to the folder.
            match: Every text that holds this one.
            reason: Why, for the record; never the text itself.
            rehearse: Whether it is only found out what would be removed.
            actor: Who does it.

        Raises:
            ValueError: Not exactly one of `event`, `path` and `match` is given.
            Busy, FolderMissing, StateUnusable, Closed: It could not be tried.
        """
        if sum(each is not None for each in (event, path, match)) != 1:
            raise ValueError("give one of event, path and match")
        if self.read_only and not rehearse:
            return Redacted(problem="Nothing was removed: this session is read-only.")
        self.reconcile()
        try:
            with self._in_flight():
                return self._forgetter.redact(
                    event=event, path=path, match=match, reason=reason, rehearse=rehearse, actor=actor
                )
        finally:
            self._tell()

    def prune(
        self, *, older_than_us: int | None = None, max_bytes: int | None = None, rehearse: bool = False
    ) -> Pruned:
        """Remove old texts from the record, as redactions by memtui. Events stay, and so does every text that stands
        in the folder now.

        Args:
            older_than_us: Texts that stand nowhere since before this time, in microseconds since 1970.
            max_bytes: The oldest texts until those that are left take no more than this, as they are packed.
            rehearse: Whether it is only found out what would be removed.

        Raises:
            Busy, FolderMissing, StateUnusable, Closed: It could not be done.
        """
        if self.read_only and not rehearse:
            return Pruned()
        try:
            with self._in_flight():
                return self._forgetter.prune(older_than_us, max_bytes, rehearse=rehearse)
        finally:
            self._tell()

    def _put_back(self, past: str, rehearse: bool, act: Callable[[], Restored]) -> Restored:
        if self.read_only and not rehearse:
            return Restored(problem=f"{past}: {_READ_ONLY}")
        try:
            with self._in_flight():
                return act()
        except OSError as error:  # before the first step: what comes after it is told path by path
            return Restored(problem=f"{past}: {reason_of(error)}. Nothing was written.")
        finally:
            self._tell()

    def restore_loss(self, *, actor: Actor = _YOU) -> Restored:
        """Bring back all that went and is not there again. What stands there by now stays as it is."""
        loss = self.loss
        if loss is None:
            return Restored(problem="Not restored: nothing is missing any more.")
        changes = (*loss.others, *loss.changes)
        return self.restore(
            {change.path: change.before for change in changes},
            expected={change.path: change.after for change in changes},
            partial=True,
            note=f"what went at #{loss.first}" + (f" to #{loss.last}" if loss.last > loss.first else ""),
            actor=actor,
        )

    def dismiss_loss(self, until: int | None = None) -> None:
        """It is well so: what went is not spoken of any more.

        Args:
            until: The number of the last event of the loss that was seen (`Loss.last`); `None` for all until now.
        """
        with self._in_flight():
            self._losses.dismiss(until)

    def set_note(self, name: str, value: str) -> None:
        """Keep a small value under a name, outside the record."""
        with self._in_flight():
            self.journal.set_note(name, value)
