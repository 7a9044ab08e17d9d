"""What a note looks like, feature by feature, and that nothing in it is ever out of sight."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout
from memtui.ui.widgets.markdown.rows import MarkdownRow, TextSpan, chop_spans, detect_syntax, wrap_spans
from tests.sampling import many


def rows_of(source: str, width: int = 40, syntax: str = "markdown", mode: str = "rendered") -> list[MarkdownRow]:
    document = NoteDocument(source, NoteLayout(syntax, "source" if mode == "source" else "rendered", width))
    return [row for index in range(len(document.chunks)) for row in document.get_rows(index)]


def text_of(source: str, width: int = 40) -> list[str]:
    return [row.text.rstrip() for row in rows_of(source, width)]


def styles_of(source: str, word: str) -> str:
    return next(span.style for row in rows_of(source, 80) for span in row.spans if word in span.text)


@pytest.mark.parametrize(
    ("source", "word", "style"),
    [
        ("- [decision] tea #drink", "[decision]", "category"),
        ("- a\n  - [risk] late", "[risk]", "category"),
        ("1. [tech] Rust", "[tech]", "category"),
        ("- part_of [[tea]] (now)", "part_of", "relation"),
        ('- "is part of" [[tea]]', '"is part of"', "relation"),
        ("- [decision](a.md) tea", "decision", "link"),
        ("- [tea] x\n\n[tea]: http://x.io", "tea", "link"),
        ("- [?] maybe", "[?]", ""),
        ("- [10:30] standup", "[10:30]", ""),
        ("- [decision]", "[decision]", ""),
        ("- see also [[tea]]", "see also", ""),
        ("[decision] no item", "[decision]", ""),
        ("- a\n\n  [decision] a second paragraph", "[decision]", ""),
    ],
)
def test_the_category_of_an_observation_and_the_type_of_a_relation_are_tinted(
    source: str, word: str, style: str
) -> None:
    assert styles_of(source, word) == style


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# One", ["One", "━━━"]),
        ("Two\n---", ["Two", "───"]),
        ("### Three", ["Three"]),
        ("a\nb", ["a b"]),
        ("a  \nb", ["a", "b"]),
        ("a\\\nb", ["a", "b"]),
        ("a\n\nb", ["a", "", "b"]),
        ("- a\n- b\n  - c", ["- a", "- b", "  - c"]),
        ("- a\n\n- b", ["- a", "", "- b"]),
        ("7. a\n8. b\n   1. c", ["7. a", "8. b", "   1. c"]),
        ("- a\n\n  more", ["- a", "", "  more"]),
        ("-\n- b", ["-", "- b"]),
        ("- > q", ["-", "  │ q"]),
        ("- [ ] open\n- [x] done", ["- [ ] open", "- [x] done"]),
        ("> a\n> > b", ["│ a", "│", "│ │ b"]),
        ("---", ["─" * 40]),
        ("[text](http://x.io)", ["text (http://x.io)"]),
        ('[text](http://x.io "title")', ['text (http://x.io "title")']),
        ("<http://x.io>", ["http://x.io"]),
        ("<me@x.io>", ["me@x.io"]),
        ("[](http://x.io)", [" (http://x.io)"]),
        ("![alt](a.png)", ["[image: alt] (a.png)"]),
        ("[[name]] [[name|alias]]", ["[[name]] alias (name)"]),
        ("[a][r]\n\n[r]: http://x.io", ["a (http://x.io)", "", "[r]: http://x.io"]),
        ("a <!-- c --> <b>d</b>", ["a <!-- c --> <b>d</b>"]),
        ("<!-- c\n\nd -->\ntext", ["<!-- c", "", "d -->", "", "text"]),
        ("<div>\nx\n</div>", ["<div>", "x", "</div>"]),
        ("&lt;b&gt; &amp;", ["<b> &"]),
        ("```python\nx = 1\n```", [" python", " x = 1"]),
        ("```\na\n\nb\n```", [" a", "", " b"]),
        ("    a\n    b", [" a", " b"]),
        ("---\nkey: value\nn: [1]\n---\n# T", ["key  value", "n    [1]", "─" * 40, "", "T", "━"]),
        ("a\tb", ["a   b"]),
        ("| a | b |\n|---|--:|\n| 1 | 22 |", ["a │  b", "──┼───", "1 │ 22"]),
        ("| a |\n|---|\n| 1 | more |", ["a", "────────", "1 | more"]),
    ],
)
def test_a_feature_looks_like_this(source: str, expected: list[str]) -> None:
    assert text_of(source) == expected


@pytest.mark.parametrize(
    ("source", "word", "style"),
    [
        ("# Top", "Top", "h1"),
        ("**bold**", "bold", "strong"),
        ("*it*", "it", "emphasis"),
        ("~~gone~~", "gone", "strike"),
        ("`code`", "code", "code"),
        ("***both***", "both", "emphasis strong"),
        ("a <b> c", "<b>", "warning"),
        ("<!-- x -->", "<!--", "warning"),
        ("```python\ndef f(): pass\n```", "def", "panel keyword"),
        ("```python\n# note\n```", "# note", "panel comment"),
        ("```diff\n- a\n+ b\n```", "+ b", "panel inserted"),
        ("- [x] a", "[x]", "done"),
        ("| head |\n|---|\n| x |", "head", "table-header"),
    ],
)
def test_a_feature_has_this_role(source: str, word: str, style: str) -> None:
    assert styles_of(source, word) == style


@pytest.mark.parametrize("hidden", ["\x1b", "\x00", "\r", "\u202e", "\u200b", "\U000e0041", "\x85", "\u2028"])
@pytest.mark.parametrize(
    "frame", ["a{}b", "# a{}b", "- a{}b", "`a{}b`", "|a{}b|\n|-|\n|c{}d|", "```\na{}b\n```", "[a{}b](c)"]
)
@pytest.mark.parametrize("mode", ["rendered", "source"])
def test_hidden_characters_are_shown_and_marked(hidden: str, frame: str, mode: str) -> None:
    rows = rows_of(frame.replace("{}", hidden), mode=mode)
    assert all(row.text.isprintable() for row in rows)
    marked = [span.text for row in rows for span in row.spans if "hidden" in span.style]
    assert marked
    assert all(text.startswith(("\\x", "<U+")) for text in marked)


def test_a_hidden_character_spelled_as_an_entity_is_shown() -> None:
    assert text_of("a&#x202e;b") == ["a<U+202E>b"]


PIECES = (
    "alpha beta # ## - * 1. > >> ` `` ``` ~~~ ** __ _ [ ] ( ) ![ ]( <b> </b> <!-- --> | |-|-| --- === : \\ & "
    "&amp; [x] [[ ]] http://x.io \t 100 <script> [r]: ^ $ ~ {} front: gamma delta"
)
WORDS = st.sampled_from([*PIECES.split(" "), "\n", "\n", "\n\n", "\n\n", "    "])


@settings(max_examples=many(300, 60), deadline=None)
@given(st.lists(WORDS, max_size=40), st.integers(8, 60))
def test_no_word_is_ever_lost(words: list[str], width: int) -> None:
    source = " ".join(f"w{index}{word}" if word.isalnum() else word for index, word in enumerate(words))
    source = source.replace(" \n", "\n").replace("\n ", "\n")
    shown = re.sub(r"[^a-z0-9]", "", "".join(row.text for row in rows_of(source, width)))
    for word in re.findall(r"w\d+(?:alpha|beta|gamma|delta)", source):
        assert word in shown


@settings(max_examples=many(200, 40), deadline=None)
@given(st.lists(WORDS, max_size=30), st.integers(8, 60))
def test_source_lines_of_rows_go_up(words: list[str], width: int) -> None:
    source = " ".join(words)
    lines = source.count("\n")
    rows = rows_of(source, width, mode="source")
    assert [row.first for row in rows] == sorted(row.first for row in rows)
    assert all(0 <= row.first <= row.last <= lines for row in rows)


@settings(max_examples=many(200, 40), deadline=None)
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs"]), min_size=1)),
    st.integers(2, 30),
)
def test_wrapped_rows_joined_are_the_text(texts: list[str], width: int) -> None:
    spans = [TextSpan(text, str(index)) for index, text in enumerate(texts)]
    for rows in (wrap_spans(spans, width), chop_spans(spans, width, width)):
        assert "".join(span.text for row in rows for span in row) == "".join(texts)


@pytest.mark.parametrize("width", [10, 17, 40])
def test_wrapped_rows_fit_the_width(width: int) -> None:
    text = "Some words, averyveryverylongwordthatmustbebroken, 漢字漢字漢字漢字漢字漢字 and " + "👨‍👩‍👧" * 9
    for row in text_of(text, width):
        assert cell_len(row) <= width


def test_wide_tables_wrap_inside_their_cells() -> None:
    rows = text_of("| key | text |\n|---|---|\n| k | " + "many words " * 10 + "|", 30)
    assert len(rows) > 5
    assert all(len(row) <= 30 for row in rows)


def test_a_table_with_too_many_columns_becomes_lists() -> None:
    names = [f"name{index}" for index in range(20)]
    source = f"|{'|'.join(names)}|\n|{'-|' * 20}\n|{'|'.join(f'v{index}' for index in range(20))}|\n"
    assert text_of(source, 40)[:2] == ["- name0:  v0", "  name1:  v1"]


def test_code_that_is_too_long_goes_on_behind_a_mark() -> None:
    assert text_of("```\n" + "x" * 30 + "\n```", 20) == [" " + "x" * 18, " » " + "x" * 12]


HOSTILE = {
    "nested quotes": ">" * 50_000 + " end",
    "brackets": "[" * 100_000 + " end",
    "bracket lines": ("[" * 90 + "\n") * 1000 + " end",
    "stars": "*a " * 33_000 + " end",
    "tags": "<" * 100_000 + " end",
    "images": "![" * 20_000 + " end",
    "nested lists": "".join("  " * depth + "- x\n" for depth in range(200)) + "  " * 200 + "- end",
    "table 200x200": "|"
    + "h|" * 200
    + "\n|"
    + "-|" * 200
    + "\n"
    + ("|" + "c|" * 200 + "\n") * 199
    + "|"
    + "end|" * 200,
    "table 3000 columns": "|" + "h|" * 3000 + "\n|" + "-|" * 3000 + "\n|" + "end|" * 3000,
    "line of a megabyte": "w" * 1_000_000 + " end",
    "short lines": "ab\n" * 100_000 + "end",
    "open comment": "<!-- \n" + "text\n\n" * 20_000 + "end",
    "backticks": "".join("`" * (count % 60) + " " for count in range(4000)) + "end",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_note_is_drawn_in_small_pieces_to_its_end(name: str) -> None:
    document = NoteDocument(HOSTILE[name], NoteLayout("markdown", "rendered", 80))
    count = len(document.chunks)
    for index in {*range(0, count, max(1, count // 20)), count - 1}:
        assert len(document.get_rows(index)) < 2500
    assert "end" in "".join(row.text for row in document.get_rows(count - 1))


@pytest.mark.parametrize(
    ("name", "text", "syntax"),
    [
        ("a.md", "x", "markdown"),
        ("notes/status.json", "{}", "json"),
        ("a.yml", "a: 1", "yaml"),
        ("a.TOML", "", "toml"),
        ("a.py", "", "python"),
        ("a.txt", "just words", "text"),
        ("a.txt", "# Title\n\n- a\n- b\n", "markdown"),
        ("progress", '{"a": 1}', "json"),
        ("progress", "[x] done]", "text"),
        ("memory.txt", "<notes>\n<a>1</a>\n</notes>\n", "xml"),
        ("run", "#!/usr/bin/env python3\n", "python"),
        ("a.b/c", "plain", "text"),
        ("x", "", "text"),
    ],
)
def test_the_format_is_told_by_name_and_text(name: str, text: str, syntax: str) -> None:
    assert detect_syntax(name, text) == syntax


@pytest.mark.parametrize("syntax", ["json", "xml", "yaml", "toml", "python", "text", "nonsense"])
def test_every_format_shows_all_of_the_text(syntax: str) -> None:
    source = '{"a": [1, "x"]}\n\n<a b="c">d</a>\nkey: value # c\n"""open\n'
    for mode in ("rendered", "source"):
        assert [row.text for row in rows_of(source, 80, syntax, mode)] == source.split("\n")[:-1]
