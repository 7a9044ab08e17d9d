"""One visit to one folder: the memory, what is new in it, the person, and the dialog of the flows line by line."""

import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memtui import memory
from memtui.cli import context, output, times
from memtui.cli.output import Failure
from memtui.cli.reader.dialog import Prompter
from memtui.cli.reader.sentences import format_event_sentence, is_file
from memtui.config import Config
from memtui.core.errors import LockTimeout, StateUnusable
from memtui.core.events import EntryKind, Event, FolderEntry, Person, Version, WatchStatus
from memtui.core.guards import SEEN
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import covers
from memtui.core.wording import SPOKEN, format_changed_lines, format_count, format_event_clause, format_event_time
from memtui.engine import Engine
from memtui.engine.lineage import find_moves
from memtui.flows.dialog import Choice, FlowOutcome, Step, run_flow
from memtui.flows.files import FileFlowOutcome, FolderContext
from memtui.fs import state as fs_state

if TYPE_CHECKING:
    from memtui.agents.remote_approval import ApprovalQuestion
    from memtui.editing.drafts import EditDraftStore
    from memtui.search.finder import Finder


"""The journal's key of the last event that the person has seen; the browser uses the same."""


@dataclass(slots=True)
class UnseenNote:
    """The changes of one note: its versions then and now, the last event, how many, and its former path."""

    path: str
    before: Version | None
    after: Version | None
    last: Event
    times: int = 1
    was: str = ""


