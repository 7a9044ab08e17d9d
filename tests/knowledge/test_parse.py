"""What one note says: names, observations, relations and links, each with its place."""

import pytest

from memtui.knowledge.model import Observation
from memtui.knowledge.parse import parse_note
from tests.bench.limits import at_most

_NOTE = """\
---
title: Coffee
aliases: [Brewing, Kaffee]
type: Note
permalink: drinks/coffee
status: Draft
tags: [drink, hot]
---

# Coffee brewing

See [[Tea|the other one]], [beans](../beans.md#roast) and @docs/water.md.

## Facts

- [method] @effective[2026-06-10,2026-07-27) Pour slowly #pour-over (for light roasts)
- [fact] Water at 93 degrees #water#heat

Relations
---------

- pairs_with [[Cake]] (mostly)
- "made from" [[Beans#Roast]]
"""


def test_a_note_is_read() -> None:
    note = parse_note(_NOTE, "drinks/coffee.md")
    assert (note.title, note.names) == ("Coffee", ("Coffee", "Brewing", "Kaffee", "Coffee brewing"))
    assert (note.type, note.permalink, note.status) == ("note", "drinks/coffee", "draft")
    assert note.tags == ("drink", "hot", "pour-over", "water")
    assert [(each.level, each.line, each.text) for each in note.headings] == [
        (1, 10, "Coffee brewing"), (2, 14, "Facts"), (2, 19, "Relations"),
    ]  # fmt: skip
    first, second = note.observations
    assert (first.category, first.content, first.tags) == ("method", "Pour slowly #pour-over", ("pour-over",))
    assert (first.context, first.line) == ("for light roasts", 16)
    assert first.time is not None
    assert (first.time.kind, first.time.start, first.time.end) == ("effective", "2026-06-10", "2026-07-27")
    assert second.tags == ("water", "heat")
    assert [(each.kind, each.relation, each.context, each.link.target) for each in note.links] == [
        ("wiki", "", "", "Tea"),
        ("markdown", "", "", "../beans.md#roast"),
        ("import", "", "", "docs/water.md"),
        ("relation", "pairs_with", "mostly", "Cake"),
        ("relation", "made from", "", "Beans#Roast"),
    ]


def test_the_target_of_each_link_has_its_place() -> None:
    text = _NOTE + "\n[a][r] <b c.md> [d](<b c.md>)\n\n[r]: ./x.md#y\n"
    lines = text.split("\n")
    targets = {}
    for each in parse_note(text, "drinks/coffee.md").links:
        span = each.link.target_span
        targets[each.link.form, each.link.target] = lines[each.link.line - 1][slice(*span)] if span else None
    assert targets == {
        ("wiki", "Tea"): "Tea",
        ("inline", "../beans.md#roast"): "../beans.md",
        ("import", "docs/water.md"): "docs/water.md",
        ("wiki", "Cake"): "Cake",
        ("wiki", "Beans#Roast"): "Beans",
        ("reference", "./x.md#y"): None,
        ("angled", "b c.md"): "b c.md",
        ("definition", "./x.md#y"): "./x.md",
    }


def _observe(text: str) -> tuple[Observation, ...]:
    return parse_note(text, "a.md").observations


@pytest.mark.parametrize(
    ("text", "category", "content", "tags", "context"),
    [
        ("- [fact] a b", "fact", "a b", (), ""),
        ("[fact] in a paragraph", "fact", "in a paragraph", (), ""),
        ("1. [two words] a", "two words", "a", (), ""),
        ("- [fact] a (b) c (d)", "fact", "a (b) c", (), "d"),
        ("- only a #tag here", "", "only a #tag here", ("tag",), ""),
        ("## Heading with #tag", "", "Heading with #tag", ("tag",), ""),
        ("- [] a #b", "", "a #b", ("b",), ""),
        ("- [1] one character", "1", "one character", (), ""),
        ("- [00:11] spoken #word", "", "[00:11] spoken #word", ("word",), ""),
        ("- [fact] first\n  second line", "fact", "first", (), ""),
        ("- [y](y.md) and more #tag", "", "[y](y.md) and more #tag", ("tag",), ""),
    ],
)
def test_an_observation(text: str, category: str, content: str, tags: tuple[str, ...], context: str) -> None:
    (found,) = _observe(text)
    assert (found.category, found.content, found.tags, found.context) == (category, content, tags, context)


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] task", "- [x] done", "- [-] dropped", "- [/] half", "- [X] done", "[a](b)", "[[a]]", "[a]: b.md",
        "> [note] quoted", "> - [fact] quoted #tag", "`[fact] code`\n\n    [fact] code", "```\n[fact] code #tag\n```",
        "- [00:11] spoken", "- [fact]", "- [fact](b) x", "a # b", "<!-- \n[fact] a\n-->", "- [a[b]] c",
    ],
)  # fmt: skip
def test_what_is_no_observation(text: str) -> None:
    assert _observe(text) == ()


