"""Questions of agents in other processes: the queue of one person, earlier answers that allow more, and the words."""

import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memtui.core.approvals import Allow, Deny, Edit, Proposal, Verdict, covers, format_scope, is_ended_by
from memtui.core.events import Actor, EntryKind, Event, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_file_count, to_relative_path

if TYPE_CHECKING:
    from memtui.agents.remote_approval import ApprovalQuestion


@dataclass(frozen=True, slots=True, order=True)
class Consent:
    """What one agent may do in this window without a question.

    Attributes:
        agent: Its name.
        session: Its session; empty for an agent that names none.
        scope: A relative path, for what stands at and below it, or `EVERYWHERE`.
    """

    agent: str
    session: str
    scope: str

    def __str__(self) -> str:
        session = f" in session {to_one_line(self.session)}" if self.session else ""
        return f"{to_one_line(self.agent)}{session}: {format_scope(self.scope)}"

    def holds_for(self, actor: Actor, path: str) -> bool:
        """Whether it holds for a path that an agent changes."""
        return (self.agent, self.session) == _identify_agent(actor) and covers(self.scope, path)


def _identify_agent(actor: Actor) -> tuple[str, str]:
    return format_actor_name(actor), getattr(actor, "session", None) or ""


class ApprovalQueue:
    """The questions of one person in the order of arrival. Any thread may add and remove."""

    def __init__(self) -> None:
        self.waiting: list[ApprovalQuestion] = []
        self._consents: frozenset[Consent] = frozenset()

    @property
    def consents(self) -> list[Consent]:
        """What agents may do without a question. They end with this window, and with the agent's session."""
        return sorted(self._consents)

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
        consent = None
        if isinstance(verdict, Allow) and verdict.always is not None:
            consent = self.give_consent(question.proposal, verdict.always)
            verdict = Allow()  # kept here: the agent's next question comes here all the same
        if question.answer(verdict):
            more = f" Not asked again: {consent}." if consent is not None else ""
            return describe_verdict(verdict, question.proposal, is_waiting=not question.waits_forever) + more, True
        why = question.closed_reason or "the agent that asked has ended."
        return f"Not answered: {why} Nothing was written.", False

    def give_consent(self, proposal: Proposal, scope: str) -> Consent:
        """Ask about no change of this agent in a scope any more, for its session."""
        consent = Consent(*_identify_agent(proposal.actor), scope)
        self._consents |= {consent}
        return consent

    def revoke(self, consent: Consent | None = None) -> None:
        """Ask again about what a consent allowed; by default about everything."""
        self._consents -= self._consents if consent is None else {consent}

    def end_consents(self, events: Iterable[Event]) -> bool:
        """Drop the consents to what events renamed; tells whether there was one."""
        ended = {each for event in events for each in self._consents if is_ended_by(each.scope, event)}
        self._consents -= ended
        return bool(ended)

    def pop_allowed(self) -> "list[ApprovalQuestion]":
        """Take out the questions that an earlier answer allows."""
        return [each for each in tuple(self.waiting) if self._is_allowed(each.proposal) and self.remove(each)]

    def _is_allowed(self, proposal: Proposal) -> bool:
        if proposal.draft is not None:
            return False  # the person wrote this text: no earlier answer drops it
        return bool(proposal.changes) and all(
            any(each.holds_for(proposal.actor, change.path) for each in self._consents) for change in proposal.changes
        )


def describe_request(proposal: Proposal) -> str:
    """A question as a sentence, such as `Claude Code asks to edit prefs.md`."""
    return f"{to_one_line(format_actor_name(proposal.actor))} asks to {describe_change(proposal)}"


def describe_change(proposal: Proposal) -> str:
    """What would be done, such as `overwrite prefs.md`: to which path really, and by which name."""
    if proposal.permission is not None:
        return to_one_line(f"use its own tool: {proposal.permission.title}")
    if proposal.shell_text:
        return to_one_line(f"run {proposal.shell_text}")
    named, real = to_relative_path(proposal.path), _find_real_path(proposal)
    top = next((each for each in proposal.changes if each.path == real and each.before is not None), None)
    kind = top.before.kind if top is not None and top.before is not None else EntryKind.FILE
    name = f"the link {named}" if kind is EntryKind.LINK and real == named else _format_real_name(named, real)
    match proposal.command:
        case "create":
            is_there = any(change.before is not None for change in proposal.files)
            return to_one_line(f"{'overwrite' if is_there else 'create'} {name}")
        case "delete" if kind is EntryKind.DIRECTORY:
            return to_one_line(f"delete {name}/ with {format_file_count(len(proposal.files))}")
        case "delete":
            target = proposal.text(top.before) if top is not None and kind is EntryKind.LINK else None
            return to_one_line(f"delete {name}{f', which points to {target}' if target else ''}")
        case "rename":
            new = to_relative_path(proposal.new_path or "")
            moved = {change.path for change in proposal.files if change.after is not None}
            more = "" if len(moved) == 1 else f", {format_file_count(len(moved))}"
            return to_one_line(f"rename {name} to {_format_real_name(new, _find_real_target(proposal, real))}{more}")
    return to_one_line(f"edit {name}")


def _format_real_name(named: str, real: str) -> str:
    return named if real == named else f"{real} (through the link {named})"


def _find_real_path(proposal: Proposal) -> str:
    """What would really change; for a directory, the directory."""
    if proposal.command in ("delete", "rename"):
        paths = [change.path for change in proposal.changes if change.after is None]
    else:
        paths = [change.path for change in proposal.files]
    return min(paths, key=lambda path: path.count("/"), default=to_relative_path(proposal.path))


def _find_real_target(proposal: Proposal, old: str) -> str:
    """Where something would really stand after a rename."""
    named = to_relative_path(proposal.new_path or "")
    gone = next((each.path for each in proposal.files if each.after is None), None)
    ending = "" if gone is None else gone.removeprefix(old)
    found = (each.path for each in proposal.files if each.after is not None and each.path.endswith(ending))
    return named if gone is None else next(found, named + ending).removesuffix(ending)


def describe_verdict(verdict: Verdict, proposal: Proposal, *, is_waiting: bool = True) -> str:
    """An answer as a sentence; `is_waiting` if the agent is told."""
    actor, path = to_one_line(format_actor_name(proposal.actor)), to_one_line(to_relative_path(proposal.path))
    is_bare = proposal.permission is not None and not proposal.changes
    match verdict:
        case Allow() | Edit() if not is_waiting:
            return f"Allowed: {path} is written."
        case Allow() if is_bare:
            return f"Allowed: {actor} may go on."
        case Deny(reason=reason) if is_bare:
            return f"Denied: {actor} may not do this{' and gets your reason' if reason else ''}."
        case Allow():
            return f"Allowed: {actor} may go on with {path}."
        case Deny(reason=reason) if not reason or not is_waiting:
            return f"Denied: {path} stays as it is."
        case Deny():
            return f"Denied: {path} stays as it is. {actor} gets your reason."
        case Edit():
            return f"Your text is written to {path}. {actor} is notified."
    return f"{actor} is notified."


def format_deadline(question: "ApprovalQuestion") -> str:
    """Until when the agent waits, by the clock on the wall."""
    if question.waits_forever:
        return "you answer"
    left = timedelta(seconds=max(question.until - time.monotonic(), 0))
    return f"{datetime.now() + left:%H:%M:%S}"
