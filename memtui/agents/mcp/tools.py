"""The tools as clients list them, and `search_memory`. Names, fields and descriptions are in `tools.toml`."""

import contextlib
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

import mcp_types as types

from memtui.agents.mcp.answers import (
    CharacterBudget,
    ToolAnswer,
    ToolArgumentError,
    ToolArguments,
    format_path,
    format_time,
    to_json_text,
)
from memtui.agents.mcp.knowledge import KnowledgeTools, parse_note_filter
from memtui.agents.mcp.resources import build_uri
from memtui.core.errors import LockTimeout
from memtui.core.events import Event, format_actor_in_sentence
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine

if TYPE_CHECKING:
    from memtui.search.finder import Finder
    from memtui.search.query import Query
    from memtui.search.results import FormerName, PastHit, PastResults, TextResults


MEMORY, SEARCH, ACTIVITY, HISTORY = "memory", "search_memory", "recent_activity", "memory_history"
READ, CONTEXT, LINKS = "read_note", "build_context", "list_links"

_READ_ONLY = "\n\nThis memory is read-only: everything but view is refused."
_ASK = "\n\nEach change waits for the user to approve it, and may be declined or edited: read the answer."


def build_tools(*, read_only: bool, asks: bool) -> list[types.Tool]:
    """All tools.

    Args:
        read_only: Whether every change is refused.
        asks: Whether a person is asked before a change.
    """
    text = resources.files("memtui.agents.mcp").joinpath("tools.toml").read_text(encoding="utf-8")
    tools = [_build_tool(entry) for entry in tomllib.loads(text)["tools"]]
    memory, policy = tools[0], _READ_ONLY if read_only else _ASK if asks else ""
    memory.description = f"{memory.description}{policy}"
    memory.annotations = _build_annotations(memory.title, changes=not read_only, is_idempotent=False)
    return tools


def _build_tool(entry: dict[str, Any]) -> types.Tool:
    """A tool that changes nothing."""
    schema: dict[str, Any] = {"type": "object", "properties": entry["properties"]}
    if "required" in entry:
        schema["required"] = entry["required"]
    output: dict[str, Any] = {"type": "object", "properties": entry.get("output", {})}
    if "is_partial" not in entry:
        output["required"] = list(output["properties"])
    loaded = {"anthropic/alwaysLoad": True} if "is_always_loaded" in entry else None
    tool = types.Tool(
        _meta=loaded,  # else Claude Code leaves a tool out of its first request, and does not know that it has it
        name=entry["name"],
        title=entry["title"],
        description=entry["description"],
        input_schema=schema,
        annotations=_build_annotations(entry["title"], changes=False, is_idempotent=True),
    )
    if "output" in entry:
        tool.output_schema = output
    return tool


def _build_annotations(title: str | None, *, changes: bool, is_idempotent: bool) -> types.ToolAnnotations:
    return types.ToolAnnotations(
        title=title,
        read_only_hint=not changes,
        destructive_hint=changes,
        idempotent_hint=is_idempotent,
        open_world_hint=False,
    )


_SECONDS = 10.0
"""How long a search may take; an incomplete one says so."""
_LONGEST_QUERY = 1_000
_NOW, _NAMES, _TEXT, _PAST = "now", "names", "text", "past"
_HOW_TO_SEE_MORE = "Search for something longer, or with a higher `limit` and `budget`."
_NOT_COMPLETE = f"The search ended after {_SECONDS:g} seconds: not all was looked at."


