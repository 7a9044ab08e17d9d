"""Tags, and what kind of note one is."""

import pytest

from memtui.notes.formats import detect_format, get_note_type, get_note_types
from memtui.notes.links import find_tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("---\ntags: [a, 'b c', 2026]\n---\n", {"a", "b c", "2026"}),
        ("---\ntags: a, b\n---\n", {"a", "b"}),
        ("---\ntag: '#a'\n---\n", {"a"}),
        ("---\nmetadata:\n  tags:\n    - deep\n---\n", {"deep"}),
        (
            "An #idea, and (#another/one) #Grün #日本 #2026 #2026-plan.",
            {"idea", "another/one", "Grün", "日本", "2026-plan"},
        ),
        ("# Title\n## Two\nissue#12 a.b/#c https://x.y/#z &#35; \\#no", set()),
        ("`#code` ``a `#b` c``\n```py\n#include\n```\n~~~\n#x\n~~~\n#yes", {"yes"}),
        ("```\n#unclosed\n#still", set()),
        ("---\ntags: null\n---\n# t\n", set()),
    ],
)
def test_tags_are_those_of_the_front_matter_and_of_the_text_outside_code(text: str, tags: set[str]) -> None:
    assert find_tags(text) == tags


@pytest.mark.parametrize(
    ("path", "text", "first", "every"),
    [
        ("a/status.json", '{"type": "x"}', "json", {"json"}),
        ("note.md", "---\ntype: Feedback\n---\n", "feedback", {"md", "markdown", "feedback"}),
        ("note.md", "---\nmetadata: {type: user}\n---\n", "user", {"md", "markdown", "user"}),
        ("todo.xml", "<a/>", "xml", {"xml"}),
        ("scratch", "words", "txt", {"txt", "text"}),
        (".hidden", "words", "txt", {"txt", "text"}),
        ("a.b/c.YML", "type: x", "yaml", {"yaml", "yml"}),
        ("note.md", "---\ntype: [a]\n---\n", "md", {"md", "markdown"}),
    ],
)
def test_a_note_is_of_its_format_and_of_what_it_says_it_is(path: str, text: str, first: str, every: set[str]) -> None:
    assert (get_note_type(path, text), set(get_note_types(path, text))) == (first, every)


def test_formats_go_by_the_extension() -> None:
    assert [detect_format(path) for path in ("a.markdown", "a.log", "a.tar.gz", "x/.env")] == ["md", "txt", "gz", "txt"]
