"""What an audit costs, and what a detector takes."""

import time
from collections.abc import Callable, Iterable, Iterator

from memtui.scan.injection import find_injections
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from tests.audit.corpus import clean_notes
from tests.bench.auditing_speed import speed
from tests.bench.memories import Memories
from tests.bench.table import Row, middle, within

_NOTE_BYTES = 2_000
_ROUNDS = 5
A_NOTE = {"secrets": 0.0005, "planted": 0.001}
"""Seconds that a detector may take over 2 KB of a note, on a machine that has other work too."""


def measure(memories: Memories) -> Iterable[Row]:
    """All of it."""
    yield from detectors()
    yield from speed(memories)


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
