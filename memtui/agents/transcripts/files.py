"""Where the session files are that may tell something of a memory folder."""

import glob
import os
from collections.abc import Sequence

from memtui.places.claude_code import claude_directory


def session_files(home: str | None = None) -> list[str]:
    """All session files of Claude Code, in order; those of its agents too.

    Sessions of one project may write another one's memory, such as those of its other working trees.

    Args:
        home: What `~` stands for; the user's home directory by default.
    """
    top = glob.escape(os.path.join(claude_directory(home), "projects"))
    return sorted(glob.glob(f"{top}/**/*.jsonl", recursive=True))


def total_bytes(files: Sequence[str]) -> int:
    """How much there is to read."""
    total = 0
    for path in files:
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total
