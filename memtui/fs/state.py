"""Where the record of a memory folder is kept: out of the agent's reach, which is decided here and nowhere else.

Hooks load this, and must not keep an agent waiting: no database here.
"""

import os
from pathlib import Path

from memtui.core.errors import StateUnusable
from memtui.core.events import sha256
from memtui.core.paths import format_path


def get_state_home() -> Path:
    """The directory below which memtui keeps what it knows, unless somebody said otherwise."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(os.path.realpath(base)) / "memtui"


def make_private_directory(directory: Path) -> None:
    """Make a directory and the missing ones above it, each for its owner only."""
    if not directory.is_dir():
        make_private_directory(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


def get_state_directory(folder: str, state: str | os.PathLike[str] | None = None) -> Path:
    """A folder's journal directory, its own or `state`; raises `StateUnusable` inside the (real) folder."""
    if state is not None:
        chosen = Path(os.path.realpath(os.path.expanduser(state)))
    else:
        identity = sha256(os.fsencode(folder))[:12]
        name = os.path.basename(folder) or "root"
        chosen = get_state_home() / "stores" / f"{name}-{identity}"
    if chosen == Path(folder) or Path(folder) in chosen.parents:
        inside = f"is inside the memory folder {format_path(folder)}, where an agent could reach it"
        raise StateUnusable(f"The state directory {format_path(chosen)} {inside}. Choose another one with --state.")
    return chosen
