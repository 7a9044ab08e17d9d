"""Files of a server that only its user may read: tokens and keys. None of them is where an agent could read it."""

import contextlib
import os
import stat
from collections.abc import Callable

from memtui.cli.output import ExitCode, Failure, NotFound, format_os_error
from memtui.core.paths import format_path


def require_outside(given: str, folder: str) -> str:
    """A path of the machine. Raises `Failure` for one inside the memory folder, where an agent could read it."""
    expanded = os.path.expanduser(given)
    path = os.path.join(os.path.realpath(os.path.dirname(expanded) or "."), os.path.basename(expanded))
    if f"{path}/".startswith(folder.rstrip("/") + "/"):
        raise Failure(
            ExitCode.REFUSED, f"Refused: {format_path(path)} is inside the memory folder. Nothing was started."
        )
    return path


def read_private_file(path: str, limit: int, make_text: Callable[[], str] | None = None) -> bytes:
    """At most `limit` bytes of a file. Raises `Failure` for one that others can read, or that cannot be read.

    Args:
        path: Where.
        limit: Most bytes that are read.
        make_text: Makes the text of a file that is not there; `None` to make none.
    """
    shown = format_path(path)
    if make_text is not None:
        with contextlib.suppress(FileExistsError):
            _create_private_file(path, make_text)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            mode = os.fstat(fd).st_mode
            data = file.read(limit) if stat.S_ISREG(mode) else b""
    except OSError as error:
        raise NotFound(f"{shown} cannot be read: {format_os_error(error)}. Nothing was started.") from error
    if mode & 0o077:
        raise Failure(ExitCode.REFUSED, f"Other users can read {shown}. Nothing was started. To fix it: chmod 600 FILE")
    return data


def _create_private_file(path: str, make_text: Callable[[], str]) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise
    except OSError as error:
        raise Failure(
            ExitCode.OUTPUT, f"{format_path(path)} could not be created: {format_os_error(error)}. Nothing was started."
        ) from error
    with open(fd, "w", encoding="ascii") as file:
        file.write(make_text())
