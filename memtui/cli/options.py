"""The options that every verb takes, and a command line that needs no parser: `memtui`, `memtui ./DIR`, and the same
with `chat` or `audit`.

The parser takes 3 to 5 ms, of 45 that the browser takes beside Textual until a person sees something.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that every verb takes, before or after its name."""

    directory: str | None = None
    """The memory folder, as given with `--dir`."""
    state: str | None = None
    """The directory of the journal."""
    read_only: bool = False
    """Whether nothing may be written, nor recorded."""
    json: bool = False
    debug: bool = False
    quiet: bool = False
    config: str | None = None
    no_config: bool = False
    screen_reader: bool = False


class PlainCommandLine(NamedTuple):
    """A command line that only browses, chats or audits: its options and its folder, if it names one."""

    options: Options
    word: str | None


_NAMES = {"--dir": "directory", "-C": "directory", "--state": "state"}


def parse_plain_command_line(words: Sequence[str]) -> PlainCommandLine | None:
    """The parts of a command line that only names a folder, as a path; `None` where the parser has to read it."""
    if os.environ.get("MEMTUI_READ_ONLY"):
        return None
    named: dict[str, str] = {}
    folder: str | None = None
    left = iter(words)
    for word in left:
        if word in _NAMES:
            value = next(left, "")
            if not value or value[0] == "-":
                return None
            named[_NAMES[word]] = value
        elif folder is None and (os.sep in word or word[:1] in (".", "~")) and word[0] != "-":  # no verb is written so
            folder = word
        else:
            return None
    return PlainCommandLine(Options(directory=named.get("directory"), state=named.get("state")), folder)
