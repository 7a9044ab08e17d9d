"""What a reviewer says of a change, as marks. They are made here, over exactly what the reviewer was shown."""

import os
import time
from collections.abc import Iterable, Sequence

from memtui.audit.inbox import ChangedFile, ChangedHunk, Inbox, Mark, Verdict
from memtui.audit.things import key_of
from memtui.engine import Observer

Head = tuple[int, str]
"""The number of the journal's last event, and the chain's hash with it."""


def reviewer_here() -> str:
    """The name of whoever is logged in."""
    try:
        import pwd  # deferred: not every system has it

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return os.environ.get("LOGNAME") or os.environ.get("USER") or f"user {os.getuid()}"


def head_of(observer: Observer) -> Head:
    """The head that marks are given over: that of the record on the disk.

    What only this look has found is in no record yet, and whoever records it does so at another time, with another
    hash. Of these changes the marks say by their texts what they are about.
    """
    if observer.read_only:
        return observer.recorded.last, observer.recorded.head
    return observer.head()


def accept(
    file: ChangedFile,
    *,
    reviewer: str,
    head: Head,
    hunk: ChangedHunk | None = None,
    words: str = "",
    now_us: int | None = None,
) -> Mark:
    """A change is as it should be.

    Args:
        file: The changed file, as the reviewer was shown it.
        reviewer: Who says so.
        head: The record's head; see `head_of`.
        hunk: Only this hunk of it.
        words: What the reviewer writes.
        now_us: The time, in microseconds since 1970; by default now.
    """
    return _mark(Verdict.ACCEPT, file, reviewer, head, hunk, words, now_us)


def flag(
    file: ChangedFile,
    *,
    reviewer: str,
    head: Head,
    hunk: ChangedHunk | None = None,
    words: str = "",
    now_us: int | None = None,
) -> Mark:
    """Somebody should look at a change. It stays until it is accepted or taken back. See `accept`."""
    return _mark(Verdict.FLAG, file, reviewer, head, hunk, words, now_us)


def note(
    file: ChangedFile,
    *,
    reviewer: str,
    head: Head,
    words: str,
    hunk: ChangedHunk | None = None,
    now_us: int | None = None,
) -> Mark:
    """Words on a change, and no judgement. See `accept`."""
    return _mark(Verdict.NOTE, file, reviewer, head, hunk, words, now_us)


def reverted(
    file: ChangedFile,
    *,
    reviewer: str,
    head: Head,
    hunk: ChangedHunk | None = None,
    words: str = "",
    now_us: int | None = None,
) -> Mark:
    """A change was taken back; said once it was. See `accept`."""
    return _mark(Verdict.REVERTED, file, reviewer, head, hunk, words, now_us)


def done(inbox: Inbox, *, reviewer: str, head: Head, words: str = "", now_us: int | None = None) -> list[Mark]:
    """The reviewer has seen all that there was: the next review begins here. What is flagged stays.

    Args:
        inbox: What there was, without filters.
        reviewer: Who says so.
        head: The record's head; see `head_of`.
        words: What the reviewer writes.
        now_us: The time, in microseconds since 1970; by default now.

    Returns:
        One mark over all of it, and one for each file that was changed since the record ends: the number of an event
        says nothing of what is not recorded.
    """
    at_us = _now_us(now_us)
    unrecorded = (
        file
        for file in inbox.files
        if file.verdict not in (Verdict.ACCEPT, Verdict.FLAG) and any(event.seq > head[0] for event in file.events)
    )
    marks = [_mark(Verdict.ACCEPT, file, reviewer, head, None, "", at_us) for file in unrecorded]
    seq, hash = head
    return [
        *marks,
        Mark(reviewer=reviewer, at_us=at_us, verdict=Verdict.ACCEPT, path="", words=words, seq=seq, head=hash),
    ]


def completing(
    file: ChangedFile,
    hunks: Sequence[ChangedHunk],
    marks: Iterable[Mark],
    *,
    reviewer: str,
    head: Head,
    now_us: int | None = None,
) -> Mark | None:
    """The mark that accepts a file once each of its hunks is accepted; `None` where one is not.

    Args:
        file: The changed file.
        hunks: Its hunks, with what was said of them before.
        marks: What is said of them now.
        reviewer: Who says so.
        head: The record's head; see `head_of`.
        now_us: The time, in microseconds since 1970; by default now.
    """
    said = {hunk.fingerprint: judgement(hunk.marks) for hunk in hunks}
    for mark in marks:
        if mark.hunk in said and mark.verdict is not Verdict.NOTE:
            said[mark.hunk] = mark.verdict
    if not said or any(verdict is not Verdict.ACCEPT for verdict in said.values()):
        return None
    return _mark(Verdict.ACCEPT, file, reviewer, head, None, "", now_us)


def is_left(file: ChangedFile, reviewer: str | None = None) -> bool:
    """Whether something is left to be said of a file: what is flagged is, until it is accepted or taken back.

    Args:
        file: Which.
        reviewer: Whose acceptance counts; `None` for anybody's. Flags are everybody's.
    """
    counting = (mark for mark in file.marks if mark.verdict is not Verdict.ACCEPT or reviewer in (None, mark.reviewer))
    return judgement(counting) is not Verdict.ACCEPT


def judgement(marks: Iterable[Mark]) -> Verdict | None:
    """The last judgement among some marks; `None` if there is none."""
    judged = [mark.verdict for mark in marks if mark.verdict is not Verdict.NOTE]
    return judged[-1] if judged else None


def _mark(
    verdict: Verdict,
    file: ChangedFile,
    reviewer: str,
    head: Head,
    hunk: ChangedHunk | None,
    words: str,
    now_us: int | None,
) -> Mark:
    seq, hash = head
    return Mark(
        reviewer=reviewer,
        at_us=_now_us(now_us),
        verdict=verdict,
        path=file.path,
        before=key_of(file.before),
        after=key_of(file.after),
        hunk=hunk.fingerprint if hunk is not None else "",
        words=words,
        seq=seq,
        head=hash,
    )


def _now_us(given: int | None) -> int:
    return time.time_ns() // 1_000 if given is None else given
