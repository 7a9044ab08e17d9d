"""Which links a change of a note added and removed, as history, the past and the review say it."""

import pytest

from memtui.knowledge.past import describe_link_changes


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", ""),
        ("[[tea]] one\n", "[[tea]] two\n", ""),
        ("[[tea]]\n", "x\n\n[[tea]]\n", ""),
        ("", "[[tea]] and [milk](milk.md)\n", "Links added: tea, milk.md."),
        ("[[tea]]\n", "", "Links removed: tea."),
        ("- part_of [[tea]]\n", "- follows [[tea]]\n", "Links added: follows tea. Links removed: part_of tea."),
        ("[[tea]]\n", "`[[tea]]`\n", "Links removed: tea."),
        ("", "".join(f"[[n{number}]]\n" for number in range(1_206)),
         "Links added: n0, n1, n2, n3, n4, n5 and 1,200 more."),
        ("\ud800 \udc80", "[[a\ud800b]]\n", "Links added: a<U+D800>b."),
    ],
)  # fmt: skip
def test_links_that_came_and_went_are_named(old: str, new: str, words: str) -> None:
    assert describe_link_changes(old, new, "a.md") == words


def test_only_notes_have_links_and_only_as_long_as_a_person_waits() -> None:
    assert describe_link_changes("", "[[tea]]\n", "a.json") == ""
    assert describe_link_changes("", "[[tea]]\n" * 100_000, "a.md") == ""
