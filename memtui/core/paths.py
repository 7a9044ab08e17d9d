"""Paths as the model writes them, validated once.

`parse_path` turns the model's string into components, and nothing else ever sees the string: a rule that is checked in
two places is a rule that one of them forgets. No file is touched here.
"""

import os
import posixpath
import re
from collections.abc import Iterable
from typing import Self
from unicodedata import normalize

from memtui.core.errors import Refusal
from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.core.messages import MessageKey, quote_value
from memtui.core.unicode import NOT_IN_NAMES

ROOT_NAME = "/memories"
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1_024
MAX_LEVELS = 20

_START = re.compile("^/(?:\\.?/)+")
_CONTROL = compile_lazily("[\\\\\x00-\x1f\x7f\ud800-\udfff]")
_DECEPTIVE = compile_lazily(f"[{NOT_IN_NAMES}]")
_ENCODED_DANGER = re.compile(rb"[/\\\x00-\x1f\x7f]|\xc0[\xae\xaf]|\xe0\x80[\xae\xaf]")


@dataclass(frozen=True, slots=True, order=True)
class MemoryPath:
    """A place in the memory folder: the names from the folder down, none empty, `.` or `..` or with a separator."""

    parts: tuple[str, ...] = ()

    @classmethod
    def from_relative(cls, relative: str) -> Self:
        """The place at a path relative to the folder, as a store or an `Entry` gives it; `""` is the folder."""
        return cls(tuple(relative.split("/")) if relative else ())

    def __str__(self) -> str:
        return "/".join((ROOT_NAME, *self.parts))

    @property
    def relative(self) -> str:
        """The path relative to the folder; `""` for the folder itself."""
        return "/".join(self.parts)

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else ""

    @property
    def parent(self) -> "MemoryPath":
        """The directory that holds it; the folder is its own parent."""
        return MemoryPath(self.parts[:-1])

    @property
    def is_root(self) -> bool:
        return not self.parts

    def contains(self, other: "MemoryPath") -> bool:
        return other.parts[: len(self.parts)] == self.parts


ROOT = MemoryPath()


def parse_path(given: object, *, making: bool = False) -> MemoryPath:
    """Validate a path that a caller gave, of any type.

    Args:
        given: Anything; only a `str` can be right.
        making: Whether the name would be made (create, the destination of rename). Names that deceive the eye are
            refused then; those that are there already can still be viewed, deleted and renamed away.

    Raises:
        Refusal: In the words of CONTRACT.md, section "Paths".
    """
    path = _START.sub("/", given) if isinstance(given, str) else ""
    if not isinstance(given, str) or not (path == ROOT_NAME or path.startswith(ROOT_NAME + "/")):
        raise Refusal(MessageKey.OUTSIDE, path=quote_value(given))
    if _CONTROL.search(given) or (making and _DECEPTIVE.search(given)):
        raise Refusal(MessageKey.BAD_CHARACTER, path=quote_value(given))
    parts = tuple(part for part in path[len(ROOT_NAME) :].split("/") if part not in ("", "."))
    if ".." in parts:
        raise Refusal(MessageKey.ESCAPES, path=quote_value(given))
    _refuse_too_long(given, parts)
    _refuse_encoded(given, parts)
    return MemoryPath(parts)


def validate_relative_paths(paths: Iterable[str]) -> None:
    """Refuse paths that are not relative to the folder: `ValueError`. Agents' paths are validated by `parse_path`."""
    for path in paths:
        if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
            raise ValueError(f"not a path relative to the folder: {path!r}")


def is_root_path(given: object) -> bool:
    """Whether a path names the folder itself, however it is spelled (`/memories/a/..` does).

    Delete and rename ask this before anything else, so that the root has one answer.
    """
    if not isinstance(given, str) or _CONTROL.search(given):
        return False
    path = _START.sub("/", given)
    return path.startswith(ROOT_NAME) and posixpath.normpath(path) == ROOT_NAME


def _refuse_encoded(given: str, parts: tuple[str, ...]) -> None:
    """Percent-encoding is never decoded for use, but what would decode to another path is refused."""
    if "%" not in given:
        return
    from urllib.parse import unquote_to_bytes  # noqa: PLC0415 - start-up: hardly any path holds a percent sign

    for part in parts:
        decoded = part.encode("utf-8")
        while (further := unquote_to_bytes(decoded)) != decoded:
            decoded = further
            danger = _ENCODED_DANGER.search(decoded)
            if decoded in (b".", b"..") or (danger and danger.group()[-1:] in b"/\\\xae\xaf"):
                raise Refusal(MessageKey.ESCAPES, path=quote_value(given))
            if danger:
                raise Refusal(MessageKey.BAD_CHARACTER, path=quote_value(given))


