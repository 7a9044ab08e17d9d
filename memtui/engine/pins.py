"""What a person has pinned: kept beside the record, and taken along with what was moved since.

Pins are paths, and memories are renamed: by the person, by agents, also while no window is open. So what is kept says
up to which event it is true, and whoever reads it follows the moves from there. Reading changes nothing.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memtui.engine.history import moves
from memtui.engine.observing import Observer
from memtui.journal.chain import decode

NOTE = "pins"
"""The name under which they are kept."""
_PAGE = 2_000
_MOVED = (b'"new_path":', b'"moved":')


@dataclass(frozen=True, slots=True)
class Pins:
    """What is pinned.

    Attributes:
        paths: The first one first, relative to the folder, as they are called now.
        kept: The same as it is kept.
        behind: How many events came since that was kept.
    """

    paths: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    behind: int = 0


def pins_of(observer: Observer) -> Pins:
    """What is pinned now. Reads the journal: from a thread."""
    kept, seq = _unpacked(observer.note(NOTE))
    if not kept:
        return Pins()
    paths, after = kept, seq
    while page := observer.history.bodies(after, limit=_PAGE):
        for _, body in page:
            if any(word in body for word in _MOVED):
                event = decode(body, answer=None, arguments=None, hash=b"")
                if not event.is_error:
                    paths = _followed(paths, {old: new for new, old in moves(event).items()})
        after = page[-1][0]
    return Pins(paths, kept, after - seq)


def packed(paths: Iterable[str], seq: int) -> str:
    """Pins as they are kept.

    Args:
        paths: Which.
        seq: The number of the event up to which they are called so.
    """
    return json.dumps({"pins": list(paths), "seq": seq})


def _unpacked(kept: str | None) -> tuple[tuple[str, ...], int]:
    try:
        fields = json.loads(kept or "{}")
        return tuple(map(str, fields["pins"])), int(fields["seq"])
    except (ValueError, KeyError, TypeError):
        return (), 0


def _followed(paths: tuple[str, ...], moved: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(moved.get(path, path) for path in paths))
