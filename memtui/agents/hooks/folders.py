"""Which memory folder a file is in, told from its path alone: nothing is opened, and nothing is listed.

A folder is one if somebody says so, if memtui has ever kept a record of it, or if Claude Code keeps its memories there.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memtui.core.errors import StateUnusable
from memtui.core.settings import Settings
from memtui.places.claude_code import claude_directory
from memtui.state import state_directory


class Place(NamedTuple):
    """A file in a memory folder.

    Attributes:
        folder: The folder, links resolved.
        state: Its state directory.
        path: The file, relative to the folder.
        settings: How its engine behaves; `None` as by default.
    """

    folder: str
    state: Path
    path: str
    settings: Settings | None = None


def place_of(path: str, *, directory: str | None = None, state: str | None = None) -> Place | None:
    """Where a file is, if it is in a memory folder; of several folders the innermost.

    Args:
        path: Absolute; it need not be there yet.
        directory: A memory folder that somebody named.
        state: Where its state lies, if not in its usual place.
    """
    real = os.path.realpath(path)
    named = os.path.realpath(os.path.expanduser(directory)) if directory is not None else None
    for folder in _above(real):
        relative = os.path.relpath(real, folder)
        try:
            if folder == named:
                return Place(folder, state_directory(folder, state), relative)
            where = state_directory(folder)
            if _is_of_claude_code(folder) or (where / "journal.db").exists():
                return Place(folder, where, relative)
        except (StateUnusable, OSError):
            continue
    return None


def _above(path: str) -> Iterator[str]:
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _is_of_claude_code(folder: str) -> bool:
    above, name = os.path.split(folder)
    if name == "memory":
        return os.path.dirname(above) == os.path.join(claude_directory(), "projects")
    if os.path.basename(above) == "agent-memory" and os.path.dirname(above) == claude_directory():
        return True
    kind, owner = os.path.basename(above), os.path.basename(os.path.dirname(above))
    return owner == ".claude" and kind in ("agent-memory", "agent-memory-local")
