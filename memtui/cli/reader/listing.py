"""The files of a memory, folder by folder, with numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.cli.reader import editing, filing, notes
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.sentences import counted, size
from memtui.core.protection import holds
from memtui.core.snapshot import Entry, Kind

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_ONLY_NAMES = 200
"""Entries from which on only names are told: looking at each would be waited for."""
_KINDS = {Kind.LINK: ", a link", Kind.OTHER: ", no regular file"}


def visit(session: "Session", folder: str = "") -> None:
    """A folder and what is in it, until the person goes back."""
    dialog = session.dialog
    is_known = False
    is_hidden_shown = session.config.ui.hidden
    while True:
        if not session.is_folder(folder):
            dialog.say(f"The folder {folder} is not there any more.")
            return
        entries, hidden = _entries(session, folder, hidden=is_hidden_shown)
        title = f"{folder or 'The memory folder'}, {_counted(entries)}."
        if hidden:
            title += f" {counted(hidden, 'hidden one')} not told."
        others: dict[str, Choice[Entry | str]] = {"o": Choice("for this folder's options", "options")}
        if hidden or is_hidden_shown:
            others["h"] = Choice("for hidden ones too" if hidden else "to leave out hidden ones", "hidden")
        told: list[Choice[Entry | str]] = [Choice(_told(session, each, len(entries)), each) for each in entries]
        chosen = dialog.choose(title, told, others=others, known=is_known)
        is_known = True
        match chosen:
            case None:
                return
            case "options":
                if _settle(session, folder, [entry.path for entry in entries]):
                    return
            case "hidden":
                is_hidden_shown = not is_hidden_shown
            case Entry(kind=Kind.DIRECTORY) as entry:
                visit(session, entry.path)
            case Entry() as entry:
                notes.visit(session, entry.path)


def _settle(session: "Session", folder: str, paths: Sequence[str]) -> bool:
    """What can be done with a folder; tells whether it is somewhere else now."""
    dialog = session.dialog
    is_protected = any(holds(each, folder) for each in session.engine.files.protected())
    choices = [Choice("New note or folder here", "new")]
    if paths:
        choices += [Choice("Delete several here", "delete several"), Choice("Move several here", "move several")]
    if folder:
        choices += [
            Choice("Rename or move it", "rename"),
            Choice("Copy it", "copy"),
            Choice("Delete it", "delete"),
        ]
    choices.append(Choice("Let agents change what is in it" if is_protected else "Protect it from agents", "protect"))
    match dialog.choose(f"{folder or 'The memory folder'}.", choices, known=True):
        case "new":
            editing.write_new(session, folder)
        case "delete several" | "move several" as what:
            numbers = dialog.numbers("Their numbers in the list,", len(paths))
            several = [paths[number - 1] for number in numbers or ()]
            if several and what == "delete several":
                filing.delete(session, *several)
            elif several:
                filing.move_several(session, several)
        case "rename":
            return filing.rename(session, folder) is not None
        case "copy":
            filing.copy(session, folder)
        case "delete":
            return filing.delete(session, folder)
        case "protect":
            filing.protect(session, folder, is_protected=is_protected)
    return False


def _entries(session: "Session", folder: str, *, hidden: bool) -> tuple[list[Entry], int]:
    """What is in a folder, folders first; and how many hidden ones are left out."""
    start = f"{folder}/" if folder else ""
    found: list[Entry] = []
    left_out = 0
    for entry in session.engine.names():
        name = entry.path[len(start) :]
        if not entry.path.startswith(start) or not name or "/" in name:
            continue
        if name.startswith(".") and not hidden:
            left_out += 1
        else:
            found.append(entry)
    found.sort(key=lambda each: (each.kind is not Kind.DIRECTORY, each.path.casefold(), each.path))
    return found, left_out


def _told(session: "Session", entry: Entry, count: int) -> str:
    name = entry.path.rpartition("/")[2]
    if entry.kind is Kind.DIRECTORY:
        return f"{name}, folder"
    if entry.kind in _KINDS:
        return f"{name}{_KINDS[entry.kind]}"
    looked = session.engine.entry(entry.path) if count <= _ONLY_NAMES else None
    return f"{name}, {size(looked.size)}" if looked is not None and looked.size is not None else name


def _counted(entries: Sequence[Entry]) -> str:
    folders = sum(each.kind is Kind.DIRECTORY for each in entries)
    parts = [counted(folders, "folder")] if folders else []
    parts += [counted(len(entries) - folders, "file")] if len(entries) - folders or not folders else []
    return " and ".join(parts)
