"""Comparing two texts line by line, and word by word within a line.

Every view of a change is made from one `TextDiff`: the marks beside a note, the patch, the screen with two sides, and
the text with one change taken back.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from io import StringIO
from itertools import compress, zip_longest
from typing import AnyStr, NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily

EXACT_WORK = 100_000_000
"""What the exact comparison may cost: lines before, times lines after, times the fewer of the two. Some notes of a
few kilobytes, such as two thousand times the same line with others in between, would take it a minute."""
_MAX_DEPTH = 8
WORD_WORK = 2_000_000
"""The same for the words of two lines: they are compared while the person waits for the screen."""
PAIRING_WORK = 40_000
"""How many pairs of changed lines are looked at for likeness, in one diff."""
LONGEST_LINE = 4_000
"""Characters of the longest line that is taken apart into words; of a longer one, both ends are compared."""
ALIKE = 0.35
"""From which likeness on two lines are one line that was changed, and not two lines."""


class LineCounts(NamedTuple):
    """Lines that a change added and removed."""

    added: int
    removed: int


class Hunk(NamedTuple):
    """A run of lines that differs: `before[old_start:old_end]` became `after[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


Pair = tuple[int | None, int | None]
"""Numbers, from 0, of an old and of a new line that stand opposite each other; `None`: nothing does."""

Range = tuple[int, int]
"""Two positions in a line, in characters; the second is behind the last one."""


class LineEnding(StrEnum):
    """How the lines of a text end."""

    NONE = ""
    """There is no line end in it."""
    LF = "LF"
    CRLF = "CRLF"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class TextDiff:
    """Two texts, compared once: their lines, each with its line feed, and where they differ."""

    old: Sequence[str]
    new: Sequence[str]
    hunks: tuple[Hunk, ...]

    @property
    def before(self) -> str:
        """The old text."""
        return "".join(self.old)

    @property
    def after(self) -> str:
        """The new text."""
        return "".join(self.new)

    @property
    def counts(self) -> LineCounts:
        """How many lines were added and removed."""
        added = sum(hunk.new_end - hunk.new_start for hunk in self.hunks)
        return LineCounts(added, sum(hunk.old_end - hunk.old_start for hunk in self.hunks))

    @property
    def changed_lines(self) -> set[int]:
        """Numbers (from 1) of the new lines that were added or changed, or that follow a removal."""
        changed: set[int] = set()
        for hunk in self.hunks:
            if hunk.new_start == hunk.new_end:
                changed.add(min(hunk.new_start + 1, max(len(self.new), 1)))
            changed.update(range(hunk.new_start + 1, hunk.new_end + 1))
        return changed

    def format_unified(self, *, context: int = 3) -> list[str]:
        """A unified diff without file headers and newlines, with `context` equal lines around each change."""
        return self._build_unified(context, with_ends=False)

    def format_patch(self, old_name: str | None, new_name: str | None, *, context: int = 3) -> str:
        """The change as `git apply` and `patch -p1` take it; empty where nothing differs. `None` names no file."""
        if not self.hunks:
            return ""
        head = [f"--- {_quote_name('a', old_name)}", f"+++ {_quote_name('b', new_name)}"]
        return "\n".join([*head, *self._build_unified(context, with_ends=True)]) + "\n"

    def _build_unified(self, context: int, *, with_ends: bool) -> list[str]:
        """The lines of a patch below its head; `with_ends` with a remark behind a line that has no line feed."""
        old, new = self.old, self.new
        lines: list[str] = []

        def add(sign: str, run: Sequence[str]) -> None:
            lines.extend([sign + line.removesuffix("\n") for line in run])
            if with_ends and run and not run[-1].endswith("\n"):
                lines.append("\\ No newline at end of file")

        for hunks in _group_hunks(self.hunks, 2 * context):
            first, last = hunks[0], hunks[-1]
            old_from, old_to = max(first.old_start - context, 0), min(last.old_end + context, len(old))
            new_from = max(first.new_start - context, 0)
            new_to = min(last.new_end + context, len(new))
            lines.append(f"@@ -{_format_range(old_from, old_to)} +{_format_range(new_from, new_to)} @@")
            at = old_from
            for hunk in hunks:
                add(" ", old[at : hunk.old_start])
                add("-", old[hunk.old_start : hunk.old_end])
                add("+", new[hunk.new_start : hunk.new_end])
                at = hunk.old_end
            add(" ", old[at:old_to])
        return lines

    def pair_lines(self) -> list[list[Pair]]:
        """For each hunk, its lines side by side: what is alike stands opposite each other."""
        budget = PAIRING_WORK
        sides: list[list[Pair]] = []
        for hunk in self.hunks:
            old, new = self.old[hunk.old_start : hunk.old_end], self.new[hunk.new_start : hunk.new_end]
            work = len(old) * len(new)
            alike: list[tuple[int, int]] = []
            if 1 < work <= budget:
                budget -= work
                alike = _match_lines(old, new)
            sides.append(list(_align_lines(hunk, alike)))
        return sides

    def revert_hunk(self, hunk: Hunk) -> str:
        """The new text with one of `hunks` taken back; every other byte of it stays."""
        kept = (self.new[: hunk.new_start], self.old[hunk.old_start : hunk.old_end], self.new[hunk.new_end :])
        return "".join(line for lines in kept for line in lines)

    def revert_hunk_in(self, hunk: Hunk, current: str) -> str | None:
        """A later text with one hunk taken back, if its lines still stand there as the hunk left them.

        Returns:
            `None` where the hunk's lines were changed, or where they could be meant at several places.
        """
        later = compare_texts(self.after, current)
        start = _find_hunk(hunk, later)
        if start is None:
            return None
        end = start + hunk.new_end - hunk.new_start
        kept = (later.new[:start], self.old[hunk.old_start : hunk.old_end], later.new[end:])
        lines = [line for part in kept for line in part]
        if any(not line.endswith("\n") for line in lines[:-1]):
            return None  # a last line without its newline would grow together with what follows it now
        return "".join(lines)


def compare_texts(before: str, after: str) -> TextDiff:
    old, new = split_lines(before), split_lines(after)
    return TextDiff(old, new, tuple(find_hunks(old, new)))


def revert_hunk(before: str, after: str, hunk: Hunk) -> str:
    return compare_texts(before, after).revert_hunk(hunk)


def _group_hunks(hunks: Iterable[Hunk], gap: int) -> list[list[Hunk]]:
    """The hunks in groups, within which at most so many equal lines stand between one and the next."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if groups and hunk.old_start - groups[-1][-1].old_end <= gap:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups


def _format_range(start: int, end: int) -> str:
    """Where lines stand, as in a patch: of no lines, the number of the line before them."""
    return f"{start + (end > start)},{end - start}"


def _quote_name(side: str, name: str | None) -> str:
    r"""A name as a patch gives it: quoted, with octal bytes, where it holds control characters, `"` or `\`."""
    if name is None:
        return "/dev/null"
    name = f"{side}/{name}"
    if name.isprintable() and not set(name) & set('"\\'):
        return name + "\t" * (" " in name)  # behind a name with spaces, a tab tells where it ends
    escaped = "".join(
        f"\\{chr(byte)}" if chr(byte) in '"\\' else chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
        for byte in name.encode("utf-8", "surrogateescape")
    )
    return f'"{escaped}"'


