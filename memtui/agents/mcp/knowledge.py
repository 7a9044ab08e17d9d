"""The tools that follow links: `build_context`, `list_links`, the note that `read_note` names, and filters of a search.

Titles, categories and words of notes come from anywhere: in a text each stands on one line. An answer has a budget in
characters, and says what it leaves out.
"""

import contextlib
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping

from memtui.agents.mcp.answers import (
    CharacterBudget,
    ToolAnswer,
    ToolArgumentError,
    ToolArguments,
    find_moment_us,
    format_path,
    to_json_text,
)
from memtui.core.errors import LockTimeout
from memtui.core.paths import ROOT_NAME, MemoryPath, parse_path
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.knowledge import documents
from memtui.knowledge.context import DEEPEST, SCHEME, RelatedNote, find_addressed
from memtui.knowledge.filters import InvalidCondition, NoteFilter, parse_conditions
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.source import GraphStopped
from memtui.notes.front_matter import read_properties

_SECONDS = 20.0
"""How long a tool waits until all notes are read; the next call goes on where this one ended."""
_MOST_RELATED = 100
_NAMED = 5
_LONGEST_WORD = 200


def parse_note_filter(fields: ToolArguments) -> NoteFilter:
    """The filters of a search by what notes say of themselves.

    Raises:
        ToolArgumentError: One cannot be read.
    """
    words = {
        name: frozenset(word.strip().removeprefix("#").casefold() for word in fields.get_words(name))
        for name in ("types", "status", "tags", "categories")
    }
    try:
        conditions = parse_conditions(fields.get_mapping("fields"))
    except InvalidCondition as error:
        raise ToolArgumentError(f"Error: `fields`: {error}") from None
    return NoteFilter(words["types"], words["status"], words["tags"], words["categories"], conditions)


def _to_json(value: object) -> object:
    """Data that JSON can hold."""
    if isinstance(value, str):
        return to_json_text(value)
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value]
    if isinstance(value, dict):
        return {name: _to_json(each) for name, each in value.items()}
    return value


class KnowledgeTools:
    """Answers what depends on the graph. Calls may come from several threads: they take turns."""

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._turn = threading.Lock()

    @contextlib.contextmanager
    def _open_graph(self) -> Iterator[Graph]:
        """The graph of now.

        Raises:
            ToolArgumentError: It takes longer than a call may; what was read by then is not read again.
            MemtuiError: It cannot be read.
        """
        deadline = time.monotonic() + _SECONDS
        with self._turn:
            with contextlib.suppress(LockTimeout):
                self._memory.reconcile()
            try:
                yield self._memory.knowledge.get_current(stop=lambda: time.monotonic() > deadline)
            except GraphStopped:
                words = "the notes are still being read for the first time. Ask again, it goes on from there"
                raise ToolArgumentError(f"Error: {words}") from None

    # build_context

    def build_context(self, given: Mapping[str, object]) -> ToolAnswer:
        """Answer `build_context`."""
        fields = ToolArguments(given)
        address, budget = fields.get_text("url"), fields.get_budget()
        depth = fields.get_number("depth", 1, DEEPEST)
        limit = fields.get_number("max_related", 10, _MOST_RELATED)
        since_us = find_moment_us(self._memory, fields, "timeframe")
        with self._open_graph():
            found = self._memory.context(_strip_root(address), depth=depth, since_us=since_us, limit=limit)
            if not found.notes:
                raise ToolArgumentError(f"Error: {_describe_missing(address)}")
            lines: list[str] = []
            notes = [
                documents.serialize_stated_note(note)
                for note in found.notes
                if _take(budget, lines, _format_stated_note(note))
            ]
            notes_cut, budget.left_out = budget.left_out, 0
            related = [
                documents.serialize_related_note(each)
                for each in found.related
                if _take(budget, lines, [_format_related(each)])
            ]
        left_out = found.left_out + budget.left_out
        if found.is_cut:
            lines.append("The pattern names more notes than are looked at.")
        if notes_cut:
            words = (
                f"{format_count(notes_cut, 'more note')} of this address {'is' if notes_cut == 1 else 'are'} not shown."
            )
            lines.append(f"{words} Ask for fewer, or with a higher `budget`.")
        if left_out:
            lines.append(
                f"{format_count(left_out, 'more related note')}: ask with a higher `max_related` and `budget`."
            )
        data = {
            "address": found.address,
            "notes": notes,
            "related": related,
            "left_out": left_out,
            "cut": found.is_cut or bool(notes_cut),
        }
        return ToolAnswer("\n".join(lines), _to_data(data))

    # list_links

    def list_links(self, given: Mapping[str, object]) -> ToolAnswer:
        """Answer `list_links`."""
        fields = ToolArguments(given)
        name, budget = fields.get_text("note"), fields.get_budget()
        with self._open_graph() as graph:
            path = _find_one(graph, name)
            outgoing, incoming = graph.get_edges(path), graph.get_edges_in(path)
            lines = [f"{format_path(path)}: {format_count(len(outgoing), 'link')} out, {len(incoming):,} in"]
            found = {
                "in": [
                    documents.serialize_edge(edge)
                    for edge in incoming
                    if _take(
                        budget, lines, [f"in: {format_path(edge.source)}{_format_line(edge)}: {_format_kind(edge)}"]
                    )
                ],
                "out": [
                    documents.serialize_edge(edge)
                    for edge in outgoing
                    if _take(budget, lines, [f"out{_format_line(edge)}: {_format_kind(edge)} {_format_targets(edge)}"])
                ],
            }
        if budget.left_out:
            lines.append(f"{budget.left_out:,} more are not shown: ask with a higher `budget`.")
        return ToolAnswer("\n".join(lines), _to_data({"path": format_path(path), **found, "more": budget.left_out}))

    # read_note, and the filters of a search

    def find_note(self, given: Mapping[str, object]) -> MemoryPath:
        """The place of the note that `read_note` names."""
        name = ToolArguments(given).get_text("note")
        with self._open_graph() as graph:
            return MemoryPath.from_relative(_find_one(graph, name))

    def select_notes(self, wanted: NoteFilter) -> dict[str, str]:
        """The titles of the notes that pass a filter, by path.

        Raises:
            ToolArgumentError, MemtuiError: The notes cannot be read, or not in time.
        """
        with self._open_graph() as graph:
            titles = {note.path: note.title for note in graph.notes if wanted.accepts(note)}
            if wanted.fields:
                texts = self._memory.knowledge.iter_texts(list(titles))
                passed = {path for path, text in texts if wanted.accepts_fields(read_properties(text))}
                titles = {path: title for path, title in titles.items() if path in passed}
        return titles


