"""`memtui DIR --screen-reader`: the menu from which everything else is reached."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.cli import output
from memtui.cli.exits import Exit, Failure
from memtui.cli.reader import editing, finding, history, listing, news, taking_back
from memtui.cli.reader.dialog import Choice, Dialog, Quit, is_open
from memtui.cli.reader.sentences import counted, lost, size
from memtui.cli.reader.session import Session, opened, taken
from memtui.cli.signals import ended_in_order
from memtui.core.errors import Closed, FolderMissing, MemtuiError
from memtui.places.finding import Owner, Place, find_places
from memtui.places.words import about, owner_of

if TYPE_CHECKING:
    from memtui.agents.chat.options import ChatOptions
    from memtui.config import Loaded

ON = "[memtui screen reader mode: on]"
"""The first line, by which a person hears that she is understood."""

_Act = Callable[[Session], None]


def run(
    folder: str | None,
    loaded: "Loaded",
    *,
    state: str | None,
    read_only: bool,
    chat_options: "Callable[[], ChatOptions] | None" = None,
    begin: _Act | None = None,
    fd: int = 0,
) -> int:
    """Go on line by line until the person quits.

    Args:
        folder: The memory folder; `None` to ask for one.
        loaded: The settings.
        state: Where the journal is, if not in its usual place.
        read_only: Whether nothing may be changed, nor recorded.
        chat_options: How a conversation is held, once one is begun; `None` to offer none.
        begin: What to do at first, in place of the menu.
        fd: Where lines come from.

    Returns:
        The exit code.
    """
    output.line(ON)
    output.flush()
    notices: deque[str] = deque()
    if not is_open(fd):
        raise Failure(
            Exit.USAGE, "There is no input to read answers from. For scripts use: memtui ls, memtui log --json"
        )
    dialog = Dialog(fd, notices=lambda: taken(notices))
    with ended_in_order(), dialog.open():
        try:
            for problem in loaded.problems:
                dialog.say(problem.sentence)
            chosen = folder if folder is not None else _chosen_folder(dialog)
            if chosen is None:
                return Exit.OK
            with opened(chosen, state, read_only, dialog, loaded.config, notices) as session:
                _greet(session)
                if begin is not None:
                    begin(session)
                else:
                    _menu(session, _talking(chat_options, state))
        except Quit:
            pass
        dialog.say("Closed.")
    return Exit.OK


def _chosen_folder(dialog: Dialog) -> str | None:
    """A folder, where none was named."""
    from memtui.cli.places import existing  # deferred: most name one

    places = find_places()
    while True:
        choices = [Choice(_spoken(place), place.path) for place in places]
        title = "Which memory folder? Found on this machine:" if places else "No memory folder was found here."
        other = {"p": Choice("to type a path", "")}
        chosen = dialog.choose(title, choices, others=other, enter="Enter quits")
        if chosen is None:
            return None
        try:
            return existing(chosen or dialog.ask("Path of the folder:").strip() or ".")
        except Failure as failure:
            dialog.say(str(failure))


def _spoken(place: Place) -> str:
    """A folder as a sentence says it."""
    said = (place.shown, owner_of(place) if place.owner is not Owner.HERE else "", about(place))
    return ", ".join([*filter(None, said), counted(place.files, "file")])


def _greet(session: Session) -> None:
    totals = session.engine.totals()
    kind = ", read-only" if session.engine.read_only else ""
    session.dialog.say(
        f"{session.title}{kind}, {counted(totals.files, 'file')}, {size(totals.bytes)}.",
        "Everything has a number. b goes back, ? says it again, q quits.",
    )
    if drafts := session.drafts().all():
        names = ", ".join(dict.fromkeys(draft.path for draft in drafts[:5]))
        session.dialog.say(f"Texts that were never saved are kept of {names}. Edit offers them.")


def _talking(chat_options: "Callable[[], ChatOptions] | None", state: str | None) -> list[Choice[_Act]]:
    """A conversation, where one can be offered."""
    if chat_options is None:
        return []

    def talk(session: Session) -> None:
        from memtui.cli.reader import talking  # deferred: only for who talks

        talking.talk(session, chat_options(), state=state)

    return [Choice("Talk with Claude", talk)]


def _menu(session: Session, more: Sequence[Choice[_Act]]) -> None:
    """The first menu, until the person quits; what goes wrong is said, and the menu comes again."""
    dialog = session.dialog
    said = ""
    while True:
        try:
            state = _state_of(session)
            title = state if state != said else "First menu."
            said = state
            act = dialog.choose(title, _choices(session, more), known=True, enter="", heed=True)
        except (MemtuiError, OSError) as error:
            act = _after(session, error)
        except KeyboardInterrupt:
            dialog.say("", "Closed.")
            raise
        if act is not None:
            _do(session, act)


def _do(session: Session, act: _Act) -> None:
    dialog = session.dialog
    try:
        try:
            act(session)
        except (Closed, FolderMissing):
            raise
        except (MemtuiError, OSError) as error:
            dialog.say(_words(error))
    except KeyboardInterrupt:
        dialog.say("", "Back at the first menu.")


def _after(session: Session, error: Exception) -> _Act | None:
    """What to do where not even the menu can be told: say why, and go on once the person wants to."""
    if isinstance(error, Closed | FolderMissing):
        raise error
    session.dialog.say(_words(error))
    session.dialog.ask("Enter tries again:")
    return None


def _state_of(session: Session) -> str:
    """What is to be known before anything is chosen."""
    parts = [session.unseen.greeting() or "First menu."]
    loss = session.engine.loss
    if loss is not None:
        parts.append(lost(loss))
    waiting = session.questions.waiting
    if waiting:
        parts.append(f"{counted(len(waiting), 'question')} of agents {'waits' if len(waiting) == 1 else 'wait'}.")
    return " ".join(part for part in parts if part)


def _choices(session: Session, more: Sequence[Choice[_Act]]) -> list[Choice[_Act]]:
    choices: list[Choice[_Act]] = [
        Choice("What is new", news.tell_new),
        Choice("Files", listing.visit),
        Choice("Find", finding.find),
        Choice("New note", lambda session: editing.write_new(session, "")),
        Choice("Undo", taking_back.undo),
        Choice("Redo", taking_back.redo),
        Choice("Undo all that somebody did", taking_back.undo_all_of_somebody),
        Choice("Put the folder back as of a moment", taking_back.put_folder_back),
        Choice("What happened lately", news.tell_lately),
        Choice("Deleted notes", history.visit_deleted),
        Choice("Follow what happens", news.follow),
        Choice("Agents that ask", lambda session: session.questions.answer()),
    ]
    choices += more
    if session.engine.loss is not None:
        choices.append(Choice("Bring back what went", taking_back.bring_back_loss))
    choices.append(Choice("Quit", _quit))
    return choices


def _quit(_: Session) -> None:
    raise Quit


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"It could not be done: {error.strerror.lower()}."
    return str(error)
