"""What a search found, as lines for a person or a pipe, and as JSON."""

import os
import sys
from collections.abc import Iterable, Iterator

from memtui.cli import output, times
from memtui.cli.output import colorize
from memtui.core.events import Event
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.core.unicode import HIDDEN, escape_character, to_one_line
from memtui.search.results import FormerName, LineHit, NameHit, NoteHits, PastHit, Scope, SearchResults, Span

_PATH, _LINE, _MATCH, _HEADING = "35", "32", "1;31", "1"


def list_paths(found: SearchResults) -> list[str]:
    """All paths that were found, relative to the folder, each once."""
    names = [hit.path for hit in found.names.hits]
    notes = [note.path for note in found.text.notes]
    former = [name.now or name.path for name in found.past.names]
    past = [hit.path if hit.now is None else hit.now for hit in found.past.hits]
    return list(dict.fromkeys([*names, *notes, *former, *past]))


# For a pipe


def print_lines(found: SearchResults, folder: str = "") -> None:
    """One line each: a path, `path:line:text`, or `path@event:line:text` with when it came and went behind a tab.

    Paths are relative to the folder, or with `folder` in front.
    """
    for hit in found.names.hits:
        output.print_line(to_one_line(os.path.join(folder, hit.path)))
    for note in found.text.notes:
        path = to_one_line(os.path.join(folder, note.path))
        for line in note.lines:
            output.print_line(f"{path}:{line.line}:{_escape_line(line.text)}")
    for former in found.past.names:
        path = to_one_line(os.path.join(folder, former.path))
        output.print_line(f"{path}@{former.ended_by.seq}\t{_describe_end(former)}")
    for past in found.past.hits:
        place = f"{to_one_line(os.path.join(folder, past.path))}@{past.added_by.seq}:{past.line.line}"
        output.print_line(f"{place}:{_escape_line(past.line.text)}\t{_describe_lifetime(past)}")


# For a person


def print_grouped(found: SearchResults) -> None:
    """Print the hits in groups, under headings, with the matches marked."""
    groups = (
        ("Names", [_format_name(hit) for hit in found.names.hits]),
        ("Similar names", [_format_name(hit) for hit in found.names.similar]),
        ("Text", list(_format_text_hits(found.text.notes))),
        ("Earlier names", [line for name in found.past.names for line in (_format_name(name), _format_end(name))]),
        ("Past", list(_format_past_hits(found.past.hits))),
    )
    is_first = True
    for heading, lines in groups:
        if not lines:
            continue
        output.print_line(colorize(heading, _HEADING) if is_first else f"\n{colorize(heading, _HEADING)}")
        is_first = False
        for line in lines:
            output.print_line(line)


def _format_name(hit: NameHit | FormerName) -> str:
    return f"  {_highlight_matches(hit.path, hit.spans, newline=True)}"


def _format_end(name: FormerName) -> str:
    return f"      {_describe_end(name)}"


def _format_text_hits(notes: Iterable[NoteHits]) -> Iterator[str]:
    for note in notes:
        yield f"  {colorize(to_one_line(note.path), _PATH)}"
        for line in note.lines:
            yield f"    {_format_line_hit(line)}"


def _describe_end(name: FormerName) -> str:
    what = "deleted" if name.now is None else f"renamed, now {to_one_line(name.now)},"
    return f"{what} in {to_one_line(times.format_event(name.ended_by))}"


def _format_past_hits(hits: Iterable[PastHit]) -> Iterator[str]:
    previous = ""
    for hit in hits:
        place = f"{hit.path}@{hit.added_by.seq}"
        if place != previous:
            now = "deleted" if hit.now is None else f"now {to_one_line(hit.now)}"
            is_now = "" if hit.now == hit.path else f" ({now})"
            yield f"  {colorize(to_one_line(place), _PATH)}{is_now}"
        previous = place
        yield f"    {_format_line_hit(hit.line)}"
        yield f"      {_describe_lifetime(hit)}"


def _format_line_hit(line: LineHit) -> str:
    return f"{colorize(str(line.line), _LINE)}: {_highlight_matches(line.text, line.spans)}"


def _describe_lifetime(hit: PastHit) -> str:
    came = "first seen in" if hit.added_by.command == "found" else "added in"
    went = "still there" if hit.removed_by is None else f"removed in {to_one_line(times.format_event(hit.removed_by))}"
    return f"{came} {to_one_line(times.format_event(hit.added_by))}, {went}"


def _highlight_matches(text: str, spans: Iterable[Span], *, newline: bool = False) -> str:
    """A text with its matches in color, and hidden characters visible."""
    shown, at = [], 0
    for start, end in spans:
        shown.append(_escape_line(text[at:start], newline=newline))
        shown.append(colorize(_escape_line(text[start:end], newline=newline), _MATCH))
        at = end
    return "".join([*shown, _escape_line(text[at:], newline=newline)])


