"""Execute commands, notice changes, and answer questions about what is and what was.

Synchronous: callers that must not wait use a thread. Every method may be called from any thread.
"""

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Self

from memtui.core import commands
from memtui.core.actors import shown_name
from memtui.core.asking import Proposal
from memtui.core.errors import (
    Busy,
    ChangedMeanwhile,
    Closed,
    FolderMissing,
    MemtuiError,
    Refusal,
    StateUnusable,
    Uncertain,
)
from memtui.core.events import NEVER_TAKEN_BACK, Actor, Agent, Answer, Change, Event, Person, Version, sha256
from memtui.core.losses import Loss
from memtui.core.messages import Message, quoted, say
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.redaction import Pruned, Redacted
from memtui.core.restoring import Restored
from memtui.core.settings import Settings
from memtui.core.snapshot import Entry, Kind
from memtui.engine import reconcile
from memtui.engine.arranging import Arrangement
from memtui.engine.faults import fault_of, reason_of, refusal_of, what_of
from memtui.engine.forgetting import Forgetter
from memtui.engine.history import FOUND_UNTIL, History
from memtui.engine.ledger import Ledger
from memtui.engine.losses import LossWatch
from memtui.engine.plans import Plan, Planner
from memtui.engine.recovery import Recovery
from memtui.engine.restoring import Deed, Restorer
from memtui.engine.viewing import Seen, Viewer
from memtui.journal.announced import Announcement, Announcements
from memtui.journal.sqlite import Journal, Known, Totals
from memtui.store.base import Outdated, Store, Transaction

_ATTEMPTS = 8
"""How often a change is planned anew when somebody outside is faster."""

