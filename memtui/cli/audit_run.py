"""An audit that prints or writes a report, once or whenever something changed, with the right to write given up."""

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

from memtui import opening
from memtui.audit.audit import Audit
from memtui.audit.auditing import audit
from memtui.audit.baselines import document
from memtui.audit.inbox import Inbox
from memtui.audit.report.formats import written
from memtui.audit.report.words import counted, verdict
from memtui.cli import output
from memtui.cli.audit_job import Job
from memtui.cli.exits import Exit, Failure
from memtui.cli.progress import progress_line
from memtui.cli.words import closest
from memtui.confinement import give_up_writing
from memtui.core.errors import FolderMissing
from memtui.core.watching import Mode, Watching
from memtui.engine import Observer
from memtui.outgoing import Outgoing
from memtui.places import short
from memtui.scribe import Scribe, Writer

_PAUSE, _SETTLE = 0.25, 0.2
"""Seconds after which it is asked whether anything has changed, and for which it is waited once it has."""


def once(job: Job) -> int:
    """Audit, and tell what was found; returns the exit code."""
    with _session(job) as session:
        return _told(job, session, _audited(job, session), force=job.arguments.force)


@dataclass(frozen=True, slots=True)
class _Session:
    """What this process gave up, and who writes for it.

    Attributes:
        writer: Writes the report and the baseline.
        neutral: What was given up, as sentences.
        first: The open folder, for the first audit. Its journal was copied while this process could still write: one
            that a crash left can only be read once it is mended in a copy.
    """

    writer: Writer
    neutral: tuple[str, ...]
    first: Observer


@contextmanager
def _session(job: Job) -> Iterator[_Session]:
    """Load what is needed, have a process for what is written, copy the journal, and give up the right to write.

    Only then is the folder read.
    """
    state = opening.state_directory(job.folder, job.options.state)
    outgoing = Outgoing(job.folder, state, nothing="No report was written.")
    with Scribe(outgoing) as scribe, _opened(job) as first:
        confined = give_up_writing()
        yield _Session(scribe, (confined.sentence,), first)


def _opened(job: Job) -> Observer:
    given = job.arguments
    memory = job.loaded.config.memory
    return opening.observe(job.folder, state=job.options.state, journal=given.journal, settings=memory, look=False)


def _audited(job: Job, session: _Session, observer: Observer | None = None) -> Audit:
    observer = session.first if observer is None else observer
    given = job.arguments
    wants_changes = any(each is not None for each in (given.since, given.review, given.reviewer))
    changes = _inbox(job, observer) if wants_changes else None
    with progress_line(quiet=job.options.quiet) as progress:
        return audit(
            observer,
            title=job.title,
            place=job.folder,
            settings=job.loaded.config.audit,
            memory=job.loaded.config.memory,
            repo=job.repo,
            only=job.only,
            inbox=changes,
            baseline=job.baseline,
            growth=job.format in ("html", "json"),
            neutral=session.neutral,
            progress=progress,
        )


def _inbox(job: Job, observer: Observer) -> Inbox:
    """What changed since the moment that was named."""
    from memtui.audit.inboxes import inbox  # deferred: most audits ask for no changes
    from memtui.audit.marks import Review, outside, review_path

    given = job.arguments
    place = review_path(job.folder) if given.review is None else outside(given.review, job.folder, job.options.state)
    observer.reconcile()
    try:
        return inbox(observer, Review.read(place), since=given.since or "last", reviewer=given.reviewer)
    except ValueError as error:
        hint = " Did you mean last, the last review?" if closest(given.since or "", ["last"]) else ""
        raise Failure(Exit.USAGE, f"memtui audit: --since: {error}{hint} Nothing was audited.") from error


