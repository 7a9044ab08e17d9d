"""A save conflict in words and texts, prepared for a screen or a prompt.

It shows what each side changed, who did and when, and what becomes of the text that is not chosen. A choice that is not
possible is not offered.
"""

import re
from dataclasses import replace
from datetime import datetime

from memtui.core import diffs
from memtui.core.events import Agent, Event, Outside, Person, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.merge import MergeHunk, MergeResult, MergeSide, merge_texts, merge_without_base
from memtui.core.text_format import NotText, parse_text
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count, shorten
from memtui.editing.save import NoteChange, SaveConflict, SaveTarget
from memtui.notes.spans import blank_fences

_NAME = 16
"""Cells of an actor's name."""
_PLACE = 24
"""Cells of a note's new path, within an answer."""
_HEADING = re.compile(r"#{1,6} +\S")
CALM = "Nothing has been written. Both versions are kept whichever you choose."
CALM_SHORT = "Nothing is written yet. No choice loses a text."
CALM_ALONE = "Nothing has been written. Your text is kept whichever you choose."


@dataclass(frozen=True, slots=True)
class MergeTexts:
    """Save a merged text, based on what stands there now; or edit it first at `line`, from 1."""

    text: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class KeepMine:
    """Write the person's text."""

    where: SaveTarget = SaveTarget.HERE


@dataclass(frozen=True, slots=True)
class TakeTheirs:
    """Leave what stands there, and keep the person's text as a draft."""


@dataclass(frozen=True, slots=True)
class DecidePlaces:
    """Ask about each place that both changed; `MergeTexts` comes of it."""


ConflictChoice = MergeTexts | KeepMine | TakeTheirs


@dataclass(frozen=True, slots=True)
class ConflictOption:
    """One choice, with its key and label."""

    key: str
    label: str
    choice: ConflictChoice | DecidePlaces


@dataclass(frozen=True, slots=True)
class ConflictPrompt:
    """A conflict as a question.

    Attributes:
        path: Relative to the folder, on one safe line.
        title: What happened, in one sentence without a full stop.
        sides: What each did: theirs, and mine.
        names: The names of the texts: base, theirs, mine.
        times: When they were written, for headings: `10:02`, `10:14:03`, `unsaved`.
        base: `None` where it is not known, or there is none.
        theirs: `None` if nothing stands there.
        merged: `None` where there is nothing to merge.
        places: The hunks: only the conflicts, if there are any.
        options: The choices, the recommended one first.
        calm: The reassurance below the question.
    """

    path: str
    title: str
    short_title: str
    sides: tuple[str, str]
    names: tuple[str, str, str]
    times: tuple[str, str, str]
    base: str | None
    theirs: str | None
    mine: str
    merged: MergeResult | None
    places: tuple[MergeHunk, ...]
    options: tuple[ConflictOption, ...]
    calm: str = CALM


def build_conflict_prompt(conflicted: SaveConflict) -> ConflictPrompt:
    """Compare and merge the texts of a conflict; slow, so call it from a thread."""
    base, theirs = _decode_text(conflicted.base), _decode_text(conflicted.theirs)
    mine = _decode_text(conflicted.mine) or ""
    merged = None
    if theirs is not None and conflicted.situation in (NoteChange.CHANGED, NoteChange.MOVED):
        merged = merge_texts(base, mine, theirs) if base is not None else merge_without_base(mine, theirs)
    names = ("base", _format_author(conflicted.event), "yours")
    places: tuple[MergeHunk, ...] = ()
    if merged is not None:
        places = merged.conflicts or merged.hunks
    elif base is not None:
        places = tuple(replace(each, theirs=()) for each in merge_texts(base, mine, base).hunks)
    return ConflictPrompt(
        path=to_one_line(conflicted.path),
        title=_build_title(conflicted, " while you were editing"),
        short_title=_build_title(conflicted, ""),
        sides=(
            _describe_theirs(conflicted, base, theirs),
            f"You  unsaved  {_format_counts(base or '', mine) or 'no change'}",
        ),
        names=names,
        times=(_format_clock(conflicted.base_event, "%H:%M"), _format_clock(conflicted.event, "%H:%M:%S"), "unsaved"),
        base=base,
        theirs=theirs,
        mine=mine,
        merged=merged,
        places=places,
        options=tuple(_build_options(conflicted, merged, base, theirs, names[1])),
        calm=CALM if theirs is not None else CALM_ALONE,
    )


def find_section(text: str, line: int) -> str:
    """The heading above a line, counted from 1; empty if there is none."""
    lines = blank_fences(text).splitlines()[: line - 1]
    return next((each.strip() for each in reversed(lines) if _HEADING.match(each)), "")


