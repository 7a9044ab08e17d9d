"""The approval gate: an agent's commands are allowed, asked about or refused, before anything is written.

Every way an agent comes in (the SDK classes, chat, MCP, hooks) goes through this one gate, so that a policy means the
same everywhere. The gate is the caller's; no command leads to it.

`execute` does it all and blocks while a person thinks. An asynchronous caller takes its steps instead: `begin`,
`decide_by_policy`, `accept_verdict` and `finish`.
"""

import sys
import threading
from collections.abc import Callable
from dataclasses import replace

from memtui.core.approvals import (
    Allow,
    ApprovalPolicy,
    Deny,
    Edit,
    Proposal,
    Stop,
    Unanswered,
    Verdict,
    covers,
    is_ended_by,
)
from memtui.core.errors import MemoryClosed, MemtuiError, StaleApproval
from memtui.core.events import Actor, Answer, EntryKind, Person, Version, format_actor_name, sha256
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath
from memtui.engine import Engine

Ask = Callable[[Proposal], Verdict]
"""Shows a proposal to a person and waits for the answer, in the thread of the command."""

Decision = Verdict | MessageKey
"""The person's verdict on a proposal, or the refusal by policy."""

_ATTEMPTS = 8
"""How often a command is proposed anew whose effect changes meanwhile."""


