"""What a model is asked about findings that rest on wording, and what its opinions make of an audit.

An opinion is a field of a finding. It adds no finding and removes none; it changes a severity only where asked to.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from memtui.audit.masking import mask_message
from memtui.audit.model import CERTAINTIES, Audit, AuditFinding, Family, Opinion, Severity
from memtui.audit.ranking import rank_by_danger
from memtui.audit.registry import list_rules
from memtui.core.events import Outside, Person, format_actor_name
from memtui.core.wording import format_count
from memtui.notes.formats import detect_format

MOST_CANDIDATES = 200
"""Findings that a model is asked about in one audit, the most dangerous first."""
_UNCERTAIN = CERTAINTIES[CERTAINTIES.index("high") + 1 :]
_NOT_OF_WORDING = (Family.SECRET, Family.CLAIMS)
_KINDS = {"": "unknown", format_actor_name(Outside()): "outside", format_actor_name(Person()): "person"}


def find_candidates(audit: Audit) -> list[AuditFinding]:
    """The findings that rest on wording, the most dangerous first."""
    return [found for found in audit.findings if found.passage and _rests_on_wording(found)]


def _rests_on_wording(found: AuditFinding) -> bool:
    is_uncertain = found.certainty in _UNCERTAIN and found.family not in _NOT_OF_WORDING
    return found.family is Family.PLANTED or is_uncertain


def describe_candidates(audit: Audit, candidates: Collection[AuditFinding]) -> Iterator[dict[str, str]]:
    """What is sent of each finding: nothing by which its file or its folder could be known."""
    rules = list_rules(audit.custom)
    for found in candidates:
        rule = rules.get(found.rule)
        yield {
            "rule": rule.title if rule is not None else found.rule,
            "format": detect_format(found.location.path),
            "written_by": _KINDS.get(found.origin.actor, "agent"),
            "passage": found.passage,
        }


def add_opinions(
    audit: Audit, candidates: Sequence[AuditFinding], opinions: Mapping[int, Opinion], *, decides: bool = False
) -> Audit:
    """The audit with a model's opinions.

    Args:
        opinions: By the numbers of candidates; those without one have none.
        decides: Whether `honest` lowers a warning to worth knowing, and `planted` makes any finding fail.
    """
    given = {id(candidates[number]): opinion for number, opinion in opinions.items()}
    findings = [_apply_opinion(found, given.get(id(found)), audit, decides=decides) for found in audit.findings]
    return replace(audit, findings=tuple(sorted(findings, key=rank_by_danger)))


def _apply_opinion(found: AuditFinding, opinion: Opinion | None, audit: Audit, *, decides: bool) -> AuditFinding:
    if opinion is None:
        return found
    opinion = replace(opinion, reason=mask_message(opinion.reason, rules=audit.custom.matcher))
    severity = found.severity
    if decides and opinion.verdict == "planted":
        severity = Severity.FAIL
    elif decides and opinion.verdict == "honest" and severity is Severity.WARN:
        severity = Severity.INFO
    if severity is not found.severity:
        opinion = replace(opinion, severity_before=found.severity)
    return replace(found, severity=severity, opinion=opinion)


def format_opinions(model: str, opinions: Mapping[int, Opinion], *, left_out: int, fault: str) -> str:
    """What came of asking, as sentences: `claude-x gave an opinion on 3 findings: 2 planted, 1 honest.`"""
    counts = Counter(opinion.verdict for opinion in opinions.values())
    parts = []
    if opinions:
        each = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items()))
        parts.append(f"{model} gave an opinion on {format_count(len(opinions), 'finding')}: {each}.")
    if fault:
        parts.append(f"{'Others have none' if opinions else 'No opinion was given'}: {fault}")
    elif not opinions:
        parts.append("No model was asked: no finding rests on wording.")
    if left_out:
        most = f"a model is asked about {MOST_CANDIDATES} at most"
        parts.append(f"{format_count(left_out, 'finding')} more {'has' if left_out == 1 else 'have'} none: {most}.")
    return " ".join(parts)
