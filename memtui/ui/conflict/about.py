"""A conflict in words and texts: all that is worked out before there is a screen to ask on.

Whoever is asked to choose between two texts must see what each of them changed, who did and when, and what becomes of
the one that is not chosen. A choice that is not possible is not offered.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from memtui.core import diffs
from memtui.core.actors import shown_name
from memtui.core.events import Agent, Event, Outside, Person
from memtui.core.merge import Merged, Place, Whose, merge, merge_without_base
from memtui.core.shape import NotText, shaped
from memtui.core.visible import one_line
from memtui.ui.edit.saving import Conflicted, Keep, Situation
from memtui.ui.text import fit, fit_middle

_NAME = 16
"""Cells of the longest name of an actor that is shown in full."""
_PLACE = 24
"""The same of a note's new place, within an answer."""
CALM = "Nothing has been written. Both versions are kept whichever you choose."
CALM_SHORT = "Nothing is written yet; nothing is lost by either."
CALM_ALONE = "Nothing has been written. What you wrote is kept whichever you choose."


@dataclass(frozen=True, slots=True)
class Merge:
    """The editor goes on with both changes, based on what stands there now.

    Attributes:
        text: The merged text, with marks where it could not be decided.
        conflicts: How many such places there are.
    """

    text: str
    conflicts: int


@dataclass(frozen=True, slots=True)
class KeepMine:
    """Mine is written.

    Attributes:
        where: Where.
    """

    where: Keep = Keep.HERE


@dataclass(frozen=True, slots=True)
class TakeTheirs:
    """What stands there stays, and mine is set aside as a draft."""


