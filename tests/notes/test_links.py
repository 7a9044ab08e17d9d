"""Links: what is one, what it names, and which note that is."""

import pytest

from memtui.notes.links import Backlink, Link, LinkTargets, find_backlinks, find_links, get_note_names
from tests.bench.limits import at_most


def _one(text: str, path: str = "p/note.md") -> Link:
    (link,) = find_links(text, path)
    return link


@pytest.mark.parametrize(
    ("text", "kind", "target", "path", "fragment", "label"),
    [
        ("[[Wiki Name]]", "wiki", "Wiki Name", "Wiki Name", "", "Wiki Name"),
        ("[[name|a label]]", "wiki", "name", "name", "", "a label"),
        ("[[name#A heading]]", "wiki", "name#A heading", "name", "A heading", "name#A heading"),
        ("[[#Here]]", "wiki", "#Here", "", "Here", "#Here"),
        ("![[picture.png]]", "wiki", "picture.png", "picture.png", "", "picture.png"),
        ("[a](b.md)", "markdown", "b.md", "p/b.md", "", "a"),
        ("[a](../b%20c.md#x 'title')", "markdown", "../b%20c.md#x", "b c.md", "x", "a"),
        ("[a](<b c.md>)", "markdown", "b c.md", "p/b c.md", "", "a"),
        ("[a](b_(c).md)", "markdown", "b_(c).md", "p/b_(c).md", "", "a"),
        ("[a](/memories/x/y.md)", "markdown", "/memories/x/y.md", "x/y.md", "", "a"),
        ("[a](/etc/passwd)", "markdown", "/etc/passwd", None, "", "a"),
        ("[a](../../etc/passwd)", "markdown", "../../etc/passwd", None, "", "a"),
        ("[a](..%2f..%2fetc/passwd)", "markdown", "..%2f..%2fetc/passwd", None, "", "a"),
        ("[a](/memories/../etc)", "markdown", "/memories/../etc", None, "", "a"),
        ("[a](/memoriesx/b)", "markdown", "/memoriesx/b", None, "", "a"),
        ("[a](#down)", "markdown", "#down", "", "down", "a"),
        ("[a](https://x.y/z?q=1#f)", "url", "https://x.y/z?q=1#f", None, "", "a"),
        ("[a](javascript:alert(1))", "url", "javascript:alert(1)", None, "", "a"),
        ("[a](//x.y/z)", "url", "//x.y/z", None, "", "a"),
        ("<mailto:a@b.c>", "url", "mailto:a@b.c", None, "", "mailto:a@b.c"),
        ("see (https://x.y/a_(b)).", "url", "https://x.y/a_(b)", None, "", "https://x.y/a_(b)"),
        ("@docs/a.md.", "import", "docs/a.md", "p/docs/a.md", "", "@docs/a.md"),
        ("@./a.md, b", "import", "./a.md", "p/a.md", "", "@./a.md"),
        ("@~/.claude/a.md", "import", "~/.claude/a.md", None, "", "@~/.claude/a.md"),
        ("@a\\ b.md", "import", "a b.md", "p/a b.md", "", "@a b.md"),
        ("See @README for more", "import", "README", "p/README", "", "@README"),
    ],
)
def test_a_link_is_read(text: str, kind: str, target: str, path: str | None, fragment: str, label: str) -> None:
    link = _one(text)
    assert (link.kind, link.target, link.path, link.fragment, link.label) == (kind, target, path, fragment, label)


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]] @a.md`", "```\n[a](b)\n@a.md\n```", "me@example.org", "@somebody said", "[ ] todo", "a[0](1) is [x]",
        "[[]]", "---\nname: '[[a]]'\n---\n", "email me@x.y/z", "[a]()", "**@ 3 pm**", "@a\u202e.md"[:2],
    ],
)  # fmt: skip
def test_what_is_no_link_is_none(text: str) -> None:
    assert [link for link in find_links(text, "a.md") if link.kind != "markdown" or link.target != "1"] == []


def test_each_link_has_its_place() -> None:
    text = "---\na: 1\n---\nOne [[a]] and [b](c.md)\r\n\n- [ref][r] @x/y.md\n\n[r]: z.md\n"
    lines = text.split("\n")
    found = find_links(text, "note.md")
    assert [(lines[link.line - 1][slice(*link.span)], link.path) for link in found] == [
        ("[[a]]", "a"), ("[b](c.md)", "c.md"), ("[ref][r]", "z.md"), ("@x/y.md", "x/y.md"), ("[r]: z.md", "z.md"),
    ]  # fmt: skip


_PATHS = [
    "README.md", "a/plan.md", "b/plan.md", "b/deep/plan.md", "Wiki Name.md", "user_role.md", "b/note.md", "c/data.json",
    "c/Plan.txt", "x/my_note.md",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "from_path", "found"),
    [
        ("[[plan]]", "a/x.md", "a/plan.md"),  # its own folder first
        ("[[plan]]", "b/x.md", "b/plan.md"),
        ("[[plan]]", "c/x.md", "c/Plan.txt"),
        ("[[plan]]", "z/x.md", "a/plan.md"),  # then the shortest
        ("[[deep/plan]]", "a/x.md", "b/deep/plan.md"),
        ("[[PLAN.MD]]", "b/x.md", "b/plan.md"),
        ("[[wiki name]]", "a/x.md", "Wiki Name.md"),
        ("[[data.json]]", "a/x.md", "c/data.json"),
        ("[[my-note]]", "a/x.md", "x/my_note.md"),
        ("[[../README]]", "a/x.md", "README.md"),
        ("[[../../README]]", "a/x.md", None),
        ("[[nothing]]", "a/x.md", None),
        ("[[#Here]]", "b/note.md", "b/note.md"),
        ("[x](plan)", "a/x.md", "a/plan.md"),
        ("[x](../b/note.md)", "a/x.md", "b/note.md"),
        ("[x](note.md)", "a/x.md", None),
        ("@../README", "a/x.md", "README.md"),
        ("https://x.y", "a/x.md", None),
    ],
)
def test_a_link_leads_to_the_note_that_is_meant(text: str, from_path: str, found: str | None) -> None:
    assert LinkTargets(_PATHS).resolve(_one(text, from_path), from_path) == found


def test_a_wiki_link_finds_a_note_by_what_it_calls_itself() -> None:
    text = "---\nname: user-role\naliases: [Who I am]\n---\n# The role\n"
    assert get_note_names(text) == ("user-role", "Who I am", "The role")
    places = LinkTargets(_PATHS, {"user_role.md": get_note_names(text)})
    for name in ("user-role", "who i am", "The Role"):
        assert places.resolve(_one(f"[[{name}]]"), "p/note.md") == "user_role.md"


def test_backlinks_are_the_links_of_others_that_lead_here() -> None:
    notes = [
        ("a.md", "See [[plan]] and\n[it](x/plan.md#top)\n"),
        ("x/plan.md", "[[plan]] itself"),
        ("x/b.md", "@plan.md and [no](other.md)"),
        ("c.md", "`[[plan]]`"),
    ]
    found = find_backlinks("x/plan.md", notes)
    assert [(one.path, one.link.line, one.text) for one in found] == [
        ("a.md", 1, "See [[plan]] and"),
        ("a.md", 2, "[it](x/plan.md#top)"),
        ("x/b.md", 1, "@plan.md and [no](other.md)"),
    ]  # fmt: skip
    assert isinstance(found[0], Backlink)
    assert find_backlinks("x/plan.md", notes, stop=lambda: True) == []


@pytest.mark.parametrize(
    "piece", ["[", "[[", "![", "[a](", "[a][", "](", "@a/", "<a:", "https://", "[a[", "(", "\\[", "[[a]] "]
)
def test_a_note_that_means_harm_is_read_in_no_time(piece: str) -> None:
    with at_most(3):
        one = find_links(piece * (200_000 // len(piece)), "a.md")
        many = find_links((piece + "\n") * (100_000 // len(piece)), "a.md")
    assert {link.line for link in one} <= {1}
    assert {link.line for link in many} <= set(range(1, 100_001))
