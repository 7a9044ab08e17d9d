"""`memtui mcp`: the memory as a server of the Model Context Protocol, and its options. Only this package knows `mcp`.

The protocol takes more than a second to load, and it is an extra: `memtui.cli.mcp` loads the modules of this package
only to serve.
"""

from dataclasses import field

from memtui.core.approvals import ApprovalPolicy
from memtui.core.lazy_dataclass import dataclass

ASK_SECONDS = 50.0
"""Clients give up on a call after about a minute; ours is answered before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a memory is served.

    Attributes:
        folder: The memory folder, with links resolved.
        state: The directory of its journal; `None` where nothing is recorded.
        ask_seconds: How long a change waits for a person, where the policy is to ask.
        name: The name that all clients act under; `None` for the one that each gives itself.
        session: The session that all clients act in; `None` for the one that each names.
        guidance: The person's words on what to remember.
        version: Of memtui.
        token: What each request over HTTP must bear; empty for nothing.
    """

    folder: str
    state: str | None
    policy: ApprovalPolicy = ApprovalPolicy.ALLOW
    ask_seconds: float = ASK_SECONDS
    name: str | None = None
    session: str | None = None
    guidance: str = ""
    version: str = ""
    token: str = field(default="", repr=False)
