"""Instructions that somebody may have planted for the model. Warnings only: a filter of patterns is no gate.

What is told is what an honest note has no reason for; each finding says its reason. What helps against the rest is to
see who wrote a note, to approve what changed, and to undo it quickly.
"""

from collections.abc import Iterator
from dataclasses import replace

from memtui.audit.context import AuditContext, Note
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.audit.ranking import ALIKE
from memtui.audit.rules import orders
from memtui.core.unicode import to_one_line
from memtui.scan.injection import find_injections

_ALIKE = 400  # characters of what was found by which it is known in other notes

RULES: tuple[AuditRule, ...] = (*read_rules("injection"), *orders.RULES)


def check_note(note: Note, subject: AuditContext) -> Iterator[Hit]:
    """Possible injections in one note; each rule reports a place once."""
    del subject
    if note.text is None:
        return
    seen: set[tuple[str, int]] = set()
    for spot in find_injections(note.text, note.path):
        if (spot.rule, spot.start) not in seen:
            seen.add((spot.rule, spot.start))
            alike = to_one_line(note.text[spot.start : spot.end][:_ALIKE])
            yield replace(Hit.from_spot(spot, note.path), facts={ALIKE: alike})


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """Orders for every session to come that did not come from the person."""
    yield from orders.find_strange_orders(subject)
