"""Events as they come: recorded by others, or found by looking.

All waiting is in `_moments`, so that a watcher can take its place.
"""

import contextlib
import os
import select
import sys
import time
from collections.abc import Iterator

from memtui import opening
from memtui.cli.verb import Options
from memtui.core.errors import Busy
from memtui.core.events import Event
from memtui.engine import Engine

_PAUSE = 0.25
"""Seconds between two looks."""
_SHARE = 20
"""A look at a large folder is repeated no sooner than after so many times what it took."""


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
        return
    for _ in _moments():
        with contextlib.suppress(Busy):
            memory.reconcile()
        for event in memory.events(after=after):
            after = event.seq
            yield event


def _follow_copies(path: str, options: Options, after: int) -> Iterator[Event]:
    """As `follow`, from copies of the journal: a new one whenever its files have changed."""
    journal = opening.state_directory(path, options.state) / opening.JOURNAL
    seen: object = None
    for _ in _moments():
        stamps = [_stamp(f"{journal}{suffix}") for suffix in ("", "-wal")]
        if stamps != seen:
            with opening.connect(path, state=options.state, read_only=True) as memory:
                for event in memory.events(after=after):
                    after = event.seq
                    yield event
            seen = stamps


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns


def _moments() -> Iterator[None]:
    """Again and again, the moment to look; ends when nobody reads the output any more."""
    poller = _reader_poller()
    while True:
        started = time.monotonic()
        yield
        pause = max(_PAUSE, (time.monotonic() - started) * _SHARE)
        if poller is None:
            time.sleep(pause)
            continue
        for _, event in poller.poll(pause * 1_000):
            if event & (select.POLLERR | select.POLLHUP):
                raise BrokenPipeError
            poller = None  # this system does not poll such a file, and would answer at once for ever


def _reader_poller() -> "select.poll | None":
    """What tells that the reader of a pipe has gone, while there is nothing to write to it."""
    try:
        fd = sys.stdout.fileno()
        poller = select.poll()
        poller.register(fd, 0)
    except (AttributeError, OSError, ValueError):
        return None  # no descriptor behind it, or no poll on this system
    return poller
