"""A real folder that is audited and reviewed: the one implementation of `Inspection` outside of tests.

Nothing of it is on the screen's loop: every method is called from a worker. What is written are marks and reports, and
by whoever was chosen for that before this process gave up its own right to.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memtui.audit.audit import Audit
from memtui.audit.changed_hunks import compared
from memtui.audit.inbox import ChangedFile, ChangedHunk, Inbox, Mark, Verdict
from memtui.audit.inboxes import hunks, inbox
from memtui.audit.judging import Head, accept, completing, done, flag, head_of, note, reverted
from memtui.audit.marks import Review, ReviewUnusable
from memtui.audit.reverting import revert
from memtui.audit.review_file import ReviewFile
from memtui.core.audit_settings import AuditSettings
from memtui.core.diffs import Difference
from memtui.core.errors import Closed, StateUnusable
from memtui.core.events import Agent, Event
from memtui.core.restoring import Restored
from memtui.core.settings import Settings
from memtui.core.visible import one_line
from memtui.engine.pins import pins_of
from memtui.outgoing import NotWritten, Why
from memtui.places import short
from memtui.scribe import Writer
from memtui.state import state_directory
from memtui.ui.audit.inspection import Calls, Comparison, Telling

if TYPE_CHECKING:
    from memtui.engine import Engine, Observer
    from memtui.watch import Watch

_MOST_BYTES = 4_000_000
"""Bytes of the largest note whose lines are shown."""
_REACH = 400
"""Events before and after a change among which its conversation is looked for."""
_MOST_CALLS = 40
"""Calls before and after it that are told."""
_SAYING: Mapping[Verdict, Callable[..., Mark]] = {
    Verdict.ACCEPT: accept, Verdict.FLAG: flag, Verdict.NOTE: note, Verdict.REVERTED: reverted,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How a folder is audited and reviewed.

    Attributes:
        folder: With links resolved.
        title: As a person writes it.
        review: The review file.
        reviewer: Who reviews.
        state: Where the journal lies, if not in its usual place.
        settings: How the audit is done.
        memory: The limits that hold for the folder.
        since: What the inbox begins with.
        repo: A repository that notes are compared with.
        only: Only these rules.
        baseline: Fingerprints that do not count; `None` without a baseline.
        neutral: What this process gave up, as sentences.
        enforced: What the kernel enforces, as a sentence.
        is_confined: Whether the kernel enforces anything.
    """

    folder: str
    title: str
    review: str
    reviewer: str
    state: str | None = None
    settings: AuditSettings = field(default_factory=AuditSettings)
    memory: Settings = field(default_factory=Settings)
    since: str = "last"
    repo: str | None = None
    only: Collection[str] | None = None
    baseline: Collection[str] | None = None
    neutral: tuple[str, ...] = ()
    enforced: str = ""
    is_confined: bool = False


