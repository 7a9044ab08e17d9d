"""Light colours for Markdown and JSON while they are edited, line by line.

No parser: a hostile note could hold one up, and a note is half-written most of the time. What a line is depends on the
lines before it only as far as fences and front matter go, so a line typed at costs that line.
"""

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from memtui.ui.edit.lines import Lines

ROLES = ("heading", "strong", "emphasis", "code", "link", "marker", "quote", "rule", "key", "comment", "number")
"""What a run of characters can be; each is a component class of the text area."""

Run = tuple[int, int, str]
"""A first column, the one behind the last, and a role."""

_LONG = 2_000
"""Characters of a line that are coloured; what follows is shown as plain text."""


class State(Enum):
    """What a line stands in."""

    TEXT = "text"
    FRONT = "front matter"
    BACKTICKS = "```"
    TILDES = "~~~"
    COMMENT = "<!--"


_FENCE = re.compile(r" {0,3}(?:[-*+] +|\d+[.)] +)?(```|~~~)")
_CLOSING = re.compile(r"\s*(?:```+|~~~+)\s*$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r" {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+\s*)$")
_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s+\[[ xX]\])?(?=\s)")
_QUOTE = re.compile(r"\s*>+")
_PROPERTY = re.compile(r"\s*(?:- +)?[^\s:#][^:]{0,80}:(?=\s|$)")
_INLINE = re.compile(
    r"(?P<code>`[^`]{1,400}`)"
    r"|(?P<comment><!--(?:(?!-->).){0,1000}(?:-->)?)"
    r"|(?P<link>!?\[\[[^\]\[]{1,200}\]\]|!?\[[^\]\[]{0,200}\]\([^()\s]{0,500}\)|\bhttps?://[^\s<>]{1,500})"
    r"|(?P<strong>\*\*[^*\s][^*]{0,400}\*\*|__[^_\s][^_]{0,400}__)"
    r"|(?P<emphasis>(?<![\w*])\*[^*\s][^*]{0,400}\*(?![\w*])|(?<!\w)_[^_\s][^_]{0,400}_(?!\w))"
)
_JSON = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.){0,400}"(?=\s*:))|(?P<code>"(?:[^"\\]|\\.){0,1000}")'
    r"|(?P<number>-?\b\d[\d.eE+-]{0,40}\b|\b(?:true|false|null)\b)"
)


class Colours:
    """The colours of one text.

    Args:
        lines: The text.
        syntax: `markdown` or `json`; anything else has no colours.
    """

    def __init__(self, lines: Lines, syntax: str) -> None:
        self._lines = lines
        self._syntax = syntax
        self._states: list[State] = []
        """What each line begins in, as far as it is known."""

    def of(self, row: int) -> Sequence[Run]:
        """The runs of a line, in the order in which they are laid over each other."""
        if self._syntax == "json":
            return _json(self._lines[row][:_LONG])
        if self._syntax != "markdown":
            return ()
        return _markdown(self._lines[row][:_LONG], self.state(row), row == 0)

    def state(self, row: int) -> State:
        """What a line begins in."""
        lines, states = self._lines.lines, self._states
        if self._lines.first_changed < len(states):
            del states[self._lines.first_changed + 1 :]
        self._lines.first_changed = len(lines)
        if not states:
            states.append(State.TEXT)
        for index in range(len(states) - 1, row):
            states.append(_after(lines[index], states[index], index == 0))
        return states[row]


def _after(line: str, state: State, is_first: bool) -> State:
    """What the next line stands in."""
    match state:
        case State.TEXT:
            if is_first and line.rstrip() == "---":
                return State.FRONT
            if "```" in line or "~~~" in line:
                fence = _FENCE.match(line)
                if fence and fence.group(1) not in line[fence.end() :]:
                    return State(fence.group(1))
            opened = line.rfind("<!--")
            return State.COMMENT if opened >= 0 and line.find("-->", opened) < 0 else State.TEXT
        case State.FRONT:
            return State.TEXT if line.rstrip() in ("---", "...") else state
        case State.COMMENT:
            return State.TEXT if "-->" in line else state
        case _:
            closes = line.lstrip().startswith(state.value) and _CLOSING.match(line)
            return State.TEXT if closes else state


@lru_cache(maxsize=1_024)
def _markdown(line: str, state: State, is_first: bool) -> Sequence[Run]:
    end = len(line)
    match state:
        case State.FRONT:
            if line.rstrip() in ("---", "..."):
                return ((0, end, "rule"),)
            if line.lstrip().startswith("#"):
                return ((0, end, "comment"),)
            key = _PROPERTY.match(line)
            return ((0, key.end(), "key"),) if key else ()
        case State.COMMENT:
            closed = line.find("-->")
            return ((0, end if closed < 0 else closed + 3, "comment"),)
        case State.BACKTICKS | State.TILDES:
            return ((0, end, "code"),)
    if _FENCE.match(line):
        return ((0, end, "code"),)
    if _RULE.match(line) or (is_first and line.rstrip() == "---"):
        return ((0, end, "rule"),)
    runs: list[Run] = []
    if _HEADING.match(line):
        runs.append((0, end, "heading"))
    elif quote := _QUOTE.match(line):
        runs.append((0, end, "quote"))
        runs.append((quote.start(), quote.end(), "marker"))
    elif marker := _MARKER.match(line):
        runs.append((marker.start(), marker.end(), "marker"))
    return (*runs, *((each.start(), each.end(), each.lastgroup or "") for each in _INLINE.finditer(line)))


@lru_cache(maxsize=1_024)
def _json(line: str) -> Sequence[Run]:
    return tuple((each.start(), each.end(), each.lastgroup or "") for each in _JSON.finditer(line))
