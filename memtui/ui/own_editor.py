"""A private copy of a text in the person's own editor, whoever hands over the terminal: no screen is known here.

The editor gets a private copy, never the memory itself: what it saves goes through the engine like any other change,
and its backup and swap files never lie in the memory folder.
"""

import os
import shlex
import signal
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from memtui.core.visible import one_line

_IN_A_WINDOW = frozenset(
    {"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "subl", "sublime_text", "zed", "zeditor"}
)
"""Editors that return at once unless they are told to wait."""
_VS_CODE = frozenset({"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"})
_WITH_COLON = frozenset({"hx", "helix", "subl", "sublime_text", "zed", "zeditor"})
"""Editors that take a line behind the name: `notes.md:14`."""
_WITH_PLUS = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg"}
    | {"mcedit", "gvim", "gedit", "busybox", "elvis", "vis"}
)
"""Editors that take a line before the name: `+14 notes.md`."""
_AT_ONCE_SECONDS = 0.3
_NAME = 20
"""Characters of an editor's name that are shown."""


class NoEditor(Exception):
    """It cannot be edited there; says why and what to do.

    Attributes:
        left: What the editor had saved by then, if that is another text.
    """

    def __init__(self, words: str, left: bytes | None = None) -> None:
        super().__init__(words)
        self.left = left


def edited_copy(
    command: Sequence[str],
    data: bytes,
    *,
    name: str,
    line: int | None = None,
    aside: AbstractContextManager[object],
) -> bytes:
    """What the person made of a text in her editor; returns when that ends.

    Args:
        command: The editor with its options.
        data: What to begin with.
        name: What the file is called there.
        line: Where to begin, counted from 1.
        aside: Held while the editor has the terminal.

    Raises:
        NoEditor: It failed. The text is as it was.
    """
    import subprocess  # deferred: not needed for the first paint
    import tempfile

    try:
        place = tempfile.TemporaryDirectory(prefix="memtui-")  # for its owner only
    except OSError as error:  # such as a process that gave up its right to write
        why = (error.strerror or str(error)).lower()
        raise NoEditor(f"There is no place for a copy to edit: {why}. Nothing was changed.") from error
    with place as directory:
        path = Path(directory, _plain(name))
        path.write_bytes(data)
        began = time.monotonic()
        code, problem = 0, None
        with aside:  # nothing is raised in here: the screen would never come back
            known = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl+C there is for the editor
            try:
                code = subprocess.run(at_line(command, str(path), line), check=False).returncode
            except (OSError, ValueError) as error:
                problem = error
            finally:
                signal.signal(signal.SIGINT, known)
        name = one_line(os.path.basename(command[0]) or command[0])[:_NAME]
        if problem is not None:
            why = (getattr(problem, "strerror", None) or str(problem)).lower()
            raise NoEditor(f"{name} cannot be started: {why}. Nothing was changed.")
        try:
            left = path.read_bytes()
        except OSError:
            raise NoEditor("The editor took the file away. Nothing was changed.") from None
        how = f"ended with {code}" if code >= 0 else f"was ended by signal {-code}"
        if code and left != data:
            raise NoEditor(f"{name} {how}.", left)
        if code:
            raise NoEditor(f"{name} {how}. Nothing was changed.")
        if left == data and time.monotonic() - began < _AT_ONCE_SECONDS:
            raise NoEditor(f"{name} ended at once, nothing was changed. Have it wait: VISUAL='{name} --wait'.")
        return left


def command_in(words: str) -> list[str]:
    """An editor as a command with its options.

    Args:
        words: As it is set; empty for the one that the environment names.

    Raises:
        NoEditor: None is set, or what is set is no command.
    """
    words = words or os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        command = shlex.split(words)
    except ValueError:
        raise NoEditor(f"The editor that is set is no command: {one_line(words)}. Nothing was changed.") from None
    if not command:
        raise NoEditor("No editor is set. Set VISUAL or EDITOR, such as EDITOR=nano, and start again.")
    return command


def at_line(command: Sequence[str], path: str, line: int | None) -> list[str]:
    """The whole command to edit a file, at a line if the editor is known to take one.

    Args:
        command: The editor with its options.
        path: The file.
        line: Counted from 1; `None` or 1 for its start.
    """
    name = os.path.basename(command[0]).removesuffix(".exe")
    words = list(command)
    if name in _IN_A_WINDOW and not {"-w", "--wait"} & set(command):
        words.append("--wait")
    if line is None or line <= 1:
        return [*words, path]
    if name in _VS_CODE:
        return [*words, "-g", f"{path}:{line}"]
    if name in _WITH_COLON:
        return [*words, f"{path}:{line}"]
    return [*words, f"+{line}", path] if name in _WITH_PLUS else [*words, path]


def _plain(name: str) -> str:
    """A file's name that no editor takes for anything else."""
    name = "".join(each if each.isprintable() and each not in "/\\:" else "_" for each in name)[-100:]
    return f"_{name}" if not name or name[0] in "-+." else name
