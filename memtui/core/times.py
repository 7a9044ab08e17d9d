"""Moments as people write them: an event's number, a date, a time of day, or how long ago.

A word names a span rather than an instant: `2026-11-20` is the whole day, `10:14` the whole minute. The folder *as of*
that day means its end; changes *since* that day mean its beginning.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from memtui.core.lazy_dataclass import dataclass

_SECOND = 1_000_000
_MINUTE = 60 * _SECOND
_DAY = 86_400 * _SECOND
_UNITS = {"s": _SECOND, "m": _MINUTE, "h": 60 * _MINUTE, "d": _DAY, "w": 7 * _DAY, "y": 365 * _DAY}
_NAMES = {"second": "s", "sec": "s", "minute": "m", "min": "m", "hour": "h", "day": "d", "week": "w", "year": "y"}
_FURTHEST = 10_000 * 365 * _DAY
"""No calendar goes back further."""

_NUMBER = re.compile("#?([0-9]{1,18})")
_AGE = re.compile("([0-9]{1,12}) ?([a-z]+)( ago)?")
_DATE = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?"
_ZONE = "(z|[+-][0-9]{2}:?[0-9]{2})"
_WHEN = re.compile(f"(?:{_DATE}|(today|yesterday))(?:[t ]{_TIME} ?{_ZONE}?)?")
_TIME_OF_DAY = re.compile(_TIME)

POSSIBLE = "2h, 3d, 10:14, now, today, yesterday, 2026-11-20, 2026-11-20T18:00 or an event number"


@dataclass(frozen=True, slots=True)
class PointInTime:
    """A moment in the history of a folder: right after an event, within a span of time, or now.

    Attributes:
        words: As it was written.
        seq: The number of the event after which it is, 0 for before the first one; `None` if it is no number.
        first_us: The first microsecond of the span, since 1970 (UTC); `None` if it is no time.
        last_us: The last one; as `first_us` for an instant.
    """

    text: str
    seq: int | None = None
    first_us: int | None = None
    last_us: int | None = None

    @property
    def is_now(self) -> bool:
        return self.seq is None and self.first_us is None


NOW = PointInTime("now")


@dataclass(frozen=True, slots=True)
class PathAtTime:
    """A path as it was written, and a moment; `None` where none was given."""

    path: str
    point_in_time: PointInTime | None = None


def parse_point_in_time(words: str, *, now: datetime, zone: tzinfo | None = None) -> PointInTime:
    """Read a moment; without a zone it is in `zone` (`None`: the machine's). Raises `ValueError` with a sentence."""
    given = " ".join(words.split()).casefold()
    if given == "now":
        return NOW
    if number := _NUMBER.fullmatch(given):
        return PointInTime(words, seq=int(number[1]))
    try:
        span = _parse_span(given, now, zone)
    except (ValueError, OverflowError, OSError):
        span = None  # such as the 31st of November, or a year that the system cannot place
    if span is None:
        raise ValueError(f"Can't read {words!r} as a time. Try {POSSIBLE}.")
    return PointInTime(words, first_us=span[0], last_us=span[1])


def parse_age(words: str) -> int:
    """Read an age, such as `30s`, `14m`, `2h`, `3d`, `1y` or `2 weeks ago`, in microseconds; raises `ValueError`."""
    length = _parse_relative(" ".join(words.split()).casefold())
    if length is None:
        raise ValueError(f"Can't read {words!r} as an age. Try 30s, 14m, 2h, 3d, 2w or 1y.")
    return length


def parse_path_at_time(
    given: str, *, now: datetime, exists: Callable[[str], bool], zone: tzinfo | None = None
) -> PathAtTime:
    """Read `PATH@MOMENT`, or a path alone; `exists` tells whether something stands at a path.

    It is split at the last `@` if a moment follows, unless a file of the whole name exists.
    """
    path, at, words = given.rpartition("@")
    if not at or exists(given):
        return PathAtTime(given)
    try:
        return PathAtTime(path, parse_point_in_time(words, now=now, zone=zone))
    except ValueError:
        return PathAtTime(given)


def _parse_span(given: str, now: datetime, zone: tzinfo | None) -> tuple[int, int] | None:
    if (length := _parse_relative(given)) is not None:
        at = max(0, _to_microseconds(now) - length)
        return at, at
    here = now.astimezone(zone)
    if found := _TIME_OF_DAY.fullmatch(given):
        first, width = _parse_clock(found.groups())
        at = _to_microseconds(_combine(here.date(), first, zone))
        if at > _to_microseconds(now):
            at = _to_microseconds(_combine(here.date() - timedelta(days=1), first, zone))
        return at, at + width - 1
    found = _WHEN.fullmatch(given)
    if found is None:
        return None
    year, month, day, word, *clock, offset = found.groups()
    named = date(int(year), int(month), int(day)) if year else here.date() - timedelta(days=word == "yesterday")
    if clock[0] is None:
        start = _to_microseconds(_combine(named, time(), zone))
        return start, _to_microseconds(_combine(named + timedelta(days=1), time(), zone)) - 1
    first, width = _parse_clock(clock)
    at = _to_microseconds(_combine(named, first, _parse_offset(offset) if offset else zone))
    return at, at + width - 1


def _parse_relative(given: str) -> int | None:
    found = _AGE.fullmatch(given)
    if found is None:
        return None
    unit = found[2] if found[2] in _UNITS else _NAMES.get(found[2].removesuffix("s"))
    return min(int(found[1]) * _UNITS[unit], _FURTHEST) if unit else None


def _parse_clock(found: "list[str | None] | tuple[str | None, ...]") -> tuple[time, int]:
    """A time of day, and the microseconds that its last named digit stands for."""
    hour, minute, second, fraction = found
    digits = (fraction or "").ljust(6, "0")
    width = _MINUTE if second is None else _SECOND if fraction is None else 10 ** (6 - len(fraction))
    return time(int(hour or 0), int(minute or 0), int(second or 0), int(digits)), width


def _combine(day: date, at: time, zone: tzinfo | None) -> datetime:
    together = datetime.combine(day, at)
    return together.astimezone() if zone is None else together.replace(tzinfo=zone)


def _parse_offset(words: str) -> tzinfo:
    if words == "z":
        return UTC
    length = timedelta(hours=int(words[1:3]), minutes=int(words[-2:]))
    return timezone(-length if words[0] == "-" else length)


def _to_microseconds(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
