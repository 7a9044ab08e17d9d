"""Moments: what each way to write one means, and what is said of what is none."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.times import NOW, PathAtTime, PointInTime, parse_age, parse_path_at_time, parse_point_in_time

BERLIN = ZoneInfo("Europe/Berlin")
AT = datetime(2026, 11, 21, 10, 20, 30, 500, tzinfo=BERLIN)


def us(*when: int, zone: ZoneInfo = BERLIN) -> int:
    return round(datetime(*when, tzinfo=zone).timestamp()) * 1_000_000  # type: ignore[arg-type, misc]


def read(words: str) -> PointInTime:
    return parse_point_in_time(words, now=AT, zone=BERLIN)


def span(words: str) -> tuple[int, int]:
    found = read(words)
    assert found.seq is None
    assert found.first_us is not None
    assert found.last_us is not None
    return found.first_us, found.last_us


@pytest.mark.parametrize(("words", "seq"), [("41", 41), ("#41", 41), (" 7 ", 7), ("0", 0), ("20261120", 20261120)])
def test_a_number_is_an_event(words: str, seq: int) -> None:
    assert read(words).seq == seq
    assert read(words).first_us is None


@pytest.mark.parametrize("words", ["now", "Now", " now "])
def test_now_is_neither_a_number_nor_a_time(words: str) -> None:
    assert read(words) is NOW
    assert NOW.is_now
    assert not read("41").is_now
    assert not read("today").is_now


@pytest.mark.parametrize(
    ("words", "first", "after"),
    [
        ("2026-11-20", us(2026, 11, 20), us(2026, 11, 21)),
        ("yesterday", us(2026, 11, 20), us(2026, 11, 21)),
        ("Today", us(2026, 11, 21), us(2026, 11, 22)),
        ("2026-11-20T18:00", us(2026, 11, 20, 18), us(2026, 11, 20, 18, 1)),
        ("2026-11-20 18:00", us(2026, 11, 20, 18), us(2026, 11, 20, 18, 1)),
        ("2026-11-20 18:00:05", us(2026, 11, 20, 18, 0, 5), us(2026, 11, 20, 18, 0, 6)),
        ("2026-11-20t18:00:05z", us(2026, 11, 20, 19, 0, 5), us(2026, 11, 20, 19, 0, 6)),
        ("2026-11-20T18:00-05:30", us(2026, 11, 21, 0, 30), us(2026, 11, 21, 0, 31)),
        ("2026-11-20T18:00+0100", us(2026, 11, 20, 18), us(2026, 11, 20, 18, 1)),
        ("yesterday 18:00", us(2026, 11, 20, 18), us(2026, 11, 20, 18, 1)),
        ("10:14", us(2026, 11, 21, 10, 14), us(2026, 11, 21, 10, 15)),
        ("9:05", us(2026, 11, 21, 9, 5), us(2026, 11, 21, 9, 6)),
        ("10:20", us(2026, 11, 21, 10, 20), us(2026, 11, 21, 10, 21)),
        ("10:21", us(2026, 11, 20, 10, 21), us(2026, 11, 20, 10, 22)),
        ("10:20:31", us(2026, 11, 20, 10, 20, 31), us(2026, 11, 20, 10, 20, 32)),
        ("10:14:02", us(2026, 11, 21, 10, 14, 2), us(2026, 11, 21, 10, 14, 3)),
    ],
)
def test_a_time_is_a_span_as_wide_as_it_is_written(words: str, first: int, after: int) -> None:
    assert span(words) == (first, after - 1)


@pytest.mark.parametrize(
    ("words", "first", "hours"), [("2026-03-29", us(2026, 3, 29), 23), ("2026-10-25", us(2026, 10, 25), 25)]
)
def test_a_day_is_as_long_as_it_is_where_clocks_change(words: str, first: int, hours: int) -> None:
    assert span(words) == (first, first + hours * 3_600_000_000 - 1)


def test_a_time_as_a_program_writes_it_is_one_microsecond() -> None:
    at = us(2026, 11, 21, 10, 14, 2) + 123
    assert span("2026-11-21T09:14:02.000123Z") == (at, at)
    assert span("2026-11-21T09:14:02.0001Z") == (at - 23, at + 76)


@pytest.mark.parametrize(
    ("words", "ago"),
    [
        ("30s", timedelta(seconds=30)),
        ("14m ago", timedelta(minutes=14)),
        ("2h", timedelta(hours=2)),
        ("3d ago", timedelta(days=3)),
        ("2w", timedelta(weeks=2)),
        ("1y", timedelta(days=365)),
        ("2 hours ago", timedelta(hours=2)),
        ("1 minute ago", timedelta(minutes=1)),
        ("5  Days", timedelta(days=5)),
    ],
)
def test_an_age_is_an_instant(words: str, ago: timedelta) -> None:
    length = ago // timedelta(microseconds=1)
    now = us(2026, 11, 21, 10, 20, 30) + 500
    assert span(words) == (now - length, now - length)
    assert parse_age(words) == length


def test_an_age_beyond_all_calendars_is_the_beginning() -> None:
    assert span("999999999999w") == (0, 0)


@pytest.mark.parametrize(
    "words",
    [
        *(
            "",
            "x",
            "41x",
            "#",
            "-1",
            "2026-11-31",
            "2026-13-01",
            "2026-11-20T25:00",
            "24:00",
            "10:60",
            "0000-01-01",
            "ago",
        ),
        "2026-11",
        "2026-11-20T18",
        "2026-11-20T18:00+99:00",
        "4 fortnights",
        "９",
        "1" * 5_000,
        "tomorrow",
        "9999-12-31",
    ],
)
def test_what_is_no_moment_is_told_what_is_possible(words: str) -> None:
    with pytest.raises(ValueError, match=r"as a time\. Try 2h, 3d, 10:14"):
        read(words)


@pytest.mark.parametrize("words", ["", "41", "10:14", "now", "x", "-3d"])
def test_what_is_no_age_is_told_what_is_possible(words: str) -> None:
    with pytest.raises(ValueError, match=r"as an age\. Try 30s"):
        parse_age(words)


@given(st.text())
def test_any_text_is_a_moment_or_refused(words: str) -> None:
    try:
        found = parse_point_in_time(words, now=datetime(2026, 11, 21, tzinfo=UTC))
    except ValueError:
        return
    assert found.is_now or (found.seq is None) is not (found.first_us is None)


@given(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2100, 1, 1)))
def test_the_machines_own_zone_is_meant_where_none_is_named(at: datetime) -> None:
    found = parse_point_in_time(f"{at:%Y-%m-%d %H:%M:%S}", now=datetime(2101, 1, 1, tzinfo=UTC))
    assert found.first_us == int(at.replace(microsecond=0).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("written", "path", "words"),
    [
        ("notes/a.md@41", "notes/a.md", "41"),
        ("a@b.md@yesterday", "a@b.md", "yesterday"),
        ("a.md@2026-11-20 18:00", "a.md", "2026-11-20 18:00"),
        ("a.md@2h ago", "a.md", "2h ago"),
        ("@41", "", "41"),
        ("a.md", "a.md", None),
        ("a@b.md", "a@b.md", None),
        ("mail@example", "mail@example", None),
        ("a.md@", "a.md@", None),
        ("here@41", "here@41", None),
    ],
)
def test_a_place_in_history_is_split_at_the_last_sign(written: str, path: str, words: str | None) -> None:
    expected = PathAtTime(path, read(words) if words else None)
    assert parse_path_at_time(written, now=AT, zone=BERLIN, exists={"here@41"}.__contains__) == expected
