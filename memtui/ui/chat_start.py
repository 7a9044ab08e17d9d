"""Starts a conversation in a thread: its session is opened or created, and its earlier events are read."""

from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.agents.chat.events import ChatEvent, ChatOptions, Prompt
from memtui.core.approvals import ApprovalPolicy
from memtui.core.lazy_dataclass import dataclass

if TYPE_CHECKING:  # loaded behind the first paint
    from memtui.agents.acp.catalog import KnownAgent
    from memtui.agents.chat.conversation import ChatController
    from memtui.agents.chat.sessions.store import ChatSession
    from memtui.engine import Engine


ReportEvent = Callable[[ChatEvent], None]
MakeChat = Callable[["Engine", ChatOptions, ReportEvent, "ChatSession"], "ChatController"]
"""Makes a conversation that is not started yet."""


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """The session to open, by its id, a beginning of it, or `last`: one to resume, or one to copy; else a new one."""

    resume: str | None = None
    fork: str | None = None


@dataclass(eq=False)
class ChatStarted(Message):
    """The conversation is there and can be started."""

    chat: "ChatController"
    session: "ChatSession"
    events: list[ChatEvent] = field(default_factory=list)
    """Of earlier, oldest first."""
    unanswered: Prompt | None = None
    """The last message of the person, if nothing came back to it."""
    notice: str = ""
    draft: str = ""
    """A text that was typed before and not sent."""


@dataclass(eq=False)
class ChatStartFailed(Message):
    """The conversation cannot begin; the memory can still be looked at."""

    reason: str


def start_chat(
    engine: "Engine", options: ChatOptions, directory: Path, folder: str, request: SessionRequest,
    report: ReportEvent, make: MakeChat,
) -> ChatStarted:  # fmt: skip
    """Open or create the session, and make the conversation, from a thread.

    Args:
        directory: The directory of the sessions.
        folder: The memory folder.
        report: Takes events of the conversation.
        make: Makes the conversation.

    Raises:
        MemtuiError: There is no such session, or it cannot be read.
    """
    from memtui.agents.chat.sessions.export import rebuild_events  # noqa: PLC0415 - start-up: behind the first paint
    from memtui.agents.chat.sessions.store import ChatSession  # noqa: PLC0415 - start-up: behind the first paint

    kept = not engine.read_only
    if engine.read_only:
        options = replace(options, policy=ApprovalPolicy.READ_ONLY)
    if request.fork is not None:
        session = ChatSession.fork(directory, request.fork, kept=kept)
        notice = f"Forked session {request.fork} as {session.id}."
    elif request.resume is not None:
        session = ChatSession.resume(directory, request.resume, kept=kept)
        notice = f"Resumed session {session.id}."
    else:
        session = ChatSession.create(
            directory, folder=folder, model=options.model, options=options, seq=engine.get_head()[0], kept=kept
        )
        return ChatStarted(make(engine, options, report, session), session)
    try:
        events = list(rebuild_events(session.iter_records(), engine.history.get_event))
        unanswered = session.restore().unanswered
        return ChatStarted(make(engine, options, report, session), session, events, unanswered, notice)
    except BaseException:
        session.close()
        raise


def create_chat(
    engine: "Engine", options: ChatOptions, report: ReportEvent, session: "ChatSession"
) -> "ChatController":
    """A conversation with a real model."""
    from memtui.agents.chat.conversation import ChatController  # noqa: PLC0415 - start-up: behind the first paint

    return ChatController(engine, options, report, session=session)


def make_agent_chat(agent: "KnownAgent", folder: str, server: tuple[str, ...]) -> MakeChat:
    """What makes a conversation with an agent's own program.

    Args:
        agent: With the one command that starts it.
        folder: The memory folder, with links resolved.
        server: The command of the MCP server over it.
    """

    def make(engine: "Engine", options: ChatOptions, report: ReportEvent, session: "ChatSession") -> "ChatController":
        from memtui.agents.acp.start import create_agent_chat  # noqa: PLC0415 - start-up: behind the first paint

        return create_agent_chat(engine, options, report, session, agent, folder, server)

    return make
