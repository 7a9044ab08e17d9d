"""Headings and paragraphs are found as CommonMark has them, each with its place."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memtui.notes.inline_blocks import find_inline_blocks

_READER = MarkdownIt()
_PARTS = (
    *("- ", "* ", "1. ", "2) ", "10. ", "> ", ">", "# ", "## ", "\n", "\n\n", "  ", "    ", "   ", "\t"),
    *("a b", "[x] y", "```", "~~~", "---", "===", "<div>", "<!-- c", "-->", "<b>", "text", "`", "+", "-"),
)

_OTHERWISE = re.compile(r">[ \t]*>[^\n]*\n(?: {4}| {0,3}\t)")
"""Behind a quotation in a quotation the other reader takes an indented line that looks like an item for code; by
CommonMark 0.31 it goes on with the paragraph, as it does for that reader behind one quotation.
"""


def _read_independently(text: str) -> list[tuple[str, int, bool, bool]]:
    """The same from another reader: words, level, whether in an item, whether quoted."""
    found, level, is_item, quotes = [], 0, False, 0
    for token in _READER.parse(text):
        match token.type:
            case "blockquote_open":
                quotes += 1
            case "blockquote_close":
                quotes -= 1
            case "list_item_open":
                is_item = True
            case "list_item_close":
                is_item = False
            case "heading_open":
                level = int(token.tag[1])
            case "paragraph_open":
                level = 0
            case "inline" if token.content.strip():
                found.append((" ".join(token.content.split()), level, is_item, quotes > 0))
    return found


def _read(text: str) -> list[tuple[str, int, bool, bool]]:
    return [
        (" ".join(block.text.split()), block.level, block.is_item, block.is_quoted)
        for block in find_inline_blocks(text)
    ]


@given(st.lists(st.sampled_from(_PARTS), max_size=14).map("".join))
@settings(max_examples=400, deadline=None)
def test_blocks_are_those_of_another_reader(text: str) -> None:
    assume(not _OTHERWISE.search(text))
    assert _read(text) == _read_independently(text)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("a\nb\n\nc", [("a b", 0, False, False), ("c", 0, False, False)]),
        ("# A #\nb\n===", [("A", 1, False, False), ("b", 1, False, False)]),
        ("- a\n  b\nc\n- d", [("a b c", 0, True, False), ("d", 0, True, False)]),
        ("> - a\n\nb", [("a", 0, True, True), ("b", 0, False, False)]),
        ("> > a\n    - b", [("a - b", 0, False, True)]),
        ("- a\n\n      code\n\n```\ncode\n", [("a", 0, True, False)]),
        ("[a]: b\n[c]: d 'e'\ntext", [("text", 0, False, False)]),
        ("| a | b |\n|---|---|\n| c | d |", [("| a | b | |---|---| | c | d |", 0, False, False)]),
    ],
)
def test_blocks_of_a_text(text: str, blocks: list[tuple[str, int, bool, bool]]) -> None:
    assert _read(text) == blocks


def test_each_character_has_its_place() -> None:
    text = "---\na: b\n---\n\n> - one\r\n>   two [[x]]\r\n"
    (block,) = find_inline_blocks(text, text.index("\n\n"))
    assert block.places == ((5, 4), (6, 4))
    line, column = block.locate(block.text.index("[["))
    assert text.split("\n")[line - 1][column:].startswith("[[x]]")


def test_what_is_nested_without_end_is_text() -> None:
    assert len(find_inline_blocks("> " * 10_000 + "a")) == 1
