"""The groups of a folder's graph, and its observations as a table."""

import pytest

from memtui.knowledge.observations import (
    SortKey,
    collect_observations,
    parse_observation_filter,
    sort_observations,
)
from memtui.knowledge.summary import summarize_graph
from tests.knowledge.graphs import make_graph

NOTES = {
    "MEMORY.md": "- [a](a.md)\n",
    "a.md": "[[b]] [[nobody]] [[nobody]] [[twice]]\n",
    "b.md": "[[a]]\n",
    "alone.md": "[[Elsewhere]]\n",
    "x/twice.md": "",
    "y/twice.md": "",
}


def test_every_group_has_what_belongs_in_it() -> None:
    found = summarize_graph(make_graph(NOTES), lambda path: path == "MEMORY.md")
    assert (found.notes, found.links, found.roots) == (6, 7, ("MEMORY.md",))
    assert found.orphans == ("alone.md",)
    assert found.hubs[0] == ("a.md", 2)
    assert [(edge.wanted, edge.source) for edge in found.dangling] == [("Elsewhere", "alone.md"), ("nobody", "a.md")]
    assert [edge.wanted for edge in found.ambiguous] == ["twice"]
    assert found.cycles == [("a.md", "b.md")]
    assert [len(each) for each in found.islands] == [5]


STATED = {
    "b.md": "---\ntitle: Billing\n---\n- [risk] Late #money\n- [decision] @2026-06 Monday (by Ana)\n- only a #tag\n",
    "a.md": "- [Decision] Tea #drink\n",
}


def _list(text: str, by: SortKey = "note", path: str | None = None) -> list[str]:
    wanted = parse_observation_filter(text)
    found = collect_observations(make_graph(STATED), path)
    shown = sort_observations((each for each in found if wanted.accepts(each)), by)
    return [each.observation.content.split()[0] for each in shown]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["Tea", "Late", "Monday"]),
        ("category:decision", ["Tea", "Monday"]),
        ("tag:#Money tag:drink", ["Tea", "Late"]),
        ("note:billing", ["Late", "Monday"]),
        ("note:a.md", ["Tea"]),
        ("ana", ["Monday"]),
        ("category:", ["Tea", "Late", "Monday"]),
        ("late tea", []),
    ],
)
def test_observations_are_filtered(text: str, expected: list[str]) -> None:
    assert _list(text) == expected


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("note", ["Tea", "Late", "Monday"]),
        ("category", ["Tea", "Monday", "Late"]),
        ("tag", ["Tea", "Late", "Monday"]),
        ("time", ["Monday", "Tea", "Late"]),
    ],
)
def test_observations_are_sorted(by: SortKey, expected: list[str]) -> None:
    assert _list("", by) == expected


def test_those_of_one_note_are_all_listed_also_with_a_tag_alone() -> None:
    assert _list("", path="b.md") == ["Late", "Monday", "only"]
    assert _list("", path="nothing.md") == []
