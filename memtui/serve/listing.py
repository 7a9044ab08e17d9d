"""Lists, page by page: of memories by prefix and depth, of versions newest first, of stores."""

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from memtui.core.lazy_dataclass import dataclass
from memtui.serve.errors import make_invalid
from memtui.serve.index import MemoryIndex, VersionRow
from memtui.serve.render import Json, render_actor, render_memory, render_prefix, render_version
from memtui.serve.store import OpenStore

DEFAULT_LIMIT, MOST_LIMIT, MOST_FULL = 20, 100, 20
_LONGEST_CURSOR = 4_096
_LAST = "\U0010ffff"
_AT_ONCE = 128
"""Memories of which it is found out at once whether they are text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """Which page of a list.

    Attributes:
        limit: Most items.
        is_full: Whether with content.
        cursor: What the page before said; `None` for the first one.
    """

    limit: int = DEFAULT_LIMIT
    is_full: bool = False
    cursor: "str | int | None" = None

    @property
    def size(self) -> int:
        return min(self.limit, MOST_FULL) if self.is_full else self.limit


def encode_cursor(value: "str | int") -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def decode_cursor(given: str, kind: type) -> "str | int":
    """What a `next_page` says; raises `ApiError` for one that no list of this kind gave."""
    try:
        if len(given) > _LONGEST_CURSOR:
            raise ValueError(given[:1])
        value: object = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        value = None
    if type(value) is kind and (isinstance(value, str) or (isinstance(value, int) and 0 <= value < 2**62)):
        return value
    raise make_invalid("page: it is not the next_page of an answer before.")


def list_memories(store: OpenStore, prefix: str, depth: int, page: PageRequest) -> Json:
    """Memories below a prefix (relative; empty or ending with a slash), at any depth (0) or the direct ones (1)."""
    found = _iter_items(store.index, prefix, depth, page.cursor if isinstance(page.cursor, str) else None)
    items = list(islice(found, page.size + 1))
    shown = items[: page.size]
    rows = [item for item in shown if isinstance(item, VersionRow)]
    texts = store.index.load_texts(rows) if page.is_full else {}
    data = [
        render_prefix(item) if isinstance(item, str) else render_memory(item, store.id, texts.get(item.sha256 or ""))
        for item in shown
    ]
    last = shown[-1] if len(items) > len(shown) else None
    return {"data": data, "next_page": None if last is None else encode_cursor(_get_key(last))}


def _get_key(item: VersionRow | str) -> str:
    return item if isinstance(item, str) else item.path


def _iter_items(index: MemoryIndex, prefix: str, depth: int, after: str | None) -> Iterator[VersionRow | str]:
    """The current versions of memories, and in place of deeper ones their directories, in the order of their paths."""
    while True:
        start = after + _LAST if after is not None and after.endswith("/") else after
        paths = list(islice(index.iter_live(prefix, start), _AT_ONCE))
        if not paths:
            return
        rows = [memory.current for path in paths if (memory := index.find_at(path)) is not None]
        index.find_unread(rows)
        for row in rows:
            if after is not None and after.endswith("/") and row.path.startswith(after):
                continue
            if not index.is_text(row):
                after = row.path
                continue
            rest = row.path[len(prefix) :]
            if depth and "/" in rest:
                after = prefix + rest[: rest.index("/") + 1]
                yield after
            else:
                after = row.path
                yield row
        if after is None or not after.endswith("/"):
            after = paths[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFilter:
    """Which versions are wanted; `None` for any. Times are in microseconds since 1970."""

    memory_id: str | None = None
    operation: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    actors: Sequence[tuple[str, str]] = ()
    """Fields of the actor with their values, such as `("api_key_id", "apikey_planner")`."""

    def admits(self, row: VersionRow, index: MemoryIndex) -> bool:
        if self.operation is not None and row.operation != self.operation:
            return False
        if self.since_us is not None and row.at_us < self.since_us:
            return False
        if self.until_us is not None and row.at_us > self.until_us:
            return False
        actor = render_actor(index.get_actor(row)) if self.actors else None
        return all(actor is not None and actor.get(name) == value for name, value in self.actors)


def list_versions(store: OpenStore, wanted: VersionFilter, page: PageRequest) -> Json:
    """Versions, newest first."""
    index, before = store.index, page.cursor if isinstance(page.cursor, int) else None
    found = (row for row in index.iter_versions(wanted.memory_id, before) if wanted.admits(row, index))
    rows = list(islice(found, page.size + 1))
    shown = rows[: page.size]
    texts = index.load_texts(shown) if page.is_full else {}
    data = [render_version(row, store.id, index, texts.get(row.sha256 or "")) for row in shown]
    return {"data": data, "next_page": encode_cursor(shown[-1].number) if len(rows) > len(shown) else None}


def list_page(items: Sequence[Json], page: PageRequest, get_key: Callable[[Json], str]) -> Json:
    """A page of items in the order of falling keys."""
    rest = [item for item in items if page.cursor is None or get_key(item) < str(page.cursor)]
    shown = rest[: page.size]
    return {"data": shown, "next_page": encode_cursor(get_key(shown[-1])) if len(rest) > len(shown) else None}
