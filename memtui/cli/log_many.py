"""`memtui log --everywhere`: the events of all folders that memtui has a journal of, in the order of time.

Journals are copied into memory a few events at a time and never changed; the folders themselves are not touched, so a
dead disk is not waited for, and a folder that is gone still tells what happened in it.
"""

import argparse
import contextlib
import heapq
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from memtui import memory as memory_module
from memtui.cli import context, output
from memtui.cli.event_text import format_event_row, serialize_event
from memtui.cli.follow import (
    FIRST_WHEN_FOLLOWING,
    GitEventFilter,
    build_common_tests,
    get_file_stamp,
    make_sentence_formatter,
    require_reader,
)
from memtui.cli.options import Options
from memtui.cli.output import NotFound, UsageError
from memtui.cli.search_many import require_no_folder
from memtui.core.errors import MemtuiError
from memtui.core.events import Event
from memtui.core.paths import format_path
from memtui.core.unicode import measure_cells
from memtui.engine.calls import CallTracker
from memtui.engine.history import JournalHistory
from memtui.fs import state as fs_state

_PAGE = 500
"""Events of one journal that are in memory at a time."""
_WIDEST = 36
"""Cells of the widest column of folders; a longer name pushes the rest of its row aside."""
_PAUSE = 0.25
"""Seconds between two looks at the journals, at least."""
_SHARE = 10
"""So many times as long as a look took is waited for the next one."""
_NEW_SECONDS = 5.0
"""Seconds for which a new state directory may be without its journal."""


class _FolderEvent(NamedTuple):
    """An event, ordered by time; those of one folder stay in the order of their numbers, whatever their clock said."""

    at_us: int
    folder: str
    seq: int
    event: Event


class _FolderJournal:
    """The journal of one folder, read only as far as is asked for.

    Args:
        folder: The real path of the folder.
        path: The journal's database.
    """

    def __init__(self, folder: str, path: str) -> None:
        self.folder = folder
        self._path = path
        self._after = 0
        self._at_us = 0
        self._stamps: object = None

    def read_new(self) -> Iterator[_FolderEvent]:
        """The events that were not read yet; none, and nothing is opened, where the files are as they were.

        Raises:
            MemtuiError, OSError: The journal cannot be read.
        """
        stamps = [get_file_stamp(f"{self._path}{suffix}") for suffix in ("", "-wal")]
        if stamps == self._stamps or stamps[0] is None:
            return
        self._stamps = stamps
        with contextlib.closing(memory_module.copy_record(self._path)) as journal:
            history = JournalHistory(journal, CallTracker())
            while page := journal.get_events(self._after, limit=_PAGE):
                self._after = page[-1].seq
                read = list(history.read_events(page))
                if len(page) < _PAGE:
                    journal.close()  # not held while the events of others come first
                for event in read:
                    self._at_us = max(self._at_us, event.at_us)
                    yield _FolderEvent(self._at_us, self.folder, event.seq, event)
                if len(page) < _PAGE:
                    return


class _Journals:
    """All journals of this machine, also those that are made meanwhile."""

    def __init__(self) -> None:
        self._known: dict[str, _FolderJournal] = {}
        self._refused: set[str] = set()
        self._stores_stamp: object = None
        self._looked_until = 0.0
        self.find()

    @property
    def folders(self) -> Sequence[str]:
        return list(self._known)

    def find(self) -> None:
        """Look for journals that are new; only where the directory of all of them has changed a moment ago."""
        stamp = get_file_stamp(str(fs_state.get_state_home() / "stores"))
        now = time.monotonic()
        if stamp != self._stores_stamp:
            self._stores_stamp, self._looked_until = stamp, now + _NEW_SECONDS
        if now > self._looked_until:
            return
        for folder in fs_state.list_recent_folders(None):
            if folder not in self._known:
                with contextlib.suppress(MemtuiError):
                    journal = fs_state.get_state_directory(folder) / memory_module.JOURNAL
                    self._known[folder] = _FolderJournal(folder, str(journal))

    def read_new(self) -> Iterator[_FolderEvent]:
        """The events of all of them that were not read yet, in the order of time."""
        return heapq.merge(*(self._read_or_report(each) for each in self._known.values()))

    def _read_or_report(self, journal: _FolderJournal) -> Iterator[_FolderEvent]:
        try:
            yield from journal.read_new()
        except (MemtuiError, OSError) as error:
            if journal.folder not in self._refused:
                self._refused.add(journal.folder)
                output.print_message(f"{format_path(journal.folder)}: its journal was not read: {error}")


def log_everywhere(options: Options, arguments: argparse.Namespace) -> int:
    """Print the events of all folders, and with `--follow` those that come."""
    _require_common(options, arguments)
    loaded = context.load_config(options)
    context.report_setting_problems(loaded, options)
    journals = _Journals()
    if not journals.folders and not arguments.follow:
        raise NotFound("There is no journal of a folder on this machine yet. To begin one, open a folder: memtui DIR")
    git = GitEventFilter(arguments)
    tests = [*build_common_tests(arguments), git.accepts]
    speaks = loaded.config.ui.screen_reader
    print_event = _make_printer(
        options, journals.folders, make_sentence_formatter(arguments.follow) if speaks else format_event_row
    )
    found = (each for each in journals.read_new() if all(test(each.event) for test in tests))
    last = arguments.last if arguments.last is not None else FIRST_WHEN_FOLLOWING if arguments.follow else None
    for each in found if last is None else sorted(heapq.nlargest(last, found)):
        print_event(each)
    output.flush()
    git.report(options)
    while arguments.follow:
        began = time.monotonic()
        journals.find()
        for each in journals.read_new():
            if all(test(each.event) for test in tests):
                print_event(each)
        output.flush()
        require_reader()
        time.sleep(max(_PAUSE, _SHARE * (time.monotonic() - began)))
    return 0


def _require_common(options: Options, arguments: argparse.Namespace) -> None:
    """Raise `UsageError` for what is about one folder."""
    require_no_folder(options, "log")
    numbers = [
        (f"--{name}", moment is not None and moment.seq is not None)
        for name, moment in (("since", arguments.since), ("until", arguments.until))
    ]
    for option, is_number in numbers:
        if is_number:
            raise UsageError(
                f"memtui log: {option} takes a time with --everywhere: each folder numbers its own events."
            )
    for option, is_given in (
        ("DIR", arguments.folder is not None), ("--path", arguments.path is not None), ("--head", arguments.head),
    ):  # fmt: skip
        if is_given:
            raise UsageError(f"memtui log: --everywhere and {option} do not go together. Leave one of them out.")


def _make_printer(
    options: Options, folders: Sequence[str], shown: Callable[[Event], str]
) -> Callable[[_FolderEvent], None]:
    """Prints an event with its folder in front, or as JSON with its folder."""
    titles = {folder: format_path(folder) for folder in folders}
    width = min(max(map(measure_cells, titles.values()), default=0), _WIDEST)

    def print_event(each: _FolderEvent) -> None:
        if options.json:
            output.print_json_line({**serialize_event(each.event, each.folder), "folder": os.fspath(each.folder)})
        else:
            title = titles.setdefault(each.folder, format_path(each.folder))
            output.print_line(f"{output.pad_cell(title, width)}  {shown(each.event)}")

    return print_event
