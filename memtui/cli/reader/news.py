"""What happened: since the person last looked, lately, and as it happens."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.cli.reader import differences, notes, taking_back
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.sentences import by_whom, counted, files_in, is_file, sentence, when
from memtui.cli.reader.session import SEEN, taken
from memtui.core.errors import FolderMissing, MemtuiError
from memtui.core.events import Event, Person, Version
from memtui.engine.history import moves

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_LATELY = 200
_PAUSE = 0.5


@dataclass(slots=True)
class New:
    """What became of one note since the person last looked.

    Attributes:
        path: What it is called, relative to the folder.
        before: What it was then; `None` for nothing.
        after: What it is now.
        last: What was done to it last.
        times: How many changes there were.
        was: What it was called then, if otherwise.
    """

    path: str
    before: Version | None
    after: Version | None
    last: Event
    times: int = 1
    was: str = ""


class Unseen:
    """The notes that others changed since the person last looked; each event is gone through once.

    Args:
        session: Whose.
    """

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._found: dict[str, New] = {}
        self._seen = -1
        self._until = 0

    def notes(self) -> list[New]:
        """All of them, the last change first."""
        seen = self._session.seen()
        if seen != self._seen:
            self._found, self._seen, self._until = {}, seen, seen
        for event in self._session.engine.events(self._until):
            self._until = event.seq
            if not (event.is_error or event.command in ("found", "began") or isinstance(event.actor, Person)):
                self._take_in(event)
        return [each for each in reversed(self._found.values()) if each.before != each.after or each.was]

    def greeting(self) -> str:
        """How much is new, in a sentence; empty if nothing is."""
        new = self.notes()
        if not new:
            return ""
        last = sentence(new[0].last)
        return f"{counted(len(new), 'note')} changed since you last looked. The last one: {last}"

    def mark(self, until: int) -> None:
        """All up to an event has been seen."""
        self._session.engine.set_note(SEEN, str(until))

    def _take_in(self, event: Event) -> None:
        came_from = moves(event)
        left = set(came_from.values())
        known = {path: self._found.pop(path) for path in (*came_from, *left) if path in self._found}
        for change in event.changes:
            path, old = change.path, came_from.get(change.path)
            if not is_file(change.after or change.before) or (path in left and change.after is None):
                continue
            earlier = known.get(old or path) or self._found.pop(path, None)
            before = earlier.before if earlier else change.after if old is not None else change.before
            was = (earlier.was if earlier else "") or old or ""
            times = earlier.times + 1 if earlier else 1
            self._found[path] = New(path, before, change.after, event, times, "" if was == path else was)


def tell_new(session: "Session") -> None:
    """What is new, note by note, until the person goes back."""
    is_known = False
    dialog, engine = session.dialog, session.engine
    while True:
        head = engine.head()[0]
        new = session.unseen.notes()
        if not new:
            dialog.say("Nothing is new since you last looked.")
            return
        marking: dict[str, Choice[New | str]] = {"a": Choice("marks all as seen", "all")}
        choices: list[Choice[New | str]] = [Choice(_told(each), each) for each in new]
        chosen = dialog.choose(
            f"New in {counted(len(new), 'note')} since you last looked.",
            choices,
            others=marking,
            known=is_known,
        )
        is_known = True
        if chosen is None:
            return
        if isinstance(chosen, str):
            session.unseen.mark(head)
            dialog.say("All is marked as seen.")
            return
        texts = engine.history.text(chosen.before), engine.history.text(chosen.after)
        dialog.read_out(differences.between(chosen.before, chosen.after, *texts))
        if chosen.after is not None:
            notes.visit(session, chosen.path)


def tell_lately(session: "Session") -> None:
    """The last events, the newest first, each to be looked at and undone."""
    is_known = False
    dialog, engine = session.dialog, session.engine
    while True:
        events = [event for event in engine.events(max(engine.head()[0] - _LATELY, 0)) if _is_told(event)]
        if not events:
            dialog.say("Nothing was recorded yet.")
            return
        choices = [Choice(sentence(event), event) for event in reversed(events)]
        event = dialog.choose("What happened lately, the newest first.", choices, known=is_known)
        is_known = True
        if event is None:
            return
        _visit(session, event)


def _visit(session: "Session", event: Event) -> None:
    dialog = session.dialog
    options = [Choice("What it changed", "changed"), Choice("Undo it", "undo"), Choice("Go to the note", "note")]
    while True:
        match dialog.choose(sentence(event, numbered=True), options, known=True):
            case "changed":
                dialog.read_out(_changes(session, event))
            case "undo":
                taking_back.undo(session, event.seq)
            case "note":
                changes = files_in(event.changes)
                path = changes[-1].path if changes else event.path.removeprefix("/memories/")
                notes.visit(session, path)
            case _:
                return


def _changes(session: "Session", event: Event) -> list[str]:
    told: list[str] = []
    changes = files_in(event.changes)
    for change in changes:
        head = [f"{change.path}:"] if len(changes) > 1 else []
        told += head + differences.of_change(session.engine, change)
    return told or ([event.answer or "It changed nothing."] if event.is_error else ["It changed nothing."])


def follow(session: "Session") -> None:
    """One sentence for each change as it happens, until the person presses Enter.

    Raises:
        Quit: There is no more input.
    """
    dialog, engine = session.dialog, session.engine
    after = engine.head()[0]
    dialog.say("Following. Enter ends it.")
    said = ""
    while True:
        dialog.say(*taken(session.notices))
        try:
            for event in engine.events(after):
                after = event.seq
                if _is_told(event):
                    dialog.say(sentence(event))
            said = ""
        except FolderMissing:
            raise
        except MemtuiError as error:
            if str(error) != said:
                said = str(error)
                dialog.say(f"{said} Trying again.")
        if dialog.wait(_PAUSE):
            dialog.take_line()
            return


def _is_told(event: Event) -> bool:
    """Whether an event is a change, or was to be one: looks are not told."""
    return event.command != "view"


def _told(new: New) -> str:
    done = "is new" if new.before is None else "is deleted" if new.after is None else "changed"
    if new.was and new.after is not None:
        done = f"was {new.was}" + (" and changed" if new.before != new.after else "")
    times = f", {counted(new.times, 'change')}" if new.times > 1 else ""
    return f"{new.path} {done}{times}; last at {when(new.last)}, {by_whom(new.last)}"
