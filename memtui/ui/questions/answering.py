"""What a screen over a memory does when another process asks: say so where it cannot be overlooked, and let answer.

Nothing opens by itself: the person may be typing. A banner stands until she answers, or until nobody waits any more.
"""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from memtui.core.visible import one_line
from memtui.ui.questions.messages import Questioned, QuestionEnded
from memtui.ui.screens.taking import PastKeys
from memtui.ui.session import Session

if TYPE_CHECKING:
    from memtui.agents.waiting import Question
    from memtui.ui.questions.line import QuestionLine

BANNER = "asked-elsewhere"
"""The name of the banner; a chat has a widget called `question`."""


class Answering(PastKeys):
    """A screen in which questions of other processes are answered.

    Args:
        session: The open memory, which tells of them.
        title: How the folder is called.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "f9", "answer_question", "answer", id="browse.answer", tooltip="Answer an agent that asks", show=False,
            priority=True,
        ),
    ]  # fmt: skip

    def __init__(self, session: Session, *, title: str) -> None:
        super().__init__(session, title=title)
        self._questions: QuestionLine | None = None

    @property
    def questions(self) -> "QuestionLine":
        """What other processes ask."""
        if self._questions is None:
            from memtui.ui.questions.line import QuestionLine  # deferred: only where somebody asks

            self._questions = QuestionLine()
        return self._questions

    @on(Questioned)
    def _take_from_elsewhere(self, message: Questioned) -> None:
        question = message.question
        if question.gone:
            return
        if not self.questions.take(question):
            self._let_through(question)
            return
        if len(self.questions.waiting) == 1:
            self.app.bell()
        self.show_questions()

    @on(QuestionEnded)
    def _end_from_elsewhere(self, message: QuestionEnded) -> None:
        question = message.question
        if not self.questions.drop(question):
            return
        from memtui.ui.questions.line import wish  # deferred, as above

        self._say(f"{wish(question.proposal)}: {question.gone}", warning=True)
        self.show_questions()
        for screen in self.app.screen_stack:
            ended = getattr(screen, "end_question", None)
            if ended is not None:
                ended(question)

    def show_questions(self) -> None:
        """The banner as it is now."""
        from memtui.ui.questions.line import until, wish  # deferred, as above

        waiting = self.questions.waiting
        case = f"{wish(waiting[0].proposal)}." if waiting else ""
        more = f" {len(waiting) - 1:,} more behind it." if len(waiting) > 1 else ""
        remedy = f"F9 answers, until {until(waiting[0])}.{more}" if waiting else ""
        above = f"F9 answers back among the files, until {until(waiting[0])}.{more}" if waiting else ""
        self._alarm(BANNER, case, remedy, above=above)

    def let_through(self) -> None:
        """Answer what need not be asked about any more."""
        for question in self.questions.allowed_now():
            self._let_through(question)
        self.show_questions()

    def _let_through(self, question: "Question") -> None:
        from memtui.core.asking import Allow  # deferred, as above
        from memtui.ui.questions.line import wish

        if question.answer(Allow()):
            self._say(
                f"Let through, as you said: {one_line(wish(question.proposal))}. F9 asks you again from now on.",
                warning=False,
            )

    def action_answer_question(self) -> None:
        """Look at the first question, and answer it."""
        if not self.is_current:
            return
        if self.questions.waiting:
            from memtui.ui.questions.screen import QuestionScreen  # deferred: only where somebody asks

            self.app.push_screen(QuestionScreen(self, title=self._title))
        elif self.questions.lets_through:
            self.questions.ask_again()
            self._say("From now on you are asked about every change again.", warning=False)
        else:
            self._say("No agent asks anything.", warning=False)

    def _alarm(self, name: str, case: str, remedy: str, *, above: str | None = None) -> None:
        """Say what must not be overlooked, here and on the screens above."""
        raise NotImplementedError
