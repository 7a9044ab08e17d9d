"""Removing a text for good: from history and file, with events, hashes and the reason left."""

import json
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main

SECRET = "hunter2-very-secret"


@pytest.fixture
def leaked(story: Path) -> Path:
    """A folder in which a secret stands in one note, and stood in another."""
    with memtui.open(story) as memory:
        agent = memtui.Agent("Claude")
        text = f"password: {SECRET}\nrest\n"
        for path in ("keys.md", "gone.md"):
            memory.execute({"command": "create", "path": f"/memories/{path}", "file_text": text}, actor=agent)
        memory.execute({"command": "delete", "path": "/memories/gone.md"}, actor=agent)
    return story


def everything(state_home: Path) -> bytes:
    """All that the state directory holds, as it lies on the disk, and all texts that the journal gives."""
    return b"".join(path.read_bytes() for path in state_home.rglob("*") if path.is_file())


def texts(folder: Path) -> bytes:
    with memtui.open(folder) as memory:
        found = [memory.history.text(change.after) or b"" for event in memory.events() for change in event.changes]
        found += [f"{event.answer} {event.arguments} {event.note}".encode() for event in memory.events()]
    return b"".join(found)


@pytest.mark.parametrize("way", ["argument", "stdin", "file"])
def test_a_secret_goes_from_everywhere(
    way: str, leaked: Path, state_home: Path, tmp_path: Path, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SECRET.encode() in texts(leaked)
    (tmp_path / "secret").write_text(f"{SECRET}\r\n")
    words, stdin = {
        "argument": (["--match", SECRET], b""),
        "stdin": (["--match", "-"], f"{SECRET}\n".encode()),
        "file": (["--match-file", str(tmp_path / "secret")], b""),
    }[way]
    ran = run("redact", *words, "--reason", "leaked", "--yes", stdin=stdin)
    assert ran.code == 0
    assert ran.out.startswith(b"Removed for good: ")
    assert b"; in the folder 1 file changes. The events and their hashes stay.\n" in ran.out
    assert (b"shell's history" in ran.err) is (way == "argument")
    assert SECRET.encode() not in ran.out + ran.err
    assert (leaked / "keys.md").read_text() == "password: [redacted]\nrest\n"
    assert SECRET.encode() not in texts(leaked)
    assert SECRET.encode() not in everything(state_home)
    assert main(["log", "--json", "-n", "1"]) == 0
    event = json.loads(capsys.readouterr().out)
    assert (event["op"], event["actor"], event["note"].split(":")[0]) == ("redacted", "you", "leaked")


def test_what_an_event_wrote_goes(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", "2", "--reason", "not ours", "--yes"]) == 0
    assert "Removed for good: " in capsys.readouterr().out
    assert main(["show", "new.md@2"]) == 3
    assert main(["show", "new.md@3"]) == 0
    assert (leaked / "keys.md").exists()


def test_all_that_a_path_ever_held_goes(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", "notes/today.md", "-y"]) == 0
    assert "in the folder 1 file goes." in capsys.readouterr().out
    assert not (leaked / "notes" / "today.md").exists()
    assert main(["show", "notes/today.md@1"]) == 3


def test_a_file_that_is_called_like_a_number_is_written_as_a_path(
    leaked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (leaked / "2").write_text("x\n")
    assert main(["redact", "./2", "-n", "--json"]) == 0
    assert [change["path"] for change in json.loads(capsys.readouterr().out)["changes"]] == ["/memories/2"]


def test_a_dry_run_removes_nothing_also_read_only(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["-n"], ["-n", "--read-only"]):
        assert main(["redact", "--match", SECRET, *words, "-q"]) == 0
        assert main(["redact", "--match", SECRET, *words]) == 0
        out = capsys.readouterr().out
        assert out.startswith("What would go for good: ")
        assert main(["redact", "--match", SECRET, *words, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["done"], document["dry_run"], document["event"]) == (False, True, None)
        assert document["texts"] > 1
    assert SECRET in (leaked / "keys.md").read_text()
    assert SECRET.encode() in texts(leaked)


def test_as_json_what_was_done_is_told(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["redact", "--match", SECRET, "--yes", "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["schema"], document["done"], document["problem"], document["left"]) == (1, True, None, [])
    assert [change["path"] for change in document["changes"]] == ["/memories/keys.md"]
    assert document["event"]["redacted"]
    assert SECRET not in out + err


def test_what_stays_is_told(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (leaked / f"{SECRET}.md").write_text("x\n")
    assert main(["redact", "--match", SECRET, "--yes", "-q"]) == 1
    err = capsys.readouterr().err
    assert "Names and notes of events are part of the chain and stay: #11" in err
    assert "Rename it." in err


def test_a_person_is_asked(leaked: Path, run_in_terminal: Any) -> None:
    ran = run_in_terminal("redact", "keys.md", typed=b"\n")
    assert ran.code == 1
    assert b"What goes for good: " in ran.out
    assert b"  - keys.md\n" in ran.out
    assert b"Remove this for good? It cannot be taken back.  y yes  n no: " in ran.out
    assert b"Nothing was removed." in ran.out
    assert (leaked / "keys.md").exists()
    assert run_in_terminal("redact", "keys.md", typed=b"y\n").code == 0
    assert not (leaked / "keys.md").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "name one of EVENT, PATH, --match or --match-file"),
        (["2", "--match", "x"], 2, "name one of EVENT, PATH, --match or --match-file"),
        (["2"], 2, "Nothing was removed: nobody can be asked here."),
        (["."], 2, "that is the whole folder"),
        (["--match", ""], 2, "Nothing was removed: the text to look for is empty."),
        (["--match", SECRET, "--reason", f"it was {SECRET}"], 2, "the reason holds the text itself"),
        (["--match-file", "nope"], 3, "nope cannot be read: no such file or directory. Nothing was removed."),
        (["--match", "nowhere at all"], 3, "Nothing was removed: it stands nowhere in the record's texts."),
        (["99"], 3, "There is no event #99."),
        (["zz.md"], 3, "Nothing was removed: nothing is known of zz.md."),
        (["2", "--read-only"], 4, "Nothing was removed: this is read-only."),
        (["../x"], 4, "outside the memory folder"),
    ],
)
def test_what_is_not_removed_is_told(
    *, words: list[str], code: int, said: str, leaked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = texts(leaked)
    assert main(["redact", *words]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert SECRET not in out + err
    assert texts(leaked) == before