def _find_hunk(hunk: Hunk, later: TextDiff) -> int | None:
    """The line of a later text at which a hunk's new lines begin; `None` where they do not stand there any more."""
    moved = 0
    touched = False
    for other in later.hunks:
        if other.old_start < hunk.new_end and other.old_end > hunk.new_start:
            return None
        touched = touched or (other.old_start <= hunk.new_end and other.old_end >= hunk.new_start)
        if other.old_end <= hunk.new_start:
            moved = other.new_end - other.old_end
    block = list(later.old[hunk.new_start : hunk.new_end])
    if touched and (not block or _count_occurrences(block, later.new) != 1):
        return None
    return hunk.new_start + moved


def _count_occurrences(block: Sequence[str], lines: Sequence[str]) -> int:
    size = len(block)
    return sum(lines[at] == block[0] and list(lines[at : at + size]) == block for at in range(len(lines) - size + 1))


def detect_line_ending(lines: Iterable[str]) -> LineEnding:
    """How lines end: all in LF, all in CRLF, or some so and some so."""
    crlf = lf = 0
    for line in lines:
        if line.endswith("\r\n"):
            crlf += 1
        elif line.endswith("\n"):
            lf += 1
    if crlf and lf:
        return LineEnding.MIXED
    return LineEnding.CRLF if crlf else LineEnding.LF if lf else LineEnding.NONE


def _align_lines(hunk: Hunk, alike: Iterable[tuple[int, int]]) -> Iterator[Pair]:
    """The lines of a hunk side by side: those that are alike, and between them the others in order."""
    old_at, new_at = hunk.old_start, hunk.new_start
    for i, j in (*alike, (hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start)):
        old_to, new_to = hunk.old_start + i, hunk.new_start + j
        yield from zip_longest(range(old_at, old_to), range(new_at, new_to))
        if old_to < hunk.old_end and new_to < hunk.new_end:
            yield old_to, new_to
        old_at, new_at = old_to + 1, new_to + 1


