"""Words for numbers, times and events: one form for each style in which people meet them.

Every surface asks here, so that a note of 400 days is `1y` on the screen and in `ls` alike. Text from outside is made
safe for a terminal elsewhere: see `memtui.core.unicode`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple

from memtui.core.events import Change, EntryKind, Event, Person, Result, format_actor_in_sentence, format_actor_name
from memtui.core.messages import summarize_refusal
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import measure_cells


class WordStyle(Enum):
    COLUMN = auto()
    """In a column of few cells: `812B`, `41K`."""
    SCREEN = auto()
    """In a line of the screen: `812 B`, `41K`."""
    PLAIN = auto()
    """In printed sentences and reports: `812 B`, `41 KB`."""
    SPOKEN = auto()
    """Heard, not seen, so without signs and abbreviations: `812 bytes`, `41 kilobytes`."""


COLUMN, SCREEN, PLAIN, SPOKEN = WordStyle

# Numbers


def format_count(count: int, one: str, several: str = "") -> str:
    """A number with its noun: `1 note`, `1,200 notes`, `2 copies`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def format_note_count(count: int) -> str:
    return format_count(count, "note")


def format_file_count(count: int) -> str:
    return format_count(count, "file")


def format_short_count(count: int) -> str:
    """A number to a tenth: `820`, `18.2k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    return f"{count / 1e3:,.1f}k" if count < 999_950 else f"{count / 1e6:,.1f}M"


def format_column_count(count: int) -> str:
    """A number of files in at most four cells: `18`, `9999`, `12k`, `1.2m`."""
    if count < 10_000:
        return str(count)
    if count < 1_000_000:
        return f"{count // 1000}k"
    return f"{count / 1_000_000:.1f}m" if count < 9_950_000 else f"{count // 1_000_000}m"


def format_line_count(lines: int) -> str:
    """A number of lines in at most three cells: `999`, `12k`, `.3m`, `1m`."""
    if lines < 1000:
        return str(lines)
    if lines < 100_000:
        return f"{lines // 1000}k"
    return f".{lines // 100_000}m" if lines < 1_000_000 else f"{min(lines // 1_000_000, 99)}m"


def format_token_count(count: int) -> str:
    """How many tokens, as an estimate: `~41 tok`, `~18.2k tok`."""
    return f"~{count:,} tok" if count < 10_000 else f"~{format_short_count(count)} tok"


_CHARACTERS = 4
"""Of English prose, a token has about so many. It is the rule of thumb that the providers of models give."""


def estimate_token_count(text: str) -> int:
    """The tokens that a text costs, by its length: no tokenizer, no network. A remainder counts as one."""
    return estimate_token_count_from_length(len(text))


def estimate_token_count_from_length(count: int) -> int:
    return -(-count // _CHARACTERS)


def estimate_tokens(text: str) -> str:
    return format_token_count(estimate_token_count(text))


_UNITS = {"K": "kilobytes", "M": "megabytes", "G": "gigabytes", "T": "terabytes", "P": "petabytes", "E": "exabytes"}


def format_size(size: int, style: WordStyle = SCREEN) -> str:
    """Bytes, in powers of 1,024: `812 B`, `4.0K`, `41K`; plain `41 KB`, spoken `41 kilobytes`; in a column `812B`."""
    if size < 1_000:
        return format_count(size, "byte") if style is SPOKEN else f"{size}{'' if style is COLUMN else ' '}B"
    value = float(size)
    for unit, name in _UNITS.items():
        value /= 1_024
        if value < 999.5:
            number = f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
            return f"{number} {name}" if style is SPOKEN else f"{number} {unit}B" if style is PLAIN else number + unit
    return "huge"


# Times

_DAY = 86_400
_AGES = ((60, "s", 1), (3_600, "m", 60), (_DAY, "h", 3_600), (100 * _DAY, "d", _DAY), (365 * _DAY, "w", 7 * _DAY))
_DURATIONS = ((_DAY, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def format_age(seconds: float, style: WordStyle = SCREEN) -> str:
    """How long ago, in at most three cells: `14s`, `3h`, `9d`, `20w`, `1y`; over a minute ahead, in a column, `fut`."""
    if style is COLUMN and seconds < -60:
        return "fut"
    for limit, unit, length in _AGES:
        if seconds < limit:
            return f"{max(int(seconds // length), 0)}{unit}"
    return f"{min(int(seconds // (365 * _DAY)), 99)}y"


def compute_age_lifetime(seconds: float) -> float:
    """Seconds until `format_age` says something else of what is that old."""
    if seconds < 0:
        return -60 - seconds if seconds < -60 else 1 - seconds
    length = next((length for limit, _, length in _AGES if seconds < limit), 365 * _DAY)
    return length - seconds % length


def format_duration(seconds: float) -> str:
    """A length of time in its largest unit up to days: `300 days`, `2 hours`, `40 minutes`, `under a second`."""
    for length, name in _DURATIONS:
        if seconds >= length:
            return format_count(int(seconds // length), name)
    return "under a second"


def format_latency(milliseconds: float, gap: str = " ") -> str:
    """How long a call took: `2 ms`, `1.2 s`, `75 s`; without the space where there is little room."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f}{gap}ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f}{gap}s" if seconds < 9.95 else f"{min(seconds, 9999):.0f}{gap}s"


