"""The output of plain verbs: aligned text for people, JSON for programs, messages to the side.

Whatever comes from files, names or agents is hostile to a terminal. Lines of aligned text never hold a hidden
character; JSON never holds one either, since it can name each one instead. Only a text that is asked for as
such, and goes to a file or a pipe, goes there as it is.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import IO, NoReturn

from memtui.core.errors import MemtuiError
from memtui.core.paths import format_path
from memtui.core.unicode import measure_cells, to_one_line, visible, visible_json

# How a command ends: the codes that scripts rely on, and the sentence that a person reads.


class ExitCode(IntEnum):
    """The exit codes, in one place. A process that a signal ended is the shell's to number: 143, 129."""

    OK = 0
    FINDINGS = 1
    """It worked, and the answer is no: a command was refused, a check failed."""
    USAGE = 2
    """The command line is wrong, or there is no terminal to draw on."""
    MISSING = 3
    """A folder or file is not there, or cannot be read."""
    REFUSED = 4
    """Read-only, or outside the memory folder."""
    CONFLICT = 5
    """Another process has changed it, or is changing it."""
    API = 6
    """The model's server could not be asked, or did not answer: no key, no network, a fault of its own."""
    INTERNAL = 70
    """A bug; the log file has the traceback."""
    OUTPUT = 74
    """The answer could not be written, such as to a full disk."""
    INTERRUPTED = 130
    PIPE = 141


