"""The report for programs: one JSON document. What its fields mean stands in `docs/audit-1.schema.json`.

Schema 1. Additions do not raise the number. Whatever comes from files and names is hostile: in the document no
character is hidden, and none is a lone surrogate, so any parser reads it and no terminal obeys it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.audit.masking import mask_message
from memtui.audit.model import Audit, AuditFinding, AuditGrowth, AuditTrend, ChainStatus, FindingOrigin, Opinion
from memtui.audit.ranking import FindingGroup, group_findings
from memtui.audit.report.wording import (
    SEVERITIES,
    encode_undecodable,
    find_worst_severity,
    format_utc,
    replace_all_surrogates,
    replace_surrogates,
)
from memtui.core.events import Version
from memtui.core.paths import MemoryPath
from memtui.core.unicode import visible_json
from memtui.review.inbox import ChangedFile, ChangeRun, Inbox, MarkedFinding, ReviewMark

SCHEMA = 1
KIND = "memtui audit"


def render_json(audit: Audit) -> str:
    """The report as a JSON document, legible, with a line feed at its end."""
    return visible_json(json.dumps(build_document(audit), ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def render_jsonl(audit: Audit) -> str:
    """The report for log collectors, one JSON object a line: `run`, each `finding`, and `end`, by which it is whole."""
    head = {"schema": SCHEMA, "kind": KIND, "memtui": audit.version}
    rules = {"ran": audit.rules, "digest": audit.digest}
    run = {
        **head,
        "summary": _summary_to_json(audit),
        "chain": _chain_to_json(audit.chain),
        "review": _review_to_json(audit),
        "rules": rules,
        "trend": _trend_to_json(audit.trend) if audit.trend is not None else None,
        "opinions": audit.opinions or None,
    }
    end = {"verdict": _get_verdict(audit), "findings": len(audit.findings)}
    findings = (format_event(audit, "finding", each) for each in findings_to_json(audit.findings))
    return "".join([format_event(audit, "run", run), *findings, format_event(audit, "end", end)])


def format_event(audit: Audit, event: str, fields: Mapping[str, Any]) -> str:
    """A line for log collectors about an audit: what it is, when and of which folder, and its fields."""
    line = {"event": event, "taken": format_utc(audit.taken_us), "folder": audit.title, **fields}
    return visible_json(json.dumps(replace_all_surrogates(line), ensure_ascii=False, allow_nan=False)) + "\n"


def _get_verdict(audit: Audit) -> str:
    gravest = find_worst_severity(audit)
    return gravest.value if gravest else "clean"


def build_document(audit: Audit) -> dict[str, Any]:
    """The report as values that JSON has."""
    document = {
        "schema": SCHEMA,
        "kind": KIND,
        "memtui": audit.version,
        "folder": audit.title,
        "taken": format_utc(audit.taken_us),
        "verdict": _get_verdict(audit),
        "summary": _summary_to_json(audit),
        "chain": _chain_to_json(audit.chain),
        "findings": findings_to_json(audit.findings),
        "groups": [_group_to_json(each) for each in group_findings(audit.findings) if each.cause is not None],
        "excepted": [
            {
                "by": each.by,
                "reason": each.reason,
                "until": each.until or None,
                "who": each.who or None,
                "ts": format_utc(each.at_us),
                "finding": finding_to_json(each.finding),
            }
            for each in audit.excepted
        ],
        "expired": list(audit.expired),
        "skipped": [{"rule": each.rule, "reason": each.reason} for each in audit.skipped],
        "passed": [{"family": each.family.value, "name": each.name, "words": each.words} for each in audit.passed],
        "inbox": _inbox_to_json(audit.inbox) if audit.inbox is not None else None,
        "review": _review_to_json(audit),
        "trend": _trend_to_json(audit.trend) if audit.trend is not None else None,
        "growth": _growth_to_json(audit.growth) if audit.growth is not None else None,
        "opinions": audit.opinions or None,
        "neutral": list(audit.neutral),
        "rules": {"ran": audit.rules, "digest": audit.digest},
        "settings": dict(audit.settings),
        "seconds": {name: round(value, 6) for name, value in audit.seconds.items() if math.isfinite(value)},
    }
    return replace_all_surrogates(document)  # type: ignore[no-any-return]


def findings_to_json(findings: Sequence[AuditFinding]) -> list[dict[str, Any]]:
    """Findings, each with the group that it is in."""
    group_of = {id(found): group.id for group in group_findings(findings) for found in group.findings}
    return [finding_to_json(found, group_of[id(found)]) for found in findings]


def _group_to_json(group: FindingGroup) -> dict[str, Any]:
    return {
        "group": group.id,
        "cause": str(group.cause),
        "rule": group.worst.rule,
        "severity": group.worst.severity.value,
        "words": group.words,
        "findings": [each.fingerprint for each in group.findings],
    }


def finding_to_json(found: AuditFinding, group: str = "") -> dict[str, Any]:
    """One finding as values that JSON has."""
    place = found.location
    return {
        "rule": found.rule,
        "family": found.family.value,
        "severity": found.severity.value,
        "certainty": found.certainty,
        **path_to_json(place.path),
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "words": found.words,
        "evidence": found.evidence,
        "masked": found.masked is not None,
        "do": found.do,
        "origin": origin_to_json(found.origin),
        "fingerprint": found.fingerprint,
        "group": group or None,
        "facts": facts_to_json(found.facts),
        "opinion": opinion_to_json(found.opinion) if found.opinion is not None else None,
    }


def opinion_to_json(opinion: Opinion) -> dict[str, str | None]:
    """What a model says of a finding."""
    before = opinion.severity_before
    return {
        "verdict": opinion.verdict,
        "reason": opinion.reason,
        "model": opinion.model,
        "given": format_utc(opinion.given_us),
        "severity_before": before.value if before is not None else None,
    }


def path_to_json(path: str) -> dict[str, str | None]:
    """A path of the folder, in the three ways in which the document gives it."""
    readable = replace_surrogates(path)
    return {
        "path": str(MemoryPath.from_relative(readable)),
        "relative": readable,
        "path_base64": encode_undecodable(path),
    }


def origin_to_json(known: FindingOrigin) -> dict[str, Any] | None:
    """Who brought something in; `None` where that is not known."""
    if not known.is_known and known.seq is None:
        return None
    return {
        "actor": known.actor or None,
        "seq": known.seq,
        "ts": format_utc(known.at_us),
        "command": known.command,
        "session": known.session,
        "call_id": known.call_id,
        "exact": known.is_exact,
    }


def facts_to_json(given: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    """What a program may want to know, in values that JSON has."""
    return {name: value for name, value in given.items() if isinstance(value, str) or math.isfinite(value)}


def _summary_to_json(audit: Audit) -> dict[str, Any]:
    return {
        **{severity.value: audit.count_findings(severity) for severity in SEVERITIES},
        "excepted": len(audit.excepted),
        "dismissed": sum(each.by == "dismissal" for each in audit.excepted),
        "files": audit.files,
        "bytes": audit.bytes,
        "tokens": audit.tokens,
        "events": audit.events,
        "refused": audit.refused,
        "budgets": [
            {"name": one.name, "used": one.used, "of": one.limit, "share": round(one.share, 6), "setting": one.setting}
            for one in audit.budgets
        ],
        "actors": [{"actor": name, "events": events} for name, events in audit.actors.items()],
    }


def _review_to_json(audit: Audit) -> dict[str, Any]:
    sign_off = _mark_to_json(audit.sign_off) if audit.sign_off is not None else None
    return {"sign_off": sign_off, "problem": audit.review_problem or None}


def _chain_to_json(chain: ChainStatus) -> dict[str, Any]:
    head = f"{chain.seq}:{chain.hash}" if chain.hash else None
    return {"state": chain.state, "words": chain.words, "events": chain.events, "head": head}


def _inbox_to_json(inbox: Inbox) -> dict[str, Any]:
    return {
        "since": {"seq": inbox.since, "ts": format_utc(inbox.since_us), "words": inbox.since_words},
        "until": inbox.until,
        "problem": inbox.problem or None,
        "files": [_file_to_json(each) for each in inbox.files],
        "folders": [_file_to_json(each) for each in inbox.folders],
        "runs": [_run_to_json(each) for each in inbox.runs],
        "marks": [_mark_to_json(each) for each in inbox.marks],
    }


def _file_to_json(changed: ChangedFile) -> dict[str, Any]:
    return {
        "sign": changed.sign,
        **path_to_json(changed.path),
        "was": path_to_json(changed.previous_path) if changed.previous_path else None,
        "before": _version_to_json(changed.before),
        "after": _version_to_json(changed.after),
        "added": changed.added,
        "removed": changed.removed,
        "actors": list(changed.actors),
        "sessions": list(changed.sessions),
        "events": [event.seq for event in changed.events],
        "run": changed.run,
        "verdict": changed.verdict.value if changed.verdict else None,
        "marks": [_mark_to_json(each) for each in changed.marks],
        "earlier": _mark_to_json(changed.earlier) if changed.earlier is not None else None,
    }


def _version_to_json(version: Version | None) -> dict[str, Any] | None:
    if version is None:
        return None
    return {"kind": version.kind.value, "sha256": version.sha256, "size": version.size}


def _run_to_json(run: ChangeRun) -> dict[str, Any]:
    return {
        "number": run.number,
        "actor": run.actor,
        "session": run.session,
        "first": run.first,
        "last": run.last,
        "ts": format_utc(run.at_us),
        "until": format_utc(run.until_us),
        "paths": [path_to_json(path) for path in run.paths],
        "added": run.added,
        "removed": run.removed,
        "lost": [
            {**path_to_json(fact.path), "line": fact.line, "text": mask_message(fact.text), "seq": fact.seq}
            for fact in run.lost
        ],
        "unlisted": run.unlisted,
        "unsearched": run.unsearched or None,
    }


def _mark_to_json(mark: ReviewMark) -> dict[str, Any]:
    return {
        "reviewer": mark.reviewer,
        "ts": format_utc(mark.at_us),
        "verdict": mark.verdict.value,
        **path_to_json(mark.path),
        "before": mark.before or None,
        "after": mark.after or None,
        "hunk": mark.hunk or None,
        "words": mask_message(mark.words),
        "seq": mark.seq,
        "head": mark.head or None,
        "until": mark.until or None,
        "findings": [_marked_finding_to_json(each) for each in mark.findings],
        "failures_reason": mask_message(mark.failures_reason) or None,
    }


def _marked_finding_to_json(marked: MarkedFinding) -> dict[str, Any]:
    return {
        "fingerprint": marked.fingerprint,
        "rule": marked.rule,
        "severity": marked.severity,
        **path_to_json(marked.path),
        "line": marked.line,
        "count": marked.count,
        "evidence": marked.evidence or None,
        "decision": marked.decision or None,
    }


def _trend_to_json(trend: AuditTrend) -> dict[str, Any]:
    return {
        "last": format_utc(trend.last_us),
        "new": list(trend.new),
        "gone": trend.gone,
        "same_rules": trend.has_same_rules,
        "audits": [
            {"ts": format_utc(each.taken_us), "fail": each.fail, "warn": each.warn, "info": each.info}
            for each in trend.audits
        ],
    }


def _growth_to_json(growth: AuditGrowth) -> dict[str, Any]:
    return {
        "ts": [format_utc(at) for at in growth.at_us],
        "files": list(growth.files),
        "bytes": list(growth.bytes),
        "writes": [{"actor": name, "counts": list(counts)} for name, counts in growth.writes.items()],
        "gathered": growth.gathered,
        "findings": {name: list(counts) for name, counts in growth.findings.items()},
    }
