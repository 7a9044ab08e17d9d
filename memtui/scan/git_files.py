"""The files in which git keeps what was committed: compressed, and named or closed by a checksum of their content.

A file is one by its place and by that checksum, so no text can pass for one. See gitformat-pack, gitformat-index and
gitformat-loose in git's manual.
"""

import re

from memtui.core.events import Event, Outside
from memtui.core.lazy_regex import compile_lazily

_LOOSE = compile_lazily(r"(?:.*/)?\.git/(?:.*/)?objects/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})\Z", re.DOTALL)
_SUMMED = compile_lazily(
    r"(?:.*/)?\.git/(?:.*/)?"
    r"(?:index|objects/pack/pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap)|objects/pack/multi-pack-index"
    r"|objects/info/commit-graph|objects/info/commit-graphs/graph-[0-9a-f]+\.graph)\Z",
    re.DOTALL,
)
_BOOKKEEPING = compile_lazily(
    r"(?:.*/)?\.git(?:/(?:(?:objects|refs|logs|worktrees|rebase-(?:merge|apply))(?:/.*)?|description|branches|packed-refs"
    r"|hooks/[^/]+\.sample|index|[A-Z]+(?:_[A-Z]+)*|gc\.(?:log|pid)|info/(?:refs|packs))(?:\.lock)?)?\Z",
    re.DOTALL,
)
_MAGIC = (b"DIRC", b"PACK", b"\xfftOc", b"RIDX", b"BITM", b"MIDX", b"CGPH")
_LARGEST = 100_000_000
"""Bytes of an object that is decompressed."""


def is_git_file(path: str, data: bytes) -> bool:
    """Whether a file holds what git committed, and nothing else.

    Args:
        path: Relative to the folder.
        data: All of it.
    """
    if ".git/" not in path:
        return False
    if (found := _LOOSE.match(path)) is not None:
        return _is_object(data, found[1] + found[2])
    return _SUMMED.match(path) is not None and data.startswith(_MAGIC) and _is_summed(data)


def is_git_bookkeeping(path: str) -> bool:
    """Whether git itself writes what has this path, by its place alone.

    Its settings, hooks and attributes are none: they decide what is run, and a person or an attacker writes them.
    """
    return ".git" in path and _BOOKKEEPING.match(path) is not None


def is_git_event(event: Event) -> bool:
    """Whether another program, git as far as one can see, changed nothing but what git keeps for itself."""
    named = (event.path, *filter(None, (event.new_path,)))
    return isinstance(event.actor, Outside) and all(map(is_git_bookkeeping, named))


def _is_object(data: bytes, name: str) -> bool:
    import zlib  # noqa: PLC0415 - start-up: the activity only asks for names

    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(data, _LARGEST)
    except zlib.error:
        return False
    if not unpacking.eof or unpacking.unused_data:
        return False  # too large, cut, or with something behind it
    return _hash(content, len(name) // 2).hex() == name


def _is_summed(data: bytes) -> bool:
    return any(len(data) > size and _hash(data[:-size], size) == data[-size:] for size in (20, 32))


def _hash(data: bytes, size: int) -> bytes:
    """SHA-1, or SHA-256 where a repository uses that; as checksums, not for security."""
    import hashlib  # noqa: PLC0415 - start-up: the activity only asks for names

    return hashlib.new("sha1" if size == 20 else "sha256", data, usedforsecurity=False).digest()
