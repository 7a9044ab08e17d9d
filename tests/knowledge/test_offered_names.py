"""What is offered for a link that is being typed."""

import pytest

from memtui.knowledge.completion import Completion, LinkRequest, complete_link, find_link_request
from tests.knowledge.graphs import make_graph

NOTES = {
    "start.md": "# Start\n## Later\n",
    "drinks/green-tea.md": "---\ntitle: Green Tea\n---\n## Steeping\n# Water | cold\n",
    "a/twice.md": "",
    "b/twice.md": "",
    "a (b).md": "",
    "p.png": "",
}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("see [[", LinkRequest("wiki", "", 6)),
        ("[[a]] [[Gre", LinkRequest("wiki", "Gre", 8)),
        ("[[tea#St", LinkRequest("heading", "St", 6, "tea")),
        ("[[#La", LinkRequest("heading", "La", 3)),
        ("see [tea](dri", LinkRequest("path", "dri", 10)),
        ("see [tea](<a b", LinkRequest("path", "a b", 10)),
        ("[[a]]", None),
        ("[[a|label", None),
        ("[tea](https://x", None),
        ("[tea](a.md)", None),
        ("- [ ] task", None),
    ],
)
def test_which_link_is_being_typed(before: str, expected: LinkRequest | None) -> None:
    assert find_link_request(before) == expected


def _complete(before: str, source: str = "start.md") -> list[str]:
    request = find_link_request(before)
    assert request is not None
    return [each.text for each in complete_link(make_graph(NOTES), request, source)]


def test_names_and_titles_are_offered_and_what_begins_so_comes_first() -> None:
    assert _complete("[[gre") == ["Green Tea", "green-tea"]
    assert _complete("[[tea") == ["Green Tea", "green-tea"]
    assert "Start" not in _complete("[[")


def test_a_name_of_several_notes_is_offered_with_its_path() -> None:
    assert _complete("[[twi") == ["a/twice", "b/twice"]


def test_headings_of_the_named_note_or_of_this_one_are_offered() -> None:
    assert _complete("[[Green Tea#") == ["Steeping"]
    assert _complete("[[#") == ["Later", "Start"]
    assert _complete("[[nothing#") == []


def test_paths_are_relative_to_the_note_and_angled_where_they_must_be() -> None:
    assert _complete("[x](gre", "drinks/other.md") == ["green-tea.md"]
    assert _complete("[x](p.p", "drinks/other.md") == ["../p.png"]
    assert _complete("[x](<a ")[0] == "<a (b).md>"


def test_every_offered_name_leads_to_its_note() -> None:
    graph = make_graph(NOTES)
    offered = complete_link(graph, LinkRequest("wiki", "", 2), "start.md")
    assert len(offered) >= 5
    again = make_graph({**NOTES, "start.md": "".join(f"[[{each.text}]]\n" for each in offered)})
    assert [edge.targets for edge in again.get_edges("start.md")] == [(each.label,) for each in offered]


def test_no_more_are_offered_than_are_asked_for() -> None:
    graph = make_graph({f"n{number}.md": "" for number in range(300)})
    assert len(complete_link(graph, LinkRequest("wiki", "n", 2), "x.md", limit=20)) == 20
    assert Completion("n0", "n0.md") in complete_link(graph, LinkRequest("wiki", "n", 2), "x.md", limit=20)
