"""Suppressed findings: by an exemption with a reason and a last day, by a dismissal, or by a baseline."""

import json
import re
from collections.abc import Collection, Iterable
from datetime import date
from fnmatch import fnmatchcase
from functools import cache

from memtui.audit.masking import mask_message
from memtui.audit.model import AuditFinding, Hit, SuppressedFinding
from memtui.audit.registry import EXPIRED
from memtui.core.errors import MemtuiError
from memtui.core.settings import Exemption
from memtui.core.unicode import to_one_line
from memtui.review.inbox import ReviewMark
from memtui.review.triage import describe_dismissal, find_dismissal_fault

_BASELINE = "it is in the baseline"


def find_suppression(
    finding: AuditFinding,
    exemptions: Collection[Exemption],
    baseline: Collection[str],
    today: date,
    dismissal: ReviewMark | None = None,
) -> SuppressedFinding | None:
    """Why a finding does not count; `None` if it counts."""
    for each in exemptions:
        if (
            is_exemption_valid(each, today)
            and fnmatchcase(finding.rule, each.rule)
            and each.fingerprint in ("", finding.fingerprint)
            and matches_path(finding.location.path, each.path)
        ):
            return SuppressedFinding(finding, each.reason, each.until.isoformat() if each.until else "")
    if dismissal is not None and not find_dismissal_fault(dismissal, finding, today):
        who, at_us = dismissal.reviewer, dismissal.at_us
        return SuppressedFinding(finding, mask_message(dismissal.words), dismissal.until, "dismissal", who, at_us)
    if finding.fingerprint in baseline and finding.rule != EXPIRED:
        return SuppressedFinding(finding, _BASELINE, by="baseline")
    return None


def is_exemption_valid(exemption: Exemption, today: date) -> bool:
    """Whether an exemption still holds; on its last day it does."""
    return exemption.until is None or today <= exemption.until


def find_expired(exemptions: Collection[Exemption], today: date) -> list[tuple[Hit, str]]:
    """Exemptions that hold no more, each as a hit and as a sentence."""
    found = []
    for each in exemptions:
        if is_exemption_valid(each, today):
            continue
        assert each.until is not None
        what = each.fingerprint or each.path
        until = each.until.isoformat()
        words = f"the exemption of {each.rule} for {what} ended on {until}"
        facts = {"exempt": each.rule, "path": each.path, "until": until}
        identity = f"{each.rule} {each.path} {each.fingerprint} {until}"
        hit = Hit(EXPIRED, "", words, evidence=each.reason, facts=facts, identity=identity)
        found.append((hit, f"{words[:1].upper()}{words[1:]}: {each.reason}"))
    return found


def build_ended_dismissal(mark: ReviewMark, fault: str) -> tuple[Hit, str]:
    """A dismissal whose finding counts again, as a hit and as a sentence."""
    finding = mark.findings[0]
    words = f"{describe_dismissal(mark)} {fault}"
    facts = {"exempt": to_one_line(finding.rule), "path": to_one_line(finding.path), "until": mark.until}
    reason = mask_message(mark.words)
    hit = Hit(EXPIRED, "", words, evidence=reason, facts=facts, identity=f"{finding.fingerprint} {mark.at_us}")
    return hit, f"{words[:1].upper()}{words[1:]}: {reason}"


def matches_path(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern: `*` and `?` within a name, `**` over any number of directories.

    Args:
        pattern: Relative to the folder; one without a separator matches a name in any directory, as in `.gitignore`.
    """
    return _compile_pattern(pattern.strip("/")).fullmatch(path) is not None


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    if "/" not in pattern and pattern != "**":
        pattern = f"**/{pattern}"
    parts: list[str] = []
    for piece in re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|[^*?]+?(?=\*|\?|/\*\*$|$)", re.sub(r"\*{3,}", "**", pattern)):
        match piece:
            case "**/":
                parts.append("(?:.*/)?")
            case "/**":
                parts.append("(?:/.*)?")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case _:
                parts.append(re.escape(piece))
    return re.compile("".join(parts), re.DOTALL)


# Baselines: a file of fingerprints of known findings, so that only new ones count. It holds no text of a note.

SCHEMA = 1
KIND = "memtui baseline"
_FINGERPRINT = 16


class InvalidBaseline(MemtuiError):
    """A file is no baseline; the words say why."""


def parse_baseline(data: bytes, name: str) -> frozenset[str]:
    """The fingerprints of a baseline.

    Raises:
        InvalidBaseline: It is none.
    """
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidBaseline(f"{name} is not a baseline: invalid JSON. Nothing was audited. {_MAKE}") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InvalidBaseline(f"{name} is not a baseline of memtui. Nothing was audited. {_MAKE}")
    if document.get("schema") != SCHEMA:
        raise InvalidBaseline(f"{name} is a baseline of a newer memtui. Nothing was audited. Use that version.")
    rows = document.get("findings")
    if not isinstance(rows, list) or not all(_is_baseline_row(row) for row in rows):
        raise InvalidBaseline(f"{name} is damaged: a finding in it has no fingerprint. Nothing was audited. {_MAKE}")
    return frozenset(row["fingerprint"] for row in rows)


_MAKE = "Make one: memtui audit --write-baseline FILE"


def build_baseline(findings: Iterable[AuditFinding]) -> str:
    """A baseline of findings, as JSON; the same findings make the same bytes."""
    rows = sorted({(each.location.path, each.rule, each.fingerprint) for each in findings})
    listed = [{"fingerprint": fingerprint, "rule": rule, "path": path} for path, rule, fingerprint in rows]
    return json.dumps({"schema": SCHEMA, "kind": KIND, "findings": listed}, indent=1) + "\n"


def _is_baseline_row(row: object) -> bool:
    fingerprint = row.get("fingerprint") if isinstance(row, dict) else None
    return isinstance(fingerprint, str) and len(fingerprint) == _FINGERPRINT
