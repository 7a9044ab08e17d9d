"""One call of the hook, from its input to its answer.

It never blocks an agent by accident: a fault is reported, and the agent goes on, unless `is_strict` wants the opposite.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from memtui.agents.hooks.payload import (
    BEFORE,
    PATCH,
    SHELL,
    WRITING,
    HookCall,
    InvalidHookCall,
    MemoryFileLocation,
    locate_entry,
    locate_file,
    parse_call,
    predict_results,
)
from memtui.core.lazy_dataclass import dataclass
from memtui.fs.state import APPROVAL_SOCKET

if TYPE_CHECKING:
    from memtui.agents.hooks.decision import HookDecision
    from memtui.agents.hooks.secret_screen import ScreenedCall
    from memtui.agents.hooks.shell_call import ShellPlan
    from memtui.core.settings import Settings


_FAILED = "The memtui hook failed"


@dataclass(frozen=True, slots=True)
class HookOptions:
    """The options of the hook.

    Attributes:
        asks: Whether a running memtui is asked first.
        is_strict: Whether a change is refused where no person could be asked.
        seconds: How long an answer is waited for.
        directory: A memory folder besides those that are known.
        state: Its state directory, if not in the usual place.
        settings: The engine's settings for a folder; called only for a memory file.
    """

    asks: bool = False
    is_strict: bool = False
    seconds: float = 300.0
    directory: str | None = None
    state: str | None = None
    settings: Callable[[str], "Settings | None"] = lambda _: None


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The answer for Claude Code, as JSON (empty for no decision), and a fault as a sentence."""

    output: str = ""
    problem: str = ""


def answer_hook(data: bytes, options: HookOptions, failed: Callable[[Exception], object]) -> HookAnswer:
    """Answer a call of the hook with some input; `failed` takes faults in the background."""
    try:
        call = parse_call(data)
    except InvalidHookCall as error:
        return HookAnswer(problem=f"{error} Nothing was recorded.")
    if call is None:
        return HookAnswer()
    try:
        return _answer_call(call, options, failed)
    except Exception as error:  # an agent is not stopped by a fault of ours, of whatever kind
        problem = f"{_FAILED}: {error}"
        if options.asks and options.is_strict and call.event == BEFORE:
            return HookAnswer(_build_refusal(call, "the hook of memtui failed"), problem)
        return HookAnswer(problem=problem)


def _answer_call(call: HookCall, options: HookOptions, failed: Callable[[Exception], object]) -> HookAnswer:
    if call.tool in (SHELL, PATCH):
        return (_answer_before_shell if call.event == BEFORE else _answer_after_shell)(call, options, failed)
    if call.tool not in WRITING:
        if call.event == BEFORE:
            from memtui.agents.hooks.recorder import link_session  # noqa: PLC0415 - start-up: an agent waits

            link_session(call)
        return HookAnswer()
    place = locate_file(call.path, directory=options.directory, state=options.state)
    if place is None:
        return HookAnswer()
    place = place._replace(settings=options.settings(place.folder))
    if call.event == BEFORE:
        return _answer_before(call, place, options, failed)
    from memtui.agents.hooks import recorder  # noqa: PLC0415 - start-up: an agent waits

    announced, output = recorder.announce_result(call, place), ""
    if announced is not None:
        if options.asks and _screens_secrets(place):
            from memtui.agents.hooks import secret_screen  # noqa: PLC0415 - start-up: only where keys are not written

            output = secret_screen.warn_of_secret(call, place, announced)
        recorder.run_in_background(lambda: recorder.record_write(call, place, [announced]), failed)
    return HookAnswer(output)


def _answer_before(
    call: HookCall, place: MemoryFileLocation, options: HookOptions, failed: Callable[[Exception], object]
) -> HookAnswer:
    from memtui.agents.hooks import recorder  # noqa: PLC0415 - start-up: an agent waits

    before = recorder.read_file(call.path)
    if before is not None and not os.path.exists(f"{place.state}/journal.db"):
        recorder.record_baseline(place)
    texts = predict_results(call.tool, call.given, before)
    note, output = "", ""
    if options.asks:
        screened = _screen_secrets(call, place, before, texts)
        left_out, refusal = "", None
        if screened is not None:
            call, texts, left_out, refusal = screened
        decision = refusal or _request_decision(call, place, options, is_change=texts[:1] != (before,))
        output = decision.to_output(call, left_out)
        if not decision.allows:
            if decision.message is None:
                return HookAnswer(output)
            record = partial(recorder.record_refusal, call, place, decision.message, decision.note, decision.values)
            return HookAnswer(output, _run_safely(lambda: recorder.run_in_background(record, failed)))
        if decision.text is not None:
            texts, note = (decision.text.encode("utf-8"),), f"{call.tool}, edited by you"
        elif left_out:
            note = f"{call.tool}, {left_out}"
    if not texts:
        return HookAnswer(output)
    announce = partial(recorder.announce_write, call, place, texts, is_new=before is None, note=note)
    return HookAnswer(output, _run_safely(announce))


def _screens_secrets(place: MemoryFileLocation) -> bool:
    """Whether keys may not be written there."""
    return place.settings is not None and place.settings.secrets != "flag"