def format_clock(event: Event) -> str:
    return datetime.fromtimestamp(event.at_us / 1e6).strftime("%H:%M:%S")


def format_event_time(event: Event, now_us: int | None = None, style: WordStyle = SCREEN) -> str:
    """When an event began: the time, with the date where it was another day; without seconds but on the screen."""
    at = datetime.fromtimestamp(event.at_us / 1e6)
    now = datetime.now() if now_us is None else datetime.fromtimestamp(now_us / 1e6)
    clock = "%H:%M:%S" if style is SCREEN else "%H:%M"
    return at.strftime(clock if at.date() == now.date() else f"%Y-%m-%d {clock}")


# Names and paths


def to_relative_path(path: str) -> str:
    """A canonical path without `/memories/`; the folder itself and anything else as it is."""
    return path.removeprefix(ROOT_NAME + "/")


def format_place(path: str) -> str:
    """A canonical path in a sentence: without `/memories/`, and `the folder` for the folder itself."""
    return "the folder" if path == ROOT_NAME else to_relative_path(path)


def shorten(text: str, width: int, *, tail: int = 0) -> str:
    """A line of at most `width` cells, with `..` for its middle or end; `tail` characters of its end stay."""
    if measure_cells(text) <= width:
        return text
    end = text[len(text) - tail :]
    while text and measure_cells(text) + 2 + measure_cells(end) > width:
        text = text[:-1]
    return f"{text.rstrip(' ')}..{end}"


# Events

_DONE = {
    "create": "created",
    "str_replace": "edited",
    "insert": "added to",
    "delete": "deleted",
    "rename": "renamed",
    "copy": "copied",
    "merge": "merged",
    "split": "split",
    "view": "viewed",
    "found": "found",
    "created": "created",
    "modified": "edited",
    "deleted": "deleted",
    "renamed": "renamed",
    "write": "edited",
    "restore": "restored",
    "clear": "cleared",
    "protect": "protected",
    "unprotect": "unprotected",
    "pin": "pinned",
    "unpin": "unpinned",
}
_WANTED = {"str_replace": "edit", "insert": "add to"}
_SETTING = frozenset({"view", "protect", "unprotect", "pin", "unpin", "dismiss"})
"""Commands that succeed without changing a file."""
_TAKEN_BACK = {"undo": "undid", "redo": "redid"}
_OF_RECORD = frozenset({"began", "repair", "adopt", "dismiss", "redact"})
"""Commands that are about the record, and not about a file."""
_ON_FILES = frozenset({"rename", "copy", "delete"})
_LONGEST_REASON = 400


