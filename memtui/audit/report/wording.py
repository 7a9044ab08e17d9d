"""What every report says in the same words: the verdict, where and when, who, and how much.

A report leaves the machine that it was made on, so its times are UTC and say so.
"""

import base64
import re
from datetime import UTC, datetime
from typing import Any

from memtui.audit.model import Audit, AuditTrend, FindingLocation, FindingOrigin, Opinion, Severity, SuppressedFinding
from memtui.core.unicode import escape_character, visible
from memtui.core.wording import format_count
from memtui.review.inbox import ACCEPTED_FAILURE, ReviewMark

SEVERITIES = (Severity.FAIL, Severity.WARN, Severity.INFO)
"""The gravest first."""
NO_ORIGINS = "The authors of these findings are unknown: the journal does not record them."
"""Said once where the origin of no finding is known."""
TITLES = {Severity.FAIL: "Failures", Severity.WARN: "Warnings", Severity.INFO: "Information"}
"""What a severity asks of its reader."""
CHANGES = {"+": "new", "~": "changed", "-": "deleted", ">": "renamed"}
"""What the sign of a changed file means."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def format_utc(microseconds: int | None) -> str | None:
    """A time as programs read it: `2026-11-21T10:14:02.000123Z`; `None` for a time out of the calendar's range."""
    at = _to_datetime(microseconds)
    return None if at is None else at.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def format_minute(microseconds: int | None) -> str:
    """A time as people read it: `2026-11-21 10:14 UTC`."""
    at = _to_datetime(microseconds)
    return "at an unknown time" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def format_day(microseconds: int) -> str:
    """A day as people read it: `2026-11-21`; empty for a time out of the calendar's range."""
    at = _to_datetime(microseconds)
    return "" if at is None else f"{at:%Y-%m-%d}"


def format_second(microseconds: int) -> str:
    """A time as people read it, where minutes are too long: `2026-11-21 10:14:02 UTC`."""
    at = _to_datetime(microseconds)
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def replace_surrogates(text: str) -> str:
    r"""The text without lone surrogates, which no encoding has: an undecodable byte becomes `\xff`."""
    return _SURROGATE.sub(lambda match: escape_character(match.group()), text)


def replace_all_surrogates(value: Any) -> Any:
    """A value of JSON with the lone surrogates of all its texts replaced."""
    match value:
        case str():
            return replace_surrogates(value)
        case dict():
            return {replace_surrogates(name): replace_all_surrogates(each) for name, each in value.items()}
        case list():
            return list(map(replace_all_surrogates, value))
        case _:
            return value


def encode_undecodable(path: str) -> str | None:
    """The bytes of a name that is not UTF-8, in Base64; `None` for one that is."""
    if not _SURROGATE.search(path):
        return None
    return base64.b64encode(encode_name(path)).decode("ascii")


