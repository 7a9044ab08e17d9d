"""Asking a person at a running memtui whether Claude Code may write a memory file, before it does."""

import os
import time
from collections.abc import Callable
from dataclasses import replace

from memtui.agents.hooks.decision import ALLOW, DENY, NOTHING_WRITTEN, HookDecision, decide_elsewhere, truncate_text
from memtui.agents.hooks.payload import HookCall, MemoryFileLocation, locate_entry, predict_results
from memtui.agents.hooks.recorder import read_file
from memtui.agents.hooks.shell_call import ShellPlan
from memtui.agents.remote_approval import request_approval
from memtui.core.approvals import SHELL_COMMAND, Allow, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import MemtuiError
from memtui.core.events import Change, EntryKind, Person, Version, sha256
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath
from memtui.core.wording import format_count

_READ_IT = "Read the file again, and give the text to replace exactly as it stands there, once."


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
                return HookDecision(DENY, f"{place.path} cannot be read any more. {NOTHING_WRITTEN}")
            raise
        texts = predict_results(call.tool, call.given, before)
        is_draft = draft is not None and (not texts or texts[0] == before)  # the tool could not do its part any more
        if is_draft and draft is not None:
            texts = (draft.encode("utf-8", "replace"),)
        if not texts:  # the tool may find the place by rules of its own: only content that was shown is written
            return HookDecision(DENY, f"What {place.path} would hold cannot be told. {NOTHING_WRITTEN} {_READ_IT}")
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
    named = locate_entry(call.path, directory=place.folder, state=place.state)
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
            return HookDecision(DENY, f"The files have changed since that was shown. {NOTHING_WRITTEN}")
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
            words = f"The person declined this change to {path}. {NOTHING_WRITTEN} They said: {reason.strip()}"
            return HookDecision(DENY, words, None, MessageKey.DECLINED_WHY, "declined", {"reason": reason.strip()})
        case Deny():
            words = f"The person declined this change to {path}. {NOTHING_WRITTEN}"
            return HookDecision(DENY, words, None, MessageKey.DECLINED, "declined")
        case Edit(text=text) if is_write:
            words = f"The person edited the text before it is written: {path} holds theirs, not yours."
            return HookDecision(ALLOW, words, text)
        case Edit(text=text):
            shown = truncate_text(text)
            words = f"The person edited this change and saved it: do not repeat it. {path} now holds:\n{shown}"
            return HookDecision(DENY, words, None, MessageKey.EDITED_FIRST, "edited by you first", {"view": shown})
        case Stop():
            words = f"The person stopped this change to {path}. {NOTHING_WRITTEN}"
            return HookDecision(DENY, words, None, MessageKey.STOPPED, "stopped")
        case Unanswered(seconds=0):
            return None
        case Unanswered(seconds=seconds):
            words = f"Nobody answered within {seconds:.0f} s whether {path} may be changed. {NOTHING_WRITTEN}"
            return HookDecision(DENY, words, None, MessageKey.UNANSWERED, "not approved", {"seconds": seconds})
