"""Instructions in a note that may have been planted for the model that reads it. Heuristics: each says why."""

from collections.abc import Iterator

from memtui.notes.spots import Spot


def planted(text: str, path: str) -> Iterator[Spot]:
    """What in a text may have been planted, by rule, not in order."""
    yield from ()
