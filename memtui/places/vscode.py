"""The memory tool of Visual Studio Code's chat: it keeps the user's memories in the global storage, and those of a
workspace in the workspace's storage, beside a file that names the workspace.
"""

import glob
import os
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from memtui.places.probe import parse_object, read_start

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor")
_SERVERS = (".vscode-server", ".vscode-server-insiders")
_TOOL = "memory-tool/memories"
_WORKSPACE_BYTES = 100_000


class VsCodeMemory(NamedTuple):
    """A memory folder of the editor."""

    path: str
    project: str | None


def find_vscode_memories(home: str) -> Iterator[VsCodeMemory]:
    """All that there are."""
    for user in _iter_user_directories(home):
        within = glob.escape(user)
        for path in sorted(glob.glob(f"{within}/globalStorage/[gG]it[hH]ub.copilot-chat/{_TOOL}")):
            yield VsCodeMemory(path, None)
        for path in sorted(glob.glob(f"{within}/workspaceStorage/*/[gG]it[hH]ub.copilot-chat/{_TOOL}")):
            yield VsCodeMemory(path, _read_workspace(path.removesuffix(f"/{_TOOL}").rpartition("/")[0]))


def _iter_user_directories(home: str) -> Iterator[str]:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for base in (config, os.path.join(home, "Library", "Application Support")):
        for editor in _EDITORS:
            yield os.path.join(base, editor, "User")
    for server in _SERVERS:
        yield os.path.join(home, server, "data", "User")


def _read_workspace(storage: str) -> str | None:
    """Where the workspace is that a storage belongs to; `None` if that is not known, or on another machine."""
    content = parse_object(read_start(os.path.join(storage, "workspace.json"), _WORKSPACE_BYTES))
    address = content.get("folder") or content.get("workspace")
    if not isinstance(address, str) or not address.startswith("file:///"):
        return None
    path = unquote(urlsplit(address).path)
    return None if "\0" in path else path
