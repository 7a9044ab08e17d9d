"""`memtui audit --watch`: the report once, then a line for each finding that is new or gone."""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import NoReturn

from memtui.audit.model import Audit, AuditFinding
from memtui.audit.ranking import group_findings
from memtui.audit.report import json as report_json
from memtui.audit.report.wording import format_location, format_second, sanitize_text
from memtui.cli import output
from memtui.cli.audit_job import AuditJob, audit_folder, open_observer, open_session, write_result
from memtui.core.errors import FolderMissing
from memtui.core.events import WatchMode, WatchStatus
from memtui.engine import Observer

_PAUSE, _SETTLE = 0.25, 0.2
"""Seconds after which it is asked whether anything has changed, and for which it is waited once it has."""


def watch_audit(job: AuditJob) -> NoReturn:
    """Audit again after each change, until it is ended or the folder is gone.

    A file of `-o`, and JSON, which is one document, are written anew as a whole.
    """
    prints_changes = job.arguments.output in (None, "-") and job.format in ("text", "jsonl")
    with output.exit_on_signals(), open_session(job) as session, contextlib.ExitStack() as opened:
        observer, before, reported = session.first, None, set[str]()
        while True:
            found = audit_folder(job, session, observer)
            if before is None or not prints_changes:
                write_result(job, session, found, force=job.arguments.force or before is not None)
                output.flush()
            else:
                for line in iter_change_lines(before, found, job.format):
                    output.print_line(line)
                    output.flush()
            before = found
            _wait_for_change(observer, job, reported)
            opened.close()
            observer = opened.enter_context(open_observer(job))


def iter_change_lines(before: Audit, after: Audit, format: str) -> Iterator[str]:
    """The findings that are new in an audit, and those that are gone since the one before, each as a line.

    Args:
        format: `jsonl` for events with the fields of a finding; else `text`.
    """
    for sign, event, audit, others in (("+", "new", after, before), ("-", "gone", before, after)):
        known = {each.fingerprint for each in others.findings}
        for group in group_findings(audit.findings):
            for found in group.findings:
                if found.fingerprint in known:
                    continue
                if format == "jsonl":
                    fields = report_json.finding_to_json(found, group.id)
                    yield report_json.format_event(after, event, fields).removesuffix("\n")
                else:
                    yield f"{sign} {format_second(after.taken_us)}  {_describe(found)}"


def _describe(found: AuditFinding) -> str:
    place, words = format_location(found.location), sanitize_text(found.words)
    return f"{found.severity.upper():<4}  {found.rule}  {place}  {words}"


def _wait_for_change(observer: Observer, job: AuditJob, reported: set[str]) -> None:
    """Wait for a change since the last look; each problem of watching is reported once. Raises `FolderMissing`."""
    from memtui.watch import FolderWatcher  # noqa: PLC0415 - start-up: loads the watcher's library

    news = ChangeSignal(observer)
    watch = FolderWatcher(observer, job.folder, None, changed=news.on_change, mode_changed=news.on_watching_change)
    watch.start()
    try:
        while not news.woken.wait(_PAUSE):
            output.flush()
            if news.reason and news.reason not in reported and not job.options.quiet:
                reported.add(news.reason)
                output.print_message(news.reason)
        time.sleep(_SETTLE)  # what belongs together is written in one go, and its record a moment later
    finally:
        watch.stop()
    if news.is_gone:
        raise FolderMissing(news.reason)


class ChangeSignal:
    """Set when a watcher reports a change after the last look; `reason` says why changes come late."""

    def __init__(self, observer: Observer) -> None:
        self.woken = threading.Event()
        self.reason = ""
        self.is_gone = False
        self._observer = observer
        self._seen = observer.get_head()

    def on_change(self) -> None:
        """There may be something new: a watcher says so when it begins, too, and then there is nothing."""
        if self._observer.get_head() != self._seen:
            self.woken.set()

    def on_watching_change(self, watching: WatchStatus) -> None:
        """Changes begin to be noticed in another way."""
        self.reason = watching.reason
        if watching.mode is WatchMode.GONE:
            self.is_gone = True
            self.woken.set()
