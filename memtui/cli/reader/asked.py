"""Agents in other processes ask, and the person answers: the change in sentences, and a number for each answer."""

import os
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memtui.cli.reader import differences
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.sentences import relative
from memtui.core.actors import shown_name
from memtui.core.asking import Allow, Deny, Edit, Proposal, Verdict, is_below
from memtui.core.visible import one_line

if TYPE_CHECKING:
    from memtui.agents.waiting import Desk, Question
    from memtui.cli.reader.session import Session


class Questions:
    """The questions that wait for this person, and what she said for good.

    Args:
        session: Where they are told and answered.
    """

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._waiting: list[Question] = []
        self._always: set[tuple[str, str]] = set()

    def desk(self, state: os.PathLike[str]) -> "Desk":
        """Begin to listen to agents; the caller closes what is returned."""
        from memtui.agents.waiting import Desk  # deferred: behind the first lines

        desk = Desk(state, self._take, ended=self._drop, failed=self._tell)
        desk.start()
        return desk

    @property
    def waiting(self) -> "list[Question]":
        """Those that are not answered yet, in the order in which they came."""
        return [question for question in tuple(self._waiting) if not question.gone]

    # In the desk's thread

    def _take(self, question: "Question") -> None:
        if self._is_let_through(question.proposal):
            if question.answer(Allow()):
                self._tell(f"Let through, as you said: {wish(question.proposal)}.")
            return
        self._waiting.append(question)
        self._tell(f"{wish(question.proposal)}. It waits until {_until(question)}. Choose Agents that ask.")

    def _drop(self, question: "Question") -> None:
        if self._forget(question):
            self._tell(f"{wish(question.proposal)}: {question.gone}")

    def _tell(self, words: str) -> None:
        self._session.notices.append(words)
        self._session.dialog.wake()

    # In front of the person

    def answer(self) -> None:
        """Have the person answer what waits, one after the other."""
        dialog = self._session.dialog
        if not self.waiting:
            dialog.say("No agent asks anything.")
            if self._always and dialog.is_sure("Some changes are let through, as you said. Be asked about all again?"):
                self._always.clear()
                dialog.say("You are asked about every change again.")
            return
        while waiting := self.waiting:
            if not self._answer(waiting[0]):
                return

    def _answer(self, question: "Question") -> bool:
        """Have one answered; tells whether to go on with the next."""
        dialog, proposal = self._session.dialog, question.proposal
        dialog.say(f"{wish(proposal)}. It waits until {_until(question)}.")
        verdict = decided(self._session, proposal, away="Later")
        if verdict is None:
            dialog.say("It is still asked.")
            return False
        self._forget(question)
        always = verdict.always if isinstance(verdict, Allow) else None
        # What is said for good is said here: whoever asks next asks here all the same.
        if not question.answer(verdict if always is None else Allow()):
            dialog.say(f"Not answered: {question.gone or 'whoever asked is gone.'} Nothing was written.")
            return True
        if always is not None:
            self._always.add((shown_name(proposal.actor), always))
        dialog.say(told_answer(verdict, proposal))
        self._let_through()
        return True

    def _let_through(self) -> None:
        for question in self.waiting:
            let_through = self._is_let_through(question.proposal) and self._forget(question)
            if let_through and question.answer(Allow()):
                self._session.dialog.say(f"Let through, as you said: {wish(question.proposal)}.")

    def _forget(self, question: "Question") -> bool:
        """Take one out, from any thread; tells whether it was there."""
        try:
            self._waiting.remove(question)
        except ValueError:
            return False
        return True

    def _is_let_through(self, proposal: Proposal) -> bool:
        who = shown_name(proposal.actor)
        return bool(proposal.changes) and all(
            any(name == who and is_below(change.path, prefix) for name, prefix in self._always)
            for change in proposal.changes
        )


def wish(proposal: Proposal) -> str:
    """What is asked, such as `Claude Code asks to change prefs.md`."""
    overwrites = any(change.before is not None for change in proposal.files)
    words = {"create": "overwrite" if overwrites else "create", "delete": "delete", "rename": "rename"}
    target = f" to {relative(proposal.new_path)}" if proposal.new_path else ""
    verb = words.get(proposal.command, "change")
    return one_line(f"{shown_name(proposal.actor)} asks to {verb} {relative(proposal.path)}{target}")


def decided(session: "Session", proposal: Proposal, *, away: str) -> Verdict | None:
    """Have a change heard and decided.

    Args:
        session: Where the person is asked.
        proposal: The change.
        away: What it is called not to decide now.

    Returns:
        The answer; `None` for not now.
    """
    dialog, who = session.dialog, shown_name(proposal.actor)
    if proposal.again:
        dialog.say(proposal.again)
    folder = proposal.files[0].path.rpartition("/")[0] if proposal.files else ""
    choices = [Choice("Yes, this change", "yes"), Choice("No", "no"), Choice("No, and say why", "why")]
    if proposal.edited is not None and proposal.text(proposal.edited.after) is not None:
        choices.append(Choice("Edit it first", "edit"))
    where = folder or "this folder"
    choices += [
        Choice(f"Yes, and to all that {who} asks of {where}, until you quit", "always"),
        Choice("Hear it again", "again"),
        Choice(away, "away"),
    ]
    is_heard = False
    while True:
        if not is_heard:
            dialog.read_out(_told(proposal))
        match dialog.choose("Your answer:", choices, known=is_heard):
            case "yes":
                return Allow()
            case "always":
                return Allow(always=folder)
            case "no":
                return Deny()
            case "why":
                return Deny(dialog.ask(f"Why not, for {who}:").strip())
            case "edit":
                text = _edited(session, proposal)
                if text is not None:
                    return Edit(text)
            case "again":
                is_heard = False
                continue
            case _:
                return None
        is_heard = True


def _edited(session: "Session", proposal: Proposal) -> str | None:
    """What the person makes of what an agent wants to write; `None` if she leaves it."""
    from memtui.cli.reader.composing import composed  # deferred: only where somebody edits

    change = proposal.edited
    assert change is not None
    text = proposal.text(change.after) or ""
    new = composed(session, change.path, text, done="Answer with this text")
    return None if new is None or new == text else new


def _told(proposal: Proposal) -> list[str]:
    """The exact change, in sentences."""
    if proposal.command == "rename":
        return ["No text changes."]
    told: list[str] = []
    for change in proposal.files:
        head = [f"{change.path}:"] if len(proposal.files) > 1 else []
        old, new = (b"" if each is None else proposal.data(each) for each in (change.before, change.after))
        told += head + differences.between(change.before, change.after, old, new)
    return told or ["Only folders come or go."]


def told_answer(verdict: Verdict, proposal: Proposal) -> str:
    """What an answer means, in a sentence."""
    who, path = shown_name(proposal.actor), relative(proposal.path)
    match verdict:
        case Allow():
            return f"Yes: {who} may go on with {path}."
        case Edit():
            return f"{path} will hold your text, and {who} is told."
        case Deny(reason) if reason:
            return f"No: {path} stays as it is, and {who} is told why."
    return f"No: {path} stays as it is."


def _until(question: "Question") -> str:
    left = timedelta(seconds=max(question.until - time.monotonic(), 0))
    return f"{datetime.now() + left:%H:%M:%S}"
