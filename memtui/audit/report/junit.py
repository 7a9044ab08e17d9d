"""The report as JUnit XML, for the test pages of CI servers: a suite for each family, a test case for each rule.

A rule fails where it has findings that count under `--fail-on`; what is below that level stands in its output. There is
no standard: elements and attributes are those that all servers take, also the strict `junit-10.xsd` of Jenkins' xUnit.
"""

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from memtui.audit.model import Audit, AuditFinding, Family, Severity, SuppressedFinding
from memtui.audit.ranking import group_findings
from memtui.audit.registry import list_rules
from memtui.audit.report.wording import (
    describe_suppression,
    format_location,
    format_message,
    format_opinion,
    format_utc,
    sanitize_text,
)
from memtui.core.wording import format_count

_MOST = 200
"""Findings of one rule that are listed; a server keeps no more than so much of a failure."""


def render_junit(audit: Audit, *, fail_on: Severity | None = Severity.FAIL) -> str:
    """The report as an XML document.

    Args:
        fail_on: The severity from which a finding fails its rule; `None` for never.
    """
    root = ElementTree.Element("testsuites", name="memtui audit")
    by_rule: dict[str, list[AuditFinding]] = {}
    for found in audit.findings:
        by_rule.setdefault(found.rule, []).append(found)
    skipped = {each.rule: each.reason for each in audit.skipped}
    families = {rule.id: rule.family for rule in list_rules(audit.custom).values()}
    families |= {rule: findings[0].family for rule, findings in by_rule.items()}
    for family in Family:
        rules = [rule for rule, its_family in families.items() if its_family is family]
        suite = ElementTree.SubElement(root, "testsuite", name=family.value)
        for rule in rules:
            _add_case(suite, rule, family, by_rule.get(rule, ()), skipped.get(rule), fail_on)
        _add_excepted(suite, [each for each in audit.excepted if each.finding.family is family])
        suite.set("time", f"{audit.seconds.get(family.value, 0):.3f}")
        suite.set("skipped", str(sum(1 for _ in suite.iter("skipped"))))
        if at := format_utc(audit.taken_us):
            suite.set("timestamp", at.partition(".")[0])
        _set_counts(suite)
    _set_counts(root)
    root.set("time", f"{sum(audit.seconds.values()):.3f}")
    ElementTree.indent(root)
    document = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _set_counts(element: ElementTree.Element) -> None:
    for name, tag in (("tests", "testcase"), ("failures", "failure")):
        element.set(name, str(sum(1 for _ in element.iter(tag))))
    element.set("errors", "0")


def _add_case(
    suite: ElementTree.Element,
    rule: str,
    family: Family,
    findings: Sequence[AuditFinding],
    skipped: str | None,
    fail_on: Severity | None,
) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=f"memtui.{family.value}", name=_to_xml(rule), time="0")
    if skipped is not None and not findings:
        ElementTree.SubElement(case, "skipped", message=_to_xml(sanitize_text(skipped)))
        return
    counted: list[AuditFinding] = []
    others: list[AuditFinding] = []
    for each in findings:
        (counted if fail_on is not None and each.severity.rank <= fail_on.rank else others).append(each)
    if counted:
        failure = ElementTree.SubElement(case, "failure", message=_describe(counted), type=counted[0].severity.value)
        failure.text = "\n".join(_list_findings(counted))
    if others:
        ElementTree.SubElement(case, "system-out").text = "\n".join(_list_findings(others))


def _add_excepted(suite: ElementTree.Element, excepted: Sequence[SuppressedFinding]) -> None:
    """What does not count, and why, as the output of its family."""
    lines = [
        _to_xml(
            f"not counted: {each.finding.rule} {format_location(each.finding.location)}: {describe_suppression(each)}"
        )
        for each in excepted[:_MOST]
    ]
    if lines:
        more = [f"and {len(excepted) - _MOST:,} more"] if len(excepted) > _MOST else []
        ElementTree.SubElement(suite, "system-out").text = "\n".join([*lines, *more])


def _describe(findings: Sequence[AuditFinding]) -> str:
    """The cause of the first ones, and how many there are."""
    first = group_findings(findings)[0]
    words = format_message(first.words or f"{format_location(first.worst.location)}: {first.worst.words}")
    more = f" {format_count(len(findings), 'finding')} in all." if len(findings) > len(first.findings) else ""
    return _to_xml(sanitize_text(words) + more)


def _list_findings(findings: Sequence[AuditFinding]) -> Iterator[str]:
    for found in findings[:_MOST]:
        yield _to_xml(f"{found.severity.value} {format_location(found.location)}: {sanitize_text(found.words)}")
        if found.evidence:
            yield _to_xml(f"  | {sanitize_text(found.evidence)}")
        if found.opinion is not None:
            yield _to_xml(f"  {format_opinion(found.opinion)}")
    if (left := len(findings) - _MOST) > 0:
        yield f"and {left:,} more: memtui audit --format json"
    for do in dict.fromkeys(found.do for found in findings):
        yield _to_xml(f"What to do: {sanitize_text(do)}")


def _to_xml(text: str) -> str:
    """The text without characters that XML does not have; such as are hidden were named before."""
    return "".join(letter for letter in text if letter >= " " and letter not in "\ufffe\uffff")
