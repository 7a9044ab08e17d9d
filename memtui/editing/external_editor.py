"""Editing a private copy of a text in the person's own editor.

The editor never gets the memory itself: its result goes through the engine like any other change, and its backup and
swap files never lie in the memory folder.
"""

import os
import shlex
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from memtui.core.unicode import to_one_line
from memtui.fs.atomic import write_atomic
from memtui.fs.state import make_private_directory

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
_FALLBACKS = ("sensible-editor", "vi", "nano")
"""What is tried where no editor is set."""
_AT_ONCE_SECONDS = 0.3
_NAME = 20
"""Characters of an editor's name in a message."""


class EditorUnavailable(Exception):
    """The edit failed; says why and what to do. `left` is the text that the editor had saved, if it is another one."""

    def __init__(self, words: str, left: bytes | None = None) -> None:
        super().__init__(words)
        self.left = left


def edit_copy(
    command: Sequence[str], data: bytes, *, name: str, line: int | None = None, aside: AbstractContextManager[object]
) -> bytes:
    """The text after the person edited it.

    Args:
        command: The editor with its options.
        data: The text.
        name: The name of the copy.
        line: Where to begin, counted from 1.
        aside: Held while the editor has the terminal.

    Raises:
        EditorUnavailable: It failed. The text is unchanged.
    """
    import subprocess  # noqa: PLC0415 - start-up: loads subprocess
    import tempfile  # noqa: PLC0415 - start-up: loads tempfile

    try:
        place = tempfile.TemporaryDirectory(prefix="memtui-")  # for its owner only
    except OSError as error:  # such as a process that gave up its right to write
        why = (error.strerror or str(error)).lower()
        raise EditorUnavailable(f"Could not write a copy to edit: {why}. Nothing was changed.") from error
    with place as directory:
        path = Path(directory, _build_safe_name(name))
        path.write_bytes(data)
        began = time.monotonic()
        code, problem = 0, None
        with aside:  # nothing is raised in here: the screen would never come back
            known = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl+C there is for the editor
            try:
                code = subprocess.run(build_command(command, str(path), line), check=False).returncode
            except (OSError, ValueError) as error:
                problem = error
            finally:
                signal.signal(signal.SIGINT, known)
        name = to_one_line(os.path.basename(command[0]) or command[0])[:_NAME]
        if problem is not None:
            why = (getattr(problem, "strerror", None) or str(problem)).lower()
            raise EditorUnavailable(f"{name} cannot be started: {why}. Nothing was changed.")
        try:
            left = path.read_bytes()
        except OSError:
            raise EditorUnavailable("The editor deleted the file. Nothing was changed.") from None
        how = f"ended with {code}" if code >= 0 else f"was ended by signal {-code}"
        if code and left != data:
            raise EditorUnavailable(f"{name} {how}.", left)
        if code:
            raise EditorUnavailable(f"{name} {how}. Nothing was changed.")
        if left == data and time.monotonic() - began < _AT_ONCE_SECONDS:
            raise EditorUnavailable(f"{name} ended at once, nothing was changed. Make it wait: VISUAL='{name} --wait'.")
        return left


def parse_editor_command(words: str, *, installed: bool = True) -> list[str]:
    """An editor as a command with its options; without `words` the one of the environment.

    Args:
        words: The command of the settings.
        installed: Whether one that is installed is taken where none is set.

    Raises:
        EditorUnavailable: None is set or installed, or it is no command.
    """
    words = words or os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if installed and not words.strip():
        words = find_installed_editor()
    try:
        command = shlex.split(words)
    except ValueError:
        raise EditorUnavailable(
            f"The editor setting is not a command: {to_one_line(words)}. Nothing was changed."
        ) from None
    if not command:
        raise EditorUnavailable("No editor is set. Set VISUAL or EDITOR, such as EDITOR=nano, and start again.")
    return command


def find_installed_editor() -> str:
    """The editor where none is set; empty if there is none."""
    return next(filter(shutil.which, _FALLBACKS), "")


def build_command(command: Sequence[str], path: str, line: int | None) -> list[str]:
    """The command to edit a file, at a line (from 1) if the editor is known to take one."""
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


def _build_safe_name(name: str) -> str:
    """A file's name that no editor takes for an option or a position."""
    name = "".join(each if each.isprintable() and each not in "/\\:" else "_" for each in name)[-100:]
    return f"_{name}" if not name or name[0] in "-+." else name


def write_private(path: Path, data: bytes) -> None:
    """Write a file and its missing directories for their owner only, durably and atomically."""
    make_private_directory(path.parent)
    write_atomic(path, data)


# A file of the person's own, for a text that can go nowhere else: no clipboard takes it, or no draft can be kept.


def create_private_file(text: str, *, suffix: str = ".md") -> str:
    """Write a text to a new temporary file for its owner only; return its path, safe to show.

    Raises:
        OSError: It cannot be written.
    """
    import tempfile  # noqa: PLC0415 - start-up: loads tempfile

    file, name = tempfile.mkstemp(prefix="memtui-", suffix=suffix)
    with open(file, "wb") as held:
        held.write(text.encode("utf-8", "surrogateescape" if _has_only_escaped_bytes(text) else "surrogatepass"))
    return to_one_line(name)


def _has_only_escaped_bytes(text: str) -> bool:
    """Whether each surrogate stands for a byte."""
    return all("\udc80" <= each <= "\udcff" for each in text if "\ud800" <= each <= "\udfff")
