"""Renaming in a text: what it says, and that nothing wrong in it goes through."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.flows.rename_plan import HEAD, RenamePlan, can_be_written, format_paths, parse_renames
from memtui.ui.flows.dialog import PHRASES

FOLDERS = {"notes", "people"}
THERE = {"a.md", "b.md", "c.md", "taken.md", "#odd.md", "notes/n.md", *FOLDERS}
PATHS = ["a.md", "b.md", "c.md"]
FIRST = HEAD.count("\n") + 1


def said(lines: list[str], paths: list[str] | None = None, head: str = HEAD) -> RenamePlan:
    text = head + "".join(f"{line}\n" for line in lines)
    return parse_renames(
        text, paths or PATHS, is_folder=FOLDERS.__contains__, exists=THERE.__contains__, phrases=PHRASES
    )


def moves(lines: list[str], paths: list[str] | None = None) -> Mapping[str, str]:
    renames = said(lines, paths)
    assert not renames.problems
    return renames.moves


def problem(lines: list[str], paths: list[str] | None = None) -> str:
    renames = said(lines, paths)
    assert renames.problems
    assert not renames.moves
    return str(renames.problems[0])


def test_an_unchanged_text_changes_nothing_whatever_the_names() -> None:
    paths = ["#odd.md", "notes", "with space.md", "日本語.md", "# heading"]
    assert not parse_renames(
        format_paths(paths, FOLDERS.__contains__), paths, is_folder=FOLDERS.__contains__, exists=THERE.__contains__
    ).moves
    assert not moves(["./#odd.md", "notes/", "b.md"], ["#odd.md", "notes", "b.md"])


def test_lines_are_new_names_and_folders() -> None:
    assert moves(["x.md", "people/b.md", "notes/"]) == {"a.md": "x.md", "b.md": "people/b.md", "c.md": "notes/c.md"}
    assert moves(["archive/", "b.md"], ["notes", "b.md"]) == {"notes": "archive"}
    assert moves(["/", "/"], ["notes/n2.md", "b.md"]) == {"notes/n2.md": "n2.md"}


def test_names_may_change_places_and_follow_each_other() -> None:
    assert moves(["b.md", "c.md", "a.md"]) == {"a.md": "b.md", "b.md": "c.md", "c.md": "a.md"}
    assert moves(["A.md", "b.md", "c.md"]) == {"a.md": "A.md"}


def test_line_ends_blank_lines_at_the_end_and_a_lost_head_do_no_harm() -> None:
    assert said(["x.md\r", "b.md\r", "c.md\r", "", ""]).moves == {"a.md": "x.md"}
    assert said(["x.md", "b.md", "c.md"], head="").moves == {"a.md": "x.md"}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["a.md", "b.md"], "There are 2 lines for 3 names: write one line for each name."),
        (["a.md", "b.md", "c.md", "d.md"], "There are 4 lines for 3 names: write one line for each name."),
        (["a.md", "", "c.md"], f"Line {FIRST + 1}: b.md: It needs a name. d deletes it."),
        (["x.md", "x.md", "c.md"], f"Line {FIRST + 1}: x.md is on line {FIRST} too."),
        (["b.md", "b.md", "c.md"], f"Line {FIRST}: b.md already exists."),
        (["a.md", "a.md", "c.md"], f"Line {FIRST + 1}: a.md is on line {FIRST} too."),
        (["taken.md", "b.md", "c.md"], f"Line {FIRST}: taken.md already exists."),
        (["a.md", "taken.md/b", "c.md"], f"Line {FIRST + 1}: taken.md is not a directory."),
        (["a.md/a.md", "b.md", "c.md"], f"Line {FIRST}: a.md cannot be put into itself."),
        (
            ["../a.md", "b.md", "c.md"],
            f"Line {FIRST}: a.md: Write the path from the memory folder down; nothing can be outside it.",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_nothing_is_renamed(lines: list[str], words: str) -> None:
    assert problem(lines) == words


def test_of_many_problems_the_first_are_told_and_the_rest_counted() -> None:
    paths = [f"{number}.md" for number in range(50)]
    renames = said(["same.md"] * 50, paths)
    assert len(renames.problems) == 21
    assert str(renames.problems[-1]) == "And 29 more."


def test_names_that_a_line_cannot_hold_are_not_offered() -> None:
    assert can_be_written("notes/a b.md")
    for name in ("two\nlines", "esc\x1b.md", "rtl\u202e.md", "bad\udcff", " lead", "trail "):
        assert not can_be_written(name)


SEGMENTS = st.text("ab#. é\u00a0", min_size=1, max_size=5)


@given(st.lists(st.lists(SEGMENTS, min_size=1, max_size=2).map("/".join), min_size=1, max_size=6, unique=True))
def test_whatever_is_written_is_read_again_as_it_was(names: list[str]) -> None:
    paths = [name for name in names if can_be_written(name)]
    text = format_paths(paths, frozenset().__contains__)
    known = {"is_folder": frozenset().__contains__, "exists": set(paths).__contains__}
    assert not paths or parse_renames(text, paths, **known) == RenamePlan({})
