"""`sqlite:FILE` in place of a folder, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import memtui


@pytest.fixture
def place(tmp_path: Path) -> str:
    place = f"sqlite:{tmp_path / 'team.db'}"
    with memtui.open(place) as memory:
        for name, text in {"a/one.md": "# One\n\nSee [[two]].\n", "two.md": "# Two\n"}.items():
            command = {"command": "create", "path": f"/memories/{name}", "file_text": text}
            assert not memory.execute(command, actor=memtui.Agent("bot")).is_error
    return place


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ls", "{}"), "a/one.md"),
        (("ls", "--dir", "{}", "a"), "a/one.md"),
        (("show", "--dir", "{}", "two.md"), "# Two"),
        (("log", "{}"), "/memories/two.md"),
        (("blame", "--dir", "{}", "two.md"), "bot"),
        (("search", "Two", "--dir", "{}"), "two.md:1:# Two"),
        (("links", "--dir", "{}", "two.md"), "a/one.md:3"),
        (("audit", "{}"), "ok 1"),
        (("verify", "{}"), "Intact: every event and every text is as it was recorded."),
        (("stats", "{}"), "versions          2"),
        (("undo", "--dir", "{}", "2"), "Undid #2"),
        (("mv", "--dir", "{}", "two.md", "b/three.md", "--links", "rewrite"), "b/three.md"),
        (("rm", "--dir", "{}", "two.md", "--links", "leave"), "Deleted two.md"),
        (("doctor", "--dir", "{}"), "sqlite"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_a_verb_works_on_it(run: Any, place: str, words: tuple[str, ...], said: str) -> None:
    ran = run(*(word.format(place) for word in words))
    assert said in (ran.out + ran.err).decode()
    assert ran.code in (0, 1)


def test_it_is_exported_but_not_over_itself(run: Any, place: str, tmp_path: Path) -> None:
    before = (tmp_path / "team.db").read_bytes()
    ran = run("export", "--dir", place, "-o", str(tmp_path / "team.db"), "--force")
    assert ran.code
    assert b"Refused" in ran.err
    assert (tmp_path / "team.db").read_bytes() == before
    ran = run("export", "--dir", place, "-o", str(tmp_path / "out.jsonl"))
    assert not ran.code, ran.err
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(lines) > 2


def test_it_is_copied_with_its_history(run: Any, place: str, tmp_path: Path) -> None:
    ran = run("copy", place, str(tmp_path / "folder"))
    assert not ran.code, ran.err
    assert b"Copied 2 files and 2 events to " in ran.err + ran.out
    assert (tmp_path / "folder" / "two.md").read_text() == "# Two\n"
    assert b"/memories/two.md" in run("log", str(tmp_path / "folder")).out
    again = run("copy", place, str(tmp_path / "folder"), "--json")
    assert again.code == 4
    assert b"is not empty. Nothing was copied. Name another place." in again.err
    ran = run("copy", str(tmp_path / "folder"), f"sqlite:{tmp_path / 'two.db'}", "--json")
    assert json.loads(ran.out)["events"] == 2
    assert run("copy", str(tmp_path / "none"), f"sqlite:{tmp_path / 'three.db'}").code == 3
    assert run("--read-only", "copy", place, f"sqlite:{tmp_path / 'three.db'}").code == 4


@pytest.mark.parametrize(
    "words", [("ls", "{}"), ("audit", "{}"), ("verify", "{}"), ("copy", "{}", "new.folder")], ids=lambda each: each[0]
)
def test_who_only_reads_makes_none(run: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    ran = run(*(word.format(f"sqlite:{tmp_path / 'none.db'}") for word in words))
    assert ran.code
    assert b"none.db" in ran.err
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("chat", "--agent", "gemini", "-p", "hello", "{}"), "gemini works on files, and there are none"),
        (("hook", "install", "--dir", "{}", "--yes"), "Memories in a database have none: use memtui mcp"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_what_needs_files_says_so(run: Any, place: str, words: tuple[str, ...], said: str) -> None:
    ran = run(*(word.format(place) for word in words))
    assert ran.code
    assert said in ran.err.decode()


def test_it_is_listed_among_the_places_once_it_was_opened(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "shelf.db"
    with memtui.open(f"sqlite:{file}") as memory:
        command = {"command": "create", "path": "/memories/a.md", "file_text": "a\n"}
        assert not memory.execute(command, actor=memtui.Agent("bot")).is_error
    listed = [each for each in json.loads(run("places", "--json").out)["places"] if each["path"] == f"sqlite:{file}"]
    assert [(each["owner"], each["files"], each["all_counted"]) for each in listed] == [("recent", 1, True)]
    assert b"SQLite file  " in run("places").out
    file.unlink()
    assert str(file).encode() not in run("places", "--null").out


def test_doctor_looks_at_the_file(run: Any, place: str, tmp_path: Path) -> None:
    checks = {each["name"]: each for each in json.loads(run("doctor", "--dir", place, "--json").out)["checks"]}
    assert checks["file"]["state"] == checks["events"]["state"] == checks["known state"]["state"] == "ok"
    missing = run("doctor", "--dir", f"sqlite:{tmp_path}/none.db", "--json")
    assert missing.code == 1
    assert "no such file" in missing.out.decode()
