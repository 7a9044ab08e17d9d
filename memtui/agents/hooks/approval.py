"""Asking a person at a running memtui whether Claude Code may write a memory file, before it does."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace

from memtui.agents.hooks.payload import CODEX, HookCall, MemoryFileLocation, locate_entry, predict_results
from memtui.agents.hooks.recorder import read_file
from memtui.agents.hooks.shell_call import ShellPlan
from memtui.agents.remote_approval import request_approval
from memtui.core.approvals import SHELL_COMMAND, Allow, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import MemtuiError
from memtui.core.events import Change, EntryKind, Person, Version, sha256
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath, format_path
from memtui.core.unicode import to_one_line
from memtui.core.wording import SECRET_REDACTED, format_count

ALLOW, DENY, ASK = "allow", "deny", "ask"
_SHOWN = 16_000
"""Characters of a text that is shown to the model."""
_NOTHING_WRITTEN = "Nothing was written."
_LEFT_OUT = (
    "memtui leaves what looks like {what} out of {path}: [redacted: ...] stands in its place. Store a reference "
    "instead of the value, for example the name of an environment variable."
)
_READ_IT = "Read the file again, and give the text to replace exactly as it stands there, once."


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
            output["additionalContext"] = f"{self.reason} It is this:\n{_truncate_text(self.text)}"
        elif left_out and self.allows:
            output["updatedInput"] = call.given
            output["additionalContext"] = _LEFT_OUT.format(path=call.path, what=left_out.removeprefix(SECRET_REDACTED))
        return json.dumps({"hookSpecificOutput": {"hookEventName": call.event, **output}}) if output else ""


def request_decision(
    call: HookCall, place: MemoryFileLocation, seconds: float, *, is_strict: bool = False
) -> HookDecision | None:
    """A person's decision at a running memtui; `None` where there is no change.

    The content that the person sees is written: if the file changes meanwhile, the question is asked again.

    Raises:
        OSError: The file cannot be read.
    """
    path = os.path.join(place.folder, place.path)
    end = time.monotonic() + seconds
    again, draft = "", None
    while True:
        try:
            before = read_file(path)
        except OSError:
            if again:  # after an answer: the file changed, and its content cannot be shown
                return HookDecision(DENY, f"{place.path} cannot be read any more. {_NOTHING_WRITTEN}")
            raise
        texts = predict_results(call.tool, call.given, before)
        is_draft = draft is not None and (not texts or texts[0] == before)  # the tool could not do its part any more
        if is_draft and draft is not None:
            texts = (draft.encode("utf-8", "replace"),)
        if not texts:  # the tool may find the place by rules of its own: only content that was shown is written
            return HookDecision(DENY, f"What {place.path} would hold cannot be told. {_NOTHING_WRITTEN} {_READ_IT}")
        if texts[0] == before:
            return None
        proposal = replace(_build_proposal(call, place, before, texts[0]), again=again, draft=draft)
        remaining = max(end - time.monotonic(), 0.0)
        verdict = request_approval(place.state, proposal, seconds=remaining, wait_for_server=bool(again))
        if isinstance(verdict, Unanswered) and again:
            verdict = Unanswered(seconds)  # the person was asked before
        if isinstance(verdict, Edit) and draft is None and verdict.text.encode("utf-8", "surrogatepass") == texts[0]:
            verdict = Allow()
        elif isinstance(verdict, Allow) and is_draft and draft is not None:
            verdict = Edit(draft)
        again = _apply_verdict(call, place, verdict, proposal, before)
        if not again:
            decision = _build_decision(place, verdict, is_write=call.tool == "Write")
            return decision or decide_elsewhere(place, is_strict=is_strict)
        draft = verdict.text if isinstance(verdict, Edit) else draft


def _apply_verdict(
    call: HookCall, place: MemoryFileLocation, verdict: Verdict, proposal: Proposal, before: bytes | None
) -> str:
    """Save an edit that Claude Code cannot write itself; why the person has to be asked again, as a sentence."""
    if not isinstance(verdict, Allow | Edit):
        return ""
    if isinstance(verdict, Edit) and _has_lone_surrogate(verdict.text):
        return "Not saved: the text has an incomplete character."
    if _reread_file(os.path.join(place.folder, place.path)) != before:
        return f"{place.path} has changed since that was shown."
    return _save_edit(call, place, verdict.text, proposal) if isinstance(verdict, Edit) and call.tool != "Write" else ""


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _reread_file(path: str) -> bytes | None:
    try:
        return read_file(path)
    except OSError:
        return b"\0cannot be read any more"  # differs from the shown content: the next read reports the error


def _build_proposal(call: HookCall, place: MemoryFileLocation, before: bytes | None, after: bytes) -> Proposal:
    was = None if before is None else Version(EntryKind.FILE, sha256(before), len(before))
    will = Version(EntryKind.FILE, sha256(after), len(after))
    texts = {sha256(data): data for data in (before, after) if data is not None}
    named = locate_entry(call.path, directory=place.folder, state=str(place.state))
    name = named.path if named is not None and named.folder == place.folder else place.path
    return Proposal(
        call.actor,
        "create" if call.tool == "Write" else "str_replace",
        str(MemoryPath.from_relative(name)),
        None,
        call.call_id,
        (Change(place.path, was, will),),
        texts,
        "",
        {"tool": call.tool, "file_path": call.path},
    )


def _save_edit(call: HookCall, place: MemoryFileLocation, text: str, proposal: Proposal) -> str:
    """Save the person's edit as theirs; why it could not be saved, as a sentence."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: opens a database

    note = f"{call.actor.name}'s {call.tool}, edited"
    try:
        with connect(place.folder, state=place.state, settings=place.settings) as memory:
            memory.reconcile([place.path])
            before = proposal.changes[0].before
            done = memory.write(place.path, text.encode("utf-8"), based_on=before, note=note, actor=Person())
    except (MemtuiError, UnicodeEncodeError, OSError) as error:
        return f"Not saved: {error}"
    return done.problem if done.event is None else ""


