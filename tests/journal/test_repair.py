"""What a journal keeps beside its chain is made anew from the chain, and an edit that it had hidden comes to light."""

import contextlib
import hashlib
import json
import os
from pathlib import Path

import pytest

import memtui
from memtui import memory as memory_module
from memtui.audit.runner import run_audit
from memtui.cli import main
from memtui.core.errors import StateUnusable
from memtui.core.events import Event, Memtui, Outside
from memtui.core.wording import PLAIN, SPOKEN, describe_event
from memtui.journal.sqlite import Journal
from memtui.journal.verify_report import FindingWeight
from tests.conftest import NOTES, fill
from tests.journal.raw import open_raw_journal

EDITED = "- short answers\n- Paris\n"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def folder(tmp_path: Path, state: Path) -> Path:
    """A recorded folder."""
    path = fill(tmp_path / "memories", NOTES)
    with memtui.open(path, state=state) as memory:
        memory.execute(
            {"command": "create", "path": "/memories/gone.md", "file_text": "x\n"}, actor=memtui.Agent("bot")
        )
        memory.execute({"command": "delete", "path": "/memories/gone.md"}, actor=memtui.Agent("bot"))
    return path


def edit_unseen(folder: Path, state: Path, text: str = EDITED, *, row: bool = True) -> None:
    """Edit a memory, and what is known of it so that it seems to be the same; without `row` only its stamp."""
    path = folder / "prefs.md"
    path.write_text(text)
    seen, digest = path.stat(), hashlib.sha256(text.encode()).digest()
    stamp = f"{seen.st_ctime_ns},{seen.st_size},{seen.st_mtime_ns},{seen.st_ino}"
    with open_raw_journal(state) as database:
        database.execute("UPDATE known SET stamp = ? WHERE path = ?", (stamp, b"prefs.md"))
        if row:
            select = "UPDATE known SET sha256 = ?, size = ? WHERE path = ?"
            database.execute(select, (digest, seen.st_size, b"prefs.md"))
            database.execute("UPDATE totals SET bytes = (SELECT sum(size) FROM known)")


def delete_unseen(folder: Path, state: Path) -> None:
    """Delete a memory, and what is known of it."""
    (folder / "prefs.md").unlink()
    with open_raw_journal(state) as database:
        database.execute("DELETE FROM known WHERE path = ?", (b"prefs.md",))


def recorded(folder: Path, state: Path, *, after: int = 3) -> list[tuple[str, str]]:
    with memtui.open(folder, state=state) as memory:
        assert memory.journal.verify().is_intact
        return [(event.command, event.path) for event in memory.events(after)]


def test_an_edit_that_was_hidden_by_its_row_is_recorded_when_the_memory_is_opened(folder: Path, state: Path) -> None:
    edit_unseen(folder, state)
    assert recorded(folder, state) == [("repair", "/memories/prefs.md"), ("modified", "/memories/prefs.md")]
    assert recorded(folder, state, after=5) == []


def test_an_older_version_that_was_put_back_with_its_row_is_recorded_as_well(folder: Path, state: Path) -> None:
    (folder / "prefs.md").write_text(EDITED)
    assert recorded(folder, state) == [("modified", "/memories/prefs.md")]
    edit_unseen(folder, state, NOTES["prefs.md"])
    assert recorded(folder, state, after=4) == [("repair", "/memories/prefs.md"), ("modified", "/memories/prefs.md")]


def test_a_deletion_that_was_hidden_by_its_row_is_recorded_when_the_memory_is_opened(folder: Path, state: Path) -> None:
    delete_unseen(folder, state)
    assert recorded(folder, state) == [("repair", "/memories/prefs.md"), ("deleted", "/memories/prefs.md")]


def test_a_session_that_is_read_only_shows_the_edit_and_changes_nothing(folder: Path, state: Path) -> None:
    edit_unseen(folder, state)
    before = (state / "journal.db").read_bytes()
    with memtui.open(folder, state=state, read_only=True) as memory:
        assert [event.command for event in memory.events(3)] == ["repair", "modified"]
    assert (state / "journal.db").read_bytes() == before


def test_an_edit_that_was_hidden_by_its_stamp_is_found_where_every_file_is_read(folder: Path, state: Path) -> None:
    edit_unseen(folder, state, row=False)
    with memory_module.observe(folder, state=state) as observer:
        run_audit(observer, title="m")
        (event,) = observer.events(3)
        assert (event.command, event.actor) == ("modified", Outside())
    with memtui.open(folder, state=state) as memory:
        assert not memory.repair()
        assert [event.command for event in memory.events(3)] == ["modified"]


