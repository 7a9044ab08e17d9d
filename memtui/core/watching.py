"""How changes by others are noticed, as a value that screens can show without loading the watcher."""

from dataclasses import dataclass
from enum import Enum


class Mode(Enum):
    """Ways to notice a change."""

    LIVE = "live"
    POLLING = "polling"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Watching:
    """How changes are noticed now, and why not better, as a sentence for a person."""

    mode: Mode
    reason: str = ""
    is_failing: bool = False
    """Whether what happens is not recorded at the moment."""
