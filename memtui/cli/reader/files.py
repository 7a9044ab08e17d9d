"""The files, folder by folder, and found by words: names, lines, and lines that are gone."""

import time
from collections.abc import Callable, Sequence
from functools import partial

from memtui.cli.reader import actions, edit, notes
from memtui.cli.reader.sentences import KINDS, format_time
from memtui.cli.reader.session import ReaderSession
from memtui.core.events import EntryKind, FolderEntry
from memtui.core.wording import SPOKEN, format_by_actor, format_count, format_size
from memtui.search.query import InvalidQuery, parse_query
from memtui.search.results import PastHit, Scope, SearchResults

_ONLY_NAMES = 200
"""Entries from which on only names are said: a look at each would be waited for."""


def visit_folder(session: ReaderSession, folder: str = "") -> None:
    """Offer the entries of a folder, until the person goes back or it is gone."""
    dialog = session.dialog
    known = False
    is_hidden_shown = session.config.ui.hidden
    while True:
        if not session.is_folder(folder):
            dialog.say(f"The directory {folder} was deleted.")
            return
        entries, hidden = _list_entries(session, folder, hidden=is_hidden_shown)
        title = f"{folder or 'The memory folder'}, {_format_entry_counts(entries)}."
        if hidden:
            title += f" {format_count(hidden, 'hidden one')} not listed."
        others: dict[str, tuple[str, FolderEntry | str]] = {"o": ("for this directory's options", "options")}
        if hidden or is_hidden_shown:
            others["h"] = ("to show hidden ones" if hidden else "to hide hidden ones", "hidden")
        choices: list[tuple[str, FolderEntry | str]] = [
            (_describe_entry(session, each, len(entries)), each) for each in entries
        ]
        chosen = dialog.choose(title, choices, others=others, known=known)
        known = True
        match chosen:
            case None:
                return
            case "options":
                if _manage_folder(session, folder, [entry.path for entry in entries]):
                    return
            case "hidden":
                is_hidden_shown = not is_hidden_shown
            case FolderEntry(kind=EntryKind.DIRECTORY) as entry:
                visit_folder(session, entry.path)
            case FolderEntry() as entry:
                notes.visit_note(session, entry.path)


def _manage_folder(session: ReaderSession, folder: str, paths: Sequence[str]) -> bool:
    """Have one thing done with a folder; tells whether it is somewhere else now, or gone."""
    dialog = session.dialog

    def ask_paths() -> list[str]:
        return [paths[number - 1] for number in dialog.ask_numbers("Numbers in the list,", len(paths))]

    def delete_several() -> None:
        if several := ask_paths():
            actions.delete(session, *several)

    def move_several() -> None:
        if several := ask_paths():
            actions.move_paths(session, several)

    choices: list[tuple[str, Callable[[], object]]] = [
        ("New note or directory", partial(edit.write_new_note, session, folder))
    ]
    if paths:
        choices += [("Delete several", delete_several), ("Move several", move_several)]
    if folder:
        choices += [
            ("Rename or move", lambda: actions.rename(session, folder) is not None),
            ("Copy", partial(actions.copy, session, folder)),
            ("Delete", partial(actions.delete, session, folder)),
        ]
    protection = "Unprotect" if session.is_protected(folder) else "Protect from agents"
    choices.append((protection, partial(actions.protect, session, folder)))
    chosen = dialog.choose(f"{folder or 'The memory folder'}.", choices)
    return chosen is not None and chosen() is True


def _list_entries(session: ReaderSession, folder: str, *, hidden: bool) -> tuple[list[FolderEntry], int]:
    """The entries of a folder, folders first; and how many hidden ones are left out."""
    start = f"{folder}/" if folder else ""
    found: list[FolderEntry] = []
    left_out = 0
    for entry in session.engine.iter_names():
        name = entry.path[len(start) :]
        if not entry.path.startswith(start) or not name or "/" in name:
            continue
        if name.startswith(".") and not hidden:
            left_out += 1
        else:
            found.append(entry)
    found.sort(key=lambda each: (each.kind is not EntryKind.DIRECTORY, each.path.casefold(), each.path))
    return found, left_out


def _describe_entry(session: ReaderSession, entry: FolderEntry, count: int) -> str:
    name = entry.path.rpartition("/")[2]
    if entry.kind is EntryKind.DIRECTORY:
        return f"{name}, directory"
    if entry.kind is not EntryKind.FILE:
        return f"{name}, {KINDS[entry.kind]}"
    found = session.engine.get_entry(entry.path) if count <= _ONLY_NAMES else None
    return f"{name}, {format_size(found.size, SPOKEN)}" if found is not None and found.size is not None else name


def _format_entry_counts(entries: Sequence[FolderEntry]) -> str:
    folders = sum(each.kind is EntryKind.DIRECTORY for each in entries)
    files = len(entries) - folders
    parts = [format_count(folders, "directory", "directories")] if folders else []
    parts += [format_count(files, "file")] if files or not folders else []
    return " and ".join(parts)


# Find: names, lines, and lines that are gone, in one list with numbers

_LIMIT, _PER_NOTE = 50, 5

_Hit = tuple[str, int | None] | PastHit
"""A note, with the line where it is to be read from; or a line that is gone."""


def search_notes(session: ReaderSession) -> None:
    """Ask for words, list the hits, and go to chosen ones."""
    dialog = session.dialog
    dialog.say("Words, or filters such as by:claude since:2d in:projects/ tag:x. Enter goes back.")
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
    parts += [f"{len(names.similar):,} similar"] if names.similar else []
    parts += [total] if lines.notes else []
    parts += [f"{format_count(past.total, 'line')} of history"] if past.hits else []
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
    came = f"added at {format_time(hit.added_by)} {format_by_actor(hit.added_by)}"
    gone = hit.removed_by
    went = f"removed at {format_time(gone)} {format_by_actor(gone)}" if gone is not None else "still there"
    return f"Past: {hit.path}, line {hit.line.line}: {hit.line.text.strip()}; {came}, {went}"
