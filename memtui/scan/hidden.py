"""Text in a note that whoever reads it elsewhere does not see, or sees otherwise than it is stored.

Characters are looked at in `invisible`, what a renderer leaves out in `unrendered`; here is what belongs to neither,
and the order of things: most notes are passed by a few quick questions, since a search asks them of every note.
"""

import re
from collections.abc import Iterator
from itertools import islice

from memtui.notes.formats import detect_format
from memtui.notes.spans import find_line_start
from memtui.scan.invisible import find_control_codes, find_invisible
from memtui.scan.lookalikes import find_lookalike_text
from memtui.scan.spots import Spot
from memtui.scan.unrendered_text import find_unrendered
from memtui.scan.work_budget import WorkBudget

_RENDERED = frozenset({"md", "txt", "html"})
"""Formats in which whoever reads a note elsewhere does not see its comments."""
_PADDED = frozenset({"md", "txt", "html", "yaml", "toml", "json", "xml", ""})
"""Formats in which a long run of blanks before words has no work to do."""
_BLANKS = 120  # columns of blanks that push what follows off a screen
_EMPTY_LINES = 40  # empty lines that push what follows off a screen
_PROBES = (" " * 40, "\t" * 5, "\n" * 14, "\n \n \n \n", "\r\n" * 14, "\u3000" * 20, "\u00a0" * 20)
"""One of these is in every run of blanks that is long enough, or nearly: most notes hold none."""
_RUN = re.compile(r"(?<![^\S\n])[^\S\n]{24,}+(?=[^\s|\u2500-\u257f])")
_FRAMED = re.compile(r"\s*[|\u2500-\u257f].*[|\u2500-\u257f]\s*")
"""A line of a picture that is drawn with letters: blanks are its paper."""
_GAP = re.compile(r"(?:(?<=\S)|\A)[^\S\n]*+\n(?:[^\S\n]*+\n){13,}+[^\S\n]*+(?=\S)")
_MOST = 100


def find_hidden(text: str, path: str, budget: WorkBudget | None = None) -> Iterator[Spot]:
    """What is hidden in a text, by rule, not in order; the budget is spent where very many elements may hide words."""
    yield from find_control_codes(text)
    if not text.isascii() or "&" in text:
        yield from find_invisible(text)
    if not text.isascii() or "xn--" in text:
        yield from find_lookalike_text(text)
    kind = detect_format(path)
    if kind in _RENDERED:
        yield from find_unrendered(text, budget or WorkBudget(), is_page=kind == "html")
    if kind in _PADDED and any(probe in text for probe in _PROBES):
        yield from islice(_find_pushed_off(text), _MOST)


def _find_pushed_off(text: str) -> Iterator[Spot]:
    """Words behind so many blanks that they are off the screen."""
    for found in _RUN.finditer(text):
        run = found.group()
        columns = len(run.expandtabs(8))
        is_indented = found.start() == 0 or text[found.start() - 1] == "\n"
        if columns < (_BLANKS * 2 if is_indented else _BLANKS):
            continue
        end = _find_end_of_line(text, found.end())
        if _is_framed(text, found.start(), end):
            continue
        yield Spot("hidden", "pushed-off-screen", found.end(), end, f"text after {columns:,} columns of blanks")
    for found in _GAP.finditer(text):
        lines = found.group().count("\n") - 1
        if lines < _EMPTY_LINES:
            continue
        end = _find_end_of_line(text, found.end())
        yield Spot("hidden", "pushed-off-screen", found.end(), end, f"text after {lines:,} empty lines")


def _is_framed(text: str, start: int, end: int) -> bool:
    """Whether a line, and one above or below it that is as long or nearly, stand within a frame."""
    first = find_line_start(text, start, 1_000)
    if not _FRAMED.fullmatch(text, first, end):
        return False
    above = find_line_start(text, max(0, first - 1), 1_000)
    below = text.find("\n", end + 1, end + 1_000)
    least = (end - first) * 2 // 3
    is_above = first - 1 - above >= least and _FRAMED.fullmatch(text, above, first - 1) is not None
    return is_above or (below - end - 1 >= least and _FRAMED.fullmatch(text, end + 1, below) is not None)


def _find_end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at, at + 200)
    return min(len(text), at + 200) if end < 0 else end
