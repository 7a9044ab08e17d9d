"""A note changed while a person wrote: what happened, what can be done, and nothing written before she has chosen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.cli.reader import differences
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.sentences import counted, when, who
from memtui.core import merge as merging
from memtui.core.actors import shown_name
from memtui.core.errors import MemtuiError
from memtui.core.events import Agent
from memtui.core.merge import Place, Whose
from memtui.core.shape import NotText, shaped
from memtui.ui.edit.basis import Basis, theirs_of
from memtui.ui.edit.drafts import Why
from memtui.ui.edit.saving import Conflicted, Failed, Keep, Saved, Saving, Situation

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session


@dataclass(frozen=True, slots=True)
class Merged:
    """Both changes in one text, not written yet.

    Attributes:
        basis: What stands there now.
        text: The text.
    """

    basis: Basis
    text: str


def settled(
    session: "Session", conflicted: Conflicted, text: str, basis: Basis
) -> Merged | Saved | Conflicted | Failed | str | None:
    """Have the person choose, and do it.

    Args:
        session: Where she is asked.
        conflicted: What a save clashed with.
        text: What was to be saved.
        basis: What it was made from.

    Returns:
        A merged text to save; what came of writing it; a sentence where all is done; `None` for back to the text.
    """
    dialog = session.dialog
    theirs = _text(conflicted.theirs)
    base = _text(conflicted.base)
    dialog.say(f"{_happened(conflicted)} Nothing has been written. Nothing is lost, whichever you choose.")
    is_known = False
    while True:
        chosen = dialog.choose("What now?", _choices(conflicted, base, theirs), known=is_known)
        is_known = True
        match chosen:
            case "merge" if theirs is not None:
                merged = _merged(session, conflicted, base, text, theirs)
                if merged is not None:
                    return merged
            case Keep() as where:
                return Saving(session.engine, conflicted.path).keep_mine(conflicted, where)
            case "take":
                return _take_theirs(session, text, basis)
            case "their changes":
                was = conflicted.base if conflicted.based_on is not None else b""
                dialog.read_out(
                    differences.between(conflicted.based_on, conflicted.version, was, conflicted.theirs or b"")
                )
            case "my changes":
                dialog.read_out(differences.lines_between(base or "", text))
            case _:
                dialog.say("Not saved. Your text is as it was.")
                return None


def _choices(conflicted: Conflicted, base: str | None, theirs: str | None) -> list[Choice[str | Keep]]:
    """What can be done, the best first."""
    whose = _whose(conflicted)
    found: list[Choice[str | Keep]] = []
    can_merge = theirs is not None and conflicted.situation in (Situation.CHANGED, Situation.MOVED)
    if can_merge and not (conflicted.situation is Situation.MOVED and theirs == base):
        found.append(Choice("Merge both", "merge"))
    match conflicted.situation:
        case Situation.CHANGED:
            found.append(Choice(f"Keep mine; {whose} stays in the history", Keep.HERE))
            found.append(Choice(f"Take {whose}; mine is kept as a draft", "take"))
        case Situation.DELETED:
            found.append(Choice("Keep mine: write it again", Keep.HERE))
            found.append(Choice("Leave it deleted; mine is kept as a draft", "take"))
        case Situation.MOVED:
            found.append(Choice(f"Keep mine, in {conflicted.place}", Keep.FOLLOW))
            found.append(Choice("Keep mine at the old place as well", Keep.HERE))
            found.append(Choice(f"Take {conflicted.place}; mine is kept as a draft", "take"))
        case _:
            found.append(Choice("Save mine beside it, under a new name", Keep.BESIDE))
            if conflicted.situation is Situation.REPLACED and conflicted.theirs is not None:
                found.append(Choice("Keep mine; what stands there stays in the history", Keep.HERE))
            found.append(Choice("Leave it as it is; mine is kept as a draft", "take"))
    if theirs is not None:
        found.append(Choice(f"Hear what {_name(conflicted)} changed", "their changes"))
    found.append(Choice("Hear what I changed", "my changes"))
    found.append(Choice("Back to my text", "back"))
    return found


def _happened(conflicted: Conflicted) -> str:
    event = conflicted.event
    name = who(event) if event is not None else "Somebody"
    at = f" at {when(event)}" if event is not None else ""
    match conflicted.situation:
        case Situation.CHANGED:
            return f"{name} changed {conflicted.path}{at}, while you were writing."
        case Situation.DELETED:
            return f"{name} deleted {conflicted.path}{at}, while you were writing."
        case Situation.MOVED:
            return f"{name} moved {conflicted.path} to {conflicted.place}{at}, while you were writing."
        case Situation.REPLACED:
            return f"Something else stands at {conflicted.path} now: {conflicted.detail}."
        case Situation.UNREADABLE:
            return f"{conflicted.path} cannot be read any more: {conflicted.detail}."


def _name(conflicted: Conflicted) -> str:
    event = conflicted.event
    return shown_name(event.actor) if event is not None and isinstance(event.actor, Agent) else "the other"


def _whose(conflicted: Conflicted) -> str:
    event = conflicted.event
    is_agents = event is not None and isinstance(event.actor, Agent)
    return f"{_name(conflicted)}'s version" if is_agents else "the other version"


def _merged(session: "Session", conflicted: Conflicted, base: str | None, mine: str, theirs: str) -> Merged | None:
    """Both put together; each place that nobody else can decide is asked about. `None` if she goes back."""
    dialog = session.dialog
    try:
        basis = theirs_of(conflicted)
    except NotText as error:
        dialog.say(f"Not merged. {error}")
        return None
    both = merging.merge(base, mine, theirs) if base is not None else merging.merge_without_base(mine, theirs)
    lines: list[str] = []
    number = 0
    for part in both.parts:
        if not isinstance(part, Place):
            lines += part
        elif part.whose is not Whose.CONFLICT:
            lines += part.merged
        else:
            number += 1
            decided = _decided(session, conflicted, part, f"Place {number} of {len(both.conflicts)}")
            if decided is None:
                return None
            lines += decided
    yours = counted(both.taken_mine, "place")
    dialog.say(f"Merged: {yours} of yours and {both.taken_theirs:,} of the other, {number:,} decided by you.")
    return Merged(basis, _joined(lines))


def _decided(session: "Session", conflicted: Conflicted, place: Place, head: str) -> tuple[str, ...] | None:
    """What is to stand where both changed the same lines."""
    dialog, name = session.dialog, _name(conflicted)
    dialog.say(f"{head}, line {place.first_line:,}: both changed it.")
    for whose, lines in (("Before", place.base), ("Yours", place.mine), (name.capitalize(), place.theirs)):
        dialog.say(
            *[f"{whose}: {line.removesuffix(chr(10)) or 'an empty line'}" for line in lines] or [f"{whose}: nothing"]
        )
    options = [
        Choice("Yours", place.mine),
        Choice(f"That of {name}", place.theirs),
        Choice("Both, yours first", (*place.mine, *place.theirs)),
    ]
    return dialog.choose("What stands there?", options)


def _take_theirs(session: "Session", text: str, basis: Basis) -> str | None:
    try:
        session.drafts().set_aside(basis.path, text, basis.sha256, why=Why.TAKEN)
    except (MemtuiError, OSError) as error:
        session.dialog.say(f"Nothing was done: {error}")
        return None
    return "Left as it is. Yours is kept as a draft: Edit offers it."


def _joined(lines: list[str]) -> str:
    """Lines as one text: one that is not the last any more gets its line feed."""
    last = len(lines) - 1
    return "".join(line if line.endswith("\n") or number == last else f"{line}\n" for number, line in enumerate(lines))


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else shaped(data).text
    except NotText:
        return None
