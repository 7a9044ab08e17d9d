"""Dismissed findings: whose word counts, how long, and what may not be dismissed at all."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from memtui.audit.model import Audit, AuditFinding, Family, FindingLocation, Severity
from memtui.audit.provenance import UNKNOWN
from memtui.audit.runner import run_audit
from memtui.core.settings import AuditSettings, Exemption
from memtui.review import triage, verdicts
from memtui.review.inbox import ReviewMark, ReviewVerdict
from memtui.review.marks import Review, ReviewFileUnusable
from tests.review.conftest import Table

DAY_US = 86_400_000_000
TODAY = date(2026, 11, 24)
FINDING = AuditFinding(
    rule="bidi-text", family=Family.HIDDEN, severity=Severity.FAIL, location=FindingLocation("a.md", 3), words="x",
    evidence="", do="", origin=UNKNOWN, fingerprint="0123456789abcdef",
)  # fmt: skip


def audit(table: Table, **given: Any) -> Audit:
    return run_audit(
        table.memory, title="memories", only={"hidden", "expired-exemption"}, review=table.file.load(), **given
    )


def spoil(table: Table, line: str = "a \u202e b") -> AuditFinding:
    """Have a note hold a line that must not stay; its finding."""
    table.write("bad.md", f"x\n{line}\n")
    return next(each for each in audit(table).findings if each.location.path == "bad.md")


def dismiss(table: Table, finding: AuditFinding, *, until: str = "", reviewer: str = "ada", at_us: int = 0) -> None:
    mark = verdicts.build_finding_mark(
        ReviewVerdict.DISMISS, triage.mark_finding(finding), reviewer=reviewer, head=verdicts.get_head(table.memory),
        words="it is an example", until=until, now_us=at_us or time.time_ns() // 1_000,
    )  # fmt: skip
    table.file.add([mark])


def restore(table: Table, finding: AuditFinding) -> None:
    head = verdicts.get_head(table.memory)
    known = triage.mark_finding(finding)
    table.file.add([verdicts.build_finding_mark(ReviewVerdict.RESTORE, known, reviewer="bob", head=head)])


def test_a_dismissed_finding_does_not_count_until_somebody_restores_it(table: Table) -> None:
    finding = spoil(table)
    dismiss(table, finding)
    found = audit(table)
    assert [each.rule for each in found.findings] == []
    (held,) = found.excepted
    assert (held.by, held.who, held.reason, held.until) == ("dismissal", "ada", "it is an example", "")
    restore(table, finding)
    assert audit(table).findings == (finding,)
    dismiss(table, finding)
    assert audit(table).findings == ()


def test_a_reviewer_whose_marks_count_is_the_only_one_who_dismisses(table: Table) -> None:
    finding = spoil(table)
    dismiss(table, finding, reviewer="bob")
    assert audit(table, reviewer="bob").findings == ()
    assert audit(table, reviewer="ada").findings == (finding,)


def test_the_same_in_another_line_counts(table: Table) -> None:
    first = spoil(table)
    dismiss(table, first)
    other = spoil(table, "another \u202e line")
    found = audit(table)
    assert other.fingerprint == first.fingerprint  # of a hidden character: its line may be any
    assert other in found.findings
    assert found.expired[0].endswith("was for another line: it is an example")


def test_a_dismissal_that_ended_is_told_and_its_finding_counts(table: Table) -> None:
    finding = spoil(table)
    last = datetime.now(UTC).date() - timedelta(days=1)
    dismiss(table, finding, until=last.isoformat(), at_us=time.time_ns() // 1_000 - 9 * DAY_US)
    found = audit(table)
    assert {each.rule for each in found.findings} == {finding.rule, "expired-exemption"}
    words = f"The dismissal of {finding.rule} in bad.md by ada ended on {last.isoformat()}: it is an example"
    assert found.expired == (words,)
    # On its last day it holds.
    dismiss(table, finding, until=datetime.now(UTC).date().isoformat())
    assert audit(table).findings == ()
    # One whose finding is gone is not told.
    dismiss(table, finding, until=last.isoformat())
    table.do(command="delete", path="bad.md")
    assert audit(table).expired == ()


def test_more_of_a_kind_than_were_dismissed_count() -> None:
    six = replace(FINDING, facts={"count": 6})
    mark = verdicts.build_finding_mark(
        ReviewVerdict.DISMISS, triage.mark_finding(six), reviewer="ada", head=(1, "x"), words="ok"
    )
    assert triage.find_dismissal_fault(mark, six, TODAY) == ""
    assert triage.find_dismissal_fault(mark, replace(six, facts={"count": 5}), TODAY) == ""
    assert triage.find_dismissal_fault(mark, replace(six, facts={"count": 7}), TODAY) == (
        "was for 6, and there are 7 now"
    )


@pytest.mark.parametrize(
    ("changes", "until", "words"),
    [
        ({}, "", ""),
        ({}, "2040-01-01", ""),
        ({"family": Family.COVERAGE}, "2027-02-22", ""),
        ({"family": Family.COVERAGE}, "2027-02-23", "until 2027-02-22"),
        ({"family": Family.COVERAGE}, "", "90 days at most"),
        ({"rule": "chain-broken"}, "2026-12-01", "memtui verify"),
        ({"rule": "head-gone"}, "", "memtui review done"),
        ({"rule": "expired-exemption"}, "", "give it a new end date"),
    ],
)
def test_what_may_be_dismissed_until_when(changes: dict[str, Any], until: str, words: str) -> None:
    problem = triage.explain_limit(replace(FINDING, **changes), until, TODAY)
    assert words in problem
    assert bool(problem) is bool(words)


def test_a_mark_that_goes_beyond_the_limits_does_not_dismiss() -> None:
    blind = replace(FINDING, family=Family.COVERAGE)
    at_us = int(datetime(2026, 11, 24, tzinfo=UTC).timestamp() * 1e6)
    mark = ReviewMark(
        reviewer="ada", at_us=at_us, verdict=ReviewVerdict.DISMISS, path="", findings=(triage.mark_finding(blind),)
    )
    assert "90 days at most" in triage.find_dismissal_fault(mark, blind, TODAY)
    assert triage.find_dismissal_fault(replace(mark, until="2027-01-01"), blind, TODAY) == ""


@pytest.mark.parametrize(
    ("given", "until"),
    [("never", ""), ("30d", "2026-12-24"), ("1D", "2026-11-25"), (" 2026-11-24 ", "2026-11-24")],
)
def test_an_end_is_a_day_or_a_number_of_days(given: str, until: str) -> None:
    assert triage.parse_end(given, TODAY) == until


@pytest.mark.parametrize("given", ["", "0d", "d", "30", "tomorrow", "2026-11-23", "2026-13-01", "20261231", "9999999d"])
def test_what_is_no_end_or_is_over_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r"30d"):
        triage.parse_end(given, TODAY)


def test_a_reason_may_hold_no_secret() -> None:
    key = "sk-" + "ant-" + "api03-" + "Zq7" * 20
    assert triage.holds_secret(f"it was {key}")
    assert triage.holds_secret("the word is marzipan9", ["marzipan9"])
    assert not triage.holds_secret("the word is gone", ["marzipan9"])
    assert triage.get_masked_text(replace(FINDING, masked=(2, 4)), "abcdef") == ("cd",)


# The chain


def reason_changed(marks: list[Any]) -> None:
    marks[1]["words"] = "all is well"


def end_changed(marks: list[Any]) -> None:
    marks[1]["until"] = "2099-01-01"


def another_finding(marks: list[Any]) -> None:
    marks[1]["findings"][0]["fingerprint"] = "f" * 16


def restoration_dropped(marks: list[Any]) -> None:
    del marks[3]


def dismissal_moved(marks: list[Any]) -> None:
    marks.insert(0, marks.pop(1))


@pytest.mark.parametrize("forge", [reason_changed, end_changed, another_finding, restoration_dropped, dismissal_moved])
def test_no_forged_mark_dismisses(forge: Callable[[list[Any]], None], table: Table) -> None:
    finding, note = spoil(table), ReviewMark(reviewer="ada", at_us=1, verdict=ReviewVerdict.NOTE, path="b.md")
    table.file.add([note])
    dismiss(table, finding)
    table.file.add([note])
    if forge is restoration_dropped:
        restore(table, finding)
    table.file.add([note])
    document = json.loads(table.file.path.read_bytes())
    forge(document["marks"])
    table.file.path.write_text(json.dumps(document))
    review = Review.read(table.file.path)
    assert "was changed by another program" in review.problem
    found = audit(table)
    assert found.findings == (finding,)
    assert found.review_problem == review.problem
    # What is dismissed from now on counts: nothing can have been dropped behind it.
    dismiss(table, finding)
    assert audit(table).findings == ()


def test_a_file_without_dismissals_is_one_that_an_older_memtui_reads(table: Table) -> None:
    table.write("a.md", "changed\n")
    table.accept("a.md")
    before = json.loads(table.file.path.read_bytes())
    assert before["schema"] == 1
    assert not {"findings", "until", "failures_reason", "since"} & before["marks"][0].keys()
    dismiss(table, FINDING)
    assert json.loads(table.file.path.read_bytes())["schema"] == 2
    review = Review.read(table.file.path)
    assert review.problem == ""
    assert review.marks[-1].findings == (triage.mark_finding(FINDING),)
    assert review.to_json() == table.file.path.read_bytes()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "approve"}, "Mark 1 of the review file .* says 'approve', which this memtui does not know"),
        ({"findings": [{}]}, "Mark 1 of the review file .* cannot be read"),
        ({"findings": 3}, "cannot be read"),
        ({"findings": [{"fingerprint": "a", "rule": "b", "severity": "c", "path": 1}]}, "cannot be read"),
        ({"findings": [{"fingerprint": "a", "rule": "b", "severity": "c", "path": "", "line": "9"}]}, "cannot be read"),
        ({"until": 9}, "cannot be read"),
        ({"since": "9"}, "cannot be read"),
    ],
)
def test_what_is_no_mark_of_this_memtui_is_said(changes: dict[str, Any], words: str, table: Table) -> None:
    dismiss(table, FINDING)
    document = json.loads(table.file.path.read_bytes())
    document["marks"][0] |= changes
    data = json.dumps(document).encode()
    table.file.path.write_bytes(data)
    with pytest.raises(ReviewFileUnusable, match=words):
        table.file.load()
    assert table.file.path.read_bytes() == data


def test_marks_on_findings_are_no_verdicts_on_changes(table: Table) -> None:
    finding = spoil(table)
    before = table.files()["bad.md"]
    dismiss(table, finding)
    restore(table, finding)
    assert table.files()["bad.md"] == before


def test_an_exemption_comes_before_a_dismissal(table: Table) -> None:
    finding = spoil(table)
    dismiss(table, finding)
    settings = AuditSettings(exemptions=(Exemption(rule="*", reason="settled"),))
    (held,) = audit(table, settings=settings).excepted
    assert (held.by, held.reason) == ("exemption", "settled")
