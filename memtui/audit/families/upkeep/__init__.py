"""Upkeep: notes that nobody reads, say the same twice, contradict each other, lead nowhere, or are too long to load."""

from collections.abc import Iterator
from types import ModuleType

from memtui.audit.families.upkeep import contradictions, duplicates, indexes, links, sizes, stale
from memtui.audit.findings import Hit
from memtui.audit.rule import Rule
from memtui.audit.subject import Note, Subject

RULES: tuple[Rule, ...] = (
    *stale.RULES,
    *duplicates.RULES,
    *contradictions.RULES,
    *links.RULES,
    *indexes.RULES,
    *sizes.RULES,
)


def in_note(note: Note, subject: Subject) -> Iterator[Hit]:
    """What is found in one note."""
    yield from sizes.in_note(note, subject)


def across(subject: Subject) -> Iterator[Hit]:
    """What is found in the folder as a whole."""
    if subject.wants(*_ids(stale)):
        yield from stale.across(subject)
    if subject.wants(*_ids(duplicates)):
        yield from duplicates.across(subject)
    if subject.wants(*_ids(contradictions)):
        yield from contradictions.across(subject)
    if subject.wants(*_ids(links), *_ids(indexes)):
        linked = links.linked(subject)
        yield from links.across(subject, linked)
        yield from indexes.across(subject, linked)
    yield from sizes.across(subject)


def _ids(part: ModuleType) -> tuple[str, ...]:
    return tuple(rule.id for rule in part.RULES)
