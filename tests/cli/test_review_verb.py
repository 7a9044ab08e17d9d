"""A reviewer at the command line: what is left, what is said of it, and where the next review begins."""

import json
import os
import random
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main, review_text
from memtui.review.inbox import ChangeRun
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
DREAM = memtui.Agent("dream", "a-model", "night-1")


def act(folder: Path, *commands: dict[str, str], actor: memtui.Agent = CLAUDE) -> None:
    """Have an agent do something, each of which has to go well."""
    with memtui.open(folder) as memory:
        for command in commands:
            paths = {name: f"/memories/{command[name]}" for name in ("path", "old_path", "new_path") if name in command}
            answer = memory.execute({**command, **paths}, actor=actor)
            assert not answer.is_error, answer.text


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which Claude changed three notes and made one, and somebody else a fifth."""
    folder = tmp_path / "memories"
    folder.mkdir()
    for name in ("a", "b", "c", "d", "e"):
        (folder / f"{name}.md").write_text("".join(f"{name} line {number}\n" for number in range(12)))
    monkeypatch.setenv("MEMTUI_DIR", str(folder))
    memtui.open(folder).close()
    act(
        folder,
        {"command": "str_replace", "path": "a.md", "old_str": "a line 1\n", "new_str": "a first\n"},
        {"command": "str_replace", "path": "a.md", "old_str": "a line 9\n", "new_str": "a ninth\n"},
        {"command": "delete", "path": "b.md"},
        {"command": "rename", "old_path": "c.md", "new_path": "notes/c2.md"},
        {"command": "create", "path": "notes/new.md", "file_text": "new\n"},
    )
    (folder / "d.md").write_text("by hand\n")
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def left(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    code, document = said(capsys, "review", *words)
    assert code == (1 if document["left"] else 0)
    return sorted(file["path"].removeprefix("/memories/") for file in document["files"])


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_two_accepted_one_flagged_one_reverted_and_the_next_review_starts_from_there(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert left(capsys) == ["a.md", "b.md", "d.md", "notes/c2.md", "notes/new.md"]
    # What is read-only judges, and changes nothing in the folder.
    before = tree(changed)
    assert main(["review", "accept", "a.md", "notes/new.md", "--read-only", "--reviewer", "ada"]) == 0
    assert "Accepted 2 files. 3 changes left to review." in capsys.readouterr().out
    assert main(["review", "flag", "d.md", "--words", "who was that", "--reviewer", "ada", "--read-only"]) == 0
    assert tree(changed) == before
    assert main(["review", "revert", "b.md", "--read-only"]) == 4
    assert "Not reverted: this is read-only." in capsys.readouterr().err
    # In an ordinary session it is taken back, as one event that can be undone.
    assert main(["review", "revert", "b.md", "--reviewer", "ada"]) == 0
    assert "Reverted b.md: 1 file added. Undo: memtui undo " in capsys.readouterr().out
    assert (changed / "b.md").exists()
    assert main(["review", "done", "--reviewer", "ada"]) == 0
    out = capsys.readouterr().out
    assert "Reviewed by ada. The next review begins after #" in out
    assert "1 flagged file stays." in out
    # The next one starts from there.
    assert left(capsys) == ["d.md"]
    code, document = said(capsys, "review")
    assert (code, document["since"]["words"], document["problem"]) == (1, "the last review, by ada", None)
    assert document["files"][0]["verdict"] == "flag"
    assert document["files"][0]["marks"][0]["words"] == "who was that"
    act(changed, {"command": "str_replace", "path": "a.md", "old_str": "a line 5\n", "new_str": "a fifth\n"})
    code, document = said(capsys, "review")
    files = {file["path"]: file for file in document["files"]}
    assert set(files) == {"/memories/a.md", "/memories/d.md"}
    assert (files["/memories/a.md"]["added"], files["/memories/a.md"]["changed_since"]) == (
        1,
        "changed since it was accepted",
    )
    assert main(["review", "accept", "--all", "--reviewer", "bob"]) == 0
    capsys.readouterr()
    assert left(capsys) == []
    assert main(["review"]) == 0
    assert "0 changes to review" in capsys.readouterr().out


def test_the_list_tells_each_change_in_a_line(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "flag", "d.md", "--words", "who\x1b[2J", "--reviewer", "ada"]) == 0
    capsys.readouterr()
    assert main(["review"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Since the record's beginning: 5 changes to review, up to #")
    assert (
        lines[1] == r"  ~ d.md                 1 event    +1 -12     other        flagged by ada: who\x1b[2J".rstrip()
    )
    assert "  - b.md                 1 event    +0 -12     Claude" in lines
    assert "  ~ a.md                 2 events   +2 -2      Claude" in lines
    assert "  > c.md -> notes/c2.md  1 event    +0 -0      Claude" in lines
    assert main(["review", "--by", "outside", "--in", "d.md"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["review", "--in", "nowhere"]) == 0
    assert (changed / "d.md").exists()


def test_a_clean_up_is_told_as_one_with_the_facts_that_it_lost(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    act(
        changed,
        {"command": "create", "path": "people.md", "file_text": "- Anna is allergic to peanuts\n- Ben has a cat\n"},
    )
    assert main(["review", "done"]) == 0
    act(
        changed,
        {"command": "create", "path": "people.md", "file_text": "* ben has a CAT\n"},
        {"command": "str_replace", "path": "a.md", "old_str": "a line 4\n", "new_str": ""},
        actor=DREAM,
    )
    capsys.readouterr()
    assert main(["review"]) == 1
    out = capsys.readouterr().out
    assert "Run 1: dream, session night-1, " in out
    assert "people.md:1  - Anna is allergic to peanuts" in out
    assert "Ben" not in out
    code, document = said(capsys, "review")
    assert code == 1
    assert [fact["path"] for run in document["runs"] for fact in run["lost"]].count("/memories/people.md") == 1


def test_hunks_are_numbered_and_judged_one_by_one(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "--diff", "--in", "a.md"]) == 1
    out = capsys.readouterr().out
    assert "hunk 1 of 2, line 2  #2" in out
    assert "    - a line 9\n    + a ninth\n" in out
    assert main(["review", "accept", "a.md", "--hunk", "1", "--reviewer", "ada"]) == 0
    assert main(["review", "flag", "a.md", "--hunk", "2", "--reviewer", "ada"]) == 0
    capsys.readouterr()
    _, document = said(capsys, "review", "--diff", "--in", "a.md")
    assert [hunk["verdict"] for hunk in document["files"][0]["hunks"]] == ["accept", "flag"]
    assert main(["review", "revert", "a.md", "--hunk", "2"]) == 0
    assert "a line 9\n" in (changed / "a.md").read_text()
    assert "a first\n" in (changed / "a.md").read_text()
    capsys.readouterr()
    _, document = said(capsys, "review", "--diff", "--in", "a.md")
    assert [hunk["verdict"] for hunk in document["files"][0]["hunks"]] == ["accept"]
    assert main(["review", "accept", "a.md", "--hunk", "1"]) == 0
    assert "a.md" not in left_after(capsys)


def left_after(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    return left(capsys)


def test_a_secret_is_shown_nowhere(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(6)
    key = "sk-" + "ant-" + "".join(chance.choices(string.ascii_letters + string.digits, k=60))
    act(changed, {"command": "create", "path": "key.md", "file_text": f"the key of the staging server is {key}\nx\n"})
    assert main(["review", "done", "--accept-failures", "of a test"]) == 0
    act(
        changed,
        {"command": "create", "path": "key.md", "file_text": "x\n"},
        {"command": "delete", "path": "a.md"},
        actor=DREAM,
    )
    for words in (["review"], ["review", "--diff"], ["review", "--json"], ["review", "--diff", "--json"]):
        assert main(words) == 1
        captured = capsys.readouterr()
        assert "the key of the staging server is" in captured.out
        assert key[10:] not in captured.out + captured.err


def test_secrets_by_rules_of_ones_own_are_shown_nowhere_and_sought_by_their_rule(
    changed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (changed.parent / "team.toml").write_text("[[rules]]\nid = 'pin'\nregex = 'pin is ([0-9]+)'\n")
    (changed.parent / "config.toml").write_text("[audit]\nrule_files = ['team.toml']\n")
    monkeypatch.setenv("MEMTUI_CONFIG", str(changed.parent / "config.toml"))
    act(changed, {"command": "create", "path": "door.md", "file_text": "the pin is 471147\n"})
    for words in (["--diff", "--in", "door.md"], ["--diff", "--json", "--rule", "team/pin"]):
        assert main(["review", *words]) == 1
        out = capsys.readouterr().out
        assert "the pin is ****" in out
        assert "471147" not in out
        assert "a.md" not in out


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """All that memtui keeps, with what lies beside it, and when it was written."""
    return tree(Path(os.environ["XDG_STATE_HOME"])) | tree(folder.parent)


def test_what_only_reads_records_nothing(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "done", "--reviewer", "ada"]) == 0
    record = changed.parent / "record.json"
    assert main(["review", "export", "--format", "json", "-o", str(record)]) == 0
    (changed / "a.md").write_text("by hand again\n")
    with memtui.open(changed, read_only=True) as memory:
        unrecorded = memory.get_head()[0]
    before = state(changed)
    capsys.readouterr()
    for words, code, told in (
        ([], 1, "a.md"),
        (["--diff"], 1, "+ by hand again"),
        (["--json"], 1, f'"until": {unrecorded}'),
        (["dismissed"], 0, "Nothing is dismissed."),
        (["export"], 0, "ada"),
        (["verify", str(record)], 0, "matches the review file and the journal"),
    ):
        assert main(["review", *words]) == code
        assert told in capsys.readouterr().out
        assert state(changed) == before, words
    assert main(["review", "accept", "a.md"]) == 0, "a verdict records what it is about"
    assert state(changed) != before


def test_a_number_of_the_list_that_nothing_was_recorded_under_is_not_what_was_seen(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, document = said(capsys, "review")
    assert document["until"] == document["head"]["seq"] + 1, "the change from outside is not recorded yet"
    seen = str(document["until"])
    (changed / "a.md").write_text("by hand after the list\n")
    assert main(["review", "accept", "a.md", "--seen", seen]) == 5
    assert "Not accepted: a.md was changed by an event recorded only now: " in capsys.readouterr().err
    (changed / "e.md").write_text("by hand, too\n")
    newest = str(int(seen) + 2)
    assert main(["review", "done", "--seen", newest]) == 5
    assert f"Not signed off: event #{newest} is recorded only now. Nothing was noted." in capsys.readouterr().err
    assert main(["review", "done", "--seen", newest]) == 0


def test_what_changed_after_it_was_seen_is_not_accepted(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, document = said(capsys, "review")
    seen = str(document["until"])
    act(changed, {"command": "str_replace", "path": "a.md", "old_str": "a line 5\n", "new_str": "a fifth\n"})
    assert main(["review", "accept", "a.md", "--seen", seen]) == 5
    assert f"Not accepted: a.md has changed since #{seen}: " in capsys.readouterr().err
    assert main(["review", "accept", "b.md", "--seen", seen]) == 0
    assert main(["review", "done", "--seen", seen]) == 0
    capsys.readouterr()
    assert left(capsys) == ["a.md"]


def test_the_review_file_is_portable_and_a_second_reviewer_sees_the_first_ones_marks(
    changed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (changed / "a.md").exists()
    file = tmp_path / "desk" / "review.json"
    assert main(["review", "accept", "a.md", "--review", str(file), "--reviewer", "ada"]) == 0
    assert main(["review", "flag", "b.md", "--review", str(file), "--reviewer", "bob", "--words", "why"]) == 0
    moved = tmp_path / "elsewhere.json"
    file.rename(moved)
    capsys.readouterr()
    _, document = said(capsys, "review", "--review", str(moved), "--accepted")
    marks = {file["path"]: [mark["reviewer"] for mark in file["marks"]] for file in document["files"]}
    assert (marks["/memories/a.md"], marks["/memories/b.md"]) == (["ada"], ["bob"])
    assert "a.md" in left(capsys, "--review", str(moved), "--reviewer", "bob")
    assert "a.md" not in left(capsys, "--review", str(moved))
    assert Review.read(moved).problem == ""
    assert "a.md" in left(capsys)  # the usual file knows nothing of it


@pytest.mark.parametrize("inside", ["review.json", "deep/review.json"])
def test_inside_the_folder_it_is_refused(inside: str, changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(changed)
    assert main(["review", "accept", "a.md", "--review", str(changed / inside)]) == 3
    assert "where an agent could reach it" in capsys.readouterr().err
    assert tree(changed) == before


def test_a_file_that_is_no_review_is_said_and_left(
    changed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.json"
    file.write_text("{}")
    assert main(["review", "accept", "a.md", "--review", str(file)]) == 3
    assert "is not a review file of memtui. Nothing was written." in capsys.readouterr().err
    assert file.read_text() == "{}"
    assert (changed / "a.md").exists()


def test_a_review_that_was_tampered_with_is_said(
    changed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "review.json"
    assert main(["review", "flag", "a.md", "--review", str(file)]) == 0
    file.write_text(file.read_text().replace('"verdict": "flag"', '"verdict": "accept"'))
    capsys.readouterr()
    assert main(["review", "--review", str(file)]) == 1
    captured = capsys.readouterr()
    assert "was changed by another program" in captured.err
    assert "a.md" in captured.out
    assert (changed / "a.md").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["acept", "a.md"], 2, "Did you mean 'accept'?"),
        (["notes/"], 2, "memtui review --in notes/"),
        (["accept"], 2, "give a PATH, or --all"),
        (["accept", "a.md", "--all"], 2, "give a PATH, or --all"),
        (["note", "a.md"], 2, "give a comment, with --words TEXT"),
        (["done", "a.md"], 2, "it covers everything"),
        (["done", "--by", "Claude"], 2, "it covers everything"),
        (["--all"], 2, "give an action"),
        (["accept", "a.md", "--reviewer", " "], 2, "the name of the reviewer is empty"),
        (["accept", "--all", "--hunk", "1"], 2, "--hunk needs one file"),
        (["accept", "a.md", "--hunk", "x"], 2, "is not a number"),
        (["accept", "a.md", "--hunk", "9"], 3, "has 2 hunks, and no hunk 9"),
        (["accept", "e.md"], 3, "/memories/e.md has not changed since the record's beginning"),
        (["accept", "../x"], 4, "outside the memory folder"),
        (["--since", "soon"], 2, "as a time"),
        (["--since", "999"], 3, "There is no event #999"),
        (["done", "--seen", "999"], 3, "There is no event #999"),
    ],
)
def test_what_makes_no_sense_is_said_and_nothing_is_noted(
    words: list[str],
    code: int,
    sentence: str,
    changed: Path,
    state_home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["review", *words]) == code
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.out == ""
    assert not (state_home / "memtui" / "reviews").exists()
    assert (changed / "a.md").exists()


def test_several_are_reverted_only_after_a_yes(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "revert", "notes"]) == 2
    assert "Not reverted: no terminal to confirm in. Use --yes" in capsys.readouterr().err
    assert (changed / "notes" / "new.md").exists()
    assert main(["review", "revert", "notes", "--yes"]) == 0
    assert not (changed / "notes" / "new.md").exists()
    assert (changed / "c.md").exists()
    capsys.readouterr()
    assert left(capsys) == ["a.md", "b.md", "d.md"]


def test_a_rule_narrows_the_list(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    act(changed, {"command": "create", "path": "hid.md", "file_text": "a\u202eb\n"})
    assert left(capsys, "--rule", "bidi-control") == ["hid.md"]


def test_hostile_names_and_lines_do_not_reach_the_terminal(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (changed / "x\x1b[2J\u202e.md").write_text("line \x1b]0;title\x07 \u202e\n")
    if os.name == "posix":
        (changed / os.fsdecode(b"\xff.md")).write_text("x\n")
    for words in (["review"], ["review", "--diff"], ["review", "--json", "--diff"]):
        assert main(words) == 1
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "\u202e" not in out


def test_rows_that_do_not_fit_into_the_terminal_get_another_line(changed: Path) -> None:
    act(changed, {"command": "create", "path": f"notes/{'long' * 20}.md", "file_text": "x\n"})
    act(changed, {"command": "rename", "old_path": "e.md", "new_path": "archive/of/the/year/2026/old-e.md"})
    with memtui.open(changed) as memory:
        found = build_inbox(memory, Review())
        narrow = list(review_text.format_inbox(found, 7, 80))
        assert [line for line in narrow if len(line) > 80] == [f"  + notes/{'long' * 20}.md"]
        assert "    1 event    +1 -0      Claude" in narrow
        assert len(list(review_text.format_inbox(found, 7))) == len(found.files) + 1


def test_two_changes_of_one_path_are_told_and_judged_both(changed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "done"]) == 0
    (changed / "notes" / "new.md").unlink()
    act(changed, {"command": "rename", "old_path": "e.md", "new_path": "notes/new.md"})
    capsys.readouterr()
    _, document = said(capsys, "review", "--diff")
    rows = [(file["sign"], file["was"], file["path"]) for file in document["files"]]
    assert sorted(rows) == [
        ("-", None, "/memories/notes/new.md"),
        (">", "/memories/e.md", "/memories/notes/new.md"),
    ]
    assert [len(file["hunks"]) for file in document["files"]] == [int(sign == "-") for sign, _, _ in rows]
    assert main(["review", "accept", "notes/new.md"]) == 0
    capsys.readouterr()
    assert left(capsys) == []


def test_what_was_not_looked_for_is_not_said_to_be_none(changed: Path) -> None:
    with memtui.open(changed) as memory:
        found = build_inbox(memory, Review())
    run = ChangeRun(
        number=1, actor="dream", session=None, first=1, last=2, at_us=1, until_us=2, paths=("a.md",), added=0,
        removed=9, unsearched="some of the texts are not kept",
    )  # fmt: skip
    lines = list(review_text.format_inbox(replace(found, runs=(run,)), 1))
    assert lines[-1] == "  facts lost: unknown: some of the texts are not kept"
