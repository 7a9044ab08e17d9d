"""The index of a memory, `MEMORY.md`: entries without a file, files without an entry, and what is not loaded of it."""

import re
from collections.abc import Iterable, Iterator, Mapping

from memtui.audit.families.upkeep.links import Known, Linked
from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.prose import Lines, is_loaded_unasked, is_prose
from memtui.audit.rule import Rule
from memtui.audit.subject import Subject
from memtui.core.listing import human_size
from memtui.core.visible import one_line
from memtui.notes.index import Index, index_of, is_index
from memtui.notes.links import Link, Places

_LONG = Rule(
    id="long-index",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="an index that is longer than what is loaded",
    why="A session of Claude Code starts with the first 200 lines or 25 KB of MEMORY.md; what stands below is not "
    "seen. Front matter and block comments do not count.",
    do="Move details into notes of their own, and leave one line for each here.",
    bad="A MEMORY.md of 201 lines.",
    good="A MEMORY.md of 40 lines, each with a link.",
    settings=("max_lines", "max_index_bytes"),
)
_MISSING = Rule(
    id="index-entry-missing",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="an entry of the index without a file",
    why="Every session is told of a note that it will not find.",
    do="Mend the entry, or take it out.",
    bad="- [Deploying](deploynig.md), in MEMORY.md, where there is no such note",
    good="- [Deploying](deploying.md), in MEMORY.md, where deploying.md is a note",
    together="has {count} entries for notes that are not there, such as {some}",
)
_UNLISTED = Rule(
    id="not-in-index",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="a note that the index does not lead to",
    why="Sessions find notes by the index. One that neither MEMORY.md nor a note that it leads to names is not found. "
    "A MEMORY.md that leads to fewer than half of the notes is no index.",
    do="Give it a line in MEMORY.md, or let it go.",
    bad="A folder whose MEMORY.md has a line for each note but this one.",
    good="A note that MEMORY.md does not name, but that a note does which MEMORY.md names.",
)
RULES = (_LONG, _MISSING, _UNLISTED)

_NOT_LISTED = frozenset({"readme", "index"})
"""Names of notes that say what a folder is about: an index need not list them."""


def across(subject: Subject, linked: Linked) -> Iterator[Hit]:
    """What is wrong with each index of the folder."""
    paths = sorted(filter(is_index, subject.notes))
    if not paths:
        return
    places, links = linked
    known = Known(subject)
    for path in paths:
        text = subject.notes[path].text
        if text is None:
            continue
        settings = subject.audit
        index = index_of(text, path, max_lines=settings.max_lines, max_bytes=settings.max_index_bytes)
        lines = Lines(text)
        yield from _long(index, path, lines)
        for link in index.entries:
            if places.resolve(link, path) is None and known.is_dead(link, path):
                yield known.hit(_MISSING.id, "has an entry for {}, which is not there", link, path, lines)
        yield from _unlisted(path, text, index, subject, places, links, [each for each in paths if each != path])


def _long(index: Index, path: str, lines: Lines) -> Iterator[Hit]:
    if index.beyond is None or index.beyond > index.lines:
        return
    left = index.lines - index.beyond + 1
    what = f"{index.loaded:,} lines" if index.limit == "lines" else human_size(index.loaded_bytes)
    has = "has" if left == 1 else "have"
    words = f"loading stops after {what}: {left:,} {'line' if left == 1 else 'lines'} {has} no effect"
    start = lines.at(index.beyond)
    facts = {"line": index.beyond, "lines": index.counted, "bytes": index.counted_bytes, "tokens": index.tokens}
    yield Hit(rule=_LONG.id, path=path, words=words, start=start, end=start, facts=facts, identity="")


def _unlisted(
    path: str,
    text: str,
    index: Index,
    subject: Subject,
    places: Places,
    links: Mapping[str, list[Link]],
    others: Iterable[str],
) -> Iterator[Hit]:
    """Notes that cannot be reached from an index. A file that has no entry at all is no index of files."""
    above = path.rpartition("/")[0]
    below = f"{above}/" if above else ""
    theirs = tuple(each[: -len(each.rpartition("/")[2])] for each in others if each.startswith(below) and each != path)
    notes = [
        each
        for each in subject.notes
        if each.startswith(below)
        and is_prose(each)
        and subject.notes[each].size
        and not is_loaded_unasked(each)
        and not (theirs and each.startswith(theirs))
    ]
    named = _named(text, notes, below)
    listed = {target for link in links.get(path, ()) if (target := places.resolve(link, path)) is not None} | named
    if not index.entries and not listed:
        return
    directories = tuple(f"{link.path.rstrip('/')}/" for link in links.get(path, ()) if link.path and link.kind != "url")
    reached = set(listed)
    waiting = list(listed)
    while waiting:
        here = waiting.pop()
        for link in links.get(here, ()):
            target = places.resolve(link, here)
            if target is not None and target not in reached:
                reached.add(target)
                waiting.append(target)
    left = [each for each in notes if each not in reached and not (directories and each.startswith(directories))]
    if 2 * len(left) > len(notes):
        return  # a text that names some notes, and no index
    for each in left:
        if each.rpartition("/")[2].casefold().partition(".")[0] not in _NOT_LISTED:
            words = f"neither {one_line(path)} nor a note that it leads to names it"
            yield Hit(rule=_UNLISTED.id, path=each, words=words, facts={"index": path}, identity=path)


def _named(text: str, notes: Iterable[str], below: str) -> set[str]:
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
