"""What plain verbs print: aligned text for people, JSON for programs, messages to the side.

Whatever comes from files, names or agents is hostile to a terminal. Lines of aligned text never hold a hidden
character; JSON never holds one either, since it can name each one instead. Only a text that is asked for as
such, and goes to a file or a pipe, goes there as it is.
"""

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import IO

from memtui.cli.exits import Exit, Failure
from memtui.core.visible import one_line, visible, visible_json

SCHEMA = 1
"""Stands in every JSON document; additions do not raise it."""


def prepare() -> None:
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
    """Whether a person sees what is written there."""
    return stream is not None and stream.isatty()


def is_colored() -> bool:
    """Whether what is printed may be colored: on a terminal that can, or where somebody asked for it.

    `NO_COLOR` and `FORCE_COLOR` count unless they are empty, and the former wins.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced != "0"
    return is_terminal(sys.stdout) and os.environ.get("TERM", "") not in ("", "dumb")


def line(text: str) -> None:
    """One line of text. What is in it from outside has been through `cell` or `one_line`."""
    _write(text + "\n")


def prompt(text: str) -> None:
    """The beginning of a line that the person ends; it is there when this returns."""
    _write(text)
    flush()


def text(content: str) -> None:
    """A text from outside: as it is for a program, made visible for a person."""
    if is_terminal(sys.stdout):
        _write(visible(content) + ("" if content.endswith("\n") else "\n"))
    else:
        exact(content.encode("utf-8", "surrogatepass"))


def exact(content: bytes) -> None:
    """Bytes as they are."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.flush()
            sys.stdout.buffer.write(content)


def document(value: object) -> None:
    """A JSON document, for programs and legible."""
    exact(f"{as_json(value, indent=2)}\n".encode())


def json_line(value: object) -> None:
    """A JSON document on a line of its own."""
    exact(f"{as_json(value)}\n".encode())


def as_json(value: object, *, indent: int | None = None) -> str:
    """JSON in which hidden characters are named (`\\u202e`), so that it is valid and drives no terminal."""
    import json  # for start-up cost: not before there is something to answer in it

    return visible_json(json.dumps(value, ensure_ascii=False, indent=indent))


def flush() -> None:
    """Hand over what was written, so that its reader has it now."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.flush()


def message(sentence: str) -> None:
    """A sentence for a person, beside the output; what is in it from outside may be hostile."""
    trace([one_line(sentence) + "\n"])


def trace(lines: Iterable[str]) -> None:
    """Lines beside the output, such as a traceback."""
    if sys.stderr is not None:
        with suppress(OSError):  # where nobody can be told, the exit code tells
            sys.stderr.write(visible("".join(lines)))
            sys.stderr.flush()


def cell(text: str, width: int) -> str:
    """A text from outside, on one line and filled up to a width in terminal cells. It is never cut."""
    shown = one_line(text)
    return shown + " " * (width - cells(shown))


def cells(text: str) -> int:
    """How many cells of a terminal a line takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)


def utc(microseconds: int) -> str | None:
    """A time as programs read it: `2026-11-21T10:14:02.000123Z`; `None` for one that no calendar has."""
    try:
        at = datetime.fromtimestamp(microseconds // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.replace(microsecond=microseconds % 1_000_000, tzinfo=None).isoformat(timespec="microseconds") + "Z"


def age(seconds: float) -> str:
    """How long ago, in one unit: `14s`, `2m`, `3h`, `9d`, `2y`."""
    for limit, unit, size in (
        (60, "s", 1),
        (3_600, "m", 60),
        (86_400, "h", 3_600),
        (730 * 86_400, "d", 86_400),
    ):
        if seconds < limit:
            return f"{max(0, int(seconds)) // size}{unit}"
    return f"{int(seconds) // (365 * 86_400)}y"


def _write(shown: str) -> None:
    if sys.stdout is not None:
        with _writing():
            sys.stdout.write(shown)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads on: no fault of anybody's
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(Exit.OUTPUT, f"The output could not be written: {reason}.") from error
