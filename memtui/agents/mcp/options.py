"""The options of the server. This module loads no protocol, so that the command line can import it."""

from dataclasses import dataclass

from memtui.core.approvals import ApprovalPolicy

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
        guidance: The person's words on what to remember.
        version: Of memtui.
    """

    folder: str
    state: str | None
    policy: ApprovalPolicy = ApprovalPolicy.ALLOW
    ask_seconds: float = ASK_SECONDS
    name: str | None = None
    guidance: str = ""
    version: str = ""
