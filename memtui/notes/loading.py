"""How much of a note an agent's program loads when a session starts.

Each program counts in its own way. Claude Code's rule is that of its documentation ("Manage Claude's memory"): the
first 200 lines or the first 25 KB, whichever comes first, without front matter and block-level HTML comments.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings
from memtui.core.wording import estimate_token_count_from_length, format_size
from memtui.notes.front_matter import parse_front_matter

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--")

Unit = Literal["units", "characters", "bytes", "tokens"]
"""What a size is counted in.

A token is four bytes, as Codex counts. Units are those of UTF-16, as JavaScript counts: most characters are one, an
emoji is two.
"""
_TOKEN = 4  # bytes
Part = Literal["start", "end", "both"]
"""What is kept of a text over the limit: its start, its end, or both without the middle."""


@dataclass(frozen=True, slots=True)
class LoadLimit:
    """How much of a note is loaded; 0 is no limit.

    Attributes:
        lines: Lines.
        size: In `unit`s, line ends included.
        keeps: Which part is kept.
        strips: Whether front matter and block comments are left out, and not counted.
    """

    lines: int = 0
    size: int = 0
    unit: Unit = "units"
    keeps: Part = "start"
    strips: bool = False


@dataclass(frozen=True, slots=True)
class LoadedPart:
    """What becomes of a note when a session starts.

    Attributes:
        lines: All of its lines.
        counted: Lines that count against the limits.
        counted_size: Of those, line ends included, in the unit of the limit.
        beyond: The first line that is not loaded, from 1; `None` if all are. If the first counted line alone exceeds
            the limit, its beginning is loaded and `beyond` is the next line.
        limit: The limit that was reached: `lines`, `size`, or empty.
        loaded: Lines that are loaded.
        loaded_size: Of those, in the unit of the limit.
        tokens: Estimated, of what is loaded.
        uncounted: Ranges `(first, last)`, from 1, in order: front matter and block comments.
    """

    lines: int
    counted: int
    counted_size: int
    beyond: int | None
    limit: str
    loaded: int
    loaded_size: int
    tokens: int
    uncounted: tuple[tuple[int, int], ...] = ()


def get_index_limit(settings: AuditSettings) -> LoadLimit:
    """How much of an index is loaded, by the settings; by default as much as Claude Code loads."""
    return LoadLimit(settings.max_lines, settings.max_index_characters, strips=True)


def format_load_size(limit: LoadLimit) -> str:
    """The size of a limit in words: `25,000 characters`, `2,500 tokens` or `8.0K`."""
    if limit.unit == "bytes":
        return format_size(limit.size)
    return f"{limit.size:,} {'tokens' if limit.unit == 'tokens' else 'characters'}"


def measure_size(text: str, unit: Unit) -> int:
    """The size of a text in a unit; of tokens, the bytes."""
    if unit == "characters" or text.isascii():
        return len(text)
    if unit in ("bytes", "tokens"):
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def measure_load(text: str, limit: LoadLimit) -> LoadedPart:
    """Find what is loaded of a text, in one pass.

    A line is loaded whole or not at all: Claude Code cuts at the last line end within its limit. Of a text of which the
    end or both parts are kept, `beyond` is always `None`.
    """
    if limit.keeps != "start":
        return _measure_rest(text, limit)
    if limit.unit == "tokens":
        part = measure_load(text, replace(limit, size=limit.size * _TOKEN, unit="bytes"))
        return replace(part, counted_size=part.counted_size // _TOKEN, loaded_size=part.loaded_size // _TOKEN)
    lines = _split(text)
    uncounted: list[tuple[int, int]] = []
    counted = counted_size = loaded = loaded_size = characters = 0
    beyond: int | None = None
    reached = ""
    for number, line in enumerate(_iter_counted_lines(text, lines) if limit.strips else lines, 1):
        if line is None:
            if uncounted and uncounted[-1][1] == number - 1:
                uncounted[-1] = (uncounted[-1][0], number)
            else:
                uncounted.append((number, number))
            continue
        counted += 1
        size = measure_size(line, limit.unit) + 1
        counted_size += size
        if beyond is not None:
            continue
        if limit.lines and counted > limit.lines:
            beyond, reached = number, "lines"
        elif limit.size and counted_size > limit.size and not loaded and size > limit.size:
            loaded, loaded_size, reached, beyond = 1, limit.size, "size", number + 1
            characters = len(line) * limit.size // size
        elif limit.size and counted_size > limit.size:
            beyond, reached = number, "size"
        else:
            loaded, loaded_size = loaded + 1, counted_size
            characters += len(line) + 1
    tokens = estimate_token_count_from_length(characters)
    return LoadedPart(len(lines), counted, counted_size, beyond, reached, loaded, loaded_size, tokens, tuple(uncounted))


def _measure_rest(text: str, limit: LoadLimit) -> LoadedPart:
    lines, size = len(_split(text)), measure_size(text, limit.unit)
    is_over = bool(limit.size) and size > limit.size
    share = limit.size / size if is_over else 1.0
    tokens = estimate_token_count_from_length(round(len(text) * share))
    loaded = round(lines * share)
    return LoadedPart(
        lines, lines, size, None, "size" if is_over else "", loaded, min(size, limit.size or size), tokens
    )


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _iter_counted_lines(text: str, lines: list[str]) -> Iterator[str | None]:
    """What is loaded of each line; `None` for one that counts for nothing.

    A comment that is never closed is none: it counts, as what stands in a fenced block does.
    """
    top = parse_front_matter(text).lines
    fence = ""
    last_end = next((at for at in range(len(lines) - 1, -1, -1) if "-->" in lines[at]), -1)
    in_comment = False
    for at, line in enumerate(lines):
        if at < top:
            yield None
        elif in_comment:
            _, end, rest = line.partition("-->")
            in_comment = not end
            yield rest if rest.strip() else None
        elif fence:
            if (found := _FENCE.match(line)) and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
            yield line
        elif found := _FENCE.match(line):
            fence = found[1]
            yield line
        elif (found := _COMMENT.match(line)) and ("-->" in line[found.end() :] or at < last_end):
            _, end, rest = line[found.end() :].partition("-->")
            in_comment = not end
            yield rest if rest.strip() else None
        else:
            yield line
