"""`memtui export`: the journal as JSON lines, to keep elsewhere and to verify without memtui."""

import argparse
import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator

from memtui.cli import output
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.cli.verify import journal_of, unreadable
from memtui.core.errors import StateUnusable
from memtui.core.visible import one_line
from memtui.places import short

_LOOKS = 5
"""How often an export to a file begins anew when somebody wrote to the journal meanwhile."""
_BUFFER = 1 << 20


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder; it may be gone")
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file, for its owner only; else standard output")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--no-texts", action="store_true", help="events only: no answers, arguments and versions")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    folder, path = journal_of(options, arguments.folder)
    target = arguments.output if arguments.output != "-" else None
    texts = not arguments.no_texts
    locking = not options.read_only and os.access(os.path.dirname(path), os.W_OK) and os.access(path, os.W_OK)
    try:
        if target is None:
            if not _exported(folder, path, output.exact, texts=texts, locking=locking):
                raise Failure(
                    Exit.CONFLICT,
                    "The journal was written to meanwhile, and it is read without locks. What was exported may be of "
                    "two moments. Try again.",
                )
        else:
            _export_to(target, folder, path, texts=texts, force=arguments.force, locking=locking)
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    return Exit.OK


def _export_to(target: str, folder: str | None, path: str, *, texts: bool, force: bool, locking: bool) -> None:
    place = _place(target, folder, os.path.dirname(path), force=force)
    for _ in range(_LOOKS):
        with contextlib.closing(_NewFile(place)) as file:
            if _exported(folder, path, file.write, texts=texts, locking=locking):
                file.keep(force=force)
                return
    raise Failure(Exit.CONFLICT, "The journal is written to all the time. Nothing was exported. Try again.")


def _place(target: str, folder: str | None, state: str, *, force: bool) -> str:
    """Where the file is to be, with links resolved but its own.

    Raises:
        Failure: It may not, or cannot, be there.
    """
    name = os.path.expanduser(target)
    directory = os.path.realpath(os.path.dirname(name) or ".")
    place = os.path.join(directory, os.path.basename(name))
    shown = short(place)
    if not os.path.basename(name) or os.path.isdir(place):
        raise Failure(Exit.USAGE, f"{shown} is a folder. Nothing was exported. Name a file in it.")
    if folder is not None and _is_inside(place, folder):
        raise Failure(
            Exit.REFUSED,
            f"Refused: {shown} is inside the memory folder, where an agent could read it. Nothing was exported. "
            "Choose another place.",
        )
    if _is_inside(place, state):
        raise Failure(Exit.REFUSED, f"Refused: {shown} is where the journal lies. Nothing was exported.")
    if not force and os.path.lexists(place):
        raise _exists(shown)
    return place


def _is_inside(place: str, directory: str) -> bool:
    return any(each.startswith(directory.rstrip("/") + "/") for each in (place, os.path.realpath(place)))


def _exists(shown: str) -> Failure:
    return Failure(Exit.CONFLICT, f"{shown} is there already. Nothing was exported. To replace it: --force")


class _NewFile:
    """A file that nobody sees before it is whole."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._aside = os.path.join(os.path.dirname(place), f".{os.path.basename(place)[:200]}.{os.getpid()}.part")
        with _writing(place):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = open(os.open(self._aside, flags, 0o600), "wb", buffering=_BUFFER)  # noqa: SIM115 - see `close`

    def write(self, data: bytes) -> None:
        """Write a line."""
        with _writing(self._place):
            self._file.write(data)

    def keep(self, *, force: bool) -> None:
        """It is whole: put it on the disk and in its place."""
        with _writing(self._place):
            self._file.flush()
            os.fsync(self._file.fileno())
            _move(self._aside, self._place, force=force)

    def close(self) -> None:
        """Leave nothing behind but what was kept."""
        with contextlib.suppress(OSError):  # what could not be written was told when it was to be kept
            self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._aside)


@contextlib.contextmanager
def _writing(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(Exit.OUTPUT, f"{short(place)} could not be written: {reason}. Nothing was exported.") from error


def _move(aside: str, place: str, *, force: bool) -> None:
    if force:
        os.replace(aside, place)
        return
    try:
        os.link(aside, place)
    except FileExistsError:
        raise _exists(short(place)) from None
    except OSError:  # not every file system has links
        if os.path.lexists(place):
            raise _exists(short(place)) from None
        os.rename(aside, place)


def _exported(folder: str | None, path: str, write: Callable[[bytes], object], *, texts: bool, locking: bool) -> bool:
    """Write all lines; whether they are of one moment."""
    from memtui.journal.reading import reading  # for start-up cost, as below
    from memtui.journal.rows import UNREADABLE

    title = short(folder) if folder is not None else ""
    with reading(path, locking=locking) as journal:
        try:
            last = _all_but_the_last(journal.connection, title, write, texts=texts)
        except (StateUnusable, *UNREADABLE):
            if journal.is_steady():
                raise
            return False  # two moments together look like a damaged journal
        if not journal.is_steady():
            return False
        write(last)  # the end is written only when all before it is right
        return True


def _all_but_the_last(
    connection: sqlite3.Connection, title: str, write: Callable[[bytes], object], *, texts: bool
) -> bytes:
    """Write the lines as they are read, and return the last one."""
    from memtui.journal import export, schema

    problem = schema.problem_of(connection)
    if problem:
        raise StateUnusable(problem)
    now = output.utc(time.time_ns() // 1_000) or ""
    last = b""
    for line in export.lines(connection, folder=one_line(title), exported=now, texts=texts):
        write(last)
        last = line
    return last


VERB = Verb(
    "export",
    "write the record as JSON",
    (
        ("memtui export -o journal.jsonl", "to a new file, for its owner only"),
        ("memtui export --no-texts | gzip > events.gz", "only the events, no text"),
    ),
    _arguments,
    _run,
    (
        "It holds every version of every text: keep it where no agent reads. The chain",
        "can be verified in it without memtui; its last line says that it is whole.",
    ),
)
