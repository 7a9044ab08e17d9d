"""One call of the hook, from what it is told to what it answers.

It never stands in an agent's way by accident: whatever goes wrong is said, and the agent goes on, unless somebody asked
for the opposite.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.agents.hooks.calls import BEFORE, WRITING, HookCall, NoCall, read_call

if TYPE_CHECKING:
    from memtui.agents.hooks.asking import Decision
    from memtui.agents.hooks.folders import Place
    from memtui.core.settings import Settings


_FAILED = "The hook of memtui could not do its work"


@dataclass(frozen=True, slots=True)
class HookOptions:
    """How the hook was set up.

    Attributes:
        asks: Whether a running memtui is asked first.
        is_strict: Whether a change that nobody could be asked about is refused.
        seconds: How long it is waited for an answer.
        directory: A memory folder besides those that are known.
        state: Where its state lies, if not in its usual place.
        settings: Tells how commands behave in a folder; asked only once one is concerned.
    """

    asks: bool = False
    is_strict: bool = False
    seconds: float = 300.0
    directory: str | None = None
    state: str | None = None
    settings: Callable[[str], "Settings | None"] = lambda _: None


@dataclass(frozen=True, slots=True)
class Said:
    """What the hook answers.

    Attributes:
        output: For Claude Code, as JSON; empty for no decision.
        problem: What went wrong, as a sentence.
    """

    output: str = ""
    problem: str = ""


def answer(data: bytes, options: HookOptions, failed: Callable[[Exception], object]) -> Said:
    """Answer a call of the hook.

    Args:
        data: What it was told.
        options: How it was set up.
        failed: Keeps what goes wrong in the background.
    """
    try:
        call = read_call(data)
    except NoCall as error:
        return Said(problem=f"{error} Nothing was recorded.")
    if call is None:
        return Said()
    try:
        return _answered(call, options, failed)
    except Exception as error:  # an agent is not stopped by a fault of ours, of whatever kind
        problem = f"{_FAILED}: {error}"
        if options.asks and options.is_strict and call.event == BEFORE:
            return Said(_refused(call, "the hook of memtui failed"), problem)
        return Said(problem=problem)


def _answered(call: HookCall, options: HookOptions, failed: Callable[[Exception], object]) -> Said:
    if call.tool not in WRITING:
        if call.event == BEFORE:
            from memtui.agents.hooks.recording import link  # deferred: an agent waits, and most files are no memories

            link(call)
        return Said()
    from memtui.agents.hooks.folders import place_of  # deferred: not for what is no file

    place = place_of(call.path, directory=options.directory, state=options.state)
    if place is None:
        return Said()
    place = place._replace(settings=options.settings(place.folder))
    if call.event == BEFORE:
        return _before(call, place, options, failed)
    from memtui.agents.hooks.recording import announce_done, in_background, record  # deferred, as above

    said = announce_done(call, place)
    if said is not None:
        in_background(lambda: record(call, place, said), failed)
    return Said()


def _before(call: HookCall, place: "Place", options: HookOptions, failed: Callable[[Exception], object]) -> Said:
    from memtui.agents.hooks.recording import (  # deferred, as above
        announce,
        in_background,
        look_before,
        read,
        record_refusal,
    )
    from memtui.agents.hooks.results import results

    before = read(call.path)
    if before is not None and not (place.state / "journal.db").exists():
        look_before(place)
    texts = results(call.tool, call.given, before)
    note, output = "", ""
    if options.asks:
        decision = _decided(call, place, options.seconds)
        if decision is not None:
            from memtui.agents.hooks.asking import as_json  # deferred, as there

            output = as_json(decision, call)
            if not decision.allows:
                if (message := decision.message) is None:
                    return Said(output)
                kept, values = decision.note, decision.values
                refused = lambda: record_refusal(call, place, message, kept, values)  # noqa: E731 - done later
                return Said(output, _problem_of(lambda: in_background(refused, failed)))
            if decision.text is not None:
                texts, note = (decision.text.encode("utf-8"),), f"{call.tool}, edited by you"
        elif options.is_strict and texts[:1] != (before,):
            return Said(_refused(call, "no memtui is running in which a person could be asked"))
    if not texts:
        return Said(output)
    return Said(output, _problem_of(lambda: announce(call, place, texts, is_new=before is None, note=note)))


def _decided(call: HookCall, place: "Place", seconds: float) -> "Decision | None":
    """What a person says; nothing of all that asking needs is loaded where nobody is there."""
    from memtui.agents.sockets import connected  # deferred: not for who asks nobody

    peer = connected(str(place.state))
    if peer is None:
        return None
    peer.close()
    from memtui.agents.hooks.asking import decide  # deferred: a person will take longer

    return decide(call, place, seconds)


def _problem_of(work: Callable[[], object]) -> str:
    """Do what must not take a person's answer away, whatever goes wrong with it; tells what did, as a sentence."""
    try:
        work()
    except Exception as error:  # what she said still holds
        return f"{_FAILED}: {error}"
    return ""


def _refused(call: HookCall, why: str) -> str:
    from memtui.agents.hooks.asking import Decision, as_json  # deferred, as above

    return as_json(Decision(False, f"Nobody allowed this change: {why}. Nothing was written."), call)
