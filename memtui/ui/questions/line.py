"""The questions that wait for this window's person, and what she said for good in it."""

import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memtui.core.actors import shown_name
from memtui.core.asking import Proposal, is_below
from memtui.core.visible import one_line
from memtui.ui import wording

if TYPE_CHECKING:  # sockets are loaded by the session's thread, behind the first paint
    from memtui.agents.waiting import Question


class QuestionLine:
    """Questions in the order in which they came."""

    def __init__(self) -> None:
        self.waiting: list[Question] = []
        self._always: set[tuple[str, str]] = set()

    @property
    def lets_through(self) -> bool:
        """Whether somebody is let through without being asked about."""
        return bool(self._always)

    def take(self, question: "Question") -> bool:
        """Put a question at the end; `False` if the person said before that such a change need not be asked about."""
        proposal = question.proposal
        if self._is_let_through(proposal):
            return False
        self.waiting.append(question)
        return True

    def drop(self, question: "Question") -> bool:
        """Take one out; tells whether it was there."""
        if question not in self.waiting:
            return False
        self.waiting.remove(question)
        return True

    def allow_always(self, proposal: Proposal, prefix: str) -> None:
        """Ask about no change of this agent below a path any more."""
        self._always.add((shown_name(proposal.actor), prefix))

    def ask_again(self) -> None:
        """Ask about everything again."""
        self._always.clear()

    def allowed_now(self) -> "list[Question]":
        """Take out those that need not be asked about any more."""
        allowed = [each for each in self.waiting if self._is_let_through(each.proposal)]
        for each in allowed:
            self.waiting.remove(each)
        return allowed

    def _is_let_through(self, proposal: Proposal) -> bool:
        if proposal.draft is not None:
            return False  # what the person wrote is not thrown away by what she said before
        return bool(proposal.changes) and all(self._is_allowed(proposal, each.path) for each in proposal.changes)

    def _is_allowed(self, proposal: Proposal, path: str) -> bool:
        who = shown_name(proposal.actor)
        return any(name == who and is_below(path, prefix) for name, prefix in self._always)


def wish(proposal: Proposal) -> str:
    """What is asked, such as `Claude Code asks to edit prefs.md`."""
    path, who = wording.relative(proposal.path), shown_name(proposal.actor)
    overwrites = any(change.before is not None for change in proposal.files)
    words = {
        "create": "overwrite" if overwrites else "create",
        "delete": "delete",
        "rename": "rename",
    }.get(proposal.command, "edit")
    return one_line(f"{who} asks to {words} {path}")


def until(question: "Question") -> str:
    """Until when its asker waits, by the clock on the wall."""
    left = timedelta(seconds=max(question.until - time.monotonic(), 0))
    return f"{datetime.now() + left:%H:%M:%S}"
