"""Suggestions for the notes of a folder: found from its graph and by the audit's rules, and carried out one by one.

Nothing is changed before a person accepts. What is accepted is one event, so one undo takes it back.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings, Settings
from memtui.core.unicode import to_one_line
from memtui.core.wording import estimate_token_count, format_count
from memtui.engine import Engine, Observer
from memtui.flows import rearranging
from memtui.flows.dialog import FlowOutcome, Phrases
from memtui.flows.mentions import link_mentions
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.index_entries import add_entry, find_model_entries
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.source import GraphStopped, decode_note
from memtui.knowledge.suggestions import (
    MOST_SUGGESTIONS,
    SUGGESTION_KINDS,
    Suggestion,
    describe_suggestion,
    suggest_categories,
    suggest_links,
)
from memtui.notes.front_matter import read_properties
from memtui.notes.front_matter_edit import add_to_list, set_property
from memtui.notes.memory_index import is_auto_loaded, is_index
from memtui.places.checks import find_new_refusal

if TYPE_CHECKING:
    from memtui.audit.context import AuditContext
    from memtui.audit.model import Hit

_NO_AUDIT = AuditSettings()
_NO_LIMITS = Settings()
_DUPLICATES = ("duplicate", "near-duplicate")
_LONG = ("long-note", "long-index")
_UNLISTED = "not-in-index"


@dataclass(frozen=True, slots=True)
class _Folder:
    """What suggestions are made of: values, so that nobody waits for the graph meanwhile."""

    observer: Observer
    notes: list[ParsedNote]
    edges: list[Edge]
    texts: Mapping[str, str]
    audit: "AuditContext"

    def is_kept(self, path: str) -> bool:
        """Whether a note is generated, mirrored or read-only."""
        return self.observer.dialect.get_rule(path).kept is not None


def find_suggestions(
    observer: Observer,
    *,
    settings: AuditSettings = _NO_AUDIT,
    memory: Settings = _NO_LIMITS,
    kinds: Collection[str] = SUGGESTION_KINDS,
    stop: Callable[[], bool] = lambda: False,
) -> list[Suggestion]:
    """What may be done, by kind and path; from a thread.

    Args:
        observer: The memory, with changes from outside recorded.
        settings: How alike near-duplicates are, and how long a note may be.
        memory: Limits of the folder.
        kinds: Of `SUGGESTION_KINDS`.
        stop: Asked now and then whether to give up.

    Raises:
        GraphStopped: By `stop`.
        StateUnusable, MemoryClosed: The journal cannot be read.
    """
    from memtui.audit.model import AuditCancelled  # noqa: PLC0415 - start-up: the audit is for suggestions alone

    folder = _read_folder(observer, settings, memory, stop)
    found: list[Suggestion] = []
    try:
        for kind in SUGGESTION_KINDS:
            if kind in kinds:
                if stop():
                    raise GraphStopped
                found += _FINDERS[kind](folder)
    except AuditCancelled:
        raise GraphStopped from None
    return found


def _read_folder(observer: Observer, settings: AuditSettings, memory: Settings, stop: Callable[[], bool]) -> _Folder:
    from memtui.audit.context import AuditContext, Note  # noqa: PLC0415 - start-up: as above

    def read(graph: Graph) -> tuple[list[ParsedNote], list[Edge]]:
        return sorted(graph.notes, key=lambda note: note.path), list(graph.iter_edges())

    notes, edges = observer.knowledge.query(read, stop=stop)
    texts: dict[str, str] = {}
    for path, text in observer.knowledge.iter_texts([note.path for note in notes]):
        if stop():
            raise GraphStopped
        texts[path] = text
    files = {}
    for path, text in texts.items():
        data = text.encode("utf-8", "surrogatepass")
        files[path] = Note(path, data, 0, len(data))
    rules = frozenset((*_DUPLICATES, *_LONG, _UNLISTED))
    audit = AuditContext(
        files, {}, observer, settings, memory, 0, on_disk=observer.get_head()[0], selection=rules, stop=stop
    )
    return _Folder(observer, notes, edges, texts, audit)


# What is suggested


def _suggest_entries(folder: _Folder) -> list[Suggestion]:
    """Notes that the index of their directory does not name."""
    by_index: dict[str, bool] = {}
    found: list[Suggestion] = []
    for hit in _check_indexes(folder):
        index = str(hit.facts.get("index", ""))
        if hit.rule != _UNLISTED or folder.is_kept(index):
            continue
        if index not in by_index:
            by_index[index] = _has_known_form(folder, index)
        words = f"{to_one_line(index)} does not lead to it"
        found.append(Suggestion("index", (hit.path, index), words, by_index[index]))
    return found[:MOST_SUGGESTIONS]


def _check_indexes(folder: _Folder) -> "Iterator[Hit]":
    from memtui.audit.rules import links  # noqa: PLC0415 - start-up: as above

    if any(map(is_index, folder.texts)):
        yield from links.check_indexes(folder.audit, links.collect_links(folder.audit))


def _has_known_form(folder: _Folder, index: str) -> bool:
    def ask(graph: Graph) -> bool:
        note = graph.get_note(index)
        return note is not None and bool(find_model_entries(note, folder.texts.get(index, ""), graph.resolve))

    return folder.observer.knowledge.query(ask)


def _suggest_links(folder: _Folder) -> list[Suggestion]:
    return suggest_links(folder.notes, folder.edges, _iter_texts(folder), folder.is_kept)


def _iter_texts(folder: _Folder) -> Iterator[tuple[str, str]]:
    for path, text in folder.texts.items():
        folder.audit.check_cancelled()
        yield path, text


def _suggest_categories(folder: _Folder) -> list[Suggestion]:
    """Types and tags, where the front matter can be written and the agent's program would take it."""
    return [
        each
        for each in suggest_categories(folder.notes, folder.edges, folder.is_kept)
        if _categorise(folder.observer, each, folder.texts.get(each.notes[0], "")) is not None
    ]


