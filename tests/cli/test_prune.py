"""Letting notes go that nobody needs, as one step that is undone; and removing old texts from the record for good."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.audit import pruning
from memtui.cli import main
from memtui.core.history import SkipReason
from memtui.core.unicode import HIDDEN
from memtui.engine import Engine
from memtui.engine.pins import load_pins

DAY_NS = 86_400_000_000_000


@pytest.fixture
def aged(folder: Path) -> Path:
    """A folder in which one text stood 30 days ago, another 10 days ago, and a third one stands since."""
    with memory_module.connect(folder) as memory:
        for days, text in ((40, "a" * 2_000), (30, "b" * 2_000), (10, "c" * 2_000)):
            at_ns = time.time_ns() - days * DAY_NS
            engine = memtui.Engine(memory.store, memory.journal, now_ns=lambda at_ns=at_ns: at_ns)  # type: ignore[misc]
            engine.reconcile()
            (folder / "prefs.md").write_text(text)
            engine.reconcile()
    return folder


def kept(folder: Path) -> list[int]:
    """The numbers of the events after which the text of the note is still kept."""
    with memtui.open(folder) as memory:
        rows = memory.history.versions_of("prefs.md")
        return [row.event.seq for row in reversed(rows) if memory.history.text(row.after) is not None]


def test_what_stands_nowhere_for_long_goes(aged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kept(aged) == [1, 2, 3, 4]
    assert main(["prune", "--record", "--older-than", "35d", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Removed: 1 old text, 25 B; ")
    assert out.endswith(" are kept.\n")
    assert err == ""
    assert kept(aged) == [2, 3, 4]
    with memtui.open(aged) as memory:
        last = list(memory.events())[-1]
        assert (last.command, last.actor.name, len(last.redacted)) == ("redact", "memtui", 1)
    assert main(["prune", "--record", "--older-than", "0s", "-y"]) == 0
    assert kept(aged) == [4]
    assert main(["show", "prefs.md"]) == 0


def test_the_oldest_go_until_the_rest_fits(aged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", "--record", "--max-bytes", "0", "--yes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["done"], document["dry_run"], document["texts"]) == (1, True, False, 3)
    assert document["events"] == [5]
    assert kept(aged) == [4]
    assert main(["prune", "--record", "--max-bytes", "1G", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["texts"] == 0


def test_a_dry_run_removes_nothing_also_read_only(aged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["-n"], ["-n", "--read-only"]):
        assert main(["prune", "--record", "--older-than", "5d", *words]) == 0
        assert capsys.readouterr().out.startswith("Would remove: 3 old texts, ")
    assert kept(aged) == [1, 2, 3, 4]


def test_a_person_is_asked(aged: Path, run_in_terminal: Any) -> None:
    ran = run_in_terminal("prune", "--record", "--older-than", "5d", typed=b"n\n")
    assert ran.code == 1
    assert b"Would remove for good: 3 old texts, " in ran.out
    assert b"Nothing was removed." in ran.out
    assert kept(aged) == [1, 2, 3, 4]
    assert run_in_terminal("prune", "--record", "--older-than", "5d", typed=b"y\n").code == 0
    assert kept(aged) == [4]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "--record needs --older-than AGE or --max-bytes SIZE"),
        (["--older-than", "5d"], 2, "Nothing was removed: no terminal to confirm in. Use --yes"),
        (["--older-than", "yesterday"], 2, "Can't read 'yesterday' as an age. Try 30s, 14m, 2h, 3d, 2w or 1y"),
        (["--max-bytes", "many"], 2, "Can't read 'many' as a size. Try 4096, 500K, 100M or 1.5G"),
        (["--max-bytes", "-1"], 2, "memtui prune: "),
        (["--older-than", "5d", "--read-only"], 4, "Nothing was removed: this is read-only."),
        (["--older-than", "5d", "--apply"], 2, "--unread and --apply do not go with --record."),
        (["--older-than", "5d", "--unread", "-y"], 2, "Nothing was removed."),
    ],
)
def test_what_is_not_removed_is_told(
    *, words: list[str], code: int, said: str, aged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prune", "--record", *words]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert kept(aged) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("size", "texts"), [("4096", 0), ("1B", 3), ("0.5K", 0), ("1kb", 0), ("0.001k", 3), ("1.5GiB", 0), ("2 M", None)]
)
def test_sizes_are_read_as_people_write_them(
    size: str,
    texts: int | None,
    aged: Path,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["prune", "--record", "--max-bytes", size, "-n", "--json"]) == (2 if texts is None else 0)
    out = capsys.readouterr().out
    assert texts is None or json.loads(out)["texts"] == texts


# Notes


ADA = memtui.Agent("Ada")
ALL = {"old.md", "read.md", "pinned/a.md", "guarded.md", "MEMORY.md", ".hidden", "new.md"}


@pytest.fixture
def unneeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that memtui has recorded for 200 days: one note was read since, one is new, others are kept."""
    path = tmp_path / "unneeded"
    (path / "pinned").mkdir(parents=True)
    for name in ALL - {"new.md"}:
        (path / name).write_text(f"{name} says something\n")
        os.utime(path / name, (time.time() - 300 * 86_400,) * 2)
    monkeypatch.setenv("MEMTUI_DIR", str(path))
    with memory_module.connect(path) as memory:
        for days in (200, 100):
            at_ns = time.time_ns() - days * DAY_NS
            engine = Engine(memory.store, memory.journal, now_ns=lambda at_ns=at_ns: at_ns)  # type: ignore[misc]
            engine.reconcile()
            if days == 100:
                engine.execute({"command": "view", "path": "/memories/read.md"}, actor=ADA)
        memory.update_pins(lambda _: ["pinned"])
        memory.files.protect(["guarded.md"])
        (path / "new.md").write_text("new\n")
    return path


