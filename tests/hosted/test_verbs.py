"""The verbs of the command line on a hosted store."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from tests.hosted.conftest import Hosting, ask
from tests.warm import Warm

Run = Callable[..., Any]


@pytest.fixture
def run(warm: Warm, hosting: Hosting) -> Run:
    """Runs memtui with key and address in the environment."""
    assert os.environ["ANTHROPIC_BASE_URL"] == hosting.url
    return lambda *words: warm.run(["-m", "memtui", *words], env=dict(os.environ))


def test_verbs_that_look_work_and_change_nothing(hosting: Hosting, run: Run) -> None:
    place = hosting.place
    for words, shown in (
        (("ls", place), "prefs.md"),
        (("show", "--dir", place, "prefs.md"), "short answers"),
        (("verify", place), "Intact"),
        (("log", place), "/memories/prefs.md"),
        (("stats", place), "2"),
        (("search", "--dir", place, "short"), "prefs.md"),
        (("blame", "--dir", place, "prefs.md"), "short answers"),
        (("diff", "--dir", place, "prefs.md"), "short"),
        (("audit", place), "journal: intact, 2 of 2 events"),
        (("review", "--dir", place, "--json"), "prefs.md"),
        (("graph", "--dir", place), "prefs"),
        (("export", "--dir", place), '"end": true'),
        (("doctor", "--dir", place), "team"),
    ):
        done = run(*words)
        text = (done.stdout + done.stderr).decode()
        assert shown in text, f"{words}: {text}"
        assert done.returncode in (0, 1), f"{words}: {text}"
    assert hosting.get_writes() == []


def test_verbs_that_change_reach_the_store(hosting: Hosting, run: Run) -> None:
    place = hosting.place
    for words in (
        ("mv", "--dir", place, "prefs.md", "b.md"),
        ("cp", "--dir", place, "b.md", "c.md"),
        ("rm", "--dir", place, "--yes", "notes/today.md"),
        ("undo", "--dir", place, "--yes"),
    ):
        done = run(*words)
        assert done.returncode == 0, f"{words}: {(done.stdout + done.stderr).decode()}"
    assert hosting.read_all() == {
        "/b.md": "- short answers\n",
        "/c.md": "- short answers\n",
        "/notes/today.md": "standup at ten\n",
    }


def test_read_only_nothing_is_changed(hosting: Hosting, run: Run) -> None:
    done = run("mv", "--read-only", "--dir", hosting.place, "prefs.md", "b.md")
    assert done.returncode == 4
    assert hosting.get_writes() == []


def test_a_folder_is_made_of_it_and_not_the_other_way_round(hosting: Hosting, run: Run, tmp_path: Path) -> None:
    done = run("copy", hosting.place, str(tmp_path / "folder"))
    assert done.returncode == 0, done.stderr.decode()
    with memtui.open(tmp_path / "folder") as engine:
        assert "short" in ask(engine, "view", "prefs.md").text
        assert engine.journal.verify().is_intact
    refused = run("copy", str(tmp_path / "folder"), hosting.place)
    assert refused.returncode == 4
    assert b"takes no history. Nothing was copied." in refused.stderr


def test_what_works_on_files_alone_is_refused(hosting: Hosting, run: Run) -> None:
    refused = run("chat", "--agent", "claude", "--print", "hello", hosting.place)
    assert b"works on files, and there are none" in refused.stderr


@pytest.mark.parametrize("verb", ["ls", "log", "verify", "audit", "stats"])
def test_a_store_that_is_not_there_is_said(run: Run, verb: str) -> None:
    done = run(verb, "anthropic:memstore_none")
    assert done.returncode not in (0, 1)
    assert b"There is no memory store memstore_none for this key." in done.stderr


def test_commands_are_run_on_it(hosting: Hosting, run: Run, tmp_path: Path) -> None:
    commands = tmp_path / "commands.jsonl"
    commands.write_text('{"command": "create", "path": "/memories/a.md", "file_text": "one\\n"}\n')
    done = run("run", "--dir", hosting.place, str(commands))
    assert done.returncode == 0, done.stderr.decode()
    assert hosting.read_all()["/a.md"] == "one\n"


def test_a_folder_is_mirrored_and_the_place_is_listed(hosting: Hosting, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    done = run("mirror", "--once", hosting.place, str(folder))
    assert done.returncode == 0, done.stderr.decode()
    assert (folder / "prefs.md").read_text() == "- short answers\n"
    (folder / "mine.md").write_text("mine\n")
    (folder / "prefs.md").rename(folder / "wishes.md")
    before = hosting.find("/prefs.md").id
    done = run("mirror", "--once", hosting.place, str(folder))
    assert done.returncode == 0, done.stderr.decode()
    assert hosting.read_all()["/mine.md"] == "mine\n"
    assert hosting.find("/wishes.md").id == before
    assert hosting.place in run("places").stdout.decode()


def test_nothing_of_it_is_loaded_before_one_is_opened() -> None:
    names = "[name for name in sys.modules if name.startswith(('anthropic', 'memtui.hosted'))]"
    program = f"import sys, memtui.memory, memtui.cli; print({names})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
