"""What is said of the line in view, while the gutter tells who wrote each."""

from dataclasses import replace

import pytest

from memtui.core.events import Agent, Event, ImportedDetails, Outside, Person
from memtui.core.history import Blame, PathVersion
from memtui.ui.widgets.markdown.blame import build_blame_remarks, describe_line

_DAY_US = 86_400_000_000
_FOUND = Event(seq=1, at_us=5 * _DAY_US, actor=Outside(), command="found", path="/memories")
_BY_ANOTHER = Event(seq=2, at_us=5 * _DAY_US, actor=Agent("Scribe"), command="create", path="/memories/a.md")


def _told(prompt: str) -> PathVersion:
    event = Event(seq=3, at_us=9 * _DAY_US, actor=Agent("Claude Code"), command="imported", path="/memories/a.md")
    return PathVersion(
        event, "a.md", None, None, imported=ImportedDetails(at_us=2 * _DAY_US, tool="Write", prompt=prompt)
    )


def test_a_line_that_nobody_saw_come_is_told_with_the_prompt_behind_it() -> None:
    blame = Blame((_FOUND,), imported=(_told("Remember\nmy \x1b[31mshell"),))
    words = describe_line(blame, 1, 10 * _DAY_US)
    assert words == 'line 1: Claude Code 8d ago, asked: "Remember my \\x1b[31mshell", according to its session file'


def test_a_long_prompt_is_cut_and_none_is_left_out() -> None:
    assert len(describe_line(Blame((None,), imported=(_told("x" * 2_000),)), 1, 10 * _DAY_US)) < 130
    assert "asked" not in describe_line(Blame((None,), imported=(_told(""),)), 1, 10 * _DAY_US)


def test_what_was_seen_to_come_is_told_as_it_was_seen() -> None:
    assert "Scribe" in describe_line(Blame((_BY_ANOTHER,), imported=(_told("no"),)), 1, 10 * _DAY_US)
    words = describe_line(Blame((_FOUND,), imported=(None,)), 1, 10 * _DAY_US)
    assert words == "line 1: memtui first saw it 5d ago, #1"


@pytest.mark.parametrize("width", [80, 40])
def test_the_gutter_gives_what_was_there_at_first_to_nobody(width: int) -> None:
    changed = replace(_FOUND, seq=3, command="modified")
    remarks = build_blame_remarks(Blame((_FOUND, changed, _BY_ANOTHER, None)), width=width, now_us=10 * _DAY_US)
    assert remarks[0].text.startswith("first saw  5d")
    assert [remark.text.split()[0] for remark in remarks[1:]] == ["other", "Scribe", "?"]
    assert len({len(remark.text) for remark in remarks}) == 1


def test_what_had_been_asked_for_is_told_of_a_call_that_was_seen_as_well() -> None:
    event = replace(_BY_ANOTHER, call_id="toolu_1")
    words = describe_line(Blame((event,), prompts={2: "Remember\n my \x1b[31mshell"}), 1, 10 * _DAY_US)
    assert words == 'line 1: Scribe 5d ago, asked: "Remember my \\x1b[31mshell", create #2, call toolu_1'


def test_a_line_that_was_brought_back_is_told_by_whom_it_was_written() -> None:
    event = Event(seq=4, at_us=9 * _DAY_US, actor=Person(), command="restore", path="/memories/a.md")
    assert "Claude Code" in describe_line(Blame((event,), imported=(_told("Keep"),)), 1, 10 * _DAY_US)
    assert "restore #4" in describe_line(Blame((event,), imported=(None,)), 1, 10 * _DAY_US)
