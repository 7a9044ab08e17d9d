"""The spans of code and of comments in a note, found in one pass: each may hold text that looks like the other.

A comment may hold the beginning of a code block, and a code block that of a comment; whoever looks for the one without
the other can be led past what follows.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from memtui.core.lazy_regex import compile_lazily

_TOKEN = re.compile("``*|~~~~*|<!--")
_INDENT = compile_lazily(r"[ \t>]{0,40}(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,4}[ \t>]{0,8})?")
_FENCE = compile_lazily(r"^[ \t>]{0,40}(?P<fence>`{3,}|~{3,})[ \t]*\r?$", re.MULTILINE)
_TICKS = re.compile(r"`+")


def has_mark(text: str, mark: str) -> bool:
    """Whether a mark stands in a text that rarely holds its first character: a single one is found 20 times as fast."""
    return mark[0] in text and mark in text


def find_line_start(text: str, at: int, within: int) -> int:
    """Where the line of a character begins; so many characters before it, where that is not nearer."""
    least = max(0, at - within)
    return max(text.rfind("\n", least, at) + 1, least)


class MarkupSpans(NamedTuple):
    """What of a note is not its running text."""

    code: list[tuple[int, int]]
    comments: list[tuple[int, int]]  # in order; an unclosed comment ends with the note

    def is_code(self, at: int) -> bool:
        """Whether a character is shown as code."""
        return _is_within(self.code, at)

    def is_comment(self, at: int) -> bool:
        """Whether a character is part of a comment."""
        return _is_within(self.comments, at)


def find_markup_spans(text: str) -> MarkupSpans:
    """Find code and comments, in time that grows with the length of the text and no faster."""
    code: list[tuple[int, int]] = []
    comments: list[tuple[int, int]] = []
    if "`" not in text and "~~~" not in text and "<!--" not in text:
        return MarkupSpans(code, comments)
    line = _BacktickRuns(text)
    at = 0
    while (found := _TOKEN.search(text, at)) is not None:
        mark = found.group()
        start, at = found.span()
        if mark == "<!--":
            end = text.find("-->", start + 2)  # `<!-->` is a comment as well
            at = len(text) if end < 0 else max(end + 3, at)
            comments.append((start, at))
        elif len(mark) > 2 and (end_of_block := _find_block_end(text, mark, start)) is not None:
            at = end_of_block
            code.append((start, at))
        elif mark[0] == "`" and (end_of_span := line.find_span_end(start, len(mark))) is not None:
            at = end_of_span
            code.append((start, at))
    return MarkupSpans(code, comments)


def _find_block_end(text: str, fence: str, start: int) -> int | None:
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


class _BacktickRuns:
    """The runs of backticks of the line that was asked for last, by their length."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = -1
        self._runs: dict[int, list[int]] = {}

    def find_span_end(self, start: int, length: int) -> int | None:
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
    last = bisect_right(parts, at, key=itemgetter(0)) - 1
    return last >= 0 and at < parts[last][1]


# Code blanked out: in code there is neither a tag nor a link. All other characters keep their offsets.

