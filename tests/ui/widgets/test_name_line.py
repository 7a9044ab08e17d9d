"""Names as they are typed: what is meant, what is refused, and how folders are completed."""

import pytest

from memtui.core.events import EntryKind, FolderEntry
from memtui.editing.templates import (
    InvalidName,
    find_common_prefix,
    find_completions,
    find_extension_start,
    find_free_name,
    parse_name,
)
from memtui.flows.files import FolderContext
from memtui.flows.rename_plan import parse_target
from memtui.ui.widgets.name_line import resolve_new_path, validate_copy, validate_folder, validate_new, validate_rename
from memtui.ui.widgets.tree.outline import Outline

OUTLINE = Outline(
    [
        FolderEntry("alpha.md", EntryKind.FILE),
        FolderEntry("notes/beta.md", EntryKind.FILE),
        FolderEntry("people/me.md", EntryKind.FILE),
        FolderEntry("projects/billing/plan.md", EntryKind.FILE),
        FolderEntry("Profiles", EntryKind.DIRECTORY),
        FolderEntry(".git/config", EntryKind.FILE),
    ]
)


def is_folder(path: str) -> bool:
    entry = OUTLINE.get(path)
    return entry is not None and entry.kind is EntryKind.DIRECTORY


KNOWN = FolderContext(is_folder, lambda path: path in OUTLINE, frozenset[str]().__contains__)


@pytest.mark.parametrize(
    ("typed", "path", "is_folder"),
    [
        ("notes/a.md", "notes/a.md", False),
        ("  /notes//a.md ", "notes/a.md", False),
        ("/memories/notes/a.md", "notes/a.md", False),
        ("./a.md", "a.md", False),
        ("people/", "people", True),
        ("/memories/", "", True),
        ("memories/a.md", "memories/a.md", False),
    ],
)
def test_a_typed_path_is_taken_from_the_folder_down(typed: str, path: str, is_folder: bool) -> None:
    given = parse_name(typed)
    assert (given.path, given.is_folder) == (path, is_folder)


@pytest.mark.parametrize(
    "typed",
    ["../a.md", "a/../../b", "a\\b", "a\x1b.md", "a\u202eb.md", "n" * 256, "d/" * 21 + "a", "%2e%2e/a", "a /b.md"],
)
def test_what_cannot_be_a_name_is_refused_with_a_sentence(typed: str) -> None:
    with pytest.raises(InvalidName, match=r"^[A-Z].*\.$"):
        parse_name(typed)


def test_folders_are_completed_level_by_level_and_hidden_ones_only_when_asked_for() -> None:
    assert find_completions("p", OUTLINE.list_folders_in) == ["people/", "Profiles/", "projects/"]
    assert find_completions("pr", OUTLINE.list_folders_in) == ["Profiles/", "projects/"]
    assert find_completions("projects/", OUTLINE.list_folders_in) == ["projects/billing/"]
    assert find_completions("/projects/b", OUTLINE.list_folders_in) == ["projects/billing/"]
    assert find_completions("", OUTLINE.list_folders_in) == ["notes/", "people/", "Profiles/", "projects/"]
    assert find_completions(".", OUTLINE.list_folders_in) == [".git/"]
    assert find_completions("not/there/", OUTLINE.list_folders_in) == []
    assert find_common_prefix(["Profiles/", "projects/"]) == "Pro"


@pytest.mark.parametrize(
    ("path", "at"), [("a/plan.md", 6), ("plan", 4), (".hidden", 7), ("a.b/c", 5), ("d/.env.local", 6), ("dir/", 3)]
)
def test_the_cursor_stands_before_the_extension(path: str, at: int) -> None:
    assert find_extension_start(path) == at


def test_a_copy_gets_the_next_free_name() -> None:
    taken = {"plan.md", "plan-2.md"}
    assert find_free_name("plan.md", taken.__contains__) == "plan-3.md"


def test_a_new_name_without_extension_is_a_note_and_one_with_a_stroke_at_its_end_a_folder() -> None:
    assert resolve_new_path("notes/ideas").path == "notes/ideas.md"
    assert resolve_new_path("notes/ideas.").path == "notes/ideas"
    assert resolve_new_path("data.json").path == "data.json"
    assert resolve_new_path("people/new/").is_folder
    with pytest.raises(InvalidName):
        resolve_new_path("/")


@pytest.mark.parametrize(
    ("typed", "words", "is_problem"),
    [
        ("notes/ideas", "Creates notes/ideas.md.", False),
        ("team/me", "Creates team/me.md, and directory team/.", False),
        ("team/", "Creates directory team/.", False),
        ("notes/beta.md", "notes/beta.md already exists.", True),
        ("notes/", "notes/ already exists; type a name.", True),
        ("alpha.md/x", "alpha.md is not a directory.", True),
        ("", "Type a name; one that ends with / makes a directory.", False),
        ("../x", "Write the path from the memory folder down; nothing can be outside it.", True),
    ],
)
def test_a_new_name_is_judged_while_it_is_typed(typed: str, words: str, is_problem: bool) -> None:
    verdict = validate_new(KNOWN, "notes/")(typed)
    assert (verdict.words, verdict.is_problem) == (words, is_problem)


@pytest.mark.parametrize(
    ("old", "typed", "words", "is_problem"),
    [
        ("alpha.md", "beta.md", "Renames it to beta.md.", False),
        ("alpha.md", "Alpha.md", "Renames it to Alpha.md.", False),
        ("alpha.md", "people/", "Moves it to people/alpha.md.", False),
        ("alpha.md", "old/2026/a.md", "Moves it to old/2026/a.md, and directory old/2026/.", False),
        ("alpha.md", "people", "people already exists. Type people/ to move it there.", True),
        ("alpha.md", "people/me.md", "people/me.md already exists.", True),
        ("projects", "projects/billing/p", "projects cannot be put into itself.", True),
        ("projects", "work/", "Renames it to work.", False),
    ],
)
def test_a_rename_is_judged_while_it_is_typed(old: str, typed: str, words: str, is_problem: bool) -> None:
    verdict = validate_rename(KNOWN, old)(typed)
    assert (verdict.words, verdict.is_problem) == (words, is_problem)


def test_a_copy_and_a_target_folder_are_judged_too() -> None:
    copy = validate_copy(KNOWN, "alpha.md")
    assert copy("alpha.md").is_problem
    assert copy("people/").words == "Copies it to people/alpha.md."
    into = validate_folder(KNOWN, ["alpha.md", "notes/beta.md"], "Moves")
    assert into("people/").words == "Moves 2 notes to people/."
    assert into("new").words == "Moves 2 notes to new/, a new directory."
    assert into("notes").words == "Moves 2 notes to notes/."
    assert into("/").words == "Moves 2 notes to the memory folder."
    assert into("alpha.md").is_problem
    assert validate_folder(KNOWN, ["projects"], "Moves")("projects/billing").is_problem
    twice = validate_folder(KNOWN, ["a/x.md", "b/x.md"], "Moves")
    assert twice("people").words == "Two of them would be named people/x.md."


def test_only_a_folder_as_a_name_means_into_it_for_a_file_and_a_new_name_for_a_folder() -> None:
    assert parse_target("people/", "notes/beta.md", False) == "people/beta.md"
    assert parse_target("work/", "projects", True) == "work"
