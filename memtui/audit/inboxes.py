"""The inbox of a reviewer: what became of every file since somebody last looked, and what is left to be said of it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from memtui.audit.changed_hunks import hunks as hunks  # noqa: PLC0414 - others ask for them here
from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, Inbox, Mark, Verdict
from memtui.audit.judging import is_left
from memtui.audit.marks import Review
from memtui.audit.runs import runs_of
from memtui.audit.settling import Settled, is_done, open_flags, settled
from memtui.audit.things import Followed, Thing, events_of, few_collections, follow, key_of
from memtui.core import diffs, moments
from memtui.core.errors import JournalDamaged
from memtui.core.events import Agent, Event, Version
from memtui.core.moments import Moment
from memtui.core.snapshot import Kind
from memtui.engine import Observer
from memtui.journal.chain import START

_COMPARED = 1_000_000
"""Bytes of the largest texts whose lines are counted."""
_TEXTS_AT_ONCE = 500
"""Files whose texts are held at a time."""
_SHORTEST_HASH = 8
"""Hexadecimal digits by which the head of a chain is named at least."""
_HEX = frozenset("0123456789abcdef")

Since = str | int | Moment
"""Since when: `last`, the number of an event after which it begins, the hash of one, or a moment as people write it."""


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Where an inbox begins.

    Attributes:
        seq: The number of the event after which it does.
        words: What it is since.
        is_last: Whether it is the last review: then what was accepted one by one counts, too.
        dones: Numbers of the last events of reviews that were ended, as far as the record knows them.
    """

    seq: int
    words: str
    is_last: bool
    dones: frozenset[int] = frozenset()


def inbox(
    observer: Observer,
    review: Review,
    *,
    since: Since = "last",
    reviewer: str | None = None,
    actor: str | None = None,
    session: str | None = None,
    path: str | None = None,
    rule: str | None = None,
    findings: Iterable[Finding] = (),
    accepted: bool = False,
    runs: bool = True,
) -> Inbox:
    """What is to be reviewed.

    Args:
        observer: The memory, after a look for changes.
        review: What reviewers said.
        since: See `Since`. With `last`, what was accepted since is not told again, and what was flagged still is.
        reviewer: Whose acceptance counts; `None` for anybody's.
        actor: Only files that somebody of this name changed, as shown.
        session: Only files that were changed in this conversation.
        path: Only a path and what is below it, relative to the folder.
        rule: Only files with a finding of this rule, or pattern of rules.
        findings: Those of an audit, for `rule`.
        accepted: Whether files that are accepted are told, too, with their marks.
        runs: Whether changes that were made in one go are told as such, with what they dropped.

    Raises:
        ValueError: There is no such moment; the words are a sentence.
        StateUnusable, Closed: The record cannot be read.
    """
    wanted = _wanted(actor, session, path, rule, findings)
    with few_collections():
        return _inbox(observer, review, since, reviewer, wanted, accepted=accepted, runs=runs)


def _inbox(
    observer: Observer,
    review: Review,
    since: Since,
    reviewer: str | None,
    wanted: Callable[[ChangedFile], bool],
    *,
    accepted: bool,
    runs: bool,
) -> Inbox:
    marks = review.counting
    gone = head_gone(observer, marks)
    begin = _beginning(observer, marks, since, reviewer)
    followed = follow(observer, _reach(marks, begin))
    of_path = _by_path(marks)
    dones = [(at, mark) for at, mark in enumerate(marks) if is_done(mark)]
    shown: list[tuple[Thing, int, ChangedFile]] = []
    for thing in followed.things:
        about = _about(thing, of_path, dones if begin.is_last else [])
        said = [mark for mark in about if mark.path]
        found = settled(thing, about, begin.dones, reviewer) if begin.is_last else Settled()
        if not begin.is_last and followed.after < begin.seq:
            found.start = thing.index_at(begin.seq)
        if (file := _changed(thing, found, said, reviewer, is_last=begin.is_last, accepted=accepted)) is not None:
            shown.append((thing, _start_of(found, thing), file))
    numbers = {step.seq for thing, start, _ in shown for step in thing.steps[start + 1 :]}
    events = events_of(observer, followed.after, followed.until, numbers)
    files = [
        _told(file, [events[seq] for seq in _seqs(thing, start) if seq in events], followed)
        for thing, start, file in shown
        if not thing.is_directory
    ]
    folders = [
        _told(file, [events[seq] for seq in _seqs(thing, start) if seq in events], followed)
        for thing, start, file in shown
        if thing.is_directory
    ]
    files += _empty(folders, followed.things)
    found_runs = runs_of(observer, followed, [(thing, start) for thing, start, _ in shown]) if runs else ()
    numbered = {path: run for run in found_runs for path in run.paths}
    files = [_in_run(file, numbered.get(file.path)) for file in files]
    files = [file for file in files if wanted(file)]
    paths = {file.path for file in files}
    files = _counted(observer, files)
    first = _event(observer, begin.seq)
    return Inbox(
        since=begin.seq,
        since_us=first.at_us if first is not None else None,
        since_words=begin.words,
        until=followed.until,
        files=tuple(sorted(files, key=_order)),
        runs=tuple(run for run in found_runs if paths.intersection(run.paths)),
        marks=review.marks,
        problem=" ".join(words for words in (review.problem, gone) if words),
        folders=tuple(sorted(folders, key=lambda folder: folder.path.split("/"))),
    )