def format_actor(event: Event) -> str:
    """The actor as a sentence begins: `You`, `Claude`, `Another program`."""
    if event.is_outside:
        return "Another program"
    return "You" if isinstance(event.actor, Person) else format_actor_name(event.actor)


def format_by_actor(event: Event) -> str:
    """The same in the midst of a sentence: `by Claude`, `by you`."""
    return f"by {'another program' if event.is_outside else format_actor_in_sentence(event.actor)}"


def describe_event(event: Event, style: WordStyle = SCREEN) -> str:
    """What happened, in one sentence that names the actor and the file."""
    if style is SPOKEN:
        return f"{format_event_clause(event, style)}."
    actor, path = format_actor(event), to_relative_path(event.path)
    match event.result:
        case Result.REFUSED:
            return f"Refused: {actor} asked to {event.command} {path}. {summarize_refusal(event).capitalize()}."
        case Result.UNCERTAIN:
            done = _describe_action(event, style)
            return f"{actor} {done}, but the disk did not confirm it. Check the file before you go on."
        case Result.ABORTED:
            return f"Not done: the program stopped before {path} was changed ({event.command} by {actor})."
    return f"{format_event_clause(event, style)}."


SECRET_FOUND = "holds what looks like"
"""How the note of an event begins that wrote a secret, or what follows its tool's name."""
SECRET_REDACTED = "redacted: "
"""The same of an event that left a secret out."""


def format_result(event: Event) -> str:
    """How an event ended, in a word: what a person set changed no file, and is done all the same."""
    is_set = event.result is Result.NO_CHANGE and event.command in _SETTING
    return (Result.OK if is_set else event.result).label


def format_event_clause(event: Event, style: WordStyle = SCREEN) -> str:
    """An event as a sentence without its stop, such as `Claude changed notes.md (+1 -1)`.

    Spoken, it says what the result was as well: `Claude changed notes.md, 1 line added, 1 removed`.
    """
    if event.command == "found":
        return f"memtui found {event.note or format_place(event.path)}"
    if event.command == "began":
        return f"A new history began here{f': {event.note}' if event.note else ''}".rstrip(".")
    if event.command == "repair":
        return f"memtui repaired {event.note} from the history"
    if event.command == "adopt":
        return f"memtui began to record {event.note}"
    if event.command == "dismiss":
        last = event.note.replace("#", "event ") if style is SPOKEN else event.note
        return f"{format_actor(event)} dismissed the loss up to {last}"
    done = f"{format_actor(event)} {_describe_action(event, style)}"
    counts = format_changed_lines(event.added, event.removed, style)
    is_of_secret = any(part.startswith((SECRET_FOUND, SECRET_REDACTED)) for part in event.note.split(", "))
    note = "" if event.command in _TAKEN_BACK or (counts and not is_of_secret) else event.note
    note = note.removeprefix(f"with {merged}, ") if (merged := _get_merged(event)) else note
    if style is not SPOKEN:
        many = f" ({note})" if note and event.changes and not _is_of_many(event) else ""
        return f"{done}{counts}{many}"
    if event.command in ("claimed", "imported"):
        return f"{format_actor(event)}: {event.note}".rstrip(".")
    match event.result:
        case Result.REFUSED:
            wanted = f"{_WANTED.get(event.command, event.command)} {format_place(event.path)}{_format_target(event)}"
            return f"{format_actor(event)} wanted to {wanted}, and was refused: {_get_refusal_reason(event)}"
        case Result.UNCERTAIN:
            return f"{done}, but the disk did not confirm it: check the file before you go on"
        case Result.ABORTED:
            return f"Not done, because the program stopped first: {done}"
        case Result.NO_CHANGE if event.command not in _SETTING:
            return f"{done}, with no change{f': {event.note}' if event.note else ''}"
    return f"{done}{counts}{f', {note}' if note and not _is_of_many(event) else ''}".rstrip(".")


