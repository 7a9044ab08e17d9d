"""The inbox of a reviewer: what became of every file since somebody last looked, and what is left to be said of it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from memtui.audit.beginnings import Since, beginning, head_gone
from memtui.audit.changed_hunks import hunks as hunks  # noqa: PLC0414 - others ask for them here
from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, Inbox, Mark, Run, Verdict
from memtui.audit.judging import is_left
from memtui.audit.marks import Review
from memtui.audit.runs import runs_of
from memtui.audit.settling import Said, Settled, settled
from memtui.audit.texts import Texts
from memtui.audit.things import Followed, Thing, few_collections, follow, key_of
from memtui.core.errors import JournalDamaged
from memtui.core.events import Agent, Version
from memtui.core.snapshot import Kind
from memtui.engine import Observer


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
    begin = beginning(observer, marks, since, reviewer)
    followed = follow(observer, begin.seq)
    said = Said(marks, followed.things, partial(_stood, observer))
    older = [
        seq
        for mark, seq in begin.shown_since(marks)
        if seq < begin.seq and (mark.verdict is Verdict.FLAG or not said.places(mark))
    ]
    if older:
        followed = follow(observer, min(older))
        said = Said(marks, followed.things, partial(_stood, observer))
    shown: list[tuple[Thing, ChangedFile]] = []
    for thing in followed.things:
        about = said.of(thing, with_dones=begin.is_last)
        if begin.is_last:
            found = settled(thing, about, begin.dones, reviewer)
        else:
            later = [mark for mark in about if mark.seq >= begin.seq]
            found = Settled(thing.index_at(begin.seq), last=_last(about), said=later)
        start = _start(thing, found, accepted=accepted)
        if start is None:
            continue
        file = _changed(thing, start, found)
        if accepted or is_left(file, reviewer):
            shown.append((thing, _told(file, followed)))
    files = [file for thing, file in shown if not thing.is_directory]
    folders = [file for thing, file in shown if thing.is_directory]
    parts = [(thing, len(thing.steps) - len(file.steps)) for thing, file in shown if not thing.is_directory]
    found_runs = runs_of(observer, followed, parts) if runs else ()
    files = _in_runs([*files, *_empty(folders, followed.things, begin.seq)], found_runs)
    files = [file for file in files if wanted(file)]
    paths = {file.path for file in files}
    return Inbox(
        since=begin.seq,
        since_us=begin.at_us,
        since_words=begin.words,
        until=followed.until,
        files=tuple(sorted(_counted(observer, files), key=_order)),
        runs=tuple(run for run in found_runs if paths.intersection(run.paths)),
        marks=review.marks,
        problem=" ".join(words for words in (review.problem, head_gone(observer, review)) if words),
        folders=tuple(sorted(folders, key=lambda folder: folder.path.split("/"))),
    )


def settled_folders(inbox: Inbox) -> dict[str, tuple[ChangedFile, ...]]:
    """Directories that can be told as one, by path, each with the files in it: all of them came, went or moved along.

    Of directories within each other it is the outermost.
    """
    found: dict[str, tuple[ChangedFile, ...]] = {}
    by_folder: dict[str, list[ChangedFile]] = {}
    for file in inbox.files:
        for above in _above(file.path):
            by_folder.setdefault(above, []).append(file)
    for folder in sorted(inbox.folders, key=lambda each: each.path.count("/")):
        inside = by_folder.get(folder.path, [])
        alike = {(file.sign, file.verdict, _was_flagged(file), file.run) for file in inside}
        is_inner = any(above in found for above in _above(folder.path))
        if not is_inner and len(inside) > 1 and len(alike) == 1 and inside[0].sign == folder.sign:
            found[folder.path] = tuple(inside)
    return found


def _was_flagged(file: ChangedFile) -> bool:
    return file.earlier is not None and file.earlier.verdict is Verdict.FLAG


def _above(path: str) -> Iterator[str]:
    """The directories above a path, the innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


# What is told of a thing


def _stood(observer: Observer, path: str, seq: int) -> str:
    """What stood at a path right after an event, as marks say it."""
    try:
        return key_of(observer.history.version_at(path, seq))
    except (JournalDamaged, RecursionError, OverflowError):
        return "unknown"  # somebody wrote over it