class ApprovalGate:
    """Executes commands under a policy. May be used from several threads.

    Args:
        memory: The open memory.
        policy: May be set at any time, and holds for later commands.
        ask: Asks a person, where the policy is to ask; without one, such changes are refused. If it raises, or returns
            something else than a verdict, the change is refused.
        always: Scopes of consents, where no approval is needed.
    """

    def __init__(
        self,
        memory: Engine,
        *,
        policy: ApprovalPolicy = ApprovalPolicy.ALLOW,
        ask: Ask | None = None,
        always: frozenset[str] = frozenset(),
    ) -> None:
        self.memory = memory
        self.policy = policy
        self.always = always
        self._ask = ask
        self._asking = threading.Lock()
        self._seen: int | None = None
        """The last event by which the consents hold; `None` without one."""

    def execute(self, command: object, *, actor: Actor, call_id: str | None = None) -> Answer:
        """Execute a command, if and as the person allows it.

        Args:
            command: A mapping as the model sends it.
            actor: The agent.
            call_id: The model's id of the tool call.

        Raises:
            MemoryClosed: The memory was closed.
        """
        step = self.begin(command, actor=actor, call_id=call_id)
        while isinstance(step, Proposal):
            with self._asking:  # one question at a time; an "always" answers those behind it
                decision = self.decide_by_policy(step)
                if decision is None:
                    decision = self.accept_verdict(step, self._ask_person(step))
            step = self.finish(step, decision)
        return step

    def begin(self, command: object, *, actor: Actor, call_id: str | None = None) -> Answer | Proposal:
        """Execute a command that needs no question; the proposal of any other one.

        Raises:
            MemoryClosed: The memory was closed.
        """
        if self.policy is ApprovalPolicy.ALLOW:
            return self.memory.execute(command, actor=actor, call_id=call_id)
        for _ in range(_ATTEMPTS):
            proposal = self.memory.propose(command, actor=actor, call_id=call_id)
            if proposal is not None:
                return proposal
            try:  # a view, or a command that is refused anyway; `approved` keeps it from changing anything by now
                return self.memory.execute(command, actor=actor, call_id=call_id, approved=())
            except StaleApproval:
                continue
        return self.memory.answer_instead(command, MessageKey.BUSY, actor=actor, call_id=call_id)

    def decide_by_policy(self, proposal: Proposal) -> Decision | None:
        """The decision on a proposal without a question; `None` where the person has to be asked."""
        if proposal.draft is not None:
            return None  # a policy does not discard the person's text
        policy = self.policy
        if policy is ApprovalPolicy.READ_ONLY:
            return MessageKey.READ_ONLY
        return Allow() if policy is ApprovalPolicy.ALLOW or self.is_always_allowed(proposal) else None

    def is_always_allowed(self, proposal: Proposal) -> bool:
        """Whether the person allowed such changes for good."""
        self._end_consents()
        return all(self._is_covered(change.path) for change in proposal.changes)

    def _is_covered(self, path: str) -> bool:
        """Whether a consent covers a path; what another program keeps must be named by itself."""
        if self.memory.dialect.get_rule(path).kept is not None:
            return path in self.always
        return any(covers(scope, path) for scope in self.always)

    def _end_consents(self) -> None:
        """Drop the consents to what was renamed since, by whomever."""
        if not self.always:
            self._seen = None
            return
        since, self._seen = self._seen, self.memory.get_head()[0]
        if since is not None and since < self._seen:
            for event in self.memory.events(since):
                self.always = frozenset(scope for scope in self.always if not is_ended_by(scope, event))

    def _ask_person(self, proposal: Proposal) -> object:
        if self._ask is None:
            return Unanswered()
        try:
            return self._ask(proposal)
        except Exception:  # foreign code: its fault is reported to its owner, and nothing is changed
            sys.excepthook(*sys.exc_info())
            return None

    def accept_verdict(self, proposal: Proposal, verdict: object) -> Decision:
        """The person's verdict as a decision, if it is one on this proposal. A path allowed for good is noted."""
        match verdict:
            case Allow(always=str() | None as always):
                if always is not None:
                    self._end_consents()
                    self._seen = self.memory.get_head()[0] if self._seen is None else self._seen
                    self.always |= {always}
                return verdict
            case Edit(text=str() as text) if (change := proposal.editable_change) is not None:
                is_as_proposed = proposal.draft is None and text == proposal.text(change.after)
                return Allow() if is_as_proposed else verdict
            case Deny(reason=str()) | Stop() | Unanswered(seconds=int() | float()):
                return verdict
        return MessageKey.NOT_ASKED

    def finish(self, proposal: Proposal, decision: Decision) -> Answer | Proposal:
        """Act on a decision.

        Returns:
            The answer; or another proposal, because the change could not be made as it was shown.

        Raises:
            MemoryClosed: The memory was closed.
        """
        match decision:
            case MessageKey():
                note = "not approved" if decision is MessageKey.NOT_ASKED else ""
                return self._answer_instead(proposal, decision, note)
            case Allow():
                return self._execute_approved(proposal)
            case Deny(reason=reason):
                reason = reason.strip().encode("utf-8", "replace").decode("utf-8")
                message = MessageKey.DECLINED_WHY if reason else MessageKey.DECLINED
                return self._answer_instead(proposal, message, "declined", reason=reason)
            case Stop():
                return self._answer_instead(proposal, MessageKey.STOPPED, "stopped")
            case Unanswered(seconds=seconds):
                message = MessageKey.UNANSWERED if seconds > 0 else MessageKey.NOBODY_TO_ASK
                return self._answer_instead(proposal, message, "not approved", seconds=round(seconds, 1))
            case Edit(text=text):
                return self._write_edited(proposal, text)

    def _execute_approved(self, proposal: Proposal) -> Answer | Proposal:
        actor, call_id, approved = proposal.actor, proposal.call_id, proposal.changes
        try:
            return self.memory.execute(proposal.raw, actor=actor, call_id=call_id, approved=approved)
        except StaleApproval as error:
            return self._propose_again(proposal, str(error), proposal.draft)

    def _write_edited(self, proposal: Proposal, text: str) -> Answer | Proposal:
        """Write the person's text as theirs, and tell the agent the new content."""
        change = proposal.editable_change
        assert change is not None
        note = f"{format_actor_name(proposal.actor)}'s {proposal.command}, edited"
        try:
            data = text.encode("utf-8")
            done = self.memory.write(change.path, data, based_on=change.before, note=note, actor=Person())
        except MemoryClosed:
            raise
        except UnicodeEncodeError:
            return self._propose_again(proposal, "Not saved: the text has an incomplete character.", text)
        except MemtuiError as error:
            return self._propose_again(proposal, f"Not saved: {error}", text)
        if done.event is None and self.memory.inspect_path(change.path).data != data:  # else it is so already
            return self._propose_again(proposal, done.problem, text)
        if done.event is not None and done.event.is_error:
            return self._answer_instead(proposal, MessageKey.UNCERTAIN, "edited by you first, uncertain")
        view = self.memory.preview_view(MemoryPath.from_relative(change.path))
        return self._answer_instead(proposal, MessageKey.EDITED_FIRST, "edited by you first", is_error=False, view=view)

    def _propose_again(self, proposal: Proposal, why: str, draft: str | None) -> Answer | Proposal:
        """The next question: the person sees the change as it would be now, and decides anew."""
        actor, call_id = proposal.actor, proposal.call_id
        if draft is None:
            step = self.begin(proposal.raw, actor=actor, call_id=call_id)
        else:
            step = self.memory.propose(proposal.raw, actor=actor, call_id=call_id) or self._rebase_proposal(proposal)
        return replace(step, again=why, draft=draft) if isinstance(step, Proposal) else step

    def _rebase_proposal(self, proposal: Proposal) -> Proposal:
        """A change that the agent could not make any more, from the present content: the person's text still can."""
        change = proposal.editable_change
        assert change is not None
        data = self.memory.inspect_path(change.path).data
        now = None if data is None else Version(EntryKind.FILE, sha256(data), len(data))
        texts = {**proposal.texts, **({now.sha256 or "": data} if now is not None and data is not None else {})}
        return replace(proposal, changes=(replace(change, before=now),), texts=texts)

    def _answer_instead(
        self, proposal: Proposal, message: MessageKey, note: str, *, is_error: bool = True, **values: object
    ) -> Answer:
        actor, call_id = proposal.actor, proposal.call_id
        return self.memory.answer_instead(
            proposal.raw, message, actor=actor, call_id=call_id, is_error=is_error, note=note, values=values
        )
