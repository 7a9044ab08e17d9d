"""Names of notes in plain text."""

import pytest

from memtui.knowledge.mentions import MentionFinder, find_mentions
from memtui.knowledge.parse import parse_note
from tests.bench.limits import at_most

_NOTES = [
    parse_note("---\ntitle: Blue Green Deploy\naliases: [BGD rollout]\n---\n", "deploy-guide.md"),
    parse_note("# Staging", "staging.md"),
    parse_note("", "db.md"),
    parse_note("# Blue", "blue.md"),
    parse_note("", "2026.md"),
]


def _find(text: str, path: str = "x.md") -> list[tuple[str, tuple[str, ...], int, tuple[int, int]]]:
    return [(each.words, each.targets, each.line, each.span) for each in MentionFinder(_NOTES).find(text, path)]


@pytest.mark.parametrize(
    ("text", "words", "target", "line", "span"),
    [
        ("See the staging host.", "staging", "staging.md", 1, (8, 15)),
        ("a\nthe deploy guide", "deploy guide", "deploy-guide.md", 2, (4, 16)),
        ("DEPLOY_GUIDE", "DEPLOY_GUIDE", "deploy-guide.md", 1, (0, 12)),
        ("a blue-green deploy", "blue-green deploy", "deploy-guide.md", 1, (2, 19)),
        ("my bgd\nrollout now", "bgd\nrollout", "deploy-guide.md", 1, (3, 6)),
        ("blue green", "blue", "blue.md", 1, (0, 4)),
    ],
)
def test_a_name_is_found(text: str, words: str, target: str, line: int, span: tuple[int, int]) -> None:
    assert _find(text) == [(words, (target,), line, span)]


@pytest.mark.parametrize(
    "text",
    [
        "[[staging]]", "[staging](a.md)", "`staging`", "```\nstaging\n```", "---\na: staging\n---\n", "stagings", "db",
        "2026", "https://x.y/staging", "blu", "deploy, guide", "deploy [[x]] guide",
    ],
)  # fmt: skip
def test_what_is_no_mention(text: str) -> None:
    assert _find(text) == []


def test_a_note_does_not_mention_itself() -> None:
    assert _find("staging", "staging.md") == []


def test_a_name_of_two_notes_is_both() -> None:
    notes = [parse_note("# Alpha", "a.md"), parse_note("# alpha", "b.md")]
    assert [each.targets for each in MentionFinder(notes).find("alpha", "c.md")] == [("a.md", "b.md")]


def test_what_is_linked_anyway_is_left_out() -> None:
    texts = [("a.md", "staging"), ("b.md", "staging"), ("c.md", "nothing")]
    found = find_mentions(_NOTES[1:2], texts, {"a.md": ["staging.md"]})
    assert [each.source for each in found] == ["b.md"]


@pytest.mark.limit
def test_many_names_that_begin_alike_are_looked_for_in_time() -> None:
    notes = [parse_note("", f"project a {number}.md") for number in range(10_000)]
    finder = MentionFinder(notes)
    with at_most(3.0):
        assert len(finder.find("project a b " * 20_000 + "project a 77", "x.md")) == 1


@pytest.mark.parametrize("more", [0, 100])
def test_a_text_without_the_first_word_of_a_name_is_not_looked_at(more: int) -> None:
    finder = MentionFinder([*_NOTES, *(parse_note("", f"other{number}x.md") for number in range(more))])
    for text in ("the STAGING host", "DEPLOY_GUIDE", "blue-green", "my bgd\nrollout"):
        assert finder.may_mention(text)
        assert finder.find(text, "x.md")
    assert not finder.may_mention("Nothing of it, in no way.")
