r"""The effects of the text commands: pure functions from text to text, and to the lines that are answered.

Lines end at `\
` and nowhere else: `\\r`, U+2028 and form feeds stay inside a line, as the tool's contract has it, so
`str.splitlines` has no place here.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import add, methodcaller
from typing import NamedTuple

from memtui.core.commands import as_integer
from memtui.core.errors import Refusal
from memtui.core.events import EntryKind
from memtui.core.messages import MessageKey, format_message, quote_value
from memtui.core.unicode import HIDDEN

MAX_LINES = 999_999
SNIPPET_CONTEXT = 2
NAMED_OCCURRENCES = 20

_BLOCK = 65_536
"""Characters of which the lines are counted at once."""
_KEPT_PREFIXES = 10_000
_prefixes = [f"{number:6d}\t" for number in range(1, 1_001)]
"""Line-number prefixes, formatted once; replaced by a longer list, never changed, as longer notes are seen; those of a
huge file are not kept."""


class TextEdit(NamedTuple):
    """A text after a command, and where it was changed."""

    text: str
    position: int


def count_lines(text: str) -> int:
    r"""The number of lines, where a final `\n` ends the last one: `a\nb\n` has 2, an empty text none."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def number_lines(lines: Sequence[str], first: int = 1) -> str:
    return "\n".join(map(add, _get_line_prefixes(first, len(lines)), lines))


def format_view(text: str, path: str, view_range: object = None, *, limit: int = 0) -> str:
    """The answer of `view` for a file, with its path, cut at a line's end beyond `limit` characters of text (0: never).

    A range of one line is not cut: there is no other way to read the rest of that.

    Raises:
        Refusal: For a range outside the file, or a file of more than 999,999 lines.
    """
    n_lines = count_lines(text)
    if n_lines > MAX_LINES:
        raise Refusal(MessageKey.TOO_MANY_LINES, path=path)
    first, last, is_one_line = 1, n_lines + 1, False
    if view_range is not None:
        first, last = _parse_range(view_range, n_lines)
        is_one_line = first >= min(last, n_lines)
        text = _slice_lines(text, first, last, n_lines)
    if limit and not is_one_line and len(text) > limit:
        body = _truncate(text, first, last, n_lines, limit, open_end=view_range is None)
    else:
        body = number_lines(text.split("\n"), first)
    return format_message(MessageKey.VIEWED_FILE, path=path, lines=body)


def _slice_lines(text: str, first: int, last: int, n_lines: int) -> str:
    """The lines from `first` to `last`, without the end of that; no object is made of any other line."""
    start = _find_line_start(text, first - 1)
    if last < n_lines:
        return text[start : _find_line_start(text, last) - 1]
    return text[start:].removesuffix("\n") if last == n_lines else text[start:]


def replace_once(text: str, old: str, new: str, path: str) -> TextEdit:
    """Replace the one place where `old` stands; refused if there is none, or several (also overlapping) ones."""
    position = text.find(old)
    if position < 0:
        raise Refusal(MessageKey.NO_MATCH, old_str=old, path=path)
    if text.find(old, position + 1) >= 0:
        raise Refusal(MessageKey.SEVERAL_MATCHES, old_str=old, path=path, lines=_format_occurrences(text, old))
    edited = text[:position] + new + text[position + len(old) :]
    return TextEdit(edited, position)


def insert_at_line(text: str, line: int, inserted: str) -> str:
    """Put `inserted`, ended by a line feed, after a line; raises `Refusal` outside the text."""
    n_lines = count_lines(text)
    if not 0 <= line <= n_lines:
        raise Refusal(MessageKey.BAD_INSERT_LINE, insert_line=quote_value(line), n_lines=n_lines)
    if text and not text.endswith("\n"):
        text += "\n"
    position = _find_line_start(text, line)
    return f"{text[:position]}{inserted.removesuffix(chr(10))}\n{text[position:]}"


def _parse_range(given: object, n_lines: int) -> tuple[int, int]:
    bounds = [as_integer(bound) for bound in given] if isinstance(given, list | tuple) else []
    match bounds:
        case [int(start), int(end)]:
            first = max(start, 1)
            if end == -1 and first <= n_lines:
                return first, n_lines + 1  # with the empty line behind a final newline, as without a range
            if first <= min(end, n_lines):
                return first, min(end, n_lines)
    raise Refusal(MessageKey.BAD_VIEW_RANGE, view_range=quote_value(_to_list(given)), n_lines=n_lines)


def _to_list(given: object) -> object:
    return list(given) if isinstance(given, tuple) else given


def _truncate(text: str, first: int, last: int, n_lines: int, limit: int, *, open_end: bool) -> str:
    """As many whole lines as the limit holds, and a last line that says how to go on."""
    lines = text[: limit + 1].split("\n")
    kept = len(lines) - 1  # the last one does not end within the limit
    end = -1 if open_end or last >= n_lines else last
    if kept:
        note = format_message(
            MessageKey.VIEW_CUT, first=first, last=first + kept - 1, n_lines=n_lines, next_line=first + kept, end=end
        )
        return f"{number_lines(lines[:kept], first)}\n{note}"
    more = "" if first >= n_lines else f"; to go on, with view_range [{first + 1}, {end}]"
    length = text.find("\n") if "\n" in text else len(text)
    note = format_message(MessageKey.VIEW_LINE_CUT, first=first, length=length, shown=limit, more=more)
    return f"{number_lines([lines[0][:limit]], first)}\n{note}"


def format_snippet(text: str, position: int) -> str:
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
            return number_lines(text[start:].split("\n"), first)
        end += 1
    return number_lines(text[start : end - 1].split("\n"), first)