_FENCED_BLOCK = compile_lazily(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n(?:.*\n)*?[ \t>]*(?P=fence)[`~]*[ \t]*(?=\r?$)|(?:\n.*)*\Z)",
    re.MULTILINE,
)
_SPAN = compile_lazily(r"(?P<ticks>`(?<!``)`*)(?!`)(?P<inside>[^\n]{0,2000}?[^`\n])(?P=ticks)(?!`)")


def blank_code(text: str) -> str:
    """The text with fenced blocks and code spans as spaces; each character keeps its place."""
    text = blank_fences(text)
    if "`" in text:
        text = _SPAN.sub(_blank_match, text)
    return text


def blank_fences(text: str) -> str:
    """The text with fenced blocks alone as spaces; each character keeps its place."""
    return _FENCED_BLOCK.sub(_blank_match, text) if "```" in text or "~~~" in text else text


def blank_text(text: str) -> str:
    """Spaces for all but line ends."""
    return "\n".join([" " * len(line) for line in text.split("\n")]) if "\n" in text else " " * len(text)


def _blank_match(found: re.Match[str]) -> str:
    return blank_text(found.group())


# The outline of a text: one byte a character, by its kind. Patterns are tried on it first, many times as fast as on the
# text; a character that is not ASCII may be of any kind, so the outline has false positives and no false negatives.

_BLANKS = frozenset(b"\t\n\v\f\r\x1c\x1d\x1e\x1f ")
_DIGITS = frozenset(b"0123456789?")  # digits, and what a character becomes that is not ASCII
_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")

_SOLID = bytes(32 if byte in _BLANKS else 120 for byte in range(256))
_NUMERIC = bytes(
    48 if byte in _DIGITS else 65 if byte in _CAPITALS else byte if byte in b" .-" else 120 for byte in range(256)
)
_NUMERIC_OF_ASCII = bytes(120 if byte == ord("?") else kind for byte, kind in enumerate(_NUMERIC))
"""The same, where no digit is beyond ASCII."""
_ASCII = bytes(range(128))
_DIGIT = re.compile(r"\d")
_PAIRED = bytes(48 if byte in b"0123456789abcdefABCDEF" else 32 if byte == 32 else 120 for byte in range(256))

_LONG_NUMBER = re.compile(rb"00(?<!000)(?!00-00-00[^0])(?:(?:[ .-]?0){7}|0{5,6}[ -]?[Ax]| ?00 ?00 ?A)")
"""Digits as they stand in all numbers of cards, accounts and persons, and in no date: nine of them in a row or with
signs between, seven or eight and a letter, six in pairs and a capital."""
_WITHIN = frozenset("abcdefghijklmnopqrstuvwxyz_")
"""What stands before digits that are in the middle of a word, as those of a hash."""


def find_long_words(text: str, least: int) -> Iterator[tuple[int, int]]:
    """Where words of so many ASCII characters at least begin and end; others may be part of them."""
    outline = text.encode("ascii", "replace").translate(_SOLID)
    start = outline.find(b"x" * least)
    while start >= 0:
        end = outline.find(b" ", start + least)
        end = end if end >= 0 else len(outline)
        yield start, end
        start = outline.find(b"x" * least, end)


def has_hex_pairs(text: str, least: int) -> bool:
    """Whether there may be so many pairs of hexadecimal digits, parted by a blank each."""
    return b" ".join([b"00"] * least) in text.encode("ascii", "replace").translate(_PAIRED)


def has_hex_run(text: str, least: int) -> bool:
    """Whether there may be so many pairs of hexadecimal digits, with nothing or colons between them."""
    return b"00" * least in text.encode("ascii", "replace").translate(_PAIRED, b":")


def make_numeric_outline(text: str) -> bytes:
    """The outline that tells digits (`0`), capitals (`A`), blanks, points and hyphens from the rest (`x`)."""
    has_others = not text.isascii() and _DIGIT.search(get_other_letters(text)) is not None
    return text.encode("ascii", "replace").translate(_NUMERIC if has_others else _NUMERIC_OF_ASCII)


def get_other_letters(text: str) -> str:
    """The characters of a text that are not of ASCII: mostly few, and found ten times as fast as by a search."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def find_long_numbers(text: str, outline: bytes) -> list[tuple[int, int]]:
    """Where there may be as many digits as in a card, an account or an identity number, from and to."""
    spans = [found.span() for found in _LONG_NUMBER.finditer(outline)]
    return [(start, end) for start, end in spans if not _is_in_word(text, start, end)]


def _is_in_word(text: str, start: int, end: int) -> bool:
    """Whether digits, and a letter that may be behind them, are in the middle of a word, or the letter is none."""
    if text[max(start - 1, 0)] in _WITHIN and text[start].isascii():
        return True
    last = text[end - 1]
    return last.isascii() and not last.isdigit() and (not last.isalpha() or text[end : end + 2].isalnum())
