"""What a person has pinned on top: kept beside the record, for every window over the same folder."""

import contextlib
from collections.abc import Callable, Iterable

from memtui.core.errors import MemtuiError
from memtui.engine import Engine, pins

_BEHIND = 1_000
"""Events by which what is kept may be behind before it is noted that nothing was moved by them."""


def pins_of(engine: Engine) -> tuple[str, ...]:
    """What is pinned now, the first one first. Reads the disk: from a worker."""
    found = pins.pins_of(engine)
    if found.paths != found.kept or found.behind > _BEHIND:
        with contextlib.suppress(MemtuiError, OSError):  # in a read-only session the next one notes it
            engine.set_note(pins.NOTE, pins.packed(found.paths, engine.head()[0]))
    return found.paths


def change_pins(engine: Engine, change: Callable[[tuple[str, ...]], Iterable[str]]) -> tuple[str, ...]:
    """Have other entries be pinned. Writes to the disk: from a worker.

    Args:
        engine: The memory.
        change: Given what is pinned now, says what shall be.

    Raises:
        MemtuiError: It cannot be kept.
    """
    seq = engine.head()[0]
    wanted = tuple(dict.fromkeys(change(pins_of(engine))))
    engine.set_note(pins.NOTE, pins.packed(wanted, seq))
    return wanted
