"""What leads to a note and what it leads to, direction by direction, and the filter that a person types."""

import pytest

from memtui.knowledge.analysis import Filter
from memtui.knowledge.graph import LINK_KINDS, Graph
from memtui.knowledge.neighbours import (
    collect_links_in,
    collect_links_out,
    find_dangling_from,
    find_link_text,
    parse_filter,
)
from tests.knowledge.graphs import make_graph

NOTES = {
    "a.md": "[[b]] and [[c]], and [[b]] again, and [[nobody]], and [[nobody]]\n",
    "b.md": "---\ntype: person\ntags: [team]\n---\n- part_of [[c]]\n",
    "c.md": "[[a]]\n",
    "far/d.md": "[[a]] ![p](p.png)\n",
    "far/e.md": "[d](d.md)\n",
}


def _list(graph: Graph, id: str, depth: int = 1, wanted: Filter | None = None) -> tuple[list[str], list[str]]:
    found = collect_links_in(graph, id, depth, wanted), collect_links_out(graph, id, depth, wanted)
    leading_in, leading_out = ([f"{each.distance} {each.path}" for each in some] for some in found)
    return leading_in, leading_out


def test_each_direction_is_followed_by_itself_and_each_note_is_met_once() -> None:
    graph = make_graph(NOTES)
    assert _list(graph, "a.md") == (["1 c.md", "1 far/d.md"], ["1 b.md", "1 c.md", "1 b.md"])
    leading_in, leading_out = _list(graph, "a.md", 2)
    assert leading_in == ["1 c.md", "1 far/d.md", "2 b.md", "2 far/e.md"]
    assert leading_out == ["1 b.md", "1 c.md", "1 b.md"]  # from there it only goes back
    assert _list(graph, "a.md", 9) == _list(graph, "a.md", 3)


def test_types_tags_kinds_and_folders_narrow_it() -> None:
    graph = make_graph(NOTES)
    assert _list(graph, "a.md", 1, Filter(folder="far")) == (["1 far/d.md"], [])
    assert _list(graph, "a.md", 1, Filter(types=frozenset({"person"}))) == ([], ["1 b.md", "1 b.md"])
    assert _list(graph, "c.md", 1, Filter(kinds=frozenset({"relation"}))) == (["1 b.md"], [])
    assert _list(graph, "b.md", 1, Filter(kinds=frozenset({"tag"}))) == ([], ["1 #team"])
    assert _list(graph, "#team", 1, Filter(kinds=frozenset({"tag"}))) == (["1 b.md"], [])


def test_a_dangling_name_is_listed_once_and_a_picture_never() -> None:
    graph = make_graph(NOTES)
    assert [edge.wanted for edge in find_dangling_from(graph, "a.md")] == ["nobody"]
    assert find_dangling_from(graph, "far/d.md") == []


@pytest.mark.parametrize(
    ("words", "target", "expected"),
    [
        ("Green Tea", "drinks/green-tea.md", "[[Green Tea]]"),
        ("twice", "a/twice.md", "[[a/twice|twice]]"),
        ("Leaf water", "tea.md", "[[tea|Leaf water]]"),
    ],
)
def test_a_link_means_the_note_and_shows_the_words_as_they_are(words: str, target: str, expected: str) -> None:
    texts = {"drinks/green-tea.md": "# Green Tea\n", "a/twice.md": "", "b/twice.md": "", "tea.md": "", "from.md": ""}
    graph = make_graph(texts)
    written = find_link_text(graph, words, target, "from.md")
    assert written == expected
    again = make_graph({**texts, "from.md": f"{written}\n"})
    assert [edge.targets for edge in again.get_edges("from.md")] == [(target,)]


def test_what_is_typed_is_a_filter_and_words() -> None:
    typed = parse_filter("Tea type:Person tag:#a tag:b kind:wiki kind:tag folder:/x/y/ Cup")
    assert typed.wanted == Filter(frozenset({"wiki", "tag"}), frozenset({"person"}), frozenset({"a", "b"}), "x/y")
    assert (typed.words, typed.problem, typed.is_empty) == (("tea", "cup"), "", False)
    assert parse_filter("").is_empty
    assert parse_filter("type:").is_empty  # just being typed
    assert parse_filter("http://x").words == ("http://x",)
    wrong = parse_filter("kind:wikki")
    assert wrong.wanted.kinds == frozenset(LINK_KINDS)
    assert wrong.problem.startswith("No kind of link is called wikki. Kinds: entry, import")
