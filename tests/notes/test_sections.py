"""Headings of a note as its sections, and the same text with deeper or higher ones."""

import pytest

from memtui.notes.sections import find_section_headings, shift_headings, strip_markup


def shift(text: str, levels: int) -> str:
    lines = text.split("\n")
    moved = shift_headings(lines, find_section_headings(text), levels, first=1, last=len(lines))
    return "\n".join(line.text for line in moved)


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# A\n\n## B ##\ntext\n", [(1, 1, 1, "A"), (3, 3, 2, "B")]),
        ("A\n===\n\nB\nb\n---\n", [(1, 2, 1, "A"), (4, 6, 2, "B b")]),
        ("---\ntitle: x\n---\n# A\n", [(4, 4, 1, "A")]),
        ("```\n# no\n```\n\n    # no\n\n# A 🐝\n", [(7, 7, 1, "A 🐝")]),
        ("- # in a list\n\n> # quoted\n\n# A\r\n", [(5, 5, 1, "A")]),
        ("#hash\n===\n\n#no heading\n", [(1, 2, 1, "#hash")]),
        ("<!--\n# no\n-->\n\n#\n# A\n", [(6, 6, 1, "A")]),
        ("", []),
    ],
)
def test_headings_that_divide_a_note(text: str, headings: list[tuple[int, int, int, str]]) -> None:
    assert [(each.line, each.last_line, each.level, each.text) for each in find_section_headings(text)] == headings


@pytest.mark.parametrize(
    ("text", "levels", "shifted"),
    [
        ("# A\n## B\n", 1, "## A\n### B\n"),
        ("##### A\n###### B\n", 2, "###### A\n###### B\n"),
        ("### A\n#### B ##\n", -2, "# A\n## B ##\n"),
        ("# A\n", -2, "# A\n"),
        ("A\r\n===\r\nx\r\n", 1, "A\r\n---\r\nx\r\n"),
        ("A\n-\n", -1, "A\n===\n"),
        ("A\nb\n---\nx\n", 1, "### A b\nx\n"),
        ("A\r\n===\r\n", 2, "### A\r\n"),
        ("```\n# no\n```\n  # A\n", 1, "```\n# no\n```\n  ## A\n"),
        ("# A\n", 0, "# A\n"),
    ],
)
def test_headings_are_made_deeper_or_higher(text: str, levels: int, shifted: str) -> None:
    assert shift(text, levels) == shifted


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("Plain", "Plain"),
        ("[[tea|My tea]] and [[b]]", "My tea and b"),
        ("[a](b.md) *b* `c` __d__ snake_case", "a b c d snake_case"),
        (r"1\. \*not\*", "1. not"),
    ],
)
def test_words_of_a_heading(heading: str, words: str) -> None:
    assert strip_markup(heading) == words
