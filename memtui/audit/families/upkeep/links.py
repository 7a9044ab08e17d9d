"""Links that lead to no note, and notes that no link leads to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.prose import Lines, is_hidden, is_loaded_unasked, is_prose, prose
from memtui.audit.rule import Rule
from memtui.audit.subject import Subject
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.notes.index import index_of, is_index
from memtui.notes.links import Link, Places, links_of, names_of

_DEAD = Rule(
    id="dead-link",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="a link to a note that is not there",
    why="Whoever follows it finds nothing, and may make the note anew. Only links within the folder are looked at.",
    do="Mend the link, or take it out.",
    bad="For the steps see [deploying](deploynig.md).",
    good="For the steps see [deploying](deploying.md), where deploying.md is a note.",
    together="has {count} links to notes that are not there, such as {some}",
)
_ORPHAN = Rule(
    id="orphan",
    family=Family.UPKEEP,
    severity=Severity.INFO,
    title="a note that no other links to",
    why="Where notes are found by their links, one without any is not found. Only in folders where nearly all notes "
    "are linked, and that have no index.",
    do="Link it from a note that is read, or let it go.",
    bad="One note of ten without a link to it, where the other nine have some.",
    good="A folder in which nobody links notes.",
)
_UNWRITTEN = Rule(
    id="unwritten-note",
    family=Family.UPKEEP,
    severity=Severity.INFO,
    title="a name in double brackets that no note has",
    why="Claude Code names notes that it may write one day, in a tenth of all notes: that is no mistake, and so this "
    "rule is off unless it is switched on. A name that is nearly that of a note is a dead link.",
    do="Nothing; or write the note.",
    bad="See [[release-checklist]], where no note is called so, nor nearly so.",
    good="See [[deploying]], where deploying.md is a note.",
    is_on=False,
    together="names {count} notes that nobody has written, such as {some}",
)
RULES = (_DEAD, _ORPHAN, _UNWRITTEN)

_EXTENSIONS = "md markdown mdx txt json jsonl yaml yml toml xml html csv tsv pdf png jpg jpeg gif svg webp"
_NOTES = frozenset(_EXTENSIONS.split())
"""Extensions of what stands in a memory folder; a link to anything else is rather one into somebody's code."""
_NO_NAME = re.compile(r"[$={}<>*|\"']|\.\.\.|\A[-\d\s,.;:]*\Z|\A-|\\")
_PLACEHOLDER = re.compile(
    r"(?:.*/)?(?:path|file|filename|name|note|page|title|url|link|target|example|foo|bar|x+|your[-_ ].*)(?:\.\w+)?\Z",
    re.IGNORECASE,
)
_MOST_SOUGHT = 200
"""Dead links for which the nearest name is looked for."""
_FEWEST = 8
_LINKED = 0.8
"""The share of notes with a link to them from which on links are a habit."""


class Linked(NamedTuple):
    """How the notes of a folder hang together.

    Attributes:
        places: The notes as links name them.
        links: The links of each note, by its path.
    """

    places: Places
    links: Mapping[str, list[Link]]


def linked(subject: Subject) -> Linked:
    """Read the links of all notes."""
    names: dict[str, Sequence[str]] = {}
    links: dict[str, list[Link]] = {}
    for note, text in prose(subject):
        subject.go_on()
        names[note.path] = names_of(text)
        links[note.path] = links_of(text, note.path)
    return Linked(Places(subject.notes, names), links)


def across(subject: Subject, linked: Linked) -> Iterator[Hit]:
    """Dead links of all notes, and notes without a link to them."""
    places, links = linked
    known = Known(subject)
    led_to: set[str] = set()
    for path, found in links.items():
        text = subject.notes[path].text or ""
        entries = set(index_of(text, path).entries) if is_index(path) else set()
        lines: Lines | None = None
        for link in found:
            target = places.resolve(link, path)
            if target is not None:
                if target != path:
                    led_to.add(target)
                continue
            if link in entries or not known.is_dead(link, path):
                continue  # of an index, an entry without a file is another finding
            lines = lines or Lines(text)
            if known.is_unwritten(link):
                yield known.hit(_UNWRITTEN.id, "names {}, which nobody has written", link, path, lines)
            else:
                yield known.hit(_DEAD.id, "links to {}, which is not there", link, path, lines)
    if not any(is_index(path) for path in subject.notes):
        yield from _orphans(subject, led_to)


def _orphans(subject: Subject, led_to: set[str]) -> Iterator[Hit]:
    notes = [path for path in subject.notes if is_prose(path) and not is_loaded_unasked(path)]
    linked = sum(path in led_to for path in notes)
    if len(notes) < _FEWEST or linked < _LINKED * len(notes):
        return
    for path in notes:
        name = path.rpartition("/")[2].casefold().partition(".")[0]
        if path not in led_to and name not in ("readme", "index", "home", "_index"):
            words = f"no note links to it, as they do to {linked:,} of {len(notes):,}"
            yield Hit(rule=_ORPHAN.id, path=path, words=words, identity="")


class Known:
    """What a link could have meant."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._directories = {path for path, other in subject.others.items() if other.kind is Kind.DIRECTORY}
        self._by_name: Mapping[str, str] = {path.rpartition("/")[2].casefold(): path for path in sorted(subject.notes)}
        self._sought = 0
        self._nearest: dict[str, str] = {}

    def is_dead(self, link: Link, path: str) -> bool:
        """Whether a link that leads to no note was meant to lead to one in the folder."""
        if link.kind == "url" or not link.path:
            return False
        wanted = link.path.rstrip("/")
        if wanted in self._directories or wanted in self._subject.others:
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
                return has_extension and self._is_here(link) and not self._is_in_repository(wanted)

    def is_unwritten(self, link: Link) -> bool:
        """Whether a link names a note that nobody has written yet, rather than one that is called otherwise."""
        name = (link.path or "").rpartition("/")[2]
        return link.kind == "wiki" and "." not in name and not self.nearest(link)

    def _is_here(self, link: Link) -> bool:
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
        return repository is not None and repository.has(wanted)

    def hit(self, rule: str, sentence: str, link: Link, path: str, lines: Lines) -> Hit:
        """The finding of a dead link, with the name that is nearest to it."""
        nearest = self.nearest(link)
        words = sentence.format(one_line(link.target))
        facts: dict[str, str | int | float] = {"target": link.target}
        if nearest:
            words += f"; {one_line(nearest)} is"
            facts["nearest"] = nearest
        start, end = (lines.at(link.line, column) for column in link.span)
        return Hit(rule=rule, path=path, words=words, start=start, end=end, facts=facts)

    def nearest(self, link: Link) -> str:
        """The note whose name is nearest to that of a link; empty if none is near."""
        wanted = link.path or ""
        if wanted not in self._nearest:
            self._nearest[wanted] = self._sought_for(wanted)
        return self._nearest[wanted]

    def _sought_for(self, wanted: str) -> str:
        self._sought += 1
        if self._sought > _MOST_SOUGHT or not self._by_name:
            return ""
        from rapidfuzz import fuzz, process  # deferred: 30 ms, which a folder without dead links does not wait for

        name = wanted.rstrip("/").rpartition("/")[2].casefold()[:200]
        if name in self._by_name:
            return self._by_name[name]
        spelled = name if "." in name else f"{name}.md"
        found = process.extractOne(spelled, self._by_name.keys(), scorer=fuzz.ratio, score_cutoff=80)
        return self._by_name[found[0]] if found else ""
