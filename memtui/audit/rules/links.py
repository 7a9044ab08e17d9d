"""Links that lead to no note, notes that no link leads to, and the index of a memory, `MEMORY.md`."""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memtui.audit.context import DATED, AuditContext, LineOffsets, is_hidden, is_prose, iter_prose_notes
from memtui.audit.model import Hit
from memtui.audit.ranking import GONE
from memtui.core.edits import format_human_size
from memtui.core.events import EntryKind
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.notes.links import Link, LinkTargets, find_links, get_note_names
from memtui.notes.loading import LoadedPart, LoadLimit, get_index_limit, measure_load
from memtui.notes.memory_index import (
    NAME,
    MemoryIndex,
    find_named_notes,
    is_auto_loaded,
    is_index,
    is_team_note,
    parse_index,
)
from memtui.places.dialects import get_dialect
from memtui.places.file_rules import FileRule

_DEAD = "dead-link"
_ORPHAN = "orphan"
_UNWRITTEN = "unwritten-note"
_LONG = "long-index"
_MISSING = "index-entry-missing"
_UNLISTED = "not-in-index"
IDS = (_DEAD, _ORPHAN, _UNWRITTEN, _LONG, _MISSING, _UNLISTED)

_EXTENSIONS = "md markdown mdx txt json jsonl yaml yml toml xml html csv tsv pdf png jpg jpeg gif svg webp"
_NOTES = frozenset(_EXTENSIONS.split())
"""Extensions of what stands in a memory folder; a link to anything else is rather one into somebody's code."""
_NO_NAME = re.compile(r"[$={}<>*|\"']|\.\.\.|\A[-\d\s,.;:]*\Z|\A-|\\")
_PLACEHOLDER = re.compile(
    r"(?:.*/)?(?:path|file|filename|name|note|page|title|url|link|target|example|foo|bar|x+|your[-_ ].*)(?:\.\w+)?\Z",
    re.IGNORECASE,
)
_MOST_SOUGHT = 200  # dead links for which the nearest name is looked for
_FEWEST = 8
_LINKED = 0.8  # the share of notes with a link to them from which on links are a habit


_UNITS = {"units": "characters", "characters": "characters", "bytes": "bytes", "tokens": "tokens"}


class LinkMap(NamedTuple):
    """How the notes of a folder hang together."""

    paths: LinkTargets
    links: Mapping[str, list[Link]]


def find_broken(subject: AuditContext) -> Iterator[Hit]:
    """What is wrong with links and indexes. Beside a repository it depends on that, too."""
    linked = collect_links(subject)
    yield from check_links(subject, linked)
    yield from check_indexes(subject, linked)


def collect_links(subject: AuditContext) -> LinkMap:
    """Read the links of all notes."""
    names: dict[str, Sequence[str]] = {}
    links: dict[str, list[Link]] = {}
    for note, text in iter_prose_notes(subject):
        subject.check_cancelled()
        names[note.path] = get_note_names(text)
        links[note.path] = find_links(text, note.path)
    return LinkMap(LinkTargets(subject.notes, names), links)


def check_links(subject: AuditContext, linked: LinkMap) -> Iterator[Hit]:
    """Dead links of all notes, and notes without a link to them."""
    places, links = linked
    known = LinkResolver(subject)
    led_to: set[str] = set()
    resolved = addresses = unknown = 0
    for path, found in links.items():
        text = subject.notes[path].text or ""
        entries = set(parse_index(text, path).entries) if is_index(path) else set()
        lines: LineOffsets | None = None
        for link in found:
            target = places.resolve(link, path)
            if target is not None:
                resolved += 1
                if target != path:
                    led_to.add(target)
                continue
            if link.kind == "url":
                addresses += 1
                continue
            is_entry = link in entries
            if not known.is_dead(link, path, is_entry=is_entry):
                resolved += known.is_directory(link)
                unknown += not known.is_directory(link)
                continue
            if is_entry:
                continue  # of an index, an entry without a file is another finding
            lines = lines or LineOffsets(text)
            if known.is_unwritten(link):
                yield known.build_hit(_UNWRITTEN, "names {}, which does not exist", link, path, lines)
            else:
                yield known.build_hit(_DEAD, "links to {}, which does not exist", link, path, lines)
    words = f"{format_count(resolved, 'working link')} in {format_count(len(links), 'note')}"
    if unknown:
        words += f"; {unknown:,} out of the folder or to an unknown name: not checked"
    if addresses:
        words += f"; {format_count(addresses, 'address', 'addresses')} not checked"
    subject.log.counted["links"] = words
    if not any(is_index(path) for path in subject.notes):
        yield from _find_orphans(subject, led_to)