def names(folder: Path) -> set[str]:
    """The files of a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_without_apply_it_is_only_told_which_notes_nobody_needs_and_why(
    unneeded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], ["-n"], ["--read-only"]):
        assert main(["prune", "--older-than", "150d", *words]) == 0
        out, err = capsys.readouterr()
        assert out.splitlines() == [
            "Would delete: 1 of 6 notes, 22 B, each neither read by an agent nor changed for 150 days.",
            "  old.md     22B  last written, by the file's time, 300 days ago; no agent has read it since the "
            "history began, 200 days ago",
            "  kept: MEMORY.md (every session loads it)",
            "  kept: guarded.md (protected)",
            "  kept: pinned/a.md (pinned)",
        ]
        assert err == "Nothing was deleted. To delete them, add --apply; memtui undo restores them.\n"
    assert names(unneeded) == ALL


def test_apply_deletes_them_in_one_step_that_undo_takes_back(
    unneeded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (unneeded / "old.md").read_bytes()
    assert main(["prune", "--older-than", "90d", "--apply"]) == 0
    out, err = capsys.readouterr()
    assert out == "Deleted 2 files. Undo: memtui undo 6\n"
    assert err == ""
    assert names(unneeded) == ALL - {"old.md", "read.md"}
    with memtui.open(unneeded) as memory:
        last = list(memory.events())[-1]
        assert (last.command, last.actor.name, len(last.changes)) == ("delete", "you", 2)
    assert main(["undo", "--yes"]) == 0
    assert names(unneeded) == ALL
    assert (unneeded / "old.md").read_bytes() == before


def test_unread_means_what_no_agent_has_read_at_all(unneeded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", "--older-than", "90d", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [note["path"] for note in document["notes"]] == ["/memories/old.md", "/memories/read.md"]
    assert document["notes"][1]["read"]["by"] == "Ada"
    assert document["notes"][1]["why"].startswith("last read by Ada 100 days ago, ")
    assert (document["dry_run"], document["done"], document["event"], document["caution"]) == (True, False, None, None)
    assert main(["prune", "--older-than", "90d", "--unread", "--apply", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [note["path"] for note in document["notes"]] == ["/memories/old.md"]
    assert document["done"]
    assert document["event"] > 0
    assert names(unneeded) == ALL - {"old.md"}


def test_where_the_record_is_younger_than_the_age_that_is_said(
    unneeded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prune", "--older-than", "250d"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Would delete: 1 of 6 notes")
    assert "memtui began to record this folder 200 days ago: earlier reads are unknown" in err
    assert main(["prune", "--older-than", "2y"]) == 0
    out, err = capsys.readouterr()
    assert out == "Nothing to delete: none of 6 notes is unread and unchanged for 730 days.\n"
    assert err == ""
    assert names(unneeded) == ALL


def test_what_changed_was_read_or_pinned_since_the_plan_stays(unneeded: Path) -> None:
    with memtui.open(unneeded) as memory:

        def planned() -> pruning.PrunePlan:
            return pruning.plan_prune(memory, older_than_us=90 * DAY_NS // 1_000, now_us=time.time_ns() // 1_000)

        first = planned()
        assert [note.path for note in first.candidates] == ["old.md", "read.md"]
        assert first.bytes == sum(note.bytes for note in first.candidates) > 0
        (unneeded / "old.md").write_text("changed behind its back\n")
        memory.execute({"command": "view", "path": "/memories/read.md"}, actor=ADA)
        done = pruning.execute_prune(memory, first)
        assert done.event is None
        assert done.problem
        assert {left.path: (left.reason, left.detail) for left in done.skipped} == {
            "read.md": (SkipReason.CHANGED, "an agent has read it"),
            "old.md": (SkipReason.CHANGED, ""),
        }
        assert names(unneeded) == ALL
        memory.reconcile()
        assert planned().candidates == ()


def test_a_note_that_is_pinned_or_gone_since_the_plan_stays_and_the_others_go(unneeded: Path) -> None:
    with memtui.open(unneeded) as memory:
        first = pruning.plan_prune(memory, older_than_us=0, now_us=time.time_ns() // 1_000)
        assert {note.path for note in first.candidates} == {"old.md", "read.md", "new.md"}
        memory.update_pins(lambda _: ["read.md"])
        memory.files.delete(["new.md"])
        done = pruning.execute_prune(memory, first)
        assert done.event is not None
        assert [change.path for change in done.changes] == ["old.md"]
        assert {left.sentence for left in done.skipped} == {
            "read.md has changed since: it is pinned now",
            "new.md does not exist",
        }


def test_pins_are_followed_when_what_they_name_is_moved(unneeded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mv", "pinned", "moved"]) == 0
    assert main(["mv", "old.md", "older.md"]) == 0
    capsys.readouterr()
    with memtui.open(unneeded) as memory:
        assert load_pins(memory) == ("moved",)
    assert main(["prune", "--older-than", "0s", "--json"]) == 0
    assert "/memories/moved/a.md" in [note["path"] for note in json.loads(capsys.readouterr().out)["stay"]]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "give an age: --older-than 90d. Nothing is deleted without --apply."),
        (["--older-than", "0s", "--yes"], 2, "memtui prune --record --older-than AGE --yes"),
        (["--max-bytes", "0"], 2, "--max-bytes needs --record."),
        (["--max-bytes", "0", "--yes"], 2, "memtui prune --record --max-bytes SIZE"),
        (["--older-than", "0s", "--max-bytes", "0", "--yes"], 2, "Nothing was removed."),
        (["--older-than", "0s", "--apply", "-n"], 2, "Leave one of them out."),
        (["--older-than", "0s", "--apply", "--read-only"], 4, "No note was deleted: this is read-only."),
    ],
)
def test_words_that_meant_the_record_before_remove_nothing_and_say_what_to_write(
    *, words: list[str], code: int, said: str, unneeded: Path, aged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (unneeded, aged):
        assert main(["prune", "--dir", str(folder), *words]) == code
        out, err = capsys.readouterr()
        assert said in err
        assert out == ""
    assert kept(aged) == [1, 2, 3, 4]
    assert names(unneeded) == ALL


def test_hostile_names_of_notes_are_made_visible(unneeded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (unneeded / "e\x1b]0;t\x07v\n\u202eil\udcff.md").write_text("x")
    for words in (["--json"], [], ["--apply"]):
        assert main(["prune", "--older-than", "0s", *words]) == 0
        printed = capsys.readouterr()
        assert not HIDDEN.search(printed.out + printed.err)


def test_on_a_terminal_the_reasons_are_set_in_its_width(unneeded: Path, run_in_terminal: Any) -> None:
    (unneeded / "reader.md").write_text("see [it](old.md) and [it](a/b.md)\n")
    ran = run_in_terminal("prune", "--older-than", "150d", env={"COLUMNS": "80"})
    assert ran.code == 0
    rows = ran.out.decode().split("\n")
    assert "  old.md     22B" in rows
    assert max(map(len, rows)) <= 80
    told = " ".join(row.strip() for row in rows)
    assert "last written, by the file's time, 300 days ago; no agent has read it since the history began" in told
    assert "reader.md links to it" in told


def test_notes_that_stay_and_link_to_what_goes_are_named(unneeded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one.md", "two.md", "three.md"):
        (unneeded / name).write_text("see [[old]]\n")
    (unneeded / "\x1b[2J.md").write_text("see [it](old.md)\n")
    assert main(["prune", "--older-than", "150d"]) == 0
    out, _ = capsys.readouterr()
    assert out.splitlines()[1].endswith(r"; \x1b[2J.md and 3 others link to it")
    assert main(["prune", "--older-than", "150d", "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note["linked_from"][1:] == ["/memories/one.md", "/memories/three.md", "/memories/two.md"]
    assert main(["prune", "--older-than", "150d", "--apply"]) == 0
    assert (
        r"Deleted 1 file. \x1b[2J.md and 3 other notes still link there. Undo: memtui undo " in capsys.readouterr().out
    )
    assert (unneeded / "one.md").exists()


def test_what_a_loaded_file_imports_is_loaded_with_it_and_stays(
    unneeded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (unneeded / "CLAUDE.md").write_text("Read @old.md first.\n")
    assert main(["prune", "--older-than", "150d", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["notes"] == []
    assert {"path": "/memories/old.md", "why": "every session loads it"} in document["stay"]


@pytest.mark.parametrize("at", [0, 1, 315_532_800])
def test_a_time_that_no_file_was_written_at_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], at: int
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.md").write_text("from an archive\n")
    os.utime(tmp_path / "m" / "a.md", (at, at))
    monkeypatch.setenv("MEMTUI_DIR", str(tmp_path / "m"))
    assert main(["prune", "--older-than", "1d"]) == 0
    assert capsys.readouterr().out.startswith("Nothing to delete: none of 1 note is unread and unchanged")


def test_a_change_in_what_is_the_future_now_makes_a_note_young(
    unneeded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with memory_module.connect(unneeded) as memory:
        ahead = time.time_ns() + 400 * DAY_NS
        engine = Engine(memory.store, memory.journal, now_ns=lambda: ahead)
        engine.execute(
            {"command": "insert", "path": "/memories/old.md", "insert_line": 0, "insert_text": "x"}, actor=ADA
        )
    assert main(["prune", "--older-than", "1d"]) == 0
    assert "old.md" not in capsys.readouterr().out


def test_without_an_age_all_are_meant_and_that_is_said(unneeded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", "--older-than", "0d"]) == 0
    assert capsys.readouterr().out.startswith("Would delete: 3 of 6 notes, 49 B, whatever their age.\n")
    assert names(unneeded) == ALL