def _format_occurrences(text: str, old: str) -> str:
    """The line of each occurrence, overlapping ones too, the first twenty by number."""
    named: list[str] = []
    line, counted, total = 1, 0, 0
    for run in _find_runs(text, old):
        for position in run[: max(NAMED_OCCURRENCES - total, 0)]:
            line += text.count("\n", counted, position)
            counted = position
            named.append(str(line))
        total += len(run)
    more = f" and {total - NAMED_OCCURRENCES} more" if total > NAMED_OCCURRENCES else ""
    return ", ".join(named) + more


def _find_runs(text: str, old: str) -> Iterator[range]:
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


def _find_line_start(text: str, line: int) -> int:
    position = 0
    while (count := text.count("\n", position, position + _BLOCK)) < line and position < len(text):
        line -= count
        position += _BLOCK
    for _ in range(line):
        position = text.find("\n", position) + 1
    return position


def _get_line_prefixes(first: int, count: int) -> Sequence[str]:
    global _prefixes  # noqa: PLW0603 - a cache of constants
    prefixes, last = _prefixes, first + count - 1
    if last > _KEPT_PREFIXES:
        return [f"{number:6d}\t" for number in range(first, last + 1)]
    if last > len(prefixes):
        prefixes = prefixes + [f"{number:6d}\t" for number in range(len(prefixes) + 1, last + 1)]
        _prefixes = prefixes
    return prefixes if first == 1 else prefixes[first - 1 : last]


# Directory listings, as `view` answers them.

DEPTH = 2
_LEFT_OUT = "node_modules"
_get_sort_key = methodcaller("replace", "/", "\0")
"""By which a directory stands right before what is in it."""

ListedDirectory = tuple[str, list[tuple[str, EntryKind, int]]]
"""What is in one directory: its path from the listed one on, empty or ending in `/`; name, kind and bytes of each."""


@lru_cache(1_024)
def format_human_size(size: int) -> str:
    """Bytes as `0B 1023B 1K 1.5K 1M`: powers of 1024, one decimal, which is left out only when exact."""
    if size < 1024:
        return f"{size}B"
    unit, letter = (1 << 10, "K") if size < 1 << 20 else (1 << 20, "M") if size < 1 << 30 else (1 << 30, "G")
    return f"{size / unit:.1f}{letter}" if size % unit else f"{size // unit}{letter}"


def format_size_over(size: int, limit: int) -> tuple[str, str]:
    """A size and the limit that it is over, so that one can see which is larger."""
    words = format_human_size(size), format_human_size(limit)
    return words if words[0] != words[1] else (f"{size} bytes", f"{limit} bytes")


def format_listing(path: str, found: Iterable[ListedDirectory], view_range: object = None, *, limit: int = 0) -> str:
    """The answer of `view` for a directory, cut after `limit` entries (0: never).

    `found` is everything below it, at any depth and in any order; a directory's size is the sum of its files.

    Raises:
        Refusal: For a range outside the entries, where they are more than the limit; elsewhere it is ignored.
    """
    total = 0
    sizes: dict[str, int] = {}
    directories: set[str] = set()
    kind_of_directories = EntryKind.DIRECTORY  # to look up a member takes as long as all the rest
    for prefix, entries in found:
        above = prefix.split("/")[:-1]
        inside = sum([size for _, _, size in entries])
        total += inside
        for depth in range(1, min(len(above), DEPTH) + 1):
            holder = "/".join(above[:depth])
            sizes[holder] = sizes.get(holder, 0) + inside
        if len(above) < DEPTH:
            for name, kind, size in entries:
                shown_as = prefix + name
                if kind is kind_of_directories:
                    directories.add(shown_as)
                    sizes.setdefault(shown_as, 0)
                else:
                    sizes[shown_as] = size
    names = "\n".join(["", *sizes])
    shown = list(sizes)
    if "\n." in names or "/." in names or _LEFT_OUT in names:
        shown = [name for name in shown if _is_listed(name)]
    shown.sort(key=_get_sort_key)
    lines = [f"{format_human_size(total)}\t{path}"]
    first, last = 1, len(shown)
    if limit and len(shown) > limit:
        if view_range is not None:
            first, last = _parse_range(view_range, len(shown))
            last = min(last, len(shown))
        end, last = last, min(last, first + limit - 1)
    names = "".join(shown)
    may_be_odd = not (names.isascii() and names.isprintable())
    for name in shown[first - 1 : last]:
        size, tail = sizes[name], "/" if name in directories else ""
        if may_be_odd and _is_odd(name):
            name = "/".join(map(_quote_name, name.split("/")))  # noqa: PLW2901 - as it is shown
        lines.append(f"{format_human_size(size)}\t{path}/{name}{tail}")
    if limit and len(shown) > limit and last < end:
        tops = (name.partition("/")[0] for name in shown[last:end])
        below = next((top for top in tops if top in directories), None)
        directory = f"view {path}/{_quote_name(below)}, or " if below else ""
        lines.append(
            format_message(MessageKey.LISTING_CUT, hidden=end - last, directory=directory, next=last + 1, end=end)
        )
    return format_message(MessageKey.VIEWED_DIRECTORY, path=path, listing="\n".join(lines))


def _is_listed(name: str) -> bool:
    if name[:1] == "." or "/." in name:
        return False
    return _LEFT_OUT not in name or _LEFT_OUT not in name.split("/")


def _is_odd(name: str) -> bool:
    if name.isascii():
        return not name.isprintable()
    return "\n" in name or "\t" in name or HIDDEN.search(name) is not None


def _quote_name(name: str) -> str:
    """A name as it is, unless it could forge a line of the listing or hide in it."""
    if not _is_odd(name):
        return name
    import json  # noqa: PLC0415 - start-up: not before the first paint

    return json.dumps(name)
