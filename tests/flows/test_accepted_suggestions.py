"""Suggestions of a folder, and what becomes of those that are accepted."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import memtui
from memtui.core.settings import AuditSettings
from memtui.engine import Engine
from memtui.flows.suggestions import accept_suggestion, find_suggestions
from memtui.knowledge.source import GraphStopped
from memtui.knowledge.suggestions import SUGGESTION_KINDS, Suggestion, describe_suggestion, format_command
from memtui.ui.flows.dialog import PHRASES

WORDS = "".join(f"Step {number} of the release takes some minutes of a quiet morning. " for number in range(9))
NOTES: Mapping[str, str] = {
    "MEMORY.md": "# Memory\n\n- [Tea](tea.md) \u2014 how to make it\n- [Shop](shop.md) \u2014 where\n"
    "- [First](first.md)\n- people/\n",
    "tea.md": "# Green Tea\n\nHot.\n",
    "shop.md": "# The Shop\r\n\r\nIt has Green Tea.\r\n",
    "lost.md": "---\nname: lost\ndescription: Where lost things are\n---\n\nIn the cellar.\n",
    "people/ada.md": "---\ntype: person\n---\nx\n",
    "people/ben.md": "---\ntype: person\n---\ny\n",
    "people/cleo.md": "---\ntype: person\n---\nz\n",
    "people/dora.md": "Dora.\n",
    "first.md": f"# Releases\n\n{WORDS}\n",
    "people/second.md": f"---\ntype: person\n---\n# Releases\n\n{WORDS.replace('Step 3', 'Stage 3')}\n",
}
LONG = "# Long\n\n## One\n\n" + "Many words of a long story. " * 1_000 + "\n## Two\n\nEnd.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "memories", NOTES)


def fill(folder: Path, texts: Mapping[str, str]) -> Path:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


@pytest.fixture
def engine(folder: Path, tmp_path: Path) -> Iterator[Engine]:
    with memtui.open(folder, state=tmp_path / "state") as engine:
        yield engine


def list_found(engine: Engine, *kinds: str) -> list[tuple[str, tuple[str, ...], bool]]:
    found = find_suggestions(engine, kinds=kinds or SUGGESTION_KINDS)
    return [(each.kind, each.notes, each.is_acceptable) for each in found]


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def find_one(engine: Engine, kind: str) -> Suggestion:
    (found,) = find_suggestions(engine, kinds=[kind])
    return found


def test_each_kind_is_found(folder: Path, engine: Engine) -> None:
    fill(folder, {"long.md": LONG})
    engine.reconcile()
    found = find_suggestions(engine)
    assert [(each.kind, each.notes, each.is_acceptable) for each in found] == [
        ("index", ("long.md", "MEMORY.md"), True),
        ("index", ("lost.md", "MEMORY.md"), True),
        ("link", ("shop.md", "tea.md"), True),
        ("categorise", ("people/dora.md",), True),
        ("merge", ("first.md", "people/second.md"), True),
        ("split", ("long.md",), True),
    ]
    reasons = [each.reason for each in found]
    assert reasons[0] == "MEMORY.md does not lead to it"
    assert reasons[4].startswith("the second says nearly the same as first.md: 9")
    assert reasons[5].endswith("; 2 sections to split at")
    assert [describe_suggestion(each) for each in found[2:]] == [
        "link shop.md to tea.md", "give people/dora.md the type person", "merge people/second.md into first.md",
        "split long.md",
    ]  # fmt: skip
    assert [format_command(each) for each in found[3:]] == [
        "", "memtui merge first.md people/second.md", "memtui split long.md"
    ]  # fmt: skip


def test_nothing_is_suggested_of_a_folder_in_order(tmp_path: Path) -> None:
    folder = fill(tmp_path / "memories", {"MEMORY.md": "- [Tea](tea.md)\n", "tea.md": "# Tea\nHot, see [[MEMORY]].\n"})
    with memtui.open(folder, state=tmp_path / "state") as engine:
        assert list_found(engine) == []


@pytest.mark.parametrize(
    ("kind", "path", "after"),
    [
        ("index", "MEMORY.md", NOTES["MEMORY.md"].replace(
            "(first.md)\n", "(first.md)\n- [lost](lost.md) \u2014 Where lost things are\n"
        )),
        ("link", "shop.md", "# The Shop\r\n\r\nIt has [[Green Tea]].\r\n"),
        ("categorise", "people/dora.md", "---\ntype: person\n---\n\nDora.\n"),
    ],
)  # fmt: skip
def test_what_is_accepted_is_one_event_and_one_undo(
    folder: Path, engine: Engine, kind: str, path: str, after: str
) -> None:
    before, head = read_all(folder), engine.get_head()[0]
    outcome = accept_suggestion(PHRASES, engine, find_one(engine, kind))
    assert not outcome.is_warning, outcome.words
    assert read_all(folder) == {**before, path: after.encode()}
    assert (outcome.event, engine.get_head()[0]) == (head + 1, head + 1)
    assert list_found(engine, kind) == []
    engine.undo([outcome.event])
    assert read_all(folder) == before
    assert len(list_found(engine, kind)) == 1


def test_what_changed_meanwhile_is_left(folder: Path, engine: Engine) -> None:
    suggested = {kind: find_one(engine, kind) for kind in ("index", "link", "categorise")}
    changed = {
        "MEMORY.md": NOTES["MEMORY.md"] + "- [Lost](lost.md)\n",
        "shop.md": "It has coffee.\n",
        "people/dora.md": "---\ntype: robot\n---\nDora.\n",
    }
    fill(folder, changed)
    engine.reconcile()
    before, head = read_all(folder), engine.get_head()[0]
    for each in suggested.values():
        outcome = accept_suggestion(PHRASES, engine, each)
        assert outcome.is_warning
        assert outcome.event == 0
    assert (read_all(folder), engine.get_head()[0]) == (before, head)
    (folder / "people/dora.md").unlink()
    assert "is not there" in accept_suggestion(PHRASES, engine, suggested["categorise"]).words


def test_two_notes_are_merged_and_a_long_one_is_split(engine: Engine, folder: Path) -> None:
    fill(folder, {"long.md": LONG, "to-second.md": "See [it](people/second.md).\n"})
    engine.reconcile()
    before = read_all(folder)
    outcome = accept_suggestion(PHRASES, engine, find_one(engine, "merge"))
    merged = "Merged people/second.md into first.md. Rewrote 1 link in 1 note. u undoes it."
    assert (outcome.words, outcome.is_warning) == (merged, False)
    after = read_all(folder)
    assert "people/second.md" not in after
    assert after["to-second.md"] == b"See [it](first.md).\n"
    assert after["first.md"].count(b"Step 8 of the release") == 2
    assert not engine.undo([outcome.event]).problem
    assert read_all(folder) == before
    outcome = accept_suggestion(PHRASES, engine, find_one(engine, "split"))
    assert outcome.words.startswith("Split long.md into 2 notes: ")
    assert len(read_all(folder)) == len(before) + 2
    assert not engine.undo([outcome.event]).problem
    assert read_all(folder) == before


def test_of_two_notes_that_say_the_same_one_text_stays(tmp_path: Path) -> None:
    texts = {"a.md": f"# A\n\n{WORDS}\n", "b.md": f"# A\r\n\r\n{WORDS}\r\n", "c.md": "[[b#A]]\n"}
    folder = fill(tmp_path / "memories", texts)
    with memtui.open(folder, state=tmp_path / "state") as engine:
        accept_suggestion(PHRASES, engine, find_one(engine, "merge"))
    assert read_all(folder) == {"a.md": texts["a.md"].encode(), "c.md": b"[[a#A]]\n"}


def test_an_index_of_another_form_is_told_and_left_to_the_person(tmp_path: Path) -> None:
    texts = {"MEMORY.md": "| [A](a.md) | x |\n|---|---|\n| [B](b.md) | y |\n"}
    folder = fill(tmp_path / "memories", {**texts, **{f"{name}.md": f"{name} {name}\n" for name in "abc"}})
    with memtui.open(folder, state=tmp_path / "state") as engine:
        suggested = find_one(engine, "index")
        assert (suggested.notes, suggested.is_acceptable) == (("c.md", "MEMORY.md"), False)
        outcome = accept_suggestion(PHRASES, engine, suggested)
        assert outcome.words == "Not done: MEMORY.md is left as it is, as no entry in its form leads there."
    assert (folder / "MEMORY.md").read_text() == texts["MEMORY.md"]


def test_what_a_program_keeps_or_would_refuse_is_not_suggested(tmp_path: Path) -> None:
    team = {"team/x/MEMORY.md": "- [A](a.md)\n- [B](b.md)\n"} | {
        f"team/x/{name}.md": f"# {name * 5}\n" for name in "abc"
    }
    folder = fill(tmp_path / ".claude" / "projects" / "p" / "memory", {"MEMORY.md": "# M\n", **team, "d.md": "aaaaa\n"})
    with memtui.open(folder, state=tmp_path / "state") as engine:
        assert engine.dialect.name == "claude-code"
        assert list_found(engine, "index", "categorise", "merge", "split") == []
    people = {
        f"people/{name}.md": f"---\nname: {name}\ndescription: x\n---\n" for name in ("ada", "ben", "cleo", "dora")
    }
    typed = {path: text.replace("x\n", "x\ntype: person\n") for path, text in people.items() if "dora" not in path}
    letta = {"MEMORY.md": "# M\n", ".memfs.config.json": "{}", **people, **typed}
    folder = fill(tmp_path / "agent", letta)
    with memtui.open(folder, state=tmp_path / "letta") as engine:
        assert engine.dialect.name == "letta-memfs"
        assert list_found(engine, "categorise") == []


def test_what_an_agent_does_not_load_is_to_be_split(tmp_path: Path) -> None:
    lines = "".join(f"- [N{number}](n{number}.md)\n" for number in range(250))
    folder = fill(tmp_path / "memories", {"MEMORY.md": lines})
    with memtui.open(folder, state=tmp_path / "state") as engine:
        found = find_one(engine, "split")
        assert found.notes == ("MEMORY.md",)
        assert found.reason == (
            "loading stops after 200 lines: 50 lines have no effect; it has no sections to split at"
        )
        assert find_suggestions(engine, settings=AuditSettings(max_lines=300), kinds=["split"]) == []


def test_names_of_files_are_one_line_and_quoted(tmp_path: Path) -> None:
    name = "a b\x1b[31m\n$(x).md"
    folder = fill(tmp_path / "memories", {"first.md": WORDS, name: WORDS})
    with memtui.open(folder, state=tmp_path / "state") as engine:
        (found,) = find_suggestions(engine)
        for words in (found.reason, format_command(found), describe_suggestion(found)):
            assert "\x1b" not in words
            assert "\n" not in words
        assert format_command(found).startswith("memtui merge first.md 'a b")


def test_many_notes_are_read_at_once_and_can_be_given_up(tmp_path: Path) -> None:
    texts = {
        f"d{number % 40}/note-{number}.md": f"# Topic {number} of all\n\nSee topic {number + 1} of all.\n"
        for number in range(2_000)
    }
    folder = fill(tmp_path / "memories", texts)
    with memtui.open(folder, state=tmp_path / "state") as engine:
        found = find_suggestions(engine, kinds=["link"])
        assert len(found) == 1_999
        asked = iter([False] * 3)
        with pytest.raises(GraphStopped):
            find_suggestions(engine, stop=lambda: next(asked, True))
