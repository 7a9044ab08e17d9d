"""What an audit found to be in order, in a few words each: a report that only tells what is wrong leaves it open
whether the rest was looked at.
"""

from collections.abc import Collection, Iterator, Mapping

from memtui.audit import own
from memtui.audit.audit import Chain, Passed
from memtui.audit.findings import Family
from memtui.audit.report.words import counted, size
from memtui.audit.rule import Rule
from memtui.audit.subject import Subject
from memtui.core.paths import ROOT_NAME
from memtui.notes.index import is_index

_OWN = frozenset(rule.id for rule in own.RULES)
_FORMAT = (
    "not-utf8",
    "unreadable",
    "broken-json",
    "broken-yaml",
    "broken-toml",
    "broken-xml",
    "broken-front-matter",
)
_INDEX = ("long-index", "index-entry-missing", "not-in-index")


def passed(
    rules: Mapping[str, Rule], subject: Subject, chain: Chain, ran: Collection[str], found: Collection[str]
) -> tuple[Passed, ...]:
    """What is in order.

    Args:
        rules: All there are, by id.
        subject: The folder.
        chain: What is known of the journal.
        ran: The ids of the rules that ran, and came to their end.
        found: The ids of the rules that found something, also if that is excepted.
    """
    return tuple(_passed(rules, subject, chain, frozenset(ran), frozenset(found)))


def _passed(
    rules: Mapping[str, Rule], subject: Subject, chain: Chain, ran: frozenset[str], found: frozenset[str]
) -> Iterator[Passed]:
    def holds(*names: str) -> bool:
        """Whether rules ran, all of them that there are, and found nothing."""
        there = [name for name in names if name in rules]
        return bool(there) and ran.issuperset(there) and found.isdisjoint(there)

    files = counted(len(subject.notes), "file")
    on_family = {family: _of(rules.values(), family, ran) for family in Family}
    if holds(*on_family[Family.SECRET]):
        yield Passed(Family.SECRET, "secrets", f"none known in {files}")
    if holds(*on_family[Family.HIDDEN]):
        yield Passed(Family.HIDDEN, "hidden", f"nothing hidden in {files}")
    if holds(*on_family[Family.PLANTED]):
        yield Passed(Family.PLANTED, "planted", f"nothing that looks planted in {files}")
    if holds("link-leaves"):
        yield Passed(Family.INTEGRITY, "paths", f"no link leaves {ROOT_NAME}")
    if holds(*_FORMAT):
        count = len(subject.notes)
        yield Passed(Family.INTEGRITY, "format", f"{count:,} of {count:,} parse")
    if holds("over-limit"):
        largest = max((note.size for note in subject.notes.values()), default=0)
        yield Passed(Family.INTEGRITY, "size", f"largest file {size(largest)}")
    if chain.state == "intact" and holds("chain-broken"):
        yield Passed(Family.INTEGRITY, "journal", chain.words)
    if chain.state == "intact" and holds("outside-change"):
        yield Passed(Family.INTEGRITY, "outside", "no change that memtui has not recorded")
    if holds("stale"):
        yield Passed(Family.UPKEEP, "stale", f"all read or changed in the last {subject.audit.stale_days} days")
    if holds("dead-link"):
        yield Passed(Family.UPKEEP, "links", "every link leads to something")
    if holds("duplicate", "near-duplicate"):
        yield Passed(Family.UPKEEP, "duplicates", "no two notes say the same")
    if holds("contradiction"):
        yield Passed(Family.UPKEEP, "values", "no key has two values")
    if holds(*_INDEX) and any(map(is_index, subject.notes)):
        yield Passed(Family.UPKEEP, "index", "it loads whole, and names what is there")
    repository = subject.repository
    if repository is not None and repository.files and holds(*on_family[Family.CLAIMS]):
        words = "the repository has what the notes name"
        if not repository.has_history:
            words += ", as far as can be told without its history"
        yield Passed(Family.CLAIMS, "claims", words)


def _of(rules: Collection[Rule], family: Family, ran: Collection[str]) -> tuple[str, ...]:
    """The rules of a family that ran; none if one of those that are on by default did not."""
    mine = [rule for rule in rules if rule.family is family and rule.id not in _OWN]
    if any(rule.is_on and rule.id not in ran for rule in mine):
        return ()
    return tuple(rule.id for rule in mine if rule.id in ran)
