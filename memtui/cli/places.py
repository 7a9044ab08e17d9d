"""Which folder a command is about, and where in it."""

import errno
import os
import shlex
import stat
from typing import TYPE_CHECKING

from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.places import short

if TYPE_CHECKING:
    from memtui.store.folder import FolderStore

_USUAL = "memories"


def named(options: Options, argument: str | None = None) -> str | None:
    """The folder that the command line, the environment or the settings name, else `./memories` if it is there.

    Raises:
        Failure: Two were named, or the name is empty.
    """
    if argument is not None and options.directory is not None:
        raise Failure(Exit.USAGE, f"Two folders are named: {argument} and {options.directory}. Name one.")
    given = argument if argument is not None else options.directory
    if given == "":
        raise Failure(Exit.USAGE, "The name of the folder is empty. Nothing was opened. Name one: memtui DIR")
    if given is not None:
        return given
    if usual := os.environ.get("MEMTUI_DIR") or configured(options).config.dir:
        return usual
    return _USUAL if os.path.isdir(_USUAL) else None


def folder(options: Options, argument: str | None = None) -> str:
    """The memory folder, with links resolved.

    Raises:
        Failure: None is named, or it is not there. None is ever made.
    """
    given = named(options, argument)
    if given is None:
        raise Failure(
            Exit.MISSING,
            "No memory folder is named, and there is no ./memories here. Name one: --dir DIR, or MEMTUI_DIR",
        )
    return existing(given)


def existing(given: str) -> str:
    """A folder that somebody named, with links resolved.

    Raises:
        Failure: It is not there, is no folder, or cannot be looked at.
    """
    path = os.path.realpath(os.path.expanduser(given))
    title = short(path)
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            plain = title if shlex.quote(title[1:]) == title[1:] else shlex.quote(path)
            raise Failure(
                Exit.MISSING,
                f"No folder at {title}. Nothing was created. Create it with: mkdir -p {plain}  "
                "or open another: memtui DIR",
            ) from error
        raise Failure(Exit.MISSING, f"{title} cannot be opened: {_why(error)}. Nothing was changed.") from error
    if not stat.S_ISDIR(mode):
        raise Failure(Exit.MISSING, f"{title} is not a folder. Nothing was opened. Open the folder that holds it.")
    return path


def store(path: str) -> "FolderStore":
    """A folder that is only looked at: no journal, no lock, no state directory."""
    from memtui.store.folder import FolderStore  # for start-up cost: the browser opens folders behind its first paint

    return FolderStore(path, None, title=short(path))


def place(given: str, path: str) -> MemoryPath:
    """A place in the folder as a person names it: relative, as `/memories/...`, or as the file's real path.

    A person may look at names that no agent could have made; the only thing refused is the way out.

    Args:
        given: As it was typed.
        path: The folder.

    Raises:
        Failure: It is outside, or empty, as a script's variable is that nobody has set.
    """
    if not given:
        raise Failure(Exit.USAGE, "A path is empty. Nothing was read or written. The whole folder is: .")
    relative = given
    for root in (ROOT_NAME, path):
        if given == root or given.startswith(root.rstrip("/") + "/"):
            relative = given[len(root) :]
            break
    else:
        if given.startswith("/"):
            raise outside(given)
    parts = tuple(part for part in relative.split("/") if part not in ("", "."))
    if ".." in parts:
        raise outside(given)
    return MemoryPath(parts)


def outside(given: str) -> Failure:
    """The refusal of a path that leads out."""
    return Failure(Exit.REFUSED, f"Refused: {given} is outside the memory folder. Nothing was read or written.")


def _why(error: OSError) -> str:
    return os.strerror(error.errno or 0).lower()
