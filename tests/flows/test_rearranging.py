"""Notes that are merged, and one that is split: no link breaks, and one undo restores the bytes."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import memtui
from memtui.engine import Engine
from memtui.flows import rearranging
from memtui.flows.rearranging import Rearranged, RearrangingRefused, plan_merge, plan_split
from memtui.knowledge.graph import Graph
from memtui.knowledge.parse import parse_note
from memtui.notes.links import find_heading_line
from memtui.places.dialects import get_dialect
from tests.flows.test_link_rewriting import make_notes, read_all, write_all
from tests.sampling import EVERY, many


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "memories").mkdir()
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as memory:
        yield memory


def fill(memory: Engine, tmp_path: Path, texts: dict[str, str]) -> dict[str, bytes]:
    write_all(tmp_path / "memories", texts)
    memory.reconcile()
    return read_all(tmp_path / "memories")


def merge(memory: Engine, tmp_path: Path, merged: str, into: str, texts: dict[str, str]) -> dict[str, str]:
    """The notes after a merge; what its undo restores is checked."""
    before = fill(memory, tmp_path, texts)
    head = memory.get_head()[0]
    result, _ = rearranging.merge(memory, merged, into, plan_merge(memory, merged, into))
    assert result.event is not None, result.problem
    assert memory.get_head()[0] == head + 1, "one event"
    after = read_all(tmp_path / "memories")
    assert memory.undo([result.event.seq]).event is not None
    assert read_all(tmp_path / "memories") == before
    return {path: data.decode() for path, data in after.items()}


def split(
    memory: Engine, tmp_path: Path, path: str, texts: dict[str, str], *, level: int = 0
) -> tuple[dict[str, str], Rearranged]:
    before = fill(memory, tmp_path, texts)
    head = memory.get_head()[0]
    result, planned = rearranging.split(memory, path, plan_split(memory, path, level), level=level)
    assert result.event is not None, result.problem
    assert memory.get_head()[0] == head + 1, "one event"
    after = read_all(tmp_path / "memories")
    assert memory.undo([result.event.seq]).event is not None
    assert read_all(tmp_path / "memories") == before
    return {path: data.decode() for path, data in after.items()}, planned


# Merging


@pytest.mark.parametrize(
    ("into", "merged", "after"),
    [
        ("# A\n\na\n", "# B\n\nb\n", "# A\n\na\n\n## B\n\nb\n"),
        ("# A", "b", "# A\n\n## b\n\nb\n"),
        ("# A\n", "\n\n# B\n## C\n### D\n\n\n", "# A\n\n## B\n### C\n#### D\n"),
        ("# A\n", "# B\n# C\n", "# A\n\n## B\n\n### B\n### C\n"),
        ("# A\n", "x\n\n# B\n", "# A\n\n## B\n\nx\n\n### B\n"),
        ("# A\n", "x\n\n### B\n", "# A\n\n## b\n\nx\n\n### B\n"),
        ("# A\n# C\n", "# B\n", "# A\n# C\n\n# B\n"),
        ("## A\n", "## B\nb", "## A\n\n## B\nb\n"),
        ("# A\n", "B\n===\n\nC\nc\n---\n", "# A\n\nB\n---\n\n### C c\n"),
        ("# A\r\n\r\na\r\n", "# B\nb\n", "# A\r\n\r\na\r\n\r\n## B\r\nb\r\n"),
        ("# A\r\n\r\na", "# B\r\nb", "# A\r\n\r\na\r\n\r\n## B\r\nb\r\n"),
        ("", "# B 🐝\n", "## B 🐝\n"),
        ("a\n", "", "a\n\n## b\n"),
        ("# A\n\n```\n# open\n", "# B\n", "# A\n\n```\n# open\n```\n\n## B\n"),
        ("# A\n\n~~~~\nx", "# B\n\n```\n# code\n```\n", "# A\n\n~~~~\nx\n~~~~\n\n## B\n\n```\n# code\n```\n"),
        ("# A\n\n<!-- x\n", "# B\n", "# A\n\n<!-- x\n-->\n\n## B\n"),
        ("---\nA: 1\n\n[[c]]\n", "x\n\n---\n\ny\n", "\n---\nA: 1\n\n[[c]]\n\n## b\n\nx\n\n---\n\ny\n"),
        ("\ufeff# A\n", "\ufeff# B\n", "\ufeff# A\n\n## B\n"),
        ("---\ntitle: A\n---\na\n", "---\ntitle: Bee\ntype: x\n---\nb\n", "---\ntitle: A\n---\na\n\n## Bee\n\nb\n"),
        ("---\ntags: [x]\n---\n", "---\ntags: [x, z]\n---\n# B\n", "---\ntags: [x, z]\n---\n## B\n"),
        ("---\nA: 1\n---", "# B\n", "---\nA: 1\n---\n## B\n"),
        (
            "---\naliases: [one]\n---\nA\n",
            "---\ntitle: Bee\naliases:\n- two\n---\n# Bee\n",
            "---\naliases: [one, Bee, b, two]\n---\nA\n\n## Bee\n",
        ),
        ("[x]\n\n[x]: c.md\n", "# B\n[x] [t][x]\n\n[x]: a.md\n",
         "[x]\n\n[x]: c.md\n\n## B\n[x][x-2] [t][x-2]\n\n[x-2]: a.md\n"),
        ("one[^1]\n\n[^1]: A\n", "# B\ntwo[^1] `[^1]`\n\n[^1]: B\n",
         "one[^1]\n\n[^1]: A\n\n## B\ntwo[^1-2] `[^1]`\n\n[^1-2]: B\n"),
    ],
)  # fmt: skip
def test_a_note_goes_below_the_other_one(memory: Engine, tmp_path: Path, into: str, merged: str, after: str) -> None:
    assert merge(memory, tmp_path, "b.md", "a.md", {"a.md": into, "b.md": merged, "c.md": "x\n"})["a.md"] == after


def test_links_lead_to_the_note_that_stays_and_keep_their_words(memory: Engine, tmp_path: Path) -> None:
    after = merge(
        memory, tmp_path, "sub/b.md", "a.md",
        {
            "a.md": "# A\n\n[[b]] [[c]]\n",
            "sub/b.md": "# B\n\n[a](../a.md) [c](c.md) [[a#A]] [[#Here]] [o](#here)\n\n## Here [[c|see]]\n",
            "sub/c.md": "# C\n\n[b](b.md#here) [[b|bee]] [[B]] [[b#Here|there]] `[[b]]`\n",
            "MEMORY.md": "- [A](a.md): one\n- [B](sub/b.md): two\n",
        },
    )  # fmt: skip
    assert after == {
        "a.md": "# A\n\n[[a]] [[c]]\n\n## B\n\n[a](a.md) [c](sub/c.md) [[a#A]] [[#Here]] [o](#here)\n\n"
        "### Here [[c|see]]\n",
        "sub/c.md": "# C\n\n[b](../a.md#here) [[a|bee]] [[a]] [[a#Here|there]] `[[b]]`\n",
        "MEMORY.md": "- [A](a.md): one\n- [B](a.md): two\n",
    }


def test_a_heading_of_which_there_are_two_is_named_below_the_title(memory: Engine, tmp_path: Path) -> None:
    after = merge(
        memory, tmp_path, "b.md", "a.md",
        {
            "a.md": "# A\n\n## Next\n\n[[#Next]]\n",
            "b.md": "# B [x]\n\n[[#Next]] [n](#next) [[b#Only]]\n\n## Next\n\n## Only\n",
            "c.md": "[[b#Next|n]] [b](b.md#next) [[a#Next]]\n\n| [[b#Next\\|n]] |\n",
        },
    )  # fmt: skip
    assert after == {
        "a.md": "# A\n\n## Next\n\n[[#Next]]\n\n## B [x]\n\n"
        "[[a#B x#Next]] [n](a.md#b-x#next) [[a#Only]]\n\n### Next\n\n### Only\n",
        "c.md": "[[a#B x#Next|n]] [b](a.md#b-x#next) [[a#Next]]\n\n| [[a#B x#Next\\|n]] |\n",
    }
    assert find_heading_line(after["a.md"], "B x#Next") == find_heading_line(after["a.md"], "b-x#next") == 11


def test_the_history_of_both_stays(memory: Engine, tmp_path: Path) -> None:
    fill(memory, tmp_path, {"a.md": "# A\n", "b.md": "# B\n"})
    result, _ = rearranging.merge(memory, "b.md", "a.md", plan_merge(memory, "b.md", "a.md"))
    assert result.event is not None
    assert (result.event.command, result.event.path, result.event.note) == (
        "merge",
        "/memories/a.md",
        "with b.md, 2 files",
    )
    for path, sign in (("a.md", "~"), ("b.md", "-")):
        rows = memory.history.versions_of(path)
        assert [row.event.seq == result.event.seq for row in rows] == [True, False]
        assert rows[0].sign == sign


def test_links_may_be_left_as_they_are(memory: Engine, tmp_path: Path) -> None:
    fill(memory, tmp_path, {"a.md": "# A\n", "b.md": "# B\n", "c.md": "[[b]]\n"})
    planned = plan_merge(memory, "b.md", "a.md")
    result, planned = rearranging.merge(memory, "b.md", "a.md", planned, rewrites=False)
    assert result.event is not None
    assert (tmp_path / "memories/c.md").read_text() == "[[b]]\n"
    assert rearranging.format_links(planned, is_rewritten=False) == "1 link is broken now: c.md:1 (b)."


def test_links_in_protected_notes_are_left_and_named(memory: Engine, tmp_path: Path) -> None:
    fill(memory, tmp_path, {"a.md": "# A\n", "b.md": "# B\n", "kept/c.md": "[[b]]\n"})
    memory.files.protect(["kept"])
    result, planned = rearranging.merge(memory, "b.md", "a.md", plan_merge(memory, "b.md", "a.md"))
    assert result.event is not None
    assert rearranging.format_links(planned, is_rewritten=True) == "1 link is broken now (protected): kept/c.md:1 (b)."


@pytest.mark.parametrize(
    ("merged", "into", "words"),
    [
        ("b.md", "b.md", "b.md is the same note twice"),
        ("no.md", "a.md", "no.md does not exist"),
        ("b.md", "no.md", "no.md does not exist"),
        ("dir", "a.md", "dir is a directory"),
        ("latin.md", "a.md", "latin.md is not text in UTF-8"),
        ("zero.md", "a.md", "zero.md is not text in UTF-8"),
        ("data.json", "a.md", "data.json is no note in Markdown"),
        ("link.md", "a.md", "link.md is a link or a device, and no note"),
        (".hidden/x.md", "a.md", ".hidden/x.md is hidden, so its links are not known"),
        ("kept.md", "a.md", "kept.md is protected"),
        ("b.md", "kept.md", "kept.md is protected"),
    ],
)
def test_what_cannot_be_merged_is_said(memory: Engine, tmp_path: Path, merged: str, into: str, words: str) -> None:
    folder = tmp_path / "memories"
    fill(memory, tmp_path, {"a.md": "# A\n", "b.md": "# B\n", "dir/x.md": "x\n", "data.json": "{}\n",
                            ".hidden/x.md": "x\n", "kept.md": "x\n"})  # fmt: skip
    (folder / "latin.md").write_bytes(b"caf\xe9\n")
    (folder / "zero.md").write_bytes(b"a\0b\n")
    (folder / "link.md").symlink_to("a.md")
    memory.reconcile()
    memory.files.protect(["kept.md"])
    head, before = memory.get_head(), read_all(folder)
    with pytest.raises(RearrangingRefused) as refusal:
        plan_merge(memory, merged, into)
    assert str(refusal.value) == words
    assert (memory.get_head(), read_all(folder)) == (head, before)


def test_what_the_agents_program_keeps_is_refused_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / ".codex/memories"
    write_all(folder, {"memory_summary.md": "x\n", "raw_memories.md": "# R\n", "MEMORY.md": "# M\n",
                       "rollout_summaries/a.md": "x\n"})  # fmt: skip
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.reconcile()
        assert memory.dialect == get_dialect("codex")
        with pytest.raises(RearrangingRefused, match=r"raw_memories\.md is generated\. Codex overwrites it"):
            plan_merge(memory, "raw_memories.md", "MEMORY.md")
        with pytest.raises(RearrangingRefused, match="is generated"):
            plan_split(memory, "rollout_summaries/a.md")


def test_a_note_that_would_be_longer_than_its_agent_accepts_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "project/.serena/memories"
    write_all(folder, {"a.md": "x" * 149_000 + "\n", "b.md": "y" * 2_000 + "\n"})
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.reconcile()
        with pytest.raises(RearrangingRefused, match="longer than the 150,000 characters that Serena accepts"):
            plan_merge(memory, "b.md", "a.md")


def test_what_an_agent_writes_meanwhile_is_kept(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    fill(memory, tmp_path, {"a.md": "# A\n", "b.md": "# B\n", "c.md": "[[b]]\n"})
    planned = plan_merge(memory, "b.md", "a.md")
    (folder / "a.md").write_text("# A\n\nan agent\n")
    (folder / "b.md").write_text("# B\n\nanother\n")
    (folder / "c.md").write_text("[[b]] twice [[b]]\n")
    result, planned = rearranging.merge(memory, "b.md", "a.md", planned)
    assert result.event is not None
    assert (folder / "a.md").read_text() == "# A\n\nan agent\n\n## B\n\nanother\n"
    assert (folder / "c.md").read_text() == "[[a]] twice [[a]]\n"
    assert len(planned.links.rewritten) == 2


def test_a_note_that_goes_meanwhile_is_no_longer_merged(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    fill(memory, tmp_path, {"a.md": "# A\n", "b.md": "# B\n"})
    planned = plan_merge(memory, "b.md", "a.md")
    (folder / "b.md").unlink()
    result, _ = rearranging.merge(memory, "b.md", "a.md", planned)
    assert result.event is None
    assert result.problem == "Not merged: b.md does not exist. Nothing was written."
    assert read_all(folder) == {"a.md": b"# A\n"}


def test_writers_lose_nothing_to_merges(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    fill(memory, tmp_path, {"log.md": "# Log\n\n", **{f"n{number}.md": f"[[log]] {number}\n" for number in range(4)}})
    merged = threading.Event()
    lines = 0

    def write() -> None:
        nonlocal lines
        while not merged.is_set() or lines < 5:
            insert = {"command": "insert", "path": "/memories/log.md", "insert_line": 2, "insert_text": f"w{lines}\n"}
            assert not memory.execute(insert, actor=memtui.Agent("writer")).is_error
            lines += 1

    writer = threading.Thread(target=write)
    writer.start()
    done = []
    try:
        for number in range(4):
            path = f"n{number}.md"
            result, _ = rearranging.merge(memory, path, "log.md", plan_merge(memory, path, "log.md"))
            done += [number] if result.event is not None else []
    finally:
        merged.set()
        writer.join()
    text = (folder / "log.md").read_text().split("\n")
    assert sorted(text.count(f"w{number}") for number in range(lines)) == [1] * lines
    assert done
    assert all(f"[[log]] {number}" in text for number in done)


# Splitting

PLAN = """---
tags: [p]
---
# Plan

