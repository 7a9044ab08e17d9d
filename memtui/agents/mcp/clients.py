"""Who calls: the actor and the number of a call, from what a client says of itself.

A client is a stranger: its name is cleaned, cut and never taken for a person's (`shown_name` sees to that).
"""

from collections.abc import Mapping
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.connection import Connection

from memtui.core.events import Agent
from memtui.core.visible import one_line

_NAMELESS = "mcp-client"
_LONGEST_NAME = 64
_LONGEST_ID = 200
_TOOL_USE = "claudecode/toolUseId"
"""Where Claude Code says which of its model's tool calls this is."""

Context = ServerRequestContext[Any, Any]


def actor_of(context: Context, name: str | None) -> Agent:
    """Who makes a request.

    Args:
        context: The request.
        name: The name that the server was told to use; `None` for the client's own.
    """
    known = context.session.client_params
    given = name if name is not None else known.client_info.name if known is not None else ""
    return Agent(_clean(given, _LONGEST_NAME) or _NAMELESS, session=_session_of(context))


def call_id_of(context: Context) -> str | None:
    """Which call it is: the model's id of it where the client tells, else the request's number."""
    given = tool_use_of(context) or context.request_id
    return None if given is None else _clean(str(given), _LONGEST_ID) or None


def tool_use_of(context: Context) -> str | None:
    """Which tool call of Claude Code's model it is; `None` for other clients."""
    meta = (context.params or {}).get("_meta")
    told = meta.get(_TOOL_USE) if isinstance(meta, Mapping) else None
    return told if isinstance(told, str) and told else None


def connection_of(context: Context) -> Connection:
    """The connection that a request came by; it lives as long as the client, and so does what is kept with it."""
    return context.session._connection  # the library hands it to no handler, and a subscription must end with it


def _session_of(context: Context) -> str | None:
    headers = getattr(context.request, "headers", None)
    given = headers.get("mcp-session-id") if headers is not None else None
    return _clean(given, _LONGEST_ID) or None if given else None


def _clean(text: str, limit: int) -> str:
    return " ".join(one_line(text).split())[:limit]
