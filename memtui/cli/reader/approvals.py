"""Questions of agents in other processes: the change in sentences, and a number for each answer."""

from typing import TYPE_CHECKING

from memtui.cli.reader import sentences
from memtui.cli.reader.edit import compose_text
from memtui.cli.reader.session import ReaderSession
from memtui.core.approvals import EVERYWHERE, Allow, Deny, Edit, Proposal, Verdict, format_scope
from memtui.core.events import format_actor_name
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_place
from memtui.flows.approvals import ApprovalQueue, describe_request, format_deadline

if TYPE_CHECKING:
    from memtui.agents.remote_approval import ApprovalQuestion, ApprovalServer


class ReaderApprovals:
    """The questions that wait for this person."""

    def __init__(self, session: ReaderSession) -> None:
        self._session = session
        self._queue = ApprovalQueue()

    def start_server(self) -> "ApprovalServer":
        """Begin to listen to agents; the caller closes the server."""
        from memtui.agents.remote_approval import ApprovalServer  # noqa: PLC0415 - start-up: only to ask

        notify = self._session.dialog.notify
        server = ApprovalServer(
            self._session.state_directory, self._add_question, ended=self._drop_question, failed=notify
        )
        server.start()
        return server

    def ask_about_proposals(self) -> None:
        """Ask about what Gemini CLI proposes in a folder of its own."""
        engine = self._session.engine
        if engine.dialect.name == "gemini":
            from memtui.flows.inbox import InboxQuestions  # noqa: PLC0415 - start-up: only in a folder of Gemini CLI

            InboxQuestions(engine, self._add_question, self._session.dialog.notify).ask()

    @property
    def waiting(self) -> "list[ApprovalQuestion]":
        """Those that are not answered yet, in the order of arrival."""
        return [question for question in tuple(self._queue.waiting) if not question.closed_reason]

    # In the server's thread

    def _add_question(self, question: "ApprovalQuestion") -> None:
        decide = self._session.decide_elsewhere
        if decide is not None and decide(question):
            return
        request, notify = describe_request(question.proposal), self._session.dialog.notify
        if self._queue.add(question):
            notify(f"{request}. It waits until {format_deadline(question)}. Choose Questions from agents.")
        elif question.answer(Allow()):
            notify(f"Allowed by your rule: {request}.")

    def _drop_question(self, question: "ApprovalQuestion") -> None:
        if self._queue.remove(question):
            self._session.dialog.notify(f"{describe_request(question.proposal)}: {question.closed_reason}")

    # In the main thread

    def answer_waiting(self) -> None:
        """Have the person answer the questions, one after the other."""
        dialog = self._session.dialog
        if not self.waiting:
            dialog.say("No agent is asking.")
            if consents := self._queue.consents:
                dialog.say("Allowed without a question until you quit:")
                choices = [(f"Ask again about {each}", str(number)) for number, each in enumerate(consents)]
                chosen = dialog.choose("Your answer:", [*choices, ("Ask again about all", "all"), ("Back", "back")])
                if chosen and chosen != "back":
                    self._queue.revoke(None if chosen == "all" else consents[int(chosen)])
                    dialog.say("You are asked about it again.")
            return
        while waiting := self.waiting:
            if not self._answer_question(waiting[0]):
                return

    def _answer_question(self, question: "ApprovalQuestion") -> bool:
        """Have one answered; tells whether to go on with the next."""
        dialog, proposal = self._session.dialog, question.proposal
        dialog.say(f"{describe_request(proposal)}. It waits until {format_deadline(question)}.")
        verdict = ask_verdict(self._session, proposal, away="Later")
        if verdict is None:
            dialog.say("The question stays open.")
            return False
        dialog.say(self._queue.answer(question, verdict)[0])
        for each in self._queue.pop_allowed():
            if each.answer(Allow()):
                dialog.say(f"Allowed by your rule: {describe_request(each.proposal)}.")
        return True


def ask_verdict(session: ReaderSession, proposal: Proposal, *, away: str) -> Verdict | None:
    """Read a change out, and ask for a verdict; `None` for not now, which is called `away`."""
    dialog, actor = session.dialog, format_actor_name(proposal.actor)
    if proposal.again:
        dialog.say(proposal.again)
    scope = proposal.consent_scope
    choices = [("Yes, this change", "yes"), ("No", "no"), ("No, and say why", "why")]
    if proposal.editable_change is not None and proposal.text(proposal.editable_change.after) is not None:
        choices.append(("Edit it first", "edit"))
    if proposal.permission is not None and proposal.permission.is_lasting:
        choices.append((f"Yes, and {actor} need not ask again, as it offers", "offered"))
    if scope is not None:
        choices.append((f"Yes, and to everything from {actor} for {format_scope(scope)}, until you quit", "always"))
    choices += [("Hear it again", "again"), (away, "away")]
    is_heard = False
    while True:
        if not is_heard:
            dialog.read_out(_describe_changes(proposal))
        match dialog.choose("Your answer:", choices, known=is_heard):
            case "yes":
                return Allow()
            case "always":
                return Allow(always=scope)
            case "offered":
                return Allow(always=EVERYWHERE)
            case "no":
                return Deny()
            case "why":
                return Deny(dialog.ask(f"Reason for {actor}:").strip())
            case "edit":
                text = _edit_proposal(session, proposal)
                if text is not None:
                    return Edit(text)
                is_heard = True
            case "again":
                is_heard = False
            case _:
                return None


def _edit_proposal(session: ReaderSession, proposal: Proposal) -> str | None:
    """The text of a proposal as the person changes it; `None` if it is left as it is."""
    change = proposal.editable_change
    assert change is not None
    text = proposal.text(change.after) or ""
    new = compose_text(session, change.path, text, done="Answer with this text")
    return None if new == text else new


def _describe_changes(proposal: Proposal) -> list[str]:
    if proposal.command == "rename":
        return [f"It becomes {format_place(proposal.new_path or '')}. No text changes."]
    lines: list[str] = []
    for change in proposal.files:
        lines += [f"{change.path}:"] if len(proposal.files) > 1 else []
        old, new = (b"" if each is None else proposal.get_data(each) for each in (change.before, change.after))
        lines += sentences.describe_difference(change.before, change.after, old, new)
    if proposal.permission is not None and not lines:
        return [to_one_line(proposal.permission.detail) or "The agent says no more about it."]
    return lines or ["Only directories are created or deleted."]
