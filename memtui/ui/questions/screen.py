"""A question of another process, over the whole window: the exact change, and a key for each answer."""

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from memtui.agents.chat.events import Asked
from memtui.agents.waiting import Question
from memtui.core.asking import Allow, Deny, Edit, Verdict
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.chat.question import QuestionView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.questions.answering import BANNER, Answering
from memtui.ui.questions.line import until
from memtui.ui.screens.above import AboveBrowser


class _ElsewhereView(QuestionView):
    """The same question as in a chat, but for whom it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "later", id="question.later", tooltip="Back; whoever asks goes on waiting"),
    ]

    ASKER: ClassVar[str] = "the agent"
    AWAY: ClassVar[str] = "later"


class QuestionScreen(AboveBrowser):
    """Asks what waits first, then the next one, until none is left. Esc leaves it open and goes back.

    Args:
        below: The screen that keeps the questions.
        title: How the folder is called.
    """

    AUTO_FOCUS = None

    DEFAULT_CSS = """
    QuestionScreen {
        layout: vertical;

        & #body { height: 1fr; }
        & #about { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    }
    """

    header = getters.query_one(Header)
    view = getters.query_one(_ElsewhereView)

    def __init__(self, below: Answering, *, title: str) -> None:
        super().__init__()
        self._below = below
        self._folder = title
        self._question: Question | None = None
        self._number = 0

    def compose(self) -> ComposeResult:
        """The question, who asks it, and what came of it."""
        yield Header()
        with Container(id="body"):
            yield _ElsewhereView(id="question")
        yield Static(id="about", markup=False)
        yield MessageLine(id="message")
        yield KeyLine()

    def on_mount(self) -> None:
        """Ask what waits first."""
        self.header.status = Status(self._folder, live="ASKED", follow=None)
        self._ask_next()

    def show_alarm(self, name: str, case: str, remedy: str) -> None:
        """What is asked stands here already."""
        if name != BANNER:
            super().show_alarm(name, case, remedy)

    def _ask_next(self) -> None:
        """The next question, or back where none is left."""
        waiting = self._below.questions.waiting
        if not waiting:
            self._question = None
            self.dismiss()
            return
        question = self._question = waiting[0]
        self._number += 1
        proposal = question.proposal
        self.view.ask(Asked(0, proposal.call_id or "", self._number, proposal))
        self.view.take_focus(by_itself=True)
        who = getattr(proposal.actor, "session", None)
        session = f" in session {one_line(who)}" if isinstance(who, str) else ""
        more = f"   {len(waiting) - 1:,} more behind it" if len(waiting) > 1 else ""
        words = f"Asked by {one_line(proposal.actor.name)}{session}; it waits until {until(question)}.{more}"
        self.query_one("#about", Static).update(Content(words))

    @on(QuestionView.Decided)
    def _answer(self, message: QuestionView.Decided) -> None:
        question, verdict = self._question, message.verdict
        if question is None or message.asked.proposal is not question.proposal:
            return
        if question.gone:
            self.message.say(f"Not answered: {question.gone} Esc goes back.", warning=True)
            return
        self._below.questions.drop(question)
        if isinstance(verdict, Allow) and verdict.always is not None:
            self._below.questions.allow_always(question.proposal, verdict.always)
            verdict = Allow()  # for good in this window: whoever asks next asks here all the same
        sent = question.answer(verdict)
        words = _told(verdict, question) if sent else "Not answered: whoever asked is gone. Nothing was written."
        for line in (self.message, self._below.message):
            line.say(words, warning=not sent)
        self._below.let_through()
        self._ask_next()

    @on(QuestionView.StopWanted)
    def _leave_open(self) -> None:
        if self._question is not None and not self._question.gone:
            self._below.message.say("It is still asked: a answers.")
        self.dismiss()

    @on(QuestionView.Remarked)
    def _show_remark(self, message: QuestionView.Remarked) -> None:
        self.message.say(message.words, warning=message.is_warning)

    def end_question(self, question: Question) -> None:
        """Nobody waits for this one any more. What the person is writing stays until she leaves it."""
        if question is not self._question:
            return
        if self.view.has_class("-editing") or self.view.has_class("-reasoning"):
            self.message.say(f"{question.gone} What you wrote stays here until you leave it with Esc.", warning=True)
            return
        self._ask_next()


def _told(verdict: Verdict, question: Question) -> str:
    who, path = one_line(question.proposal.actor.name), one_line(wording.relative(question.proposal.path))
    match verdict:
        case Allow():
            return f"Yes: {who} may go on with {path}."
        case Deny(reason=""):
            return f"No: {path} stays as it is."
        case Deny():
            return f"No: {path} stays as it is, and {who} is told why."
        case Edit():
            return f"{path} will hold your text, and {who} is told."
    return f"{who} is told."
