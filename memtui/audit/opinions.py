"""What a model is asked about findings that rest on wording, and what its opinions make of an audit.

An opinion is a field of a finding. It adds no finding and removes none; it changes a severity only where asked to.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from memtui.audit.masking import mask_message
from memtui.audit.model import CERTAINTIES, Audit, AuditFinding, Family, Opinion, Severity
from memtui.audit.ranking import rank_by_danger
from memtui.audit.registry import list_rules
from memtui.core.events import Outside, Person, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.notes.formats import detect_format

if TYPE_CHECKING:  # start-up: loads what talks to a server
    from memtui.agents.opinions import OpinionAnswers, OpinionCache

MOST_CANDIDATES = 200
"""Findings that a model is asked about in one audit, the most dangerous first."""
_UNCERTAIN = CERTAINTIES[CERTAINTIES.index("high") + 1 :]
_NOT_OF_WORDING = (Family.SECRET, Family.CLAIMS)
_KINDS = {"": "unknown", format_actor_name(Outside()): "outside", format_actor_name(Person()): "person"}


DISAGREED = "Not sent: you declined."


class OpinionAsker(Protocol):
    """Asks a model about passages.

    Attributes:
        model: `None` for the newest.
        alone: Whether each passage is judged by itself.
    """

    model: str | None
    alone: bool

    @property
    def provider(self) -> str:
        """Where the model is."""

    @property
    def cache(self) -> "OpinionCache":
        """The opinions that are kept."""

    def ask(self, passages: Sequence[Mapping[str, str]], progress: Callable[[int, int], None]) -> "OpinionAnswers":
        """Ask about those on which the cache has no opinion; may take minutes."""


@dataclass(frozen=True, slots=True)
class OpinionRequest:
    """What a model is asked about the findings of an audit.

    Attributes:
        passages: What is sent of each candidate.
        unsent: The numbers of those on which no opinion is kept: these would be sent.
        left_out: Candidates beyond the most that are asked about.
    """

    candidates: Sequence[AuditFinding]
    passages: Sequence[Mapping[str, str]]
    unsent: Sequence[int]
    left_out: int


def prepare_request(audit: Audit, asker: OpinionAsker) -> OpinionRequest:
    """What would be asked, and how much of it sent."""
    found = find_candidates(audit)
    candidates = found[:MOST_CANDIDATES]
    passages = list(describe_candidates(audit, candidates))
    known = asker.cache.find(passages, asker.model, alone=asker.alone) if asker.model and passages else {}
    unsent = [number for number in range(len(passages)) if number not in known]
    return OpinionRequest(candidates, passages, unsent, len(found) - len(candidates))


def describe_request(request: OpinionRequest, asker: OpinionAsker) -> str:
    """What would be sent where, as a sentence, for the person who has to agree."""
    sent = [request.passages[number] for number in request.unsent]
    size = sum(len(value) for passage in sent for value in passage.values())
    most = "" if asker.model else "at most "
    where = f"{to_one_line(asker.model or 'the newest model')} of {asker.provider}"
    return (
        f"To send to {where}: {most}{format_count(len(sent), 'passage')} of notes, {size:,} characters, "
        "with secrets masked and without names of files."
    )


def list_sent(request: OpinionRequest) -> Iterator[str]:
    """Every field of what would be sent, in lines."""
    for count, number in enumerate(request.unsent, 1):
        yield f"{count} of {len(request.unsent)}"
        for name, value in request.passages[number].items():
            first, *rest = value.split("\n")
            yield f"  {name}: {first}"
            yield from (f"    {line}" for line in rest)
        yield ""


def add_answers(audit: Audit, request: OpinionRequest, answers: "OpinionAnswers", *, decides: bool = False) -> Audit:
    """The audit with the answers, and with what came of asking as a sentence."""
    opinions = {
        number: Opinion(verdict, reason, answers.model, given_us=answers.given_us.get(number))
        for number, (verdict, reason) in answers.opinions.items()
    }
    words = format_opinions(to_one_line(answers.model), opinions, left_out=request.left_out, fault=answers.fault)
    return replace(add_opinions(audit, request.candidates, opinions, decides=decides), opinions=words)


def add_kept_opinions(audit: Audit, asker: OpinionAsker) -> Audit:
    """The audit with the newest opinions that were given before, of any model; nothing is sent."""
    candidates = find_candidates(audit)[:MOST_CANDIDATES]
    if not candidates:
        return audit
    kept = asker.cache.find_newest(list(describe_candidates(audit, candidates)))
    opinions = {
        number: Opinion(*each.opinion, each.model, given_us=each.given_us or None) for number, each in kept.items()
    }
    if not opinions:
        return audit
    models = ", ".join(sorted({to_one_line(each.model) for each in opinions.values()}))
    words = format_opinions(models, opinions, left_out=0, fault="")
    return replace(add_opinions(audit, candidates, opinions), opinions=words)


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
        parts.append("No model was asked: no finding depends on wording.")
    if left_out:
        most = f"a model is asked about {MOST_CANDIDATES} at most"
        parts.append(f"{format_count(left_out, 'finding')} more {'has' if left_out == 1 else 'have'} none: {most}.")
    return " ".join(parts)
