"""What an audit costs and how often it is right: precision and recall on the test corpus, and what a detector takes."""

import time
from collections.abc import Callable, Iterable, Iterator

from memtui.notes.planted import planted
from memtui.notes.secrets import secrets
from memtui.notes.spots import Spot
from tests.audit.corpus import clean_notes
from tests.audit.corpus.accuracy import accuracy
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


def detectors() -> Iterator[Row]:
    """What each detector takes over 2 KB."""
    pieces = _pieces()
    looks: tuple[tuple[str, Callable[[str], Iterator[Spot]]], ...] = (
        ("secrets", secrets),
        ("planted", lambda text: planted(text, "a.md")),
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
