"""Where an agent's commands pass a person: allowed, asked about or refused, before anything is written.

Every way an agent comes in (the SDK classes, chat, MCP, hooks) goes through this one gate, so that a policy means the
same everywhere. The gate is the caller's; no command leads to it.
"""

import threading
from collections.abc import Callable
from dataclasses import replace

from memtui.core.actors import shown_name
from memtui.core.asking import Allow, Deny, Edit, Policy, Proposal, Stop, Unanswered, Verdict, is_below
from memtui.core.errors import ChangedMeanwhile, Closed, MemtuiError
from memtui.core.events import Actor, Answer, Person
from memtui.core.messages import Message
from memtui.core.paths import MemoryPath
from memtui.engine import Engine

Ask = Callable[[Proposal], Verdict]
"""Shows a proposal to a person and waits for the answer, in whichever thread the command runs."""


class Gate:
    """Executes commands under a policy. May be used from several threads.

    Args:
        memory: The open memory.
        policy: What becomes of changes; may be set at any time, and holds for what is asked from then on.
        ask: Asks a person, where the policy is to ask; without one, such changes are refused.
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
        again, draft = "", None
        while True:
            proposal = None
            if self.policy is not Policy.ALLOW:
                proposal = self.memory.propose(command, actor=actor, call_id=call_id)
            if proposal is None:  # a view, or what is refused anyway
                return self.memory.execute(command, actor=actor, call_id=call_id)
            try:
                return self._decide(replace(proposal, again=again, draft=draft), command)
            except _NotAsApproved as error:  # the person sees what it would be now, and decides anew
                again, draft = str(error), error.draft

    def _decide(self, proposal: Proposal, command: object) -> Answer:
        actor, call_id = proposal.actor, proposal.call_id

        def instead(message: Message, note: str = "", **values: object) -> Answer:
            return self.memory.answer_instead(command, message, actor=actor, call_id=call_id, note=note, values=values)

        with self._asking:  # one question at a time; an "always" answers those behind it
            verdict = self._verdict(proposal)
            if isinstance(verdict, Allow) and verdict.always is not None:
                self.always |= {verdict.always}
        match verdict:
            case None:
                return instead(Message.READ_ONLY)
            case Allow():
                try:
                    return self.memory.execute(command, actor=actor, call_id=call_id, approved=proposal)
                except ChangedMeanwhile as error:
                    raise _NotAsApproved(str(error), proposal.draft) from error
            case Deny(reason=""):
                return instead(Message.DECLINED, "declined")
            case Deny(reason=reason):
                return instead(Message.DECLINED_WHY, "declined", reason=reason)
            case Stop():
                return instead(Message.STOPPED, "stopped")
            case Unanswered(seconds=0):
                return instead(Message.NOBODY_TO_ASK, "not approved")
            case Unanswered(seconds=seconds):
                return instead(Message.UNANSWERED, "not approved", seconds=seconds)
            case Edit(text=text):
                return self._write_edited(proposal, command, text)

    def _verdict(self, proposal: Proposal) -> Verdict | None:
        policy = self.policy
        if policy is Policy.READ_ONLY:
            return None
        if policy is Policy.ALLOW or self.allows(proposal):
            return Allow()
        return Unanswered() if self._ask is None else self._ask(proposal)

    def allows(self, proposal: Proposal) -> bool:
        """Whether the person said before that such a change need not be asked about."""
        return all(any(is_below(change.path, prefix) for prefix in self.always) for change in proposal.changes)

    def _write_edited(self, proposal: Proposal, command: object, text: str) -> Answer:
        """Write what the person made of it, as theirs, and tell the agent what stands there now."""
        change = proposal.edited
        if change is None:
            raise ValueError("only a change that writes one file can be edited")
        note = f"{shown_name(proposal.actor)}'s {proposal.command}, edited"
        try:
            data = text.encode("utf-8")
            done = self.memory.write(change.path, data, based_on=change.before, note=note, actor=Person())
        except Closed:
            raise
        except (MemtuiError, UnicodeEncodeError) as error:
            raise _NotAsApproved(f"Not saved: {error}", text) from error
        if done.problem and done.event is None and data != proposal.data(change.before):
            raise _NotAsApproved(done.problem, text)
        return self.memory.answer_instead(
            command,
            Message.EDITED_FIRST,
            actor=proposal.actor,
            call_id=proposal.call_id,
            is_error=False,
            note="edited by you first",
            values={"view": self.memory.answer_to_view(MemoryPath.of(change.path))},
        )


class _NotAsApproved(Exception):
    """What was approved could not be done as it was shown; nothing was written."""

    def __init__(self, sentence: str, draft: str | None) -> None:
        super().__init__(sentence)
        self.draft = draft
