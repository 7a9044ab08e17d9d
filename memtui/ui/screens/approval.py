"""Answers the questions of other processes: the exact change, and a key for each answer."""

from typing import ClassVar, Protocol

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from memtui.agents.chat.events import ApprovalNeeded
from memtui.agents.remote_approval import ApprovalQuestion
from memtui.core.unicode import to_one_line
from memtui.flows.approvals import ApprovalQueue, format_deadline
from memtui.ui.chat_state import QuestionDecided, QuestionRemarked, QuestionStopRequested
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.messages import APPROVAL_BANNER
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.widgets.approval import ApprovalView


class QuestionSource(Protocol):
    """The controller that has the queue."""

    questions: ApprovalQueue

    @property
    def message(self) -> MessageLine:
        """The message line of the screen below."""

    def answer_allowed(self) -> None:
        """Answer the questions that are allowed by now."""


class _RemoteQuestionView(ApprovalView):
    """The question of a chat, asked by another process."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "later", id="question.later", tooltip="Go back; the question stays open")
    ]

    ASKER: ClassVar[str] = "the agent"
    AWAY: ClassVar[str] = "later"
    LASTING: ClassVar[str] = "until you quit"


class ApprovalScreen(OverlayScreen):
    """Asks the questions of the queue one by one. Esc leaves the rest open and goes back."""

    AUTO_FOCUS = None

    DEFAULT_CSS = """
    ApprovalScreen {
        layout: vertical;

        & #body { height: 1fr; }
        & #about { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    }
    """

    header = getters.query_one(Header)
    view = getters.query_one(_RemoteQuestionView)

    def __init__(self, below: QuestionSource, *, title: str) -> None:
        super().__init__()
        self._below = below
        self._folder = title
        self._question: ApprovalQuestion | None = None
        self._number = 0

    def compose(self) -> ComposeResult:
        yield Header()
        yield Static(id="about", markup=False)
        with Container(id="body"):
            yield _RemoteQuestionView(id="question")
        yield MessageLine(id="message")
        yield KeyLine()

    def on_mount(self) -> None:
        self.header.status = HeaderStatus(self._folder, live="ASKED", follow=None)
        self._show_next_question()

    def show_alarm(self, name: str, case: str, remedy: str) -> None:
        """The banner of questions is not needed here."""
        if name != APPROVAL_BANNER:
            super().show_alarm(name, case, remedy)

    def _show_next_question(self) -> None:
        """The next question, or back where none is left."""
        waiting = self._below.questions.waiting
        if not waiting:
            self._question = None
            self.dismiss()
            return
        question = self._question = waiting[0]
        self._number += 1
        proposal = question.proposal
        self.view.ask(ApprovalNeeded(0, proposal.call_id or "", self._number, proposal))
        self.view.take_focus(by_itself=True)
        who = getattr(proposal.actor, "session", None)
        last = self._number + len(waiting) - 1
        words = f"Question {self._number:,} of {last:,}. " if last > 1 else ""
        words += f"{to_one_line(proposal.actor.name)} waits until {format_deadline(question)}."
        words += f" Session {to_one_line(who)}." if isinstance(who, str) else ""
        self.query_one("#about", Static).update(Content(words))

    @on(QuestionDecided)
    def _submit_answer(self, message: QuestionDecided) -> None:
        question, verdict = self._question, message.verdict
        if question is None or message.question.proposal is not question.proposal:
            return
        if question.closed_reason:
            words = f"Not answered: {question.closed_reason} {label_key('question.later')} goes back."
            self.message.show_message(words, warning=True)
            return
        words, sent = self._below.questions.answer(question, verdict)
        for line in (self.message, self._below.message):
            line.show_message(words, warning=not sent)
        self._below.answer_allowed()
        self._show_next_question()

    @on(QuestionStopRequested)
    def _leave_open(self) -> None:
        if self._question is not None and not self._question.closed_reason:
            self._below.message.show_message(f"The question is still open: {label_key('browse.answer')} answers it.")
        self.dismiss()

    @on(QuestionRemarked)
    def _show_remark(self, message: QuestionRemarked) -> None:
        self.message.show_message(message.words, warning=message.is_warning)

    def end_question(self, question: ApprovalQuestion) -> None:
        """Go on after the end of a question; a text that the person is writing stays until she leaves it."""
        if question is not self._question or not self.query(_RemoteQuestionView):  # no view: the app is closing
            return
        if self.view.has_class("-editing") or self.view.has_class("-reasoning"):
            words = f"Your text stays here until you press {label_key('question.later')}."
            self.message.show_message(f"{question.closed_reason} {words}", warning=True)
        else:
            self._show_next_question()