def _told(job: Job, session: _Session, found: Audit, *, force: bool) -> int:
    """Write what was found where it was asked for; returns the exit code."""
    code = Exit.FINDINGS if found.fails(job.fail_on) else Exit.OK
    given = job.arguments
    if given.write_baseline is not None:
        code = Exit.OK
        _write_baseline(job, session, found, force=force)
        if given.format is None and given.output is None and not job.options.json:
            return code
    if given.output is None or given.output == "-":
        _print(found, job, code)
        return code
    text = written(found, job.format, folder=job.folder, exit_code=code, everything=given.all)
    session.writer.write(given.output, text.encode("utf-8", "backslashreplace"), force=force)
    if not job.options.quiet:
        output.message(f"{verdict(found)} The report is in {short(os.path.abspath(given.output))}.")
    return code


def _print(found: Audit, job: Job, code: int) -> None:
    if job.format == "text":
        from memtui.audit.report import text  # deferred: as every other format

        is_for_person = output.is_terminal(sys.stdout)
        width = shutil.get_terminal_size().columns if is_for_person else text.WIDTH
        shown = text.write(found, color=output.is_colored(), width=width, everything=job.arguments.all)
        if is_for_person:
            output.line(shown.removesuffix("\n"))
            return
    else:
        shown = written(found, job.format, folder=job.folder, exit_code=code, everything=job.arguments.all)
    output.exact(shown.encode("utf-8", "backslashreplace"))


def _write_baseline(job: Job, session: _Session, found: Audit, *, force: bool) -> None:
    stands = [each.finding for each in found.excepted if each.by == "baseline"]
    findings = [*found.findings, *stands]
    if job.arguments.write_baseline == "-":
        output.exact(document(findings).encode())
        return
    session.writer.write(job.arguments.write_baseline, document(findings).encode(), force=force)
    if not job.options.quiet:
        where = short(os.path.abspath(os.path.expanduser(job.arguments.write_baseline)))
        output.message(f"{counted(len(findings), 'finding')} in {where}: with --baseline none of them counts any more.")


def watched(job: Job) -> NoReturn:
    """Audit again whenever something changed, until somebody ends it, or the folder is gone."""
    with _session(job) as session, contextlib.ExitStack() as opened:
        observer, force, said = session.first, job.arguments.force, set[str]()
        while True:
            _told(job, session, _audited(job, session, observer), force=force)
            _wait(observer, job, said)
            opened.close()
            observer, force = opened.enter_context(_opened(job)), True


def _wait(observer: Observer, job: Job, said: set[str]) -> None:
    """Return when the folder has changed since it was looked at.

    Args:
        observer: Who looked.
        job: What is done.
        said: What was said of how changes are noticed; what is new is said, and comes to it.

    Raises:
        FolderMissing: The folder is gone.
    """
    from memtui.watch import Watch  # deferred: the watcher's library is for those who follow

    news = News(observer)
    watch = Watch(observer, job.folder, None, changed=news.changed, mode_changed=news.noticed_otherwise)
    watch.start()
    try:
        while not news.woken.wait(_PAUSE):
            output.flush()
            if news.reason and news.reason not in said and not job.options.quiet:
                said.add(news.reason)
                output.message(news.reason)
        time.sleep(_SETTLE)  # what belongs together is written in one go, and its record a moment later
    finally:
        watch.stop()
    if news.is_gone:
        raise FolderMissing(news.reason)


class News:
    """What a watcher reports of a folder that was just looked at.

    Args:
        observer: Who looked.

    Attributes:
        woken: Set when it is to be looked at again, and not before.
        reason: Why changes are not noticed as they should be; empty if they are.
        is_gone: Whether the folder is.
    """

    def __init__(self, observer: Observer) -> None:
        self.woken = threading.Event()
        self.reason = ""
        self.is_gone = False
        self._observer = observer
        self._seen = observer.head()

    def changed(self) -> None:
        """There may be something new: a watcher says so when it begins, too, and then there is nothing."""
        if self._observer.head() != self._seen:
            self.woken.set()

    def noticed_otherwise(self, watching: Watching) -> None:
        """Changes begin to be noticed in another way."""
        self.reason = watching.reason
        if watching.mode is Mode.GONE:
            self.is_gone = True
            self.woken.set()
