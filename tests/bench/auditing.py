"""What an audit costs and how often it is right: precision and recall on the test corpus, and what a detector takes."""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from memtui.audit.model import Family
from memtui.audit.registry import RULES
from memtui.scan.injection import find_injections
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from tests.audit import prepared
from tests.audit.corpus import clean_notes
from tests.audit.corpus.accuracy import accuracy
from tests.audit.labelled import accuracy_of_hidden, accuracy_of_integrity
from tests.audit.test_acceptance import audit, by_rule
from tests.bench.auditing_speed import speed
from tests.bench.memories import Memories
from tests.bench.table import Row, middle, within

_NOTE_BYTES = 2_000
_ROUNDS = 5
LIMITS = {"secret": (0.99, 0.99), "planted": (0.97, 0.95)}
"""Precision and recall, at least; the same as `tests/audit/test_precision.py` holds the rules to."""
A_NOTE = {"secrets": 0.0005, "planted": 0.001}
"""Seconds that a detector may take over 2 KB of a note, on a machine that has other work too."""


def measure(memories: Memories) -> Iterable[Row]:
    """All of it."""
    yield from right_and_wrong()
    yield from whole_folders()
    yield from detectors()
    yield from speed(memories)


def right_and_wrong() -> Iterator[Row]:
    """Precision and recall of each family that looks at one text."""
    for measured in accuracy():
        precision, recall = LIMITS[measured.family]
        labelled = measured.right + measured.missed
        yield Row(
            f"audit: {measured.family}, precision",
            f"{measured.precision:.3f} ({measured.alarmed} of {measured.clean} clean notes told)",
            target=f"≥ {precision:g}",
            missed=measured.precision < precision,
        )
        yield Row(
            f"audit: {measured.family}, recall",
            f"{measured.recall:.3f} ({measured.right} of {labelled})",
            target=f"≥ {recall:g}",
            missed=measured.recall < recall,
        )

    for family, labelled in (("hidden", accuracy_of_hidden()), ("integrity", accuracy_of_integrity())):
        wrong = f"{labelled.wrong} of {labelled.clean} clean notes told"
        yield Row(f"audit: {family}, precision", f"{labelled.precision:.3f} ({wrong})")
        every = labelled.right + labelled.missed
        yield Row(f"audit: {family}, recall", f"{labelled.recall:.3f} ({labelled.right} of {every})")


def whole_folders() -> Iterator[Row]:
    """How many rules of each family name what was prepared for them, and what they say of a folder that is in order.

    For families that look at a folder as a whole there is nothing finer to count.
    """
    wanted: dict[Family, int] = {}
    named: dict[Family, int] = {}
    with tempfile.TemporaryDirectory(prefix="memtui-bench-") as place:
        for made in prepared.prepare(Path(place)):
            found = by_rule(audit(made))
            for rule, path in made.wanted.items():
                family = RULES[rule].family
                wanted[family] = wanted.get(family, 0) + 1
                named[family] = named.get(family, 0) + (path in found.get(rule, ()))
        alarms = by_rule(audit(prepared.clean(Path(place), clean_notes())))
    for family, count in wanted.items():
        wrong = sum(len(paths) for rule, paths in alarms.items() if RULES[rule].family is family)
        said = f"{named[family]} of {count} prepared are named; {wrong} told of {len(clean_notes())} clean notes"
        yield Row(f"audit: {family.value}, whole folders", said, missed=bool(wrong) or named[family] < count)


def detectors() -> Iterator[Row]:
    """What each detector takes over 2 KB."""
    pieces = _pieces()
    looks: tuple[tuple[str, Callable[[str], Iterator[Spot]]], ...] = (
        ("secrets", find_secrets),
        ("planted", lambda text: find_injections(text, "a.md")),
    )
    for name, look in looks:
        took = []
        for _ in range(_ROUNDS):
            began = time.process_time()
            for piece in pieces:
                for _spot in look(piece):
                    pass
            took.append((time.process_time() - began) / len(pieces))
        yield within(f"audit: {name}, 2 KB of a note", middle(took), A_NOTE[name])


def _pieces() -> list[str]:
    """The prose of the corpus in pieces of 2 KB."""
    prose = "\n".join(
        text
        for path, text in clean_notes().items()
        if path.endswith(".md") and not path.startswith(("locks", "pictures"))
    )
    return [prose[start : start + _NOTE_BYTES] for start in range(0, len(prose) - _NOTE_BYTES, _NOTE_BYTES)]
