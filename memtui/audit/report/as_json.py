"""The report for programs: one JSON document. What its fields mean stands in `docs/audit-1.schema.json`.

Schema 1. Additions do not raise the number. Whatever comes from files and names is hostile: in the document no
character is hidden, and none is a lone surrogate, so any parser reads it and no terminal obeys it.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from memtui.audit.audit import Audit, Chain, Excepted, Growth
from memtui.audit.findings import Finding, Origin
from memtui.audit.inbox import ChangedFile, Inbox, LostFact, Mark, Run
from memtui.audit.report.words import SEVERITIES, undecodable, unicode, utc, without_secrets, worst
from memtui.core.events import Version
from memtui.core.paths import MemoryPath
from memtui.core.visible import visible_json

SCHEMA = 1
KIND = "memtui audit"


def write(audit: Audit) -> str:
    """The report as a JSON document, legible, with a line feed at its end."""
    return visible_json(json.dumps(document(audit), ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def document(audit: Audit) -> dict[str, Any]:
    """The report as values that JSON has."""
    gravest = worst(audit)
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "memtui": audit.version,
        "folder": unicode(audit.title),
        "taken": utc(audit.taken_us),
        "verdict": gravest.value if gravest else "clean",
        "summary": _summary(audit),
        "chain": _chain(audit.chain),
        "findings": [finding(each) for each in audit.findings],
        "excepted": [_excepted(each) for each in audit.excepted],
        "expired": [unicode(sentence) for sentence in audit.expired],
        "skipped": [{"rule": each.rule, "reason": unicode(each.reason)} for each in audit.skipped],
        "passed": [
            {"family": each.family.value, "name": unicode(each.name), "words": unicode(each.words)}
            for each in audit.passed
        ],
        "inbox": _inbox(audit.inbox) if audit.inbox is not None else None,
        "growth": _growth(audit.growth) if audit.growth is not None else None,
        "neutral": [unicode(sentence) for sentence in audit.neutral],
        "rules": {"ran": audit.rules, "digest": audit.digest},
        "settings": {unicode(name): unicode(value) for name, value in audit.settings.items()},
        "seconds": {name: round(value, 6) for name, value in audit.seconds.items() if math.isfinite(value)},
    }


def finding(found: Finding) -> dict[str, Any]:
    """One finding as values that JSON has."""
    place = found.place
    return {
        "rule": found.rule,
        "family": found.family.value,
        "severity": found.severity.value,
        **path_of(place.path),
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "words": unicode(found.words),
        "evidence": unicode(found.evidence),
        "masked": found.masked is not None,
        "do": unicode(found.do),
        "origin": origin(found.origin),
        "fingerprint": found.fingerprint,
        "facts": facts(found.facts),
    }


def path_of(path: str) -> dict[str, str | None]:
    """A path of the folder, in the three ways in which the document gives it."""
    readable = unicode(path)
    return {"path": str(MemoryPath.of(readable)), "relative": readable, "path_base64": undecodable(path)}


def origin(known: Origin) -> dict[str, Any] | None:
    """Who brought something in; `None` where that is not known."""
    if not known.is_known and known.seq is None:
        return None
    return {
        "actor": unicode(known.actor) or None,
        "seq": known.seq,
        "ts": utc(known.at_us),
        "command": unicode(known.command),
        "session": _optional(known.session),
        "call_id": _optional(known.call_id),
        "exact": known.is_exact,
    }


def facts(given: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    """What a program may want to know, in values that JSON has."""
    known: dict[str, str | int | float] = {}
    for name, value in given.items():
        if isinstance(value, str):
            known[unicode(name)] = unicode(value)
        elif math.isfinite(value):
            known[unicode(name)] = value
    return known


def _summary(audit: Audit) -> dict[str, Any]:
    return {
        **{severity.value: audit.count(severity) for severity in SEVERITIES},
        "excepted": len(audit.excepted),
        "files": audit.files,
        "bytes": audit.bytes,
        "tokens": audit.tokens,
        "events": audit.events,
        "refused": audit.refused,
        "budgets": [
            {"name": one.name, "used": one.used, "of": one.of, "share": round(one.share, 6), "setting": one.setting}
            for one in audit.budgets
        ],
        "actors": [{"actor": unicode(name), "events": events} for name, events in audit.actors.items()],
    }


def _chain(chain: Chain) -> dict[str, Any]:
    head = f"{chain.seq}:{chain.hash}" if chain.hash else None
    return {"state": chain.state, "words": unicode(chain.words), "events": chain.events, "head": head}


def _excepted(excepted: Excepted) -> dict[str, Any]:
    return {
        "by": excepted.by,
        "reason": unicode(excepted.reason),
        "until": excepted.until or None,
        "finding": finding(excepted.finding),
    }


def _inbox(inbox: Inbox) -> dict[str, Any]:
    return {
        "since": {"seq": inbox.since, "ts": utc(inbox.since_us), "words": unicode(inbox.since_words)},
        "until": inbox.until,
        "problem": unicode(inbox.problem) or None,
        "files": [_file(each) for each in inbox.files],
        "folders": [_file(each) for each in inbox.folders],
        "runs": [_run(each) for each in inbox.runs],
        "marks": [_mark(each) for each in inbox.marks],
    }


def _file(changed: ChangedFile) -> dict[str, Any]:
    return {
        "sign": changed.sign,
        **path_of(changed.path),
        "was": path_of(changed.was) if changed.was else None,
        "before": _version(changed.before),
        "after": _version(changed.after),
        "added": changed.added,
        "removed": changed.removed,
        "actors": [unicode(name) for name in changed.actors],
        "sessions": [unicode(name) for name in changed.sessions],
        "events": [event.seq for event in changed.events],
        "run": changed.run,
        "verdict": changed.verdict.value if changed.verdict else None,
        "marks": [_mark(each) for each in changed.marks],
        "earlier": _mark(changed.earlier) if changed.earlier is not None else None,
    }


def _version(version: Version | None) -> dict[str, Any] | None:
    if version is None:
        return None
    return {"kind": version.kind.value, "sha256": version.sha256, "size": version.size}


def _run(run: Run) -> dict[str, Any]:
    return {
        "number": run.number,
        "actor": unicode(run.actor),
        "session": _optional(run.session),
        "first": run.first,
        "last": run.last,
        "ts": utc(run.at_us),
        "until": utc(run.until_us),
        "paths": [path_of(path) for path in run.paths],
        "added": run.added,
        "removed": run.removed,
        "lost": [_lost(each) for each in run.lost],
        "unlisted": run.unlisted,
        "unsearched": run.unsearched or None,
    }


def _lost(fact: LostFact) -> dict[str, Any]:
    return {**path_of(fact.path), "line": fact.line, "text": unicode(without_secrets(fact.text)), "seq": fact.seq}


def _mark(mark: Mark) -> dict[str, Any]:
    return {
        "reviewer": unicode(mark.reviewer),
        "ts": utc(mark.at_us),
        "verdict": mark.verdict.value,
        **path_of(mark.path),
        "before": mark.before or None,
        "after": mark.after or None,
        "hunk": mark.hunk or None,
        "words": unicode(without_secrets(mark.words)),
        "seq": mark.seq,
        "head": mark.head or None,
    }


def _growth(growth: Growth) -> dict[str, Any]:
    return {
        "ts": [utc(at) for at in growth.at_us],
        "files": list(growth.files),
        "bytes": list(growth.bytes),
        "writes": [{"actor": unicode(name), "counts": list(counts)} for name, counts in growth.writes.items()],
        "gathered": growth.gathered,
        "findings": {name: list(counts) for name, counts in growth.findings.items()},
    }


def _optional(text: str | None) -> str | None:
    return None if text is None else unicode(text)
