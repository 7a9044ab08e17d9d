"""A scratch folder to run the commands of the pages in, and the commands of a page."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import memtui

NOT_RUN = {
    "terminal": "it needs a terminal",
    "key": "it needs an API key",
    "network": "it needs a package registry",
    "client": "it needs another program",
    "server": "it runs until it is ended",
}
"""Why a block is not run, by the word behind `sh` at its head."""
_BLOCK = re.compile(r"(?m)^( *)```sh(?: (\w+))?\n(.*?)^ *```$", re.DOTALL)
_EXIT = re.compile(r"#.*\bexit (\d+)")
_COMMENT = re.compile(r"(?:^|\s+)#(?:\s.*)?$")
_NOTES = {
    "user_preferences.md": "# User preferences\n\n- Prefers **concise** answers\n- Timezone: Europe/Berlin\n",
    "rules.md": "# Rules\n\n- Never push on a Friday\n",
    "projects/billing.md": "# Billing\n\nReminders run at night. TODO: pg migration, see [[rules]].\n",
}


class DocumentedCommand(NamedTuple):
    """A command line of a page."""

    line: str
    code: int
    """The exit code that the page tells, 0 if it tells none."""
    not_run: str | None
    """The word that says why it is not run."""


def list_commands(text: str) -> list[DocumentedCommand]:
    """The command lines in the `sh` blocks of a page, in order."""
    return list(_iter_commands(text))


def _iter_commands(text: str) -> Iterator[DocumentedCommand]:
    for indent, not_run, block in _BLOCK.findall(text):
        for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines():
            command = _COMMENT.sub("", line.removeprefix(indent)).strip()
            if command:
                code = _EXIT.search(line)
                yield DocumentedCommand(command, int(code[1]) if code else 0, not_run or None)


def prepare_home(home: Path) -> Path:
    """Make `app/memories` in a home directory, with what an agent did there; returns `app`.

    The events are: #1 the first look; by Claude #2 create, #3 str_replace, #4 create and #5 delete.
    """
    folder = home / "app" / "memories"
    for name, text in _NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    claude = memtui.Agent("Claude", "a-model", "session-1")
    today = "/memories/notes/today.md"
    with memtui.open(folder) as memory:
        for command in (
            {"command": "create", "path": today, "file_text": "# Today\n\n- standup at ten\n- lunch\n"},
            {"command": "str_replace", "path": today, "old_str": "lunch", "new_str": "lunch with Ana"},
            {"command": "create", "path": "/memories/notes/scratch.md", "file_text": "the importer stops at 3\n"},
            {"command": "delete", "path": "/memories/notes/scratch.md"},
        ):
            assert not memory.execute(command, actor=claude).is_error
    return folder.parent
