"""The time that an observation begins with: `@effective[2026-06-10,2026-07-27)`, `@due:2026-06`, `@2026-06-10`.

The form is Basic Memory's (0.24). Dates are those of ISO 8601, and in quotation marks a month by its English name
(`@occurred:"June 10, 2026"`). What does not read as a time is text, as `@somebody` is.
"""

import re
from datetime import UTC, date, datetime, timedelta

from memtui.knowledge.model import TimeQualifier

KINDS = ("valid", "effective", "occurred", "due", "mentioned")
_KIND = r"([A-Za-z][A-Za-z0-9_]{0,40})"
_RANGE = re.compile(rf"@{_KIND}?([\[(])([^\[\](),\n]{{0,40}}),([^\[\](),\n]{{0,40}})([\])])(?=\s|\Z)")
_QUOTED = re.compile(rf'@(?:{_KIND}:)?"((?:[^"\\\n]|\\.){{1,80}})"')
_POINT = re.compile(rf"@(?:{_KIND}:)?([0-9]\S{{3,40}})(?=\s|\Z)")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_YEAR = re.compile(r"[0-9]{4}")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:[Zz]|[+-][0-9]{2}:[0-5][0-9])?"
)
_NAMED = re.compile(r"([A-Za-z]{3,9})\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})")
_NAMED_LAST = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)? ([A-Za-z]{3,9})\.?,? ([0-9]{4})")
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


def take_time_qualifier(content: str) -> tuple[TimeQualifier | None, str]:
    """The time at the beginning of an observation, and the text behind it; `None` and all of the text for none."""
    if not content.startswith("@"):
        return None, content
    for pattern, read in ((_RANGE, _read_range), (_QUOTED, _read_quoted), (_POINT, _read_point)):
        found = pattern.match(content)
        if found is not None:
            qualifier = read(found)
            rest = content[found.end() :].strip()
            if qualifier is not None and rest and qualifier.kind in KINDS:
                return qualifier, rest
    return None, content


def _read_range(found: re.Match[str]) -> TimeQualifier | None:
    bounds = [_read_bound(found[3].strip()), _read_bound(found[4].strip())]
    if None in bounds or len({"T" in bound for bound in bounds if bound}) > 1:
        return None
    start, end = bounds[0] or "", bounds[1] or ""
    if start and end and start > end:
        return None
    has_start, has_end = found[2] == "[" and bool(start), found[5] == "]" and bool(end)
    if "T" not in (start or end):  # of days, the first is a part, and the last one is not
        start = _add_day(start) if start and not has_start else start
        end = _add_day(end) if has_end else end
        has_start, has_end = bool(start), False
    is_empty = bool(start and end) and (start > end or (start == end and not (has_start and has_end)))
    kind = found[1] or KINDS[0]
    if is_empty:
        return TimeQualifier(kind, "", "", found.group(), is_empty=True)
    return TimeQualifier(kind, start, end, found.group(), has_start, has_end)


def _read_quoted(found: re.Match[str]) -> TimeQualifier | None:
    return _read_time(found[1], re.sub(r"\\(.)", r"\1", found[2]).strip(), found.group())


def _read_point(found: re.Match[str]) -> TimeQualifier | None:
    return _read_time(found[1], found[2], found.group())


def _read_time(kind: str | None, words: str, text: str) -> TimeQualifier | None:
    """A day, a month or a year from its first day to the one behind its last; a moment is itself."""
    kind = kind or KINDS[0]
    if _MOMENT.fullmatch(words):
        moment = _read_moment(words)
        return TimeQualifier(kind, moment, moment, text, has_start=True, has_end=True) if moment else None
    if span := _read_days(words):
        return TimeQualifier(kind, *span, text, has_start=True)
    return None


def _read_days(words: str) -> tuple[str, str] | None:
    try:
        if _YEAR.fullmatch(words):
            return date(int(words), 1, 1).isoformat(), _make_day(int(words) + 1, 1)
        if found := _MONTH.fullmatch(words):
            year, month = int(found[1]), int(found[2])
            return date(year, month, 1).isoformat(), _make_day(year + month // 12, month % 12 + 1)
        day = _read_named(words) or (date.fromisoformat(words) if _DAY.fullmatch(words) else None)
    except ValueError:
        return None
    return None if day is None else (day.isoformat(), _add_day(day.isoformat()))


def _read_named(words: str) -> date | None:
    """A day whose month is named. Raises `ValueError` for one that no calendar has."""
    if found := _NAMED.fullmatch(words):
        month, day, year = found.groups()
    elif found := _NAMED_LAST.fullmatch(words):
        day, month, year = found.groups()
    else:
        return None
    numbers = [number for number, name in enumerate(_MONTHS, 1) if name.startswith(month.casefold())]
    return date(int(year), numbers[0], int(day)) if len(numbers) == 1 else None


def _make_day(year: int, month: int) -> str:
    return date(year, month, 1).isoformat() if year <= date.max.year else ""


def _add_day(day: str) -> str:
    """The day after one; empty behind the last one of the calendar."""
    return "" if day == date.max.isoformat() else (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def _read_bound(text: str) -> str | None:
    """A day or a moment; empty for no bound, `None` if it is neither."""
    if not text:
        return ""
    if _MOMENT.fullmatch(text):
        return _read_moment(text)
    try:
        return date.fromisoformat(text).isoformat() if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _read_moment(text: str) -> str | None:
    """A moment in UTC, which it is in if it does not say otherwise."""
    try:
        moment = datetime.fromisoformat(text.upper())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
