"""Passed checks, in a few words each: a report says what is in order too."""

from collections.abc import Collection, Mapping

from memtui.audit.context import AuditContext
from memtui.audit.model import AuditRule, ChainStatus, Family, PassedCheck
from memtui.audit.rules import self_checks
from memtui.core.paths import ROOT_NAME
from memtui.core.wording import PLAIN, format_count, format_size
from memtui.notes.memory_index import is_index

_OWN = frozenset(rule.id for rule in self_checks.RULES)
_FORMAT = ("not-utf8", "unreadable", "broken-json", "broken-yaml", "broken-toml", "broken-xml", "broken-front-matter")
_INDEX = ("long-index", "index-entry-missing", "not-in-index")


def find_passed_checks(
    rules: Mapping[str, AuditRule],
    subject: AuditContext,
    chain: ChainStatus,
    ran: Collection[str],
    found: Collection[str],
) -> tuple[PassedCheck, ...]:
    """The checks of which all rules that there are ran, and found nothing.

    Args:
        ran: The ids of the rules that ran to their end.
        found: The ids of the rules with findings, suppressed ones included.
    """
    count = len(subject.notes)
    files = format_count(count, "file")
    largest = format_size(max((note.size for note in subject.notes.values()), default=0), PLAIN)
    on_family = {family: _find_family_rules(rules.values(), family, ran) for family in Family}
    is_intact = chain.state == "intact"
    no_outside = "no change that memtui has not recorded"
    has_index = any(map(is_index, subject.notes))
    repository = subject.repository
    has_code = repository is not None and bool(repository.files)
    claims = "the repository has what the notes name"
    if has_code and not repository.has_history:  # type: ignore[union-attr]
        claims += ", as far as can be told without its history"
    checks: tuple[tuple[Family, str, Collection[str], str], ...] = (
        (Family.SECRET, "secrets", on_family[Family.SECRET], f"none known in {files}"),
        (Family.HIDDEN, "hidden", on_family[Family.HIDDEN], f"nothing hidden in {files}"),
        (Family.PLANTED, "planted", on_family[Family.PLANTED], f"nothing that looks planted in {files}"),
        (Family.INTEGRITY, "paths", ("link-leaves",), f"no link leaves {ROOT_NAME}"),
        (Family.INTEGRITY, "format", _FORMAT, f"{count:,} of {count:,} parse"),
        (Family.INTEGRITY, "size", ("over-limit",), f"largest file {largest}"),
        (Family.INTEGRITY, "journal", ("chain-broken",) if is_intact else (), chain.words),
        (Family.INTEGRITY, "outside", ("outside-change",) if is_intact else (), no_outside),
        (Family.UPKEEP, "stale", ("stale",), f"all read or changed in the last {subject.audit.stale_days} days"),
        (Family.UPKEEP, "links", ("dead-link",), "every link leads to something"),
        (Family.UPKEEP, "duplicates", ("duplicate", "near-duplicate"), "no two notes say the same"),
        (Family.UPKEEP, "values", ("contradiction",), "no key has two values"),
        (Family.UPKEEP, "index", _INDEX if has_index else (), "it loads whole, and names what is there"),
        (Family.CLAIMS, "claims", on_family[Family.CLAIMS] if has_code else (), claims),
    )  # fmt: skip
    passed: list[PassedCheck] = []
    for family, name, needed, words in checks:
        there = rules.keys() & set(needed)
        if there and there <= set(ran) and there.isdisjoint(found):
            passed.append(PassedCheck(family, name, words))
    return tuple(passed)


def _find_family_rules(rules: Collection[AuditRule], family: Family, ran: Collection[str]) -> tuple[str, ...]:
    """The rules of a family that ran; none if one of those that are on by default did not."""
    mine = [rule for rule in rules if rule.family is family and rule.id not in _OWN]
    if any(rule.is_on and rule.id not in ran for rule in mine):
        return ()
    return tuple(rule.id for rule in mine if rule.id in ran)