def encode_name(path: str) -> bytes:
    """The bytes of a name, as the file system has them."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte: no file system gave us this
        return path.encode("utf-8", "surrogatepass")


def sanitize_text(text: str, *, limit: int = 0) -> str:
    """A text from outside on one line, with what is hidden in it made visible.

    Args:
        limit: Characters after which it is cut; 0 for never.
    """
    cut = limit and len(text) > limit
    whole = visible(text[:limit] if cut else text, newline="\\n", tab=" ")
    return f"{whole}…" if cut else whole


def format_location(place: FindingLocation) -> str:
    """A place as people write it: `notes/today.md:3:14`; `the folder` for the folder itself."""
    parts = [sanitize_text(place.path) or "the folder"]
    if place.line is not None:
        parts.append(str(place.line))
        if place.column is not None:
            parts.append(str(place.column))
    return ":".join(parts)


def find_worst_severity(audit: Audit) -> Severity | None:
    """The gravest severity that was found; `None` for no finding at all."""
    return next((severity for severity in SEVERITIES if audit.count_findings(severity)), None)


def format_verdict(audit: Audit) -> str:
    """The result as one sentence, without what is from outside."""
    fails, warns, infos = (audit.count_findings(severity) for severity in SEVERITIES)
    if not fails + warns + infos:
        return "No findings."
    return f"{format_severity_counts(fails, warns, infos)}."


def format_severity_counts(fails: int, warns: int, infos: int = 0) -> str:
    """How many findings of each severity: `10 failures, 3 warnings, 1 info`; empty for none."""
    counts = (fails, "failure", "failures"), (warns, "warning", "warnings"), (infos, "info", "info")
    return ", ".join(format_count(count, one, several) for count, one, several in counts if count)


_SUPPRESSED = {"dismissal": "dismissed", "exemption": "by the settings", "baseline": "by the baseline"}
"""By what excepts a finding, the words behind a number of them."""


def format_suppressed_counts(audit: Audit) -> str:
    """How many findings do not count, and why: `2 dismissed, 1 by the settings`; empty for none."""
    counts = {by: sum(each.by == by for each in audit.excepted) for by in _SUPPRESSED}
    return ", ".join(f"{count:,} {_SUPPRESSED[by]}" for by, count in counts.items() if count)


def describe_suppression(excepted: SuppressedFinding) -> str:
    """Why a finding does not count and until when; of a dismissal also who said so and when."""
    reason = sanitize_text(excepted.reason) + (f" (until {sanitize_text(excepted.until)})" if excepted.until else "")
    if excepted.by != "dismissal":
        return reason
    when = f" on {format_day(excepted.at_us)}" if excepted.at_us is not None else ""
    return f"dismissed by {sanitize_text(excepted.who) or 'somebody'}{when}: {reason}"


def format_sign_off(mark: ReviewMark) -> list[str]:
    """Who signed off last, up to which event, and which failures were accepted, as sentences."""
    who = sanitize_text(mark.reviewer) or "somebody"
    head = f" ({sanitize_text(mark.head[:8])})" if mark.head else ""
    sentences = [f"Signed off by {who}, {format_minute(mark.at_us)}, up to event {mark.seq:,}{head}."]
    if mark.failures_reason:
        number = sum(each.decision == ACCEPTED_FAILURE for each in mark.findings)
        from memtui.audit.masking import mask_message  # noqa: PLC0415 - first paint: loads what finds secrets

        reason = sanitize_text(mask_message(mark.failures_reason))
        sentences.append(f"It accepts {format_count(number, 'failure')}: {reason}")
    return sentences


def format_trend(trend: AuditTrend) -> str:
    """What is new and gone since the last audit: `Since the last audit, 2026-11-20 10:14 UTC: 3 new, 1 resolved`."""
    other = "" if trend.has_same_rules else " (with other rules or settings)"
    counts = f"{len(trend.new):,} new, {trend.gone:,} resolved"
    return f"Since the last audit, {format_minute(trend.last_us)}: {counts}{other}"


def format_opinion(opinion: Opinion) -> str:
    """A model's opinion: `honest, says claude-x on 2026-11-25: It is addressed to people. (It was warn before.)`."""
    before = f" (It was {opinion.severity_before} before.)" if opinion.severity_before is not None else ""
    when = f" on {day}" if opinion.given_us is not None and (day := format_day(opinion.given_us)) else ""
    return f"{opinion.verdict}, says {sanitize_text(opinion.model)}{when}: {sanitize_text(opinion.reason)}{before}"


def format_message(words: str) -> str:
    """What a rule says, as a sentence of its own: with a capital letter, unless it begins with a name."""
    first = words.split(" ", 1)[0]
    begun = words[:1].upper() + words[1:] if first.isascii() and first.isalpha() and first.islower() else words
    return f"{begun.rstrip('.')}."


def format_actor(actor: str) -> str:
    """Who did something, where no column says what it is: `another program`; an agent cannot be called `outside`."""
    return "another program" if actor == "outside" else actor


def has_known_origins(audit: Audit) -> bool:
    """Whether anything is known of who brought in what; if not, it is enough to say so once."""
    return any(each.origin.is_known or each.origin.seq is not None for each in audit.findings)


def describe_origin(origin: FindingOrigin) -> list[str]:
    """Who brought something in, and when, in parts; what is in them from outside is as it is."""
    if not origin.is_known:
        if origin.seq is None:
            return ["not known"]
        return ["not known", f"there when memtui first looked, {format_minute(origin.at_us)}", f"event {origin.seq:,}"]
    parts = [format_actor(origin.actor)]
    if origin.at_us is not None:
        parts.append(format_minute(origin.at_us))
    if origin.command:
        parts.append(origin.command)
    parts.append("not recorded" if origin.seq is None else f"event {origin.seq:,}")
    if origin.call_id:
        parts.append(f"call {origin.call_id}")
    if origin.session:
        parts.append(f"session {origin.session}")
    if not origin.is_exact and origin.seq is not None:
        parts.append("or an earlier author: earlier versions are missing")
    return parts


def _to_datetime(microseconds: int | None) -> datetime | None:
    if microseconds is None:
        return None
    try:
        at = datetime.fromtimestamp(microseconds // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.replace(microsecond=microseconds % 1_000_000)
