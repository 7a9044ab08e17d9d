"""The end of a review: what must be decided first, and a record in which each manipulation is found."""

import copy
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memtui.audit.model import AuditFinding
from memtui.audit.runner import run_audit
from memtui.review import sign_off, triage, verdicts
from memtui.review.inbox import MarkedFinding, ReviewVerdict
from memtui.review.marks import compute_digest
from tests.review.conftest import Table

BAD = "x\na \u202e b\n"


def decide(table: Table, **given: Any) -> list[MarkedFinding]:
    found = table.inbox(accepted=True)
    audit = run_audit(table.memory, title="memories", only={"hidden"}, inbox=found, review=table.file.load())
    return sign_off.decide_findings(table.memory, table.file.load(), found, audit, **given)


def undecided(table: Table, **given: Any) -> list[str]:
    return [each.path for each in sign_off.find_undecided(decide(table, **given))]


def judge(table: Table, verdict: ReviewVerdict, path: str, *, shown: bool = False, hunk: int | None = None) -> None:
    """A verdict on a note or on one hunk of it, with or without its findings."""
    file, review = table.files(accepted=True)[path], table.file.load()
    hunks = () if hunk is None else (verdicts.find_changed_hunks(table.memory, file, review)[hunk],)
    audit = run_audit(table.memory, title="memories", only={"hidden"})
    findings = sign_off.list_failures(audit, path) if shown else ()
    head = verdicts.get_head(table.memory)
    marks = verdicts.build_marks(
        table.memory, review, verdict, file, hunks, reviewer="ada", head=head, words="looked at", findings=findings
    )
    table.file.add(marks)


def dismiss(table: Table, finding: MarkedFinding | AuditFinding) -> None:
    known = triage.mark_finding(finding) if isinstance(finding, AuditFinding) else finding
    head = verdicts.get_head(table.memory)
    table.file.add(
        [
            verdicts.build_finding_mark(
                ReviewVerdict.DISMISS, known, reviewer="bob", head=head, words="an example", until="2099-01-01"
            )
        ]
    )


def sign(table: Table, words: str = "", reason: str = "") -> None:
    found = table.inbox(accepted=True)
    findings = sign_off.accept_failures(decide(table))
    marks = verdicts.end_review(
        found, reviewer="ada", head=verdicts.get_head(table.memory), words=words, findings=findings,
        failures_reason=reason,
    )  # fmt: skip
    table.file.add(marks)


def test_what_must_not_stay_in_a_change_is_undecided_until_it_was_shown_with_its_acceptance(table: Table) -> None:
    table.write("bad.md", BAD)
    assert undecided(table) == ["bad.md"]
    judge(table, ReviewVerdict.NOTE, "bad.md", shown=True)
    judge(table, ReviewVerdict.ACCEPT, "bad.md")
    assert undecided(table) == ["bad.md"]
    judge(table, ReviewVerdict.ACCEPT, "bad.md", shown=True)
    assert undecided(table) == []
    assert [each.decision for each in decide(table)] == ["accepted"]
    # Another text is another change.
    table.write("bad.md", f"more\n{BAD}")
    assert undecided(table) == ["bad.md"]
    judge(table, ReviewVerdict.FLAG, "bad.md")
    assert [each.decision for each in decide(table)] == ["flagged"]


def test_a_verdict_on_the_hunk_that_holds_it_decides(table: Table) -> None:
    table.write("a.md", "".join(f"line {number}\n" for number in range(20)))
    table.accept("a.md")
    table.done()
    table.do(command="str_replace", path="a.md", old_str="line 3\n", new_str="x \u202e y\n")
    table.do(command="str_replace", path="a.md", old_str="line 15\n", new_str="harmless\n")
    judge(table, ReviewVerdict.FLAG, "a.md", hunk=1)
    assert undecided(table) == ["a.md"]
    judge(table, ReviewVerdict.FLAG, "a.md", hunk=0)
    assert [each.decision for each in decide(table)] == ["flagged"]
    judge(table, ReviewVerdict.ACCEPT, "a.md", hunk=0)
    assert undecided(table) == ["a.md"]
    judge(table, ReviewVerdict.ACCEPT, "a.md", hunk=0, shown=True)
    assert [each.decision for each in decide(table)] == ["accepted"]