class FolderInspection:
    """An open folder behind the screen.

    Args:
        wanted: Which, and how.
        open: Opens it, from a worker; again before each further look.
        writer: Who writes marks and reports.
        engine: What is open already: the engine of an ordinary session, which goes on with it, and through which
            changes are taken back.
        first: What is open already for the first look, and is closed with the rest.
    """

    def __init__(
        self,
        wanted: Wanted,
        open: "Callable[[], Observer]",
        writer: Writer,
        *,
        engine: "Engine | None" = None,
        first: "Observer | None" = None,
    ) -> None:
        self.title = wanted.title
        self.reviewer = wanted.reviewer
        self.settings = wanted.settings
        self.enforced = wanted.enforced
        self.is_confined = wanted.is_confined
        self.review_place = short(wanted.review)
        self.reverts = engine is not None
        self.observer: Observer | None = engine
        self._wanted = wanted
        self._first = first
        self._open = open
        self._writer = writer
        self._file = ReviewFile(wanted.review, folder=wanted.title, writer=writer)
        self._review = Review(self._file.path)
        self._inbox: Inbox | None = None
        self._head: Head = (0, "")
        """That of the record before what changed was read: nobody has been shown what came later."""
        self._former: Observer | None = None
        self._looked = False
        self._seen = -1
        self._watch: tuple[Watch, Callable[[], None]] | None = None
        self._is_closed = False
        self._prompts: dict[str, str] = {}
        self._asking = threading.Lock()
        self._lock = threading.Lock()

    def begin(self) -> None:
        """See `Inspection.begin`."""
        if self.observer is None:
            self.observer = self._first or self._open()

    @property
    def _open_observer(self) -> "Observer":
        if self.observer is None:
            raise StateUnusable("The folder is not open.")
        return self.observer

    def look(self, telling: Telling) -> Audit:
        """See `Inspection.look`."""
        from memtui.audit.auditing import audit  # deferred: all rules are loaded with it, behind the first paint

        if self._looked and not self.reverts:
            self._open_again()
        self._looked = True
        observer, wanted = self._open_observer, self._wanted
        telling.progress("changes", 0, 0)
        observer.reconcile(stop=telling.stop)
        box = self._read_inbox(observer)
        telling.inbox(box)
        self._seen = observer.head()[0]
        return audit(
            observer,
            title=wanted.title,
            place=wanted.folder,
            settings=wanted.settings,
            memory=wanted.memory,
            repo=wanted.repo,
            only=wanted.only,
            inbox=box,
            neutral=wanted.neutral,
            baseline=wanted.baseline,
            pins=pins_of(observer).paths,
            progress=telling.progress,
            found=telling.found,
            stop=telling.stop,
        )

    def _open_again(self) -> None:
        """Read the record anew: what others recorded meanwhile is no change behind its back.

        What was open stays open until the next time, for whoever still looks at it.
        """
        with self._lock:
            if self._is_closed:
                raise Closed("The folder is closed.")
            watch, self._watch = self._watch, None
        if watch is not None:
            watch[0].stop()
        observer = self._open()
        with self._lock:
            former, self._former, self.observer = self._former, self.observer, observer
        if former is not None:
            former.close()
        if watch is not None:
            self._begin_to_watch(watch[1])

    def _read_inbox(self, observer: "Observer") -> Inbox:
        try:
            review = self._file.read()
        except ReviewUnusable as error:
            review, problem = Review(self._file.path), str(error)
        else:
            problem = ""
        head = head_of(observer)
        try:
            box = inbox(observer, review, since=self._wanted.since, accepted=True)
        except ValueError as error:
            raise StateUnusable(str(error)) from error
        box = replace(box, problem=" ".join(each for each in (problem, box.problem) if each))
        with self._lock:
            self._review, self._inbox, self._head = review, box, head
        return box

    def text(self, path: str) -> str | None:
        """See `Inspection.text`."""
        seen = self._open_observer.look(path)
        data = seen.data
        if data is None or len(data) > _MOST_BYTES:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None

    def compared(self, file: ChangedFile) -> Comparison:
        """See `Inspection.compared`."""
        observer = self._open_observer
        found = compared(observer, file)
        if found.difference is None:
            return Comparison(None, (), "It cannot be shown line by line", found.problem)
        if not found.difference.hunks:
            title, detail = _without_hunks(file, found.difference)
            return Comparison(None, (), title, detail)
        with self._lock:
            review = self._review
        return Comparison(found.difference, hunks(observer, file, review))

    def calls(self, seq: int) -> Calls:
        """See `Inspection.calls`."""
        observer = self._open_observer
        event = observer.history.event(seq)
        if event is None:
            return Calls(seq)
        start = max(seq - _REACH - 1, 0)
        near = [each for each in observer.journal.events(start, limit=2 * _REACH + 1) if _goes_with(each, event)]
        at = next((number for number, each in enumerate(near) if each.seq == seq), 0)
        first, last = max(at - _MOST_CALLS, 0), at + _MOST_CALLS + 1
        return Calls(seq, near[first:last], first, max(len(near) - last, 0), self._asked(event))

    def _asked(self, event: Event) -> str:
        """What had been asked for. One at a time, and each once: a session file may have gigabytes."""
        from memtui.agents.origin import prompt_of  # deferred: only where a call is looked at

        if not isinstance(event.actor, Agent) or event.call_id is None:
            return ""
        with self._asking:
            if self._is_closed:
                return ""
            if event.call_id not in self._prompts:
                self._prompts[event.call_id] = prompt_of(
                    event, state_directory(self._wanted.folder, self._wanted.state)
                ).prompt
            return self._prompts[event.call_id]

    def judge(
        self, files: Sequence[ChangedFile], verdict: Verdict, *, hunk: ChangedHunk | None = None, words: str = ""
    ) -> Sequence[Mark]:
        """See `Inspection.judge`."""
        observer = self._open_observer
        head, reviewer = head_of(observer), self.reviewer
        say = _SAYING[verdict]
        marks = [say(file, reviewer=reviewer, head=head, hunk=hunk, words=words) for file in files]
        if hunk is not None and verdict is Verdict.ACCEPT:
            with self._lock:
                review = self._review
            file = files[0]
            whole = completing(file, hunks(observer, file, review), marks, reviewer=reviewer, head=head)
            marks += [whole] if whole is not None else []
        self._add(marks)
        return marks

    def finish(self, shown: Inbox) -> Mark:
        """See `Inspection.finish`."""
        with self._lock:
            box, head = self._inbox, self._head
        if box is None:
            raise StateUnusable("What changed is not known yet. Nothing was written.")
        if _changes(box) != _changes(shown):
            raise StateUnusable("Something changed meanwhile. Nothing was written. Look at it, then end the review.")
        marks = done(box, reviewer=self.reviewer, head=head)
        self._add(marks)
        return marks[-1]

    def _add(self, marks: Sequence[Mark]) -> None:
        review = self._file.add(marks)
        with self._lock:
            self._review = review

    def revert(self, engine: "Engine", file: ChangedFile, hunk: ChangedHunk | None) -> Restored:
        """See `Inspection.revert`."""
        return revert(engine, file, hunk)

    def export(self, audit: Audit, format: str, path: str, *, force: bool) -> str:
        """See `Inspection.export`."""
        from memtui.audit.growth import growth  # deferred: only where a report is written
        from memtui.audit.report.formats import written

        with self._lock:
            box = self._inbox
        told = replace(audit, inbox=box)
        if format == "html":
            told = replace(told, growth=growth(self._open_observer, told.findings, told.taken_us))
        data = written(told, format, folder=self._wanted.folder).encode("utf-8", "backslashreplace")
        try:
            self._writer.write(path, data, force=force)
        except NotWritten as not_written:
            if not_written.why is Why.EXISTS:
                raise FileExistsError(path) from not_written
            raise
        return short(path)

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """See `Inspection.watch`."""
        self._begin_to_watch(changed)
        return self._stop_watching

    def _begin_to_watch(self, changed: Callable[[], None]) -> None:
        from memtui.watch import Watch  # deferred: most audits look once

        observer = self._open_observer

        def told() -> None:
            if self._looked and observer.head()[0] != self._seen:
                changed()

        watch = Watch(observer, self._wanted.folder, None, changed=told)
        with self._lock:
            if self._is_closed:
                return
            self._watch = watch, changed
        watch.start()

    def _stop_watching(self) -> None:
        with self._lock:
            watch, self._watch = self._watch, None
        if watch is not None:
            watch[0].stop()

    def close(self) -> None:
        """See `Inspection.close`."""
        with self._lock:
            self._is_closed = True
            held = [each for each in (self.observer, self._former) if each is not None]
        self._stop_watching()
        if not self.reverts:
            for each in held:
                each.close()


def _goes_with(event: Event, other: Event) -> bool:
    """Whether two events are of one conversation; where none is known, of one actor."""
    one, two = event.actor, other.actor
    if isinstance(one, Agent) and isinstance(two, Agent):
        return (one.name, one.session) == (two.name, two.session)
    return one == two


def _changes(box: Inbox) -> set[tuple[object, ...]]:
    """What a reviewer was shown, whatever was said of it."""
    return {(file.path, file.was, file.before, file.after) for file in box.files}


def _without_hunks(file: ChangedFile, difference: Difference) -> tuple[str, str]:
    if file.sign == ">":
        return "Only the name changed", f"{one_line(file.was)} is {one_line(file.path)} now."
    if not difference.old and not difference.new:
        return "The file is empty", "It came or went without a line in it."
    return "No line differs", "What it holds is as it was."