def _find_orphans(subject: AuditContext, led_to: set[str]) -> Iterator[Hit]:
    notes = [path for path in subject.notes if is_prose(path) and not is_auto_loaded(path)]
    linked = sum(path in led_to for path in notes)
    if len(notes) < _FEWEST or linked < _LINKED * len(notes):
        return
    for path in notes:
        name = path.rpartition("/")[2].casefold().partition(".")[0]
        if path not in led_to and name not in ("readme", "index", "home", "_index"):
            words = f"no note links to it; {linked:,} of {len(notes):,} notes have links to them"
            yield Hit(_ORPHAN, path, words, identity="")


class LinkResolver:
    """What a link could have meant."""

    def __init__(self, subject: AuditContext) -> None:
        self._subject = subject
        self._directories = {path for path, other in subject.others.items() if other.kind is EntryKind.DIRECTORY}
        self._by_name: Mapping[str, str] = {path.rpartition("/")[2].casefold(): path for path in sorted(subject.notes)}
        self._sought = 0
        self._nearest: dict[str, str] = {}

    def is_directory(self, link: Link) -> bool:
        """Whether a link leads to something in the folder that is no file."""
        wanted = (link.path or "").rstrip("/")
        return wanted in self._directories or wanted in self._subject.others

    def is_dead(self, link: Link, path: str, *, is_entry: bool = False) -> bool:
        """Whether a link that leads to no note was meant to lead to one in the folder, as each entry of an index is."""
        if link.kind == "url" or not link.path:
            return False
        wanted = link.path.rstrip("/")
        if self.is_directory(link):
            return False
        if _NO_NAME.search(link.target) or _PLACEHOLDER.match(wanted):
            return False
        if is_hidden(path):
            return False
        extension = wanted.rpartition("/")[2].rpartition(".")[2].casefold()
        has_extension = "." in wanted.rpartition("/")[2].lstrip(".") and extension in _NOTES
        match link.kind:
            case "wiki":
                return has_extension or "." not in wanted or " " in wanted
            case "import":
                return has_extension and not self._is_in_repository(wanted)
            case _:
                return has_extension and (is_entry or self._is_in_folder(link)) and not self._is_in_repository(wanted)

    def is_unwritten(self, link: Link) -> bool:
        """Whether a link names a note that nobody has written yet, rather than one that is called otherwise."""
        name = (link.path or "").rpartition("/")[2]
        return link.kind == "wiki" and "." not in name and not self.find_nearest(link)

    def _is_in_folder(self, link: Link) -> bool:
        """Whether a link leads into a directory that there is, or names a note that stands elsewhere.

        One into another directory is rather meant from where somebody's code is.
        """
        path = link.path or ""
        above = path.rpartition("/")[0]
        if not above or above in self._directories or above.partition("/")[0] in self._directories:
            return True
        return path.rpartition("/")[2].casefold() in self._by_name

    def _is_in_repository(self, wanted: str) -> bool:
        repository = self._subject.repository
        return repository is not None and repository.has_path(wanted)

    def build_hit(self, rule: str, sentence: str, link: Link, path: str, lines: LineOffsets) -> Hit:
        """The finding of a dead link, with the name that is nearest to it."""
        nearest = self.find_nearest(link)
        words = sentence.format(to_one_line(link.target))
        facts: dict[str, str | int | float] = {"target": link.target}
        if nearest:
            words += f"; {to_one_line(nearest)} is"
            facts["nearest"] = nearest
        if gone := self._find_gone_directory(link.path or ""):
            facts[GONE] = gone
        start, end = (lines.to_offset(link.line, column) for column in link.span)
        return Hit(rule, path, words, start=start, end=end, facts=facts)

    def _find_gone_directory(self, path: str) -> str:
        """The highest directory above a path that is not in the folder; empty if all are."""
        names = path.split("/")
        above = ("/".join(names[:length]) for length in range(1, len(names)))
        return next((each for each in above if each not in self._directories), "")

    def find_nearest(self, link: Link) -> str:
        """The note whose name is nearest to that of a link; empty if none is near."""
        wanted = link.path or ""
        if wanted not in self._nearest:
            self._nearest[wanted] = self._search_nearest(wanted)
        return self._nearest[wanted]

    def _search_nearest(self, wanted: str) -> str:
        self._sought += 1
        if self._sought > _MOST_SOUGHT or not self._by_name:
            return ""
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - start-up: 30 ms, for dead links only

        name = wanted.rstrip("/").rpartition("/")[2].casefold()[:200]
        if name in self._by_name:
            return self._by_name[name]
        spelled = name if "." in name else f"{name}.md"
        found = process.extractOne(spelled, self._by_name.keys(), scorer=fuzz.ratio, score_cutoff=80)
        return self._by_name[found[0]] if found else ""