def decide_elsewhere(place: MemoryFileLocation, why: str = "", *, is_strict: bool) -> HookDecision:
    """The decision where no memtui can ask: Claude Code asks in its own terminal, unless `is_strict` refuses.

    Without a terminal Claude Code makes no such change.
    """
    about = f"It is about the memory folder {to_one_line(format_path(place.folder))}."
    if is_strict:
        why = why or "no memtui is running in which a person could be asked."
        return HookDecision(DENY, f"Nobody allowed this change: {why} {_NOTHING_WRITTEN} {about}")
    return HookDecision(ASK, f"{why or 'No memtui is open to show this change.'} {about}")


def request_shell_decision(
    call: HookCall, plan: ShellPlan, replan: Callable[[], ShellPlan], seconds: float, *, is_strict: bool
) -> HookDecision:
    """A person's decision on a shell command, whose changes are shown together. Its text cannot be edited."""
    end, again = time.monotonic() + seconds, ""
    while True:
        assert plan.folder is not None
        proposal = replace(_build_shell_proposal(call, plan), again=again)
        remaining = max(end - time.monotonic(), 0.0)
        verdict = request_approval(plan.folder.state, proposal, seconds=remaining, wait_for_server=bool(again))
        if isinstance(verdict, Unanswered) and again:
            verdict = Unanswered(seconds)
        if isinstance(verdict, Edit):
            verdict = Deny("The text of a command cannot be edited.")
        decision = _build_decision(_locate_changes(plan), verdict, is_write=False)
        if decision is None:
            return decide_elsewhere(plan.folder, is_strict=is_strict)
        if not isinstance(verdict, Allow):
            return decision
        now = replan()
        if now == plan:  # the rest of the command, such as what it reads, is left to Claude Code's own rules
            return decision if plan.is_all else replace(decision, permission="")
        if not now.is_clear or not now.changes:
            return HookDecision(DENY, f"The files have changed since that was shown. {_NOTHING_WRITTEN}")
        plan, again = now, "The files have changed since that was shown."


def _locate_changes(plan: ShellPlan) -> MemoryFileLocation:
    """The location that names all changes of a command."""
    assert plan.folder is not None
    more = len(plan.changes) - 1
    path = plan.changes[0].place.path
    return plan.folder._replace(path=f"{path} and {format_count(more, 'other file')}" if more else path)


def _build_shell_proposal(call: HookCall, plan: ShellPlan) -> Proposal:
    changes, texts = list[Change](), dict[str, bytes]()
    for each in plan.changes:
        before, after = (
            None if data is None else Version(EntryKind.FILE, sha256(data), len(data)) for data in each[1:3]
        )
        if each.is_link and before is not None:
            before = Version(EntryKind.LINK, before.sha256)
        changes.append(Change(each.place.path, before, after))
        texts |= {sha256(data): data for data in each[1:3] if data is not None}
    raw = {"tool": call.tool, "command": call.given.get("command")}
    first = plan.changes[0]
    moved = next((each for each in plan.changes if each.moved_to), None)
    path, new_path = str(MemoryPath.from_relative((moved or first).place.path)), None
    if moved is not None and {each.place.path for each in plan.changes} == {moved.place.path, moved.moved_to}:
        command, new_path = "rename", str(MemoryPath.from_relative(moved.moved_to))
    else:
        command = "delete" if len(plan.changes) == 1 and first.after is None else SHELL_COMMAND
    return Proposal(call.actor, command, path, new_path, call.call_id, tuple(changes), texts, "", raw)


def _build_decision(place: MemoryFileLocation, verdict: Verdict, *, is_write: bool) -> HookDecision | None:
    path = place.path
    match verdict:
        case Allow():
            return HookDecision(ALLOW, "The person allowed this change in memtui.")
        case Deny(reason=reason) if reason.strip():
            words = f"The person declined this change to {path}. {_NOTHING_WRITTEN} They said: {reason.strip()}"
            return HookDecision(DENY, words, None, MessageKey.DECLINED_WHY, "declined", {"reason": reason.strip()})
        case Deny():
            words = f"The person declined this change to {path}. {_NOTHING_WRITTEN}"
            return HookDecision(DENY, words, None, MessageKey.DECLINED, "declined")
        case Edit(text=text) if is_write:
            words = f"The person edited the text before it is written: {path} holds theirs, not yours."
            return HookDecision(ALLOW, words, text)
        case Edit(text=text):
            shown = _truncate_text(text)
            words = f"The person edited this change and saved it: do not repeat it. {path} now holds:\n{shown}"
            return HookDecision(DENY, words, None, MessageKey.EDITED_FIRST, "edited by you first", {"view": shown})
        case Stop():
            words = f"The person stopped this change to {path}. {_NOTHING_WRITTEN}"
            return HookDecision(DENY, words, None, MessageKey.STOPPED, "stopped")
        case Unanswered(seconds=0):
            return None
        case Unanswered(seconds=seconds):
            words = f"Nobody answered within {seconds:.0f} s whether {path} may be changed. {_NOTHING_WRITTEN}"
            return HookDecision(DENY, words, None, MessageKey.UNANSWERED, "not approved", {"seconds": seconds})


def _truncate_text(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "\n[the rest is not shown: read the file]"
