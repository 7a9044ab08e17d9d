"""What a search found, as lines for a person or a pipe, and as an object for a program."""

import os
from collections.abc import Iterable, Iterator

from memtui.cli import moments, output
from memtui.core.events import Event
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.core.visible import HIDDEN, escape, one_line
from memtui.search.found import FormerName, Found, LineHit, NameHit, NoteHits, PastHit, Span

_PATH, _LINE, _MATCH, _HEADING = "35", "32", "1;31", "1"


def paths(found: Found) -> list[str]:
    """All paths that were found, relative to the folder, each once."""
    names = [hit.path for hit in found.names.hits]
    notes = [note.path for note in found.text.notes]
    former = [name.now or name.path for name in found.past.names]
    past = [hit.path if hit.now is None else hit.now for hit in found.past.hits]
    return list(dict.fromkeys([*names, *notes, *former, *past]))


# For a pipe


def print_lines(found: Found) -> None:
    """One line each: a path, `path:line:text`, or `path@event:line:text` with when it came and went behind a tab."""
    for hit in found.names.hits:
        output.line(one_line(hit.path))
    for note in found.text.notes:
        path = one_line(note.path)
        for line in note.lines:
            output.line(f"{path}:{line.line}:{_shown(line.text)}")
    for former in found.past.names:
        output.line(f"{one_line(former.path)}@{former.ended.seq}\t{_ended(former)}")
    for past in found.past.hits:
        place = f"{one_line(past.path)}@{past.came.seq}:{past.line.line}"
        output.line(f"{place}:{_shown(past.line.text)}\t{_from_to(past)}")


# For a person


def show(found: Found) -> None:
    """Grouped, under headings, with the matches marked."""
    parts = [
        _named("Names", found.names.hits),
        _named("Similar names", found.names.similar),
        _texts(found.text.notes),
        _former(found.past.names),
        _pasts(found.past.hits),
    ]
    for number, part in enumerate([lines for each in parts if (lines := list(each))]):
        if number:
            output.line("")
        for line in part:
            output.line(line)


def _named(heading: str, hits: Iterable[NameHit]) -> Iterator[str]:
    for number, hit in enumerate(hits):
        if not number:
            yield _colored(heading, _HEADING)
        yield f"  {_marked(hit.path, hit.spans, newline=True)}"


def _texts(notes: Iterable[NoteHits]) -> Iterator[str]:
    for number, note in enumerate(notes):
        if not number:
            yield _colored("Text", _HEADING)
        yield f"  {_colored(one_line(note.path), _PATH)}"
        for line in note.lines:
            yield f"    {_numbered(line)}"


def _former(names: Iterable[FormerName]) -> Iterator[str]:
    for number, name in enumerate(names):
        if not number:
            yield _colored("Former names", _HEADING)
        yield f"  {_marked(name.path, name.spans, newline=True)}"
        yield f"      {_ended(name)}"


def _ended(name: FormerName) -> str:
    what = "deleted" if name.now is None else f"renamed, now {one_line(name.now)},"
    return f"{what} with {one_line(moments.said(name.ended))}"


def _pasts(hits: Iterable[PastHit]) -> Iterator[str]:
    previous = ""
    for number, hit in enumerate(hits):
        if not number:
            yield _colored("Past", _HEADING)
        place = f"{hit.path}@{hit.came.seq}"
        if place != previous:
            is_now = "" if hit.now == hit.path else " (gone)" if hit.now is None else f" (now {one_line(hit.now)})"
            yield f"  {_colored(one_line(place), _PATH)}{is_now}"
        previous = place
        yield f"    {_numbered(hit.line)}"
        yield f"      {_from_to(hit)}"


def _numbered(line: LineHit) -> str:
    return f"{_colored(str(line.line), _LINE)}: {_marked(line.text, line.spans)}"


def _from_to(hit: PastHit) -> str:
    came = "was there at" if hit.came.command == "found" else "came with"
    went = "still there" if hit.went is None else f"went with {one_line(moments.said(hit.went))}"
    return f"{came} {one_line(moments.said(hit.came))}, {went}"