def head_gone(observer: Observer, review: Review | Sequence[Mark]) -> str:
    """That the record which marks were given over is not the one that is there now, as a sentence; empty if it is.

    Args:
        observer: The memory.
        review: What reviewers said.
    """
    marks = review.counting if isinstance(review, Review) else review
    known: dict[tuple[int, str], bool] = {}
    for mark in reversed(marks):
        place = mark.seq, mark.head
        if place not in known:
            known[place] = _is_in_chain(observer, mark)
        if not known[place]:
            last = observer.head()[0]
            there = f"the last event is #{last}" if mark.seq > last else "another event stands there"
            return (
                f"The record is not the one that {_name(mark)} reviewed: the review was given over #{mark.seq} "
                f"({mark.head[:8]}), and {there}. It was cut, replaced or written anew, or this is another folder's "
                "review."
            )
    return ""


def settled_folders(inbox: Inbox) -> dict[str, tuple[ChangedFile, ...]]:
    """Directories that can be told as one, by path, each with the files in it: all of them came, went or moved along.

    Of directories within each other it is the outermost.
    """
    found: dict[str, tuple[ChangedFile, ...]] = {}
    by_folder: dict[str, list[ChangedFile]] = {}
    for file in inbox.files:
        parts = file.path.split("/")
        for end in range(1, len(parts)):
            by_folder.setdefault("/".join(parts[:end]), []).append(file)
    for folder in sorted(inbox.folders, key=lambda each: each.path.count("/")):
        inside = by_folder.get(folder.path, [])
        above = any(folder.path.startswith(other + "/") for other in found)
        alike = {(file.sign, file.verdict, _was_flagged(file), file.run) for file in inside}
        if not above and len(inside) > 1 and len(alike) == 1 and inside[0].sign == folder.sign:
            found[folder.path] = tuple(inside)
    return found


def _was_flagged(file: ChangedFile) -> bool:
    return file.earlier is not None and file.earlier.verdict is Verdict.FLAG


# Where it begins


def _beginning(observer: Observer, marks: Sequence[Mark], since: Since, reviewer: str | None) -> _Beginning:
    if since == "last":
        done = [mark for mark in marks if is_done(mark) and reviewer in (None, mark.reviewer)]
        known = [mark for mark in done if _is_in_chain(observer, mark)]
        numbers = frozenset(mark.seq for mark in known)
        if not known:
            whose = f", by {_name(done[-1])}, is not in the record: its beginning" if done else ""
            return _Beginning(0, f"the last review{whose}" if done else "the record's beginning", True, numbers)
        last = max(known, key=lambda mark: mark.seq)
        return _Beginning(last.seq, f"the last review, by {_name(last)}", True, numbers)
    if isinstance(since, str):
        if (found := _of_hash(observer, since)) is not None:
            return _Beginning(found, f"#{found}", False)
        since = moments.moment(since, now=datetime.now(UTC))
    if isinstance(since, Moment):
        if since.is_now:
            return _Beginning(observer.head()[0], "now", False)
        if since.seq is None:
            assert since.first_us is not None
            return _Beginning(observer.history.seq_at(since.first_us - 1), since.words, False)
        since = since.seq
    last_seq = observer.head()[0]
    if not 0 <= since <= last_seq:
        raise ValueError(
            f"There is no event #{since}. " + (f"The last one is #{last_seq}." if last_seq else "No event is recorded.")
        )
    return _Beginning(since, f"#{since}" if since else "the record's beginning", False)


