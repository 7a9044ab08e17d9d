"""Putting notes and folders in order: naming, copying, deleting and protecting them, each after a clear sentence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.cli import places
from memtui.cli.exits import Failure
from memtui.cli.reader.sentences import counted, is_file
from memtui.core.restoring import Restored

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_NAMED = 10
"""Things that are named before a question."""


def place_named(session: "Session", name: str, folder: str) -> str | None:
    """The path that a person means; `None` if there can be none, which is said.

    Args:
        session: Where she is asked.
        name: As she typed it: relative to a folder, or from the top with a slash before it.
        folder: The folder.
    """
    try:
        if name.startswith("/") and not name.startswith(("/memories/", f"{session.folder}/")):
            place = places.place(name.lstrip("/") or ".", session.folder)
        else:
            place = places.place(name if name.startswith("/") or not folder else f"{folder}/{name}", session.folder)
    except Failure as failure:
        session.dialog.say(str(failure))
        return None
    if place.is_root:
        session.dialog.say("That is the whole folder. Name what is in it.")
        return None
    return place.relative


def rename(session: "Session", path: str) -> str | None:
    """Ask for another name; what it is called now, or `None` if that is what it was."""
    return _named_anew(session, path, "rename")


def copy(session: "Session", path: str) -> None:
    """Ask for a name, and copy it there."""
    _named_anew(session, path, "copy")


def _named_anew(session: "Session", path: str, verb: str) -> str | None:
    dialog = session.dialog
    not_done, done = ("Not renamed", "Renamed") if verb == "rename" else ("Not copied", "Copied")
    if not session.may_write(not_done):
        return None
    folder, _, own = path.rpartition("/")
    question = f"New name of {own}; with a slash before it, from the top of the folder:"
    name = dialog.ask(question).strip()
    if not name:
        return None
    new = place_named(session, name, folder)
    if new is None:
        return None
    if name.endswith("/") or session.is_folder(new):
        new = f"{new}/{own}"
    if new == path:
        dialog.say(f"{not_done}: that is its name.")
        return None
    files = session.engine.files
    restored = files.move({path: new}) if verb == "rename" else files.copy({path: new})
    tell(session, restored, f"{done} {path} to {new}. Undo takes it back.", not_done)
    return new if restored.event is not None and not restored.left else None


def move_several(session: "Session", paths: Sequence[str]) -> None:
    """Ask for a folder, and move notes and folders into it, as one step."""
    dialog = session.dialog
    if not session.may_write("Not moved"):
        return
    name = dialog.ask("To which folder, from the top; a slash alone is the top:").strip()
    if not name:
        return
    folder = "" if name.strip("/") == "" else place_named(session, f"/{name.strip('/')}", "")
    if folder is None:
        return
    moves = {path: f"{folder}/{path.rpartition('/')[2]}".removeprefix("/") for path in paths}
    if len(set(moves.values())) < len(moves) or all(old == new for old, new in moves.items()):
        dialog.say("Not moved: they are there, or two of them have one name.")
        return
    count = counted(len(paths), "thing")
    restored = session.engine.files.move(moves)
    tell(session, restored, f"Moved {count} to {folder or 'the top'}. Undo takes it back.", "Not moved")


def delete(session: "Session", *paths: str) -> bool:
    """Delete notes and folders, as one step, once the person is sure; tells whether they are gone."""
    if not session.may_write("Not deleted"):
        return False
    files = session.engine.files
    rehearsed = files.delete(paths, rehearse=True)
    if not rehearsed.changes:
        tell(session, rehearsed, "", "Not deleted")
        return False
    count = sum(is_file(change.before) for change in rehearsed.changes)
    if len(paths) > 1:
        what = f"{counted(count, 'file')}, in {', '.join(paths[:_NAMED])}"
        what += f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    else:
        what = f"the folder {paths[0]} with {counted(count, 'file')}" if session.is_folder(paths[0]) else paths[0]
    if not session.dialog.is_sure(f"Delete {what}? Its text is kept, and Undo brings it back."):
        session.dialog.say("Not deleted. Nothing was written.")
        return False
    expected = {change.path: change.before for change in rehearsed.changes}
    restored = files.delete(paths, expected=expected)
    tell(session, restored, f"Deleted {what}. Undo brings it back.", "Not deleted")
    return restored.event is not None and not restored.left


def protect(session: "Session", path: str, *, is_protected: bool) -> None:
    """Let no agent change it, or let them again."""
    if not session.may_write("Nothing was changed"):
        return
    files = session.engine.files
    if is_protected:
        tell(session, files.unprotect([path]), f"Agents may change {path} again.", "Still protected")
    else:
        tell(
            session,
            files.protect([path]),
            f"Agents can read {path or 'the folder'}, and not change it.",
            "Not protected",
        )


def tell(session: "Session", restored: Restored, done: str, not_done: str) -> None:
    """What came of it: done, done but for some, or not done and why."""
    dialog = session.dialog
    if restored.event is not None and done:
        dialog.say(done)
    if restored.problem:
        dialog.say(restored.problem)
    elif restored.event is None and not restored.changes and not restored.left:
        dialog.say(f"{not_done}: there is nothing to do.")
    if restored.event is not None or len(restored.left) > 1 or not restored.problem:
        for left in restored.left[:20]:
            dialog.say(f"Left as it is: {left.sentence}.")
        if len(restored.left) > 20:
            dialog.say(f"And {len(restored.left) - 20:,} more are left as they are.")
