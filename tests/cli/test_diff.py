"""Differences: of moments, of notes, of events; as `patch` takes them, and as nobody's terminal is driven by them."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memtui
from memtui.cli import main
from memtui.cli.patch import DiffSide, FileDiff, iter_patch_lines
from memtui.core.events import EntryKind, Version, sha256

HOSTILE = 'e\x1b]0;t\x07v\n\u202eil\udcff "q".md'


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 1) -> list[str]:
    """The lines of a diff, the times in its headers left out."""
    assert main(["diff", *words]) == code
    return [re.sub(r"\t\d{4}-.* (#\d+)$", r" \1", line) for line in capsys.readouterr().out.splitlines()]


def test_a_path_alone_is_its_last_change(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert printed(capsys, "notes/today.md") == [
        "--- a/notes/today.md #1",
        "+++ b/notes/today.md #7",
        "@@ -1,1 +1,2 @@",
        " standup at ten",
        "+lunch",
    ]
    assert printed(capsys, "prefs.md") == [
        "--- a/prefs.md #1",
        "+++ /dev/null",
        "@@ -1,2 +0,0 @@",
        "-- short answers",
        "-- Berlin",
    ]
    assert printed(capsys, "notes/old.md") == printed(capsys, "new.md") == printed(capsys, "4")
    assert printed(capsys, "notes") == printed(capsys, "notes/today.md")
    assert printed(capsys, ".") == printed(capsys, "7")


def test_a_directory_that_went_is_told_with_what_was_in_it(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(story) as memory:
        memory.execute({"command": "delete", "path": "/memories/notes"}, actor=memtui.Agent("x"))
    lines = printed(capsys, "notes")
    assert [line for line in lines if line.startswith("--- ")] == ["--- a/notes/old.md #4", "--- a/notes/today.md #7"]
    assert printed(capsys, "notes@7") == lines


def test_a_number_is_what_that_event_changed(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert printed(capsys, "2") == ["--- /dev/null", "+++ b/new.md #2", "@@ -0,0 +1,2 @@", "+a", "+b"]
    assert printed(capsys, "#3") == [
        "--- a/new.md #2",
        "+++ b/new.md #3",
        "@@ -1,2 +1,3 @@",
        "-a",
        "+c",
        "+d",
        " b",
    ]
    assert printed(capsys, "4") == [
        "diff --git a/new.md b/notes/old.md",
        "similarity index 100%",
        "rename from new.md",
        "rename to notes/old.md",
    ]


def test_an_event_that_changed_nothing_is_told(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["diff", "5"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "#5 (Claude, " in err
    assert " changed nothing: view, ok." in err
    assert main(["diff", ".hidden"]) == 0
    assert "/memories/.hidden has not changed since memtui first saw it, " in capsys.readouterr().err


def test_a_path_at_a_moment_is_held_against_what_became_of_it(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "new.md@2") == [
        "diff --git a/new.md b/notes/old.md",
        "rename from new.md",
        "rename to notes/old.md",
        "--- a/new.md #2",
        "+++ b/notes/old.md #4",
        "@@ -1,2 +1,3 @@",
        "-a",
        "+c",
        "+d",
        " b",
    ]
    assert printed(capsys, "prefs.md@2")[1] == "+++ /dev/null"
    assert printed(capsys, "notes/today.md@now", code=0) == []
    assert printed(capsys, "notes@1")[1] == "+++ b/notes/old.md #4"
    (story / "notes" / "today.md").write_text("unseen until now\n")
    assert printed(capsys, "notes/today.md@7")[-1] == "+unseen until now"


def test_two_moments_are_the_whole_folder_between_them(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    forwards = printed(capsys, "1", "now")
    assert [line for line in forwards if line[:3] in ("---", "+++")] == [
        "--- /dev/null",
        "+++ b/notes/old.md #4",
        "--- a/notes/today.md #1",
        "+++ b/notes/today.md #7",
        "--- a/prefs.md #1",
        "+++ /dev/null",
    ]
    backwards = printed(capsys, "now", "1")
    turn = str.maketrans("+-", "-+")
    signed = [line.translate(turn)[:1] for line in forwards if line[:1] in "+-" and line[:3] not in ("---", "+++")]
    assert [line[:1] for line in backwards if line[:1] in "+-" and line[:3] not in ("---", "+++")] == signed
    assert printed(capsys, "now", "now", code=0) == []


def test_a_day_is_meant_from_its_beginning_to_its_end(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    since_first_seen = printed(capsys, "1", "now")
    assert printed(capsys, "today") == since_first_seen
    assert printed(capsys, "today", "today") == since_first_seen
    assert printed(capsys, "yesterday", "now") == since_first_seen
    assert printed(capsys, "1999-01-01", "today") == since_first_seen
    assert printed(capsys, "0s ago", code=0) == []


def test_two_notes_may_be_compared_at_any_moments(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert printed(capsys, "new.md@2", "new.md@3") == printed(capsys, "3")
    assert printed(capsys, "new.md@2", "notes/old.md")[:2] == ["--- a/new.md #2", "+++ b/notes/old.md #4"]
    assert printed(capsys, "new.md@3", "notes/old.md", code=0) == []


def test_a_file_that_is_called_like_a_moment_is_written_as_a_path(
    story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (story / "2").write_text("x\n")
    (story / "today").write_text("x\n")
    memtui.open(story).close()
    assert printed(capsys, "2")[1] == "+++ b/new.md #2"
    assert printed(capsys, "./2")[1].startswith("+++ b/2 #")
    assert printed(capsys, "./today")[1].startswith("+++ b/today #")


def test_files_are_counted_on_request(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (story / "data").write_bytes(b"\0\1")
    assert printed(capsys, "1", "now", "--stat") == [
        "data            binary",
        "notes/old.md    +3 -0  new",
        "notes/today.md  +1 -0",
        "prefs.md        +0 -2  deleted",
        "4 files differ, +4 -2",
    ]
    assert printed(capsys, "4", "--stat") == ["new.md -> notes/old.md  +0 -0", "1 file differs, +0 -0"]
    assert printed(capsys, "5", "--stat", code=0) == []


def test_as_json_each_file_has_its_hashes_counts_and_hunks(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["diff", "3", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "schema": 1,
        "files": [
            {
                "path": "/memories/new.md",
                "old_path": None,
                "kind": "file",
                "op": "modified",
                "sha256_before": sha256(b"a\nb\n"),
                "sha256_after": sha256(b"c\nd\nb\n"),
                "added": 2,
                "removed": 1,
                "binary": False,
                "hunks": [
                    {
                        "old_start": 1,
                        "old_lines": 2,
                        "new_start": 1,
                        "new_lines": 3,
                        "lines": ["-a", "+c", "+d", " b"],
                    }
                ],
            }
        ],
    }
    assert main(["diff", "4", "--json"]) == 1
    moved = json.loads(capsys.readouterr().out)["files"][0]
    assert (moved["op"], moved["old_path"], moved["path"]) == ("renamed", "/memories/new.md", "/memories/notes/old.md")
    assert main(["diff", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == []


def test_what_is_no_text_is_told_in_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "data").write_bytes(b"\0\1")
    os.symlink("prefs.md", folder / "link")
    memtui.open(folder).close()
    (folder / "data").write_bytes(b"\0\2")
    (folder / "link").unlink()
    os.symlink("notes", folder / "link")
    (folder / "empty-directory").mkdir()
    (folder / "notes" / "today.md").unlink()
    (folder / "notes").rmdir()
    assert printed(capsys, "1", "now") == [
        "Binary files a/data and b/data differ",
        "Directory empty-directory is new",
        "link was a link to prefs.md and is a link to notes",
        "--- a/notes/today.md #1",
        "+++ /dev/null",
        "@@ -1,1 +0,0 @@",
        "-standup at ten",
    ]


def test_a_move_of_what_is_no_text_is_told_as_a_move(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "data").write_bytes(b"\0" * 100)
    memtui.open(folder).close()
    (folder / "data").rename(folder / "moved")
    assert printed(capsys, "moved")[1:] == ["similarity index 100%", "rename from data", "rename to moved"]
    assert printed(capsys, "1", "now", "--stat")[0] == "data -> moved  +0 -0"
    assert main(["diff", "moved", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["files"][0]["op"] == "renamed"


def test_a_text_that_is_not_kept_is_told(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(story) as memory:
        memory.redact(event=2)
    assert printed(capsys, "3") == ["Files a/new.md and b/new.md differ, but the text before is not kept"]


# As a patch


def side(path: str, data: bytes | None) -> DiffSide:
    version = None if data is None else Version(EntryKind.FILE, sha256(data), len(data))
    return DiffSide(path, version, data or b"", "2026-11-21 10:14:02.000123 +0100 #41")


def patched(tmp_path: Path, old: DiffSide, new: DiffSide, *, is_move: bool = False) -> bytes | None:
    """What `patch` makes of the old text."""
    shutil.rmtree(tmp_path, ignore_errors=True)
    tmp_path.mkdir()
    if old.version is not None:
        (tmp_path / old.path).write_bytes(old.data or b"")
    text = "".join(line + "\n" for line in iter_patch_lines(FileDiff(old, new, is_move))).encode(
        "utf-8", "surrogateescape"
    )
    done = subprocess.run(
        ["patch", "-p1", "--batch", "--silent"], input=text, cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, (done.stdout, done.stderr, text)
    if is_move:
        assert not (tmp_path / old.path).exists()
    target = tmp_path / new.path
    return target.read_bytes() if target.exists() else None


needs_patch = pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")


@needs_patch
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\nb\n", b"a\nc\n"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\nb", b"x\nb"),
        (b"a", b"b"),
        (None, b"new\n"),
        (None, b"new"),
        (None, b""),
        (b"", b"x\n"),
        (b"gone\n", None),
        (b"", None),
        (b"x\n" * 30, b"x\n" * 10 + b"y\n" + b"x\n" * 20),
        (b"\xff\r\n\x1b[31m\n", b"\xff\r\n\xe2\x80\xae\n"),
        (b"--- a\n+++ b\n@@ -1 +1 @@\n", b"--- b\n+++ a\n@@ -1 +1 @@\nx\n"),
    ],
)
@pytest.mark.parametrize("name", ["a.md", "with space.md", 'a"\t\\b.md', "e\x1b\u202e\u00e9.md"])
def test_patch_takes_it(old: bytes | None, new: bytes | None, name: str, tmp_path: Path) -> None:
    assert patched(tmp_path / "p", side(name, old), side(name, new)) == new


@needs_patch
def test_patch_takes_a_move_with_a_change(tmp_path: Path) -> None:
    assert patched(tmp_path / "p", side("a.md", b"a\nb\n"), side("b.md", b"a\nc\n"), is_move=True) == b"a\nc\n"


_LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"-\n", b"\\ No\n", b"\r\n"]), max_size=12).map(b"".join)


@needs_patch
@given(_LINES, _LINES, st.booleans(), st.booleans())
def test_patch_takes_any_change(tmp_path: Path, old: bytes, new: bytes, cut_old: bool, cut_new: bool) -> None:
    old = old[:-1] if cut_old and len(old) > 2 else old
    new = new[:-1] if cut_new and len(new) > 2 else new
    if old != new and old and new:
        assert patched(tmp_path / "p", side("a", old), side("a", new)) == new


@needs_patch
def test_a_folder_of_yesterday_becomes_the_one_of_today(
    folder: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    memtui.open(folder).close()
    then = tmp_path / "then"
    shutil.copytree(folder, then)
    (folder / "prefs.md").unlink()
    (folder / "notes" / "today.md").write_bytes(b"\xff no newline")
    (folder / "more").mkdir()
    (folder / "more" / HOSTILE.replace("\n", "")).write_text("x\u202e\n")
    assert main(["diff", "1", "now"]) == 1
    text = capfdbinary.readouterr().out
    subprocess.run(["patch", "-p1", "--batch", "--silent"], input=text, cwd=then, check=True)
    assert sorted(os.listdir(then)) == sorted(os.listdir(folder))
    for path in folder.rglob("*.md"):
        assert (then / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_a_terminal_is_shown_no_raw_control_codes_but_our_colors(folder: Path, run_in_terminal: Any) -> None:
    memtui.open(folder).close()
    (folder / HOSTILE).write_bytes(b"\x1b]52;c;eA==\x07 \xe2\x80\xae \xff\n")
    for words, colored in ((["diff", "1", "now"], True), (["diff", "1", "now", "--no-color"], False)):
        ran = run_in_terminal(*words)
        assert ran.code == 1
        assert (b"\x1b[32m" in ran.out) is colored
        bare = re.sub(rb"\x1b\[[0-9]*m", b"", ran.out)
        assert not {0x1B, 0x07, 0xFF} & set(bare)
        assert b"\xe2\x80\xae" not in bare
        assert b"+\\x1b]52;c;eA==\\x07 <U+202E> \\xff" in bare
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b[" not in run_in_terminal("diff", "1", "now", env=env).out
    for words in (["diff", "1", "now", "--stat"], ["diff", "1", "now", "--json"]):
        assert not {0x1B, 0x07, 0xFF} & set(run_in_terminal(*words).out)


def test_read_only_what_is_new_is_compared_and_not_recorded(
    story: Path, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = next(state_home.rglob("journal.db"))
    (story / "notes" / "today.md").write_text("unseen\n")
    before = journal.read_bytes()
    assert printed(capsys, "notes/today.md@1", "--read-only")[-1] == "+unseen"
    assert journal.read_bytes() == before
