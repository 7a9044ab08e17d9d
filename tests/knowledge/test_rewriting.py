"""Links that follow what is moved, copied or deleted: in their own form, and only those that would break."""

from collections.abc import Mapping

import pytest

from memtui.knowledge.graph import Graph
from memtui.knowledge.parse import parse_note
from memtui.knowledge.rewriting import LinkPlan, expand_moves, plan_links

NOTE = "# Note\n\n{}\n"


def plan(
    texts: Mapping[str, str], moves: Mapping[str, str], *, dialect: str = "", kept: Mapping[str, str] | None = None
) -> LinkPlan:
    graph = Graph({path: parse_note(text, path) for path, text in texts.items()}, dialect=dialect)
    files = expand_moves(graph, moves)
    return plan_links(graph, files, texts.get, find_reason=lambda path: (kept or {}).get(path, ""))


def rewrite(link: str, moves: Mapping[str, str], *, here: str = "here.md", dialect: str = "") -> str:
    """A link as it stands behind moves in a folder with `tea.md`, `plan b.md` and `sub/deep.md`."""
    texts = {
        "tea.md": "# Green tea\n",
        "plan b.md": "---\ntitle: Second\npermalink: plans/second\n---\nx\n",
        "sub/deep.md": "# Deep\n",
        "feedback_tabs.md": "x\n",
        here: NOTE.format(link),
    }
    found = plan(texts, moves, dialect=dialect)
    assert not found.left
    return found.texts.get(moves.get(here, here), texts[here]).split("\n")[2]


@pytest.mark.parametrize(
    ("link", "moves", "written"),
    [
        ("[[tea]]", {"tea.md": "chai.md"}, "[[chai]]"),
        ("[[tea|my tea]], [[tea#Green tea]]", {"tea.md": "chai.md"}, "[[chai|my tea]], [[chai#Green tea]]"),
        ("![[tea.md]]", {"tea.md": "a/chai.md"}, "![[chai.md]]"),
        ("- part_of [[tea]] (since May)", {"tea.md": "chai.md"}, "- part_of [[chai]] (since May)"),
        ("[[Green tea]]", {"tea.md": "chai.md"}, "[[Green tea]]"),
        ("[[Second]] [[plans/second]]", {"plan b.md": "x/plan c.md"}, "[[Second]] [[plans/second]]"),
        ("[[sub/deep]]", {"sub": "other"}, "[[other/deep]]"),
        ("[[./sub/deep]]", {"sub/deep.md": "deep.md"}, "[[./deep]]"),
        ("[t](tea.md)", {"tea.md": "chai.md"}, "[t](chai.md)"),
        ("[t](./tea.md#Green)", {"tea.md": "a/chai.md"}, "[t](./a/chai.md#Green)"),
        ("[t](tea)", {"tea.md": "chai.md"}, "[t](chai)"),
        ("[t](/memories/tea.md)", {"tea.md": "chai.md"}, "[t](/memories/chai.md)"),
        ("[t](<plan b.md> 'title')", {"plan b.md": "plan c.md"}, "[t](<plan c.md> 'title')"),
        ("[t](plan%20b.md)", {"plan b.md": "plan (c).md"}, "[t](plan%20%28c%29.md)"),
        ("[t](tea.md)", {"tea.md": "Grüner Tee.md"}, "[t](Grüner%20Tee.md)"),
        ("![p](tea.md) `[[tea]]` [[tea]]", {"tea.md": "chai.md"}, "![p](chai.md) `[[tea]]` [[chai]]"),
        ("[t]: tea.md", {"tea.md": "chai.md"}, "[t]: chai.md"),
        ("@tea.md and @plan\\ b.md", {"tea.md": "a b.md"}, "@a\\ b.md and @plan\\ b.md"),
        ("    - [[tea]]", {"tea.md": "chai.md"}, "    - [[tea]]"),
        ("[[tabs]] [[feedback_tabs]]", {"feedback_tabs.md": "feedback_spaces.md"}, "[[spaces]] [[feedback_spaces]]"),
        ("漢字 [[tea]]\r", {"tea.md": "茶.md"}, "漢字 [[茶]]\r"),
        ("| [[tea\\|cup]] | [[tea]] |", {"tea.md": "chai.md"}, "| [[chai\\|cup]] | [[chai]] |"),
        ("[t](tea.md)", {"here.md": "sub/here.md"}, "[t](../tea.md)"),
        ("[[tea]] [[#Note]]", {"here.md": "sub/here.md"}, "[[tea]] [[#Note]]"),
        ("[t](tea.md) [d](sub)", {"here.md": "a/here.md", "tea.md": "a/tea.md"}, "[t](tea.md) [d](sub)"),
        ("[t](tea.md)", {"tea.md": "plan b.md", "plan b.md": "tea.md"}, "[t](plan%20b.md)"),
        ("[[tea]]", {"sub/deep.md": "sub/tea.md"}, "[[tea]]"),
    ],
)  # fmt: skip
def test_a_link_keeps_its_form(link: str, moves: dict[str, str], written: str) -> None:
    assert rewrite(link, moves) == written


