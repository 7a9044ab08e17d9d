"""A note cut into chunks is the same note, and a chunk means the same alone."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtui.ui.widgets.markdown.chunks import LIMIT, Chunk, split_markdown, split_plain
from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout
from tests.sampling import many

BLOCKS = [
    "# heading\n", "\n", "some text\n", "- item\n", "  - nested\n", "1. one\n", "2) two\n", "```\n",
    "~~~python\n",
    "> quote\n", "> ```\n", "- ```\n", "    code\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "<!-- x\n",
    "-->\n",
    "<script>\n", "</script>\n", "---\n", "===\n", "x" * 5000 + "\n", "w " * 300 + "\n", "|-" * 2500 + "\n",
    "\\\n",
]  # fmt: skip
notes = st.lists(
    st.tuples(st.sampled_from(BLOCKS), st.sampled_from([1, 1, 1, 2, 60])).map(lambda pair: pair[0] * pair[1]),
    max_size=20,
).map("".join)


def check(source: str, chunks: list[Chunk]) -> None:
    assert "".join(source[chunk.start : chunk.end] for chunk in chunks) == source
    line = 0
    for chunk in chunks:
        assert chunk.line == line
        assert 0 < chunk.end - chunk.start <= 2 * LIMIT
        line += source.count("\n", chunk.start, chunk.end)
    assert not chunks or chunks[0].root


@settings(max_examples=many(60, 20), deadline=None)
@given(notes)
def test_chunks_are_the_source_in_order(source: str) -> None:
    check(source, list(split_markdown(source)))
    check(source, list(split_plain(source)))


@settings(max_examples=many(60, 20), deadline=None)
@given(st.text())
def test_any_text_can_be_cut(source: str) -> None:
    check(source, list(split_markdown(source)))
    check(source, list(split_plain(source)))


@settings(max_examples=many(40, 13), deadline=None)
@given(notes, st.integers(1, 60))
@example("# heading\n# heading\n```\n# heading\n" + "|-" * 2500 + "\n", 2)
def test_text_that_arrives_in_pieces_is_cut_as_if_it_came_at_once(source: str, pieces: int) -> None:
    for syntax in ("markdown", "text"):
        document = NoteDocument("", NoteLayout(syntax))
        size = len(source) // pieces + 1
        for at in range(0, len(source), size):
            document.append(source[at : at + size])
        assert document.chunks == NoteDocument(source, NoteLayout(syntax)).chunks
        assert document.source == source


def rows(source: str, width: int = 60) -> list[str]:
    document = NoteDocument(source, NoteLayout("markdown", "rendered", width))
    return [row.text.rstrip() for index in range(len(document.chunks)) for row in document.get_rows(index)]


ORDINARY = """# Title {n}

Some *prose* about number {n}, long enough to be wrapped when the window is narrow, with `code` in it.

- first of {n}
- second
  - nested

```python
value = {n}

# not a heading
```

| key | value |
|-----|-------|
| n   | {n}   |

> quoted

"""


def test_a_note_drawn_in_chunks_looks_like_the_note_drawn_block_by_block() -> None:
    parts = [ORDINARY.format(n=number) for number in range(100, 160)]
    whole = "".join(parts)
    assert len(list(split_markdown(whole))) > 3
    expected: list[str] = []
    for part in parts:
        expected += [*([""] if expected else []), *rows(part)]
    assert rows(whole) == expected


@pytest.mark.parametrize("marker", ["-", "1."])
def test_a_long_list_stays_one_list(marker: str) -> None:
    source = "".join(f"{marker} item {number}\n" for number in range(3000))
    assert len(list(split_markdown(source))) > 5
    signs = ["-" if marker == "-" else f"{number + 1}." for number in range(3000)]
    assert rows(source) == [f"{sign} item {number}" for number, sign in enumerate(signs)]


def test_a_long_fence_keeps_its_language_and_loses_no_line() -> None:
    source = (
        "text\n\n```python\n"
        + "".join(f"name{number} = 'x'\n\n# no heading\n" for number in range(2000))
        + "```\nend\n"
    )
    chunks = [chunk for chunk in split_markdown(source) if chunk.kind == "fence"]
    assert len(chunks) > 5
    assert {chunk.language for chunk in chunks} == {"python"}
    drawn = rows(source)
    assert drawn[:3] == ["text", "", " python"]
    assert [row for row in drawn if row.startswith(" name")] == [f" name{number} = 'x'" for number in range(2000)]
    assert drawn[-1] == "end"
    assert not any("```" in row for row in drawn)


def test_a_long_table_keeps_its_columns() -> None:
    source = "| key | value |\n|:--|--:|\n" + "".join(f"| key{number} | {number} |\n" for number in range(5000))
    drawn = rows(source)
    assert drawn[0].split() == ["key", "│", "value"]
    assert len(drawn) == 5002
    assert {row.index("│") for row in drawn if "│" in row} == {drawn[0].index("│")}
    assert drawn[2500].split() == ["key2498", "│", "2498"]


def test_large_blocks_side_by_side_are_each_drawn_as_what_they_are() -> None:
    table = "| key | value |\n|-----|-------|\n" + "".join(f"| {number} | x |\n" for number in range(600))
    source = "Intro:\n" + table + "- a\n" * 900 + "```text\n" + "code\n" * 900 + "```\n" + "tail"
    drawn = rows(source)
    assert drawn[0] == "Intro:"
    assert drawn[2].split() == ["key", "│", "value"]
    assert sum(row.startswith("key") for row in drawn) == 1
    assert sum(row.split() == ["599", "│", "x"] for row in drawn) == 1
    assert drawn.count("- a") == 900
    assert drawn.count(" code") == 900
    assert drawn[-1] == "tail"


def test_one_endless_line_is_shown_whole() -> None:
    source = "".join(f"word{number} " for number in range(100_000))
    assert "".join(NoteDocument(source, NoteLayout("markdown")).get_rows(0)[0].text).startswith("word0 word1")
    document = NoteDocument(source, NoteLayout("markdown"))
    text = "".join(row.text for index in range(len(document.chunks)) for row in document.get_rows(index))
    assert text == source


def test_no_cut_falls_into_front_matter_or_a_comment() -> None:
    source = "---\na: 1\n---\n" + "para\n\n" * 700 + "<!-- one\n\n# two\n\nthree -->\n" + "para\n\n" * 700
    drawn = rows(source)
    assert drawn[0] == "a  1"
    assert drawn.count("# two") == 1
