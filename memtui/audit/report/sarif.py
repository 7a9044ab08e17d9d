"""The report as SARIF 2.1.0, for code scanning and its viewers.

Source: Static Analysis Results Interchange Format (SARIF) Version 2.1.0 Plus Errata 01, an OASIS Standard. Two of its
rules are easily missed: in a message a brace is written twice, and `[words](target)` is a link.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from memtui.audit.model import Audit, AuditFinding, AuditRule, Family, Severity, SuppressedFinding
from memtui.audit.ranking import FindingGroup, group_findings
from memtui.audit.registry import list_rules
from memtui.audit.report import json as report_json
from memtui.audit.report.wording import (
    describe_origin,
    describe_suppression,
    encode_name,
    format_message,
    format_sign_off,
    format_suppressed_counts,
    format_utc,
    replace_all_surrogates,
    sanitize_text,
)
from memtui.core.unicode import visible_json
from memtui.core.wording import format_count

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST = 25_000
"""Results that code scanning takes of one run."""
_BASE = "%SRCROOT%"
_LEVELS = {Severity.FAIL: "error", Severity.WARN: "warning", Severity.INFO: "note"}
_WEIGHT = {Severity.FAIL: "8.0", Severity.WARN: "5.0", Severity.INFO: "2.0"}
"""How grave a finding about security is on the scale of the Common Vulnerability Scoring System, 0 to 10."""
_SECURITY = frozenset({Family.SECRET, Family.HIDDEN, Family.PLANTED, Family.COVERAGE, Family.INTEGRITY})
_RESULTS = uuid.UUID("8a0a1f5e-7d3b-5c39-9a54-3f6f0e1c2b77")
"""The namespace of the numbers by which results are known to be the same in two logs (RFC 9562, 5.5)."""
_NOT_IN_NAMES = re.compile("[-/]")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def render_sarif(audit: Audit, *, below: str = "", exit_code: int | None = None, suppressed: bool = True) -> str:
    """The report as a SARIF log with one run.

    Args:
        below: The folder relative to the source root, "/"-joined, as viewers look up files; empty for the root itself.
        suppressed: Whether suppressed findings are included. Not every service honours that: code scanning shows
            them as open alerts.
    """
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_build_run(audit, below, exit_code, suppressed=suppressed)]}
    return visible_json(json.dumps(replace_all_surrogates(log), ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def _build_run(audit: Audit, below: str, exit_code: int | None, *, suppressed: bool) -> dict[str, Any]:
    excepted = audit.excepted if suppressed else ()
    results = [*((found, None) for found in audit.findings), *((each.finding, each) for each in excepted)]
    shown_results = results[:MOST]
    left_out, silent = len(results) - len(shown_results), len(audit.excepted) - len(excepted)
    group_of = {id(each): group for group in group_findings(audit.findings) for each in group.findings}
    notices = list(_build_notifications(audit, left_out=left_out, silent=silent))
    rules = _build_rules(audit, (found for found, _ in shown_results))
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    base = "The directory in which memtui was started." if below else "The memory folder."
    folder = (
        below or audit.title.rstrip("/").rpartition("/")[2] or "memories"
    )  # where it is on this machine, nobody learns
    name = _to_uri(folder, safe="")
    has_baseline = any(each.by == "baseline" for each in audit.excepted)
    return {
        "tool": {"driver": _build_driver(audit, rules)},
        "automationDetails": {
            # The same on each machine: by it code scanning knows which results take the place of which.
            "id": f"memtui/audit/{name}/",
            "description": {"text": _escape_message(f"memtui audit of {sanitize_text(folder)}")},
        },
        "originalUriBaseIds": {_BASE: {"description": {"text": base}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_build_invocation(audit, notices, exit_code)],
        "results": [
            _build_result(found, because_of, group_of.get(id(found)), numbers[found.rule], below, has_baseline)
            for found, because_of in shown_results
        ],
        "properties": {
            "folder": folder,
            "head": f"{audit.chain.seq}:{audit.chain.hash}" if audit.chain.hash else "",
            "chain": audit.chain.words,
            "digest": audit.digest,
            "files": audit.files,
            "bytes": audit.bytes,
            "tokens": audit.tokens,
            "neutral": list(audit.neutral),
            "opinions": audit.opinions,
            "signedOff": " ".join(format_sign_off(audit.sign_off)) if audit.sign_off is not None else "",
        },
    }


def _build_driver(audit: Audit, rules: list[dict[str, Any]]) -> dict[str, Any]:
    driver: dict[str, Any] = {
        "name": "memtui",
        "fullName": f"memtui {audit.version}".strip(),
        "shortDescription": {"text": "Audits an AI agent's memory folder."},
        "rules": rules,
    }
    if audit.version:
        driver["version"] = audit.version
    if _VERSION.fullmatch(audit.version):
        driver["semanticVersion"] = audit.version
    return driver


def _build_rules(audit: Audit, found: Iterable[AuditFinding]) -> list[dict[str, Any]]:
    """All rules that ran, and what else findings name, each as a reporting descriptor."""
    skipped = {each.rule for each in audit.skipped}
    rules = list_rules(audit.custom)
    descriptors = {rule.id: _build_descriptor(rule) for rule in rules.values() if rule.id not in skipped}
    for finding in found:
        if finding.rule not in descriptors:
            rule = rules.get(finding.rule)
            descriptors[finding.rule] = _build_descriptor(rule) if rule else _build_unknown_rule(finding)
    return list(descriptors.values())


def _build_descriptor(rule: AuditRule) -> dict[str, Any]:
    is_security = rule.family in _SECURITY
    properties: dict[str, Any] = {
        "tags": [*dict.fromkeys([*(["security"] if is_security else []), rule.family.value, *rule.tags])],
        "precision": rule.certainty,
        "problem.severity": {"fail": "error", "warn": "warning", "info": "recommendation"}[rule.severity.value],
    }
    if rule.cwe:
        properties["tags"] += [f"external/cwe/cwe-{number:03}" for number in rule.cwe]
    if is_security:
        properties["security-severity"] = _WEIGHT[rule.severity]
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in (rule.family.value, *_NOT_IN_NAMES.split(rule.id))),
        "shortDescription": {"text": _escape_message(rule.title)},
        "fullDescription": {"text": _escape_message(rule.why)},
        "help": {
            "text": _escape_message(f"{rule.why} {rule.do}"),
            "markdown": _escape_message(f"**{rule.title}**\n\n{rule.why}\n\n**What to do:** {rule.do}"),
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity], "enabled": rule.is_on},
        "properties": properties,
    }


def _build_unknown_rule(found: AuditFinding) -> dict[str, Any]:
    """What can be said of a rule that this memtui does not have."""
    words = {"text": f"The rule {found.rule} of the family {found.family.value}."}
    return {"id": found.rule, "shortDescription": words, "fullDescription": words, "help": words}


def _build_invocation(audit: Audit, notices: Iterable[str], exit_code: int | None) -> dict[str, Any]:
    start = format_utc(audit.taken_us)
    end = format_utc(audit.taken_us + int(sum(audit.seconds.values()) * 1e6))
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if start is not None and end is not None:
        invocation |= {"startTimeUtc": start, "endTimeUtc": end}
    if exit_code is not None:
        invocation["exitCode"] = exit_code
    messages = [{"text": _escape_message(sanitize_text(sentence))} for sentence in notices]
    if messages:
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": each} for each in messages]
    if audit.skipped:
        invocation["toolConfigurationNotifications"] = [
            {
                "level": "note",
                "message": {"text": _escape_message(f"{each.rule} did not run: {sanitize_text(each.reason)}.")},
                "associatedRule": {"id": each.rule},
            }
            for each in audit.skipped
        ]
    return invocation


def _build_notifications(audit: Audit, *, left_out: int, silent: int) -> Iterator[str]:
    """What a reader must know to trust the results: also how many are left out, and how many do not count."""
    if audit.chain.state in ("broken", "unknown"):
        yield f"Journal: {audit.chain.words}."
    if audit.inbox is not None and audit.inbox.problem:
        yield audit.inbox.problem
    if audit.review_problem and audit.inbox is None:
        yield audit.review_problem
    if audit.sign_off is not None and audit.sign_off.failures_reason:
        yield " ".join(format_sign_off(audit.sign_off))
    yield from audit.expired
    if left_out:
        words = f"more than {MOST:,} were left out. memtui audit --format json has all."
        yield f"{format_count(left_out, 'result')} {words}"
    if silent:
        words = (
            f"excepted ({format_suppressed_counts(audit)}) and left out. memtui audit --all has them, as suppressed."
        )
        yield f"{format_count(silent, 'result')} {'is' if silent == 1 else 'are'} {words}"


def _build_result(
    found: AuditFinding,
    excepted: SuppressedFinding | None,
    group: FindingGroup | None,
    number: int,
    below: str,
    has_baseline: bool,
) -> dict[str, Any]:
    words = f"{sanitize_text(format_message(found.words))} {sanitize_text(found.do)}".strip()
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": number,
        "level": _LEVELS[found.severity],
        "message": {"text": _escape_message(words)},
        "locations": [_build_location(found, below)],
        "correlationGuid": str(uuid.uuid5(_RESULTS, found.fingerprint)),
        "partialFingerprints": {
            "memtui/v1": found.fingerprint,
            # What code scanning tells results by when lines move; left out, it would hash the line itself.
            "primaryLocationLineHash": f"{found.fingerprint}:1",
        },
        "properties": {
            "family": found.family.value,
            "evidence": found.evidence,
            "origin": ", ".join(map(sanitize_text, describe_origin(found.origin))),
            "facts": report_json.facts_to_json(found.facts),
        },
    }
    if found.opinion is not None:
        result["properties"]["opinion"] = report_json.opinion_to_json(found.opinion)
    if group is not None and group.cause is not None:
        result["properties"] |= {"group": group.id, "cause": sanitize_text(group.words)}
    if excepted is not None:
        reason = describe_suppression(excepted)
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    if has_baseline:
        is_old = excepted is not None and excepted.by == "baseline"
        result["baselineState"] = "unchanged" if is_old else "new"
    return result


def _build_location(found: AuditFinding, below: str) -> dict[str, Any]:
    place = found.location
    path = "/".join(part for part in (below.strip("/"), place.path) if part)
    physical: dict[str, Any] = {"artifactLocation": {"uri": _to_uri(path) or ".", "uriBaseId": _BASE}}
    region = {"startLine": place.line or 1}  # of a file as a whole, viewers show its first line
    if place.line is not None:
        if place.column is not None:
            region["startColumn"] = place.column
        if place.end_line is not None and place.end_line >= place.line:
            region["endLine"] = place.end_line
            if place.end_column is not None:
                region["endColumn"] = place.end_column
    physical["region"] = region
    return {"physicalLocation": physical}


def _to_uri(path: str, *, safe: str = "/") -> str:
    """A path as a relative reference of RFC 3986: every byte but letters, digits and `-._~` as `%FF`."""
    return quote(encode_name(path), safe=safe)


def _escape_message(text: str) -> str:
    """A text in which nothing is a placeholder (3.11.5) or a link (3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
