"""What happened, as sentences that are heard and not seen: no columns, no signs, no abbreviations."""

from collections.abc import Sequence
from datetime import datetime

from memtui.core.actors import named_in_a_sentence, shown_name
from memtui.core.events import Change, Event, Person, Result, Version
from memtui.core.losses import Loss
from memtui.core.paths import ROOT_NAME
from memtui.core.snapshot import Kind

_DONE = {
    "create": "created",
    "str_replace": "changed",
    "insert": "added to",
    "delete": "deleted",
    "rename": "renamed",
    "copy": "copied",
    "view": "looked at",
    "found": "found",
    "created": "created",
    "modified": "changed",
    "deleted": "deleted",
    "renamed": "renamed",
    "write": "wrote",
    "restore": "restored",
    "clear": "cleared",
    "protect": "protected",
    "unprotect": "stopped protecting",
}
_WANTED = {
    "create": "create",
    "str_replace": "change",
    "insert": "add to",
    "delete": "delete",
    "rename": "rename",
    "view": "look at",
}
_TAKEN_BACK = {"undo": "undid", "redo": "redid"}


def sentence(event: Event, *, now: datetime | None = None, numbered: bool = False) -> str:
    """An event, such as `10:14 Claude changed prefs.md, 1 line added, 1 removed.`

    Args:
        event: What happened. What is in it from outside is as it is.
        now: The time of the one who hears it; on another day the date is said.
        numbered: Whether the event's number is said, by which it can be undone.
    """
    number = f" Event {event.seq}." if numbered else ""
    return f"{when(event, now=now)} {clause(event)}.{number}"


def when(event: Event, *, now: datetime | None = None) -> str:
    """When it was: the time, and the date if it was another day."""
    at = event.at.astimezone()
    today = (now or datetime.now()).astimezone().date()
    return f"{at:%H:%M}" if at.date() == today else f"{at:%Y-%m-%d %H:%M}"


def clause(event: Event) -> str:
    """What happened, without when and without its stop."""
    if event.command == "found":
        return f"memtui found {event.note or relative(event.path)}"
    if event.command == "began":
        return f"A new record began here{f': {event.note}' if event.note else ''}".rstrip(".")
    if event.command in ("claimed", "imported"):
        return f"{who(event)}: {event.note}".rstrip(".")
    done = f"{who(event)} {_done(event)}"
    match event.result:
        case Result.REFUSED:
            wanted = f"{_WANTED.get(event.command, event.command)} {relative(event.path)}{_target(event)}"
            return f"{who(event)} wanted to {wanted}, and was refused: {_reason(event)}"
        case Result.UNCERTAIN:
            return f"{done}, but the disk did not confirm it: look at the file before going on"
        case Result.ABORTED:
            return f"Not done, because the program died before it: {done}"
        case Result.NO_CHANGE if event.command not in ("view", "protect", "unprotect"):
            return f"{done}, and it was the same as before{f': {event.note}' if event.note else ''}"
    counts = lines_changed(event.added, event.removed)
    note = "" if event.command in _TAKEN_BACK or counts else event.note
    return f"{done}{counts}{f', {note}' if note else ''}".rstrip(".")


def who(event: Event) -> str:
    """Who did it, as a sentence begins."""
    if event.is_outside:
        return "Somebody outside memtui"
    return "You" if isinstance(event.actor, Person) else shown_name(event.actor)


def by_whom(event: Event) -> str:
    """The same in the midst of a sentence: `by Claude`, `by you`."""
    return f"by {named_in_a_sentence(event.actor) if not event.is_outside else 'somebody outside memtui'}"


def lines_changed(added: int | None, removed: int | None) -> str:
    """`, 1 line added, 2 removed`; nothing where lines do not apply, or where none did."""
    parts = [f"{count:,} {word}" for count, word in ((added, "added"), (removed, "removed")) if count]
    if not parts:
        return ""
    first, *rest = parts
    number, word = first.split(" ")
    return ", " + ", ".join([f"{number} {'line' if number == '1' else 'lines'} {word}", *rest])


def relative(path: str) -> str:
    """A canonical path as it is said: without `/memories/`; the folder by a word."""
    return "the folder" if path == ROOT_NAME else path.removeprefix(ROOT_NAME + "/")


def counted(count: int, one: str, several: str | None = None) -> str:
    """`1 note`, `3 notes`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def size(count: int) -> str:
    """Bytes in words: `179 bytes`, `1.2 kilobytes`."""
    if count < 1_000:
        return counted(count, "byte")
    value, unit = count / 1_024, "kilobytes"
    for larger in ("megabytes", "gigabytes"):
        if value < 1_000:
            break
        value, unit = value / 1_024, larger
    return f"{value:.1f} {unit}"


def lost(loss: Loss) -> str:
    """What went at once, when and by whom."""
    total = max(loss.files, len(loss.changes))
    parts = [f"{loss.gone:,} of {counted(total, 'note')} went"] if loss.gone else []
    parts += [f"{loss.emptied:,} of {counted(total, 'note')} lost nearly all of what they held"] if loss.emptied else []
    return f"{', and '.join(parts)} at {when(loss.event)}, {by_whom(loss.event)}."


def is_file(version: Version | None) -> bool:
    """Whether a version is anything but a directory: what people count."""
    return version is not None and version.kind is not Kind.DIRECTORY


def files_in(changes: Sequence[Change]) -> list[Change]:
    """The changes of files and links; directories only where nothing else changes."""
    return [each for each in changes if is_file(each.after or each.before)] or list(changes)


def _done(event: Event) -> str:
    path = relative(event.path)
    if event.command in _TAKEN_BACK:
        numbers = [str(seq) for seq in event.undoes]
        which = " and ".join(numbers) if len(numbers) <= 2 else f"{numbers[0]} to {numbers[-1]}"
        many = "event" if len(numbers) == 1 else "events"
        return f"{_TAKEN_BACK[event.command]} {f'{many} {which} in ' if which else ''}{path}"
    if event.command == "redact":
        return f"removed a text of {path} from the record"
    if event.command == "create" and any(each.before is not None for each in event.changes if is_file(each.after)):
        return f"overwrote {path}"
    return f"{_DONE.get(event.command, event.command)} {path}{_target(event)}"


def _target(event: Event) -> str:
    return f" to {relative(event.new_path)}" if event.new_path else ""


def _reason(event: Event) -> str:
    """Why it was refused: the first line of what was answered."""
    answer = (event.answer or "").strip().removeprefix("Error: ").split("\n", 1)[0] or event.note
    return answer[:400].rstrip(".") or "no reason is recorded"
