"""Where Visual Studio Code keeps the memories of its chat's memory tool, and which workspace each is about.

What a person shares with all workspaces lies in the editor's global storage; what a workspace keeps, in its own
storage, beside a file that says where the workspace is.
"""

import glob
import os
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from memtui.quiet import open_quietly

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor")
_SERVERS = (".vscode-server", ".vscode-server-insiders")
_TOOL = "memory-tool/memories"
_MOST_BYTES = 100_000


class Memory(NamedTuple):
    """A memory folder of the editor.

    Attributes:
        path: Where.
        project: The workspace that it is about; `None` if it is about none, or if that is not known.
    """

    path: str
    project: str | None


def memories(home: str) -> Iterator[Memory]:
    """All that there are.

    Args:
        home: What `~` stands for.
    """
    for user in _user_directories(home):
        within = glob.escape(user)
        for path in sorted(glob.glob(f"{within}/globalStorage/[gG]it[hH]ub.copilot-chat/{_TOOL}")):
            yield Memory(path, None)
        for path in sorted(glob.glob(f"{within}/workspaceStorage/*/[gG]it[hH]ub.copilot-chat/{_TOOL}")):
            yield Memory(path, _workspace(path.removesuffix(f"/{_TOOL}").rpartition("/")[0]))


def _user_directories(home: str) -> Iterator[str]:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for base in (config, os.path.join(home, "Library", "Application Support")):
        for editor in _EDITORS:
            yield os.path.join(base, editor, "User")
    for server in _SERVERS:
        yield os.path.join(home, server, "data", "User")


def _workspace(storage: str) -> str | None:
    """Where the workspace is that a storage belongs to; `None` if that is not known, or on another machine."""
    import json  # for start-up cost: nobody waits for it before the first paint

    try:
        fd = open_quietly(os.path.join(storage, "workspace.json"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            said = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    address = said.get("folder") or said.get("workspace") if isinstance(said, dict) else None
    if not isinstance(address, str) or not address.startswith("file:///"):
        return None
    path = unquote(urlsplit(address).path)
    return None if "\0" in path else path
