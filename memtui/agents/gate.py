"""Where an agent's commands pass a person: allowed, asked about or refused, before anything is written.

Every way an agent comes in (the SDK classes, chat, MCP, hooks) goes through this one gate, so that a policy means the
same everywhere. The gate is the caller's; no command leads to it.

`execute` does it all and waits. Who must not wait in a thread while a person thinks takes its steps instead: `begin`,
`decided`, `heard` and `finish`.
"""

import sys
import threading
from collections.abc import Callable
from dataclasses import replace

from memtui.core.actors import shown_name
from memtui.core.asking import Allow, Deny, Edit, Policy, Proposal, Stop, Unanswered, Verdict, is_below
from memtui.core.errors import ChangedMeanwhile, Closed, MemtuiError
from memtui.core.events import Actor, Answer, Person, Version, sha256
from memtui.core.messages import Message
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Kind
from memtui.engine import Engine

Ask = Callable[[Proposal], Verdict]
"""Shows a proposal to a person and waits for the answer, in whichever thread the command runs."""

Decision = Verdict | Message
"""What becomes of a proposal: as the person said, or the refusal that it is answered with."""

_ATTEMPTS = 8
"""How often a command is looked at anew that turns out to do something else than it did when it was looked at."""


class Gate:
    """Executes commands under a policy. May be used from several threads.

    Args:
        memory: The open memory.
        policy: What becomes of changes; may be set at any time, and holds for what is asked from then on.
        ask: Asks a person, where the policy is to ask; without one, such changes are refused. If it raises, or gives
            something else than a verdict, the change is refused.
        always: Paths relative to the folder, below which the person need not be asked any more.
    """

    def __init__(
        self,
        memory: Engine,
        *,
        policy: Policy = Policy.ALLOW,
        ask: Ask | None = None,
        always: frozenset[str] = frozenset(),
    ) -> None:
        self.memory = memory
        self.policy = policy
        self.always = always
        """Paths below which the person said yes for good."""
        self._ask = ask
        self._asking = threading.Lock()

    def execute(self, command: object, *, actor: Actor, call_id: str | None = None) -> Answer:
        """Execute a command, if and as the person lets it.

        Args:
            command: A mapping as the model sends it.
            actor: Who asks.
            call_id: The model's id of the tool call.

        Raises:
            Closed: The memory was closed.
        """
        step = self.begin(command, actor=actor, call_id=call_id)
        while isinstance(step, Proposal):
            with self._asking:  # one question at a time; an "always" answers those behind it
                decision = self.decided(step)
                if decision is None:
                    decision = self.heard(step, self._asked(step))
            step = self.finish(step, decision)
        return step

    def begin(self, command: object, *, actor: Actor, call_id: str | None = None) -> Answer | Proposal:
        """Execute a command that nobody has to be asked about; of any other one say what it would do.

        Raises:
            Closed: The memory was closed.
        """
        if self.policy is Policy.ALLOW:
            return self.memory.execute(command, actor=actor, call_id=call_id)
        for _ in range(_ATTEMPTS):
            proposal = self.memory.propose(command, actor=actor, call_id=call_id)
            if proposal is not None:
                return proposal
            try:  # a view, or what is refused anyway; should it change something by now, it is not done
                return self.memory.execute(command, actor=actor, call_id=call_id, approved=())
            except ChangedMeanwhile:
                continue
        return self.memory.answer_instead(command, Message.BUSY, actor=actor, call_id=call_id)

    def decided(self, proposal: Proposal) -> Decision | None:
        """What becomes of a proposal without asking; `None` where the person has to be asked."""
        if proposal.draft is not None:
            return None  # what the person wrote is not thrown away by a policy
        policy = self.policy
        if policy is Policy.READ_ONLY:
            return Message.READ_ONLY
        return Allow() if policy is Policy.ALLOW or self.allows(proposal) else None

    def allows(self, proposal: Proposal) -> bool:
        """Whether the person said before that such a change need not be asked about."""
        return all(any(is_below(change.path, prefix) for prefix in self.always) for change in proposal.changes)

    def _asked(self, proposal: Proposal) -> object:
        if self._ask is None:
            return Unanswered()
        try:
            return self._ask(proposal)
        except Exception:  # whoever asks may be anybody's code: its owner is told of its fault, and nothing is changed
            sys.excepthook(*sys.exc_info())
            return None

    def heard(self, proposal: Proposal, said: object) -> Decision:
        """What the person said, if that is an answer to the proposal at all. What holds from now on is noted."""
        match said:
            case Allow(always=str() | None as always):
                if always is not None:
                    self.always |= {always}
                return said
            case Edit(text=str() as text) if (change := proposal.edited) is not None:
                is_as_proposed = proposal.draft is None and text == proposal.text(change.after)
                return Allow() if is_as_proposed else said
            case Deny(reason=str()) | Stop() | Unanswered(seconds=int() | float()):
                return said
        return Message.NOT_ASKED

    def finish(self, proposal: Proposal, decision: Decision) -> Answer | Proposal:
        """Do as was decided.

        Returns:
            The answer; or what is to be asked anew, because it could not be done as it was shown.

        Raises:
            Closed: The memory was closed.
        """
        match decision:
            case Message():
                return self._instead(proposal, decision, "not approved" if decision is Message.NOT_ASKED else "")
            case Allow():
                return self._allowed(proposal)
            case Deny(reason=reason):
                reason = reason.strip().encode("utf-8", "replace").decode("utf-8")
                message = Message.DECLINED_WHY if reason else Message.DECLINED
                return self._instead(proposal, message, "declined", reason=reason)
            case Stop():
                return self._instead(proposal, Message.STOPPED, "stopped")
            case Unanswered(seconds=seconds):
                message = Message.UNANSWERED if seconds > 0 else Message.NOBODY_TO_ASK
                return self._instead(proposal, message, "not approved", seconds=round(seconds, 1))
            case Edit(text=text):
                return self._write_edited(proposal, text)

    def _allowed(self, proposal: Proposal) -> Answer | Proposal:
        actor, call_id, approved = proposal.actor, proposal.call_id, proposal.changes
        try:
            return self.memory.execute(proposal.raw, actor=actor, call_id=call_id, approved=approved)
        except ChangedMeanwhile as error:
            return self._anew(proposal, str(error), proposal.draft)

    def _write_edited(self, proposal: Proposal, text: str) -> Answer | Proposal:
        """Write what the person made of it, as theirs, and tell the agent what stands there now."""
        change = proposal.edited
        assert change is not None
        note = f"{shown_name(proposal.actor)}'s {proposal.command}, edited"
        try:
            data = text.encode("utf-8")
            done = self.memory.write(change.path, data, based_on=change.before, note=note, actor=Person())
        except Closed:
            raise
        except UnicodeEncodeError:
            return self._anew(proposal, "Not saved: the text holds half a character.", text)
        except MemtuiError as error:
            return self._anew(proposal, f"Not saved: {error}", text)
        if done.event is None and self.memory.look(change.path).data != data:  # else it is so already
            return self._anew(proposal, done.problem, text)
        if done.event is not None and done.event.is_error:
            return self._instead(proposal, Message.UNCERTAIN, "edited by you first, uncertain")
        view = self.memory.answer_to_view(MemoryPath.of(change.path))
        return self._instead(proposal, Message.EDITED_FIRST, "edited by you first", is_error=False, view=view)

    def _anew(self, proposal: Proposal, why: str, draft: str | None) -> Answer | Proposal:
        """What is to be asked once more: the person sees what it would be now, and decides anew."""
        actor, call_id = proposal.actor, proposal.call_id
        if draft is None:
            step = self.begin(proposal.raw, actor=actor, call_id=call_id)
        else:
            step = self.memory.propose(proposal.raw, actor=actor, call_id=call_id) or self._as_it_is_now(proposal)
        return replace(step, again=why, draft=draft) if isinstance(step, Proposal) else step

    def _as_it_is_now(self, proposal: Proposal) -> Proposal:
        """A change that the agent could not make any more, from what stands there now: the person's text still can."""
        change = proposal.edited
        assert change is not None
        data = self.memory.look(change.path).data
        now = None if data is None else Version(Kind.FILE, sha256(data), len(data))
        texts = {**proposal.texts, **({now.sha256 or "": data} if now is not None and data is not None else {})}
        return replace(proposal, changes=(replace(change, before=now),), texts=texts)

    def _instead(
        self, proposal: Proposal, message: Message, note: str, *, is_error: bool = True, **values: object
    ) -> Answer:
        return self.memory.answer_instead(
            proposal.raw,
            message,
            actor=proposal.actor,
            call_id=proposal.call_id,
            is_error=is_error,
            note=note,
            values=values,
        )