class UnseenNotes:
    """The notes that others changed since the person last looked; each event is read once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._found: dict[str, UnseenNote] = {}
        self._seen = -1
        self._until = 0

    def get_seen_seq(self) -> int:
        """The number of the event up to which the person has seen everything."""
        seen = self._engine.get_metadata(SEEN)
        return int(seen) if seen and seen.isdecimal() else self._engine.get_head()[0]

    def list_notes(self) -> list[UnseenNote]:
        """All of them, the last change first."""
        seen = self.get_seen_seq()
        if seen != self._seen:
            self._found, self._seen, self._until = {}, seen, seen
        for event in self._engine.events(self._until):
            self._until = event.seq
            if not (event.is_error or event.command in ("found", "began") or isinstance(event.actor, Person)):
                self._add_event(event)
        return [each for each in reversed(self._found.values()) if each.before != each.after or each.was]

    def format_greeting(self) -> str:
        """How much is new, in a sentence; empty if nothing is."""
        new = self.list_notes()
        if not new:
            return ""
        last = format_event_sentence(new[0].last)
        return f"{format_count(len(new), 'note')} changed since you last looked. The last one: {last}"

    def mark_seen(self, until: int) -> None:
        """Everything up to an event has been seen."""
        self._engine.set_metadata(SEEN, str(until))

    def _add_event(self, event: Event) -> None:
        came_from = find_moves(event)
        moved_away = set(came_from.values())
        known = {path: self._found.pop(path) for path in (*came_from, *moved_away) if path in self._found}
        for change in event.changes:
            path, old = change.path, came_from.get(change.path)
            if not is_file(change.after or change.before) or (path in moved_away and change.after is None):
                continue
            earlier = known.get(old or path) or self._found.pop(path, None)
            before = earlier.before if earlier else change.after if old is not None else change.before
            was = (earlier.was if earlier else "") or old or ""
            times = earlier.times + 1 if earlier else 1
            self._found[path] = UnseenNote(path, before, change.after, event, times, "" if was == path else was)


T = TypeVar("T")
Outcome = FlowOutcome | FileFlowOutcome | None


@dataclass
class ReaderSession:
    """An open memory and the person in front of it."""

    engine: Engine
    folder: str
    state_directory: Path
    dialog: Prompter
    config: Config
    decide_elsewhere: "Callable[[ApprovalQuestion], bool] | None" = None
    """Takes the questions that a conversation decides; from the server's thread."""

    @cached_property
    def unseen(self) -> UnseenNotes:
        """The notes that others changed since the person last looked."""
        return UnseenNotes(self.engine)

    @cached_property
    def drafts(self) -> "EditDraftStore":
        """The texts that were typed and are in no note yet: the same that the editor of the full screen keeps."""
        from memtui.editing.drafts import open_drafts  # noqa: PLC0415 - start-up: only to write

        return open_drafts(self.engine)

    @cached_property
    def _finder(self) -> "Finder":
        from memtui.search.finder import Finder  # noqa: PLC0415 - start-up: loads the search

        self.dialog.say("Reading the notes.")
        return Finder(self.engine)

    def get_finder(self) -> "Finder":
        """The search over the notes as they are now."""
        self._finder.refresh(stop=lambda: self.dialog.is_interrupted)
        return self._finder

    def observe_changes(self) -> None:
        """Record changes from outside, or say that they could not be found out."""
        try:
            self.engine.reconcile(stop=lambda: self.dialog.is_interrupted)
        except LockTimeout as busy:
            self.dialog.say(f"{busy} Changes by other programs may be missing.")

    def close(self) -> None:
        """Close the drafts; they are kept."""
        if "drafts" in self.__dict__:
            self.drafts.close()

    def get_entry(self, path: str) -> FolderEntry | None:
        """The entry at a path; an empty path is the folder itself."""
        return FolderEntry("", EntryKind.DIRECTORY) if not path else self.engine.get_entry(path)

    def is_folder(self, path: str) -> bool:
        """Whether there is a directory at a path."""
        entry = self.get_entry(path)
        return entry is not None and entry.kind is EntryKind.DIRECTORY

    def is_protected(self, path: str) -> bool:
        """Whether no agent may change a path."""
        return any(covers(each, path) for each in self.engine.files.get_protected())

    # Flows

    @property
    def context(self) -> FolderContext:
        """The state of the folder."""
        return FolderContext(self.is_folder, lambda path: self.engine.get_entry(path) is not None, self.is_protected)

    def check_writable(self, not_done: str) -> bool:
        """Whether anything may be changed; says so if not, such as `Not deleted: …`."""
        if self.engine.read_only:
            self.dialog.say(f"{not_done}: this session is read-only. Nothing was written.")
        return not self.engine.read_only

    def change(self, not_done: str, flow: Callable[["ReaderDialog", Engine], Coroutine[Any, Any, Outcome]]) -> bool:
        """Run a flow if anything may be changed, and say its outcome; tells whether files were changed."""
        return self.check_writable(not_done) and self.report(run_flow(flow(ReaderDialog(self), self.engine)))

    def report(self, outcome: Outcome) -> bool:
        """Say the outcome of a flow; tells whether files were changed."""
        sentence = outcome.outcome if isinstance(outcome, FileFlowOutcome) else outcome
        if sentence is not None:
            self.dialog.say(sentence.words)
        return isinstance(outcome, FileFlowOutcome) and outcome.is_changed

    def ask_seq(self, question: str, *, beginning: bool) -> int | None:
        """Ask for a moment or an event; its number, or `None` if there is none, which is said."""
        words = self.dialog.ask(question).strip()
        if not words:
            return None
        try:
            moment = times.parse_moment(words)
            seq = times.find_seq(self.engine, moment, beginning=beginning)
            return max(0, seq - 1) if beginning and moment.seq is not None else seq
        except ArgumentTypeError as error:
            self.dialog.say(f"{error}.")
        except Failure as failure:
            self.dialog.say(str(failure))
        return None

    def resolve_path(self, name: str, folder: str) -> str | None:
        """The path of a typed name, from the top with a slash before it; `None` for none, which is said."""
        if not name.startswith("/"):
            name = f"{folder}/{name}" if folder else name
        elif not name.startswith(("/memories/", f"{self.folder}/")):
            name = name.lstrip("/") or "."
        try:
            place = context.parse_memory_path(name, self.folder)
        except Failure as failure:
            self.dialog.say(str(failure))
            return None
        if place.is_root:
            self.dialog.say("That is the whole folder. Name a file in it.")
            return None
        return place.relative


@contextmanager
def open_session(
    folder: str, state: str | None, read_only: bool, dialog: Prompter, config: Config
) -> Iterator[ReaderSession]:
    """The memory with its watcher; `state` is the state directory, if not the usual one."""
    from memtui.watch import FolderWatcher  # noqa: PLC0415 - start-up: loads the watcher's library

    with ExitStack() as stack:
        engine = stack.enter_context(_open_engine(folder, state, read_only, dialog, config))
        directory = fs_state.get_state_directory(folder, state)
        session = ReaderSession(engine, folder, directory, dialog, config)
        stack.callback(session.close)
        session.observe_changes()
        if engine.is_baseline_recorded and engine.get_metadata(SEEN) is None:
            engine.set_metadata(SEEN, str(engine.get_head()[0]))
        own = None if engine.read_only else str(directory)
        watch = FolderWatcher(engine, folder, own, changed=dialog.wake, mode_changed=_make_mode_reporter(dialog))
        watch.start()
        stack.callback(watch.stop)
        yield session


