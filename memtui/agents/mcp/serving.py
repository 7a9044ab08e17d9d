"""What a server is told when it is started, as a value. It loads nothing, so that the command line can make it."""

from dataclasses import dataclass

from memtui.core.asking import Policy

ASK_SECONDS = 50.0
"""Clients give up on a call after about a minute; ours is answered before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a memory is served.

    Attributes:
        folder: The memory folder, with links resolved.
        state: The directory of its journal; `None` where nothing is recorded.
        policy: What becomes of changes that clients ask for.
        ask_seconds: How long a change waits for a person, where the policy is to ask.
        name: The name that all clients act under; `None` for the one that each gives itself.
        guidance: What to remember and what not, in the words of whoever started the server.
        version: Of memtui.
    """

    folder: str
    state: str | None
    policy: Policy = Policy.ALLOW
    ask_seconds: float = ASK_SECONDS
    name: str | None = None
    guidance: str = ""
    version: str = ""