def _of_hash(observer: Observer, words: str) -> int | None:
    """The number of the event with a hash, with its number or without: `41:9f2c...`.

    Raises:
        ValueError: It is a hash, and no event has it.
    """
    number, _, rest = words.strip().replace(":", " ").rpartition(" ")
    given = rest.casefold()
    if not number.isdecimal() and number:
        return None
    if len(given) < _SHORTEST_HASH or not set(given) <= _HEX or (given.isdecimal() and not number):
        return None
    if number:
        event = _event(observer, int(number)) if len(number) < 19 else None
        if event is not None and event.hash.startswith(given):
            return event.seq
    else:
        for event in observer.events():
            if event.hash.startswith(given):
                return event.seq
    raise ValueError(
        f"The record has no event with the hash {given[:16]}: it was cut or replaced since, or it is another folder's."
    )


def _reach(marks: Sequence[Mark], begin: _Beginning) -> int:
    """The number of the event from which on the record is read.

    What is flagged may be older than the last review; and who accepted something may have been shown all that came
    since an older review of their own.
    """
    if not begin.is_last:
        return begin.seq
    first = open_flags(marks)
    reach = begin.seq
    ended = 0
    own: dict[str, int] = {}
    begun = max((at for at, mark in enumerate(marks) if is_done(mark) and mark.seq == begin.seq), default=-1)
    for at, mark in enumerate(marks):
        if is_done(mark):
            if mark.seq in begin.dones:
                ended = own[mark.reviewer] = mark.seq
        elif at == first:
            reach = min(reach, ended, own.get(mark.reviewer, 0))
        elif mark.verdict is Verdict.ACCEPT and at > begun:
            reach = min(reach, own.get(mark.reviewer, 0))
    return reach


def _is_in_chain(observer: Observer, mark: Mark) -> bool:
    if mark.seq == 0:
        return mark.head in ("", START.hex())
    event = _event(observer, mark.seq)
    return event is not None and event.hash == mark.head


def _event(observer: Observer, seq: int) -> Event | None:
    try:
        return observer.history.event(seq)
    except (JournalDamaged, RecursionError):
        return None  # somebody wrote over it


def _name(mark: Mark) -> str:
    return mark.reviewer or "somebody"


# What is said of a thing


def _by_path(marks: Iterable[Mark]) -> dict[str, list[tuple[int, Mark]]]:
    found: dict[str, list[tuple[int, Mark]]] = {}
    for at, mark in enumerate(marks):
        if mark.path:
            found.setdefault(mark.path, []).append((at, mark))
    return found


def _about(
    thing: Thing, of_path: Mapping[str, list[tuple[int, Mark]]], dones: Sequence[tuple[int, Mark]]
) -> list[Mark]:
    """What was said of a thing under any of its names, and of all that there was; the oldest first."""
    found = [each for name in thing.names for each in of_path.get(name, ())]
    return [mark for _, mark in sorted([*found, *dones], key=lambda each: each[0])]


def _start_of(found: Settled, thing: Thing) -> int:
    """From which step on a thing is told: one that was accepted, from where it was."""
    if found.accepted is not None and found.start == len(thing.steps) - 1:
        return found.accepted[0]
    return found.start


def _changed(
    thing: Thing, found: Settled, said: Sequence[Mark], reviewer: str | None, *, is_last: bool, accepted: bool
) -> ChangedFile | None:
    """What is told of a thing, before it is known who did it; `None` for nothing."""
    old, new = thing.steps[found.start], thing.now
    is_same = old.version == new.version and (old.name == new.name or new.version is None)
    if is_same and accepted and is_last and found.accepted is not None:
        old = thing.steps[found.accepted[0]]
        is_same = old.version == new.version and (old.name == new.name or new.version is None)
    if is_same:
        return None
    before, after = key_of(old.version), key_of(new.version)
    marks = tuple(
        mark for mark in said if not mark.hunk and (mark.path, mark.before, mark.after) == (new.name, before, after)
    )
    file = ChangedFile(
        path=new.name,
        was=old.name if old.version is not None and new.version is not None and old.name != new.name else "",
        before=old.version,
        after=new.version,
        marks=marks,
    )
    if not accepted and not is_left(file, reviewer):
        return None
    last = found.last if is_last else _last(said)
    return replace(file, earlier=last) if last is not None and last not in marks and file.verdict is None else file


def _last(said: Sequence[Mark]) -> Mark | None:
    """The last judgement of a file as a whole."""
    judged = (mark for mark in reversed(said) if not mark.hunk)
    last = next((mark for mark in judged if mark.verdict is not Verdict.NOTE), None)
    return last if last is not None and last.verdict is not Verdict.REVERTED else None


