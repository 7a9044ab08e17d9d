"""`memtui DIR --screen-reader`: the menu from which everything else is reached."""

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

from memtui.cli import output
from memtui.cli.context import resolve_existing_folder
from memtui.cli.output import ExitCode, Failure, UsageError, exit_on_signals
from memtui.cli.reader import actions, edit, files, notes, sentences
from memtui.cli.reader.approvals import ReaderApprovals
from memtui.cli.reader.dialog import Prompter, Quit, is_open
from memtui.cli.reader.sentences import format_event_sentence, format_time, select_file_changes
from memtui.cli.reader.session import ReaderSession, UnseenNote, open_session
from memtui.core.errors import FolderMissing, MemoryClosed, MemtuiError
from memtui.core.events import Event
from memtui.core.mass_loss import describe_loss
from memtui.core.paths import format_path
from memtui.core.wording import SPOKEN, format_by_actor, format_count, format_size
from memtui.places.folders import MemoryLocation, MemoryOwner, find_memory_folders, format_owner, format_project
from memtui.recent_stores import find_recent_stores

if TYPE_CHECKING:
    from memtui.agents.chat.events import ChatOptions
    from memtui.config import LoadedConfig


ON = "[memtui screen reader mode: on]"
"""The first line: it confirms that the mode is on."""
_RECENT = 200
"""Events that are listed."""
_PAUSE = 0.5
"""Seconds between two looks at the journal."""

_FOLDERS_TITLE = "Which memory folder? Found on this machine:"
_TITLE = "Which memory folder or store? Found on this machine, and opened before:"
_Action = Callable[[ReaderSession], None]


def run_reader(
    folder: str | None,
    loaded: "LoadedConfig",
    *,
    state: str | None,
    read_only: bool,
    chat_options: "Callable[[], ChatOptions] | None" = None,
    begin: _Action | None = None,
    fd: int = 0,
) -> int:
    """Go on line by line until the person quits; returns the exit code. Without a folder one is asked for, without
    `chat_options` no conversation is offered; `begin` takes the place of the menu.
    """
    output.print_line(ON)
    output.flush()
    if not is_open(fd):
        raise UsageError("No input to read answers from. For scripts use: memtui ls, memtui log --json")
    dialog = Prompter(fd)
    with exit_on_signals(), dialog.open():
        try:
            dialog.say(*(problem.sentence for problem in loaded.problems))
            chosen = folder if folder is not None else _choose_folder(dialog)
            if chosen is None:
                return ExitCode.OK
            with open_session(chosen, state, read_only, dialog, loaded.config) as session:
                approvals = ReaderApprovals(session)
                with nullcontext() if session.engine.read_only else closing(approvals.start_server()):
                    _greet(session)
                    if not session.engine.read_only:
                        approvals.ask_about_proposals()
                    if begin is not None:
                        begin(session)
                    else:
                        _run_menu(session, approvals, _list_chat_choices(chat_options, state))
        except Quit:
            pass
        dialog.say("Closed.")
    return ExitCode.OK


def _choose_folder(dialog: Prompter) -> str | None:
    places = [*find_memory_folders(), *find_recent_stores()]
    while True:
        choices = [(_describe_folder(place), place.path) for place in places]
        title = _TITLE if any(not place.is_folder for place in places) else _FOLDERS_TITLE
        title = title if places else "No memory folder was found here."
        other = {"p": ("to type a path", "")}
        chosen = dialog.choose(title, choices, others=other, known=False, enter="Enter quits")
        if chosen is None:
            return None
        try:
            return resolve_existing_folder(chosen or dialog.ask("Path of the folder:").strip() or ".")
        except Failure as failure:
            dialog.say(str(failure))


def _describe_folder(place: MemoryLocation) -> str:
    owner = format_owner(place) if place.owner is not MemoryOwner.HERE else ""
    parts = (place.display_path, owner, format_project(place), format_count(place.files, "file"))
    return ", ".join(filter(None, parts))


def _greet(session: ReaderSession) -> None:
    totals = session.engine.get_totals()
    kind = ", read-only" if session.engine.read_only else ""
    size = f"{format_count(totals.files, 'file')}, {format_size(totals.bytes, SPOKEN)}"
    session.dialog.say(
        f"{format_path(session.folder)}{kind}, {size}.",
        "Everything has a number. b goes back, ? repeats, q quits.",
    )
    if drafts := session.drafts.list_latest():
        names = ", ".join(dict.fromkeys(draft.path for draft in drafts[:5]))
        session.dialog.say(f"There are unsaved drafts of {names}. Edit offers them.")


# The first menu


def _list_chat_choices(
    chat_options: "Callable[[], ChatOptions] | None", state: str | None
) -> list[tuple[str, _Action]]:
    if chat_options is None:
        return []

    def talk(session: ReaderSession) -> None:
        from memtui.cli.reader.chat import run_reader_chat  # noqa: PLC0415 - start-up: loads the conversation

        run_reader_chat(session, chat_options(), state=state)

    return [("Talk with Claude", talk)]


def _list_menu_choices(
    session: ReaderSession, approvals: ReaderApprovals, more: Sequence[tuple[str, _Action]]
) -> list[tuple[str, _Action]]:
    return [
        ("Unseen changes", visit_unseen),
        ("Files", files.visit_folder),
        ("Find", files.search_notes),
        ("New note", lambda session: edit.write_new_note(session, "")),
        ("Undo", actions.undo),
        ("Redo", actions.redo),
        ("Undo changes by actor", actions.undo_by_actor),
        ("Restore the whole folder", actions.restore_folder),
        ("Recent events", visit_recent_events),
        ("Deleted notes", notes.visit_deleted),
        ("Follow new events", follow_changes),
        ("Questions from agents", lambda _: approvals.answer_waiting()),
        *more,
        *([("Restore deleted notes", actions.restore_loss)] if session.engine.loss is not None else []),
        ("Quit", _quit),
    ]


