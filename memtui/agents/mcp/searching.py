"""`search_memory`: what a model finds in names, lines and the past of a memory.

What was read for one search is kept for the next: then only what changed since is read.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.agents.mcp.telling import Fields, Told, Unclear, json_text, many, name_of, when
from memtui.agents.mcp.uris import uri_of
from memtui.core.actors import named_in_a_sentence
from memtui.core.errors import Busy
from memtui.core.events import Event
from memtui.core.visible import one_line
from memtui.engine import Engine

if TYPE_CHECKING:
    from memtui.search.finder import Finder
    from memtui.search.found import FormerName, PastFound, PastHit, TextFound
    from memtui.search.query import Query

_SECONDS = 10.0
"""How long a search may take; what was not looked at by then is told."""
_LONGEST_QUERY = 1_000
_NOW, _NAMES, _TEXT, _PAST = "now", "names", "text", "past"
_NOT_COMPLETE = f"The search ended after {_SECONDS:g} seconds: not all was looked at."


class Search:
    """Answers `search_memory`. Calls may come from several threads.

    Args:
        memory: The open memory.
    """

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._kept: Finder | None = None

    def __call__(self, given: Mapping[str, object]) -> Told:
        """Search.

        Args:
            given: The arguments of the call.

        Raises:
            Unclear: They cannot be understood.
            MemtuiError, OSError: It could not be searched.
        """
        fields = Fields(given)
        written, limit = fields.text("query"), fields.number("limit", 50, 200)
        scope = fields.optional_text("scope") or _NOW
        if "\n" in written or len(written) > _LONGEST_QUERY:
            raise Unclear(f"Error: `query` must be on one line, and at most {_LONGEST_QUERY:,} characters long")
        if scope not in (_NOW, _NAMES, _TEXT, _PAST):
            raise Unclear(f"Error: `scope` must be one of {_NOW}, {_NAMES}, {_TEXT}, {_PAST}")
        query = _query(written)
        if scope in (_TEXT, _PAST) and not query.looks_for_something:
            raise Unclear("Error: `query` needs a word to look for; filters and !words alone only find names")
        with contextlib.suppress(Busy):  # it is found as it was a moment ago
            self._memory.reconcile()  # what somebody else wrote just now is found as well
        search = self._past if scope == _PAST else self._now
        return search(query, scope, limit)

    def _finder(self) -> "Finder":
        from memtui.search.finder import Finder  # deferred: a server starts without it

        if self._kept is None:
            self._kept = Finder(self._memory)
        return self._kept

    def _now(self, query: "Query", scope: str, limit: int) -> Told:
        from memtui.search.found import NamesFound, Scope, TextFound  # deferred: a server starts without it
        from memtui.search.stopping import Stopped  # deferred: as above

        finder, deadline = self._finder(), time.monotonic() + _SECONDS
        finder.refresh(seconds=_SECONDS, scope=Scope.TEXT)
        names, text, problem = NamesFound(), TextFound(), ""
        is_complete = finder.is_complete
        try:
            if scope in (_NOW, _NAMES):
                as_written = replace(query, terms=query.words)  # a model means what it writes, not letters in order
                names = finder.find(
                    as_written, Scope.NAMES, limit=limit, stop=lambda: time.monotonic() > deadline
                ).names
            if scope in (_NOW, _TEXT):
                found = finder.find(
                    query, Scope.TEXT, limit=limit, per_note=limit, stop=lambda: time.monotonic() > deadline
                )
                text, problem = found.text, found.problem
        except Stopped:
            is_complete = False
        searched = len(finder.paths)
        named = [hit.path for hit in names.hits]
        places: list[tuple[str, int | None, str]] = [(path, None, "") for path in named]
        places += [(note.path, line.line, line.text) for note in text.notes for line in note.lines]
        count = names.total + text.total_lines
        notes = len({*named, *(note.path for note in text.notes)})
        notes += names.total - len(named) + text.total_notes - len(text.notes)
        lines = [
            f"{many(count, 'match', 'matches')} in {many(notes, 'note')}, of {searched:,} searched:"
            if count
            else f"Nothing found in {many(searched, 'note')}.",
            *(
                f"{name_of(path)}: the name" if line is None else f"{name_of(path)}:{line}: {said}"
                for path, line, said in places[:limit]
            ),
            *_further(count - len(places[:limit]), text, problem, is_complete=is_complete),
        ]
        data: dict[str, object] = {
            "matches": [
                {"path": name_of(path), "uri": uri_of(path), "line": line, "text": json_text(said)}
                for path, line, said in places[:limit]
            ],
            "former": [],
            "past": [],
            "more": count - len(places[:limit]),
            "notes": notes,
            "searched": searched,
            "complete": is_complete,
        }
        return Told("\n".join(lines), data)

    def _past(self, query: "Query", _: str, limit: int) -> Told:
        from memtui.search.found import PastFound, Scope  # deferred: a server starts without it
        from memtui.search.stopping import Stopped  # deferred: as above

        finder, deadline = self._finder(), time.monotonic() + _SECONDS
        finder.refresh(seconds=_SECONDS, scope=Scope.PAST)
        past, problem, is_complete = PastFound(), "", True
        try:
            found = finder.find(query, Scope.PAST, limit=limit, stop=lambda: time.monotonic() > deadline)
            past, problem = found.past, found.problem
            is_complete = past.looked == past.of
        except Stopped:
            is_complete = False
        more = past.total - len(past.hits)
        lines = [*map(_former_line, past.names), _past_head(past), *map(_past_line, past.hits)]
        if more:
            lines.append(f"{more:,} more are not shown. Search for something longer, or with a higher `limit`.")
        if past.gone_texts:
            lines.append(f"{many(past.gone_texts, 'version')} could not be looked through: the text is not kept.")
        lines += [sentence for sentence in (problem, "" if is_complete else _NOT_COMPLETE) if sentence]
        data: dict[str, object] = {
            "matches": [],
            "former": [_former_record(name) for name in past.names],
            "past": [_past_record(hit) for hit in past.hits],
            "more": more,
            "notes": len({hit.path if hit.now is None else hit.now for hit in past.hits}),
            "searched": past.looked,
            "complete": is_complete,
        }
        return Told("\n".join(lines), data)


def _query(written: str) -> "Query":
    from memtui.search.query import BadQuery, parse  # deferred: a server starts without it

    try:
        return parse(written, now_us=time.time_ns() // 1_000)
    except BadQuery as error:
        raise Unclear(f"Error: {error}") from None


def _further(more: int, text: "TextFound", problem: str, *, is_complete: bool) -> Iterator[str]:
    """What is told behind the matches."""
    if more:
        at_least = "At least " if text.lines_at_least else ""
        yield f"{at_least}{more:,} more are not shown. Search for something longer, or with a higher `limit`."
    if text.unread:
        unread = "1 file is no text or is too large" if text.unread == 1 else f"{text.unread:,} files are no text"
        yield f"{unread}: only the name was looked at."
    if problem:
        yield problem
    if not is_complete:
        yield _NOT_COMPLETE


def _former_line(name: "FormerName") -> str:
    what = "deleted" if name.now is None else f"renamed to {name_of(name.now)}"
    return f"{name_of(name.path)} [{what} by {_event(name.ended)}]"


def _former_record(name: "FormerName") -> dict[str, object]:
    return {
        "path": name_of(name.path),
        "now": None if name.now is None else name_of(name.now),
        "ended": _event_record(name.ended),
    }


def _past_head(past: "PastFound") -> str:
    if not past.hits:
        return f"Nothing found in {many(past.looked, 'version')}."
    at_least = "at least " if past.at_least else ""
    return (
        f"{at_least}{many(past.total, 'line')} in {many(past.looked, 'version')}, the newest change first:".capitalize()
    )


def _past_line(hit: "PastHit") -> str:
    now = "" if hit.now == hit.path else "; deleted since" if hit.now is None else f"; now {name_of(hit.now)}"
    went = "still there" if hit.went is None else f"went with {_event(hit.went)}"
    return f"{name_of(hit.path)}:{hit.line.line}: {hit.line.text} [came with {_event(hit.came)}; {went}{now}]"


def _event(event: Event) -> str:
    return f"#{event.seq} {when(event)} by {one_line(named_in_a_sentence(event.actor))}"


def _past_record(hit: "PastHit") -> dict[str, object]:
    return {
        "path": name_of(hit.path),
        "now": None if hit.now is None else name_of(hit.now),
        "line": hit.line.line,
        "text": json_text(hit.line.text),
        "came": _event_record(hit.came),
        "went": None if hit.went is None else _event_record(hit.went),
    }


def _event_record(event: Event) -> dict[str, object]:
    return {"seq": event.seq, "at": when(event), "actor": one_line(named_in_a_sentence(event.actor))}
