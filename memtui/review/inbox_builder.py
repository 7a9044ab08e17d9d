"""Builds the inbox of a reviewer: every file that changed since the last review, and its open verdicts."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial

from memtui.audit.model import AuditFinding
from memtui.core import times
from memtui.core.errors import JournalDamaged
from memtui.core.events import Agent, EntryKind, Event
from memtui.core.garbage import reduce_gc
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import covers
from memtui.core.times import PointInTime
from memtui.engine import Observer
from memtui.engine.moves import iter_parents
from memtui.journal.chain import START
from memtui.review.hunks import MarkIndex, TrackReview, find_open_flag, is_review_end, resolve_marks
from memtui.review.inbox import ChangedFile, ChangeRun, Inbox, ReviewMark, ReviewVerdict, VersionTexts
from memtui.review.marks import Review
from memtui.review.runs import find_runs
from memtui.review.tracks import PathTrack, PathTracks, get_version_key, track_paths
from memtui.review.verdicts import is_open
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules

# The start of an inbox: the last review, or a given moment.

_SHORTEST_HASH = 8  # hexadecimal digits by which the head of a chain is named at least
_HEX = frozenset("0123456789abcdef")

Since = str | int | PointInTime
"""Since when: `last`, the number of an event after which it begins, the hash of one, or a moment as people write it."""


@dataclass(frozen=True, slots=True)
class ReviewStart:
    """Where an inbox begins.

    Attributes:
        seq: The number of the event after which it begins.
        words: As shown, such as `the last review`.
        is_last: Whether it is the last review: then single acceptances count, too.
        dones: Numbers of the last events of ended reviews that the journal knows.
    """

    seq: int
    at_us: int | None
    words: str
    is_last: bool
    dones: frozenset[int] = frozenset()

    def iter_mark_starts(self, marks: Sequence[ReviewMark]) -> Iterator[tuple[ReviewMark, int]]:
        """Marks that may be about older changes, each with the number of the event since which these may have come.

        Flagged changes may be older than the last review and accepted by now; a reviewer who accepted may have seen
        all since an older review of their own.
        """
        flagged = find_open_flag(marks)
        begun = max((at for at, mark in enumerate(marks) if is_review_end(mark) and mark.seq == self.seq), default=-1)
        ended, oldest = 0, self.seq
        own: dict[str, int] = {}
        for at, mark in enumerate(marks if self.is_last else ()):
            if is_review_end(mark):
                if mark.seq in self.dones:
                    ended = own[mark.reviewer] = mark.seq
            elif mark.verdict is ReviewVerdict.FLAG:
                oldest = min(oldest, ended, own.get(mark.reviewer, 0))
                if flagged is not None and at >= flagged:
                    yield mark, oldest
            elif mark.verdict is ReviewVerdict.ACCEPT and at > begun:
                yield mark, min(oldest, own.get(mark.reviewer, 0))


def find_review_start(
    observer: Observer, marks: Sequence[ReviewMark], since: Since, reviewer: str | None
) -> ReviewStart:
    """Where an inbox begins.

    Raises:
        ValueError: There is no such moment; the words are a sentence.
    """
    if since == "last":
        seq, words, dones = _find_last_review(observer, marks, reviewer)
        return ReviewStart(seq, _get_event_time(observer, seq), words, True, dones)
    seq, words = _parse_since(observer, since)
    return ReviewStart(seq, _get_event_time(observer, seq), words, False)


def describe_missing_head(observer: Observer, review: Review) -> str:
    """That the record which marks were given over is not the one that is there now, as a sentence; empty if it is."""
    known: dict[tuple[int, str], bool] = {}
    for mark in reversed(review.valid_marks):
        place = mark.seq, mark.head
        if place not in known:
            known[place] = _is_in_chain(observer, mark)
        if not known[place]:
            last = observer.get_head()[0]
            there = f"the last event is #{last}" if mark.seq > last else "that event has another hash"
            review_words = f"it ended at #{mark.seq} ({mark.head[:8]}), and {there}"
            return (
                f"The history is not the one that {_format_reviewer(mark)} reviewed: {review_words}. It was cut, "
                "replaced or rewritten, or this is another folder's review."
            )
    return ""


def _find_last_review(
    observer: Observer, marks: Sequence[ReviewMark], reviewer: str | None
) -> tuple[int, str, frozenset[int]]:
    done = [mark for mark in marks if is_review_end(mark) and reviewer in (None, mark.reviewer)]
    known = [mark for mark in done if _is_in_chain(observer, mark)]
    if known:
        last = max(known, key=lambda mark: mark.seq)
        return last.seq, f"the last review, by {_format_reviewer(last)}", frozenset(mark.seq for mark in known)
    if done:
        return 0, f"the last review, by {_format_reviewer(done[-1])}, is not in the record: its beginning", frozenset()
    return 0, "the record's beginning", frozenset()


def _parse_since(observer: Observer, since: Since) -> tuple[int, str]:
    last = observer.get_head()[0]
    if isinstance(since, str):
        if (found := _find_by_hash(observer, since)) is not None:
            return found, f"#{found}"
        since = times.parse_point_in_time(since, now=datetime.now(UTC))
    if isinstance(since, PointInTime):
        if since.is_now:
            return last, "now"
        if since.seq is None:
            assert since.first_us is not None
            return observer.history.find_seq_at(since.first_us - 1), since.text
        since = since.seq
    if not 0 <= since <= last:
        raise ValueError(
            f"There is no event #{since}. " + (f"The last one is #{last}." if last else "No event is recorded.")
        )
    return since, f"#{since}" if since else "the record's beginning"


def _find_by_hash(observer: Observer, words: str) -> int | None:
    """The number of the event with a hash, with its number or without: `41:9f2c...`; `None` if it is no hash.

    Raises:
        ValueError: It is a hash, and no event has it.
    """
    number, _, rest = words.strip().replace(":", " ").rpartition(" ")
    given = rest.casefold()
    if number and not (number.isascii() and number.isdecimal()):
        return None
    if len(given) < _SHORTEST_HASH or not set(given) <= _HEX or (given.isdecimal() and not number):
        return None
    if number:
        event = find_event(observer, int(number)) if len(number) < 19 else None
        if event is not None and event.hash.startswith(given):
            return event.seq
    else:
        for event in observer.events():
            if event.hash.startswith(given):
                return event.seq
    raise ValueError(
        f"The history has no event with the hash {given[:16]}: it was cut or replaced, or is another folder's."
    )


def _is_in_chain(observer: Observer, mark: ReviewMark) -> bool:
    if mark.seq == 0:
        return mark.head in ("", START.hex())
    event = find_event(observer, mark.seq)
    return event is not None and event.hash == mark.head


def find_event(observer: Observer, seq: int) -> Event | None:
    """An event; `None` if there is none of this number, or it cannot be read."""
    try:
        return observer.history.get_event(seq)
    except (JournalDamaged, RecursionError, OverflowError):
        return None  # somebody wrote over it, or no record has such a number


def _get_event_time(observer: Observer, seq: int) -> int | None:
    event = find_event(observer, seq)
    return event.at_us if event is not None else None


def _format_reviewer(mark: ReviewMark) -> str:
    return mark.reviewer or "somebody"


@reduce_gc()
def build_inbox(
    observer: Observer,
    review: Review,
    *,
    since: Since = "last",
    reviewer: str | None = None,
    actor: str | None = None,
    session: str | None = None,
    path: str | None = None,
    rule: str | None = None,
    findings: Iterable[AuditFinding] = (),
    accepted: bool = False,
    runs: bool = True,
    until: int | None = None,
    rules: SecretRules = NO_SECRET_RULES,
) -> Inbox:
    """What is to be reviewed.

    Args:
        since: See `ChangesSince`. With `last`, accepted changes are left out, and flagged ones stay.
        reviewer: The reviewer whose acceptance counts; `None` for anyone.
        accepted: Whether accepted files are included, with their marks.
        runs: Whether changes are grouped into runs, with their lost facts.
        until: The number of the last event, if not now.
        rules: Of a person's own files: what they find is masked, too.

    Raises:
        ValueError: There is no such moment; the words are a sentence.
        StateUnusable, MemoryClosed: The record cannot be read.
    """
    wanted = _build_filter(actor, session, path, rule, findings)
    marks = review.valid_marks
    begin = find_review_start(observer, marks, since, reviewer)
    followed, index = _track_marked_paths(observer, marks, begin, until)
    shown = list(_iter_changed(followed, index, begin, reviewer, accepted=accepted))
    files = [file for thing, file in shown if not thing.is_directory]
    folders = [file for thing, file in shown if thing.is_directory]
    parts = [(thing, len(thing.steps) - len(file.steps)) for thing, file in shown if not thing.is_directory]
    found_runs = find_runs(observer, followed, parts, rules) if runs else ()
    files = _assign_runs([*files, *_find_empty_directories(folders, followed.tracks, begin.seq)], found_runs)
    files = [file for file in files if wanted(file)]
    paths = {file.path for file in files}
    return Inbox(
        since=begin.seq,
        since_us=begin.at_us,
        since_words=begin.words,
        until=followed.until,
        files=tuple(sorted(_add_line_counts(observer, files), key=_get_sort_key)),
        runs=tuple(run for run in found_runs if paths.intersection(run.paths)),
        marks=review.marks,
        problem=" ".join(words for words in (review.problem, describe_missing_head(observer, review)) if words),
        folders=tuple(sorted(folders, key=lambda folder: folder.path.split("/"))),
    )


def _track_marked_paths(
    observer: Observer, marks: Sequence[ReviewMark], begin: ReviewStart, until: int | None
) -> tuple[PathTracks, MarkIndex]:
    """The paths since the begin of a review, or since an older mark that still counts, and the marks by path."""
    followed = track_paths(observer, begin.seq, until)
    index = MarkIndex(marks, followed.tracks, partial(_get_version_key, observer))
    older = [
        seq
        for mark, seq in begin.iter_mark_starts(marks)
        if seq < begin.seq and (mark.verdict is ReviewVerdict.FLAG or not index.has_match(mark))
    ]
    if older:
        followed = track_paths(observer, min(older), until)
        index = MarkIndex(marks, followed.tracks, partial(_get_version_key, observer))
    return followed, index


def _iter_changed(
    followed: PathTracks, index: MarkIndex, begin: ReviewStart, reviewer: str | None, *, accepted: bool
) -> Iterator[tuple[PathTrack, ChangedFile]]:
    """The files and directories that are to be reviewed; with `accepted`, also those that are accepted."""
    for thing in followed.tracks:
        about = index.get_marks(thing, with_dones=begin.is_last)
        if begin.is_last:
            found = resolve_marks(thing, about, begin.dones, reviewer)
        else:
            later = [mark for mark in about if mark.seq >= begin.seq]
            found = TrackReview(thing.find_step_index(begin.seq), last=_find_last_verdict(about), marks=later)
        start = _find_first_step(thing, found, accepted=accepted)
        if start is None:
            continue
        file = _build_changed_file(thing, start, found)
        if accepted or is_open(file, reviewer):
            yield thing, _add_events(file, followed)


def group_by_folder(inbox: Inbox) -> dict[str, tuple[ChangedFile, ...]]:
    """Directories that can be told as one, by path, each with the files in it: all of them came, went or moved along.

    Of directories within each other it is the outermost.
    """
    found: dict[str, tuple[ChangedFile, ...]] = {}
    by_folder: dict[str, list[ChangedFile]] = {}
    for file in inbox.files:
        for above in iter_parents(file.path):
            by_folder.setdefault(above, []).append(file)
    for folder in sorted(inbox.folders, key=lambda each: each.path.count("/")):
        inside = by_folder.get(folder.path, [])
        alike = {
            (file.sign, file.verdict, file.earlier is not None and file.earlier.verdict is ReviewVerdict.FLAG, file.run)
            for file in inside
        }
        is_inner = any(above in found for above in iter_parents(folder.path))
        if not is_inner and len(inside) > 1 and len(alike) == 1 and inside[0].sign == folder.sign:
            found[folder.path] = tuple(inside)
    return found


# Changed files


def _get_version_key(observer: Observer, path: str, seq: int) -> str:
    """What stood at a path right after an event, as marks say it."""
    try:
        return get_version_key(observer.history.get_version_at(path, seq))
    except (JournalDamaged, RecursionError, OverflowError):
        return "unknown"  # somebody wrote over it


def _find_first_step(thing: PathTrack, found: TrackReview, *, accepted: bool) -> int | None:
    """The first step to review; `None` if nothing changed. An accepted change begins where it was accepted."""
    if _is_changed(thing, found.start):
        return found.start
    if accepted and found.accepted is not None and _is_changed(thing, found.accepted[0]):
        return found.accepted[0]
    return None


def _is_changed(thing: PathTrack, start: int) -> bool:
    old, new = thing.steps[start], thing.current
    return old.version != new.version or (old.name != new.name and new.version is not None)


def _build_changed_file(thing: PathTrack, start: int, found: TrackReview) -> ChangedFile:
    """What became of a thing, before it is known who did it."""
    old, new = thing.steps[start], thing.current
    texts = get_version_key(old.version), get_version_key(new.version)
    names = {new.name} if new.version is not None else thing.names
    of_file = found.marks if start == found.start else [*found.accepted_marks, *found.marks]
    marks = tuple(
        mark for mark in of_file if not mark.hunk and mark.path in names and (mark.before, mark.after) == texts
    )
    file = ChangedFile(
        path=new.name,
        previous_path=old.name if old.version is not None and old.name != new.name else "",
        before=old.version,
        after=new.version,
        steps=tuple(thing.steps[start:]),
        marks=marks,
    )
    last = found.last if found.last not in marks and file.verdict is None else None
    return replace(file, earlier=last) if last is not None else file


def _find_last_verdict(about: Sequence[ReviewMark]) -> ReviewMark | None:
    """The last judgement of a file as a whole."""
    judged = (mark for mark in reversed(about) if not mark.hunk)
    last = next((mark for mark in judged if mark.verdict is not ReviewVerdict.NOTE), None)
    return last if last is not None and last.verdict is not ReviewVerdict.REVERTED else None


# Actors and line counts


def _add_events(file: ChangedFile, followed: PathTracks) -> ChangedFile:
    seqs = dict.fromkeys(step.seq for step in file.steps[1:])
    events = tuple(followed.events[seq] for seq in seqs if seq in followed.events)
    actors = dict.fromkeys(followed.get_actor_name(event.actor) for event in events)
    sessions = dict.fromkeys(
        event.actor.session for event in events if isinstance(event.actor, Agent) and event.actor.session
    )
    return replace(file, events=events, actors=tuple(actors), sessions=tuple(sessions))


def _find_empty_directories(
    folders: Sequence[ChangedFile], things: Iterable[PathTrack], since: int
) -> list[ChangedFile]:
    """Directories of which nothing else tells that they came, went or moved: nothing is in them, or was."""
    if not folders:
        return []
    held: set[str] = set()
    hold: set[str] = set()
    for thing in things:
        for step, above in ((thing.steps[thing.find_step_index(since)], held), (thing.current, hold)):
            if step.version is not None:
                above.update(iter_parents(step.name))
    return [
        folder
        for folder in folders
        if (folder.before is not None and (folder.previous_path or folder.path) not in held)
        or (folder.after is not None and folder.path not in hold)
    ]


def _assign_runs(files: Iterable[ChangedFile], runs: Sequence[ChangeRun]) -> list[ChangedFile]:
    of_path = {path: run for run in runs for path in run.paths}
    assigned = []
    for file in files:
        run = of_path.get(file.path)
        is_in_run = run is not None and any(run.first <= event.seq <= run.last for event in file.events)
        assigned.append(replace(file, run=run.number) if run is not None and is_in_run else file)
    return assigned


def _add_line_counts(observer: Observer, files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The files with how many lines each had added and removed, where that can be told."""
    texts = VersionTexts(observer)
    counted = []
    for file in texts.iter_loaded(files, lambda file: () if _get_recorded_counts(file) else (file.before, file.after)):
        counts = _get_recorded_counts(file) or texts.count_changes(file.before, file.after)
        counted.append(file if counts is None else replace(file, added=counts[0], removed=counts[1]))
    return counted


