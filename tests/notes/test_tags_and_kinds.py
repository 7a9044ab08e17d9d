"""Tags, and what kind of note one is."""

import pytest

from memtui.notes.kinds import format_of, type_of, types_of
from memtui.notes.tags import tags_of


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
    assert tags_of(text) == tags


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
    assert (type_of(path, text), set(types_of(path, text))) == (first, every)


def test_formats_go_by_the_extension() -> None:
    assert [format_of(path) for path in ("a.markdown", "a.log", "a.tar.gz", "x/.env")] == ["md", "txt", "gz", "txt"]
