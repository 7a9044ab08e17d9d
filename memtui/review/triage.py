"""Triage: findings that a person dismissed, with a reason and perhaps until a day.

A dismissal is a mark of the review file, so that no agent reaches it and a changed one is found. It holds for one
fingerprint, as many hits and the same line: what is dismissed in one line must not hide the same words in another.
Without the limits below one dismissal would hide what nobody has looked at, or a record that is broken again and again.
"""

import hashlib
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from memtui.audit.masking import find_secret_spans
from memtui.audit.model import AuditFinding, Family
from memtui.core.unicode import to_one_line
from memtui.review.inbox import MarkedFinding, ReviewMark, ReviewVerdict
from memtui.review.marks import Review
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules

LONGEST_BLIND_DAYS = 90
"""Days for which a finding of coverage may be dismissed: nobody knows what stands there, and it may change unseen."""
_STANDING = {
    "chain-broken": "that would hide the next break too. Find out what happened to the history: memtui verify",
    "head-gone": "another history was reviewed. Review this one, and sign off: memtui review done --accept-failures",
    "expired-exemption": "fix what it excepted, or give it a new end date",
}
"""Findings that cannot be dismissed, and what to do instead."""
SECRET_IN_WORDS = (
    "the reason contains what looks like a secret, and the review file is shared. Nothing was written. Leave out "
    "the value."
)
_SHORTEST_VALUE = 4  # characters of a secret that are looked for in a reason


def mark_finding(finding: AuditFinding, decision: str = "") -> MarkedFinding:
    """A finding as marks name it."""
    place = finding.location
    return MarkedFinding(
        fingerprint=finding.fingerprint,
        rule=finding.rule,
        severity=finding.severity.value,
        path=place.path,
        line=place.line,
        count=_count_hits(finding),
        evidence=_compute_digest(finding.evidence),
        decision=decision,
    )


def find_dismissals(review: Review, reviewer: str | None = None) -> dict[str, ReviewMark]:
    """The dismissals of a review that nobody took back, ended ones included, by fingerprint.

    One that stands before a gap in the chain does not count: what took it back may have been dropped there.

    Args:
        reviewer: The reviewer whose dismissals count; `None` for anyone. What anybody restored counts.
    """
    found: dict[str, ReviewMark] = {}
    for mark in review.marks[max(review.doubtful, default=-1) + 1 :]:
        for each in mark.findings:
            if mark.verdict is ReviewVerdict.DISMISS and reviewer in (None, mark.reviewer):
                found[each.fingerprint] = mark
            elif mark.verdict is ReviewVerdict.RESTORE:
                found.pop(each.fingerprint, None)
    return found


def find_dismissal_fault(mark: ReviewMark, finding: AuditFinding, today: date) -> str:
    """Why a dismissal of a finding holds no more, as a clause; empty if it holds."""
    if mark.until and ((end := _parse_day(mark.until)) is None or today > end):
        return f"ended on {to_one_line(mark.until)}"
    given_on = datetime.fromtimestamp(mark.at_us // 1_000_000, UTC).date()
    if problem := explain_limit(finding, mark.until, given_on):
        return f"does not count: {problem}"
    known, now = mark.findings[0], _count_hits(finding)
    if now > known.count:
        return f"was for {known.count:,}, and there are {now:,} now"
    return "" if known.evidence == _compute_digest(finding.evidence) else "was for another line"


def describe_dismissal(mark: ReviewMark) -> str:
    """`the dismissal of stale in notes/a.md by ada`."""
    finding = mark.findings[0]
    where = to_one_line(finding.path) or "the folder"
    return f"the dismissal of {to_one_line(finding.rule)} in {where} by {to_one_line(mark.reviewer) or 'somebody'}"


def explain_limit(finding: AuditFinding, until: str, today: date) -> str:
    """Why a finding may not be dismissed until a day, or for ever, as a clause with what to do; empty if it may.

    Args:
        until: The last day; empty for ever.
        today: The day of the dismissal.
    """
    if finding.rule in _STANDING:
        return _STANDING[finding.rule]
    if finding.family is not Family.COVERAGE:
        return ""
    last = today + timedelta(days=LONGEST_BLIND_DAYS)
    end = _parse_day(until) if until else None
    if end is not None and end <= last:
        return ""
    return f"its content is unknown, so a dismissal lasts {LONGEST_BLIND_DAYS} days at most: until {last.isoformat()}"


def parse_end(given: str, today: date) -> str:
    """The last day of a dismissal: `never` is empty, `30d` is a number of days, `2026-12-31` a day.

    Raises:
        ValueError: It is none of these, or over; the words are a sentence.
    """
    words = given.strip().casefold()
    if words == "never":
        return ""
    days = words.removesuffix("d")
    if words.endswith("d") and days.isascii() and days.isdecimal() and 0 < int(days[:6]) < 36_500:
        return (today + timedelta(days=int(days[:6]))).isoformat()
    end = _parse_day(words)
    if end is None:
        raise ValueError(f"{to_one_line(given)!r} is not an end date. Try 30d, 2026-12-31 or never.")
    if end < today:
        raise ValueError(f"{end.isoformat()} is in the past. Try 30d, a later date or never.")
    return end.isoformat()


def holds_secret(words: str, values: Iterable[str] = (), rules: SecretRules = NO_SECRET_RULES) -> bool:
    """Whether words of a reviewer hold a secret: they go into a file that is carried along.

    Args:
        values: The text that is masked in the finding.
        rules: Of the person's own files.
    """
    return bool(find_secret_spans(words, rules)) or any(
        len(value) >= _SHORTEST_VALUE and value in words for value in map(str.strip, values)
    )


def get_masked_text(finding: AuditFinding, text: str | None) -> tuple[str, ...]:
    """What a finding masks in the text of its note."""
    return (text[slice(*finding.masked)],) if text is not None and finding.masked is not None else ()


def _count_hits(finding: AuditFinding) -> int:
    """How many hits are told as one finding."""
    count = finding.facts.get("count", 1)
    return count if isinstance(count, int) else 1


def _compute_digest(evidence: str) -> str:
    return hashlib.sha256(evidence.encode("utf-8", "surrogatepass")).hexdigest()[:16] if evidence else ""


def _parse_day(given: str) -> date | None:
    try:
        return date.fromisoformat(given) if len(given) == len("2026-12-31") else None
    except ValueError:
        return None
