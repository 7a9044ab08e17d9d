"""How much of a note a session is given, by the limits of its agent's program, and what that costs."""

import pytest

from memtui.core.wording import estimate_token_count
from memtui.notes.loading import LoadLimit, measure_load
from memtui.notes.memory_index import LIMIT
from tests.bench.limits import at_most


def test_two_hundred_lines_are_loaded_and_no_more() -> None:
    whole = measure_load("- a\n" * 200, LIMIT)
    assert (whole.lines, whole.counted, whole.beyond, whole.limit, whole.loaded) == (200, 200, None, "", 200)
    longer = measure_load("- a\n" * 200 + "b", LIMIT)
    assert (longer.lines, longer.beyond, longer.limit, longer.loaded) == (201, 201, "lines", 200)
    assert longer.loaded_size == whole.loaded_size == 800


def test_bytes_end_the_loading_at_a_line_before_the_lines_do() -> None:
    index = measure_load("é" * 499 + "\n" + "x" * 49 + "\n" + "y\n", LoadLimit(size=1_040, unit="bytes"))
    assert (index.beyond, index.limit, index.loaded, index.loaded_size) == (2, "size", 1, 999)
    assert index.tokens == 125
    assert index.counted_size == 999 + 50 + 2


def test_of_a_first_line_over_the_limit_only_the_beginning_is_loaded() -> None:
    index = measure_load("é" * 100 + "\nnext\n", LoadLimit(size=51, unit="bytes"))
    assert (index.beyond, index.limit, index.loaded, index.loaded_size, index.tokens) == (2, "size", 1, 51, 7)


def test_front_matter_and_block_comments_count_for_nothing() -> None:
    text = "---\nname: x\n---\n<!-- a\nb -->\none\n  <!-- c -->\ntwo <!-- d -->\n<!-- e --> three\n"
    index = measure_load(text, LoadLimit(3, strips=True))
    assert index.uncounted == ((1, 5), (7, 7))
    assert (index.counted, index.beyond, index.lines) == (3, None, 9)
    assert measure_load(text, LoadLimit(2, strips=True)).beyond == 9


@pytest.mark.parametrize(
    "text",
    ["<!-- never closed\na\nb\n", "```\n<!-- a -->\n\n", "~~~~\n<!-- a\n~~~\n--> \n~~~~\n", "a <!--\nb -->\nc\n"],
)
def test_what_is_no_block_comment_counts(text: str) -> None:
    index = measure_load(text, LIMIT)
    assert index.uncounted == ()
    assert index.counted == index.lines


def test_a_limit_of_nothing_is_off() -> None:
    assert measure_load("x\n" * 1_000 + "y" * 100_000, LoadLimit()).beyond is None


def test_the_tokens_are_those_of_what_is_loaded() -> None:
    assert (
        measure_load("---\nname: long long long\n---\nabcdefg\n", LIMIT).tokens
        == estimate_token_count("abcdefg\n")
        == 2
    )
    assert estimate_token_count("") == 0
    assert estimate_token_count("a") == 1
    assert measure_load("", LIMIT).tokens == 0


@pytest.mark.parametrize(
    "text",
    ["<!--" * 250_000, "- [a](" * 160_000, "[[" * 500_000, "<!-- \n" * 160_000, "```\n" * 250_000, "x" * 1_000_000],
    ids=["comments", "links", "wiki", "comment lines", "fences", "one line"],
)
def test_a_hostile_index_is_read_in_passing(text: str) -> None:
    with at_most(5):
        index = measure_load(text, LIMIT)
    assert 0 < index.loaded <= 200 or index.lines == 0


@pytest.mark.parametrize(("unit", "size"), [("units", 4), ("characters", 3), ("bytes", 7)])
def test_each_program_counts_in_its_own_unit(unit: str, size: int) -> None:
    text = "é\U0001f600\n"
    assert measure_load(text, LoadLimit(size=size, unit=unit)).beyond is None
    assert measure_load(text * 2, LoadLimit(size=size, unit=unit)).beyond == 2
    assert measure_load(text, LoadLimit(size=size, unit=unit)).counted_size == size


def test_a_token_is_four_bytes() -> None:
    part = measure_load("seven..\n" * 9, LoadLimit(size=10, unit="tokens"))
    assert (part.beyond, part.limit, part.loaded, part.counted_size, part.loaded_size) == (6, "size", 5, 18, 10)


@pytest.mark.parametrize("keeps", ["end", "both"])
def test_of_a_text_that_is_not_cut_at_its_end_no_line_begins_what_is_left_out(keeps: str) -> None:
    limit = LoadLimit(size=100, unit="characters", keeps=keeps)
    over, whole = measure_load("four\n" * 40, limit), measure_load("four\n" * 20, limit)
    assert (over.beyond, over.limit, over.loaded, over.loaded_size, over.tokens) == (None, "size", 20, 100, 25)
    assert (whole.limit, whole.loaded, whole.loaded_size, whole.tokens) == ("", 20, 100, 25)
