"""Find: names, lines, and lines that are gone, in one list with numbers."""

import time
from typing import TYPE_CHECKING

from memtui.cli.reader import history, notes
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.sentences import by_whom, counted, when
from memtui.search.found import Found, NameHit, NoteHits, PastHit, Scope
from memtui.search.query import BadQuery, parse

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_LIMIT, _PER_NOTE = 50, 5

_Hit = tuple[str, int | None] | PastHit
"""A note, with the line where it is to be read from; or what is gone."""


def find(session: "Session") -> None:
    """Ask for words, tell what holds them, and go where the person wants."""
    dialog = session.dialog
    dialog.say("Words, or filters such as by:claude since:2d in:projects/ tag:x. Enter alone goes back.")
    while words := dialog.ask("Find:").strip():
        try:
            query = parse(words, now_us=time.time_ns() // 1_000)
        except BadQuery as error:
            dialog.say(str(error))
            continue
        finder = session.finder()
        found = finder.find(query, Scope.ALL, limit=_LIMIT, per_note=_PER_NOTE, stop=lambda: dialog.is_interrupted)
        if found.problem:
            dialog.say(found.problem)
        choices = _choices(found)
        is_known = False
        while choices:
            chosen = dialog.choose(_head(found), choices, known=is_known)
            is_known = True
            if chosen is None:
                break
            _go(session, chosen)
        if not choices:
            dialog.say("Nothing found.")


def _go(session: "Session", hit: _Hit) -> None:
    if isinstance(hit, tuple):
        path, line = hit
        if line is not None:
            notes.read(session, path, start=line, numbered=True)
        notes.visit(session, path)
        return
    path = hit.now or hit.path
    for row in session.engine.history.versions_of(path):
        if row.event.seq == hit.came.seq:
            history.visit_version(session, path, row)
            return
    history.visit(session, path)


def _head(found: Found) -> str:
    names, lines, past = found.names, found.text, found.past
    parts = [counted(names.total, "name")] if names.total else []
    parts += [f"{len(names.similar):,} like it"] if names.similar else []
    least = "at least " if lines.lines_at_least else ""
    parts += [f"{least}{counted(lines.total_lines, 'line')} in {counted(lines.total_notes, 'note')}"] * bool(
        lines.notes
    )
    parts += [f"{counted(past.total, 'line')} that are gone"] if past.hits else []
    return f"Found {', '.join(parts)}."


def _choices(found: Found) -> list[Choice[_Hit]]:
    choices: list[Choice[_Hit]] = [_name(hit, "") for hit in found.names.hits]
    choices += [_name(hit, "Similar: ") for hit in found.names.similar]
    for note in found.text.notes:
        choices += _lines(note)
    choices += [Choice(_gone(hit), hit) for hit in found.past.hits]
    return choices


def _name(hit: NameHit, head: str) -> Choice[_Hit]:
    return Choice(f"{head}{hit.path}", (hit.path, None))


def _lines(note: NoteHits) -> list[Choice[_Hit]]:
    found: list[Choice[_Hit]] = [
        Choice(f"{note.path}, line {line.line}: {line.text.strip()}", (note.path, line.line)) for line in note.lines
    ]
    more = note.total - len(note.lines)
    return [*found, Choice(f"{note.path}, {counted(more, 'more line')}", (note.path, None))] if more > 0 else found


def _gone(hit: PastHit) -> str:
    went = f", gone at {when(hit.went)} {by_whom(hit.went)}" if hit.went is not None else ", still there"
    came = f"came at {when(hit.came)} {by_whom(hit.came)}"
    return f"Past: {hit.path}, line {hit.line.line}: {hit.line.text.strip()}; {came}{went}"
