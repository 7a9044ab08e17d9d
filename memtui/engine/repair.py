"""Making anew what the journal keeps beside its chain, where somebody has changed it."""

import contextlib
import json

from memtui.core.errors import StateUnusable
from memtui.core.events import Event, Memtui
from memtui.core.paths import MemoryPath
from memtui.engine.context import EngineContext
from memtui.journal.verify_report import RepairReport
from memtui.store.base import UNSEEN

_PATHS_NAMED = 1_000
"""Paths that the event of a repair names at most."""


class Repairer:
    def __init__(self, context: EngineContext) -> None:
        self._context = context
        self._is_checked = False

    def repair(self) -> RepairReport:
        """Make the tables anew and record that. Every file is a suspect from then on: the next look reads it.

        Raises:
            LockTimeout, FolderMissing, StateUnusable: It could not be done.
        """
        with self._context.begin_transaction():
            report = self._context.journal.repair(UNSEEN, self._make_event)
        self._context.calls.mark_changed()
        return report

    def repair_once_if_doubtful(self) -> None:
        """Repair a journal whose known state seems not to be what its events left; asked once for each engine.

        A record that is broken itself stays as it is: that is told by whoever verifies it.
        """
        if not self._is_checked:
            self._is_checked = True
            if self._context.journal.is_doubtful():
                with contextlib.suppress(StateUnusable):
                    self.repair()

    def _make_event(self, report: RepairReport) -> Event:
        path = report.paths[0] if len(report.paths) == 1 else ""
        return Event(
            at_us=self._context.get_now_us(),
            actor=Memtui(),
            command="repair",
            path=str(MemoryPath.from_relative(path)),
            note=report.describe(),
            arguments=json.dumps({"paths": report.paths[:_PATHS_NAMED]}) if report.paths else None,
        )
