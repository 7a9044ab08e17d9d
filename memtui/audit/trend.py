"""The audits before: what is new and what is gone since the last one, and how many findings each had.

They are kept beside the journal, where no agent reaches them, and hold no text of a note: times, numbers, fingerprints.
"""

import json
from dataclasses import replace
from typing import Any

from memtui.audit.model import Audit, AuditCounts, AuditTrend, Severity

SCHEMA = 1
KIND = "memtui audits"
MOST_BYTES = 4_000_000
_AUDITS = 100
_FINDINGS = 50_000
"""Findings of one audit that are known again; where there are more, the next one is not compared."""


def add_trend(audit: Audit, earlier: bytes | None) -> Audit:
    """The same audit, compared with those before; as it is where nothing is known of these.

    What is excepted now is not gone, and what was excepted then is not new.

    Args:
        earlier: What `build_history` made of the audits before; `None` for none. Damaged, it counts for none.
    """
    history = _parse_history(earlier)
    if history is None:
        return audit
    audits, known = history["audits"], set(history["fingerprints"])
    present = {each.fingerprint for each in _list_all(audit)}
    trend = AuditTrend(
        last_us=audits[-1].taken_us,
        new=tuple(each.fingerprint for each in audit.findings if each.fingerprint not in known),
        gone=len(known - present),
        has_same_rules=history["digest"] == audit.digest,
        audits=tuple(audits),
    )
    return replace(audit, trend=trend)


def build_history(audit: Audit) -> bytes | None:
    """An audit and those before it, to be kept; `None` for one that is too large to be compared with."""
    findings = _list_all(audit)
    if len(findings) > _FINDINGS:
        return None
    before = audit.trend.audits if audit.trend is not None else ()
    fail, warn, info = map(audit.count_findings, Severity)
    audits = [*before, AuditCounts(audit.taken_us, fail, warn, info)][-_AUDITS:]
    document = {
        "schema": SCHEMA,
        "kind": KIND,
        "digest": audit.digest,
        "audits": [[each.taken_us, each.fail, each.warn, each.info] for each in audits],
        "fingerprints": sorted({each.fingerprint for each in findings}),
    }
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def read_last_counts(history: bytes | None) -> AuditCounts | None:
    """How many findings the newest audit had, of what `build_history` made; `None` where nothing is known."""
    parsed = _parse_history(history)
    return None if parsed is None else parsed["audits"][-1]


def _list_all(audit: Audit) -> list[Any]:
    return [*audit.findings, *(each.finding for each in audit.excepted)]


def _parse_history(data: bytes | None) -> dict[str, Any] | None:
    try:
        document = json.loads(data or b"")
        if document["schema"] != SCHEMA or document["kind"] != KIND:
            return None
        audits = [AuditCounts(*map(int, row)) for row in document["audits"]]
        fingerprints = list(map(str, document["fingerprints"]))
        return {"digest": str(document["digest"]), "audits": audits, "fingerprints": fingerprints} if audits else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