Intro [r](#risks) [[#Next steps|next]] [x][d] one[^1]

## Risks

[[#Next steps]] [[plan]] [[#Risks]] [[plan#Big]]

```
## no heading
```

### Big

[x][d]

Next steps
----------

[[#Risks]] [b](#big) [o](sub/o.md)

## Risks

again

[d]: sub/o.md
[^1]: a footnote
"""


def test_each_section_becomes_a_note_and_links_lead_to_it(memory: Engine, tmp_path: Path) -> None:
    others = {
        "sub/o.md": "[p](../plan.md#big) [[plan]] [[plan#Next steps|n]] [[plan#No such]]\n",
        "RISKS.md": "taken, in other capitals\n",
    }
    after, planned = split(memory, tmp_path, "plan.md", {"plan.md": PLAN, **others})
    assert planned.parts == ("risks-2.md", "next-steps.md", "risks-3.md")
    assert after == {
        "plan.md": "---\ntags: [p]\n---\n# Plan\n\nIntro [r](risks-2.md#risks) [[next-steps#Next steps|next]] [x][d] "
        "one[^1]\n\n- [[risks-2|Risks]]\n- [[Next steps]]\n- [[risks-3|Risks]]\n\n[d]: sub/o.md\n[^1]: a footnote\n",
        "risks-2.md": "# Risks\n\n[[next-steps#Next steps]] [[plan]] [[#Risks]] [[risks-2#Big]]\n\n"
        "```\n## no heading\n```\n\n## Big\n\n[x][d]\n\n[d]: sub/o.md\n",
        "next-steps.md": "Next steps\n==========\n\n[[risks-2#Risks]] [b](risks-2.md#big) [o](sub/o.md)\n",
        "risks-3.md": "# Risks\n\nagain\n\n[d]: sub/o.md\n[^1]: a footnote\n",
        "sub/o.md": "[p](../risks-2.md#big) [[plan]] [[next-steps#Next steps|n]] [[plan#No such]]\n",
        "RISKS.md": "taken, in other capitals\n",
    }
    graph = Graph({path: parse_note(text, path) for path, text in after.items()})
    listed = [edge.targets for edge in graph.get_edges("plan.md") if edge.link is not None and edge.link.line > 7]
    assert listed[:3] == [("risks-2.md",), ("next-steps.md",), ("risks-3.md",)]


@pytest.mark.parametrize(
    ("text", "level", "after"),
    [
        ("# A\na\n# B\nb", 0, {"x.md": "- [[A]]\n- [[B]]\n", "a.md": "# A\na\n", "b.md": "# B\nb\n"}),
        (
            "top\r\n\r\n## A\r\n### S\r\n## B\r\nb\r\n",
            0,
            {"x.md": "top\r\n\r\n- [[A]]\r\n- [[B]]\r\n", "a.md": "# A\r\n## S\r\n", "b.md": "# B\r\nb\r\n"},
        ),
        (
            "# One\n## A\na\n# Two\nt\n## B\nb\n",
            2,
            {"x.md": "# One\n\n- [[A]]\n\n# Two\nt\n\n- [[B]]\n", "a.md": "# A\na\n", "b.md": "# B\nb\n"},
        ),
        ("# 🐝\n# `C#` [[x|y]]\n", 0, {"x.md": "- [[x-2|🐝]]\n- [C# y](c-y.md)\n", "x-2.md": "# 🐝\n",
                                      "c-y.md": "# `C#` [[x|y]]\n"}),
        ("---\nname: x\n---\n# A\n", 1, {"x.md": "---\nname: x\n---\n- [[A]]\n", "a.md": "# A\n"}),
    ],
)  # fmt: skip
def test_what_is_left_and_what_is_new(
    memory: Engine, tmp_path: Path, text: str, level: int, after: dict[str, str]
) -> None:
    assert split(memory, tmp_path, "x.md", {"x.md": text}, level=level)[0] == after


def test_the_links_are_written_as_the_folder_writes_them(memory: Engine, tmp_path: Path) -> None:
    texts = {"x.md": "# Grüner Tee\n# B\n", "o.md": "[x](x.md)\n"}
    assert split(memory, tmp_path, "x.md", texts)[0]["x.md"] == "- [Grüner Tee](grüner-tee.md)\n- [B](b.md)\n"


def test_an_index_and_parts_of_an_agents_folder_are_written_as_it_does(tmp_path: Path) -> None:
    folder = tmp_path / ".qwen/memory"
    write_all(folder, {"x.md": "---\nname: x\n---\n# A\n# B\n", "MEMORY.md": "# M\n"})
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.reconcile()
        assert memory.dialect.name == "qwen"
        result, _ = rearranging.split(memory, "x.md", plan_split(memory, "x.md"))
    assert result.event is not None
    assert (folder / "a.md").read_text().startswith("---\nname: a\ndescription:")
    assert (folder / "a.md").read_text().endswith("---\n# A\n")


@pytest.mark.parametrize(
    ("path", "level", "words"),
    [
        ("no.md", 0, "no.md does not exist"),
        ("dir", 0, "dir is a directory"),
        ("plain.md", 0, "plain.md has no two headings of a level"),
        ("plain.md", 2, "plain.md has no heading of level 2"),
        ("plain.md", 7, "a heading has a level of 1 to 6, and not 7"),
        ("kept.md", 0, "kept.md is protected"),
    ],
)
def test_what_cannot_be_split_is_said(memory: Engine, tmp_path: Path, path: str, level: int, words: str) -> None:
    before = fill(memory, tmp_path, {"plain.md": "# A\n", "dir/x.md": "x\n", "kept.md": "# A\n# B\n"})
    memory.files.protect(["kept.md"])
    with pytest.raises(RearrangingRefused) as refusal:
        plan_split(memory, path, level)
    assert str(refusal.value) == words
    assert read_all(tmp_path / "memories") == before


def test_a_name_that_is_taken_meanwhile_is_left_alone(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    fill(memory, tmp_path, {"x.md": "# A\n# B\n"})
    planned = plan_split(memory, "x.md")
    (folder / "a.md").write_text("an agent's\n")
    result, planned = rearranging.split(memory, "x.md", planned)
    assert result.event is not None
    assert planned.parts == ("a-2.md", "b.md")
    assert (folder / "a.md").read_text() == "an agent's\n"


# At random


@pytest.mark.sweep
@pytest.mark.timeout(3_600 if EVERY else 300)
def test_random_merges_and_splits_break_no_link(memory: Engine, tmp_path: Path) -> None:
    folder, chance = tmp_path / "memories", random.Random(2)
    notes, times = (2_000, 500) if EVERY else (many(300, 80), many(120, 30))
    texts = make_notes(chance, notes)
    for number, path in enumerate(texts):
        texts[path] += "" if number % 4 else f"\n## Part {number}\n\n[[#Rest {number}]]\n\n## Rest {number}\n\nx\n"
    before = fill(memory, tmp_path, texts)
    merges = splits = 0
    for _ in range(times):
        graph = Graph({path: parse_note(data.decode(), path) for path, data in before.items()})
        merged, into = chance.sample(sorted(before), 2)
        if chance.randrange(3):
            result, planned = rearranging.merge(memory, merged, into, plan_merge(memory, merged, into))
            merges += 1
        else:
            into = chance.choice([path for path in before if before[path].count(b"\n## ") > 1] or [into])
            merged = ""
            if before[into].count(b"\n## ") < 2:
                continue
            result, planned = rearranging.split(memory, into, plan_split(memory, into, 2), level=2)
            splits += 1
        assert result.event is not None, result.problem
        after = read_all(folder)
        now = Graph({path: parse_note(data.decode(), path) for path, data in after.items()})
        left = {(each.source, each.link.line) for each in planned.links.left}
        assert all(each.link.form == "import" for each in planned.links.left), "no such import"
        expected = sum(len(edge.targets) == 1 for edge in graph.iter_edges())
        found = [edge for edge in now.iter_edges() if edge.state == "resolved"]
        assert len(found) >= expected - len(left), (merged, into)
        for path in before.keys() & after.keys() - {into}:
            for was, edge in zip(graph.get_edges(path), now.get_edges(path), strict=True):
                if len(was.targets) == 1 and edge.link is not None and (path, edge.link.line) not in left:
                    to = into if was.targets[0] == merged else was.targets[0]
                    assert edge.targets[0] in ((to,) if to != into else (into, *planned.parts)), (merged, into, path)
        undone = memory.undo([result.event.seq])
        assert undone.event is not None, undone.problem
        assert read_all(folder) == before
        if chance.randrange(2):
            assert memory.undo([undone.event.seq]).event is not None
            assert read_all(folder) == after
            before = after
    assert merges > 5
    assert splits > 2