def _suggest_merges(folder: _Folder) -> list[Suggestion]:
    """Notes that say the same, or nearly; each with the one that the audit takes for the original."""
    from memtui.audit.rules import duplicates  # noqa: PLC0415 - start-up: as above

    found = [
        Suggestion("merge", (str(hit.facts["of"]), hit.path), f"the second {hit.words}")
        for hit in duplicates.find_duplicates(folder.audit)
        if not any(folder.is_kept(path) or is_auto_loaded(path) for path in (hit.path, str(hit.facts["of"])))
    ]
    return sorted(found, key=lambda each: each.notes)[:MOST_SUGGESTIONS]


def _suggest_splits(folder: _Folder) -> list[Suggestion]:
    """Notes too long for what loads, for what the agent's program accepts, or to be read at once."""
    from memtui.audit.rules import upkeep  # noqa: PLC0415 - start-up: as above

    reasons: dict[str, str] = {}
    for hit in _check_indexes(folder):
        if hit.rule in _LONG:
            reasons[hit.path] = hit.words
    dialect = folder.observer.dialect
    for path, note in folder.audit.notes.items():
        text = folder.texts[path]
        most = dialect.get_rule(path).most
        if most and len(text) > most:
            words = f"{len(text):,} characters, and {dialect.title} accepts {most:,}"
            reasons.setdefault(path, words)
        elif estimate_token_count(text) > folder.audit.audit.max_note_tokens:
            for hit in upkeep.check_note(note, folder.audit):
                if hit.rule in _LONG:
                    reasons.setdefault(path, hit.words)
    sections = {note.path: _count_sections(note) for note in folder.notes}
    return [
        Suggestion("split", (path,), f"{to_one_line(words)}; {_describe_sections(sections[path])}", sections[path] > 1)
        for path, words in sorted(reasons.items())
        if not folder.is_kept(path) and path in sections
    ][:MOST_SUGGESTIONS]


def _count_sections(note: ParsedNote) -> int:
    """How many sections a note is split into: at the highest level of which it has several headings."""
    counts = Counter(heading.level for heading in note.headings)
    return next((counts[level] for level in sorted(counts) if counts[level] > 1), 0)


def _describe_sections(count: int) -> str:
    return f"{format_count(count, 'section')} to split at" if count else "it has no sections to split at"


_FINDERS: Mapping[str, Callable[[_Folder], list[Suggestion]]] = {
    "index": _suggest_entries,
    "link": _suggest_links,
    "categorise": _suggest_categories,
    "merge": _suggest_merges,
    "split": _suggest_splits,
}


