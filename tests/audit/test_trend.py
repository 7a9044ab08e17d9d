"""What is new and gone since the audit before, and what is kept of each."""

import json
from dataclasses import replace

import pytest

from memtui.audit.model import Audit, AuditCounts, SuppressedFinding
from memtui.audit.report.wording import format_trend
from memtui.audit.trend import add_trend, build_history
from tests.audit.report import samples


def audited(*numbers: int, day: int = 0, excepted: tuple[int, ...] = (), digest: str = "ab") -> Audit:
    return replace(
        samples.nothing(),
        taken_us=samples.NOW + day * samples.DAY,
        digest=digest,
        findings=tuple(samples.scattered(number) for number in numbers),
        excepted=tuple(SuppressedFinding(samples.scattered(number), "known") for number in excepted),
    )


def test_findings_are_compared_with_those_of_the_last_audit() -> None:
    first = add_trend(audited(1, 2, 3), None)
    assert first.trend is None
    trend = add_trend(audited(2, 3, 4, 5, day=1), build_history(first)).trend
    assert trend is not None
    assert (trend.new, trend.gone, trend.last_us) == ((f"{4:016x}", f"{5:016x}"), 1, samples.NOW)
    assert trend.audits == (AuditCounts(samples.NOW, 3, 0, 0),)
    assert format_trend(trend) == "Since the last audit, 2026-11-21 22:26 UTC: 2 new, 1 resolved"


@pytest.mark.parametrize("excepted", [((), (3,)), ((3,), ())], ids=["excepted now", "counts again"])
def test_what_is_excepted_is_neither_gone_nor_new(excepted: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    before, now = excepted
    kept = build_history(audited(1, 2, *({3} - set(before)), excepted=before))
    trend = add_trend(audited(1, 2, *({3} - set(now)), excepted=now), kept).trend
    assert trend is not None
    assert (trend.new, trend.gone) == ((), 0)


def test_an_audit_with_other_rules_is_compared_and_that_is_said() -> None:
    trend = add_trend(audited(1, digest="cd"), build_history(audited(digest="ab"))).trend
    assert trend is not None
    assert format_trend(trend).endswith(": 1 new, 0 resolved (with other rules or settings)")


def test_so_many_audits_are_kept_and_no_text_of_a_note() -> None:
    kept = None
    for day in range(120):
        audit = add_trend(audited(1, day=day), kept)
        kept = build_history(audit)
    assert audit.trend is not None
    assert len(audit.trend.audits) == 100
    assert audit.trend.audits[-1].taken_us == samples.NOW + 118 * samples.DAY
    assert kept is not None
    assert set(json.loads(kept)) == {"schema", "kind", "digest", "audits", "fingerprints"}
    assert b"notes" not in kept


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"1", b"null", b'{"schema": 1}', b"\xff", b"[" * 100_000,
        b'{"schema":1,"kind":"memtui audits","digest":"","audits":[],"fingerprints":[]}',
        b'{"schema":1,"kind":"memtui audits","digest":"","audits":[[1,2]],"fingerprints":[]}',
        b'{"schema":1,"kind":"memtui audits","digest":"","audits":[[1,2,3,"x"]],"fingerprints":[]}',
        b'{"schema":2,"kind":"memtui audits","digest":"","audits":[[1,2,3,4]],"fingerprints":[]}',
    ],
)  # fmt: skip
def test_what_is_damaged_counts_for_nothing(data: bytes) -> None:
    assert add_trend(audited(1), data).trend is None


def test_an_audit_too_large_to_be_known_again_is_not_kept() -> None:
    audit = audited(1)
    assert build_history(replace(audit, findings=audit.findings * 50_001)) is None
