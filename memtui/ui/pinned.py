"""What a person has pinned on top: kept beside the record, for every window over the same folder.

Pins are paths, and memories are renamed: by the person, by agents, also while no window is open. So what is kept says
up to which event it is true, and whoever reads it first takes the pins along with what was moved since.
"""

import contextlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memtui.core.errors import MemtuiError
from memtui.engine import Engine
from memtui.ui.files.news import moved_by
from memtui.ui.files.outline import moved_path

_NAME = "pins"
_BEHIND = 1_000
"""Events by which what is kept may be behind before it is noted that nothing was moved by them."""


@dataclass(frozen=True, slots=True)
class _Kept:
    pins: tuple[str, ...] = ()
    seq: int = 0


def pins_of(engine: Engine) -> tuple[str, ...]:
    """What is pinned now, the first one first. Reads the disk: from a worker."""
    kept = _kept(engine)
    if not kept.pins:
        return ()
    pins, last = kept.pins, kept.seq
    for event in engine.events(kept.seq):
        last = event.seq
        if moves := moved_by(event):
            pins = tuple(dict.fromkeys(moved_path(pin, moves) for pin in pins))
    if pins != kept.pins or last - kept.seq > _BEHIND:
        with contextlib.suppress(MemtuiError, OSError):  # in a read-only session the next one notes it
            _keep(engine, pins, last)
    return pins


def change_pins(engine: Engine, change: Callable[[tuple[str, ...]], Iterable[str]]) -> tuple[str, ...]:
    """Have other entries be pinned. Writes to the disk: from a worker.

    Args:
        engine: The memory.
        change: Given what is pinned now, says what shall be.

    Raises:
        MemtuiError: It cannot be kept.
    """
    seq = engine.head()[0]
    pins = tuple(dict.fromkeys(change(pins_of(engine))))
    _keep(engine, pins, seq)
    return pins


def _kept(engine: Engine) -> _Kept:
    try:
        kept = json.loads(engine.note(_NAME) or "{}")
        return _Kept(tuple(map(str, kept["pins"])), int(kept["seq"]))
    except (ValueError, KeyError, TypeError):
        return _Kept()


def _keep(engine: Engine, pins: Iterable[str], seq: int) -> None:
    engine.set_note(_NAME, json.dumps({"pins": list(pins), "seq": seq}))