def _marked(text: str, spans: Iterable[Span], *, newline: bool = False) -> str:
    """A text with its matches in color, and with what is hidden in it made visible."""
    colored = output.is_colored()
    shown, at = [], 0
    for start, end in spans:
        shown.append(_shown(text[at:start], newline=newline))
        matched = _shown(text[start:end], newline=newline)
        shown.append(f"\x1b[{_MATCH}m{matched}\x1b[m" if colored else matched)
        at = end
    return "".join([*shown, _shown(text[at:], newline=newline)])


def _shown(text: str, *, newline: bool = False) -> str:
    """A text on one line. Each hidden character is named, also where it would be let through beside its neighbours:
    a piece that begins in the midst of an emoji has lost them.
    """
    return one_line(text) if newline else HIDDEN.sub(lambda found: escape(found.group()), text)


def _colored(text: str, color: str) -> str:
    return f"\x1b[{color}m{text}\x1b[m" if output.is_colored() else text


# For a program


def record(found: Found, folder: str, query: str) -> dict[str, object]:
    """All that was found; keys may be added, none is taken away.

    Args:
        found: What.
        folder: The memory folder, for the real paths.
        query: As it was typed.
    """
    names, text, past = found.names, found.text, found.past
    return {
        "schema": output.SCHEMA,
        "query": query,
        "names": [_name_record(hit, folder) for hit in names.hits],
        "similar": [_name_record(hit, folder) for hit in names.similar],
        "text": [_note_record(note, folder) for note in text.notes],
        "former": [_former_record(name) for name in past.names],
        "past": [_past_record(hit) for hit in past.hits],
        "totals": {
            "names": names.total,
            "notes": text.total_notes,
            "lines": text.total_lines,
            "lines_at_least": text.lines_at_least,
            "former": past.total_names,
            "past": past.total,
            "past_at_least": past.at_least,
        },
        "looked": {"notes": text.looked, "unread": text.unread, "versions": past.looked, "not_kept": past.gone_texts},
        "problem": found.problem,
        "seconds": round(found.seconds, 6),
    }


def _name_record(hit: NameHit, folder: str) -> dict[str, object]:
    shift = len(ROOT_NAME) + 1
    spans = [[start + shift, end + shift] for start, end in hit.spans]
    return {**_place(hit.path, folder), "score": round(hit.score, 3), "spans": spans}


def _note_record(note: NoteHits, folder: str) -> dict[str, object]:
    lines = [
        {"line": line.line, "column": line.column, "text": line.text, "spans": [list(span) for span in line.spans]}
        for line in note.lines
    ]
    return {**_place(note.path, folder), "total": note.total, "lines": lines}


def _former_record(name: FormerName) -> dict[str, object]:
    shift = len(ROOT_NAME) + 1
    return {
        "path": str(MemoryPath.of(name.path)),
        "now": None if name.now is None else str(MemoryPath.of(name.now)),
        "spans": [[start + shift, end + shift] for start, end in name.spans],
        "sha256": name.version.sha256,
        "ended": _event_record(name.ended),
    }


def _past_record(hit: PastHit) -> dict[str, object]:
    return {
        "path": str(MemoryPath.of(hit.path)),
        "now": None if hit.now is None else str(MemoryPath.of(hit.now)),
        "line": hit.line.line,
        "column": hit.line.column,
        "text": hit.line.text,
        "spans": [list(span) for span in hit.line.spans],
        "sha256": hit.version.sha256,
        "came": _event_record(hit.came),
        "went": None if hit.went is None else _event_record(hit.went),
    }


def _event_record(event: Event) -> dict[str, object]:
    return {
        "seq": event.seq,
        "ts": output.utc(event.at_us),
        "actor": event.actor.name,
        "actor_kind": type(event.actor).__name__.lower(),
        "command": event.command,
        "call_id": event.call_id,
    }


def _place(path: str, folder: str) -> dict[str, object]:
    return {"path": str(MemoryPath.of(path)), "real": os.path.join(folder, path)}
