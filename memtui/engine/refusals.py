"""Faults as answers: what could not be done, to which path, and why; never a path of the host."""

import errno
import os
from collections.abc import Mapping

from memtui.core import commands
from memtui.core.errors import (
    FolderMissing,
    LockTimeout,
    MemtuiError,
    Refusal,
    RemoteRefused,
    ServerUnusable,
    StateUnusable,
    SymlinkEscape,
)
from memtui.core.messages import MessageKey
from memtui.store.base import ConcurrentChange

_REASONS: Mapping[int, str] = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOSPC: "no space left",
    errno.EDQUOT: "no space left",
    errno.EROFS: "read-only",
    errno.ENOLCK: "no locks on its file system",
}


def make_command_refusal(error: BaseException, command: commands.Command) -> Refusal:
    values = describe_command(command)
    match error:
        case Refusal():
            return error
        case SymlinkEscape():
            if isinstance(command, commands.Rename) and str(error) == command.new_path.relative:
                return Refusal(MessageKey.ESCAPES_BY_LINK, path=command.new_path)
            return Refusal(MessageKey.ESCAPES_BY_LINK, path=values["path"])
        case OSError() if error.errno == errno.EINVAL and isinstance(command, commands.Rename):
            return Refusal(MessageKey.RENAME_INTO_ITSELF, old_path=command.old_path, new_path=command.new_path)
        case FileExistsError() if isinstance(command, commands.Rename):
            return Refusal(MessageKey.DESTINATION_EXISTS, path=command.new_path)
        case FileNotFoundError() if isinstance(command, commands.Rename | commands.Delete):
            return Refusal(MessageKey.MISSING, path=values["path"])
        case _:
            return make_refusal(error, values)


def make_refusal(error: BaseException, values: Mapping[str, object]) -> Refusal:
    """The answer to a fault of anything that was tried.

    Args:
        error: What was raised.
        values: The verb and the path, for the sentence.
    """
    match error:
        case Refusal():
            return error
        case LockTimeout():
            return Refusal(MessageKey.BUSY, **values)
        case FolderMissing():
            return Refusal(MessageKey.FOLDER_GONE, **values)
        case ServerUnusable() if not isinstance(error, RemoteRefused):
            return Refusal(MessageKey.UNRECORDED, **values, reason=describe_error(error))
        case _:
            return Refusal(MessageKey.SYSTEM, **values, reason=describe_error(error))


def describe_command(command: commands.Command) -> dict[str, object]:
    verbs = {"View": "view", "Create": "create", "StrReplace": "edit", "Insert": "edit", "Delete": "delete"}
    if isinstance(command, commands.Rename):
        return {"verb": "rename", "path": command.old_path}
    return {"verb": verbs[type(command).__name__], "path": command.path}


def describe_error(error: BaseException) -> str:
    if isinstance(error, ServerUnusable):
        words = str(error) if isinstance(error, RemoteRefused) else str(error).partition(":")[0]
        words = words.rstrip(".")
        return words[:1].lower() + words[1:]
    if isinstance(error, StateUnusable) and isinstance(error.__cause__, OSError):
        error = error.__cause__
    code = error.errno if isinstance(error, OSError | StateUnusable) else None
    return _REASONS.get(code or 0, "input/output error")


def explain_error(error: BaseException) -> str:
    """Why a path could not be read or changed, in words for a person."""
    match error:
        case SymlinkEscape():
            return "it leads out of the memory folder through a link"
        case OSError() if error.errno:
            return os.strerror(error.errno).lower()
        case MemtuiError() if str(error):
            return str(error).rstrip(".")
        case ConcurrentChange():
            return "another program was faster"
        case _:
            return "input/output error"
