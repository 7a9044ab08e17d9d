"""Front matter as people and agents write it by hand, and as somebody writes it who means harm."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.notes import front_matter
from memtui.notes.front_matter import parse_front_matter, read_properties
from tests.bench.limits import at_most

_WRITTEN = [
    "name: a",
    "name: 'it''s'\nother: \"a \\\"b\\\" \\u00e9\\n\"",
    "tags: [a, 'b c', \"d\", 3]",
    "tags:\n  - a\n  - b c\n",
    "tags:\n- a\n- b\n",
    "metadata:\n  node_type: memory\n  type: feedback\n  originSessionId: 0b1c-2\nname: x",
    "a: true\nb: false\nc: null\nd: ~\ne:\nf: 12\ng: -3\nh: 1.5\ni: 007a",
    "text: |\n  one\n   two\n\n  three\nnext: 1",
    "text: >\n  one\n  two\n\n  three\nnext: 1",
    "text: |-\n  one\nnext: 1",
    "description: a long one\n  that goes on\n  below\nnext: 1",
    "a: b # a comment\n# another\nc: 'd # no comment'\ne: f#g",
    "people:\n  - name: Ada\n    role: lead\n  - name: Bob\n",
    "deep:\n  er:\n    still: [1, {a: b}]\n",
    "empty: []\nnothing: {}\nflow: {a: 1, b: [x, y]}",
    "url: https://example.org/a#b",
    "time of day: noon",
    "- a\n",
]


@pytest.mark.parametrize("written", _WRITTEN[:-1])
def test_it_reads_what_a_reader_of_yaml_reads(written: str) -> None:
    yaml = pytest.importorskip("yaml")
    matter = parse_front_matter(f"---\n{written}\n---\nText\n")
    assert (matter.properties, matter.problem) == (yaml.safe_load(written), "")


def test_values_of_metadata_stand_at_the_top_as_well() -> None:
    text = "---\nname: a b\ntags: [x, 'y z']\nmetadata:\n  type: user\n---\nText"
    assert read_properties(text) == {"name": "a b", "tags": ["x", "y z"], "metadata": {"type": "user"}, "type": "user"}


def test_both_generations_of_claude_code_say_their_type() -> None:
    assert read_properties("---\nname: a\ntype: user\n---\n")["type"] == "user"
    assert (
        read_properties("---\nname: a\nmetadata:\n  node_type: memory\n  type: feedback\n---\n")["type"] == "feedback"
    )


def test_it_says_where_the_note_itself_begins() -> None:
    text = "---\na: 1\n---\n# Title\n"
    matter = parse_front_matter(text)
    assert (text[matter.end :], matter.lines) == ("# Title\n", 3)
    assert parse_front_matter(text.replace("\n", "\r\n")).properties == {"a": 1}
    assert parse_front_matter("\ufeff" + text).properties == {"a": 1}


@pytest.mark.parametrize(
    "text", ["", "---", "---\n", "# Title\n---\na: 1\n---\n", "----\na: 1\n----\n", "---\nno end\n"]
)
def test_a_rule_is_no_front_matter(text: str) -> None:
    assert parse_front_matter(text) == parse_front_matter("")


@pytest.mark.parametrize(
    ("written", "line", "rest"),
    [
        ("good: 1\njust words\nfine: 2", 3, {"good": 1, "fine": 2}),
        ("a: 'not closed\nfine: 2", 2, {"fine": 2}),
        ("a: [1, 2\nfine: 2", 2, {"fine": 2}),
        ("a: b: c\nfine: 2", 2, {"fine": 2}),
        ("- a\nfine: 2", 2, {"fine": 2}),
    ],
)
def test_what_cannot_be_read_is_told_and_the_rest_is_there(written: str, line: int, rest: dict[str, object]) -> None:
    matter = parse_front_matter(f"---\n{written}\n---\n")
    assert matter.problem.startswith(f"Line {line}, in the front matter: ")
    assert matter.properties == rest


def test_values_that_begin_with_a_character_of_yaml_are_text_and_nothing_expands() -> None:
    written = "globs: *.py, *.js\nowner: @ada\nanchor: &x [1]\nlist:\n  - *x\nwhen: 2024-05-06\nold: yes"
    matter = parse_front_matter(f"---\n{written}\n---\n")
    text = {"globs": "*.py, *.js", "owner": "@ada", "anchor": "&x [1]", "list": ["*x"]}
    assert (matter.properties, matter.problem) == ({**text, "when": "2024-05-06", "old": "yes"}, "")


def test_a_description_is_text_to_the_end_of_its_line_and_no_other_value_is() -> None:
    matter = parse_front_matter("---\nname: tides\ndescription: When to sail: two hours before the 'top'\n---\n")
    assert (matter.properties["description"], matter.problem) == ("When to sail: two hours before the 'top'", "")
    quoted = parse_front_matter('---\nname: tides\ndescription: "neap" is when it is low\n---\n')
    assert (quoted.properties["description"], quoted.problem) == ('"neap" is when it is low', "")
    assert parse_front_matter("---\nsummary: When to sail: at noon\n---\n").problem


def test_aliases_within_a_value_are_refused() -> None:
    lines = ["a: &a [x, x]", *(f"{name}: [&{name} [1], *a, *a]" for name in "bcdefgh"), "good: 1"]
    matter = parse_front_matter("---\n" + "\n".join(lines) + "\n---\n")
    assert matter.problem.startswith("Line 3, in the front matter: anchors, aliases and tags are not read")
    assert matter.properties == {"a": "&a [x, x]", "good": 1}


@pytest.mark.parametrize(
    "written",
    [
        "a: " + "[" * 5_000,
        "a: " + "{a: " * 3_000,
        "\n".join(" " * depth + "a:" for depth in range(120)),
        "a: [\n" + "  x,\n" * 3_000,
        "a: '" + "\n  x" * 3_000,
        "a" + " " * 15_000,
        "a: " + '"' * 15_000,
        "a: &x [*x, *x]\nb: !!python/object/apply:os.system [echo]",
        "\x00\x01: \x02",
        "a: |\n" + "  x\n" * 3_000,
        "- " * 5_000,
        "a: 1" + "0" * 15_000,
    ],
)
def test_front_matter_that_means_harm_is_read_in_no_time_and_builds_nothing(written: str) -> None:
    with at_most(1):
        found = parse_front_matter(f"---\n{written}\n---\n")
    assert all(isinstance(value, str | int | float | list | dict | None) for value in found.properties.values())


_PLAIN = (
    *("a: b", "b: c d", "a:", "name: x", "tags:", "- x", "  - y z", "  k: v", "  k: 1", "n: 12", "d: 2026-06-10"),
    *("t: true", "f: 1.5", "u: a:b", "v: it's", "w: a, b", "x: (y)", "e: null", "q: no", "  - 3", "  k2: yes"),
    *("o: 0x1F", "p: 12:30", "s: 1_000", "m: 1e3", "g: a*b", "h: x!", "i: a=b", "j: a: b", "l: a #b", "r: a:"),
)


@given(st.lists(st.sampled_from(_PLAIN), min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_plain_lines_read_as_the_parser_reads_them(lines: list[str]) -> None:
    text = "---\n" + "\n".join(lines) + "\n---\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front_matter, "_read_plain_lines", lambda _: None)
        parsed = parse_front_matter(text)
    assert repr(parse_front_matter(text)) == repr(parsed)