def _get_recorded_counts(file: ChangedFile) -> tuple[int, int] | None:
    """What the record counted, where one event made the change, and no other one; `None` if it is not so."""
    kinds = {version.kind for version in (file.before, file.after) if version is not None}
    if len(file.events) != 1 or file.previous_path or not kinds <= {EntryKind.FILE}:
        return None
    return file.events[0].line_counts


# Filters


def _build_filter(
    actor: str | None, session: str | None, path: str | None, rule: str | None, findings: Iterable[AuditFinding]
) -> Callable[[ChangedFile], bool]:
    flagged: Collection[str] = ()
    if rule is not None:
        flagged = {finding.location.path for finding in findings if fnmatchcase(finding.rule, rule)}
    name = actor.casefold() if actor is not None else None
    below = path.strip("/") if path is not None else ""

    def is_wanted(file: ChangedFile) -> bool:
        return (
            (name is None or any(each.casefold() == name for each in file.actors))
            and (session is None or session in file.sessions)
            and (not below or any(covers(below, each) for each in (file.path, file.previous_path) if each))
            and (rule is None or file.path in flagged)
        )

    return is_wanted


def _get_sort_key(file: ChangedFile) -> tuple[int, int, list[str]]:
    """What is flagged first, what is accepted last; within these, what has most to say first."""
    rank = {ReviewVerdict.FLAG: 0, ReviewVerdict.ACCEPT: 2}.get(file.verdict, 1) if file.verdict is not None else 1
    return rank, -((file.added or 0) + 2 * (file.removed or 0)), file.path.split("/")
