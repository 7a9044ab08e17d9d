"""Asking a person at a running memtui whether Claude Code may write a memory file, before it does."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memtui.agents.hooks.calls import HookCall
from memtui.agents.hooks.folders import Place
from memtui.agents.hooks.recording import read
from memtui.agents.hooks.results import results
from memtui.agents.waiting import ask_elsewhere
from memtui.core.asking import Allow, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import MemtuiError
from memtui.core.events import Change, Person, Version, sha256
from memtui.core.messages import Message
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Kind

_SHOWN = 16_000
"""Characters of a text that is told to the model."""
_NOTHING_WRITTEN = "Nothing was written."
_READ_IT = "Read the file again, and give the text to replace exactly as it stands there, once."


@dataclass(frozen=True, slots=True)
class Decision:
    """What Claude Code is told.

    Attributes:
        allows: Whether the tool may be used.
        reason: Why, for the model.
        text: What the file will hold instead, by the person's hand; `None` for what was proposed.
        message: What is recorded of a change that is not made; `None` for nothing.
        note: The same in a word or two, for the log.
        values: What the message's fields hold.
    """

    allows: bool
    reason: str
    text: str | None = None
    message: Message | None = None
    note: str = ""
    values: Mapping[str, object] = field(default_factory=dict)

    def said(self, call: HookCall) -> Mapping[str, object]:
        """The decision as the protocol of hooks has it."""
        output: dict[str, object] = {
            "hookEventName": call.event,
            "permissionDecision": "allow" if self.allows else "deny",
            "permissionDecisionReason": self.reason,
        }
        if self.text is not None:
            output["updatedInput"] = {**call.given, "content": self.text}
            output["additionalContext"] = f"{self.reason} It is this:\n{_shown(self.text)}"
        return {"hookSpecificOutput": output}


def decide(call: HookCall, place: Place, seconds: float) -> Decision | None:
    """What a person at a running memtui says to a change; `None` where nobody is there, or there is nothing to ask.

    What she sees is what is written: if the file changes while she looks, she is asked again.

    Raises:
        OSError: The file cannot be read.
    """
    path = os.path.join(place.folder, place.path)
    end = time.monotonic() + seconds
    again, draft = "", None
    while True:
        try:
            before = read(path)
        except OSError:
            if again:  # she has answered once: what she saw is not so any more, and she cannot be shown what is
                return Decision(False, f"{place.path} cannot be read any more. {_NOTHING_WRITTEN}")
            raise
        texts = results(call.tool, call.given, before)
        is_hers = draft is not None and (not texts or texts[0] == before)  # the tool could not do its part any more
        if is_hers and draft is not None:
            texts = (draft.encode("utf-8", "replace"),)
        if not texts:  # the tool may find the place by rules of its own: what nobody was shown is not written
            return Decision(False, f"What {place.path} would hold cannot be told. {_NOTHING_WRITTEN} {_READ_IT}")
        if texts[0] == before:
            return None
        proposal = replace(_proposal(call, place, before, texts[0]), again=again, draft=draft)
        left = max(end - time.monotonic(), 0.0)
        verdict = ask_elsewhere(place.state, proposal, seconds=left, wait_for_somebody=bool(again))
        if isinstance(verdict, Unanswered) and again:
            verdict = Unanswered(seconds)  # she was asked, so it is not as if nobody was there
        if isinstance(verdict, Edit) and _is_broken(verdict.text):
            again, draft = "Not saved: the text holds half a character.", verdict.text
            continue
        if isinstance(verdict, Edit) and not is_hers and draft is None and verdict.text.encode() == texts[0]:
            verdict = Allow()
        elif isinstance(verdict, Allow) and is_hers and draft is not None:
            verdict = Edit(draft)
        if isinstance(verdict, Allow | Edit) and _read_again(path) != before:
            again = f"{place.path} has changed since that was shown."
            draft = verdict.text if isinstance(verdict, Edit) else draft
            continue
        if isinstance(verdict, Edit) and call.tool != "Write":
            problem = _save(call, place, verdict.text, proposal)
            if problem:
                again, draft = problem, verdict.text
                continue
        return _decision(place, verdict, is_write=call.tool == "Write")


def _is_broken(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _read_again(path: str) -> bytes | None:
    try:
        return read(path)
    except OSError:
        return b"\0cannot be read any more"  # which is not what was shown: the next look says why


def _proposal(call: HookCall, place: Place, before: bytes | None, after: bytes) -> Proposal:
    was = None if before is None else Version(Kind.FILE, sha256(before), len(before))
    will = Version(Kind.FILE, sha256(after), len(after))
    texts = {sha256(data): data for data in (before, after) if data is not None}
    return Proposal(
        call.actor,
        "create" if call.tool == "Write" else "str_replace",
        str(MemoryPath.of(place.path)),
        None,
        call.call_id,
        (Change(place.path, was, will),),
        texts,
        "",
        {"tool": call.tool, "file_path": call.path},
    )


def _save(call: HookCall, place: Place, text: str, proposal: Proposal) -> str:
    """Save what the person made of an edit, as hers; tells why it could not be, as a sentence."""
    from memtui.opening import connect  # deferred: it opens a database, and she has answered already

    note = f"{call.actor.name}'s {call.tool}, edited"
    try:
        with connect(place.folder, state=place.state, settings=place.settings) as memory:
            memory.reconcile([place.path])
            before = proposal.changes[0].before
            done = memory.write(place.path, text.encode("utf-8"), based_on=before, note=note, actor=Person())
    except (MemtuiError, UnicodeEncodeError, OSError) as error:
        return f"Not saved: {error}"
    return done.problem if done.event is None else ""


def _decision(place: Place, verdict: Verdict, *, is_write: bool) -> Decision | None:
    path = place.path
    match verdict:
        case Allow():
            return Decision(True, "The person allowed this change in memtui.")
        case Deny(reason=reason) if reason.strip():
            words = f"The person declined this change to {path}. {_NOTHING_WRITTEN} They said: {reason.strip()}"
            return Decision(False, words, None, Message.DECLINED_WHY, "declined", {"reason": reason.strip()})
        case Deny():
            words = f"The person declined this change to {path}. {_NOTHING_WRITTEN}"
            return Decision(False, words, None, Message.DECLINED, "declined")
        case Edit(text=text) if is_write:
            words = f"The person edited the text before it is written: {path} holds theirs, not yours."
            return Decision(True, words, text)
        case Edit(text=text):
            shown = _shown(text)
            words = f"The person edited this change and saved it: do not repeat it. {path} now holds:\n{shown}"
            return Decision(False, words, None, Message.EDITED_FIRST, "edited by you first", {"view": shown})
        case Stop():
            words = f"The person stopped this change to {path}. {_NOTHING_WRITTEN}"
            return Decision(False, words, None, Message.STOPPED, "stopped")
        case Unanswered(seconds=0):
            return None
        case Unanswered(seconds=seconds):
            words = f"Nobody answered within {seconds:.0f} s whether {path} may be changed. {_NOTHING_WRITTEN}"
            return Decision(False, words, None, Message.UNANSWERED, "not approved", {"seconds": seconds})


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "\n[the rest is not shown: read the file]"


def as_json(decision: Decision, call: HookCall) -> str:
    """A decision as Claude Code reads it."""
    return json.dumps(decision.said(call))
