"""One visit to one folder: the memory, who listens, and what happens meanwhile."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from memtui import opening
from memtui.cli.reader.dialog import Dialog
from memtui.config import Config
from memtui.core.errors import Busy, StateUnusable
from memtui.core.snapshot import Entry, Kind
from memtui.core.watching import Mode, Watching
from memtui.engine import Engine
from memtui.places import short

if TYPE_CHECKING:
    from memtui.cli.reader.asked import Questions
    from memtui.cli.reader.news import Unseen
    from memtui.search.finder import Finder
    from memtui.ui.edit.drafts import EditDrafts

SEEN = "seen"
"""The note of the journal under which the browser keeps up to which event the person has seen everything."""


class Session:
    """An open memory and the person in front of it.

    Attributes:
        engine: The memory.
        folder: Where it is.
        dialog: The person.
        config: The settings.
        questions: What agents in other processes ask.
        unseen: What others changed since the person last looked.
        notices: What is to be said before anything else is asked.
    """

    questions: "Questions"
    unseen: "Unseen"

    def __init__(self, engine: Engine, folder: str, dialog: Dialog, config: Config, notices: deque[str]) -> None:
        self.engine = engine
        self.folder = folder
        self.dialog = dialog
        self.config = config
        self.notices = notices
        self._finder: Finder | None = None
        self._drafts: EditDrafts | None = None

    @property
    def title(self) -> str:
        """The folder as a person writes it."""
        return short(self.folder)

    def look(self) -> None:
        """Take in what changed from outside, or say that it could not be found out."""
        try:
            self.engine.reconcile(stop=lambda: self.dialog.is_interrupted)
        except Busy as busy:
            self.dialog.say(f"{busy} What changed from outside may be missing.")

    def may_write(self, not_done: str) -> bool:
        """Whether anything may be changed; says so if not.

        Args:
            not_done: Such as `Not deleted`.
        """
        if self.engine.read_only:
            self.dialog.say(f"{not_done}: this session is read-only. Nothing was written.")
        return not self.engine.read_only

    def finder(self) -> "Finder":
        """What finds notes, with all that is new taken in."""
        from memtui.search.finder import Finder  # deferred: not before somebody looks for something

        if self._finder is None:
            self.dialog.say("Reading the notes.")
            self._finder = Finder(self.engine)
        self._finder.refresh(stop=lambda: self.dialog.is_interrupted)
        return self._finder

    def drafts(self) -> "EditDrafts":
        """The texts that were typed and are in no note yet: the same that the editor of the full screen keeps."""
        from memtui.ui.edit.drafts import drafts_of  # deferred: not before somebody edits

        if self._drafts is None:
            self._drafts = drafts_of(self.engine)
        return self._drafts

    def seen(self) -> int:
        """The number of the event up to which the person has seen everything."""
        noted = self.engine.note(SEEN)
        return int(noted) if noted and noted.isdecimal() else self.engine.head()[0]

    def is_folder(self, path: str) -> bool:
        """Whether a directory stands at a path."""
        entry = self.entry(path)
        return entry is not None and entry.kind is Kind.DIRECTORY

    def entry(self, path: str) -> Entry | None:
        """What stands at a path."""
        return Entry("", Kind.DIRECTORY) if not path else self.engine.entry(path)

    def close(self) -> None:
        """Let go of what is being typed: it stays a draft."""
        if self._drafts is not None:
            self._drafts.close()


@contextmanager
def opened(
    folder: str, state: str | None, read_only: bool, dialog: Dialog, config: Config, notices: deque[str]
) -> Iterator[Session]:
    """The memory, with who watches it and who answers for it.

    Args:
        folder: Where it is.
        state: Where its journal is, if not in its usual place.
        read_only: Whether nothing may be changed, nor recorded.
        dialog: The person.
        config: The settings.
        notices: Takes what is to be said before anything else is asked, from any thread.
    """
    from memtui.cli.reader.asked import Questions  # deferred: not needed to say that there is no folder
    from memtui.cli.reader.news import Unseen
    from memtui.watch import Watch

    with ExitStack() as stack:
        engine = stack.enter_context(_engine(folder, state, read_only, dialog, config))
        session = Session(engine, folder, dialog, config, notices)
        stack.callback(session.close)
        session.look()
        if engine.is_looked_at and engine.note(SEEN) is None:
            engine.set_note(SEEN, str(engine.head()[0]))
        where = opening.state_directory(folder, state)
        session.questions = Questions(session)
        session.unseen = Unseen(session)
        if not engine.read_only:
            stack.callback(session.questions.desk(where).close)
        watching = _Watching(session)
        watch = Watch(
            engine,
            folder,
            None if engine.read_only else str(where),
            changed=dialog.wake,
            mode_changed=watching.tell,
        )
        watch.start()
        stack.callback(watch.stop)
        yield session


def _engine(folder: str, state: str | None, read_only: bool, dialog: Dialog, config: Config) -> Engine:
    """The memory; where nothing can be recorded, as much of it as can be looked at."""
    try:
        return opening.connect(folder, state=state, read_only=read_only, settings=config.memory)
    except StateUnusable as error:
        dialog.say(f"{error} Nothing can be changed from here, and nothing is recorded.")
    if not read_only:
        try:
            return opening.connect(folder, state=state, read_only=True, settings=config.memory)
        except StateUnusable:
            pass  # what is wrong with it was said
    return opening.connect_without_journal(folder, settings=config.memory)


def taken(notices: deque[str]) -> Iterator[str]:
    """What is to be said, each once."""
    while notices:
        yield notices.popleft()


class _Watching:
    """How changes from outside are noticed, told where it is worth a sentence."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._said = ""
        self._at = 0.0

    def tell(self, watching: Watching) -> None:
        """Take how it is now, in the watcher's thread."""
        if watching.mode is Mode.LIVE and not watching.reason:
            return
        now = time.monotonic()
        if watching.reason and (watching.reason != self._said or now - self._at > 60):
            self._said, self._at = watching.reason, now
            self._session.notices.append(watching.reason)
            self._session.dialog.wake()
