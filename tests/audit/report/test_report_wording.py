"""The words that all reports share."""

import pytest

from memtui.core import wording


@pytest.mark.parametrize(("number", "said"), [(0, "0"), (999, "999"), (10_421, "10.4k"), (1_099_300, "1.1M")])
def test_tokens_are_written_short(number: int, said: str) -> None:
    assert wording.format_short_count(number) == said


@pytest.mark.parametrize(
    ("octets", "said"),
    [(999, "999 B"), (1_023, "1.0 KB"), (1_024, "1.0 KB"), (1_048_575, "1.0 MB"), (1_610_612_736, "1.5 GB")],
)
def test_a_size_is_never_a_thousand_of_a_smaller_unit(octets: int, said: str) -> None:
    assert wording.format_size(octets, wording.PLAIN) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "under a second"), (47, "47 seconds"), (59.9, "59 seconds"), (60, "1 minute"), (788_400, "9 days")],
)
def test_how_long_something_lasts_is_said_in_one_unit(seconds: float, said: str) -> None:
    assert wording.format_duration(seconds) == said