def test_what_is_dismissed_or_gone_or_was_there_before_blocks_nothing(table: Table) -> None:
    table.write("bad.md", BAD)
    dismiss(table, decide(table)[0])
    assert [each.decision for each in decide(table)] == ["dismissed"]
    table.write("worse.md", BAD)
    assert undecided(table) == ["worse.md"]
    assert undecided(table, seen=table.memory.get_head()[0] - 1) == []
    table.do(command="delete", path="worse.md")
    assert undecided(table) == []
    sign(table)
    table.write("c.md", "harmless\n")
    assert decide(table) == []


@pytest.fixture
def signed(table: Table) -> dict[str, Any]:
    """A review that was ended in spite of a failure, and its record."""
    table.write("bad.md", BAD)
    table.write("quoted.md", BAD)
    judge(table, ReviewVerdict.FLAG, "bad.md")
    dismiss(table, next(each for each in decide(table) if each.path == "quoted.md"))
    table.write("worse.md", BAD)
    table.do(command="rename", old_path="b.md", new_path="notes/b.md")
    sign(table, words="read all of it", reason="it goes out with the next release")
    table.write("later.md", "later\n")
    review = table.file.load()
    at = sign_off.find_sign_off(review)
    assert at is not None
    return sign_off.build_record(table.memory, review, at)


def verify(table: Table, text: str) -> list[str]:
    last = table.memory.get_head()[0]
    return sign_off.verify_record(table.memory, table.file.load(), text.encode(), on_disk=last)


def test_the_record_says_who_what_when_and_over_which_head(signed: dict[str, Any], table: Table) -> None:
    review = table.file.load()
    mark = review.marks[-1]
    assert (signed["reviewer"], signed["words"]) == ("ada", "read all of it")
    assert signed["journal"] == {"seq": mark.seq, "hash": mark.head}
    assert signed["mark"] == {"number": len(review.marks), "hash": compute_digest(review.entries[-1])}
    assert signed["failures_reason"] == "it goes out with the next release"
    changes = {each["path"]: each for each in signed["changes"]}
    assert list(changes) == ["bad.md", "notes/b.md", "quoted.md", "worse.md"]
    assert (changes["bad.md"]["verdict"], changes["bad.md"]["words"]) == ("flag", ["looked at"])
    assert (changes["notes/b.md"]["was"], changes["notes/b.md"]["before"]) == ("b.md", changes["notes/b.md"]["after"])
    decisions = {each["path"]: each for each in signed["findings"]}
    assert decisions["bad.md"]["decision"] == "flagged"
    assert decisions["worse.md"]["decision"] == "accepted in spite"
    quoted = decisions["quoted.md"]
    assert (quoted["decision"], quoted["reason"], quoted["by"], quoted["until"]) == (
        "dismissed", "an example", "bob", "2099-01-01",
    )  # fmt: skip


def test_a_heading_of_the_printed_record_stands_by_itself(signed: dict[str, Any]) -> None:
    for record in (signed, signed | {"changes": [], "findings": []}):
        lines = sign_off.render_record(record, "md").split("\n")
        headings = [at for at, line in enumerate(lines) if line.startswith("#") and at]
        assert len(headings) == 2
        assert all(lines[at - 1] == lines[at + 1] == "" for at in headings)


@pytest.mark.parametrize("format", ["json", "md"])
def test_a_record_is_what_was_signed_whatever_comes_after(format: str, signed: dict[str, Any], table: Table) -> None:
    text = sign_off.render_record(signed, format)
    assert text.isprintable() is False
    assert "\u202e" not in text
    table.write("bad.md", "mended\n")
    judge(table, ReviewVerdict.ACCEPT, "bad.md")
    sign(table)
    assert verify(table, text) == []
    review = table.file.load()
    first = sign_off.find_sign_off(review, signed["journal"]["seq"])
    assert first is not None
    assert sign_off.build_record(table.memory, review, first) == signed


