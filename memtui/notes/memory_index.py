"""The index of Claude Code's auto memory, `MEMORY.md`, and which notes it names."""

import fnmatch
import re
from collections.abc import Iterable

from memtui.core.lazy_dataclass import dataclass
from memtui.notes.links import Link, find_links
from memtui.notes.loading import LoadedPart, LoadLimit, measure_load

NAME = "MEMORY.md"
LIMIT = LoadLimit(lines=200, size=25_000, strips=True)
"""How much of it Claude Code loads."""

_LOADED = frozenset({NAME, "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"})
_TEAM = re.compile(r"(?:memory/)?team/[^/]+/.")

_GLOB = re.compile(r"`((?=[^`\n]*[\w/])[\w./*-]{1,80}\*[\w./*-]{0,80})`")
"""Notes that an index names together: `plan-*.md`."""
_MOST_GLOBS = 200
_ITEM = re.compile(r"[ \t>]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|\|)")
"""What an entry begins with: an item of a list, a heading, or a row of a table."""


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """What an index says.

    Attributes:
        load: How much of it is loaded.
        entries: The links of list items, headings and table rows, and every `[[wiki]]` and `@path`; no addresses, and
            no links out of the folder.
    """

    load: LoadedPart
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


def parse_index(text: str, path: str = NAME, *, limit: LoadLimit = LIMIT) -> MemoryIndex:
    """Read an index, for the ruler of a preview as for an audit."""
    lines = text.split("\n")
    entries = tuple(link for link in find_links(text, path) if is_entry(link, lines))
    return MemoryIndex(measure_load(text, limit), entries)


def is_entry(link: Link, lines: list[str]) -> bool:
    """Whether a link of an index, which is given in lines, is an entry of it."""
    if link.kind == "url" or not link.path:
        return False
    return link.kind != "markdown" or bool(_ITEM.match(lines[link.line - 1]))


def find_named_notes(text: str, notes: Iterable[str], below: str) -> set[str]:
    """The notes that an index names without linking to them: by file, by directory, or several as `plan-*`.

    Args:
        notes: The paths of the notes that it may name, all below its directory.
        below: That directory, with its slash; empty for the folder itself.
    """
    words = set(re.findall(r"[\w./-]+", text))
    words |= {word.strip(".").removeprefix("./") for word in words}
    globs = [re.compile(fnmatch.translate(each)) for each in _GLOB.findall(text)[:_MOST_GLOBS]]
    found: set[str] = set()
    for path in notes:
        inside = path[len(below) :]
        above, _, name = inside.rpartition("/")
        spelled = {path, inside, name}
        if above:
            spelled |= {inside.rpartition(".")[0], f"{above}/", f"{above.partition('/')[0]}/"}
        if not words.isdisjoint(spelled) or any(glob.match(each) for glob in globs for each in (inside, name)):
            found.add(path)
    return found
