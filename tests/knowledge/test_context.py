"""What an address names, and what is related to it."""

import pytest

from memtui.knowledge.context import build_context, find_addressed
from tests.bench.limits import at_most
from tests.knowledge.graphs import make_graph

_GRAPH = make_graph(
    {
        "specs/Search Design.md": "- [fact] fast\n- part_of [[index]]",
        "specs/other.md": "---\npermalink: my/own\n---\n[[specs/Search Design]]",
        "index.md": "",
        "far.md": "[[other]]",
        "p.png": "",
    }
)


@pytest.mark.parametrize(
    ("address", "paths"),
    [
        ("memory://specs/search-design", ["specs/Search Design.md"]),
        ("specs/Search Design.md", ["specs/Search Design.md"]),
        ("memory://Search Design", ["specs/Search Design.md"]),
        ("memory://my/own", ["specs/other.md"]),
        ("memory://specs/*", ["specs/Search Design.md", "specs/other.md"]),
        ("memory://my/*", ["specs/other.md"]),
        ("memory://*", ["far.md", "index.md", "specs/Search Design.md", "specs/other.md"]),
        ("memory://[a]*", []),
        ("p.png", []),
        ("memory://nothing", []),
        ("", []),
    ],
)
def test_an_address(address: str, paths: list[str]) -> None:
    assert find_addressed(_GRAPH, address) == paths


def test_what_is_related_is_near_and_by_which_edges() -> None:
    found = build_context(_GRAPH, "memory://specs/search-design", depth=2)
    assert [note.path for note in found.notes] == ["specs/Search Design.md"]
    assert [(each.note.path, each.distance) for each in found.related] == [
        ("index.md", 1), ("specs/other.md", 1), ("far.md", 2),
    ]  # fmt: skip
    assert [(edge.source, edge.relation) for edge in found.related[0].edges] == [("specs/Search Design.md", "part_of")]
    assert [edge.source for edge in found.related[2].edges] == ["far.md"]


def test_only_so_many_and_only_what_changed() -> None:
    times = {"specs/other.md": 5, "index.md": 9, "specs/Search Design.md": 1}
    found = build_context(_GRAPH, "memory://specs/search-design", limit=1, changed_us=times)
    assert ([each.note.path for each in found.related], found.left_out) == (["index.md"], 1)
    found = build_context(_GRAPH, "memory://specs/search-design", since_us=6, changed_us=times)
    assert ([note.path for note in found.notes], [each.note.path for each in found.related]) == (
        ["specs/Search Design.md"], ["index.md"],
    )  # fmt: skip
    assert [note.path for note in build_context(_GRAPH, "memory://specs/*", since_us=5, changed_us=times).notes] == [
        "specs/other.md"
    ]


@pytest.mark.limit
def test_a_pattern_of_nothing_but_stars_is_matched_in_time() -> None:
    graph = make_graph({f"{'a' * 200}{number}.md": "" for number in range(200)})
    with at_most(3.0):
        assert find_addressed(graph, "memory://" + "*a" * 500 + "b") == []
