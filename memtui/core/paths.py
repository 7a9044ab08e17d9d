"""Paths as the model writes them, judged once.

`parse` turns the model's string into components, and nothing else ever sees the string: a rule that is
checked in two places is a rule that one of them forgets. No file is touched here.
"""

import posixpath
import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote_to_bytes

from memtui.core.errors import Refusal
from memtui.core.messages import Message, quoted

ROOT_NAME = "/memories"
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1_024
MAX_LEVELS = 20

_CONTROL = re.compile("[\\\\\x00-\x1f\x7f\ud800-\udfff]")
_DECEPTIVE = re.compile("[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\u2028\u2029\U000e0000-\U000e007f]")
_ENCODED_DANGER = re.compile(rb"[/\\\x00-\x1f\x7f]|\xc0[\xae\xaf]|\xe0\x80[\xae\xaf]")


@dataclass(frozen=True, slots=True, order=True)
class MemoryPath:
    """A place in the memory folder.

    Attributes:
        parts: The names from the folder down; empty for the folder itself. A name is never empty, `.` or `..`,
            and holds no separator.
    """

    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, relative: str) -> Self:
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
        """The last name, or `""` for the folder itself."""
        return self.parts[-1] if self.parts else ""

    @property
    def parent(self) -> "MemoryPath":
        """The directory that holds it; the folder is its own parent."""
        return MemoryPath(self.parts[:-1])

    @property
    def is_root(self) -> bool:
        """Whether this is the memory folder itself."""
        return not self.parts

    def holds(self, other: "MemoryPath") -> bool:
        """Whether `other` is this place or lies below it."""
        return other.parts[: len(self.parts)] == self.parts


ROOT = MemoryPath()


def parse(given: object, *, making: bool = False) -> MemoryPath:
    """Judge a path that a caller gave.

    Args:
        given: Anything; only a `str` can be right.
        making: Whether the name would be made (create, the destination of rename). Names that deceive the
            eye are refused then; those that are there already can still be viewed, deleted and renamed away.

    Raises:
        Refusal: In the words of CONTRACT.md, section "Paths".
    """
    if not isinstance(given, str) or not (given == ROOT_NAME or given.startswith(ROOT_NAME + "/")):
        raise Refusal(Message.OUTSIDE, path=quoted(given))
    if _CONTROL.search(given) or (making and _DECEPTIVE.search(given)):
        raise Refusal(Message.BAD_CHARACTER, path=quoted(given))
    parts = tuple(part for part in given[len(ROOT_NAME) :].split("/") if part not in ("", "."))
    if ".." in parts:
        raise Refusal(Message.ESCAPES, path=quoted(given))
    _refuse_too_long(given, parts)
    _refuse_encoded(given, parts)
    return MemoryPath(parts)


def names_root(given: object) -> bool:
    """Whether a path names the folder itself, however it is spelled (`/memories/a/..` does).

    Delete and rename ask this before anything else, so that the root has one answer.
    """
    if not isinstance(given, str) or not given.startswith(ROOT_NAME) or _CONTROL.search(given):
        return False
    return posixpath.normpath(given) == ROOT_NAME


def _refuse_encoded(given: str, parts: tuple[str, ...]) -> None:
    """Percent-encoding is never decoded for use, but what would decode to another path is refused."""
    if "%" not in given:
        return
    for part in parts:
        decoded = part.encode("utf-8")
        while (further := unquote_to_bytes(decoded)) != decoded:
            decoded = further
            danger = _ENCODED_DANGER.search(decoded)
            if decoded in (b".", b"..") or (danger and danger.group()[-1:] in b"/\\\xae\xaf"):
                raise Refusal(Message.ESCAPES, path=quoted(given))
            if danger:
                raise Refusal(Message.BAD_CHARACTER, path=quoted(given))


def _refuse_too_long(given: str, parts: tuple[str, ...]) -> None:
    if any(len(part.encode("utf-8")) > MAX_NAME_BYTES for part in parts):
        raise Refusal(Message.NAME_TOO_LONG, path=quoted(given))
    if len("/".join((ROOT_NAME, *parts)).encode("utf-8")) > MAX_PATH_BYTES:
        raise Refusal(Message.PATH_TOO_LONG, path=quoted(given))
    if len(parts) > MAX_LEVELS:
        raise Refusal(Message.TOO_DEEP, path=quoted(given))
