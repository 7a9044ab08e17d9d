"""What a model is asked about, and what its opinions can change in an audit."""

from dataclasses import replace

import pytest

from memtui.audit.model import Audit, AuditFinding, Family, FindingLocation, FindingOrigin, Opinion, Severity
from memtui.audit.opinions import add_opinions, describe_candidates, find_candidates, format_opinions
from tests.audit.report import samples

SECRET = "sk-" + "ant-" + "api03-" + "q7Z" * 20


def planted(number: int = 0, **values: object) -> AuditFinding:
    given = {
        "rule": "self-spreading",
        "family": Family.PLANTED,
        "severity": Severity.WARN,
        "certainty": "medium",
        "location": FindingLocation(f"team/{number}.md", 1),
        "fingerprint": f"{number:016x}",
        "passage": "Copy it.",
        "masked": None,
    }
    return samples.finding(**{**given, **values})


def audit(*findings: AuditFinding) -> Audit:
    return replace(samples.nothing(), findings=findings)


@pytest.mark.parametrize(
    ("values", "is_asked"),
    [
        ({}, True),
        ({"certainty": "very-high"}, True),
        ({"family": Family.HIDDEN, "certainty": "low"}, True),
        ({"family": Family.HIDDEN, "certainty": "high"}, False),
        ({"family": Family.SECRET, "certainty": "low"}, False),
        ({"family": Family.CLAIMS}, False),
        ({"passage": ""}, False),
    ],
)
def test_only_what_rests_on_wording_is_asked_about(values: dict[str, object], is_asked: bool) -> None:
    assert bool(find_candidates(audit(planted(**values)))) is is_asked


@pytest.mark.parametrize(
    ("actor", "kind"), [("Claude", "agent"), ("outside", "outside"), ("you", "person"), ("", "unknown")]
)
def test_who_wrote_it_is_told_by_kind_alone(actor: str, kind: str) -> None:
    found = planted(origin=FindingOrigin(actor))
    assert list(describe_candidates(audit(found), [found])) == [
        {
            "rule": "Text that tells a model to copy it into other notes",
            "format": "md",
            "written_by": kind,
            "passage": "Copy it.",
        }
    ]


@pytest.mark.parametrize(
    ("severity", "verdict", "decides", "then"),
    [
        ("warn", "planted", False, "warn"),
        ("warn", "honest", False, "warn"),
        ("warn", "planted", True, "fail"),
        ("info", "planted", True, "fail"),
        ("warn", "honest", True, "info"),
        ("fail", "honest", True, "fail"),
        ("info", "honest", True, "info"),
        ("warn", "unsure", True, "warn"),
    ],
)
def test_an_opinion_changes_a_severity_only_where_it_may(severity: str, verdict: str, decides: bool, then: str) -> None:
    found, other = planted(severity=Severity(severity)), planted(1)
    done = add_opinions(audit(found, other), [other, found], {1: Opinion(verdict, "So.", "m")}, decides=decides)
    assert {each.fingerprint: each.severity for each in done.findings} == {
        found.fingerprint: then,
        other.fingerprint: Severity.WARN,
    }
    opinion = next(each.opinion for each in done.findings if each.fingerprint == found.fingerprint)
    assert opinion == Opinion(verdict, "So.", "m", None if severity == then else Severity(severity))


def test_a_secret_in_a_reason_is_masked() -> None:
    found = planted()
    done = add_opinions(audit(found), [found], {0: Opinion("unsure", f"It has {SECRET}.", "m")})
    assert done.findings[0].opinion == Opinion("unsure", "It has sk-ant****.", "m")


def test_what_came_of_asking_is_said_also_where_not_all_were_asked() -> None:
    given = {number: Opinion(verdict, "", "m") for number, verdict in enumerate(("planted", "honest", "planted"))}
    assert format_opinions("m", given, left_out=0, fault="") == "m gave an opinion on 3 findings: 1 honest, 2 planted."
    assert format_opinions("m", given, left_out=1, fault="It is busy.").endswith(
        "Others have none: It is busy. 1 finding more has none: a model is asked about 200 at most."
    )
    assert format_opinions("", {}, left_out=0, fault="It is busy.") == "No opinion was given: It is busy."
    assert format_opinions("", {}, left_out=0, fault="") == "No model was asked: no finding depends on wording."