_LOOKED_AT = "looked_at"
_PAGE = 256
"""Names that are looked up at a time."""
_LATE_US = 600_000_000
"""For how long an agent may still say that a change was its own."""
_DEVICE = "device"
_PRUNED = "pruned"
_DAY_US = 86_400_000_000
_SPARED_DAYS = 7
"""What stood in the folder within this time is not removed for its bytes alone: somebody may want it back."""
_YOU = Person()
_READ_ONLY = "this session is read-only. Nothing was written."


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of `execute`, while it lasts."""

    raw: object
    actor: Actor
    call_id: str | None
    started_ns: int
    at_us: int
    command: commands.Command | None = None
    aliases: tuple[str, ...] = ()
    approved: tuple[Change, ...] | None = None

    def event(self, *, arguments: bool = True) -> Event:
        """An event with all that is known of the call so far.

        Args:
            arguments: Whether it holds the call's arguments; making JSON of a whole note takes its time.
        """
        recorded = commands.recorded(self.raw)
        name = recorded.get("command")
        event = Event(
            at_us=self.at_us,
            actor=self.actor,
            command=name if isinstance(name, str) else "?",
            path=quoted(recorded.get("path", recorded.get("old_path", ""))),
            duration_us=(time.perf_counter_ns() - self.started_ns) // 1_000,
            call_id=self.call_id,
            aliases=self.aliases,
            arguments=commands.as_json(recorded) if arguments else None,
        )
        if self.command is None:
            return event
        path = self.command.old_path if isinstance(self.command, commands.Rename) else self.command.path
        new_path = str(self.command.new_path) if isinstance(self.command, commands.Rename) else None
        return replace(event, path=str(path), new_path=new_path)


class Engine:
    """The one way to a memory.

    Args:
        store: Where the bytes are.
        journal: Where events are recorded.
        settings: How commands behave.
        read_only: Whether every change is refused.
        now_ns: Tells the time, in nanoseconds since 1970.
        announced: Where agents say what they are about to write by themselves; by default in memory.
    """

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
        self.store = store
        self.journal = journal
        self.settings = settings or Settings()
        self.read_only = read_only
        self._now_ns = now_ns
        self._announced = announced or Announcements(None)
        self._subscribers: dict[object, Callable[[], None]] = {}
        self._here = threading.local()  # of each thread: its calls in flight, and whether it has news
        self._calls = threading.Condition()
        self._calls_in_flight = 0
        self._closed = False
        self._all_found = False
        self._viewer = Viewer(store, self.settings)
        self._recovery = Recovery(store, journal, self.settings)
        self._losses = LossWatch(journal)
        self.history = History(journal, self._in_flight)
        """What was: every version, the folder at any moment, and who wrote which line."""
        self._restorer = Restorer(
            store,
            journal,
            self.history,
            now_us=lambda: self._now_ns() // 1_000,
            writing=self._writing,
            ledger=lambda at_us: self._ledger(at_us, first_look=not self.is_looked_at),
            recorded=self._note_news,
        )
        self._forgetter = Forgetter(
            journal,
            self.history,
            self._restorer,
            now_us=lambda: self._now_ns() // 1_000,
            writing=self._writing,
            recorded=self._note_news,
            lost=self._losses.current,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of store and journal. Nothing has to be saved: what was answered is on the disk.

        Calls that are under way in other threads come to their end first; a look for changes ends early.
        """
        with self._calls:
            if self._closed:
                return
            self._closed = True
            own = getattr(self._here, "calls", 0)  # a subscriber may close the memory
            self._calls.wait_for(lambda: self._calls_in_flight <= own)
        self.store.close()
        self.journal.close()

    @property
    def is_looked_at(self) -> bool:
        """Whether all that was in the folder at first has been recorded."""
        if not self._all_found:
            self._all_found = self.journal.note(_LOOKED_AT) is not None
        return self._all_found

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
        call = self._call(command, actor, call_id, approved)
        try:
            with self._in_flight():
                return self._execute(call)
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
        call = self._call(command, actor, call_id)
        with self._in_flight():
            try:
                judged = commands.judge(command).command
                if isinstance(judged, commands.View) or self.read_only:
                    return None
                totals = self.journal.totals() if isinstance(actor, Agent) else None
                ledger = self._ledger(call.at_us)
                plan = Planner(self.store, ledger, self.settings, totals).plan(judged)
                versions = [each for change in plan.changes for each in (change.before, change.after)]
                hashes = {each.sha256 for each in versions if each and each.kind is Kind.FILE and each.sha256}
                texts = {sha: text for sha in hashes if (text := self._text(sha, ledger)) is not None}
            except (OSError, MemtuiError, Outdated):
                return None  # it is refused, or done at another moment: `execute` says it under the lock
        if not plan.changes:
            return None
        event = replace(call, command=judged).event(arguments=False)
        raw = dict(command) if isinstance(command, Mapping) else {}
        return Proposal(
            actor, event.command, event.path, event.new_path, call_id, plan.changes, texts, plan.answer, raw
        )

    def _text(self, sha: str, ledger: Ledger) -> bytes | None:
        text = ledger.texts.get(sha)
        return self.journal.text(sha) if text is None else text

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
        call = self._call(command, actor, call_id)
        try:
            with self._in_flight():
                try:
                    judged = commands.judge(command)
                except Refusal as refusal:
                    return self._refused(call, refusal)
                call = replace(call, command=judged.command, aliases=judged.aliases)
                text = say(message, self.settings.messages, **{**what_of(judged.command), **values})
                event = replace(call.event(), answer=text, is_error=is_error, no_change=not is_error, note=note)
                return self._recorded(text, event)
        finally:
            self._tell()

    def _call(
        self, command: object, actor: Actor, call_id: str | None, approved: tuple[Change, ...] | None = None
    ) -> _Call:
        return _Call(command, actor, call_id, time.perf_counter_ns(), self._now_ns() // 1_000, approved=approved)

    def _execute(self, call: _Call) -> Answer:
        command = call.raw
        try:
            judged = commands.judge(command)
        except Refusal as refusal:
            return self._refused(call, refusal)
        call = replace(call, command=judged.command, aliases=judged.aliases)
        try:
            if isinstance(judged.command, commands.View):
                return self._view(call, judged.command)
            return self._change(call, judged.command)
        except ChangedMeanwhile:
            raise  # whoever approved it is asked anew
        except (OSError, MemtuiError) as error:
            return self._refused(call, refusal_of(error, judged.command))

    def answer_to_view(self, path: MemoryPath, *, view_range: object = None) -> str:
        """What an agent that views a path would be answered now; nobody is told, and nothing is recorded."""
        try:
            with self._in_flight():
                return self._viewer.view(commands.View(path, view_range), as_agent=True)[0]
        except Refusal as refusal:
            return refusal.text(self.settings.messages)
        except (OSError, MemtuiError) as error:
            return refusal_of(error, commands.View(path)).text(self.settings.messages)

    def _view(self, call: _Call, command: commands.View) -> Answer:
        text, content, note = self._viewer.view(command, as_agent=isinstance(call.actor, Agent))
        event = replace(call.event(), note=note)
        texts: dict[str, bytes] = {}
        if content is None:
            event = replace(event, answer=text)
        else:
            known = self._known(content.node.path)
            if known and known.stamp == content.node.stamp:
                version = known.version
            else:
                version = Version(Kind.FILE, sha256(content.data), len(content.data))
                texts[version.sha256 or ""] = content.data
            event = replace(event, viewed=version)
        return self._recorded(text, event, texts=texts, durable=False)

    def _known(self, path: str) -> Known | None:
        try:
            return self.journal.known(path)
        except StateUnusable:
            return None  # a view is answered all the same

    def _change(self, call: _Call, command: commands.Change) -> Answer:
        if self.read_only:
            raise Refusal(Message.READ_ONLY, **what_of(command))
        with self._writing() as transaction:
            totals = self.journal.totals() if isinstance(call.actor, Agent) else None
            ledger = self._ledger(call.at_us, first_look=not self.is_looked_at)
            for _ in range(_ATTEMPTS):
                try:
                    plan = Planner(self.store, ledger, self.settings, totals).plan(command)
                    if call.approved is not None and plan.changes != call.approved:
                        raise ChangedMeanwhile(f"{what_of(command)['path']} has changed since that was shown.")
                    return self._carry_out(call, plan, ledger, transaction)
                except Outdated:
                    ledger.reset()
                except Refusal as refusal:
                    # Under the lock still: what was seen from outside may not be recorded over a later command.
                    return self._refused(call, refusal, ledger)
        raise Busy("Another program keeps changing the file.")

    def _carry_out(self, call: _Call, plan: Plan, ledger: Ledger, transaction: Transaction) -> Answer:
        event = replace(
            call.event(arguments=not isinstance(call.command, commands.Create)),  # its text is the version
            answer=plan.answer,
            changes=plan.changes,
            no_change=not plan.changes,
            added=plan.counts.added if plan.counts else None,
            removed=plan.counts.removed if plan.counts else None,
        )
        if not plan.changes:
            return self._recorded(plan.answer, event, ledger)
        try:
            ours = {change.after.sha256 for change in plan.changes if change.after is not None}
            # What somebody else wrote may stand nowhere else once we have changed it.
            intent = self.journal.intend(event, ledger.texts, durable=not ours.issuperset(ledger.texts))
        except StateUnusable as error:
            assert call.command is not None
            raise Refusal(Message.UNRECORDED, **what_of(call.command), reason=reason_of(error)) from error
        certain = True
        try:
            known = plan.apply(transaction)
        except Uncertain:
            certain = False
            try:
                known = self._recovery.looked_at_after(plan.changes)
            except (OSError, MemtuiError):
                return _uncertain(event)
        except Exception:
            self.journal.drop(intent)  # not so for an interrupt, which may come after the move: recovery looks
            raise
        if not certain:
            text = say(Message.UNCERTAIN, path=event.path)
            event = replace(event, answer=text, is_error=True, note="uncertain")
        event = replace(event, duration_us=(time.perf_counter_ns() - call.started_ns) // 1_000)
        try:
            recorded = self.journal.append(
                [*ledger.events(), event],
                known={**ledger.known, **known},
                intent=intent,  # which holds the texts
            )
        except StateUnusable:
            return _uncertain(event)
        self._note_news()
        return Answer(event.answer or "", event.is_error, recorded[-1])

    def _refused(self, call: _Call, refusal: Refusal, ledger: Ledger | None = None) -> Answer:
        text = refusal.text(self.settings.messages)
        event = replace(call.event(), answer=text, is_error=True)
        return self._recorded(text, event, ledger, durable=False)

    def _recorded(
        self,
        text: str,
        event: Event,
        ledger: Ledger | None = None,
        *,
        texts: Mapping[str, bytes] | None = None,
        durable: bool = True,
    ) -> Answer:
        """Record an event that changes nothing, and answer. A journal that fails does not take the answer away."""
        events = [*(ledger.events() if ledger else ()), event]
        kept = {**(ledger.texts if ledger else {}), **(texts or {})}
        try:
            event = self.journal.append(events, texts=kept, known=ledger.known if ledger else None, durable=durable)[-1]
        except StateUnusable:
            return Answer(text, event.is_error, replace(event, note="not recorded"))
        self._note_news()
        return Answer(text, event.is_error, event)

    # Changes from outside

    def reconcile(self, paths: Iterable[str] | None = None, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Look for changes that nobody told us about, and record them.

        Args:
            paths: Where to look, relative to the folder; `None` for everywhere.
            stop: Asked between batches; what is settled by then stays settled.

        Returns:
            How many events were recorded.

        Raises:
            Busy, FolderMissing, StateUnusable: It could not be looked, and nothing was recorded.
        """
        try:
            with self._in_flight():
                return self._reconcile(paths, stop)
        except OSError as error:
            raise StateUnusable(f"Changes cannot be looked for: {reason_of(error)}.") from error
        finally:
            self._tell()

    def _reconcile(self, paths: Iterable[str] | None, stop: Callable[[], bool]) -> int:
        first_look = not self.is_looked_at
        if paths is None:
            self._insist_on_mounted()
        if not self.read_only and self.journal.intents():  # of a folder only looked at, their writers may live
            with self._writing():
                pass
        count = 0
        finished = True
        limit = self.settings.read_limit
        found = reconcile.suspects(self.store, self.journal, paths, limit=limit, stop=lambda: self._closed)
        for batch in reconcile.batches(found):
            if self._closed or stop():
                finished = False
                break
            with self._writing():
                ledger = self._ledger(self._now_ns() // 1_000, first_look=first_look)
                reconcile.settle(self.store, ledger, batch)
                events = ledger.events()
                if events or ledger.known:
                    self.journal.append(events, texts=ledger.texts, known=ledger.known, durable=False)
            count += len(events)
            if events:
                self._note_news()
                self._tell()
        if first_look and finished and not self._closed and paths is None:
            self.journal.set_note(FOUND_UNTIL, str(self.journal.head()[0]))
            self.journal.set_note(_LOOKED_AT, str(self._now_ns() // 1_000))
            self._note_news()
        if finished and paths is None and not self._closed:
            self._prune_daily()
        return count

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
        _insist_on_plain([path])
        now_us = self._now_ns() // 1_000
        hashes = () if sha256 is None else (sha256,)
        try:
            self._announced.add(Announcement(path, actor, call_id, hashes, note, now_us, until_us))
        except OSError as error:
            raise StateUnusable(f"What was announced cannot be kept: {reason_of(error)}.") from error

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
        _insist_on_plain([path])
        try:
            with self._in_flight(), self._writing():
                event = self._told_late(path, actor, call_id, hashes, note)
                if event is None or self.read_only:
                    return None
                recorded = self.journal.append([event], durable=False)[-1]
                self._note_news()
                return recorded
        except OSError as error:
            raise StateUnusable(f"It cannot be recorded: {reason_of(error)}.") from error
        finally:
            self._tell()

    def _told_late(self, path: str, actor: Agent, call_id: str, hashes: Collection[str], note: str) -> Event | None:
        now_us = self._now_ns() // 1_000
        last = next(iter(self.journal.events_of(path, limit=1)), None)
        if last is None or not last.is_outside or last.command not in ("created", "modified"):
            return None
        text = next((change.after for change in last.changes if change.path == path), None)
        after = self.journal.events(last.seq, limit=_PAGE)
        if text is None or text.sha256 not in hashes or now_us - last.at_us > _LATE_US:
            return None
        if any(each.call_id == call_id for each in after):
            return None
        words = f"#{last.seq} was its {note}, found before it was announced"
        place = str(MemoryPath.of(path))
        return Event(
            at_us=now_us, actor=actor, command="claimed", path=place, no_change=True, call_id=call_id, note=words
        )

    def _insist_on_mounted(self) -> None:
        """Refuse to take an empty mount point for a folder whose files are all gone.

        Raises:
            FolderMissing: The folder is empty, held files before, and lies on another device now.
        """
        device, noted = self.store.device, self.journal.note(_DEVICE)
        if device == noted:
            return
        if noted is not None and self.journal.totals().files and next(self.store.names(), None) is None:
            raise FolderMissing(
                f"{self.store.title} is empty and lies on another disk than before: it seems that its own is not "
                "mounted. Nothing was recorded. If it is meant to be empty, put a file there."
            )
        if not self.read_only and self.journal.totals().files:
            self.journal.set_note(_DEVICE, device)

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
            actor: Who does it.

        Raises:
            Busy, FolderMissing, StateUnusable, Closed: It could not be tried.
            ValueError: A path is none that is relative to the folder.
        """
        _insist_on_plain(wanted)
        arrangement = Arrangement(wanted, expected or {}, texts or {})
        deed = Deed("restore", actor, "Not restored", path=path, note=note)
        return self._put_back(
            deed.past, rehearse, lambda: self._restorer.arrange(arrangement, deed, partial=partial, rehearse=rehearse)
        )

    def restore_below(
        self, below: str, at: int, *, partial: bool = False, rehearse: bool = False, actor: Actor = _YOU
    ) -> Restored:
        """Have a directory, or the whole folder, hold exactly what it held right after an event.

        Args:
            below: The directory, relative to the folder; `""` for the folder.
            at: The event's number.
            partial: See `restore`.
            rehearse: See `restore`.
            actor: Who does it.

        Raises:
            Busy, FolderMissing, StateUnusable, Closed: It could not be tried.
            ValueError: A path is none that is relative to the folder.
        """
        if below:
            _insist_on_plain([below])
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
        _insist_on_plain([path])
        return self._put_back(
            "Not saved",
            rehearse,
            lambda: self._restorer.write(path, data, based_on=based_on, rehearse=rehearse, note=note, actor=actor),
        )

    def undo(
        self, seqs: Iterable[int], *, partial: bool = False, rehearse: bool = False, actor: Actor = _YOU
    ) -> Restored:
        """Take events back together, as one new event. Taking back an `undo` is recorded as `redo`.

        Args:
            seqs: Their numbers. An event is taken back only if what it left still stands.
            partial: See `restore`.
            rehearse: See `restore`.
            actor: Who does it.
        """
        wanted = list(seqs)
        return self._put_back(
            "Not undone",
            rehearse,
            lambda: self._restorer.undo(wanted, partial=partial, rehearse=rehearse, actor=actor),
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
        event = Event(at_us=self._now_ns() // 1_000, actor=actor, command="clear", path=str(ROOT))
        try:
            with self._in_flight():
                try:
                    return self._clear(event)
                except (OSError, MemtuiError) as error:
                    text = fault_of(error, {"verb": "clear", "path": ROOT}).text(self.settings.messages)
                    return self._recorded(text, replace(event, answer=text, is_error=True), durable=False)
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
        return self._recorded(text, replace(event, answer=text, no_change=True))

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

        Args:
            after: The number of the event before the first one.
            actor_name: Whose events, by the name that is shown; `None` for anybody's.
            session: Those of which session of an agent; `None` for any.
            partial: See `restore`.
            rehearse: See `restore`.
            actor: Who takes it back.
        """
        seqs = [
            event.seq
            for event in self.events(after)
            if event.changes
            and event.command not in NEVER_TAKEN_BACK | {"undo", "redo"}
            and (actor_name is None or shown_name(event.actor).casefold() == actor_name.casefold())
            and (session is None or (isinstance(event.actor, Agent) and event.actor.session == session))
            and self.history.undone_by(event.seq) is None
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

    def _prune_daily(self) -> None:
        """Keep to the settings, once a day."""
        days, size = self.settings.keep_days, self.settings.keep_bytes
        now_us = self._now_ns() // 1_000
        last = int(self.journal.note(_PRUNED) or 0)
        if self.read_only or not (days or size) or last <= now_us < last + _DAY_US:
            return
        self._forgetter.prune(
            now_us - days * _DAY_US if days else None,
            size or None,
            rehearse=False,
            spared_since_us=now_us - _SPARED_DAYS * _DAY_US,
        )
        self.journal.set_note(_PRUNED, str(now_us))

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

    @property
    def loss(self) -> Loss | None:
        """Much that went at once and is not back, unless the person said that it is well so.

        Raises:
            StateUnusable, Closed: It cannot be known.
        """
        with self._in_flight():
            return self._losses.current()

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

    # Looking

    def head(self) -> tuple[int, str]:
        """The number of the last event, and the hash of the chain up to it."""
        with self._in_flight():
            return self.journal.head()

    def totals(self) -> Totals:
        """How many files there are, as far as is known, and their bytes."""
        with self._in_flight():
            return self.journal.totals()

    def note(self, name: str) -> str | None:
        """A small value that was kept under a name."""
        with self._in_flight():
            return self.journal.note(name)

    def set_note(self, name: str, value: str) -> None:
        """Keep a small value under a name, outside the record."""
        with self._in_flight():
            self.journal.set_note(name, value)

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events after a number, in order, as far as there are any by now."""
        while True:
            with self._in_flight():
                page = self.journal.events(after, limit=1_000)
            yield from page
            if len(page) < 1_000:
                return
            after = page[-1].seq

    def names(self) -> Iterator[Entry]:
        """Everything in the folder, not looked at more closely than its name."""
        names = self.store.names()
        while True:
            with self._in_flight():
                page = list(islice(names, _PAGE))
            yield from page
            if len(page) < _PAGE:
                return

    def entry(self, path: str) -> Entry | None:
        """One thing in the folder, looked at; `None` if it cannot be."""
        try:
            with self._in_flight():
                node = self.store.node(MemoryPath.of(path))
        except (MemtuiError, OSError):
            return None
        return Entry(path, node.kind, node.size, node.mtime_ns) if node else None

    def look(self, path: str) -> Seen:
        """What stands at a path, for a person."""
        with self._in_flight():
            return self._viewer.look(MemoryPath.of(path))

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Be told that something was recorded here.

        The callback runs in whichever thread recorded it, holding no lock: it may execute commands. What it raises
        goes to `sys.excepthook`, and changes no answer.

        Returns:
            Ends the subscription; once is enough, twice does no harm.
        """
        number = object()
        self._subscribers[number] = callback
        return lambda: self._subscribers.pop(number, None) and None

    def _note_news(self) -> None:
        """There is something to tell, once this thread holds no lock any more."""
        self._here.has_news = True

    def _tell(self) -> None:
        if not getattr(self._here, "has_news", False):
            return
        self._here.has_news = False
        for callback in tuple(self._subscribers.values()):
            try:
                callback()
            except Exception:  # a subscriber's fault is its own: what was recorded stands, and is answered
                sys.excepthook(*sys.exc_info())

    @contextmanager
    def _in_flight(self) -> Iterator[None]:
        """For the time of a call: the memory is not closed under it.

        Raises:
            Closed: The memory was closed.
        """
        with self._calls:
            if self._closed and not getattr(self._here, "calls", 0):  # one that is under way comes to its end
                raise Closed("The memory is closed.")
            self._calls_in_flight += 1
            self._here.calls = getattr(self._here, "calls", 0) + 1
        try:
            yield
        finally:
            with self._calls:
                self._calls_in_flight -= 1
                self._here.calls -= 1
                self._calls.notify_all()

    def _ledger(self, now_us: int, *, first_look: bool = False) -> Ledger:
        return Ledger(
            self.store,
            self.journal,
            now_us,
            max_read_bytes=self.settings.read_limit,
            first_look=first_look,
            announced=self._announced,
        )


def _insist_on_plain(paths: Iterable[str]) -> None:
    """Refuse what is no path relative to the folder: only commands of agents are judged on their way in.

    Raises:
        ValueError: One of them is none.
    """
    for path in paths:
        if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
            raise ValueError(f"not a path relative to the folder: {path!r}")


def _uncertain(event: Event) -> Answer:
    """The answer where a change stands that could not be recorded: its intent is kept, and the next writer does."""
    text = say(Message.UNCERTAIN, path=event.path)
    return Answer(text, True, replace(event, answer=text, is_error=True, note="uncertain"))