def _decode_text(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return parse_text(data).text
    except NotText:
        return None


def _format_author(event: Event | None) -> str:
    """The author of the present text, in a word."""
    if event is None:
        return "now"
    if isinstance(event.actor, Person):
        return "elsewhere"
    if event.is_outside:
        return "theirs"
    return shorten(to_one_line(format_actor_name(event.actor)), _NAME)


def _format_author_subject(event: Event | None) -> str:
    """The same at the start of a sentence."""
    match event:
        case None:
            return "Another program"
        case Event(actor=Outside()):
            return "Another program"
        case Event(actor=Person()):
            return "You (elsewhere)"
    return _format_author(event)


def _build_title(conflicted: SaveConflict, meanwhile: str) -> str:
    who = _format_author_subject(conflicted.event)
    match conflicted.situation:
        case NoteChange.CHANGED:
            return f"{who} changed this file{meanwhile}"
        case NoteChange.DELETED:
            return f"{who} deleted this file{meanwhile}"
        case NoteChange.MOVED:
            return f"{who} moved this file{meanwhile}"
        case NoteChange.REPLACED:
            return "Something else is in the place of this file"
        case NoteChange.UNREADABLE:
            return "This file can no longer be read"


def _describe_theirs(conflicted: SaveConflict, base: str | None, theirs: str | None) -> str:
    event = conflicted.event
    words = [_format_author(event)]
    if event is not None:
        times = len(conflicted.events)
        words += [_format_clock(event, "%H:%M:%S"), f"{times:,} changes" if times > 1 else event.command]
    match conflicted.situation:
        case NoteChange.CHANGED if base is not None and theirs is not None:
            words.append(_format_counts(base, theirs) or "only line endings or BOM")
        case NoteChange.CHANGED:
            words.append("the common version is not kept")
        case NoteChange.MOVED:
            changed = _format_counts(base, theirs) if base is not None and theirs is not None else ""
            words.append(f"to {to_one_line(conflicted.current_path)}{f' {changed}' if changed else ''}")
        case NoteChange.DELETED:
            words.append("no file there now")
        case _:
            words.append(to_one_line(conflicted.detail))
    return "  ".join(words)


def _format_counts(before: str, after: str) -> str:
    added, removed = diffs.count_changes(before, after)
    return " ".join(part for part in (f"+{added}" if added else "", f"-{removed}" if removed else "") if part)


def _format_clock(event: Event | None, form: str) -> str:
    if event is None:
        return ""
    at = datetime.fromtimestamp(event.at_us / 1e6)
    return at.strftime(form if at.date() == datetime.now().date() else "%Y-%m-%d %H:%M")


def _build_options(
    conflicted: SaveConflict, merged: MergeResult | None, base: str | None, theirs: str | None, name: str
) -> list[ConflictOption]:
    """The choices, the best first."""
    is_agents = conflicted.event is not None and isinstance(conflicted.event.actor, Agent)
    whose, version = (f"{name}'s", f"{name}'s version") if is_agents else ("theirs", "the other version")
    new_place, answers = shorten(to_one_line(conflicted.current_path), _PLACE, tail=_PLACE // 3), list[ConflictOption]()
    if merged is not None and not (conflicted.situation is NoteChange.MOVED and theirs == base):
        merge = MergeTexts(merged.text) if merged.is_clean else DecidePlaces()
        answers.append(ConflictOption("m", _format_merge_label(merged, base), merge))
    match conflicted.situation:
        case NoteChange.CHANGED:
            answers.append(ConflictOption("k", f"Keep yours; {version} stays in history", KeepMine()))
            answers.append(ConflictOption("t", f"Take {whose}; yours is saved as a draft", TakeTheirs()))
        case NoteChange.DELETED:
            answers.append(ConflictOption("k", "Keep yours: write it again", KeepMine()))
            answers.append(ConflictOption("t", "Leave it deleted; yours is saved as a draft", TakeTheirs()))
        case NoteChange.MOVED:
            answers.append(ConflictOption("k", f"Keep yours, in {new_place}", KeepMine(SaveTarget.FOLLOW)))
            answers.append(ConflictOption("o", "Keep yours at the old path too", KeepMine(SaveTarget.HERE)))
            answers.append(ConflictOption("t", f"Take {new_place}; yours is saved as a draft", TakeTheirs()))
        case _:
            answers.append(ConflictOption("b", "Save yours beside it, under a new name", KeepMine(SaveTarget.BESIDE)))
            if conflicted.situation is NoteChange.REPLACED and conflicted.theirs is not None:
                answers.append(ConflictOption("k", "Keep yours; the current file stays in history", KeepMine()))
            answers.append(ConflictOption("t", "Leave it as it is; yours is saved as a draft", TakeTheirs()))
    return answers


def _format_merge_label(merged: MergeResult, base: str | None) -> str:
    count = len(merged.conflicts)
    if count:
        return f"Merge: choose at {format_count(count, 'place')}"
    if base is None:
        return "Merge: the lines of both"
    if not any(place.side in (MergeSide.THEIRS, MergeSide.BOTH) for place in merged.hunks):
        return "Merge: yours, with new line endings"
    return "Merge: both changes fit together"
