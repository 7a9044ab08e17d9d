"""Verdicts of a reviewer, made into marks over exactly the texts that were shown."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from memtui.core.events import Actor, EntryKind, Person, Version, sha256
from memtui.core.history import ActionResult
from memtui.core.unicode import to_one_line
from memtui.engine import Engine, Observer
from memtui.engine.moves import iter_parents
from memtui.review.hunks import compare_file, find_changed_hunks
from memtui.review.inbox import ChangedFile, ChangedHunk, Inbox, MarkedFinding, ReviewMark, ReviewVerdict
from memtui.review.marks import Review
from memtui.review.tracks import get_version_key

Head = tuple[int, str]
"""The number of the journal's last event, and the chain's hash with it."""


def get_head(observer: Observer) -> Head:
    """The head that marks are given over: that of the record on the disk.

    What only this look has found is in no record yet, and whoever records it does so at another time, with another
    hash. Of these changes the marks say by their texts what they are about.
    """
    if observer.read_only:
        return observer.recorded.last, observer.recorded.head
    return observer.get_head()


def build_mark(
    verdict: ReviewVerdict,
    file: ChangedFile,
    *,
    reviewer: str,
    head: Head,
    hunk: ChangedHunk | None = None,
    words: str = "",
    findings: Sequence[MarkedFinding] = (),
    now_us: int | None = None,
) -> ReviewMark:
    """A verdict on a change, or on one hunk of it; `findings` are those that were shown with it."""
    seq, hash = head
    return ReviewMark(
        reviewer=reviewer,
        at_us=_get_now_us(now_us),
        verdict=verdict,
        path=file.path,
        before=get_version_key(file.before),
        after=get_version_key(file.after),
        hunk=hunk.fingerprint if hunk is not None else "",
        words=words,
        seq=seq,
        head=hash,
        findings=tuple(findings),
    )


def build_finding_mark(
    verdict: ReviewVerdict,
    finding: MarkedFinding,
    *,
    reviewer: str,
    head: Head,
    words: str = "",
    until: str = "",
    now_us: int | None = None,
) -> ReviewMark:
    """The dismissal or the restoration of a finding; it is no verdict on a path."""
    seq, hash = head
    return ReviewMark(
        reviewer=reviewer,
        at_us=_get_now_us(now_us),
        verdict=verdict,
        path="",
        words=words,
        seq=seq,
        head=hash,
        until=until,
        findings=(finding,),
    )


def build_marks(
    observer: Observer,
    review: Review,
    verdict: ReviewVerdict,
    file: ChangedFile,
    hunks: Sequence[ChangedHunk] = (),
    *,
    reviewer: str,
    head: Head,
    words: str = "",
    findings: Sequence[MarkedFinding] = (),
) -> list[ReviewMark]:
    """A verdict on a change, or on some of its hunks: the last accepted hunk accepts the file.

    Args:
        review: The marks so far.
        findings: Those in the file that were shown with it.
    """
    build = partial(build_mark, file=file, reviewer=reviewer, head=head)
    if not hunks:
        return [build(verdict, words=words, findings=findings)]
    marks = [
        build(verdict, hunk=hunk, words=words, findings=[each for each in findings if is_in_hunk(each.line, hunk)])
        for hunk in hunks
    ]
    if hunks and verdict is ReviewVerdict.ACCEPT:
        accepted = {hunk.fingerprint for hunk in hunks}
        known = find_changed_hunks(observer, file, review)
        is_whole = (each.fingerprint in accepted or find_verdict(each.marks) is ReviewVerdict.ACCEPT for each in known)
        if known and all(is_whole):
            marks.append(build(verdict))
    return marks


def is_in_hunk(line: int | None, hunk: ChangedHunk) -> bool:
    """Whether a line, from 1, is one that a hunk added."""
    return line is not None and hunk.hunk.new_start < line <= hunk.hunk.new_end


def end_review(
    inbox: Inbox,
    *,
    reviewer: str,
    head: Head,
    words: str = "",
    findings: Sequence[MarkedFinding] = (),
    failures_reason: str = "",
    now_us: int | None = None,
) -> list[ReviewMark]:
    """The reviewer has seen all that there was: the next review begins here. What is flagged stays.

    Args:
        inbox: Without filters.
        findings: Those in what changed, with what was decided of each.
        failures_reason: Why it is ended in spite of findings that must not stay.

    Returns:
        One mark over all of it, and one for each file that was changed since the record ends: the number of an event
        says nothing of what is not recorded.
    """
    at_us = _get_now_us(now_us)
    unrecorded = (
        file
        for file in inbox.files
        if file.verdict not in (ReviewVerdict.ACCEPT, ReviewVerdict.FLAG)
        and any(event.seq > head[0] for event in file.events)
    )
    marks = [build_mark(ReviewVerdict.ACCEPT, file, reviewer=reviewer, head=head, now_us=at_us) for file in unrecorded]
    seq, hash = head
    end = ReviewMark(
        reviewer=reviewer, at_us=at_us, verdict=ReviewVerdict.ACCEPT, path="", words=words, seq=seq, head=hash,
        findings=tuple(findings), since=inbox.since, failures_reason=failures_reason,
    )  # fmt: skip
    return [*marks, end]


def is_open(file: ChangedFile, reviewer: str | None = None) -> bool:
    """Whether something is left to be said of a file: what is flagged is, until it is accepted or taken back.

    Args:
        reviewer: The reviewer whose acceptance counts; `None` for anyone. Flags of all reviewers count.
    """
    counting = (
        mark for mark in file.marks if mark.verdict is not ReviewVerdict.ACCEPT or reviewer in (None, mark.reviewer)
    )
    return find_verdict(counting) is not ReviewVerdict.ACCEPT


def find_verdict(marks: Iterable[ReviewMark]) -> ReviewVerdict | None:
    """The last judgement among some marks; `None` if there is none."""
    judged = [mark.verdict for mark in marks if mark.verdict is not ReviewVerdict.NOTE]
    return judged[-1] if judged else None


def _get_now_us(given: int | None) -> int:
    return time.time_ns() // 1_000 if given is None else given


# Revert a change: one undoable event, in a session that may write.

_PAST = "Not reverted"
_YOU = Person()


def revert(
    engine: Engine, file: ChangedFile, hunk: ChangedHunk | None = None, *, rehearse: bool = False, actor: Actor = _YOU
) -> ActionResult:
    """Have a file be what it was before the change, or one hunk of it.

    Args:
        file: As the reviewer was shown it: if its content differs by now, nothing is done.
        hunk: Only this hunk; the file keeps its name.
        rehearse: Whether it is a dry run.

    Returns:
        With `problem`, and `left` where something is in the way, if nothing was done.

    Raises:
        LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
    """
    if hunk is not None and file.before is not None and file.after is not None:
        return _revert_hunk(engine, file, hunk, rehearse, actor)
    if file.previous_path and file.before == file.after:
        names, expected = {file.path: file.previous_path}, {file.path: file.after}
        return _describe_result(engine.files.move(names, expected=expected, rehearse=rehearse, actor=actor))
    wanted: dict[str, Version | None] = {file.path: file.before}
    expected_now: dict[str, Version | None] = {file.path: file.after}
    if file.previous_path:
        wanted = {file.path: None, file.previous_path: file.before}
        expected_now[file.previous_path] = None
    if wanted[file.path] is None:
        wanted |= dict.fromkeys(_find_created_directories(engine, file))
    note, path = f"review: as before {_format_first_event(file)}", file.previous_path or file.path
    return _describe_result(
        engine.restore(wanted, expected=expected_now, rehearse=rehearse, note=note, path=path, actor=actor)
    )


def revert_and_mark(
    engine: Engine, file: ChangedFile, hunk: ChangedHunk | None, *, reviewer: str, words: str = ""
) -> tuple[ActionResult, Sequence[ReviewMark]]:
    """Revert a change, or one hunk of it; the mark that says so, unless there was a problem. Raises as `revert`."""
    result = revert(engine, file, hunk)
    if result.event is None or result.problem:
        return result, ()
    head = get_head(engine)
    return result, [build_mark(ReviewVerdict.REVERTED, file, hunk=hunk, reviewer=reviewer, head=head, words=words)]


def _find_created_directories(engine: Engine, file: ChangedFile) -> list[str]:
    """The directories above a file that were not there before: they go with it, unless something else is in them."""
    since = file.steps[0].seq if file.steps else 0
    return [path for path in iter_parents(file.path) if engine.history.get_version_at(path, since) is None]


def _revert_hunk(engine: Engine, file: ChangedFile, hunk: ChangedHunk, rehearse: bool, actor: Actor) -> ActionResult:
    found = compare_file(engine, file)
    if found.difference is None:
        return ActionResult(problem=f"{_PAST}: {to_one_line(file.path)} has no hunks. {found.problem}")
    if hunk.hunk not in found.difference.hunks:
        return ActionResult(problem=f"{_PAST}: {to_one_line(file.path)} has no such hunk.")
    data = found.difference.revert_hunk(hunk.hunk).encode("utf-8", "surrogateescape")
    version = Version(EntryKind.FILE, sha256(data), len(data))
    return _describe_result(
        engine.restore(
            {file.path: version},
            expected={file.path: file.after},
            texts={version.sha256 or "": data},
            rehearse=rehearse,
            note=f"review: one hunk as before {_format_first_event(file)}",
            actor=actor,
        )
    )


def _format_first_event(file: ChangedFile) -> str:
    return f"#{file.events[0].seq}" if file.events else "the change"


def _describe_result(restored: ActionResult) -> ActionResult:
    """What came of it, in the words of a review."""
    for past in ("Not restored", "Not moved"):
        if restored.problem.startswith(past):
            return replace(restored, problem=_PAST + restored.problem.removeprefix(past))
    return restored
