"""The index of a memory: how much of it a session is given, which notes it names, and what it costs."""

import pytest

from memtui.core.wording import estimate_token_count
from memtui.notes.memory_index import is_index, parse_index
from tests.bench.limits import at_most


def test_two_hundred_lines_are_loaded_and_no_more() -> None:
    whole = parse_index("- a\n" * 200)
    assert (whole.lines, whole.counted, whole.beyond, whole.limit, whole.loaded) == (200, 200, None, "", 200)
    longer = parse_index("- a\n" * 200 + "b")
    assert (longer.lines, longer.beyond, longer.limit, longer.loaded) == (201, 201, "lines", 200)
    assert longer.loaded_bytes == whole.loaded_bytes == 800


def test_bytes_end_the_loading_at_a_line_before_the_lines_do() -> None:
    index = parse_index("é" * 499 + "\n" + "x" * 49 + "\n" + "y\n", max_bytes=1_040)
    assert (index.beyond, index.limit, index.loaded, index.loaded_bytes) == (2, "bytes", 1, 999)
    assert index.tokens == 125
    assert index.counted_bytes == 999 + 50 + 2


def test_of_a_first_line_over_the_limit_only_the_beginning_is_loaded() -> None:
    index = parse_index("é" * 100 + "\nnext\n", max_bytes=51)
    assert (index.beyond, index.limit, index.loaded, index.loaded_bytes, index.tokens) == (2, "bytes", 1, 51, 7)


def test_front_matter_and_block_comments_count_for_nothing() -> None:
    text = "---\nname: x\n---\n<!-- a\nb -->\none\n  <!-- c -->\ntwo <!-- d -->\n<!-- e --> three\n"
    index = parse_index(text, max_lines=3)
    assert index.uncounted == ((1, 5), (7, 7))
    assert (index.counted, index.beyond, index.lines) == (3, None, 9)
    assert parse_index(text, max_lines=2).beyond == 9


@pytest.mark.parametrize(
    "text",
    ["<!-- never closed\na\nb\n", "```\n<!-- a -->\n\n", "~~~~\n<!-- a\n~~~\n--> \n~~~~\n", "a <!--\nb -->\nc\n"],
)
def test_what_is_no_block_comment_counts(text: str) -> None:
    index = parse_index(text)
    assert index.uncounted == ()
    assert index.counted == index.lines


def test_a_limit_of_nothing_is_off() -> None:
    assert parse_index("x\n" * 1_000 + "y" * 100_000, max_lines=0, max_bytes=0).beyond is None


def test_headings_and_rows_of_tables_are_entries_too() -> None:
    text = "### [A](a.md)\n\nIt says [b](b.md).\n\n| Note | What |\n|---|---|\n| [C](c.md) | c |\n\n> 1. [D](d.md)\n"
    assert [link.path for link in parse_index(text).entries] == ["a.md", "c.md", "d.md"]


def test_entries_are_items_that_lead_to_files_and_wiki_links_and_imports() -> None:
    text = (
        "# Memory\n\nSee [this](prose.md) and [[Somewhere]] and @other.md.\n- [A](a.md): what a is\n"
        "2. [B](sub/b.md)\n* [web](https://example.org/x.md)\n- [out](../../x.md)\n- [here](#memory)\n- `c.md`\n"
    )
    assert [link.path for link in parse_index(text).entries] == ["Somewhere", "other.md", "a.md", "sub/b.md"]
    assert parse_index("- [A](a.md)\n", "shop/MEMORY.md").entries[0].path == "shop/a.md"


def test_the_tokens_are_those_of_what_is_loaded() -> None:
    assert parse_index("---\nname: long long long\n---\nabcdefg\n").tokens == estimate_token_count("abcdefg\n") == 2
    assert estimate_token_count("") == 0
    assert estimate_token_count("a") == 1
    assert parse_index("").tokens == 0


def test_an_index_is_known_by_its_name_wherever_it_is() -> None:
    assert is_index("MEMORY.md")
    assert is_index("shop/MEMORY.md")
    assert not is_index("memory.md")
    assert not is_index("MEMORY.md/x")


@pytest.mark.parametrize(
    "text",
    ["<!--" * 250_000, "- [a](" * 160_000, "[[" * 500_000, "<!-- \n" * 160_000, "```\n" * 250_000, "x" * 1_000_000],
    ids=["comments", "links", "wiki", "comment lines", "fences", "one line"],
)
def test_a_hostile_index_is_read_in_passing(text: str) -> None:
    with at_most(5):
        index = parse_index(text)
    assert 0 < index.loaded <= 200 or index.lines == 0