def _refuse_too_long(given: str, parts: tuple[str, ...]) -> None:
    if any(len(part.encode("utf-8")) > MAX_NAME_BYTES for part in parts):
        raise Refusal(MessageKey.NAME_TOO_LONG, path=quote_value(given))
    if len("/".join((ROOT_NAME, *parts)).encode("utf-8")) > MAX_PATH_BYTES:
        raise Refusal(MessageKey.PATH_TOO_LONG, path=quote_value(given))
    if len(parts) > MAX_LEVELS:
        raise Refusal(MessageKey.TOO_DEEP, path=quote_value(given))


# Protected paths: which of them covers another path.


def encode_protected(paths: Iterable[str]) -> str:
    import json  # noqa: PLC0415 - start-up: not before the first paint

    return json.dumps(sorted(set(paths), key=lambda path: path.split("/")))


def decode_protected(kept: str | None) -> tuple[str, ...]:
    """Protected paths that were kept. What is no list of paths protects everything: nobody knows what was meant."""
    if kept is None:
        return ()
    import json  # noqa: PLC0415 - start-up: not before the first paint

    try:
        paths = json.loads(kept)
    except (ValueError, RecursionError):
        return ("",)
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        return ("",)
    return tuple(paths)


def covers(protected: str, path: str) -> bool:
    """Whether a path is a protected one, or lies below it; the folder itself holds everything."""
    return not protected or path == protected or path.startswith(protected + "/")


def may_cover(protected: str, path: str) -> bool:
    """Whether it does where the file system takes names for the same that differ in case or composition."""
    return covers(fold_path(protected), fold_path(path))


_LEFT_OUT = "node_modules"


def is_shown(path: str) -> bool:
    """Whether a path relative to a folder is searched and linked: not what is hidden, nor what is below that."""
    if not (path[:1] == "." or "/." in path or _LEFT_OUT in path):
        return True
    return not any(part.startswith(".") or part == _LEFT_OUT for part in path.split("/"))


def fold_path(path: str) -> str:
    """A path as such file systems compare it."""
    return normalize("NFC", normalize("NFC", path).casefold())


def merge_protected(paths: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    """Protected paths with some more; one that another one holds already is not named twice."""
    found: list[str] = []
    for path in sorted({*paths, *more}, key=lambda path: path.split("/")):
        if path in paths or not any(covers(each, path) for each in found):
            found.append(path)
    return tuple(found)


SQLITE = "sqlite:"
"""How a place begins that is one SQLite file with memories and journal, and no folder."""
SERVER = ("postgres://", "postgresql://")
"""How a place begins that is on a PostgreSQL server."""
STORE = "main"
"""The store on a server where none is named."""
HOSTED = "anthropic:"
"""How a place begins that is a memory store of the API: its id follows."""
ONLINE = (*SERVER, HOSTED)
"""How a place begins that is on another machine; of what is there, this machine has a copy."""
NO_FOLDER = (SQLITE, *ONLINE)
"""How a place begins that is no folder."""


def resolve_place(place: str | os.PathLike[str]) -> str:
    """Where memories are, with `~` and links resolved: a folder's path, `sqlite:` and that of a file, or an address."""
    given = os.fspath(place)
    if given.startswith(HOSTED):
        return given
    if given.startswith(SERVER):
        return _complete_address(given)
    scheme = SQLITE if given.startswith(SQLITE) else ""
    return scheme + os.path.realpath(os.path.expanduser(given.removeprefix(scheme)))


def _complete_address(address: str) -> str:
    """An address in one form: with the short scheme, and with a store."""
    start, _, query = address.partition("?")
    named = any(pair.startswith("store=") for pair in query.split("&"))
    query = query if named else "&".join(filter(None, (query, f"store={STORE}")))
    return f"{SERVER[0]}{start.partition('://')[2]}?{query}"


def hide_secrets(address: str) -> str:
    """The address of a server as it may be shown: without a password, with the host and the store only behind `?`."""
    start, _, query = address.partition("?")
    scheme, mark, rest = start.partition("://")
    user, at, host = rest.rpartition("@")
    shown = [pair for pair in query.split("&") if pair.partition("=")[0] in ("store", "host", "port")]
    return f"{scheme}{mark}{user.partition(':')[0]}{at}{host}" + (f"?{'&'.join(shown)}" if shown else "")


def format_path(path: str | os.PathLike[str], home: str | None = None) -> str:
    """A path of this machine, or a place (see `resolve_place`), as a person writes it: `~` for the home directory.

    Of an address nothing is shown that may be secret: neither a password nor what follows the name of the store.
    """
    text, home = os.fspath(path), home or os.path.expanduser("~")
    if text.startswith(SERVER):
        return hide_secrets(text)
    if text.startswith(HOSTED):
        return text
    if text.startswith(SQLITE):
        return SQLITE + format_path(text.removeprefix(SQLITE), home)
    if home != "/" and (text == home or text.startswith(home + "/")):
        return "~" + text[len(home) :]
    return text
