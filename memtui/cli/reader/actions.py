"""The menu choices that change the folder: each asks for its names, then runs a flow of `memtui.flows`."""

from collections.abc import Sequence

from memtui.cli.reader.session import PHRASES, ReaderSession
from memtui.flows import files
from memtui.flows import undo as flows

_NAMED = 10
"""Paths that are named before a question."""


def rename(session: ReaderSession, path: str) -> str | None:
    """Ask for another name; the new path, or `None` if nothing was renamed."""
    new = _ask_new_path(session, path, "Not renamed")
    if new == path:
        session.dialog.say("Not renamed: it has that name already.")
    elif new is not None and session.change(
        "Not renamed", lambda dialog, engine: files.rename(dialog, engine, path, new, session.context)
    ):
        return new
    return None


def copy(session: ReaderSession, path: str) -> None:
    """Ask for a name, and copy the note or folder there."""
    new = _ask_new_path(session, path, "Not copied")
    if new is not None:
        session.change("Not copied", lambda dialog, engine: files.copy_to(dialog, engine, {path: new}, session.context))


def _ask_new_path(session: ReaderSession, path: str, not_done: str) -> str | None:
    if not session.check_writable(not_done):
        return None
    folder, _, own = path.rpartition("/")
    name = session.dialog.ask(f"New name of {own}; start with a slash for a path from the top of the folder:").strip()
    new = session.resolve_path(name, folder) if name else None
    return f"{new}/{own}" if new is not None and (name.endswith("/") or session.is_folder(new)) else new


def move_paths(session: ReaderSession, paths: Sequence[str]) -> None:
    """Ask for a folder, and move notes and folders into it, as one step."""
    if not session.check_writable("Not moved"):
        return
    name = session.dialog.ask("To which directory, from the top; a slash alone is the top:").strip()
    target = name.strip("/")
    folder = session.resolve_path(f"/{target}", "") if target else "" if name else None
    if folder is not None:
        session.change(
            "Not moved", lambda dialog, engine: files.move_into(dialog, engine, paths, folder, session.context)
        )


def delete(session: ReaderSession, *paths: str) -> bool:
    """Delete notes and folders, as one step; tells whether something was deleted."""
    if len(paths) > 1 and not session.engine.read_only:  # the question only counts them
        more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
        session.dialog.say(f"{', '.join(paths[:_NAMED])}{more}.")
    return session.change("Not deleted", lambda dialog, engine: files.delete(dialog, engine, paths, session.context))


def protect(session: ReaderSession, path: str) -> None:
    """Let no agent change a path, or let them again."""
    if session.check_writable("Nothing was changed"):
        on = not session.is_protected(path)
        session.report(files.protect(PHRASES, session.engine, [path], session.context, on=on))


def undo(session: ReaderSession, seq: int | None = None) -> None:
    """Undo an event; `None` for the newest."""
    session.change("Not undone", lambda dialog, engine: flows.undo(dialog, engine, seq))


def redo(session: ReaderSession) -> None:
    """Redo the last undo."""
    session.change("Not redone", lambda dialog, engine: flows.redo(dialog, engine, None))


def undo_by_actor(session: ReaderSession) -> None:
    """Undo all changes of one actor since a moment."""
    seen = session.unseen.get_seen_seq()
    session.change("Not undone", lambda dialog, engine: flows.undo_since(dialog, engine, seen))


def restore_folder(session: ReaderSession) -> None:
    """Restore the whole folder as of a moment."""
    if not session.check_writable("Not restored"):
        return
    at = session.ask_seq("As of when, such as 2h, yesterday, 10:14 or an event number:", beginning=False)
    if at is not None:
        session.change(
            "Not restored", lambda dialog, engine: flows.restore_as_of(dialog, engine, "", at, f"event {at}")
        )


def restore_loss(session: ReaderSession) -> None:
    """Restore all that was lost at once, or leave it so."""
    loss = session.engine.loss
    if loss is None:
        session.dialog.say("There is nothing left to restore.")
    elif not session.check_writable("Not restored"):
        return
    elif session.dialog.confirm("Restore the deleted notes? Files that exist now stay."):
        session.report(flows.restore_loss(PHRASES, session.engine, loss))
    else:
        session.change("Not dismissed", lambda dialog, engine: flows.dismiss_loss(dialog, engine, loss))
