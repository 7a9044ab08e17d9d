"""The report for programs, against the schema that goes with it."""

import base64
import copy
import json
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from memtui.audit.model import Audit, FindingLocation
from memtui.audit.report import json as report_json
from memtui.core.unicode import HIDDEN
from tests.audit.report import samples

SCHEMA = json.loads(files("memtui").joinpath("docs/audit-1.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
SAMPLES = [samples.nothing, samples.ordinary, samples.worst, lambda: samples.grown(0), lambda: samples.grown(1)]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_report_is_as_its_schema_says(sample: Callable[[], Audit]) -> None:
    document = json.loads(report_json.render_json(sample()))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


def test_the_schema_describes_every_field_and_lets_none_in_that_it_does_not_name() -> None:
    def look(schema: Any, where: str) -> None:
        if not isinstance(schema, dict):
            return
        for name, field in schema.get("properties", {}).items():
            target = SCHEMA["$defs"][field["$ref"].rsplit("/", 1)[1]] if "$ref" in field else field
            assert field.get("description") or target.get("description"), f"{where}.{name}"
            look(field, f"{where}.{name}")
        if "properties" in schema:
            assert schema["additionalProperties"] is False, where
            assert set(schema["required"]) == set(schema["properties"]), where
        look(schema.get("items"), f"{where}[]")

    look(SCHEMA, "report")
    for name, definition in SCHEMA["$defs"].items():
        look(definition, name)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.pop("findings"),
        lambda document: document.update(schema=2),
        lambda document: document.update(more=1),
        lambda document: document["findings"][0].update(severity="grave"),
        lambda document: document["findings"][0].update(line=0),
        lambda document: document["findings"][0].update(fingerprint="short"),
        lambda document: document["findings"][0]["origin"].update(ts="yesterday"),
        lambda document: document["findings"][0].update(path="/etc/passwd"),
        lambda document: document["inbox"]["files"][0].update(sign="?"),
        lambda document: document["growth"]["findings"].update(grave=[1]),
        lambda document: document["chain"].update(head="41"),
    ],
)
def test_what_is_not_as_the_schema_says_is_found(spoil: Callable[[Any], object]) -> None:
    document = copy.deepcopy(json.loads(report_json.render_json(samples.ordinary())))
    assert VALIDATOR.is_valid(document)
    spoil(document)
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_character_of_the_document_is_hidden_or_a_lone_surrogate(sample: Callable[[], Audit]) -> None:
    text = report_json.render_json(sample())
    assert not HIDDEN.search(text)
    text.encode("utf-8")
    json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")  # nor in what a parser makes of it


def test_a_name_that_is_not_utf8_is_legible_and_exact() -> None:
    audit = replace(samples.nothing(), findings=(samples.finding(location=FindingLocation("notes/caf\udce9.md", 2)),))
    [found] = report_json.build_document(audit)["findings"]
    assert found["path"] == "/memories/notes/caf\\xe9.md"
    assert found["relative"] == "notes/caf\\xe9.md"
    assert base64.b64decode(found["path_base64"]) == b"notes/caf\xe9.md"


def test_times_are_utc_and_paths_are_as_an_agent_names_them() -> None:
    document = json.loads(report_json.render_json(samples.ordinary()))
    assert document["taken"] == "2026-11-21T22:26:40.000000Z"
    assert document["findings"][0]["path"] == "/memories/project/status.json"
    assert document["findings"][0]["origin"]["ts"] == "2026-11-20T22:26:40.000000Z"
    assert (
        document["findings"][2]["origin"]
        == json.loads(report_json.render_json(samples.ordinary()))["findings"][2]["origin"]
    )
    assert document["verdict"] == "fail"
    assert document["chain"]["head"] == f"412:{samples.HEAD}"
    assert document["inbox"]["since"]["words"] == "the last review, by ada"
    assert document["inbox"]["runs"][0]["lost"][0]["text"] == "Deploys are frozen on Fridays."


def test_an_origin_that_is_not_known_is_null() -> None:
    audit = replace(samples.nothing(), findings=(samples.finding(origin=samples.UNKNOWN),))
    assert report_json.build_document(audit)["findings"][0]["origin"] is None


def test_a_folder_without_anything_is_clean() -> None:
    document = report_json.build_document(samples.nothing())
    assert document["verdict"] == "clean"
    assert (document["inbox"], document["growth"], document["chain"]["head"]) == (None, None, None)


def test_findings_with_one_cause_have_a_group_and_all_are_there() -> None:
    findings = (*samples.one_cause(5), samples.finding())
    document = json.loads(report_json.render_json(replace(samples.nothing(), findings=findings)))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    [group] = document["groups"]
    assert (group["cause"], group["rule"], len(group["findings"])) == ("directory", "missing-path", 5)
    assert [found["group"] for found in document["findings"]] == [group["group"]] * 5 + [None]
    assert (document["summary"]["warn"], document["summary"]["fail"]) == (5, 1)
