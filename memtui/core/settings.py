"""How an engine behaves, as one value."""

from dataclasses import dataclass
from typing import Literal

from memtui.core.messages import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What may differ from one memory to another. The limits bind agents; a limit of 0 is off."""

    create: Literal["overwrite", "refuse"] = "overwrite"
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
    """Bytes of the largest file that is read at all, by anyone; it protects memtui itself."""

    lock_seconds: float = 5.0
    """Seconds that a command waits for other writers before it answers that the folder is busy."""
