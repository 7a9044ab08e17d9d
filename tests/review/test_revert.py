"""A change that a reviewer does not want is taken back: one event, undoable, and never what was not shown."""

from typing import Any

import pytest

import memtui
from memtui.core.history import ActionResult, SkipReason
from memtui.review import inbox, verdicts
from memtui.review.hunks import find_changed_hunks
from memtui.review.inbox import ReviewVerdict

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")


def text(table: Any, path: str) -> str:
    return str((table.folder / path).read_text())


def test_a_file_is_what_it_was_before_and_it_can_be_undone(table: Any) -> None:
    table.write("a.md", "changed\n")
    before = table.memory.get_head()[0]
    restored = verdicts.revert(table.memory, table.files()["a.md"])
    assert restored.event is not None
    assert restored.event.seq == before + 1
    assert "review: as before #" in restored.event.note
    assert text(table, "a.md") == "a one\na two\na three\n"
    assert table.inbox().files == ()
    assert table.memory.undo([restored.event.seq]).event is not None
    assert text(table, "a.md") == "changed\n"


def test_what_is_new_goes_and_what_was_deleted_comes_back(table: Any) -> None:
    table.write("new.md", "x\n")
    table.do(command="delete", path="b.md")
    for path in ("new.md", "b.md"):
        assert verdicts.revert(table.memory, table.files()[path]).event is not None
    assert not (table.folder / "new.md").exists()
    assert text(table, "b.md") == "b one\nb two\nb three\n"
    assert table.inbox().files == ()


def test_a_name_is_given_back_with_the_history_or_with_the_text(table: Any) -> None:
    table.do(command="rename", old_path="a.md", new_path="x/a2.md")
    restored = verdicts.revert(table.memory, table.files()["x/a2.md"])
    assert restored.event is not None
    assert restored.event.command == "rename"
    assert text(table, "a.md") == "a one\na two\na three\n"
    table.do(command="rename", old_path="b.md", new_path="b2.md")
    table.do(command="str_replace", path="b2.md", old_str="b one", new_str="b 1")
    seq = table.memory.get_head()[0]
    assert verdicts.revert(table.memory, table.files()["b2.md"]).event is not None
    assert table.memory.get_head()[0] == seq + 1
    assert text(table, "b.md") == "b one\nb two\nb three\n"
    assert not (table.folder / "b2.md").exists()


def test_one_hunk_is_taken_back_and_the_others_stay_with_what_was_said_of_them(table: Any) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    table.write("long.md", "".join(lines))
    table.done()
    for at in (3, 10, 17):
        table.do(command="str_replace", path="long.md", old_str=f"line {at}\n", new_str=f"changed {at}\n")
    file = table.files()["long.md"]
    known = find_changed_hunks(table.memory, file, table.file.load())
    head = verdicts.get_head(table.memory)
    table.file.add([verdicts.build_mark(ReviewVerdict.ACCEPT, file, reviewer="ada", head=head, hunk=known[2])])
    restored = verdicts.revert(table.memory, file, known[1])
    assert restored.event is not None
    table.file.add(
        [
            verdicts.build_mark(
                ReviewVerdict.REVERTED, file, reviewer="ada", head=verdicts.get_head(table.memory), hunk=known[1]
            )
        ]
    )
    assert "line 10\n" in text(table, "long.md")
    assert "changed 3\n" in text(table, "long.md")
    left = find_changed_hunks(table.memory, table.files()["long.md"], table.file.load())
    assert [verdicts.find_verdict(each.marks) for each in left] == [None, inbox.ReviewVerdict.ACCEPT]


def test_what_has_changed_since_it_was_shown_is_left_alone(table: Any) -> None:
    table.write("a.md", "changed\n")
    file = table.files()["a.md"]
    (hunk,) = find_changed_hunks(table.memory, file, table.file.load())
    table.write("a.md", "changed once more\n")
    for restored in (verdicts.revert(table.memory, file), verdicts.revert(table.memory, file, hunk)):
        assert restored.event is None
        assert restored.skipped[0].reason is SkipReason.CHANGED
        assert restored.problem.startswith("Not reverted: a.md has changed since (Claude, ")
    assert text(table, "a.md") == "changed once more\n"


