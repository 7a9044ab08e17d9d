"""Removing old texts: never events, never what stands in the folder."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import opening
from memtui.cli import main

DAY_NS = 86_400_000_000_000


@pytest.fixture
def aged(folder: Path) -> Path:
    """A folder in which one text stood 30 days ago, another 10 days ago, and a third one stands since."""
    with opening.connect(folder) as memory:
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
    assert main(["prune", "--older-than", "35d", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Removed: 1 old text, 25B; ")
    assert out.endswith(" are kept.\n")
    assert err == ""
    assert kept(aged) == [2, 3, 4]
    with memtui.open(aged) as memory:
        last = list(memory.events())[-1]
        assert (last.command, last.actor.name, len(last.redacted)) == ("redact", "memtui", 1)
    assert main(["prune", "--older-than", "0s", "-y"]) == 0
    assert kept(aged) == [4]
    assert main(["show", "prefs.md"]) == 0


def test_the_oldest_go_until_the_rest_fits(aged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", "--max-bytes", "0", "--yes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["done"], document["dry_run"], document["texts"]) == (1, True, False, 3)
    assert document["events"] == [5]
    assert kept(aged) == [4]
    assert main(["prune", "--max-bytes", "1G", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["texts"] == 0


def test_a_dry_run_removes_nothing_also_read_only(aged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["-n"], ["-n", "--read-only"]):
        assert main(["prune", "--older-than", "5d", *words]) == 0
        assert capsys.readouterr().out.startswith("What would go: 3 old texts, ")
    assert kept(aged) == [1, 2, 3, 4]


def test_a_person_is_asked(aged: Path, run_in_terminal: Any) -> None:
    ran = run_in_terminal("prune", "--older-than", "5d", typed=b"n\n")
    assert ran.code == 1
    assert b"What goes for good: 3 old texts, " in ran.out
    assert b"Nothing was removed." in ran.out
    assert kept(aged) == [1, 2, 3, 4]
    assert run_in_terminal("prune", "--older-than", "5d", typed=b"y\n").code == 0
    assert kept(aged) == [4]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "say what may go: --older-than AGE or --max-bytes SIZE"),
        (["--older-than", "5d"], 2, "Nothing was removed: nobody can be asked here."),
        (["--older-than", "yesterday"], 2, "'yesterday' is no age. It may be 30s, 14m, 2h, 3d, 2w or 1y"),
        (["--max-bytes", "many"], 2, "'many' is no size. It may be 4096, 500K, 100M or 1.5G"),
        (["--max-bytes", "-1"], 2, "memtui prune: "),
        (["--older-than", "5d", "--read-only"], 4, "Nothing was removed: this is read-only."),
    ],
)
def test_what_is_not_removed_is_told(
    *, words: list[str], code: int, said: str, aged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prune", *words]) == code
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
    assert main(["prune", "--max-bytes", size, "-n", "--json"]) == (2 if texts is None else 0)
    out = capsys.readouterr().out
    assert texts is None or json.loads(out)["texts"] == texts