class EventPhrase(NamedTuple):
    """The sentence of an event in pieces, for a list that gives each its own weight; without numbers of lines.

    Attributes:
        lead: What is unusual, such as `Refused: `; mostly empty.
        actor: Who, as a sentence begins.
        verb: What was done, between two blanks; all of the sentence where it names no file.
        path: What it was done to.
        tail: What follows the path.
    """

    lead: str
    actor: str
    verb: str
    path: str = ""
    tail: str = ""


_LEADS = {Result.REFUSED: "Refused: ", Result.UNCERTAIN: "Not confirmed: ", Result.ABORTED: "Not done: "}


def split_event(event: Event) -> EventPhrase:
    """An event as a sentence without its stop, in pieces."""
    actor, path, lead = format_actor(event), format_place(event.path), _LEADS.get(event.result, "")
    if event.command == "found":
        return EventPhrase(lead, "memtui", " found ", *(("", event.note) if event.note else (path, "")))
    if event.command in _OF_RECORD or _name_many(event):
        clause = format_event_clause(event).removesuffix(format_changed_lines(event.added, event.removed))
        return EventPhrase(lead, *((actor, clause.removeprefix(actor)) if clause.startswith(actor) else ("", clause)))
    if event.result is Result.REFUSED:
        verb = f" asked to {_WANTED.get(event.command, event.command)} "
        return EventPhrase(lead, actor, verb, path, f"{_format_target(event)}: {summarize_refusal(event)}")
    action, target = _describe_action(event, SCREEN), "" if event.command in _TAKEN_BACK else _format_target(event)
    verb = action.removesuffix(path + target)
    note = event.note if event.result is Result.OK and event.command == "view" else ""
    note = "no change" if event.result is Result.NO_CHANGE and event.command not in _SETTING else note
    return EventPhrase(lead, actor, f" {verb}", path, target + (f"  {note}" if note else ""))


def format_changed_lines(added: int | None, removed: int | None, style: WordStyle = SCREEN) -> str:
    """` (+3 -1)`, spoken `, 3 lines added, 1 removed`; nothing where lines do not apply, or where none changed."""
    if style is not SPOKEN:
        parts = [f"{sign}{count}" for sign, count in (("+", added), ("-", removed)) if count]
        return f" ({' '.join(parts)})" if parts and None not in (added, removed) else ""
    parts = [f"{count:,} {word}" for count, word in ((added, "added"), (removed, "removed")) if count]
    if not parts:
        return ""
    first, *rest = parts
    number, word = first.split(" ")
    return ", " + ", ".join([f"{number} {'line' if number == '1' else 'lines'} {word}", *rest])


def _describe_action(event: Event, style: WordStyle) -> str:
    path = format_place(event.path)
    if event.command in _TAKEN_BACK:
        numbers = _format_numbers(event.undoes, style)
        return f"{_TAKEN_BACK[event.command]} {numbers}{' in ' if numbers else ''}{path}"
    if many := _name_many(event):
        return f"{_DONE[event.command]} {many}"
    if merged := _get_merged(event):
        return f"merged {merged} into {path}"
    if event.command == "redact":
        return f"removed a text of {path} from the history"
    if event.command == "create" and any(change.before is not None for change in event.changes if _is_file(change)):
        return f"overwrote {path}"
    return f"{_DONE.get(event.command, event.command)} {path}{_format_target(event)}"


def _get_merged(event: Event) -> str:
    """The note that went into another one; empty if the event is no such merge."""
    is_so = event.command == "merge" and event.note.startswith("with ")
    return event.note.removeprefix("with ").rpartition(", ")[0] if is_so else ""


_DEEDS = {
    "create": "creation of",
    "created": "creation of",
    "str_replace": "edit of",
    "modified": "edit of",
    "write": "edit of",
    "insert": "addition to",
    "delete": "deletion of",
    "deleted": "deletion of",
    "rename": "renaming of",
    "renamed": "renaming of",
    "copy": "copy of",
    "merge": "merging of",
    "split": "splitting of",
    "restore": "restore of",
    "clear": "clearing of",
    "undo": "undo in",
    "redo": "redo in",
}


