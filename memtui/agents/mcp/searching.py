"""Finding a text in names and notes, line by line. Pure: whoever calls it brings the notes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_AROUND = 120
"""Characters of a long line that are shown before and behind what was found."""


@dataclass(frozen=True, slots=True)
class Match:
    """One place where it was found.

    Attributes:
        path: The note, relative to the folder.
        line: The line's number, from 1; `None` where it is the name that matches.
        text: The line, cut around the match where it is long; `""` for a name.
    """

    path: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        matches: The first ones, by path and line.
        more: How many there are besides.
        notes: How many notes have a match.
        unread: Notes that could not be read as text: only their names were looked at.
    """

    matches: tuple[Match, ...]
    more: int
    notes: int
    unread: int


def search(wanted: str, notes: Iterable[tuple[str, str | None]], *, limit: int) -> Found:
    """Look for a text as it is, not as a pattern. Case matters only if there is a capital letter in it.

    Args:
        wanted: What to look for; not empty, on one line.
        notes: Path and text of each note; `None` for what is no text.
        limit: How many matches are brought; the others are counted.
    """
    flags = re.IGNORECASE if wanted == wanted.lower() else re.NOFLAG
    pattern = re.compile(re.escape(wanted), flags)
    matches: list[Match] = []
    count = hits = unread = 0
    for path, text in notes:
        before = count
        unread += text is None
        for match in _in_note(pattern, path, text or ""):
            count += 1
            if len(matches) < limit:
                matches.append(match)
        hits += count > before
    return Found(tuple(matches), count - len(matches), hits, unread)


def _in_note(pattern: re.Pattern[str], path: str, text: str) -> Iterator[Match]:
    if pattern.search(path):
        yield Match(path, None, "")
    if pattern.search(text) is None:
        return  # most notes: once over the whole text is faster than line by line
    for number, line in enumerate(text.split("\n"), 1):
        if found := pattern.search(line):
            yield Match(path, number, _around(line, found))


def _around(line: str, found: re.Match[str]) -> str:
    start, end = max(0, found.start() - _AROUND), min(len(line), found.end() + _AROUND)
    return f"{'…' if start else ''}{line[start:end].rstrip(chr(13))}{'…' if end < len(line) else ''}"
