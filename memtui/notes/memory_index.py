"""The index of Claude Code's auto memory, `MEMORY.md`: how much of it a session loads, and which notes it names.

The rule is that of Claude Code's documentation ("Manage Claude's memory"): the first 200 lines or the first 25 KB,
whichever comes first, without front matter and block-level HTML comments.
"""

import re
from collections.abc import Iterator

from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import estimate_token_count_from_length
from memtui.notes.front_matter import parse_front_matter
from memtui.notes.links import Link, find_links

NAME = "MEMORY.md"
MAX_LINES = 200
MAX_BYTES = 25_000

_LOADED = frozenset({NAME, "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"})
_TEAM = re.compile(r"(?:memory/)?team/[^/]+/.")

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--")
_ITEM = re.compile(r"[ \t>]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|\|)")
"""What an entry begins with: an item of a list, a heading, or a row of a table."""


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """What becomes of an index when a session starts.

    Attributes:
        counted: Lines that count against the limits.
        counted_bytes: Of those, line ends included, in UTF-8.
        beyond: The first line that is not loaded, from 1; `None` if all are. If the first counted line alone exceeds
            the limit, its beginning is loaded and `beyond` is the next line.
        limit: The limit that was reached: `lines`, `bytes`, or empty.
        uncounted: Ranges `(first, last)`, from 1, in order: front matter and block comments.
        entries: The links of list items, headings and table rows, and every `[[wiki]]` and `@path`; no addresses, and
            no links out of the folder.
    """

    lines: int
    counted: int
    counted_bytes: int
    beyond: int | None
    limit: str
    loaded: int
    loaded_bytes: int
    tokens: int
    uncounted: tuple[tuple[int, int], ...] = ()
    entries: tuple[Link, ...] = ()


def is_index(path: str) -> bool:
    """Whether a file is an index by its name, wherever it stands; the name is spelled in capitals."""
    return path.rpartition("/")[2] == NAME


def is_auto_loaded(path: str) -> bool:
    """Whether a file is given to every session, so that nobody is ever seen to read it."""
    return path.rpartition("/")[2] in _LOADED


def is_team_note(path: str) -> bool:
    """Whether a file is in a team mount of Claude Code, `team/<mount>/`: others' notes, mirrored from a server.

    What goes here may go for everybody, and nobody knows from here who reads it.
    """
    return _TEAM.match(path) is not None


def parse_index(text: str, path: str = NAME, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> MemoryIndex:
    """Read an index, for the ruler of a preview as for an audit. It takes one pass over the text.

    A ruler belongs above line `beyond`; lines from there on are dimmed. Lines of `uncounted` are dimmed as well, and
    are not counted beside a ruler that numbers what is loaded. A line is loaded whole or not at all: Claude Code cuts
    at the last line end within the bytes.

    Args:
        max_lines: 0 for no limit.
        max_bytes: 0 for no limit.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    uncounted: list[tuple[int, int]] = []
    counted = counted_bytes = loaded = loaded_bytes = characters = 0
    beyond: int | None = None
    limit = ""
    for number, line in enumerate(_iter_counted_lines(text, lines), 1):
        if line is None:
            if uncounted and uncounted[-1][1] == number - 1:
                uncounted[-1] = (uncounted[-1][0], number)
            else:
                uncounted.append((number, number))
            continue
        counted += 1
        size = len(line.encode("utf-8", "surrogatepass")) + 1
        counted_bytes += size
        if beyond is not None:
            continue
        if max_lines and counted > max_lines:
            beyond, limit = number, "lines"
        elif max_bytes and counted_bytes > max_bytes and not loaded and size > max_bytes:
            loaded, loaded_bytes, limit = 1, max_bytes, "bytes"
            characters = len(line.encode("utf-8", "surrogatepass")[:max_bytes].decode("utf-8", "ignore"))
            beyond = number + 1
        elif max_bytes and counted_bytes > max_bytes:
            beyond, limit = number, "bytes"
        else:
            loaded, loaded_bytes = loaded + 1, counted_bytes
            characters += len(line) + 1
    return MemoryIndex(
        lines=len(lines),
        counted=counted,
        counted_bytes=counted_bytes,
        beyond=beyond,
        limit=limit,
        loaded=loaded,
        loaded_bytes=loaded_bytes,
        tokens=estimate_token_count_from_length(characters),
        uncounted=tuple(uncounted),
        entries=tuple(link for link in find_links(text, path) if _is_entry(link, lines)),
    )


def _is_entry(link: Link, lines: list[str]) -> bool:
    if link.kind == "url" or not link.path:
        return False
    return link.kind != "markdown" or bool(_ITEM.match(lines[link.line - 1]))


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
