"""What Gemini CLI proposes is read as it would apply it, and refused where it would."""

from pathlib import Path

import pytest

from memtui.places.gemini_inbox import build_pointer, read_proposals

BEFORE = "# Project Memory\n- one\n- two\n- three\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    (folder / ".inbox/private").mkdir(parents=True)
    (folder / "MEMORY.md").write_text(BEFORE)
    return folder


def propose(folder: Path, *parts: str) -> None:
    text = "".join(part.replace("DIR", str(folder)) for part in parts)
    (folder / ".inbox/private/extraction.patch").write_text(text)


EDIT = "--- DIR/MEMORY.md\n+++ DIR/MEMORY.md\n@@ -1,3 +1,3 @@\n # Project Memory\n-- one\n+- 1\n - two\n"
NEW = "--- /dev/null\n+++ DIR/build.md\n@@ -0,0 +1,2 @@\n+# Build\n+- make\n"


def test_edited_and_new_notes_of_one_patch_are_read(folder: Path) -> None:
    propose(folder, EDIT, NEW)
    (patch,) = read_proposals(str(folder))
    assert (patch.path, patch.problem) == (".inbox/private/extraction.patch", "")
    assert [tuple(each) for each in patch.files] == [
        ("MEMORY.md", "# Project Memory\n- 1\n- two\n- three\n", False),
        ("build.md", "# Build\n- make\n", True),
    ]


@pytest.mark.parametrize(
    ("hunks", "after"),
    [
        ("@@ -4,1 +4,2 @@\n - three\n+- four\n", f"{BEFORE}- four\n"),
        ("@@ -9,1 +9,2 @@\n - three\n+- four\n", f"{BEFORE}- four\n"),  # elsewhere than it says
        ("@@ -1,1 +1,1 @@\n-- three\n+- 3\n", BEFORE.replace("three", "3")),
        ("@@ -2,0 +3,1 @@\n+- 1.5\n", BEFORE.replace("- two", "- 1.5\n- two")),
        ("@@ -4,1 +4,1 @@\n-- three\n+- 3\n\\ No newline at end of file\n", BEFORE.replace("three\n", "3")),
        ("@@ -2,1 +2,0 @@\n-- one\n@@ -4,1 +3,1 @@\n-- three\n+--- x\n", "# Project Memory\n- two\n--- x\n"),
        ("@@ -1,4 +0,0 @@\n-# Project Memory\n-- one\n-- two\n-- three\n", ""),
    ],
)
def test_hunks_are_applied(folder: Path, hunks: str, after: str) -> None:
    propose(folder, "--- DIR/MEMORY.md\n+++ DIR/MEMORY.md\n", hunks)
    (patch,) = read_proposals(str(folder))
    assert patch.problem == ""
    assert [each.text for each in patch.files] == [after]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no patch", "it has no changes"),
        (EDIT.replace("- one", "- uno"), "it does not fit to MEMORY.md any more"),
        (EDIT + EDIT, "it names MEMORY.md twice"),
        (NEW.replace("build.md", "MEMORY.md"), "MEMORY.md exists already"),
        (EDIT.replace("MEMORY.md", "gone.md"), "gone.md does not exist"),
        (NEW.replace("DIR/build.md", "build.md"), "its paths are not absolute"),
        (EDIT.replace("+++ DIR/MEMORY.md", "+++ DIR/b.md"), "its paths are not absolute, or not the same"),
        (NEW.replace("build.md", "../build.md"), "it changes a file that is no note at the top"),
        (NEW.replace("build.md", "sub/build.md"), "it changes a file that is no note at the top"),
        (NEW.replace("build.md", ".build.md"), "it changes a file that is no note at the top"),
        (NEW.replace("build.md", "build.sh"), "it changes a file that is no note at the top"),
        (NEW.replace("build.md", "link.md"), "it leads to a link"),
    ],
)
def test_what_gemini_would_not_apply_is_told(folder: Path, text: str, problem: str) -> None:
    (folder / "link.md").symlink_to("/etc/passwd")
    propose(folder, text)
    (patch,) = read_proposals(str(folder))
    assert patch.problem.startswith(problem)
    assert patch.files == ()


def test_other_files_of_the_inbox_and_a_missing_one_are_no_proposals(folder: Path, tmp_path: Path) -> None:
    (folder / ".inbox/private/notes.txt").write_text("x")
    assert read_proposals(str(folder)) == []
    assert read_proposals(str(tmp_path / "none")) == []
    (folder / ".inbox/private/large.patch").write_text("x" * 1_000_001)
    (folder / ".inbox/private/binary.patch").write_bytes(b"\xff\xfe")
    assert [each.problem for each in read_proposals(str(folder))] == [
        "a file is no text",
        "a file is no file, or too large",
    ]


def test_a_new_note_is_named_in_the_index_as_gemini_names_it(folder: Path) -> None:
    line = f"- See {folder}/build-notes.md for build notes notes.\n"
    assert build_pointer(str(folder), "build-notes.md", BEFORE) == BEFORE + line
    assert build_pointer(str(folder), "build-notes.md", "x") == f"x\n{line}"
    assert build_pointer(str(folder), "build-notes.md", None) == f"# Project Memory\n{line}"
    assert build_pointer(str(folder), "build-notes.md", "see build-notes.md") is None
    assert build_pointer(str(folder), "MEMORY.md", "") is None
