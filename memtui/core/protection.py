"""Paths that no agent may change: which of them holds another path. Pure: nothing is looked at."""

import json
from collections.abc import Iterable
from unicodedata import normalize


def packed(paths: Iterable[str]) -> str:
    """Protected paths as they are kept."""
    return json.dumps(sorted(set(paths), key=lambda path: path.split("/")))


def unpacked(kept: str | None) -> tuple[str, ...]:
    """Protected paths that were kept. What is no list of paths protects everything: nobody knows what was meant."""
    if kept is None:
        return ()
    try:
        paths = json.loads(kept)
    except ValueError:
        return ("",)
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        return ("",)
    return tuple(paths)


def holds(protected: str, path: str) -> bool:
    """Whether a path is a protected one, or lies below it; the folder itself holds everything."""
    return not protected or path == protected or path.startswith(protected + "/")


def may_hold(protected: str, path: str) -> bool:
    """Whether it does where the file system takes names for the same that differ in case or composition."""
    return holds(folded(protected), folded(path))


def folded(path: str) -> str:
    """A path as such file systems compare it."""
    return normalize("NFC", normalize("NFC", path).casefold())


def added(paths: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    """Protected paths with some more; one that another one holds already is not named twice."""
    found: list[str] = []
    for path in sorted({*paths, *more}, key=lambda path: path.split("/")):
        if path in paths or not any(holds(each, path) for each in found):
            found.append(path)
    return tuple(found)
