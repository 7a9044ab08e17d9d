"""Questions about a whole graph."""

import pytest

from memtui.knowledge.analysis import (
    Filter,
    find_ambiguous,
    find_cycles,
    find_dangling,
    find_hubs,
    find_islands,
    find_neighbourhood,
    find_reach,
)
from tests.bench.limits import at_most
from tests.knowledge.graphs import make_graph


def _loads(path: str) -> bool:
    return path == "MEMORY.md"


def test_what_is_reached_from_what_loads() -> None:
    graph = make_graph(
        {
            "MEMORY.md": "- [a](a.md)\n- see `c.md`\n- [all](d/)\n",
            "a.md": "[[b]]",
            "b.md": "[[a]]",
            "c.md": "",
            "d/e.md": "",
            "f.md": "[[g]]",
            "g.md": "[[f]] [[a]]",
        }
    )
    reach = find_reach(graph, _loads, lambda _: "- [a](a.md)\n- see `c.md`\n- [all](d/)\n")
    assert reach.roots == ("MEMORY.md",)
    assert reach.orphans == ("f.md", "g.md")


def test_where_nothing_loads_a_readme_is_begun_with() -> None:
    graph = make_graph({"README.md": "[[a]]", "a.md": "", "b.md": "[[a]]"})
    assert find_reach(graph, _loads).orphans == ("b.md",)


def test_without_a_beginning_an_orphan_is_what_nothing_links_to() -> None:
    reach = find_reach(make_graph({"a.md": "[[b]]", "b.md": "[[b]]", "c.md": "[[c]]"}), _loads)
    assert (reach.roots, reach.orphans) == ((), ("a.md", "c.md"))


def test_links_that_lead_nowhere_or_to_several() -> None:
    graph = make_graph(
        {"a.md": "[[no]] [x](gone.md) [y](src/code.py) @src/x.py [[t]] [z](../up.md)", "b/t.md": "", "c/t.md": ""}
    )
    assert [edge.wanted for edge in find_dangling(graph)] == ["no", "gone.md"]
    assert [edge.wanted for edge in find_ambiguous(graph)] == ["t"]


def test_hubs_islands_and_cycles() -> None:
    graph = make_graph(
        {"a.md": "[[h]] [[b]]", "b.md": "[[h]] [[c]]", "c.md": "[[a]]", "h.md": "", "x.md": "[[y]]", "y.md": "[[x]]",
         "z.md": "[[z]]"}
    )  # fmt: skip
    assert find_hubs(graph, limit=1) == [("h.md", 2)]
    assert find_islands(graph) == [("a.md", "b.md", "c.md", "h.md"), ("x.md", "y.md"), ("z.md",)]
    assert find_cycles(graph) == [("x.md", "y.md"), ("a.md", "b.md", "c.md")]
    assert find_cycles(graph, ("import",)) == []


def test_a_neighbourhood_goes_as_far_as_it_is_asked() -> None:
    graph = make_graph({"a.md": "[[b]]", "b.md": "[[c]]", "c.md": "[[d]]", "d.md": "", "z.md": "[[a]]"})
    near = find_neighbourhood(graph, ["b.md"])
    assert near.distances == {"b.md": 0, "c.md": 1, "a.md": 1}
    assert [(edge.source, edge.targets) for edge in near.edges] == [("b.md", ("c.md",)), ("a.md", ("b.md",))]
    assert set(find_neighbourhood(graph, ["b.md"], 2).distances) == {"a.md", "b.md", "c.md", "d.md", "z.md"}
    cut = find_neighbourhood(graph, ["b.md"], 2, limit=1)
    assert (len(cut.distances), cut.is_cut) == (2, True)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(types=frozenset({"person"})), {"p/b.md"}),
        (Filter(tags=frozenset({"t"})), {"c.md"}),
        (Filter(folder="p"), {"p/b.md"}),
        (Filter(kinds=frozenset({"relation"})), {"c.md"}),
        (Filter(kinds=frozenset({"tag"})), {"#t", "#u"}),
        (Filter(), {"p/b.md", "c.md"}),
    ],
)
def test_a_neighbourhood_is_filtered(wanted: Filter, found: set[str]) -> None:
    graph = make_graph({"a.md": "[[b]] #t #u\n\n- uses [[c]]", "p/b.md": "---\ntype: person\n---\n", "c.md": "#t"})
    assert set(find_neighbourhood(graph, ["a.md"], 1, wanted).distances) == {"a.md"} | found


@pytest.mark.limit
def test_a_chain_and_a_ring_of_many_notes_are_walked_in_time() -> None:
    count = 20_000
    graph = make_graph({f"n{number}.md": f"[[n{(number + 1) % count}]]" for number in range(count)})
    with at_most(8.0):
        assert len(find_cycles(graph)[0]) == count
        assert len(find_islands(graph)) == 1
        assert find_reach(graph, "n0.md".__eq__).orphans == ()
        assert len(find_neighbourhood(graph, ["n0.md"], 3).distances) == 7
