"""A conversation begun behind the screen: its session is found or made, what was said in it is read, and it starts.

All of it may take its time: the disk, the SDK, the network. None of it happens on the screen's loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.agents.chat.events import ChatEvent, Prompt
from memtui.agents.chat.options import ChatOptions
from memtui.core.asking import Policy

if TYPE_CHECKING:  # loaded behind the first paint
    from memtui.agents.chat.conversation import Chat
    from memtui.agents.chat.sessions.session import Session
    from memtui.engine import Engine

Tell = Callable[[ChatEvent], None]
MakeChat = Callable[["Engine", ChatOptions, Tell, "Session"], "Chat"]
"""Makes a conversation that is not started yet."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which session is wanted.

    Attributes:
        resume: The id of one to go on with, a beginning of it, or `last`; `None` for a new one.
        fork: The same for one to go on from a copy of.
    """

    resume: str | None = None
    fork: str | None = None


class Begun(Message):
    """The conversation is there and can be started."""

    def __init__(
        self, chat: "Chat", session: "Session", told: list[ChatEvent], unanswered: Prompt | None, said: str
    ) -> None:
        """Tell what it begins with.

        Args:
            chat: The conversation.
            session: What it is kept as.
            told: What was told in it before, oldest first.
            unanswered: What the person said last, if nothing came back to it.
            said: What is good to know, in a sentence; empty for nothing.
        """
        super().__init__()
        self.chat = chat
        self.session = session
        self.told = told
        self.unanswered = unanswered
        self.said = said
        self.draft = ""
        """What was typed and not sent before."""


class NotBegun(Message):
    """The conversation cannot begin; the memory can still be looked at."""

    def __init__(self, reason: str) -> None:
        """Tell why, in sentences."""
        super().__init__()
        self.reason = reason


def begin(
    engine: "Engine", options: ChatOptions, directory: Path, folder: str, wanted: Wanted, tell: Tell, make: MakeChat
) -> Begun:
    """Find or make the session and the conversation, from a thread.

    Args:
        engine: The memory.
        options: How it is held.
        directory: Where sessions are kept.
        folder: The memory folder.
        wanted: Which session.
        tell: Takes what the conversation tells.
        make: Makes it.

    Raises:
        MemtuiError: There is no such session, or it cannot be read.
    """
    from memtui.agents.chat.sessions.session import Session, events_of  # deferred: behind the first paint

    kept = not engine.read_only
    if engine.read_only:
        options = replace(options, policy=Policy.READ_ONLY)
    told: list[ChatEvent] = []
    unanswered, said = None, ""
    if wanted.fork is not None:
        session = Session.fork(directory, wanted.fork, kept=kept)
        said = f"A copy of session {wanted.fork} goes on as {session.id}."
    elif wanted.resume is not None:
        session = Session.resume(directory, wanted.resume, kept=kept)
        said = f"Session {session.id} goes on."
    else:
        session = Session.new(
            directory, folder=folder, model=options.model, options=options, seq=engine.head()[0], kept=kept
        )
        return Begun(make(engine, options, tell, session), session, told, None, "")
    try:
        told = list(events_of(session.records(), engine.history.event))
        restored = session.restored()
        unanswered = restored.unanswered
        chat = make(engine, options, tell, session)
    except BaseException:
        session.close()
        raise
    return Begun(chat, session, told, unanswered, said)


def make_chat(engine: "Engine", options: ChatOptions, tell: Tell, session: "Session") -> "Chat":
    """A conversation with a real model."""
    from memtui.agents.chat.conversation import Chat  # deferred: behind the first paint

    return Chat(engine, options, tell, session=session)
