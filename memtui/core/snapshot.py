"""What a memory folder held at one moment: one value for each name in it.

The walker makes these values, the watcher compares two sets of them, the screens draw them. A value that is
cheap and says "not looked at" is what lets a folder of a million files be on screen before any was examined.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What stands behind a name; links are never followed."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"
    """A FIFO, a socket or a device: shown, never opened."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in the folder."""

    path: str
    """Relative to the folder, joined by `/`; `""` is the folder itself. May hold surrogates (PEP 383)."""
    kind: Kind
    size: int | None = None
    """Bytes; None: not looked at yet."""
    mtime_ns: int | None = None
    """Nanoseconds since the epoch; None: not looked at yet."""
