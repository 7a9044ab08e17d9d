"""The order of findings, by danger, and the groups of those that have one cause: reports and the screen show both."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cached_property, partial

from memtui.audit.model import CERTAINTIES, AuditFinding, Family
from memtui.core.events import Outside, Person, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count

_FAMILIES = (
    Family.SECRET,
    Family.PLANTED,
    Family.HIDDEN,
    Family.INTEGRITY,
    Family.COVERAGE,
    Family.CLAIMS,
    Family.UPKEEP,
)
_PERSON, _OUTSIDE = format_actor_name(Person()), format_actor_name(Outside())


def rank_by_danger(finding: AuditFinding) -> tuple[int | str, ...]:
    """What findings are sorted by: the most dangerous first.

    1. Severity, since it is what the settings say that matters.
    2. Family. A secret is lost to whoever reads it, and no later edit brings it back; planted instructions act in the
       next session; hidden text may be either. Then what makes the record or the audit itself unreliable, and last what
       misleads (claims) or is only untidy (upkeep).
    3. Certainty: what is surely so comes before what may be.
    4. Provenance: what an agent wrote, or came from outside memtui just now, before what is older or of unknown origin,
       and that before what the person wrote.
    5. Exposure: a note that every session loads comes before one that has to be looked up.

    Equally dangerous ones are in the order of their places.
    """
    from memtui.notes.memory_index import is_auto_loaded  # noqa: PLC0415 - first paint: there is no finding yet

    place = finding.location
    return (
        finding.severity.rank,
        _FAMILIES.index(finding.family),
        CERTAINTIES.index(finding.certainty),
        _rank_provenance(finding),
        0 if is_auto_loaded(place.path) else 1,
        place.path,
        place.line or 0,
        finding.rule,
        place.column or 0,
    )


def _rank_provenance(finding: AuditFinding) -> int:
    actor, is_recorded = finding.origin.actor, finding.origin.seq is not None
    if actor == _PERSON:
        return 2
    return 1 if not actor or (actor == _OUTSIDE and is_recorded) else 0


# Groups: findings with one cause are shown as one.


class Cause(StrEnum):
    """What findings of one rule have in common. Of several, the first here counts."""

    VALUE = "value"
    """The same secret."""
    DIRECTORY = "directory"
    """What they name is below one directory that is not there, unless several such went with one commit."""
    COMMIT = "commit"
    """What they name went away with one commit."""
    FILE = "file"
    """They are in one file."""
    EVENT = "event"
    """One actor brought them in at one moment; what came from outside, at one look."""
    RULE = "rule"
    """The same is so of several notes, and one sitting settles it."""


_FEWEST = {Cause.VALUE: 2, Cause.DIRECTORY: 2, Cause.COMMIT: 2, Cause.FILE: 6, Cause.EVENT: 6, Cause.RULE: 2}
"""Findings that make a group; fewer are told one by one."""
_MANY_DIRECTORIES = 3
_COMMIT = "gone_in"
GONE = "gone_directory"
"""The fact that names the highest directory that is not there, above what a finding says is not."""
ALIKE = "begins"
"""The fact that says how the text of a finding begins, where only texts that begin alike are of one kind."""
SHOWN = 3
"""Findings of a group that are shown while it is not opened."""


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one rule with one cause, or a single finding.

    Attributes:
        id: 16 hexadecimal digits, the same in each audit while the cause is (of a secret, while the finding with the
            lowest fingerprint is); empty for a single finding.
        findings: The most dangerous first.
    """

    findings: tuple[AuditFinding, ...]
    cause: Cause | None = None
    id: str = ""

    @property
    def worst(self) -> AuditFinding:
        return self.findings[0]

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all its findings are told in the same words."""
        return len({each.words for each in self.findings}) == 1

    @cached_property
    def words(self) -> str:
        """What they have in common, as one sentence without a full stop; empty for a single finding."""
        return "" if self.cause is None else _DESCRIPTIONS[self.cause](self)

    @property
    def label(self) -> str:
        """The same in a few words, behind the number of findings; empty for a single finding."""
        match self.cause:
            case Cause.VALUE:
                return "of one value"
            case Cause.DIRECTORY:
                return f"below {to_one_line(_get_fact(GONE, self.worst))}/"
            case Cause.COMMIT:
                return f"deleted with {to_one_line(_get_fact(_COMMIT, self.worst))}"
            case Cause.FILE:
                return f"in {to_one_line(self.worst.location.path)}"
            case Cause.EVENT:
                return f"at once, {_format_actor(self.worst)}"
            case Cause.RULE:
                return "of one kind"
            case None:
                return ""


def group_findings(findings: Sequence[AuditFinding]) -> list[FindingGroup]:
    """All findings, those with one cause together, each group where its first finding is.

    Args:
        findings: In the order in which they are shown.
    """
    remaining = list(range(len(findings)))
    groups: dict[int, FindingGroup] = {}
    moved = _find_moves(findings)
    for cause in Cause:
        by_key: dict[tuple[str, str], list[int]] = {}
        for at in remaining:
            if (key := _KEYS[cause](findings[at])) and not (
                cause is Cause.DIRECTORY and (findings[at].rule, _get_fact(_COMMIT, findings[at])) in moved
            ):
                by_key.setdefault((findings[at].rule, key), []).append(at)
        taken: set[int] = set()
        for (rule, key), members in by_key.items():
            if len(members) >= _FEWEST[cause]:
                mine = tuple(findings[at] for at in members)
                # Nothing may be guessed from an id, so a secret's is that of a finding.
                name = min(each.fingerprint for each in mine) if cause is Cause.VALUE else key
                groups[members[0]] = FindingGroup(mine, cause, _compute_id(rule, cause, name))
                taken.update(members)
        remaining = [at for at in remaining if at not in taken]
    groups |= {at: FindingGroup((findings[at],)) for at in remaining}
    return [groups[at] for at in sorted(groups)]


def _find_moves(findings: Sequence[AuditFinding]) -> set[tuple[str, str]]:
    """The rules and commits of findings below many directories that went at once: one cause, and not one of each."""
    directories: dict[tuple[str, str], set[str]] = {}
    for each in findings:
        if (commit := _get_fact(_COMMIT, each)) and (directory := _get_fact(GONE, each)):
            directories.setdefault((each.rule, commit), set()).add(directory)
    return {move for move, below in directories.items() if len(below) >= _MANY_DIRECTORIES}


def _compute_id(*parts: str) -> str:
    import hashlib  # noqa: PLC0415 - first paint: opens OpenSSL

    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _get_fact(name: str, finding: AuditFinding) -> str:
    return str(finding.facts.get(name, ""))


def _get_event_key(finding: AuditFinding) -> str:
    origin = finding.origin
    if not origin.is_known:
        return ""
    if origin.seq is None:
        return f"{origin.actor} just now"
    return f"{origin.actor} {origin.at_us}" if origin.is_exact and origin.at_us is not None else ""


def _get_rule_key(finding: AuditFinding) -> str:
    return finding.among and f"{finding.among} {_get_fact(ALIKE, finding)}"


_KEYS: dict[Cause, Callable[[AuditFinding], str]] = {
    Cause.VALUE: lambda finding: finding.secret,
    Cause.DIRECTORY: partial(_get_fact, GONE),
    Cause.COMMIT: partial(_get_fact, _COMMIT),
    Cause.FILE: lambda finding: finding.location.path,
    Cause.EVENT: _get_event_key,
    Cause.RULE: _get_rule_key,
}


def _describe_value(group: FindingGroup) -> str:
    places = format_count(len(group.findings), "place")
    return f"{group.worst.words}; the same one in {places} of {_count_notes(group)}"


def _describe_directory(group: FindingGroup) -> str:
    return f"{_format_naming(group)} paths below {to_one_line(_get_fact(GONE, group.worst))}/, which does not exist"


def _describe_commit(group: FindingGroup) -> str:
    commit, day = (to_one_line(_get_fact(name, group.worst)) for name in (_COMMIT, "gone_on"))
    return f"{_format_naming(group)} paths deleted by commit {commit}{f' of {day}' if day else ''}"


def _describe_file(group: FindingGroup) -> str:
    return f"{_format_finding(group)} in {len(group.findings):,} places of {to_one_line(group.worst.location.path)}"


def _describe_event(group: FindingGroup) -> str:
    return f"{_format_finding(group)} in {_count_notes(group)}, all at once, {_format_actor(group.worst)}"


def _describe_rule(group: FindingGroup) -> str:
    return group.worst.among.format(count=f"{len(group.findings):,}")


def _count_notes(group: FindingGroup) -> str:
    return format_count(len({each.location.path for each in group.findings}), "note")


def _format_naming(group: FindingGroup) -> str:
    notes = _count_notes(group)
    return f"{notes} {'names' if notes == '1 note' else 'name'}"


def _format_finding(group: FindingGroup) -> str:
    return f"{group.worst.words}," if group.is_uniform else "found"


def _format_actor(finding: AuditFinding) -> str:
    actor = finding.origin.actor
    return "by another program" if actor == _OUTSIDE else f"by {to_one_line(actor)}"


_DESCRIPTIONS: dict[Cause, Callable[[FindingGroup], str]] = {
    Cause.VALUE: _describe_value,
    Cause.DIRECTORY: _describe_directory,
    Cause.COMMIT: _describe_commit,
    Cause.FILE: _describe_file,
    Cause.EVENT: _describe_event,
    Cause.RULE: _describe_rule,
}