def _match_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of lines that are alike, in order, as much likeness as there is in all."""
    old_bags, new_bags = [_count_tokens(line) for line in old], [_count_tokens(line) for line in new]
    likeness = [[_compare_bags(one, other) for other in new_bags] for one in old_bags]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            together = likeness[i][j] + best[i + 1][j + 1] if likeness[i][j] >= ALIKE else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] >= ALIKE and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


_ATTACHED = "\u0300-\u036f\u200c\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff"
"""What belongs to the character before it: accents, joiners, selectors, colours of skin."""
_TOKEN = compile_lazily(rf"[\w{_ATTACHED}]+| +|[^\w](?:[{_ATTACHED}]|(?<=\u200d)\S)*", re.DOTALL)
"""A word, a run of spaces, or one other sign with what belongs to it."""


def _count_tokens(line: str) -> tuple[Counter[str], int]:
    """The words and signs of a line, and the characters of all of them."""
    words = Counter(token for token in _TOKEN.findall(line[:LONGEST_LINE]) if not token.isspace())
    return words, sum(len(word) * count for word, count in words.items())


def _compare_bags(one: tuple[Counter[str], int], other: tuple[Counter[str], int]) -> float:
    """From 0 to 1: which part of the characters stands in words that both lines hold."""
    (words, size), (others, other_size) = one, other
    if not size or not other_size:
        return 1.0 if size == other_size else 0.0
    common = sum(min(count, others[word]) * len(word) for word, count in words.items() if word in others)
    return 2 * common / (size + other_size)


def tokenize(line: str) -> list[str]:
    """A line taken apart: words, runs of spaces, and any other sign by itself. Put together they are the line again."""
    return _TOKEN.findall(line)


def measure_similarity(old: str, new: str) -> float:
    """From 0 to 1: how much of two lines stands in words that both hold; from `ALIKE` on they are one line, changed."""
    return _compare_bags(_count_tokens(old), _count_tokens(new))


def diff_words(old: str, new: str) -> tuple[list[Range], list[Range]]:
    """Where a changed line differs, in the old and in the new one; nothing where the two are not alike."""
    old, new = old.removesuffix("\n"), new.removesuffix("\n")
    if max(len(old), len(new)) > LONGEST_LINE:
        return _find_changed_middle(old, new)
    old_tokens, new_tokens = _TOKEN.findall(old), _TOKEN.findall(new)
    if _compare_bags(_count_tokens(old), _count_tokens(new)) < ALIKE:
        return [], []
    whole = Hunk(0, len(old_tokens), 0, len(new_tokens))
    found = list(_diff_region(old_tokens, new_tokens, whole, [WORD_WORK], _MAX_DEPTH))
    joined: list[Hunk] = []
    for hunk in found:
        if joined and all(token.isspace() for token in old_tokens[joined[-1].old_end : hunk.old_start]):
            joined[-1] = Hunk(joined[-1].old_start, hunk.old_end, joined[-1].new_start, hunk.new_end)
        else:
            joined.append(hunk)
    return (
        _to_character_ranges(old_tokens, [(hunk.old_start, hunk.old_end) for hunk in joined]),
        _to_character_ranges(new_tokens, [(hunk.new_start, hunk.new_end) for hunk in joined]),
    )


def _to_character_ranges(tokens: Sequence[str], ranges: Iterable[Range]) -> list[Range]:
    at, position = 0, 0
    found: list[Range] = []
    for first, last in ranges:
        position += sum(map(len, tokens[at:first]))
        end = position + sum(map(len, tokens[first:last]))
        if end > position:
            found.append((position, end))
        at, position = last, end
    return found


def _find_changed_middle(old: str, new: str) -> tuple[list[Range], list[Range]]:
    """What is left of two lines without their common ends; nothing where that is most of both."""
    start = measure_common_prefix(old, new)
    tail = measure_common_suffix(old, new, start)
    if 2 * (start + tail) < ALIKE * (len(old) + len(new)):
        return [], []
    ranges = ((start, len(old) - tail), (start, len(new) - tail))
    old_range, new_range = ([each] if each[0] < each[1] else [] for each in ranges)
    return old_range, new_range


def split_lines(text: str) -> list[str]:
    r"""The lines of a text, each with its `\n`, so that a missing final newline is a difference."""
    return StringIO(text, newline="\n").readlines()


def find_hunks(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    """The runs of lines that differ, in order.

    What is equal at both ends is set aside first, so that a small edit in a huge note costs little.
    """
    whole = Hunk(0, len(before), 0, len(after))
    return list(_diff_region(before, after, whole, [EXACT_WORK], _MAX_DEPTH))


def _diff_region(
    before: Sequence[str], after: Sequence[str], within: Hunk, budget: list[int], depth: int
) -> Iterator[Hunk]:
    """The runs that differ within a region: exactly where that is cheap, else between lines that are unique in it."""
    start, old_end, new_start, new_end = within
    while start < old_end and new_start < new_end and before[start] == after[new_start]:
        start, new_start = start + 1, new_start + 1
    while old_end > start and new_end > new_start and before[old_end - 1] == after[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    old, new = before[start:old_end], after[new_start:new_end]
    if not old or not new:
        if old or new:
            yield Hunk(start, old_end, new_start, new_end)
        return
    work = len(old) * len(new) * min(len(old), len(new))
    if work <= budget[0]:
        budget[0] -= work
        if set(old).isdisjoint(new):
            yield Hunk(start, old_end, new_start, new_end)
            return
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                yield Hunk(start + i1, start + i2, new_start + j1, new_start + j2)
        return
    old_anchors, new_anchors = _find_anchors(old, new) if depth else ([], [])
    if not old_anchors:
        yield Hunk(start, old_end, new_start, new_end)
        return
    old_at = new_at = 0
    for i, j in zip([*old_anchors, len(old)], [*new_anchors, len(new)], strict=True):
        if i > old_at or j > new_at:
            gap = Hunk(start + old_at, start + i, new_start + new_at, new_start + j)
            yield from _diff_region(before, after, gap, budget, depth - 1)
        old_at, new_at = i + 1, j + 1


def _find_anchors(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    """Positions of lines that stand once in both, as many as keep one order ("patience"), in each of both.

    Two lists, since so many pairs would keep the garbage collector busy.
    """
    once_old, once_new = _find_unique_lines(old), _find_unique_lines(new)
    is_in_both = list(map(once_new.__contains__, once_old))
    old_places = list(compress(once_old.values(), is_in_both))
    places = list(map(once_new.__getitem__, compress(once_old, is_in_both)))
    if places == sorted(places):
        return old_places, places
    tails: list[int] = []
    ends: list[int] = []
    before_it: list[int] = []
    for number, j in enumerate(places):
        at = bisect_left(tails, j)
        before_it.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [j]
        ends[at : at + 1] = [number]
    kept: list[int] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        kept.append(number)
        number = before_it[number]
    kept.reverse()
    return [old_places[number] for number in kept], [places[number] for number in kept]


def _find_unique_lines(lines: Sequence[str]) -> dict[str, int]:
    """Position of each line that stands once, in order."""
    last = dict(zip(lines, range(len(lines)), strict=True))
    if len(last) == len(lines):
        return last
    counted = Counter(lines)
    return {line: at for at, line in enumerate(lines) if counted[line] == 1}


def count_changes(before: str, after: str) -> LineCounts:
    start, tail = _measure_common_ends(before, after)
    before, after = before[start : len(before) - tail], after[start : len(after) - tail]
    if not before or not after:
        from memtui.core.edits import count_lines  # noqa: PLC0415 - first paint: loads the commands

        return LineCounts(count_lines(after), count_lines(before))  # a new or deleted note, lines put in or taken out
    return compare_texts(before, after).counts


def _measure_common_ends(before: str, after: str) -> tuple[int, int]:
    """Characters of whole lines that both texts begin and end with."""
    start = before.rfind("\n", 0, measure_common_prefix(before, after)) + 1
    tail = measure_common_suffix(before, after, start)
    newline = before.find("\n", len(before) - tail)
    return start, len(before) - newline - 1 if newline >= 0 else 0


def measure_common_prefix(before: AnyStr, after: AnyStr) -> int:
    """Characters, or bytes, that both texts begin with: by bisection over slices, which is quicker than one by one."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def measure_common_suffix(before: AnyStr, after: AnyStr, start: int) -> int:
    """Characters, or bytes, that both texts end with, behind a position."""
    low, high = 0, min(len(before), len(after)) - start
    while low < high:
        middle = (low + high + 1) // 2
        if before[len(before) - middle : len(before) - low] == after[len(after) - middle : len(after) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def format_unified(before: str, after: str, *, context: int = 3) -> list[str]:
    return compare_texts(before, after).format_unified(context=context)
