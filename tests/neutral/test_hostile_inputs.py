"""What is read besides the folder may come from anybody: it is refused with a sentence, and never waited for."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import memtui
from memtui import memory as memory_module
from memtui.core.errors import StateUnusable
from memtui.journal.sqlite import Journal

SECONDS = 60
"""Within which everything here has ended; without end, there would be none."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a journal of two events."""
    path = tmp_path / "memories"
    path.mkdir()
    (path / "a.md").write_text("a note\n")
    with memtui.open(path, state=tmp_path / "state") as memory:
        words = {"command": "create", "path": "/memories/b.md", "file_text": "b\n"}
        assert not memory.execute(words, actor=memtui.Person()).is_error
    return path


def crafted(folder: Path, *script: str) -> Path:
    """A copy of the folder's journal in which somebody wrote."""
    path = folder.parent / "crafted.db"
    shutil.copy(folder.parent / "state" / "journal.db", path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        for statement in script:
            database.execute(statement)
        database.commit()
    return path


def told(folder: Path, *words: str) -> tuple[int, str]:
    """What `memtui audit` says, and how it ends."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder.parent / "home")}
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "audit", str(folder), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "script",
    [
        (
            "ALTER TABLE events RENAME TO others",
            "CREATE VIEW events AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "
            "SELECT x AS seq, x AS body, x AS hash FROM r",
        ),
        ("CREATE VIRTUAL TABLE events_text USING fts5(body)",),
        ("CREATE TABLE more (a, b GENERATED ALWAYS AS (zeroblob(100000000)))",),
        ("DROP TRIGGER events_hold", "UPDATE events SET hash = 1.5"),
    ],
    ids=["a view without end", "a virtual table", "a computed column", "a number for a hash"],
)
def test_a_journal_that_somebody_crafted_is_refused_and_nothing_of_it_is_run(
    folder: Path, script: Sequence[str]
) -> None:
    code, said = told(folder, "--journal", str(crafted(folder, *script)), "--format", "text")
    assert code == 3
    assert said.startswith("The journal is damaged: ")


def test_a_journal_that_memtui_made_is_read_as_before(folder: Path) -> None:
    with contextlib.closing(Journal.copy_from(str(crafted(folder)))) as journal:
        assert journal.get_head()[0] == 2


@pytest.mark.parametrize("option", ["--baseline", "--journal", "--review"])
def test_a_fifo_is_not_waited_for(folder: Path, option: str) -> None:
    fifo = folder.parent / "fifo"
    os.mkfifo(fifo)
    code, said = told(folder, option, str(fifo), "--since", "last", "--format", "text")
    assert code in (2, 3)
    assert "not a regular file" in said or "is not a file" in said


@pytest.mark.parametrize("name", ["journal.db", "journal.db-wal"])
def test_a_fifo_in_place_of_the_journal_is_not_waited_for(folder: Path, name: str) -> None:
    path = folder.parent / "state" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with memory_module.observe(folder, state=folder.parent / "state") as observer:
        assert "is not a regular file but a FIFO" in observer.recorded.problem


@pytest.mark.parametrize("way", ["as it is", "through a link", "through .."])
def test_what_an_agent_could_write_is_no_baseline_and_no_journal(folder: Path, way: str) -> None:
    (folder / "mine").write_bytes((folder.parent / "state" / "journal.db").read_bytes())
    (folder.parent / "link").symlink_to(folder / "mine")
    path = {
        "as it is": folder / "mine",
        "through a link": folder.parent / "link",
        "through ..": folder.parent / "state" / ".." / "memories" / "mine",
    }[way]
    code, said = told(folder, "--baseline", str(path), "--format", "text")
    assert (code, "inside the memory folder" in said) == (4, True)
    with pytest.raises(StateUnusable, match="is inside the memory folder, where an agent could change it"):
        memory_module.observe(folder, journal=path)
