"""Events in words, for people."""

from collections.abc import Sequence
from datetime import datetime

from memtui.core.actors import named_in_a_sentence, shown_name
from memtui.core.events import Change, Event, Person, Result
from memtui.core.losses import Loss
from memtui.core.paths import ROOT_NAME
from memtui.core.refusals import reason
from memtui.core.snapshot import Kind
from memtui.core.tokens import estimate
from memtui.ui.activity.row import ActivityRow

_DONE = {
    "create": "created",
    "str_replace": "changed",
    "insert": "added to",
    "delete": "deleted",
    "rename": "renamed",
    "view": "looked at",
    "found": "found",
    "created": "created",
    "modified": "changed",
    "deleted": "deleted",
    "renamed": "renamed",
    "write": "wrote",
    "copy": "copied",
    "protect": "protected",
    "unprotect": "no longer protects",
    "restore": "restored",
    "clear": "cleared",
}
_ON_FILES = frozenset({"rename", "copy", "delete"})
_TAKEN_BACK = {"undo": "undid", "redo": "redid"}

_SHORT = {Result.NO_CHANGE: "same", Result.UNCERTAIN: "UNSURE"}
"""Results whose words are wider than their column."""


def activity_row(event: Event) -> ActivityRow:
    """An event as a line of the activity."""
    note = event.note
    if event.is_error and not note:
        note = reason(event)
    elif event.new_path and not event.is_error:
        note = f"to {relative(event.new_path)}"
    elif event.is_outside and not note:
        note = "not via memtui"
    return ActivityRow(
        seq=event.seq,
        time=clock(event),
        actor=shown_name(event.actor),
        command=event.command,
        path=event.path,
        result=_SHORT.get(event.result, event.result.shown),
        added=event.added,
        removed=event.removed,
        duration_ms=None if event.is_outside else event.duration_us / 1_000,
        note=note,
    )


def sentence(event: Event) -> str:
    """What happened, in one sentence that names the actor and the file."""
    actor, path = actor_of(event), relative(event.path)
    done = _done(event)
    match event.result:
        case Result.REFUSED:
            return f"Refused: {actor} asked to {event.command} {path}. {reason(event).capitalize()}."
        case Result.UNCERTAIN:
            return f"{actor} {done}, but the disk did not confirm it. Look at the file before going on."
        case Result.ABORTED:
            return f"Not done: the program died before {path} was changed ({event.command} by {actor})."
    return f"{clause(event)}."


def clause(event: Event) -> str:
    """What happened, such as `Claude changed notes.md (+1 -1)`: a sentence without its stop, to be part of another."""
    if event.command == "found":
        return f"Found {event.note or relative(event.path)}"
    if event.command == "began":
        return f"A new record began here{f': {event.note}' if event.note else ''}".rstrip(".")
    counts = changed_lines(event)
    note = "" if event.command in _TAKEN_BACK else event.note
    many = f" ({note})" if note and not counts and event.changes and not _is_of_many(event) else ""
    return f"{actor_of(event)} {_done(event)}{counts}{many}"


def actor_of(event: Event) -> str:
    """Who, as a sentence begins."""
    if event.is_outside:
        return "Somebody outside memtui"
    return "You" if isinstance(event.actor, Person) else shown_name(event.actor)


def _done(event: Event) -> str:
    path = relative(event.path)
    if path == ROOT_NAME:
        path = "the folder"
    if event.command in _TAKEN_BACK:
        numbers = [f"#{seq}" for seq in event.undoes]
        which = " and ".join(numbers) if len(numbers) <= 2 else f"{numbers[0]} to {numbers[-1]}"
        return f"{_TAKEN_BACK[event.command]} {which} in {path}" if which else f"{_TAKEN_BACK[event.command]} {path}"
    if _is_of_many(event):
        return f"{_DONE[event.command]} {event.note}{'' if path == 'the folder' else f' in {path}/'}"
    if event.command == "redact":
        return f"removed a text of {path} from the record"
    if event.command == "create" and any(change.before is not None for change in event.changes if _is_file(change)):
        return f"overwrote {path}"
    target = f" to {relative(event.new_path)}" if event.new_path else ""
    return f"{_DONE.get(event.command, event.command)} {path}{target}"


