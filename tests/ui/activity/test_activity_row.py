"""Lines of activity: every column in line at every width, whatever an agent calls itself."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from memtui.core.events import Actor, Agent, Change, EntryKind, Event, Outside, Person, Version
from memtui.core.unicode import HIDDEN
from memtui.core.wording import EventPhrase, format_latency, format_line_count
from memtui.ui.widgets.activity import ActivityRow, build_activity_row, build_columns
from memtui.ui.widgets.row_list import fill_columns


def draw(row: ActivityRow, width: int) -> str:
    """A row as the list draws it, behind the cell of the cursor."""
    return "".join(text for text, _ in fill_columns(build_columns(width), row, width))


CLAUDE = Agent("Claude")
HERE = Version(EntryKind.FILE, "ab" * 32, 3)


def make_row(command: str, path: str, actor: Actor = CLAUDE, **fields: Any) -> ActivityRow:
    at_us = round(datetime(2026, 11, 21, 10, 14, 2).timestamp() * 1e6)
    fields.setdefault("changes", () if command == "view" or "is_error" in fields else (Change("f", HERE, HERE),))
    return build_activity_row(Event(seq=7, at_us=at_us, actor=actor, command=command, path=path, **fields))


VIEW = make_row("view", "/memories/a.md", note="23 lines")
EDIT = make_row("str_replace", "/memories/user_preferences.md", added=1, removed=1)
REFUSED = make_row(
    "create", "/memories/../etc/passwd", is_error=True,
    answer="Error: /memories/../etc/passwd is not below /memories",
)  # fmt: skip
SEEN = make_row("modified", "/memories/scratch.txt", Outside(), added=1)
MOVED = make_row("rename", "/memories/a.md", Person(), new_path="/memories/b/a.md")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (VIEW, "Claude viewed a.md  23 lines"),
        (EDIT, "Claude edited user_preferences.md  +1 -1"),
        (REFUSED, "Refused: Claude asked to create ../etc/passwd: … is not below /memories"),
        (SEEN, "Another program edited scratch.txt  +1"),
        (MOVED, "You renamed a.md to b/a.md"),
        (
            make_row("delete", "/memories/a.md", removed=3),
            "Claude deleted a.md  -3",
        ),
        (make_row("create", "/memories/a.md", added=3, removed=0), "Claude overwrote a.md  +3"),
        (make_row("found", "/memories", Outside(), note="7 files"), "memtui found 7 files"),
        (make_row("undo", "/memories/a.md", Person(), undoes=(5,)), "You undid #5 in a.md"),
        (make_row("create", "/memories/a.md", is_error=True, aborted=True, answer=""), "Not done: Claude created a.md"),
        (make_row("view", "/memories"), "Claude viewed the folder"),
    ],
)
def test_an_event_reads_as_a_sentence(row: ActivityRow, words: str) -> None:
    assert draw(row, 117).rstrip() == f"10:14:02  {words}"


def test_where_there_is_little_room_the_path_is_cut_and_the_time_goes() -> None:
    row = make_row("str_replace", "/memories/projects/billing/a-long-name-of-a-note.md", added=12, removed=3)
    assert draw(row, 60).rstrip() == "10:14:02  Claude edited projects/billing..-a-note.md  +12 -3"
    assert draw(row, 40).rstrip() == "Claude edited projects/..note.md  +12 -3"


@pytest.mark.parametrize("width", [44, 59, 77, 98, 99, 117, 138, 139, 197, 399])
def test_a_refusal_is_never_pushed_out_of_sight(width: int) -> None:
    phrase = EventPhrase("Refused: ", "x" * 999, " asked to create ", "/" + "z" * 9_999_999, ": " + "w" * 9_999)
    line = draw(replace(REFUSED, phrase=phrase), width)
    assert "Refused: xxx" in line
    assert cell_len(line) == width


@pytest.mark.parametrize(
    ("row", "word", "role"),
    [
        (REFUSED, "Refused:", "bad"),
        (SEEN, "Another program", "outside"),
        (MOVED, "You", "you"),
        (VIEW, "Claude", "agent"),
        (VIEW, "a.md", "detail"),
        (MOVED, "a.md", ""),
        (EDIT, "+1", "added"),
        (EDIT, "-1", "removed"),
    ],
)
def test_results_and_actors_have_colours_of_their_own(row: ActivityRow, word: str, role: str) -> None:
    cells = fill_columns(build_columns(117), row, 117)
    assert [style for text, style in cells if text.strip() == word] == [role]


def test_views_of_one_agent_in_a_row_are_one_line() -> None:
    first = VIEW.merge(replace(VIEW, seq=8))
    assert first is not None
    second = first.merge(make_row("view", "/memories/c.md"))
    assert second is not None
    assert (second.count, draw(second, 80).strip()) == (3, "10:14:02  Claude viewed c.md and 2 more")
    assert VIEW.merge(make_row("view", "/memories/c.md", Person())) is None
    assert VIEW.merge(EDIT) is None
    assert EDIT.merge(EDIT) is None
    assert REFUSED.merge(VIEW) is None


def test_what_git_keeps_for_itself_is_one_quiet_line() -> None:
    index = make_row("modified", "/memories/.git/index", Outside(), added=3)
    head = make_row("renamed", "/memories/.git/HEAD.lock", Outside(), new_path="/memories/.git/HEAD")
    merged = index.merge(head)
    assert merged is not None
    assert draw(merged, 80).strip() == "10:14:02  Another program changed 2 of git's own files in .git"
    cells = fill_columns(build_columns(80), merged, 80)
    assert {style for text, style in cells if text.strip()} == {"detail"}
    third = merged.merge(make_row("created", "/memories/.git/objects/ab", Outside()))
    assert third is not None
    assert third.count == 3


def test_what_decides_what_git_runs_stands_alone() -> None:
    index = make_row("modified", "/memories/.git/index", Outside())
    hook = make_row("created", "/memories/.git/hooks/pre-commit", Outside())
    agent = make_row("create", "/memories/.git/index")
    out = make_row("renamed", "/memories/.git/index", Outside(), new_path="/memories/index.md")
    for other in (hook, agent, out, SEEN):
        assert index.merge(other) is None
        assert other.merge(index) is None
        assert not other.is_git


@given(
    st.builds(
        ActivityRow,
        st.integers(0),
        st.text(),
        st.text(),
        st.text(),
        st.text(),
        st.text() | st.sampled_from(["ok", "REFUSED", "ERROR", "seen"]),
        st.builds(EventPhrase, st.text(), st.text(), st.text(), st.text(), st.text()),
        st.none() | st.integers(0, 10**9),
        st.none() | st.integers(0, 10**9),
    ),
    st.integers(0, 220),
)
def test_any_event_at_any_width_is_drawn_at_exactly_that_width(row: ActivityRow, width: int) -> None:
    text = draw(row, width)
    assert cell_len(text) == width
    assert Strip([Segment(text)]).adjust_cell_length(width).cell_length == width
    assert not HIDDEN.search(text)
    assert "\n" not in text


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0 ms"), (2.4, "2 ms"), (999.4, "999 ms"), (999.6, "1.0 s"), (9940, "9.9 s"), (75_000, "75 s"),
        (1e12, "9999 s"),
    ],
)  # fmt: skip
def test_durations_fit_their_column(milliseconds: float, shown: str) -> None:
    assert format_latency(milliseconds) == shown
    assert len(format_latency(milliseconds, "")) <= 5


@given(st.integers(0, 10**12))
def test_numbers_of_lines_fit_in_three_cells(lines: int) -> None:
    assert len(format_line_count(lines)) <= 3
