"""The decision on a call of the hook, as Claude Code reads it."""

import json
from collections.abc import Mapping

from memtui.agents.hooks.payload import CODEX, HookCall, MemoryFileLocation
from memtui.core.lazy_dataclass import dataclass, field
from memtui.core.messages import MessageKey
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line

ALLOW, DENY, ASK = "allow", "deny", "ask"
NOTHING_WRITTEN = "Nothing was written."
_SHOWN = 16_000
"""Characters of a text that is shown to the model."""
_LEFT_OUT = (
    "memtui leaves what looks like {what} out of {path}: [redacted: ...] stands in its place. Store a reference "
    "instead of the value, for example the name of an environment variable."
)


@dataclass(frozen=True, slots=True)
class HookDecision:
    """A decision for Claude Code.

    Attributes:
        permission: `allow`, `deny`, `ask` for a question by Claude Code itself, or empty: as if there were no hook.
        reason: For the model, or for the person whom Claude Code asks.
        text: The person's content in place of the proposed one.
        message: The record of a change that is not made; `None` for none.
        note: A word or two for the log.
        values: The values of the message's fields.
    """

    permission: str
    reason: str
    text: str | None = None
    message: MessageKey | None = None
    note: str = ""
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def allows(self) -> bool:
        """Whether the change may be made."""
        return self.permission != DENY

    def to_output(self, call: HookCall, left_out: str = "") -> str:
        """The decision as Claude Code reads it; empty for none.

        Args:
            call: The call, as it may be made.
            left_out: What is left out of its input, as a note for the log. Claude Code takes another input without a
                permission, too, and asks as it would have.
        """
        output: dict[str, object] = {}
        if self.permission and (self.permission == DENY or call.agent != CODEX):  # which takes no other one
            output |= {"permissionDecision": self.permission, "permissionDecisionReason": self.reason}
        if self.text is not None:
            output["updatedInput"] = {**call.given, "content": self.text}
            output["additionalContext"] = f"{self.reason} It is this:\n{truncate_text(self.text)}"
        elif left_out and self.allows:
            from memtui.core.wording import SECRET_REDACTED  # noqa: PLC0415 - start-up: only where a key is left out

            output["updatedInput"] = call.given
            output["additionalContext"] = _LEFT_OUT.format(path=call.path, what=left_out.removeprefix(SECRET_REDACTED))
        return json.dumps({"hookSpecificOutput": {"hookEventName": call.event, **output}}) if output else ""


def decide_elsewhere(place: MemoryFileLocation, why: str = "", *, is_strict: bool) -> HookDecision:
    """The decision where no memtui can ask: Claude Code asks in its own terminal, unless `is_strict` refuses.

    Without a terminal Claude Code makes no such change.
    """
    about = f"It is about the memory folder {to_one_line(format_path(place.folder))}."
    if is_strict:
        why = why or "no memtui is running in which a person could be asked."
        return HookDecision(DENY, f"Nobody allowed this change: {why} {NOTHING_WRITTEN} {about}")
    return HookDecision(ASK, f"{why or 'No memtui is open to show this change.'} {about}")


def truncate_text(text: str) -> str:
    """A text as it is shown to the model."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "\n[the rest is not shown: read the file]"
