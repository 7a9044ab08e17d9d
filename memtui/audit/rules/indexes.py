"""The index of a memory, `MEMORY.md`: entries without a file, files without an entry, and what is not loaded of it."""

import re
from collections.abc import Iterable, Iterator, Mapping

from memtui.audit.context import AuditContext, LineOffsets, is_auto_loaded, is_prose
from memtui.audit.model import Hit
from memtui.audit.rules.links import LinkMap, LinkResolver
from memtui.core.edits import format_human_size
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.notes.links import Link, LinkTargets
from memtui.notes.memory_index import MemoryIndex, is_index, parse_index

_LONG = "long-index"
_MISSING = "index-entry-missing"
_UNLISTED = "not-in-index"
IDS = (_LONG, _MISSING, _UNLISTED)

_NOT_LISTED = frozenset({"readme", "index"})
"""Names of notes that say what a folder is about: an index need not list them."""


def check_indexes(subject: AuditContext, linked: LinkMap) -> Iterator[Hit]:
    """What is wrong with each index of the folder."""
    paths = sorted(filter(is_index, subject.notes))
    if not paths:
        return
    known = LinkResolver(subject)
    for path in paths:
        text = subject.notes[path].text
        if text is None:
            continue
        settings = subject.audit
        index = parse_index(text, path, max_lines=settings.max_lines, max_bytes=settings.max_index_bytes)
        lines = LineOffsets(text)
        yield from _check_index_length(index, path, lines)
        for link in index.entries:
            if linked.paths.resolve(link, path) is None and known.is_dead(link, path):
                yield known.build_hit(_MISSING, "has an entry for {}, which is not there", link, path, lines)
        others = [each for each in paths if each != path]
        yield from _find_unlisted_notes(path, text, index, subject, linked, others)


def _check_index_length(index: MemoryIndex, path: str, lines: LineOffsets) -> Iterator[Hit]:
    if index.beyond is None or index.beyond > index.lines:
        return
    left = index.lines - index.beyond + 1
    what = f"{index.loaded:,} lines" if index.limit == "lines" else format_human_size(index.loaded_bytes)
    has = "has" if left == 1 else "have"
    words = f"loading stops after {what}: {format_count(left, 'line')} {has} no effect"
    start = lines.to_offset(index.beyond)
    facts = {"line": index.beyond, "lines": index.counted, "bytes": index.counted_bytes, "tokens": index.tokens}
    yield Hit(_LONG, path, words, start=start, end=start, facts=facts, identity="")


def _find_unlisted_notes(
    path: str, text: str, index: MemoryIndex, subject: AuditContext, linked: LinkMap, others: Iterable[str]
) -> Iterator[Hit]:
    """Notes that cannot be reached from an index. A file that has no entry at all is no index of files."""
    places, links = linked
    above = path.rpartition("/")[0]
    below = f"{above}/" if above else ""
    notes = _list_indexable_notes(subject, below, others)
    named = _find_named_notes(text, notes, below)
    listed = {target for link in links.get(path, ()) if (target := places.resolve(link, path)) is not None} | named
    if not index.entries and not listed:
        return
    directories = tuple(f"{link.path.rstrip('/')}/" for link in links.get(path, ()) if link.path and link.kind != "url")
    reached = _follow_links(listed, places, links)
    left = [each for each in notes if each not in reached and not (directories and each.startswith(directories))]
    if 2 * len(left) > len(notes):
        return  # a text that names some notes, and no index
    for each in left:
        if each.rpartition("/")[2].casefold().partition(".")[0] not in _NOT_LISTED:
            words = f"neither {to_one_line(path)} nor a note that it leads to names it"
            yield Hit(_UNLISTED, each, words, facts={"index": path}, identity=path)


def _list_indexable_notes(subject: AuditContext, below: str, others: Iterable[str]) -> list[str]:
    """The notes below a directory that an index there should list: none that belongs to an index further below."""
    theirs = tuple(each[: -len(each.rpartition("/")[2])] for each in others if each.startswith(below))
    return [
        path
        for path, note in subject.notes.items()
        if path.startswith(below)
        and is_prose(path)
        and note.size
        and not is_auto_loaded(path)
        and not (theirs and path.startswith(theirs))
    ]


def _follow_links(starts: set[str], places: LinkTargets, links: Mapping[str, list[Link]]) -> set[str]:
    """The notes that can be reached from some notes, with these."""
    reached = set(starts)
    waiting = list(starts)
    while waiting:
        here = waiting.pop()
        for link in links.get(here, ()):
            target = places.resolve(link, here)
            if target is not None and target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


def _find_named_notes(text: str, notes: Iterable[str], below: str) -> set[str]:
    """The notes that an index names without linking to them, by file or by directory."""
    words = set(re.findall(r"[\w./-]+", text))
    words |= {word.strip(".").removeprefix("./") for word in words}
    found: set[str] = set()
    for path in notes:
        inside = path[len(below) :]
        above, _, name = inside.rpartition("/")
        spelled = {path, inside, name}
        if above:
            spelled |= {inside.rpartition(".")[0], f"{above}/", f"{above.partition('/')[0]}/"}
        if not words.isdisjoint(spelled):
            found.add(path)
    return found