@pytest.mark.parametrize(
    ("words", "kind", "start", "end"),
    [
        ("@2026-06-10", "valid", "2026-06-10", "2026-06-11"),
        ("@due:2026-06", "due", "2026-06-01", "2026-07-01"),
        ("@occurred:2026", "occurred", "2026-01-01", "2027-01-01"),
        ("@2026-12", "valid", "2026-12-01", "2027-01-01"),
        ('@occurred:"June 10, 2026"', "occurred", "2026-06-10", "2026-06-11"),
        ('@"10 June 2026"', "valid", "2026-06-10", "2026-06-11"),
        ("@[2026-06-10,2026-07-27)", "valid", "2026-06-10", "2026-07-27"),
        ("@(2026-06-10,2026-07-27]", "valid", "2026-06-11", "2026-07-28"),
        ("@effective[,2026-07-27)", "effective", "", "2026-07-27"),
        ("@2026-06-10T08:00:00+02:00", "valid", "2026-06-10T06:00:00.000000Z", "2026-06-10T06:00:00.000000Z"),
    ],
)
def test_a_time(words: str, kind: str, start: str, end: str) -> None:
    (found,) = _observe(f"- [fact] {words} it holds (here)")
    assert found.time is not None
    assert (found.time.kind, found.time.start, found.time.end, found.time.text) == (kind, start, end, words)
    assert (found.content, found.context) == ("it holds", "here")


@pytest.mark.parametrize(
    "words",
    [
        "@somebody", "@todo:1", "@3.5", "@June", "@asserted:2026-06-10", "@2026-13", "@2026-02-30",
        "@[2026-07-01,2026-06-01)",
        '@"June 10, 2026', "@effective[2026-06-10;2026-06-11)", "@9999-99-99", '@"soon"',
    ],
)  # fmt: skip
def test_what_is_no_time_stays_text(words: str) -> None:
    (found,) = _observe(f"- [fact] {words} it holds")
    assert found.time is None
    assert found.content == f"{words} it holds"


def test_a_time_with_nothing_behind_it_is_text() -> None:
    (found,) = _observe("- [fact] @2026-06-10")
    assert (found.time, found.content) == (None, "@2026-06-10")


@pytest.mark.parametrize(
    ("text", "relation", "context"),
    [
        ("- uses [[X]]", "uses", ""),
        ("- uses [[X|label]] (why (so))", "uses", "why (so)"),
        ("* 'two words' [[X]]", "two words", ""),
        ("> - uses [[X]]", "uses", ""),
        ("- uses `[[code]]`", None, ""),
        ("- it uses [[X]]", None, ""),
        ("- uses [[X]] and [[Y]]", None, ""),
        ("- uses [[X]] (a) and (b)", None, ""),
        ("uses [[X]]", None, ""),
        ("- [[X]]", None, ""),
        ("- ![[X.png]]", None, ""),
        ("- uses [[X]] #bm:links_to", None, ""),
    ],
)
def test_a_relation(text: str, relation: str | None, context: str) -> None:
    found = [(each.relation, each.context) for each in parse_note(text, "a.md").links if each.kind == "relation"]
    assert found == ([] if relation is None else [(relation, context)])


@pytest.mark.parametrize(
    "text", ["    [[code]]", "<!-- [[x]]\n[a](b.md) -->", "```\n[[x]]\n```", "\\[[x]]", "<div>\n[[x]]\n</div>"]
)
def test_what_is_not_shown_as_a_link_is_none(text: str) -> None:
    assert parse_note(text, "a.md").links == ()


def test_the_entries_of_an_index_are_of_their_own_kind() -> None:
    text = "# Memory\n\n- [a](a.md) what it is\n\nSee [b](b.md), [[c]].\n"
    kinds = {each.link.target: each.kind for each in parse_note(text, "MEMORY.md").links}
    assert kinds == {"a.md": "entry", "b.md": "markdown", "c": "entry"}


def test_what_a_claude_note_says_is_below_metadata() -> None:
    text = "---\nname: tabs\nmetadata:\n  node_type: memory\n  type: feedback\n---\n\n**Why:** see [[spaces]].\n"
    note = parse_note(text, "tabs.md")
    assert (note.title, note.type, [each.link.path for each in note.links]) == ("tabs", "feedback", ["spaces"])


def test_a_name_without_a_title_is_that_of_the_file() -> None:
    assert [parse_note("", path).title for path in ("d/a.b.md", "README", ".x")] == ["a.b", "README", ".x"]


@pytest.mark.limit
@pytest.mark.parametrize(
    "unit",
    ["- [a] ", "[[", "]]", "- x [[", "> ", "#a", "`[[a]]", "@2026-", "(", '- [a] @"', "<!--", "    [[a]]\n", "[a]: "],
)
def test_a_hostile_note_is_read_in_time(unit: str) -> None:
    with at_most(4.0):
        parse_note(unit * (1_000_000 // len(unit)), "a.md")
