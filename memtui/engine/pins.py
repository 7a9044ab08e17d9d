"""What a person has pinned: kept beside the record, and taken along with what was moved since.

Pins are paths, and memories are renamed: by the person, by agents, also while no window is open. So what is kept says
up to which event it is true, and whoever reads it follows the moves from there. Reading changes nothing.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memtui.engine.lineage import find_moves
from memtui.engine.observer import Observer
from memtui.journal.chain import decode_event

NOTE = "pins"
_PAGE = 2_000
_MOVED = (b'"new_path":', b'"moved":')


@dataclass(frozen=True, slots=True)
class Pins:
    """What is pinned: the paths as they are called now, as they are kept, and how many events came since that."""

    paths: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    behind: int = 0


def load_pins(observer: Observer) -> Pins:
    """What is pinned now. Reads the journal: from a thread."""
    kept, seq = _decode_pins(observer.get_metadata(NOTE))
    if not kept:
        return Pins()
    paths, after = kept, seq
    while page := observer.history.iter_bodies(after, limit=_PAGE):
        for _, body in page:
            if any(word in body for word in _MOVED):
                event = decode_event(body, answer=None, arguments=None, hash=b"")
                if not event.is_error:
                    paths = _follow_moves(paths, {old: new for new, old in find_moves(event).items()})
        after = page[-1][0]
    return Pins(paths, kept, after - seq)


def encode_pins(paths: Iterable[str], seq: int) -> str:
    return json.dumps({"pins": list(paths), "seq": seq})


def _decode_pins(kept: str | None) -> tuple[tuple[str, ...], int]:
    try:
        fields = json.loads(kept or "{}")
        return tuple(map(str, fields["pins"])), int(fields["seq"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return (), 0


def _follow_moves(paths: tuple[str, ...], moved: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(moved.get(path, path) for path in paths))
