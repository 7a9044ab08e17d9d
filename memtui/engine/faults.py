"""Faults as answers: what could not be done, to which path, and why; never a path of the host."""

import errno
import sqlite3
from collections.abc import Mapping

from memtui.core import commands
from memtui.core.errors import Busy, FolderMissing, LeavesRoot, Refusal, StateUnusable
from memtui.core.messages import Message

_REASONS: Mapping[int, str] = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOSPC: "no space left",
    errno.EDQUOT: "no space left",
    errno.EROFS: "read-only",
    errno.ENOLCK: "no locks on its file system",
}


def refusal_of(error: BaseException, command: commands.Command) -> Refusal:
    """The answer to a fault of a command."""
    what = what_of(command)
    match error:
        case Refusal():
            return error
        case LeavesRoot():
            if isinstance(command, commands.Rename) and str(error) == command.new_path.relative:
                return Refusal(Message.ESCAPES_BY_LINK, path=command.new_path)
            return Refusal(Message.ESCAPES_BY_LINK, path=what["path"])
        case OSError() if error.errno == errno.EINVAL and isinstance(command, commands.Rename):
            return Refusal(Message.RENAME_INTO_ITSELF, old_path=command.old_path, new_path=command.new_path)
        case FileExistsError() if isinstance(command, commands.Rename):
            return Refusal(Message.DESTINATION_EXISTS, path=command.new_path)
        case FileNotFoundError() if isinstance(command, commands.Rename | commands.Delete):
            return Refusal(Message.MISSING, path=what["path"])
        case _:
            return fault_of(error, what)


def fault_of(error: BaseException, what: Mapping[str, object]) -> Refusal:
    """The answer to a fault of anything that was tried.

    Args:
        error: What was raised.
        what: The verb and the path, for the sentence.
    """
    match error:
        case Refusal():
            return error
        case Busy():
            return Refusal(Message.BUSY, **what)
        case FolderMissing():
            return Refusal(Message.FOLDER_GONE, **what)
        case _:
            return Refusal(Message.SYSTEM, **what, reason=reason_of(error))


def what_of(command: commands.Command) -> dict[str, object]:
    verbs = {"View": "view", "Create": "create", "StrReplace": "edit", "Insert": "edit", "Delete": "delete"}
    if isinstance(command, commands.Rename):
        return {"verb": "rename", "path": command.old_path}
    return {"verb": verbs[type(command).__name__], "path": command.path}


def reason_of(error: BaseException) -> str:
    if isinstance(error, StateUnusable) and isinstance(error.__cause__, sqlite3.Error):
        words = str(error.__cause__).lower()
        return "no space left" if "full" in words else "read-only" if "readonly" in words else "input/output error"
    if isinstance(error, StateUnusable) and isinstance(error.__cause__, OSError):
        error = error.__cause__
    code = error.errno if isinstance(error, OSError) else None
    return _REASONS.get(code or 0, "input/output error")
