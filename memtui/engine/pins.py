"""What a person has pinned: recorded by events, and taken along with what was moved since.

Pins are paths, and memories are renamed: by the person, by agents, also while no window is open. So what is recorded
says up to which event it is true, and whoever reads it follows the moves from there. Reading changes nothing.
"""

import json
from collections.abc import Sequence

from memtui.core.events import Actor, Event
from memtui.core.guards import PINS
from memtui.core.paths import MemoryPath
from memtui.core.wording import format_count
from memtui.engine.lineage import find_moves
from memtui.engine.moves import find_common_directory
from memtui.engine.observer import Observer
from memtui.journal.chain import decode_event

_PAGE = 2_000
_MOVED = (b'"new_path":', b'"moved":')


def load_pins(observer: Observer) -> tuple[str, ...]:
    """The pinned paths as they are called now. Reads the journal: from a thread."""
    paths, after = _decode_pins(observer.get_metadata(PINS))
    while paths and (page := observer.history.iter_bodies(after, limit=_PAGE)):
        for _, body in page:
            if any(word in body for word in _MOVED):
                event = decode_event(body, answer=None, arguments=None, hash=b"")
                if not event.is_error:
                    paths = _follow_moves(paths, {old: new for new, old in find_moves(event).items()})
        after = page[-1][0]
    return paths


def make_pin_event(before: Sequence[str], pins: Sequence[str], seq: int, actor: Actor, at_us: int) -> Event:
    """The event that replaces pins, as they are called after event number `seq`."""
    changed = sorted(set(pins) ^ set(before)) or list(pins)
    return Event(
        at_us=at_us,
        actor=actor,
        command="unpin" if set(pins) < set(before) else "pin",
        path=str(MemoryPath.from_relative(changed[0] if len(changed) == 1 else find_common_directory(changed))),
        no_change=True,
        note=format_count(len(changed), "path") if len(changed) > 1 else "",
        noted=((PINS, encode_pins(pins, seq)),),
    )


def encode_pins(paths: Sequence[str], seq: int) -> str:
    return json.dumps({"pins": list(paths), "seq": seq})


def _decode_pins(kept: str | None) -> tuple[tuple[str, ...], int]:
    try:
        fields = json.loads(kept or "{}")
        return tuple(map(str, fields["pins"])), int(fields["seq"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return (), 0


def _follow_moves(paths: tuple[str, ...], moved: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(moved.get(path, path) for path in paths))
