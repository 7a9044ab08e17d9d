"""Text in a note that whoever reads it elsewhere does not see, or sees otherwise than it is stored.

Characters are looked at in `characters`, what a renderer leaves out in `unrendered`; here is what belongs to neither,
and the order of things: most notes are passed by a few quick questions, since a search asks them of every note.
"""

import re
from collections.abc import Iterator

from memtui.notes.characters import control_codes, invisible
from memtui.notes.kinds import format_of
from memtui.notes.spots import Spot
from memtui.notes.unrendered import unrendered

_RENDERED = frozenset({"md", "txt", "html"})
"""Formats in which whoever reads a note elsewhere does not see its comments."""
_PADDED = frozenset({"md", "txt", "html", "yaml", "toml", "json", "xml", ""})
"""Formats in which a long run of blanks before words has no work to do."""
_BLANKS = 120
"""Columns of blanks that push what follows off a screen."""
_EMPTY_LINES = 40
"""Empty lines that push what follows off a screen."""
_PROBES = (" " * 40, "\t" * 5, "\n" * 14, "\n \n \n \n", "\r\n" * 14, "\u3000" * 20, "\u00a0" * 20)
"""One of these is in every run of blanks that is long enough, or nearly: most notes hold none."""
_RUN = re.compile(r"(?<![^\S\n])[^\S\n]{24,}+(?=[^\s|\u2500-\u257f])")
_FRAMED = re.compile(r"\s*[|\u2500-\u257f].*[|\u2500-\u257f]\s*")
"""A line of a picture that is drawn with letters: blanks are its paper."""
_GAP = re.compile(r"(?:(?<=\S)|\A)[^\S\n]*+\n(?:[^\S\n]*+\n){13,}+[^\S\n]*+(?=\S)")
_MOST = 100


def hidden(text: str, path: str) -> Iterator[Spot]:
    """What is hidden in a text, by rule, not in order.

    Args:
        text: What the note says.
        path: Where it is, relative to the folder: by its extension it is known what is usual in it.
    """
    yield from control_codes(text)
    if not text.isascii() or "&" in text:
        yield from invisible(text)
    kind = format_of(path)
    if kind in _RENDERED:
        yield from unrendered(text, is_page=kind == "html")
    if kind in _PADDED and any(probe in text for probe in _PROBES):
        yield from _pushed_off(text)


def _pushed_off(text: str) -> Iterator[Spot]:
    """Words behind so many blanks that they are off the screen."""
    told = 0
    for found in _RUN.finditer(text):
        if told >= _MOST:
            return
        run = found.group()
        columns = len(run.expandtabs(8))
        is_indented = found.start() == 0 or text[found.start() - 1] == "\n"
        if columns < (_BLANKS * 2 if is_indented else _BLANKS):
            continue
        end = _end_of_line(text, found.end())
        if _is_framed(text, found.start(), end):
            continue
        yield Spot("hidden", "pushed-off-screen", found.end(), end, f"words behind {columns:,} columns of blanks")
        told += 1
    for found in _GAP.finditer(text):
        if told >= _MOST:
            return
        lines = found.group().count("\n") - 1
        if lines < _EMPTY_LINES:
            continue
        end = _end_of_line(text, found.end())
        yield Spot("hidden", "pushed-off-screen", found.end(), end, f"words behind {lines:,} empty lines")
        told += 1


def _is_framed(text: str, start: int, end: int) -> bool:
    """Whether a line, and one above or below it that is as long or nearly, stand within a frame."""
    first = text.rfind("\n", max(0, start - 1_000), start) + 1
    if not _FRAMED.fullmatch(text, first, end):
        return False
    above = text.rfind("\n", max(0, first - 1_000), max(0, first - 1)) + 1
    below = text.find("\n", end + 1, end + 1_000)
    least = (end - first) * 2 // 3
    is_above = first - 1 - above >= least and _FRAMED.fullmatch(text, above, first - 1) is not None
    return is_above or (below - end - 1 >= least and _FRAMED.fullmatch(text, end + 1, below) is not None)


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at, at + 200)
    return min(len(text), at + 200) if end < 0 else end
