"""Giving memories other names and copying them, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main

Captured = pytest.CaptureFixture[str]


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_one_is_moved_and_its_history_goes_along(story: Path, capsys: Captured) -> None:
    assert main(["mv", "notes/old.md", "archive/2026/old.md"]) == 0
    said = capsys.readouterr()
    assert said.out == "Moved notes/old.md to archive/2026/old.md. Undo: memtui undo 8\n"
    assert said.err == ""
    with memtui.open(story) as memory:
        rows = memory.history.versions_of("archive/2026/old.md")
    assert [row.path for row in rows] == ["archive/2026/old.md", "notes/old.md", "new.md", "new.md"]
    assert main(["undo"]) == 0
    assert (story / "notes/old.md").exists()
    assert not (story / "archive").exists()


@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        ("user_a.md", "user_new.md", ["MEMORY.md:1 (user_a.md)", "b.md:1 (user_a)", "notes/c.md:1 (../user_a.md)"]),
        ("user_a.md", "notes/user_a.md", ["MEMORY.md:1 (user_a.md)", "notes/c.md:1 (../user_a.md)"]),
        ("notes", "kept", ["MEMORY.md:2 (notes/c.md)"]),
        ("notes/c.md", "c.md", ["MEMORY.md:2 (notes/c.md)", "c.md:1 (../user_a.md)"]),
        ("b.md", "d.md", []),
    ],
)
@pytest.mark.parametrize("way", [(), ("--dry-run",), ("--json",)])
def test_links_that_do_not_lead_there_any_more_are_said_at_once(
    *, folder: Path, old: str, new: str, broken: list[str], way: tuple[str, ...], capsys: Captured
) -> None:
    (folder / "user_a.md").write_text("Ada\n")
    (folder / "MEMORY.md").write_text("- [A](user_a.md)\n- [C](notes/c.md)\n- [gone](gone.md)\n")
    (folder / "b.md").write_text("See [[user_a]].\n")
    (folder / "notes/c.md").write_text("See [a](../user_a.md), [here](#here).\n")
    assert main(["mv", old, new, *way]) == 0
    said = capsys.readouterr()
    if way == ("--json",):
        rows = json.loads(said.out)["broken_links"]
        found = [f"{row['path'].removeprefix('/memories/')}:{row['line']} ({row['target']})" for row in rows]
        assert sorted(found) == broken
    else:
        state = "would be broken" if way else "broken now"
        assert (state in said.err) is bool(broken)
        assert all(each in said.err for each in broken)


def write_linked(folder: Path) -> None:
    (folder / "tea.md").write_text("See [b](b.md).\n")
    (folder / "MEMORY.md").write_text("- [Tea](tea.md): green\n- [B](b.md)\n")
    (folder / "b.md").write_text("A [[tea|cup]].\n")


def test_links_follow_in_the_same_event_if_asked_for(folder: Path, capsys: Captured) -> None:
    write_linked(folder)
    before = files(folder)
    assert main(["mv", "tea.md", "hot/chai.md", "--links", "rewrite"]) == 0
    said = capsys.readouterr()
    assert said.err == "Rewrote 3 links in 3 notes.\n"
    assert said.out == "Moved tea.md to hot/chai.md. Undo: memtui undo 2\n"
    assert (folder / "hot/chai.md").read_text() == "See [b](../b.md).\n"
    assert (folder / "MEMORY.md").read_text() == "- [Tea](hot/chai.md): green\n- [B](b.md)\n"
    assert (folder / "b.md").read_text() == "A [[chai|cup]].\n"
    assert main(["undo", "--yes"]) == 0
    assert files(folder) == before
    assert main(["verify"]) == 0


def test_what_would_be_rewritten_is_said_and_left_by_a_rehearsal(folder: Path, capsys: Captured) -> None:
    write_linked(folder)
    before = files(folder)
    assert main(["mv", "tea.md", "chai.md", "--links", "rewrite", "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["line"], row["target"], row["written"]) for row in found["rewritten_links"]] == [
        (1, "tea.md", "chai.md"),
        (1, "tea", "chai"),
    ]
    assert found["broken_links"] == []
    assert files(folder) == before


def test_a_copy_leads_to_where_the_original_leads(folder: Path, capsys: Captured) -> None:
    write_linked(folder)
    assert main(["cp", "tea.md", "hot/chai.md", "--links", "rewrite"]) == 0
    assert "Rewrote 1 link in 1 note." in capsys.readouterr().err
    assert (folder / "hot/chai.md").read_text() == "See [b](../b.md).\n"
    assert (folder / "b.md").read_text() == "A [[tea|cup]].\n"


def test_links_to_what_is_deleted_become_words_if_asked_for(folder: Path, capsys: Captured) -> None:
    write_linked(folder)
    assert main(["rm", "tea.md"]) == 0
    assert "2 links are broken now: MEMORY.md:1 (tea.md), b.md:1 (tea). --links" in capsys.readouterr().err
    assert main(["undo", "--yes"]) == 0
    assert main(["rm", "tea.md", "--links", "rewrite"]) == 0
    assert (folder / "MEMORY.md").read_text() == "- [B](b.md)\n"
    assert (folder / "b.md").read_text() == "A cup.\n"


@pytest.mark.parametrize("target", ["notes", "notes/", "/memories/notes", "made/"])
def test_several_go_into_a_directory_as_one_event(folder: Path, target: str, capsys: Captured) -> None:
    (folder / "more.md").write_text("more\n")
    assert main(["mv", "prefs.md", "/memories/more.md", target]) == 0
    assert capsys.readouterr().out == "Moved 2 items. Undo: memtui undo 2\n"
    assert {"prefs.md", "more.md"} <= {
        path.name for path in (folder / target.split("/")[-1 - target[-1:].count("/")]).iterdir()
    }
    with memtui.open(folder) as memory:
        last = list(memory.events())[-1]
    assert (last.command, last.note, len(last.moved)) == ("rename", "2 files", 2)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["mv", "no.md", "k"], 3, "Not moved: no.md does not exist.\n"),
        (["mv", "prefs.md", "notes/today.md"], 5, "Not moved: notes/today.md already exists.\n"),
        (["mv", "notes", "notes/k"], 2, "Not moved: notes cannot be put into itself.\n"),
        (["mv", "prefs.md", "a\x1bb"], 2, "Not moved: a\\x1bb is not a valid name: a character in it is not"),
        (["mv", "prefs.md", "prefs.md"], 1, "Not moved: already the same. Nothing was written.\n"),
        (["mv", "no.md", "no.md"], 3, "Not moved: no.md does not exist.\n"),
        (["mv", "notes/today.md", ""], 2, "A path is empty. Nothing was read or written. The whole folder is: .\n"),
        (["mv", "prefs.md"], 2, "memtui mv: give a target: memtui mv prefs.md NEW\n"),
        (["mv", "prefs.md", "notes", "k"], 2, "memtui mv: /memories/k is not a directory, so it cannot hold several"),
        (["mv", "/memories", "k"], 2, "memtui mv: that is the whole folder. Name a file in it.\n"),
        (["mv", "prefs.md", "../k"], 4, "Refused: ../k is outside the memory folder. Nothing was read or written.\n"),
        (["mv", "--read-only", "prefs.md", "k"], 4, "Not moved: this is read-only. Nothing was written."),
        (["cp", "no.md", "k"], 3, "Not copied: no.md does not exist.\n"),
        (["cp", "prefs.md", "notes/today.md"], 5, "Not copied: notes/today.md already exists.\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_and_nothing_changes(
    folder: Path, words: list[str], code: int, said: str, capsys: Captured
) -> None:
    before = files(folder)
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)
    assert files(folder) == before


def test_a_dry_run_says_what_would_be(folder: Path, capsys: Captured) -> None:
    before = files(folder)
    assert main(["mv", "-n", "prefs.md", "notes", "k/"]) == 0
    assert capsys.readouterr().out == "prefs.md -> k/prefs.md\nnotes -> k/notes\n"
    assert main(["cp", "-n", "prefs.md", "k"]) == 0
    assert capsys.readouterr().out == "prefs.md -> k\n"
    assert files(folder) == before


def test_a_directory_is_copied_with_all_that_is_in_it(folder: Path, capsys: Captured) -> None:
    assert main(["cp", "notes", "backup"]) == 0
    assert capsys.readouterr().out == "Copied notes to backup. Undo: memtui undo 2\n"
    assert files(folder)["backup/today.md"] == files(folder)["notes/today.md"]
    assert main(["undo"]) == 0
    assert not (folder / "backup").exists()


def test_a_swap_is_told_in_the_log_and_the_chain_stays_whole(folder: Path, capsys: Captured) -> None:
    with memtui.open(folder) as memory:
        memory.files.move({"prefs.md": "notes/today.md", "notes/today.md": "prefs.md"})
    assert (folder / "prefs.md").read_text() == "standup at ten\n"
    assert main(["log"]) == 0
    *_, line = capsys.readouterr().out.splitlines()
    assert line.split()[3:6] == ["you", "rename", "/memories"]
    assert line.endswith("2 files")
    assert main(["log", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out.splitlines()[-1])["changes"]) == 2
    assert main(["verify"]) == 0
    assert main(["undo"]) == 0
    assert main(["verify"]) == 0
    assert (folder / "notes" / "today.md").read_text() == "standup at ten\n"


def test_programs_are_answered_in_json(folder: Path, capsys: Captured) -> None:
    assert main(["mv", "--json", "prefs.md", "k"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (answer["done"], answer["problem"], answer["event"]["new_path"]) == (True, None, "/memories/k")
    assert main(["cp", "--json", "k", "notes/today.md"]) == 5
    assert json.loads(capsys.readouterr().out)["left"][0]["reason"] == "taken"
    assert (folder / "k").exists()