def _quit(_: ReaderSession) -> None:
    raise Quit


def _run_menu(session: ReaderSession, approvals: ReaderApprovals, more: Sequence[tuple[str, _Action]]) -> None:
    """The first menu, until the person quits; errors are said, and the menu comes again."""
    dialog = session.dialog
    last_state = ""
    while True:
        try:
            state = _describe_state(session, approvals)
            title = state if state != last_state else "Main menu."
            last_state = state
            action = dialog.choose(title, _list_menu_choices(session, approvals, more), enter="", with_notices=True)
        except (MemoryClosed, FolderMissing):
            raise
        except (MemtuiError, OSError) as error:  # not even the menu can be listed
            dialog.say(_format_error(error))
            dialog.ask("Enter tries again:")
            continue
        except KeyboardInterrupt:
            dialog.say("", "Closed.")
            raise
        if action is not None:
            _perform(session, action)


def _perform(session: ReaderSession, action: _Action) -> None:
    dialog = session.dialog
    try:
        try:
            action(session)
        except (MemoryClosed, FolderMissing):
            raise
        except (MemtuiError, OSError) as error:
            dialog.say(_format_error(error))
    except KeyboardInterrupt:
        dialog.say("", "Back in the main menu.")


def _describe_state(session: ReaderSession, approvals: ReaderApprovals) -> str:
    """The news, losses and questions that wait."""
    parts = [session.unseen.format_greeting() or "Main menu."]
    loss = session.engine.loss
    if loss is not None:
        parts.append(describe_loss(loss, SPOKEN))
    waiting = approvals.waiting
    if waiting:
        parts.append(f"{format_count(len(waiting), 'open question')} from agents.")
    return " ".join(filter(None, parts))


def _format_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"It failed: {error.strerror.lower()}."
    return str(error)


# Events: since the person last looked, lately, and as they happen.


def visit_unseen(session: ReaderSession) -> None:
    """Offer the notes that others changed."""
    dialog, engine, unseen = session.dialog, session.engine, session.unseen
    head = 0

    def list_choices() -> tuple[str, list[tuple[str, UnseenNote | str]]]:
        nonlocal head
        head = engine.get_head()[0]
        new = unseen.list_notes()
        title = f"{format_count(len(new), 'unseen note')}."
        return title, [(_describe_unseen(each), each) for each in new]

    marking: dict[str, tuple[str, UnseenNote | str]] = {"a": ("marks all as seen", "all")}
    for note in dialog.browse(list_choices, empty="Nothing changed since you last looked.", others=marking):
        if not isinstance(note, UnseenNote):
            unseen.mark_seen(head)
            dialog.say("Marked everything as seen.")
            return
        texts = engine.history.text(note.before), engine.history.text(note.after)
        dialog.read_out(sentences.describe_difference(note.before, note.after, *texts))
        if note.after is not None:
            notes.visit_note(session, note.path)


def _describe_unseen(new: UnseenNote) -> str:
    done = "is new" if new.before is None else "is deleted" if new.after is None else "changed"
    if new.was and new.after is not None:
        done = f"was {new.was}" + (" and changed" if new.before != new.after else "")
    times = f", {format_count(new.times, 'change')}" if new.times > 1 else ""
    return f"{new.path} {done}{times}; last at {format_time(new.last)}, {format_by_actor(new.last)}"


def visit_recent_events(session: ReaderSession) -> None:
    """Offer the last events, the newest first."""
    engine = session.engine

    def list_choices() -> tuple[str, list[tuple[str, Event]]]:
        recent = engine.history.read_events(engine.events(max(engine.get_head()[0] - _RECENT, 0)))
        events = [event for event in recent if _is_change(event)]
        choices = [(format_event_sentence(event), event) for event in reversed(events)]
        return "Recent events, newest first.", choices

    for event in session.dialog.browse(list_choices, empty="Nothing was recorded yet."):
        _visit_event(session, event)


def _visit_event(session: ReaderSession, event: Event) -> None:
    changes = select_file_changes(event.changes)
    path = changes[-1].path if changes else event.path.removeprefix("/memories/")
    nothing = (event.is_error and event.answer) or "It changed nothing."
    session.dialog.perform(
        format_event_sentence(event, numbered=True),
        {
            "What it changed": lambda: session.dialog.read_out(
                sentences.describe_changes(session.engine, changes) or [nothing]
            ),
            "Undo it": lambda: actions.undo(session, event.seq),
            "Go to the note": lambda: notes.visit_note(session, path),
        },
    )


def follow_changes(session: ReaderSession) -> None:
    """Say one sentence for each change as it happens, until the person presses Enter."""
    dialog, engine = session.dialog, session.engine
    after = engine.get_head()[0]
    dialog.say("Following. Enter stops.")
    last_error = ""
    while True:
        dialog.say_notices()
        try:
            for event in engine.events(after):
                after = event.seq
                if _is_change(event):
                    dialog.say(format_event_sentence(event))
            last_error = ""
        except FolderMissing:
            raise
        except MemtuiError as error:
            if str(error) != last_error:
                last_error = str(error)
                dialog.say(f"{last_error} Trying again.")
        if dialog.skip_line(_PAUSE):
            return


def _is_change(event: Event) -> bool:
    """Whether an event is a change, or a refused one: views are not said."""
    return event.command != "view"