# Who did it, and how much


def _seqs(thing: Thing, start: int) -> list[int]:
    return list(dict.fromkeys(step.seq for step in thing.steps[start + 1 :]))


def _told(file: ChangedFile, events: Sequence[Event], followed: Followed) -> ChangedFile:
    actors: dict[str, None] = {}
    sessions: dict[str, None] = {}
    for event in events:
        actor = followed.deeds[event.seq].actor if event.seq in followed.deeds else event.actor
        actors[followed.name_of(actor)] = None
        if isinstance(actor, Agent) and actor.session:
            sessions[actor.session] = None
    return replace(file, events=tuple(events), actors=tuple(actors), sessions=tuple(sessions))


def _empty(folders: Sequence[ChangedFile], things: Iterable[Thing]) -> list[ChangedFile]:
    """Directories of which nothing else tells that they came or went."""
    names = {name for thing in things for name in thing.names}
    inside = {above for name in names for above in _above(name)}
    return [folder for folder in folders if folder.path not in inside]


def _above(path: str) -> Iterable[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _in_run(file: ChangedFile, run: object) -> ChangedFile:
    number = getattr(run, "number", None)
    first, last = getattr(run, "first", 0), getattr(run, "last", 0)
    if number is None or not any(first <= event.seq <= last for event in file.events):
        return file
    return replace(file, run=number)


def _counted(observer: Observer, files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The files with how many lines each had added and removed, where that can be told."""
    counted: list[ChangedFile] = []
    for start in range(0, len(files), _TEXTS_AT_ONCE):
        some = files[start : start + _TEXTS_AT_ONCE]
        plain = [file for file in some if _alone(file) is None and _is_counted(file)]
        hashes = {version.sha256 for file in plain for version in (file.before, file.after) if version is not None}
        texts = observer.history.texts({each for each in hashes if each is not None})
        for file in some:
            counts = _alone(file) or (_counts(file, texts) if _is_counted(file) else None)
            counted.append(file if counts is None else replace(file, added=counts[0], removed=counts[1]))
    return counted


def _alone(file: ChangedFile) -> tuple[int, int] | None:
    """What the one event counted that made the change; `None` if it is not so."""
    if file.before == file.after:
        return (0, 0) if file.before is not None and file.before.kind is Kind.FILE else None
    if len(file.events) != 1 or len(file.events[0].changes) != 1 or file.was:
        return None
    event, change = file.events[0], file.events[0].changes[0]
    if event.added is None or event.removed is None or (change.before, change.after) != (file.before, file.after):
        return None
    return event.added, event.removed


def _is_counted(file: ChangedFile) -> bool:
    versions = [version for version in (file.before, file.after) if version is not None]
    return all(each.kind is Kind.FILE and each.sha256 and each.size <= _COMPARED for each in versions)


def _counts(file: ChangedFile, texts: Mapping[str, bytes]) -> tuple[int, int] | None:
    sides = [_text(version, texts) for version in (file.before, file.after)]
    if sides[0] is None or sides[1] is None:
        return None
    return diffs.counts(sides[0], sides[1])


def _text(version: Version | None, texts: Mapping[str, bytes]) -> str | None:
    if version is None:
        return ""
    data = texts.get(version.sha256 or "")
    if data is None or b"\0" in data:
        return None
    return data.decode("utf-8", "surrogateescape")


# Which of them


def _wanted(
    actor: str | None, session: str | None, path: str | None, rule: str | None, findings: Iterable[Finding]
) -> Callable[[ChangedFile], bool]:
    flagged: Collection[str] = ()
    if rule is not None:
        flagged = {finding.place.path for finding in findings if fnmatchcase(finding.rule, rule)}
    name = actor.casefold() if actor is not None else None
    below = path.strip("/") if path is not None else ""

    def is_wanted(file: ChangedFile) -> bool:
        return (
            (name is None or any(each.casefold() == name for each in file.actors))
            and (session is None or session in file.sessions)
            and (not below or any(_is_below(each, below) for each in (file.path, file.was) if each))
            and (rule is None or file.path in flagged)
        )

    return is_wanted


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _order(file: ChangedFile) -> tuple[int, int, list[str]]:
    """What is flagged first, what is accepted last; within these, what has most to say first."""
    rank = {Verdict.FLAG: 0, Verdict.ACCEPT: 2}.get(file.verdict, 1) if file.verdict is not None else 1
    return rank, -((file.added or 0) + 2 * (file.removed or 0)), file.path.split("/")