_NOT_LISTED = frozenset({"readme", "index"})
"""Names of notes that say what a folder is about: an index need not list them."""


def check_indexes(subject: AuditContext, linked: LinkMap) -> Iterator[Hit]:
    """What is wrong with each index of the folder, and what of the notes that sessions load does not load."""
    paths = sorted(filter(is_index, subject.notes))
    loaded = sorted(path for path in subject.notes if path not in paths and _find_rule(path, subject)[1].loads)
    if not paths:
        subject.log.skip("there is no MEMORY.md", *(() if loaded else (_LONG,)), _MISSING, _UNLISTED)
    counts: list[str] = []
    for path in loaded:
        words = yield from _check_load(path, subject)
        counts += [words] if words is not None else []
    known = LinkResolver(subject)
    for path in paths:
        text = subject.notes[path].text
        if text is None:
            continue
        words = yield from _check_load(path, subject)
        index = parse_index(text, path)
        lines = LineOffsets(text)
        for link in index.entries:
            if linked.paths.resolve(link, path) is None and known.is_dead(link, path, is_entry=True):
                yield known.build_hit(_MISSING, "has an entry for {}, which does not exist", link, path, lines)
        counts.append(f"{words}, {format_count(len(index.entries), 'entry', 'entries')} checked")
        others = [each for each in paths if each != path]
        yield from _find_unlisted_notes(path, text, index, subject, linked, others)
    if counts:
        more = f"; and {len(counts) - 1:,} more such" if len(counts) > 1 else ""
        subject.log.counted["index"] = counts[0] + more


def _find_rule(path: str, subject: AuditContext) -> tuple[str, FileRule]:
    """Whose file it is, and what it is to that agent."""
    dialect = subject.dialect
    if not dialect.name and is_index(path) and _is_of_openclaw(path, subject):
        dialect = get_dialect("openclaw")
        return dialect.title, dialect.get_rule(NAME)
    return dialect.title, dialect.get_rule(path)


def _is_of_openclaw(path: str, subject: AuditContext) -> bool:
    """Whether an index is the long-term memory of OpenClaw: beside it are notes of days, in `memory`."""
    days = f"{path[: -len(NAME)]}memory/"
    return any(each.startswith(days) and DATED.search(each[len(days) :]) for each in subject.notes)


def _check_load(path: str, subject: AuditContext) -> Generator[Hit, None, str | None]:
    """What of a note does not load; how much of it does, in words, or `None` if it could not be read."""
    if (text := subject.notes[path].text) is None:
        return None
    agent, rule = _find_rule(path, subject)
    limit = get_index_limit(subject.audit) if rule.loads == "index" else rule.limit
    part = measure_load(text, limit)
    if part.limit and limit.keeps != "start":
        what = "loads the end only" if limit.keeps == "end" else "leaves out the middle"
        words = f"{part.counted_size:,} {_UNITS[limit.unit]}: of more than {limit.size:,} {agent} {what}"
        yield Hit(_LONG, path, words, start=0, end=0, facts={_UNITS[limit.unit]: part.counted_size}, identity="")
    elif part.beyond is not None and part.beyond <= part.lines:
        yield _build_load_hit(path, text, part, limit)
    if not rule.loads:
        return to_one_line(path)
    return f"{format_count(part.loaded, 'line')} of {to_one_line(path)} {'loads' if part.loaded == 1 else 'load'}"


def _build_load_hit(path: str, text: str, part: LoadedPart, limit: LoadLimit) -> Hit:
    beyond = part.beyond or 1
    left = part.lines - beyond + 1
    loaded = f"{part.loaded_size:,} {_UNITS[limit.unit]}"
    if limit.unit == "bytes":
        loaded = format_human_size(part.loaded_size)
    what = f"{part.loaded:,} lines" if part.limit == "lines" else loaded
    words = f"loading stops after {what}: {format_count(left, 'line')} {'has' if left == 1 else 'have'} no effect"
    start = LineOffsets(text).to_offset(beyond)
    facts = {"line": beyond, "lines": part.counted, _UNITS[limit.unit]: part.counted_size, "tokens": part.tokens}
    return Hit(_LONG, path, words, start=start, end=start, facts=facts, identity="")


def _find_unlisted_notes(
    path: str, text: str, index: MemoryIndex, subject: AuditContext, linked: LinkMap, others: Iterable[str]
) -> Iterator[Hit]:
    """Notes that cannot be reached from an index. A file that has no entry at all is no index of files."""
    places, links = linked
    above = path.rpartition("/")[0]
    below = f"{above}/" if above else ""
    notes = _list_indexable_notes(subject, below, others)
    named = find_named_notes(text, notes, below)
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
        and (is_team_note(below + ".") or not is_team_note(path))
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