def other_reviewer(record: dict[str, Any]) -> None:
    record["reviewer"] = "eve"


def other_hash(record: dict[str, Any]) -> None:
    record["changes"][0]["after"] = "0" * 64


def other_verdict(record: dict[str, Any]) -> None:
    record["changes"][0]["verdict"] = "accept"


def change_dropped(record: dict[str, Any]) -> None:
    del record["changes"][1]


def finding_dropped(record: dict[str, Any]) -> None:
    del record["findings"][0]


def other_decision(record: dict[str, Any]) -> None:
    record["findings"][0]["decision"] = "accepted"


def no_reason(record: dict[str, Any]) -> None:
    record["failures_reason"] = None


def other_words(record: dict[str, Any]) -> None:
    record["words"] = "read none of it"


def other_head(record: dict[str, Any]) -> None:
    record["journal"]["hash"] = "0" * 64


def other_range(record: dict[str, Any]) -> None:
    record["range"]["after"] += 1


FORGERIES = (
    other_reviewer, other_hash, other_verdict, change_dropped, finding_dropped, other_decision, no_reason, other_words,
    other_head, other_range,
)  # fmt: skip


def test_each_manipulation_of_a_record_is_a_sentence(signed: dict[str, Any], table: Table) -> None:
    for forge in FORGERIES:
        record = copy.deepcopy(signed)
        forge(record)
        for format in ("json", "md"):
            problems = verify(table, sign_off.render_record(record, format))
            assert problems, (forge, format)
            assert all(each.endswith(".") for each in problems)


def test_what_is_missing_or_added_in_a_record_is_told(signed: dict[str, Any], table: Table) -> None:
    del signed["words"]
    signed["approved"] = True
    assert verify(table, json.dumps(signed)) == ["Words is missing in the file.", "Approved is in the file only."]


def test_a_record_of_a_mark_that_is_not_there_is_told(signed: dict[str, Any], table: Table) -> None:
    signed["mark"]["hash"] = "0" * 64
    (problem,) = verify(table, json.dumps(signed))
    assert problem.startswith(f"The record is of mark {signed['mark']['number']} with the hash 0000000000000000, but")


def test_a_review_file_that_was_changed_is_told(signed: dict[str, Any], table: Table) -> None:
    text = sign_off.render_record(signed, "json")
    document = json.loads(table.file.path.read_bytes())
    document["marks"][0]["words"] = "all is well"
    table.file.path.write_text(json.dumps(document))
    problems = verify(table, text)
    assert "was changed by another program" in problems[0]
    assert len(problems) > 1  # and what the changed mark had said is missing in the record


def test_a_journal_that_was_rewritten_is_told(signed: dict[str, Any], table: Table) -> None:
    text = sign_off.render_record(signed, "json")
    database = next(Path(os.environ["XDG_STATE_HOME"]).rglob("journal.db"))
    with closing(sqlite3.connect(database)) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        for change in ("hash = zeroblob(32)", "body = x'00'"):
            connection.execute(f"UPDATE events SET {change} WHERE seq = ?", (signed["journal"]["seq"],))
            connection.commit()
            problems = verify(table, text)
            assert problems[0].startswith("Journal: broken")
            assert any(each.startswith("The journal has no event") for each in problems)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "invalid JSON"),
        ("[]", "does not name a mark"),
        ('{"kind": "other"}', "not a record of a sign-off"),
        ("", "does not name a mark"),
        ('{"kind": "memtui sign-off", "mark": {"number": "1", "hash": ""}}', "does not name a mark"),
    ],
)
def test_what_is_no_record_is_said(text: str, words: str, table: Table) -> None:
    with pytest.raises(ValueError, match=words):
        verify(table, text)