class Failure(MemtuiError):
    """Ends the command with an exit code and a sentence: what happened, why, and what to do."""

    def __init__(self, code: ExitCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class UsageError(Failure):
    """The command line is wrong."""

    def __init__(self, sentence: str) -> None:
        super().__init__(ExitCode.USAGE, sentence)


class NotFound(Failure):
    """A folder, a file or an event is not there, or cannot be read."""

    def __init__(self, sentence: str) -> None:
        super().__init__(ExitCode.MISSING, sentence)


class OutputClosed(BaseException):
    """Nobody reads the output any more, as behind `| head -1`: the command ends without a word.

    No `Exception` and no `OSError`, so that no handler takes it for a fault of what it was reading.
    """


SCHEMA = 1
"""Stands in every JSON document; additions do not raise it."""


def prepare_streams() -> None:
    """Make the standard streams safe to write to, whatever they were started with."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:  # closed: the next file opened, such as the journal, would be printed into
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether a stream is a terminal."""
    return stream is not None and stream.isatty()


def is_colored() -> bool:
    """Whether output is colored: on a capable terminal, or by `FORCE_COLOR`, unless `NO_COLOR` is set."""
    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced != "0"
    return is_terminal(sys.stdout) and os.environ.get("TERM", "") not in ("", "dumb")


def print_line(text: str) -> None:
    """Print a line. Text in it from outside has been through `pad_cell` or `to_one_line`."""
    _write(text + "\n")


def print_prompt(text: str) -> None:
    """The beginning of a line that the person ends; it is there when this returns."""
    _write(text)
    flush()


def print_text(content: str) -> None:
    """A text from outside: as it is for a program, made visible for a person."""
    if is_terminal(sys.stdout):
        _write(visible(content) + ("" if content.endswith("\n") else "\n"))
    else:
        write_bytes(content.encode("utf-8", "surrogatepass"))


def write_bytes(content: bytes) -> None:
    """Bytes as they are."""
    if sys.stdout is not None:
        with _convert_write_errors():
            sys.stdout.flush()
            sys.stdout.buffer.write(content)


def print_json(value: Mapping[str, object]) -> None:
    """A JSON document, for programs and legible; begins with the number of its schema."""
    write_bytes(f"{dump_json({'schema': SCHEMA, **value}, indent=2)}\n".encode())


def print_json_line(value: object) -> None:
    """A JSON document on a line of its own."""
    write_bytes(f"{dump_json(value)}\n".encode())


def dump_json(value: object, *, indent: int | None = None) -> str:
    """JSON in which hidden characters are named (`\\u202e`), so that it is valid and drives no terminal."""
    import json  # noqa: PLC0415 - start-up: only to print JSON

    return visible_json(json.dumps(value, ensure_ascii=False, indent=indent))


def flush() -> None:
    """Flush the output, so that its reader has it now."""
    if sys.stdout is not None:
        with _convert_write_errors():
            sys.stdout.flush()


def print_message(sentence: str) -> None:
    """Print a sentence beside the output; text in it from outside may be hostile."""
    write_stderr([to_one_line(sentence) + "\n"])


def write_stderr(lines: Iterable[str]) -> None:
    """Lines beside the output, such as a traceback."""
    if sys.stderr is not None:
        try:
            sys.stderr.write(visible("".join(lines)))
            sys.stderr.flush()
        except OSError:  # where nobody can be told, the exit code tells
            discard_stream(2)


def print_traceback(error: BaseException) -> None:
    """The traceback of an error beside the output."""
    import traceback  # noqa: PLC0415 - start-up: only for an error

    write_stderr(traceback.format_exception(error))


def discard_stream(fd: int) -> None:
    """Send a standard stream nowhere, with what is still in its buffer: Python would complain about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, fd)
    os.close(nowhere)


def pad_cell(text: str, width: int) -> str:
    """A text from outside, on one line and filled up to a width in terminal cells. It is never cut."""
    shown = to_one_line(text)
    return shown + " " * (width - measure_cells(shown))


def format_utc(microseconds: int) -> str | None:
    """A time as programs read it: `2026-11-21T10:14:02.000123Z`; `None` for one that no calendar has."""
    from datetime import UTC, datetime  # noqa: PLC0415 - start-up: only where a time is printed

    try:
        at = datetime.fromtimestamp(microseconds // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.replace(microsecond=microseconds % 1_000_000, tzinfo=None).isoformat(timespec="microseconds") + "Z"


def format_os_error(error: OSError) -> str:
    """The reason of the system, as the end of a sentence."""
    return os.strerror(error.errno or 0).lower()


def colorize(text: str, color: str | None) -> str:
    """A text in a color of the terminal, such as `31` for red, where output is colored."""
    return f"\x1b[{color}m{text}\x1b[m" if color and is_colored() else text


def _write(shown: str) -> None:
    if sys.stdout is not None:
        with _convert_write_errors():
            sys.stdout.write(shown)


@contextmanager
def _convert_write_errors() -> Iterator[None]:
    try:
        yield
    except (BrokenPipeError, ConnectionResetError):
        raise OutputClosed from None
    except OSError as error:
        raise Failure(ExitCode.OUTPUT, f"The output could not be written: {format_os_error(error)}.") from error


# Progress, beside the output.

_PATIENCE, _BETWEEN = 0.5, 0.1
"""Seconds before the first line, and between two."""


@contextmanager
def show_progress_line(
    *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[str, int, int | None], None] | None]:
    """A progress line beside the output: yields a function of label, count and total, or `None`.

    With a total of 0 the line is taken away, so that something else can be printed there; `None` is one that is not
    known.
    """
    if quiet or not is_terminal(sys.stderr):
        yield None
        return
    begun = last = clock()
    wide = 0

    def tell(what: str, done: int, of: int | None) -> None:
        nonlocal last, wide
        now = clock()
        if of == 0:
            erase()
            return
        if now - begun < _PATIENCE or now - last < _BETWEEN:
            return
        last = now
        words = f"{what}: {done:,}" + ("" if of is None else f" of {of:,}")
        sys.stderr.write(f"\r{words:<{wide}}")
        sys.stderr.flush()
        wide = len(words)

    def erase() -> None:
        nonlocal wide
        if wide:
            sys.stderr.write(f"\r{'':<{wide}}\r")
            sys.stderr.flush()
            wide = 0

    try:
        yield tell
    finally:
        erase()


# Signals that end a process, handled as Ctrl+C: temporary files are removed, and sessions are kept.


@contextlib.contextmanager
def exit_on_signals() -> Iterator[None]:
    """Have the signals that end a process raise `SystemExit` meanwhile, with the code that a shell gives them."""

    import signal  # noqa: PLC0415 - start-up: only for verbs that run long

    def end(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# Crash logs.


def write_crash_log(error: BaseException) -> str:
    """Write the traceback to a file that only its owner can read; returns a sentence that names it."""
    import traceback  # noqa: PLC0415 - start-up: only for an error

    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    directory = os.path.join(base, "memtui", "log")
    path = os.path.join(directory, f"{time.strftime('%Y-%m-%dT%H%M%S')}-{os.getpid()}.log")
    text = "".join(traceback.format_exception(error))
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return "Could not write a log. To see it: --debug."
    return f"Log: {format_path(path)}"
