"""Paths of memories: `/projects/plan.md` in the API, `projects/plan.md` in a folder.

What a client gives is validated here, by the API's rules, before the engine validates it by its own. What stands in a
folder was made by anybody: it is a memory if its name can be said in JSON and shown without acting on a terminal.
"""

import unicodedata

from memtui.core.unicode import to_one_line
from memtui.serve.errors import ApiError, make_invalid

MOST_PATH_BYTES = 1_024
MOST_SEGMENTS = 20
_NOT_IN_PATHS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control and format characters, surrogates, separators of lines and paragraphs."""
_GIT = ".git"
"""What git keeps for itself is no memory: a file there can be a program."""


def format_api_path(relative: str) -> str:
    return f"/{relative}"


def parse_api_path(given: object) -> str:
    """A path that a client gave, relative to the folder.

    Raises:
        ApiError: It is none that a memory may have.
    """
    if not isinstance(given, str):
        raise make_invalid("path: it must be a string.")
    if not given.startswith("/"):
        raise _make_error(given, "it must start with /")
    parts = given[1:].split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise _make_error(given, "a segment must not be empty, . or ..")
    if any(unicodedata.category(character) in _NOT_IN_PATHS for character in given):
        raise _make_error(given, "control and format characters are not allowed")
    if not unicodedata.is_normalized("NFC", given):
        raise _make_error(given, "it must be in Unicode Normalization Form C")
    if len(given.encode()) > MOST_PATH_BYTES:
        raise _make_error(given, f"it has more than {MOST_PATH_BYTES:,} bytes")
    if len(parts) > MOST_SEGMENTS:
        raise _make_error(given, f"it has more than {MOST_SEGMENTS} segments")
    if any(part.casefold() == _GIT for part in parts):
        raise _make_error(given, "what is below .git belongs to git")
    return given[1:]


def parse_prefix(given: str | None) -> str:
    """A prefix that a client gave, relative to the folder: empty for all; else it ends with a slash."""
    if given is None or given == "/":
        return ""
    if not given.startswith("/") or not given.endswith("/"):
        raise make_invalid("path_prefix: it must start and end with /.")
    return parse_api_path(given[:-1]) + "/"


def is_presentable(relative: str) -> bool:
    """Whether a file at a path can be a memory."""
    if any(part.casefold() == _GIT for part in relative.split("/")):
        return False
    if relative.isascii():
        return relative.isprintable()
    return not any(unicodedata.category(character) in _NOT_IN_PATHS for character in relative)


def _make_error(given: str, why: str) -> ApiError:
    return make_invalid(f"path: {to_one_line(given)[:200]!r} is not valid: {why}.")
