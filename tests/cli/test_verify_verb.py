"""Whether the record was altered: what a person is told, and what a script."""

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main
from tests.journal.raw import edit_event

BOT = memtui.Agent("bot")
Run = Callable[..., Any]


def raw(journal: Path, *statements: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(journal, isolation_level=None)) as database:
        return [database.execute(statement).fetchall() for statement in statements]


def edit(journal: Path) -> None:
    """Change event 5, and leave no other trace."""
    edit_event(journal.parent, 5, b"bot", b"you")


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[str]:
    assert main(["verify", *words]) == code
    return capsys.readouterr().out.splitlines()


def test_an_intact_journal_is_said_with_the_head_to_note_down(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ((seq, hash),) = raw(journal, "SELECT seq, lower(hex(hash)) FROM events ORDER BY seq DESC LIMIT 1")[0]
    assert printed(capsys) == [
        "Intact: every event and every text is as it was recorded.",
        "events    7 read; events 1 to 7 are intact",
        "versions  9 named, 9 intact",
        "answers   6 named, 6 intact",
        f"Head: {seq} {hash}",
        f"To compare with it later, note it down: memtui verify --head {seq}:{hash[:16]}",
    ]


def test_what_is_wrong_comes_first_and_loud(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(journal)
    lines = printed(capsys, code=1)
    assert lines[:2] == [
        "NOT INTACT: 1 finding",
        "  event   Event 5 was changed: its hash does not match, unless those before it were rewritten.",
    ]
    assert lines[2] == "events    7 read; events 1 to 4 are intact; after the break 6 to 7 are linked"
    assert lines[-2].startswith("Head: 7 ")


def test_findings_are_objects_for_programs(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    intact = json.loads("\n".join(printed(capsys, "--json")))
    assert (intact["schema"], intact["intact"], intact["findings"], intact["since_head"]) == (1, True, [], None)
    assert (intact["events"], intact["seq"], intact["intact_until"], intact["runs"]) == (7, 7, 7, [[1, 7]])
    assert intact["versions"]["missing"] == 0
    edit(journal)
    broken = json.loads("\n".join(printed(capsys, "--json", code=1)))
    assert broken.keys() == intact.keys()
    assert (broken["intact"], broken["intact_until"], broken["runs"]) == (False, 4, [[1, 4], [6, 7]])
    assert [(finding["weight"], finding["seq"]) for finding in broken["findings"]] == [("event", 5)]


def test_a_head_that_was_noted_is_compared(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "--head"]) == 0
    head = capsys.readouterr().out.strip()
    assert any(
        line.endswith("is in the journal; nothing has been recorded since") for line in printed(capsys, "--head", head)
    )
    older = journal.with_name("older")
    shutil.copyfile(journal, older)
    with memtui.open(os.environ["MEMTUI_DIR"]) as memory:
        memory.execute({"command": "view", "path": "/memories"}, actor=BOT)
        later = memory.journal.get_head()[1]
    assert any("; 1 event has been recorded since" in line for line in printed(capsys, "--head", head))
    os.replace(older, journal)
    assert "is not in this journal" in printed(capsys, "--head", later[:12], code=1)[1]
    assert "the journal ends with event 7" in printed(capsys, "--head", f"8:{later}", code=1)[1]


@pytest.mark.parametrize("head", ["", "x", "abc", "12 34"])
def test_what_is_no_head_is_refused(head: str, rewritten: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["verify", "--head", head]) == 2
    assert "is not a head" in capsys.readouterr().err


def picture(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in directory.iterdir() if each.is_file()}


@pytest.mark.parametrize("words", [[], ["--read-only"]], ids=str)
def test_verifying_changes_nothing_and_does_not_look_at_the_folder(
    words: list[str], rewritten: Path, journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (rewritten / "new.md").write_text("changed outside")
    before = picture(journal.parent)
    assert printed(capsys, *words)[0].startswith("Intact")
    assert picture(journal.parent) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_journal_is_verified(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal.chmod(0o400)
    journal.parent.chmod(0o500)
    try:
        assert printed(capsys)[0].startswith("Intact")
    finally:
        journal.parent.chmod(0o700)


def test_the_folder_itself_may_be_gone(rewritten: Path, journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(rewritten)
    assert printed(capsys)[0].startswith("Intact")
    assert printed(capsys, str(rewritten))[0].startswith("Intact")
    assert printed(capsys, str(rewritten), "--state", str(journal.parent))[0].startswith("Intact")
    assert not rewritten.exists()


def test_a_state_directory_is_enough(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MEMTUI_DIR")
    (tmp_path / "apart").mkdir()
    monkeypatch.chdir(tmp_path / "apart")
    assert printed(capsys, "--state", str(journal.parent))[0].startswith("Intact")
    assert main(["verify"]) == 3
    assert "No memory folder was given" in capsys.readouterr().err


def test_where_there_is_no_journal_that_is_said(
    folder: Path, tmp_path: Path, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], [str(tmp_path / "none")], ["--state", str(tmp_path / "none")]):
        assert main(["verify", *words]) == 3
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("There is no journal for ")
        assert err.count("\n") == 1
    assert main(["verify", "--state", str(folder / "inside")]) == 3
    assert "where an agent could reach it" in capsys.readouterr().err
    assert not state_home.exists()
    assert not (folder / "inside").exists()


def test_a_journal_of_a_newer_memtui_is_said(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw(journal, "PRAGMA user_version = 99")
    for verb in ("verify", "export"):
        assert main([verb]) == 3
        assert capsys.readouterr().err == "The journal was written by a newer memtui. Update memtui to use it.\n"


def test_what_is_no_journal_is_a_finding_and_no_traceback(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in (b"", b"not a database" * 500, journal.read_bytes()[:5_000], journal.read_bytes()[:-4_096]):
        journal.write_bytes(content)
        assert printed(capsys, code=1)[0].startswith("NOT INTACT: ")
        assert capsys.readouterr().err == ""


def test_hostile_text_in_a_journal_drives_no_terminal(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw(journal, 'CREATE TABLE "x\x1b]0;t\x07\u202e\n" (x)')
    lines = printed(capsys, code=1)
    assert not set("\n".join(lines)) & set("\x1b\x07\u202e")
    assert len(lines) == 7
    assert main(["verify", "--json"]) == 1
    assert not set(capsys.readouterr().out) & set("\x1b\x07\u202e")


def test_a_journal_that_another_process_has_open_is_verified(
    rewritten: Path, journal: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with memtui.open(rewritten) as memory:
        assert memory.execute({"command": "view", "path": "/memories"}, actor=BOT).event.seq  # recorded
        done = run("verify", "--json")
        assert (done.code, json.loads(done.out)["seq"]) == (0, 8)
        assert run("verify", "--read-only").code == 0
        assert memory.execute({"command": "view", "path": "/memories"}, actor=BOT).event.seq  # recorded
        assert memory.journal.get_head()[0] == 9
    assert sorted(path.name for path in journal.parent.glob("journal*")) == ["journal.db"]
    assert printed(capsys)[0].startswith("Intact")


@pytest.mark.parametrize("words", [["verify"], ["export", "-o", "out"]], ids=" ".join)
def test_nothing_heavy_is_loaded(words: list[str], rewritten: Path, run_python: Any) -> None:
    done = run_python(
        "import sys, memtui.cli\n"
        f"assert memtui.cli.main({words!r}) == 0\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n",
        cwd=rewritten.parent,
    )
    assert done.returncode == 0, done.stderr
    assert not set(done.stderr.split()) & {"textual", "rich", "anthropic", "watchfiles", "markdown_it", "asyncio"}
