"""Asking the person in the client itself whether a change may be made, where the client can ask.

What is granted is exactly what is shown: a change that does not fit into a message is not asked about here.
"""

from typing import Any

from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from memtui.agents.mcp.calls import Context
from memtui.core import diffs
from memtui.core.approvals import Allow, Deny, Proposal, Unanswered, Verdict
from memtui.core.events import format_actor_name
from memtui.core.paths import MemoryPath
from memtui.core.unicode import to_one_line, visible

_LONGEST = 8_000
"""Characters of a message; of a longer one a person would see a part only."""
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Write this", "description": "Make exactly this change, and no other"},
        "reason": {"type": "string", "title": "Why not", "description": "Told to the agent where it is declined"},
    },
    "required": ["approve"],
}


def can_elicit(context: Context) -> bool:
    """Whether the client of a request can show a form, and be asked during the request."""
    known = context.session.client_capabilities
    able = known.elicitation if known is not None else None
    return able is not None and (able.form is not None or able.url is None) and context.session.can_send_request


async def elicit_verdict(context: Context, proposal: Proposal) -> Verdict:
    """The person's verdict; `Unanswered` where the client could not ask, or the change cannot be shown whole."""
    message = describe_proposal(proposal)
    if message is None:
        return Unanswered()
    try:
        result = await context.session.elicit_form(message, _SCHEMA, related_request_id=context.request_id)
    except (MCPError, ValidationError):
        return Unanswered()
    content = result.content or {}
    if result.action == "accept" and content.get("approve") is True:
        return Allow()
    reason = content.get("reason")
    return Deny(reason if isinstance(reason, str) else "")


def describe_proposal(proposal: Proposal) -> str | None:
    """A change as a text: who, what, and all lines; `None` where that is too long, or no text."""
    target = f" to {to_one_line(proposal.new_path)}" if proposal.new_path else ""
    who = to_one_line(format_actor_name(proposal.actor))
    lines = [f"{who} wants to {proposal.command} {to_one_line(proposal.path)}{target}."]
    lines += [to_one_line(proposal.again)] if proposal.again else []
    for change in proposal.changes if proposal.command in ("delete", "rename") else ():
        lines.append(to_one_line(str(MemoryPath.from_relative(change.path))))
    for change in proposal.files if proposal.command not in ("delete", "rename") else ():
        before, after = proposal.text(change.before), proposal.text(change.after)
        if before is None or after is None:
            return None
        lines += [visible(line) for line in diffs.format_unified(before, after)]
    message = "\n".join(lines)
    return message if len(message) <= _LONGEST else None