def _escape_line(text: str, *, newline: bool = False) -> str:
    """A text on one line. Each hidden character is named, also in a piece of an emoji."""
    return to_one_line(text) if newline else HIDDEN.sub(lambda found: escape_character(found.group()), text)


# For a program


def serialize_results(found: SearchResults, folder: str, query: str) -> dict[str, object]:
    """All hits with their real paths in `folder`, as JSON; keys may be added, none is removed."""
    names, text, past = found.names, found.text, found.past
    return {
        "query": query,
        "names": [_serialize_name(hit, folder) for hit in names.hits],
        "similar": [_serialize_name(hit, folder) for hit in names.similar],
        "text": [_serialize_note(note, folder) for note in text.notes],
        "former": [_serialize_former_name(name) for name in past.names],
        "past": [_serialize_past_hit(hit) for hit in past.hits],
        "totals": {
            "names": names.total,
            "notes": text.total_notes,
            "lines": text.total_lines,
            "lines_at_least": text.lines_at_least,
            "former": past.total_names,
            "past": past.total,
            "past_at_least": past.at_least,
        },
        "looked": {
            "notes": text.looked,
            "unread": text.unread,
            "versions": past.looked,
            "not_kept": past.missing_texts,
        },
        "problem": found.problem,
        "seconds": round(found.seconds, 6),
    }


def _serialize_name(hit: NameHit, folder: str) -> dict[str, object]:
    shift = len(ROOT_NAME) + 1
    spans = [[start + shift, end + shift] for start, end in hit.spans]
    return {**_serialize_path(hit.path, folder), "score": round(hit.score, 3), "spans": spans}


def _serialize_note(note: NoteHits, folder: str) -> dict[str, object]:
    lines = [
        {"line": line.line, "column": line.column, "text": line.text, "spans": [list(span) for span in line.spans]}
        for line in note.lines
    ]
    return {**_serialize_path(note.path, folder), "total": note.total, "lines": lines}


def _serialize_former_name(name: FormerName) -> dict[str, object]:
    shift = len(ROOT_NAME) + 1
    return {
        "path": str(MemoryPath.from_relative(name.path)),
        "now": None if name.now is None else str(MemoryPath.from_relative(name.now)),
        "spans": [[start + shift, end + shift] for start, end in name.spans],
        "sha256": name.version.sha256,
        "ended": _serialize_event(name.ended_by),
    }


def _serialize_past_hit(hit: PastHit) -> dict[str, object]:
    return {
        "path": str(MemoryPath.from_relative(hit.path)),
        "now": None if hit.now is None else str(MemoryPath.from_relative(hit.now)),
        "line": hit.line.line,
        "column": hit.line.column,
        "text": hit.line.text,
        "spans": [list(span) for span in hit.line.spans],
        "sha256": hit.version.sha256,
        "came": _serialize_event(hit.added_by),
        "went": None if hit.removed_by is None else _serialize_event(hit.removed_by),
    }


def _serialize_event(event: Event) -> dict[str, object]:
    return {
        "seq": event.seq,
        "ts": output.format_utc(event.at_us),
        "actor": event.actor.name,
        "actor_kind": type(event.actor).__name__.lower(),
        "command": event.command,
        "call_id": event.call_id,
    }


def _serialize_path(path: str, folder: str) -> dict[str, object]:
    return {"path": str(MemoryPath.from_relative(path)), "real": os.path.join(folder, path)}


# How much is shown

_FEW = 20
"""Names, notes and lines of the past that are shown where all three are looked through."""
ALL = sys.maxsize
"""The limit where all are asked for."""


def get_limit(given: int | None, scope: Scope) -> int:
    """The most hits of a kind, as `--limit` says; without it, few where names, notes and history are all searched."""
    if given is None:
        return _FEW if scope is Scope.ALL else ALL
    return given or ALL


def count_omitted(found: SearchResults) -> tuple[int, int, int]:
    """How many names, notes and lines of history are not shown."""
    names, notes = found.names.total - len(found.names.hits), found.text.total_notes - len(found.text.notes)
    return names, notes, found.past.total - len(found.past.hits)


def print_more(counts: tuple[int, int, int]) -> None:
    """Print beside the output how many names, notes and lines of history there are beyond the limit."""
    words = (("name", "names"), ("note", "notes"), ("line of history", "lines of history"))
    more = [
        f"{count:,} more {one if count == 1 else several}"
        for count, (one, several) in zip(counts, words, strict=True)
        if count > 0
    ]
    if more:
        output.print_message(f"Not shown: {', '.join(more)}. All of them: --limit 0")
