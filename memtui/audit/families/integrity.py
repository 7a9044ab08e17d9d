"""To be written."""

from collections.abc import Iterator

from memtui.audit.findings import Hit
from memtui.audit.rule import Rule
from memtui.audit.subject import Note, Subject

RULES: tuple[Rule, ...] = ()


def in_note(note: Note, subject: Subject) -> Iterator[Hit]:
    """What is found in one note."""
    del note, subject
    yield from ()


def across(subject: Subject) -> Iterator[Hit]:
    """What is found in the folder as a whole."""
    del subject
    yield from ()
