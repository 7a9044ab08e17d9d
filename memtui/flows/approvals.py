"""Questions of agents in other processes: the queue of one person, earlier answers that allow more, and the words."""

import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memtui.core.approvals import Allow, Deny, Edit, Proposal, Verdict, is_below
from memtui.core.events import format_actor_name
from memtui.core.unicode import to_one_line
from memtui.core.wording import to_relative_path

if TYPE_CHECKING:
    from memtui.agents.remote_approval import ApprovalQuestion


class ApprovalQueue:
    """The questions of one person in the order of arrival. Any thread may add and remove."""

    def __init__(self) -> None:
        self.waiting: list[ApprovalQuestion] = []
        self._always: set[tuple[str, str]] = set()

    @property
    def has_allowances(self) -> bool:
        """Whether an agent may change something without a question."""
        return bool(self._always)

    def add(self, question: "ApprovalQuestion") -> bool:
        """Put a question at the end; `False` if an earlier answer allows its change."""
        if self._is_allowed(question.proposal):
            return False
        self.waiting.append(question)
        return True

    def remove(self, question: "ApprovalQuestion") -> bool:
        """Take a question out; tells whether it was there."""
        try:
            self.waiting.remove(question)
        except ValueError:
            return False
        return True

    def answer(self, question: "ApprovalQuestion", verdict: Verdict) -> tuple[str, bool]:
        """Take a question out and answer it; a sentence, and whether the agent got the answer."""
        self.remove(question)
        if isinstance(verdict, Allow) and verdict.always is not None:
            self.allow_always(question.proposal, verdict.always)
            verdict = Allow()  # kept here: the agent's next question comes here all the same
        if question.answer(verdict):
            return describe_verdict(verdict, question.proposal), True
        return f"Not answered: {question.closed_reason or 'whoever asked is gone.'} Nothing was written.", False

    def allow_always(self, proposal: Proposal, prefix: str) -> None:
        """Ask about no change of this agent below a path any more."""
        self._always.add((format_actor_name(proposal.actor), prefix))

    def clear_allowances(self) -> None:
        """Ask about everything again."""
        self._always.clear()

    def pop_allowed(self) -> "list[ApprovalQuestion]":
        """Take out the questions that an earlier answer allows."""
        return [each for each in tuple(self.waiting) if self._is_allowed(each.proposal) and self.remove(each)]

    def _is_allowed(self, proposal: Proposal) -> bool:
        if proposal.draft is not None:
            return False  # the person wrote this text: no earlier answer drops it
        actor = format_actor_name(proposal.actor)
        return bool(proposal.changes) and all(
            any(name == actor and is_below(change.path, prefix) for name, prefix in self._always)
            for change in proposal.changes
        )


def describe_request(proposal: Proposal) -> str:
    """A question as a sentence, such as `Claude Code asks to edit prefs.md`."""
    if proposal.shell_text:
        return to_one_line(f"{format_actor_name(proposal.actor)} asks to run {proposal.shell_text}")
    overwrites = any(change.before is not None for change in proposal.files)
    verbs = {"create": "overwrite" if overwrites else "create", "delete": "delete", "rename": "rename"}
    verb = verbs.get(proposal.command, "edit")
    return to_one_line(f"{format_actor_name(proposal.actor)} asks to {verb} {to_relative_path(proposal.path)}")


def describe_verdict(verdict: Verdict, proposal: Proposal) -> str:
    """An answer as a sentence."""
    actor, path = to_one_line(format_actor_name(proposal.actor)), to_one_line(to_relative_path(proposal.path))
    match verdict:
        case Allow():
            return f"Yes: {actor} may go on with {path}."
        case Deny(reason=""):
            return f"No: {path} stays as it is."
        case Deny():
            return f"No: {path} stays as it is, and {actor} is told why."
        case Edit():
            return f"{path} will hold your text, and {actor} is told."
    return f"{actor} is told."


def format_deadline(question: "ApprovalQuestion") -> str:
    """Until when the agent waits, by the clock on the wall."""
    left = timedelta(seconds=max(question.until - time.monotonic(), 0))
    return f"{datetime.now() + left:%H:%M:%S}"
