"""The protocol by which a flow asks, shows progress and words its sentences.

A screen and the line by line mode each implement it. A dialog whose awaits never suspend is driven by `run_flow`.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from memtui.core.events import Event
from memtui.core.lazy_dataclass import dataclass

T = TypeVar("T")

Step = Callable[[int, int], bool]
"""Takes how much of how much is done; its answer says whether to go on."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: the key that chooses it on a screen, its label, and the value that the asker gets."""

    key: str
    label: str
    value: str


def number_choices(answers: Iterable[tuple[str, str]]) -> list[Choice]:
    """Choices from labels and values; the first nine have their number as the key."""
    return [
        Choice(str(number) if number < 10 else "", label, value)
        for number, (label, value) in enumerate(answers, start=1)
    ]


@dataclass(frozen=True, slots=True)
class FlowOutcome:
    """A sentence to report, whether it is a warning, and the recorded event, which is told by it; 0 for none."""

    words: str
    is_warning: bool = False
    event: int = 0


class Phrases(Protocol):
    """The words that differ between the screens and the line by line mode."""

    def name_action(self, action: str) -> str:
        """The name of an action by the id of its key binding, such as `u` or `Undo`; empty where it is not offered."""

    def format_event(self, event: Event) -> str:
        """An event as a clause, such as `Claude changed notes.md (+1 -1)`."""

    def format_past_event(self, event: Event) -> str:
        """The same with its time."""

    def format_changed_lines(self, event: Event) -> str:
        """The lines that an event changed, such as ` (+3 -1)`; empty where lines do not apply."""

    def format_restored(self, path: str, moment: str) -> str:
        """The sentence once a version is restored; `moment` is its time in words, such as `as of 10:14`."""


class Dialog(Protocol):
    """Where a flow asks a person and runs its work."""

    @property
    def phrases(self) -> Phrases:
        """The words of this front end."""

    async def confirm(self, question: str) -> bool:
        """Ask yes or no."""

    async def choose(self, question: str, choices: Sequence[Choice], *, text: str = "") -> str | None:
        """Ask for one of several answers about a text, if any; `None` to go back."""

    async def ask_moment(self, question: str, seen: int) -> int | None:
        """Ask since when; the last event before, or `None` to go back. Events up to `seen` are seen."""

    async def call(self, work: Callable[[], T], label: str = "") -> T:
        """Run short work without progress off the event loop; a label is shown where it takes long."""

    async def run(self, label: str, work: Callable[[Step], T], *, can_stop: bool = True) -> T:
        """Run long work with progress; `can_stop` if it heeds the answer to a step."""


def run_flow(flow: Coroutine[Any, Any, T]) -> T:
    """Drive a flow whose dialog never suspends to its end, without an event loop."""
    try:
        flow.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise RuntimeError("the dialog suspended")


# Words that the flows share


def format_hint(phrases: Phrases, action: str, effect: str) -> str:
    """A sentence such as ` u takes it back.`, empty where the action is not offered."""
    name = phrases.name_action(action)
    return f" {name} {effect}" if name else ""
