"""What the text commands do to a text: pure functions from text to text, and to the lines that are answered.

Lines end at `\\n` and nowhere else: `\\r`, U+2028 and form feeds stay inside a line, as the tool's contract has
it, so `str.splitlines` has no place here.
"""

from collections.abc import Iterator, Sequence
from operator import add
from typing import NamedTuple

from memtui.core.commands import as_integer
from memtui.core.errors import Refusal
from memtui.core.messages import Message, quoted, say

MAX_LINES = 999_999
SNIPPET_CONTEXT = 2
NAMED_OCCURRENCES = 20

_prefixes = [f"{number:6d}\t" for number in range(1, 1_001)]
"""Line-number prefixes, formatted once; replaced by a longer list, never changed, as longer notes are seen."""


class Edit(NamedTuple):
    """A text after a command, and the lines that the model is shown of it."""

    text: str
    snippet: str


def count_lines(text: str) -> int:
    r"""The number of lines, where a final `\n` ends the last one: `a\nb\n` has 2, an empty text none."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def numbered(lines: Sequence[str], first: int = 1) -> str:
    """Lines with their numbers, six wide, from number `first` on."""
    return "\n".join(map(add, _numbers(first, len(lines)), lines))


def view(text: str, path: str, view_range: object = None, *, limit: int = 0) -> str:
    """The answer of `view` for a file.

    Args:
        text: The file's text.
        path: How the answer calls it.
        view_range: `None`, or what the caller gave as first and last line.
        limit: Characters at which the answer is cut at a line's end; 0 for never.

    Raises:
        Refusal: For a range outside the file, or a file of more than 999,999 lines.
    """
    n_lines = count_lines(text)
    if n_lines > MAX_LINES:
        raise Refusal(Message.TOO_MANY_LINES, path=path)
    lines = text.split("\n")
    first = 1
    if view_range is not None:
        first, last = _range(view_range, n_lines)
        lines = lines[first - 1 : last]
    if limit and sum(map(len, lines)) + 8 * len(lines) + len(path) + 64 > limit:
        body = _cut(lines, first, n_lines, limit - len(path) - 200, open_end=view_range is None)
    else:
        body = numbered(lines, first)
    return say(Message.VIEWED_FILE, path=path, lines=body)


def replace(text: str, old: str, new: str, path: str) -> Edit:
    """Replace the one place where `old` stands.

    Raises:
        Refusal: If it stands nowhere, or in several (also overlapping) places.
    """
    position = text.find(old)
    if position < 0:
        raise Refusal(Message.NO_MATCH, old_str=old, path=path)
    if text.find(old, position + 1) >= 0:
        raise Refusal(Message.SEVERAL_MATCHES, old_str=old, path=path, lines=_occurrences(text, old))
    edited = text[:position] + new + text[position + len(old) :]
    return Edit(edited, _snippet(edited, position))


def insert(text: str, line: int, inserted: str) -> str:
    r"""Put `inserted` after line `line`; one final `\n` of it is dropped, and the text ends in `\n` afterwards.

    Raises:
        Refusal: For a line outside 0 to the number of lines.
    """
    n_lines = count_lines(text)
    if not 0 <= line <= n_lines:
        raise Refusal(Message.BAD_INSERT_LINE, insert_line=quoted(line), n_lines=n_lines)
    if text and not text.endswith("\n"):
        text += "\n"
    position = _line_start(text, line)
    return f"{text[:position]}{inserted.removesuffix(chr(10))}\n{text[position:]}"


def _range(given: object, n_lines: int) -> tuple[int, int]:
    bounds = [as_integer(bound) for bound in given] if isinstance(given, list | tuple) else []
    match bounds:
        case [int(start), int(end)]:
            first = max(start, 1)
            if end == -1 and first <= n_lines:
                return first, n_lines + 1  # with the empty line behind a final newline, as without a range
            if first <= min(end, n_lines):
                return first, min(end, n_lines)
    raise Refusal(Message.BAD_VIEW_RANGE, view_range=quoted(_as_given(given)), n_lines=n_lines)


def _as_given(given: object) -> object:
    return list(given) if isinstance(given, tuple) else given


def _cut(lines: Sequence[str], first: int, n_lines: int, limit: int, *, open_end: bool) -> str:
    """As many whole lines as the limit holds, and a last line that says how to go on."""
    used, kept = 0, 0
    for line in lines:
        used += max(7, len(str(first + kept)) + 1) + len(line) + 1
        if used > limit:
            break
        kept += 1
    end = -1 if open_end or first + len(lines) - 1 >= n_lines else first + len(lines) - 1
    if kept:
        note = say(
            Message.VIEW_CUT, first=first, last=first + kept - 1, n_lines=n_lines, next_line=first + kept, end=end
        )
        return f"{numbered(lines[:kept], first)}\n{note}"
    shown = max(limit - 7, 1)
    more = "" if first >= n_lines else f" To go on, view with view_range [{first + 1}, {end}]"
    note = say(Message.VIEW_LINE_CUT, first=first, length=len(lines[0]), shown=shown, more=more)
    return f"{numbered([lines[0][:shown]], first)}\n{note}"


def _snippet(text: str, position: int) -> str:
    """The changed line with two lines around it, found from the change outwards: the text may be huge."""
    start, first = position, text.count("\n", 0, position) + 1
    start = text.rfind("\n", 0, start) + 1
    for _ in range(SNIPPET_CONTEXT):
        if start == 0:
            break
        start = text.rfind("\n", 0, start - 1) + 1
        first -= 1
    end = position
    for _ in range(SNIPPET_CONTEXT + 1):
        end = text.find("\n", end)
        if end < 0:
            return numbered(text[start:].split("\n"), first)
        end += 1
    return numbered(text[start : end - 1].split("\n"), first)


def _occurrences(text: str, old: str) -> str:
    """The line of each occurrence, overlapping ones too, the first twenty by number."""
    named: list[str] = []
    line, counted, total = 1, 0, 0
    for run in _runs(text, old):
        for position in run[: max(NAMED_OCCURRENCES - total, 0)]:
            line += text.count("\n", counted, position)
            counted = position
            named.append(str(line))
        total += len(run)
    more = f" and {total - NAMED_OCCURRENCES} more" if total > NAMED_OCCURRENCES else ""
    return ", ".join(named) + more


def _runs(text: str, old: str) -> Iterator[range]:
    """Where `old` stands, overlapping places too, as runs at one distance.

    Looking for it anew at each place of a run, as in a note of nothing but one letter, would compare its whole
    length each time. Where two overlap by half or more it stands at that distance for as long as the text repeats.
    """
    position = text.find(old)
    while position >= 0:
        following = text.find(old, position + 1)
        step = following - position
        if following < 0 or 2 * step > len(old):
            yield range(position, position + 1)
            position = following
            continue
        low, high = following + len(old), len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if text[low:middle] == text[low - step : middle - step]:
                low = middle
            else:
                high = middle - 1
        run = range(position, low - len(old) + 1, step)
        yield run
        position = text.find(old, run[-1] + 1)


def _line_start(text: str, line: int) -> int:
    position = 0
    for _ in range(line):
        position = text.find("\n", position) + 1
    return position


def _numbers(first: int, count: int) -> Sequence[str]:
    global _prefixes  # noqa: PLW0603 - a cache of constants
    prefixes, last = _prefixes, first + count - 1
    if last > len(prefixes):
        prefixes = prefixes + [f"{number:6d}\t" for number in range(len(prefixes) + 1, last + 1)]
        _prefixes = prefixes
    return prefixes if first == 1 else prefixes[first - 1 : last]
