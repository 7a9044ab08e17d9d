"""Find: names, lines, and lines that are gone, in one list with numbers."""

import time
from functools import partial

from memtui.cli.reader import notes
from memtui.cli.reader.sentences import format_time
from memtui.cli.reader.session import ReaderSession
from memtui.core.wording import format_by_actor, format_count
from memtui.search.query import InvalidQuery, parse_query
from memtui.search.results import PastHit, Scope, SearchResults

_LIMIT, _PER_NOTE = 50, 5

_Hit = tuple[str, int | None] | PastHit
"""A note, with the line where it is to be read from; or a line that is gone."""


def search_notes(session: ReaderSession) -> None:
    """Ask for words, list the hits, and go to chosen ones."""
    dialog = session.dialog
    dialog.say("Words, or filters such as by:claude since:2d in:projects/ tag:x. Enter alone goes back.")
    while words := dialog.ask("Find:").strip():
        try:
            query = parse_query(words, now_us=time.time_ns() // 1_000)
        except InvalidQuery as error:
            dialog.say(str(error))
            continue
        finder = session.get_finder()
        found = finder.find(query, Scope.ALL, limit=_LIMIT, per_note=_PER_NOTE, stop=lambda: dialog.is_interrupted)
        if found.problem:
            dialog.say(found.problem)
        for hit in dialog.browse(partial(_list_hits, found), empty="Nothing found."):
            _open_hit(session, hit)


def _open_hit(session: ReaderSession, hit: _Hit) -> None:
    if isinstance(hit, tuple):
        path, line = hit
        if line is not None:
            notes.read_note(session, path, start=line, numbered=True)
        notes.visit_note(session, path)
        return
    path = hit.now or hit.path
    for row in session.engine.history.versions_of(path):
        if row.event.seq == hit.added_by.seq:
            notes.visit_version(session, path, row)
            return
    notes.visit_history(session, path)


def _format_summary(found: SearchResults) -> str:
    names, lines, past = found.names, found.text, found.past
    least = "at least " if lines.lines_at_least else ""
    total = f"{least}{format_count(lines.total_lines, 'line')} in {format_count(lines.total_notes, 'note')}"
    parts = [format_count(names.total, "name")] if names.total else []
    parts += [f"{len(names.similar):,} like it"] if names.similar else []
    parts += [total] if lines.notes else []
    parts += [f"{format_count(past.total, 'line')} that are gone"] if past.hits else []
    return f"Found {', '.join(parts)}."


def _list_hits(found: SearchResults) -> tuple[str, list[tuple[str, _Hit]]]:
    choices: list[tuple[str, _Hit]] = [(hit.path, (hit.path, None)) for hit in found.names.hits]
    choices += [(f"Similar: {hit.path}", (hit.path, None)) for hit in found.names.similar]
    for note in found.text.notes:
        for line in note.lines:
            choices.append((f"{note.path}, line {line.line}: {line.text.strip()}", (note.path, line.line)))
        if (more := note.total - len(note.lines)) > 0:
            choices.append((f"{note.path}, {format_count(more, 'more line')}", (note.path, None)))
    choices += [(_format_past_hit(hit), hit) for hit in found.past.hits]
    return _format_summary(found), choices


def _format_past_hit(hit: PastHit) -> str:
    came = f"came at {format_time(hit.added_by)} {format_by_actor(hit.added_by)}"
    gone = hit.removed_by
    went = f"gone at {format_time(gone)} {format_by_actor(gone)}" if gone is not None else "still there"
    return f"Past: {hit.path}, line {hit.line.line}: {hit.line.text.strip()}; {came}, {went}"
