"""Undo and redo: what would be taken back is said in full before anything is."""

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from memtui.cli import moments
from memtui.cli.exits import Failure
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.filing import tell
from memtui.cli.reader.sentences import clause, counted, files_in, when
from memtui.core.actors import shown_name
from memtui.core.events import Event
from memtui.core.restoring import Restored

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_RECENT = 2_000
"""Events among which those are looked for who did something lately."""
_NAMED = 10


def undo(session: "Session", seq: int | None = None) -> None:
    """Take back an event, once the person is sure.

    Args:
        session: Where she is asked.
        seq: Which; `None` for the newest that changed something and was not taken back.
    """
    dialog, engine = session.dialog, session.engine
    if not session.may_write("Not undone"):
        return
    event = engine.history.undoable(seq)
    if event is None:
        dialog.say(_why_not(session, seq))
        return
    if _is_wanted(session, "Undo", event, engine.undo([event.seq], rehearse=True)):
        restored = engine.undo([event.seq])
        tell(session, restored, f"Undone: event {event.seq}. Redo does it again.", "Not undone")


def redo(session: "Session") -> None:
    """Do again what was taken back last, once the person is sure."""
    dialog, engine = session.dialog, session.engine
    if not session.may_write("Not redone"):
        return
    event = engine.history.redoable()
    if event is None:
        dialog.say("There is nothing to redo.")
        return
    first = engine.history.event(event.undoes[0]) if event.undoes else None
    if _is_wanted(session, "Redo", first or event, engine.undo([event.seq], rehearse=True)):
        tell(session, engine.undo([event.seq]), "Redone. Undo takes it back again.", "Not redone")


def undo_all_of_somebody(session: "Session") -> None:
    """Take back all that somebody did since a moment, once the person has heard how much that is."""
    dialog, engine = session.dialog, session.engine
    if not session.may_write("Not undone"):
        return
    recent = engine.events(max(engine.head()[0] - _RECENT, 0))
    names = {shown_name(event.actor): None for event in recent if event.changes and event.command != "found"}
    if not names:
        dialog.say("Nobody has changed anything lately.")
        return
    name = dialog.choose("Undo all that who did?", [Choice(each, each) for each in names])
    if name is None:
        return
    after = _asked_moment(session, "Since when, such as 10:14, today, 2h, or an event's number:", beginning=True)
    if after is None:
        return
    rehearsed = engine.undo_since(after, actor_name=name, partial=True, rehearse=True)
    if not rehearsed.changes:
        dialog.say(rehearsed.problem or f"{name} has changed nothing since.")
        return
    _tell_left(session, rehearsed)
    if dialog.is_sure(f"Undo what {name} did to {counted(len(files_in(rehearsed.changes)), 'file')}?"):
        restored = engine.undo_since(after, actor_name=name, partial=True)
        tell(session, restored, f"Undone: what {name} did. Redo does it again.", "Not undone")
    else:
        dialog.say("Not undone. Nothing was written.")


def put_folder_back(session: "Session") -> None:
    """Have the whole folder be as it was, once the person has heard what that changes."""
    dialog, engine = session.dialog, session.engine
    if not session.may_write("Not put back"):
        return
    at = _asked_moment(session, "As of when, such as 10:14, yesterday, 2h, or an event's number:", beginning=False)
    if at is None:
        return
    rehearsed = engine.restore_below("", at, partial=True, rehearse=True)
    if not rehearsed.changes:
        dialog.say(rehearsed.problem or "The folder is as it was then: nothing has to be put back.")
        return
    changes = files_in(rehearsed.changes)
    gone = sum(change.after is None for change in changes)
    newer = f"; {gone:,} of them {'is' if gone == 1 else 'are'} newer and would go" if gone else ""
    _tell_left(session, rehearsed)
    if dialog.is_sure(f"Put {counted(len(changes), 'file')} back as after event {at}{newer}?"):
        restored = engine.restore_below("", at, partial=True)
        tell(session, restored, f"The folder is as after event {at}. Undo takes it back.", "Not put back")
    else:
        dialog.say("Not put back. Nothing was written.")


def _asked_moment(session: "Session", question: str, *, beginning: bool) -> int | None:
    """The number of the event that a moment means; `None` if there is none, which is said."""
    words = session.dialog.ask(question).strip()
    if not words:
        return None
    try:
        moment = moments.moment(words)
        seq = moments.seq_of(session.engine, moment, beginning=beginning)
        return max(0, seq - 1) if beginning and moment.seq is not None else seq
    except ArgumentTypeError as error:
        session.dialog.say(f"{error}.")
    except Failure as failure:
        session.dialog.say(str(failure))
    return None


def _tell_left(session: "Session", rehearsed: Restored) -> None:
    for left in rehearsed.left[:_NAMED]:
        session.dialog.say(f"Would be left: {left.sentence}.")
    if len(rehearsed.left) > _NAMED:
        session.dialog.say(f"And {len(rehearsed.left) - _NAMED:,} more would be left.")


def bring_back_loss(session: "Session") -> None:
    """Bring back all that went at once, or have it not spoken of any more."""
    dialog, engine = session.dialog, session.engine
    loss = engine.loss
    if loss is None:
        dialog.say("Nothing is missing any more.")
    elif not session.may_write("Not brought back"):
        return
    elif dialog.is_sure(f"Bring back {counted(len(loss.changes), 'note')}? What stands there by now stays."):
        tell(session, engine.restore_loss(), "They are back.", "Not brought back")
    elif dialog.is_sure("Leave it so, and not say it again?"):
        engine.dismiss_loss(loss.last)
        dialog.say("Left as it is. Deleted notes lists what is gone.")


def _is_wanted(session: "Session", verb: str, event: Event, rehearsed: Restored) -> bool:
    dialog = session.dialog
    not_done = "Not undone" if verb == "Undo" else "Not redone"
    if not rehearsed.changes:
        tell(session, rehearsed, "", not_done)
        return False
    count = len(files_in(rehearsed.changes))
    many = f" {counted(count, 'file')} would change." if count > 1 else ""
    said = clause(event)
    said = f"{said[:1].lower()}{said[1:]}" if said.startswith(("You ", "Somebody ")) else said
    if dialog.is_sure(f"{verb} event {event.seq}, of {when(event)}: {said}?{many}"):
        return True
    dialog.say(f"{not_done}. Nothing was written.")
    return False


def _why_not(session: "Session", seq: int | None) -> str:
    if seq is None:
        return "There is nothing to undo: nothing was changed, or all of it was taken back."
    by = session.engine.history.undone_by(seq)
    if by is not None:
        return f"Event {seq} was taken back already, by event {by}."
    return f"Event {seq} changed nothing that can be undone."
