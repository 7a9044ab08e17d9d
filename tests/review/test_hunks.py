"""The hunks of a changed file, and what was said of each."""

from dataclasses import replace
from typing import Any

import memtui
from memtui.review import verdicts
from memtui.review.hunks import MOST_BYTES, compare_file, find_changed_hunks
from memtui.review.inbox import ChangedHunk, ReviewMark, ReviewVerdict

GPT = memtui.Agent("other", "b-model", "session-2")
LONG = "".join(f"line {number}\n" for number in range(30))


def begun(table: Any) -> None:
    table.write("long.md", LONG)
    table.done()


def edit(table: Any, old: str, new: str, actor: memtui.Agent = GPT) -> None:
    table.do(actor, command="str_replace", path="long.md", old_str=f"{old}\n", new_str=new)


def of(table: Any, path: str = "long.md", **given: Any) -> list[Any]:
    return find_changed_hunks(table.memory, table.files(**given)[path], table.file.load())


def say(table: Any, verdict: ReviewVerdict, number: int) -> None:
    file = table.files()["long.md"]
    hunk = of(table)[number]
    head = verdicts.get_head(table.memory)
    table.file.add([verdicts.build_mark(verdict, file, reviewer="ada", head=head, hunk=hunk)])


def test_each_hunk_tells_which_events_brought_it_in(table: Any) -> None:
    begun(table)
    edit(table, "line 3", "third\n")
    first = table.memory.get_head()[0]
    edit(table, "line 20", "")
    second = table.memory.get_head()[0]
    edit(table, "third", "3rd\n")
    third = table.memory.get_head()[0]
    found = of(table)
    assert [(each.hunk.old_start, each.events) for each in found] == [(3, (first, third)), (20, (second,))]


def test_a_mark_on_a_hunk_survives_other_hunks_and_not_its_own_change(table: Any) -> None:
    begun(table)
    edit(table, "line 5", "fifth\n")
    edit(table, "line 20", "twentieth\n")
    say(table, ReviewVerdict.ACCEPT, 1)
    edit(table, "line 1", "first\nand more\n")
    found = of(table)
    assert [verdicts.find_verdict(each.marks) for each in found] == [None, None, ReviewVerdict.ACCEPT]
    edit(table, "twentieth", "20th\n")
    assert [verdicts.find_verdict(each.marks) for each in of(table)] == [None, None, None]


def test_the_same_lines_at_two_places_are_two_hunks(table: Any) -> None:
    begun(table)
    for at in (3, 20):
        edit(table, f"line {at}", f"line {at}\nsame\n")
    say(table, ReviewVerdict.FLAG, 0)
    assert [verdicts.find_verdict(each.marks) for each in of(table)] == [ReviewVerdict.FLAG, None]


def test_an_accepted_line_that_is_moved_elsewhere_is_not_accepted_there(table: Any) -> None:
    table.write("long.md", "# staging\n\n\n\n- deploy: ask\n\n\n\n# production\n\n\n\n- deploy: ask\n")
    table.done()
    table.write("long.md", "# staging\n\n\n\n- deploy: at once\n\n\n\n# production\n\n\n\n- deploy: ask\n")
    say(table, ReviewVerdict.ACCEPT, 0)
    assert [verdicts.find_verdict(each.marks) for each in of(table)] == [ReviewVerdict.ACCEPT]
    table.write("long.md", "# staging\n\n\n\n- deploy: ask\n\n\n\n# production\n\n\n\n- deploy: at once\n")
    assert [verdicts.find_verdict(each.marks) for each in of(table)] == [None]


def test_a_file_is_accepted_once_all_of_its_hunks_are(table: Any) -> None:
    begun(table)
    edit(table, "line 5", "fifth\n")
    edit(table, "line 20", "twentieth\n")
    head = verdicts.get_head(table.memory)
    file = table.files()["long.md"]
    known = of(table)

    def build(verdict: ReviewVerdict, *hunks: ChangedHunk, reviewer: str = "ada") -> list[ReviewMark]:
        return verdicts.build_marks(
            table.memory, table.file.load(), verdict, file, hunks, reviewer=reviewer, head=head, words="seen"
        )

    assert [mark.hunk for mark in build(ReviewVerdict.ACCEPT, *known)] == [*(each.fingerprint for each in known), ""]
    table.file.add(build(ReviewVerdict.FLAG, known[1], reviewer="bob"))
    [one] = build(ReviewVerdict.ACCEPT, known[0])
    table.file.add([one])
    assert len(table.inbox().files) == 1
    two, whole = build(ReviewVerdict.ACCEPT, known[1])
    assert (two.words, whole.words) == ("seen", "")
    table.file.add([two, whole])
    assert table.inbox().files == ()


def judge_and_end(table: Any, verdict: ReviewVerdict) -> None:
    """Judge one changed line, and end the review."""
    begun(table)
    edit(table, "line 5", "fifth\n")
    say(table, verdict, 0)
    table.done()


def test_a_flagged_hunk_stays_when_the_review_ends(table: Any) -> None:
    judge_and_end(table, ReviewVerdict.FLAG)
    assert [verdicts.find_verdict(each.marks) for each in of(table)] == [ReviewVerdict.FLAG]
    say(table, ReviewVerdict.ACCEPT, 0)
    assert table.inbox().files == ()


def test_what_was_said_before_the_last_review_is_not_said_of_the_same_lines_that_come_again(table: Any) -> None:
    judge_and_end(table, ReviewVerdict.ACCEPT)
    edit(table, "fifth", "line 5\n")
    table.done()
    edit(table, "line 5", "fifth\n")
    assert [each.marks for each in of(table)] == [()]


def test_what_cannot_be_compared_says_why(table: Any) -> None:
    table.write("long.md", "x" * 100)
    file = table.files()["long.md"]
    huge = replace(file, after=replace(file.after, size=MOST_BYTES + 1))
    assert "too large to compare" in compare_file(table.memory, huge).problem
    assert find_changed_hunks(table.memory, huge, table.file.load()) == []
    gone = replace(file, after=replace(file.after, sha256="0" * 64))
    assert compare_file(table.memory, gone).problem == "The text after is not kept."
    (table.folder / "b.md").write_bytes(b"\0\0")
    (table.folder / "link").symlink_to("a.md")
    table.memory.reconcile()
    files = table.files()
    assert compare_file(table.memory, files["b.md"]).problem == "It is not text."
    assert compare_file(table.memory, files["link"]).problem == "It is not a file: a link."


def test_texts_that_are_not_utf8_have_hunks_too(table: Any) -> None:
    (table.folder / "a.md").write_bytes(b"a one\n\xff\xfe\na three\n")
    table.memory.reconcile()
    (hunk,) = of(table, "a.md")
    assert (hunk.hunk.old_start, hunk.hunk.old_end) == (1, 2)
