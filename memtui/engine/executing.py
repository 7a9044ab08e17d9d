"""Carrying out commands: judged, planned, applied and recorded, or refused in the contract's words."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from memtui.core import commands
from memtui.core.asking import Proposal
from memtui.core.errors import Busy, ChangedMeanwhile, MemtuiError, Refusal, StateUnusable, Uncertain
from memtui.core.events import Actor, Agent, Answer, Change, Event, Version, sha256
from memtui.core.messages import Message, quoted, say
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine.faults import reason_of, refusal_of, what_of
from memtui.engine.ledger import Ledger
from memtui.engine.plans import Plan, Planner
from memtui.engine.protecting import Protection
from memtui.engine.recovery import Recovery
from memtui.engine.viewing import Viewer
from memtui.journal.sqlite import Journal, Known
from memtui.store.base import Outdated, Store, Transaction

_ATTEMPTS = 8
"""How often a change is planned anew when somebody outside is faster."""


@dataclass(frozen=True, slots=True)
class Call:
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


class Executor:
    """Carries out commands. Whoever calls it keeps the memory open meanwhile.

    Args:
        store: Where the bytes are.
        journal: Where events are recorded.
        settings: How commands behave.
        viewer: Answers views.
        recovery: Looks at what an uncertain change has left.
        protection: What no agent may change.
        read_only: Whether every change is refused.
        now_us: Tells the time, in microseconds since 1970.
        writing: Takes the writer lock.
        ledger: Makes a ledger at a time.
        recorded: Told once something was recorded.
    """

    def __init__(
        self,
        store: Store,
        journal: Journal,
        settings: Settings,
        *,
        viewer: Viewer,
        recovery: Recovery,
        protection: Protection,
        read_only: Callable[[], bool],
        now_us: Callable[[], int],
        writing: Callable[[], AbstractContextManager[Transaction]],
        ledger: Callable[[int], Ledger],
        recorded: Callable[[], None],
    ) -> None:
        self._store = store
        self._journal = journal
        self._settings = settings
        self._viewer = viewer
        self._recovery = recovery
        self._protection = protection
        self._read_only = read_only
        self._now_us = now_us
        self._writing = writing
        self._ledger = ledger
        self._note_news = recorded

    def call(
        self, command: object, actor: Actor, call_id: str | None, approved: tuple[Change, ...] | None = None
    ) -> Call:
        """A call that begins now. Making it raises nothing, whatever the command is."""
        return Call(command, actor, call_id, time.perf_counter_ns(), self._now_us(), approved=approved)

    def execute(self, call: Call) -> Answer:
        """See `Engine.execute`."""
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

    def propose(self, call: Call) -> Proposal | None:
        """See `Engine.propose`."""
        try:
            judged = commands.judge(call.raw).command
            if isinstance(judged, commands.View) or self._read_only():
                return None
            self._protection.insist(call.actor, judged)
            totals = self._journal.totals() if isinstance(call.actor, Agent) else None
            ledger = self._ledger(call.at_us)
            plan = Planner(self._store, ledger, self._settings, totals).plan(judged)
            self._protection.insist_on(call.actor, plan.changes, what_of(judged))
            versions = [each for change in plan.changes for each in (change.before, change.after)]
            hashes = {each.sha256 for each in versions if each and each.kind is Kind.FILE and each.sha256}
            texts = {sha: text for sha in hashes if (text := self._text(sha, ledger)) is not None}
        except (OSError, MemtuiError, Outdated):
            return None  # it is refused, or done at another moment: `execute` says it under the lock
        if not plan.changes:
            return None
        event = replace(call, command=judged).event(arguments=False)
        raw = dict(call.raw) if isinstance(call.raw, Mapping) else {}
        return Proposal(
            call.actor, event.command, event.path, event.new_path, call.call_id, plan.changes, texts, plan.answer, raw
        )

    def _text(self, sha: str, ledger: Ledger) -> bytes | None:
        text = ledger.texts.get(sha)
        return self._journal.text(sha) if text is None else text

    def answer_instead(
        self,
        call: Call,
        message: Message,
        *,
        is_error: bool,
        note: str,
        values: Mapping[str, object],
    ) -> Answer:
        """See `Engine.answer_instead`."""
        try:
            judged = commands.judge(call.raw)
        except Refusal as refusal:
            return self._refused(call, refusal)
        call = replace(call, command=judged.command, aliases=judged.aliases)
        text = say(message, self._settings.messages, **{**what_of(judged.command), **values})
        event = replace(call.event(), answer=text, is_error=is_error, no_change=not is_error, note=note)
        return self.record(text, event)

    def _view(self, call: Call, command: commands.View) -> Answer:
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
        return self.record(text, event, texts=texts, durable=False)

    def _known(self, path: str) -> Known | None:
        try:
            return self._journal.known(path)
        except StateUnusable:
            return None  # a view is answered all the same

    def _change(self, call: Call, command: commands.Change) -> Answer:
        if self._read_only():
            raise Refusal(Message.READ_ONLY, **what_of(command))
        with self._writing() as transaction:
            totals = self._journal.totals() if isinstance(call.actor, Agent) else None
            ledger = self._ledger(call.at_us)
            for _ in range(_ATTEMPTS):
                try:
                    self._protection.insist(call.actor, command)
                    plan = Planner(self._store, ledger, self._settings, totals).plan(command)
                    self._protection.insist_on(call.actor, plan.changes, what_of(command))
                    if call.approved is not None and plan.changes != call.approved:
                        raise ChangedMeanwhile(f"{what_of(command)['path']} has changed since that was shown.")
                    return self._carry_out(call, plan, ledger, transaction)
                except Outdated:
                    ledger.reset()
                except Refusal as refusal:
                    # Under the lock still: what was seen from outside may not be recorded over a later command.
                    return self._refused(call, refusal, ledger)
        raise Busy("Another program keeps changing the file.")

    def _carry_out(self, call: Call, plan: Plan, ledger: Ledger, transaction: Transaction) -> Answer:
        event = replace(
            call.event(arguments=not isinstance(call.command, commands.Create)),  # its text is the version
            answer=plan.answer,
            changes=plan.changes,
            no_change=not plan.changes,
            added=plan.counts.added if plan.counts else None,
            removed=plan.counts.removed if plan.counts else None,
        )
        if not plan.changes:
            return self.record(plan.answer, event, ledger)
        try:
            ours = {change.after.sha256 for change in plan.changes if change.after is not None}
            # What somebody else wrote may stand nowhere else once we have changed it.
            intent = self._journal.intend(event, ledger.texts, durable=not ours.issuperset(ledger.texts))
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
            self._journal.drop(intent)  # not so for an interrupt, which may come after the move: recovery looks
            raise
        if not certain:
            text = say(Message.UNCERTAIN, path=event.path)
            event = replace(event, answer=text, is_error=True, note="uncertain")
        event = replace(event, duration_us=(time.perf_counter_ns() - call.started_ns) // 1_000)
        try:
            recorded = self._journal.append(
                [*ledger.events(), event],
                known={**ledger.known, **known},
                intent=intent,  # which holds the texts
            )
        except StateUnusable:
            return _uncertain(event)
        self._note_news()
        return Answer(event.answer or "", event.is_error, recorded[-1])

    def _refused(self, call: Call, refusal: Refusal, ledger: Ledger | None = None) -> Answer:
        text = refusal.text(self._settings.messages)
        event = replace(call.event(), answer=text, is_error=True)
        return self.record(text, event, ledger, durable=False)

    def record(
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
            event = self._journal.append(events, texts=kept, known=ledger.known if ledger else None, durable=durable)[
                -1
            ]
        except StateUnusable:
            return Answer(text, event.is_error, replace(event, note="not recorded"))
        self._note_news()
        return Answer(text, event.is_error, event)


def _uncertain(event: Event) -> Answer:
    """The answer where a change stands that could not be recorded: its intent is kept, and the next writer does."""
    text = say(Message.UNCERTAIN, path=event.path)
    return Answer(text, True, replace(event, answer=text, is_error=True, note="uncertain"))
