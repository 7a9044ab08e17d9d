"""Values that are added to a list of the front matter: in its form, and only where nothing else changes."""

import pytest

from memtui.notes.front_matter_edit import add_to_list


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("---\ntags: [a, b]\n---\nx\n", "---\ntags: [a, b, c]\n---\nx\n"),
        ("---\ntags: []\n---\n", "---\ntags: [c]\n---\n"),
        ("---\ntags:\n- a\ntitle: x\n---\n", "---\ntags:\n- a\n- c\ntitle: x\n---\n"),
        ("---\ntags:\n  - a\n---\n", "---\ntags:\n  - a\n  - c\n---\n"),
        ("---\ntags: a\n---\n", "---\ntags: [a, c]\n---\n"),
        ("---\ntags:\n---\n", "---\ntags:\n- c\n---\n"),
        ("---\ntitle: x\n---\nbody\n", "---\ntitle: x\ntags:\n- c\n---\nbody\n"),
        ("---\r\ntitle: x\r\n---\r\nbody\r\n", "---\r\ntitle: x\r\ntags:\r\n- c\r\n---\r\nbody\r\n"),
        ("body\n", "---\ntags:\n- c\n---\nbody\n"),
        ("\ufeffbody\r\n", "\ufeff---\r\ntags:\r\n- c\r\n---\r\nbody\r\n"),
        ("---\ntags: [c]\n---\n", "---\ntags: [c]\n---\n"),
    ],
)
def test_a_value_is_added_in_the_form_of_the_list(before: str, after: str) -> None:
    assert add_to_list(before, "tags", ["c", "c"]) == after


@pytest.mark.parametrize(
    "entry", ["tags: a, b", "tags: a b", "tags: {a: 1}", "tags: 'a", "tags: [a,\n  b]", "tags: >\n  a"]
)
def test_what_is_written_otherwise_stays_as_it_is(entry: str) -> None:
    text = f"---\n{entry}\ntitle: x\n---\nbody\n"
    assert add_to_list(text, "tags", ["c"]) == text


def test_a_value_that_yaml_would_misread_is_quoted() -> None:
    assert add_to_list("x\n", "tags", ["a: b", "true", "7"]) == '---\ntags:\n- "a: b"\n- "true"\n- "7"\n---\nx\n'