def _to_data(value: dict[str, object]) -> dict[str, object]:
    data = _to_json(value)
    assert isinstance(data, dict)
    return data


def _take(budget: CharacterBudget, lines: list[str], more: Iterable[str]) -> bool:
    """Add lines that belong together, if there is room."""
    added = list(more)
    if not budget.take(*added):
        return False
    lines += added
    return True


def _strip_root(name: str) -> str:
    """A name without `/memories/` and `memory://`, as an agent may write either."""
    plain = name.strip()
    if plain.startswith(ROOT_NAME + "/"):
        return parse_path(plain).relative
    return plain.removeprefix(SCHEME)


def _find_one(graph: Graph, name: str) -> str:
    """The path of the note that an agent named.

    Raises:
        ToolArgumentError: There is none, or several are called so.
        InvalidPath: It is a path from /memories on that is none.
    """
    plain = _strip_root(name)
    if plain in graph:
        return plain
    found: Collection[str] = [] if "*" in plain else find_addressed(graph, plain)
    if len(found) == 1:
        return next(iter(found))
    if not found:
        raise ToolArgumentError(f"Error: {_describe_missing(name)}")
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    paths = ", ".join(format_path(path) for path in list(found)[:_NAMED])
    raise ToolArgumentError(f"Error: several notes are called so: {paths}{more}. Give a path")


def _describe_missing(name: str) -> str:
    return f"there is no note {to_one_line(name)[:_LONGEST_WORD]!r}. To find one: search_memory, or view /memories"


def _to_line(text: str) -> str:
    return to_one_line(to_json_text(text))


def _format_note(note: ParsedNote) -> str:
    details = [note.title, *([note.type] if note.type else ())]
    return f"{format_path(note.path)} ({_to_line(', '.join(details))})"


def _format_related(each: RelatedNote) -> str:
    ways = _to_line(documents.format_ways(each))
    return f"related, {format_count(each.distance, 'link')} away: {_format_note(each.note)}: {ways}"


def _format_stated_note(note: ParsedNote) -> Iterator[str]:
    yield _format_note(note)
    for each in note.observations:
        category, content = documents.format_observation(each)
        yield f"  {_to_line(category)} {_to_line(content)}" if category else f"  {_to_line(content)}"


def _format_line(edge: Edge) -> str:
    return f":{edge.link.line}" if edge.link is not None else ""


def _format_kind(edge: Edge) -> str:
    context = f" ({edge.context})" if edge.context else ""
    return _to_line(f"{edge.relation or edge.kind}{context}")


def _format_targets(edge: Edge) -> str:
    if edge.targets:
        ambiguous = " (ambiguous)" if len(edge.targets) > 1 else ""
        return " or ".join(format_path(path) for path in edge.targets) + ambiguous
    missing = "no such note" if edge.state == "dangling" else "outside the folder"
    return f"{_to_line(edge.wanted)} ({missing})"
