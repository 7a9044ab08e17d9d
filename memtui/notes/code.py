"""Where a note shows code, and where it hides comments: found in one pass, since each may hold what looks like both.

A comment may hold the beginning of a code block, and a code block that of a comment; whoever looks for the one without
the other can be led past what follows.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

_TOKEN = re.compile("``*|~~~~*|<!--")
_INDENT = re.compile(r"[ \t>]{0,40}(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,4}[ \t>]{0,8})?")
_FENCE = re.compile(r"^[ \t>]{0,40}(?P<fence>`{3,}|~{3,})[ \t]*\r?$", re.MULTILINE)
_TICKS = re.compile(r"`+")


class Parts(NamedTuple):
    """What of a note is not its running text.

    Attributes:
        code: Where code is, in characters, from and to, in order.
        comments: Where comments are, in order; one that is never closed ends with the note.
    """

    code: list[tuple[int, int]]
    comments: list[tuple[int, int]]

    def is_code(self, at: int) -> bool:
        """Whether a character is shown as code."""
        return _is_within(self.code, at)

    def is_comment(self, at: int) -> bool:
        """Whether a character is part of a comment."""
        return _is_within(self.comments, at)


def parts_of(text: str) -> Parts:
    """Find code and comments, in time that grows with the length of the text and no faster."""
    code: list[tuple[int, int]] = []
    comments: list[tuple[int, int]] = []
    if "`" not in text and "~~~" not in text and "<!--" not in text:
        return Parts(code, comments)
    line = _Line(text)
    at = 0
    while (found := _TOKEN.search(text, at)) is not None:
        mark = found.group()
        start, at = found.span()
        if mark == "<!--":
            end = text.find("-->", start + 2)  # `<!-->` is a comment as well
            at = len(text) if end < 0 else max(end + 3, at)
            comments.append((start, at))
        elif len(mark) > 2 and (end_of_block := _end_of_block(text, mark, start)) is not None:
            at = end_of_block
            code.append((start, at))
        elif mark[0] == "`" and (end_of_span := line.end_of_span(start, len(mark))) is not None:
            at = end_of_span
            code.append((start, at))
    return Parts(code, comments)


def _end_of_block(text: str, fence: str, start: int) -> int | None:
    """Where the code block ends that a fence opens; `None` if it is no fence."""
    indent = _INDENT.match(text, text.rfind("\n", max(0, start - 64), start) + 1, start)
    if start and (indent is None or indent.end() != start or (indent.start() and text[indent.start() - 1] != "\n")):
        return None  # within a line
    opened = start + len(fence)
    end = text.find("\n", opened)
    end = len(text) if end < 0 else end
    if fence[0] == "`" and text.find("`", opened, end) >= 0:
        return None  # code within a line
    for closing in _FENCE.finditer(text, end):
        if closing["fence"].startswith(fence):
            return closing.end()
    return len(text)


class _Line:
    """The runs of backticks of the line that was asked for last, by their length."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = -1
        self._runs: dict[int, list[int]] = {}

    def end_of_span(self, start: int, length: int) -> int | None:
        """Where the code ends that a run of backticks begins; `None` if nothing in its line closes it."""
        if start >= self._end:
            end = self._text.find("\n", start)
            self._end = len(self._text) if end < 0 else end
            self._runs = {}
            for run in _TICKS.finditer(self._text, start, self._end):
                self._runs.setdefault(run.end() - run.start(), []).append(run.start())
        runs = self._runs.get(length, [])
        after = bisect_right(runs, start)
        return runs[after] + length if after < len(runs) else None


def _is_within(parts: list[tuple[int, int]], at: int) -> bool:
    before = bisect_right(parts, (at, at)) - 1
    here = before + 1
    if before >= 0 and parts[before][0] <= at < parts[before][1]:
        return True
    return here < len(parts) and parts[here][0] <= at < parts[here][1]
