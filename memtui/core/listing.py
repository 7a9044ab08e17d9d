"""The answer of `view` for a directory, made from what a store found below it."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtui.core.messages import Message, say
from memtui.core.visible import HIDDEN

DEPTH = 2
_LEFT_OUT = "node_modules"


class Listed(NamedTuple):
    """One thing below a directory: its names from there down, whether it is a directory, and its bytes."""

    parts: tuple[str, ...]
    is_directory: bool
    size: int


def human_size(size: int) -> str:
    """Bytes as `0B 1023B 1K 1.5K 1M`: powers of 1024, one decimal, which is left out only when exact."""
    power = min((size.bit_length() - 1) // 10, 3) if size else 0
    scaled = size / 1024**power
    number = str(int(scaled)) if scaled == int(scaled) else f"{scaled:.1f}"
    return number + "BKMG"[power]


def listing(path: str, found: Iterable[Listed], *, limit: int = 0) -> str:
    """The answer of `view` for a directory.

    Args:
        path: How the answer calls the directory.
        found: Everything below it, at any depth and in any order; a directory's size is what its files add up to.
        limit: Lines after which it is cut; 0 for never.
    """
    sizes: dict[tuple[str, ...], int] = {(): 0}
    directories: set[tuple[str, ...]] = set()
    for parts, is_directory, size in found:
        if is_directory:
            directories.add(parts)
            sizes.setdefault(parts, 0)
            continue
        for depth in range(min(len(parts), DEPTH) + 1):
            sizes[parts[:depth]] = sizes.get(parts[:depth], 0) + size
    shown = sorted(parts for parts in sizes if parts and len(parts) <= DEPTH and _is_listed(parts))
    lines = [f"{human_size(sizes[()])}\t{path}"]
    cut = shown[: limit - 1] if limit else shown
    for parts in cut:
        name = "/".join(map(_quoted, parts)) + ("/" if parts in directories else "")
        lines.append(f"{human_size(sizes[parts])}\t{path}/{name}")
    if len(cut) < len(shown):
        lines.append(say(Message.LISTING_CUT, hidden=len(shown) - len(cut)))
    return say(Message.VIEWED_DIRECTORY, path=path, listing="\n".join(lines))


def _is_listed(parts: Sequence[str]) -> bool:
    return not any(part.startswith(".") or part == _LEFT_OUT for part in parts)


def _quoted(name: str) -> str:
    """A name as it is, unless it could forge a line of the listing or hide in it."""
    return json.dumps(name) if HIDDEN.search(name) or "\n" in name or "\t" in name else name
