"""Which notes changed lately, and who changed them, from the events."""

from collections.abc import Iterator

from memtui.core.events import EntryKind, Version, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import is_shown
from memtui.journal.chain import decode_actor, decode_body, decode_version
from memtui.knowledge.source import History

_FOUND = "found"
_EVENTS = 1_000


@dataclass(frozen=True, slots=True)
class RecentChange:
    """The last change of a note within a time.

    Attributes:
        path: Relative to the folder.
        seq: The number of the event.
        at_us: When it happened, in microseconds since 1970; of a file that memtui first saw, when it was last written.
        actor_name: Who made it, as shown.
        command: Such as `create`.
        count: How many changes of it there were within the time, this one included.
        is_deleted: Whether it went with the last one.
    """

    path: str
    seq: int
    at_us: int
    actor_name: str
    command: str
    count: int
    is_deleted: bool


def find_recent(history: History, head: int, *, since_us: int = 0, by: str = "") -> list[RecentChange]:
    """The notes that changed, the last one first.

    Args:
        head: The number of the last event.
        since_us: Since when, in microseconds since 1970.
        by: The beginning of the name of who changed them, in any case; empty for anybody. `you` and `outside` as well.
    """
    found: dict[str, RecentChange] = {}
    wanted = by.casefold()
    for seq, at_us, name, command, path, after in _iter_changes(history, head):
        known = found.get(path)
        if at_us < since_us or (wanted and not name.casefold().startswith(wanted)):
            continue
        count = known.count + 1 if known is not None else 1
        found[path] = RecentChange(path, seq, at_us, name, command, count, after is None)
    return sorted(found.values(), key=lambda each: (-each.at_us, -each.seq, each.path))


def find_changed_us(history: History, head: int) -> dict[str, int]:
    """When each file changed last, in microseconds since 1970."""
    return {path: at_us for _, at_us, _, _, path, after in _iter_changes(history, head) if after is not None}


def _iter_changes(history: History, head: int) -> Iterator[tuple[int, int, str, str, str, Version | None]]:
    """All changes of files: event, time, actor, command, path, version."""
    seq = 0
    while seq < head and (page := history.iter_bodies(seq, limit=_EVENTS)):
        for number, body in page:
            if b'"changes":' not in body:
                continue
            record = decode_body(body)
            name = format_actor_name(decode_actor(record["actor"]))
            command = record.get("command", "")
            for path, before, after in record["changes"]:
                version = decode_version(after)
                kind = (after or before or [""])[0]
                is_moved_away = after is None and "new_path" in record
                if kind == EntryKind.FILE and is_shown(path) and not is_moved_away:
                    at_us = _get_time(record["at_us"], command, version)
                    yield number, at_us, name, command, path, version
        seq = page[-1][0]


def _get_time(at_us: int, command: str, version: Version | None) -> int:
    """When a change happened: what was there before the first look was written before it."""
    if command != _FOUND or version is None or version.attributes.mtime_ns is None:
        return at_us
    return min(at_us, version.attributes.mtime_ns // 1_000)
