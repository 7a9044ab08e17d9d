"""Facts that the desk tells the screen; see `memtui.ui.messages`."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.agents.waiting import Question


class Questioned(Message):
    """Another process asks whether its change may be made."""

    def __init__(self, question: "Question") -> None:
        """Tell what."""
        super().__init__()
        self.question = question


class QuestionEnded(Message):
    """A question needs no answer any more: who asked is gone, or has waited long enough."""

    def __init__(self, question: "Question") -> None:
        """Tell which."""
        super().__init__()
        self.question = question
