"""The reports for log collectors, spreadsheets and CI servers: JSON Lines, CSV and JUnit XML."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from memtui.audit.model import UNKNOWN, Audit, Severity, SkippedRule
from memtui.audit.report import csv as report_csv
from memtui.audit.report import json as report_json
from memtui.audit.report import junit
from memtui.core.unicode import HIDDEN
from tests.audit.report import samples

SCHEMA = json.loads(files("memtui.docs").joinpath("audit-1.schema.json").read_text(encoding="utf-8"))
SAMPLES = [samples.nothing, samples.ordinary, samples.worst]
WRITERS = [report_json.render_jsonl, report_csv.render_csv, junit.render_junit]


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("write", WRITERS)
def test_no_character_is_hidden(write: Callable[[Audit], str], sample: Callable[[], Audit]) -> None:
    written = write(sample()).replace("\r\n", "\n") if write is report_csv.render_csv else write(sample())
    assert not HIDDEN.search(written)
    written.encode("utf-8")


# JSON Lines


def lines(audit: Audit) -> list[Any]:
    return [json.loads(line) for line in report_json.render_jsonl(audit).splitlines()]


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_line_stands_alone_and_the_last_says_that_all_are_there(sample: Callable[[], Audit]) -> None:
    audit = sample()
    first, *found, last = lines(audit)
    assert (first["event"], first["schema"], first["kind"]) == ("run", 1, "memtui audit")
    assert (last["event"], last["findings"]) == ("end", len(found))
    assert len(found) == len(audit.findings)
    assert {(line["taken"], line["folder"]) for line in (first, *found, last)} == {(first["taken"], first["folder"])}


def test_a_line_has_the_fields_of_a_finding_of_the_json_report() -> None:
    schema = {**SCHEMA["$defs"]["finding"], "$defs": SCHEMA["$defs"]}
    _, *found, _ = lines(samples.worst())
    for line in found:
        assert line.pop("event") == "finding"
        del line["taken"], line["folder"]
        assert [error.message for error in Draft202012Validator(schema).iter_errors(line)] == []


# CSV


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_table_has_a_row_for_each_finding_and_reads_back(sample: Callable[[], Audit]) -> None:
    audit = sample()
    written = report_csv.render_csv(audit)
    assert written.count("\r\n") == len(audit.findings) + 1
    rows = list(csv.DictReader(io.StringIO(written, newline=""), strict=True))
    assert [row["fingerprint"] for row in rows] == [found.fingerprint for found in audit.findings]
    assert all(tuple(row) == report_csv.COLUMNS and None not in row.values() for row in rows)


def test_values_of_a_table_are_those_of_the_finding() -> None:
    [row] = csv.DictReader(
        io.StringIO(report_csv.render_csv(replace(samples.nothing(), findings=(samples.finding(),))))
    )
    assert (row["severity"], row["path"], row["line"], row["actor"]) == ("fail", "project/status.json", "3", "Claude")
    assert (row["evidence"], row["event"]) == ('  "token": "sk-ant-****************",', "12")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "\t=1", "\r=1", "\n=1", "＝1", "\u00a0=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    hostile = samples.finding(
        words=text, evidence=text, do=text, location=replace(samples.finding().location, path=text)
    )
    [row] = csv.DictReader(io.StringIO(report_csv.render_csv(replace(samples.nothing(), findings=(hostile,)))))
    for name in ("words", "evidence", "do", "path"):
        assert row[name].lstrip()[0] not in "=+-@＝", name


# JUnit


def suites(audit: Audit, fail_on: Severity | None = Severity.FAIL) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(junit.render_junit(audit, fail_on=fail_on))
    return {suite.get("name", ""): suite for suite in root}


def rules_with(suite: ElementTree.Element, tag: str) -> list[str | None]:
    return [case.get("name") for case in suite if case.find(tag) is not None]


def test_a_suite_is_a_family_and_a_test_case_is_a_rule() -> None:
    found = suites(samples.ordinary())
    assert list(found) == ["secret", "hidden", "planted", "coverage", "integrity", "upkeep", "claims"]
    assert rules_with(found["secret"], "failure") == ["anthropic-key"]
    assert rules_with(found["planted"], "failure") == []
    assert rules_with(found["planted"], "system-out") == ["ignore-instructions"]
    assert rules_with(found["claims"], "skipped") == ["missing-path"]
    excepted = found["secret"].findtext("system-out", "").splitlines()
    assert excepted[0] == "not counted: anthropic-key examples/keys.md:2: an example (until 2027-01-01)"
    for suite in found.values():
        assert suite.get("tests") == str(len(suite.findall("testcase")))
        for count, tag in (("failures", "failure"), ("skipped", "skipped")):
            assert suite.get(count) == str(len(rules_with(suite, tag)))


@pytest.mark.parametrize(("level", "failures"), [(Severity.FAIL, 1), (Severity.WARN, 3), (Severity.INFO, 4), (None, 0)])
def test_what_counts_under_fail_on_is_a_failure_and_the_rest_is_output(level: Severity | None, failures: int) -> None:
    found = suites(samples.ordinary(), level).values()
    assert sum(int(suite.get("failures", "")) for suite in found) == failures
    assert sum(len(rules_with(suite, "system-out")) for suite in found) == 4 - failures


def test_findings_with_one_cause_are_named_once_and_listed() -> None:
    case = next(iter(suites(replace(samples.nothing(), findings=samples.one_cause(250)), Severity.WARN)["claims"]))
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "250 notes name paths below src/legacy/, which does not exist."
    assert (failure.text or "").count("\nwarn notes/") == 199
    assert "and 50 more: memtui audit --format json\nWhat to do: " in (failure.text or "")


def test_no_text_breaks_out_of_its_element() -> None:
    evil = ']]></failure></testcase><testcase name="x"/>&amp; "\'\x00\ufffe\uffff\x1b[2J'
    finding = samples.finding(rule="unheard-of", words=evil, evidence=evil, origin=UNKNOWN)
    audit = replace(samples.nothing(), findings=(finding,), skipped=(SkippedRule("stale", evil),))
    found = suites(audit)
    assert rules_with(found["secret"], "failure") == ["unheard-of"]
    assert not any(case.get("name") == "x" for suite in found.values() for case in suite)
    failure = found["secret"].find("testcase/failure")
    assert failure is not None
    assert '</failure></testcase><testcase name="x"/>&amp;' in (failure.text or "")
    assert "\\x1b[2J" in (failure.text or "")


def test_times_of_families_are_those_of_the_audit() -> None:
    audit = replace(samples.nothing(), seconds=MappingProxyType({"read": 1.0, "secret": 0.25}))
    found = suites(audit)
    assert (found["secret"].get("time"), found["hidden"].get("time")) == ("0.250", "0.000")
    assert found["secret"].get("timestamp") == "2026-11-21T22:26:40"
