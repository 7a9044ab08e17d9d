"""What is suggested of the graph: links for names, types and tags of neighbours."""

from collections.abc import Mapping

import pytest
from graphs import make_graph

from memtui.knowledge.suggestions import Suggestion, suggest_categories, suggest_links


def links(texts: Mapping[str, str], kept: frozenset[str] = frozenset()) -> list[Suggestion]:
    graph = make_graph(texts)
    notes = sorted(graph.notes, key=lambda note: note.path)
    return suggest_links(notes, list(graph.iter_edges()), texts.items(), kept.__contains__)


def categories(texts: Mapping[str, str], kept: frozenset[str] = frozenset()) -> list[tuple[str, str, str, str]]:
    graph = make_graph(texts)
    found = suggest_categories(list(graph.notes), list(graph.iter_edges()), kept.__contains__)
    return [(each.notes[0], each.field, each.value, each.reason) for each in found]


# Links


def test_a_name_without_a_link_is_suggested_once_for_each_pair() -> None:
    found = links({"tea.md": "# Green Tea\n", "a.md": "Hot.\nGreen Tea, and green tea.\n", "b.md": "Nothing.\n"})
    assert [(each.kind, each.notes, each.line, each.reason) for each in found] == [
        ("link", ("a.md", "tea.md"), 2, "names it without a link: Green Tea")
    ]
    assert found[0].mention is not None
    assert found[0].mention.words == "Green Tea"


@pytest.mark.parametrize(
    "text",
    [
        "Green Tea, see [[Green Tea]].\n",
        "Green Tea is in [the shop](tea.md).\n",
        "```\nGreen Tea\n```\n",
        "`Green Tea`\n",
        "---\ndrink: Green Tea\n---\nWords.\n",
        "https://example.com/green-tea\n",
    ],
)
def test_what_is_linked_or_no_plain_text_is_not_suggested(text: str) -> None:
    assert links({"tea.md": "# Green Tea\n", "a.md": text}) == []


def test_words_of_the_language_are_no_names() -> None:
    texts = {"tea.md": "Words.\n", "readme.md": "x\n", "notes.md": "x\n", "2026-11-20.md": "x\n", "MEMORY.md": "x\n"}
    assert links({**texts, "a.md": "The tea, the readme, notes of 2026-11-20, memory.\n"}) == []
    many = {f"{number}.md": "A cup of coffee\n" for number in range(4)}
    assert links({"coffee.md": "x\n", **many}) == []
    assert len(links({"coffee.md": "x\n", **dict(list(many.items())[:3])})) == 3
    assert len(links({"coffee.md": "x\n", **dict.fromkeys(many, "A cup of Coffee\n")})) == 4
    assert links({"coffee.md": "x\n", **dict.fromkeys(many, "- Coffee is hot. Coffee\n")}) == []


def test_headings_are_left_as_they_are() -> None:
    assert links({"tea.md": "# Green Tea\n", "a.md": "# On Green Tea\n> ## Green Tea\n"}) == []
    (found,) = links({"tea.md": "# Green Tea\n", "a.md": "# On Green Tea\n\nGreen tea is hot.\n"})
    assert found.line == 3


def test_a_name_of_several_notes_and_notes_of_a_program_are_left_out() -> None:
    assert links({"a/tea.md": "# Green Tea\n", "b/tea.md": "# Green Tea\n", "c.md": "Green Tea\n"}) == []
    assert links({"tea.md": "# Green Tea\n", "c.md": "Green Tea\n"}, frozenset({"c.md"})) == []


def test_hostile_names_are_one_line() -> None:
    title = 'Green\x1b]0;x\x07Tea "\\'
    (found,) = links(
        {"tea.md": f'---\ntitle: "Green\\e]0;x Tea"\naliases: [Green Tea]\n---\n{title}\n', "a.md": "Green\nTea\n"}
    )
    assert "\n" not in found.reason
    assert "\x1b" not in found.reason


def test_an_id_is_of_the_notes_and_not_of_the_line() -> None:
    texts = {"tea.md": "# Green Tea\n", "a.md": "Green Tea\n"}
    (found,) = links(texts)
    (moved,) = links({**texts, "a.md": "More.\n\nAnd green tea\n"})
    (other,) = links({"tea.md": "# Green Tea\n", "b.md": "Green Tea\n"})
    assert found.id == moved.id
    assert found.id != other.id
    assert len(found.id) == 10


def test_one_note_does_not_fill_the_list() -> None:
    named = {f"name{number}x.md": f"# Name {number} of it\n" for number in range(40)}
    text = "".join(f"Name {number} of it\n" for number in range(40))
    assert len(links({**named, "a.md": text})) == 20


# Types and tags

_PEOPLE = {f"people/{name}.md": "---\ntype: person\n---\nx\n" for name in ("ada", "ben", "cleo")}


def test_a_type_is_that_of_the_notes_beside_it() -> None:
    assert categories({**_PEOPLE, "people/dora.md": "x\n"}) == [
        ("people/dora.md", "type", "person", "3 of 3 notes beside it have the type person")
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"people/dora.md": "---\ntype: robot\n---\nx\n"},
        {"people/README.md": "About.\n"},
        {"people/schema.md": "---\ntype: schema\nentity: person\n---\nx\n"},
        {"elsewhere/dora.md": "x\n"},
        {"dora.md": "x\n"},
        {f"people/{number}.md": "x\n" for number in range(4)},
    ],
)
def test_a_type_is_not_guessed(more: dict[str, str]) -> None:
    assert categories({**_PEOPLE, **more}) == []


def test_two_of_a_type_are_no_habit_and_neither_is_a_mixture() -> None:
    two = dict(list(_PEOPLE.items())[:2])
    assert categories({**two, "people/dora.md": "x\n"}) == []
    mixed = {f"people/{number}.md": "---\ntype: pet\n---\nx\n" for number in range(2)}
    assert categories({**_PEOPLE, **mixed, "people/dora.md": "x\n"}) == []
    assert categories({**_PEOPLE, "people/dora.md": "x\n"}, frozenset({"people/dora.md"})) == []


def test_a_type_is_that_of_what_a_relation_leads_to() -> None:
    firms = {f"{name}.md": "---\ntype: company\n---\nx\n" for name in ("acme", "bolt", "core")}
    people = {f"{name}1.md": f"- works_at [[{name}]]\n" for name in ("acme", "bolt", "core", "dash")}
    assert categories({**firms, **people, "dash.md": "x\n"}) == [
        ("dash.md", "type", "company", "3 of 3 notes that the relation works_at leads to have the type company")
    ]


def test_a_tag_is_that_of_linked_notes() -> None:
    tagged = {f"t{number}.md": "---\ntags: [money, x]\n---\n[[hub]]\n" for number in range(3)}
    plain = {"p.md": "[[hub]]\n"}
    assert categories({**tagged, **plain, "hub.md": "---\ntags: [x]\n---\n"}) == [
        ("hub.md", "tags", "money", "3 of 4 linked notes have the tag #money")
    ]
    more = {"p.md": "[[hub]]\n", "q.md": "[[hub]]\n"}
    assert categories({**tagged, **more, "hub.md": "x\n"}) == []
    assert categories({**tagged, "hub.md": "---\ntags: [Money, x]\n---\n"}) == []