def _screen_secrets(
    call: HookCall, place: MemoryFileLocation, before: bytes | None, texts: "tuple[bytes, ...]"
) -> "ScreenedCall | None":
    """The call without keys that may not be written; `None` where all may be."""
    if place.settings is None or not _screens_secrets(place):
        return None
    from memtui.agents.hooks import secret_screen  # noqa: PLC0415 - start-up: only where keys are not written

    return secret_screen.screen_call(call, place, before, texts, place.settings.secrets)


def _request_decision(
    call: HookCall, place: MemoryFileLocation, options: HookOptions, *, is_change: bool
) -> "HookDecision":
    """A person's decision: at a running memtui, else in Claude Code's terminal; no permission where nothing changes."""
    from memtui.agents.hooks.decision import HookDecision, decide_elsewhere  # noqa: PLC0415 - start-up: only for a person

    decision = None
    if _is_memtui_open(place):
        from memtui.agents.hooks import approval  # noqa: PLC0415 - start-up: only where memtui is open

        decision = approval.request_decision(call, place, options.seconds, is_strict=options.is_strict)
    elif is_change:
        decision = decide_elsewhere(place, is_strict=options.is_strict)
    return decision or HookDecision("", "")


def _is_memtui_open(place: MemoryFileLocation) -> bool:
    if not os.path.lexists(f"{place.state}/{APPROVAL_SOCKET}"):
        return False
    from memtui.agents.ipc import connect_socket  # noqa: PLC0415 - start-up: only where a memtui may be open

    peer = connect_socket(place.state)
    if peer is not None:
        peer.close()
    return peer is not None


def _answer_before_shell(call: HookCall, options: HookOptions, failed: Callable[[Exception], object]) -> HookAnswer:
    from memtui.agents.hooks import recorder, shell_recorder  # noqa: PLC0415 - start-up: an agent waits
    from memtui.agents.hooks.shell_call import plan_shell_call  # noqa: PLC0415 - start-up: an agent waits

    where = partial(locate_file, directory=options.directory, state=options.state)
    entry = partial(locate_entry, directory=options.directory, state=options.state)
    plan = plan_shell_call(call, where, entry)
    if plan.folder is None:
        return HookAnswer()
    place = plan.folder._replace(settings=options.settings(plan.folder.folder))
    output = ""
    if options.asks:
        from memtui.agents.hooks.decision import decide_elsewhere  # noqa: PLC0415 - start-up: only for a person

        if not plan.is_clear:
            why = "memtui cannot tell what this command does to it."
            return HookAnswer(decide_elsewhere(place, why, is_strict=options.is_strict).to_output(call))
        if (refusal := _refuse_shell_secrets(place, plan)) is not None:
            decision = refusal
        elif _is_memtui_open(place):
            from memtui.agents.hooks import approval  # noqa: PLC0415 - start-up: only where memtui is open

            decision = approval.request_shell_decision(
                call, plan, lambda: plan_shell_call(call, where, entry), options.seconds, is_strict=options.is_strict
            )
        else:
            decision = decide_elsewhere(place, is_strict=options.is_strict)
        output = decision.to_output(call)
        if not decision.allows:
            if decision.message is None:
                return HookAnswer(output)
            record = partial(
                shell_recorder.record_shell_refusal,
                *(call, place, plan.changes, decision.message, decision.note, decision.values),
            )
            return HookAnswer(output, _run_safely(lambda: recorder.run_in_background(record, failed)))
    paths = [each.place.path for each in plan.changes if each.before is not None]
    if paths:
        recorder.record_baseline(place, paths)
    return HookAnswer(output, _run_safely(lambda: shell_recorder.announce_changes(call, plan.changes)))


def _refuse_shell_secrets(place: MemoryFileLocation, plan: "ShellPlan") -> "HookDecision | None":
    """The refusal of a command that would write a key where none may be written: no part of it can be left out."""
    if not _screens_secrets(place):
        return None
    from memtui.agents.hooks import secret_screen  # noqa: PLC0415 - start-up: only where keys are not written

    return secret_screen.refuse_shell_secrets(plan.changes)


def _answer_after_shell(call: HookCall, options: HookOptions, failed: Callable[[Exception], object]) -> HookAnswer:
    from memtui.agents.hooks import recorder, shell_recorder  # noqa: PLC0415 - start-up: an agent waits

    entry = partial(locate_entry, directory=options.directory, state=options.state)
    for folder, announced in shell_recorder.announce_effects(call, entry).items():
        if announced:
            place = folder._replace(settings=options.settings(folder.folder))
            recorder.run_in_background(partial(recorder.record_write, call, place, announced), failed)
    return HookAnswer()


def _run_safely(work: Callable[[], object]) -> str:
    """Run a step that must not take a person's answer away; its fault, as a sentence."""
    try:
        work()
    except Exception as error:  # the person's answer still holds
        return f"{_FAILED}: {error}"
    return ""


def _build_refusal(call: HookCall, why: str) -> str:
    from memtui.agents.hooks.decision import DENY, HookDecision  # noqa: PLC0415 - start-up: only for a refusal

    return HookDecision(DENY, f"Nobody allowed this change: {why}. Nothing was written.").to_output(call)