def test_doctor_sees_it_at_once(folder: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["doctor", "--json", "--read-only", "--state", str(state), "--dir", str(folder)]
    for expected in ("ok", "fail"):
        main(options)
        checks = {check["name"]: check["state"] for check in json.loads(capsys.readouterr().out)["checks"]}
        assert checks["known state"] == expected
        edit_unseen(folder, state)


def test_an_observer_leaves_the_rows_for_the_check_to_find(folder: Path, state: Path) -> None:
    edit_unseen(folder, state)
    with memory_module.observe(folder, state=state) as observer:
        (finding,) = observer.journal.verify().findings
        assert (finding.weight, "/memories/prefs.md" in finding.text) == (FindingWeight.STATE, True)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM touched", "the table touched"),
        ("INSERT INTO touched VALUES (x'61', 1)", "the table touched"),
        ("DELETE FROM known WHERE kind = 'file'", "the state of 2 paths"),
        ("INSERT INTO known VALUES (x'61', 'file', x'00', 5, '0')", "the state of 1 path"),
        ("UPDATE totals SET files = 9", "the table totals"),
        ("INSERT INTO taken_back VALUES (1, 2)", "the table taken_back"),
        ("DROP TRIGGER known_more", "the guard known_more"),
        ("DROP TRIGGER events_stay", "the guard events_stay"),
        ("DROP INDEX noting", "the guard noting"),
        ("INSERT INTO notes VALUES ('protected', '[\"a\"]')", "the table notes"),
    ],
)
def test_each_table_is_made_anew_and_that_is_recorded(folder: Path, state: Path, sql: str, words: str) -> None:
    with open_raw_journal(state) as database:
        database.execute(sql)
    with memtui.open(folder, state=state) as memory:
        memory.repair()
        assert memory.journal.verify().findings == ()
        events = list(memory.events(3))
    assert [event.command for event in events] == ["repair"]  # the files are as the events left them
    assert words in events[0].note
    assert events[0].actor == Memtui()


def test_nothing_is_made_from_a_broken_chain(folder: Path, state: Path) -> None:
    edit_unseen(folder, state)
    with open_raw_journal(state) as database:
        database.execute("DROP TRIGGER events_hold")
        database.execute("UPDATE events SET hash = x'00' WHERE seq = 2")
    with (
        memtui.open(folder, state=state) as memory,
        pytest.raises(StateUnusable, match="the events themselves are broken"),
    ):
        memory.repair()
    assert main(["verify", "--repair", "--state", str(state), "--dir", str(folder)]) == 1


def test_no_forged_hash_is_taken_for_another_part_of_the_event(folder: Path, state: Path) -> None:
    del folder
    with contextlib.closing(Journal(str(state / "journal.db"))) as journal:
        for forged in map(bytes, zip(range(256), strict=True)):
            with open_raw_journal(state) as database:
                database.execute("UPDATE known SET sha256 = ? WHERE path = ?", (forged, b"prefs.md"))
            assert journal.is_doubtful(), forged


def test_an_honest_journal_is_not_doubted(folder: Path, state: Path) -> None:
    with memtui.open(folder, state=state) as memory:
        (folder / "new").mkdir()
        (folder / "new" / "link").symlink_to("x")
        os.rename(folder / "notes", folder / "new" / "notes")
        memory.reconcile()
        assert not memory.journal.is_doubtful()
        assert not memory.repair()
        assert not memory.journal.is_doubtful()


def test_the_verb_finds_and_repairs(folder: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--state", str(state), "--dir", str(folder)]
    edit_unseen(folder, state)
    assert main(["verify", *options]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[1] == "  state   The table of files has another version of /memories/prefs.md than the events."
    assert told[2] == "To rebuild derived data from the events: memtui verify --repair"
    assert main(["verify", "--repair", "--json", *options]) == 0
    told_repaired = json.loads(capsys.readouterr().out)
    assert told_repaired["repaired"] == {"paths": ["prefs.md"], "tables": ["known"], "guards": []}
    assert told_repaired["intact"] is True
    assert main(["log", *options]) == 0
    assert [line.split()[4] for line in capsys.readouterr().out.splitlines()[-2:]] == ["repair", "modified"]
    assert main(["verify", "--repair", *options]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "Nothing to repair. Every file was checked again."


def test_the_verb_repairs_nothing_read_only_and_without_the_folder(
    folder: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["verify", "--repair", "--state", str(state), "--dir", str(folder)]
    assert main([*options, "--read-only"]) == 4
    folder.rename(folder.with_name("elsewhere"))
    assert main(options) == 3
    assert "that needs the memory folder, which does not exist" in capsys.readouterr().err


def test_a_repair_is_a_sentence() -> None:
    event = Event(seq=4, at_us=1, actor=Memtui(), command="repair", path="/memories", note="the state of 2 paths")
    for style in (PLAIN, SPOKEN):
        assert describe_event(event, style) == "memtui repaired the state of 2 paths from the history."