# What is accepted


def accept_suggestion(phrases: Phrases, engine: Engine, suggestion: Suggestion) -> FlowOutcome:
    """Do what is suggested, as one event; from a thread.

    What changed since it was suggested is not overwritten: then nothing is done, and the sentence says why.

    Raises:
        LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried.
    """
    if suggestion.kind in ("merge", "split"):
        return _rearrange(phrases, engine, suggestion)
    if suggestion.mention is not None:
        return link_mentions(phrases, engine, [suggestion.mention], suggestion.notes[1])
    path = suggestion.notes[1] if suggestion.kind == "index" else suggestion.notes[0]
    shown = to_one_line(path)
    data = engine.inspect_path(path).data
    text = _decode(data)
    if data is None or text is None:
        return FlowOutcome(f"Not done: {shown} is not there, or no text in UTF-8.", is_warning=True)
    is_entry = suggestion.kind == "index"
    edited = _add_entry(engine, suggestion, text) if is_entry else _categorise(engine, suggestion, text)
    if edited is None:
        why = "no entry in its form leads there" if is_entry else "it has one, or its front matter cannot be changed"
        return FlowOutcome(f"Not done: {shown} is left as it is, as {why}.", is_warning=True)
    what = describe_suggestion(suggestion)
    result = engine.write_all({path: edited.encode("utf-8")}, based_on={path: data}, note=what)
    if result.event is None:
        return FlowOutcome(result.problem or f"Not done: {shown} is left as it is.", is_warning=True)
    undo = phrases.name_action("browse.undo")
    words = f"Done: {what}.{f' {undo} undoes it.' if undo else ''}"
    return FlowOutcome(words, is_warning=bool(result.problem), event=result.event.seq)


def _rearrange(phrases: Phrases, engine: Engine, suggestion: Suggestion) -> FlowOutcome:
    """Merge two notes, or split one, with the links that lead there."""
    is_merge = suggestion.kind == "merge"
    try:
        if is_merge:
            into, merged = suggestion.notes
            planned = rearranging.plan_merge(engine, merged, into)
            result, done = rearranging.merge(engine, merged, into, planned)
            words = rearranging.format_merged(merged, into)
        else:
            planned = rearranging.plan_split(engine, suggestion.notes[0])
            result, done = rearranging.split(engine, suggestion.notes[0], planned)
            words = rearranging.format_split(done)
    except rearranging.RearrangingRefused as refusal:
        return FlowOutcome(f"Not {'merged' if is_merge else 'split'}: {refusal}.", is_warning=True)
    if result.event is None:
        return FlowOutcome(result.problem or "Nothing was changed.", is_warning=True)
    undo = phrases.name_action("browse.undo")
    links = rearranging.format_links(done, is_rewritten=True)
    sentences = (words, links, result.problem, f"{undo} undoes it." if undo else "")
    is_warning = bool(result.problem or done.links.left)
    return FlowOutcome(" ".join(filter(None, sentences)), is_warning=is_warning, event=result.event.seq)


def _decode(data: bytes | None) -> str | None:
    try:
        return data.decode("utf-8") if data is not None and decode_note(data) is not None else None
    except UnicodeDecodeError:
        return None


def _add_entry(engine: Engine, suggestion: Suggestion, text: str) -> str | None:
    path, index = suggestion.notes
    properties = read_properties(engine.knowledge.read_text(path) or "")

    def add(graph: Graph) -> str | None:
        note = graph.get_note(path)
        if note is None or any(path in edge.targets for edge in graph.get_edges(index)):
            return None
        return add_entry(text, index, note, properties, graph.resolve)

    return engine.knowledge.query(add)


def _categorise(observer: Observer, suggestion: Suggestion, text: str) -> str | None:
    """The note with its type or tag; `None` where it cannot be written, or its agent's program would refuse it."""
    path, value = suggestion.notes[0], suggestion.value
    edited = set_property(text, "type", value) if suggestion.field == "type" else add_to_list(text, "tags", [value])
    if edited in (None, text) or find_new_refusal(observer.dialect, path, edited, text) is not None:
        return None
    return edited
