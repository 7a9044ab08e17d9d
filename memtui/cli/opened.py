"""Opening a memory for a verb that asks about its history, or that changes it."""

from collections.abc import Iterator
from contextlib import contextmanager

from memtui import opening
from memtui.cli import output
from memtui.cli.configured import memory_settings
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options
from memtui.core.errors import Busy
from memtui.engine import Engine


@contextmanager
def opened(path: str, options: Options) -> Iterator[Engine]:
    """The memory, after a look for changes from outside. With `--read-only` what is found is recorded nowhere.

    Args:
        path: The folder.
        options: Where its journal is, and whether all is only looked at.
    """
    settings = memory_settings(options, path)
    with opening.connect(path, state=options.state, read_only=options.read_only, settings=settings) as memory:
        look_again(memory)
        yield memory


def look_again(memory: Engine) -> None:
    """Record what changed from outside, or say that it could not be found out."""
    try:
        memory.reconcile()
    except Busy as busy:
        output.message(f"{busy} Its changes are listed; those from outside may be missing.")


def insist_on_writing(options: Options, not_done: str) -> None:
    """Go on only where something may be changed.

    Args:
        options: Say whether.
        not_done: Such as `Not restored`.

    Raises:
        Failure: It is read-only.
    """
    if options.read_only:
        raise Failure(
            Exit.REFUSED, f"{not_done}: this is read-only. Nothing was written. Run it without --read-only to do it."
        )
