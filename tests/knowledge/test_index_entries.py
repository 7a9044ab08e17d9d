"""An entry is written as the others of an index are."""

import pytest
from graphs import make_graph

from memtui.knowledge.index_entries import add_entry
from memtui.notes.front_matter import read_properties

NOTE = "---\nname: billing\ndescription: How invoices [are] sent\n---\n# Billing\n"


def add(text: str, path: str = "billing.md", note: str = NOTE, index: str = "MEMORY.md") -> str | None:
    texts = {index: text, "a.md": "# A\n", "b.md": "# B\n", "deep/c.md": "# C\n", path: note}
    graph = make_graph(texts)
    parsed = graph.get_note(path)
    assert parsed is not None
    return add_entry(text, index, parsed, read_properties(note), graph.resolve)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Memory\n\n- [A](a.md) \u2014 first\n", "- [billing](billing.md) \u2014 How invoices are sent\n"),
        ("- [A](a.md): first\n", "- [billing](billing.md): How invoices are sent\n"),
        ("* [a.md](a.md)\n", "* [billing.md](billing.md) \u2014 How invoices are sent\n"),
        ("- **[A](a.md)** - first\n", "- **[billing](billing.md)** - How invoices are sent\n"),
        ("1. [[a]]: first\n", "2. [[billing]]: How invoices are sent\n"),
        ("- [[a|The A]]\n", "- [[billing]] \u2014 How invoices are sent\n"),
        ("- [[deep/c|The C]]\n", "- [[billing]] \u2014 How invoices are sent\n"),
        ("- [A](<a.md>)\n", "- [billing](<billing.md>) \u2014 How invoices are sent\n"),
        ("- [A](./a.md)\n", "- [billing](./billing.md) \u2014 How invoices are sent\n"),
    ],
)
def test_the_form_is_that_of_the_last_entry(text: str, line: str) -> None:
    assert add(text) == text + line


def test_it_comes_behind_the_last_entry_of_its_directory() -> None:
    text = "- [A](a.md)\n  more of it\n- [C](deep/c.md)\n\nThe end.\n"
    assert add(text, note="# B\n") == text.replace("- [C]", "- [B](billing.md)\n- [C]")
    assert add(text, "deep/d.md", "# D\n") == text.replace("\n\nThe", "\n- [D](deep/d.md)\n\nThe")
    assert add(text, "other/d.md", "# D\n") == text.replace("\n\nThe", "\n- [D](other/d.md)\n\nThe")


def test_line_ends_stay() -> None:
    assert add("- [A](a.md)\r\n- [B](b.md)", note="# X\n") == "- [A](a.md)\r\n- [B](b.md)\r\n- [X](billing.md)"
    assert add("- [A](a.md)\r\n", note="# X\n") == "- [A](a.md)\r\n- [X](billing.md)\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Facts.\n",
        "| [A](a.md) | x |\n",
        "- [A](a.md) and [B](b.md)\n",
        "```\n- [A](a.md)\n```\n",
        "- [G](gone.md)\n",
    ],
)
def test_an_index_without_a_known_form_is_left(text: str) -> None:
    assert add(text) is None


def test_hostile_words_are_no_markup() -> None:
    note = '---\nname: "x](evil.md) [[y]]\\n# z"\ndescription: "<!-- \\e[31m [l](http://e)"\n---\n'
    text = add("- [A](a.md)\n", "an odd (name).md", note)
    assert text is not None
    assert text.count("\n") == 2
    assert "\x1b" not in text
    assert "<!--" not in text
    graph = make_graph({"MEMORY.md": text, "a.md": "", "an odd (name).md": note})
    assert [edge.targets for edge in graph.get_edges("MEMORY.md")] == [("a.md",), ("an odd (name).md",)]
