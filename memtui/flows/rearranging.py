"""Merge two notes, and split one at its headings, so that no link breaks: each as one event with one undo.

As for moves, it is planned from the journal as of its last event, and anew while agents wait if one of the notes is not
what it was then.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import date
from functools import cache, partial
from typing import Unpack
from urllib.parse import quote

from memtui.core import paths as core_paths
from memtui.core.errors import MemtuiError
from memtui.core.events import EntryKind, Version
from memtui.core.history import ActionResult, SkipReason
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.editing.templates import NoteTemplate, build_slug, fill_template
from memtui.engine import Engine
from memtui.engine.files import NoteEdits
from memtui.engine.moves import iter_parents
from memtui.engine.restore import ActionOptions
from memtui.flows.link_rewriting import ReasonFinder, format_done, read_rewritable
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.merging import (
    ComposedNote,
    NoteSplitter,
    Section,
    Uncloseable,
    compose_merged,
    find_sections,
    find_split_level,
)
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.names import BASIC_MEMORY
from memtui.knowledge.neighbours import find_link_text
from memtui.knowledge.parse import MOST_CHARACTERS, parse_note
from memtui.knowledge.rearranging import plan_rearranged
from memtui.knowledge.rewriting import LinkPlan
from memtui.knowledge.source import is_note
from memtui.notes.front_matter import find_front_matter_end, read_properties
from memtui.notes.front_matter_edit import add_to_list
from memtui.notes.links import MOST_LINKS, find_heading_line, find_links
from memtui.notes.memory_index import is_index
from memtui.notes.sections import DEEPEST, find_section_headings, strip_markup

_ATTEMPTS = 5
"""How often it is planned anew when a program that does not write through memtui is faster."""
_LONGEST_SLUG = 60
_MOST_PARTS = 500
_NAMED = 3


class RearrangingRefused(MemtuiError):
    """Notes cannot be merged, or one cannot be split; says why, as a clause without a stop.

    Attributes:
        is_missing: Whether there is no such note.
        is_kept: Whether the note is not the person's to change here: it is protected, generated, mirrored or read-only.
    """

    def __init__(self, words: str, *, is_missing: bool = False, is_kept: bool = False) -> None:
        super().__init__(words)
        self.is_missing, self.is_kept = is_missing, is_kept


@dataclass(frozen=True, slots=True)
class Rearranged:
    """What notes say once they are merged or split.

    Attributes:
        path: The note that stays.
        texts: The notes that are made, by their paths, with their links as they were.
        links: What becomes of the links, and the texts in which they follow.
        expected: What must stand where, before.
        gone: The paths of notes that are no more.
        parts: The paths of new notes, in order.
    """

    path: str
    texts: Mapping[str, str]
    links: LinkPlan
    expected: Mapping[str, Version | None] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    def make_edits(self, *, rewrites: bool) -> NoteEdits:
        """The texts of all notes, encoded; those of the links only if they are to follow."""
        texts = {**self.texts, **(self.links.texts if rewrites else {})}
        expected = {path: version for path, version in self.expected.items() if path in texts or path in self.gone}
        return NoteEdits({path: text.encode() for path, text in texts.items()}, expected, self.gone)


class _Source:
    """The notes of a folder as of its last event."""

    def __init__(self, engine: Engine, *paths: str) -> None:
        self.engine = engine
        self._at = engine.get_head()[0]
        self._protected = engine.files.get_protected()
        self.texts = {path: self._require_note(path) for path in paths}
        self.graph = engine.knowledge.get_past(self._at)  # a copy, which is changed

    def _require_note(self, path: str) -> str:
        """What a note says. Raises `RearrangingRefused` if it is none that may be changed."""
        name, rule = to_one_line(path), self.engine.dialect.get_rule(path)
        version = self.get_version(path)
        if version is None:
            raise RearrangingRefused(f"{name} does not exist", is_missing=True)
        if version.kind is EntryKind.DIRECTORY:
            raise RearrangingRefused(f"{name} is a directory")
        if version.kind is not EntryKind.FILE:
            raise RearrangingRefused(f"{name} is a link or a device, and no note")
        if not is_note(path) or rule.syntax == "text":
            raise RearrangingRefused(f"{name} is no note in Markdown")
        if not core_paths.is_shown(path):
            raise RearrangingRefused(f"{name} is hidden, so its links are not known")
        if any(core_paths.covers(each, path) for each in self._protected):
            raise RearrangingRefused(f"{name} is protected", is_kept=True)
        if rule.kept:
            raise RearrangingRefused(f"{name} is {rule.kept}. {rule.why}".rstrip(" ."), is_kept=True)
        data = self.engine.history.get_texts({version.sha256}).get(version.sha256) if version.sha256 else None
        if data is None:
            raise RearrangingRefused(f"{name} is too large to be kept in the history")
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise RearrangingRefused(f"{name} is not text in UTF-8")
        return text

    def get_version(self, path: str) -> Version | None:
        return self.engine.history.get_version_at(path, self._at)

    def get_note(self, path: str) -> ParsedNote:
        return self.graph.get_note(path) or parse_note(self.texts[path], path)

    def read(self, path: str) -> str | None:
        """What another note says, if it can be written again as it is."""
        return read_rewritable(self.engine, path, self._at)

    def plan(
        self,
        path: str,
        composed: Mapping[str, ComposedNote],
        find_target: Callable[[Edge], str | None],
        *,
        find_above: Callable[[Edge], str] = lambda _: "",
        gone: Sequence[str] = (),
        parts: Sequence[str] = (),
    ) -> Rearranged:
        """Plan what becomes of the links. Raises `RearrangingRefused` where they cannot all be followed."""
        for each, note in composed.items():
            self._check_size(each, note.text)
        links = plan_rearranged(
            self.graph,
            composed,
            gone,
            self.read,
            find_target=find_target,
            find_reason=ReasonFinder(self.engine).find,
            find_above=find_above,
        )
        for each in composed:
            self._check_size(each, links.texts.get(each, ""))
        expected = {each: self.get_version(each) for each in (*composed, *gone, *links.texts)}
        texts = {each: note.text for each, note in composed.items()}
        return Rearranged(path, texts, links, expected, tuple(gone), tuple(parts))

    def _check_size(self, path: str, text: str) -> None:
        name, most = to_one_line(path), self.engine.dialect.get_rule(path).most
        if most and len(text) > most >= len(self.texts.get(path, "")):
            agent = self.engine.dialect.title
            raise RearrangingRefused(f"{name} would be longer than the {most:,} characters that {agent} accepts")
        if len(text) > MOST_CHARACTERS or len(find_links(text, path)) >= MOST_LINKS:
            raise RearrangingRefused(f"{name} would be too large, so that not all its links are known")


# Merging


def plan_merge(engine: Engine, merged: str, into: str) -> Rearranged:
    """Plan what notes say once one of them went into another one.

    The front matter of the one that stays is kept, with the tags of both. Raises `RearrangingRefused`.

    Args:
        engine: Of the folder.
        merged: The path of the note that goes.
        into: The path of the note that stays.
    """
    if merged == into:
        raise RearrangingRefused(f"{to_one_line(into)} is the same note twice")
    source = _Source(engine, into, merged)
    text, title = source.texts[into], " ".join(source.get_note(merged).title.split())
    try:
        composed = compose_merged(
            text, source.texts[merged], path=into, merged=merged, title=title, front=_unite_front(source, into, merged)
        )
    except Uncloseable:
        raise RearrangingRefused(f"{to_one_line(into)} ends in a block that is not closed") from None

    def find_target(edge: Edge) -> str | None:
        if edge.link is not None and edge.link.path == "" and edge.source == merged:
            return into
        if len(edge.targets) != 1:
            return None
        return into if edge.targets[0] == merged else edge.targets[0]

    headings = _MovedHeadings(source.texts[merged], merged, composed)
    return source.plan(into, {into: composed}, find_target, find_above=headings.find_above, gone=(merged,))


class _MovedHeadings:
    """Tells which headings of a note that went into another one are not found there by their words alone.

    Args:
        text: What the note said.
        path: Its path.
        composed: The one into which it went.
    """

    def __init__(self, text: str, path: str, composed: ComposedNote) -> None:
        self._path = path
        self._find_before = cache(partial(find_heading_line, text))
        self._find_after = cache(partial(find_heading_line, composed.text))
        self._lines = {
            each.first: line for line, each in enumerate(composed.origins, 1) if each is not None and each.path == path
        }
        start = min(self._lines.values(), default=0)
        titles = [each.text for each in find_section_headings(composed.text) if each.line <= start]
        self._title = strip_markup(titles[-1]) if titles else ""

    def find_above(self, edge: Edge) -> str:
        """The words of the heading above the one that a link names, if those are needed; else empty."""
        link = edge.link
        is_to_it = edge.targets == (self._path,) or (link is not None and link.path == "" and edge.source == self._path)
        if link is None or not is_to_it or not link.fragment or link.fragment.startswith("^") or not self._title:
            return ""
        line = self._find_before(link.fragment)
        moved = self._lines.get(line or 0)
        if moved is None or self._find_after(link.fragment) == moved:
            return ""
        return self._title if self._find_after(f"{self._title}#{link.fragment}") == moved else ""


def _unite_front(source: _Source, into: str, merged: str) -> str:
    """The front matter of a note with the tags of another one, and its name as an alias where aliases are known."""
    text, other = source.texts[into], source.texts[merged]
    properties, others = read_properties(text), read_properties(other)
    united = text
    tags = others.get("tags")
    tags = tags if isinstance(tags, list) else [tags] if isinstance(tags, str) and not set(tags) & set(", ") else []
    united = add_to_list(united, "tags", [tag for tag in tags if isinstance(tag, str)])
    if not source.engine.dialect.name and ("aliases" in properties or "aliases" in others):
        stem = merged.rpartition("/")[2].rpartition(".")[0]
        aliases = others.get("aliases")
        more = [each for each in aliases if isinstance(each, str)] if isinstance(aliases, list) else []
        named = [each for each in (others.get("title"), stem) if isinstance(each, str) and each]
        united = add_to_list(united, "aliases", [*named, *more])
    return united[: find_front_matter_end(united)]


def merge(
    engine: Engine,
    merged: str,
    into: str,
    planned: Rearranged,
    *,
    rewrites: bool = True,
    **options: Unpack[ActionOptions],
) -> tuple[ActionResult, Rearranged]:
    """Have a note go into another one, with the links that lead to it, as one event.

    Args:
        engine: Of the folder.
        merged: The path of the note that goes.
        into: The path of the note that stays.
        planned: As `plan_merge` found it.
        rewrites: Whether links are rewritten that would break.
        options: See `ActionOptions`.

    Raises:
        LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
    """
    return _repeat(
        engine,
        lambda edit: engine.files.rearrange("merge", into, edit, note=f"with {to_one_line(merged)}", **options),
        planned,
        lambda: plan_merge(engine, merged, into),
        "Not merged",
        rewrites=rewrites,
    )


# Splitting


def plan_split(engine: Engine, path: str, level: int = 0) -> Rearranged:
    """Plan what notes say once one was split at its headings of a level. Raises `RearrangingRefused`.

    Each section becomes a note beside it, named by its heading, with a link in its place.

    Args:
        engine: Of the folder.
        path: The path of the note.
        level: 1 to 6; 0 for the highest of which there are several.
    """
    if not 0 <= level <= DEEPEST:
        raise RearrangingRefused(f"a heading has a level of 1 to {DEEPEST}, and not {level}")
    source = _Source(engine, path)
    text, name = source.texts[path], to_one_line(path)
    level = level or find_split_level(find_section_headings(text))
    if not level:
        raise RearrangingRefused(f"{name} has no two headings of a level")
    sections = find_sections(text, level)
    if not sections:
        raise RearrangingRefused(f"{name} has no heading of level {level}")
    if len(sections) > _MOST_PARTS:
        raise RearrangingRefused(f"{name} would become more than {_MOST_PARTS} notes")
    names = _choose_names(source, path, sections)
    splitter, find_line = NoteSplitter(text, path), cache(partial(find_heading_line, text))
    parts = {
        part: splitter.compose_section(section, _make_front(source, part, text)) for part, section in names.items()
    }
    by_line = {section.heading.line: part for part, section in names.items()}
    rest = splitter.compose_rest(sections, _EntryWriter(source, path, parts, by_line).write)

    def find_target(edge: Edge) -> str | None:
        link = edge.link
        is_own = link is not None and not link.path and edge.source == path
        if link is None or (len(edge.targets) != 1 and not is_own):
            return None
        if not is_own and edge.targets[0] != path:
            return edge.targets[0]
        line = find_line(link.fragment) or 0
        return next((part for part, each in names.items() if each.heading.line <= line <= each.last), path)

    return source.plan(path, {path: rest, **parts}, find_target, parts=tuple(parts))


def plan_split_levels(engine: Engine, path: str) -> dict[int, Rearranged]:
    """Plan a split at each level of which a note has several headings; at each that it has, if of none several.

    Raises:
        RearrangingRefused: The note cannot be split at all.
    """
    source = _Source(engine, path)
    levels = [heading.level for heading in find_section_headings(source.texts[path])]
    chosen = [level for level in sorted(set(levels)) if levels.count(level) > 1] or sorted(set(levels))
    planned: dict[int, Rearranged] = {}
    refused = RearrangingRefused(f"{to_one_line(path)} has no headings")
    for level in chosen:
        try:
            planned[level] = plan_split(engine, path, level)
        except RearrangingRefused as refusal:
            refused = refusal
    if not planned:
        raise refused
    return planned


def _choose_names(source: _Source, path: str, sections: Sequence[Section]) -> dict[str, Section]:
    """A path for each section that nothing has yet, in whatever capitals."""
    folder = path[: path.rfind("/") + 1]
    extension = path.rpartition(".")[2]
    taken = {each.casefold() for each in source.graph}
    taken |= {parent.casefold() for each in source.graph for parent in iter_parents(each)}
    names: dict[str, Section] = {}
    for section in sections:
        words = strip_markup(section.heading.text)
        slug = _shorten(build_slug(f"{words}.md")) if any(map(str.isalnum, words)) else build_slug(path)
        number, new = 1, f"{folder}{slug}.{extension}"
        while new.casefold() in taken or source.get_version(new) is not None:
            number += 1
            new = f"{folder}{slug}-{number}.{extension}"
        taken.add(new.casefold())
        names[new] = section
    return names


def _shorten(slug: str) -> str:
    """A slug of a sensible length, cut between words where it can be."""
    short = slug[:_LONGEST_SLUG]
    if short != slug and "-" in short:
        short = short.rpartition("-")[0]
    return short.encode()[: _LONGEST_SLUG * 3].decode(errors="ignore")


def _make_front(source: _Source, path: str, text: str) -> str:
    """The front matter of a part, where the note has some and the agent gives its new notes some."""
    if not find_front_matter_end(text):
        return ""
    start = next((each for each in source.engine.dialect.starts if each.is_for(path)), None)
    if start is None or "---" not in start.text:
        return ""
    filled = fill_template(NoteTemplate(start.name, "", start.label, start.text), path, date.today())
    return filled[: find_front_matter_end(filled)]


class _EntryWriter:
    """Writes the lines that lead from a note to its parts, in the form in which links are written there.

    Args:
        source: Of the folder; its graph gets the parts.
        path: Of the note.
        parts: The parts by their paths.
        by_line: Their paths, by the lines of their headings.
    """

    def __init__(
        self, source: _Source, path: str, parts: Mapping[str, ComposedNote], by_line: Mapping[int, str]
    ) -> None:
        self._graph = Graph(
            {each: source.graph.get_note(each) for each in source.graph}
            | {each: parse_note(note.text, each) for each, note in parts.items()},
            dialect=source.engine.dialect.name,
        )
        self._path = path
        self._by_line = by_line
        self._is_wiki = _prefers_wiki(source, path)

    def write(self, section: Section) -> str:
        """The line for a section."""
        target = self._by_line[section.heading.line]
        words = " ".join(strip_markup(section.heading.text).split()) or target.rpartition("/")[2].rpartition(".")[0]
        words = words.translate({ord(sign): " " for sign in "[]|\\`<>"})
        words = " ".join(words.split()) or "note"
        if self._is_wiki:
            line = f"- {find_link_text(self._graph, words, target, self._path)}" if "#" not in words else ""
            found = [self._graph.resolve(each.link, self._path) for each in parse_note(line, self._path).links]
            if found == [(target,)]:
                return line
        name = target.rpartition("/")[2]
        return f"- [{words}]({quote(name, safe='') if name.isascii() else name.replace(' ', '%20')})"


def _prefers_wiki(source: _Source, path: str) -> bool:
    """Whether links to notes are written as `[[name]]`: as in this note, else as in most notes of the folder."""
    if is_index(path):
        return False
    if source.engine.dialect.name == BASIC_MEMORY:
        return True
    for edges in (source.graph.get_edges(path), source.graph.iter_edges()):
        counts = Counter(edge.link.form for edge in edges if edge.link is not None and edge.link.path)
        if counts["wiki"] != counts["inline"] + counts["angled"]:
            return counts["wiki"] > counts["inline"] + counts["angled"]
    return True


def split(
    engine: Engine, path: str, planned: Rearranged, *, level: int = 0, **options: Unpack[ActionOptions]
) -> tuple[ActionResult, Rearranged]:
    """Split a note as planned, with the links that lead to its parts, as one event. Raises as `merge`.

    Args:
        engine: Of the folder.
        path: The path of the note.
        planned: As `plan_split` found it.
        level: As it was given there.
        options: See `ActionOptions`.
    """
    note = f"into {format_count(len(planned.parts), 'note')}"
    return _repeat(
        engine,
        lambda edit: engine.files.rearrange("split", path, edit, note=note, **options),
        planned,
        lambda: plan_split(engine, path, level),
        "Not split",
        rewrites=True,
    )


# Both


def _repeat(
    engine: Engine,
    act: Callable[[Callable[[], NoteEdits]], ActionResult],
    planned: Rearranged,
    plan: Callable[[], Rearranged],
    failure: str,
    *,
    rewrites: bool,
) -> tuple[ActionResult, Rearranged]:
    """Act as planned, or if a note is not what it was, as planned while no agent can write."""
    latest = planned

    def plan_anew() -> NoteEdits:
        nonlocal latest
        latest = plan()
        return latest.make_edits(rewrites=rewrites)

    result = act(lambda: planned.make_edits(rewrites=rewrites))
    try:
        for _ in range(_ATTEMPTS):
            if not _has_changed(result, latest):
                break
            engine.reconcile()
            result = act(plan_anew)
    except RearrangingRefused as refusal:
        result = ActionResult(problem=f"{failure}: {refusal}. Nothing was written.")
    return result, latest


def _has_changed(result: ActionResult, planned: Rearranged) -> bool:
    """Whether nothing was done because a note is not what it was, or stands where a part was to be."""
    return result.event is None and any(
        each.reason in (SkipReason.CHANGED, SkipReason.TAKEN) and each.path in planned.expected
        for each in result.skipped
    )


# Words


def format_merged(merged: str, into: str, *, is_rehearsed: bool = False) -> str:
    """That a note went into another one, as a sentence."""
    verb = "Would merge" if is_rehearsed else "Merged"
    return f"{verb} {to_one_line(merged)} into {to_one_line(into)}."


def format_split(planned: Rearranged, *, is_rehearsed: bool = False) -> str:
    """Into what a note was split, as a sentence."""
    verb = "Would split" if is_rehearsed else "Split"
    count = len(planned.parts)
    return f"{verb} {to_one_line(planned.path)} into {format_count(count, 'note')}: {format_parts(planned)}."


def format_parts(planned: Rearranged) -> str:
    """The names of the first parts."""
    names = [to_one_line(part.rpartition("/")[2]) for part in planned.parts[:_NAMED]]
    more = len(planned.parts) - len(names)
    return f"{', '.join(names)}{f' and {more:,} more' if more else ''}"


def format_links(planned: Rearranged, *, is_rewritten: bool, is_rehearsed: bool = False) -> str:
    """What became of the links, as sentences; empty where none was concerned."""
    return format_done(planned.links, is_rewritten=is_rewritten, is_rehearsed=is_rehearsed)
