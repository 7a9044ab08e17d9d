"""What is left to be reviewed: net, by thing and not by name, from where somebody last looked."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.audit.growth import collect_growth
from memtui.audit.model import AuditFinding, Family, FindingLocation, FindingOrigin, Severity
from memtui.core.times import parse_point_in_time
from memtui.fs.state import get_state_directory
from memtui.review import verdicts
from memtui.review.inbox import ReviewMark, ReviewVerdict
from memtui.review.inbox_builder import build_inbox, describe_missing_head, group_by_folder
from memtui.review.marks import Review, ReviewFile

GPT = memtui.Agent("other", "b-model", "session-2")


def signs(files: Any) -> list[str]:
    return sorted(
        f"{file.sign} {file.previous_path}>{file.path}" if file.previous_path else f"{file.sign} {file.path}"
        for file in files
    )


def test_what_was_there_when_memtui_first_looked_is_no_change(table: Any) -> None:
    found = table.inbox()
    assert found.files == ()
    assert (found.since, found.until, found.since_words) == (0, table.memory.get_head()[0], "the record's beginning")


def test_changes_are_net_and_tell_who_and_how_much(table: Any) -> None:
    table.do(command="str_replace", path="a.md", old_str="a one", new_str="a 1")
    table.do(GPT, command="str_replace", path="a.md", old_str="a two", new_str="a 2")
    table.write("new.md", "x\ny\n")
    table.do(command="delete", path="b.md")
    table.do(command="rename", old_path="c.md", new_path="deep/e.md")
    table.put("d.md", "d one\nd two\n")
    files = table.files()
    assert signs(files.values()) == ["+ new.md", "- b.md", "> c.md>deep/e.md", "~ a.md", "~ d.md"]
    assert (files["a.md"].added, files["a.md"].removed) == (2, 2)
    assert files["a.md"].actors == ("Claude", "other")
    assert files["a.md"].sessions == ("session-1", "session-2")
    assert len(files["a.md"].events) == 2
    assert (files["new.md"].added, files["new.md"].removed) == (2, 0)
    assert (files["b.md"].added, files["b.md"].removed) == (0, 3)
    assert (files["deep/e.md"].added, files["deep/e.md"].removed) == (0, 0)
    assert (files["d.md"].added, files["d.md"].removed, files["d.md"].actors) == (0, 1, ("outside",))


def test_what_is_as_it_was_is_not_there(table: Any) -> None:
    table.do(command="str_replace", path="a.md", old_str="a one", new_str="a 1")
    table.do(command="str_replace", path="a.md", old_str="a 1", new_str="a one")
    table.write("passing.md", "x")
    table.do(command="delete", path="passing.md")
    table.do(command="rename", old_path="b.md", new_path="e.md")
    table.do(command="rename", old_path="e.md", new_path="b.md")
    table.do(command="delete", path="c.md")
    table.write("c.md", "c one\nc two\nc three\n")
    assert table.inbox().files == ()


def test_a_thing_is_followed_through_a_chain_of_names(table: Any) -> None:
    table.do(command="rename", old_path="a.md", new_path="b2.md")
    table.do(command="str_replace", path="b2.md", old_str="a two", new_str="a 2")
    table.do(command="rename", old_path="b2.md", new_path="x/c2.md")
    table.write("a.md", "another note\n")
    table.do(command="rename", old_path="x", new_path="y")
    files = table.files()
    assert signs(files.values()) == ["+ a.md", "~ a.md>y/c2.md"]
    assert len(files["y/c2.md"].events) == 4
    table.accept("y/c2.md")
    table.do(command="rename", old_path="y/c2.md", new_path="z.md")
    files = table.files()
    assert signs(files.values()) == ["+ a.md", "+ y", "> y/c2.md>z.md"]  # nothing is left in the directory
    assert files["z.md"].staleness_note == "changed since it was accepted"


def test_two_things_that_changed_places_are_told_as_that(table: Any) -> None:
    assert table.memory.files.move({"a.md": "b.md", "b.md": "a.md"}).event is not None
    assert signs(table.inbox().files) == ["> a.md>b.md", "> b.md>a.md"]


def test_what_was_deleted_and_came_back_changed_is_one_change(table: Any) -> None:
    table.do(command="delete", path="a.md")
    assert signs(table.inbox().files) == ["- a.md"]
    table.accept("a.md")
    assert table.inbox().files == ()
    table.write("a.md", "a one\nchanged\n")
    (file,) = table.inbox().files
    assert (file.sign, file.staleness_note) == ("+", "changed since it was accepted")
    (file,) = table.inbox(since=1).files
    assert file.sign == "~"


def test_a_whole_directory_can_be_told_as_one(table: Any) -> None:
    for name in ("p", "q", "r"):
        table.write(f"notes/{name}.md", f"{name}\n")
    found = table.inbox()
    assert {path: len(files) for path, files in group_by_folder(found).items()} == {"notes": 3}
    table.accept("notes/p.md")
    assert [len(files) for files in group_by_folder(table.inbox()).values()] == [2]
    table.done()
    table.do(command="delete", path="notes")
    found = table.inbox()
    assert signs(found.files) == ["- notes/p.md", "- notes/q.md", "- notes/r.md"]
    assert list(group_by_folder(found)) == ["notes"]


def test_an_empty_directory_is_told_by_itself(table: Any) -> None:
    assert table.memory.files.make_directory("empty").event is not None
    assert signs(table.inbox().files) == ["+ empty"]
    table.accept("empty")
    assert table.inbox().files == ()


def test_what_was_accepted_one_by_one_is_not_told_again_as_long_as_it_stays(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.write("b.md", "changed too\n")
    table.accept("a.md")
    assert signs(table.inbox().files) == ["~ b.md"]
    (accepted,) = [file for file in table.inbox(accepted=True).files if file.path == "a.md"]
    assert accepted.verdict is ReviewVerdict.ACCEPT
    assert accepted.marks[-1].reviewer == "ada"
    table.do(command="str_replace", path="a.md", old_str="changed\n", new_str="changed\nagain\n")
    file = table.files()["a.md"]
    assert (file.verdict, file.marks, file.staleness_note) == (None, (), "changed since it was accepted")
    assert (file.added, file.removed) == (1, 0)  # from what was accepted, not from what was before


def test_what_was_accepted_before_the_review_ended_is_told_as_that(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.write("b.md", "changed\n")
    table.accept("a.md")
    table.done()
    table.write("a.md", "changed again\n")
    table.write("b.md", "changed again\n")
    files = table.files()
    assert (files["a.md"].staleness_note, files["b.md"].staleness_note) == ("changed since it was accepted", "")


def test_a_mark_over_other_texts_does_not_count(table: Any) -> None:
    table.write("a.md", "changed\n")
    shown = table.files()["a.md"]
    table.write("a.md", "changed meanwhile\n")
    table.file.add(
        [verdicts.build_mark(ReviewVerdict.ACCEPT, shown, reviewer="ada", head=verdicts.get_head(table.memory))]
    )
    (file,) = table.inbox().files
    assert file.marks == ()
    assert file.staleness_note == "changed since it was accepted"
    forged = ReviewMark(
        reviewer="x", at_us=1, verdict=ReviewVerdict.ACCEPT, path="a.md", before="0" * 64, after=file.after.sha256 or ""
    )
    table.file.add([forged])
    assert [each.path for each in table.inbox().files] == ["a.md"]


def test_done_begins_the_next_review_and_what_is_flagged_stays(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.write("b.md", "changed too\n")
    table.flag("b.md", words="who was that")
    table.done()
    found = table.inbox()
    assert found.since == table.memory.get_head()[0]
    assert found.since_words == "the last review, by ada"
    (file,) = found.files
    assert (file.path, file.verdict, file.marks[-1].words) == ("b.md", ReviewVerdict.FLAG, "who was that")
    assert (file.added, file.removed) == (1, 3)
    table.done("bob")
    assert [each.path for each in table.inbox().files] == ["b.md"]
    table.do(command="rename", old_path="b.md", new_path="e.md")
    (file,) = table.inbox().files
    assert (file.path, file.previous_path, file.staleness_note) == ("e.md", "b.md", "changed since it was flagged")
    table.accept("e.md")
    assert table.inbox().files == ()


def test_what_is_accepted_can_be_flagged_by_another_reviewer(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.accept("a.md", "ada")
    table.flag("a.md", "bob")
    (file,) = table.inbox().files
    assert [(mark.reviewer, mark.verdict) for mark in file.marks] == [
        ("ada", ReviewVerdict.ACCEPT),
        ("bob", ReviewVerdict.FLAG),
    ]
    assert file.verdict is ReviewVerdict.FLAG


def test_only_the_named_reviewers_acceptance_counts(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.write("b.md", "changed\n")
    table.accept("a.md", "ada")
    table.done("bob")
    assert table.inbox().files == ()
    files = table.files(reviewer="ada")
    assert set(files) == {"b.md"}
    files = table.files(reviewer="cyd")
    assert set(files) == {"a.md", "b.md"}
    assert [mark.reviewer for mark in files["a.md"].marks] == ["ada"]
    table.write("c.md", "changed\n")
    assert set(table.files(reviewer="bob")) == {"c.md"}


def test_who_accepts_all_since_an_older_review_of_their_own_settles_it_for_everybody(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.done("ada")
    table.write("a.md", "changed again\n")
    shown = table.files(reviewer="bob")["a.md"]
    assert shown.removed == 3
    table.file.add(
        [verdicts.build_mark(ReviewVerdict.ACCEPT, shown, reviewer="bob", head=verdicts.get_head(table.memory))]
    )
    assert table.inbox().files == ()
    assert table.inbox(reviewer="bob").files == ()
    assert [file.path for file in table.inbox(reviewer="ada").files] == ["a.md"]


def test_it_can_begin_at_a_number_a_time_or_a_head(table: Any) -> None:
    table.write("a.md", "changed\n")
    seq, hash = table.memory.get_head()
    at_us = table.memory.history.get_event(seq).at_us
    table.write("b.md", "changed\n")
    for since in (seq, str(seq), f"#{seq}", hash, hash[:12], f"{seq}:{hash}"):
        found = table.inbox(since=since)
        assert (found.since, [file.path for file in found.files]) == (seq, ["b.md"])
    assert set(table.files(since=0)) == {"a.md", "b.md"}
    assert table.inbox(since="now").files == ()
    assert set(table.files(since="1h")) == {"a.md", "b.md"}
    assert table.inbox(since=parse_point_in_time("1h", now=datetime.now(UTC))).files
    assert table.inbox(since=seq).since_us == at_us
    for wrong, words in (
        (99, "There is no event #99"),
        ("00112233aabb", "no event with the hash"),
        ("soon", "as a time"),
    ):
        with pytest.raises(ValueError, match=words):
            table.inbox(since=wrong)


def test_since_a_moment_all_that_is_accepted_can_be_told_with_its_marks(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.accept("a.md")
    table.done()
    assert table.inbox(since=0).files == ()
    (file,) = table.inbox(since=0, accepted=True).files
    assert file.verdict is ReviewVerdict.ACCEPT


def test_it_can_be_narrowed(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.do(GPT, command="create", path="notes/x.md", file_text="x\n")
    table.put("d.md", "changed\n")
    assert set(table.files(actor="claude")) == {"a.md"}
    assert set(table.files(actor="outside")) == {"d.md"}
    assert set(table.files(session="session-2")) == {"notes/x.md"}
    assert set(table.files(path="notes")) == {"notes/x.md"}
    assert set(table.files(path="notes/x.md")) == {"notes/x.md"}
    assert set(table.files(path="note")) == set()
    finding = AuditFinding(
        rule="github-token",
        family=Family.SECRET,
        severity=Severity.FAIL,
        location=FindingLocation("a.md", 1),
        words="a token",
        evidence="",
        do="",
        origin=FindingOrigin(),
        fingerprint="0" * 16,
    )
    assert set(table.files(rule="*-token", findings=[finding])) == {"a.md"}
    assert set(table.files(rule="bidi-*", findings=[finding])) == set()


def test_a_change_from_outside_that_an_agent_claimed_is_the_agents(table: Any) -> None:
    table.put("a.md", "by hand\n")
    sha = table.files()["a.md"].after.sha256
    event = table.memory.claims.claim(
        "a.md", actor=memtui.Agent("Claude Code", None, "s9"), call_id="t1", hashes=[sha], note="Write"
    )
    assert event is not None
    file = table.files()["a.md"]
    assert (file.actors, file.sessions) == (("Claude Code",), ("s9",))
    assert set(table.files(actor="claude code")) == {"a.md"}


def test_what_cannot_be_compared_has_no_counts(table: Any) -> None:
    (table.folder / "blob.bin").write_bytes(b"\0\1\2" * 10)
    table.write("a.md", "changed\n")
    table.do(command="delete", path="a.md")
    (table.folder / "a.md").write_bytes(b"\0\1\2" * 10)
    (table.folder / "link").symlink_to("a.md")
    table.memory.reconcile()
    files = table.files()
    assert files["blob.bin"].sign == "+"
    assert (files["a.md"].sign, files["a.md"].added) == ("~", None)
    assert (files["link"].sign, files["link"].added) == ("+", None)


# The head


def test_a_review_of_another_record_is_said_and_hides_nothing(table: Any) -> None:
    table.write("a.md", "changed\n")
    mark = ReviewMark(reviewer="ada", at_us=1, verdict=ReviewVerdict.ACCEPT, path="", seq=2, head="00" * 32)
    review = Review().add_marks([mark])
    found = build_inbox(table.memory, review)
    assert "The history is not the one that ada reviewed" in found.problem
    assert "that event has another hash" in found.problem
    assert [file.path for file in found.files] == ["a.md"]
    beyond = Review().add_marks(
        [ReviewMark(reviewer="ada", at_us=1, verdict=ReviewVerdict.ACCEPT, path="", seq=999, head="aa" * 32)]
    )
    assert f"the last event is #{table.memory.get_head()[0]}" in describe_missing_head(table.memory, beyond)
    assert describe_missing_head(table.memory, Review()) == ""
    table.done()
    assert describe_missing_head(table.memory, table.file.load()) == ""


def test_a_tampered_review_is_said_in_the_inbox_and_does_not_hide_the_change(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.flag("a.md")
    document = json.loads(table.file.path.read_bytes())
    document["marks"][0]["verdict"] = "accept"
    table.file.path.write_text(json.dumps(document))
    found = table.inbox()
    assert "was changed by another program" in found.problem
    assert [file.path for file in found.files] == ["a.md"]


# A session that only looks


def test_what_only_a_look_has_found_can_be_reviewed_before_it_is_recorded(tmp_path: Path) -> None:
    folder, state = tmp_path / "memories", tmp_path / "state"
    folder.mkdir()
    (folder / "a.md").write_text("one\n")
    (folder / "b.md").write_text("one\n")
    memtui.open(folder, state=state).close()
    (folder / "a.md").write_text("two\n")
    (folder / "b.md").write_text("two\n")
    file = ReviewFile(tmp_path / "review.json")
    with memory_module.observe(folder, state=state) as observer:
        head = verdicts.get_head(observer)
        assert head[0] < observer.get_head()[0]
        found = build_inbox(observer, file.load())
        by_path = {each.path: each for each in found.files}
        assert set(by_path) == {"a.md", "b.md"}
        file.add([verdicts.build_mark(ReviewVerdict.ACCEPT, by_path["a.md"], reviewer="ada", head=head)])
        assert [each.path for each in build_inbox(observer, file.load()).files] == ["b.md"]
        file.add(verdicts.end_review(build_inbox(observer, file.load()), reviewer="ada", head=head))
        assert build_inbox(observer, file.load()).files == ()
    with memtui.open(folder, state=state) as memory:  # which records it, at another time and with another hash
        found = build_inbox(memory, file.load())
        assert (found.files, found.problem) == ((), "")
        (folder / "a.md").write_text("three\n")
        memory.reconcile()
        assert [each.path for each in build_inbox(memory, file.load()).files] == ["a.md"]


def test_a_folder_without_a_journal_has_an_empty_inbox(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("one\n")
    with memory_module.observe(folder, state=tmp_path / "none") as observer:
        found = build_inbox(observer, Review())
        assert (found.files, found.problem) == ((), "")
        review = Review().add_marks(verdicts.end_review(found, reviewer="ada", head=verdicts.get_head(observer)))
        assert build_inbox(observer, review).problem == ""


# A record that somebody wrote over


@pytest.mark.parametrize(
    "body",
    [
        '{"changes": as text}',
        b"\xff\xfe no json",
        b'{"changes":[[1,2]]}',
        b'{"changes":[["a.md",null,["strange",[],{}]]],"actor":[],"at_us":"x"}',
        b'{"changes":7,"moved":[1],"new_path":[]}',
        b"[" * 100_000,
    ],
)
def test_an_event_that_somebody_wrote_over_does_not_end_the_look(body: Any, table: Any) -> None:
    table.write("a.md", "changed\n")
    seq = table.memory.get_head()[0]
    table.write("b.md", "changed\n")
    mark = ReviewMark(
        reviewer="ada", at_us=1, verdict=ReviewVerdict.NOTE, path="a.md", words="x", seq=seq, head="0" * 64
    )
    path = table.folder.parent / "broken.db"
    journal, copy = sqlite3.connect(get_state_directory(str(table.folder)) / "journal.db"), sqlite3.connect(path)
    journal.backup(copy)
    for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        copy.execute(f'DROP TRIGGER "{name}"')
    copy.execute("UPDATE events SET body = ? WHERE seq = ?", (body, seq))
    copy.commit()
    journal.close()
    copy.close()
    with memory_module.observe(table.folder, journal=path) as observer:
        found = build_inbox(observer, Review().add_marks([mark]))
        assert "b.md" in [file.path for file in found.files]
        assert "The history is not the one" in found.problem
        assert collect_growth(observer, (), 2**51).files


def test_what_was_renamed_and_then_deleted_is_told_under_the_name_that_it_had(table: Any) -> None:
    table.do(command="rename", old_path="a.md", new_path="tmp-123.md")
    table.do(command="delete", path="tmp-123.md")
    (file,) = table.inbox().files
    assert (file.sign, file.previous_path, file.path) == ("-", "a.md", "tmp-123.md")
    assert [each.previous_path for each in table.inbox(path="a.md").files] == ["a.md"]
    table.accept("tmp-123.md")
    assert table.inbox().files == ()


def test_what_comes_back_under_the_name_that_it_had_is_no_change(table: Any) -> None:
    table.do(command="rename", old_path="a.md", new_path="b2.md")
    table.do(command="delete", path="b2.md")
    table.write("a.md", "a one\na two\na three\n")
    assert table.inbox().files == ()


def test_what_took_the_place_of_another_note_hides_neither(table: Any) -> None:
    table.write("x.md", "x\n")
    table.done()
    (table.folder / "x.md").rename(table.folder / "a.md")
    table.memory.reconcile()
    found = {(file.sign, file.previous_path, file.path) for file in table.inbox().files}
    assert found in ({(">", "x.md", "a.md"), ("-", "", "a.md")}, {("~", "", "a.md"), ("-", "", "x.md")})


def test_a_directory_in_the_place_of_a_file_is_another_thing(table: Any) -> None:
    table.do(command="delete", path="a.md")
    assert table.memory.files.make_directory("a.md").event is not None
    rows = [(file.sign, file.path, (file.after or file.before).kind.value) for file in table.inbox().files]
    assert sorted(rows) == [("+", "a.md", "directory"), ("-", "a.md", "file")]


def test_a_directory_that_became_empty_is_told_and_one_that_is_explained_is_not(table: Any) -> None:
    table.write("d/x.md", "x\n")
    assert signs(table.inbox().files) == ["+ d/x.md"]
    table.do(command="delete", path="d/x.md")
    assert signs(table.inbox().files) == ["+ d"]
    table.done()
    table.do(command="delete", path="d")
    assert signs(table.inbox().files) == ["- d"]
    table.accept("d")
    assert table.inbox().files == ()


def test_the_same_change_made_again_after_a_review_is_to_be_reviewed_again(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.accept("a.md")
    table.undo()
    table.write("b.md", "something else\n")
    table.done()
    table.write("a.md", "changed\n")
    (file,) = table.inbox().files
    assert (file.path, file.verdict, file.marks) == ("a.md", None, ())


def test_the_same_change_made_again_at_once_after_it_was_reverted_by_somebody_is_told(table: Any) -> None:
    table.do(command="delete", path="a.md")
    table.accept("a.md", "ada")
    table.done("bob")
    table.undo()
    table.accept("a.md", "ada")
    table.do(command="delete", path="a.md")
    assert signs(table.inbox().files) == ["- a.md"]


def test_what_is_said_of_one_note_is_not_said_of_another_one_that_had_its_name(table: Any) -> None:
    table.write("new.md", "new\n")
    table.do(command="rename", old_path="new.md", new_path="kept.md")
    table.write("new.md", "new\n")
    table.accept("new.md")
    assert signs(table.inbox().files) == ["+ kept.md"]


def test_a_flag_after_an_acceptance_tells_both(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.accept("a.md", "ada")
    table.flag("a.md", "bob")
    table.done("ada")
    (file,) = table.inbox().files
    assert [mark.verdict for mark in file.marks] == [ReviewVerdict.ACCEPT, ReviewVerdict.FLAG]


def test_events_are_told_by_number_and_hand(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.put("a.md", "changed again\n")
    (file,) = table.inbox().files
    assert [(event.seq, event.command) for event in file.events] == [
        (table.memory.get_head()[0] - 1, "create"),
        (table.memory.get_head()[0], "modified"),
    ]
    assert [step.version for step in file.steps][::2] == [file.before, file.after]
