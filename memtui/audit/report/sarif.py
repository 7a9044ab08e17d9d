"""The report as SARIF 2.1.0, for code scanning and its viewers.

Source: Static Analysis Results Interchange Format (SARIF) Version 2.1.0 Plus Errata 01, an OASIS Standard. Two of its
rules are easily missed: in a message a brace is written twice, and `[words](target)` is a link.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from memtui.audit.audit import Audit, Excepted
from memtui.audit.findings import Family, Finding, Severity
from memtui.audit.report import as_json
from memtui.audit.report.words import because, counted, name_bytes, said, shown, unicode, utc
from memtui.audit.rule import Rule
from memtui.audit.rules import RULES
from memtui.core.visible import visible_json

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST = 25_000
"""Results that code scanning takes of one run."""
_BASE = "%SRCROOT%"
_LEVELS = {Severity.FAIL: "error", Severity.WARN: "warning", Severity.INFO: "note"}
_PRECISION = {
    Family.SECRET: "high",
    Family.HIDDEN: "very-high",
    Family.PLANTED: "medium",
    Family.INTEGRITY: "very-high",
    Family.UPKEEP: "high",
    Family.CLAIMS: "medium",
}
_WEIGHT = {Severity.FAIL: "8.0", Severity.WARN: "5.0", Severity.INFO: "2.0"}
"""How grave a finding about security is on the scale of the Common Vulnerability Scoring System, 0 to 10."""
_SECURITY = frozenset({Family.SECRET, Family.HIDDEN, Family.PLANTED, Family.INTEGRITY})
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def write(audit: Audit, *, below: str = "", exit_code: int | None = None, suppressed: bool = True) -> str:
    """The report as a SARIF log with one run.

    Args:
        audit: What was found.
        below: Where the folder is, relative to the top of the sources, "/"-joined: a viewer looks for a file from
            there. Empty where the folder itself is the top.
        exit_code: With what the process is going to end, where that is known.
        suppressed: Whether what does not count is in it, as suppressed. Not every service regards that: code scanning
            shows such a result as an open alert.
    """
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(audit, below, exit_code, suppressed=suppressed)]}
    return visible_json(json.dumps(log, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def _run(audit: Audit, below: str, exit_code: int | None, *, suppressed: bool) -> dict[str, Any]:
    excepted = audit.excepted if suppressed else ()
    results = [*((found, None) for found in audit.findings), *((each.finding, each) for each in excepted)]
    shown_results = results[:MOST]
    told = list(_told(audit, left_out=len(results) - len(shown_results), silent=len(audit.excepted) - len(excepted)))
    rules = _rules(audit, (found for found, _ in shown_results))
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    has_baseline = any(each.by == "baseline" for each in audit.excepted)
    return {
        "tool": {"driver": _driver(audit, rules)},
        "automationDetails": {
            # The same on each machine: by it code scanning knows which results take the place of which.
            "id": f"memtui/audit/{_uri(below or audit.title.rstrip('/').rpartition('/')[2] or 'memories', safe='')}/",
            "description": {"text": _message(f"memtui audit of {shown(audit.title)}")},
        },
        "originalUriBaseIds": {_BASE: {"description": {"text": _base_words(below)}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(audit, told, exit_code)],
        "results": [
            _result(found, because_of, numbers[found.rule], below, has_baseline) for found, because_of in shown_results
        ],
        "properties": {
            "folder": unicode(audit.title),
            "head": f"{audit.chain.seq}:{audit.chain.hash}" if audit.chain.hash else "",
            "chain": unicode(audit.chain.words),
            "digest": audit.digest,
            "files": audit.files,
            "bytes": audit.bytes,
            "tokens": audit.tokens,
            "neutral": [unicode(sentence) for sentence in audit.neutral],
        },
    }


def _driver(audit: Audit, rules: list[dict[str, Any]]) -> dict[str, Any]:
    driver: dict[str, Any] = {
        "name": "memtui",
        "fullName": f"memtui {audit.version}".strip(),
        "shortDescription": {"text": "Audits what an AI agent remembers."},
        "rules": rules,
    }
    if audit.version:
        driver["version"] = audit.version
    if _VERSION.fullmatch(audit.version):
        driver["semanticVersion"] = audit.version
    return driver


def _rules(audit: Audit, found: Iterable[Finding]) -> list[dict[str, Any]]:
    """All rules that ran, and what else findings name, each as a reporting descriptor."""
    skipped = {each.rule for each in audit.skipped}
    descriptors = {rule.id: _descriptor(rule) for rule in RULES.values() if rule.id not in skipped}
    for finding in found:
        if finding.rule not in descriptors:
            rule = RULES.get(finding.rule)
            descriptors[finding.rule] = _descriptor(rule) if rule else _unknown(finding)
    return list(descriptors.values())


def _descriptor(rule: Rule) -> dict[str, Any]:
    is_security = rule.family in _SECURITY
    properties: dict[str, Any] = {
        "tags": [*(["security"] if is_security else []), rule.family.value],
        "precision": _PRECISION[rule.family],
        "problem.severity": {"fail": "error", "warn": "warning", "info": "recommendation"}[rule.severity.value],
    }
    if is_security:
        properties["security-severity"] = _WEIGHT[rule.severity]
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in (rule.family.value, *rule.id.split("-"))),
        "shortDescription": {"text": _message(rule.title)},
        "fullDescription": {"text": _message(rule.why)},
        "help": {
            "text": _message(f"{rule.why} {rule.do}"),
            "markdown": _message(f"**{rule.title}**\n\n{rule.why}\n\n**What to do:** {rule.do}"),
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity], "enabled": rule.is_on},
        "properties": properties,
    }


def _unknown(found: Finding) -> dict[str, Any]:
    """What can be said of a rule that this memtui does not have."""
    words = {"text": f"The rule {found.rule} of the family {found.family.value}."}
    return {"id": found.rule, "shortDescription": words, "fullDescription": words, "help": words}


def _invocation(audit: Audit, told: Iterable[str], exit_code: int | None) -> dict[str, Any]:
    start = utc(audit.taken_us)
    end = utc(audit.taken_us + int(sum(audit.seconds.values()) * 1e6))
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if start is not None and end is not None:
        invocation |= {"startTimeUtc": start, "endTimeUtc": end}
    if exit_code is not None:
        invocation["exitCode"] = exit_code
    if notes := [{"level": "warning", "message": {"text": _message(shown(sentence))}} for sentence in told]:
        invocation["toolExecutionNotifications"] = notes
    if audit.skipped:
        invocation["toolConfigurationNotifications"] = [
            {
                "level": "note",
                "message": {"text": _message(f"{each.rule} did not run: {shown(each.reason)}.")},
                "associatedRule": {"id": each.rule},
            }
            for each in audit.skipped
        ]
    return invocation


def _told(audit: Audit, *, left_out: int, silent: int) -> Iterator[str]:
    """What a reader must know to trust the results: also how many are left out, and how many do not count."""
    if audit.chain.state in ("broken", "unknown"):
        yield f"Journal: {audit.chain.words}."
    if audit.inbox is not None and audit.inbox.problem:
        yield audit.inbox.problem
    yield from audit.expired
    if left_out:
        yield f"{counted(left_out, 'result')} more than {MOST:,} were left out. memtui audit --format json has all."
    if silent:
        words = "excepted in the settings or by the baseline, and left out. memtui audit --all has them, as suppressed."
        yield f"{counted(silent, 'result')} {'is' if silent == 1 else 'are'} {words}"


def _result(found: Finding, excepted: Excepted | None, number: int, below: str, has_baseline: bool) -> dict[str, Any]:
    words = f"{shown(said(found.words))} {shown(found.do)}".strip()
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": number,
        "level": _LEVELS[found.severity],
        "message": {"text": _message(words)},
        "locations": [_location(found, below)],
        "partialFingerprints": {
            "memtui/v1": found.fingerprint,
            # What code scanning tells results by when lines move; left out, it would hash the line itself.
            "primaryLocationLineHash": f"{found.fingerprint}:1",
        },
        "properties": {
            "family": found.family.value,
            "evidence": unicode(found.evidence),
            "origin": ", ".join(map(shown, because(found.origin))),
            "facts": as_json.facts(found.facts),
        },
    }
    if excepted is not None:
        reason = shown(excepted.reason) + (f" (until {excepted.until})" if excepted.until else "")
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    if has_baseline:
        is_old = excepted is not None and excepted.by == "baseline"
        result["baselineState"] = "unchanged" if is_old else "new"
    return result


def _location(found: Finding, below: str) -> dict[str, Any]:
    place = found.place
    path = "/".join(part for part in (below.strip("/"), place.path) if part)
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(path) or ".", "uriBaseId": _BASE}}
    if place.line is not None:
        region = {"startLine": place.line}
        if place.column is not None:
            region["startColumn"] = place.column
        if place.end_line is not None and place.end_line >= place.line:
            region["endLine"] = place.end_line
            if place.end_column is not None:
                region["endColumn"] = place.end_column
        physical["region"] = region
    return {"physicalLocation": physical}


def _base_words(below: str) -> str:
    return "The directory that memtui was started in." if below else "The memory folder."


def _uri(path: str, *, safe: str = "/") -> str:
    """A path as a relative reference of RFC 3986: every byte but letters, digits and `-._~` as `%FF`."""
    return quote(name_bytes(path), safe=safe)


def _message(text: str) -> str:
    """A text in which nothing is a placeholder (3.11.5) or a link (3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
