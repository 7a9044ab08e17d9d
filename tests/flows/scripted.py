"""A dialog that answers by a script: flows are decided headless over it."""

from collections.abc import Callable, Sequence
from typing import Any

from memtui.core.events import Change
from memtui.flows.dialog import Choice, Step
from memtui.ui.flows.dialog import PHRASES


class ScriptedDialog:
    """Answers each question by a script, and keeps what was asked; none of its coroutines suspends."""

    phrases = PHRASES

    def __init__(self, *answers: bool | str | None, before_answer: Callable[[], object] = lambda: None) -> None:
        self.answers = [*answers]
        self.asked: list[str] = []
        self.shown: list[Change] = []
        self._before_answer = before_answer

    async def confirm(self, question: str) -> bool:
        self.asked.append(question)
        self._before_answer()
        return bool(self.answers.pop(0))

    async def choose(self, question: str, choices: Sequence[Choice], *, text: str = "") -> str | None:
        del text
        self.asked.append("\n".join([question, *(each.label for each in choices)]))
        self._before_answer()
        answer = self.answers.pop(0)
        return next((each.value for each in choices if each.value == answer), None)

    async def call(self, work: Callable[[], Any], label: str = "") -> Any:
        del label
        return work()

    async def run(self, label: str, work: Callable[[Step], Any], *, can_stop: bool = True) -> Any:
        del label, can_stop
        return work(lambda *_: True)