class SearchTool:
    """Answers `search_memory`. Calls may come from several threads.

    The finder of one search is used for the next: then only changed notes are read.
    """

    def __init__(self, memory: Engine, knowledge: KnowledgeTools | None = None) -> None:
        self._memory = memory
        self._knowledge = knowledge or KnowledgeTools(memory)
        self._finder: Finder | None = None

    def __call__(self, given: Mapping[str, object]) -> ToolAnswer:
        """Search.

        Raises:
            ToolArgumentError: The arguments are invalid.
            MemtuiError, OSError: The memory could not be searched.
        """
        fields = ToolArguments(given)
        wanted = parse_note_filter(fields)
        since, until = fields.get_moment("since"), fields.get_moment("until")
        is_filtered = bool(wanted) or since is not None or until is not None
        written = (fields.get_optional_text("query") or "") if is_filtered else fields.get_text("query")
        limit, budget = fields.get_number("limit", 50, 200), fields.get_budget()
        scope = fields.get_optional_text("scope") or _NOW
        if "\n" in written or len(written) > _LONGEST_QUERY:
            limits = f"on one line, and at most {_LONGEST_QUERY:,} characters long"
            raise ToolArgumentError(f"Error: `query` must be {limits}")
        if scope not in (_NOW, _NAMES, _TEXT, _PAST):
            raise ToolArgumentError(f"Error: `scope` must be one of {_NOW}, {_NAMES}, {_TEXT}, {_PAST}")
        query = _parse_query(written)
        query = replace(
            query,
            filters=replace(query.filters, since=since or query.filters.since, until=until or query.filters.until),
        )
        if scope == _PAST and wanted:
            raise ToolArgumentError("Error: with `scope` past there is no filter by what notes say of themselves")
        if scope in (_TEXT, _PAST) and not query.has_positive_terms:
            raise ToolArgumentError("Error: `query` needs a word to look for; filters and !words alone only find names")
        with contextlib.suppress(LockTimeout):  # without it the folder is searched as it was a moment ago
            self._memory.reconcile()
        if scope == _PAST:
            return self._search_past(query, limit, budget)
        titles = self._knowledge.select_notes(wanted) if wanted else None
        if not query.has_positive_terms:
            scope = _NAMES
        return self._search_current(query, scope, limit, budget, titles)

    def _get_finder(self) -> "Finder":
        from memtui.search.finder import Finder  # noqa: PLC0415 - start-up: only a search needs it

        if self._finder is None:
            self._finder = Finder(self._memory)
        return self._finder

    def _search_current(
        self, query: "Query", scope: str, limit: int, budget: CharacterBudget, titles: Mapping[str, str] | None
    ) -> ToolAnswer:
        from memtui.search import results  # noqa: PLC0415 - start-up: only a search needs it

        finder, deadline = self._get_finder(), time.monotonic() + _SECONDS
        accept = titles.__contains__ if titles is not None else None
        find = partial(finder.find, limit=limit, accept=accept, stop=lambda: time.monotonic() > deadline)
        finder.refresh(seconds=_SECONDS, scope=results.Scope.TEXT)
        names, text, problem = results.NameResults(), results.TextResults(), ""
        is_complete = finder.is_complete
        try:
            if scope in (_NOW, _NAMES):  # a model means its words literally, not letters in order
                names = find(replace(query, terms=query.text_terms), results.Scope.NAMES).names
            if scope in (_NOW, _TEXT):
                found = find(query, results.Scope.TEXT, per_note=limit)
                text, problem = found.text, found.problem
        except results.SearchCancelled:
            is_complete = False
        searched = len(finder.paths) if titles is None else len(titles)
        named = [hit.path for hit in names.hits]
        title = (titles or {}).get
        places: list[tuple[str, int | None, str]] = [(path, None, title(path, "")) for path in named]
        places += [(note.path, line.line, line.text) for note in text.notes for line in note.lines]
        places = [place for place in places[:limit] if budget.take(_format_place(*place))]
        count = names.total + text.total_lines
        notes = len({*named, *(note.path for note in text.notes)})
        notes += names.total - len(named) + text.total_notes - len(text.notes)
        lines = [
            f"{format_count(count, 'match', 'matches')} in {format_count(notes, 'note')}, of {searched:,} searched:"
            if count
            else f"Nothing found in {format_count(searched, 'note')}.",
            *(_format_place(*place) for place in places),
            *_format_remainder(count - len(places), text, problem, is_complete=is_complete),
        ]
        data: dict[str, object] = {
            "matches": [
                {"path": format_path(path), "uri": build_uri(path), "line": line, "text": to_json_text(said)}
                for path, line, said in places
            ],
            "former": [],
            "past": [],
            "more": count - len(places),
            "notes": notes,
            "searched": searched,
            "complete": is_complete,
        }
        return ToolAnswer("\n".join(lines), data)

    def _search_past(self, query: "Query", limit: int, budget: CharacterBudget) -> ToolAnswer:
        from memtui.search import results  # noqa: PLC0415 - start-up: only a search needs it

        finder, deadline = self._get_finder(), time.monotonic() + _SECONDS
        finder.refresh(seconds=_SECONDS, scope=results.Scope.PAST)
        past, problem, is_complete = results.PastResults(), "", True
        try:
            found = finder.find(query, results.Scope.PAST, limit=limit, stop=lambda: time.monotonic() > deadline)
            past, problem = found.past, found.problem
            is_complete = past.looked == past.of
        except results.SearchCancelled:
            is_complete = False
        hits = [hit for hit in past.hits if budget.take(_format_past_hit(hit))]
        more = past.total - len(hits)
        lines = [*map(_format_former_name, past.names), _format_past_head(past), *map(_format_past_hit, hits)]
        if more:
            lines.append(f"{more:,} more are not shown. {_HOW_TO_SEE_MORE}")
        if past.missing_texts:
            versions = format_count(past.missing_texts, "version")
            lines.append(f"{versions} could not be looked through: the text is not kept.")
        lines += [sentence for sentence in (problem, "" if is_complete else _NOT_COMPLETE) if sentence]
        data: dict[str, object] = {
            "matches": [],
            "former": [_former_name_to_json(name) for name in past.names],
            "past": [_past_hit_to_json(hit) for hit in hits],
            "more": more,
            "notes": len({hit.path if hit.now is None else hit.now for hit in hits}),
            "searched": past.looked,
            "complete": is_complete,
        }
        return ToolAnswer("\n".join(lines), data)