def _is_of_many(event: Event) -> bool:
    """Whether a person did it to several files at once: its path is only where they all lie, its note what they are."""
    if event.command not in _ON_FILES or not event.note or event.new_path is not None:
        return False
    return relative(event.path) not in {change.path for change in event.changes}


def loss(lost: Loss) -> str:
    """What went, when and by whom, such as `23 of 23 memories went at 10:14:02 (outside memtui).`"""
    total = max(lost.files, len(lost.changes))  # what was made and taken away meanwhile is among what went
    parts = [f"{lost.gone:,} of {total:,} memories went"] if lost.gone else []
    if lost.emptied:
        emptied = f"{lost.emptied:,} {'was' if lost.emptied == 1 else 'were'} emptied"
        parts.append(emptied if parts else f"{lost.emptied:,} of {total:,} memories were emptied")
    who = named_in_a_sentence(lost.event.actor)
    return f"{', '.join(parts)} at {clock(lost.event)} ({who})."


def memories(count: int) -> str:
    """`1 memory`, `23 memories`."""
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def files(count: int) -> str:
    """`1 file`, `6 files`."""
    return f"{count:,} {'file' if count == 1 else 'files'}"


def clock(event: Event) -> str:
    """When an event began, as a clock on the wall here says it."""
    return datetime.fromtimestamp(event.at_us / 1e6).strftime("%H:%M:%S")


def when(event: Event, now_us: int) -> str:
    """When an event began: the time, with the date where it was another day."""
    at, today = datetime.fromtimestamp(event.at_us / 1e6), datetime.fromtimestamp(now_us / 1e6).date()
    return at.strftime("%H:%M:%S" if at.date() == today else "%Y-%m-%d %H:%M:%S")


def since_last_look(events: Sequence[Event]) -> str:
    """What became of the folder while nobody looked, in one sentence; empty if nothing did."""
    paths: dict[str, Change] = {}
    for event in events:
        if not event.is_error and event.command != "found":
            paths.update((change.path, change) for change in event.changes if _is_file(change))
    gone = sum(change.after is None for change in paths.values())
    changed = len(paths) - gone
    words = [f"{changed:,} changed"] if changed else []
    words += [f"{gone:,} gone"] if gone else []
    return f"Since you last looked: {', '.join(words)}. ] goes on to it, M marks all seen." if words else ""


def _is_file(change: Change) -> bool:
    version = change.after or change.before
    return version is not None and version.kind is Kind.FILE


def changed_lines(event: Event) -> str:
    """` (+3 -1)`, or nothing where lines do not apply."""
    if event.added is None or event.removed is None:
        return ""
    parts = [f"+{event.added}" if event.added else "", f"-{event.removed}" if event.removed else ""]
    return f" ({' '.join(part for part in parts if part)})" if any(parts) else ""


def relative(path: str) -> str:
    """A canonical path without `/memories/`; the folder itself and anything else as it is."""
    return path.removeprefix(ROOT_NAME + "/")


def size(count: int) -> str:
    """Bytes for people: `179 B`, `1.2K`, `41K`."""
    if count < 1_000:
        return f"{count} B"
    value, unit = count / 1_024, "K"
    for larger in "MGT":
        if value < 1_000:
            break
        value, unit = value / 1_024, larger
    return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"


def age(seconds: float) -> str:
    """How long ago, in one short word."""
    for limit, unit, length in ((60, "s", 1), (3_600, "m", 60), (86_400, "h", 3_600), (86_400 * 365, "d", 86_400)):
        if seconds < limit:
            return f"{max(int(seconds // length), 0)}{unit}"
    return f"{int(seconds // (86_400 * 365))}y"


def tokens(text: str) -> str:
    """An estimate of the tokens a text costs, such as `~41 tok`."""
    return token_count(estimate(text))


def token_count(count: int) -> str:
    """How many tokens, as an estimate, such as `~41 tok`."""
    return f"~{count:,} tok" if count < 10_000 else f"~{count / 1_000:.1f}k tok"
