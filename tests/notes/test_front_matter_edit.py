"""One property is written into front matter, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.notes.front_matter import parse_front_matter
from memtui.notes.front_matter_edit import add_to_list, set_property


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Words.\n", "---\ntype: person\n---\n\nWords.\n"),
        ("", "---\ntype: person\n---\n\n"),
        ("\ufeff\r\nWords.\r\n", "\ufeff---\r\ntype: person\r\n---\r\n\r\nWords.\r\n"),
        ("---\nname: a\n---\nWords.\n", "---\nname: a\ntype: person\n---\nWords.\n"),
        ("---\r\nname: a\r\n---\r\nWords.", "---\r\nname: a\r\ntype: person\r\n---\r\nWords."),
        ("---\nname: a\n---", "---\nname: a\ntype: person\n---"),
        ("---\nname: a\n...\nWords.\n", "---\nname: a\ntype: person\n...\nWords.\n"),
        (
            "---\nname: a\nmetadata:\n  node_type: memory\n  modified: x\nb: 1\n---\n",
            "---\nname: a\nmetadata:\n  node_type: memory\n  type: person\n  modified: x\nb: 1\n---\n",
        ),
        ("---\nmetadata:\n  a: b\n---\n", "---\nmetadata:\n  a: b\ntype: person\n---\n"),
        ("---\n---\nWords.\n", "---\ntype: person\n---\nWords.\n"),
    ],
)
def test_a_property_is_one_more_line(before: str, after: str) -> None:
    assert set_property(before, "type", "person") == after


@pytest.mark.parametrize(
    "text",
    [
        "---\ntype: project\n---\n",
        "---\ntype:\n---\n",
        "---\nmetadata:\n  node_type: memory\n  type: x\n---\n",
        "---\nmetadata: {node_type: memory}\n---\n",
        "---\nNever closed.\n",
        "---\na: [1\n---\nWords.\n",
        "---\na: |\n  b\n c\n---\nWords.\n",
    ],
)
def test_what_cannot_be_written_is_left(text: str) -> None:
    assert set_property(text, "type", "person") is None


@pytest.mark.parametrize("word", ["yes", "null", "12", "a: b", '"', "\\", "\x1b[31m", "x\ny", "- a", "#a", "[a]"])
def test_a_hostile_word_stays_one_value(word: str) -> None:
    edited = set_property("---\nname: a\n---\nWords.\n", "type", word)
    if edited is not None:
        assert "\x1b" not in edited
        assert parse_front_matter(edited).properties == {"name": "a", "type": word}
        assert edited.endswith("---\nWords.\n")


@given(st.text(alphabet="ab:-#[]{}\"'\n \t,|>&*%", max_size=60), st.sampled_from(["", "tags: [a]\n", "tags:\n- a\n"]))
def test_nothing_else_is_ever_changed(body: str, tags: str) -> None:
    text = f"---\n{tags}{body}\n---\nWords.\n"
    before = dict(parse_front_matter(text).properties)
    for edited, name in ((set_property(text, "type", "x"), "type"), (add_to_list(text, "tags", ["tea"]), "tags")):
        if edited not in (None, text):
            after = dict(parse_front_matter(edited).properties)
            after.pop(name)
            assert after == {key: value for key, value in before.items() if key != name}