def _start(thing: Thing, found: Settled, *, accepted: bool) -> int | None:
    """From which step on a thing is told; `None` if it is as it was. One that is accepted is told from where it was."""
    if _differs(thing, found.start):
        return found.start
    if accepted and found.accepted is not None and _differs(thing, found.accepted[0]):
        return found.accepted[0]
    return None


def _differs(thing: Thing, start: int) -> bool:
    old, new = thing.steps[start], thing.now
    return old.version != new.version or (old.name != new.name and new.version is not None)


def _changed(thing: Thing, start: int, found: Settled) -> ChangedFile:
    """What became of a thing, before it is known who did it."""
    old, new = thing.steps[start], thing.now
    texts = key_of(old.version), key_of(new.version)
    names = {new.name} if new.version is not None else thing.names
    said = found.said if start == found.start else [*found.said_before, *found.said]
    marks = tuple(mark for mark in said if not mark.hunk and mark.path in names and (mark.before, mark.after) == texts)
    file = ChangedFile(
        path=new.name,
        was=old.name if old.version is not None and old.name != new.name else "",
        before=old.version,
        after=new.version,
        steps=tuple(thing.steps[start:]),
        marks=marks,
    )
    last = found.last if found.last not in marks and file.verdict is None else None
    return replace(file, earlier=last) if last is not None else file


def _last(about: Sequence[Mark]) -> Mark | None:
    """The last judgement of a file as a whole."""
    judged = (mark for mark in reversed(about) if not mark.hunk)
    last = next((mark for mark in judged if mark.verdict is not Verdict.NOTE), None)
    return last if last is not None and last.verdict is not Verdict.REVERTED else None


# Who did it, and how much


def _told(file: ChangedFile, followed: Followed) -> ChangedFile:
    seqs = dict.fromkeys(step.seq for step in file.steps[1:])
    events = tuple(followed.deeds[seq] for seq in seqs if seq in followed.deeds)
    actors = dict.fromkeys(followed.name_of(event.actor) for event in events)
    sessions = dict.fromkeys(
        event.actor.session for event in events if isinstance(event.actor, Agent) and event.actor.session
    )
    return replace(file, events=events, actors=tuple(actors), sessions=tuple(sessions))


def _empty(folders: Sequence[ChangedFile], things: Iterable[Thing], since: int) -> list[ChangedFile]:
    """Directories of which nothing else tells that they came, went or moved: nothing is in them, or was."""
    if not folders:
        return []
    held: set[str] = set()
    hold: set[str] = set()
    for thing in things:
        for step, above in ((thing.steps[thing.index_at(since)], held), (thing.now, hold)):
            if step.version is not None:
                above.update(_above(step.name))
    return [
        folder
        for folder in folders
        if (folder.before is not None and (folder.was or folder.path) not in held)
        or (folder.after is not None and folder.path not in hold)
    ]


def _in_runs(files: Iterable[ChangedFile], runs: Sequence[Run]) -> list[ChangedFile]:
    of_path = {path: run for run in runs for path in run.paths}
    return [_in_run(file, of_path.get(file.path)) for file in files]


def _in_run(file: ChangedFile, run: Run | None) -> ChangedFile:
    if run is None or not any(run.first <= event.seq <= run.last for event in file.events):
        return file
    return replace(file, run=run.number)


def _counted(observer: Observer, files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The files with how many lines each had added and removed, where that can be told."""
    texts = Texts(observer)
    counted = []
    for file in texts.loaded(files, lambda file: () if _alone(file) else (file.before, file.after)):
        counts = _alone(file) or texts.counts(file.before, file.after)
        counted.append(file if counts is None else replace(file, added=counts[0], removed=counts[1]))
    return counted


def _alone(file: ChangedFile) -> tuple[int, int] | None:
    """What the record counted, where one event made the change, and no other one; `None` if it is not so."""
    if len(file.events) != 1 or not file.events[0].is_one or file.was or not _is_text(file.before, file.after):
        return None
    event = file.events[0]
    return (event.added, event.removed) if event.added is not None and event.removed is not None else None


def _is_text(*versions: Version | None) -> bool:
    return all(version is None or version.kind is Kind.FILE for version in versions)


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
