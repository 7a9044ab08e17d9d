"""Where what is known of a memory folder is kept: out of the agent's reach, which is decided here and nowhere else.

It is loaded by whoever only wants to know that, such as a hook that must not keep an agent waiting: no database here.
"""

import hashlib
import os
from pathlib import Path

from memtui.core.errors import StateUnusable
from memtui.places import short, state_home


def make_private(directory: Path) -> None:
    """Make a directory and the missing ones above it, each for its owner only."""
    if not directory.is_dir():
        make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


def state_directory(folder: str, state: str | os.PathLike[str] | None = None) -> Path:
    """Where a folder's journal lies.

    Args:
        folder: The folder, with links resolved.
        state: Where it should lie, if somebody said so.

    Raises:
        StateUnusable: It would lie inside the folder, within the agent's reach.
    """
    if state is not None:
        chosen = Path(os.path.realpath(os.path.expanduser(state)))
    else:
        identity = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
        name = os.path.basename(folder) or "root"
        chosen = state_home() / "stores" / f"{name}-{identity}"
    if chosen == Path(folder) or Path(folder) in chosen.parents:
        raise StateUnusable(
            f"The state directory {short(chosen)} is inside the memory folder {short(folder)}, where an agent could "
            "reach it. Choose another one with --state."
        )
    return chosen
