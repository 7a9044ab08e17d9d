"""A text in the person's own editor, while the screen steps aside."""

import os
import shlex
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from memtui.core.visible import one_line


class NoEditor(Exception):
    """It cannot be edited there; says why and what to do."""


def edited(app: App[Any], text: str, *, name: str = "message.md") -> str:
    """What the person made of a text in `$VISUAL` or `$EDITOR`; the screen stands still until that ends.

    Args:
        app: Its terminal is handed over.
        text: What to begin with.
        name: What the file is called there.

    Raises:
        NoEditor: There is none, it failed, or the terminal cannot be handed over. The text is as it was.
    """
    import subprocess  # deferred: not needed for the first paint
    import tempfile

    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not command:
        raise NoEditor("No editor is set. Set VISUAL or EDITOR, such as EDITOR=nano, and start again.")
    with tempfile.TemporaryDirectory(prefix="memtui-") as directory:  # for its owner only
        path = Path(directory, name)
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        try:
            with app.suspend():
                code = subprocess.run([*command, str(path)], check=False).returncode
        except SuspendNotSupported:
            raise NoEditor("This terminal cannot be handed to another program.") from None
        except OSError as error:
            raise NoEditor(
                f"{one_line(command[0])} cannot be started: {error.strerror}. Nothing was changed."
            ) from None
        if code:
            raise NoEditor(f"{one_line(command[0])} ended with {code}. Nothing was changed.")
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            raise NoEditor("What the editor left is no text in UTF-8. Nothing was changed.") from None
