"""Resolving what was changed on both sides: merged as the editor merges, or a conflict that loses nothing."""

from typing import NamedTuple

from memtui.core.hashing import hash_bytes
from memtui.core.merge import MergeSide, merge_texts, merge_without_base

_MOST_BYTES = 1_000_000
"""Of a text that is merged."""
_HASH_CHARACTERS = (8, 16, 64)


class Resolution(NamedTuple):
    """The bytes for both sides, and whether the folder's own have to be kept elsewhere."""

    data: bytes
    is_conflict: bool


def resolve(base: bytes | None, folder: bytes, source: bytes) -> Resolution:
    """Merge two changed notes. Where both changed the same lines, the source's stand.

    Args:
        base: What both were before; `None` if that is not known.
    """
    old, mine, theirs = _decode(base), _decode(folder), _decode(source)
    if mine is None or theirs is None or max(len(folder), len(source)) > _MOST_BYTES:
        return Resolution(source, True)
    result = merge_without_base(mine, theirs) if old is None else merge_texts(old, mine, theirs)
    if result.is_clean:
        return Resolution(result.text.encode(), False)
    return Resolution(result.resolve([MergeSide.THEIRS] * len(result.conflicts)).encode(), True)


def name_conflict_notes(path: str, data: bytes) -> list[str]:
    """The names of a note that keeps one side's bytes, beside the note: the same bytes have the same names."""
    directory, slash, name = path.rpartition("/")
    stem, dot, end = name.rpartition(".")
    if not stem:
        stem, dot, end = name, "", ""
    return [f"{directory}{slash}{stem}.conflict-{hash_bytes(data)[:count]}{dot}{end}" for count in _HASH_CHARACTERS]


def _decode(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
