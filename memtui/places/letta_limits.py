"""How many characters a file of Letta Code's may have: as a person set it for the folder, else as its program does.

Letta Code 0.32 refuses to commit a longer file. In the layout with `MEMORY.md` its own limit holds where none is set.
In the first layout there is one only where the folder has a file of limits.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memtui.places.probe import parse_object, read_start

_FILE = ".memfs.config.json"
_FILE_BYTES = 100_000
_MOST_PATTERNS = 50
_DEFAULT = 20_000
_SCOPES = {
    "letta": re.compile(r"(?:memory/)?(?:system|reference)/.*\.md", re.DOTALL),
    "letta-memfs": re.compile(r"(?!skills/).*\.md", re.DOTALL),
}
"""Of which files there are limits, by the name of the dialect."""
_TOKENS = re.compile(r"\*\*/|\*\*|[^\n]|\n")
_LONGEST_PATTERN = 200
_State = tuple[int, bool]
"""A place in a pattern, and whether it is amid directories that `**/` stands for."""


class PathPattern:
    """A pattern as Letta Code reads it: `*` and `?` stay within a name, `**` does not, all else is as it is written.

    It is matched without going back, whatever the folder's file holds.
    """

    def __init__(self, written: str) -> None:
        self._tokens = _TOKENS.findall(written)

    def matches(self, path: str) -> bool:
        """Whether it is the pattern of a path, relative to the folder."""
        states = self._skip({(0, False)})
        for sign in path:
            states = self._skip({after for place, _ in states for after in self._step(place, sign)})
            if not states:
                return False
        return (len(self._tokens), False) in states

    def _skip(self, states: set[_State]) -> set[_State]:
        """These states, and those behind what may stand for nothing."""
        found = set(states)
        for start, is_within in states:
            place = start
            while not is_within and place < len(self._tokens) and self._tokens[place] in ("*", "**", "**/"):
                place += 1
                found.add((place, False))
        return found

    def _step(self, place: int, sign: str) -> Sequence[_State]:
        token = self._tokens[place] if place < len(self._tokens) else None
        match token:
            case "**/":
                return ((place, True), (place + 1, False)) if sign == "/" else ((place, True),)
            case "**":
                return ((place, False),)
            case "*":
                return ((place, False),) if sign != "/" else ()
            case "?":
                return ((place + 1, False),) if sign != "/" else ()
        return ((place + 1, False),) if token == sign else ()


class LettaLimits(NamedTuple):
    """The limits of one folder.

    Attributes:
        scope: The files that have one.
        overrides: Patterns of paths, each with a limit in characters, or 0 for none; the first that fits holds.
        most: The limit of all others; 0 for none.
    """

    scope: re.Pattern[str]
    overrides: Sequence[tuple[PathPattern, int]] = ()
    most: int = 0

    def get_most(self, path: str) -> int:
        """Characters that a file may have, by its path relative to the folder; 0 is no limit."""
        if not self.scope.fullmatch(path):
            return 0
        return next((most for pattern, most in self.overrides if pattern.matches(path)), self.most)


def read_letta_limits(name: str, folder: str) -> LettaLimits | None:
    """The limits of a folder; `None` if the kind of that name has none.

    A file of limits that is none of Letta's counts as absent, as its program would say so at the next commit.
    """
    scope = _SCOPES.get(name)
    if scope is None:
        return None
    kept = parse_object(read_start(os.path.join(folder, _FILE), _FILE_BYTES, os.O_NOFOLLOW))
    default = _DEFAULT if name == "letta-memfs" else 0
    if kept.get("version") != 1:
        return LettaLimits(scope, most=default)
    overrides = [found for each in _list_overrides(kept) if (found := _parse_override(each)) is not None]
    return LettaLimits(scope, overrides, _parse_count(kept.get("maxFileCharacters")) or default)


def _list_overrides(kept: Mapping[str, object]) -> Sequence[object]:
    found = kept.get("fileCharacterLimits")
    return found[:_MOST_PATTERNS] if isinstance(found, list) else ()


def _parse_override(given: object) -> tuple[PathPattern, int] | None:
    if not isinstance(given, dict) or "maxCharacters" not in given:
        return None
    pattern, most = given.get("pattern"), given["maxCharacters"]
    if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN or (most is not None and not _parse_count(most)):
        return None
    return PathPattern(pattern), _parse_count(most)


def _parse_count(given: object) -> int:
    is_count = isinstance(given, int) and not isinstance(given, bool) and 0 < given < 2**53
    return int(given) if is_count and isinstance(given, int) else 0