Choice = Merge | KeepMine | TakeTheirs


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that can be chosen.

    Attributes:
        key: The key that chooses it.
        label: What it is, in a few words.
        choice: What the asker gets.
    """

    key: str
    label: str
    choice: Choice


@dataclass(frozen=True, slots=True)
class Conflict3:
    """A conflict, ready to be asked about.

    Attributes:
        path: Relative to the folder, on one safe line.
        title: What happened, in one sentence without a stop.
        short_title: The same where there is little room.
        sides: Who did what: theirs, and mine.
        names: What the three texts are called: base, theirs, mine.
        moments: When they came about, for headings: `10:02`, `10:14:03`, `unsaved`.
        base: The text that both were made from; `None` where it is not known or none.
        theirs: The text that stands there now; `None` if none does.
        mine: What was to be saved.
        merged: Both put together; `None` where there is nothing to put together.
        places: Where they differ, those that nobody can decide first of all, and alone if there are any.
        answers: What can be chosen, the one that is recommended first.
        calm: What is so for now, and stays so.
    """

    path: str
    title: str
    short_title: str
    sides: tuple[str, str]
    names: tuple[str, str, str]
    moments: tuple[str, str, str]
    base: str | None
    theirs: str | None
    mine: str
    merged: Merged | None
    places: tuple[Place, ...]
    answers: tuple[Answer, ...]
    calm: str = CALM


def about_conflict(conflicted: Conflicted) -> Conflict3:
    """What is to be asked; it compares and merges the texts, so call it from a thread.

    Args:
        conflicted: What came of a save.
    """
    base, theirs, mine = _text(conflicted.base), _text(conflicted.theirs), _text(conflicted.mine) or ""
    merged = None
    if theirs is not None and conflicted.situation in (Situation.CHANGED, Situation.MOVED):
        merged = merge(base, mine, theirs) if base is not None else merge_without_base(mine, theirs)
    names = ("base", _name_of(conflicted.event), "yours")
    if merged is None:
        places = tuple(replace(each, theirs=()) for each in merge(base, mine, base).places) if base is not None else ()
    else:
        places = merged.conflicts or merged.places
    return Conflict3(
        path=one_line(conflicted.path),
        title=_title(conflicted, " while you were editing"),
        short_title=_title(conflicted, ""),
        sides=(_their_side(conflicted, base, theirs), _my_side(base, mine)),
        names=names,
        moments=(_clock(conflicted.base_event, "%H:%M"), _clock(conflicted.event, "%H:%M:%S"), "unsaved"),
        base=base,
        theirs=theirs,
        mine=mine,
        merged=merged,
        places=places,
        answers=tuple(_answers(conflicted, merged, base, theirs, names)),
        calm=CALM if theirs is not None else CALM_ALONE,
    )


def _text(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return shaped(data).text
    except NotText:
        return None


def _name_of(event: Event | None) -> str:
    """Whose text stands there now, in a word."""
    if event is None:
        return "now"
    if isinstance(event.actor, Person):
        return "elsewhere"
    return fit(one_line(shown_name(event.actor)), _NAME)


def _who(event: Event | None) -> str:
    """The same, as a sentence begins."""
    match event:
        case None:
            return "Somebody"
        case Event(actor=Outside()):
            return "Somebody outside memtui"
        case Event(actor=Person()):
            return "You, elsewhere,"
    return _name_of(event)


def _title(conflicted: Conflicted, meanwhile: str) -> str:
    who = _who(conflicted.event)
    match conflicted.situation:
        case Situation.CHANGED:
            return f"{who} changed this file{meanwhile}"
        case Situation.DELETED:
            return f"{who} deleted this file{meanwhile}"
        case Situation.MOVED:
            return f"{who} moved this file{meanwhile}"
        case Situation.REPLACED:
            return "Something else stands in the place of this file"
        case Situation.UNREADABLE:
            return "This file cannot be read any more"


def _their_side(conflicted: Conflicted, base: str | None, theirs: str | None) -> str:
    event = conflicted.event
    words = [_name_of(event)]
    if event is not None:
        times = len(conflicted.events)
        words += [_clock(event, "%H:%M:%S"), f"{times:,} changes" if times > 1 else event.command]
    match conflicted.situation:
        case Situation.CHANGED if base is not None and theirs is not None:
            words.append(_counts(base, theirs) or "only its line ends or mark")
        case Situation.CHANGED:
            words.append("what both were made from is not kept")
        case Situation.MOVED:
            changed = _counts(base, theirs) if base is not None and theirs is not None else ""
            words.append(f"to {one_line(conflicted.place)}{f' {changed}' if changed else ''}")
        case Situation.DELETED:
            words.append("nothing stands there now")
        case _:
            words.append(one_line(conflicted.detail))
    return "  ".join(words)


def _my_side(base: str | None, mine: str) -> str:
    return "  ".join(("You", "unsaved", _counts(base or "", mine) or "no change"))


def _counts(before: str, after: str) -> str:
    added, removed = diffs.counts(before, after)
    return " ".join(part for part in (f"+{added}" if added else "", f"-{removed}" if removed else "") if part)


def _clock(event: Event | None, form: str) -> str:
    if event is None:
        return ""
    at = datetime.fromtimestamp(event.at_us / 1e6)
    return at.strftime(form if at.date() == datetime.now().date() else "%Y-%m-%d %H:%M")


def _answers(
    conflicted: Conflicted, merged: Merged | None, base: str | None, theirs: str | None, names: tuple[str, str, str]
) -> list[Answer]:
    """What can be chosen, the best first."""
    is_agents = conflicted.event is not None and isinstance(conflicted.event.actor, Agent)
    whose = f"{names[1]}'s" if is_agents else "the other"
    new_place, answers = fit_middle(one_line(conflicted.place), _PLACE), list[Answer]()
    if merged is not None and not (conflicted.situation is Situation.MOVED and theirs == base):
        text = merged.marked("yours", names[1])
        answers.append(Answer("m", _merging(merged, base), Merge(text, len(merged.conflicts))))
    match conflicted.situation:
        case Situation.CHANGED:
            answers.append(Answer("k", f"Keep mine; {whose} version stays in history", KeepMine()))
            answers.append(Answer("t", f"Take {whose}; mine is saved as a draft", TakeTheirs()))
        case Situation.DELETED:
            answers.append(Answer("k", "Keep mine: write it again", KeepMine()))
            answers.append(Answer("t", "Leave it deleted; mine is saved as a draft", TakeTheirs()))
        case Situation.MOVED:
            answers.append(Answer("k", f"Keep mine, in {new_place}", KeepMine(Keep.FOLLOW)))
            answers.append(Answer("o", "Keep mine at the old place as well", KeepMine(Keep.HERE)))
            answers.append(Answer("t", f"Take {new_place}; mine is saved as a draft", TakeTheirs()))
        case _:
            answers.append(Answer("b", "Save mine beside it, under a new name", KeepMine(Keep.BESIDE)))
            if conflicted.situation is Situation.REPLACED and conflicted.theirs is not None:
                answers.append(Answer("k", "Keep mine; what stands there stays in history", KeepMine()))
            answers.append(Answer("t", "Leave it as it is; mine is saved as a draft", TakeTheirs()))
    return answers


def _merging(merged: Merged, base: str | None) -> str:
    count = len(merged.conflicts)
    if count:
        return f"Merge: edit a text with both, {count:,} {'place' if count == 1 else 'places'} marked"
    if base is None:
        return "Merge: the lines of both"
    if not any(place.whose in (Whose.THEIRS, Whose.BOTH) for place in merged.places):
        return "Merge: mine, with its new line ends"
    return "Merge: both changes go together"
