"""Makes a conversation with an agent's program."""

from collections.abc import Callable

from memtui.agents.acp.catalog import KnownAgent
from memtui.agents.acp.responder import AcpOptions, AcpResponder
from memtui.agents.chat.conversation import ChatController
from memtui.agents.chat.events import ChatEvent, ChatOptions
from memtui.agents.chat.sessions.store import ChatSession
from memtui.engine import Engine


def create_agent_chat(
    memory: Engine, options: ChatOptions, listener: Callable[[ChatEvent], None], session: ChatSession,
    agent: KnownAgent, folder: str, server: tuple[str, ...], *, can_ask: bool = True,
) -> ChatController:  # fmt: skip
    """A conversation with an agent's program, which is not started yet; see `ChatController` and `AcpOptions`."""
    acp = AcpOptions(agent, folder, server, can_ask=can_ask)
    return ChatController(memory, options, listener, session=session, responder=lambda state: AcpResponder(state, acp))
