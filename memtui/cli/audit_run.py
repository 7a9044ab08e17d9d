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
    changes = _inbox(job, observer) if job.arguments.since is not None else None
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
        return inbox(observer, Review.read(place), since=given.since, reviewer=given.reviewer)
    except ValueError as error:
        raise Failure(Exit.USAGE, f"memtui audit: --since: {error}") from error


def _told(job: Job, session: _Session, found: Audit, *, force: bool) -> int:
    """Write what was found where it was asked for; returns the exit code."""
    code = Exit.FINDINGS if found.fails(job.fail_on) else Exit.OK
    given = job.arguments
    if given.write_baseline is not None:
        _write_baseline(job, session, found, force=force)
        if given.format is None and given.output is None and not job.options.json:
            return Exit.OK
        code = Exit.OK
    if given.output is None or given.output == "-":
        _print(found, job, code)
        return code
    text = written(found, job.format, folder=job.folder, exit_code=code, everything=given.all)
    session.writer.write(given.output, text.encode("utf-8", "backslashreplace"), force=force)
    if not job.options.quiet:
        output.message(f"{verdict(found)} The report is in {short(os.path.abspath(given.output))}.")
    return code


def _print(found: Audit, job: Job, code: int) -> None:
    if job.format == "text" and output.is_terminal(sys.stdout):
        from memtui.audit.report import text  # deferred: as every other format

        width = shutil.get_terminal_size().columns
        shown = text.write(found, color=output.is_colored(), width=width, everything=job.arguments.all)
        output.line(shown.removesuffix("\n"))
        return
    shown = written(found, job.format, folder=job.folder, exit_code=code, everything=job.arguments.all)
    output.exact(shown.encode("utf-8", "backslashreplace"))


def _write_baseline(job: Job, session: _Session, found: Audit, *, force: bool) -> None:
    stands = [each.finding for each in found.excepted if each.by == "baseline"]
    findings = [*found.findings, *stands]
    session.writer.write(job.arguments.write_baseline, document(findings).encode(), force=force)
    if not job.options.quiet:
        where = short(os.path.abspath(os.path.expanduser(job.arguments.write_baseline)))
        output.message(f"{counted(len(findings), 'finding')} in {where}: with --baseline none of them counts any more.")


def watched(job: Job) -> int:
    """Audit again whenever something changed, until somebody ends it."""
    from memtui.watch import Watch  # deferred: the watcher's library is for those who follow

    with _session(job) as session:
        code = _told(job, session, _audited(job, session), force=job.arguments.force)
        observer, opened = session.first, contextlib.ExitStack()
        with opened:
            while True:
                woken, gone = threading.Event(), list[str]()

                def note(watching: Watching, gone: list[str] = gone, woken: threading.Event = woken) -> None:
                    if watching.mode is Mode.GONE:
                        gone.append(watching.reason)
                        woken.set()

                watch = Watch(observer, job.folder, None, changed=woken.set, mode_changed=note)
                watch.start()
                try:
                    while not woken.wait(_PAUSE):
                        output.flush()
                    time.sleep(_SETTLE)  # what belongs together is written in one go, and its record a moment later
                finally:
                    watch.stop()
                if gone:
                    raise FolderMissing(gone[-1])
                opened.close()
                observer = opened.enter_context(_opened(job))
                code = _told(job, session, _audited(job, session, observer), force=True)
    return code
