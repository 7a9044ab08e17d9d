"""What was: the versions of a note, what is deleted, and getting any of it back."""

from typing import TYPE_CHECKING

from memtui.cli.reader import differences, taking_back
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.filing import tell
from memtui.cli.reader.sentences import by_whom, clause, sentence, when
from memtui.core.events import Change, Version
from memtui.core.history import Deleted, PathVersion
from memtui.core.snapshot import Kind

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_MOST = 1_000


def visit(session: "Session", path: str) -> None:
    """The versions of a note, the newest first, until the person goes back."""
    is_known = False
    while True:
        rows = session.engine.history.versions_of(path, limit=_MOST)
        if not rows:
            session.dialog.say(f"Nothing is recorded of {path}.")
            return
        choices = [Choice(_row(row, is_newest=not number), row) for number, row in enumerate(rows)]
        row = session.dialog.choose(f"History of {path}, the newest first.", choices, known=is_known)
        is_known = True
        if row is None:
            return
        visit_version(session, path, row)


def visit_version(session: "Session", path: str, row: PathVersion) -> None:
    """One version of a note.

    Args:
        session: Where the person is asked.
        path: What the note is called now.
        row: What happened to it.
    """
    dialog, engine = session.dialog, session.engine
    version = row.before if row.after is None else row.after
    then = f"as it was {'before' if row.after is None else 'after'} event {row.event.seq}"
    choices = [
        Choice("What it changed", "changed"),
        Choice("What has changed since", "since"),
        Choice(f"Read it {then}", "read"),
        Choice(f"Put it back {then}", "restore"),
        Choice("Undo this change", "undo"),
    ]
    while True:
        match dialog.choose(sentence(row.event, numbered=True), choices, known=True):
            case "changed":
                dialog.read_out(differences.of_row(engine, row))
            case "since":
                now = engine.history.version_at(path, engine.head()[0])
                dialog.read_out(differences.of_change(engine, Change(path, version, now)))
            case "read":
                _read(session, f"{path} {then}", version)
            case "restore":
                _restore(session, path, version, row, then)
            case "undo":
                taking_back.undo(session, row.event.seq)
            case _:
                return


def visit_deleted(session: "Session") -> None:
    """What was there once and is not now, to be read and brought back."""
    is_known = False
    while True:
        deleted = session.engine.history.deleted()
        if not deleted:
            session.dialog.say("Nothing is deleted.")
            return
        choices = [Choice(_gone(each), each) for each in deleted]
        chosen = session.dialog.choose("Deleted notes, the last to go first.", choices, known=is_known)
        is_known = True
        if chosen is None:
            return
        _visit_gone(session, chosen)


def _visit_gone(session: "Session", deleted: Deleted) -> None:
    dialog = session.dialog
    options = [Choice("Read", "read"), Choice("Bring it back", "back"), Choice("History", "history")]
    while True:
        match dialog.choose(f"{deleted.path}, deleted.", options, known=True):
            case "read":
                _read(session, deleted.path, deleted.version)
            case "back":
                if session.may_write("Not brought back"):
                    restored = session.engine.restore({deleted.path: deleted.version}, expected={deleted.path: None})
                    tell(session, restored, f"{deleted.path} is back. Undo takes it away again.", "Not brought back")
                    return
            case "history":
                visit(session, deleted.path)
            case _:
                return


def _restore(session: "Session", path: str, version: Version | None, row: PathVersion, then: str) -> None:
    dialog, engine = session.dialog, session.engine
    if not session.may_write("Not put back"):
        return
    rehearsed = engine.restore({path: version}, rehearse=True)
    if not rehearsed.changes:
        tell(session, rehearsed, "", "Not put back")
        return
    for change in rehearsed.changes:
        if change.path == path:
            dialog.say("This would change.")
            dialog.read_out(differences.of_change(engine, change))
    if not dialog.is_sure(f"Put {path} back {then}? What stands there now stays in the history."):
        dialog.say("Not put back. Nothing was written.")
        return
    expected = {change.path: change.before for change in rehearsed.changes}
    restored = engine.restore({path: version}, expected=expected, note=f"as of #{row.event.seq}")
    tell(session, restored, f"{path} is {then}. Undo takes it back.", "Not put back")


def _read(session: "Session", name: str, version: Version | None) -> None:
    from memtui.cli.reader.notes import read_text  # deferred: notes are visited from there

    if version is None or version.kind is Kind.DIRECTORY:
        session.dialog.say("Nothing stood there." if version is None else "It was a folder.")
        return
    data = session.engine.history.text(version)
    if data is None:
        session.dialog.say("Its text is not kept: it was redacted, too large, or is older than what is kept.")
    else:
        read_text(session, name, data)


def _row(row: PathVersion, *, is_newest: bool) -> str:
    event = row.event
    now = " This is what stands now." if is_newest and row.after is not None and row.moved_to is None else ""
    return f"{when(event)} {clause(event)}.{now}"


def _gone(deleted: Deleted) -> str:
    kept = "" if deleted.kept else ", its text is not kept"
    return f"{deleted.path}, at {when(deleted.event)}, {by_whom(deleted.event)}{kept}"
