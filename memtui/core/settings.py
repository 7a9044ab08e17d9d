"""How an engine behaves, as one value."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

from memtui.core.messages import Profile

Creating = Literal["overwrite", "refuse"]
_CHOICES: Mapping[str, tuple[str, ...]] = {"create": get_args(Creating), "messages": get_args(Profile)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What may differ from one memory to another. The limits bind agents; a limit of 0 is off.

    Raises:
        ValueError: A field's value is none that it may have; the words name the field.
    """

    create: Creating = "overwrite"
    """What `create` does where a file is already: the tool's description promises the model to overwrite."""

    messages: Profile = "docs"
    """The wording of answers: the tool's documentation, or the SDK's reference class."""

    view_char_limit: int = 16_000
    """Characters at which the view of a file is cut at a line's end."""

    listing_limit: int = 2_000
    """Entries after which the view of a directory is cut."""

    max_file_bytes: int = 1_000_000
    """Bytes that one file may have after a command."""

    max_total_bytes: int = 100_000_000
    """Bytes that the files of the folder may have together after a command."""

    max_files: int = 2_000
    """Files that the folder may hold after a command."""

    max_read_bytes: int = 64_000_000
    """Bytes of the largest file that is read at all, by anyone; it protects memtui itself. 0 is off here as well."""

    lock_seconds: float = 5.0
    """Seconds that a command waits for other writers before it answers that the folder is busy; 0 is not at all."""

    keep_days: int = 0
    """Days after which a text that stands nowhere any more is removed from the record; 0 keeps all for ever. Events
    are always kept, with the hashes of their texts."""

    keep_bytes: int = 0
    """Bytes that the record's texts may take, as they are packed; beyond it the oldest that stand nowhere any more are
    removed. 0 is off."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _CHOICES:
                if value not in _CHOICES[field.name]:
                    raise ValueError(f"{field.name} is one of {', '.join(_CHOICES[field.name])}, not {value!r}")
            elif field.name == "lock_seconds":
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                    raise ValueError(f"{field.name} is a number of seconds, 0 or more, not {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{field.name} is a whole number, 0 or more, not {value!r}")

    @property
    def read_limit(self) -> int:
        """The most bytes that are read of a file."""
        return self.max_read_bytes or sys.maxsize
