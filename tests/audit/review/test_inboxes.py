"""What is left to be reviewed: net, by thing and not by name, from where somebody last looked."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import opening
from memtui.audit import judging
from memtui.audit.beginnings import head_gone
from memtui.audit.findings import Family, Finding, Origin, Place, Severity
from memtui.audit.growth import growth
from memtui.audit.inbox import Mark, Verdict
from memtui.audit.inboxes import inbox, settled_folders
from memtui.audit.marks import Review
from memtui.audit.review_file import ReviewFile
from memtui.core.moments import moment
from memtui.state import state_directory

GPT = memtui.Agent("other", "b-model", "session-2")


def signs(files: Any) -> list[str]:
    return sorted(f"{file.sign} {file.was}>{file.path}" if file.was else f"{file.sign} {file.path}" for file in files)


def test_what_was_there_when_memtui_first_looked_is_no_change(table: Any) -> None:
    found = table.inbox()
    assert found.files == ()
    assert (found.since, found.until, found.since_words) == (0, table.memory.head()[0], "the record's beginning")


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
    assert files["z.md"].changed_since == "changed since it was accepted"


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
    assert (file.sign, file.changed_since) == ("+", "changed since it was accepted")
    (file,) = table.inbox(since=1).files
    assert file.sign == "~"


def test_a_whole_directory_can_be_told_as_one(table: Any) -> None:
    for name in ("p", "q", "r"):
        table.write(f"notes/{name}.md", f"{name}\n")
    found = table.inbox()
    assert {path: len(files) for path, files in settled_folders(found).items()} == {"notes": 3}
    table.accept("notes/p.md")
    assert [len(files) for files in settled_folders(table.inbox()).values()] == [2]
    table.done()
    table.do(command="delete", path="notes")
    found = table.inbox()
    assert signs(found.files) == ["- notes/p.md", "- notes/q.md", "- notes/r.md"]
    assert list(settled_folders(found)) == ["notes"]


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
    assert accepted.verdict is Verdict.ACCEPT
    assert accepted.marks[-1].reviewer == "ada"
    table.do(command="str_replace", path="a.md", old_str="changed\n", new_str="changed\nagain\n")
    file = table.files()["a.md"]
    assert (file.verdict, file.marks, file.changed_since) == (None, (), "changed since it was accepted")
    assert (file.added, file.removed) == (1, 0)  # from what was accepted, not from what was before


def test_what_was_accepted_before_the_review_ended_is_told_as_that(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.write("b.md", "changed\n")
    table.accept("a.md")
    table.done()
    table.write("a.md", "changed again\n")
    table.write("b.md", "changed again\n")
    files = table.files()
    assert (files["a.md"].changed_since, files["b.md"].changed_since) == ("changed since it was accepted", "")


def test_a_mark_over_other_texts_does_not_count(table: Any) -> None:
    table.write("a.md", "changed\n")
    shown = table.files()["a.md"]
    table.write("a.md", "changed meanwhile\n")
    table.file.add([judging.accept(shown, reviewer="ada", head=judging.head_of(table.memory))])
    (file,) = table.inbox().files
    assert file.marks == ()
    assert file.changed_since == "changed since it was accepted"
    forged = Mark(
        reviewer="x", at_us=1, verdict=Verdict.ACCEPT, path="a.md", before="0" * 64, after=file.after.sha256 or ""
    )
    table.file.add([forged])
    assert [each.path for each in table.inbox().files] == ["a.md"]


def test_done_begins_the_next_review_and_what_is_flagged_stays(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.write("b.md", "changed too\n")
    table.flag("b.md", words="who was that")
    table.done()
    found = table.inbox()
    assert found.since == table.memory.head()[0]
    assert found.since_words == "the last review, by ada"
    (file,) = found.files
    assert (file.path, file.verdict, file.marks[-1].words) == ("b.md", Verdict.FLAG, "who was that")
    assert (file.added, file.removed) == (1, 3)
    table.done("bob")
    assert [each.path for each in table.inbox().files] == ["b.md"]
    table.do(command="rename", old_path="b.md", new_path="e.md")
    (file,) = table.inbox().files
    assert (file.path, file.was, file.changed_since) == ("e.md", "b.md", "changed since it was flagged")
    table.accept("e.md")
    assert table.inbox().files == ()


def test_what_is_accepted_can_be_flagged_by_another_reviewer(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.accept("a.md", "ada")
    table.flag("a.md", "bob")
    (file,) = table.inbox().files
    assert [(mark.reviewer, mark.verdict) for mark in file.marks] == [("ada", Verdict.ACCEPT), ("bob", Verdict.FLAG)]
    assert file.verdict is Verdict.FLAG


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
    table.file.add([judging.accept(shown, reviewer="bob", head=judging.head_of(table.memory))])
    assert table.inbox().files == ()
    assert table.inbox(reviewer="bob").files == ()
    assert [file.path for file in table.inbox(reviewer="ada").files] == ["a.md"]


def test_it_can_begin_at_a_number_a_time_or_a_head(table: Any) -> None:
    table.write("a.md", "changed\n")
    seq, hash = table.memory.head()
    at_us = table.memory.history.event(seq).at_us
    table.write("b.md", "changed\n")
    for since in (seq, str(seq), f"#{seq}", hash, hash[:12], f"{seq}:{hash}"):
        found = table.inbox(since=since)
        assert (found.since, [file.path for file in found.files]) == (seq, ["b.md"])
    assert set(table.files(since=0)) == {"a.md", "b.md"}
    assert table.inbox(since="now").files == ()
    assert set(table.files(since="1h")) == {"a.md", "b.md"}
    assert table.inbox(since=moment("1h", now=datetime.now(UTC))).files
    assert table.inbox(since=seq).since_us == at_us
    for wrong, words in (
        (99, "There is no event #99"),
        ("00112233aabb", "no event with the hash"),
        ("soon", "no moment"),
    ):
        with pytest.raises(ValueError, match=words):
            table.inbox(since=wrong)


def test_since_a_moment_all_that_is_accepted_can_be_told_with_its_marks(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.accept("a.md")
    table.done()
    assert table.inbox(since=0).files == ()
    (file,) = table.inbox(since=0, accepted=True).files
    assert file.verdict is Verdict.ACCEPT


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
    finding = Finding(
        rule="github-token",
        family=Family.SECRET,
        severity=Severity.FAIL,
        place=Place("a.md", 1),
        words="a token",
        evidence="",
        do="",
        origin=Origin(),
        fingerprint="0" * 16,
    )
    assert set(table.files(rule="*-token", findings=[finding])) == {"a.md"}
    assert set(table.files(rule="bidi-*", findings=[finding])) == set()


def test_a_change_from_outside_that_an_agent_claimed_is_the_agents(table: Any) -> None:
    table.put("a.md", "by hand\n")
    sha = table.files()["a.md"].after.sha256
    event = table.memory.tell_late(
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
    mark = Mark(reviewer="ada", at_us=1, verdict=Verdict.ACCEPT, path="", seq=2, head="00" * 32)
    review = Review().with_mark(mark)
    found = inbox(table.memory, review)
    assert "The record is not the one that ada reviewed" in found.problem
    assert "another event stands there" in found.problem
    assert [file.path for file in found.files] == ["a.md"]
    beyond = Review().with_mark(Mark(reviewer="ada", at_us=1, verdict=Verdict.ACCEPT, path="", seq=999, head="aa" * 32))
    assert f"the last event is #{table.memory.head()[0]}" in head_gone(table.memory, beyond)
    assert head_gone(table.memory, Review()) == ""
    table.done()
    assert head_gone(table.memory, table.file.read()) == ""


def test_a_tampered_review_is_said_in_the_inbox_and_does_not_hide_the_change(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.flag("a.md")
    document = json.loads(table.file.path.read_bytes())
    document["marks"][0]["verdict"] = "accept"
    table.file.path.write_text(json.dumps(document))
    found = table.inbox()
    assert "was changed by something else than memtui" in found.problem
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
    with opening.observe(folder, state=state) as observer:
        head = judging.head_of(observer)
        assert head[0] < observer.head()[0]
        found = inbox(observer, file.read())
        by_path = {each.path: each for each in found.files}
        assert set(by_path) == {"a.md", "b.md"}
        file.add([judging.accept(by_path["a.md"], reviewer="ada", head=head)])
        assert [each.path for each in inbox(observer, file.read()).files] == ["b.md"]
        file.add(judging.done(inbox(observer, file.read()), reviewer="ada", head=head))
        assert inbox(observer, file.read()).files == ()
    with memtui.open(folder, state=state) as memory:  # which records it, at another time and with another hash
        found = inbox(memory, file.read())
        assert (found.files, found.problem) == ((), "")
        (folder / "a.md").write_text("three\n")
        memory.reconcile()
        assert [each.path for each in inbox(memory, file.read()).files] == ["a.md"]


def test_a_folder_without_a_journal_has_an_empty_inbox(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("one\n")
    with opening.observe(folder, state=tmp_path / "none") as observer:
        found = inbox(observer, Review())
        assert (found.files, found.problem) == ((), "")
        review = Review().with_marks(judging.done(found, reviewer="ada", head=judging.head_of(observer)))
        assert inbox(observer, review).problem == ""


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
    seq = table.memory.head()[0]
    table.write("b.md", "changed\n")
    mark = Mark(reviewer="ada", at_us=1, verdict=Verdict.NOTE, path="a.md", words="x", seq=seq, head="0" * 64)
    path = table.folder.parent / "broken.db"
    journal, copy = sqlite3.connect(state_directory(str(table.folder)) / "journal.db"), sqlite3.connect(path)
    journal.backup(copy)
    for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        copy.execute(f'DROP TRIGGER "{name}"')
    copy.execute("UPDATE events SET body = ? WHERE seq = ?", (body, seq))
    copy.commit()
    journal.close()
    copy.close()
    with opening.observe(table.folder, journal=path) as observer:
        found = inbox(observer, Review().with_mark(mark))
        assert "b.md" in [file.path for file in found.files]
        assert "The record is not the one" in found.problem
        assert growth(observer, (), 2**51).files


def test_what_was_renamed_and_then_deleted_is_told_under_the_name_that_it_had(table: Any) -> None:
    table.do(command="rename", old_path="a.md", new_path="tmp-123.md")
    table.do(command="delete", path="tmp-123.md")
    (file,) = table.inbox().files
    assert (file.sign, file.was, file.path) == ("-", "a.md", "tmp-123.md")
    assert [each.was for each in table.inbox(path="a.md").files] == ["a.md"]
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
    found = {(file.sign, file.was, file.path) for file in table.inbox().files}
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
    assert [mark.verdict for mark in file.marks] == [Verdict.ACCEPT, Verdict.FLAG]


def test_events_are_told_by_number_and_hand(table: Any) -> None:
    table.write("a.md", "changed\n")
    table.put("a.md", "changed again\n")
    (file,) = table.inbox().files
    assert [(event.seq, event.command) for event in file.events] == [
        (table.memory.head()[0] - 1, "create"),
        (table.memory.head()[0], "modified"),
    ]
    assert [step.version for step in file.steps][::2] == [file.before, file.after]
