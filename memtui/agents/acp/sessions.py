"""The agent's own session behind a conversation: a new one, the one of before, or a copy of it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from acp import schema
from acp.exceptions import RequestError
from pydantic import BaseModel, ValidationError

from memtui.agents.chat.sessions.records import get_text
from memtui.agents.chat.sessions.store import ChatSession
from memtui.core.lazy_dataclass import dataclass

Request = Callable[[str, BaseModel], Awaitable[Any]]
"""Sends a request by the name of its method, such as `session_new`, and waits for the result."""


@dataclass(frozen=True, slots=True)
class EarlierSession:
    """A session that the agent has of an earlier part of the conversation.

    Attributes:
        id: The agent's id of it.
        is_copied: Whether it belongs to the conversation that this one is a copy of.
    """

    id: str
    is_copied: bool = False


@dataclass(frozen=True, slots=True)
class AgentSession:
    """An open session of the agent.

    Attributes:
        id: The agent's id of it.
        modes: The modes that it offers, and the one in use.
        options: Its settings, such as the model.
        is_new: Whether the agent knows nothing of what was said before.
        models: Its models by id and name, and the one in use, of an agent that does not have them as a setting.
    """

    id: str
    modes: schema.SessionModeState | None
    options: tuple[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean, ...]
    is_new: bool = True
    models: tuple[tuple[str, str], ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where a session is opened.

    Attributes:
        folder: The working directory.
        servers: The MCP servers.
        meta: What is sent as `_meta`.
    """

    folder: str
    servers: Sequence[schema.McpServerStdio]
    meta: Mapping[str, object]

    def list_fields(self) -> dict[str, Any]:
        """The fields of each request that opens a session."""
        return {"cwd": self.folder, "mcp_servers": [*self.servers], "field_meta": {**self.meta} or None}


def find_earlier_session(session: ChatSession, agent: str) -> EarlierSession | None:
    """The last session of an agent's that a conversation records; `None` for none, and after a `/clear`."""
    found = None
    for record in session.iter_records():
        if record.get("type") == "agent" and record.get("agent") == agent:
            id = get_text(record, "session")
            is_copied = session.is_copy or get_text(record, "of") not in ("", session.id)
            found = EarlierSession(id, is_copied) if id else None
        elif record.get("type") == "rewound" and record.get("why") == "clear":
            found = None
    return found


async def open_session(
    request: Request, able: schema.AgentCapabilities, place: SessionPlace, earlier: EarlierSession | None
) -> AgentSession:
    """Open a session: the earlier one or a copy of it where the agent can, else a new one.

    Args:
        request: Sends a request.
        able: What the agent says that it can do.
        place: Where it is opened.
        earlier: The session of before.

    Raises:
        RequestError: The agent opened none.
        ValidationError: It answered in another way than the protocol's.
    """
    for method, asked, kind in _list_ways(able, place, earlier):
        with suppress(RequestError, ValidationError):
            told = await request(method, asked) or {}
            return _make_session(kind.model_validate(told), told, earlier.id if earlier else "", is_new=False)
    told = await request("session_new", schema.NewSessionRequest(**place.list_fields()))
    return _make_session(schema.NewSessionResponse.model_validate(told), told, "", is_new=True)


def can_fork(able: schema.AgentCapabilities) -> bool:
    """Whether the agent can copy a session, which the protocol calls unstable."""
    return able.session_capabilities is not None and able.session_capabilities.fork is not None


def _list_ways(
    able: schema.AgentCapabilities, place: SessionPlace, earlier: EarlierSession | None
) -> list[tuple[str, BaseModel, type[BaseModel]]]:
    """The requests that open an earlier session, the best first, each with the type of its answer."""
    if earlier is None:
        return []
    fields = {**place.list_fields(), "session_id": earlier.id}
    if earlier.is_copied:
        fork = schema.ForkSessionRequest(**fields)
        return [("session_fork", fork, schema.ForkSessionResponse)] if can_fork(able) else []
    ways: list[tuple[str, BaseModel, type[BaseModel]]] = []
    if able.session_capabilities is not None and able.session_capabilities.resume is not None:
        # as loading, without a replay, which the conversation has itself
        resume = schema.ResumeSessionRequest(**fields)
        ways.append(("session_resume", resume, schema.ResumeSessionResponse))
    if able.load_session:
        ways.append(("session_load", schema.LoadSessionRequest(**fields), schema.LoadSessionResponse))
    return ways


def _make_session(answer: Any, told: Any, earlier: str, *, is_new: bool) -> AgentSession:
    id = getattr(answer, "session_id", earlier)
    models, model = _read_models(told.get("models") if isinstance(told, dict) else None)
    return AgentSession(id, answer.modes, tuple(answer.config_options or ()), is_new, models, model)


def _read_models(told: object) -> tuple[tuple[tuple[str, str], ...], str]:
    """Models as the protocol had them before it made a setting of them: its schema of today does not know them."""
    available = told.get("availableModels") if isinstance(told, dict) else None
    found: dict[str, str] = {}
    for each in available if isinstance(available, list) else ():
        id = get_text(each, "modelId") if isinstance(each, dict) else ""
        if id:
            found[id] = get_text(each, "name") or id
    return tuple(found.items()), get_text(told, "currentModelId") if isinstance(told, dict) else ""
