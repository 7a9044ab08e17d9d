"""Events of `memtui log`: those that come, those that are asked for, and how they are read out."""

import argparse
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator

from memtui import memory as memory_module
from memtui.cli import output
from memtui.cli.options import Options
from memtui.core.errors import FolderMissing
from memtui.core.events import Event, WatchMode, WatchStatus
from memtui.core.times import PointInTime
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.fs import state as fs_state
from memtui.scan.git_files import is_git_event

FIRST_WHEN_FOLLOWING = 10
"""Events that are printed before those that come."""

# Events as they come: recorded by others, or found by the watcher.

_PAUSE = 0.25
"""Seconds after which it is asked again whether anybody still reads the output."""


def follow_events(memory: Engine, path: str, options: Options, *, after: int) -> Iterator[Event]:
    """Events after a number, for ever. Raises `FolderMissing`, and `OutputClosed` once the output has no reader."""
    if options.read_only:
        yield from _follow_copies(path, options, after)
    else:
        yield from _follow_folder(memory, path, options, after)


def _follow_folder(memory: Engine, path: str, options: Options, after: int) -> Iterator[Event]:
    from memtui.watch import FolderWatcher  # noqa: PLC0415 - start-up: loads the watcher's library

    woken = threading.Event()
    reasons: list[str] = []

    def note(watching: WatchStatus) -> None:
        if watching.mode is WatchMode.GONE:
            reasons.append(watching.reason)
            woken.set()

    state = str(fs_state.get_state_directory(path, options.state))
    watch = FolderWatcher(memory, path, state, changed=woken.set, mode_changed=note)
    watch.start()
    try:
        while True:
            for event in memory.events(after=after):
                after = event.seq
                yield event
            if reasons:
                raise FolderMissing(reasons[-1])
            require_reader()
            woken.wait(_PAUSE)
            woken.clear()
    finally:
        watch.stop()


def _follow_copies(path: str, options: Options, after: int) -> Iterator[Event]:
    """As `follow_events`, from copies of the journal: a new one whenever its files have changed."""
    journal = fs_state.get_state_directory(path, options.state) / memory_module.JOURNAL
    seen: object = None
    while True:
        stamps = [get_file_stamp(f"{journal}{suffix}") for suffix in ("", "-wal")]
        if stamps != seen:
            with memory_module.connect(path, state=options.state, read_only=True) as memory:
                for event in memory.events(after=after):
                    after = event.seq
                    yield event
            seen = stamps
        require_reader()
        time.sleep(_PAUSE)


def get_file_stamp(path: str) -> tuple[int, int] | None:
    """The size and the time of the last change of a file; `None` if it is not there."""
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns


def require_reader() -> None:
    """Find out that the reader of a pipe has gone, also while there is nothing to write to it."""
    try:
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
        found = poller.poll(0)
    except (AttributeError, OSError, ValueError):
        return  # no descriptor behind it, or no poll on this system
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in found):
        raise output.OutputClosed


# Which events are asked for


def build_common_tests(arguments: argparse.Namespace) -> list[Callable[[Event], bool]]:
    """Tests of the events that are asked for, all of which have to pass, except for that of a path."""
    tests: list[Callable[[Event], bool]] = []
    if arguments.errors:
        tests.append(lambda event: event.is_error)
    if arguments.actor is not None:
        tests.append(lambda event: event.actor.name.casefold() == arguments.actor.casefold())
    if arguments.since is not None:
        tests.append(_build_since_filter(arguments.since))
    if arguments.until is not None:
        tests.append(_build_until_filter(arguments.until))
    return tests


class GitEventFilter:
    """Leaves out what git does for itself, unless that is asked for, and counts it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._is_off = arguments.all or ".git" in (arguments.path or "").split("/")
        self._left_out = 0

    def accepts(self, event: Event) -> bool:
        """Whether an event is shown."""
        is_left_out = not self._is_off and is_git_event(event)
        self._left_out += is_left_out
        return not is_left_out

    def report(self, options: Options) -> None:
        """Say beside the output how many events were left out."""
        if self._left_out and not (options.quiet or options.json):
            were = "event of git's own files was" if self._left_out == 1 else "events of git's own files were"
            output.print_message(f"{self._left_out:,} {were} left out. To list them too: memtui log --all")


def _build_since_filter(when: PointInTime) -> Callable[[Event], bool]:
    if when.seq is not None:
        first = when.seq
        return lambda event: event.seq >= first
    at_us = when.first_us if when.first_us is not None else time.time_ns() // 1_000
    return lambda event: event.at_us >= at_us


def _build_until_filter(when: PointInTime) -> Callable[[Event], bool]:
    if when.seq is not None:
        last = when.seq
        return lambda event: event.seq <= last
    at_us = when.last_us
    return lambda event: at_us is None or event.at_us <= at_us


def make_sentence_formatter(is_followed: bool) -> Callable[[Event], str]:
    """Formats an event as a sentence, with its number unless events are followed."""
    from memtui.cli.reader.sentences import format_event_sentence  # noqa: PLC0415 - start-up: only with a screen reader

    return lambda event: to_one_line(format_event_sentence(event, numbered=not is_followed))
