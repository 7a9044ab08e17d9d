"""Places of this machine: how a person writes them, where memtui keeps its own, and where memories are likely to be."""

import os
from pathlib import Path


def short(path: str | os.PathLike[str]) -> str:
    """A path of this machine as a person writes it: `~` for the home directory."""
    text, home = os.fspath(path), os.path.expanduser("~")
    if home != "/" and (text == home or text.startswith(home + "/")):
        return "~" + text[len(home) :]
    return text


def state_home() -> Path:
    """The directory below which memtui keeps what it knows, unless somebody said otherwise."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(os.path.realpath(base)) / "memtui"
