"""Notes and what leads from one to another: by which rules, and kept up note by note."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.knowledge.graph import Graph
from memtui.knowledge.names import make_permalink
from memtui.knowledge.parse import parse_note
from tests.bench.limits import at_most
from tests.knowledge.graphs import list_edges, make_graph


@pytest.mark.parametrize(
    ("link", "targets"),
    [
        ("[[tea]]", ("drinks/tea.md",)),
        ("[[Tea]]", ("drinks/tea.md",)),
        ("[[drinks/tea]]", ("drinks/tea.md",)),
        ("[[tea#Green]]", ("drinks/tea.md",)),
        ("[[Earl Grey]]", ("drinks/tea.md",)),
        ("[[Of leaves]]", ("drinks/tea.md",)),
        ("[[tabs]]", ("feedback-tabs.md",)),
        ("[[feedback_tabs]]", ("feedback-tabs.md",)),
        ("[[hot/leaf-water]]", ("drinks/tea.md",)),
        ("[[drinks/green-tea]]", ("drinks/Green Tea.md",)),
        ("[t](drinks/tea.md)", ("drinks/tea.md",)),
        ("[t](./drinks/../drinks/tea)", ("drinks/tea.md",)),
        ("[p](a.png)", ("a.png",)),
        ("@drinks/tea.md", ("drinks/tea.md",)),
        ("[[nothing]]", ()),
        ("[[twice]]", ("a/twice.md", "b/twice.md")),
        ("[[a/twice]]", ("a/twice.md",)),
        ("[[#here]]", ("start.md",)),
        ("[up](../x.md)", ()),
    ],
)
def test_what_a_link_means(link: str, targets: tuple[str, ...]) -> None:
    graph = make_graph(
        {
            "start.md": link,
            "drinks/tea.md": "---\ntitle: Earl Grey\npermalink: hot/leaf-water\n---\n# Of leaves\n",
            "drinks/Green Tea.md": "",
            "feedback-tabs.md": "",
            "a/twice.md": "",
            "b/twice.md": "",
            "a.png": "",
        }
    )
    (edge,) = graph.get_edges("start.md")
    assert edge.targets == targets
    assert edge.state == ("ambiguous" if len(targets) > 1 else "resolved" if targets else edge.state)
    assert targets or edge.state == ("outside" if "../" in link else "dangling")


def test_the_nearest_of_several_is_meant() -> None:
    graph = make_graph({"a/x.md": "[[twice]]", "a/twice.md": "", "b/twice.md": ""})
    assert graph.get_edges("a/x.md")[0].targets == ("a/twice.md",)


def test_basic_memory_asks_for_permalink_and_title_first() -> None:
    texts = {
        "x.md": "[[Tea]]",
        "tea.md": "---\ntitle: Water\npermalink: water\n---\n",
        "drinks/green.md": "---\ntitle: Tea\n---\n",
    }
    assert make_graph(texts).get_edges("x.md")[0].targets == ("tea.md",)
    assert make_graph(texts, "basic-memory").get_edges("x.md")[0].targets == ("drinks/green.md",)
    texts["tea.md"] = ""
    assert make_graph(texts, "basic-memory").get_edges("x.md")[0].targets == ("tea.md",)
    texts["y/tea.md"] = "---\npermalink: tea\n---\n"
    assert make_graph({**texts, "z/x.md": "[[Tea]]"}, "basic-memory").get_edges("z/x.md")[0].targets == (
        "tea.md", "drinks/green.md", "y/tea.md",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "permalink"),
    [
        ("docs/My Feature.md", "docs/my-feature"),
        ("specs/API (v2).md", "specs/api-v2"),
        ("a_b/cD'e.md", "a-b/c-de"),
        ("Version 2.0.0", "version-2.0.0"),
        ("caf\u00e9/Cafe\u0301.md", "cafe/cafe"),
    ],
)
def test_a_permalink_is_made_of_a_path(path: str, permalink: str) -> None:
    assert make_permalink(path) == permalink


def test_edges_lead_in_by_links_tags_and_directories() -> None:
    graph = make_graph({"d/a.md": "[[b]] #t", "d/b.md": "#t", "c.md": "[x](d/b.md)"})
    assert [edge.source for edge in graph.get_edges_in("d/b.md")] == ["c.md", "d/a.md"]
    assert [edge.source for edge in graph.get_edges_in("#t", ("tag",))] == ["d/a.md", "d/b.md"]
    assert [edge.source for edge in graph.get_edges_in("d/", ("folder",))] == ["d/a.md", "d/b.md"]
    kinds = ("wiki", "tag", "folder")
    assert [edge.targets[0] for edge in graph.get_edges_out("d/a.md", kinds)] == ["d/b.md", "#t", "d/"]
    assert (graph.get_node("#t").kind, graph.get_node("d/").kind, graph.get_node("c.md").kind) == (
        "tag", "folder", "note",
    )  # fmt: skip


def test_a_note_that_comes_and_goes_changes_what_links_mean() -> None:
    graph = make_graph({"a.md": "[[b]] [[Old]]", "c.md": "# Old"})
    assert [edge.targets for edge in graph.get_edges("a.md")] == [(), ("c.md",)]
    graph.update("d/b.md", parse_note("", "d/b.md"))
    graph.update("c.md", parse_note("# New", "c.md"))
    assert [edge.targets for edge in graph.get_edges("a.md")] == [("d/b.md",), ()]
    graph.remove("d/b.md")
    graph.remove("d/b.md")
    assert [edge.targets for edge in graph.get_edges("a.md")] == [(), ()]


@pytest.mark.parametrize(
    ("name", "found"),
    [("a.md", ("a.md",)), ("/memories/a.md", ("a.md",)), ("a", ("a.md",)), ("A Title", ("a.md",)), ("x/y", ("a.md",))],
)
def test_a_note_is_found_as_a_person_names_it(name: str, found: tuple[str, ...]) -> None:
    assert make_graph({"a.md": "---\npermalink: x/y\n---\n# A title"}).find(name) == found


_WORDS = ("b", "B c", "b-c", "feedback-b", "d/b", "x_y")
_TEXTS = st.lists(
    st.one_of(
        st.sampled_from(_WORDS).map("[[{}]]".format),
        st.sampled_from(_WORDS).map("# {}\n".format),
        st.sampled_from(_WORDS).map(lambda word: f"[l](<{word}.md>)"),
        st.sampled_from(_WORDS).map(lambda word: f"#{word[0]} "),
    ),
    max_size=3,
).map("\n\n".join)
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(("a.md", "b.md", "d/b.md", "b c.md", "feedback-b.md", "d/x y.md", "b.png")),
        st.one_of(st.none(), _TEXTS),
    ),
    max_size=12,
)


@given(_STEPS, st.sampled_from(("", "basic-memory")), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_a_graph_that_was_kept_up_is_the_one_that_is_made_anew(
    steps: list[tuple[str, str | None]], dialect: str, chance: random.Random
) -> None:
    graph = Graph(dialect=dialect)
    texts: dict[str, str] = {}
    for path, text in steps:
        if text is None:
            graph.remove(path)
            texts.pop(path, None)
        else:
            graph.update(path, parse_note(text, path) if path.endswith(".md") else None)
            texts[path] = text
        if chance.random() < 0.5:
            list_edges(graph)  # what was found meanwhile is kept
    anew = make_graph(texts, dialect)
    assert list_edges(graph) == list_edges(anew)
    assert (graph.tags, graph.folders) == (anew.tags, anew.folders)
    for path in graph:
        into = {edge.source for edge in graph.get_edges_in(path)}
        assert into == {source for source, _, targets in list_edges(anew) if path in targets}


@pytest.mark.limit
def test_one_changed_note_of_many_costs_little() -> None:
    texts = {f"n{number}.md": f"# Note {number}\n[[n{number + 1}]] [[n{number // 2}]]\n" for number in range(2_000)}
    graph = make_graph(texts)
    list_edges(graph)
    note = parse_note("# Note 7 anew\n[[n9]]", "n7.md")
    with at_most(0.5):
        for _ in range(100):
            graph.update("n7.md", note)
            assert graph.get_edges("n7.md")[0].targets == ("n9.md",)
            assert len(graph.get_edges_in("n7.md")) == 3