def _open_engine(folder: str, state: str | None, read_only: bool, dialog: Prompter, config: Config) -> Engine:
    """The memory; read-only, or without a journal, where its state cannot be used."""
    try:
        return memory.connect(folder, state=state, read_only=read_only, settings=config.memory)
    except StateUnusable as error:
        dialog.say(f"{error} This session is read-only, and nothing is recorded.")
    return memory.connect_degraded(folder, state=state, read_only=read_only, settings=config.memory)


def _make_mode_reporter(dialog: Prompter) -> Callable[[WatchStatus], None]:
    """Says why changes are noticed late or not at all, once a minute at most; called in the watcher's thread."""
    last_reason, last_at = "", 0.0

    def report(status: WatchStatus) -> None:
        nonlocal last_reason, last_at
        now = time.monotonic()
        if status.reason and (status.reason != last_reason or now - last_at > 60):
            last_reason, last_at = status.reason, now
            dialog.notify(status.reason)

    return report


_ACTIONS = {
    "browse.undo": "Undo",
    "browse.redo": "Redo",
    "browse.deleted": "Deleted notes",
    "note.edit": "Edit",
    "file.new": "New note",
}
"""The choices in menus, by the ids of the key bindings."""
_PATIENCE = 2.0
"""Seconds after which long work is reported."""
_HEAR = "hear"


class SpokenPhrases:
    """Phrases that name choices of the menus, and are heard."""

    def name_action(self, action: str) -> str:
        return _ACTIONS.get(action, "")

    def format_event(self, event: Event) -> str:
        return format_event_clause(event, SPOKEN)

    def format_past_event(self, event: Event) -> str:
        return f"event {event.seq}, of {format_event_time(event, style=SPOKEN)}: {format_event_clause(event, SPOKEN)}"

    def format_changed_lines(self, event: Event) -> str:
        return format_changed_lines(event.added, event.removed, SPOKEN)

    def format_restored(self, path: str, moment: str) -> str:
        return f"{path} is {moment}. Undo undoes it."


PHRASES = SpokenPhrases()


class ReaderDialog:
    """The dialog of the flows; none of its coroutines suspends."""

    phrases = PHRASES

    def __init__(self, session: ReaderSession) -> None:
        self._session = session

    async def confirm(self, question: str) -> bool:
        return self._session.dialog.confirm(question)

    async def choose(self, question: str, choices: Sequence[Choice], *, text: str = "") -> str | None:
        prompter = self._session.dialog
        options = [(each.label, each.value) for each in choices]
        if text:
            options.insert(1, ("hear it", _HEAR))
        known = False
        while (chosen := prompter.choose(f"{question.rstrip('.')}.", options, known=known)) == _HEAR:
            prompter.read_out(text.split("\n"))
            known = True
        return chosen

    async def ask_moment(self, question: str, seen: int) -> int | None:
        """Ask for any moment, or an event."""
        del seen
        return self._session.ask_seq(f"{question} when, such as 2h, today, 10:14 or an event number:", beginning=True)

    async def call(self, work: Callable[[], T], label: str = "") -> T:
        del label
        return work()

    async def run(self, label: str, work: Callable[[Step], T], *, can_stop: bool = True) -> T:
        """Run work here; Ctrl+C stops it, and once it takes long, that is said."""
        prompter, report_at = self._session.dialog, time.monotonic() + _PATIENCE

        def step(done: int, total: int) -> bool:
            nonlocal report_at
            if time.monotonic() > report_at:
                report_at = float("inf")
                output.print_line(f"{label}: {done:,} of {total:,}.{' Ctrl+C stops.' if can_stop else ''}")
            return not (can_stop and prompter.is_interrupted)

        result = work(step)
        if can_stop:
            prompter.is_interrupted = False  # it stopped the work, or came too late for that
        return result