def test_a_new_file_where_the_old_name_was_is_not_written_over(table: Any) -> None:
    table.do(command="rename", old_path="a.md", new_path="a2.md")
    table.do(command="str_replace", path="a2.md", old_str="a one", new_str="a 1")
    table.write("a.md", "another\n")
    restored = verdicts.revert(table.memory, table.files()["a2.md"])
    assert restored.event is None
    assert restored.problem.startswith("Not reverted: ")
    assert text(table, "a.md") == "another\n"


def test_a_text_that_is_not_kept_any_more_is_said(table: Any) -> None:
    table.write("a.md", "changed\n")
    file = table.files()["a.md"]
    table.memory.redact(match="a two", reason="a secret")
    restored = verdicts.revert(table.memory, file)
    assert restored.event is None
    assert "no longer kept in the history" in restored.problem


def test_a_rehearsal_changes_nothing(table: Any) -> None:
    table.write("a.md", "changed\n")
    restored = verdicts.revert(table.memory, table.files()["a.md"], rehearse=True)
    assert (restored.event, len(restored.changes)) == (None, 1)
    assert text(table, "a.md") == "changed\n"


def test_a_reviewer_who_dies_between_the_revert_and_the_mark_finds_the_same(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.flag("a.md")
    file = table.files()["a.md"]
    assert verdicts.revert(table.memory, file).event is not None
    assert table.inbox().files == ()  # no mark was written: the text tells it
    table.file.add(
        [verdicts.build_mark(ReviewVerdict.REVERTED, file, reviewer="ada", head=verdicts.get_head(table.memory))]
    )
    assert table.inbox().files == ()
    table.write("a.md", "changed\n")
    assert [each.path for each in table.inbox().files] == ["a.md"]


def test_what_was_renamed_and_then_deleted_comes_back_under_its_own_name(table: Any) -> None:
    table.do(command="rename", old_path="a.md", new_path="b2.md")
    table.do(command="delete", path="b2.md")
    assert verdicts.revert(table.memory, table.files()["b2.md"]).event is not None
    assert text(table, "a.md") == "a one\na two\na three\n"
    assert not (table.folder / "b2.md").exists()
    assert table.inbox().files == ()


def test_the_directories_that_were_made_for_a_note_go_with_it_unless_something_else_is_in_them(table: Any) -> None:
    table.write("x/y/one.md", "one\n")
    table.write("x/two.md", "two\n")
    assert verdicts.revert(table.memory, table.files()["x/y/one.md"]).event is not None
    assert sorted(path.name for path in (table.folder / "x").iterdir()) == ["two.md"]
    assert verdicts.revert(table.memory, table.files()["x/two.md"]).event is not None
    assert not (table.folder / "x").exists()
    assert table.inbox().files == ()


def test_a_reverted_change_is_marked(table: Any) -> None:
    table.write("a.md", "changed\n")
    result, [mark] = verdicts.revert_and_mark(table.memory, table.files()["a.md"], None, reviewer="ada", words="why")
    assert result.event is not None
    assert (mark.verdict, mark.path, mark.words, mark.seq) == (ReviewVerdict.REVERTED, "a.md", "why", result.event.seq)


@pytest.mark.parametrize("has_event", [True, False])
def test_a_revert_with_a_problem_is_not_marked(table: Any, monkeypatch: pytest.MonkeyPatch, has_event: bool) -> None:
    table.write("a.md", "changed\n")
    file = table.files()["a.md"]
    problem = ActionResult(event=file.events[-1] if has_event else None, problem="The disk did not confirm it.")
    monkeypatch.setattr(verdicts, "revert", lambda *_: problem)
    assert verdicts.revert_and_mark(table.memory, file, None, reviewer="ada") == (problem, ())
