"""Events as they come: recorded by others, or found by the watcher."""

import os
import select
import sys
import threading
import time
from collections.abc import Iterator

from memtui import opening
from memtui.cli.verb import Options
from memtui.core.errors import FolderMissing
from memtui.core.events import Event
from memtui.core.watching import Mode, Watching
from memtui.engine import Engine

_PAUSE = 0.25
"""Seconds after which it is asked again whether anybody still reads the output."""


def follow(memory: Engine, path: str, options: Options, *, after: int) -> Iterator[Event]:
    """Events after a number, for ever.

    Args:
        memory: The opened folder.
        path: The folder.
        options: Read-only looks at the journal alone, and records nothing.
        after: The number of the last event that is known.

    Raises:
        FolderMissing: It is not there any more.
        BrokenPipeError: Nobody reads the output any more.
    """
    if options.read_only:
        yield from _follow_copies(path, options, after)
    else:
        yield from _follow_folder(memory, path, options, after)


def _follow_folder(memory: Engine, path: str, options: Options, after: int) -> Iterator[Event]:
    from memtui.watch import Watch  # deferred: the watcher's library is for those who follow

    woken = threading.Event()
    gone: list[str] = []

    def note(watching: Watching) -> None:
        if watching.mode is Mode.GONE:
            gone.append(watching.reason)
            woken.set()

    state = str(opening.state_directory(path, options.state))
    watch = Watch(memory, path, state, changed=woken.set, mode_changed=note)
    watch.start()
    try:
        while True:
            for event in memory.events(after=after):
                after = event.seq
                yield event
            if gone:
                raise FolderMissing(gone[-1])
            _insist_on_reader()
            woken.wait(_PAUSE)
            woken.clear()
    finally:
        watch.stop()


def _follow_copies(path: str, options: Options, after: int) -> Iterator[Event]:
    """As `follow`, from copies of the journal: a new one whenever its files have changed."""
    journal = opening.state_directory(path, options.state) / opening.JOURNAL
    seen: object = None
    while True:
        stamps = [_stamp(f"{journal}{suffix}") for suffix in ("", "-wal")]
        if stamps != seen:
            with opening.connect(path, state=options.state, read_only=True) as memory:
                for event in memory.events(after=after):
                    after = event.seq
                    yield event
            seen = stamps
        _insist_on_reader()
        time.sleep(_PAUSE)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns


def _insist_on_reader() -> None:
    """Find out that the reader of a pipe has gone, also while there is nothing to write to it."""
    try:
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
        found = poller.poll(0)
    except (AttributeError, OSError, ValueError):
        return  # no descriptor behind it, or no poll on this system
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in found):
        raise BrokenPipeError
