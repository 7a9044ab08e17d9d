"""The texts of versions, some at a time: a folder's together may be more than fits into memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from memtui.core import diffs
from memtui.core.events import Version
from memtui.core.snapshot import Kind
from memtui.engine import Observer

T = TypeVar("T")
_MOST_BYTES = 1_000_000
"""Bytes of the largest texts that are compared."""
_AT_ONCE = 500
"""Things whose texts are held at a time."""


class Texts:
    """The texts of versions that are held at the moment.

    Args:
        observer: The memory.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._held: dict[str, bytes] = {}

    def loaded(self, things: Sequence[T], versions: Callable[[T], Iterable[Version | None]]) -> Iterator[T]:
        """Some things, each while the texts of its versions are held.

        Args:
            things: Which.
            versions: Tells which texts of one are needed.
        """
        for start in range(0, len(things), _AT_ONCE):
            some = things[start : start + _AT_ONCE]
            wanted = {
                version.sha256
                for thing in some
                for version in versions(thing)
                if version is not None and version.sha256 and is_compared(version)
            }
            self._held = self._observer.history.texts(wanted) if wanted else {}
            yield from some

    def text(self, version: Version | None) -> str | None:
        """The text of a version; `None` where it is none, is not kept, or not held."""
        if version is None:
            return ""
        data = self._held.get(version.sha256 or "")
        if data is None or b"\0" in data:
            return None
        return data.decode("utf-8", "surrogateescape")

    def counts(self, before: Version | None, after: Version | None) -> tuple[int, int] | None:
        """How many lines were added and removed; `None` where that cannot be told."""
        if not (is_compared(before) and is_compared(after)):
            return None
        if before == after:
            return 0, 0
        old, new = self.text(before), self.text(after)
        return None if old is None or new is None else diffs.counts(old, new)


def is_compared(version: Version | None) -> bool:
    """Whether something is a file, and none that is too large for its lines to be compared; nothing is, too."""
    return version is None or (version.kind is Kind.FILE and bool(version.sha256) and version.size <= _MOST_BYTES)