def test_a_name_that_another_note_takes_is_made_exact() -> None:
    found = plan({"a/x.md": "see [[tea]]\n", "tea.md": "t\n", "b/y.md": "y\n"}, {"b/y.md": "a/tea.md"})
    assert found.texts == {"a/x.md": "see [[tea.md]]\n"} or found.left
    resolved = Graph({"a/x.md": parse_note(found.texts.get("a/x.md", "see [[tea]]\n"), "a/x.md"),
                      "tea.md": parse_note("t\n", "tea.md"), "a/tea.md": parse_note("y\n", "a/tea.md")})  # fmt: skip
    assert found.left or resolved.get_edges("a/x.md")[0].targets == ("tea.md",)


def test_a_permalink_made_of_the_path_follows_it() -> None:
    texts = {"Green Tea.md": "x\n", "here.md": "[[green-tea]]\n"}
    found = plan(texts, {"Green Tea.md": "Hot/Black Tea.md"}, dialect="basic-memory")
    assert found.texts == {"here.md": "[[hot/black-tea]]\n"}


def test_what_may_not_be_changed_is_left_with_the_reason() -> None:
    texts = {"tea.md": "x\n", "kept.md": "[[tea]]\n", "mine.md": "[[tea]]\n"}
    found = plan(texts, {"tea.md": "chai.md"}, kept={"kept.md": "generated"})
    assert found.texts == {"mine.md": "[[chai]]\n"}
    assert [(each.source, each.link.target, each.left) for each in found.left] == [("kept.md", "tea", "generated")]


def test_what_is_quoted_is_left() -> None:
    texts = {"tea.md": "x\n", "here.md": "> he said [[tea]]\nand more\n\n- > [t](tea.md)\n\n[[tea]]\n"}
    found = plan(texts, {"tea.md": "chai.md"})
    assert found.texts == {"here.md": texts["here.md"].replace("\n\n[[tea]]", "\n\n[[chai]]")}
    assert [(each.link.line, each.left) for each in found.left] == [(1, "quoted"), (4, "quoted")]


def test_what_cannot_be_written_is_left() -> None:
    found = plan({"tea.md": "x\n", "here.md": "[[tea]]\n"}, {"tea.md": "a [b].md"})
    assert not found.texts
    assert [each.left for each in found.changes] == ["it cannot be written in its form"]


def test_links_to_what_is_deleted_become_words_and_entries_go() -> None:
    texts = {
        "tea.md": "x\n",
        "MEMORY.md": "# Index\n\n- [Tea](tea.md): green\n- [Other](other.md)\n",
        "other.md": "a [[tea|cup]], ![[tea]], [t](tea.md) [r][d] @tea.md\n\n[d]: tea.md\n",
    }
    graph = Graph({path: parse_note(text, path) for path, text in texts.items()})
    found = plan_links(graph, {}, texts.get, deleted=["tea.md"])
    assert found.texts["MEMORY.md"] == "# Index\n\n- [Other](other.md)\n"
    assert found.texts["other.md"] == "a cup, tea, t r @tea.md\n\n[d]: tea.md\n"
    assert sorted(each.link.form for each in found.left) == ["definition", "import"]


def test_a_copy_leads_to_where_the_original_leads() -> None:
    texts = {"a/x.md": "[t](tea.md) [[x]]\n", "a/tea.md": "t\n", "here.md": "[[a/x]]\n"}
    graph = Graph({path: parse_note(text, path) for path, text in texts.items()})
    assert plan_links(graph, {}, texts.get, copies={"a/x.md": "b/c.md"}).texts == {"b/c.md": "[t](../a/tea.md) [[x]]\n"}
    graph = Graph({path: parse_note(text, path) for path, text in texts.items()})
    both = {"a/x.md": "b/x.md", "a/tea.md": "b/tea.md"}
    assert plan_links(graph, {}, texts.get, copies=both).texts.keys() <= {"b/x.md"}, "the copies belong together"