def _parse_query(written: str) -> "Query":
    from memtui.search import query  # noqa: PLC0415 - start-up: only a search needs it

    try:
        return query.parse_query(written, now_us=time.time_ns() // 1_000)
    except query.InvalidQuery as error:
        raise ToolArgumentError(f"Error: {error}") from None


def _format_place(path: str, line: int | None, said: str) -> str:
    if line is not None:
        return f"{format_path(path)}:{line}: {said}"
    return f"{format_path(path)}: {to_one_line(to_json_text(said))}" if said else f"{format_path(path)}: the name"


def _format_remainder(more: int, text: "TextResults", problem: str, *, is_complete: bool) -> Iterator[str]:
    """The lines behind the matches."""
    if more:
        at_least = "At least " if text.lines_at_least else ""
        yield f"{at_least}{more:,} more are not shown. {_HOW_TO_SEE_MORE}"
    if text.unread:
        unread = "1 file is no text or is too large" if text.unread == 1 else f"{text.unread:,} files are no text"
        yield f"{unread}: only the name was looked at."
    if problem:
        yield problem
    if not is_complete:
        yield _NOT_COMPLETE


def _format_former_name(name: "FormerName") -> str:
    what = "deleted" if name.now is None else f"renamed to {format_path(name.now)}"
    return f"{format_path(name.path)} [{what} by {_format_event(name.ended_by)}]"


def _former_name_to_json(name: "FormerName") -> dict[str, object]:
    return {
        "path": format_path(name.path),
        "now": None if name.now is None else format_path(name.now),
        "ended": _event_to_json(name.ended_by),
    }


def _format_past_head(past: "PastResults") -> str:
    if not past.hits:
        return f"Nothing found in {format_count(past.looked, 'version')}."
    lines, versions = format_count(past.total, "line"), format_count(past.looked, "version")
    return f"{'at least ' if past.at_least else ''}{lines} in {versions}, the newest change first:".capitalize()


def _format_past_hit(hit: "PastHit") -> str:
    now = "" if hit.now == hit.path else "; deleted since" if hit.now is None else f"; now {format_path(hit.now)}"
    went = "still there" if hit.removed_by is None else f"went with {_format_event(hit.removed_by)}"
    came = _format_event(hit.added_by)
    return f"{format_path(hit.path)}:{hit.line.line}: {hit.line.text} [came with {came}; {went}{now}]"


def _format_event(event: Event) -> str:
    return f"#{event.seq} {format_time(event)} by {to_one_line(format_actor_in_sentence(event.actor))}"


def _past_hit_to_json(hit: "PastHit") -> dict[str, object]:
    return {
        "path": format_path(hit.path),
        "now": None if hit.now is None else format_path(hit.now),
        "line": hit.line.line,
        "text": to_json_text(hit.line.text),
        "came": _event_to_json(hit.added_by),
        "went": None if hit.removed_by is None else _event_to_json(hit.removed_by),
    }


def _event_to_json(event: Event) -> dict[str, object]:
    return {"seq": event.seq, "at": format_time(event), "actor": to_one_line(format_actor_in_sentence(event.actor))}
