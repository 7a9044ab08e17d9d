"""The words that all reports share."""

import pytest

from memtui.audit.report import words


@pytest.mark.parametrize(("number", "said"), [(0, "~0"), (999, "~999"), (10_421, "~10.4k"), (1_099_300, "~1.1M")])
def test_tokens_are_written_short(number: int, said: str) -> None:
    assert words.tokens(number) == said


@pytest.mark.parametrize(
    ("octets", "said"), [(1_023, "1,023 B"), (1_024, "1.0 KB"), (1_048_575, "1.0 MB"), (1_610_612_736, "1.5 GB")]
)
def test_a_size_is_never_a_thousand_of_a_smaller_unit(octets: int, said: str) -> None:
    assert words.size(octets) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "under a second"), (47, "47 seconds"), (59.9, "1 minute"), (788_400, "9 days")]
)
def test_how_long_something_lasts_is_said_in_one_unit(seconds: float, said: str) -> None:
    assert words.span(seconds * 1e6) == said
