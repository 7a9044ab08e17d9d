"""What answers the messages of a conversation: a model that the SDK reaches, or an agent's own program.

The conversation keeps the queue, the session, the questions and the undo; a responder connects and takes the turns.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from memtui.agents.chat import events, history
from memtui.agents.chat.faults import ClassifiedFault
from memtui.agents.chat.state import ChatState
from memtui.agents.chat.turn import ChatTurn
from memtui.core.approvals import Proposal, Unanswered, Verdict


class Responder(Protocol):
    """Takes the turns of one conversation. Used in its thread, where a loop runs."""

    async def connect(self) -> ClassifiedFault | None:
        """Be ready for a message, and emit `Ready` the first time; the fault, if that is not possible."""

    async def run_turn(self, prompt: events.Prompt) -> events.TurnEnded:
        """Take a turn; the caller emits the end. Nothing is raised."""
        ...

    def validate_attachment(self, attachment: events.Attachment) -> str | None:
        """Why a file cannot go along, as a sentence; `None` if it can."""

    def set_model(self, id: str) -> Awaitable[None] | None:
        """Have another model answer."""

    def set_effort(self, level: str | None) -> Awaitable[None] | None:
        """Set the effort; `None` for the model's default."""

    def set_thinking(self, thinking: bool | None) -> Awaitable[None] | None:
        """Set whether it may think; `None` for the model's default."""

    def set_mode(self, id: str) -> Awaitable[None] | None:
        """Have the agent work in another of its modes."""

    def decide(self, proposal: Proposal, answer: Callable[[Verdict], object]) -> None:
        """Decide on a change that the agent asks for from another process."""

    async def close(self) -> None:
        """End the connection."""


MakeResponder = Callable[[ChatState], Responder]
"""Makes the responder of a conversation; nothing is started yet."""


class SdkResponder:
    """A model that the SDK reaches."""

    def __init__(self, state: ChatState) -> None:
        self._state = state

    async def connect(self) -> ClassifiedFault | None:
        """Get a client and a model; the fault, if that is not possible."""
        return await self._state.connect()

    async def run_turn(self, prompt: events.Prompt) -> events.TurnEnded:
        """Take a turn with the model."""
        return await ChatTurn(self._state, prompt).run()

    def validate_attachment(self, attachment: events.Attachment) -> str | None:
        """Why a file cannot go to the model."""
        return history.validate_attachment(attachment, self._state.model)

    def set_model(self, id: str) -> None:
        """Have another model answer, from the next turn on."""
        self._state.set_model(id)

    def set_effort(self, level: str | None) -> None:
        """Set the effort, from the next turn on."""
        self._state.set_request_options(effort=level)

    def set_thinking(self, thinking: bool | None) -> None:
        """Set whether the model may think, from the next turn on."""
        self._state.set_request_options(thinking=thinking)

    def set_mode(self, id: str) -> None:  # noqa: ARG002 - it has none
        """Say that a model has no modes."""
        self._state.emit(events.Notice("A model has no modes; an agent's own program may have some (--agent)."))

    def decide(self, proposal: Proposal, answer: Callable[[Verdict], object]) -> None:  # noqa: ARG002 - none asks so
        """Answer that nobody decides: the model's tools run here, and ask nowhere else."""
        answer(Unanswered())

    async def close(self) -> None:
        """Close the client."""
        await self._state.close()