def format_done(event: Event) -> str:
    """What was done to a file that is named already, without the actor: `edited it`, `undid deletion #4`."""
    if event.command in _TAKEN_BACK:
        seqs = event.undoes
        deed = _DEEDS.get(event.note.removeprefix(f"#{seqs[0]} "), "event").split(" ")[0] if len(seqs) == 1 else ""
        return f"{_TAKEN_BACK[event.command]} {f'{deed} ' if deed else ''}{_format_numbers(seqs, SCREEN)}".rstrip()
    if event.command == "create" and any(change.before is not None for change in event.changes if _is_file(change)):
        return "overwrote it"
    return f"{_DONE.get(event.command, 'changed')} it"


def format_deed(event: Event) -> str:
    """What was done, as the object of a sentence: `your edit of x.md`, `Claude's deletion of 3 files in notes/`."""
    deed = _DEEDS.get(event.command, f"{event.command} of")
    target = _name_many(event) or format_place(event.path) + _format_target(event)
    return f"{format_possessive(event)} {deed} {target}"


def format_possessive(event: Event) -> str:
    """Whose deed it was, within a sentence: `your`, `Claude's`, `another program's`."""
    is_yours = isinstance(event.actor, Person) and not event.is_outside
    return "your" if is_yours else f"{format_by_actor(event).removeprefix('by ')}'s"


def _format_numbers(seqs: Sequence[int], style: WordStyle) -> str:
    numbers = [str(seq) if style is SPOKEN else f"#{seq}" for seq in seqs]
    if not numbers:
        return ""
    which = " and ".join(numbers) if len(numbers) <= 2 else f"{numbers[0]} to {numbers[-1]}"
    many = ("event " if len(numbers) == 1 else "events ") if style is SPOKEN else ""
    return many + which


def _format_target(event: Event) -> str:
    return f" to {format_place(event.new_path)}" if event.new_path else ""


def _get_refusal_reason(event: Event) -> str:
    answer = (event.answer or "").strip().removeprefix("Error: ").split("\n", 1)[0] or event.note
    return answer[:_LONGEST_REASON].rstrip(".") or "no reason is recorded"


def _name_many(event: Event) -> str:
    """`3 files in notes/`, for what a person did to several files at once; else empty."""
    if event.command == "write" and (count := sum(_is_file(change) for change in event.changes)) > 1:
        many = format_count(count, "file")
    elif _is_of_many(event):
        many = event.note
    else:
        return ""
    path = format_place(event.path)
    return many if path == "the folder" else f"{many} in {path}/"


def _is_of_many(event: Event) -> bool:
    """Whether a person did it to several files at once: its path is only where they all lie, its note what they are."""
    if event.command not in _ON_FILES or not event.note or event.new_path is not None:
        return False
    return to_relative_path(event.path) not in {change.path for change in event.changes}


def _is_file(change: Change) -> bool:
    version = change.after or change.before
    return version is not None and version.kind is EntryKind.FILE


FIRST_SAW = "memtui first saw it"
"""Stands for the author of a line that was there at the first look."""


def count_unseen_changes(
    events: Iterable[Event], is_left_out: Callable[[str], bool] = lambda _: False
) -> dict[str, int]:
    """How many files others made, changed, renamed and deleted while nobody looked, by word.

    A file that the person changed herself afterwards has been seen. `is_left_out` says of a path that it never counts.
    """
    paths: dict[str, Change] = {}
    for event in events:
        if event.is_error or event.command == "found":
            continue
        for change in filter(_is_file, event.changes):
            if is_left_out(change.path):
                continue
            first = paths.pop(change.path, change)
            if not isinstance(event.actor, Person):
                paths[change.path] = Change(change.path, first.before, change.after)
    changes = [change for change in paths.values() if change.before != change.after]
    came = Counter(change.after for change in changes if change.before is None)
    went = Counter(change.before for change in changes if change.after is None)
    renamed = (came & went).total()
    return {
        "new": came.total() - renamed,
        "changed": len(changes) - came.total() - went.total(),
        "renamed": renamed,
        "deleted": went.total() - renamed,
    }
