"""Questions of other processes over a folder: the queue, and the banner that names the first one.

No screen opens by itself, because the person may be typing.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from memtui.core.approvals import Allow
from memtui.core.unicode import to_one_line
from memtui.flows.approvals import ApprovalQueue, describe_request, format_deadline
from memtui.flows.dialog import Choice, number_choices
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import APPROVAL_BANNER, EventsRecorded, RemoteApprovalEnded, RemoteApprovalRequested
from memtui.ui.screens.folder import FolderController, FolderScreen

if TYPE_CHECKING:  # loaded with the server that receives questions, behind the first paint
    from memtui.agents.remote_approval import ApprovalQuestion


class ApprovalController(FolderController):
    """Shows and answers the questions of other processes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f9", "answer_question", "answer", id="browse.answer", tooltip="Answer an agent's question", show=False,
                priority=True),
    ]  # fmt: skip

    def __init__(self, screen: FolderScreen) -> None:
        super().__init__(screen)
        self.questions = ApprovalQueue()

    @on(RemoteApprovalRequested)
    def _add_remote_question(self, message: RemoteApprovalRequested) -> None:
        question = message.question
        if question.closed_reason or self.screen.decide_elsewhere(question):
            return
        if not self.questions.add(question):
            self._allow_question(question)
            return
        if len(self.questions.waiting) == 1:
            self.app.bell()
        self.show_question_banner()

    @on(RemoteApprovalEnded)
    def _end_remote_question(self, message: RemoteApprovalEnded) -> None:
        question = message.question
        if not self.questions.remove(question):
            return
        self.screen.show_message(f"{describe_request(question.proposal)}: {question.closed_reason}", warning=True)
        self.show_question_banner()
        from memtui.ui.screens.approval import ApprovalScreen  # noqa: PLC0415 - start-up: loads the diff

        for screen in self.app.screen_stack:
            if isinstance(screen, ApprovalScreen):
                screen.end_question(question)

    def show_question_banner(self) -> None:
        """Show the banner, or remove it where the queue is empty."""
        waiting, key = self.questions.waiting, label_key("browse.answer")
        if not waiting:
            self.screen.raise_alarm(APPROVAL_BANNER, "", "")
            return
        more = f" {len(waiting) - 1:,} more waiting." if len(waiting) > 1 else ""
        until = f".{more}" if waiting[0].waits_forever else f", until {format_deadline(waiting[0])}.{more}"
        self.screen.raise_alarm(
            APPROVAL_BANNER, f"{describe_request(waiting[0].proposal)}.", f"{key} answers{until}",
            above=f"{key} answers in the files{until}",
        )  # fmt: skip

    def answer_allowed(self) -> None:
        """Answer the questions that are allowed by now, and show what is."""
        for question in self.questions.pop_allowed():
            self._allow_question(question)
        self.show_question_banner()
        self._show_consents()

    def _show_consents(self) -> None:
        self.screen.status = replace(self.screen.status, consents=tuple(each.scope for each in self.questions.consents))
        self.screen.show_status()

    @on(EventsRecorded)
    def _end_consents(self, message: EventsRecorded) -> None:
        """End the consents to what was renamed."""
        if self.questions.end_consents(message.events):
            self._show_consents()
            self.screen.show_message("A path was renamed: agents must ask again to change it.")

    def _allow_question(self, question: "ApprovalQuestion") -> None:
        if question.answer(Allow()):
            request, key = to_one_line(describe_request(question.proposal)), label_key("browse.answer")
            words = f"Allowed by your rule: {request}. {key} lists and ends rules."
            self.screen.show_message(words)

    def action_answer_question(self) -> None:
        if not self.screen.is_current:
            return
        if self.questions.waiting:
            from memtui.ui.screens.approval import ApprovalScreen  # noqa: PLC0415 - start-up: loads the diff

            self.app.push_screen(ApprovalScreen(self, title=self.screen.folder_title))
        elif self.questions.consents:
            self._revoke_consent()
        else:
            self.screen.show_message("No agent is asking.")

    @controller_work()
    async def _revoke_consent(self) -> None:
        """List the consents, and revoke one or all."""
        consents = self.questions.consents
        choices = [
            *number_choices((str(each), str(number)) for number, each in enumerate(consents)),
            Choice("0", "all of these", "all"),
        ]
        title = "Allowed without asking until you quit. Ask again about"
        chosen = await self.choose(title, choices)
        if chosen is None:
            return
        consent = None if chosen == "all" else consents[int(chosen)]
        self.questions.revoke(consent)
        self._show_consents()
        asked = "every change" if consent is None else str(consent)
        self.screen.show_message(f"Agents ask again about {asked}.")
