"""What became of a memory while somebody edits it, in words."""

import time

from memtui.core.actors import shown_name
from memtui.core.events import Person
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.edit.saving import Conflicted, Since, Situation


def who(conflicted: Conflicted) -> str:
    """Who changed a note meanwhile, within a sentence."""
    actors = {each.actor for each in conflicted.events}
    if len(actors) != 1:
        return "others"
    event = conflicted.events[0]
    if event.is_outside:
        return "somebody outside memtui"
    return "you elsewhere" if isinstance(event.actor, Person) else one_line(shown_name(event.actor))


def did(conflicted: Conflicted) -> str:
    """Who did it meanwhile, behind `what`: `Claude did`."""
    name = who(conflicted)
    return "you did elsewhere" if name == "you elsewhere" else f"{name} did"


def whose(conflicted: Conflicted) -> str:
    """Whose version it is that stands there."""
    name = who(conflicted)
    return (
        "your other version"
        if name == "you elsewhere"
        else "theirs"
        if " " in name or name == "others"
        else f"{name}'s"
    )


def sentence_of(since: Since) -> str:
    """What became of a memory, such as `Claude changed this memory 3 s ago (+1 -1).`"""
    event = since.events[0] if since.events else None
    who = wording.actor_of(event) if event is not None else "Somebody"
    if event is not None and isinstance(event.actor, Person):
        who = "You, elsewhere,"
    ago = f" {ago_of(event.at_us)}" if event is not None else ""
    match since.situation:
        case Situation.CHANGED:
            counts = " ".join(f"{sign}{count:,}" for sign, count in (("+", since.added), ("-", since.removed)) if count)
            how = f" {len(since.events):,} times" if len(since.events) > 1 else ago
            return f"{who} changed this memory{how}{f' ({counts})' if counts else ''}."
        case Situation.DELETED:
            return f"{who} deleted this memory{ago}."
        case Situation.MOVED:
            return f"{who} moved this memory{ago} to {one_line(since.moved_to or '')}."
        case Situation.REPLACED:
            return f"{who} put something else in the place of this memory{ago}."
        case _:
            return "This memory cannot be read any more."


def ago_of(at_us: int) -> str:
    """How long ago something was."""
    seconds = max(time.time() - at_us / 1e6, 0)
    if seconds < 2:
        return "just now"
    word = wording.age(seconds)
    return f"{word[:-1]} {word[-1].replace('m', 'min')} ago"
